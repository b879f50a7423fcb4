// SPDX-License-Identifier: MIT
/* test: TIMEOUT=120 */
/*
 * Everything that a job can do wrong, beside a file that does nothing wrong: the culprit's fence
 * says what it did, its queue alone is banned, its VM alone has a fault record; the neighbor's
 * copies are exact, from what was queued before, meanwhile and after.
 */
#include "gt_main.h"

#include <errno.h>
#include <unistd.h>

#define WINDOW_VA	0x40000000ULL
#define NOWHERE		0x7fff000000ULL
#define COPY		0x8000ULL
#define PIECE		0x1000ULL

struct culprit {
	const char *name;
	void (*write)(struct gt_ctx *c, struct gt_cs *cs);
	int error;		/* of the fence */
	uint32_t perm;		/* of a BO at WINDOW_VA, 0: there is none */
	unsigned int faults;	/* records in its VM */
};

static struct gt_ctx neighbour;

static void read_nowhere(struct gt_ctx *c, struct gt_cs *cs)
{
	(void)c;
	GT_EMIT(cs, copy_linear, .src = NOWHERE, .dst = GT_DATA_VA, .size = 64);
}

static void write_nowhere(struct gt_ctx *c, struct gt_cs *cs)
{
	(void)c;
	GT_EMIT(cs, copy_linear, .src = GT_DATA_VA, .dst = NOWHERE, .size = 64);
}

static void fill_nowhere(struct gt_ctx *c, struct gt_cs *cs)
{
	(void)c;
	GT_EMIT(cs, fill_linear, .texel = 8, .dst = NOWHERE, .size = 64, .pattern_lo = 1);
}

static void write_window(struct gt_ctx *c, struct gt_cs *cs)
{
	(void)c;
	GT_EMIT(cs, copy_linear, .src = GT_DATA_VA, .dst = WINDOW_VA, .size = 64);
}

static void read_window(struct gt_ctx *c, struct gt_cs *cs)
{
	(void)c;
	GT_EMIT(cs, copy_linear, .src = WINDOW_VA, .dst = GT_DATA_VA, .size = 64);
}

static void run_over_the_end(struct gt_ctx *c, struct gt_cs *cs)
{
	(void)c;
	GT_EMIT(cs, copy_linear, .src = GT_DATA_VA, .dst = WINDOW_VA, .size = 2 * GT_PAGE);
}

static void jump_to_data(struct gt_ctx *c, struct gt_cs *cs)
{
	(void)c;
	GT_EMIT(cs, jump, .addr = GT_DATA_VA, .size = 64);
}

static void jump_nowhere(struct gt_ctx *c, struct gt_cs *cs)
{
	(void)c;
	GT_EMIT(cs, jump, .addr = NOWHERE, .size = 64);
}

static void fence_nowhere(struct gt_ctx *c, struct gt_cs *cs)
{
	(void)c;
	GT_EMIT(cs, fence, .event = TSR_EVENT_ALL_DONE, .addr = NOWHERE, .value = 1);
}

static void signal_nowhere(struct gt_ctx *c, struct gt_cs *cs)
{
	(void)c;
	GT_EMIT(cs, signal, .op = TSR_SIGNAL_OP_ADD, .event = TSR_EVENT_ALL_DONE, .wide = true,
		.addr = NOWHERE, .value = 1);
}

static void wait_nowhere(struct gt_ctx *c, struct gt_cs *cs)
{
	(void)c;
	GT_EMIT(cs, wait, .op = TSR_COMPARE_EQ, .addr = NOWHERE, .value = 1);
}

static void beyond_the_range(struct gt_ctx *c, struct gt_cs *cs)
{
	GT_EMIT(cs, copy_linear, .src = gt_gpu_info(c->fd).va_end, .dst = GT_DATA_VA, .size = 64);
}

static void no_packet(struct gt_ctx *c, struct gt_cs *cs)
{
	(void)c;
	gt_cs_word(cs, 0x1ff);
}

static void jump_for_ever(struct gt_ctx *c, struct gt_cs *cs)
{
	(void)c;
	GT_EMIT(cs, nop, .qwords = 5);
	GT_EMIT(cs, jump, .addr = cs->va, .size = 64);
}

static void call_itself(struct gt_ctx *c, struct gt_cs *cs)
{
	(void)c;
	GT_EMIT(cs, call, .addr = cs->va, .size = 64);
}

static const struct culprit culprits[] = {
	{ "reads where nothing is mapped", read_nowhere, -EFAULT, 0, 1 },
	{ "copies to where nothing is mapped", write_nowhere, -EFAULT, 0, 1 },
	{ "fills where nothing is mapped", fill_nowhere, -EFAULT, 0, 1 },
	{ "writes to what it may only read", write_window, -EFAULT, DRM_TESSERA_BIND_READ, 1 },
	{ "reads what it may only write", read_window, -EFAULT, DRM_TESSERA_BIND_WRITE, 1 },
	{ "copies past the end of a mapping", run_over_the_end, -EFAULT, GT_RW, 1 },
	{ "jumps to what it may not execute", jump_to_data, -EFAULT, 0, 1 },
	{ "jumps to where nothing is mapped", jump_nowhere, -EFAULT, 0, 1 },
	{ "writes a fence where nothing is mapped", fence_nowhere, -EFAULT, 0, 1 },
	{ "adds where nothing is mapped", signal_nowhere, -EFAULT, 0, 1 },
	{ "waits where nothing is mapped", wait_nowhere, -EFAULT, 0, 1 },
	{ "reads beyond the range of addresses", beyond_the_range, -EFAULT, 0, 1 },
	{ "has a packet that does not exist", no_packet, -EINVAL, 0, 0 },
	{ "jumps to itself for ever", jump_for_ever, -EINVAL, 0, 0 },
	{ "calls itself for ever", call_itself, -EINVAL, 0, 0 },
};

/* A copy in pieces, so that there is always one between two packets of the other. */
static void neighbour_starts(unsigned int round)
{
	struct drm_tessera_sync done = gt_binary(neighbour.sync);
	struct gt_cs cs = gt_stream(&neighbour, 64);
	uint64_t *from = gt_data(&neighbour, 0), at;

	for (at = 0; at < COPY / 8; at++)
		from[at] = at * 0x9e3779b97f4a7c15ULL + round;
	memset(gt_data(&neighbour, COPY), 0, COPY);
	for (at = 0; at < COPY; at += PIECE)
		GT_EMIT(&cs, copy_linear, .src = gt_data_va(at), .dst = gt_data_va(COPY + at),
			.size = PIECE);
	ktap_eq(gt_kick(&neighbour, neighbour.queue, &cs, &done), 0);
}

static void neighbour_is_right(void)
{
	ktap_eq(gt_fence_error(neighbour.fd, neighbour.sync, 0), 0);
	ktap_ok(!memcmp(gt_data(&neighbour, 0), gt_data(&neighbour, COPY), COPY));
}

static void beside_a_culprit(const void *arg)
{
	const struct culprit *culprit = arg;
	uint64_t before = gt_queue_state(neighbour.fd, neighbour.queue).jobs_completed;
	struct gt_ctx c = gt_ctx();
	struct gt_bo window = { 0 };
	struct gt_cs cs = gt_stream(&c, 16);
	struct drm_tessera_sync done = gt_binary(c.sync);

	if (culprit->perm) {
		window = gt_bo(c.fd, GT_PAGE, 0);
		gt_bo_bind(&window, c.vm, WINDOW_VA, culprit->perm);
	}
	neighbour_starts(1);
	culprit->write(&c, &cs);
	ktap_eq(gt_kick(&c, c.queue, &cs, &done), 0);
	neighbour_is_right();
	neighbour_starts(2);
	ktap_eq(gt_fence_error(c.fd, c.sync, 0), culprit->error);
	neighbour_is_right();
	ktap_ok(gt_queue_state(c.fd, c.queue).state & DRM_TESSERA_QUEUE_BANNED);
	ktap_eq(gt_vm_state(c.fd, c.vm, NULL).fault_count, culprit->faults);
	ktap_eq(gt_queue_state(neighbour.fd, neighbour.queue).state, 0);
	ktap_eq(gt_queue_state(neighbour.fd, neighbour.queue).reset_count, 0);
	ktap_eq(gt_queue_state(neighbour.fd, neighbour.queue).jobs_completed, before + 2);
	ktap_eq(gt_vm_state(neighbour.fd, neighbour.vm, NULL).fault_count, 0);
	neighbour_starts(3);
	neighbour_is_right();
	if (culprit->perm)
		gt_bo_free(&window);
	gt_ctx_free(&c);
}

int main(int argc, char **argv)
{
	char name[120];
	size_t i;

	gt_start(argc, argv);
	neighbour = gt_ctx();
	for (i = 0; i < GT_ARRAY_SIZE(culprits); i++) {
		snprintf(name, sizeof(name), "[SYS4] [MEM3] beside a job that %s, others are exact",
			 culprits[i].name);
		ktap_run_arg(name, beside_a_culprit, &culprits[i]);
	}
	gt_ctx_free(&neighbour);
	return gt_finish();
}
