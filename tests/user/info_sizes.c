// SPDX-License-Identifier: MIT
/*
 * Structures that carry their size: programs that were compiled with an older or a newer header
 * than the library's, for each function that reads or fills one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fake_drm.h"
#include "gfxt.h"
#include "ktap.h"

static const struct drm_tessera_shader_info cores = {
	.cores = 8, .warp_lanes = 16, .core_warps = 128, .max_group_threads = 1024,
	.max_group_memory = 65536, .max_scratch = 65536, .max_push_words = 256,
};
static struct gfxt t;

/* A caller's structure that has more bytes after what the library knows. */
union longer {
	struct tsr_shader_info shader;
	struct tsr_dispatch_info dispatch;
	struct tsr_image_info image;
	struct tsr_gfx_pass_info pass;
	struct tsr_gfx_pipeline_info pipeline;
	struct tsr_gfx_bindings_info bindings;
	unsigned char bytes[4096];
};

static struct tsr_image *target;
static struct tsr_gfx_pass *recorded;
static struct tsr_stream *stream;

static int shader(const union longer *info, size_t size)
{
	struct tsr_shader *made = NULL;
	int ret = tsr_shader_create(t.code, &info->shader, size, &made);

	tsr_shader_unref(made);
	return ret;
}

static int dispatch(const union longer *info, size_t size)
{
	int ret;

	tsr_stream_reset(stream);
	ret = tsr_cmd_dispatch(stream, &info->dispatch, size);
	/* the stream remembers it */
	ktap_eq(tsr_stream_finish(stream, NULL, NULL), ret);
	return ret;
}

static int image(const union longer *info, size_t size)
{
	struct tsr_image *made = NULL;
	int ret = tsr_image_create(t.vm, &info->image, size, &made);

	tsr_image_unref(made);
	return ret;
}

static int pass(const union longer *info, size_t size)
{
	struct tsr_gfx_pass *made = NULL;
	int ret = tsr_gfx_pass_create(t.gfx, &info->pass, size, &made);

	tsr_gfx_pass_destroy(made);
	return ret;
}

static int pipeline(const union longer *info, size_t size)
{
	struct tsr_gfx_pipeline *made = NULL;
	int ret = tsr_gfx_pipeline_create(&info->pipeline, size, &made);

	tsr_gfx_pipeline_unref(made);
	return ret;
}

static int bindings(const union longer *info, size_t size)
{
	tsr_gfx_pass_reset(recorded);
	return tsr_gfx_set_bindings(recorded, TSR_GFX_STAGE_FRAGMENT, &info->bindings, size);
}

/* Sizes of the structures as version 1.0 had them: programs of then go on with every later one. */
static const struct reader {
	const char *name;
	int (*call)(const union longer *info, size_t size);
	size_t known, first;
} readers[] = {
	{ "tsr_shader_info", shader, sizeof(struct tsr_shader_info), 56 },
	{ "tsr_dispatch_info", dispatch, sizeof(struct tsr_dispatch_info), 144 },
	{ "tsr_image_info", image, sizeof(struct tsr_image_info), 56 },
	{ "tsr_gfx_pass_info", pass, sizeof(struct tsr_gfx_pass_info), 504 },
	{ "tsr_gfx_pipeline_info", pipeline, sizeof(struct tsr_gfx_pipeline_info), 256 },
	{ "tsr_gfx_bindings_info", bindings, sizeof(struct tsr_gfx_bindings_info), 88 },
};

static void fill(union longer *info, const struct reader *reader)
{
	static const uint64_t code[2] = { 0x101 };

	memset(info, 0, sizeof(*info));
	if (reader->call == shader)
		info->shader = (struct tsr_shader_info){ .code = code, .size = 16 };
	else if (reader->call == dispatch)
		info->dispatch = (struct tsr_dispatch_info){ .shader = t.position,
							     .groups = { 1 } };
	else if (reader->call == image)
		info->image = (struct tsr_image_info){ .format = TSR_PIXEL_FORMAT_R32UI,
						       .width = 4 };
	else if (reader->call == pass)
		info->pass.color[0].image = target;
	else if (reader->call == pipeline)
		info->pipeline = (struct tsr_gfx_pipeline_info){ .vertex = t.position,
								 .topology = 8 };
}

static void set_up(void)
{
	const struct tsr_gfx_pass_info info = { .width = 64, .height = 64 };

	t.device = fake_open_shader(&cores);
	fake.graphics = true;
	tsr_device_unref(t.device);
	ktap_eq(tsr_device_open_fd(fake.fd, &t.device), 0);
	gfxt_set_up(&t);
	target = gfxt_image(&t, TSR_PIXEL_FORMAT_RGBA8_UNORM, 64, 1);
	ktap_eq(tsr_gfx_pass_create(t.gfx, &info, sizeof(info), &recorded), 0);
	ktap_eq(tsr_stream_create(t.code, 0, &stream), 0);
}

static void tear_down(void)
{
	struct tsr_device *device = t.device;

	tsr_stream_destroy(stream);
	tsr_gfx_pass_destroy(recorded);
	tsr_image_unref(target);
	t.device = NULL;
	gfxt_close(&t);
	fake_close(device);
}

static void test_readers(void)
{
	union longer info;

	for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); i++) {
		const struct reader *r = &readers[i];
		bool ok = true;

		fill(&info, r);
		/* the same version, an older one, a newer one that asks for nothing new */
		ok &= ktap_eq(r->call(&info, r->known), 0);
		ok &= ktap_eq(r->call(&info, r->first), 0);
		ok &= ktap_eq(r->call(&info, r->known + 1), 0);
		ok &= ktap_eq(r->call(&info, sizeof(info)), 0);
		/* what no version had */
		ok &= ktap_eq(r->call(&info, 0), -EINVAL);
		ok &= ktap_eq(r->call(&info, r->first - 8), -EINVAL);
		ok &= ktap_ok(strstr(tsr_error_message(), r->name) != NULL);
		/* a newer one that asks for something: at the first byte, at the last */
		info.bytes[r->known] = 1;
		ok &= ktap_eq(r->call(&info, r->known), 0);
		ok &= ktap_eq(r->call(&info, r->known + 1), -E2BIG);
		ok &= ktap_ok(strstr(tsr_error_message(), r->name) != NULL);
		info.bytes[r->known] = 0;
		info.bytes[sizeof(info) - 1] = 0x80;
		ok &= ktap_eq(r->call(&info, sizeof(info) - 1), 0);
		ok &= ktap_eq(r->call(&info, sizeof(info)), -E2BIG);
		if (!ok)
			ktap_note("%s: %s", r->name, tsr_error_message());
	}
}

static void test_filled(void)
{
	const size_t known = sizeof(struct tsr_image_info);
	struct drm_tessera_engine_info *engines = NULL;
	const char *room = (const char *)tsr_device_info(t.device);
	unsigned char bytes[512];
	unsigned int count, i;
	struct tsr_image_info info;

	tsr_image_get_info(target, &info, sizeof(info));
	ktap_eq(info.width, 64);
	/* a newer caller gets zeroes, an older one no more than it has room for */
	memset(bytes, 0xa5, sizeof(bytes));
	tsr_image_get_info(target, (void *)bytes, sizeof(bytes) / 2);
	ktap_ok(!memcmp(bytes, &info, known));
	for (i = (unsigned int)known; i < sizeof(bytes) / 2; i++)
		ktap_eq(bytes[i], 0);
	ktap_eq(bytes[sizeof(bytes) / 2], 0xa5);
	memset(bytes, 0xa5, sizeof(bytes));
	tsr_image_get_info(target, (void *)bytes, 8);
	ktap_ok(!memcmp(bytes, &info, 8));
	ktap_eq(bytes[8], 0xa5);
	for (i = sizeof(struct drm_tessera_gpu_info); i < TSR_INFO_ROOM; i++)
		ktap_eq(room[i], 0);
	ktap_eq(tsr_device_get_engines(t.device, &engines, 256, &count), 0);
	ktap_eq(count, 3);
	for (i = 0; i < count; i++)
		ktap_eq(((uint32_t *)engines)[64 * i], tsr_device_engine(t.device, i == 0 ?
			DRM_TESSERA_ENGINE_COPY : i == 1 ? DRM_TESSERA_ENGINE_BIN :
			DRM_TESSERA_ENGINE_RENDER)->engine_class);
	ktap_eq(((uint32_t *)engines)[63], 0);
	free(engines);
	ktap_eq(tsr_device_get_engines(t.device, &engines, 0, &count), -EINVAL);
	ktap_eq(tsr_device_get_engines(t.device, &engines, 28, &count), -EINVAL);
	ktap_eq(tsr_device_get_engines(t.device, &engines, TSR_INFO_ROOM + 8, &count), -EINVAL);
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	set_up();
	ktap_run("[SYS5] structures of older and newer programs are read", test_readers);
	ktap_run("[SYS5] structures of older and newer programs are filled", test_filled);
	tear_down();
	return ktap_finish();
}
