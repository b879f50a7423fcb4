/* SPDX-License-Identifier: MIT */
/*
 * 32-bit additions of bundles, what counters are made of: on one SIMD path, see msg_vector.h. In
 * shared memory, which belongs to the thread that runs the core, they are plain ones. In device
 * memory they are the host's atomic ones, but for those whose results nobody reads: these are
 * collected (tsr_access_sum()) and done before the thread's next preemption point.
 */

/* One addition; returns the old value, of a collected one anything. */
TSR_INLINE uint32_t add_one(struct tsr_msg_env *env, const struct tsr_msg_bundle *b,
			    const struct tsr_msg_place *place, uint8_t *to, uint32_t value)
{
	uint32_t *word = (uint32_t *)to, *sum, old;

	if ((uintptr_t)to - (uintptr_t)place->group_memory < env->state->group_memory) {
		old = *word;
		*word = old + value;
		return old;
	}
	sum = b->last ? tsr_access_sum(env->access, word) : NULL;
	if (!sum)
		return __atomic_fetch_add(word, value, __ATOMIC_ACQ_REL);
	*sum += value;
	return 0;
}

/* All lanes to one word: one addition, and each lane returns what it would have found. */
TSR_INLINE struct wide add_to_one(struct tsr_msg_env *env, const struct tsr_msg_bundle *b,
				  const struct tsr_msg_place *place, uint16_t lanes, uint8_t *to,
				  const union tsr_lanes *value)
{
	union tsr_lanes before;
	uint32_t sum = 0, old;
	struct wide x;

	for (unsigned int l = 0; l < TSR_WARP_LANES; l++) {
		before.u[l] = sum;
		sum += lanes >> l & 1 ? value->u[l] : 0;
	}
	old = add_one(env, b, place, to, sum);
	x = get(&before);
	EACH_CHUNK(i)
		x.v[i] += old;
	return x;
}

/* Words in a row: no two lanes meet. False: not to be had this way. */
TSR_INLINE bool add_row(struct tsr_msg_env *env, const struct tsr_msg_bundle *b,
			const struct tsr_msg_place *place, uint8_t *to,
			const union tsr_lanes *value, struct wide *old)
{
	uint64_t offset = (uintptr_t)to - (uintptr_t)place->group_memory;
	struct wide x = get(value);
	union tsr_lanes sums;
	void *row = to;

	if (offset >= env->state->group_memory) {
		if (!b->last || (uintptr_t)to % TSR_ACCESS_LINE_BYTES)
			return false;
		row = tsr_access_sum(env->access, (uint32_t *)to);
		if (!row)
			return false;
	}
	memcpy(&sums, row, sizeof(sums));
	*old = get(&sums);
	EACH_CHUNK(i)
		x.v[i] += old->v[i];
	put_all(&sums, x);
	memcpy(row, &sums, sizeof(sums));
	return true;
}

TSR_INLINE struct wide add_warp(struct tsr_msg_env *env, const struct tsr_msg_bundle *b,
				unsigned int w, enum pattern pattern,
				uint8_t *host[TSR_WARP_LANES], const struct tsr_msg_add *add)
{
	const struct tsr_msg_place *place = &b->place[w];
	const union tsr_lanes *value = staging(b, w, 0);
	union tsr_lanes constant, old;
	uint16_t lanes = b->lanes[w];
	struct wide x;

	if (add->constant) {
		put_all(&constant, splat(add->operand));
		value = &constant;
	}
	if (pattern == AT_ONE_PLACE)
		return add_to_one(env, b, place, lanes, host[0], value);
	if (pattern == IN_A_ROW) {
		if (add_row(env, b, place, host[0], value, &x))
			return x;
		for (unsigned int l = 1; l < TSR_WARP_LANES; l++)
			host[l] = host[0] + l * 4;
	}
	for (; lanes; lanes &= lanes - 1) {
		unsigned int l = __builtin_ctz(lanes);

		old.u[l] = add_one(env, b, place, host[l], value->u[l]);
	}
	return get(&old);
}

static unsigned int add(struct tsr_msg_env *env, const struct tsr_msg_bundle *b,
			unsigned int first, const struct tsr_msg_add *add)
{
	struct tsr_msg_access a = {
		.seg = TSR_SEG_NONE, .bytes = 4, .align = 4, .read = true, .write = true,
	};
	struct last_page last = { 0 };
	uint8_t *host[TSR_WARP_LANES];
	unsigned int i;

	for (i = first; i < b->warps; i++) {
		unsigned int w = b->warp[i], words;
		enum pattern pattern;
		struct wide old;

		a.lo = b->pair[0] + w * b->pair_step[0];
		a.hi = b->pair[1] + w * b->pair_step[1];
		pattern = locate(env, &a, &b->place[w], b->lanes[w], &last, 4, host);
		if (pattern == NOWHERE)
			break;
		old = add_warp(env, b, w, pattern, host, add);
		if (add->returns && !b->last) {
			put(staging(b, w, 0), b->lanes[w], old);
			put(staging(b, w, 1), b->lanes[w], splat(0));
		}
		words = pattern == AT_ONE_PLACE ? 1 : count_lanes(b->lanes[w]);
		tsr_msg_charge(&env->cost, words * 4, words * 4);
	}
	return i;
}
