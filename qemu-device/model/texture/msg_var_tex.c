/* SPDX-License-Identifier: MIT */
/*
 * VAR_TEX: what the varying unit has interpolated is handed to the texture unit. That unit's clock
 * is not this one's: coordinates of all warps first, then their samples.
 */
#include <string.h>

#include "units/msg.h"

struct tsr_insn tsr_var_tex_sample(const struct tsr_insn *insn, bool half)
{
	struct tsr_insn sample = *insn;

	sample.op = half ? TSR_OP_ADD_TEXS_2D_F16 : TSR_OP_ADD_TEXS_2D_F32;
	sample.imm[TSR_IMM_SAMPLER_INDEX] = sample.imm[TSR_IMM_TEXTURE_INDEX];
	return sample;
}

/* Interpolate two components, in the registers of @inner from 0 on. */
static enum tsr_step interpolate(struct tsr_msg_env *env, const struct tsr_msg *msg,
				 struct tsr_msg *inner, union tsr_lanes *coordinate)
{
	struct tsr_insn load = { .op = TSR_OP_ADD_LD_VAR_IMM };

	load.imm[TSR_IMM_INDEX] = msg->insn->imm[TSR_IMM_VARYING_INDEX];
	load.mod[TSR_MOD_UPDATE] = msg->insn->mod[TSR_MOD_UPDATE];
	load.mod[TSR_MOD_SAMPLE] = msg->insn->mod[TSR_MOD_SAMPLE];
	load.mod[TSR_MOD_VECSIZE] = 1;
	load.mod[TSR_MOD_REGISTER_FORMAT] = TSR_REGISTER_FORMAT_F32;
	inner->insn = &load;
	inner->src[0] = &coordinate[0];
	inner->reg = coordinate;
	inner->staging = 0;
	return tsr_msg_varying(env, inner, TSR_MSG_VAR_IMM);
}

/* Sample all lanes of @msg at once; false: nothing has been done. */
static bool sample_bundle(struct tsr_msg_env *env, const struct tsr_msg *msg)
{
	static const uint8_t warp;
	const struct tsr_msg_bundle b = {
		.insn = msg->insn, .src = { msg->src[0], msg->src[1] }, .reg = msg->reg,
		.staging = msg->staging, .warps = 1, .warp = &warp, .lanes = &msg->lanes,
	};

	return env->path && tsr_msg_texture_compact_together(env, &b, 0, 0);
}

enum tsr_step tsr_msg_var_tex(struct tsr_msg_env *env, struct tsr_msg *msg, unsigned int arg)
{
	union tsr_lanes coordinate[2 * TSR_BUNDLE_WARPS];
	const struct tsr_insn sample = tsr_var_tex_sample(msg->insn, arg);
	struct tsr_msg inner = *msg;
	enum tsr_step step;

	memset(coordinate, 0, sizeof(coordinate));
	step = interpolate(env, msg, &inner, coordinate);
	msg->fault_lane = inner.fault_lane;
	if (step != TSR_STEP_DONE)
		return step;
	inner = *msg;
	inner.insn = &sample;
	inner.src[0] = &coordinate[0];
	inner.src[1] = &coordinate[TSR_BUNDLE_WARPS];
	if (sample_bundle(env, &inner)) {
		msg->lanes = 0;
		return TSR_STEP_DONE;
	}
	env->mem->unit = TSR_UNIT_TEXTURE;
	step = tsr_msg_texture_compact(env, &inner, 0);
	msg->lanes = inner.lanes;
	msg->fault_lane = inner.fault_lane;
	return step;
}

unsigned int tsr_msg_var_tex_together(struct tsr_msg_env *env, const struct tsr_msg_bundle *b,
				      unsigned int first, unsigned int arg)
{
	union tsr_lanes at[2][TSR_BUNDLE_WARPS];
	const struct tsr_insn sample = tsr_var_tex_sample(b->insn, arg);
	struct tsr_msg_bundle inner = *b;

	inner.insn = &sample;
	inner.src[0] = at[0];
	inner.src[1] = at[1];
	inner.src_step[0] = inner.src_step[1] = 1;
	inner.warps = tsr_varying_pairs(env, b, first, b->insn->imm[TSR_IMM_VARYING_INDEX], at);
	return first == inner.warps ? first :
	       tsr_msg_texture_compact_together(env, &inner, first, 0);
}
