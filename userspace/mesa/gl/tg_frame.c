/* SPDX-License-Identifier: MIT */
#include "util/format/u_format.h"
#include "util/log.h"
#include "util/u_math.h"

#include "tc_frame.h"
#include "tg_context.h"
#include "tc_format.h"
#include "tg_frame.h"
#include "tg_resource.h"

static void fill_memory(const struct pipe_surface *s, const struct tg_resource *r,
			struct tsr_render_target *t)
{
	const unsigned level = s->u.tex.level;

	t->pointer = tg_resource_va(r, level, s->u.tex.first_layer, 0);
	t->layout = r->mem.layout;
	t->samples_log2 = util_logbase2(MAX2(r->base.nr_samples, 1));
	t->pitch = r->mem.level[level].pitch;
	t->sample_stride = r->base.nr_samples > 1 ? (uint32_t)r->mem.sample : 0;
	t->layer_stride = r->mem.volume ? r->mem.level[level].slice : r->mem.layer;
}

static struct tsr_render_target color_of(const struct tg_batch *b, unsigned i)
{
	const struct pipe_surface *s = b->fb.cbufs[i];
	const struct tc_format *f;
	struct tsr_render_target t = { .format = TSR_PIXEL_FORMAT_R8_UNORM,
				       .samples_log2 = b->samples_log2 };

	if (s) {
		f = tc_format(s->format);
		fill_memory(s, tg_resource(s->texture), &t);
		t.format = f->format;
		t.order = f->order;
		t.srgb = util_format_is_srgb(s->format);
		t.clear_0 = b->color[i].ui[0];
		t.clear_1 = b->color[i].ui[1];
		t.clear_2 = b->color[i].ui[2];
		t.clear_3 = b->color[i].ui[3];
	}
	return t;
}

static struct tsr_render_target depth_of(const struct tg_batch *b, bool stencil)
{
	const struct tg_resource *r = tg_resource(b->fb.zsbuf->texture);
	struct tsr_render_target t = { 0 };

	fill_memory(b->fb.zsbuf, stencil && r->stencil ? tg_resource(r->stencil) : r, &t);
	if (stencil) {
		t.format = tc_stencil_format(b->fb.zsbuf->format);
		t.clear_0 = b->stencil;
	} else {
		t.format = tc_format(b->fb.zsbuf->format)->format;
		t.clear_0 = fui(b->depth);
	}
	return t;
}

/* Depth and stencil in the same words come and go together. */
static uint32_t with_partner(const struct tg_batch *b, uint32_t mask)
{
	const uint32_t both = TG_DEPTH_BIT | TG_STENCIL_BIT;

	if (b->fb.zsbuf && tg_resource(b->fb.zsbuf->texture)->stencil)
		return mask;
	return mask & both && (b->targets & both) == both ? mask | both : mask;
}

static void fill_targets(const struct tg_batch *b, struct tc_frame *f)
{
	unsigned i;

	for (i = 0; i < b->fb.nr_cbufs; i++) {
		f->color[i] = color_of(b, i);
		f->pixel_bytes += b->fb.cbufs[i]
					  ? util_format_get_blocksize(b->fb.cbufs[i]->format) : 1;
	}
	f->has_depth = b->targets & TG_DEPTH_BIT;
	f->has_stencil = b->targets & TG_STENCIL_BIT;
	if (f->has_depth)
		f->depth = depth_of(b, false);
	if (f->has_stencil)
		f->stencil = depth_of(b, true);
}

bool tg_frame_write(struct tg_batch *b, struct tg_frame *out)
{
	const uint32_t touched = with_partner(b, b->cleared | b->drawn) & b->targets;
	struct tc_frame f = {
		.width = b->fb.width,
		.height = b->fb.height,
		.layers = b->layers,
		.samples_log2 = b->samples_log2,
		.colors = b->fb.nr_cbufs,
		.x1 = b->fb.width,
		.y1 = b->fb.height,
		/* of layers without a target only those count that something is drawn to */
		.render_layers = b->targets || b->layered ? b->layers : 1,
		.clear = b->cleared,
		.load = touched & ~b->cleared,
		.store = touched & ~b->invalid,
	};
	struct tc_frame_lists lists;

	fill_targets(b, &f);
	out->words = tg_batch_alloc(b, TC_FRAME_BYTES, TC_FRAME_ALIGN, &out->va);
	if (!out->words)
		return false;
	if (!tc_frame_pack(&f, out->va, out->words, &lists)) {
		mesa_loge(
			"tessera: framebuffer of %u x %u pixels, %u samples and %u targets is "
			"dropped: a tile of it "
			"does not fit into the device",
			f.width, f.height, 1u << f.samples_log2, f.colors);
		return false;
	}
	out->render_va = lists.render;
	out->render_size = lists.render_size;
	return true;
}
