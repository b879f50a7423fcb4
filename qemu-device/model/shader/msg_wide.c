/* SPDX-License-Identifier: MIT */
/*
 * Loads and stores of a whole warp on vectors of 512 bits, see msg_lanes.h. What they do is what
 * msg_memory.c does lane by lane.
 */
#include "msg_lanes.h"

#ifdef __x86_64__
#include <immintrin.h>

#define WIDE __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))

/* Accesses of the lanes of a message: @at, from @base on. */
struct span {
	__mmask16 lanes;
	uint8_t *base;
	__m512i at;
};

/* Whether all accesses, and the words they are parts of, are aligned and inside of @limit bytes. */
static inline WIDE bool inside(const struct span *s, unsigned int bytes, uint64_t limit)
{
	__m512i low = _mm512_set1_epi32(tsr_msg_alignment(bytes) - 1);
	__mmask16 bad = _mm512_mask_test_epi32_mask(s->lanes, s->at, low);

	limit = limit / 4 * 4;
	if (limit < bytes || limit > UINT32_MAX)
		return false;
	return !(bad | _mm512_mask_cmpgt_epu32_mask(s->lanes, s->at,
						    _mm512_set1_epi32(limit - bytes)));
}

/* Find out where the lanes go; false: not all into one page or into group memory. */
static inline WIDE bool find_span(const struct tsr_msg_env *env, const struct tsr_msg *msg,
				  const struct tsr_access_page *set, unsigned int bytes,
				  struct span *s)
{
	unsigned int seg = msg->insn->mod[TSR_MOD_SEG];
	__m512i lo = _mm512_load_si512(msg->src[0]->u);
	unsigned int first = __builtin_ctz(msg->lanes);
	uint64_t va = tsr_msg_address(msg, first);
	__m512i hi, differ;

	s->lanes = msg->lanes;
	s->at = lo;
	s->base = env->group_memory;
	if (seg == TSR_SEG_WLS)
		return inside(s, bytes, env->state->group_memory);
	if (seg != TSR_SEG_NONE && seg != TSR_SEG_STREAM)
		return false;
	hi = _mm512_load_si512(msg->src[1]->u);
	differ = _mm512_xor_si512(hi, _mm512_set1_epi32(va >> 32));
	if (va >> 32 == TSR_WINDOW_GROUP >> 32)
		return !_mm512_mask_test_epi32_mask(s->lanes, differ, differ) &&
		       inside(s, bytes, env->state->group_memory);
	differ = _mm512_or_si512(differ, _mm512_andnot_si512(
		_mm512_set1_epi32(TSR_ACCESS_PAGE_BYTES - 1),
		_mm512_xor_si512(lo, _mm512_set1_epi32((uint32_t)va))));
	s->base = tsr_access_find(env->access, set, va);
	s->at = _mm512_and_si512(lo, _mm512_set1_epi32(TSR_ACCESS_PAGE_BYTES - 1));
	return s->base && !_mm512_mask_test_epi32_mask(s->lanes, differ, differ) &&
	       inside(s, bytes, TSR_ACCESS_PAGE_BYTES);
}

/* Whether all sixteen lanes access @bytes each, one behind the other. */
static inline WIDE bool contiguous(const struct span *s, unsigned int bytes)
{
	const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
					       15);
	__m512i first = _mm512_broadcastd_epi32(_mm512_castsi512_si128(s->at));
	__m512i want = _mm512_add_epi32(first, _mm512_mullo_epi32(lane, _mm512_set1_epi32(bytes)));

	return s->lanes == TSR_ALL_LANES && _mm512_cmpeq_epi32_mask(s->at, want) == TSR_ALL_LANES;
}

/* The first byte of a contiguous span. */
static inline WIDE uint8_t *start(const struct span *s)
{
	return s->base + (uint32_t)_mm_cvtsi128_si32(_mm512_castsi512_si128(s->at));
}

static inline WIDE void set_register(const struct tsr_msg *msg, unsigned int n, __m512i value)
{
	_mm512_mask_store_epi32(tsr_msg_staging(msg, n)->u, msg->lanes, value);
}

static inline WIDE __m512i get_register(const struct tsr_msg *msg, unsigned int n)
{
	return _mm512_load_si512(tsr_msg_staging(msg, n)->u);
}

/* Words @c of all lanes, out of contiguous lanes of two and of four words. */
static inline WIDE __m512i component2(const __m512i v[2], int c)
{
	const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26,
					       28, 30);

	return _mm512_permutex2var_epi32(v[0], _mm512_add_epi32(even, _mm512_set1_epi32(c)), v[1]);
}

static inline WIDE __m512i component4(const __m512i v[4], int c)
{
	const __m512i fourth = _mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 0, 4, 8, 12, 16, 20,
						 24, 28);
	__m512i at = _mm512_add_epi32(fourth, _mm512_set1_epi32(c));
	__m512i low = _mm512_permutex2var_epi32(v[0], at, v[1]);
	__m512i high = _mm512_permutex2var_epi32(v[2], at, v[3]);

	return _mm512_inserti64x4(low, _mm512_castsi512_si256(high), 1);
}

/* One to four words of each lane. */
static inline WIDE void load_words(const struct tsr_msg *msg, const struct span *s,
				   unsigned int words)
{
	__m512i v[4];

	if (words != 3 && contiguous(s, 4 * words)) {
		for (unsigned int i = 0; i < words; i++)
			v[i] = _mm512_loadu_si512(start(s) + 64 * i);
		for (unsigned int i = 0; i < words; i++)
			set_register(msg, i, words == 1 ? v[0] : words == 2 ? component2(v, i)
									    : component4(v, i));
		return;
	}
	for (unsigned int i = 0; i < words; i++)
		set_register(msg, i, _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), s->lanes,
								 s->at, s->base + 4 * i, 1));
}

/* A byte or half of each lane, extended and put where it belongs. */
static WIDE void load_short(const struct tsr_msg *msg, const struct span *s,
			    const struct tsr_load_form *form)
{
	__m512i word = _mm512_andnot_si512(_mm512_set1_epi32(3), s->at);
	__m512i byte = _mm512_and_si512(_mm512_set1_epi32(3), s->at);
	__m128i unused = _mm_cvtsi32_si128(32 - 8 * form->bytes);
	__m512i v = _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), s->lanes, word, s->base, 1);
	__m512i mask = _mm512_set1_epi32(form->mask);

	v = _mm512_sll_epi32(_mm512_srlv_epi32(v, _mm512_slli_epi32(byte, 3)), unused);
	v = form->extend == TSR_EXTEND_SEXT ? _mm512_sra_epi32(v, unused)
					    : _mm512_srl_epi32(v, unused);
	if (form->words > 1)
		set_register(msg, 1, form->extend == TSR_EXTEND_SEXT ? _mm512_srai_epi32(v, 31)
								     : _mm512_setzero_si512());
	v = _mm512_and_si512(_mm512_sll_epi32(v, _mm_cvtsi32_si128(form->shift)), mask);
	set_register(msg, 0, _mm512_or_si512(v, _mm512_andnot_si512(mask, get_register(msg, 0))));
}

static WIDE bool load_span(struct tsr_msg_env *env, struct tsr_msg *msg, const struct span *s,
			   const struct tsr_load_form *form)
{
	switch (form->bytes) {
	case 1:
	case 2:
		load_short(msg, s, form);
		break;
	case 4:
		if (form->words > 1)
			return false;
		load_words(msg, s, 1);
		break;
	case 8:
		load_words(msg, s, 2);
		break;
	case 12:
		load_words(msg, s, 3);
		break;
	case 16:
		load_words(msg, s, 4);
		break;
	default:
		return false;
	}
	env->cost.read_bytes += (unsigned int)__builtin_popcount(msg->lanes) * form->bytes;
	msg->lanes = 0;
	return true;
}

WIDE bool tsr_wide_load(struct tsr_msg_env *env, struct tsr_msg *msg,
			const struct tsr_load_form *form)
{
	struct span s;

	if (!msg->lanes || !find_span(env, msg, env->access->read, form->bytes, &s))
		return false;
	return load_span(env, msg, &s, form);
}

WIDE bool tsr_wide_load_from(struct tsr_msg_env *env, struct tsr_msg *msg,
			     const struct tsr_load_form *form, const uint8_t *base, uint64_t limit)
{
	struct span s = {
		.lanes = msg->lanes,
		.base = (uint8_t *)base,
		.at = _mm512_load_si512(msg->src[0]->u),
	};

	return inside(&s, form->bytes, limit) && load_span(env, msg, &s, form);
}

/* Contiguous lanes of two words and of four, vector @k of them. */
static inline WIDE __m512i interleave2(__m512i a, __m512i b, int k)
{
	const __m512i pairs = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7,
						23);

	return _mm512_permutex2var_epi32(a, _mm512_add_epi32(pairs, _mm512_set1_epi32(8 * k)), b);
}

static inline WIDE __m512i interleave4(const __m512i v[4], int k)
{
	const __m512i pairs = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 0, 16, 1, 17, 2, 18, 3,
						19);
	const __m512i quads = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
	__m512i at = _mm512_add_epi32(pairs, _mm512_set1_epi32(4 * k));

	return _mm512_permutex2var_epi64(_mm512_permutex2var_epi32(v[0], at, v[1]), quads,
					 _mm512_permutex2var_epi32(v[2], at, v[3]));
}

WIDE bool tsr_wide_store(struct tsr_msg_env *env, struct tsr_msg *msg, unsigned int bytes)
{
	unsigned int words = bytes / 4;
	struct span s;
	__m512i v[4];

	if (!msg->lanes || bytes % 4 || words == 3 ||
	    !find_span(env, msg, env->access->write, bytes, &s))
		return false;
	for (unsigned int i = 0; i < words; i++)
		v[i] = get_register(msg, i);
	/* lanes of several words may overlap, and the order of lanes counts */
	if (contiguous(&s, bytes)) {
		for (unsigned int i = 0; i < words; i++) {
			__m512i out = words == 1 ? v[0] :
				      words == 2 ? interleave2(v[0], v[1], i) : interleave4(v, i);

			_mm512_storeu_si512(start(&s) + 64 * i, out);
		}
	} else if (words == 1) {
		_mm512_mask_i32scatter_epi32(s.base, s.lanes, s.at, v[0], 1);
	} else {
		return false;
	}
	env->cost.write_bytes += (unsigned int)__builtin_popcount(msg->lanes) * bytes;
	msg->lanes = 0;
	return true;
}

#else

bool tsr_wide_load(struct tsr_msg_env *env, struct tsr_msg *msg, const struct tsr_load_form *form)
{
	(void)env;
	(void)msg;
	(void)form;
	return false;
}

bool tsr_wide_load_from(struct tsr_msg_env *env, struct tsr_msg *msg,
			const struct tsr_load_form *form, const uint8_t *base, uint64_t limit)
{
	(void)base;
	(void)limit;
	return tsr_wide_load(env, msg, form);
}

bool tsr_wide_store(struct tsr_msg_env *env, struct tsr_msg *msg, unsigned int bytes)
{
	(void)env;
	(void)msg;
	(void)bytes;
	return false;
}

#endif
