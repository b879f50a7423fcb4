/* SPDX-License-Identifier: MIT */
/* Memory that runs out on demand: malloc(), calloc() and realloc() of the library and the tests. */
#ifndef FAIL_ALLOC_H
#define FAIL_ALLOC_H

/*
 * fail_alloc_at(): let the @nth allocation from now (1: the next) fail, once; 0: none. Returns how
 * many allocations there were since the last call.
 */
unsigned int fail_alloc_at(unsigned int nth);

#endif /* FAIL_ALLOC_H */
