// SPDX-License-Identifier: MIT
/* The contents of buffers, see contents.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contents.h"
#include "half.h"

/* The types of values. */
static const struct type {
	const char *name;
	unsigned int bytes;
	bool is_float;
} types[] = {
	{ "u8", 1, false }, { "u16", 2, false }, { "u32", 4, false }, { "u64", 8, false },
	{ "f16", 2, true }, { "f32", 4, true }, { "f64", 8, true },
};

/* State of the reader. */
struct contents {
	struct lex *lex;
	const struct script *script;
	struct bytes *bytes;
	uint64_t max;
	const struct type *type;	/* NULL: none has been named */
};

void bytes_add(struct bytes *bytes, const void *data, size_t size)
{
	if (bytes->size + size > bytes->room) {
		bytes->room = (bytes->size + size) * 2;
		bytes->data = realloc(bytes->data, bytes->room);
		if (!bytes->data)
			abort();
	}
	if (data)
		memcpy(bytes->data + bytes->size, data, size);
	else if (size)
		memset(bytes->data + bytes->size, 0, size);
	bytes->size += size;
}

/* True if @count more values of @size bytes have room. */
static bool has_room(struct contents *c, uint64_t count, uint64_t size)
{
	uint64_t left = c->max - c->bytes->size;

	if (c->bytes->size <= c->max && count <= left / size)
		return true;
	return lex_error(c->lex, "these contents are longer than %" PRIu64 " bytes", c->max);
}

/* The bits of a floating-point value of the present type. */
static uint64_t float_bits(const struct type *type, double value)
{
	uint64_t bits = 0;
	float narrow = (float)value;

	switch (type->bytes) {
	case 2:
		return half_from_double(value);
	case 4:
		memcpy(&bits, &narrow, 4);
		return bits;
	default:
		memcpy(&bits, &value, 8);
		return bits;
	}
}

static void add_value(struct contents *c, uint64_t bits)
{
	uint8_t out[8];

	for (unsigned int i = 0; i < 8; i++)
		out[i] = (uint8_t)(bits >> (8 * i));
	if (has_room(c, 1, c->type->bytes))
		bytes_add(c->bytes, out, c->type->bytes);
}

static bool has_type(struct contents *c)
{
	return c->type || lex_error(c->lex, "name a type (u32, f32, ...) before the first value");
}

/* One value in the present type's bits. */
static uint64_t value(struct contents *c)
{
	if (!has_type(c))
		return 0;
	if (lex_is(c->lex, "&")) {
		if (c->type->bytes != 8 || c->type->is_float)
			lex_error(c->lex, "an address is a u64");
		return contents_address(c->lex, c->script);
	}
	if (c->type->is_float)
		return float_bits(c->type, lex_double(c->lex, "a number"));
	return lex_integer(c->lex, "an integer", 8 * c->type->bytes);
}

/* fill COUNT VALUE */
static void fill(struct contents *c)
{
	uint64_t count = lex_unsigned(c->lex, "a count", CONTENTS_MAX);
	uint64_t bits = value(c);

	if (!c->type || !has_room(c, count, c->type->bytes))
		return;
	while (count-- && !c->lex->error[0])
		add_value(c, bits);
}

/* ramp COUNT FIRST STEP [mod N]: FIRST + i * STEP, or FIRST + (i mod N) * STEP */
static void ramp(struct contents *c)
{
	uint64_t count = lex_unsigned(c->lex, "a count", CONTENTS_MAX);
	uint64_t first = 0, step = 0, mod = UINT64_MAX;
	double from = 0, by = 0;

	if (!has_type(c))
		return;
	if (c->type->is_float) {
		from = lex_double(c->lex, "the first value");
		by = lex_double(c->lex, "a step");
	} else {
		first = lex_integer(c->lex, "the first value", 8 * c->type->bytes);
		step = lex_integer(c->lex, "a step", 64);
	}
	if (lex_take(c->lex, "mod"))
		mod = lex_unsigned(c->lex, "a modulus", CONTENTS_MAX);
	if (!mod)
		lex_error(c->lex, "nothing can be taken modulo 0");
	if (c->lex->error[0] || !has_room(c, count, c->type->bytes))
		return;
	for (uint64_t i = 0; i < count; i++)
		add_value(c, c->type->is_float ?
			  float_bits(c->type, from + (double)(i % mod) * by) :
			  first + i % mod * step);
}

/* scatter COUNT FACTOR SHIFT: ((i * FACTOR) mod 2^32) >> SHIFT, of integer types */
static void scatter(struct contents *c)
{
	uint64_t count = lex_unsigned(c->lex, "a count", CONTENTS_MAX);
	uint64_t factor = lex_unsigned(c->lex, "a factor", UINT32_MAX);
	uint64_t shift = lex_unsigned(c->lex, "a shift", 31);

	if (!has_type(c))
		return;
	if (c->type->is_float)
		lex_error(c->lex, "scatter makes integers, the type is %s", c->type->name);
	if (c->lex->error[0] || !has_room(c, count, c->type->bytes))
		return;
	for (uint64_t i = 0; i < count; i++)
		add_value(c, (uint32_t)(i * factor) >> shift);
}

static void zero(struct contents *c)
{
	uint64_t count = lex_unsigned(c->lex, "a number of bytes", CONTENTS_MAX);

	if (has_room(c, count, 1))
		bytes_add(c->bytes, NULL, count);
}

static void item(struct contents *c);

/* repeat COUNT { ... } */
static void repeat(struct contents *c)
{
	uint64_t count = lex_unsigned(c->lex, "a count", CONTENTS_MAX);
	struct bytes once = { 0 };
	struct contents inner = *c;

	inner.bytes = &once;
	lex_expect(c->lex, "{");
	while (!c->lex->error[0] && !lex_take(c->lex, "}"))
		item(&inner);
	c->type = inner.type;
	if (!c->lex->error[0] && once.size && has_room(c, count, once.size)) {
		while (count--)
			bytes_add(c->bytes, once.data, once.size);
	}
	free(once.data);
}

static void from_file(struct contents *c)
{
	char *name = lex_string(c->lex, "the name of a file in quotes");

	if (name)
		contents_file(c->lex, c->script, name, c->bytes, c->max);
	free(name);
}

static void item(struct contents *c)
{
	static const struct {
		const char *word;
		void (*fn)(struct contents *c);
	} patterns[] = {
		{ "fill", fill }, { "ramp", ramp }, { "scatter", scatter }, { "zero", zero },
		{ "repeat", repeat }, { "file", from_file },
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (lex_take(c->lex, types[i].name)) {
			c->type = &types[i];
			return;
		}
	}
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		if (lex_take(c->lex, patterns[i].word)) {
			patterns[i].fn(c);
			return;
		}
	}
	if (c->lex->kind == LEX_NUMBER || lex_is(c->lex, "&") || lex_is(c->lex, "inf") ||
	    lex_is(c->lex, "nan")) {
		uint64_t bits = value(c);

		if (!c->lex->error[0])
			add_value(c, bits);
	} else {
		lex_error(c->lex, "expected a type, a value, a pattern or '}', found '%s'",
			  c->lex->token);
	}
}

void contents_read(struct lex *lex, const struct script *script, struct bytes *bytes, uint64_t max)
{
	struct contents c = { .lex = lex, .script = script, .bytes = bytes, .max = max };

	lex_expect(lex, "{");
	while (!lex->error[0] && !lex_take(lex, "}"))
		item(&c);
}

void contents_file(struct lex *lex, const struct script *script, const char *name,
		   struct bytes *bytes, uint64_t max)
{
	const char *slash = strrchr(script->path, '/');
	int dir = slash && name[0] != '/' ? (int)(slash - script->path) + 1 : 0;
	char path[4096], part[65536];
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "%.*s%s", dir, script->path, name);
	f = fopen(path, "rb");
	if (!f) {
		lex_error(lex, "%s: %s", path, strerror(errno));
		return;
	}
	while ((n = fread(part, 1, sizeof(part), f))) {
		if (n > max - bytes->size) {
			lex_error(lex, "%s is longer than the %" PRIu64 " bytes it is for", path,
				  max);
			break;
		}
		bytes_add(bytes, part, n);
	}
	if (ferror(f))
		lex_error(lex, "%s: %s", path, strerror(errno));
	fclose(f);
}

uint64_t contents_address(struct lex *lex, const struct script *script)
{
	const struct region *region;
	uint64_t va;

	if (!lex_take(lex, "&"))
		return lex_unsigned(lex, "an address", UINT64_MAX);
	region = lex->kind == LEX_WORD ? script_region(script, lex->token) : NULL;
	if (!region) {
		for (size_t i = 0; i < script->labels; i++) {
			if (!strcmp(script->label[i].name, lex->token)) {
				va = script->label[i].va;
				lex_next(lex);
				return va;
			}
		}
		lex_error(lex, "no buffer or label '%s' stands above", lex->token);
		return 0;
	}
	va = region->va;
	lex_next(lex);
	if (lex_take(lex, "+"))
		return va + lex_unsigned(lex, "an offset", UINT64_MAX);
	if (lex->kind == LEX_NUMBER && (lex->token[0] == '+' || lex->token[0] == '-'))
		return va + lex_integer(lex, "an offset", 64);
	return va;
}

uint32_t contents_word(struct lex *lex, enum word_type type)
{
	static const char *const names[] = { "u8", "u16", "u32", "f16", "f32" };
	struct contents c = { .lex = lex };

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (!strcmp(types[i].name, names[type]))
			c.type = &types[i];
	}
	/* bits of a float may be given as well: 0x… */
	if (c.type->is_float && !strncmp(lex->token, "0x", 2))
		return (uint32_t)lex_integer(lex, "a number", 8 * c.type->bytes);
	return (uint32_t)value(&c);
}
