// SPDX-License-Identifier: MIT
/* The scenes of paths on libtessera, see pathscene.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "glbench/programs.h"
#include "pathscene.h"
#include "tsr_regs.h"
#include <tessera/compute.h>
#include <tessera/gfx.h>

#define RX (DRM_TESSERA_BIND_READ | DRM_TESSERA_BIND_EXEC)
#define RW (DRM_TESSERA_BIND_READ | DRM_TESSERA_BIND_WRITE)
#define IN_FLIGHT 2	/* passes: one is recorded, one is drawn */
#define COUNTERS 512	/* bytes before what is streamed: counter, queries */
#define STREAM_QUERY 64
#define STATISTICS 128

struct pathscene_tsr {
	const struct pathscene *scene;
	struct tsr_device *device;
	struct tsr_vm *vm;
	struct tsr_pool *code, *data;
	struct tsr_gfx *gfx;
	struct tsr_shader *program[PATHSCENE_STAGES], *fragment;
	struct tsr_image *color, *depth;
	struct tsr_gfx_pipeline *pipeline;
	struct tsr_gfx_pass *pass[IN_FLIGHT];
	bool used[IN_FLIGHT], counts;
	struct tsr_alloc vertices, instances, memory[IN_FLIGHT];
	struct tsr_queue *queue;
	struct tsr_stream *stream;
	struct tsr_sync *sync;
	unsigned int frames;
};

static const char fragment[] =
	"clause message=varying slot=0 wait=0,6 td {\n"
	"*NOP\n+LD_VAR_IMM.f32.store.center.v4 zero.w1, index:0, @r0\n}\n"
	"clause message=atest slot=0 wait=0,6,7 td {\n"
	"[fau=atest_datum]\n*NOP\n+ATEST r60:t1, r60, r3, @r60\n}\n"
	"clause end message=blend slot=0 td {\n"
	"*NOP\n+BLEND r48:t1, r60, blend0.w0, blend0.w1, @r0\n}\n";

static void need(int ret)
{
	if (ret >= 0)
		return;
	fprintf(stderr, "pathscene: %s (%d)\n", tsr_error_message(), ret);
	exit(1);
}

static struct tsr_shader *assemble(struct pathscene_tsr *t, const char *text)
{
	struct tsr_shader *program;

	need(tsr_shader_assemble(t->code, text, strlen(text), t->scene->name, &program));
	return program;
}

static void upload(struct pathscene_tsr *t, struct tsr_alloc *to, const void *from, size_t size)
{
	if (!from)
		return;
	need(tsr_pool_alloc(t->data, size, 64, to));
	memcpy(to->cpu, from, size);
}

/* The program of a public compiler whose vertex shader hands position and color on. */
static const struct gl_program *compiled_program(void)
{
	const struct gl_program *p = gl_programs;

	while (strcmp(p->name, "fill_vary"))
		p++;
	return p;
}

static struct tsr_shader *compiled(struct pathscene_tsr *t)
{
	const struct gl_code *code = &compiled_program()->vertex[GL_CLIP];
	const struct tsr_shader_info info = {
		.code = code->words, .size = code->size, .push_words = code->push_words,
		.label = "compiled",
	};
	struct tsr_shader *shader;

	need(tsr_shader_create(t->code, &info, sizeof(info), &shader));
	return shader;
}

/* ---- Pictures and streams -------------------------------------------------------------------- */

/* Position and color: what all stages but the first have in common. */
static const uint64_t passed_on = 0xffull << 0x70 / 4;

static void describe_patches(struct pathscene_tsr *t, struct tsr_gfx_stages *stages)
{
	stages->patch_points = stages->control_points = 4;
	stages->shape = TSR_PATCH_SHAPE_QUAD;
	stages->partitioning = t->scene->partitioning;
	stages->primitives = TSR_PATCH_PRIMITIVES_TRIANGLES;
	stages->hull.shader = t->program[PATHSCENE_HULL];
	stages->domain.shader = t->program[PATHSCENE_DOMAIN];
	stages->hull.reads[0] = stages->hull.writes[0] = passed_on;
	stages->domain.reads[0] = stages->domain.writes[0] = passed_on;
}

static void describe_geometry(struct pathscene_tsr *t, struct tsr_gfx_stages *stages)
{
	const bool points = t->scene->topology == TSR_TOPOLOGY_POINTS;

	stages->geometry.shader = t->program[PATHSCENE_GEOMETRY];
	stages->geometry.reads[0] = stages->geometry.writes[0] = passed_on;
	stages->input = points ? TSR_GEOMETRY_INPUT_POINTS : TSR_GEOMETRY_INPUT_TRIANGLES;
	stages->output = TSR_GEOMETRY_OUTPUT_TRIANGLE_STRIP;
	stages->max_vertices = points ? 4 : 3;
}

static void make_pipeline(struct pathscene_tsr *t)
{
	static const struct tsr_gfx_attribute attributes[] = {
		{ .format = TSR_PIXEL_FORMAT_RGBA32F },
		{ .format = TSR_PIXEL_FORMAT_RGBA32F, .offset = 16 },
		{ .format = TSR_PIXEL_FORMAT_RGBA32F, .buffer = 1 },
	};
	static const struct tsr_gfx_vertex_buffer buffers[] = {
		{ .stride = 32 }, { .stride = 16, .divisor = 1 },
	};
	const struct tsr_gfx_varying varying = {
		.format = TSR_PIXEL_FORMAT_RGBA32F,
		.output = t->scene->compiled ? compiled_program()->varying[0].output : 0,
	};
	static const struct tsr_gfx_blend blend = { .mask = 0xf,
						    .registers = TSR_REGISTER_TYPE_F32 };
	static const struct tsr_gfx_streamed declaration[] = {
		{ .word = 0x70 / 4, .components = 4 },
		{ .word = 0x80 / 4, .components = 4, .offset = 16 },
	};
	const struct pathscene *s = t->scene;
	const uint32_t arrays = s->instances ? 2 : 1;
	struct tsr_gfx_stages stages = { .vertex.writes[0] = passed_on };
	const struct tsr_gfx_pipeline_info info = {
		.vertex = t->program[PATHSCENE_VERTEX], .fragment = t->fragment,
		.vertex_flags = s->compiled ? TSR_GFX_VERTEX_ONE_SHADER : 0,
		.attributes = attributes, .attribute_count = 1 + arrays, .buffers = buffers,
		.buffer_count = arrays, .varyings = &varying, .varying_count = 1,
		.topology = s->topology, .blends = &blend, .blend_count = 1,
		.raster = TSR_GFX_RASTER_FRONT_CLOCKWISE | TSR_GFX_RASTER_DEPTH_MINUS_ONE |
			  (s->streams ? TSR_GFX_RASTER_NONE : 0),
		.depth = { .test = true, .write = true, .function = TSR_COMPARE_FUNCTION_LESS },
		.stages = &stages, .label = s->name,
	};

	stages.vertex.reads[0] = 0xfffull << 0x80 / 4;
	if (s->shader[PATHSCENE_DOMAIN])
		describe_patches(t, &stages);
	if (s->shader[PATHSCENE_GEOMETRY])
		describe_geometry(t, &stages);
	if (s->streams) {
		stages.declaration = declaration;
		stages.declared = 2;
	}
	need(tsr_gfx_pipeline_create(&info, sizeof(info), &t->pipeline));
}

static void make_passes(struct pathscene_tsr *t)
{
	const struct pathscene *s = t->scene;
	struct tsr_image_info image = {
		.format = TSR_PIXEL_FORMAT_RGBA8_UNORM, .width = s->side, .height = s->side,
	};
	struct tsr_gfx_pass_info info = { .color[0] = { .load = TSR_GFX_LOAD_CLEAR } };

	need(tsr_image_create(t->vm, &image, sizeof(image), &t->color));
	image.format = TSR_PIXEL_FORMAT_Z24X8_UNORM;
	need(tsr_image_create(t->vm, &image, sizeof(image), &t->depth));
	info.color[0].image = t->color;
	info.depth = (struct tsr_gfx_target){ .image = t->depth, .load = TSR_GFX_LOAD_CLEAR,
					      .clear.f[0] = 1 };
	for (int i = 0; i < IN_FLIGHT; i++) {
		need(tsr_gfx_pass_create(t->gfx, &info, sizeof(info), &t->pass[i]));
		need(tsr_pool_alloc(t->data, COUNTERS + (s->streams ? pathscene_bytes(s) : 0), 64,
				    &t->memory[i]));
		memset(t->memory[i].cpu, 0, t->memory[i].size);
	}
}

static void record(struct pathscene_tsr *t, unsigned int n)
{
	const struct pathscene *s = t->scene;
	const struct tsr_alloc *m = &t->memory[n];
	struct tsr_gfx_draw draw = { .count = s->count / s->draws,
				     .instances = s->instance_count };
	const struct tsr_gfx_stream_target target = {
		.va = m->va + COUNTERS, .size = s->streams ? pathscene_bytes(s) : 0,
		.counter = m->va, .stride = PATHSCENE_STRIDE,
	};
	struct tsr_gfx_pass *pass = t->pass[n];

	memset(m->cpu, 0, COUNTERS);
	need(tsr_gfx_set_pipeline(pass, t->pipeline));
	need(tsr_gfx_set_vertices(pass, 0, t->vertices.va, s->count * sizeof(s->vertices[0])));
	if (s->instances)
		need(tsr_gfx_set_vertices(pass, 1, t->instances.va,
					  s->instance_count * sizeof(s->instances[0])));
	need(tsr_gfx_set_push(pass, TSR_GFX_STAGE_VERTEX, 0, PATHSCENE_UNIFORMS, s->uniform));
	if (s->streams)
		need(tsr_gfx_set_stream_targets(pass, &target, 1));
	if (t->counts) {
		need(tsr_gfx_query(pass, TSR_QUERY_STATISTICS, m->va + STATISTICS));
		need(tsr_gfx_stream_query(pass, 0, m->va + STREAM_QUERY));
	}
	for (unsigned int i = 0; i < s->draws; i++, draw.first += draw.count)
		need(tsr_gfx_draw(pass, &draw));
}

/* ---- Compute --------------------------------------------------------------------------------- */

static void make_compute(struct pathscene_tsr *t)
{
	t->program[0] = assemble(t, pathscene_compute.text);
	need(tsr_pool_alloc(t->data, pathscene_bytes(t->scene), 64, &t->memory[0]));
	need(tsr_queue_create(t->vm, DRM_TESSERA_ENGINE_COMPUTE, DRM_TESSERA_PRIORITY_NORMAL, 0,
			      &t->queue));
	need(tsr_stream_create(t->code, 0, &t->stream));
	need(tsr_sync_create(t->device, 0, &t->sync));
}

static void dispatch(struct pathscene_tsr *t)
{
	const size_t size = pathscene_bytes(t->scene);
	const struct tsr_storage storage[2] = {
		{ .va = t->vertices.va, .size = size, .access = TSR_SHADER_READ },
		{ .va = t->memory[0].va, .size = size, .access = TSR_SHADER_WRITE, .push_word = 4 },
	};
	const struct tsr_dispatch_info info = {
		.shader = t->program[0], .groups = { t->scene->count / PATHSCENE_LOCAL },
		.storage = storage, .storage_count = 2,
	};

	tsr_stream_reset(t->stream);
	need(tsr_cmd_dispatch(t->stream, &info, sizeof(info)));
	need(tsr_queue_run(t->queue, t->stream, t->sync, 0));
	need(tsr_sync_finish(t->sync, 0, TSR_DEADLINE_NEVER));
}

/* ---- Frames ---------------------------------------------------------------------------------- */

struct pathscene_tsr *pathscene_tsr_new(const struct pathscene *s)
{
	struct pathscene_tsr *t = calloc(1, sizeof(*t));

	if (!t)
		abort();
	t->scene = s;
	need(tsr_device_open(NULL, &t->device));
	need(tsr_vm_create(t->device, &t->vm));
	need(tsr_pool_create(t->vm, 0, 0, RX, &t->code));
	need(tsr_pool_create(t->vm, 0, DRM_TESSERA_BO_CACHED, RW, &t->data));
	upload(t, &t->vertices, s->vertices, s->count * sizeof(s->vertices[0]));
	upload(t, &t->instances, s->instances, s->instance_count * sizeof(s->instances[0]));
	if (!s->shader[PATHSCENE_VERTEX]) {
		make_compute(t);
		return t;
	}
	need(tsr_gfx_create(t->vm, &t->gfx));
	for (unsigned int i = 0; i < PATHSCENE_STAGES; i++) {
		if (s->shader[i])
			t->program[i] = i == PATHSCENE_VERTEX && s->compiled ? compiled(t) :
					assemble(t, s->shader[i]->text);
	}
	t->fragment = assemble(t, fragment);
	make_pipeline(t);
	make_passes(t);
	return t;
}

/* One that needs more memory is drawn again. */
static void finish(struct pathscene_tsr *t, unsigned int n)
{
	int ret = t->used[n] ? tsr_gfx_wait(t->pass[n], TSR_DEADLINE_NEVER) : 0;

	need(ret == -EAGAIN ? tsr_gfx_run(t->pass[n], TSR_DEADLINE_NEVER) : ret);
	t->used[n] = false;
}

static void frame(struct pathscene_tsr *t)
{
	const unsigned int n = t->frames++ % IN_FLIGHT;

	if (t->stream) {
		dispatch(t);
		return;
	}
	finish(t, n);
	tsr_gfx_pass_reset(t->pass[n]);
	record(t, n);
	need(tsr_gfx_submit(t->pass[n], NULL, 0, NULL, 0));
	t->used[n] = true;
}

void pathscene_tsr_run(void *arg, unsigned int count)
{
	struct pathscene_tsr *t = arg;

	while (count--)
		frame(t);
	for (unsigned int i = 0; i < IN_FLIGHT; i++)
		finish(t, i);
}

void pathscene_tsr_count(struct pathscene_tsr *t, uint64_t counts[PATHSCENE_COUNTS])
{
	static const unsigned int qword[] = {
		TSR_PIPELINE_STATISTICS_VERTEX_INVOCATIONS__QWORD,
		TSR_PIPELINE_STATISTICS_HULL_PATCHES__QWORD,
		TSR_PIPELINE_STATISTICS_GEOMETRY_INVOCATIONS__QWORD,
		TSR_PIPELINE_STATISTICS_GEOMETRY_PRIMITIVES__QWORD,
		TSR_PIPELINE_STATISTICS_CLIPPING_INVOCATIONS__QWORD,
	};
	const unsigned int n = t->frames % IN_FLIGHT;
	const uint64_t *words = t->memory[n].cpu;

	t->counts = true;
	pathscene_tsr_run(t, 1);
	t->counts = false;
	for (unsigned int i = 0; i < PATHSCENE_NEEDED; i++)
		counts[i] = words[STATISTICS / 8 + qword[i]];
	counts[PATHSCENE_NEEDED] = words[STREAM_QUERY / 8];
	counts[PATHSCENE_WRITTEN] = words[STREAM_QUERY / 8 + 1];
}

void pathscene_tsr_read(struct pathscene_tsr *t, void *to)
{
	const struct pathscene *s = t->scene;
	const unsigned int n = (t->frames - 1) % IN_FLIGHT;

	if (t->stream)
		memcpy(to, t->memory[0].cpu, pathscene_bytes(s));
	else if (s->streams)
		memcpy(to, (char *)t->memory[n].cpu + COUNTERS, pathscene_bytes(s));
	else
		need(tsr_image_read(t->color, 0, 0, to, 4 * s->side));
}

void pathscene_tsr_free(struct pathscene_tsr *t)
{
	for (unsigned int i = 0; i < IN_FLIGHT; i++)
		tsr_gfx_pass_destroy(t->pass[i]);
	for (unsigned int i = 0; i < PATHSCENE_STAGES; i++)
		tsr_shader_unref(t->program[i]);
	tsr_shader_unref(t->fragment);
	tsr_gfx_pipeline_unref(t->pipeline);
	tsr_image_unref(t->color);
	tsr_image_unref(t->depth);
	tsr_gfx_unref(t->gfx);
	tsr_stream_destroy(t->stream);
	tsr_queue_unref(t->queue);
	tsr_sync_unref(t->sync);
	tsr_pool_unref(t->data);
	tsr_pool_unref(t->code);
	tsr_vm_unref(t->vm);
	tsr_device_unref(t->device);
	free(t);
}
