/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/*
 * COPY_RECT and FILL_RECT of surfaces with tags. The test expands blocks by itself, and compares
 * all memory: texels, tags, texels beside the rectangle.
 */
#include <string.h>

#include "copy_play.h"
#include "ktap.h"
#include "tsr_packets.h"

/* In STAGE_DATA: two surfaces with tags, one without. */
#define TAGGED(n) (0x10000u + (n) * 0x20000u)
#define TAGS(n) (0x8000u + (n) * 0x800u)
#define STATE(n) (0x9000u + (n) * 0x100u)
#define RECORD(n) (0x9040u + (n) * 0x100u)
#define SAMPLE 0x10000u			/* bytes from sample 0 to the next one */
#define PLAIN 0x50000u
#define PLAIN_PITCH (48 * 16u)
#define PLAIN_ROWS 48u
#define ALL 0x70000u			/* bytes that are compared */

static struct play play;
static uint32_t seed = 5;
static uint8_t expected[ALL];

static uint32_t random_below(uint32_t n)
{
	/* xorshift: the low bits of other generators repeat after few numbers */
	seed ^= seed << 13;
	seed ^= seed >> 17;
	seed ^= seed << 5;
	return (seed >> 4) % n;
}

/* A surface with tags. */
struct tagged {
	unsigned int n;			/* which one */
	uint32_t w, h, bytes, pitch, sample;
	bool tiled, planes;
};

static uint32_t texel_at(const struct tagged *t, uint32_t sample, uint32_t x, uint32_t y)
{
	uint32_t at = TAGGED(t->n) + sample * SAMPLE, index = 0;

	if (!t->tiled)
		return at + y * t->pitch + x * t->bytes;
	for (unsigned int b = 0; b < 4; b++)
		index |= ((x ^ y) >> b & 1) << 2 * b | (y >> b & 1) << (2 * b + 1);
	return at + y / 16 * t->pitch + (x / 16 * 256 + index) * t->bytes;
}

static uint8_t *tag_of(const struct tagged *t, uint8_t *memory, uint32_t x, uint32_t y)
{
	return memory + TAGS(t->n) + y / 8 * ((t->w + 7) / 8) + x / 8;
}

static bool has_planes(const struct tagged *t, uint32_t x, uint32_t y)
{
	return t->planes && t->bytes == 4 && (x | 7) < t->w && (y | 7) < t->h;
}

/* A depth of planes whose words are in @memory. */
static uint32_t depth_of(const struct tagged *t, const uint8_t *memory, uint32_t x, uint32_t y)
{
	uint32_t word[11];
	int64_t steps;
	int residue;

	for (unsigned int i = 0; i < 11; i++)
		memcpy(&word[i], memory + texel_at(t, t->sample, (x & ~7u) + i % 8,
						   (y & ~7u) + i / 8), 4);
	steps = (int64_t)(int32_t)word[1] * (x % 8) + (int64_t)(int32_t)word[2] * (y % 8);
	residue = (int)(word[3 + y % 8] >> 4 * (x % 8)) & 15;
	/* rounded down */
	steps = (steps - (steps % 256 + 256) % 256) / 256;
	return word[0] + (uint32_t)steps + (uint32_t)(residue > 7 ? residue - 16 : residue);
}

/* The texel that a reader of @memory has to see. */
static void read_texel(const struct tagged *t, uint8_t *memory, uint32_t x, uint32_t y,
		       uint8_t *texel)
{
	const uint8_t tag = *tag_of(t, memory, x, y);
	uint32_t depth;

	if (tag == TSR_TARGET_TAG_PLANES && has_planes(t, x, y)) {
		depth = depth_of(t, memory, x, y);
		memcpy(texel, &depth, 4);
	} else if (tag == TSR_TARGET_TAG_CLEAR) {
		memcpy(texel, memory + STATE(t->n), t->bytes);
	} else {
		bool uniform = tag == TSR_TARGET_TAG_UNIFORM;

		memcpy(texel, memory + texel_at(t, uniform ? 0 : t->sample, x, y), t->bytes);
	}
}

/* Write a texel of @expected: its block is expanded first. */
static void write_texel(const struct tagged *t, uint32_t x, uint32_t y, const uint8_t *texel)
{
	uint8_t *tag = tag_of(t, expected, x, y), block[64][16];

	if (*tag == TSR_TARGET_TAG_CLEAR ||
	    (*tag == TSR_TARGET_TAG_PLANES && has_planes(t, x, y))) {
		for (uint32_t i = 0; i < 64; i++)
			read_texel(t, expected, (x & ~7u) + i % 8, (y & ~7u) + i / 8, block[i]);
		for (uint32_t i = 0; i < 64; i++) {
			const uint32_t bx = (x & ~7u) + i % 8, by = (y & ~7u) + i / 8;

			if (bx < t->w && by < t->h)
				memcpy(expected + texel_at(t, 0, bx, by), block[i], t->bytes);
		}
		*tag = TSR_TARGET_TAG_RAW;
	}
	memcpy(expected + texel_at(t, 0, x, y), texel, t->bytes);
}

/* Random contents, tags and description of surface @n; @several: it may be a later sample. */
static struct tagged any_surface(unsigned int n, uint32_t bytes, bool several)
{
	struct tagged t = { .n = n, .bytes = bytes, .tiled = random_below(2),
			    .planes = random_below(4), .w = 1 + random_below(40),
			    .h = 1 + random_below(40) };
	struct tsr_tagged_surface record = {
		.tags = STAGE_DATA + TAGS(n), .state = STAGE_DATA + STATE(n),
		.width = t.w - 1, .height = t.h - 1,
	};
	uint8_t *data = play.s.data;

	t.sample = several && random_below(2);
	t.pitch = t.tiled ? (t.w + 15) / 16 * 256 * bytes : t.w * bytes + random_below(9);
	record.pointer = STAGE_DATA + TAGGED(n) + t.sample * SAMPLE;
	record.first = t.sample ? STAGE_DATA + TAGGED(n) : 0;
	for (uint32_t i = 0; i < 36; i++) {
		data[TAGS(n) + i] = (uint8_t)random_below(t.sample ? 6 : 5);
		/* a surface of one sample that has the tag is as good as RAW */
		if (data[TAGS(n) + i] == TSR_TARGET_TAG_UNIFORM && !t.sample)
			data[TAGS(n) + i] = 0xc0;
	}
	data[STATE(n) + 16] = t.planes;
	tsr_pack_tagged_surface((uint64_t *)(data + RECORD(n)), &record);
	return t;
}

static void prepare(void)
{
	for (uint32_t i = 0; i < ALL; i++)
		play.s.data[i] = (uint8_t)random_below(256);
}

/* A random rectangle inside of @t. */
static void any_rect(const struct tagged *t, uint32_t *x, uint32_t *y, uint32_t *w, uint32_t *h)
{
	*x = random_below(t->w);
	*y = random_below(t->h);
	*w = 1 + random_below(t->w - *x);
	*h = 1 + random_below(t->h - *y);
}

static bool run(const struct tsr_copy_rect *c, const struct tsr_fill_rect *f)
{
	uint64_t p[8];

	if (c)
		tsr_pack_copy_rect(p, c);
	else
		tsr_pack_fill_rect(p, f);
	bench_emit(&play.q, p, c ? TSR_COPY_RECT_QWORDS : TSR_FILL_RECT_QWORDS);
	bench_kick(&play.q);
	return ktap_ok(bench_run(play.s.b, 30)) & ktap_eq(bench_fault(&play.q), TSR_FAULT_NONE) &
	       ktap_mem_eq(play.s.data, expected, ALL);
}

static uint32_t any_bytes(void)
{
	return random_below(2) ? 4 : 1 + random_below(16);
}

/* From a surface with tags to one without. */
static bool read_once(void)
{
	const uint32_t bytes = any_bytes();
	struct tagged t = any_surface(0, bytes, true);
	struct tsr_copy_rect c = {
		.src_layout = t.tiled, .texel = bytes, .src_tagged = true,
		.flip_x = random_below(2), .flip_y = random_below(2),
		.src = STAGE_DATA + RECORD(0), .dst = STAGE_DATA + PLAIN,
		.src_pitch = t.pitch, .dst_pitch = PLAIN_PITCH,
		.dst_x = random_below(8), .dst_y = random_below(8),
	};
	uint32_t x, y;

	any_rect(&t, &x, &y, &c.width, &c.height);
	c.src_x = x;
	c.src_y = y;
	memcpy(expected, play.s.data, ALL);
	for (uint32_t i = 0; i < c.width * c.height; i++) {
		const uint32_t tx = i % c.width, ty = i / c.width;

		read_texel(&t, expected, x + (c.flip_x ? c.width - 1 - tx : tx),
			   y + (c.flip_y ? c.height - 1 - ty : ty),
			   expected + PLAIN + (c.dst_y + ty) * PLAIN_PITCH +
				   (c.dst_x + tx) * bytes);
	}
	return run(&c, NULL);
}

/* To a surface with tags, from another one or from one without. */
static bool write_once(void)
{
	const uint32_t bytes = any_bytes();
	const bool both = random_below(2);
	struct tagged t = any_surface(0, bytes, false), from = any_surface(1, bytes, true);
	struct tsr_copy_rect c = {
		.src_layout = both && from.tiled, .dst_layout = t.tiled, .texel = bytes,
		.src_tagged = both, .dst_tagged = true,
		.src = STAGE_DATA + (both ? RECORD(1) : PLAIN), .dst = STAGE_DATA + RECORD(0),
		.src_pitch = both ? from.pitch : PLAIN_PITCH, .dst_pitch = t.pitch,
	};
	uint32_t x, y;

	any_rect(&t, &x, &y, &c.width, &c.height);
	c.dst_x = x;
	c.dst_y = y;
	if (both && c.width > from.w)
		c.width = from.w;
	if (both && c.height > from.h)
		c.height = from.h;
	memcpy(expected, play.s.data, ALL);
	for (uint32_t i = 0; i < c.width * c.height; i++) {
		const uint32_t tx = i % c.width, ty = i / c.width;
		uint8_t texel[16];

		if (both)
			read_texel(&from, expected, tx, ty, texel);
		else
			memcpy(texel, expected + PLAIN + ty * PLAIN_PITCH + tx * bytes, bytes);
		write_texel(&t, x + tx, y + ty, texel);
	}
	return run(&c, NULL);
}

static bool fill_once(void)
{
	const uint32_t bytes = any_bytes();
	struct tagged t = any_surface(0, bytes, false);
	struct tsr_fill_rect f = {
		.layout = t.tiled, .tagged = true, .texel = bytes,
		.dst = STAGE_DATA + RECORD(0), .pitch = t.pitch,
	};
	uint64_t pattern[2] = { 0 };
	uint32_t x, y;

	any_rect(&t, &x, &y, &f.width, &f.height);
	f.x = x;
	f.y = y;
	for (uint32_t i = 0; i < bytes; i++)
		((uint8_t *)pattern)[i] = (uint8_t)random_below(256);
	f.pattern_lo = pattern[0];
	f.pattern_hi = pattern[1];
	memcpy(expected, play.s.data, ALL);
	for (uint32_t i = 0; i < f.width * f.height; i++)
		write_texel(&t, x + i % f.width, y + i / f.width, (const uint8_t *)pattern);
	return run(NULL, &f);
}

static void repeat(bool (*once)(void))
{
	const struct tsr_config config = { .cores = 1 };

	begin(&play, &config);
	for (unsigned int i = 0; i < 150; i++) {
		prepare();
		if (!once())
			break;
	}
	end(&play);
}

static void test_read(void)
{
	repeat(read_once);
}

static void test_write(void)
{
	repeat(write_once);
}

static void test_fill(void)
{
	repeat(fill_once);
}

/* ---- Errors ---------------------------------------------------------------------------------- */

/* A copy from or to (@write) a surface of 20 by 20 texels, wrong in one place. */
static void fault(bool write, unsigned int which)
{
	static const struct {
		uint8_t code, qword;
		bool packet;		/* the fault is in the packet */
	} want[] = {
		{ TSR_FAULT_ALIGNMENT, 0, true }, { TSR_FAULT_ALIGNMENT, 0, false },
		{ TSR_FAULT_ALIGNMENT, 2, false }, { TSR_FAULT_BAD_VALUE, 3, false },
		{ TSR_FAULT_BAD_VALUE, 3, false }, { TSR_FAULT_BAD_VALUE, 4, false },
		{ TSR_FAULT_RESERVED_BITS, 3, false },
	};
	const struct tsr_config config = { .cores = 1 };
	struct tsr_copy_rect c = {
		.src_layout = TSR_LAYOUT_TILED, .dst_layout = TSR_LAYOUT_TILED, .texel = 4,
		.src_tagged = !write, .dst_tagged = write,
		.src = STAGE_DATA + (write ? PLAIN : RECORD(0)),
		.dst = STAGE_DATA + (write ? RECORD(0) : PLAIN),
		.src_pitch = 2048, .dst_pitch = 2048, .width = 20, .height = 20,
	};
	struct tsr_tagged_surface record = {
		.pointer = STAGE_DATA + TAGGED(0), .tags = STAGE_DATA + TAGS(0),
		.state = STAGE_DATA + STATE(0), .width = 19, .height = 19,
	};
	uint64_t p[8], *word, at;

	begin(&play, &config);
	c.src += which == 0 && !write ? 32 : 0;
	c.dst += which == 0 && write ? 32 : 0;
	record.pointer += which == 1 ? 4 : 0;
	record.state += which == 2 ? 8 : 0;
	record.width -= which == 3;
	record.height -= which == 4;
	record.first = which == 5 ? record.pointer : 0;
	word = (uint64_t *)(play.s.data + RECORD(0));
	tsr_pack_tagged_surface(word, &record);
	word[3] |= which == 6 ? 1ull << 63 : 0;
	tsr_pack_copy_rect(p, &c);
	bench_emit(&play.q, p, TSR_COPY_RECT_QWORDS);
	bench_kick(&play.q);
	ktap_ok(bench_run(play.s.b, 10));
	at = bench_queue_reg64(&play.q, TSR_REG_QUEUE_FAULT_ADDR(0) - TSR_QUEUE__OFFSET);
	if (which == 5 && !write)
		ktap_eq(bench_fault(&play.q), TSR_FAULT_NONE);
	else if (!(ktap_eq(bench_fault(&play.q), want[which].code) &
		   (want[which].packet ? ktap_ok(at % 8 == 0 && at != STAGE_DATA + RECORD(0)) :
		    ktap_eq(at, STAGE_DATA + RECORD(0) + 8 * want[which].qword))))
		ktap_note("write %u, error %u", write, which);
	end(&play);
}

static void test_faults(void)
{
	for (unsigned int i = 0; i < 14; i++)
		fault(i % 2, i / 2);
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	ktap_run("[MEM8] COPY_RECT reads through tags and leaves them", test_read);
	ktap_run("[MEM8] COPY_RECT expands the blocks that it writes to", test_write);
	ktap_run("[MEM8] FILL_RECT does so, too", test_fill);
	ktap_run("[MEM8] errors of TAGGED_SURFACE", test_faults);
	return ktap_finish();
}
