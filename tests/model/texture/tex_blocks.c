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
#include "texture/codec.h"
#include "texture/sampler.h"
#include "simd/simd.h"
#include "texture_ref.h"

static struct units *u;

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

/* The block size in a surface's address. */
static uint32_t size_bits(const struct pair *p)
{
	static const uint8_t number[13] = { [5] = 1, [6] = 2, [8] = 4, [10] = 6, [12] = 7 };

	return p->f->kind == SOUP_ASTC ? number[p->bh] << 3 | number[p->bw] : 0;
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
		p->t.at[i] = at | size_bits(p);
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
	uint16_t astc[144][4], one[16][4] = { { 0 } };
	union tsr_block_texels texels;

	if (p->f->kind == SOUP_ASTC) {
		tsr_block_astc(block, p->bw, p->bh, p->t.srgb, astc);
		memcpy(one[4 * y % 16 + x % 4], astc[y * p->bw + x], 8);
		tsr_block_narrow(&p->format, one, &texels);
		x %= 4;
		y %= 4;
	} else {
		tsr_block_texels(&p->format, block, &texels);
	}
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

/* Both textures of a pair, but for where their texels are. */
static void describe(struct pair *p, const struct soup_format *f, const struct shape *s,
		     unsigned int levels, bool tiled, bool srgb)
{
	memset(p, 0, sizeof(*p));
	p->f = f;
	p->bw = f->w;
	p->bh = f->h;
	ktap_ok(tsr_format_find_texture(&p->format, f->number, TSR_COMPONENT_ORDER_RGBA, srgb));
	p->t = (struct tex){
		.dim = s->dim, .format = f->number, .w = s->w, .h = s->h, .d = s->d,
		.layers = s->layers, .levels = levels, .samples = 1, .tiled = tiled, .srgb = srgb,
		.swizzle = { 0, 1, 2, 3 }, .max_lod = 0x1fff, .bpp = f->bytes,
	};
	p->plain = p->t;
	p->plain.tiled = false;
	p->plain.format = f->texel == SOUP_BYTES ? TSR_PIXEL_FORMAT_RGBA8_UNORM
						 : TSR_PIXEL_FORMAT_RGBA32F;
	p->plain.bpp = f->texel == SOUP_BYTES ? 4 : 16;
}

static void make_pair(struct pair *p, const struct soup_format *f, const struct shape *s,
		      bool tiled, bool srgb)
{
	unsigned int most = s->w > s->h ? s->w : s->h, levels = 0;

	while (most >> levels)
		levels++;
	describe(p, f, s, levels, tiled, srgb);
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
		if (i && !tsr_simd_named(names[i - 1]))
			continue;
		if (i)
			u->textures->path = tsr_simd_named(names[i - 1])->texture;
		units_stop(u);
		ktap_eq(run(m), TSR_STEP_DONE);
		good = same(p, &want, m, i ? names[i - 1] : "lane by lane");
	}
	u->textures->path = best;
	return good;
}

/* Components that a format lacks are missing in its border color, too. */
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

static bool check_pair(struct pair *p, unsigned int lookups, bool linear)
{
	units_insn(u, TSR_OP_ADD_TEXC);
	for (unsigned int n = 0; n < lookups; n++) {
		struct tex_sampler s = make_sampler(p, linear);
		struct message m;

		for (unsigned int i = 0; i < 4; i++)
			p->t.swizzle[i] = tex_random() % 3 ? i : tex_random() % 6;
		memcpy(p->plain.swizzle, p->t.swizzle, sizeof(p->t.swizzle));
		memset(&m, 0, sizeof(m));
		tex_write_sampler(&s, 0);
		if (n % 3 == 0 && !linear)
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
		/* ASTC has other bytes with it, which are a format of their own */
		bool srgb = f->srgb ||
			    (f->texel == SOUP_BYTES && f->kind != SOUP_ASTC && i % 3 == 0);

		make_pair(&p, f, &shapes[i / 2 % SHAPES], i % 2, srgb);
		if (!check_pair(&p, 12, false))
			return;
		/* samplers that say that there is no sRGB curve */
		if (srgb)
			continue;
		p.t.srgb = true;
		if (!check_pair(&p, 6, true))
			return;
	}
}

/* ---- What comes in --------------------------------------------------------------------------- */

/* Fetch texel (@x, @y) of level 0 of a texture of @dim into lane 0. */
static enum tsr_step fetch_of(unsigned int index, unsigned int x, unsigned int y, unsigned int dim)
{
	units_insn(u, TSR_OP_ADD_TEXC);
	u->src[0].u[0] = x;
	u->src[1].u[0] = y;
	u->src[2].u[0] = index << 4 | 1 << 11 | 6 << 12 | dim << 18 | 1 << 20 | 4 << 24 |
			 0xfu << 28;
	units_reg(u, STAGING)->u[0] = 0;
	return units_run(u, STAGING, 1);
}

static enum tsr_step fetch(unsigned int x, unsigned int y, const struct tex *t)
{
	return fetch_of(0, x, y, t->dim);
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
				ktap_eq(bits, p.plain.bpp == 4
					? as_bits(tsr_format_bytes(p.t.srgb && c < 3)[byte[c]])
					: as_bits(texel[n][c]));
			}
		}
	}
}

/*
 * One piece of memory as ASTC blocks of two sizes, and with the sRGB curve. No view has texels of
 * another.
 */
static void test_views(void)
{
	static const struct { unsigned int w; bool srgb; uint64_t bits; } view[] = {
		{ 8, false, 044 }, { 8, true, 044 }, { 10, false, 046 },
	};
	const struct soup_format *f = soup_formats;
	static struct pair p;
	uint16_t astc[3][144][4];
	uint8_t block[16];

	while (f->w != 8 || f->h != 8)
		f++;
	make_pair(&p, f, &shapes[0], false, false);
	tex_write(&p.t, 0);
	for (unsigned int i = 0; i < 3; i++) {
		uint64_t *surface = units_table(u, UNITS_SURFACES + 0x800 + 16 * i);
		uint64_t *texture = units_table(u, UNITS_TEXTURES + 32 * i);

		memcpy(texture, units_table(u, UNITS_TEXTURES), 32);
		memcpy(surface, units_table(u, UNITS_SURFACES), 16);
		texture[0] = (texture[0] & ~(1ull << 30)) | (uint64_t)view[i].srgb << 30;
		texture[1] &= ~(31ull << 16);
		texture[2] = UNITS_SURFACES + 0x800 + 16 * i;
		surface[0] = UNITS_DATA | view[i].bits;
	}
	/* a block of which the first texel that is looked at is another one in each view */
	for (unsigned int n = 0; n < SOUP_BLOCKS; n++) {
		soup_block(f, n, block);
		for (unsigned int i = 0; i < 3; i++)
			tsr_block_astc(block, view[i].w, 8, view[i].srgb, astc[i]);
		if (astc[0][5][0] >> 8 != astc[1][5][0] >> 8 && astc[0][5][0] != astc[2][5][0])
			break;
	}
	ktap_ok(astc[0][5][0] != astc[2][5][0]);
	memcpy(u->data, block, 16);
	units_stop(u);
	for (unsigned int n = 0; n < 6; n++) {
		union tsr_block_texels texels;
		struct tsr_format format;

		tsr_format_find_texture(&format, f->number, 0, view[n % 3].srgb);
		ktap_eq(fetch_of(n % 3, 5, n / 3, TEX_2D), TSR_STEP_DONE);
		tsr_block_narrow(&format, astc[n % 3] + n / 3 * view[n % 3].w + 5, &texels);
		for (unsigned int c = 0; c < 4; c++)
			ktap_eq(units_reg(u, STAGING + c)->u[0], view[n % 3].srgb
				? as_bits(tsr_format_bytes(c < 3)[texels.byte[0][c]])
				: as_bits(texels.number[0][c]));
	}
}

/* Every block is decoded once, and every line of it is asked for. */
static void test_counts(void)
{
	static struct pair p;

	for (unsigned int i = 0; i < SOUP_FORMATS; i++) {
		const struct tsr_texture_stats *stats;
		unsigned int lines;

		if (soup_formats[i].w * soup_formats[i].h != 16 &&
		    soup_formats[i].w * soup_formats[i].h != 64)
			continue;
		make_pair(&p, &soup_formats[i], &shapes[0], i % 2, soup_formats[i].srgb);
		tex_write(&p.t, 0);
		u->textures->stats = (struct tsr_texture_stats){ 0 };
		for (unsigned int n = 0; n < 64 * 64; n++)
			ktap_eq(fetch(n % 64, n / 64, &p.t), TSR_STEP_DONE);
		stats = tsr_texture_counted(u->textures);
		ktap_eq(stats->fills, 256);
		/* nearly all blocks of 8 by 8 texels are kept for all four fills */
		lines = 64 * 64 / (p.bw * p.bh);
		ktap_ok(stats->decodes >= lines && stats->decodes <= (p.bw == 4 ? 1 : 1.1) * lines);
		/* compressed lines: of all rows, each as long as it is apart from the next */
		lines = up(64 * 64 / (p.bw * p.bh) * p.f->bytes, 64);
		ktap_ok(stats->misses >= lines && stats->misses <= lines + 16);
		tex_write(&p.plain, 0);
		u->textures->stats = (struct tsr_texture_stats){ 0 };
		ktap_eq(fetch(0, 0, &p.t), TSR_STEP_DONE);
		ktap_eq(tsr_texture_counted(u->textures)->decodes, 0);
	}
}

/* ---- Scenes ---------------------------------------------------------------------------------- */

#define SCENE 128u			/* texels along an edge of the texture; pixels of a scene */

/* A texture of tiles without levels; blocks are any. */
static struct tex scene_texture(unsigned int number, unsigned int block, unsigned int bytes,
				uint32_t bits)
{
	unsigned int tile = block == 1 ? 16 : 4 * block;
	struct tex t = { .dim = TEX_2D, .format = number, .w = SCENE, .h = SCENE, .d = 1,
			 .layers = 1, .levels = 1, .samples = 1, .tiled = true,
			 .swizzle = { 0, 1, 2, 3 }, .max_lod = 0x1fff, .bpp = bytes };

	t.at[0] = bits;
	t.row[0] = up(SCENE, tile) * (block == 1 ? 256 : 16) * bytes;
	return t;
}

/* Sample 128 by 128 pixels, a warp of 4 by 4 after the other in tiles of 16 by 16. */
static void sample_scene(const double m[2][3])
{
	units_insn(u, TSR_OP_ADD_TEXS_2D_F32);
	for (unsigned int w = 0; w < SCENE * SCENE / 16; w++) {
		unsigned int tile = w / 16, warp = w % 16;

		for (unsigned int i = 0; i < 32; i++) {
			unsigned int l = i / 2, d = i % 2;
			unsigned int x = tile % 8 * 16 + warp % 4 * 4 + (l & 1) + (l >> 2 & 1) * 2;
			unsigned int y = tile / 8 * 16 + warp / 4 * 4 + (l >> 1 & 1) +
					 (l >> 3) * 2;

			u->src[d].u[l] = as_bits((m[d][0] + m[d][1] * x + m[d][2] * y) / SCENE);
		}
		ktap_eq(units_run(u, STAGING, UNITS_ALL_LANES), TSR_STEP_DONE);
	}
}

/* Statistics of a few turned scenes of one texture, all with the L2 that the first one finds. */
static struct tsr_texture_stats scenes_of(const struct tex *t)
{
	const struct tex_sampler s = { .wrap = { 8, 8, 8 }, .normalized = true, .max_lod = 0x1fff };

	tex_write(t, 0);
	tex_write_sampler(&s, 0);
	u->textures->stats = (struct tsr_texture_stats){ 0 };
	tex_seed = 77;
	for (unsigned int n = 0; n < 10; n++) {
		double scale = exp2(tex_unit() * 0.25), turn = tex_unit() * 6.28;
		const double m[2][3] = {
			{ tex_unit() * SCENE, cos(turn) * scale, sin(turn) * scale },
			{ tex_unit() * SCENE, -sin(turn) * scale, cos(turn) * scale },
		};

		sample_scene(m);
	}
	return *tsr_texture_counted(u->textures);
}

/* The published numbers hold for each format; the L2 sees compressed lines. */
static void test_scenes(void)
{
	static const struct { unsigned int number, block, bytes; uint32_t bits; } row[] = {
		{ TSR_PIXEL_FORMAT_RGBA8_UNORM, 1, 4, 0 }, { TSR_PIXEL_FORMAT_BC1_UNORM, 4, 8, 0 },
		{ TSR_PIXEL_FORMAT_ETC2_RGB8, 4, 8, 0 }, { TSR_PIXEL_FORMAT_BC7_UNORM, 4, 16, 0 },
		{ TSR_PIXEL_FORMAT_BC6H_UF16, 4, 16, 0 },
		{ TSR_PIXEL_FORMAT_ASTC_2D_NARROW, 4, 16, 0 },
		{ TSR_PIXEL_FORMAT_ASTC_2D_LDR, 8, 16, 044 },
	};
	double lines = 0;

	for (unsigned int i = 0; i < UNITS_DATA_SIZE; i++)
		u->data[i] = (uint8_t)tex_random();
	for (unsigned int i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		const struct tex t = scene_texture(row[i].number, row[i].block, row[i].bytes,
						   row[i].bits);
		const struct tsr_texture_stats n = scenes_of(&t);
		double samples = (double)n.samples, share;

		ktap_note("format %u: touches %.3f, fills %.4f, decodes %.4f, lines %.4f",
			  row[i].number, n.touches / samples, n.fills / samples,
			  n.decodes / samples, n.misses / samples);
		ktap_ok(n.touches / samples > 1.0 && n.touches / samples < 1.5);
		ktap_ok(n.fills / samples > 0.06 && n.fills / samples < 0.11);
		if (row[i].block <= 4)
			ktap_eq(n.decodes, row[i].block == 4 ? n.fills : 0);
		else
			ktap_ok(n.decodes > 0.2 * n.fills && n.decodes < 0.6 * n.fills);
		/* all of the texture is seen: its lines are as many as it has bytes */
		share = row[i].block == 1 ? 1 : row[i].bytes / 4.0 / (row[i].block * row[i].block);
		lines = i ? lines : (double)n.misses;
		ktap_ok(n.misses > 0.9 * share * lines && n.misses < 1.1 * share * lines);
	}
}

/* ---- Descriptors of Mesa --------------------------------------------------------------------- */

#define MESA_SIDE 24u
#define MESA_LEVELS 2u

/* A texture as Mesa's Panfrost describes it, of blocks at UNITS_DATA (tests/blocks/mesa.c). */
struct mesa_texture {
	const char *name;
	bool tiled;
	uint64_t texture[4], surfaces[2 * MESA_LEVELS];
};

static const struct mesa_texture mesa_textures[] = {
#define MESA_TEXTURE(name, tiled, t0, t1, t2, t3, ...) \
	{ #name, tiled, { t0, t1, t2, t3 }, { __VA_ARGS__ } },
#include "../blocks/mesa.h"
};

#define MESA_TEXTURES (sizeof(mesa_textures) / sizeof(mesa_textures[0]))

/* Blocks where Mesa's surfaces are, and a texture of their texels. */
static void mesa_pair(struct pair *p, const struct mesa_texture *m)
{
	static const struct shape shape = { TEX_2D, MESA_SIDE, MESA_SIDE, 1, 1 };
	const struct soup_format *f = soup_find(m->name);
	uint32_t plain_at = PLAIN_AT;

	KTAP_REQUIRE(f);
	describe(p, f, &shape, MESA_LEVELS, m->tiled, f->srgb);
	for (unsigned int l = 0; l < MESA_LEVELS; l++) {
		p->t.at[l] = (uint32_t)(m->surfaces[2 * l] - UNITS_DATA);
		p->t.row[l] = (uint32_t)m->surfaces[2 * l + 1];
		p->plain.row[l] = tex_extent(MESA_SIDE, l) * p->plain.bpp;
		p->plain.slice[l] = p->plain.row[l] * tex_extent(MESA_SIDE, l);
		p->plain.at[l] = plain_at;
		plain_at += p->plain.slice[l];
		fill_surface(p, l);
	}
}

static void mesa_write(const struct mesa_texture *mesa)
{
	memcpy(units_table(u, UNITS_TEXTURES), mesa->texture, sizeof(mesa->texture));
	memcpy(units_table(u, UNITS_SURFACES), mesa->surfaces, sizeof(mesa->surfaces));
	units_stop(u);
}

static bool mesa_fetches(const struct pair *p, const struct mesa_texture *mesa)
{
	for (unsigned int n = 0; n < 50; n++) {
		struct message m = { 0 }, want;

		make_fetch(&m, &p->t);
		tex_write(&p->plain, 0);
		ktap_eq(run(&m), TSR_STEP_DONE);
		want = m;
		mesa_write(mesa);
		ktap_eq(run(&m), TSR_STEP_DONE);
		if (!same(p, &want, &m, "as Mesa has it"))
			return false;
	}
	return true;
}

/*
 * Every family of formats, linear and tiled, in Mesa's own words: the texels of its blocks. Of ASTC
 * without sRGB Mesa asks for HDR, which there is not: that is a fault, and LDR is one less.
 */
static void test_mesa(void)
{
	static struct pair p;

	units_insn(u, TSR_OP_ADD_TEXC);
	for (unsigned int i = 0; i < MESA_TEXTURES; i++) {
		struct mesa_texture mesa = mesa_textures[i];
		struct message m = { 0 };

		mesa_pair(&p, &mesa);
		if ((mesa.texture[0] >> TSR_TEXTURE_FORMAT__SHIFT & 0xff) == 23) {
			make_fetch(&m, &p.t);
			mesa_write(&mesa);
			ktap_eq(run(&m), TSR_STEP_FAULT);
			units_fault_is(u, TSR_FAULT_SHADER_STATE, UNITS_TEXTURES, 0);
			mesa.texture[0] -= 1ull << TSR_TEXTURE_FORMAT__SHIFT;
		}
		ktap_ok(mesa_fetches(&p, &mesa));
	}
	ktap_eq(MESA_TEXTURES, 46);
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

/* Sizes of ASTC's blocks that there are, all others are faults at the surface. */
static void test_sizes(void)
{
	static const uint8_t extent[8] = { 4, 5, 6, 0, 8, 0, 10, 12 };
	static struct pair p;
	unsigned int good = 0;

	make_pair(&p, &soup_formats[10], &shapes[2], false, false);
	ktap_eq(p.f->kind, SOUP_ASTC);
	for (unsigned int bits = 0; bits < 64; bits++) {
		uint64_t *surface = units_table(u, UNITS_SURFACES);
		bool there = false;

		for (unsigned int i = 0; i < SOUP_FORMATS; i++)
			there |= soup_formats[i].kind == SOUP_ASTC &&
				 soup_formats[i].w == extent[bits & 7] &&
				 soup_formats[i].h == extent[bits >> 3];
		tex_write(&p.t, 0);
		surface[0] = (surface[0] & ~63ull) | bits;
		units_stop(u);
		ktap_eq(fetch(0, 0, &p.t), there ? TSR_STEP_DONE : TSR_STEP_FAULT);
		if (!there)
			units_fault_is(u, TSR_FAULT_SHADER_STATE, UNITS_SURFACES, 0);
		good += there;
	}
	ktap_eq(good, 14);
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
	ktap_run("[TEX7] [TEX8] views of blocks of several sizes", test_views);
	ktap_run("[TEX7] compressed blocks are counted, and the lines they fill", test_counts);
	ktap_run("[TEX7] 1.25 texels and 0.08 blocks a sample, and compressed lines of each format",
		 test_scenes);
	ktap_run("[TEX8] descriptors of compressed textures as Mesa packs them", test_mesa);
	ktap_run("[TEX8] compressed formats where there are none", test_refused);
	ktap_run("[TEX8] sizes of ASTC's blocks", test_sizes);
	ktap_run("[TEX8] compressed blocks that are not in memory", test_memory);
	units_free(u);
	return ktap_finish();
}
