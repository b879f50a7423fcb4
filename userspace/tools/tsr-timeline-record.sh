#!/bin/sh
# SPDX-License-Identifier: MIT
#
# tsr-timeline-record FILE COMMAND...: run a command while the kernel traces what the Tessera driver, the DRM scheduler
# and DMA fences do; the trace goes to FILE, with the GPU's and the CPU's clock before and after. tsr-timeline makes a
# timeline of it. The status is the command's; 2: bad usage.
TRACING=${TRACING:-/sys/kernel/tracing}

usage() {
	echo "usage: tsr-timeline-record FILE COMMAND..."
	echo "Run a command while the kernel traces driver, scheduler and fences; tsr-timeline makes a timeline of FILE. Needs root."
}

case ${1:-} in
--help | -h) usage; exit 0 ;;
--version) echo "tsr-timeline-record 1.0.0"; exit 0 ;;
esac
if [ $# -lt 2 ]; then
	usage >&2
	exit 2
fi
file=$1
shift

# The events there are: the scheduler's group has another name in newer kernels.
events() {
	for group in tessera gpu_scheduler drm_sched dma_fence; do
		[ ! -e "$TRACING/events/$group/enable" ] || echo "$1" >"$TRACING/events/$group/enable"
	done
}

clocks() {
	# of the first device
	tsr-info --json | grep -E '"(timestamp_hz|gpu_ticks|cpu_ns)"' | head -n 3 |
		{ printf '# clock'; tr -d '\n'; echo; }
}

echo 0 >"$TRACING/tracing_on" || exit 2
echo mono >"$TRACING/trace_clock"
echo 16384 >"$TRACING/buffer_size_kb"
: >"$TRACING/trace"
events 1
{
	echo "# tsr-timeline 1"
	clocks
} >"$file"
echo 1 >"$TRACING/tracing_on"
"$@"
status=$?
echo 0 >"$TRACING/tracing_on"
events 0
{
	clocks
	cat "$TRACING/trace"
} >>"$file"
: >"$TRACING/trace"
echo 1 >"$TRACING/tracing_on"
exit $status
