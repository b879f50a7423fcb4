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
. qemu-device/build/debian/apt.sh
. qemu-device/build/debian/root.sh
set +e

roots=$BUILD/distros

bare() {
    local root=$roots/$1
    make_root "$1" "$root" git,make || return
    "${as_root[@]}" mkdir "$root/tessera"
    qemu-device/build/tree.py | "${as_root[@]}" rsync -a --chown=root:root --from0 --files-from=- "$TSR_TOP/" "$root/tessera/" &&
        "${as_root[@]}" git -C "$root/tessera" init -q && "${as_root[@]}" git -C "$root/tessera" add -A
}

inside() { in_root "$roots/$1" "cd /tessera && $2" >"$roots/$1.log" 2>&1 || { tail -n 40 "$roots/$1.log"; return 1; }; }

gone() { remove_root "$roots/$1"; }

if ! have_root; then
    skip "[SYS8] bare Debian systems" "debootstrap and root are needed"
    ktap_finish
fi
