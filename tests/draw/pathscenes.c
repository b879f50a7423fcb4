// SPDX-License-Identifier: MIT
/* test: TIMEOUT=300 */
/*
 * Every path from vertices to a picture, or to memory, on the device in this process beside Mesa's
 * llvmpipe: pictures within the limits of glscenes.c, counts and streamed bytes exactly.
 */
#include <stdlib.h>
#include <string.h>

#include "ktap.h"
#include "pathscene.h"

static struct pathscene scene;
static struct pathscene_gl *gl;
static struct pathscene_tsr *tsr;

static void counts(void)
{
	static const char *const name[PATHSCENE_COUNTS] = {
		"vertices", "patches", "threads", "primitives", "drawn", "needed", "written",
	};
	uint64_t theirs[PATHSCENE_COUNTS], ours[PATHSCENE_COUNTS];

	pathscene_gl_count(gl, theirs);
	pathscene_tsr_count(tsr, ours);
	for (unsigned int i = 0; i < PATHSCENE_COUNTS; i++) {
		if (!ktap_eq(ours[i], theirs[i]))
			ktap_note("%s", name[i]);
	}
}

/* How many covered pixels have a component that differs by more than one; and coverage that does */
static void picture(const uint8_t *theirs, const uint8_t *ours)
{
	static const uint8_t back[4];
	size_t covered = 0, wrong = 0, uncovered = 0;

	for (size_t i = 0; i < (size_t)scene.side * scene.side; i++, theirs += 4, ours += 4) {
		bool there = memcmp(theirs, back, 4) != 0, here = memcmp(ours, back, 4) != 0;
		bool far = false;

		for (int c = 0; c < 4; c++)
			far |= abs(theirs[c] - ours[c]) > 1;
		covered += there;
		wrong += there && far;
		uncovered += there != here && far;
	}
	ktap_note("%zu pixels, %zu differ, %zu of them by coverage", covered, wrong, uncovered);
	ktap_ok(covered > (size_t)scene.side * scene.side / 20);
	ktap_ok(wrong * 1000 <= covered);
	ktap_ok(uncovered * 100000 <= covered);
}

static void compare(void)
{
	const bool draws = scene.shader[PATHSCENE_VERTEX] && !scene.streams;
	const size_t size = draws ? 4ul * scene.side * scene.side : pathscene_bytes(&scene);
	uint8_t *theirs = calloc(1, size), *ours = calloc(1, size);

	gl = pathscene_gl_new(&scene);
	tsr = pathscene_tsr_new(&scene);
	if (scene.shader[PATHSCENE_VERTEX]) {
		counts();
	} else {
		pathscene_gl_run(gl, 1);
		pathscene_tsr_run(tsr, 1);
	}
	pathscene_gl_read(gl, theirs);
	pathscene_tsr_read(tsr, ours);
	if (draws)
		picture(theirs, ours);
	else
		ktap_mem_eq(ours, theirs, size);
	pathscene_gl_free(gl);
	pathscene_tsr_free(tsr);
	free(theirs);
	free(ours);
}

static void no_reference(void)
{
	ktap_skip("there is no EGL with llvmpipe and OpenGL 4.5 here");
}

int main(int argc, char **argv)
{
	const char *const *const list = argc > 1 ? pathscene_loads : pathscene_paths;
	char title[128];

	ktap_start();
	if (!pathscene_gl_open()) {
		ktap_run("[PIPE1] paths are as llvmpipe's", no_reference);
		return ktap_finish();
	}
	for (size_t i = 0; list[i]; i++) {
		if (argc > 1 && strcmp(argv[1], list[i]))
			continue;
		pathscene_open(&scene, list[i]);
		snprintf(title, sizeof(title), "[PIPE1] %s: as llvmpipe draws and counts it",
			 scene.path ? scene.path : scene.name);
		ktap_run(title, compare);
		pathscene_close(&scene);
	}
	return ktap_finish();
}
