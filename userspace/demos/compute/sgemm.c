// SPDX-License-Identifier: MIT
/*
 * A product of matrices, C = A * B: each thread computes one element as a chain of fused
 * multiply-adds in the order of k, and so does the CPU.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "demo.h"

#define ROWS	96u		/* of A and C; a multiple of the group */
#define COLUMNS	128u		/* of B and C; likewise */
#define INNER	80u		/* columns of A, rows of B; a multiple of 4 */
#define TILE	16u		/* threads of a group along x and y, as in sgemm.s */

DEMO_SHADER(sgemm);

/* Numbers from -1 to 1 that look random. */
static void fill(float *values, uint32_t count, uint32_t seed)
{
	uint32_t i;

	for (i = 0; i < count; i++) {
		seed = seed * 1664525u + 1013904223u;
		values[i] = (float)(int32_t)seed / 2147483648.0f;
	}
}

static void reference(const float *a, const float *b, float *c)
{
	uint32_t row, column, k;

	for (row = 0; row < ROWS; row++) {
		for (column = 0; column < COLUMNS; column++) {
			float sum = 0.0f;

			for (k = 0; k < INNER; k++)
				sum = fmaf(a[row * INNER + k], b[k * COLUMNS + column], sum);
			c[row * COLUMNS + column] = sum;
		}
	}
}

static int run(struct demo *demo)
{
	struct tsr_dispatch_info d = { .groups = { COLUMNS / TILE, ROWS / TILE } };
	const uint32_t push[4] = { INNER, INNER * 4, COLUMNS * 4 };
	struct tsr_storage storage[3];
	struct tsr_alloc a, b, c;
	float *want;
	int ret;

	if (DEMO_PROGRAM(demo, sgemm, &d.shader) || demo_buffer(demo, ROWS * INNER * 4, &a) ||
	    demo_buffer(demo, INNER * COLUMNS * 4, &b) ||
	    demo_buffer(demo, ROWS * COLUMNS * 4, &c) || demo_begin(demo))
		return -1;
	fill(a.cpu, ROWS * INNER, 1);
	fill(b.cpu, INNER * COLUMNS, 2);
	storage[0] = demo_storage(&a, TSR_SHADER_READ, 4);
	storage[1] = demo_storage(&b, TSR_SHADER_READ, 8);
	storage[2] = demo_storage(&c, TSR_SHADER_WRITE, 12);
	d.push = push;
	d.push_words = 4;
	d.storage = storage;
	d.storage_count = 3;
	tsr_cmd_dispatch(demo->stream, &d, sizeof(d));
	want = malloc(ROWS * COLUMNS * 4);
	if (!want)
		return demo_fail(demo, "out of memory");
	reference(a.cpu, b.cpu, want);
	ret = demo_run(demo);
	if (!ret)
		ret = demo_compare(demo, "element", c.cpu, (const uint32_t *)want, ROWS * COLUMNS);
	free(want);
	return ret;
}

const struct demo_kind demo_sgemm = {
	"sgemm", "a product of matrices of floats", false, false, run,
};
