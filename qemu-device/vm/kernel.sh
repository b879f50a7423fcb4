#!/bin/bash
# SPDX-License-Identifier: MIT
#
# kernel.sh [NAME]: a guest kernel of Debian's (generic, amd64), unpacked in the cache and never installed. Prints
# its directory:
#   DIR/vmlinuz       DIR/release     the version string, as `uname -r` says it
#   DIR/lib/modules/RELEASE/         with modules.dep
#   DIR/build         the configured headers, for `make -C DIR/build M=...`
#
# NAME is a version (7.3, 6.12) or a suite (trixie-backports); without it, the stock kernel: the newest that Debian
# stable's backports offer, or, from an archive without them, the one that goes with the host's release.
#
# Options: --refresh    take a newer version if the archive has one (`make update`), of all that are in use
#          --headers NAME   only the headers; DIR has no more than release and build then
. "$(dirname "$0")/../build/lib.sh"
APT_ALSO=kernels
. "$TOP/qemu-device/build/debian/apt.sh"

KERNELS=$CACHE/kernel-$HOST_RELEASE
STOCK_SUITE=trixie-backports

# release_of NAME: which kernel that is today. The metapackages say so; nothing here knows a version.
release_of() {
    local name=$1 own newest
    own=$(apt_depends linux-headers-amd64 | only_release)
    case $name in
    stock)
        newest=$(apt_depends "linux-headers-amd64/$STOCK_SUITE" 2>/dev/null | only_release)
        [ -n "$newest" ] || say "$(used_mirror) has no kernel of $STOCK_SUITE: guests run Debian $HOST_RELEASE's, $own"
        echo "${newest:-$own}"
        ;;
    *[!0-9.]*) apt_depends "linux-headers-amd64/$name" 2>/dev/null | only_release ;;
    *)
        case $own in
        "$name" | "$name"[.+-]*) echo "$own" ;;
        *) apt-cache search --names-only "^linux-headers-$name" | cut -d' ' -f1 | only_release | sort -V | tail -n 1 ;;
        esac
        ;;
    esac
}

# From names of packages those of generic kernels' headers, without the front.
only_release() { sed -nE 's/^linux-headers-([0-9][0-9.]*\+deb[0-9.]+-amd64)$/\1/p'; }

# From Debian's 6.19 on, what was in the image package is in three.
image_packages() {
    local release=$1 image
    image=$(apt_depends "linux-image-$release")
    if grep -qxF "linux-binary-$release" <<<"$image"; then
        echo "linux-binary-$release linux-modules-$release linux-base-$release"
    else
        echo "linux-image-$release"
    fi
}

# wrap_tools DIR: where this host's C library is older than what Kbuild's programs want, they run with Debian 13's.
wrap_tools() {
    local file says toolchain=
    while IFS= read -r -d '' file; do
        # A symbol version that is missing is said by the loader, whatever the arguments are.
        says=$("$file" --version </dev/null 2>&1) || true
        [[ $says == *GLIBC_*' not found'* ]] || continue
        toolchain=${toolchain:-$("$TOP/qemu-device/build/debian/toolchain.sh")}
        mv "$file" "$file.elf"
        printf '#!/bin/sh\nexec "%s/run" "$0" "$@"\n' "$toolchain" >"$file"
        chmod 755 "$file"
    done < <(find "$1"/usr/lib/linux-kbuild-*/{scripts,tools} -type f -perm -100 ! -name '*.*sh' \
        -exec sh -c 'head -c 4 "$1" | grep -q ELF' sh {} \; -print0)
}

# fetch_headers RELEASE FINAL: FINAL/build and FINAL/release.
fetch_headers() {
    local release=$1 final=$2 dir kbuild
    [ ! -e "$final/release" ] || return 0
    say "fetching the headers of Linux $release (16 MB): once, usually ten seconds"
    dir=$(aside_in "$KERNELS")
    mapfile -t kbuild < <(apt_depends "linux-headers-$release" | grep -E '^linux-(headers-.*-common|kbuild-)')
    apt_fetch "$dir" "linux-headers-$release" "${kbuild[@]}"
    # The headers name each other by absolute paths below /usr.
    grep -rIl --include=Makefile '/usr/src/' "$dir/usr/src/linux-headers-$release" |
        xargs sed -i "s|/usr/src/|$final/usr/src/|g"
    find "$dir/usr/src" -maxdepth 2 -type l -lname '/usr/*' -print0 |
        while IFS= read -r -d '' link; do
            ln -sfn "$final$(readlink "$link")" "$link"
        done
    wrap_tools "$dir"
    ln -s "usr/src/linux-headers-$release" "$dir/build"
    rm -rf "${dir:?}/usr/share" "${dir:?}/usr/lib/modules"
    printf '%s\n' "$release" >"$dir/release"
    publish "$dir" "$final"
}

# fetch_image RELEASE FINAL HEADERS: the kernel and its modules.
fetch_image() {
    local release=$1 final=$2 headers=$3 dir packages file
    [ ! -e "$final/vmlinuz" ] || return 0
    say "fetching the guest kernel $release (some 110 MB): once, usually twenty seconds"
    dir=$(aside_in "$KERNELS")
    read -r -a packages <<<"$(image_packages "$release")"
    apt_fetch "$dir" "${packages[@]}"
    # On merged /usr the paths inside the packages are longer.
    if [ -d "$dir/usr/lib/modules" ]; then
        mkdir -p "$dir/lib"
        mv "$dir/usr/lib/modules" "$dir/lib/modules"
    fi
    for file in vmlinuz config; do
        mv "$dir/boot/$file-$release" "$dir/$file" 2>/dev/null || mv "$dir/lib/modules/$release/$file" "$dir/$file" ||
            die "the packages of Linux $release have no $file where it is looked for"
    done
    rm -f "$dir/lib/modules/$release/build" "$dir/lib/modules/$release/source"
    PATH=$PATH:/sbin:/usr/sbin depmod -b "$dir" "$release" || die "depmod failed for $release"
    ln -s "$headers/build" "$dir/build"
    rm -rf "${dir:?}/boot" "${dir:?}/usr"
    printf '%s\n' "$release" >"$dir/release"
    publish "$dir" "$final"
}

# link_of WHAT NAME: what remembers which one NAME is, until it is looked up again.
link_of() { echo "$KERNELS/$1-$2"; }

# fetch WHAT NAME [again]: look NAME up and make its link point to it.
fetch() {
    local what=$1 name=$2 release version headers link
    link=$(link_of "$what" "$name")
    [ "${3:-}" = again ] || [ ! -e "$link/release" ] || return 0
    apt_ready
    release=$(release_of "$name")
    [ -n "$release" ] || die "the archive has no kernel '$name': expected a version such as 7.3 or 6.12, or one" \
        "of the suites bookworm-backports, trixie, trixie-security, trixie-backports; 'make update' fetches its lists again"
    version=$(apt_version "linux-headers-$release")
    headers=$KERNELS/headers-$version
    mkdir -p "$KERNELS"
    fetch_headers "$release" "$headers"
    if [ "$what" = headers ]; then
        ln -sfn "headers-$version" "$link"
    else
        fetch_image "$release" "$KERNELS/$version" "$headers"
        ln -sfn "$version" "$link"
    fi
}

# refresh: all that have been asked for by name.
refresh() {
    local link
    fetch kernel stock again
    for link in "$KERNELS"/{kernel,headers}-*; do
        [ -L "$link" ] && [ "$link" != "$(link_of kernel stock)" ] || continue
        link=$(basename "$link")
        fetch "${link%%-*}" "${link#*-}" again
    done
}

what=kernel
case ${1:-} in
--refresh)
    locked "$APT_DIR.lock" apt_update again
    locked "$CACHE/kernel.lock" refresh
    shift
    ;;
--headers)
    what=headers
    shift
    ;;
esac
name=${1:-stock}
link=$(link_of "$what" "$name")
[ -e "$link/release" ] || locked "$CACHE/kernel.lock" fetch "$what" "$name"
readlink -f "$link"
