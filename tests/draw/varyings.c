// SPDX-License-Identifier: MIT
/*
 * Varyings with perspective, pixel by pixel, against the plane through a triangle's corners in long
 * doubles; what is equal at all corners comes out bit for bit. The program passes attribute 1 on.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "glbench/programs.h"
#include "glscene.h"
#include "ktap.h"
#include "rnd.h"
#include <tessera/gfx.h>

#define SIDE 64
#define TRIANGLES 60

static struct tsr_device *device;
static struct tsr_vm *vm;
static struct tsr_pool *code, *data;
static struct tsr_gfx *gfx;
static struct tsr_image *picture;
static struct tsr_gfx_pipeline *pipeline;

/* A corner: clip coordinates, the varying. */
struct corner {
	float at[4], value[4];
};

static void need(int ret)
{
	if (ret >= 0)
		return;
	fprintf(stderr, "varyings: %s (%d)\n", tsr_error_message(), ret);
	exit(1);
}

static struct tsr_shader *program(const struct gl_code *c)
{
	const struct tsr_shader_info info = { .code = c->words, .size = c->size,
					       .label = "varyings", .push_words = c->push_words };
	struct tsr_shader *p;

	need(tsr_shader_create(code, &info, sizeof(info), &p));
	return p;
}

static void set_up(void)
{
	const struct gl_program *p = gl_programs;
	const struct tsr_image_info image = { .format = TSR_PIXEL_FORMAT_RGBA32F,
						  .width = SIDE, .height = SIDE };
	const struct tsr_gfx_attribute attributes[2] = {
		{ .format = TSR_PIXEL_FORMAT_RGBA32F },
		{ .format = TSR_PIXEL_FORMAT_RGBA32F, .offset = 16 },
	};
	const struct tsr_gfx_vertex_buffer buffer = { .stride = sizeof(struct corner) };
	struct tsr_gfx_pipeline_info info = {
		.attributes = attributes, .attribute_count = 2, .buffers = &buffer,
		.buffer_count = 1, .varying_count = 1, .blend_count = 1,
		.topology = TSR_TOPOLOGY_TRIANGLES,
	};
	struct tsr_gfx_varying varying = { .format = TSR_PIXEL_FORMAT_RGBA32F };
	struct tsr_gfx_blend blend = { .mask = 15 };

	while (strcmp(p->name, "fill_vary"))
		p++;
	need(tsr_device_open(NULL, &device));
	need(tsr_vm_create(device, &vm));
	need(tsr_pool_create(vm, 0, 0, DRM_TESSERA_BIND_READ | DRM_TESSERA_BIND_EXEC, &code));
	need(tsr_pool_create(vm, 0, DRM_TESSERA_BO_CACHED,
			     DRM_TESSERA_BIND_READ | DRM_TESSERA_BIND_WRITE, &data));
	need(tsr_gfx_create(vm, &gfx));
	need(tsr_image_create(vm, &image, sizeof(image), &picture));
	varying.output = p->varying[0].output;
	varying.input = p->varying[0].input;
	blend.registers = p->fragment[GL_PLAIN].registers;
	info.varyings = &varying;
	info.blends = &blend;
	info.vertex = info.varying = program(&p->vertex[GL_CLIP_TWO]);
	info.varying_entry = p->vertex[GL_CLIP_TWO].varying;
	info.fragment = program(&p->fragment[GL_PLAIN]);
	need(tsr_gfx_pipeline_create(&info, sizeof(info), &pipeline));
}

/* Pixels that no triangle covers are NaN. */
static void draw(const struct corner v[3], float (*out)[4])
{
	struct tsr_gfx_pass_info info = { .color[0] = { .image = picture,
							 .load = TSR_GFX_LOAD_CLEAR } };
	struct tsr_gfx_pass *pass;
	struct tsr_alloc vertices;

	for (unsigned int i = 0; i < 4; i++)
		info.color[0].clear.f[i] = NAN;
	need(tsr_pool_alloc(data, 3 * sizeof(*v), 64, &vertices));
	memcpy(vertices.cpu, v, 3 * sizeof(*v));
	need(tsr_gfx_pass_create(gfx, &info, sizeof(info), &pass));
	need(tsr_gfx_set_pipeline(pass, pipeline));
	need(tsr_gfx_set_vertices(pass, 0, vertices.va, 3 * sizeof(*v)));
	need(tsr_gfx_draw(pass, &(struct tsr_gfx_draw){ .count = 3 }));
	need(tsr_gfx_run(pass, TSR_DEADLINE_NEVER));
	tsr_gfx_pass_destroy(pass);
	need(tsr_image_read(picture, 0, 0, out, SIDE * 16));
}

static float between(double low, double high)
{
	return (float)(low + (high - low) * rnd() * 0x1p-32);
}

/* Window coordinate in 1/256 pixel. */
static long double snapped(float x, float w)
{
	return rintl(((long double)x / w + 1) / 2 * SIDE * 256);
}

/* Steepest change per pixel of a plane with values @at at corners @x, @y (in 1/256 pixels). */
static long double slope(const long double x[3], const long double y[3], const long double at[3],
			 long double area)
{
	const long double d1 = at[1] - at[0], d2 = at[2] - at[0];
	const long double right = d1 * (y[2] - y[0]) - d2 * (y[1] - y[0]);
	const long double down = d2 * (x[1] - x[0]) - d1 * (x[2] - x[0]);

	return 256 * (fabsl(right) + fabsl(down)) / fabsl(area);
}

static double worst;
static unsigned int pixels;

static void check(const struct corner v[3])
{
	static float out[SIDE * SIDE][4];
	long double x[3], y[3], rw[3], area, slope_w, slopes[4];
	unsigned int wrong = 0;

	draw(v, out);
	for (unsigned int i = 0; i < 3; i++) {
		x[i] = snapped(v[i].at[0], v[i].at[3]);
		y[i] = snapped(v[i].at[1], v[i].at[3]);
		rw[i] = (float)(1 / (double)v[i].at[3]);
	}
	area = (x[1] - x[0]) * (y[2] - y[0]) - (y[1] - y[0]) * (x[2] - x[0]);
	slope_w = slope(x, y, rw, area);
	for (unsigned int c = 0; c < 4; c++) {
		const long double at[3] = { 0, (v[1].value[c] - (long double)v[0].value[c]) * rw[1],
					    (v[2].value[c] - (long double)v[0].value[c]) * rw[2] };

		slopes[c] = slope(x, y, at, area);
	}
	for (unsigned int n = 0; n < SIDE * SIDE; n++) {
		long double px = 256 * (n % SIDE) + 128, py = 256 * (n / SIDE) + 128, b[3], sum = 0;

		if (isnan(out[n][0]))
			continue;
		pixels++;
		for (unsigned int i = 0; i < 3; i++) {
			unsigned int j = (i + 1) % 3, k = (i + 2) % 3;

			b[i] = ((x[k] - x[j]) * (py - y[j]) - (y[k] - y[j]) * (px - x[j])) / area *
			       rw[i];
			sum += b[i];
		}
		for (unsigned int c = 0; c < 4; c++) {
			long double want = 0, most = 0, off, less, bound;

			for (unsigned int i = 0; i < 3; i++) {
				want += b[i] * v[i].value[c] / sum;
				most = fmaxl(most, fabsl((long double)v[i].value[c]));
			}
			/* "Accuracy" in 3d.md; the provoking vertex is the first; 1/w is sum */
			less = fabsl(want - v[0].value[c]);
			bound = 0x1p-24L * 1.05L *
				(fabsl(want) + 7 * less +
				 24 / fabsl(sum) * (slopes[c] + less * slope_w));
			off = fabsl(out[n][c] - want);
			/* in units of the last place of the largest corner */
			worst = fmax(worst, (double)(off / ldexpl(1, ilogbl(most) - 23)));
			wrong += c == 3 ? out[n][3] != v[0].value[3] : off > bound;
		}
	}
	if (wrong)
		ktap_fail("%u components are wrong", wrong);
}

static void planes(void)
{
	for (unsigned int n = 0; n < TRIANGLES; n++) {
		float same = between(-3, 3);
		struct corner v[3];

		for (unsigned int i = 0; i < 3; i++) {
			float w = n % 4 ? between(0.3, 9) : 1;

			v[i] = (struct corner){
				{ w * between(-0.99, 0.99), w * between(-0.99, 0.99), w / 2, w },
				{ between(-1, 1), between(0, 255), between(100, 101), same },
			};
		}
		check(v);
	}
	ktap_note("%u pixels, at most %.3f units in the last place off", pixels, worst);
	ktap_ok(pixels > TRIANGLES * 100);
}

int main(void)
{
	ktap_start();
	set_up();
	ktap_run("[PIX10] perspective as exact as 3d.md says, equal ones exact",
		 planes);
	return ktap_finish();
}
