// SPDX-License-Identifier: MIT
/*
 * Every function of tessera/gfx.h called wrongly: an error, a message with the word that matters,
 * and nothing recorded. Each case changes one thing of a call that is right.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "fake_drm.h"
#include "gfxt.h"
#include "tsr_regs.h"

static const struct drm_tessera_shader_info cores = {
	.cores = 2, .warp_lanes = 16, .core_warps = 128, .max_group_threads = 1024,
	.max_group_memory = 65536, .max_groups = 65535, .max_scratch = 65536,
	.max_push_words = 256,
};

static struct gfxt t;
static struct tsr_image *image, *depth, *tagged, *small;

static struct tsr_image *make_image(const struct tsr_image_info *info)
{
	struct tsr_image *made = NULL;

	if (!ktap_eq(tsr_image_create(t.vm, info, sizeof(*info), &made), 0))
		ktap_note("%s", tsr_error_message());
	return made;
}

static void set_up(void)
{
	t.device = fake_open_shader(&cores);
	fake.graphics = true;
	tsr_device_unref(t.device);
	ktap_eq(tsr_device_open_fd(fake.fd, &t.device), 0);
	gfxt_set_up(&t);
	image = gfxt_image(&t, TSR_PIXEL_FORMAT_RGBA8_UNORM, 64, 1);
	small = gfxt_image(&t, TSR_PIXEL_FORMAT_RGBA8_UNORM, 32, 1);
	depth = gfxt_image(&t, TSR_PIXEL_FORMAT_R32F, 64, 1);
	tagged = make_image(&(struct tsr_image_info) {
		.format = TSR_PIXEL_FORMAT_RGBA8_UNORM, .width = 64, .height = 64, .layers = 2,
		.flags = TSR_IMAGE_COMPRESSED });
}

static void tear_down(void)
{
	struct tsr_device *device = t.device;

	tsr_image_unref(image);
	tsr_image_unref(small);
	tsr_image_unref(depth);
	tsr_image_unref(tagged);
	t.device = NULL;
	gfxt_close(&t);
	fake_close(device);
}

/* The call's result, and a message that has @word. */
static void refused(int ret, int error, const char *word, const char *what)
{
	if (!ktap_eq(ret, -error) || !ktap_ok(strstr(tsr_error_message(), word)))
		ktap_note("%s: '%s' in: %s", what, word, tsr_error_message());
}

/* ---- Images and views ------------------------------------------------------------------------ */

#define RGBA8 .format = TSR_PIXEL_FORMAT_RGBA8_UNORM

static const struct bad_image {
	struct tsr_image_info info;
	const char *word;
} bad_images[] = {
	{ { RGBA8 }, "0 x 1" },
	{ { .format = 0, .width = 4 }, "format 0" },
	{ { .format = 0x100, .width = 4 }, "format 256" },
	{ { RGBA8, .width = 4, .order = 0x1000 }, "order" },
	{ { RGBA8, .width = 4, .layout = 2 }, "layout 2" },
	{ { RGBA8, .width = 4, .flags = 8 }, "flags 0x8" },
	{ { RGBA8, .width = 16385 }, "16385" },
	{ { RGBA8, .width = 4, .height = 16385 }, "16385" },
	{ { RGBA8, .width = 4, .layers = 2049 }, "2049 layers" },
	{ { RGBA8, .width = 4, .levels = 4 }, "4 levels" },
	{ { RGBA8, .width = 4, .samples = 3 }, "3 samples" },
	{ { RGBA8, .width = 4, .samples = 32 }, "32 samples" },
	{ { RGBA8, .width = 4, .samples = 4, .levels = 2 }, "4 samples" },
	{ { RGBA8, .width = 4, .samples = 4, .depth = 2 }, "4 samples" },
	{ { RGBA8, .width = 4, .depth = 4, .layers = 2 }, "volume" },
	{ { RGBA8, .width = 4, .height = 4, .layers = 5, .flags = TSR_IMAGE_CUBE }, "cube" },
	{ { RGBA8, .width = 4, .height = 2, .layers = 6, .flags = TSR_IMAGE_CUBE }, "cube" },
	{ { RGBA8, .width = 4, .levels = 2, .flags = TSR_IMAGE_COMPRESSED }, "COMPRESSED" },
	{ { RGBA8, .width = 4, .depth = 2, .flags = TSR_IMAGE_COMPRESSED }, "COMPRESSED" },
};

static const struct bad_view {
	struct tsr_view view;
	const char *word;
} bad_views[] = {
	{ { .first_level = 1 }, "levels 1" },
	{ { .levels = 2 }, "levels 0 + 2" },
	{ { .first_layer = 1 }, "layers 1" },
	{ { .layers = 2 }, "layers 0 + 2" },
	{ { .format = TSR_PIXEL_FORMAT_R8_UNORM }, "format" },
	{ { .dimension = TSR_VIEW_3D }, "dimension" },
	{ { .dimension = TSR_VIEW_CUBE }, "dimension" },
	{ { .dimension = TSR_VIEW_1D }, "dimension" },
	{ { .dimension = 9 }, "dimension" },
};

static void images(void)
{
	struct tsr_image *none = NULL;
	struct tsr_surface surface;
	struct tsr_gfx_pass_info pass_info = { 0 };
	struct tsr_gfx_pass *pass = NULL;
	uint8_t texels[256];

	set_up();
	for (size_t i = 0; i < sizeof(bad_images) / sizeof(bad_images[0]); i++)
		refused(tsr_image_create(t.vm, &bad_images[i].info, sizeof(bad_images[i].info),
					 &none), EINVAL,
			bad_images[i].word, "image");
	ktap_ok(!none);
	pass_info.color[0].image = small;
	ktap_eq(tsr_gfx_pass_create(t.gfx, &pass_info, sizeof(pass_info), &pass), 0);
	for (size_t i = 0; i < sizeof(bad_views) / sizeof(bad_views[0]); i++) {
		struct tsr_view view = bad_views[i].view;
		const struct tsr_gfx_bindings_info bindings = { .textures = &view,
								.texture_count = 1 };

		view.image = image;
		refused(tsr_gfx_set_bindings(pass, TSR_GFX_STAGE_FRAGMENT, &bindings,
					     sizeof(bindings)), EINVAL, bad_views[i].word, "view");
		tsr_gfx_pass_reset(pass);
	}
	tsr_gfx_pass_destroy(pass);
	refused(tsr_image_get_surface(image, 1, 0, 0, &surface, NULL), EINVAL, "level 1", "get");
	refused(tsr_image_get_surface(image, 0, 1, 0, &surface, NULL), EINVAL, "layer 1", "get");
	refused(tsr_image_get_surface(image, 0, 0, 1, &surface, NULL), EINVAL, "sample 1", "get");
	refused(tsr_image_write(image, 1, 0, texels, 256), EINVAL, "level 1", "write");
	refused(tsr_image_read(image, 0, 0, texels, 255), EINVAL, "255 bytes", "read");
	refused(tsr_image_write(image, 0, 0, texels, 255), EINVAL, "255 bytes", "write");
	tear_down();
}

/* ---- Pipelines ------------------------------------------------------------------------------- */

/* A change to a pipeline that is right; the word its message must have. */
#define CASES(X) \
	X("no vertex program", i->vertex = NULL) \
	X("another one", i->vertex_flags = TSR_GFX_VERTEX_ONE_SHADER) \
	X("begins at 8", i->vertex_entry = 8) \
	X("begins at", i->varying_entry = 1 << 20) \
	X("begins at", i->fragment_entry = 1 << 20) \
	X("flags 0x40", i->vertex_flags = 0x40) \
	X("0x400", i->fragment_flags = 0x400) \
	X("0x2000", i->raster = 0x2000) \
	X("no program computes", i->varying = NULL) \
	X("clip distances 0x1", i->clip_distances = 1) \
	X("in both", i->vertex_flags = TSR_GFX_VERTEX_DISTANCES; i->clip_distances = 3; \
	  i->cull_distances = 2) \
	X("preload", i->preload[0].kind = 3) \
	X("preload", i->preload[1].components = 5) \
	X("preload", i->preload[0].varying = 256) \
	X("preload", i->preload[1].texture = 256) \
	X("17 attributes", i->attribute_count = 17) \
	X("17 buffers", i->buffer_count = 17) \
	X("33 varyings", i->varying_count = 33) \
	X("9 blends", i->blend_count = 9) \
	X("attribute 1 of buffer 1", i->attributes = bad_buffer) \
	X("format 0", i->attributes = bad_format) \
	X("interpolation 3", i->varyings = bad_interpolation) \
	X("output 32", i->varyings = bad_output) \
	X("topology 7", i->topology = 7) \
	X("patches", i->topology = 12) \
	X("does not exist", i->depth.function = 8) \
	X("does not exist", i->depth.front.pass = 8) \
	X("does not exist", i->depth.back.function = 8) \
	X("does not exist", i->logic_op = 16) \
	X("does not exist", i->depth_layout = 4) \
	X("does not exist", i->sample_mask = 0x10000) \
	X("blend 0", b->mask = 0x10) \
	X("blend 0", b->src_color = 19) \
	X("blend 0", b->dst_alpha = 19) \
	X("blend 0", b->color_op = 5) \
	X("blend 0", b->alpha_op = 5) \
	X("blend 0", b->registers = 6)

static const struct tsr_gfx_attribute bad_buffer[] = {
	{ .format = TSR_PIXEL_FORMAT_RGBA32F }, { .buffer = 1, .format = TSR_PIXEL_FORMAT_RGBA32F },
};
static const struct tsr_gfx_attribute bad_format[] = { { .format = 0 }, { .format = 0 } };
static const struct tsr_gfx_varying bad_interpolation[] = {
	{ .format = TSR_PIXEL_FORMAT_RGBA32F, .output = 1, .interpolation = 3 },
};
static const struct tsr_gfx_varying bad_output[] = {
	{ .format = TSR_PIXEL_FORMAT_RGBA32F, .output = 32 },
};

static int which;
static const char *word;

static void alter(struct tsr_gfx_pipeline_info *i, struct tsr_gfx_blend *b)
{
	int n = 0;

	i->label = "name";
#define X(text, change) \
	if (n++ == which) { \
		word = text; \
		change; \
	}
	CASES(X)
#undef X
	(void)b;
}

static int create_altered(void)
{
	struct tsr_gfx_pipeline *pipeline = NULL;
	int ret;

	word = NULL;
	ret = gfxt_pipeline_try(&t, alter, &pipeline);
	ktap_ok((ret == 0) == (pipeline != NULL));
	tsr_gfx_pipeline_unref(pipeline);
	return ret;
}

static void pipelines(void)
{
	set_up();
	which = -1;
	ktap_eq(create_altered(), 0);
	for (which = 0;; which++) {
		int ret = create_altered();

		if (!word)
			break;
		refused(ret, EINVAL, word, "pipeline");
		ktap_ok(strstr(tsr_error_message(), "'name'") != NULL);
	}
	ktap_ok(which > 30);
	tear_down();
}

/* ---- Passes ---------------------------------------------------------------------------------- */

#define PASSES(X) \
	X("0 x 0", i->color[0].image = NULL; i->depth.image = NULL) \
	X("65 x 64", i->width = 65) \
	X("layers 0 + 2", i->layers = 2) \
	X("level 1", i->color[0].level = 1) \
	X("layers 1", i->color[0].layer = 1) \
	X("3 samples", i->samples = 3) \
	X("32 samples", i->samples = 32) \
	X("load 3", i->color[0].load = 3) \
	X("same size", i->color[0].format = TSR_PIXEL_FORMAT_R8_UNORM) \
	X("texels", i->color[1].image = small) \
	X("depth target with format", i->depth.image = image) \
	X("stencil target with format", i->stencil.image = image) \
	X("load 1", i->depth.image = NULL; i->depth.format = TSR_PIXEL_FORMAT_R32F; \
	  i->depth.load = TSR_GFX_LOAD_CONTENT) \
	X("tiles", i->tile_shift = 9) \
	X("tiles", i->tile_shift = 1) \
	X("layer 1", i->color[1].image = tagged; i->color[1].layer = 1) \
	X("TSR_IMAGE_COMPRESSED", i->width = i->height = 32; i->color[0].image = tagged) \
	X("TSR_IMAGE_COMPRESSED", i->samples = 4; i->color[0].image = tagged) \
	X("of stencil", i->layers = 1; i->stencil.image = tagged; \
	  i->stencil.format = TSR_PIXEL_FORMAT_X24S8) \
	X("share words", i->layers = 1; i->depth.image = tagged; \
	  i->depth.format = TSR_PIXEL_FORMAT_Z24X8_UNORM; \
	  i->stencil.format = TSR_PIXEL_FORMAT_X24S8)

static int pass_altered(void)
{
	struct tsr_gfx_pass_info info = {
		.color[0] = { .image = image, .load = TSR_GFX_LOAD_CLEAR },
		.depth = { .image = depth, .load = TSR_GFX_LOAD_CLEAR },
	}, *i = &info;
	struct tsr_gfx_pass *pass = NULL;
	int n = 0, ret;

	word = NULL;
#define X(text, change) \
	if (n++ == which) { \
		word = text; \
		change; \
	}
	PASSES(X)
#undef X
	ret = tsr_gfx_pass_create(t.gfx, &info, sizeof(info), &pass);
	ktap_ok((ret == 0) == (pass != NULL));
	tsr_gfx_pass_destroy(pass);
	return ret;
}

static void passes(void)
{
	set_up();
	which = -1;
	ktap_eq(pass_altered(), 0);
	for (which = 0;; which++) {
		int ret = pass_altered();

		if (!word)
			break;
		refused(ret, EINVAL, word, "pass");
	}
	refused(tsr_gfx_set_heap(t.gfx, 0, 0), EINVAL, "heap of 0x0", "heap");
	refused(tsr_gfx_set_heap(t.gfx, 65537, 0), EINVAL, "multiples", "heap");
	refused(tsr_gfx_set_heap(t.gfx, 131072, 65536), EINVAL, "0x20000 to 0x10000", "heap");
	tear_down();
}

/* ---- Recording ------------------------------------------------------------------------------- */

static const struct tsr_gfx_draw three = { .count = 3 };
static const float numbers[6];
static const struct tsr_gfx_viewport whole = { 0, 0, 1, 1, 0, 1 },
	unlimited = { .width = INFINITY, .height = 1 },
	narrow = { .width = 0, .height = 1 }, flat_one = { .width = 1, .height = 0 };
static const struct tsr_rect rect = { .width = 1, .height = 1 };
static const struct tsr_storage no_bytes = { .va = 0x1000, .size = 0 };
static const struct tsr_uniform uneven = { .va = 0x1008, .size = 16 };

/* Calls on a pass with a pipeline and vertices; each leaves the pass with its error. */
#define CALLS(X) \
	X(EINVAL, "viewport 16", tsr_gfx_set_viewport(p, 16, &whole)) \
	X(EINVAL, "number inf", tsr_gfx_set_viewport(p, 0, &unlimited)) \
	X(EINVAL, "0 x 1", tsr_gfx_set_viewport(p, 0, &narrow)) \
	X(EINVAL, "1 x 0", tsr_gfx_set_viewport(p, 0, &flat_one)) \
	X(EINVAL, "scissor 16", tsr_gfx_set_scissor(p, 16, &rect)) \
	X(EINVAL, "lines 0", tsr_gfx_set_width(p, 0, 1)) \
	X(EINVAL, "points -1", tsr_gfx_set_width(p, 1, -1)) \
	X(EINVAL, "stages 0x0", tsr_gfx_set_push(p, 0, 0, 1, numbers)) \
	X(EINVAL, "stages 0x4", tsr_gfx_set_push(p, 4, 0, 1, numbers)) \
	X(EINVAL, "push words", tsr_gfx_set_push(p, 1, TSR_PUSH_WORDS_MAX, 1, numbers)) \
	X(EINVAL, "vertex buffer 16", tsr_gfx_set_vertices(p, 16, 0, 0)) \
	X(EINVAL, "2^56", tsr_gfx_set_vertices(p, 0, 64, 1ull << 56)) \
	X(EINVAL, "vertex buffer 0", tsr_gfx_set_vertices(p, 0, -16ull, 32)) \
	X(EINVAL, "type 0", tsr_gfx_set_indices(p, TSR_INDEX_TYPE_NONE, 0, 4)) \
	X(EINVAL, "aligned", tsr_gfx_set_indices(p, TSR_INDEX_TYPE_U32, 2, 4)) \
	X(EINVAL, "aligned", tsr_gfx_set_indices(p, TSR_INDEX_TYPE_U16, 1, 4)) \
	X(EINVAL, "stages 0x8", tsr_gfx_set_bindings(p, 8, &(struct tsr_gfx_bindings_info){ 0 }, \
						     sizeof(struct tsr_gfx_bindings_info))) \
	X(EINVAL, "storage buffer 0", tsr_gfx_set_bindings(p, 2, &(struct tsr_gfx_bindings_info) { \
		.storage = &no_bytes, .storage_count = 1 }, sizeof(struct tsr_gfx_bindings_info))) \
	X(EINVAL, "17 storage", tsr_gfx_set_bindings(p, 2, &(struct tsr_gfx_bindings_info) { \
		.storage = &no_bytes, .storage_count = 17 }, \
		sizeof(struct tsr_gfx_bindings_info))) \
	X(EINVAL, "17 textures", tsr_gfx_set_bindings(p, 2, &(struct tsr_gfx_bindings_info) { \
		.texture_count = 17 }, sizeof(struct tsr_gfx_bindings_info))) \
	X(EINVAL, "", tsr_gfx_set_bindings(p, 2, &(struct tsr_gfx_bindings_info) { \
		.uniforms = &uneven, .uniform_count = 1 }, sizeof(struct tsr_gfx_bindings_info))) \
	X(EINVAL, "tsr_gfx_set_indices", tsr_gfx_draw_indexed(p, &three)) \
	X(EINVAL, "base vertex 1", tsr_gfx_draw(p, &(struct tsr_gfx_draw){ .base_vertex = 1 })) \
	X(E2BIG, "vertices", tsr_gfx_draw(p, &(struct tsr_gfx_draw){ 0xe0000000, 2, 0, 0, 0 })) \
	X(E2BIG, "2^32", tsr_gfx_draw(p, &(struct tsr_gfx_draw){ 70000, 70000, 0, 0, 0 })) \
	X(EINVAL, "multiples of 4", tsr_gfx_draw_indirect(p, false, 2, 1, 16)) \
	X(EINVAL, "multiples of 4", tsr_gfx_draw_indirect(p, false, 16, 1, 2)) \
	X(EINVAL, "multiples of 4", tsr_gfx_draw_indirect(p, false, 0, 1, 16)) \
	X(EINVAL, "tsr_gfx_set_indices", tsr_gfx_draw_indirect(p, true, 16, 1, 20)) \
	X(EINVAL, "query 3", tsr_gfx_query(p, 3, 8)) \
	X(EINVAL, "query 0", tsr_gfx_query(p, TSR_QUERY_SAMPLES, 4))

static struct tsr_gfx_pass *new_pass(void)
{
	const struct tsr_gfx_pass_info info = {
		.color[0] = { .image = image, .load = TSR_GFX_LOAD_CLEAR },
	};
	struct tsr_gfx_pass *pass = NULL;

	ktap_eq(tsr_gfx_pass_create(t.gfx, &info, sizeof(info), &pass), 0);
	return pass;
}

/* A sticky error: later calls and the submission fail with it until a reset. */
static void sticks(struct tsr_gfx_pass *p, struct tsr_gfx_pipeline *pipeline, int error,
		   const char *text)
{
	refused(tsr_gfx_draw(p, &three), error, text, "a later draw");
	refused(tsr_gfx_set_pipeline(p, pipeline), error, text, "a later pipeline");
	refused(tsr_gfx_submit(p, NULL, 0, NULL, 0), error, text, "submission");
	tsr_gfx_pass_reset(p);
	ktap_eq(tsr_gfx_set_pipeline(p, pipeline), 0);
	ktap_eq(tsr_gfx_draw(p, &three), 0);
	tsr_gfx_pass_destroy(p);
}

static void recording(void)
{
	struct tsr_gfx_pipeline *pipeline;
	struct tsr_gfx_pass *p;
	struct tsr_gfx_list list;

	set_up();
	pipeline = gfxt_pipeline(&t, NULL);
#define X(error, text, call) \
	p = new_pass(); \
	ktap_eq(tsr_gfx_set_pipeline(p, pipeline), 0); \
	refused(call, error, text, #call); \
	sticks(p, pipeline, error, text);
	CALLS(X)
#undef X
	p = new_pass();
	refused(tsr_gfx_draw(p, &three), EINVAL, "tsr_gfx_set_pipeline", "no pipeline");
	sticks(p, pipeline, EINVAL, "tsr_gfx_set_pipeline");
	/* errors that are not sticky */
	p = new_pass();
	refused(tsr_gfx_set_clear(p, 1, (union tsr_gfx_color){ .f = { 0 } }), EINVAL,
		"target 1", "clear");
	refused(tsr_gfx_wait(p, 0), EINVAL, "not submitted", "wait");
	ktap_eq(tsr_gfx_list(p, &list), 0);
	refused(tsr_gfx_set_pipeline(p, pipeline), EBUSY, "tsr_gfx_pass_reset", "listed");
	tsr_gfx_pass_destroy(p);
	tsr_gfx_pipeline_unref(pipeline);
	tear_down();
}

/* A GPU without engines that draw. */
static void no_engines(void)
{
	struct tsr_device *device = fake_open_shader(&cores);
	struct tsr_gfx *gfx = NULL;
	struct tsr_vm *vm = NULL;

	ktap_eq(tsr_vm_create(device, &vm), 0);
	refused(tsr_gfx_create(vm, &gfx), ENODEV, "engines", "context");
	ktap_ok(!gfx);
	tsr_vm_unref(vm);
	fake_close(device);
}

int main(void)
{
	ktap_start();
	ktap_run("[SYS5] images, views and surfaces that cannot be", images);
	ktap_run("[SYS5] pipelines that cannot be: one mistake each", pipelines);
	ktap_run("[SYS5] passes and heaps that cannot be", passes);
	ktap_run("[SYS5] wrong calls while recording: refused, remembered, forgotten", recording);
	ktap_run("[SYS5] a GPU that cannot draw", no_engines);
	return ktap_finish();
}
