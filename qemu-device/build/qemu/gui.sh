#!/bin/bash
# SPDX-License-Identifier: MIT
#
# gui.sh: QEMU with the device and with Debian's parts for windows (package qemu-system-gui). Prints a directory as
# plugin.sh does, whose modules/ has ui-gtk.so and ui-sdl.so, too.
#
# With Debian 13's installed QEMU these are installed, or not there. Elsewhere they are unpacked into the cache with all
# they need, once for each version of QEMU.
. "$(dirname "$0")/../lib.sh"
APT_ONLY=trixie
. "$TOP/qemu-device/build/debian/apt.sh"

LIB=usr/lib/x86_64-linux-gnu

fetch_gui() {
    local version=$1 aside
    [ ! -d "$gui" ] || return 0
    apt_ready
    say "fetching QEMU's windows with their libraries (140 MB): once, usually half a minute"
    aside=$(aside_in "$CACHE/qemu-gui")
    apt_closure "$aside" "qemu-system-gui=$version"
    rm -rf "$aside"/usr/share/{doc,man,locale}
    publish "$aside" "$gui"
}

# with_windows DIR: the same QEMU, with more modules and with the libraries these need.
with_windows() {
    local dir=$1 aside
    aside=$(aside_in "$BUILD")
    mkdir "$aside/modules"
    ln -s "$plugin/share" "$aside/share"
    ln -s "$gui/$LIB"/qemu/*.so "$aside/modules/"
    ln -sf "$plugin"/modules/*.so "$aside/modules/"
    sed -e "s|^export QEMU_MODULE_DIR=.*|export QEMU_MODULE_DIR='$dir/modules'|" \
        -e "s|--library-path '\([^']*\)'|--library-path '\1:$gui/$LIB:$gui/$LIB/pulseaudio'|" \
        "$plugin/qemu-system-x86_64" >"$aside/qemu-system-x86_64"
    chmod +x "$aside/qemu-system-x86_64"
    rm -rf "$dir"
    publish "$aside" "$dir"
}

plugin=$("$TOP/qemu-device/build/qemu/plugin.sh")
if [ -e "$plugin/modules/ui-gtk.so" ]; then
    echo "$plugin"
    exit
fi
root=$(sed -n "s|.*--library-path '\([^']*\)/$LIB'.*|\1|p" "$plugin/qemu-system-x86_64" | tail -n 1)
[ -n "$root" ] || die "QEMU is installed without windows: apt-get install qemu-system-gui"
gui=$CACHE/qemu-gui/$(basename "$root")
version=$(cat "$CACHE"/qemu-headers/*/version | grep -m 1 ":$(basename "$root")\$")
locked "$CACHE/qemu-gui.lock" fetch_gui "$version"
dir=$BUILD/qemu-gui
with_windows "$dir"
echo "$dir"
