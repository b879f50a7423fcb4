// SPDX-License-Identifier: MIT
/* Patches, geometry shaders and stream-out of pipelines: checked and linked. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gfx.h"

#define REFUSE(p, ...) tsr_fail(EINVAL, "pipeline '%s': " __VA_ARGS__)
#define POSITION	(0x070u / 4)
#define GENERIC		0x080u
#define BIT(map, n)	((map)[(n) / 64] >> (n) % 64 & 1)

static const char *const name_of[GFX_SHADERS] = { "vertex", "hull", "domain", "geometry" };
enum { VERTEX, HULL, DOMAIN, GEOMETRY };

static const struct tsr_gfx_stage_shader *shader(const struct tsr_gfx_stages *s, unsigned int i)
{
	const struct tsr_gfx_stage_shader *const all[] = { &s->vertex, &s->hull, &s->domain,
						    &s->geometry };

	return all[i];
}

static bool is_there(const struct tsr_gfx_stages *s, unsigned int i)
{
	return !i || shader(s, i)->shader;
}

/* ---- What fits what -------------------------------------------------------------------------- */

/* Words the device makes for a shader. */
static bool is_made(unsigned int i, unsigned int word)
{
	if (i == VERTEX)
		return word >= GENERIC / 4;
	return word == 0x060 / 4 || (i == DOMAIN && (word == 0x2f0 / 4 || word == 0x2f4 / 4));
}

/* Checks that @before writes all words that @i reads. */
static int link_words(const struct tsr_gfx_pipeline_info *p, unsigned int before, unsigned int i)
{
	const struct tsr_gfx_stage_shader *from = shader(p->stages, before), *to =
		shader(p->stages, i);
	unsigned int n;

	for (n = 0; n < TSR_STAGE_WORDS; n++) {
		if (BIT(to->reads, n) && !BIT(from->writes, n) && !is_made(i, n))
			return REFUSE(p, "the %s shader reads word 0x%03x, which the %s shader "
				      "does not write", p->label, name_of[i], 4 * n,
				      name_of[before]);
	}
	return 0;
}

static int link_all(const struct tsr_gfx_pipeline_info *p)
{
	const struct tsr_gfx_stages *s = p->stages;
	unsigned int last = s->domain.shader ? DOMAIN : VERTEX;
	int ret = 0;

	if (s->hull.shader)
		ret = link_words(p, VERTEX, HULL);
	if (!ret && s->domain.shader)
		ret = link_words(p, s->hull.shader && s->control_points ? HULL : VERTEX, DOMAIN);
	if (!ret && s->geometry.shader)
		ret = link_words(p, last, GEOMETRY);
	return ret;
}

static int check_patches(const struct tsr_gfx_pipeline_info *p)
{
	const struct tsr_gfx_stages *s = p->stages;
	const bool lines = s->primitives == TSR_PATCH_PRIMITIVES_LINES;

	if (s->hull.shader && !s->domain.shader)
		return REFUSE(p, "a hull shader, and no domain shader", p->label);
	if ((p->topology == TSR_TOPOLOGY_PATCHES) != (s->patch_points != 0) ||
	    s->patch_points > TSR_PATCH_POINTS_MAX)
		return REFUSE(p, "patches of %u vertices, expected 1 to %d with topology PATCHES "
			      "alone", p->label, s->patch_points, TSR_PATCH_POINTS_MAX);
	if (!s->domain.shader)
		return 0;
	if (p->topology != TSR_TOPOLOGY_PATCHES)
		return REFUSE(p, "a domain shader with topology %u, expected PATCHES", p->label,
			      p->topology);
	if (s->hull.shader && s->hull.patch_words != s->domain.patch_words)
		return REFUSE(p, "the hull shader has %u words of a patch, the domain shader %u",
			      p->label, s->hull.patch_words, s->domain.patch_words);
	if (s->control_points > TSR_PATCH_POINTS_MAX || s->hull_threads > TSR_PATCH_POINTS_MAX)
		return REFUSE(p, "%u control points and %u threads of a patch, expected at most %d",
			      p->label, s->control_points, s->hull_threads, TSR_PATCH_POINTS_MAX);
	if (s->shape > TSR_PATCH_SHAPE_ISOLINE || s->primitives > TSR_PATCH_PRIMITIVES_TRIANGLES ||
	    s->partitioning > TSR_PATCH_PARTITIONING_FRACTIONAL_EVEN ||
	    (s->primitives && lines != (s->shape == TSR_PATCH_SHAPE_ISOLINE)))
		return REFUSE(p, "patches of shape %u, partitioning %u, primitives %u; lines are "
			      "of isolines, triangles of the others", p->label, s->shape,
			      s->partitioning, s->primitives);
	return 0;
}

static unsigned int words_in(const uint64_t map[4])
{
	return (unsigned int)(__builtin_popcountll(map[0]) + __builtin_popcountll(map[1]) +
			      __builtin_popcountll(map[2]) + __builtin_popcountll(map[3]));
}

static int check_geometry(const struct tsr_gfx_pipeline_info *p)
{
	const struct tsr_gfx_stages *s = p->stages;
	const uint32_t streams = s->streams ? s->streams : 1;

	if (!s->geometry.shader)
		return s->raster_stream || streams > 1 ?
			REFUSE(p, "streams 0x%x, of which %u is drawn, and no geometry shader",
			       p->label, streams, s->raster_stream) : 0;
	if (s->domain.shader && (uint32_t)s->input != (uint32_t)s->primitives)
		return REFUSE(p, "a geometry shader that takes %u after a domain shader that "
			      "makes %u", p->label, s->input, s->primitives);
	if (s->input > TSR_GEOMETRY_INPUT_PATCHES || s->instances > TSR_GEOMETRY_INSTANCES_MAX ||
	    s->output > TSR_GEOMETRY_OUTPUT_TRIANGLE_STRIP || streams > 15 ||
	    s->raster_stream >= TSR_STREAM_OUT_STREAMS || (streams > 1 && s->output))
		return REFUSE(p, "a geometry shader with input %u, output %u, %u instances, "
			      "streams 0x%x (more than stream 0 of points alone)", p->label,
			      s->input, s->output, s->instances, streams);
	if (!s->max_vertices ||
	    (uint64_t)s->max_vertices * words_in(s->geometry.writes) > TSR_GEOMETRY_VERTICES_MAX)
		return REFUSE(p, "%u vertices of %u words of a geometry shader, expected at most "
			      "%d words", p->label, s->max_vertices, words_in(s->geometry.writes),
			      TSR_GEOMETRY_VERTICES_MAX);
	return 0;
}

static int check_declaration(const struct tsr_gfx_pipeline_info *p)
{
	const struct tsr_gfx_stages *s = p->stages;
	uint32_t words[TSR_STREAM_OUT_STREAMS] = { 0 }, fed[TSR_STREAM_OUT_TARGETS] = { 0 }, i;
	const uint32_t streams = s->streams ? s->streams : 1;

	if (s->declared > TSR_STREAM_OUT_ENTRIES_MAX)
		return REFUSE(p, "%u entries of stream-out, expected at most %d", p->label,
			      s->declared, TSR_STREAM_OUT_ENTRIES_MAX);
	for (i = 0; i < s->declared; i++) {
		const struct tsr_gfx_streamed *e = &s->declaration[i];

		if (e->stream >= TSR_STREAM_OUT_STREAMS || e->target >= TSR_STREAM_OUT_TARGETS ||
		    !(streams >> e->stream & 1) || !e->components || e->components > 4 ||
		    e->word >= TSR_STAGE_WORDS || e->word + e->components > TSR_STAGE_WORDS ||
		    e->offset % 4 || e->offset + 4 * e->components > TSR_STREAM_OUT_STRIDE_MAX)
			return REFUSE(p, "entry %u of stream-out: %u words from %u on, of stream "
				      "%u, to byte %u of target %u", p->label, i, e->components,
				      e->word, e->stream, e->offset, e->target);
		words[e->stream] += e->components;
		if (words[e->stream] > TSR_STREAM_OUT_WORDS_MAX)
			return REFUSE(p, "more than %d words of stream %u", p->label,
				      TSR_STREAM_OUT_WORDS_MAX, e->stream);
		if (fed[e->target] && fed[e->target] != e->stream + 1)
			return REFUSE(p, "target %u of streams %u and %u", p->label, e->target,
				      fed[e->target] - 1, e->stream);
		fed[e->target] = e->stream + 1;
	}
	return 0;
}

static int check_shaders(const struct tsr_gfx_pipeline_info *p)
{
	const struct tsr_gfx_stages *s = p->stages;
	const unsigned int last = s->geometry.shader ? GEOMETRY :
				  s->domain.shader ? DOMAIN : VERTEX;
	unsigned int i, n;

	if (p->varying || s->vertex.shader || p->vertex_flags & TSR_GFX_VERTEX_WINDOW_POSITION)
		return REFUSE(p, "stages with a varying program, with two vertex programs, or with "
			      "positions in the window", p->label);
	for (i = 0; i < GFX_SHADERS; i++) {
		const struct tsr_gfx_stage_shader *g = shader(s, i);

		if (!is_there(s, i))
			continue;
		if (i && (g->entry % 16 || g->entry >= g->shader->info.size -
							g->shader->info.entry))
			return REFUSE(p, "the %s shader begins at %u, expected a multiple of 16 "
				      "inside", p->label, name_of[i], g->entry);
		if (g->patch_words & (g->patch_words - 1) || g->patch_words > 128 ||
		    (g->patch_words && g->patch_words < 8))
			return REFUSE(p, "%u words of a patch, expected 0 or a power of two from 8 "
				      "to 128", p->label, g->patch_words);
	}
	for (n = POSITION; n < POSITION + 4 && !(p->raster & TSR_GFX_RASTER_NONE); n++) {
		if (!BIT(shader(s, last)->writes, n))
			return REFUSE(p, "the %s shader writes no position", p->label,
				      name_of[last]);
	}
	return 0;
}

/* ---- What the device is told ----------------------------------------------------------------- */

static struct tsr_stage_header header_of(const struct tsr_gfx_stages *s, unsigned int i)
{
	const struct tsr_gfx_stage_shader *g = shader(s, i);
	struct tsr_stage_header h = {
		.imap_0 = g->reads[0], .imap_1 = g->reads[1], .imap_2 = g->reads[2],
		.imap_3 = g->reads[3], .omap_0 = g->writes[0], .omap_1 = g->writes[1],
		.omap_2 = g->writes[2], .omap_3 = g->writes[3], .required_first = 1,
		.trap_handles = g->trap_handles,
	};

	if (g->patch_words)
		h.patch_words = (uint32_t)__builtin_ctz(g->patch_words) - 2;
	if (i == HULL) {
		h.threads = s->control_points;
		h.extra_threads = s->hull_threads;
		h.independent = s->independent;
	}
	if (i == GEOMETRY) {
		h.threads = s->instances;
		h.input = s->input;
		h.output = s->output;
		h.streams = s->streams ? s->streams : 1;
		h.max_vertices = s->max_vertices;
	}
	return h;
}

static void fill_state(struct gfx_stages *g)
{
	const struct tsr_gfx_stages *s = &g->info;
	uint32_t factor[6];

	memcpy(factor, s->factors, sizeof(factor));
	g->state = (struct tsr_geometry_state){
		.patch_points = s->patch_points, .shape = s->shape,
		.partitioning = s->partitioning, .primitives = s->primitives,
		.reversed = s->reversed, .raster_stream = s->raster_stream,
		.factor_0 = factor[0], .factor_1 = factor[1], .factor_2 = factor[2],
		.factor_3 = factor[3], .factor_4 = factor[4], .factor_5 = factor[5],
		.entries = s->declared,
	};
	for (unsigned int i = 0; i < GFX_SHADERS; i++)
		g->header[i] = header_of(s, i);
}

/* Places outputs of shaders without stage I/O memory in words of it. */
static void place_outputs(struct tsr_gfx_pipeline *p)
{
	struct tsr_attribute a;
	uint32_t i;

	for (i = 0; i < p->info.varying_count; i++) {
		tsr_unpack_attribute(&p->outputs[p->varyings[i].output], &a);
		a.offset += (int32_t)GENERIC;
		tsr_pack_attribute(&p->outputs[p->varyings[i].output], &a);
	}
	if (p->info.vertex_flags & TSR_GFX_VERTEX_ONE_SHADER)
		tsr_pack_attribute(&p->outputs[0], &(struct tsr_attribute){
			.format = TSR_PIXEL_FORMAT_RGBA32F, .offset = 4 * POSITION });
	p->state.position_output = false;
}

int gfx_stages_create(struct tsr_gfx_pipeline *p)
{
	const struct tsr_gfx_stages *s = p->info.stages;
	struct gfx_stages *g;
	int ret = check_shaders(&p->info);

	if (!ret)
		ret = check_patches(&p->info);
	if (!ret)
		ret = check_geometry(&p->info);
	if (!ret)
		ret = check_declaration(&p->info);
	if (!ret)
		ret = link_all(&p->info);
	if (ret)
		return ret;
	g = calloc(1, sizeof(*g));
	if (!g)
		return tsr_fail(ENOMEM, "no memory for pipeline '%s'", p->label);
	g->info = *s;
	if (s->declared)
		memcpy(g->declaration, s->declaration, s->declared * sizeof(g->declaration[0]));
	g->info.declaration = g->declaration;
	fill_state(g);
	place_outputs(p);
	for (unsigned int i = HULL; i < GFX_SHADERS; i++) {
		if (is_there(s, i))
			tsr_shader_ref(shader(s, i)->shader);
	}
	p->stages = g;
	p->info.stages = &g->info;
	return 0;
}

void gfx_stages_destroy(struct tsr_gfx_pipeline *p)
{
	if (!p->stages)
		return;
	for (unsigned int i = HULL; i < GFX_SHADERS; i++)
		tsr_shader_unref(shader(&p->stages->info, i)->shader);
	free(p->stages);
}

/* ---- Draws ----------------------------------------------------------------------------------- */

/* The header of shader @i, in the pass's memory. */
static int put_header(struct tsr_gfx_pass *pass, unsigned int i, uint64_t *va)
{
	uint64_t *words = gfx_data(pass, TSR_STAGE_HEADER__QWORDS * 8, 64, va);

	if (!words)
		return pass->error;
	tsr_pack_stage_header(words, &pass->state.pipeline->stages->header[i]);
	return 0;
}

static int put_declaration(struct tsr_gfx_pass *pass, const struct gfx_stages *g, uint64_t *va)
{
	uint64_t *words;

	if (!g->info.declared)
		return 0;
	words = gfx_data(pass, g->info.declared * 8, 64, va);
	if (!words)
		return pass->error;
	for (uint32_t i = 0; i < g->info.declared; i++) {
		const struct tsr_gfx_streamed *e = &g->declaration[i];

		tsr_pack_stream_entry(words + i, &(struct tsr_stream_entry){
			.word = e->word, .components = e->components - 1, .stream = e->stream,
			.target = e->target, .offset = e->offset });
	}
	return 0;
}

int gfx_stages_write(struct tsr_gfx_pass *pass, struct tsr_shader_program *vertex)
{
	const struct gfx_stages *g = pass->state.pipeline->stages;
	struct tsr_geometry_state state = g->state;
	uint64_t va[GFX_SHADERS] = { 0 }, *words;
	int ret = put_header(pass, VERTEX, &vertex->header);

	for (unsigned int i = HULL; i < GFX_SHADERS && !ret; i++) {
		const struct tsr_gfx_stage_shader *s = shader(&g->info, i);
		struct tsr_shader_program program = *vertex;

		if (!s->shader)
			continue;
		ret = put_header(pass, i, &program.header);
		if (!ret)
			ret = gfx_put_stage(pass, s->shader, s->entry, &program, &va[i]);
	}
	if (!ret)
		ret = put_declaration(pass, g, &state.declaration);
	words = ret ? NULL : gfx_data(pass, TSR_GEOMETRY_STATE__QWORDS * 8, 64,
				      &pass->state.geometry);
	if (!words)
		return pass->error;
	state.hull = va[HULL];
	state.domain = va[DOMAIN];
	state.geometry = va[GEOMETRY];
	tsr_pack_geometry_state(words, &state);
	return 0;
}

int tsr_gfx_set_stream_targets(struct tsr_gfx_pass *pass,
			       const struct tsr_gfx_stream_target *targets, uint32_t count)
{
	uint64_t *words, va = 0;
	int ret = gfx_check(pass);
	uint32_t i;

	if (!ret && count > TSR_STREAM_OUT_TARGETS)
		ret = gfx_fail(pass, EINVAL, "%u targets of stream-out, expected at most %d", count,
			       TSR_STREAM_OUT_TARGETS);
	for (i = 0; !ret && i < count; i++) {
		const struct tsr_gfx_stream_target *t = &targets[i];

		if (t->va % 4 || t->counter % 8 || t->stride % 4 || t->size >> 48 ||
		    t->stride > TSR_STREAM_OUT_STRIDE_MAX)
			ret = gfx_fail(pass, EINVAL, "target %u of stream-out: 0x%llx bytes at "
				       "0x%llx, counter at 0x%llx, stride %u", i,
				       (unsigned long long)t->size, (unsigned long long)t->va,
				       (unsigned long long)t->counter, t->stride);
	}
	if (ret)
		return ret;
	words = count ? gfx_data(pass, TSR_STREAM_OUT_TARGETS * TSR_STREAM_TARGET__QWORDS * 8, 64,
				 &va) : NULL;
	if (count && !words)
		return pass->error;
	for (i = 0; count && i < TSR_STREAM_OUT_TARGETS; i++) {
		struct tsr_stream_target t = { 0 };

		if (i < count)
			t = (struct tsr_stream_target){ .base = targets[i].va,
				.size = targets[i].size, .stride = targets[i].stride,
				.counter = targets[i].counter };
		tsr_pack_stream_target(words + i * TSR_STREAM_TARGET__QWORDS, &t);
	}
	words = gfx_packet(pass, TSR_LIST_STREAM_OUT_QWORDS);
	if (!words)
		return pass->error;
	tsr_pack_list_stream_out(words, &(struct tsr_list_stream_out){ .addr = va });
	pass->streams |= count != 0;
	return 0;
}

int tsr_gfx_stream_query(struct tsr_gfx_pass *pass, uint32_t stream, uint64_t va)
{
	uint64_t *words;
	int ret = gfx_check(pass);

	if (!ret && (stream >= TSR_STREAM_OUT_STREAMS || va % 8))
		ret = gfx_fail(pass, EINVAL, "query of stream %u at 0x%llx, expected 0 to %d and a "
			       "multiple of 8", stream, (unsigned long long)va,
			       TSR_STREAM_OUT_STREAMS - 1);
	words = ret ? NULL : gfx_packet(pass, TSR_LIST_QUERY_QWORDS);
	if (!words)
		return pass->error;
	tsr_pack_list_query(words, &(struct tsr_list_query){
		.kind = TSR_QUERY_STREAM, .stream = stream, .addr = va });
	return 0;
}
