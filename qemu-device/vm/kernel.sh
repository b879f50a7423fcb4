#!/bin/bash
# SPDX-License-Identifier: MIT
#
# kernel.sh: the stock guest kernel, Debian's generic amd64 6.12 (bookworm-backports on Debian 12, its own
# on Debian 13), unpacked in the cache and never installed. Prints its directory:
#   DIR/vmlinuz       DIR/release     the version string, as `uname -r` says it
#   DIR/lib/modules/RELEASE/         with modules.dep
#   DIR/build         the configured headers, for `make -C DIR/build M=...`
#
# Options: --refresh    take a newer version if the archive has one (`make update`)
. "$(dirname "$0")/../build/lib.sh"
. "$TOP/qemu-device/build/apt.sh"

KERNELS=$CACHE/kernel-$HOST_RELEASE
LINK=$KERNELS/current

# The metapackages say which version is current; nothing here knows a version.
fetch() {
    local version final aside image headers kbuild release
    [ "${1:-}" = refresh ] || [ ! -e "$LINK/vmlinuz" ] || return 0
    apt_ready
    image=$(apt_depends linux-image-amd64)
    headers=$(apt_depends linux-headers-amd64)
    case $image in
    linux-image-6.*) ;;
    *) die "the archive $MIRROR has no linux-image-amd64 for $HOST_RELEASE(-backports); it says '$image'" ;;
    esac
    release=${image#linux-image-}
    [ "$headers" = "linux-headers-$release" ] ||
        die "the archive's linux-headers-amd64 ($headers) does not match linux-image-amd64 ($image);" \
            "the mirror is being updated: run 'make update' in an hour"
    version=$(apt_version "$image")
    final=$KERNELS/$version
    if [ ! -e "$final/vmlinuz" ]; then
        say "fetching the guest kernel $version"
        aside=$(aside_in "$KERNELS")
        mapfile -t kbuild < <(apt_depends "$headers" | grep -E '^linux-(headers-.*-common|kbuild-)')
        apt_fetch "$aside" "$image" "$headers" "${kbuild[@]}"
        unpacked "$aside" "$final" "$release"
        publish "$aside" "$final"
    fi
    ln -sfn "$version" "$LINK"
}

# unpacked ASIDE FINAL RELEASE: turn the unpacked packages into the layout promised above.
unpacked() {
    local dir=$1 final=$2 release=$3
    mv "$dir/boot/vmlinuz-$release" "$dir/vmlinuz"
    mv "$dir/boot/config-$release" "$dir/config"
    # From Debian 13 on the merged-/usr paths are used inside the packages, too.
    if [ -d "$dir/usr/lib/modules" ]; then
        mkdir -p "$dir/lib"
        mv "$dir/usr/lib/modules" "$dir/lib/modules"
    fi
    rm -f "$dir/lib/modules/$release/build" "$dir/lib/modules/$release/source"
    PATH=$PATH:/sbin:/usr/sbin depmod -b "$dir" "$release" || die "depmod failed for $release"
    # The headers name each other by absolute paths below /usr.
    grep -rIl --include=Makefile '/usr/src/' "$dir/usr/src/linux-headers-$release" |
        xargs sed -i "s|/usr/src/|$final/usr/src/|g"
    find "$dir/usr/src" -maxdepth 2 -type l -lname '/usr/*' -print0 |
        while IFS= read -r -d '' link; do
            ln -sfn "$final$(readlink "$link")" "$link"
        done
    ln -s "usr/src/linux-headers-$release" "$dir/build"
    rm -rf "${dir:?}/boot" "${dir:?}/usr/share"
    printf '%s\n' "$release" >"$dir/release"
}

if [ "${1:-}" = --refresh ]; then
    locked "$CACHE/kernel.lock" fetch refresh
elif [ ! -e "$LINK/vmlinuz" ]; then
    locked "$CACHE/kernel.lock" fetch
fi
echo "$KERNELS/$(readlink "$LINK")"
