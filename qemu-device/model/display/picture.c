/* SPDX-License-Identifier: MIT */
#include "display.h"

#include <string.h>

#include "tsr_packets.h"

/* Words of a plane's registers. */
enum {
	ADDR_LOW, ADDR_HIGH, FORMAT, PITCH, CONFIG, POS, SIZE, SRC, TAGS_LOW, TAGS_HIGH, CLEAR_LOW,
	CLEAR_HIGH, TAG_PITCH
};

_Static_assert(TSR_DISPLAY_PLANE_TAG_PITCH__OFFSET - TSR_DISPLAY_PLANE_ADDR__OFFSET ==
	       4 * TAG_PITCH && TAG_PITCH == TSR_PLANE_WORDS - 1, "the registers of a plane");

#define GET(value, field) (((value) & field##__MASK) >> field##__SHIFT)

static uint32_t low(uint32_t word)
{
	return word & 0xffff;
}

static uint32_t high(uint32_t word)
{
	return word >> 16;
}

uint64_t tsr_picture_time(const struct tsr_shadow *mode, uint64_t n)
{
	const uint64_t pixels = (uint64_t)high(mode->mode_h) * high(mode->mode_v);

	return (uint64_t)((unsigned __int128)n * pixels * 1000000 / mode->mode_clock);
}

uint64_t tsr_picture_periods(const struct tsr_shadow *mode, uint64_t ns)
{
	const uint64_t pixels = (uint64_t)high(mode->mode_h) * high(mode->mode_v);
	const unsigned __int128 clocks = ((unsigned __int128)ns + 1) * mode->mode_clock - 1;

	return (uint64_t)(clocks / (pixels * 1000000));
}

static bool mode_fits(const struct tsr_shadow *s)
{
	const uint32_t w = low(s->mode_h), h = low(s->mode_v);
	const uint64_t pixels = (uint64_t)high(s->mode_h) * high(s->mode_v);
	const uint64_t clock = (uint64_t)s->mode_clock * 1000;

	return w >= TSR_SCREEN_MIN && w <= TSR_SCREEN_MAX && w < high(s->mode_h) &&
	       h >= TSR_SCREEN_MIN && h <= TSR_SCREEN_MAX && h < high(s->mode_v) &&
	       (uint64_t)w * h <= TSR_SCREEN_PIXELS_MAX &&
	       clock >= pixels * TSR_VBLANK_HZ_MIN && clock <= pixels * TSR_VBLANK_HZ_MAX;
}

bool tsr_picture_format(struct tsr_format *format, uint32_t word)
{
	const uint32_t known = TSR_CONVERSION_ORDER__MASK | TSR_CONVERSION_FORMAT__MASK |
			       TSR_CONVERSION_SRGB__MASK;
	const uint32_t number = GET(word, TSR_CONVERSION_FORMAT);

	if (word & ~known)
		return false;
	switch (number) {
	case TSR_PIXEL_FORMAT_RGBA8_UNORM:
	case TSR_PIXEL_FORMAT_RGB565:
	case TSR_PIXEL_FORMAT_RGB10_A2_UNORM:
	case TSR_PIXEL_FORMAT_RGBA16F:
		return tsr_format_find(format, number, GET(word, TSR_CONVERSION_ORDER), false);
	default:
		return false;
	}
}

/* True if the visible part of @p is aligned and within the address space. */
static bool memory_fits(const struct tsr_plane *p)
{
	const uint32_t rows = p->src_y + p->height;
	const uint64_t last = p->tiled ? (rows + TSR_TILE_DIM - 1) / TSR_TILE_DIM : rows;
	const uint32_t columns = p->src_x + p->width;
	const uint32_t row = p->tiled ? (columns + TSR_TILE_DIM - 1) / TSR_TILE_DIM *
						TSR_TILE_DIM * TSR_TILE_DIM * p->format.bytes :
					columns * p->format.bytes;

	return p->addr % 64 == 0 && p->pitch % (p->tiled ? 64u : p->format.bytes) == 0 &&
	       p->pitch >= row && p->pitch <= TSR_SCANOUT_PITCH_MAX &&
	       p->addr <= UINT64_MAX - last * p->pitch;
}

/* True if metadata and clear value fit as well, and a row of metadata has enough room. */
static bool tags_fit(const struct tsr_plane *p)
{
	const uint32_t columns = (p->src_x + p->width + TSR_TAG_DIM - 1) / TSR_TAG_DIM;
	const uint64_t rows = (p->src_y + p->height + TSR_TAG_DIM - 1) / TSR_TAG_DIM;

	return p->tags % 64 == 0 && p->clear % 64 == 0 && p->tag_pitch >= columns &&
	       p->tag_pitch <= TSR_SCANOUT_PITCH_MAX && p->tags <= UINT64_MAX - rows * p->tag_pitch;
}

static bool decode_plane(struct tsr_plane *p, const uint32_t *word, unsigned int n)
{
	const uint32_t known = TSR_DISPLAY_PLANE_CONFIG_LAYOUT__MASK |
			       TSR_DISPLAY_PLANE_CONFIG_BLEND__MASK |
			       TSR_DISPLAY_PLANE_CONFIG_ZPOS__MASK |
			       TSR_DISPLAY_PLANE_CONFIG_ALPHA__MASK;
	const uint32_t alpha = GET(word[CONFIG], TSR_DISPLAY_PLANE_CONFIG_ALPHA);
	const uint32_t layout = GET(word[CONFIG], TSR_DISPLAY_PLANE_CONFIG_LAYOUT);
	const bool cursor = n == TSR_DISPLAY_PLANE_CURSOR;

	*p = (struct tsr_plane){ .addr = word[ADDR_LOW] | (uint64_t)word[ADDR_HIGH] << 32 };
	if (!p->addr)
		return true;
	if (!tsr_picture_format(&p->format, word[FORMAT]) || word[CONFIG] & ~known)
		return false;
	p->pitch = word[PITCH];
	p->tagged = layout == TSR_SCANOUT_LAYOUT_TAGGED;
	p->tiled = layout == TSR_SCANOUT_LAYOUT_TILED || p->tagged;
	p->tags = word[TAGS_LOW] | (uint64_t)word[TAGS_HIGH] << 32;
	p->clear = word[CLEAR_LOW] | (uint64_t)word[CLEAR_HIGH] << 32;
	p->tag_pitch = word[TAG_PITCH];
	p->blend = GET(word[CONFIG], TSR_DISPLAY_PLANE_CONFIG_BLEND);
	p->zpos = GET(word[CONFIG], TSR_DISPLAY_PLANE_CONFIG_ZPOS);
	p->alpha = (float)alpha / 65535;
	p->opaque = p->format.plain && p->blend == TSR_PLANE_BLEND_NONE && alpha == 0xffff;
	p->x = (int16_t)low(word[POS]);
	p->y = (int16_t)high(word[POS]);
	p->width = low(word[SIZE]);
	p->height = high(word[SIZE]);
	p->src_x = low(word[SRC]);
	p->src_y = high(word[SRC]);
	if (layout > TSR_SCANOUT_LAYOUT_TAGGED || p->blend > TSR_PLANE_BLEND_COVERAGE ||
	    !p->width || !p->height ||
	    p->src_x + p->width > TSR_SCREEN_MAX || p->src_y + p->height > TSR_SCREEN_MAX)
		return false;
	if (cursor && (p->tiled || !p->format.plain || p->width > TSR_CURSOR_MAX ||
		       p->height > TSR_CURSOR_MAX))
		return false;
	return memory_fits(p) && (!p->tagged || tags_fit(p));
}

bool tsr_picture_decode(struct tsr_picture *picture, const struct tsr_shadow *shadow, bool mode)
{
	struct tsr_picture decoded = *picture;

	memcpy(decoded.shadow.plane, shadow->plane, sizeof(shadow->plane));
	decoded.shadow.background = shadow->background;
	if (mode && !mode_fits(shadow))
		return false;
	if (mode) {
		decoded.shadow = *shadow;
		decoded.width = low(shadow->mode_h);
		decoded.height = low(shadow->mode_v);
	}
	for (unsigned int n = 0; n < TSR_PLANES; n++)
		if (!decode_plane(&decoded.plane[n], shadow->plane[n], n))
			return false;
	for (unsigned int n = 0; n < TSR_PLANES; n++) {
		unsigned int at = 0;

		for (unsigned int k = 0; k < TSR_PLANES; k++)
			at += decoded.plane[k].zpos < decoded.plane[n].zpos ||
			      (decoded.plane[k].zpos == decoded.plane[n].zpos && k < n);
		decoded.order[at] = (uint8_t)n;
	}
	*picture = decoded;
	return true;
}

bool tsr_picture_cursor(struct tsr_picture *picture, const uint32_t *words)
{
	struct tsr_shadow shadow = picture->shadow;

	memcpy(shadow.plane[TSR_DISPLAY_PLANE_CURSOR], words,
	       sizeof(shadow.plane[TSR_DISPLAY_PLANE_CURSOR]));
	return tsr_picture_decode(picture, &shadow, false);
}
