/* SPDX-License-Identifier: MIT */
/*
 * test: TIMEOUT=240 TSAN=0
 *
 * The sampler against its definition: messages of bundles on every SIMD path, and the same messages
 * lane by lane without a texture cache. Registers, costs and counted samples must be the same, bit
 * for bit. The test walks all types of texture, operations, classes of formats, wrap modes and
 * filters; everything else is random.
 */
#include <math.h>
#include <string.h>

#include "ktap.h"
#include "shader/stage.h"
#include "simd/simd.h"
#include "texture/sampler.h"
#include "texture_ref.h"

#define STAGING 16
#define STAGED 12			/* most operands that are staged */
#define WARPS TSR_BUNDLE_WARPS

static struct units *u;
static unsigned int messages, together;

/* A class of formats, and where its texels come from. */
struct class {
	const char *name;
	unsigned int format;
	bool srgb;
	unsigned int block;		/* bytes of a compressed block, 0: not compressed */
};

static const struct class classes[] = {
	{ "bytes", TSR_PIXEL_FORMAT_RGBA8_UNORM, false, 0 },
	{ "one byte", TSR_PIXEL_FORMAT_R8_UNORM, false, 0 },
	{ "sRGB", TSR_PIXEL_FORMAT_RGBA8_UNORM, true, 0 },
	{ "packed", TSR_PIXEL_FORMAT_RGB10_A2_UNORM, false, 0 },
	{ "signed", TSR_PIXEL_FORMAT_RGBA16_SNORM, false, 0 },
	{ "halves", TSR_PIXEL_FORMAT_RGBA16F, false, 0 },
	{ "floats", TSR_PIXEL_FORMAT_RGBA32F, false, 0 },
	{ "one float", TSR_PIXEL_FORMAT_R32F, false, 0 },
	{ "depth", TSR_PIXEL_FORMAT_R16_UNORM, false, 0 },
	{ "unsigned", TSR_PIXEL_FORMAT_RGBA8UI, false, 0 },
	{ "signed integers", TSR_PIXEL_FORMAT_RGBA32I, false, 0 },
	{ "compressed bytes", TSR_PIXEL_FORMAT_BC7_UNORM, false, 16 },
	{ "compressed floats", TSR_PIXEL_FORMAT_BC6H_SF16, false, 16 },
	{ "compressed sRGB", TSR_PIXEL_FORMAT_BC1_UNORM, true, 8 },
};

/* An operation with its mode, as in a texture word. */
struct operation {
	const char *name;
	unsigned int operation, mode;
};

static const struct operation operations[] = {
	{ "computed", TSR_TEXTURE_OPERATION_SAMPLE, TSR_TEXTURE_LOD_COMPUTED },
	{ "bias", TSR_TEXTURE_OPERATION_SAMPLE, TSR_TEXTURE_LOD_BIAS },
	{ "explicit", TSR_TEXTURE_OPERATION_SAMPLE, TSR_TEXTURE_LOD_EXPLICIT },
	{ "zero", TSR_TEXTURE_OPERATION_SAMPLE, TSR_TEXTURE_LOD_ZERO },
	{ "gradient", TSR_TEXTURE_OPERATION_SAMPLE, TSR_TEXTURE_LOD_GRADIENT },
	{ "fetch", TSR_TEXTURE_OPERATION_FETCH, TSR_TEXTURE_FETCH_TEXEL },
	{ "gather red", TSR_TEXTURE_OPERATION_FETCH, TSR_TEXTURE_FETCH_GATHER_R },
	{ "gather alpha", TSR_TEXTURE_OPERATION_FETCH, TSR_TEXTURE_FETCH_GATHER_A },
	{ "derivatives of quads", TSR_TEXTURE_OPERATION_GRADIENT, 0 },
	{ "derivatives of lanes", TSR_TEXTURE_OPERATION_GRADIENT_EXPLICIT, 0 },
};

static const unsigned int wraps[] = {
	TSR_WRAP_MODE_REPEAT, TSR_WRAP_MODE_CLAMP_TO_EDGE, TSR_WRAP_MODE_CLAMP_TO_BORDER,
	TSR_WRAP_MODE_MIRRORED_REPEAT, TSR_WRAP_MODE_MIRRORED_CLAMP_TO_EDGE,
	TSR_WRAP_MODE_MIRRORED_CLAMP_TO_BORDER,
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
#define FILTERS 4

/* ---- Textures and samplers ------------------------------------------------------------------- */

/* Blocks of @bytes bytes lie where they are aligned; there is always memory, whatever it holds. */
static void compress(struct tex *t, unsigned int format, unsigned int bytes)
{
	t->format = format;
	for (unsigned int i = 0; i < COUNT(t->at); i++)
		t->at[i] &= -bytes;
	for (unsigned int l = 0; l < t->levels; l++) {
		t->row[l] &= -bytes;
		t->slice[l] &= -bytes;
	}
	for (unsigned int i = 0; i < UNITS_DATA_SIZE - 0x1000; i += 4) {
		uint32_t v = tex_random() ^ tex_random() << 16;

		memcpy(u->data + i, &v, sizeof(v));
	}
}

static struct tex make_texture(unsigned int dim, const struct class *class)
{
	struct tex t = tex_make(dim, class->block ? TSR_PIXEL_FORMAT_RGBA8_UNORM : class->format);

	if (class->block)
		compress(&t, class->format, class->block);
	t.srgb = class->srgb;
	t.corners = tex_random() % 8 == 0;
	for (unsigned int i = 0; i < 4; i++)
		t.swizzle[i] = tex_random() % 2 ? i : tex_random() % 6;
	/* numbers that are infinite or none, too */
	for (unsigned int i = 0; i < 64 && tex_random() % 4 == 0 && t.bpp >= 8; i++) {
		uint32_t odd = tex_random() % 2 ? 0x7f800000 : tex_random() << 8;

		memcpy(u->data + tex_random() % 0x800 * 4, &odd, sizeof(odd));
	}
	return t;
}

static struct tex_sampler make_sampler(const struct tex *t, unsigned int wrap, unsigned int filter)
{
	struct tex_sampler s = tex_make_sampler(t);

	for (unsigned int d = 0; d < 3; d++)
		s.wrap[d] = d && tex_random() % 2 ? wraps[tex_random() % COUNT(wraps)] : wrap;
	s.mag_nearest = filter == 0 || (filter == 3 && tex_random() % 2);
	s.min_nearest = s.mag_nearest ^ (filter == 3);
	s.mip = filter == 2 ? TSR_MIPMAP_MODE_LINEAR : tex_random() % 4;
	s.anisotropy = tex_random() % 4 ? 1 : 1 + tex_random() % 16;
	s.linear = t->srgb && tex_random() % 3 == 0;
	s.clamp_layer = tex_random() % 2;
	s.compare = tex_random() % 8;
	return s;
}

/* ---- Messages -------------------------------------------------------------------------------- */

struct message {
	union tsr_lanes src[3][WARPS], staged[STAGED][WARPS], result[STAGED][WARPS];
	uint16_t lanes[WARPS];
	unsigned int warps;
	enum tsr_step step;
	struct tsr_msg_cost cost;
	uint64_t samples;
};

/* Texels of level 0 that 1 is of coordinate @d. */
static double unit_of(const struct tex *t, const struct tex_sampler *s, unsigned int d)
{
	const unsigned int n[3] = { t->w, t->h, t->d };

	return s->normalized || t->dim == TEX_CUBE ? n[d] : 1;
}

static uint32_t odd_number(void)
{
	static const uint32_t odd[] = {
		0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345, 0x7f812345, 0x80000000, 1,
		0x80000001,
		0x4b7fffff, 0xcb800000, 0x7149f2ca, 0xf149f2ca, 0x4a800000, 0xca7fffff,
	};

	return tex_random() % 4 ? odd[tex_random() % COUNT(odd)] : tex_random() << 6;
}

/* Coordinate @d of all lanes in texels: near each other, or anywhere, a few of them odd numbers. */
static void coordinate(union tsr_lanes out[WARPS], const struct tex *t, const struct tex_sampler *s,
		       unsigned int d, bool whole)
{
	const unsigned int n[3] = { t->w, t->h, t->d };
	const double range = t->dim == TEX_CUBE ? 1 : 4, from = range > 1 ? -1.5 : 0;
	const double step[2] = { (tex_unit() - 0.5) * exp2(tex_unit() * 8 - 6),
				 (tex_unit() - 0.5) * exp2(tex_unit() * 8 - 6) };
	const double base = (tex_unit() * range + from) * n[d];
	const bool near = tex_random() % 4, odd = tex_random() % 8 == 0;

	for (unsigned int i = 0; i < WARPS * 16; i++) {
		unsigned int x = i / 64 * 8 + i / 4 % 4 * 2 + i % 2, y = i / 16 % 4 * 2 + i / 2 % 2;
		double c = base + x * step[0] + y * step[1];
		uint32_t *word = &out[i / 16].u[i % 16];

		if (!near)
			c = (tex_unit() * range + from) * n[d];
		*word = whole ? (uint32_t)(int32_t)floor(c) : as_bits(c / unit_of(t, s, d));
		if (odd && tex_random() % 8 == 0)
			*word = whole ? tex_random() << 6 : odd_number();
	}
}

static void same_in_all(union tsr_lanes out[WARPS], uint32_t word)
{
	for (unsigned int i = 0; i < WARPS * 16; i++)
		out[i / 16].u[i % 16] = word;
}

/* A word of each lane by @random, mostly the same in all. */
static void words(union tsr_lanes out[WARPS], uint32_t (*random)(const struct tex *t),
		  const struct tex *t)
{
	const bool same = tex_random() % 3;

	same_in_all(out, random(t));
	for (unsigned int i = 0; i < WARPS * 16 && !same; i++)
		out[i / 16].u[i % 16] = random(t);
}

static uint32_t random_lod(const struct tex *t)
{
	(void)t;
	return ((tex_random() % 1500 - 300) & 0xffff) | (tex_random() % 300) << 16;
}

static uint32_t random_level(const struct tex *t)
{
	return (tex_random() % (t->levels + 1)) << 8 | (tex_random() % 8) << 16;
}

static uint32_t random_axis(const struct tex *t)
{
	(void)t;
	return (tex_random() & 0xb3ffb3ff) | 0x20002000;
}

static uint32_t random_reference(const struct tex *t)
{
	(void)t;
	return tex_random() % 8 ? as_bits(tex_unit() * 1.4 - 0.2) : odd_number();
}

static uint32_t random_layer(const struct tex *t)
{
	return tex_random() % (t->layers + 1);
}

static uint32_t random_offset(const struct tex *t)
{
	(void)t;
	return tex_random() % 4 ? (tex_random() & 0x070707) | (tex_random() % 2 ? 0xf80000 : 0)
				: tex_random() & 0xffffff;
}

/* Which indices are staged: as in a texture word that has none. */
static unsigned int stage_indices(struct message *m, unsigned int *n)
{
	const unsigned int index = tex_random() % 4;

	for (unsigned int i = 0; i < (index == TSR_TEXTURE_INDEX_SHARED ? 0 :
				      index == TSR_TEXTURE_INDEX_STAGED ? 2u : 1u); i++)
		same_in_all(m->staged[(*n)++], 0);
	return index | 3 << 2;
}

/* Operands and texture words of an operation. */
static void make_message(struct message *m, const struct tex *t, const struct tex_sampler *s,
			 const struct operation *op)
{
	static const unsigned int results[] = { 4, 4, 4, 0, 1, 2, 3, 5, 6, 7, 12, 13, 14, 15 };
	const bool explicit = op->operation == TSR_TEXTURE_OPERATION_GRADIENT_EXPLICIT;
	const bool gradient = explicit || op->operation == TSR_TEXTURE_OPERATION_GRADIENT;
	const bool texel = op->operation == TSR_TEXTURE_OPERATION_FETCH &&
			   op->mode == TSR_TEXTURE_FETCH_TEXEL;
	const bool array = t->dim != TEX_3D && tex_random() % 3 == 0;
	const bool shadow = tex_random() % 3 == 0, offset = tex_random() % 3 == 0;
	const unsigned int axes = t->dim == TEX_CUBE ? 2 : t->dim;
	const unsigned int mask = tex_random() % 2 ? 15 : tex_random() % 16;
	unsigned int n = 0, index = 0;
	uint32_t word = op->operation << 12 | (uint32_t)offset << 15 | (uint32_t)shadow << 16 |
			(uint32_t)array << 17 | t->dim << 18 | op->mode << 20 |
			results[tex_random() % COUNT(results)] << 24 | mask << 28;

	for (unsigned int d = 0; d < 2; d++)
		coordinate(m->src[d], t, s, d < axes ? d : 0, texel);
	for (unsigned int i = 0; i < WARPS * 16 && t->dim == TEX_CUBE && !texel && !explicit; i++) {
		uint32_t *c = &m->src[0][i / 16].u[i % 16];
		unsigned int face = i % 64 && tex_random() % 4 ? m->src[0][0].u[0] >> 29
							       : tex_random() % 8;

		*c = (*c & 0x1fffffff) | face << 29;
	}
	if (t->dim == TEX_3D)
		coordinate(m->staged[n++], t, s, 2, texel);
	for (unsigned int d = 0; d < axes && explicit; d++)
		coordinate(m->staged[n++], t, s, d, false);
	if (op->operation == TSR_TEXTURE_OPERATION_FETCH)
		words(m->staged[n++], random_level, t);
	else if (!gradient && op->mode <= TSR_TEXTURE_LOD_BIAS)
		words(m->staged[n++], random_lod, t);
	if (op->operation == TSR_TEXTURE_OPERATION_SAMPLE && op->mode == TSR_TEXTURE_LOD_GRADIENT)
		words(m->staged[n++], random_axis, t);
	if (shadow && !gradient)
		words(m->staged[n++], random_reference, t);
	if (array)
		words(m->staged[n++], random_layer, t);
	if (offset && !gradient)
		words(m->staged[n++], random_offset, t);
	if (tex_random() % 4)
		word |= 1 << 11;
	else
		index = stage_indices(m, &n);
	for (; n < STAGED; n++)
		same_in_all(m->staged[n], tex_random());
	same_in_all(m->src[2], word | index);
	m->warps = 1 + tex_random() % WARPS;
	for (unsigned int w = 0; w < m->warps; w++)
		m->lanes[w] = tex_random() % 4 ? 0xffff : tex_random() | 1u << tex_random() % 16;
}

/* Run @m: with caches, if @path is not NULL, of that path. */
static void run(struct message *m, const struct tsr_texture_path *path, bool cache)
{
	uint8_t warp[WARPS];
	struct tsr_msg_place place[WARPS] = { { u->group, u->env.scratch } };
	struct tsr_msg_bundle b = {
		.insn = &u->insn, .src = { m->src[0], m->src[1], m->src[2] },
		.src_step = { 1, 1, 1 }, .reg = u->reg, .staging = STAGING, .warps = m->warps,
		.warp = warp, .lanes = m->lanes, .place = place,
	};
	uint64_t *counted = &u->mem.thread->path[TSR_PATH_MESSAGES_TOGETHER];
	const uint64_t before = *counted, samples = tsr_texture_counted(u->textures)->samples;
	unsigned int at = 0;

	units_insn(u, TSR_OP_ADD_TEXC);
	u->textures->off = !cache;
	u->textures->path = path;
	for (unsigned int w = 0; w < WARPS; w++) {
		warp[w] = (uint8_t)w;
		place[w] = place[0];
	}
	for (unsigned int i = 0; i < STAGED; i++)
		memcpy(&u->reg[(STAGING + i) * WARPS], m->staged[i], sizeof(m->staged[i]));
	u->env.cost = (struct tsr_msg_cost){ 0 };
	m->step = tsr_msg_run_bundle(&u->env, &b, &at);
	m->cost = u->env.cost;
	m->samples = tsr_texture_counted(u->textures)->samples - samples;
	for (unsigned int i = 0; i < STAGED; i++)
		memcpy(m->result[i], &u->reg[(STAGING + i) * WARPS], sizeof(m->result[i]));
	if (path && cache) {
		messages += m->warps;
		together += (unsigned int)(*counted - before);
	}
}

static bool same(const struct message *is, const struct message *want)
{
	if (!ktap_eq(want->step, TSR_STEP_DONE) || !ktap_eq(is->step, TSR_STEP_DONE))
		return false;
	for (unsigned int i = 0; i < STAGED * WARPS * 16; i++) {
		unsigned int n = i / 16 / WARPS, w = i / 16 % WARPS, l = i % 16;

		if (is->result[n][w].u[l] != want->result[n][w].u[l])
			return ktap_fail("warp %u lane %u register %u: %08x, lane by lane %08x", w,
					 l, n, is->result[n][w].u[l], want->result[n][w].u[l]);
	}
	return ktap_eq(is->samples, want->samples) &
	       ktap_eq(is->cost.read_bytes, want->cost.read_bytes) &
	       ktap_eq(is->cost.cycles, want->cost.cycles) &
	       ktap_eq(is->cost.done, want->cost.done);
}

static void describe(const struct message *m, const struct tex *t, const struct tex_sampler *s)
{
	ktap_note("word %08x, %u warps", m->src[2][0].u[0], m->warps);
	ktap_note("dim %u %ux%ux%u levels %u layers %u tiled %u corners %u swizzle %u%u%u%u",
		  t->dim, t->w, t->h, t->d, t->levels, t->layers, t->tiled, t->corners,
		  t->swizzle[0], t->swizzle[1], t->swizzle[2], t->swizzle[3]);
	ktap_note("wrap %u %u %u near %u %u mip %u normalized %u seamless %u linear %u aniso %u "
		  "compare %u", s->wrap[0], s->wrap[1], s->wrap[2], s->mag_nearest, s->min_nearest,
		  s->mip, s->normalized, s->seamless, s->linear, s->anisotropy, s->compare);
}

/* One message on all paths; returns false if some result differs. */
static bool try(unsigned int dim, const struct operation *op, const struct class *class,
		unsigned int wrap, unsigned int filter)
{
	static const char *const names[] = { "sse2", "avx2", "avx512" };
	struct tex t = make_texture(dim, class);
	struct tex_sampler s = make_sampler(&t, wrap, filter);
	static struct message m, want;

	tex_write(&t, 0);
	tex_write_sampler(&s, 0);
	make_message(&m, &t, &s, op);
	run(&m, NULL, false);
	want = m;
	for (unsigned int i = 0; i < COUNT(names); i++) {
		const struct tsr_simd *simd = tsr_simd_named(names[i]);

		if (!simd)
			continue;
		/* with empty caches, then with full ones */
		units_stop(u);
		for (unsigned int again = 0; again < 2; again++) {
			run(&m, simd->texture, true);
			if (same(&m, &want))
				continue;
			ktap_note("%s, %s, %s, wrap %u, filter %u, time %u", names[i], op->name,
				  class->name, wrap, filter, again);
			describe(&m, &t, &s);
			return false;
		}
	}
	return true;
}

static void walk(unsigned int dim)
{
	for (unsigned int i = 0; i < COUNT(operations) * COUNT(classes) * COUNT(wraps) * FILTERS;
	     i++) {
		const struct operation *op = &operations[i % COUNT(operations)];
		const struct class *class = &classes[i / COUNT(operations) % COUNT(classes)];
		const unsigned int rest = (unsigned int)(i / COUNT(operations) / COUNT(classes));

		if (class->block && dim == TEX_1D)
			continue;
		if (!try(dim, op, class, wraps[rest % COUNT(wraps)], rest / COUNT(wraps)))
			return;
	}
}

static void test_1d(void)
{
	walk(TEX_1D);
}

static void test_2d(void)
{
	walk(TEX_2D);
}

static void test_3d(void)
{
	walk(TEX_3D);
}

static void test_cube(void)
{
	walk(TEX_CUBE);
}

/* The sampler does all of it: what it refuses is none of the above. */
static void test_together(void)
{
	ktap_note("%u of %u warps together", together, messages);
	ktap_ok(messages > 1000 && together == messages);
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	u = units_new(0);
	tex_units = u;
	ktap_run("[TEX3] [TEX6] all operations on 1D textures are as defined", test_1d);
	ktap_run("[TEX3] [TEX6] all operations on 2D textures are as defined", test_2d);
	ktap_run("[TEX3] [TEX6] all operations on 3D textures are as defined", test_3d);
	ktap_run("[TEX3] [TEX6] all operations on cube maps are as defined", test_cube);
	ktap_run("[TEX6] no message of these goes lane by lane", test_together);
	units_free(u);
	return ktap_finish();
}
