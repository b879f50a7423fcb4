/* SPDX-License-Identifier: MIT */
/* TESSERA_DEBUG=lists: what the device is told, as tsr-decode prints it. */
#include <tessera/decode.h>

#include "tg_context.h"
#include "tg_trace.h"

/* Returns the bytes at @va in the batch's own memory or in BOs that it names. */
static const void *at(void *context, uint64_t va, uint64_t size)
{
	const struct tg_batch *b = context;

	util_dynarray_foreach(&b->job->chunks, struct tsr_alloc, chunk) {
		if (va >= chunk->va && va - chunk->va <= chunk->size &&
		    size <= chunk->size - (va - chunk->va))
			return (const uint8_t *)chunk->cpu + (va - chunk->va);
	}
	util_dynarray_foreach(&b->job->bos, struct tg_bo *, bo) {
		if ((*bo)->map && va >= (*bo)->va && va - (*bo)->va <= (*bo)->size &&
		    size <= (*bo)->size - (va - (*bo)->va))
			return (*bo)->map + (va - (*bo)->va);
	}
	return NULL;
}

void tg_trace_lists(struct tg_batch *b, const struct tg_frame *f)
{
	const struct tsr_decode_options options = { .engine_class = TSR_DECODE_ANY_CLASS };
	const struct tsr_decode_memory memory = { at, b };

	fprintf(stderr, "---- tessera: batch %llu, binning\n", (unsigned long long)b->number);
	tsr_decode_list(stderr, &memory, b->list_va, b->list_size, f->va, &options);
	fprintf(stderr, "---- tessera: batch %llu, rendering\n", (unsigned long long)b->number);
	tsr_decode_list(stderr, &memory, f->render_va, f->render_size, 0, &options);
}
