// SPDX-License-Identifier: MIT
/* The linker sends malloc(), calloc() and realloc() here (--wrap, tests/lib/programs.mk). */
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "fail_alloc.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

static atomic_uint seen, fatal;

unsigned int fail_alloc_at(unsigned int nth)
{
	atomic_store(&fatal, nth);
	return atomic_exchange(&seen, 0);
}

static bool fails(void)
{
	return atomic_fetch_add(&seen, 1) + 1 == atomic_load(&fatal);
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	return fails() ? NULL : __real_realloc(old, size);
}
