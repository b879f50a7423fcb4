/* SPDX-License-Identifier: MIT */
/*
 * More for tests that draw (see gfxt.h): programs from text, passes that are drawn at once, pieces
 * of programs. Programs of the guest and of the host are the same: tests/draw/draw_X.c includes
 * tests/guest/draw_X.c.
 */
#ifndef GFXDRAW_H
#define GFXDRAW_H

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "gfxt.h"
#include "tsr_regs.h"

/* Pieces of fragment programs. */
#define GFX_ATEST(alpha) \
	"clause message=atest slot=0 wait=0,6,7 td {\n" \
	"[fau=atest_datum]\n*NOP\n+ATEST r60:t1, r60, " alpha ", @r60\n}\n"
#define GFX_BLEND \
	"clause end message=blend slot=0 td {\n" \
	"*NOP\n+BLEND r48:t1, r60, blend0.w0, blend0.w1, @r0\n}\n"
/* x of the pixel in R8, y in R9; what R8 to R11 hold is lost. */
#define GFX_PLACE \
	"clause {\n" \
	"*LSHIFT_AND.i32 r8:t0, r59, 0xffff, 0x0.b0\n+NOP\n" \
	"*RSHIFT_OR.i32 r9:t0, r59, #0, 0x10.b0\n+NOP\n*NOP\n+NOP\n}\n"

#define GFX_FETCH_TEXT 1000		/* room for gfxt_fetch_text() */

/*
 * gfxt_fetch_text(): a fragment program whose color is the texel at the pixel's place, of a 2D
 * texture of unsigned 32-bit components. The first two push constants are the level and the layer.
 */
static inline void gfxt_fetch_text(char text[GFX_FETCH_TEXT])
{
	const uint32_t word = TSR_TEXTURE_OPERATION_FETCH << 12 | 1u << 11 |
		(uint32_t)TSR_TEXTURE_DIMENSION_2D << 18 |
		(uint32_t)TSR_TEXTURE_FETCH_TEXEL << 20 |
		(uint32_t)TSR_TEXTURE_RESULT_U32 << 24 | 15u << 28;

	snprintf(text, GFX_FETCH_TEXT, GFX_PLACE
		 "clause {\n*MOV.i32 r0, u0.w0\n+MOV.i32 r1, u0.w1\n*NOP\n+NOP\n}\n"
		 "clause message=tex slot=0 wait=0,6 {\n*NOP\n+TEXC.skip r8, r9, 0x%x, @r0\n}\n"
		 GFX_ATEST("r60") GFX_BLEND, word);
}

static inline struct tsr_shader *gfxt_program(struct gfxt *t, const char *text)
{
	struct tsr_shader *program = NULL;

	if (tsr_shader_assemble(t->code, text, strlen(text), "test", &program))
		ktap_fail("%s", tsr_error_message());
	return program;
}

/* gfxt_wait(): wait for a pass that was submitted; one that needs more memory is drawn again. */
static inline int gfxt_wait(struct tsr_gfx_pass *pass)
{
	int ret = tsr_gfx_wait(pass, TSR_DEADLINE_NEVER);

	return ret == -EAGAIN ? tsr_gfx_run(pass, TSR_DEADLINE_NEVER) : ret;
}

/* gfxt_draw(): submit and wait; what tsr_gfx_run() says. The pass goes. */
static inline int gfxt_draw(struct tsr_gfx_pass *pass)
{
	int ret = tsr_gfx_run(pass, TSR_DEADLINE_NEVER);

	tsr_gfx_pass_destroy(pass);
	return ret;
}

static inline void gfxt_drawn(struct tsr_gfx_pass *pass)
{
	if (!ktap_eq(gfxt_draw(pass), 0))
		ktap_note("%s", tsr_error_message());
}

static inline struct tsr_gfx_pass *gfxt_begin(struct gfxt *t, const struct tsr_gfx_pass_info *info)
{
	struct tsr_gfx_pass *pass = NULL;

	if (!ktap_eq(tsr_gfx_pass_create(t->gfx, info, sizeof(*info), &pass), 0)) {
		ktap_note("%s", tsr_error_message());
		exit(ktap_finish());
	}
	return pass;
}

/* A pass with one color target, cleared to @clear. */
static inline struct tsr_gfx_pass *gfxt_one(struct gfxt *t, struct tsr_image *image,
					    const float clear[4])
{
	struct tsr_gfx_pass_info info = {
		.color[0] = { .image = image, .load = TSR_GFX_LOAD_CLEAR },
	};

	memcpy(info.color[0].clear.f, clear, 4 * sizeof(*clear));
	return gfxt_begin(t, &info);
}

/* A triangle that covers the picture and more, at depth @z, all of one color. */
static inline void gfxt_cover(struct gfxt_vertex v[3], float z, const float color[4])
{
	static const float corner[3][2] = { { -1, -1 }, { 3, -1 }, { -1, 3 } };

	for (unsigned int i = 0; i < 3; i++) {
		v[i] = (struct gfxt_vertex){ .position = { corner[i][0], corner[i][1], z, 1 } };
		memcpy(v[i].color, color, sizeof(v[i].color));
	}
}

/* gfxt_vertices(): bind @count vertices, uploaded now. */
static inline void gfxt_vertices(struct gfxt *t, struct tsr_gfx_pass *pass,
				 const struct gfxt_vertex *v, uint32_t count)
{
	ktap_eq(tsr_gfx_set_vertices(pass, 0, gfxt_data(t, v, count * sizeof(*v)),
				     count * sizeof(*v)), 0);
}

/* gfxt_plain(): draw @count vertices as they are, all at once. */
static inline void gfxt_plain(struct gfxt *t, struct tsr_gfx_pass *pass,
			      struct tsr_gfx_pipeline *pipeline, const struct gfxt_vertex *v,
			      uint32_t count)
{
	const struct tsr_gfx_draw draw = { .count = count };

	ktap_eq(tsr_gfx_set_pipeline(pass, pipeline), 0);
	gfxt_vertices(t, pass, v, count);
	if (!ktap_eq(tsr_gfx_draw(pass, &draw), 0))
		ktap_note("%s", tsr_error_message());
}

/* gfxt_fill(): cover the picture with the pipeline. */
static inline void gfxt_fill(struct gfxt *t, struct tsr_gfx_pass *pass,
			     struct tsr_gfx_pipeline *pipeline, float z, const float color[4])
{
	struct gfxt_vertex v[3];

	gfxt_cover(v, z, color);
	gfxt_plain(t, pass, pipeline, v, 3);
}

static inline void gfxt_read(struct tsr_image *image, uint32_t level, uint32_t layer,
			     void *texels, size_t pitch)
{
	ktap_eq(tsr_image_read(image, level, layer, texels, pitch), 0);
}

static uint64_t gfxt_seed = 1;

/* gfxt_random(): from 0 to @below - 1. */
static inline uint32_t gfxt_random(uint32_t below)
{
	gfxt_seed = gfxt_seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(gfxt_seed >> 33) % below;
}

/*
 * Draw the first @count triangles of struct gfxt_vertex at @vertices to a picture of @side by @side
 * RGBA8 texels; what gfxt_draw() says.
 */
static inline int gfxt_triangles(struct gfxt *t, struct tsr_gfx_pipeline *pipeline,
				 uint64_t vertices, uint32_t count, uint32_t side, uint8_t *texels)
{
	static const float clear[4];
	struct tsr_image *image = gfxt_image(t, TSR_PIXEL_FORMAT_RGBA8_UNORM, side, 1);
	struct tsr_gfx_pass *pass = gfxt_one(t, image, clear);
	const struct tsr_gfx_draw all = { .count = 3 * count };
	int ret;

	ktap_eq(tsr_gfx_set_pipeline(pass, pipeline), 0);
	ktap_eq(tsr_gfx_set_vertices(pass, 0, vertices, 3 * count * sizeof(struct gfxt_vertex)), 0);
	ktap_eq(tsr_gfx_draw(pass, &all), 0);
	ret = gfxt_draw(pass);
	if (!ret)
		ktap_eq(tsr_image_read(image, 0, 0, texels, 4 * side), 0);
	tsr_image_unref(image);
	return ret;
}

#endif
