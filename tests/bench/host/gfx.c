/* SPDX-License-Identifier: MIT */
/*
 * The scenes of a GL benchmark, drawn by libtessera on the in-process device and by Mesa's
 * llvmpipe, in one process, in turn: median rates and the median of the ratios (above 1: we are
 * faster). With one thread in processor time, on one processor; with two in time, on two.
 * Programs are those a public compiler made of the same GLSL; frames are recorded and submitted
 * anew each time, as GL does it.
 *
 *	gfx [THREADS [SCENE]]		TSR_HOST_SIMD=avx2: on narrower vectors than the host has
 *
 * SCENE "readpixels" is fill_vary, drawn once; "link_draw" makes its programs anew for each draw,
 * GL from a source nobody has seen, we from words (their compiler is not ours, and not counted: no
 * fair ratio, but what a new pipeline costs); "scale" is no comparison, but what a triangle costs
 * in frames of 10^3 to 10^7 of them.
 */
#include <malloc.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "figures.h"
#include "gles.h"
#include "glbench/programs.h"
#include "glscene.h"
#include "hostgpu.h"

#define RUNS		5
#define SECONDS		0.2		/* of a measurement, about */

/* Nanoseconds of a frame: figure_once(), or of a processor. */
static double (*once)(void (*run)(void *, unsigned int), void *arg, unsigned int frames);

/* How many frames take about SECONDS. */
static unsigned int frames_for(void (*run)(void *, unsigned int), void *arg)
{
	double one;

	run(arg, 2);
	one = 1e-9 * once(run, arg, 1);
	return one >= SECONDS ? 1 : (unsigned int)(SECONDS / one) + 1;
}

/* Pictures read back, as often as frames are drawn otherwise. */
static uint8_t picture[4 * GLSCENE_SIDE * GLSCENE_SIDE];

static void read_ours(void *arg, unsigned int count)
{
	while (count--)
		glscene_tsr_read(arg, picture);
}

static void read_theirs(void *arg, unsigned int count)
{
	while (count--)
		glscene_gl_read(arg, picture);
}

static void measure(const char *name, unsigned int threads)
{
	const bool reads = !strcmp(name, "readpixels");
	void (*run_ours)(void *, unsigned int) = reads ? read_ours : glscene_tsr_run;
	void (*run_theirs)(void *, unsigned int) = reads ? read_theirs : glscene_gl_run;
	double ours[RUNS], theirs[RUNS], ratio[RUNS];
	struct glscene scene;
	struct glscene_gl *gl;
	struct glscene_tsr *tsr;
	unsigned int n[2];

	glscene_open(&scene, reads ? "fill_vary" : name);
	gl = glscene_gl_new(&scene);
	tsr = glscene_tsr_new(&scene, GL_CLIP_TWO,
			      glscene_tsr_has(&scene, GL_PRELOAD) ? GL_PRELOAD : GL_PLAIN);
	if (reads) {
		scene.unit = "byte";
		scene.units = sizeof(picture);
	}
	glscene_tsr_run(tsr, 1);
	glscene_gl_run(gl, 1);
	n[0] = frames_for(run_ours, tsr);
	n[1] = frames_for(run_theirs, gl);
	for (unsigned int i = 0; i < RUNS; i++) {
		theirs[i] = once(run_theirs, gl, n[1]);
		ours[i] = once(run_ours, tsr, n[0]);
		ratio[i] = theirs[i] / ours[i];
	}
	printf("gfx%u_%s %.6g M%s/s\n", threads, name,
	       1e3 * scene.units / figure_middle(ours, RUNS), scene.unit);
	printf("gfx%u_%s_llvmpipe %.6g M%s/s\n", threads, name,
	       1e3 * scene.units / figure_middle(theirs, RUNS), scene.unit);
	printf("gfx%u_%s_to_llvmpipe %.3f ratio\n", threads, name, figure_middle(ratio, RUNS));
	fflush(stdout);
	glscene_tsr_free(tsr);
	glscene_gl_free(gl);
	glscene_close(&scene);
}

/* ---- What it costs as frames grow ------------------------------------------------------------ */

#define SCALES 5			/* 10^3 to 10^7 */

/* A frame of @triangles, of tri_small's, without depth: all of them are drawn. */
static struct glscene_tsr *scale_new(struct glscene *scene, unsigned int triangles)
{
	glscene_open(scene, "tri_small");
	scene->depth = false;
	scene->draws = (triangles + (unsigned int)scene->units - 1) / (unsigned int)scene->units;
	scene->count = triangles ? 3 * (triangles / scene->draws) : 0;
	scene->units = (double)scene->draws * scene->count / 3;
	return glscene_tsr_new(scene, GL_CLIP_TWO, GL_PRELOAD);
}

/* Nanoseconds of a triangle: what a frame takes longer than an empty one. */
static double scale_cost(unsigned int triangles)
{
	struct glscene scene[2];
	struct glscene_tsr *tsr[2] = { scale_new(&scene[0], 0), scale_new(&scene[1], triangles) };
	double cost[RUNS], empty;
	unsigned int n[2];

	for (unsigned int i = 0; i < 2; i++)
		n[i] = frames_for(glscene_tsr_run, tsr[i]);
	for (unsigned int i = 0; i < RUNS; i++) {
		empty = once(glscene_tsr_run, tsr[0], n[0]);
		cost[i] = (once(glscene_tsr_run, tsr[1], n[1]) - empty) / scene[1].units;
	}
	for (unsigned int i = 0; i < 2; i++) {
		glscene_tsr_free(tsr[i]);
		glscene_close(&scene[i]);
	}
	return figure_middle(cost, RUNS);
}

static void measure_scale(unsigned int threads)
{
	double most = 0, least = INFINITY;
	unsigned int triangles = 1000;

	for (unsigned int i = 0; i < SCALES; i++, triangles *= 10) {
		double cost = scale_cost(triangles);

		printf("gfx%u_scale_%u %.4g ns\n", threads, triangles, cost);
		fflush(stdout);
		most = fmax(most, cost);
		least = fmin(least, cost);
	}
	printf("gfx%u_scale_most_to_least %.3f ratio\n", threads, most / least);
}

/* llvmpipe starts as many threads as it is told; we and it share the processors we are given. */
static void choose_processors(unsigned int threads)
{
	char number[12];
	cpu_set_t set;

	CPU_ZERO(&set);
	for (unsigned int i = 0; i < threads; i++)
		CPU_SET((sched_getcpu() + (int)i) % (int)sysconf(_SC_NPROCESSORS_ONLN), &set);
	sched_setaffinity(0, sizeof(set), &set);
	snprintf(number, sizeof(number), "%u", threads == 1 ? 0 : threads);
	setenv("LP_NUM_THREADS", number, 1);
	setenv("MESA_SHADER_CACHE_DISABLE", "true", 1);
	hostgpu_set(&(struct hostgpu_options){ .threads = threads == 1 ? 0 : threads,
					       .simd = getenv("TSR_HOST_SIMD") });
	once = threads == 1 ? figure_cpu_once : figure_once;
}

/*
 * llvmpipe frees and takes memory all the time in scenes of many draws. Whether the C library then
 * gives pages back to the kernel, and takes them anew, depends on what ran before: it keeps them.
 */
static void keep_memory(void)
{
	mallopt(M_MMAP_THRESHOLD, 32 << 20);
	mallopt(M_TRIM_THRESHOLD, 1 << 30);
	mallopt(M_TOP_PAD, 16 << 20);
}

static int run(unsigned int threads, const char *only)
{
	keep_memory();
	choose_processors(threads);
	if (!gles_open()) {
		fprintf(stderr, "gfx: there is no EGL with llvmpipe here\n");
		return 0;
	}
	fprintf(stderr, "# compared with %s, %u thread(s)\n", gles_name(), threads);
	for (size_t i = 0; glscene_names[i]; i++) {
		if (!only || !strcmp(only, glscene_names[i]))
			measure(glscene_names[i], threads);
	}
	if (!only || !strcmp(only, "link_draw"))
		measure("link_draw", threads);
	if (!only || !strcmp(only, "readpixels"))
		measure("readpixels", threads);
	if (!only || !strcmp(only, "scale"))
		measure_scale(threads);
	return 0;
}

/* Each number of threads in a process of its own: llvmpipe takes its threads once. */
static int fork_run(unsigned int threads)
{
	pid_t child = fork();
	int status = 1;

	if (!child)
		exit(run(threads, NULL));
	waitpid(child, &status, 0);
	return status;
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return run((unsigned int)atoi(argv[1]), argc > 2 ? argv[2] : NULL);
	return fork_run(1) || fork_run(2);
}
