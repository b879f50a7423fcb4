#!/bin/bash
# SPDX-License-Identifier: MIT
# The list of requirements' IDs (tests/ledger.ids), what the tests cite, and the page that says what they mean.
. "$TSR_TOP/tests/lib/ktap.sh"
cd "$TSR_TOP" || exit 1
check "ledger IDs are unique, and tests cite only known ones" \
    /usr/bin/python3 -B tests/lib/coverage.py --check-ids

same_ids() {
    diff <(sed -n 's/^\([A-Z]\+[0-9]\+\)\( .*\)\?$/\1/p' tests/ledger.ids | sort) \
        <(sed -n 's/^| \([A-Z]\+[0-9]\+\) | .*/\1/p' Documentation/status/requirements.md | sort)
}
check "Documentation/status/requirements.md has exactly the rows of tests/ledger.ids" same_ids
ktap_finish
