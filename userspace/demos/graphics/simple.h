/* SPDX-License-Identifier: MIT */
/* Pictures from triangles whose positions and colors the CPU has computed. */
#ifndef SIMPLE_H
#define SIMPLE_H

#include "draw.h"

/* A vertex: clip coordinates, and a color or whatever the fragment program takes. */
struct simple_vertex {
	float position[4], value[4];
};

/*
 * simple_info(): a pipeline of position.s, varying.s and @fragment, for triangles of struct
 * simple_vertex, drawn to @targets targets; @blend is a struct tsr_gfx_blend of the caller's that
 * gets the plain way. Change what it says before draw_pipeline().
 */
struct simple {
	struct tsr_gfx_pipeline_info info;
	struct tsr_gfx_attribute attributes[3];
	struct tsr_gfx_vertex_buffer buffers[2];
	struct tsr_gfx_varying varyings[2];
	struct tsr_gfx_blend blend;
};
void simple_init(struct draw *draw, struct simple *simple, struct tsr_shader *fragment);

/* simple_draw(): @count vertices with that pipeline. */
void simple_draw(struct draw *draw, struct tsr_gfx_pass *pass, struct tsr_gfx_pipeline *pipeline,
		 const struct simple_vertex *vertices, uint32_t count);

#endif
