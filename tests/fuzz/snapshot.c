/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: snapshots that somebody has changed.
 *
 * A small device is stopped in the middle of its work, dispatches among it, and saved. The input
 * changes bytes of what was saved, or its length, and it is loaded. Either it is refused, with a
 * message, and leaves a device in its reset state; or it is taken, and then the device runs on with
 * whatever it says, answers to RESET, and can be saved again. At the end an honest job shows that
 * it still works.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "packets.h"
#include <tessera/asm.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define QUEUES 3			/* two of copies, one of dispatches */
#define DATA_VA 0x100000ull
#define CODE_VA 0x200000ull
#define RING_VA 0x300000ull
#define SHADER_VA 0x400000ull		/* COMPUTE_STATE, push constants, stream, program */
#define PUSH_AT 0x400
#define STREAM_AT 0x800
#define PROGRAM_AT 0x1000
#define PAGES (64 * BENCH_PAGE)
#define FIRST 12000			/* bytes of address spaces and semaphores */

__attribute__((noreturn))
static void fail(const char *what)
{
	fprintf(stderr, "snapshot: %s\n", what);
	abort();
}

struct setup {
	struct bench *b;
	struct bench_as as;
	struct bench_queue q[QUEUES];
	uint64_t *data;
	uint64_t *code;
	uint8_t *shader;
};

/* Loads, threads that leave a loop one by one, shared memory after a barrier, a store. */
static const char program[] =
	"clause slot=0 wait=0 flow=nbtb_unconditional {\n"
	"	*SHADDXL.u32 t0, u0.w0, r60, shift:2\n"
	"	+SHADDXH.i32 t1, u0.w1, t\n"
	"	+LOAD.i32 t0, t1, @r2\n"
	"}\n"
	"clause flow=nbtb_unconditional {\n"
	"	*LSHIFT_AND.i32 r3, r55, 0x3, #0\n"
	"	*NOP\n"
	"}\n"
	"loop: clause flow=nbtb_unconditional {\n"
	"	*IMUL.i32 r2, r2, 0x5\n"
	"	+IADD.s32 r3:t1, r3, -1\n"
	"	+BRANCHZ.s32.ge t1, loop\n"
	"}\n"
	"clause slot=1 wait=1 {\n"
	"	*LSHIFT_OR.i32 t0, r55, #0, 0x2\n"
	"	*NOP\n"
	"	+STORE.i32.wls t0, zero.w0, @r2\n"
	"}\n"
	"clause slot=7 wait=7 {\n	+BARRIER\n}\n"
	"clause slot=2 wait=2 {\n"
	"	*LSHIFT_OR.i32 t0, r55, #0, 0x2\n"
	"	*NOP\n"
	"	+LOAD.i32.wls t0, zero.w0, @r5\n"
	"}\n"
	"clause slot=3 staging_barrier end {\n"
	"	*SHADDXL.u32 t0, u0.w0, r60, shift:2\n"
	"	+SHADDXH.i32 t1, u0.w1, t\n"
	"	+STORE.i32 t0, t1, @r5\n"
	"}\n";

/* Three dispatches for the last queue: groups of three warps, the last of them with 8 threads. */
static void dispatch(struct setup *s)
{
	struct tsr_compute_state state = { .code = SHADER_VA + PROGRAM_AT, .local_x = 40,
					   .local_y = 1, .local_z = 1, .group_memory = 160,
					   .push = SHADER_VA + PUSH_AT, .push_words = 2 };
	struct tsr_dispatch grid = { .state = SHADER_VA, .groups_x = 5, .groups_y = 2,
				     .groups_z = 1 };
	uint64_t push = DATA_VA + 24 * BENCH_PAGE, *stream = (uint64_t *)(s->shader + STREAM_AT);
	struct tsr_asm_shader *code;

	if (tsr_asm_assemble(program, sizeof(program) - 1, 0, &code) ||
	    code->size > 2 * BENCH_PAGE - PROGRAM_AT)
		fail("the program cannot be assembled");
	memcpy(s->shader + PROGRAM_AT, code->code, code->size);
	tsr_asm_free(code);
	tsr_pack_compute_state((uint64_t *)s->shader, &state);
	memcpy(s->shader + PUSH_AT, &push, sizeof(push));
	for (unsigned int i = 0; i < 3; i++)
		tsr_pack_dispatch(stream + i * TSR_DISPATCH_QWORDS, &grid);
	bench_call(&s->q[2], SHADER_VA + STREAM_AT, 3 * 8 * TSR_DISPATCH_QWORDS);
	bench_fence(&s->q[2], DATA_VA + 80, 9, TSR_EVENT_ALL_DONE, true);
	bench_kick(&s->q[2]);
}

/* Work for all queues: nested streams, copies and a wait, each followed by a fence. */
static void start(struct setup *s)
{
	uint64_t *w = s->code, packet[8];

	/* Each longer than a burst: the engine has something to remember. */
	tsr_pack_copy_rect(w, &(struct tsr_copy_rect){ .src_layout = TSR_LAYOUT_LINEAR,
						       .dst_layout = TSR_LAYOUT_TILED,
						       .texel = 12,
						       .flip_x = true,
						       .src = DATA_VA + 4,
						       .dst = DATA_VA + 32 * BENCH_PAGE,
						       .src_pitch = 1000,
						       .dst_pitch = 256 * 12 * 5,
						       .src_x = 1,
						       .src_y = 2,
						       .dst_x = 3,
						       .dst_y = 1,
						       .width = 70,
						       .height = 60 });
	w += TSR_COPY_RECT_QWORDS;
	tsr_pack_fill_rect(w, &(struct tsr_fill_rect){ .layout = TSR_LAYOUT_TILED,
						       .texel = 16,
						       .dst = DATA_VA + 8 * BENCH_PAGE,
						       .pitch = 256 * 16 * 4,
						       .x = 5,
						       .y = 7,
						       .width = 50,
						       .height = 40,
						       .pattern_lo = 0x0123456789abcdef,
						       .pattern_hi = 5 });
	w += TSR_FILL_RECT_QWORDS;
	tsr_pack_fill_linear(w, &(struct tsr_fill_linear){ .texel = 3,
							   .dst = DATA_VA + 8 * BENCH_PAGE + 1,
							   .size = 30000,
							   .pattern_lo = 0x030201 });
	w += TSR_FILL_LINEAR_QWORDS;
	for (unsigned int i = 0; i < 4; i++) {
		tsr_pack_copy_linear(
			w, &(struct tsr_copy_linear){ .src = DATA_VA + 64 * i,
						      .dst = DATA_VA + 15 * BENCH_PAGE + 9 * i,
						      .size = 40000 });
		w += TSR_COPY_LINEAR_QWORDS;
		tsr_pack_fence(w, &(struct tsr_fence){
					  .event = i, .addr = DATA_VA + 8 * i, .value = i + 1 });
		w += TSR_FENCE_QWORDS;
	}
	tsr_pack_counter_begin(w, &(struct tsr_counter_begin) { .mask = 0xfff });
	w += TSR_COUNTER_BEGIN_QWORDS;
	tsr_pack_call(w, &(struct tsr_call) { .addr = CODE_VA + BENCH_PAGE, .size = 24 });
	w += TSR_CALL_QWORDS;
	tsr_pack_counter_end(w, &(struct tsr_counter_end) { .addr = DATA_VA + 1024 });
	w += TSR_COUNTER_END_QWORDS;
	tsr_pack_wait(s->code + 512, &(struct tsr_wait) { .op = TSR_COMPARE_GE, .wide = true,
							  .addr = DATA_VA + 512, .value = 1 });
	bench_call(&s->q[0], CODE_VA, 8 * (uint32_t)(w - s->code));
	bench_fence(&s->q[0], DATA_VA + 64, 9, TSR_EVENT_ALL_DONE, true);
	tsr_pack_wait_reg(packet,
			  &(struct tsr_wait_reg){ .op = TSR_COMPARE_EQ, .index = 3, .value = 1 });
	tsr_pack_copy_linear(packet + 2, &(struct tsr_copy_linear) {
		.src = DATA_VA, .dst = DATA_VA + 3 * BENCH_PAGE, .size = 4000 });
	bench_emit(&s->q[1], packet + 2, TSR_COPY_LINEAR_QWORDS);
	bench_emit(&s->q[1], packet, TSR_WAIT_REG_QWORDS);
	bench_fence(&s->q[1], DATA_VA + 72, 9, TSR_EVENT_ALL_DONE, true);
	bench_kick(&s->q[0]);
	bench_kick(&s->q[1]);
}

static void set_up(struct setup *s, bool late)
{
	struct tsr_config config = { .queues = QUEUES, .local_size = 2u << 20, .cores = 2,
				     .late_messages = late };

	s->b = bench_new(&config);
	bench_as_init(s->b, &s->as, 0);
	s->data = bench_buffer(&s->as, DATA_VA, PAGES, BENCH_RW);
	s->code = bench_buffer(&s->as, CODE_VA, 2 * BENCH_PAGE, BENCH_RWX);
	s->shader = bench_buffer(&s->as, SHADER_VA, 2 * BENCH_PAGE, BENCH_RWX);
	for (unsigned int i = 0; i < QUEUES; i++)
		bench_queue_init(&s->q[i], i,
				 i < 2 ? TSR_ENGINE_CLASS_COPY : TSR_ENGINE_CLASS_COMPUTE,
				 TSR_PRIORITY_NORMAL, &s->as, RING_VA + BENCH_PAGE * i, 12, &s->as);
	start(s);
	dispatch(s);
}

/* After a reset: the device as it was at power-on does a job. */
static void honest_job(struct setup *s)
{
	static uint64_t value;

	tsr_gpu_reset(s->b->gpu);
	/* Tables, ring and stream may have been written over by what was loaded. */
	bench_as_init(s->b, &s->as, 1);
	s->data = bench_buffer(&s->as, DATA_VA, BENCH_PAGE, BENCH_RW);
	bench_queue_init(&s->q[0], 0, TSR_ENGINE_CLASS_COPY, TSR_PRIORITY_LOW, &s->as, RING_VA, 12,
			 &s->as);
	bench_fence(&s->q[0], DATA_VA, ++value, TSR_EVENT_ALL_DONE, true);
	bench_kick(&s->q[0]);
	if (!bench_run(s->b, 5) || s->data[0] != value)
		fail("an honest job after a reset is not done");
}

static void run_on(struct setup *s)
{
	uint8_t *again;
	size_t size;

	tsr_gpu_resume(s->b->gpu);
	for (unsigned int i = 0; i < 4 * QUEUES; i++) {
		tsr_gpu_run(s->b->gpu, 4000);
		bench_write(s->b, TSR_REG_SEMAPHORE_VALUE(3), 1);
		tsr_gpu_host_ready(s->b->gpu);
		bench_write(s->b, TSR_REG_DOORBELL_RING(i % QUEUES), s->q[i % QUEUES].wptr);
		bench_write(s->b, TSR_REG_QUEUE_CONTROL(i % QUEUES),
			    i < 2 * QUEUES ? TSR_QUEUE_OP_RESUME : TSR_QUEUE_OP_ENABLE);
	}
	tsr_gpu_pause(s->b->gpu);
	size = tsr_gpu_save(s->b->gpu, NULL, 0);
	again = malloc(size);
	if (!again || tsr_gpu_save(s->b->gpu, again, size) != size)
		fail("it cannot be saved again");
	char err[200] = "";

	if (!tsr_gpu_load(s->b->gpu, again, size, err, sizeof(err))) {
		fprintf(stderr, "snapshot: the device does not take what it saved itself: %s\n",
			err);
		abort();
	}
	free(again);
	for (unsigned int i = 0; i < QUEUES; i++) {
		bench_control(&s->q[i], TSR_QUEUE_OP_RESET);
		if (bench_state(&s->q[i]) != TSR_QUEUE_STATE_DISABLED)
			fail("RESET does not end a queue");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = { data, size };
	unsigned int first = fuzz_byte(&in), steps = first % 128;
	char err[200] = "";
	struct setup s;
	uint8_t *state;
	size_t bytes;

	set_up(&s, first / 128);
	while (steps--)
		tsr_gpu_run(s.b->gpu, 1);
	tsr_gpu_pause(s.b->gpu);
	bytes = tsr_gpu_save(s.b->gpu, NULL, 0);
	state = malloc(bytes);
	if (!state || tsr_gpu_save(s.b->gpu, state, bytes) != bytes)
		fail("it cannot be saved");
	while (in.left) {
		uint8_t what = fuzz_byte(&in);
		size_t at = fuzz_number(&in, 3) % bytes;

		/* Prefer queues and what they have in flight, behind address spaces. */
		if (what & 1 && bytes > FIRST)
			at = FIRST + at % (bytes - FIRST);
		if (what & 2)
			state[at] ^= 1u << (what >> 5);
		else
			state[at] = fuzz_byte(&in);
		if ((what & 0xfc) == 0xfc)
			bytes = at + 1;
	}
	if (tsr_gpu_load(s.b->gpu, state, bytes, err, sizeof(err))) {
		run_on(&s);
	} else {
		if (!err[0] || strchr(err, '\n'))
			fail("it is refused without a message of one line");
		for (unsigned int i = 0; i < QUEUES; i++) {
			if (bench_state(&s.q[i]) != TSR_QUEUE_STATE_DISABLED)
				fail("it is refused, but the device is not reset");
		}
	}
	tsr_gpu_resume(s.b->gpu);
	free(state);
	honest_job(&s);
	bench_free(s.b);
	return 0;
}
