// SPDX-License-Identifier: MIT
/* test: TIMEOUT=60 */
/*
 * Command streams that are wrong: each fault code once (Documentation/hw/queues.md), the packet it
 * stopped at, the error of the fence, and what is left of the queue. Words are written by hand,
 * since the packers refuse to make such packets.
 */
#include "gt_main.h"

#include <errno.h>
#include <unistd.h>

static struct gt_ctx c;

#define HEADER(op, qwords)	((uint64_t)(op) | (uint64_t)(qwords) << 8)

/* One bad packet; words beyond the packet's own length are zero. */
struct bad_packet {
	const char *name;
	uint64_t words[6];
	uint8_t count;		/* qwords of it in the stream */
	uint8_t code;		/* fault expected */
	uint8_t engine;		/* class of the queue */
};

#define COPY	DRM_TESSERA_ENGINE_COPY
#define D(x)	(GT_DATA_VA + (x))

static const struct bad_packet packets[] = {
	{ "an unknown opcode", { HEADER(0x7f, 1) }, 1, TSR_FAULT_UNKNOWN_OPCODE, COPY },
	{ "opcode 0xff", { HEADER(0xff, 255) }, 1, TSR_FAULT_UNKNOWN_OPCODE, COPY },
	{ "length 0", { HEADER(TSR_OP_NOP, 0) }, 1, TSR_FAULT_BAD_LENGTH, COPY },
	{ "a FENCE of 2 qwords", { HEADER(TSR_OP_FENCE, 2), D(0) }, 2, TSR_FAULT_BAD_LENGTH, COPY },
	{ "a FENCE of 4 qwords", { HEADER(TSR_OP_FENCE, 4), D(0) }, 4, TSR_FAULT_BAD_LENGTH, COPY },
	{ "a FENCE with bit 19",
	  { HEADER(TSR_OP_FENCE, 3) | 1 << 19, D(0), 1 },
	  3,
	  TSR_FAULT_RESERVED_BITS,
	  COPY },
	{ "a NOP with bit 63",
	  { HEADER(TSR_OP_NOP, 1) | 1ULL << 63 },
	  1,
	  TSR_FAULT_RESERVED_BITS,
	  COPY },
	{ "a CALL with the upper half of SIZE",
	  { HEADER(TSR_OP_CALL, 3), GT_CMD_VA, 1ULL << 32 | 64 },
	  3,
	  TSR_FAULT_RESERVED_BITS,
	  COPY },
	{ "[SYS6] WAIT_REG in a stream",
	  { HEADER(TSR_OP_WAIT_REG, 2), 0 },
	  2,
	  TSR_FAULT_PRIVILEGE,
	  COPY },
	{ "[SYS6] SIGNAL_REG in a stream",
	  { HEADER(TSR_OP_SIGNAL_REG, 2), 1 },
	  2,
	  TSR_FAULT_PRIVILEGE,
	  COPY },
	{ "[SYS6] TLB_INVALIDATE in a stream",
	  { HEADER(TSR_OP_TLB_INVALIDATE, 3) | 2 << 16 },
	  3,
	  TSR_FAULT_PRIVILEGE,
	  COPY },
	{ "[SYS6] a FENCE with IRQ in a stream",
	  { HEADER(TSR_OP_FENCE, 3) | 1 << 18, D(0), 1 },
	  3,
	  TSR_FAULT_PRIVILEGE,
	  COPY },
	{ "DISPATCH on a COPY queue",
	  { HEADER(TSR_OP_DISPATCH, 4) },
	  4,
	  TSR_FAULT_WRONG_CLASS,
	  COPY },
	{ "BIN on a RENDER queue",
	  { HEADER(TSR_OP_BIN, 4) },
	  4,
	  TSR_FAULT_WRONG_CLASS,
	  DRM_TESSERA_ENGINE_RENDER },
	{ "COPY_LINEAR on a COMPUTE queue",
	  { HEADER(TSR_OP_COPY_LINEAR, 4), D(0), D(64), 8 },
	  4,
	  TSR_FAULT_WRONG_CLASS,
	  DRM_TESSERA_ENGINE_COMPUTE },
	{ "BIN of a misaligned list",
	  { HEADER(TSR_OP_BIN, 4), D(8), 64, D(64) },
	  4,
	  TSR_FAULT_ALIGNMENT,
	  DRM_TESSERA_ENGINE_BIN },
	{ "RENDER of an empty list",
	  { HEADER(TSR_OP_RENDER, 4), D(0), 0, D(64) },
	  4,
	  TSR_FAULT_BAD_VALUE,
	  DRM_TESSERA_ENGINE_RENDER },
	{ "DISPATCH of a misaligned state",
	  { HEADER(TSR_OP_DISPATCH, 4), D(8), 1ULL << 32 | 1, 1 },
	  4,
	  TSR_FAULT_ALIGNMENT,
	  DRM_TESSERA_ENGINE_COMPUTE },
	{ "WAIT with comparison 3",
	  { HEADER(TSR_OP_WAIT, 3) | 3 << 16, D(0), 0 },
	  3,
	  TSR_FAULT_BAD_VALUE,
	  COPY },
	{ "a narrow WAIT for a wide value",
	  { HEADER(TSR_OP_WAIT, 3), D(0), 1ULL << 32 },
	  3,
	  TSR_FAULT_BAD_VALUE,
	  COPY },
	{ "a narrow SIGNAL of a wide value",
	  { HEADER(TSR_OP_SIGNAL, 3), D(0), 1ULL << 40 },
	  3,
	  TSR_FAULT_BAD_VALUE,
	  COPY },
	{ "a CALL of nothing",
	  { HEADER(TSR_OP_CALL, 3), GT_CMD_VA, 0 },
	  3,
	  TSR_FAULT_BAD_VALUE,
	  COPY },
	{ "a JUMP to a stream that is too long",
	  { HEADER(TSR_OP_JUMP, 3), GT_CMD_VA, TSR_STREAM_SIZE_MAX + 8 },
	  3,
	  TSR_FAULT_BAD_VALUE,
	  COPY },
	{ "a FILL with a texel of 0 bytes",
	  { HEADER(TSR_OP_FILL_LINEAR, 5), D(0), 64 },
	  5,
	  TSR_FAULT_BAD_VALUE,
	  COPY },
	{ "a FILL with a texel of 17 bytes",
	  { HEADER(TSR_OP_FILL_LINEAR, 5) | 17ULL << 32, D(0), 17 },
	  5,
	  TSR_FAULT_BAD_VALUE,
	  COPY },
	{ "a FILL pattern beyond its texel",
	  { HEADER(TSR_OP_FILL_LINEAR, 5) | 2ULL << 32, D(0), 4, 0x10000 },
	  5,
	  TSR_FAULT_BAD_VALUE,
	  COPY },
	{ "COPY_RECT that is too wide",
	  { HEADER(TSR_OP_COPY_RECT, 6) | 1ULL << 32, D(0), D(0x8000), 0x0000100000001000, 0,
	    1ULL << 32 | (TSR_RECT_MAX + 1) },
	  6,
	  TSR_FAULT_BAD_VALUE,
	  COPY },
	{ "a COUNTER_BEGIN with a bit too many",
	  { HEADER(TSR_OP_COUNTER_BEGIN, 2) | 1 << 16, 1 },
	  2,
	  TSR_FAULT_RESERVED_BITS,
	  COPY },
	{ "a CALL to an unaligned stream",
	  { HEADER(TSR_OP_CALL, 3), GT_CMD_VA + 8, 64 },
	  3,
	  TSR_FAULT_ALIGNMENT,
	  COPY },
	{ "a CALL of 12 bytes",
	  { HEADER(TSR_OP_CALL, 3), GT_CMD_VA, 12 },
	  3,
	  TSR_FAULT_ALIGNMENT,
	  COPY },
	{ "a FENCE at 4 modulo 8",
	  { HEADER(TSR_OP_FENCE, 3), D(4), 1 },
	  3,
	  TSR_FAULT_ALIGNMENT,
	  COPY },
	{ "a SIGNAL at 2 modulo 4",
	  { HEADER(TSR_OP_SIGNAL, 3), D(2), 1 },
	  3,
	  TSR_FAULT_ALIGNMENT,
	  COPY },
	{ "a wide WAIT at 4 modulo 8",
	  { HEADER(TSR_OP_WAIT, 3) | 1 << 18, D(4), 0 },
	  3,
	  TSR_FAULT_ALIGNMENT,
	  COPY },
	{ "a TIMESTAMP at an odd address",
	  { HEADER(TSR_OP_TIMESTAMP, 2), D(1) },
	  2,
	  TSR_FAULT_ALIGNMENT,
	  COPY },
	{ "a packet cut by the end of its stream",
	  { HEADER(TSR_OP_FENCE, 3), D(0) },
	  2,
	  TSR_FAULT_STREAM_BOUND,
	  COPY },
	{ "a NOP longer than its stream",
	  { HEADER(TSR_OP_NOP, 9) },
	  1,
	  TSR_FAULT_STREAM_BOUND,
	  COPY },
};

/* After a fault: the queue says what and where, refuses work, and the VM is as usable as before. */
static void check_queue(uint32_t queue, int code, uint64_t va)
{
	struct drm_tessera_queue_get_state state = gt_queue_state(c.fd, queue);
	struct drm_tessera_job job = gt_job(queue, NULL);

	ktap_eq(state.state, DRM_TESSERA_QUEUE_BANNED | DRM_TESSERA_QUEUE_FAULTED);
	ktap_eq(state.error, EINVAL);
	ktap_eq(state.fault_code, code);
	ktap_eq(state.fault_packet_va, va);
	ktap_eq(state.jobs_completed, 0);
	ktap_eq(gt_submit(c.fd, &job, 1), -ECANCELED);
}

/* The packet follows a store that must happen and precedes one that must not. */
static void bad_packet(const void *arg)
{
	const struct bad_packet *p = arg;
	volatile uint64_t *words = gt_data(&c, 0x100);
	struct gt_cs cs = gt_stream(&c, 64);
	uint32_t queue;
	uint64_t va;
	unsigned int i;

	if (gt_queue_try(c.fd, c.vm, p->engine, DRM_TESSERA_PRIORITY_NORMAL, 0, &queue)) {
		ktap_skip("the device has no engine of class %u", p->engine);
		return;
	}
	words[0] = 0;
	words[1] = 0;
	GT_EMIT(&cs, fence, .event = TSR_EVENT_ALL_DONE, .addr = gt_data_va(0x100), .value = 1);
	va = cs.va + cs.count * 8;
	for (i = 0; i < p->count; i++)
		gt_cs_word(&cs, p->words[i]);
	if (p->code != TSR_FAULT_STREAM_BOUND)
		GT_EMIT(&cs, fence, .event = TSR_EVENT_ALL_DONE, .addr = gt_data_va(0x108),
			.value = 1);
	ktap_eq(gt_run_on(&c, queue, &cs), -EINVAL);
	ktap_eq(words[0], 1);
	ktap_eq(words[1], 0);
	check_queue(queue, p->code, va);
	gt_queue_destroy(c.fd, queue);
}

/* One call too many: the innermost stream's CALL is the packet at fault. */
static void nesting(void)
{
	uint32_t queue = gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY);
	struct gt_cs inner = gt_stream(&c, 8), outer;
	unsigned int level;
	uint64_t va = 0;

	GT_EMIT(&inner, nop, .qwords = 1);
	for (level = 0; level < TSR_NESTING_MAX; level++) {
		outer = gt_stream(&c, 8);
		GT_EMIT(&outer, call, .addr = inner.va, .size = inner.count * 8);
		if (!level)
			va = outer.va;
		inner = outer;
	}
	ktap_eq(gt_run_on(&c, queue, &inner), -EINVAL);
	check_queue(queue, TSR_FAULT_NESTING, va);
	gt_queue_destroy(c.fd, queue);
}

/* A stream that jumps to itself: caught by the limit of jumps without progress, not by a timeout.
 */
static void endless_jump(void)
{
	uint32_t queue = gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY);
	struct gt_cs cs = gt_stream(&c, 8);

	GT_EMIT(&cs, nop, .qwords = 5);
	GT_EMIT(&cs, jump, .addr = cs.va, .size = 64);
	ktap_eq(gt_run_on(&c, queue, &cs), -EINVAL);
	check_queue(queue, TSR_FAULT_LOOP, cs.va + 40);
	gt_queue_destroy(c.fd, queue);
}

/* Calls of streams that hold nothing but a RETURN are no progress either. */
static void endless_calls(void)
{
	uint32_t queue = gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY);
	struct gt_cs leaf = gt_stream(&c, 8), cs = gt_stream(&c, 8);
	struct drm_tessera_queue_get_state state;

	GT_EMIT(&leaf, return, .none = 0);
	GT_EMIT(&cs, call, .addr = leaf.va, .size = 8);
	GT_EMIT(&cs, jump, .addr = cs.va, .size = 48);
	ktap_eq(gt_run_on(&c, queue, &cs), -EINVAL);
	state = gt_queue_state(c.fd, queue);
	ktap_eq(state.fault_code, TSR_FAULT_LOOP);
	gt_queue_destroy(c.fd, queue);
}

/*
 * The header of a packet that exists, mostly; never a WAIT, which may rightly last until the job
 * times out.
 */
static uint64_t random_header(uint64_t random)
{
	unsigned int op = random % 0x24;

	return HEADER(op == TSR_OP_WAIT ? TSR_OP_SIGNAL : op, 1 + (random >> 8) % 6) |
	       (random >> 60 ? 0 : (random & 0xf0000));
}

/*
 * Random words: whatever the device makes of them, the job ends, with one of the errors a stream
 * can have.
 */
static void random_streams(void)
{
	uint64_t seed = 0x9e3779b97f4a7c15, ended = 0;
	unsigned int round, i;

	for (round = 0; round < 150; round++) {
		uint32_t queue = gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY);
		struct gt_cs cs = gt_stream(&c, 32);
		int ret;

		for (i = 0; i < 32; i++) {
			uint64_t word;

			seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
			word = seed ^ seed >> 29;
			if (i % 4 == 0)
				word = random_header(word);
			else if (word & 1)
				word = GT_DATA_VA + (word >> 40 & 0xfff8);
			gt_cs_word(&cs, word);
		}
		ret = gt_run_on(&c, queue, &cs);
		ktap_ok(ret == 0 || ret == -EINVAL || ret == -EFAULT || ret == -ETIMEDOUT);
		ended += ret != -ETIME;
		gt_queue_destroy(c.fd, queue);
	}
	ktap_eq(ended, round);
}

int main(int argc, char **argv)
{
	char name[160];
	size_t i;

	gt_start(argc, argv);
	c = gt_ctx();
	for (i = 0; i < GT_ARRAY_SIZE(packets); i++) {
		snprintf(name, sizeof(name), "[CP3] %s is refused precisely", packets[i].name);
		ktap_run_arg(name, bad_packet, &packets[i]);
	}
	ktap_run("[CP2] [CP3] a call deeper than the limit", nesting);
	ktap_run("[CP2] an endless jump is caught", endless_jump);
	ktap_run("[CP2] endless calls are caught", endless_calls);
	ktap_run("[CP3] random streams end", random_streams);
	gt_ctx_free(&c);
	return gt_finish();
}
