#!/bin/bash
# SPDX-License-Identifier: MIT
# The driver inside a kernel tree (make export TO=kernel-tree): Linux 7.3 as Debian has it takes it and compiles it, for
# x86-64 with all its options, for arm64 with as few as possible, and not for 32 bits.
# test: TIMEOUT=3600
. "$TSR_TOP/tests/lib/ktap.sh"
cd "$TSR_TOP" || exit 1
. qemu-device/build/lib.sh
set +e

dir=$BUILD/kernel-tree
driver=drivers/gpu/drm/tessera
cross=$(qemu-device/build/host/cross.sh)
if ! tree=$(qemu-device/build/kernel-tree/kernel_tree.sh); then
    result 1 "Linux 7.3 takes the driver"
    ktap_finish
fi
again() { [ "$(qemu-device/build/kernel-tree/kernel_tree.sh "$tree")" = "$tree" ] && [ -z "$(find "$tree" -newer "$dir/now" -type f)" ]; }
touch "$dir/now"
check "a second time nothing in the tree changes" again

# linux ARCH ARGS...: make in a directory for that architecture.
linux() {
    local arch=$1 compiler=
    shift
    [ "$arch" != arm64 ] || compiler=$cross
    make -C "$tree" O="$dir/$arch" ARCH="$arch" CROSS_COMPILE="$compiler" -j "$JOBS" "$@" </dev/null
}

# configure ARCH LINE...: nothing but these.
configure() {
    local arch=$1
    shift
    mkdir -p "$dir/$arch"
    printf 'CONFIG_%s\n' "$@" >"$dir/$arch.new"
    cmp -s "$dir/$arch.new" "$dir/$arch/all.config" && [ -f "$dir/$arch/.config" ] && return
    mv "$dir/$arch.new" "$dir/$arch/all.config"
    linux "$arch" KCONFIG_ALLCONFIG="$dir/$arch/all.config" allnoconfig
}

# taken ARCH: Kconfig has accepted all that it was told.
taken() { ! grep -vxFf "$dir/$1/.config" "$dir/$1/all.config"; }
# builds ARCH ARGS...: the directory compiles, and nobody complains.
builds() {
    local arch=$1
    shift
    linux "$arch" W=1 "$@" "$driver/" >"$dir/$arch.log" 2>&1 || { tail -n 40 "$dir/$arch.log"; return 1; }
    ! grep -iE 'warning' "$dir/$arch.log" || { rm -rf "${dir:?}/$arch/$driver"; return 1; }
}

base=(MODULES=y PCI=y DRM=y)
if configure x86_64 64BIT=y "${base[@]}" ACPI=y FTRACE=y ENABLE_DEFAULT_TRACERS=y DEBUG_FS=y KUNIT=m DRM_TESSERA=m \
    DRM_TESSERA_EMULATOR=y DRM_TESSERA_KUNIT_TEST=m >"$dir/x86_64.log" 2>&1; then
    check "[SYS2] Kconfig takes the driver for x86-64" taken x86_64
    selected() { grep -qx CONFIG_WANT_DEV_COREDUMP=y "$dir/x86_64/.config"; }
    check "it selects device core dumps, which nobody else does there" selected
    check "[SYS2] it compiles there with W=1 and sparse and no warning" builds x86_64 C=1 CF=-Wno-unknown-attribute
else
    result 1 "the tree can be configured for x86-64"
fi
if configure arm64 "${base[@]}" COMPILE_TEST=y DRM_TESSERA=y >"$dir/arm64.log" 2>&1; then
    check "Kconfig takes it for arm64, built in and to see that it compiles" taken arm64
    check "without debugfs, KUnit and the emulator's files it compiles there with W=1 and no warning" builds arm64
    left_out() { [ -f "$dir/arm64/$driver/tessera_drv.o" ] && ! ls "$dir/arm64/$driver"/tessera_{inject,check,delay,debugfs}.o 2>/dev/null; }
    check "the emulator's text protocols are not in it" left_out
else
    result 1 "the tree can be configured for arm64"
fi
refused() {
    configure i386 "${base[@]}" COMPILE_TEST=y DRM_TESSERA=y || return
    ! taken i386 | grep -vx CONFIG_DRM_TESSERA=y && ! grep -q DRM_TESSERA "$dir/i386/.config"
}
check "Kconfig refuses it for 32 bits" refused

# The tree has no code for older kernels or for builds outside a tree.
only_tree() { ! grep -rnE 'tessera_compat|TESSERA_(OLD|COMPAT|MUTANT)|KBUILD_EXTMOD' "$tree/$driver"; }
check "nothing of older kernels and of mutants is in the tree" only_tree
maintained() {
    local file
    for file in "$driver/tessera_drv.c" include/uapi/drm/tessera_drm.h Documentation/gpu/tessera.rst \
        tools/testing/selftests/drivers/gpu/tessera/Makefile; do
        grep -qx 'DRM DRIVER FOR TESSERA VIRTUAL GPU' \
            <(cd "$tree" && scripts/get_maintainer.pl --nogit --nogit-fallback --sections -f "$file" 2>&1) ||
            { echo "$file is nobody's"; return 1; }
    done
}
check "MAINTAINERS covers its files" maintained
# The page names DOC comments and headers of the tree; a name that is not found is a warning of the tool.
page() {
    local file what
    while read -r file what; do
        grep -qF " * DOC: $what" "$tree/$file" || { echo "$file has no section '$what'"; return 1; }
    done < <(sed -n '/^\.\. kernel-doc::/{s/.*:: //;N;s/\n *:doc: / /p}' "$tree/Documentation/gpu/tessera.rst")
    grep -qx '   tessera' "$tree/Documentation/gpu/drivers.rst"
}
check "its page names sections that are there" page
ktap_finish
