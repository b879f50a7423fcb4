/* SPDX-License-Identifier: MIT */
/*
 * Positions of a batch: out-codes and window coordinates of all vertices at once.
 *
 * All arithmetic is IEEE double precision in the order that is written here, so results do not
 * depend on the host. Everything is done for every vertex, without branches: what is computed of
 * one that lies behind the viewer or is no number is not used.
 */
#include "bin.h"

#include <string.h>

#include "../gpu.h"

#define SUBPIXELS (1 << TSR_SUBPIXEL_BITS)

/* Round to the nearest integer, ties to even: |x| is below 2^31. */
static inline int32_t nearest(double x)
{
	/* in this sum the last bit of the mantissa is the one of the units */
	union {
		double d;
		uint64_t u;
	} sum = { .d = x + 0x1.8p52 };

	return (int32_t)(uint32_t)sum.u;
}

/* Window coordinate to fixed point; whatever is not within the guard band is moved to its edge. */
static inline int32_t snap(double x)
{
	x *= SUBPIXELS;
	x = x > -(double)TSR_GUARD_BAND * SUBPIXELS ? x : -(double)TSR_GUARD_BAND * SUBPIXELS;
	x = x < (double)TSR_GUARD_BAND * SUBPIXELS - 1 ? x :
							 (double)TSR_GUARD_BAND * SUBPIXELS - 1;
	return nearest(x);
}

struct tsr_screen_vertex tsr_bin_screen(double xh, double yh, double zh, double w)
{
	double rw = 1 / w;

	return (struct tsr_screen_vertex){
		.x = snap(xh * rw), .y = snap(yh * rw), .z = (float)(zh * rw), .rw = (float)rw,
	};
}

/* A position as the program has left it, X to W. */
struct position {
	float x, y, z, w;
};

static inline uint32_t bit(bool set, uint32_t code)
{
	return set ? code : 0;
}

/* What is outside whatever the viewport: near, far, w, the guard band. */
static inline uint32_t depth_and_guard(const struct tsr_bin_batch *b, unsigned int i)
{
	double reach = b->w[i] * TSR_GUARD_BAND;

	return bit(b->near[i] < 0, TSR_OUT_NEAR) | bit(b->far[i] < 0, TSR_OUT_FAR) |
	       bit(b->w[i] < TSR_CLIP_W_MIN, TSR_OUT_W) |
	       bit(b->xh[i] + reach < 0, 1u << TSR_OUT_GUARD_SHIFT) |
	       bit(reach - b->xh[i] < 0, 2u << TSR_OUT_GUARD_SHIFT) |
	       bit(b->yh[i] + reach < 0, 4u << TSR_OUT_GUARD_SHIFT) |
	       bit(reach - b->yh[i] < 0, 8u << TSR_OUT_GUARD_SHIFT);
}

/* 0 for numbers, else no number. */
static inline float no_number(struct position p)
{
	return p.x * 0 + p.y * 0 + p.z * 0 + p.w * 0;
}

/* Clip coordinates. */
static void from_clip(struct tsr_bin_batch *b, unsigned int i, struct position p,
		      const struct tsr_bin_viewport *vp, bool minus_one)
{
	double x = p.x, y = p.y, z = p.z, w = p.w;
	uint32_t code;

	b->xh[i] = x * vp->sx + w * vp->ox;
	b->yh[i] = y * vp->sy + w * vp->oy;
	b->zh[i] = z * vp->sz + w * vp->oz;
	b->w[i] = w;
	b->near[i] = minus_one ? z + w : z;
	b->far[i] = w - z;
	code = bit(p.x < -p.w, TSR_OUT_LEFT) | bit(p.x > p.w, TSR_OUT_RIGHT) |
	       bit(p.y < -p.w, TSR_OUT_TOP) | bit(p.y > p.w, TSR_OUT_BOTTOM) |
	       bit(no_number(p) != 0, TSR_OUT_INVALID);
	b->code[i] = code | depth_and_guard(b, i);
	b->screen[i] = tsr_bin_screen(b->xh[i], b->yh[i], b->zh[i], w);
}

/* Window coordinates and 1/w. */
static void from_window(struct tsr_bin_batch *b, unsigned int i, struct position p,
			const struct tsr_bin_viewport *vp)
{
	double w = 1 / (double)p.w;
	uint32_t code;

	b->xh[i] = p.x * w;
	b->yh[i] = p.y * w;
	b->zh[i] = p.z * w;
	b->w[i] = w;
	b->near[i] = (p.z - vp->z_lo) * w;
	b->far[i] = (vp->z_hi - p.z) * w;
	code = bit((p.x - vp->x_lo) * w < 0, TSR_OUT_LEFT) |
	       bit((vp->x_hi - p.x) * w < 0, TSR_OUT_RIGHT) |
	       bit((p.y - vp->y_lo) * w < 0, TSR_OUT_TOP) |
	       bit((vp->y_hi - p.y) * w < 0, TSR_OUT_BOTTOM) |
	       bit(no_number(p) != 0 || p.w == 0, TSR_OUT_INVALID);
	b->code[i] = code | depth_and_guard(b, i);
	b->screen[i] = (struct tsr_screen_vertex){ snap(p.x), snap(p.y), p.z, p.w };
}

/* Distances: their out-codes. A clip distance that is no number makes the vertex invalid. */
static uint32_t distances(const uint64_t *record, const struct tsr_shader_state *shader)
{
	uint32_t clip = 0, cull = 0, invalid = 0;
	float d[TSR_CLIP_DISTANCES_MAX];

	memcpy(d, &record[TSR_POSITION_EXTENDED_DISTANCE_0__QWORD], sizeof(d));
	for (unsigned int i = 0; i < TSR_CLIP_DISTANCES_MAX; i++) {
		clip |= (uint32_t)(d[i] < 0) << i;
		cull |= (uint32_t)(d[i] < 0) << i;
		invalid |= (uint32_t)(d[i] * 0 != 0) << i;
	}
	return (clip & shader->clip_distances) << TSR_OUT_CLIP_SHIFT |
	       (cull & shader->cull_distances) << TSR_OUT_CULL_SHIFT |
	       bit(invalid & shader->clip_distances, TSR_OUT_INVALID);
}

/* Layer, viewport and point size of a vertex. */
static void extras(struct tsr_binning *bin, unsigned int i)
{
	const struct tsr_shader_state *shader = &bin->state->shader;
	const struct tsr_draw_state *draw = &bin->state->draw;
	struct tsr_bin_batch *b = &bin->batch;
	struct tsr_position_extended p;
	float size;

	tsr_unpack_position_extended(bin->run->record[i], &p);
	memcpy(&size, &p.point_size, sizeof(size));
	if (!shader->writes_point_size)
		memcpy(&size, &draw->point_size, sizeof(size));
	b->size[i] = tsr_screen_size(size);
	b->layer[i] = shader->writes_layer && p.layer < bin->info.frame.layers ? p.layer : 0;
	b->viewport[i] = shader->writes_viewport && p.viewport < draw->viewport_count ?
			 p.viewport : 0;
	b->mixed |= b->viewport[i] != b->viewport[0];
}

/* Vertex @slot, by @vp, to @corner. */
static inline void project(struct tsr_binning *bin, unsigned int slot, unsigned int corner,
			   const struct tsr_bin_viewport *vp)
{
	const struct tsr_bin_version *state = bin->state;
	struct tsr_bin_batch *b = &bin->batch;
	struct position p;

	memcpy(&p, bin->run->record[slot], sizeof(p));
	if (state->shader.position_mode == TSR_POSITION_MODE_WINDOW)
		from_window(b, corner, p, vp);
	else
		from_clip(b, corner, p, vp, state->draw.depth_minus_one);
	if (state->has_distances)
		b->code[corner] |= distances(bin->run->record[slot], &state->shader);
}

void tsr_bin_project_as(struct tsr_binning *bin, unsigned int slot, unsigned int corner,
			unsigned int viewport)
{
	project(bin, slot, corner, &bin->state->viewport[viewport]);
}

void tsr_bin_project(struct tsr_binning *bin)
{
	struct tsr_bin_batch *b = &bin->batch;

	b->mixed = false;
	for (unsigned int i = 0; i < b->vertices; i++) {
		const struct tsr_bin_viewport *vp = bin->state->viewport;

		if (bin->state->extended) {
			extras(bin, i);
			vp += b->viewport[i];
		}
		project(bin, i, i, vp);
	}
	bin->effort -= b->vertices;
}
