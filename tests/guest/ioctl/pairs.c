// SPDX-License-Identifier: MIT
/* test: TIMEOUT=600 SMP=2 DEVICE_ARGS=vram=32M,heads=1 CONSOLE=1 */
/*
 * Every pair of {submit, bind, close, reset, unplug, shrink, suspend}, side by side on two
 * processors for a bounded time, each in a process of its own, beside a third that only submits.
 * Whatever meets: every fence signals, with 0 or with an error that one of the pair explains; a
 * fence that says 0 stands for exact bytes; memory that nobody gave away keeps its contents. Then
 * the device works as before, and in the end the driver unloads.
 */
#include "gt_main.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <linux/sync_file.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xf86drm.h>

#define MAP_VA		0x40000000ULL
#define MAP_PAGES	32u
#define COPY		0x8000u		/* bytes that a job of submit() fills, then copies */
#define BOS		6u		/* of shrink() */
#define BO_SIZE		0x20000u
#define PATIENCE_S	90		/* until a process that was told to stop counts as stuck */

enum actor { SUBMIT, BIND, CLOSE, RESET, UNPLUG, SHRINK, SUSPEND, ACTORS };

/* The report of a process, in memory that all processes share. */
struct report {
	volatile unsigned int rounds;
	unsigned int lost;		/* fences with an error that the pair explains */
	unsigned int bad;
	char text[200];			/* the first thing that was bad */
};

static struct {
	atomic_bool stop;
	struct report of[3];
} *shared;

static bool in_pair[ACTORS];
static struct report *mine;
static char slot[64];		/* 0000:01:00.0 */

__attribute__((format(printf, 1, 2))) static void complain(const char *fmt, ...)
{
	va_list ap;

	if (mine->bad++)
		return;
	va_start(ap, fmt);
	vsnprintf(mine->text, sizeof(mine->text), fmt, ap);
	va_end(ap);
}

/* True if an ioctl's answer says that the device is gone, and may. */
static bool gone(int ret)
{
	return ret == -ENODEV && in_pair[UNPLUG];
}

/* An ioctl's answer: 0 to go on; else the round is over, and it is complained of if need be. */
static int expect(int ret, const char *what)
{
	if (ret && !gone(ret))
		complain("%s: %s", what, strerror(-ret));
	return ret;
}

/* ---- a file with a VM, two queues and memory ---- */

struct session {
	int fd;
	uint32_t vm, queue[2], sync[3], cmd_handle, data_handle;
	struct gt_cs cs[3];	/* streams of GT_PAGE each */
	uint8_t *cmd, *data;	/* of GT_CMD_SIZE and GT_DATA_SIZE, at GT_CMD_VA, GT_DATA_VA */
	uint64_t seed;
};

static uint32_t random_of(struct session *s, uint32_t limit)
{
	s->seed = s->seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(s->seed >> 33) % limit;
}

static int mapped_bo(struct session *s, uint64_t size, uint64_t va, uint32_t *handle, void *map)
{
	struct drm_tessera_bind_op op;
	void *at;
	int ret = gt_bo_try(s->fd, size, 0, 0, handle);

	if (ret)
		return ret;
	at = gt_bo_mmap(s->fd, *handle, size);
	if (!at)
		return errno == ENODEV ? -ENODEV : -EIO;
	memcpy(map, &at, sizeof(at));
	op = gt_op_map(*handle, va, size, 0, va == GT_CMD_VA ? GT_RWX : GT_RW);
	return va ? gt_vm_bind(s->fd, s->vm, &op, 1) : 0;
}

static int session_fill(struct session *s)
{
	struct drm_tessera_vm_create create = { 0 };
	unsigned int i;
	int ret = gt_ioctl(s->fd, DRM_IOCTL_TESSERA_VM_CREATE, &create);

	s->vm = create.vm_id;
	for (i = 0; !ret && i < 2; i++)
		ret = gt_queue_try(s->fd, s->vm, DRM_TESSERA_ENGINE_COPY,
				   DRM_TESSERA_PRIORITY_NORMAL, 0, &s->queue[i]);
	for (i = 0; !ret && i < 3; i++)
		ret = drmSyncobjCreate(s->fd, 0, &s->sync[i]) ? -errno : 0;
	ret = ret ? ret : mapped_bo(s, GT_CMD_SIZE, GT_CMD_VA, &s->cmd_handle, &s->cmd);
	return ret ? ret : mapped_bo(s, GT_DATA_SIZE, GT_DATA_VA, &s->data_handle, &s->data);
}

static void session_close(struct session *s)
{
	if (s->data)
		munmap(s->data, GT_DATA_SIZE);
	if (s->cmd)
		munmap(s->cmd, GT_CMD_SIZE);
	if (s->fd >= 0)
		close(s->fd);
	*s = (struct session){ .fd = -1, .seed = s->seed };
}

static int session_open(struct session *s)
{
	int ret;

	s->fd = gt_open_nth(0, true);
	if (s->fd < 0)		/* the node goes a moment before, and comes a moment after */
		return s->fd == -ENOENT || s->fd == -ENXIO ? -ENODEV : s->fd;
	ret = session_fill(s);
	if (ret)
		session_close(s);
	return ret;
}

static struct gt_cs *stream(struct session *s, unsigned int index)
{
	s->cs[index] = (struct gt_cs){
		.words = (uint64_t *)(s->cmd + index * GT_PAGE),
		.va = GT_CMD_VA + index * GT_PAGE, .room = GT_PAGE / 8,
	};
	return &s->cs[index];
}

/* Stream @index on queue @queue, behind sync object @wait (-1: none); it signals its own. */
static int kick(struct session *s, unsigned int queue, unsigned int index, int wait)
{
	struct drm_tessera_sync waits = gt_binary(wait < 0 ? 0 : s->sync[wait]);
	struct drm_tessera_sync signals = gt_binary(s->sync[index]);
	struct drm_tessera_job job = gt_job(s->queue[queue], &s->cs[index]);

	job.waits = GT_ARRAY(&waits, wait >= 0);
	job.signals = GT_ARRAY(&signals, 1);
	return gt_submit(s->fd, &job, 1);
}

/* The fence of a sync object as a file, which outlives the device. */
static int fence_of(struct session *s, unsigned int index, int *file)
{
	*file = -1;
	return drmSyncobjExportSyncFile(s->fd, s->sync[index], file) ? -errno : 0;
}

/* Wait for a fence, say what it says, and close it. A fence that does not come is lost. */
static int fence_result(int file)
{
	struct sync_file_info info = { 0 };
	struct pollfd poll_fd = { .fd = file, .events = POLLIN };
	int ret;

	do {
		ret = poll(&poll_fd, 1, PATIENCE_S / 2 * 1000);
	} while (ret < 0 && errno == EINTR);
	if (ret != 1 || ioctl(file, SYNC_IOC_FILE_INFO, &info))
		complain("a fence was lost");
	close(file);
	return info.status < 0 ? info.status : 0;
}

/* As fence_result(). Only a reset, an unplug or sleep excuses a job that was not done. */
static int fence_good(int file)
{
	int ret = fence_result(file);
	bool may_be_lost = in_pair[RESET] || in_pair[SUSPEND] || in_pair[UNPLUG];
	bool excused = (ret == -ECANCELED && may_be_lost) || gone(ret);

	if (ret && !excused)
		complain("a fence says %s", strerror(-ret));
	mine->lost += ret && excused;
	return ret;
}

/* ---- submit: fill, and a copy of it on another queue ---- */

static void check_copy(const struct session *s, uint64_t pattern)
{
	const uint64_t *got = (const uint64_t *)(s->data + COPY);
	unsigned int i, wrong = 0;

	for (i = 0; i < COPY / 8; i++)
		wrong += got[i] != pattern;
	if (wrong)
		complain("%u of %u words are wrong where two fences say 0", wrong, COPY / 8);
}

static int submit(struct session *s)
{
	uint64_t pattern = (uint64_t)random_of(s, 1u << 31) << 32 | random_of(s, 1u << 31);
	int ret, file[2] = { -1, -1 }, result[2] = { 0 };
	unsigned int i;

	GT_EMIT(stream(s, 0), fill_linear, .texel = 8, .dst = GT_DATA_VA, .size = COPY,
		.pattern_lo = pattern);
	GT_EMIT(stream(s, 1), copy_linear, .src = GT_DATA_VA, .dst = GT_DATA_VA + COPY,
		.size = COPY);
	ret = kick(s, 0, 0, -1);
	ret = ret ? ret : fence_of(s, 0, &file[0]);
	ret = ret ? ret : kick(s, 1, 1, 0);
	ret = ret ? ret : fence_of(s, 1, &file[1]);
	for (i = 0; i < 2; i++)
		result[i] = file[i] < 0 ? -ENODEV : fence_good(file[i]);
	if (!ret && !result[0] && !result[1])
		check_copy(s, pattern);
	return expect(ret, "SUBMIT");
}

/* ---- bind: a window of pages that change places, read by the GPU ---- */

struct binding {
	uint32_t handle[2];
	uint64_t *map[2];
	uint64_t want[MAP_PAGES];	/* what the GPU must read there; 0: nothing is mapped */
	bool known;			/* whether want is what the page tables have */
} binding;

static uint64_t page_content(unsigned int bo, unsigned int page)
{
	return 0xb0d0000000000001ULL + ((uint64_t)bo << 32) + page;
}

static int bind_begin(struct session *s)
{
	struct drm_tessera_bind_op op = gt_op_unmap(MAP_VA, MAP_PAGES * GT_PAGE);
	unsigned int bo, page;
	int ret = 0;

	if (!binding.handle[0]) {
		for (bo = 0; !ret && bo < 2; bo++)
			ret = mapped_bo(s, MAP_PAGES * GT_PAGE, 0, &binding.handle[bo],
					&binding.map[bo]);
		if (ret) {
			binding.handle[0] = 0;
			return ret;
		}
		for (page = 0; page < 2 * MAP_PAGES; page++)
			binding.map[page / MAP_PAGES][page % MAP_PAGES * (GT_PAGE / 8)] =
				page_content(page / MAP_PAGES, page % MAP_PAGES);
	}
	memset(binding.want, 0, sizeof(binding.want));
	ret = gt_vm_bind(s->fd, s->vm, &op, 1);
	binding.known = !ret;
	return ret;
}

/* A random operation, and what it does to what the GPU sees. */
static struct drm_tessera_bind_op bind_random(struct session *s)
{
	unsigned int first = random_of(s, MAP_PAGES), bo = random_of(s, 3), i;
	unsigned int count = 1 + random_of(s, MAP_PAGES - first);
	unsigned int from = random_of(s, MAP_PAGES - count + 1);

	for (i = 0; i < count; i++)
		binding.want[first + i] = bo == 2 ? 0 : page_content(bo, from + i);
	if (bo == 2)
		return gt_op_unmap(MAP_VA + first * GT_PAGE, count * GT_PAGE);
	return gt_op_map(binding.handle[bo], MAP_VA + first * GT_PAGE, count * GT_PAGE,
			 from * GT_PAGE, GT_RW);
}

static void check_pages(const struct session *s)
{
	const uint64_t *got = (const uint64_t *)s->data;
	unsigned int i;

	for (i = 0; i < MAP_PAGES; i++) {
		if (binding.want[i] && got[i] != binding.want[i]) {
			complain("page %u reads as %#llx, %#llx is bound there", i,
				 (unsigned long long)got[i], (unsigned long long)binding.want[i]);
			return;
		}
	}
}

/* A bind without a wait, a bind after it, and a job after both that reads all pages. */
static int bind_round(struct session *s)
{
	struct drm_tessera_bind_op first[2], second[3];
	struct drm_tessera_sync bound = gt_binary(s->sync[1]);
	struct gt_cs *cs = stream(s, 0);
	int ret = 0, bind_file = -1, job_file = -1, bind_result;
	unsigned int i;

	if (!binding.known)
		ret = bind_begin(s);
	for (i = 0; i < 2; i++)
		first[i] = bind_random(s);
	for (i = 0; i < 3; i++)
		second[i] = bind_random(s);
	GT_EMIT(cs, nop, .qwords = 1);
	for (i = 0; i < MAP_PAGES; i++) {
		if (binding.want[i])
			GT_EMIT(cs, copy_linear, .src = MAP_VA + i * GT_PAGE,
				.dst = GT_DATA_VA + i * 8, .size = 8);
	}
	memset(s->data, 0, MAP_PAGES * 8);
	ret = ret ? ret : gt_vm_bind(s->fd, s->vm, first, 2);
	ret = ret ? ret : gt_bind_async(s->fd, s->vm, second, 3, NULL, &bound);
	ret = ret ? ret : fence_of(s, 1, &bind_file);
	ret = ret ? ret : kick(s, 0, 0, 1);
	ret = ret ? ret : fence_of(s, 0, &job_file);
	bind_result = bind_file < 0 ? -ENODEV : fence_good(bind_file);
	binding.known = !ret && !bind_result;
	if (job_file >= 0 && !fence_good(job_file) && binding.known)
		check_pages(s);
	return expect(ret, "VM_BIND");
}

static void bind_end(void)
{
	unsigned int bo;

	for (bo = 0; bo < 2; bo++) {
		if (binding.map[bo])
			munmap(binding.map[bo], MAP_PAGES * GT_PAGE);
	}
	memset(&binding, 0, sizeof(binding));
}

/* ---- close: files that go with work in flight ---- */

/* An endless job, a job on another queue that waits for it, a bind that waits for that. */
static int endless(struct session *s, int *file)
{
	struct drm_tessera_bind_op op = gt_op_map(s->data_handle, MAP_VA, GT_PAGE, 0, GT_RW);
	struct drm_tessera_sync wait = gt_binary(s->sync[1]), signal = gt_binary(s->sync[2]);
	int ret;

	*(volatile uint64_t *)s->data = 0;
	GT_EMIT(stream(s, 0), wait, .op = TSR_COMPARE_EQ, .addr = GT_DATA_VA, .value = 1);
	GT_EMIT(stream(s, 1), fill_linear, .texel = 8, .dst = GT_DATA_VA + COPY, .size = COPY,
		.pattern_lo = 1);
	ret = kick(s, 0, 0, -1);
	ret = ret ? ret : fence_of(s, 0, file);
	ret = ret ? ret : kick(s, 1, 1, 0);
	return ret ? ret : gt_bind_async(s->fd, s->vm, &op, 1, &wait, &signal);
}

/* A process that is killed in the middle of it. */
static void die_busy(void)
{
	pid_t pid = fork();

	if (!pid) {
		struct session s = { .fd = -1 };
		int file;

		if (!session_open(&s))
			endless(&s, &file);
		for (;;)
			pause();
	}
	usleep(3000 * (1 + mine->rounds % 8));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static int close_round(struct session *unused)
{
	struct session s = { .fd = -1 };
	int file = -1, ret, result;

	(void)unused;
	if (mine->rounds & 1) {
		die_busy();
		return 0;
	}
	ret = session_open(&s);
	ret = ret ? ret : endless(&s, &file);
	session_close(&s);
	if (file >= 0) {
		result = fence_result(file);
		if (result != -ECANCELED && !gone(result))
			complain("the fence of a job whose file is closed says %s",
				 strerror(-result));
	}
	return expect(ret, "a file with work in flight");
}

/* ---- reset, unplug, suspend ---- */

/* Now and then by way of PCI: then the device hears nothing of memory for a while. */
static int reset_round(struct session *unused)
{
	glob_t reset;
	int ret = -ENOENT;

	(void)unused;
	if (!glob("/sys/kernel/debug/dri/*/reset", 0, NULL, &reset))
		ret = gt_write_file(reset.gl_pathv[0],
				    mine->rounds % 4 == 3 ? "function" : "device");
	globfree(&reset);
	usleep(30000);
	if (ret && !in_pair[UNPLUG])
		complain("a reset by hand: %s", strerror(-ret));
	return 0;
}

static int driver_write(const char *leaf)
{
	return gt_driver_write(leaf, slot);
}

/* Once the others, from @first on, work again there is something to unplug, or to wake up for. */
static void others_go_on(const unsigned int rounds[3], unsigned int first)
{
	uint64_t until = gt_now_ns() + 3000000000ULL;
	unsigned int i;

	for (i = first; i < 3; i++) {
		while (&shared->of[i] != mine && shared->of[i].rounds == rounds[i] &&
		       !atomic_load(&shared->stop) && gt_now_ns() < until)
			usleep(1000);
	}
}

static int unplug_round(struct session *unused)
{
	unsigned int rounds[3], i;
	int ret;

	(void)unused;
	for (i = 0; i < 3; i++)
		rounds[i] = shared->of[i].rounds;
	ret = driver_write("unbind");
	if (ret)
		complain("unbind: %s", strerror(-ret));
	usleep(5000);
	ret = driver_write("bind");
	if (ret)
		complain("bind: %s", strerror(-ret));
	others_go_on(rounds, 0);
	return 0;
}

/* All devices sleep and wake up, by the kernel's pm_test; then the third process gets its turn. */
static int suspend_round(struct session *unused)
{
	unsigned int rounds[3] = { 0, 0, shared->of[2].rounds };
	int ret;

	(void)unused;
	ret = gt_write_file("/sys/module/suspend/parameters/pm_test_delay", "0");
	ret = ret ? ret : gt_write_file("/sys/power/pm_test", "devices");
	ret = ret ? ret : gt_write_file("/sys/power/state", "mem");
	if (ret)
		complain("sleep: %s", strerror(-ret));
	gt_write_file("/sys/power/pm_test", "none");
	usleep(100000);
	others_go_on(rounds, 2);
	return 0;
}

/* ---- shrink: memory is given away, taken, and asked for again ---- */

static uint64_t word_of(unsigned int bo, unsigned int i)
{
	return 0x5311000000000000ULL + ((uint64_t)bo << 40) + i;
}

static unsigned int wrong_words(const uint64_t *map, unsigned int bo)
{
	unsigned int i, wrong = 0;

	for (i = 0; i < BO_SIZE / 8; i++)
		wrong += map[i] != word_of(bo, i);
	return wrong;
}

static int advise(struct session *s, uint32_t handle, uint32_t madv, uint32_t *retained)
{
	struct drm_tessera_bo_madvise args = { .handle = handle, .madv = madv };
	int ret = gt_ioctl(s->fd, DRM_IOCTL_TESSERA_BO_MADVISE, &args);

	*retained = args.retained;
	return ret;
}

/* The odd ones are not needed for a while. What is there after that is as it was. */
static int shrink_bos(struct session *s, const uint32_t *handle, uint64_t * const *map)
{
	uint32_t retained;
	unsigned int bo, i;
	int ret = 0;

	for (bo = 0; bo < BOS; bo++) {
		for (i = 0; i < BO_SIZE / 8; i++)
			map[bo][i] = word_of(bo, i);
	}
	for (bo = 1; !ret && bo < BOS; bo += 2)
		ret = advise(s, handle[bo], DRM_TESSERA_MADV_DONT_NEED, &retained);
	if (mine->rounds & 1)
		gt_write_file("/proc/sys/vm/drop_caches", "2");
	for (bo = 0; !ret && bo < BOS; bo++) {
		retained = 1;
		if (bo & 1)
			ret = advise(s, handle[bo], DRM_TESSERA_MADV_WILL_NEED, &retained);
		if (!ret && retained && wrong_words(map[bo], bo))
			complain("BO %u says that it was kept, and is not what it was", bo);
	}
	return ret;
}

static int shrink(struct session *s)
{
	uint32_t handle[BOS] = { 0 };
	uint64_t *map[BOS] = { NULL };
	unsigned int bo;
	int ret = 0;

	for (bo = 0; !ret && bo < BOS; bo++)
		ret = mapped_bo(s, BO_SIZE, MAP_VA + bo * GT_HUGE, &handle[bo], &map[bo]);
	ret = ret ? ret : shrink_bos(s, handle, map);
	for (bo = 0; bo < BOS; bo++) {
		if (map[bo])
			munmap(map[bo], BO_SIZE);
		if (handle[bo])
			gt_gem_close(s->fd, handle[bo]);
	}
	return expect(ret, "BO_MADVISE");
}

/* ---- two of them ---- */

static const struct {
	const char *name;
	int (*round)(struct session *s);
	bool session;			/* whether it wants a file of its own */
} actors[ACTORS] = {
	[SUBMIT] = { "submit", submit, true }, [BIND] = { "bind", bind_round, true },
	[CLOSE] = { "close", close_round, false }, [RESET] = { "reset", reset_round, false },
	[UNPLUG] = { "unplug", unplug_round, false }, [SHRINK] = { "shrink", shrink, true },
	[SUSPEND] = { "suspend", suspend_round, false },
};

/* Act until the parent stops the process. When the device is gone, open the next one. */
static void act(enum actor actor)
{
	struct session s = { .fd = -1, .seed = actor + 1 };
	int ret = 0;

	while (!atomic_load(&shared->stop)) {
		if (s.fd < 0 && actors[actor].session) {
			ret = expect(session_open(&s), "a new file");
			if (ret) {
				usleep(2000);
				continue;
			}
		}
		ret = actors[actor].round(&s);
		if (!ret)
			mine->rounds++;
		else if (actors[actor].session) {
			bind_end();
			session_close(&s);
		}
	}
	bind_end();
	session_close(&s);
}

/* Wait for a process that was told to stop; one that does not is killed, if that is possible. */
static void finish(pid_t pid, const char *name)
{
	uint64_t until = gt_now_ns() + PATIENCE_S * 1000000000ULL;
	int status = 0;

	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (gt_now_ns() > until) {
			ktap_fail("%s does not come to its end", name);
			kill(pid, SIGKILL);
			return;
		}
		gt_sleep_ms(5);
	}
	if (status)
		ktap_fail("%s ended with status %#x", name, status);
}

static void device_works(void)
{
	uint64_t until = gt_now_ns() + 10000000000ULL;
	struct session s = { .fd = -1, .seed = 1 };
	char path[64];

	while (!gt_node_path(0, true, path, sizeof(path)) && gt_now_ns() < until)
		gt_sleep_ms(5);
	memset(in_pair, 0, sizeof(in_pair));
	mine = &shared->of[0];
	memset(mine, 0, sizeof(*mine));
	if (!ktap_eq(session_open(&s), 0))
		return;
	ktap_eq(submit(&s), 0);
	ktap_eq(gt_gpu_state(s.fd).flags, 0);
	session_close(&s);
	if (mine->bad)
		ktap_fail("afterwards: %s", mine->text);
}

/* For a while, and until each has done what it does at least twice; a busy host takes its time. */
static void let_them_work(void)
{
	uint64_t start = gt_now_ns(), enough = start + 180000000000ULL;
	uint64_t until = start + (getenv("TSR_QUICK") ? 2000000000ULL : 15000000000ULL);

	while (gt_now_ns() < until ||
	       (gt_now_ns() < enough && (shared->of[0].rounds < 2 || shared->of[1].rounds < 2 ||
					 shared->of[2].rounds < 2)))
		gt_sleep_ms(5);
	atomic_store(&shared->stop, true);
}

static void pair(const void *arg)
{
	const enum actor *two = arg;
	const enum actor who[3] = { two[0], two[1], SUBMIT };
	pid_t pids[3];
	unsigned int i;

	if (two[1] == SUSPEND && access("/sys/power/pm_test", W_OK)) {
		ktap_skip("the kernel has no pm_test");
		return;
	}
	memset(shared, 0, sizeof(*shared));
	memset(in_pair, 0, sizeof(in_pair));
	in_pair[two[0]] = in_pair[two[1]] = true;
	for (i = 0; i < 3; i++) {
		pids[i] = fork();
		if (!pids[i]) {
			mine = &shared->of[i];
			act(who[i]);
			_exit(0);
		}
	}
	let_them_work();
	for (i = 0; i < 3; i++) {
		const struct report *r = &shared->of[i];

		finish(pids[i], actors[who[i]].name);
		ktap_note("%s: %u rounds, %u fences cancelled", actors[who[i]].name, r->rounds,
			  r->lost);
		ktap_ok(r->rounds > 0);
		if (r->bad)
			ktap_fail("%s: %s (and %u more)", actors[who[i]].name, r->text, r->bad - 1);
	}
	device_works();
}

/* Files of processes that were killed are closed a moment later. */
static void driver_unloads(void)
{
	uint64_t until = gt_now_ns() + 5000000000ULL;
	int ret;

	while ((ret = system("rmmod tessera 2>/dev/null")) && gt_now_ns() < until)
		gt_sleep_ms(10);
	ktap_eq(ret, 0);
	ktap_eq(system("modprobe tessera"), 0);
	device_works();
}

int main(int argc, char **argv)
{
	char name[80];
	enum actor two[2];
	bool gentle;

	gt_start(argc, argv);
	gt_pci_slot(slot, sizeof(slot));
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		gt_die("no memory");
	for (two[0] = 0; two[0] < ACTORS; two[0]++) {
		for (two[1] = two[0] + 1; two[1] < ACTORS; two[1]++) {
			gentle = two[0] <= CLOSE && (two[1] <= CLOSE || two[1] == SHRINK);
			snprintf(name, sizeof(name),
				 "[%s] pair-%s-%s: fences come, bytes are right",
				 gentle ? "SYS4" : "SYS7", actors[two[0]].name,
				 actors[two[1]].name);
			ktap_run_arg(name, pair, two);
		}
	}
	ktap_run("[SYS2] after all pairs the driver unloads, and loads", driver_unloads);
	return gt_finish();
}
