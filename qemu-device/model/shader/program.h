/* SPDX-License-Identifier: MIT */
/*
 * Programs of draws: SHADER_PROGRAM, read and checked.
 *
 * In: its address, and where a copy of it lies that BIN has made for RENDER. Out: the program with
 * its push constants, ready to run. Programs are kept by address as long as their owner likes, at
 * most from one BARRIER.INV_READ to the next: a list's thread or a core of tiles has a table of its
 * own. Limits: TSR_UNIFORM_CACHE_PROGRAMS of them at hand. Reset state: all zero.
 */
#ifndef TSR_SHADER_PROGRAM_H
#define TSR_SHADER_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "engine.h"
#include "tsr_packets.h"
#include "tsr_regs.h"
#include "units/message.h"

enum tsr_stage {
	TSR_STAGE_COMPUTE,
	TSR_STAGE_POSITION,		/* of vertices, for the binner */
	TSR_STAGE_VARYING,		/* of vertices, for fragments */
	TSR_STAGE_FRAGMENT,
	/* Stages of draws with GEOMETRY: */
	TSR_STAGE_VERTEX,		/* of vertices, whole */
	TSR_STAGE_HULL,			/* of patches */
	TSR_STAGE_DOMAIN,		/* of the tessellator's points */
	TSR_STAGE_GEOMETRY,		/* of primitives */
	TSR_STAGES
};

/* Where a part is, and where a copy of the program has it: bytes from the copy's first. */
struct tsr_part_place {
	uint64_t va;
	uint32_t offset, bytes;
};

/* The parts of a program and of its copy. Returns how many bytes the copy has. */
uint32_t tsr_program_parts(const struct tsr_shader_program *p,
			   struct tsr_part_place part[TSR_PARTS]);

struct tsr_program {
	uint64_t va;			/* of the SHADER_PROGRAM */
	uint64_t serial;		/* no other program ever has it */
	uint8_t stage;			/* enum tsr_stage */
	struct tsr_compute_state state;	/* what it has in common with a dispatch's program */
	/* VERTEX and later: its STAGE_HEADER; address 0: it has none */
	uint64_t header_va;
	struct tsr_stage_header header;
	uint64_t varyings;		/* table of outputs or varyings */
	uint32_t varying_count;		/* entries of that table */
	struct tsr_copies copies;
	uint32_t push_word[];		/* state.push_words */
};

/* Push constants of LIST_PUSH as they were when the draw began, as many as its program has. */
struct tsr_push {
	uint64_t serial;		/* no others, and no program's, ever have it */
	uint32_t word[TSR_PUSH_WORDS_MAX];
};

/* The uniform cache, and what else is known of its programs. */
struct tsr_programs {
	/* by address */
	struct tsr_program *program[TSR_STAGES][TSR_UNIFORM_CACHE_PROGRAMS];
	uint64_t stalls;		/* programs that have taken another's place */
	uint64_t frame;			/* what tsr_copies.frame of copies becomes */
};

/*
 * The program at @va for @stage: _DONE with *@program, which is good until another one of that
 * stage is asked for; _PENDING; _FAULT: it, or its push constants, cannot be read or are wrong.
 * @copy: address of its copy; 0: there is none.
 */
enum tsr_step tsr_programs_find(struct tsr_programs *programs, struct tsr_mem *mem, uint64_t va,
				uint64_t copy, enum tsr_stage stage,
				const struct tsr_program **program);
/* Read the words at @va for @program. As above; after anything but _DONE @push holds nothing. */
enum tsr_step tsr_push_read(struct tsr_push *push, struct tsr_mem *mem, uint64_t va,
			    const struct tsr_program *program);
/* Forget all but @used. */
void tsr_programs_evict(struct tsr_programs *programs, const struct tsr_program *const used[2]);
/* Forget all of them: the end of a command, or BARRIER.INV_READ. */
void tsr_programs_drop(struct tsr_programs *programs);

#endif
