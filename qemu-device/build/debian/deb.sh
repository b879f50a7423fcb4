#!/bin/bash
# SPDX-License-Identifier: MIT
#
# deb.sh: Debian packages of this checkout. Prints the directory that holds them.
#
# The packaging is in qemu-device/build/debian/package. The maintainer is DEBFULLNAME <DEBEMAIL>. The plugin is that of
# plugin.sh, and its package depends on the exact QEMU it was built for.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../tarball.sh"
bash "$TOP/qemu-device/build/host/setup.sh" debhelper dh-dkms help2man

here=$TOP/qemu-device/build/debian/package
version=$(release)
maintainer="${DEBFULLNAME:-$(id -un)} <${DEBEMAIL:-$(id -un)@$(hostname -f 2>/dev/null || hostname)}>"
TSR_HW=$("$TOP/qemu-device/build/host/headers.sh")
qemu=$("$TOP/qemu-device/build/qemu/plugin.sh")
TSR_PLUGIN=$qemu/tessera.so
# as the plugin itself says it
TSR_QEMU_VERSION=$(grep -aoP '\d+\.\d+\.\d+ \(Debian \K[^)]+' "$TSR_PLUGIN" | head -n 1)
export TSR_HW TSR_PLUGIN TSR_QEMU_VERSION

work=$BUILD/deb/tessera-$version
say "building Debian packages: usually a minute or two"
rm -rf "$BUILD/deb"
mkdir -p "$work"
rsync -r --exclude='*.pyc' "$TOP"/{kernel,userspace,qemu-device,LICENSES} "$work/"
cp -r "$here" "$work/debian"
sed -e "s/@QEMU@/$TSR_QEMU_VERSION/" -e "s/@MAINTAINER@/$maintainer/" -e '/^#/d' "$here/control.in" >"$work/debian/control"
rm "$work/debian/control.in"
sed -e '1,/^$/d' -e 's/^$/./' -e 's/^/ /' "$TOP/LICENSES/MIT.txt" >"$work/debian/mit"
sed -i -e "s/@VERSION@/$version/" "$work/debian/libtessera1.symbols"
sed -i -e "/^@MIT@/r $work/debian/mit" -e '/^@MIT@/d' "$work/debian/copyright"
printf 'tessera (%s) unstable; urgency=medium\n\n  * Packages of a checkout.\n\n -- %s  %s\n' \
    "$version" "$maintainer" "$(date -R -d "@$(release_time)")" \
    >"$work/debian/changelog"
echo '3.0 (native)' >"$work/debian/source-format"
mkdir "$work/debian/source"
mv "$work/debian/source-format" "$work/debian/source/format"
(cd "$work" && run_logged deb dpkg-buildpackage -b -us -uc -j"$JOBS") || die "the packages cannot be built"
rm -rf "$work"
echo "$BUILD/deb"
