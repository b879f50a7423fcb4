// SPDX-License-Identifier: MIT
/*
 * tsr-top: who uses the Tessera GPUs of this machine, again and again.
 *
 * What processes use comes from /proc/PID/fdinfo (the kernel's drm-usage-stats), what the device
 * does from its counters in debugfs, for who may read that. Exit status 0, 2 for bad usage.
 */
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "tsr_regs.h"

#define CLIENTS 512
#define DEVICES 16
#define ENGINES 4

static const char *const engine_name[ENGINES] = { "bin", "render", "compute", "copy" };

/* A DRM file of ours, as one of the processes shows it that have it open. */
struct client {
	char device[32];		/* PCI address */
	unsigned int id;		/* drm-client-id */
	int pid;
	char name[32];			/* of the process */
	uint64_t busy_ns[ENGINES];
	uint64_t cycles;
	unsigned int capacity[ENGINES];
	uint64_t memory, resident;	/* bytes, local memory included */
};

struct device {
	char name[32];
	bool known;			/* its counters could be read */
	uint64_t counter[TSR_COUNTER_VALUE__COUNT];
};

/* All there is at one moment. */
struct sample {
	uint64_t when;			/* CLOCK_MONOTONIC, ns */
	struct client client[CLIENTS];
	unsigned int clients;
	struct device device[DEVICES];
	unsigned int devices;
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static struct device *find_device(struct sample *s, const char *name)
{
	for (unsigned int i = 0; i < s->devices; i++) {
		if (!strcmp(s->device[i].name, name))
			return &s->device[i];
	}
	if (s->devices == DEVICES)
		return NULL;
	snprintf(s->device[s->devices].name, sizeof(s->device[0].name), "%s", name);
	return &s->device[s->devices++];
}

/* "123 KiB" as bytes. */
static uint64_t parse_bytes(const char *text)
{
	char *unit;
	uint64_t n = strtoull(text, &unit, 10);

	while (*unit == ' ')
		unit++;
	return n << (*unit == 'K' ? 10 : *unit == 'M' ? 20 : 0);
}

/* One line "key: value" of fdinfo. */
static void parse_line(struct client *c, const char *key, const char *value)
{
	for (unsigned int i = 0; i < ENGINES; i++) {
		char want[64];

		snprintf(want, sizeof(want), "drm-engine-%s", engine_name[i]);
		if (!strcmp(key, want))
			c->busy_ns[i] = strtoull(value, NULL, 10);
		snprintf(want, sizeof(want), "drm-engine-capacity-%s", engine_name[i]);
		if (!strcmp(key, want))
			c->capacity[i] = strtoul(value, NULL, 10);
		snprintf(want, sizeof(want), "drm-cycles-%s", engine_name[i]);
		if (!strcmp(key, want))
			c->cycles += strtoull(value, NULL, 10);
	}
	if (!strcmp(key, "drm-client-id"))
		c->id = strtoul(value, NULL, 10);
	else if (!strcmp(key, "drm-pdev"))
		snprintf(c->device, sizeof(c->device), "%s", value);
	else if (!strncmp(key, "drm-total-", 10))
		c->memory += parse_bytes(value);
	else if (!strncmp(key, "drm-resident-", 13))
		c->resident += parse_bytes(value);
}

/* True if the file is one of ours; then @c is filled. */
static bool read_fdinfo(const char *path, struct client *c)
{
	FILE *f = fopen(path, "r");
	bool ours = false;
	char line[256];

	if (!f)
		return false;
	while (fgets(line, sizeof(line), f)) {
		char *value = strchr(line, ':');

		line[strcspn(line, "\n")] = 0;
		if (!value)
			continue;
		*value++ = 0;
		value += strspn(value, " \t");
		if (!strcmp(line, "drm-driver"))
			ours = !strcmp(value, "tessera");
		parse_line(c, line, value);
	}
	fclose(f);
	return ours && c->device[0];
}

/* The files of one process. One that several have, or that was duplicated, is shown once. */
static void read_process(struct sample *s, const char *pid)
{
	char path[300];
	struct dirent *e;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%s/fdinfo", pid);
	dir = opendir(path);
	while (dir && (e = readdir(dir)) && s->clients < CLIENTS) {
		struct client *c = &s->client[s->clients];
		bool known = false;
		FILE *f;

		memset(c, 0, sizeof(*c));
		snprintf(path, sizeof(path), "/proc/%s/fdinfo/%.20s", pid, e->d_name);
		if (!read_fdinfo(path, c))
			continue;
		for (unsigned int i = 0; i < s->clients; i++)
			known |= s->client[i].id == c->id &&
				 !strcmp(s->client[i].device, c->device);
		if (known)
			continue;
		c->pid = atoi(pid);
		snprintf(path, sizeof(path), "/proc/%s/comm", pid);
		f = fopen(path, "r");
		if (f && fgets(c->name, sizeof(c->name), f))
			c->name[strcspn(c->name, "\n")] = 0;
		if (f)
			fclose(f);
		find_device(s, c->device);
		s->clients++;
	}
	if (dir)
		closedir(dir);
}

/* The counters of the device with that directory of debugfs, if it is ours. */
static void read_counters(struct sample *s, const char *minor)
{
	char path[300], line[256], name[32] = "";
	struct device *device;
	unsigned int id;
	uint64_t value;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/kernel/debug/dri/%.40s/name", minor);
	f = fopen(path, "r");
	if (f && fgets(line, sizeof(line), f) && sscanf(line, "tessera dev=%31s", name) != 1)
		name[0] = 0;
	if (f)
		fclose(f);
	device = name[0] ? find_device(s, name) : NULL;
	if (!device || device->known)
		return;
	snprintf(path, sizeof(path), "/sys/kernel/debug/dri/%.40s/counters", minor);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "global %u %" SCNu64, &id, &value) == 2 &&
		    id < TSR_COUNTER_VALUE__COUNT)
			device->counter[id] = value;
		device->known = true;
	}
	if (f)
		fclose(f);
}

static void take_sample(struct sample *s)
{
	struct dirent *e;
	DIR *dir;

	memset(s, 0, sizeof(*s));
	s->when = now_ns();
	dir = opendir("/sys/kernel/debug/dri");
	while (dir && (e = readdir(dir))) {
		if (e->d_name[0] >= '0' && e->d_name[0] <= '9')
			read_counters(s, e->d_name);
	}
	if (dir)
		closedir(dir);
	dir = opendir("/proc");
	while (dir && (e = readdir(dir))) {
		if (e->d_name[0] >= '1' && e->d_name[0] <= '9')
			read_process(s, e->d_name);
	}
	if (dir)
		closedir(dir);
}

/* ---- Showing --------------------------------------------------------------------------------- */

/* Part of the time between two samples, in percent; counters that have begun anew count as 0. */
static double percent(uint64_t before, uint64_t now, uint64_t ns, unsigned int of)
{
	return now < before || !ns ? 0 : 100.0 * (now - before) / ns / (of ? of : 1);
}

static double per_second(const struct device *a, const struct device *b, unsigned int id,
			 uint64_t ns)
{
	return b->counter[id] < a->counter[id] || !ns ? 0 :
	       1e9 * (b->counter[id] - a->counter[id]) / ns;
}

static void show_device(const struct device *a, const struct device *b, uint64_t ns)
{
	static const struct {
		const char *name;
		unsigned int id;
	} time[] = {
		{ "bin", TSR_GLOBAL_COUNTER_BIN_BUSY_TIME },
		{ "render", TSR_GLOBAL_COUNTER_RENDER_BUSY_TIME },
		{ "compute", TSR_GLOBAL_COUNTER_COMPUTE_BUSY_TIME },
		{ "copy", TSR_GLOBAL_COUNTER_COPY_BUSY_TIME },
		{ "two at once", TSR_GLOBAL_COUNTER_OVERLAP_TIME },
	};

	printf("GPU %s", b->name);
	if (!a || !a->known || !b->known) {
		printf("  (its counters are in debugfs, which cannot be read)\n");
		return;
	}
	for (unsigned int i = 0; i < sizeof(time) / sizeof(time[0]); i++)
		printf("  %s %.1f%%", time[i].name,
		       percent(a->counter[time[i].id], b->counter[time[i].id], ns, 1));
	printf("\n    %.1f Mcycles/s  %.0f doorbells/s  %.0f interrupts/s  %.0f invalidations/s  "
	       "%" PRIu64 " faults\n",
	       per_second(a, b, TSR_GLOBAL_COUNTER_GPU_CYCLES, ns) / 1e6,
	       per_second(a, b, TSR_GLOBAL_COUNTER_DOORBELLS, ns),
	       per_second(a, b, TSR_GLOBAL_COUNTER_INTERRUPTS, ns),
	       per_second(a, b, TSR_GLOBAL_COUNTER_TLB_INVALIDATIONS, ns),
	       b->counter[TSR_GLOBAL_COUNTER_FAULTS]);
}

static const struct client *find_client(const struct sample *s, const struct client *c)
{
	for (unsigned int i = 0; i < s->clients; i++) {
		if (s->client[i].id == c->id && !strcmp(s->client[i].device, c->device))
			return &s->client[i];
	}
	return NULL;
}

/* Sort key: the client that has used most comes first. Samples are in the order of processes. */
static uint64_t used(const struct sample *before, const struct client *c)
{
	const struct client *was = find_client(before, c);
	uint64_t sum = 0;

	for (unsigned int i = 0; was && i < ENGINES; i++)
		sum += c->busy_ns[i] - was->busy_ns[i];
	return sum;
}

static void show_client(const struct sample *before, const struct client *c, uint64_t ns)
{
	const struct client *was = find_client(before, c);

	printf("%7d  %-16s %-14s", c->pid, c->name, c->device);
	for (unsigned int i = 0; i < ENGINES; i++)
		printf(" %6.1f%%", was ? percent(was->busy_ns[i], c->busy_ns[i], ns,
						 c->capacity[i]) : 0.0);
	printf(" %9.1f %8" PRIu64 " %8" PRIu64 "\n",
	       was && c->cycles >= was->cycles && ns ? 1e3 * (c->cycles - was->cycles) / ns : 0.0,
	       c->memory >> 10, c->resident >> 10);
}

static void show(const struct sample *before, const struct sample *now)
{
	uint64_t ns = now->when - before->when;
	bool shown[CLIENTS] = { false };

	for (unsigned int i = 0; i < now->devices; i++) {
		const struct device *was = NULL;

		for (unsigned int k = 0; k < before->devices; k++) {
			if (!strcmp(before->device[k].name, now->device[i].name))
				was = &before->device[k];
		}
		show_device(was, &now->device[i], ns);
	}
	if (!now->devices)
		printf("no GPU of ours is in use\n");
	printf("    PID  COMMAND          DEVICE            bin  render compute    copy Mcycles/s"
	       "  MEM/KiB  RES/KiB\n");
	for (unsigned int n = 0; n < now->clients; n++) {
		unsigned int most = CLIENTS;

		for (unsigned int i = 0; i < now->clients; i++) {
			if (!shown[i] && (most == CLIENTS ||
					  used(before, &now->client[i]) >
					  used(before, &now->client[most])))
				most = i;
		}
		shown[most] = true;
		show_client(before, &now->client[most], ns);
	}
}

/* ---- The terminal ---------------------------------------------------------------------------- */

static struct termios saved;

static void restore_terminal(void)
{
	tcsetattr(STDIN_FILENO, TCSANOW, &saved);
}

static void raw_terminal(void)
{
	struct termios raw;

	if (tcgetattr(STDIN_FILENO, &saved))
		return;
	raw = saved;
	raw.c_lflag &= ~(ICANON | ECHO);
	tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	atexit(restore_terminal);
}

/* Wait, or return false when somebody wants to end it. */
static bool wait_for(double seconds, bool live)
{
	struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };
	uint64_t end = now_ns() + seconds * 1e9;

	for (;;) {
		uint64_t now = now_ns();
		char key = 0;

		if (now >= end)
			return true;
		if (poll(&p, live, (end - now) / 1000000 + 1) <= 0)
			continue;
		if (read(STDIN_FILENO, &key, 1) != 1)
			live = false;
		if (key == 'q' || key == 'Q')
			return false;
	}
}

static void usage(FILE *to)
{
	fputs("usage: tsr-top [-b] [-n N] [-d SECONDS]\n"
	      "Who uses the Tessera GPUs of this machine. q ends it.\n"
	      "  -b          one table after the other, as into a file\n"
	      "  -n N        only N of them\n"
	      "  -d SECONDS  between two (1), at least 0.1\n"
	      "  --help, --version\n", to);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	static struct sample sample[2];
	bool live = isatty(STDOUT_FILENO) && isatty(STDIN_FILENO);
	double seconds = 1;
	unsigned long count = 0;
	char *end = "";
	int opt;

	while ((opt = getopt_long(argc, argv, "bn:d:h", options, NULL)) != -1) {
		if (opt == 'b')
			live = false;
		else if (opt == 'n')
			count = strtoul(optarg, &end, 10);
		else if (opt == 'd')
			seconds = strtod(optarg, &end);
		if (opt == 'h' || opt == 'V') {
			if (opt == 'h')
				usage(stdout);
			else
				puts("tsr-top " TSR_VERSION);
			return 0;
		}
		if (opt == '?' || *end || (opt == 'n' && !count) || !(seconds >= 0.1) ||
		    seconds > 86400) {
			usage(stderr);
			return 2;
		}
	}
	if (optind != argc) {
		usage(stderr);
		return 2;
	}
	if (live)
		raw_terminal();
	take_sample(&sample[0]);
	for (unsigned long n = 0; !count || n < count; n++) {
		if (!wait_for(seconds, live))
			break;
		take_sample(&sample[~n & 1]);
		if (live)
			printf("\033[H\033[J");
		show(&sample[n & 1], &sample[~n & 1]);
		if (!live && (!count || n + 1 < count))
			putchar('\n');
		fflush(stdout);
	}
	return 0;
}
