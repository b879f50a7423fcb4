#!/bin/bash
# SPDX-License-Identifier: MIT
#
# qemu.sh: QEMU's own fuzzer of devices (target generic-fuzz) on the whole device, for $SECONDS_TO_RUN. It reads and writes
# the configuration space, all BARs and guest memory, and moves the clock. Inputs stay in $BUILD/fuzz-qemu/corpus.
# Fails at a crash, with the name of its input.
. "$(dirname "$0")/../../../qemu-device/build/lib.sh"

qemu=$(bash "$TOP/qemu-device/build/qemu/full.sh" --fuzz)
dir=$BUILD/fuzz-qemu
mkdir -p "$dir/corpus"
export QEMU_FUZZ_ARGS="-L $qemu/share -machine q35 -m 64 -nodefaults -display none -device tessera,bus=pcie.0,vram=16M,threads=0,heads=1"
export QEMU_FUZZ_OBJECTS='tessera*' QEMU_FUZZ_TIMEOUT=20000000 ASAN_OPTIONS=detect_leaks=0
cd "$dir" || exit 1
status=0
"$qemu/qemu-fuzz-x86_64" --fuzz-target=generic-fuzz -max_len=4096 -max_total_time="${SECONDS_TO_RUN:-600}" -rss_limit_mb=8192 \
    -artifact_prefix="$dir/" corpus 2>"$dir/log" || status=$?
grep '^Done' "$dir/log"
grep -m 1 '^#[0-9]*.INITED' "$dir/log" || status=1
grep '^#[0-9]' "$dir/log" | tail -n 1
[ $status = 0 ] || tail -n 40 "$dir/log"
exit $status
