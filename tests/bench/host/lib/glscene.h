/* SPDX-License-Identifier: MIT */
/*
 * The scenes of a GL benchmark, as data: drawn by Mesa's llvmpipe (glscene_gl.c) and by
 * libtessera on the in-process device (glscene_tsr.c), from the same vertices and with programs
 * of the same source.
 *
 * Pictures are SIDE x SIDE, RGBA8; clip space, faces and rows are GL's: row 0 is the bottom.
 */
#ifndef GLSCENE_H
#define GLSCENE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GLSCENE_SIDE		1024
#define GLSCENE_UNIFORMS	4
#define GLSCENE_ATTRIBUTES	8

struct glscene_uniform {
	const char *name;
	float value[16];
	unsigned int count;		/* floats */
};

struct glscene {
	const char *name, *program;	/* of gl_programs */
	const char *unit;
	double units;			/* of work in a frame */
	bool clears, depth, blend, cull;
	bool uploads;			/* each frame writes the texture anew */
	bool links;			/* each frame makes its program anew, and waits */
	unsigned int samples;		/* 0: one */
	float clear[4];

	/* attributes of floats; those from @first_instanced on come from the second array */
	unsigned int widths[GLSCENE_ATTRIBUTES], attributes, first_instanced;
	float *vertices, *instances;
	size_t vertex_bytes, instance_bytes;
	void *indices;
	size_t index_bytes;
	unsigned int index_size;	/* bytes of an index; 0: no indices */

	struct glscene_uniform uniform[GLSCENE_UNIFORMS];
	uint8_t *texels;		/* level 0, RGBA8; NULL: no texture */
	unsigned int texture_side;
	bool mips;

	unsigned int count, instance_count;	/* of a draw; instances 0: one */
	unsigned int draws;		/* of a frame */
	/* what changes from draw to draw, into uniform[0] */
	void (*each)(struct glscene *scene, unsigned int draw);
	void *each_data;
};

extern const char *const glscene_names[];	/* ends with NULL */

/* glscene_open(): the scene of that name. */
void glscene_open(struct glscene *scene, const char *name);
void glscene_close(struct glscene *scene);

/* glscene_mips(): the next smaller level, in place: @side texels a side become half as many. */
void glscene_mip(uint8_t *texels, unsigned int side);

/* ---- llvmpipe ---- */
struct glscene_gl;
struct glscene_gl *glscene_gl_new(struct glscene *scene);
/* glscene_gl_run(): @count frames, to their end. @arg is the struct glscene_gl. */
void glscene_gl_run(void *arg, unsigned int count);
void glscene_gl_read(struct glscene_gl *gl, uint8_t *texels);
void glscene_gl_free(struct glscene_gl *gl);

/* ---- libtessera ---- */
struct glscene_tsr;
/* @vertex, @fragment: which builds of the program, GL_CLIP_TWO and so on. */
struct glscene_tsr *glscene_tsr_new(struct glscene *scene, unsigned int vertex,
				    unsigned int fragment);
void glscene_tsr_run(void *arg, unsigned int count);
void glscene_tsr_read(struct glscene_tsr *tsr, uint8_t *texels);
void glscene_tsr_free(struct glscene_tsr *tsr);
/* glscene_tsr_has(): whether the scene's program has that fragment build. */
bool glscene_tsr_has(const struct glscene *scene, unsigned int fragment);

#endif
