/* SPDX-License-Identifier: MIT */
/* Shaders: NIR as it comes, and for each key what the compiler makes of it. */
#ifndef TG_PROGRAM_H
#define TG_PROGRAM_H

#include "compiler/nir/nir.h"
#include "panfrost/util/pan_ir.h"
#include "pipe/p_state.h"
#include "util/simple_mtx.h"
#include "util/u_inlines.h"

#include "tc_nir.h"

#include <tessera/tessera.h>

#define TG_SYSVALS	320	/* with all sizes of all kinds of arrays */
#define TG_POSITION_BYTES	32	/* of a vertex: position, edge flag, 12 bytes of nothing */
/* Indices of TG_SYSVAL_STREAM that are no buffers. */
#define TG_STREAM_PRIMITIVES	13	/* x, y: address of the numbers of a draw's primitives */
#define TG_STREAM_INSTANCE	14	/* x: number of a draw's first instance */
#define TG_STREAM_LIST		15	/* x, y: address of the list of vertices */

struct tg_context;
struct tg_screen;

/*
 * Values that a shader reads and that are neither uniforms of the program nor in registers. Each
 * has a 16-byte slot.
 */
enum tg_sysval_kind {
	TG_SYSVAL_VERTEX, /* x: added to R61 to get the vertex's number; y: base vertex; z: base
			     instance; w: draw */
	TG_SYSVAL_TEXTURE_SIZE, /* x, y, z: size of the first level, layers after it; w: levels, of
				   textures with samples their number */
	TG_SYSVAL_SSBO,		/* x, y: address; z: size */
	TG_SYSVAL_IMAGE_SIZE,	/* x, y, z */
	TG_SYSVAL_WORK_GROUPS,	/* x, y: address of three numbers */
	TG_SYSVAL_GROUP_SIZE,	/* x, y, z */
	TG_SYSVAL_STREAM, /* x, y: address of a buffer, or of the list of vertices; z: vertices of
			     an instance */
	TG_SYSVAL_PATCH, /* x: vertices of a patch */
	TG_SYSVAL_STIPPLE, /* four rows of the polygon stipple */
	TG_SYSVAL_LOD, /* of a sampler and its texture. x, y: range of levels, w: mip filter */
	TG_SYSVAL_RT_CONVERSION /* x: conversion word of a target that is read */
};

struct tg_sysval {
	uint8_t kind;		/* enum tg_sysval_kind */
	uint8_t index;		/* of the texture, buffer, image or target */
	uint8_t dimensions;	/* sizes: how many before the layers */
	uint8_t array;		/* sizes: layers follow; of cubes 6 are one */
	uint8_t type;		/* RT_CONVERSION: of the registers, an nir_alu_type */
};

/* All of it counts for a variant: compared as bytes. */
struct tg_key {
	uint8_t robust;		/* accesses outside of storage buffers and images do nothing */
	uint8_t colors;		/* of a fragment shader that writes gl_FragColor: color targets */
	uint8_t sprites;	/* texture coordinates that are those of the point */
	uint8_t keep_point_size;	/* of a vertex shader that has one: points are drawn */
	uint8_t positions;	/* with stream: it stores positions and edge flags */
	uint8_t stipple;	/* of a fragment shader: polygons have holes */
	uint8_t back_facing;	/* of a fragment shader: what is drawn faces back */
	uint8_t numbered; /* of a fragment shader: gl_PrimitiveID is in a list */
	uint8_t no_coverage;	/* of a fragment shader: its gl_SampleMask does not count */
	uint8_t one_sample;	/* of a fragment shader that knows samples: there is one */
	uint8_t stream; /* of a vertex shader: it stores what is captured, and nothing else */
	uint8_t space; /* of a vertex shader: other stages follow */
	uint8_t numbers; /* of stages between: layer and viewport are read by fragment shaders */
};

/*
 * Words of the stage I/O memory of vertices, a bit for each, and of a patch that a stage before the
 * rasterizer reads and writes.
 */
struct tg_space {
	uint64_t in[4], out[4];
	unsigned words;		/* of out */
	uint64_t own[4];	/* of a tessellation control shader's outputs: it reads them */
	unsigned patch_slots;	/* of 16 bytes, without the tessellation factors */
};

/* Machine code: of its variant, and of the batches that run it. */
struct tg_code {
	struct pipe_reference reference;
	struct tg_screen *screen;
	_Atomic uint64_t batch;		/* number of the batch being recorded that named it last */
	struct tsr_alloc memory;	/* of tg_screen.code */
	gl_shader_stage stage;
	uint32_t size;			/* bytes of it that are code */
	struct list_head link;		/* in tg_screen.codes */
};

void tg_code_destroy(struct tg_code *code);

/*
 * tg_code_explain(): say on standard error which shader the clause at @va is of, and disassemble
 * it; the screen's lock is held.
 */
void tg_code_explain(struct tg_screen *screen, uint64_t va);

static inline void tg_code_reference(struct tg_code **to, struct tg_code *code)
{
	struct tg_code *old = *to;

	if (pipe_reference(old ? &old->reference : NULL, code ? &code->reference : NULL))
		tg_code_destroy(old);
	*to = code;
}

struct tg_variant {
	struct tg_key key;
	struct pan_shader_info info;
	struct tg_code *code;		/* NULL: the shader does nothing */
	struct tg_sysval sysvals[TG_SYSVALS];
	unsigned sysval_count;
	unsigned sysval_ubo;		/* which uniform buffer they are */
	uint32_t linear; /* fragment shaders: varyings (their numbers) without perspective */
	uint32_t color_outputs;		/* bit n: color n is written */
	bool discards, writes_memory, helpers;
	bool writes_point_size, writes_layer, writes_viewport;
	bool in_space;			/* its outputs are in stage I/O memory */
	struct tg_space space;
	uint8_t clip_distances, cull_distances;
};

struct tg_shader {
	nir_shader *nir;		/* as it came */
	uint8_t name[20];		/* SHA-1 of the NIR, in the disk cache; if named */
	bool named;
	gl_shader_stage stage;
	struct pipe_stream_output_info stream_output;
	bool fragcolor;			/* writes gl_FragColor */
	bool point_size;		/* writes gl_PointSize */
	bool front_facing;		/* fragment shaders: reads gl_FrontFacing */
	bool coverage;			/* fragment shaders: writes gl_SampleMask */
	bool primitive_id;		/* fragment shaders: reads gl_PrimitiveID */
	bool samples;			/* fragment shaders: reads gl_SampleMaskIn and the like */
	uint8_t texcoords;		/* fragment shaders: gl_TexCoord it reads */
	uint64_t noperspective;		/* varyings, by location */
	uint32_t shared_memory;		/* compute shaders: bytes at least */
	simple_mtx_t lock; /* protects variants: a shader may belong to several contexts */
	struct util_dynarray variants;	/* struct tg_variant * */
};

/* tg_program_update(): the variant that the state asks for. False if there is none. */
bool tg_program_update(struct tg_context *ctx, enum pipe_shader_type type, bool points);

/*
 * tg_shader_create(): a shader of NIR, which it owns from now on. tg_shader_delete(): the context's
 * function.
 */
struct tg_shader *tg_shader_create(struct tg_screen *screen, nir_shader *nir);
void tg_shader_delete(struct pipe_context *pipe, void *shader);

/* tg_program_find(): the variant of a shader with that key; NULL if there is none. */
struct tg_variant *tg_program_find(struct tg_screen *screen, struct tg_shader *shader,
				   const struct tg_key *key);

/* tg_nir_lower_vertices(): vertex number n is what the list of vertices has in place n. */
void tg_nir_lower_vertices(nir_shader *nir);

/* tg_nir_capture_positions(): what is captured are positions and edge flags, TG_POSITION_BYTES. */
void tg_nir_capture_positions(nir_shader *nir);

/*
 * tg_nir_stipple(): fragments are discarded where the polygon stipple has holes; before
 * tg_nir_lower_sysvals(), of a variant that has no system values yet.
 */
void tg_nir_stipple(nir_shader *nir, struct tg_variant *variant);

/*
 * tg_nir_robust(): what the compiler makes addresses of, storage buffers and atomics of images, is
 * accessed within its bounds only. Before bifrost_preprocess_nir().
 */
void tg_nir_robust(nir_shader *nir);

/* tg_nir_lower_back_facing(): gl_FrontFacing is false. */
void tg_nir_lower_back_facing(nir_shader *nir);

/* tg_nir_lower_one_sample(): a fragment has one sample, the first. */
void tg_nir_lower_one_sample(nir_shader *nir);

/* tg_nir_lower_sysvals(): loads from a uniform buffer behind the shader's own. */
void tg_nir_lower_sysvals(nir_shader *nir, struct tg_variant *variant);

/*
 * tg_nir_stage(): of a vertex shader with key.space, a tessellation or a geometry shader, after
 * nir_lower_io(): inputs and outputs are windows of memory, and @space says which words; all but
 * vertex shaders have become compute shaders. @numbers: fragment shaders read layer and viewport.
 */
void tg_nir_stage(nir_shader *nir, struct tg_space *space, bool numbers);

/* tg_space_byte(): offset of a varying in stage I/O memory; < 0: it has none. */
int tg_space_byte(unsigned location);

#endif
