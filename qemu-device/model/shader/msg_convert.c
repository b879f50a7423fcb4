/* SPDX-License-Identifier: MIT */
/*
 * LD_CVT and ST_CVT: registers to memory in a pixel format and back, by a conversion word. And
 * LD_GCLK, which has no better place.
 */
#include "msg.h"
#include "msg_format.h"

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

static enum tsr_step store_lane(struct tsr_msg_env *env, struct tsr_msg *msg, unsigned int lane,
				const void *arg)
{
	unsigned int components = *(const unsigned int *)arg;
	struct tsr_format format;
	union tsr_texel texel;
	uint32_t word[8];
	unsigned int type;
	uint64_t va = tsr_msg_address(msg, lane);
	enum tsr_step step;

	/* what is out of bounds has no format either */
	if (va >> TSR_WINDOW_SHIFT == TSR_WINDOW_VOID >> TSR_WINDOW_SHIFT)
		return TSR_STEP_DONE;
	step = conversion(env, msg, lane, &format, &type);
	if (step != TSR_STEP_DONE)
		return step;
	for (unsigned int i = 0; i < tsr_register_words(type, components); i++)
		word[i] = tsr_msg_staging(msg, i)->u[lane];
	tsr_format_from_registers(&format, &texel, type, components, word);
	return tsr_msg_store_texel(env, lane, va, &format, &texel);
}

enum tsr_step tsr_msg_load_convert(struct tsr_msg_env *env, struct tsr_msg *msg, unsigned int arg)
{
	unsigned int components = msg->insn->mod[TSR_MOD_VECSIZE] + 1 + arg;

	return tsr_msg_each(env, msg, load_lane, &components);
}

enum tsr_step tsr_msg_store_convert(struct tsr_msg_env *env, struct tsr_msg *msg, unsigned int arg)
{
	unsigned int components = msg->insn->mod[TSR_MOD_VECSIZE] + 1 + arg;

	return tsr_msg_each(env, msg, store_lane, &components);
}

enum tsr_step tsr_msg_clock(struct tsr_msg_env *env, struct tsr_msg *msg, unsigned int arg)
{
	struct tsr_gpu *gpu = env->mem->gpu;
	uint64_t now;

	(void)arg;
	if (msg->insn->mod[TSR_MOD_SOURCE] == TSR_SOURCE_CYCLE_COUNTER)
		now = atomic_load_explicit(&gpu->counter[TSR_GLOBAL_COUNTER_GPU_CYCLES],
					   memory_order_relaxed) + env->mem->runner->unreported;
	else
		now = tsr_clock(gpu);
	for (; msg->lanes; msg->lanes &= msg->lanes - 1) {
		unsigned int lane = __builtin_ctz(msg->lanes);

		tsr_msg_staging(msg, 0)->u[lane] = now;
		tsr_msg_staging(msg, 1)->u[lane] = now >> 32;
	}
	return TSR_STEP_DONE;
}
