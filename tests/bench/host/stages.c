// SPDX-License-Identifier: MIT
/*
 * Much work for the stages between vertices and pictures, by libtessera on the in-process device
 * and by Mesa's llvmpipe, on one processor, in one process, in turn: median rates and the median
 * of the ratios (above 1: we are faster), in processor time.
 *
 *	stages [LOAD]
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "figures.h"
#include "gles.h"
#include "hostgpu.h"
#include "pathscene.h"

#define RUNS	5
#define SECONDS	0.5		/* of a measurement, about */

static unsigned int frames_for(void (*run)(void *, unsigned int), void *arg)
{
	double one;

	run(arg, 1);
	one = 1e-9 * figure_cpu_once(run, arg, 1);
	return one >= SECONDS ? 1 : (unsigned int)(SECONDS / one) + 1;
}

static void measure(const char *name)
{
	double ours[RUNS], theirs[RUNS], ratio[RUNS];
	struct pathscene scene;
	struct pathscene_gl *gl;
	struct pathscene_tsr *tsr;
	unsigned int n[2];

	pathscene_open(&scene, name);
	gl = pathscene_gl_new(&scene);
	tsr = pathscene_tsr_new(&scene);
	n[0] = frames_for(pathscene_tsr_run, tsr);
	n[1] = frames_for(pathscene_gl_run, gl);
	for (unsigned int i = 0; i < RUNS; i++) {
		theirs[i] = figure_cpu_once(pathscene_gl_run, gl, n[1]);
		ours[i] = figure_cpu_once(pathscene_tsr_run, tsr, n[0]);
		ratio[i] = theirs[i] / ours[i];
	}
	printf("stages1_%s %.6g M%s/s\n", name, 1e3 * scene.units / figure_middle(ours, RUNS),
	       scene.unit);
	printf("stages1_%s_llvmpipe %.6g M%s/s\n", name,
	       1e3 * scene.units / figure_middle(theirs, RUNS), scene.unit);
	printf("stages1_%s_to_llvmpipe %.3f ratio\n", name, figure_middle(ratio, RUNS));
	fflush(stdout);
	pathscene_gl_free(gl);
	pathscene_tsr_free(tsr);
	pathscene_close(&scene);
}

int main(int argc, char **argv)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	sched_setaffinity(0, sizeof(set), &set);
	setenv("LP_NUM_THREADS", "0", 1);
	hostgpu_set(&(struct hostgpu_options){ .threads = 0 });
	if (!pathscene_gl_open()) {
		fprintf(stderr, "stages: there is no EGL with llvmpipe and OpenGL 4.5 here\n");
		return 0;
	}
	fprintf(stderr, "# compared with %s\n", gles_name());
	for (size_t i = 0; pathscene_loads[i]; i++) {
		if (argc < 2 || !strcmp(argv[1], pathscene_loads[i]))
			measure(pathscene_loads[i]);
	}
	return 0;
}
