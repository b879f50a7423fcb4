/* SPDX-License-Identifier: MIT */
/*
 * The processes that faults_load.c loads the device with: seven that copy and remap, one that
 * draws. Each works in rounds, checks all that it has computed, and judges every error by
 * what the fault of the moment excuses.
 */
#ifndef FAULTS_LOAD_H
#define FAULTS_LOAD_H

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "gfxt.h"
#include "gt.h"

#define WORKERS		8
#define DRAWER		(WORKERS - 1)
#define FENCE_LIMIT_MS	120000		/* a fence that takes longer is lost */

/* A process copies SIZE bytes from FROM to MIDDLE to TO. Rules match accesses to them. */
#define SIZE		0x4000u
#define FROM		0x20000ull
#define MIDDLE		0x30000ull
#define TO		0x40000ull
#define DATA		" addr=0x20020000-0x2004ffff"
/* Where one of two pages is, in turns, and the bytes of it that are filled. */
#define WINDOW		0x40000000ull
#define FILLED		64u

enum excuse {
	MAY_CANCEL = 1,			/* a reset of the device takes away what had begun */
	MAY_WEDGE = 2,			/* the device is given up */
	MAY_CORRUPT = 4,		/* the victim's data may be wrong */
	MAY_STALE = 8,			/* the victim may write to the page that was there before */
};

struct worker {
	unsigned int slot;		/* of its queue that copies */
	unsigned int epoch;		/* the last one in which a round began and has ended */
	unsigned int rounds;
	unsigned int own;		/* failures that it was meant to have */
	unsigned int lost;		/* jobs that a reset of the device took */
	unsigned int closed;		/* how often it has closed a device that was given up */
	unsigned int wrong;		/* what nothing excuses; the first is in text */
	char text[160];
};

/* Shared by all processes. The parent changes what is up here between rounds. */
struct load {
	uint64_t seed;
	volatile unsigned int stop, epoch, binds;
	volatile unsigned int victim, victim_own, excuses;
	volatile unsigned int remap, stale;	/* process + 1 that is to; its translation stays */
	volatile int error;		/* what the victim's jobs may say */
	struct worker worker[WORKERS];
};

static struct load *load;

static inline uint32_t load_random(uint64_t *seed)
{
	uint64_t z = *seed += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return (z ^ z >> 31) >> 32;
}

__attribute__((format(printf, 2, 3)))
static void load_wrong(unsigned int w, const char *format, ...)
{
	struct worker *worker = &load->worker[w];
	va_list ap;

	va_start(ap, format);
	if (!worker->wrong)
		vsnprintf(worker->text, sizeof(worker->text), format, ap);
	va_end(ap);
	__sync_fetch_and_add(&worker->wrong, 1);
}

/* True if @error, of a job or a call, ends the life of the file. */
static bool load_fatal(unsigned int w, int error)
{
	if (error != -EIO && error != -ENODEV)
		return false;
	if (!(load->excuses & MAY_WEDGE))
		load_wrong(w, "error %d, and the device is not given up", error);
	return true;
}

/* Judge the error of a job that is not fatal. */
static void load_judge(unsigned int w, int error)
{
	struct worker *worker = &load->worker[w];

	if (!error)
		return;
	if (load->victim == w && error == load->error)
		worker->own++;
	else if (error == -ECANCELED && (load->excuses & MAY_CANCEL))
		worker->lost++;
	else
		load_wrong(w, "error %d, %u was to have %d", error, load->victim, load->error);
}

/* The device was given up, all is closed: wait until it is there again. */
static void load_closed(unsigned int w)
{
	unsigned int binds = load->binds;

	load->worker[w].closed = binds + 1;
	/* seldom: on a slow kernel seven that look leave nothing to the one who is still working */
	while (load->binds == binds && !load->stop)
		usleep(20000);
}

/* ---- those who copy ---- */

struct copier {
	unsigned int w;
	uint64_t seed;
	struct gt_ctx c;
	uint32_t sync[3];
	struct gt_bo page[2];
	unsigned int now;		/* the page that is at WINDOW */
};

static void copier_open(struct copier *p)
{
	p->c = gt_ctx();
	for (unsigned int i = 0; i < 3; i++)
		p->sync[i] = gt_syncobj(p->c.fd, false);
	for (unsigned int i = 0; i < 2; i++)
		p->page[i] = gt_bo(p->c.fd, GT_PAGE, 0);
	gt_bo_bind(&p->page[0], p->c.vm, WINDOW, GT_RW);
	p->now = 0;
	load->worker[p->w].slot = gt_slot(p->c.fd, p->c.queue);
}

static void copier_close(struct copier *p)
{
	munmap(p->c.cmd.map, p->c.cmd.size);
	munmap(p->c.data.map, p->c.data.size);
	munmap(p->page[0].map, GT_PAGE);
	munmap(p->page[1].map, GT_PAGE);
	close(p->c.fd);
}

/* The error of job @i, or that of the ioctl about it once the device has gone. */
static int copier_error(struct copier *p, unsigned int i)
{
	struct drm_tessera_sync signal = gt_binary(p->sync[i]);
	int ret = gt_syncobj_wait(p->c.fd, signal.handle, 0, FENCE_LIMIT_MS);

	if (ret == -ETIME)
		load_wrong(p->w, "fence %u does not come", i);
	return ret ? ret : gt_fence_error(p->c.fd, signal.handle, 0);
}

/* Three jobs, one after the other: to the middle, to the end, into the window. */
static int copier_submit(struct copier *p, uint32_t mark)
{
	struct drm_tessera_sync signal[3];
	struct drm_tessera_job jobs[3];
	struct gt_cs cs[3];

	for (unsigned int i = 0; i < 3; i++) {
		cs[i] = gt_stream(&p->c, 8);
		signal[i] = gt_binary(p->sync[i]);
	}
	GT_EMIT(&cs[0], copy_linear, .src = gt_data_va(FROM), .dst = gt_data_va(MIDDLE),
		.size = SIZE);
	GT_EMIT(&cs[1], copy_linear, .src = gt_data_va(MIDDLE), .dst = gt_data_va(TO),
		.size = SIZE);
	GT_EMIT(&cs[2], fill_linear, .texel = 8, .dst = WINDOW, .size = FILLED, .pattern_lo = mark);
	for (unsigned int i = 0; i < 3; i++) {
		jobs[i] = gt_job(p->c.queue, &cs[i]);
		jobs[i].signals = GT_ARRAY(&signal[i], 1);
	}
	return gt_submit(p->c.fd, jobs, 3);
}

static void copier_check(struct copier *p, uint32_t mark)
{
	volatile uint32_t *page = p->page[p->now].map, *other = p->page[!p->now].map;
	const uint8_t *from = gt_data(&p->c, FROM), *to = gt_data(&p->c, TO);
	unsigned int differ = 0, filled = 0;

	for (unsigned int i = 0; i < SIZE; i++)
		differ += from[i] != to[i];
	for (unsigned int i = 0; i < FILLED / 4; i++)
		filled += page[i] == (i % 2 ? 0 : mark);
	if (differ && load->victim == p->w && (load->excuses & MAY_CORRUPT))
		load->worker[p->w].own++;
	else if (differ)
		load_wrong(p->w, "%u bytes of a copy differ", differ);
	if (filled == FILLED / 4)
		return;
	if (load->victim == p->w && other[0] == mark && (load->excuses & MAY_STALE))
		load->worker[p->w].own++;
	else if (load->victim == p->w && (load->excuses & MAY_CORRUPT))
		load->worker[p->w].own++;
	else
		load_wrong(p->w, "%u words of a page are not those of %#x", FILLED / 4 - filled,
			   mark);
}

/* The other page takes the place of the one in the window. */
static int copier_remap(struct copier *p)
{
	struct drm_tessera_bind_op op = gt_op_map(p->page[!p->now].handle, WINDOW, GT_PAGE, 0,
						  GT_RW);
	const bool asked = load->remap == p->w + 1;
	char script[60];
	unsigned int as;
	int ret;

	if (asked && load->stale) {
		gt_slot_as(p->c.fd, p->c.queue, &as);
		snprintf(script, sizeof(script), "tlb-stale as=%u", as);
		ret = gt_inject(script);
		if (ret)
			load_wrong(p->w, "'%s' is refused: %d", script, ret);
	}
	ret = gt_vm_bind(p->c.fd, p->c.vm, &op, 1);
	if (ret)
		return ret;
	p->now = !p->now;
	if (asked)
		load->remap = 0;
	return 0;
}

/* The queue is banned: that must be a fault's doing. */
static int copier_renew(struct copier *p)
{
	uint32_t queue;
	int ret;

	if (load->victim != p->w && !(load->excuses & MAY_WEDGE))
		load_wrong(p->w, "an innocent queue is banned");
	gt_queue_destroy(p->c.fd, p->c.queue);
	ret = gt_queue_try(p->c.fd, p->c.vm, DRM_TESSERA_ENGINE_COPY, DRM_TESSERA_PRIORITY_NORMAL,
			   0, &queue);
	if (ret)
		return ret;
	p->c.queue = queue;
	load->worker[p->w].slot = gt_slot(p->c.fd, queue);
	return 0;
}

/* After a failed job: 0 with a queue that works, or the error of a device that is given up. */
static int copier_failed(struct copier *p)
{
	struct drm_tessera_queue_get_state state = { .queue_id = p->c.queue };
	int ret = gt_ioctl(p->c.fd, DRM_IOCTL_TESSERA_QUEUE_GET_STATE, &state);

	if (!ret && (state.state & DRM_TESSERA_QUEUE_BANNED))
		ret = copier_renew(p);
	return ret;
}

/* A round: 0, or the error that ends the file's life. */
static int copier_round(struct copier *p)
{
	uint32_t *from = gt_data(&p->c, FROM), mark = load_random(&p->seed);
	int error[3] = { 0 }, ret;
	bool failed = false;

	for (unsigned int i = 0; i < SIZE / 4; i++)
		from[i] = (i + mark) * 2654435761u;
	memset(gt_data(&p->c, TO), 0, SIZE);
	ret = mark % 4 && load->remap != p->w + 1 ? 0 : copier_remap(p);
	ret = ret ? ret : copier_submit(p, mark);
	if (ret)
		return ret;
	for (unsigned int i = 0; i < 3; i++) {
		error[i] = copier_error(p, i);
		if (error[i] == -EIO || error[i] == -ENODEV)
			return error[i];
		/* later jobs of a queue are cancelled with its guilty job */
		if (failed && error[i] == -ECANCELED)
			continue;
		load_judge(p->w, error[i]);
		failed |= error[i] != 0;
	}
	if (failed)
		return copier_failed(p);
	copier_check(p, mark);
	return 0;
}

static int copy_worker(unsigned int w)
{
	struct copier p = { .w = w, .seed = load->seed + w };
	struct worker *worker = &load->worker[w];

	copier_open(&p);
	while (!load->stop) {
		unsigned int epoch = load->epoch;
		int ret = copier_round(&p);

		if (ret && load_fatal(w, ret)) {
			copier_close(&p);
			load_closed(w);
			if (load->stop)
				return 0;
			copier_open(&p);
		} else if (ret && ret != -ECANCELED) {
			load_wrong(w, "a call says %d", ret);
		} else if (ret && copier_failed(&p)) {
			load_wrong(w, "no queue instead of the banned one");
		}
		worker->rounds++;
		__sync_synchronize();
		worker->epoch = epoch;
	}
	copier_close(&p);
	return 0;
}

/* ---- the one who draws ---- */

#define SIDE		64
#define TRIANGLES	3000

struct drawer {
	struct gfxt t;
	struct tsr_gfx_pipeline *pipeline;
	uint64_t vertices;
	uint8_t texels[4 * SIDE * SIDE];
};

static void drawer_open(struct drawer *p)
{
	struct gfxt_vertex *v = calloc(3 * TRIANGLES, sizeof(*v));

	gfxt_open(&p->t);
	p->pipeline = gfxt_pipeline(&p->t, NULL);
	for (int i = 0; i < 3 * TRIANGLES; i++) {
		float x = (float)(i / 3 % 63) / 31 - 1, y = (float)(i / 3 / 63) / 24 - 1;

		v[i] = (struct gfxt_vertex) {
			{ x + (i % 3 == 1 ? 0.04f : 0), y + (i % 3 == 2 ? 0.04f : 0), 0, 1 },
			{ (float)(i % 7) / 6, (float)(i % 11) / 10, 1, 1 },
		};
	}
	p->vertices = gfxt_data(&p->t, v, 3 * TRIANGLES * sizeof(*v));
	free(v);
}

static void drawer_close(struct drawer *p)
{
	tsr_gfx_pipeline_unref(p->pipeline);
	gfxt_close(&p->t);
}

/* A picture, from a heap of one chunk that has to grow: 0 or an error. */
static int drawer_draw(struct drawer *p)
{
	const struct tsr_image_info info = {
		.format = TSR_PIXEL_FORMAT_RGBA8_UNORM, .width = SIDE, .height = SIDE,
		.samples = 1,
	};
	const struct tsr_gfx_draw all = { .count = 3 * TRIANGLES };
	struct tsr_gfx_pass_info target = { .color[0].load = TSR_GFX_LOAD_CLEAR };
	struct tsr_image *image = NULL;
	struct tsr_gfx_pass *pass = NULL;
	int ret = tsr_gfx_set_heap(p->t.gfx, 65536, 0);

	if (!ret)
		ret = tsr_image_create(p->t.vm, &info, sizeof(info), &image);
	target.color[0].image = image;
	if (!ret)
		ret = tsr_gfx_pass_create(p->t.gfx, &target, sizeof(target), &pass);
	if (!ret)
		ret = tsr_gfx_set_pipeline(pass, p->pipeline);
	if (!ret)
		ret = tsr_gfx_set_vertices(pass, 0, p->vertices,
					   3 * TRIANGLES * sizeof(struct gfxt_vertex));
	if (!ret)
		ret = tsr_gfx_draw(pass, &all);
	if (!ret)
		ret = tsr_gfx_run(pass, TSR_DEADLINE_NEVER);
	if (!ret)
		ret = tsr_image_read(image, 0, 0, p->texels, 4 * SIDE);
	if (pass)
		tsr_gfx_pass_destroy(pass);
	if (image)
		tsr_image_unref(image);
	return ret;
}

static int draw_worker(unsigned int w)
{
	struct worker *worker = &load->worker[w];
	static uint8_t good[4 * SIDE * SIDE];
	static struct drawer p;
	bool known = false;

	/* Its rounds are the longest, and all wait for the last. */
	setpriority(PRIO_PROCESS, 0, -8);
	drawer_open(&p);
	while (!load->stop) {
		unsigned int epoch = load->epoch;
		int ret = drawer_draw(&p);

		if (ret && load_fatal(w, ret)) {
			drawer_close(&p);
			load_closed(w);
			if (load->stop)
				return 0;
			drawer_open(&p);
		} else if (ret) {
			load_judge(w, ret);
		} else if (!known) {
			memcpy(good, p.texels, sizeof(good));
			known = true;
		} else if (memcmp(good, p.texels, sizeof(good))) {
			load_wrong(w, "a picture differs from the first");
		}
		worker->rounds++;
		__sync_synchronize();
		worker->epoch = epoch;
		usleep(20000);	/* the others are to have the processor too */
	}
	drawer_close(&p);
	return ktap.failed != 0;
}

#endif /* FAULTS_LOAD_H */
