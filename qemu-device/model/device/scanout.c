/* SPDX-License-Identifier: MIT */
#include "scanout.h"

#include <string.h>

#include "gpu.h"

/* ---- What the display uses of the device ----------------------------------------------------- */

static uint64_t host_clock(void *opaque)
{
	struct tsr_gpu *gpu = opaque;

	return gpu->ops->clock(gpu->host);
}

static uint64_t timestamp(void *opaque)
{
	struct tsr_gpu *gpu = opaque;

	return tsr_clock(&gpu->counters);
}

static void want(void *opaque, uint64_t when)
{
	struct tsr_gpu *gpu = opaque;

	tsr_timer_want(&gpu->timer, when);
}

static void raise(void *opaque, uint64_t bits)
{
	struct tsr_gpu *gpu = opaque;

	tsr_irq_raise(&gpu->irq, TSR_IRQ_CLASS_DISPLAY, bits);
}

static void wake(void *opaque, bool interrupt)
{
	struct tsr_gpu *gpu = opaque;

	if (interrupt)
		tsr_runners_interrupt(gpu);
	tsr_workers_wake(gpu);
}

static void wait_quiet(void *opaque)
{
	tsr_gpu_wait_quiet(opaque);
}

static void frame_gone(void *opaque, unsigned int head)
{
	struct tsr_gpu *gpu = opaque;

	if (gpu->ops->frame)
		gpu->ops->frame(gpu->host, head);
}

void tsr_scanout_init(struct tsr_gpu *gpu)
{
	gpu->display.device = (struct tsr_display_device){
		.opaque = gpu, .clock = host_clock, .timestamp = timestamp, .want = want,
		.raise = raise, .wake = wake, .wait = wait_quiet, .frame = frame_gone,
	};
	gpu->display.heads = gpu->cfg.heads;
	gpu->display.deterministic = gpu->cfg.deterministic;
	gpu->display.head_pixels = gpu->cfg.head_pixels;
	tsr_display_init(&gpu->display);
}

/* ---- A thread that composes ------------------------------------------------------------------ */

/* Compose a slice of @head's frame. Lock held; released meanwhile. Returns the cycles. */
static uint64_t run_slice(struct tsr_runner *runner, struct tsr_head *head, uint64_t seq,
			  uint64_t limit)
{
	struct tsr_gpu *gpu = runner->gpu;
	struct tsr_mem mem = tsr_runner_mem(runner, NULL, 0, TSR_UNIT_NONE);
	uint64_t spent;

	head->port = &runner->own.port;
	head->composition.patient = head->patience;
	runner->composes = true;
	tsr_tlb_sync(runner);
	tsr_port_start(&runner->own.port);
	pthread_mutex_unlock(&gpu->lock);
	spent = tsr_compose_slice(head, &mem, seq, limit);
	pthread_mutex_lock(&gpu->lock);
	tsr_port_end(&runner->own.port);
	head->port = NULL;
	runner->composes = false;
	tsr_tlb_sync(runner);
	return spent;
}

uint64_t tsr_scanout_run(struct tsr_runner *runner, uint64_t limit)
{
	struct tsr_gpu *gpu = runner->gpu;
	const uint64_t seq = atomic_load(&gpu->host_seq);
	struct tsr_head *head;
	uint64_t spent;
	bool done;

	if (!atomic_load_explicit(&gpu->display.wanted, memory_order_relaxed) ||
	    tsr_gpu_stands(gpu))
		return 0;
	head = tsr_compose_next(&gpu->display, seq);
	if (!head)
		return 0;
	spent = run_slice(runner, head, seq, limit);
	done = tsr_compose_end(&gpu->display, head);
	tsr_inval_complete(gpu);
	tsr_gpu_runner_idle(gpu);
	if (done && gpu->ops->frame) {
		const unsigned int index = head->index;

		pthread_mutex_unlock(&gpu->lock);
		gpu->ops->frame(gpu->host, index);
		pthread_mutex_lock(&gpu->lock);
	}
	return spent ? spent : 1;
}

/* ---- The host -------------------------------------------------------------------------------- */

uint64_t tsr_gpu_display_update(struct tsr_gpu *gpu, unsigned int n)
{
	struct tsr_head *head = &gpu->display.head[n];
	uint64_t serial = 0;
	bool complete = false;

	pthread_mutex_lock(&gpu->lock);
	if (n < gpu->display.heads) {
		/* a frame that is being composed may be older than the picture requested */
		serial = head->serial + (head->begun ? 2 : 1);
		complete = !tsr_compose_request(&gpu->display, head);
		serial = complete ? head->serial : serial;
	}
	pthread_mutex_unlock(&gpu->lock);
	if (complete && gpu->ops->frame)
		gpu->ops->frame(gpu->host, n);
	return serial;
}

bool tsr_gpu_display_frame(struct tsr_gpu *gpu, unsigned int n, struct tsr_display_frame *frame)
{
	struct tsr_head *head = &gpu->display.head[n];

	*frame = (struct tsr_display_frame){ 0 };
	pthread_mutex_lock(&gpu->lock);
	if (n < gpu->display.heads && head->on && head->front.serial) {
		*frame = (struct tsr_display_frame){ head->front.pixels, head->front.width,
						     head->front.height, head->front.serial };
		head->lent = true;
	}
	pthread_mutex_unlock(&gpu->lock);
	return frame->pixels;
}

void tsr_gpu_display_done(struct tsr_gpu *gpu, unsigned int n)
{
	struct tsr_head *head = &gpu->display.head[n];

	pthread_mutex_lock(&gpu->lock);
	if (n < gpu->display.heads)
		tsr_frame_memory_return(head);
	pthread_mutex_unlock(&gpu->lock);
}

void tsr_gpu_display_monitor(struct tsr_gpu *gpu, unsigned int n, bool present,
			     const void *edid, size_t size)
{
	struct tsr_head *head = &gpu->display.head[n];
	uint32_t words[TSR_EDID_WORDS] = { 0 };

	if (edid)
		memcpy(words, edid, size < sizeof(words) ? size : sizeof(words));
	pthread_mutex_lock(&gpu->lock);
	if (n < gpu->display.heads &&
	    (head->present != present || memcmp(head->edid, words, sizeof(words)))) {
		head->present = present;
		memcpy(head->edid, words, sizeof(words));
		tsr_head_raise(&gpu->display, head, TSR_DISPLAY_IRQ_HOTPLUG);
	}
	pthread_mutex_unlock(&gpu->lock);
}
