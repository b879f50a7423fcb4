// SPDX-License-Identifier: MIT
/* The scenes on libtessera, see glscene.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "glbench/programs.h"
#include "glscene.h"
#include <tessera/gfx.h>

#define RX (DRM_TESSERA_BIND_READ | DRM_TESSERA_BIND_EXEC)
#define IN_FLIGHT 3	/* passes: one is recorded, one waits, one is drawn */
#define RW (DRM_TESSERA_BIND_READ | DRM_TESSERA_BIND_WRITE)

#define PUSH_WORDS 64

struct glscene_tsr {
	struct glscene *scene;
	const struct gl_program *source;
	const struct gl_code *vertex, *fragment;
	bool window, two;
	struct tsr_device *device;
	struct tsr_vm *vm;
	struct tsr_pool *code, *data;
	struct tsr_gfx *gfx;
	struct tsr_shader *program[2];
	struct tsr_image *color, *depth, *texture;
	struct tsr_gfx_pipeline *pipeline;
	struct tsr_gfx_pass *pass[IN_FLIGHT];
	bool used[IN_FLIGHT];
	struct tsr_alloc vertices, instances, indices;
	/* source of each push constant of the vertex and of the fragment program */
	const float *push[2][PUSH_WORDS];
	unsigned int frames;
};

static void need(int ret)
{
	if (ret >= 0)
		return;
	fprintf(stderr, "glscene: %s (%d)\n", tsr_error_message(), ret);
	exit(1);
}

bool glscene_tsr_has(const struct glscene *scene, unsigned int fragment)
{
	const struct gl_program *p = gl_programs;

	while (strcmp(p->name, scene->program))
		p++;
	return p->fragment[fragment].size;
}

static void upload(struct glscene_tsr *t, struct tsr_alloc *to, const void *from, size_t size)
{
	if (!size)
		return;
	need(tsr_pool_alloc(t->data, size, 64, to));
	memcpy(to->cpu, from, size);
}

static void make_programs(struct glscene_tsr *t)
{
	const struct gl_code *code[2] = { t->vertex, t->fragment };

	for (int i = 0; i < 2; i++) {
		const struct tsr_shader_info info = {
			.code = code[i]->words, .size = code[i]->size, .label = t->source->name,
			.push_words = code[i]->push_words,
		};

		need(tsr_shader_create(t->code, &info, sizeof(info), &t->program[i]));
	}
}

/* Level by level, as llvmpipe gets it. */
static void make_texture(struct glscene_tsr *t)
{
	unsigned int side = t->scene->texture_side, level;
	const struct tsr_image_info info = {
		.format = TSR_PIXEL_FORMAT_RGBA8_UNORM, .layout = TSR_LAYOUT_TILED,
		.width = side, .height = side,
		.levels = t->scene->mips ? 32 - (uint32_t)__builtin_clz(side) : 1,
	};
	uint8_t *texels = malloc(4 * side * side);

	if (!texels)
		abort();
	memcpy(texels, t->scene->texels, 4 * side * side);
	need(tsr_image_create(t->vm, &info, sizeof(info), &t->texture));
	for (level = 0; level < info.levels; level++, side /= 2) {
		need(tsr_image_write(t->texture, level, 0, texels, 4 * side));
		glscene_mip(texels, side);
	}
	free(texels);
}

static void make_targets(struct glscene_tsr *t)
{
	const struct tsr_image_info color = {
		.format = TSR_PIXEL_FORMAT_RGBA8_UNORM, .width = GLSCENE_SIDE,
		.height = GLSCENE_SIDE,
	};
	const struct tsr_image_info depth = {
		.format = TSR_PIXEL_FORMAT_Z24X8_UNORM, .width = GLSCENE_SIDE,
		.height = GLSCENE_SIDE, .samples = t->scene->samples,
	};

	need(tsr_image_create(t->vm, &color, sizeof(color), &t->color));
	if (t->scene->depth)
		need(tsr_image_create(t->vm, &depth, sizeof(depth), &t->depth));
}

/* Attributes, and the two arrays they come from. */
static uint32_t describe_input(const struct glscene *s, struct tsr_gfx_attribute *attributes,
			       struct tsr_gfx_vertex_buffer *buffers)
{
	static const uint32_t formats[] = { 0, TSR_PIXEL_FORMAT_R32F, TSR_PIXEL_FORMAT_RG32F,
					    TSR_PIXEL_FORMAT_RGB32F, TSR_PIXEL_FORMAT_RGBA32F };

	for (unsigned int i = 0; i < s->attributes; i++) {
		struct tsr_gfx_vertex_buffer *b = &buffers[i >= s->first_instanced];

		attributes[i] = (struct tsr_gfx_attribute) {
			.buffer = i >= s->first_instanced, .format = formats[s->widths[i]],
			.offset = b->stride,
		};
		b->stride += 4 * s->widths[i];
	}
	buffers[1].divisor = 1;
	return s->instances ? 2 : 1;
}

static uint32_t describe_varyings(const struct gl_program *p, struct tsr_gfx_varying *varyings)
{
	static const uint32_t formats[] = { 0, TSR_PIXEL_FORMAT_R32F, TSR_PIXEL_FORMAT_RG32F,
					    TSR_PIXEL_FORMAT_RGB32F, TSR_PIXEL_FORMAT_RGBA32F };

	for (unsigned int i = 0; i < p->varyings; i++)
		varyings[i] = (struct tsr_gfx_varying) {
			.format = formats[p->varying[i].components],
			.output = p->varying[i].output, .input = p->varying[i].input,
		};
	return p->varyings;
}

static void describe_preloads(const struct gl_code *code, struct tsr_gfx_preload *preload)
{
	for (int i = 0; i < 2; i++) {
		if (!code->preload[i].components)
			continue;
		preload[i] = (struct tsr_gfx_preload) {
			.kind = code->preload[i].texture ? TSR_PRELOAD_VAR_TEX : TSR_PRELOAD_LD_VAR,
			.half = code->preload[i].half,
			.components = code->preload[i].components,
			.varying = code->preload[i].varying,
			.texture = code->preload[i].texture ? code->preload[i].texture - 1u : 0,
		};
	}
}

static void make_pipeline(struct glscene_tsr *t)
{
	const struct glscene *s = t->scene;
	struct tsr_gfx_attribute attributes[GLSCENE_ATTRIBUTES];
	struct tsr_gfx_vertex_buffer buffers[2] = { { 0 } };
	struct tsr_gfx_varying varyings[2];
	const struct tsr_gfx_blend blend = {
		.enable = s->blend, .mask = 0xf, .registers = t->fragment->registers,
		.src_color = TSR_BLEND_FACTOR_SRC_ALPHA,
		.dst_color = TSR_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA,
		.src_alpha = TSR_BLEND_FACTOR_SRC_ALPHA,
		.dst_alpha = TSR_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA,
	};
	struct tsr_gfx_pipeline_info info = {
		.vertex = t->program[0], .fragment = t->program[1], .label = s->name,
		.varying = t->two && t->vertex->varying ? t->program[0] : NULL,
		.varying_entry = t->vertex->varying,
		.vertex_flags = (t->window ? TSR_GFX_VERTEX_WINDOW_POSITION : 0) |
				(t->two ? 0 : TSR_GFX_VERTEX_ONE_SHADER),
		.fragment_flags = s->texels ? TSR_GFX_FRAGMENT_HELPERS : 0,
		.attributes = attributes, .attribute_count = s->attributes, .buffers = buffers,
		.varyings = varyings, .blends = &blend, .blend_count = 1,
		.topology = TSR_TOPOLOGY_TRIANGLES,
		.raster = TSR_GFX_RASTER_FRONT_CLOCKWISE | TSR_GFX_RASTER_DEPTH_MINUS_ONE |
			  (s->cull ? TSR_GFX_RASTER_CULL_BACK : 0),
		.depth = { .test = s->depth, .write = s->depth,
			   .function = TSR_COMPARE_FUNCTION_LESS },
	};

	info.buffer_count = describe_input(s, attributes, buffers);
	info.varying_count = describe_varyings(t->source, varyings);
	describe_preloads(t->fragment, info.preload);
	need(tsr_gfx_pipeline_create(&info, sizeof(info), &t->pipeline));
}

static void make_passes(struct glscene_tsr *t)
{
	const struct glscene *s = t->scene;
	const uint32_t load = s->clears ? TSR_GFX_LOAD_CLEAR : TSR_GFX_LOAD_CONTENT;
	struct tsr_gfx_pass_info info = {
		.samples = s->samples, .color[0] = { .image = t->color, .load = load },
	};

	memcpy(info.color[0].clear.f, s->clear, sizeof(s->clear));
	if (s->depth)
		info.depth = (struct tsr_gfx_target) {
			.image = t->depth, .load = load, .clear.f[0] = 1,
		};
	for (int i = 0; i < IN_FLIGHT; i++)
		need(tsr_gfx_pass_create(t->gfx, &info, sizeof(info), &t->pass[i]));
}

/* Address of a push constant, as the program's compiler wants it. */
static const float *push_word(const struct glscene *s, const struct gl_push *p)
{
	static const float range[3] = { GLSCENE_SIDE / 2, GLSCENE_SIDE / 2, 0.5f };
	static const float rows[2] = { 1, 0 };

	switch (p->kind) {
	case 'S':
	case 'O':
		return &range[p->component];
	case 'Y':
		return &rows[p->component];
	default:
		for (unsigned int i = 0; i < GLSCENE_UNIFORMS && s->uniform[i].name; i++) {
			if (!strcmp(s->uniform[i].name, p->name))
				return &s->uniform[i].value[p->offset / 4];
		}
		fprintf(stderr, "glscene: no uniform '%s' in %s\n", p->name, s->name);
		exit(1);
	}
}

static void find_push(struct glscene_tsr *t, unsigned int stage, const struct gl_code *code)
{
	for (unsigned int i = 0; i < code->push_words; i++)
		t->push[stage][i] = push_word(t->scene, &code->push[i]);
}

struct glscene_tsr *glscene_tsr_new(struct glscene *s, unsigned int vertex, unsigned int fragment)
{
	struct glscene_tsr *t = calloc(1, sizeof(*t));

	if (!t)
		abort();
	t->scene = s;
	t->source = gl_programs;
	while (strcmp(t->source->name, s->program))
		t->source++;
	t->vertex = &t->source->vertex[vertex];
	t->fragment = &t->source->fragment[fragment];
	t->window = vertex == GL_WINDOW || vertex == GL_WINDOW_TWO;
	t->two = vertex == GL_WINDOW_TWO || vertex == GL_CLIP_TWO;
	need(tsr_device_open(NULL, &t->device));
	need(tsr_vm_create(t->device, &t->vm));
	need(tsr_pool_create(t->vm, 0, 0, RX, &t->code));
	need(tsr_pool_create(t->vm, 0, DRM_TESSERA_BO_CACHED, RW, &t->data));
	need(tsr_gfx_create(t->vm, &t->gfx));
	make_programs(t);
	make_targets(t);
	if (s->texels)
		make_texture(t);
	upload(t, &t->vertices, s->vertices, s->vertex_bytes);
	upload(t, &t->instances, s->instances, s->instance_bytes);
	upload(t, &t->indices, s->indices, s->index_bytes);
	make_pipeline(t);
	make_passes(t);
	find_push(t, 0, t->vertex);
	find_push(t, 1, t->fragment);
	return t;
}

static void push(struct tsr_gfx_pass *pass, uint32_t stage, const float *const *from,
		 unsigned int count)
{
	float words[PUSH_WORDS];

	for (unsigned int i = 0; i < count; i++)
		words[i] = *from[i];
	if (count)
		need(tsr_gfx_set_push(pass, stage, 0, count, words));
}

static void bind(struct glscene_tsr *t, struct tsr_gfx_pass *pass)
{
	const struct tsr_view view = { .image = t->texture };
	struct tsr_sampler_state sampler;
	const struct tsr_gfx_bindings_info bindings = {
		.textures = &view, .texture_count = 1, .samplers = &sampler, .sampler_count = 1,
	};

	tsr_sampler_init(&sampler, TSR_WRAP_MODE_REPEAT, true);
	sampler.mipmap = t->scene->mips ? TSR_MIPMAP_MODE_LINEAR : TSR_MIPMAP_MODE_NONE;
	sampler.max_lod = t->scene->mips ? 15 << 8 : 0;
	need(tsr_gfx_set_bindings(pass, TSR_GFX_STAGE_FRAGMENT, &bindings, sizeof(bindings)));
}

static void record(struct glscene_tsr *t, struct tsr_gfx_pass *pass)
{
	static const uint32_t types[] = { [2] = TSR_INDEX_TYPE_U16, [4] = TSR_INDEX_TYPE_U32 };
	struct glscene *s = t->scene;
	const struct tsr_gfx_draw draw = { .count = s->count, .instances = s->instance_count };

	need(tsr_gfx_set_pipeline(pass, t->pipeline));
	need(tsr_gfx_set_vertices(pass, 0, t->vertices.va, s->vertex_bytes));
	if (s->instances)
		need(tsr_gfx_set_vertices(pass, 1, t->instances.va, s->instance_bytes));
	if (s->index_size)
		need(tsr_gfx_set_indices(pass, types[s->index_size], t->indices.va,
					 s->index_bytes));
	if (s->texels)
		bind(t, pass);
	for (unsigned int i = 0; i < s->draws; i++) {
		if (s->each)
			s->each(s, i);
		if (!i || s->each) {
			push(pass, TSR_GFX_STAGE_VERTEX, t->push[0], t->vertex->push_words);
			push(pass, TSR_GFX_STAGE_FRAGMENT, t->push[1], t->fragment->push_words);
		}
		if (s->index_size)
			need(tsr_gfx_draw_indexed(pass, &draw));
		else
			need(tsr_gfx_draw(pass, &draw));
	}
}

/* Wait for a pass; one that needs more memory is drawn again. */
static int drawn(struct tsr_gfx_pass *pass)
{
	int ret = tsr_gfx_wait(pass, TSR_DEADLINE_NEVER);

	return ret == -EAGAIN ? tsr_gfx_run(pass, TSR_DEADLINE_NEVER) : ret;
}

/* Wait for all that was submitted. */
static void finish(struct glscene_tsr *t)
{
	for (unsigned int i = 0; i < IN_FLIGHT; i++) {
		if (t->used[i])
			need(drawn(t->pass[i]));
		t->used[i] = false;
	}
}

/* The frame before must have done with the texture. */
static void upload_texture(struct glscene_tsr *t)
{
	finish(t);
	need(tsr_image_write(t->texture, 0, 0, t->scene->texels, 4 * t->scene->texture_side));
}

/* Makes the same words a new program for the device, which compiles them again. */
static void link_again(struct glscene_tsr *t)
{
	finish(t);
	for (int i = 0; i < IN_FLIGHT; i++)
		tsr_gfx_pass_reset(t->pass[i]);
	for (int i = 0; i < 2; i++) {
		tsr_shader_unref(t->program[i]);
	}
	tsr_gfx_pipeline_unref(t->pipeline);
	make_programs(t);
	make_pipeline(t);
}

/* Each frame is recorded anew, as GL does it. */
void glscene_tsr_run(void *arg, unsigned int count)
{
	struct glscene_tsr *t = arg;
	unsigned int n;

	while (count--) {
		n = t->frames++ % IN_FLIGHT;
		if (t->used[n])
			need(drawn(t->pass[n]));
		if (t->scene->uploads)
			upload_texture(t);
		if (t->scene->links)
			link_again(t);
		tsr_gfx_pass_reset(t->pass[n]);
		record(t, t->pass[n]);
		need(tsr_gfx_submit(t->pass[n], NULL, 0, NULL, 0));
		t->used[n] = true;
	}
	finish(t);
}

void glscene_tsr_read(struct glscene_tsr *t, uint8_t *texels)
{
	need(tsr_image_read(t->color, 0, 0, texels, 4 * GLSCENE_SIDE));
}

void glscene_tsr_free(struct glscene_tsr *t)
{
	for (int i = 0; i < IN_FLIGHT; i++)
		tsr_gfx_pass_destroy(t->pass[i]);
	for (int i = 0; i < 2; i++)
		tsr_shader_unref(t->program[i]);
	tsr_gfx_pipeline_unref(t->pipeline);
	tsr_image_unref(t->color);
	tsr_image_unref(t->depth);
	tsr_image_unref(t->texture);
	tsr_gfx_unref(t->gfx);
	tsr_pool_unref(t->data);
	tsr_pool_unref(t->code);
	tsr_vm_unref(t->vm);
	tsr_device_unref(t->device);
	free(t);
}
