#!/bin/bash
# SPDX-License-Identifier: MIT
#
# module.sh [KDIR]: build tessera.ko with Kbuild and W=1 and print its path. KDIR is a kernel's build
# directory; without it, the stock guest kernel's headers.
#
# kernel/ is copied into a directory of this checkout and kernel (6.12 has no MO= that would put the
# products elsewhere); rsync leaves the times of unchanged files alone, so make rebuilds only the rest.
# MUTANT names a patch of tests/mutants (Documentation/develop/broken-drivers.md); all mutants share a directory.
# DRIVER is another folder with the driver's source, for exercises.
# With WERROR=1 a warning is an error, and where nothing has changed since it was built last nothing is done.
. "$(dirname "$0")/../build/lib.sh"

[ -f "$TOP/kernel/Kbuild" ] || [ -f "$TOP/kernel/Makefile" ] ||
    die "kernel/ has no Kbuild or Makefile yet: there is no driver to build"
kdir=${1:-$("$TOP/qemu-device/vm/kernel.sh")/build}
[ -f "$kdir/Makefile" ] || die "$kdir is not a kernel build directory (no Makefile there)"
kdir=$(cd "$kdir" && pwd)
include=$("$TOP/qemu-device/build/host/headers.sh")

. "$TOP/qemu-device/vm/compiler.sh"
compiler_for "$kdir"

# A kernel that counts what of itself runs counts the driver, too.
counts=()
! grep -qs '^CONFIG_GCOV_KERNEL=y' "$kdir/.config" || counts+=(GCOV_PROFILE=y)
! grep -qs '^CONFIG_KCOV=y' "$kdir/.config" || counts+=(KCOV_INSTRUMENT=y)

source=${DRIVER:-$TOP/kernel}
dir=$BUILD/module-$(printf %s "$kdir" | sha256sum | cut -c1-8)${MUTANT:+-mutant}${DRIVER:+-exercise}${WERROR:+-werror}
mkdir -p "$dir"
exec {lock}>"$dir/.lock"
flock "$lock"
if [ -n "${WERROR:-}" ]; then
    stamp=$(hash_files kernel)-$(cat "$include"/*.h | sha256sum | cut -c1-16)-$cc
    if [ "$(cat "$dir/stamp" 2>/dev/null)" = "$stamp" ]; then
        echo "$dir/kernel/tessera.ko"
        exit
    fi
fi
[ -d "$dir/kernel" ] || say "building the driver: the first time usually half a minute, then what has changed"
rsync -r --checksum --delete --include='*/' --include='*.[chS]' --include='Kbuild' \
    --include='Makefile' --include='Kconfig' --exclude='*' "$source/" "$dir/kernel/"
if [ -n "${MUTANT:-}" ]; then
    [ -f "$TOP/tests/mutants/$MUTANT.patch" ] || die "there is no mutant $MUTANT in tests/mutants/"
    patch -d "$dir" -p1 -F0 -s --force --no-backup-if-mismatch <"$TOP/tests/mutants/$MUTANT.patch" ||
        die "tests/mutants/$MUTANT.patch does not apply to kernel/ as it is"
fi
if ! timed driver make -C "$kdir" M="$dir/kernel" CC="$cc" "${tools[@]}" ${WERROR:+KCFLAGS=-Werror} W=1 TESSERA_HW_INCLUDE="$include" \
    "${counts[@]}" -j "$JOBS" modules \
    </dev/null >"$dir/log" 2>&1; then
    tail -n 40 "$dir/log" >&2
    die "the kernel module does not build (log: $dir/log)"
fi
if grep -iE 'warning' "$dir/log" >&2 && [ -n "${WERROR:-}" ]; then
    rm -rf "$dir"
    die "the kernel module builds with warnings for $kdir"
fi
module=$(find "$dir/kernel" -name tessera.ko -print -quit)
[ -n "$module" ] || die "the build made no tessera.ko; does kernel/Kbuild say 'obj-m := tessera.o'?"
[ -z "${WERROR:-}" ] || echo "$stamp" >"$dir/stamp"
echo "$module"
