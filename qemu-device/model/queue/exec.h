/* SPDX-License-Identifier: MIT */
/*
 * Execution state of a queue: everything that its execution needs to continue from a preemption
 * point. Plain bytes without pointers. Time slices leave it in place, snapshots write it
 * (snapshot.c), and resets clear it. The thread that runs the queue owns it. The device's lock
 * protects it otherwise.
 */
#ifndef TSR_EXEC_H
#define TSR_EXEC_H

#include <stdbool.h>
#include <stdint.h>

#include "device/counters.h"
#include "engine.h"
#include "tsr_regs.h"

/* An open user stream. Addresses wrap at 2^64; only their differences are compared. */
struct tsr_call_frame {
	uint64_t pc;			/* next packet */
	uint64_t end;			/* first byte after the stream */
};

/* A packet with what its execution and its fault record need. */
struct tsr_packet {
	uint64_t word[TSR_ENGINE_CMD_QWORDS];	/* as fetched; of longer ones the beginning */
	uint64_t pc;			/* its address */
	uint32_t rptr;			/* the ring packet under which it runs */
	uint8_t as;			/* address space it was fetched from and accesses */
	uint8_t depth;			/* open user streams; 0: a ring packet */
	uint8_t header_valid;		/* word[0] was fetched */
};

/* Words read ahead. */
struct tsr_prefetch {
	uint64_t va;			/* address of data[0] */
	/* bytes held; those before the present packet are of no use */
	uint32_t len;
	uint8_t data[TSR_PREFETCH_BYTES];
};

/* Engine commands and event writes between command processor and engine, oldest first. */
struct tsr_fifo {
	struct tsr_packet entry[TSR_FIFO_DEPTH];
	uint8_t first;			/* index of the oldest */
	uint8_t count;			/* entries in use */
	struct tsr_engine_state state;	/* where the oldest one stands */
	bool begun;			/* fault injection: the occasion has been tested */
};

/* Next action of the command processor. */
enum tsr_cp_phase {
	TSR_CP_FETCH,			/* fetch a packet, or end a stream */
	TSR_CP_EXECUTE,			/* execute the packet it holds */
	/* the ring's CALL has ended: wait for the engine, then retire it */
	TSR_CP_DRAIN,
	TSR_CP_FAULT,			/* a fault is recorded: wait for the engine, then stop */
	TSR_CP__PHASES
};

/* An interval of COUNTER_BEGIN and COUNTER_END. */
struct tsr_interval {
	uint64_t mask;			/* counters it counts, 0: no interval */
	uint32_t number;		/* of the last one in this queue that counts caches */
	uint8_t user;			/* begun by a user stream: ends with the ring's CALL */
	uint8_t written;		/* COUNTER_END: words already added */
	uint64_t base[TSR_QUEUE_COUNTERS];	/* their values at the beginning */
};

/* Fault record; code 0: none. */
struct tsr_record {
	uint64_t addr, pc, header;	/* FAULT_ADDR, FAULT_PC, FAULT_HEADER */
	uint32_t rptr;			/* FAULT_RPTR */
	uint8_t code, access, level, unit, as;	/* fields of FAULT; FAULT_AS */
	uint8_t depth;			/* FAULT.DEPTH; 0 is FAULT.RING */
	uint32_t shader;		/* FAULT_SHADER */
	uint32_t group[3];		/* FAULT_GROUP */
	uint64_t clause;		/* FAULT_CLAUSE */
};

struct tsr_exec {
	uint8_t phase;			/* enum tsr_cp_phase */
	uint8_t depth;			/* open user streams, in frame[0 … depth - 1] */
	uint8_t waited;			/* the WAIT in @packet has been found not to hold */
	/* the TLB_INVALIDATE in @packet has been started, as @ticket */
	uint8_t inval_started;
	uint32_t ticket;		/* AS.INV_STARTED after it */
	uint32_t loops;			/* JUMP, CALL and RETURN since progress */
	/* steps of the command processor since the engine's last step */
	uint32_t ahead;
	struct tsr_call_frame frame[TSR_NESTING_MAX];
	struct tsr_packet packet;	/* the packet in phase EXECUTE */
	struct tsr_prefetch prefetch;
	struct tsr_fifo fifo;
	struct tsr_interval interval;
	/* of the command processor, in phase FAULT; of the engine when it stops the queue */
	struct tsr_record fault;
};

#endif
