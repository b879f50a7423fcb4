/* SPDX-License-Identifier: MIT */
/*
 * Work that has no end, for what looks at how engines stop: lists of tiles, programs.
 */
#ifndef TSR_ENDLESS_H
#define TSR_ENDLESS_H

#include "shade.h"
#include "tiles.h"

/* A list of tiles of these packets, again and again. */
struct endless_tile {
	const char *what;
	unsigned int words;
	uint64_t word[2];
};

#define ENDLESS_TILES 9
extern const struct endless_tile endless_tiles[ENDLESS_TILES];

/*
 * Tiles as large as they can be with as many targets as the tile buffer takes, and draws of
 * triangles over all of them, to be binned by binner_bin().
 */
struct tiles *endless_frame(const struct tsr_config *config, unsigned int samples_log2);
/* Begin to render, what has been binned, with such a list. */
void endless_render(struct tiles *t, const struct endless_tile *e);
/* Positions of triangles that cover everything. */
void endless_corner(struct binner *f, uint32_t vertex, uint32_t instance, float *record);

/* A program that has no end, or whose dispatch has none. */
struct endless_program {
	const char *what, *text;
};

#define ENDLESS_PROGRAMS 7
extern const struct endless_program endless_programs[ENDLESS_PROGRAMS];

/* Begin a large dispatch of it. */
void endless_dispatch(struct shade_machine *m, const struct endless_program *e);

#endif
