/* SPDX-License-Identifier: MIT */
#include "draws.h"

#include <stdlib.h>
#include <string.h>

#include "draw_code.h"
#include "units/msg_format.h"
#include "render/output.h"

/* Parts of a scene. */
enum { FRAME, TARGET, STATE, CODE, TABLES, TEXTURE, DRAW, VERTICES, LISTS, FILL };

/* A state's kilobyte: SHADER_STATE, DRAW_STATE, viewports, blends. */
#define STATE_AT(n) (DRAWS_STATES + 0x400u * (n))
#define DRAW_STATE_AT(n) (STATE_AT(n) + 0x40)
#define VIEWPORTS_AT(n) (STATE_AT(n) + 0x100)
#define BLENDS_AT(n) (STATE_AT(n) + 0x300)
/* A program's kilobyte: attributes, varyings, buffers, push constants. */
#define PROGRAM_AT(n) (DRAWS_PROGRAMS + 0x80u * (n))
#define ATTRIBUTES_AT(n) (DRAWS_TABLES + 0x400u * (n))
#define VARYINGS_AT(n) (ATTRIBUTES_AT(n) + 0x80)
#define BUFFERS_AT(n) (ATTRIBUTES_AT(n) + 0x100)
#define PUSH_AT(n) (ATTRIBUTES_AT(n) + 0x200)
#define CODE_AT(n) (DRAWS_CODE + (uint32_t)FUZZ_CODE_BYTES * (n))
#define BLEND_PROGRAM (DRAWS_PROGRAMS_MAX - 1)
#define STRIDE 96u			/* bytes of outputs of a vertex */
#define CHOICES 64u			/* bytes of the input that are a part's */
#define CHOICES_PARTS 60u		/* parts that have such bytes of their own */

struct fuzz_random draws_part(const struct draws *d, unsigned int part, unsigned int number)
{
	const size_t first = (part * 16 + number) % CHOICES_PARTS * CHOICES;
	const uint64_t name[3] = { d->seed, part, number };
	struct fuzz_random r = { fuzz_seed((const uint8_t *)name, sizeof(name)), NULL, 0 };

	fuzz_next(&r);
	if (first < d->choices_size) {
		r.choices = d->choices + first;
		r.left = d->choices_size - first < CHOICES ? d->choices_size - first : CHOICES;
	}
	return r;
}

static uint64_t *at(struct draws *d, uint32_t offset)
{
	return (uint64_t *)(void *)(d->list + offset);
}

static bool without(const struct draws *d, uint32_t what)
{
	return d->left_out & what;
}

static uint32_t bits(float f)
{
	uint32_t u;

	memcpy(&u, &f, sizeof(u));
	return u;
}

/* Mostly 0 to 1, sometimes any. */
static uint32_t any_float(struct fuzz_random *r)
{
	static const float usual[] = { 0, 1, -1, .5f, 2, -0.0f, 1e-30f, 3e38f, 0.25f };

	if (fuzz_often(r, 180))
		return bits((float)fuzz_below(r, 257) / 256);
	return fuzz_often(r, 240) ? bits(usual[fuzz_below(r, 9)]) : (uint32_t)fuzz_next(r);
}

/* ---- Targets --------------------------------------------------------------------------------- */

static unsigned int texel_bytes(uint32_t format, uint32_t order)
{
	struct tsr_format f;

	return tsr_format_find(&f, format, order, false) ? f.bytes : 0;
}

/* Color formats that can be written, found once. */
static unsigned int any_format(struct fuzz_random *r)
{
	static uint8_t formats[256];
	static unsigned int count;

	for (unsigned int i = 0; !count && i < 256; i++) {
		for (; i < 256; i++) {
			if (tsr_output_format_valid(i, TSR_COMPONENT_ORDER_RGBA) &&
			    texel_bytes(i, TSR_COMPONENT_ORDER_RGBA))
				formats[count++] = i;
		}
	}
	if (fuzz_below(r, 3) == 0)
		return TSR_PIXEL_FORMAT_RGBA8_UNORM;
	return formats[fuzz_below(r, count)];
}

/* Lay out target @n of @bytes after the previous ones. Returns false if it does not fit. */
static bool lay_out(struct draws *d, struct fuzz_random *r, unsigned int n, unsigned int bytes)
{
	const struct tsr_frame *f = &d->frame;
	struct tsr_render_target *t = &d->target[n];
	uint64_t rows = f->height, plane;
	uint32_t columns;

	t->pointer = DRAWS_TARGETS + d->target_bytes;
	t->samples_log2 = !fuzz_below(r, 4) ? 0 : f->samples_log2;
	t->layout = fuzz_below(r, 2) ? TSR_LAYOUT_TILED : TSR_LAYOUT_LINEAR;
	if (t->layout == TSR_LAYOUT_TILED) {
		t->pitch = (f->width + 15) / 16 * 256 * bytes;
		rows = (f->height + 15) / 16;
	} else {
		t->pitch = (f->width * bytes + 15) & ~15u;
	}
	plane = (rows * t->pitch + 63) & ~63ull;
	t->sample_stride = (uint32_t)plane;
	t->layer_stride = plane << t->samples_log2;
	if (d->target_bytes + t->layer_stride * f->layers > DRAWS_TARGETS_SIZE - (64u << 10))
		return false;
	d->target_bytes += (uint32_t)t->layer_stride * f->layers;
	t->clear_0 = any_float(r);
	t->clear_1 = any_float(r);
	t->clear_2 = any_float(r);
	t->clear_3 = any_float(r);
	columns = (f->width + 7) / 8 * ((f->height + 7) / 8) * f->layers;
	if (!without(d, DRAWS_NO_TAGS) && t->samples_log2 == f->samples_log2 &&
	    n <= TSR_RENDER_TARGETS_MAX && !fuzz_below(r, 3)) {
		t->tags = DRAWS_TARGETS + DRAWS_TARGETS_SIZE - d->tags -
			  ((columns + 63) & ~63u);
		d->tags = (uint32_t)(DRAWS_TARGETS + DRAWS_TARGETS_SIZE - t->tags);
		t->expand = !fuzz_below(r, 4);
		d->tagged = true;
		if (d->tags > 64u << 10)
			return false;
	}
	return true;
}

static bool color(struct draws *d, unsigned int n, unsigned int *texel)
{
	struct fuzz_random r = draws_part(d, TARGET, n);
	struct tsr_render_target *t = &d->target[n];

	t->format = any_format(&r);
	t->order = TSR_COMPONENT_ORDER_RGBA;
	t->srgb = t->format == TSR_PIXEL_FORMAT_RGBA8_UNORM && !fuzz_below(&r, 4);
	if (t->format == TSR_PIXEL_FORMAT_RGBA8_UNORM && !fuzz_below(&r, 3))
		t->order = TSR_COMPONENT_ORDER_BGRA;
	*texel += texel_bytes(t->format, t->order);
	return lay_out(d, &r, n, texel_bytes(t->format, t->order));
}

static bool depth_and_stencil(struct draws *d)
{
	static const uint8_t formats[] = { TSR_PIXEL_FORMAT_Z16_UNORM, TSR_PIXEL_FORMAT_Z24X8_UNORM,
					   TSR_PIXEL_FORMAT_R32F };
	struct fuzz_random r = draws_part(d, TARGET, TSR_RENDER_TARGETS_MAX);
	struct tsr_render_target *z = &d->target[TSR_RENDER_TARGETS_MAX], *s = z + 1;
	bool together;

	z->format = formats[fuzz_below(&r, 3)];
	together = d->frame.has_stencil && z->format == TSR_PIXEL_FORMAT_Z24X8_UNORM &&
		   fuzz_below(&r, 2);
	if (d->frame.has_depth &&
	    !lay_out(d, &r, TSR_RENDER_TARGETS_MAX,
		     z->format == TSR_PIXEL_FORMAT_Z16_UNORM ? 2 : 4))
		return false;
	if (!d->frame.has_stencil)
		return true;
	s->format = TSR_PIXEL_FORMAT_S8;
	if (together && d->frame.has_depth) {
		z->tags = 0;
		*s = *z;
		s->format = TSR_PIXEL_FORMAT_X24S8;
		return true;
	}
	s->clear_0 = fuzz_below(&r, 4);
	return lay_out(d, &r, TSR_RENDER_TARGETS_MAX + 1, 1);
}

static bool try_targets(struct draws *d)
{
	unsigned int texel = 8;

	d->target_bytes = d->tags = 0;
	d->tagged = false;
	memset(d->target, 0, sizeof(d->target));
	for (unsigned int i = 0; i < d->frame.targets; i++) {
		if (!color(d, i, &texel))
			return false;
	}
	if ((size_t)texel << (2 * d->frame.tile_shift + d->frame.samples_log2) >
	    TSR_TILE_BUFFER_BYTES)
		return false;
	return depth_and_stencil(d);
}

static void frame(struct draws *d)
{
	struct fuzz_random r = draws_part(d, FRAME, 0);
	struct tsr_frame *f = &d->frame, expanded;

	*f = (struct tsr_frame){
		.width = 1 + fuzz_below(&r, fuzz_below(&r, 2) ? 40 : 96),
		.height = 1 + fuzz_below(&r, 48),
		.layers = without(d, DRAWS_NO_LAYERS) || fuzz_below(&r, 5) ? 1 :
			  2 + fuzz_below(&r, 3),
		.tile_shift = TSR_TILE_SHIFT_MIN + fuzz_below(&r, 4),
		.samples_log2 = without(d, DRAWS_NO_SAMPLES) || fuzz_below(&r, 2) ? 0 :
				1 + fuzz_below(&r, 4),
		.targets = fuzz_below(&r, 4) ? 1 : fuzz_below(&r, 9),
		.has_depth = fuzz_below(&r, 4), .has_stencil = fuzz_below(&r, 2),
		.heap = DRAWS_HEAP, .heap_size = DRAWS_HEAP_SIZE,
		.colour = DRAWS_LIST + DRAWS_TARGET,
		.depth = DRAWS_LIST + DRAWS_TARGET + 64 * TSR_RENDER_TARGETS_MAX,
		.stencil = DRAWS_LIST + DRAWS_TARGET + 64 * (TSR_RENDER_TARGETS_MAX + 1),
		.sample_positions = DRAWS_DATA + DRAWS_TEXELS,
	};
	if (without(d, DRAWS_NO_ZS))
		f->has_depth = f->has_stencil = false;
	/* smaller, until it fits */
	while (!try_targets(d)) {
		if (f->samples_log2)
			f->samples_log2--;
		else if (f->targets > 1)
			f->targets--;
		else if (f->tile_shift > TSR_TILE_SHIFT_MIN)
			f->tile_shift--;
		else
			abort();
	}
	tsr_pack_frame(at(d, DRAWS_FRAME), f);
	expanded = *f;
	expanded.colour += DRAWS_EXPAND_TARGET - DRAWS_TARGET;
	expanded.depth += DRAWS_EXPAND_TARGET - DRAWS_TARGET;
	expanded.stencil += DRAWS_EXPAND_TARGET - DRAWS_TARGET;
	tsr_pack_frame(at(d, DRAWS_EXPAND_FRAME), &expanded);
	for (unsigned int i = 0; i < TSR_RENDER_TARGETS_MAX + 2; i++) {
		struct tsr_render_target target = d->target[i];

		tsr_pack_render_target(at(d, DRAWS_TARGET + 64 * i), &target);
		target.expand = target.tags;
		tsr_pack_render_target(at(d, DRAWS_EXPAND_TARGET + 64 * i), &target);
	}
}

/* ---- Programs -------------------------------------------------------------------------------- */

/* Vertex formats that are read as floats. */
static const uint8_t vertex_formats[] = {
	TSR_PIXEL_FORMAT_RGBA32F, TSR_PIXEL_FORMAT_RGB32F, TSR_PIXEL_FORMAT_RG32F,
	TSR_PIXEL_FORMAT_RGBA8_UNORM, TSR_PIXEL_FORMAT_RG16_SNORM, TSR_PIXEL_FORMAT_RGBA16F,
	TSR_PIXEL_FORMAT_R8_UNORM, TSR_PIXEL_FORMAT_R32F,
};

static void attribute(struct draws *d, uint32_t offset, uint32_t format, unsigned int buffer,
		      int32_t where, bool add)
{
	tsr_pack_attribute(at(d, offset), &(struct tsr_attribute){
		.buffer = buffer, .format = format, .order = TSR_COMPONENT_ORDER_RGBA,
		.offset = where, .add_offset = add });
}

/*
 * Tables of program @n: buffer 0 positions, 1 to 3 other attributes (by vertex, by instance), 4
 * and 5 a division, 6 outputs, 7 varyings that lie among the vertices.
 */
static void tables(struct draws *d, unsigned int n, unsigned int state)
{
	struct fuzz_random r = draws_part(d, TABLES, state);
	struct tsr_attribute_buffer b[8] = {
		[0] = { .type = TSR_ATTRIBUTE_BUFFER_TYPE_LINEAR, .stride = 16 },
		[1] = { .type = TSR_ATTRIBUTE_BUFFER_TYPE_MODULUS,
			.divisor_shift = fuzz_below(&r, 6), .divisor_odd = fuzz_below(&r, 5),
			.stride = 4 * fuzz_below(&r, 9) },
		[2] = { .type = TSR_ATTRIBUTE_BUFFER_TYPE_SHIFT,
			.divisor_shift = fuzz_below(&r, 6), .stride = 16 },
		[3] = { .type = TSR_ATTRIBUTE_BUFFER_TYPE_LINEAR, .stride = 20 },
		[4] = { .type = TSR_ATTRIBUTE_BUFFER_TYPE_DIVIDE, .divisor_shift = 1,
			.divisor_odd = 1, .stride = 16 },
		[6] = { .type = TSR_ATTRIBUTE_BUFFER_TYPE_LINEAR },
		[7] = { .type = TSR_ATTRIBUTE_BUFFER_TYPE_LINEAR, .stride = 16 },
	};
	uint32_t push[16] = { DRAWS_DATA + DRAWS_STORES, 0, fuzz_next(&r) & 0xff00ff, 0,
			      TSR_REGISTER_TYPE_F32 << 24 |
				      d->target[0].format << 12 | d->target[0].order, 0,
			      any_float(&r), any_float(&r) };

	for (unsigned int i = 0; i < 8; i++) {
		if (i != 6) {
			b[i].pointer = DRAWS_DATA + DRAWS_VERTICES + (i ? 64 * fuzz_below(&r, 9)
									 : 0);
			b[i].size = DRAWS_VERTICES_SIZE / (1 + fuzz_below(&r, 3)) - 1024;
		}
		tsr_pack_attribute_buffer(at(d, BUFFERS_AT(n) + 16 * i), &b[i]);
	}
	/* by three */
	tsr_pack_attribute_buffer_divisor(at(d, BUFFERS_AT(n) + 16 * 5),
					  &(struct tsr_attribute_buffer_divisor){
						  .type = TSR_ATTRIBUTE_BUFFER_TYPE_CONTINUATION,
						  .magic = 0x2aaaaaaa, .divisor = 3 });
	attribute(d, ATTRIBUTES_AT(n), TSR_PIXEL_FORMAT_RGBA32F, 0, 0, true);
	for (unsigned int i = 1; i < 8; i++)
		attribute(d, ATTRIBUTES_AT(n) + 8 * i,
			  vertex_formats[fuzz_below(&r, sizeof(vertex_formats))],
			  fuzz_below(&r, 5), 4 * fuzz_below(&r, 8), fuzz_below(&r, 2));
	/*
	 * Varying i is output i, in its or another format. Some that fragments read lie elsewhere;
	 * outputs do not, since batches are shaded in no order.
	 */
	for (unsigned int i = 0; i < 8; i++)
		attribute(d, VARYINGS_AT(n) + 8 * i,
			  vertex_formats[fuzz_below(&r, 3) ? 0 :
					 fuzz_below(&r, sizeof(vertex_formats))],
			  fuzz_below(&r, 8) || n % 3 != 2 ? 6 : 7, 16 * i, false);
	memcpy(at(d, PUSH_AT(n)), push, sizeof(push));
}

static void program(struct draws *d, unsigned int n, unsigned int state,
		    const struct fuzz_draw_code *code)
{
	memcpy(d->list + CODE_AT(n), code->code, code->size);
	tables(d, n, state);
	tsr_pack_shader_program(at(d, PROGRAM_AT(n)), &(struct tsr_shader_program){
		.code = DRAWS_LIST + CODE_AT(n), .registers_64 = code->registers_64,
		.push = DRAWS_LIST + PUSH_AT(n), .push_words = 16,
		.attributes = DRAWS_LIST + ATTRIBUTES_AT(n), .attribute_count = 8,
		.attribute_buffers = DRAWS_LIST + BUFFERS_AT(n), .attribute_buffer_count = 8,
		.varyings = DRAWS_LIST + VARYINGS_AT(n), .varying_count = 8,
		.textures = DRAWS_LIST + DRAWS_TEXTURES, .texture_count = 4,
		.samplers = DRAWS_LIST + DRAWS_SAMPLERS, .sampler_count = 4,
		.clause_limit = 10000 });
}

/* ---- States ---------------------------------------------------------------------------------- */

static void blend(struct draws *d, struct fuzz_random *r, unsigned int state, unsigned int n,
		  bool *by_program)
{
	const unsigned int factors = TSR_BLEND_FACTOR_ONE_MINUS_SRC1_ALPHA + 1;
	const struct tsr_render_target *t = &d->target[n];
	struct tsr_blend b = {
		.enable = !without(d, DRAWS_NO_BLENDING) && fuzz_below(r, 2),
		.mask = fuzz_below(r, 3) ? 15 : fuzz_below(r, 16),
		.src_color = fuzz_below(r, factors), .dst_color = fuzz_below(r, factors),
		.src_alpha = fuzz_below(r, factors), .dst_alpha = fuzz_below(r, factors),
		.color_op = fuzz_below(r, 5), .alpha_op = fuzz_below(r, 5),
		.mode = fuzz_below(r, 8) ? TSR_BLEND_MODE_FIXED : fuzz_below(r, 8) ?
			TSR_BLEND_MODE_OPAQUE : TSR_BLEND_MODE_OFF,
		.components = fuzz_below(r, 8) ? 3 : fuzz_below(r, 4), .target = n,
		.format = t->format << 12 | t->order, .registers = TSR_REGISTER_TYPE_F32,
	};

	if (fuzz_below(r, 2)) {
		b.src_color = b.src_alpha = TSR_BLEND_FACTOR_SRC_ALPHA;
		b.dst_color = b.dst_alpha = TSR_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA;
		b.color_op = b.alpha_op = TSR_BLEND_OP_ADD;
	}
	if (!without(d, DRAWS_NO_TILE) && !fuzz_below(r, 16)) {
		b.mode = TSR_BLEND_MODE_PROGRAM;
		b.components = b.format = b.target = b.registers = 0;
		*by_program = true;
	}
	tsr_pack_blend(at(d, BLENDS_AT(state) + 16 * n), &b);
	if (b.mode == TSR_BLEND_MODE_PROGRAM)
		/* bits 63:36 are those of the address, R48 becomes 0 */
		at(d, BLENDS_AT(state) + 16 * n)[1] =
			(uint64_t)(uint32_t)(DRAWS_LIST + CODE_AT(BLEND_PROGRAM)) >> 4 << 36;
}

static void draw_state(struct draws *d, struct fuzz_random *r, unsigned int n)
{
	struct tsr_draw_state s = {
		.cull_front = !fuzz_below(r, 12), .cull_back = !fuzz_below(r, 6),
		.front_clockwise = fuzz_below(r, 2), .provoking_last = fuzz_below(r, 2),
		.depth_clamp = !fuzz_below(r, 3), .depth_minus_one = !fuzz_below(r, 4),
		.depth_bias = !fuzz_below(r, 4), .line_mode = fuzz_below(r, 2),
		.point_origin = fuzz_below(r, 2), .alpha_to_coverage = !fuzz_below(r, 6),
		.alpha_to_one = !fuzz_below(r, 8), .logic = !fuzz_below(r, 10),
		.logic_op = fuzz_below(r, 16), .viewport_count = 1 + fuzz_below(r, 3),
		.blend_count = d->frame.targets, .dither = !fuzz_below(r, 5),
		.sample_mask = fuzz_below(r, 4) ? 0xffff : fuzz_next(r) & 0xffff,
		.viewports = DRAWS_LIST + VIEWPORTS_AT(n), .blends = DRAWS_LIST + BLENDS_AT(n),
		.bias_constant = any_float(r), .bias_slope = any_float(r),
		.bias_clamp = fuzz_below(r, 2) ? 0 : any_float(r),
		.line_width = bits((float)fuzz_below(r, 64) / 8),
		.point_size = bits((float)fuzz_below(r, 256) / 8),
		.blend_red = any_float(r), .blend_green = any_float(r),
		.blend_blue = any_float(r), .blend_alpha = any_float(r),
	};

	if (!without(d, DRAWS_NO_ZS)) {
		s.depth_test = fuzz_below(r, 4);
		s.depth_write = fuzz_below(r, 3);
		s.depth_function = fuzz_below(r, 8);
		if (fuzz_below(r, 2))
			s.depth_function = TSR_COMPARE_FUNCTION_LESS;
		s.depth_bounds = !fuzz_below(r, 8);
		s.depth_min = any_float(r);
		s.depth_max = any_float(r);
		s.stencil_test = fuzz_below(r, 2);
		s.front_function = fuzz_below(r, 8);
		s.front_fail = fuzz_below(r, 8);
		s.front_depth_fail = fuzz_below(r, 8);
		s.front_pass = fuzz_below(r, 8);
		s.back_function = fuzz_below(r, 8);
		s.back_fail = fuzz_below(r, 8);
		s.back_depth_fail = fuzz_below(r, 8);
		s.back_pass = fuzz_below(r, 8);
		s.front_reference = fuzz_below(r, 4);
		s.back_reference = fuzz_below(r, 4);
		s.front_read_mask = s.back_read_mask = fuzz_below(r, 2) ? 255 : 3;
		s.front_write_mask = s.back_write_mask = fuzz_below(r, 4) ? 255 : 15;
	}
	tsr_pack_draw_state(at(d, DRAW_STATE_AT(n)), &s);
}

static void viewports(struct draws *d, struct fuzz_random *r, unsigned int n)
{
	const struct tsr_frame *f = &d->frame;

	for (unsigned int i = 0; i < TSR_VIEWPORTS_MAX; i++) {
		struct tsr_viewport v = {
			.width = bits(f->width), .height = bits(f->height), .far = bits(1),
			.scissor_x1 = f->width, .scissor_y1 = f->height,
		};

		if (!fuzz_below(r, 3)) {
			v.x = bits((float)fuzz_below(r, f->width));
			v.height = bits(-(float)f->height);
			v.y = bits(f->height);
			v.near = any_float(r);
			v.far = any_float(r);
			v.scissor_x0 = fuzz_below(r, f->width);
			v.scissor_y1 = fuzz_below(r, 2 * f->height);
		}
		if (without(d, DRAWS_NO_CLIPPING))
			v.near = 0, v.far = bits(1);
		tsr_pack_viewport(at(d, VIEWPORTS_AT(n) + 32 * i), &v);
	}
}

static void shader_state(struct draws *d, struct fuzz_random *r, unsigned int n,
			 const struct fuzz_draw_code *code, bool extended, bool by_program)
{
	struct tsr_shader_state s = {
		.position = DRAWS_LIST + PROGRAM_AT(3 * n),
		.varying = fuzz_below(r, 10) ? DRAWS_LIST + PROGRAM_AT(3 * n + 1) : 0,
		.fragment = fuzz_below(r, 10) ? DRAWS_LIST + PROGRAM_AT(3 * n + 2) : 0,
		.position_mode = !fuzz_below(r, 10), .extended = extended,
		.writes_point_size = extended, .writes_layer = extended && fuzz_below(r, 2),
		.writes_viewport = extended && fuzz_below(r, 2),
		.output_stride = STRIDE, .writes_depth = code->depth,
		.writes_stencil = code->stencil, .discards = code->discards,
		.side_effects = code->stores, .reads_tile = code->reads_tile || by_program,
		.sample_shading = !fuzz_below(r, 6) && d->frame.samples_log2 < 3,
		.early_tests = !fuzz_below(r, 10),
		.helpers = code->derivatives || fuzz_below(r, 2),
		.depth_layout = fuzz_below(r, 8) ? 0 : fuzz_below(r, 4),
		.wait_depth = true, .wait_colour = true,
		.preload_0 = fuzz_below(r, 2) ? fuzz_below(r, 3) : 0,
		.preload_0_half = !fuzz_below(r, 4), .preload_0_components = fuzz_below(r, 4),
		.preload_0_zero_lod = !fuzz_below(r, 4), .preload_0_varying = fuzz_below(r, 5),
		.preload_0_texture = fuzz_below(r, 4),
		.preload_1 = fuzz_below(r, 4) ? 0 : fuzz_below(r, 3),
		.preload_1_components = fuzz_below(r, 4),
		.preload_1_varying = fuzz_below(r, 5), .preload_1_texture = fuzz_below(r, 4),
		.flat_varyings = fuzz_below(r, 3) ? 0 : fuzz_below(r, 32),
		.linear_varyings = fuzz_below(r, 3) ? 0 : fuzz_below(r, 32),
	};

	if (without(d, DRAWS_NO_TEXTURES)) {
		s.preload_0 &= 1;
		s.preload_1 &= 1;
	}
	if (s.preload_0 == TSR_PRELOAD_VAR_TEX || s.preload_1 == TSR_PRELOAD_VAR_TEX)
		s.helpers = true;
	/* early tests that are not forced change where a centroid is, see 3d.md */
	s.early_tests |= d->frame.samples_log2 && code->covered;
	/* a program that writes depths need not keep to a depth layout */
	if (s.depth_layout && code->depth)
		s.depth_layout = TSR_DEPTH_LAYOUT_UNCHANGED;
	if (extended && fuzz_below(r, 3) == 0) {
		s.clip_distances = fuzz_below(r, 256);
		s.cull_distances = fuzz_below(r, 256) & ~s.clip_distances;
	}
	tsr_pack_shader_state(at(d, STATE_AT(n)), &s);
}

static void state(struct draws *d, unsigned int n)
{
	struct fuzz_random r = draws_part(d, STATE, n), c = draws_part(d, CODE, n);
	bool extended = !without(d, DRAWS_NO_EXTENDED) && !fuzz_below(&r, 3), by_program = false;
	unsigned int pieces = ~d->left_out & 255;
	struct fuzz_draw_code code;

	/* layers share what a pixel stores */
	if (d->frame.layers > 1)
		pieces &= ~(unsigned int)FUZZ_CODE_STORES;
	if (!d->frame.targets)
		pieces &= ~(unsigned int)FUZZ_CODE_TILE;
	fuzz_position_code(&c, &code, extended);
	program(d, 3 * n, n, &code);
	fuzz_varying_code(&c, &code);
	program(d, 3 * n + 1, n, &code);
	fuzz_fragment_code(&c, &code, d->frame.targets, pieces);
	program(d, 3 * n + 2, n, &code);
	for (unsigned int i = 0; i < d->frame.targets; i++)
		blend(d, &r, n, i, &by_program);
	draw_state(d, &r, n);
	viewports(d, &r, n);
	shader_state(d, &r, n, &code, extended, by_program);
}

/* ---- Textures -------------------------------------------------------------------------------- */

static void texture(struct draws *d, unsigned int n)
{
	static const uint8_t formats[] = {
		TSR_PIXEL_FORMAT_RGBA8_UNORM, TSR_PIXEL_FORMAT_RGBA8_UNORM,
		TSR_PIXEL_FORMAT_RGBA32F, TSR_PIXEL_FORMAT_R8_UNORM, TSR_PIXEL_FORMAT_RGBA16F,
		TSR_PIXEL_FORMAT_RGB565, TSR_PIXEL_FORMAT_RGB10_A2_UNORM,
	};
	static const uint8_t wraps[] = {
		TSR_WRAP_MODE_REPEAT, TSR_WRAP_MODE_CLAMP_TO_EDGE, TSR_WRAP_MODE_CLAMP_TO_BORDER,
		TSR_WRAP_MODE_MIRRORED_REPEAT, TSR_WRAP_MODE_MIRRORED_CLAMP_TO_EDGE,
		TSR_WRAP_MODE_MIRRORED_CLAMP_TO_BORDER,
	};
	struct fuzz_random r = draws_part(d, TEXTURE, n);
	uint32_t format = formats[fuzz_below(&r, sizeof(formats))];
	uint32_t bytes = texel_bytes(format, TSR_COMPONENT_ORDER_RGBA);
	uint32_t w = 1 + fuzz_below(&r, 64), h = 1 + fuzz_below(&r, 64), place = n * 0x10000;
	bool tiled = fuzz_below(&r, 2);
	struct tsr_texture t = {
		.type = 2, .dimension = TSR_TEXTURE_DIMENSION_2D, .format = format,
		.order = TSR_COMPONENT_ORDER_RGBA, .width = w - 1, .height = h - 1,
		.srgb = format == TSR_PIXEL_FORMAT_RGBA8_UNORM && !fuzz_below(&r, 3),
		.swizzle_g = 1, .swizzle_b = 2, .swizzle_a = 3, .levels = fuzz_below(&r, 6),
		.texel_order = tiled ? TSR_TEXEL_ORDER_TILED : TSR_TEXEL_ORDER_LINEAR,
		.max_lod = 0x1fff, .surfaces = DRAWS_LIST + DRAWS_SURFACES + 0x100 * n,
	};
	struct tsr_sampler s = {
		.type = 1, .wrap_s = wraps[fuzz_below(&r, 6)],
		.wrap_t = wraps[fuzz_below(&r, 6)], .wrap_r = TSR_WRAP_MODE_REPEAT,
		.normalized = fuzz_below(&r, 8), .min_nearest = !fuzz_below(&r, 3),
		.mag_nearest = !fuzz_below(&r, 3), .mipmap = fuzz_below(&r, 2) ? 3 : 0,
		.max_lod = fuzz_below(&r, 3) ? 0x1fff : fuzz_below(&r, 0x400),
		.lod_bias = (int32_t)fuzz_below(&r, 512) - 256,
		.border_r = any_float(&r), .border_a = any_float(&r),
	};

	if (!fuzz_below(&r, 4)) {
		s.anisotropy = 1 + fuzz_below(&r, 15);
		s.lod_algorithm = 3;
	}
	tsr_pack_texture(at(d, DRAWS_TEXTURES + 32 * n), &t);
	tsr_pack_sampler(at(d, DRAWS_SAMPLERS + 32 * n), &s);
	for (unsigned int l = 0; l <= t.levels; l++) {
		uint32_t lw = w >> l ? w >> l : 1, lh = h >> l ? h >> l : 1;
		uint32_t pitch = tiled ? (lw + 15) / 16 * 256 * bytes : lw * bytes;

		place = (place + 63) & ~63u;
		tsr_pack_texture_surface(at(d, DRAWS_SURFACES + 0x100 * n + 16 * l),
					 &(struct tsr_texture_surface){
						 .pointer = DRAWS_DATA + DRAWS_TEXELS + place,
						 .row_stride = (int32_t)pitch });
		place += pitch * (tiled ? (lh + 15) / 16 : lh);
	}
}

/* ---- Draws ----------------------------------------------------------------------------------- */

/* Clip coordinates: mostly seen, sometimes behind the viewer or far away, sometimes anything. */
static void vertices(struct draws *d)
{
	struct fuzz_random r = draws_part(d, VERTICES, 0);
	uint32_t size = 2 + fuzz_below(&r, 14);
	float middle[2] = { 0, 0 };	/* of a triangle */

	for (uint32_t i = 0; i < DRAWS_VERTICES_SIZE; i += 16) {
		bool behind = !without(d, DRAWS_NO_CLIPPING) && !fuzz_below(&r, 24);
		float w = fuzz_below(&r, 2) ? 1 : (float)(1 + fuzz_below(&r, 64)) / 16;
		/* some triangles are large, most are not */
		float reach = i / 48 % size ? 0.25f : 1.25f;
		uint32_t v[4];

		for (unsigned int k = 0; k < 2; k++) {
			if (i / 16 % 3 == 0)
				middle[k] = (float)(int)fuzz_below(&r, 513) / 256 - 1;
			v[k] = bits(w * (middle[k] * (1 - reach / 2) +
					 reach * ((float)fuzz_below(&r, 1025) / 512 - 1)));
		}
		v[2] = bits(w * (float)fuzz_below(&r, 1025) / 1024);
		v[3] = bits(behind ? -w : w);
		if (!without(d, DRAWS_NO_CLIPPING) && !fuzz_below(&r, 64))
			v[fuzz_below(&r, 4)] = fuzz_below(&r, 2) ? bits(1e5f) :
								   (uint32_t)fuzz_next(&r);
		memcpy(d->data + DRAWS_VERTICES + i, v, sizeof(v));
	}
}

static void packet(struct draws *d, uint32_t *list, const uint64_t *word, unsigned int qwords)
{
	memcpy(d->list + *list, word, 8 * qwords);
	*list += 8 * qwords;
}

static void indirect(struct draws *d, struct fuzz_random *r, uint32_t *list,
		     const struct tsr_list_draw *direct, unsigned int n)
{
	uint32_t *arguments = (uint32_t *)(void *)(d->data + DRAWS_ARGUMENTS + 256 * n);
	uint64_t word[TSR_LIST_DRAW_INDIRECT_QWORDS];
	unsigned int count = fuzz_below(r, 4);

	for (unsigned int i = 0; i < count; i++, arguments += 8) {
		unsigned int k = 0;

		arguments[k++] = direct->count >> i;
		arguments[k++] = direct->instances;
		arguments[k++] = direct->first + i;
		if (direct->index)
			arguments[k++] = (uint32_t)direct->base_vertex;
		arguments[k] = direct->first_instance;
	}
	tsr_pack_list_draw_indirect(word, &(struct tsr_list_draw_indirect){
		.topology = direct->topology, .index = direct->index, .restart = direct->restart,
		.explicit_padding = direct->explicit_padding,
		.padded_shift = direct->padded_shift, .padded_odd = direct->padded_odd,
		.arguments = DRAWS_DATA + DRAWS_ARGUMENTS + 256 * n, .draws = count, .stride = 32,
		.indices = direct->indices, .index_bytes = direct->index_bytes });
	packet(d, list, word, TSR_LIST_DRAW_INDIRECT_QWORDS);
}

static void draw(struct draws *d, unsigned int n, uint32_t *list)
{
	static const uint8_t topologies[] = { 0, 1, 2, 3, 4, 4, 4, 4, 5, 5, 6, 8, 9, 10, 11 };
	struct fuzz_random r = draws_part(d, DRAW, n);
	struct tsr_list_draw draw = {
		.topology = topologies[fuzz_below(&r, sizeof(topologies))],
		.index = fuzz_below(&r, 2) ? fuzz_below(&r, 4) : 0, .restart = fuzz_below(&r, 2),
		/* what takes long takes no more of it for a thousand triangles */
		.count = fuzz_below(&r, fuzz_below(&r, 3) || d->frame.samples_log2 > 1 ? 18 : 150),
		.instances = fuzz_below(&r, 4) ? 1 : fuzz_below(&r, 3),
		.first = fuzz_below(&r, 100), .first_instance = fuzz_below(&r, 4),
	};
	uint64_t word[TSR_LIST_DRAW_QWORDS], va = DRAWS_LIST + STATE_AT(fuzz_below(&r, d->states));

	if (draw.index) {
		draw.indices = DRAWS_DATA + DRAWS_INDICES;
		draw.index_bytes = fuzz_below(&r, 4) ? 0x2000 : fuzz_below(&r, 0x2000);
		draw.base_vertex = (int32_t)fuzz_below(&r, 200) - 20;
	}
	if (draw.instances > 1) {
		draw.explicit_padding = true;
		draw.padded_shift = 9;
	}
	tsr_pack_list_shader_state(word, &(struct tsr_list_shader_state){ .addr = va });
	packet(d, list, word, TSR_LIST_SHADER_STATE_QWORDS);
	if (fuzz_below(&r, 4) == 0)
		va = DRAWS_LIST + STATE_AT(fuzz_below(&r, d->states));
	tsr_pack_list_draw_state(word, &(struct tsr_list_draw_state){ .addr = va + 0x40 });
	packet(d, list, word, TSR_LIST_DRAW_STATE_QWORDS);
	for (unsigned int kind = 0; kind < 3; kind++) {
		if (fuzz_below(&r, 2))
			continue;
		tsr_pack_list_query(word, &(struct tsr_list_query){
			.kind = kind, .addr = fuzz_below(&r, 4) ? DRAWS_DATA + DRAWS_QUERIES +
				128 * n + (kind == 2 ? 64 : 8 * kind) : 0 });
		packet(d, list, word, TSR_LIST_QUERY_QWORDS);
	}
	if (!fuzz_below(&r, 3)) {
		const uint64_t own = DRAWS_LIST + PUSH_AT(3 * fuzz_below(&r, d->states));

		tsr_pack_list_push(word, &(struct tsr_list_push){
			.vertex = fuzz_below(&r, 3) ? own : 0,
			.fragment = fuzz_below(&r, 3) ? own + 8 * !fuzz_below(&r, 8) : 0 });
		packet(d, list, word, TSR_LIST_PUSH_QWORDS);
	}
	if (!fuzz_below(&r, 5)) {
		indirect(d, &r, list, &draw, n);
		return;
	}
	tsr_pack_list_draw(word, &draw);
	packet(d, list, word, TSR_LIST_DRAW_QWORDS);
}

/* ---- Lists ----------------------------------------------------------------------------------- */

static void tile_packet(struct draws *d, uint32_t *list, unsigned int opcode, unsigned int which)
{
	uint64_t word = opcode | 1u << 8;

	if (opcode != TSR_OP_TILE_DRAW)
		word |= (which & 0xff) << 16 | (which >> 8 & 3) << 24;
	packet(d, list, &word, 1);
}

/* Targets of a mask, as TILE_ packets have them. */
static unsigned int all_targets(const struct draws *d)
{
	return ((1u << d->frame.targets) - 1) | d->frame.has_depth << 8 | d->frame.has_stencil << 9;
}

static void tile_list(struct draws *d, struct fuzz_random *r, uint32_t *list)
{
	unsigned int all = all_targets(d), load = without(d, DRAWS_NO_LOADS) ? 0 :
				  fuzz_below(r, 2) ? 0 : (unsigned int)fuzz_next(r) & all;

	if (all & ~load)
		tile_packet(d, list, TSR_OP_TILE_CLEAR, all & ~load);
	if (load)
		tile_packet(d, list, TSR_OP_TILE_LOAD, load);
	tile_packet(d, list, TSR_OP_TILE_DRAW, 0);
	if (!fuzz_below(r, 6)) {
		tile_packet(d, list, TSR_OP_TILE_STORE, (unsigned int)fuzz_next(r) & all);
		tile_packet(d, list, TSR_OP_TILE_DRAW, 0);
	}
	tile_packet(d, list, TSR_OP_TILE_STORE, all);
}

static void render_list(struct draws *d, uint32_t list, uint32_t tile, uint32_t bytes)
{
	const struct tsr_frame *f = &d->frame;
	unsigned int side = 1u << f->tile_shift;
	uint64_t word[TSR_LIST_TILES_QWORDS];

	tsr_pack_list_tiles(word, &(struct tsr_list_tiles){
		.x1 = (f->width - 1) / side, .y1 = (f->height - 1) / side, .layer1 = f->layers - 1,
		.addr = DRAWS_LIST + tile, .size = bytes, .end_of_frame = true });
	packet(d, &list, word, TSR_LIST_TILES_QWORDS);
	word[0] = TSR_OP_LIST_HALT | TSR_LIST_HALT_QWORDS << 8;
	packet(d, &list, word, TSR_LIST_HALT_QWORDS);
}

static void lists(struct draws *d)
{
	struct fuzz_random r = draws_part(d, LISTS, 0);
	uint32_t list = DRAWS_BIN_LIST, tile = DRAWS_TILE_LIST, expand = DRAWS_EXPAND_TILE;
	uint64_t halt = TSR_OP_LIST_HALT | TSR_LIST_HALT_QWORDS << 8;
	const uint32_t render_size = 8 * (TSR_LIST_TILES_QWORDS + TSR_LIST_HALT_QWORDS);

	for (unsigned int i = 0; i < d->draws; i++)
		draw(d, i, &list);
	packet(d, &list, &halt, TSR_LIST_HALT_QWORDS);
	tile_list(d, &r, &tile);
	render_list(d, DRAWS_RENDER_LIST, DRAWS_TILE_LIST, tile - DRAWS_TILE_LIST);
	tile_packet(d, &expand, TSR_OP_TILE_LOAD, all_targets(d));
	tile_packet(d, &expand, TSR_OP_TILE_STORE, all_targets(d));
	render_list(d, DRAWS_EXPAND_LIST, DRAWS_EXPAND_TILE, expand - DRAWS_EXPAND_TILE);
	tsr_pack_bin(at(d, DRAWS_BIN), &(struct tsr_bin){
		.list = DRAWS_LIST + DRAWS_BIN_LIST, .size = list - DRAWS_BIN_LIST,
		.frame = DRAWS_LIST + DRAWS_FRAME });
	tsr_pack_render(at(d, DRAWS_RENDER), &(struct tsr_render){
		.list = DRAWS_LIST + DRAWS_RENDER_LIST, .size = render_size,
		.frame = DRAWS_LIST + DRAWS_FRAME });
	tsr_pack_render(at(d, DRAWS_EXPAND), &(struct tsr_render){
		.list = DRAWS_LIST + DRAWS_EXPAND_LIST, .size = render_size,
		.frame = DRAWS_LIST + DRAWS_EXPAND_FRAME });
}

void draws_make(struct draws *d)
{
	struct fuzz_random r = draws_part(d, FILL, 0), c = draws_part(d, CODE, 100);
	struct fuzz_draw_code code;
	uint16_t *index = (uint16_t *)(void *)(d->data + DRAWS_INDICES);

	memset(d->list, 0, DRAWS_CODE);
	memset(d->data, 0, DRAWS_TEXELS);
	d->draws = 1 + fuzz_below(&r, d->most);
	d->states = 1 + fuzz_below(&r, DRAWS_STATES_MAX);
	frame(d);
	for (unsigned int i = 0; i < 4; i++)
		texture(d, i);
	for (unsigned int i = 0; i < d->states; i++)
		state(d, i);
	fuzz_blend_code(&c, &code);
	program(d, BLEND_PROGRAM, 0, &code);
	vertices(d);
	for (unsigned int i = 0; i < 0x1000; i++)
		index[i] = fuzz_below(&r, 24) ? fuzz_below(&r, 200) : 0xffff;
	for (uint32_t i = DRAWS_TEXELS; i < DRAWS_DATA_SIZE; i += 4) {
		uint32_t word = (uint32_t)fuzz_next(&r) & 0xbfffbfff;

		memcpy(d->data + i, &word, 4);
	}
	lists(d);
}
