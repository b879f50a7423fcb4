/* SPDX-License-Identifier: MIT */
#include "display.h"

#include <string.h>

#include "halves.h"
#include "memory/mem.h"
#include "state_io.h"

#define FIELD(f, v) ((uint32_t)(v) << f##__SHIFT & f##__MASK)

void tsr_head_raise(struct tsr_display *display, const struct tsr_head *head, uint32_t bits)
{
	if (bits)
		display->device.raise(display->device.opaque, (uint64_t)bits << 8 * head->index);
}

static uint64_t host_clock(const struct tsr_display *display)
{
	return display->device.clock(display->device.opaque);
}

/* GPU.TIMESTAMP. */
static uint64_t timestamp(const struct tsr_display *display)
{
	return display->device.timestamp(display->device.opaque);
}


/* ---- Vertical blanks ------------------------------------------------------------------------- */

/* When vertical blank @n of the head is due, by the host's clock. */
static uint64_t due(const struct tsr_head *head, uint64_t n)
{
	return head->on_since + tsr_picture_time(&head->shown.shadow, n);
}

/* Have the timer expire when vertical blank @n of the head is due. */
static void want_blank(const struct tsr_display *display, const struct tsr_head *head, uint64_t n)
{
	display->device.want(display->device.opaque, due(head, n));
}

/* How many have been due until @now, the one at which the head went on not among them. */
static uint64_t blanks_until(const struct tsr_head *head, uint64_t now)
{
	return tsr_picture_periods(&head->shown.shadow, now - head->on_since);
}

/* The TIMESTAMP of host clock @when, which is not after @now. */
static uint64_t timestamp_at(struct tsr_display *display, uint64_t when, uint64_t now)
{
	const uint64_t stamp = timestamp(display);

	return display->deterministic ? stamp : stamp - (now - when);
}

void tsr_display_arm(struct tsr_display *display)
{
	for (unsigned int i = 0; i < display->heads; i++) {
		const struct tsr_head *head = &display->head[i];

		if (head->on)
			want_blank(display, head, head->blanks + 1);
	}
}

/* Damage of a commit: @rows, or unknown. */
static void note_damage(struct tsr_head *head, bool said, struct tsr_rows rows)
{
	struct tsr_rows *dirty = &head->dirty;

	if (!said || !head->partial) {
		*dirty = (struct tsr_rows){ 0, UINT32_MAX };
		head->skipped = 0;
	} else if (dirty->from >= dirty->to) {
		*dirty = rows;
	} else if (rows.from < rows.to) {
		dirty->from = rows.from < dirty->from ? rows.from : dirty->from;
		dirty->to = rows.to > dirty->to ? rows.to : dirty->to;
	}
	head->partial = said;
}

/* Registers DAMAGE. */
static struct tsr_rows damaged_rows(const struct tsr_head *head)
{
	const uint32_t y = head->shadow.task[0] >> 16, height = head->shadow.task[1] >> 16;
	const bool none = !height || !(head->shadow.task[1] & 0xffff);

	return (struct tsr_rows){ y, none ? 0 : y + height };
}

/* Applies the damage of a commit and its request for writeback. */
static void take_tasks(struct tsr_head *head, bool same_mode)
{
	note_damage(head, head->waiting_partial && same_mode, head->waiting_dirty);
	head->write_due |= head->write_waits;
	head->write_waits = false;
}

/* Enables the head with head->waiting, at a vertical blank. */
static void switch_on(struct tsr_display *display, struct tsr_head *head)
{
	take_tasks(head, false);
	head->shown = head->waiting;
	head->on = true;
	head->on_since = host_clock(display);
	head->blanks = 0;
	head->frame++;
	head->vblank_time = timestamp(display);
	head->crc_due = head->crc_on;
	tsr_compose_begin(display, head);
	tsr_head_raise(display, head, TSR_DISPLAY_IRQ_FLIP | TSR_DISPLAY_IRQ_VBLANK);
	want_blank(display, head, 1);
}

/*
 * The head goes off, with the frame that has begun: when this returns no memory is read or written
 * for it. A thread that composes the frame leaves it after the present row; the lock is released
 * until then.
 */
static void switch_off(struct tsr_display *display, struct tsr_head *head)
{
	head->on = head->pending = head->flip_deferred = false;
	while (head->port) {
		atomic_store_explicit(&head->port->stop, true, memory_order_relaxed);
		display->device.wait(display->device.opaque);
	}
	tsr_compose_drop(head);
	tsr_frame_memory_free(head);
	display->device.frame(display->device.opaque, head->index);
	if (!head->write_pending)
		return;
	head->write_pending = head->write_waits = head->write_due = false;
	head->write_failed = true;
	tsr_head_raise(display, head, TSR_DISPLAY_IRQ_WRITEBACK);
}

/* Take over what waits; false: not now, a frame of the former picture is being composed. */
static bool latch(struct tsr_display *display, struct tsr_head *head)
{
	const struct tsr_shadow *a = &head->shown.shadow, *b = &head->waiting.shadow;
	const bool same_mode = a->mode_h == b->mode_h && a->mode_v == b->mode_v &&
			       a->mode_clock == b->mode_clock;

	if (head->begun || head->write_due)
		return false;
	head->pending = false;
	if (!b->mode_clock) {
		switch_off(display, head);
		return true;
	}
	take_tasks(head, same_mode);
	if (!same_mode) {
		head->on_since = due(head, head->blanks);
		head->blanks = 0;
	}
	if (head->shown.width != head->waiting.width || head->shown.height != head->waiting.height)
		tsr_frame_memory_free(head);
	head->shown = head->waiting;
	return true;
}

static void blank(struct tsr_display *display, struct tsr_head *head, uint64_t now)
{
	const uint64_t n = blanks_until(head, now), more = n - head->blanks;
	bool flipped = false;

	if (!more)
		return;
	head->blanks = n;
	head->frame += more;
	head->vblank_time = timestamp_at(display, due(head, n), now);
	if (head->begun && head->patience)
		head->patience--;
	if (head->begun && !head->port && !head->patience)
		atomic_fetch_or(&display->wanted, 1u << head->index);
	if (head->pending)
		flipped = latch(display, head);
	/* a FLIP deferred to the end of a frame that a snapshot did not keep */
	flipped |= head->flip_deferred && !head->begun;
	head->flip_deferred &= head->begun;
	head->crc_due = head->crc_on && !head->begun;
	tsr_compose_begin(display, head);
	tsr_head_raise(display, head, flipped ? TSR_DISPLAY_IRQ_FLIP : 0);
	tsr_head_raise(display, head, TSR_DISPLAY_IRQ_VBLANK);
}

void tsr_display_expired(struct tsr_display *display, uint64_t now)
{
	for (unsigned int i = 0; i < display->heads; i++)
		if (display->head[i].on)
			blank(display, &display->head[i], now);
	if (atomic_load(&display->wanted))
		display->device.wake(display->device.opaque, false);
}

/* Where the host's timer is late: what has been by the clock comes before what is written now. */
static void catch_up(struct tsr_display *display, struct tsr_head *head)
{
	if (head->on)
		blank(display, head, host_clock(display));
	if (atomic_load(&display->wanted))
		display->device.wake(display->device.opaque, false);
}

void tsr_display_host_ready(struct tsr_display *display)
{
	for (unsigned int i = 0; i < display->heads; i++)
		if (display->head[i].begun && !display->head[i].port)
			atomic_fetch_or(&display->wanted, 1u << i);
	if (atomic_load(&display->wanted))
		display->device.wake(display->device.opaque, false);
}

/* ---- Commits --------------------------------------------------------------------------------- */

/* A writeback is to come with the commit; false: it is refused. */
static bool commit_writeback(struct tsr_head *head)
{
	struct tsr_writeback w;

	if (head->write_pending || !tsr_writeback_decode(&w, &head->shadow))
		return false;
	head->write_waits = head->write_pending = true;
	head->write_failed = false;
	return true;
}

static uint64_t pixels_of(const struct tsr_picture *picture)
{
	return (uint64_t)picture->width * picture->height;
}

/* Most pixels that @head has until its commit is latched, and after it. */
static uint64_t pixels_of_head(const struct tsr_head *head)
{
	const bool waits = head->pending && head->waiting.shadow.mode_clock;
	const uint64_t now = head->on ? pixels_of(&head->shown) : 0;
	const uint64_t then = waits ? pixels_of(&head->waiting) : 0;

	return now > then ? now : then;
}

/* Pixels of all heads but @but, which may be NULL. */
static uint64_t pixels_of_others(const struct tsr_display *display, const struct tsr_head *but)
{
	uint64_t pixels = 0;

	for (unsigned int i = 0; i < display->heads; i++)
		if (&display->head[i] != but)
			pixels += pixels_of_head(&display->head[i]);
	return pixels;
}

static void commit_latch(struct tsr_display *display, struct tsr_head *head, uint32_t value)
{
	struct tsr_picture picture = head->shown;

	if (!head->shadow.mode_clock) {
		head->waiting.shadow = head->shadow;
		head->pending = head->on;
		return;
	}
	if (!tsr_picture_decode(&picture, &head->shadow, true) ||
	    pixels_of_others(display, head) + pixels_of(&picture) > display->head_pixels ||
	    (value & TSR_DISPLAY_COMMIT_WRITEBACK__MASK && !commit_writeback(head))) {
		head->bad = true;
		return;
	}
	head->waiting = picture;
	head->waiting_partial = value & TSR_DISPLAY_COMMIT_DAMAGE__MASK;
	head->waiting_dirty = damaged_rows(head);
	if (head->on)
		head->pending = true;
	else
		switch_on(display, head);
}

/*
 * The picture shown changes at once. A frame that has begun still reads the one before: FLIP is
 * deferred to its end.
 */
static void replaced(struct tsr_display *display, struct tsr_head *head, bool damage)
{
	note_damage(head, damage, damaged_rows(head));
	if (head->begun)
		head->flip_deferred = true;
	else
		tsr_head_raise(display, head, TSR_DISPLAY_IRQ_FLIP);
}

static void commit_async(struct tsr_display *display, struct tsr_head *head, bool damage)
{
	if (!head->on || !tsr_picture_decode(&head->shown, &head->shadow, false))
		head->bad = true;
	else
		replaced(display, head, damage);
}

/*
 * COMMIT.CURSOR: the cursor plane alone, at once. A commit that waits gets the same cursor; of that
 * only the cursor is checked, the rest was when it was committed.
 */
static void commit_cursor(struct tsr_display *display, struct tsr_head *head, bool damage)
{
	const uint32_t *words = head->shadow.plane[TSR_DISPLAY_PLANE_CURSOR];

	if (!head->on || !tsr_picture_cursor(&head->shown, words)) {
		head->bad = true;
		return;
	}
	if (head->pending && head->waiting.shadow.mode_clock)
		tsr_picture_cursor(&head->waiting, words);
	replaced(display, head, damage);
}

static void commit(struct tsr_display *display, struct tsr_head *head, uint32_t value)
{
	const uint32_t flip = TSR_DISPLAY_COMMIT_LATCH__MASK | TSR_DISPLAY_COMMIT_ASYNC__MASK;
	const uint32_t cursor = TSR_DISPLAY_COMMIT_CURSOR__MASK | TSR_DISPLAY_COMMIT_ASYNC__MASK;
	const bool damage = value & TSR_DISPLAY_COMMIT_DAMAGE__MASK;

	if (value & TSR_DISPLAY_COMMIT_DISABLE__MASK) {
		head->bad = false;
		switch_off(display, head);
		return;
	}
	if (!(value & flip)) {
		if (damage && head->on)
			note_damage(head, true, damaged_rows(head));
		return;
	}
	if ((value & (flip | cursor)) == cursor) {
		head->bad = false;
		commit_cursor(display, head, damage);
		return;
	}
	if (head->pending)
		return;
	head->bad = false;
	if (value & TSR_DISPLAY_COMMIT_LATCH__MASK)
		commit_latch(display, head, value);
	else
		commit_async(display, head, damage);
}

/* ---- Registers ------------------------------------------------------------------------------- */

/* Where the shadow keeps the register at @offset; NULL: it is none of the shadow's. */
static uint32_t *shadow_word(struct tsr_head *head, uint32_t offset)
{
	const uint32_t plane = (offset - TSR_DISPLAY_PLANE_ADDR__OFFSET) /
			       TSR_DISPLAY_PLANE_ADDR__STRIDE;
	const uint32_t word = (offset - TSR_DISPLAY_PLANE_ADDR__OFFSET) %
			      TSR_DISPLAY_PLANE_ADDR__STRIDE / 4;

	if (offset - TSR_DISPLAY_DAMAGE_POS__OFFSET < 4 * TSR_TASK_WORDS)
		return &head->shadow.task[(offset - TSR_DISPLAY_DAMAGE_POS__OFFSET) / 4];
	switch (offset) {
	case TSR_DISPLAY_MODE_H__OFFSET:
		return &head->shadow.mode_h;
	case TSR_DISPLAY_MODE_V__OFFSET:
		return &head->shadow.mode_v;
	case TSR_DISPLAY_MODE_CLOCK__OFFSET:
		return &head->shadow.mode_clock;
	case TSR_DISPLAY_BACKGROUND__OFFSET:
		return &head->shadow.background;
	default:
		if (offset < TSR_DISPLAY_PLANE_ADDR__OFFSET || plane >= TSR_PLANES ||
		    word >= TSR_PLANE_WORDS)
			return NULL;
		return &head->shadow.plane[plane][word];
	}
}

/* Which of its bits there are. */
static uint32_t shadow_bits(uint32_t offset)
{
	for (uint32_t n = 0; n < TSR_PLANES; n++)
		if (offset == TSR_DISPLAY_PLANE_CONFIG__OFFSET +
				      n * TSR_DISPLAY_PLANE_CONFIG__STRIDE)
			return TSR_DISPLAY_PLANE_CONFIG_LAYOUT__MASK |
			       TSR_DISPLAY_PLANE_CONFIG_BLEND__MASK |
			       TSR_DISPLAY_PLANE_CONFIG_ZPOS__MASK |
			       TSR_DISPLAY_PLANE_CONFIG_ALPHA__MASK;
	return UINT32_MAX;
}

static uint32_t line_now(struct tsr_display *display, const struct tsr_head *head)
{
	const uint64_t elapsed = host_clock(display) - due(head, head->blanks);
	const uint32_t total = head->shown.shadow.mode_v >> 16;
	const uint64_t line = (uint64_t)((unsigned __int128)elapsed * total /
					 (tsr_picture_time(&head->shown.shadow, 1) + 1));

	return (uint32_t)((head->shown.height + line) % total);
}

static uint32_t status(const struct tsr_head *head)
{
	return FIELD(TSR_DISPLAY_STATUS_ON, head->on) |
	       FIELD(TSR_DISPLAY_STATUS_PENDING, head->pending) |
	       FIELD(TSR_DISPLAY_STATUS_BAD, head->bad) |
	       FIELD(TSR_DISPLAY_STATUS_PRESENT, head->present) |
	       FIELD(TSR_DISPLAY_STATUS_WRITEBACK_PENDING, head->write_pending) |
	       FIELD(TSR_DISPLAY_STATUS_WRITEBACK_FAILED, head->write_failed) |
	       FIELD(TSR_DISPLAY_STATUS_STALE, head->flip_deferred);
}

static uint32_t read_crc(const struct tsr_head *head, uint32_t offset)
{
	const struct tsr_crc_entry *oldest = &head->crc[head->crc_first];

	switch (offset) {
	case TSR_DISPLAY_CRC_CONTROL__OFFSET:
		return FIELD(TSR_DISPLAY_CRC_CONTROL_ENABLE, head->crc_on);
	case TSR_DISPLAY_CRC_COUNT__OFFSET:
		return head->crc_count;
	case TSR_DISPLAY_CRC_FRAME__OFFSET:
		return head->crc_count ? oldest->frame : 0;
	case TSR_DISPLAY_CRC_VALUE__OFFSET:
		return head->crc_count ? oldest->value : 0;
	default:
		return 0;
	}
}

uint32_t tsr_display_read(struct tsr_display *display, unsigned int n, uint32_t offset)
{
	struct tsr_head *head = &display->head[n];
	const uint32_t *word = shadow_word(head, offset);

	if (word)
		return *word;
	if (offset - TSR_DISPLAY_EDID__OFFSET < 4 * TSR_EDID_WORDS)
		return head->present ? head->edid[(offset - TSR_DISPLAY_EDID__OFFSET) / 4] : 0;
	switch (offset) {
	case TSR_DISPLAY_CAPS__OFFSET:
		return FIELD(TSR_DISPLAY_CAPS_HEADS, display->heads) |
		       FIELD(TSR_DISPLAY_CAPS_PLANES, TSR_PLANES);
	case TSR_DISPLAY_STATUS__OFFSET:
		return status(head);
	case TSR_DISPLAY_PIXELS__OFFSET:
		return display->head_pixels;
	case TSR_DISPLAY_UNDERRUN_ADDR__OFFSET:
	case TSR_DISPLAY_UNDERRUN_ADDR__OFFSET + 4:
		return tsr_half(head->underrun_addr, offset & 4);
	case TSR_DISPLAY_FRAME__OFFSET:
	case TSR_DISPLAY_FRAME__OFFSET + 4:
		return tsr_half(head->frame, offset & 4);
	case TSR_DISPLAY_VBLANK_TIME__OFFSET:
	case TSR_DISPLAY_VBLANK_TIME__OFFSET + 4:
		return tsr_half(head->vblank_time, offset & 4);
	case TSR_DISPLAY_LINE__OFFSET:
		return head->on ? line_now(display, head) : 0;
	default:
		return read_crc(head, offset);
	}
}

static void crc_control(struct tsr_head *head, bool on)
{
	if (on && !head->crc_on) {
		head->crc_count = 0;
		head->first_crc = head->frame + 1;
	}
	head->crc_on = on;
}

void tsr_display_write(struct tsr_display *display, unsigned int n, uint32_t offset, uint32_t value)
{
	struct tsr_head *head = &display->head[n];
	uint32_t *word = shadow_word(head, offset);

	if (word) {
		*word = value & shadow_bits(offset);
		return;
	}
	switch (offset) {
	case TSR_DISPLAY_COMMIT__OFFSET:
		catch_up(display, head);
		commit(display, head, value);
		break;
	case TSR_DISPLAY_CRC_CONTROL__OFFSET:
		crc_control(head, value & TSR_DISPLAY_CRC_CONTROL_ENABLE__MASK);
		break;
	case TSR_DISPLAY_CRC_NEXT__OFFSET:
		if (head->crc_count) {
			head->crc_first = (head->crc_first + 1) % TSR_CRC_ENTRIES;
			head->crc_count--;
		}
		break;
	default:
		break;
	}
}

/* ---- Reset, snapshots ------------------------------------------------------------------------ */

void tsr_display_init(struct tsr_display *display)
{
	tsr_crc_init(display->crc_table);
	tsr_display_reset(display);
}

void tsr_display_reset(struct tsr_display *display)
{
	for (unsigned int i = 0; i < display->heads; i++) {
		struct tsr_head *head = &display->head[i], kept;

		tsr_compose_drop(head);
		tsr_frame_memory_free(head);
		kept = *head;
		*head = (struct tsr_head){
			.index = i, .present = kept.present, .frame = kept.frame,
			.front = kept.front, .serial = kept.serial, .lent = kept.lent,
		};
		memcpy(head->edid, kept.edid, sizeof(kept.edid));
	}
	atomic_store(&display->wanted, 0);
	display->reset = false;
}

void tsr_display_free(struct tsr_display *display)
{
	for (unsigned int i = 0; i < display->heads; i++) {
		tsr_compose_drop(&display->head[i]);
		tsr_frame_memory_return(&display->head[i]);
		tsr_frame_memory_free(&display->head[i]);
	}
}

static void visit_shadow(struct tsr_stream *s, struct tsr_shadow *shadow)
{
	TSR_VISIT(s, shadow->mode_h);
	TSR_VISIT(s, shadow->mode_v);
	TSR_VISIT(s, shadow->mode_clock);
	TSR_VISIT(s, shadow->background);
	TSR_VISIT(s, shadow->task);
	TSR_VISIT(s, shadow->plane);
}

/* A writeback in progress starts again from its first row. */
static void visit_writeback(struct tsr_stream *s, struct tsr_head *head)
{
	bool due = head->write_due || (head->begun && head->composition.writes);
	struct tsr_writeback w;

	tsr_stream_bool(s, &head->write_waits);
	tsr_stream_bool(s, &due);
	tsr_stream_bool(s, &head->write_failed);
	tsr_stream_check(s, (!head->write_waits || head->pending) && (!due || head->on) &&
			 !(due && head->write_waits), "a head's writeback");
	if (!s->loading || s->wrong)
		return;
	head->write_due = due;
	head->write_pending = due || head->write_waits;
	tsr_stream_check(s, (!due || tsr_writeback_decode(&w, &head->shown.shadow)) &&
			 (!head->write_waits || tsr_writeback_decode(&w, &head->waiting.shadow)),
			 "where a head writes its frame");
	head->dirty = (struct tsr_rows){ 0, UINT32_MAX };
}

static void visit_head(struct tsr_stream *s, struct tsr_display *display, struct tsr_head *head)
{
	const uint64_t now = host_clock(display);
	uint64_t since = now - head->on_since;

	visit_shadow(s, &head->shadow);
	visit_shadow(s, &head->waiting.shadow);
	visit_shadow(s, &head->shown.shadow);
	tsr_stream_bool(s, &head->on);
	tsr_stream_bool(s, &head->pending);
	tsr_stream_bool(s, &head->bad);
	tsr_stream_bool(s, &head->flip_deferred);
	TSR_VISIT(s, since);
	TSR_VISIT(s, head->blanks);
	TSR_VISIT(s, head->frame);
	TSR_VISIT(s, head->vblank_time);
	TSR_VISIT(s, head->underrun_addr);
	tsr_stream_bool(s, &head->present);
	TSR_VISIT(s, head->edid);
	tsr_stream_bool(s, &head->crc_on);
	TSR_VISIT(s, head->crc_first);
	TSR_VISIT(s, head->crc_count);
	for (unsigned int i = 0; i < TSR_CRC_ENTRIES; i++) {
		TSR_VISIT(s, head->crc[i].frame);
		TSR_VISIT(s, head->crc[i].value);
	}
	visit_writeback(s, head);
	tsr_stream_check(s, head->crc_first < TSR_CRC_ENTRIES &&
			 head->crc_count <= TSR_CRC_ENTRIES, "a head's CRCs");
	tsr_stream_check(s, !head->pending || head->on, "a head that is off and has a commit");
	if (!s->loading || s->wrong)
		return;
	head->on_since = now - since;
	/* a larger number would wrap around as time goes on */
	tsr_stream_check(s, !head->on || since <= INT64_MAX, "since when a head is on");
	if (head->on)
		tsr_stream_check(s, tsr_picture_decode(&head->shown, &head->shown.shadow, true) &&
				 head->blanks <= blanks_until(head, now), "a head's picture");
	if (head->pending && head->waiting.shadow.mode_clock)
		tsr_stream_check(s, tsr_picture_decode(&head->waiting, &head->waiting.shadow, true),
				 "a head's next picture");
}

void tsr_display_visit(struct tsr_stream *s, struct tsr_display *display)
{
	for (unsigned int i = 0; i < display->heads && !s->wrong; i++)
		visit_head(s, display, &display->head[i]);
	if (s->loading && !s->wrong)
		tsr_stream_check(s, pixels_of_others(display, NULL) <= display->head_pixels,
				 "more pixels of all heads than this device has memory for");
}
