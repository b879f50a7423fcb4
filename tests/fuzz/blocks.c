// SPDX-License-Identifier: MIT
/*
 * Fuzz target: the decoders of compressed blocks.
 *
 * The first byte chooses a format of tests/blocks/soup.h, the rest are blocks. Texels are numbers
 * within the format's range, and the same one by one as all at once.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../blocks/soup.h"
#include "texture/codec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

const char fuzz_proves[] = "[TEX8] ";

/* A failure the sanitizers cannot see. */
static void require(bool condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "blocks: %s\n", what);
	abort();
}

/* Texel @i of a block, each decoder in turn. */
static void check_texel(const struct soup_format *f, const struct tsr_format *format,
			const uint8_t *block, unsigned int i)
{
	const double most = f->kind == SOUP_BC6H ? INFINITY : 1;
	const double least = format->kind == TSR_FORMAT_KIND_UNORM ? 0 : -most;
	uint16_t astc[144][4], one[16][4] = { { 0 } };
	union tsr_block_texels texels;
	union tsr_texel texel;
	unsigned int at = i;

	tsr_block_pick(format, block, f->w, f->h, i % f->w, i / f->w, &texel);
	if (f->kind == SOUP_ASTC) {
		tsr_block_astc(block, f->w, f->h, format->srgb, astc);
		memcpy(one[0], astc[i], sizeof(one[0]));
		tsr_block_narrow(format, one, &texels);
		at = 0;
	} else {
		tsr_block_texels(format, block, &texels);
	}
	for (unsigned int c = 0; c < 4; c++) {
		float want = f->texel == SOUP_BYTES
			? tsr_format_bytes(format->srgb && c < 3)[texels.byte[at][c]]
			: texels.number[at][c];

		require(texel.f[c] >= least && texel.f[c] <= most, "a component out of its range");
		require(texel.f[c] == want, "a texel is another one alone");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct soup_format *f = &soup_formats[size ? data[0] % SOUP_FORMATS : 0];
	struct tsr_format format;
	uint8_t block[16];

	require(tsr_format_find_texture(&format, f->number, TSR_COMPONENT_ORDER_RGBA, f->srgb),
		"no such format");
	for (size_t at = 1; at + f->bytes <= size && at < 16 * 17; at += f->bytes) {
		memcpy(block, data + at, f->bytes);
		check_texel(f, &format, block, data[at] % (f->w * f->h));
	}
	return 0;
}
