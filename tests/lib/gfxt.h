/* SPDX-License-Identifier: MIT */
/*
 * Fixture of tests that draw, in guests and on the host: device, VM, pools, a context, shaders that
 * pass on a position and a color, and triangles with them.
 */
#ifndef GFXT_H
#define GFXT_H

#include <string.h>

#include "ktap.h"
#include <tessera/gfx.h>

#define GFXT_RX (DRM_TESSERA_BIND_READ | DRM_TESSERA_BIND_EXEC)
#define GFXT_RW (DRM_TESSERA_BIND_READ | DRM_TESSERA_BIND_WRITE)

struct gfxt {
	struct tsr_device *device;
	struct tsr_vm *vm;
	struct tsr_pool *code, *data;
	struct tsr_gfx *gfx;
	struct tsr_shader *position, *varying, *color;
};

/* A vertex: clip coordinates and a color. */
struct gfxt_vertex {
	float position[4], color[4];
};

static const char gfxt_position[] =
	"clause message=attribute slot=0 wait=0 {\n"
	"*NOP\n+LD_ATTR_IMM.f32.v4 r61, r62, attribute_index:0, @r0\n}\n"
	"clause end message=store slot=0 {\n*NOP\n+ST_CVT.v4 r58, r59, 0x0105e000, @r0\n}\n";
static const char gfxt_varying[] =
	"clause message=attribute slot=0 {\n"
	"*NOP\n+LD_ATTR_IMM.f32.v4 r61, r62, attribute_index:1, @r0\n}\n"
	"clause message=attribute slot=0 wait=0 {\n"
	"*NOP\n+LEA_ATTR_IMM.auto r61, r62, attribute_index:1, @r4\n}\n"
	"clause end message=store slot=0 {\n*NOP\n+ST_CVT.v4 r4, r5, r6, @r0\n}\n";
static const char gfxt_color[] =
	"clause message=varying slot=0 wait=0,6 td {\n"
	"*NOP\n+LD_VAR_IMM.f32.store.center.v4 zero.w1, index:0, @r0\n}\n"
	"clause message=atest slot=0 wait=0,6,7 td {\n"
	"[fau=atest_datum]\n*NOP\n+ATEST r60:t1, r60, r3, @r60\n}\n"
	"clause end message=blend slot=0 td {\n"
	"*NOP\n+BLEND r48:t1, r60, blend0.w0, blend0.w1, @r0\n}\n";

/* All that lies on @t->device, which is open. */
static inline void gfxt_set_up(struct gfxt *t)
{
	ktap_eq(tsr_vm_create(t->device, &t->vm), 0);
	ktap_eq(tsr_pool_create(t->vm, 0, 0, GFXT_RX, &t->code), 0);
	ktap_eq(tsr_pool_create(t->vm, 0, DRM_TESSERA_BO_CACHED, GFXT_RW, &t->data), 0);
	ktap_eq(tsr_gfx_create(t->vm, &t->gfx), 0);
	ktap_eq(tsr_shader_assemble(t->code, gfxt_position, sizeof(gfxt_position) - 1, "position",
				     &t->position), 0);
	ktap_eq(tsr_shader_assemble(t->code, gfxt_varying, sizeof(gfxt_varying) - 1, "varying",
				     &t->varying), 0);
	ktap_eq(tsr_shader_assemble(t->code, gfxt_color, sizeof(gfxt_color) - 1, "color",
				     &t->color), 0);
}

static inline void gfxt_open(struct gfxt *t)
{
	memset(t, 0, sizeof(*t));
	ktap_eq(tsr_device_open(NULL, &t->device), 0);
	gfxt_set_up(t);
}

static inline void gfxt_close(struct gfxt *t)
{
	tsr_shader_unref(t->position);
	tsr_shader_unref(t->varying);
	tsr_shader_unref(t->color);
	tsr_gfx_unref(t->gfx);
	tsr_pool_unref(t->data);
	tsr_pool_unref(t->code);
	tsr_vm_unref(t->vm);
	tsr_device_unref(t->device);
}

/* Changes the description of a pipeline before it is created. May be NULL. */
typedef void gfxt_change(struct tsr_gfx_pipeline_info *info, struct tsr_gfx_blend *blend);

/* Create a pipeline for triangles of struct gfxt_vertex, altered by @change; 0 or an error. */
static inline int gfxt_pipeline_try(struct gfxt *t, gfxt_change *change,
				    struct tsr_gfx_pipeline **pipeline)
{
	static const struct tsr_gfx_attribute attributes[] = {
		{ .format = TSR_PIXEL_FORMAT_RGBA32F },
		{ .format = TSR_PIXEL_FORMAT_RGBA32F, .offset = 16 },
	};
	static const struct tsr_gfx_vertex_buffer buffer = { .stride = sizeof(struct gfxt_vertex) };
	static const struct tsr_gfx_varying varying = {
		.format = TSR_PIXEL_FORMAT_RGBA32F, .output = 1,
	};
	struct tsr_gfx_blend blend = { .mask = 0xf, .registers = TSR_REGISTER_TYPE_F32 };
	struct tsr_gfx_pipeline_info info = {
		.vertex = t->position, .varying = t->varying, .fragment = t->color,
		.attributes = attributes, .attribute_count = 2, .buffers = &buffer,
		.buffer_count = 1, .varyings = &varying, .varying_count = 1,
		.topology = TSR_TOPOLOGY_TRIANGLES, .blends = &blend, .blend_count = 1,
	};

	if (change)
		change(&info, &blend);
	return tsr_gfx_pipeline_create(&info, sizeof(info), pipeline);
}

/* As gfxt_pipeline_try(). An error fails the test. */
static inline struct tsr_gfx_pipeline *gfxt_pipeline(struct gfxt *t, gfxt_change *change)
{
	struct tsr_gfx_pipeline *pipeline = NULL;

	ktap_eq(gfxt_pipeline_try(t, change, &pipeline), 0);
	return pipeline;
}

/* True if @a passes a depth, stencil or shadow comparison with @b. */
static inline bool gfxt_compare(uint32_t function, double a, double b)
{
	switch (function) {
	case TSR_COMPARE_FUNCTION_NEVER: return false;
	case TSR_COMPARE_FUNCTION_LESS: return a < b;
	case TSR_COMPARE_FUNCTION_EQUAL: return a == b;
	case TSR_COMPARE_FUNCTION_LEQUAL: return a <= b;
	case TSR_COMPARE_FUNCTION_GREATER: return a > b;
	case TSR_COMPARE_FUNCTION_NOT_EQUAL: return a != b;
	case TSR_COMPARE_FUNCTION_GEQUAL: return a >= b;
	default: return true;
	}
}

static inline struct tsr_image *gfxt_image(struct gfxt *t, uint32_t format, uint32_t side,
					       uint32_t samples)
{
	const struct tsr_image_info info = {
		.format = format, .width = side, .height = side, .samples = samples,
	};
	struct tsr_image *image = NULL;

	ktap_eq(tsr_image_create(t->vm, &info, sizeof(info), &image), 0);
	return image;
}

static inline uint64_t gfxt_data(struct gfxt *t, const void *data, uint64_t size)
{
	struct tsr_alloc memory = { 0 };

	if (ktap_eq(tsr_pool_alloc(t->data, size, 64, &memory), 0))
		memcpy(memory.cpu, data, size);
	return memory.va;
}

#endif
