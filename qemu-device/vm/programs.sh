#!/bin/bash
# SPDX-License-Identifier: MIT
#
# programs.sh: build libtessera, tools and demos for the guest, below $BUILD; guest tests and benchmarks where the
# checkout has them.
. "$(dirname "$0")/../build/lib.sh"
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
[ ! -f tests/meson.build ] || ONLY='' bash qemu-device/build/host.sh guest guest debug bench
