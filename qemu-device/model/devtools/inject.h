/* SPDX-License-Identifier: MIT */
/*
 * Fault injection, see Documentation/hw/debug-unit.md.
 *
 * In: scripts from the host and from INJECT.TEXT, and one call for each occasion at which a fault
 * is possible. Out: the decision, and deferred events. Without a rule the call costs one load
 * (hooks.h). Limits: TSR_INJECTION_RULES_MAX rules, TSR_INJECT_DEFERRED_MAX deferred events. A
 * further event happens at once, or not at all.
 */
#ifndef TSR_INJECT_H
#define TSR_INJECT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "hooks.h"
#include "tsr_regs.h"

#define TSR_INJECT_DEFERRED_MAX 64
#define TSR_INJECT_KINDS TSR_INJECT_FIRED__COUNT
/* Size of the block of registers. */
#define TSR_INJECT_BYTES (TSR_INJECT_FIRED__OFFSET + TSR_INJECT_KINDS * TSR_INJECT_FIRED__STRIDE)

/* A rule, as the script gives it. */
struct tsr_inject_rule {
	uint8_t kind;			/* enum tsr_injection */
	int8_t queue, cls, vector;	/* -1: any */
	int16_t as;			/* -1: any */
	uint64_t job;			/* 0: any */
	uint64_t first, last;		/* addresses */
	uint64_t skip;			/* occasions to let pass */
	uint64_t times;			/* faults, UINT64_MAX: no end */
	uint32_t chance;		/* of 2^32 - 1 */
	uint64_t delay;			/* in ns; UINT64_MAX: not given */
	uint64_t seed;
	uint64_t seen, fired;		/* occasions, faults so far */
};

/* Something that happens at a later time. */
struct tsr_inject_deferred {
	uint64_t when;			/* host clock */
	enum {
		TSR_DEFERRED_MESSAGE,	/* of @vector */
		TSR_DEFERRED_STORE,	/* @value to @addr of @as */
		TSR_DEFERRED_STOP,		/* the slot @queue does as it was told */
		TSR_DEFERRED_RESET,	/* the device's reset is complete */
	} what;
	uint8_t vector, as, queue;
	uint64_t addr, value;
};

struct tsr_inject {
	pthread_mutex_t lock;		/* a leaf: protects what follows */
	struct tsr_inject_rule rule[TSR_INJECTION_RULES_MAX];
	unsigned int rules;
	struct tsr_inject_deferred deferred[TSR_INJECT_DEFERRED_MAX];
	unsigned int deferred_count;
	_Atomic uint32_t fired[TSR_INJECT_KINDS];

	/* registers; protected by the device's lock */
	char text[TSR_INJECTION_TEXT_MAX + 1];	/* of INJECT.TEXT, so far */
	unsigned int length;
	uint32_t status;		/* INJECT.STATUS without RULES */
};

/* A parsed script, see inject_script.c. */
struct tsr_inject_script {
	struct tsr_inject_rule rule[TSR_INJECTION_RULES_MAX];
	unsigned int rules;
	bool clear;			/* remove the present rules */
	char err[96];			/* the error, if the script is malformed */
	unsigned int position;		/* characters before the error */
};
bool tsr_inject_parse(struct tsr_inject_script *script, const char *text);

void tsr_inject_init(struct tsr_gpu *gpu);
void tsr_inject_free(struct tsr_gpu *gpu);

/*
 * Defer @deferred by @delay ns; somebody has to come by with the lock and tsr_inject_arm(). False:
 * too much is put off already. Any thread.
 */
bool tsr_inject_defer(struct tsr_gpu *gpu, struct tsr_inject_deferred deferred, uint64_t delay);
/* Do what is due at host clock @now. Lock held. */
void tsr_inject_expired(struct tsr_gpu *gpu, uint64_t now);

/* The hooks, see hooks.h. */
void tsr_inject_arm(struct tsr_gpu *gpu);
bool tsr_inject_ask(struct tsr_gpu *gpu, unsigned int kind, const struct tsr_inject_at *at,
		    uint64_t *delay);
enum tsr_step tsr_inject_fence(struct tsr_mem *mem, uint64_t addr, uint64_t value);
bool tsr_inject_message(struct tsr_gpu *gpu, unsigned int vector, uint64_t bits);
uint8_t tsr_inject_walk(const struct tsr_mem *mem, uint64_t va);
bool tsr_inject_stop(struct tsr_queue *q);
void tsr_inject_reset(struct tsr_gpu *gpu);
bool tsr_inject_flr(struct tsr_gpu *gpu);
bool tsr_inject_gone(struct tsr_gpu *gpu);
bool tsr_inject_hangs(struct tsr_runner *runner, struct tsr_queue *q, bool first);
void tsr_inject_slow(struct tsr_runner *runner, struct tsr_queue *q);
void tsr_inject_corrupt(struct tsr_runner *runner, struct tsr_queue *q);

/* Registers of block INJECT. Lock held. */
uint32_t tsr_inject_read(struct tsr_gpu *gpu, uint32_t offset);
void tsr_inject_write(struct tsr_gpu *gpu, uint32_t offset, uint32_t value);

#endif
