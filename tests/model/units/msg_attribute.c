/* SPDX-License-Identifier: MIT */
/*
 * test: TSAN=0
 *
 * What the attribute unit keeps of descriptors it has read holds as long as they, the tables they
 * are in and the sizes of these are what they were, and no longer.
 */
#include <string.h>

#include "ktap.h"
#include "units.h"

static struct units *u;

/* Attribute 5: 1000 elements of 20 bytes, number k holds 7000 + k at byte 8. */
static void elements(void)
{
	const struct tsr_attribute a = {
		.buffer = 10, .format = TSR_PIXEL_FORMAT_R32UI, .offset = 8,
	};
	const struct tsr_attribute_buffer b = {
		.type = TSR_ATTRIBUTE_BUFFER_TYPE_LINEAR, .pointer = UNITS_DATA + 0x4000,
		.stride = 20, .size = 20000,
	};
	const struct tsr_attribute_buffer_divisor rest = {
		.type = TSR_ATTRIBUTE_BUFFER_TYPE_CONTINUATION, .divisor = 1,
	};

	for (uint32_t k = 0; k < 1000; k++)
		memcpy(u->data + 0x4000 + 20 * k + 8, &(uint32_t){ 7000 + k }, 4);
	tsr_pack_attribute(units_table(u, UNITS_ATTRIBUTES + 8 * 5), &a);
	tsr_pack_attribute_buffer(units_table(u, UNITS_BUFFERS + 16 * 10), &b);
	tsr_pack_attribute_buffer_divisor(units_table(u, UNITS_BUFFERS + 16 * 11), &rest);
}

/* Element 6 as attribute 5 has it now; 0: it has none. */
static void six_is(uint32_t want)
{
	units_insn(u, TSR_OP_ADD_LD_ATTR_IMM);
	u->insn.imm[TSR_IMM_ATTRIBUTE_INDEX] = 5;
	u->insn.mod[TSR_MOD_REGISTER_FORMAT] = TSR_REGISTER_FORMAT_U32;
	for (unsigned int l = 0; l < 16; l++)
		u->src[0].u[l] = 6;
	ktap_eq(units_run(u, 8, UNITS_ALL_LANES), TSR_STEP_DONE);
	for (unsigned int l = 0; l < 16; l++)
		ktap_eq(units_reg(u, 8)->u[l], want);
}

/* A change of a descriptor, a table or its size has an effect at once, and so has its reversal. */
static void test_changes(void)
{
	const uint64_t far = 64 * 32;	/* tables so far apart would be kept at one place */
	uint64_t *entry = units_table(u, UNITS_ATTRIBUTES + 8 * 5);
	uint64_t *q = units_table(u, UNITS_BUFFERS + 32 * 5);

	for (unsigned int i = 0; i < 3; i++) {
		elements();
		memcpy(units_table(u, UNITS_ATTRIBUTES + far), units_table(u, UNITS_ATTRIBUTES),
		       64);
		memcpy(units_table(u, UNITS_BUFFERS + far), units_table(u, UNITS_BUFFERS), 256);
		six_is(7006);
		((uint64_t *)units_table(u, UNITS_ATTRIBUTES + far))[5] += 20ull << 32;
		u->state.attributes += far;
		six_is(7007);
		u->state.attributes -= far;
		six_is(7006);
		((uint64_t *)units_table(u, UNITS_BUFFERS + far))[21] += 20;
		u->state.attribute_buffers += far;
		six_is(7012);
		u->state.attribute_buffers -= far;
		six_is(7006);
		u->state.attribute_count = 5;
		six_is(0);
		u->state.attribute_count = 256;
		six_is(7006);
		u->state.attribute_buffer_count = 10;
		six_is(0);
		u->state.attribute_buffer_count = 256;
		six_is(7006);
		*entry += 20ull << 32;
		six_is(7007);
		*entry -= 20ull << 32;
		six_is(7006);
		q[1] += 20;
		six_is(7012);
		q[1] -= 20;
		six_is(7006);
		/* the formula of DIVIDE with the least magic number and with the greatest */
		q[0] += TSR_ATTRIBUTE_BUFFER_TYPE_DIVIDE - TSR_ATTRIBUTE_BUFFER_TYPE_LINEAR;
		six_is(7003);
		q[2] |= 0x7fffffffull << 32;
		six_is(7005);
		q[2] &= UINT32_MAX;
		six_is(7003);
	}
}

/* An attribute, then a buffer, in the last bytes of a mapping. */
static void test_ends(void)
{
	const uint64_t end = UNITS_TABLES + UNITS_TABLES_SIZE;

	elements();
	memcpy(units_table(u, end - 8), units_table(u, UNITS_ATTRIBUTES + 8 * 5), 8);
	u->state.attributes = end - 8 * 6;
	units_stop(u);
	six_is(7006);
	u->state.attributes = UNITS_ATTRIBUTES;
	memcpy(units_table(u, end - 16), units_table(u, UNITS_BUFFERS + 16 * 10), 16);
	u->state.attribute_buffers = end - 16 * 11;
	units_stop(u);
	six_is(7006);
	u->state.attribute_buffers = UNITS_BUFFERS;
}

int main(void)
{
	ktap_start();
	u = units_new(0);
	ktap_run("[IA3] attributes whose descriptors change", test_changes);
	ktap_run("[IA3] descriptors where memory ends", test_ends);
	units_free(u);
	return ktap_finish();
}
