/* SPDX-License-Identifier: MIT */
/*
 * Programs for the shader cores, assembled by hand, and dispatches of them on the stage (stage.h).
 * No function uses the device's own decoder, and only shade_text() uses the assembler.
 *
 *   struct shade_code c = { 0 };
 *   shade_clause(&c, &(struct shade_clause){ .tuple = { … }, .flow = TSR_FLOW_END });
 *
 * Code is written to SHADE_CODE, the state to SHADE_STATE, push constants to SHADE_PUSH, all of it
 * in STAGE_STREAM. The data of programs is in STAGE_DATA.
 */
#ifndef TSR_SHADE_H
#define TSR_SHADE_H

#include "stage.h"
#include "tsr_isa.h"

#define SHADE_STATE (STAGE_STREAM + 0x20000)
#define SHADE_PUSH (STAGE_STREAM + 0x21000)
#define SHADE_CODE (STAGE_STREAM + 0x30000)
#define SHADE_CODE_SIZE 0x10000
#define SHADE_SCRATCH (STAGE_DATA + 0x80000)

/* Sources of instructions. */
enum {
	S_P0 = TSR_SELECT_PORT0, S_P1, S_P2, S_STAGE, S_LO, S_HI, S_FMA, S_ADD,
};

/* An instruction: sources, then up to two modifiers. */
struct shade_insn {
	uint16_t op;			/* 0: NOP */
	uint8_t src[4];
	struct {
		uint8_t mod, value;
	} mod[3];			/* mod 0 with value 0: none */
};

/* Registers are given plus 1, so that 0 is none: R(3). */
#define R(n) ((n) + 1)

/* A tuple: what it reads, executes, and where its own results go. */
struct shade_tuple {
	struct shade_insn fma, add;
	uint8_t p0, p1, p2;		/* R(n) */
	uint8_t wf, wa;			/* R(n) for the result of FMA and of ADD */
	uint8_t fau;			/* index; SHADE_CONST: the constant below */
	uint64_t konst;
	uint8_t pcrel;			/* enum tsr_pcrel of it */
	uint8_t label;			/* the high word of the constant is the distance to it */
};

#define SHADE_CONST 0x7f

struct shade_clause {
	struct shade_tuple tuple[TSR_CLAUSE_TUPLES_MAX];
	uint8_t tuples;			/* 0: 1 */
	uint8_t flow;			/* enum tsr_flow */
	uint8_t wait, slot, message, staging, staging_barrier, ftz;
	uint8_t label;			/* number of the label that stands here, 0: none */
};

/* Consecutive clauses. */
struct shade_code {
	uint8_t bytes[SHADE_CODE_SIZE];
	uint32_t size;
	uint32_t label[32];		/* offsets + 1 */
	struct {
		struct tsr_clause clause;
		uint32_t at;
		/* which constant is to become the distance to which label */
		uint8_t konst, label;
	} fix[64];
	unsigned int fixes;
};

/* Append a clause; returns its offset. */
uint32_t shade_clause(struct shade_code *c, const struct shade_clause *clause);
/* Append what the assembler (tessera/asm.h) makes of a text. */
void shade_text(struct shade_code *c, const char *text);
/* Fill in the labels of shade_clause(). */
void shade_finish(struct shade_code *c);

/* A dispatch to be made. */
struct shade_dispatch {
	const struct shade_code *code;
	/* zeros: CODE, PUSH, local sizes of 1, scratch are filled in */
	struct tsr_compute_state state;
	uint32_t groups[3];		/* zeros: 1 */
	uint32_t push[TSR_PUSH_WORDS_MAX];
	uint64_t code_va;		/* 0: SHADE_CODE */
	uint32_t at;			/* offset of code, state and push constants */
};

/* Write code, state and push constants, and the packet to @stream. Returns its address. */
uint64_t shade_add(struct stage_stream *stream, const struct shade_dispatch *d);
/*
 * As shade_add(), in a stream of its own at offset @d->at / 16 that @q calls. Does not ring the
 * doorbell.
 */
uint64_t shade_call(struct stage *s, struct bench_queue *q, const struct shade_dispatch *d);

/* Push constants that hold 64-bit numbers. */
static inline void shade_push64(uint32_t *push, unsigned int pair, uint64_t value)
{
	push[2 * pair] = (uint32_t)value;
	push[2 * pair + 1] = (uint32_t)(value >> 32);
}

/* Text of a last clause: stores register @reg at push pair 0 + 4 * global x. */
#define SHADE_STORE(reg) \
	"end {\n" \
	"	*SHADDXL.u32 t0, u0.w0, r60, shift:2\n" \
	"	+SHADDXH.i32 t1, u0.w1, t\n" \
	"	+STORE.i32 t0, t1, @" reg "\n" \
	"}\n"

/* A machine with one COMPUTE queue. */
struct shade_machine {
	struct stage s;
	struct bench_queue q;
};

void shade_init(struct shade_machine *m, const struct tsr_config *config);
void shade_free(struct shade_machine *m);
/*
 * Run @d to its end. Pair 0 of its push constants is STAGE_DATA, pair 1 is 64 KiB after that unless
 * given. Returns false if it faults or does not end.
 */
bool shade_run(struct shade_machine *m, struct shade_dispatch *d);
/*
 * Run a program of @text with groups of @local threads on a machine of its own; @check (if not
 * NULL) looks at the words it has left at STAGE_DATA. False as above.
 */
bool shade_run_text(const struct tsr_config *config, const char *text, uint32_t local,
		    uint32_t groups, void (*check)(struct shade_machine *m));
/* A counter of the queue. */
uint64_t shade_counter(struct shade_machine *m, enum tsr_queue_counter id);

#endif
