/* SPDX-License-Identifier: MIT */
/* Batches of vertices: registers at entry. */
#include <string.h>

#include "shader/stage_block.h"
#include "units/msg_bundle.h"
#include "stage_run.h"

/* Registers a vertex program finds, and those of stages after it: as those of compute. */
enum {
	REG_HANDLES = 0,		/* up to 7: of its primitive's vertices, 8 bits each */
	REG_THREAD = 55,		/* of its patch */
	REG_PRIMITIVE = 57,
	REG_STAGE_INSTANCE = 58,
	REG_NUMBER = 59,		/* of the primitive in its block */
	REG_U = 60,
	/* address of what the thread writes, two words: POSITION the record, VERTEX the window */
	REG_RECORD = 58,
	REG_VERTEX = 61,
	REG_INSTANCE = 62,
};

/*
 * Register @r of all threads: one word after the other, 0 where there is no thread in the last
 * warp.
 */
static uint32_t *all_of(struct tsr_vertex_run *v, unsigned int r)
{
	uint32_t *word = (uint32_t *)tsr_stage_reg(&v->run, r, 0);

	if (v->threads % TSR_WARP_LANES)
		tsr_stage_fill((union tsr_lanes *)word + v->threads / TSR_WARP_LANES, 0);
	return word;
}

/* Every thread finds its own outputs at the front of the window. */
static void point_to_space(struct tsr_vertex_run *v)
{
	uint32_t *high = all_of(v, REG_RECORD + 1);

	memset(all_of(v, REG_RECORD), 0, v->threads * sizeof(*high));
	for (unsigned int n = 0; n < v->threads; n++)
		high[n] = TSR_WINDOW_STAGE_OUTPUT >> 32;
}

/* Handles of primitive @n, eight words. */
static void handles(const struct tsr_stage_list *list, unsigned int n, uint32_t word[8])
{
	memset(word, 0, 8 * sizeof(*word));
	for (unsigned int i = 0; i < list->points; i++)
		word[i / 4] |= (uint32_t)list->slot[n][i] << 8 * (i % 4);
}

/* A coordinate of a domain as a float: exact. */
static uint32_t coordinate(uint32_t fixed)
{
	const float f = (float)fixed / TSR_TESS_ONE;
	uint32_t word;

	memcpy(&word, &f, sizeof(word));
	return word;
}

/* Threads of a stage after VERTEX. */
static void start_group(struct tsr_shader *sh, struct tsr_vertex_run *v)
{
	const uint64_t entry = 0xff | 1ull << REG_THREAD | 7ull << REG_PRIMITIVE | 7ull << REG_U;
	const bool domain = v->program->stage == TSR_STAGE_DOMAIN;
	const struct tsr_stage_group *g = v->group;
	uint32_t *reg[64], word[8];

	tsr_stage_start(sh, &v->run, v->program, g->live, entry, entry);
	for (unsigned int r = 0; r < 64; r++)
		reg[r] = entry >> r & 1 ? all_of(v, r) : NULL;
	for (unsigned int n = 0; n < v->threads; n++) {
		const uint32_t *at = g->at[n];

		if (!n || g->primitive[n] != g->primitive[n - 1])
			handles(g->list, g->primitive[n], word);
		for (unsigned int i = 0; i < 8; i++)
			reg[REG_HANDLES + i][n] = word[i];
		reg[REG_THREAD][n] = g->thread[n];
		reg[REG_PRIMITIVE][n] = v->vertex[n];
		reg[REG_STAGE_INSTANCE][n] = v->instance[n];
		reg[REG_NUMBER][n] = g->primitive[n];
		reg[REG_U][n] = domain ? coordinate(at[0]) : 0;
		reg[REG_U + 1][n] = domain ? coordinate(at[1]) : 0;
		reg[REG_U + 2][n] = domain && g->triangle ?
				    coordinate(TSR_TESS_ONE - at[0] - at[1]) : 0;
	}
}

static void start(struct tsr_shader *sh, struct tsr_vertex_run *v)
{
	bool position = v->program->stage == TSR_STAGE_POSITION;
	bool space = v->program->stage == TSR_STAGE_VERTEX;
	uint64_t entry = (position || space ? 3ull << REG_RECORD : 0) | 3ull << REG_VERTEX;
	uint16_t live[TSR_BUNDLE_WARPS] = { 0 };
	const unsigned int threads = v->threads;
	uint32_t *low, *high;

	for (unsigned int w = 0; w < TSR_BUNDLE_WARPS; w++) {
		unsigned int before = w * TSR_WARP_LANES;

		if (v->threads >= before + TSR_WARP_LANES)
			live[w] = UINT16_MAX;
		else if (v->threads > before)
			live[w] = (1u << (v->threads - before)) - 1;
	}
	tsr_stage_start(sh, &v->run, v->program, live, entry, entry);
	memcpy(all_of(v, REG_VERTEX), v->vertex, threads * sizeof(v->vertex[0]));
	memcpy(all_of(v, REG_INSTANCE), v->instance, threads * sizeof(v->instance[0]));
	if (space)
		point_to_space(v);
	if (!position)
		return;
	v->retained = 0;
	v->spilled = false;
	/* most programs ask LEA_ATTR where their record is */
	if (!(v->run.reads >> REG_RECORD & 3))
		return;
	low = all_of(v, REG_RECORD);
	high = all_of(v, REG_RECORD + 1);
	for (unsigned int n = 0; n < threads; n++)
		low[n] = (uint32_t)TSR_WINDOW_OUTPUT + v->slot[n] * (uint32_t)sizeof(v->record[0]);
	for (unsigned int n = 0; n < threads; n++)
		high[n] = TSR_WINDOW_OUTPUT >> 32;
}

void tsr_vertex_spill(struct tsr_vertex_run *v)
{
	memset(v->record, 0, v->records * sizeof(v->record[0]));
	for (unsigned int n = 0; n < v->threads; n++) {
		const unsigned int w = n / TSR_WARP_LANES, l = n % TSR_WARP_LANES;

		for (unsigned int i = 0; v->retained >> w & 1 && i < 4; i++)
			((uint32_t *)v->record[n])[i] = v->position[i][w].u[l];
	}
	v->spilled = true;
}

typedef uint32_t words __attribute__((vector_size(64), may_alias));

/* True if @lanes of warp @w name their own records: slots are in the order of the threads. */
static bool own_records(const union tsr_lanes *lo, const union tsr_lanes *hi, unsigned int w,
			uint16_t lanes)
{
	static const words weight = { 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192,
				      16384, 32768 };
	static const words record = { 0, 64, 128, 192, 256, 320, 384, 448, 512, 576, 640, 704, 768,
				      832, 896, 960 };
	const uint32_t first = (uint32_t)TSR_WINDOW_OUTPUT + w * TSR_WARP_LANES * 64;
	words wrong = (*(const words *)lo ^ (record + first)) |
		      (*(const words *)hi ^ (uint32_t)(TSR_WINDOW_OUTPUT >> 32));
	uint64_t part[8], any = 0;

	if (lanes != UINT16_MAX)
		wrong &= (words)((weight & lanes) == weight);
	memcpy(part, &wrong, sizeof(part));
	for (unsigned int i = 0; i < 8; i++)
		any |= part[i];
	return !any;
}

_Static_assert(TSR_POSITION_EXTENDED__QWORDS * 8 == 64, "the size of a record");

bool tsr_vertex_retain(struct tsr_vertex_run *v, const struct tsr_msg_bundle *b, unsigned int w)
{
	const unsigned int first = w * TSR_WARP_LANES, left = v->threads - first;
	const uint16_t all = left < TSR_WARP_LANES ? (1u << left) - 1 : UINT16_MAX;

	if (v->spilled || first >= v->threads || v->threads > v->records || b->lanes[w] != all ||
	    !own_records(b->src[0] + w * b->src_step[0], b->src[1] + w * b->src_step[1], w, all))
		return false;
	for (unsigned int i = 0; i < 4; i++)
		v->position[i][w] = *tsr_msg_bundle_staging(b, w, i);
	v->retained |= 1u << w;
	return true;
}

enum tsr_step tsr_vertex_run(struct tsr_shader *sh, struct tsr_vertex_run *v)
{
	sh->env.vertices = v;
	sh->env.fragments = NULL;
	if (!tsr_stage_resume(sh, &v->run, v->program)) {
		tsr_mmu_fault(&sh->mem, TSR_FAULT_UNSUPPORTED, v->program->va, TSR_ACCESS_NONE, 0);
		sh->fault = sh->mem.fault;
		return TSR_STEP_FAULT;
	}
	if (!v->run.begun) {
		if (v->program->stage > TSR_STAGE_VERTEX)
			start_group(sh, v);
		else
			start(sh, v);
		sh->stats.vertices += v->threads;
	}
	return tsr_stage_advance(sh, &v->run);
}
