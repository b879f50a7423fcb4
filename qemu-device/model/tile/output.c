/* SPDX-License-Identifier: MIT */
/*
 * Texels of up to 32 bits with normalized components are computed by 16 (output_lanes.h), others
 * lane by lane here. Both then join them with what is there and write those that are covered.
 */
#include "output_parts.h"

#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "shader/alu/alu.h"

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

static void find_fields(struct tsr_output *o)
{
	const struct tsr_format *format = &o->format;

	for (unsigned int i = 0; i < 4; i++) {
		unsigned int f = format->from[i];
		uint32_t largest = 0;

		if (f < 4 && format->bits[f])
			largest = UINT32_MAX >> (32 - format->bits[f]);
		o->field[i] = (struct tsr_output_field){
			.scale = largest, .unit = largest ? 1 / (float)largest : 0,
			.rest = f == TSR_COMPONENT_ONE || (f == 3 && !largest), .bits = largest,
			.shift = largest ? format->shift[f] : 0,
			.stored = largest && format->to[f] == i,
			.curved = format->srgb && f < 3,
		};
	}
	for (unsigned int f = 0; f < 4 && format->bytes <= 4; f++) {
		if (format->bits[f] && format->to[f] >= 4)
			o->ones |= UINT32_MAX >> (32 - format->bits[f]) << format->shift[f];
	}
}

/* Whether output_lanes.h can do it. */
static bool has_lanes(const struct tsr_output *o)
{
	const struct tsr_format *format = &o->format;

	if (format->kind != TSR_FORMAT_KIND_UNORM || format->bytes > 4 || format->bytes == 3 ||
	    (o->registers != TSR_REGISTER_TYPE_F32 && o->registers != TSR_REGISTER_TYPE_F16))
		return false;
	for (unsigned int f = 0; f < 4; f++) {
		bool curved = format->srgb && f < 3 && format->bits[f];

		if (format->bits[f] > 16 || (curved && format->bits[f] != 8))
			return false;
	}
	return true;
}

static void find_path(struct tsr_output *o, const char *simd)
{
	bool lanes = has_lanes(o), wide = false;

	if (!simd)
		simd = tsr_alu_name(tsr_alu_best());
#ifdef __x86_64__
	wide = strcmp(simd, "sse2");
	if (wide) {
		o->lanes = lanes ? tsr_output_lanes_avx2(o) : NULL;
		o->block = tsr_output_block_avx2(o);
		o->quads = tsr_output_quads_avx2(o);
	}
	/* rows of blocks are half as wide as its vectors */
	if (!strcmp(simd, "avx512")) {
		o->lanes = lanes ? tsr_output_lanes_avx512(o) : NULL;
		o->quads = tsr_output_quads_avx512(o);
	}
#endif
	if (!wide) {
		o->lanes = lanes ? tsr_output_lanes_sse2(o) : NULL;
		o->block = tsr_output_block_sse2(o);
		o->quads = tsr_output_quads_sse2(o);
	}
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
			unsigned int samples, const char *simd)
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
	o->dither = draw->dither && normalized(&o->format) && !o->format.srgb;
	memcpy(o->constant, constant, sizeof(constant));
	for (unsigned int i = 0; i < 4; i++)
		o->constant[i] = clamp(&o->format, o->constant[i]);
	find_written(o, blend->mask);
	o->keeps = o->logic || !all_written(o);
	o->merge = o->blend || o->keeps;
	o->plain = !o->merge && !o->dither;
	find_fields(o);
	if (o->format.srgb)
		tsr_output_srgb_init();
	find_path(o, simd);
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
		return source - destination;
	case TSR_BLEND_OP_REVERSE_SUBTRACT:
		return destination - source;
	default:
		return source + destination;
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

	if (tsr_format_is_integer(&o->format))
		return 1;
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

/* The four texels of the quad at @p, as words. */
static inline void gather_quad(const struct tsr_output *o, const struct tsr_tile_target *t,
			       const uint8_t *p, uint32_t texels[4])
{
	if (o->format.bytes == 4) {
		memcpy(texels, p, 8);
		memcpy(texels + 2, p + t->pitch, 8);
	} else {
		for (unsigned int i = 0; i < 4; i++)
			memcpy(texels + i, p + i / 2 * t->pitch + i % 2 * o->format.bytes,
			       o->format.bytes);
	}
}

/* The texels at the pixels of a warp. All four of a quad are in the tile. */
static void gather(const struct tsr_output *o, const struct tsr_tile_target *t,
		   const struct tsr_output_warp *w, uint16_t lanes, unsigned int sample,
		   uint32_t texels[TSR_WARP_LANES])
{
	if (lanes != 0xffff || o->format.bytes != 4)
		memset(texels, 0, TSR_WARP_LANES * sizeof(*texels));
	for (unsigned int q = 0; q < QUADS; q++) {
		if (lanes >> 4 * q & 15)
			gather_quad(o, t, pixel(o, t, w, 4 * q, sample), texels + 4 * q);
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

/* @some of a quad's pixels, one after the other. */
static inline void scatter_each(const struct tsr_output *o, const struct tsr_tile_target *t,
				uint8_t *p, const uint32_t texels[4], unsigned int some)
{
	for (; some; some &= some - 1) {
		unsigned int i = __builtin_ctz(some);

		memcpy(p + i / 2 * t->pitch + i % 2 * o->format.bytes, texels + i, o->format.bytes);
	}
}

static void scatter(const struct tsr_output *o, const struct tsr_tile_target *t,
		    const struct tsr_output_warp *w, uint16_t lanes, unsigned int sample,
		    const uint32_t texels[TSR_WARP_LANES])
{
	for (unsigned int q = 0; q < QUADS; q++) {
		uint8_t *p = pixel(o, t, w, 4 * q, sample);
		unsigned int some = lanes >> 4 * q & 15;

		if (some && o->format.bytes == 4)
			scatter_words(p, t->pitch, texels + 4 * q, some);
		else
			scatter_each(o, t, p, texels + 4 * q, some);
	}
}

/* The same as join(). */
static void join_all(const struct tsr_output *o, const uint32_t *old, uint32_t *texels)
{
	uint32_t written;

	memcpy(&written, o->written, sizeof(written));
	if (o->logic) {
		for (unsigned int l = 0; l < TSR_WARP_LANES; l++)
			texels[l] = logic(o->logic_op, texels[l], old[l]);
	}
	for (unsigned int l = 0; l < TSR_WARP_LANES; l++)
		texels[l] = (texels[l] & written) | (old[l] & ~written);
}

static void write_merged(const struct tsr_output *o, const struct tsr_tile_target *t,
			 const struct tsr_output_warp *w, uint16_t lanes, unsigned int sample)
{
	uint32_t old[TSR_WARP_LANES], texels[TSR_WARP_LANES];

	gather(o, t, w, lanes, sample, old);
	o->lanes(o, w, old, texels);
	if (o->keeps)
		join_all(o, old, texels);
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

static void write_sixteen(const struct tsr_output *o, const struct tsr_tile_target *t,
			  const struct tsr_output_warp *w)
{
	uint32_t texels[TSR_WARP_LANES];

	if (!o->merge)
		o->lanes(o, w, NULL, texels);
	for (unsigned int s = 0; s < o->samples; s++) {
		uint16_t lanes = covered(w, s), group;

		if (!lanes)
			continue;
		if (!o->merge) {
			scatter(o, t, w, lanes, s, texels);
			continue;
		}
		for (unsigned int q = 0; q < QUADS; q += tsr_lanes_count(group) / 4) {
			group = apart(w, q);
			if (lanes & group)
				write_merged(o, t, w, lanes & group, s);
		}
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

/* The same with the color of @flat. */
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

	if (!o->plain || !o->lanes)
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

/* Texels of any size. */
static void fill_block(const struct tsr_output *o, const struct tsr_output_flat *flat,
		       uint8_t *first, uint32_t pitch, uint64_t rows)
{
	for (; rows; rows >>= 8, first += pitch) {
		for (unsigned int left = rows & 0xff; left; left &= left - 1)
			memcpy(first + __builtin_ctz(left) * o->format.bytes, flat->texel,
			       o->format.bytes);
	}
}

static void write_warps(const struct tsr_output *o, const struct tsr_tile_target *t,
			const struct tsr_output_flat *flat, unsigned int x, unsigned int y,
			const uint64_t *mask)
{
	struct tsr_output_warp w;

	for (unsigned int row = 0; row < 4; row++) {
		flat_warp(flat, x, y, row, &w);
		row_samples(o, mask, row, &w);
		tsr_output_write(o, t, &w);
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
	struct tsr_output_warp w = { .step = quads->step };

	if (o->off)
		return;
	for (unsigned int s = 0; o->quads && s < o->samples; s++) {
		if (quads->mask[s])
			o->quads(o, quads, first + (size_t)s * t->plane, t->pitch,
				 tsr_block_rows(quads->mask[s]));
	}
	for (unsigned int row = 0; !o->quads && row < 4; row++) {
		w.color = quads->color + row;
		row_of_quads(quads->x, quads->y, row, &w);
		row_samples(o, quads->mask, row, &w);
		tsr_output_write(o, t, &w);
	}
}
