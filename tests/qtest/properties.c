/* SPDX-License-Identifier: MIT */
/*
 * The device's properties: what each makes of the device, read back from its registers, and the
 * message for each value that is not possible.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../qemu-device/model/include/tsr_capture.h"
#include "gpu.h"
#include "ktap.h"

/* A value that the device refuses, and what its message must contain. */
struct refusal {
	const char *args;
	const char *message;
};

static const struct refusal refusals[] = {
	{ "queues=0", "property 'queues' is 0, must be 1 to 64" },
	{ "capture-max=0", "property 'capture-max' is 0, must be 4096 to 268435456" },
	{ "capture-max=257M", "property 'capture-max' is 269484032, must be 4096 to 268435456" },
	{ "queues=65", "property 'queues' is 65, must be 1 to 64" },
	{ "copy-engines=9", "property 'copy-engines' is 9, must be 0 to 8" },
	{ "bin-engines=9", "property 'bin-engines' is 9, must be 0 to 8" },
	{ "render-engines=9", "property 'render-engines' is 9, must be 0 to 8" },
	{ "compute-engines=9", "property 'compute-engines' is 9, must be 0 to 8" },
	{ "bin-engines=0,render-engines=0,compute-engines=0,copy-engines=0",
	  "at least one engine is needed" },
	{ "va-bits=47", "property 'va-bits' is 47, must be 39, 48 or 57" },
	{ "va-bits=0", "property 'va-bits' is 0, must be 39, 48 or 57" },
	{ "vram=1M", "property 'vram' is 1048576, must be a multiple of 2M" },
	{ "vram=3T", "property 'vram' is 3298534883328, must be a multiple of 2M, at most 1T" },
	{ "page-sizes=2M", "property 'page-sizes' is '2M', must contain 4K" },
	{ "page-sizes=4K:64K", "property 'page-sizes' names '64K', must be 4K or 4K:2M" },
	{ "page-sizes=", "must contain 4K" },
	{ "page-sizes=4K:", "property 'page-sizes' names '', must be 4K or 4K:2M" },
	{ "page-sizes=many", "property 'page-sizes' names 'many', must be 4K or 4K:2M" },
	{ "threads=65", "property 'threads' is 65, must be 0 to 64" },
	{ "threads=-2", "property 'threads' is -2, must be 0 to 64" },
	{ "seed=1", "property 'seed' needs deterministic=on" },
	{ "deterministic=on", "deterministic=on needs -icount" },
	{ "inject=hung", "property 'inject': character 1: 'hung' is no kind of fault" },
	{ "inject=slow;hang:queue=64", "property 'inject': character 11: 'queue' cannot be '64'" },
	{ "heads=5", "property 'heads' is 5, must be 0 to 4" },
	{ "display-memory=1M",
	  "property 'display-memory' is 1048576, must be 4194304 to 1610612736" },
	{ "display-memory=1537M",
	  "property 'display-memory' is 1611661312, must be 4194304 to 1610612736" },
	{ "debug=fast", "property 'debug' names 'fast', must be flags joined by colons: late" },
	{ "debug=late:", "property 'debug' names '', must be flags" },
	{ "debug=avx2:debug", "property 'debug' names 'debug', must be flags" },
	{ "gfx-debug=256", "property 'gfx-debug' is 256, must be 0 to 255" },
	{ "shader-timing=never", "property 'shader-timing' is 'never', must be early or late" },
	{ "queues=many", "'queues'" },
	{ "colour=red", "colour" },
};

/* More than one thing has to be right for deterministic=on; each is asked for by name. */
static const struct refusal deterministic[] = {
	{ "-accel tcg -icount shift=0 -smp 2 -device tessera,deterministic=on",
	  "needs a machine with one processor" },
	{ "-accel tcg -icount shift=0 -smp 1,maxcpus=2 -device tessera,deterministic=on",
	  "needs a machine with one processor, this one can have 2" },
	{ "-accel tcg -icount shift=0 -device tessera,deterministic=on,threads=1",
	  "needs threads=0, not threads=1" },
};

static void refused(const char *args, const char *message)
{
	char text[2000];
	int status = qtest_start_refused(text, sizeof(text), "%s", args);

	ktap_eq(status, 1);
	if (!strstr(text, message))
		ktap_fail("%s: expected '%s', got '%s'", args, message, text);
	/* One line, and it names the device. */
	ktap_ok(strstr(text, "tessera") != NULL);
	ktap_ok(strchr(text, '\n') == strrchr(text, '\n'));
}

static void test_refusals(void)
{
	char args[300];
	unsigned int i;

	for (i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		snprintf(args, sizeof(args), "-device tessera,%s", refusals[i].args);
		refused(args, refusals[i].message);
	}
}

static void test_deterministic_refusals(void)
{
	unsigned int i;

	for (i = 0; i < sizeof(deterministic) / sizeof(deterministic[0]); i++)
		refused(deterministic[i].args, deterministic[i].message);
}

/* A configuration, and the registers that tell of it. */
struct shape {
	const char *args;
	uint32_t queues, engines, va_bits;
	uint64_t page_sizes, local_size, features;
};

static const struct shape shapes[] = {
	{ "queues=64", 64, 0x02010102, 48, 0x201000, 0, TSR_FEATURE_HUGE_PAGES },
	{ "queues=1,threads=1", 1, 0x02010102, 48, 0x201000, 0, TSR_FEATURE_HUGE_PAGES },
	{ "queues=7,bin-engines=0,render-engines=8,compute-engines=3,copy-engines=1", 7, 0x01030800,
	  48, 0x201000, 0, TSR_FEATURE_HUGE_PAGES },
	{ "bin-engines=0,render-engines=0,compute-engines=0,copy-engines=8,threads=8", 64,
	  0x08000000, 48, 0x201000, 0, TSR_FEATURE_HUGE_PAGES },
	{ "va-bits=39,page-sizes=4K", 64, 0x02010102, 39, 0x1000, 0, 0 },
	{ "va-bits=57,page-sizes=2m:4k", 64, 0x02010102, 57, 0x201000, 0, TSR_FEATURE_HUGE_PAGES },
	{ "vram=2M", 64, 0x02010102, 48, 0x201000, 2 << 20,
	  TSR_FEATURE_HUGE_PAGES | TSR_FEATURE_LOCAL_MEMORY },
	{ "vram=6M,threads=0", 64, 0x02010102, 48, 0x201000, 6 << 20,
	  TSR_FEATURE_HUGE_PAGES | TSR_FEATURE_LOCAL_MEMORY },
	{ "debug=late:strict:nojit:notexcache:sse2:noearly:nohiz:nocompression:nofastclear", 64,
	  0x02010102, 48, 0x201000, 0, TSR_FEATURE_HUGE_PAGES },
	{ "debug=noflat:noblocks:nosmall:nostages", 64, 0x02010102, 48, 0x201000, 0,
	  TSR_FEATURE_HUGE_PAGES },
	{ "shader-timing=late,strict-code=on,texture-cache=off,gfx-debug=255,simd=sse2,jit=off", 64,
	  0x02010102, 48, 0x201000, 0, TSR_FEATURE_HUGE_PAGES },
	{ "inline-budget=0", 64, 0x02010102, 48, 0x201000, 0, TSR_FEATURE_HUGE_PAGES },
	{ "inject-window=on", 64, 0x02010102, 48, 0x201000, 0,
	  TSR_FEATURE_HUGE_PAGES | TSR_FEATURE_DEBUG },
	{ "check=on", 64, 0x02010102, 48, 0x201000, 0, TSR_FEATURE_HUGE_PAGES | TSR_FEATURE_CHECK },
	{ "inline-budget=1000000,threads=64", 64, 0x02010102, 48, 0x201000, 0,
	  TSR_FEATURE_HUGE_PAGES },
};

static bool has_engine(const struct shape *shape, unsigned int class)
{
	return shape->engines >> (8 * class) & 0xff;
}

/* The registers say what was asked for, and a job runs: copies if there is a copy engine, else just
 * the fence. */
static void test_shape(const void *arg)
{
	const struct shape *shape = arg;
	struct qtest *q = qtest_start("-device tessera,addr=4,%s", shape->args);
	unsigned int slot = shape->queues - 1;
	struct gpu_job job;
	struct gpu gpu;

	gpu_open(&gpu, q, 0, 0, 4 << 3);
	ktap_eq(gpu_read(&gpu, TSR_REG_GPU_SLOTS) & TSR_GPU_SLOTS_QUEUES__MASK, shape->queues);
	ktap_eq(gpu_read(&gpu, TSR_REG_GPU_ENGINES), shape->engines);
	ktap_eq(gpu_read(&gpu, TSR_REG_GPU_VA) & TSR_GPU_VA_BITS__MASK, shape->va_bits);
	ktap_eq(gpu.levels, (shape->va_bits - 12) / 9);
	ktap_eq(gpu_read64(&gpu, TSR_REG_GPU_PAGE_SIZES), shape->page_sizes);
	ktap_eq(gpu_read64(&gpu, TSR_REG_GPU_LOCAL_SIZE), shape->local_size);
	ktap_eq(gpu_read64(&gpu, TSR_REG_GPU_FEATURES),
		shape->features | TSR_FEATURE_COMPRESSED | TSR_FEATURE_GEOMETRY |
		TSR_FEATURE_TAGGED);
	ktap_ok(has_engine(shape, TSR_ENGINE_CLASS_COPY));
	gpu_job_prepare(&job, &gpu, slot, 0, 200000, slot + 1, false);
	gpu_doorbell(&job.queue);
	ktap_ok(gpu_wait_memory(&gpu, job.fence, GPU_JOB_VALUE));
	ktap_ok(gpu_job_result(&job));
	/* A slot beyond those announced does not exist. */
	if (shape->queues < TSR_QUEUES_MAX) {
		gpu_write64(&gpu, TSR_REG_QUEUE_RING_BASE(shape->queues), 0x1000);
		ktap_eq(gpu_read64(&gpu, TSR_REG_QUEUE_RING_BASE(shape->queues)), 0);
	}
	qtest_stop(q);
}

/* Properties can be read from a running machine. */
static void expect_property(struct qtest *q, const char *name, const char *value)
{
	const char *answer = qtest_cmd(q,
				       "{\"execute\":\"qom-get\",\"arguments\":"
				       "{\"path\":\"gpu\",\"property\":\"%s\"}}",
				       name);
	char want[100];

	snprintf(want, sizeof(want), "\"return\": %s}", value);
	if (!strstr(answer, want))
		ktap_fail("%s: %s", name, answer);
}

static void test_qom_get(void)
{
	struct qtest *q = qtest_start("-device tessera,id=gpu,queues=5,vram=4M,page-sizes=4K");

	expect_property(q, "queues", "5");
	expect_property(q, "vram", "4194304");
	expect_property(q, "page-sizes", "\"4K\"");
	expect_property(q, "deterministic", "false");
	qtest_stop(q);
}

static const char *set_inject(struct qtest *q, const char *script)
{
	return qtest_qmp(q,
			 "{\"execute\":\"qom-set\",\"arguments\":"
			 "{\"path\":\"gpu\",\"property\":\"inject\",\"value\":\"%s\"}}",
			 script);
}

static uint32_t inject_rules(struct gpu *gpu)
{
	uint32_t status = gpu_read(gpu, TSR_REG_INJECT_STATUS);

	return (status & TSR_INJECT_STATUS_RULES__MASK) >> TSR_INJECT_STATUS_RULES__SHIFT;
}

/* Faults from the command line and from QMP, and what the guest sees of them. */
static void test_inject(void)
{
	struct qtest *q = qtest_start("-device tessera,id=gpu,addr=4,inject-window=on,"
				      "inject=fence-lost:queue=3");
	struct gpu_job job;
	struct gpu gpu;

	gpu_open(&gpu, q, 0, 0, 4 << 3);
	expect_property(q, "inject", "\"fence-lost:queue=3\"");
	ktap_eq(inject_rules(&gpu), 1);
	ktap_ok(qtest_ok(set_inject(q, "doorbell-lost queue=5")));
	ktap_eq(inject_rules(&gpu), 2);
	ktap_ok(!qtest_ok(set_inject(q, "doorbell-found")));
	ktap_eq(inject_rules(&gpu), 2);
	gpu_job_prepare(&job, &gpu, 5, 0, 200000, 6, false);
	gpu_doorbell(&job.queue);
	ktap_eq(gpu_read(&gpu, TSR_REG_INJECT_FIRED(TSR_INJECTION_DOORBELL_LOST)), 1);
	gpu_doorbell(&job.queue);
	ktap_ok(gpu_wait_memory(&gpu, job.fence, GPU_JOB_VALUE));
	ktap_ok(gpu_job_result(&job));
	ktap_ok(qtest_ok(set_inject(q, "clear; gone")));
	ktap_eq(gpu_read(&gpu, TSR_REG_GPU_MAGIC), UINT32_MAX);
	ktap_ok(qtest_ok(set_inject(q, "clear")));
	ktap_eq(gpu_read(&gpu, TSR_REG_GPU_MAGIC), TSR_MAGIC);
	qtest_stop(q);
}

/* The contract checker in QMP: it counts, and says what it has seen. */
static void test_check(void)
{
	struct qtest *q = qtest_start("-device tessera,id=gpu,addr=4,check=on");
	struct gpu_job job;
	struct gpu gpu;

	gpu_open(&gpu, q, 0, 0, 4 << 3);
	gpu_job_prepare(&job, &gpu, 5, 0, 200000, 6, false);
	gpu_doorbell(&job.queue);
	ktap_ok(gpu_wait_memory(&gpu, job.fence, GPU_JOB_VALUE));
	ktap_ok(gpu_job_result(&job));
	expect_property(q, "check-reports", "0");
	expect_property(q, "check-last", "\"\"");
	gpu_write(&gpu, TSR_REG_DOORBELL_RING(7), 8);
	expect_property(q, "check-reports", "1");
	expect_property(q, "check-pending", "0");
	ktap_eq(gpu_read(&gpu, TSR_REG_CHECK_COUNT(TSR_CHECK_KIND_DOORBELL_DISABLED)), 1);
	qtest_stop(q);
}

static const char *set_property(struct qtest *q, const char *name, const char *value)
{
	return qtest_qmp(q,
			 "{\"execute\":\"qom-set\",\"arguments\":"
			 "{\"path\":\"gpu\",\"property\":\"%s\",\"value\":\"%s\"}}",
			 name, value);
}

/* The file is written by a thread, soon after the job. */
static void wait_captured(struct qtest *q)
{
	for (unsigned int i = 0; i < 20000; i++) {
		if (strstr(qtest_qmp(q, "{\"execute\":\"qom-get\",\"arguments\":"
				     "{\"path\":\"gpu\",\"property\":\"capture\"}}"),
			   "\"return\": \"\""))
			return;
		usleep(1000);
	}
	ktap_fail("nothing has been captured");
}

/* Captured jobs: a file with the first of them, and no file without a place to go. */
static void test_capture(void)
{
	struct qtest *q = qtest_start("-device tessera,id=gpu,addr=4");
	char path[] = "/tmp/tessera-capture-XXXXXX";
	uint64_t magic = 0;
	struct gpu_job job;
	struct gpu gpu;
	int fd = mkstemp(path);

	gpu_open(&gpu, q, 0, 0, 4 << 3);
	ktap_ok(!qtest_ok(set_property(q, "capture", "next")));
	ktap_ok(qtest_ok(set_property(q, "capture-file", path)));
	ktap_ok(!qtest_ok(set_property(q, "capture", "nonsense")));
	ktap_ok(qtest_ok(set_property(q, "capture", "queue=5")));
	expect_property(q, "capture", "\"queue=5\"");
	gpu_job_prepare(&job, &gpu, 5, 0, 200000, 6, false);
	gpu_doorbell(&job.queue);
	ktap_ok(gpu_wait_memory(&gpu, job.fence, GPU_JOB_VALUE));
	ktap_ok(gpu_job_result(&job));
	wait_captured(q);
	close(fd);
	fd = open(path, O_RDONLY);
	ktap_eq(read(fd, &magic, sizeof(magic)), sizeof(magic));
	ktap_eq(magic, TSR_CAPTURE_MAGIC);
	close(fd);
	unlink(path);
	qtest_stop(q);
}

/* A file of some 30 MiB, which the main loop leaves to a thread; a larger job is not captured. */
static void test_capture_large(void)
{
	struct qtest *q = qtest_start("-device tessera,id=gpu,addr=4,capture-max=20M");
	char path[] = "/tmp/tessera-capture-XXXXXX";
	struct gpu_job small, large;
	struct stat st;
	uint64_t before;
	struct gpu gpu;

	close(mkstemp(path));
	gpu_open(&gpu, q, 0, 0, 4 << 3);
	ktap_ok(qtest_ok(set_property(q, "capture-file", path)));
	ktap_ok(qtest_ok(set_property(q, "capture", "next")));
	gpu_job_prepare(&large, &gpu, 5, 0, 12 << 20, 6, false);
	gpu_job_prepare(&small, &gpu, 6, 2, 8 << 20, 6, false);
	gpu_doorbell(&large.queue);
	ktap_ok(gpu_wait_memory(&gpu, large.fence, GPU_JOB_VALUE));
	ktap_ok(gpu_job_result(&large));
	expect_property(q, "capture", "\"next\"");
	before = qtest_main_written(q);
	gpu_doorbell(&small.queue);
	ktap_ok(gpu_wait_memory(&gpu, small.fence, GPU_JOB_VALUE));
	wait_captured(q);
	ktap_ok(!stat(path, &st) && st.st_size > 24 << 20);
	ktap_ok(qtest_main_written(q) - before < 1 << 20);
	unlink(path);
	qtest_stop(q);
}

int main(int argc, char **argv)
{
	char name[200];
	unsigned int i;

	ktap_start_args(argc, argv);
	ktap_run("bad property values are refused by name, value and range", test_refusals);
	ktap_run("deterministic=on names what it lacks", test_deterministic_refusals);
	for (i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		snprintf(name, sizeof(name), "[SYS1] a device with %s", shapes[i].args);
		ktap_run_arg(name, test_shape, &shapes[i]);
	}
	ktap_run("properties of a running device can be read", test_qom_get);
	ktap_run("[SYS9] faults by property and by QMP", test_inject);
	ktap_run("[SYS9] the contract checker by property and QMP", test_check);
	ktap_run("[SYS9] a job is captured in a file", test_capture);
	ktap_run("a large capture is written beside the main loop, a larger one is refused",
		 test_capture_large);
	return ktap_finish();
}
