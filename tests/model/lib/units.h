/* SPDX-License-Identifier: MIT */
/*
 * One warp in front of the units that answer messages, without cores and queues: tests write
 * registers, sources and descriptors, run a message and look at what has become of memory.
 *
 * Memory is a bench's, address space 1: UNITS_DATA is UNITS_DATA_SIZE bytes read and write, with
 * nothing mapped around; the descriptor tables begin at UNITS_TABLES.
 */
#ifndef TSR_UNITS_H
#define TSR_UNITS_H

#include "bench.h"
#include "device/gpu.h"
#include "shader/access.h"
#include "units/message.h"
#include "units/msg_attribute.h"
#include "texture/tex_cache.h"

#define UNITS_DATA 0x10000000ull
#define UNITS_DATA_SIZE (256u << 10)
#define UNITS_TABLES 0x20000000ull
#define UNITS_TABLES_SIZE (64u << 10)
/* where the tables begin */
#define UNITS_UBOS (UNITS_TABLES + 0x1000)
#define UNITS_ATTRIBUTES (UNITS_TABLES + 0x2000)
#define UNITS_BUFFERS (UNITS_TABLES + 0x4000)
#define UNITS_TEXTURES (UNITS_TABLES + 0x6000)
#define UNITS_SAMPLERS (UNITS_TABLES + 0xa000)
#define UNITS_SURFACES (UNITS_TABLES + 0xe000)
#define UNITS_SCRATCH (UNITS_DATA + 0x20000)
#define UNITS_SCRATCH_SIZE 256u
#define UNITS_GROUP_BYTES 4096u
#define UNITS_ALL_LANES 0xffffu

struct units {
	struct bench *b;
	struct bench_as as;
	uint8_t *data;			/* the test's view of UNITS_DATA */
	uint64_t data_bus;		/* its bus address */
	uint8_t *tables;		/* of UNITS_TABLES */
	struct tsr_mem mem;
	struct tsr_access_cache *access;
	struct tsr_texture_cache *textures;
	struct tsr_attribute_views *views;
	struct tsr_compute_state state;
	struct tsr_msg_env env;
	uint8_t group[UNITS_GROUP_BYTES + 64] __attribute__((aligned(64)));
	/* registers of a bundle; the warp is its first */
	union tsr_lanes reg[TSR_REGISTERS * TSR_BUNDLE_WARPS];
	union tsr_lanes src[3];		/* sources of the ADD instruction */
	union tsr_lanes pair[3];	/* sources of the FMA instruction */
	struct tsr_insn insn, pair_insn;
	bool paired;			/* there is a pair_insn */
	struct tsr_msg msg;		/* of the last message */
};

/* A new warp with tables that are empty but valid; @threads runners besides the test's own. */
struct units *units_new(unsigned int threads);
void units_free(struct units *u);
/* Another warp in the same memory, which runner @runner runs. */
struct units *units_share(const struct units *u, unsigned int runner);

/* Register @r of the warp. */
static inline union tsr_lanes *units_reg(struct units *u, unsigned int r)
{
	return &u->reg[r * TSR_BUNDLE_WARPS];
}

/* Instruction @op (enum tsr_op) without modifiers, no FMA instruction; then one beside it. */
void units_insn(struct units *u, unsigned int op);
void units_pair(struct units *u, unsigned int op);
/* Sources 0 and 1 of @lane are the 64-bit @va. */
void units_address(struct units *u, unsigned int lane, uint64_t va);
/* Run the message for @lanes with staging registers from @staging. */
enum tsr_step units_run(struct units *u, unsigned int staging, uint16_t lanes);
/* As units_run(), repeated while it is pending. *@times (may be NULL) counts. */
enum tsr_step units_finish(struct units *u, unsigned int staging, uint16_t lanes,
			   unsigned int *times);
/* Check that the last message was at fault with this code, address and lane. */
bool units_fault_is(const struct units *u, uint8_t code, uint64_t addr, unsigned int lane);
/* A preemption point: translations are dropped, and with an INV_READ also textures. */
void units_stop(struct units *u);

/* Descriptor words at @va in UNITS_TABLES. */
static inline void *units_table(struct units *u, uint64_t va)
{
	return u->tables + (va - UNITS_TABLES);
}

#endif
