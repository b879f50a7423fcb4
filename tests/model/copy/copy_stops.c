/* SPDX-License-Identifier: MIT */
/* test: TIMEOUT=120 TSAN=0 */
/*
 * Where COPY commands stop and go on: every page of a few commands in turn is missing, forbidden, a
 * NULL page or broken, and every translation in turn is pending. A step boundary is a restart from
 * the saved words each time, see copy_ref.c.
 */
#include <stdlib.h>
#include <string.h>

#include "copy_ref.h"
#include "ktap.h"
#include "tsr_packets.h"
#include "tsr_regs.h"

#define RW (TSR_ACCESS_READ | TSR_ACCESS_WRITE)
#define SRC 0x10000fc0ULL		/* tiles straddle pages */
#define DST 0x20000f80ULL
#define PAGES 12			/* mapped on either side */

/* Rectangles with texels, rows and tiles that straddle pages. They fit into PAGES. */
static const struct tsr_copy_rect rects[] = {
	{ .texel = 4, .src = SRC, .dst = DST, .src_pitch = 300, .dst_pitch = 4096, .src_x = 3,
	  .src_y = 5, .dst_x = 16, .dst_layout = 1, .width = 50, .height = 37 },
	{ .texel = 4, .src = SRC, .dst = DST, .src_pitch = 4096, .dst_pitch = 300, .src_layout = 1,
	  .src_x = 7, .src_y = 3, .width = 50, .height = 37, .flip_x = true },
	{ .texel = 3, .src = SRC + 1, .dst = DST, .src_pitch = 333, .dst_pitch = 3072,
	  .dst_layout = 1, .dst_x = 16, .dst_y = 16, .width = 40, .height = 32 },
	{ .texel = 3, .src = SRC, .dst = DST + 2, .src_pitch = 3072, .dst_pitch = 333,
	  .src_layout = 1, .width = 40, .height = 32, .flip_y = true },
	{ .texel = 12, .src = SRC, .dst = DST, .src_pitch = 12288, .dst_pitch = 12288,
	  .src_layout = 1, .dst_layout = 1, .src_x = 5, .src_y = 3, .width = 50, .height = 18 },
	{ .texel = 16, .src = SRC, .dst = DST, .src_pitch = 16384, .dst_pitch = 16384,
	  .src_layout = 1, .dst_layout = 1, .src_x = 16, .dst_x = 32, .width = 32, .height = 20 },
	{ .texel = 7, .src = SRC + 5, .dst = DST + 3, .src_pitch = 701, .dst_pitch = 705,
	  .width = 99, .height = 40, .flip_x = true },
	{ .texel = 5, .src = SRC + 5, .dst = DST + 3, .src_pitch = 701, .dst_pitch = 10,
	  .width = 99, .height = 40, .flip_y = true },
	{ .texel = 1, .src = SRC, .dst = DST, .src_pitch = 4096, .dst_pitch = 7, .src_layout = 1,
	  .width = 200, .height = 40 },
};

#define RECTS (sizeof(rects) / sizeof(rects[0]))

static struct mock_mem *memory(struct copy_random *r)
{
	struct mock_mem *m = mock_new();

	mock_map_range(m, SRC, PAGES * MOCK_PAGE, RW);
	mock_map_range(m, DST, PAGES * MOCK_PAGE, RW);
	copy_random_fill(r, m);
	return m;
}

/* The rectangle as a fill of the same destination. */
static void as_fill(const struct tsr_copy_rect *c, uint64_t *cmd)
{
	struct tsr_fill_rect f = {
		.layout = c->dst_layout, .texel = c->texel, .dst = c->dst, .pitch = c->dst_pitch,
		.x = c->dst_x, .y = c->dst_y, .width = c->width, .height = c->height,
		.pattern_lo = 0x0123456789abcdefULL, .pattern_hi = 0x1122334455667788ULL,
	};

	if (f.texel < 8)
		f.pattern_lo &= (1ULL << 8 * f.texel) - 1;
	if (f.texel < 16)
		f.pattern_hi &= f.texel < 8 ? 0 : (1ULL << 8 * (f.texel - 8)) - 1;
	tsr_pack_fill_rect(cmd, &f);
}

static bool spoil(struct mock_page *p, unsigned int how)
{
	switch (how) {
	case 0:
		p->mapped = false;
		break;
	case 1:
		p->access = TSR_ACCESS_READ;
		break;
	case 2:
		p->access = TSR_ACCESS_WRITE;
		break;
	case 3:
		p->fault = TSR_FAULT_BUS;
		break;
	case 4:
		free(p->mem);
		free(p->clean);
		p->mem = p->clean = NULL;
		break;
	default:
		return false;
	}
	return true;
}

static void test_pages(const void *arg)
{
	const struct tsr_copy_rect *rect = arg;
	struct copy_random r = { 11 };
	unsigned int page, how, fill, faults = 0;
	char what[60];
	uint64_t cmd[8];

	for (page = 0; page < 2 * PAGES; page++) {
		for (how = 0; how < 5; how++) {
			for (fill = 0; fill < 2; fill++) {
				struct mock_mem *m = memory(&r);

				spoil(&m->page[page], how);
				if (fill)
					as_fill(rect, cmd);
				else
					tsr_pack_copy_rect(cmd, rect);
				snprintf(what, sizeof(what), "page %u spoilt by %u", page, how);
				copy_check(m, cmd, 0x5000, what);
				faults += m->mem.fault.code != 0;
				mock_free(m);
			}
		}
	}
	ktap_ok(faults > 8);
}

static void test_pending(const void *arg)
{
	const struct tsr_copy_rect *rect = arg;
	struct copy_random r = { 12 };
	struct mock_mem *m = memory(&r);
	uint64_t call, cmd[8];
	char what[60];

	tsr_pack_copy_rect(cmd, rect);
	for (call = 1; call < 300; call++) {
		m->calls = 0;
		m->pending_call = call;
		copy_random_fill(&r, m);
		snprintf(what, sizeof(what), "translation %" PRIu64 " pending", call);
		if (!copy_check(m, cmd, 0x5000, what) || m->calls < call)
			break;
	}
	ktap_ok(call > 20);
	mock_free(m);
}

int main(int argc, char **argv)
{
	char name[100];
	unsigned int i;

	ktap_start_args(argc, argv);
	for (i = 0; i < RECTS; i++) {
		snprintf(name, sizeof(name), "[MEM3] rectangle %u: every page spoilt", i);
		ktap_run_arg(name, test_pages, &rects[i]);
		snprintf(name, sizeof(name), "rectangle %u: every translation pending once", i);
		ktap_run_arg(name, test_pending, &rects[i]);
	}
	return ktap_finish();
}
