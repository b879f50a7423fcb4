// SPDX-License-Identifier: MIT
/* Recording copies and fills, linear and of rectangles, after checking their values. */
#include <errno.h>
#include <string.h>

#include "stream.h"

#define TAGGED_ALIGN 64u		/* of a TAGGED_SURFACE */
#define SIZE_LIMIT (1ull << 48)		/* SIZE fields of COPY_LINEAR and FILL_LINEAR: 48 bits */

static int check_size(struct tsr_stream *stream, const char *packet, uint64_t va, uint64_t size)
{
	if (size >= SIZE_LIMIT || va + size < va)
		return tsr_stream_fail(stream, EINVAL,
				       "%s of 0x%llx bytes at 0x%llx: beyond the addresses", packet,
				       (unsigned long long)size, (unsigned long long)va);
	return 0;
}

int tsr_cmd_copy(struct tsr_stream *stream, uint64_t target, uint64_t source, uint64_t size)
{
	const struct tsr_copy_linear copy = { .src = source, .dst = target, .size = size };
	uint64_t distance = target > source ? target - source : source - target;
	uint64_t *p;
	int ret;

	ret = check_size(stream, "copy", target, size);
	if (!ret)
		ret = check_size(stream, "copy", source, size);
	if (ret)
		return ret;
	if (distance < size)
		return tsr_stream_fail(stream, EINVAL,
				       "copy of 0x%llx bytes from 0x%llx to 0x%llx overlaps",
				       (unsigned long long)size, (unsigned long long)source,
				       (unsigned long long)target);
	p = tsr_stream_emit(stream, TSR_COPY_LINEAR_QWORDS);
	if (!p)
		return tsr_stream_status(stream);
	tsr_pack_copy_linear(p, &copy);
	return 0;
}

/* The two pattern words: the texel's bytes, the rest zero. */
static void load_pattern(const void *texel, uint32_t size, uint64_t pattern[2])
{
	pattern[0] = 0;
	pattern[1] = 0;
	memcpy(pattern, texel, size);
}

int tsr_cmd_fill(struct tsr_stream *stream, uint64_t target, uint64_t size, const void *pattern,
		 uint32_t texel)
{
	struct tsr_fill_linear fill = { .texel = texel, .dst = target, .size = size };
	uint64_t words[2], *p;
	int ret;

	if (!texel || texel > TSR_TEXEL_MAX)
		return tsr_stream_fail(stream, EINVAL, "fill pattern of %u bytes, expected 1 to %d",
				       texel, TSR_TEXEL_MAX);
	if (size % texel)
		return tsr_stream_fail(
			stream, EINVAL,
			"fill of 0x%llx bytes, expected a multiple of the pattern's %u",
			(unsigned long long)size, texel);
	ret = check_size(stream, "fill", target, size);
	if (ret)
		return ret;
	load_pattern(pattern, texel, words);
	fill.pattern_lo = words[0];
	fill.pattern_hi = words[1];
	p = tsr_stream_emit(stream, TSR_FILL_LINEAR_QWORDS);
	if (!p)
		return tsr_stream_status(stream);
	tsr_pack_fill_linear(p, &fill);
	return 0;
}

static bool is_tagged(const struct tsr_surface *s)
{
	return (uint32_t)s->layout & TSR_SURFACE_TAGGED;
}

static enum tsr_layout layout_of(const struct tsr_surface *s)
{
	return (enum tsr_layout)((uint32_t)s->layout & ~TSR_SURFACE_TAGGED);
}

/* Checks that the image is aligned and has the layout of tsr_surface_init(). */
static int check_image(struct tsr_stream *stream, const char *what, const struct tsr_surface *s)
{
	struct tsr_surface again;
	uint32_t align;

	if (tsr_surface_init(&again, layout_of(s), s->width, s->height, s->texel, s->pitch))
		return tsr_stream_fail(stream, EINVAL, "%s image: %s", what, tsr_error_message());
	align = is_tagged(s) ? TAGGED_ALIGN : again.align;
	if (s->va % align)
		return tsr_stream_fail(stream, EINVAL,
				       "%s image at 0x%llx, expected a multiple of %u", what,
				       (unsigned long long)s->va, align);
	return 0;
}

static int check_rect(struct tsr_stream *stream, const char *what,
		      const struct tsr_surface *surface, const struct tsr_rect *rect)
{
	if (rect->x > surface->width || surface->width - rect->x < rect->width ||
	    rect->y > surface->height || surface->height - rect->y < rect->height)
		return tsr_stream_fail(
			stream, EINVAL,
			"%u x %u texels at (%u, %u) are not inside the %s image of %u x %u",
			rect->width, rect->height, rect->x, rect->y, what, surface->width,
			surface->height);
	return 0;
}

static bool is_empty(const struct tsr_rect *rect)
{
	return !rect->width || !rect->height;
}

static bool overlap(const struct tsr_rect *a, const struct tsr_rect *b)
{
	return a->x < b->x + b->width && b->x < a->x + a->width &&
	       a->y < b->y + b->height && b->y < a->y + a->height;
}

static int check_copy(struct tsr_stream *stream, const struct tsr_surface *target,
		      const struct tsr_rect *to, const struct tsr_surface *source,
		      const struct tsr_rect *from, uint32_t flags)
{
	int ret;

	if (flags & ~(uint32_t)(TSR_CMD_FLIP_X | TSR_CMD_FLIP_Y))
		return tsr_stream_fail(stream, EINVAL, "unknown copy flags 0x%x", flags);
	ret = check_image(stream, "target", target);
	if (!ret)
		ret = check_image(stream, "source", source);
	if (!ret)
		ret = check_rect(stream, "source", source, from);
	if (!ret)
		ret = check_rect(stream, "target", target, to);
	if (ret)
		return ret;
	if (target->texel != source->texel)
		return tsr_stream_fail(stream, EINVAL,
				       "copy from texels of %u bytes to texels of %u",
				       source->texel, target->texel);
	if (target->va == source->va && overlap(to, from))
		return tsr_stream_fail(stream, EINVAL, "source and target of a copy overlap");
	return 0;
}

int tsr_cmd_copy_image(struct tsr_stream *stream, const struct tsr_surface *target, uint32_t x,
		       uint32_t y, const struct tsr_surface *source, const struct tsr_rect *rect,
		       uint32_t flags)
{
	const struct tsr_rect to = { x, y, rect->width, rect->height };
	const struct tsr_copy_rect copy = {
		.src_layout = layout_of(source),
		.dst_layout = layout_of(target),
		.src_tagged = is_tagged(source),
		.dst_tagged = is_tagged(target),
		.flip_x = flags & TSR_CMD_FLIP_X,
		.flip_y = flags & TSR_CMD_FLIP_Y,
		.texel = source->texel,
		.src = source->va,
		.dst = target->va,
		.src_pitch = source->pitch,
		.dst_pitch = target->pitch,
		.src_x = rect->x,
		.src_y = rect->y,
		.dst_x = x,
		.dst_y = y,
		.width = rect->width,
		.height = rect->height,
	};
	uint64_t *p;
	int ret;

	ret = check_copy(stream, target, &to, source, rect, flags);
	if (ret || is_empty(rect))
		return ret;
	p = tsr_stream_emit(stream, TSR_COPY_RECT_QWORDS);
	if (!p)
		return tsr_stream_status(stream);
	tsr_pack_copy_rect(p, &copy);
	return 0;
}

int tsr_cmd_fill_image(struct tsr_stream *stream, const struct tsr_surface *target,
		       const struct tsr_rect *rect, const void *texel)
{
	struct tsr_fill_rect fill = {
		.layout = layout_of(target),
		.tagged = is_tagged(target),
		.texel = target->texel,
		.dst = target->va,
		.pitch = target->pitch,
		.x = rect->x,
		.y = rect->y,
		.width = rect->width,
		.height = rect->height,
	};
	uint64_t words[2], *p;
	int ret;

	ret = check_image(stream, "target", target);
	if (!ret)
		ret = check_rect(stream, "target", target, rect);
	if (ret || is_empty(rect))
		return ret;
	load_pattern(texel, fill.texel, words);
	fill.pattern_lo = words[0];
	fill.pattern_hi = words[1];
	p = tsr_stream_emit(stream, TSR_FILL_RECT_QWORDS);
	if (!p)
		return tsr_stream_status(stream);
	tsr_pack_fill_rect(p, &fill);
	return 0;
}
