/* SPDX-License-Identifier: MIT */
/*
 * Positions of a batch: out-codes and window coordinates of all vertices. Those in clip
 * coordinates that go through one viewport are done at once (lanes.h).
 *
 * All arithmetic is IEEE double precision in the order that is written here, so results do not
 * depend on the host. Everything is done for every vertex, without branches: what is computed of
 * one that lies behind the viewer or is no number is not used.
 */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("fp-contract=off")
#endif
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

#include "binner/bin.h"

#include <string.h>


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

/* Out-codes that do not depend on the viewport: near, far, w, the guard band. */
static inline uint32_t depth_and_guard(const struct tsr_bin_corner *c)
{
	double reach = c->w * TSR_GUARD_BAND;

	return bit(c->near < 0, TSR_OUT_NEAR) | bit(c->far < 0, TSR_OUT_FAR) |
	       bit(c->w < TSR_CLIP_W_MIN, TSR_OUT_W) |
	       bit(c->xh + reach < 0, 1u << TSR_OUT_GUARD_SHIFT) |
	       bit(reach - c->xh < 0, 2u << TSR_OUT_GUARD_SHIFT) |
	       bit(c->yh + reach < 0, 4u << TSR_OUT_GUARD_SHIFT) |
	       bit(reach - c->yh < 0, 8u << TSR_OUT_GUARD_SHIFT);
}

/* 0 for numbers, else no number. */
static inline float no_number(struct position p)
{
	return p.x * 0 + p.y * 0 + p.z * 0 + p.w * 0;
}

/* Clip coordinates. */
static struct tsr_bin_corner from_clip(struct position p, const struct tsr_bin_viewport *vp,
				       bool minus_one)
{
	double x = p.x, y = p.y, z = p.z, w = p.w;

	return (struct tsr_bin_corner){
		.xh = x * vp->sx + w * vp->ox,
		.yh = y * vp->sy + w * vp->oy,
		.zh = z * vp->sz + w * vp->oz,
		.w = w,
		.near = minus_one ? z + w : z,
		.far = w - z,
	};
}

static uint32_t clip_code(struct position p)
{
	return bit(p.x < -p.w, TSR_OUT_LEFT) | bit(p.x > p.w, TSR_OUT_RIGHT) |
	       bit(p.y < -p.w, TSR_OUT_TOP) | bit(p.y > p.w, TSR_OUT_BOTTOM) |
	       bit(no_number(p) != 0, TSR_OUT_INVALID);
}

/* Window coordinates and 1/w. */
static struct tsr_bin_corner from_window(struct position p, const struct tsr_bin_viewport *vp)
{
	double w = 1 / (double)p.w;

	return (struct tsr_bin_corner){
		.xh = p.x * w, .yh = p.y * w, .zh = p.z * w, .w = w,
		.near = (p.z - vp->z_lo) * w, .far = (vp->z_hi - p.z) * w,
	};
}

static uint32_t window_code(struct position p, const struct tsr_bin_viewport *vp)
{
	double w = 1 / (double)p.w;

	return bit((p.x - vp->x_lo) * w < 0, TSR_OUT_LEFT) |
	       bit((vp->x_hi - p.x) * w < 0, TSR_OUT_RIGHT) |
	       bit((p.y - vp->y_lo) * w < 0, TSR_OUT_TOP) |
	       bit((vp->y_hi - p.y) * w < 0, TSR_OUT_BOTTOM) |
	       bit(no_number(p) != 0 || p.w == 0, TSR_OUT_INVALID);
}

static struct tsr_bin_corner corner_of(const struct tsr_bin_version *state, struct position p,
				       const struct tsr_bin_viewport *vp)
{
	return state->shader->position_mode == TSR_POSITION_MODE_WINDOW ?
	       from_window(p, vp) : from_clip(p, vp, state->draw->depth_minus_one);
}

struct tsr_bin_corner tsr_bin_corner(const struct tsr_binning *bin, unsigned int slot,
				     unsigned int viewport)
{
	struct position p;

	memcpy(&p, tsr_vertex_records(bin->run)[slot], sizeof(p));
	return corner_of(bin->state, p, &bin->state->viewport[viewport]);
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
	const struct tsr_shader_state *shader = bin->state->shader;
	const struct tsr_draw_state *draw = bin->state->draw;
	struct tsr_bin_batch *b = &bin->batch;
	struct tsr_position_extended p;
	float size;

	tsr_unpack_position_extended(tsr_vertex_records(bin->run)[i], &p);
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
static void project(struct tsr_binning *bin, unsigned int slot, unsigned int corner,
		    const struct tsr_bin_viewport *vp)
{
	const struct tsr_bin_version *state = bin->state;
	struct tsr_bin_batch *b = &bin->batch;
	struct tsr_bin_corner c;
	struct position p;

	memcpy(&p, tsr_vertex_records(bin->run)[slot], sizeof(p));
	c = corner_of(state, p, vp);
	if (state->shader->position_mode == TSR_POSITION_MODE_WINDOW) {
		b->code[corner] = window_code(p, vp) | depth_and_guard(&c);
		b->screen[corner] = (struct tsr_screen_vertex){ snap(p.x), snap(p.y), p.z, p.w };
	} else {
		b->code[corner] = clip_code(p) | depth_and_guard(&c);
		b->screen[corner] = tsr_bin_screen(c.xh, c.yh, c.zh, c.w);
	}
	if (state->has_distances)
		b->code[corner] |= distances(tsr_vertex_records(bin->run)[slot], state->shader);
}

void tsr_bin_project_as(struct tsr_binning *bin, unsigned int slot, unsigned int corner,
			unsigned int viewport)
{
	project(bin, slot, corner, &bin->state->viewport[viewport]);
}

/* The bits that the out-codes of all vertices have, and those that any has. */
static void sum_up(struct tsr_bin_batch *b)
{
	uint32_t all = UINT32_MAX, any = 0;

	for (unsigned int i = 0; i < b->vertices; i++) {
		all &= b->code[i];
		any |= b->code[i];
	}
	b->all = all;
	b->any = any;
}

/*
 * All vertices go through @vp, in clip coordinates: at once. Where they lie is not asked for if
 * nothing of the batch can be seen; to look at that first pays for more than a vector of them.
 */
static void project_all(struct tsr_binning *bin, const struct tsr_bin_viewport *vp)
{
	const struct tsr_bin_version *state = bin->state;
	struct tsr_bin_batch *b = &bin->batch;
	const bool retained = tsr_vertex_retained(bin->run);
	const struct tsr_bin_projection p = {
		.position = retained ? bin->run->position : NULL,
		.record = retained ? NULL : tsr_vertex_records(bin->run), .count = b->vertices,
		.sx = vp->sx, .ox = vp->ox, .sy = vp->sy, .oy = vp->oy, .sz = vp->sz, .oz = vp->oz,
		.minus_one = state->draw->depth_minus_one, .screen = b->screen, .code = b->code,
	};

	b->all = retained && b->vertices > TSR_WARP_LANES ? bin->lanes->outside(&p) : 0;
	if (b->all & state->reject)
		return;
	bin->lanes->project(&p);
	for (unsigned int i = 0; state->has_distances && i < b->vertices; i++)
		b->code[i] |= distances(tsr_vertex_records(bin->run)[i], state->shader);
	sum_up(b);
}

void tsr_bin_project(struct tsr_binning *bin)
{
	const struct tsr_bin_viewport *vp = bin->state->viewport;
	bool window = bin->state->shader->position_mode == TSR_POSITION_MODE_WINDOW;
	struct tsr_bin_batch *b = &bin->batch;

	b->mixed = false;
	for (unsigned int i = 0; bin->state->extended && i < b->vertices; i++)
		extras(bin, i);
	if (bin->state->extended && !b->mixed)
		vp += b->viewport[0];
	tsr_bin_spend(bin, b->vertices);
	if (!window && !b->mixed) {
		project_all(bin, vp);
		return;
	}
	for (unsigned int i = 0; i < b->vertices; i++)
		project(bin, i, i, b->mixed ? &bin->state->viewport[b->viewport[i]] : vp);
	sum_up(b);
}
