/* SPDX-License-Identifier: MIT */
/*
 * Capture of a job: everything that is needed to run one CALL of a ring again somewhere else.
 *
 * In: what to capture, from the host; the units tell of the CALL's beginning and end and of each
 * page before it is touched for the first time. Out: one file's bytes (tsr_capture.h). Nothing is
 * cached when a captured CALL begins, so each page is translated before it is touched, and what it
 * holds then is what the job found. Limits: cfg.capture_pages; one capture at a time, and none
 * while the host has not taken the last one's file.
 */
#ifndef TSR_CAPTURE_H
#define TSR_CAPTURE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hooks.h"
#include "tsr_capture.h"
#include "tsr_regs.h"

#define TSR_CAPTURE_BYTES (TSR_CAPTURE_STATUS__OFFSET + 4)	/* of registers */

/* A page that the job has touched. */
struct tsr_capture_touched {
	uint64_t va;
	uint32_t flags;
	uint8_t before[TSR_CAPTURE_PAGE];
};

struct tsr_capture {
	pthread_mutex_t lock;		/* a leaf: protects what follows */
	bool only_failed;		/* keep what did not end well, drop the rest */
	int queue;			/* -1: any */
	uint64_t job;			/* of @queue; 0: the next */
	unsigned int as;		/* of the job being captured */
	struct tsr_queue *q;		/* whose job it is */
	struct tsr_capture_header header;
	struct tsr_capture_touched **page;	/* in the order in which they were touched */
	uint32_t *index;		/* hash of virtual addresses: 1 + number in @page */
	bool overflow;			/* some could not be captured */
	bool too_large;			/* because of cfg.capture_pages, not for want of memory */
	bool reported;			/* a job that was too large has been reported */
	uint8_t *result;		/* the file, once it is complete */
	size_t size;
	/* registers; protected by the device's lock */
	bool window;			/* the host takes what the guest asks for */
	char text[TSR_CAPTURE_TEXT_MAX + 1];
	unsigned int length;		/* of @text; one more: it is too long */
	enum tsr_capture_result verdict;
	atomic_uint captured;
};

void tsr_capture_init(struct tsr_gpu *gpu);
void tsr_capture_free(struct tsr_gpu *gpu);
/* The ring's CALL of @q begins. Called by the runner, without the lock. */
void tsr_capture_begin(struct tsr_runner *runner, struct tsr_queue *q, uint64_t cmd_va,
		       uint64_t cmd_size);
/* @e is about to be used for @va. Any thread. */
void tsr_capture_touch(struct tsr_mem *mem, uint64_t va, const struct tsr_tlb_entry *e);
/* It is over. Called by the runner, or with the lock held. */
void tsr_capture_end(struct tsr_queue *q, enum tsr_capture_outcome outcome);

/* Registers CAPTURE, offset in the block; the device's lock is held. */
uint32_t tsr_capture_read(struct tsr_gpu *gpu, uint32_t offset);
void tsr_capture_write(struct tsr_gpu *gpu, uint32_t offset, uint32_t value);

#endif
