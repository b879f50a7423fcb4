// SPDX-License-Identifier: MIT
/*
 * Memory of a pass: chunks of the context's pool, filled from the front, emptied as a whole; and
 * the control list that is written into them.
 */
#include <errno.h>
#include <stdlib.h>

#include "gfx.h"

#define CHUNK_BYTES	(64u << 10)
#define CHUNK_ALIGN	4096u

/* Room for one more chunk, and the chunk. */
static int grow(struct gfx_memory *m, uint64_t size)
{
	unsigned int capacity = m->capacity ? 2 * m->capacity : 8;
	struct tsr_alloc *chunks;
	int ret;

	if (m->count == m->capacity) {
		chunks = realloc(m->chunks, capacity * sizeof(*chunks));
		if (!chunks)
			return tsr_fail(ENOMEM, "no memory for a pass of %u chunks", capacity);
		m->chunks = chunks;
		m->capacity = capacity;
	}
	ret = tsr_pool_alloc(m->pool, size > CHUNK_BYTES ? size : CHUNK_BYTES, CHUNK_ALIGN,
			     &m->chunks[m->count]);
	if (!ret)
		m->count++;
	return ret;
}

void *gfx_alloc(struct gfx_memory *m, uint64_t size, uint32_t align, uint64_t *va)
{
	void *p = gfx_take(m, size, align, va);

	while (!p) {
		if (m->current + 1 < m->count)
			m->current++;
		else if (grow(m, size))
			return NULL;
		else
			m->current = m->count - 1;
		m->used = 0;
		p = gfx_take(m, size, align, va);
	}
	return p;
}

void gfx_memory_reset(struct gfx_memory *m)
{
	m->current = 0;
	m->used = 0;
}

void gfx_memory_fini(struct gfx_memory *m)
{
	while (m->count)
		tsr_pool_free(m->pool, &m->chunks[--m->count]);
	free(m->chunks);
}

int gfx_new_piece(struct tsr_gfx_pass *pass)
{
	struct gfx_list *list = &pass->bin;
	struct tsr_list_jump jump = { .size = GFX_PIECE_QWORDS * 8 };
	uint64_t *piece = gfx_data(pass, GFX_PIECE_QWORDS * 8, 64, &jump.addr);

	if (!piece)
		return -ENOMEM;
	if (list->piece) {
		tsr_pack_list_jump(list->piece + list->used, &jump);
		list->used += TSR_LIST_JUMP_QWORDS;
		if (list->first)
			list->size = list->used * 8;
	}
	list->first = !list->piece;
	if (list->first)
		list->va = jump.addr;
	list->piece = piece;
	list->used = 0;
	return 0;
}
