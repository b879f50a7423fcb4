/* SPDX-License-Identifier: MIT */
/* Frames: planes put on top of each other, row by row, on a thread that has nothing of a queue. */
#include "display.h"

#include <stdlib.h>
#include <string.h>

#include "gpu.h"

#define PATIENCE 2			/* vertical blanks for which the host is waited for */

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

/* The newest frame there is. */
static const struct tsr_front *last_frame(const struct tsr_head *head)
{
	return head->late.pixels ? &head->late : &head->front;
}

/* Row c->row is that of the frame before, if there is one. */
static void repeat_row(const struct tsr_head *head, struct tsr_composition *c, uint32_t *row)
{
	const struct tsr_front *last = last_frame(head);
	const uint32_t width = c->picture.width;

	if (last->pixels && last->width == width && c->row < last->height)
		memcpy(row, last->pixels + (size_t)c->row * width, 4 * (size_t)width);
}

/*
 * Row c->row. Colors are kept in fp32 from the first plane on that is not just copied to the end,
 * so that there is one rounding.
 */
static enum tsr_row compose_row(const struct tsr_head *head, struct tsr_composition *c,
				struct tsr_mem *mem, float (*colors)[3])
{
	const struct tsr_picture *picture = &c->picture;
	uint32_t *row = c->pixels + (size_t)c->row * picture->width, from, to;
	const uint32_t back = picture->shadow.background & 0xffffff;
	bool blended = false;

	if (c->row < c->rows.from || c->row >= c->rows.to) {
		repeat_row(head, c, row);
		return TSR_ROW_READ;
	}
	for (uint32_t x = 0; x < picture->width; x++)
		row[x] = back;
	for (unsigned int i = 0; i < TSR_PLANES; i++) {
		const struct tsr_plane *p = &picture->plane[picture->order[i]];
		const uint8_t *texels = NULL;
		enum tsr_row result;

		if (!tsr_plane_span(picture, p, c->row, &from, &to))
			continue;
		result = tsr_plane_row(c, mem, picture->order[i], c->row, &texels);
		if (result == TSR_ROW_LOST)
			repeat_row(head, c, row);
		if (result != TSR_ROW_READ)
			return result;
		if (p->opaque && !blended) {
			copy_row(p, texels, row + from, to - from);
			continue;
		}
		if (!blended)
			unpack(row, colors, picture->width);
		blended = true;
		blend_row(p, texels, colors + from, to - from);
	}
	if (blended)
		pack(colors, row, picture->width);
	return TSR_ROW_READ;
}

/* ---- CRC ------------------------------------------------------------------------------------- */

static uint32_t crc_byte(uint32_t crc)
{
	for (unsigned int i = 0; i < 8; i++)
		crc = crc >> 1 ^ (0xedb88320u & -(crc & 1));
	return crc;
}

/* A pixel at a time: table[n] is what a byte has become n bytes later. */
static uint32_t crc_of(const uint32_t *pixel, size_t n)
{
	uint32_t table[3][256], crc = UINT32_MAX;

	for (uint32_t i = 0; i < 256; i++) {
		table[0][i] = crc_byte(i);
		for (unsigned int k = 1; k < 3; k++)
			table[k][i] = crc_byte(table[k - 1][i] & 0xff) ^ table[k - 1][i] >> 8;
	}
	for (; n; n--, pixel++)
		crc = table[2][(crc ^ *pixel >> 16) & 0xff] ^
		      table[1][(crc >> 8 ^ *pixel >> 8) & 0xff] ^
		      table[0][(crc >> 16 ^ *pixel) & 0xff] ^ crc >> 24;
	return ~crc;
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
static struct tsr_rows rows_to_read(struct tsr_head *head)
{
	const struct tsr_front *last = last_frame(head);
	const struct tsr_rows dirty = head->dirty;
	const bool same = last->pixels && last->width == head->shown.width &&
			  last->height == head->shown.height;

	head->dirty = (struct tsr_rows){ 0, 0 };
	if (!same || !head->partial || head->crc_due || head->write_due || !head->skipped) {
		head->skipped = 0;
		return (struct tsr_rows){ 0, UINT32_MAX };
	}
	return dirty;
}

/* Whether the host, which wants a frame, has it already. */
static bool is_news(struct tsr_head *head)
{
	if (!head->partial)
		return true;
	head->skipped = (head->skipped + 1) % TSR_DAMAGE_FRAMES;
	return !head->skipped || !last_frame(head)->pixels || head->dirty.from < head->dirty.to;
}

bool tsr_compose_request(struct tsr_gpu *gpu, struct tsr_head *head)
{
	if (!head->begun && !head->requested && !is_news(head))
		return false;
	head->requested = true;
	tsr_compose_begin(gpu, head);
	return true;
}

void tsr_compose_begin(struct tsr_gpu *gpu, struct tsr_head *head)
{
	struct tsr_composition *c = &head->composition;
	const bool waits = head->pending && !head->write_due;

	/* a commit that waits goes first, or a frame might always be on its way */
	if (head->begun || !head->on || waits ||
	    !(head->requested || head->crc_due || head->write_due))
		return;
	*c = (struct tsr_composition){
		.picture = head->shown, .frame = head->frame, .crc = head->crc_due,
		.rows = rows_to_read(head), .writes = head->write_due,
	};
	if (c->writes)
		tsr_writeback_decode(&c->writeback, &head->shown.shadow);
	head->patience = PATIENCE;
	head->requested = head->crc_due = head->write_due = false;
	atomic_store(&head->write_stop, false);
	head->begun = true;
	atomic_fetch_or(&gpu->display.wanted, 1u << head->index);
	tsr_runners_interrupt(gpu);	/* a thread may be needed */
	tsr_workers_wake(gpu);
}

static bool composed(const struct tsr_composition *c)
{
	return c->row == c->picture.height && (!c->writes || c->written == c->picture.height);
}

/* Rows, until all are there, the thread is wanted, or the host is. False: no memory. */
static bool compose(const struct tsr_head *head, struct tsr_composition *c, struct tsr_mem *mem,
		    uint64_t host_seq)
{
	const size_t pixels = (size_t)c->picture.width * c->picture.height;
	float (*colors)[3] = malloc(c->picture.width * sizeof(*colors));

	if (!c->pixels)
		c->pixels = malloc(pixels * sizeof(*c->pixels));
	if (!colors || !c->pixels) {
		free(colors);
		return false;
	}
	c->stuck_seq = 0;
	while (c->row < c->picture.height &&
	       !atomic_load_explicit(&mem->runner->attention, memory_order_relaxed)) {
		switch (compose_row(head, c, mem, colors)) {
		case TSR_ROW_STUCK:
			c->stuck_seq = host_seq + 1;
			free(colors);
			return true;
		case TSR_ROW_LOST:
			c->underrun_addr = c->underrun ? c->underrun_addr : c->lost_addr;
			c->underrun = true;
			break;
		default:
			break;
		}
		c->row++;
	}
	free(colors);
	if (c->writes && c->row == c->picture.height &&
	    !tsr_writeback_run(c, mem, &head->write_stop))
		c->stuck_seq = host_seq + 1;
	return true;
}

static void note_crc(struct tsr_gpu *gpu, struct tsr_head *head, uint32_t value)
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
	tsr_head_raise(gpu, head, TSR_DISPLAY_IRQ_CRC);
}

/* The pixels are those of the last frame now. Lock held. */
static void put_front(struct tsr_head *head, struct tsr_composition *c)
{
	struct tsr_front *front = head->lent ? &head->late : &head->front;

	free(head->late.pixels);
	head->late.pixels = NULL;
	if (!head->lent)
		free(front->pixels);
	*front = (struct tsr_front){
		c->pixels, c->picture.width, c->picture.height, ++head->serial,
	};
	c->pixels = NULL;
}

/* A writeback is over. Lock held. */
static void end_writeback(struct tsr_gpu *gpu, struct tsr_head *head, bool failed)
{
	if (atomic_load(&head->write_stop))
		return;			/* it was over when the head went off */
	head->write_pending = false;
	head->write_failed = failed;
	tsr_head_raise(gpu, head, TSR_DISPLAY_IRQ_WRITEBACK);
}

/* The frame is complete, @crc if one was wanted. Lock held. */
static void complete(struct tsr_gpu *gpu, struct tsr_head *head, uint32_t crc)
{
	struct tsr_composition *c = &head->composition;
	/* the head has gone off since: nobody sees it, and its memory may be gone */
	const bool stale = !head->on || c->frame < head->first_frame;
	const bool wrote = c->writes, failed = c->write_failed;

	if (c->underrun)
		head->dirty = (struct tsr_rows){ 0, UINT32_MAX };
	if (c->underrun && !stale) {
		head->underrun_addr = c->underrun_addr;
		tsr_head_raise(gpu, head, TSR_DISPLAY_IRQ_UNDERRUN);
	}
	if (c->crc && c->pixels && !stale && c->frame >= head->first_crc)
		note_crc(gpu, head, crc);
	if (c->pixels && !stale)
		put_front(head, c);
	tsr_compose_drop(head);
	if (head->flip_deferred)
		tsr_head_raise(gpu, head, TSR_DISPLAY_IRQ_FLIP);
	head->flip_deferred = false;
	if (wrote)
		end_writeback(gpu, head, failed);
}

/* A head with whose frame a runner can go on; NULL: none. Lock held. */
static struct tsr_head *next_head(struct tsr_gpu *gpu)
{
	const uint64_t seq = atomic_load(&gpu->host_seq);

	for (unsigned int i = 0; i < gpu->display.heads; i++) {
		struct tsr_head *head = &gpu->display.head[i];
		const struct tsr_composition *c = &head->composition;

		if (head->begun && !head->running && (c->stuck_seq != seq + 1 || !head->patience))
			return head;
	}
	return NULL;
}

/* One slice of the composition, without the lock. *@crc: of a frame that is complete. */
static void compose_slice(struct tsr_runner *runner, struct tsr_head *head, uint64_t host_seq,
			  uint32_t *crc)
{
	struct tsr_composition *c = &head->composition;
	struct tsr_mem mem = tsr_runner_mem(runner, NULL, 0, TSR_UNIT_NONE);

	if (!compose(head, c, &mem, host_seq)) {
		c->underrun = c->write_failed = true;
		c->row = c->written = c->picture.height;
	}
	if (composed(c) && c->crc && c->pixels)
		*crc = crc_of(c->pixels, (size_t)c->picture.width * c->picture.height);
	runner->port.lookups[0] = runner->port.lookups[1] = 0;	/* no queue counts them */
}

bool tsr_compose_run(struct tsr_runner *runner)
{
	struct tsr_gpu *gpu = runner->gpu;
	uint64_t seq = atomic_load(&gpu->host_seq);
	struct tsr_head *head;
	uint32_t crc = 0;
	bool done;

	if (!atomic_load_explicit(&gpu->display.wanted, memory_order_relaxed) ||
	    tsr_gpu_stands(gpu))
		return false;
	head = next_head(gpu);
	if (!head) {
		atomic_store(&gpu->display.wanted, 0);
		return false;
	}
	head->running = true;
	head->composition.patient = head->patience;
	runner->composes = true;
	tsr_tlb_sync(runner);
	atomic_store_explicit(&runner->attention, false, memory_order_relaxed);
	pthread_mutex_unlock(&gpu->lock);
	compose_slice(runner, head, seq, &crc);
	pthread_mutex_lock(&gpu->lock);
	head->running = false;
	runner->composes = false;
	tsr_tlb_sync(runner);
	done = composed(&head->composition);
	if (done) {
		complete(gpu, head, crc);
		tsr_compose_begin(gpu, head);
	}
	tsr_inval_complete(gpu);
	tsr_gpu_runner_idle(gpu);
	if (done && gpu->ops->frame) {
		unsigned int index = head->index;

		pthread_mutex_unlock(&gpu->lock);
		gpu->ops->frame(gpu->host, index);
		pthread_mutex_lock(&gpu->lock);
	}
	return true;
}
