/* SPDX-License-Identifier: MIT */
#include "msg_pixels.h"

#include <string.h>

/* Texels are words in registers 0 to 3 of a warp group of their own, whose first warp it is. */
#define WORDS_MAX 4

bool tsr_msg_all_are(const union tsr_lanes *v, uint32_t word, uint16_t lanes)
{
	uint32_t other = 0;

	if (lanes == TSR_ALL_LANES) {
		for (unsigned int l = 0; l < TSR_WARP_LANES; l++)
			other |= v->u[l] ^ word;
		return !other;
	}
	for (; lanes; lanes &= lanes - 1)
		other |= v->u[__builtin_ctz(lanes)] ^ word;
	return !other;
}

/* True if registers hold numbers as vectors decode them: words, or halves of floats. */
static bool fits(const struct tsr_pixels *p)
{
	switch (p->type) {
	case TSR_REGISTER_TYPE_F32:
	case TSR_REGISTER_TYPE_F16:
		return !tsr_format_is_integer(p->format);
	case TSR_REGISTER_TYPE_S32:
	case TSR_REGISTER_TYPE_U32:
		return tsr_format_is_integer(p->format);
	default:
		return false;
	}
}

/* The format of registers that hold halves. */
static void find_halves(struct tsr_format *format)
{
	tsr_format_find(format, TSR_PIXEL_FORMAT_RGBA16F, TSR_COMPONENT_ORDER_RGBA, false);
}

/* An access to the words of texels at @lo and @hi, of one warp. */
static struct tsr_msg_bundle access_of(const struct tsr_msg_bundle *b, unsigned int w,
				       const union tsr_lanes *lo, const union tsr_lanes *hi,
				       union tsr_lanes *word, const uint16_t *lanes)
{
	static const struct tsr_insn plain = { .mod = { [TSR_MOD_SEG] = TSR_SEG_NONE } };
	static const uint8_t first;

	return (struct tsr_msg_bundle){
		.insn = &plain, .src = { lo, hi }, .reg = word, .warps = 1, .warp = &first,
		.lanes = lanes, .place = &b->place[w], .whole = true,
	};
}

/* Words of which vectors load and store texels of @bytes; 0: none. */
static unsigned int words_of(unsigned int bytes)
{
	switch (bytes) {
	case 1:
	case 2:
	case 4:
		return 1;
	case 8:
	case 12:
	case 16:
		return bytes / 4;
	default:
		return 0;
	}
}

/* Load the words of texels, which are 0 in other lanes. */
static bool load_words(struct tsr_msg_env *env, const struct tsr_msg_bundle *access,
		       unsigned int bytes, union tsr_lanes word[4])
{
	const struct tsr_load_form form = {
		.bytes = (uint8_t)bytes, .words = (uint8_t)words_of(bytes),
		.extend = TSR_EXTEND_ZEXT, .mask = UINT32_MAX,
	};

	for (unsigned int n = 0; access->lanes[0] != TSR_ALL_LANES && n < form.words; n++)
		memset(&access->reg[n * TSR_BUNDLE_WARPS], 0, sizeof(word[n]));
	if (access->lanes[0] && env->path->load(env, access, 0, &form) != 1)
		return false;
	for (unsigned int n = 0; n < form.words; n++)
		word[n] = access->reg[n * TSR_BUNDLE_WARPS];
	memset(&word[form.words], 0, (4 - form.words) * sizeof(word[0]));
	return true;
}

bool tsr_pixels_load(struct tsr_msg_env *env, const struct tsr_msg_bundle *b, unsigned int w,
		     const struct tsr_pixels *p, const union tsr_lanes *lo,
		     const union tsr_lanes *hi, uint16_t there)
{
	static const union tsr_lanes zero;
	union tsr_lanes reg[(WORDS_MAX - 1) * TSR_BUNDLE_WARPS + 1], word[4], number[4];
	const struct tsr_msg_bundle access = access_of(b, w, lo, hi, reg, &there);
	const unsigned int bytes = p->format->bytes;
	struct tsr_format halves;

	if (!p->format->decodes || !words_of(bytes) || !fits(p) ||
	    !load_words(env, &access, bytes, word))
		return false;
	env->path->decode(p->format, word, number);
	for (unsigned int c = p->components; c < 4; c++)
		number[c] = zero;
	if (p->type == TSR_REGISTER_TYPE_F16) {
		find_halves(&halves);
		env->path->encode(&halves, number, false, word);
		memcpy(number, word, sizeof(number));
	}
	for (unsigned int n = 0; n < tsr_register_words(p->type, p->components); n++) {
		union tsr_lanes *to = tsr_msg_bundle_staging(b, w, n);

		if (there != b->lanes[w])
			tsr_msg_move(to, &zero, b->lanes[w]);
		tsr_msg_move(to, &number[n], there);
	}
	return true;
}

/* The components that registers hold, and those after them. */
static void take_numbers(const struct tsr_msg_env *env, const struct tsr_msg_bundle *b,
			 unsigned int w, const struct tsr_pixels *p, union tsr_lanes number[4])
{
	const uint32_t one = tsr_format_is_integer(p->format) ? 1 : 0x3f800000;
	const unsigned int words = tsr_register_words(p->type, p->components);
	struct tsr_format halves;

	for (unsigned int n = 0; n < words; n++)
		number[n] = *tsr_msg_bundle_staging(b, w, n);
	if (p->type == TSR_REGISTER_TYPE_F16) {
		union tsr_lanes word[4] = { 0 };

		memcpy(word, number, words * sizeof(word[0]));
		find_halves(&halves);
		env->path->decode(&halves, word, number);
	}
	for (unsigned int c = p->components; c < 4; c++) {
		for (unsigned int l = 0; l < TSR_WARP_LANES; l++)
			number[c].u[l] = c == 3 ? one : 0;
	}
}

/* Lanes of warp @w whose texels are somewhere. */
static uint16_t lanes_there(const struct tsr_msg_bundle *b, unsigned int w,
			    const union tsr_lanes *hi)
{
	uint16_t there = b->lanes[w];

	for (unsigned int l = 0; l < TSR_WARP_LANES; l++) {
		const bool nowhere = hi->u[l] >> (TSR_WINDOW_SHIFT - 32) ==
				     TSR_WINDOW_VOID >> TSR_WINDOW_SHIFT;

		there &= (uint16_t)~((unsigned int)nowhere << l);
	}
	return there;
}

bool tsr_pixels_store(struct tsr_msg_env *env, const struct tsr_msg_bundle *b, unsigned int w,
		      const struct tsr_pixels *p)
{
	const union tsr_lanes *lo = b->src[0] + w * b->src_step[0];
	const union tsr_lanes *hi = b->src[1] + w * b->src_step[1];
	union tsr_lanes reg[(WORDS_MAX - 1) * TSR_BUNDLE_WARPS + 1], word[4], number[4];
	const uint16_t there = lanes_there(b, w, hi);
	const struct tsr_msg_bundle access = access_of(b, w, lo, hi, reg, &there);
	const unsigned int words = words_of(p->format->bytes);

	if (!p->format->encodes || !words || !fits(p))
		return false;
	take_numbers(env, b, w, p, number);
	env->path->encode(p->format, number, p->type == TSR_REGISTER_TYPE_S32, word);
	for (unsigned int n = 0; n < words; n++)
		reg[n * TSR_BUNDLE_WARPS] = word[n];
	return !there || env->path->store(env, &access, 0, p->format->bytes) == 1;
}
