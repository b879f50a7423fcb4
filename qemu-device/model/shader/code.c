/* SPDX-License-Identifier: MIT */
#include "code.h"

#include <stdlib.h>
#include <string.h>

#include "env.h"
#include "memory/mmu.h"

#define PAGE (1ull << TSR_PAGE_SHIFT)

static struct tsr_decoded **bucket(struct tsr_code *code, uint64_t space, uint64_t pc)
{
	uint64_t key = (pc >> 4) * 0x9e3779b97f4a7c15ull ^
		       (space & TSR_CODE_KINDS) * 0xff51afd7ed558ccdull;

	return &code->hash[key >> 40 & (TSR_CODE_HASH - 1)];
}

static void forget(struct tsr_code *code)
{
	memset(code->hash, 0, sizeof(code->hash));
	memset(code->linked, 0, sizeof(code->linked));
	memset(code->straight, 0, sizeof(code->straight));
	code->used = 0;
	code->forgotten++;
	code->full = false;
	if (code->jit)
		tsr_jit_forget(code->jit);
}

/* ---- From clause to clause ------------------------------------------------------------------- */

/* Nothing leads to the successors of @d without a look-up any more. */
static void unlink_clause(struct tsr_decoded *d)
{
	d->next = NULL;
	d->jump = NULL;
	for (unsigned int kind = 0; kind < TSR_NATIVE_KINDS; kind++)
		memcpy(d->native[kind].link, d->native[kind].out, sizeof(d->native[kind].link));
}

/*
 * Clauses of @space are to be executed. What follows a clause has been found out in another space
 * of the kind, whose code may be another.
 */
static void enter_space(struct tsr_code *code, uint64_t space)
{
	const unsigned int kind = space & TSR_CODE_KINDS;

	if (code->space[kind] == space)
		return;
	code->space[kind] = space;
	for (struct tsr_decoded *d = code->linked[kind]; d; d = d->linked) {
		unlink_clause(d);
		d->links = false;
	}
	code->linked[kind] = NULL;
}

void tsr_code_link(struct tsr_code *code, struct tsr_decoded *from, struct tsr_decoded **link,
		   struct tsr_decoded *to)
{
	const unsigned int kind = from->space & TSR_CODE_KINDS;

	*link = to;
	if (from->links)
		return;
	from->links = true;
	from->linked = code->linked[kind];
	code->linked[kind] = from;
}

/* ---- Look-up --------------------------------------------------------------------------------- */

/* [va, va + len) of code to @to. */
static enum tsr_step fetch(struct tsr_mem *mem, uint64_t va, uint8_t *to, uint64_t len)
{
	while (len) {
		uint64_t part = len;
		enum tsr_step step = tsr_mem_fetch(mem, va, to, &part);

		if (step != TSR_STEP_DONE)
			return step;
		va += part;
		to += part;
		len -= part;
	}
	return TSR_STEP_DONE;
}

/* The bytes of a clause as memory holds them now: of one page, and if asked for of the next. */
struct bytes {
	uint64_t pc;
	size_t len;			/* in the first page */
	bool whole;			/* the bytes in the next page are present as well */
	uint8_t byte[TSR_CLAUSE_BYTES_MAX];
};

static enum tsr_step fetch_first(struct tsr_mem *mem, uint64_t pc, struct bytes *b)
{
	size_t here = PAGE - pc % PAGE;

	b->pc = pc;
	b->len = here < sizeof(b->byte) ? here : sizeof(b->byte);
	b->whole = b->len == sizeof(b->byte);
	return fetch(mem, pc, b->byte, b->len);
}

static enum tsr_step fetch_rest(struct tsr_mem *mem, struct bytes *b)
{
	enum tsr_step step = TSR_STEP_DONE;

	if (!b->whole)
		step = fetch(mem, b->pc + b->len, b->byte + b->len, sizeof(b->byte) - b->len);
	b->whole |= step == TSR_STEP_DONE;
	return step;
}

/*
 * Sets *@same to true if @d is the clause of these bytes. If the bytes in the first page are equal,
 * both clauses continue in the next page or none does.
 */
static enum tsr_step compare(struct tsr_mem *mem, const struct tsr_decoded *d, struct bytes *b,
			     bool *same)
{
	size_t first = d->bytes < b->len ? d->bytes : b->len;
	enum tsr_step step = TSR_STEP_DONE;

	*same = !memcmp(d->code, b->byte, first);
	if (*same && d->bytes > first) {
		step = fetch_rest(mem, b);
		*same = step == TSR_STEP_DONE &&
			!memcmp(d->code + first, b->byte + first, d->bytes - first);
	}
	return step;
}

/* Decode into @memory; *@used bytes of it. */
static enum tsr_step decode(const struct tsr_simd *alu, struct tsr_mem *mem, uint64_t space,
			    struct bytes *b, void *memory, size_t *used)
{
	size_t len = b->whole ? sizeof(b->byte) : b->len;
	enum tsr_step step;
	bool whole;

	*used = tsr_predecode(alu, b->byte, len, b->pc, space & TSR_CODE_KINDS, memory, &whole);
	if (whole || len == sizeof(b->byte))
		return TSR_STEP_DONE;
	/* It goes on in the next page. */
	step = fetch_rest(mem, b);
	if (step == TSR_STEP_DONE)
		*used = tsr_predecode(alu, b->byte, sizeof(b->byte), b->pc, space & TSR_CODE_KINDS,
				      memory, &whole);
	return step;
}

/* The clause that another space of the kind had here, if its bytes are these; or NULL. */
static enum tsr_step find_same(struct tsr_code *code, struct tsr_mem *mem, uint64_t space,
			       struct bytes *b, struct tsr_decoded **clause)
{
	unsigned int others = 0;

	*clause = NULL;
	for (struct tsr_decoded *d = *bucket(code, space, b->pc); d; d = d->chain) {
		enum tsr_step step = TSR_STEP_DONE;
		bool same = false;

		if (d->pc == b->pc && !((d->space ^ space) & TSR_CODE_KINDS))
			step = compare(mem, d, b, &same);
		if (step != TSR_STEP_DONE)
			return step;
		if (same) {
			d->space = space;
			*clause = d;
			return TSR_STEP_DONE;
		}
		others++;
	}
	if (others >= TSR_CODE_CHAIN)
		forget(code);
	return TSR_STEP_DONE;
}

static enum tsr_step add(struct tsr_code *code, const struct tsr_simd *alu, struct tsr_mem *mem,
			 uint64_t space, struct bytes *b, struct tsr_decoded **clause)
{
	struct tsr_decoded **list = bucket(code, space, b->pc), *d;
	enum tsr_step step;
	size_t used;

	if (!code->memory && !(code->memory = aligned_alloc(64, TSR_CODE_BYTES)))
		return tsr_mmu_fault(mem, TSR_FAULT_SHADER_UNSUPPORTED, b->pc, TSR_ACCESS_EXEC, 0);
	if (TSR_CODE_BYTES - code->used < TSR_DECODED_MAX)
		forget(code);
	d = (struct tsr_decoded *)(code->memory + code->used);
	step = decode(alu, mem, space, b, d, &used);
	if (step != TSR_STEP_DONE)
		return step;
	mem->thread->path[TSR_PATH_CLAUSES_DECODED]++;
	code->used += (used + 63) & ~(size_t)63;
	d->space = space;
	d->chain = *list;
	*list = d;
	*clause = d;
	return TSR_STEP_DONE;
}

enum tsr_step tsr_code_find(struct tsr_code *code, const struct tsr_simd *alu, struct tsr_mem *mem,
			    uint64_t space, uint64_t pc, struct tsr_decoded **clause)
{
	struct bytes bytes;
	enum tsr_step step;

	enter_space(code, space);
	for (struct tsr_decoded *d = *bucket(code, space, pc); d; d = d->chain) {
		if (d->pc == pc && d->space == space) {
			*clause = d;
			return TSR_STEP_DONE;
		}
	}
	if (pc % TSR_QUAD_BYTES)
		return tsr_mmu_fault(mem, TSR_FAULT_SHADER_ALIGNMENT, pc, TSR_ACCESS_EXEC, 0);
	step = fetch_first(mem, pc, &bytes);
	if (step == TSR_STEP_DONE)
		step = find_same(code, mem, space, &bytes, clause);
	if (step != TSR_STEP_DONE || *clause)
		return step;
	return add(code, alu, mem, space, &bytes, clause);
}

/* ---- Generated code -------------------------------------------------------------------------- */

/* True if code that has run @runs times and runs again is worth compiling. */
static bool worth(const struct tsr_code *code, uint16_t *runs)
{
	return code->jit_runs && !code->full && !code->jit_refused && ++*runs >= code->jit_runs;
}

/* @clause has been executed often enough. */
static void generate(struct tsr_code *code, struct tsr_thread *thread, struct tsr_decoded *clause,
		     enum tsr_native_kind kind)
{
	if (!code->jit && !(code->jit = tsr_jit_new(thread->env->simd)))
		code->jit_refused = true;
	else if (!tsr_jit_compile(code->jit, clause, kind))
		code->full = true;
	else
		thread->path[TSR_PATH_CLAUSES_COMPILED]++;
}

const void *tsr_code_native(struct tsr_code *code, struct tsr_thread *thread,
			    struct tsr_decoded *clause, enum tsr_native_kind kind)
{
	struct tsr_native_code *native = &clause->native[kind];

	if (!native->code && worth(code, &native->runs))
		generate(code, thread, clause, kind);
	return native->code;
}

static bool is_straight(const struct tsr_straight *s, struct tsr_decoded *const *clause,
			unsigned int count, uint64_t live)
{
	return s->live == live && s->count == count &&
	       !memcmp(s->clause, clause, count * sizeof(clause[0]));
}

struct tsr_straight *tsr_code_straight(struct tsr_code *code, struct tsr_decoded *const *clause,
				       unsigned int count, uint64_t live)
{
	uint64_t key = ((uintptr_t)clause[0] >> 6 ^ live) * 0x9e3779b97f4a7c15ull;
	struct tsr_straight **list = &code->straight[key >> 40 & (TSR_CODE_STRAIGHTS - 1)], *s;
	size_t size = (sizeof(*s) + count * sizeof(s->clause[0]) + 63) & ~(size_t)63;
	unsigned int others = 0;

	for (s = *list; s; s = s->chain, others++) {
		if (is_straight(s, clause, count, live))
			return s;
	}
	if (TSR_CODE_BYTES - code->used < size || others >= TSR_CODE_CHAIN) {
		code->full = true;
		return NULL;
	}
	s = (struct tsr_straight *)(code->memory + code->used);
	code->used += size;
	*s = (struct tsr_straight){ .live = live, .count = count, .chain = *list };
	memcpy(s->clause, clause, count * sizeof(clause[0]));
	*list = s;
	return s;
}

const void *tsr_code_straight_native(struct tsr_code *code, struct tsr_thread *thread,
				     struct tsr_straight *s, enum tsr_native_kind kind)
{
	const unsigned int warps = kind == TSR_NATIVE_FULL ? TSR_QUAD_BLOCK_WARPS : 0;

	if (s->code[kind] || !worth(code, &s->runs[kind]))
		return s->code[kind];
	if (!code->jit && !(code->jit = tsr_jit_new(thread->env->simd))) {
		code->jit_refused = true;
		return NULL;
	}
	s->code[kind] = tsr_jit_straight(code->jit, s->clause, s->count, s->live, warps);
	if (s->code[kind])
		thread->path[TSR_PATH_CLAUSES_COMPILED] += s->count;
	else
		code->full = true;
	return s->code[kind];
}

static bool is_loop(const struct tsr_loop *a, const struct tsr_loop *b)
{
	const size_t from = offsetof(struct tsr_loop, written);

	_Static_assert(sizeof(struct tsr_loop_place) == 32 &&
		       offsetof(struct tsr_loop, place) ==
		       offsetof(struct tsr_loop, written) + 24, "there is padding");

	return !memcmp((const uint8_t *)a + from, (const uint8_t *)b + from, sizeof(*a) - from);
}

struct tsr_loop *tsr_code_loop(struct tsr_code *code, struct tsr_thread *thread,
			       struct tsr_decoded *clause, const struct tsr_loop *found)
{
	const size_t size = (sizeof(*found) + 63) & ~(size_t)63;
	struct tsr_loop *loop;
	unsigned int others = 0;

	for (loop = clause->loop; loop; loop = loop->chain, others++) {
		if (is_loop(loop, found))
			return loop;
	}
	if (code->jit_refused)
		return NULL;
	if (!code->jit && !(code->jit = tsr_jit_new(thread->env->simd))) {
		code->jit_refused = true;
		return NULL;
	}
	/* so many for one clause: some registers are looked at by one program, others by another */
	if (others >= TSR_CODE_CHAIN)
		return NULL;
	if (TSR_CODE_BYTES - code->used < size) {
		code->full = true;
		return NULL;
	}
	loop = (struct tsr_loop *)(code->memory + code->used);
	code->used += size;
	*loop = *found;
	loop->chain = clause->loop;
	clause->loop = loop;
	if (!tsr_jit_loop(code->jit, loop))
		code->full = true;
	else if (loop->code)
		thread->path[TSR_PATH_CLAUSES_COMPILED] += loop->clauses;
	return loop;
}

void tsr_code_evict(struct tsr_code *code)
{
	if (code->full)
		forget(code);
}

enum tsr_step tsr_code_compare(struct tsr_mem *mem, const struct tsr_decoded *clause, bool *same)
{
	uint8_t bytes[TSR_CLAUSE_BYTES_MAX];
	enum tsr_step step = fetch(mem, clause->pc, bytes, clause->bytes);

	*same = step == TSR_STEP_DONE && !memcmp(bytes, clause->code, clause->bytes);
	return step;
}

void tsr_code_free(struct tsr_code *code)
{
	tsr_jit_free(code->jit);
	code->jit = NULL;
	free(code->memory);
	code->memory = NULL;
}
