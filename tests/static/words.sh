#!/bin/bash
# SPDX-License-Identifier: MIT
# Pages, comments and commit subjects are written as Documentation/develop/contributing.md says (tests/static/words).
. "$TSR_TOP/tests/lib/ktap.sh"
cd "$TSR_TOP" || exit 1
words=(/usr/bin/python3 -B tests/static/words/check.py)

check "each rule finds the sentences that were planted" /usr/bin/python3 -B tests/static/words/selftest.py
# Both also say what has not been rewritten yet.
for what in pages comments; do
    output=$("${words[@]}" $what) && status=0 || status=1
    note "$output"
    result $status "$what follow the rules, or are on the list that only shrinks"
done
# A subject cannot be changed after it has landed: the hook in .ci/hooks refuses it before, here it is only reported.
note "$("${words[@]}" subjects)"
result 0 "subjects of the last commits are reported"
refused() {
    local message=$TSR_BUILD/words-message status=0
    mkdir -p "$TSR_BUILD"
    echo 'fixed things.' >"$message"
    ! .ci/hooks/commit-msg "$message" 2>/dev/null || status=1
    echo 'kernel: reject a queue without a ring' >"$message"
    .ci/hooks/commit-msg "$message" || status=1
    rm -f "$message"
    return $status
}
check "the commit-msg hook refuses a bad subject and accepts a good one" refused
ktap_finish
