#!/bin/bash
# SPDX-License-Identifier: MIT
#
# build.sh: build all fuzz targets for a fuzzing engine, in the way of OSS-Fuzz. Environment, as that service sets it:
#   CC CXX CFLAGS CXXFLAGS    clang, with sanitizers and coverage among the flags
#   LIB_FUZZING_ENGINE        what provides main(): -fsanitize=fuzzer, or a library
#   OUT                       gets TARGET, TARGET_seed_corpus.zip, TARGET.options and, for packets, TARGET.dict
#   WORK                      a directory for the build
# With AFL++: CC=afl-clang-fast, LIB_FUZZING_ENGINE=-fsanitize=fuzzer (afl-clang-fast links its own driver then).
# ONLY='PATTERN ...' chooses targets. Needs clang, meson, ninja, Python, and the headers of libdrm.
set -eu
: "${CC:?} ${CXX:?} ${LIB_FUZZING_ENGINE:?} ${OUT:?} ${WORK:?}"
export CC CXX CFLAGS CXXFLAGS TESSERA_SETUP=no TESSERA_CACHE="$WORK/cache"
here=$(cd "$(dirname "$0")" && pwd -P)
top=$(cd "$here/../../.." && pwd -P)
mkdir -p "$OUT" "$WORK"
hw=$(bash "$top/qemu-device/build/host/headers.sh")
bash "$top/qemu-device/build/host/meson/source_root.sh" "$WORK/src" "$hw"
[ -e "$WORK/build/build.ninja" ] ||
    meson setup -Dsuites=fuzz -Dfuzzing_engine="$LIB_FUZZING_ENGINE" -Dtop="$top" "$WORK/build" "$WORK/src"

# The least that decodes a packet: opcode and length.
dictionary() {
    sed -n 's/^#define TSR_OP_\([A-Z0-9_]*\)[[:space:]]*\(0x[0-9a-f]*\)$/\1 \2/p' "$hw/tsr_packets.h" | while read -r name opcode; do
        qwords=$(sed -n "s/^#define TSR_${name}_QWORDS[[:space:]]*\([0-9]*\)\$/\1/p" "$hw/tsr_packets.h")
        printf '%s="\\x%02x\\x%02x"\n' "${name,,}" "$opcode" "$qwords"
    done
}

read -ra patterns <<<"${ONLY:-*}"
targets=()
for source in "$top"/tests/fuzz/*.c; do
    name=$(basename "$source" .c)
    for pattern in "${patterns[@]}"; do
        # shellcheck disable=SC2053 # a pattern
        [[ $name != $pattern ]] || targets+=("$name")
    done
done
[ "${#targets[@]}" -gt 0 ] || { echo "build.sh: no target matches '${ONLY:-}'" >&2; exit 2; }
ninja -C "$WORK/build" "${targets[@]/#/tests/fuzz/}"
for name in "${targets[@]}"; do
    cp "$WORK/build/tests/fuzz/$name" "$OUT/"
    if [ -d "$top/tests/fuzz/corpus/$name" ]; then
        (cd "$top/tests/fuzz/corpus/$name" && python3 -m zipfile -c "$OUT/${name}_seed_corpus.zip" .)
    fi
    printf '[libfuzzer]\nmax_len = 4096\n' >"$OUT/$name.options"
    case $name in
    decode | stream | list | tilelist | stop) dictionary >"$OUT/$name.dict" && echo "dict = $name.dict" >>"$OUT/$name.options" ;;
    esac
done
