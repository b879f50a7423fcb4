#!/bin/bash
# SPDX-License-Identifier: MIT
# The Debian packages: lintian says nothing of them; a bare Debian 13 installs them with apt; its kernel, with the driver
# that DKMS has made, boots that very root on the packaged device and runs the packaged tools; tsr-host and a program
# that is compiled there work without a guest. Wants root (or sudo), 6 GB, ten minutes.
# test: TIMEOUT=3600
. "$TSR_TOP/tests/lib/ktap.sh"
cd "$TSR_TOP" || exit 1
. tests/distros/lib/bare.sh

release=trixie
root=$roots/$release
debs=$BUILD/deb
export DEBFULLNAME=${DEBFULLNAME:-The Tessera authors} DEBEMAIL=${DEBEMAIL:-tessera@lists.debian.org}

# A refusal of apt, a missing dependency: the status of apt-get.
installed() {
    "${as_root[@]}" mkdir -p "$root/debs" && "${as_root[@]}" cp "$debs"/*.deb "$root/debs/" && inside "$release" '
        export DEBIAN_FRONTEND=noninteractive && apt-get -q update &&
        apt-get -qy install --no-install-recommends linux-image-amd64 linux-headers-amd64 initramfs-tools gcc libc6-dev pkgconf &&
        rm -f /debs/*-dbgsym_* && apt-get -qy install --no-install-recommends /debs/*.deb'
}
driver() { inside "$release" 'dkms status tessera | grep -q installed && modinfo -k "$(ls /lib/modules)" tessera'; }
fencewatch() { inside "$release" 'dkms status fencewatch | grep -q installed && modinfo -k "$(ls /lib/modules)" fencewatch'; }
program() {
    inside "$release" 'cc -Wall -Werror userspace/demos/triangle/triangle.c -o /triangle $(pkgconf --cflags --libs libtessera-gfx) &&
        tsr-host /triangle | grep -qx "the middle is 63 65 127"'
}
# The init program of the guest.
guest() {
    "${as_root[@]}" tee "$root/init" >/dev/null <<'INIT'
#!/bin/sh
mount -t proc proc /proc && mount -t sysfs sysfs /sys && mount -t devtmpfs dev /dev
modprobe tessera && tsr-info && tsr-sync --version && echo "packages: they work"
echo o >/proc/sysrq-trigger
sleep 60
INIT
    "${as_root[@]}" chmod 755 "$root/init"
    "${as_root[@]}" rm -f "$roots/$release.ext4" && truncate -s 4G "$roots/$release.ext4" &&
        "${as_root[@]}" mkfs.ext4 -q -O ^has_journal -d "$root" "$roots/$release.ext4" &&
        "${as_root[@]}" mv "$roots/$release.ext4" "$root/root.ext4" &&
        inside "$release" 'timeout 600 qemu-system-tessera -M q35 -cpu max -accel tcg -m 1G -nographic -no-reboot -snapshot \
            -kernel /boot/vmlinuz-* -initrd /boot/initrd.img-* -append "root=/dev/vda ro init=/init console=ttyS0 quiet" \
            -drive file=/root.ext4,format=raw,if=virtio -device tessera,vram=64M && false' ;
    grep -q '^packages: they work' "$roots/$release.log"
}

check "the packages are built" bash qemu-device/build/debian/deb.sh
check "lintian has nothing to say" lintian --allow-root --fail-on error,warning "$debs"/*.deb
check "a bare $release can be made" bare "$release"
check "[SYS8] apt installs them there" installed
check "the driver has been made for its kernel" driver
check "fencewatch has been made for its kernel" fencewatch
check "a program is built with what is installed, and draws under tsr-host" program
check "[SYS8] tsr-info runs in a guest that is made of nothing but packages" guest
gone "$release"
ktap_finish
