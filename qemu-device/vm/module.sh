#!/bin/bash
# SPDX-License-Identifier: MIT
#
# module.sh [KDIR]: build tessera.ko with Kbuild and W=1 and print its path. KDIR is a kernel's build
# directory; without it, the stock guest kernel's headers.
#
# kernel/ is copied into a directory of this checkout and kernel (6.12 has no MO= that would put the
# products elsewhere); rsync leaves the times of unchanged files alone, so make rebuilds only the rest.
# MUTANT names a patch of tests/mutants (Documentation/driver/mutants.md); all mutants share a directory.
# With WERROR=1 a warning is an error, and where nothing has changed since it was built last nothing is done.
. "$(dirname "$0")/../build/lib.sh"

[ -f "$TOP/kernel/Kbuild" ] || [ -f "$TOP/kernel/Makefile" ] ||
    die "kernel/ has no Kbuild or Makefile yet: there is no driver to build"
kdir=${1:-$("$TOP/qemu-device/vm/kernel.sh")/build}
[ -f "$kdir/Makefile" ] || die "$kdir is not a kernel build directory (no Makefile there)"
kdir=$(cd "$kdir" && pwd)
include=$("$TOP/qemu-device/build/headers.sh")

# The kernel's own compiler. On a host that is older than the kernel it comes, with pahole, from the cache; any other
# builds, too, but warns and may lack the options.
config=$kdir/.config
cc=$(sed -n 's/^CONFIG_CC_VERSION_TEXT="\([^ "]*\).*/\1/p' "$config" 2>/dev/null || true)
cc=${cc##*-linux-gnu-}
tools=()
if ! command -v "${cc:=gcc}" >/dev/null; then
    if [ "$cc" = gcc-14 ]; then
        toolchain=$("$TOP/qemu-device/build/toolchain.sh")
        cc=$toolchain/bin/gcc-14
        tools=(PAHOLE="$toolchain/bin/pahole")
    else
        say "the kernel was built with $cc, which is not here; using gcc"
        cc=gcc
    fi
fi

# A kernel that counts what of itself runs counts the driver, too.
gcov=
! grep -qs '^CONFIG_GCOV_KERNEL=y' "$config" || gcov=y

dir=$BUILD/module-$(printf %s "$kdir" | sha256sum | cut -c1-8)${MUTANT:+-mutant}${WERROR:+-werror}
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
    --include='Makefile' --include='Kconfig' --exclude='*' "$TOP/kernel/" "$dir/kernel/"
if [ -n "${MUTANT:-}" ]; then
    [ -f "$TOP/tests/mutants/$MUTANT.patch" ] || die "there is no mutant $MUTANT in tests/mutants/"
    patch -d "$dir" -p1 -F0 -s --force --no-backup-if-mismatch <"$TOP/tests/mutants/$MUTANT.patch" ||
        die "tests/mutants/$MUTANT.patch does not apply to kernel/ as it is"
fi
if ! make -C "$kdir" M="$dir/kernel" CC="$cc" "${tools[@]}" ${WERROR:+KCFLAGS=-Werror} W=1 TESSERA_HW_INCLUDE="$include" \
    ${gcov:+GCOV_PROFILE=y} -j "$JOBS" modules \
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
