/* SPDX-License-Identifier: MIT */
/*
 * Elements of attribute buffers for all lanes of a warp: on one SIMD path, see msg_vector.h. What
 * lies outside of its buffer or far away is left to the unit's other function.
 */

/* Lanes two by two. */
typedef uint64_t element_pairs __attribute__((vector_size(TSR_VECTOR_BYTES)));

/* Quotients of the numbers, for both halves of each pair of lanes. */
TSR_INLINE struct wide divided(const struct tsr_msg_elements *e, struct wide n)
{
	/* (2^32 - 1 + 1) * (2^32 - 1) still fits */
	const uint64_t more = (uint64_t)e->add * e->magic;

	EACH_CHUNK(i) {
		element_pairs even = (element_pairs)n.v[i] & UINT32_MAX;
		element_pairs odd = (element_pairs)n.v[i] >> 32;

		even = (even * e->magic + more) >> 32 >> e->shift;
		odd = (odd * e->magic + more) >> 32 >> e->shift;
		n.v[i] = (vu32)(even | odd << 32);
	}
	return n;
}

/* True if numbers modulo e->modulus are those of vertices: each instance has as many. */
TSR_INLINE bool are_vertices(const struct tsr_msg_elements *e, struct wide vertex,
			     struct wide instance)
{
	const uint32_t n = e->padded;
	struct wide bad;

	if (e->modulus != n || !n)
		return false;
	/* no number is beyond 32 bits */
	EACH_CHUNK(i)
		bad.v[i] = (vu32)(vertex.v[i] >= n) | (vu32)(instance.v[i] >= UINT32_MAX / n);
	return !any(bad, TSR_ALL_LANES);
}

/* Numbers of the lanes' elements. */
TSR_INLINE struct wide element_numbers(const struct tsr_msg_elements *e, struct wide vertex,
				       struct wide instance)
{
	union tsr_lanes number;
	struct wide n;

	EACH_CHUNK(i) {
		n.v[i] = vertex.v[i] + instance.v[i] * e->padded;
		if (e->mode == TSR_MSG_ELEMENT_SHIFT)
			n.v[i] >>= e->shift;
	}
	if (e->mode < TSR_MSG_ELEMENT_MODULUS)
		return n;
	if (e->mode == TSR_MSG_ELEMENT_DIVIDE)
		return divided(e, n);
	if (are_vertices(e, vertex, instance))
		return vertex;
	put_all(&number, n);
	for (unsigned int l = 0; l < TSR_WARP_LANES; l++) {
		if (number.u[l] >= e->modulus)
			number.u[l] %= e->modulus;
	}
	return get(&number);
}

/* The range of elements that are within a buffer. */
struct element_range {
	uint32_t first, count;		/* first element and number of elements */
	uint32_t lead;			/* of element 0 in the page of the buffer's first byte */
	uint64_t page;			/* that page's address */
};

/* False: there are none, or too far away. */
TSR_INLINE bool find_range(const struct tsr_msg_elements *e, struct element_range *r)
{
	int64_t bytes = 4 * e->words, low = 0, high = INT32_MAX;
	int64_t last = (int64_t)e->size - bytes - e->offset;

	if (last < 0 || e->size > INT32_MAX - 2 * TSR_ACCESS_PAGE_BYTES)
		return false;
	if (e->offset < 0 && !e->stride)
		return false;
	if (e->offset < 0)
		low = (-e->offset + e->stride - 1) / e->stride;
	if (e->stride)
		high = last / e->stride;
	high = high < INT32_MAX ? high : INT32_MAX;
	if (high < low)
		return false;
	r->first = low;
	r->count = high - low + 1;
	r->page = e->base / TSR_ACCESS_PAGE_BYTES * TSR_ACCESS_PAGE_BYTES;
	r->lead = e->base % TSR_ACCESS_PAGE_BYTES + (uint32_t)e->offset;
	return true;
}

/* Where the elements of a warp are. */
struct element_places {
	union tsr_lanes at;		/* from r->page on; of lanes that are off that of another */
	struct wide torn;		/* not 0: it is on two pages */
	bool any_torn;
};

/* Places of the elements with these numbers; false: one of @lanes is not within the buffer. */
TSR_INLINE bool element_places(const struct tsr_msg_elements *e, const struct element_range *r,
			       uint16_t lanes, struct wide number, struct element_places *p)
{
	uint32_t most = TSR_ACCESS_PAGE_BYTES - 4 * e->words;
	struct wide bad, offset;

	EACH_CHUNK(i) {
		vu32 n = number.v[i] + (uint32_t)e->start;

		bad.v[i] = number.v[i] & 0x80000000u;
		bad.v[i] |= (vu32)(n - r->first >= r->count);
		offset.v[i] = n * e->stride + r->lead;
		bad.v[i] |= offset.v[i] & 3;
	}
	if (any(bad, lanes))
		return false;
	put_all(&p->at, offset);
	if (lanes != TSR_ALL_LANES) {
		put(&p->at, (uint16_t)~lanes, splat(p->at.u[__builtin_ctz(lanes)]));
		offset = get(&p->at);
	}
	EACH_CHUNK(i)
		p->torn.v[i] = (vu32)((offset.v[i] & (TSR_ACCESS_PAGE_BYTES - 1)) > most);
	p->any_torn = any(p->torn, TSR_ALL_LANES);
	return true;
}

/* The lanes that are @low or up to @count - 1 above it. */
TSR_INLINE uint32_t lanes_between(struct wide v, uint32_t low, uint32_t count)
{
	uint32_t lanes = 0;

	EACH_CHUNK(i) {
		vu32 is = (vu32)(v.v[i] - low < count);

#if defined(TSR_ALU_AVX512)
		lanes = _mm512_movepi32_mask((__m512i)is);
#elif defined(TSR_ALU_AVX2)
		lanes |= (uint32_t)_mm256_movemask_ps((__m256)is) << 8 * i;
#else
		for (unsigned int l = 0; l < TSR_CHUNK_LANES; l++)
			lanes |= (is[l] & 1) << (TSR_CHUNK_LANES * i + l);
#endif
	}
	return lanes;
}

/* The page at @at, NULL: it is not at hand. */
TSR_INLINE const uint8_t *element_page(struct tsr_msg_env *env, const struct element_range *r,
				       uint32_t at)
{
	const struct tsr_msg_access a = { .read = true };
	const uint64_t va = r->page + at;
	const uint8_t *page = tsr_access_find(env->access, env->access->read, va);

	return page ? page : tsr_msg_page(env, &a, va);
}

/* Where the elements are on the host, page by page: a warp has few; false: not at hand. */
TSR_INLINE bool element_hosts(struct tsr_msg_env *env, const struct element_range *r,
			      const union tsr_lanes *at, const uint8_t *host[TSR_WARP_LANES])
{
	const struct wide places = get(at);
	uint32_t left = TSR_ALL_LANES, here;

	for (; left; left &= ~here) {
		uint32_t place = at->u[__builtin_ctz(left)] & ~(TSR_ACCESS_PAGE_BYTES - 1);
		const uint8_t *page = element_page(env, r, place);

		if (!page)
			return false;
		here = lanes_between(places, place, TSR_ACCESS_PAGE_BYTES);
		/* what lanes of later pages get here they get anew */
		for (unsigned int l = 0; l < TSR_WARP_LANES; l++) {
			uintptr_t to = (uintptr_t)page + (at->u[l] - place);

			host[l] = left >> l & 1 ? (const uint8_t *)to : host[l];
		}
	}
	return true;
}

/* Elements on two pages are put together in @whole, where @host says from then on. */
static __attribute__((noinline)) bool mend_elements(struct tsr_msg_env *env,
						    const struct element_range *r,
						    const struct element_places *p,
						    unsigned int words, const uint8_t *host[],
						    uint32_t whole[TSR_WARP_LANES][4])
{
	union tsr_lanes torn;

	put_all(&torn, p->torn);
	for (unsigned int l = 0; l < TSR_WARP_LANES; l++) {
		if (!torn.u[l])
			continue;
		for (unsigned int n = 0; n < words; n++) {
			uint32_t at = p->at.u[l] + 4 * n, place = at % TSR_ACCESS_PAGE_BYTES;
			const uint8_t *page = element_page(env, r, at - place);

			if (!page)
				return false;
			whole[l][n] = read_word(page + place);
		}
		host[l] = (const uint8_t *)whole[l];
	}
	return true;
}

/* @words words of each lane, to as many vectors. */
TSR_INLINE void gather_elements(union tsr_lanes *const to[4], const uint8_t *const host[],
				unsigned int words)
{
	if (words > 1) {
		load_columns(to, host, words);
		return;
	}
	for (unsigned int l = 0; l < TSR_WARP_LANES; l++)
		to[0]->u[l] = read_word(host[l]);
}

/* Lanes whose element is that of lane 0, if all others' is that of lane 15; else false. */
TSR_INLINE bool are_two(const union tsr_lanes *at, struct wide *first)
{
	const uint32_t one = at->u[0], other = at->u[TSR_WARP_LANES - 1];
	struct wide v = get(at), neither;

	EACH_CHUNK(i) {
		first->v[i] = (vu32)(v.v[i] == one);
		neither.v[i] = ~(first->v[i] | (vu32)(v.v[i] == other));
	}
	return !any(neither, TSR_ALL_LANES);
}

/*
 * Two elements, of two instances most often: what they have goes to the registers of all lanes.
 * False: they are not at hand.
 */
TSR_INLINE bool put_two(struct tsr_msg_env *env, const struct tsr_msg_bundle *b, unsigned int w,
			const struct tsr_msg_elements *e, const struct element_range *r,
			const union tsr_lanes *at, struct wide first)
{
	const uint32_t one = at->u[0], other = at->u[TSR_WARP_LANES - 1];
	const uint8_t *from = element_page(env, r, one), *from_other;

	if (!from)
		return false;
	from_other = element_page(env, r, other);
	if (!from_other)
		return false;
	from += one % TSR_ACCESS_PAGE_BYTES;
	from_other += other % TSR_ACCESS_PAGE_BYTES;
	for (unsigned int n = 0; n < e->components; n++) {
		struct wide x = splat(n < e->words ? 0 : e->behind[n]);

		EACH_CHUNK(i) {
			if (n < e->words)
				x.v[i] = (tsr_splat(read_word(from + 4 * n)) & first.v[i]) |
					 (tsr_splat(read_word(from_other + 4 * n)) & ~first.v[i]);
		}
		put(staging(b, w, n), b->lanes[w], x);
	}
	return true;
}

/* Elements to the registers of a warp. */
TSR_INLINE void put_elements(const struct tsr_msg_bundle *b, unsigned int w,
			     const struct tsr_msg_elements *e, const uint8_t *const host[],
			     unsigned int words)
{
	unsigned int components = e->components;
	uint16_t lanes = b->lanes[w];
	union tsr_lanes word[4], *to[4];

	for (unsigned int i = 0; i < 4; i++)
		to[i] = lanes == TSR_ALL_LANES && i < components ? staging(b, w, i) : &word[i];
	gather_elements(to, host, words);
	for (unsigned int i = 0; i < components; i++) {
		if (i >= words)
			put(staging(b, w, i), lanes, splat(e->behind[i]));
		else if (lanes != TSR_ALL_LANES)
			put(staging(b, w, i), lanes, get(&word[i]));
	}
}

/* Loads any elements. False if their memory is not mapped. */
TSR_INLINE bool put_any(struct tsr_msg_env *env, const struct tsr_msg_bundle *b, unsigned int w,
			const struct tsr_msg_elements *e, const struct element_range *r,
			const struct element_places *p)
{
	const uint8_t *host[TSR_WARP_LANES];
	uint32_t whole[TSR_WARP_LANES][4];

	if (!element_hosts(env, r, &p->at, host))
		return false;
	/* vertices come in rows most often, two at a time: where the warps after this one go on */
	for (unsigned int l = TSR_WARP_LANES - 2; l < TSR_WARP_LANES; l++) {
		const uintptr_t ahead = (uintptr_t)host[l] + PREFETCH_BYTES;

		__builtin_prefetch((const void *)ahead);
		__builtin_prefetch((const void *)(ahead + TSR_ACCESS_LINE_BYTES));
	}
	if (p->any_torn && !mend_elements(env, r, p, e->words, host, whole))
		return false;
	switch (e->words) {
	case 1:
		put_elements(b, w, e, host, 1);
		break;
	case 2:
		put_elements(b, w, e, host, 2);
		break;
	case 3:
		put_elements(b, w, e, host, 3);
		break;
	default:
		put_elements(b, w, e, host, 4);
	}
	return true;
}

static unsigned int elements(struct tsr_msg_env *env, const struct tsr_msg_bundle *b,
			     unsigned int first, const struct tsr_msg_elements *e)
{
	struct tsr_msg_cost cost = { 0 };
	struct element_range range;
	unsigned int i;

	if (!find_range(e, &range))
		return first;
	for (i = first; i < b->warps; i++) {
		unsigned int w = b->warp[i];
		uint16_t lanes = b->lanes[w];
		struct element_places p;
		struct wide first;
		struct wide n = element_numbers(e, get(b->src[0] + w * b->src_step[0]),
						get(b->src[1] + w * b->src_step[1]));

		if (!element_places(e, &range, lanes, n, &p) ||
		    !(!p.any_torn && are_two(&p.at, &first) ?
			      put_two(env, b, w, e, &range, &p.at, first) :
			      put_any(env, b, w, e, &range, &p)))
			break;
		tsr_msg_charge(&cost, count_lanes(lanes) * 4 * e->words, 0);
	}
	tsr_msg_add_cost(&env->cost, &cost);
	return i;
}
