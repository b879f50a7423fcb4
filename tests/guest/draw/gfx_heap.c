// SPDX-License-Identifier: MIT
/* test: TIMEOUT=300 */
/*
 * The memory between binning and rendering: whether it grows from one chunk or is large from the
 * start, the picture is the same; at its limit the pass fails, and passes after it do not.
 */
#include <errno.h>
#include <stdlib.h>

#include "gfxdraw.h"
#include "tsr_regs.h"

#define SIDE		512
#define TRIANGLES	60000
#define CHUNK		65536u

static struct gfxt t;
static struct tsr_gfx_pipeline *pipeline;
static uint64_t vertices;

/* Small triangles, row by row, each in a color of its own. */
static void upload(void)
{
	const uint64_t size = 3 * TRIANGLES * sizeof(struct gfxt_vertex);
	struct gfxt_vertex *v = malloc(size);

	for (int i = 0; i < TRIANGLES; i++)
		for (int k = 0; k < 3; k++) {
			float x = (float)(i % 250) / 125 - 1, y = (float)(i / 250) / 120 - 1;

			v[3 * i + k] = (struct gfxt_vertex) {
				{ x + (k == 1 ? 0.02f : 0), y + (k == 2 ? 0.02f : 0), 0, 1 },
				{ (float)(i % 7) / 6, (float)(i % 11) / 10, (float)k / 2, 1 },
			};
		}
	vertices = gfxt_data(&t, v, size);
	free(v);
}

static int draw(uint32_t count, uint8_t *texels)
{
	return gfxt_triangles(&t, pipeline, vertices, count, SIDE, texels);
}

static uint8_t large[4 * SIDE * SIDE], small[4 * SIDE * SIDE];

static void grows(void)
{
	ktap_eq(tsr_gfx_set_heap(t.gfx, 64u << 20, 0), 0);
	ktap_eq(draw(TRIANGLES, large), 0);
	ktap_eq(tsr_gfx_set_heap(t.gfx, CHUNK, 0), 0);
	ktap_eq(draw(TRIANGLES, small), 0);
	ktap_mem_eq(small, large, sizeof(large));
	/* what grew stays */
	ktap_eq(draw(TRIANGLES, small), 0);
	ktap_mem_eq(small, large, sizeof(large));
}

static void limit(void)
{
	ktap_eq(tsr_gfx_set_heap(t.gfx, CHUNK, 4 * CHUNK), 0);
	ktap_eq(draw(TRIANGLES, small), -ENOSPC);
	ktap_eq(tsr_gfx_set_heap(t.gfx, CHUNK, 0), 0);
	ktap_eq(draw(TRIANGLES, small), 0);
	ktap_mem_eq(small, large, sizeof(large));
}

#define DRAWS 4

/* A pass of several draws, counted: what tsr_gfx_wait() says. */
static int counted(const struct tsr_alloc *query)
{
	struct tsr_image *image = gfxt_image(&t, TSR_PIXEL_FORMAT_RGBA8_UNORM, SIDE, 1);
	static const float clear[4];
	struct tsr_gfx_pass *pass = gfxt_one(&t, image, clear);
	const struct tsr_gfx_draw part = { .count = 3 * TRIANGLES };
	int ret;

	ktap_eq(tsr_gfx_set_pipeline(pass, pipeline), 0);
	ktap_eq(tsr_gfx_query(pass, TSR_QUERY_STATISTICS, query->va), 0);
	ktap_eq(tsr_gfx_set_vertices(pass, 0, vertices,
				     3 * TRIANGLES * sizeof(struct gfxt_vertex)), 0);
	for (int i = 0; i < DRAWS; i++)
		ktap_eq(tsr_gfx_draw(pass, &part), 0);
	ret = gfxt_draw(pass);
	tsr_image_unref(image);
	return ret;
}

/* Draws are counted once, after all of them have found room. */
static void counts(void)
{
	struct tsr_alloc query;
	const uint64_t *words;

	ktap_eq(tsr_pool_alloc(t.data, TSR_PIPELINE_STATISTICS__QWORDS * 8, 64, &query), 0);
	words = query.cpu;
	memset(query.cpu, 0, query.size);
	ktap_eq(tsr_gfx_set_heap(t.gfx, CHUNK, 16u << 20), 0);
	ktap_eq(counted(&query), -ENOSPC);
	ktap_eq(words[TSR_PIPELINE_STATISTICS_INPUT_PRIMITIVES__QWORD], 0);
	ktap_eq(words[TSR_PIPELINE_STATISTICS_VERTEX_INVOCATIONS__QWORD], 0);
	ktap_eq(tsr_gfx_set_heap(t.gfx, CHUNK, 0), 0);
	ktap_eq(counted(&query), 0);
	ktap_eq(words[TSR_PIPELINE_STATISTICS_INPUT_PRIMITIVES__QWORD], DRAWS * TRIANGLES);
	ktap_eq(words[TSR_PIPELINE_STATISTICS_VERTEX_INVOCATIONS__QWORD], 3 * DRAWS * TRIANGLES);
}

static struct tsr_gfx_pass *triangles(struct tsr_image *image, uint32_t count)
{
	static const float clear[4];
	struct tsr_gfx_pass *pass = gfxt_one(&t, image, clear);
	const struct tsr_gfx_draw all = { .count = 3 * count };

	ktap_eq(tsr_gfx_set_pipeline(pass, pipeline), 0);
	ktap_eq(tsr_gfx_set_vertices(pass, 0, vertices, 3 * count * sizeof(struct gfxt_vertex)), 0);
	ktap_eq(tsr_gfx_draw(pass, &all), 0);
	return pass;
}

/* By the time somebody asks, the context has queues that never failed. */
static void asked_late(void)
{
	struct tsr_image *image = gfxt_image(&t, TSR_PIXEL_FORMAT_RGBA8_UNORM, SIDE, 1);
	struct tsr_gfx_pass *fails, *works;
	struct tsr_point done = { .point = 0 };
	int ret;

	ktap_eq(tsr_gfx_set_heap(t.gfx, CHUNK, 4 * CHUNK), 0);
	ktap_eq(tsr_sync_create(t.device, 0, &done.sync), 0);
	fails = triangles(image, TRIANGLES);
	works = triangles(image, 1);
	ktap_eq(tsr_gfx_submit(fails, NULL, 0, &done, 1), 0);
	ktap_eq(tsr_sync_wait(done.sync, 0, TSR_DEADLINE_NEVER), 0);
	for (int i = 0; i < 2; i++) {
		ktap_eq(tsr_gfx_submit(works, NULL, 0, NULL, 0), 0);
		ktap_eq(tsr_gfx_wait(works, TSR_DEADLINE_NEVER), 0);
	}
	/* one that might draw with more, or one that has had all there is */
	ret = tsr_gfx_wait(fails, TSR_DEADLINE_NEVER);
	ktap_ok(ret == -EAGAIN || ret == -ENOSPC);
	ktap_eq(tsr_gfx_run(fails, TSR_DEADLINE_NEVER), -ENOSPC);
	ktap_eq(tsr_gfx_wait(fails, TSR_DEADLINE_NEVER), -ENOSPC);
	tsr_gfx_pass_destroy(fails);
	tsr_gfx_pass_destroy(works);
	tsr_sync_unref(done.sync);
	tsr_image_unref(image);
	ktap_eq(tsr_gfx_set_heap(t.gfx, CHUNK, 0), 0);
}

static void misuse(void)
{
	ktap_eq(tsr_gfx_set_heap(t.gfx, 0, 0), -EINVAL);
	ktap_eq(tsr_gfx_set_heap(t.gfx, CHUNK + 1, 0), -EINVAL);
	ktap_eq(tsr_gfx_set_heap(t.gfx, 2 * CHUNK, CHUNK), -EINVAL);
}

int main(void)
{
	ktap_start();
	gfxt_open(&t);
	pipeline = gfxt_pipeline(&t, NULL);
	upload();
	ktap_run("[BIN4] a heap of one chunk grows; the picture is that of a large heap", grows);
	ktap_run("[BIN4] at the limit the pass fails, and later ones draw", limit);
	ktap_run("[BIN4] [PIPE1] a pass that is drawn again is counted once", counts);
	ktap_run("[BIN4] a pass that has failed says so behind others that have not", asked_late);
	ktap_run("[BIN4] sizes that no heap has are refused", misuse);
	tsr_gfx_pipeline_unref(pipeline);
	gfxt_close(&t);
	return ktap_finish();
}
