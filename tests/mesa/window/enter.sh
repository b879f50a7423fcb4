#!/bin/sh
# SPDX-License-Identifier: MIT
#
# enter.sh ROOT MESA HOST OUT COMMAND: run a shell command in ROOT, which userspace/mesa/root.sh has unpacked, in
# namespaces of its own. No process of it outlives this script, and nothing is written to ROOT.
#
#   /mnt/mesa   MESA, what userspace/mesa/build.sh has made    /mnt/host   HOST, where `make userspace` builds
#   /mnt/out    OUT, for what the command leaves               /mnt/here   this directory
#
# Who is not root becomes root in a user namespace; kernels may forbid that.
set -eu

if [ "${1:-}" != --inside ]; then
    user=
    [ "$(id -u)" = 0 ] || user='--user --map-root-user'
    # shellcheck disable=SC2086  # words
    exec unshare $user --mount --pid --fork --kill-child "$0" --inside "$@"
fi

root=$2 mesa=$3 host=$4 out=$5 command=$6
here=$(cd "$(dirname "$0")" && pwd)
for directory in dev sys; do
    mount --rbind "/$directory" "$root/$directory"
done
mount -t proc proc "$root/proc"
for directory in tmp run mnt; do
    mount -t tmpfs tmpfs "$root/$directory"
done
chmod 700 "$root/run"
for pair in mesa:"$mesa" host:"$host" out:"$out" here:"$here"; do
    mkdir "$root/mnt/${pair%%:*}"
    mount --bind "${pair#*:}" "$root/mnt/${pair%%:*}"
done
chroot=$(PATH=$PATH:/usr/sbin:/sbin command -v chroot)
unset LD_PRELOAD LD_LIBRARY_PATH DISPLAY WAYLAND_DISPLAY DBUS_SESSION_BUS_ADDRESS
export HOME=/tmp XDG_RUNTIME_DIR=/run LANG=C.UTF-8 PATH=/usr/bin:/bin GSETTINGS_BACKEND=memory
exec "$chroot" "$root" /bin/sh -c "$command"
