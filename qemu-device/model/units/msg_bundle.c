/* SPDX-License-Identifier: MIT */
/*
 * Messages of bundles: accesses whose lanes have nothing in common.
 */
#include "msg_bundle.h"

/*
 * Host address of the access of @lane at @va, of the page at hand or the next; NULL: not to be had.
 */
static uint8_t *resolve_lane(struct tsr_msg_env *env, const struct tsr_msg_access *a,
			     const struct tsr_msg_place *place, unsigned int lane, uint64_t va)
{
	uint64_t scratch = env->state->scratch_size;
	uint8_t *page;

	if (va >> TSR_WINDOW_SHIFT == TSR_WINDOW_GROUP >> TSR_WINDOW_SHIFT) {
		va -= TSR_WINDOW_GROUP;
		return va + a->bytes > env->state->group_memory ? NULL : place->group_memory + va;
	}
	if (va >> TSR_WINDOW_SHIFT == TSR_WINDOW_SCRATCH >> TSR_WINDOW_SHIFT) {
		va -= TSR_WINDOW_SCRATCH;
		if (va + a->bytes > scratch)
			return NULL;
		va += place->scratch + lane * scratch;
	}
	if (va >> TSR_WINDOW_SHIFT || va % TSR_ACCESS_PAGE_BYTES + a->bytes > TSR_ACCESS_PAGE_BYTES)
		return NULL;
	page = tsr_msg_page(env, a, va);
	return page ? page + va % TSR_ACCESS_PAGE_BYTES : NULL;
}

bool tsr_msg_resolve(struct tsr_msg_env *env, const struct tsr_msg_access *a,
		     const struct tsr_msg_place *place, uint16_t lanes,
		     uint8_t *host[TSR_WARP_LANES])
{
	for (; lanes; lanes &= lanes - 1) {
		unsigned int lane = __builtin_ctz(lanes);
		uint64_t va = a->lo->u[lane];

		if (a->seg == TSR_SEG_WLS)
			va += TSR_WINDOW_GROUP;
		else if (a->seg == TSR_SEG_TL)
			va += TSR_WINDOW_SCRATCH;
		else
			va |= (uint64_t)a->hi->u[lane] << 32;
		if (va & (a->align - 1u))
			return false;
		host[lane] = resolve_lane(env, a, place, lane, va);
		if (!host[lane])
			return false;
	}
	return true;
}
