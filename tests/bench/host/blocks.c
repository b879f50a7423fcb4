/* SPDX-License-Identifier: MIT */
/*
 * The cost of decoding a compressed block. The blocks of tests/blocks/soup.h that are no errors are
 * decoded as a whole, so all modes of a format together.
 */
#include <math.h>
#include <stdio.h>

#include "../../blocks/soup.h"
#include "figures.h"
#include "texture/codec.h"

#define BLOCKS 1024u

static uint8_t block[BLOCKS][16];
static struct tsr_format format;

/* Keeps the compiler from removing the work. */
static volatile uint32_t result;

static void decode(void *arg, unsigned int count)
{
	const struct soup_format *f = arg;
	uint16_t astc[144][4];
	union tsr_block_texels texels;
	uint32_t sum = 0;

	for (unsigned int i = 0; i < count; i++) {
		if (f->kind == SOUP_ASTC)
			tsr_block_astc(block[i % BLOCKS], f->w, f->h, format.srgb, astc);
		else
			tsr_block_texels(&format, block[i % BLOCKS], &texels);
		sum += f->kind == SOUP_ASTC ? astc[0][0] : texels.byte[0][0];
	}
	result = sum;
}

/* The least of some runs, in time of the processor. */
static double measure(struct soup_format *f)
{
	double least = INFINITY;

	for (unsigned int i = 0; i < FIGURE_RUNS; i++)
		least = fmin(least, figure_cpu_once(decode, f, 16 * BLOCKS));
	return least;
}

int main(void)
{
	for (unsigned int i = 0; i < SOUP_FORMATS; i++) {
		struct soup_format f = soup_formats[i];
		char name[80];

		tsr_format_find_texture(&format, f.number, TSR_COMPONENT_ORDER_RGBA, f.srgb);
		for (unsigned int n = 0, number = 0; n < BLOCKS; number++) {
			soup_block(&f, number, block[n]);
			n += f.kind != SOUP_ASTC || soup_astc_good(&f, block[n]);
		}
		snprintf(name, sizeof(name), "block_%s", f.name);
		figure_print(name, measure(&f), "ns");
	}
	return 0;
}
