/* SPDX-License-Identifier: MIT */
#include "alu_random.h"

static uint64_t random_state = 0x9e3779b97f4a7c15;

uint32_t random_word(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state >> 16;
}

uint32_t random_source(void)
{
	static const uint32_t single[] = {
		0,	    0x80000000, 1,	    0x80000001, 0x007fffff, 0x807fffff, 0x00800000,
		0x80800000, 0x3f800000, 0xbf800000, 0x3f7fffff, 0x3f800001, 0x3fc00000, 0x40000000,
		0x4b000000, 0x4effffff, 0x4f000000, 0xcf000000, 0x4f7fffff, 0x4f800000, 0x7f7fffff,
		0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345, 0x7f800001, 0xff812345,
		0x3f000000, 0xbf000000, 0x3effffff, 0x00ffffff, 0x33800000, 0x7e800000, 0x00400000,
	};
	static const uint16_t half[] = {
		0,	0x8000, 1,	0x8001, 0x3ff,	0x83ff, 0x400,	0x8400, 0x3c00,
		0xbc00, 0x3bff, 0x3c01, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0xfe12,
		0x7c01, 0xfd55, 0x3800, 0x37ff, 0x7bfe, 0x0401, 0x07ff,
	};
	uint32_t x = random_word();

	switch (random_word() % 8) {
	case 0:
		return single[x % (sizeof(single) / sizeof(single[0]))];
	case 1:
		return half[x % 25] | (uint32_t)half[(x >> 8) % 25] << 16;
	case 2: /* near one another */
		return (x & 0x807fffff) | (120 + (x >> 24) % 16) << 23;
	case 3: /* half floats near one another */
		return (x & 0x83ff83ff) | (14 + (x >> 24) % 4) << 10 | (14 + (x >> 26) % 4) << 26;
	case 4: /* small integers */
		return (int32_t)(x << 8) >> 24;
	case 5: /* subnormal, or just not */
		return x & 0x80ffffff;
	default:
		return x;
	}
}

bool random_insn(unsigned int op, struct tsr_insn *insn)
{
	const struct tsr_op_info *info = &tsr_ops[op];

	for (unsigned int attempt = 0; attempt < 2000; attempt++) {
		uint32_t word;

		*insn = (struct tsr_insn){ .op = op, .form = TSR_FORM_ANY };
		for (unsigned int n = 0; n < info->num_srcs; n++) {
			do
				insn->src[n] = random_word() % 8;
			while (!(info->src_mask[n] >> insn->src[n] & 1));
		}
		for (unsigned int i = 0; i < info->num_mods; i++) {
			uint8_t *mod = &insn->mod[info->mods[i]];

			do
				*mod = random_word() & 1 ? info->mod_defaults[i]
							 : random_word() % 32;
			while (!tsr_mod_value_name(info->mods[i], *mod));
		}
		if (tsr_insn_encode(insn, &word) && tsr_insn_decode(info->unit, word, insn))
			return true;
	}
	return false;
}
