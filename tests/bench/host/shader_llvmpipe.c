/* SPDX-License-Identifier: MIT */
/*
 * Compute kernels on one core of the model, beside the same computation as a GLSL compute shader on
 * Mesa's llvmpipe, in one process on one processor, in turn: median times and the median of the
 * ratios (above 1: we are faster), in time of the processor. The kernels are in shaders/; results
 * of both are compared.
 */
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "figures.h"
#include "gles.h"
#include "kernel.h"

#define RUNS	5

/* One kernel in two forms. */
struct scene {
	const char *name;		/* of the shader file */
	const char *source;		/* GLSL */
	const char *buffer[GLES_BUFFERS]; /* of the file, by binding */
	unsigned int result;		/* binding of what is compared */
	double tolerance;		/* of results that are floats; 0: same bits */
	double units;			/* of work in a dispatch */
	const char *unit;
};

#define IN(n, type, name)	"layout(std430, binding=" #n ") readonly buffer B" #n \
				" { " type " " name "[]; };"
#define OUT(n, type, name)	"layout(std430, binding=" #n ") buffer B" #n \
				" { " type " " name "[]; };"
#define R4(x)	x x x x

static const struct scene scenes[] = {
	{
		.name = "saxpy", .buffer = { "x", "y" }, .result = 1,
		.units = 12.0 * (16 << 20), .unit = "B",
		.source = "layout(local_size_x=256) in;" IN(0, "float", "x") OUT(1, "float", "y")
		  "void main() { uint i = (gl_WorkGroupID.y * 256u + gl_WorkGroupID.x) * 256u +"
		  " gl_LocalInvocationID.x; y[i] = 2.0 * x[i] + y[i]; }",
	}, {
		.name = "sgemm", .buffer = { "a", "b", "c" }, .result = 2,
		.units = 2.0 * (1 << 27), .unit = "FLOP",
		.source = "layout(local_size_x=16, local_size_y=16) in;" IN(0, "float", "a")
		  IN(1, "float", "b") OUT(2, "float", "c")
		  "shared float sa[16][16], sb[16][16];"
		  "void main() { uvec2 l = gl_LocalInvocationID.xy, g = gl_GlobalInvocationID.xy;"
		  "float s = 0.0;"
		  "for (uint t = 0u; t < 512u; t += 16u) {"
		  " sa[l.y][l.x] = a[g.y * 512u + t + l.x];"
		  " sb[l.y][l.x] = b[(t + l.y) * 512u + g.x]; barrier();"
		  " for (uint k = 0u; k < 16u; k++) s += sa[l.y][k] * sb[k][l.x];"
		  " barrier(); }"
		  "c[g.y * 512u + g.x] = s; }",
	}, {
		.name = "sgemm_plain", .buffer = { "a", "b", "c" }, .result = 2,
		.units = 2.0 * (1 << 27), .unit = "FLOP",
		.source = "layout(local_size_x=16, local_size_y=16) in;" IN(0, "float", "a")
		  IN(1, "float", "b") OUT(2, "float", "c")
		  "void main() { uvec2 g = gl_GlobalInvocationID.xy; float s = 0.0;"
		  "for (uint k = 0u; k < 512u; k++) s += a[g.y * 512u + k] * b[k * 512u + g.x];"
		  "c[g.y * 512u + g.x] = s; }",
	}, {
		.name = "hist_global", .buffer = { "in", "out" }, .result = 1,
		.units = 1 << 22, .unit = "word",
		.source = "layout(local_size_x=256) in;" IN(0, "uint", "d") OUT(1, "uint", "h")
		  "void main() { atomicAdd(h[d[(gl_WorkGroupID.y * 128u + gl_WorkGroupID.x) * 256u"
		  " + gl_LocalInvocationID.x]], 1u); }",
	}, {
		.name = "hist_shared", .buffer = { "in", "out" }, .result = 1,
		.units = 1 << 22, .unit = "word",
		.source = "layout(local_size_x=256) in;" IN(0, "uint", "d") OUT(1, "uint", "h")
		  "shared uint s[256];"
		  "void main() { uint i = gl_LocalInvocationID.x; s[i] = 0u; barrier();"
		  "atomicAdd(s[d[(gl_WorkGroupID.y * 128u + gl_WorkGroupID.x) * 256u + i]], 1u);"
		  "barrier(); atomicAdd(h[i], s[i]); }",
	}, {
		.name = "alu", .buffer = { "out" }, .tolerance = 1e-3,
		.units = 1 << 20, .unit = "pixel",
		.source = "layout(local_size_x=16, local_size_y=16) in;" OUT(0, "vec4", "o")
		  "uniform float zero;"
		  "void main() { vec2 p = (vec2(gl_GlobalInvocationID.xy) + 0.5) / 1024.0;"
		  "vec4 v = vec4(p, p.yx), a = vec4(zero + 0.5), b = vec4(zero + 0.25);"
		  R4(R4(R4("v = v * a + b;")))
		  "v.x = sin(v.x * 3.0); v.y = sin(v.y * 5.0);"
		  "v.z = exp2(v.z - 1.0); v.w = exp2(v.w - 2.0);"
		  "o[gl_GlobalInvocationID.y * 1024u + gl_GlobalInvocationID.x] ="
		  " vec4(v.xy * 0.5 + 0.5, v.zw); }",
	}, {
		.name = "mandelbrot", .buffer = { "out" },
		.units = 1 << 20, .unit = "pixel", .tolerance = -1,
		.source = "layout(local_size_x=16, local_size_y=16) in;" OUT(0, "uint", "o")
		  "void main() { vec2 c = vec2(-2.0, -1.5) +"
		  " (vec2(gl_GlobalInvocationID.xy) + 0.5) * (3.0 / 1024.0), z = vec2(0.0); uint i;"
		  "for (i = 0u; i < 256u; i++) { if (dot(z, z) > 4.0) break;"
		  " z = vec2(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + c; }"
		  "o[gl_GlobalInvocationID.y * 1024u + gl_GlobalInvocationID.x] = i; }",
	},
};

/*
 * How many words of the two results differ. A negative tolerance: rounding may change a few words
 * by much (the edge of a fractal), one in a hundred is accepted.
 */
static size_t differences(const struct scene *s, const uint32_t *ours, const uint32_t *theirs,
			  size_t words)
{
	size_t wrong = 0;

	for (size_t i = 0; i < words; i++) {
		float x, y;

		memcpy(&x, &ours[i], 4);
		memcpy(&y, &theirs[i], 4);
		wrong += s->tolerance > 0 ? !(fabsf(x - y) <= (float)s->tolerance) :
					    ours[i] != theirs[i];
	}
	return s->tolerance < 0 && wrong < words / 100 ? 0 : wrong;
}

static void compare(const struct scene *s, struct kernel *kernel, struct gles_kernel *gl)
{
	const struct region *r = script_region(kernel->script, s->buffer[s->result]);
	uint32_t *ours = kernel_buffer(kernel, s->buffer[s->result]), *theirs = malloc(r->size);
	size_t wrong;

	if (!theirs)
		abort();
	gles_run(gl, 1);
	kernel_run(kernel, 1);
	gles_read(gl, s->result, theirs, r->size);
	wrong = differences(s, ours, theirs, r->size / 4);
	if (wrong)
		fprintf(stderr, "%s: %zu of %zu words are not llvmpipe's\n", s->name, wrong,
			(size_t)r->size / 4);
	free(theirs);
}

static void measure(const struct scene *s)
{
	double ours[RUNS], theirs[RUNS], ratio[RUNS];
	struct kernel kernel;
	struct gles_kernel gl;
	char name[80];

	kernel_open(&kernel, s->name, 0, NULL);
	gles_kernel(&gl, s->source, kernel.script->groups);
	for (unsigned int i = 0; i < GLES_BUFFERS && s->buffer[i]; i++)
		gles_buffer(&gl, i, kernel_buffer(&kernel, s->buffer[i]),
			    script_region(kernel.script, s->buffer[i])->size);
	compare(s, &kernel, &gl);
	for (unsigned int i = 0; i < RUNS; i++) {
		theirs[i] = figure_cpu_once(gles_run, &gl, 1);
		ours[i] = figure_cpu_once(kernel_run, &kernel, 1);
		ratio[i] = theirs[i] / ours[i];
	}
	snprintf(name, sizeof(name), "G%s/s", s->unit);
	printf("shader_%s %.6g %s\n", s->name, s->units / figure_middle(ours, RUNS), name);
	printf("llvmpipe_%s %.6g %s\n", s->name, s->units / figure_middle(theirs, RUNS), name);
	snprintf(name, sizeof(name), "shader_%s_to_llvmpipe", s->name);
	figure_print(name, figure_middle(ratio, RUNS), "ratio");
	gles_free(&gl);
	kernel_close(&kernel);
}

/* llvmpipe starts as many threads as there are processors: leave it and us one. */
static void stay_on_one_processor(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	sched_setaffinity(0, sizeof(set), &set);
}

int main(int argc, char **argv)
{
	stay_on_one_processor();
	if (!gles_open()) {
		fprintf(stderr, "shader_llvmpipe: there is no EGL with llvmpipe here\n");
		return 0;
	}
	fprintf(stderr, "# compared with %s\n", gles_name());
	for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++) {
		if (argc < 2 || !strcmp(argv[1], scenes[i].name))
			measure(&scenes[i]);
	}
	return 0;
}
