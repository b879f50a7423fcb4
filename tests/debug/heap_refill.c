// SPDX-License-Identifier: MIT
/* test: TIMEOUT=150 */
/*
 * A tiler heap that could grow, and no memory to let it: the pass fails with ENOMEM and not with
 * ENOSPC, and once there is memory again others draw. The kernel refuses what is asked for without
 * waiting, in pieces as large as the heap's; nothing else asks for such.
 */
#include <stdio.h>

#include "gfxdraw.h"
#include "gt.h"

#define SIDE		512
#define TRIANGLES	40000
#define CHUNK		65536u		/* sixteen pages: order 4 */

static struct gfxt t;
static struct tsr_gfx_pipeline *pipeline;
static uint64_t vertices;

static void set_knob(const char *name, const char *value)
{
	char path[80];

	snprintf(path, sizeof(path), "/sys/kernel/debug/fail_page_alloc/%s", name);
	if (gt_write_file(path, value))
		gt_die("%s cannot be written", path);
}

/* Small triangles beside each other, more than the first chunks hold. */
static void upload(void)
{
	const uint64_t size = 3 * TRIANGLES * sizeof(struct gfxt_vertex);
	struct gfxt_vertex *v = malloc(size);

	for (int i = 0; i < TRIANGLES; i++)
		for (int k = 0; k < 3; k++) {
			float x = (float)(i % 250) / 125 - 1, y = (float)(i / 250) / 80 - 1;

			v[3 * i + k] = (struct gfxt_vertex) {
				{ x + (k == 1 ? 0.02f : 0), y + (k == 2 ? 0.02f : 0), 0, 1 },
				{ (float)(i % 7) / 6, (float)(i % 11) / 10, 1, 1 },
			};
		}
	vertices = gfxt_data(&t, v, size);
	free(v);
}

static uint8_t before[4 * SIDE * SIDE], after[4 * SIDE * SIDE];

static int draw(uint8_t *texels)
{
	ktap_eq(tsr_gfx_set_heap(t.gfx, CHUNK, 0), 0);
	return gfxt_triangles(&t, pipeline, vertices, TRIANGLES, SIDE, texels);
}

static void no_memory(void)
{
	ktap_eq(draw(before), 0);
	set_knob("probability", "100");
	ktap_eq(draw(after), -ENOMEM);
	set_knob("probability", "0");
	ktap_eq(draw(after), 0);
	ktap_mem_eq(after, before, sizeof(before));
}

int main(void)
{
	ktap_start();
	set_knob("probability", "0");
	set_knob("times", "-1");
	set_knob("min-order", "4");
	set_knob("ignore-gfp-wait", "Y");
	set_knob("task-filter", "N");
	gfxt_open(&t);
	pipeline = gfxt_pipeline(&t, NULL);
	upload();
	ktap_run("[BIN4] [SYS3] a heap that cannot be refilled: ENOMEM, and later passes draw",
		 no_memory);
	tsr_gfx_pipeline_unref(pipeline);
	gfxt_close(&t);
	return ktap_finish();
}
