#!/bin/bash
# SPDX-License-Identifier: MIT
#
# root.sh PACKAGE ...: programs of Debian 13's with all that they need, unpacked; prints the directory, a root for
# chroot. Nothing of it is configured: there are no users but root, no services, no ld.so.cache.
APT_ONLY=trixie
. "$(dirname "$0")/../../qemu-device/build/lib.sh"
. "$TOP/qemu-device/build/debian/apt.sh"

[ $# -gt 0 ] || die "usage: root.sh PACKAGE ..."

# GTK's programs end without the compiled form of their settings, which a package's script makes.
compile_schemas() {
    local root=$1 compiler=$1/usr/lib/x86_64-linux-gnu/glib-2.0/glib-compile-schemas
    [ -x "$compiler" ] && [ -d "$root/usr/share/glib-2.0/schemas" ] || return 0
    "$root/usr/lib64/ld-linux-x86-64.so.2" --library-path "$root/usr/lib/x86_64-linux-gnu" "$compiler" \
        "$root/usr/share/glib-2.0/schemas" >&2 || die "the schemas in $root cannot be compiled"
}

unpack() {
    local aside name
    [ ! -e "$dir" ] || return 0
    say "fetching $packages of Debian 13's, with what they need"
    aside=$(aside_in "$CACHE/mesa-root")
    # what /bin and others are is said by a package's script that does not run here
    mkdir -p "$aside"/usr/{bin,sbin,lib,lib64} "$aside"/{dev,etc,mnt,proc,root,run,sys,tmp,var/tmp}
    for name in bin sbin lib lib64; do
        ln -s "usr/$name" "$aside/$name"
    done
    # shellcheck disable=SC2086  # one word for each package
    apt_closure "$aside" dash libc-bin $packages     # libc-bin has the locale C.UTF-8
    compile_schemas "$aside"
    printf 'root:x:0:0:root:/root:/bin/sh\n' >"$aside/etc/passwd"
    printf 'root:x:0:\n' >"$aside/etc/group"
    rm -rf "${aside:?}"/usr/share/{doc,locale,man}
    publish "$aside" "$dir"
}

apt_ready
packages=$*
dir=$CACHE/mesa-root/$({
    sha256sum <"$0"
    for name in $packages; do
        version=$(apt_version "$name")
        [ -n "$version" ] || die "the archive $(used_mirror) has no package $name"
        echo "$name $version"
    done
} | sort | sha256sum | cut -c1-16)
[ -e "$dir" ] || locked "$CACHE/mesa-root.lock" unpack
touch -c "$dir"
echo "$dir"
