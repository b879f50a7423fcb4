#!/bin/bash
# SPDX-License-Identifier: MIT
#
# busybox.sh: Debian's busybox-static, unpacked in the cache; prints the path of the binary.
. "$(dirname "$0")/../build/lib.sh"
# not for their sake: these lists are there when a kernel has been fetched
APT_ALSO=kernels
. "$TOP/qemu-device/build/debian/apt.sh"

fetch() {
    [ ! -x "$dir/busybox" ] || return 0
    apt_ready
    local aside
    aside=$(aside_in "$CACHE/fetch")
    apt_fetch "$aside" busybox-static
    mkdir -p "$aside/out"
    cp -L "$aside"/bin/busybox "$aside/out/busybox" 2>/dev/null ||
        cp -L "$aside"/usr/bin/busybox "$aside/out/busybox" || die "busybox-static holds no busybox"
    publish "$aside/out" "$dir"
    rm -rf "$aside"
}

dir=$CACHE/busybox-$HOST_RELEASE
[ -x "$dir/busybox" ] || locked "$CACHE/busybox.lock" fetch
echo "$dir/busybox"
