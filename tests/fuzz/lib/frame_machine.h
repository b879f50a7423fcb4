/* SPDX-License-Identifier: MIT */
/*
 * A machine that bins and renders the frames of draws.h, and random changes to such frames.
 */
#ifndef FUZZ_FRAME_MACHINE_H
#define FUZZ_FRAME_MACHINE_H

#include "bench.h"
#include "draws.h"

#define FRAME_RINGS 0x70000000ull	/* GPU address of the first ring */
#define FRAME_RING_STEP 0x10000ull	/* distance of two rings */

/* Numbers of the queues that frame_machine_new() makes. */
enum { FRAME_BIN, FRAME_RENDER, FRAME_QUEUES };

struct frame_machine {
	struct bench *b;
	struct bench_as as;
	struct bench_queue queue[FRAME_QUEUES];
	uint8_t *data, *list, *heap, *targets;	/* the test's view of the memory of draws.h */
	unsigned int slices;		/* limit of a bounded command in runs of the device */
	unsigned int cycles;		/* cycles of a run, 0 for the defaults of both */
	unsigned int last_fault;		/* code of the last fault, 0 if there was none */
};

/* How a command ends. */
enum frame_end { FRAME_DONE, FRAME_FAULTED, FRAME_RESET };

/* frame_machine_new(): make the device, its memory and its queues. */
void frame_machine_new(struct frame_machine *m, const struct tsr_config *config);

/* frame_machine_free(): free the device. A machine without a device is allowed. */
void frame_machine_free(struct frame_machine *m);

/* frame_new(): allocate room for a frame. The caller owns it and frees it with free(). */
struct draws *frame_new(void);

/*
 * frame_of_input(): make the frame that a fuzz input describes, or return NULL if the input is too
 * short. The function owns the frame, and the next call replaces it. The frame refers to the input.
 *
 * Bits 2:0 of the input are the number of changes (0: a sound frame) and bits 7:3 are the target's.
 * The maximum of draws, 16 bits of DRAWS_NO_*, and the bytes of a struct fuzz_random follow. Each
 * part of a frame has choices of its own in fixed places among them.
 */
struct draws *frame_of_input(const uint8_t *data, size_t size);

/* frame_make(): make the frame of @seed with at most @most draws and without @left_out. */
void frame_make(struct draws *d, uint64_t seed, unsigned int most, uint32_t left_out);

/* frame_put(): write the frame and reproducible previous contents of its targets to memory. */
void frame_put(struct frame_machine *m, const struct draws *d);

/* frame_emit(): put the command at @offset of DRAWS_LIST into the ring. bench_kick() starts it. */
void frame_emit(struct bench_queue *q, uint32_t offset, bool render);

/*
 * frame_run(): run the command at @offset of DRAWS_LIST on queue @which and reset the queue unless
 * the command succeeds. A @bounded command is reset when it takes too long. Any other command that
 * does not end aborts the program, and so does a fault record that cannot be true. If
 * m->b->reported is set, a write that the device has not reported as dirty aborts it, too.
 */
enum frame_end frame_run(struct frame_machine *m, unsigned int which, uint32_t offset,
			 bool bounded);

/* frame_draw(): put the frame, bin it and render it. Returns false if a command faults. */
bool frame_draw(struct frame_machine *m, const struct draws *d);

/* A piece of a frame that is worth changing. */
struct frame_place {
	enum frame_memory { FRAME_IN_LIST, FRAME_IN_DATA, FRAME_IN_HEAP, FRAME_IN_TARGETS } memory;
	uint32_t offset, size;
};

/* The first FRAME_INPUTS places are in the list and the data, the others in heap and targets. */
#define FRAME_INPUTS 17
#define FRAME_PLACES 21
extern const struct frame_place frame_places[FRAME_PLACES];

/* frame_change(): change a bit, a byte or a word of the @size bytes at @at. */
void frame_change(struct fuzz_random *r, uint8_t *at, uint32_t size);

/* frame_change_inputs(): change @count of the first FRAME_INPUTS places of @d. */
void frame_change_inputs(struct fuzz_random *r, struct draws *d, unsigned int count);

#endif
