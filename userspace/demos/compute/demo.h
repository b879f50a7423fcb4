/* SPDX-License-Identifier: MIT */
/*
 * Shared code of the compute demos: the GPU, programs from text, buffers, runs and times.
 *
 * Each demo puts its input into buffers, records dispatches, runs them, computes the same on the
 * CPU and compares every bit. Functions return 0, or -1 with one line of text in demo.error.
 */
#ifndef DEMO_H
#define DEMO_H

#include "../lib/picture.h"
#include <tessera/tessera.h>
#include <tessera/compute.h>

#define DEMO_PROGRAMS	8
#define DEMO_BUFFERS	8

struct demo {
	/* the command line */
	const char *input, *output;	/* PNG files, for demos with pictures */
	/* the GPU */
	struct tsr_device *device;
	struct tsr_vm *vm;
	struct tsr_pool *code;		/* for streams and programs */
	struct tsr_pool *data;		/* buffers, cached by the CPU */
	struct tsr_queue *queue;	/* COMPUTE */
	struct tsr_stream *stream;
	struct tsr_sync *done;
	struct tsr_alloc times;		/* two timestamps, written by the GPU */
	/* what the present demo has made */
	struct tsr_shader *programs[DEMO_PROGRAMS];
	struct tsr_alloc buffers[DEMO_BUFFERS];
	unsigned int program_count, buffer_count;
	uint64_t microseconds;		/* what its dispatches took, by the GPU's clock */
	char error[PICTURE_ERROR];
};

/* One of the demos. */
struct demo_kind {
	const char *name;
	const char *summary;		/* for --help */
	bool reads_picture, writes_picture;
	int (*run)(struct demo *demo);
};

extern const struct demo_kind demo_convolve, demo_equalise, demo_mandelbrot, demo_sgemm,
	demo_prefix;

/* demo_fail(): put text into demo->error; returns -1. */
int demo_fail(struct demo *demo, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* demo_open(), demo_close(): the GPU at @path (NULL: the first). Close after a failure as well. */
int demo_open(struct demo *demo, const char *path);
void demo_close(struct demo *demo);

/* A shader's text, linked into the program; see userspace/Makefile. */
#define DEMO_SHADER(name) \
	extern const char _binary_demos_compute_##name##_s_start[]; \
	extern const char _binary_demos_compute_##name##_s_end[]
#define DEMO_PROGRAM(demo, name, program) \
	demo_program(demo, #name ".s", _binary_demos_compute_##name##_s_start, \
		     _binary_demos_compute_##name##_s_end, program)

/* demo_program(): assemble a text. The program goes with the demo. */
int demo_program(struct demo *demo, const char *name, const char *start, const char *end,
		 struct tsr_shader **program);

/* demo_buffer(): @size bytes that the GPU and the CPU read and write; they go with the demo. */
int demo_buffer(struct demo *demo, uint64_t size, struct tsr_alloc *buffer);

/* demo_storage(): the whole buffer as a storage buffer, its push constants at @push_word. */
struct tsr_storage demo_storage(const struct tsr_alloc *buffer, uint32_t access,
				uint32_t push_word);

/* demo_begin(): an empty stream; dispatches go to demo->stream. */
int demo_begin(struct demo *demo);

/* demo_run(): run what was recorded, to the end; adds the time it took to microseconds. */
int demo_run(struct demo *demo);

/* demo_compare(): @count words from the GPU at @got, and those of the CPU at @want. */
int demo_compare(struct demo *demo, const char *what, const uint32_t *got, const uint32_t *want,
		 size_t count);

/*
 * demo_read_picture(): demo->input with 8 bits a sample; demo_write_picture(): the same kind of
 * picture to demo->output. Words are R in bits 7:0, G, B and A above.
 */
int demo_read_picture(struct demo *demo, struct picture *picture);
int demo_write_picture(struct demo *demo, const struct picture *picture);

/* demo_up(): @value rounded up to a multiple of @step. */
static inline uint32_t demo_up(uint32_t value, uint32_t step)
{
	return (value + step - 1) / step * step;
}

#endif /* DEMO_H */
