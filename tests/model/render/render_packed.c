/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/*
 * RENDERs of more queues than keep their memory while they have no engine: those are packed in the
 * midst of tiles, of batches and of the list, and leave what one leaves that is not disturbed.
 */
#include <stdlib.h>
#include <string.h>

#include "device/gpu.h"
#include "ktap.h"
#include "reload.h"
#include "soup.h"
#include "render/render.h"
#include "tiles.h"

#define WIDTH 100
#define HEIGHT 70
#define PIXELS (WIDTH * HEIGHT)
#define QUEUES 5
#define TRIANGLES 60

/* A loop of up to 64 rounds, by the primitive's number, so that bundles are stopped in it. */
static const char program[] = TILES_LOOP("0x3f");

static float corner[3 * TRIANGLES][3];

static void position(struct binner *f, uint32_t vertex, uint32_t instance, float *record)
{
	(void)f;
	(void)instance;
	memcpy(record, corner[vertex], sizeof(corner[vertex]));
	record[3] = 1;
}

static struct tiles *scene(unsigned int cores)
{
	struct tsr_config config = { .cores = cores, .no_inline = true };
	struct tiles *t = tiles_new(WIDTH, HEIGHT, &config);
	struct soup s = soup_new(7);

	for (unsigned int i = 0; i < 3 * TRIANGLES; i++) {
		corner[i][0] = (float)(int)soup_below(&s, 256) / 128 - 1;
		corner[i][1] = (float)(int)soup_below(&s, 256) / 128 - 1;
		corner[i][2] = (float)soup_below(&s, 16) / 16;
	}
	tiles_floats(t, program);
	t->f->position = position;
	binner_again(t->f);
	/* many states, which are evicted */
	for (unsigned int i = 0; i < 10; i++) {
		binner_states(t->f);
		binner_draw(t->f, &(struct tsr_list_draw){ .topology = TSR_TOPOLOGY_TRIANGLES,
			.first = i * (3 * TRIANGLES / 10), .count = 3 * TRIANGLES / 10,
			.instances = 1 });
	}
	ktap_ok(binner_bin(t->f));
	return t;
}

/* Packed in the midst of a tile, and with a program in it that runs. */
struct seen {
	unsigned int packed, tile, program;
};

static void look(const struct tsr_rendering *r, struct seen *seen)
{
	if (!r || !r->packed)
		return;
	seen->packed++;
	for (unsigned int i = 0; r->phase == TSR_RENDER_TILES && i < r->job.cores; i++) {
		const struct tsr_tile_core *c = &r->core[i];

		ktap_ok(!c->buffer.memory == (c->phase == TSR_TILE_FETCH));
		seen->tile += c->buffer.memory != NULL;
		seen->program += c->group.fragments && c->group.fragments->run.begun;
	}
}

static void disturbed(struct tiles *t, struct seen *seen)
{
	struct bench_queue q[QUEUES];
	bool left = true;

	for (unsigned int i = 0; i < QUEUES; i++) {
		bench_queue_init(&q[i], i + 1, TSR_ENGINE_CLASS_RENDER, TSR_PRIORITY_NORMAL,
				 &t->f->as, TILES_RING + 0x10000 * (i + 1), 12, &t->f->as);
		t->queue = q[i];
		tiles_submit(t);
		q[i] = t->queue;
		bench_control(&q[i], TSR_QUEUE_OP_SUSPEND);
	}
	for (unsigned int round = 0; left && round < 100000; round++) {
		left = false;
		for (unsigned int i = 0; i < QUEUES; i++) {
			if (bench_state(&q[i]) != TSR_QUEUE_STATE_SUSPENDED)
				continue;
			look(t->f->b->gpu->queue[q[i].slot].work.rendering, seen);
			bench_control(&q[i], TSR_QUEUE_OP_RESUME);
			tsr_gpu_run(t->f->b->gpu, 1);
			if (bench_state(&q[i]) == TSR_QUEUE_STATE_IDLE)
				continue;
			bench_control(&q[i], TSR_QUEUE_OP_SUSPEND);
			left = true;
		}
	}
	for (unsigned int i = 0; i < QUEUES; i++) {
		ktap_eq(bench_state(&q[i]), TSR_QUEUE_STATE_IDLE);
		ktap_eq(bench_fault(&q[i]), TSR_FAULT_NONE);
	}
}

static void test_frames(void)
{
	static uint32_t want[2][4 * PIXELS];	/* colors, depths */

	for (unsigned int cores = 1; cores <= 3; cores += 2) {
		struct tiles *t = scene(cores);
		struct seen seen = { 0 };

		ktap_ok(tiles_render(t));
		for (unsigned int i = 0; i < 2; i++)
			memcpy(want[i], t->memory + i * TILES_TARGET_SIZE, sizeof(want[i]));
		memset(t->memory, 0x42, 2 * TILES_TARGET_SIZE);
		disturbed(t, &seen);
		ktap_note("packed %u times, %u cores in a tile, %u in a program", seen.packed,
			  seen.tile, seen.program);
		ktap_ok(seen.packed > 100 && seen.tile > 100 && seen.program > 100);
		for (unsigned int i = 0; i < 2; i++)
			ktap_mem_eq(t->memory + i * TILES_TARGET_SIZE, want[i],
				    PIXELS * (i ? 4 : 16));
		tiles_free(t);
	}
}

/* ---- Many batches ---------------------------------------------------------------------------- */

#define BATCHES 5000			/* more than are one job, of a triangle each */
#define VARYING (BINNER_FRAME + 0x4a00)	/* SHADER_PROGRAM */
#define VARYING_CODE (BINNER_FRAME + 0x5000)
#define PUSH (BINNER_FRAME + 0x4b00)

static struct tiles *batches(void)
{
	static const char text[] =
		"clause slot=2 {\n"
		"	*MOV.i32 t0, u0.w0\n	+MOV.i32 t1, u0.w1\n"
		"	*ATOM_C1.i32.ainc t0, t1\n	+ATOM_CX t0, t1, zero.w0, @r9\n"
		"}\n"
		"clause wait=2 end { *NOP }\n";
	struct tsr_config config = { .cores = 2, .no_inline = true };
	struct tiles *t = tiles_new(WIDTH, HEIGHT, &config);
	uint8_t *list = t->f->list - BINNER_LIST;
	uint64_t word[TSR_LIST_SHADER_STATE_QWORDS];

	memset(corner, 0, sizeof(corner));
	corner[1][0] = corner[2][1] = 0.5f;
	tiles_program(t, VARYING_CODE, text);
	*(uint64_t *)(void *)(list + PUSH) = BINNER_DATA;
	*(uint32_t *)(void *)t->f->data = 0;
	tsr_pack_shader_program((uint64_t *)(void *)(list + VARYING), &(struct tsr_shader_program){
		.code = VARYING_CODE, .push = PUSH, .push_words = 2 });
	t->f->position = position;
	t->f->shader = (struct tsr_shader_state){ .varying = VARYING, .output_stride = 16 };
	binner_again(t->f);
	binner_states(t->f);
	binner_states(t->f);
	/* a batch has draws of one state */
	for (unsigned int i = 0; i < BATCHES; i++) {
		tsr_pack_list_shader_state(word, &(struct tsr_list_shader_state){
			.addr = BINNER_STATES + 1024 * (i % 2) });
		binner_packet(t->f, word, TSR_LIST_SHADER_STATE_QWORDS);
		binner_arrays(t->f, TSR_TOPOLOGY_TRIANGLES, 3);
	}
	ktap_ok(binner_bin(t->f));
	return t;
}

/* Each vertex is run once, whatever portion of the chain a snapshot finds the frame in. */
static void test_portions(void)
{
	for (unsigned int i = 0; i < 4; i++) {
		struct tiles *t = batches();
		struct tsr_gpu *gpu = t->f->b->gpu;
		const struct tsr_queue *q = &gpu->queue[t->queue.slot];
		uint32_t first = 0, saved = 0;
		bool other = false;

		tiles_submit(t);
		for (unsigned int n = 0; i && n < 1000000; n++) {
			tsr_gpu_run(gpu, 50);
			if (bench_state(&t->queue) == TSR_QUEUE_STATE_IDLE)
				break;
			if (!q->work.rendering)
				continue;
			first = first ? first : q->work.rendering->portion;
			other |= q->work.rendering->portion != first;
			if (n % (other ? 16 : 256) != i)
				continue;
			tsr_gpu_pause(gpu);
			tsr_gpu_drain(gpu);
			ktap_ok(!reload(gpu));
			tsr_gpu_resume(gpu);
			saved += other && q->work.rendering->resume_batches;
		}
		ktap_ok(bench_run(t->f->b, 60));
		ktap_eq(bench_fault(&t->queue), TSR_FAULT_NONE);
		if (!ktap_ok(!i || saved > 3))
			ktap_note("%u snapshots in the second portion", saved);
		ktap_eq(*(uint32_t *)(void *)t->f->data, 3 * BATCHES);
		tiles_free(t);
	}
}

int main(void)
{
	ktap_start();
	ktap_run("[SYS10] chains of batches that are run in portions, and saved in any",
		 test_portions);
	ktap_run("[SYS10] frames that are packed between two stops", test_frames);
	return ktap_finish();
}
