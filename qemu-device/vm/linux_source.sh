#!/bin/bash
# SPDX-License-Identifier: MIT
#
# linux_source.sh [NAME]: Debian's linux-source of the kernel that kernel.sh calls NAME (7.3, 6.12, a suite), unpacked
# in the cache; without one, that of the stock guest kernel. Prints the directory, which is never written to: builds
# go elsewhere (O=), and who changes files takes a copy.
. "$(dirname "$0")/../build/lib.sh"
APT_ALSO=kernels
. "$TOP/qemu-device/build/debian/apt.sh"

# The source package is of the same version as the kernel; where the archive has moved on, the newer one does.
headers=$("$TOP/qemu-device/vm/kernel.sh" --headers "$@")
version=$(sed 's/^\([0-9]*\.[0-9]*\).*/\1/' "$headers/release")
SOURCE=$CACHE/linux-source/$(basename "$headers" | sed 's/^headers-//')

fetch() {
    local aside
    [ ! -d "$SOURCE" ] || return 0
    apt_ready
    say "fetching the source of Linux $version, 150 MB (1.6 GB unpacked)"
    aside=$(aside_in "$CACHE/linux-source")
    apt_fetch "$aside" "linux-source-$version"
    mkdir "$aside/tree"
    run_logged unpack-linux tar -xf "$aside/usr/src/linux-source-$version.tar.xz" -C "$aside/tree" --strip-components=1 ||
        die "cannot unpack linux-source-$version"
    publish "$aside/tree" "$SOURCE"
    rm -rf "$aside"
}

[ -d "$SOURCE" ] || locked "$CACHE/linux-source.lock" fetch
echo "$SOURCE"
