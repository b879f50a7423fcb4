#!/bin/bash
# SPDX-License-Identifier: MIT
# test: TIMEOUT=60
# The libraries' interface as compilers see it: that of the committed list, and whether a change of it is noticed.
. "$TSR_TOP/tests/lib/ktap.sh"
cd "$TSR_TOP" || exit 1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
hw=$(bash qemu-device/build/host/headers.sh)
include=userspace/libtessera/include/tessera

abi() { /usr/bin/python3 -B tests/static/abi.py "$@" "$hw"; }
check "the interface of the libraries is the one in abi.txt" abi "$include"

# changed SED-SCRIPT HEADER WORDS: the same headers but for one, and what is said of them
changed() {
    rm -rf "$dir/tessera"
    cp -r "$include" "$dir/tessera"
    sed -i "$1" "$dir/tessera/$2"
    ! cmp -s "$include/$2" "$dir/tessera/$2" && ! abi "$dir/tessera" >"$dir/out" && grep -q "$3" "$dir/out"
}
check "a member that moves is noticed" changed 's/^\tuint64_t va;.*$/\tuint32_t flags;\n&/' layout.h 'was: struct tsr_surface: 0 uint64_t va'
check "a value that changes is noticed" changed 's/TSR_GFX_LOAD_CLEAR/TSR_GFX_LOAD_OTHER,\n&/' gfx.h 'is:  value tsr_gfx_load: TSR_GFX_LOAD_CLEAR = 3'
check "an argument that changes is noticed" changed 's/uint64_t size, uint32_t flags, struct tsr_vm/uint32_t size, uint32_t flags, struct tsr_vm/' \
    tessera.h 'another soname'
check "a new function is not called a break" changed 's/^void tsr_vm_unref(.*$/&\nint tsr_vm_other(struct tsr_vm *vm);/' tessera.h 'has grown'
ktap_finish
