// SPDX-License-Identifier: MIT
/* test: TIMEOUT=600 */
/*
 * Scenes of a GL benchmark with programs that run for blocks of pixels, and with all that is not
 * run in bundles of a core switched off: textured, blended, in perspective, with several samples,
 * with depth, in large and in small triangles; to the bit the same on every SIMD path.
 */
#include <stdlib.h>
#include <string.h>

#include "env.h"
#include "glbench/programs.h"
#include "glscene.h"
#include "hostgpu.h"
#include "ktap.h"

#define PICTURE	(4 * GLSCENE_SIDE * GLSCENE_SIDE)

static const char *const scenes[] = {
	"mix_cubes", "fill_vary", "tex_trilinear", "msaa4_vary", "blend_x8", "depth_b2f", "alu_fs",
	"tex_bilinear", "inst_cubes",
};
#define SCENES (sizeof(scenes) / sizeof(scenes[0]))

static const char *name;
static unsigned int build;
static uint8_t *want, *got;

static void draw(const struct hostgpu_options *options, uint8_t *picture)
{
	struct glscene_tsr *tsr;
	struct glscene scene;

	hostgpu_set(options);
	glscene_open(&scene, name);
	tsr = glscene_tsr_new(&scene, GL_CLIP_TWO, build);
	/* the second frame is drawn with what the first has shown of its states */
	glscene_tsr_run(tsr, 2);
	glscene_tsr_read(tsr, picture);
	glscene_tsr_free(tsr);
	glscene_close(&scene);
	hostgpu_reset();
}

static void same(void)
{
	static const struct hostgpu_options core = {
		.gfx_debug = TSR_GFX_NO_FLAT | TSR_GFX_NO_BLOCKS,
	};
	static const struct hostgpu_options others[] = {
		{ 0 }, { .gfx_debug = TSR_GFX_NO_FLAT }, { .simd = "sse2" }, { .threads = 2 },
	};
	const unsigned int count = getenv("TSR_QUICK") ? 2 : sizeof(others) / sizeof(others[0]);
	size_t shaded = 0;

	draw(&core, want);
	for (size_t i = 0; i < PICTURE; i++)
		shaded += want[i] != want[0];
	ktap_ok(shaded > 1000);
	for (unsigned int i = 0; i < count; i++) {
		draw(&others[i], got);
		if (memcmp(got, want, PICTURE))
			ktap_fail("%s, build %u: another picture with options %u", name, build, i);
	}
}

int main(void)
{
	const size_t count = getenv("TSR_QUICK") ? 3 : SCENES;
	char title[120];

	ktap_start();
	want = malloc(PICTURE);
	got = malloc(PICTURE);
	if (!want || !got)
		abort();
	for (size_t i = 0; i < count; i++) {
		struct glscene scene;

		name = scenes[i];
		glscene_open(&scene, name);
		for (build = 0; build < GL_FRAGMENT_BUILDS; build++) {
			if (!glscene_tsr_has(&scene, build))
				continue;
			snprintf(title, sizeof(title), "[PIX1] %s is the same in blocks%s", name,
				 build ? ", preloads" : "");
			ktap_run(title, same);
		}
		glscene_close(&scene);
	}
	free(want);
	free(got);
	return ktap_finish();
}
