/* SPDX-License-Identifier: MIT */
/*
 * The texture unit has a floating-point mode of its own: nothing is flushed, whatever the clause
 * says that is executed when a message is.
 */
#ifndef TSR_SHADER_TEX_MODE_H
#define TSR_SHADER_TEX_MODE_H

#ifdef __SSE2__
#include <xmmintrin.h>

#define TSR_TEXTURE_FLUSH 0x8040u	/* of results and of sources */

static inline unsigned int tsr_texture_mode_enter(void)
{
	unsigned int csr = _mm_getcsr();

	if (csr & TSR_TEXTURE_FLUSH)
		_mm_setcsr(csr & ~TSR_TEXTURE_FLUSH);
	return csr;
}

/* @csr is what tsr_texture_mode_enter() returned. */
static inline void tsr_texture_mode_leave(unsigned int csr)
{
	if (csr & TSR_TEXTURE_FLUSH)
		_mm_setcsr(csr);
}
#else
static inline unsigned int tsr_texture_mode_enter(void)
{
	return 0;
}

static inline void tsr_texture_mode_leave(unsigned int csr)
{
	(void)csr;
}
#endif

#endif
