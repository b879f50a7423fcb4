// SPDX-License-Identifier: MIT
/* Output of the debugger, see step_show.h. */
#include <inttypes.h>
#include <string.h>

#include "step_show.h"

#define ROW	8			/* lanes, or words, of a line */
#define SLOTS	8			/* of the scoreboard */

const char *show_warp(const struct tsr_shader_view *view, char *text, size_t size)
{
	snprintf(text, size, "group (%u, %u, %u) warp %u", view->group[0], view->group[1],
		 view->group[2], view->warp);
	return text;
}

/* Lanes as "0-3,7". */
static const char *lanes_text(uint16_t lanes, char *text, size_t size)
{
	size_t n = 0;

	text[0] = '\0';
	for (unsigned int i = 0; i < TSR_WARP_LANES; i++) {
		unsigned int last = i;

		if (!(lanes >> i & 1))
			continue;
		while (last + 1 < TSR_WARP_LANES && lanes >> (last + 1) & 1)
			last++;
		n += (size_t)snprintf(text + n, size - n, last > i ? "%s%u-%u" : "%s%u",
				      n ? "," : "", i, last);
		i = last;
	}
	if (!n)
		snprintf(text, size, "none");
	return text;
}

void show_stop(FILE *out, const struct script *script, const struct tsr_shader_view *view)
{
	char where[LEX_TOKEN_MAX], warp[80], lanes[80];

	fprintf(out, "%s: %s, lanes %s\n", show_warp(view, warp, sizeof(warp)),
		script_where(script, view->clause, where, sizeof(where)),
		lanes_text(view->executed, lanes, sizeof(lanes)));
}

void show_lanes(FILE *out, const struct script *script, const struct tsr_shader_view *view)
{
	char text[LEX_TOKEN_MAX];
	uint16_t left = view->live;

	fprintf(out, "  executing %s", lanes_text(view->executed, text, sizeof(text)));
	fprintf(out, "; live %s", lanes_text(view->live, text, sizeof(text)));
	fprintf(out, "; at a barrier %s\n", lanes_text(view->parked, text, sizeof(text)));
	while (left) {
		unsigned int first = (unsigned int)__builtin_ctz(left);
		uint16_t same = 0;

		for (unsigned int i = first; i < TSR_WARP_LANES; i++) {
			if (left >> i & 1 && view->pc[i] == view->pc[first])
				same |= (uint16_t)(1u << i);
		}
		left &= (uint16_t)~same;
		fprintf(out, "  lanes %s at", lanes_text(same, text, sizeof(text)));
		fprintf(out, " %s\n", script_where(script, view->pc[first], text, sizeof(text)));
	}
	for (unsigned int i = 0; i < SLOTS; i++) {
		if (view->outstanding[i])
			fprintf(out, "  scoreboard slot %u: %u not answered\n", i,
				view->outstanding[i]);
	}
}

/* A word as "0x3f800000  1065353216  1". */
static void print_value(FILE *out, uint32_t word)
{
	float f;

	memcpy(&f, &word, sizeof(f));
	fprintf(out, "0x%08" PRIx32 "  %" PRId32 "  %g", word, (int32_t)word, (double)f);
}

void show_register(FILE *out, unsigned int r, const union tsr_lanes *value, uint16_t lanes)
{
	unsigned int first = lanes ? (unsigned int)__builtin_ctz(lanes) : 0;
	bool same = true;

	for (unsigned int i = 0; i < TSR_WARP_LANES; i++)
		same &= !(lanes >> i & 1) || value->u[i] == value->u[first];
	if (same) {
		fprintf(out, "  r%-2u ", r);
		print_value(out, value->u[first]);
		fprintf(out, "  in all of them\n");
		return;
	}
	for (unsigned int row = 0; row < TSR_WARP_LANES; row += ROW) {
		if (!(lanes >> row & ((1u << ROW) - 1)))
			continue;
		if (row && lanes & ((1u << ROW) - 1))
			fprintf(out, "      ");
		else
			fprintf(out, "  r%-2u ", r);
		fprintf(out, "%2u:", row);
		for (unsigned int i = row; i < row + ROW; i++) {
			if (lanes >> i & 1)
				fprintf(out, " %08" PRIx32, value->u[i]);
			else
				fprintf(out, " --------");
		}
		fputc('\n', out);
	}
}

void show_changes(FILE *out, const struct tsr_shader_view *view,
		  const union tsr_lanes before[TSR_REGISTERS])
{
	for (unsigned int r = 0; r < TSR_REGISTERS; r++) {
		const union tsr_lanes *now = &view->reg[r * TSR_BUNDLE_WARPS];
		uint16_t changed = 0;

		for (unsigned int i = 0; i < TSR_WARP_LANES; i++) {
			if (now->u[i] != before[r].u[i])
				changed |= (uint16_t)(1u << i);
		}
		if (changed)
			show_register(out, r, now, changed);
	}
}

static void print_words(FILE *out, const uint8_t *data, unsigned int count, char kind)
{
	for (unsigned int i = 0; i < count; i++) {
		uint32_t word;
		float f;

		memcpy(&word, data + 4 * (size_t)i, sizeof(word));
		memcpy(&f, &word, sizeof(f));
		if (i % ROW == 0)
			fprintf(out, "%s  +0x%-4x", i ? "\n" : "", 4 * i);
		if (kind == 'f')
			fprintf(out, " %10g", (double)f);
		else if (kind == 'd')
			fprintf(out, " %10" PRId32, (int32_t)word);
		else
			fprintf(out, " %08" PRIx32, word);
	}
	fputc('\n', out);
}

void show_memory(FILE *out, const struct machine *machine, uint64_t va, unsigned int count,
		 char kind)
{
	char where[LEX_TOKEN_MAX];
	const uint8_t *data = memory_at(&machine->memory, va, 4 * (uint64_t)count);

	if (!data) {
		fprintf(out, "  no memory is at 0x%" PRIx64 "\n", va);
		return;
	}
	fprintf(out, "  0x%" PRIx64 " (%s):\n", va,
		script_where(machine->script, va, where, sizeof(where)));
	print_words(out, data, count, kind);
}

void show_group_memory(FILE *out, const struct tsr_shader_view *view, uint32_t offset,
		       unsigned int count, char kind)
{
	uint64_t end = (uint64_t)offset + 4 * (uint64_t)count;

	if (end > view->group_memory_size) {
		fprintf(out, "  the group has %u bytes of group memory\n",
			view->group_memory_size);
		return;
	}
	fprintf(out, "  group memory + 0x%x:\n", offset);
	print_words(out, view->group_memory + offset, count, kind);
}
