// SPDX-License-Identifier: MIT
/*
 * test: TIMEOUT=400 MEM=1024 DEVICE_ARGS=vram=32M,inject-window=on,heads=1
 * test: KERNEL_ARGS=tessera.job_timeout_ms=1000;tessera.job_limit_ms=60000
 */
/*
 * Faults of every kind, one after the other, while eight processes work. Usage: faults_load
 * [FAULTS [SEED]], by default three of each kind (120 with LONG=1) and 1; which kinds in which
 * order, whom they meet, when and with which delays follows from SEED. `make soak` is this for
 * longer, `make replay` the same in a machine in which the seed decides everything.
 *
 * A fault has a victim, whose jobs may fail the way that kind of fault fails, or none. Whatever
 * another process computes meanwhile is right to the bit, or its fence says that a reset of the
 * device took it away, if there was one. Each fence comes. In the end nothing is lost and
 * the driver unloads.
 */
#include "gt_main.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "faults_load.h"
#include "gt_recover.h"

/* ---- kinds of faults ---- */

static const struct kind {
	const char *name, *script;	/* of the slot, if it has a victim, and a delay in ms */
	bool nobody;			/* no victim */
	bool draws;			/* the victim is the process that draws */
	int error;			/* what the victim's fence says */
	bool must;			/* the fence has that error, or the data is wrong */
	uint32_t excuses;
	const char *rung;		/* how to make it happen */
	unsigned int most_ms;		/* of the delay */
} kinds[] = {
	{ "HANG", "hang queue=%u", .error = -ETIMEDOUT, .must = true },
	{ "SLOW", "slow queue=%u delay=%ums", .most_ms = 300 },
	{ "IRQ_LOST", "irq-lost queue=%u", .error = 0 },
	{ "IRQ_TWICE", "irq-twice queue=%u", .error = 0 },
	{ "IRQ_LATE", "irq-late queue=%u delay=%ums", .most_ms = 300 },
	{ "IRQ_EARLY", "irq-early queue=%u", .error = 0 },
	{ "FENCE_LOST", "fence-lost queue=%u", .error = -ETIMEDOUT },
	/* a late write may follow the fences of later jobs, and reset them */
	{ "FENCE_TORN", "fence-torn queue=%u delay=%ums", .error = -ETIMEDOUT, .most_ms = 50 },
	{ "FENCE_LATE", "fence-late queue=%u delay=%ums", .error = -ETIMEDOUT, .most_ms = 50 },
	{ "MMU_UNMAPPED", "mmu-unmapped queue=%u" DATA, .error = -EFAULT, .must = true },
	{ "MMU_PERMISSION", "mmu-permission queue=%u" DATA, .error = -EFAULT, .must = true },
	{ "MMU_WALK", "mmu-walk queue=%u" DATA, .error = -EFAULT, .must = true },
	{ "MMU_WALK_BUS", "mmu-walk-bus queue=%u" DATA, .error = -EFAULT, .must = true },
	{ "BUS", "bus queue=%u" DATA, .error = -EFAULT, .must = true },
	{ "TLB_STALE", NULL, .excuses = MAY_STALE },
	{ "DOORBELL_LOST", "doorbell-lost queue=%u", .error = -ETIMEDOUT },
	{ "HEAP_OOM", "heap-oom", .draws = true, .error = -ENOSPC, .must = true },
	{ "COPY_CORRUPT", "copy-corrupt queue=%u", .excuses = MAY_CORRUPT, .must = true },
	{ "GONE", "gone", .nobody = true, .excuses = MAY_CANCEL },
	{ "FLR_IGNORED", "flr-ignored; gone", .nobody = true, .excuses = MAY_CANCEL | MAY_WEDGE },
	{ "RESET_STUCK", "reset-stuck delay=%ums", .nobody = true, .excuses = MAY_CANCEL,
	  .rung = "device", .most_ms = 400 },
	{ "STOP_STUCK", "hang queue=%1$u; stop-stuck queue=%1$u", .error = -ETIMEDOUT,
	  .must = true, .excuses = MAY_CANCEL },
};

#define KINDS GT_ARRAY_SIZE(kinds)

/* ---- processes ---- */

static pid_t pids[WORKERS];

static void start_workers(void)
{
	load->stop = 0;
	fflush(stdout);
	for (unsigned int w = 0; w < WORKERS; w++) {
		load->worker[w].epoch = 0;
		pids[w] = fork();
		if (!pids[w])
			_exit(w == DRAWER ? draw_worker(w) : copy_worker(w));
	}
}

static void stop_workers(void)
{
	load->stop = 1;
	for (unsigned int w = 0; w < WORKERS; w++) {
		int status = -1;

		if (!pids[w])
			continue;
		waitpid(pids[w], &status, 0);
		ktap_eq(status, 0);
	}
}

static bool all_have(bool (*what)(const struct worker *worker))
{
	for (unsigned int w = 0; w < WORKERS; w++) {
		if (!what(&load->worker[w]))
			return false;
	}
	return true;
}

static bool came_round(const struct worker *worker)
{
	return worker->epoch == load->epoch;
}

/* True if one of the processes has ended that ought to work: a failure. */
static bool one_has_ended(void)
{
	pid_t pid = waitpid(-1, NULL, WNOHANG);

	for (unsigned int w = 0; w < WORKERS; w++) {
		if (pid > 0 && pids[w] == pid) {
			pids[w] = 0;
			ktap_fail("process %u has ended", w);
			return true;
		}
	}
	return false;
}

static uint64_t now_ms(void)
{
	return gt_now_ns() / 1000000;
}

/* For who wants to know what a process waits for. */
static void tell_of(unsigned int w)
{
	char queues[300], command[600];

	ktap_note("process %u waits in round %u: %s", w, load->worker[w].rounds,
		  load->worker[w].wrong ? load->worker[w].text : "nothing was wrong");
	gt_debugfs("queues", queues, sizeof(queues));
	snprintf(command, sizeof(command), "sed 's/^/# /' /proc/%d/syscall /proc/%d/stack %s",
		 pids[w], pids[w], queues);
	fflush(stdout);
	ktap_eq(system(command), 0);
}

/* Wait until @what holds for all; a process that has ended, or one that is @late, ends it. */
static bool wait_for(bool (*what)(const struct worker *worker), const char *late)
{
	uint64_t limit = now_ms() + FENCE_LIMIT_MS;

	while (now_ms() < limit) {
		if (all_have(what))
			return true;
		if (one_has_ended())
			return false;
		gt_sleep_ms(5);
	}
	for (unsigned int w = 0; w < WORKERS; w++) {
		if (!what(&load->worker[w]))
			tell_of(w);
	}
	return ktap_fail("%s", late);
}

/* Everybody begins and ends a round from here on. */
static bool once_round(void)
{
	load->epoch++;
	return wait_for(came_round, "a fence is lost");
}

static bool victim_knows(const struct worker *worker)
{
	return worker != &load->worker[load->victim] || worker->own != load->victim_own;
}

static bool has_remapped(const struct worker *worker)
{
	return worker != &load->worker[load->victim] || !load->remap;
}

/* ---- one fault ---- */

/* The device is there and does not say that all its counters are all ones. */
static bool answers(void)
{
	return gt_fired("GONE") != UINT32_MAX;
}

/* Nobody is left who has not heard that the device is given up; a reset, and the driver again. */
static void bring_back(void)
{
	char path[300], slot[64];

	gt_pci_slot(slot, sizeof(slot));
	gt_sysfs(0, "reset", path, sizeof(path));
	ktap_eq(gt_driver_write("unbind", slot), 0);
	ktap_eq(gt_write_file(path, "1"), 0);
	ktap_eq(gt_driver_write("bind", slot), 0);
	for (int i = 0; i < 2000 && !gt_node_path(0, true, path, sizeof(path)); i++)
		gt_sleep_ms(5);
	load->binds++;
}

static bool has_closed(const struct worker *worker)
{
	return worker->closed > load->binds;
}

/* Wait until what @kind does to the device as a whole is over. */
static bool whole_device(const struct kind *kind)
{
	uint64_t limit = now_ms() + FENCE_LIMIT_MS;

	if (kind->excuses & MAY_WEDGE) {
		if (!wait_for(has_closed, "the device is not given up"))
			return false;
		bring_back();
		return true;
	}
	while (!answers() && now_ms() < limit)
		gt_sleep_ms(5);
	return ktap_ok(answers());
}

/* @w remaps, and its round with what that has left standing is over. */
static bool remaps(unsigned int w, bool stale)
{
	load->stale = stale;
	load->remap = w + 1;
	return wait_for(has_remapped, "the victim does not remap") && once_round();
}

/* A translation stays that ought to go, until @w remaps once more: then nothing is excused. */
static bool stale_tlb(unsigned int w)
{
	return remaps(w, true) && remaps(w, false);
}

/* Inject @kind; false if the run cannot go on. */
static bool one_fault(const struct kind *kind)
{
	unsigned int w = kind->draws ? DRAWER : load_random(&load->seed) % DRAWER;
	unsigned int delay = kind->most_ms ? load_random(&load->seed) % kind->most_ms + 1 : 0;
	const struct worker *victim = &load->worker[w];
	unsigned int before = kind->nobody ? 0 : gt_fired(kind->name);
	char script[200];

	gt_sleep_ms(load_random(&load->seed) % 20);
	load->victim = kind->nobody ? WORKERS : w;
	load->victim_own = victim->own;
	load->error = kind->error;
	load->excuses = kind->excuses;
	if (!kind->script)
		return stale_tlb(w) && ktap_ok(gt_fired(kind->name) > before);
	snprintf(script, sizeof(script), kind->script, kind->nobody ? delay : victim->slot,
		 delay);
	ktap_eq(gt_inject(script), 0);
	if (kind->rung)
		ktap_eq(climb(kind->rung), 0);
	if (kind->must && !wait_for(victim_knows, "the victim notices nothing"))
		return false;
	if (kind->nobody && !whole_device(kind))
		return false;
	for (uint64_t limit = now_ms() + FENCE_LIMIT_MS;
	     !kind->nobody && gt_fired(kind->name) == before; gt_sleep_ms(2)) {
		if (now_ms() > limit)
			return ktap_fail("the fault does not happen");
	}
	if (!once_round())
		return false;
	ktap_eq(gt_inject("clear"), 0);
	return once_round();
}

/* Report the first error of each worker once. Returns true if there is none. */
static bool innocent(void)
{
	bool good = true;

	for (unsigned int w = 0; w < WORKERS; w++) {
		struct worker *worker = &load->worker[w];

		if (!worker->wrong)
			continue;
		ktap_note("process %u: %s", w, worker->text);	/* the kind's result fails */
		worker->wrong = 0;
		good = false;
	}
	return good;
}

/* ---- the run ---- */

static unsigned int faults, count[KINDS], bad[KINDS];
static bool over;

/* The kinds in an order of the seed's; each as often as any other, but for one. */
static void shuffle(unsigned int *order)
{
	for (unsigned int i = 0; i < KINDS; i++)
		order[i] = i;
	for (unsigned int i = KINDS - 1; i; i--) {
		unsigned int j = load_random(&load->seed) % (i + 1), swap = order[i];

		order[i] = order[j];
		order[j] = swap;
	}
}

static void run_faults(unsigned int first, unsigned int last)
{
	static unsigned int order[KINDS];

	start_workers();
	over = !once_round();
	for (unsigned int i = first; i < last && !over; i++) {
		const struct kind *kind;
		uint64_t start = gt_now_ns();
		bool good;

		if (i % KINDS == 0)
			shuffle(order);
		kind = &kinds[order[i % KINDS]];
		over = !one_fault(kind);
		good = innocent() && !over;
		count[order[i % KINDS]]++;
		bad[order[i % KINDS]] += !good;
		if (!good || getenv("TSR_VERBOSE") || getenv("TSR_SLOW"))
			printf("# fault %u: %s, process %u, %llu ms%s\n", i, kind->name,
			       load->victim,
			       (unsigned long long)(gt_now_ns() - start) / 1000000,
			       good ? "" : ": not as it should be");
	}
	stop_workers();
	fflush(stdout);
}

#define KMEMLEAK "/sys/kernel/debug/kmemleak"

/*
 * KiB that may be missing after @count faults. A debug kernel records allocations and keeps freed
 * memory for a while. There kmemleak reports leaks in the end.
 */
static long allowed(unsigned int count)
{
	return 400 + count * 2 + (access(KMEMLEAK, W_OK) ? 0 : 8192);
}

/* Kernel memory that is not given back, KiB. */
static long unreclaimable(void)
{
	static const char *const fields[] = { "SUnreclaim:", "PageTables:", "Shmem:" };
	static char text[8192];
	long sum = 0;

	gt_sleep_ms(300);	/* frees behind RCU grace periods */
	gt_read_file("/proc/meminfo", text, sizeof(text));
	for (unsigned int i = 0; i < GT_ARRAY_SIZE(fields); i++) {
		char *at = strstr(text, fields[i]);

		sum += at ? strtol(at + strlen(fields[i]), NULL, 10) : 0;
	}
	return sum;
}

/* Leaks that kmemleak has found, in a debug kernel. */
static void ask_kmemleak(void)
{
	static char text[4000];

	if (access(KMEMLEAK, W_OK))
		return;
	gt_write_file(KMEMLEAK, "scan");
	gt_sleep_ms(6000);	/* younger objects are not reported */
	gt_write_file(KMEMLEAK, "scan");
	gt_read_file(KMEMLEAK, text, sizeof(text));
	if (text[0])
		ktap_fail("kmemleak: %s", text);
}

static void results(void)
{
	unsigned int least = faults;
	char name[120];

	for (unsigned int i = 0; i < KINDS; i++) {
		snprintf(name, sizeof(name), "[SYS9] %s under load: innocents are right to the bit",
			 kinds[i].name);
		ktap_eq(bad[i], 0);
		if (count[i] < least)
			least = count[i];
		ktap_result(name);
	}
	ktap_ok(least >= faults / KINDS);
	ktap_ok(!over);
	ktap_result("[SYS7] no fence is lost");
}

int main(int argc, char **argv)
{
	unsigned int first = KINDS, seed = 1;
	long before, after;

	gt_start(1, argv);
	faults = getenv("TSR_SLOW") || getenv("TSR_QUICK") ? 3 * KINDS : 120;
	if (argc > 1)
		faults = strtoul(argv[1], NULL, 10);
	if (argc > 2)
		seed = strtoul(argv[2], NULL, 10);
	load = mmap(NULL, sizeof(*load), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	load->seed = seed;
	printf("# FAULTS=%u SEED=%u\n", faults, seed);
	if (first > faults)
		first = faults;
	run_faults(0, first);	/* also fills caches that are kept for good */
	before = unreclaimable();
	if (!over)
		run_faults(first, faults);
	after = unreclaimable();
	results();
	if (!ktap_ok(after - before < allowed(faults - first)))
		ktap_note("%ld KiB before, %ld KiB after", before, after);
	ktap_result("[SYS2] faults cost no memory for good");
	ktap_eq(system("n=0; while ! rmmod tessera; do n=$((n + 1)); [ $n -lt 50 ] || exit 1;"
		       " usleep 100000; done 2>/dev/null"), 0);
	ask_kmemleak();
	ktap_eq(system("modprobe tessera"), 0);
	ktap_result("[SYS2] the driver unloads, and has lost nothing");
	return gt_finish();
}
