// SPDX-License-Identifier: MIT
/* Shared code of the graphics demos, see draw.h. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draw.h"

#define PATIENCE_NS (300ull * 1000000000)

int draw_fail(struct draw *draw, const char *format, ...)
{
	va_list arguments;

	/* the first one is the cause */
	if (draw->error[0])
		return -1;
	va_start(arguments, format);
	vsnprintf(draw->error, sizeof(draw->error), format, arguments);
	va_end(arguments);
	return -1;
}

int draw_library(struct draw *draw, int ret)
{
	return ret < 0 ? draw_fail(draw, "%s", tsr_error_message()) : 0;
}

int draw_open(struct draw *draw, const char *path)
{
	const uint32_t rw = DRM_TESSERA_BIND_READ | DRM_TESSERA_BIND_WRITE;
	const uint32_t rx = DRM_TESSERA_BIND_READ | DRM_TESSERA_BIND_EXEC;
	int ret = tsr_device_open(path, &draw->device);

	if (!ret)
		ret = tsr_vm_create(draw->device, &draw->vm);
	if (!ret)
		ret = tsr_pool_create(draw->vm, 0, 0, rx, &draw->code);
	if (!ret)
		ret = tsr_pool_create(draw->vm, 0, DRM_TESSERA_BO_CACHED, rw, &draw->data);
	if (!ret)
		ret = tsr_gfx_create(draw->vm, &draw->gfx);
	return draw_library(draw, ret);
}

void draw_close(struct draw *draw)
{
	while (draw->pass_count)
		tsr_gfx_pass_destroy(draw->passes[--draw->pass_count]);
	while (draw->pipeline_count)
		tsr_gfx_pipeline_unref(draw->pipelines[--draw->pipeline_count]);
	while (draw->image_count)
		tsr_image_unref(draw->images[--draw->image_count]);
	while (draw->program_count)
		tsr_shader_unref(draw->programs[--draw->program_count]);
	tsr_gfx_unref(draw->gfx);
	tsr_pool_unref(draw->data);
	tsr_pool_unref(draw->code);
	tsr_vm_unref(draw->vm);
	tsr_device_unref(draw->device);
	picture_free(&draw->picture);
}

/* True if there is room for another object, and no error so far. */
static bool can(struct draw *draw, unsigned int count)
{
	if (count == DRAW_OBJECTS)
		draw_fail(draw, "more than %d objects", DRAW_OBJECTS);
	return !draw->error[0];
}

struct tsr_shader *draw_program(struct draw *draw, const char *name, const char *start,
				 const char *end)
{
	struct tsr_shader *program = NULL;

	if (!can(draw, draw->program_count) ||
	    draw_library(draw, tsr_shader_assemble(draw->code, start, (size_t)(end - start), name,
						    &program)))
		return NULL;
	draw->programs[draw->program_count++] = program;
	return program;
}

struct tsr_image *draw_image(struct draw *draw, const struct tsr_image_info *info)
{
	struct tsr_image *image = NULL;

	if (!can(draw, draw->image_count) ||
	    draw_library(draw, tsr_image_create(draw->vm, info, sizeof(*info), &image)))
		return NULL;
	draw->images[draw->image_count++] = image;
	return image;
}

struct tsr_image *draw_target(struct draw *draw, uint32_t format, uint32_t width,
				  uint32_t height, uint32_t samples)
{
	const struct tsr_image_info info = {
		.format = format, .width = width, .height = height, .samples = samples,
	};

	return draw_image(draw, &info);
}

struct tsr_gfx_pipeline *draw_pipeline(struct draw *draw, const struct tsr_gfx_pipeline_info *info)
{
	struct tsr_gfx_pipeline *pipeline = NULL;

	if (!can(draw, draw->pipeline_count) ||
	    draw_library(draw, tsr_gfx_pipeline_create(info, sizeof(*info), &pipeline)))
		return NULL;
	draw->pipelines[draw->pipeline_count++] = pipeline;
	return pipeline;
}

uint64_t draw_data(struct draw *draw, const void *data, uint64_t size)
{
	struct tsr_alloc memory;

	if (!can(draw, 0) || draw_library(draw, tsr_pool_alloc(draw->data, size, 64, &memory)))
		return 0;
	memcpy(memory.cpu, data, size);
	return memory.va;
}

static struct tsr_image_info info_of(const struct tsr_image *image)
{
	struct tsr_image_info info;

	tsr_image_get_info(image, &info, sizeof(info));
	return info;
}

struct tsr_gfx_pass *draw_begin(struct draw *draw, const struct tsr_gfx_pass_info *info)
{
	struct tsr_gfx_pass *pass = NULL;
	struct tsr_gfx_viewport up = { .far_depth = 1 };

	if (!can(draw, draw->pass_count) ||
	    draw_library(draw, tsr_gfx_pass_create(draw->gfx, info, sizeof(*info), &pass)))
		return NULL;
	draw->passes[draw->pass_count++] = pass;
	for (int i = 0; i < 2; i++) {
		const struct tsr_gfx_target *t = i ? &info->depth : &info->color[0];

		if (t->image && !up.width) {
			const struct tsr_image_info image = info_of(t->image);

			up.width = (float)image.width;
			up.y = (float)image.height;
			up.height = -up.y;
		}
	}
	tsr_gfx_set_viewport(pass, 0, &up);
	return pass;
}

int draw_finish(struct draw *draw, struct tsr_gfx_pass *pass)
{
	return draw_library(draw, tsr_gfx_run(pass, tsr_deadline(PATIENCE_NS)));
}

int draw_read(struct draw *draw, struct tsr_image *image, uint8_t *texels)
{
	return draw_library(draw, tsr_image_read(image, 0, 0, texels, 4 * info_of(image).width));
}

int draw_picture(struct draw *draw, struct tsr_image *image)
{
	const struct tsr_image_info info = info_of(image);
	struct picture *p = &draw->picture;

	picture_free(p);
	*p = (struct picture){ info.width, info.height, 4, 4 * (size_t)info.width, NULL };
	p->texels = malloc(p->pitch * p->height);
	if (!p->texels)
		return draw_fail(draw, "no memory for a picture");
	return draw_read(draw, image, p->texels);
}
