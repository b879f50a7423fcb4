#!/bin/bash
# SPDX-License-Identifier: MIT
#
# host.sh SET --targets SUITE...: print the programs of these suites
# host.sh SET [SUITE ...]: build the programs of suites (directories of tests/), or of all suites of the set, with
# Meson and ninja in $BUILD/SET. tests/DIR/NAME.c becomes $BUILD/SET/tests/DIR/NAME.
#
#   asan    model fuzz draw user              ASan and UBSan
#   tsan    model                             TSan
#   plain   numeric bench/host                optimised; numeric compares with Berkeley SoftFloat
#   guest   qtest guest debug bench bench/gl fuzz/kernel  programs that speak to the driver or to QEMU
#
# Environment: ONLY='PATTERN ...' only programs with such names; JOBS; CI set: warnings are errors.
# `ninja -C $BUILD/SET` and `meson test -C $BUILD/SET` work by hand from then on; $BUILD/compile_commands.json is for
# editors. Configured anew when files of C appear or go: both are found, not listed.
. "$(dirname "$0")/../lib.sh"
cd "$TOP" || exit 1
# modules of the tests must not stand before meson's
unset PYTHONPATH

set=${1:?host.sh: which set}
shift
gl=$(pkg-config --exists egl glesv2 && echo yes || true)
werror=false
[ -z "${CI:-}" ] || werror=true
options=(-Dtop="$TOP" -Dwerror="$werror")
case $set in
asan)
    suites=(model fuzz user ${gl:+draw})
    options+=("-Db_sanitize=address,undefined")
    ;;
tsan)
    suites=(model)
    options+=(-Db_sanitize=thread)
    ;;
plain)
    suites=(numeric ${gl:+bench/host})
    options+=(-Doptimization=2)
    ;;
guest)
    suites=(qtest guest debug bench fuzz/kernel ${gl:+bench/gl})
    [ ! -e "$BUILD/userspace/lib/libtessera.so" ] || options+=(-Duserspace="$BUILD/userspace")
    ;;
*) die "host.sh: there is no set '$set'" ;;
esac
options+=(-Dsuites="$(IFS=,; echo "${suites[*]}")")

# Inputs of the configuration that ninja does not watch.
inputs() {
    printf '%s\n' "${options[@]}"
    find tests userspace -name '*.c' | LC_ALL=C sort
    gcc -dumpfullversion
}

configure() {
    local dir=$BUILD/$set now
    now=$(inputs)
    [ ! -e "$dir/build.ninja" ] || [ "$(cat "$dir/inputs" 2>/dev/null)" != "$now" ] || return 0
    bash qemu-device/build/host/meson/source_root.sh "$BUILD/src" "$hw"
    if [ ! -e "$dir/build.ninja" ] || ! meson setup --reconfigure "${options[@]}" "$dir" "$BUILD/src" >"$dir.log" 2>&1
    then
        rm -rf "$dir"
        meson setup "${options[@]}" "$dir" "$BUILD/src" >"$dir.log" 2>&1 || {
            cat "$dir.log" >&2
            die "the host's programs ($set) cannot be configured"
        }
    fi
    # what is left of tests that are gone
    ninja -C "$dir" -t cleandead >/dev/null
    printf '%s\n' "$now" >"$dir/inputs"
    /usr/bin/python3 -B qemu-device/build/host/meson/compile_commands.py "$BUILD"
}

# targets SUITE...: the programs that are wanted, as ninja's targets
targets() {
    local suite file name pattern patterns
    read -ra patterns <<<"${ONLY:-*}"
    for suite in "$@"; do
        for file in tests/"$suite"/*.c tests/"$suite"/*/*.c; do
            # folders of guest and model, but for what their programs share
            [[ $file != */lib/* && (${file#tests/"$suite"/} != */* || $suite == guest || $suite == model) ]] || continue
            [ -f "$file" ] || continue
            name=$(basename "$file" .c)
            # run.py does not run what has nothing to do with threads
            [ "$set" != tsan ] || ! head -n 40 "$file" | grep -q 'test:.* TSAN=0' || continue
            for pattern in "${patterns[@]}"; do
                # shellcheck disable=SC2053 # a pattern
                [[ $name != $pattern ]] || echo "tests/$suite/$name"
            done
        done
    done | sort -u
}

build() {
    local quiet=(--quiet)
    [ ! -t 2 ] || quiet=()
    ninja -C "$BUILD/$set" -j "$JOBS" "${quiet[@]}" "${wanted[@]}" >&2 ||
        die "the host's programs ($set) do not build"
}

[ $# -gt 0 ] || set -- "${suites[@]}"
if [ "$1" = --targets ]; then
    targets "${@:2}"
    exit
fi
mapfile -t wanted < <(targets "$@")
[ "${#wanted[@]}" -gt 0 ] || exit 0
[ "$set" != plain ] || options+=(-Dsoftfloat="$(bash qemu-device/build/host/softfloat.sh)")
hw=$(bash qemu-device/build/host/headers.sh)
locked "$BUILD/$set.lock" configure
locked "$BUILD/$set.lock" build
