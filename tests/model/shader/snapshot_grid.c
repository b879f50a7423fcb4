/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/*
 * Which states of a dispatch are refused when they come out of a snapshot: each rule of warps,
 * their messages, groups and cores at its limit, and one beyond. As in snapshot_rules.c they are
 * written into a device that is saved.
 */
#include <stdlib.h>
#include <string.h>

#include "device/gpu.h"
#include "ktap.h"
#include "reload.h"
#include "shade.h"
#include "shader/grid.h"

#define LOCAL 40			/* three warps, the last with 8 threads */
#define GROUPS_X 3			/* by 2 by 2; each of two cores has every other one */

static const char program[] =
	"clause slot=0 {\n"
	"	*SHADDXL.u32 t0, u0.w0, r60, shift:2\n"
	"	+SHADDXH.i32 t1, u0.w1, t\n"
	"	+LOAD.i32 t0, t1, @r0\n"
	"}\n"
	"clause slot=1 wait=0 message=store end {\n"
	"	*SHADDXL.u32 t0, u1.w0, r60, shift:2\n"
	"	+SHADDXH.i32 t1, u1.w1, t\n"
	"	+STORE.i32 t0, t1, @r0\n"
	"}\n";

/* A device that is paused in a dispatch. */
struct play {
	struct shade_machine m;
	struct tsr_grid *grid;
	struct tsr_core *core;		/* where warps have sent messages */
	struct tsr_warp *warp[3];	/* of its first group */
};

static bool look(struct play *y)
{
	y->grid = y->m.s.b->gpu->queue[y->m.q.slot].work.grid;
	for (unsigned int i = 0; y->grid && i < y->grid->job.cores; i++) {
		struct tsr_core *core = &y->grid->core[i];
		bool sent = core->group[0].warps == 3;

		for (unsigned int n = 0; sent && n < 3; n++) {
			y->warp[n] = tsr_core_warp(core, n);
			sent = y->warp[n]->stored;
		}
		y->core = core;
		if (sent)
			return true;
	}
	return false;
}

/* Start groups of @local threads that execute @text. */
static void start(struct play *y, const char *text, unsigned int local)
{
	static const struct tsr_config config = { .cores = 2, .late_messages = true };
	static struct shade_code code;
	struct shade_dispatch d = { .code = &code, .groups = { GROUPS_X, 2, 2 } };

	memset(&code, 0, sizeof(code));
	shade_text(&code, text);
	d.state.local_x = local;
	shade_push64(d.push, 0, STAGE_DATA);
	shade_push64(d.push, 1, STAGE_DATA + 0x10000);
	shade_init(&y->m, &config);
	shade_call(&y->m.s, &y->m.q, &d);
	bench_kick(&y->m.q);
}

static void begin(struct play *y)
{
	start(y, program, LOCAL);
	for (unsigned int i = 0; i < 500 && !look(y); i++)
		tsr_gpu_run(y->m.s.b->gpu, 1);
	if (!look(y))
		abort();
	tsr_gpu_pause(y->m.s.b->gpu);
}

/* Save and load; it is refused because of @why, or taken if that is NULL. */
static bool expect(struct play *y, const char *why)
{
	bool ok = reload_expect(y->m.s.b->gpu, why);

	shade_free(&y->m);
	return ok;
}

/* ---- Messages -------------------------------------------------------------------------------- */

static void test_messages(void)
{
	static const struct {
		size_t offset, size;
		uint64_t value;
		bool sound;
	} rows[] = {
#define FIELD(name, value, sound) \
		{ offsetof(struct tsr_stored, name), sizeof(((struct tsr_stored *)0)->name), \
		  value, sound }
		FIELD(slot, TSR_SLOTS - 1, true), FIELD(slot, TSR_SLOTS, false),
		FIELD(reg, TSR_REGISTERS - 1, true), FIELD(reg, TSR_REGISTERS, false),
		FIELD(tuple, TSR_CLAUSE_TUPLES_MAX - 1, true),
		FIELD(tuple, TSR_CLAUSE_TUPLES_MAX, false),
		FIELD(paired, 2, false), FIELD(captured, 1, true), FIELD(captured, 2, false),
		FIELD(result, TSR_REGISTERS - 1, true), FIELD(result, TSR_REGISTERS, false),
		FIELD(result, UINT8_MAX - 1, false), FIELD(result, UINT8_MAX, true),
		FIELD(lanes, 0, false), FIELD(lanes, 0x80, true), FIELD(lanes, 0xff, true),
		FIELD(lanes, 0x100, false), FIELD(lanes, 0x180, false),
		FIELD(add, UINT32_MAX, false),
	};

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct play y;

		begin(&y);
		memcpy((uint8_t *)&y.warp[2]->message[0] + rows[i].offset, &rows[i].value,
		       rows[i].size);
		if (!expect(&y, rows[i].sound ? NULL : "a message of a warp"))
			ktap_note("row %u", i);
	}
}

/* An FMA instruction that belongs to a message is one, too. */
static void test_pair(void)
{
	for (unsigned int i = 0; i < 2; i++) {
		struct play y;

		begin(&y);
		y.warp[0]->message[0].paired = 1;
		y.warp[0]->message[0].fma = i ? UINT32_MAX : y.warp[0]->message[0].fma;
		expect(&y, i ? "a message of a warp" : NULL);
	}
}

/*
 * A warp that has as many messages as it may have waits for the oldest: others would have no place.
 */
static void test_full(void)
{
	for (unsigned int i = 0; i < 3; i++) {
		struct tsr_warp *warp;
		struct play y;

		begin(&y);
		warp = y.warp[1];
		for (unsigned int n = 1; n < TSR_STORED_MAX; n++)
			warp->message[n] = warp->message[0];
		warp->stored = TSR_STORED_MAX - (i == 2);
		warp->awaited = i == 1 ? 1u << warp->message[0].slot : 0;
		if (!expect(&y, i ? NULL : "a warp's messages"))
			ktap_note("case %u", i);
	}
}

/* Nor is one stored beyond them, if a warp does not wait all the same: it is at fault. */
static void test_overfull(void)
{
	struct play y;

	begin(&y);
	for (unsigned int w = 0; w < 3; w++) {
		struct tsr_warp *warp = y.warp[w];

		for (unsigned int n = 1; n < TSR_STORED_MAX; n++)
			warp->message[n] = warp->message[0];
		warp->stored = TSR_STORED_MAX;
		warp->awaited = 0;
	}
	tsr_gpu_resume(y.m.s.b->gpu);
	ktap_ok(bench_run(y.m.s.b, 30));
	ktap_eq(bench_fault(&y.m.q), TSR_FAULT_SHADER_UNSUPPORTED);
	shade_free(&y.m);
}

/* ---- Warps and groups ------------------------------------------------------------------------ */

static void test_warps(void)
{
	static const struct {
		uint16_t live, active, parked;
		bool sound;
	} rows[] = {		/* of a warp with eight threads */
		{ 0xff, 0xff, 0, true }, { 0x1ff, 0xff, 0, false }, { 0xff, 0x1ff, 0, false },
		{ 0x7f, 0xff, 0, false }, { 0x7f, 0x7f, 0x80, false }, { 0xff, 0x7f, 0x80, true },
		{ 0xff, 0xff, 0x80, false }, { 0xff, 0, 0xff, true }, { 0xff, 0, 0x7f, false },
		{ 0xff, 0, 0, false }, { 0, 0, 0, true }, { 0xff, 1, 0, true },
	};

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct play y;

		begin(&y);
		y.warp[2]->live = rows[i].live;
		y.warp[2]->active = rows[i].active;
		y.warp[2]->parked = rows[i].parked;
		if (!expect(&y, rows[i].sound ? NULL : "a warp"))
			ktap_note("row %u", i);
	}
}

/* Others have gone first while a warp waits, or not: one bit. */
static void test_yielded(void)
{
	for (unsigned int i = 0; i < 3; i++) {
		struct play y;

		begin(&y);
		y.warp[2]->yielded = i;
		expect(&y, i < 2 ? NULL : "a warp");
	}
}

/* A barrier that all threads have come to has been passed. */
static void test_barrier(void)
{
	for (unsigned int parked = 2; parked <= 3; parked++) {
		struct play y;

		begin(&y);
		for (unsigned int n = 0; n < parked; n++) {
			y.warp[n]->parked = y.warp[n]->live;
			y.warp[n]->active = 0;
		}
		expect(&y, parked < 3 ? NULL : "a barrier");
	}
}

/* Groups are those of the dispatch, and of the core; and have been started. */
static void test_groups(void)
{
	for (unsigned int i = 0; i < 7; i++) {
		static const char *const why[7] = {
			NULL, "a group's number", "a group's number", "a group's number",
			"a group's number", "a group's number", "a core",
		};
		struct tsr_group *g;
		struct play y;

		begin(&y);
		g = &y.core->group[0];
		ktap_eq(y.grid->run, 1);
		if (i == 1)		/* the other core's */
			g->id[0]++;
		/* others of this core, by a wrong name */
		if (i == 2)
			memcpy(g->id, (uint32_t[]){ y.core->job.index ? 3 : 4, 0, 0 }, 12);
		if (i == 3)
			memcpy(g->id, (uint32_t[]){ y.core->job.index, 2, 0 }, 12);
		if (i == 4)
			g->id[2] = 2;
		if (i == 5)		/* nothing has been started */
			y.core->next = y.core->job.index * y.grid->run;
		if (i == 6)		/* the next one is another core's */
			y.core->next += y.grid->run;
		if (!expect(&y, why[i]))
			ktap_note("case %u", i);
	}
}

static void test_cores(void)
{
	for (unsigned int i = 0; i < 10; i++) {
		static const char *const why[10] = {
			NULL, "a core", NULL, "a core", NULL, "a dispatch's cursor", NULL, "a core",
			NULL, "a core",
		};
		struct play y;

		begin(&y);
		if (i / 2 == 0)
			y.core->current = TSR_CORE_BUNDLES - 1 + i % 2;
		if (i / 2 == 1)
			y.core->quantum = TSR_BUNDLE_QUANTUM + i % 2;
		if (i / 2 == 2)
			y.grid->job.cursor = y.grid->job.cores - 1 + i % 2;
		if (i / 2 == 3) {	/* as far after the last group as possible */
			y.core->next = y.core->job.index * y.grid->run;
			while (y.core->next + y.grid->run * y.grid->job.cores <=
			       y.grid->total + y.grid->run * y.grid->job.cores)
				y.core->next += y.grid->run * y.grid->job.cores;
			y.core->next += i % 2 * y.grid->run * y.grid->job.cores;
		}
		if (i / 2 == 4)
			y.core->quantum = -TSR_BUNDLE_QUANTUM - (int)(i % 2);
		if (!expect(&y, why[i]))
			ktap_note("case %u", i);
	}
}

/* A group of three bundles, of which all but the first have ended: that one comes to a barrier. */
static void test_ended(void)
{
	static const char barrier[] =
		"clause {\n	*LSHIFT_AND.i32 r0, r55, 0x3, #0\n	*NOP\n}\n"
		"clause slot=7 wait=7 {\n	+BARRIER\n}\n"
		"clause end {\n	*LSHIFT_AND.i32 r0, r55, 0x3, #0\n	*NOP\n}\n";
	struct tsr_core *core;
	struct play y;
	char err[200];
	size_t size;
	void *image;

	start(&y, barrier, 3 * TSR_BUNDLE_WARPS * TSR_WARP_LANES);
	while (!(y.grid = y.m.s.b->gpu->queue[y.m.q.slot].work.grid) || !y.grid->core[0].groups)
		tsr_gpu_run(y.m.s.b->gpu, 1);
	core = &y.grid->core[0];
	ktap_eq(core->group[0].parked, 0);
	for (unsigned int n = TSR_BUNDLE_WARPS; n < 3 * TSR_BUNDLE_WARPS; n++)
		tsr_core_warp(core, n)->used = false;
	core->group[0].warps = TSR_BUNDLE_WARPS;
	tsr_gpu_pause(y.m.s.b->gpu);
	size = tsr_gpu_save(y.m.s.b->gpu, NULL, 0);
	image = malloc(size);
	tsr_gpu_save(y.m.s.b->gpu, image, size);
	ktap_ok(tsr_gpu_load(y.m.s.b->gpu, image, size, err, sizeof(err)));
	free(image);
	tsr_gpu_resume(y.m.s.b->gpu);
	ktap_ok(bench_run(y.m.s.b, 30));
	ktap_eq(bench_fault(&y.m.q), TSR_FAULT_NONE);
	shade_free(&y.m);
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	ktap_run("[SYS10] messages that a warp can have sent", test_messages);
	ktap_run("[SYS10] the other instruction of a message", test_pair);
	ktap_run("[SYS10] as many messages as a warp can have", test_full);
	ktap_run("[SYS10] no message is stored beyond these", test_overfull);
	ktap_run("[SYS10] threads that are there, go on, or wait", test_warps);
	ktap_run("[SYS10] warps that have yielded", test_yielded);
	ktap_run("[SYS10] a barrier somebody has not come to", test_barrier);
	ktap_run("[SYS10] groups of a core", test_groups);
	ktap_run("[SYS10] cores at their limits", test_cores);
	ktap_run("[SYS10] a barrier behind which warps have ended", test_ended);
	return ktap_finish();
}
