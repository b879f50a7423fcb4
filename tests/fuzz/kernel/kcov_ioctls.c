// SPDX-License-Identifier: MIT
/*
 * Fuzz the driver with programs of calls, and keep those that take branches which no program has
 * taken before. Runs in a guest whose kernel has KCOV; fuzz_kernel.py is its other half.
 *
 *   kcov_ioctls DIR N OF SECONDS SEED [blind]   fuzz as guest N of OF, which count from 0
 *   kcov_ioctls --run FILE [OUT.c]              run one program, written as C to OUT.c
 *
 * Guests that run at the same time share DIR. DIR/corpus has programs, of which each guest adds its
 * own and adopts those of others. DIR/N.now is the program that is running, so that it is known if
 * the machine ends with it. A file DIR/stop ends all of them.
 *
 * Status: 0 nothing found, 3 the kernel complained about DIR/N.now (DIR/N.complaint has the line),
 * 4 a program did not end, 5 the device is lost: another guest has one.
 */
#include "gt.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "call.h"
#include "corpus.h"
#include "coverage.h"

#define SLOW_US		100000
#define SHORTEN_US	2000000	/* for a program that is kept */
#define PATIENCE	120	/* seconds that a program may take */
#define ADOPT_EVERY	64	/* programs, then those of other guests are looked at */
#define GUESTS		64

/* State of all workers, in shared memory. */
struct fuzzer {
	struct coverage coverage;
	struct corpus corpus;
	unsigned int saved;		/* programs of this guest in DIR/corpus */
	unsigned int adopted[GUESTS];	/* programs of other guests that have been looked at */
	_Atomic unsigned long ran;
	unsigned long slow;		/* programs that took SLOW_US or more */
	uint64_t us, slow_us;		/* time of all programs, and of those */
};

static struct fuzzer *fuzzer;
static const char *dir;
static unsigned int guest, guests;
static int now = -1, kmsg = -1;

/* ---- Files ----------------------------------------------------------------------------------- */

static char *path_of(const char *leaf)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s", dir, leaf);
	return path;
}

/* The path of a file of this guest. */
static char *path_of_own(const char *leaf)
{
	char own[40];

	snprintf(own, sizeof(own), "%u.%s", guest, leaf);
	return path_of(own);
}

/* Number @n of the programs that guest @g has added. */
static char *path_of_program(unsigned int g, unsigned int n)
{
	char leaf[40];

	snprintf(leaf, sizeof(leaf), "corpus/%02u-%06u", g, n);
	return path_of(leaf);
}

/* The program that runs from now on. Nobody syncs: 9p writes through. */
static void note_program(const struct program *p)
{
	static char text[PROGRAM_CALLS * (2 * CHOICE_BYTES + 24)];
	FILE *to = fmemopen(text, sizeof(text), "w");
	long size;

	program_write(p, to);
	size = ftell(to);
	fclose(to);
	if (ftruncate(now, 0) || pwrite(now, text, size, 0) != size)
		gt_die("%s cannot be written: %s", path_of_own("now"), strerror(errno));
}

/* Add @p to DIR/corpus: whole, since other guests look there all the time. */
static void save(const struct program *p)
{
	char part[512];
	FILE *to;

	snprintf(part, sizeof(part), "%s", path_of_own("part"));
	to = fopen(part, "w");
	if (!to)
		return;
	program_write(p, to);
	if (!fclose(to) && !rename(part, path_of_program(guest, fuzzer->saved)))
		fuzzer->saved++;
}

/* Read the program at @path. Returns false if there is none. */
static bool read_program(const char *path, struct program *p)
{
	char error[200];
	FILE *from = fopen(path, "r");
	bool sound;

	if (!from)
		return false;
	sound = program_read(p, from, error, sizeof(error));
	fclose(from);
	if (!sound)
		gt_die("%s is no program: %s", path, error);
	return true;
}

/* ---- Running --------------------------------------------------------------------------------- */

static void count(uint32_t us)
{
	fuzzer->ran++;
	fuzzer->us += us;
	if (us >= SLOW_US) {
		fuzzer->slow++;
		fuzzer->slow_us += us;
	}
}

/* Run @p. Ends the process if the kernel complains. Returns microseconds. */
static uint32_t try(struct program *p, struct news *news)
{
	const uint64_t start = gt_now_ns();
	char line[600];
	uint32_t us;
	FILE *to;

	note_program(p);
	coverage_start();
	if (!program_run(p, NULL))
		_exit(5);
	coverage_stop(&fuzzer->coverage, news);
	us = (gt_now_ns() - start) / 1000;
	count(us);
	if (!gt_kmsg_bad(kmsg, line, sizeof(line)))
		return us;
	to = fopen(path_of_own("complaint"), "w");
	if (to) {
		fprintf(to, "%s\n", line);
		fclose(to);
	}
	_exit(3);
}

/* Remove the calls of @p that its new branches do not need, then keep it. */
static void keep(struct program *p, struct news *news)
{
	struct corpus *corpus = &fuzzer->corpus;
	uint64_t us = 0;
	uint32_t last;
	struct news again;

	/* what depends on timing is not worth a search */
	try(p, &again);
	news_and(news, &again);
	if (!news->count)
		return;
	for (unsigned int i = p->calls; i-- > 0 && p->calls > 1 && us < SHORTEN_US;) {
		struct program less = *p;

		program_remove(&less, i);
		us += try(&less, &again);
		if (news_within(news, &again))
			*p = less;
	}
	last = try(p, &again);
	coverage_add(&fuzzer->coverage);
	if (corpus->programs == CORPUS_PROGRAMS)
		return;
	corpus->entry[corpus->programs++] = (struct entry){ *p, *news, last };
	save(p);
}

/* Run what other guests have added, and keep what takes branches that are new here. */
static void adopt(void)
{
	struct corpus *corpus = &fuzzer->corpus;

	for (unsigned int g = 0; g < guests; g++) {
		struct program p;
		struct news news;
		uint32_t us;

		while (g != guest && corpus->programs < CORPUS_PROGRAMS &&
		       read_program(path_of_program(g, fuzzer->adopted[g]), &p)) {
			fuzzer->adopted[g]++;
			us = try(&p, &news);
			coverage_add(&fuzzer->coverage);
			if (news.count)
				corpus->entry[corpus->programs++] = (struct entry){ p, news, us };
		}
	}
}

static void fuzz(uint64_t end, uint64_t seed, bool blind)
{
	const struct corpus *corpus = &fuzzer->corpus;
	uint64_t random = seed * 0x9e3779b97f4a7c15ULL + fuzzer->ran;

	for (unsigned int n = 1; gt_now_ns() < end; n++) {
		struct program p;
		struct news news;

		if (!(n % ADOPT_EVERY)) {
			if (!access(path_of("stop"), F_OK))
				return;
			if (!blind)
				adopt();
		}
		if (blind || !corpus->programs || !random_below(&random, 20)) {
			program_random(&p, &random);
		} else {
			p = *corpus_pick(corpus, &fuzzer->coverage, &random);
			program_mutate(&p, corpus_pick(corpus, &fuzzer->coverage, &random), corpus,
				       &random);
		}
		try(&p, &news);
		if (blind)
			coverage_add(&fuzzer->coverage);
		else if (news.count)
			keep(&p, &news);
	}
}

/* ---- Workers --------------------------------------------------------------------------------- */

static void worker(uint64_t end, uint64_t seed, bool blind)
{
	struct corpus *corpus = &fuzzer->corpus;
	const unsigned int begin = fuzzer->coverage.branches ? 0 : corpus->programs;

	if (!coverage_open())
		gt_die("this kernel has no KCOV: VARIANT=kcov");
	/* the corpus first, once */
	for (unsigned int i = 0; i < begin; i++) {
		struct entry *e = &corpus->entry[i];

		e->us = try(&e->program, &e->news);
		coverage_add(&fuzzer->coverage);
	}
	fuzz(end, seed, blind);
	_exit(0);
}

static void say_progress(void)
{
	printf("%lu programs, %u branches, %u kept; %lu slow programs take %u %% of the time\n",
	       fuzzer->ran, fuzzer->coverage.branches, fuzzer->corpus.programs, fuzzer->slow,
	       (unsigned int)(100 * fuzzer->slow_us / (fuzzer->us + 1)));
	fflush(stdout);
}

/* Wait for @pid. Returns its status; 4 if a program takes too long, after saying where it is. */
static int watch(pid_t pid, uint64_t end)
{
	unsigned long ran = ~0ul;
	uint64_t since = gt_now_ns(), told = since;
	int status;

	while (waitpid(pid, &status, WNOHANG) != pid) {
		const uint64_t at = gt_now_ns();

		if (ran != fuzzer->ran) {
			ran = fuzzer->ran;
			since = at;
		}
		if (at - told > 10000000000ULL) {
			say_progress();
			told = at;
		}
		if (at - since > PATIENCE * 1000000000ULL) {
			char path[40], stack[4000];

			snprintf(path, sizeof(path), "/proc/%d/stack", pid);
			if (gt_read_file(path, stack, sizeof(stack)) > 0)
				gt_write_file(path_of_own("complaint"), stack);
			kill(pid, SIGKILL);
			return 4;
		}
		gt_sleep_ms(at < end ? 50 : 200);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 4;
}

/* @name is a file of the corpus. If a guest has written it, the next one has a higher number. */
static void note_known(const char *name)
{
	unsigned int g, n;

	if (sscanf(name, "%2u-%6u", &g, &n) != 2 || g >= GUESTS)
		return;
	if (fuzzer->adopted[g] <= n)
		fuzzer->adopted[g] = n + 1;
}

static void load_corpus(void)
{
	struct dirent **names = NULL;
	struct corpus *corpus = &fuzzer->corpus;
	char leaf[300];
	int n;

	n = scandir(path_of("corpus"), &names, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		if (names[i]->d_name[0] == '.' || corpus->programs == CORPUS_PROGRAMS)
			continue;
		snprintf(leaf, sizeof(leaf), "corpus/%s", names[i]->d_name);
		if (read_program(path_of(leaf), &corpus->entry[corpus->programs].program))
			corpus->programs++;
		note_known(names[i]->d_name);
	}
	fuzzer->saved = fuzzer->adopted[guest];
}

static int run_one(const char *file, const char *out)
{
	struct program p;
	char error[200], line[600];
	FILE *from = fopen(file, "r"), *text = out ? fopen(out, "w") : NULL;

	if (!from || !program_read(&p, from, error, sizeof(error)))
		gt_die("%s: %s", file, from ? error : strerror(errno));
	program_run(&p, text);
	if (text)
		fclose(text);
	gt_sleep_ms(300);	/* work items */
	if (!gt_kmsg_bad(kmsg, line, sizeof(line)))
		return 0;
	printf("%s\n", line);
	return 3;
}

int main(int argc, char **argv)
{
	uint64_t end, seed;
	int status = 0;

	kmsg = gt_kmsg_open();
	if (argc > 2 && !strcmp(argv[1], "--run"))
		return run_one(argv[2], argc > 3 ? argv[3] : NULL);
	guest = argc > 5 ? (unsigned int)strtoul(argv[2], NULL, 0) : 0;
	guests = argc > 5 ? (unsigned int)strtoul(argv[3], NULL, 0) : 0;
	if (guest >= guests || guests > GUESTS) {
		fputs("usage: kcov_ioctls DIR N OF SECONDS SEED [blind] | --run FILE [OUT.c]\n",
		      stderr);
		return 2;
	}
	dir = argv[1];
	end = gt_now_ns() + strtoull(argv[4], NULL, 0) * 1000000000ULL;
	seed = strtoull(argv[5], NULL, 0);
	now = open(path_of_own("now"), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	fuzzer = mmap(NULL, sizeof(*fuzzer), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (now < 0 || fuzzer == MAP_FAILED)
		gt_die("%s: %s", dir, strerror(errno));
	load_corpus();
	while (!status && gt_now_ns() < end && access(path_of("stop"), F_OK)) {
		pid_t pid;

		fflush(stdout);
		pid = fork();
		if (!pid)
			worker(end, seed, argc > 6);
		status = watch(pid, end);
	}
	say_progress();
	return status;
}
