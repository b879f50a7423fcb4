/* SPDX-License-Identifier: MIT */
#ifndef TSR_RELAX_H
#define TSR_RELAX_H

/* A pause of a loop that waits for another thread: the processor's other thread runs meanwhile. */
static inline void tsr_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

#endif
