# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# Debian systems in a folder. Source it after lib.sh and apt.sh. Needs debootstrap, and root or sudo.
#
#   have_root                       whether both are there
#   make_root RELEASE DIR PACKAGES  a fresh system with these packages (a,b); its apt uses the host's mirrors
#   in_root DIR COMMAND             run a shell command there, in namespaces that end its mounts and processes with it
#   remove_root DIR                 remove it
as_root=()
[ "$(id -u)" = 0 ] || as_root=(sudo -n)

have_root() { command -v debootstrap >/dev/null && "${as_root[@]}" true 2>/dev/null; }

make_root() {
    local release=$1 root=$2 from
    remove_root "$root"
    mkdir -p "$(dirname "$root")"
    from=$(mirror) || return
    "${as_root[@]}" debootstrap --variant=minbase --include="$3" "$release" "$root" "$from" || return
    printf 'deb %s %s main\n' "$from" "$release" "$(security_mirror)" "$release-security" |
        "${as_root[@]}" tee "$root/etc/apt/sources.list" >/dev/null
    "${as_root[@]}" cp /etc/resolv.conf "$root/etc/resolv.conf"
}

in_root() {
    # shellcheck disable=SC2016
    "${as_root[@]}" unshare --mount --pid --fork --kill-child ${IN_ROOT_OPTIONS:-} sh -c '
        mount --rbind /dev "$1/dev" && mount -t proc proc "$1/proc" && mount -t sysfs sysfs "$1/sys" && cd / || exit
        exec chroot "$1" /usr/bin/env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
            sh -c "$2"' sh "$1" "$2" </dev/null
}

remove_root() { "${as_root[@]}" rm -rf --one-file-system "${1:?}"; }
