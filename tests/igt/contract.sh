#!/bin/bash
# SPDX-License-Identifier: MIT
#
# contract.sh SHARE: build the recovery contract's test for IGT (userspace/contract/igt.py) with the library in SHARE/lib, see
# share.sh. IGT_SOURCE=DIR is a checkout of IGT, whose igt_core.h is used instead of ours.
. "$(dirname "$0")/../../qemu-device/build/lib.sh"

share=$1
aside=$(aside_in "$BUILD/igt")
include=$("$TOP/qemu-device/build/host/headers.sh")
/usr/bin/python3 -B "$TOP/userspace/contract/igt.py" "$include" "$aside/drm_contract.c"
[ -e "$share/lib/libigt.so.0" ] || die "$share/lib has no libigt.so.0"
# The library is of a newer release than this host, and the loader beside it has what it needs.
# shellcheck disable=SC2046  # words
"${CC:-cc}" -std=gnu11 -O2 -D_GNU_SOURCE -Wall -Wextra -Werror -Wno-unused-parameter -Wno-clobbered \
    -I"${IGT_SOURCE:-$TOP/tests/igt/include}${IGT_SOURCE:+/lib}" $(pkg-config --cflags libdrm) -o "$aside/drm_contract" "$aside/drm_contract.c" \
    "$share/lib/libigt.so.0" "$share/lib/libdrm.so.2" -Wl,--allow-shlib-undefined || die "the contract's test does not build with IGT"
mv "$aside/drm_contract" "$share/tests/"
rm -rf "$aside"
