// SPDX-License-Identifier: MIT
/* The linker sends the functions that allocate here (--wrap, tests/meson.build). */
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "fail_alloc.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_aligned_alloc(size_t align, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_aligned_alloc(size_t align, size_t size);

static atomic_uint seen, first, last;	/* allocations @first to @last fail; 0: none */

static atomic_int filling = -1;		/* byte that new memory is filled with, or -1 */

static unsigned int fail(unsigned int from, unsigned int to)
{
	atomic_store(&first, from);
	atomic_store(&last, to);
	return atomic_exchange(&seen, 0);
}

unsigned int fail_alloc_at(unsigned int nth)
{
	return fail(nth, nth);
}

unsigned int fail_alloc_from(unsigned int nth)
{
	return fail(nth, nth ? ~0u : 0);
}

static bool fails(void)
{
	unsigned int nth = atomic_fetch_add(&seen, 1) + 1;

	return nth >= atomic_load(&first) && nth <= atomic_load(&last);
}

void fill_alloc(int byte)
{
	atomic_store(&filling, byte);
}

/* Fill the bytes of @memory that are not among its first @kept. */
static void *fill(void *memory, size_t kept, size_t size)
{
	int byte = atomic_load(&filling);

	if (memory && byte >= 0 && size > kept)
		memset((char *)memory + kept, byte, size - kept);
	return memory;
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : fill(__real_malloc(size), 0, size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	size_t kept = malloc_usable_size(old);

	return fails() ? NULL : fill(__real_realloc(old, size), kept, size);
}

void *__wrap_aligned_alloc(size_t align, size_t size)
{
	return fails() ? NULL : fill(__real_aligned_alloc(align, size), 0, size);
}
