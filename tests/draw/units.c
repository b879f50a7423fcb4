// SPDX-License-Identifier: MIT
/*
 * Units of the binner that are too small for what is drawn: the counters of its queue tell how
 * often they were emptied, and the picture is there.
 */
#include "gfxdraw.h"
#include "hostgpu.h"
#include "tsr_regs.h"

#define SIDE	16u
#define DRAWS	300u

static struct gfxt t;
static const float black[4], white[4] = { 1, 1, 1, 1 };

static uint64_t counter(unsigned int number)
{
	struct tsr_queue *bin[TSR_GFX_BIN_QUEUES], *render;

	tsr_gfx_queues(t.gfx, bin, &render);
	/* the device has no second engine */
	return hostgpu_counter(t.device, tsr_queue_id(bin[0]), number);
}

static void drawn(struct tsr_gfx_pass *pass, struct tsr_image *image)
{
	uint32_t texels[SIDE * SIDE], wrong = 0;

	gfxt_drawn(pass);
	gfxt_read(image, 0, 0, texels, 4 * SIDE);
	for (unsigned int i = 0; i < SIDE * SIDE; i++)
		wrong += texels[i] != UINT32_MAX;
	ktap_eq(wrong, 0);
}

/* Draws with words of their own, which make a program of each: more than there is room for. */
static void uniforms(void)
{
	struct tsr_image *image = gfxt_image(&t, TSR_PIXEL_FORMAT_RGBA8_UNORM, SIDE, 1);
	struct tsr_gfx_pass *pass = gfxt_one(&t, image, black);
	struct tsr_gfx_pipeline *p = gfxt_pipeline(&t, NULL);
	const uint64_t before = counter(TSR_QUEUE_COUNTER_BIN_UNIFORM_STALLS);
	uint64_t after;

	for (uint32_t n = 0; n < DRAWS; n++) {
		ktap_eq(tsr_gfx_set_push(pass, TSR_GFX_STAGE_VERTEX, 0, 1, &n), 0);
		gfxt_fill(&t, pass, p, 0, white);
	}
	drawn(pass, image);
	after = counter(TSR_QUEUE_COUNTER_BIN_UNIFORM_STALLS);
	ktap_ok(after - before >= DRAWS - TSR_UNIFORM_CACHE_PROGRAMS && after - before < DRAWS);
	tsr_gfx_pipeline_unref(p);
	tsr_image_unref(image);
}

/* @triangles, each of corners of its own, or all of the same three. */
static void batches(uint32_t triangles, bool same, uint64_t tags, uint64_t pipe)
{
	struct tsr_image *image = gfxt_image(&t, TSR_PIXEL_FORMAT_RGBA8_UNORM, SIDE, 1);
	struct tsr_gfx_pass *pass = gfxt_one(&t, image, black);
	struct tsr_gfx_pipeline *p = gfxt_pipeline(&t, NULL);
	const uint64_t tags_before = counter(TSR_QUEUE_COUNTER_BIN_TAG_STALLS);
	const uint64_t pipe_before = counter(TSR_QUEUE_COUNTER_BIN_PIPE_STALLS);
	struct gfxt_vertex *v = calloc(3 * triangles, sizeof(*v));
	uint32_t *index = calloc(3 * triangles, sizeof(*index));

	for (uint32_t i = 0; i < triangles; i++)
		gfxt_cover(&v[3 * i], 0, white);
	for (uint32_t i = 0; i < 3 * triangles; i++)
		index[i] = same ? i % 3 : i;
	ktap_eq(tsr_gfx_set_pipeline(pass, p), 0);
	gfxt_vertices(&t, pass, v, 3 * triangles);
	ktap_eq(tsr_gfx_set_indices(pass, TSR_INDEX_TYPE_U32,
				    gfxt_data(&t, index, 12 * triangles), 12 * triangles), 0);
	ktap_eq(tsr_gfx_draw_indexed(pass, &(struct tsr_gfx_draw){ .count = 3 * triangles }), 0);
	drawn(pass, image);
	ktap_eq(counter(TSR_QUEUE_COUNTER_BIN_TAG_STALLS) - tags_before, tags);
	ktap_eq(counter(TSR_QUEUE_COUNTER_BIN_PIPE_STALLS) - pipe_before, pipe);
	free(v);
	free(index);
	tsr_gfx_pipeline_unref(p);
	tsr_image_unref(image);
}

static void tags_and_pipe(void)
{
	const uint32_t whole = TSR_BATCH_VERTICES / 3;

	batches(whole, false, 0, 0);
	batches(whole + 1, false, 1, 0);
	batches(10 * whole, false, 9, 0);
	batches(TSR_BATCH_PRIMITIVES, true, 0, 0);
	batches(TSR_BATCH_PRIMITIVES + 1, true, 0, 1);
	batches(5 * TSR_BATCH_PRIMITIVES, true, 0, 4);
}

int main(void)
{
	ktap_start();
	gfxt_open(&t);
	ktap_run("[BIN7] more programs than the uniform cache holds", uniforms);
	ktap_run("[BIN7] more vertices than tags, more primitives than places", tags_and_pipe);
	gfxt_close(&t);
	return ktap_finish();
}
