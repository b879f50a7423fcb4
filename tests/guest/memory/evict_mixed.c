// SPDX-License-Identifier: MIT
/* test: TIMEOUT=200 SMP=2 MEM=512 DEVICE_ARGS=vram=64M CONSOLE=1 */
/*
 * One texture of three kinds of memory: a third of its pages are of a LOCAL BO that is evicted
 * again and again, a third of a BO in system memory, and a third are NULL pages. What is drawn with
 * it is known texel by texel.
 */
#include "gt_main.h"
#include "gfxdraw.h"

#define SIDE		1024u			/* of texture and target, 4 MiB */
#define TEXELS		(SIDE * SIDE)
#define PAGES		(4 * TEXELS / GT_PAGE)
#define PER_PAGE	(GT_PAGE / 4)		/* texels */
#define FRAMES		8u

static struct gfxt t;
static struct tsr_shader *fetching;
static uint32_t want[TEXELS], drawn[TEXELS];

static void change(struct tsr_gfx_pipeline_info *info, struct tsr_gfx_blend *blend)
{
	blend->registers = TSR_REGISTER_TYPE_U32;
	info->fragment = fetching;
}

/* Each pixel is the texel of its place. */
static struct tsr_gfx_pipeline *pipeline(void)
{
	char text[GFX_FETCH_TEXT];

	gfxt_fetch_text(text);
	fetching = gfxt_program(&t, text);
	return gfxt_pipeline(&t, change);
}

static struct tsr_image *image(uint32_t flags, uint32_t **words, uint64_t *va)
{
	const struct tsr_image_info info = {
		.format = TSR_PIXEL_FORMAT_R32UI, .width = SIDE, .height = SIDE, .bo_flags = flags,
	};
	struct tsr_surface surface = { 0 };
	struct tsr_image *made = NULL;
	void *cpu = NULL;

	if (tsr_image_create(t.vm, &info, sizeof(info), &made) ||
	    tsr_image_get_surface(made, 0, 0, 0, &surface, &cpu))
		gt_die("%s", tsr_error_message());
	ktap_eq(surface.pitch, 4 * SIDE);
	*words = cpu;
	*va = surface.va;
	return made;
}

static void draw(struct tsr_gfx_pipeline *p, struct tsr_image *from, struct tsr_image *to)
{
	static const float black[4], white[4] = { 1, 1, 1, 1 };
	static const uint32_t push[4];
	const struct tsr_view view = { .image = from };
	const struct tsr_gfx_bindings_info bindings = { .textures = &view, .texture_count = 1 };
	struct tsr_gfx_pass *pass = gfxt_one(&t, to, black);

	ktap_eq(tsr_gfx_set_bindings(pass, TSR_GFX_STAGE_FRAGMENT, &bindings, sizeof(bindings)), 0);
	ktap_eq(tsr_gfx_set_push(pass, TSR_GFX_STAGE_FRAGMENT, 0, 4, push), 0);
	gfxt_fill(&t, pass, p, 0, white);
	gfxt_drawn(pass);
	gfxt_read(to, 0, 0, drawn, 4 * SIDE);
}

static uint64_t evictions(void)
{
	return gt_gpu_state(tsr_device_fd(t.device)).evictions;
}

static void evict(void)
{
	char path[128];

	gt_debugfs("evict", path, sizeof(path));
	ktap_eq(gt_write_file(path, "0"), 0);
}

static unsigned int wrong_texels(void)
{
	unsigned int wrong = 0;

	for (uint32_t i = 0; i < TEXELS; i++)
		wrong += drawn[i] != want[i];
	return wrong;
}

static uint32_t texel(uint32_t i, uint32_t seed)
{
	return (i + seed) * 2654435761u + 1;
}

/* Pages @a to @b - 1 are of system memory, those from @b on NULL. */
static void three_kinds(struct tsr_gfx_pipeline *p, uint32_t a, uint32_t b)
{
	const int fd = tsr_device_fd(t.device);
	const uint32_t vm = tsr_vm_id(t.vm);
	struct gt_bo system = gt_bo(fd, (b - a) * GT_PAGE, 0);
	uint32_t *words, *seen, *in_system = system.map;
	uint64_t va, unused, before = evictions();
	struct tsr_image *mixed = image(DRM_TESSERA_BO_LOCAL, &words, &va);
	struct tsr_image *target = image(DRM_TESSERA_BO_CACHED, &seen, &unused);
	const struct drm_tessera_bind_op ops[] = {
		gt_op_map(system.handle, va + a * GT_PAGE, system.size, 0, GT_RW),
		{ .op = DRM_TESSERA_BIND_MAP_NULL, .va = va + b * GT_PAGE,
		  .size = (PAGES - b) * GT_PAGE },
	};

	ktap_eq(gt_vm_bind(fd, vm, ops, GT_ARRAY_SIZE(ops)), 0);
	/* what the LOCAL BO has behind its third is not part of the texture */
	for (uint32_t i = 0; i < TEXELS; i++)
		words[i] = texel(i, 0);
	for (uint32_t i = a * PER_PAGE; i < b * PER_PAGE; i++)
		in_system[i - a * PER_PAGE] = texel(i, 77);
	for (uint32_t i = 0; i < TEXELS; i++)
		want[i] = i < a * PER_PAGE ? texel(i, 0) : i < b * PER_PAGE ? texel(i, 77) : 0;
	for (uint32_t frame = 0; frame < FRAMES; frame++) {
		draw(p, mixed, target);
		ktap_eq(wrong_texels(), 0);
		evict();
		/* the CPU writes where the texture is now */
		words[frame * 1000] = frame;
		want[frame * 1000] = frame;
		in_system[frame * 1000] = ~frame;
		want[a * PER_PAGE + frame * 1000] = ~frame;
	}
	ktap_ok(evictions() - before >= FRAMES);
	ktap_eq(gt_vm_state(fd, vm, NULL).fault_count, 0);
	tsr_image_unref(mixed);
	tsr_image_unref(target);
	gt_bo_free(&system);
}

static void texture(void)
{
	struct tsr_gfx_pipeline *p;

	gfxt_open(&t);
	p = pipeline();
	three_kinds(p, PAGES / 3, 2 * PAGES / 3);
	/* half of it, and few pages of system memory */
	three_kinds(p, PAGES / 2, PAGES / 2 + 7);
	tsr_shader_unref(fetching);
	tsr_gfx_pipeline_unref(p);
	gfxt_close(&t);
}

int main(int argc, char **argv)
{
	gt_start(argc, argv);
	ktap_run("[MEM7] a texture in local memory, in system memory and nowhere", texture);
	return gt_finish();
}
