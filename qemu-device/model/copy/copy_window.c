/* SPDX-License-Identifier: MIT */
/*
 * Windows on memory: a page is translated once and used for the rows and blocks that follow.
 *
 * Addresses never wrap here: a window covers what has been translated, and nothing at the top of
 * the 64-bit range can be.
 */
#include <string.h>

#include "copy.h"

static const uint8_t zeroes[TSR_TILE_BYTES_MAX];

static bool move_window(struct tsr_copy *c, struct tsr_copy_window *w, uint64_t va, uint64_t len,
			unsigned int access)
{
	struct tsr_span span;

	c->translations++;
	if (tsr_mem_map(c->mem, va, len, access, &span) != TSR_STEP_DONE)
		return false;
	w->va = va;
	w->len = span.len;
	w->ptr = span.ptr;
	if (access == TSR_ACCESS_WRITE)
		w->number = ++c->writes;
	return true;
}

/*
 * A window for reading begins where its page does, so that it also serves mirrored rectangles,
 * which go backwards. Nothing is lost: what may be read of a page may be read from its beginning
 * on.
 */
static __attribute__((noinline))
uint64_t reach_anew(struct tsr_copy *c, struct tsr_copy_window *w, uint64_t va, uint64_t ahead,
		    unsigned int access)
{
	uint64_t skip;

	if (access == TSR_ACCESS_READ) {
		skip = va % TSR_COPY_PAGE;
		if (move_window(c, w, va - skip, skip + ahead, access) && skip < w->len)
			return w->len - skip;
	}
	return move_window(c, w, va, ahead, access) ? w->len : 0;
}

uint64_t tsr_copy_reach(struct tsr_copy *c, struct tsr_copy_window *w, uint64_t va, uint64_t ahead,
			unsigned int access)
{
	uint64_t skip = va - w->va;

	if (skip < w->len && (access == TSR_ACCESS_READ || tsr_copy_held(c, w->number)))
		return w->len - skip;
	return reach_anew(c, w, va, ahead, access);
}

static const uint8_t *source_at(const struct tsr_copy_window *w, uint64_t va)
{
	return w->ptr ? w->ptr + (va - w->va) : zeroes;
}

const uint8_t *tsr_copy_source(struct tsr_copy *c, struct tsr_copy_window *w, uint64_t va,
			       uint64_t *len, uint64_t ahead, uint8_t *split)
{
	uint64_t first = tsr_copy_reach(c, w, va, ahead, TSR_ACCESS_READ), rest;

	if (first >= *len) {
		*len = w->ptr ? first : *len;
		return source_at(w, va);
	}
	if (!first)
		return NULL;
	memcpy(split, source_at(w, va), first);
	rest = *len - first;
	if (tsr_copy_reach(c, w, va + first, ahead - first, TSR_ACCESS_READ) < rest)
		return NULL;
	memcpy(split + first, source_at(w, va + first), rest);
	return split;
}

static uint8_t *sink_at(const struct tsr_copy *c, const struct tsr_copy_window *w, uint64_t va)
{
	return w->ptr ? w->ptr + (va - w->va) : c->scratch->dropped;
}

bool tsr_copy_sink(struct tsr_copy *c, struct tsr_copy_window *w, uint64_t va, uint64_t len,
		   uint64_t ahead, uint8_t *split, struct tsr_copy_sink *sink)
{
	uint64_t first = tsr_copy_reach(c, w, va, ahead, TSR_ACCESS_WRITE);

	if (!first)
		return false;
	sink->ptr = sink_at(c, w, va);
	sink->len = w->ptr ? first : len;
	sink->number = w->number;
	sink->split = first < len;
	if (!sink->split)
		return true;
	sink->part[0] = sink->ptr;
	sink->first = (uint32_t)first;
	sink->ptr = split;
	sink->len = len;
	if (tsr_copy_reach(c, w, va + first, ahead - first, TSR_ACCESS_WRITE) < len - first)
		return false;
	sink->part[1] = sink_at(c, w, va + first);
	return tsr_copy_held(c, sink->number);
}

void tsr_copy_flush(const struct tsr_copy_sink *sink, uint64_t len)
{
	if (!sink->split)
		return;
	memcpy(sink->part[0], sink->ptr, sink->first);
	memcpy(sink->part[1], sink->ptr + sink->first, len - sink->first);
}
