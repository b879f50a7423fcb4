#!/bin/bash
# SPDX-License-Identifier: MIT
#
# glmark2.sh: Debian's glmark2-es2-drm, unpacked; prints its directory: bin/ and share/glmark2 in it, and
# lib/libheadless.so (headless/headless.c), which stands for the screen that it wants.
. "$(dirname "$0")/../../qemu-device/build/lib.sh"
. "$TOP/qemu-device/build/debian/apt.sh"
. "$TOP/qemu-device/build/qemu/results.sh"

HEADLESS=$TOP/tests/mesa/headless/headless.c

fetch() {
    local aside
    [ ! -e "$dir" ] || return 0
    say "fetching glmark2, 7 MB"
    aside=$(aside_in "$CACHE/glmark2")
    mkdir "$aside/package" "$aside/lib"
    (cd "$aside/package" && run_logged glmark2 apt-get download "glmark2-es2-drm=$version" "glmark2-data=$version") ||
        die "cannot download glmark2: check the network (mirror $(used_mirror)), then try again"
    for package in "$aside"/package/*.deb; do
        dpkg-deb -x "$package" "$aside"
    done
    mv "$aside"/usr/{bin,share} "$aside/"
    rm -rf "${aside:?}/usr" "$aside/package"
    cc -O1 -Wall -Wextra -Werror -fPIC -shared -I/usr/include/libdrm -o "$aside/lib/libheadless.so" "$HEADLESS" \
        -Wl,--no-as-needed -lEGL -lGLESv2 || die "$HEADLESS does not compile"
    publish "$aside" "$dir"
}

bash "$TOP/qemu-device/build/host/setup.sh" libegl-dev libgles-dev libgbm-dev libjpeg62-turbo libudev1 libegl-mesa0 libgl1-mesa-dri
apt_ready
version=$(apt_version glmark2-es2-drm)
[ -n "$version" ] || die "the archive $(used_mirror) has no package glmark2-es2-drm"
dir=$CACHE/glmark2/$version-$(cat "$0" "$HEADLESS" | sha256sum | cut -c1-16)
[ -e "$dir" ] || locked "$CACHE/glmark2.lock" fetch
touch -c "$dir"
echo "$dir"
