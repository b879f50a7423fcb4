#!/bin/bash
# SPDX-License-Identifier: MIT
# The recipes for CI services (make export TO=github, gitlab): their steps run as printed on a bare Debian 13, which is the image that
# they name, with the variables that the service sets. The address is that of a repository in the root.
# The second job finds the cache of the first, as the service's own cache brings it back.
# Wants root (or sudo), 4 GB, twenty minutes.
# test: TIMEOUT=7200
. "$TSR_TOP/tests/lib/ktap.sh"
cd "$TSR_TOP" || exit 1
. tests/distros/lib/bare.sh

root=$roots/trixie
no_origin() { ! make export TO=github ORIGIN= 2>&1 </dev/null | tee /dev/stderr | grep -q clone; }
git remote get-url origin >/dev/null 2>&1 || check "without an address nothing is printed" no_origin
check "a bare trixie can be made" bare trixie
repository() { inside trixie 'git -c user.name=t -c user.email=t@example.org commit -qm all && git clone -q --bare . /tessera.git'; }
check "it has a repository to clone from" repository
for service in github gitlab; do
    steps() {
        make export TO=$service ORIGIN=file:///tessera.git | tests/distros/recipes.py $service /job |
            "${as_root[@]}" tee "$root/steps" >/dev/null && inside trixie 'rm -rf /job/tessera /job/tessera-out && bash /steps'
    }
    check "the steps for $service run" steps
    kept() { grep -q ff332211 "$root/job/tessera-out/output.txt" && [ -s "$root/job/tessera-out/timeline.json" ] && [ -s "$root/job/tessera-out/console.txt" ]; }
    check "output, console and timeline of the job for $service are kept" kept
done
gone trixie
ktap_finish
