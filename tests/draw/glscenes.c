// SPDX-License-Identifier: MIT
/* test: TIMEOUT=600 */
/*
 * Scenes of a GL benchmark, drawn by libtessera on the device in this process, beside pictures of
 * Mesa's llvmpipe: covered pixels are the same (but for one in 100000, on edges that rounding
 * moves), colors within 1/255 in 999 of 1000 of them. Two scenes are allowed more: exceptions[].
 */
#include <stdlib.h>
#include <string.h>

#include "gles.h"
#include "glbench/programs.h"
#include "glscene.h"
#include "ktap.h"

#define PIXELS	(GLSCENE_SIDE * GLSCENE_SIDE)

static const struct exception {
	const char *scene;
	int levels;		/* how far colors may be apart */
	size_t of;		/* one in so many pixels may be farther */
} exceptions[] = {
	/* the edge of the fractal: we round products and sums once, llvmpipe each */
	{ "mandelbrot", 1, 500 },
	/* levels of detail that vary: llvmpipe takes them from an approximation of the logarithm */
	{ "mix_cubes", 3, 1000 },
	{ NULL, 1, 1000 }
};

static struct glscene scene;
static uint8_t *theirs, *ours;
static unsigned int vertex_build, fragment_build;

static const struct exception *allowed(void)
{
	const struct exception *e = exceptions;

	while (e->scene && strcmp(e->scene, scene.name))
		e++;
	return e;
}

/* How many covered pixels have a component that differs by too much; and coverage that does. */
static void count(size_t *covered, size_t *wrong, size_t *uncovered)
{
	const int levels = allowed()->levels;
	uint8_t back[4];

	for (int c = 0; c < 4; c++)
		back[c] = (uint8_t)(scene.clear[c] * 255 + 0.5f);
	for (size_t i = 0; i < PIXELS; i++) {
		const uint8_t *a = theirs + 4 * i, *b = ours + 4 * i;
		bool there = memcmp(a, back, 4) != 0, here = memcmp(b, back, 4) != 0, far = false;

		for (int c = 0; c < 4; c++)
			far |= abs(a[c] - b[c]) > levels;
		*covered += there;
		*wrong += there && far;
		*uncovered += there != here && far;
	}
}

static void compare(void)
{
	struct glscene_tsr *tsr = glscene_tsr_new(&scene, vertex_build, fragment_build);
	size_t covered = 0, wrong = 0, uncovered = 0;

	glscene_tsr_run(tsr, 1);
	glscene_tsr_read(tsr, ours);
	count(&covered, &wrong, &uncovered);
	printf("# %s, builds %u and %u: %zu pixels, %zu differ, %zu of them by coverage\n",
	       scene.name, vertex_build, fragment_build, covered, wrong, uncovered);
	ktap_ok(wrong * allowed()->of <= covered);
	ktap_ok(uncovered * 100000 <= covered);
	glscene_tsr_free(tsr);
}

/* Every build of some scenes, of the others the two that differ most. */
static bool wanted(const char *name)
{
	return !getenv("TSR_QUICK") || !strcmp(name, "fill_vary") || !strcmp(name, "tri_small") ||
	       (vertex_build == GL_CLIP_TWO &&
		fragment_build == glscene_tsr_has(&scene, GL_PRELOAD)) ||
	       (vertex_build == GL_WINDOW && fragment_build == GL_PLAIN);
}

static void draw_scene(const char *name)
{
	static const char *const builds[] = { "window", "window, two programs", "clip",
					      "clip, two programs" };
	struct glscene_gl *gl;
	char title[160];

	glscene_open(&scene, name);
	gl = glscene_gl_new(&scene);
	glscene_gl_run(gl, 1);
	glscene_gl_read(gl, theirs);
	for (vertex_build = 0; vertex_build < GL_VERTEX_BUILDS; vertex_build++)
		for (fragment_build = 0; fragment_build < GL_FRAGMENT_BUILDS; fragment_build++) {
			if (!glscene_tsr_has(&scene, fragment_build) || !wanted(name))
				continue;
			snprintf(title, sizeof(title), "[SYS5] %s is llvmpipe's picture (%s%s)",
				 name, builds[vertex_build], fragment_build ? ", preloads" : "");
			ktap_run(title, compare);
		}
	glscene_gl_free(gl);
	glscene_close(&scene);
}

static void draw_ours(const char *name, unsigned int build, uint8_t *picture)
{
	struct glscene_tsr *tsr;

	glscene_open(&scene, name);
	tsr = glscene_tsr_new(&scene, build, GL_PLAIN);
	glscene_tsr_run(tsr, 1);
	glscene_tsr_read(tsr, picture);
	glscene_tsr_free(tsr);
	glscene_close(&scene);
}

/*
 * Positions that a program of their own has computed for the binner are, to the bit, those of the
 * program that computes everything: so are the pictures, depths and edges among them.
 */
static void positions_agree(void)
{
	static const char *const names[] = { "tri_small", "inst_cubes", "mix_cubes", "msaa4_vary" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		draw_ours(names[i], GL_CLIP, theirs);
		draw_ours(names[i], GL_CLIP_TWO, ours);
		if (!ktap_mem_eq(ours, theirs, 4 * PIXELS))
			ktap_note("%s", names[i]);
		ktap_ok(memcmp(ours, ours + 4, 4 * PIXELS - 4) != 0);
	}
}

static void no_reference(void)
{
	ktap_skip("there is no EGL with llvmpipe here");
}

int main(int argc, char **argv)
{
	const bool reference = gles_open();

	ktap_start();
	theirs = malloc(4 * PIXELS);
	ours = malloc(4 * PIXELS);
	if (!theirs || !ours)
		abort();
	if (!reference)
		ktap_run("[SYS5] scenes are llvmpipe's pictures", no_reference);
	if (argc < 2 || !strcmp(argv[1], "positions"))
		ktap_run("[IA5] positions of a program of their own: the same pictures",
			 positions_agree);
	for (size_t i = 0; reference && glscene_names[i]; i++) {
		if (argc < 2 || !strcmp(argv[1], glscene_names[i]))
			draw_scene(glscene_names[i]);
	}
	free(theirs);
	free(ours);
	return ktap_finish();
}
