/* SPDX-License-Identifier: MIT */
/* test: TIMEOUT=120 TSAN=0 */
/*
 * COPY_RECT and FILL_RECT: random rectangles between random surfaces, against the byte-by-byte
 * reference.
 */
#include <stdlib.h>
#include <string.h>

#include "copy_ref.h"
#include "ktap.h"
#include "tsr_packets.h"
#include "tsr_regs.h"

#define RW (TSR_ACCESS_READ | TSR_ACCESS_WRITE)
#define SRC_BASE 0x10000000ULL
#define DST_BASE 0x20000000ULL

/* A kind of random test. */
struct kind {
	const char *name;
	int src_layout, dst_layout;	/* -1: any; dst for fills */
	bool fill;
	bool flips;
	unsigned int pending, fragment;	/* percent */
	unsigned int unusual;		/* percent of pages that are NULL or not to be had */
	unsigned int rounds;
};

/* A random surface: where, how wide, and where in it the rectangle lies. */
struct area {
	uint64_t base;
	uint32_t pitch, x, y;
};

static struct area random_area(struct copy_random *r, uint64_t base, bool tiled, unsigned int texel,
			       unsigned int w)
{
	struct area a = { .x = copy_random(r, 40), .y = copy_random(r, 40) };
	uint64_t row = (uint64_t)(a.x + w) * texel;

	a.base = base + copy_random(r, 2 * MOCK_PAGE);
	a.pitch = (uint32_t)(row + copy_random(r, 3) * copy_random(r, 300));
	if (!copy_random(r, 8))
		a.pitch = copy_random(r, 100);
	if (tiled) {
		a.base &= ~63ULL;
		a.pitch = (uint32_t)((a.x + w + 15) / 16 + copy_random(r, 3)) * 256 * texel;
		if (!copy_random(r, 8))
			a.pitch = copy_random(r, 2) * 256 * texel;
	}
	return a;
}

static void unusual_page(struct copy_random *r, struct mock_mem *m, uint64_t va)
{
	static const uint8_t codes[] = { TSR_FAULT_MMU_WALK, TSR_FAULT_MMU_WALK_BUS,
					 TSR_FAULT_BUS };
	struct mock_page *p;

	switch (copy_random(r, 8)) {
	case 0:
		mock_map(m, va, RW, false)->access = TSR_ACCESS_READ;
		break;
	case 1:
		mock_map(m, va, RW, false)->access = TSR_ACCESS_WRITE;
		break;
	case 2:
		mock_map(m, va, RW, false)->mapped = false;
		break;
	case 3:
		p = mock_map(m, va, RW, false);
		p->fault = codes[copy_random(r, 3)];
		break;
	default:
		mock_map(m, va, RW, true);
		break;
	}
}

static void map_area(struct copy_random *r, struct mock_mem *m, const struct area *a, bool tiled,
		     unsigned int texel, unsigned int w, unsigned int h, unsigned int unusual)
{
	uint64_t rows = tiled ? (a->y + h + 15) / 16 : a->y + h;
	uint64_t row = (uint64_t)(tiled ? (a->x + w + 15) / 16 * 256 : a->x + w) * texel;
	uint64_t last = (a->base + (rows - 1) * a->pitch + row - 1) / MOCK_PAGE;
	uint64_t first = a->base / MOCK_PAGE;

	for (; first <= last; first++) {
		if (copy_random(r, 100) < unusual)
			unusual_page(r, m, first * MOCK_PAGE);
		else
			mock_map(m, first * MOCK_PAGE, RW, false);
	}
}

static unsigned int random_layout(struct copy_random *r, int layout)
{
	return layout < 0 ? copy_random(r, 2) : (unsigned int)layout;
}

/* All sizes from 1 to 16, half of the time one that has its own way through whole tiles. */
static unsigned int random_texel(struct copy_random *r)
{
	return copy_random(r, 2) ? 1 + copy_random(r, 16) : 1u << copy_random(r, 5);
}

static void random_size(struct copy_random *r, unsigned int *w, unsigned int *h)
{
	*w = 1 + copy_random(r, copy_random(r, 4) ? 70 : 16);
	*h = 1 + copy_random(r, copy_random(r, 4) ? 50 : 16);
	if (!copy_random(r, 6))
		*w += copy_random(r, 300);
}

static bool random_copy(struct copy_random *r, const struct kind *k, struct mock_mem *m)
{
	struct tsr_copy_rect p = {
		.src_layout = random_layout(r, k->src_layout),
		.dst_layout = random_layout(r, k->dst_layout),
		.texel = random_texel(r),
	};
	struct area src, dst;
	char what[200];
	uint64_t cmd[8];

	if (k->flips) {
		p.flip_x = copy_random(r, 2);
		p.flip_y = copy_random(r, 2);
	}
	random_size(r, &p.width, &p.height);
	src = random_area(r, SRC_BASE, p.src_layout, p.texel, p.width);
	dst = random_area(r, DST_BASE, p.dst_layout, p.texel, p.width);
	map_area(r, m, &src, p.src_layout, p.texel, p.width, p.height, k->unusual);
	map_area(r, m, &dst, p.dst_layout, p.texel, p.width, p.height, k->unusual);
	copy_random_fill(r, m);
	p.src = src.base, p.src_pitch = src.pitch, p.src_x = src.x, p.src_y = src.y;
	p.dst = dst.base, p.dst_pitch = dst.pitch, p.dst_x = dst.x, p.dst_y = dst.y;
	tsr_pack_copy_rect(cmd, &p);
	snprintf(what, sizeof(what),
		 "%u bytes, %ux%u, %c 0x%llx +%u,%u pitch %u -> %c 0x%llx +%u,%u pitch %u%s%s",
		 p.texel, p.width, p.height, "LT"[p.src_layout], (unsigned long long)p.src, p.src_x,
		 p.src_y, p.src_pitch, "LT"[p.dst_layout], (unsigned long long)p.dst, p.dst_x,
		 p.dst_y, p.dst_pitch, p.flip_x ? " flip x" : "", p.flip_y ? " flip y" : "");
	return copy_check(m, cmd, 0x5000, what);
}

static bool random_fill(struct copy_random *r, const struct kind *k, struct mock_mem *m)
{
	struct tsr_fill_rect p = { .layout = random_layout(r, k->dst_layout),
				   .texel = random_texel(r) };
	uint8_t pattern[16] = { 0 };
	struct area dst;
	char what[200];
	uint64_t cmd[8];
	unsigned int i;

	random_size(r, &p.width, &p.height);
	dst = random_area(r, DST_BASE, p.layout, p.texel, p.width);
	map_area(r, m, &dst, p.layout, p.texel, p.width, p.height, k->unusual);
	copy_random_fill(r, m);
	for (i = 0; i < p.texel; i++)
		pattern[i] = copy_random(r, 4) ? (uint8_t)copy_random(r, 256) : 0x5a;
	for (i = 0; i < 8; i++) {
		p.pattern_lo |= (uint64_t)pattern[i] << 8 * i;
		p.pattern_hi |= (uint64_t)pattern[i + 8] << 8 * i;
	}
	p.dst = dst.base, p.pitch = dst.pitch, p.x = dst.x, p.y = dst.y;
	tsr_pack_fill_rect(cmd, &p);
	snprintf(what, sizeof(what), "fill %u bytes, %ux%u, %c 0x%llx +%u,%u pitch %u", p.texel,
		 p.width, p.height, "LT"[p.layout], (unsigned long long)p.dst, p.x, p.y, p.pitch);
	return copy_check(m, cmd, 0x5000, what);
}

static void random_rects(const void *arg)
{
	const struct kind *k = arg;
	struct copy_random r = { 0x7e55e7a + k->rounds };
	unsigned int i, rounds = getenv("TSR_QUICK") ? k->rounds : 10 * k->rounds;
	bool ok = true;

	for (i = 0; ok && i < rounds; i++) {
		struct mock_mem *m = mock_new();

		m->random = copy_random_mock;
		m->arg = &r;
		m->pending_percent = k->pending;
		m->fragment_percent = k->fragment;
		ok = k->fill ? random_fill(&r, k, m) : random_copy(&r, k, m);
		mock_free(m);
	}
	if (!ok)
		ktap_note("round %u", i - 1);
}

int main(int argc, char **argv)
{
	static const struct kind kinds[] = {
		{ "[MEM4] linear to linear", 0, 0, false, false, 0, 0, 0, 200 },
		{ "[MEM4] linear to tiled", 0, 1, false, false, 0, 0, 0, 300 },
		{ "[MEM4] tiled to linear", 1, 0, false, false, 0, 0, 0, 300 },
		{ "[MEM4] tiled to tiled", 1, 1, false, false, 0, 0, 0, 300 },
		{ "[MEM4] mirrored rectangles", -1, -1, false, true, 0, 0, 0, 400 },
		{ "[MEM4] fills", -1, -1, true, false, 0, 0, 0, 300 },
		{ "[MEM3] copies that meet faults and NULL pages", -1, -1, false, true, 0, 0, 8,
		  600 },
		{ "[MEM3] fills that meet faults and NULL pages", -1, -1, true, false, 0, 0, 8,
		  300 },
		{ "copies with pending translations", -1, -1, false, true, 20, 0, 0, 200 },
		{ "copies in pieces of memory of any length", -1, -1, false, true, 0, 60, 0, 200 },
		{ "everything at once", -1, -1, false, true, 10, 20, 4, 400 },
		{ "everything at once, fills", -1, -1, true, false, 10, 20, 4, 200 },
	};
	unsigned int i;

	ktap_start_args(argc, argv);
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		ktap_run_arg(kinds[i].name, random_rects, &kinds[i]);
	return ktap_finish();
}
