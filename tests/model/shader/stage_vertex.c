/* SPDX-License-Identifier: MIT */
/*
 * Vertex programs: registers at entry, records and outputs, attributes in every mode under
 * instancing, against counting by hand; what faults; batches that stop.
 */
#include <stdio.h>
#include <string.h>

#include "ktap.h"
#include "rnd.h"
#include "pipe.h"

#define NOTHING 0xeeeeeeeeu

static const struct tsr_config *config;
static struct pipe *p;
/* Stores R0 to R3 where R58:R59 says, as 16 bytes. */
#define RECORD \
	"clause end {\n" \
	"	*NOP\n" \
	"	+STORE.i128 r58, r59, @r0\n" \
	"}\n"

static const char load[] =
	"clause wait=0 {\n"
	"	*NOP\n"
	"	+LD_ATTR_IMM.u32.v4 r61, r62, attribute_index:3, @r0\n"
	"}\n"
	RECORD;

static void batch(unsigned int threads)
{
	p->v->threads = p->v->records = threads;
	for (unsigned int n = 0; n < threads; n++) {
		p->v->vertex[n] = n;
		p->v->instance[n] = 0;
		p->v->slot[n] = n;
	}
	p->v->padded = 4;
	p->v->start = 0;
	p->v->position_output = false;
	p->v->outputs = PIPE_VALUES;
	p->v->output_stride = PIPE_STRIDE;
}

static uint32_t word(unsigned int slot, unsigned int n)
{
	return p->v->record[slot][n / 2] >> 32 * (n % 2);
}

/* ---- Entry ----------------------------------------------------------------------------------- */

static void test_entry(void)
{
	static const char text[] =
		"clause {\n"
		"	*MOV.i32 r0, r61\n"
		"	+MOV.i32 r1, r62\n"
		"	*MOV.i32 r2, r5\n"
		"	+MOV.i32 r3, r60\n"
		"	*MOV.i32 r5, 0x1234\n"
		"	+NOP\n"
		"}\n"
		RECORD;

	p->v->program = pipe_text(p, 0, TSR_STAGE_POSITION, text);
	for (unsigned int round = 0; round < 2; round++) {
		batch(TSR_BATCH_VERTICES - 3);
		p->v->records++;
		for (unsigned int n = 0; n < p->v->threads; n++) {
			p->v->vertex[n] = 1000 - n;
			p->v->instance[n] = n * n;
			p->v->slot[n] = n ^ 1;
		}
		memset(p->v->record, 0xcc, sizeof(p->v->record));
		ktap_eq(pipe_vertices(p), TSR_STEP_DONE);
		for (unsigned int n = 0; n < p->v->threads; n++) {
			ktap_eq(word(n ^ 1, 0), 1000 - n);
			ktap_eq(word(n ^ 1, 1), n * n);
			/* registers are 0, whatever the batch before left in them */
			ktap_eq(word(n ^ 1, 2), 0);
			ktap_eq(word(n ^ 1, 3), 0);
			ktap_eq(word(n ^ 1, 4), 0);
		}
		ktap_eq(word(TSR_BATCH_VERTICES - 4, 0), 0);
	}
}

/* ---- Modes ----------------------------------------------------------------------------------- */

/* Element k of buffer 3 is 4 words, k * 10 first. */
#define ELEMENTS 2000

static void elements(unsigned int type, unsigned int shift, unsigned int odd, bool add_start)
{
	uint32_t *at = pipe_at(p, PIPE_FREE);

	for (uint32_t k = 0; k < ELEMENTS; k++) {
		for (unsigned int c = 0; c < 4; c++)
			at[4 * k + c] = 10 * k + c;
	}
	pipe_buffer(p, 3, type, PIPE_FREE, 16, 16 * ELEMENTS, shift, odd);
	pipe_attribute(p, PIPE_ATTRIBUTES, 3, 3, TSR_PIXEL_FORMAT_RGBA32UI, 0, add_start);
}

/* Magic numbers of a divisor that is no power of two, by the published rule. */
static void divide_by(uint32_t d)
{
	unsigned int k = 31 - __builtin_clz(d);
	uint64_t m = ((1ull << (32 + k)) + d - 1) / d, rest = (1ull << (32 + k)) % d;
	bool e = rest <= 1ull << k;
	uint64_t *q = pipe_at(p, PIPE_BUFFERS + 16 * 4);

	elements(TSR_ATTRIBUTE_BUFFER_TYPE_DIVIDE, k, e, false);
	q[0] = TSR_ATTRIBUTE_BUFFER_TYPE_CONTINUATION | ((e ? m - 1 : m) & 0x7fffffff) << 32;
	q[1] = (uint64_t)d << 32;
}

/*
 * The element that thread @n of a draw with @padded vertices reads in mode @type with divisor @d.
 */
static int64_t element(unsigned int n, unsigned int type, uint64_t d)
{
	uint64_t linear = (p->v->vertex[n] + p->v->padded * p->v->instance[n]) & UINT32_MAX;

	switch (type) {
	case TSR_ATTRIBUTE_BUFFER_TYPE_LINEAR:
		return linear;
	case TSR_ATTRIBUTE_BUFFER_TYPE_MODULUS:
		return linear % d;
	default:
		return linear / d;
	}
}

static void check(unsigned int type, uint64_t d, bool add_start)
{
	uint64_t *attribute = pipe_at(p, PIPE_ATTRIBUTES + 8 * 3);

	p->v->start = add_start ? (int)(rnd() % 9) - 4 : 7;
	if (add_start)
		*attribute |= 1 << 9;
	ktap_eq(pipe_vertices(p), TSR_STEP_DONE);
	for (unsigned int n = 0; n < p->v->threads; n++) {
		int64_t k = element(n, type, d) + (add_start ? p->v->start : 0);

		for (unsigned int c = 0; c < 4; c++) {
			uint32_t want = k >= 0 && k < ELEMENTS ? 10 * k + c : 0;

			if (!ktap_eq(word(n, c), want))
				ktap_note("type %u divisor %llu element %lld", type,
					  (unsigned long long)d, (long long)k);
		}
	}
}

static void test_modes(void)
{
	static const uint64_t padded[] = { 4, 12, 20, 28, 36, 320, 1ull << 32, 7ull << 29 };

	p->v->program = pipe_text(p, 0, TSR_STAGE_POSITION, load);
	for (unsigned int i = 0; i < 400; i++) {
		unsigned int shift = rnd() % 6, odd = rnd() % 5;
		uint64_t factor = (2 * odd + 1ull) << shift;
		uint32_t d = 3 + rnd() % 90;

		batch(40);
		p->v->padded = padded[rnd() % 8];
		for (unsigned int n = 0; n < 40; n++) {
			p->v->vertex[n] = rnd() % (p->v->padded < 40 ? p->v->padded : 40);
			p->v->instance[n] = p->v->padded > 400 ? rnd() % 2 : rnd() % 50;
		}
		elements(TSR_ATTRIBUTE_BUFFER_TYPE_LINEAR, 0, 0, false);
		check(TSR_ATTRIBUTE_BUFFER_TYPE_LINEAR, 1, i % 2);
		elements(TSR_ATTRIBUTE_BUFFER_TYPE_SHIFT, shift, 0, false);
		check(TSR_ATTRIBUTE_BUFFER_TYPE_SHIFT, 1ull << shift, i % 2);
		elements(TSR_ATTRIBUTE_BUFFER_TYPE_MODULUS, shift, odd, false);
		check(TSR_ATTRIBUTE_BUFFER_TYPE_MODULUS, factor, i % 2);
		if (d & (d - 1)) {
			divide_by(d);
			check(TSR_ATTRIBUTE_BUFFER_TYPE_DIVIDE, d, i % 2);
		}
	}
}

static void test_bad_modulus(void)
{
	p->v->program = pipe_text(p, 0, TSR_STAGE_POSITION, load);
	for (unsigned int odd = 0; odd < 8; odd++) {
		enum tsr_step step;

		batch(3);
		p->v->vertex[0] = 17;
		elements(TSR_ATTRIBUTE_BUFFER_TYPE_MODULUS, 1, odd, false);
		step = pipe_vertices(p);
		ktap_eq(step, odd > 4 ? TSR_STEP_FAULT : TSR_STEP_DONE);
		if (step != TSR_STEP_FAULT)
			continue;
		ktap_eq(p->sh->fault.code, TSR_FAULT_SHADER_STATE);
		ktap_eq(p->sh->fault.addr, PIPE_BUFFERS + 16 * 3);
		ktap_eq(p->sh->fault.unit, TSR_UNIT_ATTRIBUTE);
		/* who: vertex, instance, place in the batch */
		ktap_eq(p->sh->fault.group[0], 17);
		ktap_eq(p->sh->fault.group[1], 0);
		ktap_eq(p->sh->fault.group[2], 0);
	}
}

/* ---- Formats --------------------------------------------------------------------------------- */

enum { UNORM, SNORM, UINT, SINT, FLOAT };

static const struct vertex_format {
	uint8_t format, kind, bits, components;
} formats[] = {
	{ TSR_PIXEL_FORMAT_R8_UNORM, UNORM, 8, 1 },
	{ TSR_PIXEL_FORMAT_RG8_UNORM, UNORM, 8, 2 },
	{ TSR_PIXEL_FORMAT_RGB8_UNORM, UNORM, 8, 3 },
	{ TSR_PIXEL_FORMAT_RGBA8_UNORM, UNORM, 8, 4 },
	{ TSR_PIXEL_FORMAT_R16_UNORM, UNORM, 16, 1 },
	{ TSR_PIXEL_FORMAT_RG16_UNORM, UNORM, 16, 2 },
	{ TSR_PIXEL_FORMAT_RGB16_UNORM, UNORM, 16, 3 },
	{ TSR_PIXEL_FORMAT_RGBA16_UNORM, UNORM, 16, 4 },
	{ TSR_PIXEL_FORMAT_R32_UNORM, UNORM, 32, 1 },
	{ TSR_PIXEL_FORMAT_RG32_UNORM, UNORM, 32, 2 },
	{ TSR_PIXEL_FORMAT_RGB32_UNORM, UNORM, 32, 3 },
	{ TSR_PIXEL_FORMAT_RGBA32_UNORM, UNORM, 32, 4 },
	{ TSR_PIXEL_FORMAT_R8_SNORM, SNORM, 8, 1 },
	{ TSR_PIXEL_FORMAT_RG8_SNORM, SNORM, 8, 2 },
	{ TSR_PIXEL_FORMAT_RGB8_SNORM, SNORM, 8, 3 },
	{ TSR_PIXEL_FORMAT_RGBA8_SNORM, SNORM, 8, 4 },
	{ TSR_PIXEL_FORMAT_R16_SNORM, SNORM, 16, 1 },
	{ TSR_PIXEL_FORMAT_RG16_SNORM, SNORM, 16, 2 },
	{ TSR_PIXEL_FORMAT_RGB16_SNORM, SNORM, 16, 3 },
	{ TSR_PIXEL_FORMAT_RGBA16_SNORM, SNORM, 16, 4 },
	{ TSR_PIXEL_FORMAT_R32_SNORM, SNORM, 32, 1 },
	{ TSR_PIXEL_FORMAT_RG32_SNORM, SNORM, 32, 2 },
	{ TSR_PIXEL_FORMAT_RGB32_SNORM, SNORM, 32, 3 },
	{ TSR_PIXEL_FORMAT_RGBA32_SNORM, SNORM, 32, 4 },
	{ TSR_PIXEL_FORMAT_R8UI, UINT, 8, 1 },
	{ TSR_PIXEL_FORMAT_RG8UI, UINT, 8, 2 },
	{ TSR_PIXEL_FORMAT_RGB8UI, UINT, 8, 3 },
	{ TSR_PIXEL_FORMAT_RGBA8UI, UINT, 8, 4 },
	{ TSR_PIXEL_FORMAT_R16UI, UINT, 16, 1 },
	{ TSR_PIXEL_FORMAT_RG16UI, UINT, 16, 2 },
	{ TSR_PIXEL_FORMAT_RGB16UI, UINT, 16, 3 },
	{ TSR_PIXEL_FORMAT_RGBA16UI, UINT, 16, 4 },
	{ TSR_PIXEL_FORMAT_R32UI, UINT, 32, 1 },
	{ TSR_PIXEL_FORMAT_RG32UI, UINT, 32, 2 },
	{ TSR_PIXEL_FORMAT_RGB32UI, UINT, 32, 3 },
	{ TSR_PIXEL_FORMAT_RGBA32UI, UINT, 32, 4 },
	{ TSR_PIXEL_FORMAT_R8I, SINT, 8, 1 },
	{ TSR_PIXEL_FORMAT_RG8I, SINT, 8, 2 },
	{ TSR_PIXEL_FORMAT_RGB8I, SINT, 8, 3 },
	{ TSR_PIXEL_FORMAT_RGBA8I, SINT, 8, 4 },
	{ TSR_PIXEL_FORMAT_R16I, SINT, 16, 1 },
	{ TSR_PIXEL_FORMAT_RG16I, SINT, 16, 2 },
	{ TSR_PIXEL_FORMAT_RGB16I, SINT, 16, 3 },
	{ TSR_PIXEL_FORMAT_RGBA16I, SINT, 16, 4 },
	{ TSR_PIXEL_FORMAT_R32I, SINT, 32, 1 },
	{ TSR_PIXEL_FORMAT_RG32I, SINT, 32, 2 },
	{ TSR_PIXEL_FORMAT_RGB32I, SINT, 32, 3 },
	{ TSR_PIXEL_FORMAT_RGBA32I, SINT, 32, 4 },
	{ TSR_PIXEL_FORMAT_R16F, FLOAT, 16, 1 },
	{ TSR_PIXEL_FORMAT_RG16F, FLOAT, 16, 2 },
	{ TSR_PIXEL_FORMAT_RGB16F, FLOAT, 16, 3 },
	{ TSR_PIXEL_FORMAT_RGBA16F, FLOAT, 16, 4 },
	{ TSR_PIXEL_FORMAT_R32F, FLOAT, 32, 1 },
	{ TSR_PIXEL_FORMAT_RG32F, FLOAT, 32, 2 },
	{ TSR_PIXEL_FORMAT_RGB32F, FLOAT, 32, 3 },
	{ TSR_PIXEL_FORMAT_RGBA32F, FLOAT, 32, 4 },
};

/* A component of @bits: what it is in memory, and what the program must find. */
static uint32_t component(const struct vertex_format *f, uint32_t *memory)
{
	static const struct { uint16_t half; float value; } halves[] = {
		{ 0x3c00, 1 }, { 0xc000, -2 }, { 0x3555, 0.333251953125f }, { 0x7bff, 65504 },
		{ 0x0001, 0x1p-24f }, { 0x8000, -0.0f },
	};
	uint32_t all = UINT32_MAX >> (32 - f->bits), half = rnd() % 6;
	uint32_t c = (rnd() << 16 ^ rnd()) & all;
	int32_t n = (int32_t)(c << (32 - f->bits)) >> (32 - f->bits);
	double x = c / (double)all;
	float value;
	uint32_t word;

	*memory = c;
	if (f->kind == UINT)
		return c;
	if (f->kind == SINT)
		return (uint32_t)n;
	if (f->kind == SNORM)
		x = n / (double)(all >> 1) < -1 ? -1 : n / (double)(all >> 1);
	value = f->kind == FLOAT ? halves[half].value : (float)x;
	memcpy(&word, &value, sizeof(word));
	if (f->kind == FLOAT)
		*memory = f->bits == 16 ? halves[half].half : word;
	return word;
}

/* True if equal, or floating-point numbers next to each other. */
static bool near(const struct vertex_format *f, uint32_t a, uint32_t b)
{
	return a == b || ((f->kind == UNORM || f->kind == SNORM) && f->bits == 32 &&
			  (a - b == 1 || b - a == 1));
}

/* All components of a format. The first element is at @lead bytes, the others @stride apart. */
static void check_format(const struct vertex_format *f, unsigned int lead, unsigned int stride)
{
	bool integer = f->kind == UINT || f->kind == SINT;
	uint32_t want[40][4], one = integer ? 1 : 0x3f800000;
	uint8_t *at = pipe_at(p, PIPE_FREE);

	batch(40);
	memset(at, 0xee, 0x2000);
	for (unsigned int n = 0; n < 40; n++) {
		for (unsigned int c = 0; c < 4; c++) {
			uint32_t memory;

			want[n][c] = c == 3 ? one : 0;
			if (c >= f->components)
				continue;
			want[n][c] = component(f, &memory);
			memcpy(at + lead + n * stride + c * f->bits / 8, &memory, f->bits / 8);
		}
	}
	pipe_buffer(p, 3, TSR_ATTRIBUTE_BUFFER_TYPE_LINEAR, PIPE_FREE, stride, 0x2000, 0, 0);
	pipe_attribute(p, PIPE_ATTRIBUTES, 3, 3, f->format, (int)lead, false);
	ktap_eq(pipe_vertices(p), TSR_STEP_DONE);
	for (unsigned int n = 0; n < 160; n++) {
		if (near(f, word(n / 4, n % 4), want[n / 4][n % 4]))
			continue;
		ktap_fail("format %u, vertex %u component %u: 0x%x, not 0x%x", f->format, n / 4,
			  n % 4, word(n / 4, n % 4), want[n / 4][n % 4]);
		return;
	}
}

/* Four components that share a word: 10, 10, 10 and 2 bits, red the lowest. */
static void check_packed(unsigned int format, unsigned int kind, unsigned int stride)
{
	const struct vertex_format ten = { format, kind, 10, 4 }, two = { format, kind, 2, 4 };
	uint32_t want[40][4];
	uint8_t *at = pipe_at(p, PIPE_FREE);

	batch(40);
	memset(at, 0xee, 0x2000);
	for (unsigned int n = 0; n < 40; n++) {
		uint32_t packed = 0, memory;

		for (unsigned int c = 0; c < 4; c++) {
			want[n][c] = component(c == 3 ? &two : &ten, &memory);
			packed |= memory << 10 * c;
		}
		memcpy(at + n * stride, &packed, 4);
	}
	pipe_buffer(p, 3, TSR_ATTRIBUTE_BUFFER_TYPE_LINEAR, PIPE_FREE, stride, 0x2000, 0, 0);
	pipe_attribute(p, PIPE_ATTRIBUTES, 3, 3, format, 0, false);
	ktap_eq(pipe_vertices(p), TSR_STEP_DONE);
	for (unsigned int n = 0; n < 160; n++) {
		if (ktap_eq(word(n / 4, n % 4), want[n / 4][n % 4]))
			continue;
		ktap_note("format %u, vertex %u component %u", format, n / 4, n % 4);
		return;
	}
}

/* The program loads all components of attribute 3, of the kind. */
static void load_kind(unsigned int kind)
{
	static const char *const types[] = { "f32", "f32", "u32", "s32", "f32" };
	char text[sizeof(load) + 8];

	snprintf(text, sizeof(text),
		 "clause wait=0 {\n"
		 "	*NOP\n"
		 "	+LD_ATTR_IMM.%s.v4 r61, r62, attribute_index:3, @r0\n"
		 "}\n"
		 RECORD, types[kind]);
	p->v->program = pipe_text(p, 0, TSR_STAGE_POSITION, text);
}

static void test_packed(void)
{
	static const uint8_t packed[][2] = {
		{ TSR_PIXEL_FORMAT_RGB10_A2_UNORM, UNORM }, { TSR_PIXEL_FORMAT_RGB10_A2UI, UINT },
		{ TSR_PIXEL_FORMAT_RGB10_A2_SNORM, SNORM }, { TSR_PIXEL_FORMAT_RGB10_A2I, SINT },
	};

	for (unsigned int i = 0; i < sizeof(packed) / sizeof(packed[0]); i++) {
		load_kind(packed[i][1]);
		check_packed(packed[i][0], packed[i][1], 4);
		check_packed(packed[i][0], packed[i][1], 4 + 4 * (rnd() % 20));
	}
}

static void test_formats(void)
{
	for (unsigned int i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		load_kind(formats[i].kind);
		check_format(&formats[i], 0, 16);
		check_format(&formats[i], 4 * (rnd() % 9), 16 + 4 * (rnd() % 20));
	}
}

/* ---- Outputs --------------------------------------------------------------------------------- */

/* Output 0 the position, output 1 in the heap, output 2 in a buffer by linear id. */
static const char outputs[] =
	"clause {\n"
	"	*MOV.i32 r0, r61\n"
	"	+MOV.i32 r1, r62\n"
	"	*NOP\n"
	"	+NOP\n"
	"}\n"
	"clause wait=0 {\n"
	"	*NOP\n"
	"	+LEA_ATTR_IMM.u32 r61, r62, attribute_index:0, @r4\n"
	"}\n"
	"clause wait=0 {\n"
	"	*NOP\n"
	"	+ST_CVT.v2 r4, r5, r6, @r0\n"
	"}\n"
	"clause wait=0 {\n"
	"	*NOP\n"
	"	+LEA_ATTR_IMM.u32 r61, r62, attribute_index:1, @r4\n"
	"}\n"
	"clause wait=0 {\n"
	"	*NOP\n"
	"	+ST_CVT.v2 r4, r5, r6, @r0\n"
	"}\n"
	"clause wait=0 {\n"
	"	*NOP\n"
	"	+LEA_ATTR_IMM.u32 r61, r62, attribute_index:2, @r4\n"
	"}\n"
	"clause end {\n"
	"	*NOP\n"
	"	+ST_CVT.v2 r4, r5, r6, @r0\n"
	"}\n";

static void output_tables(int32_t offset)
{
	pipe_attribute(p, PIPE_OUTPUTS, 0, 31, TSR_PIXEL_FORMAT_RG32UI, 0, false);
	pipe_attribute(p, PIPE_OUTPUTS, 1, 31, TSR_PIXEL_FORMAT_RG32UI, offset, false);
	pipe_attribute(p, PIPE_OUTPUTS, 2, 30, TSR_PIXEL_FORMAT_RG32UI, 4, false);
	pipe_buffer(p, 30, TSR_ATTRIBUTE_BUFFER_TYPE_LINEAR, PIPE_FREE, 16, 0x8000, 0, 0);
	memset(pipe_at(p, PIPE_VALUES), 0xee, 0x8000);
	memset(pipe_at(p, PIPE_FREE), 0xee, 0x8000);
}

static const uint32_t *output(unsigned int slot)
{
	return pipe_at(p, PIPE_VALUES + slot * PIPE_STRIDE);
}

static void run_outputs(enum tsr_stage stage, bool position_output)
{
	p->v->program = pipe_text(p, 0, stage, outputs);
	batch(20);
	p->v->position_output = position_output;
	p->v->padded = 12;
	for (unsigned int n = 0; n < 20; n++) {
		p->v->vertex[n] = n % 10;
		p->v->instance[n] = 1 + n / 10;
		p->v->slot[n] = 19 - n;
	}
	ktap_eq(pipe_vertices(p), TSR_STEP_DONE);
}

static void test_outputs(void)
{
	const uint32_t *linear = pipe_at(p, PIPE_FREE);

	/* one program: the position alone, then all but the position */
	output_tables(32);
	run_outputs(TSR_STAGE_POSITION, true);
	for (unsigned int n = 0; n < 20; n++) {
		ktap_eq(word(19 - n, 0), n % 10);
		ktap_eq(word(19 - n, 1), 1 + n / 10);
		ktap_eq(output(n)[8], NOTHING);
	}
	ktap_eq(linear[4 * 12 + 1], NOTHING);
	run_outputs(TSR_STAGE_VARYING, true);
	for (unsigned int n = 0; n < 20; n++) {
		unsigned int id = n % 10 + 12 * (1 + n / 10);

		ktap_eq(output(19 - n)[0], NOTHING);
		ktap_eq(output(19 - n)[7], NOTHING);
		ktap_eq(output(19 - n)[8], n % 10);
		ktap_eq(output(19 - n)[9], 1 + n / 10);
		ktap_eq(output(19 - n)[10], NOTHING);
		ktap_eq(linear[4 * id + 1], n % 10);
		ktap_eq(linear[4 * id + 2], 1 + n / 10);
		ktap_eq(linear[4 * id + 3], NOTHING);
	}
	/* two programs: output 0 is one like the others */
	output_tables(32);
	run_outputs(TSR_STAGE_VARYING, false);
	ktap_eq(output(19)[0], 0);
	ktap_eq(output(19)[1], 1);
	/* what would lie beyond the vertex's outputs is dropped */
	output_tables(PIPE_STRIDE - 4);
	run_outputs(TSR_STAGE_VARYING, false);
	ktap_eq(output(3)[PIPE_STRIDE / 4 - 1], NOTHING);
	output_tables(-4);
	run_outputs(TSR_STAGE_VARYING, false);
	ktap_eq(output(3)[PIPE_STRIDE / 4 - 1], NOTHING);
}

/* The window of records ends. */
static void test_window(void)
{
	static const char text[] =
		"clause {\n"
		"	*NOP\n"
		"	+IADD.u32 r58, r58, u1.w0\n"
		"}\n"
		RECORD;
	const uint32_t size = 3 * 64;

	batch(3);
	p->v->threads = 1;
	p->push[2] = size - 16;
	p->v->program = pipe_text(p, 0, TSR_STAGE_POSITION, text);
	ktap_eq(pipe_vertices(p), TSR_STEP_DONE);
	p->push[2] = size - 12;
	p->v->program = pipe_text(p, 0, TSR_STAGE_POSITION, text);
	ktap_eq(pipe_vertices(p), TSR_STEP_FAULT);
	ktap_eq(p->sh->fault.code, TSR_FAULT_SHADER_BOUNDS);
	ktap_eq(p->sh->fault.addr, TSR_WINDOW_OUTPUT + size - 12);
	/* in the other pass there is no such window */
	p->v->program = pipe_text(p, 0, TSR_STAGE_VARYING,
				  "clause {\n	*MOV.i32 r59, 0x30000000\n	+NOP\n}\n" RECORD);
	ktap_eq(pipe_vertices(p), TSR_STEP_FAULT);
	ktap_eq(p->sh->fault.code, TSR_FAULT_MMU_UNMAPPED);
	p->push[2] = 0;
}

/* A batch in very small steps comes to the same. */
static void test_steps(void)
{
	static uint64_t whole[TSR_BATCH_VERTICES][8];

	p->v->program = pipe_text(p, 0, TSR_STAGE_POSITION, load);
	elements(TSR_ATTRIBUTE_BUFFER_TYPE_LINEAR, 0, 0, false);
	batch(TSR_BATCH_VERTICES);
	ktap_eq(pipe_vertices(p), TSR_STEP_DONE);
	memcpy(whole, p->v->record, sizeof(whole));
	p->budget = 1;
	ktap_eq(pipe_vertices(p), TSR_STEP_DONE);
	ktap_ok(p->steps > 1);
	ktap_mem_eq(p->v->record, whole, sizeof(whole));
	ktap_eq(p->stats.vertices, TSR_BATCH_VERTICES);
	p->budget = UINT64_MAX;
}

/* ---- The uniform cache ----------------------------------------------------------------------- */

/* Programs that come and go: each is found with its own words, and whom it displaced is counted. */
static void test_uniforms(void)
{
	enum { PROGRAMS = 200, APART = 0x200 };
	struct tsr_programs cache = { 0 };
	int16_t place[TSR_UNIFORM_CACHE_PROGRAMS];
	uint64_t stalls = 0;

	memset(place, 0xff, sizeof(place));
	for (unsigned int n = 0; n < PROGRAMS; n++) {
		struct tsr_shader_program program = p->program;
		uint32_t *words = (uint32_t *)(void *)(p->code + n * APART + 0x100);

		program.push = PIPE_CODE + n * APART + 0x100;
		program.push_words = n % 64;
		for (unsigned int i = 0; i < 64; i++)
			words[i] = n << 16 | i;
		tsr_pack_shader_program((uint64_t *)(void *)(p->code + n * APART), &program);
	}
	bench_invalidate_all(&p->as);
	tsr_tlb_sync(p->mem.runner);
	for (unsigned int i = 0; i < 4000; i++) {
		/* few at first, more and more */
		const unsigned int n = rnd_below(1 + i * PROGRAMS / 4000);
		const uint64_t va = PIPE_CODE + n * APART;
		const struct tsr_program *found = NULL;
		int16_t *at = &place[(va / 64 * 0x9e3779b97f4a7c15 >> 40) %
				     TSR_UNIFORM_CACHE_PROGRAMS];

		ktap_eq(tsr_programs_find(&cache, &p->mem, va, 0, TSR_STAGE_POSITION, &found),
			TSR_STEP_DONE);
		ktap_ok(found->va == va && found->state.push_words == n % 64);
		for (unsigned int w = 0; w < n % 64; w++)
			ktap_eq(found->push_word[w], n << 16 | w);
		stalls += *at >= 0 && *at != (int)n;
		*at = n;
	}
	ktap_eq(cache.stalls, stalls);
	ktap_ok(stalls > 1000);
	tsr_programs_drop(&cache);
	ktap_eq(cache.stalls, 0);
}

/* ---- 64-bit strides and sizes ---------------------------------------------------------------- */

#define FAR_BYTES 0x10000u

static uint64_t random_64(void)
{
	static const uint64_t edges[] = { 0, 1, 16, UINT32_MAX, 1ull << 32, 1ull << 56, 1ull << 57,
					  1ull << 63, UINT64_MAX };
	uint64_t any = (uint64_t)rnd() << 32 | rnd();

	return rnd() % 3 ? any >> rnd() % 64 : edges[rnd() % 9] - rnd() % 2;
}

/* Vertex @n of an attribute in a wide buffer, as the document says; false: a fault, at *@va. */
static bool wide_element(uint32_t n, uint64_t pointer, uint64_t stride, uint64_t size,
			 int32_t offset, const uint64_t *far, uint64_t *va)
{
	const unsigned __int128 product = (unsigned __int128)n * stride;
	const __int128 at = (__int128)product + offset;

	*va = 0;
	if (product >> 57 || at < 0 || at + 16 > size)
		return true;
	*va = pointer + (uint64_t)at;
	for (unsigned int i = 0; i < 2; i++)
		if (*va >= far[i] && *va + 16 <= far[i] + FAR_BYTES)
			return true;
	return false;
}

/* One vertex of random buffers: loads, 0 or a fault. Often what is meant is just there. */
static void test_wide(void)
{
	static const uint64_t far[] = { 0x30000000, 0x6123456000 };
	uint8_t *view[2];
	unsigned int loaded = 0, missing = 0, faults = 0;
	uint64_t *q = pipe_at(p, PIPE_BUFFERS + 16 * 3);

	for (unsigned int i = 0; i < 2; i++) {
		view[i] = bench_buffer(&p->as, far[i], FAR_BYTES, BENCH_RW);
		for (unsigned int n = 0; n < FAR_BYTES; n++)
			view[i][n] = rnd();
	}
	p->v->program = pipe_text(p, 0, TSR_STAGE_POSITION, load);
	for (unsigned int round = 0; round < 4000; round++) {
		const uint64_t pointer = far[0] + rnd() % 64 * 64;
		uint32_t n = rnd() % 4 ? 1 + rnd() % 5 : rnd();
		int32_t offset = rnd() % 4 ? (int32_t)(rnd() % 64 * 4) : (int32_t)rnd();
		uint64_t stride = random_64(), size = random_64(), va;
		enum tsr_step step;
		bool good;

		if (rnd() % 2) {
			stride = (far[1] + 0x4000 - pointer) / n;
			size = stride * n + 0x800 - (rnd() % 4 ? 0 : rnd() % 0x1000);
		}
		/* words are aligned, or a fault of their own */
		stride &= ~3ull;
		offset &= ~3;
		q[0] = pointer | TSR_ATTRIBUTE_BUFFER_TYPE_LINEAR_WIDE;
		q[1] = size << 32 | (uint32_t)stride;
		q[2] = TSR_ATTRIBUTE_BUFFER_TYPE_CONTINUATION;
		q[3] = size >> 32 << 32 | stride >> 32;
		pipe_attribute(p, PIPE_ATTRIBUTES, 3, 3, TSR_PIXEL_FORMAT_RGBA32UI, offset, false);
		batch(1);
		p->v->vertex[0] = n;
		memset(p->v->record, 0xcc, sizeof(p->v->record[0]));
		good = wide_element(n, pointer, stride, size, offset, far, &va);
		step = pipe_vertices(p);
		if (!ktap_eq(step, good ? TSR_STEP_DONE : TSR_STEP_FAULT)) {
			ktap_note("vertex %u, stride %llx, size %llx, offset %d", n,
				  (unsigned long long)stride, (unsigned long long)size, offset);
			break;
		}
		for (unsigned int c = 0; good && c < 4; c++) {
			uint32_t want = 0;

			if (va)
				memcpy(&want, &view[va >= far[1]][va - far[va >= far[1]] + 4 * c],
				       4);
			ktap_eq(word(0, c), want);
		}
		loaded += good && va >= far[1];
		missing += good && !va;
		faults += !good;
		if (!good)
			tsr_stage_drop(&p->v->run);
	}
	ktap_ok(loaded > 500 && missing > 500 && faults > 50);
	/* a continuation that is none */
	q[2] = 0;
	batch(1);
	ktap_eq(pipe_vertices(p), TSR_STEP_FAULT);
	ktap_eq(p->sh->fault.code, TSR_FAULT_SHADER_STATE);
	tsr_stage_drop(&p->v->run);
}

static void run_all(void)
{
	p = pipe_new(config);
	ktap_run("[INST6] registers at entry; places nobody writes are 0", test_entry);
	ktap_run("[INST2] [INST3] [INST4] [INST5] [INST7] attributes of instances in every mode",
		 test_modes);
	ktap_run("[IA3] vertex formats of 8, 16 and 32 bits", test_formats);
	ktap_run("[IA3] vertex formats of 10, 10, 10 and 2 bits", test_packed);
	ktap_run("[INST3] a modulus above 9 is a fault", test_bad_modulus);
	ktap_run("[INST2] outputs: the position, the heap's, by linear id", test_outputs);
	ktap_run("the window of position records is bounded", test_window);
	ktap_run("[PIX7] batches stop between clauses", test_steps);
	ktap_run("[IA3] buffers, strides and sizes of 64 bits, whatever they are", test_wide);
	ktap_run("[BIN7] programs take each other's place in the uniform cache", test_uniforms);
	pipe_free(p);
}

int main(void)
{
	return pipe_main(&config, run_all);
}
