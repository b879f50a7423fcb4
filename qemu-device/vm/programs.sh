#!/bin/bash
# SPDX-License-Identifier: MIT
#
# programs.sh: build libtessera, tools and demos for the guest, below $BUILD; guest tests and benchmarks where the
# checkout has them and TSR_TESTS is not "no".
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

mkdir -p "$BUILD/vm"
if [ ! "$BUILD/vm/resume" -nt qemu-device/vm/resume.c ]; then
    cc -std=gnu11 -O2 -Wall -Wextra -o "$BUILD/vm/resume" qemu-device/vm/resume.c || die "qemu-device/vm/resume.c does not compile"
fi
build -C userspace O="$BUILD/userspace" HW="$hw"
[ ! -f tests/meson.build ] || [ "${TSR_TESTS:-}" = no ] ||
    ONLY='' bash qemu-device/build/host.sh guest guest debug bench
