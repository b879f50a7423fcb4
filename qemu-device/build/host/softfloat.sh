#!/bin/bash
# SPDX-License-Identifier: MIT
#
# softfloat.sh: Berkeley SoftFloat 3, the independent arithmetic that tests of the shader cores compare with. Prints
# the directory that holds it:
#   DIR/include/     softfloat.h
#   DIR/libsoftfloat.a
#
# It comes with QEMU's source, which is in the cache if QEMU was built, and is downloaded otherwise. Compiled as for
# x86's SSE, in files that only the tests link.
. "$(dirname "$0")/../lib.sh"
APT_ONLY=trixie
. "$TOP/qemu-device/build/debian/apt.sh"

dir=$CACHE/softfloat/$({
    cat "$TOP"/qemu-device/build/host/softfloat.{sh,mk}
    gcc -dumpfullversion
    gcc -dumpmachine
} | sha256sum | cut -c1-16)

# find_source DIR: print where the source is; DIR is a place to download to.
find_source() {
    local found version
    for found in "$CACHE"/qemu{-headers,}/*/src/subprojects/berkeley-softfloat-3; do
        if [ -e "$found/source/f32_mulAdd.c" ]; then
            echo "$found"
            return
        fi
    done
    apt_ready
    mkdir -p "$1"
    version=$(apt_newest_source qemu) || exit 1
    apt_source "$1" "qemu=$version"
    for found in "$1"/qemu-*/subprojects/berkeley-softfloat-3; do
        [ -e "$found/source/f32_mulAdd.c" ] || die "QEMU's source comes without Berkeley SoftFloat"
        echo "$found"
    done
}

build() {
    local aside source
    [ ! -e "$dir" ] || return 0
    aside=$(aside_in "$CACHE/softfloat")
    source=$(find_source "$aside/download")
    say "building Berkeley SoftFloat"
    cp -r "$source/source/include" "$aside/include"
    cp "$source/COPYING.txt" "$aside/"
    printf '#define LITTLEENDIAN 1\n#define INLINE static inline\n' >"$aside/platform.h"
    mkdir "$aside/obj"
    run_logged softfloat make -j "$JOBS" -f "$TOP/qemu-device/build/host/softfloat.mk" SOURCE="$source/source" \
        OUT="$aside" || die "Berkeley SoftFloat does not build"
    rm -rf "$aside/obj" "$aside/download"
    publish "$aside" "$dir"
}

[ -e "$dir" ] || locked "$CACHE/softfloat.lock" build
touch -c "$dir"
echo "$dir"
