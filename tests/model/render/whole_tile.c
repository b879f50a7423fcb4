/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 TIMEOUT=240 */
/*
 * Primitives that cover a tile with one color are painted, as if the tile were cleared. Memory and
 * counters are those of a device that draws them, whatever is drawn before and after: triangles of
 * every size, with depth tests or without, on cleared and on loaded tiles, with blending, masks,
 * queries and several samples, for which nothing may be painted.
 */
#include <stdio.h>
#include <string.h>

#include "device/gpu.h"
#include "ktap.h"
#include "soup.h"
#include "tiles.h"

#define WIDTH 200
#define HEIGHT 136
#define DRAWS 12
#define TRIANGLES 6			/* of a draw */
#define SCENES 60

#define PROGRAM(n) (BINNER_FRAME + 0x4000 + 64 * (n))
#define CODE(n) (BINNER_FRAME + 0x5000 + 512 * (n))
#define BLENDS(n) (BINNER_FRAME + 0x4800 + 64 * (n))
#define PROGRAMS 4u
#define QUERY BINNER_DATA

static float corner[DRAWS][3 * TRIANGLES][3];

static void position(struct binner *f, uint32_t vertex, uint32_t instance, float *record)
{
	(void)f;
	(void)instance;
	memcpy(record, corner[vertex / (3 * TRIANGLES)][vertex % (3 * TRIANGLES)],
	       sizeof(corner[0][0]));
	record[3] = 1;
}

/* Programs that leave a constant color each, and two ways to write it. */
static void programs(struct tiles *t)
{
	static const char *const red[PROGRAMS] = {
		"#0", "0x3f800000", "0x3e99999a", "0x3f333333",
	};
	uint8_t *list = t->f->list - BINNER_LIST;

	for (unsigned int n = 0; n < PROGRAMS; n++) {
		char text[1024];

		snprintf(text, sizeof(text),
			 "clause {\n	*MOV.i32 r0:t0, %s\n	+NOP\n"
			 "	*MOV.i32 r1:t0, 0x3f000000\n	+NOP\n}\n"
			 "clause {\n	*MOV.i32 r2:t0, 0x3e800000\n	+NOP\n"
			 "	*MOV.i32 r3:t0, 0x3f400000\n	+NOP\n}\n" TILES_FINISH, red[n]);
		tiles_program(t, CODE(n), text);
		tsr_pack_shader_program((uint64_t *)(void *)(list + PROGRAM(n)),
					&(struct tsr_shader_program){ .code = CODE(n) });
	}
	for (unsigned int n = 0; n < 3; n++) {
		tsr_pack_blend((uint64_t *)(void *)(list + BLENDS(n)), &(struct tsr_blend){
			.mask = n == 2 ? 5 : 15, .enable = n == 1,
			.mode = n == 1 ? TSR_BLEND_MODE_FIXED : TSR_BLEND_MODE_OPAQUE,
			.src_color = TSR_BLEND_FACTOR_SRC_ALPHA,
			.dst_color = TSR_BLEND_FACTOR_ONE, .components = 3,
			.registers = TSR_REGISTER_TYPE_F32,
			.format = TSR_PIXEL_FORMAT_RGBA8_UNORM << 12 });
	}
}

/* Triangles of a draw: over everything, or of some size. */
static void triangles(struct soup *s, float (*at)[3])
{
	const unsigned int kind = soup_below(s, 4);
	static const float all[3][2] = { { -1.5f, -1.5f }, { 8, -1.5f }, { -1.5f, 8 } };

	for (unsigned int i = 0; i < 3 * TRIANGLES; i++) {
		const float size = kind == 1 ? 0.05f : kind == 2 ? 0.3f : 2;

		for (unsigned int k = 0; k < 2; k++)
			at[i][k] = kind ? (i % 3 ? at[i - i % 3][k] : 0) +
					  size * ((float)(int)soup_below(s, 2048) / 1024 - 1) :
					  all[i % 3][k];
		at[i][2] = (float)soup_below(s, 64) / 64;
	}
}

static void draws(struct tiles *t, struct soup *s)
{
	for (unsigned int n = 0; n < DRAWS; n++) {
		const bool depth = soup_below(s, 2);
		uint64_t word[TSR_LIST_QUERY_QWORDS];

		triangles(s, corner[n]);
		t->f->draw.depth_test = t->f->draw.depth_write = depth;
		t->f->draw.depth_function = TSR_COMPARE_FUNCTION_LESS;
		t->f->draw.blends = BLENDS(soup_below(s, 6) > 3 ? 1 + soup_below(s, 2) : 0);
		t->f->shader.fragment = PROGRAM(soup_below(s, PROGRAMS));
		binner_states(t->f);
		tsr_pack_list_query(word, &(struct tsr_list_query){
			.kind = TSR_QUERY_SAMPLES, .addr = soup_below(s, 6) ? 0 : QUERY });
		binner_packet(t->f, word, TSR_LIST_QUERY_QWORDS);
		binner_draw(t->f, &(struct tsr_list_draw){
			.topology = TSR_TOPOLOGY_TRIANGLES, .first = n * 3 * TRIANGLES,
			.count = 3 * TRIANGLES, .instances = 1 });
	}
}

struct result {
	uint64_t hash, samples, painted, counter[6];
};

static uint64_t painted(const struct tsr_gpu *gpu)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < gpu->num_runners; i++)
		sum += gpu->runner[i].own.path[TSR_PATH_TILES_PAINTED];
	return sum;
}

static struct result draw(unsigned int seed, unsigned int debug)
{
	static const enum tsr_queue_counter counted[6] = {
		TSR_QUEUE_COUNTER_TILES, TSR_QUEUE_COUNTER_TILE_PRIMITIVES,
		TSR_QUEUE_COUNTER_TILE_BLOCKS, TSR_QUEUE_COUNTER_QUADS,
		TSR_QUEUE_COUNTER_SAMPLES_TESTED_EARLY, TSR_QUEUE_COUNTER_TILE_STORE_BYTES,
	};
	const struct tsr_config config = { .gfx_debug = debug, .cores = 1 };
	struct tiles *t = tiles_new(WIDTH, HEIGHT, &config);
	struct result r = { .hash = 0xcbf29ce484222325 };
	struct soup s = soup_new(seed);

	programs(t);
	t->f->frame.tile_shift = 4 + seed % 3;
	t->f->frame.samples_log2 = seed % 5 == 4 ? 1 : 0;
	tiles_target(t, 0, TSR_PIXEL_FORMAT_RGBA8_UNORM, 4);
	tiles_target(t, TILES_DEPTH, TSR_PIXEL_FORMAT_R32F, 4);
	t->target[0].clear_0 = binner_bits(1);
	t->target[TILES_DEPTH].clear_0 = binner_bits(1);
	if (seed % 4 == 3) {
		t->clear = 1u << TILES_DEPTH;
		t->load = 1;
	}
	memset(t->memory, 0x42, 2 * TILES_TARGET_SIZE);
	*(uint64_t *)(void *)t->f->data = 0;
	t->f->draw.blend_count = 1;
	t->f->position = position;
	binner_again(t->f);
	draws(t, &s);
	if (!ktap_ok(tiles_run(t)))
		ktap_note("fault %u", bench_fault(&t->queue));
	for (unsigned int i = 0; i < 2; i++) {
		for (unsigned int n = 0; n < WIDTH * HEIGHT * 8; n++)
			r.hash = (r.hash ^ t->memory[i * TILES_TARGET_SIZE + n]) * 0x100000001b3;
	}
	for (unsigned int i = 0; i < 6; i++)
		r.counter[i] = tiles_counter(t, counted[i]);
	r.samples = *(uint64_t *)(void *)t->f->data;
	r.painted = painted(t->f->b->gpu);
	tiles_free(t);
	return r;
}

static void test_scenes(void)
{
	uint64_t tiles = 0, samples = 0;

	for (unsigned int seed = 0; seed < SCENES; seed++) {
		const struct result want = draw(seed, TSR_GFX_NO_FLAT), got = draw(seed, 0);
		bool good = ktap_eq(got.hash, want.hash);

		good &= ktap_eq(got.samples, want.samples);
		for (unsigned int i = 0; i < 6; i++)
			good &= ktap_eq(got.counter[i], want.counter[i]);
		ktap_eq(want.painted, 0);
		if (seed % 5 == 4)
			ktap_eq(got.painted, 0);
		if (!good)
			ktap_note("scene %u", seed);
		tiles += got.painted;
		samples += got.samples;
	}
	ktap_note("%llu tiles were painted", (unsigned long long)tiles);
	ktap_ok(tiles > 1000 && samples);
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	ktap_run("[OM1] tiles that a primitive covers with one color", test_scenes);
	return ktap_finish();
}
