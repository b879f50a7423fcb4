#!/bin/bash
# SPDX-License-Identifier: MIT
#
# sysroot.sh: what Mesa's window systems are compiled with: headers, libraries to link with and pkg-config files of
# Wayland and X11, unpacked in the cache. Prints the directory. Nothing is installed on the host.
#
#   DIR/usr/bin/wayland-scanner
#   DIR/pkgconfig/     the .pc files, with the paths of DIR
#
# The libraries are those of the host's release, because the result also runs in the host's programs: Mesa uses each
# function of libwayland and libxcb that it finds at compile time. Programs of a newer release run with it, too. Only
# wayland-protocols is Debian 13's. It consists of XML files, and Debian 12's are too old for Mesa.
. "$(dirname "$0")/../../qemu-device/build/lib.sh"

PROTOCOLS=wayland-protocols
PACKAGES=(
    libwayland-bin libwayland-dev libwayland-egl-backend-dev libwayland-client0 libwayland-server0 libwayland-egl1
    libwayland-cursor0 libffi-dev libx11-dev libx11-6 libx11-xcb-dev libx11-xcb1 libxext-dev libxext6 libxfixes-dev libxfixes3
    libxxf86vm-dev libxxf86vm1 libxshmfence-dev libxshmfence1 libxau-dev libxdmcp-dev libpthread-stubs0-dev x11proto-dev
    libxcb1-dev libxcb1 libxcb-dri2-0-dev libxcb-dri2-0 libxcb-dri3-dev libxcb-dri3-0 libxcb-glx0-dev libxcb-glx0
    libxcb-present-dev libxcb-present0 libxcb-randr0-dev libxcb-randr0 libxcb-render0-dev libxcb-render0 libxcb-shape0-dev
    libxcb-shape0 libxcb-shm0-dev libxcb-shm0 libxcb-sync-dev libxcb-sync1 libxcb-xfixes0-dev libxcb-xfixes0
)

# from RELEASE|"" DIR PACKAGE...: unpack packages of that release, "" for the host's own, and not of its backports. Each
# release has its own package lists.
from() (
    APT_ONLY=$1
    dir=$2
    shift 2
    [ -n "$APT_ONLY" ] || unset APT_ONLY
    # shellcheck source=../../qemu-device/build/debian/apt.sh
    . "$TOP/qemu-device/build/debian/apt.sh"
    apt_ready
    apt_fetch "$dir" "${@/%//$APT_RELEASE}"
)

# The .pc files say /usr; a copy says where the files are.
relocate() {
    local aside=$1 file
    mkdir "$aside/pkgconfig"
    for file in "$aside"/usr/lib/*/pkgconfig/*.pc "$aside"/usr/share/pkgconfig/*.pc; do
        sed -E "s#(^|[=:[:space:]]|-[IL])/usr(/|\$)#\1$dir/usr\2#g" "$file" >"$aside/pkgconfig/$(basename "$file")"
    done
}

unpack() {
    local aside
    [ ! -e "$dir" ] || return 0
    say "fetching what Mesa's window systems are compiled with, 4 MB"
    aside=$(aside_in "$CACHE/mesa-sysroot")
    from '' "$aside" "${PACKAGES[@]}"
    from trixie "$aside" "$PROTOCOLS"
    relocate "$aside"
    rm -rf "${aside:?}"/usr/share/{doc,man,lintian}
    publish "$aside" "$dir"
}

dir=$CACHE/mesa-sysroot/$({
    cat "$0"
    . /etc/os-release
    echo "$ID ${VERSION_ID:-}"
} | sha256sum | cut -c1-16)
[ -e "$dir" ] || locked "$CACHE/mesa-sysroot.lock" unpack
touch -c "$dir"
echo "$dir"
