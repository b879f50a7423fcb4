// SPDX-License-Identifier: MIT
#include "alu_ref_int.h"

#include <string.h>

/* An instruction: on elements (with the sources' values for one of them), or on whole words. */
struct alu_ref_op {
	const char *name;
	int64_t (*element)(const struct alu_ref *ref, const int64_t s[4]);
	alu_ref_fn *word;
};

const char *alu_ref_modifier(const struct tsr_insn *insn, const char *name)
{
	const struct tsr_op_info *info = &tsr_ops[insn->op];

	for (unsigned int i = 0; i < info->num_mods; i++) {
		if (!strcmp(tsr_mod_names[info->mods[i]], name))
			return tsr_mod_value_name(info->mods[i], insn->mod[info->mods[i]]);
	}
	return "";
}

static bool is(const struct tsr_insn *insn, const char *name, const char *value)
{
	return !strcmp(alu_ref_modifier(insn, name), value);
}

static int64_t sign_extended(uint64_t x, unsigned int bits)
{
	uint64_t sign = 1ull << (bits - 1);

	x &= (sign << 1) - 1;
	return (int64_t)(x ^ sign) - (int64_t)sign;
}

static int64_t least(const struct alu_ref *ref)
{
	return ref->is_signed ? -(1ll << (ref->bits - 1)) : 0;
}

static int64_t most(const struct alu_ref *ref)
{
	return ref->is_signed ? (1ll << (ref->bits - 1)) - 1 : (1ll << ref->bits) - 1;
}

static int64_t saturated(const struct alu_ref *ref, int64_t x)
{
	if (!ref->saturate)
		return x;
	return x < least(ref) ? least(ref) : x > most(ref) ? most(ref) : x;
}

static int64_t do_iadd(const struct alu_ref *ref, const int64_t s[4])
{
	return saturated(ref, s[0] + s[1]);
}

static int64_t do_isub(const struct alu_ref *ref, const int64_t s[4])
{
	return saturated(ref, s[0] - s[1]);
}

static int64_t do_iaddc(const struct alu_ref *ref, const int64_t s[4])
{
	(void)ref;
	return s[0] + s[1] + (s[2] & 1);
}

static int64_t do_isubb(const struct alu_ref *ref, const int64_t s[4])
{
	(void)ref;
	return s[0] - s[1] - (s[2] & 1);
}

static int64_t do_hadd(const struct alu_ref *ref, const int64_t s[4])
{
	int64_t sum = s[0] + s[1] + (ref->up ? 1 : 0);

	/* division rounds towards zero, half a sum downwards */
	return (sum - (sum & 1)) / 2;
}

static int64_t do_iabs(const struct alu_ref *ref, const int64_t s[4])
{
	(void)ref;
	return s[0] < 0 ? -s[0] : s[0];
}

static int64_t do_imul(const struct alu_ref *ref, const int64_t s[4])
{
	(void)ref;
	return (int64_t)((uint64_t)s[0] * (uint64_t)s[1]);
}

static int64_t power(int64_t n)
{
	return (int64_t)(1ull << n);
}

static uint64_t logic(const struct alu_ref *ref, uint64_t shifted, int64_t source)
{
	const char *what = strchr(ref->op->name, '_') + 1;
	uint64_t other = ref->not1 ? ~(uint64_t)source : (uint64_t)source;
	uint64_t result = shifted ^ other;

	if (*what == 'A')
		result = shifted & other;
	else if (*what == 'O')
		result = shifted | other;
	return ref->not_result ? ~result : result;
}

static int64_t do_lshift(const struct alu_ref *ref, const int64_t s[4])
{
	return (int64_t)logic(ref, (uint64_t)s[0] * (uint64_t)power(s[2] % ref->bits), s[1]);
}

static int64_t do_rshift(const struct alu_ref *ref, const int64_t s[4])
{
	return (int64_t)logic(ref, (uint64_t)(s[0] / power(s[2] % ref->bits)), s[1]);
}

/* The quotient rounded down. */
static int64_t do_arshift(const struct alu_ref *ref, const int64_t s[4])
{
	int64_t divisor = power(s[2] % ref->bits), x = sign_extended((uint64_t)s[0], ref->bits);
	int64_t quotient = x / divisor;

	return quotient * divisor > x ? quotient - 1 : quotient;
}

static int64_t do_clz(const struct alu_ref *ref, const int64_t s[4])
{
	int64_t count = 0;

	if (!s[0])
		return ref->mask ? -1 : (int64_t)ref->bits;
	while (s[0] < power(ref->bits - 1 - count))
		count++;
	return count;
}

static bool compares(const struct alu_ref *ref, int64_t x, int64_t y)
{
	const char *cmpf = ref->cmpf;

	if (!strcmp(cmpf, "eq"))
		return x == y;
	if (!strcmp(cmpf, "ne"))
		return x != y;
	if (!strcmp(cmpf, "gt"))
		return x > y;
	if (!strcmp(cmpf, "ge"))
		return x >= y;
	return !strcmp(cmpf, "lt") ? x < y : x <= y;
}

static int64_t do_icmp(const struct alu_ref *ref, const int64_t s[4])
{
	return compares(ref, s[0], s[1]) ? (ref->minus_one ? -1 : 1) : 0;
}

static int64_t do_csel(const struct alu_ref *ref, const int64_t s[4])
{
	return compares(ref, s[0], s[1]) ? s[2] : s[3];
}

/* Zero as a number: both signs, and subnormals where the mode flushes sources of that size. */
static bool fp_zero(const struct alu_ref *ref, uint64_t x)
{
	unsigned int fraction = ref->bits == 32 ? 23 : 10;
	uint64_t magnitude = x & ((1ull << (ref->bits - 1)) - 1);
	bool flush = ref->ftz == TSR_FTZ_ALWAYS || (ref->ftz == TSR_FTZ_DX11 && ref->bits == 32);

	return !magnitude || (flush && magnitude < 1ull << fraction);
}

static int64_t do_mux(const struct alu_ref *ref, const int64_t s[4])
{
	const char *mux = ref->mux;
	bool holds;

	if (!strcmp(mux, "bit"))
		return (s[0] & s[2]) | (s[1] & ~s[2]);
	if (!strcmp(mux, "neg"))
		holds = s[2] >= power(ref->bits - 1);
	else if (!strcmp(mux, "int_zero"))
		holds = !s[2];
	else
		holds = fp_zero(ref, (uint64_t)s[2]);
	return holds ? s[0] : s[1];
}

/* SWZ and the conversions between integers: parts as elements. */
static int64_t do_part(const struct alu_ref *ref, const int64_t s[4])
{
	(void)ref;
	return s[0];
}

static uint32_t do_mov(const struct alu_ref *ref, const uint32_t src[4], const uint32_t pair[3])
{
	(void)ref, (void)pair;
	return src[0];
}

static uint32_t do_nop(const struct alu_ref *ref, const uint32_t src[4], const uint32_t pair[3])
{
	(void)ref, (void)src, (void)pair;
	return 0;
}

/* Element n is part of source n. */
static uint32_t do_mkvec(const struct alu_ref *ref, const uint32_t src[4], const uint32_t pair[3])
{
	uint32_t result = 0;

	(void)pair;
	for (unsigned int n = 0; n < ref->elements; n++) {
		uint32_t part = src[n] >> ref->part[n][0].at;

		result += part % (uint32_t)power(ref->bits) * (uint32_t)power(n * ref->bits);
	}
	return result;
}

static uint32_t do_idp(const struct alu_ref *ref, const uint32_t src[4], const uint32_t pair[3])
{
	int64_t sum = 0;

	(void)pair;
	for (unsigned int n = 0; n < 4; n++) {
		int64_t x = src[0] >> 8 * n & 0xff, y = src[1] >> 8 * n & 0xff;

		if (is(ref->insn, "sign0", "sext"))
			x = (int8_t)x;
		if (is(ref->insn, "sign1", "sext"))
			y = (int8_t)y;
		sum += x * y;
	}
	return (uint32_t)sum;
}

static uint32_t do_popcount(const struct alu_ref *ref, const uint32_t src[4],
			    const uint32_t pair[3])
{
	uint32_t count = 0;

	(void)ref, (void)pair;
	for (unsigned int n = 0; n < 32; n++)
		count += src[0] >> n & 1;
	return count;
}

static uint32_t do_bitrev(const struct alu_ref *ref, const uint32_t src[4], const uint32_t pair[3])
{
	uint32_t result = 0;

	(void)ref, (void)pair;
	for (unsigned int n = 0; n < 32; n++)
		result |= (src[0] >> n & 1) << (31 - n);
	return result;
}

/* A signalling NaN is a NaN without the highest bit of its fraction. */
static int64_t do_quiet(const struct alu_ref *ref, const int64_t s[4])
{
	int64_t fraction = ref->bits == 32 ? 23 : 10;
	int64_t infinity = power(ref->bits - 1) - power(fraction);
	int64_t magnitude = s[0] % power(ref->bits - 1);

	if (magnitude > infinity && magnitude < infinity + power(fraction - 1))
		return s[0] + power(fraction - 1);
	return s[0];
}

/* 64-bit shifts, one bit at a time. */
static uint64_t shifted_once(const char *name, uint64_t x)
{
	if (!strncmp(name, "LSHIFT", 6) || !strncmp(name, "FLSHIFT", 7))
		return x * 2;
	if (!strncmp(name, "LROT", 4))
		return x * 2 + (x >> 63);
	if (!strncmp(name, "RROT", 4))
		return x / 2 + (x << 63);
	if (!strncmp(name, "ARSHIFT", 7))
		return x / 2 + (x & 1ull << 63);
	return x / 2;
}

static uint32_t do_double(const struct alu_ref *ref, const uint32_t src[4], const uint32_t pair[3])
{
	const char *name = ref->op->name;
	uint64_t x = src[0] + ((uint64_t)src[1] << 32);
	unsigned int count = src[2] >> (ref->high_byte ? 16 : 0) & 0xff;
	bool high = ref->word1 || !strncmp(name, "FL", 2);

	(void)pair;
	if (ref->bytes)
		count *= 8;
	count %= name[0] == 'F' ? 32 : 64;
	while (count--)
		x = shifted_once(name, x);
	return (uint32_t)(high ? x >> 32 : x);
}

/*
 * The 64-bit sum from the low and high words of both operands; @low is the instruction with the
 * modifiers.
 */
static uint64_t shaddx(const struct tsr_insn *low, uint64_t x, uint64_t y)
{
	const char *lane = alu_ref_modifier(low, "lane1");
	bool is_signed = strstr(tsr_ops[low->op].name, ".s32");

	if (!strcmp(lane, "h0") || !strcmp(lane, "h1")) {
		y = y >> (lane[1] == '1' ? 16 : 0) & 0xffff;
		if (is_signed)
			y = (uint64_t)(int64_t)(int16_t)y;
	} else if (!strstr(tsr_ops[low->op].name, ".i64")) {
		y &= 0xffffffff;
		if (is_signed)
			y = (uint64_t)(int64_t)(int32_t)y;
	}
	return x + (y << low->imm[TSR_IMM_SHIFT]);
}

static uint32_t do_shaddxl(const struct alu_ref *ref, const uint32_t src[4], const uint32_t pair[3])
{
	(void)pair;
	return (uint32_t)shaddx(ref->insn, src[0], src[1]);
}

static uint32_t do_shaddxh(const struct alu_ref *ref, const uint32_t src[4], const uint32_t pair[3])
{
	uint64_t x = pair[0] + ((uint64_t)src[0] << 32), y = pair[1] + ((uint64_t)src[1] << 32);

	return shaddx(ref->pair_insn, x, y) >> 32;
}

/* Both halves of a pair compute the whole address; the FMA instruction returns the low word. */
static uint32_t do_seg(const struct alu_ref *ref, const uint32_t src[4], const uint32_t pair[3])
{
	uint64_t base = is(ref->insn, "seg", "wls") ? TSR_WINDOW_GROUP : TSR_WINDOW_SCRATCH;
	bool fma = tsr_ops[ref->insn->op].unit == TSR_ISA_FMA;
	uint64_t address = fma ? src[0] : pair[0] + ((uint64_t)src[0] << 32);

	if (!fma && !address && is(ref->insn, "preserve_null", "preserve_null"))
		return 0;
	address = !strcmp(ref->op->name, "SEG_ADD") ? address + base : address - base;
	return (uint32_t)(fma ? address : address >> 32);
}

static uint32_t do_atom_post(const struct alu_ref *ref, const uint32_t src[4],
			     const uint32_t pair[3])
{
	const char *opc = alu_ref_modifier(ref->insn, "atom_opc");
	uint32_t x = src[0], y = src[1];

	(void)pair;
	if (!strcmp(opc, "aadd"))
		return x + y;
	if (!strcmp(opc, "aand"))
		return x & y;
	if (!strcmp(opc, "aor"))
		return x | y;
	if (!strcmp(opc, "axor"))
		return x ^ y;
	if (!strcmp(opc, "asmin"))
		return (int32_t)x < (int32_t)y ? x : y;
	if (!strcmp(opc, "asmax"))
		return (int32_t)x < (int32_t)y ? y : x;
	if (!strcmp(opc, "aumin"))
		return x < y ? x : y;
	return x < y ? y : x;
}

static const struct alu_ref_op ops[] = {
	{ "NOP", NULL, do_nop },
	{ "MOV", NULL, do_mov },
	{ "DTSEL_IMM", NULL, do_mov },
	{ "SWZ", do_part, NULL },
	{ "S8_TO_S32", do_part, NULL },
	{ "S16_TO_S32", do_part, NULL },
	{ "U8_TO_U32", do_part, NULL },
	{ "U16_TO_U32", do_part, NULL },
	{ "V2S8_TO_V2S16", do_part, NULL },
	{ "V2U8_TO_V2U16", do_part, NULL },
	{ "MKVEC", NULL, do_mkvec },
	{ "QUIET", do_quiet, NULL },
	{ "IADD", do_iadd, NULL },
	{ "ISUB", do_isub, NULL },
	{ "IADDC", do_iaddc, NULL },
	{ "ISUBB", do_isubb, NULL },
	{ "HADD", do_hadd, NULL },
	{ "IABS", do_iabs, NULL },
	{ "IMUL", do_imul, NULL },
	{ "IDP", NULL, do_idp },
	{ "LSHIFT_AND", do_lshift, NULL },
	{ "LSHIFT_OR", do_lshift, NULL },
	{ "LSHIFT_XOR", do_lshift, NULL },
	{ "RSHIFT_AND", do_rshift, NULL },
	{ "RSHIFT_OR", do_rshift, NULL },
	{ "RSHIFT_XOR", do_rshift, NULL },
	{ "ARSHIFT", do_arshift, NULL },
	{ "LSHIFT_DOUBLE", NULL, do_double },
	{ "RSHIFT_DOUBLE", NULL, do_double },
	{ "ARSHIFT_DOUBLE", NULL, do_double },
	{ "LROT_DOUBLE", NULL, do_double },
	{ "RROT_DOUBLE", NULL, do_double },
	{ "FLSHIFT_DOUBLE", NULL, do_double },
	{ "FRSHIFT_DOUBLE", NULL, do_double },
	{ "POPCOUNT", NULL, do_popcount },
	{ "BITREV", NULL, do_bitrev },
	{ "CLZ", do_clz, NULL },
	{ "ICMP", do_icmp, NULL },
	{ "CSEL", do_csel, NULL },
	{ "MUX", do_mux, NULL },
	{ "SEG_ADD", NULL, do_seg },
	{ "SEG_SUB", NULL, do_seg },
	{ "SHADDXL", NULL, do_shaddxl },
	{ "SHADDXH", NULL, do_shaddxh },
	{ "ATOM_POST", NULL, do_atom_post },
};

/*
 * The type after the dot, or at the end of a conversion's name: "v2s16" is two signed 16-bit
 * numbers.
 */
static bool parse_type(struct alu_ref *ref, const char *name)
{
	const char *type = strchr(name, '.'), *to = strstr(name, "_TO_");

	ref->elements = 1;
	ref->bits = 32;
	ref->is_signed = false;
	type = type ? type + 1 : to ? to + strlen("_TO_") : "i32";
	if (*type == 'V' || *type == 'v') {
		ref->elements = (unsigned int)type[1] - '0';
		type += 2;
	}
	ref->is_signed = *type == 's' || *type == 'S';
	ref->bits = !strcmp(type + 1, "8") ? 8 : !strcmp(type + 1, "16") ? 16 : 32;
	/* what is called float here is QUIET and has bits of its own */
	return (*type != 'f' || !strncmp(name, "QUIET", 5)) && strcmp(type, "i64");
}

/* "b02": for element 0 byte 0, for element 1 byte 2; "h1": half 1 for the only one. */
static void parse_part(struct alu_ref *ref, unsigned int source, const char *value)
{
	unsigned int bits = value[0] == 'h' ? 16 : 8;

	for (unsigned int e = 0; value[1 + e]; e++) {
		ref->part[source][e].bits = (uint8_t)bits;
		ref->part[source][e].at = (uint8_t)(bits * ((unsigned int)value[1 + e] - '0'));
	}
}

static void parse_sources(struct alu_ref *ref)
{
	static const char *const kinds[] = { "lane", "lanes", "swz", "swap", "widen", "replicate" };

	for (unsigned int s = 0; s < ALU_REF_SOURCES; s++) {
		for (unsigned int e = 0; e < ref->elements; e++) {
			ref->part[s][e].bits = (uint8_t)ref->bits;
			ref->part[s][e].at = (uint8_t)(e * ref->bits);
		}
		for (unsigned int i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
			char name[16] = "";
			const char *value;

			strcat(name, kinds[i]);
			strncat(name, &"0\0001\0002\0003"[2 * s], 1);
			value = alu_ref_modifier(ref->insn, name);
			if (*value == 'h' || *value == 'b')
				parse_part(ref, s, value);
		}
		ref->extend[s] = ref->is_signed;
	}
	if (!strncmp(tsr_ops[ref->insn->op].name, "IMUL", 4))
		ref->extend[1] = is(ref->insn, "extend", "sext");
	if (strstr(ref->op->name, "SHIFT"))
		ref->extend[2] = false;
}

bool alu_ref_prepare(struct alu_ref *ref, const struct tsr_insn *insn,
		     const struct tsr_insn *pair_insn, uint8_t ftz)
{
	const char *name = tsr_ops[insn->op].name;
	size_t length = strcspn(name, ".");

	*ref = (struct alu_ref){ .insn = insn, .pair_insn = pair_insn, .ftz = ftz };
	for (unsigned int i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		if (strlen(ops[i].name) == length && !memcmp(ops[i].name, name, length))
			ref->op = &ops[i];
	}
	if (!ref->op)
		return false;
	if (!parse_type(ref, name) && strncmp(name, "SHADDXL", 7))
		return false;
	parse_sources(ref);
	ref->saturate = is(insn, "saturate", "sat");
	ref->up = is(insn, "round", "rtp");
	ref->mask = is(insn, "mask", "mask");
	ref->minus_one = is(insn, "result_type", "m1");
	ref->not1 = is(insn, "not1", "not");
	ref->not_result = is(insn, "not_result", "not");
	ref->high_byte = is(insn, "lane2", "b2");
	ref->bytes = is(insn, "bytes2", "bytes2");
	ref->word1 = is(insn, "result_word", "w1");
	ref->cmpf = alu_ref_modifier(insn, "cmpf");
	ref->mux = alu_ref_modifier(insn, "mux");
	return true;
}

static uint64_t low_bits(uint64_t x, unsigned int bits)
{
	return x & ((1ull << bits) - 1);
}

uint32_t alu_ref_eval(const struct alu_ref *ref, const uint32_t src[4], const uint32_t pair[3])
{
	uint32_t result = 0;

	if (ref->op->word)
		return ref->op->word(ref, src, pair);
	for (unsigned int e = 0; e < ref->elements; e++) {
		int64_t s[ALU_REF_SOURCES];
		uint64_t element;

		for (unsigned int n = 0; n < ALU_REF_SOURCES; n++) {
			unsigned int width = ref->part[n][e].bits;
			uint64_t bits = low_bits(src[n] >> ref->part[n][e].at, width);

			s[n] = ref->extend[n] ? sign_extended(bits, width) : (int64_t)bits;
		}
		element = low_bits((uint64_t)ref->op->element(ref, s), ref->bits);
		result |= (uint32_t)(element << e * ref->bits);
	}
	return result;
}
