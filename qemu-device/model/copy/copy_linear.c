/* SPDX-License-Identifier: MIT */
/* COPY_LINEAR and FILL_LINEAR: bytes in ascending order. */
#include <string.h>

#include "copy.h"

/*
 * Copy up to @len bytes as far as source and destination are in one piece; *@len: how many it were.
 * The source is translated first, so where both fault at the same byte the read is reported.
 */
static enum tsr_step copy_piece(struct tsr_copy *c, uint64_t src, uint64_t dst, uint64_t *len)
{
	struct tsr_span from, to;
	enum tsr_step ret;

	c->translations += 2;
	ret = tsr_mem_map(c->mem, src, *len, TSR_ACCESS_READ, &from);
	if (ret != TSR_STEP_DONE)
		return ret;
	ret = tsr_mem_map(c->mem, dst, from.len, TSR_ACCESS_WRITE, &to);
	if (ret != TSR_STEP_DONE)
		return ret;
	*len = to.len;
	if (to.ptr && from.ptr)
		memmove(to.ptr, from.ptr, to.len);
	else if (to.ptr)
		memset(to.ptr, 0, to.len);
	c->cost->read_bytes += to.len;
	return TSR_STEP_DONE;
}

static enum tsr_step fill_piece(struct tsr_copy *c, uint64_t dst, unsigned int phase, uint64_t *len)
{
	struct tsr_span to;
	enum tsr_step ret;

	c->translations++;
	ret = tsr_mem_map(c->mem, dst, *len, TSR_ACCESS_WRITE, &to);
	if (ret != TSR_STEP_DONE)
		return ret;
	*len = to.len;
	if (to.ptr)
		tsr_copy_pattern_fill(c->pattern, to.ptr, to.len, phase);
	return TSR_STEP_DONE;
}

enum tsr_step tsr_copy_linear(struct tsr_copy *c, uint64_t src, uint64_t dst, uint64_t size,
			      uint64_t *done)
{
	while (*done < size) {
		uint64_t len = tsr_copy_min(size - *done, c->budget);
		enum tsr_step ret;

		if (!len || c->translations >= TSR_COPY_TRANSLATIONS)
			return TSR_STEP_MORE;
		if (c->pattern)
			ret = fill_piece(c, dst + *done, *done % c->pattern->texel, &len);
		else
			ret = copy_piece(c, src + *done, dst + *done, &len);
		if (ret != TSR_STEP_DONE)
			return ret;
		c->cost->write_bytes += len;
		c->budget -= len;
		*done += len;
	}
	return TSR_STEP_DONE;
}
