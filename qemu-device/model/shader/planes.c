/* SPDX-License-Identifier: MIT */
#include "planes.h"

#include <math.h>
#include <string.h>

#include "units/msg.h"
#include "units/msg_bundle.h"

/* Contraction would change bits of the results. */
#pragma GCC optimize("fp-contract=off")

#define SUBPIXELS (1 << TSR_SUBPIXEL_BITS)

/* ---- Geometry -------------------------------------------------------------------------------- */

typedef double two __attribute__((vector_size(16)));

/* Edges in subpixels; all of it is exact up to the quotients. */
static void triangle_weights(struct tsr_fragment_prim *p)
{
	const struct tsr_screen_vertex *v = p->prim.v;
	double x1 = (double)v[1].x - v[0].x, y1 = (double)v[1].y - v[0].y;
	double x2 = (double)v[2].x - v[0].x, y2 = (double)v[2].y - v[0].y;
	double area = x1 * y2 - x2 * y1;
	two dx = { y2, -y1 }, dy = { -x2, x1 };

	if (area == 0)
		return;
	dx = dx * SUBPIXELS / area;
	dy = dy * SUBPIXELS / area;
	memcpy(p->dx, &dx, sizeof(dx));
	memcpy(p->dy, &dy, sizeof(dy));
}

/* Along a line: the foot of the perpendicular from a point to it. */
static void line_weights(struct tsr_fragment_prim *p)
{
	const struct tsr_screen_vertex *v = p->prim.v;
	double x = (double)v[1].x - v[0].x, y = (double)v[1].y - v[0].y;
	double length = x * x + y * y;

	if (length == 0)
		return;
	p->dx[0] = x * SUBPIXELS / length;
	p->dy[0] = y * SUBPIXELS / length;
}

void tsr_prim_geometry(struct tsr_fragment_prim *p)
{
	const struct tsr_screen_vertex *v = p->prim.v;
	unsigned int vertices = p->prim.vertices;

	if (p->geometry)
		return;
	p->geometry = true;
	p->x0 = (double)v[0].x / SUBPIXELS;
	p->y0 = (double)v[0].y / SUBPIXELS;
	memset(p->dx, 0, sizeof(p->dx));
	memset(p->dy, 0, sizeof(p->dy));
	if (vertices == 3)
		triangle_weights(p);
	else if (vertices == 2)
		line_weights(p);
	p->rw[0] = v[0].rw;
	p->z[0] = v[0].z + p->bias;
	p->rw[1] = p->rw[2] = p->z[1] = p->z[2] = 0;
	p->flat_w = true;
	for (unsigned int i = 1; i < vertices; i++) {
		p->rw[1] += ((double)v[i].rw - v[0].rw) * p->dx[i - 1];
		p->rw[2] += ((double)v[i].rw - v[0].rw) * p->dy[i - 1];
		p->z[1] += ((double)v[i].z - v[0].z) * p->dx[i - 1];
		p->z[2] += ((double)v[i].z - v[0].z) * p->dy[i - 1];
		p->flat_w &= v[i].rw == v[0].rw;
	}
}

/* ---- Varyings in memory ---------------------------------------------------------------------- */

/* How many 32-bit floats a texel of @format is, red first; 0: it is something else. */
static unsigned int plain_floats(const struct tsr_format *format)
{
	if (format->kind != TSR_FORMAT_KIND_FLOAT || format->bits[0] != 32)
		return 0;
	for (unsigned int c = 0; c < 4; c++) {
		if (format->from[c] != c || (format->bits[c] && format->bits[c] != 32))
			return 0;
	}
	return format->bytes / 4;
}

enum tsr_step tsr_varying_read(struct tsr_msg_env *env, uint32_t index, struct tsr_varying *v)
{
	const struct tsr_shader_state *shader = &env->fragments->state->shader;
	uint64_t va = env->program->varyings + index * 8ull, q[2];
	struct tsr_attribute attribute;
	enum tsr_step step;

	*v = (struct tsr_varying){ .index = index, .missing = true };
	if (index >= env->program->varying_count)
		return TSR_STEP_DONE;
	step = tsr_msg_descriptor(env, va + env->copies->moved[TSR_PART_VARYINGS], q, 1);
	if (step != TSR_STEP_DONE)
		return step;
	tsr_unpack_attribute(q, &attribute);
	if (attribute.big_endian ||
	    !tsr_format_find(&v->format, attribute.format, attribute.order, attribute.srgb))
		return tsr_msg_fault(env, TSR_FAULT_SHADER_STATE, va, TSR_ACCESS_NONE);
	v->offset = attribute.offset;
	v->floats = plain_floats(&v->format);
	v->flat = tsr_format_is_integer(&v->format) ||
		  (index < 32 && shader->flat_varyings >> index & 1);
	v->linear = index < 32 && shader->linear_varyings >> index & 1;
	if (attribute.buffer >= env->state->attribute_buffer_count)
		return TSR_STEP_DONE;
	va = env->state->attribute_buffers + attribute.buffer * 16ull;
	step = tsr_msg_descriptor(env, va + env->copies->moved[TSR_PART_ATTRIBUTE_BUFFERS], q, 2);
	if (step != TSR_STEP_DONE)
		return step;
	tsr_unpack_attribute_buffer(q, &v->buffer);
	if (v->buffer.type != TSR_ATTRIBUTE_BUFFER_TYPE_LINEAR)
		return tsr_msg_fault(env, TSR_FAULT_SHADER_STATE, va, TSR_ACCESS_NONE);
	v->missing = false;
	v->output = !v->buffer.pointer;
	return TSR_STEP_DONE;
}

/* Number of vertex @i of @p in its draw: of all instances, each padded to the same number. */
static enum tsr_step linear_id(struct tsr_msg_env *env, const struct tsr_fragment_prim *p,
			       unsigned int i, uint32_t *linear)
{
	uint32_t id[2];
	enum tsr_step step = tsr_access_read(env->access, env->mem, p->ids + 8 * p->prim.slot[i],
					     id, sizeof(id));

	if (step == TSR_STEP_DONE)
		*linear = id[0] + (uint32_t)p->padded * id[1];
	return step;
}

/* Value of varying @v at vertex @i of @p, in its format. */
static enum tsr_step load_vertex(struct tsr_msg_env *env, const struct tsr_varying *v,
				 const struct tsr_fragment_prim *p, unsigned int i,
				 union tsr_texel *texel)
{
	uint64_t at = v->offset, va;
	uint32_t linear;
	enum tsr_step step;
	uint64_t size = v->output ? env->fragments->state->shader.output_stride : v->buffer.size;

	memset(texel, 0, sizeof(*texel));
	if (!v->output) {
		step = linear_id(env, p, i, &linear);
		if (step != TSR_STEP_DONE)
			return step;
		at += (uint64_t)linear * v->buffer.stride;
	}
	if ((int64_t)at < 0 || at + v->format.bytes > size || (v->output && !p->output[i]))
		return TSR_STEP_DONE;
	va = (v->output ? p->output[i] : v->buffer.pointer) + at;
	if (v->floats && va % 4 == 0 && va % TSR_ACCESS_PAGE_BYTES <= TSR_ACCESS_PAGE_BYTES - 16) {
		const uint8_t *page = tsr_access_find(env->access, env->access->read, va);

		if (page) {
			texel->f[3] = 1;
			memcpy(texel->f, page + va % TSR_ACCESS_PAGE_BYTES, 4 * v->floats);
			env->cost.read_bytes += 4 * v->floats;
			return TSR_STEP_DONE;
		}
	}
	return tsr_msg_load_texel(env, 0, va, &v->format, texel);
}

/* Weight of vertex @j of a clipped primitive at its corner @i. */
static double corner_weight(const struct tsr_prim *prim, bool linear, unsigned int i,
			    unsigned int j)
{
	double weight = prim->weight[i][j];

	/* weights are those of clip space; on the screen vertices count with their 1/w */
	return linear ? weight * prim->v[i].rw / prim->slot_rw[j] : weight;
}

/* A number for each component. */
typedef double four __attribute__((vector_size(32)));
typedef float four_floats __attribute__((vector_size(16), may_alias, aligned(4)));

#define COMPONENTS(texel) __builtin_convertvector(*(const four_floats *)(texel)->f, four)

/* Values at corner @i of a clipped primitive; @d: at its vertices. All less the provoking one's. */
static void clipped_corner(const struct tsr_prim *prim, const four d[3], bool linear,
			   unsigned int i, four *out)
{
	four sum = { 0 };

	for (unsigned int j = 0; j < prim->vertices; j++) {
		if (j != prim->provoking)
			sum += d[j] * corner_weight(prim, linear, i, j);
	}
	*out = sum;
}

static void smooth_planes(const struct tsr_varying *v, const struct tsr_fragment_prim *p,
			  const union tsr_texel *texel, struct tsr_planes *planes)
{
	const four value = COMPONENTS(&texel[p->prim.provoking]);
	const four d[3] = { COMPONENTS(&texel[0]) - value, COMPONENTS(&texel[1]) - value,
			    COMPONENTS(&texel[2]) - value };
	four a = { 0 }, b = { 0 }, first = { 0 };

	planes->perspective = !v->linear && !p->flat_w;
	for (unsigned int i = 0; i < p->prim.vertices; i++) {
		four at = d[i];

		if (p->prim.clipped)
			clipped_corner(&p->prim, d, v->linear, i, &at);
		if (planes->perspective)
			at *= p->prim.v[i].rw;
		if (!i) {
			first = at;
			continue;
		}
		a += (at - first) * p->dx[i - 1];
		b += (at - first) * p->dy[i - 1];
	}
	memcpy(planes->a, &a, sizeof(a));
	memcpy(planes->b, &b, sizeof(b));
	memcpy(planes->c, &first, sizeof(first));
}

/* smooth_planes() for triangles that are not clipped. */
static inline void triangle_planes(const struct tsr_varying *v, const struct tsr_fragment_prim *p,
				   const union tsr_texel *texel, struct tsr_planes *planes)
{
	const four zero = { 0 }, value = COMPONENTS(&texel[p->prim.provoking]);
	four first = COMPONENTS(&texel[0]) - value, a, b;
	four right = COMPONENTS(&texel[1]) - value, down = COMPONENTS(&texel[2]) - value;

	planes->perspective = !v->linear && !p->flat_w;
	if (planes->perspective) {
		first *= p->prim.v[0].rw;
		right *= p->prim.v[1].rw;
		down *= p->prim.v[2].rw;
	}
	right -= first;
	down -= first;
	/* sums begin with 0 as those of smooth_planes() do: no -0 is left */
	a = zero + right * p->dx[0] + down * p->dx[1];
	b = zero + right * p->dy[0] + down * p->dy[1];
	memcpy(planes->a, &a, sizeof(a));
	memcpy(planes->b, &b, sizeof(b));
	memcpy(planes->c, &first, sizeof(first));
}

/* Where the host has the values of @v at vertex @i of @p, four floats wide; NULL: not at hand. */
static inline const uint8_t *values_at_hand(const struct tsr_msg_env *env,
					    const struct tsr_varying *v,
					    const struct tsr_fragment_prim *p, unsigned int i)
{
	const uint64_t va = p->output[i] + v->offset;
	const unsigned int offset = va % TSR_ACCESS_PAGE_BYTES;
	const uint8_t *page = tsr_access_find(env->access, env->access->read, va);

	if (!page || va % 4 || offset > TSR_ACCESS_PAGE_BYTES - 16)
		return NULL;
	return page + offset;
}

typedef int32_t four_words __attribute__((vector_size(16)));

/* Floats among the outputs of vertices, as many as are there. */
static bool is_quick(const struct tsr_msg_env *env, const struct tsr_varying *v)
{
	return v->floats && v->output && !v->flat && v->offset >= 0 &&
	       v->offset + v->format.bytes <= env->fragments->state->shader.output_stride;
}

/*
 * Fast path of make_planes() for most primitives: triangles that are not clipped, with floats among
 * the mapped outputs of their vertices. False for others.
 */
static bool quick_planes(struct tsr_msg_env *env, const struct tsr_varying *v,
			 const struct tsr_fragment_prim *p, struct tsr_planes *planes)
{
	static const four_words behind[5] = {
		{ 0 }, { -1 }, { -1, -1 }, { -1, -1, -1 }, { -1, -1, -1, -1 },
	};
	const four_words one = { 0, 0, 0, 0x3f800000 }, there = behind[v->floats];
	union tsr_texel texel[3];

	if (!is_quick(env, v) || p->prim.clipped || p->prim.vertices != 3 || !p->output[0])
		return false;
	for (unsigned int i = 0; i < 3; i++) {
		const uint8_t *from = values_at_hand(env, v, p, i);
		four_words word;

		if (!from)
			return false;
		memcpy(&word, from, sizeof(word));
		word = (word & there) | (one & ~there);
		memcpy(texel[i].f, &word, sizeof(word));
	}
	env->cost.read_bytes += 12 * v->floats;
	memcpy(planes->provoking.f, texel[p->prim.provoking].f, sizeof(texel[0].f));
	planes->format = v->format;
	planes->flat = false;
	triangle_planes(v, p, texel, planes);
	return true;
}

static enum tsr_step make_planes(struct tsr_msg_env *env, const struct tsr_varying *v,
				 struct tsr_fragment_prim *p, struct tsr_planes *planes)
{
	static const union tsr_texel missing = { .f = { 0, 0, 0, 1 } };
	enum tsr_step step = TSR_STEP_DONE;
	union tsr_texel texel[3];

	tsr_prim_geometry(p);
	if (quick_planes(env, v, p, planes))
		return TSR_STEP_DONE;
	*planes = (struct tsr_planes){ .flat = v->flat };
	if (v->missing) {
		planes->provoking = missing;
		return TSR_STEP_DONE;
	}
	planes->format = v->format;
	memset(texel, 0, sizeof(texel));
	for (unsigned int i = 0; i < p->prim.vertices && step == TSR_STEP_DONE; i++) {
		if (!v->flat || i == p->prim.provoking)
			step = load_vertex(env, v, p, i, &texel[i]);
	}
	/* what flat instructions and PIX2's flat state read, whatever the varying is otherwise */
	if (step == TSR_STEP_DONE) {
		planes->provoking = texel[p->prim.provoking];
		if (!v->flat)
			smooth_planes(v, p, texel, planes);
	}
	return step;
}

bool tsr_planes_quick(struct tsr_msg_env *env, struct tsr_varying *v, bool *read, uint32_t index)
{
	*read = tsr_varying_read(env, index, v) == TSR_STEP_DONE;
	return *read && is_quick(env, v);
}

/* A page, so that it is not looked up again and again. */
struct known_page {
	uint64_t number;
	const uint8_t *at;		/* NULL: it is not at hand */
};

/* Where the host has four floats at @va; NULL: not in one piece, or not now. */
static inline const uint8_t *floats_at_hand(struct tsr_msg_env *env, uint64_t va,
					    struct known_page *known)
{
	const struct tsr_msg_access read = { .read = true };
	const unsigned int offset = va % TSR_ACCESS_PAGE_BYTES;

	if (va / TSR_ACCESS_PAGE_BYTES != known->number) {
		known->number = va / TSR_ACCESS_PAGE_BYTES;
		known->at = tsr_msg_page(env, &read, va);
	}
	if (!known->at || va % 4 || offset > TSR_ACCESS_PAGE_BYTES - 16)
		return NULL;
	return known->at + offset;
}

bool tsr_planes_sources(struct tsr_msg_env *env, const struct tsr_varying *v, uint32_t prims,
			struct tsr_plane_source source[TSR_BUNDLE_QUADS], unsigned int *count)
{
	struct known_page known = { .number = UINT64_MAX };
	struct tsr_fragments *f = env->fragments;
	unsigned int n = 0;
	bool all = true;

	/* the first place is for what is not kept */
	f->plane_count += !f->plane_count;
	for (; prims; prims &= prims - 1) {
		const unsigned int prim = __builtin_ctz(prims);
		const struct tsr_fragment_prim *p = &f->prim[prim];
		struct tsr_plane_source *s = &source[n];

		if (f->plane_of[prim][v->index])
			continue;
		if (p->prim.clipped || p->prim.vertices != 3 || !p->output[0]) {
			all = false;
			continue;
		}
		for (unsigned int i = 0; i < 3; i++)
			s->at[i] = floats_at_hand(env, p->output[i] + v->offset, &known);
		if (!s->at[0] || !s->at[1] || !s->at[2]) {
			all = false;
			continue;
		}
		s->prim = prim;
		s->plane = f->plane_count + n++;
		f->plane_of[prim][v->index] = s->plane + 1;
	}
	f->plane_count += n;
	env->cost.read_bytes += (uint64_t)12 * v->floats * n;
	*count = n;
	return all;
}

enum tsr_step tsr_planes_find(struct tsr_msg_env *env, struct tsr_varying *v, bool *read,
			      unsigned int prim, uint32_t index, const struct tsr_planes **planes)
{
	struct tsr_fragments *f = env->fragments;
	uint16_t *at = index < TSR_PLANE_VARYINGS ? &f->plane_of[prim][index] : NULL;
	enum tsr_step step = TSR_STEP_DONE;

	if (at && *at) {
		*planes = &f->planes[*at - 1];
		return TSR_STEP_DONE;
	}
	if (!*read || v->index != index)
		step = tsr_varying_read(env, index, v);
	*read = step == TSR_STEP_DONE;
	if (step != TSR_STEP_DONE)
		return step;
	/* The first place is for what is not kept. */
	if (f->plane_count == TSR_PLANES_MAX) {
		memset(f->plane_of, 0, sizeof(f->plane_of));
		f->plane_count = 0;
	}
	if (!f->plane_count)
		f->plane_count = 1;
	*planes = &f->planes[at ? f->plane_count : 0];
	step = make_planes(env, v, &f->prim[prim], (struct tsr_planes *)*planes);
	if (step == TSR_STEP_DONE && at)
		*at = ++f->plane_count;
	return step;
}
