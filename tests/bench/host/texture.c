/* SPDX-License-Identifier: MIT */
/*
 * The cost of a sample: messages of 16 lanes over a coherent scene of 256 by 256 pixels, a texture
 * that is turned and a little smaller than one texel a pixel. With each SIMD path, lane by lane,
 * and without a texture cache. Next to llvmpipe's 6 to 7 ns for a whole textured, blended and
 * depth-tested pixel; make bench has that figure of this machine (fill_texture of glbench).
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../../blocks/soup.h"
#include "figures.h"
#include "texture/sampler.h"
#include "simd/simd.h"
#include "units.h"

#define SIDE 64u			/* warps of 4 by 4 pixels along an edge of the scene */
#define TEXELS 128u			/* along an edge of the texture */

static struct units *u;

/* A scene: coordinates of all its warps. */
static union tsr_lanes s[SIDE * SIDE], t[SIDE * SIDE], face[SIDE * SIDE];

/* One texel a pixel times @across along x, @down along y, turned. */
static void make_scene(double across, double down, bool cube)
{
	double c = cos(0.3), d = sin(0.3);

	for (unsigned int w = 0; w < SIDE * SIDE; w++) {
		for (unsigned int l = 0; l < 16; l++) {
			/* tiles of 16 by 16 pixels, as a renderer has them */
			unsigned int tile = w / 16, x = tile % (SIDE / 4) * 16 + w % 4 * 4,
				     y = tile / (SIDE / 4) * 16 + w / 4 % 4 * 4;
			double px = (x + (l & 1) + (l >> 2 & 1) * 2) * across / TEXELS;
			double py = (y + (l >> 1 & 1) + (l >> 3) * 2) * down / TEXELS;

			s[w].f[l] = (float)(px * c - py * d);
			t[w].f[l] = (float)(px * d + py * c);
			face[w].u[l] = 4u << 29;
			if (cube) {
				s[w].f[l] = (float)(fabs(fmod(px, 1)) * 0.96 + 0.02);
				t[w].f[l] = (float)(fabs(fmod(py, 1)) * 0.96 + 0.02);
			}
		}
	}
}

static void run_scene(void *arg, unsigned int count)
{
	(void)arg;
	for (unsigned int i = 0; i < count; i += 16 * SIDE * SIDE) {
		for (unsigned int w = 0; w < SIDE * SIDE; w++) {
			u->msg = (struct tsr_msg){
				.insn = &u->insn, .src = { &s[w], &t[w], &face[w] },
				.reg = u->reg, .staging = 8, .lanes = UNITS_ALL_LANES,
			};
			tsr_msg_run(&u->env, &u->msg);
		}
	}
}

/* Textures 0: RGBA8, 1: sRGB, 2: RGBA16F; samplers: bilinear, trilinear, anisotropic. */
static void make_tables(unsigned int dimension)
{
	static const unsigned int formats[] = {
		TSR_PIXEL_FORMAT_RGBA8_UNORM, TSR_PIXEL_FORMAT_RGBA8_UNORM,
		TSR_PIXEL_FORMAT_RGBA16F,
	};

	for (unsigned int i = 0; i < 3; i++) {
		uint64_t *q = units_table(u, UNITS_TEXTURES + 32 * i);

		q[0] = 2 | dimension << 4 | (uint64_t)formats[i] << TSR_TEXTURE_FORMAT__SHIFT |
		       (uint64_t)(i == 1) << 30 | (uint64_t)(TEXELS - 1) << 32 |
		       (uint64_t)(TEXELS - 1) << 48;
		q[1] = 0x688 | TSR_TEXEL_ORDER_TILED << 12 | 7 << 16 | 0x1fffull << 48;
		q[2] = UNITS_SURFACES;
		q = units_table(u, UNITS_SAMPLERS + 32 * i);
		q[0] = 1 | TSR_WRAP_MODE_REPEAT << 8 | TSR_WRAP_MODE_REPEAT << 12 |
		       TSR_WRAP_MODE_REPEAT << 16 | 1 << 25 | 1 << 23 |
		       (i ? (uint64_t)TSR_MIPMAP_MODE_LINEAR : TSR_MIPMAP_MODE_NONE) << 30 |
		       0x1fffull << 48;
		q[1] = i == 2 ? 15 << 16 | TSR_LOD_ALGORITHM_ANISOTROPIC << 24 : 0;
	}
	for (unsigned int i = 0; i < 6 * 8; i++) {
		unsigned int extent = TEXELS >> i % 8, tiles = (extent + 15) / 16;
		uint64_t *q = units_table(u, UNITS_SURFACES + 16 * i);

		q[0] = UNITS_DATA + (i % 8 ? 0x20000 + 0x1000 * (i % 8) : 0);
		q[1] = tiles * 256 * 8;
	}
	units_stop(u);
}

/* Texture 3: one of @f's blocks in tiles, none of which is an error as a whole. */
static void make_compressed(const struct soup_format *f)
{
	const unsigned int across = (TEXELS + f->w - 1) / f->w;
	const unsigned int tiles = (across + 3) / 4, blocks = tiles * tiles * 16;
	uint64_t *texture = units_table(u, UNITS_TEXTURES + 32 * 3);
	uint64_t *surface = units_table(u, UNITS_SURFACES + 16 * 48);

	for (unsigned int n = 0, number = 0; n < blocks; number++) {
		uint8_t block[16];

		soup_block(f, number, block);
		memcpy(u->data + n * f->bytes, block, f->bytes);
		n += f->kind != SOUP_ASTC || soup_astc_good(f, block);
	}
	texture[0] = 2 | TSR_TEXTURE_DIMENSION_2D << 4 |
		     (uint64_t)f->number << TSR_TEXTURE_FORMAT__SHIFT |
		     (uint64_t)(TEXELS - 1) << 32 | (uint64_t)(TEXELS - 1) << 48;
	texture[1] = 0x688 | TSR_TEXEL_ORDER_TILED << 12 | 0x1fffull << 48;
	texture[2] = UNITS_SURFACES + 16 * 48;
	/* the size of ASTC's blocks: 2 is 6 */
	surface[0] = UNITS_DATA | (f->kind == SOUP_ASTC ? 2 << 3 | 2 : 0);
	surface[1] = tiles * 16 * f->bytes;
	units_stop(u);
}

/* The least of some runs, in time of the processor. */
static double measure(void)
{
	double least = INFINITY;

	for (unsigned int i = 0; i < FIGURE_RUNS; i++)
		least = fmin(least, figure_cpu_once(run_scene, NULL, 16 * SIDE * SIDE));
	return least;
}

static const char *path_name(void)
{
	static const char *const names[] = { "avx512", "avx2" };

	for (unsigned int i = 0; i < 2; i++) {
		const struct tsr_simd *simd = tsr_simd_named(names[i]);

		if (simd && u->textures->path == simd->texture)
			return names[i];
	}
	return "sse2";
}

static void figure(const char *name, unsigned int texture, unsigned int sampler)
{
	char full[80];

	u->insn.imm[TSR_IMM_TEXTURE_INDEX] = texture;
	u->insn.imm[TSR_IMM_SAMPLER_INDEX] = sampler;
	snprintf(full, sizeof(full), "texture_%s_%s", name,
		 u->textures->off ? "uncached" : !u->textures->path ? "lanes" : path_name());
	figure_print(full, measure(), "ns");
}

static void compressed_figures(void)
{
	static const struct soup_format formats[] = {
		{ "bc1", TSR_PIXEL_FORMAT_BC1_UNORM, 8, 4, 4, SOUP_ANY, SOUP_BYTES, false },
		{ "bc7", TSR_PIXEL_FORMAT_BC7_UNORM, 16, 4, 4, SOUP_BC7, SOUP_BYTES, false },
		{ "astc_6x6", TSR_PIXEL_FORMAT_ASTC_2D_LDR, 16, 6, 6, SOUP_ASTC, SOUP_FLOATS,
		  false },
	};

	for (unsigned int i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		char name[40];

		make_compressed(&formats[i]);
		snprintf(name, sizeof(name), "bilinear_%s", formats[i].name);
		figure(name, 3, 0);
	}
}

static void figures(void)
{
	bool slow = u->textures->off || !u->textures->path;

	make_tables(TSR_TEXTURE_DIMENSION_2D);
	units_insn(u, TSR_OP_ADD_TEXS_2D_F32);
	make_scene(0.9, 0.9, false);
	figure("bilinear", 0, 0);
	if (!slow) {
		figure("bilinear_srgb", 1, 0);
		figure("bilinear_rgba16f", 2, 0);
		units_insn(u, TSR_OP_ADD_TEXS_2D_F16);
		figure("bilinear_halves", 0, 0);
		units_insn(u, TSR_OP_ADD_TEXS_2D_F32);
		compressed_figures();
	}
	make_scene(1.4, 1.4, false);
	figure("trilinear", 0, 1);
	make_scene(8, 0.5, false);
	figure("anisotropic_16", 0, 2);
	make_tables(TSR_TEXTURE_DIMENSION_CUBE);
	units_insn(u, TSR_OP_ADD_TEXS_CUBE_F32);
	make_scene(0.9, 0.9, true);
	figure("cube", 0, 0);
}

int main(void)
{
	static const char *const names[] = { "avx512", "avx2", "sse2" };

	u = units_new(0);
	for (unsigned int i = 0; i < 3; i++) {
		if (!tsr_simd_named(names[i]))
			continue;
		u->textures->path = tsr_simd_named(names[i])->texture;
		figures();
	}
	u->textures->path = NULL;
	figures();
	u->textures->off = true;
	figures();
	units_free(u);
	return 0;
}
