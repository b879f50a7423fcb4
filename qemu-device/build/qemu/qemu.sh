#!/bin/bash
# SPDX-License-Identifier: MIT
#
# qemu.sh: obtain QEMU with the device. Prints the directory that holds it:
#   DIR/qemu-system-x86_64   with `-device tessera`
#   DIR/share/               the firmware it needs (-L)
#
# QEMU in the environment says how:
#   plugin    Debian 13's QEMU, with the device as a plugin of it (plugin.sh); the default
#   build     QEMU's source, built small with the device inside (full.sh); it takes some minutes more
#
# Options: --refresh    look for a newer version first (`make update`)
. "$(dirname "$0")/../lib.sh"
case ${QEMU:=plugin} in
plugin) exec bash "$TOP/qemu-device/build/qemu/plugin.sh" "$@" ;;
build) exec bash "$TOP/qemu-device/build/qemu/full.sh" "$@" ;;
*) die "QEMU=$QEMU: expected QEMU=plugin or QEMU=build" ;;
esac
