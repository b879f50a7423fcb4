// SPDX-License-Identifier: MIT
/* test: TIMEOUT=150 */
/*
 * A tiler heap that is not refilled while a frame uses it up: the job fails, and the library draws
 * again, in a heap whose reserve SUBMIT has made larger each time, until that is enough. The kernel
 * refuses all memory to its workers, of which one refills the heap; nobody else is refused any.
 */
#include <dirent.h>
#include <stdio.h>

#include "gfxdraw.h"
#include "gt.h"

#define SIDE		512
#define TRIANGLES	120000
#define CHUNK		65536u
#define LARGE		(64u << 20)

static struct gfxt t;
static struct tsr_gfx_pipeline *pipeline;
static uint64_t vertices;

static void set_knob(const char *name, const char *value)
{
	char path[80];

	snprintf(path, sizeof(path), "/sys/kernel/debug/fail_page_alloc/%s", name);
	if (gt_write_file(path, value))
		gt_die("%s cannot be written", path);
}

/* Small triangles beside each other, more than the first chunks hold. */
static void upload(void)
{
	const uint64_t size = 3 * TRIANGLES * sizeof(struct gfxt_vertex);
	struct gfxt_vertex *v = malloc(size);

	for (int i = 0; i < TRIANGLES; i++)
		for (int k = 0; k < 3; k++) {
			float x = (float)(i % 400) / 200 - 1, y = (float)(i / 400) / 150 - 1;

			v[3 * i + k] = (struct gfxt_vertex) {
				{ x + (k == 1 ? 0.02f : 0), y + (k == 2 ? 0.02f : 0), 0, 1 },
				{ (float)(i % 7) / 6, (float)(i % 11) / 10, 1, 1 },
			};
		}
	vertices = gfxt_data(&t, v, size);
	free(v);
}

static uint8_t before[4 * SIDE * SIDE], after[4 * SIDE * SIDE];

static int draw(uint8_t *texels)
{
	return gfxt_triangles(&t, pipeline, vertices, TRIANGLES, SIDE, texels);
}

/* Mark each worker of the kernel as one whose allocations may fail. */
static void mark_workers(void)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	char path[300], name[64];

	while (proc && (entry = readdir(proc))) {
		snprintf(path, sizeof(path), "/proc/%s/comm", entry->d_name);
		if (gt_read_file(path, name, sizeof(name)) < 0 || strncmp(name, "kworker/", 8))
			continue;
		snprintf(path, sizeof(path), "/proc/%s/make-it-fail", entry->d_name);
		gt_write_file(path, "1");
	}
	closedir(proc);
}

static void no_memory(void)
{
	ktap_eq(tsr_gfx_set_heap(t.gfx, LARGE, 0), 0);
	ktap_eq(draw(before), 0);
	ktap_eq(tsr_gfx_set_heap(t.gfx, CHUNK, 0), 0);
	mark_workers();
	set_knob("probability", "100");
	ktap_eq(draw(after), 0);
	set_knob("probability", "0");
	ktap_mem_eq(after, before, sizeof(before));
}

int main(void)
{
	ktap_start();
	set_knob("probability", "0");
	set_knob("times", "-1");
	set_knob("min-order", "0");
	set_knob("ignore-gfp-wait", "N");
	/* as a BO's pages are: else a refill comes as far as what DMA-API notes of a mapping */
	set_knob("ignore-gfp-highmem", "N");
	set_knob("task-filter", "Y");
	gfxt_open(&t);
	pipeline = gfxt_pipeline(&t, NULL);
	upload();
	ktap_run("[BIN4] [SYS3] a heap that is not refilled in time: the pass is drawn again",
		 no_memory);
	tsr_gfx_pipeline_unref(pipeline);
	gfxt_close(&t);
	return ktap_finish();
}
