#!/bin/bash
# SPDX-License-Identifier: MIT
# Each C program below tests/ is built in some set: a program that no set knows would silently not run.
. "$TSR_TOP/tests/lib/ktap.sh"
cd "$TSR_TOP" || exit 1

built() {
    bash qemu-device/build/host/host.sh asan --targets model fuzz draw user
    bash qemu-device/build/host/host.sh plain --targets numeric bench/host
    bash qemu-device/build/host/host.sh guest --targets qtest guest debug bench bench/gl fuzz/kernel
}
known() {
    local missing
    # GL and Vulkan programs, modules and generators of test data are built elsewhere.
    missing=$(comm -23 <(find tests -name '*.c' ! -path '*/lib/*' ! -path 'tests/fuzz/corpus/*' -printf '%p\n' |
        grep -vE '^tests/(mesa|vulkan|bench/ops|fencewatch|blocks|igt|kselftest|static|tools|window|vectors|gen|shaders|sched)/' |
        sed -E 's#^tests/(model|guest)/.*/#tests/\1/#; s#[.]c$##' | sort -u) <(built | sort -u))
    [ "$(built | wc -l)" -gt 200 ] || { echo "host.sh names too few programs"; return 1; }
    [ -z "$missing" ] || { echo "in no set of host.sh:"; echo "$missing"; return 1; }
}
check "each program below tests/ is built in a set of host.sh" known
ktap_finish
