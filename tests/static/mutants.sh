#!/bin/bash
# SPDX-License-Identifier: MIT
# Drivers with one known bug each (tests/mutants): each patch applies to the driver and says what it is.
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
exercises() {
    local problems
    problems=$(/usr/bin/python3 -B -c 'import sys; sys.path.insert(0, "tests/lib"); import exercise; print("\n".join(exercise.check()))') || return 1
    [ -z "$problems" ] || { echo "$problems"; return 1; }
}
check "every exercise has a mutant, a symptom and three hints" exercises
check "the driver as it is waits for RCU before it goes" bash tests/lib/rcu.sh kernel
ktap_finish
