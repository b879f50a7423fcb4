/* SPDX-License-Identifier: MIT */
/*
 * test: TSAN=0
 *
 * Textures with tags next to plain ones that have the same texels: every fetch and every filtered
 * sample has the same bits. The test compresses by itself, with planes of its own arithmetic.
 */
#include <string.h>

#include "ktap.h"
#include "texture_ref.h"
#include "tsr_packets.h"

#define PLAIN 0u			/* in the data: texels as they are */
#define PACKED 0x18000u			/* texels as tags say */
#define TAGS 0x38000u
#define STATE 0x3a000u
#define PACKED_SURFACES (UNITS_SURFACES + 0x1000)
#define BYTES_MAX 0x18000u

static struct units *u;

/* A texture in both forms: number 0 is plain, number 1 has tags. */
struct pair {
	struct tex plain, packed;
	uint8_t clear[16];
	bool planes;			/* the bit of TAG_STATE */
	bool cube;			/* its six layers are faces */
	unsigned int seen[5];		/* blocks by their tag; the last: a tag that is none */
};

static unsigned int blocks(unsigned int texels)
{
	return (texels + 7) / 8;
}

static uint8_t *texel(const struct tex *t, unsigned int layer, unsigned int sample, unsigned int x,
		      unsigned int y)
{
	return u->data + tex_address(t, 0, layer, sample, (int)x, (int)y, 0);
}

static void set_rows(struct tex *t)
{
	t->row[0] = t->tiled ? (t->w + 15) / 16 * 256 * t->bpp : (t->w * t->bpp + 63) & ~63u;
	t->slice[0] = t->row[0] * (t->tiled ? (t->h + 15) / 16 : t->h);
}

/* A texture of one level at @at, of random size and layout. */
static struct tex any_texture(unsigned int format, unsigned int bpp)
{
	struct tex t = { .dim = TEX_2D, .format = format, .d = 1, .levels = 1, .layers = 1,
			 .samples = 1, .swizzle = { 0, 1, 2, 3 }, .max_lod = 0x1fff, .bpp = bpp };

	t.w = 1 + tex_random() % 30;
	t.h = 1 + tex_random() % 30;
	t.tiled = tex_random() % 2;
	if (tex_random() % 2)
		t.samples = 1u << tex_random() % 3;
	else
		t.layers = 1 + tex_random() % 3;
	set_rows(&t);
	return t;
}

static void place(struct tex *t, uint32_t at)
{
	for (unsigned int i = 0; i < t->layers * t->samples; i++)
		t->at[i] = at + i * t->slice[0];
}

/* Planes with random words: texels to the plain texture, words to the other one. */
static void fill_planes(struct pair *p, unsigned int layer, unsigned int sample, unsigned int bx,
			unsigned int by)
{
	uint32_t word[11];

	for (unsigned int i = 0; i < 11; i++) {
		word[i] = tex_random() << 16 ^ tex_random();
		if (i == 1 || i == 2)
			word[i] = (uint32_t)((int32_t)word[i] >> tex_random() % 24);
		memcpy(texel(&p->packed, layer, sample, bx + i % 8, by + i / 8), &word[i], 4);
	}
	for (int y = 0; y < 8; y++) {
		for (int x = 0; x < 8; x++) {
			const int64_t steps = (int64_t)(int32_t)word[1] * x +
					      (int64_t)(int32_t)word[2] * y;
			/* rounded down */
			const int64_t moved = (steps - ((steps % 256 + 256) % 256)) / 256;
			int residue = (int)(word[3 + y] >> 4 * x) & 15;
			uint32_t depth;

			residue -= residue > 7 ? 16 : 0;
			depth = word[0] + (uint32_t)moved + (uint32_t)residue;
			memcpy(texel(&p->plain, layer, sample, bx + (unsigned int)x,
				     by + (unsigned int)y), &depth, 4);
		}
	}
}

/* The texels of a block of both, after the packed one's are random. */
static void fill_block(struct pair *p, unsigned int layer, unsigned int bx, unsigned int by,
		       unsigned int tag)
{
	for (unsigned int s = 0; s < p->plain.samples; s++) {
		for (unsigned int n = 0; n < 64; n++) {
			const unsigned int from_s = tag == TSR_TARGET_TAG_UNIFORM ? 0 : s;
			const unsigned int x = bx + n % 8, y = by + n / 8;
			const uint8_t *from;

			if (x >= p->plain.w || y >= p->plain.h)
				continue;
			from = tag == TSR_TARGET_TAG_CLEAR ? p->clear :
			       texel(&p->packed, layer, from_s, x, y);
			memcpy(texel(&p->plain, layer, s, x, y), from, p->plain.bpp);
		}
		if (tag == TSR_TARGET_TAG_PLANES)
			fill_planes(p, layer, s, bx, by);
	}
}

/* A tag, and which of them it means in the block. */
static unsigned int any_tag(const struct pair *p, unsigned int bx, unsigned int by, uint8_t *byte)
{
	const bool whole = bx + 8 <= p->plain.w && by + 8 <= p->plain.h;

	*byte = tex_random() % 5;
	if (*byte == 4)
		*byte += tex_random() % 250;
	if (*byte == TSR_TARGET_TAG_PLANES && !(p->planes && whole && p->plain.bpp == 4))
		return TSR_TARGET_TAG_RAW;
	return *byte > TSR_TARGET_TAG_PLANES ? TSR_TARGET_TAG_RAW : *byte;
}

static void fill(struct pair *p)
{
	const unsigned int columns = blocks(p->plain.w), rows = blocks(p->plain.h);

	for (unsigned int i = 0; i < BYTES_MAX; i++)
		u->data[PACKED + i] = (uint8_t)tex_random();
	for (unsigned int i = 0; i < 16; i++)
		p->clear[i] = (uint8_t)tex_random();
	for (unsigned int i = 0; i < p->plain.layers * rows * columns; i++) {
		const unsigned int bx = i % columns * 8, by = i / columns % rows * 8;
		uint8_t byte;
		unsigned int tag = any_tag(p, bx, by, &byte);

		u->data[TAGS + i] = byte;
		fill_block(p, i / columns / rows, bx, by, tag);
		p->seen[byte > 3 ? 4 : byte]++;
	}
	memcpy(u->data + STATE, p->clear, 16);
	/* other bits are not looked at */
	memset(u->data + STATE + 16, 0xfe | p->planes, 8);
	if (!p->planes)
		u->data[STATE + 16] = 0xfe;
}

/* Write the descriptors of both; the surfaces of the packed one lie after the others. */
static void write_pair(struct pair *p)
{
	const unsigned int surfaces = p->plain.layers * p->plain.samples;
	const uint64_t tags[2] = { UNITS_DATA + TAGS, UNITS_DATA + STATE };
	uint64_t *q;

	tex_write(&p->packed, 1);
	memcpy(units_table(u, PACKED_SURFACES), units_table(u, UNITS_SURFACES), 16 * surfaces);
	memcpy(units_table(u, PACKED_SURFACES + 16 * surfaces), tags, sizeof(tags));
	q = units_table(u, UNITS_TEXTURES + 32);
	q[2] = PACKED_SURFACES;
	q[3] |= 1 << 16;
	tex_write(&p->plain, 0);
	for (unsigned int i = 0; i < 2 && p->cube; i++) {
		q = units_table(u, UNITS_TEXTURES + 32 * i);
		q[0] ^= (TEX_2D ^ TEX_CUBE) << 4;
		q[3] &= ~0xffffull;
	}
}

/* Image @n: attribute n, entries 3n to 3n + 2 of the buffers. */
static void write_image(const struct tex *t, unsigned int n, bool tagged)
{
	const uint64_t attribute = 3 * n | (uint64_t)t->format << 22;
	const uint64_t entry[6] = {
		(t->tiled ? 6 : 5) | (UNITS_DATA + t->at[0]),
		t->bpp | (uint64_t)t->layers * t->slice[0] << 32,
		32 | tagged << 6 | (uint64_t)(t->w - 1) << 16 | (uint64_t)(t->h - 1) << 32 |
			(uint64_t)(t->layers - 1) << 48,
		t->row[0] | (uint64_t)t->slice[0] << 32,
		32 | (UNITS_DATA + STATE),
		UNITS_DATA + TAGS,
	};

	memcpy(units_table(u, UNITS_ATTRIBUTES + 8 * n), &attribute, sizeof(attribute));
	memcpy(units_table(u, UNITS_BUFFERS + 48 * n), entry, sizeof(entry));
}

/* Some textures are lines of texels, some are cubes. */
static void change_dimension(struct pair *p)
{
	struct tex *t = &p->plain;

	switch (tex_random() % 6) {
	case 0:
		t->dim = TEX_1D;
		t->h = 1;
		return;
	case 1:
		p->cube = true;
		t->samples = 1;
		t->layers = 6;
		t->w = t->h = 1 + tex_random() % 20;
		set_rows(t);
		return;
	}
}

static struct pair any_pair(unsigned int format, unsigned int bpp)
{
	struct pair p = { .plain = any_texture(format, bpp), .planes = tex_random() % 2 };

	change_dimension(&p);
	p.packed = p.plain;
	place(&p.plain, PLAIN);
	place(&p.packed, PACKED);
	fill(&p);
	write_pair(&p);
	write_image(&p.plain, 0, false);
	write_image(&p.packed, 1, true);
	return p;
}

/* A pair of textures with one sample. */
static struct pair any_single(unsigned int format, unsigned int bpp)
{
	struct pair p;

	do
		p = any_pair(format, bpp);
	while (p.plain.samples > 1);
	return p;
}

static const struct {
	unsigned int format, bpp;
} formats[] = {
	{ TSR_PIXEL_FORMAT_R8_UNORM, 1 }, { TSR_PIXEL_FORMAT_RGBA8_UNORM, 4 },
	{ TSR_PIXEL_FORMAT_R32F, 4 }, { TSR_PIXEL_FORMAT_Z24X8_UNORM, 4 },
	{ TSR_PIXEL_FORMAT_R32UI, 4 }, { TSR_PIXEL_FORMAT_RGB565, 2 },
	{ TSR_PIXEL_FORMAT_RGBA16F, 8 }, { TSR_PIXEL_FORMAT_RGBA32UI, 16 },
};

/* Samples of texture 0 and then 1 of the same places: the registers that are returned. */
static bool same(const struct pair *p, void (*run)(const struct pair *p, unsigned int index))
{
	uint32_t got[2][4][16];

	for (unsigned int i = 0; i < 2; i++) {
		run(p, i);
		for (unsigned int c = 0; c < 4; c++)
			memcpy(got[i][c], units_reg(u, 20 + c)->u, sizeof(got[i][c]));
	}
	return ktap_mem_eq(got[1], got[0], sizeof(got[0])) ||
	       ktap_fail("format %u, %u by %u, samples %u, layers %u, tiled %u", p->plain.format,
			 p->plain.w, p->plain.h, p->plain.samples, p->plain.layers,
			 p->plain.tiled);
}

static uint32_t at[4][16];		/* coordinates of lanes, layer, sample */

static void ask_fetch(const struct pair *p, unsigned int index)
{
	const bool integer = tex_is_integer(p->plain.format);

	units_insn(u, TSR_OP_ADD_TEXC);
	for (unsigned int l = 0; l < 16; l++) {
		u->src[0].u[l] = at[0][l];
		u->src[1].u[l] = at[1][l];
		u->src[2].u[l] = index << 4 | 1u << 11 | TSR_TEXTURE_OPERATION_FETCH << 12 |
				 1u << 15 | 1u << 17 |
				 (p->cube ? (uint32_t)TEX_CUBE : p->plain.dim) << 18 |
				 TSR_TEXTURE_FETCH_TEXEL << 20 |
				 (integer ? TSR_TEXTURE_RESULT_U32 : TSR_TEXTURE_RESULT_F32) << 24 |
				 0xfu << 28;
		units_reg(u, 20)->u[l] = p->cube ? at[2][l] << 16 : 0;
		units_reg(u, 21)->u[l] = p->cube ? 0 : at[2][l];
		units_reg(u, 22)->u[l] = at[3][l] << 24;
	}
}

static void fetch(const struct pair *p, unsigned int index)
{
	ask_fetch(p, index);
	ktap_eq(units_run(u, 20, UNITS_ALL_LANES), TSR_STEP_DONE);
}

static void test_fetch(void)
{
	unsigned int seen[5] = { 0 };

	for (unsigned int n = 0; n < 160; n++) {
		const unsigned int f = n % (sizeof(formats) / sizeof(formats[0]));
		struct pair p = any_pair(formats[f].format, formats[f].bpp);

		for (unsigned int i = 0; i < 40; i++) {
			for (unsigned int l = 0; l < 16; l++) {
				at[0][l] = tex_random() % p.plain.w;
				at[1][l] = tex_random() % p.plain.h;
				at[2][l] = tex_random() % p.plain.layers;
				at[3][l] = tex_random() % p.plain.samples;
			}
			if (!same(&p, fetch))
				return;
		}
		for (unsigned int i = 0; i < 5; i++)
			seen[i] += p.seen[i];
	}
	for (unsigned int i = 0; i < 5; i++)
		ktap_ok(seen[i] > 50);
}

static void sample(const struct pair *p, unsigned int index)
{
	(void)p;
	units_insn(u, TSR_OP_ADD_TEXS_2D_F32);
	u->insn.imm[TSR_IMM_TEXTURE_INDEX] = (uint8_t)index;
	u->insn.imm[TSR_IMM_SAMPLER_INDEX] = 0;
	memcpy(u->src[0].u, at[0], sizeof(at[0]));
	memcpy(u->src[1].u, at[1], sizeof(at[1]));
	ktap_eq(units_run(u, 20, UNITS_ALL_LANES), TSR_STEP_DONE);
}

/* Filters cross the edges of blocks; whole warps are sampled by vectors. */
static void test_sample(void)
{
	const struct tex_sampler s = { .wrap = { 8, 9, 9 }, .normalized = true, .max_lod = 0x1fff };

	for (unsigned int n = 0; n < 160; n++) {
		const unsigned int f = n % 7;
		struct pair p;

		do
			p = any_single(formats[f].format, formats[f].bpp);
		while (p.cube || p.plain.dim != TEX_2D);
		tex_write_sampler(&s, 0);
		for (unsigned int i = 0; i < 40; i++) {
			const double x = tex_unit(), y = tex_unit(), step = tex_unit() / 16;

			for (unsigned int l = 0; l < 16; l++) {
				at[0][l] = as_bits(x + step * ((l & 1) + (l >> 2 & 1) * 2));
				at[1][l] = as_bits(y + step * ((l >> 1 & 1) + (l >> 3) * 2));
			}
			if (!same(&p, sample))
				return;
		}
	}
}

/* ---- Addresses ------------------------------------------------------------------------------- */

static uint8_t expected[PACKED + BYTES_MAX + 0x10000];	/* the first bytes of the data */

/* Expand the block of texel (@x, @y) in @expected. */
static void expect_expanded(const struct pair *p, unsigned int layer, unsigned int x,
			    unsigned int y)
{
	const struct tex *t = &p->plain;
	uint8_t *tag = expected + TAGS + (layer * blocks(t->h) + y / 8) * blocks(t->w) + x / 8;
	const bool whole = (x | 7) < t->w && (y | 7) < t->h;

	if (*tag != TSR_TARGET_TAG_CLEAR &&
	    !(*tag == TSR_TARGET_TAG_PLANES && p->planes && whole && t->bpp == 4))
		return;
	*tag = TSR_TARGET_TAG_RAW;
	for (unsigned int n = 0; n < 64; n++) {
		const int tx = (int)((x & ~7u) + n % 8), ty = (int)((y & ~7u) + n / 8);

		if (tx < (int)t->w && ty < (int)t->h)
			memcpy(expected + tex_address(&p->packed, 0, layer, 0, tx, ty, 0),
			       u->data + tex_address(t, 0, layer, 0, tx, ty, 0), t->bpp);
	}
}

/*
 * The addresses of texels of some lanes, as a texture or an @image; the host has to be asked for
 * pages if @pending.
 */
static void addresses(const struct pair *p, bool image, bool pending)
{
	unsigned int times = 0;

	units_insn(u, image ? TSR_OP_ADD_LEA_ATTR_TEX : TSR_OP_ADD_LEA_TEX);
	if (image)
		u->insn.mod[TSR_MOD_REGISTER_FORMAT] = TSR_REGISTER_FORMAT_AUTO;
	else
		u->insn.mod[TSR_MOD_FORMAT] = TSR_FORMAT_U16;
	for (unsigned int l = 0; l < 16; l++) {
		u->src[0].u[l] = at[0][l] | at[1][l] << 16;
		u->src[1].u[l] = at[2][l];
		u->src[2].u[l] = 1;
	}
	u->b->pending_every = pending;
	if (pending) {
		memset(u->b->asked, 0, sizeof(u->b->asked));
		tsr_tlb_clear(&u->mem.port->tlb);
	}
	units_stop(u);
	ktap_eq(units_finish(u, 20, 0x0f0f, &times), TSR_STEP_DONE);
	ktap_ok(pending == (times > 0));
	u->b->pending_every = 0;
	for (unsigned int l = 0; l < 16; l++) {
		if (!(0x0f0f >> l & 1))
			continue;
		ktap_eq(units_reg(u, 20)->u[l] | (uint64_t)units_reg(u, 21)->u[l] << 32,
			UNITS_DATA + tex_address(&p->packed, 0, at[2][l], 0, (int)at[0][l],
						 (int)at[1][l], 0));
		expect_expanded(p, at[2][l], at[0][l], at[1][l]);
	}
}

static void any_texels(const struct pair *p)
{
	for (unsigned int l = 0; l < 16; l++) {
		at[0][l] = tex_random() % p->plain.w;
		at[1][l] = tex_random() % p->plain.h;
		at[2][l] = tex_random() % p->plain.layers;
		at[3][l] = 0;
	}
}

/* The texel is at its address, and textures read stores to the address. */
static void test_addresses(void)
{
	for (unsigned int n = 0; n < 160; n++) {
		const unsigned int f = n % (sizeof(formats) / sizeof(formats[0]));
		struct pair p;
		uint8_t *stored;

		p = any_single(formats[f].format, formats[f].bpp);
		memcpy(expected, u->data, sizeof(expected));
		any_texels(&p);
		addresses(&p, n & 8, n % 4 == 3);
		if (!ktap_mem_eq(u->data, expected, sizeof(expected)))
			return;
		/* a texel that lane 0 stores, of a block that was expanded */
		stored = texel(&p.packed, at[2][0], 0, at[0][0], at[1][0]);
		memset(stored, 0x21, p.plain.bpp);
		memset(texel(&p.plain, at[2][0], 0, at[0][0], at[1][0]), 0x21, p.plain.bpp);
		for (unsigned int i = 0; i < 20; i++) {
			units_stop(u);
			if (!same(&p, fetch))
				return;
			any_texels(&p);
		}
	}
}

static void load(const struct pair *p, unsigned int index)
{
	units_insn(u, TSR_OP_ADD_LD_ATTR_TEX);
	u->insn.mod[TSR_MOD_REGISTER_FORMAT] =
		tex_is_integer(p->plain.format) ? TSR_REGISTER_FORMAT_U32 : TSR_REGISTER_FORMAT_F32;
	u->insn.mod[TSR_MOD_VECSIZE] = TSR_VECSIZE_V4;
	for (unsigned int l = 0; l < 16; l++) {
		u->src[0].u[l] = at[0][l] | at[1][l] << 16;
		u->src[1].u[l] = at[2][l];
		u->src[2].u[l] = index;
	}
	ktap_eq(units_run(u, 20, UNITS_ALL_LANES), TSR_STEP_DONE);
}

/* Loads of images leave texels and tags as they are. */
static void test_loads(void)
{
	for (unsigned int n = 0; n < 160; n++) {
		const unsigned int f = n % (sizeof(formats) / sizeof(formats[0]));
		struct pair p;

		p = any_single(formats[f].format, formats[f].bpp);
		memcpy(expected, u->data, sizeof(expected));
		for (unsigned int i = 0; i < 20; i++) {
			any_texels(&p);
			if (!same(&p, load))
				return;
		}
		if (!ktap_mem_eq(u->data, expected, sizeof(expected)))
			return;
	}
}

/* The host is asked for the page of each row while the planes are still needed. */
static void test_far_rows(void)
{
	for (unsigned int n = 0; n < 20; n++) {
		struct pair p = { .plain = any_texture(TSR_PIXEL_FORMAT_R32F, 4), .planes = true };

		p.plain.w = p.plain.h = 16;
		p.plain.layers = p.plain.samples = 1;
		p.plain.tiled = false;
		p.plain.row[0] = 4096;
		p.plain.slice[0] = 16 * 4096;
		p.packed = p.plain;
		place(&p.plain, PLAIN);
		place(&p.packed, PACKED);
		fill(&p);
		write_pair(&p);
		write_image(&p.packed, 1, true);
		memcpy(expected, u->data, sizeof(expected));
		any_texels(&p);
		addresses(&p, n % 2, true);
		if (!ktap_mem_eq(u->data, expected, sizeof(expected)))
			return;
	}
}

/* Tags that change are seen after an invalidation. */
static void test_stale(void)
{
	struct pair p;

	p = any_single(TSR_PIXEL_FORMAT_R32UI, 4);
	memset(at, 0, sizeof(at));
	u->data[TAGS] = TSR_TARGET_TAG_RAW;
	units_stop(u);
	fetch(&p, 1);
	ktap_mem_eq(units_reg(u, 20)->u, texel(&p.packed, 0, 0, 0, 0), 4);
	u->data[TAGS] = TSR_TARGET_TAG_CLEAR;
	memset(u->data + STATE, 0x5a, 4);
	units_stop(u);
	fetch(&p, 1);
	ktap_eq(units_reg(u, 20)->u[0], 0x5a5a5a5a);
}

/* Textures that cannot have tags, and tags that are not mapped. */
static void test_faults(void)
{
	static const struct { unsigned int qword; uint64_t flip; } bad[] = {
		{ 0, (TEX_2D ^ TEX_3D) << 4 }, { 1, 1 << 16 }, { 1, 1 << 24 },
	};
	const uint64_t va = UNITS_TEXTURES + 32;
	uint64_t *q = units_table(u, va);
	struct pair p;

	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		do
			p = any_pair(TSR_PIXEL_FORMAT_RGBA8_UNORM, 4);
		while (p.cube || p.plain.dim != TEX_2D);
		q[bad[i].qword] ^= bad[i].flip;
		units_stop(u);
		units_insn(u, TSR_OP_ADD_TEXS_2D_F32);
		u->insn.imm[TSR_IMM_TEXTURE_INDEX] = 1;
		ktap_eq(units_run(u, 20, 1 << 3), TSR_STEP_FAULT);
		if (!units_fault_is(u, TSR_FAULT_SHADER_STATE, va, 3))
			ktap_note("row %u", i);
	}
	do
		p = any_pair(TSR_PIXEL_FORMAT_RGBA8_UNORM, 4);
	while (p.plain.samples == 1);
	units_insn(u, TSR_OP_ADD_LEA_TEX);
	u->insn.mod[TSR_MOD_FORMAT] = TSR_FORMAT_U16;
	u->src[2].u[3] = 1;
	ktap_eq(units_run(u, 20, 1 << 3), TSR_STEP_FAULT);
	units_fault_is(u, TSR_FAULT_SHADER_STATE, va, 3);
	/* entry 5: the tags; attribute 1, then the stride in entry 3 */
	for (unsigned int i = 0; i < 3; i++) {
		static const struct { uint64_t va, flip; } image[] = {
			{ UNITS_BUFFERS + 80, 1 }, { UNITS_ATTRIBUTES + 8, 16ull << 32 },
			{ UNITS_BUFFERS + 56, 12 },
		};

		any_pair(TSR_PIXEL_FORMAT_RGBA8_UNORM, 4);
		*(uint64_t *)units_table(u, image[i].va) ^= image[i].flip;
		units_stop(u);
		units_insn(u, TSR_OP_ADD_LD_ATTR_TEX);
		u->src[2].u[3] = 1;
		ktap_eq(units_run(u, 20, 1 << 3), TSR_STEP_FAULT);
		if (!units_fault_is(u, TSR_FAULT_SHADER_STATE, UNITS_BUFFERS + 80, 3))
			ktap_note("image %u", i);
	}
	for (unsigned int i = 0; i < 3; i++) {
		p = any_pair(TSR_PIXEL_FORMAT_RGBA8_UNORM, 4);
		uint64_t *tags = units_table(u, PACKED_SURFACES +
					     16ull * p.plain.layers * p.plain.samples);

		tags[i > 0] = i == 1 ? UNITS_DATA + STATE + 8 : 0x40000000;
		memset(at, 0, sizeof(at));
		units_stop(u);
		ask_fetch(&p, 1);
		ktap_eq(units_run(u, 20, 1 << 3), TSR_STEP_FAULT);
		if (!units_fault_is(u, i == 1 ? TSR_FAULT_SHADER_STATE : TSR_FAULT_MMU_UNMAPPED,
				    i == 1 ? va : 0x40000000, 3))
			ktap_note("address %u", i);
	}
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	u = units_new(0);
	tex_units = u;
	ktap_run("[MEM8] fetches through tags: every tag, format, layout, layer and sample",
		 test_fetch);
	ktap_run("[MEM8] filtered samples through tags", test_sample);
	ktap_run("[MEM8] a texel's address expands its block; stores to it are read",
		 test_addresses);
	ktap_run("[MEM8] loads of images through tags", test_loads);
	ktap_run("[MEM8] planes stay until all of a block can be written", test_far_rows);
	ktap_run("[MEM8] tags and the clear texel that have changed", test_stale);
	ktap_run("[MEM8] textures that cannot have tags, tags that are not mapped", test_faults);
	units_free(u);
	return ktap_finish();
}
