#!/bin/bash
# SPDX-License-Identifier: MIT
# The README's first command, and what goes with it, on a Debian on which nothing is installed but git and make. Each
# release gets a fresh root from debootstrap, this checkout and a cache of its own in it; all of that goes afterwards.
# Wants root (or sudo) and 8 GB; half an hour each. DISTROS='trixie' chooses.
# test: TIMEOUT=14400
. "$TSR_TOP/tests/lib/ktap.sh"
cd "$TSR_TOP" || exit 1
. qemu-device/build/lib.sh
. qemu-device/build/apt.sh
set +e

as_root=()
[ "$(id -u)" = 0 ] || as_root=(sudo -n)
roots=$BUILD/distros

# bare RELEASE: a root of it, with the checkout in /tessera. Its apt gets packages where the host's does.
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
    git ls-files -z | "${as_root[@]}" rsync -a --chown=root:root --from0 --files-from=- "$TSR_TOP/" "$root/tessera/"
}

# inside RELEASE COMMAND: run it there in a name space of its own, which takes mounts and processes with it.
inside() {
    local root=$roots/$1
    # shellcheck disable=SC2016
    "${as_root[@]}" unshare --mount --pid --fork --kill-child sh -c '
        mount --rbind /dev "$1/dev" && mount -t proc proc "$1/proc" && mount -t sysfs sysfs "$1/sys" && cd / || exit
        exec chroot "$1" /usr/bin/env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
            sh -c "cd /tessera && $2"' sh "$root" "$2" </dev/null >"$roots/$1.log" 2>&1 || { tail -n 40 "$roots/$1.log"; return 1; }
}

# What `make run` leaves: each of these is a picture.
pictures() {
    inside "$1" 'find ~/.cache/tessera/build -path "*/run/*.png" -size +1k' || return
    [ "$(wc -l <"$roots/$1.log")" -ge 4 ] || { cat "$roots/$1.log"; return 1; }
}

if ! command -v debootstrap >/dev/null || ! "${as_root[@]}" true 2>/dev/null; then
    skip "[SYS8] bare Debian systems" "debootstrap and root are needed"
    ktap_finish
fi
for release in ${DISTROS:-bookworm trixie}; do
    check "a bare $release can be made" bare "$release"
    check "[SYS8] make run works on a bare $release" inside "$release" 'make run'
    check "[SYS8] it has left pictures there" pictures "$release"
    check "[SYS2] the driver builds there for every kernel that is cared for" inside "$release" 'make check-kernels'
    check "a guest with Linux 7.3 runs tsr-info there" inside "$release" 'make guest KERNEL=7.3 CMD=tsr-info'
    "${as_root[@]}" rm -rf --one-file-system "${roots:?}/$release"
done
ktap_finish
