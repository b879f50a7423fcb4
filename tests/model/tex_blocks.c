/* SPDX-License-Identifier: MIT */
/*
 * test: TIMEOUT=240 TSAN=0
 *
 * Compressed textures: each lookup in one has the result, bit for bit, that it has in a texture of
 * the same texels that is not compressed. The blocks' texels are those of the decoders, which
 * block_codecs.c tests; where blocks lie is the test's own idea.
 */
#include <math.h>
#include <string.h>

#include "../blocks/soup.h"
#include "ktap.h"
#include "shader/texture/block.h"
#include "shader/texture/tex_warp.h"
#include "texture_ref.h"

static struct units *u;

static uint32_t as_bits(double x)
{
	float f = x;
	uint32_t bits;

	memcpy(&bits, &f, 4);
	return bits;
}

/* ---- Textures -------------------------------------------------------------------------------- */

/* A compressed texture and what it is decoded to. */
struct pair {
	const struct soup_format *f;
	struct tsr_format format;
	unsigned int bw, bh;
	struct tex t, plain;
};

#define PLAIN_AT 0x10000u		/* where in UNITS_DATA the decoded texels begin */

static unsigned int up(unsigned int n, unsigned int to)
{
	return (n + to - 1) / to;
}

/* Where the block of a texel lies from the beginning of its surface. */
static uint32_t block_at(const struct pair *p, unsigned int level, unsigned int x, unsigned int y,
			 unsigned int z)
{
	unsigned int bx = x / p->bw, by = y / p->bh, in = 0;
	uint32_t at = z * p->t.slice[level];

	if (!p->t.tiled)
		return at + by * p->t.row[level] + bx * p->f->bytes;
	for (unsigned int b = 0; b < 2; b++)
		in |= ((bx >> b ^ by >> b) & 1) << 2 * b | (by >> b & 1) << (2 * b + 1);
	return at + by / 4 * p->t.row[level] + (bx / 4 * 16 + in) * p->f->bytes;
}

/* Strides and addresses of both; returns whether there is room. */
static bool lay_out(struct pair *p)
{
	unsigned int surfaces = p->t.layers * (p->t.dim == TEX_CUBE ? 6 : 1) * p->t.levels;
	uint32_t at = 0, plain_at = PLAIN_AT;

	for (unsigned int l = 0; l < p->t.levels; l++) {
		unsigned int w = tex_extent(p->t.w, l), h = tex_extent(p->t.h, l);
		unsigned int bw = up(w, p->bw), bh = up(h, p->bh);

		p->t.row[l] = (p->t.tiled ? up(bw, 4) * 16 : bw) * p->f->bytes + p->f->bytes;
		p->t.slice[l] = p->t.row[l] * (p->t.tiled ? up(bh, 4) : bh) + p->f->bytes;
		p->plain.row[l] = w * p->plain.bpp;
		p->plain.slice[l] = p->plain.row[l] * h;
	}
	for (unsigned int i = 0; i < surfaces; i++) {
		unsigned int l = i % p->t.levels;

		at = up(at, 64) * 64;
		p->t.at[i] = at;
		at += p->t.slice[l] * tex_extent(p->t.d, l);
		p->plain.at[i] = plain_at;
		plain_at += p->plain.slice[l] * tex_extent(p->t.d, l);
	}
	return at <= PLAIN_AT && plain_at <= UNITS_DATA_SIZE - 64;
}

/* Texel (@x, @y) of a block, as the other texture has it. */
static void decode_texel(const struct pair *p, const uint8_t *block, unsigned int x, unsigned int y,
			 uint8_t *to)
{
	union tsr_block_texels texels;

	tsr_block_texels(&p->format, block, &texels);
	if (p->plain.bpp == 4)
		memcpy(to, texels.byte[4 * y + x], 4);
	else
		memcpy(to, texels.number[4 * y + x], 16);
}

static void fill_surface(const struct pair *p, unsigned int index)
{
	unsigned int l = index % p->t.levels, w = tex_extent(p->t.w, l), h = tex_extent(p->t.h, l);
	uint8_t *surface = tex_units->data + (p->t.at[index] & ~63u);

	for (unsigned int i = 0; i < w * h * tex_extent(p->t.d, l); i++) {
		unsigned int x = i % w, y = i / w % h, z = i / w / h;
		uint8_t *block = surface + block_at(p, l, x, y, z);
		uint8_t bytes[16];

		if (x % p->bw == 0 && y % p->bh == 0) {
			soup_block(p->f, tex_random() % SOUP_BLOCKS, bytes);
			memcpy(block, bytes, p->f->bytes);
		}
	}
	for (unsigned int i = 0; i < w * h * tex_extent(p->t.d, l); i++) {
		unsigned int x = i % w, y = i / w % h, z = i / w / h;

		decode_texel(p, surface + block_at(p, l, x, y, z), x % p->bw, y % p->bh,
			     tex_units->data + p->plain.at[index] + z * p->plain.slice[l] +
			     y * p->plain.row[l] + x * p->plain.bpp);
	}
}

static const struct shape { unsigned int dim, w, h, d, layers; } shapes[] = {
	{ TEX_2D, 64, 64, 1, 1 }, { TEX_2D, 61, 37, 1, 1 }, { TEX_2D, 5, 3, 1, 1 },
	{ TEX_2D, 1, 1, 1, 1 }, { TEX_2D, 21, 18, 1, 3 }, { TEX_CUBE, 20, 20, 1, 1 },
	{ TEX_CUBE, 6, 6, 1, 2 }, { TEX_3D, 19, 13, 5, 1 },
};

#define SHAPES (sizeof(shapes) / sizeof(shapes[0]))

static void make_pair(struct pair *p, const struct soup_format *f, const struct shape *s,
		      bool tiled, bool srgb)
{
	unsigned int most = s->w > s->h ? s->w : s->h;

	memset(p, 0, sizeof(*p));
	p->f = f;
	p->bw = f->w;
	p->bh = f->h;
	ktap_ok(tsr_format_find_texture(&p->format, f->number, TSR_COMPONENT_ORDER_RGBA, srgb));
	p->t = (struct tex){
		.dim = s->dim, .format = f->number, .w = s->w, .h = s->h, .d = s->d,
		.layers = s->layers, .samples = 1, .tiled = tiled, .srgb = srgb,
		.swizzle = { 0, 1, 2, 3 }, .max_lod = 0x1fff, .bpp = f->bytes,
	};
	while (most >> p->t.levels)
		p->t.levels++;
	p->plain = p->t;
	p->plain.tiled = false;
	p->plain.format = f->texel == SOUP_BYTES ? TSR_PIXEL_FORMAT_RGBA8_UNORM
						 : TSR_PIXEL_FORMAT_RGBA32F;
	p->plain.bpp = f->texel == SOUP_BYTES ? 4 : 16;
	while (!lay_out(p))
		p->plain.levels = --p->t.levels;
	for (unsigned int i = 0; i < s->layers * (s->dim == TEX_CUBE ? 6 : 1) * p->t.levels; i++)
		fill_surface(p, i);
}

/* ---- Lookups --------------------------------------------------------------------------------- */

#define STAGING 20

struct message {
	union tsr_lanes src[3], staging[4];
	union tsr_lanes results[4];
};

static enum tsr_step run(struct message *m)
{
	enum tsr_step step;

	memcpy(u->src, m->src, sizeof(m->src));
	for (unsigned int i = 0; i < 4; i++)
		*units_reg(u, STAGING + i) = m->staging[i];
	step = units_run(u, STAGING, UNITS_ALL_LANES);
	for (unsigned int i = 0; i < 4; i++)
		m->results[i] = *units_reg(u, STAGING + i);
	return step;
}

/* Integer coordinates, a few of them outside. */
static void make_fetch(struct message *m, const struct tex *t)
{
	for (unsigned int l = 0; l < 16; l++) {
		unsigned int level = tex_random() % t->levels, n = 0;

		m->src[0].u[l] = tex_random() % (tex_extent(t->w, level) + 1);
		m->src[1].u[l] = tex_random() % (tex_extent(t->h, level) + 1);
		if (t->dim == TEX_3D)
			m->staging[n++].u[l] = tex_random() % tex_extent(t->d, level);
		m->staging[n++].u[l] = level << 8 |
				       (t->dim == TEX_CUBE ? tex_random() % 6 : 0) << 16;
		m->staging[n].u[l] = tex_random() % t->layers;
		m->src[2].u[l] = 1 << 11 | 6u << 12 | (uint32_t)(t->dim != TEX_3D) << 17 |
				 t->dim << 18 | 1 << 20 | 4 << 24 | 0xfu << 28;
	}
}

/* A sample (@op 7) with an explicit, biased or computed level, or a gather (6). */
static void make_lookup(struct message *m, const struct tex *t, const struct tex_sampler *s,
			unsigned int op)
{
	unsigned int mode = op == 6 || tex_random() % 2 ? 4 : 5 + tex_random() % 3;
	bool array = t->dim != TEX_3D && tex_random() % 2, shadow = tex_random() % 8 == 0;
	double unit[2] = { s->normalized || t->dim == TEX_CUBE ? 1 : t->w,
			   s->normalized || t->dim == TEX_CUBE ? 1 : t->h };
	double base[2] = { tex_unit() * 1.6 - 0.3, tex_unit() * 1.6 - 0.3 };
	double step = exp2(tex_unit() * 6 - 7);
	unsigned int component = tex_random() % 4;

	if (t->dim == TEX_CUBE)
		base[0] = fabs(base[0]), base[1] = fabs(base[1]);
	for (unsigned int l = 0; l < 16; l++) {
		unsigned int n = 0, face = tex_random() % 6;

		unsigned int x = (l & 1) | (l >> 1 & 2), y = (l >> 1 & 1) | (l >> 2 & 2);

		m->src[0].u[l] = as_bits((base[0] + x * step) * unit[0]);
		m->src[1].u[l] = as_bits((base[1] + y * step) * unit[1]);
		if (t->dim == TEX_CUBE)
			m->src[0].u[l] = (m->src[0].u[l] & 0x1fffffff) | face << 29;
		m->src[2].u[l] = 1 << 11 | op << 12 | (uint32_t)shadow << 16 |
				 (uint32_t)array << 17 | t->dim << 18 |
				 (op == 6 ? 4 + component : mode) << 20 | 4 << 24 | 0xfu << 28;
		if (t->dim == TEX_3D)
			m->staging[n++].u[l] = as_bits(tex_unit() * (s->normalized ? 1 : t->d));
		if (op == 6 || mode == 4 || mode == 5)
			m->staging[n++].u[l] = op == 6 ? 0 : (tex_random() % 1500 - 200) & 0xffff;
		if (shadow)
			m->staging[n++].u[l] = as_bits(0.5);
		if (array)
			m->staging[n++].u[l] = tex_random() % t->layers;
	}
}

static bool same(const struct pair *p, const struct message *want, const struct message *got,
		 const char *how)
{
	for (unsigned int i = 0; i < 64; i++) {
		unsigned int c = i / 16, l = i % 16;

		if (want->results[c].u[l] == got->results[c].u[l])
			continue;
		ktap_note("%s %s srgb %u tiled %u dim %u %ux%u, word %08x", p->f->name, how,
			  p->t.srgb, p->t.tiled, p->t.dim, p->t.w, p->t.h, got->src[2].u[l]);
		return ktap_fail("lane %u component %u: %08x, not compressed %08x", l, c,
				 got->results[c].u[l], want->results[c].u[l]);
	}
	return true;
}

/* One lookup in both textures, in all ways. */
static bool check_lookup(const struct pair *p, struct message *m)
{
	static const char *const names[] = { "sse2", "avx2", "avx512" };
	const struct tsr_texture_path *best = u->textures->path;
	struct message want;
	bool good = true;

	tex_write(&p->plain, 0);
	ktap_eq(run(m), TSR_STEP_DONE);
	want = *m;
	tex_write(&p->t, 0);
	u->textures->off = true;
	ktap_eq(run(m), TSR_STEP_DONE);
	good = same(p, &want, m, "without cache");
	u->textures->off = false;
	u->textures->path = NULL;
	for (unsigned int i = 0; good && i < 4; i++) {
		if (i && !tsr_alu_named(names[i - 1]))
			continue;
		if (i)
			u->textures->path = tsr_texture_path(names[i - 1]);
		units_stop(u);
		ktap_eq(run(m), TSR_STEP_DONE);
		good = same(p, &want, m, i ? names[i - 1] : "lane by lane");
	}
	u->textures->path = best;
	return good;
}

/* What a format does not have is not in its border either. */
static struct tex_sampler make_sampler(const struct pair *p, bool linear)
{
	struct tex_sampler s = tex_make_sampler(&p->t);

	for (unsigned int c = 0; c < 4; c++) {
		if (!p->format.bits[c])
			s.border[c] = c == 3;
	}
	s.linear = linear;
	s.anisotropy = tex_random() % 2 ? 1 + tex_random() % 16 : 1;
	return s;
}

static bool check_pair(struct pair *p, unsigned int lookups)
{
	units_insn(u, TSR_OP_ADD_TEXC);
	for (unsigned int n = 0; n < lookups; n++) {
		struct tex_sampler s = make_sampler(p, p->t.srgb && n % 4 == 3);
		struct message m;

		for (unsigned int i = 0; i < 4; i++)
			p->t.swizzle[i] = tex_random() % 3 ? i : tex_random() % 6;
		memcpy(p->plain.swizzle, p->t.swizzle, sizeof(p->t.swizzle));
		memset(&m, 0, sizeof(m));
		tex_write_sampler(&s, 0);
		if (n % 3 == 0)
			make_fetch(&m, &p->t);
		else
			make_lookup(&m, &p->t, &s, n % 3 == 2 && p->t.dim != TEX_3D ? 6 : 7);
		if (!check_lookup(p, &m))
			return false;
	}
	return true;
}

static void test_lookups(void)
{
	static struct pair p;

	for (unsigned int i = 0; i < SOUP_FORMATS * SHAPES * 2; i++) {
		const struct soup_format *f = &soup_formats[i / 2 / SHAPES];
		bool srgb = f->srgb || (f->texel == SOUP_BYTES && i % 3 == 0);

		make_pair(&p, f, &shapes[i / 2 % SHAPES], i % 2, srgb);
		if (!check_pair(&p, 12))
			return;
	}
}

/* ---- What comes in --------------------------------------------------------------------------- */

/* Fetch texel (@x, @y) of level 0 into lane 0. */
static enum tsr_step fetch(unsigned int x, unsigned int y, const struct tex *t)
{
	units_insn(u, TSR_OP_ADD_TEXC);
	u->src[0].u[0] = x;
	u->src[1].u[0] = y;
	u->src[2].u[0] = 1 << 11 | 6 << 12 | t->dim << 18 | 1 << 20 | 4 << 24 | 0xfu << 28;
	units_reg(u, STAGING)->u[0] = 0;
	return units_run(u, STAGING, 1);
}

/* Another block in the same place is seen after an INV_READ. */
static void test_changes(void)
{
	static struct pair p;

	for (unsigned int i = 0; i < SOUP_FORMATS; i++) {
		uint8_t block[2][16];
		float texel[2][4];

		make_pair(&p, &soup_formats[i], &shapes[2], false, soup_formats[i].srgb);
		tex_write(&p.t, 0);
		for (unsigned int n = 0; n < 2; n++) {
			soup_block(p.f, 7 + 3 * n, block[n]);
			memcpy(u->data + (p.t.at[0] & ~63u), block[n], p.f->bytes);
			units_stop(u);
			decode_texel(&p, block[n], 1, 1, (uint8_t *)texel[n]);
			if (!ktap_eq(fetch(1, 1, &p.t), TSR_STEP_DONE))
				return;
			for (unsigned int c = 0; c < 4; c++) {
				uint32_t bits = units_reg(u, STAGING + c)->u[0];
				uint8_t byte[16];

				memcpy(byte, texel[n], 16);
				ktap_eq(bits, p.plain.bpp == 4 ? as_bits(byte[c] / 255.0f)
							       : as_bits(texel[n][c]));
			}
		}
	}
}

/* Each unit of 4 by 4 texels that comes in is one block where blocks are of that size. */
static void test_counts(void)
{
	static struct pair p;

	for (unsigned int i = 0; i < SOUP_FORMATS; i++) {
		const struct tsr_texture_stats *stats;
		unsigned int lines;

		if (soup_formats[i].w != 4 || soup_formats[i].h != 4)
			continue;
		make_pair(&p, &soup_formats[i], &shapes[0], i % 2, soup_formats[i].srgb);
		tex_write(&p.t, 0);
		u->textures->stats = (struct tsr_texture_stats){ 0 };
		for (unsigned int n = 0; n < 64 * 64; n++)
			ktap_eq(fetch(n % 64, n / 64, &p.t), TSR_STEP_DONE);
		stats = tsr_texture_counted(u->textures);
		ktap_eq(stats->fills, 256);
		ktap_eq(stats->decodes, 256);
		/* compressed lines: of all rows, each as long as it is apart from the next */
		lines = up(256 * p.f->bytes, 64);
		ktap_ok(stats->misses >= lines && stats->misses <= lines + 16);
		tex_write(&p.plain, 0);
		u->textures->stats = (struct tsr_texture_stats){ 0 };
		ktap_eq(fetch(0, 0, &p.t), TSR_STEP_DONE);
		ktap_eq(tsr_texture_counted(u->textures)->decodes, 0);
	}
}

/* ---- Faults ---------------------------------------------------------------------------------- */

static uint64_t *texture_words(void)
{
	return units_table(u, UNITS_TEXTURES);
}

/* Descriptors that no texture of a compressed format can have; formats that are textures' alone. */
static void test_refused(void)
{
	static struct pair p;

	for (unsigned int i = 0; i < SOUP_FORMATS; i++) {
		struct tsr_format format;

		ktap_ok(!tsr_format_find(&format, soup_formats[i].number,
					 TSR_COMPONENT_ORDER_RGBA, false));
		make_pair(&p, &soup_formats[i], &shapes[2], false, false);
		p.t.dim = TEX_1D;
		tex_write(&p.t, 0);
		ktap_eq(fetch(0, 0, &p.t), TSR_STEP_FAULT);
		units_fault_is(u, TSR_FAULT_SHADER_STATE, UNITS_TEXTURES, 0);
		p.t.dim = TEX_2D;
		tex_write(&p.t, 0);
		texture_words()[1] |= 1ull << 45;		/* two samples */
		units_stop(u);
		ktap_eq(fetch(0, 0, &p.t), TSR_STEP_FAULT);
		units_fault_is(u, TSR_FAULT_SHADER_STATE, UNITS_TEXTURES, 0);
		tex_write(&p.t, 0);
		units_insn(u, TSR_OP_ADD_LEA_TEX_IMM);
		u->insn.mod[TSR_MOD_FORMAT] = TSR_FORMAT_U16;
		u->src[0].u[0] = u->src[1].u[0] = 0;
		ktap_eq(units_run(u, STAGING, 1), TSR_STEP_FAULT);
		units_fault_is(u, TSR_FAULT_SHADER_STATE, UNITS_TEXTURES, 0);
	}
}

/* The second row of blocks is not mapped, or not where blocks may be: who needs it is at fault. */
static void test_memory(void)
{
	static struct pair p;

	for (unsigned int i = 0; i < SOUP_FORMATS; i++) {
		uint64_t *surface = units_table(u, UNITS_SURFACES);
		const struct soup_format *f = &soup_formats[i];
		uint64_t end = UNITS_DATA + UNITS_DATA_SIZE;

		make_pair(&p, f, &shapes[0], false, f->srgb);
		p.t.levels = 1;
		tex_write(&p.t, 0);
		surface[0] = (end - 1024) | (surface[0] & 63);
		((uint32_t *)surface)[2] = 1024;
		units_stop(u);
		ktap_eq(fetch(3, f->h - 1u, &p.t), TSR_STEP_DONE);
		ktap_eq(fetch(f->w, f->h, &p.t), TSR_STEP_FAULT);
		units_fault_is(u, TSR_FAULT_MMU_UNMAPPED, end + f->bytes, 0);
		/* the unit of 4 by 4 texels that has both */
		ktap_eq(fetch(0, (f->h - 1u) & ~3u, &p.t), TSR_STEP_DONE);
		((uint32_t *)surface)[2] = (uint32_t)(-(int)f->bytes / 2);
		units_stop(u);
		ktap_eq(fetch(0, 0, &p.t), TSR_STEP_DONE);
		ktap_eq(fetch(0, f->h, &p.t), TSR_STEP_FAULT);
		units_fault_is(u, TSR_FAULT_SHADER_ALIGNMENT, end - 1024 - f->bytes / 2, 0);
	}
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	u = units_new(0);
	tex_units = u;
	ktap_run("[TEX8] lookups in compressed textures as in others", test_lookups);
	ktap_run("[TEX7] [TEX8] compressed blocks that change", test_changes);
	ktap_run("[TEX7] compressed blocks are counted, and the lines they fill", test_counts);
	ktap_run("[TEX8] compressed formats where there are none", test_refused);
	ktap_run("[TEX8] compressed blocks that are not in memory", test_memory);
	units_free(u);
	return ktap_finish();
}
