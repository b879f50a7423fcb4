// SPDX-License-Identifier: MIT
/*
 * test: TIMEOUT=120 DEVICE_ARGS=vram=32M
 * test: KERNEL_ARGS=tessera.job_timeout_ms=1000;tessera.job_limit_ms=4000
 */
/*
 * Device core dumps: a job that fails leaves one with what it was, the registers, the ring, its
 * stream and what its VM mapped; tsr-decode prints it.
 */
#include "gt_main.h"
#include "ct.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <unistd.h>

#include <drm/tessera_dump.h>

#define FILE_NAME "/tmp/tessera.dump"
#define STREAM_MAX (64 << 10)	/* of a stream that are in a dump */

static char dump[1 << 20];
static size_t dump_size;

/*
 * The kernel drops a dump a moment after it was told to. Until then a failure leaves none; while
 * the old one's link is the last that is left of it, a new one cannot have its own, and the kernel
 * warns of that.
 */
static bool wait_until_gone(uint64_t until)
{
	glob_t found;

	while (!glob("/sys/bus/pci/devices/*/devcoredump", 0, NULL, &found)) {
		globfree(&found);
		if (gt_now_ns() > until)
			return ktap_fail("the dump does not go"), false;
		gt_sleep_ms(1);
	}
	return true;
}

/* The dump of the last failure, which a work writes a moment later; taken off the kernel. */
static bool fetch(void)
{
	uint64_t until = gt_now_ns() + 5000000000ULL;
	size_t got = 0;
	glob_t found;
	ssize_t n;
	int fd;

	while (glob("/sys/class/devcoredump/devcd*/data", 0, NULL, &found)) {
		if (gt_now_ns() > until)
			return ktap_fail("no dump came"), false;
		gt_sleep_ms(10);
	}
	fd = open(found.gl_pathv[0], O_RDWR);
	while (fd >= 0 && (n = read(fd, dump + got, sizeof(dump) - got)) > 0)
		got += (size_t)n;
	dump_size = got;
	ktap_eq(write(fd, "1", 1), 1);
	close(fd);
	globfree(&found);
	fd = open(FILE_NAME, O_CREAT | O_TRUNC | O_WRONLY, 0600);
	ktap_eq(write(fd, dump, dump_size), (ssize_t)dump_size);
	close(fd);
	return wait_until_gone(until);
}

/* The @nth section of a type; NULL if there is none. */
static const void *section(uint32_t type, unsigned int nth, struct tessera_dump_section *s)
{
	size_t at = sizeof(struct tessera_dump_header);

	while (at + sizeof(*s) <= dump_size) {
		memcpy(s, dump + at, sizeof(*s));
		at += sizeof(*s);
		if (s->type == type && !nth--)
			return dump + at;
		at += (s->size + 7) & ~7ULL;
	}
	ktap_fail("the dump has no section %u", type);
	return NULL;
}

static unsigned int sections(uint32_t type)
{
	size_t at = sizeof(struct tessera_dump_header);
	struct tessera_dump_section s;
	unsigned int count = 0;

	for (; at + sizeof(s) <= dump_size; at += sizeof(s) + ((s.size + 7) & ~7ULL)) {
		memcpy(&s, dump + at, sizeof(s));
		count += s.type == type;
	}
	return count;
}

static void check_header(void)
{
	struct tessera_dump_header header;

	KTAP_REQUIRE(dump_size > sizeof(header));
	memcpy(&header, dump, sizeof(header));
	ktap_eq(header.magic, TESSERA_DUMP_MAGIC);
	ktap_eq(header.version, TESSERA_DUMP_VERSION);
	ktap_eq(header.size, dump_size);
	ktap_eq(header.flags, 0);
	ktap_ok(header.time_ns <= gt_now_ns() && header.time_ns + 60000000000ULL > gt_now_ns());
}

static uint32_t register_at(uint32_t offset)
{
	const struct tessera_dump_register *reg;
	struct tessera_dump_section s;
	unsigned int nth, i;

	for (nth = 0; nth < 2; nth++) {
		reg = section(TESSERA_DUMP_REGISTERS, nth, &s);
		for (i = 0; reg && i < s.size / sizeof(*reg); i++) {
			if (reg[i].offset == offset)
				return reg[i].value;
		}
	}
	return ktap_fail("the dump has no register 0x%x", offset), 0;
}

/* Sections of registers have each register of a range once, in order. */
static void check_registers(unsigned int nth, uint32_t first, uint32_t last)
{
	struct tessera_dump_section s;
	const struct tessera_dump_register *reg = section(TESSERA_DUMP_REGISTERS, nth, &s);
	unsigned int i, wrong = 0;

	KTAP_REQUIRE(reg);
	ktap_eq(s.address, 0);
	ktap_eq(s.stride, sizeof(*reg));
	ktap_eq(s.size, (last + 4 - first) / 4 * sizeof(*reg));
	for (i = 0; i < s.size / sizeof(*reg); i++)
		wrong += reg[i].offset != first + 4 * i;
	ktap_eq(wrong, 0);
}

static void check_stream(const struct gt_cs *cs)
{
	struct tessera_dump_section s;
	const void *bytes = section(TESSERA_DUMP_STREAM, 0, &s);

	KTAP_REQUIRE(bytes);
	ktap_eq(s.address, cs->va);
	KTAP_REQUIRE(s.size == 8 * cs->count);
	ktap_ok(!memcmp(bytes, cs->words, s.size));
}

/* The CALL of the job is on the ring. */
static void check_ring(const struct gt_cs *cs)
{
	struct tessera_dump_section s;
	const uint64_t *words = section(TESSERA_DUMP_RING, 0, &s);
	unsigned int i, found = 0;
	uint64_t call[TSR_CALL_QWORDS];

	KTAP_REQUIRE(words);
	tsr_pack_call(call, &(struct tsr_call){ .addr = cs->va, .size = 8 * cs->count });
	for (i = 0; i + TSR_CALL_QWORDS <= s.size / 8; i++)
		found += !memcmp(words + i, call, sizeof(call));
	ktap_eq(found, 1);
}

/* A mapping without a BO, in addition to the two of every test. */
#define NOTHING_VA (GT_DATA_VA + 16 * GT_DATA_SIZE)

static void map_nothing(struct gt_ctx *c)
{
	struct drm_tessera_bind_op op = { .op = DRM_TESSERA_BIND_MAP_NULL, .va = NOTHING_VA,
					  .size = GT_PAGE };

	ktap_eq(gt_vm_bind(c->fd, c->vm, &op, 1), 0);
}

static void check_mappings(struct gt_ctx *c)
{
	struct tessera_dump_section s;
	const struct tessera_dump_mapping *map = section(TESSERA_DUMP_MAPPINGS, 0, &s);

	KTAP_REQUIRE(map && s.size == 3 * sizeof(*map));
	ktap_eq(map[0].va, c->cmd.va);
	ktap_eq(map[0].size, GT_CMD_SIZE);
	ktap_eq(map[1].va, GT_DATA_VA);
	ktap_eq(map[1].bo_size, GT_DATA_SIZE);
	ktap_ok(map[1].entry_bits & TSR_PTE_WRITE__MASK);
	ktap_eq(map[2].va, NOTHING_VA);
	ktap_eq(map[2].size, GT_PAGE);
	ktap_eq(map[2].bo_size, 0);
	ktap_ok(map[2].entry_bits & TSR_PTE_NULL__MASK);
}

/* The fault in the dump equals that of the ioctl: all fields of QUEUE_GET_STATE. */
static void check_queue(const struct drm_tessera_queue_get_state *want)
{
	size_t from = offsetof(struct drm_tessera_queue_get_state, fault_packet_va);
	const struct drm_tessera_queue_get_state *queue;
	struct tessera_dump_section s;

	queue = section(TESSERA_DUMP_QUEUE, 0, &s);
	KTAP_REQUIRE(queue && s.size == sizeof(*queue) && s.stride == sizeof(*queue));
	ktap_eq(queue->queue_id, want->queue_id);
	ktap_eq(queue->fault_code, want->fault_code);
	ktap_ok(!memcmp((const char *)queue + from, (const char *)want + from,
			sizeof(*queue) - from));
}

/* A packet's fault has nothing of a program: no clause, no group. */
static void check_no_program(const struct drm_tessera_queue_get_state *state)
{
	unsigned int i;

	ktap_eq(state->fault_flags, 0);
	ktap_eq(state->fault_clause_va, 0);
	ktap_eq(state->fault_tuple | state->fault_lane, 0);
	ktap_eq(state->fault_warp | state->fault_core, 0);
	for (i = 0; i < GT_ARRAY_SIZE(state->fault_group); i++)
		ktap_eq(state->fault_group[i], 0);
}

/* And the faults on record are those of VM_GET_STATE, @count of them. */
static void check_faults(const struct drm_tessera_fault *want, uint32_t count)
{
	const struct drm_tessera_fault *faults;
	struct tessera_dump_section s;

	faults = section(TESSERA_DUMP_FAULTS, 0, &s);
	KTAP_REQUIRE(faults && s.size == count * sizeof(*faults));
	ktap_eq(s.stride, sizeof(*faults));
	ktap_ok(!memcmp(faults, want, s.size));
}

/* The output of tsr-decode has this text. */
static void expect_printed(const char *text)
{
	char command[200];

	snprintf(command, sizeof(command),
		 "tsr-decode --dump " FILE_NAME " | grep '%s' >/dev/null", text);
	ktap_eq(system(command), 0);
}

static void of_a_fault(void)
{
	struct gt_ctx c = gt_ctx();
	struct drm_tessera_fault faults[DRM_TESSERA_FAULT_RECORDS];
	struct gt_cs cs = gt_stream(&c, 16);
	struct drm_tessera_queue_get_state state;
	const struct tessera_dump_job *job;
	struct tessera_dump_section s;
	unsigned int as, slot = gt_slot_as(c.fd, c.queue, &as);

	map_nothing(&c);
	GT_EMIT(&cs, nop, .qwords = 3);
	GT_EMIT(&cs, fill_linear, .texel = 8, .dst = 0x666000, .size = 64, .pattern_lo = 1);
	ktap_eq(gt_run(&c, &cs), -EFAULT);
	KTAP_REQUIRE(fetch());
	check_header();
	job = section(TESSERA_DUMP_JOB, 0, &s);
	KTAP_REQUIRE(job);
	ktap_eq(job->error, EFAULT);
	ktap_eq(job->fault_code, TSR_FAULT_MMU_UNMAPPED);
	ktap_eq(job->fault_va, 0x666000);
	ktap_eq(job->fault_packet_va, cs.va + 24);
	ktap_eq(job->cmd_va, cs.va);
	ktap_eq(job->cmd_size, 8 * cs.count);
	ktap_eq(job->seqno, 1);
	ktap_eq(job->done, 0);
	ktap_eq(job->queue_id, c.queue);
	ktap_eq(register_at(TSR_REG_QUEUE_WPTR(job->slot)), job->wptr);
	ktap_eq(register_at(TSR_REG_GPU_MAGIC), TSR_MAGIC);
	ktap_eq(job->address_space, as);
	ktap_eq(job->slot, slot);
	ktap_eq(job->engine_class, DRM_TESSERA_ENGINE_COPY);
	check_registers(0, 0, TSR_REG_GPU_RESET_COUNT);
	check_registers(1, TSR_REG_QUEUE_RING_BASE(slot), TSR_REG_QUEUE_RING_BASE(slot + 1) - 4);
	check_stream(&cs);
	check_ring(&cs);
	check_mappings(&c);
	state = gt_queue_state(c.fd, c.queue);
	check_queue(&state);
	check_no_program(&state);
	ktap_eq(gt_vm_state(c.fd, c.vm, faults).faults.count, 1);
	ktap_eq(faults[0].va, 0x666000);
	ktap_eq(faults[0].access, DRM_TESSERA_BIND_WRITE);
	check_faults(faults, 1);
	ktap_eq(system("tsr-decode --dump " FILE_NAME " >/dev/null"), 0);
	expect_printed("fault MMU_UNMAPPED at 0x666000");
	expect_printed("queue 1: write of 0x666000: not mapped, level");
	expect_printed("FILL_LINEAR");
	gt_ctx_free(&c);
}

/* The dump has the first pages of a long stream, as many as fit. */
static void of_a_long_stream(void)
{
	struct gt_ctx c = gt_ctx();
	struct gt_cs cs = gt_stream(&c, STREAM_MAX / 8 + 512);
	struct tessera_dump_header header;
	struct tessera_dump_section s;
	const void *bytes;

	while (8 * cs.count <= STREAM_MAX) {
		GT_EMIT(&cs, nop, .qwords = TSR_NOP_MAX_QWORDS);
		cs.words[cs.count - 1] = cs.count;
	}
	GT_EMIT(&cs, fill_linear, .texel = 8, .dst = 0x666000, .size = 64);
	ktap_eq(gt_run(&c, &cs), -EFAULT);
	KTAP_REQUIRE(fetch() && dump_size > sizeof(header));
	memcpy(&header, dump, sizeof(header));
	ktap_eq(header.flags, TESSERA_DUMP_TRUNCATED);
	bytes = section(TESSERA_DUMP_STREAM, 0, &s);
	KTAP_REQUIRE(bytes && s.size == STREAM_MAX);
	ktap_eq(s.address, cs.va);
	ktap_ok(!memcmp(bytes, cs.words, STREAM_MAX));
	gt_ctx_free(&c);
}

/* Words of a ring in a dump: an entry for each job. */
#define ENTRY		(128 / 8)
#define RING_SIZE	4096u
#define RING_BEFORE	4		/* jobs before the one that failed */
#define RING_WINDOW	16		/* jobs in all */

/* The number that a job writes when it is done, 0 if there is none at @entry. */
static uint64_t seqno_at(const uint64_t *entry)
{
	struct tsr_fence fence;
	unsigned int at;

	for (at = 0; at < ENTRY && tsr_packet_qwords(entry[at]);
	     at += tsr_packet_qwords(entry[at])) {
		if ((entry[at] & TSR_HEADER_OPCODE__MASK) != TSR_OP_FENCE)
			continue;
		tsr_unpack_fence(entry + at, &fence);
		return fence.value;
	}
	return 0;
}

/*
 * A ring that has been gone around: what stands before and behind the job that failed, from the
 * last entries to the first.
 */
static void of_a_ring(const void *arg)
{
	unsigned int before = *(const unsigned int *)arg, i;
	unsigned int entries = RING_SIZE / 8 / ENTRY;
	struct gt_ctx c = gt_ctx();
	struct gt_cs cs = gt_stream(&c, 8);
	struct tessera_dump_section s;
	const uint64_t *words;
	uint64_t base;

	gt_queue_destroy(c.fd, c.queue);
	ktap_eq(gt_queue_try(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY, 1, RING_SIZE, &c.queue), 0);
	for (i = 0; i < before; i++)
		ktap_eq(gt_run(&c, NULL), 0);
	GT_EMIT(&cs, fill_linear, .texel = 8, .dst = 0x666000, .size = 64);
	ktap_eq(gt_run(&c, &cs), -EFAULT);
	KTAP_REQUIRE(fetch());
	words = section(TESSERA_DUMP_RING, 0, &s);
	KTAP_REQUIRE(words);
	KTAP_REQUIRE(s.size == RING_WINDOW * ENTRY * 8 && s.stride == 8);
	base = register_at(TSR_REG_QUEUE_RING_BASE(gt_slot(c.fd, c.queue)));
	ktap_eq(s.address - base, (before + entries - RING_BEFORE) % entries * ENTRY * 8);
	for (i = 0; i <= RING_BEFORE; i++)
		ktap_eq(seqno_at(words + i * ENTRY), before + 1 + i - RING_BEFORE);
	/* the entries after it are those of the previous round */
	for (; i < RING_WINDOW; i++)
		ktap_eq(seqno_at(words + i * ENTRY), before + 1 + i - RING_BEFORE - entries);
	gt_ctx_free(&c);
}

/* A stream that is not mapped, behind one that was: nothing is left of that. */
static void of_no_stream(void)
{
	struct gt_ctx c = gt_ctx();
	struct gt_cs cs = gt_stream(&c, 512);
	const struct drm_tessera_bind_op unmap = gt_op_unmap(c.cmd.va, GT_CMD_SIZE);
	struct tessera_dump_section s;
	const uint64_t *words;
	unsigned int i, left = 0;

	while (cs.count < 500)
		GT_EMIT(&cs, fill_linear, .texel = 8, .dst = 0x666000, .size = 64,
			.pattern_lo = UINT64_MAX);
	ktap_eq(gt_run(&c, &cs), -EFAULT);
	KTAP_REQUIRE(fetch());
	check_stream(&cs);
	gt_renew_queue(&c);
	ktap_eq(gt_vm_bind(c.fd, c.vm, &unmap, 1), 0);
	ktap_eq(gt_run(&c, &cs), -EFAULT);
	KTAP_REQUIRE(fetch());
	words = section(TESSERA_DUMP_STREAM, 0, &s);
	KTAP_REQUIRE(words && s.size == 8 * cs.count);
	for (i = 0; i < cs.count; i++)
		left += words[i] != 0;
	ktap_eq(left, 0);
	gt_ctx_free(&c);
}

/* The state of the other queue is in it, and nothing of slots that have none. */
static void of_others(void)
{
	struct gt_ctx other = gt_ctx(), c = gt_ctx();
	struct gt_cs cs = gt_stream(&c, 8);
	const struct tessera_dump_job *job;
	struct tessera_dump_section s;

	GT_EMIT(&cs, fill_linear, .texel = 8, .dst = 0x666000, .size = 64);
	ktap_eq(gt_run(&c, &cs), -EFAULT);
	KTAP_REQUIRE(fetch());
	job = section(TESSERA_DUMP_JOB, 0, &s);
	KTAP_REQUIRE(job);
	ktap_eq(job->slot, 1);	/* the first free one */
	/* the device's, the queue's own, the other's */
	ktap_eq(sections(TESSERA_DUMP_REGISTERS), 3);
	check_registers(2, TSR_REG_QUEUE_STATE(0), TSR_REG_QUEUE_WPTR(0));
	gt_ctx_free(&c);
	gt_ctx_free(&other);
}

/* All the VM has on record, the oldest first, when there were more than it keeps. */
static void of_many_faults(void)
{
	struct gt_ctx c = gt_ctx();
	struct drm_tessera_fault faults[DRM_TESSERA_FAULT_RECORDS];
	unsigned int i;

	for (i = 0; i < DRM_TESSERA_FAULT_RECORDS + 3; i++) {
		struct gt_cs cs = gt_stream(&c, 8);

		if (i)
			gt_renew_queue(&c);
		if (i == DRM_TESSERA_FAULT_RECORDS + 2)
			KTAP_REQUIRE(fetch());		/* that of the first */
		GT_EMIT(&cs, fill_linear, .texel = 8, .dst = 0x666000 + i * GT_PAGE, .size = 64);
		ktap_eq(gt_run(&c, &cs), -EFAULT);
	}
	KTAP_REQUIRE(fetch());
	ktap_eq(gt_vm_state(c.fd, c.vm, faults).faults.count, DRM_TESSERA_FAULT_RECORDS);
	ktap_eq(faults[0].va, 0x666000 + 3 * GT_PAGE);
	check_faults(faults, DRM_TESSERA_FAULT_RECORDS);
	gt_ctx_free(&c);
}

/* A program: which clause, instruction and thread. */
static void of_a_program(void)
{
	static const char text[] =
		".local 1, 1, 1\nclause slot=0 { *NOP\n *NOP\n"
		" +STORE.i32 0x56789000, 0x1234, @r0\n }\n";
	struct tsr_dispatch_info d = { .groups = { 3 } };
	struct drm_tessera_queue_get_state state;
	struct drm_tessera_fault fault;
	struct tsr_shader *program;
	uint32_t count = 1;
	struct ct c = ct_open();

	d.shader = program = ct_program(&c, "wrong", text);
	ktap_eq(ct_run(&c, &d), -EFAULT);
	KTAP_REQUIRE(fetch());
	state = ct_state(&c);
	ktap_eq(state.fault_flags, DRM_TESSERA_QUEUE_FAULT_PROGRAM | DRM_TESSERA_QUEUE_FAULT_ADD);
	ktap_eq(state.fault_tuple, 1);
	check_queue(&state);
	LT_OK(tsr_vm_get_faults(c.lt.vm, &fault, sizeof(fault), &count));
	ktap_eq(count, 1);
	check_faults(&fault, count);
	expect_printed("program: clause 0x[0-9a-f]* tuple 1 ADD, lane 0 of warp 0 of group");
	expect_printed("write of 0x123456789000: not mapped");
	tsr_shader_unref(program);
	ct_close(&c);
}

static void of_a_hang(void)
{
	struct gt_ctx c = gt_ctx();
	struct gt_cs cs = gt_stream(&c, 8);
	const struct tessera_dump_job *job;
	struct tessera_dump_section s;

	*(volatile uint64_t *)gt_data(&c, 0) = 0;
	GT_EMIT(&cs, wait, .op = TSR_COMPARE_EQ, .addr = gt_data_va(0), .value = 1);
	ktap_eq(gt_run(&c, &cs), -ETIMEDOUT);
	KTAP_REQUIRE(fetch());
	check_header();
	job = section(TESSERA_DUMP_JOB, 0, &s);
	KTAP_REQUIRE(job);
	ktap_eq(job->error, ETIMEDOUT);
	ktap_eq(job->fault_code, 0);
	ktap_eq((register_at(TSR_REG_QUEUE_STATE(job->slot)) & TSR_QUEUE_STATE_STATE__MASK),
		TSR_QUEUE_STATE_BLOCKED);
	check_stream(&cs);
	expect_printed("error ETIMEDOUT");
	expect_printed("BLOCKED");
	gt_ctx_free(&c);
}

/* Failures that come while a dump waits to be read leave none; the next one after that does. */
static void one_at_a_time(void)
{
	struct gt_ctx c = gt_ctx();
	struct gt_cs first = gt_stream(&c, 8), second = gt_stream(&c, 8);
	glob_t found;
	int i;

	GT_EMIT(&first, fill_linear, .texel = 8, .dst = 0x666000, .size = 64);
	GT_EMIT(&second, fill_linear, .texel = 8, .dst = 0x777000, .size = 64);
	for (i = 0; i < 20; i++) {
		ktap_eq(gt_run(&c, i ? &second : &first), -EFAULT);
		gt_renew_queue(&c);
	}
	KTAP_REQUIRE(fetch());
	check_stream(&first);
	gt_sleep_ms(200);
	ktap_ok(glob("/sys/class/devcoredump/devcd*/data", 0, NULL, &found) != 0);
	ktap_eq(gt_run(&c, &second), -EFAULT);
	KTAP_REQUIRE(fetch());
	check_stream(&second);
	gt_ctx_free(&c);
}

int main(int argc, char **argv)
{
	gt_start(argc, argv);
	ktap_run("[SYS7] what the other queues do is in the dump of a fault", of_others);
	ktap_run("[SYS7] a fault leaves a dump of job, registers, ring, stream, VM", of_a_fault);
	ktap_run_arg("[SYS7] its ring: across the end", of_a_ring, &(unsigned int){ 33 });
	ktap_run_arg("[SYS7] its ring: up to the end", of_a_ring, &(unsigned int){ 52 });
	ktap_run_arg("[SYS7] its ring: in the middle", of_a_ring, &(unsigned int){ 42 });
	ktap_run("[SYS7] nothing of a stream that is not mapped", of_no_stream);
	ktap_run("[SYS7] of a stream of many pages it holds the first ones", of_a_long_stream);
	ktap_run("[SYS7] it holds all of the VM's fault records", of_many_faults);
	ktap_run("[SYS7] a program's fault leaves one that names the instruction", of_a_program);
	ktap_run("[SYS7] a hang leaves a dump of what it was blocked on", of_a_hang);
	ktap_run("[SYS7] one dump is kept until it is read", one_at_a_time);
	return gt_finish();
}
