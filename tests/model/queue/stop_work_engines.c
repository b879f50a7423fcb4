/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 TIMEOUT=240 */
/*
 * The command processor, COPY, COMPUTE and BIN stop within TSR_STOP_WORK cycles, whatever is in
 * memory: endless streams, large copies, programs and draws without an end.
 */
#include <string.h>

#include "endless.h"
#include "ktap.h"
#include "shade.h"
#include "stop_work.h"
#include "tiles.h"

/* ---- Streams --------------------------------------------------------------------------------- */

/* Packets of a stream, again and again. */
struct endless_stream {
	const char *what;
	unsigned int (*packet)(uint64_t *p);
};

static unsigned int nop(uint64_t *p)
{
	return pk_nop(p, 255);
}

static unsigned int nothing(uint64_t *p)
{
	(void)p;
	return 0;
}

static unsigned int signal_all(uint64_t *p)
{
	return pk_signal(p, TSR_SIGNAL_OP_ADD, TSR_EVENT_ALL_DONE, true, STAGE_DATA, 1);
}

static unsigned int fence(uint64_t *p)
{
	return pk_fence(p, TSR_EVENT_REACHED, false, STAGE_DATA, 1);
}

static unsigned int timestamp(uint64_t *p)
{
	return pk_timestamp(p, TSR_EVENT_ALL_DONE, STAGE_DATA);
}

static unsigned int wait(uint64_t *p)
{
	return pk_wait(p, TSR_COMPARE_GE, true, STAGE_DATA, 0);
}

static unsigned int counters(uint64_t *p)
{
	unsigned int n = pk_counter_begin(p, 0xffff);

	return n + pk_counter_end(p + n, STAGE_DATA);
}

static unsigned int copy(uint64_t *p)
{
	return pk_copy(p, STAGE_DATA + 0x80000, STAGE_DATA, 0x80000);
}

static unsigned int fill(uint64_t *p)
{
	return pk_fill(p, STAGE_DATA, STAGE_DATA_SIZE, 0x5a);
}

/* A column of bytes: a row each. */
static unsigned int column(uint64_t *p)
{
	tsr_pack_copy_rect(p, &(struct tsr_copy_rect){
		.texel = 1, .src = STAGE_DATA, .dst = STAGE_DATA + 0x80000, .src_pitch = 32,
		.dst_pitch = 32, .width = 1, .height = 0x4000 });
	return TSR_COPY_RECT_QWORDS;
}

/* Out of tiles into rows, mirrored, large texels. */
static unsigned int tiles(uint64_t *p)
{
	tsr_pack_copy_rect(p, &(struct tsr_copy_rect){
		.texel = 16, .src = STAGE_DATA, .dst = STAGE_DATA + 0x80000, .src_pitch = 0x8000,
		.dst_pitch = 0x800, .width = 128, .height = 128, .flip_x = true, .flip_y = true,
		.src_layout = TSR_LAYOUT_TILED });
	return TSR_COPY_RECT_QWORDS;
}

static const struct endless_stream streams[] = {
	{ "jumps", nothing }, { "NOPs", nop }, { "SIGNALs", signal_all }, { "FENCEs", fence },
	{ "TIMESTAMPs", timestamp }, { "WAITs", wait }, { "COUNTERs", counters },
	{ "copies", copy }, { "fills", fill }, { "columns of bytes", column },
	{ "copies of tiles", tiles },
};

static void endless_streams(const struct tsr_config *config, unsigned int pending)
{
	for (unsigned int i = 0; i < sizeof(streams) / sizeof(streams[0]); i++) {
		struct stage_stream stream;
		struct bench_queue q;
		struct stage s;
		uint64_t p[256];

		stage_init(&s, config);
		s.b->pending_every = pending;
		stage_queue(&s, &q, 0, TSR_ENGINE_CLASS_COPY, 0);
		stream = stage_stream(&s, 0);
		stage_add(&stream, p, streams[i].packet(p));
		stage_add(&stream, p, pk_jump(p, stream.va, stream.size + 24));
		stage_call(&q, &stream);
		bench_kick(&q);
		stop_work_check(&q, streams[i].what, true);
		stage_free(&s);
	}
}

static const struct tsr_config no_inline = { .no_inline = true };

static void copies(void)
{
	endless_streams(&no_inline, 0);
}

/* As behind an IOMMU that has to be asked for every page. */
static void copies_pending(void)
{
	endless_streams(&no_inline, 1);
}

/* ---- Programs -------------------------------------------------------------------------------- */

static void programs(void)
{
	for (unsigned int i = 0; i < ENDLESS_PROGRAMS; i++) {
		static const struct tsr_config config = { .no_inline = true, .cores = 2 };
		struct shade_machine m;

		shade_init(&m, &config);
		endless_dispatch(&m, &endless_programs[i]);
		stop_work_check(&m.q, endless_programs[i].what, true);
		shade_free(&m);
	}
}

/* ---- BIN ------------------------------------------------------------------------------------- */

static void jump(struct binner *f, uint32_t to)
{
	uint64_t word[TSR_LIST_JUMP_QWORDS];

	tsr_pack_list_jump(word, &(struct tsr_list_jump){
		.addr = BINNER_LIST + to, .size = f->list_bytes + sizeof(word) - to });
	binner_packet(f, word, TSR_LIST_JUMP_QWORDS);
}

static void vertices(struct binner *f)
{
	binner_draw(f, &(struct tsr_list_draw){
		.topology = TSR_TOPOLOGY_TRIANGLES, .count = 3u << 29, .instances = 1 });
}

static void instances(struct binner *f)
{
	binner_draw(f, &(struct tsr_list_draw){
		.topology = TSR_TOPOLOGY_TRIANGLES, .count = 1, .instances = 1u << 28 });
}

/* Indices that end a strip, all of them. */
static void restarts(struct binner *f)
{
	memset(f->data, 0xff, BINNER_DATA_SIZE);
	binner_draw(f, &(struct tsr_list_draw){
		.topology = TSR_TOPOLOGY_TRIANGLE_STRIP, .index = TSR_INDEX_TYPE_U8,
		.restart = true, .count = BINNER_DATA_SIZE, .instances = 1 << 23,
		.indices = BINNER_DATA,
		.index_bytes = BINNER_DATA_SIZE });
}

static void indirect(struct binner *f)
{
	uint64_t word[TSR_LIST_DRAW_INDIRECT_QWORDS];

	memset(f->data, 0, 64);
	tsr_pack_list_draw_indirect(word, &(struct tsr_list_draw_indirect){
		.topology = TSR_TOPOLOGY_TRIANGLES, .arguments = BINNER_DATA, .draws = UINT32_MAX,
		.stride = 0 });
	binner_packet(f, word, TSR_LIST_DRAW_INDIRECT_QWORDS);
}

static void draws(struct binner *f)
{
	binner_arrays(f, TSR_TOPOLOGY_TRIANGLES, 3);
}

static void nothing_to_draw(struct binner *f)
{
	(void)f;
}

static const struct endless_list {
	const char *what;
	void (*add)(struct binner *f);
	bool endless;			/* nothing ends it */
	bool tiles;			/* true: draw; false: discard, because heaps are limited */
} lists[] = {
	{ "states", nothing_to_draw, false, false }, { "draws", draws, true, false },
	{ "vertices", vertices, true, false },
	{ "instances without triangles", instances, true, false },
	{ "indices that end strips", restarts, true, false },
	{ "indirect draws", indirect, true, false },
	{ "triangles of all tiles", vertices, false, true },
};

/* One step as if the queue were to stop, as stop_work_step(); *@step: what became of it. */
static uint64_t bin_step(struct binner *f, enum tsr_step *step)
{
	atomic_store(&f->mem.port->stop, true);
	*step = tsr_bin_run(f->bin, &f->mem);
	atomic_store(&f->mem.port->stop, false);
	tsr_mem_flush_dirty(f->mem.port);
	bench_answer(f->b);
	return f->bin->cycles;
}

static void endless_draws(void)
{
	for (unsigned int i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		const struct endless_list *l = &lists[i];
		struct binner *f = binner_new(8192, 8192);
		enum tsr_step step = TSR_STEP_MORE;
		uint64_t word[TSR_BIN_QWORDS], most = 0;

		f->position = endless_corner;
		f->frame.tile_shift = TSR_TILE_SHIFT_MIN;
		f->draw.discard = !l->tiles;
		binner_again(f);
		binner_states(f);
		l->add(f);
		jump(f, 0);
		tsr_pack_frame((uint64_t *)(f->list + (BINNER_FRAME - BINNER_LIST)), &f->frame);
		tsr_pack_bin(word, &(struct tsr_bin){ .list = BINNER_LIST, .size = f->list_bytes,
						      .frame = BINNER_FRAME });
		stop_work_watch(true);
		ktap_eq(tsr_bin_begin(f->bin, &f->mem, 0x1000, word), TSR_STEP_DONE);
		for (unsigned int n = 0; n < 300 && step != TSR_STEP_FAULT; n++) {
			uint64_t cycles = bin_step(f, &step);

			most = cycles > most ? cycles : most;
		}
		stop_work_watch(false);
		ktap_note("%s: %llu cycles", l->what, (unsigned long long)most);
		if (!ktap_ok(!l->endless || step == TSR_STEP_MORE))
			ktap_note("%s: fault %u", l->what, f->mem.fault.code);
		ktap_ok(most && most <= TSR_STOP_WORK);
		binner_free(f);
	}
}

int main(void)
{
	ktap_start();
	ktap_run("[SYS7] streams and copies stop within STOP_WORK", copies);
	ktap_run("[SYS7] and so they do where pages are pending", copies_pending);
	ktap_run("[SYS7] COMPUTE stops within STOP_WORK in endless programs", programs);
	ktap_run("[SYS7] BIN stops within STOP_WORK in endless draws", endless_draws);
	return ktap_finish();
}
