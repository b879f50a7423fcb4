// SPDX-License-Identifier: MIT
/*
 * The cost of eviction. SUBMIT with many LOCAL BOs in its VM and nothing evicted, beside as many
 * BOs in system memory. Moves by the CPU, beside the copy engine. Frames whose textures are a
 * multiple of local memory, beside the same textures in system memory.
 *
 *	residency [submits|moves|frames]	all figures, or one kind of them
 */
#include "gt.h"
#include "gfxdraw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "figures.h"

#define MIB		(1ULL << 20)
#define VA		0x40000000ULL
#define PAIRS		10		/* interleaved pairs of a comparison */
#define SAMPLES		101		/* SUBMITs of one figure */
#define MOVED		(32 * MIB)
#define MOVES		7

/* ---- SUBMIT ---- */

/* A VM with BOs, which its SUBMIT has to lock if they are shared. */
struct load {
	struct gt_ctx c;
	struct gt_cs empty;	/* a stream of one NOP */
	uint32_t handle[1000];
	unsigned int count;
};

static void load_open(struct load *l, unsigned int count, uint32_t flags, bool private)
{
	unsigned int i;

	l->c = gt_ctx();
	l->empty = gt_stream(&l->c, 1);
	GT_EMIT(&l->empty, nop, .qwords = 1);
	l->count = count;
	for (i = 0; i < count; i++) {
		struct drm_tessera_bind_op op;

		if (gt_bo_try(l->c.fd, GT_PAGE, flags, private ? l->c.vm : 0, &l->handle[i]))
			gt_die("BO_CREATE fails");
		op = gt_op_map(l->handle[i], VA + i * GT_PAGE, GT_PAGE, 0, GT_RW);
		if (gt_vm_bind(l->c.fd, l->c.vm, &op, 1))
			gt_die("VM_BIND fails");
	}
}

static void load_close(struct load *l)
{
	struct drm_tessera_bind_op op = gt_op_unmap(VA, 1000 * GT_PAGE);
	unsigned int i;

	gt_vm_bind(l->c.fd, l->c.vm, &op, 1);
	for (i = 0; i < l->count; i++)
		gt_gem_close(l->c.fd, l->handle[i]);
	gt_ctx_free(&l->c);
}

/* Time of the ioctl alone, in nanoseconds. The job ends before the next one. */
static double submit_ns(struct load *l)
{
	struct drm_tessera_sync done = gt_binary(l->c.sync);
	uint64_t start = gt_now_ns(), end;

	if (gt_kick(&l->c, l->c.queue, &l->empty, &done))
		gt_die("a submit fails");
	end = gt_now_ns();
	gt_syncobj_wait(l->c.fd, l->c.sync, 0, GT_TIMEOUT_MS);
	return end - start;
}

/* Loads whose SUBMITs alternate, so that a change of the host's speed meets all of them. */
enum { LOCAL, SYSTEM, CONTROL, LOADS };
static const char *const load_name[LOADS] = { "local", "system", "control" };

static void medians(struct load load[LOADS], double median[LOADS])
{
	static double ns[LOADS][SAMPLES];

	for (unsigned int i = 0; i < SAMPLES; i++)
		for (unsigned int n = 0; n < LOADS; n++)
			ns[n][i] = submit_ns(&load[n]);
	for (unsigned int n = 0; n < LOADS; n++)
		median[n] = figure_middle(ns[n], SAMPLES);
}

/* The control is a second load in system memory: its ratio to the first one is the noise. */
static void submits(unsigned int count, bool private)
{
	static struct load load[LOADS];
	double ns[LOADS][PAIRS], ratio[LOADS][PAIRS], one[LOADS];
	const char *kind = private ? "private" : "shared";
	char name[64];

	for (unsigned int n = 0; n < LOADS; n++)
		load_open(&load[n], count, (n == LOCAL ? DRM_TESSERA_BO_LOCAL : 0) |
			  DRM_TESSERA_BO_NO_MMAP, private);
	medians(load, one);
	for (unsigned int i = 0; i < PAIRS; i++) {
		medians(load, one);
		for (unsigned int n = 0; n < LOADS; n++) {
			ns[n][i] = one[n];
			ratio[n][i] = one[n] / one[SYSTEM];
		}
	}
	for (unsigned int n = 0; n < LOADS; n++) {
		snprintf(name, sizeof(name), "submit_%u_%s_%s", count, kind, load_name[n]);
		figure_print(name, figure_middle(ns[n], PAIRS) / 1e3, "us");
		if (n == SYSTEM)
			continue;
		snprintf(name, sizeof(name), "submit_%u_%s_%s_to_system", count, kind,
			 load_name[n]);
		figure_print(name, figure_middle(ratio[n], PAIRS), "ratio");
		snprintf(name, sizeof(name), "submit_%u_%s_%s_to_system_spread", count, kind,
			 load_name[n]);
		figure_print(name, ratio[n][PAIRS - 1] - ratio[n][0], "ratio");
	}
	for (unsigned int n = 0; n < LOADS; n++)
		load_close(&load[n]);
}

/* ---- moves ---- */

static void copy(struct gt_ctx *c, uint64_t src, uint64_t dst)
{
	struct gt_cs cs = gt_stream(c, 4);

	GT_EMIT(&cs, copy_linear, .src = src, .dst = dst, .size = MOVED);
	if (gt_run(c, &cs))
		gt_die("a copy fails");
}

/* The driver moves a BO out by debugfs, and back in the next SUBMIT. */
static void driver_moves(struct gt_ctx *c, double *out, double *in)
{
	struct gt_cs cs = gt_stream(c, 1);
	struct drm_tessera_gpu_state before, after;
	struct drm_tessera_sync done = gt_binary(c->sync);
	uint64_t start, middle;
	char path[128];

	GT_EMIT(&cs, nop, .qwords = 1);
	gt_debugfs("evict", path, sizeof(path));
	before = gt_gpu_state(c->fd);
	start = gt_now_ns();
	gt_write_file(path, "0");
	middle = gt_now_ns();
	*out = middle - start;
	if (gt_kick(c, c->queue, &cs, &done))
		gt_die("a submit fails");
	*in = gt_now_ns() - middle;
	gt_syncobj_wait(c->fd, c->sync, 0, GT_TIMEOUT_MS);
	after = gt_gpu_state(c->fd);
	if (after.evicted_bytes - before.evicted_bytes != MOVED ||
	    after.restored_bytes - before.restored_bytes != MOVED)
		gt_die("the BO does not move");
}

/* As much of a move out as is not the copy: pages of a BO in system memory, their entries. */
static double allocate_ns(struct gt_ctx *c)
{
	struct drm_tessera_bind_op unmap = gt_op_unmap(3 * VA, MOVED);
	struct gt_bo bo = { .fd = c->fd, .size = MOVED };
	uint64_t start = gt_now_ns();
	double ns;

	if (gt_bo_try(c->fd, MOVED, DRM_TESSERA_BO_NO_MMAP, 0, &bo.handle))
		gt_die("BO_CREATE fails");
	gt_bo_bind(&bo, c->vm, 3 * VA, GT_RW);
	ns = gt_now_ns() - start;
	gt_vm_bind(c->fd, c->vm, &unmap, 1);
	gt_bo_free(&bo);
	return ns;
}

static void rate(const char *name, double ns[MOVES])
{
	figure_print(name, MOVED * 1e9 / MIB / figure_middle(ns, MOVES), "MiB/s");
}

static void moves(void)
{
	double out[MOVES], in[MOVES], engine_out[MOVES], engine_in[MOVES], load[MOVES];
	double pages[MOVES];
	struct gt_ctx c = gt_ctx();
	struct gt_bo local = gt_bo(c.fd, MOVED, DRM_TESSERA_BO_LOCAL);
	struct gt_bo system = gt_bo(c.fd, MOVED, DRM_TESSERA_BO_CACHED);
	unsigned int i;

	gt_bo_bind(&local, c.vm, VA, GT_RW);
	gt_bo_bind(&system, c.vm, 2 * VA, GT_RW);
	memset(local.map, 1, MOVED);
	memset(system.map, 2, MOVED);
	for (i = 0; i < MOVES; i++) {
		uint64_t start;

		driver_moves(&c, &out[i], &in[i]);
		pages[i] = allocate_ns(&c);
		start = gt_now_ns();
		copy(&c, VA, 2 * VA);
		engine_out[i] = gt_now_ns() - start;
		start = gt_now_ns();
		copy(&c, 2 * VA, VA);
		engine_in[i] = gt_now_ns() - start;
		start = gt_now_ns();
		memcpy(system.map, local.map, MOVED);
		load[i] = gt_now_ns() - start;
	}
	rate("move_out_cpu", out);
	rate("move_in_cpu", in);
	rate("allocate_system", pages);
	rate("copy_out_engine", engine_out);
	rate("copy_in_engine", engine_in);
	rate("memcpy_out_bar", load);
	gt_bo_free(&local);
	gt_bo_free(&system);
	gt_ctx_free(&c);
}

/* ---- frames ---- */

#define SIDE		1024u		/* of a texture, 4 MiB */
#define TEXTURE		(4ULL * SIDE * SIDE)
#define TARGET		256u
#define FRAMES		40u
#define TEXTURES_MAX	256u

static struct gfxt t;
static struct tsr_shader *fetching;

static void fetch_texels(struct tsr_gfx_pipeline_info *info, struct tsr_gfx_blend *blend)
{
	blend->registers = TSR_REGISTER_TYPE_U32;
	info->fragment = fetching;
}

/* Each pixel is the texel of its place. */
static struct tsr_gfx_pipeline *pipeline(void)
{
	struct tsr_gfx_pipeline *p;
	char text[GFX_FETCH_TEXT];

	gfxt_fetch_text(text);
	fetching = gfxt_program(&t, text);
	p = gfxt_pipeline(&t, fetch_texels);
	tsr_shader_unref(fetching);
	return p;
}

static struct tsr_image *texture(uint32_t flags)
{
	const struct tsr_image_info info = {
		.format = TSR_PIXEL_FORMAT_R32UI, .width = SIDE, .height = SIDE, .bo_flags = flags,
	};
	struct tsr_image *image = NULL;

	if (tsr_image_create(t.vm, &info, sizeof(info), &image))
		gt_die("%s", tsr_error_message());
	return image;
}

/* A pass that draws a picture from each texture. */
static struct tsr_gfx_pass *scene(struct tsr_gfx_pipeline *p, struct tsr_image *target,
				  struct tsr_image **image, unsigned int count)
{
	static const float black[4], white[4] = { 1, 1, 1, 1 };
	static const uint32_t words[4];
	struct tsr_gfx_pass *pass = gfxt_one(&t, target, black);
	unsigned int i;

	for (i = 0; i < count; i++) {
		const struct tsr_view view = { .image = image[i] };
		const struct tsr_gfx_bindings_info bindings = {
			.textures = &view, .texture_count = 1,
		};

		if (tsr_gfx_set_bindings(pass, TSR_GFX_STAGE_FRAGMENT, &bindings,
					 sizeof(bindings)) ||
		    tsr_gfx_set_push(pass, TSR_GFX_STAGE_FRAGMENT, 0, 4, words))
			gt_die("%s", tsr_error_message());
		gfxt_fill(&t, pass, p, 0, white);
	}
	return pass;
}

/* The first frames bring in what fits. Return: the median of the later ones, in nanoseconds. */
static double frames_ns(unsigned int count, uint32_t flags)
{
	static struct tsr_image *image[TEXTURES_MAX];
	struct tsr_gfx_pipeline *p;
	struct tsr_gfx_pass *pass;
	struct tsr_image *target;
	double ns[FRAMES];
	unsigned int i;

	gfxt_open(&t);
	p = pipeline();
	target = gfxt_image(&t, TSR_PIXEL_FORMAT_R32UI, TARGET, 1);
	for (i = 0; i < count; i++)
		image[i] = texture(flags);
	pass = scene(p, target, image, count);
	for (i = 0; i < 2 * FRAMES; i++) {
		uint64_t start = gt_now_ns();

		if (tsr_gfx_run(pass, TSR_DEADLINE_NEVER))
			gt_die("a frame fails: %s", tsr_error_message());
		ns[i % FRAMES] = gt_now_ns() - start;
	}
	tsr_gfx_pass_destroy(pass);
	for (i = 0; i < count; i++)
		tsr_image_unref(image[i]);
	tsr_image_unref(target);
	tsr_gfx_pipeline_unref(p);
	gfxt_close(&t);
	return figure_middle(ns, FRAMES);
}

static void frames(uint64_t local, unsigned int times)
{
	struct gt_ctx c = gt_ctx();
	struct drm_tessera_gpu_state before = gt_gpu_state(c.fd), after;
	unsigned int count = local * times / TEXTURE;
	double ours, theirs;
	char name[64];

	if (count > TEXTURES_MAX)
		gt_die("local memory is too large for this benchmark: run it with vram=64M");
	ours = frames_ns(count, DRM_TESSERA_BO_LOCAL);
	after = gt_gpu_state(c.fd);
	theirs = frames_ns(count, DRM_TESSERA_BO_CACHED);
	snprintf(name, sizeof(name), "frame_%ux_local", times);
	figure_print(name, ours / 1e6, "ms");
	snprintf(name, sizeof(name), "frame_%ux_system", times);
	figure_print(name, theirs / 1e6, "ms");
	snprintf(name, sizeof(name), "frame_%ux_moved", times);
	figure_print(name, (double)(after.evicted_bytes - before.evicted_bytes +
				    after.restored_bytes - before.restored_bytes) / MIB, "MiB");
	gt_ctx_free(&c);
}

static void all_submits(void)
{
	static const unsigned int counts[] = { 0, 100, 1000 };

	for (size_t i = 0; i < GT_ARRAY_SIZE(counts); i++) {
		submits(counts[i], true);
		submits(counts[i], false);
	}
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : NULL;
	uint64_t local;
	struct gt_ctx c = gt_ctx();

	local = gt_gpu_info(c.fd).local_size;
	gt_ctx_free(&c);
	if (!local) {
		printf("# residency: the device has no local memory\n");
		return 0;
	}
	if (!kind || !strcmp(kind, "submits"))
		all_submits();
	if (!kind || !strcmp(kind, "moves"))
		moves();
	for (unsigned int i = 1; i <= 4 && (!kind || !strcmp(kind, "frames")); i *= 2)
		frames(local, i);
	return 0;
}
