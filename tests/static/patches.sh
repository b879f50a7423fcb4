#!/bin/bash
# SPDX-License-Identifier: MIT
# The patches to Mesa: format and completeness of the series, and how apply.sh reports a patch that does not apply.
. "$TSR_TOP/tests/lib/ktap.sh"
cd "$TSR_TOP" || exit 1
PATCHES=userspace/mesa/patches
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

check_series() { /usr/bin/python3 -B tests/static/patches.py "$1"; }
check "every patch to Mesa has a message, and the series is complete" check_series "$PATCHES"

# finds PROBLEM COMMAND: in a copy of the patches that COMMAND has changed, the check reports PROBLEM.
finds() {
    local problem=$1 output
    rm -rf "$dir/copy"
    cp -r "$PATCHES" "$dir/copy"
    (cd "$dir/copy" && eval "$2") || return 1
    ! output=$(check_series "$dir/copy") || { echo "no problem was found"; return 1; }
    printf '%s\n' "$output"
    grep -qF "$problem" <<<"$output"
}
check "a patch that series does not name is found" finds "0002-loader-find-tessera-devices.patch: series does not name it" \
    "sed -i /^0002/d series"
check "a name without a patch is found" finds "there is no patch 0009-x.patch" "echo 0009-x.patch >>series"
check "a patch named twice is found" finds "named more than once" 'sed -i "/^0002/p" series'
check "a wrong order is found" finds "is number 1" "sort -r -o series series"
check "a patch without a message is found" finds "no message" "sed -i '3,/^---\$/{/^---\$/!d}' 0001-*.patch"
check "a patch without a subject is found" finds "is not 'Subject:" "sed -i 's/^Subject: .*/Subject: changes/' 0001-*.patch"
check "a patch without a license is found" finds "the SPDX line" "sed -i 1d 0001-*.patch"
check "a damaged hunk is found" finds "git cannot parse it" "sed -i '\$d' 0005-*.patch"
check "too much context is found" finds "lines of context" \
    "sed -i -e 's/^@@ -106,4 +106,6/@@ -103,7 +103,9/; /^@@ -105,4 +105,6/{s/-105,4 +105,6/-104,5 +104,7/;s/\$/\n quoted/}' 0003-*.patch"

# Two patches of one file. The second needs the first. Context is the same on both sides of a hunk, or patch(1) would
# take the hunk for one at the end of the file.
mkdir "$dir/series" "$dir/tree"
cp "$PATCHES/apply.sh" "$dir/series/"
printf 'a\nb\nc\n' >"$dir/tree/file"
cp -al "$dir/tree" "$dir/linked"
printf '%s\n' '--- a/file' '+++ b/file' '@@ -1,2 +1,3 @@' ' a' '+one' ' b' >"$dir/series/0001-one.patch"
printf '%s\n' '--- a/file' '+++ b/file' '@@ -2,2 +2,3 @@' ' one' '+two' ' b' >"$dir/series/0002-two.patch"
printf '%s\n' '# comment' 0001-one.patch 0002-two.patch >"$dir/series/series"
apply() { bash "$dir/series/apply.sh" "$dir/tree"; }
applies() { apply && [ "$(tr '\n' ' ' <"$dir/tree/file")" = "a one two b c " ]; }
check "apply.sh applies patches in the order of series" applies
linked() { [ "$(tr '\n' ' ' <"$dir/linked/file")" = "a b c " ]; }
check "apply.sh does not write through hard links" linked
# refuses NAME: apply.sh fails, its message names the patch, and no rejects or backups are left.
refuses() {
    local output
    ! output=$(apply 2>&1) || { echo "apply.sh succeeded"; return 1; }
    printf '%s\n' "$output"
    grep -q "^apply.sh: $1 does not apply" <<<"$output" && [ "$(ls "$dir/tree")" = file ]
}
check "apply.sh names a patch that is applied already" refuses 0001-one.patch
printf 'a\nb\nc\n' >"$dir/tree/file"
sed -i 's/^ one$/ other/' "$dir/series/0002-two.patch"
check "apply.sh names a patch with other context, without fuzz" refuses 0002-two.patch
printf 'a\nb\nc\n' >"$dir/tree/file"
rm "$dir/series/0002-two.patch"
check "apply.sh names a patch that is missing" refuses 0002-two.patch
ktap_finish
