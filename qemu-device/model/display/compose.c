/* SPDX-License-Identifier: MIT */
/* Frames: planes put on top of each other, row by row, on a thread of the device. */
#include "display.h"

#include <stdlib.h>
#include <string.h>

#include "memory/mem.h"

#define PATIENCE 2			/* vertical blanks for which the host is waited for */
#define WRITTEN_BYTES 8			/* of a pixel that is written back, at most */

/* ---- Pixels ---------------------------------------------------------------------------------- */

/* Component @c of what is in the bytes @texel, in the order of the result. */
static uint32_t byte_of(const struct tsr_format *format, const uint8_t *texel, unsigned int c)
{
	const unsigned int from = format->from[c];

	return from < 4 ? texel[from] : from == TSR_COMPONENT_ONE ? 0xff : 0;
}

static void copy_row(const struct tsr_plane *p, const uint8_t *texel, uint32_t *to, uint32_t n)
{
	static const uint8_t bgr[] = { TSR_COMPONENT_B, TSR_COMPONENT_G, TSR_COMPONENT_R };

	if (!memcmp(p->format.from, bgr, sizeof(bgr))) {
		memcpy(to, texel, 4 * (size_t)n);
		for (uint32_t x = 0; x < n; x++)
			to[x] &= 0xffffff;
		return;
	}
	for (; n; n--, texel += 4)
		*to++ = byte_of(&p->format, texel, 0) << 16 | byte_of(&p->format, texel, 1) << 8 |
			byte_of(&p->format, texel, 2);
}

static float limit(float value)
{
	if (!(value > 0))
		return 0;
	return value < 1 ? value : 1;
}

/* The texel's alpha as the plane uses it, and how much its colors count. */
static void weights(const struct tsr_plane *p, float alpha, float *color, float *hides)
{
	switch (p->blend) {
	case TSR_PLANE_BLEND_NONE:
		*color = p->alpha;
		*hides = p->alpha;
		break;
	case TSR_PLANE_BLEND_PREMULTIPLIED:
		*color = p->alpha;
		*hides = alpha * p->alpha;
		break;
	default:
		*color = alpha * p->alpha;
		*hides = alpha * p->alpha;
		break;
	}
}

static void blend_row(const struct tsr_plane *p, const uint8_t *texel, float (*to)[3], uint32_t n)
{
	for (; n; n--, to++, texel += p->format.bytes) {
		union tsr_texel t;
		float color, hides;

		tsr_format_load(&p->format, texel, &t);
		weights(p, limit(t.f[3]), &color, &hides);
		for (unsigned int c = 0; c < 3; c++)
			(*to)[c] = limit(t.f[c]) * color + (*to)[c] * (1 - hides);
	}
}

static void unpack(const uint32_t *pixel, float (*to)[3], uint32_t n)
{
	for (; n; n--, to++, pixel++)
		for (unsigned int c = 0; c < 3; c++)
			(*to)[c] = (float)(*pixel >> (16 - 8 * c) & 0xff) / 255;
}

static void pack(float (*from)[3], uint32_t *pixel, uint32_t n)
{
	for (; n; n--, from++, pixel++) {
		*pixel = 0;
		for (unsigned int c = 0; c < 3; c++)
			*pixel = *pixel << 8 | (uint32_t)(limit((*from)[c]) * 255 + 0.5f);
	}
}

/* ---- A row ----------------------------------------------------------------------------------- */

/* Take row c->row from the frame before, if there is one. */
static void repeat_row(struct tsr_composition *c)
{
	const size_t width = c->picture.width;

	if (c->before)
		memcpy(c->pixels, c->before + c->row * width, 4 * width);
}

/*
 * Compose row c->row in c->pixels. Colors are kept in fp32 from the first plane on that is not just
 * copied to the end, so that there is one rounding. Each pixel of the background and of a plane
 * costs a cycle.
 */
static enum tsr_row compose_row(struct tsr_composition *c, struct tsr_mem *mem)
{
	const struct tsr_picture *picture = &c->picture;
	const uint32_t back = picture->shadow.background & 0xffffff;
	uint32_t from, to;
	bool blended = false;

	c->cycles += picture->width;
	for (uint32_t x = 0; x < picture->width; x++)
		c->pixels[x] = back;
	if (c->row < c->rows.from || c->row >= c->rows.to) {
		repeat_row(c);
		return TSR_ROW_READ;
	}
	for (unsigned int i = 0; i < TSR_PLANES; i++) {
		const struct tsr_plane *p = &picture->plane[picture->order[i]];
		const uint8_t *texels = NULL;
		enum tsr_row result;

		if (!tsr_plane_span(picture, p, c->row, &from, &to))
			continue;
		result = tsr_plane_row(c, mem, picture->order[i], c->row, &texels);
		if (result == TSR_ROW_LOST)
			repeat_row(c);
		if (result != TSR_ROW_READ)
			return result;
		c->cycles += to - from;
		if (p->opaque && !blended) {
			copy_row(p, texels, c->pixels + from, to - from);
			continue;
		}
		if (!blended)
			unpack(c->pixels, c->colors, picture->width);
		blended = true;
		blend_row(p, texels, c->colors + from, to - from);
	}
	if (blended)
		pack(c->colors, c->pixels, picture->width);
	return TSR_ROW_READ;
}

/* ---- CRC ------------------------------------------------------------------------------------- */

static uint32_t crc_byte(uint32_t crc)
{
	for (unsigned int i = 0; i < 8; i++)
		crc = crc >> 1 ^ (0xedb88320u & -(crc & 1));
	return crc;
}

void tsr_crc_init(uint32_t table[3][256])
{
	for (uint32_t i = 0; i < 256; i++) {
		table[0][i] = crc_byte(i);
		for (unsigned int k = 1; k < 3; k++)
			table[k][i] = crc_byte(table[k - 1][i] & 0xff) ^ table[k - 1][i] >> 8;
	}
}

/* Add @n pixels to a CRC, each at once. */
static uint32_t crc_add(const uint32_t table[3][256], uint32_t crc, const uint32_t *pixel, size_t n)
{
	for (; n; n--, pixel++)
		crc = table[2][(crc ^ *pixel >> 16) & 0xff] ^
		      table[1][(crc >> 8 ^ *pixel >> 8) & 0xff] ^
		      table[0][(crc >> 16 ^ *pixel) & 0xff] ^ crc >> 24;
	return crc;
}

/* ---- A frame --------------------------------------------------------------------------------- */

void tsr_compose_drop(struct tsr_head *head)
{
	struct tsr_composition *c = &head->composition;

	for (unsigned int n = 0; n < TSR_PLANES; n++)
		free(c->band[n].texels);
	free(c->pixels);
	memset(c, 0, sizeof(*c));
	head->begun = false;
}

/* Which rows of the frame that begins now have to be read. */
static struct tsr_rows rows_to_read(struct tsr_head *head, const uint32_t *before)
{
	const struct tsr_rows dirty = head->dirty;

	head->dirty = (struct tsr_rows){ 0, 0 };
	if (!before || !head->partial || head->crc_due || head->write_due || !head->skipped) {
		head->skipped = 0;
		return (struct tsr_rows){ 0, UINT32_MAX };
	}
	return dirty;
}

/* False if the host, which requests a frame, already has the present one. */
static bool is_news(struct tsr_head *head)
{
	if (!head->partial)
		return true;
	head->skipped = (head->skipped + 1) % TSR_DAMAGE_FRAMES;
	return !head->skipped || !tsr_frame_memory_last(head) ||
	       head->dirty.from < head->dirty.to;
}

bool tsr_compose_request(struct tsr_display *display, struct tsr_head *head)
{
	if (!head->begun && !head->requested && !is_news(head))
		return false;
	head->requested = true;
	tsr_compose_begin(display, head);
	return true;
}

void tsr_compose_begin(struct tsr_display *display, struct tsr_head *head)
{
	const struct tsr_frame_memory *last = tsr_frame_memory_last(head);
	struct tsr_composition *c = &head->composition;
	const bool waits = head->pending && !head->write_due;
	const uint32_t *before = NULL;

	/* a commit that waits goes first, or a frame might always be on its way */
	if (head->begun || !head->on || waits ||
	    !(head->requested || head->crc_due || head->write_due))
		return;
	if (last && last->width == head->shown.width && last->height == head->shown.height)
		before = last->pixels;
	*c = (struct tsr_composition){
		.picture = head->shown, .frame = head->frame, .crc = head->crc_due,
		.crc_table = display->crc_table, .crc_value = UINT32_MAX, .before = before,
		.rows = rows_to_read(head, before), .writes = head->write_due,
	};
	if (c->writes)
		tsr_writeback_decode(&c->writeback, &head->shown.shadow);
	head->patience = PATIENCE;
	head->requested = head->crc_due = head->write_due = false;
	head->begun = true;
	atomic_fetch_or(&display->wanted, 1u << head->index);
	display->device.wake(display->device.opaque, true);
}

static bool composed(const struct tsr_composition *c)
{
	return c->row == c->picture.height && (!c->writes || c->written == c->picture.height);
}

/* Allocate the frame's memory and that of single rows. Returns false if there is none. */
static bool make_room(struct tsr_head *head, struct tsr_composition *c)
{
	const size_t width = c->picture.width;
	const size_t row = sizeof(*c->pixels) + sizeof(*c->colors) + WRITTEN_BYTES;

	if (!tsr_frame_memory_make(&head->back, c->picture.width, c->picture.height))
		return false;
	if (c->pixels)
		return true;
	c->pixels = malloc(width * row);
	if (!c->pixels)
		return false;
	c->colors = (void *)(c->pixels + width);
	c->line = (void *)(c->colors + width);
	return true;
}

/* Complete the next row of the frame. Returns false if the host has to be asked. */
static bool next_row(struct tsr_head *head, struct tsr_composition *c, struct tsr_mem *mem)
{
	const size_t width = c->picture.width;

	switch (compose_row(c, mem)) {
	case TSR_ROW_STUCK:
		return false;
	case TSR_ROW_LOST:
		c->underrun_addr = c->underrun ? c->underrun_addr : c->lost_addr;
		c->underrun = true;
		break;
	default:
		break;
	}
	memcpy(head->back.pixels + c->row * width, c->pixels, 4 * width);
	if (c->crc) {
		c->crc_value = crc_add(c->crc_table, c->crc_value, c->pixels, width);
		c->cycles += width;
	}
	c->row++;
	return true;
}

uint64_t tsr_compose_slice(struct tsr_head *head, struct tsr_mem *mem, uint64_t host_seq,
			   uint64_t limit)
{
	struct tsr_composition *c = &head->composition;
	bool answered = true;

	c->cycles = 0;
	c->stuck_seq = 0;
	if (!make_room(head, c)) {
		c->underrun = c->write_failed = true;
		c->row = c->written = c->picture.height;
	}
	while (answered && !composed(c) && c->cycles < limit &&
	       !tsr_port_stop_requested(mem->port)) {
		const uint64_t before = c->cycles;

		if (c->row < c->picture.height)
			answered = next_row(head, c, mem);
		else
			answered = tsr_writeback_row(c, mem, head->back.pixels);
		tsr_port_work(mem->port, c->cycles - before);
	}
	if (!answered)
		c->stuck_seq = host_seq + 1;
	tsr_mem_flush_dirty(mem->port);
	mem->port->lookups[0] = mem->port->lookups[1] = 0;	/* no queue counts them */
	return c->cycles;
}

static void note_crc(struct tsr_display *display, struct tsr_head *head, uint32_t value)
{
	if (!head->crc_on)
		return;
	if (head->crc_count == TSR_CRC_ENTRIES) {
		head->crc_first = (head->crc_first + 1) % TSR_CRC_ENTRIES;
		head->crc_count--;
	}
	head->crc[(head->crc_first + head->crc_count++) % TSR_CRC_ENTRIES] = (struct tsr_crc_entry){
		(uint32_t)head->composition.frame, value,
	};
	tsr_head_raise(display, head, TSR_DISPLAY_IRQ_CRC);
}

/* The frame is complete. Lock held. */
static void complete(struct tsr_display *display, struct tsr_head *head)
{
	struct tsr_composition *c = &head->composition;
	const bool wrote = c->writes, failed = c->write_failed;

	if (c->underrun) {
		head->dirty = (struct tsr_rows){ 0, UINT32_MAX };
		head->underrun_addr = c->underrun_addr;
		tsr_head_raise(display, head, TSR_DISPLAY_IRQ_UNDERRUN);
	}
	if (c->crc && head->back.pixels && c->frame >= head->first_crc)
		note_crc(display, head, ~c->crc_value);
	if (head->back.pixels)
		tsr_frame_memory_show(head);
	tsr_compose_drop(head);
	if (head->flip_deferred)
		tsr_head_raise(display, head, TSR_DISPLAY_IRQ_FLIP);
	head->flip_deferred = false;
	if (wrote) {
		head->write_pending = false;
		head->write_failed = failed;
		tsr_head_raise(display, head, TSR_DISPLAY_IRQ_WRITEBACK);
	}
}

struct tsr_head *tsr_compose_next(struct tsr_display *display, uint64_t host_seq)
{
	for (unsigned int i = 0; i < display->heads; i++) {
		struct tsr_head *head = &display->head[(display->turn + i) % display->heads];
		const struct tsr_composition *c = &head->composition;

		if (head->begun && !head->port &&
		    (c->stuck_seq != host_seq + 1 || !head->patience)) {
			display->turn = head->index + 1;
			return head;
		}
	}
	atomic_store(&display->wanted, 0);
	return NULL;
}

bool tsr_compose_end(struct tsr_display *display, struct tsr_head *head)
{
	if (!head->on || !composed(&head->composition))
		return false;
	complete(display, head);
	tsr_compose_begin(display, head);
	return true;
}
