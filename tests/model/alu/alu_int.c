// SPDX-License-Identifier: MIT
/* test: TIMEOUT=120 TSAN=0 */
/*
 * Integer arithmetic of the shader cores: every encoding of every integer instruction, on every
 * SIMD path this machine has, against a reference that works lane by lane (lib/alu_ref_int.c).
 * Random and special values; warps, masks, destinations and operand spaces change from batch to
 * batch, so stores are checked along with results.
 */
#include <stdlib.h>
#include <string.h>

#include "alu_ref_int.h"
#include "ktap.h"
#include "simd/simd.h"

#define FMA_BITS	23
#define ADD_BITS	20
#define PER_OP		1000000u	/* random lanes of an instruction, over all its modifiers */
#define PER_VARIANT_MIN	2048u		/* values of each combination of modifiers */
#define LANES		(TSR_WARP_LANES * TSR_BUNDLE_WARPS)
#define PATHS_MAX	3

/* Instructions whose meaning nobody has published: no path may pretend to know. */
static const char *const unknown[] = {
	"ICMPI.i32", "ICMPI.s32", "ICMPI.u32", "ICMPF.i32", "ICMPM.i32", "IMULD", "IMOV_FMA",
	"SHIFT_DOUBLE.i32", "ATOM_POST.i64", "ATOM_PRE.i64",
};

/* Combinations of modifiers found by decoding every instruction word. */
static struct tsr_insn *variants;
static unsigned int num_variants, room;

static const struct tsr_simd *paths[PATHS_MAX];
static unsigned int num_paths;

static uint64_t random_state = 0x9e3779b97f4a7c15ull;

static uint32_t random32(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state >> 16);
}

static bool same_variant(const struct tsr_insn *a, const struct tsr_insn *b)
{
	return a->op == b->op && !memcmp(a->mod, b->mod, sizeof(a->mod)) &&
	       !memcmp(a->imm, b->imm, sizeof(a->imm));
}

/*
 * Words of one operation with the same modifiers are far apart; those found before are looked
 * through backwards.
 */
static void add_variant(const struct tsr_insn *insn)
{
	for (unsigned int i = num_variants; i--;) {
		if (same_variant(&variants[i], insn))
			return;
	}
	if (num_variants == room) {
		room = room ? 2 * room : 1024;
		variants = realloc(variants, room * sizeof(variants[0]));
		if (!variants)
			abort();
	}
	variants[num_variants++] = *insn;
}

static int by_op(const void *a, const void *b)
{
	return (int)((const struct tsr_insn *)a)->op - (int)((const struct tsr_insn *)b)->op;
}

static bool is_unknown(const char *name)
{
	for (unsigned int i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
		if (!strcmp(unknown[i], name))
			return true;
	}
	return false;
}

/* True if the selectors are the lowest possible ones: others need not be looked at. */
static bool lowest_sources(const struct tsr_insn *insn)
{
	const struct tsr_op_info *info = &tsr_ops[insn->op];

	for (unsigned int i = 0; i < info->num_srcs; i++) {
		if (insn->src[i] != (unsigned int)__builtin_ctz(info->src_mask[i]))
			return false;
	}
	return true;
}

/* Orders of sources 0 and 1 choose encodings: all three are tried. */
static bool interesting_sources(const struct tsr_insn *insn)
{
	return lowest_sources(insn) ||
	       (insn->src[0] < 2 && insn->src[1] < 2 && !insn->src[2] && !insn->src[3]);
}

static void find_variants(enum tsr_isa_unit unit, unsigned int bits)
{
	struct alu_ref ref;
	struct tsr_insn insn;

	for (uint32_t word = 0; word < 1u << bits; word++) {
		if (!tsr_insn_decode(unit, word, &insn) || !interesting_sources(&insn))
			continue;
		insn.form = 0;
		memset(insn.src, 0, sizeof(insn.src));
		if (is_unknown(tsr_ops[insn.op].name) || alu_ref_prepare(&ref, &insn, NULL, 0))
			add_variant(&insn);
	}
}

/* Numbers at the ends of all sizes, and floating-point ones. */
static const uint32_t special[] = {
	0, 1, 2, 3, 7, 8, 15, 16, 31, 32, 33, 63, 64, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000,
	0xffff, 0x10000, 0x00010001, 0x01010101, 0x7f7f7f7f, 0x80808080, 0x7fff7fff, 0x80008000,
	0x00ff00ff, 0xff00ff00, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff,
	0x3f800000, 0x7f800000, 0x7f800001, 0xffc00000, 0x007fffff, 0x7c017c00, 0x03ff8000,
	0x12345678,
};
#define SPECIALS ((unsigned int)(sizeof(special) / sizeof(special[0])))

/* A word; some are like the one before, so that comparisons have something to be equal to. */
static uint32_t random_word(uint32_t before)
{
	uint32_t r = random32();

	switch (r & 7) {
	case 0:
		return special[(r >> 3) % SPECIALS];
	case 1:
		return before;
	case 2:
		return before + (r >> 8 & 3) - 1;
	case 3:
		return random32() & random32() & random32();
	case 4:
		return random32() >> (r >> 8 & 31);
	default:
		return random32();
	}
}

/* One micro-operation on a bundle, as a core would set it up. */
struct batch {
	union tsr_lanes src[4][TSR_BUNDLE_WARPS];	/* values of the sources, lane by lane */
	union tsr_lanes pair[3][TSR_BUNDLE_WARPS];
	union tsr_lanes before[TSR_BUNDLE_WARPS]; /* the destination */
	struct tsr_uop uop;
	struct tsr_alu_state state;
	int alias;				/* source that is the destination, or -1 */
	bool uniform;				/* the last source is the same in all lanes */
};

/* Vectors of a bundle: sources 0 to 3, pair 0 to 2, destination, each for all warps. */
#define VECTOR_PAIR	4
#define VECTOR_DST	7
#define VECTORS		8

static void random_shape(struct batch *b)
{
	struct tsr_alu_state *state = &b->state;
	uint32_t r = random32();
	unsigned int chosen = r & 3 ? 15 : r >> 2 & 15;

	memset(state, 0, sizeof(*state));
	state->full = r >> 8 & 1;
	for (unsigned int warp = 0; warp < TSR_BUNDLE_WARPS; warp++) {
		uint32_t active = state->full ? ~0u : random32();

		if (chosen >> warp & 1)
			state->warp[state->warps++] = (uint8_t)warp;
		for (unsigned int lane = 0; lane < TSR_WARP_LANES; lane++)
			state->mask[warp].u[lane] = active >> lane & 1 ? ~0u : 0;
	}
	b->uop.dst_kind = r >> 9 & 1 ? TSR_DST_ACTIVE : TSR_DST_ALL;
	b->alias = (int)(r >> 10 & 7) - 4;
	b->uniform = r >> 13 & 1;
}

/* Values for what the instruction reads. */
static void random_values(struct batch *b)
{
	const struct tsr_insn *pair = b->uop.pair_insn;
	unsigned int sources = tsr_ops[b->uop.insn->op].num_srcs;
	unsigned int pairs = pair ? tsr_ops[pair->op].num_srcs : 0;
	uint32_t word = 0;

	for (unsigned int warp = 0; warp < TSR_BUNDLE_WARPS; warp++) {
		for (unsigned int lane = 0; lane < TSR_WARP_LANES; lane++) {
			for (unsigned int s = 0; s < sources; s++)
				b->src[s][warp].u[lane] = word = random_word(word);
			for (unsigned int s = 0; s < pairs; s++)
				b->pair[s][warp].u[lane] = word = random_word(word);
			b->before[warp].u[lane] = (uint32_t)(random_state >> 8);
		}
	}
}

/*
 * The @n-th combinations of special values: each source counts on when those before it have been
 * through all.
 */
static void special_values(struct batch *b, uint64_t n, unsigned int values)
{
	for (unsigned int warp = 0; warp < TSR_BUNDLE_WARPS; warp++) {
		for (unsigned int lane = 0; lane < TSR_WARP_LANES; lane++) {
			uint64_t rest = n++;

			for (unsigned int s = 0; s < 4; s++) {
				uint64_t which = rest % values * SPECIALS / values;

				b->src[s][warp].u[lane] = special[which];
				rest /= values;
			}
		}
	}
}

static void all_active(struct batch *b)
{
	b->state.full = true;
	memset(b->state.mask, 0xff, sizeof(b->state.mask));
}

static struct tsr_operand vector(unsigned int n)
{
	return (struct tsr_operand){ (uint16_t)(n * TSR_BUNDLE_WARPS), TSR_LANES_REG, 1 };
}

static void set_operands(struct batch *b, unsigned int sources)
{
	struct tsr_uop *uop = &b->uop;

	if (b->alias >= (int)sources)
		b->alias = -1;
	for (unsigned int s = 0; s < 4; s++)
		uop->src[s] = vector(s);
	for (unsigned int s = 0; s < 3; s++)
		uop->pair[s] = vector(VECTOR_PAIR + s);
	uop->dst = vector(VECTOR_DST);
	if (b->alias >= 0) {
		uop->dst = uop->src[b->alias];
		memcpy(b->before, b->src[b->alias], sizeof(b->before));
	} else if (b->uniform && sources) {
		/* the same word in all lanes of one vector of another space */
		union tsr_lanes *last = b->src[sources - 1];

		for (unsigned int i = 0; i < LANES; i++)
			last[i / TSR_WARP_LANES].u[i % TSR_WARP_LANES] = last[0].u[0];
		uop->src[sources - 1] = (struct tsr_operand){ 1, TSR_LANES_CLAUSE, 0 };
	}
}

/* Run the batch on one path; the destination's vectors afterwards. */
static void run_path(const struct tsr_simd *alu, struct batch *b, union tsr_lanes *after)
{
	static union tsr_lanes bundle[VECTORS * TSR_BUNDLE_WARPS], clause[2];
	const union tsr_lanes *last = NULL;

	memcpy(bundle, b->src, sizeof(b->src));
	memcpy(bundle + VECTOR_PAIR * TSR_BUNDLE_WARPS, b->pair, sizeof(b->pair));
	memcpy(bundle + b->uop.dst.index, b->before, sizeof(b->before));
	for (unsigned int s = 0; s < 4; s++) {
		if (!b->uop.src[s].step)
			last = b->src[s];
	}
	if (last)
		clause[1] = last[0];
	b->state.space[TSR_LANES_REG] = bundle;
	b->state.space[TSR_LANES_CLAUSE] = clause;
	if (!ktap_ok(tsr_alu_select(alu, &b->uop)))
		return;
	b->uop.fn(&b->uop, &b->state);
	memcpy(after, bundle + b->uop.dst.index, sizeof(b->before));
}

/* The expected values of the destination. */
static void expect(const struct alu_ref *ref, const struct batch *b, union tsr_lanes *want)
{
	memcpy(want, b->before, sizeof(b->before));
	for (unsigned int i = 0; i < b->state.warps; i++) {
		unsigned int warp = b->state.warp[i];

		for (unsigned int lane = 0; lane < TSR_WARP_LANES; lane++) {
			uint32_t src[4], pair[3];

			if (b->uop.dst_kind == TSR_DST_ACTIVE && !b->state.mask[warp].u[lane])
				continue;
			for (unsigned int s = 0; s < 4; s++)
				src[s] = b->src[s][warp].u[lane];
			for (unsigned int s = 0; s < 3; s++)
				pair[s] = b->pair[s][warp].u[lane];
			want[warp].u[lane] = alu_ref_eval(ref, src, pair);
		}
	}
}

static void report(const struct batch *b, const char *path, const union tsr_lanes *want,
		   const union tsr_lanes *got)
{
	for (unsigned int i = 0; i < LANES; i++) {
		unsigned int w = i / TSR_WARP_LANES, l = i % TSR_WARP_LANES;

		if (want[w].u[l] == got[w].u[l])
			continue;
		ktap_note("%s on %s, warp %u lane %u, %s", tsr_ops[b->uop.insn->op].name, path, w,
			  l, b->uop.dst_kind == TSR_DST_ALL ? "all" : "active lanes");
		ktap_note("sources %08x %08x %08x %08x, pair %08x %08x", b->src[0][w].u[l],
			  b->src[1][w].u[l], b->src[2][w].u[l], b->src[3][w].u[l],
			  b->pair[0][w].u[l], b->pair[1][w].u[l]);
		ktap_eq(got[w].u[l], want[w].u[l]);
		return;
	}
}

/* Compare all paths with the reference for one batch of values. */
static bool check(const struct alu_ref *ref, struct batch *b)
{
	union tsr_lanes want[TSR_BUNDLE_WARPS], got[TSR_BUNDLE_WARPS];

	set_operands(b, tsr_ops[ref->insn->op].num_srcs);
	expect(ref, b, want);
	for (unsigned int p = 0; p < num_paths; p++) {
		memcpy(got, b->before, sizeof(got));
		run_path(paths[p], b, got);
		if (memcmp(want, got, sizeof(want))) {
			report(b, paths[p]->name, want, got);
			return false;
		}
	}
	return true;
}

static void check_variant(const struct tsr_insn *insn, const struct tsr_insn *pair_insn,
			  unsigned int lanes)
{
	static const unsigned int values[] = { 1, SPECIALS, SPECIALS, 21, 8 };
	unsigned int sources = tsr_ops[insn->op].num_srcs, each = values[sources];
	static struct batch b;
	struct alu_ref ref;
	uint64_t combinations = 1;

	memset(&b, 0, sizeof(b));
	b.uop.insn = insn;
	b.uop.pair_insn = pair_insn;
	b.uop.mode.ftz = (uint8_t)(random32() & 3);
	if (!ktap_ok(alu_ref_prepare(&ref, insn, pair_insn, b.uop.mode.ftz)))
		return;
	for (unsigned int s = 0; s < sources; s++)
		combinations *= each;
	for (unsigned int n = 0; n < lanes; n += LANES) {
		random_shape(&b);
		random_values(&b);
		if (!check(&ref, &b))
			return;
	}
	for (uint64_t n = 0; n < combinations; n += LANES) {
		random_shape(&b);
		random_values(&b);
		special_values(&b, n, each);
		b.uniform = false;
		all_active(&b);
		if (!check(&ref, &b))
			return;
	}
}

/* The FMA instructions that an ADD instruction can be the second half of; none: it stands alone. */
static bool is_partner(const struct tsr_insn *fma, const struct tsr_insn *add)
{
	const char *low = tsr_ops[fma->op].name, *high = tsr_ops[add->op].name;

	if (tsr_ops[fma->op].unit != TSR_ISA_FMA)
		return false;
	if (!strcmp(high, "SHADDXH.i32"))
		return !strncmp(low, "SHADDXL", 7);
	return !strcmp(low, high) &&
	       !strcmp(alu_ref_modifier(fma, "seg"), alu_ref_modifier(add, "seg")) &&
	       !strcmp(alu_ref_modifier(fma, "preserve_null"),
		       alu_ref_modifier(add, "preserve_null"));
}

static bool needs_partner(const struct tsr_insn *insn)
{
	const char *name = tsr_ops[insn->op].name;

	return tsr_ops[insn->op].unit == TSR_ISA_ADD &&
	       (!strcmp(name, "SHADDXH.i32") || !strncmp(name, "SEG_", 4));
}

static void test_values_of(const void *arg)
{
	const struct tsr_insn *first = arg, *end = variants + num_variants;
	unsigned int count = 0, lanes;

	for (const struct tsr_insn *v = first; v < end && v->op == first->op; v++)
		count++;
	lanes = getenv("TSR_QUICK") ? PER_OP / count : PER_OP;
	if (lanes < PER_VARIANT_MIN)
		lanes = PER_VARIANT_MIN;
	for (const struct tsr_insn *v = first; v < first + count; v++) {
		if (!needs_partner(v)) {
			check_variant(v, NULL, lanes);
			continue;
		}
		for (unsigned int i = 0; i < num_variants; i++) {
			if (is_partner(&variants[i], v))
				check_variant(v, &variants[i], lanes / 4);
		}
	}
}

/*
 * Without its first half an instruction of a pair cannot be selected, and with the wrong one
 * neither.
 */
static void test_pairs(void)
{
	struct tsr_insn mov = { .op = TSR_OP_FMA_MOV_I32 };

	for (unsigned int i = 0; i < num_variants; i++) {
		struct tsr_uop uop = { .insn = &variants[i] };

		if (!needs_partner(&variants[i]))
			continue;
		for (unsigned int p = 0; p < num_paths; p++) {
			uop.pair_insn = NULL;
			ktap_ok(!tsr_alu_select(paths[p], &uop));
			uop.pair_insn = &mov;
			ktap_ok(!tsr_alu_select(paths[p], &uop));
		}
	}
}

static void test_unknown(void)
{
	unsigned int seen = 0;

	for (unsigned int i = 0; i < num_variants; i++) {
		struct tsr_uop uop = { .insn = &variants[i] };

		if (!is_unknown(tsr_ops[variants[i].op].name))
			continue;
		seen++;
		for (unsigned int p = 0; p < num_paths; p++)
			ktap_ok(!tsr_alu_select(paths[p], &uop));
	}
	ktap_ok(seen >= sizeof(unknown) / sizeof(unknown[0]));
}

/* One instruction on plain words. */
static void test_scalar(void)
{
	const struct tsr_alu_mode mode = { 0 };
	struct alu_ref ref;

	for (unsigned int i = 0; i < num_variants; i += 3) {
		const struct tsr_insn *insn = &variants[i];
		uint32_t src[4], result = 0;

		if (needs_partner(insn) || !alu_ref_prepare(&ref, insn, NULL, 0))
			continue;
		for (unsigned int s = 0; s < 4; s++)
			src[s] = random32();
		for (unsigned int p = 0; p < num_paths; p++) {
			ktap_ok(tsr_alu_scalar(paths[p], insn, NULL, &mode, src, NULL, &result));
			ktap_eq(result, alu_ref_eval(&ref, src, NULL));
		}
	}
}

int main(int argc, char **argv)
{
	static const char *const names[PATHS_MAX] = { "sse2", "avx2", "avx512" };

	ktap_start_args(argc, argv);
	for (unsigned int i = 0; i < PATHS_MAX; i++) {
		const struct tsr_simd *alu = tsr_simd_named(names[i]);

		if (alu)
			paths[num_paths++] = alu;
		else
			ktap_note("this machine does not run the %s path", names[i]);
	}
	find_variants(TSR_ISA_FMA, FMA_BITS);
	find_variants(TSR_ISA_ADD, ADD_BITS);
	qsort(variants, num_variants, sizeof(variants[0]), by_op);
	ktap_note("%u combinations of modifiers", num_variants);

	for (unsigned int i = 0; i < num_variants; i++) {
		const struct tsr_op_info *info = &tsr_ops[variants[i].op];
		char text[120];

		if ((i && variants[i].op == variants[i - 1].op) || is_unknown(info->name))
			continue;
		snprintf(text, sizeof(text), "[%s] %s %s",
			 info->unit == TSR_ISA_FMA ? "ISA8" : "ISA9",
			 info->unit == TSR_ISA_FMA ? "FMA" : "ADD", info->name);
		ktap_run_arg(text, test_values_of, &variants[i]);
	}
	ktap_run("[ISA9] second halves of pairs need their first half", test_pairs);
	ktap_run("[ISA8] [ISA9] instructions without public semantics are refused", test_unknown);
	ktap_run("single instructions on plain words", test_scalar);
	free(variants);
	return ktap_finish();
}
