#!/bin/bash
# SPDX-License-Identifier: MIT
# All fuzz targets, built by build.sh as OSS-Fuzz does it, with clang's libFuzzer and ASan: each is a file of its own with
# options, takes its seeds, and runs. Five minutes of two processors. WORK=DIR keeps the build there.
# test: TIMEOUT=3600
. "$TSR_TOP/tests/lib/ktap.sh"
cd "$TSR_TOP" || exit 1
if ! command -v clang++ >/dev/null; then
    skip "targets for libFuzzer" "clang is not installed"
    ktap_finish
fi
flags="-O1 -g -fsanitize=address -fsanitize=fuzzer-no-link"
export CC=clang CXX=clang++ CFLAGS=$flags CXXFLAGS=$flags LIB_FUZZING_ENGINE=-fsanitize=fuzzer
export WORK=${WORK:-$TSR_BUILD/fuzz-engine} OUT=$TSR_BUILD/fuzz-engine-out
rm -rf "$OUT"
mkdir -p "$OUT" "$WORK"
unset PYTHONPATH
check "build.sh builds all targets" bash tests/fuzz/engine/build.sh
# alone TARGET: it is linked with nothing of ours that is not in the file
alone() { [ -x "$OUT/$1" ] && [ -s "$OUT/$1.options" ] && ! ldd "$OUT/$1" | grep -E 'not found|libtests|libtessera'; }
runs() {
    local name=$1 seeds=$OUT/seeds-$1 dict=()
    mkdir -p "$seeds"
    if [ -d "tests/fuzz/corpus/$name" ]; then
        /usr/bin/python3 -m zipfile -e "$OUT/${name}_seed_corpus.zip" "$seeds" || return
    fi
    [ ! -f "$OUT/$name.dict" ] || dict=(-dict="$OUT/$name.dict")
    (cd "$OUT" && "./$name" "${dict[@]}" -seed=1 -max_len=4096 -max_total_time=2 "$seeds") || return
}
for source in tests/fuzz/*.c; do
    name=$(basename "$source" .c)
    check "$name is one file" alone "$name"
    check "$name runs under libFuzzer from its seeds" runs "$name"
done
# The engine sees a failed check only if the program ends.
failing() {
    cat >"$WORK/failing.c" <<'C'
#include <stdint.h>
#include "ktap.h"
int fuzz_target(const uint8_t *data, size_t size);
int fuzz_target(const uint8_t *data, size_t size) { ktap_ok(!size || data[0] != 'x'); return 0; }
C
    # shellcheck disable=SC2086 # words
    $CC $CFLAGS -Itests/lib "$WORK/failing.c" tests/lib/fuzz_engine.c $LIB_FUZZING_ENGINE -o "$WORK/failing" &&
        ! (cd "$WORK" && ./failing -seed=1 -runs=100000 -artifact_prefix="$WORK/") 2>"$WORK/failing.log" &&
        grep -q 'fuzz_engine: a check failed' "$WORK/failing.log"
}
check "a failed check of ktap is a crash" failing
ktap_finish
