// SPDX-License-Identifier: MIT
/* test: TIMEOUT=60 */
/*
 * Views through the whole stack: structured buffers and images with bounds. What lies beyond them
 * reads 0 and is not written, and neighbors in the same memory stay as they are.
 */
#include "ct.h"

#include <errno.h>

static struct ct c;

/*
 * Thread n loads element n of view 0, adds 1, and stores it to the address that LEA_ATTR gives for
 * element n of view 1; an atomic on the same address follows.
 */
#define ELEMENTS \
	".local 32, 1, 1\n" \
	"clause slot=0 wait=0 {\n" \
	"	+LD_ATTR_IMM.u32 r60, zero.w0, attribute_index:0, @r0\n" \
	"}\n" \
	"clause slot=0 wait=0 {\n" \
	"	*DTSEL_IMM.attribute_1 t0, #0\n" \
	"	+LEA_ATTR_IMM.u32 r60, t, attribute_index:1, @r4\n" \
	"}\n" \
	"clause {\n" \
	"	+IADD.u32 r0, r0, 1\n" \
	"}\n" \
	"clause slot=0 wait=0 {\n" \
	"	+STORE.i32 r4, r5, @r0\n" \
	"}\n" \
	"clause slot=0 end {\n" \
	"	*ATOM_C1.i32.ainc r4, r5\n" \
	"	+ATOM_CX r4, r5, r5, @r0\n" \
	"}\n"

static void structured(void)
{
	struct tsr_alloc in = lt_data(&c.lt, 512, 0), out = lt_data(&c.lt, 1024, 0xaa);
	const struct tsr_view views[2] = {
		/* 20 elements of 8 bytes, from byte 16 on */
		{ .va = in.va + 16, .size = 160, .stride = 8, .access = TSR_SHADER_READ,
		  .format = TSR_PIXEL_FORMAT_R32UI },
		/* 25 elements of 12 bytes, from byte 32 on */
		{ .va = out.va + 32, .size = 300, .stride = 12, .access = TSR_SHADER_WRITE,
		  .format = TSR_PIXEL_FORMAT_R32UI },
	};
	struct tsr_dispatch_info d = { .groups = { 2 }, .views = views, .view_count = 2 };
	uint32_t *from = in.cpu, *to = out.cpu, want[256];
	unsigned int i;

	d.shader = ct_program(&c, "elements", ELEMENTS);
	for (i = 0; i < 128; i++)
		from[i] = 1000 + i;
	memset(want, 0xaa, sizeof(want));
	for (i = 0; i < 25; i++)
		want[8 + 3 * i] = (i < 20 ? 1000 + 4 + 2 * i : 0) + 2;
	LT_OK(ct_run(&c, &d));
	ktap_mem_eq(to, want, sizeof(want));
	tsr_shader_unref(d.shader);
	tsr_pool_free(c.lt.data, &in);
	tsr_pool_free(c.lt.data, &out);
}

/* Thread (x, y) copies texel (x, y) of image 0 to image 1, through floats. */
#define TEXELS \
	".local 8, 8, 1\n" \
	"clause {\n" \
	"	*LSHIFT_OR.i32 r2, r61, r60, 16\n" \
	"}\n" \
	"clause slot=0 wait=0 {\n" \
	"	+LD_ATTR_TEX.f32.v4 r2, zero.w0, zero.w1, @r4\n" \
	"}\n" \
	"clause slot=0 wait=0 {\n" \
	"	*DTSEL_IMM.attribute_1 t0, #0\n" \
	"	+LEA_ATTR_TEX.f32 r2, 0, 1, @r8\n" \
	"}\n" \
	"clause slot=0 end {\n" \
	"	+ST_CVT.v4 r8, r9, r10, @r4\n" \
	"}\n"

/* From linear RGBA to tiled BGRA; the grid is larger than the images. */
static void images(void)
{
	enum { W = 21, H = 18 };
	/* of the tiled one the second layer is seen; the others stay as they are */
	const struct tsr_image_info from = { .format = TSR_PIXEL_FORMAT_RGBA8_UNORM, .width = W,
					     .height = H };
	const struct tsr_image_info to = { .format = TSR_PIXEL_FORMAT_RGBA8_UNORM, .width = W,
					   .height = H, .layers = 3, .layout = TSR_LAYOUT_TILED,
					   .order = TSR_COMPONENT_ORDER_BGRA };
	struct tsr_view views[2] = {
		{ .access = TSR_SHADER_READ },
		{ .access = TSR_SHADER_WRITE, .first_layer = 1, .layers = 1 },
	};
	struct tsr_surface tiled;
	struct tsr_dispatch_info d = { .groups = { 4, 4 }, .views = views, .view_count = 2 };
	static uint32_t source[W * H], got[W * H], before[4096];
	unsigned int i, bad = 0;
	uint32_t *cpu;
	void *first;

	LT_OK(tsr_image_create(c.lt.vm, &from, sizeof(from), &views[0].image));
	LT_OK(tsr_image_create(c.lt.vm, &to, sizeof(to), &views[1].image));
	LT_OK(tsr_image_get_surface(views[1].image, 0, 0, 0, &tiled, &first));
	memset(first, 0x33, 3 * tiled.size);
	cpu = (uint32_t *)((char *)first + tiled.size);
	for (i = 0; i < W * H; i++)
		source[i] = i * 2654435761u;
	LT_OK(tsr_image_write(views[0].image, 0, 0, source, W * 4));
	d.shader = ct_program(&c, "texels", TEXELS);
	LT_OK(ct_run(&c, &d));
	memcpy(before, cpu, tiled.size);
	LT_OK(tsr_image_read(views[1].image, 0, 1, got, W * 4));
	for (i = 0; i < W * H; i++)
		bad += got[i] != ((source[i] & 0xff00ff00) | (source[i] & 0xff) << 16 |
				  (source[i] >> 16 & 0xff));
	ktap_eq(bad, 0);
	/* nothing but the texels has been written: outside of them the tiles are as before */
	memset(got, 0x33, sizeof(got));
	LT_OK(tsr_surface_write(&tiled, before, 0, 0, W, H, got, W * 4));
	for (i = 0; i < tiled.size / 4; i++)
		bad += before[i] != 0x33333333;
	ktap_eq(bad, 0);
	for (i = 0; i < tiled.size / 4; i++)
		bad += cpu[tiled.size / 4 + i] != 0x33333333 ||
		       ((uint32_t *)first)[i] != 0x33333333;
	ktap_eq(bad, 0);
	tsr_shader_unref(d.shader);
	tsr_image_unref(views[0].image);
	tsr_image_unref(views[1].image);
}

/* A view that no memory lies behind reads nothing as long as no element of it does. */
static void none(void)
{
	struct tsr_alloc out = lt_data(&c.lt, 1024, 0);
	const struct tsr_view views[2] = {
		{ .va = 0x700000000000, .size = 0, .stride = 4, .access = TSR_SHADER_READ,
		  .format = TSR_PIXEL_FORMAT_R32UI },
		{ .va = out.va, .size = 256, .stride = 4, .access = TSR_SHADER_WRITE,
		  .format = TSR_PIXEL_FORMAT_R32UI },
	};
	struct tsr_dispatch_info d = { .groups = { 2 }, .views = views, .view_count = 2 };
	const uint32_t *got = out.cpu;
	unsigned int i;

	d.shader = ct_program(&c, "elements", ELEMENTS);
	LT_OK(ct_run(&c, &d));
	for (i = 0; i < 64; i++)
		ktap_eq(got[i], 2);
	ktap_eq(got[64], 0);
	/* one view less: its attribute is not there, nothing is written */
	memset(out.cpu, 0x55, 1024);
	d.view_count = 1;
	LT_OK(ct_run(&c, &d));
	ktap_eq(got[0], 0x55555555);
	tsr_shader_unref(d.shader);
	tsr_pool_free(c.lt.data, &out);
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	c = ct_open();
	ktap_run("[MEM6] structured buffers: loads, stores and atomics stay inside", structured);
	ktap_run("[MEM6] images: linear to tiled, and nothing beyond", images);
	ktap_run("[MEM6] views without memory, and views that are not there", none);
	ct_close(&c);
	return ktap_finish();
}
