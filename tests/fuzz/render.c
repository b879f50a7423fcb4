/* SPDX-License-Identifier: MIT */
/*
 * Whole frames: BIN and RENDER with random states, programs, textures and draws (lib/draws.h).
 *
 * - A frame as it should be leaves the same targets, queries and stores on devices of different
 *   kinds: with all optimizations and with none, as machine code and without, on another SIMD path,
 *   on worker threads.
 * - A frame of which some bits of lists, descriptors, tables, code, indices or the heap are changed
 *   ends, by itself or by RESET: done, or with a fault whose record says what can be true. What the
 *   device draws next is what it always was.
 *
 * Input: frame_of_input(), with the device that a sound frame is compared on in bits 7:3.
 *
 * To reproduce: TSR_FUZZ_FRESH=1 gives each input a new device, TSR_FUZZ_DEBUG=N the one that is
 * compared these TSR_GFX_NO_ flags and no others.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "env.h"
#include "frame_machine.h"
#include "ktap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
void fuzz_summary(void);
extern const char fuzz_proves[];
const char fuzz_proves[] = "[CP3] [SYS10] [ZS3] [ZS4] [ZS5] [ZS6] [OM3] ";

#define GFX_ALL (TSR_GFX_NO_EARLY | TSR_GFX_NO_HIZ | TSR_GFX_NO_COMPRESSION | \
		 TSR_GFX_NO_FAST_CLEAR | TSR_GFX_NO_FLAT | TSR_GFX_NO_BLOCKS | \
		 TSR_GFX_NO_SMALL | TSR_GFX_NO_STAGES)
#define KINDS 5
#define LIFE 1000			/* frames until a machine is replaced */

static const struct tsr_config kinds[KINDS] = {
	{ .cores = 2 },
	{ .gfx_debug = GFX_ALL, .jit = TSR_JIT_USE_OFF, .cores = 1, .no_texture_cache = true },
	{ .simd = "sse2", .jit = TSR_JIT_USE_FIRST, .cores = 3, .gfx_debug = TSR_GFX_NO_FLAT },
	{ .threads = 2, .late_messages = true, .jit = TSR_JIT_USE_FIRST },
	{ .simd = "avx2", .late_messages = true },
};

static struct frame_machine machines[KINDS];
static unsigned int ages[KINDS];	/* frames since the machine was made */
static unsigned long compared, faults, changed, resets, kept;

void fuzz_summary(void)
{
	ktap_note("%lu frames compared, of which %lu fault; %lu changed, of which %lu are done "
		  "and %lu were reset", compared, faults, changed, kept, resets);
}

static void start(struct frame_machine *m, unsigned int kind)
{
	const char *debug = getenv("TSR_FUZZ_DEBUG");
	struct tsr_config config = kinds[kind];

	if (debug && kind)
		config.gfx_debug = (unsigned int)strtoul(debug, NULL, 0);
	frame_machine_free(m);
	ages[kind] = 0;
	frame_machine_new(m, &config);
}

static struct frame_machine *machine(unsigned int kind)
{
	struct frame_machine *m = &machines[kind];

	if (!m->b || ages[kind]++ > LIFE || getenv("TSR_FUZZ_FRESH"))
		start(m, kind);
	return m;
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

static uint8_t *left_at(struct frame_machine *m, const char *what)
{
	return *what == 'd' ? m->data : m->targets;
}

/* Compare what two devices leave; if it differs, say who leaves something else when it is new. */
static void same(const struct draws *d, struct frame_machine *a, struct frame_machine *b,
		 unsigned int kind, const char *what, uint32_t size)
{
	static uint8_t left[2][DRAWS_TARGETS_SIZE];
	struct frame_machine *m[2] = { a, b };

	if (!memcmp(left_at(a, what), left_at(b, what), size))
		return;
	for (unsigned int i = 0; i < 2; i++) {
		memcpy(left[i], left_at(m[i], what), size);
		start(m[i], i * kind);
		frame_draw(m[i], d);
		if (memcmp(left[i], left_at(m[i], what), size))
			fprintf(stderr, "a new device of kind %u leaves something else\n",
				i * kind);
	}
	differ(d, kind, what, left[0], left[1], size);
}

static void compare(const struct draws *d, unsigned int kind)
{
	struct frame_machine *a = machine(0), *b = machine(kind);
	bool done = frame_draw(a, d);

	compared++;
	faults += !done;
	if (frame_draw(b, d) != done) {
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

/* A device draws an unchanged frame correctly. */
static void check_sound(struct frame_machine *m)
{
	static struct draws *sound;
	static uint8_t *want;

	if (!sound) {
		sound = frame_new();
		frame_make(sound, 12, 3, 0);
	}
	if (!frame_draw(m, sound)) {
		fprintf(stderr, "the frame that follows faults: %u\n", m->last_fault);
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
	struct frame_machine *m = machine(0);
	unsigned int heap = fuzz_below(&r, 3) ? 0 : changes;
	enum frame_end end;

	changed++;
	frame_change_inputs(&r, d, changes - heap);
	frame_put(m, d);
	end = frame_run(m, FRAME_BIN, DRAWS_BIN, true);
	if (end == FRAME_DONE) {
		for (unsigned int i = 0; i < heap; i++)
			frame_change(&r, m->heap, fuzz_below(&r, 2) ? 0x400 : 0x4000);
		end = frame_run(m, FRAME_RENDER, DRAWS_RENDER, true);
		kept += end == FRAME_DONE;
	}
	resets += end == FRAME_RESET;
	if (changed % 8 == 0)
		check_sound(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct draws *d = frame_of_input(data, size);

	if (!d)
		return 0;
	if (data[0] & 7)
		disturb(d, data[0] & 7);
	else
		compare(d, 1 + (data[0] >> 3) % (KINDS - 1));
	return 0;
}
