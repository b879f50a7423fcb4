// SPDX-License-Identifier: MIT
/* test: TIMEOUT=300 */
/*
 * Primitives of draws: topologies, indices, restart, instances, arguments in memory. The CPU
 * converts each draw to a list of points, lines or triangles without indices, and both pictures are
 * equal bit for bit. Vertices have colors, and a primitive has that of its provoking vertex.
 */
#include <errno.h>
#include "gfxdraw.h"

#define SIDE		48
#define VERTICES	24
#define EXPANDED	400

static struct gfxt t;
static struct tsr_image *image;
static const float black[4];

static uint32_t wanted_topology;
static bool wanted_last, wanted_restart;

static void flat(struct tsr_gfx_pipeline_info *info, struct tsr_gfx_blend *blend)
{
	static const struct tsr_gfx_varying varying = {
		.format = TSR_PIXEL_FORMAT_RGBA32F, .output = 1, .interpolation =
			TSR_GFX_INTERPOLATE_FLAT,
	};

	(void)blend;
	info->varyings = &varying;
	info->topology = wanted_topology;
	info->restart = wanted_restart;
	info->raster = wanted_last ? TSR_GFX_RASTER_PROVOKING_LAST : 0;
}

static struct tsr_gfx_pipeline *pipeline(uint32_t topology, bool last, bool restart)
{
	wanted_topology = topology;
	wanted_last = last;
	wanted_restart = restart;
	return gfxt_pipeline(&t, flat);
}

static void random_vertices(struct gfxt_vertex v[VERTICES])
{
	for (unsigned int i = 0; i < VERTICES; i++)
		v[i] = (struct gfxt_vertex) {
			{ (float)gfxt_random(257) / 128 - 1, (float)gfxt_random(257) / 128 - 1,
			  0.5f, 1 },
			{ (float)(1 + i % 5) / 5, (float)(1 + i / 5) / 5, (float)(i % 3) / 2, 1 },
		};
}

/* ---- Taking topologies apart ----------------------------------------------------------------- */

/* A list being made: primitives of @size vertices, in the color of the provoking one. */
struct list {
	struct gfxt_vertex v[EXPANDED];
	uint32_t count, size;
};

/* The table of 3d.md, "Input assembly": vertices of primitive n; whether the strip has them. */
static bool primitive(uint32_t topology, uint32_t n, uint32_t count, uint32_t at[3],
		      uint32_t *provoking)
{
	const bool odd = n & 1;
	uint32_t need, last = 2;

	switch (topology) {
	case TSR_TOPOLOGY_POINTS:
		at[0] = n, need = n + 1, last = 0;
		break;
	case TSR_TOPOLOGY_LINES:
		at[0] = 2 * n, at[1] = 2 * n + 1, need = 2 * n + 2, last = 1;
		break;
	case TSR_TOPOLOGY_LINE_STRIP:
		at[0] = n, at[1] = n + 1, need = n + 2, last = 1;
		break;
	case TSR_TOPOLOGY_LINE_LOOP:
		at[0] = n, at[1] = (n + 1) % (count ? count : 1), last = 1;
		need = count > 1 ? n + 1 : count + 1;
		break;
	case TSR_TOPOLOGY_TRIANGLES:
		at[0] = 3 * n, at[1] = 3 * n + 1, at[2] = 3 * n + 2, need = 3 * n + 3;
		break;
	case TSR_TOPOLOGY_TRIANGLE_STRIP:
		at[0] = n, at[1] = n + 1 + odd, at[2] = n + 2 - odd, need = n + 3, last = 2 - odd;
		break;
	case TSR_TOPOLOGY_TRIANGLE_FAN:
		at[0] = n + 1, at[1] = n + 2, at[2] = 0, need = n + 3, last = 1;
		break;
	case TSR_TOPOLOGY_LINES_ADJACENCY:
		at[0] = 4 * n + 1, at[1] = 4 * n + 2, need = 4 * n + 4, last = 1;
		break;
	case TSR_TOPOLOGY_LINE_STRIP_ADJACENCY:
		at[0] = n + 1, at[1] = n + 2, need = n + 4, last = 1;
		break;
	case TSR_TOPOLOGY_TRIANGLES_ADJACENCY:
		at[0] = 6 * n, at[1] = 6 * n + 2, at[2] = 6 * n + 4, need = 6 * n + 6;
		break;
	default:
		at[0] = 2 * n, at[1] = 2 * n + 2 + 2 * odd, at[2] = 2 * n + 4 - 2 * odd;
		need = 2 * n + 6, last = 2 - odd;
		break;
	}
	*provoking = wanted_last ? at[last] : at[0];
	return need <= count;
}

static uint32_t vertices_of(uint32_t topology)
{
	if (topology == TSR_TOPOLOGY_POINTS)
		return 1;
	return topology <= TSR_TOPOLOGY_LINE_LOOP || topology == TSR_TOPOLOGY_LINES_ADJACENCY ||
	       topology == TSR_TOPOLOGY_LINE_STRIP_ADJACENCY ? 2 : 3;
}

static void take_apart(struct list *list, uint32_t topology, const struct gfxt_vertex *v,
		       const uint32_t *index, uint32_t count)
{
	uint32_t at[3], provoking;

	list->size = vertices_of(topology);
	for (uint32_t n = 0; primitive(topology, n, count, at, &provoking); n++)
		for (uint32_t i = 0; i < list->size && list->count < EXPANDED; i++) {
			struct gfxt_vertex *to = &list->v[list->count++];

			*to = v[index[at[i]]];
			memcpy(to->color, v[index[provoking]].color, sizeof(to->color));
		}
}

/* The list's picture. */
static void draw_list(const struct list *list, uint8_t *texels)
{
	static const uint32_t lists[] = { 0, TSR_TOPOLOGY_POINTS, TSR_TOPOLOGY_LINES,
					  TSR_TOPOLOGY_TRIANGLES };
	struct tsr_gfx_pipeline *p = pipeline(lists[list->size], false, false);
	struct tsr_gfx_pass *pass = gfxt_one(&t, image, black);

	if (list->count)
		gfxt_plain(&t, pass, p, list->v, list->count);
	gfxt_drawn(pass);
	gfxt_read(image, 0, 0, texels, 4 * SIDE);
	tsr_gfx_pipeline_unref(p);
}

/* ---- Topologies ------------------------------------------------------------------------------ */

static const uint32_t topologies[] = {
	TSR_TOPOLOGY_POINTS, TSR_TOPOLOGY_LINES, TSR_TOPOLOGY_LINE_STRIP, TSR_TOPOLOGY_LINE_LOOP,
	TSR_TOPOLOGY_TRIANGLES, TSR_TOPOLOGY_TRIANGLE_STRIP, TSR_TOPOLOGY_TRIANGLE_FAN,
	TSR_TOPOLOGY_LINES_ADJACENCY, TSR_TOPOLOGY_LINE_STRIP_ADJACENCY,
	TSR_TOPOLOGY_TRIANGLES_ADJACENCY, TSR_TOPOLOGY_TRIANGLE_STRIP_ADJACENCY,
};

static uint8_t ours[4 * SIDE * SIDE], theirs[4 * SIDE * SIDE];

/* Indices of 8, 16 or 32 bits at *va. */
static uint64_t upload_indices(uint32_t type, const uint32_t *index, uint32_t count,
			       uint64_t *bytes)
{
	const uint32_t size = 1u << (type - TSR_INDEX_TYPE_U8);
	uint8_t raw[4 * 4 * VERTICES];

	for (uint32_t i = 0; i < count; i++)
		memcpy(raw + i * size, &index[i], size);
	*bytes = count * size;
	return gfxt_data(&t, raw, count * size);
}

static void one_topology(uint32_t topology, uint32_t type, bool restart, bool last)
{
	struct gfxt_vertex v[VERTICES];
	struct list list = { .count = 0 };
	uint32_t index[VERTICES], strip = 0, count = VERTICES - gfxt_random(3);
	struct tsr_gfx_pass *pass = gfxt_one(&t, image, black);
	struct tsr_gfx_pipeline *p = pipeline(topology, last, restart);
	const struct tsr_gfx_draw draw = { .count = count };
	uint64_t va, bytes;

	random_vertices(v);
	for (uint32_t i = 0; i < count; i++) {
		index[i] = type ? gfxt_random(VERTICES) : i;
		if (restart && i % 7 == 5 + (i > 9))
			index[i] = UINT32_MAX;
	}
	wanted_last = last;
	for (uint32_t i = 0; i <= count; i++) {
		if (i < count && index[i] != UINT32_MAX)
			continue;
		take_apart(&list, topology, v, index + strip, i - strip);
		strip = i + 1;
	}
	ktap_eq(tsr_gfx_set_pipeline(pass, p), 0);
	gfxt_vertices(&t, pass, v, VERTICES);
	if (type) {
		va = upload_indices(type, index, count, &bytes);
		ktap_eq(tsr_gfx_set_indices(pass, type, va, bytes), 0);
		ktap_eq(tsr_gfx_draw_indexed(pass, &draw), 0);
	} else {
		ktap_eq(tsr_gfx_draw(pass, &draw), 0);
	}
	gfxt_drawn(pass);
	gfxt_read(image, 0, 0, ours, 4 * SIDE);
	tsr_gfx_pipeline_unref(p);
	draw_list(&list, theirs);
	if (!ktap_mem_eq(ours, theirs, sizeof(ours)))
		ktap_note("topology %u, indices %u, restart %d, last %d", topology, type, restart,
			  last);
}

static void all_topologies(void)
{
	for (size_t i = 0; i < sizeof(topologies) / sizeof(topologies[0]); i++)
		for (uint32_t type = TSR_INDEX_TYPE_NONE; type <= TSR_INDEX_TYPE_U32; type++)
			for (int way = 0; way < 4; way++) {
				if (type || way < 2)
					one_topology(topologies[i], type, way & 2, way & 1);
			}
	/* not two black pictures */
	ktap_ok(memcmp(ours, (uint8_t[sizeof(ours)]){ 0 }, sizeof(ours)) != 0);
}

/* ---- Instances ------------------------------------------------------------------------------- */

/* The position is attribute 0 plus attribute 2; the color, attribute 1 times attribute 3. */
static const char moved_position[] =
	"clause message=attribute slot=0 {\n"
	"*NOP\n+LD_ATTR_IMM.f32.v4 r61, r62, attribute_index:0, @r0\n}\n"
	"clause message=attribute slot=0 wait=0 {\n"
	"*NOP\n+LD_ATTR_IMM.f32.v2 r61, r62, attribute_index:2, @r4\n}\n"
	"clause {\n*NOP\n+FADD.f32 r0:t1, r0, r4\n*NOP\n+FADD.f32 r1:t1, r1, r5\n*NOP\n+NOP\n}\n"
	"clause end message=store slot=0 {\n*NOP\n+ST_CVT.v4 r58, r59, 0x0105e000, @r0\n}\n";
static const char moved_varying[] =
	"clause message=attribute slot=0 {\n"
	"*NOP\n+LD_ATTR_IMM.f32.v4 r61, r62, attribute_index:1, @r0\n}\n"
	"clause message=attribute slot=0 wait=0 {\n"
	"*NOP\n+LD_ATTR_IMM.f32.v4 r61, r62, attribute_index:3, @r8\n}\n"
	"clause message=attribute slot=0 wait=0 {\n"
	"*FMA.f32 r0:t0, r0, r8, #0.neg\n+NOP\n*FMA.f32 r1:t0, r1, r9, #0.neg\n+NOP\n"
	"*FMA.f32 r2:t0, r2, r10, #0.neg\n+NOP\n"
	"*NOP\n+LEA_ATTR_IMM.auto r61, r62, attribute_index:1, @r4\n}\n"
	"clause end message=store slot=0 {\n*NOP\n+ST_CVT.v4 r4, r5, r6, @r0\n}\n";

#define ELEMENTS	40

struct element {
	float offset[2], color[4];
};

static struct element elements[ELEMENTS];

static struct tsr_gfx_pipeline *instanced(uint32_t divisor_2, uint32_t divisor_3)
{
	struct tsr_shader *position = gfxt_program(&t, moved_position);
	struct tsr_shader *varying = gfxt_program(&t, moved_varying);
	const struct tsr_gfx_attribute attributes[] = {
		{ .format = TSR_PIXEL_FORMAT_RGBA32F },
		{ .format = TSR_PIXEL_FORMAT_RGBA32F, .offset = 16 },
		{ .buffer = 1, .format = TSR_PIXEL_FORMAT_RG32F },
		{ .buffer = 2, .format = TSR_PIXEL_FORMAT_RGBA32F, .offset = 8 },
	};
	const struct tsr_gfx_vertex_buffer buffers[] = {
		{ .stride = sizeof(struct gfxt_vertex) },
		{ .stride = sizeof(struct element), .divisor = divisor_2 },
		{ .stride = sizeof(struct element), .divisor = divisor_3 },
	};
	const struct tsr_gfx_varying of = { .format = TSR_PIXEL_FORMAT_RGBA32F, .output = 1,
					    .interpolation = TSR_GFX_INTERPOLATE_FLAT };
	const struct tsr_gfx_blend blend = { .mask = 0xf, .registers = TSR_REGISTER_TYPE_F32 };
	const struct tsr_gfx_pipeline_info info = {
		.vertex = position, .varying = varying, .fragment = t.color,
		.attributes = attributes, .attribute_count = 4, .buffers = buffers,
		.buffer_count = 3, .varyings = &of, .varying_count = 1, .blends = &blend,
		.blend_count = 1, .topology = TSR_TOPOLOGY_TRIANGLES,
	};
	struct tsr_gfx_pipeline *p = NULL;

	ktap_eq(tsr_gfx_pipeline_create(&info, sizeof(info), &p), 0);
	tsr_shader_unref(position);
	tsr_shader_unref(varying);
	return p;
}

static const struct tsr_gfx_draw instances[] = {
	{ .count = 6, .instances = 1 },
	{ .count = 6, .instances = 9 },
	{ .count = 12, .instances = 7, .first_instance = 5 },
	{ .count = 9, .instances = 8, .first_instance = 3, .base_vertex = 4 },
	{ .count = 15, .instances = 5, .first = 3, .base_vertex = -2, .first_instance = 11 },
	{ .count = 3, .instances = 16, .first = 6, .first_instance = 1 },
};

/* The triangles of the draw, instance by instance; elements count from first_instance on. */
static void expand_instances(struct list *list, const struct tsr_gfx_draw *d,
			     const struct gfxt_vertex *v, const uint32_t *index, uint32_t divisor_2,
			     uint32_t divisor_3)
{
	list->size = 3;
	for (uint32_t i = 0; i < d->instances; i++)
		for (uint32_t n = 0; n < d->count; n++) {
			const struct element *e2 = &elements[d->first_instance + i / divisor_2];
			const struct element *e3 = &elements[d->first_instance + i / divisor_3];
			const uint32_t first = d->first + n - n % 3, at = d->first + n;
			const uint32_t of = index ? index[at] + (uint32_t)d->base_vertex : at;
			const uint32_t from = index ? index[first] + (uint32_t)d->base_vertex :
						      first;
			struct gfxt_vertex *to = &list->v[list->count++];

			*to = v[of];
			for (int c = 0; c < 4; c++)
				to->color[c] = v[from].color[c] *
						(c < 3 ? e3->color[c] : 1);
			to->position[0] += e2->offset[0];
			to->position[1] += e2->offset[1];
		}
}

/* The draw by a call of its own, or with its numbers in memory. */
static int draw_one(struct tsr_gfx_pass *pass, const struct tsr_gfx_draw *d, bool indexed,
		    bool indirect)
{
	const uint32_t base[2] = { d->first_instance, (uint32_t)d->base_vertex };
	const uint32_t words[] = { d->count, d->instances, d->first, base[indexed], base[0] };

	if (indirect)
		return tsr_gfx_draw_indirect(pass, indexed, gfxt_data(&t, words, sizeof(words)), 1,
					     sizeof(words));
	return indexed ? tsr_gfx_draw_indexed(pass, d) : tsr_gfx_draw(pass, d);
}

static void one_instanced(const struct tsr_gfx_draw *d, bool indexed, bool indirect,
			  uint32_t divisor_2, uint32_t divisor_3)
{
	struct gfxt_vertex v[VERTICES];
	struct list list = { .count = 0 };
	struct tsr_gfx_draw draw = *d;
	struct tsr_gfx_pipeline *p = instanced(divisor_2, divisor_3);
	struct tsr_gfx_pass *pass = gfxt_one(&t, image, black);
	const uint64_t va = gfxt_data(&t, elements, sizeof(elements));
	uint32_t index[VERTICES];
	uint64_t bytes, indices;

	random_vertices(v);
	for (int i = 0; i < VERTICES; i++)
		index[i] = 2 + gfxt_random(VERTICES - 6);
	if (!indexed)
		draw.base_vertex = 0;
	ktap_eq(tsr_gfx_set_pipeline(pass, p), 0);
	gfxt_vertices(&t, pass, v, VERTICES);
	ktap_eq(tsr_gfx_set_vertices(pass, 1, va, sizeof(elements)), 0);
	ktap_eq(tsr_gfx_set_vertices(pass, 2, va, sizeof(elements)), 0);
	indices = upload_indices(TSR_INDEX_TYPE_U16, index, VERTICES, &bytes);
	ktap_eq(tsr_gfx_set_indices(pass, TSR_INDEX_TYPE_U16, indices, bytes), 0);
	ktap_eq(draw_one(pass, &draw, indexed, indirect), 0);
	gfxt_drawn(pass);
	gfxt_read(image, 0, 0, ours, 4 * SIDE);
	tsr_gfx_pipeline_unref(p);
	expand_instances(&list, &draw, v, indexed ? index : NULL, divisor_2, divisor_3);
	draw_list(&list, theirs);
	if (!ktap_mem_eq(ours, theirs, sizeof(ours)))
		ktap_note("%u vertices from %u + %d, %u instances from %u, divisors %u and %u, "
			  "indirect %d", d->count, d->first, draw.base_vertex, d->instances,
			  d->first_instance, divisor_2, divisor_3, indirect);
}

static void all_instanced(void)
{
	static const uint32_t divisors[][2] = { { 1, 1 }, { 1, 3 }, { 4, 2 }, { 5, 7 } };

	for (int i = 0; i < ELEMENTS; i++)
		elements[i] = (struct element) {
			{ (float)(i % 5) / 8 - 0.25f, (float)(i / 5) / 8 - 0.25f },
			{ (float)(i % 4 + 1) / 4, (float)(i % 3 + 1) / 3, (float)(i % 7 + 1) / 7,
			  1 },
		};
	for (size_t i = 0; i < sizeof(instances) / sizeof(instances[0]); i++)
		for (size_t k = 0; k < sizeof(divisors) / sizeof(divisors[0]); k++)
			for (int way = 0; way < 4; way++)
				one_instanced(&instances[i], way & 1, way & 2, divisors[k][0],
					      divisors[k][1]);
}

/* ---- Arguments in memory --------------------------------------------------------------------- */

static void direct(struct tsr_gfx_pass *pass, bool indexed, const struct tsr_gfx_draw *d)
{
	if (d->count && d->instances)
		ktap_eq(indexed ? tsr_gfx_draw_indexed(pass, d) : tsr_gfx_draw(pass, d), 0);
}

/* Draws of the same numbers, given one by one or read from memory by the GPU. */
static void picture_of(bool indexed, bool indirect, const struct gfxt_vertex *v, uint8_t *texels)
{
	static const struct tsr_gfx_draw draws[4] = {
		{ .count = 5, .instances = 1, .first = 1 },
		{ .count = 0, .instances = 3 },
		{ .count = 7, .instances = 2, .first = 4, .first_instance = 9 },
		{ .count = 4, .instances = 1, .first = 12 },
	};
	static const uint32_t index[VERTICES] = { 3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3,
						  2, 3, 8, 4, 6, 2, 6, 4 };
	struct tsr_gfx_pipeline *p = pipeline(TSR_TOPOLOGY_TRIANGLE_STRIP, false, false);
	struct tsr_gfx_pass *pass = gfxt_one(&t, image, black);
	uint32_t words[4][6] = { { 0 } };
	uint64_t va, bytes;

	ktap_eq(tsr_gfx_set_pipeline(pass, p), 0);
	gfxt_vertices(&t, pass, v, VERTICES);
	va = upload_indices(TSR_INDEX_TYPE_U8, index, VERTICES, &bytes);
	ktap_eq(tsr_gfx_set_indices(pass, TSR_INDEX_TYPE_U8, va, bytes), 0);
	for (int i = 0; i < 4; i++) {
		struct tsr_gfx_draw d = draws[i];

		d.base_vertex = indexed ? i : 0;
		words[i][0] = d.count;
		words[i][1] = d.instances;
		words[i][2] = d.first;
		words[i][3] = indexed ? (uint32_t)d.base_vertex : d.first_instance;
		words[i][4] = d.first_instance;
		if (!indirect)
			direct(pass, indexed, &d);
	}
	if (indirect)
		ktap_eq(tsr_gfx_draw_indirect(pass, indexed, gfxt_data(&t, words, sizeof(words)),
					      4, sizeof(words[0])), 0);
	gfxt_drawn(pass);
	gfxt_read(image, 0, 0, texels, 4 * SIDE);
	tsr_gfx_pipeline_unref(p);
}

static void indirect(void)
{
	struct gfxt_vertex v[VERTICES];

	for (int indexed = 0; indexed < 2; indexed++) {
		random_vertices(v);
		picture_of(indexed, false, v, theirs);
		picture_of(indexed, true, v, ours);
		ktap_mem_eq(ours, theirs, sizeof(ours));
		ktap_ok(memcmp(ours, (uint8_t[sizeof(ours)]){ 0 }, sizeof(ours)) != 0);
	}
}

/* Indices and vertices beyond the buffers read 0. */
static void beyond(void)
{
	struct gfxt_vertex v[VERTICES + 3] = { 0 };
	static const uint32_t index[6] = { 1, 2, 3, 4, VERTICES + 7, 5 };
	struct tsr_gfx_pipeline *p = pipeline(TSR_TOPOLOGY_LINES, false, false);
	struct tsr_gfx_pass *pass = gfxt_one(&t, image, black);
	const struct tsr_gfx_draw draw = { .count = 8 };
	struct list list = { .size = 2 };
	uint64_t va, bytes;

	random_vertices(v);
	va = upload_indices(TSR_INDEX_TYPE_U32, index, 6, &bytes);
	ktap_eq(tsr_gfx_set_pipeline(pass, p), 0);
	gfxt_vertices(&t, pass, v, VERTICES);
	ktap_eq(tsr_gfx_set_indices(pass, TSR_INDEX_TYPE_U32, va, bytes - 4), 0);
	ktap_eq(tsr_gfx_draw_indexed(pass, &draw), 0);
	gfxt_drawn(pass);
	gfxt_read(image, 0, 0, ours, 4 * SIDE);
	tsr_gfx_pipeline_unref(p);
	/* vertex VERTICES + 7 is all zero: w is 0, the line is dropped; (0, 0) has no length */
	take_apart(&list, TSR_TOPOLOGY_LINES, v, index, 4);
	draw_list(&list, theirs);
	ktap_mem_eq(ours, theirs, sizeof(ours));
}

/*
 * Triangles of which most are culled, so that few of a batch's vertices are named: those that are
 * left look as they do in draws of their own. Some are cut by the near plane.
 */
static void few_of_many(void)
{
	enum { TRIANGLES = VERTICES, EACH = 6 };
	struct gfxt_vertex v[3 * TRIANGLES];
	struct tsr_gfx_pipeline *p = gfxt_pipeline(&t, NULL);
	struct tsr_gfx_pass *pass = gfxt_one(&t, image, black);

	for (unsigned int i = 0; i < 3 * TRIANGLES; i += VERTICES)
		random_vertices(v + i);
	for (unsigned int i = 0; i < 3 * TRIANGLES; i++) {
		v[i].position[2] = i % 2 ? 0.5f : -0.25f;
		/* a triangle without an area */
		if (i / 3 % EACH && i % 3 == 1)
			v[i] = v[i - 1];
	}
	gfxt_plain(&t, pass, p, v, 3 * TRIANGLES);
	gfxt_drawn(pass);
	gfxt_read(image, 0, 0, ours, 4 * SIDE);
	pass = gfxt_one(&t, image, black);
	for (unsigned int n = 0; n < TRIANGLES; n += EACH)
		gfxt_plain(&t, pass, p, v + 3 * n, 3);
	gfxt_drawn(pass);
	gfxt_read(image, 0, 0, theirs, 4 * SIDE);
	tsr_gfx_pipeline_unref(p);
	ktap_mem_eq(ours, theirs, sizeof(ours));
	ktap_ok(memcmp(ours, (uint8_t[sizeof(ours)]){ 0 }, sizeof(ours)) != 0);
}

/* ---- Far away -------------------------------------------------------------------------------- */

#define GIB(n)	((uint64_t)(n) << 30)
#define APART	(GIB(5) + 48)		/* vertices */
#define COLORS	(GIB(17) + 16)		/* in the buffer */
#define PAGE	65536u

static uint64_t far_stride, far_colors;
static uint32_t far_divisor;

static void far_away(struct tsr_gfx_pipeline_info *info, struct tsr_gfx_blend *blend)
{
	static struct tsr_gfx_attribute attributes[2];
	static struct tsr_gfx_vertex_buffer buffers[2];

	(void)blend;
	attributes[0] = (struct tsr_gfx_attribute){ .format = TSR_PIXEL_FORMAT_RGBA32F };
	attributes[1] = (struct tsr_gfx_attribute) {
		.format = TSR_PIXEL_FORMAT_RGBA32F, .offset = far_colors, .buffer = 1 };
	buffers[0].stride = buffers[1].stride = far_stride;
	buffers[1].divisor = far_divisor;
	info->attributes = attributes;
	info->buffers = buffers;
	info->buffer_count = 2;
}

/* Three vertices that begin @stride apart, their colors @colors after them. */
static void draw_far(uint64_t va, uint64_t size, uint64_t stride, uint64_t colors,
		     uint32_t divisor, uint8_t *texels)
{
	struct tsr_gfx_pass *pass = gfxt_one(&t, image, black);
	struct tsr_gfx_pipeline *p;

	far_stride = stride;
	far_colors = colors;
	far_divisor = divisor;
	p = gfxt_pipeline(&t, far_away);
	ktap_eq(tsr_gfx_set_pipeline(pass, p), 0);
	ktap_eq(tsr_gfx_set_vertices(pass, 0, va, size), 0);
	ktap_eq(tsr_gfx_set_vertices(pass, 1, va, size), 0);
	ktap_eq(tsr_gfx_draw(pass, &(struct tsr_gfx_draw){
		.count = 3, .instances = divisor ? 3 : 1 }), 0);
	gfxt_drawn(pass);
	gfxt_read(image, 0, 0, texels, 4 * SIDE);
	tsr_gfx_pipeline_unref(p);
}

/*
 * Draws from a 40 GiB buffer of which only the pages that are read exist, and from a buffer of some
 * bytes. If the buffer ends before the last color, that color is 0.
 */
static void huge(void)
{
	static const struct gfxt_vertex v[3] = {
		{ { -0.9f, -0.9f, 0, 1 }, { 1, 0.5f, 0.25f, 1 } },
		{ { 0.9f, -0.7f, 0, 1 }, { 0.25f, 1, 0.5f, 1 } },
		{ { -0.5f, 0.9f, 0, 1 }, { 0.5f, 0.25f, 1, 1 } },
	};
	const uint64_t size = COLORS + 2 * APART + 16;
	static uint8_t far[4 * SIDE * SIDE], near[4 * SIDE * SIDE];
	uint64_t here = gfxt_data(&t, v, sizeof(v)), va = 0;
	struct tsr_bind map[6];
	struct tsr_bo *bo = NULL;
	void *cpu = NULL;

	ktap_eq(tsr_bo_create(t.device, 6 * PAGE, DRM_TESSERA_BO_CACHED, t.vm, &bo), 0);
	ktap_eq(tsr_bo_map(bo, &cpu), 0);
	ktap_eq(tsr_vm_alloc(t.vm, GIB(40), PAGE, &va), 0);
	for (uint32_t i = 0; i < 6; i++) {
		const uint64_t at = i % 3 * APART + (i < 3 ? 0 : COLORS);

		map[i] = (struct tsr_bind) {
			.op = DRM_TESSERA_BIND_MAP, .access = DRM_TESSERA_BIND_READ, .bo = bo,
			.va = va + at / PAGE * PAGE, .size = PAGE, .bo_offset = i * PAGE,
		};

		memcpy((char *)cpu + i * PAGE + at % PAGE,
		       i < 3 ? v[i].position : v[i - 3].color, 16);
	}
	ktap_eq(tsr_vm_bind(t.vm, map, 6), 0);
	for (uint32_t divisor = 0; divisor < 3; divisor++) {
		for (uint32_t less = 0; less < 2; less++) {
			draw_far(va, size - less, APART, COLORS, divisor, far);
			draw_far(here, sizeof(v) - less, sizeof(v[0]), 16, divisor, near);
			ktap_mem_eq(far, near, sizeof(near));
			ktap_ok(less || near[4 * (SIDE / 3 * SIDE + SIDE / 2) + 3] != 0);
		}
	}
	for (uint32_t i = 0; i < 6; i++) {
		map[i].op = DRM_TESSERA_BIND_UNMAP;
		map[i].access = map[i].bo_offset = 0;
		map[i].bo = NULL;
	}
	ktap_eq(tsr_vm_bind(t.vm, map, 6), 0);
	ktap_eq(tsr_vm_free(t.vm, va, GIB(40)), 0);
	tsr_bo_unref(bo);
}

/* ---- The limits of instancing ---- */

static void colors_by_instance(struct tsr_gfx_pipeline_info *info, struct tsr_gfx_blend *blend)
{
	static const struct tsr_gfx_attribute attributes[] = {
		{ .format = TSR_PIXEL_FORMAT_RGBA32F },
		{ .format = TSR_PIXEL_FORMAT_RGBA32F, .buffer = 1 },
	};
	static struct tsr_gfx_vertex_buffer buffers[2];

	(void)blend;
	buffers[0].stride = buffers[1].stride = 16;
	buffers[1].divisor = far_divisor;
	info->attributes = attributes;
	info->buffers = buffers;
	info->buffer_count = 2;
}

/* The red of the middle pixel after five instances of one triangle, each over the one before. */
static unsigned int last_red(uint32_t divisor)
{
	static const float corners[3][4] = { { -3, -1, 0, 1 }, { 1, -1, 0, 1 }, { 1, 3, 0, 1 } };
	struct tsr_gfx_pass *pass = gfxt_one(&t, image, black);
	static uint8_t texels[4 * SIDE * SIDE];
	struct tsr_gfx_pipeline *p;
	float colors[5][4];
	uint64_t va;

	for (unsigned int i = 0; i < 5; i++) {
		colors[i][0] = (float)(i + 1) / 255;
		colors[i][1] = colors[i][2] = colors[i][3] = 1;
	}
	far_divisor = divisor;
	p = gfxt_pipeline(&t, colors_by_instance);
	ktap_eq(tsr_gfx_set_pipeline(pass, p), 0);
	va = gfxt_data(&t, corners, sizeof(corners));
	ktap_eq(tsr_gfx_set_vertices(pass, 0, va, sizeof(corners)), 0);
	va = gfxt_data(&t, colors, sizeof(colors));
	ktap_eq(tsr_gfx_set_vertices(pass, 1, va, sizeof(colors)), 0);
	ktap_eq(tsr_gfx_draw(pass, &(struct tsr_gfx_draw){ .count = 3, .instances = 5 }), 0);
	gfxt_drawn(pass);
	gfxt_read(image, 0, 0, texels, 4 * SIDE);
	tsr_gfx_pipeline_unref(p);
	return texels[4 * (SIDE / 2 * SIDE + SIDE / 2)];
}

/* Record a draw without indices and drop it; 0, or the error that refused it. */
static int refused(uint32_t count, uint32_t instances)
{
	struct tsr_gfx_pass *pass = gfxt_one(&t, image, black);
	struct tsr_gfx_pipeline *p = gfxt_pipeline(&t, NULL);
	const uint64_t va = gfxt_data(&t, black, sizeof(black));
	int ret;

	ktap_eq(tsr_gfx_set_pipeline(pass, p), 0);
	ktap_eq(tsr_gfx_set_vertices(pass, 0, va, sizeof(black)), 0);
	ret = tsr_gfx_draw(pass, &(struct tsr_gfx_draw){ .count = count, .instances = instances });
	tsr_gfx_pass_destroy(pass);
	tsr_gfx_pipeline_unref(p);
	return ret;
}

/* Three vertices are padded to 3, so the product with 0x55555556 is the first above 2^32. */
static void limits(void)
{
	static const uint32_t large[] = {
		5, 0x40000000, 0x55555555, 0x55555556, 0x80000000, UINT32_MAX
	};

	ktap_eq(last_red(1), 5);
	ktap_eq(last_red(2), 3);
	ktap_eq(last_red(4), 2);
	for (size_t i = 0; i < sizeof(large) / sizeof(large[0]); i++)
		ktap_eq(last_red(large[i]), 1);
	/* 2^32 in all are the most; one vertex less than a power of two is padded to it */
	ktap_eq(refused((1u << 20) - 1, 1u << 12), 0);
	ktap_eq(refused((1u << 20) - 1, (1u << 12) + 1), -E2BIG);
	ktap_ok(strstr(tsr_error_message(), "at most 2^32"));
	ktap_eq(refused(INT32_MAX, 2), 0);
	ktap_eq(refused(1u << 31, 2), -E2BIG);
	ktap_eq(refused(0xdfffffff, 2), -E2BIG);
	ktap_eq(refused(UINT32_MAX, 2), -E2BIG);
}

int main(void)
{
	ktap_start();
	gfxt_open(&t);
	image = gfxt_image(&t, TSR_PIXEL_FORMAT_RGBA8_UNORM, SIDE, 1);
	ktap_run("[IA1] [IA6] [PIX2] all topologies, indices of all sizes, restart, both provoking "
		 "vertices", all_topologies);
	ktap_run("[INST8] at most 2^32 vertices of all instances; larger divisors are element 0's",
		 limits);
	ktap_run("[IA1] [INST4] [INST5] [INST7] instances: divisors, first instance, base vertex, "
		 "also from memory",
		 all_instanced);
	ktap_run("[IA1] draws whose numbers stand in memory", indirect);
	ktap_run("[IA2] indices and vertices beyond their buffers read 0", beyond);
	ktap_run("[IA3] a vertex buffer of 40 GiB: size, stride and offset of more than 32 bits",
		 huge);
	ktap_run("[IA4] [PA2] few triangles of many: those that are culled take nothing with them",
		 few_of_many);
	tsr_image_unref(image);
	gfxt_close(&t);
	return ktap_finish();
}
