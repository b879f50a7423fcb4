#!/bin/bash
# SPDX-License-Identifier: MIT
# Files for other projects (make export): what is written where, and what is refused without a trace.
. "$TSR_TOP/tests/lib/ktap.sh"
cd "$TSR_TOP" || exit 1
out=$(mktemp -d)
export ORIGIN=https://example.org/tessera.git

export_to() { bash qemu-device/build/export.sh "$@"; }
refuses() { # STATUS TEXT ARGUMENTS...
    local want=$1 text=$2 status=0 said
    shift 2
    said=$(export_to "$@" 2>&1) || status=$?
    [ "$status" = "$want" ] && grep -qF -- "$text" <<<"$said"
}
check "a project that nobody knows is bad usage" refuses 2 'usage: make export' syzbot "$out"
check "a source tree is needed" refuses 2 'usage: make export' kernel-tree
check "a directory that is no Linux tree is named" refuses 1 'has no Kbuild' kernel-tree "$out"
check "a directory that is no syzkaller checkout is named" refuses 1 'has no sys/linux' syz "$out"
mkdir -p "$out/sys/linux"
syz() { cmp "$(export_to syz "$out")" kernel/tests/syzkaller/dev_tessera.txt; }
check "syzkaller gets the description of the uapi" syz
job() { [ "$(export_to github "$out")" = "$out/.github/workflows/gpu.yml" ] && grep -q "git clone .* $ORIGIN tessera" "$out/.github/workflows/gpu.yml"; }
check "a CI job is written to its place, with the address" job
check "a file that exists is not replaced" refuses 1 'exists; remove it first' github "$out"
module() { tar -tf "$(export_to fencewatch "$out")" | grep -q '^fencewatch-[0-9.]*/Makefile$' && ls "$out"/fencewatch-*.tar.xz; }
igt() { grep -q 'igt_main' "$(export_to igt "$out")"; }
check "the recovery contract is a test for IGT" igt
check "IGT's test needs a directory" refuses 1 'a directory that exists' igt "$out/nowhere"
check "the checker of fences is a tarball of its own" module
rm -rf "$out"
ktap_finish
