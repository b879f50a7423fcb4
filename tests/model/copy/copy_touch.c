/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/*
 * Which pages a COPY asks for: those with texels of its rectangle and no others, though tiles
 * straddle pages and have texels that are not in the rectangle. What is there behind a tile, or
 * between its texels, may be nobody's.
 */
#include <string.h>

#include "copy_ref.h"
#include "ktap.h"
#include "stage.h"

#define TILED 0x10fc0			/* of STAGE_DATA */
#define LINEAR 0x40000
#define PAGES 8				/* around what is tiled */

/* Pages of the tiled surface with texels of @c, of which it is the source or the destination. */
static unsigned int with_texels(const struct tsr_copy_rect *c, uint32_t left, uint32_t top)
{
	unsigned int pages = 0;

	for (uint32_t y = top; y < top + c->height; y++) {
		for (uint32_t x = left; x < left + c->width; x++) {
			uint64_t tile = y / 16 * 2 + x / 16;
			uint64_t index = 256 * tile + copy_ref_index(x % 16, y % 16);
			uint64_t at = TILED + index * c->texel;

			pages |= 1u << (at / BENCH_PAGE - TILED / BENCH_PAGE);
			at += c->texel - 1;
			pages |= 1u << (at / BENCH_PAGE - TILED / BENCH_PAGE);
		}
	}
	return pages;
}

/* Run @c, and compare the pages it has asked for with those it should. */
static bool check(struct stage *s, struct bench_queue *q, const struct tsr_copy_rect *c)
{
	bool from = c->src_layout == TSR_LAYOUT_TILED;
	unsigned int want = with_texels(c, from ? c->src_x : c->dst_x, from ? c->src_y : c->dst_y);
	uint64_t p[8], first = (s->data_bus + TILED - BENCH_RAM_BASE) / BENCH_PAGE;
	unsigned int got = 0;

	memset(s->b->asked, 0, sizeof(s->b->asked));
	bench_invalidate_all(&s->as[1]);
	tsr_gpu_host_invalidate(s->b->gpu, 0, UINT64_MAX);
	tsr_pack_copy_rect(p, c);
	bench_emit(q, p, TSR_COPY_RECT_QWORDS);
	bench_kick(q);
	if (!ktap_ok(bench_run(s->b, 10)) || !ktap_eq(bench_fault(q), TSR_FAULT_NONE))
		return false;
	for (unsigned int i = 0; i < PAGES; i++)
		got |= (s->b->asked[first + i] != 0) << i;
	if (ktap_eq(got, want))
		return true;
	ktap_note("(%u, %u) + %u x %u, %s a tiled surface", from ? c->src_x : c->dst_x,
		  from ? c->src_y : c->dst_y, c->width, c->height, from ? "from" : "to");
	return false;
}

static void pages(const void *arg)
{
	static const uint32_t edges[] = { 0, 1, 7, 8, 9, 15, 16, 17, 24, 31, 32 };
	const unsigned int n = sizeof(edges) / sizeof(edges[0]);
	bool ok = true, from = *(const bool *)arg;
	struct bench_queue q;
	struct stage s;

	stage_init(&s, NULL);
	s.b->pending_every = 1;
	stage_queue(&s, &q, 0, TSR_ENGINE_CLASS_COPY, TSR_PRIORITY_NORMAL);
	for (unsigned int i = 0; ok && i < n * n * n * n; i++) {
		uint32_t x = edges[i % n], to_x = edges[i / n % n];
		uint32_t y = edges[i / (n * n) % n], to_y = edges[i / (n * n * n)];
		struct tsr_copy_rect c = { .texel = 16, .width = to_x - x, .height = to_y - y };

		if (x >= to_x || y >= to_y)
			continue;
		c.src = STAGE_DATA + (from ? TILED : LINEAR);
		c.dst = STAGE_DATA + (from ? LINEAR : TILED);
		c.src_layout = from ? TSR_LAYOUT_TILED : TSR_LAYOUT_LINEAR;
		c.dst_layout = from ? TSR_LAYOUT_LINEAR : TSR_LAYOUT_TILED;
		c.src_pitch = from ? 0x2000 : 512;
		c.dst_pitch = from ? 512 : 0x2000;
		*(from ? &c.src_x : &c.dst_x) = x;
		*(from ? &c.src_y : &c.dst_y) = y;
		ok = check(&s, &q, &c);
	}
	stage_free(&s);
}

int main(int argc, char **argv)
{
	static const bool from = true, to;

	ktap_start_args(argc, argv);
	ktap_run_arg("[MEM4] pages that are read from a tiled surface", pages, &from);
	ktap_run_arg("[MEM4] pages that are written of a tiled surface", pages, &to);
	return ktap_finish();
}
