#!/bin/bash
# SPDX-License-Identifier: MIT
#
# programs.sh: build libtessera, tools and demos for the guest, below $BUILD; guest tests and benchmarks where the
# checkout has them. With TSR_TESTS=no only what the demos need.
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

[ -d "$BUILD/userspace" ] ||
    say "building the library and what stands on it: the first time half a minute to two, then what has changed"
mkdir -p "$BUILD/vm"
if [ ! "$BUILD/vm/resume" -nt qemu-device/vm/resume.c ]; then
    cc -std=gnu11 -O2 -Wall -Wextra -o "$BUILD/vm/resume" qemu-device/vm/resume.c || die "qemu-device/vm/resume.c does not compile"
fi
if [ "${TSR_TESTS:-}" = no ]; then
    build -C userspace O="$BUILD/userspace" HW="$hw" demos
    exit
fi
build -C userspace O="$BUILD/userspace" HW="$hw"
[ ! -f tests/meson.build ] ||
    ONLY='' bash qemu-device/build/host.sh guest guest debug bench
