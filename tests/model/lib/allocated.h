/* SPDX-License-Identifier: MIT */
/* Bytes that this program has allocated, with and without a sanitizer. */
#ifndef TSR_TEST_ALLOCATED_H
#define TSR_TEST_ALLOCATED_H

#include <malloc.h>
#include <stddef.h>

/* There if the program has a sanitizer. */
__attribute__((weak)) size_t __sanitizer_get_current_allocated_bytes(void);

static inline size_t allocated(void)
{
	if (__sanitizer_get_current_allocated_bytes)
		return __sanitizer_get_current_allocated_bytes();
	return mallinfo2().uordblks + mallinfo2().hblkhd;
}

#endif
