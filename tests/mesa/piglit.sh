#!/bin/bash
# SPDX-License-Identifier: MIT
#
# piglit.sh: Debian's piglit, unpacked as far as it is of use here; prints its directory: bin/, lib/ and tests/ in it.
# piglit.sh --generated DIR: also those of the two gigabytes of generated shaders that DIR/wanted names, in DIR.
. "$(dirname "$0")/../../qemu-device/build/lib.sh"
. "$TOP/qemu-device/build/debian/apt.sh"

HOME_IN=usr/lib/x86_64-linux-gnu/piglit

fetch() {
    local aside
    [ ! -e "$dir" ] || return 0
    say "fetching piglit, 34 MB"
    aside=$(aside_in "$CACHE/piglit")
    mkdir "$aside/package"
    (cd "$aside/package" && run_logged piglit apt-get download "piglit=$version") ||
        die "cannot download piglit: check the network (mirror $(used_mirror)), then try again"
    # the generated shaders stay in the package
    dpkg-deb --fsys-tarfile "$aside"/package/*.deb | tar -C "$aside" -x "./$HOME_IN/bin" "./$HOME_IN/lib" "./$HOME_IN/tests"
    mv "$aside/$HOME_IN"/{bin,lib,tests} "$aside/"
    rm -rf "${aside:?}/usr"
    mv "$aside"/package/*.deb "$aside/piglit.deb"
    rmdir "$aside/package"
    publish "$aside" "$dir"
}

bash "$TOP/qemu-device/build/host/setup.sh" libwaffle-1-0 libxkbcommon0 libgl1 libx11-6 libwayland-client0
apt_ready
version=$(apt_version piglit)
[ -n "$version" ] || die "the archive $(used_mirror) has no package piglit"
dir=$CACHE/piglit/$version-2
[ -e "$dir" ] || locked "$CACHE/piglit.lock" fetch
if [ "${1:-}" = --generated ]; then
    sed "s|^|./$HOME_IN/|" "$2/wanted" >"$2/paths"
    dpkg-deb --fsys-tarfile "$dir/piglit.deb" | tar -C "$2" -x --strip-components=5 --files-from="$2/paths"
fi
echo "$dir"
