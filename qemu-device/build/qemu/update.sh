#!/bin/bash
# SPDX-License-Identifier: MIT
#
# update.sh: fetch the package lists again and move on to newer versions of QEMU's source and of the
# guest kernel where the archive has them. What is in the cache stays usable when this fails.
. "$(dirname "$0")/../lib.sh"
. "$TOP/qemu-device/build/debian/apt.sh"
locked "$APT_DIR.lock" apt_update again
bash "$TOP/qemu-device/build/qemu/qemu.sh" --refresh >/dev/null
bash "$TOP/qemu-device/vm/kernel.sh" --refresh >/dev/null
bash "$TOP/userspace/mesa/build.sh" --refresh >/dev/null
bash "$TOP/userspace/mesa/vulkan.sh" --refresh >/dev/null
