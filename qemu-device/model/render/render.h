/* SPDX-License-Identifier: MIT */
/*
 * The RENDER engine: a command in progress, and the cores its tiles are rendered on.
 *
 * In: a RENDER command, its control list, the frame's heap. Out: the frame's targets. First the
 * varying programs of all batches run, then tiles, each from its first packet to its last in one
 * context (struct tsr_tile_core), which takes its tiles from the dispenser. A device has fewer
 * contexts than shader cores if it has fewer threads. Everything between two bursts is in
 * these structures, which belong to the queue. Limits: 3d.md. Reset state: no command.
 *
 *   render.c            the engine's step: list, phases
 *   dispenser.c         which context renders which tiles
 *   varying_job.c       a core: varying programs of batches
 *   tile_core.c         a core: a tile's packets, from primitives to warp groups
 *   warp_group.c        warp groups: programs, late tests, queries, output
 *   shade_block.c       blocks that are shaded at once, without warp groups
 *   flat.c              primitives of one color, without warp groups
 *   small.c, few.c      triangles of a few pixels or blocks, set up together
 *   draw_states.c       the states of draws
 *   tile_memory.c       load, store; compress.c: with compression metadata
 *   clear.c, fill.c     tiles that are cleared
 *   output*.c           colors
 *   render_state_io.c   a command in a snapshot; evicted.c: one without an engine
 */
#ifndef TSR_TILE_RENDER_H
#define TSR_TILE_RENDER_H

#include <string.h>

#include "work.h"
#include "dispenser.h"
#include "binner/list.h"
#include "binner/tile_list.h"
#include "compiler/flat_program.h"
#include "compiler/plan.h"
#include "shader/planes.h"
#include "shader/program.h"
#include "shader/stage.h"
#include "output.h"
#include "raster/raster.h"
#include "shader/tile_buffer.h"
#include "raster/zs.h"

/* States of draws a core has at hand. */
#define TSR_TILE_STATES 64
/* Primitives, blocks, quads and the like after which a burst ends. */
#define TSR_TILE_EFFORT 16384
#define TSR_TILE_BUNDLE_EFFORT 32	/* what a bundle counts */

/* Counts of a core that the owner adds to the queue's counters. */
enum tsr_tile_count {
	TSR_TILE_TILES,
	TSR_TILE_PRIMITIVES,		/* set up, once for each tile they touch */
	TSR_TILE_BLOCKS,		/* blocks with coverage */
	TSR_TILE_BLOCKS_DEPTH,		/* blocks rejected by hierarchical depth */
	TSR_TILE_BLOCKS_STENCIL,	/* blocks rejected by hierarchical stencil */
	TSR_TILE_SAMPLES_TESTED,	/* in early tests */
	TSR_TILE_SAMPLES_REJECTED,	/* early, by tests of samples and blocks */
	TSR_TILE_QUADS,			/* shaded */
	TSR_TILE_BUNDLES,
	TSR_TILE_LOAD_BYTES,		/* of targets, tags not counted */
	TSR_TILE_STORE_BYTES,
	TSR_TILE_BLOCKS_CLEAR,		/* stored as a tag */
	TSR_TILE_BLOCKS_COMPRESSED,
	TSR_TILE_COUNTS
};

/* The colors that all fragments of a primitive have. */
struct tsr_tile_colors {
	bool known;
	uint8_t written;		/* bit n: target n is */
	struct tsr_output_flat target[TSR_RENDER_TARGETS_MAX];
};

/* No state has this address: it is not aligned. */
#define TSR_TILE_NO_STATE UINT64_MAX

/* A draw's states, prepared. */
struct tsr_tile_state {
	/* where they are; TSR_TILE_NO_STATE: nothing here */
	uint64_t shader_state, draw_state;
	uint64_t varying_copy, fragment_copy;	/* copies of the programs */
	struct tsr_fragment_state fragment;
	struct tsr_raster_rules rules;
	struct tsr_zs zs;
	struct {
		struct tsr_rect scissor;
		double low, high;	/* depths are clamped to */
	} viewport[TSR_VIEWPORTS_MAX];
	struct tsr_output output[TSR_RENDER_TARGETS_MAX];
	bool shades;			/* fragments run the program */
	bool ordered;			/* a bundle holds no pixel twice */
	bool count_early;		/* queries count what passes early tests */
	bool may_be_blocks;		/* programs with a plan may run for blocks of pixels */
	/* Targets of which nothing remains where a whole block is written without a bundle. */
	uint8_t overwrites;
	uint16_t sample_mask;
	/* Primitives of one color: the program has not been found to be without them. */
	bool may_be_flat;
	bool looked;			/* @flat tells */
	uint8_t tried;			/* bundles, up to a few */
	uint8_t patience;		/* primitives that are not tested after a failed test */
	uint8_t waited;			/* of them, not tested so far; 0: it had one color */
	struct tsr_flat flat;
	struct tsr_tile_colors colors;	/* if all primitives have them; with the program of @push */
	uint64_t push;			/* address of push constants; 0: the program's own */
	struct {
		double low, high;	/* of the viewport itself */
	} range[TSR_VIEWPORTS_MAX];
};

/* A block of a primitive of one color that its warp group will supply, and its pixels. */
struct tsr_tile_deferred {
	uint64_t mask;
	uint16_t x, y;			/* of the block, in the tile */
	uint16_t quad;			/* of the bundle, which is one of the primitive's */
};

#define TSR_TILE_DEFERRED_MAX 256

/* Depth of a primitive of a bundle, for late tests. */
struct tsr_tile_plane {
	struct tsr_edge e[2];
	double base, k[2], low, high;
	bool center;			/* of all samples alike */
};

/* Depths of a primitive in the blocks of a tile: around @middle, at most @reach away. */
struct tsr_depth_range {
	double middle, right, down;	/* in the first block; from block to block */
	double reach;
	double low, high;		/* of the primitive as a whole */
};

/* Most bytes of a row of tiles that are filled together. */
#define TSR_TILE_FILL_BYTES (TSR_TILE_RUN << (TSR_TILE_SHIFT_MAX + 2))

/* Rows of host memory that a run of tiles, one beside the other, has cleared. */
struct tsr_tile_fill {
	struct tsr_access_rows rows;	/* count 0: none */
	struct tsr_page area;		/* the host's */
	uint32_t kept;			/* bits of each word that stay as they are */
	uint8_t row[TSR_TILE_FILL_BYTES] __attribute__((aligned(64)));	/* of each */
};

/* Counts that go to a query's memory. */
struct tsr_tile_queries {
	uint64_t samples, any, statistics;	/* addresses, 0: none */
	uint64_t passed, fragments;	/* not added yet */
};

enum tsr_tile_phase {
	TSR_TILE_FETCH,			/* takes the next tile */
	TSR_TILE_PACKET,		/* fetches a packet of the tile's list */
	TSR_TILE_EXECUTE,		/* executes it */
	TSR_TILE_DRAWING,
};

/*
 * The tile buffer: the tile in progress, what it holds of each target, and stores that wait.
 *
 * Written by: tile_core.c (@tile's place and size, @column, @row, @stored, @stored_at); render.c
 * (@memory, and the places and formats of @tile's targets); clear.c and tile_memory.c (what the
 * buffer holds); shade_block.c (blocks that have been replaced); fill.c (@fill, @filling).
 * Reset by: start_tile() for each tile; @fill by tsr_tile_fill_now(), no later than the end of a
 * burst; @memory stays until tsr_tile_core_evict() or tsr_render_free().
 */
struct tsr_tile_buffer {
	struct tsr_tile tile;
	uint8_t *memory;		/* of all targets */
	size_t memory_bytes;
	uint32_t column, row;		/* of the tile in the frame */
	/* Targets of which the buffer holds something: as in TILE_LOAD, from bit 0 on. */
	uint16_t defined;
	uint16_t unread;		/* of them, those whose TILE_LOAD waits for a primitive */
	uint16_t alike;			/* of them, those with a first row only: clear.c */
	/*
	 * Color targets of which some blocks (bit n: block n) have not been loaded, and are not
	 * until one of them is needed. Both are 0 or neither.
	 */
	uint8_t partial;
	uint64_t absent;
	bool stored;			/* TILE_STORE has been executed, at least in part */
	uint64_t stored_at;		/* value of work() in tile_core.c at that time */
	/* Stores of cleared tiles that wait, see fill.c: of color target 0, of depth. */
	struct tsr_tile_fill fill[2];
	bool filling;			/* at least one store waits */
};

/*
 * The triangles that were read together, and the one in progress of those that lie in a few blocks.
 *
 * Written by: tile_core.c (@triangles, @few, @next_triangle), small.c (@next_triangle, @small,
 * @quads,
 * @next_quad, @tested), few.c (the members of triangles of a few blocks).
 * Reset by: begin_draw() in tile_core.c (@triangles), tsr_tile_small_begin() for each set,
 * tsr_tile_few_begin() for each triangle of a few blocks.
 */
struct tsr_triangle_set {
	/* Triangles that have been read; those before @next_triangle have been drawn. */
	struct tsr_tile_triangles triangles;
	unsigned int next_triangle;
	struct tsr_small small;
	/* Quads of small triangles that passed; those before @next_quad are in the warp group. */
	struct tsr_small_quads quads;
	unsigned int next_quad;
	unsigned int tested;		/* the first triangle that @quads has not been tested for */
	bool few;			/* the primitive in progress has only a few blocks */
	uint8_t few_first;		/* number of the first of them */
	unsigned int next_block;	/* the first of them that has not been shaded */
	struct tsr_fine_blocks blocks;
};

/*
 * The colors of primitives all of whose fragments have the same one. The members are kept apart
 * because the compiler's uniformity analysis is going to replace this route as a whole.
 *
 * Written by: flat.c; small.c and evicted.c clear @flat, warp_group.c and tile_core.c clear
 * @varying_read.
 * Reset by: begin_draw() in tile_core.c for each list of primitives, tsr_tile_flat_begin() for each
 * primitive (not @deferred), tsr_tile_flat_write_deferred() after a warp group (@deferred).
 */
struct tsr_tile_one_color {
	/* what all fragments of the primitive leave, without warp groups; NULL: they differ */
	const struct tsr_tile_colors *flat;
	struct tsr_tile_colors colors;	/* of this primitive alone */
	bool trial;			/* the group runs as soon as the primitive is in it */
	/*
	 * Blocks that get their colors when the warp group has run, which then holds one quad of
	 * each of their primitives and no other.
	 */
	struct tsr_tile_deferred deferred[TSR_TILE_DEFERRED_MAX];
	unsigned int deferred_count;
	bool asked;			/* @waits has been decided for this primitive */
	bool waits;			/* its blocks are deferred */
	struct tsr_varying varying;	/* the varying that was read last, if @varying_read */
	bool varying_read;		/* a varying was read since a warp group was run */
};

/*
 * The primitive in progress: its shape, the walk over its blocks, its depth, the block at hand.
 *
 * Written by: tile_core.c; few.c (@walk.rect, @shape.bias, @covered) for triangles of a few blocks;
 * flat.c and shade_block.c (@covered, @quads_left, @fresh) for blocks that they shade.
 * Reset by: begin_draw() for each list of primitives, set_up() for each primitive, next_block() for
 * each block, all in tile_core.c.
 */
struct tsr_tile_primitive {
	struct tsr_prim input;		/* as the list has it */
	bool has_prim;			/* @input has been read and not been begun */
	bool walking;			/* the primitive has been begun and may have blocks left */
	bool ended;			/* the list has no more primitives */
	bool has_plane;			/* @current and @range are those of @shape */
	struct tsr_shape shape;
	struct tsr_tile_plane current;	/* depth of @shape */
	struct tsr_depth_range range;
	struct tsr_walk_blocks walk;
	struct tsr_covered covered;	/* the block at hand, after early tests */
	uint64_t quads_left;		/* of it, not in a warp group yet: the lowest bit of each */
	uint16_t samples_left;		/* SAMPLE_SHADING: samples of the first of them */
	bool fresh;			/* none of the block's quads has been in a warp group */
	struct tsr_triangle_set set;
	struct tsr_tile_one_color color;
};

/*
 * Quads in flight: the warp group that is filled or runs, and its draw's state.
 *
 * Written by: tile_core.c and small.c (quads and primitives that are added), warp_group.c
 * (everything when the group runs), shade_block.c (@quad_block, @plan), draw_states.c (@push),
 * render.c and evicted.c (@fragments; evicted.c also clears @state).
 * Reset by: begin_draw() in tile_core.c for each list of primitives, change_draw() for each draw,
 * tsr_tile_run_bundle() after each group; @fragments is kept until tsr_tile_core_evict() or
 * tsr_render_free().
 */
struct tsr_tile_group {
	struct tsr_fragments *fragments;
	struct tsr_tile_state *state;	/* of all quads of the group; NULL: none */
	/* Push constants of the draw, and their place; 0: the program's own apply. */
	uint64_t push_va;
	unsigned int push_at;		/* in @push; those before it may be the group's */
	struct tsr_push push[TSR_BUNDLE_WARPS];
	struct tsr_tile_plane plane[TSR_BUNDLE_QUADS];	/* depth of each primitive of the group */
	int prim_index;			/* of the primitive in progress; -1: it is not there */
	uint64_t gathered;		/* bit n: the group has quads of block n */
	uint32_t pending[32];		/* ordered: quads of the tile that are in the group */
	/* fragments after late tests, because they have stored to the tile */
	uint16_t settled[TSR_BUNDLE_WARPS];
	bool running;			/* the group's program runs, or is going to */
	/* the block that was shaded last without a group; its plan, if quad_block.again */
	struct tsr_quad_block quad_block;
	bool settled_block;		/* its coverage is final */
	const struct tsr_plan *plan;
};

/*
 * Statistics of a core.
 *
 * Written by: every file that renders.
 * Reset by: render.c for each frame (@count, @queries) and when it has added @count to the queue's
 * counters; @queries by begin_draw() in tile_core.c, by tsr_tile_end_queries(), which adds them to
 * memory, and by varying_job.c for each batch; @cycles never.
 */
struct tsr_tile_stats {
	uint64_t count[TSR_TILE_COUNTS];
	uint64_t cycles;		/* of packets, and of clearing */
	struct tsr_tile_queries queries;
};

/*
 * A context, which stands for a core: the tile or batch it works on, and the state of that work. A
 * burst can end between any two steps, so everything that outlives a step is here.
 *
 * Written by: tile_core.c (@run, @phase, @list, @shader); varying_job.c (@run, @vertices, @ids,
 * @vertices_running); draw_states.c (@states, @programs); render_state_io.c (@run); render.c
 * and evicted.c (@prepared, memory that is allocated or freed). All of them count @effort down.
 * Reset by: tsr_tile_core_prepare() for each frame (@states, @programs); render.c for each frame
 * (@vertices_running) and when a job begins (@run, @phase); burst_of() in tile_core.c for each
 * burst (@effort, @shader).
 */
struct tsr_tile_core {
	struct tsr_job_core job;	/* the first member, see thread_pool.h */
	struct tsr_rendering *render;
	struct tsr_shader *shader;	/* of the thread that runs the core */
	/*
	 * The tiles, or batches, that it has taken and not begun. A batch in progress is the first
	 * of them, a tile in progress the one before.
	 */
	struct tsr_run run;
	uint64_t prepared;		/* @render->number of the frame that it is prepared for */
	uint8_t phase;			/* enum tsr_tile_phase */
	int32_t effort;			/* left in this burst */
	struct tsr_list list;
	struct tsr_tile_reader *reader;
	struct tsr_tile_state *states[TSR_TILE_STATES];
	struct tsr_programs programs;
	/* Varying programs. */
	struct tsr_vertex_run *vertices;
	uint32_t (*ids)[2];		/* of the batch that begins */
	bool vertices_running;
	/* Tiles. */
	struct tsr_tile_buffer buffer;
	struct tsr_tile_primitive prim;
	struct tsr_tile_group group;
	struct tsr_tile_stats stats;
};

/* Depth formats, as a tile needs them. */
struct tsr_depth_format {
	uint8_t bytes;
	double scale;			/* largest integer; 0: floating point */
};

enum tsr_render_phase {
	TSR_RENDER_CHAIN,		/* reads the chain of batches */
	TSR_RENDER_VARYING,		/* job: varying programs */
	TSR_RENDER_LIST,		/* fetches and executes packets */
	TSR_RENDER_TILES,		/* job: tiles */
};

struct tsr_rendering {
	struct tsr_job job;
	struct tsr_dispenser dispenser;	/* of the job: tiles, or batches */
	uint64_t number;		/* of the frame, among those that used this memory; not 0 */
	uint64_t serial;		/* of the frame, among all */
	uint64_t pc;			/* address of the command */
	uint8_t phase;			/* enum tsr_render_phase */
	bool resume;			/* from a snapshot, and the frame has not been read yet */
	bool resume_batches;		/* from a snapshot: cores have run some of them */
	bool packed;			/* cores may be without memory, see evicted.c */
	struct tsr_frame_info info;
	struct tsr_render_target color[TSR_RENDER_TARGETS_MAX], depth, stencil;
	struct tsr_format format[TSR_RENDER_TARGETS_MAX];
	uint8_t clear[TSR_RENDER_TARGETS_MAX][TSR_TEXEL_BYTES_MAX];
	struct tsr_depth_format depth_format;
	float depth_clear;
	uint8_t stencil_clear, stencil_bytes;
	bool together;			/* depth and stencil are parts of the same words */
	size_t tile_bytes;		/* of a tile buffer */
	struct tsr_frame_heap heap;
	bool has_heap;
	/* offsets of batches whose varying program runs; plus 1: other records share vertices */
	uint32_t *batch;
	bool sharing;			/* reading the chain: a record is shared with the next */
	uint32_t batches, batch_capacity;
	uint32_t next_batch;		/* reading the chain: offset of the next one */
	/* of the portion of the chain that @batch is: the first one, and @sharing there */
	uint32_t portion;
	bool portion_sharing;
	struct tsr_list list;
	struct tsr_list_tiles tiles;	/* in progress */
	uint64_t tile_count;
	unsigned int debug;		/* TSR_GFX_NO_… */
	const struct tsr_simd *simd;
	const struct tsr_fine *fine;	/* of @simd */
	struct tsr_tile_core core[];
};

/* ---- Between the files ----------------------------------------------------------------------- */

/* render.c: number of tiles of the LIST_TILES in @r->tiles. */
uint64_t tsr_render_tiles(const struct tsr_rendering *r);
/* render.c: length of the longest run of a job of that many tiles. */
uint32_t tsr_render_run(const struct tsr_rendering *r, uint64_t tiles);

/* render.c: memory of @c for the frame, as far as it has none; false: there is none to be had. */
bool tsr_tile_core_memory(struct tsr_tile_core *c);
/*
 * render.c: @c has memory for the frame, and nothing is left from the one before. Each context does
 * that when it begins its first tile or batch of a frame, so that threads do it side by side.
 */
enum tsr_step tsr_tile_core_prepare(struct tsr_tile_core *c, struct tsr_mem *mem);
static inline enum tsr_step tsr_tile_core_enter(struct tsr_tile_core *c, struct tsr_mem *mem)
{
	return c->prepared == c->render->number ? TSR_STEP_DONE : tsr_tile_core_prepare(c, mem);
}
/* Where in it each target of the tile is. */
void tsr_tile_lay_out(struct tsr_tile_core *c);
/* evicted.c: free memory of @c, but for what a tile, or varyings, in progress need if they are. */
void tsr_tile_core_evict(struct tsr_tile_core *c, bool tiles, bool batches);
/* evicted.c: the reverse of tsr_render_pack(), where the frame has been read; false: no memory. */
bool tsr_render_unpack(struct tsr_rendering *r);

/* draw_states.c: the state of a draw, filled from memory if need be. */
enum tsr_step tsr_tile_state_find(struct tsr_tile_core *c, struct tsr_mem *mem,
				  const struct tsr_batch *batch, struct tsr_tile_state **state);
/* The program that @state has for @stage, VARYING or FRAGMENT. */
enum tsr_step tsr_tile_program_find(struct tsr_tile_core *c, struct tsr_mem *mem,
				    const struct tsr_tile_state *state, enum tsr_stage stage,
				    const struct tsr_program **program);

/* The address of push constants at @offset of the heap; 0: there are none. */
static inline uint64_t tsr_tile_push_va(const struct tsr_tile_core *c, uint32_t offset)
{
	return offset ? c->render->heap.base + offset : 0;
}
/* Read push constants at @va for @program, which runs in @run next; 0: its own apply. */
enum tsr_step tsr_tile_push_read(struct tsr_tile_core *c, struct tsr_mem *mem, uint64_t va,
				 const struct tsr_program *program, struct tsr_stage_run *run);

static inline void tsr_tile_state_forget(struct tsr_tile_state *s)
{
	s->shader_state = s->draw_state = TSR_TILE_NO_STATE;
}

/*
 * fill.c: store color target 0, or @depth, of which the tile buffer has a first row only: soon,
 * with the tile beside it. False: it has to be stored now, and nothing waits any more.
 */
bool tsr_tile_fill(struct tsr_tile_core *c, struct tsr_mem *mem, bool depth);
/* Store what waits: before memory is read or written otherwise, and before the burst ends. */
void tsr_tile_fill_now(struct tsr_tile_core *c, struct tsr_mem *mem);

/* clear.c, tile_memory.c: bits of @which: color targets, then depth, then stencil. */
#define TSR_TILE_DEPTH_BIT (1u << TSR_RENDER_TARGETS_MAX)
#define TSR_TILE_STENCIL_BIT (2u << TSR_RENDER_TARGETS_MAX)
void tsr_tile_clear(struct tsr_tile_core *c, unsigned int which);
/* Have @texel in all of color target @rt, of a tile with one sample. */
void tsr_tile_paint(struct tsr_tile_core *c, unsigned int rt, const uint8_t *texel);
/* Have something in all targets: 0 where nothing is. */
void tsr_tile_define(struct tsr_tile_core *c);
/* Have all of those in the tile buffer of which it has only the first row. */
void tsr_tile_complete(struct tsr_tile_core *c, unsigned int which);
/* TILE_LOAD: what can wait is loaded by tsr_tile_load() when the first primitive needs it. */
enum tsr_step tsr_tile_ask(struct tsr_tile_core *c, struct tsr_mem *mem, unsigned int which);
enum tsr_step tsr_tile_load(struct tsr_tile_core *c, struct tsr_mem *mem, unsigned int which);
enum tsr_step tsr_tile_store(struct tsr_tile_core *c, struct tsr_mem *mem, unsigned int which);
/*
 * Execute the deferred load for primitives of @state, except for targets that @state may overwrite
 * block by block.
 */
enum tsr_step tsr_tile_load_for(struct tsr_tile_core *c, struct tsr_mem *mem,
				const struct tsr_tile_state *state);
/* Load those of @blocks (bit n: block n) that are absent, in any case. */
enum tsr_step tsr_tile_load_blocks(struct tsr_tile_core *c, struct tsr_mem *mem, uint64_t blocks);
/*
 * Move @count texels between @row and a row of @rt: from (@x, @y) of the tile's layer, sample @s,
 * on, each of @bytes.
 */
enum tsr_step tsr_tile_move_row(const struct tsr_tile_core *c, struct tsr_mem *mem,
				const struct tsr_render_target *rt, unsigned int bytes,
				unsigned int s, uint32_t x, uint32_t y, unsigned int count,
				uint8_t *row, bool write);
/* A depth as it is in memory, and back. */
static inline uint32_t tsr_depth_word(const struct tsr_depth_format *format, float z)
{
	uint32_t word;

	if (format->scale != 0)
		return z > 0 ? z < format->scale ? (uint32_t)z : (uint32_t)format->scale : 0;
	memcpy(&word, &z, sizeof(word));
	return word;
}

static inline float tsr_word_depth(const struct tsr_depth_format *format, uint32_t word)
{
	float z;

	if (format->scale != 0)
		return word & (uint32_t)format->scale;
	memcpy(&z, &word, sizeof(z));
	return z;
}

/* compress.c: load or store color target @rt, or (TSR_RENDER_TARGETS_MAX) depth, with tags. */
enum tsr_step tsr_tile_load_tagged(struct tsr_tile_core *c, struct tsr_mem *mem, unsigned int rt);
enum tsr_step tsr_tile_store_tagged(struct tsr_tile_core *c, struct tsr_mem *mem, unsigned int rt);

/* warp_group.c */
/* Depth of @block of the tile at sample @s by @plane: of the pixels of @mask, and of others. */
void tsr_tile_depth(const struct tsr_tile_core *c, const struct tsr_tile_plane *plane,
		    const struct tsr_zs *zs, unsigned int block_x, unsigned int block_y,
		    unsigned int s, uint64_t mask, float z[TSR_BLOCK_PIXELS]);
/* A depth that a program has written, as it is compared. Inline: of blocks on vectors. */
static inline float tsr_tile_written_depth(const struct tsr_zs *zs,
					   const struct tsr_tile_plane *plane, float z)
{
	double d = z > plane->low ? z : plane->low;

	d = d < plane->high ? d : plane->high;
	return zs->scale != 0 ? (d * zs->scale + 0x1.8p52) - 0x1.8p52 : d;
}
/* Run the bundle to its end and empty it. */
enum tsr_step tsr_tile_run_bundle(struct tsr_tile_core *c, struct tsr_mem *mem);
/* Add what queries have counted to memory. */
enum tsr_step tsr_tile_end_queries(struct tsr_tile_core *c, struct tsr_mem *mem);

/* flat.c */
/* True if fragments of the state may all leave the same, as far as the state tells. */
bool tsr_tile_may_be_flat(const struct tsr_tile_state *s, const struct tsr_rendering *r,
			  const struct tsr_env *env);
/* A primitive is about to be rasterised. */
void tsr_tile_flat_begin(struct tsr_tile_core *c);
/* The bundle has been run and written; is the rest of its last primitive like it? */
void tsr_tile_flat_look(struct tsr_tile_core *c);
/*
 * Take @color of @target while a block is shaded, then test if the rest of the primitive has the
 * same color.
 */
void tsr_tile_flat_take(struct tsr_tile_core *c, unsigned int target,
			const union tsr_lanes *color);
void tsr_tile_flat_look_at_block(struct tsr_tile_core *c);
/* Write the block with c->prim.color.flat; false: the bundle has to be run before. */
bool tsr_tile_flat_write(struct tsr_tile_core *c);
/*
 * Paint the tile, if the primitive, whose walk has begun, does no more than cover all of it with
 * its known color. Returns false if it has to be drawn.
 */
bool tsr_tile_flat_paint(struct tsr_tile_core *c);
/* True if blocks of the state's primitives may be left until the bundle has run. */
bool tsr_tile_flat_may_wait(const struct tsr_tile_core *c);
/*
 * Find out, once, whether the primitive's blocks are left for later (c->prim.color.waits): it is of
 * one color, which the bundle will tell. False: the bundle has to be run before.
 */
bool tsr_tile_flat_ask(struct tsr_tile_core *c);
/* Leave the block for later if the primitive's are; false: the bundle has to be run before. */
bool tsr_tile_flat_defer(struct tsr_tile_core *c);
/* The bundle has been run: write these blocks. */
void tsr_tile_flat_write_deferred(struct tsr_tile_core *c);

/* shade_block.c */
/* True if the state lets programs run for blocks of pixels. */
bool tsr_tile_may_be_blocks(const struct tsr_tile_state *s, const struct tsr_rendering *r,
			    const struct tsr_env *env);
/* Shade the block, or leave it for bundles; false: the bundle has to be run before. */
bool tsr_tile_block_shade(struct tsr_tile_core *c);
/* The rest of the block has got its colors without a warp group. Counts it. */
void tsr_tile_block_done(struct tsr_tile_core *c);

/* small.c */
/* c->prim.set.triangles have been read; their draw's state is c->group.state. */
void tsr_tile_small_begin(struct tsr_tile_core *c);
/* True if the next of them goes this way. */
bool tsr_tile_is_small(struct tsr_tile_core *c);
/* Draw it; false: the bundle has to be run before the rest of it. */
bool tsr_tile_small_draw(struct tsr_tile_core *c);

/* few.c */
/* Returns true if this file draws the next of c->prim.set.triangles, which is not small. */
bool tsr_tile_is_few(const struct tsr_tile_core *c);
/* Begin with number @n of them, up to early tests; false: nothing is left. */
bool tsr_tile_few_begin(struct tsr_tile_core *c, unsigned int n);
/* Its next block, after early tests: c->prim.covered; false: there is none. */
bool tsr_tile_few_next(struct tsr_tile_core *c);

/* varying_job.c: a step of a core that runs varying programs; _DONE: no batch is left for it. */
enum tsr_step tsr_tile_step_batch(struct tsr_tile_core *c, struct tsr_mem *mem);

/* tile_core.c */
/* Nothing begins before a snapshot: the burst ends. */
static inline enum tsr_step tsr_tile_rest(struct tsr_tile_core *c)
{
	c->effort = 0;
	return TSR_STEP_MORE;
}

/* The bit of the block in masks of the tile's. */
static inline uint64_t tsr_tile_block_bit(const struct tsr_tile_core *c)
{
	return 1ull << tsr_tile_block(&c->buffer.tile, c->prim.covered.x, c->prim.covered.y);
}
/* True if the bundle has quads of the block. */
static inline bool tsr_tile_gathered(const struct tsr_tile_core *c)
{
	return c->group.fragments->quads && c->group.gathered & tsr_tile_block_bit(c);
}
/* The primitive's place in the bundle's table, which has room for it. */
unsigned int tsr_tile_prim(struct tsr_tile_core *c);
/* Address of the outputs of vertex @slot, which are going to be read; 0: there are none. */
uint64_t tsr_tile_outputs(const struct tsr_tile_core *c, const struct tsr_batch *batch,
			  unsigned int slot);
/* Fill in the values of the batch for a primitive of the warp group; @p->prim is given. */
void tsr_tile_fill_prim(const struct tsr_tile_core *c, struct tsr_fragment_prim *p);
/* tsr_job.burst of tiles and of batches. */
enum tsr_burst tsr_tile_burst(struct tsr_shader *sh, const struct tsr_mem *mem,
			      struct tsr_work *work, struct tsr_job_core *core, bool again);
enum tsr_burst tsr_batch_burst(struct tsr_shader *sh, const struct tsr_mem *mem,
			       struct tsr_work *work, struct tsr_job_core *core, bool again);

/* render.c */
struct tsr_rendering *tsr_render_new(const struct tsr_env *env);
void tsr_render_free(struct tsr_rendering *r);

#endif
