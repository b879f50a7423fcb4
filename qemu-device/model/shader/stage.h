/* SPDX-License-Identifier: MIT */
/*
 * The stages of the 3D pipeline that run programs: batches of vertices, bundles of fragments.
 *
 * In: a program (program.h), the threads it is to run for. Out: position records or outputs in
 * memory; colors, depth, stencil and coverage of fragments. A run is resumable between two
 * clauses; between two calls everything that belongs to it is in its struct, in plain words. The
 * units below (front, tile) own these structs, one of each kind for each core of theirs, and use
 * them for one batch or bundle after the other: starting one costs a few hundred nanoseconds.
 *
 *   tsr_stage_enter(sh, mem, core);		once a step of the engine
 *   do
 *           step = tsr_fragment_run(sh, f);		or tsr_vertex_run()
 *   while (step == TSR_STEP_MORE && there is time left);
 *   tsr_stage_leave(sh);				in any case, before the step ends
 *
 * Limits: TSR_BUNDLE_LANES threads. Reset state: all zero.
 */
#ifndef TSR_SHADER_STAGE_H
#define TSR_SHADER_STAGE_H

#include "screen.h"
#include "core.h"
#include "units/msg_format.h"
#include "program.h"

struct tsr_tile;
struct tsr_stage_block;
struct tsr_stage_group;

#define TSR_BUNDLE_QUADS (TSR_BUNDLE_LANES / 4)

/* A bundle of a stage and the core it runs on; see core.h. Its memory is that of whoever has it. */
struct tsr_stage_run {
	struct tsr_core core;		/* one bundle, all warps in one group */
	bool begun;			/* the threads have been started */
	/* Messages before the first clause: number of the next one, lanes it is left to do for. */
	uint8_t preload;
	uint16_t preload_lanes;
	uint64_t reads;			/* registers the program may read */
	const struct tsr_push *push;	/* replaces the program's own; NULL: none */
};

/* ---- Entering and leaving -------------------------------------------------------------------- */

/*
 * @sh, of the calling thread, runs programs as core @core of the device, with @mem as its view of
 * memory. Statistics in sh->stats begin at 0. Budget: sh->effort, at most
 * TSR_SHADER_BURST tuples of a bundle; a run returns TSR_STEP_MORE when it is used up or the thread
 * has a stop request, and then nothing can be run before the next enter.
 */
void tsr_stage_enter(struct tsr_shader *sh, const struct tsr_mem *mem, unsigned int core);
void tsr_stage_leave(struct tsr_shader *sh);

/* Free what @run has of its own; it may be begun. It is fit for a new batch or bundle then. */
void tsr_stage_drop(struct tsr_stage_run *run);
/* For the core: what the three words of FAULT_GROUP are for a thread of a stage. */
void tsr_stage_identify(const struct tsr_shader *sh, unsigned int w, unsigned int lane,
			uint32_t group[3]);

/* ---- Vertices -------------------------------------------------------------------------------- */

typedef uint64_t tsr_position_record[TSR_POSITION_EXTENDED__QWORDS];

struct tsr_vertex_run {
	/* In. */
	const struct tsr_program *program;	/* of a stage of vertices or patches */
	/* VERTEX and later: where outputs go, by slot, and what else there is; see stages.h */
	struct tsr_stage_block *block;
	const struct tsr_stage_group *group;	/* of stages after VERTEX */
	unsigned int threads;		/* 1 to TSR_BATCH_VERTICES */
	/*
	 * R61 and R62 of the vertices to shade, both counted from 0. (There is room for the
	 * vertices of a triangle that does not fit into the batch.) Stages after VERTEX: R57 and
	 * R58.
	 */
	uint32_t vertex[TSR_BATCH_VERTICES + 3] __attribute__((aligned(64)));
	uint32_t instance[TSR_BATCH_VERTICES] __attribute__((aligned(64)));
	uint16_t slot[TSR_BATCH_VERTICES];	/* place in the batch for record and outputs */
	unsigned int records;		/* POSITION: slots are below; there is no more to be seen */
	bool position_output;		/* SHADER_STATE.POSITION_OUTPUT */
	uint64_t padded;		/* padded number of vertices: up to 2^32 */
	int32_t start;			/* what ADD_OFFSET adds to elements */
	uint32_t first_instance;	/* what ADD_INSTANCE adds */
	/* VARYING: GPU address of the outputs of slot 0, and from slot to slot */
	uint64_t outputs;
	uint32_t output_stride;
	/*
	 * Out, POSITION: by slot, all zero where the program has stored nothing. As long as all
	 * that has been stored is X to W of the records of whole warps, their own, it stands in
	 * @position instead, a row for each: tsr_vertex_records().
	 */
	tsr_position_record record[TSR_BATCH_VERTICES] __attribute__((aligned(64)));
	union tsr_lanes position[4][TSR_BUNDLE_WARPS];
	uint8_t retained;		/* bit w: that of warp w; the rest is zero */
	bool spilled;			/* @record holds everything */
	struct tsr_stage_run run;
};

/* Bytes of the output window. */
static inline uint32_t tsr_vertex_window(const struct tsr_vertex_run *v)
{
	return v->records * sizeof(v->record[0]);
}

/* Have @record hold what has been stored. */
void tsr_vertex_spill(struct tsr_vertex_run *v);
static inline tsr_position_record *tsr_vertex_records(struct tsr_vertex_run *v)
{
	if (!v->spilled)
		tsr_vertex_spill(v);
	return v->record;
}

/* True if X to W of all vertices, in the order of their slots, stand in @position. */
static inline bool tsr_vertex_retained(const struct tsr_vertex_run *v)
{
	unsigned int warps = (v->threads + TSR_WARP_LANES - 1) / TSR_WARP_LANES;

	return !v->spilled && v->records == v->threads && v->retained == (1u << warps) - 1;
}

/* If that is all that stores of 16 bytes by warp @w of @b do, keep what they store. */
bool tsr_vertex_retain(struct tsr_vertex_run *v, const struct tsr_msg_bundle *b, unsigned int w);

/*
 * Run the program for @v->threads, or go on where it was. _DONE: all have ended and what they wrote
 * is there; _MORE; _PENDING: the host has to be asked; _FAULT with sh->fault.
 */
enum tsr_step tsr_vertex_run(struct tsr_shader *sh, struct tsr_vertex_run *v);

/* ---- Fragments ------------------------------------------------------------------------------- */

/* Values that all fragments of a warp group share. Set by the caller, constant in a run. */
struct tsr_fragment_state {
	uint64_t serial;		/* no other state ever has it */
	const struct tsr_program *program;	/* of stage FRAGMENT */
	struct tsr_shader_state shader;
	struct tsr_draw_state draw;
	/* second qwords of the BLENDs; TSR_BLEND_MODE_OFF where there is none */
	uint64_t blend[TSR_RENDER_TARGETS_MAX];
	uint32_t width, height;		/* of the frame */
	uint64_t sample_positions;	/* FAU special 6 */
	uint8_t samples_log2;
	bool dual_source;		/* blending of target 0 takes a second color: R4 to R7 */
};

/* Two by two pixels of a primitive. Lanes 4 * (n % 4) … of warp n / 4 shade quad n. */
struct tsr_fragment_quad {
	int16_t x, y;			/* of pixel 0, even */
	uint16_t prim;			/* index in tsr_fragments.prim */
	/*
	 * SAMPLE_SHADING: the sample it runs for; a quad is added once for each sample that is
	 * covered in any of its pixels, with the coverage of that sample alone. Else 0.
	 */
	uint8_t sample;
	/* bit 16 * pixel + sample; pixels 0 to 3 are (0,0), (1,0), (0,1), (1,1) */
	uint64_t coverage;
};

/* A primitive some quads of a bundle belong to. */
struct tsr_fragment_prim {
	struct tsr_prim prim;
	uint64_t output[3];		/* GPU address of the outputs of vertices 0 to 2 */
	/* for what is not among them: of its batch, see struct tsr_batch */
	uint64_t ids, padded;
	double bias;			/* what depth bias adds to the depths of its vertices */
	/* Filled by the varying unit. */
	bool geometry;			/* the rest holds */
	double x0, y0;			/* of vertex 0, in pixels */
	double dx[2], dy[2];		/* what a pixel to the right, down adds to weights 1, 2 */
	double rw[3];			/* 1/w: at vertex 0, and its gradient */
	double z[3];			/* depth */
	bool flat_w;			/* 1/w is the same everywhere */
};

#define TSR_PLANES_MAX 256		/* varyings of a bundle's primitives with planes at hand */
#define TSR_PLANE_VARYINGS 32		/* varyings above are never at hand */

/* The column or row of a pixel that is @x: that of the corner of its block of 8 by 8 pixels. */
#define TSR_CORNER(x) ((x) & ~7)

/*
 * A varying of a primitive. With V component n at any point and P that at the provoking vertex,
 * (V - P) / w, or V - P without perspective, is a (x - x0) + b (y - y0) + c at (x, y).
 */
struct tsr_planes {
	double a[4], b[4], c[4];
	union tsr_texel provoking;	/* components at the provoking vertex */
	struct tsr_format format;
	bool flat;			/* the same everywhere */
	bool perspective;		/* w counts; else it is 1 */
};

struct tsr_fragments {
	/* In. */
	const struct tsr_fragment_state *state;
	struct tsr_tile *tile;		/* for LD_TILE and ST_TILE */
	/* tsr_tile_settle(): called before @lanes of @warp store to the tile; NULL: nobody cares */
	void (*settle)(struct tsr_tile *tile, unsigned int warp, uint16_t lanes);
	/*
	 * Draws that differ in push constants can share a bundle, each in warps of its own: words
	 * of each warp, if they are not all those of run.push.
	 */
	unsigned int pushes;
	const struct tsr_push *push[TSR_BUNDLE_WARPS];
	unsigned int quads;		/* 0 to TSR_BUNDLE_QUADS */
	unsigned int prims;
	struct tsr_fragment_quad quad[TSR_BUNDLE_QUADS];
	struct tsr_fragment_prim prim[TSR_BUNDLE_QUADS];
	/*
	 * Out, by warp and lane. Coverage: bits of samples that are left after DISCARD and ATEST,
	 * 0 in helper threads.
	 */
	union tsr_lanes coverage[TSR_BUNDLE_WARPS];
	/* lanes that executed BLEND for a target; after the targets: the second source */
	uint16_t written[TSR_RENDER_TARGETS_MAX + 1][TSR_BUNDLE_WARPS];
	/* coverage these BLENDs named, and the words they staged (of REGISTERS in @blended) */
	union tsr_lanes blend_coverage[TSR_RENDER_TARGETS_MAX][TSR_BUNDLE_WARPS];
	union tsr_lanes color[TSR_RENDER_TARGETS_MAX + 1][4][TSR_BUNDLE_WARPS];
	/*
	 * Where both are to be read, in the same order: the arrays above, or, if the program ended
	 * with the BLEND, the registers it named, which stay until the next bundle is run.
	 */
	const union tsr_lanes *blend_coverage_at[TSR_RENDER_TARGETS_MAX];
	const union tsr_lanes *color_at[TSR_RENDER_TARGETS_MAX + 1];
	/* second qword of the BLEND descriptor, as the program named it */
	uint64_t blended[TSR_RENDER_TARGETS_MAX];
	/* ZS_EMIT: lanes, fp32 depth, stencil value */
	uint16_t depth_written[TSR_BUNDLE_WARPS], stencil_written[TSR_BUNDLE_WARPS];
	union tsr_lanes depth[TSR_BUNDLE_WARPS], stencil[TSR_BUNDLE_WARPS];
	/* The run. */
	uint16_t helper[TSR_BUNDLE_WARPS];	/* lanes without side effects */
	/* BLEND: lanes that go to a blend program, and where in the 4 GiB of their clause it is */
	uint16_t jumped[TSR_BUNDLE_WARPS];
	union tsr_lanes jump[TSR_BUNDLE_WARPS];
	/* Coordinates LD_VAR has stored: x and y from the pixel's corner, in which lanes. */
	union tsr_lanes retained[2][TSR_BUNDLE_WARPS];
	/*
	 * Centres of pixels, from the corner of their block; 1 or w there; of each quad where that
	 * corner is, from vertex 0 of its primitive. Bit n of @centres: warp n has them.
	 */
	float centre_x[TSR_BUNDLE_WARPS][TSR_WARP_LANES];
	float centre_y[TSR_BUNDLE_WARPS][TSR_WARP_LANES];
	float centre_w[TSR_BUNDLE_WARPS][TSR_WARP_LANES];
	double corner_x[TSR_BUNDLE_WARPS][TSR_WARP_LANES / 4] __attribute__((aligned(32)));
	double corner_y[TSR_BUNDLE_WARPS][TSR_WARP_LANES / 4] __attribute__((aligned(32)));
	uint16_t centres;
	uint16_t retained_lanes[TSR_BUNDLE_WARPS];
	uint16_t plane_of[TSR_BUNDLE_QUADS][TSR_PLANE_VARYINGS];	/* plus 1; 0: none */
	struct tsr_planes planes[TSR_PLANES_MAX];
	unsigned int plane_count;
	struct tsr_stage_run run;
};

/* Word @n of warp @w that BLEND has staged for @target; after the targets: the second source. */
static inline const union tsr_lanes *tsr_fragments_color(const struct tsr_fragments *f,
							 unsigned int target, unsigned int n,
							 unsigned int w)
{
	return &f->color_at[target][n * TSR_BUNDLE_WARPS + w];
}

/* Begin a new bundle: no quads, no primitives. @state and @tile are to be set. */
void tsr_fragments_begin(struct tsr_fragments *f, const struct tsr_fragment_state *state);
/*
 * Begin a new bundle with the same state, of which primitive @prim of the last one, of which there
 * are more quads, is the first. What is known of it stays.
 */
void tsr_fragments_continue(struct tsr_fragments *f, unsigned int prim);
/*
 * Quads that are added from now on have the push constants @push, in warps of their own. Earlier
 * ones have those of run.push. The last started warp is filled with quads that cover nothing.
 */
void tsr_fragments_mix(struct tsr_fragments *f, const struct tsr_push *push);
/*
 * Add a primitive that quads will name; returns its index. There is room for as many as for quads.
 * Its outputs and ids are to be filled in f->prim[index].
 */
unsigned int tsr_fragments_prim(struct tsr_fragments *f, const struct tsr_prim *prim);
/* Add a primitive; the caller also fills f->prim[index].prim. */
unsigned int tsr_fragments_add(struct tsr_fragments *f);

/*
 * Run the program for f->quads, or go on where it was. As tsr_vertex_run(). Counts in sh->stats:
 * invocations, helpers not among them, and helpers.
 */
enum tsr_step tsr_fragment_run(struct tsr_shader *sh, struct tsr_fragments *f);

#endif
