// SPDX-License-Identifier: MIT
/*
 * A prefix sum of 65536 numbers in three dispatches: each group scans its 256 numbers in group
 * memory and writes their total; one group scans the totals; then each group adds what is before
 * it. Sums wrap around as 32-bit integers do.
 */
#include <stdlib.h>
#include <string.h>

#include "demo.h"

#define GROUP	256u		/* threads of a group and numbers it scans, as in scan.s */
#define COUNT	(GROUP * GROUP)

DEMO_SHADER(scan);
DEMO_SHADER(add_before);

static int record(struct demo *demo, struct tsr_alloc *numbers, struct tsr_alloc *sums,
		  struct tsr_alloc *totals, struct tsr_alloc *total_sums, struct tsr_alloc *last)
{
	struct tsr_storage storage[3] = { demo_storage(numbers, TSR_SHADER_READ, 4),
					  demo_storage(sums, TSR_SHADER_WRITE, 8),
					  demo_storage(totals, TSR_SHADER_WRITE, 12) };
	struct tsr_dispatch_info d = { .groups = { GROUP }, .storage = storage,
				       .storage_count = 3 };

	if (DEMO_PROGRAM(demo, scan, &d.shader) || demo_begin(demo))
		return -1;
	tsr_cmd_dispatch(demo->stream, &d, sizeof(d));

	storage[0] = demo_storage(totals, TSR_SHADER_READ, 4);
	storage[1] = demo_storage(total_sums, TSR_SHADER_WRITE, 8);
	storage[2] = demo_storage(last, TSR_SHADER_WRITE, 12);
	d.groups[0] = 1;
	tsr_cmd_dispatch(demo->stream, &d, sizeof(d));

	storage[0] = demo_storage(total_sums, TSR_SHADER_READ, 4);
	storage[1] = demo_storage(sums, TSR_SHADER_READ | TSR_SHADER_WRITE, 8);
	d.storage_count = 2;
	d.groups[0] = GROUP - 1;
	if (DEMO_PROGRAM(demo, add_before, &d.shader))
		return -1;
	tsr_cmd_dispatch(demo->stream, &d, sizeof(d));
	return demo_run(demo);
}

static int run(struct demo *demo)
{
	struct tsr_alloc numbers, sums, totals, total_sums, last;
	uint32_t *want, *in, i, sum = 0;
	int ret;

	if (demo_buffer(demo, COUNT * 4, &numbers) || demo_buffer(demo, COUNT * 4, &sums) ||
	    demo_buffer(demo, GROUP * 4, &totals) || demo_buffer(demo, GROUP * 4, &total_sums) ||
	    demo_buffer(demo, 4, &last))
		return -1;
	in = numbers.cpu;
	for (i = 0; i < COUNT; i++)
		in[i] = i * 2654435761u;
	if (record(demo, &numbers, &sums, &totals, &total_sums, &last))
		return -1;
	want = malloc(COUNT * 4);
	if (!want)
		return demo_fail(demo, "out of memory");
	for (i = 0; i < COUNT; i++)
		want[i] = sum += in[i];
	ret = demo_compare(demo, "sum", sums.cpu, want, COUNT);
	free(want);
	return ret;
}

const struct demo_kind demo_prefix = {
	"prefix", "a prefix sum of 65536 numbers, in group memory", false, false, run,
};
