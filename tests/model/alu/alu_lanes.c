// SPDX-License-Identifier: MIT
/* test: TIMEOUT=60 TSAN=0 */
/*
 * Properties of lanes rather than numbers: instructions whose lanes see each other, CLPER and
 * WMASK, with all their modifiers and any lanes active. Arithmetic restores the host's SIMD state.
 * The names of the paths.
 */
#include <string.h>

#ifdef __x86_64__
#include <xmmintrin.h>
#endif

#include "alu_ref_int.h"
#include "ktap.h"
#include "simd/simd.h"

#define RUNS		400u
#define LANES		TSR_WARP_LANES
#define WARPS		TSR_BUNDLE_WARPS
#define PATHS_MAX	3

static const char *const names[PATHS_MAX] = { "sse2", "avx2", "avx512" };
static const struct tsr_simd *paths[PATHS_MAX];
static unsigned int num_paths;

static uint64_t random_state = 0x2545f4914f6cdd1dull;

static uint32_t random32(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state >> 16);
}

/* The words inactive lanes give, by the names of the modifier. */
static uint32_t inactive_word(const char *name)
{
	static const struct { const char *name; uint32_t word; } words[] = {
		{ "zero", 0 }, { "umax", 0xffffffff }, { "i1", 1 }, { "v2i1", 0x00010001 },
		{ "smin", 0x80000000 }, { "smax", 0x7fffffff }, { "v2smin", 0x80008000 },
		{ "v2smax", 0x7fff7fff }, { "v4smin", 0x80808080 }, { "v4smax", 0x7f7f7f7f },
		{ "f1", 0x3f800000 }, { "v2f1", 0x3c003c00 }, { "infn", 0xff800000 },
		{ "inf", 0x7f800000 }, { "v2infn", 0xfc00fc00 }, { "v2inf", 0x7c007c00 },
	};

	for (unsigned int i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!strcmp(words[i].name, name))
			return words[i].word;
	}
	ktap_fail("no word is known for inactive_result %s", name);
	return 0;
}

/* "subgroup8": 8 */
static unsigned int group_size(const char *name)
{
	return !strcmp(name, "subgroup2") ? 2 : !strcmp(name, "subgroup4") ? 4 :
	       !strcmp(name, "subgroup8") ? 8 : 16;
}

struct warps {
	union tsr_lanes a[WARPS], b[WARPS];
	struct tsr_alu_state state;
};

static uint32_t clper(const struct tsr_insn *insn, const struct warps *w, unsigned int warp,
		      unsigned int lane)
{
	bool old = insn->op == TSR_OP_ADD_CLPER_OLD_I32;
	unsigned int size = old ? 16 : group_size(alu_ref_modifier(insn, "subgroup"));
	unsigned int first = lane / size * size, from = w->b[warp].u[lane] % size;

	if (!strcmp(alu_ref_modifier(insn, "lane_op"), "xor"))
		from ^= lane - first;
	if (w->state.mask[warp].u[first + from])
		return w->a[warp].u[first + from];
	return old ? 0 : inactive_word(alu_ref_modifier(insn, "inactive_result"));
}

static uint32_t wmask(const struct tsr_insn *insn, const struct warps *w, unsigned int warp,
		      unsigned int lane)
{
	unsigned int size = group_size(alu_ref_modifier(insn, "subgroup"));
	unsigned int first = lane / size * size;
	uint32_t result = 0;

	for (unsigned int i = 0; i < size; i++) {
		bool bit = w->state.mask[warp].u[first + i] ? w->a[warp].u[first + i] != 0 :
							      insn->imm[TSR_IMM_FILL] != 0;

		result += bit ? 1u << i : 0;
	}
	return result;
}

/* Values, lanes and warps by chance; lane numbers are often near, their other bits do not count. */
static void randomize(struct warps *w)
{
	unsigned int chosen = random32() & 1 ? 15 : random32() & 15;

	memset(&w->state, 0, sizeof(w->state));
	w->state.full = random32() & 1;
	for (unsigned int warp = 0; warp < WARPS; warp++) {
		uint32_t active = w->state.full ? ~0u : random32();

		if (chosen >> warp & 1)
			w->state.warp[w->state.warps++] = (uint8_t)warp;
		for (unsigned int i = 0; i < LANES; i++) {
			w->a[warp].u[i] = random32() & 3 ? random32() : 0;
			w->b[warp].u[i] = random32() & 1 ? random32() & 15 : random32();
			w->state.mask[warp].u[i] = active >> i & 1 ? ~0u : 0;
		}
	}
}

typedef uint32_t lane_fn(const struct tsr_insn *insn, const struct warps *w, unsigned int warp,
			 unsigned int lane);

/* One random state on one path; vectors are a, b, the destination (or the destination is a). */
static bool check_once(const struct tsr_simd *alu, const struct tsr_insn *insn, lane_fn *want)
{
	union tsr_lanes space[3 * WARPS], before[WARPS];
	bool alias = random32() & 1, all = random32() & 1;
	struct tsr_uop uop = {
		.insn = insn,
		.dst = { alias ? 0 : 2 * WARPS, TSR_LANES_REG, 1 },
		.src = { { 0, TSR_LANES_REG, 1 }, { WARPS, TSR_LANES_REG, 1 } },
		.dst_kind = all ? TSR_DST_ALL : TSR_DST_ACTIVE,
	};
	struct warps w;

	randomize(&w);
	memcpy(space, w.a, sizeof(w.a));
	memcpy(space + WARPS, w.b, sizeof(w.b));
	memset(space + 2 * WARPS, 0xa5, sizeof(before));
	memcpy(before, space + uop.dst.index, sizeof(before));
	w.state.space[TSR_LANES_REG] = space;
	if (!ktap_ok(tsr_alu_select(alu, &uop)))
		return false;
	uop.fn(&uop, &w.state);
	for (unsigned int i = 0; i < WARPS * LANES; i++) {
		unsigned int warp = i / LANES, lane = i % LANES;
		bool there = memchr(w.state.warp, (int)warp, w.state.warps);
		uint32_t expected = before[warp].u[lane];

		if (there && (all || w.state.mask[warp].u[lane]))
			expected = want(insn, &w, warp, lane);
		if (!ktap_eq(space[uop.dst.index + warp].u[lane], expected)) {
			ktap_note("%s, warp %u lane %u", alu->name, warp, lane);
			return false;
		}
	}
	return true;
}

/* All words of one operation: those that decode with other sources are the same to the function. */
static void check_words(uint32_t mask, uint32_t match, lane_fn *want, unsigned int expected)
{
	unsigned int variants = 0;

	for (uint32_t word = 0; word < 1u << 20; word++) {
		struct tsr_insn insn;

		if ((word & mask) != match || (word & 63) ||
		    !tsr_insn_decode(TSR_ISA_ADD, word, &insn))
			continue;
		if (!strcmp(alu_ref_modifier(&insn, "lane_op"), "accumulate") ||
		    !strcmp(alu_ref_modifier(&insn, "lane_op"), "shift")) {
			struct tsr_uop uop = { .insn = &insn };

			for (unsigned int p = 0; p < num_paths; p++)
				ktap_ok(!tsr_alu_select(paths[p], &uop));
			continue;
		}
		variants++;
		for (unsigned int run = 0; run < RUNS; run++) {
			for (unsigned int p = 0; p < num_paths; p++) {
				if (!check_once(paths[p], &insn, want))
					return;
			}
		}
	}
	ktap_ok(variants >= expected);
}

static uint32_t encoded(enum tsr_op op)
{
	struct tsr_insn insn = { .op = (uint16_t)op, .form = TSR_FORM_ANY };
	uint32_t word = 0;

	ktap_ok(tsr_insn_encode(&insn, &word));
	return word;
}

static void test_clper(void)
{
	/* lane_op, subgroup and inactive_result stand above bit 5 */
	check_words(0xfc000, encoded(TSR_OP_ADD_CLPER_I32) & 0xfc000, clper, 2 * 3 * 16);
}

static void test_clper_old(void)
{
	check_words(0xfffc0, encoded(TSR_OP_ADD_CLPER_OLD_I32), clper, 1);
}

static void test_wmask(void)
{
	for (unsigned int subgroup = 0; subgroup < 3; subgroup++) {
		for (unsigned int fill = 0; fill < 2; fill++) {
			struct tsr_insn insn = { .op = TSR_OP_ADD_WMASK };

			insn.mod[TSR_MOD_SUBGROUP] = (uint8_t)subgroup;
			insn.imm[TSR_IMM_FILL] = fill;
			for (unsigned int i = 0; i < RUNS * num_paths; i++) {
				if (!check_once(paths[i % num_paths], &insn, wmask))
					return;
			}
		}
	}
}

/* Compilers compute derivatives by CLPER from the x and y neighbors of a quad. */
static void test_derivative(void)
{
	struct tsr_insn insn = { .op = TSR_OP_ADD_CLPER_I32 };

	insn.mod[TSR_MOD_LANE_OP] = TSR_LANE_OP_XOR;
	insn.mod[TSR_MOD_SUBGROUP] = TSR_SUBGROUP_SUBGROUP4;
	for (unsigned int p = 0; p < num_paths; p++) {
		union tsr_lanes space[3] = { 0 };
		struct tsr_alu_state state = { .space = { space }, .warps = 1, .full = true };
		struct tsr_uop uop = {
			.insn = &insn, .dst = { 2, 0, 1 }, .src = { { 0, 0, 1 }, { 1, 0, 1 } },
		};

		for (unsigned int i = 0; i < LANES; i++) {
			space[0].u[i] = 1000 + i * i;
			space[1].u[i] = 2;
			state.mask[0].u[i] = ~0u;
		}
		ktap_ok(tsr_alu_select(paths[p], &uop));
		uop.fn(&uop, &state);
		ktap_eq(space[2].u[0], 1004);
		ktap_eq(space[2].u[1], 1009);
		ktap_eq(space[2].u[2], 1000);
		ktap_eq(space[2].u[13], 1000 + 15 * 15);
	}
}

static void test_state(void)
{
#ifdef __x86_64__
	const struct tsr_alu_mode off = { .ftz = TSR_FTZ_OFF }, always = { .ftz = TSR_FTZ_ALWAYS };
	const struct tsr_alu_mode abrupt = { .ftz = TSR_FTZ_ABRUPT };
	unsigned int host = _mm_getcsr() & ~0x3fu;
	struct tsr_alu_saved saved;

	/* a host that rounds down and stops at divisions by zero */
	_mm_setcsr(0x1d80 | 0x2000);
	tsr_alu_enter(&saved, &off);
	ktap_eq(_mm_getcsr(), 0x1f80);
	tsr_alu_change(&saved, &always);
	ktap_eq(_mm_getcsr(), 0x9fc0);
	tsr_alu_change(&saved, &abrupt);
	ktap_eq(_mm_getcsr(), 0x9f80);
	tsr_alu_change(&saved, &abrupt);
	ktap_eq(_mm_getcsr(), 0x9f80);
	tsr_alu_leave(&saved);
	ktap_eq(_mm_getcsr(), 0x1d80 | 0x2000);
	_mm_setcsr(host);
#else
	ktap_skip("there is no such state on this architecture");
#endif
}

static void test_names(void)
{
	const struct tsr_simd *best = tsr_simd_best();

	ktap_ok(best == tsr_simd_named(best->name));
	ktap_ok(best == paths[num_paths - 1]);
	ktap_ok(tsr_simd_named("sse2"));
	ktap_ok(!tsr_simd_named("sse"));
	ktap_ok(!tsr_simd_named(""));
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	for (unsigned int i = 0; i < PATHS_MAX; i++) {
		const struct tsr_simd *alu = tsr_simd_named(names[i]);

		if (alu)
			paths[num_paths++] = alu;
		else
			ktap_note("this machine does not run the %s path", names[i]);
	}
	ktap_run("[ISA12] CLPER: every operation, subgroup and inactive result", test_clper);
	ktap_run("[ISA12] CLPER_OLD", test_clper_old);
	ktap_run("[ISA12] WMASK: every subgroup and fill", test_wmask);
	ktap_run("[ISA12] CLPER gives the neighbours that derivatives need", test_derivative);
	ktap_run("[ISA11] arithmetic leaves the state of the host's SIMD unit alone", test_state);
	ktap_run("the best path has a name", test_names);
	return ktap_finish();
}
