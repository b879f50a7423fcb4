// SPDX-License-Identifier: MIT
/* test: TIMEOUT=120 DEVICE_ARGS=vram=32M */
/*
 * Trace points of jobs, fences, binds, faults and resets, and the files of debugfs: they show the
 * calls that the test has made.
 */
#include "gt_main.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define TRACING "/sys/kernel/tracing/"

static char text[1 << 20];
static struct gt_ctx c;

static void expect(const char *format, ...)
{
	char want[200];
	va_list args;

	va_start(args, format);
	vsnprintf(want, sizeof(want), format, args);
	va_end(args);
	if (!strstr(text, want))
		ktap_fail("\"%s\" is not there", want);
}

static void read_debugfs(const char *leaf)
{
	char path[300];

	text[0] = 0;
	gt_debugfs(leaf, path, sizeof(path));
	gt_read_file(path, text, sizeof(text));
}

/* As expect(), for text that may be late because the scheduler's worker fills the ring. */
static void expect_soon(const char *leaf, const char *want)
{
	uint64_t end = gt_now_ns() + GT_TIMEOUT_MS * 1000000ull;

	read_debugfs(leaf);
	while (!strstr(text, want) && gt_now_ns() < end) {
		gt_sleep_ms(1);
		read_debugfs(leaf);
	}
	expect("%s", want);
}

static int faulty(uint64_t *stream)
{
	struct gt_cs cs = gt_stream(&c, 8);

	GT_EMIT(&cs, fill_linear, .texel = 8, .dst = 0x666000, .size = 64);
	*stream = cs.va;
	return gt_run(&c, &cs);
}

static void tracing(void)
{
	struct drm_tessera_bind_op map = gt_op_map(c.data.handle, 0x7654000, GT_PAGE, 0, GT_RW);
	uint32_t idle = gt_vm(c.fd);	/* which no queue uses */
	uint64_t stream;
	char path[300];

	ktap_eq(gt_write_file(TRACING "events/tessera/enable", "1"), 0);
	ktap_eq(gt_vm_bind(c.fd, c.vm, &map, 1), 0);
	ktap_eq(gt_vm_bind(c.fd, idle, &map, 1), 0);
	ktap_eq(faulty(&stream), -EFAULT);
	gt_renew_queue(&c);
	gt_debugfs("reset", path, sizeof(path));
	ktap_eq(gt_write_file(path, "device"), 0);
	ktap_eq(gt_write_file(TRACING "events/tessera/enable", "0"), 0);
	KTAP_REQUIRE(gt_read_file(TRACING "trace", text, sizeof(text)) > 0);
	expect("tessera_bind: as=-1 ");
	expect("start=0x7654000 end=0x7655000 error=0");
	expect("tessera_job_queue: ");
	expect("tessera_job_run: slot=");
	expect("cmd_va=%#llx cmd_size=", (unsigned long long)stream);
	expect("tessera_fence_emit: ");
	expect("tessera_fault: slot=");
	expect("fault=MMU_UNMAPPED addr=0x666000 access=");
	expect("tessera_queue_ban: slot=");
	expect("tessera_fence_signal: ");
	expect("cmd_va=%#llx error=-14", (unsigned long long)stream);
	expect("tessera_device_reset: dev=");
	expect("rung=device");
	unlink(TRACING "trace");
	gt_vm_destroy(c.fd, idle);
}

/* These names are no steps of the reset escalation: nothing is reset, nothing is stopped. */
static void rungs(void)
{
	static const char * const bad[] = { "devices", "dev", "wedged device", "function.", "1",
					    "device after device", "\n" };
	struct drm_tessera_gpu_state before = gt_gpu_state(c.fd), after;
	const void *nowhere = mmap(NULL, GT_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct gt_cs cs = gt_stream(&c, 8);
	char path[300];
	unsigned int i;
	int fd;

	gt_debugfs("reset", path, sizeof(path));
	for (i = 0; i < GT_ARRAY_SIZE(bad); i++)
		ktap_eq(gt_write_file(path, bad[i]), -EINVAL);
	fd = open(path, O_WRONLY);
	ktap_eq(write(fd, "", 0), -1);
	ktap_eq(errno, EINVAL);
	ktap_eq(write(fd, nowhere, 7), -1);
	ktap_eq(errno, EFAULT);
	close(fd);
	GT_EMIT(&cs, fill_linear, .texel = 8, .dst = gt_data_va(0), .size = 64);
	ktap_eq(gt_run(&c, &cs), 0);
	after = gt_gpu_state(c.fd);
	ktap_eq(after.reset_count, before.reset_count);
	ktap_eq(after.flags, 0);
}

static void debugfs(void)
{
	struct drm_tessera_bo_set_label label = { .handle = c.data.handle,
						  .label = gt_ptr("data") };
	struct gt_cs cs = gt_stream(&c, 4);
	struct drm_tessera_sync done = gt_binary(c.sync);
	volatile uint64_t *gate = gt_data(&c, 0);
	uint64_t call[TSR_CALL_QWORDS], stream;
	char want[32];

	ktap_eq(faulty(&stream), -EFAULT);
	gt_renew_queue(&c);
	ktap_eq(gt_ioctl(c.fd, DRM_IOCTL_TESSERA_BO_SET_LABEL, &label), 0);
	*gate = 0;
	GT_EMIT(&cs, wait, .op = TSR_COMPARE_EQ, .addr = gt_data_va(0), .value = 1);
	ktap_eq(gt_kick(&c, c.queue, &cs, &done), 0);
	read_debugfs("faults");
	expect("va 0x666000");
	read_debugfs("gems");
	expect(" data\n");
	read_debugfs("gpuvas");
	expect("0x0000000020000000");
	read_debugfs("queues");
	expect("tessera-queue-copy");
	tsr_pack_call(call, &(struct tsr_call){ .addr = cs.va, .size = 8 * cs.count });
	snprintf(want, sizeof(want), "%016llx", (unsigned long long)call[0]);
	expect_soon("rings", want);
	expect("%016llx", (unsigned long long)call[1]);
	*gate = 1;
	ktap_eq(gt_fence_error(c.fd, c.sync, 0), 0);
	read_debugfs("device");
	expect("device resets ");
}

/* ---- the files to the last line ---- */

#define RING_SIZE	4096u
#define ENTRY		128u	/* bytes of a job on the ring */
#define BEFORE		40u	/* jobs that go once around the ring */
#define WAITING		5u

/* Lines of the text that begin so. */
static unsigned int lines(const char *begin)
{
	size_t length = strlen(begin);
	unsigned int count = 0;
	const char *line;

	for (line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
		count += !strncmp(line, begin, length);
	return count;
}

/* Read a ring to @words. Returns the number of words. Checks that a line has four. */
static unsigned int ring_words(unsigned int slot, unsigned int *from, unsigned int *to,
			       uint64_t *words, unsigned int room)
{
	unsigned int count = 0;
	char head[64], *line;

	snprintf(head, sizeof(head), "# slot %u tessera-queue-copy: from ", slot);
	line = strstr(text, head);
	if (!line || sscanf(line + strlen(head), "%x to %x", from, to) != 2)
		return 0;
	for (line = strchr(line, '\n') + 1; *line && *line != '#'; line = strchr(line, '\n') + 1) {
		unsigned long long w[4];

		if (count + 4 > room ||
		    sscanf(line, "%llx %llx %llx %llx\n", &w[0], &w[1], &w[2], &w[3]) != 4 ||
		    strcspn(line, "\n") != 4 * 17 - 1)
			return 0;
		for (unsigned int i = 0; i < 4; i++)
			words[count++] = w[i];
	}
	return count;
}

/* The first packet of this kind in an entry of the ring. */
static const uint64_t *packet_of(const uint64_t *entry, uint8_t opcode)
{
	unsigned int at;

	for (at = 0; at < ENTRY / 8; at += tsr_packet_qwords(entry[at])) {
		if ((entry[at] & TSR_HEADER_OPCODE__MASK) == opcode)
			return entry + at;
	}
	return NULL;
}

static void check_entry(const uint64_t *entry, const struct gt_cs *cs, uint64_t seqno)
{
	const uint64_t *call = packet_of(entry, TSR_OP_CALL);
	const uint64_t *fence = packet_of(entry, TSR_OP_FENCE);
	struct tsr_fence f;
	struct tsr_call s;

	KTAP_REQUIRE(call && fence);
	tsr_unpack_call(call, &s);
	tsr_unpack_fence(fence, &f);
	ktap_eq(s.addr, cs->va);
	ktap_eq(s.size, 8 * cs->count);
	ktap_eq(f.value, seqno);
}

/* A small ring that has wrapped: the job that runs and the later ones, in order. */
static void ring(void)
{
	static uint64_t words[RING_SIZE / 8];
	struct gt_cs cs[WAITING];
	struct drm_tessera_sync done = gt_binary(c.sync);
	volatile uint64_t *gate = gt_data(&c, 0), *begun = gt_data(&c, 8);
	unsigned int i, slot, from = 0, to = 0;
	char want[64];
	uint32_t queue;

	ktap_eq(gt_queue_try(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY, 1, RING_SIZE, &queue), 0);
	slot = gt_slot(c.fd, queue);
	*gate = 0;
	*begun = 0;
	for (i = 0; i < BEFORE; i++)
		ktap_eq(gt_run_on(&c, queue, NULL), 0);
	read_debugfs("rings");
	ktap_eq(ring_words(slot, &from, &to, words, GT_ARRAY_SIZE(words)), 0);
	for (i = 0; i < WAITING; i++) {
		cs[i] = gt_stream(&c, 8);
		GT_EMIT(&cs[i], fence, .event = TSR_EVENT_ALL_DONE, .addr = gt_data_va(8),
			.value = 1);
		GT_EMIT(&cs[i], wait, .op = TSR_COMPARE_EQ, .addr = gt_data_va(0), .value = 1);
		ktap_eq(gt_kick(&c, queue, &cs[i], &done), 0);
	}
	ktap_ok(gt_spin_until(begun, 1, GT_TIMEOUT_MS));
	snprintf(want, sizeof(want), "# slot %u tessera-queue-copy: from %#x to %#x\n", slot,
		 BEFORE * ENTRY, (BEFORE + WAITING) * ENTRY);
	expect_soon("rings", want);
	i = ring_words(slot, &from, &to, words, GT_ARRAY_SIZE(words));
	ktap_eq(from, BEFORE * ENTRY);
	ktap_eq(to, (BEFORE + WAITING) * ENTRY);
	if (ktap_eq(i, WAITING * ENTRY / 8)) {
		for (i = 0; i < WAITING; i++)
			check_entry(words + i * ENTRY / 8, &cs[i], BEFORE + i + 1);
	}
	*gate = 1;
	ktap_eq(gt_fence_error(c.fd, c.sync, 0), 0);
	gt_queue_destroy(c.fd, queue);
}

#define QUEUES	7

/* As many queues as there are, each with its slot, its id and its jobs; a ring for each. */
static void queues(void)
{
	uint32_t queue[QUEUES];
	unsigned int i, n;
	char want[64];

	for (i = 0; i < QUEUES; i++) {
		queue[i] = gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY);
		for (n = 0; n <= i; n++)
			ktap_eq(gt_run_on(&c, queue[i], NULL), 0);
	}
	for (i = 0; i < QUEUES; i++) {
		unsigned int slot = gt_slot(c.fd, queue[i]);

		read_debugfs("queues");
		snprintf(want, sizeof(want), "%-4u tessera-queue-copy     id %-4u as ", slot,
			 queue[i]);
		ktap_eq(lines(want), 1);
		expect("seqno %u done %u error 0 client ", i + 1, i + 1);
		read_debugfs("rings");
		snprintf(want, sizeof(want), "# slot %u tessera-queue-copy: from %#x to %#x\n",
			 slot, (i + 1) * ENTRY, (i + 1) * ENTRY);
		ktap_eq(lines(want), 1);
	}
	read_debugfs("queues");
	n = lines("");
	read_debugfs("rings");
	ktap_eq(lines("# slot "), n - 1);	/* a line follows the last newline */
	ktap_ok(n - 1 >= QUEUES + 1);
	for (i = 0; i < QUEUES; i++)
		gt_queue_destroy(c.fd, queue[i]);
}

/* The number behind a text that is there once; -1 if it is not. */
static long long number_behind(const char *begin)
{
	const char *at = strstr(text, begin);

	return at && lines(begin) == 1 ? strtoll(at + strlen(begin), NULL, 10) : -1;
}

/* All counters of the device in order, and of a queue those that have counted. */
static void counters(void)
{
	uint32_t queue = gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY);
	struct gt_cs cs = gt_stream(&c, 8);
	unsigned int id, slot, count = 0;
	char want[64];

	GT_EMIT(&cs, fill_linear, .texel = 8, .dst = gt_data_va(0), .size = 4096);
	ktap_eq(gt_run_on(&c, queue, &cs), 0);
	slot = gt_slot(c.fd, queue);
	read_debugfs("counters");
	for (id = 0; id < TSR_COUNTER_VALUE__COUNT; id++) {
		snprintf(want, sizeof(want), "global %u ", id);
		ktap_ok(number_behind(want) >= 0);
	}
	ktap_eq(lines("global "), id);
	for (id = 0; id < 64; id++) {
		snprintf(want, sizeof(want), "queue %u copy %u ", slot, id);
		if (lines(want))
			ktap_ok(number_behind(want) > 0);
		count += lines(want);
		if (id == TSR_QUEUE_COUNTER_WRITE_BYTES)
			ktap_eq(number_behind(want), 4096);
		if (id == TSR_QUEUE_COUNTER_CYCLES || id == TSR_QUEUE_COUNTER_CP_PACKETS)
			ktap_eq(lines(want), 1);
	}
	snprintf(want, sizeof(want), "queue %u ", slot);
	ktap_eq(lines(want), count);
	gt_queue_destroy(c.fd, queue);
}

/* More faults than a VM keeps: the last ones, the oldest first; then their queues go. */
static void many_faults(void)
{
	enum { ALL = DRM_TESSERA_FAULT_RECORDS + 3 };
	struct gt_ctx own = gt_ctx();
	struct drm_tessera_fault faults[DRM_TESSERA_FAULT_RECORDS];
	unsigned int i, named = 0;
	const char *at = text;
	char want[64];

	for (i = 0; i < ALL; i++) {
		struct gt_cs cs = gt_stream(&own, 8);

		GT_EMIT(&cs, fill_linear, .texel = 8, .dst = 0x666000 + i * GT_PAGE, .size = 64);
		ktap_eq(gt_run(&own, &cs), -EFAULT);
		if (i < ALL - 1)
			gt_renew_queue(&own);
	}
	read_debugfs("faults");
	for (i = 3; i < ALL && at; i++) {
		snprintf(want, sizeof(want), " va %#llx access ", 0x666000 + i * GT_PAGE);
		at = strstr(at, want);
	}
	ktap_ok(at != NULL);
	ktap_ok(!strstr(text, " va 0x668000 "));
	ktap_eq(gt_queue_destroy(own.fd, own.queue), 0);
	read_debugfs("faults");
	ktap_ok(lines("as -1  time ") >= DRM_TESSERA_FAULT_RECORDS);
	ktap_eq(gt_vm_state(own.fd, own.vm, faults).fault_count, ALL);
	for (i = 0; i < DRM_TESSERA_FAULT_RECORDS; i++)
		named += faults[i].queue_id != 0;
	ktap_eq(named, 0);
	own.queue = gt_queue(own.fd, own.vm, DRM_TESSERA_ENGINE_COPY);
	gt_ctx_free(&own);
}

/* The bound that GET_TIMESTAMP gives is kept: clocks of any two samples fit together. */
static void timestamps(void)
{
	struct drm_tessera_gpu_info info = gt_gpu_info(c.fd);
	struct drm_tessera_get_timestamp first = { .clock_id = CLOCK_MONOTONIC }, now;
	unsigned int i;

	ktap_eq(gt_ioctl(c.fd, DRM_IOCTL_TESSERA_GET_TIMESTAMP, &first), 0);
	for (i = 0; i < 200; i++) {
		uint64_t before = gt_now_ns(), after;
		long long cpu, gpu, bound;

		now = (struct drm_tessera_get_timestamp){ .clock_id = CLOCK_MONOTONIC };
		ktap_eq(gt_ioctl(c.fd, DRM_IOCTL_TESSERA_GET_TIMESTAMP, &now), 0);
		after = gt_now_ns();
		ktap_ok(now.cpu_ns >= before && now.cpu_ns <= after);
		ktap_ok(now.max_deviation_ns <= after - before);
		cpu = (long long)(now.cpu_ns - first.cpu_ns);
		gpu = (long long)((__uint128_t)(now.gpu_ticks - first.gpu_ticks) * 1000000000 /
				  info.timestamp_hz);
		/* both samples, a tick, and what the guest's clock may drift in this time */
		bound = (long long)(now.max_deviation_ns + first.max_deviation_ns +
				    1000000000 / info.timestamp_hz) + cpu / 1000;
		if (llabs(cpu - gpu) > bound) {
			ktap_fail("after %lld ns the GPU has counted %lld ns, bound %lld", cpu, gpu,
				  bound);
			break;
		}
		gt_sleep_ms(2);
	}
}

int main(int argc, char **argv)
{
	gt_start(argc, argv);
	c = gt_ctx();
	ktap_run("[SYS9] trace points tell jobs, fences, binds, faults and resets", tracing);
	ktap_run("[SYS9] debugfs: faults, gems, gpuvas, queues, rings", debugfs);
	ktap_run("[SYS9] debugfs: a reset that does not exist", rungs);
	ktap_run("[SYS9] debugfs: a ring, word by word", ring);
	ktap_run("[SYS9] debugfs: all queues and their rings", queues);
	ktap_run("[SYS9] debugfs: all counters", counters);
	ktap_run("[SYS9] debugfs: more faults than a VM keeps", many_faults);
	ktap_run("[SYS3] GPU and CPU clocks agree within the bound that is told", timestamps);
	gt_ctx_free(&c);
	return gt_finish();
}
