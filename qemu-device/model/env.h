/* SPDX-License-Identifier: MIT */
/*
 * The environment of the engines: what they use of the device, and of the thread that runs them.
 *
 * The engines (binner, tile, shader, copy) never see struct tsr_gpu. The device fills one struct
 * tsr_env when it is made; engines only read it. A struct that engines could write, or the device
 * itself, would let any engine depend on any other part of the device.
 */
#ifndef TSR_ENV_H
#define TSR_ENV_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "memory/view.h"
#include "tsr_gpu.h"

struct tsr_counters;
struct tsr_msg_path;
struct tsr_shader;
struct tsr_shader_view;
struct tsr_simd;

/* Debug configuration (property "debug"): optimizations that are switched off. */
enum {
	TSR_GFX_NO_EARLY = 1,		/* no early tests but forced ones */
	TSR_GFX_NO_HIZ = 2,		/* no tests of whole blocks */
	TSR_GFX_NO_COMPRESSION = 4,	/* tags PLANES and UNIFORM are never written */
	TSR_GFX_NO_FAST_CLEAR = 8,	/* tag CLEAR is never written */
	TSR_GFX_NO_FLAT = 16,		/* programs run for every fragment */
	TSR_GFX_NO_BLOCKS = 32,		/* fragments run in warp groups only */
	TSR_GFX_NO_SMALL = 64,		/* triangles are set up one by one */
	TSR_GFX_NO_STAGES = 128,	/* blocks after the vertex shader have one primitive */
};

#define TSR_TEXTURE_L2_LINES 4096		/* 64-byte lines, direct mapped */

/* Bytes between words that different threads write often: processors fetch two lines at a time. */
#define TSR_LINE_PAIR 128

struct tsr_env {
	const struct tsr_config *cfg;	/* all defaults are filled in */
	const struct tsr_simd *simd;	/* SIMD path of all engines */
	/* messages of warp groups on it; NULL: lane by lane, the reference that tests choose */
	const struct tsr_msg_path *msg_path;
	/* Debugger of shaders, see shader/debug.h. NULL without one. */
	void (*shader_hook)(void *opaque, const struct tsr_shader_view *view);
	void *shader_hook_opaque;
	/*
	 * For measurements: a context of RENDER goes on to its next tile, or with @batches batch,
	 * of the @count that its job has, or finds none. NULL if nothing is measured.
	 */
	void (*next_hook)(void *opaque, bool batches, uint64_t count);
	void *next_hook_opaque;
	bool drain;			/* cores finish what they have begun and begin nothing */
	_Atomic uint64_t *serial;	/* last number that tsr_env_serial() returned */
	_Atomic uint64_t *texture_l2;	/* TSR_TEXTURE_L2_LINES tags, see tex_cache.h */
	pthread_mutex_t *tag_lock;	/* blocks with tags are being expanded, see tags.h */
	struct tsr_counters *counters;	/* for the clocks below */
};

/* Returns a number that is not 0 and that no other shader, push constants or draw state has. */
static inline uint64_t tsr_env_serial(const struct tsr_env *env)
{
	return atomic_fetch_add_explicit(env->serial, 1, memory_order_relaxed) + 1;
}

static inline void tsr_env_next(const struct tsr_env *env, bool batches, uint64_t count)
{
	if (env->next_hook)
		env->next_hook(env->next_hook_opaque, batches, count);
}

/* GPU.TIMESTAMP, see tsr_clock() of counters.h. */
uint64_t tsr_env_clock(const struct tsr_env *env);
/* Modelled cycles that threads have reported to the global counter GPU_CYCLES. */
uint64_t tsr_env_cycles(const struct tsr_env *env);

/*
 * Counters of fast and slow paths. All paths give the same results, so only these counters show
 * that a fast path is no longer used. They belong to the library and are not visible to a guest.
 */
enum tsr_path {
	TSR_PATH_TUPLES_NATIVE,		/* tuples of warp groups, by compiled code */
	TSR_PATH_TUPLES,		/* tuples of warp groups, by the interpreter */
	TSR_PATH_LOOPS,			/* times a warp executed a loop as one piece */
	TSR_PATH_CLAUSES_DECODED,	/* clauses that were decoded */
	TSR_PATH_CLAUSES_COMPILED,	/* clauses that were compiled, in each form */
	TSR_PATH_MESSAGES_TOGETHER,	/* messages of warps, together with others or on vectors */
	TSR_PATH_MESSAGES,		/* messages of warps, lane by lane */
	TSR_PATH_TRIANGLES_TOGETHER,	/* primitives set up in a vector */
	TSR_PATH_TRIANGLES,		/* primitives set up one by one */
	TSR_PATH_TILES_PAINTED,		/* primitives that cover their tile with one color */
	TSR_PATHS
};

/* A thread that runs engines. Only that thread uses it, except @port.stop. */
struct tsr_thread {
	const struct tsr_env *env;
	struct tsr_port port;		/* its way to memory */
	struct tsr_shader *shader;	/* its state for shaders; NULL until it runs one */
	/* modelled cycles that the engine's next step should not exceed; a burst may be longer */
	uint64_t budget;
	/* tsr_interval_caches() of the command that it executes */
	uint64_t caches;
	uint64_t unreported;		/* modelled cycles not yet in the global counter */
	uint64_t path[TSR_PATHS];	/* by enum tsr_path, since the device was made */
};

#endif
