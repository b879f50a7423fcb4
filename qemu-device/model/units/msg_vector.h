/* SPDX-License-Identifier: MIT */
/*
 * Loads, stores and additions of bundles on the vectors of one SIMD path, see msg_bundle.h and
 * alu_path.h. The addresses of a warp's lanes are looked at all at once: most are the same, or one
 * after the other, or somewhere in one page.
 */
#include "alu/alu_rows.h"
#include "msg_bundle.h"
#include "shader/stage.h"

/* A vector for each lane of a warp. */
struct wide {
	vu32 v[TSR_CHUNKS];
};

/* Loop over all chunks of a vector. */
#define EACH_CHUNK(i) TSR_UNROLL for (unsigned int i = 0; i < TSR_CHUNKS; i++)

TSR_INLINE struct wide get(const union tsr_lanes *lanes)
{
	const tsr_vector_in_memory *from = (const tsr_vector_in_memory *)lanes;
	struct wide x;

	EACH_CHUNK(i)
		x.v[i] = from[i];
	return x;
}

TSR_INLINE void put_all(union tsr_lanes *lanes, struct wide x)
{
	tsr_vector_in_memory *to = (tsr_vector_in_memory *)lanes;

	EACH_CHUNK(i)
		to[i] = x.v[i];
}

TSR_INLINE struct wide splat(uint32_t word)
{
	struct wide x;

	EACH_CHUNK(i)
		x.v[i] = tsr_splat(word);
	return x;
}

/* All ones in @lanes. */
TSR_INLINE struct wide mask_of(uint16_t lanes)
{
	static const union tsr_lanes weight = { .u = { 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024,
						       2048, 4096, 8192, 16384, 32768 } };
	struct wide x = get(&weight);

	EACH_CHUNK(i)
		x.v[i] = (vu32)((x.v[i] & lanes) != 0);
	return x;
}

TSR_INLINE void put(union tsr_lanes *to, uint16_t lanes, struct wide x)
{
	if (lanes != TSR_ALL_LANES) {
		struct wide old = get(to), mask = mask_of(lanes);

		EACH_CHUNK(i)
			x.v[i] = old.v[i] ^ ((old.v[i] ^ x.v[i]) & mask.v[i]);
	}
	put_all(to, x);
}

/* True if any bit is set in one of @lanes. */
TSR_INLINE bool any(struct wide x, uint16_t lanes)
{
	vu32 all = { 0 };

	if (lanes != TSR_ALL_LANES) {
		struct wide mask = mask_of(lanes);

		EACH_CHUNK(i)
			x.v[i] &= mask.v[i];
	}
	EACH_CHUNK(i)
		all |= x.v[i];
#if defined(TSR_ALU_AVX512)
	return _mm512_test_epi32_mask((__m512i)all, (__m512i)all);
#elif defined(TSR_ALU_AVX2)
	return !_mm256_testz_si256((__m256i)all, (__m256i)all);
#else
	typedef uint64_t pair __attribute__((vector_size(16)));

	return ((pair)all)[0] | ((pair)all)[1];
#endif
}

TSR_INLINE unsigned int count_lanes(uint16_t lanes)
{
	return lanes == TSR_ALL_LANES ? TSR_WARP_LANES : tsr_lanes_count(lanes);
}

TSR_INLINE union tsr_lanes *staging(const struct tsr_msg_bundle *b, unsigned int w, unsigned int n)
{
	return tsr_msg_bundle_staging(b, w, n);
}

/* ---- Registers at entry ---------------------------------------------------------------------- */

static void enter(const struct tsr_msg_entry *entry, union tsr_lanes *reg, unsigned int count)
{
	const unsigned int step = TSR_BUNDLE_WARPS;

	for (unsigned int w = 0; w < count; w++, reg++) {
		struct wide xy = get(&entry->xy[w]), z = get(&entry->z[w]), x = xy, y = xy;

		put_all(&reg[0 * step], xy);
		put_all(&reg[1 * step], z);
		put_all(&reg[2 * step], splat(entry->id[0]));
		put_all(&reg[3 * step], splat(entry->id[1]));
		put_all(&reg[4 * step], splat(entry->id[2]));
		EACH_CHUNK(i) {
			x.v[i] = (xy.v[i] & 0xffff) + entry->origin[0];
			y.v[i] = (xy.v[i] >> 16) + entry->origin[1];
			z.v[i] += entry->origin[2];
		}
		put_all(&reg[5 * step], x);
		put_all(&reg[6 * step], y);
		put_all(&reg[7 * step], z);
	}
}

/* ---- Where the lanes go ---------------------------------------------------------------------- */

/* The page that was accessed last. */
struct last_page {
	uint64_t number;		/* va / TSR_ACCESS_PAGE_BYTES */
	uint8_t *page;			/* NULL: none */
};

enum pattern {
	AT_ONE_PLACE,			/* all lanes at lane[0] */
	IN_A_ROW,			/* lane n at lane[0] + n * bytes; host[] is not filled */
	ANYWHERE,			/* lane n at host[n] */
	NOWHERE,			/* lane by lane, please */
};

/* The accesses of a warp. */
struct span {
	uint8_t *base;
	uint32_t limit;			/* bytes there; at most INT32_MAX */
	uint32_t first;			/* where the first lane goes, from @base on */
	struct wide at;			/* where all do */
	struct wide out;		/* not 0: this lane goes somewhere else */
};

/* @last becomes the page of @va; false: it cannot be had. */
TSR_INLINE bool have_page(struct tsr_msg_env *env, const struct tsr_msg_access *a, uint64_t va,
			  struct last_page *last)
{
	if (!last->page || va / TSR_ACCESS_PAGE_BYTES != last->number) {
		last->number = va / TSR_ACCESS_PAGE_BYTES;
		last->page = tsr_msg_page(env, a, va);
	}
	return last->page;
}

TSR_INLINE bool find_page(struct tsr_msg_env *env, const struct tsr_msg_access *a, uint64_t va,
			  struct last_page *last, struct span *s)
{
	bool found = have_page(env, a, va, last);

	s->base = last->page;
	s->limit = TSR_ACCESS_PAGE_BYTES;
	s->first = va % TSR_ACCESS_PAGE_BYTES;
	return found;
}

/* All lanes at offsets in the uniform buffer whose index is @index, in one page of it. */
TSR_INLINE bool find_uniform(struct tsr_msg_env *env, const struct tsr_msg_access *a,
			     uint32_t index, uint32_t offset, struct last_page *last,
			     struct span *s)
{
	struct tsr_msg_buffer buffer;
	uint32_t base, end;

	if (tsr_msg_uniform_buffer(env, index, &buffer) != TSR_STEP_DONE ||
	    buffer.size < a->bytes)
		return false;
	end = buffer.size - a->bytes;	/* a buffer has less than 2^31 bytes */
	/* descriptors have no bits for windows */
	if (offset > end || !find_page(env, a, buffer.va + offset, last, s))
		return false;
	base = s->first - offset;
	EACH_CHUNK(i) {
		s->out.v[i] |= (end - s->at.v[i]) & 0x80000000u;
		s->out.v[i] |= s->at.v[i] & 0x80000000u;
		s->at.v[i] += base;
	}
	return true;
}

/* Finds a span that contains the accesses of @lanes. False if there is none. */
TSR_INLINE bool find_span(struct tsr_msg_env *env, const struct tsr_msg_access *a,
			  const struct tsr_msg_place *place, uint16_t lanes,
			  struct last_page *last, struct span *s)
{
	unsigned int first = __builtin_ctz(lanes);
	uint32_t lo = a->lo->u[first], hi;
	struct wide all_hi;

	s->at = get(a->lo);
	s->out = splat(0);
	if (a->seg == TSR_SEG_WLS) {
		s->base = place->group_memory;
		s->limit = env->state->group_memory;
		s->first = lo;
		return true;
	}
	if (a->seg == TSR_SEG_TL)
		return false;
	hi = a->hi->u[first];
	all_hi = get(a->hi);
	EACH_CHUNK(i)
		s->out.v[i] = all_hi.v[i] ^ hi;
	if (a->seg == TSR_SEG_UBO)
		return find_uniform(env, a, hi, lo, last, s);
	if (hi == TSR_WINDOW_GROUP >> 32) {
		s->base = place->group_memory;
		s->limit = env->state->group_memory;
		s->first = lo;
		return true;
	}
	if (hi == TSR_WINDOW_OUTPUT >> 32 && env->stage == TSR_STAGE_POSITION) {
		s->base = (uint8_t *)tsr_vertex_records(env->vertices);
		s->limit = tsr_vertex_window(env->vertices);
		s->first = lo;
		return true;
	}
	if (hi >> (TSR_WINDOW_SHIFT - 32))
		return false;
	EACH_CHUNK(i) {
		s->out.v[i] |= (s->at.v[i] ^ lo) & ~(TSR_ACCESS_PAGE_BYTES - 1);
		s->at.v[i] &= TSR_ACCESS_PAGE_BYTES - 1;
	}
	return find_page(env, a, (uint64_t)hi << 32 | lo, last, s);
}

/* The lanes of a span that all lie inside of it. */
TSR_INLINE enum pattern judge(const struct tsr_msg_access *a, uint16_t lanes, const struct span *s)
{
	static const union tsr_lanes number = { .u = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13,
						       14, 15 } };
	uint32_t end = s->limit - a->bytes;
	struct wide n = get(&number), same, row, bad;

	if (s->limit < a->bytes || s->limit > INT32_MAX)
		return NOWHERE;
	EACH_CHUNK(i) {
		same.v[i] = s->at.v[i] - s->first;
		row.v[i] = same.v[i] - n.v[i] * a->bytes;
		bad.v[i] = s->out.v[i] | (s->at.v[i] & (a->align - 1)) |
			   ((s->at.v[i] | (end - s->at.v[i])) & 0x80000000u);
	}
	if (any(bad, lanes))
		return NOWHERE;
	if (lanes == TSR_ALL_LANES && !any(row, lanes))
		return IN_A_ROW;
	return any(same, lanes) ? ANYWHERE : AT_ONE_PLACE;
}

/* True if all lanes of @a are those of @b. */
TSR_INLINE bool equal(struct wide a, struct wide b)
{
#if defined(TSR_ALU_AVX512)
	return _mm512_cmpeq_epi32_mask((__m512i)a.v[0], (__m512i)b.v[0]) == TSR_ALL_LANES;
#else
	EACH_CHUNK(i)
		a.v[i] ^= b.v[i];
	return !any(a, TSR_ALL_LANES);
#endif
}

/*
 * Fast path for most messages: all lanes, consecutive or at one place, in one page or in shared
 * memory. NOWHERE for others.
 */
TSR_INLINE enum pattern locate_quickly(struct tsr_msg_env *env, const struct tsr_msg_access *a,
				       const struct tsr_msg_place *place, struct last_page *last,
				       unsigned int bytes, uint8_t **at)
{
	static const union tsr_lanes number = { .u = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13,
						       14, 15 } };
	struct wide lo = get(a->lo), first = splat(a->lo->u[0]), row = get(&number);
	uint64_t offset = a->lo->u[0], limit = env->state->group_memory;
	uint8_t *base = place->group_memory;

	if (a->seg != TSR_SEG_WLS) {
		uint32_t hi = a->hi->u[0];

		if (!equal(get(a->hi), splat(hi)))
			return NOWHERE;
		offset |= (uint64_t)hi << 32;
		if (hi == TSR_WINDOW_GROUP >> 32) {
			offset -= TSR_WINDOW_GROUP;
		} else if (hi >> (TSR_WINDOW_SHIFT - 32) || !have_page(env, a, offset, last)) {
			return NOWHERE;
		} else {
			offset %= TSR_ACCESS_PAGE_BYTES;
			limit = TSR_ACCESS_PAGE_BYTES;
			base = last->page;
		}
	}
	if (offset & (a->align - 1u))
		return NOWHERE;
	*at = (uint8_t *)((uintptr_t)base + offset);
	EACH_CHUNK(i)
		row.v[i] = row.v[i] * bytes + first.v[i];
	if (equal(lo, row))
		return offset + TSR_WARP_LANES * bytes <= limit ? IN_A_ROW : NOWHERE;
	return equal(lo, first) && offset + bytes <= limit ? AT_ONE_PLACE : NOWHERE;
}

/*
 * Where the accesses of a warp go. What can be found for each lane only is found as
 * tsr_msg_resolve() does.
 */
static __attribute__((noinline)) enum pattern
locate_any(struct tsr_msg_env *env, const struct tsr_msg_access *a,
	   const struct tsr_msg_place *place, uint16_t lanes, struct last_page *last,
	   uint8_t *host[TSR_WARP_LANES])
{
	enum pattern pattern = NOWHERE;
	union tsr_lanes at;
	struct span s;

	if (find_span(env, a, place, lanes, last, &s))
		pattern = judge(a, lanes, &s);
	switch (pattern) {
	case AT_ONE_PLACE:
	case IN_A_ROW:
		host[0] = s.base + s.first;
		break;
	case ANYWHERE:
		put_all(&at, s.at);
		for (unsigned int l = 0; l < TSR_WARP_LANES; l++)
			host[l] = (uint8_t *)((uintptr_t)s.base + at.u[l]);
		break;
	default:
		if (a->seg != TSR_SEG_UBO && tsr_msg_resolve(env, a, place, lanes, host))
			pattern = ANYWHERE;
	}
	return pattern;
}

TSR_INLINE enum pattern locate(struct tsr_msg_env *env, const struct tsr_msg_access *a,
			       const struct tsr_msg_place *place, uint16_t lanes,
			       struct last_page *last, unsigned int bytes,
			       uint8_t *host[TSR_WARP_LANES])
{
	enum pattern pattern = NOWHERE;

	if (lanes == TSR_ALL_LANES && a->seg != TSR_SEG_UBO && a->seg != TSR_SEG_TL)
		pattern = locate_quickly(env, a, place, last, bytes, &host[0]);
	return pattern != NOWHERE ? pattern : locate_any(env, a, place, lanes, last, host);
}

/*
 * Warps that load from memory in a row are followed by others that do so after them: how far ahead
 * of a warp the processor is told of it, about a bundle's bytes. Nothing is accessed there.
 */
#define PREFETCH_BYTES 1024

/* ---- Loads ----------------------------------------------------------------------------------- */

/* Words that other threads may write meanwhile: each is read in one piece. */
TSR_INLINE uint32_t read_word(const uint8_t *at)
{
	return __atomic_load_n((const uint32_t *)at, __ATOMIC_RELAXED);
}

TSR_INLINE uint32_t read_short(const uint8_t *at, unsigned int bytes)
{
	uint16_t half;

	if (bytes == 1)
		return *at;
	if (bytes == 4)
		return read_word(at);
	memcpy(&half, at, 2);
	return half;
}

/* The bytes of 1, 2 or 4 of each lane. */
TSR_INLINE struct wide read_lanes(enum pattern pattern, uint16_t lanes,
				  uint8_t *const host[TSR_WARP_LANES], unsigned int bytes)
{
	union tsr_lanes word;

	if (pattern == AT_ONE_PLACE)
		return splat(read_short(host[0], bytes));
	if (pattern == IN_A_ROW && bytes == 4) {
		__builtin_prefetch(host[0] + PREFETCH_BYTES);
		memcpy(&word, host[0], sizeof(word));
		return get(&word);
	}
	if (pattern == IN_A_ROW) {
		for (unsigned int l = 0; l < TSR_WARP_LANES; l++)
			word.u[l] = read_short(host[0] + l * bytes, bytes);
		return get(&word);
	}
	if (lanes == TSR_ALL_LANES) {
		TSR_UNROLL
		for (unsigned int l = 0; l < TSR_WARP_LANES; l++)
			word.u[l] = read_short(host[l], bytes);
		return get(&word);
	}
	put_all(&word, splat(0));
	for (; lanes; lanes &= lanes - 1)
		word.u[__builtin_ctz(lanes)] = read_short(host[__builtin_ctz(lanes)], bytes);
	return get(&word);
}

/* Extend what has been read and put it where it belongs. */
TSR_INLINE void put_short(const struct tsr_msg_bundle *b, unsigned int w, uint16_t lanes,
			  struct wide x, const struct tsr_load_form *form)
{
	union tsr_lanes *to = staging(b, w, 0);
	unsigned int unused = 32 - 8 * form->bytes;
	bool sign = form->extend == TSR_EXTEND_SEXT;
	struct wide high = splat(0), old = get(to);

	EACH_CHUNK(i) {
		if (sign) {
			x.v[i] = (vu32)((vs32)(x.v[i] << unused) >> unused);
			high.v[i] = (vu32)((vs32)x.v[i] >> 31);
		}
		x.v[i] = (old.v[i] & ~form->mask) | ((x.v[i] << form->shift) & form->mask);
	}
	put(to, lanes, x);
	if (form->words > 1)
		put(staging(b, w, 1), lanes, high);
}

/* Two words that a lane has. */
typedef uint64_t pair_in_memory __attribute__((aligned(4), may_alias));
typedef uint64_t pairs __attribute__((vector_size(16)));

/* The first three words of a quad in memory; nothing after them is read. */
TSR_INLINE tsr_quad load_triple(const uint8_t *from)
{
#if defined(TSR_ALU_AVX512)
	return (tsr_quad)_mm_maskz_loadu_epi32(7, from);
#elif defined(TSR_ALU_AVX2)
	return (tsr_quad)_mm_maskload_epi32((const int *)from, (__m128i){ -1, 0xffffffff });
#else
	uint64_t low = *(const pair_in_memory *)from;

	return (tsr_quad)(pairs){ low, read_word(from + 8) };
#endif
}

/* @words words of each lane, two to four, at @from, to as many vectors. */
TSR_INLINE void load_columns(union tsr_lanes *const to[], const uint8_t *const from[],
			     unsigned int words)
{
	EACH_CHUNK(c) {
		vu32 v[4];

		for (unsigned int i = 0; i < 4; i++) {
			tsr_quad q[TSR_CHUNK_LANES / 4];

			for (unsigned int k = 0; k < TSR_CHUNK_LANES / 4; k++) {
				const uint8_t *at = from[c * TSR_CHUNK_LANES + 4 * k + i];

				if (words == 4)
					q[k] = *(const tsr_quad_in_memory *)at;
				else if (words == 3)
					q[k] = load_triple(at);
				else
					q[k] = (tsr_quad)(pairs){ *(const pair_in_memory *)at, 0 };
			}
			v[i] = tsr_join_quads(q);
		}
		tsr_transpose(v);
		for (unsigned int n = 0; n < words; n++)
			((tsr_vector_in_memory *)to[n])[c] = v[n];
	}
}

/* Two to four words of each lane. */
TSR_INLINE void load_words(const struct tsr_msg_bundle *b, unsigned int w, enum pattern pattern,
			   uint16_t lanes, uint8_t *host[TSR_WARP_LANES], unsigned int words)
{
	union tsr_lanes *to[4];

	if (pattern == AT_ONE_PLACE) {
		for (unsigned int n = 0; n < words; n++)
			put(staging(b, w, n), lanes, splat(read_word(host[0] + 4 * n)));
		return;
	}
	if (pattern == IN_A_ROW) {
		for (unsigned int l = 1; l < TSR_WARP_LANES; l++)
			host[l] = host[0] + l * 4 * words;
	}
	if (lanes != TSR_ALL_LANES) {
		for (; lanes; lanes &= lanes - 1) {
			unsigned int lane = __builtin_ctz(lanes);

			for (unsigned int n = 0; n < words; n++)
				staging(b, w, n)->u[lane] = read_word(host[lane] + 4 * n);
		}
		return;
	}
	for (unsigned int n = 0; n < words; n++)
		to[n] = staging(b, w, n);
	load_columns(to, (const uint8_t *const *)host, words);
}

/* Loads of @bytes to @words registers: numbers that the compiler knows. */
TSR_INLINE unsigned int load_bytes(struct tsr_msg_env *env, const struct tsr_msg_bundle *b,
				   unsigned int first, const struct tsr_load_form *form,
				   unsigned int bytes, unsigned int words)
{
	struct tsr_msg_access a = {
		.seg = b->insn->mod[TSR_MOD_SEG], .bytes = bytes,
		.align = tsr_msg_alignment(bytes), .read = true,
	};
	struct tsr_msg_cost cost = { 0 };
	struct last_page last = { 0 };
	uint8_t *host[TSR_WARP_LANES];
	unsigned int i;

	for (i = first; i < b->warps; i++) {
		unsigned int w = b->warp[i];
		uint16_t lanes = b->lanes[w];
		enum pattern pattern;

		a.lo = b->src[0] + w * b->src_step[0];
		a.hi = b->src[1] + w * b->src_step[1];
		pattern = locate(env, &a, &b->place[w], lanes, &last, bytes, host);
		if (pattern == NOWHERE)
			break;
		if (bytes > 4)
			load_words(b, w, pattern, lanes, host, words);
		else if (bytes == 4 && words == 1)
			put(staging(b, w, 0), lanes, read_lanes(pattern, lanes, host, 4));
		else
			put_short(b, w, lanes, read_lanes(pattern, lanes, host, bytes), form);
		tsr_msg_charge(&cost, count_lanes(lanes) * bytes, 0);
	}
	tsr_msg_add_cost(&env->cost, &cost);
	return i;
}

static unsigned int load(struct tsr_msg_env *env, const struct tsr_msg_bundle *b,
			 unsigned int first, const struct tsr_load_form *form)
{
	switch (form->bytes) {
	case 3:
	case 6:
		return first;
	case 4:
		if (form->words == 1)
			return load_bytes(env, b, first, form, 4, 1);
		break;
	case 16:
		return load_bytes(env, b, first, form, 16, 4);
	}
	return load_bytes(env, b, first, form, form->bytes, form->words);
}

/* ---- Stores ---------------------------------------------------------------------------------- */

TSR_INLINE void write_word(uint8_t *to, uint32_t word)
{
	__atomic_store_n((uint32_t *)to, word, __ATOMIC_RELAXED);
}

/* Writes the words that one lane stores. */
TSR_INLINE void write_lane(const struct tsr_msg_bundle *b, unsigned int w, unsigned int lane,
			   uint8_t *to, unsigned int bytes)
{
	if (bytes < 4) {
		memcpy(to, &staging(b, w, 0)->u[lane], bytes);
		return;
	}
	for (unsigned int n = 0; n < bytes / 4; n++)
		write_word(to + 4 * n, staging(b, w, n)->u[lane]);
}

/* Four words of each lane. */
TSR_INLINE void store_quads(const struct tsr_msg_bundle *b, unsigned int w, uint8_t *const to[])
{
	EACH_CHUNK(c) {
		tsr_quad q[4][TSR_CHUNK_LANES / 4];
		vu32 v[4];

		for (unsigned int i = 0; i < 4; i++)
			v[i] = ((const tsr_vector_in_memory *)staging(b, w, i))[c];
		tsr_transpose(v);
		for (unsigned int i = 0; i < 4; i++)
			tsr_part_quads(q[i], v[i]);
		for (unsigned int l = 0; l < TSR_CHUNK_LANES; l++)
			*(tsr_quad_in_memory *)to[c * TSR_CHUNK_LANES + l] = q[l % 4][l / 4];
	}
}

/* Two words of each lane. */
TSR_INLINE void store_pairs(const struct tsr_msg_bundle *b, unsigned int w, uint8_t *const to[])
{
	for (unsigned int l = 0; l < TSR_WARP_LANES; l++) {
		uint64_t low = staging(b, w, 0)->u[l], high = staging(b, w, 1)->u[l];

		*(pair_in_memory *)to[l] = high << 32 | low;
	}
}

/* The stores of all lanes in ascending order: of those that meet the last one wins. */
TSR_INLINE void store_lanes(const struct tsr_msg_bundle *b, unsigned int w, enum pattern pattern,
			    uint16_t lanes, uint8_t *host[TSR_WARP_LANES], unsigned int bytes)
{
	if (pattern == AT_ONE_PLACE) {
		write_lane(b, w, 31 - __builtin_clz(lanes), host[0], bytes);
		return;
	}
	if (pattern == IN_A_ROW && bytes == 4) {
		memcpy(host[0], staging(b, w, 0), sizeof(union tsr_lanes));
		return;
	}
	if (pattern == IN_A_ROW) {
		for (unsigned int l = 1; l < TSR_WARP_LANES; l++)
			host[l] = host[0] + l * bytes;
	}
	if (lanes != TSR_ALL_LANES || (bytes != 8 && bytes != 16)) {
		for (; lanes; lanes &= lanes - 1)
			write_lane(b, w, __builtin_ctz(lanes), host[__builtin_ctz(lanes)], bytes);
		return;
	}
	/* all lines of memory are asked for before the first one is waited for */
	for (unsigned int l = 0; l < TSR_WARP_LANES; l += 4)
		__builtin_prefetch(host[l], 1);
	if (bytes == 16)
		store_quads(b, w, host);
	else
		store_pairs(b, w, host);
}

TSR_INLINE unsigned int store_bytes(struct tsr_msg_env *env, const struct tsr_msg_bundle *b,
				    unsigned int first, unsigned int bytes)
{
	struct tsr_msg_access a = {
		.seg = b->insn->mod[TSR_MOD_SEG], .bytes = bytes,
		.align = tsr_msg_alignment(bytes), .write = true,
	};
	struct tsr_msg_cost cost = { 0 };
	struct last_page last = { 0 };
	uint8_t *host[TSR_WARP_LANES];
	unsigned int i;

	for (i = first; i < b->warps; i++) {
		unsigned int w = b->warp[i];
		uint16_t lanes = b->lanes[w];
		enum pattern pattern;

		a.lo = b->src[0] + w * b->src_step[0];
		a.hi = b->src[1] + w * b->src_step[1];
		pattern = locate(env, &a, &b->place[w], lanes, &last, bytes, host);
		if (pattern == NOWHERE)
			break;
		store_lanes(b, w, pattern, lanes, host, bytes);
		tsr_msg_charge(&cost, 0, count_lanes(lanes) * bytes);
	}
	tsr_msg_add_cost(&env->cost, &cost);
	return i;
}

static unsigned int store(struct tsr_msg_env *env, const struct tsr_msg_bundle *b,
			  unsigned int first, unsigned int bytes)
{
	switch (bytes) {
	case 3:
	case 6:
		return first;
	case 4:
		return store_bytes(env, b, first, 4);
	default:
		return store_bytes(env, b, first, bytes);
	}
}
