#!/bin/bash
# SPDX-License-Identifier: MIT
#
# fencewatch.sh [KDIR]: build fencewatch.ko and, if tests/ is there, bad_fence.ko. Prints their paths. KDIR is a kernel's
# build directory; without it, the stock guest kernel's headers. With WERROR=1 a warning is an error.
. "$(dirname "$0")/../build/lib.sh"
. "$TOP/qemu-device/vm/compiler.sh"

kdir=${1:-$("$TOP/qemu-device/vm/kernel.sh")/build}
[ -f "$kdir/Makefile" ] || die "$kdir is not a kernel build directory (no Makefile there)"
kdir=$(cd "$kdir" && pwd)
# A kernel without tracepoints or probes runs without it, unless FENCEWATCH=1 asks for it.
for option in CONFIG_TRACEPOINTS=y CONFIG_FPROBE=y; do
    if [ -f "$kdir/.config" ] && ! grep -qx "$option" "$kdir/.config"; then
        [ -n "${FENCEWATCH:-}" ] || exit 1
        die "fencewatch needs $option, which the kernel in $kdir does not have"
    fi
done
compiler_for "$kdir"

dir=$BUILD/fencewatch-$(printf %s "$kdir" | sha256sum | cut -c1-8)${WERROR:+-werror}
mkdir -p "$dir"
exec {lock}>"$dir/.lock"
flock "$lock"

# module FOLDER NAME: build a copy of it
module() {
    local log=$dir/$2.log
    rsync -r --checksum --delete --include='*.[ch]' --include=Kbuild --include=Makefile --exclude='*' "$TOP/$1/" "$dir/$2/"
    if ! make -C "$kdir" M="$dir/$2" CC="$cc" "${tools[@]}" ${WERROR:+KCFLAGS=-Werror} W=1 -j "$JOBS" modules \
        </dev/null >"$log" 2>&1; then
        tail -n 40 "$log" >&2
        die "$1 does not build (log: $log)"
    fi
    if grep -iE 'warning' "$log" >&2 && [ -n "${WERROR:-}" ]; then
        rm -rf "$dir"
        die "$1 builds with warnings for $kdir"
    fi
    find "$dir/$2" -name '*.ko'
}
module kernel/fencewatch module
[ ! -f "$TOP/tests/fencewatch/Kbuild" ] || module tests/fencewatch test
