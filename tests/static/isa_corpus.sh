#!/bin/bash
# SPDX-License-Identifier: MIT
# test: TIMEOUT=120
# The inputs the instruction-set fuzzer starts from reach nearly every line of the decoder and encoder.
. "$TSR_TOP/tests/lib/ktap.sh"
cd "$TSR_TOP" || exit 1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
hw=$(bash qemu-device/build/host/headers.sh)
least=90	# per cent of the lines

build() {
    gcc -std=gnu11 -O0 -D_GNU_SOURCE -I"$hw" -Itests/lib -c -o "$dir/fuzz.o" tests/fuzz/isa.c &&
        gcc -std=gnu11 -O0 -D_GNU_SOURCE -I"$hw" -Itests/lib -c -o "$dir/main.o" tests/lib/fuzz_main.c &&
        (cd "$dir" && gcc -std=gnu11 -O0 --coverage -I"$hw" -c -o isa.o "$hw/tsr_isa.c" &&
         gcc --coverage -o isa fuzz.o main.o isa.o)
}
check "the fuzz target builds for a count of lines" build

replay() {
    local input
    for input in tests/fuzz/corpus/isa/*; do
        "$dir/isa" "$input" || { echo "$input fails"; return 1; }
    done
}
check "[ISA14] every input of the corpus runs" replay

lines=$(cd "$dir" && gcov -n isa.gcda 2>/dev/null |
        sed -n "/tsr_isa.c'/{n;s/Lines executed:\([0-9]*\)\..*/\1/p;q}")
note "$lines % of the lines of tsr_isa.c"
[ "${lines:-0}" -ge $least ]
result $? "[ISA14] the corpus reaches at least $least % of the decoder's lines"
ktap_finish
