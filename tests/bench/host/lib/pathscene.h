/* SPDX-License-Identifier: MIT */
/*
 * Every path from vertices to a picture, or to memory, as scenes: drawn by Mesa's llvmpipe
 * (pathscene_gl.c) and by libtessera (pathscene_tsr.c), from the same vertices and with shaders
 * that compute the same. Shaders are GLSL for llvmpipe and text for tsr-as for us.
 *
 * Pictures are RGBA8; clip space, faces and rows are GL's: row 0 is the bottom. What is streamed,
 * and what the compute shader writes, is exact: its numbers have few enough bits.
 */
#ifndef PATHSCENE_H
#define PATHSCENE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PATHSCENE_UNIFORMS 20		/* floats: a matrix by columns, and f: a vector */
#define PATHSCENE_STRIDE 32u		/* bytes of a streamed vertex: position, color */

enum pathscene_stage {
	PATHSCENE_VERTEX, PATHSCENE_HULL, PATHSCENE_DOMAIN, PATHSCENE_GEOMETRY, PATHSCENE_STAGES
};

struct pathscene_shader {
	const char *glsl, *text;
};

struct pathscene {
	const char *name, *path;
	const char *unit;
	double units;			/* of work in a frame */
	unsigned int side;		/* of the picture */
	/* NULL: there is no such stage; .shader[PATHSCENE_VERTEX] NULL: a compute shader alone */
	const struct pathscene_shader *shader[PATHSCENE_STAGES];
	unsigned int topology;		/* enum tsr_topology; patches are of four vertices */
	unsigned int partitioning;	/* enum tsr_patch_partitioning */
	bool streams;			/* to memory, and no picture */
	/* libtessera: a public compiler's vertex shader that does what pathscene_plain does */
	bool compiled;
	float uniform[PATHSCENE_UNIFORMS];
	float (*vertices)[8];		/* position, color */
	float (*instances)[4];		/* place and size, by instance; NULL: one instance */
	unsigned int count, instance_count;	/* compute: threads */
	unsigned int draws;		/* that share the vertices */
	unsigned int streamed;		/* primitives that find room */
	unsigned int corners;		/* of a primitive that is drawn or streamed */
};

/* Counters that both sides have. */
enum pathscene_count {
	PATHSCENE_VERTICES,		/* invocations of the vertex shader */
	PATHSCENE_PATCHES,
	PATHSCENE_THREADS,		/* invocations of the geometry shader */
	PATHSCENE_PRIMITIVES,		/* that it has made */
	PATHSCENE_DRAWN,		/* primitives that come to the rasterizer */
	PATHSCENE_NEEDED, PATHSCENE_WRITTEN,	/* primitives of stream 0 */
	PATHSCENE_COUNTS
};

extern const char *const pathscene_paths[];	/* one of each path; ends with NULL */
extern const char *const pathscene_loads[];	/* much work; ends with NULL */

/* A vertex shader that hands position and color on. */
extern const struct pathscene_shader pathscene_plain;
/* The compute shader: element n of floats becomes itself times itself, plus n. */
extern const struct pathscene_shader pathscene_compute;
#define PATHSCENE_LOCAL 64u		/* threads of a group */

/* pathscene_open(): the scene of that name; false: there is none. */
bool pathscene_open(struct pathscene *scene, const char *name);
void pathscene_close(struct pathscene *scene);
/* Bytes of what it streams, or computes. */
size_t pathscene_bytes(const struct pathscene *scene);

/* ---- llvmpipe ---- */
struct pathscene_gl;
bool pathscene_gl_open(void);		/* false: there is no llvmpipe with OpenGL 4.5 */
struct pathscene_gl *pathscene_gl_new(const struct pathscene *scene);
/* pathscene_gl_run(): @count frames, to their end. @arg is the struct pathscene_gl. */
void pathscene_gl_run(void *arg, unsigned int count);
/* A frame, counted. */
void pathscene_gl_count(struct pathscene_gl *gl, uint64_t counts[PATHSCENE_COUNTS]);
/* The picture, or what was streamed or computed. */
void pathscene_gl_read(struct pathscene_gl *gl, void *to);
void pathscene_gl_free(struct pathscene_gl *gl);

/* ---- libtessera ---- */
struct pathscene_tsr;
struct pathscene_tsr *pathscene_tsr_new(const struct pathscene *scene);
void pathscene_tsr_run(void *arg, unsigned int count);
void pathscene_tsr_count(struct pathscene_tsr *tsr, uint64_t counts[PATHSCENE_COUNTS]);
void pathscene_tsr_read(struct pathscene_tsr *tsr, void *to);
void pathscene_tsr_free(struct pathscene_tsr *tsr);

#endif
