/* SPDX-License-Identifier: MIT */
/*
 * Load/store unit: LOAD and STORE of 8 to 128 bits with all segments, uniform buffers too. Bundles
 * go through the vectors of msg_bundle.h as far as they can; what cannot goes lane by lane.
 */
#include "msg_bundle.h"

static void load_form(const struct tsr_insn *insn, unsigned int bytes, struct tsr_load_form *form)
{
	*form = (struct tsr_load_form){
		.bytes = bytes,
		.words = (bytes + 3) / 4,
		.extend = insn->mod[TSR_MOD_EXTEND],
		.mask = UINT32_MAX,
	};
	switch (bytes > 4 ? TSR_LANE_DEST_NONE : insn->mod[TSR_MOD_LANE_DEST]) {
	case TSR_LANE_DEST_H0:
	case TSR_LANE_DEST_H1:
		form->shift = insn->mod[TSR_MOD_LANE_DEST] == TSR_LANE_DEST_H1 ? 16 : 0;
		form->mask = 0xffffu << form->shift;
		break;
	case TSR_LANE_DEST_B0:
	case TSR_LANE_DEST_B1:
	case TSR_LANE_DEST_B2:
	case TSR_LANE_DEST_B3:
		form->shift = 8 * (insn->mod[TSR_MOD_LANE_DEST] - TSR_LANE_DEST_B0);
		form->mask = 0xffu << form->shift;
		break;
	case TSR_LANE_DEST_D0:
		form->words = 2;
		break;
	}
}

/* Write what has been read (padded with zeros) into the staging registers of @lane. */
static void put(const struct tsr_msg *msg, unsigned int lane, const struct tsr_load_form *form,
		const uint32_t word[4])
{
	uint32_t *first = &tsr_msg_staging(msg, 0)->u[lane];
	uint64_t value = word[0] | (uint64_t)word[1] << 32;

	if (form->extend == TSR_EXTEND_SEXT) {
		unsigned int unused = 64 - 8 * form->bytes;

		value = (uint64_t)((int64_t)(value << unused) >> unused);
	}
	*first = (*first & ~form->mask) | ((uint32_t)(value << form->shift) & form->mask);
	if (form->words > 1)
		tsr_msg_staging(msg, 1)->u[lane] = value >> 32;
	for (unsigned int i = 2; i < form->words; i++)
		tsr_msg_staging(msg, i)->u[lane] = word[i];
}

/* The address of @lane in segment @seg. */
static uint64_t segment_address(const struct tsr_msg *msg, unsigned int lane, unsigned int seg)
{
	switch (seg) {
	case TSR_SEG_WLS:
		return TSR_WINDOW_GROUP + msg->src[0]->u[lane];
	case TSR_SEG_TL:
		return TSR_WINDOW_SCRATCH + msg->src[0]->u[lane];
	default:
		return tsr_msg_address(msg, lane);
	}
}

static enum tsr_step load_lane(struct tsr_msg_env *env, struct tsr_msg *msg, unsigned int lane,
			       const void *arg)
{
	const struct tsr_load_form *form = arg;
	uint64_t va = segment_address(msg, lane, msg->insn->mod[TSR_MOD_SEG]);
	uint32_t word[4] = { 0 };
	enum tsr_step step;

	if (va % tsr_msg_alignment(form->bytes))
		return tsr_msg_fault(env, TSR_FAULT_SHADER_ALIGNMENT, va, TSR_ACCESS_READ);
	step = tsr_msg_read(env, lane, va, word, form->bytes);
	if (step != TSR_STEP_DONE)
		return step;
	put(msg, lane, form, word);
	env->cost.read_bytes += form->bytes;
	return TSR_STEP_DONE;
}

static enum tsr_step store_lane(struct tsr_msg_env *env, struct tsr_msg *msg, unsigned int lane,
				const void *arg)
{
	unsigned int bytes = *(const uint8_t *)arg;
	uint64_t va = segment_address(msg, lane, msg->insn->mod[TSR_MOD_SEG]);
	uint32_t word[4];
	enum tsr_step step;

	if (va % tsr_msg_alignment(bytes))
		return tsr_msg_fault(env, TSR_FAULT_SHADER_ALIGNMENT, va, TSR_ACCESS_WRITE);
	for (unsigned int i = 0; i < (bytes + 3) / 4; i++)
		word[i] = tsr_msg_staging(msg, i)->u[lane];
	step = tsr_msg_write(env, lane, va, word, bytes);
	if (step != TSR_STEP_DONE)
		return step;
	env->cost.write_bytes += bytes;
	return TSR_STEP_DONE;
}

/* ---- Uniform buffers ------------------------------------------------------------------------- */

enum tsr_step tsr_msg_uniform_buffer(struct tsr_msg_env *env, uint32_t index,
				     struct tsr_msg_buffer *buffer)
{
	struct tsr_uniform_buffer desc;
	enum tsr_step step;
	uint64_t qword;

	*buffer = (struct tsr_msg_buffer){ 0 };
	if (index >= env->state->uniform_buffer_count)
		return TSR_STEP_DONE;
	step = tsr_msg_descriptor(env,
				  env->state->uniform_buffers + index * sizeof(qword) +
					  env->copies->moved[TSR_PART_UNIFORM_BUFFERS],
				  &qword, 1);
	if (step != TSR_STEP_DONE || !qword)
		return step;
	tsr_unpack_uniform_buffer(&qword, &desc);
	buffer->va = (uint64_t)desc.pointer << 4;
	buffer->size = (desc.entries + 1) * 16ull;
	return TSR_STEP_DONE;
}

static enum tsr_step uniform_lane(struct tsr_msg_env *env, struct tsr_msg *msg, unsigned int lane,
				  const void *arg)
{
	const struct tsr_load_form *form = arg;
	uint32_t offset = msg->src[0]->u[lane];
	uint32_t word[4] = { 0 };
	struct tsr_msg_buffer buffer;
	enum tsr_step step = tsr_msg_uniform_buffer(env, msg->src[1]->u[lane], &buffer);
	unsigned int len = form->bytes;

	if (step != TSR_STEP_DONE)
		return step;
	if (offset >= buffer.size)
		len = 0;
	else if (len > buffer.size - offset)
		len = (buffer.size - offset) / 4 * 4;
	if (len && offset % tsr_msg_alignment(form->bytes))
		return tsr_msg_fault(env, TSR_FAULT_SHADER_ALIGNMENT, buffer.va + offset,
				     TSR_ACCESS_READ);
	if (len)
		step = tsr_msg_read(env, lane, buffer.va + offset, word, len);
	if (step != TSR_STEP_DONE)
		return step;
	put(msg, lane, form, word);
	env->cost.read_bytes += form->bytes;
	return TSR_STEP_DONE;
}

/* ---- LOAD and STORE -------------------------------------------------------------------------- */

enum tsr_step tsr_msg_load(struct tsr_msg_env *env, struct tsr_msg *msg, unsigned int bytes)
{
	struct tsr_load_form form;

	load_form(msg->insn, bytes, &form);
	if (msg->insn->mod[TSR_MOD_SEG] != TSR_SEG_UBO)
		return tsr_msg_each(env, msg, load_lane, &form);
	env->mem->unit = TSR_UNIT_ATTRIBUTE;
	return tsr_msg_each(env, msg, uniform_lane, &form);
}

unsigned int tsr_msg_load_together(struct tsr_msg_env *env, const struct tsr_msg_bundle *b,
				   unsigned int first, unsigned int bytes)
{
	struct tsr_load_form form;

	load_form(b->insn, bytes, &form);
	return env->path->load(env, b, first, &form);
}

enum tsr_step tsr_msg_store(struct tsr_msg_env *env, struct tsr_msg *msg, unsigned int bytes)
{
	uint8_t size = bytes;

	return tsr_msg_each(env, msg, store_lane, &size);
}

unsigned int tsr_msg_store_together(struct tsr_msg_env *env, const struct tsr_msg_bundle *b,
				    unsigned int first, unsigned int bytes)
{
	return env->path->store(env, b, first, bytes);
}
