/* SPDX-License-Identifier: MIT */
/* test: TIMEOUT=180 TSAN=0 */
/*
 * Render targets in memory: a frame that is loaded, drawn on and stored leaves the same texels
 * wherever and however they lie - linear, tiled, across pages, stencil in the words of depth, pages
 * that the host has to be asked for - and nothing beside them.
 */
#include <string.h>

#include "copy_ref.h"
#include "ktap.h"
#include "tiles.h"

#define WIDTH 52
#define HEIGHT 37
#define PADDING 0xa5
#define USED 0x60000			/* bytes that a target takes at most */
#define HUGE_TARGET (2 * BENCH_HUGE_PAGE)	/* in large pages */

/* Addresses after the lists and states of binner.h. */
#define PROGRAM (BINNER_FRAME + 0x4000)
#define CODE (BINNER_FRAME + 0x4100)
#define BLENDS (BINNER_FRAME + 0x5000)

/* How a frame lies in memory. */
struct how {
	unsigned int depth, depth_bytes;	/* format */
	unsigned int stencil_bytes;	/* 0: no stencil */
	bool together;			/* stencil in the words of depth */
	unsigned int samples_log2;
	bool one;			/* sample is stored */
	bool load;			/* true: load; false: clear */
	/* what must not make a difference */
	bool tiled, pending;
	bool huge;			/* in large pages */
	unsigned int wide;		/* rows are so many pages apart, samples between them */
	unsigned int offset;		/* of the first texel */
	bool empty;			/* nothing is drawn */
	bool large;			/* tiles of 32 by 32 pixels */
	unsigned int cores;		/* 1: tiles side by side are cleared together */
};

/* Texels of a target in memory. */
static unsigned int texels(const struct how *how)
{
	return (unsigned int)WIDTH * HEIGHT << (how->one ? 0 : how->samples_log2);
}

static void corner(struct binner *f, uint32_t vertex, uint32_t instance, float *record)
{
	static const float at[3][3] = {
		{ -0.9f, -0.9f, 0 }, { 0.9f, -0.8f, 1 }, { -0.7f, 0.9f, 0.4f },
	};

	(void)f;
	(void)instance;
	memcpy(record, at[vertex % 3], sizeof(at[0]));
	record[3] = 1;
}

/* Depth becomes red; stencil counts. */
static void states(struct tiles *t)
{
	static const char text[] =
		"clause slot=0 wait=0,6 {\n*NOP\n"
		"+LD_VAR_SPECIAL.f32.frag_z.clobber.center zero.w0, @r0\n}\n" TILES_FINISH;
	uint8_t *list = t->f->list - BINNER_LIST;
	struct tsr_draw_state *draw = &t->f->draw;

	tiles_program(t, CODE, text);
	tsr_pack_shader_program((uint64_t *)(list + PROGRAM),
				&(struct tsr_shader_program){ .code = CODE });
	tsr_pack_blend((uint64_t *)(list + BLENDS), &(struct tsr_blend){
		.mask = 15, .mode = TSR_BLEND_MODE_OPAQUE, .components = 3,
		.registers = TSR_REGISTER_TYPE_F32, .format = TSR_PIXEL_FORMAT_RGBA8_UNORM << 12 });
	t->f->position = corner;
	t->f->shader = (struct tsr_shader_state){ .fragment = PROGRAM };
	draw->blends = BLENDS;
	draw->blend_count = 1;
	draw->depth_test = draw->depth_write = true;
	draw->depth_function = TSR_COMPARE_FUNCTION_LESS;
	draw->stencil_test = t->f->frame.has_stencil;
	draw->front_function = draw->back_function = TSR_COMPARE_FUNCTION_ALWAYS;
	draw->front_pass = draw->back_pass = TSR_STENCIL_OP_INCREMENT_WRAP;
	draw->front_depth_fail = draw->back_depth_fail = TSR_STENCIL_OP_INVERT;
	draw->front_write_mask = draw->back_write_mask = 0x7f;
	binner_again(t->f);
	binner_states(t->f);
	binner_arrays(t->f, TSR_TOPOLOGY_TRIANGLES, 3);
}

/* Place target @index as @how says, with space after each row. */
static void lay_out(struct tiles *t, unsigned int index, unsigned int format, unsigned int bytes,
		    const struct how *how)
{
	struct tsr_render_target *r = &t->target[index];

	tiles_target(t, index, format, bytes);
	r->layout = how->tiled ? TSR_LAYOUT_TILED : TSR_LAYOUT_LINEAR;
	if (how->huge && index >= TILES_DEPTH)
		r->pointer = TILES_TARGETS + (index - TILES_DEPTH + 1) * HUGE_TARGET;
	r->pointer += how->tiled ? how->offset / 64 * 64 : how->offset;
	r->pitch = how->tiled ? 256 * bytes * 5 : WIDTH * bytes + 48;
	if (how->wide && !how->tiled)
		r->pitch = how->wide * BENCH_PAGE;
	r->sample_stride = how->wide && !how->tiled ? 1024 : 0x10000;
	r->layer_stride = 0x40000;
	r->samples_log2 = how->one ? 0 : how->samples_log2;
}

static uint8_t *texel(struct tiles *t, unsigned int index, unsigned int x, unsigned int y,
		      unsigned int s)
{
	const struct tsr_render_target *r = &t->target[index];
	uint8_t *at = t->memory + (r->pointer - TILES_TARGETS) + (size_t)r->sample_stride * s;

	if (r->layout == TSR_LAYOUT_LINEAR)
		return at + (size_t)r->pitch * y + (size_t)x * t->bytes[index];
	return at + (size_t)r->pitch * (y / 16) +
	       (256 * (x / 16) + copy_ref_index(x % 16, y % 16)) * t->bytes[index];
}

/* Texel @n before the frame: depth from 0 to 1, any other bits. */
static uint32_t before(const struct how *how, unsigned int index, unsigned int n)
{
	uint32_t word = n * 0x9e3779b1u;
	float z = (float)(word >> 8) / (1 << 24);

	if (index == TILES_DEPTH && how->depth == TSR_PIXEL_FORMAT_R32F)
		memcpy(&word, &z, sizeof(z));
	return index == TILES_STENCIL && !how->together ? ~word : word;
}

/* Bytes from target to target. */
static size_t apart(const struct how *how)
{
	return how->huge ? HUGE_TARGET : TILES_TARGET_SIZE;
}

static void fill(struct tiles *t, const struct how *how)
{
	for (unsigned int i = 0; i < 3; i++)
		memset(t->memory + i * apart(how), PADDING, USED);
	for (unsigned int n = 0; n < texels(how); n++) {
		unsigned int x = n % WIDTH, y = n / WIDTH % HEIGHT, s = n / (WIDTH * HEIGHT);
		uint32_t color = before(how, 0, n), depth = before(how, TILES_DEPTH, n);
		uint32_t stencil = before(how, TILES_STENCIL, n);

		memcpy(texel(t, 0, x, y, s), &color, 4);
		memcpy(texel(t, TILES_DEPTH, x, y, s), &depth, how->depth_bytes);
		if (how->stencil_bytes && !how->together)
			memcpy(texel(t, TILES_STENCIL, x, y, s), &stencil, how->stencil_bytes);
	}
}

/* The bits @mask of a cleared frame. */
static uint32_t cleared(const struct how *how, unsigned int index, uint32_t *mask)
{
	*mask = UINT32_MAX;
	if (!index)
		return 0x00008000;
	if (index == TILES_STENCIL) {
		*mask = how->stencil_bytes == 4 ? 0xff000000 : 0xff;
		return 0x5a5a5a5a & *mask;
	}
	if (how->depth == TSR_PIXEL_FORMAT_R32F)
		return binner_bits(0.625f);
	*mask = how->depth_bytes == 2 ? 0xffff : 0xffffff;
	return 0.625 * *mask;
}

/* Texels beside the triangle that are not what they were, or what they have been cleared to. */
static unsigned int lost(struct tiles *t, const struct how *how, unsigned int index)
{
	unsigned int bytes = t->bytes[index], count = 0;

	for (unsigned int n = 0; n < texels(how); n++) {
		unsigned int x = n % WIDTH, y = n / WIDTH % HEIGHT, s = n / (WIDTH * HEIGHT);
		uint32_t word = 0, want, mask = bytes == 4 ? UINT32_MAX : (1u << 8 * bytes) - 1;

		if (!how->empty && (double)x / WIDTH + (double)y / HEIGHT < 1.2)
			continue;
		memcpy(&word, texel(t, index, x, y, s), bytes);
		want = how->load ? before(how, index, n) : cleared(how, index, &mask);
		count += (word & mask) != (want & mask);
	}
	return count;
}

/* Large pages, of local memory, in place of those that the targets have. */
static void make_huge(struct tiles *t)
{
	const uint64_t size = 3 * HUGE_TARGET;
	const uint64_t at = bench_alloc_local(t->f->b, size, BENCH_HUGE_PAGE);

	t->memory = t->f->b->local + at;
	bench_map_huge(&t->f->as, TILES_TARGETS, at, size, BENCH_RW | TSR_PTE_LOCAL__MASK);
}

/*
 * True if what the host was told of as written is what texels of @t lie in, by pages; after a load,
 * some of these.
 */
static bool told(struct tiles *t, const struct how *how)
{
	static const unsigned int targets[] = { 0, TILES_DEPTH, TILES_STENCIL };
	static uint8_t wanted[3 * HUGE_TARGET / BENCH_PAGE], have[sizeof(wanted)];
	const struct bench *b = t->f->b;
	unsigned int wrong = 0;

	memset(wanted, 0, sizeof(wanted));
	memset(have, 0, sizeof(have));
	for (unsigned int i = 0; i < (how->stencil_bytes ? 3 : 2); i++) {
		for (unsigned int n = 0; n < texels(how); n++) {
			const uint8_t *at = texel(t, targets[i], n % WIDTH, n / WIDTH % HEIGHT,
						  n / (WIDTH * HEIGHT));

			wanted[(at - t->memory) / BENCH_PAGE] = 1;
		}
	}
	for (unsigned int i = 0; i < b->dirty_count && i < BENCH_DIRTY_MAX; i++) {
		const uint64_t at = b->dirty[i].addr - (uint64_t)(t->memory - b->local);

		if (b->dirty[i].space != TSR_SPACE_LOCAL)
			continue;
		for (uint64_t page = at / BENCH_PAGE; page * BENCH_PAGE < at + b->dirty[i].len;
		     page++)
			have[page] = 1;
	}
	for (size_t page = 0; page < sizeof(have); page++)
		wrong += have[page] != wanted[page] && (have[page] || !how->load);
	return b->dirty_count > BENCH_DIRTY_MAX || !wrong;
}

static struct tiles *frame(const struct how *how)
{
	const struct tsr_config config = { .local_size = 4 * HUGE_TARGET, .cores = how->cores };
	struct tiles *t = tiles_new(WIDTH, HEIGHT, &config);

	if (how->huge)
		make_huge(t);
	t->f->frame.samples_log2 = how->samples_log2;
	t->f->frame.has_stencil = how->stencil_bytes;
	t->f->frame.tile_shift += how->large;
	lay_out(t, 0, TSR_PIXEL_FORMAT_RGBA8_UNORM, 4, how);
	lay_out(t, TILES_DEPTH, how->depth, how->depth_bytes, how);
	lay_out(t, TILES_STENCIL, how->stencil_bytes == 4 ? TSR_PIXEL_FORMAT_X24S8 :
							   TSR_PIXEL_FORMAT_S8,
		how->stencil_bytes, how);
	if (how->together)
		t->target[TILES_STENCIL].pointer = t->target[TILES_DEPTH].pointer;
	t->target[0].clear_1 = binner_bits(0.5f);
	t->target[TILES_DEPTH].clear_0 = binner_bits(0.625f);
	t->target[TILES_STENCIL].clear_0 = 0x5a;
	t->clear = how->load ? 0 : TILES_ALL;
	t->load = how->load ? TILES_ALL : 0;
	states(t);
	fill(t, how);
	if (how->empty)
		binner_again(t->f);
	ktap_ok(binner_bin(t->f));
	t->f->b->pending_every = how->pending;
	t->f->b->dirty_count = 0;
	if (!ktap_ok(tiles_render(t)))
		ktap_note("fault %u", bench_fault(&t->queue));
	if (how->huge)
		ktap_ok(told(t, how));
	return t;
}

/* Bytes of memory that are no longer as fill() left them beside all texels. */
static unsigned int beside(struct tiles *t, const struct how *how)
{
	unsigned int changed = 0;

	for (unsigned int n = 0; n < texels(how); n++) {
		unsigned int x = n % WIDTH, y = n / WIDTH % HEIGHT, s = n / (WIDTH * HEIGHT);

		memset(texel(t, 0, x, y, s), PADDING, 4);
		memset(texel(t, TILES_DEPTH, x, y, s), PADDING, how->depth_bytes);
		if (how->stencil_bytes)
			memset(texel(t, TILES_STENCIL, x, y, s), PADDING, how->stencil_bytes);
	}
	for (size_t i = 0; i < 3 * USED; i++)
		changed += t->memory[i / USED * apart(how) + i % USED] != PADDING;
	return changed;
}

/* Texels of target @index that two frames do not have in common. */
static unsigned int differ(struct tiles *a, struct tiles *b, unsigned int index, unsigned int bytes,
			   unsigned int samples)
{
	unsigned int count = 0;

	for (unsigned int n = 0; n < WIDTH * HEIGHT * samples; n++) {
		unsigned int x = n % WIDTH, y = n / WIDTH % HEIGHT, s = n / (WIDTH * HEIGHT);

		count += memcmp(texel(a, index, x, y, s), texel(b, index, x, y, s), bytes) != 0;
	}
	return count;
}

static void compare(const struct how *how, const struct how *other)
{
	struct tiles *a = frame(how), *b = frame(other);
	unsigned int samples = how->one ? 1 : 1 << how->samples_log2;
	bool ok = ktap_eq(differ(a, b, 0, 4, samples), 0);

	ok &= ktap_eq(differ(a, b, TILES_DEPTH, how->depth_bytes, samples), 0);
	if (how->stencil_bytes)
		ok &= ktap_eq(differ(a, b, TILES_STENCIL, how->stencil_bytes, samples), 0);
	ok &= ktap_eq(tiles_counter(a, TSR_QUEUE_COUNTER_TILE_LOAD_BYTES),
		      tiles_counter(b, TSR_QUEUE_COUNTER_TILE_LOAD_BYTES));
	ok &= ktap_eq(tiles_counter(a, TSR_QUEUE_COUNTER_TILE_STORE_BYTES),
		      tiles_counter(b, TSR_QUEUE_COUNTER_TILE_STORE_BYTES));
	if (!other->pending)
		ok &= ktap_eq(tiles_counter(a, TSR_QUEUE_COUNTER_CYCLES),
			      tiles_counter(b, TSR_QUEUE_COUNTER_CYCLES));
	ok &= ktap_eq(lost(b, other, 0), 0);
	ok &= ktap_eq(lost(b, other, TILES_DEPTH), 0);
	if (how->stencil_bytes)
		ok &= ktap_eq(lost(b, other, TILES_STENCIL), 0);
	ok &= ktap_eq(beside(a, how), 0);
	ok &= ktap_eq(beside(b, other), 0);
	if (!ok)
		ktap_note("depth %u, stencil %u%s, samples %u (%d), load %d, tiled %d, offset %u, "
			  "huge %d, wide %u, empty %d",
			  how->depth, how->stencil_bytes, how->together ? " in it" : "",
			  how->samples_log2, how->one, how->load, other->tiled, other->offset,
			  other->huge, other->wide, how->empty);
	tiles_free(a);
	tiles_free(b);
}

#define FORMAT(name, ...) { .depth = TSR_PIXEL_FORMAT_##name, __VA_ARGS__ }

static const struct how formats[] = {
	FORMAT(Z16_UNORM, .depth_bytes = 2),
	FORMAT(R32F, .depth_bytes = 4, .stencil_bytes = 1),
	FORMAT(R32F, .depth_bytes = 4, .stencil_bytes = 4),
	FORMAT(Z24X8_UNORM, .depth_bytes = 4),
	FORMAT(Z24X8_UNORM, .depth_bytes = 4, .stencil_bytes = 4),
	FORMAT(Z24X8_UNORM, .depth_bytes = 4, .stencil_bytes = 4, .together = true),
};

#define FORMATS (sizeof(formats) / sizeof(formats[0]))

/* Frames of all formats, with one sample and four, of which one may be stored. */
static bool each(unsigned int n, struct how *how)
{
	*how = formats[n % FORMATS];
	how->load = n / FORMATS & 1;
	how->samples_log2 = n / FORMATS / 2 ? 2 : 0;
	how->one = n / FORMATS / 2 == 2;
	return n < FORMATS * 6;
}

static void test_places(void)
{
	static const unsigned int offsets[] = { 0, 16, 4080, 4032 };
	struct how how, other;

	for (unsigned int n = 0; each(n, &how); n++) {
		other = how;
		other.offset = offsets[n % 4];
		compare(&how, &other);
		other.tiled = true;
		compare(&how, &other);
	}
}

static void test_pending(void)
{
	struct how how, other;

	for (unsigned int n = 0; each(n, &how); n++) {
		other = how;
		other.pending = true;
		other.tiled = n % 2;
		other.offset = 4032;
		compare(&how, &other);
	}
}

/* Large pages, in which tiles are moved as a whole; and tiles that nothing is drawn to. */
static void test_huge(void)
{
	static const unsigned int offsets[] = { 0, 16, 4080, BENCH_HUGE_PAGE - 0x2000 };
	struct how how, other;

	for (unsigned int n = 0; n < 2 * FORMATS * 6; n++) {
		each(n / 2, &how);
		how.empty = n % 2;
		how.cores = 1;
		other = how;
		other.huge = true;
		other.offset = offsets[n / 2 % 4];
		compare(&how, &other);
		other.tiled = true;
		other.large = n % 4 >= 2;
		how.large = other.large;
		compare(&how, &other);
		other.tiled = false;
		other.offset = 0;
		for (other.wide = 1; other.wide <= 2; other.wide++)
			compare(&how, &other);
	}
}

/* Bits that are not depth keep their values, also where nothing is drawn. */
static void test_kept(void)
{
	struct how how = formats[3];

	how.empty = true;
	for (unsigned int huge = 0; huge < 2; huge++) {
		unsigned int wrong = 0;
		struct tiles *t;

		how.huge = huge;
		t = frame(&how);
		for (unsigned int n = 0; n < texels(&how); n++) {
			uint32_t word;

			memcpy(&word, texel(t, TILES_DEPTH, n % WIDTH, n / WIDTH, 0), sizeof(word));
			wrong += (word ^ before(&how, TILES_DEPTH, n)) >> 24 != 0;
		}
		ktap_eq(wrong, 0);
		tiles_free(t);
	}
}

/* Depth and stencil are the same in words they share as in words, and bytes, of their own. */
static void test_together(void)
{
	for (unsigned int i = 0; i < 4; i++) {
		struct how how = formats[5], other = formats[4];
		struct tiles *a, *b;
		unsigned int wrong = 0, counted = 0;

		how.load = false;
		how.samples_log2 = other.samples_log2 = i & 2;
		how.tiled = i & 1;
		other.stencil_bytes = i & 1 ? 4 : 1;
		a = frame(&how);
		b = frame(&other);
		for (unsigned int n = 0; n < texels(&how); n++) {
			unsigned int x = n % WIDTH, y = n / WIDTH % HEIGHT;
			unsigned int s = n / (WIDTH * HEIGHT);
			const uint8_t *word = texel(a, TILES_DEPTH, x, y, s);
			const uint8_t *stencil = texel(b, TILES_STENCIL, x, y, s);

			wrong += memcmp(word, texel(b, TILES_DEPTH, x, y, s), 3) != 0 ||
				 word[3] != stencil[other.stencil_bytes - 1];
			counted += word[3] == 0x5b;
		}
		ktap_eq(wrong, 0);
		ktap_ok(counted > 200);
		tiles_free(a);
		tiles_free(b);
	}
}

/* Cycles that tiles of 16 x 16 cost which do this @times, after they have been cleared. */
static uint64_t cycles(unsigned int opcode, unsigned int which, bool one, unsigned int times)
{
	struct tiles *t = tiles_new(64, 64, NULL);
	uint64_t list[8], count;

	t->f->frame.heap = 0;
	t->f->frame.samples_log2 = 2;
	tiles_target(t, 0, TSR_PIXEL_FORMAT_RGBA8_UNORM, 4);
	tiles_target(t, TILES_DEPTH, TSR_PIXEL_FORMAT_Z16_UNORM, 2);
	t->target[0].samples_log2 = t->target[TILES_DEPTH].samples_log2 = one ? 0 : 2;
	list[0] = TSR_OP_TILE_CLEAR | 1u << 8 | 0xffu << 16 | 3u << 24;
	for (unsigned int i = 1; i <= times; i++)
		list[i] = opcode | 1u << 8 | (which & 0xff) << 16 | (which >> 8 & 3) << 24;
	t->list = list;
	t->list_qwords = 1 + times;
	if (!ktap_ok(tiles_render(t)))
		ktap_note("fault %u", bench_fault(&t->queue));
	count = tiles_counter(t, TSR_QUEUE_COUNTER_CYCLES);
	tiles_free(t);
	return count;
}

/* The cost of one more packet for each of the 16 tiles, without the packet itself. */
static uint64_t cost(unsigned int opcode, unsigned int which, bool one)
{
	return (cycles(opcode, which, one, 3) - cycles(opcode, which, one, 2)) / 16 - 1;
}

/* A tile has 1024 bytes of color for each sample, and 512 of depth, which count as many. */
static void test_cost(void)
{
	const unsigned int depth = 1u << TILES_DEPTH;

	ktap_eq(cost(TSR_OP_TILE_STORE, 1, false), 4 * 1024 / 64);
	ktap_eq(cost(TSR_OP_TILE_STORE, 1, true), 4 * 1024 / 64);
	ktap_eq(cost(TSR_OP_TILE_LOAD, 1, true), 4 * 1024 / 64);
	ktap_eq(cost(TSR_OP_TILE_LOAD, depth, true), 4 * 1024 / 64);
	ktap_eq(cost(TSR_OP_TILE_STORE, depth, false), 4 * 1024 / 64);
	ktap_eq(cost(TSR_OP_TILE_LOAD, 1 | depth, true), 2 * 4 * 1024 / 64);
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	ktap_run("[MEM4] [MEM8] [OM3] targets anywhere, linear and tiled", test_places);
	ktap_run("[MEM2] [OM3] targets in large pages, and tiles that nothing is drawn to",
		 test_huge);
	ktap_run("[ZS1] words of depth where nothing is drawn", test_kept);
	ktap_run("[MEM1] [OM3] pages of targets that the host is asked for", test_pending);
	ktap_run("[ZS1] [MEM8] stencil in the words of depth, and beside them", test_together);
	ktap_run("what tiles load and store is paid for, by samples", test_cost);
	return ktap_finish();
}
