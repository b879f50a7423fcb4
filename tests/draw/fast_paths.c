// SPDX-License-Identifier: MIT
/* test: TIMEOUT=300 */
/*
 * Fast paths are taken: of the bench's scenes, what share of the tuples generated code executes and
 * what share of the messages is dealt with on vectors. A path that is switched off changes nothing
 * but the time, so this is what notices it. The counts depend on the scene alone.
 */
#include <stdlib.h>
#include <string.h>

#include "glbench/programs.h"
#include "glscene.h"
#include "device/gpu.h"
#include "hostgpu.h"
#include "ktap.h"
#include "compiler/native.h"
#include "simd/simd.h"

/*
 * Upper limits for two frames of a scene: tuples executed, tuples executed by the interpreter,
 * messages handled lane by lane, and primitives set up one by one. A flat or simple fragment
 * executes no tuple.
 */
static const struct limit {
	const char *scene;
	uint64_t tuples, interpreted, lanes, single;
	uint64_t loops;			/* at least: each warp executes one, once a frame */
} limits[] = {
	{ "fill_flat", 89, 89, 0, 540, 0 },
	{ "fill_vary", 61, 61, 0, 540, 0 },
	{ "depth_f2b", 1700, 1700, 0, 4400, 0 },
	{ "blend_x8", 3300, 3300, 0, 4400, 0 },
	{ "tex_bilinear", 61, 61, 0, 540, 0 },
	{ "tex_trilinear", 61, 61, 0, 540, 0 },
	{ "alu_fs", 4700, 4700, 0, 540, 0 },
	{ "mandelbrot", 11000000, 1600, 0, 540, 130000 },
	{ "tri_small", 450000, 75000, 0, 11000, 0 },
	{ "vtx_culled", 150000, 9600, 0, 0, 0 },
	{ "msaa4_vary", 61, 61, 0, 540, 0 },
	{ "inst_cubes", 400000, 42000, 0, 170000, 0 },
	{ "mix_cubes", 590000, 33000, 47000, 26000, 0 },
};

static const char *simd;
static const struct limit *now;

static void read_paths(uint64_t count[TSR_PATHS])
{
	for (unsigned int i = 0; i < TSR_PATHS; i++)
		count[i] = hostgpu_path(i);
}

static void measure(void)
{
	static struct glscene scene;
	uint64_t before[TSR_PATHS], first[TSR_PATHS], after[TSR_PATHS], n[TSR_PATHS];
	struct glscene_tsr *tsr;

	if (!tsr_simd_named(simd)) {
		ktap_skip("this processor has no %s", simd);
		return;
	}
	hostgpu_set(&(struct hostgpu_options){ .simd = simd });
	glscene_open(&scene, now->scene);
	tsr = glscene_tsr_new(&scene, GL_CLIP_TWO, GL_PLAIN);
	read_paths(before);
	glscene_tsr_run(tsr, 1);
	read_paths(first);
	glscene_tsr_run(tsr, 1);
	read_paths(after);
	for (unsigned int i = 0; i < TSR_PATHS; i++)
		n[i] = after[i] - before[i];
	ktap_note("%s: %llu tuples by generated code, %llu by the interpreter; %llu messages, %llu "
		  "lane by lane; %llu primitives one by one, %llu not; %llu loops", now->scene,
		  (unsigned long long)n[TSR_PATH_TUPLES_NATIVE],
		  (unsigned long long)n[TSR_PATH_TUPLES],
		  (unsigned long long)(n[TSR_PATH_MESSAGES_TOGETHER] + n[TSR_PATH_MESSAGES]),
		  (unsigned long long)n[TSR_PATH_MESSAGES],
		  (unsigned long long)n[TSR_PATH_TRIANGLES],
		  (unsigned long long)n[TSR_PATH_TRIANGLES_TOGETHER],
		  (unsigned long long)n[TSR_PATH_LOOPS]);
	/*
	 * The second frame has the same clauses; code is generated for each once in each form, and
	 * as a part of a straight.
	 */
	ktap_ok(n[TSR_PATH_CLAUSES_DECODED] > 0);
	ktap_eq(after[TSR_PATH_CLAUSES_DECODED], first[TSR_PATH_CLAUSES_DECODED]);
	ktap_ok(n[TSR_PATH_CLAUSES_COMPILED] <=
		(TSR_NATIVE_KINDS + 1) * n[TSR_PATH_CLAUSES_DECODED]);
	/* something was drawn */
	ktap_ok(n[TSR_PATH_MESSAGES_TOGETHER] > 0);
	ktap_ok(n[TSR_PATH_TUPLES_NATIVE] + n[TSR_PATH_TUPLES] <= now->tuples);
	ktap_ok(n[TSR_PATH_TUPLES] <= now->interpreted);
	ktap_ok(n[TSR_PATH_MESSAGES] <= now->lanes);
	ktap_ok(n[TSR_PATH_TRIANGLES] <= now->single);
	ktap_ok(n[TSR_PATH_LOOPS] >= now->loops);
	glscene_tsr_free(tsr);
	glscene_close(&scene);
	hostgpu_reset();
}

int main(void)
{
	static const char *const paths[] = { "avx512", "avx2" };
	char title[80];

	ktap_start();
	for (unsigned int p = 0; p < 2; p++) {
		simd = paths[p];
		for (unsigned int i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
			now = &limits[i];
			snprintf(title, sizeof(title), "%s is drawn by the fast paths, %s",
				 now->scene, simd);
			ktap_run(title, measure);
		}
	}
	return ktap_finish();
}
