// SPDX-License-Identifier: MIT
/* test: TIMEOUT=300 */
/*
 * Fragments and their targets: queries, layers, viewports, depth, stencil, blending, formats,
 * samples. The CPU computes each picture and number, too.
 */
#include "gfxdraw.h"

#define SIDE	32
#define TEXELS	(SIDE * SIDE)

static struct gfxt t;
static const float black[4], white[4] = { 1, 1, 1, 1 };

static uint32_t texels[16 * TEXELS];

/* ---- Queries --------------------------------------------------------------------------------- */

static void depth_less(struct tsr_gfx_pipeline_info *info, struct tsr_gfx_blend *blend)
{
	(void)blend;
	info->depth = (struct tsr_gfx_depth) {
		.test = true, .write = true, .function = TSR_COMPARE_FUNCTION_LESS,
	};
}

/* A rectangle of pixels [x0, x1) by [y0, y1), as two triangles. */
static void rectangle(struct gfxt_vertex v[6], const int r[4], float z, const float color[4])
{
	static const int corner[6][2] = { { 0, 1 }, { 2, 1 }, { 2, 3 }, { 0, 1 }, { 2, 3 },
					  { 0, 3 } };

	for (int i = 0; i < 6; i++) {
		v[i] = (struct gfxt_vertex) {
			.position = { (float)r[corner[i][0]] / (SIDE / 2) - 1,
				      (float)r[corner[i][1]] / (SIDE / 2) - 1, z, 1 },
		};
		memcpy(v[i].color, color, sizeof(v[i].color));
	}
}

/* Two rectangles. The first hides a part of the second, whose samples the queries count. */
static void count(uint32_t samples)
{
	static const int first[4] = { 4, 4, 20, 20 }, second[4] = { 10, 8, 30, 28 };
	struct tsr_image *image = gfxt_image(&t, TSR_PIXEL_FORMAT_RGBA8_UNORM, SIDE, 1);
	const struct tsr_gfx_pass_info info = {
		.samples = samples,
		.color[0] = { .image = image, .load = TSR_GFX_LOAD_CLEAR },
		.depth = { .format = TSR_PIXEL_FORMAT_R32F, .load = TSR_GFX_LOAD_CLEAR,
			   .clear.f[0] = 1 },
	};
	struct tsr_gfx_pipeline *p = gfxt_pipeline(&t, depth_less);
	struct tsr_gfx_pass *pass = gfxt_begin(&t, &info);
	const unsigned int seen = 20 * 20 - 10 * 12;
	struct tsr_alloc memory = { 0 };
	struct gfxt_vertex v[6];
	uint64_t *q;

	ktap_eq(tsr_pool_alloc(t.data, 256, 64, &memory), 0);
	q = memset(memory.cpu, 0, 256);
	q[0] = 1000;			/* the query adds to it */
	rectangle(v, first, 0.2f, white);
	gfxt_plain(&t, pass, p, v, 6);
	ktap_eq(tsr_gfx_query(pass, TSR_QUERY_SAMPLES, memory.va), 0);
	ktap_eq(tsr_gfx_query(pass, TSR_QUERY_ANY_SAMPLES, memory.va + 8), 0);
	ktap_eq(tsr_gfx_query(pass, TSR_QUERY_STATISTICS, memory.va + 64), 0);
	rectangle(v, second, 0.6f, white);
	gfxt_plain(&t, pass, p, v, 6);
	ktap_eq(tsr_gfx_query(pass, TSR_QUERY_STATISTICS, 0), 0);
	ktap_eq(tsr_gfx_query(pass, TSR_QUERY_SAMPLES, 0), 0);
	/* farther than all others: no sample passes */
	ktap_eq(tsr_gfx_query(pass, TSR_QUERY_ANY_SAMPLES, memory.va + 16), 0);
	rectangle(v, first, 0.9f, white);
	gfxt_plain(&t, pass, p, v, 6);
	gfxt_drawn(pass);
	ktap_eq(q[0], 1000 + seen * samples);
	ktap_eq(q[1], 1);
	ktap_eq(q[2], 0);
	/* vertices, primitives, position programs, clipper in, clipper out, fragments, varyings */
	ktap_eq(q[8], 6);
	ktap_eq(q[9], 2);
	ktap_eq(q[10], 6);
	ktap_eq(q[11], 2);
	ktap_eq(q[12], 2);
	/* of a pixel on the diagonal two fragments have samples */
	ktap_ok(samples == 1 ? q[13] == seen : q[13] >= seen && q[13] <= seen + 20);
	ktap_eq(q[14], 6);
	tsr_gfx_pipeline_unref(p);
	tsr_image_unref(image);
}

static void queries(void)
{
	count(1);
	count(4);
}

/* ---- Viewports and layers -------------------------------------------------------------------- */

/* Attribute 0, and word 5 of the record from attribute 2: layer in the low half, viewport high. */
static const char extended_position[] =
	"clause message=attribute slot=0 {\n"
	"*NOP\n+LD_ATTR_IMM.f32.v4 r61, r62, attribute_index:0, @r0\n}\n"
	"clause message=attribute slot=1 wait=0,1 {\n"
	"*NOP\n+LD_ATTR_IMM.u32.v2 r61, r62, attribute_index:2, @r4\n}\n"
	"clause message=store slot=0 {\n*NOP\n+STORE.i128 r58, r59, @r0\n}\n"
	"clause {\n*IADDC.i32 r6:t0, r58, 0x10, #0\n+NOP\n"
	"*NOP\n+MOV.i32 r7:t1, r59\n*NOP\n+NOP\n}\n"
	"clause end message=store slot=0 {\n*NOP\n+STORE.i64 r6, r7, @r4\n}\n";

struct placed {
	struct gfxt_vertex v;
	uint32_t size, where;		/* of points; layer | viewport << 16 */
};

static struct tsr_gfx_pipeline *placed_pipeline(bool last)
{
	static const struct tsr_gfx_attribute attributes[] = {
		{ .format = TSR_PIXEL_FORMAT_RGBA32F },
		{ .format = TSR_PIXEL_FORMAT_RGBA32F, .offset = 16 },
		{ .format = TSR_PIXEL_FORMAT_RG32UI, .offset = 32 },
	};
	static const struct tsr_gfx_vertex_buffer buffer = { .stride = sizeof(struct placed) };
	static const struct tsr_gfx_varying varying = { .format = TSR_PIXEL_FORMAT_RGBA32F,
							.output = 1 };
	static const struct tsr_gfx_blend blend = { .mask = 0xf,
						    .registers = TSR_REGISTER_TYPE_F32 };
	struct tsr_shader *position = gfxt_program(&t, extended_position);
	const struct tsr_gfx_pipeline_info info = {
		.vertex = position, .varying = t.varying, .fragment = t.color,
		.vertex_flags = TSR_GFX_VERTEX_LAYER | TSR_GFX_VERTEX_VIEWPORT, .raster = last ?
			TSR_GFX_RASTER_PROVOKING_LAST : 0,
		.attributes = attributes, .attribute_count = 3, .buffers = &buffer,
		.buffer_count = 1, .varyings = &varying, .varying_count = 1,
		.topology = TSR_TOPOLOGY_TRIANGLES, .blends = &blend, .blend_count = 1,
	};
	struct tsr_gfx_pipeline *p = NULL;

	ktap_eq(tsr_gfx_pipeline_create(&info, sizeof(info), &p), 0);
	tsr_shader_unref(position);
	return p;
}

#define LAYERS		5
#define VIEWPORTS	16

static uint32_t color_of(uint32_t layer, uint32_t viewport)
{
	return (40 * layer + 20) | (15 * viewport + 10) << 8 | 0xff000000;
}

/*
 * A triangle that covers its viewport for each layer and viewport, which are those of the provoking
 * vertex; the others say something else. Beyond what there is both are 0.
 */
static void place_triangles(struct placed *p, bool last)
{
	for (uint32_t n = 0; n < LAYERS * VIEWPORTS; n++, p += 3) {
		const uint32_t layer = n / VIEWPORTS, viewport = n % VIEWPORTS;
		const uint32_t rgba = color_of(layer, viewport);
		const float color[4] = { (float)(rgba & 255) / 255, (float)(rgba >> 8 & 255) / 255,
					  0, 1 };
		struct gfxt_vertex v[3];

		gfxt_cover(v, 0, color);
		for (uint32_t i = 0; i < 3; i++) {
			bool provoking = i == (last ? 2 : 0);

			p[i] = (struct placed) {
				.v = v[i], .where = provoking ? layer | viewport << 16 :
								3 | 7u << 16,
			};
		}
	}
}

static void check_layers(struct tsr_image *image)
{
	for (uint32_t layer = 0; layer < LAYERS; layer++) {
		unsigned int wrong = 0;

		gfxt_read(image, 0, layer, texels, 4 * SIDE);
		for (uint32_t i = 0; i < TEXELS; i++) {
			const uint32_t x = i % SIDE, y = i / SIDE;
			const uint32_t viewport = x / (SIDE / 4) + 4 * (y / (SIDE / 4));
			const bool drawn = viewport != 5 || (x % 8 >= 2 && x % 8 < 5 && y % 8 == 3);

			wrong += texels[i] != (drawn ? color_of(layer, viewport) : 0);
		}
		ktap_eq(wrong, 0);
	}
}

/* Each of 16 viewports is a field of the picture; that of number 5 has a scissor. */
static void layers(bool last)
{
	const struct tsr_image_info image_info = {
		.format = TSR_PIXEL_FORMAT_RGBA8_UNORM, .width = SIDE, .height = SIDE,
		.layers = LAYERS,
	};
	struct tsr_gfx_pass_info info = { .layers = LAYERS,
					  .color[0] = { .load = TSR_GFX_LOAD_CLEAR } };
	static struct placed placed[3 * LAYERS * VIEWPORTS];
	struct tsr_gfx_pipeline *p = placed_pipeline(last);
	const struct tsr_gfx_draw all = { .count = 3 * LAYERS * VIEWPORTS };
	struct tsr_image *image = NULL;
	struct tsr_gfx_pass *pass;

	ktap_eq(tsr_image_create(t.vm, &image_info, sizeof(image_info), &image), 0);
	info.color[0].image = image;
	pass = gfxt_begin(&t, &info);
	place_triangles(placed, last);
	for (uint32_t i = 0; i < VIEWPORTS; i++)
		ktap_eq(tsr_gfx_set_viewport(pass, i, &(struct tsr_gfx_viewport) {
			(float)(i % 4 * SIDE / 4), (float)(i / 4 * SIDE / 4), SIDE / 4, SIDE / 4,
			0, 1 }), 0);
	ktap_eq(tsr_gfx_set_scissor(pass, 5, &(struct tsr_rect){ .x = 10, .y = 11, .width = 3,
								 .height = 1 }), 0);
	ktap_eq(tsr_gfx_set_pipeline(pass, p), 0);
	ktap_eq(tsr_gfx_set_vertices(pass, 0, gfxt_data(&t, placed, sizeof(placed)),
				     sizeof(placed)), 0);
	ktap_eq(tsr_gfx_draw(pass, &all), 0);
	gfxt_drawn(pass);
	check_layers(image);
	tsr_gfx_pipeline_unref(p);
	tsr_image_unref(image);
}

static void layers_and_viewports(void)
{
	layers(false);
	layers(true);
}

/* Layer LAYERS of a pass of fewer, viewport 2 of one: both are 0. */
static void out_of_range(void)
{
	struct tsr_image *image = gfxt_image(&t, TSR_PIXEL_FORMAT_RGBA8_UNORM, SIDE, 1);
	struct tsr_gfx_pipeline *p = placed_pipeline(false);
	struct tsr_gfx_pass *pass = gfxt_one(&t, image, black);
	struct placed placed[3];
	struct gfxt_vertex v[3];
	unsigned int wrong = 0;

	gfxt_cover(v, 0, white);
	for (int i = 0; i < 3; i++)
		placed[i] = (struct placed){ .v = v[i], .where = LAYERS | 2u << 16 };
	ktap_eq(tsr_gfx_set_pipeline(pass, p), 0);
	ktap_eq(tsr_gfx_set_vertices(pass, 0, gfxt_data(&t, placed, sizeof(placed)),
				     sizeof(placed)), 0);
	ktap_eq(tsr_gfx_draw(pass, &(struct tsr_gfx_draw){ .count = 3 }), 0);
	gfxt_drawn(pass);
	gfxt_read(image, 0, 0, texels, 4 * SIDE);
	for (uint32_t i = 0; i < TEXELS; i++)
		wrong += texels[i] != 0xffffffff;
	ktap_eq(wrong, 0);
	tsr_gfx_pipeline_unref(p);
	tsr_image_unref(image);
}

/* ---- Depth ----------------------------------------------------------------------------------- */

static uint32_t depth_function, depth_raster;

static void depth_change(struct tsr_gfx_pipeline_info *info, struct tsr_gfx_blend *blend)
{
	(void)blend;
	info->depth = (struct tsr_gfx_depth) {
		.test = true, .write = true, .function = depth_function,
	};
	info->raster = depth_raster;
}

/* A depth as a format keeps it. */
static double stored_depth(uint32_t format, float z)
{
	const double steps = format == TSR_PIXEL_FORMAT_Z16_UNORM ? 65535 : 16777215;

	return format == TSR_PIXEL_FORMAT_R32F ? z : rint((double)z * steps) / steps;
}

static double depth_at(struct tsr_image *image, uint32_t format, uint32_t i)
{
	const uint8_t *raw = (const uint8_t *)texels;
	float f;

	if (!i)
		gfxt_read(image, 0, 0, texels, format == TSR_PIXEL_FORMAT_Z16_UNORM ? 2 * SIDE :
			  4 * SIDE);
	if (format == TSR_PIXEL_FORMAT_Z16_UNORM)
		return (raw[2 * i] | raw[2 * i + 1] << 8) / 65535.0;
	if (format == TSR_PIXEL_FORMAT_Z24X8_UNORM)
		return (texels[i] & 0xffffff) / 16777215.0;
	memcpy(&f, &texels[i], sizeof(f));
	return f;
}

/* 8 strips at various depths over a cleared target; three depths are drawn over them. */
static void depth_format(uint32_t format, uint32_t function)
{
	static const float strip[8] = { 0, 0.125f, 0.25f, 0.49999f, 0.5f, 0.50001f, 0.75f, 1 };
	struct tsr_image *image = gfxt_image(&t, format, SIDE, 1);
	const struct tsr_gfx_pass_info info = {
		.depth = { .image = image, .load = TSR_GFX_LOAD_CLEAR, .clear.f[0] = 0.3f },
	};
	struct tsr_gfx_pipeline *p, *always;
	struct tsr_gfx_pass *pass = gfxt_begin(&t, &info);
	unsigned int wrong = 0;
	struct gfxt_vertex v[6];

	depth_function = TSR_COMPARE_FUNCTION_ALWAYS;
	always = gfxt_pipeline(&t, depth_change);
	depth_function = function;
	p = gfxt_pipeline(&t, depth_change);
	for (int i = 0; i < 8; i++) {
		rectangle(v, (int[4]){ 4 * i, 0, 4 * i + 4, SIDE / 2 }, strip[i], white);
		gfxt_plain(&t, pass, always, v, 6);
	}
	gfxt_fill(&t, pass, p, 0.5f, white);
	gfxt_drawn(pass);
	for (uint32_t i = 0; i < TEXELS; i++) {
		const float below = i / SIDE < SIDE / 2 ? strip[i % SIDE / 4] : 0.3f;
		const double was = stored_depth(format, below), is = stored_depth(format, 0.5f);
		const double want = gfxt_compare(function, is, was) ? is : was;

		wrong += depth_at(image, format, i) != want;
	}
	if (!ktap_eq(wrong, 0))
		ktap_note("format %u, function %u", format, function);
	tsr_gfx_pipeline_unref(p);
	tsr_gfx_pipeline_unref(always);
	tsr_image_unref(image);
}

static void depth_formats(void)
{
	static const uint32_t formats[] = { TSR_PIXEL_FORMAT_Z16_UNORM,
					    TSR_PIXEL_FORMAT_Z24X8_UNORM, TSR_PIXEL_FORMAT_R32F };

	for (int i = 0; i < 3; i++)
		for (uint32_t f = TSR_COMPARE_FUNCTION_NEVER; f <= TSR_COMPARE_FUNCTION_ALWAYS; f++)
			depth_format(formats[i], f);
}

/* Bias: constant and slope, in every format, against the formula of 3d.md. */
static void depth_bias(void)
{
	static const struct { float constant, slope, clamp; } biases[] = {
		{ 4, 0, 0 }, { -3, 0, 0 }, { 0, 2, 0 }, { 5, 1.5f, 0 }, { 0, 2, 0.01f },
		{ 0, -2, -0.01f },
	};
	const float dz = 0.5f / SIDE;		/* from column to column */

	for (size_t b = 0; b < sizeof(biases) / sizeof(biases[0]); b++) {
		struct tsr_image *image = gfxt_image(&t, TSR_PIXEL_FORMAT_Z16_UNORM, SIDE, 1);
		const struct tsr_gfx_pass_info info = {
			.depth = { .image = image, .load = TSR_GFX_LOAD_CLEAR, .clear.f[0] = 1 },
		};
		struct tsr_gfx_pass *pass = gfxt_begin(&t, &info);
		struct tsr_gfx_pipeline *p;
		struct gfxt_vertex v[6];
		unsigned int wrong = 0;
		double bias;

		depth_function = TSR_COMPARE_FUNCTION_ALWAYS;
		depth_raster = TSR_GFX_RASTER_DEPTH_BIAS;
		p = gfxt_pipeline(&t, depth_change);
		depth_raster = 0;
		rectangle(v, (int[4]){ 0, 0, SIDE, SIDE }, 0.25f, white);
		v[1].position[2] = v[2].position[2] = v[4].position[2] = 0.75f;
		ktap_eq(tsr_gfx_set_depth_bias(pass, biases[b].constant, biases[b].slope,
					       biases[b].clamp), 0);
		gfxt_plain(&t, pass, p, v, 6);
		gfxt_drawn(pass);
		bias = (double)biases[b].constant / 65536 + (double)biases[b].slope * (double)dz;
		if (biases[b].clamp > 0)
			bias = fmin(bias, (double)biases[b].clamp);
		else if (biases[b].clamp < 0)
			bias = fmax(bias, (double)biases[b].clamp);
		for (uint32_t i = 0; i < TEXELS; i++) {
			double z = 0.25 + (i % SIDE + 0.5) * (double)dz + bias;

			/* within half a step and the rounding of single precision */
			wrong += fabs(depth_at(image, TSR_PIXEL_FORMAT_Z16_UNORM, i) - z) >
				 0.51 / 65535;
		}
		if (!ktap_eq(wrong, 0))
			ktap_note("bias %zu", b);
		tsr_gfx_pipeline_unref(p);
		tsr_image_unref(image);
	}
}

/* ---- Stencil --------------------------------------------------------------------------------- */

static struct tsr_gfx_depth stencil_state;

static void stencil_change(struct tsr_gfx_pipeline_info *info, struct tsr_gfx_blend *blend)
{
	(void)blend;
	info->depth = stencil_state;
}

static uint8_t operate(uint32_t op, uint8_t value, uint8_t reference)
{
	switch (op) {
	case TSR_STENCIL_OP_KEEP: return value;
	case TSR_STENCIL_OP_REPLACE: return reference;
	case TSR_STENCIL_OP_ZERO: return 0;
	case TSR_STENCIL_OP_INVERT: return (uint8_t)~value;
	case TSR_STENCIL_OP_INCREMENT_CLAMP: return value == 255 ? 255 : (uint8_t)(value + 1);
	case TSR_STENCIL_OP_DECREMENT_CLAMP: return value ? (uint8_t)(value - 1) : 0;
	case TSR_STENCIL_OP_INCREMENT_WRAP: return (uint8_t)(value + 1);
	default: return (uint8_t)(value - 1);
	}
}

static uint8_t expected_stencil(const struct tsr_gfx_stencil *s, uint8_t value, uint8_t reference,
				bool depth)
{
	uint32_t op = depth ? s->pass : s->depth_fail;
	uint8_t result;

	if (!gfxt_compare(s->function, reference & s->read_mask, value & s->read_mask))
		op = s->fail;
	result = operate(op, value, reference);
	return (uint8_t)((value & ~s->write_mask) | (result & s->write_mask));
}

static struct tsr_gfx_stencil random_stencil(void)
{
	return (struct tsr_gfx_stencil) {
		.function = gfxt_random(8), .fail = gfxt_random(8), .depth_fail = gfxt_random(8),
		.pass = gfxt_random(8), .read_mask = gfxt_random(3) ? 0xff : 0x3c,
		.write_mask = gfxt_random(3) ? 0xff : 0x55,
	};
}

/*
 * Values in stencil (uploaded, loaded) and depth: then a front face over the left, a back face over
 * the right half, all states at random.
 */
static void stencil_round(void)
{
	struct tsr_image *image = gfxt_image(&t, TSR_PIXEL_FORMAT_S8, SIDE, 1);
	const struct tsr_gfx_pass_info info = {
		.depth = { .format = TSR_PIXEL_FORMAT_R32F, .load = TSR_GFX_LOAD_CLEAR,
			   .clear.f[0] = 0.5f },
		.stencil = { .image = image, .load = TSR_GFX_LOAD_CONTENT },
	};
	const uint8_t reference[2] = { (uint8_t)gfxt_random(256), (uint8_t)gfxt_random(256) };
	static const uint8_t edges[4] = { 0, 1, 254, 255 };
	struct tsr_gfx_pass *pass = gfxt_begin(&t, &info);
	uint8_t was[TEXELS], is[TEXELS];
	struct tsr_gfx_pipeline *p;
	struct gfxt_vertex v[12], swap;
	unsigned int wrong = 0;

	for (int i = 0; i < TEXELS; i++)
		was[i] = gfxt_random(3) ? (uint8_t)gfxt_random(256) : gfxt_random(2) ?
			 edges[gfxt_random(4)] : reference[gfxt_random(2)];
	ktap_eq(tsr_image_write(image, 0, 0, was, SIDE), 0);
	stencil_state = (struct tsr_gfx_depth) {
		.test = true, .stencil = true, .function = TSR_COMPARE_FUNCTION_LESS,
		.front = random_stencil(), .back = random_stencil(),
	};
	p = gfxt_pipeline(&t, stencil_change);
	/* upper half nearer than what is there, lower half farther */
	for (int side = 0; side < 2; side++)
		rectangle(v + 6 * side, (int[4]){ SIDE / 2 * side, 0, SIDE / 2 * (side + 1), SIDE },
			  0, white);
	for (int i = 0; i < 12; i++)
		v[i].position[2] = v[i].position[1] < 0 ? 0 : 1;
	/* counter-clockwise as one sees it with row 0 at the top is a front face */
	for (int i = 0; i < 6; i += 3)
		swap = v[i + 1], v[i + 1] = v[i + 2], v[i + 2] = swap;
	ktap_eq(tsr_gfx_set_stencil_reference(pass, reference[0], reference[1]), 0);
	gfxt_plain(&t, pass, p, v, 12);
	gfxt_drawn(pass);
	gfxt_read(image, 0, 0, is, SIDE);
	for (int i = 0; i < TEXELS; i++) {
		const int side = i % SIDE >= SIDE / 2;

		wrong += is[i] != expected_stencil(side ? &stencil_state.back :
						   &stencil_state.front, was[i], reference[side],
						   i / SIDE < SIDE / 2);
	}
	ktap_eq(wrong, 0);
	tsr_gfx_pipeline_unref(p);
	tsr_image_unref(image);
}

static void stencil(void)
{
	for (int i = 0; i < 60; i++)
		stencil_round();
}

/* ---- Samples --------------------------------------------------------------------------------- */

/* Sample positions of 3d.md, sixteenths of a pixel. */
static const uint8_t positions[5][16][2] = {
	{ { 8, 8 } },
	{ { 12, 12 }, { 4, 4 } },
	{ { 6, 2 }, { 14, 6 }, { 2, 10 }, { 10, 14 } },
	{ { 9, 5 }, { 7, 11 }, { 13, 9 }, { 5, 3 }, { 3, 13 }, { 1, 7 }, { 11, 15 }, { 15, 1 } },
	{ { 9, 9 }, { 7, 5 }, { 5, 10 }, { 12, 7 }, { 3, 6 }, { 10, 13 }, { 13, 11 }, { 11, 3 },
	  { 6, 14 }, { 8, 1 }, { 4, 2 }, { 2, 12 }, { 0, 8 }, { 15, 4 }, { 14, 15 }, { 1, 0 } },
};

/* Corners in 1/256 of a pixel; which samples of pixel (x, y) the triangle has, none on edges. */
static uint32_t coverage(const int c[3][2], uint32_t log2, int x, int y)
{
	uint32_t mask = 0;

	for (uint32_t s = 0; s < 1u << log2; s++) {
		const int px = 256 * x + 16 * positions[log2][s][0];
		const int py = 256 * y + 16 * positions[log2][s][1];
		int inside = 0;

		for (int e = 0; e < 3; e++) {
			const int *a = c[e], *b = c[(e + 1) % 3];
			const int side = (b[0] - a[0]) * (py - a[1]) - (b[1] - a[1]) * (px - a[0]);

			inside += side > 0 ? 1 : side < 0 ? -1 : 0;
		}
		if (inside == 3 || inside == -3)
			mask |= 1u << s;
	}
	return mask;
}

static const int star[3][2] = { { 275, 661 }, { 7881, 3249 }, { 1977, 7597 } };

static uint32_t mask_of_samples;

static void sample_change(struct tsr_gfx_pipeline_info *info, struct tsr_gfx_blend *blend)
{
	(void)blend;
	info->sample_mask = mask_of_samples;
}

static void draw_star(struct tsr_gfx_pass *pass)
{
	struct tsr_gfx_pipeline *p = gfxt_pipeline(&t, sample_change);
	struct gfxt_vertex v[3];

	gfxt_cover(v, 0, white);
	for (int i = 0; i < 3; i++) {
		v[i].position[0] = (float)star[i][0] / (128 * SIDE) - 1;
		v[i].position[1] = (float)star[i][1] / (128 * SIDE) - 1;
	}
	gfxt_plain(&t, pass, p, v, 3);
	tsr_gfx_pipeline_unref(p);
}

/* Every sample as it is kept, and the average. */
static void sampled(uint32_t log2, uint32_t mask, bool resolved)
{
	const uint32_t samples = 1u << log2;
	struct tsr_image *image = gfxt_image(&t, TSR_PIXEL_FORMAT_RGBA8_UNORM, SIDE,
						 resolved ? 1 : samples);
	const struct tsr_gfx_pass_info info = {
		.samples = samples, .color[0] = { .image = image, .load = TSR_GFX_LOAD_CLEAR },
	};
	struct tsr_gfx_pass *pass = gfxt_begin(&t, &info);
	struct tsr_surface surface;
	unsigned int wrong = 0;
	void *cpu;

	mask_of_samples = mask;
	draw_star(pass);
	gfxt_drawn(pass);
	for (uint32_t s = 0; s < (resolved ? 1 : samples); s++) {
		ktap_eq(tsr_image_get_surface(image, 0, 0, s, &surface, &cpu), 0);
		for (int i = 0; i < TEXELS; i++) {
			const uint8_t *at = (uint8_t *)cpu + i / SIDE * surface.pitch +
					    4 * (i % SIDE);
			const uint32_t covered = coverage(star, log2, i % SIDE, i / SIDE) &
						 (mask ? mask : ~0u);
			const int all = __builtin_popcount(covered);
			const int want = resolved ? (255 * all + (int)samples / 2) / (int)samples :
						    covered >> s & 1 ? 255 : 0;

			wrong += abs(at[0] - want) > resolved || at[0] != at[3];
		}
	}
	if (!ktap_eq(wrong, 0))
		ktap_note("%u samples, mask 0x%x, resolved %d", samples, mask, resolved);
	tsr_image_unref(image);
}

static void samples(void)
{
	for (uint32_t log2 = 0; log2 <= 4; log2++)
		for (int way = 0; way < 4; way++)
			sampled(log2, way & 1 ? 0x5ad3 : 0, way & 2);
}

int main(void)
{
	ktap_start();
	gfxt_open(&t);
	ktap_run("[OM7] occlusion and pipeline statistics, one sample and four", queries);
	ktap_run("[GS3] [PA5] [RAST3] 5 layers, 16 viewports, a scissor, of the provoking vertex",
		 layers_and_viewports);
	ktap_run("[GS3] a layer and a viewport that are not there are number 0", out_of_range);
	ktap_run("[ZS1] all functions, all depth formats", depth_formats);
	ktap_run("[ZS1] depth bias is what the formula says", depth_bias);
	ktap_run("[ZS2] stencil of both faces: random functions, operations, masks", stencil);
	ktap_run("[RAST4] [RAST6] [OM6] 1 to 16 samples, sample masks, kept and resolved", samples);
	gfxt_close(&t);
	return ktap_finish();
}
