/* SPDX-License-Identifier: MIT */
#include "tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tsr_desc.h"
#include "tsr_regs.h"

uint64_t fuzz_address(struct fuzz_random *r, const struct fuzz_memory *memory, uint64_t align)
{
	const struct fuzz_region *region = &memory->region[fuzz_below(r, memory->num)];
	uint64_t at = fuzz_often(r, 160) ? 0 : fuzz_below(r, region->size);

	if (fuzz_often(r, 4))
		return fuzz_any(r);
	if (fuzz_often(r, 12))
		at = region->size - fuzz_below(r, 128);
	return (region->va + at) / align * align;
}

static uint64_t number(struct fuzz_random *r, const struct tsr_desc_field *field)
{
	const struct tsr_desc_enum *values = field->values;

	if (values && !fuzz_often(r, 3))
		return values->values[fuzz_below(r, values->num_values)].value;
	if (field->type == TSR_DESC_BOOL)
		return fuzz_often(r, 64);
	switch (fuzz_below(r, 8)) {
	case 0:
		return fuzz_any(r);
	case 1:
		return 0;
	case 2:
		return fuzz_below(r, 256);
	default:
		return fuzz_below(r, 16);
	}
}

static const struct tsr_desc_struct *find(const char *name)
{
	for (unsigned int i = 0; i < tsr_desc_num_structs; i++) {
		if (!strcmp(tsr_desc_structs[i].name, name))
			return &tsr_desc_structs[i];
	}
	fprintf(stderr, "tables: there is no structure %s\n", name);
	abort();
}

void fuzz_struct(struct fuzz_random *r, const char *name, uint64_t *words)
{
	const struct tsr_desc_struct *desc = find(name);

	memset(words, 0, desc->qwords * sizeof(*words));
	for (unsigned int i = 0; i < desc->num_fields; i++) {
		const struct tsr_desc_field *field = &desc->fields[i];
		unsigned int width = field->hi - field->lo + 1u;
		uint64_t value = number(r, field);

		value &= width == 64 ? UINT64_MAX : (1ull << width) - 1;
		words[field->qword] |= value << field->lo;
	}
}

/* Turn over a bit, now and then. */
static void spoil(struct fuzz_random *r, uint64_t *words, unsigned int num)
{
	if (fuzz_often(r, 6))
		words[fuzz_below(r, num)] ^= 1ull << fuzz_below(r, 64);
}

/* Bytes of a view: what is there, one more or less, anything. */
static uint32_t size_of(struct fuzz_random *r)
{
	uint32_t size = 64u << fuzz_below(r, 7);

	if (fuzz_often(r, 16))
		return fuzz_any(r);
	return fuzz_often(r, 64) ? size + fuzz_below(r, 3) - 1 : size;
}

static void attribute_buffer(struct fuzz_random *r, const struct fuzz_memory *memory,
			     uint64_t *words)
{
	struct tsr_attribute_buffer buffer;

	fuzz_struct(r, "ATTRIBUTE_BUFFER", words);
	tsr_unpack_attribute_buffer(words, &buffer);
	buffer.pointer = fuzz_address(r, memory, 64) & 0x00ffffffffffffc0ull;
	buffer.size = size_of(r);
	buffer.stride = fuzz_often(r, 200) ? 1u << fuzz_below(r, 6) : buffer.stride;
	tsr_pack_attribute_buffer(words, &buffer);
	if (fuzz_often(r, 128))
		fuzz_struct(r, "ATTRIBUTE_BUFFER_IMAGE", words + 2);
	else
		fuzz_struct(r, "ATTRIBUTE_BUFFER_DIVISOR", words + 2);
	if (fuzz_often(r, 240))
		words[2] = (words[2] & ~0x3full) | TSR_ATTRIBUTE_BUFFER_TYPE_CONTINUATION;
}

static void attribute(struct fuzz_random *r, uint64_t *words)
{
	struct tsr_attribute a;

	fuzz_struct(r, "ATTRIBUTE", words);
	tsr_unpack_attribute(words, &a);
	a.buffer = fuzz_often(r, 240) ? 2 * fuzz_below(r, FUZZ_TABLE_ENTRIES) : a.buffer;
	a.big_endian = fuzz_often(r, 4);
	a.offset = fuzz_often(r, 200) ? 4 * (int32_t)fuzz_below(r, 8) - 16 : a.offset;
	tsr_pack_attribute(words, &a);
}

static void texture(struct fuzz_random *r, uint64_t *words, uint64_t surfaces)
{
	struct tsr_texture t;

	fuzz_struct(r, "TEXTURE", words);
	tsr_unpack_texture(words, &t);
	t.type = fuzz_often(r, 250) ? 2 : t.type;
	t.big_endian = fuzz_often(r, 4);
	t.surfaces = fuzz_often(r, 250) ? surfaces : t.surfaces;
	t.dimension = fuzz_often(r, 160) ? TSR_TEXTURE_DIMENSION_2D : t.dimension;
	t.layers |= fuzz_often(r, 200) ? 7 : 0;
	t.levels &= fuzz_often(r, 250) ? 3 : 31;
	t.min_level &= fuzz_often(r, 250) ? 1 : 31;
	tsr_pack_texture(words, &t);
}

static void sampler(struct fuzz_random *r, uint64_t *words)
{
	struct tsr_sampler s;

	fuzz_struct(r, "SAMPLER", words);
	tsr_unpack_sampler(words, &s);
	s.type = fuzz_often(r, 250) ? 1 : s.type;
	tsr_pack_sampler(words, &s);
}

void fuzz_tables(struct fuzz_random *r, const struct fuzz_memory *memory, uint8_t *tables,
		 uint64_t va)
{
	for (unsigned int i = 0; i < FUZZ_TABLE_ENTRIES; i++) {
		uint64_t *uniform = (uint64_t *)(tables + FUZZ_TABLE_UNIFORM) + i;
		uint64_t *words = (uint64_t *)(tables + FUZZ_TABLE_ATTRIBUTES) + i;

		*uniform = fuzz_address(r, memory, 16) / 16 << 12 | fuzz_below(r, 16);
		spoil(r, uniform, 1);
		attribute(r, words);
		spoil(r, words, 1);
		words = (uint64_t *)(tables + FUZZ_TABLE_BUFFERS) + 4 * i;
		attribute_buffer(r, memory, words);
		spoil(r, words, 4);
		words = (uint64_t *)(tables + FUZZ_TABLE_TEXTURES) + 4 * i;
		texture(r, words, va + FUZZ_TABLE_SURFACES);
		spoil(r, words, 4);
		words = (uint64_t *)(tables + FUZZ_TABLE_SAMPLERS) + 4 * i;
		sampler(r, words);
		spoil(r, words, 4);
	}
	for (unsigned int i = 0; i < (FUZZ_TABLES_SIZE - FUZZ_TABLE_SURFACES) / 16; i++) {
		uint64_t *words = (uint64_t *)(tables + FUZZ_TABLE_SURFACES) + 2 * i;

		tsr_pack_texture_surface(words, &(struct tsr_texture_surface){
			.pointer = fuzz_address(r, memory, 64),
			.row_stride = 16 << fuzz_below(r, 6),
			.slice_stride = 256 << fuzz_below(r, 4),
		});
		spoil(r, words, 2);
	}
}

static uint64_t table(struct fuzz_random *r, uint64_t va)
{
	return fuzz_often(r, 2) ? fuzz_any(r) & ~31ull : va;
}

/* As many as there are, one fewer, or more than there are. */
static uint32_t count(struct fuzz_random *r, uint32_t entries, uint32_t most)
{
	if (fuzz_often(r, 8))
		return fuzz_below(r, most + 1);
	return fuzz_often(r, 64) ? entries - 1 : entries;
}

void fuzz_name_tables(struct fuzz_random *r, uint64_t va, struct tsr_compute_state *state)
{
	const uint32_t n = FUZZ_TABLE_ENTRIES;

	state->uniform_buffers = table(r, va + FUZZ_TABLE_UNIFORM);
	state->attributes = table(r, va + FUZZ_TABLE_ATTRIBUTES);
	state->attribute_buffers = table(r, va + FUZZ_TABLE_BUFFERS);
	state->textures = table(r, va + FUZZ_TABLE_TEXTURES);
	state->samplers = table(r, va + FUZZ_TABLE_SAMPLERS);
	state->uniform_buffer_count = count(r, n, 257);
	state->attribute_count = count(r, n, 513);
	state->attribute_buffer_count = count(r, 2 * n, 513);
	state->texture_count = count(r, n, 513);
	state->sampler_count = count(r, n, 513);
}
