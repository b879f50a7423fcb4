// SPDX-License-Identifier: MIT
/*
 * test: TIMEOUT=300 DEVICE_ARGS=vram=32M,inject-window=on
 * test: KERNEL_ARGS=tessera.job_timeout_ms=1000;tessera.job_limit_ms=60000
 */
/*
 * The reset escalation after faults of the device: a slot that does not stop, a reset that does not
 * end, a function-level reset that changes nothing, a device that does not answer, a heap that does
 * not grow. For each step: the guilty job's error, the cost for a bystander whose job had begun, a
 * job that had not begun, the counts, and that all continue. In the end the driver unloads.
 */
#include "gt_main.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "gfxdraw.h"
#include "gt_recover.h"

#define LARGE	0x80000u	/* bytes of a copy that takes a while on a slow engine */

/* How many function-level resets the driver has tried. */
static unsigned int function_resets(void)
{
	static const char field[] = "of the PCI function ";
	char path[300], text[1000], *at;

	gt_debugfs("device", path, sizeof(path));
	gt_read_file(path, text, sizeof(text));
	at = strstr(text, field);
	if (!at)
		gt_die("%s has no '%s'", path, field);
	return strtoul(at + strlen(field), NULL, 10);
}

static void inject_at(const char *format, unsigned int slot)
{
	char script[200];

	snprintf(script, sizeof(script), format, slot, slot, slot);
	ktap_eq(gt_inject(script), 0);
}

/* A bystander: its job has begun and continues slowly, the next job has not begun. */
static struct victim start_bystander(void)
{
	struct victim v = victim_open();
	struct gt_cs copy = gt_stream(&v.c, 16);

	inject_at("slow queue=%u times=always delay=100ms", gt_slot(v.c.fd, v.c.queue));
	GT_EMIT(&copy, fence, .event = TSR_EVENT_ALL_DONE, .addr = gt_data_va(8), .value = 1);
	GT_EMIT(&copy, copy_linear, .src = gt_data_va(0), .dst = gt_data_va(LARGE), .size = LARGE);
	victim_start(&v, &copy);
	return v;
}

/* A job that hangs on a queue of its own, to which @script happens as well. */
struct guilty {
	struct gt_ctx c;
	uint32_t hung, behind;
};

static struct guilty start_guilty(const char *script)
{
	struct guilty g = { .c = gt_ctx() };
	struct gt_cs fill = gt_stream(&g.c, 8);
	struct drm_tessera_sync first, second;

	g.hung = gt_syncobj(g.c.fd, false);
	g.behind = gt_syncobj(g.c.fd, false);
	first = gt_binary(g.hung);
	second = gt_binary(g.behind);
	inject_at("hang queue=%u", gt_slot(g.c.fd, g.c.queue));
	inject_at(script, gt_slot(g.c.fd, g.c.queue));
	GT_EMIT(&fill, fill_linear, .texel = 8, .dst = gt_data_va(0), .size = 64, .pattern_lo = 1);
	ktap_eq(gt_kick(&g.c, g.c.queue, &fill, &first), 0);
	ktap_eq(gt_kick(&g.c, g.c.queue, &fill, &second), 0);
	return g;
}

static void expect_guilty(struct guilty *g, uint32_t resets)
{
	struct drm_tessera_queue_get_state state;

	ktap_eq(gt_fence_error(g->c.fd, g->hung, 0), -ETIMEDOUT);
	ktap_eq(gt_fence_error(g->c.fd, g->behind, 0), -ECANCELED);
	state = gt_queue_state(g->c.fd, g->c.queue);
	ktap_eq(state.state, DRM_TESSERA_QUEUE_BANNED | DRM_TESSERA_QUEUE_TIMEDOUT);
	ktap_eq(state.error, ETIMEDOUT);
	ktap_eq(state.reset_count, resets);
	gt_renew_queue(&g->c);
	ktap_ok(copy_works(&g->c));
}

/* ---- a slot, the device, the function ---- */

struct rung {
	const char *name, *script;
	uint32_t resets;		/* of the device */
	unsigned int functions;		/* of them by way of PCI */
	unsigned int most_ms;
};

static const struct rung rungs[] = {
	{ "[SYS7] a slot that stops late: its own affair", "stop-stuck queue=%u delay=400ms",
	  0, 0, 20000 },
	{ "[SYS7] a slot that does not stop: the device is reset", "stop-stuck queue=%u",
	  1, 0, 20000 },
	{ "[SYS7] and its reset takes a while", "stop-stuck queue=%u; reset-stuck delay=1000ms",
	  1, 0, 20000 },
	{ "[SYS7] and its reset does not end: the PCI function is reset",
	  "stop-stuck queue=%u; reset-stuck", 1, 1, 40000 },
};

static void climbs(const void *arg)
{
	const struct rung *rung = arg;
	struct victim v = start_bystander();
	struct drm_tessera_gpu_state before = gt_gpu_state(v.c.fd), after;
	unsigned int functions = function_resets();
	uint64_t start = gt_now_ns();
	struct guilty g = start_guilty(rung->script);

	expect_guilty(&g, 1);
	if (rung->resets) {
		expect_innocent(&v);
	} else {
		ktap_eq(gt_inject("clear"), 0);
		ktap_eq(gt_fence_error(v.c.fd, v.begun, 0), 0);
		ktap_eq(gt_fence_error(v.c.fd, v.behind, 0), 0);
		ktap_eq(gt_queue_state(v.c.fd, v.c.queue).state, 0);
	}
	ktap_ok((gt_now_ns() - start) / 1000000 <= rung->most_ms);
	ktap_eq(gt_inject("clear"), 0);
	ktap_ok(copy_works(&v.c));
	after = gt_gpu_state(v.c.fd);
	ktap_eq(after.reset_count, before.reset_count + rung->resets);
	ktap_eq(after.queue_reset_count, before.queue_reset_count + 1);
	ktap_eq(after.flags, 0);
	ktap_eq(function_resets(), functions + rung->functions);
	gt_ctx_free(&g.c);
	gt_ctx_free(&v.c);
}

/* ---- a device that does not answer ---- */

static void gone(void)
{
	struct victim v = start_bystander();
	struct drm_tessera_gpu_state before = gt_gpu_state(v.c.fd), after;
	unsigned int functions = function_resets();

	/* the answer to the script itself is the read at which the device goes */
	ktap_eq(gt_inject("gone"), 0);
	ktap_eq(gt_fence_error(v.c.fd, v.begun, 0), -ECANCELED);
	/* nobody can say if it had begun */
	ktap_eq(gt_fence_error(v.c.fd, v.behind, 0), -ECANCELED);
	ktap_eq(gt_queue_state(v.c.fd, v.c.queue).state, DRM_TESSERA_QUEUE_INNOCENT);
	ktap_eq(gt_inject("clear"), 0);
	ktap_ok(copy_works(&v.c));
	after = gt_gpu_state(v.c.fd);
	ktap_eq(after.reset_count, before.reset_count + 1);
	ktap_eq(after.queue_reset_count, before.queue_reset_count);
	ktap_eq(after.flags, 0);
	ktap_eq(function_resets(), functions + 1);
	gt_ctx_free(&v.c);
}

/*
 * A bind is the only one that uses the device, so it is the bind that finds out. It does so long
 * before an invalidation of a device that is there would be given up, and its VM is not to blame.
 */
static void gone_in_bind(void)
{
	struct gt_ctx c = gt_ctx();
	struct gt_bo page = gt_bo(c.fd, GT_PAGE, 0);
	const struct drm_tessera_bind_op ops[] = {
		gt_op_map(page.handle, 0x40000000, GT_PAGE, 0, GT_RW),
		gt_op_unmap(0x40000000, GT_PAGE),
	};
	unsigned int functions = function_resets();
	uint64_t start;

	ktap_ok(copy_works(&c));
	gt_sleep_ms(1000);	/* past the last timeout check of that queue */
	ktap_eq(gt_inject("gone"), 0);
	start = gt_now_ns();
	for (unsigned int i = 0; i < GT_ARRAY_SIZE(ops); i++)
		ktap_eq(gt_vm_bind(c.fd, c.vm, &ops[i], 1), 0);
	ktap_ok(gt_now_ns() - start < 5000000000ull);
	ktap_ok(copy_works(&c));
	ktap_eq(gt_inject("clear"), 0);
	ktap_eq(function_resets(), functions + 1);
	gt_bo_free(&page);
	gt_ctx_free(&c);
}

/* ---- the end of the reset escalation ---- */

/*
 * Everything says -EIO but what needs no device. The event comes once; it names the task whose
 * queue is to blame, if one is.
 */
static void expect_wedged(struct victim *v, int events, const char *task)
{
	struct drm_tessera_job job = gt_job(v->c.queue, NULL);
	uint32_t queue;

	ktap_ok(uevent_came(events, "WEDGED=rebind,bus-reset", task));
	ktap_eq(gt_fence_error(v->c.fd, v->begun, 0), -EIO);
	ktap_eq(gt_fence_error(v->c.fd, v->behind, 0), -EIO);
	ktap_eq(gt_gpu_state(v->c.fd).flags, DRM_TESSERA_GPU_WEDGED);
	ktap_eq(gt_submit(v->c.fd, &job, 1), -EIO);
	ktap_eq(gt_queue_try(v->c.fd, v->c.vm, DRM_TESSERA_ENGINE_COPY, 1, 0, &queue), -EIO);
	close(events);
}

static void expect_back(void)
{
	struct gt_ctx c = gt_ctx();

	ktap_eq(gt_gpu_state(c.fd).flags, 0);
	ktap_ok(copy_works(&c));
	gt_ctx_free(&c);
}

/* The guilty one is still told apart from those who are there by chance. */
static void nothing_helps(void)
{
	struct victim v = start_bystander();
	int events = uevents_open();
	struct guilty g = start_guilty("stop-stuck queue=%u; reset-stuck times=always; "
				       "flr-ignored");

	ktap_eq(gt_fence_error(g.c.fd, g.hung, 0), -ETIMEDOUT);
	ktap_eq(gt_fence_error(g.c.fd, g.behind, 0), -ECANCELED);
	expect_wedged(&v, events, "TASK=ladder");
	ktap_eq(gt_inject("clear"), 0);
	gt_ctx_free(&g.c);
	gt_ctx_free(&v.c);
	rebind(false);
	expect_back();
}

/* Neither registers nor the function-level reset: only one from outside brings it back. */
static void gone_for_good(void)
{
	struct victim v = start_bystander();
	int events = uevents_open();
	uint64_t start;

	ktap_eq(gt_inject("flr-ignored; gone"), 0);
	expect_wedged(&v, events, NULL);
	/* nothing waits for registers that do not answer */
	start = gt_now_ns();
	gt_ctx_free(&v.c);
	ktap_ok(gt_now_ns() - start < 5000000000ull);
	rebind(true);
	expect_back();
}

/* ---- memory between binning and rendering ---- */

#define SIDE	128
#define TRIANGLES 4000

static struct gfxt t;
static struct tsr_gfx_pipeline *pipeline;
static uint64_t vertices;

static int draw(uint8_t *texels)
{
	return gfxt_triangles(&t, pipeline, vertices, TRIANGLES, SIDE, texels);
}

static void set_up_scene(void)
{
	struct gfxt_vertex *v = calloc(3 * TRIANGLES, sizeof(*v));

	gfxt_open(&t);
	pipeline = gfxt_pipeline(&t, NULL);
	for (int i = 0; i < 3 * TRIANGLES; i++) {
		float x = (float)(i / 3 % 63) / 31 - 1, y = (float)(i / 3 / 63) / 32 - 1;

		v[i] = (struct gfxt_vertex) {
			{ x + (i % 3 == 1 ? 0.04f : 0), y + (i % 3 == 2 ? 0.04f : 0), 0, 1 },
			{ (float)(i % 7) / 6, (float)(i % 11) / 10, 1, 1 },
		};
	}
	vertices = gfxt_data(&t, v, 3 * TRIANGLES * sizeof(*v));
	free(v);
}

static void heap_oom(void)
{
	static uint8_t good[4 * SIDE * SIDE], again[4 * SIDE * SIDE];
	struct gt_ctx c = gt_ctx();
	struct drm_tessera_gpu_state before = gt_gpu_state(c.fd);
	unsigned int count = gt_fired("HEAP_OOM");

	set_up_scene();
	ktap_eq(tsr_gfx_set_heap(t.gfx, 65536, 0), 0);
	ktap_eq(draw(good), 0);
	ktap_eq(tsr_gfx_set_heap(t.gfx, 65536, 0), 0);
	ktap_eq(gt_inject("heap-oom"), 0);
	ktap_eq(draw(again), -ENOSPC);
	ktap_eq(gt_fired("HEAP_OOM"), count + 1);
	ktap_eq(gt_inject("clear"), 0);
	ktap_ok(copy_works(&c));
	ktap_eq(draw(again), 0);
	ktap_mem_eq(again, good, sizeof(good));
	ktap_eq(gt_gpu_state(c.fd).reset_count, before.reset_count);
	/* the queue that bins, and maybe the one whose job waits for it */
	ktap_ok(gt_gpu_state(c.fd).queue_reset_count > before.queue_reset_count);
	tsr_gfx_pipeline_unref(pipeline);
	gfxt_close(&t);
	gt_ctx_free(&c);
}

static void unloads(void)
{
	ktap_eq(system("n=0; while ! rmmod tessera; do n=$((n + 1)); [ $n -lt 50 ] || exit 1;"
		       " usleep 100000; done 2>/dev/null"), 0);
	ktap_eq(system("modprobe tessera"), 0);
	for (int i = 0; i < 1000; i++) {
		char path[300];

		if (gt_node_path(0, true, path, sizeof(path)))
			break;
		gt_sleep_ms(5);
	}
	expect_back();
}

int main(int argc, char **argv)
{
	gt_start(argc, argv);
	for (unsigned int i = 0; i < GT_ARRAY_SIZE(rungs); i++)
		ktap_run_arg(rungs[i].name, climbs, &rungs[i]);
	ktap_run("[SYS7] a device that is gone comes back by a reset of the function", gone);
	ktap_run("[SYS7] a bind finds out that the device is gone, and keeps its VM", gone_in_bind);
	ktap_run("[SYS7] no reset helps: given up, the guilty one still told apart", nothing_helps);
	ktap_run("[SYS7] a device gone for good is given up, a reset from outside helps",
		 gone_for_good);
	ktap_run("[SYS7] a heap that is not given more: -ENOSPC, and the next pass draws",
		 heap_oom);
	ktap_run("[SYS2] after all that the driver unloads, and loads", unloads);
	return gt_finish();
}
