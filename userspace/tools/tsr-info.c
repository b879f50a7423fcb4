// SPDX-License-Identifier: MIT
/*
 * tsr-info: what the Tessera GPUs of this machine are, as text or as JSON.
 *
 * All figures are the kernel's answers to the queries of libtessera; each is described in
 * tessera_drm.h. Exit status 0, 1 if there is no device or one could not be read, 2 for bad usage.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <xf86drm.h>

#include <tessera/tessera.h>
#include <tessera/compute.h>
#include "tsr_regs.h"

/* Everything there is to say about one device. */
struct report {
	struct tsr_node node;			/* how it was found; render alone with --device */
	char driver[96];			/* name and version of the kernel driver */
	const struct drm_tessera_gpu_info *info;
	struct drm_tessera_engine_info *engines;
	const struct drm_tessera_shader_info *shader;
	unsigned int engine_count;
	struct drm_tessera_counter_info *counters;	/* ours to free */
	unsigned int counter_count;
	struct drm_tessera_gpu_state state;
	struct drm_tessera_get_timestamp clock;
};

struct name {
	uint64_t value;
	const char *name;
};

static const struct name features[] = {
	{ DRM_TESSERA_FEATURE_LOCAL_MEMORY, "local-memory" },
	{ DRM_TESSERA_FEATURE_DETERMINISTIC, "deterministic" },
	{ DRM_TESSERA_FEATURE_QUEUE_RESET, "queue-reset" },
	{ DRM_TESSERA_FEATURE_COMPRESSED, "compressed" },
	{ DRM_TESSERA_FEATURE_GEOMETRY, "geometry" },
	{ DRM_TESSERA_FEATURE_TAGGED, "tagged" },
	{ 0, NULL },
};

static const struct name priorities[] = {
	{ 1 << DRM_TESSERA_PRIORITY_LOW, "low" },
	{ 1 << DRM_TESSERA_PRIORITY_NORMAL, "normal" },
	{ 1 << DRM_TESSERA_PRIORITY_HIGH, "high" },
	{ 0, NULL },
};

static const char *class_name(uint32_t engine_class)
{
	static const char * const names[] = { "BIN", "RENDER", "COMPUTE", "COPY" };

	if (engine_class < 4)
		return names[engine_class];
	return engine_class == DRM_TESSERA_COUNTER_GLOBAL ? "GLOBAL" : "unknown";
}

/* "64 KiB": the largest unit that divides the size. */
static const char *bytes(uint64_t size, char text[32])
{
	static const char * const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB" };
	unsigned int unit = 0;

	while (size && size % 1024 == 0 && unit < 5) {
		size /= 1024;
		unit++;
	}
	snprintf(text, 32, "%" PRIu64 " %s", size, units[unit]);
	return text;
}

/* The names of the bits of @mask, and the rest as a number, so that nothing is left out. */
static void print_bits(uint64_t mask, const struct name *names, const char *before,
		       const char *between, const char *after)
{
	const char *separator = "";

	for (; names->name; names++) {
		if (!(mask & names->value))
			continue;
		printf("%s%s%s%s", separator, before, names->name, after);
		separator = between;
		mask &= ~names->value;
	}
	if (mask)
		printf("%s%s0x%" PRIx64 "%s", separator, before, mask, after);
	else if (!*separator && !*before)
		printf("none");
}

static void print_engines(const struct report *r)
{
	const struct drm_tessera_engine_info *e;
	char low[32], high[32];
	unsigned int i;

	for (i = 0; i < r->engine_count; i++) {
		e = &r->engines[i];
		printf("  %-12s %s: %u instance%s, %u queues, rings of %s to %s\n",
		       i ? "" : "engines", class_name(e->engine_class), e->instances,
		       e->instances == 1 ? "" : "s", e->max_queues, bytes(e->min_ring_size, low),
		       bytes(e->max_ring_size, high));
	}
}

static void print_shader(const struct drm_tessera_shader_info *s)
{
	char memory[32], scratch[32];

	if (!s->cores) {
		printf("  %-12s none\n", "shader cores");
		return;
	}
	printf("  %-12s %u, each %u threads at once (%u warps of %u; half with 64 registers)\n",
	       "shader cores", s->cores, s->core_warps * s->warp_lanes, s->core_warps,
	       s->warp_lanes);
	printf("  %-12s %u threads, %s of memory, %s of scratch a thread, %u push words, %u groups "
	       "a dimension\n", "groups", s->max_group_threads, bytes(s->max_group_memory, memory),
	       bytes(s->max_scratch, scratch), s->max_push_words, s->max_groups);
}

static void print_pages(uint64_t sizes)
{
	const char *separator = "";
	char text[32];
	uint64_t bit;

	for (bit = 1; bit; bit <<= 1) {
		if (!(sizes & bit))
			continue;
		printf("%s%s", separator, bytes(bit, text));
		separator = ", ";
	}
}

static void print_text(const struct report *r)
{
	const struct drm_tessera_gpu_info *info = r->info;
	char size[32], used[32];
	unsigned int i;

	printf("%s", r->node.render);
	if (r->node.bus[0])
		printf(" (%s%sPCI %s)", r->node.primary, r->node.primary[0] ? ", " : "",
		       r->node.bus);
	printf("\n  %-12s Tessera %u.%u\n", "gpu", info->hw_version >> 16,
	       info->hw_version & 0xffff);
	printf("  %-12s %s\n  %-12s ", "driver", r->driver, "features");
	print_bits(info->features, features, "", ", ", "");
	printf("\n");
	print_engines(r);
	print_shader(r->shader);
	printf("  %-12s 0x%" PRIx64 " to 0x%" PRIx64 ", pages of ", "addresses",
	       (uint64_t)info->va_start, (uint64_t)info->va_end);
	print_pages(info->page_sizes);
	printf("\n  %-12s ", "local memory");
	if (info->local_size)
		printf("%s, %s in use\n", bytes(info->local_size, size),
		       bytes(r->state.local_used, used));
	else
		printf("none\n");
	printf("  %-12s BO of %s, %u jobs per submit, %u syncs per array, %u operations per bind\n",
	       "at most", bytes(info->max_bo_size, size), info->max_jobs, info->max_syncs,
	       info->max_bind_ops);
	printf("  %-12s ", "priorities");
	print_bits(info->priority_mask, priorities, "", ", ", "");
	printf("\n  %-12s %u x %u pixels\n", "tiles", info->tile_width, info->tile_height);
	printf("  %-12s %" PRIu64 " at %" PRIu64 " Hz, CPU %" PRIu64 " ns (within %" PRIu64
	       " ns)\n",
	       "clock", (uint64_t)r->clock.gpu_ticks, (uint64_t)info->timestamp_hz,
	       (uint64_t)r->clock.cpu_ns, (uint64_t)r->clock.max_deviation_ns);
	printf("  %-12s %s, %" PRIu64 " device resets, %" PRIu64 " queue resets\n", "state",
	       r->state.flags & DRM_TESSERA_GPU_WEDGED ? "wedged" : "working",
	       (uint64_t)r->state.reset_count, (uint64_t)r->state.queue_reset_count);
	for (i = 0; i < r->counter_count; i++)
		printf("  %-12s %u %s: %.32s: %.96s\n", i ? "" : "counters", r->counters[i].id,
		       class_name(r->counters[i].engine_class),
		       (const char *)r->counters[i].name,
		       (const char *)r->counters[i].description);
}

/* A JSON string of at most @size bytes, quoted. */
static void print_json_string(const char *text, size_t size)
{
	size_t i;

	putchar('"');
	for (i = 0; i < size && text[i]; i++) {
		if (text[i] == '"' || text[i] == '\\')
			putchar('\\');
		if ((unsigned char)text[i] < 0x20)
			printf("\\u%04x", text[i]);
		else
			putchar(text[i]);
	}
	putchar('"');
}

static void print_json_arrays(const struct report *r)
{
	const struct drm_tessera_engine_info *e;
	unsigned int i;

	printf("\n    \"engines\": [");
	for (i = 0; i < r->engine_count; i++) {
		e = &r->engines[i];
		printf("%s\n      {\"class\": \"%s\", \"class_id\": %u, \"instances\": %u, "
		       "\"max_queues\": %u, \"min_ring_size\": %u, \"max_ring_size\": %u}",
		       i ? "," : "", class_name(e->engine_class), e->engine_class, e->instances,
		       e->max_queues, e->min_ring_size, e->max_ring_size);
	}
	printf("\n    ],\n    \"counters\": [");
	for (i = 0; i < r->counter_count; i++) {
		printf("%s\n      {\"id\": %u, \"class\": \"%s\", \"name\": ", i ? "," : "",
		       r->counters[i].id, class_name(r->counters[i].engine_class));
		print_json_string((const char *)r->counters[i].name, 32);
		printf(", \"description\": ");
		print_json_string((const char *)r->counters[i].description, 96);
		printf("}");
	}
	printf("%s],", r->counter_count ? "\n    " : "");
}

static void print_json(const struct report *r)
{
	const struct drm_tessera_gpu_info *info = r->info;
	const struct drm_tessera_shader_info *s = r->shader;

	printf("  {\n    \"render_node\": ");
	print_json_string(r->node.render, sizeof(r->node.render));
	printf(",\n    \"primary_node\": ");
	print_json_string(r->node.primary, sizeof(r->node.primary));
	printf(",\n    \"pci\": ");
	print_json_string(r->node.bus, sizeof(r->node.bus));
	printf(",\n    \"driver\": ");
	print_json_string(r->driver, sizeof(r->driver));
	printf(",\n    \"hw_version\": \"%u.%u\",\n    \"features\": [", info->hw_version >> 16,
	       info->hw_version & 0xffff);
	print_bits(info->features, features, "\"", ", ", "\"");
	printf("],\n    \"priorities\": [");
	print_bits(info->priority_mask, priorities, "\"", ", ", "\"");
	printf("],");
	print_json_arrays(r);
	printf("\n    \"va_start\": %" PRIu64 ",\n    \"va_end\": %" PRIu64
	       ",\n    \"page_sizes\": %" PRIu64 ",\n    \"local_size\": %" PRIu64
	       ",\n    \"local_used\": %" PRIu64 ",\n",
	       (uint64_t)info->va_start, (uint64_t)info->va_end, (uint64_t)info->page_sizes,
	       (uint64_t)info->local_size, (uint64_t)r->state.local_used);
	printf("    \"max_bo_size\": %" PRIu64 ",\n    \"max_jobs\": %u,\n    \"max_syncs\": %u,\n"
	       "    \"max_bind_ops\": %u,\n    \"max_counters\": %u,\n    \"tile\": [%u, %u],\n",
	       (uint64_t)info->max_bo_size, info->max_jobs, info->max_syncs, info->max_bind_ops,
	       info->max_counters, info->tile_width, info->tile_height);
	printf("    \"shader\": {\"cores\": %u, \"warp_lanes\": %u, \"core_warps\": %u,\n"
	       "      \"max_group_threads\": %u, \"max_group_memory\": %u, \"max_groups\": %u,\n"
	       "      \"max_scratch\": %u, \"max_push_words\": %u},\n", s->cores, s->warp_lanes,
	       s->core_warps, s->max_group_threads, s->max_group_memory, s->max_groups,
	       s->max_scratch, s->max_push_words);
	printf("    \"timestamp_hz\": %" PRIu64 ",\n    \"gpu_ticks\": %" PRIu64
	       ",\n    \"cpu_ns\": %" PRIu64 ",\n    \"max_deviation_ns\": %" PRIu64 ",\n",
	       (uint64_t)info->timestamp_hz, (uint64_t)r->clock.gpu_ticks,
	       (uint64_t)r->clock.cpu_ns, (uint64_t)r->clock.max_deviation_ns);
	printf("    \"wedged\": %s,\n    \"reset_count\": %" PRIu64
	       ",\n    \"queue_reset_count\": %" PRIu64 "\n  }",
	       r->state.flags & DRM_TESSERA_GPU_WEDGED ? "true" : "false",
	       (uint64_t)r->state.reset_count, (uint64_t)r->state.queue_reset_count);
}

static void read_driver(struct tsr_device *device, struct report *r)
{
	drmVersionPtr version = drmGetVersion(tsr_device_fd(device));

	if (!version)
		return;
	snprintf(r->driver, sizeof(r->driver), "%s %d.%d.%d", version->name, version->version_major,
		 version->version_minor, version->version_patchlevel);
	drmFreeVersion(version);
}

/* Read everything first, then print, so that a failure leaves no half report. */
static int report_device(const struct tsr_node *node, bool json, bool first)
{
	struct report r = { .node = *node };
	struct tsr_device *device;
	int ret;

	ret = tsr_device_open(node->render, &device);
	if (ret)
		return ret;
	r.info = tsr_device_info(device);
	r.shader = tsr_device_shader_info(device);
	read_driver(device, &r);
	ret = tsr_device_get_engines(device, &r.engines, sizeof(*r.engines), &r.engine_count);
	if (!ret)
		ret = tsr_device_get_counters(device, &r.counters, sizeof(*r.counters),
					      &r.counter_count);
	if (!ret)
		ret = tsr_device_get_state(device, &r.state, sizeof(r.state));
	if (!ret)
		ret = tsr_device_get_timestamp(device, CLOCK_MONOTONIC, &r.clock, sizeof(r.clock));
	if (!ret) {
		printf("%s", first ? "" : json ? ",\n" : "\n");
		if (json)
			print_json(&r);
		else
			print_text(&r);
	}
	free(r.engines);
	free(r.counters);
	tsr_device_unref(device);
	return ret;
}

/* The library's message, with the node in front unless it names it itself. */
static void complain(const char *path)
{
	bool named = strstr(tsr_error_message(), path);

	fprintf(stderr, "tsr-info: %s%s%s\n", named ? "" : path, named ? "" : ": ",
		tsr_error_message());
}

static int report_all(const struct tsr_node *nodes, int count, bool json)
{
	int status = EXIT_SUCCESS, i;
	bool first = true;

	if (json)
		printf("[\n");
	for (i = 0; i < count; i++) {
		if (report_device(&nodes[i], json, first)) {
			complain(nodes[i].render);
			status = EXIT_FAILURE;
		} else {
			first = false;
		}
	}
	if (json)
		printf("%s]\n", first ? "" : "\n");
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "tsr-info: cannot write: %s\n", strerror(errno));
		status = EXIT_FAILURE;
	}
	return status;
}

static int usage(FILE *to, int status)
{
	fputs("usage: tsr-info [--json] [--device PATH]\n"
	      "Show what the Tessera GPUs of this machine are.\n\n"
	      "  -d, --device PATH  only this node, such as /dev/dri/renderD128 (default: all)\n"
	      "  -j, --json         as a JSON array with one object per device; sizes in bytes\n"
	      "  -h, --help         show this text\n"
	      "  -V, --version      print the version\n\n"
	      "Exit status: 0; 1 if there is no device or one cannot be read; 2 for bad usage.\n",
	      to);
	return status;
}

/* All devices, or the node the user names together with what the list knows of it. */
static struct tsr_node *choose(const char *path, int *count)
{
	struct tsr_node *nodes;
	int i;

	*count = tsr_device_list(NULL, 0);
	if (*count < 0)
		return NULL;
	nodes = calloc((size_t)*count + 1, sizeof(*nodes));
	if (!nodes)
		return NULL;
	i = tsr_device_list(nodes, (unsigned int)*count);
	*count = i < *count ? i : *count;
	if (!path)
		return nodes;
	for (i = 0; i < *count; i++) {
		if (!strcmp(nodes[i].render, path) || !strcmp(nodes[i].primary, path))
			break;
	}
	if (i < *count)
		nodes[0] = nodes[i];
	else
		memset(&nodes[0], 0, sizeof(nodes[0]));
	snprintf(nodes[0].render, sizeof(nodes[0].render), "%s", path);
	*count = 1;
	return nodes;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "device", required_argument, NULL, 'd' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	const char *path = NULL;
	struct tsr_node *nodes;
	bool json = false;
	int option, count, status;

	while ((option = getopt_long(argc, argv, "d:jhV", options, NULL)) != -1) {
		if (option == 'h')
			return usage(stdout, EXIT_SUCCESS);
		if (option == 'V') {
			puts("tsr-info " TSR_VERSION);
			return EXIT_SUCCESS;
		}
		if (option == 'd')
			path = optarg;
		else if (option == 'j')
			json = true;
		else
			return usage(stderr, 2);
	}
	if (optind < argc) {
		fprintf(stderr, "tsr-info: unexpected argument '%s'\n", argv[optind]);
		return usage(stderr, 2);
	}
	if (path && strlen(path) >= sizeof(nodes->render)) {
		fprintf(stderr, "tsr-info: the path '%s' is too long\n", path);
		return 2;
	}
	nodes = choose(path, &count);
	if (!nodes) {
		fprintf(stderr, "tsr-info: out of memory\n");
		return EXIT_FAILURE;
	}
	status = report_all(nodes, count, json);
	if (!count) {
		fprintf(stderr,
			"tsr-info: no Tessera GPU found: no DRM render node of a PCI device "
			"%04x:%04x (is the driver loaded?)\n",
			TSR_PCI_VENDOR, TSR_PCI_DEVICE);
		status = EXIT_FAILURE;
	}
	free(nodes);
	return status;
}
