/* SPDX-License-Identifier: MIT */
/* test: TIMEOUT=300 */
/*
 * Threads and shader cores change neither what RENDER leaves in memory nor what it counts: the
 * picture and the counters of every combination, a frame that goes on with other threads.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "device/gpu.h"
#include "ktap.h"
#include "render/render.h"
#include "soup.h"
#include "tiles.h"

#define WIDTH 400
#define HEIGHT 272
#define TRIANGLES 300

/* A loop of up to 16 rounds, by the primitive's number: some tiles take longer than others. */
static const char program[] = TILES_LOOP("0xf");

static float corner[3 * TRIANGLES][3];

static void position(struct binner *f, uint32_t vertex, uint32_t instance, float *record)
{
	(void)f;
	(void)instance;
	memcpy(record, corner[vertex], sizeof(corner[vertex]));
	record[3] = 1;
}

/* Triangles of all sizes, with depth tests; more of them in one corner. */
static struct tiles *scene(unsigned int threads, unsigned int cores)
{
	const struct tsr_config config = {
		.threads = threads, .cores = cores, .no_inline = true,
	};
	struct tiles *t = tiles_new(WIDTH, HEIGHT, &config);
	struct soup s = soup_new(11);

	for (unsigned int i = 0; i < 3 * TRIANGLES; i++) {
		const float scale = i / 3 % 2 ? 1 : 0.25f;

		corner[i][0] = scale * ((float)(int)soup_below(&s, 256) / 128 - 1);
		corner[i][1] = scale * ((float)(int)soup_below(&s, 256) / 128 - 1);
		corner[i][2] = (float)soup_below(&s, 64) / 64;
	}
	tiles_floats(t, program);
	t->f->position = position;
	binner_again(t->f);
	binner_states(t->f);
	binner_arrays(t->f, TSR_TOPOLOGY_TRIANGLES, 3 * TRIANGLES);
	ktap_ok(binner_bin(t->f));
	return t;
}

static uint64_t hash(const struct tiles *t)
{
	uint64_t h = 0xcbf29ce484222325;

	for (unsigned int i = 0; i < 2; i++) {
		for (unsigned int n = 0; n < WIDTH * HEIGHT * (i ? 4 : 16); n++)
			h = (h ^ t->memory[i * TILES_TARGET_SIZE + n]) * 0x100000001b3;
	}
	return h;
}

/* Counters that do not vary, see counters.md. */
static const enum tsr_queue_counter counted[] = {
	TSR_QUEUE_COUNTER_TILES, TSR_QUEUE_COUNTER_TILE_PRIMITIVES, TSR_QUEUE_COUNTER_TILE_BLOCKS,
	TSR_QUEUE_COUNTER_BLOCKS_DEPTH_REJECTED, TSR_QUEUE_COUNTER_BLOCKS_STENCIL_REJECTED,
	TSR_QUEUE_COUNTER_SAMPLES_TESTED_EARLY, TSR_QUEUE_COUNTER_SAMPLES_REJECTED_EARLY,
	TSR_QUEUE_COUNTER_QUADS, TSR_QUEUE_COUNTER_TILE_LOAD_BYTES,
	TSR_QUEUE_COUNTER_TILE_STORE_BYTES, TSR_QUEUE_COUNTER_BLOCKS_FAST_CLEAR,
	TSR_QUEUE_COUNTER_BLOCKS_COMPRESSED, TSR_QUEUE_COUNTER_ENGINE_COMMANDS,
};

#define COUNTED (sizeof(counted) / sizeof(counted[0]))

struct result {
	uint64_t hash, counter[COUNTED];
};

static struct result result(struct tiles *t)
{
	struct result r = { .hash = hash(t) };

	for (unsigned int i = 0; i < COUNTED; i++)
		r.counter[i] = tiles_counter(t, counted[i]);
	return r;
}

static bool same(const struct result *got, const struct result *want)
{
	bool good = ktap_eq(got->hash, want->hash);

	for (unsigned int i = 0; i < COUNTED; i++) {
		if (!ktap_eq(got->counter[i], want->counter[i])) {
			ktap_note("counter %u", counted[i]);
			good = false;
		}
	}
	return good;
}

static struct result want(void)
{
	struct tiles *t = scene(0, 1);
	struct result r;

	ktap_ok(tiles_render(t));
	r = result(t);
	tiles_free(t);
	return r;
}

static void test_all(void)
{
	static const unsigned int threads[] = { 0, 1, 2, 3, 8, 16, 32 };
	static const unsigned int cores[] = { 1, 8, 16, 32 };
	const struct result first = want();

	ktap_ok(first.counter[0] == 25 * 17 && first.counter[3] && first.counter[7]);
	for (unsigned int i = 0; i < 7; i++) {
		for (unsigned int n = 0; n < 4; n++) {
			struct tiles *t = scene(threads[i], cores[n]);
			struct result r;

			ktap_eq(bench_read(t->f->b, TSR_REG_GPU_SHADER) &
				TSR_GPU_SHADER_CORES__MASK, cores[n]);
			ktap_ok(tiles_render(t));
			r = result(t);
			if (!same(&r, &first))
				ktap_note("%u threads, %u cores", threads[i], cores[n]);
			tiles_free(t);
		}
	}
}

/* Save the device in what it does, and go on with one that has @threads. */
static bool go_on_with(struct tiles *t, unsigned int threads)
{
	struct bench *b = t->f->b;
	struct tsr_queue *q = &b->gpu->queue[t->queue.slot];
	char err[200];
	size_t size;
	void *image;
	bool midst;

	tsr_gpu_pause(b->gpu);
	tsr_gpu_drain(b->gpu);
	midst = q->work.rendering && q->work.job && q->work.rendering->phase == TSR_RENDER_TILES;
	size = tsr_gpu_save(b->gpu, NULL, 0);
	image = malloc(size);
	tsr_gpu_save(b->gpu, image, size);
	b->config.threads = threads;
	bench_replace(b);
	tsr_gpu_pause(b->gpu);
	if (!tsr_gpu_load(b->gpu, image, size, err, sizeof(err)))
		ktap_fail("%s", err);
	tsr_gpu_resume(b->gpu);
	free(image);
	return midst;
}

static void test_goes_on(void)
{
	static const unsigned int threads[][2] = {
		{ 0, 0 }, { 0, 3 }, { 3, 0 }, { 1, 8 }, { 8, 1 }, { 16, 2 }, { 2, 16 },
	};
	const struct result first = want();
	unsigned int midst = 0, saved = 0;

	for (unsigned int i = 0; i < 7 * 6; i++) {
		const unsigned int *n = threads[i % 7];
		struct tiles *t = scene(n[0], 16);
		struct result r;

		tiles_submit(t);
		for (unsigned int times = 0; times < 5; times++) {
			const struct timespec pause = { .tv_nsec = 100000 * (i / 7) };

			for (unsigned int k = 0; !t->f->b->config.threads && k < 3 + i; k++)
				tsr_gpu_run(t->f->b->gpu, 500);
			if (t->f->b->config.threads)
				nanosleep(&pause, NULL);
			midst += go_on_with(t, n[!(times % 2)]);
			saved++;
		}
		ktap_ok(bench_run(t->f->b, 60));
		ktap_eq(bench_fault(&t->queue), TSR_FAULT_NONE);
		r = result(t);
		if (!same(&r, &first))
			ktap_note("%u threads, then %u", n[0], n[1]);
		tiles_free(t);
	}
	ktap_note("%u snapshots, %u of them in the midst of tiles", saved, midst);
	ktap_ok(midst > 20);
}

/* Memory of the host does not grow with the cores: one context for each thread, and one more. */
static void test_contexts(void)
{
	static const unsigned int rows[][3] = {
		{ 0, 16, 2 }, { 1, 16, 2 }, { 2, 16, 3 },
		{ 2, 1, 1 }, { 16, 16, 16 }, { 40, 32, 32 },
	};

	for (unsigned int i = 0; i < 6; i++) {
		struct tiles *t = scene(rows[i][0], rows[i][1]);

		ktap_ok(tiles_render(t));
		tsr_gpu_pause(t->f->b->gpu);
		if (ktap_ok(t->f->b->gpu->memory[0].rendering))
			ktap_eq(t->f->b->gpu->memory[0].rendering->job.cores, rows[i][2]);
		tsr_gpu_resume(t->f->b->gpu);
		tiles_free(t);
	}
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	ktap_run("[RAST5] picture and counters, whatever threads and cores", test_all);
	ktap_run("[SYS10] a frame goes on with another number of threads", test_goes_on);
	ktap_run("as many contexts as threads can use", test_contexts);
	return ktap_finish();
}
