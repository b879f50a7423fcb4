#!/bin/bash
# SPDX-License-Identifier: MIT
#
# kernel_tree.sh [LINUX]: put the driver into the Linux source tree LINUX (see kernel_tree.py) and print the tree.
# Without one the tree is a copy of Debian's linux-source of VERSION in this checkout's build directory, made of
# hard links: files there are replaced, never changed.
. "$(dirname "$0")/../lib.sh"
VERSION=7.3

include=$("$TOP/qemu-device/build/host/headers.sh")
linux=${1:-}
if [ -z "$linux" ]; then
    source=$("$TOP/qemu-device/vm/linux_source.sh" $VERSION)
    linux=$BUILD/kernel-tree/linux
    if [ "$(cat "$BUILD/kernel-tree/source" 2>/dev/null)" != "$(stat -c '%n %Y' "$source/Makefile")" ]; then
        rm -rf "$BUILD/kernel-tree"
        mkdir -p "$BUILD/kernel-tree"
        cp -al "$source" "$linux"
        stat -c '%n %Y' "$source/Makefile" >"$BUILD/kernel-tree/source"
    fi
fi
/usr/bin/python3 -B "$TOP/qemu-device/build/kernel-tree/kernel_tree.py" --headers "$include" "$linux" >/dev/null
echo "$linux"
