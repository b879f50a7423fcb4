// SPDX-License-Identifier: MIT
/*
 * tsr-inspect: what the Tessera GPUs of this machine hold at this moment: queues, what is on their
 * rings, address spaces, faults. From the driver's debugfs, which only root may read.
 *
 * Exit status 0, 1 if there is no device or nothing can be read, 2 for bad usage.
 */
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tessera/tessera.h>
#include <tessera/decode.h>
#include "tsr_regs.h"

#define LINE_LENGTH 512
#define RING_BYTES (1u << 20)

/* One directory of debugfs. */
struct device {
	char path[300];
	char bus[64];
};

static FILE *open_leaf(const struct device *d, const char *leaf)
{
	char path[400];

	snprintf(path, sizeof(path), "%s/%s", d->path, leaf);
	return fopen(path, "r");
}

/* ---- sections ---- */

/* A file that is for people already. */
static bool print_file(const struct device *d, const char *leaf)
{
	FILE *f = open_leaf(d, leaf);
	char line[LINE_LENGTH];

	if (!f)
		return false;
	while (fgets(line, sizeof(line), f))
		printf("  %s%s", line, strchr(line, '\n') ? "" : "\n");
	fclose(f);
	return true;
}

static bool print_device(const struct device *d)
{
	return print_file(d, "device");
}

static bool print_vms(const struct device *d)
{
	return print_file(d, "gpuvas");
}

static bool print_memory(const struct device *d)
{
	return print_file(d, "gems");
}

/* Absent where the device does not check. */
static bool print_check(const struct device *d)
{
	if (!print_file(d, "check"))
		puts("  this device does not watch its driver (check=on)");
	return true;
}

static const char *state_name(uint32_t state)
{
	static const char *const names[] = {
		[TSR_QUEUE_STATE_DISABLED] = "disabled", [TSR_QUEUE_STATE_IDLE] = "idle",
		[TSR_QUEUE_STATE_READY] = "ready",	 [TSR_QUEUE_STATE_RUNNING] = "running",
		[TSR_QUEUE_STATE_BLOCKED] = "blocked",	 [TSR_QUEUE_STATE_SUSPENDED] = "suspended",
		[TSR_QUEUE_STATE_FAULTED] = "faulted",
	};
	uint32_t status = state & TSR_QUEUE_STATE_STATE__MASK;

	return status < sizeof(names) / sizeof(names[0]) && names[status] ? names[status] : "?";
}

/* A line of "queues" with its numbers told apart. */
static void print_queue(const char *line)
{
	unsigned int slot, id, state, wptr, rptr;
	unsigned long long seqno, client;
	long long done;
	char name[32];
	int as, error;

	if (sscanf(line,
		   "%u %31s id %u as %d state %x wptr %x rptr %x seqno %llu done %lld error %d "
		   "client %llu",
		   &slot, name, &id, &as, &state, &wptr, &rptr, &seqno, &done, &error,
		   &client) != 11) {
		printf("  %s", line);
		return;
	}
	printf("  slot %2u  %-22s %-9s queue %u of client %llu, ", slot, name, state_name(state),
	       id, client);
	if (as >= 0)
		printf("address space %d, ", as);
	printf("%u bytes on the ring, %lld of %llu jobs done", wptr - rptr, done, seqno);
	if (error)
		printf(", last error: %s", tsr_error_string(error));
	putchar('\n');
}

static bool print_queues(const struct device *d)
{
	FILE *f = open_leaf(d, "queues");
	char line[LINE_LENGTH];
	bool any = false;

	if (!f)
		return false;
	while (fgets(line, sizeof(line), f)) {
		print_queue(line);
		any = true;
	}
	if (!any)
		puts("  none");
	fclose(f);
	return true;
}

/* Prints the words of a ring as packets. */
static void decode_ring(const uint64_t *words, unsigned int count)
{
	const struct tsr_decode_options options = { .flags = TSR_DECODE_RING,
						    .engine_class = TSR_DECODE_ANY_CLASS };

	if (count)
		tsr_decode_stream(stdout, words, count * sizeof(*words), &options);
}

/* "# slot ..." begins a ring, lines of hexadecimal words follow. */
static bool print_rings(const struct device *d)
{
	uint64_t *words = malloc(RING_BYTES);
	FILE *f = open_leaf(d, "rings");
	unsigned int count = 0;
	char line[LINE_LENGTH];

	while (f && words && fgets(line, sizeof(line), f)) {
		char *at = line, *end;

		if (*line == '#') {
			decode_ring(words, count);
			count = 0;
			printf("  %s", line + 2);
			continue;
		}
		while (count < RING_BYTES / sizeof(*words)) {
			uint64_t word = strtoull(at, &end, 16);

			if (end == at)
				break;
			words[count++] = word;
			at = end;
		}
	}
	if (words)
		decode_ring(words, count);
	if (f)
		fclose(f);
	free(words);
	return f;
}

static const char *access_name(unsigned int access)
{
	return access == DRM_TESSERA_BIND_READ	  ? "a read"
	       : access == DRM_TESSERA_BIND_WRITE ? "a write"
	       : access == DRM_TESSERA_BIND_EXEC  ? "a fetch"
						  : "an access";
}

static void print_fault(const char *line)
{
	static const char *const reasons[] = {
		[DRM_TESSERA_FAULT_NOT_MAPPED] = "nothing is mapped there",
		[DRM_TESSERA_FAULT_PERMISSION] = "the mapping does not permit it",
		[DRM_TESSERA_FAULT_PAGE_TABLE] = "a page table entry is malformed",
		[DRM_TESSERA_FAULT_WALK_BUS] = "a page table cannot be read",
		[DRM_TESSERA_FAULT_BUS] = "the bus refuses it",
		[DRM_TESSERA_FAULT_ADDRESS] = "the address is beyond the MMU's range",
	};
	unsigned int queue, access, reason, level;
	unsigned long long ns, va;
	int as;

	if (sscanf(line, "as %d time %llu queue %u va %llx access %u reason %u level %u", &as, &ns,
		   &queue, &va, &access, &reason, &level) != 7) {
		printf("  %s", line);
		return;
	}
	printf("  %llu.%06llu s: %s of queue %u at %#llx: %s (level %u)\n", ns / 1000000000,
	       ns / 1000 % 1000000, access_name(access), queue, va,
	       reason < sizeof(reasons) / sizeof(reasons[0]) ? reasons[reason] : "?", level);
}

static bool print_faults(const struct device *d)
{
	FILE *f = open_leaf(d, "faults");
	char line[LINE_LENGTH];
	bool any = false;

	if (!f)
		return false;
	while (fgets(line, sizeof(line), f)) {
		print_fault(line);
		any = true;
	}
	if (!any)
		puts("  none is remembered");
	fclose(f);
	return true;
}

static const struct section {
	const char *name;
	bool (*print)(const struct device *d);
	bool usual;
} sections[] = {
	{ "device", print_device, true }, { "queues", print_queues, true },
	{ "rings", print_rings, true },	  { "faults", print_faults, true },
	{ "vms", print_vms, false },	  { "memory", print_memory, false },
	{ "check", print_check, false },
};

#define SECTIONS (sizeof(sections) / sizeof(sections[0]))

/* ---- devices ---- */

/* True if it is one of ours, "tessera dev=0000:01:00.0 ..."; then its address is known. */
static bool read_name(struct device *d)
{
	FILE *f = open_leaf(d, "name");
	bool ours;

	if (!f)
		return false;
	ours = fscanf(f, "tessera dev=%63s", d->bus) == 1;
	fclose(f);
	return ours;
}

/* Print what is wanted of all devices, or of one; how many there were, or -1 if one cannot be read.
 */
static int inspect(const char *bus, unsigned int wanted)
{
	const char *root = getenv("TSR_DEBUGFS") ? getenv("TSR_DEBUGFS") : "/sys/kernel/debug";
	char path[200], seen[16][64];
	struct dirent *entry;
	int count = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/dri", root);
	dir = opendir(path);
	while (dir && count < 16 && (entry = readdir(dir))) {
		struct device d;
		int i;

		snprintf(d.path, sizeof(d.path), "%s/%.64s", path, entry->d_name);
		if (*entry->d_name == '.' || !read_name(&d) || (bus && strcmp(bus, d.bus)))
			continue;
		/* One device has several directories: for its nodes, and by its address. */
		for (i = 0; i < count && strcmp(seen[i], d.bus); i++)
			;
		if (i < count)
			continue;
		snprintf(seen[count++], sizeof(seen[0]), "%s", d.bus);
		for (unsigned int k = 0; k < SECTIONS; k++) {
			if (!(wanted & 1u << k))
				continue;
			printf("%s %s\n", d.bus, sections[k].name);
			if (!sections[k].print(&d))
				count = -1;
		}
		if (count < 0)
			break;
	}
	if (dir)
		closedir(dir);
	return count;
}

/* ---- the command line ---- */

static void usage(FILE *to)
{
	fputs("usage: tsr-inspect [-d DEVICE] [-w SECONDS] [SECTION...]\n"
	      "Print what the Tessera GPUs hold at this moment. Needs root, for debugfs.\n"
	      "  -d DEVICE    PCI address (default: all devices)\n"
	      "  -w SECONDS   again and again, until interrupted\n"
	      "  --help, --version\n"
	      "Sections: device, queues, rings, faults (these by default), vms, memory, check.\n",
	      to);
}

static unsigned int section_mask(int argc, char **argv)
{
	unsigned int mask = 0;

	for (unsigned int k = 0; k < SECTIONS && argc == 0; k++)
		mask |= (unsigned int)sections[k].usual << k;
	for (int i = 0; i < argc; i++) {
		unsigned int k;

		for (k = 0; k < SECTIONS && strcmp(sections[k].name, argv[i]); k++)
			;
		if (k == SECTIONS) {
			fprintf(stderr, "tsr-inspect: error: there is no section '%s'\n", argv[i]);
			exit(2);
		}
		mask |= 1u << k;
	}
	return mask;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	const char *bus = NULL;
	unsigned int mask;
	double seconds = 0;
	int opt, count;

	while ((opt = getopt_long(argc, argv, "d:w:h", options, NULL)) != -1) {
		switch (opt) {
		case 'd': bus = optarg; break;
		case 'w': seconds = strtod(optarg, NULL); break;
		case 'h': usage(stdout); return 0;
		case 'V': puts("tsr-inspect " TSR_VERSION); return 0;
		}
		if (opt == '?' || (opt == 'w' && !(seconds >= 0.1 && seconds <= 86400))) {
			usage(stderr);
			return 2;
		}
	}
	mask = section_mask(argc - optind, argv + optind);
	for (;;) {
		count = inspect(bus, mask);
		fflush(stdout);
		if (count <= 0 || !seconds)
			break;
		usleep(seconds * 1e6);
		putchar('\n');
	}
	if (count <= 0)
		fprintf(stderr, "tsr-inspect: error: %s\n",
			count ? "debugfs cannot be read"
			      : "no Tessera GPU in debugfs: is it mounted, and may you read it?");
	return count > 0 ? 0 : 1;
}
