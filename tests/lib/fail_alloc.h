/* SPDX-License-Identifier: MIT */
/*
 * Memory that runs out on demand: malloc(), calloc(), realloc() and aligned_alloc() of what is
 * tested and of the tests.
 */
#ifndef FAIL_ALLOC_H
#define FAIL_ALLOC_H

/*
 * fail_alloc_at(): let the @nth allocation from now (1: the next) fail, once; 0: none.
 * fail_alloc_from(): the same with all that follow it. Both return how many allocations there were
 * since the last call.
 */
unsigned int fail_alloc_at(unsigned int nth);
unsigned int fail_alloc_from(unsigned int nth);

/*
 * fill_alloc(): fill memory of malloc(), realloc() and aligned_alloc() with @byte from now on, so
 * that a test can tell uninitialized memory from other data; -1: leave it as it is, the default.
 */
void fill_alloc(int byte);

#endif /* FAIL_ALLOC_H */
