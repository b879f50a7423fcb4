#!/bin/bash
# SPDX-License-Identifier: MIT
#
# programs.sh: build libtessera, tools, demos, guest tests and benchmarks for the guest, below $BUILD.
. "$(dirname "$0")/../../../qemu-device/build/lib.sh"
cd "$TOP" || exit 1

mkdir -p "$BUILD"
exec {lock}>"$BUILD/programs.lock"
flock "$lock"
hw=$("$TOP/qemu-device/build/headers.sh")
log=$BUILD/programs.log

build() {
    make --no-print-directory -j "$JOBS" "$@" </dev/null >"$log" 2>&1 || {
        cat "$log" >&2
        die "the programs for the guest do not build (make $*)"
    }
}

build -C userspace O="$BUILD/userspace" HW="$hw"
build -f tests/lib/programs.mk BUILD="$BUILD" HW="$hw" guest debug bench
