#!/bin/bash
# SPDX-License-Identifier: MIT
#
# source_root.sh DIR HEADERS: make DIR the source root for Meson: links to this checkout's folders, and to the
# generated headers.
set -euo pipefail
top=$(cd "$(dirname "$0")/../../../.." && pwd -P)
mkdir -p "$1"
for name in kernel qemu-device tests userspace; do
    [ ! -e "$top/$name" ] || ln -sfn "$top/$name" "$1/$name"
done
for name in meson.build meson_options.txt list.sh; do
    ln -sfn "$top/qemu-device/build/host/meson/$name" "$1/$name"
done
ln -sfn "$2" "$1/include"
