#!/bin/bash
# SPDX-License-Identifier: MIT
#
# cross.sh: this release's compiler for arm64, to see that the driver compiles there. Prints what to give to Kbuild as
# CROSS_COMPILE. Unpacked in the cache, because its package cannot be installed beside gcc-multilib.
. "$(dirname "$0")/../lib.sh"
. "$TOP/qemu-device/build/debian/apt.sh"

NAME=aarch64-linux-gnu
DIR=$CACHE/cross-arm64-$HOST_RELEASE
case $HOST_RELEASE in
bookworm) VERSION=12 ;;
*) VERSION=14 ;;
esac

# The programs find each other relative to where they are; libraries of their own are binutils' alone.
fetch() {
    local root tool
    [ ! -e "$DIR/bin/$NAME-gcc" ] || return 0
    apt_ready
    say "fetching a compiler for arm64, 60 MB"
    root=$(aside_in "$CACHE/fetch")
    apt_fetch "$root" {gcc,cpp}-$VERSION-$NAME libgcc-$VERSION-dev-arm64-cross binutils-$NAME
    rm -rf "${root:?}/usr/share"
    mkdir "$root/bin"
    for tool in "$root/usr/bin/$NAME"-*; do
        tool=$(basename "$tool")
        printf '#!/bin/sh\nLD_LIBRARY_PATH="%s" exec "%s" "$@"\n' "$DIR/usr/lib/x86_64-linux-gnu" "$DIR/usr/bin/$tool" \
            >"$root/bin/${tool%-"$VERSION"}"
    done
    chmod 755 "$root/bin"/*
    publish "$root" "$DIR"
}

[ -e "$DIR/bin/$NAME-gcc" ] || locked "$CACHE/cross.lock" fetch
echo "$DIR/bin/$NAME-"
