/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: snapshots of a busy device that somebody has changed, field by field.
 *
 * The snapshots are made when the target starts, by a device in all of whose engines there is
 * something: copies half done and nested streams, a WAIT and an invalidation, frames that are being
 * binned (one of them out of heap) and rendered, a rendering that is suspended, dispatches with
 * messages that are stored and threads at a barrier, pages the host has not brought yet. What an
 * input says is which of them, and how it is changed: bits, limits, values of other fields, fields
 * twice or not at all, or the end. It is then loaded by a new device, which either refuses it with
 * a message of one line and is as after a reset; or takes it, runs on with whatever it says, can
 * save it again and load that, and obeys RESET. Each case is bounded in cycles. The device is
 * freed, so that what it has lost is found by the leak check at the end.
 *
 * The first byte of the input also chooses the device that loads. It equals the device that saved,
 * has worker threads, or compiles every shader at once. With worker threads, you may have to run
 * an input that fails several times.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "draws.h"
#include "ktap.h"
#include "packets.h"
#include "device/snapshot.h"
#include <tessera/asm.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
void fuzz_summary(void);

#define PROGRAMS_VA 0x80000000ull	/* COMPUTE_STATEs, push constants, streams, programs */
#define WORK_VA 0x81000000ull		/* data of copies and dispatches, fences */
#define WORK_SIZE (256u << 10)
#define RING_VA 0x90000000ull
#define MOMENTS 24			/* snapshots of each kind of device */
#define KINDS 2				/* devices: early and late messages */
#define RUN_CYCLES 20000		/* of a case, eight times */
#define RUN_US 1500			/* of a case with worker threads, in microseconds */
#define RESET_MS 3000			/* limit of a RESET with worker threads */

/* Queues, by what they do. */
enum {
	Q_COPY, Q_WAIT, Q_INVALIDATE, Q_BIN, Q_HEAP, Q_RENDER, Q_SUSPENDED, Q_DISPATCH, Q_BARRIER,
	Q_FAULTED, QUEUES
};

static const uint8_t classes[QUEUES] = {
	TSR_ENGINE_CLASS_COPY, TSR_ENGINE_CLASS_COPY, TSR_ENGINE_CLASS_COPY, TSR_ENGINE_CLASS_BIN,
	TSR_ENGINE_CLASS_BIN, TSR_ENGINE_CLASS_RENDER, TSR_ENGINE_CLASS_RENDER,
	TSR_ENGINE_CLASS_COMPUTE, TSR_ENGINE_CLASS_COMPUTE, TSR_ENGINE_CLASS_COPY,
};

/* Devices that load. */
static const struct loader {
	unsigned int threads;
	enum tsr_jit_use jit;
} loaders[] = {
	{ 0 }, { 2, TSR_JIT_USE_FIRST }, { 0, TSR_JIT_USE_FIRST },
};
#define LOADERS (sizeof(loaders) / sizeof(loaders[0]))

/* A field of a snapshot. */
struct field {
	uint32_t pos, size;
};

/* A snapshot, with the memory that belongs to it. */
struct moment {
	uint8_t *state, *ram;
	size_t bytes, ram_bytes;
	struct field *field;
	uint32_t fields, room;
	uint32_t first;			/* field behind registers of the whole device */
};

static struct machine {
	struct bench *b;
	struct bench_as as;
	struct bench_queue q[QUEUES];
	uint8_t *programs, *work;
	struct moment moment[MOMENTS];
} machines[KINDS];

static unsigned long taken, refused;

void fuzz_summary(void)
{
	ktap_note("%lu snapshots taken, %lu refused", taken, refused);
}

__attribute__((noreturn))
static void fail(const char *what, const char *more)
{
	fprintf(stderr, "load: %s%s\n", what, more);
	abort();
}

static void *copy_of(const void *data, size_t size)
{
	void *copy = malloc(size);

	if (!copy)
		fail("no memory", "");
	memcpy(copy, data, size);
	return copy;
}

/* ---- A busy device --------------------------------------------------------------------------- */

/* Loads whose values go to stores, threads that leave a loop one after the other. */
static const char loop[] =
	"clause slot=0 {\n"
	"	*SHADDXL.u32 t0, u0.w0, r60, shift:2\n"
	"	+SHADDXH.i32 t1, u0.w1, t\n"
	"	+LOAD.i32 t0, t1, @r2\n"
	"}\n"
	"clause slot=1 wait=0 flow=nbtb_unconditional {\n"
	"	*LSHIFT_AND.i32 r3, r55, 0x3, #0\n"
	"	*NOP\n"
	"}\n"
	"again: clause flow=nbtb_unconditional {\n"
	"	*IMUL.i32 r2, r2, 0x5\n"
	"	+IADD.s32 r3:t1, r3, -1\n"
	"	+BRANCHZ.s32.ge t1, again\n"
	"}\n"
	"clause slot=2 {\n"
	"	*SHADDXL.u32 t0, u0.w0, r60, shift:2\n"
	"	+SHADDXH.i32 t1, u0.w1, t\n"
	"	+STORE.i32 t0, t1, @r2\n"
	"}\n"
	"clause slot=3 staging_barrier end {\n"
	"	*SHADDXL.u32 t0, u0.w0, r60, shift:2\n"
	"	+SHADDXH.i32 t1, u0.w1, t\n"
	"	+STORE.i32 t0, t1, @r2\n"
	"}\n";

/* Shared memory, a barrier. */
static const char barrier[] =
	"clause slot=1 wait=1 {\n"
	"	*LSHIFT_OR.i32 t0, r55, #0, 0x2\n"
	"	*NOP\n"
	"	+STORE.i32.wls t0, zero.w0, @r60\n"
	"}\n"
	"clause slot=7 wait=7 {\n	+BARRIER\n}\n"
	"clause slot=2 wait=2 {\n"
	"	*LSHIFT_OR.i32 t0, r55, #0, 0x2\n"
	"	*NOP\n"
	"	+LOAD.i32.wls t0, zero.w0, @r5\n"
	"}\n"
	"clause slot=3 end {\n"
	"	*SHADDXL.u32 t0, u0.w0, r60, shift:2\n"
	"	+SHADDXH.i32 t1, u0.w1, t\n"
	"	+STORE.i32 t0, t1, @r5\n"
	"}\n";

/* In the page of a dispatch. */
enum { PUSH_AT = 0x200, STREAM_AT = 0x400, CODE_AT = 0x800 };

/* Page @n of programs: dispatches of @text, called by queue @n. */
static void put_dispatches(struct machine *m, unsigned int n, const char *text, unsigned int local,
			   unsigned int group_memory)
{
	const uint64_t va = PROGRAMS_VA + n * BENCH_PAGE, push = WORK_VA + (64 << 10);
	uint8_t *page = m->programs + n * BENCH_PAGE;
	uint64_t *stream = (uint64_t *)(void *)(page + STREAM_AT);
	struct tsr_asm_shader *code;

	if (tsr_asm_assemble(text, strlen(text), 0, &code) || code->size > BENCH_PAGE - CODE_AT)
		fail("the program cannot be assembled", "");
	memcpy(page + CODE_AT, code->code, code->size);
	tsr_asm_free(code);
	tsr_pack_compute_state((uint64_t *)(void *)page, &(struct tsr_compute_state){
		.code = va + CODE_AT, .local_x = local, .local_y = 1, .local_z = 1,
		.group_memory = group_memory, .push = va + PUSH_AT, .push_words = 2 });
	memcpy(page + PUSH_AT, &push, sizeof(push));
	for (unsigned int i = 0; i < 3; i++, stream += TSR_DISPATCH_QWORDS)
		tsr_pack_dispatch(stream, &(struct tsr_dispatch){
			.state = va, .groups_x = 7, .groups_y = 2, .groups_z = 1 });
	bench_call(&m->q[n], va + STREAM_AT, 3 * 8 * TSR_DISPATCH_QWORDS);
}

/* Page 0 of programs: copies with events between them, in a stream that calls itself a part. */
static void put_copies(struct machine *m)
{
	uint64_t *first = (uint64_t *)(void *)m->programs, *w = first;

	tsr_pack_counter_begin(w, &(struct tsr_counter_begin){ .mask = 0xfff });
	w += TSR_COUNTER_BEGIN_QWORDS;
	tsr_pack_copy_rect(w, &(struct tsr_copy_rect){
		.src_layout = TSR_LAYOUT_LINEAR, .dst_layout = TSR_LAYOUT_TILED, .texel = 12,
		.flip_x = true, .src = WORK_VA + 4, .dst = WORK_VA + 0x20000, .src_pitch = 1000,
		.dst_pitch = 256 * 12 * 5, .src_x = 1, .src_y = 2, .dst_x = 3, .dst_y = 1,
		.width = 70, .height = 60 });
	w += TSR_COPY_RECT_QWORDS;
	for (unsigned int i = 0; i < 4; i++) {
		tsr_pack_copy_linear(w, &(struct tsr_copy_linear){
			.src = WORK_VA + 64 * i, .dst = WORK_VA + 0x18000 + 9 * i, .size = 30000 });
		w += TSR_COPY_LINEAR_QWORDS;
		tsr_pack_fence(w, &(struct tsr_fence){
			.event = i, .addr = WORK_VA + 8 * i, .value = i + 1 });
		w += TSR_FENCE_QWORDS;
	}
	tsr_pack_call(w, &(struct tsr_call){ .addr = PROGRAMS_VA + 0x800, .size = 24 });
	w += TSR_CALL_QWORDS;
	tsr_pack_counter_end(w, &(struct tsr_counter_end){ .addr = WORK_VA + 1024 });
	w += TSR_COUNTER_END_QWORDS;
	tsr_pack_wait(first + 256, &(struct tsr_wait){
		.op = TSR_COMPARE_GE, .wide = true, .addr = WORK_VA + 512, .value = 1 });
	bench_call(&m->q[Q_COPY], PROGRAMS_VA, 8 * (uint32_t)(w - first));
	bench_fence(&m->q[Q_COPY], WORK_VA + 64, 9, TSR_EVENT_ALL_DONE, true);
}

/* Queues that wait for a semaphore during a copy, that invalidate, and that fault. */
static void put_others(struct machine *m)
{
	uint64_t p[8];

	tsr_pack_copy_linear(p, &(struct tsr_copy_linear){
		.src = WORK_VA, .dst = WORK_VA + 0x8000, .size = 20000 });
	bench_emit(&m->q[Q_WAIT], p, TSR_COPY_LINEAR_QWORDS);
	bench_emit(&m->q[Q_INVALIDATE], p, TSR_COPY_LINEAR_QWORDS);
	tsr_pack_wait_reg(p, &(struct tsr_wait_reg){
		.op = TSR_COMPARE_EQ, .index = 3, .value = 1 });
	bench_emit(&m->q[Q_WAIT], p, TSR_WAIT_REG_QWORDS);
	for (unsigned int i = 0; i < 8; i++) {
		tsr_pack_tlb_invalidate(p, &(struct tsr_tlb_invalidate){
			.op = TSR_INV_OP_ALL, .as = 1 });
		bench_emit(&m->q[Q_INVALIDATE], p, TSR_TLB_INVALIDATE_QWORDS);
		bench_fence(&m->q[Q_INVALIDATE], WORK_VA + 96, i, TSR_EVENT_ALL_DONE, false);
	}
	bench_fence(&m->q[Q_FAULTED], 8, 1, TSR_EVENT_ALL_DONE, true);
}

/* BIN in page @page of programs, of the frame @d with a heap of its own, of @size bytes. */
static uint64_t put_bin(struct machine *m, const struct draws *d, unsigned int page, uint64_t heap,
			uint32_t size)
{
	uint64_t *word = (uint64_t *)(void *)(m->programs + page * BENCH_PAGE);
	const uint64_t va = PROGRAMS_VA + page * BENCH_PAGE;
	struct tsr_frame frame = d->frame;
	struct tsr_bin bin;

	frame.heap = heap;
	frame.heap_size = size;
	tsr_pack_frame(word, &frame);
	tsr_unpack_bin((const uint64_t *)(const void *)(d->list + DRAWS_BIN), &bin);
	bin.frame = va;
	tsr_pack_bin(word + 64, &bin);
	bench_buffer(&m->as, heap, DRAWS_HEAP_SIZE, BENCH_RW);
	return va + 64 * sizeof(uint64_t);
}

/* A frame for BIN and RENDER queues, where draws.h has it, and others like it that are binned. */
static void put_frame(struct machine *m, const struct draws *d)
{
	uint64_t bin = put_bin(m, d, 12, DRAWS_HEAP + 0x1000000, DRAWS_HEAP_SIZE);
	uint64_t grows = put_bin(m, d, 13, DRAWS_HEAP + 0x2000000, 0), p[TSR_HEAP_QWORDS];

	memcpy(bench_buffer(&m->as, DRAWS_DATA, DRAWS_DATA_SIZE, BENCH_RW), d->data,
	       DRAWS_DATA_SIZE);
	memcpy(bench_buffer(&m->as, DRAWS_LIST, DRAWS_LIST_SIZE, BENCH_RWX), d->list,
	       DRAWS_LIST_SIZE);
	bench_buffer(&m->as, DRAWS_HEAP, DRAWS_HEAP_SIZE, BENCH_RW);
	bench_buffer(&m->as, DRAWS_TARGETS, DRAWS_TARGETS_SIZE, BENCH_RW);
	/* before it can be rendered it has to be binned */
	bench_call(&m->q[Q_BIN], DRAWS_LIST + DRAWS_BIN, 8 * TSR_BIN_QWORDS);
	bench_kick(&m->q[Q_BIN]);
	bench_run(m->b, 10);
	tsr_pack_heap(p, &(struct tsr_heap){ .base = DRAWS_HEAP + 0x2000000, .max = 16 });
	bench_emit(&m->q[Q_HEAP], p, TSR_HEAP_QWORDS);
	for (unsigned int i = 0; i < 4; i++) {
		bench_call(&m->q[Q_BIN], bin, 8 * TSR_BIN_QWORDS);
		bench_call(&m->q[Q_HEAP], grows, 8 * TSR_BIN_QWORDS);
		bench_call(&m->q[Q_RENDER], DRAWS_LIST + DRAWS_RENDER, 8 * TSR_RENDER_QWORDS);
		bench_call(&m->q[Q_SUSPENDED], DRAWS_LIST + DRAWS_RENDER, 8 * TSR_RENDER_QWORDS);
	}
}

static void put_work(struct machine *m, unsigned int kind)
{
	static struct draws *d;
	struct tsr_config config = { .queues = QUEUES, .cores = 2, .no_inline = true,
				     .late_messages = kind, .local_size = 2 << 20 };

	if (!d && !(d = aligned_alloc(64, (sizeof(*d) + 63) & ~(size_t)63)))
		fail("no memory", "");
	memset(d, 0, sizeof(*d));
	d->seed = 12 + kind;
	d->most = 4;
	d->left_out = DRAWS_NO_TAGS | DRAWS_NO_SAMPLES;
	draws_make(d);
	m->b = bench_new(&config);
	bench_as_init(m->b, &m->as, 1);
	m->programs = bench_buffer(&m->as, PROGRAMS_VA, 16 * BENCH_PAGE, BENCH_RWX);
	m->work = bench_buffer(&m->as, WORK_VA, WORK_SIZE, BENCH_RW);
	for (unsigned int i = 0; i < QUEUES; i++)
		bench_queue_init(&m->q[i], i, classes[i], TSR_PRIORITY_NORMAL, &m->as,
				 RING_VA + BENCH_PAGE * i, 12, &m->as);
	put_copies(m);
	put_others(m);
	put_frame(m, d);
	put_dispatches(m, Q_DISPATCH, loop, 40, 0);
	put_dispatches(m, Q_BARRIER, barrier, 150, 640);
}

/* ---- Snapshots of it ------------------------------------------------------------------------- */

static void note_field(void *opaque, size_t pos, size_t size)
{
	struct moment *s = opaque;

	if (s->fields == s->room) {
		s->room = s->room ? 2 * s->room : 4096;
		s->field = realloc(s->field, s->room * sizeof(*s->field));
		if (!s->field)
			fail("no memory", "");
	}
	s->field[s->fields++] = (struct field){ (uint32_t)pos, (uint32_t)size };
}

/* Number of the first field of queues: the address of the first one's ring. */
static uint32_t find_queues(const struct moment *s)
{
	for (uint32_t n = 0; n < s->fields; n++) {
		uint64_t value;

		if (s->field[n].size != sizeof(value))
			continue;
		memcpy(&value, s->state + s->field[n].pos, sizeof(value));
		if (value == RING_VA)
			return n;
	}
	fail("there are no queues in a snapshot", "");
}

static void take(struct machine *m, struct moment *s)
{
	s->bytes = tsr_gpu_save(m->b->gpu, NULL, 0);
	s->state = malloc(s->bytes);
	if (!s->state || tsr_gpu_save(m->b->gpu, s->state, s->bytes) != s->bytes)
		fail("it cannot be saved", "");
	tsr_gpu_save_fields(m->b->gpu, note_field, s);
	s->first = find_queues(s);
	s->ram_bytes = m->b->next - BENCH_RAM_BASE;
	s->ram = copy_of(m->b->ram, s->ram_bytes);
}

/* Run a while: longer and longer ones, so that all engines have been in all of their phases. */
static void play(struct machine *m, unsigned int n)
{
	for (unsigned int i = 0; i < 20 + 12 * n; i++) {
		if (!tsr_gpu_run(m->b->gpu, 1))
			bench_answer(m->b);
	}
}

static void make_moments(struct machine *m, unsigned int kind)
{
	put_work(m, kind);
	m->b->pending_every = 7;
	for (unsigned int i = 0; i < QUEUES; i++)
		bench_kick(&m->q[i]);
	for (unsigned int n = 0; n < MOMENTS; n++) {
		play(m, n);
		if (n == 4)
			bench_control(&m->q[Q_SUSPENDED], TSR_QUEUE_OP_SUSPEND);
		tsr_gpu_pause(m->b->gpu);
		if (n & 1)
			tsr_gpu_drain(m->b->gpu);
		take(m, &m->moment[n]);
		tsr_gpu_resume(m->b->gpu);
		if (n % 8 == 7)
			bench_write(m->b, TSR_REG_QUEUE_HEAP_GROW(Q_HEAP), n / 8 + 1);
	}
}

/* ---- Changes --------------------------------------------------------------------------------- */

/* A snapshot that an input has changed. */
struct image {
	uint8_t *bytes;
	size_t size, room;
};

static const uint64_t limits[] = {
	0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 31, 32, 63, 64, 127, 128, 255, 256, 4095, 4096, 16384,
	0x7fff, 0x8000, 0xffff, 0x10000000, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000,
	0xffffffffffff, 0x7fffffffffffffff, 0x8000000000000000, 0xfffffffffffffff8, UINT64_MAX,
};

/* A field; seldom one of the whole device, and of large ones as often as of small ones. */
static const struct field *choose(const struct moment *s, struct fuzz_input *in)
{
	uint32_t n = (uint32_t)fuzz_number(in, 3);
	bool anywhere = n % 16 == 0;
	const struct field *f;

	n /= 16;
	f = &s->field[anywhere ? n % s->fields : s->first + n % (s->fields - s->first)];
	for (unsigned int i = 0; f->size > 16 && i < 64; i++) {
		/* registers, prefetched words: look for what is small around them */
		n = n * 1103515245u + 12345;
		if (n >> 28 == 0)
			break;
		f = &s->field[s->first + (n >> 4) % (s->fields - s->first)];
	}
	return f;
}

/* Make @to of @have bytes @want bytes long, for what lies there already and beyond. */
static void resize(struct image *image, size_t pos, size_t have, size_t want)
{
	if (pos + have > image->size || image->size - have + want > image->room)
		return;
	memmove(image->bytes + pos + want, image->bytes + pos + have, image->size - pos - have);
	image->size += want - have;
}

static void put_value(struct image *image, const struct field *f, uint64_t value)
{
	size_t size = f->size < 8 ? f->size : 8;

	if (f->pos + size <= image->size)
		memcpy(image->bytes + f->pos, &value, size);
}

static uint64_t get_value(const struct image *image, const struct field *f)
{
	uint64_t value = 0;

	if (f->pos + f->size <= image->size)
		memcpy(&value, image->bytes + f->pos, f->size < 8 ? f->size : 8);
	return value;
}

static void change(struct image *image, const struct moment *s, struct fuzz_input *in)
{
	uint8_t how = fuzz_byte(in);
	const struct field *f = choose(s, in), *g;
	uint64_t value;

	switch (how % 16) {
	case 0: case 1:
		if (f->pos + f->size <= image->size)
			image->bytes[f->pos + how / 16 % f->size] ^= 1u << (fuzz_byte(in) & 7);
		break;
	case 2: case 3: case 4: case 5:
		put_value(image, f, limits[fuzz_byte(in) % (sizeof(limits) / sizeof(limits[0]))]);
		break;
	case 6: case 7:
		put_value(image, f, get_value(image, f) + (how & 16 ? 1 : -1));
		break;
	case 8:
		put_value(image, f, fuzz_number(in, 1 + how / 16 % 8));
		break;
	case 9: case 10:
		put_value(image, f, get_value(image, choose(s, in)));
		break;
	case 11: case 12:
		g = choose(s, in);
		value = get_value(image, f);
		put_value(image, f, get_value(image, g));
		put_value(image, g, value);
		break;
	case 13:	/* twice */
		resize(image, f->pos, 0, f->size);
		if (f->pos + 2 * f->size <= image->size)
			memcpy(image->bytes + f->pos, image->bytes + f->pos + f->size, f->size);
		break;
	case 14:	/* not at all */
		resize(image, f->pos, f->size, 0);
		break;
	default:
		if (how & 16 && f->pos < image->size)
			image->size = f->pos;
	}
}

/* ---- A case ---------------------------------------------------------------------------------- */

static void load_again(struct machine *m)
{
	size_t size = tsr_gpu_save(m->b->gpu, NULL, 0);
	uint8_t *again = malloc(size);
	char err[200] = "";

	if (!again || tsr_gpu_save(m->b->gpu, again, size) != size)
		fail("it cannot be saved again", "");
	if (!tsr_gpu_load(m->b->gpu, again, size, err, sizeof(err)))
		fail("the device does not take what it saved itself: ", err);
	free(again);
}

/* Let the device work and the time pass. With worker threads, nothing waits for idle queues. */
static void work(struct machine *m)
{
	struct bench *b = m->b;

	tsr_gpu_run(b->gpu, RUN_CYCLES);
	if (!b->config.threads) {
		bench_advance(b, 1000000);
		return;
	}
	usleep(RUN_US);
	atomic_fetch_add(&b->clock, 1000000);
	if (atomic_load(&b->timer) <= atomic_load(&b->clock)) {
		atomic_store(&b->timer, UINT64_MAX);
		tsr_gpu_timer(b->gpu);
	}
}

static void reset_queue(struct bench_queue *q)
{
	bench_control(q, TSR_QUEUE_OP_RESET);
	for (unsigned int i = 0; i < RESET_MS && q->bench->config.threads; i++) {
		if (bench_state(q) == TSR_QUEUE_STATE_DISABLED)
			break;
		usleep(1000);
	}
	if (bench_state(q) != TSR_QUEUE_STATE_DISABLED)
		fail("RESET does not end a queue", "");
}

/* Go on with what has been loaded, whatever it says; saved and loaded once more on the way. */
static void run_on(struct machine *m)
{
	struct tsr_gpu *gpu = m->b->gpu;

	for (unsigned int i = 0; i < 8; i++) {
		work(m);
		if (!bench_answer(m->b))
			tsr_gpu_host_ready(gpu);
		bench_write(m->b, TSR_REG_SEMAPHORE_VALUE(3), i & 1);
		bench_write(m->b, TSR_REG_QUEUE_HEAP_GROW(Q_HEAP), i + 1);
		for (unsigned int n = 0; n < QUEUES; n++) {
			if (i == 1)
				bench_control(&m->q[n], TSR_QUEUE_OP_RESUME);
			if (i == 5)
				bench_write(m->b, TSR_REG_DOORBELL_RING(n), m->q[n].wptr);
		}
		if (i != 2 && i != 4)
			continue;
		tsr_gpu_pause(gpu);
		if (i == 4)
			tsr_gpu_drain(gpu);
		load_again(m);
		tsr_gpu_resume(gpu);
	}
	for (unsigned int i = 0; i < QUEUES; i++)
		reset_queue(&m->q[i]);
}

/* @sound: nothing has been changed. */
static void load(struct machine *m, const struct moment *s, const struct image *image,
		 const struct loader *loader, bool sound)
{
	char err[200] = "";

	m->b->config.threads = loader->threads;
	m->b->config.jit = loader->jit;
	bench_replace(m->b);
	memcpy(m->b->ram, s->ram, s->ram_bytes);
	memset(m->b->asked, 0, sizeof(m->b->asked));
	tsr_gpu_pause(m->b->gpu);
	if (tsr_gpu_load(m->b->gpu, image->bytes, image->size, err, sizeof(err))) {
		taken++;
		tsr_gpu_resume(m->b->gpu);
		run_on(m);
		return;
	}
	refused++;
	if (sound)
		fail("a snapshot is refused: ", err);
	if (!err[0] || strchr(err, '\n'))
		fail("it is refused without a message of one line", "");
	for (unsigned int i = 0; i < QUEUES; i++) {
		if (bench_state(&m->q[i]) != TSR_QUEUE_STATE_DISABLED)
			fail("it is refused, but the device is not reset", "");
	}
	tsr_gpu_resume(m->b->gpu);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	for (unsigned int kind = 0; kind < KINDS; kind++)
		make_moments(&machines[kind], kind);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = { data, size };
	uint8_t first = fuzz_byte(&in);
	struct machine *m = &machines[first % KINDS];
	const struct moment *s;
	struct image image;
	unsigned int changes = 0;

	s = &m->moment[first / KINDS % MOMENTS];
	image.room = s->bytes + 4096;
	image.bytes = malloc(image.room);
	image.size = s->bytes;
	if (!image.bytes)
		fail("no memory", "");
	memcpy(image.bytes, s->state, s->bytes);
	while (in.left && changes++ < 16)
		change(&image, s, &in);
	load(m, s, &image, &loaders[first / KINDS / MOMENTS % LOADERS], !changes);
	free(image.bytes);
	return 0;
}
