// SPDX-License-Identifier: MIT
/* test: TIMEOUT=90 DEVICE_ARGS=vram=64M,copy-engines=2 */
/*
 * The copy engine as a process sees it: linear copies and fills of every alignment, rectangles,
 * tiled surfaces, both kinds of memory. What must come out is computed here, from the definition of
 * the layouts in Documentation/hw/copy-engine.md.
 */
#include "gt_main.h"

#include <unistd.h>

#define SRC_VA	0x40000000ULL
#define DST_VA	0x50000000ULL
#define SIZE	0x80000ULL

static struct gt_ctx c;
static struct gt_bo src, dst;
static unsigned char *want;	/* what dst must hold */
static uint64_t seed = 0x1234567;

static uint32_t rnd(uint32_t below)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (seed >> 33) % below;
}

/*
 * New random content for the source; the destination and what is expected of it start from another
 * pattern.
 */
static void scramble(void)
{
	uint32_t *words = src.map;
	uint64_t i;

	for (i = 0; i < SIZE / 4; i++)
		words[i] = rnd(UINT32_MAX);
	memset(dst.map, 0xd5, SIZE);
	memset(want, 0xd5, SIZE);
}

static void linear_copies(void)
{
	struct gt_cs cs = gt_stream(&c, 4 * 64);
	unsigned int i;

	scramble();
	for (i = 0; i < 64; i++) {
		uint64_t from = rnd(SIZE / 2), size = i < 40 ? i : rnd(0x1800);
		uint64_t to = i * 0x2000 + rnd(0x800);	/* each in a place of its own */

		GT_EMIT(&cs, copy_linear, .src = SRC_VA + from, .dst = DST_VA + to, .size = size);
		memcpy(want + to, (char *)src.map + from, size);
	}
	ktap_eq(gt_run(&c, &cs), 0);
	ktap_mem_eq(dst.map, want, SIZE);
}

static void large_copy(void)
{
	struct gt_cs cs = gt_stream(&c, 4);

	scramble();
	GT_EMIT(&cs, copy_linear, .src = SRC_VA + 1, .dst = DST_VA + 5, .size = SIZE - 5);
	memcpy(want + 5, (char *)src.map + 1, SIZE - 5);
	ktap_eq(gt_run(&c, &cs), 0);
	ktap_mem_eq(dst.map, want, SIZE);
}

static void linear_fills(void)
{
	struct gt_cs cs = gt_stream(&c, 5 * 16 + 8);
	unsigned int texel, i;

	scramble();
	for (texel = 1; texel <= TSR_TEXEL_MAX; texel++) {
		unsigned char pattern[16] = { 0 };
		uint64_t to = texel * 0x4000 + texel, size = texel * (100 + texel), words[2];

		for (i = 0; i < texel; i++)
			pattern[i] = rnd(256);
		memcpy(words, pattern, 16);
		GT_EMIT(&cs, fill_linear, .texel = texel, .dst = DST_VA + to, .size = size,
			.pattern_lo = words[0], .pattern_hi = words[1]);
		for (i = 0; i < size; i++)
			want[to + i] = pattern[i % texel];
	}
	ktap_eq(gt_run(&c, &cs), 0);
	ktap_mem_eq(dst.map, want, SIZE);
}

/* ---- surfaces ---- */

/* A surface in one of the two buffers. */
struct surface {
	uint64_t offset;
	uint32_t pitch;
	bool tiled;
};

/*
 * Byte offset of texel (x, y): rows, or rows of 16x16 tiles in which bits of y and of x^y
 * alternate.
 */
static uint64_t texel_offset(const struct surface *s, uint32_t texel, uint32_t x, uint32_t y)
{
	uint32_t index = 0, bit;

	if (!s->tiled)
		return s->offset + (uint64_t)y * s->pitch + (uint64_t)x * texel;
	for (bit = 0; bit < 4; bit++) {
		index |= ((x ^ y) >> bit & 1) << (2 * bit);
		index |= (y >> bit & 1) << (2 * bit + 1);
	}
	return s->offset + (uint64_t)(y / 16) * s->pitch + (uint64_t)(x / 16) * 256 * texel +
	       (uint64_t)index * texel;
}

static uint32_t pitch_for(uint32_t texel, uint32_t width, bool tiled)
{
	return tiled ? (width + 15) / 16 * 256 * texel : width * texel + rnd(9);
}

/*
 * One COPY_RECT between random rectangles of two surfaces of @texel bytes; expected result into
 * want.
 */
static void rect_case(struct gt_cs *cs, uint32_t texel, bool from_tiled, bool to_tiled,
		      uint32_t flips)
{
	struct surface from = { .offset = from_tiled ? 0 : rnd(64), .tiled = from_tiled };
	struct surface to = { .offset = to_tiled ? 0 : rnd(64), .tiled = to_tiled };
	uint32_t w = 1 + rnd(50), h = 1 + rnd(50), sx = rnd(30), sy = rnd(30), dx = rnd(30),
		 dy = rnd(30), x, y;

	from.pitch = pitch_for(texel, sx + w, from_tiled);
	to.pitch = pitch_for(texel, dx + w, to_tiled);
	GT_EMIT(cs, copy_rect, .src_layout = from_tiled, .dst_layout = to_tiled,
		.flip_x = flips & 1, .flip_y = flips >> 1 & 1, .texel = texel,
		.src = SRC_VA + from.offset, .dst = DST_VA + to.offset, .src_pitch = from.pitch,
		.dst_pitch = to.pitch, .src_x = sx, .src_y = sy, .dst_x = dx, .dst_y = dy,
		.width = w, .height = h);
	for (y = 0; y < h; y++) {
		for (x = 0; x < w; x++) {
			uint32_t tx = flips & 1 ? w - 1 - x : x, ty = flips & 2 ? h - 1 - y : y;

			memcpy(want + texel_offset(&to, texel, dx + tx, dy + ty),
			       (char *)src.map + texel_offset(&from, texel, sx + x, sy + y), texel);
		}
	}
}

/* Every texel size with every flip, for one pair of layouts. */
static void rects(const void *arg)
{
	unsigned int layouts = *(const unsigned int *)arg, texel, flips;

	for (texel = 1; texel <= TSR_TEXEL_MAX; texel++) {
		for (flips = 0; flips < 4; flips++) {
			struct gt_cs cs = gt_stream(&c, 8);

			if (flips == 0)
				scramble();
			else
				memcpy(want, dst.map, SIZE);
			rect_case(&cs, texel, layouts & 1, layouts >> 1, flips);
			if (!ktap_eq(gt_run(&c, &cs), 0) || !ktap_mem_eq(dst.map, want, SIZE)) {
				ktap_note("texel of %u bytes, flips %u", texel, flips);
				return;
			}
		}
	}
}

static void rect_fills(void)
{
	unsigned int texel, tiled, i;

	for (texel = 1; texel <= TSR_TEXEL_MAX; texel++) {
		for (tiled = 0; tiled < 2; tiled++) {
			struct surface to = { .offset = tiled ? 0 : 3, .tiled = tiled };
			uint32_t w = 1 + rnd(40), h = 1 + rnd(40), x0 = rnd(20), y0 = rnd(20), x, y;
			unsigned char pattern[16] = { 0 };
			struct gt_cs cs = gt_stream(&c, 8);
			uint64_t words[2];

			memset(dst.map, 0xd5, SIZE);
			memset(want, 0xd5, SIZE);
			for (i = 0; i < texel; i++)
				pattern[i] = rnd(256);
			memcpy(words, pattern, 16);
			to.pitch = pitch_for(texel, x0 + w, tiled);
			GT_EMIT(&cs, fill_rect, .layout = tiled, .texel = texel,
				.dst = DST_VA + to.offset, .pitch = to.pitch, .x = x0, .y = y0,
				.width = w, .height = h, .pattern_lo = words[0],
				.pattern_hi = words[1]);
			for (y = 0; y < h; y++) {
				for (x = 0; x < w; x++)
					memcpy(want + texel_offset(&to, texel, x0 + x, y0 + y),
					       pattern, texel);
			}
			ktap_eq(gt_run(&c, &cs), 0);
			ktap_mem_eq(dst.map, want, SIZE);
		}
	}
}

/* A 64-byte burst of a tiled 32-bit surface holds a 4x4 block: the reason for the layout. */
static void burst_is_a_block(void)
{
	struct surface s = { .pitch = 4096, .tiled = true };
	struct gt_cs cs = gt_stream(&c, 8);
	uint32_t *words = dst.map;
	unsigned int i, inside = 0;

	memset(dst.map, 0, SIZE);
	GT_EMIT(&cs, fill_rect, .layout = TSR_LAYOUT_TILED, .texel = 4, .dst = DST_VA,
		.pitch = s.pitch, .x = 8, .y = 4, .width = 4, .height = 4,
		.pattern_lo = 0x11223344);
	ktap_eq(gt_run(&c, &cs), 0);
	for (i = 0; i < SIZE / 4; i++)
		inside += words[i] == 0x11223344;
	ktap_eq(inside, 16);
	for (i = 0; i < 16; i++)
		ktap_eq(words[(texel_offset(&s, 4, 8, 4) & ~63ULL) / 4 + i], 0x11223344);
}

/* Nothing to do is done: size, width or height 0 touch nothing, mapped or not. */
static void empty_commands(void)
{
	struct gt_cs cs = gt_stream(&c, 40);

	scramble();
	GT_EMIT(&cs, copy_linear, .src = 0x7000000000, .dst = 0x7000000000, .size = 0);
	GT_EMIT(&cs, fill_linear, .texel = 3, .dst = 0x7000000000, .size = 0);
	GT_EMIT(&cs, copy_rect, .texel = 4, .src = 0x7000000000, .dst = 0x7000000000, .width = 0,
		.height = 9);
	GT_EMIT(&cs, fill_rect, .texel = 4, .dst = 0x7000000000, .width = 9, .height = 0);
	ktap_eq(gt_run(&c, &cs), 0);
	ktap_mem_eq(dst.map, want, SIZE);
}

/* ---- local memory ---- */

static bool have_local(void)
{
	if (gt_gpu_info(c.fd).local_size)
		return true;
	ktap_skip("the device has no local memory");
	return false;
}

/* system -> local -> local -> system, each leg checked through the CPU's view of BAR 2 as well. */
static void local_round_trip(void)
{
	struct gt_bo near, far;
	struct gt_cs cs = gt_stream(&c, 16);

	if (!have_local())
		return;
	near = gt_bo(c.fd, SIZE, DRM_TESSERA_BO_LOCAL);
	far = gt_bo(c.fd, SIZE, DRM_TESSERA_BO_LOCAL);
	gt_bo_bind(&near, c.vm, 0x60000000, GT_RW);
	gt_bo_bind(&far, c.vm, 0x70000000, GT_RW);
	scramble();
	memcpy(want, src.map, SIZE);
	GT_EMIT(&cs, copy_linear, .src = SRC_VA, .dst = 0x60000000, .size = SIZE);
	GT_EMIT(&cs, barrier, .wait_writes = true);
	GT_EMIT(&cs, copy_linear, .src = 0x60000000, .dst = 0x70000000, .size = SIZE);
	GT_EMIT(&cs, barrier, .wait_writes = true);
	GT_EMIT(&cs, copy_linear, .src = 0x70000000, .dst = DST_VA, .size = SIZE);
	ktap_eq(gt_run(&c, &cs), 0);
	ktap_mem_eq(near.map, want, SIZE);
	ktap_mem_eq(far.map, want, SIZE);
	ktap_mem_eq(dst.map, want, SIZE);
	gt_bo_free(&near);
	gt_bo_free(&far);
}

/*
 * The CPU writes through BAR 2, the GPU tiles out of it; and a command stream runs from local
 * memory.
 */
static void local_source_and_stream(void)
{
	struct surface from = { .pitch = 256 }, to = { .pitch = 4 * 1024, .tiled = true };
	struct gt_bo near, code;
	struct gt_cs cs;
	uint32_t x, y;

	if (!have_local())
		return;
	near = gt_bo(c.fd, 64 * GT_PAGE, DRM_TESSERA_BO_LOCAL);
	code = gt_bo(c.fd, GT_PAGE, DRM_TESSERA_BO_LOCAL);
	gt_bo_bind(&near, c.vm, 0x60000000, DRM_TESSERA_BIND_READ);
	gt_bo_bind(&code, c.vm, 0x70000000, DRM_TESSERA_BIND_EXEC);
	scramble();
	memcpy(near.map, src.map, 64 * GT_PAGE);
	cs = (struct gt_cs){ .words = code.map, .va = 0x70000000, .room = 512 };
	GT_EMIT(&cs, copy_rect, .dst_layout = TSR_LAYOUT_TILED, .texel = 4, .src = 0x60000000,
		.dst = DST_VA, .src_pitch = from.pitch, .dst_pitch = to.pitch, .width = 64,
		.height = 64);
	for (y = 0; y < 64; y++) {
		for (x = 0; x < 64; x++)
			memcpy(want + texel_offset(&to, 4, x, y),
			       (char *)src.map + texel_offset(&from, 4, x, y), 4);
	}
	ktap_eq(gt_run(&c, &cs), 0);
	ktap_mem_eq(dst.map, want, SIZE);
	gt_bo_free(&near);
	gt_bo_free(&code);
}

/* One mapping whose pages lie in turn in system and in local memory. */
static void mixed_buffer(void)
{
	enum { PAGES = 8 };
	struct gt_bo near;
	struct gt_cs cs = gt_stream(&c, 4);
	unsigned int i;

	if (!have_local())
		return;
	near = gt_bo(c.fd, PAGES * GT_PAGE, DRM_TESSERA_BO_LOCAL);
	scramble();
	for (i = 0; i < PAGES; i++) {
		uint32_t from = i & 1 ? near.handle : src.handle;
		struct drm_tessera_bind_op op =
			gt_op_map(from, 0x60000000 + i * GT_PAGE, GT_PAGE, i * GT_PAGE, GT_RW);
		char *page = (char *)(i & 1 ? near.map : src.map) + i * GT_PAGE;

		if (i & 1)
			memset(page, 0x70 + i, GT_PAGE);
		memcpy(want + i * GT_PAGE, page, GT_PAGE);
		ktap_eq(gt_vm_bind(c.fd, c.vm, &op, 1), 0);
	}
	GT_EMIT(&cs, copy_linear, .src = 0x60000000, .dst = DST_VA, .size = PAGES * GT_PAGE);
	ktap_eq(gt_run(&c, &cs), 0);
	ktap_mem_eq(dst.map, want, SIZE);
	gt_bo_free(&near);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		unsigned int layouts;
	} pairs[] = {
		{ "[MEM4] COPY_RECT linear to linear, every texel size and flip", 0 },
		{ "[MEM4] [MEM5] COPY_RECT tiled to linear, every texel size and flip", 1 },
		{ "[MEM4] [MEM5] COPY_RECT linear to tiled, every texel size and flip", 2 },
		{ "[MEM4] [MEM5] COPY_RECT tiled to tiled, every texel size and flip", 3 },
	};
	size_t i;

	gt_start(argc, argv);
	c = gt_ctx();
	src = gt_bo(c.fd, SIZE, DRM_TESSERA_BO_CACHED);
	dst = gt_bo(c.fd, SIZE, DRM_TESSERA_BO_CACHED);
	gt_bo_bind(&src, c.vm, SRC_VA, GT_RW);
	gt_bo_bind(&dst, c.vm, DST_VA, GT_RW);
	want = malloc(SIZE);
	ktap_run("[MEM4] COPY_LINEAR of every small size and alignment", linear_copies);
	ktap_run("[MEM4] COPY_LINEAR over many pages and bursts", large_copy);
	ktap_run("[MEM4] FILL_LINEAR with every pattern size", linear_fills);
	for (i = 0; i < GT_ARRAY_SIZE(pairs); i++)
		ktap_run_arg(pairs[i].name, rects, &pairs[i].layouts);
	ktap_run("[MEM4] FILL_RECT linear and tiled, every texel size", rect_fills);
	ktap_run("[MEM5] a 64-byte burst of a tiled surface is a block", burst_is_a_block);
	ktap_run("[MEM4] empty commands touch nothing", empty_commands);
	ktap_run("[MEM1] [MEM4] system to local to local to system", local_round_trip);
	ktap_run("[MEM1] [MEM5] tiling out of local memory by a stream in local memory",
		 local_source_and_stream);
	ktap_run("[MEM1] pages of one buffer on both sides", mixed_buffer);
	free(want);
	gt_bo_free(&src);
	gt_bo_free(&dst);
	gt_ctx_free(&c);
	return gt_finish();
}
