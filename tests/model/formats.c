/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/* What is known of each pixel format and of each order of components before a texel is read. */
#include <string.h>

#include "ktap.h"
#include "rnd.h"
#include "shader/tex_cache.h"
#include "tiling.h"
#include "tsr_desc.h"

struct row {
	unsigned int number, bytes, skip;
	unsigned int bits[4];
	const char *name;
};

#define ROW(name_, number_, kind_, bytes_, skip_, first_, r, g, b, a) \
	{ number_, bytes_, skip_, { r, g, b, a }, #name_ },

static const struct row table[] = { TSR_PIXEL_FORMAT__TABLE(ROW) };

#define FORMATS (sizeof(table) / sizeof(table[0]))

/* Of how many bits each component is; 0: they differ. */
static unsigned int width(const struct row *r)
{
	unsigned int is = 0;

	for (unsigned int c = 0; c < 4; c++) {
		if (is && r->bits[c] && r->bits[c] != is)
			return 0;
		is = r->bits[c] ? r->bits[c] : is;
	}
	return is;
}

/* Texels are aligned like components of 8, 16 or 32 bits, else like a load of their size. */
static void test_alignment(void)
{
	for (unsigned int i = 0; i < FORMATS; i++) {
		const struct row *r = &table[i];
		unsigned int bits = width(r), sum = 0;
		unsigned int align = bits == 8 || bits == 16 || bits == 32 ? bits / 8 :
				     r->bytes < 4			   ? r->bytes :
									     4;
		struct tsr_format format;

		for (unsigned int c = 0; c < 4; c++)
			sum += r->bits[c];
		/* stencil beside something else is not said to be one or the other */
		if (!r->bytes || (bits == 8 && sum != 8 * r->bytes))
			continue;
		ktap_ok(tsr_format_find(&format, r->number, TSR_COMPONENT_ORDER_RGBA, false));
		if (!ktap_eq(format.align, align) || !ktap_eq(format.bytes, r->bytes))
			ktap_note("%s", r->name);
	}
}

/* Whether block @raw of @view, as a texture or without its sRGB curve, is what its texels are. */
static bool same_block(const struct tsr_texture_view *view, const struct tsr_raw_block *raw,
		       bool linear)
{
	const struct tsr_format *f = linear ? &view->linear : &view->format;
	const unsigned int bytes = tsr_texel_bytes(view->kind[linear]), pitch = 4 * bytes;
	uint8_t decoded[4 * 4 * TSR_TEX_TEXEL_BYTES_MAX];
	bool same = true;

	tsr_block_decode(view, linear, raw, decoded, pitch);
	for (unsigned int n = 0; n < 16; n++) {
		union tsr_texel got, want;

		tsr_format_load(f, raw->from + raw->order[n] * f->bytes, &want);
		tsr_block_texel(view->kind[linear], f, decoded + n / 4 * pitch + n % 4 * bytes,
				&got);
		for (unsigned int c = 0; c < 4; c++)
			same &= tsr_format_is_integer(f) ? got.i[c] == want.i[c] :
							   !memcmp(&got.f[c], &want.f[c], 4);
	}
	return same;
}

/* Blocks as they are kept are what their texels are one by one, each format in each order. */
static void test_blocks(void)
{
	uint8_t memory[16 * 16], rows[16], tiles[16];
	struct tsr_raw_block raw = { .from = memory, .columns = 4, .rows = 4 };
	struct tsr_texture_view view = { 0 };
	unsigned int seen = 0;

	for (unsigned int n = 0; n < 16; n++) {
		rows[n] = n;
		tiles[n] = tsr_tile_index(n % 4, n / 4);
	}
	for (unsigned int i = 0; i < 4 * 256 * FORMATS; i++) {
		const struct row *r = &table[i / 1024];
		const unsigned int order = i / 4 % 256;

		if (!tsr_format_find(&view.format, r->number, order, i & 1) ||
		    !tsr_format_find(&view.linear, r->number, order, false) || !r->bytes)
			continue;
		view.kind[0] = tsr_block_kind(&view.format);
		view.kind[1] = tsr_block_kind(&view.linear);
		raw.tiled = i & 2;
		raw.order = raw.tiled ? tiles : rows;
		for (unsigned int n = 0; n < sizeof(memory); n++)
			memory[n] = rnd();
		if (!ktap_ok(same_block(&view, &raw, false) && same_block(&view, &raw, true))) {
			ktap_note("%s, order %u", r->name, order);
			return;
		}
		seen++;
	}
	ktap_ok(seen > 1000);
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	ktap_run("[TEX8] alignment of texels of each format", test_alignment);
	ktap_run("[TEX7] [TEX8] blocks of texels, each format in each order", test_blocks);
	return ktap_finish();
}
