#!/bin/bash
# SPDX-License-Identifier: MIT
# The driver against the headers of each kernel that is cared for: W=1, and a warning is an error.
# test: TIMEOUT=900
. "$TSR_TOP/tests/lib/ktap.sh"
cd "$TSR_TOP" || exit 1

# Debian 12's kernel; Debian 13's, which has taken over some of the later interfaces; one between; the newest.
for name in bookworm-backports trixie-security 7.2 trixie-backports; do
    if ! dir=$(qemu-device/vm/kernel.sh --headers "$name"); then
        result 1 "headers of $name are there"
        continue
    fi
    check "the driver builds for $(cat "$dir/release") ($name) without a warning" \
        env WERROR=1 qemu-device/vm/module.sh "$dir/build"
    check "fencewatch and bad_fence build for $(cat "$dir/release") ($name) without a warning" \
        env WERROR=1 qemu-device/vm/fencewatch.sh "$dir/build"
done
ktap_finish
