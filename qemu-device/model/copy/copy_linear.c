/* SPDX-License-Identifier: MIT */
/* COPY_LINEAR and FILL_LINEAR: bytes in ascending order. */
#include <string.h>

#include "copy.h"

/*
 * The last bytes of a copy: those in the last aligned 16 bytes of the destination. They are read
 * and stored as one, so the steps of a copy split no aligned word.
 */
static uint64_t tail(uint64_t dst, uint64_t size)
{
	return tsr_copy_min(size, (dst + size - 1) % TSR_TEXEL_MAX + 1);
}

/* Hold the @len bytes at @src, which are the last ones. False: they are not in one piece. */
static enum tsr_step hold(struct tsr_copy *c, uint64_t src, uint64_t len, bool *held)
{
	struct tsr_span from;
	enum tsr_step ret;

	c->translations++;
	ret = tsr_mem_map(c->mem, src, len, TSR_ACCESS_READ, &from);
	*held = ret == TSR_STEP_DONE && from.len == len;
	if (!*held)
		return ret;
	if (from.ptr)
		memcpy(tsr_copy_texel(c), from.ptr, len);
	c->state->word[TSR_COPY_HOLDS] = 1;
	return TSR_STEP_MORE;
}

/* Store the @len bytes held, or the first *@stored of them. */
static enum tsr_step store(struct tsr_copy *c, uint64_t dst, uint64_t len, uint64_t *stored)
{
	uint8_t *bytes = tsr_copy_texel(c);
	struct tsr_span to;
	enum tsr_step ret;

	c->translations++;
	ret = tsr_mem_map(c->mem, dst, len, TSR_ACCESS_WRITE, &to);
	if (ret != TSR_STEP_DONE)
		return ret;
	if (to.ptr)
		memcpy(to.ptr, bytes, to.len);
	memmove(bytes, bytes + to.len, len - to.len);
	c->cost->read_bytes += to.len;
	*stored = to.len;
	return TSR_STEP_DONE;
}

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

/* The next piece of a copy with @left bytes to go, of at most *@len bytes; *@len: how many. */
static enum tsr_step next_piece(struct tsr_copy *c, uint64_t src, uint64_t dst, uint64_t left,
				uint64_t *len)
{
	const uint64_t last = tail(dst, left);
	bool held;

	if (c->state->word[TSR_COPY_HOLDS])
		return store(c, dst, tsr_copy_min(left, TSR_TEXEL_MAX), len);
	if (left > last) {
		*len = tsr_copy_min(*len, left - last);
	} else {
		enum tsr_step ret = hold(c, src, left, &held);

		if (held || ret != TSR_STEP_DONE)
			return ret;
	}
	return copy_piece(c, src, dst, len);
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
			ret = next_piece(c, src + *done, dst + *done, size - *done, &len);
		if (ret != TSR_STEP_DONE)
			return ret;
		c->cost->write_bytes += len;
		c->budget -= len;
		*done += len;
	}
	return TSR_STEP_DONE;
}
