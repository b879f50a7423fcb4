/* SPDX-License-Identifier: MIT */
/*
 * test: TSAN=0
 *
 * Stage I/O memory of vertex shaders: ALD, AST and AL2P with every address, the maps, unwritten
 * words, indices, the window. The expectations are written from the document.
 *
 * Each thread has a stage word of its own, which the test puts into R62. R61 is the vertex.
 */
#include <stdlib.h>
#include <string.h>

#include "geometry/stages.h"
#include "ktap.h"
#include "pipe.h"
#include "rnd.h"

#define THREADS 96u
#define LEFTOVER 0x7fbadbadu
#define ONE 0x3f800000u
#define OUTPUT 0x800u
#define INDEXED 0x2000u
#define ATTRIBUTES 20u			/* of 32 that have an address */
#define FLOATS 5u			/* the attribute that is one number */

static const struct tsr_config *config;
static struct pipe *p;
static struct tsr_stage_block block;

/* R8 to R11 to the front of the thread's outputs. */
#define KEEP "clause end wait=0 {\n*NOP\n+STORE.i128 r58, r59, @r8\n}\n"

static const char *const sizes[] = { "", ".v2", ".v3", ".v4" };

/* @insn with its size in the place of '%'. */
static void program(const char *before, const char *insn, unsigned int words, const char *after)
{
	static char text[2048];
	const char *mark = strchr(insn, '%');

	snprintf(text, sizeof(text), "%sclause wait=0 {\n*NOP\n+%.*s%s%s\n}\n%s", before,
		 (int)(mark - insn), insn, sizes[words - 1], mark + 1, after);
	p->v->program = pipe_text(p, 0, TSR_STAGE_VERTEX, text);
}

/* Threads in reversed slots; nothing is written, everything mapped. */
static void batch(unsigned int threads)
{
	p->v->threads = p->v->records = threads;
	for (unsigned int n = 0; n < threads; n++) {
		p->v->vertex[n] = 3 * n + 1;
		p->v->slot[n] = threads - 1 - n;
		p->v->instance[n] = 0;
	}
	p->v->padded = 0;
	p->v->start = 0;
	p->v->position_output = false;
	p->v->block = &block;
	memset(&block.in, 0xff, sizeof(block.in));
	memset(&block.out, 0xff, sizeof(block.out));
	tsr_stage_block_begin(&block, threads);
	/* whoever reads what has not been written sees that it came from here */
	memset(block.word, 0xee, sizeof(block.word));
}

/* Word @n of what thread @t has kept. */
static uint32_t kept(unsigned int t, unsigned int n)
{
	return block.word[p->v->slot[t]][n];
}

static void put_attributes(void)
{
	uint32_t *at = pipe_at(p, PIPE_FREE);

	pipe_buffer(p, 3, TSR_ATTRIBUTE_BUFFER_TYPE_LINEAR, PIPE_FREE, 512, 512 * 512, 0, 0);
	for (unsigned int k = 0; k < 512; k++) {
		for (unsigned int i = 0; i < 128; i++)
			at[128 * k + i] = 0x10000 + 1000 * k + i;
	}
	for (unsigned int i = 0; i < 32; i++)
		pipe_attribute(p, PIPE_ATTRIBUTES, i, 3, i == FLOATS ?
			       TSR_PIXEL_FORMAT_R32F : TSR_PIXEL_FORMAT_RGBA32UI, 16 * i, false);
	p->program.attribute_count = ATTRIBUTES;
}

/* ---- The document ---------------------------------------------------------------------------- */

static bool mapped(const struct tsr_stage_map *map, unsigned int byte)
{
	return map->word[byte / 256] >> byte / 4 % 64 & 1;
}

static uint32_t fallback(int64_t byte)
{
	return byte % 16 == 12 && ((byte >= 0x70 && byte < 0x2c0) ||
				   (byte >= 0x300 && byte < 0x3a0)) ? ONE : 0;
}

/* The value at @byte of the input of thread @t's vertex. */
static uint32_t input(unsigned int t, int64_t byte)
{
	const unsigned int n = (unsigned int)(byte - 0x80) / 16, c = byte / 4 % 4;

	if (byte < 0 || byte >= 1024)
		return 0;
	if (!mapped(&block.in, byte))
		return fallback(byte);
	if (byte == 0x2f8)
		return p->v->instance[t];
	if (byte == 0x2fc)
		return p->v->vertex[t];
	if (byte < 0x80 || byte >= 0x280)
		return LEFTOVER;
	if (n >= ATTRIBUTES)
		return 0;
	if (n == FLOATS && c)
		return c == 3 ? ONE : 0;
	return 0x10000 + 1000 * p->v->vertex[t] + 4 * n + c;
}

static int64_t aligned(int64_t byte, unsigned int words)
{
	return byte & -(int64_t)(words > 2 ? 16 : 4 * words);
}

/* ---- Loads ----------------------------------------------------------------------------------- */

static void random_map(struct tsr_stage_map *map)
{
	for (unsigned int i = 0; i < 4; i++)
		map->word[i] = ((uint64_t)rnd() << 32 | rnd()) | ((uint64_t)rnd() << 32 | rnd());
}

/* Only what the device makes can be mapped, as geometry.c has it. */
static void input_map(void)
{
	random_map(&block.in);
	for (unsigned int n = 0; n < 256; n++) {
		if ((n < 0x80 / 4 || n >= 0x280 / 4) && n != 0x2f8 / 4 && n != 0x2fc / 4)
			block.in.word[n / 64] &= ~(1ull << n % 64);
	}
}

/* All addresses, aligned or not, of all sizes; R11 becomes R10 or R8. */
static void test_load(void)
{
	static const char *const keep[] = {
		"STORE.i32 r58, r59, @r11", "STORE.i64 r58, r59, @r10",
		"STORE.i96 r58, r59, @r8", "STORE.i128 r58, r59, @r8",
	};

	for (unsigned int words = 1; words <= 4; words++) {
		char after[128];

		snprintf(after, sizeof(after), "clause end wait=0 {\n*NOP\n+%s\n}\n",
			 keep[words - 1]);
		program("", "ALD% r61, r61, r62, @r11", words, after);
		for (unsigned int first = 0; first < 1024; first += THREADS) {
			batch(THREADS);
			input_map();
			for (unsigned int t = 0; t < THREADS; t++)
				p->v->instance[t] = (first + t) % 1024;
			ktap_eq(pipe_vertices(p), TSR_STEP_DONE);
			for (unsigned int t = 0; t < THREADS; t++) {
				int64_t at = aligned(p->v->instance[t], words);

				for (unsigned int i = 0; i < words; i++)
					ktap_eq(kept(t, i), input(t, at + 4 * i));
			}
		}
	}
}

/* ---- Stores ---------------------------------------------------------------------------------- */

/* R8 to R11 are the vertex and what follows it, stored at R62; nothing else changes. */
static void test_store(void)
{
	static const char values[] =
		"clause {\n*MOV.i32 r8, r61\n+IADD.u32 r9, r61, 0x100\n"
		"*NOP\n+IADD.u32 r10, r61, 0x200\n*NOP\n+IADD.u32 r11, r61, 0x300\n}\n";
	static const unsigned int registers[] = { 11, 11, 10, 9 };
	static const unsigned int first_value[] = { 3, 2, 0, 0 };

	for (unsigned int words = 1; words <= 4; words++) {
		char insn[64];

		snprintf(insn, sizeof(insn), "AST%% r61, r61, r62, @r%u", registers[words - 1]);
		program(values, insn, words, "clause end wait=0 {\n*NOP\n+NOP\n}\n");
		for (unsigned int first = 0; first < 1024; first += THREADS) {
			batch(THREADS);
			random_map(&block.out);
			for (unsigned int t = 0; t < THREADS; t++)
				p->v->instance[t] = OUTPUT | (first + t) % 1024;
			ktap_eq(pipe_vertices(p), TSR_STEP_DONE);
			for (unsigned int t = 0; t < THREADS; t++) {
				unsigned int at = aligned(p->v->instance[t] - OUTPUT, words);

				for (unsigned int n = 0; n < 256; n++) {
					bool in = 4 * n >= at && 4 * n < at + 4 * words &&
						  mapped(&block.out, 4 * n);
					uint32_t value = p->v->vertex[t] +
						0x100 * (first_value[words - 1] + n - at / 4);

					ktap_eq(mapped(&block.written[p->v->slot[t]], 4 * n), in);
					ktap_eq(kept(t, n), in ? value : 0xeeeeeeee);
				}
			}
		}
	}
}

/* Loads of a thread's own outputs: written, left over, or a default. */
static void test_load_output(void)
{
	uint64_t unwritten = 0;

	p->push[2] = OUTPUT | 0x3f0;
	program("", "ALD% r61, r61, r62, @r8", 4, "clause end wait=0 {\n*NOP\n"
		"+AST.v4 r61, r61, u1.w0, @r8\n}\n");
	for (unsigned int first = 0; first < 1008; first += 16 * THREADS) {
		batch(THREADS);
		random_map(&block.out);
		block.out.word[3] |= 15ull << 60;
		for (unsigned int t = 0; t < THREADS; t++) {
			p->v->instance[t] = OUTPUT | (first + 16 * t) % 1008;
			for (unsigned int n = 0; n < 252; n++) {
				if (n % 3)
					tsr_stage_store(&block, p->v->slot[t], n, 1000 * t + n);
			}
		}
		ktap_eq(pipe_vertices(p), TSR_STEP_DONE);
		for (unsigned int t = 0; t < THREADS; t++) {
			for (unsigned int i = 0; i < 4; i++) {
				unsigned int n = (p->v->instance[t] & 0x3ff) / 4 + i;
				bool there = mapped(&block.out, 4 * n);

				unwritten += there && n % 3 == 0;
				ktap_eq(kept(t, 252 + i), !there ? fallback(4 * n) : n % 3 ?
					1000 * t + n : LEFTOVER);
			}
		}
		ktap_eq(block.unwritten, unwritten);
	}
	ktap_ok(unwritten > 50);
	p->push[2] = 0;
}

/* ---- Indices --------------------------------------------------------------------------------- */

/* R62 is an address, of any sign; AL2P of @made words, ALD of @words of them. */
static void run_index(unsigned int made, unsigned int words, unsigned int immediate)
{
	static char text[1024];

	snprintf(text, sizeof(text),
		 "clause wait=0 {\n*NOP\n+AL2P%s r62, r61, u1.w0, @r48\n}\n"
		 "clause wait=0 {\n*NOP\n+ALD%s r48, r61, u1.w1, @r8\n}\n" KEEP,
		 sizes[made - 1], sizes[words - 1]);
	p->push[2] = INDEXED | immediate;
	p->push[3] = INDEXED;
	p->v->program = pipe_text(p, 0, TSR_STAGE_VERTEX, text);
}

static void test_index(void)
{
	for (unsigned int words = 1; words <= 4; words++) {
		for (unsigned int round = 0; round < 24; round++) {
			unsigned int immediate = round % 3 ? rnd() % 1024 : 0;

			run_index(words, words, immediate);
			batch(THREADS);
			input_map();
			for (unsigned int t = 0; t < THREADS; t++)
				p->v->instance[t] = rnd() % 8 ? rnd() % 1200 - immediate :
						    rnd();
			ktap_eq(pipe_vertices(p), TSR_STEP_DONE);
			for (unsigned int t = 0; t < THREADS; t++) {
				int64_t at = aligned((int64_t)(int32_t)p->v->instance[t] +
						     immediate, words);

				for (unsigned int i = 0; i < words; i++)
					ktap_eq(kept(t, i), input(t, at + 4 * i));
			}
		}
	}
	/* fewer words than it was made for */
	run_index(4, 2, 0);
	batch(THREADS);
	for (unsigned int t = 0; t < THREADS; t++)
		p->v->instance[t] = 0x80 + 16 * (t % 32);
	ktap_eq(pipe_vertices(p), TSR_STEP_DONE);
	for (unsigned int t = 0; t < THREADS; t++) {
		ktap_eq(kept(t, 0), input(t, p->v->instance[t]));
		ktap_eq(kept(t, 1), input(t, p->v->instance[t] + 4));
		ktap_eq(kept(t, 2), 0);
	}
}

/* AST by an index: goes where ALD of that finds it. */
static void test_store_index(void)
{
	p->push[2] = OUTPUT | INDEXED;
	p->v->program = pipe_text(p, 0, TSR_STAGE_VERTEX,
		"clause {\n*NOP\n+IADD.u32 r8, r61, 0x1000\n*NOP\n+IADD.u32 r9, r61, 0x2000\n}\n"
		"clause wait=0 {\n*NOP\n+AL2P.v2 r62, r61, u1.w0, @r48\n}\n"
		"clause end wait=0 {\n*NOP\n+AST.v2 r48, r61, u1.w0, @r8\n}\n");
	batch(THREADS);
	random_map(&block.out);
	for (unsigned int t = 0; t < THREADS; t++)
		p->v->instance[t] = rnd() % 1100 - 50;
	ktap_eq(pipe_vertices(p), TSR_STEP_DONE);
	for (unsigned int t = 0; t < THREADS; t++) {
		int64_t at = aligned((int32_t)p->v->instance[t], 2);

		for (int n = 0; n < 256; n++) {
			bool in = 4 * n >= at && 4 * n < at + 8 && mapped(&block.out, 4 * n);

			ktap_eq(kept(t, n), in ? p->v->vertex[t] + 0x1000 * (1 + n - at / 4) :
						 0xeeeeeeee);
		}
	}
}

/* ---- What is refused ------------------------------------------------------------------------- */

/* Thread 17 has @word, the others @good: it is at fault with @code. */
static void refuse(const char *insn, uint32_t good, uint32_t word, unsigned int code)
{
	program("", insn, 1, "clause end wait=0 {\n*NOP\n+NOP\n}\n");
	batch(THREADS);
	for (unsigned int t = 0; t < THREADS; t++)
		p->v->instance[t] = t == 17 ? word : good;
	if (!ktap_eq(pipe_vertices(p), TSR_STEP_FAULT))
		ktap_note("%s of %#x", insn, word);
	ktap_eq(p->sh->fault.code, code);
	ktap_eq(p->sh->fault.unit, TSR_UNIT_STAGE);
	ktap_eq(p->sh->fault.addr, p->sh->fault.clause);
	ktap_eq(p->sh->fault.shader >> TSR_QUEUE_FAULT_SHADER_STAGE__SHIFT & 15, 1);
	ktap_eq(p->sh->fault.group[0], p->v->vertex[17]);
	ktap_eq(p->sh->fault.group[2], p->v->slot[17]);
	tsr_stage_drop(&p->v->run);
}

static void test_refused(void)
{
	static const char *const insn[] = {
		"ALD% r61, r61, r62, @r8", "AST% r61, r61, r62, @r8", "AL2P% r61, r61, r62, @r8",
	};

	for (unsigned int i = 0; i < 3; i++) {
		const uint32_t good = OUTPUT | 0x80;

		refuse(insn[i], good, good | 1u << 10, TSR_FAULT_SHADER_ENCODING);
		for (unsigned int bit = 14; bit < 32; bit++)
			refuse(insn[i], good, good | 1u << bit, TSR_FAULT_SHADER_ENCODING);
		refuse(insn[i], good, good | 1u << 12, TSR_FAULT_SHADER_ENCODING);
		/* with INDEXED an immediate belongs to AL2P alone */
		if (i < 2)
			refuse(insn[i], good, good | INDEXED, TSR_FAULT_SHADER_ENCODING);
	}
	refuse(insn[1], OUTPUT, 0, TSR_FAULT_SHADER_ENCODING);
}

/* Words AL2P has not made, has made for another space, or for fewer words. */
static void test_bad_index(void)
{
	static const char *const text[] = {
		"clause end {\n*NOP\n+ALD.v2 r62, r61, u1.w0, @r8\n}\n",
		"clause end {\n*NOP\n+AST.v2 r62, r61, u1.w0, @r8\n}\n",
	};
	const uint32_t good = 0xb0000000u | 1u << 18 | 1u << 16 | 0x20;
	const uint32_t bad[] = { 0, good ^ 1u << 28, good ^ 1u << 29, good ^ 1u << 30,
				 good ^ 1u << 31, good ^ 1u << 18, good ^ 1u << 16,
				 good | 0xff };

	for (unsigned int store = 0; store < 2; store++) {
		p->push[2] = OUTPUT | INDEXED;
		p->v->program = pipe_text(p, 0, TSR_STAGE_VERTEX, text[store]);
		for (unsigned int i = 0; i <= sizeof(bad) / sizeof(bad[0]); i++) {
			batch(20);
			for (unsigned int t = 0; t < 20; t++)
				p->v->instance[t] = i && t == 18 ? bad[i - 1] : good;
			if (!ktap_eq(pipe_vertices(p), i ? TSR_STEP_FAULT : TSR_STEP_DONE))
				ktap_note("%#x", i ? bad[i - 1] : good);
			ktap_ok(!i || p->sh->fault.code == TSR_FAULT_SHADER_ENCODING);
			tsr_stage_drop(&p->v->run);
		}
		/* a good one, and an immediate */
		p->push[2] |= 4;
		p->v->instance[18] = good;
		p->v->program = pipe_text(p, 0, TSR_STAGE_VERTEX, text[store]);
		ktap_eq(pipe_vertices(p), TSR_STEP_FAULT);
		ktap_eq(p->sh->fault.code, TSR_FAULT_SHADER_ENCODING);
		tsr_stage_drop(&p->v->run);
	}
}

/* Other vertex programs have no stage I/O memory. */
static void test_other_stages(void)
{
	static const char *const insn[] = {
		"clause end {\n*NOP\n+ALD r61, r61, 0x80, @r8\n}\n",
		"clause end {\n*NOP\n+AST r61, r61, 0x880, @r8\n}\n",
		"clause end {\n*NOP\n+AL2P r61, r61, 0x80, @r8\n}\n",
	};

	for (unsigned int i = 0; i < 6; i++) {
		p->v->program = pipe_text(p, 0, i % 2 ? TSR_STAGE_POSITION : TSR_STAGE_VARYING,
					  insn[i / 2]);
		batch(20);
		ktap_eq(pipe_vertices(p), TSR_STEP_FAULT);
		ktap_eq(p->sh->fault.code, TSR_FAULT_SHADER_UNSUPPORTED);
		ktap_eq(p->sh->fault.unit, TSR_UNIT_SHADER);
		ktap_eq(p->sh->fault.shader >> TSR_QUEUE_FAULT_SHADER_STAGE__SHIFT & 15, 0);
		tsr_stage_drop(&p->v->run);
	}
}

/* ---- The window ------------------------------------------------------------------------------ */

/* R62 is an offset: LOAD and STORE see what ALD and AST see. */
static void test_window(void)
{
	p->v->program = pipe_text(p, 0, TSR_STAGE_VERTEX,
		"clause {\n*NOP\n+IADD.u32 r48, r58, r62\n*NOP\n+IADD.u32 r9, r61, 0x5000\n"
		"*MOV.i32 r8, r61\n+NOP\n}\n"
		"clause wait=0 {\n*NOP\n+STORE.i64 r48, r59, @r8\n}\n"
		"clause wait=0 {\n*NOP\n+LOAD.i128 r48, r59, @r12\n}\n"
		"clause end wait=0 {\n*NOP\n+AST.v4 r61, r61, 0xbf0, @r12\n}\n");
	batch(THREADS);
	random_map(&block.out);
	block.out.word[3] |= 15ull << 60;
	for (unsigned int t = 0; t < THREADS; t++)
		p->v->instance[t] = 4 * (rnd() % 248);
	ktap_eq(pipe_vertices(p), TSR_STEP_DONE);
	for (unsigned int t = 0; t < THREADS; t++) {
		const unsigned int at = p->v->instance[t] / 4;

		for (unsigned int i = 0; i < 4; i++) {
			bool there = mapped(&block.out, 4 * (at + i));

			ktap_eq(kept(t, 252 + i), !there ? fallback(4 * (at + i)) : i > 1 ?
				LEFTOVER : p->v->vertex[t] + 0x5000 * i);
		}
	}
}

/* An access to the window that is a fault. */
static void window_fault(const char *insn, uint32_t offset, unsigned int code, unsigned int unit)
{
	static char text[512];

	snprintf(text, sizeof(text), "clause {\n*NOP\n+IADD.u32 r48, r58, r62\n}\n"
		 "clause end {\n*NOP\n+%s\n}\n", insn);
	p->v->program = pipe_text(p, 0, TSR_STAGE_VERTEX, text);
	batch(3);
	for (unsigned int t = 0; t < 3; t++)
		p->v->instance[t] = offset;
	if (!ktap_eq(pipe_vertices(p), code ? TSR_STEP_FAULT : TSR_STEP_DONE))
		ktap_note("%s at %#x", insn, offset);
	if (code) {
		ktap_eq(p->sh->fault.code, code);
		ktap_eq(p->sh->fault.unit, unit);
		ktap_eq(p->sh->fault.addr, TSR_WINDOW_STAGE_OUTPUT + offset);
	}
	tsr_stage_drop(&p->v->run);
}

static void test_window_faults(void)
{
	window_fault("STORE.i128 r48, r59, @r8", 1008, TSR_FAULT_NONE, 0);
	window_fault("STORE.i128 r48, r59, @r8", 1012, TSR_FAULT_SHADER_BOUNDS, TSR_UNIT_STAGE);
	window_fault("LOAD.i32 r48, r59, @r8", 1024, TSR_FAULT_SHADER_BOUNDS, TSR_UNIT_STAGE);
	window_fault("LOAD.i32 r48, r59, @r8", 0xfffffffc, TSR_FAULT_SHADER_BOUNDS,
		     TSR_UNIT_STAGE);
	window_fault("STORE.i8 r48, r59, @r8", 0x10, TSR_FAULT_SHADER_ALIGNMENT, TSR_UNIT_STAGE);
	window_fault("LOAD.i16 r48, r59, @r8", 0x10, TSR_FAULT_SHADER_ALIGNMENT, TSR_UNIT_STAGE);
	window_fault("LOAD.i48 r48, r59, @r8", 0x10, TSR_FAULT_SHADER_ALIGNMENT, TSR_UNIT_STAGE);
	window_fault("AXCHG.i32 r48, r59, @r8", 0x10, TSR_FAULT_MMU_UNMAPPED, TSR_UNIT_ATOMIC);
}

/* LEA_ATTR names the window, at the output's offset; elsewhere outputs are dropped. */
static void test_outputs(void)
{
	p->v->program = pipe_text(p, 0, TSR_STAGE_VERTEX,
		"clause {\n*MOV.i32 r0, r61\n+IADD.u32 r1, r61, 1\n*NOP\n+NOP\n}\n"
		"clause wait=0 {\n*NOP\n+LEA_ATTR_IMM.u32 r61, r62, attribute_index:1, @r48\n}\n"
		"clause wait=0 {\n*NOP\n+ST_CVT.v4 r48, r49, r50, @r0\n}\n"
		"clause wait=0 {\n*NOP\n+LEA_ATTR_IMM.u32 r61, r62, attribute_index:2, @r48\n}\n"
		"clause wait=0 {\n*NOP\n+ST_CVT.v4 r48, r49, r50, @r0\n}\n"
		"clause wait=0 {\n*NOP\n+LEA_ATTR_IMM.u32 r61, r62, attribute_index:3, @r48\n}\n"
		"clause end wait=0 {\n*NOP\n+ST_CVT.v4 r48, r49, r50, @r0\n}\n");
	pipe_attribute(p, PIPE_OUTPUTS, 1, 31, TSR_PIXEL_FORMAT_RG32UI, 0x90, false);
	pipe_attribute(p, PIPE_OUTPUTS, 2, 31, TSR_PIXEL_FORMAT_RG32UI, 1020, false);
	pipe_attribute(p, PIPE_OUTPUTS, 3, 31, TSR_PIXEL_FORMAT_RG32UI, -4, false);
	batch(THREADS);
	ktap_eq(pipe_vertices(p), TSR_STEP_DONE);
	for (unsigned int t = 0; t < THREADS; t++) {
		for (unsigned int n = 0; n < 256; n++)
			ktap_eq(kept(t, n), n == 0x90 / 4 ? p->v->vertex[t] :
				n == 0x94 / 4 ? p->v->vertex[t] + 1 : 0xeeeeeeee);
	}
}

/* ---- Time ------------------------------------------------------------------------------------ */

/* In very small steps the same is written. */
static void test_steps(void)
{
	static uint32_t whole[TSR_BATCH_VERTICES][TSR_STAGE_WORDS];

	for (unsigned int i = 0; i < 2; i++) {
		program("", "ALD% r61, r61, r62, @r8", 4, KEEP);
		batch(TSR_BATCH_VERTICES);
		for (unsigned int t = 0; t < TSR_BATCH_VERTICES; t++)
			p->v->instance[t] = 0x80 + 4 * t;
		p->budget = i ? 1 : UINT64_MAX;
		ktap_eq(pipe_vertices(p), TSR_STEP_DONE);
		if (!i)
			memcpy(whole, block.word, sizeof(whole));
	}
	ktap_ok(p->steps > 1);
	ktap_mem_eq(block.word, whole, sizeof(whole));
	p->budget = UINT64_MAX;
}

static void run_all(void)
{
	p = pipe_new(config);
	put_attributes();
	ktap_run("[ALD1] [ALD2] loads at every address, of all sizes, by the map", test_load);
	ktap_run("[ALD1] [ALD2] stores likewise; registers are aligned", test_store);
	ktap_run("[ALD6] own outputs: written, left over, or the default", test_load_output);
	ktap_run("[ALD5] loads by index, vectors too", test_index);
	ktap_run("[ALD5] stores by index", test_store_index);
	ktap_run("[ALD1] [ALD3] stage words that are refused", test_refused);
	ktap_run("[ALD5] indices that AL2P has not made", test_bad_index);
	ktap_run("no other vertex program has attribute space", test_other_stages);
	ktap_run("the window shows the same", test_window);
	ktap_run("accesses to the window that are refused", test_window_faults);
	ktap_run("outputs of shaders that know nothing of it", test_outputs);
	ktap_run("[PIX7] a batch stops between clauses", test_steps);
	pipe_free(p);
}

int main(void)
{
	return pipe_main(&config, run_all);
}
