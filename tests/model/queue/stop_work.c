/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 TIMEOUT=120 */
/*
 * RENDER stops within TSR_STOP_WORK cycles, whatever is in memory: endless lists of tiles, large
 * tiles with many targets and samples.
 */
#include "endless.h"
#include "ktap.h"
#include "stop_work.h"
#include "tiles.h"

static void render_lists(void)
{
	for (unsigned int i = 0; i < ENDLESS_TILES; i++) {
		for (unsigned int samples_log2 = 0; samples_log2 <= 4; samples_log2 += 2) {
			struct tiles *t = endless_frame(NULL, samples_log2);

			ktap_ok(binner_bin(t->f));
			endless_render(t, &endless_tiles[i]);
			stop_work_check(&t->queue, endless_tiles[i].what,
					endless_tiles[i].words);
			tiles_free(t);
		}
	}
}

#define PROGRAM (BINNER_FRAME + 0x4000)	/* code; its SHADER_PROGRAM */

/* Draws whose fragments have no end: of the endless programs, those that fragments may run. */
static void render_fragments(void)
{
	for (unsigned int i = 0; i < 2; i++) {
		struct tiles *t = endless_frame(NULL, 0);

		tiles_program(t, PROGRAM, endless_programs[i].text);
		tsr_pack_shader_program((uint64_t *)(void *)(t->f->list + (PROGRAM - BINNER_LIST) +
							     0x100),
					&(struct tsr_shader_program){ .code = PROGRAM });
		t->f->shader.fragment = PROGRAM + 0x100;
		binner_again(t->f);
		binner_states(t->f);
		binner_arrays(t->f, TSR_TOPOLOGY_TRIANGLES, 3 * 64);
		ktap_ok(binner_bin(t->f));
		tiles_submit(t);
		stop_work_check(&t->queue, endless_programs[i].what, true);
		tiles_free(t);
	}
}

/* A snapshot does not wait for the end of a tile that has none. */
static void snapshots(void)
{
	for (unsigned int i = 0; i < ENDLESS_TILES; i++) {
		struct tiles *t = endless_frame(NULL, 0);
		uint64_t before;

		ktap_ok(binner_bin(t->f));
		endless_render(t, &endless_tiles[i]);
		stop_work_watch(true);
		tsr_gpu_run(t->f->b->gpu, 10000);
		before = tiles_counter(t, TSR_QUEUE_COUNTER_CYCLES);
		tsr_gpu_pause(t->f->b->gpu);
		tsr_gpu_drain(t->f->b->gpu);
		ktap_ok(tiles_counter(t, TSR_QUEUE_COUNTER_CYCLES) - before <=
			TSR_DRAIN_CYCLES + TSR_STOP_WORK);
		tsr_gpu_resume(t->f->b->gpu);
		stop_work_watch(false);
		tiles_free(t);
	}
}

int main(void)
{
	ktap_start();
	ktap_run("[SYS7] RENDER stops within STOP_WORK in endless tile lists", render_lists);
	ktap_run("[SYS7] RENDER stops within STOP_WORK in endless fragment programs",
		 render_fragments);
	ktap_run("[SYS10] snapshots do not wait for endless tile lists", snapshots);
	return ktap_finish();
}
