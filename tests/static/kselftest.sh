#!/bin/bash
# SPDX-License-Identifier: MIT
# The list of the kernel selftests. That they build and run in a kernel tree: make check-kselftest.
. "$TSR_TOP/tests/lib/ktap.sh"
cd "$TSR_TOP" || exit 1

selftests() { sed -n '/^TEST_GEN_PROGS/,/^$/s/^\t\([a-z_]*\).*/\1.c/p' tests/kselftest/Makefile; }
listed() {
    diff <(cd tests/guest && printf '%s\n' [!l]*/*.* | sed 's|.*/||' | sort) \
        <({ selftests; sed -n '/^#/!s/: .*//p' tests/kselftest/outside.txt; } | sort)
}
check "[SYS11] each guest test is a kernel selftest, or there is a reason" listed

# The programs include no other file of ours than the tree gets.
complete() {
    ! selftests | sed 's|^|tests/guest/*/|' | xargs -I{} sh -c 'cat {}' | sed -n 's/^#include "\(.*\)"/\1/p' | sort -u |
        grep -vxFf <(sed -n '/^LOCAL_HDRS := /s///p' tests/kselftest/Makefile | tr ' ' '\n')
}
check "[SYS11] no kernel selftest includes what is not in the tree" complete
ktap_finish
