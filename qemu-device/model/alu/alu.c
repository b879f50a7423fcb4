/* SPDX-License-Identifier: MIT */
/*
 * The arithmetic units: functions of micro-operations, and the floating-point state they run in.
 */
#include "alu.h"

#ifdef __x86_64__
#include <xmmintrin.h>
#endif

#include "alu_set.h"
#include "float_ops.h"
#include "simd/simd.h"

/*
 * The state of the SIMD unit in which all micro-operations run: exceptions masked, nearest even,
 * and the flushing.
 */
#define CSR_BASE	0x1f80u
#define CSR_FLUSH_OUT	0x8000u		/* results that are subnormal */
#define CSR_FLUSH_IN	0x0040u		/* sources */

/* True if an operand of the instruction, or of its pair, is the same for all warps. */
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

static bool select_of(const struct tsr_alu_set *set, struct tsr_uop *uop)
{
	tsr_alu_selector *select = set->select[uop->insn->op];

	return select && select(uop);
}

bool tsr_alu_select(const struct tsr_simd *simd, struct tsr_uop *uop)
{
	uop->inner = NULL;
	uop->strides = has_strides(uop);
	for (unsigned int i = 0; i < 4; i++) {
		uop->keep[i] = ~0u;
		uop->flip[i] = 0;
		uop->param[i] = 0;
	}
	if (select_of(simd->integer, uop) || select_of(simd->floating, uop))
		return true;
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

void tsr_alu_reenter(struct tsr_alu_saved *saved)
{
	saved->now = CSR_BASE;
	csr_set(saved->host, CSR_BASE);
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
bool tsr_alu_scalar(const struct tsr_simd *simd, const struct tsr_insn *insn,
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
	if (!tsr_alu_select(simd, &uop))
		return false;
	tsr_alu_enter(&saved, mode);
	uop.fn(&uop, &state);
	tsr_alu_leave(&saved);
	*result = vector[7].u[0];
	return true;
}
