/* SPDX-License-Identifier: MIT */
/*
 * test: TSAN=0
 *
 * The texture caches: what they count, on scenes whose texels the test counts itself; what makes
 * them forget, one address space and not another; that they can be switched off.
 */
#include <math.h>
#include <string.h>

#include "device/gpu.h"
#include "ktap.h"
#include "shade.h"
#include "texture_ref.h"

/* ---- Forgetting ------------------------------------------------------------------------------ */

/* In STAGE_DATA. */
#define TEXTURES 0x40000
#define SAMPLERS 0x41000
#define SURFACES 0x42000
#define TEXELS 0x50000

enum way { NOT_AT_ALL, INV_READ, INV_CODE, AS_COMMAND, TLB_PACKET, OTHER_SPACE };

static void tell(struct shade_machine *m, enum way way)
{
	const struct tsr_barrier read = { .inv_read = true }, code = { .inv_code = true };
	uint64_t p[8];

	switch (way) {
	case INV_READ:
		bench_emit(&m->q, p, pk_barrier(p, &read));
		break;
	case INV_CODE:
		bench_emit(&m->q, p, pk_barrier(p, &code));
		break;
	case AS_COMMAND:
		bench_invalidate(&m->s.as[1], STAGE_DATA, 4096);
		break;
	case TLB_PACKET:
		bench_emit(&m->q, p, pk_tlb(p, TSR_INV_OP_ALL, 1, 0, 0));
		break;
	case OTHER_SPACE:
		bench_emit(&m->q, p, pk_tlb(p, TSR_INV_OP_ALL, 2, 0, 0));
		break;
	default:
		break;
	}
}

static void describe(struct shade_machine *m)
{
	uint64_t *texture = (uint64_t *)(m->s.data + TEXTURES);
	uint64_t *sampler = (uint64_t *)(m->s.data + SAMPLERS);
	uint64_t *surface = (uint64_t *)(m->s.data + SURFACES);

	/* R32F, 8 by 8 texels */
	texture[0] = 2 | TSR_TEXTURE_DIMENSION_2D << 4 |
		     (uint64_t)TSR_PIXEL_FORMAT_R32F << TSR_TEXTURE_FORMAT__SHIFT | 7ull << 32 |
		     7ull << 48;
	texture[1] = 0x688 | TSR_TEXEL_ORDER_LINEAR << 12;
	texture[2] = STAGE_DATA + SURFACES;
	sampler[0] = 1 | TSR_WRAP_MODE_REPEAT << 8 | TSR_WRAP_MODE_REPEAT << 12 |
		     TSR_WRAP_MODE_REPEAT << 16 | 1 << 25;
	surface[0] = STAGE_DATA + TEXELS;
	surface[1] = 32;
}

static void set_texels(struct shade_machine *m, uint32_t value)
{
	for (unsigned int i = 0; i < 64; i++)
		*stage_word32(&m->s, TEXELS + 4 * i) = value;
}

/* A program that samples one place between four texels of four blocks. */
static void sampling(struct shade_code *code)
{
	shade_text(code,
		   "clause { *MOV.i32 r0, 0.5\n *MOV.i32 r1, 0.5\n }\n"
		   "clause slot=0 message=tex wait=0 {\n"
		   " +TEXS_2D.f32 r0, r1, texture_index:0, sampler_index:0, @r4 }\n"
		   "clause slot=0 message=store " SHADE_STORE("r4"));
}

static void bind_texture(struct shade_dispatch *d)
{
	d->state.local_x = 16;
	d->state.textures = STAGE_DATA + TEXTURES;
	d->state.texture_count = 1;
	d->state.samplers = STAGE_DATA + SAMPLERS;
	d->state.sampler_count = 1;
}

/*
 * Run a program that samples a texture, change texels and (with @descriptor) where they are, tell
 * the device @way, run it again; what it has sampled.
 */
static uint32_t change(const struct tsr_config *config, enum way way, bool descriptor)
{
	static struct shade_code code;
	struct shade_dispatch d = { .code = &code, .groups = { 4 } };
	/* what caches do is counted on request alone, and a deterministic device requests it */
	bool kept = !config->no_texture_cache && config->deterministic;
	struct shade_machine m;
	uint32_t value;

	memset(&code, 0, sizeof(code));
	sampling(&code);
	shade_init(&m, config);
	bind_texture(&d);
	describe(&m);
	set_texels(&m, 0x3f800000);
	ktap_ok(shade_run(&m, &d));
	ktap_eq(*stage_word32(&m.s, 4 * 63), 0x3f800000);
	/* one place between four texels of four blocks, which are all of the texture's 256 bytes */
	ktap_eq(shade_counter(&m, TSR_QUEUE_COUNTER_TEXTURE_SAMPLES), 64);
	ktap_eq(shade_counter(&m, TSR_QUEUE_COUNTER_TEXTURE_TOUCHES), kept ? 4 : 0);
	ktap_eq(shade_counter(&m, TSR_QUEUE_COUNTER_TEXTURE_FILLS), kept ? 4 : 0);
	ktap_eq(shade_counter(&m, TSR_QUEUE_COUNTER_TEXTURE_MISSES), kept ? 4 : 0);
	if (descriptor) {
		uint64_t *surface = (uint64_t *)(m.s.data + SURFACES);

		surface[0] += 0x1000;
		for (unsigned int i = 0; i < 64; i++)
			*stage_word32(&m.s, TEXELS + 0x1000 + 4 * i) = 0x40000000;
	} else {
		set_texels(&m, 0x40000000);
	}
	tell(&m, way);
	value = shade_run(&m, &d) ? *stage_word32(&m.s, 4 * 63) : 0;
	shade_free(&m);
	return value;
}

static void test_forgets(void)
{
	static const struct tsr_config plain = { .deterministic = true }, unasked = { 0 };
	static const struct tsr_config off = { .no_texture_cache = true };
	const uint32_t before = 0x3f800000, after = 0x40000000;

	for (unsigned int descriptor = 0; descriptor < 2; descriptor++) {
		/* nobody may rely on these three, but they show that something is kept */
		ktap_eq(change(&plain, NOT_AT_ALL, descriptor), before);
		ktap_eq(change(&plain, INV_CODE, descriptor), before);
		ktap_eq(change(&plain, OTHER_SPACE, descriptor), before);
		ktap_eq(change(&plain, INV_READ, descriptor), after);
		ktap_eq(change(&unasked, INV_READ, descriptor), after);
		ktap_eq(change(&plain, AS_COMMAND, descriptor), after);
		ktap_eq(change(&plain, TLB_PACKET, descriptor), after);
		ktap_eq(change(&off, NOT_AT_ALL, descriptor), after);
	}
}

/* ---- Counting -------------------------------------------------------------------------------- */

static const enum tsr_queue_counter requested[] = {
	TSR_QUEUE_COUNTER_TEXTURE_TOUCHES, TSR_QUEUE_COUNTER_TEXTURE_FILLS,
	TSR_QUEUE_COUNTER_TEXTURE_MISSES, TSR_QUEUE_COUNTER_TEXTURE_DECODES,
};

/* An interval of the counters in @mask, or none if that is 0, around a dispatch that samples. */
static void interval(struct shade_machine *m, struct shade_dispatch *d, uint64_t mask)
{
	uint64_t p[TSR_COUNTER_BEGIN_QWORDS + TSR_COUNTER_END_QWORDS];

	tell(m, INV_READ);
	tsr_pack_counter_begin(p, &(struct tsr_counter_begin){ .mask = mask });
	if (mask)
		bench_emit(&m->q, p, TSR_COUNTER_BEGIN_QWORDS);
	ktap_ok(shade_run(m, d));
	if (mask)
		bench_emit(&m->q, p, pk_counter_end(p, STAGE_DATA + 0x8000));
}

/* The counters of caches count within an interval that names one of them. */
static void test_requested(void)
{
	static const struct tsr_config plain = { 0 }, strict = { .strict_code = true };

	for (unsigned int i = 0; i < 8; i++) {
		const uint64_t mask = i < 4 ? 1ull << requested[i] :
				      i == 4 ? 1ull << TSR_QUEUE_COUNTER_TEXTURE_SAMPLES :
				      i == 5 ? UINT64_MAX : 0;
		const bool counts = i < 4 || i == 5 || i == 7;
		static struct shade_code code;
		struct shade_dispatch d = { .code = &code, .groups = { 4 } };
		struct shade_machine m;

		memset(&code, 0, sizeof(code));
		sampling(&code);
		shade_init(&m, i == 7 ? &strict : &plain);
		bind_texture(&d);
		describe(&m);
		set_texels(&m, 0x3f800000);
		interval(&m, &d, mask);
		for (unsigned int n = 0; n < 3; n++) {
			if (!ktap_eq(shade_counter(&m, requested[n]), counts ? 4 : 0))
				ktap_note("case %u", i);
		}
		/* the interval is over */
		interval(&m, &d, 0);
		for (unsigned int n = 0; n < 3; n++)
			ktap_eq(shade_counter(&m, requested[n]), i == 7 ? 8 : counts ? 4 : 0);
		ktap_eq(shade_counter(&m, TSR_QUEUE_COUNTER_TEXTURE_SAMPLES), 2 * 64);
		shade_free(&m);
	}
}

/* ---- A scene --------------------------------------------------------------------------------- */

#define SIDE 128u			/* pixels along an edge of the scene */
#define PIXELS (SIDE * SIDE)
#define COORDINATES 0x20000		/* in STAGE_DATA: two words for each pixel */
#define LARGEST 512u			/* texels along an edge of level 0 */
#define PYRAMID 0x90000			/* in STAGE_DATA: its texels */
#define SCENES 6
#define CORES 2				/* with more of them the L1 sees many places at a time */

static const enum tsr_queue_counter of_scene[] = {
	TSR_QUEUE_COUNTER_TEXTURE_SAMPLES, TSR_QUEUE_COUNTER_TEXTURE_TOUCHES,
	TSR_QUEUE_COUNTER_TEXTURE_FILLS, TSR_QUEUE_COUNTER_TEXTURE_MISSES,
	TSR_QUEUE_COUNTER_TEXTURE_DECODES,
};

#define OF_SCENE (sizeof(of_scene) / sizeof(of_scene[0]))

/* Texture 0: R8 in tiles, with three levels, of which the last is as large as the scene. */
static void describe_levels(struct shade_machine *m)
{
	uint64_t *texture = (uint64_t *)(m->s.data + TEXTURES);
	uint64_t *surface = (uint64_t *)(m->s.data + SURFACES);
	uint64_t va = STAGE_DATA + PYRAMID;

	describe(m);
	texture[0] = 2 | TSR_TEXTURE_DIMENSION_2D << 4 |
		     (uint64_t)TSR_PIXEL_FORMAT_R8_UNORM << TSR_TEXTURE_FORMAT__SHIFT |
		     (uint64_t)(LARGEST - 1) << 32 | (uint64_t)(LARGEST - 1) << 48;
	texture[1] = 0x688 | TSR_TEXEL_ORDER_TILED << 12 | 2 << 16 | 0x200ull << 48;
	/* the sampler's levels are the nearest ones */
	((uint64_t *)(m->s.data + SAMPLERS))[0] |= 0x1fffull << 48;
	for (unsigned int l = 0; l < 3; l++) {
		const unsigned int side = LARGEST >> l;

		surface[2 * l] = va;
		surface[2 * l + 1] = side * 16;
		va += side * side;
	}
	for (uint64_t i = PYRAMID; i < va - STAGE_DATA; i += 4)
		*stage_word32(&m->s, i) = tex_random() ^ tex_random() << 16;
}

/* Coordinates of pixels in tiles of 16 by 16, warps of 4 by 4 and quads, turned and scaled. */
static void place_scene(struct shade_machine *m)
{
	const double scale = exp2(tex_unit() * 2.25) / LARGEST, turn = tex_unit() * 6.28;
	const double at[2] = { tex_unit(), tex_unit() };

	for (unsigned int n = 0; n < PIXELS; n++) {
		const unsigned int tile = n / 256, warp = n / 16 % 16;
		const unsigned int x = tile % 8 * 16 + warp % 4 * 4 + (n & 1) + (n >> 2 & 1) * 2;
		const unsigned int y = tile / 8 * 16 + warp / 4 * 4 + (n >> 1 & 1) +
				       (n >> 3 & 1) * 2;

		*stage_word32(&m->s, COORDINATES + 8 * n) =
			as_bits(at[0] + scale * (x * cos(turn) + y * sin(turn)));
		*stage_word32(&m->s, COORDINATES + 8 * n + 4) =
			as_bits(at[1] + scale * (y * cos(turn) - x * sin(turn)));
	}
}

/* The counters of scenes that are measured one after the other, and what they have sampled. */
static void play_scenes(const struct tsr_config *config, uint64_t counter[SCENES][OF_SCENE],
			uint32_t *sampled)
{
	static struct shade_code code;
	struct shade_dispatch d = { .code = &code, .groups = { PIXELS / 256 } };
	const uint64_t mask = config->deterministic ? 0 :
			      1ull << TSR_QUEUE_COUNTER_TEXTURE_FILLS;
	uint64_t before[OF_SCENE] = { 0 };
	struct shade_machine m;

	memset(&code, 0, sizeof(code));
	shade_text(&code,
		   "clause slot=0 message=load {\n"
		   "	*SHADDXL.u32 t0, u1.w0, r60, shift:3\n"
		   "	+SHADDXH.i32 t1, u1.w1, t\n"
		   "	*NOP\n"
		   "	+LOAD.i64 t0, t1, @r0\n"
		   "}\n"
		   "clause message=tex slot=1 wait=0 {\n"
		   "	+TEXS_2D.f32.computed_lod r0, r1, texture_index:0, "
		   "sampler_index:0, @r4\n"
		   "}\n"
		   "clause slot=0 wait=1 message=store " SHADE_STORE("r4"));
	tex_seed = 5;
	shade_init(&m, config);
	bind_texture(&d);
	d.state.local_x = 256;
	shade_push64(d.push, 1, STAGE_DATA + COORDINATES);
	describe_levels(&m);
	for (unsigned int n = 0; n < SCENES; n++) {
		place_scene(&m);
		interval(&m, &d, mask);
		for (unsigned int i = 0; i < OF_SCENE; i++) {
			uint64_t now = shade_counter(&m, of_scene[i]);

			counter[n][i] = now - before[i];
			before[i] = now;
		}
	}
	memcpy(sampled, m.s.data, 4 * PIXELS);
	shade_free(&m);
}

/*
 * A coherent scene with levels: both caches count the same with a monitor as with deterministic,
 * however many threads the device has.
 */
static void test_monitor(void)
{
	static const struct tsr_config one = { .deterministic = true, .cores = CORES };
	static const unsigned int threads[] = { 0, 1, 2, 4, 4, 4 };
	static uint32_t want[PIXELS], got[PIXELS];
	uint64_t wanted[SCENES][OF_SCENE], counted[SCENES][OF_SCENE], sum[OF_SCENE] = { 0 };

	play_scenes(&one, wanted, want);
	for (unsigned int n = 0; n < SCENES; n++) {
		ktap_eq(wanted[n][0], PIXELS);
		for (unsigned int i = 0; i < OF_SCENE; i++)
			sum[i] += wanted[n][i];
	}
	ktap_note("touches per sample %.3f, fills %.4f, lines %.4f",
		  (double)sum[1] / (double)sum[0], (double)sum[2] / (double)sum[0],
		  (double)sum[3] / (double)sum[0]);
	ktap_ok(4 * sum[1] > 4 * sum[0] && 4 * sum[1] < 6 * sum[0]);
	ktap_ok(100 * sum[2] > 6 * sum[0] && 100 * sum[2] < 11 * sum[0]);
	/* a line is four blocks of such a texture, and each one is missing once */
	ktap_ok(6 * sum[3] > sum[2] && 2 * sum[3] < sum[2]);
	ktap_eq(sum[4], 0);
	for (unsigned int i = 0; i < sizeof(threads) / sizeof(threads[0]); i++) {
		const struct tsr_config config = { .threads = threads[i], .cores = CORES,
						   .no_inline = true };

		play_scenes(&config, counted, got);
		if (!ktap_mem_eq(counted, wanted, sizeof(wanted)))
			ktap_note("%u threads", threads[i]);
		ktap_mem_eq(got, want, sizeof(want));
	}
}

/* ---- Waiting --------------------------------------------------------------------------------- */

/*
 * Group 0 samples a texture that the host has to look up, page by page; group 1, on the same core,
 * does not wait for it.
 */
static void wait_for_texels(bool late)
{
	const struct tsr_config config = { .late_messages = late, .cores = 1 };
	struct shade_code code = { 0 };
	struct shade_dispatch d = { .code = &code, .state.local_x = 16, .groups = { 2 } };
	struct shade_machine m;
	unsigned int overtaken = 0;

	shade_text(&code,
		   "clause { *MOV.i32 r0, 0.5\n *MOV.i32 r1, 0.5\n }\n"
		   "clause {\n+BRANCHZ.i32.ne r57, other\n}\n"
		   "clause slot=0 message=tex wait=0 {\n"
		   " +TEXS_2D.f32 r0, r1, texture_index:0, sampler_index:0, @r4 }\n"
		   "clause slot=0 message=store " SHADE_STORE("r4")
		   "other: clause slot=1 message=store " SHADE_STORE("r60"));
	shade_init(&m, &config);
	d.state.textures = STAGE_DATA + TEXTURES;
	d.state.texture_count = 1;
	d.state.samplers = STAGE_DATA + SAMPLERS;
	d.state.sampler_count = 1;
	shade_push64(d.push, 0, STAGE_DATA);
	describe(&m);
	set_texels(&m, 0x3f800000);
	m.s.b->pending_every = 1;
	shade_call(&m.s, &m.q, &d);
	bench_kick(&m.q);
	do {
		while (tsr_gpu_run(m.s.b->gpu, 1000))
			;
		overtaken += *stage_word32(&m.s, 4 * 31) == 31 && !*stage_word32(&m.s, 0);
	} while (bench_answer(m.s.b));
	ktap_ok(overtaken > 1);
	ktap_eq(bench_state(&m.q), TSR_QUEUE_STATE_IDLE);
	for (unsigned int i = 0; i < 32; i++)
		ktap_eq(*stage_word32(&m.s, 4 * i), i < 16 ? 0x3f800000 : i);
	shade_free(&m);
}

#define TICKET(reg) \
	"clause slot=0 wait=0 {\n" \
	"	*MOV.i32 t0, u1.w0\n" \
	"	+MOV.i32 t1, u1.w1\n" \
	"	*ATOM_C1_RETURN.i32.ainc t0, t1\n" \
	"	+ATOM_CX t0, t1, zero.w0, @" reg "\n" \
	"}\n"
#define SAMPLE(header) \
	"clause message=tex " header " {\n" \
	"	+TEXS_2D.f32 r0, r1, texture_index:0, sampler_index:0, @r4\n" \
	"}\n"

/* Run groups of @local threads, with the texture of one value, on a device of one core. */
static void sample_on_one_core(struct shade_machine *m, struct shade_dispatch *d,
			       unsigned int local, const char *text, bool late)
{
	const struct tsr_config config = { .late_messages = late, .cores = 1 };
	static struct shade_code code;

	memset(&code, 0, sizeof(code));
	shade_text(&code, text);
	d->code = &code;
	shade_init(m, &config);
	bind_texture(d);
	d->state.local_x = local;
	describe(m);
	set_texels(m, 0x3f800000);
	ktap_ok(shade_run(m, d));
}

/*
 * Each thread takes a ticket after it has sampled, and one before. With late timing the @groups,
 * warp groups of their own, have all sampled before the first of them gets its texels.
 */
static void yield_to_bundles(unsigned int groups, bool late)
{
	struct shade_dispatch d = { .groups = { groups } };
	const unsigned int threads = TSR_BUNDLE_LANES * groups;
	struct shade_machine m;

	sample_on_one_core(&m, &d, TSR_BUNDLE_LANES, TICKET("r2")
			   "clause { *MOV.i32 r0, 0.5\n *MOV.i32 r1, 0.5\n }\n"
			   SAMPLE("slot=1 wait=1") TICKET("r2")
			   "clause slot=0 message=store " SHADE_STORE("r2"), late);
	for (unsigned int i = 0; i < threads; i++) {
		const unsigned int earlier = late ? threads : (i / TSR_BUNDLE_LANES + 1) *
							      TSR_BUNDLE_LANES;

		if (!ktap_eq(*stage_word32(&m.s, 4 * i), earlier + i))
			break;
	}
	ktap_eq(shade_counter(&m, TSR_QUEUE_COUNTER_TEXTURE_YIELDS),
		late && groups > 1 ? threads / TSR_WARP_LANES : 0);
	shade_free(&m);
}

/* One warp samples; the other one, of the same warp group, stores the texels in the meantime. */
static void yield_to_neighbour(bool late)
{
	struct shade_dispatch d = { .groups = { 2 } };
	const uint32_t texel = late ? 0x40000000 : 0x3f800000;
	struct shade_machine m;

	shade_push64(d.push, 1, STAGE_DATA + TEXELS);
	sample_on_one_core(&m, &d, TSR_WARP_LANES,
			   "clause { *MOV.i32 r0, 0.0625\n *MOV.i32 r1, 0.0625\n }\n"
			   "clause {\n+BRANCHZ.i32.eq r57, other\n}\n"
			   SAMPLE("slot=1 wait=1")
			   "clause slot=0 message=store " SHADE_STORE("r4")
			   "other: clause { *MOV.i32 r4, 0x40000000\n }\n"
			   "clause slot=1 wait=1 message=store {\n"
			   "	*SHADDXL.u32 t0, u1.w0, r60, shift:2\n"
			   "	+SHADDXH.i32 t1, u1.w1, t\n"
			   "	+STORE.i32 t0, t1, @r4\n"
			   "}\n"
			   "clause slot=0 message=store " SHADE_STORE("r60"), late);
	for (unsigned int i = 0; i < 2 * TSR_WARP_LANES; i++)
		ktap_eq(*stage_word32(&m.s, 4 * i), i < TSR_WARP_LANES ? i : texel);
	ktap_eq(shade_counter(&m, TSR_QUEUE_COUNTER_TEXTURE_YIELDS), late);
	shade_free(&m);
}

/* Others do not go first for ever: group 1 loops until group 0 has its texels. */
static void yield_to_endless(unsigned int local)
{
	struct shade_dispatch d = { .groups = { 2 } };
	struct shade_machine m;

	sample_on_one_core(&m, &d, local,
			   "clause { *MOV.i32 r0, 0.5\n *MOV.i32 r1, 0.5\n }\n"
			   "clause {\n+BRANCHZ.i32.ne r57, loop\n}\n"
			   SAMPLE("slot=1 wait=1")
			   "clause slot=0 message=store " SHADE_STORE("r4")
			   "loop: clause slot=0 wait=0 flow=nbtb_unconditional {\n"
			   "	*MOV.i32 t0, u0.w0\n"
			   "	*NOP\n"
			   "	+LOAD.i32 t0, u0.w1, @r2\n"
			   "}\n"
			   "clause flow=nbtb_unconditional {\n+BRANCHZ.i32.eq r2, loop\n}\n"
			   "clause slot=0 message=store " SHADE_STORE("r60"), true);
	ktap_eq(*stage_word32(&m.s, 0), 0x3f800000);
	ktap_eq(*stage_word32(&m.s, 4 * (2 * local - 1)), 2 * local - 1);
	ktap_eq(shade_counter(&m, TSR_QUEUE_COUNTER_TEXTURE_YIELDS), local / TSR_WARP_LANES);
	shade_free(&m);
}

static void test_latency(void)
{
	wait_for_texels(false);
	wait_for_texels(true);
	for (unsigned int late = 0; late < 2; late++) {
		yield_to_bundles(1, late);
		yield_to_bundles(4, late);
		yield_to_neighbour(late);
	}
	yield_to_endless(TSR_WARP_LANES);
	yield_to_endless(TSR_BUNDLE_LANES);
}

/* ---- Counting -------------------------------------------------------------------------------- */

static struct units *u;

/* A texture of bytes with all its levels, in rows. */
static struct tex pyramid(unsigned int size)
{
	struct tex t = { .dim = TEX_2D, .format = TSR_PIXEL_FORMAT_R8_UNORM, .w = size, .h = size,
			 .d = 1, .layers = 1, .samples = 1, .swizzle = { 0, 1, 2, 3 },
			 .max_lod = 0x1fff, .bpp = 1 };
	uint32_t at = 0;

	for (unsigned int l = 0; l < 9 && size >> l; l++) {
		t.row[l] = size >> l < 64 ? 64 : size >> l;
		t.slice[l] = t.row[l] * (size >> l);
		t.at[l] = at;
		at += t.slice[l];
		t.levels++;
	}
	return t;
}

/* The 16 lanes of a warp: 4 by 4 pixels from (@x, @y), by quads. */
static void sample_warp(const struct tex *t, const double m[2][3], unsigned int x,
			unsigned int y)
{
	units_insn(u, TSR_OP_ADD_TEXS_2D_F32);
	for (unsigned int l = 0; l < 16; l++) {
		unsigned int px = x + (l & 1) + (l >> 2 & 1) * 2;
		unsigned int py = y + (l >> 1 & 1) + (l >> 3) * 2;

		for (unsigned int d = 0; d < 2; d++)
			u->src[d].u[l] = as_bits((m[d][0] + m[d][1] * px + m[d][2] * py) / t->w);
	}
	ktap_eq(units_run(u, 20, UNITS_ALL_LANES), TSR_STEP_DONE);
}

/*
 * A coherent scene: tiles of 16 by 16 pixels, covered by turned textures of which no part is seen
 * twice. Of the level that is nearest half a texel to two belong to a pixel.
 */
static void test_scene(void)
{
	struct tex t = pyramid(256);
	struct tex_sampler s = { .wrap = { 8, 8, 8 }, .normalized = true, .max_lod = 0x1fff };
	double samples = 0, touches = 0, fills = 0, misses = 0;

	tex_write(&t, 0);
	tex_write_sampler(&s, 0);
	for (unsigned int n = 0; n < 24; n++) {
		unsigned int level = n % 3, tiles = 8u >> level;
		double scale = exp2(level + tex_unit() - 0.5), turn = tex_unit() * 6.28;
		const double m[2][3] = {
			{ tex_unit() * 256, cos(turn) * scale, sin(turn) * scale },
			{ tex_unit() * 256, -sin(turn) * scale, cos(turn) * scale },
		};

		units_stop(u);
		u->textures->stats = (struct tsr_texture_stats){ 0 };
		for (unsigned int tile = 0; tile < tiles * tiles; tile++) {
			for (unsigned int warp = 0; warp < 16; warp++)
				sample_warp(&t, m, tile % tiles * 16 + warp % 4 * 4,
					    tile / tiles * 16 + warp / 4 * 4);
		}
		ktap_eq(tsr_texture_counted(u->textures)->samples, tiles * tiles * 256);
		samples += (double)tsr_texture_counted(u->textures)->samples;
		touches += (double)tsr_texture_counted(u->textures)->touches;
		fills += (double)tsr_texture_counted(u->textures)->fills;
		misses += (double)tsr_texture_counted(u->textures)->misses;
	}
	ktap_note("touches per sample %.3f, fills %.4f, lines %.4f", touches / samples,
		  fills / samples, misses / samples);
	ktap_ok(touches / samples > 1.0 && touches / samples < 1.5);
	ktap_ok(fills / samples > 0.06 && fills / samples < 0.10);
	ktap_ok(misses / samples < 4 * fills / samples);
}

/* Scenes that fit into the L1: every texel, block and line that is used counts once. */
static void test_exact(void)
{
	static uint8_t texel[64][64], block[16][16], line[64];

	for (unsigned int n = 0; n < 200; n++) {
		/* with 32 columns the first is not right of the last one in a window */
		const long side = n % 3 ? 64 : 32;
		struct tex t = pyramid((unsigned int)side);
		struct tex_sampler s = { .wrap = { 8, n % 2 ? 9 : 8, 9 }, .normalized = true,
					 .mip = 1, .max_lod = 0x1fff };
		double scale = tex_unit() * 2, turn = tex_unit() * 6.28;
		const double m[2][3] = {
			{ tex_unit() * 64 - 20, cos(turn) * scale, sin(turn) * scale },
			{ tex_unit() * 64 - 20, -sin(turn) * scale, cos(turn) * scale },
		};
		const struct tex_lookup l = { .t = &t, .s = &s };
		uint64_t texels = 0, blocks = 0, lines = 0;

		memset(texel, 0, sizeof(texel));
		memset(block, 0, sizeof(block));
		memset(line, 0, sizeof(line));
		tex_write(&t, 0);
		tex_write_sampler(&s, 0);
		u->textures->stats = (struct tsr_texture_stats){ 0 };
		for (unsigned int warp = 0; warp < 9; warp++) {
			sample_warp(&t, m, warp % 3 * 4, warp / 3 * 4);
			for (unsigned int i = 0; i < 64; i++) {
				long at[2];

				for (unsigned int d = 0; d < 2; d++) {
					double x = tex_ref_place(&l, 0, d, u->src[d].f[i / 4]);

					at[d] = floor(rint(x * 256) / 256 - 0.5) + (i >> d & 1);
					at[d] = s.wrap[d] == 8 ? at[d] & (side - 1) :
						at[d] < 0 ? 0 : at[d] < side ? at[d] : side - 1;
				}
				texel[at[1]][at[0]] = 1;
				block[at[1] / 4][at[0] / 4] = 1;
				for (unsigned int row = 0; row < 4; row++)
					line[at[1] / 4 * 4 + row] = 1;
			}
		}
		for (unsigned int i = 0; i < 64 * 64; i++)
			texels += texel[i / 64][i % 64];
		for (unsigned int i = 0; i < 16 * 16; i++)
			blocks += block[i / 16][i % 16];
		for (unsigned int i = 0; i < 64; i++)
			lines += line[i];
		if (!(ktap_eq(tsr_texture_counted(u->textures)->touches, texels) &
		      ktap_eq(tsr_texture_counted(u->textures)->fills, blocks) &
		      ktap_eq(tsr_texture_counted(u->textures)->misses, lines) &
		      ktap_eq(tsr_texture_counted(u->textures)->samples, 9 * 16)))
			return;
		units_stop(u);
	}
}

/* Use texels anywhere in a level of @side by @side, 16 times one or, unless @near, four. */
static void use_anywhere(long side, bool near, uint8_t used[64][64])
{
	for (unsigned int l = 0; l < 16; l++) {
		const long x = (long)(tex_unit() * side), y = (long)(tex_unit() * side);

		/* a texel's center, or the corner of four */
		u->src[0].u[l] = as_bits((x + (near ? 0.5 : 0)) / side);
		u->src[1].u[l] = as_bits((y + (near ? 0.5 : 0)) / side);
		for (unsigned int i = 0; i < (near ? 1 : 4); i++)
			used[(y - (i >> 1)) & (side - 1)][(x - (i & 1)) & (side - 1)] = 1;
	}
	ktap_eq(units_run(u, 20, UNITS_ALL_LANES), TSR_STEP_DONE);
}

/* Levels that are in the L1 as a whole: texels count once, up to the last one and after it. */
static void test_used_up(void)
{
	static const long sides[] = { 8, 32, 64 };
	static uint8_t used[64][64];

	for (unsigned int n = 0; n < 6; n++) {
		const long side = sides[n / 2];
		const bool near = n % 2;
		struct tex t = pyramid((unsigned int)side);
		struct tex_sampler s = { .wrap = { 8, 8, 8 }, .normalized = true, .mip = 1,
					 .min_nearest = near, .mag_nearest = near,
					 .max_lod = 0x1fff };
		uint64_t texels = 0;

		memset(used, 0, sizeof(used));
		tex_write(&t, 0);
		tex_write_sampler(&s, 0);
		u->textures->stats = (struct tsr_texture_stats){ 0 };
		units_insn(u, TSR_OP_ADD_TEXS_2D_F32);
		for (unsigned int i = 0; i < 4000 && texels < (uint64_t)(side * side); i++) {
			use_anywhere(side, near, used);
			texels = 0;
			for (unsigned int k = 0; k < 64 * 64; k++)
				texels += used[k / 64][k % 64];
			if (!ktap_eq(tsr_texture_counted(u->textures)->touches, texels))
				return;
		}
		ktap_eq(texels, side * side);
		for (unsigned int i = 0; i < 200; i++)
			use_anywhere(side, near, used);
		ktap_eq(tsr_texture_counted(u->textures)->touches, texels);
		units_stop(u);
	}
}

/*
 * One texel is looked up by all lanes. What counts for the first time begins with an empty cache;
 * while nothing counts nothing is noted.
 */
static void test_counting(void)
{
	static const struct {
		uint64_t caches, touches, fills;
	} step[] = {
		{ 1, 1, 1 }, { 1, 0, 0 }, { 0, 0, 1 }, { 0, 0, 0 }, { 5, 1, 1 }, { 5, 0, 0 },
		{ 6, 1, 1 }, { 1, 1, 1 }, { 1, 0, 0 },
	};
	struct tex t = pyramid(32);
	struct tex_sampler s = { .wrap = { 8, 8, 8 }, .normalized = true, .min_nearest = true,
				 .mag_nearest = true, .mip = 1, .max_lod = 0x1fff };

	tex_write(&t, 0);
	tex_write_sampler(&s, 0);
	units_stop(u);
	units_insn(u, TSR_OP_ADD_TEXS_2D_F32);
	for (unsigned int l = 0; l < 16; l++)
		u->src[0].u[l] = u->src[1].u[l] = as_bits(3.5f / 32);
	for (unsigned int n = 0; n < sizeof(step) / sizeof(step[0]); n++) {
		u->mem.thread->caches = step[n].caches;
		tsr_texture_enter(u->textures, &u->mem);
		u->textures->stats = (struct tsr_texture_stats){ 0 };
		ktap_eq(units_run(u, 20, UNITS_ALL_LANES), TSR_STEP_DONE);
		ktap_eq(tsr_texture_counted(u->textures)->touches, step[n].touches);
		ktap_eq(tsr_texture_counted(u->textures)->fills, step[n].fills);
	}
}

/* More blocks, and more views, than there is room for. */
static void test_crowded(void)
{
	struct tex t = pyramid(256);
	struct tex_sampler s = { .wrap = { 8, 8, 8 }, .normalized = true, .min_nearest = true,
				 .mag_nearest = true, .mip = 1, .max_lod = 0x1fff };

	tex_fill(&t, t.at[t.levels - 1]);
	for (unsigned int i = 0; i < 128; i++) {
		t.swizzle[0] = i % 4 == 3 ? 3 : 0;
		tex_write(&t, i);
	}
	tex_write_sampler(&s, 0);
	units_insn(u, TSR_OP_ADD_TEXS_2D_F32);
	for (unsigned int n = 0; n < 6000; n++) {
		double want[4];

		u->insn.imm[TSR_IMM_TEXTURE_INDEX] = tex_random() % 128;
		u->insn.imm[TSR_IMM_SAMPLER_INDEX] = 0;
		for (unsigned int l = 0; l < 16; l++) {
			u->src[0].u[l] = as_bits((tex_random() % 256 + 0.5) / 256);
			u->src[1].u[l] = as_bits((tex_random() % 256 + 0.5) / 256);
		}
		ktap_eq(units_run(u, 20, UNITS_ALL_LANES), TSR_STEP_DONE);
		for (unsigned int l = 0; l < 16; l++) {
			int x = (int)(u->src[0].f[l] * 256), y = (int)(u->src[1].f[l] * 256);
			bool one = u->insn.imm[TSR_IMM_TEXTURE_INDEX] % 4 == 3;

			tex_decode(&t, tex_address(&t, 0, 0, 0, x, y, 0), want);
			if (!ktap_ok(fabs(units_reg(u, 20)->f[l] - (one ? 1 : want[0])) < 1e-6))
				return;
		}
	}
}

/* Texels of number @place of 32 blocks whose tiles have two places in the L1's window. */
static void use_block(unsigned int lane, unsigned int place)
{
	u->src[0].u[lane] = as_bits((place % 4 * 64 + tex_random() % 4 + 0.5) / 256);
	u->src[1].u[lane] = as_bits((place / 4 * 32 + tex_random() % 4 + 0.5) / 256);
}

/* Blocks come in while others with the same place are in use: these stay. */
static void test_conflicts(void)
{
	struct tex t = pyramid(256);
	struct tex_sampler s = { .wrap = { 8, 8, 8 }, .normalized = true, .min_nearest = true,
				 .mag_nearest = true, .mip = 1, .max_lod = 0x1fff };

	tex_fill(&t, t.at[t.levels - 1]);
	tex_write(&t, 0);
	tex_write_sampler(&s, 0);
	units_insn(u, TSR_OP_ADD_TEXS_2D_F32);
	for (unsigned int n = 0; n < 2000; n++) {
		units_stop(u);
		for (unsigned int warp = 0; warp < 3; warp++) {
			/* three blocks, a fourth, then this one and any others */
			for (unsigned int l = 0; l < 16; l++)
				use_block(l, warp == 0 ? 1 + l % 3 : warp == 1 || !l ? 0
							: 4 + tex_random() % 28);
			ktap_eq(units_run(u, 20, UNITS_ALL_LANES), TSR_STEP_DONE);
			for (unsigned int l = 0; l < 16; l++) {
				int x = (int)(u->src[0].f[l] * 256);
				int y = (int)(u->src[1].f[l] * 256);
				double want[4];

				tex_decode(&t, tex_address(&t, 0, 0, 0, x, y, 0), want);
				if (!ktap_ok(fabs(units_reg(u, 20)->f[l] - want[0]) < 1e-6))
					return;
			}
		}
	}
}

/* Texels with and without the sRGB curve, for two samplers. */
static void test_srgb(void)
{
	struct tex t = pyramid(64);
	struct tex_sampler s = { .wrap = { 8, 8, 8 }, .normalized = true, .min_nearest = true,
				 .mag_nearest = true, .mip = 1, .max_lod = 0x1fff };

	tex_fill(&t, t.at[t.levels - 1]);
	t.srgb = true;
	tex_write(&t, 0);
	tex_write_sampler(&s, 0);
	s.linear = true;
	tex_write_sampler(&s, 1);
	u->textures->stats = (struct tsr_texture_stats){ 0 };
	units_insn(u, TSR_OP_ADD_TEXS_2D_F32);
	for (unsigned int n = 0; n < 200; n++) {
		u->insn.imm[TSR_IMM_SAMPLER_INDEX] = n % 2;
		t.srgb = n % 2 == 0;
		for (unsigned int l = 0; l < 16; l++) {
			u->src[0].u[l] = as_bits((l + 0.5) / 64);
			u->src[1].u[l] = as_bits((n / 2 % 64 + 0.5) / 64);
		}
		ktap_eq(units_run(u, 20, UNITS_ALL_LANES), TSR_STEP_DONE);
		for (unsigned int l = 0; l < 16; l++) {
			double want[4];

			tex_decode(&t, tex_address(&t, 0, 0, 0, (int)l, (int)(n / 2 % 64), 0),
				   want);
			if (!ktap_ok(fabs(units_reg(u, 20)->f[l] - want[0]) < 1e-6))
				return;
		}
	}
	/* 4 by 16 blocks came in decoded, once more as they are, and never again */
	ktap_eq(tsr_texture_counted(u->textures)->fills, 2 * 64);
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	ktap_run("[TEX7] INV_READ and invalidations of the address space, and nothing else",
		 test_forgets);
	ktap_run("[TEX7] counters of caches count on request", test_requested);
	ktap_run("[TEX7] a monitor counts both levels as a deterministic device does",
		 test_monitor);
	ktap_run("[TEX9] a warp that waits for texels yields to another", test_latency);
	u = units_new(0);
	tex_units = u;
	ktap_run("[TEX7] 1.25 texels and 0.08 blocks a sample on a coherent scene", test_scene);
	ktap_run("[TEX7] texels, blocks and lines are counted once", test_exact);
	ktap_run("[TEX7] texels of whole levels are counted once", test_used_up);
	ktap_run("[TEX7] counting begins with an empty cache", test_counting);
	ktap_run("[TEX7] more blocks and descriptors than are kept", test_crowded);
	ktap_run("[TEX7] blocks in use stay", test_conflicts);
	ktap_run("[TEX7] decoded and linear texels of one texture", test_srgb);
	units_free(u);
	return ktap_finish();
}
