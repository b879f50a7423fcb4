/* SPDX-License-Identifier: MIT */
#include "util/format/u_format.h"
#include "util/u_inlines.h"
#include "util/u_math.h"
#include "util/u_range.h"

#include "tg_copy.h"
#include "tg_region.h"
#include "tg_transfer.h"

/* Bytes up to here are copied by the CPU at once if the GPU does not use them. */
#define CPU_MOST	(64u << 10)

/* Rectangles of blocks in some layers, and all samples of them. */
struct region {
	struct tg_place dst, src;
	unsigned width, height, layers, samples;
	unsigned flip;			/* enum tg_copy_flip */
};

static unsigned samples_of(const struct pipe_resource *t)
{
	return MAX2(t->nr_samples, 1);
}

/* Texels at [x, x + width) and so on exist. */
static bool is_inside(const struct pipe_resource *t, unsigned level, int x, int y, int z, int width,
		      int height, int depth)
{
	return level <= t->last_level && x >= 0 && y >= 0 && z >= 0 && width > 0 && height > 0 &&
	       depth > 0 && (int64_t)x + width <= u_minify(t->width0, level) &&
	       (int64_t)y + height <= u_minify(t->height0, level) &&
	       (int64_t)z + depth <= util_num_layers(t, level);
}

/* ---- Places ---------------------------------------------------------------------------------- */

/* The engine reads and writes in no order: what is copied onto itself is left to others. */
static bool overlaps(const struct region *g)
{
	const struct tg_place *a = &g->dst, *b = &g->src;

	return a->resource->bo == b->resource->bo && a->level == b->level &&
	       a->layer < b->layer + g->layers && b->layer < a->layer + g->layers &&
	       a->x < b->x + g->width && b->x < a->x + g->width && a->y < b->y + g->height &&
	       b->y < a->y + g->height;
}

static bool fits(const struct region *g)
{
	const struct tg_resource *dst = g->dst.resource, *src = g->src.resource;

	return dst->mem.texel == src->mem.texel && tg_copy_fits(dst) && tg_copy_fits(src) &&
	       !overlaps(g);
}

/* A source of one sample is what all samples of the target become. */
static void copy_places(struct tg_context *ctx, const struct region *g)
{
	const unsigned last = samples_of(&g->src.resource->base) - 1;
	struct tg_place dst = g->dst, src = g->src;
	unsigned layer, sample;

	for (layer = 0; layer < g->layers; layer++) {
		for (sample = 0; sample < g->samples; sample++) {
			dst.layer = g->dst.layer + layer;
			src.layer = g->src.layer + layer;
			dst.sample = sample;
			src.sample = MIN2(sample, last);
			tg_copy_place(ctx, &dst, &src, g->width, g->height, g->flip);
		}
	}
}

static bool copy_region(struct tg_context *ctx, const struct region *g)
{
	if (!tg_copy_begin(ctx, g->dst.resource->bo, g->src.resource->bo))
		return false;
	copy_places(ctx, g);
	return true;
}

/* Stencil that is a resource of its own. */
static struct region stencil_of(const struct region *g)
{
	struct region stencil = *g;

	stencil.dst.resource = tg_resource(g->dst.resource->stencil);
	stencil.src.resource = tg_resource(g->src.resource->stencil);
	return stencil;
}

/* ---- Copies ---------------------------------------------------------------------------------- */

/* Texels to blocks. Returns false if the region begins within one. */
static bool to_blocks(struct tg_place *p, enum pipe_format format)
{
	const unsigned width = util_format_get_blockwidth(format);
	const unsigned height = util_format_get_blockheight(format);

	if (p->x % width || p->y % height)
		return false;
	p->x /= width;
	p->y /= height;
	return true;
}

static bool blocks_exist(const struct tg_place *p, const struct region *g)
{
	const struct pipe_resource *t = &p->resource->base;
	const unsigned width = util_format_get_nblocksx(t->format, u_minify(t->width0, p->level));
	const unsigned height =
		util_format_get_nblocksy(t->format, u_minify(t->height0, p->level));

	return p->level <= t->last_level && p->x + g->width <= width &&
	       p->y + g->height <= height && p->layer + g->layers <= util_num_layers(t, p->level);
}

bool tg_region_copy(struct tg_context *ctx, struct pipe_resource *dst, unsigned dst_level,
		    unsigned x, unsigned y, unsigned z, struct pipe_resource *src,
		    unsigned src_level, const struct pipe_box *box)
{
	struct region g = {
		.dst = { tg_resource(dst), dst_level, z, 0, x, y },
		.src = { tg_resource(src), src_level, (unsigned)box->z, 0, (unsigned)box->x,
			 (unsigned)box->y },
		.width = util_format_get_nblocksx(src->format, (unsigned)box->width),
		.height = util_format_get_nblocksy(src->format, (unsigned)box->height),
		.layers = (unsigned)box->depth,
		.samples = samples_of(dst),
	};
	const bool stencil = g.dst.resource->stencil;

	if (box->width <= 0 || box->height <= 0 || box->depth <= 0 || box->x < 0 || box->y < 0 ||
	    box->z < 0 || samples_of(dst) != samples_of(src) ||
	    stencil != !!g.src.resource->stencil)
		return false;
	if (!to_blocks(&g.dst, dst->format) || !to_blocks(&g.src, src->format) ||
	    !blocks_exist(&g.dst, &g) || !blocks_exist(&g.src, &g) || !fits(&g))
		return false;
	if (!copy_region(ctx, &g))
		return false;
	if (stencil) {
		g = stencil_of(&g);
		copy_region(ctx, &g);
	}
	return true;
}

/* The CPU may read the source now: the bytes go to the target as the program's own would. */
static bool copy_by_cpu(struct tg_context *ctx, struct tg_resource *dst, unsigned to,
			struct tg_resource *src, unsigned from, unsigned size)
{
	if (size > CPU_MOST || dst == src || tg_batch_writes(ctx, src->bo) ||
	    tg_bo_busy(src->bo, true))
		return false;
	tg_buffer_update(ctx, dst, to, size, src->bo->map + src->offset + from);
	return true;
}

bool tg_region_copy_buffer(struct tg_context *ctx, struct pipe_resource *dst, unsigned to,
			   struct pipe_resource *src, unsigned from, unsigned size)
{
	struct tg_resource *d = tg_resource(dst), *s = tg_resource(src);

	if (!size)
		return true;
	if ((uint64_t)to + size > dst->width0 || (uint64_t)from + size > src->width0 ||
	    (d->bo == s->bo && to < (uint64_t)from + size && from < (uint64_t)to + size))
		return false;
	if (copy_by_cpu(ctx, d, to, s, from, size))
		return true;
	if (!tg_copy_begin(ctx, d->bo, s->bo))
		return false;
	util_range_add(dst, &d->valid, to, to + size);
	tg_copy_linear(ctx, d->bo->va + d->offset + to, s->bo->va + s->offset + from, size);
	return true;
}

/* ---- Blits ----------------------------------------------------------------------------------- */

/* The blit leaves the source's bits in the target. */
static bool keeps_bits(const struct pipe_blit_info *b)
{
	const enum pipe_format src = b->src.format, dst = b->dst.format;

	if (util_format_get_blocksize(src) != tg_resource(b->src.resource)->mem.texel ||
	    util_format_get_blocksize(dst) != tg_resource(b->dst.resource)->mem.texel)
		return util_format_is_depth_or_stencil(src) && src == dst &&
		       b->src.resource->format == src && b->dst.resource->format == dst;
	if (src == dst)
		return true;
	return b->src.resource->format == src && b->dst.resource->format == dst &&
	       util_is_format_compatible(util_format_description(src),
					 util_format_description(dst));
}

/* Samples are kept, or one sample is: OpenGL averages colors, but no integers and no depths. */
static bool keeps_samples(const struct pipe_blit_info *b)
{
	const unsigned src = samples_of(b->src.resource), dst = samples_of(b->dst.resource);

	if (src == dst || src == 1 || b->sample0_only)
		return !b->dst_sample;
	return dst == 1 && !b->dst_sample &&
	       (util_format_is_pure_integer(b->src.format) ||
		util_format_is_depth_or_stencil(b->src.format));
}

/* One axis: [*to, *to + *size) is cut to [low, high), and what is read with it. */
static void clip(unsigned low, unsigned high, bool flip, int *to, int *from, int *size)
{
	const int begin = MAX2(*to, (int)MIN2(low, INT32_MAX));
	const int end = MIN2(*to + *size, (int)MIN2(high, INT32_MAX));

	*from += flip ? *to + *size - end : begin - *to;
	*to = begin;
	*size = end - begin;
}

/*
 * The rectangles of a blit without scaling: @to is in the target, @from in the source, of the
 * same size. Returns false if there is scaling.
 */
static bool find_boxes(const struct pipe_blit_info *b, struct pipe_box *to, struct pipe_box *from,
		       unsigned *flip)
{
	const struct pipe_scissor_state *s = &b->scissor;

	*to = b->dst.box;
	*from = b->src.box;
	if (abs(from->width) != to->width || abs(from->height) != to->height ||
	    from->depth != to->depth)
		return false;
	*flip = (from->width < 0 ? TG_FLIP_X : 0) | (from->height < 0 ? TG_FLIP_Y : 0);
	from->x += MIN2(from->width, 0);
	from->y += MIN2(from->height, 0);
	if (b->scissor_enable) {
		int x = to->x, y = to->y, width = to->width, height = to->height;
		int from_x = from->x, from_y = from->y;

		clip(s->minx, s->maxx, *flip & TG_FLIP_X, &x, &from_x, &width);
		clip(s->miny, s->maxy, *flip & TG_FLIP_Y, &y, &from_y, &height);
		u_box_3d(x, y, to->z, width, height, to->depth, to);
		u_box_3d(from_x, from_y, from->z, width, height, to->depth, from);
	}
	from->width = to->width;
	from->height = to->height;
	return true;
}

/* Both parts of a depth and stencil format, or the one that is a resource of its own. */
static bool copy_parts(struct tg_context *ctx, const struct pipe_blit_info *b,
		       const struct region *g)
{
	struct region stencil;

	if (!g->dst.resource->stencil)
		return copy_region(ctx, g);
	stencil = stencil_of(g);
	if (b->mask & PIPE_MASK_Z && !copy_region(ctx, g))
		return false;
	return !(b->mask & PIPE_MASK_S) || copy_region(ctx, &stencil);
}

/* The channels that texels of the target have are written, all of them. */
static bool is_whole(const struct pipe_blit_info *b)
{
	const unsigned there = util_format_get_mask(b->dst.resource->format) |
			       util_format_get_mask(b->dst.format);

	if (tg_resource(b->dst.resource)->stencil)
		return !(b->mask & ~PIPE_MASK_ZS);
	return (b->mask & there) == there;
}

bool tg_region_blit(struct tg_context *ctx, const struct pipe_blit_info *b)
{
	struct tg_resource *dst = tg_resource(b->dst.resource);
	struct tg_resource *src = tg_resource(b->src.resource);
	struct pipe_box to, from;
	struct region g = { .samples = samples_of(b->dst.resource) };

	if (b->swizzle_enable || b->alpha_blend || b->num_window_rectangles ||
	    dst->base.target == PIPE_BUFFER || src->base.target == PIPE_BUFFER ||
	    !dst->stencil != !src->stencil || util_format_is_compressed(b->src.format) ||
	    util_format_is_compressed(b->dst.format))
		return false;
	if (!is_whole(b) || !keeps_bits(b) || !keeps_samples(b) ||
	    !find_boxes(b, &to, &from, &g.flip))
		return false;
	if (to.width <= 0 || to.height <= 0)
		return true;		/* nothing is left inside the scissor */
	if (!is_inside(&dst->base, b->dst.level, to.x, to.y, to.z, to.width, to.height, to.depth) ||
	    !is_inside(&src->base, b->src.level, from.x, from.y, from.z, from.width, from.height,
		       from.depth))
		return false;
	g.dst = (struct tg_place){ dst, b->dst.level, (unsigned)to.z, 0, (unsigned)to.x,
				   (unsigned)to.y };
	g.src = (struct tg_place){ src, b->src.level, (unsigned)from.z, 0, (unsigned)from.x,
				   (unsigned)from.y };
	g.width = (unsigned)to.width;
	g.height = (unsigned)to.height;
	g.layers = (unsigned)to.depth;
	return fits(&g) && copy_parts(ctx, b, &g);
}
