// SPDX-License-Identifier: MIT
/*
 * The display controller: mostly sound registers, commits, time, frames that the host reads, memory
 * that is absent or pending, resets, and snapshots that are sound or changed field by field.
 *
 * - A frame that the host holds keeps its pixels until it is released, whatever the guest does.
 * - Serial numbers of a head's frames never decrease while the device is the same.
 * - The device accepts each snapshot that it has saved itself.
 *
 * All bytes of the input seed the choices.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "device/snapshot.h"
#include "ktap.h"
#include "random.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
void fuzz_summary(void);

#define VA 0x10000000ull		/* memory of planes, tags and writebacks */
#define BYTES (1u << 20)
#define HEADS_MAX 4
#define FIELDS_MAX 8192
#define HEAD_FIELDS 50			/* last fields of a snapshot, per head, that are changed */
#define ROOM (8u << 20)			/* bytes of memory that are left when an input ends */

static struct bench *b;
static struct bench_as as;
static uint64_t memory;			/* bus address of VA */
static unsigned int heads;
static uint64_t serials[HEADS_MAX];	/* of the last frame of each head */
static unsigned long frames, held, commits, refused_commits, accepted, refused;

/* Fields of a snapshot, in order. */
static struct {
	size_t pos[FIELDS_MAX], size[FIELDS_MAX];
	unsigned int count;
} fields;

void fuzz_summary(void)
{
	ktap_note("%lu commits, of which %lu refused; %lu frames, of which %lu held; snapshots: "
		  "%lu accepted, %lu refused", commits, refused_commits, frames, held, accepted,
		  refused);
}

__attribute__((noreturn))
static void fail(const char *what, const char *more)
{
	fprintf(stderr, "display_controller: %s%s\n", what, more);
	abort();
}

/* ---- Registers ------------------------------------------------------------------------------- */

static void set_mode(struct fuzz_random *r, unsigned int h)
{
	uint32_t width = 16 + fuzz_below(r, 300), height = 16 + fuzz_below(r, 100);
	uint32_t htotal, vtotal, clock;

	if (fuzz_often(r, 1)) {
		width = 8192;
		height = 64;
	}
	htotal = width + 1 + fuzz_below(r, 50);
	vtotal = height + 1 + fuzz_below(r, 50);
	clock = htotal * vtotal / 1000 * (1 + fuzz_below(r, 120));
	if (!clock)
		clock = 1 + fuzz_below(r, 100);
	if (fuzz_often(r, 8))
		clock = 0;
	if (fuzz_often(r, 4))
		clock = (uint32_t)fuzz_any(r);
	if (fuzz_often(r, 4))
		htotal = (uint32_t)fuzz_any(r);
	if (fuzz_often(r, 4))
		vtotal = (uint32_t)fuzz_any(r);
	bench_write(b, TSR_REG_DISPLAY_MODE_H(h), width | htotal << 16);
	bench_write(b, TSR_REG_DISPLAY_MODE_V(h), height | vtotal << 16);
	bench_write(b, TSR_REG_DISPLAY_MODE_CLOCK(h), clock);
}

/* An address in the mapped memory; seldom near the end of the address space. */
static uint64_t any_address(struct fuzz_random *r)
{
	uint64_t addr = VA + fuzz_below(r, BYTES / 64) * 64ull;

	return fuzz_often(r, 8) ? -(uint64_t)64 * (1 + fuzz_below(r, 1u << 20)) : addr;
}

/* An offset into a surface; seldom as large as @size of @limit allows. */
static uint32_t any_offset(struct fuzz_random *r, uint32_t size, uint32_t limit)
{
	return fuzz_often(r, 64) ? fuzz_below(r, limit - size + 1) : fuzz_below(r, 40);
}

static void set_position(struct fuzz_random *r, unsigned int h, unsigned int n)
{
	uint32_t x = fuzz_below(r, 600) - 300, y = fuzz_below(r, 300) - 150;
	uint32_t pos = (x & 0xffff) | y << 16;

	bench_write(b, TSR_REG_DISPLAY_PLANE_POS(h, n),
		    fuzz_often(r, 16) ? (uint32_t)fuzz_next(r) : pos);
}

/* Plane 2 is the cursor: at most 256 by 256 pixels, one format, linear. */
static void set_plane(struct fuzz_random *r, unsigned int h, unsigned int n)
{
	static const uint32_t formats[] = { TSR_PIXEL_FORMAT_RGBA8_UNORM, TSR_PIXEL_FORMAT_RGB565,
		TSR_PIXEL_FORMAT_RGB10_A2_UNORM, TSR_PIXEL_FORMAT_RGBA16F };
	static const uint8_t bytes[] = { 4, 2, 4, 8 };
	unsigned int f = n == 2 ? 0 : fuzz_below(r, 4);
	uint32_t layout = n == 2 ? 0 : fuzz_below(r, 3);
	uint32_t limit = n == 2 ? 256 : fuzz_often(r, 8) ? 8192 : 400;
	uint32_t width = 1 + fuzz_below(r, limit), height = 1 + fuzz_below(r, limit);
	uint32_t x = any_offset(r, width, 8192), y = any_offset(r, height, 8192);
	uint32_t pitch = (layout ? (x + width + 15) / 16 * 256 : x + width) * bytes[f];
	uint32_t order = fuzz_often(r, 200) ? TSR_COMPONENT_ORDER_BGR1 : fuzz_below(r, 4096);
	uint32_t alpha = fuzz_often(r, 128) ? 0xffff : fuzz_below(r, 65536);

	if (fuzz_often(r, 40))
		pitch += 64 * fuzz_below(r, 100);
	bench_write64(b, TSR_REG_DISPLAY_PLANE_ADDR(h, n),
		      fuzz_often(r, 20) ? 0 : any_address(r));
	bench_write(b, TSR_REG_DISPLAY_PLANE_FORMAT(h, n), formats[f] << 12 | order);
	bench_write(b, TSR_REG_DISPLAY_PLANE_PITCH(h, n), pitch);
	bench_write(b, TSR_REG_DISPLAY_PLANE_CONFIG(h, n),
		    layout | fuzz_below(r, 3) << 4 | fuzz_below(r, 4) << 8 | alpha << 16);
	set_position(r, h, n);
	bench_write(b, TSR_REG_DISPLAY_PLANE_SIZE(h, n), width | height << 16);
	bench_write(b, TSR_REG_DISPLAY_PLANE_SRC(h, n), x | y << 16);
	bench_write64(b, TSR_REG_DISPLAY_PLANE_TAGS(h, n), any_address(r));
	bench_write64(b, TSR_REG_DISPLAY_PLANE_CLEAR(h, n), any_address(r));
	bench_write(b, TSR_REG_DISPLAY_PLANE_TAG_PITCH(h, n),
		    (x + width + 7) / 8 + (fuzz_often(r, 40) ? fuzz_below(r, 5000) : 0));
}

static void set_writeback(struct fuzz_random *r, unsigned int h)
{
	bench_write(b, TSR_REG_DISPLAY_DAMAGE_POS(h), (uint32_t)fuzz_any(r));
	bench_write(b, TSR_REG_DISPLAY_DAMAGE_SIZE(h), (uint32_t)fuzz_any(r));
	bench_write64(b, TSR_REG_DISPLAY_WRITEBACK_ADDR(h), any_address(r));
	bench_write(b, TSR_REG_DISPLAY_WRITEBACK_FORMAT(h),
		    TSR_PIXEL_FORMAT_RGBA8_UNORM << 12 | TSR_COMPONENT_ORDER_BGR1);
	bench_write(b, TSR_REG_DISPLAY_WRITEBACK_PITCH(h), 4 * (16 + fuzz_below(r, 400)));
}

static void commit(struct fuzz_random *r, unsigned int h)
{
	/* Mostly the planes alone, or with a writeback. */
	uint32_t what = fuzz_often(r, 100) ? 1 : fuzz_often(r, 80) ? 17 : fuzz_below(r, 64);

	bench_write(b, TSR_REG_DISPLAY_COMMIT(h), what);
	commits++;
	if (bench_read(b, TSR_REG_DISPLAY_STATUS(h)) & TSR_DISPLAY_STATUS_BAD__MASK)
		refused_commits++;
}

/* ---- The host -------------------------------------------------------------------------------- */

/* The device has no memory after a reset; mostly give it the same memory again. */
static void restore(struct fuzz_random *r)
{
	memset(serials, 0, sizeof(serials));
	if (fuzz_often(r, 32))
		return;
	bench_as_init(b, &as, 0);
	bench_map(&as, VA, memory, BYTES, BENCH_RW);
}

static void reset(struct fuzz_random *r)
{
	if (fuzz_often(r, 128))
		tsr_gpu_reset(b->gpu);
	else
		bench_write(b, TSR_REG_GPU_CONTROL, TSR_GPU_CONTROL_RESET__MASK);
	restore(r);
}

static uint64_t sum_of(const struct tsr_display_frame *f)
{
	uint64_t sum = 0xcbf29ce484222325ull;

	for (size_t i = 0; i < (size_t)f->width * f->height; i++) {
		if (f->pixels[i] >> 24)
			fail("a pixel has bits in X", "");
		sum = (sum ^ f->pixels[i]) * 0x100000001b3ull;
	}
	return sum;
}

static void read_frame(struct fuzz_random *r, unsigned int h, bool hold)
{
	struct tsr_display_frame f;
	uint64_t sum;

	tsr_gpu_display_update(b->gpu, h);
	if (fuzz_often(r, 128))
		tsr_gpu_run(b->gpu, 1000);
	if (!tsr_gpu_display_frame(b->gpu, h, &f))
		return;
	frames++;
	if (!f.width || !f.height)
		fail("a frame is empty", "");
	if (f.serial < serials[h])
		fail("a serial number decreases", "");
	serials[h] = f.serial;
	sum = sum_of(&f);
	if (hold) {
		held++;
		commit(r, h);
		bench_advance(b, 20000000);
		tsr_gpu_run(b->gpu, 1000);
		if (fuzz_often(r, 64))
			reset(r);
		if (sum_of(&f) != sum)
			fail("a frame changes while it is held", "");
	}
	tsr_gpu_display_done(b->gpu, h);
}

/* ---- Snapshots ------------------------------------------------------------------------------- */

static void note_field(void *unused, size_t pos, size_t size)
{
	(void)unused;
	if (fields.count == FIELDS_MAX)
		fail("a snapshot has too many fields", "");
	fields.pos[fields.count] = pos;
	fields.size[fields.count++] = size;
}

/* Change a field of the display controller; its fields are the last of a snapshot. */
static void change_field(struct fuzz_random *r, uint8_t *state)
{
	unsigned int last = heads * HEAD_FIELDS;
	unsigned int n = fields.count - 1 - fuzz_below(r, last < fields.count ? last :
						       fields.count);
	size_t size = fields.size[n], width = size > 8 ? 4 : size, at = 0;
	uint8_t *field = state + fields.pos[n];
	uint64_t value = fuzz_any(r);

	if (fuzz_often(r, 64)) {
		field[fuzz_below(r, (uint32_t)size)] ^= 1u << fuzz_below(r, 8);
		return;
	}
	if (fuzz_often(r, 128))
		value = fuzz_below(r, 4) - 1ull;
	if (size > 8)
		at = fuzz_below(r, (uint32_t)size / 4) * 4;
	memcpy(field + at, &value, width);
}

/* Save the device and load the snapshot, often changed and sometimes into a new device. */
static void migrate(struct fuzz_random *r)
{
	unsigned int changes = fuzz_often(r, 64) ? 0 : 1 + fuzz_below(r, 3);
	char err[200] = "";
	uint8_t *state;
	size_t size;

	tsr_gpu_pause(b->gpu);
	if (fuzz_often(r, 128))
		tsr_gpu_drain(b->gpu);
	size = tsr_gpu_save(b->gpu, NULL, 0);
	state = malloc(size);
	if (!state || tsr_gpu_save(b->gpu, state, size) != size)
		fail("the device cannot be saved", "");
	fields.count = 0;
	tsr_gpu_save_fields(b->gpu, note_field, NULL);
	for (unsigned int i = 0; i < changes; i++)
		change_field(r, state);
	if (fuzz_often(r, 100)) {
		tsr_gpu_resume(b->gpu);
		bench_replace(b);
		tsr_gpu_pause(b->gpu);
	}
	memset(serials, 0, sizeof(serials));
	if (tsr_gpu_load(b->gpu, state, size, err, sizeof(err)))
		accepted++;
	else if (changes)
		refused++;
	else
		fail("a sound snapshot is refused: ", err);
	tsr_gpu_resume(b->gpu);
	free(state);
}

/* ---- A case ---------------------------------------------------------------------------------- */

static void step(struct fuzz_random *r, unsigned int h)
{
	uint32_t offset = TSR_DISPLAY__OFFSET +
			  fuzz_below(r, TSR_DISPLAY__STRIDE * (heads + 1)) / 4 * 4;

	switch (fuzz_below(r, 24)) {
	case 0: case 1:
		set_mode(r, h);
		break;
	case 2: case 3: case 4:
		set_plane(r, h, fuzz_below(r, 3));
		break;
	case 5:
		set_writeback(r, h);
		break;
	case 6: case 7: case 8: case 9:
		commit(r, h);
		break;
	case 10: case 11: case 12:
		bench_advance(b, fuzz_any(r) % 200000000);
		break;
	case 13: case 14:
		read_frame(r, h, false);
		break;
	case 15:
		read_frame(r, h, true);
		break;
	case 16:
		tsr_gpu_run(b->gpu, fuzz_below(r, 2000));
		break;
	case 17:
		bench_write(b, TSR_REG_DISPLAY_CRC_CONTROL(h), fuzz_below(r, 4) > 0);
		break;
	case 18:
		(void)bench_read(b, TSR_REG_DISPLAY_CRC_COUNT(h));
		bench_write(b, TSR_REG_DISPLAY_CRC_NEXT(h), 0);
		break;
	case 19:
		if (!bench_answer(b))
			tsr_gpu_host_ready(b->gpu);
		break;
	case 20:
		migrate(r);
		break;
	case 21:
		if (fuzz_often(r, 128))
			tsr_gpu_host_invalidate(b->gpu, 0, UINT64_MAX);
		else
			reset(r);
		break;
	case 22:
		bench_write(b, offset, (uint32_t)fuzz_any(r));
		break;
	default:
		(void)bench_read(b, TSR_REG_DISPLAY_LINE(h));
		break;
	}
}

static void start(struct fuzz_random *r)
{
	struct tsr_config config = { .queues = 2, .cores = 1, .heads = 1 + fuzz_below(r, 2) };
	uint8_t *bytes;

	if (fuzz_often(r, 40))
		config.heads = HEADS_MAX;
	if (fuzz_often(r, 60))
		config.threads = 2;
	else if (fuzz_often(r, 100))
		config.deterministic = true;
	heads = config.heads;
	memset(serials, 0, sizeof(serials));
	b = bench_new(&config);
	bench_as_init(b, &as, 0);
	memory = bench_alloc(b, BYTES, BENCH_PAGE);
	bench_map(&as, VA, memory, BYTES, BENCH_RW);
	bytes = bench_ptr(b, memory, BYTES);
	for (unsigned int i = 0; i < BYTES; i += 61)
		bytes[i] = (uint8_t)fuzz_next(r);
	if (fuzz_often(r, 60))
		b->pending_every = 1 + fuzz_below(r, 9);
	bench_write64(b, TSR_REG_IRQ_MASK(TSR_IRQ_CLASS_DISPLAY), UINT64_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_random r = fuzz_random(data, size);
	unsigned int steps = 40 + fuzz_below(&r, 100);

	start(&r);
	for (unsigned int i = 0; i < steps; i++) {
		unsigned int h = fuzz_below(&r, heads);

		if (fuzz_often(&r, 12))
			tsr_gpu_display_monitor(b->gpu, h, fuzz_below(&r, 2), data, size);
		step(&r, h);
		if (b->next - BENCH_RAM_BASE > BENCH_RAM_SIZE - ROOM)
			break;
	}
	bench_free(b);
	return 0;
}
