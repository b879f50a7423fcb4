// SPDX-License-Identifier: MIT
/* Compressed textures become pictures, see texture.h. */
#include <stdlib.h>
#include <string.h>

#include "../lib/upload.h"
#include "texture.h"

#define PATIENCE_NS (60ull * 1000000000)

#define SHADER(name) \
	extern const char _binary_demos_photo_##name##_s_start[]; \
	extern const char _binary_demos_photo_##name##_s_end[]
SHADER(position);
SHADER(texels);

/* State of decoding one file; starts as zero. */
struct decoder {
	struct tsr_device *device;
	struct tsr_vm *vm;
	struct tsr_pool *pool;		/* of shaders and the three vertices */
	struct tsr_gfx *gfx;
	struct tsr_image *texture, *target;
	struct tsr_shader *position, *fragment;
	struct tsr_gfx_pipeline *pipeline;
	struct tsr_gfx_pass *pass;
};

static void close_decoder(struct decoder *d)
{
	tsr_gfx_pass_destroy(d->pass);
	tsr_gfx_pipeline_unref(d->pipeline);
	tsr_shader_unref(d->position);
	tsr_shader_unref(d->fragment);
	tsr_image_unref(d->texture);
	tsr_image_unref(d->target);
	tsr_gfx_unref(d->gfx);
	tsr_pool_unref(d->pool);
	tsr_vm_unref(d->vm);
	tsr_device_unref(d->device);
}

static int open_decoder(struct decoder *d, const char *device)
{
	const uint32_t rx = DRM_TESSERA_BIND_READ | DRM_TESSERA_BIND_EXEC;
	int ret = tsr_device_open(device, &d->device);

	if (!ret)
		ret = tsr_vm_create(d->device, &d->vm);
	if (!ret)
		ret = tsr_pool_create(d->vm, 0, 0, rx, &d->pool);
	return ret ? ret : tsr_gfx_create(d->vm, &d->gfx);
}

/* The blocks as a texture, and what its texels go to. */
static int make_images(struct decoder *d, const struct compressed *c)
{
	const struct tsr_image_info target = {
		.format = TSR_PIXEL_FORMAT_RGBA8_UNORM, .width = c->width, .height = c->height,
	};
	int ret = upload_compressed(d->vm, c, 1, false, &d->texture);

	return ret ? ret : tsr_image_create(d->vm, &target, sizeof(target), &d->target);
}

#define ASSEMBLE(d, name, program) \
	tsr_shader_assemble((d)->pool, _binary_demos_photo_##name##_s_start, \
			     (size_t)(_binary_demos_photo_##name##_s_end - \
				      _binary_demos_photo_##name##_s_start), \
			     #name ".s", program)

static int make_pipeline(struct decoder *d)
{
	static const struct tsr_gfx_attribute corner = { .format = TSR_PIXEL_FORMAT_RGBA32F };
	static const struct tsr_gfx_vertex_buffer buffer = { .stride = 4 * sizeof(float) };
	static const struct tsr_gfx_blend replace = {
		.mask = 0xf, .registers = TSR_REGISTER_TYPE_F32,
	};
	struct tsr_gfx_pipeline_info info = {
		.attributes = &corner, .attribute_count = 1, .buffers = &buffer, .buffer_count = 1,
		.topology = TSR_TOPOLOGY_TRIANGLES, .blends = &replace, .blend_count = 1,
	};
	int ret = ASSEMBLE(d, position, &d->position);

	if (!ret)
		ret = ASSEMBLE(d, texels, &d->fragment);
	info.vertex = d->position;
	info.fragment = d->fragment;
	return ret ? ret : tsr_gfx_pipeline_create(&info, sizeof(info), &d->pipeline);
}

/* One triangle over the whole target. */
static int draw(struct decoder *d)
{
	static const float corners[3][4] = { { -1, -1, 0, 1 }, { 3, -1, 0, 1 }, { -1, 3, 0, 1 } };
	const struct tsr_gfx_pass_info info = { .color[0] = { .image = d->target } };
	const struct tsr_view view = { .image = d->texture };
	const struct tsr_gfx_bindings_info bindings = { .textures = &view, .texture_count = 1 };
	const struct tsr_gfx_draw all = { .count = 3 };
	struct tsr_alloc vertices;
	int ret = tsr_pool_alloc(d->pool, sizeof(corners), 64, &vertices);

	if (!ret)
		ret = tsr_gfx_pass_create(d->gfx, &info, sizeof(info), &d->pass);
	if (ret)
		return ret;
	memcpy(vertices.cpu, corners, sizeof(corners));
	/* the pass remembers the first error; submitting it reports it */
	tsr_gfx_set_pipeline(d->pass, d->pipeline);
	tsr_gfx_set_bindings(d->pass, TSR_GFX_STAGE_FRAGMENT, &bindings, sizeof(bindings));
	tsr_gfx_set_vertices(d->pass, 0, vertices.va, sizeof(corners));
	tsr_gfx_draw(d->pass, &all);
	return tsr_gfx_run(d->pass, tsr_deadline(PATIENCE_NS));
}

static int decode(const struct compressed *c, const char *device, struct picture *picture,
		  char *error)
{
	struct picture p = { .width = c->width, .height = c->height, .texel = 4 };
	struct decoder d = { 0 };
	int ret;

	p.pitch = (size_t)p.width * p.texel;
	p.texels = malloc(p.pitch * p.height);
	if (!p.texels) {
		snprintf(error, PICTURE_ERROR, "out of memory");
		return -1;
	}
	ret = open_decoder(&d, device);
	if (!ret)
		ret = make_images(&d, c);
	if (!ret)
		ret = make_pipeline(&d);
	if (!ret)
		ret = draw(&d);
	if (!ret)
		ret = tsr_image_read(d.target, 0, 0, p.texels, p.pitch);
	if (ret)
		snprintf(error, PICTURE_ERROR, "%s", tsr_error_message());
	close_decoder(&d);
	if (ret)
		picture_free(&p);
	else
		*picture = p;
	return ret ? -1 : 0;
}

int texture_read(struct picture *picture, const char *path, const char *device, char *error)
{
	uint8_t first[16];
	FILE *stream = fopen(path, "rb");
	struct compressed c;
	size_t size;
	int ret;

	/* whoever reads it as something else says what is wrong with it */
	if (!stream)
		return 1;
	size = fread(first, 1, sizeof(first), stream);
	fclose(stream);
	if (!compressed_is(first, size))
		return 1;
	if (compressed_read(&c, path, error))
		return -1;
	ret = decode(&c, device, picture, error);
	compressed_free(&c);
	return ret;
}
