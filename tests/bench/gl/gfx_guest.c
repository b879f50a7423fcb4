// SPDX-License-Identifier: MIT
/*
 * The scenes of a GL benchmark in a guest: drawn by the GPU through the driver, and by Mesa's
 * llvmpipe on the guest's processor, whose arithmetic QEMU emulates, in turn: median rates and the
 * median of the ratios (above 1: the GPU is faster), in time. The first frame, for which programs
 * are compiled, is not counted.
 *
 *	gfx_guest [SCENE...]
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "figures.h"
#include "gles.h"
#include "glbench/programs.h"
#include "glscene.h"

#define RUNS	3
#define SECONDS	1.0		/* of a measurement, at least */

/* How many frames take SECONDS. As they overlap, one alone does not tell. */
static unsigned int frames_for(void (*run)(void *, unsigned int), void *arg)
{
	unsigned int frames = 1;
	double took;

	run(arg, 1);
	while ((took = 1e-9 * frames * figure_once(run, arg, frames)) < SECONDS)
		frames = (unsigned int)(frames * fmin(1.1 * SECONDS / took, 10)) + 1;
	return frames;
}

static void measure(const char *name)
{
	double ours[RUNS], theirs[RUNS], ratio[RUNS];
	struct glscene scene;
	struct glscene_tsr *tsr;
	struct glscene_gl *gl;
	unsigned int n[2];

	glscene_open(&scene, name);
	tsr = glscene_tsr_new(&scene, GL_CLIP_TWO,
			      glscene_tsr_has(&scene, GL_PRELOAD) ? GL_PRELOAD : GL_PLAIN);
	gl = glscene_gl_new(&scene);
	n[0] = frames_for(glscene_tsr_run, tsr);
	n[1] = frames_for(glscene_gl_run, gl);
	for (unsigned int i = 0; i < RUNS; i++) {
		ours[i] = figure_once(glscene_tsr_run, tsr, n[0]);
		theirs[i] = figure_once(glscene_gl_run, gl, n[1]);
		ratio[i] = theirs[i] / ours[i];
	}
	glscene_tsr_free(tsr);
	glscene_gl_free(gl);
	printf("guest_%s %.6g M%s/s\n", name, 1e3 * scene.units / figure_middle(ours, RUNS),
	       scene.unit);
	printf("guest_%s_llvmpipe %.6g M%s/s\n", name,
	       1e3 * scene.units / figure_middle(theirs, RUNS), scene.unit);
	printf("guest_%s_to_llvmpipe %.1f ratio\n", name, figure_middle(ratio, RUNS));
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
	const char *const *names = argc > 1 ? (const char *const *)argv + 1 : glscene_names;

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
