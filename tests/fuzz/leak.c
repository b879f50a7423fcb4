// SPDX-License-Identifier: MIT
/*
 * Leaks of the device's own memory into the guest's memory.
 *
 * Two devices of one kind run the same frame from the same guest memory. One of them has run all
 * frames before, the other is new. The host's allocator and the stack give each device different
 * contents of uninitialized memory. Both devices must end in the same way, with the same fault
 * record, and must leave the same bytes in all of the guest's memory. A difference means that the
 * device has written uninitialized memory of QEMU or remains of an earlier job, perhaps of another
 * user, where the guest can read them.
 *
 * Input: frame_of_input(), with the kind of device in bits 7:3.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fail_alloc.h"
#include "frame_machine.h"
#include "ktap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
void fuzz_summary(void);

#define LIFE 200			/* frames until the older machine is replaced */
#define STACK (256u << 10)		/* bytes of the stack that are overwritten */

static const struct tsr_config kinds[] = {
	{ .cores = 2 },
	{ .cores = 1, .jit = TSR_JIT_USE_OFF, .no_texture_cache = true },
	{ .cores = 3, .jit = TSR_JIT_USE_FIRST, .simd = "sse2" },
	{ .late_messages = true, .simd = "avx2" },
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* The part of a frame's outcome that is not in the guest's memory. */
struct outcome {
	enum frame_end end;
	unsigned int commands;		/* number of commands that were started */
	unsigned int fault;
};

static struct frame_machine older[KINDS];
static unsigned int ages[KINDS];	/* frames of the older machine */
static unsigned long compared, faults, skipped;

void fuzz_summary(void)
{
	ktap_note("%lu frames compared, of which %lu fault; %lu not compared because of a reset",
		  compared, faults, skipped);
}

/* Fill the stack below the caller, where functions of the device will have their variables. */
__attribute__((noinline))
static void fill_stack(uint8_t byte)
{
	uint8_t room[STACK];

	memset(room, byte, sizeof(room));
	__asm__ volatile("" : : "r"(room) : "memory");
}

static enum frame_end step(struct frame_machine *m, struct outcome *o, unsigned int which,
			   uint32_t offset, bool bounded)
{
	o->commands++;
	o->end = frame_run(m, which, offset, bounded);
	return o->end;
}

static struct outcome run(struct frame_machine *m, const struct draws *d, bool bounded,
			  uint8_t byte)
{
	struct outcome o = { 0 };

	fill_alloc(byte);
	fill_stack(byte);
	m->last_fault = 0;
	/* frame_put() leaves what no frame uses; earlier frames of the older device did use it. */
	memset(m->targets, 0, DRAWS_TARGETS_SIZE);
	frame_put(m, d);
	if (step(m, &o, FRAME_BIN, DRAWS_BIN, bounded) == FRAME_DONE &&
	    step(m, &o, FRAME_RENDER, DRAWS_RENDER, bounded) == FRAME_DONE && d->tagged)
		step(m, &o, FRAME_RENDER, DRAWS_EXPAND, bounded);
	o.fault = m->last_fault;
	fill_alloc(-1);
	return o;
}

static void same(const struct draws *d, const char *what, const uint8_t *old, const uint8_t *new,
		 uint32_t size)
{
	if (!memcmp(old, new, size))
		return;
	for (uint32_t i = 0; i < size; i++) {
		if (old[i] == new[i])
			continue;
		fprintf(stderr, "leak: %s differs at 0x%x: %02x, on a new device %02x; seed %llx, "
			"left out %x\n", what, i, old[i], new[i], (unsigned long long)d->seed,
			d->left_out);
		abort();
	}
}

static void compare(const struct draws *d, unsigned int kind, bool changed, uint8_t byte)
{
	struct frame_machine *old = &older[kind], fresh;
	struct outcome a, b;

	if (!old->b || ages[kind]++ > LIFE) {
		frame_machine_free(old);
		ages[kind] = 0;
		frame_machine_new(old, &kinds[kind]);
	}
	a = run(old, d, changed, byte);
	fill_alloc((uint8_t)~byte);
	frame_machine_new(&fresh, &kinds[kind]);
	b = run(&fresh, d, changed, (uint8_t)~byte);
	if (a.end == FRAME_RESET || b.end == FRAME_RESET) {
		/* The moment of a reset depends on the speed of the host. */
		skipped++;
	} else {
		if (a.end != b.end || a.commands != b.commands || a.fault != b.fault) {
			fprintf(stderr, "leak: command %u ends with %u, fault %u; on a new device "
				"command %u with %u, fault %u\n", a.commands, a.end, a.fault,
				b.commands, b.end, b.fault);
			abort();
		}
		compared++;
		faults += a.end == FRAME_FAULTED;
		same(d, "data", old->data, fresh.data, DRAWS_DATA_SIZE);
		same(d, "list", old->list, fresh.list, DRAWS_LIST_SIZE);
		same(d, "heap", old->heap, fresh.heap, DRAWS_HEAP_SIZE);
		same(d, "targets", old->targets, fresh.targets, DRAWS_TARGETS_SIZE);
	}
	frame_machine_free(&fresh);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct draws *d = frame_of_input(data, size);
	struct fuzz_random r;
	unsigned int changes;

	if (!d)
		return 0;
	changes = data[0] & 7;
	r = draws_part(d, 1002, 0);
	frame_change_inputs(&r, d, changes);
	compare(d, (data[0] >> 3) % KINDS, changes, (uint8_t)fuzz_next(&r));
	return 0;
}
