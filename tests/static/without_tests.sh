#!/bin/bash
# SPDX-License-Identifier: MIT
# test: TIMEOUT=300
# A checkout without tests/: no product file needs anything of it.
. "$TSR_TOP/tests/lib/ktap.sh"
cd "$TSR_TOP" || exit 1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
hw=$(bash qemu-device/build/host/headers.sh)
tree=$dir/tree
mkdir "$tree"
cp -r Documentation Kbuild LICENSES Makefile README.md kernel qemu-device userspace "$tree/"

# planned TARGET...: what make would do, without doing it
planned() { make -C "$tree" -n --no-print-directory "$@" >"$dir/out" 2>&1 && ! grep 'tests/' "$dir/out"; }
check "make help" make -s -C "$tree" help
for target in "run" "guest CMD=true" "shell" "scenario SCENARIO=guilty" "lab LAB=guilty" "ci CMD=true" "timeline CMD=true" "gdb" "module" "userspace" "qemu" "deb" "dist"; do
    # shellcheck disable=SC2086 # a target and its variables
    check "make $target needs nothing of tests/" planned $target
done
check "there is no make check" sh -c "! make -s -C '$tree' -n check"

# one of everything: the libraries, a demo that draws, a tool, the device in a process
build() {
    make -s -C "$tree/userspace" O="$TSR_BUILD/without-tests" HW="$hw" CFLAGS=-O0 LTO= \
        "$TSR_BUILD"/without-tests/{lib/libtessera-gfx.so,bin/triangle,bin/tsr-info}
}
check "the libraries, a demo and a tool are built" build
includes() { ! grep -rnE '#include "[^"]*tests/' "$tree/userspace" "$tree/kernel" "$tree/qemu-device"; }
check "no source includes a file of tests/" includes
ktap_finish
