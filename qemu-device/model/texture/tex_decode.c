/* SPDX-License-Identifier: MIT */
/*
 * Blocks of texels as they lie in memory to decoded ones.
 *
 * Of a compressed format tsr_raw_block holds the compressed block; what lies after the L1 knows
 * nothing of compression.
 */
#include "codec.h"
#include "tex_cache.h"
#include "units/msg_bundle.h"

static bool all_bytes(const struct tsr_format *f)
{
	for (unsigned int c = 0; c < 4; c++) {
		if (f->bits[c] && f->bits[c] != 8)
			return false;
	}
	return f->kind == TSR_FORMAT_KIND_UNORM;
}

enum tsr_block_kind tsr_block_kind(const struct tsr_format *format)
{
	if (!format->bytes)
		return TSR_TEX_BLOCK_NONE;
	if (tsr_format_is_integer(format))
		return TSR_TEX_BLOCK_INTEGERS;
	return all_bytes(format) && !format->srgb ? TSR_TEX_BLOCK_BYTES : TSR_TEX_BLOCK_FLOATS;
}

/* Where a component of the result is in a texel of bytes; or what it is, always. */
struct source {
	uint8_t at;			/* BYTE_NONE: nowhere */
	uint8_t value;
	float number;
};

#define BYTE_NONE 0xff

static void find_sources(const struct tsr_format *f, struct source source[4])
{
	for (unsigned int c = 0; c < 4; c++) {
		unsigned int from = f->from[c];
		bool there = from < 4 && f->bits[from];
		bool one = from == TSR_COMPONENT_ONE || (from == TSR_COMPONENT_A && !there);

		source[c].at = there ? f->shift[from] / 8 : BYTE_NONE;
		source[c].value = one ? 0xff : 0;
		source[c].number = one;
	}
}

/* Where texel @n of a block goes. */
static uint8_t *place_of(uint8_t *to, size_t pitch, unsigned int n, unsigned int bytes)
{
	return to + n / TSR_TEX_BLOCK_DIM * pitch + n % TSR_TEX_BLOCK_DIM * bytes;
}

bool tsr_block_is_plain(const struct tsr_format *f)
{
	static const uint8_t rgba[4] = {
		TSR_COMPONENT_R, TSR_COMPONENT_G, TSR_COMPONENT_B, TSR_COMPONENT_A,
	};

	return f->plain && memcmp(f->from, rgba, sizeof(rgba)) == 0;
}

static void decode_bytes(const struct tsr_format *f, const struct tsr_raw_block *raw, uint8_t *to,
			 size_t pitch)
{
	struct source source[4];

	if (tsr_block_is_plain(f)) {
		if (raw->tiled)
			tsr_block_sort(raw->from, to, pitch);
		for (unsigned int n = 0; n < 16 && !raw->tiled; n++)
			memcpy(place_of(to, pitch, n, 4), raw->from + 4 * raw->order[n], 4);
		return;
	}
	find_sources(f, source);
	for (unsigned int n = 0; n < 16; n++) {
		const uint8_t *from = raw->from + raw->order[n] * f->bytes;
		uint8_t *texel = place_of(to, pitch, n, 4);

		for (unsigned int c = 0; c < 4; c++)
			texel[c] = source[c].at == BYTE_NONE ? source[c].value
							     : from[source[c].at];
	}
}

/* Bytes by tables: sRGB. */
static void decode_tables(const struct tsr_format *f, const struct tsr_raw_block *raw, uint8_t *to,
			  size_t pitch)
{
	struct source source[4];
	const float *table[4];

	find_sources(f, source);
	for (unsigned int c = 0; c < 4; c++)
		table[c] = tsr_format_bytes(f->srgb && f->from[c] < 3);
	for (unsigned int n = 0; n < 16; n++) {
		const uint8_t *from = raw->from + raw->order[n] * f->bytes;
		float texel[4];

		for (unsigned int c = 0; c < 4; c++)
			texel[c] = source[c].at == BYTE_NONE ? source[c].number
							     : table[c][from[source[c].at]];
		memcpy(place_of(to, pitch, n, sizeof(texel)), texel, sizeof(texel));
	}
}

/* Texels one by one. */
static void decode_words(const struct tsr_format *f, const struct tsr_raw_block *raw, uint8_t *to,
			 size_t pitch)
{
	for (unsigned int n = 0; n < 16; n++) {
		union tsr_texel texel;
		uint32_t word[4];

		tsr_format_load(f, raw->from + raw->order[n] * f->bytes, &texel);
		for (unsigned int c = 0; c < 4; c++) {
			if (tsr_format_is_integer(f))
				word[c] = (uint32_t)texel.i[c];
			else
				memcpy(&word[c], &texel.f[c], sizeof(float));
		}
		memcpy(place_of(to, pitch, n, sizeof(word)), word, sizeof(word));
	}
}

/* The numbers of a compressed block in the order of the result. */
static void arrange_numbers(const struct tsr_format *f, const float number[16][4], uint8_t *to,
			    size_t pitch)
{
	for (unsigned int n = 0; n < 16; n++) {
		float texel[4];

		for (unsigned int c = 0; c < 4; c++)
			texel[c] = f->from[c] < 4 ? number[n][f->from[c]]
						  : f->from[c] == TSR_COMPONENT_ONE;
		memcpy(place_of(to, pitch, n, sizeof(texel)), texel, sizeof(texel));
	}
}

/* Bytes are arranged like those of a format of four bytes, in rows. */
void tsr_block_arrange(const struct tsr_texture_view *view, bool linear,
		       const union tsr_block_texels *texels, uint8_t *to, size_t pitch)
{
	static const uint8_t rows[16] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
	const struct tsr_format *f = linear ? &view->linear : &view->format;
	struct tsr_format four = *f;
	struct tsr_raw_block bytes;

	if (!tsr_block_has_bytes(f)) {
		arrange_numbers(f, texels->number, to, pitch);
		return;
	}
	bytes.from = texels->byte[0];
	bytes.order = rows;
	bytes.tiled = false;
	four.bytes = 4;
	four.plain = !f->srgb;
	for (unsigned int c = 0; c < 4; c++)
		four.shift[c] = (uint8_t)(8 * c);
	if (f->srgb)
		decode_tables(&four, &bytes, to, pitch);
	else
		decode_bytes(&four, &bytes, to, pitch);
}

void tsr_block_decode(const struct tsr_msg_path *path, const struct tsr_texture_view *view,
		      bool linear, const struct tsr_raw_block *raw, uint8_t *to, size_t pitch)
{
	const struct tsr_format *f = linear ? &view->linear : &view->format;
	union tsr_block_texels texels;

	if (f->codec) {
		tsr_block_texels(f, raw->from, &texels);
		tsr_block_arrange(view, linear, &texels, to, pitch);
	} else if (view->kind[linear] == TSR_TEX_BLOCK_BYTES) {
		decode_bytes(f, raw, to, pitch);
	} else if (path && f->decodes) {
		path->decode_block(f, raw->from, raw->order, to, pitch);
	} else {
		decode_words(f, raw, to, pitch);
	}
}

void tsr_block_texel(enum tsr_block_kind kind, const struct tsr_format *format, const void *decoded,
		     union tsr_texel *texel)
{
	const uint8_t *byte = decoded;
	const uint32_t *word = decoded;
	const float *table = tsr_format_bytes(false);

	for (unsigned int c = 0; c < 4; c++) {
		if (kind == TSR_TEX_BLOCK_BYTES)
			texel->f[c] = table[byte[c]];
		else if (kind == TSR_TEX_BLOCK_FLOATS)
			memcpy(&texel->f[c], &word[c], sizeof(float));
		else if (format->kind == TSR_FORMAT_KIND_SINT)
			texel->i[c] = (int32_t)word[c];
		else
			texel->i[c] = word[c];
	}
}
