/* SPDX-License-Identifier: MIT */
/*
 * A machine saved with work in its GPU, and continued by another QEMU process. Whatever the first
 * process did must be in memory, whatever it did not do must happen in the second, and nothing
 * twice.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu.h"
#include "ktap.h"

#define DEVICE "-device tessera,addr=4,vram=8M"

/* A command with arguments, both without their braces. */
#define COMMAND(name, arguments) \
	"{\"execute\":\"" name "\",\"arguments\":{" arguments "}}"

static char path[300];

static void migration_done(struct qtest *q)
{
	int left = QTEST_TIMEOUT_MS;
	const char *answer;

	do {
		answer = qtest_cmd(q, "{\"execute\":\"query-migrate\"}");
		if (strstr(answer, "\"status\": \"completed\""))
			return;
		if (strstr(answer, "\"status\": \"failed\"")) {
			ktap_fail("migration failed: %s", answer);
			return;
		}
	} while (qtest_patience(&left));
	ktap_fail("migration takes too long: %s", answer);
}

static void save(struct qtest *q)
{
	qtest_cmd(q, "{\"execute\":\"migrate\",\"arguments\":{\"uri\":\"file:%s\"}}", path);
	migration_done(q);
}

/* Start a machine with @args from the file. It runs if it ran when it was saved. */
static struct qtest *restore(const char *args)
{
	struct qtest *q = qtest_start("%s -incoming defer", args);

	qtest_cmd(q, "{\"execute\":\"migrate-incoming\",\"arguments\":{\"uri\":\"file:%s\"}}",
		  path);
	migration_done(q);
	return q;
}

static bool wait_progress(struct gpu *gpu, unsigned int slot, uint64_t progress)
{
	int left = 5000;

	while (gpu_read64(gpu, TSR_REG_QUEUE_PROGRESS(slot)) < progress) {
		if (!qtest_patience(&left))
			return false;
	}
	return true;
}

/*
 * The state that is saved: one queue blocked on a semaphore that a copy follows, one in the middle
 * of a long copy, a suspended queue, a faulted queue, pending interrupts, and data in local memory.
 */
struct scene {
	struct gpu gpu;
	struct gpu_job blocked, copying, suspended, faulted;
};

#define SEMAPHORE 9

/* A job that takes long: the same copy many times over. What it has done is counted by the queue.
 */
#define COPY_SIZE (4u << 20)
#define COPIES 160u
#define COPY_BYTES ((uint64_t)COPIES * COPY_SIZE)
#define COPY_PACKETS (2 * COPIES + 1)

static void long_job(struct gpu_job *job, struct gpu *gpu, unsigned int slot, unsigned int as)
{
	unsigned int i;

	gpu_job_prepare(job, gpu, slot, as, COPY_SIZE, 4, true);
	job->queue.wptr = 0;
	for (i = 0; i < COPIES; i++)
		gpu_packet(&job->queue, call, .addr = GPU_JOB_CODE,
			   .size = 8 * TSR_COPY_LINEAR_QWORDS);
	gpu_packet(&job->queue, fence, .event = TSR_EVENT_ALL_DONE, .irq = true,
		   .addr = GPU_JOB_FENCE, .value = GPU_JOB_VALUE);
}

/* Everything the long job does has been done once, in one process or another. */
static void long_job_counted(struct gpu *gpu, unsigned int slot)
{
	ktap_eq(gpu_read64(gpu, TSR_REG_QUEUE_COUNTER(slot, TSR_QUEUE_COUNTER_CP_PACKETS)),
		COPY_PACKETS);
	ktap_eq(gpu_read64(gpu, TSR_REG_QUEUE_COUNTER(slot, TSR_QUEUE_COUNTER_WRITE_BYTES)),
		COPY_BYTES);
	ktap_eq(gpu_read64(gpu, TSR_REG_QUEUE_CALLS(slot)), COPIES);
}

static void scene_start(struct scene *s, struct qtest *q)
{
	struct gpu *gpu = &s->gpu;

	gpu_open(gpu, q, 0, 0, 4 << 3);
	gpu_write64(gpu, TSR_REG_IRQ_MASK(TSR_IRQ_CLASS_JOB), ~0ull);

	gpu_job_prepare(&s->blocked, gpu, 0, 0, 50000, 1, true);
	/* The wait comes before the job: a ring of its own holds wait and job. */
	s->blocked.queue.wptr = 0;
	gpu_packet(&s->blocked.queue, wait_reg, .op = TSR_COMPARE_GE, .index = SEMAPHORE,
		   .value = 5);
	gpu_packet(&s->blocked.queue, call, .addr = GPU_JOB_CODE,
		   .size = 8 * TSR_COPY_LINEAR_QWORDS);
	gpu_packet(&s->blocked.queue, fence, .event = TSR_EVENT_ALL_DONE, .irq = true,
		   .addr = GPU_JOB_FENCE, .value = GPU_JOB_VALUE);
	gpu_doorbell(&s->blocked.queue);
	ktap_ok(gpu_wait_state(&s->blocked.queue, TSR_QUEUE_STATE_BLOCKED));

	gpu_job_prepare(&s->suspended, gpu, 1, 2, 3000, 2, true);
	gpu_write(gpu, TSR_REG_QUEUE_CONTROL(1), TSR_QUEUE_OP_SUSPEND);
	ktap_ok(gpu_wait_state(&s->suspended.queue, TSR_QUEUE_STATE_SUSPENDED));
	gpu_doorbell(&s->suspended.queue);

	gpu_job_prepare(&s->faulted, gpu, 2, 4, 4096, 3, false);
	gpu_map(gpu, 5, GPU_JOB_DST, 0xe0000000, 4096, TSR_PTE_WRITE__MASK);
	gpu_as_on(gpu, 5);
	gpu_doorbell(&s->faulted.queue);
	ktap_ok(gpu_wait_state(&s->faulted.queue, TSR_QUEUE_STATE_FAULTED));

	qtest_writeq(q, gpu->bar2 + 0x7ffff8, 0x5157);
	gpu_write(gpu, TSR_REG_SEMAPHORE_VALUE(SEMAPHORE), 4);
	long_job(&s->copying, gpu, 3, 6);
}

/* Check the second process: first the saved state, then the rest of the work. */
static void scene_finish(struct scene *s)
{
	struct gpu *gpu = &s->gpu;

	ktap_eq(gpu_queue_state(&s->blocked.queue), TSR_QUEUE_STATE_BLOCKED);
	ktap_eq(gpu_queue_state(&s->suspended.queue), TSR_QUEUE_STATE_SUSPENDED);
	ktap_eq(gpu_queue_state(&s->faulted.queue), TSR_QUEUE_STATE_FAULTED);
	ktap_eq(gpu_queue_fault(&s->faulted.queue), TSR_FAULT_BUS);
	ktap_eq(gpu_read64(gpu, TSR_REG_QUEUE_FAULT_ADDR(2)), GPU_JOB_DST);
	ktap_eq(gpu_read64(gpu, TSR_REG_IRQ_RAWSTAT(TSR_IRQ_CLASS_FAULT)), 1 << 2);
	ktap_eq(gpu_read(gpu, TSR_REG_SEMAPHORE_VALUE(SEMAPHORE)), 4);
	ktap_eq(qtest_readq(gpu->q, gpu->bar2 + 0x7ffff8), 0x5157);

	ktap_ok(gpu_wait_memory(gpu, s->copying.fence, GPU_JOB_VALUE));
	ktap_ok(gpu_wait_msi(gpu, TSR_IRQ_CLASS_JOB));
	ktap_ok(gpu_job_result(&s->copying));
	gpu_write64(gpu, TSR_REG_IRQ_CLEAR(TSR_IRQ_CLASS_JOB), ~0ull);

	ktap_eq(qtest_readq(gpu->q, s->blocked.fence), 0);
	gpu_write(gpu, TSR_REG_SEMAPHORE_VALUE(SEMAPHORE), 5);
	ktap_ok(gpu_wait_memory(gpu, s->blocked.fence, GPU_JOB_VALUE));
	ktap_ok(gpu_wait_msi(gpu, TSR_IRQ_CLASS_JOB));
	ktap_ok(gpu_job_result(&s->blocked));
	gpu_write64(gpu, TSR_REG_IRQ_CLEAR(TSR_IRQ_CLASS_JOB), ~0ull);

	ktap_eq(qtest_readq(gpu->q, s->suspended.fence), 0);
	gpu_write(gpu, TSR_REG_QUEUE_CONTROL(1), TSR_QUEUE_OP_RESUME);
	ktap_ok(gpu_wait_memory(gpu, s->suspended.fence, GPU_JOB_VALUE));
	ktap_ok(gpu_wait_msi(gpu, TSR_IRQ_CLASS_JOB));
	ktap_ok(gpu_job_result(&s->suspended));
}

/* Start the work and stop the machine in the middle of the copy; NULL if the copy was faster. */
static struct qtest *stop_half_way(struct scene *s)
{
	struct qtest *q = qtest_start(DEVICE);

	scene_start(s, q);
	gpu_doorbell(&s->copying.queue);
	ktap_ok(wait_progress(&s->gpu, 3, 20));
	qtest_cmd(q, "{\"execute\":\"stop\"}");
	if (!qtest_readq(q, s->copying.fence))
		return q;
	ktap_note("this host was too busy to stop the copy in time");
	qtest_stop(q);
	return NULL;
}

static void test_half_done(void)
{
	struct qtest *from = NULL, *to;
	unsigned int attempt;
	uint64_t progress;
	struct scene s;

	for (attempt = 0; !from && attempt < 5; attempt++)
		from = stop_half_way(&s);
	KTAP_REQUIRE(from != NULL);
	progress = gpu_read64(&s.gpu, TSR_REG_QUEUE_PROGRESS(3));
	ktap_note("saved after %" PRIu64 " of %" PRIu64 " bursts", progress,
		  COPY_BYTES / TSR_BURST_BYTES);
	save(from);
	qtest_stop(from);

	to = restore(DEVICE);
	gpu_moved(&s.gpu, to);
	ktap_eq(gpu_read64(&s.gpu, TSR_REG_QUEUE_PROGRESS(3)), progress);
	qtest_cmd(to, "{\"execute\":\"cont\"}");
	scene_finish(&s);
	long_job_counted(&s.gpu, 3);
	qtest_stop(to);
}

/*
 * The machine is stopped while it is saved, so the copy is not done. All registers before and after
 * are equal.
 */
static void test_registers(void)
{
	struct qtest *from = qtest_start(DEVICE), *to;
	static uint32_t before[TSR_REGISTERS_SIZE / 4];
	uint32_t offset;
	struct scene s;

	scene_start(&s, from);
	qtest_cmd(from, "{\"execute\":\"stop\"}");
	gpu_doorbell(&s.copying.queue);
	ktap_eq(gpu_queue_state(&s.copying.queue), TSR_QUEUE_STATE_READY);
	for (offset = 0; offset < 0x14000; offset += 4)
		before[offset / 4] = gpu_read(&s.gpu, offset);
	save(from);
	qtest_stop(from);

	to = restore(DEVICE);
	gpu_moved(&s.gpu, to);
	for (offset = 0; offset < 0x14000; offset += 4) {
		uint32_t after = gpu_read(&s.gpu, offset);

		if (after != before[offset / 4])
			ktap_fail("register 0x%05x: 0x%08x saved, 0x%08x loaded", offset,
				  before[offset / 4], after);
	}
	qtest_cmd(to, "{\"execute\":\"cont\"}");
	scene_finish(&s);
	qtest_stop(to);
}

/* A message that is held back by a masked vector is held back in the new process too. */
static void test_pending_message(void)
{
	struct qtest *from = qtest_start(DEVICE), *to;
	struct gpu_job job;
	struct gpu gpu;

	gpu_open(&gpu, from, 0, 0, 4 << 3);
	gpu_write64(&gpu, TSR_REG_IRQ_MASK(TSR_IRQ_CLASS_JOB), 1);
	qtest_writel(from, gpu.bar4 + 12, 1);
	gpu_job_prepare(&job, &gpu, 0, 0, 64, 5, true);
	gpu_doorbell(&job.queue);
	ktap_ok(gpu_wait_memory(&gpu, gpu.bar4 + 0x800, 1));
	save(from);
	qtest_stop(from);

	to = restore(DEVICE);
	gpu_moved(&gpu, to);
	ktap_eq(qtest_readl(to, gpu.msi), 0);
	qtest_writel(to, gpu.bar4 + 12, 0);
	ktap_ok(gpu_wait_msi(&gpu, TSR_IRQ_CLASS_JOB));
	qtest_stop(to);
}

/* A message that falls due while the machine is stopped is sent when it runs, wherever that is. */
static void test_message_while_stopped(void)
{
	struct qtest *from = qtest_start(DEVICE), *to;
	struct gpu_job job;
	struct gpu gpu;

	gpu_open(&gpu, from, 0, 0, 4 << 3);
	gpu_job_prepare(&job, &gpu, 0, 0, 64, 9, true);
	gpu_doorbell(&job.queue);
	ktap_ok(gpu_wait_reg(&gpu, TSR_REG_IRQ_RAWSTAT(TSR_IRQ_CLASS_JOB), ~0u, 1));
	qtest_cmd(from, "{\"execute\":\"stop\"}");
	gpu_write64(&gpu, TSR_REG_IRQ_MASK(TSR_IRQ_CLASS_JOB), 1);
	qtest_cmd(from, "{\"execute\":\"query-status\"}");
	ktap_eq(qtest_readl(from, gpu.msi), 0);
	save(from);
	qtest_stop(from);

	to = restore(DEVICE);
	gpu_moved(&gpu, to);
	ktap_eq(qtest_readl(to, gpu.msi), 0);
	qtest_cmd(to, "{\"execute\":\"cont\"}");
	ktap_ok(gpu_wait_msi(&gpu, TSR_IRQ_CLASS_JOB));
	qtest_stop(to);
}

/* A timer that runs when the machine is saved runs out in the new process. */
static void test_watchdog(void)
{
	struct qtest *from = qtest_start(DEVICE), *to;
	struct gpu_job job;
	struct gpu gpu;

	gpu_open(&gpu, from, 0, 0, 4 << 3);
	gpu_job_prepare(&job, &gpu, 0, 0, 64, 6, false);
	gpu_packet(&job.queue, wait_reg, .op = TSR_COMPARE_EQ, .index = 1, .value = 1);
	gpu_write(&gpu, TSR_REG_QUEUE_WATCHDOG_MS(0), 300);
	gpu_write64(&gpu, TSR_REG_IRQ_MASK(TSR_IRQ_CLASS_WATCHDOG), 1);
	gpu_doorbell(&job.queue);
	ktap_ok(gpu_wait_state(&job.queue, TSR_QUEUE_STATE_BLOCKED));
	qtest_clock_step(from, 100 * 1000000);
	save(from);
	qtest_stop(from);

	to = restore(DEVICE);
	gpu_moved(&gpu, to);
	ktap_eq(gpu_read(&gpu, TSR_REG_IRQ_RAWSTAT(TSR_IRQ_CLASS_WATCHDOG)), 0);
	qtest_clock_step(to, 1000 * 1000000);
	ktap_ok(gpu_wait_msi(&gpu, TSR_IRQ_CLASS_WATCHDOG));
	qtest_stop(to);
}

/* Work that is saved while the machine runs, a little further each time, is still done once. */
static void test_many_times(void)
{
	struct qtest *q = qtest_start(DEVICE);
	unsigned int hops = 0;
	struct gpu_job job;
	struct gpu gpu;

	gpu_open(&gpu, q, 0, 0, 4 << 3);
	long_job(&job, &gpu, 0, 0);
	gpu_doorbell(&job.queue);
	do {
		save(q);
		qtest_stop(q);
		q = restore(DEVICE);
		gpu_moved(&gpu, q);
		hops++;
	} while (qtest_readq(q, job.fence) != GPU_JOB_VALUE && hops < 3);
	ktap_note("saved %u times", hops);
	ktap_ok(gpu_wait_memory(&gpu, job.fence, GPU_JOB_VALUE));
	ktap_ok(gpu_job_result(&job));
	long_job_counted(&gpu, 0);
	qtest_stop(q);
}

/*
 * Memory that the GPU writes during migration is sent again. The job's pages are at the beginning
 * of memory and are sent before it starts. The rest of memory is large and sent slowly.
 */
static void test_dirty(void)
{
	struct qtest *from = qtest_start(DEVICE), *to;
	int left = 300;
	struct gpu_job job;
	struct gpu gpu;

	gpu_open(&gpu, from, 0, 0, 4 << 3);
	gpu_job_prepare(&job, &gpu, 0, 0, 100000, 8, false);
	qtest_memset(from, GPU_MEMORY(1), 0x5a, 24 << 20);
	qtest_cmd(from, COMMAND("migrate-set-parameters", "\"max-bandwidth\":5000000"));
	qtest_cmd(from, COMMAND("migrate", "\"uri\":\"file:%s\""), path);
	while (qtest_patience(&left))
		;
	ktap_ok(strstr(qtest_cmd(from, "{\"execute\":\"query-migrate\"}"), "\"active\"") != NULL);
	gpu_doorbell(&job.queue);
	ktap_ok(gpu_wait_memory(&gpu, job.fence, GPU_JOB_VALUE));
	qtest_cmd(from, COMMAND("migrate-set-parameters", "\"max-bandwidth\":0"));
	migration_done(from);
	qtest_stop(from);

	to = restore(DEVICE);
	gpu_moved(&gpu, to);
	ktap_eq(qtest_readq(to, job.fence), GPU_JOB_VALUE);
	ktap_ok(gpu_job_result(&job));
	qtest_stop(to);
}

/* How the host does the work may differ: the state is of the GPU. */
static void test_other_host(void)
{
	static const char *const hosts[] = {
		"-device tessera,addr=4,vram=8M,threads=0",
		"-device tessera,addr=4,vram=8M,threads=5,inline-budget=0",
		"-device tessera,addr=4,vram=8M,threads=1,inline-budget=100000",
	};
	struct qtest *q = qtest_start(DEVICE);
	struct gpu_job job;
	struct gpu gpu;
	unsigned int i;

	gpu_open(&gpu, q, 0, 0, 4 << 3);
	long_job(&job, &gpu, 0, 0);
	gpu_doorbell(&job.queue);
	for (i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
		save(q);
		qtest_stop(q);
		q = restore(hosts[i]);
		gpu_moved(&gpu, q);
	}
	ktap_ok(gpu_wait_memory(&gpu, job.fence, GPU_JOB_VALUE));
	ktap_ok(gpu_job_result(&job));
	long_job_counted(&gpu, 0);
	qtest_stop(q);
}

/* Wait for a job of QEMU's to be over and forget it. */
static void job_done(struct qtest *q, const char *id)
{
	int left = QTEST_TIMEOUT_MS;
	const char *answer;

	do {
		answer = qtest_cmd(q, "{\"execute\":\"query-jobs\"}");
	} while (!strstr(answer, "\"concluded\"") && qtest_patience(&left));
	if (strstr(answer, "\"error\""))
		ktap_fail("job %s: %s", id, answer);
	qtest_cmd(q, "{\"execute\":\"job-dismiss\",\"arguments\":{\"id\":\"%s\"}}", id);
}

/* Give the machine a disk that holds snapshots. */
static void add_disk(struct qtest *q, const char *file)
{
	qtest_cmd(q, COMMAND("blockdev-create", "\"job-id\":\"c1\",\"options\":{\"driver\":"
		     "\"file\",\"filename\":\"%s\",\"size\":0}"), file);
	job_done(q, "c1");
	qtest_cmd(q, COMMAND("blockdev-add", "\"driver\":\"file\",\"node-name\":\"file\","
		     "\"filename\":\"%s\""), file);
	qtest_cmd(q, COMMAND("blockdev-create", "\"job-id\":\"c2\",\"options\":{\"driver\":"
		     "\"qcow2\",\"file\":\"file\",\"size\":1048576}"));
	job_done(q, "c2");
	qtest_cmd(q, COMMAND("blockdev-add", "\"driver\":\"qcow2\",\"node-name\":\"disk\","
		     "\"file\":\"file\""));
}

/* savevm and loadvm: back to an earlier point in the same process, twice over. */
static void test_loadvm(void)
{
	struct qtest *q = qtest_start(DEVICE);
	const char *said;
	struct scene s;
	char disk[320];
	unsigned int i;

	snprintf(disk, sizeof(disk), "%s.qcow2", path);
	add_disk(q, disk);
	scene_start(&s, q);
	qtest_cmd(q, "{\"execute\":\"stop\"}");
	gpu_doorbell(&s.copying.queue);
	said = qtest_hmp(q, "savevm before");
	if (!strstr(said, "\"return\": \"\""))
		ktap_fail("savevm: %s", said);
	for (i = 0; i < 2; i++) {
		qtest_cmd(q, "{\"execute\":\"cont\"}");
		scene_finish(&s);
		long_job_counted(&s.gpu, 3);
		said = qtest_hmp(q, "loadvm before");
		if (!strstr(said, "\"return\": \"\""))
			ktap_fail("loadvm: %s", said);
	}
	qtest_stop(q);
	unlink(disk);
}

/* A state that was saved by a device of another shape is refused with a message, and QEMU goes on.
 */
static void test_mismatch(void)
{
	static const char *const others[] = {
		"-device tessera,addr=4,vram=8M,queues=32",
		"-device tessera,addr=4,vram=8M,copy-engines=1",
		"-device tessera,addr=4,vram=8M,va-bits=39",
		"-device tessera,addr=4,vram=8M,page-sizes=4K",
	};
	struct qtest *q = qtest_start(DEVICE);
	struct gpu gpu;
	unsigned int i;

	gpu_open(&gpu, q, 0, 0, 4 << 3);
	save(q);
	qtest_stop(q);
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		char text[2000];
		int status = qtest_start_refused(text, sizeof(text), "%s -incoming file:%s",
						 others[i], path);

		ktap_eq(status, 1);
		if (!strstr(text, "the saved state does not fit this device"))
			ktap_fail("%s: '%s'", others[i], text);
	}
}

/* The file, to be freed; its size. */
static uint8_t *read_state(size_t *size)
{
	uint8_t *bytes = NULL;
	FILE *f = fopen(path, "rb");

	if (f && !fseek(f, 0, SEEK_END)) {
		*size = ftell(f);
		rewind(f);
		bytes = malloc(*size);
		if (fread(bytes, 1, *size, f) != *size)
			*size = 0;
	}
	if (f)
		fclose(f);
	return bytes;
}

/* The device's own bytes in a file begin with this, behind the fields of QEMU's side: */
#define MODEL_MAGIC "TSRASNAP"
#define IRQ_PENDING_BEFORE 16		/* where irq_pending is, in front of timer and size */

/* Change irq_pending in the file. */
static bool set_pending(uint32_t pending)
{
	uint8_t word[4] = { pending >> 24, pending >> 16, pending >> 8, pending };
	size_t size = 0;
	uint8_t *state = read_state(&size);
	uint8_t *model = state ? memmem(state, size, MODEL_MAGIC, 8) : NULL;
	FILE *f = model ? fopen(path, "r+b") : NULL;
	bool done = false;

	if (f) {
		done = !fseek(f, model - state - IRQ_PENDING_BEFORE, SEEK_SET) &&
		       fwrite(word, sizeof(word), 1, f) == 1;
		fclose(f);
	}
	free(state);
	return done;
}

/* Messages of vectors that there are not are refused. */
static void test_vectors(void)
{
	static const uint32_t pending[] = { 0x1f, 0x20, 0x80000000 };
	struct qtest *q = qtest_start(DEVICE);
	struct gpu gpu;
	unsigned int i;

	gpu_open(&gpu, q, 0, 0, 4 << 3);
	save(q);
	qtest_stop(q);
	for (i = 0; i < sizeof(pending) / sizeof(pending[0]); i++) {
		char text[2000] = "";

		KTAP_REQUIRE(set_pending(pending[i]));
		if (!i) {
			q = restore(DEVICE);
			gpu_moved(&gpu, q);
			ktap_ok(gpu_wait_msi(&gpu, TSR_IRQ_CLASS_JOB));
			qtest_stop(q);
			continue;
		}
		ktap_eq(qtest_start_refused(text, sizeof(text), DEVICE " -incoming file:%s", path),
			1);
		if (!strstr(text, "vectors whose message is due"))
			ktap_fail("0x%x: '%s'", pending[i], text);
	}
}

/* A state that is larger than it may be is not saved, and the machine goes on; nor is it loaded. */
static void test_too_large(void)
{
	struct qtest *q = qtest_start(DEVICE ",x-snapshot-max=1000");
	char text[2000] = "";
	struct gpu_job job;
	const char *answer;
	struct gpu gpu;
	int left = QTEST_TIMEOUT_MS;

	gpu_open(&gpu, q, 0, 0, 4 << 3);
	qtest_cmd(q, COMMAND("migrate", "\"uri\":\"file:%s\""), path);
	do {
		answer = qtest_cmd(q, "{\"execute\":\"query-migrate\"}");
	} while (!strstr(answer, "\"status\": \"failed\"") && qtest_patience(&left));
	ktap_ok(strstr(answer, "\"status\": \"failed\"") != NULL);
	gpu_job_prepare(&job, &gpu, 0, 0, 64, 5, true);
	gpu_doorbell(&job.queue);
	ktap_ok(gpu_wait_memory(&gpu, job.fence, GPU_JOB_VALUE));
	qtest_stop(q);

	q = qtest_start(DEVICE);
	save(q);
	qtest_stop(q);
	ktap_eq(qtest_start_refused(text, sizeof(text), DEVICE ",x-snapshot-max=1000 "
				    "-incoming file:%s", path), 1);
	if (!strstr(text, "size of the saved state"))
		ktap_fail("'%s'", text);
}

int main(int argc, char **argv)
{
	const char *build = getenv("TSR_BUILD");

	snprintf(path, sizeof(path), "%s/migrate-%d.state", build ? build : "/tmp", (int)getpid());
	ktap_start_args(argc, argv);
	ktap_run("a blocked queue and a copy half done go on in a new process", test_half_done);
	ktap_run("every register is the same after loading", test_registers);
	ktap_run("a pending MSI-X message travels", test_pending_message);
	ktap_run("a message due in a stopped machine travels", test_message_while_stopped);
	ktap_run("a running watchdog travels", test_watchdog);
	ktap_run("a copy that is saved again and again is done once", test_many_times);
	ktap_run("what the GPU writes during migration arrives", test_dirty);
	ktap_run("a state goes to hosts with other workers", test_other_host);
	ktap_run("savevm and loadvm repeat work from the saved point", test_loadvm);
	ktap_run("the state of a device of another shape is refused", test_mismatch);
	ktap_run("messages of vectors that there are not are refused", test_vectors);
	ktap_run("a state that is too large is neither saved nor loaded", test_too_large);
	unlink(path);
	return ktap_finish();
}
