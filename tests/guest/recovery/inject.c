// SPDX-License-Identifier: MIT
/*
 * test: TIMEOUT=240 DEVICE_ARGS=vram=32M,inject-window=on,capture-file=/dev/null
 * test: KERNEL_ARGS=tessera.job_timeout_ms=3000;tessera.job_limit_ms=24000
 */
/*
 * Injected faults (Documentation/hw/debug-unit.md), one at a time, and the kernel's reaction: the
 * error that the job's fence carries, the time it may take, whether the queue is banned, and that
 * everything works afterwards.
 */
#include "gt_main.h"

#include <errno.h>

#define FROM	0x20000ULL
#define TO	0x40000ULL
#define SIZE	0x10000u

static struct gt_ctx c;

/* ---- debugfs ---- */

static void file(void)
{
	unsigned int count = gt_fired("HANG");
	char text[1100];

	ktap_eq(gt_inject("no-such-fault"), -EINVAL);
	ktap_eq(gt_inject("hang queue=64"), -EINVAL);
	ktap_eq(gt_inject(" \n"), 0);
	memset(text, ' ', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	ktap_eq(gt_inject(text), -E2BIG);
	ktap_eq(gt_fired("HANG"), count);
}

/* A text of @length: @word, and blanks to its end. */
static const char *padded(const char *word, size_t length)
{
	static char text[TSR_INJECTION_TEXT_MAX + 2];

	memset(text, ' ', length);
	memcpy(text, word, strlen(word));
	text[length] = 0;
	return text;
}

/* The longest text there may be is read to its end, the next one is refused as a whole. */
static void longest(void)
{
	ktap_eq(gt_inject(padded("clear", TSR_INJECTION_TEXT_MAX)), 0);
	ktap_eq(gt_inject(padded("unclear", TSR_INJECTION_TEXT_MAX)), -EINVAL);
	ktap_eq(gt_inject(padded("clear", TSR_INJECTION_TEXT_MAX + 1)), -E2BIG);
}

/* True if debugfs "capture" has this text: armed or not, and the number of captured jobs. */
static bool capture_says(const char *want)
{
	char path[300], text[100] = "";

	gt_debugfs("capture", path, sizeof(path));
	gt_read_file(path, text, sizeof(text));
	if (strcmp(text, want))
		ktap_note("it says %s", text);
	return !strcmp(text, want);
}

static int capture(const char *text)
{
	char path[300];

	gt_debugfs("capture", path, sizeof(path));
	return gt_write_file(path, text);
}

/* No job comes that is asked for here. */
static void captures(void)
{
	ktap_ok(capture_says("idle\ncaptured 0\n"));
	ktap_eq(capture("nothing"), -EINVAL);
	ktap_ok(capture_says("idle\ncaptured 0\n"));
	ktap_eq(capture("queue=9 job=77\n"), 0);
	ktap_ok(capture_says("waiting\ncaptured 0\n"));
	ktap_eq(capture("queue=64"), -EINVAL);
	ktap_ok(capture_says("waiting\ncaptured 0\n"));
	ktap_eq(capture(padded("", TSR_CAPTURE_TEXT_MAX + 1)), -E2BIG);
	ktap_ok(capture_says("waiting\ncaptured 0\n"));
	ktap_eq(capture(padded("", TSR_CAPTURE_TEXT_MAX)), 0);
	ktap_ok(capture_says("idle\ncaptured 0\n"));
}

/* ---- one fault, one job ---- */

/* A verified copy: the error of its fence; @differ: bytes that are not as they should be. */
static int copy(uint32_t queue, unsigned int *differ)
{
	uint8_t *from = gt_data(&c, FROM), *to = gt_data(&c, TO);
	struct gt_cs cs = gt_stream(&c, 8);
	static unsigned int round;
	int ret;

	round++;
	for (unsigned int i = 0; i < SIZE; i++)
		from[i] = (i * 2654435761u ^ round * 77) >> 7;
	memset(to, 0, SIZE);
	GT_EMIT(&cs, copy_linear, .src = gt_data_va(FROM), .dst = gt_data_va(TO), .size = SIZE);
	ret = gt_run_on(&c, queue, &cs);
	*differ = 0;
	for (unsigned int i = 0; i < SIZE; i++)
		*differ += from[i] != to[i];
	return ret;
}

/*
 * A fault and what becomes of the job it happens to. What needs no help of the job timeout is over
 * before that; the timeout is ten times what the faults delay, so that a host with other things to
 * do does not make a hang of them.
 */
struct fault {
	const char *script, *kind;
	int error;			/* of its fence */
	uint32_t state;			/* of its queue, afterwards */
	unsigned int differ;		/* bytes that are wrong although its fence is good */
	unsigned int least_ms, most_ms;	/* time it takes */
};

#define DEAD(why)	(DRM_TESSERA_QUEUE_BANNED | (why))
#define WALK	"queue=%u addr=0x20040000-0x2004ffff"

static const struct fault faults[] = {
	{ "slow queue=%u delay=400ms", "SLOW", .least_ms = 400, .most_ms = 9000 },
	{ "slow queue=%u times=always delay=300ms", "SLOW", .least_ms = 1200, .most_ms = 18000 },
	{ "hang queue=%u", "HANG", -ETIMEDOUT, DEAD(DRM_TESSERA_QUEUE_TIMEDOUT), .least_ms = 2900,
	  .most_ms = 24000 },
	/* without its message a job is found to be complete, or faulted, at the next look */
	{ "irq-lost queue=%u", "IRQ_LOST", .most_ms = 2900 },
	{ "irq-lost queue=%u; mmu-unmapped " WALK, "IRQ_LOST", -EFAULT,
	  DEAD(DRM_TESSERA_QUEUE_FAULTED), .most_ms = 2900 },
	/* the event is not left standing: else the next one would send no message to be lost */
	{ "irq-lost queue=%u; mmu-unmapped " WALK, "IRQ_LOST", -EFAULT,
	  DEAD(DRM_TESSERA_QUEUE_FAULTED), .most_ms = 2900 },
	{ "irq-late queue=%u delay=300ms", "IRQ_LATE", .least_ms = 290, .most_ms = 2900 },
	{ "irq-twice queue=%u", "IRQ_TWICE", .most_ms = 2900 },
	/* the message comes before the copy has begun, and before it is over */
	{ "irq-early queue=%u; slow queue=%u delay=300ms", "IRQ_EARLY", .least_ms = 300,
	  .most_ms = 9000 },
	{ "fence-late queue=%u delay=200ms", "FENCE_LATE", .least_ms = 200, .most_ms = 24000 },
	{ "fence-torn queue=%u delay=200ms", "FENCE_TORN", .most_ms = 24000 },
	{ "fence-lost queue=%u", "FENCE_LOST", -ETIMEDOUT, DEAD(DRM_TESSERA_QUEUE_TIMEDOUT),
	  .least_ms = 2900, .most_ms = 24000 },
	{ "doorbell-lost queue=%u", "DOORBELL_LOST", -ETIMEDOUT, DEAD(DRM_TESSERA_QUEUE_TIMEDOUT),
	  .least_ms = 2900, .most_ms = 24000 },
	{ "mmu-unmapped " WALK, "MMU_UNMAPPED", -EFAULT, DEAD(DRM_TESSERA_QUEUE_FAULTED),
	  .most_ms = 2900 },
	{ "mmu-permission " WALK, "MMU_PERMISSION", -EFAULT, DEAD(DRM_TESSERA_QUEUE_FAULTED),
	  .most_ms = 2900 },
	{ "mmu-walk " WALK, "MMU_WALK", -EFAULT, DEAD(DRM_TESSERA_QUEUE_FAULTED), .most_ms = 2900 },
	{ "mmu-walk-bus " WALK, "MMU_WALK_BUS", -EFAULT, DEAD(DRM_TESSERA_QUEUE_FAULTED),
	  .most_ms = 2900 },
	{ "bus " WALK, "BUS", -EFAULT, DEAD(DRM_TESSERA_QUEUE_FAULTED), .most_ms = 2900 },
	/* nobody but who has asked for the copy can see that it is wrong */
	{ "copy-corrupt queue=%u", "COPY_CORRUPT", .differ = 1, .most_ms = 2900 },
};

static void one_fault(const void *arg)
{
	const struct fault *f = arg;
	struct drm_tessera_gpu_state before = gt_gpu_state(c.fd);
	uint32_t queue = gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY);
	struct drm_tessera_queue_get_state state;
	unsigned int slot = gt_slot(c.fd, queue), differ, count;
	uint64_t start, ms;
	char script[200];
	int ret;

	ktap_eq(copy(queue, &differ), 0);
	ktap_eq(differ, 0);
	count = gt_fired(f->kind);
	snprintf(script, sizeof(script), f->script, slot, slot);
	ktap_eq(gt_inject(script), 0);
	start = gt_now_ns();
	ret = copy(queue, &differ);
	ms = (gt_now_ns() - start) / 1000000;
	ktap_eq(ret, f->error);
	if (!ret)
		ktap_eq(differ, f->differ);
	if (!ktap_ok(ms >= f->least_ms && ms <= f->most_ms))
		ktap_note("%llu ms", (unsigned long long)ms);
	ktap_ok(gt_fired(f->kind) > count);
	ktap_eq(gt_inject("clear"), 0);
	state = gt_queue_state(c.fd, queue);
	ktap_eq(state.state, f->state);
	ktap_eq(state.error, -f->error);
	/* only the queue is affected */
	ktap_eq(gt_gpu_state(c.fd).reset_count, before.reset_count);
	ktap_eq(gt_gpu_state(c.fd).flags, 0);
	if (!f->error) {
		ktap_eq(copy(queue, &differ), 0);
		ktap_eq(differ, 0);
	}
	ktap_eq(copy(c.queue, &differ), 0);
	ktap_eq(differ, 0);
	gt_queue_destroy(c.fd, queue);
}

/* A queue whose messages are lost, one after the other: each job has its own. */
static void lost(void)
{
	unsigned int count = gt_fired("IRQ_LOST"), differ;
	char script[100];

	snprintf(script, sizeof(script), "irq-lost queue=%u times=3", gt_slot(c.fd, c.queue));
	ktap_eq(gt_inject(script), 0);
	for (unsigned int i = 1; i <= 3; i++) {
		ktap_eq(copy(c.queue, &differ), 0);
		ktap_eq(differ, 0);
		ktap_eq(gt_fired("IRQ_LOST"), count + i);
	}
	ktap_eq(gt_inject("clear"), 0);
}

/* ---- invalidations that drop nothing ---- */

/*
 * The kernel cannot know. What a stale translation leads to is the old buffer, which the test still
 * holds.
 */
static void stale(void)
{
	struct gt_bo a = gt_bo(c.fd, GT_PAGE, 0), b = gt_bo(c.fd, GT_PAGE, 0);
	const uint64_t va = 0x30000000;
	struct drm_tessera_bind_op op = gt_op_map(b.handle, va, GT_PAGE, 0, GT_RW);
	struct gt_cs cs;
	uint32_t old = 0;

	gt_bo_bind(&a, c.vm, va, GT_RW);
	for (unsigned int i = 1; i <= 3; i++) {
		cs = gt_stream(&c, 8);
		GT_EMIT(&cs, fill_linear, .texel = 8, .dst = va, .size = 64, .pattern_lo = i);
		ktap_eq(gt_run(&c, &cs), 0);
		if (i < 3)
			old = *(uint32_t *)a.map;
		if (i == 1) {
			ktap_eq(old, 1);
			ktap_eq(gt_inject("tlb-stale times=always"), 0);
			ktap_eq(gt_vm_bind(c.fd, c.vm, &op, 1), 0);
			ktap_eq(gt_inject("clear"), 0);
		} else if (i == 2) {
			/* which of them depends on the worker whose TLB it is */
			ktap_ok((old == 2 && *(uint32_t *)b.map == 0) ||
				(old == 1 && *(uint32_t *)b.map == 2));
			/* the next invalidation is a good one */
			ktap_ok(gt_fired("TLB_STALE") >= 1);
			ktap_eq(gt_vm_bind(c.fd, c.vm, &op, 1), 0);
		}
	}
	ktap_eq(*(uint32_t *)a.map, old);
	ktap_eq(*(uint32_t *)b.map, 3);
	op = gt_op_unmap(va, GT_PAGE);
	ktap_eq(gt_vm_bind(c.fd, c.vm, &op, 1), 0);
	gt_bo_free(&a);
	gt_bo_free(&b);
}

int main(int argc, char **argv)
{
	gt_start(argc, argv);
	c = gt_ctx();
	ktap_run("[SYS9] debugfs takes scripts of faults", file);
	ktap_run("[SYS9] debugfs takes the longest script, and no longer one", longest);
	ktap_run("[SYS9] debugfs takes what to capture", captures);
	for (unsigned int i = 0; i < GT_ARRAY_SIZE(faults); i++) {
		char name[100];

		snprintf(name, sizeof(name), "[SYS9] %s: %s", faults[i].kind,
			 faults[i].error ? strerrorname_np(-faults[i].error) : "no error");
		ktap_run_arg(name, one_fault, &faults[i]);
	}
	ktap_run("[SYS9] IRQ_LOST, job after job", lost);
	ktap_run("[SYS9] TLB_STALE: nobody else's memory", stale);
	gt_ctx_free(&c);
	return gt_finish();
}
