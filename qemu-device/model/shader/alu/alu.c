/* SPDX-License-Identifier: MIT */
/*
 * The arithmetic units: which implementation this processor runs, and its floating-point state.
 */
#include "alu.h"

#include <string.h>

#ifdef __x86_64__
#include <cpuid.h>
#include <xmmintrin.h>
#endif

#include "alu_set.h"
#include "float_ops.h"

/*
 * The state of the SIMD unit in which all micro-operations run: exceptions masked, nearest even,
 * and the flushing.
 */
#define CSR_BASE	0x1f80u
#define CSR_FLUSH_OUT	0x8000u		/* results that are subnormal */
#define CSR_FLUSH_IN	0x0040u		/* sources */

static bool always(void)
{
	return true;
}

#ifdef __x86_64__
/*
 * Bits of CPUID leaf 1 (ECX) and leaf 7 (EBX), and of XCR0: state that the operating system saves.
 */
#define CPUID1_FMA	(1u << 12)
#define CPUID1_POPCNT	(1u << 23)
#define CPUID1_OSXSAVE	(1u << 27)
#define CPUID1_AVX	(1u << 28)
#define CPUID1_F16C	(1u << 29)
#define CPUID7_AVX2	(1u << 5)
/* F, DQ, CD, BW, VL */
#define CPUID7_AVX512	(1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31)
#define XCR0_AVX	0x06u
#define XCR0_AVX512	0xe6u

static bool has(unsigned int leaf1, unsigned int leaf7, unsigned int xcr0)
{
	unsigned int a, b, c, d, low, high;

	leaf1 |= CPUID1_OSXSAVE;
	if (!__get_cpuid(1, &a, &b, &c, &d) || (c & leaf1) != leaf1)
		return false;
	__asm__("xgetbv" : "=a" (low), "=d" (high) : "c" (0));
	if ((low & xcr0) != xcr0)
		return false;
	return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & leaf7) == leaf7;
}

static bool has_avx2(void)
{
	return has(CPUID1_FMA | CPUID1_POPCNT | CPUID1_AVX | CPUID1_F16C, CPUID7_AVX2, XCR0_AVX);
}

static bool has_avx512(void)
{
	return has_avx2() && has(0, CPUID7_AVX512, XCR0_AVX512);
}
#endif

/* Fastest first. */
static const struct tsr_alu paths[] = {
#ifdef __x86_64__
	{ "avx512", has_avx512, { &tsr_alu_int_avx512, &tsr_alu_float_avx512 } },
	{ "avx2", has_avx2, { &tsr_alu_int_avx2, &tsr_alu_float_avx2 } },
#endif
	{ "sse2", always, { &tsr_alu_int_sse2, &tsr_alu_float_sse2 } },
};

#define PATHS (sizeof(paths) / sizeof(paths[0]))

const struct tsr_alu *tsr_alu_best(void)
{
	const struct tsr_alu *alu = paths;

	while (!alu->usable())
		alu++;
	return alu;
}

const struct tsr_alu *tsr_alu_named(const char *name)
{
	for (unsigned int i = 0; i < PATHS; i++) {
		if (!strcmp(paths[i].name, name))
			return paths[i].usable() ? &paths[i] : NULL;
	}
	return NULL;
}

const char *tsr_alu_name(const struct tsr_alu *alu)
{
	return alu->name;
}

/* Whether an operand of the instruction, or of its pair, is the same for all warps. */
static bool has_strides(const struct tsr_uop *uop)
{
	bool strides = uop->dst.step != 1;

	for (unsigned int i = 0; i < tsr_ops[uop->insn->op].num_srcs; i++)
		strides |= uop->src[i].step != 1;
	if (uop->pair_insn) {
		for (unsigned int i = 0; i < 3 && i < tsr_ops[uop->pair_insn->op].num_srcs; i++)
			strides |= uop->pair[i].step != 1;
	}
	return strides;
}

bool tsr_alu_select(const struct tsr_alu *alu, struct tsr_uop *uop)
{
	uop->inner = NULL;
	uop->strides = has_strides(uop);
	for (unsigned int i = 0; i < 4; i++) {
		uop->keep[i] = ~0u;
		uop->flip[i] = 0;
		uop->param[i] = 0;
	}
	for (unsigned int i = 0; i < TSR_ALU_SETS; i++) {
		tsr_alu_selector *select = alu->set[i]->select[uop->insn->op];

		if (select && select(uop))
			return true;
	}
	/* floating point without a vector function for these modifiers or modes */
	uop->fn = tsr_float_lanes;
	return tsr_float_defined(uop->insn);
}

#ifdef __x86_64__
static uint32_t csr_read(void)
{
	return _mm_getcsr();
}

static void csr_write(uint32_t csr)
{
	_mm_setcsr(csr);
}
#else
/* Elsewhere the functions do the flushing, and processes start with what CSR_BASE says. */
static uint32_t csr_read(void)
{
	return CSR_BASE;
}

static void csr_write(uint32_t csr)
{
	(void)csr;
}
#endif

static uint32_t csr_of(const struct tsr_alu_mode *mode)
{
	switch (mode->ftz) {
	case TSR_FTZ_OFF:
		return CSR_BASE;
	case TSR_FTZ_ABRUPT:
		return CSR_BASE | CSR_FLUSH_OUT;
	default:
		return CSR_BASE | CSR_FLUSH_OUT | CSR_FLUSH_IN;
	}
}

/* Bits of the register that say how it works; the others remember what has happened. */
#define CSR_CONTROL	(~0x3fu)

/* Writing the register takes longer than all the rest that starts a bundle of fragments. */
static void csr_set(uint32_t from, uint32_t to)
{
	if ((from ^ to) & CSR_CONTROL)
		csr_write(to);
}

void tsr_alu_enter(struct tsr_alu_saved *saved, const struct tsr_alu_mode *mode)
{
	saved->host = csr_read();
	saved->now = csr_of(mode);
	csr_set(saved->host, saved->now);
}

void tsr_alu_change(struct tsr_alu_saved *saved, const struct tsr_alu_mode *mode)
{
	uint32_t csr = csr_of(mode);

	if (csr != saved->now) {
		saved->now = csr;
		csr_write(csr);
	}
}

void tsr_alu_leave(const struct tsr_alu_saved *saved)
{
	csr_set(saved->now, saved->host);
}

bool tsr_alu_crosses_lanes(const struct tsr_insn *insn)
{
	switch (insn->op) {
	case TSR_OP_ADD_CLPER_I32:
	case TSR_OP_ADD_CLPER_OLD_I32:
	case TSR_OP_ADD_WMASK:
		return true;
	default:
		return tsr_ops[insn->op].pair == TSR_PAIR_ATOM;
	}
}

/* One warp of a bundle, lane 0 active; vectors of sources, pair and result in one space. */
bool tsr_alu_scalar(const struct tsr_alu *alu, const struct tsr_insn *insn,
		    const struct tsr_insn *pair_insn, const struct tsr_alu_mode *mode,
		    const uint32_t src[4], const uint32_t pair[3], uint32_t *result)
{
	union tsr_lanes vector[8];
	struct tsr_alu_state state = { .warps = 1 };
	struct tsr_uop uop = {
		.insn = insn, .pair_insn = pair_insn, .mode = *mode, .dst_kind = TSR_DST_ALL
	};
	struct tsr_alu_saved saved;

	for (unsigned int i = 0; i < 8; i++) {
		uint32_t word = i < 4 ? src[i] : i < 7 && pair ? pair[i - 4] : 0;

		for (unsigned int lane = 0; lane < TSR_WARP_LANES; lane++)
			vector[i].u[lane] = word;
		if (i < 4)
			uop.src[i].index = i;
		else if (i < 7)
			uop.pair[i - 4].index = i;
	}
	uop.dst.index = 7;
	state.space[0] = vector;
	state.mask[0].u[0] = ~0u;
	if (!tsr_alu_select(alu, &uop))
		return false;
	tsr_alu_enter(&saved, mode);
	uop.fn(&uop, &state);
	tsr_alu_leave(&saved);
	*result = vector[7].u[0];
	return true;
}
