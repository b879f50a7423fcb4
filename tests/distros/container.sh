#!/bin/bash
# SPDX-License-Identifier: MIT
# The container (make container): its archive is an OCI image of at most 700 MiB, and a guest runs from it without a
# network, also with a kernel that was built outside. The archive is unpacked and entered in a root that has nothing but
# a few commands of busybox, which stands for any other distribution. Wants root (or sudo), 4 GB, fifteen minutes.
# ARCHIVE=FILE takes one that is there already. With podman on the host, podman runs it as well.
# test: TIMEOUT=7200
. "$TSR_TOP/tests/lib/ktap.sh"
cd "$TSR_TOP" || exit 1
. tests/distros/lib/bare.sh

root=$roots/elsewhere
image=$root/image
tree=$BUILD/own-tree    # tests/tree/own_tree.sh builds it
log=$roots/container.log
mkdir -p "$roots"
if ! archive=${ARCHIVE:-$(make container)}; then
    result 1 "the container is built"
    ktap_finish
fi

# The commands that the other root has. Neither a package manager nor a compiler is among them.
applets=(sh cat chroot env grep gunzip mkdir mount sed sha256sum tar)
other_root() {
    local name
    remove_root "$root" || return
    "${as_root[@]}" mkdir -p "$root"/{bin,dev,proc,sys,tmp} && "${as_root[@]}" cp "$(bash qemu-device/vm/busybox.sh)" "$root/bin/busybox" || return
    for name in "${applets[@]}"; do
        "${as_root[@]}" ln -s busybox "$root/bin/$name"
    done
    "${as_root[@]}" cp "$archive" "$root/image.tar"
}
# elsewhere COMMAND: run a shell command in that root, without a network
elsewhere() {
    # shellcheck disable=SC2016
    "${as_root[@]}" unshare --mount --pid --net --fork --kill-child sh -c '
        mount --rbind /dev "$1/dev" && mount -t proc proc "$1/proc" && mount -t sysfs sysfs "$1/sys" &&
        cd / && exec chroot "$1" /bin/env -i PATH=/bin /bin/sh -c "$2"' sh "$root" "$1" </dev/null >"$log" 2>&1
}
# The steps that a user takes there by hand, with names of our own.
cat >"$roots/unpack" <<'SCRIPT'
set -e
mkdir /oci /image
tar -C /oci -xf /image.tar
cd /oci/blobs/sha256
for file in *; do echo "$file  $file"; done | sha256sum -c >/dev/null
manifest=$(sed 's/.*"digest": *"sha256:\([0-9a-f]*\)".*/\1/' /oci/index.json)
layer=$(sed 's/.*"layers":\[[^]]*"sha256:\([0-9a-f]*\)".*/\1/' "$manifest")
gunzip -c "$layer" | tar -C /image -xf -
SCRIPT
cat >"$roots/enter" <<'SCRIPT'
cd /image
mount --rbind /dev dev && mount -t proc proc proc && mount -t sysfs sysfs sys
exec chroot /image /usr/local/bin/tessera "$@"
SCRIPT
unpack() { "${as_root[@]}" cp "$roots/unpack" "$roots/enter" "$root/" && elsewhere 'sh /unpack' || { tail -n 30 "$log"; return 1; }; }
# tessera ARGUMENT...: the container's command with quoted arguments
tessera() { elsewhere "PATH=/usr/local/bin:/usr/bin:/bin; sh /enter $*"; }
# prints STATUS WORDS ARGUMENT...: it ends with that status and prints the words
prints() {
    local want=$1 words=$2 got
    shift 2
    tessera "$@"
    got=$?
    [ "$got" = "$want" ] && grep -qF -- "$words" "$log" || { tail -n 30 "$log"; echo "status $got"; return 1; }
}

check "a root with nothing but busybox can be made" other_root
check "the archive is an OCI image whose hashes are right, and busybox unpacks it" unpack
small() { [ "$("${as_root[@]}" du -sm "$image" | cut -f1)" -le 700 ]; }
check "it has at most 700 MiB" small
check "a guest runs a job without a network" prints 0 ff332211 guest hello
check "the status is the command's" prints 7 '' guest "'exit 7'"
check "without arguments it prints its usage" prints 2 "usage: tessera guest"
check "a kernel that is not there is an error of the guest" prints 125 "there is no such file" guest --kernel /linux/bzImage true
own() {
    "${as_root[@]}" cp -al "$tree" "$image/linux" &&
        prints 0 ff332211 guest --kernel /linux/arch/x86/boot/bzImage "'uname -r; hello'" &&
        grep -qF "$(cat "$tree/include/config/kernel.release")" "$log"
}
if [ -f "$tree/arch/x86/boot/bzImage" ]; then
    check "a kernel of one's own runs, with the driver built for it in the container" own
else
    skip "a kernel of one's own runs, with the driver built for it in the container" "make check-kernel-tree builds one"
fi
remove_root "$root"

# Without limits that need rights, and on a host with both kinds of cgroups with the old ones only.
tag=tessera:$(basename "$archive" .oci.tar | sed 's/^tessera-//')
podman_run() {
    # shellcheck disable=SC2016
    "${as_root[@]}" unshare -m sh -c 'umount /sys/fs/cgroup/unified 2>/dev/null
        exec podman run --rm --network=none --ulimit nproc=1000:1000 --ulimit nofile=1000:1000 "$@"' sh "$tag" "$@" </dev/null
}
podman_runs() {
    local status
    podman_run guest hello >"$log" 2>&1 && grep -q ff332211 "$log" || { cat "$log"; return 1; }
    podman_run guest 'exit 7' >"$log" 2>&1
    status=$?
    [ "$status" = 7 ] || { cat "$log"; echo "status $status"; return 1; }
}
if command -v podman >/dev/null && "${as_root[@]}" podman load -qi "$archive" >/dev/null && podman_run --help >"$log" 2>&1; then
    check "podman loads and runs it" podman_runs
    "${as_root[@]}" podman rmi -f "$tag" >/dev/null 2>&1
else
    skip "podman loads and runs it" "podman is not installed, or cannot start here"
fi
rm -rf "$roots/unpack" "$roots/enter"
[ -n "${ARCHIVE:-}" ] || rm -f "$archive"
ktap_finish
