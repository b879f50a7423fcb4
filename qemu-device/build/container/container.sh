#!/bin/bash
# SPDX-License-Identifier: MIT
#
# container.sh: build a container image and print the name of its OCI archive, below $BUILD. Its root is a Debian 13 with
# this checkout in /opt/tessera, everything a guest needs already built in /var/cache/tessera, and the command `tessera`.
# Needs debootstrap and root (or sudo), 3 GB of disk while it runs, and no registry.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../tarball.sh"
APT_ONLY=trixie
. "$TOP/qemu-device/build/debian/apt.sh"
. "$TOP/qemu-device/build/debian/root.sh"

here=$TOP/qemu-device/build/container
root=$BUILD/container
archive=$BUILD/tessera-$(release).oci.tar
MOST=700    # MiB, unpacked

have_root || die "a container needs debootstrap, and root or sudo"

# packages KIND: those that stay ("") or go ("build"), separated by commas
packages() { sed -e '/^#/d' "$here/packages" | awk -v kind="$1" '$2 == kind { printf "%s%s", n++ ? "," : "", $1 }'; }

fill() {
    make_root trixie "$root" "$(packages '')" || return
    # Not by debootstrap, for which every package was asked for: what these depend on is to go with them.
    in_root "$root" "apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -qy install --no-install-recommends $(packages build | tr , ' ')" || return
    "${as_root[@]}" mkdir -p "$root/opt" "$root/var/cache/tessera"
    "${as_root[@]}" tar -C "$root/opt" --transform "s,^[^/]*,tessera," -xf "$("$TOP/qemu-device/build/dist.sh")"
    "${as_root[@]}" install -m 755 "$here/tessera" "$root/usr/local/bin/tessera"
}

# One guest runs here: afterwards nothing has to be built, and the image is known to work.
prepare() {
    in_root "$root" 'tessera guest hello'
}

# A guest takes a dozen of the kernel's modules. The others are 110 MB.
trim_modules() {
    # shellcheck disable=SC2016 # variables of the shell inside
    in_root "$root" 'cd /var/cache/tessera && for file in build/*/initramfs-*.cpio; do cpio -t --quiet <"$file"; done |
        sed -n "s,.*/,,; s/\.ko$//p" | sort -u >/tmp/kept && [ -s /tmp/kept ] &&
        find kernel-trixie/*/lib/modules -name "*.ko*" | while read -r file; do
            name=${file##*/}
            grep -qxF "${name%%.ko*}" /tmp/kept || rm "$file"
        done && rm /tmp/kept'
}

# Remove what only the builds needed, other machines than a PC, sanitizers, and link-time optimization, which only the
# device is compiled with. The cache keeps results: QEMU's device, the
# guest's files, kernel and headers. Of QEMU's headers the stamps stay, which say that the device need not be built.
trim() {
    local cache=$root/var/cache/tessera
    in_root "$root" "apt-get -qy purge --autoremove $(packages build | tr , ' ') && apt-get clean" || return
    trim_modules || return
    "${as_root[@]}" rm -rf "$cache"/{fetch,log,meson,snapshots,linux-source,kvm-*,tsc-*} "$cache"/qemu-headers/*/{src,build,out,device} "$cache"/apt-*/{archives,lists,*.bin} \
        "$root"/var/lib/apt/lists/* "$root"/var/cache/{apt,debconf}/* "$root"/usr/share/{doc,man,locale,info,lintian} \
        "$root"/var/log/* "$root"/etc/resolv.conf "$root"/usr/bin/{*-lto-dump-*,qemu-system-i386,qemu-system-x86_64-microvm} \
        "$root"/usr/lib/x86_64-linux-gnu/lib{asan,hwasan,lsan,tsan,ubsan}.so.* \
        "$root"/usr/lib/gcc/x86_64-linux-gnu/*/lib{asan,hwasan,lsan,tsan,ubsan}.a "$root"/usr/libexec/gcc/x86_64-linux-gnu/*/lto1 \
        "$root"/usr/share/python-wheels
}

say "making a Debian 13 system in $root"
run_logged container-root fill || die "the root of the container cannot be made"
say "building the device, the driver and the guest in it"
run_logged container-prepare prepare || die "a guest does not run in the container"
run_logged container-trim trim || die "the container cannot be reduced"
size=$("${as_root[@]}" du -sm "$root" | cut -f1)
[ "$size" -le "$MOST" ] || die "the container has $size MiB, $MOST are allowed: $root"
say "packing $size MiB"
"${as_root[@]}" /usr/bin/python3 -B "$here/oci.py" "$root" "$archive" "tessera:$(release)" || die "the container cannot be packed"
remove_root "$root"
echo "$archive"
