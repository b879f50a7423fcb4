// SPDX-License-Identifier: MIT
/* The program of Documentation/guide/graphics.md: one triangle. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tessera/gfx.h>

#define SIDE 256

/* The position of a vertex is its attribute 0. */
static const char position[] =
	"clause message=attribute slot=0 wait=0 {\n"
	"	*NOP\n"
	"	+LD_ATTR_IMM.f32.v4 r61, r62, attribute_index:0, @r0\n"
	"}\n"
	"clause end message=store slot=0 {\n"
	"	*NOP\n"
	"	+ST_CVT.v4 r58, r59, 0x0105e000, @r0\n"
	"}\n";

/* Its output 1 is attribute 1. */
static const char varying[] =
	"clause message=attribute slot=0 {\n"
	"	*NOP\n"
	"	+LD_ATTR_IMM.f32.v4 r61, r62, attribute_index:1, @r0\n"
	"}\n"
	"clause message=attribute slot=0 wait=0 {\n"
	"	*NOP\n"
	"	+LEA_ATTR_IMM.auto r61, r62, attribute_index:1, @r4\n"
	"}\n"
	"clause end message=store slot=0 {\n"
	"	*NOP\n"
	"	+ST_CVT.v4 r4, r5, r6, @r0\n"
	"}\n";

/* The color of a fragment is varying 0. */
static const char fragment[] =
	"clause message=varying slot=0 wait=0,6 td {\n"
	"	*NOP\n"
	"	+LD_VAR_IMM.f32.store.center.v4 zero.w1, index:0, @r0\n"
	"}\n"
	"clause message=atest slot=0 wait=0,6,7 td {\n"
	"	[fau=atest_datum]\n"
	"	*NOP\n"
	"	+ATEST r60:t1, r60, r3, @r60\n"
	"}\n"
	"clause end message=blend slot=0 td {\n"
	"	*NOP\n"
	"	+BLEND r48:t1, r60, blend0.w0, blend0.w1, @r0\n"
	"}\n";

/* x, y, z, w and red, green, blue, alpha; w is 1, y goes down as rows do. */
static const float corners[3][8] = {
	{ -0.8f, 0.8f, 0, 1, 1, 0, 0, 1 },
	{ 0.8f, 0.8f, 0, 1, 0, 1, 0, 1 },
	{ 0, -0.8f, 0, 1, 0, 0, 1, 1 },
};

static void check(int ret)
{
	if (ret < 0) {
		fprintf(stderr, "triangle: %s\n", tsr_error_message());
		exit(1);
	}
}

static struct tsr_shader *assemble(struct tsr_pool *pool, const char *text, const char *name)
{
	struct tsr_shader *program;

	check(tsr_shader_assemble(pool, text, strlen(text), name, &program));
	return program;
}

static struct tsr_gfx_pipeline *make_pipeline(struct tsr_pool *pool)
{
	const struct tsr_gfx_attribute attributes[] = {
		{ .format = TSR_PIXEL_FORMAT_RGBA32F },
		{ .format = TSR_PIXEL_FORMAT_RGBA32F, .offset = 16 },
	};
	const struct tsr_gfx_vertex_buffer buffer = { .stride = sizeof(corners[0]) };
	const struct tsr_gfx_varying color = {
		.format = TSR_PIXEL_FORMAT_RGBA32F, .output = 1, .input = 0,
	};
	const struct tsr_gfx_blend replace = { .mask = 0xf, .registers = TSR_REGISTER_TYPE_F32 };
	struct tsr_shader *p = assemble(pool, position, "position");
	struct tsr_shader *v = assemble(pool, varying, "varying");
	struct tsr_shader *f = assemble(pool, fragment, "fragment");
	const struct tsr_gfx_pipeline_info info = {
		.vertex = p, .varying = v, .fragment = f,
		.attributes = attributes, .attribute_count = 2,
		.buffers = &buffer, .buffer_count = 1,
		.varyings = &color, .varying_count = 1,
		.blends = &replace, .blend_count = 1,
		.topology = TSR_TOPOLOGY_TRIANGLES,
	};
	struct tsr_gfx_pipeline *pipeline;

	check(tsr_gfx_pipeline_create(&info, sizeof(info), &pipeline));
	tsr_shader_unref(p);
	tsr_shader_unref(v);
	tsr_shader_unref(f);
	return pipeline;
}

int main(void)
{
	const uint32_t code = DRM_TESSERA_BIND_READ | DRM_TESSERA_BIND_EXEC;
	const struct tsr_image_info size = {
		.format = TSR_PIXEL_FORMAT_RGBA8_UNORM, .width = SIDE, .height = SIDE,
	};
	const struct tsr_gfx_draw all = { .count = 3 };
	static unsigned char texels[SIDE][SIDE][4];
	struct tsr_gfx_pass_info target = {
		.color[0] = { .load = TSR_GFX_LOAD_CLEAR, .clear.f = { 0.2f, 0.2f, 0.2f, 1 } },
	};
	struct tsr_gfx_pipeline *pipeline;
	struct tsr_image *image;
	struct tsr_gfx_pass *pass;
	struct tsr_device *device;
	struct tsr_alloc vertices;
	struct tsr_pool *pool;
	struct tsr_gfx *gfx;
	struct tsr_vm *vm;

	check(tsr_device_open(NULL, &device));
	check(tsr_vm_create(device, &vm));
	check(tsr_pool_create(vm, 0, 0, code, &pool));
	check(tsr_gfx_create(vm, &gfx));
	check(tsr_image_create(vm, &size, sizeof(size), &image));
	check(tsr_pool_alloc(pool, sizeof(corners), 64, &vertices));
	memcpy(vertices.cpu, corners, sizeof(corners));
	pipeline = make_pipeline(pool);

	target.color[0].image = image;
	check(tsr_gfx_pass_create(gfx, &target, sizeof(target), &pass));
	check(tsr_gfx_set_pipeline(pass, pipeline));
	check(tsr_gfx_set_vertices(pass, 0, vertices.va, sizeof(corners)));
	check(tsr_gfx_draw(pass, &all));
	check(tsr_gfx_run(pass, TSR_DEADLINE_NEVER));

	check(tsr_image_read(image, 0, 0, texels, sizeof(texels[0])));
	printf("the middle is %d %d %d\n", texels[SIDE / 2][SIDE / 2][0],
	       texels[SIDE / 2][SIDE / 2][1], texels[SIDE / 2][SIDE / 2][2]);

	tsr_gfx_pass_destroy(pass);
	tsr_gfx_pipeline_unref(pipeline);
	tsr_image_unref(image);
	tsr_gfx_unref(gfx);
	tsr_pool_unref(pool);
	tsr_vm_unref(vm);
	tsr_device_unref(device);
	return 0;
}
