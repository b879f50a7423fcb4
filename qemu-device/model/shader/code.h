/* SPDX-License-Identifier: MIT */
/*
 * The clause cache: decoded clauses of one thread.
 *
 * In: an address of a code space. Out: the decoded clause, fetched and decoded when it is not
 * there. A code space is an address space between two invalidations of its code (BARRIER.INV_CODE,
 * AS invalidations, reset), with 32 or 64 registers, of one kind of stage; its number never comes
 * back, so nothing has to be searched when code is invalidated.
 *
 * Nothing is decoded or compiled twice: a clause belongs to its address, its kind and its bytes. In
 * a new space its bytes are fetched once and compared, and if they are the same it is the new
 * space's clause, with the code generated for it and what has been counted towards that. Only what
 * comes after it is found anew, because that may have changed.
 *
 * Limits: TSR_CODE_BYTES, and TSR_CODE_CHAIN clauses that are looked through in vain; where there
 * are more everything is forgotten, so a pointer to a clause is good until the next look-up that
 * returns TSR_STEP_DONE with other @forgotten. Reset state: empty.
 */
#ifndef TSR_SHADER_CODE_H
#define TSR_SHADER_CODE_H

#include "engine.h"
#include "compiler/jit.h"
#include "predecode.h"
#include "program.h"

#define TSR_CODE_BYTES (4u << 20)
#define TSR_CODE_HASH 2048
#define TSR_CODE_CHAIN 32
#define TSR_CODE_STRAIGHTS 256

/*
 * Clauses of a plan (compiler/plan.h), one after the other: threads come in at the first, and
 * leave after the last. Lives as long as its clauses.
 */
struct tsr_straight {
	struct tsr_straight *chain;
	/* all of them as one piece, for the first warps and for chunks; NULL: none (yet) */
	const void *code[TSR_NATIVE_KINDS];
	uint64_t live;			/* registers that are looked at after them, a bit each */
	uint16_t runs[TSR_NATIVE_KINDS];	/* executed without code */
	uint8_t count;
	struct tsr_decoded *clause[];
};

struct tsr_code {
	uint8_t *memory;		/* TSR_CODE_BYTES, allocated with the first clause */
	size_t used;
	uint32_t forgotten;		/* times it was emptied */
	struct tsr_jit *jit;		/* code generated for clauses; NULL: none, or not yet */
	uint16_t jit_runs;		/* executions until code is generated; 0: never */
	bool jit_refused;		/* this host has no memory for code */
	bool full;			/* there is no room for more of it, or a straight */
	struct tsr_decoded *hash[TSR_CODE_HASH];
	/* of each kind: the space whose clauses are linked to one another, and these clauses */
	uint64_t space[TSR_CODE_KINDS + 1];
	struct tsr_decoded *linked[TSR_CODE_KINDS + 1];
	struct tsr_straight *straight[TSR_CODE_STRAIGHTS];
};

/*
 * The clause at @pc of code space @space, in the address space of @mem. TSR_STEP_DONE with *@clause
 * (which may be a faulty one), _PENDING or _FAULT (the code cannot be had).
 */
enum tsr_step tsr_code_find(struct tsr_code *code, const struct tsr_simd *alu, struct tsr_mem *mem,
			    uint64_t space, uint64_t pc, struct tsr_decoded **clause);
/*
 * From now on @to is known to follow @from, until another space of the kind is looked into; @link
 * is from->next or from->jump. Both have just been found or followed in the same space.
 */
void tsr_code_link(struct tsr_code *code, struct tsr_decoded *from, struct tsr_decoded **link,
		   struct tsr_decoded *to);
/*
 * The code of @clause, which is about to be executed; NULL: it is to be interpreted. Counts, and
 * generates code for what is executed often.
 */
const void *tsr_code_native(struct tsr_code *code, struct tsr_thread *thread,
			    struct tsr_decoded *clause, enum tsr_native_kind kind);
/*
 * The straight of these clauses, which all have the same mode; NULL: there is no room, until all is
 * forgotten.
 */
struct tsr_straight *tsr_code_straight(struct tsr_code *code, struct tsr_decoded *const *clause,
				       unsigned int count, uint64_t live);
/* Its code, as above. TSR_NATIVE_FULL is for the warps of a block of pixels. */
const void *tsr_code_straight_native(struct tsr_code *code, struct tsr_thread *thread,
				     struct tsr_straight *s, enum tsr_native_kind kind);
/*
 * Keep @found, a loop of @clause, and generate its code; the one there is if it is the same. NULL:
 * there is no room, until all is forgotten (@code->full), or the clause has too many already, or
 * this host has no memory for code.
 */
struct tsr_loop *tsr_code_loop(struct tsr_code *code, struct tsr_thread *thread,
			       struct tsr_decoded *clause, const struct tsr_loop *found);
/* Where no clause is held: if there is no room for more code, everything is forgotten. */
void tsr_code_evict(struct tsr_code *code);
/* Strict mode: whether @clause is what memory holds now. */
enum tsr_step tsr_code_compare(struct tsr_mem *mem, const struct tsr_decoded *clause, bool *same);
void tsr_code_free(struct tsr_code *code);

/* Number of a code space, from the generation of its address space; @stage: enum tsr_stage. */
static inline uint64_t tsr_code_space(uint64_t generation, bool registers_64, unsigned int stage,
				      bool mixed)
{
	uint64_t kind = (registers_64 ? TSR_CODE_REGISTERS_64 : 0) |
			(mixed ? TSR_CODE_MIXED : 0);

	/* hull shaders are groups of threads, as dispatches are */
	if (stage != TSR_STAGE_COMPUTE && stage != TSR_STAGE_HULL)
		kind |= stage == TSR_STAGE_FRAGMENT ? TSR_CODE_FRAGMENT : TSR_CODE_VERTEX;
	return generation * (TSR_CODE_KINDS + 1) | kind;
}

#endif
