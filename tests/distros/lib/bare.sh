# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# Bare Debian systems, for the tests here: source it in the checkout. Wants debootstrap and root (or sudo).
#
#   bare RELEASE            a fresh root of it, with the checkout in /tessera; its apt gets packages where the host's does
#   inside RELEASE COMMAND  run it in /tessera there, in a name space of its own, which takes mounts and processes with it
#   gone RELEASE            remove it
#   $roots/RELEASE          where it is; what the last command has said is in $roots/RELEASE.log
. qemu-device/build/lib.sh
. qemu-device/build/apt.sh
set +e

as_root=()
[ "$(id -u)" = 0 ] || as_root=(sudo -n)
roots=$BUILD/distros

bare() {
    local release=$1 root=$roots/$1 from
    "${as_root[@]}" rm -rf "$root"
    mkdir -p "$roots"
    from=$(mirror) || return
    "${as_root[@]}" debootstrap --variant=minbase --include=git,make "$release" "$root" "$from" || return
    printf 'deb %s %s main\n' "$from" "$release" "$(security_mirror)" "$release-security" |
        "${as_root[@]}" tee "$root/etc/apt/sources.list" >/dev/null
    "${as_root[@]}" cp /etc/resolv.conf "$root/etc/resolv.conf"
    "${as_root[@]}" mkdir "$root/tessera"
    git ls-files -z | "${as_root[@]}" rsync -a --chown=root:root --from0 --files-from=- "$TSR_TOP/" "$root/tessera/" &&
        "${as_root[@]}" git -C "$root/tessera" init -q && "${as_root[@]}" git -C "$root/tessera" add -A
}

inside() {
    local root=$roots/$1
    # shellcheck disable=SC2016
    "${as_root[@]}" unshare --mount --pid --fork --kill-child sh -c '
        mount --rbind /dev "$1/dev" && mount -t proc proc "$1/proc" && mount -t sysfs sysfs "$1/sys" && cd / || exit
        exec chroot "$1" /usr/bin/env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
            sh -c "cd /tessera && $2"' sh "$root" "$2" </dev/null >"$roots/$1.log" 2>&1 || { tail -n 40 "$roots/$1.log"; return 1; }
}

gone() { "${as_root[@]}" rm -rf --one-file-system "${roots:?}/$1"; }

if ! command -v debootstrap >/dev/null || ! "${as_root[@]}" true 2>/dev/null; then
    skip "[SYS8] bare Debian systems" "debootstrap and root are needed"
    ktap_finish
fi
