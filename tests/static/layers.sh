#!/bin/bash
# SPDX-License-Identifier: MIT
# The model's folders include one another in one direction only.
. "$TSR_TOP/tests/lib/ktap.sh"
cd "$TSR_TOP" || exit 1
check "no include of the model climbs" /usr/bin/python3 -B tests/static/layers.py
private() {
    ! grep -rnE '#include ".*qemu-device/model|#include "(device|queue|memory|shader|render|raster|binner|geometry)/' userspace/libtessera userspace/mesa kernel
}
check "libraries and drivers include nothing of the model" private
public() {
    ! grep -rnE '#include "(\.\./)*model/' qemu-device/pci | grep -v 'model/include/'
}
check "QEMU's device includes only what a host may" public
ktap_finish
