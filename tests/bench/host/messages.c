/* SPDX-License-Identifier: MIT */
/*
 * The cost of a message of 16 lanes: loads, stores, atomics, images, textures.
 */
#include <stdio.h>
#include <string.h>

#include "figures.h"
#include "units.h"

static struct units *u;

/* How the addresses of a message lie. */
enum shape {
	CONTIGUOUS, STRIDED, UNIFORM, PAGES, HALF, SHAPES
};

static const char *const shape_names[SHAPES] = {
	"contiguous", "strided", "uniform", "pages", "half",
};

static void prepare(unsigned int op, unsigned int bytes, enum shape shape, uint64_t base)
{
	units_insn(u, op);
	for (unsigned int l = 0; l < 16; l++) {
		static const unsigned int stride[SHAPES] = { 0, 48, 0, 4096, 0 };
		unsigned int s = shape == CONTIGUOUS || shape == HALF ? bytes : stride[shape];

		units_address(u, l, base + l * s);
	}
}

static void messages(void *arg, unsigned int count)
{
	uint16_t lanes = *(uint16_t *)arg;

	units_run(u, 8, lanes);
	while (--count) {
		u->msg.lanes = lanes;
		tsr_msg_run(&u->env, &u->msg);
	}
}

static void figure(const char *name, uint16_t lanes)
{
	figure_print(name, figure_median(messages, &lanes, 200000), "ns");
}

static void memory(void)
{
	static const struct { unsigned int op, bytes; const char *name; } ops[] = {
		{ TSR_OP_ADD_LOAD_I8, 1, "load_i8" }, { TSR_OP_ADD_LOAD_I16, 2, "load_i16" },
		{ TSR_OP_ADD_LOAD_I32, 4, "load_i32" }, { TSR_OP_ADD_LOAD_I64, 8, "load_i64" },
		{ TSR_OP_ADD_LOAD_I128, 16, "load_i128" },
		{ TSR_OP_ADD_STORE_I32, 4, "store_i32" }, { TSR_OP_ADD_STORE_I64, 8, "store_i64" },
		{ TSR_OP_ADD_STORE_I128, 16, "store_i128" },
	};

	for (unsigned int i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		char name[64];

		for (enum shape s = 0; s < SHAPES; s++) {
			prepare(ops[i].op, ops[i].bytes, s, UNITS_DATA);
			snprintf(name, sizeof(name), "message_%s_%s", ops[i].name, shape_names[s]);
			figure(name, s == HALF ? 0x5555 : UNITS_ALL_LANES);
		}
		prepare(ops[i].op, ops[i].bytes, CONTIGUOUS, 0);
		u->insn.mod[TSR_MOD_SEG] = TSR_SEG_WLS;
		snprintf(name, sizeof(name), "message_%s_group", ops[i].name);
		figure(name, UNITS_ALL_LANES);
	}
	prepare(TSR_OP_ADD_LOAD_I128, 16, UNIFORM, 0);
	u->insn.mod[TSR_MOD_SEG] = TSR_SEG_UBO;
	memcpy(units_table(u, UNITS_UBOS), &(uint64_t){ 63 | UNITS_DATA >> 4 << 12 }, 8);
	figure("message_load_i128_ubo", UNITS_ALL_LANES);
}

static void atomics(void)
{
	static const struct { enum shape shape; uint64_t base; const char *name; } rows[] = {
		{ UNIFORM, UNITS_DATA, "message_atomic_one_word" },
		{ CONTIGUOUS, UNITS_DATA, "message_atomic_words" },
		{ PAGES, UNITS_DATA, "message_atomic_pages" },
		{ UNIFORM, TSR_WINDOW_GROUP, "message_atomic_group_one_word" },
		{ CONTIGUOUS, TSR_WINDOW_GROUP, "message_atomic_group_words" },
	};

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		prepare(TSR_OP_ADD_ATOM_CX, 4, rows[i].shape, rows[i].base);
		units_pair(u, TSR_OP_FMA_ATOM_C_RETURN_I32);
		u->pair_insn.mod[TSR_MOD_ATOM_OPC] = TSR_ATOM_OPC_AADD;
		figure(rows[i].name, UNITS_ALL_LANES);
	}
}

static void image(void)
{
	uint64_t *attribute = units_table(u, UNITS_ATTRIBUTES);
	uint64_t *buffer = units_table(u, UNITS_BUFFERS);

	attribute[0] = (uint64_t)TSR_PIXEL_FORMAT_RGBA8_UNORM << TSR_ATTRIBUTE_FORMAT__SHIFT;
	buffer[0] = TSR_ATTRIBUTE_BUFFER_TYPE_IMAGE_TILED | UNITS_DATA;
	buffer[1] = 4 | 0x10000ull << 32;
	buffer[2] = TSR_ATTRIBUTE_BUFFER_TYPE_CONTINUATION | 63ull << 16 | 63ull << 32;
	buffer[3] = 4096;
	units_insn(u, TSR_OP_ADD_LD_ATTR_TEX);
	u->insn.mod[TSR_MOD_VECSIZE] = TSR_VECSIZE_V4;
	memset(u->src, 0, sizeof(u->src));
	for (unsigned int l = 0; l < 16; l++)
		u->src[0].u[l] = l | 3 << 16;
	figure("message_image_load", UNITS_ALL_LANES);
	units_insn(u, TSR_OP_ADD_LEA_ATTR_TEX);
	figure("message_image_address", UNITS_ALL_LANES);
	units_insn(u, TSR_OP_ADD_ST_CVT);
	u->insn.mod[TSR_MOD_VECSIZE] = TSR_VECSIZE_V4;
	for (unsigned int l = 0; l < 16; l++) {
		units_address(u, l, UNITS_DATA + 4 * l);
		u->src[2].u[l] = *units_reg(u, 10)->u;
	}
	figure("message_image_store", UNITS_ALL_LANES);
}

static void texture(void)
{
	uint64_t *t = units_table(u, UNITS_TEXTURES);
	uint64_t *s = units_table(u, UNITS_SAMPLERS);
	uint64_t *surface = units_table(u, UNITS_SURFACES);

	t[0] = 2 | TSR_TEXTURE_DIMENSION_2D << 4 |
	       (uint64_t)TSR_PIXEL_FORMAT_RGBA8_UNORM << TSR_TEXTURE_FORMAT__SHIFT | 63ull << 32 |
	       63ull << 48;
	t[1] = 0x688 | TSR_TEXEL_ORDER_TILED << 12;
	t[2] = UNITS_SURFACES;
	s[0] = 1 | TSR_WRAP_MODE_REPEAT << 8 | TSR_WRAP_MODE_REPEAT << 12 |
	       TSR_WRAP_MODE_REPEAT << 16 | 1 << 25;
	surface[0] = UNITS_DATA;
	surface[1] = 4096;
	units_insn(u, TSR_OP_ADD_TEXS_2D_F32);
	for (unsigned int l = 0; l < 16; l++) {
		u->src[0].f[l] = (l % 4 + 0.3f) / 64;
		u->src[1].f[l] = (l / 4 + 0.3f) / 64;
	}
	figure("message_texture_bilinear", UNITS_ALL_LANES);
	s[0] |= 3u << 27;
	figure("message_texture_nearest", UNITS_ALL_LANES);
}

int main(void)
{
	u = units_new(0);
	memory();
	atomics();
	image();
	texture();
	units_free(u);
	return 0;
}
