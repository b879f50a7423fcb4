/* SPDX-License-Identifier: MIT */
/*
 * All lanes of a message at once, where nothing can go wrong: accesses of pages whose translations
 * are at hand, of group memory and of scratch.
 *
 * Everything here may say no for any reason; the unit then goes lane by lane, finds out what is the
 * matter and fills the cache.
 */
#ifndef TSR_SHADER_MSG_LANES_H
#define TSR_SHADER_MSG_LANES_H

#include "msg.h"

/* What the accesses of a message are. */
struct tsr_msg_access {
	const union tsr_lanes *lo, *hi;	/* addresses; of segments WLS and TL offsets, without @hi */
	uint8_t seg;			/* enum tsr_mod_seg */
	uint8_t bytes;
	uint8_t align;
	bool read, write;		/* what the page has to allow */
};

/* The page of @va if it is at hand for what @a does, else NULL. */
static inline uint8_t *tsr_msg_page(const struct tsr_access_cache *access,
				    const struct tsr_msg_access *a, uint64_t va)
{
	uint8_t *page = tsr_access_find(access, a->write ? access->write : access->read, va);

	/* what is read and written has to be one page, which a NULL page is not */
	if (a->read && a->write && tsr_access_find(access, access->read, va) != page)
		return NULL;
	return page;
}

/* Host addresses of the accesses of @lanes; false: not all of them can be had so simply. */
static inline bool tsr_msg_resolve(const struct tsr_msg_env *env, const struct tsr_msg_access *a,
				   uint16_t lanes, uint8_t *host[TSR_WARP_LANES])
{
	const struct tsr_access_cache *access = env->access;
	uint64_t scratch_size = env->state->scratch_size;
	uint64_t group_memory = env->state->group_memory;
	uint64_t last = UINT64_MAX;
	uint8_t *page = NULL;

	for (; lanes; lanes &= lanes - 1) {
		unsigned int lane = __builtin_ctz(lanes);
		uint64_t va = a->lo->u[lane];
		unsigned int offset;

		if (a->seg == TSR_SEG_WLS)
			va += TSR_WINDOW_GROUP;
		else if (a->seg == TSR_SEG_TL)
			va += TSR_WINDOW_SCRATCH;
		else
			va |= (uint64_t)a->hi->u[lane] << 32;
		if (va & (a->align - 1))
			return false;
		if (va >> TSR_WINDOW_SHIFT == TSR_WINDOW_GROUP >> TSR_WINDOW_SHIFT) {
			va -= TSR_WINDOW_GROUP;
			if (va + a->bytes > group_memory)
				return false;
			host[lane] = env->group_memory + va;
			continue;
		}
		if (va >> TSR_WINDOW_SHIFT == TSR_WINDOW_SCRATCH >> TSR_WINDOW_SHIFT) {
			va -= TSR_WINDOW_SCRATCH;
			if (va + a->bytes > scratch_size)
				return false;
			va += env->scratch + lane * scratch_size;
		}
		offset = va % TSR_ACCESS_PAGE_BYTES;
		if (va / TSR_ACCESS_PAGE_BYTES != last) {
			last = va / TSR_ACCESS_PAGE_BYTES;
			page = tsr_msg_page(access, a, va);
			if (!page)
				return false;
		}
		if (offset + a->bytes > TSR_ACCESS_PAGE_BYTES)
			return false;
		host[lane] = page + offset;
	}
	return true;
}

/* What a load does with the bytes it has read. */
struct tsr_load_form {
	uint8_t bytes;			/* of an access */
	uint8_t words;			/* staging registers */
	uint8_t shift;			/* where in the first register the value goes */
	uint8_t extend;			/* enum tsr_mod_extend: to 64 bits, before the shift */
	uint32_t mask;			/* the bits of the first register that are written */
};

/*
 * The same on wide vectors, where the processor has them (access->wide): all lanes in one page, in
 * group memory, or in [@base, @base + @limit) at the offsets that source 0 holds. False: not done.
 */
bool tsr_wide_load(struct tsr_msg_env *env, struct tsr_msg *msg,
		   const struct tsr_load_form *form);
bool tsr_wide_load_from(struct tsr_msg_env *env, struct tsr_msg *msg,
			const struct tsr_load_form *form, const uint8_t *base, uint64_t limit);
bool tsr_wide_store(struct tsr_msg_env *env, struct tsr_msg *msg, unsigned int bytes);

#endif
