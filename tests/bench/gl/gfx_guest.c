// SPDX-License-Identifier: MIT
/*
 * The scenes of a GL benchmark in a guest: drawn by the GPU through the driver, and by Mesa's
 * llvmpipe on the guest's processor, whose arithmetic QEMU emulates. One frame each, in time, the
 * first one (which compiles programs) not counted; ratios above 1: the GPU is faster.
 *
 *	gfx_guest [SCENE...]
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "gles.h"
#include "glbench/programs.h"
#include "glscene.h"

#define SECONDS	1.0		/* of a measurement, at least */

static const char *const usual[] = { "fill_flat", "fill_vary", "tex_bilinear", "blend_x8",
				     "tri_small", "mandelbrot", "mix_cubes", NULL };

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds of a frame, of as many as take SECONDS; they overlap: one does not tell how many. */
static double frame(void (*run)(void *, unsigned int), void *arg)
{
	unsigned int frames = 1;
	double start, took;

	run(arg, 1);
	for (;;) {
		start = now();
		run(arg, frames);
		took = now() - start;
		if (took >= SECONDS)
			return took / frames;
		frames = (unsigned int)(frames * fmin(1.1 * SECONDS / took, 10)) + 1;
	}
}

static void measure(const char *name)
{
	struct glscene scene;
	struct glscene_gl *gl;
	struct glscene_tsr *tsr;
	double ours, theirs;

	glscene_open(&scene, name);
	tsr = glscene_tsr_new(&scene, GL_CLIP_TWO,
			      glscene_tsr_has(&scene, GL_PRELOAD) ? GL_PRELOAD : GL_PLAIN);
	ours = frame(glscene_tsr_run, tsr);
	glscene_tsr_free(tsr);
	gl = glscene_gl_new(&scene);
	theirs = frame(glscene_gl_run, gl);
	glscene_gl_free(gl);
	printf("guest_%s %.6g M%s/s\n", name, 1e-6 * scene.units / ours, scene.unit);
	printf("guest_%s_llvmpipe %.6g M%s/s\n", name, 1e-6 * scene.units / theirs, scene.unit);
	printf("guest_%s_to_llvmpipe %.1f ratio\n", name, theirs / ours);
	fflush(stdout);
	glscene_close(&scene);
}

/* A name that is none would end the run in the middle. */
static int known(const char *name)
{
	for (size_t i = 0; glscene_names[i]; i++) {
		if (!strcmp(name, glscene_names[i]))
			return 1;
	}
	fprintf(stderr, "gfx_guest: no scene is called '%s'\n", name);
	return 0;
}

int main(int argc, char **argv)
{
	const char *const *names = argc > 1 ? (const char *const *)argv + 1 : usual;

	for (size_t i = 0; names[i]; i++) {
		if (!known(names[i]))
			return 2;
	}
	if (!gles_open()) {
		fprintf(stderr, "gfx_guest: there is no EGL with llvmpipe here\n");
		return 1;
	}
	fprintf(stderr, "# compared with %s\n", gles_name());
	for (size_t i = 0; names[i]; i++)
		measure(names[i]);
	return 0;
}
