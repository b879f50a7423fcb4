/* SPDX-License-Identifier: MIT */
/*
 * Load/store unit: LOAD and STORE of 8 to 128 bits with all segments, uniform buffers too.
 *
 * Common cases are done for all lanes at once: if all addresses lie in one page (or in group
 * memory, or in the same uniform buffer), there is one translation, and every word is copied from
 * or to its host address. Everything else goes lane by lane.
 */
#include "msg_lanes.h"

static void load_form(const struct tsr_insn *insn, unsigned int bytes, struct tsr_load_form *form)
{
	*form = (struct tsr_load_form){
		.bytes = bytes,
		.words = (bytes + 3) / 4,
		.extend = insn->mod[TSR_MOD_EXTEND],
		.mask = UINT32_MAX,
	};
	switch (bytes > 4 ? TSR_LANE_DEST_NONE : insn->mod[TSR_MOD_LANE_DEST]) {
	case TSR_LANE_DEST_H0:
	case TSR_LANE_DEST_H1:
		form->shift = insn->mod[TSR_MOD_LANE_DEST] == TSR_LANE_DEST_H1 ? 16 : 0;
		form->mask = 0xffffu << form->shift;
		break;
	case TSR_LANE_DEST_B0:
	case TSR_LANE_DEST_B1:
	case TSR_LANE_DEST_B2:
	case TSR_LANE_DEST_B3:
		form->shift = 8 * (insn->mod[TSR_MOD_LANE_DEST] - TSR_LANE_DEST_B0);
		form->mask = 0xffu << form->shift;
		break;
	case TSR_LANE_DEST_D0:
		form->words = 2;
		break;
	}
}

/* Write what has been read (padded with zeros) into the staging registers of @lane. */
static void put(const struct tsr_msg *msg, unsigned int lane, const struct tsr_load_form *form,
		const uint32_t word[4])
{
	uint32_t *first = &tsr_msg_staging(msg, 0)->u[lane];
	uint64_t value = word[0] | (uint64_t)word[1] << 32;

	if (form->extend == TSR_EXTEND_SEXT) {
		unsigned int unused = 64 - 8 * form->bytes;

		value = (uint64_t)((int64_t)(value << unused) >> unused);
	}
	*first = (*first & ~form->mask) | ((uint32_t)(value << form->shift) & form->mask);
	if (form->words > 1)
		tsr_msg_staging(msg, 1)->u[lane] = value >> 32;
	for (unsigned int i = 2; i < form->words; i++)
		tsr_msg_staging(msg, i)->u[lane] = word[i];
}

/* The address of @lane in segment @seg. */
static uint64_t segment_address(const struct tsr_msg *msg, unsigned int lane, unsigned int seg)
{
	switch (seg) {
	case TSR_SEG_WLS:
		return TSR_WINDOW_GROUP + msg->src[0]->u[lane];
	case TSR_SEG_TL:
		return TSR_WINDOW_SCRATCH + msg->src[0]->u[lane];
	default:
		return tsr_msg_address(msg, lane);
	}
}

static enum tsr_step load_lane(struct tsr_msg_env *env, struct tsr_msg *msg, unsigned int lane,
			       const void *arg)
{
	const struct tsr_load_form *form = arg;
	uint64_t va = segment_address(msg, lane, msg->insn->mod[TSR_MOD_SEG]);
	uint32_t word[4] = { 0 };
	enum tsr_step step;

	if (va % tsr_msg_alignment(form->bytes))
		return tsr_msg_fault(env, TSR_FAULT_SHADER_ALIGNMENT, va, TSR_ACCESS_READ);
	step = tsr_msg_read(env, lane, va, word, form->bytes);
	if (step != TSR_STEP_DONE)
		return step;
	put(msg, lane, form, word);
	env->cost.read_bytes += form->bytes;
	return TSR_STEP_DONE;
}

static enum tsr_step store_lane(struct tsr_msg_env *env, struct tsr_msg *msg, unsigned int lane,
				const void *arg)
{
	unsigned int bytes = *(const uint8_t *)arg;
	uint64_t va = segment_address(msg, lane, msg->insn->mod[TSR_MOD_SEG]);
	uint32_t word[4];
	enum tsr_step step;

	if (va % tsr_msg_alignment(bytes))
		return tsr_msg_fault(env, TSR_FAULT_SHADER_ALIGNMENT, va, TSR_ACCESS_WRITE);
	for (unsigned int i = 0; i < (bytes + 3) / 4; i++)
		word[i] = tsr_msg_staging(msg, i)->u[lane];
	step = tsr_msg_write(env, lane, va, word, bytes);
	if (step != TSR_STEP_DONE)
		return step;
	env->cost.write_bytes += bytes;
	return TSR_STEP_DONE;
}

/* One vector, in a form that any processor's compiler can work with. */
typedef uint32_t vec __attribute__((vector_size(16), may_alias));
typedef int32_t svec __attribute__((vector_size(16), may_alias));
#define VECS (TSR_WARP_LANES / 4)

/* Whether any lane of @v is not 0. */
static bool any(vec v)
{
	typedef uint64_t pair __attribute__((vector_size(16), may_alias));
	pair p = (pair)v;

	return p[0] | p[1];
}

/*
 * Whether the accesses of all lanes, at offsets @at in something of at least @limit bytes, are
 * aligned and inside.
 */
static bool inside(const union tsr_lanes *at, unsigned int bytes, uint64_t limit)
{
	const vec *v = (const vec *)at->u;
	uint32_t last = limit - bytes;
	vec bad = { 0 };

	if (limit < bytes || limit > INT32_MAX)
		return false;
	for (unsigned int i = 0; i < VECS; i++) {
		bad |= v[i] & (tsr_msg_alignment(bytes) - 1);
		/* above @last as a signed number, or negative as one */
		bad |= (vec)((svec)((last - v[i]) | v[i]) < 0);
	}
	return !any(bad);
}

/*
 * Whether the addresses of all lanes are in the page of lane 0 (and in no window); @at is where in
 * the page.
 */
static bool one_page(const struct tsr_msg *msg, union tsr_lanes *at)
{
	const vec *lo = (const vec *)msg->src[0]->u;
	const vec *hi = (const vec *)msg->src[1]->u;
	vec lo0 = lo[0][0] - (vec){ 0 };
	vec hi0 = hi[0][0] - (vec){ 0 };
	vec *out = (vec *)at->u;
	vec differ = { 0 };

	for (unsigned int i = 0; i < VECS; i++) {
		differ |= ((lo[i] ^ lo0) & ~(TSR_ACCESS_PAGE_BYTES - 1)) | (hi[i] ^ hi0);
		out[i] = lo[i] & (TSR_ACCESS_PAGE_BYTES - 1);
	}
	return !any(differ) && !(hi[0][0] >> (TSR_WINDOW_SHIFT - 32));
}

/* Read the words of all lanes from @base. */
static inline __attribute__((always_inline)) void
gather(const struct tsr_msg *msg, const uint8_t *base, const union tsr_lanes *at,
       unsigned int words)
{
	for (unsigned int w = 0; w < words; w++) {
		union tsr_lanes *reg = tsr_msg_staging(msg, w);

		for (unsigned int i = 0; i < TSR_WARP_LANES; i++)
			reg->u[i] = __atomic_load_n((const uint32_t *)(base + at->u[i] + 4 * w),
						    __ATOMIC_RELAXED);
	}
}

static inline __attribute__((always_inline)) void
scatter(const struct tsr_msg *msg, uint8_t *base, const union tsr_lanes *at, unsigned int words)
{
	/* lane by lane: of those that write to one place the last wins */
	for (unsigned int i = 0; i < TSR_WARP_LANES; i++) {
		for (unsigned int w = 0; w < words; w++)
			__atomic_store_n((uint32_t *)(base + at->u[i] + 4 * w),
					 tsr_msg_staging(msg, w)->u[i], __ATOMIC_RELAXED);
	}
}

/* All lanes from @base, where they are known to be inside. */
static enum tsr_step load_all(struct tsr_msg_env *env, struct tsr_msg *msg, const uint8_t *base,
			      const union tsr_lanes *at, const struct tsr_load_form *form)
{
	switch (form->bytes == 4 * form->words ? form->words : 0) {
	case 1:
		gather(msg, base, at, 1);
		break;
	case 2:
		gather(msg, base, at, 2);
		break;
	case 3:
		gather(msg, base, at, 3);
		break;
	case 4:
		gather(msg, base, at, 4);
		break;
	default:
		for (unsigned int i = 0; i < TSR_WARP_LANES; i++) {
			uint32_t word[4] = { 0 };

			memcpy(word, base + at->u[i], form->bytes);
			put(msg, i, form, word);
		}
	}
	msg->lanes = 0;
	env->cost.read_bytes += TSR_WARP_LANES * form->bytes;
	return TSR_STEP_DONE;
}

static enum tsr_step store_all(struct tsr_msg_env *env, struct tsr_msg *msg, uint8_t *base,
			       const union tsr_lanes *at, unsigned int bytes)
{
	switch (bytes) {
	case 4:
		scatter(msg, base, at, 1);
		break;
	case 8:
		scatter(msg, base, at, 2);
		break;
	case 12:
		scatter(msg, base, at, 3);
		break;
	case 16:
		scatter(msg, base, at, 4);
		break;
	default:
		for (unsigned int i = 0; i < TSR_WARP_LANES; i++) {
			uint32_t word[2] = {
				tsr_msg_staging(msg, 0)->u[i],
				bytes > 4 ? tsr_msg_staging(msg, 1)->u[i] : 0,
			};

			memcpy(base + at->u[i], word, bytes);
		}
	}
	msg->lanes = 0;
	env->cost.write_bytes += TSR_WARP_LANES * bytes;
	return TSR_STEP_DONE;
}

/*
 * Where all lanes access memory at once: the host address that @at counts from, NULL if they have
 * to be looked at one by one.
 */
static uint8_t *common_base(struct tsr_msg_env *env, const struct tsr_msg *msg, unsigned int bytes,
			    unsigned int dir, union tsr_lanes *at)
{
	unsigned int seg = msg->insn->mod[TSR_MOD_SEG];
	uint64_t va = tsr_msg_address(msg, 0);

	if (msg->lanes != TSR_ALL_LANES)
		return NULL;
	if (seg == TSR_SEG_WLS) {
		*at = *msg->src[0];
		return inside(at, bytes, env->state->group_memory) ? env->group_memory : NULL;
	}
	if ((seg != TSR_SEG_NONE && seg != TSR_SEG_STREAM) || !one_page(msg, at) ||
	    !inside(at, bytes, TSR_ACCESS_PAGE_BYTES))
		return NULL;
	return tsr_access_find(env->access, dir == TSR_ACCESS_READ ? env->access->read
								   : env->access->write, va);
}

/* ---- Uniform buffers ------------------------------------------------------------------------- */

/* A uniform buffer as its descriptor says. */
struct buffer {
	uint64_t va;
	uint64_t size;			/* bytes */
};

static enum tsr_step find_buffer(struct tsr_msg_env *env, uint32_t index, struct buffer *buffer)
{
	struct tsr_uniform_buffer desc;
	enum tsr_step step;
	uint64_t qword;

	*buffer = (struct buffer){ 0 };
	if (index >= env->state->uniform_buffer_count)
		return TSR_STEP_DONE;
	step = tsr_msg_descriptor(env, env->state->uniform_buffers + index * sizeof(qword),
				  &qword, 1);
	if (step != TSR_STEP_DONE || !qword)
		return step;
	tsr_unpack_uniform_buffer(&qword, &desc);
	buffer->va = (uint64_t)desc.pointer << 4;
	buffer->size = (desc.entries + 1) * 16ull;
	return TSR_STEP_DONE;
}

static enum tsr_step uniform_lane(struct tsr_msg_env *env, struct tsr_msg *msg, unsigned int lane,
				  const void *arg)
{
	const struct tsr_load_form *form = arg;
	uint32_t offset = msg->src[0]->u[lane];
	uint32_t word[4] = { 0 };
	struct buffer buffer;
	enum tsr_step step = find_buffer(env, msg->src[1]->u[lane], &buffer);
	unsigned int len = form->bytes;

	if (step != TSR_STEP_DONE)
		return step;
	if (offset >= buffer.size)
		len = 0;
	else if (len > buffer.size - offset)
		len = (buffer.size - offset) / 4 * 4;
	if (len && offset % tsr_msg_alignment(form->bytes))
		return tsr_msg_fault(env, TSR_FAULT_SHADER_ALIGNMENT, buffer.va + offset,
				     TSR_ACCESS_READ);
	if (len)
		step = tsr_msg_read(env, lane, buffer.va + offset, word, len);
	if (step != TSR_STEP_DONE)
		return step;
	put(msg, lane, form, word);
	env->cost.read_bytes += form->bytes;
	return TSR_STEP_DONE;
}

/* Whether all lanes of @v are the same. */
static bool uniform(const union tsr_lanes *v)
{
	const vec *all = (const vec *)v->u;
	vec first = all[0][0] - (vec){ 0 };
	vec differ = { 0 };

	for (unsigned int i = 0; i < VECS; i++)
		differ |= all[i] ^ first;
	return !any(differ);
}

/*
 * As common_base(), for a load from the buffer that all lanes name; *@limit bytes of it lie in the
 * page.
 */
static const uint8_t *uniform_base(struct tsr_msg_env *env, const struct tsr_msg *msg,
				   uint64_t *limit)
{
	struct buffer buffer;
	uint64_t offset;
	uint8_t *page;

	if (msg->lanes != TSR_ALL_LANES || !uniform(msg->src[1]) ||
	    find_buffer(env, msg->src[1]->u[0], &buffer) != TSR_STEP_DONE)
		return NULL;
	offset = buffer.va % TSR_ACCESS_PAGE_BYTES;
	*limit = TSR_ACCESS_PAGE_BYTES - offset;
	if (*limit > buffer.size)
		*limit = buffer.size;
	page = tsr_access_find(env->access, env->access->read, buffer.va);
	return page && *limit ? page + offset : NULL;
}

static enum tsr_step load_uniform(struct tsr_msg_env *env, struct tsr_msg *msg,
				  const struct tsr_load_form *form)
{
	uint64_t limit;
	const uint8_t *base = uniform_base(env, msg, &limit);
	union tsr_lanes at;

	if (base && env->access->wide && tsr_wide_load_from(env, msg, form, base, limit))
		return TSR_STEP_DONE;
	if (!base || !inside(msg->src[0], form->bytes, limit))
		return tsr_msg_each(env, msg, uniform_lane, form);
	/* the staging registers may be where the offsets are */
	at = *msg->src[0];
	return load_all(env, msg, base, &at, form);
}

/* ---- LOAD and STORE -------------------------------------------------------------------------- */

/* What tsr_msg_resolve() finds for the lanes of a message. */
static inline bool resolve(const struct tsr_msg_env *env, const struct tsr_msg *msg,
			   unsigned int bytes, bool write, uint8_t *host[TSR_WARP_LANES])
{
	const struct tsr_msg_access a = {
		.lo = msg->src[0], .hi = msg->src[1], .seg = msg->insn->mod[TSR_MOD_SEG],
		.bytes = bytes, .align = tsr_msg_alignment(bytes), .read = !write, .write = write,
	};

	return tsr_msg_resolve(env, &a, msg->lanes, host);
}

/* Whole words of all lanes to do, from and to their host addresses. */
static inline __attribute__((always_inline)) void
load_words(const struct tsr_msg *msg, uint8_t *const host[TSR_WARP_LANES], unsigned int words)
{
	for (unsigned int w = 0; w < words; w++) {
		union tsr_lanes *reg = tsr_msg_staging(msg, w);

		for (unsigned int lanes = msg->lanes; lanes; lanes &= lanes - 1) {
			unsigned int lane = __builtin_ctz(lanes);

			reg->u[lane] = __atomic_load_n((const uint32_t *)host[lane] + w,
						       __ATOMIC_RELAXED);
		}
	}
}

static inline __attribute__((always_inline)) void
store_words(const struct tsr_msg *msg, uint8_t *const host[TSR_WARP_LANES], unsigned int words)
{
	const union tsr_lanes *reg[4];

	for (unsigned int w = 0; w < words; w++)
		reg[w] = tsr_msg_staging(msg, w);
	for (unsigned int lanes = msg->lanes; lanes; lanes &= lanes - 1) {
		unsigned int lane = __builtin_ctz(lanes);

		for (unsigned int w = 0; w < words; w++)
			__atomic_store_n((uint32_t *)host[lane] + w, reg[w]->u[lane],
					 __ATOMIC_RELAXED);
	}
}

static void load_shorts(const struct tsr_msg *msg, uint8_t *const host[TSR_WARP_LANES],
			const struct tsr_load_form *form)
{
	for (unsigned int lanes = msg->lanes; lanes; lanes &= lanes - 1) {
		unsigned int lane = __builtin_ctz(lanes);
		uint32_t word[4] = { 0 };

		if (form->bytes == 1)
			word[0] = *host[lane];
		else
			memcpy(word, host[lane], form->bytes);
		put(msg, lane, form, word);
	}
}

static void store_shorts(const struct tsr_msg *msg, uint8_t *const host[TSR_WARP_LANES],
			 unsigned int bytes)
{
	for (unsigned int lanes = msg->lanes; lanes; lanes &= lanes - 1) {
		unsigned int lane = __builtin_ctz(lanes);
		uint32_t word[2] = {
			tsr_msg_staging(msg, 0)->u[lane], tsr_msg_staging(msg, 1)->u[lane],
		};

		if (bytes == 1)
			*host[lane] = word[0];
		else
			memcpy(host[lane], word, bytes);
	}
}

/* Lanes of several pages, or not all lanes. */
static bool load_resolved(struct tsr_msg_env *env, struct tsr_msg *msg,
			  const struct tsr_load_form *form)
{
	uint8_t *host[TSR_WARP_LANES];

	if (!resolve(env, msg, form->bytes, false, host))
		return false;
	switch (form->bytes == 4 * form->words ? form->words : 0) {
	case 1:
		load_words(msg, host, 1);
		break;
	case 2:
		load_words(msg, host, 2);
		break;
	case 3:
		load_words(msg, host, 3);
		break;
	case 4:
		load_words(msg, host, 4);
		break;
	default:
		load_shorts(msg, host, form);
	}
	env->cost.read_bytes += (unsigned int)__builtin_popcount(msg->lanes) * form->bytes;
	msg->lanes = 0;
	return true;
}

static bool store_resolved(struct tsr_msg_env *env, struct tsr_msg *msg, unsigned int bytes)
{
	uint8_t *host[TSR_WARP_LANES];

	if (!resolve(env, msg, bytes, true, host))
		return false;
	switch (bytes) {
	case 4:
		store_words(msg, host, 1);
		break;
	case 8:
		store_words(msg, host, 2);
		break;
	case 12:
		store_words(msg, host, 3);
		break;
	case 16:
		store_words(msg, host, 4);
		break;
	default:
		store_shorts(msg, host, bytes);
	}
	env->cost.write_bytes += (unsigned int)__builtin_popcount(msg->lanes) * bytes;
	msg->lanes = 0;
	return true;
}

enum tsr_step tsr_msg_load(struct tsr_msg_env *env, struct tsr_msg *msg, unsigned int bytes)
{
	struct tsr_load_form form;
	union tsr_lanes at;
	uint8_t *base;

	load_form(msg->insn, bytes, &form);
	if (msg->insn->mod[TSR_MOD_SEG] == TSR_SEG_UBO) {
		env->mem->unit = TSR_UNIT_ATTRIBUTE;
		return load_uniform(env, msg, &form);
	}
	if (env->access->wide) {
		if (tsr_wide_load(env, msg, &form))
			return TSR_STEP_DONE;
	} else {
		base = common_base(env, msg, bytes, TSR_ACCESS_READ, &at);
		if (base)
			return load_all(env, msg, base, &at, &form);
	}
	if (load_resolved(env, msg, &form))
		return TSR_STEP_DONE;
	return tsr_msg_each(env, msg, load_lane, &form);
}

enum tsr_step tsr_msg_store(struct tsr_msg_env *env, struct tsr_msg *msg, unsigned int bytes)
{
	uint8_t size = bytes;
	union tsr_lanes at;
	uint8_t *base;

	if (env->access->wide && tsr_wide_store(env, msg, bytes))
		return TSR_STEP_DONE;
	base = common_base(env, msg, bytes, TSR_ACCESS_WRITE, &at);
	if (base)
		return store_all(env, msg, base, &at, bytes);
	if (store_resolved(env, msg, bytes))
		return TSR_STEP_DONE;
	return tsr_msg_each(env, msg, store_lane, &size);
}
