#!/bin/bash
# SPDX-License-Identifier: MIT
#
# programs.sh [all | NAME...]: build what a guest runs, below $BUILD, and print the paths of the programs or of their
# directories. Without arguments these are tools and demos. A NAME adds a test, a benchmark or another tool; "all" adds
# every one of them. programs.sh --names prints the NAMEs that there are.
. "$(dirname "$0")/../build/lib.sh"
cd "$TOP" || exit 1

tools=(tsr-run tsr-replay)
if [ "${1:-}" = --names ]; then
    printf '%s\n' "${tools[@]}"
    find tests/guest tests/debug tests/bench tests/fuzz/kernel -path '*/lib' -prune -o -name '*.c' -printf '%f\n' 2>/dev/null |
        sed 's/\.c$//'
    exit
fi

mkdir -p "$BUILD"
exec {lock}>"$BUILD/programs.lock"
flock "$lock"
hw=$("$TOP/qemu-device/build/host/headers.sh")
log=$BUILD/programs.log

build() {
    timed userspace make --no-print-directory -j "$JOBS" "$@" </dev/null >"$log" 2>&1 || {
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
if [ "${1:-}" = all ]; then
    build -C userspace O="$BUILD/userspace" HW="$hw"
    [ ! -f tests/meson.build ] || ONLY='' bash qemu-device/build/host/host.sh guest guest debug bench
    for dir in guest/tests/guest guest/tests/debug guest/tests/bench userspace/bin; do
        [ ! -d "$BUILD/$dir" ] || echo "$BUILD/$dir"
    done
    exit
fi

targets=() tests=()
for name; do
    if [[ " ${tools[*]} " = *" $name "* ]]; then
        targets+=("$BUILD/userspace/bin/$name")
    else
        tests+=("$name")
    fi
done
build -C userspace O="$BUILD/userspace" HW="$hw" guest "${targets[@]}"
cat "$BUILD/userspace/guest-programs"
[ "${#targets[@]}" = 0 ] || printf '%s\n' "${targets[@]}"
[ "${#tests[@]}" -gt 0 ] || exit 0
ONLY="${tests[*]}" bash qemu-device/build/host/host.sh guest guest debug bench fuzz/kernel
for name in "${tests[@]}"; do
    find "$BUILD"/guest/tests/{guest,debug,bench,fuzz/kernel} -type f -name "$name" -perm -u+x 2>/dev/null
done
