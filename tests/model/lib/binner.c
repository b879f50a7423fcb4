/* SPDX-License-Identifier: MIT */
#include "binner.h"

#include <stdlib.h>
#include <string.h>

#include "geometry/stages.h"

uint32_t binner_bits(float value)
{
	uint32_t u;

	memcpy(&u, &value, sizeof(u));
	return u;
}

/*
 * The stage I/O memory of vertex @slot of a draw with GEOMETRY, as if its shader had stored only
 * the record.
 */
static void fill_space(struct tsr_stage_block *b, unsigned int slot, const float *record)
{
	uint32_t word[16];

	memcpy(word, record, sizeof(word));
	for (unsigned int i = 0; i < 4; i++)
		tsr_stage_store(b, slot, TSR_STAGE_POSITION_X + i, word[i]);
	tsr_stage_store(b, slot, TSR_STAGE_POINT_SIZE, word[4]);
	tsr_stage_store(b, slot, TSR_STAGE_LAYER, word[5] & 7);
	tsr_stage_store(b, slot, TSR_STAGE_VIEWPORT, word[5] >> 16 & 15);
	for (unsigned int i = 0; i < 8; i++)
		tsr_stage_store(b, slot, TSR_STAGE_DISTANCES + i, word[8 + i]);
}

/* Factors of patches, by the test's positions: small ones, and some that are no numbers. */
static void fill_patches(struct binner *f, struct tsr_binning *bin)
{
	for (unsigned int i = 0; i < bin->stages->patches->control.count; i++) {
		uint32_t *word = bin->stages->patches->patch[i].word;
		float record[16] = { 0 };

		f->position(f, bin->stages->patches->control.id[i], 77, record);
		for (unsigned int k = 0; k < 6; k++)
			record[k] = record[k + 4] > 0 && record[k + 4] < 1 ? 20 * record[k + 4] :
									    record[k + 4];
		memcpy(word, record, 24);
	}
}

/* Some vertices of each thread of a geometry shader, as if it had stored a position. */
static void fill_emitted(struct binner *f, struct tsr_binning *bin)
{
	struct tsr_emit *e = bin->stages->emit;

	for (unsigned int t = 0; t < e->threads; t++) {
		for (unsigned int v = 0; v < 7; v++) {
			float record[16] = { 0 };
			uint32_t word[4];

			f->position(f, bin->run->vertex[t], 1000 + 7 * t + v, record);
			memcpy(word, record, sizeof(word));
			for (unsigned int i = 0; i < 4 && e->emitted[t] < e->most; i++) {
				if (tsr_stage_has(&e->block.out, TSR_STAGE_POSITION_X + i))
					tsr_emit_store(e, tsr_emit_place(e, t, e->emitted[t],
						TSR_STAGE_POSITION_X + i), word[i]);
			}
			if (record[6] > -0.5f)
				tsr_emit_vertex(e, t, e->corners > 1 ? 0 : word[0] & 3);
			if (record[7] > 0.5f)
				tsr_emit_cut(e, t);
		}
	}
}

/* A stage of a draw with GEOMETRY. */
static void shade_stage(struct binner *f, struct tsr_binning *bin)
{
	const struct tsr_vertex_run *run = bin->run;
	const unsigned int stage = bin->stages->stage;
	const unsigned int threads = stage == TSR_STAGE_VERTEX ? bin->batch.vertices : run->threads;

	tsr_geometry_bind(bin);
	for (unsigned int i = 0; i < threads; i++) {
		float record[16] = { 0 };

		f->position(f, run->vertex[i], run->instance[i] + 99 * stage + i % 8, record);
		if (run->slot[i] < run->block->vertices)
			fill_space(run->block, run->slot[i], record);
	}
	if (stage == TSR_STAGE_HULL)
		fill_patches(f, bin);
	if (stage == TSR_STAGE_GEOMETRY)
		fill_emitted(f, bin);
}

/* In place of the cores: the test's positions. */
static enum tsr_step shade(struct tsr_binning *bin, struct tsr_mem *mem)
{
	struct binner *f = (struct binner *)((char *)mem - offsetof(struct binner, mem));

	if (bin->state->geometry) {
		shade_stage(f, bin);
		return TSR_STEP_DONE;
	}
	for (unsigned int i = 0; i < bin->batch.vertices; i++) {
		float record[16] = { 0 };

		f->position(f, bin->run->vertex[i], bin->run->instance[i], record);
		memcpy(tsr_vertex_records(bin->run)[bin->run->slot[i]], record, sizeof(record));
	}
	f->shaded += bin->batch.vertices;
	if (f->runs < 4096)
		f->run_vertices[f->runs] = bin->batch.vertices;
	f->runs++;
	return TSR_STEP_DONE;
}

static void *buffer(struct binner *f, uint64_t va, uint64_t size, uint64_t bits)
{
	return bench_buffer(&f->as, va, size, bits);
}

struct binner *binner_new(unsigned int width, unsigned int height)
{
	return binner_new_on(width, height, NULL);
}

struct binner *binner_new_on(unsigned int width, unsigned int height,
			     const struct tsr_config *config)
{
	struct binner *f = calloc(1, sizeof(*f));

	if (!f)
		abort();
	f->b = bench_new(config);
	bench_as_init(f->b, &f->as, 1);
	f->data = buffer(f, BINNER_DATA, BINNER_DATA_SIZE, BENCH_RW);
	f->list = buffer(f, BINNER_LIST, BINNER_LIST_SIZE, BENCH_RX);
	f->heap = buffer(f, BINNER_HEAP, BINNER_HEAP_SIZE, BENCH_RW);
	f->mem = tsr_runner_mem(&f->b->gpu->runner[0], NULL, 1, 0);
	f->bin = tsr_bin_new();
	if (!f->bin)
		abort();
	f->bin->shade = shade;
	f->frame = (struct tsr_frame){
		.width = width, .height = height, .layers = 1, .tile_shift = 4,
		.heap = BINNER_HEAP, .heap_size = BINNER_HEAP_SIZE,
	};
	f->draw = (struct tsr_draw_state){ .viewport_count = 1, .sample_mask = 0xffff };
	f->draw.line_width = f->draw.point_size = binner_bits(1);
	for (unsigned int i = 0; i < TSR_VIEWPORTS_MAX; i++) {
		f->viewport[i] = (struct tsr_viewport){
			.width = binner_bits(width), .height = binner_bits(height),
			.far = binner_bits(1), .scissor_x1 = width, .scissor_y1 = height,
		};
	}
	binner_states(f);
	return f;
}

void binner_free(struct binner *f)
{
	tsr_bin_free(f->bin);
	bench_free(f->b);
	free(f->seen);
	free(f);
}

void binner_again(struct binner *f)
{
	f->list_bytes = 0;
	f->states = 0;
	f->seen_count = 0;
	f->shaded = 0;
	f->runs = 0;
}

void binner_packet(struct binner *f, const uint64_t *word, unsigned int qwords)
{
	if (f->list_bytes + qwords * 8 > BINNER_STATES - BINNER_LIST)
		abort();
	memcpy(f->list + f->list_bytes, word, qwords * 8);
	f->list_bytes += qwords * 8;
}

void binner_states(struct binner *f)
{
	uint64_t va = BINNER_STATES + 1024 * (uint64_t)f->states++, word[16];
	uint8_t *at = f->list + (va - BINNER_LIST);

	if (va + 1024 > BINNER_FRAME)
		abort();
	f->draw.viewports = va + 256;
	tsr_pack_shader_state((uint64_t *)at, &f->shader);
	tsr_pack_draw_state((uint64_t *)(at + 128), &f->draw);
	for (unsigned int i = 0; i < TSR_VIEWPORTS_MAX; i++)
		tsr_pack_viewport((uint64_t *)(at + 256 + 32 * i), &f->viewport[i]);
	tsr_pack_list_shader_state(word, &(struct tsr_list_shader_state){ .addr = va });
	binner_packet(f, word, TSR_LIST_SHADER_STATE_QWORDS);
	tsr_pack_list_draw_state(word, &(struct tsr_list_draw_state){ .addr = va + 128 });
	binner_packet(f, word, TSR_LIST_DRAW_STATE_QWORDS);
}

void binner_draw(struct binner *f, const struct tsr_list_draw *draw)
{
	uint64_t word[TSR_LIST_DRAW_QWORDS];

	tsr_pack_list_draw(word, draw);
	binner_packet(f, word, TSR_LIST_DRAW_QWORDS);
}

void binner_arrays(struct binner *f, unsigned int topology, uint32_t count)
{
	binner_draw(f, &(struct tsr_list_draw){ .topology = topology, .count = count,
					       .instances = 1 });
}

/* The binner waits for the host, or for its heap. */
static void wait(struct binner *f)
{
	if (!bench_answer(f->b) && f->grow)
		f->grow(f);
}

bool binner_bin(struct binner *f)
{
	uint64_t word[TSR_BIN_QWORDS];
	enum tsr_step step;

	word[0] = TSR_OP_LIST_HALT | TSR_LIST_HALT_QWORDS << 8;
	binner_packet(f, word, TSR_LIST_HALT_QWORDS);
	tsr_pack_frame((uint64_t *)(f->list + (BINNER_FRAME - BINNER_LIST)), &f->frame);
	tsr_pack_bin(word, &(struct tsr_bin){ .list = BINNER_LIST, .size = f->list_bytes,
					      .frame = BINNER_FRAME });
	f->steps = 0;
	while ((step = tsr_bin_begin(f->bin, &f->mem, 0x1000, word)) == TSR_STEP_PENDING)
		wait(f);
	if (step != TSR_STEP_DONE)
		return false;
	for (;;) {
		step = tsr_bin_run(f->bin, &f->mem);
		f->steps++;
		if (step == TSR_STEP_PENDING)
			wait(f);
		else if (step != TSR_STEP_MORE)
			break;
	}
	tsr_mem_flush_dirty(f->mem.port);
	return step == TSR_STEP_DONE;
}

static struct binner_seen *another(struct binner *f)
{
	if (f->seen_count == f->seen_room) {
		f->seen_room = f->seen_room ? 2 * f->seen_room : 1024;
		f->seen = realloc(f->seen, f->seen_room * sizeof(*f->seen));
		if (!f->seen)
			abort();
	}
	return &f->seen[f->seen_count++];
}

static enum tsr_step read_tile(struct binner *f, struct tsr_tile_reader *r,
			       const struct tsr_frame_heap *heap, unsigned int layer,
			       unsigned int tx, unsigned int ty)
{
	enum tsr_step step = tsr_tile_list_open(r, &f->mem, heap, layer, tx, ty);
	uint32_t ids[TSR_BATCH_VERTICES][2], of = 0;
	struct tsr_prim prim;

	while (step == TSR_STEP_DONE || step == TSR_STEP_MORE) {
		struct binner_seen *s;

		step = tsr_tile_list_next(r, &f->mem, &prim);
		if (step != TSR_STEP_DONE || !prim.vertices)
			break;
		s = another(f);
		*s = (struct binner_seen){ .prim = prim, .batch = *prim.batch, .layer = layer,
					  .tx = tx, .ty = ty };
		if (of != s->batch.offset)
			step = tsr_heap_ids(&f->mem, prim.batch, ids);
		of = s->batch.offset;
		for (unsigned int i = 0; i < prim.vertices; i++)
			memcpy(s->id[i], ids[prim.slot[i]], sizeof(s->id[i]));
	}
	return step;
}

bool binner_read(struct binner *f)
{
	struct tsr_tile_reader *r = tsr_tile_reader_new();
	const struct tsr_frame_info *info = &f->bin->info;
	struct tsr_frame_heap heap;
	enum tsr_step step = tsr_heap_open(&f->mem, info, &heap);

	f->seen_count = 0;
	for (unsigned int t = 0; step == TSR_STEP_DONE && t < info->tiles; t++) {
		unsigned int ty = t / info->tiles_x;

		step = read_tile(f, r, &heap, ty / info->tiles_y, t % info->tiles_x,
				 ty % info->tiles_y);
	}
	for (uint32_t i = 0; i < f->seen_count; i++)
		f->seen[i].prim.batch = &f->seen[i].batch;
	tsr_tile_reader_free(r);
	return step == TSR_STEP_DONE;
}
