/* SPDX-License-Identifier: MIT */
/*
 * Shared code of the graphics demos: the GPU, programs from text, images, meshes, reading pictures
 * back.
 *
 * Each demo draws a picture, checks facts about it that the CPU knows, and leaves it in
 * draw->picture. Functions return 0, or -1 with one line of text in draw->error. Objects are freed
 * at the end of the demo.
 */
#ifndef DRAW_H
#define DRAW_H

#include "../lib/matrix.h"
#include "../lib/picture.h"
#include <tessera/gfx.h>

#define DRAW_OBJECTS	24

struct draw {
	struct tsr_device *device;
	struct tsr_vm *vm;
	struct tsr_pool *code;		/* of programs */
	struct tsr_pool *data;		/* of vertices, cached by the CPU */
	struct tsr_gfx *gfx;
	struct tsr_shader *programs[DRAW_OBJECTS];
	struct tsr_image *images[DRAW_OBJECTS];
	struct tsr_gfx_pipeline *pipelines[DRAW_OBJECTS];
	struct tsr_gfx_pass *passes[DRAW_OBJECTS];
	unsigned int program_count, image_count, pipeline_count, pass_count;
	struct picture picture;
	char error[PICTURE_ERROR];
};

struct draw_kind {
	const char *name;
	const char *summary;
	int (*run)(struct draw *draw);
};

extern const struct draw_kind draw_triangle, draw_cubes, draw_instances, draw_msaa, draw_stencil,
	draw_particles, draw_shadow, draw_mipmaps, draw_mandelbrot, draw_teapot,
	draw_fountain;

int draw_fail(struct draw *draw, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* draw_library(): keep the library's message if @ret is an error. */
int draw_library(struct draw *draw, int ret);

int draw_open(struct draw *draw, const char *path);
void draw_close(struct draw *draw);

#define DRAW_SHADER(name) \
	extern const char _binary_demos_graphics_##name##_s_start[]; \
	extern const char _binary_demos_graphics_##name##_s_end[]
/* DRAW_PROGRAM(): a program from NAME.s. */
#define DRAW_PROGRAM(draw, name) \
	draw_program(draw, #name ".s", _binary_demos_graphics_##name##_s_start, \
		     _binary_demos_graphics_##name##_s_end)

/* These return NULL, or zero, after an error, which draw_begin() and draw_finish() report. */
struct tsr_shader *draw_program(struct draw *draw, const char *name, const char *start,
				 const char *end);
struct tsr_image *draw_image(struct draw *draw, const struct tsr_image_info *info);
struct tsr_image *draw_target(struct draw *draw, uint32_t format, uint32_t width,
				  uint32_t height, uint32_t samples);
struct tsr_gfx_pipeline *draw_pipeline(struct draw *draw, const struct tsr_gfx_pipeline_info *info);
uint64_t draw_data(struct draw *draw, const void *data, uint64_t size);

/* draw_begin(): a pass; NULL after an error. Its viewport has y up and row 0 at the top. */
struct tsr_gfx_pass *draw_begin(struct draw *draw, const struct tsr_gfx_pass_info *info);
/* draw_finish(): draw it. draw_read(): the image as draw->picture, or at @texels. */
int draw_finish(struct draw *draw, struct tsr_gfx_pass *pass);
int draw_picture(struct draw *draw, struct tsr_image *image);
int draw_read(struct draw *draw, struct tsr_image *image, uint8_t *texels);

/* draw_at(): the four bytes of a pixel of draw->picture. */
static inline const uint8_t *draw_at(const struct draw *draw, uint32_t x, uint32_t y)
{
	return draw->picture.texels + y * draw->picture.pitch + 4 * (size_t)x;
}

/* True if two pixels are no more than @far apart in each component. */
static inline bool draw_near(const uint8_t *a, const uint8_t *b, int far)
{
	for (int c = 0; c < 4; c++) {
		if (a[c] - b[c] > far || b[c] - a[c] > far)
			return false;
	}
	return true;
}

/* ---- Geometry -------------------------------------------------------------------------------- */

/* A cube of side 2: 24 vertices of position, normal, texture coordinates; 36 indices. */
#define CUBE_FLOATS 8
void cube_mesh(float vertices[24 * CUBE_FLOATS], uint16_t indices[36]);

#endif
