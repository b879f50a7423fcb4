/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/*
 * The clause cache: code that is changed, with and without telling; strict mode; more code than the
 * cache holds; the same address in two address spaces; the debugger's hook.
 */
#include "device/gpu.h"
#include "ktap.h"
#include "shade.h"
#include "shader/core.h"
#include "shader/debug.h"

static const struct tsr_config plain = { 0 }, strict = { .strict_code = true };

/* Each thread stores @value. */
static void program(struct shade_code *code, const char *value)
{
	char text[500];

	memset(code, 0, sizeof(*code));
	snprintf(text, sizeof(text),
		 "clause { *MOV.i32 r2, %s\n }\nclause slot=0 message=store " SHADE_STORE("r2"),
		 value);
	shade_text(code, text);
}

enum way { NOT_AT_ALL, BARRIER_INV_CODE, AS_COMMAND, TLB_PACKET, RESET };

static void tell(struct shade_machine *m, enum way way)
{
	const struct tsr_barrier barrier = { .inv_code = true };
	uint64_t p[8];

	switch (way) {
	case BARRIER_INV_CODE:
		bench_emit(&m->q, p, pk_barrier(p, &barrier));
		break;
	case AS_COMMAND:
		bench_invalidate(&m->s.as[1], SHADE_CODE, 4096);
		break;
	case TLB_PACKET:
		bench_emit(&m->q, p, pk_tlb(p, TSR_INV_OP_ALL, 1, 0, 0));
		break;
	default:
		break;
	}
}

/* Run a program, change it, tell the device @way, run it again: what the threads store. */
static uint32_t change(const struct tsr_config *config, enum way way)
{
	static struct shade_code first, second;
	struct shade_dispatch d = { .code = &first, .groups = { 20 } };
	struct shade_machine m;
	uint32_t value;

	program(&first, "0x111");
	program(&second, "0x222");
	d.state.local_x = 16;
	shade_init(&m, config);
	ktap_ok(shade_run(&m, &d));
	ktap_eq(*stage_word32(&m.s, 4 * 319), 0x111);
	tell(&m, way);
	d.code = &second;
	value = shade_run(&m, &d) ? *stage_word32(&m.s, 4 * 319) : bench_fault(&m.q);
	for (unsigned int i = 0; value == 0x111 && i < 320; i++)
		ktap_eq(*stage_word32(&m.s, 4 * i), value);
	if (value == TSR_FAULT_SHADER_ENCODING)
		ktap_eq(bench_queue_reg64(&m.q, TSR_QUEUE_FAULT_CLAUSE__OFFSET), SHADE_CODE);
	shade_free(&m);
	return value;
}

static void changed(void)
{
	ktap_eq(change(&plain, NOT_AT_ALL), 0x111);
	ktap_eq(change(&plain, BARRIER_INV_CODE), 0x222);
	ktap_eq(change(&plain, AS_COMMAND), 0x222);
	ktap_eq(change(&plain, TLB_PACKET), 0x222);
}

static void strict_mode(void)
{
	ktap_eq(change(&strict, NOT_AT_ALL), TSR_FAULT_SHADER_ENCODING);
	ktap_eq(change(&strict, BARRIER_INV_CODE), 0x222);
}

/* One address with different code in two address spaces, alternately on one thread. */
static void spaces(void)
{
	static struct shade_code first, second;
	struct shade_dispatch d = { .code = &first };
	struct stage_stream stream;
	struct bench_queue q;
	struct shade_machine m;
	struct bench_as as;
	uint8_t *code;

	program(&first, "0x333");
	program(&second, "0x444");
	shade_init(&m, &plain);
	/* address space 2: as 1, but for the page of the code */
	bench_as_init(m.s.b, &as, 2);
	bench_map(&as, STAGE_DATA, m.s.data_bus, STAGE_DATA_SIZE, BENCH_RW);
	bench_map(&as, STAGE_STREAM, m.s.streams_bus, STAGE_STREAM_SIZE, BENCH_RWX);
	bench_unmap(&as, SHADE_CODE, BENCH_PAGE);
	code = bench_buffer(&as, SHADE_CODE, BENCH_PAGE, BENCH_RX);
	memcpy(code, second.bytes, second.size);
	bench_queue_init(&q, 3, TSR_ENGINE_CLASS_COMPUTE, TSR_PRIORITY_NORMAL, &m.s.as[0],
			 STAGE_RING + 3 * 0x100000, 12, &as);
	for (unsigned int i = 0; i < 3; i++) {
		ktap_ok(shade_run(&m, &d));
		ktap_eq(*stage_word32(&m.s, 0), 0x333);
		stream = stage_stream(&m.s, 0);
		stage_call(&q, &(struct stage_stream){ .s = &m.s, .va = stream.va, .size = 32 });
		bench_kick(&q);
		ktap_ok(bench_run(m.s.b, 10));
		ktap_eq(bench_fault(&q), TSR_FAULT_NONE);
		ktap_eq(*stage_word32(&m.s, 0), 0x444);
	}
	shade_free(&m);
}

/* One dispatch after the other until the cache has been full many times. */
static void too_much(void)
{
	static struct shade_code code;
	struct shade_machine m;
	char text[200];

	shade_init(&m, &plain);
	for (unsigned int round = 0; round < 30; round++) {
		struct shade_dispatch d = { .code = &code };
		uint32_t sum = 0;

		memset(&code, 0, sizeof(code));
		shade_text(&code, "clause { *MOV.i32 r2, #0\n }\n");
		for (unsigned int i = 0; i < 800; i++) {
			snprintf(text, sizeof(text), "clause { +IADD.s32 r2, r2, 0x%x\n }\n",
				 round * 1000 + i);
			shade_text(&code, text);
			sum += round * 1000 + i;
		}
		shade_text(&code, "clause slot=0 message=store " SHADE_STORE("r2"));
		bench_invalidate_all(&m.s.as[1]);
		ktap_ok(shade_run(&m, &d));
		ktap_eq(*stage_word32(&m.s, 0), sum);
	}
	shade_free(&m);
}

/*
 * One program after the other at one place, each of them new: so many versions of a clause are not
 * looked through. What is left of them is right all the same.
 */
static void versions(void)
{
	static struct shade_code code;
	struct shade_dispatch d = { .code = &code };
	struct shade_machine m;
	uint64_t *path;
	char value[16];

	shade_init(&m, &plain);
	path = m.s.b->gpu->runner[0].own.path;
	for (unsigned int round = 0; round < 3; round++) {
		uint64_t before = path[TSR_PATH_CLAUSES_DECODED];

		for (uint32_t i = 0; i < TSR_CODE_CHAIN + 8; i++) {
			snprintf(value, sizeof(value), "0x%x", 0x1000 + i);
			program(&code, value);
			bench_invalidate_all(&m.s.as[1]);
			ktap_ok(shade_run(&m, &d));
			ktap_eq(*stage_word32(&m.s, 0), 0x1000 + i);
		}
		/* the second clause is decoded again with the first one, when all is forgotten */
		ktap_ok(path[TSR_PATH_CLAUSES_DECODED] - before <= TSR_CODE_CHAIN + 8 + 2);
		ktap_ok(path[TSR_PATH_CLAUSES_DECODED] - before >= 1);
	}
	ktap_ok(m.s.b->gpu->runner[0].own.shader->code.forgotten >= 1);
	shade_free(&m);
}

/* ---- The hook -------------------------------------------------------------------------------- */

static struct {
	unsigned int before, after, faults;
	uint64_t pc[8];			/* clauses of warp 1 of group 1, in their order */
	unsigned int pcs;
	uint32_t r2[2];			/* of its lane 3, before and after the first clause */
} log_of;

static void watch(void *opaque, const struct tsr_shader_view *view)
{
	bool it = view->warp == 1 && view->group[0] == 1;

	ktap_ok(opaque == &log_of);
	log_of.before += view->when == TSR_SHADER_BEFORE;
	log_of.after += view->when == TSR_SHADER_AFTER;
	log_of.faults += view->when == TSR_SHADER_FAULT;
	if (!it)
		return;
	if (view->when == TSR_SHADER_BEFORE) {
		ktap_eq(view->active, view->executed);
		ktap_eq(view->code_len % 16, 0);
		ktap_eq(view->pc[3], view->clause);
		if (log_of.pcs < 8)
			log_of.pc[log_of.pcs++] = view->clause;
		if (log_of.pcs == 1)
			log_of.r2[0] = tsr_shader_reg(view, 2, 3);
	} else if (log_of.pcs == 1) {
		log_of.r2[1] = tsr_shader_reg(view, 2, 3);
		view->reg[2 * TSR_BUNDLE_WARPS].u[3] = 0x999;	/* debuggers may */
	}
}

static void hook(void)
{
	static struct shade_code code;
	struct shade_dispatch d = { .code = &code, .groups = { 3 } };
	struct tsr_config threads = { .threads = 1 };
	struct shade_machine m;

	program(&code, "0x555");
	d.state.local_x = 32;
	shade_init(&m, &plain);
	ktap_ok(tsr_gpu_set_shader_hook(m.s.b->gpu, watch, &log_of));
	ktap_ok(shade_run(&m, &d));
	ktap_eq(log_of.before, 3 * 2 * 2);
	ktap_eq(log_of.after, 3 * 2 * 2);
	ktap_eq(log_of.faults, 0);
	ktap_eq(log_of.pcs, 2);
	ktap_eq(log_of.pc[0], SHADE_CODE);
	ktap_eq(log_of.pc[1], SHADE_CODE + 32);
	ktap_eq(log_of.r2[0], 0);
	ktap_eq(log_of.r2[1], 0x555);
	for (unsigned int i = 0; i < 96; i++)
		ktap_eq(*stage_word32(&m.s, 4 * i), i == 32 + 16 + 3 ? 0x999 : 0x555);
	shade_free(&m);
	shade_init(&m, &threads);
	ktap_ok(!tsr_gpu_set_shader_hook(m.s.b->gpu, watch, NULL));
	shade_free(&m);
}

int main(void)
{
	ktap_start();
	ktap_run("changed code is seen after it has been invalidated, and not before", changed);
	ktap_run("strict mode finds a missing invalidation", strict_mode);
	ktap_run("other code at the same address of another address space", spaces);
	ktap_run("more code than the cache holds", too_much);
	ktap_run("more versions of a clause than are looked through", versions);
	ktap_run("the debugger's hook sees and changes registers", hook);
	return ktap_finish();
}
