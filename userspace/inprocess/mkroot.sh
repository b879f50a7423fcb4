#!/bin/sh
# SPDX-License-Identifier: MIT
#
# mkroot.sh DIR HEADER: what libtessera-host.so shows in the place of /dev/dri and of the device's
# entries below /sys. Plain files: the library knows the two nodes by their inodes. HEADER is tsr_regs.h.
set -eu

dir=$1
vendor=$(awk '$2 == "TSR_PCI_VENDOR" { print $3 }' "$2")
device=$(awk '$2 == "TSR_PCI_DEVICE" { print $3 }' "$2")
rm -rf "$dir.new"
mkdir -p "$dir.new/dev/dri/by-path" "$dir.new/sys/class/drm"
ln -s ../card0 "$dir.new/dev/dri/by-path/pci-0000:00:01.0-card"
ln -s ../renderD128 "$dir.new/dev/dri/by-path/pci-0000:00:01.0-render"
: >"$dir.new/dev/dri/card0"
: >"$dir.new/dev/dri/renderD128"
for node in 0:card0 128:renderD128; do
    minor=${node%%:*} name=${node#*:}
    at=$dir.new/sys/dev/char/226:$minor
    mkdir -p "$at/device/drm/card0" "$at/device/drm/renderD128"
    printf 'MAJOR=226\nMINOR=%s\nDEVNAME=dri/%s\nDEVTYPE=drm_minor\n' "$minor" "$name" >"$at/uevent"
    printf '226:%s\n' "$minor" >"$at/dev"
    printf 'DRIVER=tessera\nPCI_CLASS=30200\nPCI_ID=%s:%s\nPCI_SUBSYS_ID=%s:%s\nPCI_SLOT_NAME=0000:00:01.0\n' \
        "${vendor#0x}" "${device#0x}" "${vendor#0x}" "${device#0x}" >"$at/device/uevent"
    for file in "vendor $vendor" "device $device" "subsystem_vendor $vendor" "subsystem_device $device" \
        "revision 0x00" "class 0x030200"; do
        printf '%s\n' "${file#* }" >"$at/device/${file%% *}"
    done
    ln -s ../../../../bus/pci "$at/device/subsystem"
    ln -s "../../dev/char/226:$minor" "$dir.new/sys/class/drm/$name"
done
rm -rf "$dir"
mv "$dir.new" "$dir"
