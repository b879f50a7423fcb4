// SPDX-License-Identifier: MIT
/*
 * The driver of a fuzz target when libFuzzer is not there: mutates inputs for a time budget and
 * calls LLVMFuzzerTestOneInput() with each. A crash, a sanitizer's complaint or a call of more than
 * CALL_LIMIT seconds ends the program; the input is then in the file the last line names, and
 * `PROGRAM FILE ...` runs it again, behind others where it takes them to see the trouble.
 *
 * TSR_FUZZ_SECONDS  how long (default 5)
 * TSR_FUZZ_SEED     seed of the random numbers (default: from the clock; it is printed)
 * TSR_FUZZ_CORPUS   directory of inputs to start from (tests/fuzz/corpus/NAME by default)
 * TSR_BENCH_MEMORY  layout of guest memory: pages (default here), huge or whole, see bench.h
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "ktap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/* A target may have something to prepare, for which no limit of time holds. */
__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv);
/* A target may count something, and print it here as KTAP notes. */
__attribute__((weak)) void fuzz_summary(void);
/* A target may prove rows of the ledger: "[ID] [ID] ". */
__attribute__((weak)) extern const char fuzz_proves[];

#define INPUT_MAX 4096		/* bytes of one input */
#define MAX_POOL 256		/* inputs kept to start from */
#define CALL_LIMIT 10		/* seconds of the processor one call may take */

/* One input. */
struct input {
	size_t size;
	uint8_t data[INPUT_MAX];
};

/* State of the fuzzer. @current is shared memory in a file, which outlives a crash. */
struct fuzzer {
	uint64_t random;	/* xorshift state, never 0 */
	unsigned int used;	/* inputs in pool */
	struct input *pool;	/* corpus files first, then mutants that replaced others */
	struct input *current;	/* the input of the running call */
	char path[PATH_MAX];	/* file of current */
	double slowest;		/* seconds of the processor the slowest call took */
};

static struct fuzzer fuzzer;

static uint64_t rnd(uint64_t below)
{
	fuzzer.random ^= fuzzer.random << 13;
	fuzzer.random ^= fuzzer.random >> 7;
	fuzzer.random ^= fuzzer.random << 17;
	return below ? fuzzer.random % below : 0;
}

static uint64_t number_from_environment(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

static bool read_input(const char *path, struct input *input)
{
	FILE *f = fopen(path, "rb");

	if (!f)
		return false;
	input->size = fread(input->data, 1, sizeof(input->data), f);
	fclose(f);
	return true;
}

static void read_corpus(const char *directory)
{
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *dir = opendir(directory);

	while (dir && fuzzer.used < MAX_POOL && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		if ((size_t)snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name) <
			    sizeof(path) && read_input(path, &fuzzer.pool[fuzzer.used]))
			fuzzer.used++;
	}
	if (dir)
		closedir(dir);
}

/* Values where arithmetic goes wrong. */
static const uint64_t edges[] = {
	0, 1, 2, 7, 8, 63, 64, 255, 256, 4095, 4096, 4097, 65535, 65536, 0x1fffff, 0x200000,
	0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, 0x7fffffffffff, 0x800000000000,
	0xffffffffffff, 0x7fffffffffffffff, 0x8000000000000000, 0xfffffffffffffff8,
	0xffffffffffffffff,
};

static void mutate_once(struct input *in)
{
	size_t width = 1u << rnd(4), at = rnd(in->size + 1), n;
	const struct input *other;
	uint64_t value;

	switch (rnd(6)) {
	case 0:		/* one bit */
		if (in->size)
			in->data[rnd(in->size)] ^= 1u << rnd(8);
		break;
	case 1:		/* an edge value, 1 to 8 bytes wide, at a multiple of its width */
		value = edges[rnd(sizeof(edges) / sizeof(edges[0]))] + rnd(3) - 1;
		at &= ~(width - 1);
		if (at + width <= in->size)
			memcpy(in->data + at, &value, width);
		break;
	case 2:		/* random bytes at the end */
		n = 8 * (1 + rnd(8));
		while (n-- && in->size < INPUT_MAX)
			in->data[in->size++] = rnd(256);
		break;
	case 3:		/* cut the end off */
		in->size = at;
		break;
	case 4:		/* a piece of another input */
		other = &fuzzer.pool[rnd(fuzzer.used)];
		n = rnd(other->size + 1);
		if (at + n > INPUT_MAX)
			n = INPUT_MAX - at;
		memcpy(in->data + at, other->data, n);
		if (at + n > in->size)
			in->size = at + n;
		break;
	default:	/* one random byte */
		if (in->size)
			in->data[rnd(in->size)] = rnd(256);
		break;
	}
}

/* The stage for the running call: a mapped file, so that the input is on disk whatever happens. */
static bool open_stage(const char *name)
{
	const char *dir = getenv("TSR_BUILD");
	void *map;
	int fd;

	snprintf(fuzzer.path, sizeof(fuzzer.path), "%s/fuzz-%s-%d.input", dir ? dir : "/tmp", name,
		 (int)getpid());
	fd = open(fuzzer.path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, sizeof(struct input)))
		return false;
	map = mmap(NULL, sizeof(struct input), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	fuzzer.current = map;
	return map != MAP_FAILED;
}

static double seconds_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static double now(void)
{
	return seconds_of(CLOCK_MONOTONIC);
}

/* A signal ends the program after @seconds of its time, or far more of the clock's; 0: never. */
static void limit_time(unsigned int seconds)
{
	const struct itimerval limit = { .it_value.tv_sec = seconds };

	setitimer(ITIMER_PROF, &limit, NULL);
	alarm(20 * seconds);
}

static void call(const struct input *in)
{
	uint8_t *exact = malloc(in->size ? in->size : 1);
	double begun = seconds_of(CLOCK_PROCESS_CPUTIME_ID), taken;

	/* An allocation of just that size lets ASan see reads past the end. */
	memcpy(exact, in->data, in->size);
	limit_time(CALL_LIMIT);
	LLVMFuzzerTestOneInput(exact, in->size);
	limit_time(0);
	taken = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - begun;
	if (taken > fuzzer.slowest)
		fuzzer.slowest = taken;
	free(exact);
}

static uint64_t run_for(double seconds)
{
	double end = now() + seconds;
	uint64_t calls = 0, n;

	while (now() < end) {
		*fuzzer.current = fuzzer.pool[rnd(fuzzer.used)];
		for (n = 1 + rnd(8); n; n--)
			mutate_once(fuzzer.current);
		call(fuzzer.current);
		calls++;
		/* A random walk: some mutants become starting points in place of other mutants. */
		if (rnd(16) == 0)
			fuzzer.pool[fuzzer.used < MAX_POOL ? fuzzer.used++ : rnd(MAX_POOL)] =
				*fuzzer.current;
	}
	return calls;
}

static int replay(const char *path)
{
	static struct input in;

	bool ours = strstr(path, ".input");
	FILE *f = ours ? fopen(path, "rb") : NULL;

	/* A file this driver left is a whole struct input; anything else is the input itself. */
	if (ours ? !f || fread(&in, 1, sizeof(in), f) != sizeof(in) : !read_input(path, &in)) {
		fprintf(stderr, "%s: cannot read it as an input: %s\n", path, strerror(errno));
		return 1;
	}
	if (f)
		fclose(f);
	call(&in);
	return 0;
}

int main(int argc, char **argv)
{
	uint64_t seed = number_from_environment("TSR_FUZZ_SEED", time(NULL));
	double seconds = number_from_environment("TSR_FUZZ_SECONDS", 5);
	const char *name = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];
	const char *corpus = getenv("TSR_FUZZ_CORPUS"), *top = getenv("TSR_TOP");
	char path[PATH_MAX], title[200];
	uint64_t calls;

	/* The bench places guest memory between guard pages (userspace/harness/bench.h). */
	setenv("TSR_BENCH_MEMORY", "pages", 0);
	if (LLVMFuzzerInitialize)
		LLVMFuzzerInitialize(&argc, &argv);
	for (int i = 1; i < argc; i++) {
		if (replay(argv[i]))
			return 1;
	}
	if (argc > 1)
		return 0;
	ktap_start();
	fuzzer.random = seed * 2654435761u + 1;
	fuzzer.pool = calloc(MAX_POOL, sizeof(*fuzzer.pool));
	snprintf(path, sizeof(path), "%s/tests/fuzz/corpus/%s", top ? top : ".", name);
	read_corpus(corpus ? corpus : path);
	if (!fuzzer.used)
		fuzzer.pool[fuzzer.used++].size = 64;
	if (!open_stage(name)) {
		printf("Bail out! cannot write %s: %s\n", fuzzer.path, strerror(errno));
		return 1;
	}
	ktap_note("seed %llu, %u inputs to start from; the running input is in %s",
		  (unsigned long long)seed, fuzzer.used, fuzzer.path);
	calls = run_for(seconds);
	unlink(fuzzer.path);
	ktap_note("%llu inputs in %.0f s, the slowest took %.2f s of the processor",
		  (unsigned long long)calls, seconds, fuzzer.slowest);
	if (fuzz_summary)
		fuzz_summary();
	snprintf(title, sizeof(title), "%s%s: no input crashes, hangs or reads out of bounds",
		 fuzz_proves ? fuzz_proves : "", name);
	ktap_ok(calls > 0);
	ktap_result(title);
	return ktap_finish();
}
