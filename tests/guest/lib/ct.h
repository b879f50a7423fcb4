/* SPDX-License-Identifier: MIT */
/*
 * Common code of compute tests in the guest: a context with a COMPUTE queue, programs from text,
 * running a dispatch. Header only. A failed set-up ends the program with "Bail out!".
 */
#ifndef CT_H
#define CT_H

#include "lt.h"
#include <tessera/compute.h>

struct ct {
	struct lt lt;			/* its queue is COPY, its stream and sync are ours */
	struct tsr_queue *queue;	/* COMPUTE */
	const struct drm_tessera_shader_info *shader;
};

static inline void ct_new_queue(struct ct *c)
{
	tsr_queue_unref(c->queue);
	lt_must("queue", tsr_queue_create(c->lt.vm, DRM_TESSERA_ENGINE_COMPUTE,
					  DRM_TESSERA_PRIORITY_NORMAL, 0, &c->queue));
}

static inline struct ct ct_open(void)
{
	struct ct c = { .lt = lt_open() };

	c.shader = tsr_device_shader_info(c.lt.device);
	ct_new_queue(&c);
	return c;
}

static inline void ct_close(struct ct *c)
{
	tsr_queue_unref(c->queue);
	lt_close(&c->lt);
}

/* ct_program(): a program from text; the caller drops it. */
static inline struct tsr_shader *ct_program(struct ct *c, const char *name, const char *text)
{
	struct tsr_shader *program;

	lt_must(name, tsr_shader_assemble(c->lt.code, text, strlen(text), name, &program));
	return program;
}

/* ct_storage(): all of an allocation, read and written, from push constant @push_word on. */
static inline struct tsr_storage ct_storage(const struct tsr_alloc *data, uint32_t push_word)
{
	return (struct tsr_storage){ data->va, data->size, TSR_SHADER_READ | TSR_SHADER_WRITE,
				     push_word };
}

/* ct_start(): submit what the stream holds; @sync signals. */
static inline int ct_start(struct ct *c, struct tsr_sync *sync)
{
	return tsr_queue_run(c->queue, c->lt.stream, sync, 0);
}

/* ct_finish(): run what the stream holds to its end and empty it; what the job's fence says. */
static inline int ct_finish(struct ct *c)
{
	int ret = ct_start(c, c->lt.sync);

	if (!ret)
		ret = tsr_sync_finish(c->lt.sync, 0, LT_LONG);
	tsr_stream_reset(c->lt.stream);
	return ret;
}

/* ct_run(): one dispatch, to its end. */
static inline int ct_run(struct ct *c, const struct tsr_dispatch_info *d)
{
	int ret = tsr_cmd_dispatch(c->lt.stream, d, sizeof(*d));

	return ret ? ret : ct_finish(c);
}

static inline struct drm_tessera_queue_get_state ct_state(struct ct *c)
{
	struct drm_tessera_queue_get_state state;

	lt_must("queue state", tsr_queue_get_state(c->queue, &state, sizeof(state)));
	return state;
}

/* The address of element @reg of the storage buffer at uniform @u, into t0 and t1. */
#define CT_ELEMENT(u, reg) \
	"\t*SHADDXL.u32 t0, u" #u ".w0, " reg ", shift:2\n" \
	"\t+SHADDXH.i32 t1, u" #u ".w1, t\n"

/*
 * A program that works on one number of a buffer for each thread, r0 = r0 * 3 + thread: what a
 * bystander runs, since any lost or repeated step shows. u2 is the buffer.
 */
#define CT_WORK \
	".local 64, 1, 1\n" \
	"clause slot=0 wait=0 {\n" \
	CT_ELEMENT(2, "r60") \
	"\t+LOAD.i32 t0, t1, @r0\n" \
	"}\n" \
	"clause slot=0 end {\n" \
	"\t*IMUL.i32 t0, r0, 3\n" \
	"\t+IADD.u32 r0, t, r60\n" \
	CT_ELEMENT(2, "r60") \
	"\t+STORE.i32 t0, t1, @r0\n" \
	"}\n"

static inline uint32_t ct_work(uint32_t value, uint32_t thread, unsigned int rounds)
{
	while (rounds--)
		value = value * 3 + thread;
	return value;
}

#endif /* CT_H */
