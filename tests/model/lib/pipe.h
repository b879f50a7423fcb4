/* SPDX-License-Identifier: MIT */
/*
 * The stages of the 3D pipeline alone: batches of vertices and warp groups of fragments that a test
 * runs.
 *
 * Memory is that of a bench, address space 1: PIPE_DATA is read and write, PIPE_CODE read and
 * execute. Programs 0 to 3 have their SHADER_PROGRAM, push constants and code in PIPE_CODE. The
 * tables of attributes, buffers, outputs and textures are at the start of PIPE_DATA, for all
 * programs.
 */
#ifndef TSR_PIPE_H
#define TSR_PIPE_H

#include "bench.h"
#include "device/gpu.h"
#include "shader/stage.h"

#define PIPE_DATA 0x10000000ull
#define PIPE_DATA_SIZE (1u << 20)
#define PIPE_CODE 0x20000000ull
#define PIPE_CODE_SIZE (256u << 10)
#define PIPE_ATTRIBUTES (PIPE_DATA + 0x0000)
#define PIPE_BUFFERS (PIPE_DATA + 0x1000)
#define PIPE_OUTPUTS (PIPE_DATA + 0x2000)	/* the table */
#define PIPE_TEXTURES (PIPE_DATA + 0x3000)
#define PIPE_SAMPLERS (PIPE_DATA + 0x4000)
#define PIPE_SURFACES (PIPE_DATA + 0x5000)
#define PIPE_VERTICES (PIPE_DATA + 0x8000)
#define PIPE_VALUES (PIPE_DATA + 0x10000)	/* outputs of vertices, 256 bytes each */
#define PIPE_FREE (PIPE_DATA + 0x20000)
#define PIPE_STRIDE 256u

/* The end of a fragment program: R0 to R3 to target 0. */
#define PIPE_FINISH \
	"clause wait=0 td {\n" \
	"	*NOP\n" \
	"	+ATEST r60:t1, r60, zero.w0, @r60\n" \
	"}\n" \
	"clause end {\n" \
	"	*NOP\n" \
	"	+BLEND r48:t1, r60, blend0.w0, blend0.w1, @r0\n" \
	"}\n"

struct pipe {
	struct bench *b;
	struct bench_as as;
	uint8_t *data, *code;
	struct tsr_mem mem;
	struct tsr_shader *sh;
	struct tsr_programs programs;
	struct tsr_vertex_run *v;
	struct tsr_fragments *f;
	struct tsr_fragment_state state;
	struct tsr_shader_program program;	/* of the next pipe_load(), with all tables */
	uint32_t push[16];			/* of pipe_text() */
	unsigned int steps;			/* the last run took */
	struct tsr_shader_stats stats;		/* of the last run */
	uint64_t budget;			/* of each step */
};

/*
 * The main function of a test: @run_all twice, with *@config NULL and with messages as late as can
 * be.
 */
int pipe_main(const struct tsr_config **config, void (*run_all)(void));

struct pipe *pipe_new(const struct tsr_config *config);
void pipe_free(struct pipe *p);
/* The test's view of PIPE_DATA. */
void *pipe_at(struct pipe *p, uint64_t va);

/* Program @number for @stage, of @bytes of code, from byte @entry; p->program says the rest. */
const struct tsr_program *pipe_load(struct pipe *p, unsigned int number, enum tsr_stage stage,
				    const void *code, uint32_t bytes, uint32_t entry,
				    const uint32_t *push, unsigned int push_words);
/* As pipe_program() for assembler text, with p->push. */
const struct tsr_program *pipe_text(struct pipe *p, unsigned int number, enum tsr_stage stage,
				    const char *text);
/* Offset of a label in the code of a text. */
uint32_t pipe_label(const char *text, const char *label);
/* Entry @index of a table of attributes: @format (enum tsr_pixel_format) of @buffer. */
void pipe_attribute(struct pipe *p, uint64_t table, unsigned int index, unsigned int buffer,
		    unsigned int format, int32_t offset, bool add_offset);
/* Buffer entry @index. */
void pipe_buffer(struct pipe *p, unsigned int index, unsigned int type, uint64_t va,
		 uint32_t stride, uint32_t size, unsigned int shift, unsigned int odd);
/* Varying @index is @components floats of buffer 31, which is the outputs', at byte 16 * index. */
void pipe_varying(struct pipe *p, unsigned int index, unsigned int components);

struct tex;
/* Texture 0 and sampler 0 are those that tex_write() and tex_write_sampler() have written. */
void pipe_texture(struct pipe *p, const struct tex *t);

/* Run the batch, the bundle, to its end. */
enum tsr_step pipe_vertices(struct pipe *p);
enum tsr_step pipe_fragments(struct pipe *p);

/* A bundle with primitive 0 over vertices at PIPE_VALUES; the test fills prim.v. */
struct tsr_fragment_prim *pipe_prim(struct pipe *p, unsigned int vertices);
/* Add a fully covered quad. */
struct tsr_fragment_quad *pipe_quad(struct pipe *p, int x, int y, unsigned int prim);

#endif
