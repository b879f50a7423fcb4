/* SPDX-License-Identifier: MIT */
/*
 * A batch: what is drawn to one framebuffer, from its first clear or draw to its submission. It
 * owns the memory that its lists name, and holds references on the BOs, until the GPU is done with
 * it.
 */
#ifndef TG_BATCH_H
#define TG_BATCH_H

#include "pipe/p_state.h"
#include "util/list.h"
#include "util/set.h"
#include "util/u_dynarray.h"

#include "tg_bo.h"
#include "tsr_packets.h"
#include "tsr_regs.h"

#define TG_COLORS	8
#define TG_DEPTH_BIT	(1u << 8)	/* of masks of targets; color target n is bit n */
#define TG_STENCIL_BIT	(1u << 9)

struct tg_code;
struct tg_context;

/* Memory and references of a batch, and later of the jobs that use them. */
struct tg_job {
	struct list_head link;		/* in tg_screen.batches */
	uint64_t point, number;		/* the batch's */
	struct tg_context *ctx;		/* whose it is; NULL: the context is gone */
	uint32_t queues;		/* bit n: a job on the screen's queue n */
	uint32_t early;			/* of those, the ones that do not signal the point */
	struct util_dynarray bos;	/* struct tg_bo *, referenced */
	struct util_dynarray codes;	/* struct tg_code *, referenced */
	struct util_dynarray chunks;	/* struct tsr_alloc of tg_screen.lists */
};

struct tg_batch {
	struct tg_context *ctx;
	struct tg_job *job;
	uint64_t number;		/* unique in the process, never 0 */
	uint64_t *end[TG_ENGINES];	/* room for the packet that ends the stream of the engine */
	struct set *used, *written;	/* struct tg_bo *: all of job->bos; those that it writes */
	struct pipe_framebuffer_state fb;	/* referenced */
	unsigned samples_log2, layers;

	uint8_t *chunk;			/* the one that is filled */
	uint64_t chunk_va, chunk_size, chunk_used;

	uint64_t list_va, *list;	/* BIN's list: where it begins; the piece that is filled */
	uint32_t list_size;		/* bytes of the first piece, 0 while it is filled */
	uint32_t list_used;		/* qwords of the piece */
	struct util_dynarray packets;	/* uint64_t: of a batch of copies, its stream */
	uint64_t staged;		/* bytes of staging memory, or of memory replaced */

	uint32_t targets;		/* there are */
	uint32_t cleared;		/* are cleared when a tile begins */
	uint32_t drawn;			/* draws read or write them */
	uint32_t drawn_by_state;	/* draws with the present state do */
	uint32_t invalid;		/* need not be stored */
	union pipe_color_union color[TG_COLORS];
	float depth;
	uint8_t stencil;

	uint64_t draws, vertices;
	uint64_t bin_wait;		/* point whose results the vertex shaders read; 0: none */
	bool bin_copies;		/* vertex shaders read what the copies before it write */
	bool layered;			/* draws choose their layer; else they are in the first */
	bool failed;			/* no memory: it is dropped when it is flushed */
};

/* tg_batch_get(): the batch of the context's framebuffer; NULL if there is no memory. */
struct tg_batch *tg_batch_get(struct tg_context *ctx);

/*
 * tg_batch_new(): one without a framebuffer, for a dispatch or copies; NULL if there is no memory.
 */
struct tg_batch *tg_batch_new(struct tg_context *ctx);

/*
 * tg_batch_submit_alone(): submit its stream to @engine as one job, and free it.
 * tg_batch_drop(): only free it.
 */
void tg_batch_submit_alone(struct tg_batch *batch, enum tg_engine engine, uint64_t va,
			   uint32_t size);
void tg_batch_drop(struct tg_batch *batch);

/* tg_batch_alloc(): memory that the GPU may read and execute, up to the batch's end. */
void *tg_batch_alloc(struct tg_batch *batch, uint64_t size, uint32_t align, uint64_t *va);

/* tg_batch_packet(): room in BIN's list. */
uint64_t *tg_batch_packet(struct tg_batch *batch, unsigned qwords);

/* tg_batch_use(): the batch reads @bo, or writes it too. */
void tg_batch_use(struct tg_batch *batch, struct tg_bo *bo, bool write);

/* tg_batch_use_binned(): its vertex shaders, or the binner, read @bo. */
void tg_batch_use_binned(struct tg_batch *batch, struct tg_bo *bo);

/* tg_batch_has(), tg_batch_has_written(): whether it uses @bo, or writes it. */
bool tg_batch_has(const struct tg_batch *batch, const struct tg_bo *bo);
bool tg_batch_has_written(const struct tg_batch *batch, const struct tg_bo *bo);

/* tg_batch_use_code(): it runs @code. */
void tg_batch_use_code(struct tg_batch *batch, struct tg_code *code);

/*
 * tg_batch_uses(), tg_batch_writes(): whether one of the context's batches that are not submitted
 * does: the frame's or that of the copies before it.
 */
bool tg_batch_uses(const struct tg_context *ctx, const struct tg_bo *bo);
bool tg_batch_writes(const struct tg_context *ctx, const struct tg_bo *bo);

/* tg_batch_submit(): hand it to the kernel and free it. */
void tg_batch_submit(struct tg_batch *batch);

/* tg_job_free(): the GPU is done with it. */
void tg_job_free(struct tg_screen *screen, struct tg_job *job);

/* tg_screen_retire(): free what is done; the screen's lock is held by nobody. */
void tg_screen_retire(struct tg_screen *screen);

#endif
