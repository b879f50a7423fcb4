/* SPDX-License-Identifier: MIT */
/*
 * Whole frames: BIN and RENDER with random states, programs, textures and draws (lib/draws.h).
 *
 * - A frame as it should be leaves the same targets, queries and stores on devices of different
 *   kinds: with all optimisations and with none, as machine code and without, on another SIMD path,
 *   on worker threads.
 * - A frame of which some bits of lists, descriptors, tables, code, indices or the heap are changed
 *   ends, by itself or by RESET: done, or with a fault whose record says what can be true. What the
 *   device draws next is what it always was.
 *
 * Input: what kind of test (0: as it should be; bits 2:0 otherwise how many changes; bits 7:6 the
 * device that is compared), how many draws at most, what is left out (16 bits, draws.h), and any
 * number of bytes that seed everything else.
 *
 * To reproduce: TSR_FUZZ_FRESH=1 gives each input a new device, TSR_FUZZ_DEBUG=N the one that is
 * compared these bits of gfx-debug and no others.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "draws.h"
#include "ktap.h"
#include "processor_time.h"
#include "tile/zs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
void fuzz_summary(void);
extern const char fuzz_proves[];
const char fuzz_proves[] = "[CP3] [SYS10] [ZS3] [ZS4] [ZS5] [ZS6] [OM3] ";

#define DRIVER_VA 0x70000000ull		/* rings */
#define CYCLES 4000			/* of a step */
/* Until a changed frame is reset: steps, or nanoseconds of processor time; others must be done. */
#define STEPS 400
#define PATIENCE 300000000
#define GFX_ALL (TSR_GFX_NO_EARLY | TSR_GFX_NO_HIZ | TSR_GFX_NO_COMPRESSION | \
		 TSR_GFX_NO_FAST_CLEAR | TSR_GFX_NO_FLAT | TSR_GFX_NO_BLOCKS | \
		 TSR_GFX_NO_SMALL | TSR_GFX_NO_STAGES)
#define KINDS 5
#define LIFE 1000			/* frames until a machine is replaced */

enum { BIN, RENDER };

struct machine {
	struct bench *b;
	struct bench_as as;
	struct bench_queue queue[2];
	uint8_t *data, *list, *heap, *targets;
	unsigned int age;
};

static const struct tsr_config kinds[KINDS] = {
	{ .cores = 2 },
	{ .gfx_debug = GFX_ALL, .jit = TSR_JIT_USE_OFF, .cores = 1, .no_texture_cache = true },
	{ .simd = "sse2", .jit = TSR_JIT_USE_FIRST, .cores = 3, .gfx_debug = TSR_GFX_NO_FLAT },
	{ .threads = 2, .late_messages = true, .jit = TSR_JIT_USE_FIRST },
	{ .simd = "avx2", .late_messages = true },
};

static struct machine machines[KINDS];
static unsigned long compared, faults, changed, resets, kept;
static unsigned int last_fault;

void fuzz_summary(void)
{
	ktap_note("%lu frames compared, of which %lu fault; %lu changed, of which %lu are done "
		  "and %lu were reset", compared, faults, changed, kept, resets);
}

static void start(struct machine *m, unsigned int kind)
{
	static const uint8_t classes[] = { TSR_ENGINE_CLASS_BIN, TSR_ENGINE_CLASS_RENDER };
	const char *debug = getenv("TSR_FUZZ_DEBUG");
	struct tsr_config config = kinds[kind];

	if (debug && kind)
		config.gfx_debug = (unsigned int)strtoul(debug, NULL, 0);
	if (m->b)
		bench_free(m->b);
	m->age = 0;
	m->b = bench_new(&config);
	bench_as_init(m->b, &m->as, 1);
	m->data = bench_buffer(&m->as, DRAWS_DATA, DRAWS_DATA_SIZE, BENCH_RW);
	m->list = bench_buffer(&m->as, DRAWS_LIST, DRAWS_LIST_SIZE, BENCH_RX);
	m->heap = bench_buffer(&m->as, DRAWS_HEAP, DRAWS_HEAP_SIZE, BENCH_RW);
	m->targets = bench_buffer(&m->as, DRAWS_TARGETS, DRAWS_TARGETS_SIZE, BENCH_RW);
	for (unsigned int i = 0; i < 2; i++)
		bench_queue_init(&m->queue[i], i, classes[i], TSR_PRIORITY_NORMAL, &m->as,
				 DRIVER_VA + 0x10000 * i, 12, &m->as);
}

/* ---- Running --------------------------------------------------------------------------------- */

static bool at_rest(struct bench_queue *q)
{
	enum tsr_queue_state state = bench_state(q);

	return state == TSR_QUEUE_STATE_IDLE || state == TSR_QUEUE_STATE_FAULTED;
}

static void reset(struct bench_queue *q)
{
	bench_control(q, TSR_QUEUE_OP_RESET);
	if (q->bench->config.threads)
		bench_run(q->bench, 10);
	q->wptr = 0;
	bench_enable(q, 0);
}

/* Where a fault can be, and what it can be. */
static void check_fault(struct bench_queue *q)
{
	uint32_t fault = bench_queue_reg(q, TSR_QUEUE_FAULT__OFFSET);

	if (!bench_fault(q) || bench_queue_reg64(q, TSR_QUEUE_FAULT_PC__OFFSET) < 0x1000 ||
	    !bench_field(fault, TSR_QUEUE_FAULT_UNIT__MASK)) {
		fprintf(stderr, "fault 0x%x at 0x%llx\n", fault, (unsigned long long)
			bench_queue_reg64(q, TSR_QUEUE_FAULT_PC__OFFSET));
		abort();
	}
}

/* Run the command at @offset of DRAWS_LIST; false: it faults, or is @bounded and has no end. */
static bool run(struct machine *m, unsigned int which, uint32_t offset, bool bounded)
{
	const struct tsr_barrier fresh = { .inv_read = true, .inv_code = true };
	struct bench_queue *q = &m->queue[which];
	uint64_t word[TSR_BARRIER_QWORDS], end = processor_time() + PATIENCE;

	tsr_pack_barrier(word, &fresh);
	bench_emit(q, word, TSR_BARRIER_QWORDS);
	bench_call(q, DRAWS_LIST + offset,
		   8 * (which == BIN ? TSR_BIN_QWORDS : TSR_RENDER_QWORDS));
	bench_kick(q);
	if (m->b->config.threads) {
		bench_run(m->b, 8);
	} else {
		for (unsigned int i = 0; !at_rest(q) && i < (bounded ? STEPS : 1000 * STEPS); i++) {
			if (!tsr_gpu_run(m->b->gpu, CYCLES))
				bench_answer(m->b);
			if (bounded && processor_time() > end)
				break;
		}
	}
	if (bench_state(q) == TSR_QUEUE_STATE_IDLE)
		return true;
	if (bench_state(q) == TSR_QUEUE_STATE_FAULTED) {
		last_fault = bench_fault(q);
		check_fault(q);
	} else if (bounded) {
		resets++;
	} else {
		fprintf(stderr, "a frame that should end does not\n");
		abort();
	}
	reset(q);
	return false;
}

/* What is in targets before a frame: anything. */
static void fill_targets(struct machine *m, const struct draws *d)
{
	uint64_t *word = (uint64_t *)(void *)m->targets, state = d->seed | 1;

	for (uint32_t i = 0; i < d->target_bytes / 8 + 1; i++) {
		state = state * 6364136223846793005ull + 1442695040888963407ull;
		word[i] = state >> 7 & 0xbfffbfffbfffbfffull;
	}
	for (uint32_t i = 0; i < d->tags; i++)
		m->targets[DRAWS_TARGETS_SIZE - 1 - i] = (state >> (i & 31)) % 5;
}

static void put(struct machine *m, const struct draws *d)
{
	memcpy(m->data, d->data, DRAWS_DATA_SIZE);
	memcpy(m->list, d->list, DRAWS_LIST_SIZE);
	memset(m->heap, 0, DRAWS_HEAP_SIZE);	/* outputs that nobody writes */
	fill_targets(m, d);
}

static struct machine *machine(unsigned int kind)
{
	struct machine *m = &machines[kind];

	if (!m->b || m->age++ > LIFE || getenv("TSR_FUZZ_FRESH"))
		start(m, kind);
	return m;
}

/* Draw @d on a device of @kind. */
static bool draw(struct machine *m, const struct draws *d)
{
	put(m, d);
	return run(m, BIN, DRAWS_BIN, false) && run(m, RENDER, DRAWS_RENDER, false) &&
	       (!d->tagged || run(m, RENDER, DRAWS_EXPAND, false));
}

/* ---- As it should be ------------------------------------------------------------------------- */

/* Statistics that depend on which fragments are found hidden before their program runs. */
static void forget_fragments(uint8_t *data)
{
	for (unsigned int i = 0; i < DRAWS_MAX; i++)
		memset(data + DRAWS_QUERIES + 128 * i + 64 +
		       8 * TSR_PIPELINE_STATISTICS_FRAGMENT_INVOCATIONS__QWORD, 0, 8);
}

static void differ(const struct draws *d, unsigned int kind, const char *what, const uint8_t *a,
		   const uint8_t *b, uint32_t size)
{
	uint32_t i = 0, count = 0;

	for (uint32_t n = size; n--;) {
		if (a[n] != b[n])
			i = n, count++;
	}
	fprintf(stderr, "device of kind %u, seed %llx, left out %x: %s differ at 0x%x: %02x, "
		"plain %02x; %u bytes\n", kind, (unsigned long long)d->seed, d->left_out, what, i,
		b[i], a[i], count);
	for (unsigned int t = 0; t < TSR_RENDER_TARGETS_MAX + 2; t++) {
		const struct tsr_render_target *rt = &d->target[t];

		if (rt->pointer && *what == 't')
			fprintf(stderr, "target %u: 0x%llx format %u layout %u pitch %u samples %u"
				"\n", t, (unsigned long long)(rt->pointer - DRAWS_TARGETS),
				rt->format, rt->layout, rt->pitch, 1u << rt->samples_log2);
	}
	abort();
}

static uint8_t *left_at(struct machine *m, const char *what)
{
	return *what == 'd' ? m->data : m->targets;
}

/* Compare what two devices leave; if it differs, say who leaves something else when it is new. */
static void same(const struct draws *d, struct machine *a, struct machine *b, unsigned int kind,
		 const char *what, uint32_t size)
{
	static uint8_t left[2][DRAWS_TARGETS_SIZE];
	struct machine *m[2] = { a, b };

	if (!memcmp(left_at(a, what), left_at(b, what), size))
		return;
	for (unsigned int i = 0; i < 2; i++) {
		memcpy(left[i], left_at(m[i], what), size);
		start(m[i], i * kind);
		draw(m[i], d);
		if (memcmp(left[i], left_at(m[i], what), size))
			fprintf(stderr, "a new device of kind %u leaves something else\n",
				i * kind);
	}
	differ(d, kind, what, left[0], left[1], size);
}

static void compare(const struct draws *d, unsigned int kind)
{
	struct machine *a = machine(0), *b = machine(kind);
	bool done = draw(a, d);

	compared++;
	faults += !done;
	if (draw(b, d) != done) {
		fprintf(stderr, "device of kind %u: %s\n", kind, done ? "faults" : "does not");
		abort();
	}
	if (!done)
		return;
	if (b->b->config.gfx_debug & (TSR_GFX_NO_EARLY | TSR_GFX_NO_HIZ)) {
		forget_fragments(a->data);
		forget_fragments(b->data);
	}
	same(d, a, b, kind, "data", DRAWS_TEXELS);
	same(d, a, b, kind, "targets", d->target_bytes);
}

/* ---- Changed --------------------------------------------------------------------------------- */

/* Places worth changing, each as likely as the others; with IN_DATA, of DRAWS_DATA. */
#define IN_DATA 0x80000000u
static const struct {
	uint32_t offset, size;
} places[] = {
	{ DRAWS_FRAME, 56 }, { DRAWS_TARGET, 640 }, { DRAWS_BIN, 32 }, { DRAWS_RENDER, 32 },
	{ DRAWS_BIN_LIST, 0x200 }, { DRAWS_TILE_LIST, 64 }, { DRAWS_RENDER_LIST, 64 },
	{ DRAWS_STATES, 0x400 * DRAWS_STATES_MAX }, { DRAWS_STATES, 64 },
	{ DRAWS_PROGRAMS, 128 * DRAWS_PROGRAMS_MAX }, { DRAWS_TABLES, 0x400 * 8 },
	{ DRAWS_TEXTURES, 0x180 }, { DRAWS_SURFACES, 0x100 }, { DRAWS_CODE, 0x8000 },
	{ IN_DATA | DRAWS_INDICES, 0x400 }, { IN_DATA | DRAWS_ARGUMENTS, 0x200 },
	{ IN_DATA | DRAWS_VERTICES, DRAWS_VERTICES_SIZE },
};
#define PLACES (sizeof(places) / sizeof(places[0]))

static const uint64_t edges[] = {
	0, 1, 3, 63, 64, 255, 4095, 0x7fff, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xffffffff,
	0x7fffffffffff, 0xffffffffffffffff, DRAWS_DATA, DRAWS_LIST, DRAWS_HEAP, DRAWS_TARGETS,
	DRAWS_TARGETS + DRAWS_TARGETS_SIZE - 64, DRAWS_LIST + DRAWS_CODE,
};

/* Change something of @size bytes: a bit, a byte, a word. */
static void change(struct fuzz_random *r, uint8_t *at, uint32_t size)
{
	uint32_t i = fuzz_below(r, size);
	uint64_t edge = edges[fuzz_below(r, sizeof(edges) / sizeof(edges[0]))];

	switch (fuzz_below(r, 5)) {
	case 0:
		at[i] ^= 1u << fuzz_below(r, 8);
		break;
	case 1:
		at[i] = (uint8_t)fuzz_next(r);
		break;
	case 2:
		if (size >= 8)
			memcpy(at + i % (size / 8) * 8, &edge, 8);
		break;
	case 3:
		if (size >= 4)
			memcpy(at + i % (size / 4) * 4, &edge, 4);
		break;
	default:
		if (size >= 8)
			memcpy(at + i % (size / 8) * 8, at + fuzz_below(r, size / 8) * 8, 8);
	}
}

/* What a device draws that nobody has changed anything for. */
static void check_sound(struct machine *m)
{
	static struct draws *sound;
	static uint8_t *want;

	if (!sound) {
		sound = aligned_alloc(64, (sizeof(*sound) + 63) & ~(size_t)63);
		memset(sound, 0, sizeof(*sound));
		sound->seed = 12;
		sound->most = 3;
		draws_make(sound);
	}
	if (!draw(m, sound)) {
		fprintf(stderr, "the frame that follows faults: %u\n", last_fault);
		abort();
	}
	if (!want) {
		want = malloc(sound->target_bytes);
		memcpy(want, m->targets, sound->target_bytes);
	}
	if (memcmp(want, m->targets, sound->target_bytes))
		differ(sound, 0, "targets of the frame that follows", want, m->targets,
		       sound->target_bytes);
}

static void disturb(struct draws *d, unsigned int changes)
{
	struct fuzz_random r = draws_part(d, 1000, 0);
	struct machine *m = machine(0);
	unsigned int heap = fuzz_below(&r, 3) ? 0 : changes;

	changed++;
	for (unsigned int i = heap; i < changes; i++) {
		unsigned int n = fuzz_below(&r, PLACES);
		uint32_t offset = places[n].offset;

		change(&r, offset & IN_DATA ? d->data + (offset & ~IN_DATA) : d->list + offset,
		       places[n].size);
	}
	put(m, d);
	if (run(m, BIN, DRAWS_BIN, true)) {
		for (unsigned int i = 0; i < heap; i++)
			change(&r, m->heap, fuzz_below(&r, 2) ? 0x400 : 0x4000);
		kept += run(m, RENDER, DRAWS_RENDER, true);
	}
	if (changed % 8 == 0)
		check_sound(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct draws *d;

	if (size < 5)
		return 0;
	if (!d)
		d = aligned_alloc(64, (sizeof(*d) + 63) & ~(size_t)63);
	memset(d, 0, sizeof(*d));
	d->most = 1 + data[1] % DRAWS_MAX;
	d->left_out = data[2] | data[3] << 8;
	d->seed = fuzz_random(data + 4, size - 4).state;
	draws_make(d);
	if (data[0] & 7)
		disturb(d, data[0] & 7);
	else
		compare(d, 1 + (data[0] >> 3) % (KINDS - 1));
	return 0;
}
