// SPDX-License-Identifier: MIT
/*
 * Draws: before one is recorded, what has changed since the last is written into the pass's memory,
 * and named by at most one packet of each kind.
 */
#include <errno.h>
#include <string.h>

#include "gfx.h"

/* ---- Programs -------------------------------------------------------------------------------- */

/* The push constants of a stage, with those of storage buffers, written once. */
static inline __attribute__((always_inline)) int
write_push(struct tsr_gfx_pass *pass, struct gfx_bound *b)
{
	uint32_t i, *at;
	uint32_t *words;

	if (b->push_va || !b->push_words)
		return 0;
	for (i = 0; i < b->storage_count; i++) {
		at = b->push + b->storage[i].push_word;
		at[0] = (uint32_t)b->storage[i].va;
		at[1] = (uint32_t)(b->storage[i].va >> 32);
		at[2] = (uint32_t)b->storage[i].size;
		at[3] = 0;
	}
	words = gfx_data(pass, tsr_round_up(b->push_words * 4, 8), 16, &b->push_va);
	if (!words)
		return pass->error;
	gfx_copy_words(words, b->push, b->push_words);
	return 0;
}

/* Fills in a program and its arguments. The caller provides tables of attributes. */
static void fill_program(const struct tsr_gfx_pass *pass, const struct gfx_bound *b,
			 const struct tsr_shader *code, uint32_t entry,
			 struct tsr_shader_program *p)
{
	p->code = tsr_shader_va(code) + code->info.entry + entry;
	p->registers_64 = code->info.flags & TSR_SHADER_REGISTERS_64;
	p->push = b->push_words ? b->push_va : 0;
	p->push_words = b->push_words;
	p->clause_limit = pass->state.pipeline->info.clause_limit;
	p->uniform_buffers = b->uniforms;
	p->uniform_buffer_count = b->uniform_count;
	p->textures = b->textures;
	p->texture_count = b->texture_count;
	p->samplers = b->samplers;
	p->sampler_count = b->sampler_count;
	p->scratch = code->info.scratch_size ? b->scratch : 0;
	p->scratch_size = code->info.scratch_size;
}

static int check_program(struct tsr_gfx_pass *pass, const struct gfx_bound *b,
			 const struct tsr_shader *code)
{
	if (b->push_words < code->info.push_words)
		return gfx_fail(pass, EINVAL, "program '%s' with %u push words, expected %u",
				code->label, b->push_words, code->info.push_words);
	if (code->info.scratch_size && b->scratch_size < code->info.scratch_size)
		return gfx_fail(pass, EINVAL, "program '%s' needs scratch of %u bytes, got %u",
				code->label, code->info.scratch_size, b->scratch_size);
	if (code->serial > pass->code_serial)
		pass->code_serial = code->serial;
	return 0;
}

/*
 * Draws that differ only in push constants share the structures of their programs. The packet is
 * valid until the next SHADER_STATE.
 */
static inline int flush_push(struct tsr_gfx_pass *pass)
{
	struct gfx_bound *b = pass->state.bound;
	struct tsr_list_push packet;
	const unsigned int stages = pass->state.pipeline->info.fragment ? 2 : 1;
	uint64_t *words;
	int ret = 0;

	for (unsigned int i = 0; i < stages && !ret; i++)
		ret = write_push(pass, &b[i]);
	if (ret || (b[0].push_va == b[0].drawn_push && b[1].push_va == b[1].drawn_push))
		return ret;
	words = gfx_packet(pass, TSR_LIST_PUSH_QWORDS);
	if (!words)
		return pass->error;
	packet.vertex = b[0].drawn_push = b[0].push_va;
	packet.fragment = b[1].drawn_push = b[1].push_va;
	tsr_pack_list_push(words, &packet);
	return 0;
}

static int put_program(struct tsr_gfx_pass *pass, const struct tsr_shader_program *p, uint64_t *va)
{
	uint64_t *words = gfx_data(pass, TSR_SHADER_PROGRAM__QWORDS * 8, 64, va);

	if (!words)
		return pass->error;
	tsr_pack_shader_program(words, p);
	return 0;
}

int gfx_put_stage(struct tsr_gfx_pass *pass, const struct tsr_shader *code, uint32_t entry,
		  struct tsr_shader_program *program, uint64_t *va)
{
	const struct gfx_bound *b = &pass->state.bound[0];
	int ret = check_program(pass, b, code);

	fill_program(pass, b, code, entry, program);
	return ret ? ret : put_program(pass, program, va);
}

static int write_vertex_programs(struct tsr_gfx_pass *pass)
{
	struct gfx_state *s = &pass->state;
	const struct tsr_gfx_pipeline_info *p = &s->pipeline->info;
	const struct tsr_shader *varying = p->varying;
	struct tsr_shader_program program = {
		.attributes = s->attributes, .attribute_count = s->attribute_count,
		.attribute_buffers = s->attribute_buffers,
		.attribute_buffer_count = s->attribute_buffer_count,
		.varyings = s->attributes + s->attribute_count * 8,
		.varying_count = s->pipeline->output_count,
	};
	int ret = check_program(pass, &s->bound[0], p->vertex);

	if (!ret && varying)
		ret = check_program(pass, &s->bound[0], varying);
	if (!ret)
		ret = write_push(pass, &s->bound[0]);
	if (ret)
		return ret;
	s->varying = s->geometry = 0;
	s->bound[0].own_push = s->bound[0].push_va;
	fill_program(pass, &s->bound[0], p->vertex, p->vertex_entry, &program);
	if (p->stages) {
		ret = gfx_stages_write(pass, &program);
		return ret ? ret : put_program(pass, &program, &s->position);
	}
	ret = put_program(pass, &program, &s->position);
	if (p->vertex_flags & TSR_GFX_VERTEX_ONE_SHADER && p->varying_count)
		s->varying = s->position;
	if (!ret && varying && p->varying_count) {
		fill_program(pass, &s->bound[0], varying, p->varying_entry, &program);
		ret = put_program(pass, &program, &s->varying);
	}
	return ret;
}

static int write_fragment_program(struct tsr_gfx_pass *pass)
{
	struct gfx_state *s = &pass->state;
	const struct tsr_gfx_pipeline_info *p = &s->pipeline->info;
	struct tsr_shader_program program = { 0 };
	int ret;

	s->fragment = 0;
	if (!p->fragment)
		return 0;
	ret = check_program(pass, &s->bound[1], p->fragment);
	if (!ret)
		ret = write_push(pass, &s->bound[1]);
	if (ret)
		return ret;
	s->bound[1].own_push = s->bound[1].push_va;
	fill_program(pass, &s->bound[1], p->fragment, p->fragment_entry, &program);
	ret = gfx_tables_fragment(pass, &program);
	return ret ? ret : put_program(pass, &program, &s->fragment);
}

static inline bool same(const struct gfx_instancing *a, const struct gfx_instancing *b)
{
	return a->many == b->many && a->padded == b->padded && a->first == b->first &&
	       a->added == b->added;
}

/* Programs and SHADER_STATE as far as they have changed, with the @tables of attributes or not. */
static int write_programs(struct tsr_gfx_pass *pass, const struct gfx_instancing *n, bool tables)
{
	struct gfx_state *s = &pass->state;
	struct tsr_shader_state state;
	struct tsr_list_shader_state packet;
	uint64_t *words;
	unsigned int i;
	int ret = 0;

	if (tables) {
		ret = gfx_tables_vertex(pass, n);
		s->instancing = *n;
	}
	if (!ret && (tables || s->bound[0].changed))
		ret = write_vertex_programs(pass);
	if (!ret && s->bound[1].changed)
		ret = write_fragment_program(pass);
	words = ret ? NULL : gfx_data(pass, TSR_SHADER_STATE__QWORDS * 8, 64, &packet.addr);
	if (!words)
		return pass->error;
	state = s->pipeline->state;
	state.position = s->position;
	state.varying = s->varying;
	state.fragment = s->fragment;
	state.geometry = s->geometry;
	tsr_pack_shader_state(words, &state);
	words = gfx_packet(pass, TSR_LIST_SHADER_STATE_QWORDS);
	if (!words)
		return pass->error;
	tsr_pack_list_shader_state(words, &packet);
	s->vertices_changed = s->programs_changed = false;
	for (i = 0; i < GFX_STAGES; i++) {
		s->bound[i].changed = false;
		s->bound[i].drawn_push = s->bound[i].own_push;
	}
	return 0;
}

/* ---- Fixed functions ------------------------------------------------------------------------- */

static uint32_t bits(float value)
{
	uint32_t word;

	memcpy(&word, &value, sizeof(word));
	return word;
}

/* The first pixel of @side whose centre does not lie below @edge. */
static uint32_t first_pixel(float edge, uint32_t side)
{
	float at = edge - 0.5f;
	uint32_t n;

	if (!(at > 0))
		return 0;
	if (at >= (float)side)
		return side;
	n = (uint32_t)at;
	return n + ((float)n < at);
}

/* The pixels whose centres lie in [from, from + length), and in the scissor, and the picture. */
static void clip_side(float from, float length, uint32_t first, uint32_t count, uint32_t side,
		      uint32_t *low, uint32_t *high)
{
	uint32_t edge[2] = { first_pixel(length < 0 ? from + length : from, side),
			     first_pixel(length < 0 ? from : from + length, side) };
	uint64_t end = (uint64_t)first + count;

	*low = first > edge[0] ? first : edge[0];
	*high = end < edge[1] ? (uint32_t)end : edge[1];
	*low = *low < side ? *low : side;
	*high = *high < *low ? *low : *high;
}

static void pack_viewport(const struct tsr_gfx_pass *pass, uint32_t i, uint64_t *words)
{
	const struct tsr_gfx_viewport *v = &pass->state.viewport[i];
	const struct tsr_rect *r = &pass->state.scissor[i];
	struct tsr_viewport p = {
		.x = bits(v->x), .y = bits(v->y),
		.width = bits(v->width), .height = bits(v->height),
		.near = bits(v->near_depth), .far = bits(v->far_depth),
	};

	clip_side(v->x, v->width, r->x, r->width, pass->info.width, &p.scissor_x0, &p.scissor_x1);
	clip_side(v->y, v->height, r->y, r->height, pass->info.height, &p.scissor_y0,
		  &p.scissor_y1);
	tsr_pack_viewport(words, &p);
}

static void pack_blend(const struct tsr_gfx_pass *pass, uint32_t i, uint64_t *words)
{
	const struct tsr_gfx_pipeline_info *p = &pass->state.pipeline->info;
	const struct tsr_gfx_target *t = &pass->info.color[i];
	const struct tsr_gfx_blend *b = &p->blends[i];
	struct tsr_blend v = {
		.enable = b->enable, .mask = b->mask,
		.src_color = b->src_color, .dst_color = b->dst_color, .color_op = b->color_op,
		.src_alpha = b->src_alpha, .dst_alpha = b->dst_alpha, .alpha_op = b->alpha_op,
		.mode = TSR_BLEND_MODE_FIXED, .components = 3, .target = i,
		.registers = b->registers,
	};
	const struct tsr_conversion format = {
		.format = gfx_target_format(t, false),
		.order = t->image ? t->image->info.order : 0,
		.srgb = t->image ? t->image->info.srgb : false,
	};
	uint64_t word;

	tsr_pack_conversion(&word, &format);
	v.format = (uint32_t)word & 0x3fffff;
	if (!b->mask)
		v.mode = TSR_BLEND_MODE_OFF;
	else if (!b->enable && b->mask == 0xf && !p->logic)
		v.mode = TSR_BLEND_MODE_OPAQUE;
	tsr_pack_blend(words, &v);
	/* a program's address and return value take the place of the fields */
	if (b->shader)
		words[1] = TSR_BLEND_MODE_PROGRAM | b->shader_return |
			   ((tsr_shader_va(b->shader) + b->shader->info.entry) &
			    0xfffffff0u) << 32;
}

static void fill_depth(const struct gfx_state *s, struct tsr_draw_state *d)
{
	const struct tsr_gfx_depth *z = &s->pipeline->info.depth;

	d->depth_test = z->test;
	d->depth_write = z->write;
	d->depth_function = z->function;
	d->depth_bounds = z->bounds;
	d->depth_min = bits(z->min);
	d->depth_max = bits(z->max);
	d->stencil_test = z->stencil;
	d->front_function = z->front.function;
	d->front_fail = z->front.fail;
	d->front_depth_fail = z->front.depth_fail;
	d->front_pass = z->front.pass;
	d->front_read_mask = z->front.read_mask;
	d->front_write_mask = z->front.write_mask;
	d->front_reference = s->reference[0];
	d->back_function = z->back.function;
	d->back_fail = z->back.fail;
	d->back_depth_fail = z->back.depth_fail;
	d->back_pass = z->back.pass;
	d->back_read_mask = z->back.read_mask;
	d->back_write_mask = z->back.write_mask;
	d->back_reference = s->reference[1];
}

static void fill_raster(const struct gfx_state *s, struct tsr_draw_state *d)
{
	const struct tsr_gfx_pipeline_info *p = &s->pipeline->info;
	const uint32_t r = p->raster;

	d->cull_front = r & TSR_GFX_RASTER_CULL_FRONT;
	d->cull_back = r & TSR_GFX_RASTER_CULL_BACK;
	d->front_clockwise = r & TSR_GFX_RASTER_FRONT_CLOCKWISE;
	d->provoking_last = r & TSR_GFX_RASTER_PROVOKING_LAST;
	d->depth_clamp = r & TSR_GFX_RASTER_DEPTH_CLAMP;
	d->depth_minus_one = r & TSR_GFX_RASTER_DEPTH_MINUS_ONE;
	d->discard = r & TSR_GFX_RASTER_NONE;
	d->depth_bias = r & TSR_GFX_RASTER_DEPTH_BIAS;
	d->line_mode =
		r & TSR_GFX_RASTER_BRESENHAM ? TSR_LINE_MODE_BRESENHAM : TSR_LINE_MODE_RECTANGULAR;
	d->point_origin =
		r & TSR_GFX_RASTER_POINT_LOWER ? TSR_POINT_ORIGIN_LOWER : TSR_POINT_ORIGIN_UPPER;
	d->alpha_to_coverage = r & TSR_GFX_RASTER_ALPHA_TO_COVERAGE;
	d->alpha_to_one = r & TSR_GFX_RASTER_ALPHA_TO_ONE;
	d->dither = r & TSR_GFX_RASTER_DITHER;
	d->logic = p->logic;
	d->logic_op = p->logic_op;
	d->sample_mask = p->sample_mask ? p->sample_mask : 0xffff;
	d->bias_constant = bits(s->bias[0]);
	d->bias_slope = bits(s->bias[1]);
	d->bias_clamp = bits(s->bias[2]);
	d->line_width = bits(s->line);
	d->point_size = bits(s->point);
	d->blend_red = bits(s->constant[0]);
	d->blend_green = bits(s->constant[1]);
	d->blend_blue = bits(s->constant[2]);
	d->blend_alpha = bits(s->constant[3]);
}

static int write_draw_state(struct tsr_gfx_pass *pass)
{
	struct gfx_state *s = &pass->state;
	uint32_t blends = s->pipeline->info.blend_count, i;
	struct tsr_draw_state d = { .viewport_count = s->viewports };
	struct tsr_list_draw_state packet;
	uint64_t *words;

	d.blend_count = blends = blends < pass->targets ? blends : pass->targets;
	fill_raster(s, &d);
	fill_depth(s, &d);
	words = gfx_data(pass, 128 + s->viewports * 32 + blends * 16, 64, &packet.addr);
	if (!words)
		return pass->error;
	d.viewports = packet.addr + 128;
	d.blends = d.viewports + s->viewports * 32;
	tsr_pack_draw_state(words, &d);
	for (i = 0; i < s->viewports; i++)
		pack_viewport(pass, i, words + 16 + 4 * i);
	for (i = 0; i < blends; i++)
		pack_blend(pass, i, words + 16 + 4 * s->viewports + 2 * i);
	words = gfx_packet(pass, TSR_LIST_DRAW_STATE_QWORDS);
	if (!words)
		return pass->error;
	tsr_pack_list_draw_state(words, &packet);
	s->draw_changed = false;
	return 0;
}

_Static_assert(TSR_DRAW_STATE__QWORDS * 8 == 128 && TSR_VIEWPORT__QWORDS * 8 == 32 &&
	       TSR_BLEND__QWORDS * 8 == 16, "sizes in write_draw_state()");

/* ---- Draws ----------------------------------------------------------------------------------- */

/* How many vertices the buffers have at most: no index that reads something is beyond. */
static uint64_t vertices_there(const struct gfx_state *s)
{
	const struct tsr_gfx_pipeline *p = s->pipeline;
	uint64_t most = 0, n;
	uint32_t i;

	for (i = 0; i < p->info.buffer_count; i++) {
		if (p->buffers[i].divisor || !p->buffers[i].stride)
			continue;
		n = s->vertices[i].size / p->buffers[i].stride + 1;
		most = most > n ? most : n;
	}
	return most;
}

/* By which number of vertices instances are told apart. */
static int pad(struct tsr_gfx_pass *pass, const struct tsr_gfx_draw *draw, bool indexed,
	       bool direct, struct gfx_instancing *n)
{
	uint64_t count = draw->count, most;

	if (indexed || !direct) {
		count = vertices_there(&pass->state);
		if (draw->base_vertex < 0)
			count += (uint64_t)-(int64_t)draw->base_vertex;
		/* programs that fetch by themselves: as many as there is room for */
		most = direct ? (1ull << 31) / draw->instances : 1u << 16;
		if (!count)
			count = most;
	}
	if (count > 0xdfffffffu)
		return gfx_fail(pass, E2BIG, "%llu vertices of several instances",
				(unsigned long long)count);
	n->padded = tsr_gfx_padded((uint32_t)count, &n->odd, &n->shift);
	if (direct && n->padded * draw->instances > 1ull << 32)
		return gfx_fail(pass, E2BIG, "%llu vertices (padded) of %u instances, expected at "
				"most 2^32 in all", (unsigned long long)n->padded, draw->instances);
	return 0;
}

/* How the device is told instances apart. @count of vertices is known only of direct draws. */
static inline int instancing(struct tsr_gfx_pass *pass, const struct tsr_gfx_draw *draw,
			     bool indexed, bool direct, struct gfx_instancing *n)
{
	n->many = !direct || draw->instances > 1;
	n->added = !direct && pass->state.pipeline->divides;
	n->first = direct && pass->state.pipeline->divides ? draw->first_instance : 0;
	return n->many ? pad(pass, draw, indexed, direct, n) : 0;
}

/* A guess at what BIN will leave in the heap. If it is too little the pass is drawn again. */
static inline void guess_heap(struct tsr_gfx_pass *pass, uint64_t count, bool indexed)
{
	const uint64_t stride = pass->state.pipeline->state.output_stride;
	uint64_t vertices = indexed ? count / 2 + 3 : count, batches = count / 128 + 1;
	uint64_t lists = (count / 2 + 5 * batches) * pass->tiles;

	if (lists > 16 * count + (2u << 20))
		lists = 16 * count + (2u << 20);
	pass->heap_wanted += vertices * (24 + stride) + 8 * count + 128 * batches + lists;
}

/* Reports the error of a draw that check_draw() refuses. */
static int refuse_draw(struct tsr_gfx_pass *pass, const struct tsr_gfx_draw *draw, bool indexed)
{
	const struct gfx_state *s = &pass->state;
	int ret = gfx_check(pass);

	if (ret)
		return ret;
	if (!s->pipeline)
		return gfx_fail(pass, EINVAL, "a draw before tsr_gfx_set_pipeline()");
	if (indexed)
		return gfx_fail(pass, EINVAL, "a draw with indices before tsr_gfx_set_indices()");
	return gfx_fail(pass, EINVAL, "base vertex %d of a draw without indices, expected 0",
			draw->base_vertex);
}

/*
 * Code for every draw is inline, and code for some draws is called, because returns are expensive
 * on an emulated processor.
 */
static inline int check_draw(struct tsr_gfx_pass *pass, const struct tsr_gfx_draw *draw,
			     bool indexed)
{
	const struct gfx_state *s = &pass->state;

	if (!pass->error && !pass->recorded && s->pipeline &&
	    (indexed ? s->index_type : !draw->base_vertex))
		return 0;
	return refuse_draw(pass, draw, indexed);
}

static inline int flush(struct tsr_gfx_pass *pass, const struct gfx_instancing *n)
{
	const struct gfx_state *s = &pass->state;
	const bool tables = s->vertices_changed || !same(n, &s->instancing);
	/* LIST_PUSH is for the first of several stages alone */
	const bool push = s->pipeline->stages && s->bound[0].push_words && !s->bound[0].push_va;
	int ret = 0;

	pass->state.bound[0].changed |= push;
	if (tables || s->programs_changed || s->bound[0].changed || s->bound[1].changed)
		ret = write_programs(pass, n, tables);
	if (!ret)
		ret = flush_push(pass);
	return ret || !s->draw_changed ? ret : write_draw_state(pass);
}

static int record(struct tsr_gfx_pass *pass, const struct tsr_gfx_draw *wanted, bool indexed)
{
	const struct gfx_state *s = &pass->state;
	struct gfx_instancing n = { 0 };
	struct tsr_gfx_draw draw = *wanted;
	int ret = check_draw(pass, &draw, indexed);
	uint64_t *words;

	draw.instances += !draw.instances;
	if (!ret)
		ret = instancing(pass, &draw, indexed, true, &n);
	if (!ret)
		ret = flush(pass, &n);
	if (ret || !draw.count)
		return ret;
	words = gfx_packet(pass, TSR_LIST_DRAW_QWORDS);
	if (!words)
		return pass->error;
	tsr_pack_list_draw(words, &(struct tsr_list_draw) {
		.topology = s->pipeline->info.topology,
		.index = indexed ? s->index_type : TSR_INDEX_TYPE_NONE,
		.restart = indexed && s->pipeline->info.restart,
		.explicit_padding = n.many, .padded_odd = n.odd, .padded_shift = n.shift,
		.count = draw.count, .instances = draw.instances, .first = draw.first,
		.base_vertex = draw.base_vertex, .first_instance = draw.first_instance,
		.indices = indexed ? s->indices : 0, .index_bytes = indexed ? s->index_bytes : 0,
	});
	guess_heap(pass, (uint64_t)draw.count * draw.instances, indexed);
	return 0;
}

int tsr_gfx_draw(struct tsr_gfx_pass *pass, const struct tsr_gfx_draw *draw)
{
	return record(pass, draw, false);
}

int tsr_gfx_draw_indexed(struct tsr_gfx_pass *pass, const struct tsr_gfx_draw *draw)
{
	return record(pass, draw, true);
}

int tsr_gfx_draw_indirect(struct tsr_gfx_pass *pass, bool indexed, uint64_t arguments,
			  uint32_t draws, uint32_t stride)
{
	const struct gfx_state *s = &pass->state;
	const struct tsr_gfx_draw unknown = { 0 };
	struct gfx_instancing n = { 0 };
	uint64_t *words;
	int ret = check_draw(pass, &unknown, indexed);

	if (!ret && (arguments % 4 || stride % 4 || !arguments))
		ret = gfx_fail(pass, EINVAL, "arguments of draws at 0x%llx, %u bytes apart, "
			       "expected multiples of 4", (unsigned long long)arguments, stride);
	if (!ret)
		ret = instancing(pass, &unknown, indexed, false, &n);
	if (!ret)
		ret = flush(pass, &n);
	if (ret || !draws)
		return ret;
	words = gfx_packet(pass, TSR_LIST_DRAW_INDIRECT_QWORDS);
	if (!words)
		return pass->error;
	tsr_pack_list_draw_indirect(words, &(struct tsr_list_draw_indirect) {
		.topology = s->pipeline->info.topology,
		.index = indexed ? s->index_type : TSR_INDEX_TYPE_NONE,
		.restart = indexed && s->pipeline->info.restart,
		.explicit_padding = true, .padded_odd = n.odd, .padded_shift = n.shift,
		.arguments = arguments, .draws = draws, .stride = stride,
		.indices = indexed ? s->indices : 0, .index_bytes = indexed ? s->index_bytes : 0,
	});
	guess_heap(pass, 4096ull * draws, indexed);
	return 0;
}

int tsr_gfx_draw_auto(struct tsr_gfx_pass *pass, uint64_t counter, uint64_t offset,
		      uint32_t stride)
{
	const struct tsr_gfx_draw unknown = { 0 };
	struct gfx_instancing n = { 0 };
	uint64_t *words;
	int ret = check_draw(pass, &unknown, false);

	if (!ret && (counter % 8 || !counter || !stride || pass->state.pipeline->divides))
		ret = gfx_fail(pass, EINVAL, "vertices of %u bytes by the counter at 0x%llx, "
			       "expected a multiple of 8, and a pipeline without divisors", stride,
			       (unsigned long long)counter);
	if (!ret)
		ret = flush(pass, &n);
	words = ret ? NULL : gfx_packet(pass, TSR_LIST_DRAW_AUTO_QWORDS);
	if (!words)
		return pass->error;
	tsr_pack_list_draw_auto(words, &(struct tsr_list_draw_auto){
		.topology = pass->state.pipeline->info.topology, .instances = 1,
		.counter = counter, .offset = offset, .stride = stride });
	guess_heap(pass, 4096, false);
	return 0;
}

int tsr_gfx_query(struct tsr_gfx_pass *pass, enum tsr_query kind, uint64_t va)
{
	uint64_t *words;
	int ret = gfx_check(pass);

	if (ret)
		return ret;
	if (kind > TSR_QUERY_STATISTICS || va % 8)
		return gfx_fail(pass, EINVAL, "query %u at 0x%llx, expected 0 to %d and a multiple "
				"of 8", (unsigned int)kind, (unsigned long long)va,
				TSR_QUERY_STATISTICS);
	words = gfx_packet(pass, TSR_LIST_QUERY_QWORDS);
	if (!words)
		return pass->error;
	tsr_pack_list_query(words, &(struct tsr_list_query){ .kind = kind, .addr = va });
	return 0;
}
