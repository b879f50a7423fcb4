/* SPDX-License-Identifier: MIT */
#include "code.h"

#include <stdlib.h>
#include <string.h>

#include "gpu.h"

#define PAGE (1ull << TSR_PAGE_SHIFT)

static struct tsr_decoded **bucket(struct tsr_code *code, uint64_t space, uint64_t pc)
{
	uint64_t key = (pc >> 4) * 0x9e3779b97f4a7c15ull ^ space * 0xff51afd7ed558ccdull;

	return &code->hash[key >> 40 & (TSR_CODE_HASH - 1)];
}

static void forget(struct tsr_code *code)
{
	memset(code->hash, 0, sizeof(code->hash));
	code->used = 0;
	code->forgotten++;
	code->jit_full = false;
	if (code->jit)
		tsr_jit_forget(code->jit);
}

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

/* Fetch and decode into @memory; *@used bytes of it. */
static enum tsr_step decode(const struct tsr_alu *alu, struct tsr_mem *mem, uint64_t space,
			    uint64_t pc, void *memory, size_t *used)
{
	uint8_t bytes[TSR_CLAUSE_BYTES_MAX];
	size_t here = PAGE - pc % PAGE, len = here < sizeof(bytes) ? here : sizeof(bytes);
	enum tsr_step step = fetch(mem, pc, bytes, len);
	bool whole;

	if (step != TSR_STEP_DONE)
		return step;
	*used = tsr_predecode(alu, bytes, len, pc, space & TSR_CODE_KINDS, memory, &whole);
	if (whole || len == sizeof(bytes))
		return TSR_STEP_DONE;
	/* It goes on in the next page. */
	step = fetch(mem, pc + len, bytes + len, sizeof(bytes) - len);
	if (step == TSR_STEP_DONE)
		*used = tsr_predecode(alu, bytes, sizeof(bytes), pc, space & TSR_CODE_KINDS, memory,
				      &whole);
	return step;
}

enum tsr_step tsr_code_find(struct tsr_code *code, const struct tsr_alu *alu, struct tsr_mem *mem,
			    uint64_t space, uint64_t pc, struct tsr_decoded **clause)
{
	struct tsr_decoded **list = bucket(code, space, pc), *d;
	enum tsr_step step;
	size_t used;

	for (d = *list; d; d = d->chain) {
		if (d->pc == pc && d->space == space) {
			*clause = d;
			return TSR_STEP_DONE;
		}
	}
	if (pc % TSR_QUAD_BYTES)
		return tsr_mmu_fault(mem, TSR_FAULT_SHADER_ALIGNMENT, pc, TSR_ACCESS_EXEC, 0);
	if (!code->memory && !(code->memory = aligned_alloc(64, TSR_CODE_BYTES)))
		return tsr_mmu_fault(mem, TSR_FAULT_SHADER_UNSUPPORTED, pc, TSR_ACCESS_EXEC, 0);
	if (TSR_CODE_BYTES - code->used < TSR_DECODED_MAX)
		forget(code);
	d = (struct tsr_decoded *)(code->memory + code->used);
	step = decode(alu, mem, space, pc, d, &used);
	if (step != TSR_STEP_DONE)
		return step;
	code->used += (used + 63) & ~(size_t)63;
	d->space = space;
	d->chain = *list;
	*list = d;
	*clause = d;
	return TSR_STEP_DONE;
}

/* @clause has been executed often enough. */
static void generate(struct tsr_code *code, const struct tsr_alu *alu, struct tsr_decoded *clause,
		     enum tsr_native_kind kind)
{
	if (!code->jit && !(code->jit = tsr_jit_new(alu)))
		code->jit_refused = true;
	else if (!tsr_jit_compile(code->jit, clause, kind))
		code->jit_full = true;
}

const void *tsr_code_native(struct tsr_code *code, const struct tsr_alu *alu,
			    struct tsr_decoded *clause, enum tsr_native_kind kind)
{
	struct tsr_native_code *native = &clause->native[kind];

	if (!native->code && code->jit_runs && !code->jit_full && !code->jit_refused &&
	    ++native->runs >= code->jit_runs)
		generate(code, alu, clause, kind);
	return native->code;
}

void tsr_code_evict(struct tsr_code *code)
{
	if (code->jit_full)
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
