#!/bin/bash
# SPDX-License-Identifier: MIT
# fencewatch on a machine that has nothing of this project: a bare Debian 13 with its own kernel, in a guest with
# virtio-gpu. The commands come from the README of the tarball, and from what it says of the package. They are at most
# four each, and end with a report. Wants root (or sudo), 3 GB, fifteen minutes.
# WAYS='tarball' chooses.
# test: TIMEOUT=3600
. "$TSR_TOP/tests/lib/ktap.sh"
cd "$TSR_TOP" || exit 1
. tests/distros/lib/bare.sh

root=$roots/fencewatch
image=$root.ext4
log=$root.log

# The first block of indented lines in a section of the README.
commands() { awk -v section="## $1" '$0 == section { on = 1 } on && /^    / { print substr($0, 5); seen = 1; next } seen { exit }' "$root/fencewatch/README.md"; }

system() {
    make_root trixie "$root" ca-certificates && in_root "$root" '
        export DEBIAN_FRONTEND=noninteractive && apt-get -q update && apt-get -qy install --no-install-recommends \
            linux-image-amd64 linux-headers-amd64 initramfs-tools sudo make gcc dkms && apt-get clean'
}
# The tarball, unpacked, and the package are all that is there.
tarball() { "${as_root[@]}" tar -C "$root" --strip-components=1 --one-top-level=fencewatch -xf "$(bash qemu-device/build/fencewatch_tarball.sh)"; }
package() { bash qemu-device/build/debian/deb.sh && "${as_root[@]}" cp "$BUILD"/deb/fencewatch-dkms_*.deb "$root/"; }

# in_guest DIRECTORY SECTION: what the section says, one command after the other, with virtio-gpu.
in_guest() {
    commands "$2" | "${as_root[@]}" tee "$root/commands"
    [ -s "$root/commands" ] && [ "$(wc -l <"$root/commands")" -le 4 ] || return
    "${as_root[@]}" tee "$root/init" >/dev/null <<INIT
#!/bin/sh
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
mount -t proc proc /proc && mount -t sysfs sysfs /sys && mount -t devtmpfs dev /dev
mount -t debugfs debugfs /sys/kernel/debug
echo localhost >/proc/sys/kernel/hostname && echo 127.0.0.1 localhost >/etc/hosts
modprobe virtio-gpu
cd $1 && sh -ex /commands && echo "fencewatch: they all work"
echo o >/proc/sysrq-trigger
sleep 60
INIT
    "${as_root[@]}" chmod 755 "$root/init"
    "${as_root[@]}" rm -f "$image" && truncate -s 4G "$image" &&
        "${as_root[@]}" mkfs.ext4 -q -O ^has_journal -d "$root" "$image" || return
    timeout 1500 "$TSR_QEMU" -L "$TSR_QEMU_SHARE" -nodefaults -no-user-config -display none -no-reboot -M q35 -accel tcg \
        -cpu max -m 1024 -kernel "$(echo "$root"/boot/vmlinuz-*)" -initrd "$(echo "$root"/boot/initrd.img-*)" \
        -append "root=/dev/vda rw init=/init console=tty0 console=ttyS0 quiet panic=-1" -serial stdio \
        -drive "file=$image,format=raw,if=virtio" -device virtio-gpu-pci </dev/null >"$log" 2>&1
    tail -n 40 "$log"
    grep -q '^fencewatch: they all work' "$log"
}
reported() { grep 'fencewatch: ERROR_ODD driver fencewatch context [0-9]* seqno 1: signals with error 5' "$log"; }

# try WAY DIRECTORY SECTION
try() {
    check "$1: at most four commands of the README work in a guest with virtio-gpu" in_guest "$2" "$3"
    check "$1: they end with a report" reported
}

eval "$(make -s guest-env)"
check "a bare Debian 13 with compiler and headers can be made" system
check "the tarball is made of kernel/fencewatch alone" tarball
for way in ${WAYS:-tarball package}; do
    case $way in
    tarball) try tarball /fencewatch 'Two minutes to the first report' ;;
    package)
        check "the packages are built" package
        try package / 'As a Debian package'
        ;;
    esac
done
remove_root "$root"
rm -f "$image"
ktap_finish
