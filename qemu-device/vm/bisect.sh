#!/bin/bash
# SPDX-License-Identifier: MIT
#
# bisect.sh [OPTION...] COMMAND: test the kernel in the current directory, for `git bisect run`. The kernel is configured
# and built, and COMMAND runs in a guest with it. The options are those of guest.py.
#
# O=DIR is the build directory, by default the current one. It needs a .config; missing options are switched on.
#
# Status, as git wants it: 0 COMMAND succeeded; 1 it failed, hung, or the guest died meanwhile; 125 this version cannot
# be tested, because kernel or driver do not build or no guest came up; 255 for wrong usage, which ends the bisection.
. "$(dirname "$0")/../build/lib.sh"
runner=$TOP/qemu-device/vm

usage() {
    say "usage: cd LINUX && git bisect run $runner/bisect.sh [OPTION...] COMMAND"
    exit 255
}

# Without this, lib.sh's "set -e" would end a broken version with status 1, which git takes for "bad".
cannot() {
    say "$*: this version is skipped"
    exit 125
}

[ $# -gt 0 ] || usage
case $1 in -h | --help) usage ;; esac
dir=${O:-$PWD}
[ -f "$dir/.config" ] || {
    say "error: $dir has no .config: configure the kernel first, or name the build directory, O=DIR"
    exit 255
}
dir=$(cd "$dir" && pwd -P)
"$runner/own_tree.sh" --build "$dir" || cannot "the kernel does not build"
env=$(KERNEL=$dir TSR_CMD="${*: -1}" bash "$runner/env.sh") || cannot "the driver does not build for the kernel"
set -a
eval "$env"
status=0
/usr/bin/python3 -B "$runner/judge.py" "$@" || status=$?
exit "$status"
