/* SPDX-License-Identifier: MIT */
/*
 * Texels are computed by 16 (output_lanes.h). The reference, which computes lane by lane, is here.
 * It also serves formats that are hardly ever drawn to: components of more than 16 normalized bits,
 * fixed point, a shared exponent, and registers of another class than the target.
 */
#include "output_parts.h"

#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "alu/float_bits.h"
#include "simd/simd.h"

#define QUADS (TSR_WARP_LANES / 4)

/* ---- Preparation ----------------------------------------------------------------------------- */

bool tsr_output_format_valid(unsigned int format, unsigned int order)
{
	struct tsr_format f;

	return tsr_format_find(&f, format, order, false) && f.bytes &&
	       f.kind != TSR_FORMAT_KIND_CONSTANT;
}

static bool normalized(const struct tsr_format *format)
{
	return format->kind == TSR_FORMAT_KIND_UNORM || format->kind == TSR_FORMAT_KIND_SNORM;
}

/* Into the range of the format's components, where they have one; NaN is 0. */
static float clamp(const struct tsr_format *format, float x)
{
	float low = format->kind == TSR_FORMAT_KIND_UNORM ? 0 : -1;

	if (!normalized(format))
		return x;
	if (x != x)
		return 0;
	return x < low ? low : x > 1 ? 1 : x;
}

/* The bits of a texel that writing the components of @mask changes. */
static void find_written(struct tsr_output *o, unsigned int mask)
{
	const struct tsr_format *format = &o->format;

	memset(o->written, 0, sizeof(o->written));
	for (unsigned int f = 0; f < 4; f++) {
		unsigned int to = format->to[f];

		if (to < 4 && !(mask >> to & 1))
			continue;
		for (unsigned int b = 0; b < format->bits[f]; b++) {
			unsigned int at = format->shift[f] + b;

			o->written[at / 8] |= 1u << at % 8;
		}
	}
	/* three components that share an exponent are written together or not at all */
	if (format->kind == TSR_FORMAT_KIND_SHARED && (mask & 7) != 7)
		memset(o->written, 0, sizeof(o->written));
}

static bool all_written(const struct tsr_output *o)
{
	for (unsigned int i = 0; i < o->format.bytes; i++) {
		if (o->written[i] != 0xff)
			return false;
	}
	return true;
}

/* Bits of the components that no component of the color is written to: they hold the number 1. */
static void find_ones(struct tsr_output *o)
{
	const union tsr_texel nothing = { 0 };
	uint8_t texel[TSR_TEXEL_BYTES_MAX] = { 0 };

	tsr_format_store(&o->format, texel, &nothing);
	memcpy(o->ones, texel, sizeof(o->ones));
}

static void find_fields(struct tsr_output *o, bool dither)
{
	const struct tsr_format *format = &o->format;
	const bool sign = format->kind == TSR_FORMAT_KIND_SNORM;

	for (unsigned int i = 0; i < 4; i++) {
		unsigned int f = format->from[i];
		uint32_t largest = 0;

		if (f < 4 && format->bits[f])
			largest = UINT32_MAX >> (32 - format->bits[f]);
		o->field[i] = (struct tsr_output_field){
			.scale = largest >> sign,
			.unit = largest ? 1 / (float)(largest >> sign) : 0,
			.rest = f == TSR_COMPONENT_ONE || (f == 3 && !largest), .bits = largest,
			.width = largest ? format->bits[f] : 0,
			.word = largest ? format->shift[f] / 32 : 0,
			.shift = largest ? format->shift[f] % 32 : 0,
			.stored = largest && format->to[f] == i,
			.curved = format->srgb && f < 3,
		};
		o->field[i].dithered = dither && o->field[i].stored && format->bits[f] > sign &&
				       format->bits[f] < 8;
		o->dither |= o->field[i].dithered;
	}
	find_ones(o);
}

/* Returns true if output_lanes.h has functions for the target. */
static bool has_lanes(const struct tsr_output *o)
{
	const struct tsr_format *format = &o->format;
	bool floats = o->registers == TSR_REGISTER_TYPE_F32 ||
		      o->registers == TSR_REGISTER_TYPE_F16;

	if (tsr_format_is_integer(format) == floats || format->kind == TSR_FORMAT_KIND_SHARED ||
	    format->kind == TSR_FORMAT_KIND_FIXED)
		return false;
	for (unsigned int f = 0; normalized(format) && f < 4; f++) {
		bool curved = format->srgb && f < 3 && format->bits[f];

		if (format->bits[f] > 16 || (curved && format->bits[f] != 8))
			return false;
	}
	return true;
}

static void find_path(struct tsr_output *o, const struct tsr_output_path *path)
{
	/* the other two look at o->lanes */
	o->lanes = has_lanes(o) ? path->lanes(o) : NULL;
	o->block = path->block(o);
	o->quads = path->quads(o);
	o->thin = path->thin(o);
}

static struct tsr_blend_term term(unsigned int source, unsigned int destination, unsigned int op)
{
	return (struct tsr_blend_term){ source, destination, op };
}

static bool valid(const struct tsr_blend_term *t)
{
	return t->source <= TSR_BLEND_FACTOR_ONE_MINUS_SRC1_ALPHA &&
	       t->destination <= TSR_BLEND_FACTOR_ONE_MINUS_SRC1_ALPHA &&
	       t->op <= TSR_BLEND_OP_MAX;
}

bool tsr_output_prepare(struct tsr_output *o, const struct tsr_render_target *target,
			const struct tsr_draw_state *draw, const struct tsr_blend *blend,
			unsigned int samples, const struct tsr_simd *simd)
{
	const uint32_t constant[4] = { draw->blend_red, draw->blend_green, draw->blend_blue,
				       draw->blend_alpha };
	bool integer;

	*o = (struct tsr_output){
		.color = term(blend->src_color, blend->dst_color, blend->color_op),
		.alpha = term(blend->src_alpha, blend->dst_alpha, blend->alpha_op),
		.off = blend->mode == TSR_BLEND_MODE_OFF,
		.alpha_to_one = draw->alpha_to_one,
		.logic_op = draw->logic_op,
		.registers = blend->registers,
		.components = blend->components + 1,
		.samples = samples,
	};
	if (!tsr_output_format_valid(target->format, target->order) || !valid(&o->color) ||
	    !valid(&o->alpha) || blend->registers > TSR_REGISTER_TYPE_U16)
		return false;
	tsr_format_find(&o->format, target->format, target->order, target->srgb);
	integer = tsr_format_is_integer(&o->format);
	o->logic = draw->logic && (integer || normalized(&o->format)) && !o->format.srgb;
	o->blend = blend->mode == TSR_BLEND_MODE_FIXED && blend->enable && !draw->logic && !integer;
	o->words = (o->format.bytes + 3) / 4;
	memcpy(o->constant, constant, sizeof(constant));
	for (unsigned int i = 0; i < 4; i++)
		o->constant[i] = clamp(&o->format, o->constant[i]);
	find_written(o, blend->mask);
	o->keeps = o->logic || !all_written(o);
	o->merge = o->blend || o->keeps;
	find_fields(o, draw->dither && normalized(&o->format) && !o->format.srgb);
	o->plain = !o->merge && !o->dither;
	if (o->format.srgb)
		tsr_output_srgb_init();
	find_path(o, simd->output);
	return true;
}

/* ---- One lane -------------------------------------------------------------------------------- */

static float factor(const struct tsr_output *o, unsigned int which, unsigned int i,
		    const float s[4], const float d[4], const float t[4])
{
	switch (which) {
	case TSR_BLEND_FACTOR_ONE:
		return 1;
	case TSR_BLEND_FACTOR_SRC_COLOR:
		return s[i];
	case TSR_BLEND_FACTOR_ONE_MINUS_SRC_COLOR:
		return 1 - s[i];
	case TSR_BLEND_FACTOR_DST_COLOR:
		return d[i];
	case TSR_BLEND_FACTOR_ONE_MINUS_DST_COLOR:
		return 1 - d[i];
	case TSR_BLEND_FACTOR_SRC_ALPHA:
		return s[3];
	case TSR_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA:
		return 1 - s[3];
	case TSR_BLEND_FACTOR_DST_ALPHA:
		return d[3];
	case TSR_BLEND_FACTOR_ONE_MINUS_DST_ALPHA:
		return 1 - d[3];
	case TSR_BLEND_FACTOR_CONSTANT_COLOR:
		return o->constant[i];
	case TSR_BLEND_FACTOR_ONE_MINUS_CONSTANT_COLOR:
		return 1 - o->constant[i];
	case TSR_BLEND_FACTOR_CONSTANT_ALPHA:
		return o->constant[3];
	case TSR_BLEND_FACTOR_ONE_MINUS_CONSTANT_ALPHA:
		return 1 - o->constant[3];
	case TSR_BLEND_FACTOR_SRC_ALPHA_SATURATE:
		return i == 3 ? 1 : s[3] < 1 - d[3] ? s[3] : 1 - d[3];
	case TSR_BLEND_FACTOR_SRC1_COLOR:
		return t[i];
	case TSR_BLEND_FACTOR_ONE_MINUS_SRC1_COLOR:
		return 1 - t[i];
	case TSR_BLEND_FACTOR_SRC1_ALPHA:
		return t[3];
	case TSR_BLEND_FACTOR_ONE_MINUS_SRC1_ALPHA:
		return 1 - t[3];
	default:
		return 0;
	}
}

/* A result that is not a number does not depend on which of the operands was none. */
static float canonical(float x)
{
	return x != x ? tsr_as_float(TSR_OUTPUT_NAN) : x;
}

static float blended(const struct tsr_output *o, unsigned int i, const float s[4],
		     const float d[4], const float t[4])
{
	const struct tsr_blend_term *term = i == 3 ? &o->alpha : &o->color;
	float source, destination;

	if (term->op == TSR_BLEND_OP_MIN)
		return s[i] < d[i] ? s[i] : d[i];
	if (term->op == TSR_BLEND_OP_MAX)
		return s[i] > d[i] ? s[i] : d[i];
	source = s[i] * factor(o, term->source, i, s, d, t);
	destination = d[i] * factor(o, term->destination, i, s, d, t);
	switch (term->op) {
	case TSR_BLEND_OP_SUBTRACT:
		return canonical(source - destination);
	case TSR_BLEND_OP_REVERSE_SUBTRACT:
		return canonical(destination - source);
	default:
		return canonical(source + destination);
	}
}

/* Words of a staged color. */
static void staged_words(const struct tsr_output *o, const union tsr_lanes *words,
			 unsigned int step, unsigned int lane, uint32_t word[8])
{
	for (unsigned int n = 0; n < tsr_register_words(o->registers, o->components); n++)
		word[n] = words[n * step].u[lane];
}

/* A staged color in the target's class. */
static void staged(const struct tsr_output *o, const union tsr_lanes *words, unsigned int step,
		   unsigned int lane, union tsr_texel *color)
{
	uint32_t word[8] = { 0 };

	memset(color, 0, sizeof(*color));
	if (!words)
		return;
	staged_words(o, words, step, lane, word);
	tsr_format_from_registers(&o->format, color, o->registers, o->components, word);
	if (tsr_format_is_integer(&o->format))
		return;
	for (unsigned int i = 0; i < 4; i++)
		color->f[i] = clamp(&o->format, color->f[i]);
	if (o->alpha_to_one)
		color->f[3] = 1;
}

float tsr_output_alpha(const struct tsr_output *o, const union tsr_lanes *color,
		       unsigned int step, unsigned int lane)
{
	/* as the program has it, not as the target can hold it */
	static const struct tsr_format floats = { .kind = TSR_FORMAT_KIND_FLOAT };
	uint32_t word[8] = { 0 };
	union tsr_texel texel = { .f = { 0, 0, 0, 1 } };

	if (tsr_format_is_integer(&o->format) || o->components < 4)
		return 1;
	if (o->registers == TSR_REGISTER_TYPE_F32)
		return color[3 * step].f[lane];
	staged_words(o, color, step, lane, word);
	tsr_format_from_registers(&floats, &texel, o->registers, o->components, word);
	return texel.f[3];
}

/* Move a normalized color so that rounding to nearest is rounding by @threshold. */
static void dither(const struct tsr_output *o, float threshold, union tsr_texel *color)
{
	for (unsigned int f = 0; f < 4; f++) {
		unsigned int bits = o->format.bits[f], to = o->format.to[f];
		bool sign = o->format.kind == TSR_FORMAT_KIND_SNORM;

		if (bits > sign && bits < 8 && to < 4)
			color->f[to] = clamp(&o->format, color->f[to] +
					     (threshold - 0.5f) / ((1u << (bits - sign)) - 1));
	}
}

static void texel_of_lane(const struct tsr_output *o, const struct tsr_output_warp *w,
			  unsigned int lane, const float *threshold, uint8_t *texel)
{
	union tsr_texel s, t, d, c;

	staged(o, w->color, w->step, lane, &s);
	c = s;
	if (o->blend) {
		staged(o, w->second, w->step, lane, &t);
		tsr_format_load(&o->format, texel, &d);
		for (unsigned int i = 0; i < 4; i++)
			c.f[i] = clamp(&o->format, blended(o, i, s.f, d.f, t.f));
	}
	if (o->dither)
		dither(o, threshold[lane], &c);
	tsr_format_store(&o->format, texel, &c);
}

/* ---- Writing --------------------------------------------------------------------------------- */

static uint32_t logic(unsigned int op, uint32_t s, uint32_t d)
{
	/* each bit of an operation's number stands for one of the four cases */
	uint32_t result = 0;

	result |= op & TSR_LOGIC_OP_AND ? s & d : 0;
	result |= op & TSR_LOGIC_OP_AND_REVERSE ? s & ~d : 0;
	result |= op & TSR_LOGIC_OP_AND_INVERTED ? ~s & d : 0;
	result |= op & TSR_LOGIC_OP_NOR ? ~(s | d) : 0;
	return result;
}

/* Join a computed texel with the one that is there. */
static void join(const struct tsr_output *o, const uint8_t *old, uint8_t *texel)
{
	for (unsigned int i = 0; i < o->format.bytes; i++) {
		uint8_t bits = o->logic ? logic(o->logic_op, texel[i], old[i]) : texel[i];

		texel[i] = (bits & o->written[i]) | (old[i] & ~o->written[i]);
	}
}

static inline uint8_t *pixel(const struct tsr_output *o, const struct tsr_tile_target *t,
			     const struct tsr_output_warp *w, unsigned int lane,
			     unsigned int sample)
{
	unsigned int x = w->x[lane / 4] + lane % 2, y = w->y[lane / 4] + lane / 2 % 2;

	return t->data + (size_t)sample * t->plane + (size_t)y * t->pitch + x * o->format.bytes;
}

/* All formats: one lane after the other. */
static void write_each(const struct tsr_output *o, const struct tsr_tile_target *t,
		       const struct tsr_output_warp *w)
{
	float threshold[TSR_WARP_LANES];

	if (o->dither)
		tsr_output_thresholds(w, threshold);
	for (unsigned int lane = 0; lane < TSR_WARP_LANES; lane++) {
		for (unsigned int left = w->samples[lane]; left; left &= left - 1) {
			uint8_t *p = pixel(o, t, w, lane, __builtin_ctz(left));
			uint8_t texel[TSR_TEXEL_BYTES_MAX];

			memcpy(texel, p, o->format.bytes);
			texel_of_lane(o, w, lane, threshold, texel);
			if (o->merge)
				join(o, p, texel);
			memcpy(p, texel, o->format.bytes);
		}
	}
}

/* ---- Sixteen at once ------------------------------------------------------------------------- */

static uint16_t covered(const struct tsr_output_warp *w, unsigned int sample)
{
#ifdef __SSE2__
	/* the sample's bit to the top, the tops of the words together */
	const __m128i *in = (const __m128i *)w->samples;
	const __m128i count = _mm_cvtsi32_si128(15 - sample);
	const __m128i low = _mm_sll_epi16(_mm_loadu_si128(in), count);
	const __m128i high = _mm_sll_epi16(_mm_loadu_si128(in + 1), count);

	return _mm_movemask_epi8(_mm_packs_epi16(_mm_srai_epi16(low, 15),
						 _mm_srai_epi16(high, 15)));
#else
	unsigned int lanes = 0;

	for (unsigned int l = 0; l < TSR_WARP_LANES; l++)
		lanes |= (w->samples[l] >> sample & 1u) << l;
	return lanes;
#endif
}

/* @call with the size of texels as a constant, so that copies of texels are moves. */
#define FOR_BYTES(bytes, call)									\
	switch (bytes) {									\
	case 1: call(1); break;									\
	case 2: call(2); break;									\
	case 3: call(3); break;									\
	case 4: call(4); break;									\
	case 6: call(6); break;									\
	case 8: call(8); break;									\
	case 12: call(12); break;								\
	default: call(16); break;								\
	}

static inline __attribute__((always_inline)) void
gather_quad(const uint8_t *p, size_t pitch, unsigned int bytes, uint32_t *texels)
{
	const unsigned int words = (bytes + 3) / 4;

	for (unsigned int row = 0; row < 2; row++, p += pitch, texels += 2 * words) {
		if (bytes % 4 == 0) {
			memcpy(texels, p, 2 * bytes);
			continue;
		}
		memcpy(texels, p, bytes);
		memcpy(texels + words, p + bytes, bytes);
	}
}

/* The texels at the pixels of a warp. All four of a quad are in the tile. */
static void gather(const struct tsr_output *o, const struct tsr_tile_target *t,
		   const struct tsr_output_warp *w, uint16_t lanes, unsigned int sample,
		   uint32_t *texels)
{
	const unsigned int words = o->words;

	if (lanes != 0xffff || o->format.bytes % 4)
		memset(texels, 0, TSR_WARP_LANES * words * sizeof(*texels));
	for (unsigned int q = 0; q < QUADS; q++) {
		const uint8_t *p = pixel(o, t, w, 4 * q, sample);

		if (!(lanes >> 4 * q & 15))
			continue;
#define GATHER(bytes) gather_quad(p, t->pitch, bytes, texels + 4 * q * words)
		FOR_BYTES(o->format.bytes, GATHER)
#undef GATHER
	}
}

/*
 * @some of a quad's pixels, a bit each, of four bytes: rows of @texels at @p and below. Those that
 * are not written are written back: nobody else has the tile's memory.
 */
static inline void scatter_words(uint8_t *p, size_t pitch, const uint32_t texels[4],
				 unsigned int some)
{
	static const uint32_t masks[4][2] = { { 0, 0 }, { UINT32_MAX, 0 }, { 0, UINT32_MAX },
					      { UINT32_MAX, UINT32_MAX } };

	for (unsigned int row = 0; row < 2; row++) {
		uint64_t mask, old, new;

		memcpy(&mask, masks[some >> 2 * row & 3], sizeof(mask));
		memcpy(&new, texels + 2 * row, sizeof(new));
		memcpy(&old, p + row * pitch, sizeof(old));
		old = (new & mask) | (old & ~mask);
		memcpy(p + row * pitch, &old, sizeof(old));
	}
}

/* @some of a quad's pixels of any size. */
static inline __attribute__((always_inline)) void
scatter_quad(uint8_t *p, size_t pitch, unsigned int bytes, const uint32_t *texels,
	     unsigned int some)
{
	const unsigned int words = (bytes + 3) / 4;

	if (bytes == 4) {
		scatter_words(p, pitch, texels, some);
		return;
	}
	for (unsigned int row = 0; row < 2; row++, p += pitch, texels += 2 * words) {
		unsigned int pair = some >> 2 * row & 3;

		if (bytes % 4 == 0 && pair == 3) {
			memcpy(p, texels, 2 * bytes);
			continue;
		}
		if (pair & 1)
			memcpy(p, texels, bytes);
		if (pair & 2)
			memcpy(p + bytes, texels + words, bytes);
	}
}

static void scatter(const struct tsr_output *o, const struct tsr_tile_target *t,
		    const struct tsr_output_warp *w, uint16_t lanes, unsigned int sample,
		    const uint32_t *texels)
{
	for (unsigned int q = 0; q < QUADS; q++) {
		uint8_t *p = pixel(o, t, w, 4 * q, sample);
		unsigned int some = lanes >> 4 * q & 15;

		if (!some)
			continue;
#define SCATTER(bytes) scatter_quad(p, t->pitch, bytes, texels + 4 * q * o->words, some)
		FOR_BYTES(o->format.bytes, SCATTER)
#undef SCATTER
	}
}

static void write_merged(const struct tsr_output *o, const struct tsr_tile_target *t,
			 const struct tsr_output_warp *w, uint16_t lanes, unsigned int sample)
{
	uint32_t old[TSR_WARP_LANES * TSR_TEXEL_BYTES_MAX / 4] __attribute__((aligned(64)));
	uint32_t texels[TSR_WARP_LANES * TSR_TEXEL_BYTES_MAX / 4] __attribute__((aligned(64)));

	gather(o, t, w, lanes, sample, old);
	o->lanes(o, w, old, texels);
	scatter(o, t, w, lanes, sample, texels);
}

/* Quads from @first on that lie on no other of them: lanes of as many as can go together. */
static uint16_t apart(const struct tsr_output_warp *w, unsigned int first)
{
	unsigned int q = first + 1;

	for (; q < QUADS; q++) {
		for (unsigned int p = first; p < q; p++) {
			if (w->x[p] == w->x[q] && w->y[p] == w->y[q])
				return (1u << 4 * q) - (1u << 4 * first);
		}
	}
	return (1u << 4 * q) - (1u << 4 * first);
}

/* Write @lanes (by sample), which lie apart from each other. */
static void write_lanes(const struct tsr_output *o, const struct tsr_tile_target *t,
			const struct tsr_output_warp *w, const uint16_t *lanes)
{
	uint32_t texels[TSR_WARP_LANES * TSR_TEXEL_BYTES_MAX / 4] __attribute__((aligned(64)));

	if (!o->merge)
		o->lanes(o, w, NULL, texels);
	for (unsigned int s = 0; s < o->samples; s++) {
		if (lanes[s] && o->merge)
			write_merged(o, t, w, lanes[s], s);
		else if (lanes[s])
			scatter(o, t, w, lanes[s], s, texels);
	}
}

static void write_sixteen(const struct tsr_output *o, const struct tsr_tile_target *t,
			  const struct tsr_output_warp *w)
{
	uint16_t lanes[TSR_SAMPLES_MAX], some[TSR_SAMPLES_MAX], group;

	for (unsigned int s = 0; s < o->samples; s++)
		lanes[s] = covered(w, s);
	if (!o->merge) {
		write_lanes(o, t, w, lanes);
		return;
	}
	for (unsigned int q = 0; q < QUADS; q += tsr_lanes_count(group) / 4) {
		group = apart(w, q);
		for (unsigned int s = 0; s < o->samples; s++)
			some[s] = lanes[s] & group;
		write_lanes(o, t, w, some);
	}
}

void tsr_output_write(const struct tsr_output *o, const struct tsr_tile_target *t,
		      const struct tsr_output_warp *w)
{
	if (o->off)
		return;
	if (o->lanes)
		write_sixteen(o, t, w);
	else
		write_each(o, t, w);
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

/* Where the four quads of row @row of a block at (@x, @y) are. */
static void row_of_quads(unsigned int x, unsigned int y, unsigned int row,
			 struct tsr_output_warp *w)
{
	for (unsigned int q = 0; q < QUADS; q++) {
		w->x[q] = x + 2 * q;
		w->y[q] = y + 2 * row;
	}
}

/* A row of quads with the color of @flat. */
static void flat_warp(const struct tsr_output_flat *flat, unsigned int x, unsigned int y,
		      unsigned int row, struct tsr_output_warp *w)
{
	w->color = flat->color;
	w->second = flat->has_second ? flat->second : NULL;
	w->step = 1;
	row_of_quads(x, y, row, w);
}

/* Samples of the pixels of row @row of a block that @mask has. */
static void row_samples(const struct tsr_output *o, const uint64_t *mask, unsigned int row,
			struct tsr_output_warp *w)
{
	memset(w->samples, 0, sizeof(w->samples));
	for (unsigned int l = 0; l < TSR_WARP_LANES; l++) {
		for (unsigned int s = 0; s < o->samples; s++)
			w->samples[l] |= (mask[s] >> (16 * row + l) & 1) << s;
	}
}

bool tsr_output_texels(const struct tsr_output *o, const union tsr_lanes *color, unsigned int step,
		       uint32_t texels[TSR_WARP_LANES])
{
	const struct tsr_output_warp w = { .color = color, .step = step };

	if (!o->plain || !o->lanes || o->words > 1)
		return false;
	o->lanes(o, &w, NULL, texels);
	return true;
}

void tsr_output_flat_prepare(const struct tsr_output *o, struct tsr_output_flat *flat)
{
	uint8_t texel[4 * TSR_TEXEL_BYTES_MAX] = { 0 };
	const struct tsr_tile_target one = { texel, 2 * o->format.bytes, 0 };
	struct tsr_output_warp w = { .samples = { 1 } };

	if (!o->plain)
		return;
	flat_warp(flat, 0, 0, 0, &w);
	tsr_output_write(o, &one, &w);
	memcpy(flat->texel, texel, sizeof(flat->texel));
}

static inline __attribute__((always_inline)) void
fill_rows(const uint8_t *texel, unsigned int bytes, uint8_t *first, uint32_t pitch, uint64_t rows)
{
	for (; rows; rows >>= 8, first += pitch) {
		for (unsigned int left = rows & 0xff; left; left &= left - 1)
			memcpy(first + __builtin_ctz(left) * bytes, texel, bytes);
	}
}

/* Texels of any size. */
static void fill_block(const struct tsr_output *o, const struct tsr_output_flat *flat,
		       uint8_t *first, uint32_t pitch, uint64_t rows)
{
#define FILL(bytes) fill_rows(flat->texel, bytes, first, pitch, rows)
	FOR_BYTES(o->format.bytes, FILL)
#undef FILL
}

/* The texels of two rows of a block, eight pixels each, in the order of lanes. */
static inline __attribute__((always_inline)) void
gather_rows(const uint8_t *first, size_t pitch, unsigned int bytes, uint32_t *texels)
{
	for (unsigned int q = 0; q < QUADS; q++)
		gather_quad(first + 2 * q * bytes, pitch, bytes,
			    texels + 4 * q * ((bytes + 3) / 4));
}

static inline __attribute__((always_inline)) void
scatter_rows(uint8_t *first, size_t pitch, unsigned int bytes, const uint32_t *texels,
	     uint16_t lanes)
{
	const unsigned int words = (bytes + 3) / 4;

	if (lanes == UINT16_MAX && bytes % 4 == 0) {
		for (unsigned int q = 0; q < QUADS; q++, first += 2 * bytes, texels += 4 * words) {
			memcpy(first, texels, 2 * bytes);
			memcpy(first + pitch, texels + 2 * words, 2 * bytes);
		}
		return;
	}
	for (unsigned int q = 0; q < QUADS; q++)
		scatter_quad(first + 2 * q * bytes, pitch, bytes,
			     texels + 4 * q * ((bytes + 3) / 4), lanes >> 4 * q & 15);
}

/* As write_lanes(), of a row of quads of a block whose first pixel is at @first. */
static void write_rows(const struct tsr_output *o, const struct tsr_tile_target *t,
		       const struct tsr_output_warp *w, uint8_t *first, const uint16_t *lanes)
{
	uint32_t old[TSR_WARP_LANES * TSR_TEXEL_BYTES_MAX / 4] __attribute__((aligned(64)));
	uint32_t texels[TSR_WARP_LANES * TSR_TEXEL_BYTES_MAX / 4] __attribute__((aligned(64)));
	bool computed = false;

	for (unsigned int s = 0; s < o->samples; s++, first += t->plane) {
		if (!lanes[s])
			continue;
#define GATHER(bytes) gather_rows(first, t->pitch, bytes, old)
		if (o->merge)
			FOR_BYTES(o->format.bytes, GATHER)
#undef GATHER
		if (o->merge || !computed)
			o->lanes(o, w, old, texels);
		computed = true;
#define SCATTER(bytes) scatter_rows(first, t->pitch, bytes, texels, lanes[s])
		FOR_BYTES(o->format.bytes, SCATTER)
#undef SCATTER
	}
}

/* Write row @row of the block that begins at @first: pixels of @mask, by sample. */
static void write_row(const struct tsr_output *o, const struct tsr_tile_target *t,
		      struct tsr_output_warp *w, uint8_t *first, const uint64_t *mask,
		      unsigned int row)
{
	uint16_t lanes[TSR_SAMPLES_MAX];

	if (!o->lanes) {
		row_samples(o, mask, row, w);
		write_each(o, t, w);
		return;
	}
	for (unsigned int s = 0; s < o->samples; s++)
		lanes[s] = mask[s] >> TSR_WARP_LANES * row;
	write_rows(o, t, w, first + 2 * (size_t)t->pitch * row, lanes);
}

static void write_warps(const struct tsr_output *o, const struct tsr_tile_target *t,
			const struct tsr_output_flat *flat, unsigned int x, unsigned int y,
			const uint64_t *mask)
{
	uint8_t *first = t->data + (size_t)y * t->pitch + x * o->format.bytes;
	struct tsr_output_warp w;

	for (unsigned int row = 0; row < 4; row++) {
		flat_warp(flat, x, y, row, &w);
		write_row(o, t, &w, first, mask, row);
	}
}

void tsr_output_write_flat(const struct tsr_output *o, const struct tsr_tile_target *t,
			   const struct tsr_output_flat *flat, unsigned int x, unsigned int y,
			   const uint64_t *mask)
{
	tsr_output_block_fn *block = o->block ? o->block : fill_block;
	uint8_t *first = t->data + (size_t)y * t->pitch + x * o->format.bytes;

	if (o->off)
		return;
	if (!o->block && !o->plain) {
		write_warps(o, t, flat, x, y, mask);
		return;
	}
	for (unsigned int s = 0; s < o->samples; s++) {
		if (mask[s])
			block(o, flat, first + (size_t)s * t->plane, t->pitch,
			      tsr_block_rows(mask[s]));
	}
}

void tsr_output_write_quads(const struct tsr_output *o, const struct tsr_tile_target *t,
			    const struct tsr_output_quads *quads)
{
	uint8_t *first = t->data + (size_t)quads->y * t->pitch + quads->x * o->format.bytes;
	struct tsr_output_warp w;

	if (o->off)
		return;
	for (unsigned int s = 0; o->quads && s < o->samples; s++) {
		if (quads->mask[s])
			o->quads(o, quads, first + (size_t)s * t->plane, t->pitch,
				 tsr_block_rows(quads->mask[s]));
	}
	for (unsigned int row = 0; !o->quads && row < 4; row++) {
		w.color = quads->color + row;
		w.second = NULL;
		w.step = quads->step;
		/* places of pixels are asked for lane by lane, and by dithering */
		if (!o->lanes || o->dither)
			row_of_quads(quads->x, quads->y, row, &w);
		write_row(o, t, &w, first, quads->mask, row);
	}
}
