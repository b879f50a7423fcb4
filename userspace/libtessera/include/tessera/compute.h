/* SPDX-License-Identifier: MIT */
/*
 * libtessera-gfx: shaders for the shader cores, and running them.
 *
 *	struct tsr_shader_info info = { .code = words, .size = sizeof(words), .local = { 64 } };
 *	struct tsr_storage data = { .va = va, .size = bytes, .access = TSR_SHADER_WRITE };
 *	struct tsr_dispatch_info run = {
 *		.shader = shader, .groups = { 16 }, .storage = &data, .storage_count = 1,
 *	};
 *
 *	tsr_shader_create(code, &info, sizeof(info), &shader);
 *	tsr_cmd_dispatch(stream, &run, sizeof(run));
 *
 * A shader is code in GPU memory with its fixed properties. A dispatch runs it for a grid of thread
 * groups. Its arguments (push constants, uniform buffers, storage buffers, views, ...) are written
 * into the stream with the command. The caller can therefore change and reuse the arrays at once,
 * and must keep only the GPU memory. Documentation/hw/compute.md describes the hardware, and
 * Documentation/guide/libtessera.md explains a first shader.
 *
 * Order. tsr_cmd_dispatch() puts a barrier between two dispatches of one stream if their memory
 * overlaps and one of them writes. Others may run at the same time. A dispatch uses the memory that
 * it names. A dispatch that names no memory to write, and one with TSR_DISPATCH_OPAQUE, is ordered
 * with all others. The caller orders jobs and queues.
 *
 * The rules of tessera.h hold. Shaders, scratch and counted buffers may be shared by threads.
 */
#ifndef TESSERA_COMPUTE_H
#define TESSERA_COMPUTE_H

#include <tessera/cmd.h>
#include <tessera/image.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tsr_shader;	/* code in GPU memory; never changes */
struct tsr_scratch;	/* memory of its own for each thread that runs */

/* ---- Shaders -------------------------------------------------------------------------------- */

enum tsr_shader_flags {
	TSR_SHADER_REGISTERS_64 = 1 << 0	/* may use all 64 registers; half as many threads */
};

/* Description of a shader. Zeroed fields are the defaults. */
struct tsr_shader_info {
	const void *code;	/* clauses, the first one first; copied */
	uint32_t size;		/* bytes, a multiple of 16, 16 to 16 MiB */
	uint32_t entry;		/* where it begins, bytes from the start, a multiple of 16 */
	uint32_t flags;		/* enum tsr_shader_flags */
	uint32_t local[3];	/* threads of a group along x, y, z; 0 counts as 1 */
	uint32_t shared_memory;	/* bytes of shared memory of a group */
	uint32_t scratch_size;	/* bytes of scratch of a thread, rounded up to 16 */
	uint32_t push_words;	/* words a dispatch has to push at least */
	const char *label;	/* name of the shader in messages; copied, NULL: none */
};

/*
 * tsr_shader_create(): put code into memory of @pool, which needs EXEC access and CPU mappings and
 * is kept alive. @size is sizeof(*@info). The GPU must be done with a shader before its last
 * reference goes. -EINVAL for a size, group or memory beyond what the device has
 * (tsr_error_message() says which and what is expected) or a pool without EXEC, -ENODEV for a GPU
 * without shader cores. Whether the clauses are valid is seen when they run.
 */
int tsr_shader_create(struct tsr_pool *pool, const struct tsr_shader_info *info, size_t size,
		      struct tsr_shader **shader);

/*
 * tsr_shader_assemble(): the same from @size bytes of text, of which
 * Documentation/guide/shaders.md tells; directives in it say what else there is to say.
 * @name stands for the text in messages and is the label. -EINVAL for errors in the text:
 * tsr_error_message() has the first, as NAME:LINE:COLUMN.
 */
int tsr_shader_assemble(struct tsr_pool *pool, const char *text, size_t size, const char *name,
			 struct tsr_shader **shader);

struct tsr_shader *tsr_shader_ref(struct tsr_shader *shader);
void tsr_shader_unref(struct tsr_shader *shader);

/* tsr_shader_va(): GPU address of the first byte of its code. */
uint64_t tsr_shader_va(const struct tsr_shader *shader);

/*
 * tsr_shader_line(): the line of the text, from 1, that instruction tuple @tuple of the clause at
 * GPU address @clause_va came from: where a fault was (drm_tessera_queue_get_state.fault_clause_va,
 * fault_tuple). 0 if the clause is not of this shader, or the shader is not from text.
 */
uint32_t tsr_shader_line(const struct tsr_shader *shader, uint64_t clause_va,
			  unsigned int tuple);

/* ---- Scratch --------------------------------------------------------------------------------- */

/*
 * tsr_scratch_create(): memory for shaders of @vm that use up to @size bytes of scratch a thread:
 * enough for all threads the device runs at once. Two dispatches with one scratch never run at the
 * same time in one stream; jobs that may overlap, on other queues, need scratch of their own.
 * -EINVAL for size 0 or more than drm_tessera_shader_info.max_scratch.
 */
int tsr_scratch_create(struct tsr_vm *vm, uint32_t size, struct tsr_scratch **scratch);

struct tsr_scratch *tsr_scratch_ref(struct tsr_scratch *scratch);
void tsr_scratch_unref(struct tsr_scratch *scratch);

/* ---- What a dispatch names ------------------------------------------------------------------- */

/*
 * A buffer that the shader addresses by itself. Push constants @push_word to @push_word + 3 receive
 * its address (low, high), its size in bytes, and 0. Only page tables bound the accesses.
 */
struct tsr_storage {
	uint64_t va;		/* first byte */
	uint64_t size;		/* bytes, below 4 GiB */
	uint32_t access;	/* enum tsr_shader_access: what the shader does with it */
	uint32_t push_word;	/* first of the four words, even; they may lie beyond push_words */
};

/* A uniform buffer: the n-th is buffer n of LOAD.ubo; loads beyond its end read 0. */
struct tsr_uniform {
	uint64_t va;		/* a multiple of 16 */
	uint32_t size;		/* bytes, a multiple of 16 up to 64 KiB; 0: reads 0 everywhere */
};

enum tsr_dispatch_flags {
	TSR_DISPATCH_OPAQUE = 1 << 0	/* touches memory it does not name: order it with all */
};

#define TSR_UNIFORMS_MAX	16	/* uniform buffers of one tsr_cmd_dispatch() */
#define TSR_STORAGE_MAX		16	/* storage buffers */
#define TSR_VIEWS_MAX		16	/* views */
#define TSR_TEXTURES_MAX	16	/* textures */
#define TSR_SURFACES_MAX	120	/* levels * layers * samples of a texture */
#define TSR_SAMPLERS_MAX	16	/* samplers */

/* One run of a shader. Zeroed fields are the defaults; arrays are copied. */
struct tsr_dispatch_info {
	struct tsr_shader *shader;
	uint32_t groups[3];	/* along x, y, z; 0 counts as 1 in y and z, x 0 runs nothing */
	uint64_t indirect;	/* if not 0: address of the three numbers, and @groups is ignored */
	uint32_t flags;		/* enum tsr_dispatch_flags */
	uint32_t clause_limit;	/* clauses a warp may run, then SHADER_LIMIT; 0: any number */
	const uint32_t *push;	/* push constants; uniform FAU n is words 2n and 2n + 1 */
	uint32_t push_words;	/* number of words */
	const struct tsr_storage *storage;
	uint32_t storage_count;
	const struct tsr_uniform *uniforms;
	uint32_t uniform_count;
	const struct tsr_view *views;	/* the n-th is attribute n */
	uint32_t view_count;
	const struct tsr_view *textures;	/* the n-th is texture n; reads all of its image */
	uint32_t texture_count;
	const struct tsr_sampler_state *samplers;
	uint32_t sampler_count;
	struct tsr_scratch *scratch;	/* for shaders with scratch_size, of at least that size */
};

/*
 * tsr_cmd_dispatch(): record a dispatch, for COMPUTE queues only, with the barriers that it needs
 * after the earlier commands of the stream. @size is sizeof(*@dispatch). The shader, scratch and
 * memory must exist until the job is done. Returns -EINVAL for arguments that the hardware would
 * refuse, or if the shader lacks scratch or push constants.
 */
int tsr_cmd_dispatch(struct tsr_stream *stream, const struct tsr_dispatch_info *dispatch,
		     size_t size);

/* ---- Append and consume ---------------------------------------------------------------------- */

/*
 * An array with a hidden counter: the number of its elements, a 32-bit word in front of them. A
 * shader appends by adding 1 to the counter with an atomic that returns the old value, and writing
 * the element of that number unless it is beyond the capacity; it consumes by adding -1 and reading
 * the element before the old value. Plain data: copy it freely, destroy it once.
 */
struct tsr_counted {
	struct tsr_alloc memory;	/* of the pool's */
	uint64_t counter_va;		/* GPU address of the counter */
	uint64_t va;			/* GPU address of element 0 */
	uint32_t stride;		/* bytes of an element */
	uint32_t capacity;		/* elements there is room for */
};

/*
 * tsr_counted_create(): room for @capacity elements of @stride bytes (a multiple of 4) in @pool,
 * which needs READ and WRITE access and CPU mappings; the counter is 0.
 */
int tsr_counted_create(struct tsr_pool *pool, uint32_t stride, uint32_t capacity,
		       struct tsr_counted *counted);

/*
 * tsr_counted_destroy(): give the memory back; the GPU must be done with it. Errors are those of
 * tsr_pool_free().
 */
int tsr_counted_destroy(struct tsr_pool *pool, struct tsr_counted *counted);

/*
 * tsr_counted_get(): how many elements there are, on the CPU, while the GPU does not use it: never
 * more than the capacity (appends beyond it are lost) nor less than 0.
 */
uint32_t tsr_counted_get(const struct tsr_counted *counted);

/* tsr_counted_set(): say that there are @count elements, at most the capacity, else -EINVAL. */
int tsr_counted_set(struct tsr_counted *counted, uint32_t count);

/* tsr_counted_data(): element 0 on the CPU. */
void *tsr_counted_data(const struct tsr_counted *counted);

/*
 * tsr_counted_storage(): fill @storage with the two storage buffers of a counted buffer. The
 * elements use the push constants from @push_word on, and the counter those from @push_word + 4 on.
 */
void tsr_counted_storage(const struct tsr_counted *counted, uint32_t push_word,
			 struct tsr_storage storage[2]);

#ifdef __cplusplus
}
#endif

#endif /* TESSERA_COMPUTE_H */
