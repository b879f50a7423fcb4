// SPDX-License-Identifier: MIT
/*
 * test: TIMEOUT=400 SMP=2 MEM=1024 DEVICE_ARGS=vram=64M,inject-window=on CONSOLE=1
 * test: KERNEL_ARGS=tessera.job_timeout_ms=2000;tessera.job_limit_ms=60000
 */
/*
 * Four processes whose textures, targets and buffers are LOCAL and want more than there is: levels
 * of textures, a target that becomes a texture, dispatches that depend on each other by memory, and
 * atomics. Each works through fixed steps and sums up all bits. The sums are those of the same work
 * in system memory, in spite of evictions, resets, faults, sleep and unplug.
 *
 *	evict_many sums [FILE]	print the sums of the work in LOCAL memory, create FILE when half
 *				of it is done
 *
 * scripts/evict_same.py compares these on machines with more and with less local memory.
 */
#include "gt_main.h"
#include "gfxdraw.h"
#include <tessera/compute.h>

#include <ctype.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB		0x100000ULL
#define PROCESSES	4u
#define TEXTURES	4u
#define SIDE		1024u		/* of a texture, 5.3 MiB with its levels */
#define LEVELS		4u
#define TARGET		128u		/* side of a target */
#define THREADS		(16u * 1024)
#define STEPS		20u
#define FAIR_STEPS	(PROCESSES * STEPS)	/* of all of them, before they are compared */
#define FAIR_MS		3000
#define LOST_MOST	100u		/* times a process makes steps again */
#define GONE		3		/* status of a process whose device was removed */

struct shared {
	volatile uint32_t steps[PROCESSES], lost[PROCESSES];
	volatile bool faults;		/* a step may end with any error, and is made again */
	volatile bool more;		/* go on after the last step, whose sum counts */
	_Atomic uint32_t opened;	/* processes that can begin */
	volatile bool ended;		/* one of them has ended */
	volatile uint64_t sum[PROCESSES];
};

static struct shared *all;

/* ---- what a process does ---- */

struct work {
	struct gfxt t;
	struct tsr_pool *memory;	/* LOCAL, as the images */
	struct tsr_queue *queue;	/* COMPUTE */
	struct tsr_stream *stream;
	struct tsr_sync *sync;
	struct tsr_gfx_pipeline *pipeline;
	struct tsr_shader *fetch, *multiply, *count;
	struct tsr_image *texture[TEXTURES], *target[2];
	struct tsr_alloc numbers, counter;
	uint32_t seed;
};

static struct tsr_shader *fetching;

__attribute__((noreturn))
static void leave(int status)
{
	all->ended = true;
	_exit(status);
}

/* A device that is gone is the end of a process; other errors are those of a reset. */
static void check(const char *what, int ret)
{
	if (ret == -ENODEV)
		leave(GONE);
	if (!ret)
		return;
	fprintf(stderr, "# %s: %d: %s\n", what, ret, tsr_error_message());
	leave(1);
}

static void change(struct tsr_gfx_pipeline_info *info, struct tsr_gfx_blend *blend)
{
	blend->registers = TSR_REGISTER_TYPE_U32;
	info->fragment = fetching;
}

/* Each pixel is the texel of its place, of the level in the first push constant. */
static void make_pipeline(struct work *w)
{
	char text[GFX_FETCH_TEXT];

	gfxt_fetch_text(text);
	check("assemble", tsr_shader_assemble(w->t.code, text, strlen(text), "fetch", &fetching));
	w->fetch = fetching;
	check("pipeline", gfxt_pipeline_try(&w->t, change, &w->pipeline));
}

/* The address of element r60 of the buffer at u2, into t0 and t1. */
#define ELEMENT \
	"\t*SHADDXL.u32 t0, u2.w0, r60, shift:2\n" \
	"\t+SHADDXH.i32 t1, u2.w1, t\n"

/* r0 = r0 * 3 + thread for each number; one more for each thread. */
static void make_programs(struct work *w)
{
	static const char multiply[] =
		".local 64, 1, 1\n"
		"clause slot=0 wait=0 {\n" ELEMENT "\t+LOAD.i32 t0, t1, @r0\n}\n"
		"clause slot=0 end {\n\t*IMUL.i32 t0, r0, 3\n\t+IADD.u32 r0, t, r60\n" ELEMENT
		"\t+STORE.i32 t0, t1, @r0\n}\n";
	static const char count[] =
		".local 64, 1, 1\n"
		"clause slot=0 end {\n\t*MOV.i32 t0, u2.w0\n\t+MOV.i32 t1, u2.w1\n"
		"\t*ATOM_C1.i32.ainc t0, t1\n\t+ATOM_CX t0, t1, zero.w0, @r0\n}\n";

	check("assemble", tsr_shader_assemble(w->t.code, multiply, sizeof(multiply) - 1,
					      "multiply", &w->multiply));
	check("assemble", tsr_shader_assemble(w->t.code, count, sizeof(count) - 1, "count",
					      &w->count));
}

static void new_queues(struct work *w)
{
	tsr_gfx_unref(w->t.gfx);
	tsr_queue_unref(w->queue);
	w->t.gfx = NULL;
	w->queue = NULL;
	check("gfx", tsr_gfx_create(w->t.vm, &w->t.gfx));
	check("queue", tsr_queue_create(w->t.vm, DRM_TESSERA_ENGINE_COMPUTE,
					DRM_TESSERA_PRIORITY_NORMAL, 0, &w->queue));
}

static void make_image(struct work *w, uint32_t side, uint32_t levels, uint32_t flags,
		       struct tsr_image **image)
{
	const struct tsr_image_info info = {
		.format = TSR_PIXEL_FORMAT_R32UI, .width = side, .height = side, .levels = levels,
		.bo_flags = flags,
	};

	check("image", tsr_image_create(w->t.vm, &info, sizeof(info), image));
}

/* The first word of a level, linear and without gaps. */
static uint32_t *level_words(struct tsr_image *image, uint32_t level, uint32_t *count)
{
	struct tsr_surface surface;
	void *cpu;

	check("surface", tsr_image_get_surface(image, level, 0, 0, &surface, &cpu));
	*count = surface.width * surface.height;
	return cpu;
}

static void fill_texture(struct work *w, struct tsr_image *image, uint32_t number)
{
	for (uint32_t level = 0; level < LEVELS; level++) {
		uint32_t count, *words = level_words(image, level, &count);

		for (uint32_t i = 0; i < count; i++)
			words[i] = (w->seed * 31 + number * 7 + level + i) * 2654435761u;
	}
}

static void open_work(struct work *w, uint32_t seed, uint32_t flags)
{
	const uint32_t image_flags = flags ? flags : DRM_TESSERA_BO_CACHED;

	memset(w, 0, sizeof(*w));
	w->seed = seed;
	gfxt_open(&w->t);
	if (!w->t.color)
		leave(GONE);
	check("pool", tsr_pool_create(w->t.vm, 0, flags, GFXT_RW, &w->memory));
	check("stream", tsr_stream_create(w->t.code, 0, &w->stream));
	check("sync", tsr_sync_create(w->t.device, 0, &w->sync));
	new_queues(w);
	make_pipeline(w);
	make_programs(w);
	for (uint32_t i = 0; i < TEXTURES; i++) {
		make_image(w, SIDE, LEVELS, image_flags, &w->texture[i]);
		fill_texture(w, w->texture[i], i);
	}
	make_image(w, TARGET, 1, image_flags, &w->target[0]);
	make_image(w, TARGET, 1, image_flags, &w->target[1]);
	check("numbers", tsr_pool_alloc(w->memory, THREADS * 4, 64, &w->numbers));
	check("counter", tsr_pool_alloc(w->memory, 64, 64, &w->counter));
}

static int draw(struct work *w, struct tsr_image *from, uint32_t level, struct tsr_image *to)
{
	static const float black[4], white[4] = { 1, 1, 1, 1 };
	const uint32_t push[4] = { level << 8 };
	const struct tsr_view view = { .image = from };
	const struct tsr_gfx_bindings_info bindings = { .textures = &view, .texture_count = 1 };
	struct tsr_gfx_pass_info info = {
		.color[0] = { .image = to, .load = TSR_GFX_LOAD_CLEAR },
	};
	struct gfxt_vertex v[3];
	struct tsr_alloc vertices;
	struct tsr_gfx_pass *pass;
	int ret;

	gfxt_cover(v, 0, white);
	memcpy(info.color[0].clear.f, black, sizeof(black));
	check("vertices", tsr_pool_alloc(w->t.data, sizeof(v), 64, &vertices));
	memcpy(vertices.cpu, v, sizeof(v));
	ret = tsr_gfx_pass_create(w->t.gfx, &info, sizeof(info), &pass);
	check("pass", ret);
	ret = tsr_gfx_set_bindings(pass, TSR_GFX_STAGE_FRAGMENT, &bindings, sizeof(bindings));
	ret = ret ?: tsr_gfx_set_push(pass, TSR_GFX_STAGE_FRAGMENT, 0, 4, push);
	ret = ret ?: tsr_gfx_set_pipeline(pass, w->pipeline);
	ret = ret ?: tsr_gfx_set_vertices(pass, 0, vertices.va, sizeof(v));
	ret = ret ?: tsr_gfx_draw(pass, &(struct tsr_gfx_draw){ .count = 3 });
	ret = ret ?: tsr_gfx_run(pass, TSR_DEADLINE_NEVER);
	tsr_gfx_pass_destroy(pass);
	tsr_pool_free(w->t.data, &vertices);
	return ret;
}

static int dispatch(struct work *w, struct tsr_shader *shader, const struct tsr_alloc *data)
{
	const struct tsr_storage storage = {
		data->va, data->size, TSR_SHADER_READ | TSR_SHADER_WRITE, 4,
	};
	const struct tsr_dispatch_info d = {
		.shader = shader, .groups = { THREADS / 64, 1, 1 }, .storage = &storage,
		.storage_count = 1,
	};
	int ret = tsr_cmd_dispatch(w->stream, &d, sizeof(d));

	ret = ret ?: tsr_queue_run(w->queue, w->stream, w->sync, 0);
	ret = ret ?: tsr_sync_finish(w->sync, 0, TSR_DEADLINE_NEVER);
	tsr_stream_reset(w->stream);
	return ret;
}

/* One step, which can be made again when a job of it was lost. */
static int try_step(struct work *w, uint32_t step, uint64_t *sum)
{
	uint32_t *numbers = w->numbers.cpu, count, *words;
	int ret;

	for (uint32_t i = 0; i < THREADS; i++)
		numbers[i] = w->seed + step + i;
	*(uint32_t *)w->counter.cpu = 0;
	ret = dispatch(w, w->multiply, &w->numbers);
	ret = ret ?: dispatch(w, w->multiply, &w->numbers);
	ret = ret ?: dispatch(w, w->count, &w->counter);
	ret = ret ?: draw(w, w->texture[step % TEXTURES], step / TEXTURES % LEVELS, w->target[0]);
	ret = ret ?: draw(w, w->target[0], 0, w->target[1]);
	if (ret)
		return ret;
	*sum = *sum * 31 + *(uint32_t *)w->counter.cpu;
	for (uint32_t i = 0; i < THREADS; i += 5)
		*sum = *sum * 31 + numbers[i];
	words = level_words(w->target[1], 0, &count);
	for (uint32_t i = 0; i < count; i += 3)
		*sum = *sum * 31 + words[i];
	return 0;
}

/* The next time that a texture is read, some of its texels are others. */
static void change_texture(struct work *w, uint32_t step)
{
	uint32_t count, *from = level_words(w->target[1], 0, &count);
	uint32_t all_texels, *to = level_words(w->texture[(step + 1) % TEXTURES], 0, &all_texels);

	for (uint32_t i = step % 8; i < count; i += 8)
		to[i * 2] ^= from[i] + step;
}

/* @sum and the texels of the textures. */
static uint64_t sum_textures(struct work *w, uint64_t sum)
{
	for (uint32_t i = 0; i < TEXTURES; i++) {
		for (uint32_t level = 0; level < LEVELS; level++) {
			uint32_t count, *words = level_words(w->texture[i], level, &count);

			for (uint32_t n = 0; n < count; n += 7)
				sum = sum * 31 + words[n];
		}
	}
	return sum;
}

static void run_work(uint32_t me, uint32_t flags, uint32_t steps)
{
	struct work w;
	uint64_t sum = me;

	open_work(&w, me + 1, flags);
	/* all begin together, so that their steps can be compared */
	all->opened++;
	while (all->opened < PROCESSES && !all->ended)
		gt_sleep_ms(1);
	for (uint32_t step = 0; step < steps || all->more; step++) {
		uint64_t before = sum;
		int ret;

		while ((ret = try_step(&w, step, &sum))) {
			if (ret == -ENODEV || (ret != -ECANCELED && !all->faults) ||
			    ++all->lost[me] > LOST_MOST)
				check("a step", ret);
			sum = before;
			new_queues(&w);
		}
		change_texture(&w, step);
		if (step + 1 == steps)
			all->sum[me] = sum_textures(&w, sum);
		all->steps[me] = step + 1;
	}
	leave(ktap.bad ? 1 : 0);
}

/* ---- several of them ---- */

static pid_t pids[PROCESSES];

static void start(uint32_t flags, uint32_t steps)
{
	memset((void *)all, 0, sizeof(*all));
	fflush(stdout);
	for (uint32_t i = 0; i < PROCESSES; i++) {
		pids[i] = fork();
		if (!pids[i])
			run_work(i, flags, steps);
	}
}

/* Return: true while all of them work. */
static bool working(void)
{
	for (uint32_t i = 0; i < PROCESSES; i++) {
		siginfo_t info = { 0 };

		if (waitid(P_PID, pids[i], &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid)
			return false;
	}
	return true;
}

static void finish(int want)
{
	for (uint32_t i = 0; i < PROCESSES; i++) {
		int status = -1;

		ktap_eq(waitpid(pids[i], &status, 0), pids[i]);
		ktap_eq(WIFEXITED(status) ? WEXITSTATUS(status) : -1, want);
	}
}

static uint64_t oracle[PROCESSES];

static void expect_sums(void)
{
	for (uint32_t i = 0; i < PROCESSES; i++)
		ktap_eq(all->sum[i], oracle[i]);
}

static uint32_t all_steps(uint32_t *least)
{
	uint32_t sum = 0;

	*least = UINT32_MAX;
	for (uint32_t i = 0; i < PROCESSES; i++) {
		const uint32_t steps = all->steps[i];

		sum += steps;
		*least = steps < *least ? steps : *least;
	}
	return sum;
}

/* All of them go on until there is something to compare: nobody starves. */
static void expect_fair(void)
{
	uint32_t sum, least;
	int ms = 0;

	while (working() && all->opened < PROCESSES)
		gt_sleep_ms(5);
	for (; working() && (all_steps(&least) < FAIR_STEPS || ms < FAIR_MS); ms += 5)
		gt_sleep_ms(5);
	sum = all_steps(&least);
	all->more = false;
	ktap_ok(least * PROCESSES * 4 >= sum);
	ktap_note("%u steps, the slowest process %u", sum, least);
}

static void note_moves(const struct drm_tessera_gpu_state *before)
{
	int fd = gt_open();
	struct drm_tessera_gpu_state after = gt_gpu_state(fd);

	close(fd);
	ktap_ok(after.evictions > before->evictions);
	ktap_note("%llu evictions, %llu restores",
		  (unsigned long long)(after.evictions - before->evictions),
		  (unsigned long long)(after.restores - before->restores));
}

static struct drm_tessera_gpu_state state(void)
{
	int fd = gt_open();
	struct drm_tessera_gpu_state now = gt_gpu_state(fd);

	close(fd);
	return now;
}

static void evict(void)
{
	char path[128];

	gt_debugfs("evict", path, sizeof(path));
	gt_write_file(path, "16777216");
}

static void in_system_memory(void)
{
	start(0, STEPS);
	finish(0);
	for (uint32_t i = 0; i < PROCESSES; i++) {
		oracle[i] = all->sum[i];
		ktap_ok(oracle[i] && (!i || oracle[i] != oracle[i - 1]));
	}
}

static void undisturbed(void)
{
	struct drm_tessera_gpu_state before = state();

	start(DRM_TESSERA_BO_LOCAL, STEPS);
	all->more = true;
	expect_fair();
	finish(0);
	expect_sums();
	note_moves(&before);
}

/* Somebody evicts all the time. */
static void thrown_about(void)
{
	struct drm_tessera_gpu_state before = state();

	start(DRM_TESSERA_BO_LOCAL, STEPS);
	while (working()) {
		evict();
		gt_sleep_ms(20);
	}
	finish(0);
	expect_sums();
	note_moves(&before);
}

static void with_resets(void)
{
	static const char * const steps[] = { "device", "device", "function" };
	uint32_t lost = 0, resets = 0;
	char path[128];

	gt_debugfs("reset", path, sizeof(path));
	start(DRM_TESSERA_BO_LOCAL, STEPS);
	for (; working() && resets < 30; resets++) {
		gt_write_file(path, steps[resets % 3]);
		evict();
		gt_sleep_ms(40);
	}
	finish(0);
	expect_sums();
	for (uint32_t i = 0; i < PROCESSES; i++)
		lost += all->lost[i];
	ktap_note("%u resets, %u steps made again", resets, lost);
}

/* debugfs writes the name of a fault in capitals. */
static uint32_t fired_so_far(const char *fault)
{
	char kind[32] = "";

	for (size_t i = 0; fault[i] && i < sizeof(kind) - 1; i++)
		kind[i] = fault[i] == '-' ? '_' : toupper(fault[i]);
	return gt_fired(kind);
}

/* Arm a fault until a job meets it, which takes as long as the host is busy. */
static void fire(const char *fault)
{
	const uint32_t before = fired_so_far(fault);

	ktap_eq(gt_inject(fault), 0);
	for (int ms = 0; ms < 3000 && working() && fired_so_far(fault) == before; ms += 20) {
		evict();
		gt_sleep_ms(20);
	}
	gt_inject("clear");
}

/* The device does jobs wrong, and says so or not. */
static void with_faults(void)
{
	static const char * const faults[] = {
		"hang", "mmu-unmapped", "irq-lost", "bus", "doorbell-lost", "mmu-permission",
		"irq-late", "stop-stuck",
	};
	uint32_t lost = 0, n = 0, fired = 0;

	/* on a quick host the work may be over before enough of it met a fault */
	for (int round = 0; round < 5 && fired <= 2; round++) {
		start(DRM_TESSERA_BO_LOCAL, STEPS);
		all->faults = true;
		for (; working() && n < 2 * GT_ARRAY_SIZE(faults); n++)
			fire(faults[n % GT_ARRAY_SIZE(faults)]);
		fired = 0;
		for (uint32_t i = 0; i < GT_ARRAY_SIZE(faults); i++)
			fired += fired_so_far(faults[i]);
		finish(0);
		expect_sums();
		for (uint32_t i = 0; i < PROCESSES; i++)
			lost += all->lost[i];
	}
	ktap_ok(fired > 2);
	ktap_note("%u faults, %u steps made again", fired, lost);
}

static void with_sleep(void)
{
	unsigned int slept = 0;

	if (access("/sys/power/pm_test", W_OK)) {
		ktap_skip("the kernel has no pm_test");
		return;
	}
	gt_write_file("/sys/module/suspend/parameters/pm_test_delay", "1");
	ktap_eq(gt_write_file("/sys/power/pm_test", "devices"), 0);
	start(DRM_TESSERA_BO_LOCAL, STEPS);
	while (working() && slept < 2) {
		gt_sleep_ms(300);
		slept += !gt_write_file("/sys/power/state", "mem");
	}
	finish(0);
	ktap_eq(gt_write_file("/sys/power/pm_test", "none"), 0);
	ktap_ok(slept > 0);
	expect_sums();
}

/* The device is removed while BOs move: processes learn of it, and a new device works as before. */
static void unplugged(void)
{
	char path[128], node[64];

	gt_sysfs(0, "remove", path, sizeof(path));
	start(DRM_TESSERA_BO_LOCAL, 10000);
	while (working() && (!all->steps[0] || !all->steps[PROCESSES - 1]))
		gt_sleep_ms(10);
	evict();
	ktap_eq(gt_write_file(path, "1"), 0);
	finish(GONE);
	ktap_eq(gt_write_file("/sys/bus/pci/rescan", "1"), 0);
	for (unsigned int i = 0; i < 500 && !gt_node_path(0, true, node, sizeof(node)); i++)
		gt_sleep_ms(20);
	ktap_eq(state().local_used, 0);
	start(DRM_TESSERA_BO_LOCAL, STEPS);
	finish(0);
	expect_sums();
}

/* ---- for the script ---- */

static int print_sums(const char *file)
{
	start(DRM_TESSERA_BO_LOCAL, STEPS);
	while (file && working()) {
		if (all->steps[0] > 2 && all->steps[PROCESSES - 1] > 2)
			break;
		gt_sleep_ms(5);
	}
	if (file)
		close(open(file, O_CREAT | O_WRONLY, 0600));
	finish(0);
	for (uint32_t i = 0; i < PROCESSES; i++)
		printf("sum %u %016llx\n", i, (unsigned long long)all->sum[i]);
	printf("evictions %llu\n", (unsigned long long)state().evictions);
	return ktap.bad ? 1 : 0;
}

int main(int argc, char **argv)
{
	all = mmap(NULL, sizeof(*all), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (argc > 1 && !strcmp(argv[1], "sums"))
		return print_sums(argv[2]);
	gt_start(argc, argv);
	ktap_run("[MEM7] the work of four processes in system memory", in_system_memory);
	ktap_run("[MEM7] in too little local memory, with the same sums and no starvation",
		 undisturbed);
	ktap_run("[MEM7] with evictions all the time", thrown_about);
	ktap_run("[MEM7] with resets of the device and its function", with_resets);
	ktap_run("[MEM7] with faults of the device", with_faults);
	ktap_run("[MEM7] with sleep", with_sleep);
	ktap_run("[MEM7] the device is removed and comes back", unplugged);
	return gt_finish();
}
