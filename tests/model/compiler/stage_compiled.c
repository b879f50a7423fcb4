/* SPDX-License-Identifier: MIT */
/*
 * Vertex and fragment programs that another compiler made, tests/model/draw/: every build of every
 * program must compute the positions, outputs and colors written down beside it. The sources of
 * the programs are our own; the numbers were computed from them in double precision.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "geometry/stages.h"
#include "ktap.h"
#include "pipe.h"

#define WORDS_MAX 8192
#define CHECKS_MAX 8

/* A fragment and what it must become. */
struct check {
	unsigned int x, y;
	float tolerance;
	uint32_t varying[2][4], color[4];
	unsigned int components[2];
};

struct output {
	unsigned int written, read, components;	/* indices in either program */
	uint32_t value[4];
};

/* A file, as far as it has been read. */
struct draw {
	struct pipe *p;
	uint32_t attribute[8][4], clip[4], window[4];
	unsigned int attributes, outputs, checks;
	struct output output[4];
	struct check check[CHECKS_MAX];
	/* the build that is being read */
	bool vertex, clips;
	int second;			/* where its varying program begins; -1: one does both */
	char name[64], format[8];
	uint32_t push[TSR_PUSH_WORDS_MAX], code[WORDS_MAX];
	unsigned int push_words, words, builds;
};

static float as_float(uint32_t word)
{
	float f;

	memcpy(&f, &word, sizeof(f));
	return f;
}

/* Hexadecimal words of a line. */
static unsigned int words_of(const char *text, uint32_t *out, unsigned int most)
{
	unsigned int n = 0;
	int used;

	while (n < most && sscanf(text, "%x%n", &out[n], &used) == 1) {
		text += used;
		n++;
	}
	return n;
}

static bool close_to(const uint32_t *got, const uint32_t *want, unsigned int count, float tolerance)
{
	for (unsigned int i = 0; i < count; i++) {
		float a = as_float(got[i]), b = as_float(want[i]);
		float scale = fabsf(b) > 1 ? fabsf(b) : 1;

		if (!(fabsf(a - b) <= tolerance * scale)) {
			ktap_note("component %u is %g, should be %g", i, (double)a, (double)b);
			return false;
		}
	}
	return true;
}

/* ---- Vertices -------------------------------------------------------------------------------- */

/* Vertex 5 of the batch is that of the file; all others have other values. */
#define VERTEX 5
#define BATCH 21

static void write_attributes(struct draw *d)
{
	for (unsigned int i = 0; i < d->attributes; i++) {
		uint32_t *at = pipe_at(d->p, PIPE_VERTICES + i * 0x400);

		pipe_attribute(d->p, PIPE_ATTRIBUTES, i, i, TSR_PIXEL_FORMAT_RGBA32F, 0, false);
		pipe_buffer(d->p, i, TSR_ATTRIBUTE_BUFFER_TYPE_LINEAR,
			    PIPE_VERTICES + i * 0x400, 16, 0x400, 0, 0);
		for (unsigned int n = 0; n < BATCH; n++)
			for (unsigned int c = 0; c < 4; c++)
				at[4 * n + c] = n == VERTEX ? d->attribute[i][c] : 0x3f000000 + n;
	}
}

static void run_stage(struct draw *d, enum tsr_stage stage, unsigned int entry)
{
	struct tsr_vertex_run *v = d->p->v;

	v->program = pipe_load(d->p, 0, stage, d->code, 4 * d->words, entry, d->push,
			       d->push_words);
	ktap_eq(pipe_vertices(d->p), TSR_STEP_DONE);
	ktap_eq(d->p->stats.vertices, BATCH);
}

/*
 * The program as the vertex shader of a draw with GEOMETRY. Its outputs are words of stage I/O
 * memory at the offsets of the driver.
 */
static void run_whole(struct draw *d)
{
	static struct tsr_stage_block block;
	const unsigned int slot = BATCH - 1 - VERTEX;
	struct tsr_stage_map written = { { 0 } };

	pipe_attribute(d->p, PIPE_OUTPUTS, 0, 31, TSR_PIXEL_FORMAT_RGBA32F, 0x70, false);
	for (unsigned int i = 0; i < d->outputs; i++)
		pipe_attribute(d->p, PIPE_OUTPUTS, d->output[i].written, 31,
			       TSR_PIXEL_FORMAT_RGBA32F, 0x80 + 16 * d->output[i].read, false);
	memset(&block.out, 0xff, sizeof(block.out));
	tsr_stage_block_begin(&block, BATCH);
	d->p->v->block = &block;
	d->p->v->position_output = false;
	run_stage(d, TSR_STAGE_VERTEX, 0);
	ktap_ok(close_to(&block.word[slot][0x70 / 4], d->clips ? d->clip : d->window, 4, 2e-5f));
	for (unsigned int n = 0; n < 4; n++)
		tsr_stage_add(&written, 0x70 / 4 + n);
	for (unsigned int i = 0; i < d->outputs; i++) {
		const struct output *o = &d->output[i];

		ktap_ok(close_to(&block.word[slot][0x80 / 4 + 4 * o->read], o->value,
				 o->components, 2e-5f));
		for (unsigned int n = 0; n < 4; n++)
			tsr_stage_add(&written, 0x80 / 4 + 4 * o->read + n);
	}
	ktap_mem_eq(&block.written[slot], &written, sizeof(written));
}

static void run_vertex(struct draw *d)
{
	struct tsr_vertex_run *v = d->p->v;
	uint32_t *values = pipe_at(d->p, PIPE_VALUES);
	bool both = d->second == -1;

	write_attributes(d);
	pipe_attribute(d->p, PIPE_OUTPUTS, 0, 31, TSR_PIXEL_FORMAT_RGBA32F, 0, false);
	for (unsigned int i = 0; i < d->outputs; i++) {
		const struct output *o = &d->output[i];

		pipe_attribute(d->p, PIPE_OUTPUTS, o->written, 31, TSR_PIXEL_FORMAT_RGBA32F,
			       16 * o->read, false);
	}
	memset(values, 0xee, 0x8000);
	v->threads = v->records = BATCH;
	for (unsigned int n = 0; n < BATCH; n++) {
		v->vertex[n] = n;
		v->instance[n] = 0;
		v->slot[n] = BATCH - 1 - n;
	}
	v->position_output = both;
	v->padded = 32;
	v->outputs = PIPE_VALUES;
	v->output_stride = PIPE_STRIDE;
	memset(v->record, 0xcc, sizeof(v->record));
	run_stage(d, TSR_STAGE_POSITION, 0);
	ktap_ok(close_to((uint32_t *)v->record[BATCH - 1 - VERTEX], d->clips ? d->clip : d->window,
			 4, 2e-5f));
	/* nothing else has been written */
	ktap_eq(v->record[BATCH - 1 - VERTEX][2] | v->record[BATCH - 1 - VERTEX][7], 0);
	ktap_eq(values[0], 0xeeeeeeee);
	if (d->second == -2)
		return;
	run_stage(d, TSR_STAGE_VARYING, both ? 0 : d->second);
	for (unsigned int i = 0; i < d->outputs; i++) {
		const struct output *o = &d->output[i];

		ktap_ok(close_to(&values[(BATCH - 1 - VERTEX) * PIPE_STRIDE / 4 + 4 * o->read],
				 o->value, o->components, 2e-5f));
	}
	ktap_eq(values[(BATCH - 1 - VERTEX) * PIPE_STRIDE / 4 + 4 * d->outputs], 0xeeeeeeee);
	if (both)
		run_whole(d);
}

/* ---- Fragments ------------------------------------------------------------------------------- */

/* Texture 0: what the files say that textures are. */
static void write_texture(struct draw *d, const struct check *c)
{
	bool fetch = strstr(d->name, "upload");
	unsigned int width = fetch ? 96 : 1, height = fetch ? 48 : 1;
	float *texel = pipe_at(d->p, PIPE_FREE), u = as_float(c->varying[0][0]);
	float v = as_float(c->varying[0][1]);
	const struct tsr_sampler sampler = { .type = 1, .normalized = true, .wrap_s = 9,
					     .wrap_t = 9, .wrap_r = 9 };
	const struct tsr_texture texture = {
		.type = 2, .dimension = TSR_TEXTURE_DIMENSION_2D,
		.format = TSR_PIXEL_FORMAT_RGBA32F, .width = width - 1, .height = height - 1,
		.swizzle_r = TSR_COMPONENT_R, .swizzle_g = TSR_COMPONENT_G,
		.swizzle_b = TSR_COMPONENT_B, .swizzle_a = TSR_COMPONENT_A,
		.texel_order = TSR_TEXEL_ORDER_LINEAR, .surfaces = PIPE_SURFACES,
	};
	const struct tsr_texture_surface surface = { .pointer = PIPE_FREE,
						     .row_stride = 16 * width };

	for (unsigned int i = 0; i < width * height; i++) {
		unsigned int x = i % width, y = i / width;
		float value[4] = { 0.5f + 0.25f * sinf(3 * u), 0.5f + 0.25f * cosf(5 * v),
				   0.25f + 0.125f * u * v, 0.75f };

		if (fetch) {
			value[0] = x % 16 / 16.0f;
			value[1] = y % 16 / 16.0f;
			value[2] = (x ^ y) % 16 / 16.0f;
			value[3] = 0.5f;
		}
		memcpy(texel + 4 * i, value, sizeof(value));
	}
	memset(pipe_at(d->p, PIPE_SAMPLERS), 0, 64);
	tsr_pack_sampler(pipe_at(d->p, PIPE_SAMPLERS), &sampler);
	tsr_pack_texture(pipe_at(d->p, PIPE_TEXTURES), &texture);
	tsr_pack_texture_surface(pipe_at(d->p, PIPE_SURFACES), &surface);
}

static bool color_is(const struct draw *d, unsigned int n, const struct check *c)
{
	const struct tsr_fragments *f = d->p->f;
	unsigned int w = n / 16, lane = n % 16;
	uint32_t got[4];

	for (unsigned int i = 0; i < 4; i++) {
		uint32_t word = tsr_fragments_color(f, 0, i / 2, w)->u[lane];
		float half = tsr_half_to_float(word >> 16 * (i % 2));

		got[i] = tsr_fragments_color(f, 0, i, w)->u[lane];
		if (d->format[1] == '1')
			memcpy(&got[i], &half, sizeof(half));
	}
	return close_to(got, c->color, 4, c->tolerance);
}

static void run_check(struct draw *d, const struct check *c)
{
	struct tsr_fragments *f = d->p->f;
	struct tsr_fragment_prim *prim;
	unsigned int n = 16 + (c->x & 1) + 2 * (c->y & 1);

	for (unsigned int i = 0; i < 2; i++) {
		if (c->components[i])
			pipe_varying(d->p, i, c->components[i]);
		for (unsigned int vertex = 0; vertex < 3; vertex++)
			memcpy(pipe_at(d->p, PIPE_VALUES + vertex * PIPE_STRIDE + 16 * i),
			       c->varying[i], 16);
	}
	write_texture(d, c);
	tsr_fragments_begin(f, &d->p->state);
	prim = pipe_prim(d->p, 3);
	prim->prim.v[1].x = 100 << 8;
	prim->prim.v[2].y = 100 << 8;
	prim->prim.v[1].rw = 0.25f;
	for (unsigned int i = 0; i < 4; i++)
		pipe_quad(d->p, 2 * i, 0, 0);
	pipe_quad(d->p, c->x & ~1, c->y & ~1, 0);
	ktap_eq(pipe_fragments(d->p), TSR_STEP_DONE);
	ktap_eq(d->p->stats.fragments, 20);
	ktap_eq(d->p->stats.helpers, 0);
	ktap_eq(f->written[0][0], 0xffff);
	ktap_eq(f->written[0][1], 0xf);
	ktap_eq(f->coverage[1].u[n % 16], 1);
	if (!color_is(d, n, c))
		ktap_ok(false);
}

static void run_fragment(struct draw *d)
{
	unsigned int type = d->format[1] == '1' ? TSR_REGISTER_TYPE_F16 : TSR_REGISTER_TYPE_F32;

	d->p->state.program = pipe_load(d->p, 1, TSR_STAGE_FRAGMENT, d->code, 4 * d->words, 0,
					d->push, d->push_words);
	d->p->state.blend[0] = TSR_BLEND_MODE_OPAQUE | 3u << 3 | (uint64_t)type << 56;
	for (unsigned int i = 0; i < d->checks; i++)
		run_check(d, &d->check[i]);
}

/* ---- Files ----------------------------------------------------------------------------------- */

static void preload(struct draw *d, const char *rest)
{
	struct tsr_shader_state *s = &d->p->state.shader;
	unsigned int v[6];

	if (sscanf(rest, "%u %u %u %u %u %u", v, v + 1, v + 2, v + 3, v + 4, v + 5) != 6)
		abort();
	if (v[0]) {
		s->preload_1 = v[1];
		s->preload_1_half = v[2];
		s->preload_1_components = v[3] - 1;
		s->preload_1_varying = v[4];
		s->preload_1_texture = v[5];
	} else {
		s->preload_0 = v[1];
		s->preload_0_half = v[2];
		s->preload_0_components = v[3] - 1;
		s->preload_0_varying = v[4];
		s->preload_0_texture = v[5];
	}
}

static void end_build(struct draw *d)
{
	if (d->vertex)
		run_vertex(d);
	else
		run_fragment(d);
	d->builds++;
	d->push_words = d->words = 0;
	d->p->state.shader.preload_0 = d->p->state.shader.preload_1 = 0;
}

/* Read attributes and results of a draw. Returns false if @line is something else. */
static bool take_data(struct draw *d, const char *line)
{
	struct check *c = &d->check[d->checks ? d->checks - 1 : 0];
	unsigned int a, b;
	int at = 0;

	if (sscanf(line, "attribute %u %u%n", &a, &b, &at) == 2) {
		words_of(line + at, d->attribute[a], 4);
		d->attributes = a + 1;
	} else if (!strncmp(line, "clip ", 5)) {
		words_of(line + 5, d->clip, 4);
	} else if (!strncmp(line, "window ", 7)) {
		words_of(line + 7, d->window, 4);
	} else if (sscanf(line, "output %u %u%n", &a, &b, &at) == 2) {
		struct output *o = &d->output[d->outputs++];

		*o = (struct output){ .written = a, .read = b };
		o->components = words_of(line + at, o->value, 4);
	} else if (!strncmp(line, "fragment ", 9)) {
		c = &d->check[d->checks++];
		ktap_eq(sscanf(line + 9, "%u %u %f", &c->x, &c->y, &c->tolerance), 3);
	} else if (sscanf(line, "varying %u%n", &a, &at) == 1) {
		c->components[a] = words_of(line + at, c->varying[a], 4);
	} else if (!strncmp(line, "colour ", 7)) {
		words_of(line + 7, c->color, 4);
	} else {
		return false;
	}
	return true;
}

static void take_line(struct draw *d, const char *line)
{
	int clips;

	if (*line == '#' || take_data(d, line))
		return;
	if (sscanf(line, "vertex %*s %d %d", &clips, &d->second) == 2) {
		d->vertex = true;
		d->clips = clips;
	} else if (sscanf(line, "program %*s %7s", d->format) == 1) {
		d->vertex = false;
	} else if (!strncmp(line, "preload ", 8)) {
		preload(d, line + 8);
	} else if (!strncmp(line, "push ", 5)) {
		d->push_words = words_of(line + 5, d->push, TSR_PUSH_WORDS_MAX);
	} else if (!strncmp(line, "end", 3)) {
		end_build(d);
	} else if (strncmp(line, "code", 4)) {
		d->words += words_of(line, d->code + d->words, WORDS_MAX - d->words);
	}
}

static const struct tsr_config *config;

static void run_file(const char *name, unsigned int builds)
{
	struct draw *d = calloc(1, sizeof(*d));
	static char line[16384];
	char path[1024];
	FILE *file;

	snprintf(path, sizeof(path), "%s/tests/model/draw/%s.draw", getenv("TSR_TOP"), name);
	file = fopen(path, "r");
	if (!ktap_ok(file) || !d)
		return;
	snprintf(d->name, sizeof(d->name), "%s", name);
	d->p = pipe_new(config);
	while (fgets(line, sizeof(line), file))
		take_line(d, line);
	ktap_eq(d->builds, builds);
	fclose(file);
	pipe_free(d->p);
	free(d);
}

static void test_all(void)
{
	run_file("alu_fs", 5);
	run_file("draw_rate", 5);
	run_file("fill_flat", 5);
	run_file("fill_vary", 6);
	run_file("inst_cubes", 6);
	run_file("link_draw", 6);
	run_file("mandelbrot", 5);
	run_file("mix_cubes", 6);
	run_file("tex_bilinear", 6);
	run_file("tri_small", 6);
	run_file("upload", 5);
}

int main(void)
{
	static const struct tsr_config late = { .late_messages = true };

	ktap_start();
	ktap_run("[PIX9] vertex and fragment programs of another compiler", test_all);
	config = &late;
	ktap_run("[PIX7] the same with messages as late as can be", test_all);
	return ktap_finish();
}
