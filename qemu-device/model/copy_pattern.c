/* SPDX-License-Identifier: MIT */
/* The pattern of FILL_LINEAR and FILL_RECT. */
#include <string.h>

#include "copy.h"

void tsr_copy_pattern_init(struct tsr_copy_pattern *p, unsigned int texel, uint64_t lo, uint64_t hi)
{
	unsigned int i;

	p->texel = texel;
	p->uniform = true;
	for (i = 0; i < texel; i++) {
		p->bytes[i] = (uint8_t)(i < 8 ? lo >> 8 * i : hi >> 8 * (i - 8));
		p->uniform = p->uniform && p->bytes[i] == p->bytes[0];
	}
	for (i = 1; i < 64; i *= 2)
		memcpy(p->bytes + i * texel, p->bytes, i * texel);
}

void tsr_copy_pattern_fill(const struct tsr_copy_pattern *p, uint8_t *dst, uint64_t len,
			   unsigned int phase)
{
	const uint64_t all = p->texel * 64;
	uint64_t n;

	if (p->uniform) {
		memset(dst, p->bytes[0], len);
		return;
	}
	for (; len; len -= n, dst += n, phase = 0) {
		n = all - phase < len ? all - phase : len;
		memcpy(dst, p->bytes + phase, n);
	}
}
