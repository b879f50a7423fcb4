#!/bin/bash
# SPDX-License-Identifier: MIT
#
# run.sh ENGINE TARGET...: fuzz with an engine that others run, on all processors, each target for $SECONDS_TO_RUN.
#   libfuzzer   clang's libFuzzer with ASan
#   msan        the same with MemorySanitizer, which knows nothing of compiled shaders: they are interpreted
#   afl         AFL++ of Debian, one instance for each processor, which share what they find
# Inputs stay in $BUILD/fuzz-ENGINE/corpus/TARGET, and the next run goes on from there. Prints how coverage grew: ten lines
# of "seconds, edges, inputs". Fails at a crash, with the name of its input.
. "$(dirname "$0")/../../../qemu-device/build/lib.sh"
cd "$TOP" || exit 1

engine=${1:?usage: run.sh libfuzzer|msan|afl TARGET...}
shift
seconds=${SECONDS_TO_RUN:-600}
dir=$BUILD/fuzz-$engine
export WORK=$dir/work OUT=$dir/targets ONLY="$*" LIB_FUZZING_ENGINE=-fsanitize=fuzzer CC=clang CXX=clang++
flags='-O1 -g'
case $engine in
libfuzzer) flags+=' -fsanitize=address -fsanitize=fuzzer-no-link' ;;
msan) flags+=' -fsanitize=memory -fsanitize-memory-track-origins -fsanitize=fuzzer-no-link' ;;
afl) CC=afl-clang-fast CXX=afl-clang-fast++ ;;
*) die "ENGINE=$engine: libfuzzer, msan or afl" ;;
esac
command -v $CC >/dev/null || die "ENGINE=$engine needs $CC: apt-get install $([ "$engine" = afl ] && echo afl++ || echo clang)"
export CFLAGS=$flags CXXFLAGS=$flags
mkdir -p "$OUT" "$WORK"
run_logged "fuzz-$engine" bash tests/fuzz/engine/build.sh || die "the targets do not build for $engine"

# ten: the last line of each tenth of the time, of lines that begin with seconds
ten() { awk -v all="$seconds" '{ slot = int($1 * 10 / all); line[slot < 10 ? slot : 9] = $0 } END { for (i = 0; i < 10; i++) if (line[i] != "") print "    " line[i] }'; }

# Each line of libFuzzer's gets the time at which it came.
llvm() {
    local name=$1 corpus=$2 log=$3 dict=()
    [ ! -f "$OUT/$name.dict" ] || dict=(-dict="$OUT/$name.dict")
    (cd "$OUT" && "./$name" "${dict[@]}" -fork="$JOBS" -max_len=4096 -timeout=60 -rss_limit_mb=4096 -max_total_time="$seconds" \
        -artifact_prefix="$dir/crashes/$name-" "$corpus" 2>&1) |
        awk -v log_file="$log" '{ print > log_file; fflush(log_file) }
            /^#[0-9]+: cov:/ { cov = $3; for (i = 1; i < NF; i++) { if ($i == "corp:") corp = $(i + 1); if ($i == "time:") t = $(i + 1) } sub("s", "", t); print t " s, " cov " edges, " corp " inputs" }' | ten
    [ "${PIPESTATUS[0]}" = 0 ]
}

# The other instances are seconds of the first, with their own order of the queue.
afl() {
    local name=$1 corpus=$2 log=$3 out=$dir/sync/$1 dict=() n pids=() status=0
    export AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 AFL_SKIP_CPUFREQ=1 AFL_NO_UI=1 AFL_NO_AFFINITY=1 AFL_AUTORESUME=1 AFL_IGNORE_SEED_PROBLEMS=1
    [ ! -f "$OUT/$name.dict" ] || dict=(-x "$OUT/$name.dict")
    for ((n = 0; n < JOBS; n++)); do
        afl-fuzz -i "$corpus" -o "$out" "$([ $n = 0 ] && echo -M || echo -S)" "i$n" "${dict[@]}" -G 4096 -t 60000 -V "$seconds" \
            -- "$OUT/$name" >"$log.$n" 2>&1 &
        pids+=($!)
    done
    for n in "${pids[@]}"; do
        wait "$n" || status=1
    done
    sed -n '/^[0-9]/p' "$out/i0/plot_data" | awk -F ', *' '{ print $1 " s, " $NF " edges, " $4 " inputs" }' | ten
    find "$out"/*/crashes -name 'id:*' 2>/dev/null | while IFS= read -r file; do
        cp "$file" "$dir/crashes/$name-$(sha256sum "$file" | cut -c1-12)"
    done
    cp -n "$out"/i0/queue/id:* "$corpus/" 2>/dev/null || true
    return $status
}

failed=0
for target in "$OUT"/*.options; do
    name=$(basename "$target" .options)
    [[ " ${*:-$name} " = *" $name "* ]] || continue
    corpus=$dir/corpus/$name
    mkdir -p "$corpus" "$dir/crashes" "$dir/log"
    cp -n "tests/fuzz/corpus/$name"/* "$corpus/" 2>/dev/null || true
    [ -n "$(ls -A "$corpus")" ] || head -c 64 /dev/zero >"$corpus/zeros"
    before=$(find "$dir/crashes" -type f | wc -l)
    echo "$name, $seconds s on $JOBS processors:"
    result=ok
    case $engine in
    afl) afl "$name" "$corpus" "$dir/log/$name" || result=bad ;;
    *) llvm "$name" "$corpus" "$dir/log/$name" || result=bad ;;
    esac
    if [ $result = bad ] || [ "$(find "$dir/crashes" -type f | wc -l)" -gt "$before" ]; then
        failed=1
        echo "    failed: see $dir/log/$name and the inputs $dir/crashes/$name-*"
    fi
done
exit $failed
