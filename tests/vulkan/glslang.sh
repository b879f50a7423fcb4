#!/bin/bash
# SPDX-License-Identifier: MIT
#
# glslang.sh: print the path of glslangValidator. If the host has none, Debian's is unpacked in the cache. It is not
# installed, because its package brings SPIRV-Tools, whose presence changes the configuration of Mesa's build: Mesa
# would then be compiled once more.
. "$(dirname "$0")/../../qemu-device/build/lib.sh"
. "$TOP/qemu-device/build/debian/apt.sh"

unpack() {
    local aside
    [ ! -e "$dir" ] || return 0
    aside=$(aside_in "$CACHE/glslang")
    apt_fetch "$aside" glslang-tools
    publish "$aside" "$dir"
}

if command -v glslangValidator; then
    exit
fi
apt_ready
dir=$CACHE/glslang/$(apt_version glslang-tools)
[ -e "$dir" ] || locked "$CACHE/glslang.lock" unpack
echo "$dir/usr/bin/glslangValidator"
