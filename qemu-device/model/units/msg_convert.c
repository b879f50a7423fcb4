/* SPDX-License-Identifier: MIT */
/*
 * LD_CVT and ST_CVT: registers to memory in a pixel format and back, by a conversion word. And
 * LD_GCLK, which has no better place.
 */
#include <string.h>

#include "msg_bundle.h"
#include "msg_pixels.h"
#include "shader/stage.h"

static enum tsr_step misaligned(struct tsr_msg_env *env, uint64_t va, unsigned int access)
{
	return tsr_msg_fault(env, TSR_FAULT_SHADER_ALIGNMENT, va, access);
}

enum tsr_step tsr_msg_load_texel(struct tsr_msg_env *env, unsigned int lane, uint64_t va,
				 const struct tsr_format *format, union tsr_texel *texel)
{
	uint8_t bytes[TSR_TEXEL_BYTES_MAX];
	enum tsr_step step = TSR_STEP_DONE;

	if (va % format->align)
		return misaligned(env, va, TSR_ACCESS_READ);
	if (format->bytes)
		step = tsr_msg_read(env, lane, va, bytes, format->bytes);
	if (step != TSR_STEP_DONE)
		return step;
	tsr_format_load(format, bytes, texel);
	env->cost.read_bytes += format->bytes;
	return TSR_STEP_DONE;
}

enum tsr_step tsr_msg_store_texel(struct tsr_msg_env *env, unsigned int lane, uint64_t va,
				  const struct tsr_format *format, const union tsr_texel *texel)
{
	uint8_t bytes[TSR_TEXEL_BYTES_MAX];
	enum tsr_step step = TSR_STEP_DONE;

	if (va % format->align)
		return misaligned(env, va, TSR_ACCESS_WRITE);
	if (!format->bytes)
		return TSR_STEP_DONE;
	if (format->keep)
		step = tsr_msg_read(env, lane, va, bytes, format->bytes);
	if (step != TSR_STEP_DONE)
		return step;
	tsr_format_store(format, bytes, texel);
	env->cost.write_bytes += format->bytes;
	return tsr_msg_write(env, lane, va, bytes, format->bytes);
}

/* The conversion word of @lane; SHADER_STATE at the address it is for if it makes no sense. */
static enum tsr_step conversion(struct tsr_msg_env *env, const struct tsr_msg *msg,
				unsigned int lane, struct tsr_format *format, unsigned int *type)
{
	uint64_t word = msg->src[2]->u[lane];
	struct tsr_conversion c;

	tsr_unpack_conversion(&word, &c);
	*type = c.registers;
	if (!c.big_endian && !c.raw && tsr_format_find(format, c.format, c.order, c.srgb))
		return TSR_STEP_DONE;
	return tsr_msg_fault(env, TSR_FAULT_SHADER_STATE, tsr_msg_address(msg, lane),
			     TSR_ACCESS_NONE);
}

static enum tsr_step load_lane(struct tsr_msg_env *env, struct tsr_msg *msg, unsigned int lane,
			       const void *arg)
{
	unsigned int components = *(const unsigned int *)arg;
	struct tsr_format format;
	union tsr_texel texel;
	uint32_t word[8];
	unsigned int type;
	enum tsr_step step = conversion(env, msg, lane, &format, &type);

	if (step == TSR_STEP_DONE)
		step = tsr_msg_load_texel(env, lane, tsr_msg_address(msg, lane), &format, &texel);
	if (step != TSR_STEP_DONE)
		return step;
	tsr_format_to_registers(&format, &texel, type, components, word);
	for (unsigned int i = 0; i < tsr_register_words(type, components); i++)
		tsr_msg_staging(msg, i)->u[lane] = word[i];
	return TSR_STEP_DONE;
}

/* Values that all lanes of a ST_CVT share. */
struct store {
	unsigned int components;
	/* The last lane that was stored on the slow path: */
	bool known;			/* the rest holds */
	uint32_t word;			/* its conversion */
	unsigned int type;		/* enum tsr_register_type of it */
	struct tsr_format format;
	unsigned int floats;		/* tsr_format_floats(), if the registers are floats, too */
};

/* Where @bytes at @va can be written at once; NULL: not known. */
static uint8_t *at_hand(const struct tsr_msg_env *env, uint64_t va, unsigned int bytes)
{
	unsigned int offset = va % TSR_ACCESS_PAGE_BYTES;
	uint8_t *page;

	if (va >> TSR_WINDOW_SHIFT == TSR_WINDOW_OUTPUT >> TSR_WINDOW_SHIFT) {
		va -= TSR_WINDOW_OUTPUT;
		if (env->stage != TSR_STAGE_POSITION ||
		    va + bytes > tsr_vertex_window(env->vertices))
			return NULL;
		return (uint8_t *)tsr_vertex_records(env->vertices) + va;
	}
	if (va >> TSR_WINDOW_SHIFT || offset + bytes > TSR_ACCESS_PAGE_BYTES)
		return NULL;
	page = tsr_access_find(env->access, env->access->write, va);
	return page ? page + offset : NULL;
}

/* Store floats without conversion, if that is all there is to do; false: nothing is done. */
static bool store_floats(struct tsr_msg_env *env, struct tsr_msg *msg, unsigned int lane,
			 const struct store *store, uint64_t va)
{
	unsigned int bytes = 4 * store->floats;
	uint32_t word[4] = { 0, 0, 0, 0x3f800000 };
	uint8_t *to;

	if (!store->known || !bytes || msg->src[2]->u[lane] != store->word ||
	    va % store->format.align)
		return false;
	to = at_hand(env, va, bytes);
	if (!to)
		return false;
	for (unsigned int i = 0; i < store->components; i++)
		word[i] = tsr_msg_staging(msg, i)->u[lane];
	memcpy(to, word, bytes);
	env->cost.write_bytes += bytes;
	return true;
}

/* Store fractions as bytes, if that is what there is to do; false: nothing is done. */
static bool store_bytes(struct tsr_msg_env *env, struct tsr_msg *msg, unsigned int lane,
			const struct store *store, uint64_t va)
{
	const struct tsr_format *format = &store->format;
	uint8_t *to;

	if (!store->known || msg->src[2]->u[lane] != store->word || !format->plain ||
	    store->type != TSR_REGISTER_TYPE_F32 || va % format->bytes)
		return false;
	to = at_hand(env, va, format->bytes);
	if (!to)
		return false;
	for (unsigned int c = 0; c < format->bytes; c++) {
		unsigned int from = format->to[c];
		double x = from < 3 ? 0 : 1;

		if (from < store->components)
			x = tsr_msg_staging(msg, from)->f[lane];
		/* NaN too becomes 0 */
		x = x > 0 ? x : 0;
		to[c] = (uint8_t)((x < 1 ? x : 1) * 255 + 0.5);
	}
	env->cost.write_bytes += format->bytes;
	return true;
}

static enum tsr_step store_lane(struct tsr_msg_env *env, struct tsr_msg *msg, unsigned int lane,
				const void *arg)
{
	struct store *store = *(struct store *const *)arg;
	unsigned int components = store->components;
	union tsr_texel texel;
	uint32_t word[8];
	uint64_t va = tsr_msg_address(msg, lane);
	enum tsr_step step = TSR_STEP_DONE;

	if (store_floats(env, msg, lane, store, va) || store_bytes(env, msg, lane, store, va))
		return TSR_STEP_DONE;

	/* what is out of bounds has no format either */
	if (va >> TSR_WINDOW_SHIFT == TSR_WINDOW_VOID >> TSR_WINDOW_SHIFT)
		return TSR_STEP_DONE;
	if (!store->known || store->word != msg->src[2]->u[lane]) {
		store->known = false;
		step = conversion(env, msg, lane, &store->format, &store->type);
		if (step != TSR_STEP_DONE)
			return step;
		store->known = true;
		store->word = msg->src[2]->u[lane];
		store->floats = store->type == TSR_REGISTER_TYPE_F32
			? tsr_format_floats(&store->format) : 0;
	}
	for (unsigned int i = 0; i < tsr_register_words(store->type, components); i++)
		word[i] = tsr_msg_staging(msg, i)->u[lane];
	tsr_format_from_registers(&store->format, &texel, store->type, components, word);
	return tsr_msg_store_texel(env, lane, va, &store->format, &texel);
}

enum tsr_step tsr_msg_load_convert(struct tsr_msg_env *env, struct tsr_msg *msg, unsigned int arg)
{
	unsigned int components = msg->insn->mod[TSR_MOD_VECSIZE] + 1 + arg;

	return tsr_msg_each(env, msg, load_lane, &components);
}

enum tsr_step tsr_msg_store_convert(struct tsr_msg_env *env, struct tsr_msg *msg, unsigned int arg)
{
	struct store store = { .components = msg->insn->mod[TSR_MOD_VECSIZE] + 1 + arg };
	struct store *const last = &store;

	return tsr_msg_each(env, msg, store_lane, &last);
}

/* Keeps usual stores of position programs as they are. Returns the first warp with others. */
static unsigned int retain_positions(struct tsr_msg_env *env, const struct tsr_msg_bundle *b,
				     unsigned int first, unsigned int floats)
{
	if (env->stage != TSR_STAGE_POSITION || !env->vertices || floats != 4)
		return first;
	while (first < b->warps && tsr_vertex_retain(env->vertices, b, b->warp[first])) {
		uint16_t lanes = b->lanes[b->warp[first++]];

		tsr_msg_charge(&env->cost, 0, 16 * (lanes == TSR_ALL_LANES ? TSR_WARP_LANES :
							     tsr_lanes_count(lanes)));
	}
	return first;
}

/* Finds what the conversion words of warp @w of @b say; false: they differ, or make no sense. */
static bool find_pixels(const struct tsr_msg_bundle *b, unsigned int w, struct tsr_format *format,
			struct tsr_pixels *p, uint32_t *word)
{
	const union tsr_lanes *words = b->src[2] + w * b->src_step[2];
	const uint64_t qword = *word = words->u[__builtin_ctz(b->lanes[w])];
	struct tsr_conversion c;

	tsr_unpack_conversion(&qword, &c);
	p->format = format;
	p->type = c.registers;
	return !c.big_endian && !c.raw && tsr_format_find(format, c.format, c.order, c.srgb) &&
	       tsr_msg_all_are(words, *word, b->lanes[w]);
}

/*
 * Floats that are stored as they are, @floats of them, from warp @first on in all warps whose
 * conversion is @word. The first warp that is not done.
 */
static unsigned int store_words(struct tsr_msg_env *env, const struct tsr_msg_bundle *b,
				unsigned int first, unsigned int floats, uint32_t word)
{
	struct tsr_msg_bundle plain = *b;

	for (plain.warps = first; plain.warps < b->warps; plain.warps++) {
		const unsigned int w = b->warp[plain.warps];

		if (!tsr_msg_all_are(b->src[2] + w * b->src_step[2], word, b->lanes[w]))
			break;
	}
	first = retain_positions(env, &plain, first, floats);
	return first < plain.warps ? env->path->store(env, &plain, first, 4 * floats) : first;
}

unsigned int tsr_msg_store_convert_together(struct tsr_msg_env *env, const struct tsr_msg_bundle *b,
					    unsigned int first, unsigned int arg)
{
	struct tsr_pixels p = { .components = b->insn->mod[TSR_MOD_VECSIZE] + 1 + arg };
	struct tsr_format format;
	uint32_t word;

	while (first < b->warps && find_pixels(b, b->warp[first], &format, &p, &word)) {
		const bool plain = p.type == TSR_REGISTER_TYPE_F32;
		const unsigned int floats = plain ? tsr_format_floats(&format) : 0;
		const unsigned int before = first;

		if (floats && floats <= p.components)
			first = store_words(env, b, first, floats, word);
		if (first == before && !tsr_pixels_store(env, b, b->warp[first++], &p))
			return before;
	}
	return first;
}

unsigned int tsr_msg_load_convert_together(struct tsr_msg_env *env, const struct tsr_msg_bundle *b,
					   unsigned int first, unsigned int arg)
{
	struct tsr_pixels p = { .components = b->insn->mod[TSR_MOD_VECSIZE] + 1 + arg };
	struct tsr_format format;
	uint32_t word;

	for (; first < b->warps; first++) {
		const unsigned int w = b->warp[first];

		if (!find_pixels(b, w, &format, &p, &word) ||
		    !tsr_pixels_load(env, b, w, &p, b->src[0] + w * b->src_step[0],
				     b->src[1] + w * b->src_step[1], b->lanes[w]))
			break;
	}
	return first;
}

enum tsr_step tsr_msg_clock(struct tsr_msg_env *env, struct tsr_msg *msg, unsigned int arg)
{
	uint64_t now;

	(void)arg;
	if (msg->insn->mod[TSR_MOD_SOURCE] == TSR_SOURCE_CYCLE_COUNTER)
		now = tsr_env_cycles(env->mem->env) + env->mem->thread->unreported;
	else
		now = tsr_env_clock(env->mem->env);
	for (; msg->lanes; msg->lanes &= msg->lanes - 1) {
		unsigned int lane = __builtin_ctz(msg->lanes);

		tsr_msg_staging(msg, 0)->u[lane] = now;
		tsr_msg_staging(msg, 1)->u[lane] = now >> 32;
	}
	return TSR_STEP_DONE;
}
