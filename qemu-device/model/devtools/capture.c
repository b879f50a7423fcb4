/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "devtools.h"

#define HASH_SIZE (4 * TSR_CAPTURE_PAGES_MAX)
#define PAGE_MASK (TSR_CAPTURE_PAGE - 1ull)

void tsr_capture_init(struct tsr_gpu *gpu)
{
	pthread_mutex_init(&gpu->bench->capture.lock, NULL);
}

/* From here on units tell of the job and of what it touches, or no longer. */
static void set_active(struct tsr_gpu *gpu, bool active)
{
	atomic_store(&gpu->hooked.capturing, active);
	atomic_store(&gpu->mmu.watched, active || gpu->cfg.check);
}

/* Forget what has been collected of a job. Capture's lock held. */
static void drop(struct tsr_gpu *gpu)
{
	struct tsr_capture *capture = &gpu->bench->capture;

	for (uint32_t i = 0; i < capture->header.pages; i++)
		free(capture->page[i]);
	free(capture->page);
	free(capture->index);
	capture->page = NULL;
	capture->index = NULL;
	capture->header.pages = 0;
	capture->q = NULL;
	set_active(gpu, false);
}

void tsr_capture_free(struct tsr_gpu *gpu)
{
	drop(gpu);
	free(gpu->bench->capture.result);
	pthread_mutex_destroy(&gpu->bench->capture.lock);
}

/* ---- While the job runs ---------------------------------------------------------------------- */

/* Nothing of what was cached is used from here on, by this runner and by those that will help. */
static void forget_all(struct tsr_runner *runner, unsigned int as)
{
	struct tsr_gpu *gpu = runner->gpu;

	pthread_mutex_lock(&gpu->lock);
	tsr_inval_start(gpu, TSR_INVAL_HOST, 0, 0, 0, false);
	tsr_tlb_sync(runner);
	tsr_inval_complete(gpu);
	pthread_mutex_unlock(&gpu->lock);
	tsr_mmu_code_changed(&gpu->mmu, as);
	tsr_mmu_data_changed(&gpu->mmu, as);
}

static bool wanted(const struct tsr_capture *capture, const struct tsr_queue *q, uint64_t job)
{
	return !capture->q && (capture->queue < 0 || (unsigned int)capture->queue == q->index) &&
	       (!capture->job || capture->job == job);
}

void tsr_capture_begin(struct tsr_runner *runner, struct tsr_queue *q, uint64_t cmd_va,
		       uint64_t cmd_size)
{
	struct tsr_gpu *gpu = runner->gpu;
	struct tsr_capture *capture = &gpu->bench->capture;
	uint64_t job = atomic_load(&q->calls) + 1;
	bool begins;

	pthread_mutex_lock(&capture->lock);
	/* a guest that asks again and again does not make the host keep several files */
	begins = atomic_load(&gpu->hooked.capture_armed) && !capture->result &&
		 wanted(capture, q, job);
	if (begins) {
		capture->page = calloc(TSR_CAPTURE_PAGES_MAX, sizeof(capture->page[0]));
		capture->index = calloc(HASH_SIZE, sizeof(capture->index[0]));
		begins = capture->page && capture->index;
	}
	if (begins) {
		capture->q = q;
		capture->as = tsr_queue_user_as(q);
		capture->overflow = capture->too_large = false;
		capture->header = (struct tsr_capture_header) {
			.magic = TSR_CAPTURE_MAGIC, .version = TSR_CAPTURE_VERSION,
			.engine_class = tsr_queue_class(q), .va_bits = gpu->cfg.va_bits,
			.page_sizes = gpu->cfg.page_sizes, .cores = gpu->cfg.cores,
			.queue = q->index, .job = job, .cmd_va = cmd_va, .cmd_size = cmd_size,
			.heap_base = q->heap.base,
		};
	}
	pthread_mutex_unlock(&capture->lock);
	if (!begins)
		return;
	set_active(gpu, true);
	forget_all(runner, tsr_queue_user_as(q));
}

/* The place of @va in the hash. */
static uint32_t *place(struct tsr_capture *capture, uint64_t va)
{
	uint32_t at = (va / TSR_CAPTURE_PAGE * 0x9e3779b97f4a7c15ull) >> 32 & (HASH_SIZE - 1);

	while (capture->index[at] && capture->page[capture->index[at] - 1]->va != va)
		at = (at + 1) & (HASH_SIZE - 1);
	return &capture->index[at];
}

/* A page that has not been touched before, of at most @most. Capture's lock held. */
static void add(struct tsr_capture *capture, uint32_t most, uint64_t va,
		const struct tsr_tlb_entry *e)
{
	struct tsr_capture_touched *page = NULL;
	uint32_t *slot = place(capture, va);

	if (*slot)
		return;
	if (capture->header.pages < most)
		page = calloc(1, sizeof(*page));
	else
		capture->too_large = true;
	if (!page) {
		capture->overflow = true;
		return;
	}
	page->va = va;
	page->flags = (e->perms & TSR_ACCESS_READ ? TSR_CAPTURE_READ : 0) |
		      (e->perms & TSR_ACCESS_WRITE ? TSR_CAPTURE_WRITE : 0) |
		      (e->perms & TSR_ACCESS_EXEC ? TSR_CAPTURE_EXEC : 0) |
		      (e->ptr ? 0 : TSR_CAPTURE_NULL);
	if (e->ptr)
		memcpy(page->before + e->lo, e->ptr, e->hi - e->lo);
	capture->page[capture->header.pages++] = page;
	*slot = capture->header.pages;
}

void tsr_capture_touch(struct tsr_mem *mem, uint64_t va, const struct tsr_tlb_entry *e)
{
	struct tsr_capture *capture = &mem->gpu->bench->capture;

	pthread_mutex_lock(&capture->lock);
	if (capture->q && mem->as == capture->as && (!mem->queue || mem->queue == capture->q))
		add(capture, mem->gpu->cfg.capture_pages, va & ~PAGE_MASK, e);
	pthread_mutex_unlock(&capture->lock);
}

/* ---- Its end --------------------------------------------------------------------------------- */

/* Copies the present contents of the page to @out. False if it cannot be read. */
static bool read_page(struct tsr_gpu *gpu, unsigned int as, uint64_t va, uint8_t *out)
{
	uint64_t len = TSR_CAPTURE_PAGE, entry;
	struct tsr_walk walk;
	void *ptr;

	if (tsr_mmu_peek(&gpu->mmu, as, va, &walk, &entry) != TSR_MMU_PEEK_FOUND || walk.null)
		return false;
	if (walk.local) {
		if (walk.phys >= gpu->cfg.local_size)
			return false;
		ptr = (uint8_t *)gpu->cfg.local + walk.phys;
	} else if (gpu->ops->map(gpu->host, walk.phys, &len, false, &ptr) != TSR_HOST_OK ||
		   len != TSR_CAPTURE_PAGE) {
		return false;
	}
	memcpy(out, ptr, TSR_CAPTURE_PAGE);
	return true;
}

/* Append one page to the file at @out; returns its end. */
static uint8_t *write_page(struct tsr_gpu *gpu, const struct tsr_capture_touched *page,
			   uint8_t *out)
{
	struct tsr_capture_page head = { .va = page->va, .flags = page->flags };
	uint8_t *after = out + sizeof(head) + TSR_CAPTURE_PAGE;

	if (page->flags & TSR_CAPTURE_NULL)
		;
	else if (!read_page(gpu, gpu->bench->capture.as, page->va, after))
		head.flags |= TSR_CAPTURE_UNKNOWN;
	else if (memcmp(after, page->before, TSR_CAPTURE_PAGE))
		head.flags |= TSR_CAPTURE_CHANGED;
	memcpy(out, &head, sizeof(head));
	memcpy(out + sizeof(head), page->before, TSR_CAPTURE_PAGE);
	return head.flags & TSR_CAPTURE_CHANGED ? after + TSR_CAPTURE_PAGE : after;
}

/* Make the file. Capture's lock held. */
static void finish(struct tsr_gpu *gpu)
{
	struct tsr_capture *capture = &gpu->bench->capture;
	const struct tsr_queue *q = capture->q;
	struct tsr_capture_header *h = &capture->header;
	size_t most = sizeof(*h) + h->pages * (sizeof(struct tsr_capture_page) +
					       2ull * TSR_CAPTURE_PAGE);
	uint8_t *file = malloc(most), *out = file + sizeof(*h);

	if (!file)
		return;
	h->heap_size = atomic_load(&q->heap.size);
	h->heap_max = q->heap.max;
	if (h->outcome == TSR_CAPTURE_FAULTED) {
		h->fault_code = q->fault.code;
		h->fault_access = q->fault.access;
		h->fault_addr = q->fault.addr;
		h->fault_pc = q->fault.pc;
	}
	memcpy(file, h, sizeof(*h));
	for (uint32_t i = 0; i < h->pages; i++)
		out = write_page(gpu, capture->page[i], out);
	free(capture->result);
	capture->result = file;
	capture->size = out - file;
	atomic_store(&gpu->hooked.capture_armed, false);
	atomic_fetch_add(&capture->captured, 1);
}

/* Tell the host of the first job that was too large. The guest can run many of them. Lock held. */
static void report_overflow(struct tsr_gpu *gpu)
{
	struct tsr_capture *capture = &gpu->bench->capture;
	char text[100];

	if (!capture->too_large || capture->reported || !gpu->ops->report)
		return;
	capture->reported = true;
	snprintf(text, sizeof(text), "capture: a job of more than %u pages was not captured",
		 gpu->cfg.capture_pages);
	gpu->ops->report(gpu->host, text);
}

void tsr_capture_end(struct tsr_queue *q, enum tsr_capture_outcome outcome)
{
	struct tsr_capture *capture = &q->gpu->bench->capture;
	bool made = false;

	pthread_mutex_lock(&capture->lock);
	if (capture->q == q) {
		capture->header.outcome = outcome;
		if (outcome == TSR_CAPTURE_DONE && capture->only_failed) {
			/* only jobs that fail are kept */
		} else if (capture->overflow) {
			report_overflow(q->gpu);
		} else {
			finish(q->gpu);
			made = capture->result != NULL;
		}
		drop(q->gpu);
	}
	pthread_mutex_unlock(&capture->lock);
	if (made && q->gpu->ops->captured)
		q->gpu->ops->captured(q->gpu->host);
}

/* ---- The host's side ------------------------------------------------------------------------- */

/* "queue=N", "queue=N job=M", "next" or "fault": false if it is none of them. */
static bool parse(const char *what, bool *failed, int *queue, uint64_t *job)
{
	unsigned int n = 0;
	unsigned long long m = 0;
	int end = 0;

	*failed = !strcmp(what, "fault");
	*queue = -1;
	*job = 0;
	if (*failed || !strcmp(what, "next"))
		return true;
	if (sscanf(what, "queue=%u%n", &n, &end) != 1 || n >= TSR_QUEUES_MAX)
		return false;
	*queue = n;
	if (!what[end])
		return true;
	what += end;
	end = 0;
	if (sscanf(what, " job=%llu%n", &m, &end) != 1 || !end || what[end] || !m)
		return false;
	*job = m;
	return true;
}

bool tsr_gpu_capture(struct tsr_gpu *gpu, const char *what, char *err, size_t errlen)
{
	struct tsr_capture *capture;
	bool failed = false;
	uint64_t job = 0;
	int queue = -1;

	if (!gpu->bench) {
		snprintf(err, errlen, "this device captures no jobs");
		return false;
	}
	capture = &gpu->bench->capture;
	if (*what && !parse(what, &failed, &queue, &job)) {
		snprintf(err, errlen, "'%s' is not next, fault, queue=N or queue=N job=M", what);
		return false;
	}
	pthread_mutex_lock(&capture->lock);
	drop(gpu);
	capture->only_failed = failed;
	capture->queue = queue;
	capture->job = job;
	atomic_store(&gpu->hooked.capture_armed, *what);
	pthread_mutex_unlock(&capture->lock);
	return true;
}

void tsr_gpu_capture_window(struct tsr_gpu *gpu, bool open)
{
	if (!gpu->bench)
		return;
	pthread_mutex_lock(&gpu->lock);
	gpu->bench->capture.window = open;
	pthread_mutex_unlock(&gpu->lock);
}

size_t tsr_gpu_captured(struct tsr_gpu *gpu, void **file)
{
	struct tsr_capture *capture;
	size_t size;

	*file = NULL;
	if (!gpu->bench)
		return 0;
	capture = &gpu->bench->capture;
	pthread_mutex_lock(&capture->lock);
	*file = capture->result;
	size = capture->size;
	capture->result = NULL;
	capture->size = 0;
	pthread_mutex_unlock(&capture->lock);
	return size;
}

/* ---- The guest's ----------------------------------------------------------------------------- */

uint32_t tsr_capture_read(struct tsr_gpu *gpu, uint32_t offset)
{
	struct tsr_capture *capture = &gpu->bench->capture;

	if (offset != TSR_CAPTURE_STATUS__OFFSET)
		return 0;
	return capture->verdict |
	       (atomic_load(&gpu->hooked.capture_armed) ? TSR_CAPTURE_STATUS_ARMED__MASK : 0) |
	       atomic_load(&capture->captured) << TSR_CAPTURE_STATUS_CAPTURED__SHIFT;
}

void tsr_capture_write(struct tsr_gpu *gpu, uint32_t offset, uint32_t value)
{
	struct tsr_capture *capture = &gpu->bench->capture;
	char c = value & TSR_CAPTURE_TEXT_CHARACTER__MASK, err[1];

	if (offset != TSR_CAPTURE_TEXT__OFFSET)
		return;
	if (c) {
		if (capture->length < TSR_CAPTURE_TEXT_MAX)
			capture->text[capture->length] = c;
		if (capture->length <= TSR_CAPTURE_TEXT_MAX)
			capture->length++;
		return;
	}
	capture->verdict = TSR_CAPTURE_RESULT_REFUSED;
	if (!capture->window) {
		capture->verdict = TSR_CAPTURE_RESULT_NOWHERE;
	} else if (capture->length <= TSR_CAPTURE_TEXT_MAX) {
		capture->text[capture->length] = 0;
		if (tsr_gpu_capture(gpu, capture->text, err, sizeof(err)))
			capture->verdict = TSR_CAPTURE_RESULT_ACCEPTED;
	}
	capture->length = 0;
}
