/* SPDX-License-Identifier: MIT */
#include "util/format/u_format.h"
#include "util/u_math.h"

#include "tc_layout.h"
#include "tsr_enums.h"

static void lay_out_level(struct tc_layout *layout, const struct tc_shape *s, unsigned l,
			  uint32_t pitch)
{
	const unsigned width = util_format_get_nblocksx(s->format, u_minify(s->width, l));
	const unsigned height = util_format_get_nblocksy(s->format, u_minify(s->height, l));
	struct tc_level *level = &layout->level[l];
	uint64_t rows = height;

	if (s->tiled) {
		level->pitch = DIV_ROUND_UP(width, TC_TILE) * TC_TILE * TC_TILE * layout->texel;
		rows = DIV_ROUND_UP(height, TC_TILE);
	} else {
		level->pitch = align(width * layout->texel, TC_ALIGN);
	}
	level->slice = align64(rows * level->pitch, TC_ALIGN);
	if (pitch) {
		level->slice = level->slice / level->pitch * pitch;
		level->pitch = pitch;
	}
}

void tc_layout_init(struct tc_layout *layout, const struct tc_shape *s, uint32_t pitch)
{
	uint64_t at = 0;
	unsigned l;

	*layout = (struct tc_layout){
		.layout = s->tiled ? TSR_LAYOUT_TILED : TSR_LAYOUT_LINEAR,
		.texel = util_format_get_blocksize(s->format),
		.volume = s->volume,
	};
	for (l = 0; l < s->levels && l < TC_LEVELS; l++) {
		lay_out_level(layout, s, l, pitch);
		layout->level[l].offset = at;
		at += layout->level[l].slice * (s->volume ? u_minify(s->depth, l) : 1);
	}
	layout->sample = at;
	layout->layer = at * MAX2(s->samples, 1);
	layout->size = layout->layer * MAX2(s->layers, 1);
}

uint64_t tc_layout_offset(const struct tc_layout *layout, unsigned level, unsigned layer,
			  unsigned sample)
{
	const struct tc_level *l = &layout->level[level];

	if (layout->volume)
		return l->offset + layer * l->slice;
	return layer * layout->layer + sample * layout->sample + l->offset;
}
