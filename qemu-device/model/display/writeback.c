/* SPDX-License-Identifier: MIT */
/* Writeback: rows of a frame that has been composed go to memory. */
#include "display.h"

#include "memory/mem.h"

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

bool tsr_writeback_row(struct tsr_composition *c, struct tsr_mem *mem, const uint32_t *frame)
{
	const uint32_t width = c->picture.width;
	const uint64_t len = (uint64_t)width * c->writeback.format.bytes;
	enum tsr_step step;

	convert(&c->writeback.format, frame + (size_t)c->written * width, c->line, width);
	c->cycles += width;
	step = tsr_mem_write(mem, c->writeback.addr + (uint64_t)c->written * c->writeback.pitch,
			     c->line, len);
	if (step == TSR_STEP_PENDING && c->patient)
		return false;
	if (step == TSR_STEP_DONE) {
		tsr_compose_bytes(c, len);
		c->written++;
	} else {
		c->write_failed = true;
		c->written = c->picture.height;
	}
	return true;
}
