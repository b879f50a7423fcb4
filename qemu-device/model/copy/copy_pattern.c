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
	p->len = TSR_COPY_PATTERN / texel * texel;
	for (i = texel; i < p->len; i *= 2)
		memcpy(p->bytes + i, p->bytes, i < p->len - i ? i : p->len - i);
}

void tsr_copy_pattern_fill(const struct tsr_copy_pattern *p, uint8_t *dst, uint64_t len,
			   unsigned int phase)
{
	uint64_t n;

	if (p->uniform) {
		memset(dst, p->bytes[0], len);
		return;
	}
	for (; len; len -= n, dst += n, phase = 0) {
		n = tsr_copy_min(p->len - phase, len);
		memcpy(dst, p->bytes + phase, n);
	}
}
