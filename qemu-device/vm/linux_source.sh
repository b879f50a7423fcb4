#!/bin/bash
# SPDX-License-Identifier: MIT
#
# linux_source.sh [VERSION]: Debian's linux-source of a VERSION such as 7.3, unpacked in the cache; without one,
# that of the stock guest kernel. Prints the directory, which is never written to: builds go elsewhere (O=), and
# who changes files takes a copy.
. "$(dirname "$0")/../build/lib.sh"
version=${1:-}
if [ -n "$version" ]; then
    [[ $version =~ ^[0-9]+\.[0-9]+$ ]] || die "linux_source.sh: expected a version such as 7.3, got '$version'"
    # The lists of kernel.sh, where the newest one is.
    . /etc/os-release
    case ${VERSION_CODENAME:-} in
    bookworm) APT_ALSO='trixie trixie-security trixie-backports' ;;
    *) APT_ALSO='trixie-backports bookworm-backports' ;;
    esac
fi
. "$TOP/qemu-device/build/apt.sh"

# The source package is of the same version as the stock kernel; where the archive has moved on, the newer one does.
if [ -n "$version" ]; then
    SOURCE=$CACHE/linux-source/$version
else
    stock=$("$TOP/qemu-device/vm/kernel.sh")
    version=$(sed 's/^\([0-9]*\.[0-9]*\).*/\1/' "$stock/release")
    SOURCE=$CACHE/linux-source/$(basename "$(readlink -f "$stock")")
fi

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
