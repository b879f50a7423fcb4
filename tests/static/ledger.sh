#!/bin/bash
# SPDX-License-Identifier: MIT
# The list of ledger IDs (tests/ledger.ids) and what the tests cite.
. "$TSR_TOP/tests/lib/ktap.sh"
cd "$TSR_TOP" || exit 1
check "ledger IDs are unique, and tests cite only known ones" \
    /usr/bin/python3 -B tests/lib/coverage.py --check-ids
ktap_finish
