#!/bin/bash
# SPDX-License-Identifier: MIT
# The museum of mistakes (tests/mutants): each applies to the driver as it is, and says what it is.
. "$TSR_TOP/tests/lib/ktap.sh"
cd "$TSR_TOP" || exit 1

applies() {
    local file status=0
    for file in tests/mutants/*.patch; do
        patch -p1 -F0 -s --dry-run --force <"$file" || { echo "$file does not apply"; status=1; }
    done
    return $status
}
check "every mutant applies to the driver" applies
described() {
    local file status=0
    for file in tests/mutants/*.patch; do
        head -n 4 "$file" | grep -q '^Mistake: .' && head -n 5 "$file" | grep -qE '^Noticed by: [A-Za-z_]+, [a-z_.]+$' ||
            { echo "$file does not say what the mistake is, or who notices it"; status=1; }
    done
    return $status
}
check "every mutant says what it is and who notices it" described
check "the driver as it is waits for RCU before it goes" bash tests/lib/rcu.sh kernel
ktap_finish
