// SPDX-License-Identifier: MIT
/* test: TIMEOUT=300 */
/*
 * Drawing beside others: the copy engine moves a megabyte while passes are drawn, and processes
 * that fail (a program that stores where nothing is, one that never ends) come and go. What is
 * drawn stays the same, bit for bit, and what is copied.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "gfxdraw.h"
#include "tsr_regs.h"
#include <tessera/cmd.h>

#define SIDE	64
#define BYTES	(1u << 20)
#define ROUNDS	12
#define FAILING	4		/* rounds of each process that fails */

static struct gfxt t;
static const float black[4], white[4] = { 1, 1, 1, 1 };

/* A few hundred triangles in colors. */
#define COUNT	600

static struct gfxt_vertex soup[3 * COUNT];

static void cook(void)
{
	for (int i = 0; i < 3 * COUNT; i++) {
		struct gfxt_vertex *v = &soup[i];

		for (int c = 0; c < 2; c++)
			v->position[c] = (float)gfxt_random(1024) / 512 - 1;
		v->position[2] = 0.5f;
		v->position[3] = 1;
		for (int c = 0; c < 4; c++)
			v->color[c] = (float)gfxt_random(256) / 255;
	}
}

static struct tsr_gfx_pipeline *pipeline;

static struct tsr_gfx_pass *soup_pass(struct tsr_image *image)
{
	struct tsr_gfx_pass *pass = gfxt_one(&t, image, black);

	gfxt_plain(&t, pass, pipeline, soup, 3 * COUNT);
	return pass;
}

/* ---- Copies ---------------------------------------------------------------------------------- */

struct copier {
	struct tsr_queue *queue;
	struct tsr_pool *streams;
	struct tsr_stream *stream;
	struct tsr_sync *sync;
	struct tsr_alloc from, to;
};

static void copier_open(struct copier *c)
{
	uint32_t *words;

	ktap_eq(tsr_queue_create(t.vm, DRM_TESSERA_ENGINE_COPY, DRM_TESSERA_PRIORITY_NORMAL, 0,
				 &c->queue), 0);
	ktap_eq(tsr_pool_create(t.vm, 0, DRM_TESSERA_BO_CACHED, GFXT_RX, &c->streams), 0);
	ktap_eq(tsr_stream_create(c->streams, 0, &c->stream), 0);
	ktap_eq(tsr_sync_create(t.device, 0, &c->sync), 0);
	ktap_eq(tsr_pool_alloc(t.data, BYTES, 4096, &c->from), 0);
	ktap_eq(tsr_pool_alloc(t.data, BYTES, 4096, &c->to), 0);
	words = c->from.cpu;
	for (uint32_t i = 0; i < BYTES / 4; i++)
		words[i] = gfxt_random(1u << 31);
}

static void copier_close(struct copier *c)
{
	tsr_stream_destroy(c->stream);
	tsr_sync_unref(c->sync);
	tsr_queue_unref(c->queue);
	tsr_pool_free(t.data, &c->from);
	tsr_pool_free(t.data, &c->to);
	tsr_pool_unref(c->streams);
}

/* A copy starts, a pass starts, both end; each is what it is alone. */
static void beside_copies(void)
{
	static uint8_t alone[4 * SIDE * SIDE], now[4 * SIDE * SIDE];
	struct tsr_image *image = gfxt_image(&t, TSR_PIXEL_FORMAT_RGBA8_UNORM, SIDE, 1);
	struct tsr_gfx_pass *pass = soup_pass(image);
	struct copier c = { 0 };

	gfxt_drawn(pass);
	gfxt_read(image, 0, 0, alone, 4 * SIDE);
	copier_open(&c);
	for (int i = 0; i < ROUNDS; i++) {
		memset(c.to.cpu, i, BYTES);
		tsr_stream_reset(c.stream);
		tsr_cmd_copy(c.stream, c.to.va, c.from.va, BYTES);
		pass = soup_pass(image);
		ktap_eq(tsr_queue_run(c.queue, c.stream, c.sync, 0), 0);
		ktap_eq(tsr_gfx_submit(pass, NULL, 0, NULL, 0), 0);
		ktap_eq(gfxt_wait(pass), 0);
		ktap_eq(tsr_sync_finish(c.sync, 0, TSR_DEADLINE_NEVER), 0);
		tsr_gfx_pass_destroy(pass);
		gfxt_read(image, 0, 0, now, 4 * SIDE);
		ktap_mem_eq(now, alone, sizeof(now));
		ktap_mem_eq(c.to.cpu, c.from.cpu, BYTES);
	}
	copier_close(&c);
	tsr_image_unref(image);
}

/* ---- Frames over frames ---------------------------------------------------------------------- */

#define PATIENCE_MS	30000

static uint64_t jobs_of(struct tsr_queue *queue)
{
	struct drm_tessera_queue_get_state state = { 0 };

	ktap_eq(tsr_queue_get_state(queue, &state, sizeof(state)), 0);
	return state.jobs_completed;
}

/* The number of jobs of both BIN queues. */
static uint64_t binned_by(struct tsr_queue *const bin[TSR_GFX_BIN_QUEUES])
{
	return jobs_of(bin[0]) + jobs_of(bin[1]);
}

static bool wait_binned(struct tsr_queue *const bin[TSR_GFX_BIN_QUEUES], uint64_t jobs)
{
	unsigned int ms;

	for (ms = 0; binned_by(bin) < jobs && ms < PATIENCE_MS; ms++)
		usleep(1000);
	return binned_by(bin) >= jobs;
}

/* A job that keeps @queue from going on until the word at @gate is 1. */
static void hold(struct copier *c, struct tsr_queue *queue, const struct tsr_alloc *gate)
{
	*(volatile uint32_t *)gate->cpu = 0;
	tsr_stream_reset(c->stream);
	tsr_cmd_wait32(c->stream, gate->va, TSR_COMPARE_EQ, 1);
	ktap_eq(tsr_queue_run(queue, c->stream, c->sync, 0), 0);
}

/* While one BIN queue stands still a frame is binned by the other; its own is not rendered. */
static void binned_apart(struct copier *c, struct tsr_gfx_pass *const pass[2])
{
	struct tsr_queue *bin[TSR_GFX_BIN_QUEUES], *render;
	uint64_t binned, rendered;

	tsr_gfx_queues(t.gfx, bin, &render);
	binned = binned_by(bin);
	rendered = jobs_of(render);
	hold(c, bin[0], &c->to);
	for (int i = 0; i < 2; i++)
		ktap_eq(tsr_gfx_submit(pass[i], NULL, 0, NULL, 0), 0);
	ktap_ok(wait_binned(bin, binned + 1));
	usleep(50000);
	ktap_eq(binned_by(bin), binned + 1);
	ktap_ok(jobs_of(render) <= rendered + 1);
	*(volatile uint32_t *)c->to.cpu = 1;
	for (int i = 0; i < 2; i++)
		ktap_eq(gfxt_wait(pass[i]), 0);
	ktap_eq(tsr_sync_finish(c->sync, 0, TSR_DEADLINE_NEVER), 0);
}

/*
 * While rendering stands still two frames are binned, the second one over the first one's picture
 * that is still to come.
 */
static void frames_overlap(void)
{
	static uint8_t alone[4 * SIDE * SIDE], now[4 * SIDE * SIDE];
	struct tsr_image *image[2];
	struct tsr_gfx_pass *pass[2];
	struct tsr_queue *bin[TSR_GFX_BIN_QUEUES], *render;
	struct copier c = { 0 };
	uint64_t binned, rendered;
	int i;

	copier_open(&c);
	for (i = 0; i < 2; i++) {
		image[i] = gfxt_image(&t, TSR_PIXEL_FORMAT_RGBA8_UNORM, SIDE, 1);
		gfxt_drawn(soup_pass(image[i]));
		gfxt_read(image[i], 0, 0, alone, 4 * SIDE);
		pass[i] = gfxt_one(&t, image[i], white);
		gfxt_drawn(pass[i]);
		pass[i] = soup_pass(image[i]);
	}
	tsr_gfx_queues(t.gfx, bin, &render);
	binned = binned_by(bin);
	rendered = jobs_of(render);
	hold(&c, render, &c.to);
	for (i = 0; i < 2; i++)
		ktap_eq(tsr_gfx_submit(pass[i], NULL, 0, NULL, 0), 0);
	ktap_ok(wait_binned(bin, binned + 2));
	ktap_eq(jobs_of(render), rendered);
	gfxt_read(image[0], 0, 0, now, 4 * SIDE);
	ktap_eq(now[0], 0xff);
	*(volatile uint32_t *)c.to.cpu = 1;
	for (i = 0; i < 2; i++) {
		ktap_eq(gfxt_wait(pass[i]), 0);
		gfxt_read(image[i], 0, 0, now, 4 * SIDE);
		ktap_mem_eq(now, alone, sizeof(now));
	}
	ktap_eq(tsr_sync_finish(c.sync, 0, TSR_DEADLINE_NEVER), 0);
	binned_apart(&c, pass);
	for (i = 0; i < 2; i++) {
		tsr_gfx_pass_destroy(pass[i]);
		tsr_image_unref(image[i]);
	}
	copier_close(&c);
}

/* ---- Processes that fail --------------------------------------------------------------------- */

/* Stores at 256 GiB, where nothing is. */
static const char storing[] =
	"clause message=store slot=0 {\n*MOV.i32 r0, 0x0\n+MOV.i32 r1, 0x40\n*NOP\n+NOP\n"
	"*NOP\n+STORE.i32 r0, r1, @r2\n}\n"
	"clause end {\n*NOP\n+NOP\n}\n";
static const char endless[] =
	"again:\n"
	"clause flow=nbtb_unconditional {\n*NOP\n+JUMP again\n}\n"
	"clause end {\n*NOP\n+NOP\n}\n";

static struct tsr_shader *wrong_program;

static void wrong(struct tsr_gfx_pipeline_info *info, struct tsr_gfx_blend *blend)
{
	(void)blend;
	info->fragment = wrong_program;
	info->fragment_flags = TSR_GFX_FRAGMENT_SIDE_EFFECTS;
	/* so that a program without end fails at once, not when the job's time is over */
	info->clause_limit = 10000;
}

/* A process of its own: passes that fail, each with an error; then one that does not. */
static int fail_often(const char *text)
{
	struct tsr_image *image;
	struct tsr_gfx_pipeline *p;
	uint32_t texel[SIDE * SIDE];

	gfxt_open(&t);
	wrong_program = gfxt_program(&t, text);
	p = gfxt_pipeline(&t, wrong);
	pipeline = gfxt_pipeline(&t, NULL);
	image = gfxt_image(&t, TSR_PIXEL_FORMAT_RGBA8_UNORM, SIDE, 1);
	for (int i = 0; i < FAILING; i++) {
		struct tsr_gfx_pass *pass = gfxt_one(&t, image, black);

		gfxt_fill(&t, pass, p, 0, white);
		if (gfxt_draw(pass) >= 0)
			return 1;
		pass = gfxt_one(&t, image, black);
		gfxt_fill(&t, pass, pipeline, 0, white);
		if (gfxt_draw(pass))
			return 2;
		gfxt_read(image, 0, 0, texel, 4 * SIDE);
		if (texel[0] != UINT32_MAX || texel[SIDE * SIDE - 1] != UINT32_MAX)
			return 3;
	}
	return 0;
}

static void beside_failures(void)
{
	static uint8_t alone[4 * SIDE * SIDE], now[4 * SIDE * SIDE];
	static const char *const programs[] = { storing, endless, storing };
	struct tsr_image *image;
	pid_t child[3];
	int status, alive = 3, rounds = 0;

	/* each process opens the device for itself */
	for (int i = 0; i < 3; i++) {
		fflush(stdout);
		child[i] = fork();
		if (!child[i])
			_exit(fail_often(programs[i]));
	}
	gfxt_open(&t);
	pipeline = gfxt_pipeline(&t, NULL);
	image = gfxt_image(&t, TSR_PIXEL_FORMAT_RGBA8_UNORM, SIDE, 1);
	gfxt_drawn(soup_pass(image));
	gfxt_read(image, 0, 0, alone, 4 * SIDE);
	while (alive || rounds < ROUNDS) {
		gfxt_drawn(soup_pass(image));
		gfxt_read(image, 0, 0, now, 4 * SIDE);
		ktap_mem_eq(now, alone, sizeof(now));
		rounds++;
		for (int i = 0; i < 3; i++) {
			if (child[i] && waitpid(child[i], &status, WNOHANG) == child[i]) {
				ktap_ok(WIFEXITED(status));
				ktap_eq(WEXITSTATUS(status), 0);
				child[i] = 0;
				alive--;
			}
		}
	}
	ktap_note("%d pictures", rounds);
	tsr_image_unref(image);
	tsr_gfx_pipeline_unref(pipeline);
	gfxt_close(&t);
}

/* ---- States ---------------------------------------------------------------------------------- */

#define PIPELINES 20u

/*
 * Draw @count rows, each with a scissor of its own and with one of @kinds pipelines in turns: every
 * draw has a state of its own, and those that the binner has no version for wait.
 */
static void rows(uint32_t count, struct tsr_gfx_pipeline *const *pipelines, uint32_t kinds)
{
	static const uint32_t names[] = {
		TSR_QUEUE_COUNTER_BIN_STATE_STALLS, TSR_QUEUE_COUNTER_BIN_DESCRIPTOR_STALLS,
	};
	struct tsr_image *image = gfxt_image(&t, TSR_PIXEL_FORMAT_RGBA8_UNORM, SIDE, 1);
	struct tsr_gfx_pass *pass = gfxt_one(&t, image, black);
	static uint32_t texels[SIDE * SIDE];
	struct tsr_perfmon *perfmon = NULL;
	uint64_t stalls[2] = { 0 };
	uint32_t wrong = 0;

	ktap_eq(tsr_perfmon_create(t.device, names, 2, &perfmon), 0);
	tsr_gfx_set_perfmon(pass, perfmon);
	for (uint32_t i = 0; i < count; i++) {
		ktap_eq(tsr_gfx_set_scissor(pass, 0, &(struct tsr_rect){ 0, i, SIDE, 1 }), 0);
		gfxt_fill(&t, pass, pipelines[i % kinds], 0, white);
	}
	gfxt_drawn(pass);
	gfxt_read(image, 0, 0, texels, 4 * SIDE);
	for (uint32_t i = 0; i < SIDE * SIDE; i++)
		wrong += texels[i] != (i / SIDE < count ? UINT32_MAX : 0);
	ktap_eq(wrong, 0);
	ktap_eq(tsr_perfmon_read(perfmon, stalls, false), 0);
	ktap_eq(stalls[0], count > TSR_STATE_VERSIONS ? count - TSR_STATE_VERSIONS : 0);
	/* there are more descriptors than versions, so the versions are what is waited for */
	ktap_eq(stalls[1], 0);
	tsr_perfmon_unref(perfmon);
	tsr_image_unref(image);
}

static void states(void)
{
	static const uint32_t counts[] = {
		1, TSR_STATE_VERSIONS, TSR_STATE_VERSIONS + 1, PIPELINES,
	};
	struct tsr_gfx_pipeline *pipelines[PIPELINES];

	for (unsigned int i = 0; i < PIPELINES; i++)
		pipelines[i] = gfxt_pipeline(&t, NULL);
	for (unsigned int i = 0; i < 4; i++) {
		rows(counts[i], pipelines, 1);
		rows(counts[i], pipelines, 2);
		rows(counts[i], pipelines, PIPELINES);
	}
	for (unsigned int i = 0; i < PIPELINES; i++)
		tsr_gfx_pipeline_unref(pipelines[i]);
}

int main(void)
{
	ktap_start();
	cook();
	ktap_run("[SYS4] [SYS10] draws beside processes whose draws fail: the same picture",
		 beside_failures);
	gfxt_open(&t);
	pipeline = gfxt_pipeline(&t, NULL);
	ktap_run("[MEM4] the copy engine beside draws: both are what they are alone",
		 beside_copies);
	ktap_run("[CP10] two frames are binned before the first one is rendered",
		 frames_overlap);
	ktap_run("[CP4] states beyond those that the binner keeps wait", states);
	tsr_gfx_pipeline_unref(pipeline);
	gfxt_close(&t);
	return ktap_finish();
}
