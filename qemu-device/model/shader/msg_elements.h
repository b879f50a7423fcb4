/* SPDX-License-Identifier: MIT */
/*
 * Elements of attribute buffers for all lanes of a warp: on one SIMD path, see msg_vector.h. What
 * lies outside of its buffer, on two pages or far away is left to the unit's other function.
 */

/* Lanes two by two. */
typedef uint64_t element_pairs __attribute__((vector_size(TSR_VECTOR_BYTES)));

/* What division makes of the numbers: both halves of each pair of lanes. */
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

/* Whether numbers modulo e->modulus are those of vertices: each instance has as many. */
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

/* What the elements of a buffer that lie within it have in common. */
struct element_range {
	uint32_t first, count;		/* numbers of those that do */
	uint32_t lead;			/* of element 0 in the page of the buffer's first byte */
	uint64_t page;			/* that page's address */
};

/* False: there are none, or too far away. */
TSR_INLINE bool find_range(const struct tsr_msg_elements *e, struct element_range *r)
{
	int64_t bytes = 4 * e->words, low = 0, high = INT32_MAX;
	int64_t last = (int64_t)e->size - bytes - e->offset;

	if (last < 0 || e->size > INT32_MAX - 2 * TSR_ACCESS_PAGE_BYTES ||
	    e->offset < -(int64_t)INT32_MAX || e->offset > INT32_MAX ||
	    e->stride > INT32_MAX)
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

/*
 * Offsets from r->page on of the elements with these numbers, of lanes beside @lanes that of one of
 * them; false: one of @lanes is not within the buffer, or on two pages, or not aligned.
 */
TSR_INLINE bool element_offsets(const struct tsr_msg_elements *e, const struct element_range *r,
				uint16_t lanes, struct wide number, union tsr_lanes *at)
{
	uint32_t most = TSR_ACCESS_PAGE_BYTES - 4 * e->words;
	struct wide bad, offset;

	EACH_CHUNK(i) {
		vu32 n = number.v[i] + (uint32_t)e->start, in_page;

		bad.v[i] = number.v[i] & 0x80000000u;
		bad.v[i] |= (vu32)(n - r->first >= r->count);
		offset.v[i] = n * e->stride + r->lead;
		in_page = offset.v[i] & (TSR_ACCESS_PAGE_BYTES - 1);
		bad.v[i] |= (vu32)(in_page > most) | (offset.v[i] & 3);
	}
	put_all(at, offset);
	if (any(bad, lanes))
		return false;
	put(at, (uint16_t)~lanes, splat(at->u[__builtin_ctz(lanes)]));
	return true;
}

/* Whether bits @mask of all lanes are those of lane 0. */
TSR_INLINE bool all_alike(const union tsr_lanes *at, uint32_t mask)
{
	struct wide v = get(at), first = splat(at->u[0]);

	EACH_CHUNK(i)
		v.v[i] = (v.v[i] ^ first.v[i]) & mask;
	return !any(v, TSR_ALL_LANES);
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

/* Where the elements are on the host; false: not at hand. */
TSR_INLINE bool element_hosts(struct tsr_msg_env *env, const struct element_range *r,
			      const union tsr_lanes *at, const uint8_t *host[TSR_WARP_LANES])
{
	const struct tsr_access_cache *access = env->access;
	const struct tsr_msg_access a = { .read = true };
	uint64_t wrong = 0;

	if (all_alike(at, ~(TSR_ACCESS_PAGE_BYTES - 1))) {
		const uint8_t *page = element_page(env, r, at->u[0]);

		for (unsigned int l = 0; page && l < TSR_WARP_LANES; l++)
			host[l] = page + at->u[l] % TSR_ACCESS_PAGE_BYTES;
		return page;
	}
	for (unsigned int l = 0; l < TSR_WARP_LANES; l++) {
		uint64_t va = r->page + at->u[l];
		const struct tsr_access_page *p = &access->read[tsr_access_slot(va)];

		wrong |= p->tag ^ tsr_access_tag(access, va);
		host[l] = (const uint8_t *)((uintptr_t)p->ptr + va % TSR_ACCESS_PAGE_BYTES);
	}
	if (!wrong)
		return true;
	for (unsigned int l = 0; l < TSR_WARP_LANES; l++) {
		uint64_t va = r->page + at->u[l];
		const uint8_t *page = tsr_msg_page(env, &a, va);

		if (!page)
			return false;
		host[l] = page + va % TSR_ACCESS_PAGE_BYTES;
	}
	return true;
}

/* Three words of each of the lanes from @lane on: what is read behind them lies in their page. */
TSR_INLINE void element_triples(union tsr_lanes *const to[3], unsigned int lane,
				const uint8_t *const from[4])
{
	quad q[4];

	for (unsigned int i = 0; i < 4; i++) {
		uint64_t low = *(const pair_in_memory *)from[i];
		uint32_t high = read_word(from[i] + 8);

		q[i] = (quad)(pairs){ low, high };
	}
	transpose(q);
	for (unsigned int i = 0; i < 3; i++)
		*(quad_in_memory *)&to[i]->u[lane] = q[i];
}

/* @words words of each lane, to as many vectors. */
TSR_INLINE void gather_elements(union tsr_lanes *const to[4], const uint8_t *const host[],
				unsigned int words)
{
	if (words == 1) {
		for (unsigned int l = 0; l < TSR_WARP_LANES; l++)
			to[0]->u[l] = read_word(host[l]);
		return;
	}
	for (unsigned int l = 0; l < TSR_WARP_LANES; l += 4) {
		quad q[4];

		if (words == 3) {
			element_triples(to, l, host + l);
			continue;
		}
		for (unsigned int i = 0; i < 4; i++) {
			if (words == 4)
				q[i] = *(const quad_in_memory *)host[l + i];
			else
				q[i] = (quad)(pairs){ *(const pair_in_memory *)host[l + i], 0 };
		}
		transpose(q);
		for (unsigned int i = 0; i < words; i++)
			*(quad_in_memory *)&to[i]->u[l] = q[i];
	}
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

/* The same of any elements; false: they are not at hand. */
TSR_INLINE bool put_any(struct tsr_msg_env *env, const struct tsr_msg_bundle *b, unsigned int w,
			const struct tsr_msg_elements *e, const struct element_range *r,
			const union tsr_lanes *at)
{
	const uint8_t *host[TSR_WARP_LANES];

	if (!element_hosts(env, r, at, host))
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
		union tsr_lanes at;
		struct wide first;
		struct wide n = element_numbers(e, get(b->src[0] + w * b->src_step[0]),
						get(b->src[1] + w * b->src_step[1]));

		if (!element_offsets(e, &range, lanes, n, &at) ||
		    !(are_two(&at, &first) ? put_two(env, b, w, e, &range, &at, first) :
					     put_any(env, b, w, e, &range, &at)))
			break;
		tsr_msg_charge(&cost, count_lanes(lanes) * 4 * e->words, 0);
	}
	tsr_msg_add_cost(&env->cost, &cost);
	return i;
}
