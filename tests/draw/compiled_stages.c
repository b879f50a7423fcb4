// SPDX-License-Identifier: MIT
/* test: TIMEOUT=120 */
/*
 * A vertex shader of a public compiler, which knows nothing of later stages, runs unchanged before
 * each of them. Pictures, counts and captured bytes equal those of a shader that stores to stage
 * I/O memory.
 */
#include <stdlib.h>
#include <string.h>

#include "ktap.h"
#include "pathscene.h"

static const char *path;

/* Draw @scene; what it leaves, for free(), and its size. */
static uint8_t *draw(const struct pathscene *scene, uint64_t counts[PATHSCENE_COUNTS], size_t *size)
{
	struct pathscene_tsr *tsr = pathscene_tsr_new(scene);
	uint8_t *all;

	*size = scene->streams ? pathscene_bytes(scene) : 4ul * scene->side * scene->side;
	all = calloc(1, *size);
	pathscene_tsr_count(tsr, counts);
	pathscene_tsr_read(tsr, all);
	pathscene_tsr_free(tsr);
	return all;
}

static void compare(void)
{
	uint64_t counts[2][PATHSCENE_COUNTS];
	struct pathscene scene;
	uint8_t *got, *want;
	size_t size;

	pathscene_open(&scene, path);
	scene.shader[PATHSCENE_VERTEX] = &pathscene_plain;
	want = draw(&scene, counts[0], &size);
	scene.compiled = true;
	got = draw(&scene, counts[1], &size);
	ktap_mem_eq(counts[1], counts[0], sizeof(counts[0]));
	ktap_mem_eq(got, want, size);
	/* there is something to be seen */
	ktap_ok(memcmp(got, got + 32, size - 32) != 0);
	free(got);
	free(want);
	pathscene_close(&scene);
}

int main(void)
{
	static const char *const paths[] = {
		"vertex", "geometry", "patches", "vertex_stream", "geometry_stream",
		"patches_stream",
	};
	char title[128];

	ktap_start();
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		struct pathscene scene;

		path = paths[i];
		pathscene_open(&scene, path);
		snprintf(title, sizeof(title), "[PIPE1] %s: the vertex shader of a public compiler",
			 scene.path);
		pathscene_close(&scene);
		ktap_run(title, compare);
	}
	return ktap_finish();
}
