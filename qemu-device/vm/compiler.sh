# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# For scripts that have sourced lib.sh and build modules.

# compiler_for KDIR: set cc to the compiler of that kernel, and tools to further arguments of make. On a host that is
# older than the kernel, both are from the cache. Another compiler also builds modules, but it warns and may lack options.
compiler_for() {
    local config=$1/.config toolchain
    cc=$(sed -n 's/^CONFIG_CC_VERSION_TEXT="\([^ "]*\).*/\1/p' "$config" 2>/dev/null || true)
    cc=${cc##*-linux-gnu-}
    tools=()
    ! command -v "${cc:=gcc}" >/dev/null || return 0
    if [ "$cc" = gcc-14 ]; then
        toolchain=$("$TOP/qemu-device/build/debian/toolchain.sh")
        cc=$toolchain/bin/gcc-14
        tools=(PAHOLE="$toolchain/bin/pahole")
    else
        say "the kernel was built with $cc, which is not here; using gcc"
        cc=gcc
    fi
}
