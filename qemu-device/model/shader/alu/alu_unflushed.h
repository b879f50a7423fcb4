/* SPDX-License-Identifier: MIT */
/*
 * The texture unit and the varying unit have a floating-point mode of their own: nothing is
 * flushed, whatever the clause says that is executed when a message is.
 */
#ifndef TSR_SHADER_ALU_UNFLUSHED_H
#define TSR_SHADER_ALU_UNFLUSHED_H

#ifdef __SSE2__
#include <xmmintrin.h>

#define TSR_FLUSH_BITS 0x8040u	/* of results and of sources */

static inline unsigned int tsr_unflushed_enter(void)
{
	unsigned int csr = _mm_getcsr();

	if (csr & TSR_FLUSH_BITS)
		_mm_setcsr(csr & ~TSR_FLUSH_BITS);
	return csr;
}

/* @csr is what tsr_unflushed_enter() returned. */
static inline void tsr_unflushed_leave(unsigned int csr)
{
	if (csr & TSR_FLUSH_BITS)
		_mm_setcsr(csr);
}
#else
static inline unsigned int tsr_unflushed_enter(void)
{
	return 0;
}

static inline void tsr_unflushed_leave(unsigned int csr)
{
	(void)csr;
}
#endif

#endif
