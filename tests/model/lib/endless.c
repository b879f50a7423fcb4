/* SPDX-License-Identifier: MIT */
#include "endless.h"

#include <string.h>

/* ---- Tiles ----------------------------------------------------------------------------------- */

#define PACKET(opcode, colors, zs) \
	((opcode) | 1u << 8 | (colors) << 16 | (uint64_t)(zs) << 24)
#define CLEAR PACKET(TSR_OP_TILE_CLEAR, 0xff, 3)
#define LOAD PACKET(TSR_OP_TILE_LOAD, 0xff, 3)
#define DRAW PACKET(TSR_OP_TILE_DRAW, 0, 0)
#define STORE PACKET(TSR_OP_TILE_STORE, 0xff, 3)

const struct endless_tile endless_tiles[ENDLESS_TILES] = {
	{ "jumps", 0, { 0 } },
	{ "clears", 1, { CLEAR } },
	{ "loads", 1, { LOAD } },
	{ "draws", 1, { DRAW } },
	{ "stores", 1, { STORE } },
	{ "stores of nothing", 1, { PACKET(TSR_OP_TILE_STORE, 0, 0) } },
	{ "draws and stores", 2, { DRAW, STORE } },
	{ "loads and stores", 2, { LOAD, STORE } },
	{ "clears and stores", 2, { CLEAR, STORE } },
};

void endless_corner(struct binner *f, uint32_t vertex, uint32_t instance, float *record)
{
	(void)f;
	(void)instance;
	record[0] = vertex % 3 == 1 ? 3 : -1;
	record[1] = vertex % 3 == 2 ? 3 : -1;
	record[2] = 0.5f;
	record[3] = 1;
}

struct tiles *endless_frame(const struct tsr_config *config, unsigned int samples_log2)
{
	struct tiles *t = tiles_new(128, 128, config);
	unsigned int n = 0, shift = TSR_TILE_SHIFT_MAX, most;

	while (12u << (2 * shift + samples_log2) > TSR_TILE_BUFFER_BYTES)
		shift--;
	most = TSR_TILE_BUFFER_BYTES >> (2 * shift + samples_log2);
	t->f->frame.tile_shift = shift;
	t->f->frame.samples_log2 = samples_log2;
	t->f->position = endless_corner;
	binner_again(t->f);
	binner_states(t->f);
	binner_arrays(t->f, TSR_TOPOLOGY_TRIANGLES, 3 * 64);
	for (; n < TSR_RENDER_TARGETS_MAX && (n + 1) * 16 + 8 <= most; n++)
		tiles_target(t, n, TSR_PIXEL_FORMAT_RGBA32F, 16);
	if (!n)
		tiles_target(t, n++, TSR_PIXEL_FORMAT_RGBA8_UNORM, 4);
	t->f->frame.targets = n;
	tiles_target(t, TILES_DEPTH, TSR_PIXEL_FORMAT_R32F, 4);
	return t;
}

void endless_render(struct tiles *t, const struct endless_tile *e)
{
	uint64_t word[2 + TSR_LIST_JUMP_QWORDS];
	unsigned int n = e->words;

	for (unsigned int w = 0; w < n; w++)
		word[w] = e->word[w];
	tsr_pack_list_jump(word + n, &(struct tsr_list_jump){
		.addr = TILES_LIST, .size = 8 * (n + TSR_LIST_JUMP_QWORDS) });
	t->list = word;
	t->list_qwords = n + TSR_LIST_JUMP_QWORDS;
	tiles_submit(t);
	t->list = NULL;
}

/* ---- Programs -------------------------------------------------------------------------------- */

const struct endless_program endless_programs[ENDLESS_PROGRAMS] = {
	{ "a clause that jumps to itself",
	  "loop: clause flow=nbtb_unconditional { +JUMP loop }\n" },
	{ "long clauses",
	  "loop: clause flow=nbtb_unconditional {\n"
	  "	*IMUL.i32 r1, r8, r9\n	+IADD.s32 r2, r8, r9\n"
	  "	*IMUL.i32 r3, r8, r9\n	+IADD.s32 r4, r8, r9\n"
	  "	*IMUL.i32 r5, r8, r9\n	+IADD.s32 r6, r8, r9\n"
	  "	*IMUL.i32 r1, r8, r9\n	+IADD.s32 r2, r8, r9\n"
	  "	*IMUL.i32 r3, r8, r9\n	+IADD.s32 r4, r8, r9\n"
	  "	*IMUL.i32 r5, r8, r9\n	+JUMP loop\n}\n" },
	{ "loads",
	  "loop: clause slot=0 wait=0 {\n	*MOV.i32 t0, u0.w0\n	+MOV.i32 t1, u0.w1\n"
	  "	*NOP\n	+LOAD.i128 t0, t1, @r4\n}\n"
	  "clause flow=nbtb_unconditional { +JUMP loop }\n" },
	{ "stores",
	  "loop: clause slot=0 wait=0 {\n	*MOV.i32 t0, u0.w0\n"
	  "	+MOV.i32 t1, u0.w1\n	*NOP\n	+STORE.i128 t0, t1, @r4\n}\n"
	  "clause flow=nbtb_unconditional { +JUMP loop }\n" },
	{ "atomics",
	  "loop: clause slot=0 wait=0 {\n	*MOV.i32 t0, u0.w0\n	+MOV.i32 t1, u0.w1\n"
	  "	*ATOM_C1.i32.ainc t0, t1\n	+ATOM_CX t0, t1, zero.w0, @r9\n}\n"
	  "clause flow=nbtb_unconditional { +JUMP loop }\n" },
	{ "barriers",
	  "loop: clause slot=7 wait=7 { +BARRIER }\n"
	  "clause flow=nbtb_unconditional { +JUMP loop }\n" },
	{ "groups that end", "clause end { *NOP }\n" },
};

void endless_dispatch(struct shade_machine *m, const struct endless_program *e)
{
	static struct shade_code code;
	struct shade_dispatch d = {
		.code = &code, .groups = { TSR_GROUPS_MAX, TSR_GROUPS_MAX, 1 },
	};

	memset(&code, 0, sizeof(code));
	shade_text(&code, e->text);
	d.state.local_x = 1024;
	d.state.group_memory = 32768;
	shade_push64(d.push, 0, STAGE_DATA);
	shade_call(&m->s, &m->q, &d);
	bench_kick(&m->q);
}
