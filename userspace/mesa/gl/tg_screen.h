/* SPDX-License-Identifier: MIT */
/* The device as all contexts of a process share it. */
#ifndef TG_SCREEN_H
#define TG_SCREEN_H

#include <stdatomic.h>

#include "compiler/nir/nir.h"
#include "pipe/p_screen.h"
#include "util/list.h"
#include "util/simple_mtx.h"
#include "util/slab.h"

#include "tg_counters.h"

#include <tessera/tessera.h>

enum tg_engine { TG_BIN, TG_RENDER, TG_COMPUTE, TG_COPY, TG_ENGINES };

/*
 * Queues: one for each engine and priority. Contexts of the same priority share theirs; those of a
 * priority that no context has are not created.
 */
#define TG_PRIORITIES	3	/* DRM_TESSERA_PRIORITY_LOW to HIGH */
#define TG_QUEUES	(TG_PRIORITIES * TG_ENGINES)

static inline unsigned tg_queue_number(unsigned priority, enum tg_engine engine)
{
	return priority * TG_ENGINES + engine;
}

#define TG_HEAPS	2	/* tiler heaps, used in turn */
#define TG_BO_BUCKETS	24	/* sizes of the cache: powers of two from a page on */
#define TG_PART_BUCKETS	7	/* sizes of parts of a BO: powers of two from 256 bytes on */

enum tg_debug {
	TG_DEBUG_SYNC = 1 << 0,		/* wait for each batch, say what went wrong */
	TG_DEBUG_TRACE = 1 << 1,	/* print what is submitted */
	TG_DEBUG_SHADERS = 1 << 2,	/* print shaders as they are compiled */
	TG_DEBUG_LISTS = 1 << 4,	/* print packets and the states that they name */
	TG_DEBUG_NOCACHE = 1 << 3,	/* allocate and free memory with each resource */
	TG_DEBUG_NOCOPY = 1 << 5	/* copy by the CPU and by drawing only */
};

/* How far each queue is. A job that does not come to its end leaves no point. */
struct tg_progress {
	uint64_t begun[TG_QUEUES];	/* number of the batch that began last */
	/* the points of the jobs that ended last: that signal their point, and of tg_job.early */
	uint64_t last[TG_QUEUES], early[TG_QUEUES];
};

struct tg_screen {
	struct pipe_screen base;
	uint32_t debug;				/* enum tg_debug */
	struct tsr_device *device;
	struct tsr_vm *vm;			/* one address space for all contexts */
	struct tsr_pool *code;			/* shaders: the GPU reads and executes */
	struct tsr_pool *lists;			/* what a batch writes: likewise */
	struct slab_parent_pool transfers;
	struct nir_shader_compiler_options options;	/* of the compiler, for all other shaders */
	struct nir_shader_compiler_options stage_options;	/* tessellation, geometry shaders */
	struct disk_cache *cache;		/* NULL if there is none */
	struct sw_winsys *winsys;	/* shows textures, see tg_window.h; NULL if dma-bufs do */

	simple_mtx_t lock;			/* protects what follows */
	uint32_t priorities;	/* bit n: there are, or were, contexts of priority n */
	struct tsr_queue *queue[TG_QUEUES];
	struct tg_bo *progress;		/* struct tg_progress, which jobs write */
	struct tsr_tiler_heap *heap[TG_HEAPS];
	struct tsr_sync *timeline;		/* each batch is a point */
	struct tsr_submit *submit;
	uint64_t submitted;			/* the last point */
	unsigned submitted_priority;		/* that of its context */
	uint64_t order_point;	/* the last one of a dispatch, or of copies without a frame */
	uint32_t asked, usable;	/* bit n: queue n was asked for; it exists */
	struct tg_bo *scratch[TG_ENGINES];	/* of shaders; NULL: none was needed yet */
	uint32_t scratch_size[TG_ENGINES];	/* bytes of a thread */
	uint64_t heap_point[TG_HEAPS];		/* batch that used a heap last */
	struct list_head batches; /* struct tg_job: submitted and not known to be done */
	struct list_head bo_cache[TG_BO_BUCKETS]; /* struct tg_bo nobody uses, the oldest first */
	struct list_head part_cache[TG_PART_BUCKETS];	/* likewise, parts of a BO */
	uint64_t bo_cached;			/* bytes of all of them */
	struct list_head codes;			/* struct tg_code */
	struct list_head shared;		/* struct tg_bo that have a dma-buf */

	tg_counters counters;
	_Atomic uint64_t completed;		/* points up to here are done */
	_Atomic bool refused;			/* the last allocation failed, which was said */
};

static inline struct tg_screen *tg_screen(struct pipe_screen *screen)
{
	return (struct tg_screen *)screen;
}

/* Any thread may read what jobs have written so far. */
const struct tg_progress *tg_screen_progress(const struct tg_screen *screen);

/* Returns true if the batch with this point is known to be done, without asking the kernel. */
bool tg_screen_reached(struct tg_screen *screen, uint64_t point);
/* Returns true if it is done; asks the kernel if that is not known. */
bool tg_screen_done(struct tg_screen *screen, uint64_t point);

/* Wait until it is, timeout in nanoseconds; false: it is not. */
bool tg_screen_wait(struct tg_screen *screen, uint64_t point, uint64_t timeout);

/*
 * Make new queues in place of those that are missing or dead, the lock held. The contexts whose
 * batches were lost with a dead one are told: the one whose batch was at fault, and the others.
 * False with a message: there are no queues.
 */
bool tg_screen_mend(struct tg_screen *screen);

/*
 * tg_screen_add_priority(): a context of this priority is created. False with a message: there are
 * no queues for it.
 */
bool tg_screen_add_priority(struct tg_screen *screen, unsigned priority);

/*
 * tg_screen_has_engine(): whether there is a queue of COPY or COMPUTE for the driver's own work.
 * A queue takes a slot of the hardware with its first job, so it is asked for once, when it is
 * needed first. What the driver does with it must have another way.
 */
bool tg_screen_has_engine(struct tg_screen *screen, unsigned priority, enum tg_engine engine);

/*
 * tg_screen_scratch(): scratch of at least @bytes for each thread of an engine, with a reference;
 * NULL if there is no memory. @size: bytes of a thread, which say where a thread's scratch is, so
 * programs that run at the same time and share it must have the same. All jobs of an engine share
 * it, since they run one after the other. It grows and is kept until the screen ends.
 */
struct tg_bo *tg_screen_scratch(struct tg_screen *screen, enum tg_engine engine, uint32_t bytes,
				uint32_t *size);

/* A context ends: its batches belong to none from here on. */
struct tg_context;
void tg_screen_forget(struct tg_screen *screen, const struct tg_context *ctx);

void tg_screen_init_caps(struct tg_screen *screen);

#endif
