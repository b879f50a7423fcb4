/* SPDX-License-Identifier: MIT */
/*
 * test: TSAN=0
 *
 * Fragments and their tile: what LD_TILE reads of each target, of samples and of what is not
 * there; what threads that end with BLEND leave.
 */
#include <string.h>

#include "ktap.h"
#include "pipe.h"
#include "shader/tile_buffer.h"

static const struct tsr_config *config;
static struct pipe *p;

static uint32_t as_word(float f)
{
	uint32_t word;

	memcpy(&word, &f, sizeof(word));
	return word;
}

static void start(const char *text)
{
	p = pipe_new(config);
	p->state.program = pipe_text(p, 1, TSR_STAGE_FRAGMENT, text);
	tsr_fragments_begin(p->f, &p->state);
}

static float color(unsigned int n, unsigned int c)
{
	return tsr_fragments_color(p->f, 0, c, n / 16)->f[n % 16];
}

static float tile_depth[128];
static uint8_t tile_stencil[128];
static float tile_texels[2][64][4];

/* LD_TILE of what @word names, as @type, in a quad at the right edge of the tile. */
static void load_tile(struct tsr_tile *tile, uint32_t word, enum tsr_register_type type)
{
	static const char text[] =
		"clause {\n"
		"	*MOV.i32 r8, u1.w0\n"
		"	+NOP\n"
		"	*MOV.i32 r9, u1.w1\n"
		"	+NOP\n"
		"	*NOP\n"
		"	+NOP\n"
		"}\n"
		"clause wait=0 {\n"
		"	*NOP\n"
		"	+LD_TILE.v4 r8, r60, r9, @r0\n"
		"}\n"
		PIPE_FINISH;

	start(text);
	p->push[2] = word;
	p->push[3] = type << 24;
	p->state.program = pipe_text(p, 1, TSR_STAGE_FRAGMENT, text);
	p->f->tile = tile;
	pipe_prim(p, 3);
	pipe_quad(p, 22, 4, 0);
}

/* Each pixel that the tile has reads four words; others, and all if there is none, read 0. */
static void check_tile(const struct tsr_tile *tile, uint32_t word, const float *depth,
		       const uint8_t *stencil, const float (*texels)[4])
{
	const unsigned int sample = word & 0xff;
	struct tsr_tile copy = *tile;

	load_tile(&copy, word, stencil ? TSR_REGISTER_TYPE_U32 : TSR_REGISTER_TYPE_F32);
	ktap_eq(pipe_fragments(p), TSR_STEP_DONE);
	for (unsigned int n = 0; n < 4; n++) {
		const unsigned int x = 6 + n % 2, y = 4 + n / 2;
		const unsigned int at = tsr_tile_place(tile, x, y, sample);
		uint32_t want[4] = { 0 };

		if (x < tile->width && depth) {
			want[0] = as_word(depth[at]);
			want[3] = as_word(1);
		} else if (x < tile->width && stencil) {
			want[0] = stencil[at];
			want[3] = 1;
		} else if (x < tile->width && texels) {
			memcpy(want, texels[8 * y + x], sizeof(want));
		}
		for (unsigned int c = 0; c < 4; c++)
			ktap_eq(tsr_fragments_color(p->f, 0, c, 0)->u[n], want[c]);
	}
	pipe_free(p);
}

static void test_load_tile(void)
{
	struct tsr_tile tile = {
		.x = 16, .width = 8, .height = 8, .targets = 1, .shift = 3, .samples_log2 = 1,
		.has_depth = true, .has_stencil = true, .depth = tile_depth,
		.stencil = tile_stencil,
		.color = { { .data = (uint8_t *)tile_texels, .pitch = 128, .plane = 1024 } },
	};
	float scaled[128];

	tsr_format_find(&tile.format[0], TSR_PIXEL_FORMAT_RGBA32F, 0, false);
	for (unsigned int i = 0; i < 128; i++) {
		tile_depth[i] = 3 * i + 1;
		tile_stencil[i] = 255 - i;
		for (unsigned int c = 0; c < 4; c++)
			tile_texels[i / 64][i % 64][c] = 4 * i + c;
	}
	for (unsigned int i = 0; i < 6; i++) {
		const unsigned int sample = i % 2;

		tile.width = i / 2 == 2 ? 7 : 8;
		/* floats as they are, or parts of the greatest number */
		tile.depth_scale = i / 2 == 1 ? 65535 : 0;
		for (unsigned int k = 0; k < 128; k++)
			scaled[k] = i / 2 == 1 ? tile_depth[k] / 65535 : tile_depth[k];
		check_tile(&tile, 0xff00ff00 | sample, scaled, NULL, NULL);
		check_tile(&tile, 0xff00fe00 | sample, NULL, tile_stencil, NULL);
		check_tile(&tile, 0xff000000 | sample, NULL, NULL, tile_texels[sample]);
	}
	/* no such sample, no such target */
	check_tile(&tile, 0xff00ff02, NULL, NULL, NULL);
	check_tile(&tile, 0xff000002, NULL, NULL, NULL);
	check_tile(&tile, 0xff000100, NULL, NULL, NULL);
	tile.has_depth = false;
	check_tile(&tile, 0xff00ff00, NULL, NULL, NULL);
	check_tile(&tile, 0xff00fe00, NULL, tile_stencil, NULL);
	tile.has_depth = true;
	tile.has_stencil = false;
	check_tile(&tile, 0xff00fe00, NULL, NULL, NULL);
	check_tile(&tile, 0xff00ff00, scaled, NULL, NULL);
	/* only a pixel's own place is read */
	load_tile(&tile, 0xfe000000, TSR_REGISTER_TYPE_F32);
	ktap_eq(pipe_fragments(p), TSR_STEP_FAULT);
	ktap_eq(p->sh->fault.code, TSR_FAULT_SHADER_UNSUPPORTED);
	ktap_eq(p->sh->fault.addr, p->sh->fault.clause);
	ktap_eq(p->sh->fault.group[0], 22);
	ktap_eq(p->sh->fault.group[1], 4);
	pipe_free(p);
}

/* Threads that end with BLEND: of registers that wrap; to what is off, or of a type none has. */
static void test_last_blend(void)
{
#define ENDS_WITH(from) \
		"clause {\n" \
		"	*MOV.i32 r62, 0x3f000000\n" \
		"	+NOP\n" \
		"	*MOV.i32 r63, r59\n" \
		"	+NOP\n" \
		"	*MOV.i32 r0, 0x40000000\n" \
		"	+NOP\n" \
		"	*MOV.i32 r1, 0x40800000\n" \
		"	+NOP\n" \
		"	*NOP\n" \
		"	+NOP\n" \
		"}\n" \
		"clause wait=0 {\n" \
		"	*NOP\n" \
		"	+BLEND r48:t1, r60, blend1.w0, blend1.w1, @r0\n" \
		"}\n" \
		"clause end {\n" \
		"	*NOP\n" \
		"	+BLEND r48:t1, r60, blend0.w0, blend0.w1, @" from "\n" \
		"}\n"
	static const char *const texts[] = {
		ENDS_WITH("r62"), ENDS_WITH("r0"), ENDS_WITH("r0"), ENDS_WITH("r0"),
	};
#undef ENDS_WITH

	for (unsigned int i = 0; i < 4; i++) {
		start(texts[i]);
		/* there are no more than eight targets */
		p->state.blend[1] = p->state.blend[0] | TSR_RENDER_TARGETS_MAX << 16;
		if (i == 1)
			p->state.blend[0] = TSR_BLEND_MODE_OFF;
		if (i == 2)
			p->state.blend[0] = TSR_BLEND_MODE_OPAQUE |
					    (uint64_t)TSR_REGISTER_TYPE_I64 << 56;
		if (i == 3)
			p->state.blend[0] = p->state.blend[1];
		pipe_prim(p, 3);
		for (unsigned int q = 0; q < 8; q++)
			pipe_quad(p, 2 * q, 6, 0);
		ktap_eq(pipe_fragments(p), TSR_STEP_DONE);
		for (unsigned int t = 0; t <= TSR_RENDER_TARGETS_MAX; t++) {
			for (unsigned int w = 0; w < TSR_BUNDLE_WARPS; w++)
				ktap_eq(p->f->written[t][w], !t && !i && w < 2 ? 0xffff : 0);
		}
		for (unsigned int n = 0; !i && n < 32; n++) {
			ktap_ok(color(n, 0) == 0.5f && color(n, 2) == 2 && color(n, 3) == 4);
			ktap_eq(tsr_fragments_color(p->f, 0, 1, n / 16)->u[n % 16],
				(n / 4 * 2 + n % 2) | (6 + n / 2 % 2) << 16);
		}
		pipe_free(p);
	}
}

int main(void)
{
	static const struct tsr_config late = { .late_messages = true };

	ktap_start();
	for (unsigned int i = 0; i < 2; i++) {
		config = i ? &late : NULL;
		ktap_run("[OM4] depth, stencil and colour of the tile", test_load_tile);
		ktap_run("[PIX9] threads that end with BLEND", test_last_blend);
	}
	return ktap_finish();
}
