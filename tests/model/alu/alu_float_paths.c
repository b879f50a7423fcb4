/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 TIMEOUT=120 */
/*
 * Every SIMD path computes what qemu-device/model/alu/float_ops.h defines, bit for bit: all
 * floating-point encodings of both units, all modes of clause headers, full and partial masks.
 * (That the definition is right is what alu_float_oracle.c shows.)
 */
#include "alu_random.h"
#include "ktap.h"

#include "alu/alu.h"
#include "alu/float_ops.h"
#include "simd/simd.h"

#define INSNS_PER_OP 100

static const char *const path_names[] = { "sse2", "avx2", "avx512" };

struct bundle {
	union tsr_lanes reg[8 * TSR_BUNDLE_WARPS]; /* sources 0 to 3, pair 4 to 6, result 7 */
};

static void fill(struct bundle *b, struct tsr_alu_state *state)
{
	for (unsigned int i = 0; i < 8 * TSR_BUNDLE_WARPS; i++) {
		for (unsigned int lane = 0; lane < TSR_WARP_LANES; lane++)
			b->reg[i].u[lane] = random_source();
	}
	state->full = random_word() & 1;
	state->warps = 0;
	for (unsigned int w = 0; w < TSR_BUNDLE_WARPS; w++) {
		if (state->full && w && !(random_word() & 3))
			continue;
		state->warp[state->warps++] = w;
		for (unsigned int lane = 0; lane < TSR_WARP_LANES; lane++)
			state->mask[w].u[lane] = state->full || (random_word() & 1) ? ~0u : 0;
	}
}

static bool runs_in(const struct tsr_alu_state *state, unsigned int warp)
{
	for (unsigned int i = 0; i < state->warps; i++) {
		if (state->warp[i] == warp)
			return true;
	}
	return false;
}

/* Set @want to the expected values of reg[7]. */
static void expect(const struct tsr_uop *uop, const struct tsr_alu_state *state,
		   const struct bundle *b, struct bundle *result)
{
	for (unsigned int w = 0; w < TSR_BUNDLE_WARPS; w++) {
		for (unsigned int lane = 0; lane < TSR_WARP_LANES && runs_in(state, w); lane++) {
			uint32_t src[7];

			if (uop->dst_kind == TSR_DST_ACTIVE && !state->full &&
			    !state->mask[w].u[lane])
				continue;
			for (unsigned int n = 0; n < 7; n++)
				src[n] = b->reg[n * TSR_BUNDLE_WARPS + w].u[lane];
			result->reg[7 * TSR_BUNDLE_WARPS + w].u[lane] =
				tsr_float_table[uop->insn->op](uop, src, src + 4);
		}
	}
}

/* The modifiers that are set, as text. */
static const char *modifiers(const struct tsr_insn *insn, char *text, size_t size)
{
	const struct tsr_op_info *info = &tsr_ops[insn->op];
	size_t at = 0;

	text[0] = '\0';
	for (unsigned int i = 0; i < info->num_mods && at < size; i++) {
		if (insn->mod[info->mods[i]])
			at += snprintf(text + at, size - at, " %s=%u", tsr_mod_names[info->mods[i]],
				       insn->mod[info->mods[i]]);
	}
	return text;
}

static void differ(const char *path, const struct tsr_uop *uop, const struct bundle *in,
		   const struct bundle *got, const struct bundle *wanted)
{
	char text[200];

	for (unsigned int w = 0; w < TSR_BUNDLE_WARPS; w++) {
		for (unsigned int lane = 0; lane < TSR_WARP_LANES; lane++) {
			unsigned int at = 7 * TSR_BUNDLE_WARPS + w;

			if (got->reg[at].u[lane] == wanted->reg[at].u[lane])
				continue;
			ktap_fail(
				"%s %s%s ftz %u: %08x %08x %08x %08x gives %08x, not %08x "
				"(warp %u, lane %u)",
				path, tsr_ops[uop->insn->op].name,
				modifiers(uop->insn, text, sizeof(text)), uop->mode.ftz,
				in->reg[w].u[lane], in->reg[4 + w].u[lane], in->reg[8 + w].u[lane],
				in->reg[12 + w].u[lane], got->reg[at].u[lane],
				wanted->reg[at].u[lane], w, lane);
			return;
		}
	}
}

/* One instruction on all paths. */
static void try_insn(const struct tsr_insn *insn)
{
	struct tsr_insn cubeface = { .op = TSR_OP_FMA_CUBEFACE1 };
	struct tsr_alu_state state = { .warps = 0 };
	struct tsr_alu_saved saved;
	struct bundle in, out, wanted;
	struct tsr_uop uop = {
		.insn = insn,
		.pair_insn = insn->op == TSR_OP_ADD_CUBEFACE2 ? &cubeface : NULL,
		.mode = { .ftz = random_word() % 4,
			  .suppress_inf = !(random_word() % 8),
			  .suppress_nan = !(random_word() % 8) },
		.dst_kind = random_word() & 1 ? TSR_DST_ALL : TSR_DST_ACTIVE,
		.dst = { .index = 7 * TSR_BUNDLE_WARPS, .step = 1 },
	};

	for (unsigned int n = 0; n < 3; n++) {
		cubeface.mod[TSR_MOD_NEG0 + n] = random_word() & 1;
		cubeface.mod[TSR_MOD_ABS0 + n] = random_word() & 1;
	}
	for (unsigned int n = 0; n < 7; n++)
		*(n < 4 ? &uop.src[n] : &uop.pair[n - 4]) = (struct tsr_operand){
			.index = n * TSR_BUNDLE_WARPS, .step = 1
		};
	fill(&in, &state);
	wanted = in;
	if (tsr_float_defined(insn))
		expect(&uop, &state, &in, &wanted);
	for (unsigned int p = 0; p < 3; p++) {
		const struct tsr_simd *alu = tsr_simd_named(path_names[p]);
		struct tsr_uop mine = uop;

		if (!alu)
			continue;
		ktap_eq(tsr_alu_select(alu, &mine), tsr_float_defined(insn));
		if (!tsr_float_defined(insn))
			continue;
		out = in;
		state.space[TSR_LANES_REG] = out.reg;
		tsr_alu_enter(&saved, &mine.mode);
		mine.fn(&mine, &state);
		tsr_alu_leave(&saved);
		if (memcmp(&out, &wanted, sizeof(out)))
			differ(path_names[p], &mine, &in, &out, &wanted);
	}
}

static void test_paths(void)
{
	unsigned int ops = 0;

	for (unsigned int op = 0; op < TSR_OP__COUNT; op++) {
		struct tsr_insn insn;

		if (!tsr_float_table[op])
			continue;
		ops++;
		for (unsigned int i = 0; i < INSNS_PER_OP; i++) {
			if (!random_insn(op, &insn)) {
				ktap_fail("no encoding of %s found", tsr_ops[op].name);
				break;
			}
			for (unsigned int n = 0; n < 4; n++)
				try_insn(&insn);
		}
	}
	ktap_note("%u operations", ops);
	ktap_ok(ops > 70);
}

int main(void)
{
	ktap_start();
	ktap_run("[ISA8] [ISA9] [ISA11] every SIMD path computes floats as defined, bit for bit",
		 test_paths);
	return ktap_finish();
}
