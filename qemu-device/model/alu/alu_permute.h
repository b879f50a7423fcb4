/* SPDX-License-Identifier: MIT */
/*
 * Instructions whose lanes see each other: those of a warp, in groups of 2, 4, 8 or 16 from a
 * multiple of that. A template, see alu_path.h.
 */

/* The words of a warp that @lane names, 0 to 15, of the vectors @words. */
TSR_INLINE vu32 permuted(const vu32 words[TSR_CHUNKS], vu32 lane)
{
#if defined(TSR_ALU_AVX512)
	return (vu32)_mm512_permutexvar_epi32((__m512i)lane, (__m512i)words[0]);
#elif defined(TSR_ALU_AVX2)
	__m256i low = _mm256_permutevar8x32_epi32((__m256i)words[0], (__m256i)lane);
	__m256i high = _mm256_permutevar8x32_epi32((__m256i)words[1], (__m256i)lane);

	return choose((vu32)((vs32)(lane << 28) >> 31), (vu32)high, (vu32)low);
#else
	vu32 result;

	for (unsigned int i = 0; i < TSR_CHUNK_LANES; i++)
		result[i] = words[lane[i] / TSR_CHUNK_LANES][lane[i] % TSR_CHUNK_LANES];
	return result;
#endif
}

/* The numbers of the lanes of a chunk. */
TSR_INLINE vu32 own_lanes(unsigned int chunk)
{
	static const uint32_t numbers[TSR_WARP_LANES] = {
		0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	};
	vu32 own;

	memcpy(&own, numbers + chunk * TSR_CHUNK_LANES, sizeof(own));
	return own;
}

/*
 * CLPER. param[0]: lanes of a group - 1; param[1]: what an inactive lane gives; param[2]: ones for
 * XOR, else 0.
 */
static void run_clper(const struct tsr_uop *uop, struct tsr_alu_state *state)
{
	const struct tsr_alu_consts k = tsr_alu_consts(uop);
	const struct tsr_alu_vectors to = tsr_alu_vectors(state, uop->dst);
	const struct tsr_alu_vectors value = tsr_alu_vectors(state, uop->src[0]);
	const struct tsr_alu_vectors lane = tsr_alu_vectors(state, uop->src[1]);

	for (unsigned int i = 0; i < state->warps; i++) {
		const unsigned int warp = state->warp[i];
		vu32 words[TSR_CHUNKS], lanes[TSR_CHUNKS];

		for (unsigned int chunk = 0; chunk < TSR_CHUNKS; chunk++) {
			words[chunk] = choose(tsr_alu_mask(state, warp, chunk),
					      tsr_alu_get(value, warp, chunk),
					      tsr_splat(k.param[1]));
			lanes[chunk] = tsr_alu_get(lane, warp, chunk);
		}
		for (unsigned int chunk = 0; chunk < TSR_CHUNKS; chunk++) {
			vu32 own = own_lanes(chunk);
			vu32 from = (lanes[chunk] ^ (own & k.param[2])) & k.param[0];

			tsr_alu_put_chosen(uop, state, to, warp, chunk,
					   permuted(words, from | (own & ~k.param[0])));
		}
	}
}

/* Lanes of a group by enum tsr_mod_subgroup. */
static unsigned int group_lanes(unsigned int subgroup)
{
	return subgroup == TSR_SUBGROUP_SUBGROUP2 ? 2 : subgroup == TSR_SUBGROUP_SUBGROUP4 ? 4 :
	       subgroup == TSR_SUBGROUP_SUBGROUP8 ? 8 : TSR_WARP_LANES;
}

static bool select_clper(struct tsr_uop *uop)
{
	static const uint32_t inactive[] = {
		[TSR_INACTIVE_RESULT_ZERO] = 0,
		[TSR_INACTIVE_RESULT_UMAX] = 0xffffffff,
		[TSR_INACTIVE_RESULT_I1] = 1,
		[TSR_INACTIVE_RESULT_V2I1] = 0x00010001,
		[TSR_INACTIVE_RESULT_SMIN] = 0x80000000,
		[TSR_INACTIVE_RESULT_SMAX] = 0x7fffffff,
		[TSR_INACTIVE_RESULT_V2SMIN] = 0x80008000,
		[TSR_INACTIVE_RESULT_V2SMAX] = 0x7fff7fff,
		[TSR_INACTIVE_RESULT_V4SMIN] = 0x80808080,
		[TSR_INACTIVE_RESULT_V4SMAX] = 0x7f7f7f7f,
		[TSR_INACTIVE_RESULT_F1] = 0x3f800000,
		[TSR_INACTIVE_RESULT_V2F1] = 0x3c003c00,
		[TSR_INACTIVE_RESULT_INFN] = 0xff800000,
		[TSR_INACTIVE_RESULT_INF] = 0x7f800000,
		[TSR_INACTIVE_RESULT_V2INFN] = 0xfc00fc00,
		[TSR_INACTIVE_RESULT_V2INF] = 0x7c007c00,
	};
	const uint8_t *mod = uop->insn->mod;

	/* nobody has published what the others do */
	if (mod[TSR_MOD_LANE_OP] != TSR_LANE_OP_NONE && mod[TSR_MOD_LANE_OP] != TSR_LANE_OP_XOR)
		return false;
	uop->param[0] = group_lanes(mod[TSR_MOD_SUBGROUP]) - 1;
	uop->param[1] = inactive[mod[TSR_MOD_INACTIVE_RESULT]];
	uop->param[2] = mod[TSR_MOD_LANE_OP] == TSR_LANE_OP_XOR ? ~0u : 0;
	uop->fn = run_clper;
	return true;
}

/* CLPER_OLD: source 1 is a lane of the whole warp, inactive ones give 0. */
static bool select_clper_old(struct tsr_uop *uop)
{
	uop->param[0] = TSR_WARP_LANES - 1;
	uop->fn = run_clper;
	return true;
}

/*
 * WMASK: bit n is set when lane n of the group is active and its source is not 0; a lane that is
 * not active gives the fill bit. param[0]: lanes of a group; param[1]: the fill.
 */
static void run_wmask(const struct tsr_uop *uop, struct tsr_alu_state *state)
{
	const struct tsr_alu_consts k = tsr_alu_consts(uop);
	const struct tsr_alu_vectors to = tsr_alu_vectors(state, uop->dst);
	const struct tsr_alu_vectors value = tsr_alu_vectors(state, uop->src[0]);

	for (unsigned int i = 0; i < state->warps; i++) {
		const unsigned int warp = state->warp[i];
		const union tsr_lanes *values = tsr_alu_warp(value, warp),
				      *mask = &state->mask[warp];
		union tsr_lanes result;
		const struct tsr_alu_vectors all_lanes = { (char *)&result, 0 };
		uint32_t all = 0;

		for (unsigned int lane = 0; lane < TSR_WARP_LANES; lane++)
			all |= (mask->u[lane] ? values->u[lane] != 0 : k.param[1]) << lane;
		for (unsigned int lane = 0; lane < TSR_WARP_LANES; lane++)
			result.u[lane] = all >> (lane & -k.param[0]) & ((1u << k.param[0]) - 1);
		for (unsigned int chunk = 0; chunk < TSR_CHUNKS; chunk++)
			tsr_alu_put_chosen(uop, state, to, warp, chunk,
					   tsr_alu_get(all_lanes, 0, chunk));
	}
}

static bool select_wmask(struct tsr_uop *uop)
{
	uop->param[0] = group_lanes(uop->insn->mod[TSR_MOD_SUBGROUP]);
	uop->param[1] = uop->insn->imm[TSR_IMM_FILL] & 1;
	uop->fn = run_wmask;
	return true;
}
