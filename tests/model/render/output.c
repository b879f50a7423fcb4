/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/*
 * The output merger against color_ref.h: all formats that can be written, all factors, operations,
 * masks, samples, registers; every path alike.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "color_ref.h"
#include "ktap.h"
#include "simd/simd.h"
#include "render/output.h"

#define SIDE 16
#define PLANE (SIDE * SIDE * TSR_TEXEL_BYTES_MAX)
#define SAMPLES_MAX 16

static uint64_t seed = 88172645463325252ull;

static uint32_t any(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed >> 16;
}

static unsigned int below(unsigned int n)
{
	return any() % n;
}

/* A tile buffer of one target, and what it was before. */
struct buffer {
	uint8_t bytes[SAMPLES_MAX * PLANE + 16];
};

static struct buffer now, before, other;

static struct tsr_tile_target tile_of(struct buffer *b, unsigned int texel)
{
	return (struct tsr_tile_target){ b->bytes, SIDE * texel, SIDE * SIDE * texel };
}

static uint8_t *at(struct buffer *b, unsigned int texel, unsigned int x, unsigned int y,
		   unsigned int sample)
{
	return b->bytes + (sample * SIDE * SIDE + y * SIDE + x) * texel;
}

/* ---- What is drawn --------------------------------------------------------------------------- */

struct scene {
	struct tsr_render_target target;
	struct tsr_draw_state draw;
	struct tsr_blend blend;
	struct color_format format;
	unsigned int samples;
	union tsr_lanes color[4 * TSR_BUNDLE_WARPS], second[4 * TSR_BUNDLE_WARPS];
	struct tsr_output_warp warp;
	bool apart;			/* no quad on another */
};

static uint32_t float_word(float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

static float word_float(uint32_t bits)
{
	float x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

/* A register component: mostly 0 ... 1, with exact steps of 1/255 and other values. */
static float any_color(void)
{
	switch (below(8)) {
	case 0:
		return (float)below(256) / 255;
	case 1:
		return (float)(below(2048)) / 512 - 2;
	case 2:
		/* next to the border of two steps */
		return (float)(2 * below(256) + 1) / 510;
	case 3:
		return (float)below(2);
	default:
		return (float)(any() & 0xffffff) / 0x1p24f;
	}
}

static uint32_t half_of(float x)
{
	return tsr_float_to_half(x);
}

static uint32_t any_word(unsigned int registers)
{
	switch (registers) {
	case TSR_REGISTER_TYPE_F32:
		return float_word(any_color());
	case TSR_REGISTER_TYPE_F16:
		return half_of(any_color()) | half_of(any_color()) << 16;
	default:
		return below(2) ? any() : any() % 512;
	}
}

static void any_colors(struct scene *s)
{
	for (unsigned int n = 0; n < 4; n++) {
		for (unsigned int l = 0; l < TSR_WARP_LANES; l++) {
			s->color[n * TSR_BUNDLE_WARPS].u[l] = any_word(s->blend.registers);
			s->second[n * TSR_BUNDLE_WARPS].u[l] = any_word(s->blend.registers);
		}
	}
	s->warp.step = TSR_BUNDLE_WARPS;
	s->warp.color = s->color;
	s->warp.second = s->second;
	for (unsigned int l = 0; l < TSR_WARP_LANES; l++)
		s->warp.samples[l] = below(4) ? any() & ((1u << s->samples) - 1) : 0xffff;
	for (unsigned int l = 0; l < TSR_WARP_LANES; l++)
		s->warp.samples[l] &= (1u << s->samples) - 1;
	do {
		s->apart = true;
		for (unsigned int q = 0; q < 4; q++) {
			s->warp.x[q] = 2 * below(below(2) ? 2 : SIDE / 2);
			s->warp.y[q] = 2 * below(2);
			for (unsigned int p = 0; p < q; p++)
				s->apart &= s->warp.x[p] != s->warp.x[q] ||
					    s->warp.y[p] != s->warp.y[q];
		}
	} while (!s->apart && below(2));
}

static const unsigned int orders[] = {
	TSR_COMPONENT_ORDER_RGBA, TSR_COMPONENT_ORDER_BGRA, TSR_COMPONENT_ORDER_ABGR,
	TSR_COMPONENT_ORDER_RGB1,
};

static void any_blend(struct scene *s)
{
	unsigned int factors = TSR_BLEND_FACTOR_ONE_MINUS_SRC1_ALPHA + 1;

	s->blend = (struct tsr_blend){
		.enable = below(4), .mask = below(2) ? 15 : below(16),
		.src_color = below(factors), .dst_color = below(factors), .color_op = below(5),
		.src_alpha = below(factors), .dst_alpha = below(factors), .alpha_op = below(5),
		.mode = below(4) ? TSR_BLEND_MODE_FIXED : TSR_BLEND_MODE_OPAQUE,
		.components = below(4) ? 3 : below(4),
	};
}

static bool any_scene(struct scene *s, unsigned int format)
{
	static const unsigned int samples[] = { 1, 2, 4, 8, 16 };

	memset(s, 0, sizeof(*s));
	s->target.format = format;
	s->target.order = orders[below(2) ? 0 : below(4)];
	s->target.srgb = below(3) == 0;
	if (!color_ref_format(&s->format, format, s->target.order, s->target.srgb))
		return false;
	any_blend(s);
	s->blend.registers = below(2) ? TSR_REGISTER_TYPE_F32 : TSR_REGISTER_TYPE_F16;
	if (s->format.kind == COLOR_UINT)
		s->blend.registers = below(2) ? TSR_REGISTER_TYPE_U32 : TSR_REGISTER_TYPE_U16;
	if (s->format.kind == COLOR_SINT)
		s->blend.registers = below(2) ? TSR_REGISTER_TYPE_S32 : TSR_REGISTER_TYPE_S16;
	s->samples = samples[below(5)];
	s->draw.alpha_to_one = below(8) == 0;
	s->draw.logic = below(5) == 0;
	s->draw.logic_op = below(16);
	s->draw.blend_red = float_word(any_color());
	s->draw.blend_green = float_word(any_color());
	s->draw.blend_blue = float_word(any_color());
	s->draw.blend_alpha = float_word(any_color());
	any_colors(s);
	return true;
}

/* ---- What must come of it -------------------------------------------------------------------- */

static double staged(const struct scene *s, const union tsr_lanes *words, unsigned int lane,
		     unsigned int c)
{
	uint32_t word, half;

	if (c > s->blend.components)
		return c == 3;
	word = words[c * TSR_BUNDLE_WARPS].u[lane];
	half = words[c / 2 * TSR_BUNDLE_WARPS].u[lane] >> 16 * (c % 2) & 0xffff;
	switch (s->blend.registers) {
	case TSR_REGISTER_TYPE_F32:
		return word_float(word);
	case TSR_REGISTER_TYPE_F16:
		return tsr_half_to_float(half);
	case TSR_REGISTER_TYPE_U32:
		return word;
	case TSR_REGISTER_TYPE_S32:
		return (int32_t)word;
	case TSR_REGISTER_TYPE_S16:
		return (int16_t)half;
	default:
		return half;
	}
}

static bool integers(const struct scene *s)
{
	return s->format.kind >= COLOR_UINT;
}

static void color_of(const struct scene *s, const union tsr_lanes *words, unsigned int lane,
		     double c[4])
{
	for (unsigned int i = 0; i < 4; i++)
		c[i] = color_ref_clamp(&s->format, staged(s, words, lane, i));
	if (s->draw.alpha_to_one && !integers(s))
		c[3] = 1;
}

/* The color that is rounded, and how far it may be off. */
static void expected(const struct scene *s, unsigned int lane, const uint8_t *old, double c[4],
		     double off[4])
{
	const double constant[4] = {
		color_ref_clamp(&s->format, word_float(s->draw.blend_red)),
		color_ref_clamp(&s->format, word_float(s->draw.blend_green)),
		color_ref_clamp(&s->format, word_float(s->draw.blend_blue)),
		color_ref_clamp(&s->format, word_float(s->draw.blend_alpha)),
	};
	double source[4], second[4], destination[4];

	color_of(s, s->color, lane, source);
	color_of(s, s->second, lane, second);
	color_ref_load(&s->format, old, destination);
	for (unsigned int i = 0; i < 4; i++) {
		/* of 255 times a 32-bit float, in parts of 255 */
		off[i] = s->format.kind == COLOR_UNORM ? 0x1p-24 : 0;
		c[i] = source[i];
		if (s->blend.mode != TSR_BLEND_MODE_FIXED || !s->blend.enable || s->draw.logic ||
		    integers(s))
			continue;
		c[i] = color_ref_blend(&s->blend, i, source, destination, second, constant,
				       &off[i]);
		off[i] = off[i] * 0x1p-22 + 0x1p-24;
		c[i] = color_ref_clamp(&s->format, c[i]);
	}
}

static bool bit(const uint8_t *bytes, unsigned int n)
{
	return bytes[n / 8] >> n % 8 & 1;
}

/* Component @c of a texel after a logic operation: bits of the rounded color, and of the old. */
static bool logic_right(const struct scene *s, unsigned int c, double x, double off,
			const uint8_t *old, const uint8_t *got)
{
	const struct color_format *f = &s->format;
	uint8_t rounded[16] = { 0 };

	/* the source's bits: those of any value that is accepted */
	for (uint64_t bits = 0; bits < 1ull << (f->bits[c] > 16 ? 0 : f->bits[c]); bits++) {
		bool right = true;

		for (unsigned int b = 0; b < f->bits[c]; b++) {
			unsigned int n = f->shift[c] + b;

			rounded[n / 8] = (rounded[n / 8] & ~(1u << n % 8)) |
					 (bits >> b & 1) << n % 8;
		}
		/* of two that are -1 the other is stored */
		if (!color_ref_accepts(f, c, x, off, rounded) ||
		    (f->kind == COLOR_SNORM && bits == 1ull << (f->bits[c] - 1)))
			continue;
		for (unsigned int b = f->shift[c]; b < f->shift[c] + f->bits[c]; b++) {
			right &= color_ref_logic(s->draw.logic_op, bit(rounded, b),
						 bit(old, b)) == bit(got, b);
		}
		if (right)
			return true;
	}
	return f->bits[c] > 16;		/* too many to try */
}

static bool texel_right(const struct scene *s, unsigned int lane, const uint8_t *old,
			const uint8_t *got)
{
	const struct color_format *f = &s->format;
	bool logic = s->draw.logic && !f->srgb &&
		     (integers(s) || f->kind == COLOR_UNORM || f->kind == COLOR_SNORM);
	double c[4], off[4];

	expected(s, lane, old, c, off);
	for (unsigned int i = 0; i < 4; i++) {
		double x = f->holds[i] < 4 ? c[f->holds[i]] : 1;

		if (!f->bits[i])
			continue;
		if (f->holds[i] < 4 && !(s->blend.mask >> f->holds[i] & 1)) {
			if (color_ref_bits(f, i, old) != color_ref_bits(f, i, got))
				return false;
		} else if (logic) {
			if (!logic_right(s, i, x, off[0], old, got))
				return false;
		} else if (!color_ref_accepts(f, i, x,
					      f->holds[i] < 4 ? off[f->holds[i]] : 0, got)) {
			return false;
		}
	}
	return true;
}

/* Pixels that no quad covers stay as they are. */
static bool written(const struct scene *s, unsigned int x, unsigned int y, unsigned int sample,
		    unsigned int *lane)
{
	for (unsigned int l = 0; l < TSR_WARP_LANES; l++) {
		if (s->warp.x[l / 4] + l % 2 == x && s->warp.y[l / 4] + l / 2 % 2 == y &&
		    s->warp.samples[l] >> sample & 1) {
			*lane = l;
			return true;
		}
	}
	return false;
}

static void check(const struct scene *s)
{
	unsigned int bytes = s->format.bytes, lane;

	for (unsigned int n = 0; n < SIDE * SIDE * s->samples; n++) {
		unsigned int x = n % SIDE, y = n / SIDE % SIDE, sample = n / SIDE / SIDE;
		const uint8_t *old = at(&before, bytes, x, y, sample);
		const uint8_t *got = at(&now, bytes, x, y, sample);

		if (!written(s, x, y, sample, &lane))
			ktap_mem_eq(got, old, bytes);
		else if (s->apart && !texel_right(s, lane, old, got))
			ktap_fail("format %#x order %#x srgb %u registers %u mask %x blend %u.%u "
				  "(%u %u %u, %u %u %u) logic %u.%u: %02x%02x%02x%02x -> "
				  "%02x%02x%02x%02x", s->target.format, s->target.order,
				  s->target.srgb, s->blend.registers, s->blend.mask, s->blend.mode,
				  s->blend.enable, s->blend.src_color, s->blend.color_op,
				  s->blend.dst_color, s->blend.src_alpha, s->blend.alpha_op,
				  s->blend.dst_alpha, s->draw.logic, s->draw.logic_op, old[0],
				  old[1], old[2], old[3], got[0], got[1], got[2], got[3]);
	}
}

/* Old contents: texels that are numbers. */
static void fill(const struct scene *s)
{
	/* a bit of each exponent of R11F_G11F_B10F and B10F_G11F_R11F that is 0 */
	static const uint8_t unsigned_floats[4] = { 0x60, 0, 0x03, 0x08 };

	for (size_t i = 0; i < sizeof(before.bytes); i++) {
		before.bytes[i] = s->format.kind == COLOR_FLOAT ? any() % 0x60 : any();
		if (s->format.kind == COLOR_UFLOAT)
			before.bytes[i] &= ~unsigned_floats[i % 4];
	}
}

static void write(const struct scene *s, const struct tsr_simd *simd, struct buffer *b)
{
	struct tsr_tile_target t = tile_of(b, s->format.bytes);
	struct tsr_output o;

	ktap_ok(tsr_output_prepare(&o, &s->target, &s->draw, &s->blend, s->samples, simd));
	tsr_output_write(&o, &t, &s->warp);
}

/* Write the scene a quad at a time. */
static void write_quads(const struct scene *s, struct buffer *b)
{
	for (unsigned int q = 0; q < 4; q++) {
		struct scene one = *s;

		one.warp.step = TSR_BUNDLE_WARPS;
		one.warp.color = one.color;
		one.warp.second = one.second;
		for (unsigned int l = 0; l < TSR_WARP_LANES; l++) {
			if (l / 4 != q)
				one.warp.samples[l] = 0;
		}
		write(&one, tsr_simd_best(), b);
	}
}

static void try_scene(unsigned int format)
{
	static struct scene s;

	if (!any_scene(&s, format) || s.format.kind == COLOR_SHARED ||
	    s.format.kind == COLOR_CONSTANT)
		return;
	fill(&s);
	now = before;
	write(&s, tsr_simd_best(), &now);
	check(&s);
	other = before;
	write(&s, &tsr_simd_sse2, &other);
	ktap_mem_eq(other.bytes, now.bytes, sizeof(now.bytes));
	other = before;
	write_quads(&s, &other);
	ktap_mem_eq(other.bytes, now.bytes, sizeof(now.bytes));
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void common(void)
{
	static const uint8_t formats[] = {
		TSR_PIXEL_FORMAT_RGBA8_UNORM, TSR_PIXEL_FORMAT_RGB565,
		TSR_PIXEL_FORMAT_RGB10_A2_UNORM, TSR_PIXEL_FORMAT_R8_UNORM,
		TSR_PIXEL_FORMAT_RG16_UNORM, TSR_PIXEL_FORMAT_R11F_G11F_B10F,
		TSR_PIXEL_FORMAT_RGBA16F, TSR_PIXEL_FORMAT_RGBA32F,
	};

	for (unsigned int i = 0; i < 3000; i++)
		try_scene(formats[i % sizeof(formats)]);
}

static void all_formats(void)
{
	for (unsigned int i = 0; i < 256 * 12; i++)
		try_scene(i % 256);
}

/* ---- The reference --------------------------------------------------------------------------- */

/*
 * Returns true if the vector path computes with other numbers than the lane-by-lane version, which
 * nothing else uses for such formats: normalized texels of one, two or four bytes.
 */
static bool rounds_floats(const struct tsr_output *o)
{
	return o->format.kind == TSR_FORMAT_KIND_UNORM && o->format.bytes <= 4 &&
	       o->format.bytes != 3;
}

/* Any bits at all, in registers as in memory: vectors give what the lane-by-lane version gives. */
static void try_reference(unsigned int format, const struct tsr_simd *simd)
{
	static struct scene s;
	struct tsr_tile_target t;
	struct tsr_output o;

	if (!any_scene(&s, format))
		return;
	s.draw.dither = below(2);
	s.warp.second = below(4) ? s.second : NULL;
	for (unsigned int n = 0; n < 4 * TSR_WARP_LANES; n++) {
		const unsigned int at = n / TSR_WARP_LANES * TSR_BUNDLE_WARPS;

		s.color[at].u[n % TSR_WARP_LANES] = below(3) ? any_word(s.blend.registers) : any();
		s.second[at].u[n % TSR_WARP_LANES] = below(3) ? any_word(s.blend.registers) : any();
	}
	for (size_t i = 0; i < sizeof(before.bytes); i++)
		before.bytes[i] = any();
	if (!tsr_output_prepare(&o, &s.target, &s.draw, &s.blend, s.samples, simd) ||
	    rounds_floats(&o))
		return;
	now = other = before;
	t = tile_of(&now, s.format.bytes);
	tsr_output_write(&o, &t, &s.warp);
	o.lanes = NULL;
	t = tile_of(&other, s.format.bytes);
	tsr_output_write(&o, &t, &s.warp);
	if (memcmp(other.bytes, now.bytes, sizeof(now.bytes)))
		ktap_fail("%s: format %#x order %#x registers %u blend %u (%u %u %u)", simd->name,
			  s.target.format, s.target.order, s.blend.registers, o.blend,
			  s.blend.src_color, s.blend.color_op, s.blend.dst_color);
}

static void reference(void)
{
	for (unsigned int i = 0; i < 256 * 24; i++)
		try_reference(i % 256, i / 256 % 2 ? tsr_simd_best() : &tsr_simd_sse2);
}

/* All common kinds of components are computed by vectors. */
static void vectors(void)
{
	static const struct {
		uint8_t format, registers;
	} all[] = {
		{ TSR_PIXEL_FORMAT_RGBA16F, TSR_REGISTER_TYPE_F32 },
		{ TSR_PIXEL_FORMAT_R32F, TSR_REGISTER_TYPE_F16 },
		{ TSR_PIXEL_FORMAT_RGB32F, TSR_REGISTER_TYPE_F32 },
		{ TSR_PIXEL_FORMAT_R11F_G11F_B10F, TSR_REGISTER_TYPE_F32 },
		{ TSR_PIXEL_FORMAT_RGBA16_UNORM, TSR_REGISTER_TYPE_F32 },
		{ TSR_PIXEL_FORMAT_RGBA8_SNORM, TSR_REGISTER_TYPE_F16 },
		{ TSR_PIXEL_FORMAT_RGB8_UNORM, TSR_REGISTER_TYPE_F32 },
		{ TSR_PIXEL_FORMAT_RGBA32UI, TSR_REGISTER_TYPE_U32 },
		{ TSR_PIXEL_FORMAT_RG8I, TSR_REGISTER_TYPE_S16 },
		{ TSR_PIXEL_FORMAT_RGB10_A2UI, TSR_REGISTER_TYPE_U32 },
	};
	struct tsr_render_target target = { .order = TSR_COMPONENT_ORDER_RGBA };
	const struct tsr_draw_state draw = { 0 };
	struct tsr_output o;

	for (unsigned int i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		const struct tsr_blend blend = {
			.mask = 15, .components = 3, .registers = all[i].registers,
			.mode = TSR_BLEND_MODE_FIXED, .enable = true,
		};

		target.format = all[i].format;
		ktap_ok(tsr_output_prepare(&o, &target, &draw, &blend, 1, tsr_simd_best()));
		ktap_ok(o.lanes);
	}
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

/* Words of any bits for all pixels of a block, numbers that are none among them. */
static void any_block(struct scene *s, uint64_t mask[16])
{
	for (unsigned int n = 0; n < 4 * TSR_BUNDLE_WARPS * TSR_WARP_LANES; n++)
		s->color[n / TSR_WARP_LANES].u[n % TSR_WARP_LANES] =
			below(4) ? any_word(s->blend.registers) : any();
	for (unsigned int i = 0; i < 16; i++)
		mask[i] = below(3) ? UINT64_MAX : any() | (uint64_t)any() << 32;
}

static void write_block(const struct scene *s, const uint64_t *mask,
			const struct tsr_simd *simd, bool warps, struct buffer *b)
{
	const struct tsr_output_quads quads = {
		.color = s->color, .step = TSR_BUNDLE_WARPS, .x = 8, .y = 8, .mask = mask,
	};
	struct tsr_tile_target t = tile_of(b, s->format.bytes);
	struct tsr_output o;

	ktap_ok(tsr_output_prepare(&o, &s->target, &s->draw, &s->blend, s->samples, simd));
	o.quads = warps ? NULL : o.quads;
	tsr_output_write_quads(&o, &t, &quads);
}

static void quad_blocks(void)
{
	static const uint8_t formats[] = {
		TSR_PIXEL_FORMAT_RGBA8_UNORM, TSR_PIXEL_FORMAT_RGB10_A2_UNORM,
		TSR_PIXEL_FORMAT_RG16_UNORM, TSR_PIXEL_FORMAT_R8_UNORM,
		TSR_PIXEL_FORMAT_RGB565, TSR_PIXEL_FORMAT_RGB8_UNORM, TSR_PIXEL_FORMAT_RGBA16F,
		TSR_PIXEL_FORMAT_RGB16F, TSR_PIXEL_FORMAT_R32F, TSR_PIXEL_FORMAT_RGB32F,
		TSR_PIXEL_FORMAT_RGBA32UI, TSR_PIXEL_FORMAT_R16I, TSR_PIXEL_FORMAT_R32_UNORM,
	};
	const struct tsr_simd *const paths[] = { tsr_simd_best(), &tsr_simd_sse2 };
	static struct scene s;
	uint64_t mask[16];

	for (unsigned int i = 0; i < 2000; i++) {
		if (!any_scene(&s, formats[i % sizeof(formats)]))
			continue;
		if (below(2))
			s.blend = (struct tsr_blend){ .mask = 15, .components = 3,
						      .mode = TSR_BLEND_MODE_OPAQUE,
						      .registers = s.blend.registers };
		any_block(&s, mask);
		fill(&s);
		now = before;
		write_block(&s, mask, &tsr_simd_sse2, true, &now);
		for (unsigned int n = 0; n < 2; n++) {
			other = before;
			write_block(&s, mask, paths[n], false, &other);
			ktap_mem_eq(other.bytes, now.bytes, sizeof(now.bytes));
		}
	}
}

/* ---- Dithering ------------------------------------------------------------------------------- */

/* Over 4 by 4 pixels a number between two steps becomes both, in its proportion. */
static void dithered(void)
{
	static struct scene s;
	struct tsr_tile_target t = tile_of(&now, 2);
	struct tsr_output o;

	memset(&s, 0, sizeof(s));
	s.target.format = TSR_PIXEL_FORMAT_RGB565;
	s.draw.dither = true;
	s.blend = (struct tsr_blend){ .mask = 15, .mode = TSR_BLEND_MODE_OPAQUE, .components = 3,
				      .registers = TSR_REGISTER_TYPE_F32 };
	s.warp.step = TSR_BUNDLE_WARPS;
	s.warp.color = s.color;
	for (unsigned int l = 0; l < TSR_WARP_LANES; l++)
		s.warp.samples[l] = 1;
	for (unsigned int sixteenth = 0; sixteenth <= 31 * 16; sixteenth++) {
		unsigned int sum = 0;

		for (unsigned int l = 0; l < TSR_WARP_LANES; l++)
			s.color[0].f[l] = (float)sixteenth / 16 / 31;
		for (unsigned int q = 0; q < 4; q++) {
			s.warp.x[q] = 4 + 2 * (q % 2);
			s.warp.y[q] = 8 + q / 2 * 2;
		}
		ktap_ok(tsr_output_prepare(&o, &s.target, &s.draw, &s.blend, 1, tsr_simd_best()));
		tsr_output_write(&o, &t, &s.warp);
		for (unsigned int i = 0; i < 16; i++) {
			unsigned int red = *at(&now, 2, 4 + i % 4, 8 + i / 4, 0) & 31;

			ktap_ok(red == sixteenth / 16 || red == sixteenth / 16 + 1);
			sum += red;
		}
		ktap_eq(sum, sixteenth);
	}
}

/* ---- Clearing, resolving --------------------------------------------------------------------- */

static void clears(void)
{
	for (unsigned int format = 0; format < 256; format++) {
		struct color_format f;
		struct tsr_format model;
		uint32_t words[4];
		uint8_t texel[TSR_TEXEL_BYTES_MAX];

		if (!color_ref_format(&f, format, TSR_COMPONENT_ORDER_BGRA, false) ||
		    f.kind == COLOR_SHARED || f.kind == COLOR_CONSTANT)
			continue;
		ktap_ok(tsr_format_find(&model, format, TSR_COMPONENT_ORDER_BGRA, false));
		for (unsigned int i = 0; i < 4; i++)
			words[i] = f.kind >= COLOR_UINT ? any() : float_word(any_color());
		tsr_output_clear_texel(&model, words, texel);
		for (unsigned int c = 0; c < 4; c++) {
			double x = word_float(words[f.holds[c]]);

			if (f.kind == COLOR_UINT)
				x = words[f.holds[c]];
			if (f.kind == COLOR_SINT)
				x = (int32_t)words[f.holds[c]];
			if (f.bits[c])
				ktap_ok(color_ref_accepts(&f, c, x, 0, texel));
		}
	}
}

/* Have some pixels of row @y with samples that are the same. */
static void same_samples(const struct tsr_tile_target *t, unsigned int bytes, unsigned int samples,
			 unsigned int y)
{
	uint8_t *first = t->data + (size_t)t->pitch * y + 5 * bytes;

	for (unsigned int s = 1; s < samples; s++)
		memcpy(first + (size_t)s * t->plane, first, (SIDE - 9) * bytes);
}

/* Averages of bytes do not depend on what they are called. */
static void swapped(const struct tsr_tile_target *t, unsigned int samples, const uint8_t *row)
{
	uint8_t other[SIDE * 4];
	struct tsr_format model;

	ktap_ok(tsr_format_find(&model, TSR_PIXEL_FORMAT_RGBA8_UNORM, TSR_COMPONENT_ORDER_BGRA,
				false));
	tsr_output_resolve(&model, t, samples, 3, 5, SIDE - 3, other);
	ktap_mem_eq(row, other, (SIDE - 3) * 4);
}

static void resolves(unsigned int format, bool srgb, unsigned int samples)
{
	struct color_format f;
	struct tsr_format model;
	struct tsr_tile_target t;
	uint8_t row[SIDE * TSR_TEXEL_BYTES_MAX];
	bool there = color_ref_format(&f, format, TSR_COMPONENT_ORDER_RGBA, srgb);

	ktap_ok(there && tsr_format_find(&model, format, TSR_COMPONENT_ORDER_RGBA, srgb));
	for (size_t i = 0; i < sizeof(now.bytes); i++)
		now.bytes[i] = f.kind == COLOR_FLOAT ? any() % 0x60 : any();
	t = tile_of(&now, f.bytes);
	if (any() % 2)
		same_samples(&t, f.bytes, samples, 5);
	tsr_output_resolve(&model, &t, samples, 3, 5, SIDE - 3, row);
	if (model.plain)
		swapped(&t, samples, row);
	for (unsigned int x = 3; x < SIDE; x++) {
		const uint8_t *first = at(&now, f.bytes, x, 5, 0), *got = row + (x - 3) * f.bytes;
		double sum[4] = { 0 };

		for (unsigned int s = 0; s < samples; s++) {
			for (unsigned int c = 0; c < 4; c++)
				sum[c] += color_ref_value(&f, c, color_ref_bits(&f, c,
							   at(&now, f.bytes, x, 5, s)));
		}
		if (f.kind >= COLOR_UINT)
			ktap_mem_eq(got, first, f.bytes);
		for (unsigned int c = 0; c < 4 && f.kind < COLOR_UINT; c++) {
			if (f.bits[c] && !color_ref_accepts(&f, c, sum[c] / samples, 1e-7 *
							    (1 + fabs(sum[c])), got))
				ktap_fail("format %#x, %u samples, component %u", format, samples,
					  c);
		}
	}
}

static void resolved(void)
{
	for (unsigned int samples = 1; samples <= 16; samples *= 2) {
		for (unsigned int i = 0; i < 20; i++) {
			resolves(TSR_PIXEL_FORMAT_RGBA8_UNORM, i % 2, samples);
			resolves(TSR_PIXEL_FORMAT_RGB565, false, samples);
			resolves(TSR_PIXEL_FORMAT_RGBA16F, false, samples);
			resolves(TSR_PIXEL_FORMAT_RGBA32F, false, samples);
			resolves(TSR_PIXEL_FORMAT_RGBA8_SNORM, false, samples);
			resolves(TSR_PIXEL_FORMAT_RGBA16UI, false, samples);
		}
	}
}

/* ---- Alpha to coverage ----------------------------------------------------------------------- */

static unsigned int count(uint16_t mask)
{
	unsigned int n = 0;

	for (; mask; mask &= mask - 1)
		n++;
	return n;
}

static void alpha_coverage(void)
{
	for (unsigned int samples = 1; samples <= 16; samples *= 2) {
		for (unsigned int pixel = 0; pixel < 4; pixel++) {
			uint16_t less = 0;

			for (unsigned int step = 0; step <= 1000; step++) {
				float alpha = (float)step / 1000;
				uint16_t mask = tsr_alpha_coverage(alpha, samples, 6 + pixel % 2,
								   2 + pixel / 2);

				ktap_eq(count(mask), (unsigned int)floor(alpha * samples + 0.5));
				ktap_eq(mask & less, less);
				ktap_ok(mask < 1u << samples);
				less = mask;
			}
			ktap_eq(less, (1u << samples) - 1);
		}
		ktap_eq(tsr_alpha_coverage(NAN, samples, 0, 0), 0);
		ktap_eq(tsr_alpha_coverage(-1, samples, 0, 0), 0);
		ktap_eq(tsr_alpha_coverage(7, samples, 0, 0), (1u << samples) - 1);
	}
	/* neighbors do not begin with the same sample */
	ktap_ok(tsr_alpha_coverage(0.25f, 4, 0, 0) != tsr_alpha_coverage(0.25f, 4, 1, 0));
}

/* ---- What cannot be -------------------------------------------------------------------------- */

static void refused(void)
{
	struct tsr_render_target target = { .format = TSR_PIXEL_FORMAT_RGBA8_UNORM };
	struct tsr_blend blend = { .mask = 15, .src_color = 1, .components = 3 };
	struct tsr_draw_state draw = { 0 };
	struct tsr_output o;

	ktap_ok(tsr_output_prepare(&o, &target, &draw, &blend, 1, tsr_simd_best()));
	target.format = 0;
	ktap_ok(!tsr_output_prepare(&o, &target, &draw, &blend, 1, tsr_simd_best()));
	target.format = TSR_PIXEL_FORMAT_CONSTANT;
	ktap_ok(!tsr_output_prepare(&o, &target, &draw, &blend, 1, tsr_simd_best()));
	target = (struct tsr_render_target){ .format = TSR_PIXEL_FORMAT_RGBA8_UNORM, .order = 77 };
	ktap_ok(!tsr_output_prepare(&o, &target, &draw, &blend, 1, tsr_simd_best()));
	target.order = 0;
	blend.dst_alpha = TSR_BLEND_FACTOR_ONE_MINUS_SRC1_ALPHA + 1;
	ktap_ok(!tsr_output_prepare(&o, &target, &draw, &blend, 1, tsr_simd_best()));
	blend.dst_alpha = 0;
	blend.color_op = TSR_BLEND_OP_MAX + 1;
	ktap_ok(!tsr_output_prepare(&o, &target, &draw, &blend, 1, tsr_simd_best()));
	blend.color_op = 0;
	blend.registers = TSR_REGISTER_TYPE_F64;
	ktap_ok(!tsr_output_prepare(&o, &target, &draw, &blend, 1, tsr_simd_best()));
}

int main(void)
{
	ktap_start();
	ktap_run("[OM1] [OM5] blending, masks and logic operations in common formats", common);
	ktap_run("[OM1] [OM5] the same in all formats", all_formats);
	ktap_run("[OM1] [OM5] vectors like the lane-by-lane version, any bits", reference);
	ktap_run("[OM1] formats that vectors compute", vectors);
	ktap_run("[OM1] [OM5] blocks of pixels like their warps, on every path", quad_blocks);
	ktap_run("[OM5] dithering keeps the mean", dithered);
	ktap_run("[OM5] clear values in all formats", clears);
	ktap_run("[OM6] resolves: averages of linear colours, sample 0 of integers", resolved);
	ktap_run("[RAST4] alpha to coverage: as many samples as alpha says", alpha_coverage);
	ktap_run("[OM1] formats, factors and operations that do not exist", refused);
	return ktap_finish();
}
