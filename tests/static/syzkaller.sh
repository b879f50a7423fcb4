#!/bin/bash
# SPDX-License-Identifier: MIT
# syzkaller's description of the uapi (kernel/tests/syzkaller/) says what the header says.
. "$TSR_TOP/tests/lib/ktap.sh"
cd "$TSR_TOP" || exit 1
check "the description for syzkaller has every ioctl, structure and value of the header" \
    /usr/bin/python3 -B tests/static/syzkaller.py
changed=$(mktemp)
sed 's/__u32 heap_id;/__u64 heap_id;/' kernel/include/uapi/drm/tessera_drm.h >"$changed"
notices() { ! /usr/bin/python3 -B tests/static/syzkaller.py "$changed"; }
check "a member of another size is noticed" notices
rm "$changed"
ktap_finish
