// SPDX-License-Identifier: MIT
/*
 * Packets out of bytes, see packets.h. The fields come from the generated tables, so a new packet
 * is fuzzed as soon as it is described.
 */
#include <string.h>

#include "packets.h"
#include "tsr_desc.h"
#include "tsr_packets.h"
#include "tsr_regs.h"

uint8_t fuzz_byte(struct fuzz_input *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->data++;
}

uint64_t fuzz_number(struct fuzz_input *in, unsigned int bytes)
{
	uint64_t value = 0;

	while (bytes--)
		value = value << 8 | fuzz_byte(in);
	return value;
}

static uint64_t pick_address(struct fuzz_input *in, const struct fuzz_world *world, uint64_t align)
{
	uint8_t choice = fuzz_byte(in);
	const struct fuzz_region *region = &world->data[choice % world->num_data];
	uint64_t offset = fuzz_number(in, 2);

	if (choice >= 0xf8)
		return fuzz_number(in, 8);
	if (choice >= 0xe0)	/* near an end */
		return region->va + region->size - (offset & 127);
	if (choice >= 0xc0)
		align = 1;
	return region->va + offset % region->size / align * align;
}

static uint64_t pick_number(struct fuzz_input *in, const struct tsr_desc_field *field)
{
	unsigned int width = field->hi - field->lo + 1u;
	uint64_t all = width == 64 ? UINT64_MAX : (1ull << width) - 1;
	const struct tsr_desc_enum *values = field->values;
	uint8_t choice = fuzz_byte(in);
	uint64_t value;

	if (values)	/* mostly one that exists */
		value = choice < 0xf8 ? values->values[choice % values->num_values].value : choice;
	else if (choice < 0x50)
		value = 0;
	else if (choice < 0xb0)
		value = choice & 0x1f;
	else if (choice < 0xc0)
		value = fuzz_number(in, 2);
	else if (choice < 0xf0)
		value = 64ull << (choice & 15);
	else
		value = fuzz_number(in, 8);
	if (choice < 0xf4) {
		value = value / field->align * field->align;
		value = value < field->min ? field->min : value > field->max ? field->max : value;
	}
	return value & all;
}

/* CALL and JUMP mostly go to a packet of the code, and to its end. */
static void aim(struct fuzz_input *in, const struct fuzz_world *world, uint64_t *words)
{
	uint8_t choice = fuzz_byte(in);
	uint64_t at = (uint64_t)(choice & 15) * TSR_STREAM_ALIGN % world->code.size;

	if (choice >= 0xf0)
		return;
	words[1] = world->code.va + at;
	words[2] = choice < 0x80 ? world->code.size - at : 8 + 8ull * (fuzz_byte(in) & 63);
}

static void fill_fields(struct fuzz_input *in, const struct fuzz_world *world,
			const struct tsr_desc_packet *desc, uint64_t *words)
{
	unsigned int f;

	for (f = 0; f < desc->num_fields; f++) {
		const struct tsr_desc_field *field = &desc->fields[f];

		if (field->level == TSR_DESC_RING && !world->ring && fuzz_byte(in) < 0xf0)
			continue;
		if (field->type == TSR_DESC_VA)
			words[field->qword] |= pick_address(in, world, field->align);
		else if (field->type == TSR_DESC_BOOL)
			words[field->qword] |= (uint64_t)(fuzz_byte(in) & 1) << field->lo;
		else
			words[field->qword] |= pick_number(in, field) << field->lo;
	}
	if (desc->opcode == TSR_OP_CALL || desc->opcode == TSR_OP_JUMP)
		aim(in, world, words);
}

/* True if that packet may be picked: mostly only what is legal there. */
static bool candidate(const struct fuzz_world *world, const struct tsr_desc_packet *desc, bool any)
{
	if (!desc || any)
		return desc;
	return !desc->refused && desc->level != (world->ring ? TSR_DESC_USER : TSR_DESC_RING) &&
	       desc->classes >> world->engine_class & 1;
}

/* One of the packets there are, counting around. */
static const struct tsr_desc_packet *pick_packet(const struct fuzz_world *world, uint8_t choice)
{
	unsigned int op, count = 0, n = choice >> 2;
	bool any = (choice & 3) == 3 && choice >= 0xe0;

	for (op = 0; op < 256; op++)
		count += candidate(world, tsr_desc_packets[op], any);
	n %= count;
	for (op = 0; !candidate(world, tsr_desc_packets[op], any) || n--; op++)
		;
	return tsr_desc_packets[op];
}

unsigned int fuzz_packet(struct fuzz_input *in, const struct fuzz_world *world, uint64_t *words,
			 unsigned int room)
{
	uint8_t choice = fuzz_byte(in);
	const struct tsr_desc_packet *desc = pick_packet(world, choice);
	unsigned int length = desc->min_qwords, n;
	uint8_t mutation;

	if (choice == 0xff || length > room) {
		words[0] = fuzz_number(in, 8);
		return 1;
	}
	memset(words, 0, 8 * (size_t)length);
	words[0] = desc->opcode | (uint64_t)length << 8;
	fill_fields(in, world, desc, words);
	mutation = fuzz_byte(in);
	if (mutation >= 0xfc) {	/* a bit somewhere */
		n = fuzz_byte(in) % length;
		words[n] ^= 1ull << (fuzz_byte(in) & 63);
	}
	return length;
}
