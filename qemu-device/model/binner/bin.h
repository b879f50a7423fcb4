/* SPDX-License-Identifier: MIT */
/*
 * The BIN engine: a control list's draws into tile lists.
 *
 * In: BIN's control list and FRAME. Out: the heap (3d-heap.xml), statistics. The queue holds a
 * struct tsr_binning for a frame that is being binned. It is the whole state between two steps and
 * has no pointers into guest memory. Limits: those of 3d.xml. Reset state: no job.
 *
 *   bin.c        steps, packets of the list, draws
 *   bin_state.c  states: kept in versions, their descriptors read, checked, kept in pools
 *   geometry.c   draws with GEOMETRY: stage I/O memory, inputs of the fixed functions
 *   patches.c    hull shaders, the tessellator, domain shaders
 *   strips.c     geometry shaders, primitives of the emitted vertices
 *   stream_out.c primitives of draws with GEOMETRY to memory
 *   input.c      input assembly: indices to primitives of a batch
 *   project.c    positions of a batch: out-codes, window coordinates
 *   primitive.c  culling, set-up and the choice of tiles
 *   lanes*.c     both, for many at once
 *   clip.c       the clipper
 *   state_copies.c  copies of what RENDER reads of states
 *   binner.c     tile lists and batch records in the heap
 */
#ifndef TSR_BINNER_BIN_H
#define TSR_BINNER_BIN_H

#include <stdbool.h>
#include <stdint.h>

#include "engine.h"
#include "shader/access.h"
#include "shader/stage.h"
#include "frame.h"
#include "geometry/vertex_simd.h"
#include "list.h"
#include "geometry/out_codes.h"
#include "tsr_padding.h"
#include "shader/screen.h"

/* ---- States ---------------------------------------------------------------------------------- */

/* A viewport, as the arithmetic wants it: window x = (x * sx + w * ox) / w. */
struct tsr_bin_viewport {
	double sx, ox, sy, oy, sz, oz;
	double x_lo, x_hi, y_lo, y_hi, z_lo, z_hi;	/* its edges in the window */
	/* pixels that are drawn, the frame's edges considered: [x0, x1), none if x1 <= x0 */
	int32_t x0, y0, x1, y1;
};

/* Descriptors a state packet names. */
enum tsr_bin_kind {
	TSR_BIN_SHADER_STATE,
	TSR_BIN_DRAW_STATE,		/* with the viewports that it names */
	TSR_BIN_KINDS
};

/* No descriptor has this address: it is not aligned. */
#define TSR_BIN_NO_DESCRIPTOR UINT64_MAX

/* Entries for the descriptors of one kind. */
struct tsr_bin_pool {
	uint64_t va[TSR_STATE_DESCRIPTORS];	/* of the descriptor an entry is for */
	uint32_t read;			/* bit n: entry n holds what is there */
	uint8_t next;			/* where the search for an idle entry begins */
};

/* An entry of the pool for DRAW_STATE. */
struct tsr_bin_drawing {
	struct tsr_draw_state state;
	struct tsr_bin_viewport viewport[TSR_VIEWPORTS_MAX];
};

/*
 * A version of the state: what the list's packets have set. A draw keeps the version it was met
 * with, and with it the entries of the pools; packets after it change another one.
 */
struct tsr_bin_version {
	uint8_t entry[TSR_BIN_KINDS];	/* of its descriptors, if set */
	uint8_t set;			/* bit n: kind n is */
	uint64_t query[3];		/* addresses, by enum tsr_query */
	uint64_t stream_query[TSR_STREAM_OUT_STREAMS];	/* of kind STREAM */
	uint64_t stream_out;		/* STREAM_TARGETs; 0: none */
	/* addresses of push constants; 0: those in SHADER_PROGRAM apply */
	uint64_t vertex_push, fragment_push;
	uint8_t draws;			/* draws that wait with it */
	/* The entries, and what follows from both. */
	bool prepared;			/* the rest holds */
	const struct tsr_shader_state *shader;
	const struct tsr_geometry_state *geometry;	/* NULL: none */
	const struct tsr_draw_state *draw;
	const struct tsr_bin_viewport *viewport;
	bool has_distances;		/* clip or cull distances */
	bool writes;			/* point size, layer or viewport */
	/* of the present draw: its vertices have size, layer, viewport; points always have */
	bool extended;
	uint32_t reject, clip;		/* out-codes that all, or any, vertices must not have */
	float line_half;		/* half the width of lines */
};

/* ---- Copies of states ------------------------------------------------------------------------ */

/* Copies that BIN makes for a draw, in this order. */
enum tsr_bin_copy {
	TSR_BIN_COPY_SHADER,
	TSR_BIN_COPY_DRAW,
	TSR_BIN_COPY_VARYING,
	TSR_BIN_COPY_FRAGMENT,
	TSR_BIN_COPY_VARYING_PUSH,	/* of the constants that LIST_PUSH names */
	TSR_BIN_COPY_FRAGMENT_PUSH,
	TSR_BIN_COPIES
};

/* A program is the copy with most parts: itself and what it names. */
#define TSR_BIN_PARTS (1 + TSR_PARTS)

/* A copy in progress. */
struct tsr_bin_copying {
	struct tsr_part_place part[TSR_BIN_PARTS];
	uint32_t parts;			/* how many; 0: nothing is in progress */
	uint32_t base, bytes;		/* where in the heap it will be, and its size */
	uint32_t next, at;		/* part and byte of it to be moved next */
};

/* A copy that is in the heap. */
struct tsr_bin_kept {
	uint64_t va;			/* of the original */
	uint64_t key;			/* its kind, or the program that it is for */
	uint32_t copy;			/* its offset in the heap; 0: nothing here */
};

/* ---- Input ----------------------------------------------------------------------------------- */

#define TSR_BIN_INDICES 510		/* indices read at a time: whole triangles, and lines */

/* A draw in progress. */
struct tsr_bin_draw {
	uint64_t indices, index_bytes;
	uint64_t padded;
	uint32_t count, instances, first;
	int32_t start;			/* BASE_VERTEX, or FIRST without indices */
	uint32_t first_instance;
	uint8_t topology, index;
	bool restart;
	/* Where it is. */
	uint32_t instance, at;		/* the next index */
	uint32_t primitive;		/* id of the next primitive */
	uint32_t v[6];			/* vertices that wait for others */
	uint8_t have;			/* how many */
	bool odd;			/* the strip's next triangle is turned round */
	uint32_t loop;			/* LINE_LOOP: its first vertex */
	bool looped;			/* the loop has more than one vertex */
};

#define TSR_BIN_AHEAD 8			/* draws the list can be ahead of the one being binned */

/* A draw packet that waits. */
struct tsr_bin_ahead {
	uint64_t word[TSR_LIST_PACKET_QWORDS];
	uint64_t pc;
	uint8_t version;
};

#define TSR_BIN_TAGS_LOG2 9
#define TSR_BIN_TAGS (1 << TSR_BIN_TAGS_LOG2)
/* Vertices of a batch, and three that are put through another viewport. */
#define TSR_BIN_CORNERS (TSR_BATCH_VERTICES + 3)

/* The batch being filled or worked on. */
struct tsr_bin_batch {
	uint16_t vertices, primitives;
	/* hash of vertices: index << 32 | generation << 8 | slot */
	uint64_t tag[TSR_BIN_TAGS];
	uint32_t generation;		/* a 24-bit number; tags of others are invalid */
	/* primitives: slots, vertices, provoking, id as HEAP_PRIMITIVE has them */
	uint64_t primitive[TSR_BATCH_PRIMITIVES];
	/* Out-codes and window. After them those of one primitive in another viewport. */
	uint32_t code[TSR_BIN_CORNERS];
	struct tsr_screen_vertex screen[TSR_BIN_CORNERS];
	/*
	 * Out-codes of all vertices, and of any. Nothing else of the two is known if one in @all
	 * is a reason to reject.
	 */
	uint32_t all, any;
	uint16_t layer[TSR_BATCH_VERTICES];
	uint8_t viewport[TSR_BATCH_VERTICES];
	float size[TSR_BATCH_VERTICES];
	bool mixed;			/* vertices have several viewports */
	/* Where its work is. */
	uint16_t next;			/* primitive to be looked at next */
	uint32_t vertex_data, vertex_ids, vertex_extra, outputs;	/* offsets; 0: not yet */
};

/* ---- Output ---------------------------------------------------------------------------------- */

/* Most pieces a primitive is clipped to: 3 vertices and one more for each of 15 planes. */
#define TSR_CLIP_PIECES 16

/* A primitive that has survived. */
struct tsr_bin_out {
	uint64_t word;			/* HEAP_PRIMITIVE */
	uint16_t tx0, ty0, tx1, ty1;	/* tiles of its bounding box */
	uint16_t layer;
	float half;			/* lines and points: pixels it reaches beyond its axis */
	bool exact;			/* every tile of the box is touched, or nearly: no test */
};

/*
 * A tile's list being written. Tile n has place n mod TSR_BINNER_TILES; where another one has been
 * since, this is in the heap, see struct tsr_heap_tile.
 */
struct tsr_bin_tile {
	uint8_t block[TSR_HEAP_BLOCK_BYTES];
	uint32_t first;			/* offset of the list's first block, 0: it is empty */
	uint32_t at;			/* offset of the present one */
	uint32_t batch;			/* offset of the batch record it is in */
	int16_t last;			/* the last primitive of it in the list */
	uint8_t used;			/* bytes of @block */
	bool run;			/* its last byte can count one more primitive */
	uint32_t number;		/* of the tile, plus 1; 0: of none */
};

/* Next action of a step. */
enum tsr_bin_phase {
	TSR_BIN_LIST,			/* the list's next packet */
	TSR_BIN_BEGIN,			/* begin a draw: read its arguments and states */
	TSR_BIN_INPUT,			/* fill a batch */
	TSR_BIN_SHADE,			/* run its position program, or a stage of GEOMETRY */
	TSR_BIN_STAGES,			/* GEOMETRY: what comes after that stage */
	TSR_BIN_STREAM,			/* write its primitives to targets of stream-out */
	TSR_BIN_ASSEMBLE,		/* cull and clip its primitives */
	TSR_BIN_COPY,			/* copy the draw's states, if they have not been */
	TSR_BIN_RECORD,			/* write its record */
	TSR_BIN_TILES,			/* append primitives to tile lists */
	TSR_BIN_DRAWN,			/* the draw is done: add statistics to its query */
	TSR_BIN_FINISH,			/* complete the lists */
	TSR_BIN_HEADER,			/* complete the heap */
	TSR_BIN_COMPLETE,		/* all done */
};

/* Statistics; the query's words in this order, then those of the counters. */
enum tsr_bin_stat {
	TSR_BIN_INPUT_VERTICES,
	TSR_BIN_INPUT_PRIMITIVES,
	TSR_BIN_VERTEX_INVOCATIONS,
	TSR_BIN_CLIPPING_INVOCATIONS,
	TSR_BIN_CLIPPING_PRIMITIVES,
	TSR_BIN_HULL_PATCHES,
	TSR_BIN_DOMAIN_INVOCATIONS,
	TSR_BIN_GEOMETRY_INVOCATIONS,
	TSR_BIN_GEOMETRY_PRIMITIVES,
	TSR_BIN_QUERIED,		/* number of statistics in a query */
	TSR_BIN_DRAWS = TSR_BIN_QUERIED,
	TSR_BIN_BATCHES,
	TSR_BIN_CLIPPED,		/* primitives that had to be clipped */
	TSR_BIN_PRIMITIVES,		/* primitives (pieces) in the heap */
	TSR_BIN_ENTRIES,		/* pairs of a primitive and a tile */
	TSR_BIN_TILE_TESTS,		/* tiles looked at for primitives of several */
	TSR_BIN_HEAP_BYTES,		/* bytes of heap used */
	TSR_BIN_STATE_STALLS,		/* state packets that had to wait for a version */
	TSR_BIN_DESCRIPTOR_STALLS,	/* state packets that had to wait for an entry of a pool */
	TSR_BIN_UNIFORM_STALLS,		/* programs that had to wait for a place */
	TSR_BIN_TAG_STALLS,		/* batches that ended because tags were used up */
	TSR_BIN_PIPE_STALLS,		/* batches that ended for lack of room */
	TSR_BIN_STAGE_BLOCKS,		/* batches with stage I/O memory */
	TSR_BIN_STAGE_UNWRITTEN,	/* words of it, read but never written */
	TSR_BIN_PATCHES_CULLED,		/* patches with a factor that is not above 0 */
	TSR_BIN_GEOMETRY_VERTICES,	/* vertices that geometry shaders have emitted */
	TSR_BIN_GEOMETRY_STALLS,	/* groups of their threads that were not full */
	TSR_BIN_STREAM_PRIMITIVES,	/* primitives that stream-out has written */
	TSR_BIN_STREAM_OVERFLOWS,	/* primitives that did not fit into their targets */
	TSR_BIN_STATS
};

/* Amounts to add to a STATISTICS query. */
#define TSR_BIN_SUMS 32
struct tsr_bin_sum {
	uint64_t va;
	uint64_t more[TSR_BIN_QUERIED];
};

struct tsr_binning;

/* Run the batch's position program: fill bin->run->record. As tsr_vertex_run(). */
typedef enum tsr_step tsr_bin_shade(struct tsr_binning *bin, struct tsr_mem *mem);

struct tsr_binning {
	struct tsr_list list;
	struct tsr_frame_info info;
	uint8_t phase;			/* enum tsr_bin_phase */
	tsr_bin_shade *shade;
	bool single;			/* TSR_GFX_NO_STAGES */
	const struct tsr_bin_lanes *lanes;	/* of the SIMD path */
	/* The heap. */
	bool grows;			/* the heap belongs to the queue and grows */
	uint32_t used, last_batch, batches, lists;
	uint64_t capacity;		/* bytes the heap is known to have */
	struct tsr_bin_tile *tile;	/* as many as @places says */
	uint32_t places;		/* for tiles of the last frame that was begun */
	/* bit n: tile n is in the heap; NULL: there is a place for each */
	uint64_t *stored;
	uint32_t states;		/* offset of the array of HEAP_TILEs */
	uint32_t tables;		/* bytes of header, lists and that */
	/* States. */
	struct tsr_bin_version version[TSR_STATE_VERSIONS];
	uint8_t versions;		/* how many are used */
	uint8_t current;		/* the one the list's packets change */
	struct tsr_bin_pool pool[TSR_BIN_KINDS];
	struct tsr_shader_state shading[TSR_STATE_DESCRIPTORS];
	struct tsr_geometry_state geometry[TSR_STATE_DESCRIPTORS];	/* of shading[] */
	struct tsr_bin_drawing drawing[TSR_STATE_DESCRIPTORS];
	uint8_t descriptors;		/* how many entries of each pool are used */
	/* Copies. */
	uint8_t copied;			/* how many of the draw's @copy are there */
	uint32_t copy[TSR_BIN_COPIES];	/* offsets; 0: there is none */
	struct tsr_bin_copying copying;
	struct tsr_bin_kept kept[TSR_KEPT_COPIES];	/* by address */
	bool held;			/* list.word has been fetched and waits for draws */
	bool halted;			/* the list has ended */
	/* Draws that have been met and not begun or not done, oldest first. */
	struct tsr_bin_ahead ahead[TSR_BIN_AHEAD];
	uint8_t ahead_first, ahead_count;
	/* The draw and its batch. */
	struct tsr_bin_draw draw;
	struct tsr_bin_batch batch;
	struct tsr_bin_version *state;	/* of the draw; NULL: there is none */
	uint32_t drawn;			/* LIST_DRAW_INDIRECT: draws of it that are done */
	uint32_t index[TSR_BIN_INDICES];	/* indices [index_at, index_at + index_held) */
	uint32_t index_at, index_held;
	struct tsr_programs programs;
	struct tsr_push push;		/* of the draw's programs, if its version names them */
	bool pushed;			/* @push has been read */
	struct tsr_vertex_run *run;
	struct tsr_stages *stages;	/* NULL: no draw had GEOMETRY yet */
	/* Primitives that have survived and are not in lists yet. */
	uint16_t outs, clips;
	uint32_t record;		/* offset of their batch record */
	struct tsr_bin_out out[TSR_BATCH_PRIMITIVES];
	uint64_t clipped[TSR_BATCH_PRIMITIVES][TSR_HEAP_CLIPPED__QWORDS];
	uint16_t out_next;		/* the one whose tiles are next */
	uint16_t tile_x, tile_y;	/* the next of them; if tile_begun */
	bool tile_begun;
	uint32_t finish;		/* tile to be completed next */
	/* The present step. */
	int32_t effort;			/* work left of @step_effort */
	int32_t step_effort;		/* TSR_BIN_EFFORT */
	uint64_t read, written;		/* bytes */
	uint64_t cycles;		/* see counters.md, "The cost model" */
	bool entered;			/* the shader's part of the thread is in use */
	struct tsr_access_cache *access;
	uint64_t stat[TSR_BIN_STATS];	/* since the job began */
	uint64_t queried[TSR_BIN_QUERIED];	/* amounts in queries or in @sum */
	uint8_t sums;
	struct tsr_bin_sum sum[TSR_BIN_SUMS];	/* written at the end of the command */
	uint64_t told[TSR_BIN_STATS];	/* amounts that the counters have received */
};

/* Effort of a step: about one for each vertex, primitive, tile tested, 64 bytes moved. */
#define TSR_BIN_EFFORT 16384

/* @n indices, vertices, primitives, tiles or the like have been dealt with. */
static inline void tsr_bin_spend(struct tsr_binning *bin, uint32_t n)
{
	bin->effort -= n;
	bin->cycles += n;
}

/* bin.c. A job without lists; NULL: no memory. */
struct tsr_binning *tsr_bin_new(void);
void tsr_bin_free(struct tsr_binning *bin);
/* The command is complete: what another one has no use for goes. */
void tsr_bin_rest(struct tsr_binning *bin);
/* Begin @cmd, a BIN at @pc: check it, read its FRAME, begin its heap. _DONE: begun. */
enum tsr_step tsr_bin_begin(struct tsr_binning *bin, struct tsr_mem *mem, uint64_t pc,
			    const uint64_t *cmd);
/* Go on. _DONE: the frame's lists are in the heap. */
enum tsr_step tsr_bin_run(struct tsr_binning *bin, struct tsr_mem *mem);

/* Read @len bytes at @va through the job's pages. */
enum tsr_step tsr_bin_read(struct tsr_binning *bin, struct tsr_mem *mem, uint64_t va, void *to,
			   uint64_t len);

/* bin_state.c */
/* Forget all states. */
void tsr_bin_clear_states(struct tsr_binning *bin);
/*
 * LIST_SHADER_STATE, _DRAW_STATE, _PUSH, _QUERY and _STREAM_OUT. _PENDING: a draw has to be done
 * first.
 */
enum tsr_step tsr_bin_set_state(struct tsr_binning *bin, struct tsr_mem *mem);
/* Have the host's caches fetch what the draws after the one that begins are going to read. */
void tsr_bin_prefetch(const struct tsr_binning *bin, const struct tsr_mem *mem);
/* Address of a descriptor of @version, with which a draw waits. */
static inline uint64_t tsr_bin_va(const struct tsr_binning *bin,
				  const struct tsr_bin_version *version, enum tsr_bin_kind kind)
{
	return bin->pool[kind].va[version->entry[kind]];
}

/* Have bin->state read, checked and prepared. */
enum tsr_step tsr_bin_load_state(struct tsr_binning *bin, struct tsr_mem *mem);

/* state_copies.c */
/* Have what RENDER needs of the draw's states in the heap: bin->copy[]. _MORE: not all yet. */
enum tsr_step tsr_bin_copy_states(struct tsr_binning *bin, struct tsr_mem *mem);
/* A heap begins. */
void tsr_bin_forget_copies(struct tsr_binning *bin);

/* geometry.c: draws whose state has GEOMETRY. */
/* A draw begins; its packet stands in bin->draw. May be repeated. */
enum tsr_step tsr_geometry_begin(struct tsr_binning *bin, struct tsr_mem *mem);
/* SHADER_PROGRAM of the stage that is next, stages->stage. */
uint64_t tsr_geometry_program(const struct tsr_binning *bin);
/* Before the threads run: give them empty stage I/O memory. After they have run. */
void tsr_geometry_bind(struct tsr_binning *bin);
void tsr_geometry_shaded(struct tsr_binning *bin);

enum tsr_geometry_step {
	TSR_GEOMETRY_SHADE,		/* run threads of stages->stage */
	TSR_GEOMETRY_BATCH,		/* stream and draw what is in the batch now */
	TSR_GEOMETRY_AGAIN,		/* call again */
	TSR_GEOMETRY_END,		/* nothing is left of the batch that was assembled */
};

/* Next action for the batch, whose vertices have been shaded. */
enum tsr_geometry_step tsr_geometry_next(struct tsr_binning *bin);
void tsr_stages_free(struct tsr_stages *stages);
/* The outputs of vertex @slot: OUTPUT_STRIDE bytes. */
void tsr_geometry_outputs(const struct tsr_binning *bin, unsigned int slot, uint32_t *word);

/* input.c */
/* Begin an empty batch. */
void tsr_bin_batch_begin(struct tsr_binning *bin);
/* Fill the batch: _MORE when it is full, _DONE when the draw has ended. */
enum tsr_step tsr_bin_input(struct tsr_binning *bin, struct tsr_mem *mem);

/* project.c: what follows from the batch's position records. */
void tsr_bin_project(struct tsr_binning *bin);
/* Put vertex @slot through @viewport, to @corner of the arrays. */
void tsr_bin_project_as(struct tsr_binning *bin, unsigned int slot, unsigned int corner,
			unsigned int viewport);
/*
 * A vertex, or a corner the clipper makes: homogeneous window coordinates, distances from the
 * planes near and far.
 */
struct tsr_bin_corner {
	double xh, yh, zh, w, near, far;
};

/* Vertex @slot as @viewport sees it. */
struct tsr_bin_corner tsr_bin_corner(const struct tsr_binning *bin, unsigned int slot,
				     unsigned int viewport);
/* A vertex on the screen from its homogeneous window coordinates; w is at least TSR_CLIP_W_MIN. */
struct tsr_screen_vertex tsr_bin_screen(double xh, double yh, double zh, double w);

/* primitive.c: look at primitives from batch->next on, until all are done or bin->out is full. */
void tsr_bin_assemble(struct tsr_binning *bin);
/* Add a piece of a clipped triangle or line: corners, weights, and what it is a piece of. */
void tsr_bin_piece(struct tsr_binning *bin, uint64_t primitive, const struct tsr_screen_vertex *v,
		   const float (*weight)[3]);

/*
 * clip.c: clip a line or triangle, in the window of @viewport, against the planes of @planes
 * (out-codes), add its pieces. Its corners on the screen are at @corner[]. With no planes there is
 * one piece.
 */
void tsr_bin_clip(struct tsr_binning *bin, uint64_t primitive, const uint8_t *corner,
		  unsigned int viewport, uint32_t planes);

/* binner.c */
/* Write @len bytes at @va through the job's pages, at most a few. */
enum tsr_step tsr_bin_write(struct tsr_binning *bin, struct tsr_mem *mem, uint64_t va,
			    const void *from, uint32_t len);
/* Begin the heap: room for header and table, no content. */
enum tsr_step tsr_bin_heap_begin(struct tsr_binning *bin, struct tsr_mem *mem, uint64_t frame_va);
/* The first @bytes of the heap are to be used. _DONE: they are there. */
enum tsr_step tsr_bin_heap_need(struct tsr_binning *bin, struct tsr_mem *mem, uint64_t bytes);
/* Write the record of bin->out. */
enum tsr_step tsr_bin_write_record(struct tsr_binning *bin, struct tsr_mem *mem);
/* Append bin->out to lists. _MORE: the effort is used up. */
enum tsr_step tsr_bin_append(struct tsr_binning *bin, struct tsr_mem *mem);
/* Complete lists and table; then the header. */
enum tsr_step tsr_bin_finish_lists(struct tsr_binning *bin, struct tsr_mem *mem);
enum tsr_step tsr_bin_finish_heap(struct tsr_binning *bin, struct tsr_mem *mem);

/* Slots of a HEAP_PRIMITIVE. */
static inline unsigned int tsr_bin_slot(uint64_t primitive, unsigned int i)
{
	return primitive >> 8 * i & 0xff;
}

static inline unsigned int tsr_bin_vertices(uint64_t primitive)
{
	return primitive >> TSR_HEAP_PRIMITIVE_VERTICES__SHIFT & 3;
}

static inline unsigned int tsr_bin_provoking(uint64_t primitive)
{
	return tsr_bin_slot(primitive, primitive >> TSR_HEAP_PRIMITIVE_PROVOKING__SHIFT & 3);
}

#endif
