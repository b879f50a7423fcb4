/* SPDX-License-Identifier: MIT */
/* Writeback: rows of a frame that has been composed go to memory. */
#include "display.h"

#include <stdlib.h>

#include "gpu.h"

/* Words of struct tsr_shadow's task. */
enum {
	DAMAGE_POS, DAMAGE_SIZE, ADDR_LOW, ADDR_HIGH, FORMAT, PITCH
};

_Static_assert(TSR_DISPLAY_WRITEBACK_PITCH__OFFSET - TSR_DISPLAY_DAMAGE_POS__OFFSET == 4 * PITCH &&
	       PITCH == TSR_TASK_WORDS - 1, "the registers of damage and writeback");

bool tsr_writeback_decode(struct tsr_writeback *w, const struct tsr_shadow *shadow)
{
	const uint32_t width = shadow->mode_h & 0xffff, height = shadow->mode_v & 0xffff;

	*w = (struct tsr_writeback){
		.addr = shadow->task[ADDR_LOW] | (uint64_t)shadow->task[ADDR_HIGH] << 32,
		.pitch = shadow->task[PITCH],
	};
	return w->addr && w->addr % 64 == 0 &&
	       tsr_picture_format(&w->format, shadow->task[FORMAT]) &&
	       w->pitch % w->format.bytes == 0 && w->pitch >= width * w->format.bytes &&
	       w->pitch <= TSR_SCANOUT_PITCH_MAX &&
	       w->addr <= UINT64_MAX - (uint64_t)height * w->pitch;
}

static void convert(const struct tsr_format *format, const uint32_t *pixel, uint8_t *to, uint32_t n)
{
	for (; n; n--, pixel++, to += format->bytes) {
		union tsr_texel t = { .f = { 0, 0, 0, 1 } };

		for (unsigned int c = 0; c < 3; c++)
			t.f[c] = (float)(*pixel >> (16 - 8 * c) & 0xff) / 255;
		tsr_format_store(format, to, &t);
	}
}

bool tsr_writeback_run(struct tsr_composition *c, struct tsr_mem *mem, const atomic_bool *stop)
{
	const uint32_t width = c->picture.width, bytes = c->writeback.format.bytes;
	uint8_t *row = malloc((size_t)width * bytes);
	enum tsr_step step = TSR_STEP_DONE;

	while (row && c->written < c->picture.height && step == TSR_STEP_DONE &&
	       !atomic_load_explicit(stop, memory_order_relaxed) &&
	       !atomic_load_explicit(&mem->runner->attention, memory_order_relaxed)) {
		convert(&c->writeback.format, c->pixels + (size_t)c->written * width, row, width);
		step = tsr_mem_write(mem, c->writeback.addr +
				     (uint64_t)c->written * c->writeback.pitch, row,
				     (uint64_t)width * bytes);
		c->written += step == TSR_STEP_DONE;
	}
	tsr_mem_flush_dirty(mem->port);
	free(row);
	if (step == TSR_STEP_PENDING && c->patient)
		return false;
	if (!row || step != TSR_STEP_DONE || atomic_load_explicit(stop, memory_order_relaxed)) {
		c->write_failed = true;
		c->written = c->picture.height;
	}
	return true;
}
