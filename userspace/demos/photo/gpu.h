/* SPDX-License-Identifier: MIT */
/*
 * GPU code of both processes: open the device, map the shared buffer, write and submit streams.
 * Functions return 0 or a negative errno with the text in tsr_error_message().
 */
#ifndef GPU_H
#define GPU_H

#include <tessera/tessera.h>
#include <tessera/cmd.h>

/* Points of the shared timeline, in the order in which they are submitted. */
enum point {
	POINT_EDITED = 1, /* the second process's job */
	POINT_TILED = 2,  /* the first process's first job; it runs before the above */
	POINT_DONE = 3	  /* the first process's second job */
};

/* Words in the first page of the shared buffer: written and read by the GPU. */
enum word {
	WORD_TILED = 0,			/* semaphore: 1 once the source is tiled */
	WORD_TIMES = 64			/* 64-bit timestamps: begin and end of the three steps */
};

enum step { STEP_TILE, STEP_EDIT, STEP_DETILE, STEPS };

/* One process's view of the GPU. Starts as zero. */
struct gpu {
	struct tsr_device *device;
	struct tsr_vm *vm;
	struct tsr_pool *streams;	/* memory for command streams */
	struct tsr_bo *shared;		/* the buffer both processes use */
	uint64_t shared_va;
	struct tsr_surface source, result; /* in it, tiled */
	struct tsr_sync *timeline;
};

/* gpu_open(): the device at @path (NULL: the first), a VM, memory for streams. */
int gpu_open(struct gpu *gpu, const char *path);

/* gpu_close(): drop everything; also after a failure half-way. */
void gpu_close(struct gpu *gpu);

/*
 * gpu_layout(): where source and result lie in the shared buffer, for a picture of this size;
 * *@size gets the buffer's size. Needs no device.
 */
int gpu_layout(struct gpu *gpu, uint32_t width, uint32_t height, uint32_t texel, uint64_t *size);

/* gpu_map_shared(): map gpu->shared; the images' addresses are valid from then on. */
int gpu_map_shared(struct gpu *gpu);

/* One step of the work: a queue, and the stream being written for it. */
struct work {
	enum step step;
	struct tsr_queue *queue;
	struct tsr_stream *stream;
};

/* work_begin(): a queue and an empty stream. End with work_free(), once the GPU is done. */
int work_begin(struct work *work, struct gpu *gpu, enum step step);

/* work_start(), work_stop(): write the timestamps around what is measured. */
int work_start(struct work *work, const struct gpu *gpu);
int work_stop(struct work *work, const struct gpu *gpu);

/* work_submit(): submit the stream; wait for @wait unless it is 0, signal @signal. */
int work_submit(struct work *work, struct gpu *gpu, uint64_t wait, uint64_t signal);

void work_free(struct work *work);

#endif /* GPU_H */
