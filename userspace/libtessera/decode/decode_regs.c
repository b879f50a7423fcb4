// SPDX-License-Identifier: MIT
/*
 * Register dumps: words of the register BAR with the names and fields of the description.
 *
 * In: pairs of offset and value, as a debugger, QEMU's monitor or the driver's debugfs gives them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "decode_print.h"
#include <tessera/decode.h>
#include "tsr_desc.h"

/* One register out of one word or two. */
struct found {
	const struct tsr_desc_reg *reg;	/* NULL: nothing there */
	uint32_t instance, index;
	uint32_t offset;		/* of the first word given */
	uint64_t value;
	bool low_only;			/* 64-bit register of which only one half was given */
	bool high_only;
};

/* The register at words[0], together with words[1] if that is its high half; returns words used. */
static size_t take(const struct tsr_decode_register *words, size_t count, struct found *found)
{
	uint32_t instance, index;
	bool upper;

	memset(found, 0, sizeof(*found));
	found->offset = words[0].offset;
	found->value = words[0].value;
	if (words[0].offset % 4)
		return 1;
	found->reg = tsr_desc_reg_at(words[0].offset, &found->instance, &found->index, &upper);
	if (!found->reg || found->reg->width == 32)
		return 1;
	if (upper) {
		found->high_only = true;
		found->value <<= 32;
		return 1;
	}
	if (count > 1 && words[1].offset == words[0].offset + 4 &&
	    tsr_desc_reg_at(words[1].offset, &instance, &index, &upper) == found->reg && upper) {
		found->value |= (uint64_t)words[1].value << 32;
		return 2;
	}
	found->low_only = true;
	return 1;
}

/* BLOCK[n].REGISTER[i], with the half if only one is there. */
static void format_name(char *text, size_t size, const struct found *found)
{
	const struct tsr_desc_reg *reg = found->reg;
	char instance[16] = "", index[16] = "";

	if (reg->block->numbered)
		snprintf(instance, sizeof(instance), "[%" PRIu32 "]", found->instance);
	if (reg->count > 1)
		snprintf(index, sizeof(index), "[%" PRIu32 "]", found->index);
	snprintf(text, size, "%s%s.%s%s%s", reg->block->name, instance, reg->name, index,
		 found->low_only ? ".low" : found->high_only ? ".high" : "");
}

/* The fields of a register that lie in the words given: a field needs all its bits. */
static uint32_t visible_fields(const struct found *found, struct tsr_desc_field *fields)
{
	const struct tsr_desc_reg *reg = found->reg;
	uint32_t f, n = 0;

	for (f = 0; f < reg->num_fields; f++) {
		if ((found->low_only && reg->fields[f].hi > 31) ||
		    (found->high_only && reg->fields[f].lo < 32))
			continue;
		fields[n++] = reg->fields[f];
	}
	if (!reg->num_fields && reg->values && !found->low_only && !found->high_only) {
		/* the whole register is an enum or a set of bits */
		memset(&fields[n], 0, sizeof(fields[n]));
		fields[n].name = reg->values->name;
		fields[n].values = reg->values;
		fields[n].align = 1;
		fields[n].max = UINT64_MAX;
		fields[n].hi = (uint8_t)(reg->width - 1);
		n++;
	}
	return n;
}

/* Complaints about one register; printed as lines unless JSON. Returns how many. */
static unsigned long check(FILE *out, const struct found *found,
			   const struct tsr_desc_field *fields, uint32_t num_fields, bool quiet)
{
	unsigned long errors = 0;
	uint32_t f;

	for (f = 0; f < num_fields; f++) {
		uint64_t value = tsr_desc_field_get(&fields[f], &found->value);

		if (!fields[f].values || fields[f].values->is_bitset ||
		    tsr_desc_value_name(fields[f].values, value))
			continue;
		errors++;
		if (!quiet)
			fprintf(out, "    error: %s is %" PRIu64 ", no value of %s\n",
				fields[f].name, value, fields[f].values->name);
	}
	return errors;
}

static unsigned long print_register(FILE *out, const struct found *found, bool json, bool first)
{
	struct tsr_desc_field fields[64];
	char name[128] = "";
	uint32_t num_fields = 0;
	int width = found->reg && found->reg->width == 64 && !found->low_only && !found->high_only ?
		    16 : 8;
	uint64_t shown = found->high_only ? found->value >> 32 : found->value;

	if (found->reg) {
		format_name(name, sizeof(name), found);
		num_fields = visible_fields(found, fields);
	}
	if (json) {
		fprintf(out, "%s\n  {\"offset\": %" PRIu32 ", \"name\": ", first ? "" : ",",
			found->offset);
		fprintf(out, found->reg ? "\"%s\"" : "null", name);
		fprintf(out, ", \"value\": \"0x%0*" PRIx64 "\", ", width, shown);
		tsr_print_json_fields(out, fields, num_fields, &found->value, 1);
		fputc('}', out);
	} else {
		fprintf(out, "0x%05" PRIx32 "  %-24s 0x%0*" PRIx64, found->offset,
			found->reg ? name : "?", width, shown);
		if (num_fields)
			tsr_print_fields(out, fields, num_fields, &found->value, 1, 36 + width, 52);
		fputc('\n', out);
		if (!found->reg)
			fprintf(out, "    error: no register at 0x%" PRIx32 "\n", found->offset);
	}
	return (found->reg ? 0 : 1) + check(out, found, fields, num_fields, json);
}

/* Where reads give 0 and mean nothing: no register, or one that can only be written. */
static bool reads_zero(const struct found *found)
{
	return found->reg ? found->reg->access == TSR_DESC_WO : found->offset % 4 == 0;
}

unsigned long tsr_decode_registers(FILE *out, const struct tsr_decode_register *words, size_t count,
				   uint32_t flags)
{
	bool json = flags & TSR_DECODE_JSON;
	unsigned long errors = 0;
	bool first = true;
	size_t i = 0;

	if (json)
		fputc('[', out);
	while (i < count) {
		struct found found;

		i += take(&words[i], count - i, &found);
		if (!found.value && reads_zero(&found))
			continue;
		errors += print_register(out, &found, json, first);
		first = false;
	}
	if (json)
		fputs(first ? "]\n" : "\n]\n", out);
	return errors;
}
