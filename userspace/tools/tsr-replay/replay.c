// SPDX-License-Identifier: MIT
/* Captured jobs, see replay.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "replay.h"
#include "tsr_desc.h"

#define RING_VA		0x100000ull	/* in an address space of its own */
#define FENCE_VA	0x10000ull
#define FENCE_VALUE	0x5245504c41594544ull
#define LOCAL_ALIGN	(2ull << 20)
#define SHOWN		16		/* differing pages that are listed */

/* ---- The file -------------------------------------------------------------------------------- */

/* The next @bytes of the file, or NULL. */
static const uint8_t *take(const struct replay *r, size_t *at, size_t bytes)
{
	const uint8_t *p = r->file + *at;

	if (bytes > r->size - *at)
		return NULL;
	*at += bytes;
	return p;
}

static const char *read_page(struct replay *r, struct replay_page *page, size_t *at)
{
	const uint8_t *head = take(r, at, sizeof(page->head));

	page->before = take(r, at, TSR_CAPTURE_PAGE);
	if (!head || !page->before)
		return "it ends too early";
	memcpy(&page->head, head, sizeof(page->head));
	if (page->head.va % TSR_CAPTURE_PAGE || page->head.va >> r->head.va_bits)
		return "a page lies where none can be";
	page->after = page->before;
	if (page->head.flags & TSR_CAPTURE_CHANGED) {
		page->after = take(r, at, TSR_CAPTURE_PAGE);
		if (!page->after)
			return "it ends too early";
	}
	if (page->head.flags & (TSR_CAPTURE_UNKNOWN | TSR_CAPTURE_NULL))
		page->after = NULL;
	return NULL;
}

static const char *check_header(const struct tsr_capture_header *h)
{
	if (h->magic != TSR_CAPTURE_MAGIC)
		return "this is no captured job";
	if (h->version != TSR_CAPTURE_VERSION)
		return "this version of the format is not known";
	if (h->pages > TSR_CAPTURE_PAGES_MAX || h->engine_class > TSR_ENGINE_CLASS_COPY ||
	    (h->va_bits != 39 && h->va_bits != 48 && h->va_bits != 57) || !h->cores ||
	    h->cores > TSR_CORES_MAX || h->outcome > TSR_CAPTURE_STOPPED || h->cmd_size >> 32)
		return "the header makes no sense";
	return NULL;
}

const char *replay_parse(struct replay *r, const void *file, size_t size)
{
	const char *wrong;
	size_t at = 0;

	*r = (struct replay){ .file = file, .size = size };
	if (size < sizeof(r->head))
		return "it ends too early";
	memcpy(&r->head, take(r, &at, sizeof(r->head)), sizeof(r->head));
	wrong = check_header(&r->head);
	if (wrong)
		return wrong;
	r->page = calloc(r->head.pages + 1, sizeof(*r->page));
	if (!r->page)
		return "out of memory";
	for (uint32_t i = 0; i < r->head.pages && !wrong; i++)
		wrong = read_page(r, &r->page[i], &at);
	if (!wrong && at != size)
		wrong = "there is something behind the last page";
	if (wrong)
		replay_free(r);
	return wrong;
}

void replay_free(struct replay *r)
{
	free(r->page);
	r->page = NULL;
}

void replay_describe(const struct replay *r, FILE *out)
{
	static const char *const outcome[] = { "ended", "faulted", "was stopped" };
	const struct tsr_capture_header *h = &r->head;
	uint32_t changed = 0;

	for (uint32_t i = 0; i < h->pages; i++)
		changed += !!(r->page[i].head.flags & TSR_CAPTURE_CHANGED);
	fprintf(out, "job %" PRIu64 " of queue %u (%s): %" PRIu64 " bytes at 0x%" PRIx64 ", %s\n",
	       h->job, h->queue,
	       tsr_desc_value_name(tsr_desc_find_enum("ENGINE_CLASS"), h->engine_class),
	       h->cmd_size, h->cmd_va, outcome[h->outcome]);
	if (h->outcome == TSR_CAPTURE_FAULTED)
		fprintf(out, "fault %s at 0x%" PRIx64 ", packet at 0x%" PRIx64 "\n",
		       tsr_desc_value_name(tsr_desc_find_enum("FAULT"), h->fault_code),
		       h->fault_addr, h->fault_pc);
	fprintf(out, "touched %u pages and changed %u\n", h->pages, changed);
}

/* ---- The machine ----------------------------------------------------------------------------- */

struct machine {
	struct bench *b;
	struct bench_as ring_as, user_as;
	struct bench_queue q;
	volatile uint64_t *fence;
	uint64_t *at;			/* local offset of each page */
};

static int by_address(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Page tables that the pages need, besides the root; UINT64_MAX if there is no memory to count. */
static uint64_t tables_needed(const struct replay *r)
{
	uint64_t *va = calloc(r->head.pages + 1, sizeof(*va)), count = 0;

	if (!va)
		return UINT64_MAX;
	for (uint32_t i = 0; i < r->head.pages; i++)
		va[i] = r->page[i].head.va;
	qsort(va, r->head.pages, sizeof(*va), by_address);
	for (unsigned int shift = TSR_PAGE_SHIFT + TSR_PT_INDEX_BITS; shift < r->head.va_bits;
	     shift += TSR_PT_INDEX_BITS) {
		for (uint32_t i = 0; i < r->head.pages; i++)
			count += !i || va[i] >> shift != va[i - 1] >> shift;
	}
	free(va);
	return count;
}

/* Put each page where it was, with what it held. */
static void place_pages(struct machine *m, const struct replay *r)
{
	for (uint32_t i = 0; i < r->head.pages; i++) {
		const struct replay_page *page = &r->page[i];
		uint64_t bits = (page->head.flags & TSR_CAPTURE_READ ? TSR_PTE_READ__MASK : 0) |
				(page->head.flags & TSR_CAPTURE_WRITE ? TSR_PTE_WRITE__MASK : 0) |
				(page->head.flags & TSR_CAPTURE_EXEC ? TSR_PTE_EXEC__MASK : 0);

		if (page->head.flags & TSR_CAPTURE_NULL) {
			bench_map(&m->user_as, page->head.va, 0, TSR_CAPTURE_PAGE,
				  bits | TSR_PTE_NULL__MASK);
			continue;
		}
		m->at[i] = bench_alloc_local(m->b, TSR_CAPTURE_PAGE, TSR_CAPTURE_PAGE);
		memcpy(m->b->local + m->at[i], page->before, TSR_CAPTURE_PAGE);
		bench_map(&m->user_as, page->head.va, m->at[i], TSR_CAPTURE_PAGE,
			  bits | TSR_PTE_LOCAL__MASK);
	}
}

/* Returns false, with a line on standard error, if the model does not have what the file needs. */
static bool build(struct machine *m, const struct replay *r, const struct replay_options *o)
{
	uint64_t bytes = (r->head.pages + 1ull) * TSR_CAPTURE_PAGE;
	struct tsr_config config = {
		.va_bits = r->head.va_bits, .page_sizes = r->head.page_sizes,
		.cores = r->head.cores, .threads = o->threads, .no_inline = true,
		.local_size = (bytes + LOCAL_ALIGN - 1) / LOCAL_ALIGN * LOCAL_ALIGN,
	};
	const char *name = o->name ? o->name : "capture";
	uint64_t tables = tables_needed(r);
	char err[200];

	/* Half of the machine's system memory is far more than a job of a driver needs. */
	if (tables > BENCH_RAM_SIZE / TSR_CAPTURE_PAGE / 2) {
		fprintf(stderr, "tsr-replay: %s: its pages lie too far apart: they need more than "
			"%u page tables\n", name, BENCH_RAM_SIZE / TSR_CAPTURE_PAGE / 2);
		return false;
	}
	m->b = bench_try(&config, err, sizeof(err));
	m->at = calloc(r->head.pages + 1, sizeof(*m->at));
	if (!m->b || !m->at) {
		fprintf(stderr, "tsr-replay: %s: %s\n", name, m->b ? "out of memory" : err);
		return false;
	}
	bench_as_init(m->b, &m->ring_as, 0);
	bench_as_init(m->b, &m->user_as, 1);
	m->fence = bench_buffer(&m->ring_as, FENCE_VA, TSR_CAPTURE_PAGE, BENCH_RW);
	place_pages(m, r);
	bench_queue_init(&m->q, 0, r->head.engine_class, TSR_PRIORITY_NORMAL, &m->ring_as, RING_VA,
			 TSR_RING_LOG2_MIN, &m->user_as);
	return true;
}

/* Run it as the driver would: its heap, its stream, a fence. */
static void run(struct machine *m, const struct replay *r, const struct replay_options *o)
{
	const struct tsr_heap heap = {
		.base = r->head.heap_base, .size = r->head.heap_size, .max = r->head.heap_max,
	};
	uint64_t packet[TSR_HEAP_QWORDS];

	if (heap.base) {
		tsr_pack_heap(packet, &heap);
		bench_emit(&m->q, packet, TSR_HEAP_QWORDS);
	}
	if (r->head.cmd_size)
		bench_call(&m->q, r->head.cmd_va, r->head.cmd_size);
	bench_fence(&m->q, FENCE_VA, FENCE_VALUE, TSR_EVENT_ALL_DONE, false);
	bench_kick(&m->q);
	bench_run(m->b, o->seconds);
}

/* ---- Comparison ------------------------------------------------------------------------------ */

/* How it ended, and whether that is as it was. */
static bool same_end(struct machine *m, const struct replay *r, const struct replay_options *o,
		     FILE *out)
{
	const struct tsr_capture_header *h = &r->head;
	bool done = *m->fence == FENCE_VALUE;
	enum tsr_fault fault = bench_fault(&m->q);
	uint64_t addr = bench_queue_reg64(&m->q, TSR_QUEUE_FAULT_ADDR__OFFSET);
	uint64_t pc = bench_queue_reg64(&m->q, TSR_QUEUE_FAULT_PC__OFFSET);

	if (done)
		fprintf(out, "replayed: it ends\n");
	else if (fault)
		fprintf(out, "replayed: fault %s at 0x%" PRIx64 ", packet at 0x%" PRIx64 "\n",
		       tsr_desc_value_name(tsr_desc_find_enum("FAULT"), fault), addr, pc);
	else
		fprintf(out, "replayed: it has not ended after %u s\n", o->seconds);
	switch (h->outcome) {
	case TSR_CAPTURE_DONE:
		return done;
	case TSR_CAPTURE_FAULTED:
		return fault == h->fault_code && addr == h->fault_addr && pc == h->fault_pc;
	default:
		return !done && !fault;
	}
}

/* Pages that hold something else; the first few are listed. */
static uint32_t different_pages(const struct machine *m, const struct replay *r, FILE *out)
{
	uint32_t different = 0;

	for (uint32_t i = 0; i < r->head.pages; i++) {
		const struct replay_page *page = &r->page[i];
		const uint8_t *now = m->b->local + m->at[i];
		unsigned int first = 0, bytes = 0;

		for (unsigned int n = 0; page->after && n < TSR_CAPTURE_PAGE; n++) {
			if (now[n] == page->after[n])
				continue;
			if (!bytes++)
				first = n;
		}
		if (bytes && different++ < SHOWN)
			fprintf(out, "0x%" PRIx64 ": the first of %u bytes that differ, "
			       "0x%02x was 0x%02x\n", page->head.va + first, bytes, now[first],
			       page->after[first]);
	}
	return different;
}

/* The memory of a stopped job is not compared: it depends on when the job was stopped. */
static enum replay_status compare(struct machine *m, const struct replay *r,
				  const struct replay_options *o, FILE *out)
{
	bool end = same_end(m, r, o, out);
	uint32_t different = 0;

	if (end && r->head.outcome != TSR_CAPTURE_STOPPED)
		different = different_pages(m, r, out);
	if (!end)
		fprintf(out, "NOT AS IT WAS: it ended in another way\n");
	else if (different)
		fprintf(out, "NOT AS IT WAS: %u of %u pages differ\n", different, r->head.pages);
	else
		fprintf(out, "as it was%s\n", r->head.outcome == TSR_CAPTURE_STOPPED ? "" :
		       ", bit for bit");
	return end && !different ? REPLAY_SAME : REPLAY_DIFFERENT;
}

enum replay_status replay_run(const struct replay *r, const struct replay_options *o, FILE *out)
{
	enum replay_status status = REPLAY_USELESS;
	struct machine m = { 0 };

	if (build(&m, r, o)) {
		run(&m, r, o);
		status = compare(&m, r, o, out);
	}
	if (m.b)
		bench_free(m.b);
	free(m.at);
	return status;
}
