// SPDX-License-Identifier: MIT
/* Smaller levels of a texture, see mipmap.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "mipmap.h"

uint32_t mipmap_levels(const struct picture *picture)
{
	uint32_t side = picture->width > picture->height ? picture->width : picture->height;
	uint32_t levels = 1;

	while (side >> levels)
		levels++;
	return levels;
}

static double light(uint8_t value)
{
	static double table[256];

	if (table[255] == 0) {
		for (int i = 0; i < 256; i++) {
			double c = i / 255.0;

			table[i] = c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
		}
	}
	return table[value];
}

static uint8_t encoded(double c)
{
	c = c <= 0.0031308 ? 12.92 * c : 1.055 * pow(c, 1 / 2.4) - 0.055;
	return (uint8_t)(c * 255 + 0.5);
}

/* Component @c of the texel that covers (2x, 2y) to (2x + 1, 2y + 1). */
static uint8_t average(const struct picture *p, uint32_t x, uint32_t y, uint32_t c)
{
	const uint32_t x1 = 2 * x + 1 < p->width ? 2 * x + 1 : p->width - 1;
	const uint32_t y1 = 2 * y + 1 < p->height ? 2 * y + 1 : p->height - 1;
	const uint32_t x0 = 2 * x < x1 ? 2 * x : x1, y0 = 2 * y < y1 ? 2 * y : y1;
	const uint8_t of[4] = {
		p->texels[y0 * p->pitch + 4 * (size_t)x0 + c],
		p->texels[y0 * p->pitch + 4 * (size_t)x1 + c],
		p->texels[y1 * p->pitch + 4 * (size_t)x0 + c],
		p->texels[y1 * p->pitch + 4 * (size_t)x1 + c],
	};

	if (c == 3)
		return (uint8_t)((of[0] + of[1] + of[2] + of[3] + 2) / 4);
	return encoded((light(of[0]) + light(of[1]) + light(of[2]) + light(of[3])) / 4);
}

int mipmap_next(struct picture *level, bool owned)
{
	struct picture next = {
		.width = level->width > 1 ? level->width / 2 : 1,
		.height = level->height > 1 ? level->height / 2 : 1, .texel = 4,
	};

	next.pitch = 4 * (size_t)next.width;
	next.texels = malloc(next.pitch * next.height);
	if (!next.texels)
		return -ENOMEM;
	for (uint32_t y = 0; y < next.height; y++)
		for (uint32_t x = 0; x < next.width; x++)
			for (uint32_t c = 0; c < 4; c++)
				next.texels[y * next.pitch + 4 * (size_t)x + c] =
					average(level, x, y, c);
	if (owned)
		picture_free(level);
	*level = next;
	return 0;
}
