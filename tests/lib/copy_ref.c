/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "copy_ref.h"
#include "ktap.h"
#include "tsr_packets.h"
#include "tsr_regs.h"

#define STEPS_MAX 2000000u		/* more is an endless loop */
#define CALLS_MAX (512u + 128u)		/* translations of a step: the limit and a block */

/* The memory the reference works on: its own copy of the mock's pages, in the same order. */
struct ref {
	const struct mock_mem *m;
	uint8_t *bytes;			/* MOCK_PAGE for each page */
	struct copy_result *result;
};

/* A surface and a rectangle's corner on it. */
struct surface {
	bool tiled;
	uint64_t base, pitch, x, y;
};

/* A rectangle command; for fills the source is the pattern. */
struct rect {
	struct surface src, dst;
	bool fill, flip_x, flip_y;
	unsigned int texel;
	int64_t w, h;
	uint8_t pattern[16];
};

/* A texel of the destination rectangle and its place in the order. */
struct item {
	int64_t key[4];
	int64_t x, y;
};

static unsigned int steps;

unsigned int copy_check_steps(void)
{
	return steps;
}

uint32_t copy_random(struct copy_random *r, uint32_t below)
{
	r->state = r->state * 6364136223846793005ULL + 1442695040888963407ULL;
	return below ? (uint32_t)((r->state >> 33) % below) : 0;
}

unsigned int copy_random_mock(void *random)
{
	return copy_random(random, 0x7fffffff);
}

void copy_random_fill(struct copy_random *r, struct mock_mem *m)
{
	unsigned int i, j;
	uint32_t word;

	for (i = 0; i < m->pages; i++) {
		for (j = 0; m->page[i].mem && j < MOCK_PAGE; j += sizeof(word)) {
			word = copy_random(r, 0x7fffffff);
			word ^= word << 9;
			memcpy(m->page[i].mem + j, &word, sizeof(word));
		}
		if (m->page[i].mem)
			memcpy(m->page[i].clean, m->page[i].mem, MOCK_PAGE);
	}
}

unsigned int copy_ref_index(unsigned int x, unsigned int y)
{
	unsigned int i, index = 0;

	for (i = 0; i < 4; i++) {
		unsigned int xi = x >> i & 1, yi = y >> i & 1;

		index += (xi != yi) << 2 * i;
		index += yi << (2 * i + 1);
	}
	return index;
}

/* One byte of memory: false with the fault recorded when it may not be accessed. */
static bool byte(struct ref *r, uint64_t va, unsigned int access, uint8_t *value)
{
	struct mock_page *p = mock_find((struct mock_mem *)r->m, va);
	unsigned int code = TSR_FAULT_NONE;
	uint8_t *mem;

	if (!p || !p->mapped)
		code = TSR_FAULT_MMU_UNMAPPED;
	else if (p->fault)
		code = p->fault;
	else if (!(p->access & access))
		code = TSR_FAULT_MMU_PERMISSION;
	if (code) {
		r->result->fault = true;
		r->result->addr = va;
		r->result->code = code;
		r->result->access = access;
		return false;
	}
	mem = r->bytes + (size_t)(p - r->m->page) * MOCK_PAGE + va % MOCK_PAGE;
	if (access == TSR_ACCESS_READ)
		*value = p->mem ? *mem : 0;
	else if (p->mem)
		*mem = *value;
	return true;
}

static uint64_t texel_addr(const struct surface *s, unsigned int texel, int64_t dx, int64_t dy)
{
	unsigned __int128 addr = s->base;
	uint64_t x = s->x + (uint64_t)dx, y = s->y + (uint64_t)dy;

	if (s->tiled) {
		addr += (unsigned __int128)(y / 16) * s->pitch;
		addr += x / 16 * 256 * texel;
		addr += copy_ref_index(x % 16, y % 16) * texel;
	} else {
		addr += (unsigned __int128)y * s->pitch + x * texel;
	}
	return addr >> 64 ? UINT64_MAX : (uint64_t)addr;
}

static int compare(const void *a, const void *b)
{
	const struct item *p = a, *q = b;
	unsigned int i;

	for (i = 0; i < 4; i++) {
		if (p->key[i] != q->key[i])
			return p->key[i] < q->key[i] ? -1 : 1;
	}
	return 0;
}

static struct item *in_order(const struct rect *c)
{
	struct item *list = calloc((size_t)(c->w * c->h), sizeof(*list)), *i = list;
	int64_t x, y;

	if (!list)
		abort();
	for (y = 0; y < c->h; y++) {
		for (x = 0; x < c->w; x++, i++) {
			int64_t sx = (int64_t)c->src.x + (c->flip_x ? c->w - 1 - x : x);
			int64_t sy = (int64_t)c->src.y + (c->flip_y ? c->h - 1 - y : y);

			*i = (struct item){ .key = { y, 0, y, x }, .x = x, .y = y };
			if (c->dst.tiled) {
				i->key[0] = ((int64_t)c->dst.y + y) / 16;
				i->key[1] = ((int64_t)c->dst.x + x) / 16;
			} else if (!c->fill && c->src.tiled) {
				i->key[0] = c->flip_y ? -(sy / 16) : sy / 16;
				i->key[1] = c->flip_x ? -(sx / 16) : sx / 16;
			}
		}
	}
	qsort(list, (size_t)(c->w * c->h), sizeof(*list), compare);
	return list;
}

static bool one_texel(struct ref *r, const struct rect *c, const struct item *i)
{
	uint8_t texel[16];
	unsigned int b;

	for (b = 0; b < c->texel; b++) {
		int64_t x = c->flip_x ? c->w - 1 - i->x : i->x;
		int64_t y = c->flip_y ? c->h - 1 - i->y : i->y;

		if (c->fill)
			texel[b] = c->pattern[b];
		else if (!byte(r, texel_addr(&c->src, c->texel, x, y) + b, TSR_ACCESS_READ,
			       &texel[b]))
			return false;
	}
	for (b = 0; b < c->texel; b++) {
		if (!byte(r, texel_addr(&c->dst, c->texel, i->x, i->y) + b, TSR_ACCESS_WRITE,
			  &texel[b]))
			return false;
	}
	r->result->read_bytes += c->fill ? 0 : c->texel;
	r->result->write_bytes += c->texel;
	return true;
}

static void rect(struct ref *r, const struct rect *c)
{
	struct item *list = in_order(c);
	int64_t i;

	for (i = 0; i < c->w * c->h && one_texel(r, c, &list[i]); i++)
		;
	free(list);
}

static void pattern_bytes(uint8_t *bytes, uint64_t lo, uint64_t hi)
{
	unsigned int i;

	for (i = 0; i < 8; i++) {
		bytes[i] = (uint8_t)(lo >> 8 * i);
		bytes[i + 8] = (uint8_t)(hi >> 8 * i);
	}
}

static void copy_rect(struct ref *r, const uint64_t *cmd)
{
	struct tsr_copy_rect p;
	struct rect c = { 0 };

	tsr_unpack_copy_rect(cmd, &p);
	c.src = (struct surface){ p.src_layout == 1, p.src, p.src_pitch, p.src_x, p.src_y };
	c.dst = (struct surface){ p.dst_layout == 1, p.dst, p.dst_pitch, p.dst_x, p.dst_y };
	c.flip_x = p.flip_x;
	c.flip_y = p.flip_y;
	c.texel = p.texel;
	c.w = p.width;
	c.h = p.height;
	rect(r, &c);
}

static void fill_rect(struct ref *r, const uint64_t *cmd)
{
	struct rect c = { .fill = true };
	struct tsr_fill_rect p;

	tsr_unpack_fill_rect(cmd, &p);
	c.dst = (struct surface){ p.layout == 1, p.dst, p.pitch, p.x, p.y };
	c.texel = p.texel;
	c.w = p.width;
	c.h = p.height;
	pattern_bytes(c.pattern, p.pattern_lo, p.pattern_hi);
	rect(r, &c);
}

static void copy_linear(struct ref *r, const uint64_t *cmd)
{
	struct tsr_copy_linear p;
	uint64_t i;
	uint8_t value;

	tsr_unpack_copy_linear(cmd, &p);
	for (i = 0; i < p.size; i++) {
		if (!byte(r, p.src + i, TSR_ACCESS_READ, &value) ||
		    !byte(r, p.dst + i, TSR_ACCESS_WRITE, &value))
			return;
		r->result->read_bytes++;
		r->result->write_bytes++;
	}
}

static void fill_linear(struct ref *r, const uint64_t *cmd)
{
	struct tsr_fill_linear p;
	uint8_t pattern[16];
	uint64_t i;

	tsr_unpack_fill_linear(cmd, &p);
	pattern_bytes(pattern, p.pattern_lo, p.pattern_hi);
	for (i = 0; i < p.size; i++) {
		if (!byte(r, p.dst + i, TSR_ACCESS_WRITE, &pattern[i % p.texel]))
			return;
		r->result->write_bytes++;
	}
}

static uint8_t *reference(const struct mock_mem *m, const uint64_t *cmd, struct copy_result *result)
{
	struct ref r = { .m = m, .bytes = calloc(m->pages + 1, MOCK_PAGE), .result = result };
	unsigned int i;

	if (!r.bytes)
		abort();
	for (i = 0; i < m->pages; i++) {
		if (m->page[i].mem)
			memcpy(r.bytes + (size_t)i * MOCK_PAGE, m->page[i].mem, MOCK_PAGE);
	}
	switch (cmd[0] & 0xff) {
	case TSR_OP_COPY_LINEAR:
		copy_linear(&r, cmd);
		break;
	case TSR_OP_COPY_RECT:
		copy_rect(&r, cmd);
		break;
	case TSR_OP_FILL_LINEAR:
		fill_linear(&r, cmd);
		break;
	case TSR_OP_FILL_RECT:
		fill_rect(&r, cmd);
		break;
	}
	return r.bytes;
}

/* Run the engine to its end; every step begins with nothing but the state's words. */
static bool run(struct mock_mem *m, const uint64_t *cmd, uint64_t pc, const char *what,
		struct copy_result *got)
{
	struct tsr_engine_state saved = { { 0 } };

	for (steps = 1; steps < STEPS_MAX; steps++) {
		struct tsr_engine_state state = saved;
		uint64_t calls = m->calls;
		struct tsr_step_cost cost = { 0 };
		enum tsr_step ret = tsr_copy_step(&m->mem, pc, cmd, &state, &cost);
		uint64_t unmarked = mock_step_end(m);
		bool moved = memcmp(&state, &saved, sizeof(state));

		saved = state;
		got->read_bytes += cost.read_bytes;
		got->write_bytes += cost.write_bytes;
		got->cycles += cost.cycles;
		if (unmarked != UINT64_MAX)
			return ktap_fail("%s: 0x%" PRIx64 " written but not marked", what,
					 unmarked);
		if (cost.write_bytes > TSR_BURST_BYTES || cost.read_bytes > TSR_BURST_BYTES)
			return ktap_fail("%s: step of %" PRIu64 " bytes", what, cost.write_bytes);
		if (m->calls - calls > CALLS_MAX)
			return ktap_fail("%s: step of %" PRIu64 " translations", what,
					 m->calls - calls);
		if (ret == TSR_STEP_MORE && !moved)
			return ktap_fail("%s: a step without progress", what);
		if (ret == TSR_STEP_DONE)
			return true;
		if (ret == TSR_STEP_FAULT) {
			got->fault = true;
			got->addr = m->mem.fault.addr;
			got->code = m->mem.fault.code;
			got->access = m->mem.fault.access;
			return true;
		}
	}
	return ktap_fail("%s: endless", what);
}

static bool compare_results(const struct copy_result *got, const struct copy_result *want,
			    const char *what)
{
	if (got->fault != want->fault || got->addr != want->addr || got->code != want->code ||
	    got->access != want->access)
		return ktap_fail("%s: fault %d code 0x%x access %u at 0x%" PRIx64
				 ", expected %d 0x%x %u 0x%" PRIx64,
				 what, got->fault, got->code, got->access, got->addr, want->fault,
				 want->code, want->access, want->addr);
	if (got->read_bytes != want->read_bytes || got->write_bytes != want->write_bytes)
		return ktap_fail("%s: read %" PRIu64 " wrote %" PRIu64 ", expected %" PRIu64
				 " %" PRIu64,
				 what, got->read_bytes, got->write_bytes, want->read_bytes,
				 want->write_bytes);
	if (got->cycles != (want->read_bytes + 63) / 64 + (want->write_bytes + 63) / 64)
		return ktap_fail("%s: %" PRIu64 " cycles for %" PRIu64 " bytes written", what,
				 got->cycles, want->write_bytes);
	return true;
}

static bool compare_memory(const struct mock_mem *m, const uint8_t *want, const char *what)
{
	unsigned int i, j;

	for (i = 0; i < m->pages; i++, want += MOCK_PAGE) {
		const struct mock_page *p = &m->page[i];

		if (!p->mem || !memcmp(p->mem, want, MOCK_PAGE))
			continue;
		for (j = 0; p->mem[j] == want[j]; j++)
			;
		return ktap_fail("%s: 0x%" PRIx64 " is 0x%02x, expected 0x%02x", what, p->va + j,
				 p->mem[j], want[j]);
	}
	return true;
}

static bool check(struct mock_mem *m, const uint64_t *cmd, uint64_t pc, const char *what,
		  bool memory)
{
	struct copy_result got = { 0 }, want = { 0 };
	uint8_t *bytes = reference(m, cmd, &want);
	bool ok = run(m, cmd, pc, what, &got) && compare_results(&got, &want, what) &&
		  (!memory || compare_memory(m, bytes, what));

	free(bytes);
	return ok;
}

bool copy_check(struct mock_mem *m, const uint64_t *cmd, uint64_t pc, const char *what)
{
	return check(m, cmd, pc, what, true);
}

bool copy_check_unspecified(struct mock_mem *m, const uint64_t *cmd, uint64_t pc, const char *what)
{
	return check(m, cmd, pc, what, false);
}
