#!/bin/bash
# SPDX-License-Identifier: MIT
#
# fuzz_isa.sh: the target tests/fuzz/isa.c under libFuzzer, with ASan and UBSan. Prints the lines it
# reached. Inputs it finds stay in $BUILD/fuzz-isa/corpus; a failure leaves a crash-* file there.
#
#   make fuzz-isa SECONDS=600
. "$(dirname "$0")/../../qemu-device/build/lib.sh"
cd "$TOP" || exit 1
command -v clang llvm-profdata llvm-cov >/dev/null ||
    die "libFuzzer comes with clang: apt-get install clang llvm (make fuzz needs neither)"
hw=$(bash qemu-device/build/host/headers.sh) || exit 1
dir=$BUILD/fuzz-isa
mkdir -p "$dir/corpus" || exit 1
clang -g -O1 -std=gnu11 -D_GNU_SOURCE -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
    -fprofile-instr-generate -fcoverage-mapping -I"$hw" tests/fuzz/isa.c "$hw/tsr_isa.c" -o "$dir/isa" || exit 1
status=0
LLVM_PROFILE_FILE=$dir/profile.raw "$dir/isa" -max_len=4096 -max_total_time="${SECONDS_TO_RUN:-600}" -print_final_stats=1 \
    -artifact_prefix="$dir/" "$dir/corpus" tests/fuzz/corpus/isa || status=$?
if [ $status = 0 ]; then
    llvm-profdata merge "$dir/profile.raw" -o "$dir/profile" &&
        llvm-cov report "$dir/isa" -instr-profile="$dir/profile" "$hw/tsr_isa.c"
fi
exit $status
