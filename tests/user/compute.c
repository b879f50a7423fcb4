// SPDX-License-Identifier: MIT
/*
 * Programs and dispatches: what lands in memory, word by word against values worked out by hand
 * from Documentation/hw/compute.md and packets.xml; which barriers come unasked; what is refused.
 */
#include <errno.h>
#include <stdlib.h>

#include "fake_drm.h"
#include "ktap.h"
#include <tessera/compute.h>

#define RX (DRM_TESSERA_BIND_READ | DRM_TESSERA_BIND_EXEC)
#define RW (DRM_TESSERA_BIND_READ | DRM_TESSERA_BIND_WRITE)

/* Opcodes and flags of the headers looked for, from packets.xml. */
#define OP_NOP		0x00
#define OP_BARRIER	0x18
#define OP_DISPATCH	0x50
#define OP_INDIRECT	0x51
#define WAIT_READS	(1u << 16)
#define WAIT_WRITES	(1u << 17)
#define INV_READ	(1u << 18)
#define INV_CODE	(1u << 19)

static const struct drm_tessera_shader_info cores = {
	.cores = 2, .warp_lanes = 16, .core_warps = 128, .max_group_threads = 1024,
	.max_group_memory = 65536, .max_groups = 65535, .max_scratch = 65536,
	.max_push_words = 256,
};

static const uint64_t code[4] = { 1, 2, 3, 4 };

static struct tsr_device *device;
static struct tsr_vm *vm;
static struct tsr_pool *pool;

/* The chunk of a stream: plain memory at an arbitrary address. */
static uint64_t words[2048];
#define WORDS_VA 0x7000040ull		/* aligned to 64 */

static int chunk_alloc(void *context, uint32_t size, struct tsr_stream_chunk *chunk)
{
	(void)context;
	ktap_ok(size <= sizeof(words));
	*chunk = (struct tsr_stream_chunk){ WORDS_VA, words, sizeof(words), NULL };
	return 0;
}

static void chunk_free(void *context, struct tsr_stream_chunk *chunk)
{
	(void)context;
	(void)chunk;
}

static struct tsr_stream *new_stream(void)
{
	static const struct tsr_stream_memory memory = { chunk_alloc, chunk_free, NULL };
	struct tsr_stream *stream = NULL;

	memset(words, 0xcc, sizeof(words));
	ktap_eq(tsr_stream_create_custom(&memory, sizeof(words), &stream), 0);
	return stream;
}

static void set_up(void)
{
	device = fake_open_shader(&cores);
	ktap_eq(tsr_vm_create(device, &vm), 0);
	ktap_eq(tsr_pool_create(vm, 0, 0, RX, &pool), 0);
}

static void tear_down(void)
{
	tsr_pool_unref(pool);
	tsr_vm_unref(vm);
	fake_close(device);
}

static struct tsr_shader *new_program(const struct tsr_shader_info *extra)
{
	struct tsr_shader_info info = *extra;
	struct tsr_shader *program = NULL;

	info.code = code;
	info.size = sizeof(code);
	ktap_eq(tsr_shader_create(pool, &info, sizeof(info), &program), 0);
	return program;
}

/* The packets of a finished stream that are not NOP: at most @max headers; returns how many. */
static unsigned int packets(struct tsr_stream *stream, const uint64_t **found, unsigned int max)
{
	uint32_t size = 0, at, n = 0;
	uint64_t va;

	ktap_eq(tsr_stream_finish(stream, &va, &size), 0);
	for (at = 0; at < size / 8; at += words[at] >> 8 & 0xff) {
		if ((words[at] >> 8 & 0xff) == 0)
			break;
		if ((words[at] & 0xff) != OP_NOP && n < max)
			found[n++] = &words[at];
	}
	ktap_eq(at, size / 8);
	return n;
}

static const uint64_t *at_va(uint64_t va)
{
	ktap_ok(va >= WORDS_VA && va < WORDS_VA + sizeof(words) && va % 8 == 0);
	return words + (va - WORDS_VA) / 8;
}

static void test_upload(void)
{
	struct tsr_shader *program;
	const struct fake_map *map;

	set_up();
	program = new_program(&(struct tsr_shader_info){ .local = { 4 } });
	ktap_eq(tsr_shader_va(program) % 16, 0);
	map = fake_at(tsr_shader_va(program));
	ktap_ok(map && map->access & DRM_TESSERA_BIND_EXEC);
	tsr_shader_unref(program);
	tear_down();
}

/* Every field of the state, of a program that uses all of them. */
static void test_state(void)
{
	const uint32_t push[3] = { 0x11111111, 0x22222222, 0x33333333 };
	const struct tsr_storage storage = {
		.va = 0x123456780ull, .size = 0x1000, .access = TSR_SHADER_WRITE, .push_word = 4,
	};
	const struct tsr_uniform uniforms[2] = { { 0x5000, 64 }, { 0, 0 } };
	struct tsr_dispatch_info d = {
		.groups = { 7, 6, 5 }, .clause_limit = 99, .push = push, .push_words = 3,
		.storage = &storage, .storage_count = 1, .uniforms = uniforms, .uniform_count = 2,
	};
	struct tsr_stream *stream;
	const uint64_t *found[4], *state, *table;

	set_up();
	d.shader = new_program(&(struct tsr_shader_info){
		.local = { 8, 4, 2 }, .flags = TSR_SHADER_REGISTERS_64, .shared_memory = 1024,
		.scratch_size = 40, .push_words = 8 });
	ktap_eq(tsr_scratch_create(vm, 40, &d.scratch), 0);
	stream = new_stream();
	ktap_eq(tsr_cmd_dispatch(stream, &d, sizeof(d)), 0);
	ktap_eq(packets(stream, found, 4), 2);
	ktap_eq(found[0][0], 0x118 | INV_CODE);
	ktap_eq(found[1][0], 0x0450);
	ktap_eq(found[1][1] % 64, 0);
	ktap_eq(found[1][2], 7 | 6ull << 32);
	ktap_eq(found[1][3], 5);
	state = at_va(found[1][1]);
	ktap_eq(state[0], tsr_shader_va(d.shader));
	ktap_eq(state[1], 0x0001000200040008);
	ktap_eq(state[2] % 8, 0);
	ktap_eq(state[3], 8 | 99ull << 32);
	ktap_eq(at_va(state[2])[0], 0x2222222211111111);
	ktap_eq(at_va(state[2])[1], 0x33333333);
	ktap_eq(at_va(state[2])[2], 0x123456780);
	ktap_eq(at_va(state[2])[3], 0x1000);
	table = at_va(state[4]);
	ktap_eq(table[0], 0x500003);
	ktap_eq(table[1], 0);
	ktap_eq(state[9], 2);
	/* room for 48 bytes of each of 2 * 128 * 16 threads, readable and writable */
	ktap_eq(state[11] % 64, 0);
	ktap_ok(fake_at(state[11]) && fake_at(state[11])->access == RW &&
		fake_at(state[11])->size >= 48 * 4096);
	ktap_eq(state[12], 48 | 1024ull << 32);
	ktap_eq(state[5] | state[6] | state[7] | state[8] | state[10] | state[13] | state[14] |
		state[15], 0);
	tsr_stream_destroy(stream);
	tsr_scratch_unref(d.scratch);
	tsr_shader_unref(d.shader);
	tear_down();
}

static void test_defaults(void)
{
	struct tsr_dispatch_info d = { .groups = { 3 } };
	const uint64_t *found[4], *state;
	struct tsr_stream *stream;

	set_up();
	d.shader = new_program(&(struct tsr_shader_info){ .local = { 16 } });
	stream = new_stream();
	ktap_eq(tsr_cmd_dispatch(stream, &d, sizeof(d)), 0);
	d.groups[0] = 0;
	d.indirect = 0x9004;
	ktap_eq(tsr_cmd_dispatch(stream, &d, sizeof(d)), 0);
	ktap_eq(packets(stream, found, 4), 4);
	ktap_eq(found[1][2], 3 | 1ull << 32);
	ktap_eq(found[1][3], 1);
	state = at_va(found[1][1]);
	ktap_eq(state[1], 0x100010010);
	ktap_eq(state[2] | state[3], 0);
	/* neither names what it writes */
	ktap_eq(found[2][0], 0x118 | WAIT_WRITES | INV_READ);
	ktap_eq(found[3][0], 0x0351);
	ktap_eq(found[3][2], 0x9004);
	tsr_stream_destroy(stream);
	tsr_shader_unref(d.shader);
	tear_down();
}

/* A buffer of 0x100 bytes and what is done with it. */
static struct tsr_storage use(uint64_t va, uint32_t access)
{
	return (struct tsr_storage){ .va = va, .size = 0x100, .access = access };
}

/* The barrier that comes between two dispatches with one buffer each; 0 for none. */
static uint64_t between(struct tsr_shader *program, struct tsr_storage first,
			struct tsr_storage second, uint32_t manual)
{
	const struct tsr_storage out[2] = {
		{ .va = 0xa0000, .size = 16, .access = TSR_SHADER_WRITE, .push_word = 4 },
		{ .va = 0xb0000, .size = 16, .access = TSR_SHADER_WRITE, .push_word = 4 },
	};
	struct tsr_storage buffers[2] = { first, out[0] };
	const struct tsr_dispatch_info d = {
		.shader = program, .groups = { 1 }, .storage = buffers, .storage_count = 2,
	};
	struct tsr_stream *stream = new_stream();
	const uint64_t *found[8];
	unsigned int count;
	uint64_t barrier = 0;

	ktap_eq(tsr_cmd_dispatch(stream, &d, sizeof(d)), 0);
	if (manual)
		tsr_cmd_barrier(stream, manual);
	buffers[0] = second;
	buffers[1] = out[1];
	ktap_eq(tsr_cmd_dispatch(stream, &d, sizeof(d)), 0);
	count = packets(stream, found, 8);
	ktap_eq(found[0][0], 0x118 | INV_CODE);
	ktap_eq(found[1][0] & 0xff, OP_DISPATCH);
	ktap_eq(found[count - 1][0] & 0xff, OP_DISPATCH);
	if (count > 3u + !!manual)
		barrier = found[count - 2][0] & ~0xffffull;
	tsr_stream_destroy(stream);
	return barrier;
}

static void test_hazards(void)
{
	const uint32_t full = WAIT_WRITES | INV_READ;
	struct tsr_shader *program;

	set_up();
	program = new_program(&(struct tsr_shader_info){ .local = { 16 } });
	/* the same memory */
	ktap_eq(between(program, use(0x1000, TSR_SHADER_WRITE), use(0x1000, TSR_SHADER_READ), 0),
		full);
	ktap_eq(between(program, use(0x1000, TSR_SHADER_WRITE), use(0x1000, TSR_SHADER_WRITE), 0),
		full);
	ktap_eq(between(program, use(0x1000, TSR_SHADER_READ), use(0x1000, TSR_SHADER_WRITE), 0),
		WAIT_READS);
	ktap_eq(between(program, use(0x1000, TSR_SHADER_READ), use(0x1000, TSR_SHADER_READ), 0), 0);
	/* one byte of it, at either end, and none */
	ktap_eq(between(program, use(0x1000, TSR_SHADER_WRITE), use(0x10ff, TSR_SHADER_READ), 0),
		full);
	ktap_eq(between(program, use(0x10ff, TSR_SHADER_WRITE), use(0x1000, TSR_SHADER_READ), 0),
		full);
	ktap_eq(between(program, use(0x1000, TSR_SHADER_WRITE), use(0x1100, TSR_SHADER_READ), 0),
		0);
	ktap_eq(between(program, use(0x1100, TSR_SHADER_WRITE), use(0x1000, TSR_SHADER_READ), 0),
		0);
	/* the caller's own barrier is enough */
	ktap_eq(between(program, use(0x1000, TSR_SHADER_WRITE), use(0x1000, TSR_SHADER_READ),
			TSR_CMD_WAIT_WRITES), 0);
	ktap_eq(between(program, use(0x1000, TSR_SHADER_READ), use(0x1000, TSR_SHADER_WRITE),
			TSR_CMD_WAIT_READS), 0);
	ktap_eq(between(program, use(0x1000, TSR_SHADER_WRITE), use(0x1000, TSR_SHADER_READ),
			TSR_CMD_WAIT_READS), full);
	tsr_shader_unref(program);
	tear_down();
}

/* More buffers than the tracker remembers: what it forgets is waited for. */
static void test_many_buffers(void)
{
	struct tsr_storage storage[TSR_STORAGE_MAX];
	struct tsr_dispatch_info d = {
		.groups = { 1 }, .storage = storage, .storage_count = TSR_STORAGE_MAX,
	};
	unsigned int round, i, barriers = 0;
	struct tsr_stream *stream;
	const uint64_t *found[32];

	set_up();
	d.shader = new_program(&(struct tsr_shader_info){ .local = { 16 } });
	stream = new_stream();
	for (round = 0; round < 6; round++) {
		for (i = 0; i < TSR_STORAGE_MAX; i++)
			storage[i] = use(0x10000 + (round * TSR_STORAGE_MAX + i) * 0x100,
					 TSR_SHADER_WRITE);
		ktap_eq(tsr_cmd_dispatch(stream, &d, sizeof(d)), 0);
	}
	i = packets(stream, found, 32);
	while (i-- > 1)
		barriers += (found[i][0] & 0xff) == OP_BARRIER;
	ktap_eq(barriers, 1);
	tsr_stream_destroy(stream);
	tsr_shader_unref(d.shader);
	tear_down();
}

/* INV_CODE in front of each program that is newer than the last one; a reset forgets. */
static void test_code_barrier(void)
{
	struct tsr_shader *old, *young;
	struct tsr_storage buffer = use(0x1000, TSR_SHADER_WRITE);
	struct tsr_dispatch_info d = { .groups = { 1 }, .storage = &buffer, .storage_count = 1 };
	struct tsr_stream *stream;
	const uint64_t *found[8];

	set_up();
	old = new_program(&(struct tsr_shader_info){ .local = { 16 } });
	young = new_program(&(struct tsr_shader_info){ .local = { 16 } });
	stream = new_stream();
	d.shader = old;
	ktap_eq(tsr_cmd_dispatch(stream, &d, sizeof(d)), 0);
	d.shader = young;
	buffer.va = 0x2000;
	ktap_eq(tsr_cmd_dispatch(stream, &d, sizeof(d)), 0);
	d.shader = old;
	buffer.va = 0x3000;
	ktap_eq(tsr_cmd_dispatch(stream, &d, sizeof(d)), 0);
	ktap_eq(packets(stream, found, 8), 5);
	ktap_eq(found[0][0], 0x118 | INV_CODE);
	ktap_eq(found[2][0], 0x118 | INV_CODE);
	ktap_eq(found[4][0] & 0xff, OP_DISPATCH);
	tsr_stream_reset(stream);
	ktap_eq(tsr_cmd_dispatch(stream, &d, sizeof(d)), 0);
	ktap_eq(packets(stream, found, 8), 2);
	ktap_eq(found[0][0], 0x118 | INV_CODE);
	tsr_stream_destroy(stream);
	tsr_shader_unref(old);
	tsr_shader_unref(young);
	tear_down();
}

/* One program that is refused. */
static void refuse_program(const char *what, const struct tsr_shader_info *info)
{
	struct tsr_shader *program = NULL;
	char name[96];

	ktap_eq(tsr_shader_create(pool, info, sizeof(*info), &program), -EINVAL);
	ktap_ok(strstr(tsr_error_message(), "expected") || strstr(tsr_error_message(), "unknown"));
	ktap_ok(!program);
	snprintf(name, sizeof(name), "a program with %s is refused", what);
	ktap_result(name);
}

static void test_bad_programs(void)
{
	const struct tsr_shader_info good = { .code = code, .size = 32, .local = { 1 } };
	struct tsr_shader *program = NULL;
	struct tsr_shader_info bad;
	struct tsr_pool *data;

#define REFUSE(what, field, value) \
	(bad = good, bad.field = (value), refuse_program(what, &bad))
	set_up();
	REFUSE("no code", code, NULL);
	REFUSE("no size", size, 0);
	REFUSE("a size that is no multiple of 16", size, 24);
	REFUSE("more than 16 MiB", size, (16 << 20) + 16);
	REFUSE("unknown flags", flags, 2);
	REFUSE("1025 threads", local[1], 1025);
	REFUSE("a number of threads that overflows", local[2], 0xffffffff);
	REFUSE("65537 bytes of shared memory", shared_memory, 65537);
	REFUSE("65537 bytes of scratch", scratch_size, 65537);
	REFUSE("257 push words", push_words, 257);
#undef REFUSE
	ktap_eq(tsr_pool_create(vm, 0, 0, RW, &data), 0);
	ktap_eq(tsr_shader_create(data, &good, sizeof(good), &program), -EINVAL);
	ktap_ok(strstr(tsr_error_message(), "EXEC"));
	tsr_pool_unref(data);
	ktap_eq(tsr_pool_create(vm, 0, DRM_TESSERA_BO_NO_MMAP, RX, &data), 0);
	ktap_eq(tsr_shader_create(data, &good, sizeof(good), &program), -EINVAL);
	tsr_pool_unref(data);
	tear_down();
	ktap_result("a pool without EXEC or without CPU mappings is refused");
}

static void test_no_cores(void)
{
	const struct tsr_shader_info info = { .code = code, .size = 32 };
	struct tsr_shader *program = NULL;
	struct tsr_scratch *scratch = NULL;

	device = fake_open();
	ktap_eq(tsr_device_shader_info(device)->cores, 0);
	ktap_eq(tsr_vm_create(device, &vm), 0);
	ktap_eq(tsr_pool_create(vm, 0, 0, RX, &pool), 0);
	ktap_eq(tsr_shader_create(pool, &info, sizeof(info), &program), -ENODEV);
	ktap_eq(tsr_scratch_create(vm, 16, &scratch), -ENODEV);
	ktap_ok(!program && !scratch);
	tear_down();
}

/* One dispatch that is refused, and what the message has to name; the error sticks. */
static void refuse_dispatch(const char *what, const struct tsr_dispatch_info *d, const char *name)
{
	struct tsr_stream *stream = new_stream();
	char line[96];

	ktap_eq(tsr_cmd_dispatch(stream, d, sizeof(*d)), -EINVAL);
	ktap_ok(strstr(tsr_error_message(), name));
	ktap_eq(tsr_stream_finish(stream, NULL, NULL), -EINVAL);
	tsr_stream_destroy(stream);
	snprintf(line, sizeof(line), "[CP3] a dispatch with %s is refused", what);
	ktap_result(line);
}

static struct tsr_view view_of(uint64_t va)
{
	return (struct tsr_view){ .va = va, .access = TSR_SHADER_READ, .stride = 4, .size = 64,
				  .format = TSR_PIXEL_FORMAT_R32UI };
}

static struct tsr_image *new_image(const struct tsr_image_info *info)
{
	struct tsr_image *image = NULL;

	ktap_eq(tsr_image_create(vm, info, sizeof(*info), &image), 0);
	return image;
}

/* Dispatches whose views, textures or samplers do not fit their images. */
static void test_bad_views(void)
{
	struct tsr_image *plain, *samples, *blocks, *volume;
	struct tsr_view view, *v = &view;
	struct tsr_sampler_state sampler, *s = &sampler;
	struct tsr_dispatch_info good = { .groups = { 1 }, .views = v, .samplers = s }, bad;

	set_up();
	plain = new_image(&(struct tsr_image_info){ .format = TSR_PIXEL_FORMAT_R32UI, .width = 16,
						    .height = 16, .layers = 3, .levels = 2 });
	samples = new_image(&(struct tsr_image_info){ .format = TSR_PIXEL_FORMAT_R32UI,
						      .width = 8, .height = 8, .samples = 4 });
	blocks = new_image(&(struct tsr_image_info){ .format = TSR_PIXEL_FORMAT_BC1_UNORM,
						     .width = 8, .height = 8 });
	volume = new_image(&(struct tsr_image_info){ .format = TSR_PIXEL_FORMAT_R32UI, .width = 8,
						     .height = 8, .depth = 8, .levels = 2 });
	good.shader = new_program(&(struct tsr_shader_info){ .local = { 1 } });
#define REFUSE(what, name, of, ...) \
	(bad = good, view = (struct tsr_view){ .image = of, .access = TSR_SHADER_READ }, \
	 sampler = (struct tsr_sampler_state){ 0 }, __VA_ARGS__, refuse_dispatch(what, &bad, name))
#define VIEW(what, name, of, ...) REFUSE(what, name, of, bad.view_count = 1, __VA_ARGS__)
#define TEXTURE(what, name, of, ...) \
	REFUSE(what, name, of, bad.textures = v, bad.texture_count = 1, __VA_ARGS__)
#define SAMPLER(what, name, ...) REFUSE(what, name, plain, bad.sampler_count = 1, __VA_ARGS__)
	VIEW("a view of samples", "one sample", samples, v->access = TSR_SHADER_WRITE);
	VIEW("a view of compressed blocks", "compressed", blocks, v->access = TSR_SHADER_WRITE);
	VIEW("a view of level 2 of 2", "levels 2", plain, v->first_level = 2);
	VIEW("a view of two levels", "expected one level", plain, v->levels = 2);
	VIEW("a view of layer 3 of 3", "layers 3", plain, v->first_layer = 3);
	VIEW("a view of layers 1 to 3 of 3", "layers 1 + 3", plain, v->first_layer = 1,
	     v->layers = 3);
	VIEW("a view of slice 4 of 4", "layers 4", volume, v->first_level = 1, v->first_layer = 4);
	VIEW("a view of another size of texels", "same size", plain,
	     v->format = TSR_PIXEL_FORMAT_R16UI);
	TEXTURE("a texture without an image", "texture 0", NULL, v->levels = 1);
	TEXTURE("a texture of level 2 of 2", "levels 2", plain, v->first_level = 2);
	TEXTURE("a texture of another size of texels", "same size", plain,
		v->format = TSR_PIXEL_FORMAT_R16UI);
	SAMPLER("a sampler with wrap mode 16", "wrap", s->wrap_t = 16);
	SAMPLER("a sampler with mipmap mode 4", "mipmap", s->mipmap = 4);
	SAMPLER("a sampler with comparison 8", "compare", s->compare = 8);
	SAMPLER("a sampler with too large a level of detail", "level of detail",
		s->max_lod = 0x2000);
	SAMPLER("a sampler with too large a bias", "bias", s->lod_bias = -32769);
	SAMPLER("a sampler with 33 places", "anisotropy", s->anisotropy = 32);
#undef SAMPLER
#undef TEXTURE
#undef VIEW
#undef REFUSE
	tsr_shader_unref(good.shader);
	tsr_image_unref(plain);
	tsr_image_unref(samples);
	tsr_image_unref(blocks);
	tsr_image_unref(volume);
	tear_down();
}

static void test_bad_dispatches(void)
{
	struct tsr_storage storage[TSR_STORAGE_MAX + 1], *s = storage;
	struct tsr_uniform uniforms[TSR_UNIFORMS_MAX + 1] = { { 0x1000, 16 } };
	struct tsr_view views[TSR_VIEWS_MAX + 1], *v = views;
	struct tsr_view textures[TSR_TEXTURES_MAX + 1] = { 0 };
	struct tsr_dispatch_info good, bad;
	struct tsr_shader *plain, *needy;

	set_up();
	plain = new_program(&(struct tsr_shader_info){ .local = { 1 } });
	needy = new_program(&(struct tsr_shader_info){ .scratch_size = 64, .push_words = 6 });
	good = (struct tsr_dispatch_info){ .shader = plain, .groups = { 1 }, .storage = storage,
					   .uniforms = uniforms, .views = views,
					   .textures = textures };
#define REFUSE(what, name, ...) \
	(bad = good, *s = use(0x1000, TSR_SHADER_READ), *v = view_of(0x1000), __VA_ARGS__, \
	 refuse_dispatch(what, &bad, name))
	REFUSE("65536 groups along y", "65536", bad.groups[1] = 65536);
	REFUSE("an odd address of groups", "multiple of 4", bad.indirect = 0x1002);
	REFUSE("unknown flags", "flags", bad.flags = 2);
	REFUSE("257 push words", "257", bad.push_words = 257);
	REFUSE("too few push words", "expected 6", bad.shader = needy, bad.push_words = 5);
	REFUSE("no scratch", "scratch", bad.shader = needy, bad.push_words = 6,
	       bad.push = (const uint32_t[6]){ 0 });
	REFUSE("17 storage buffers", "17", bad.storage_count = TSR_STORAGE_MAX + 1);
	REFUSE("17 uniform buffers", "17", bad.uniform_count = TSR_UNIFORMS_MAX + 1);
	REFUSE("storage of no size", "0x0 bytes", bad.storage_count = 1, s->size = 0);
	REFUSE("storage of 4 GiB", "storage", bad.storage_count = 1, s->size = 1ull << 32);
	REFUSE("storage around the end", "storage", bad.storage_count = 1, s->va = -16ull);
	REFUSE("storage without access", "access", bad.storage_count = 1, s->access = 0);
	REFUSE("storage with unknown access", "access", bad.storage_count = 1, s->access = 4);
	REFUSE("storage in an odd push word", "push word", bad.storage_count = 1,
	       s->push_word = 3);
	REFUSE("storage beyond the push words", "push word", bad.storage_count = 1,
	       s->push_word = 254);
	REFUSE("a misaligned uniform buffer", "uniform", bad.uniform_count = 1,
	       uniforms[0].va = 0x1008);
	REFUSE("a uniform buffer of 24 bytes", "uniform", bad.uniform_count = 1,
	       uniforms[0] = ((struct tsr_uniform){ 0x1000, 24 }));
	REFUSE("a uniform buffer above 64 KiB", "uniform", bad.uniform_count = 1,
	       uniforms[0].size = 0x10010);
	REFUSE("17 views", "17", bad.view_count = TSR_VIEWS_MAX + 1);
	REFUSE("17 textures", "17", bad.texture_count = TSR_TEXTURES_MAX + 1);
	REFUSE("17 samplers", "17", bad.sampler_count = TSR_SAMPLERS_MAX + 1);
	REFUSE("a view without stride", "stride", bad.view_count = 1, v->stride = 0);
	REFUSE("a view of 4 GiB", "view", bad.view_count = 1, v->size = 1ull << 32);
	REFUSE("a view around the end", "view", bad.view_count = 1, v->va = -16ull);
	REFUSE("a view without access", "access", bad.view_count = 1, v->access = 0);
	REFUSE("a view of an unknown format", "format", bad.view_count = 1, v->format = 256);
#undef REFUSE
	tsr_shader_unref(plain);
	tsr_shader_unref(needy);
	tear_down();
}

/* Views, textures and samplers: the descriptors, word by word. */
static void test_descriptors(void)
{
	struct tsr_surface tiled, linear;
	struct tsr_view views[2] = {
		{ .va = 0x10010, .access = TSR_SHADER_READ, .format = TSR_PIXEL_FORMAT_R32UI,
		  .stride = 12, .size = 1200 },
		{ .access = TSR_SHADER_WRITE, .order = TSR_COMPONENT_ORDER_BGRA },
	}, texture = { 0 };
	struct tsr_sampler_state sampler;
	struct tsr_dispatch_info d = {
		.groups = { 1 }, .views = views, .view_count = 2, .textures = &texture,
		.texture_count = 1, .samplers = &sampler, .sampler_count = 1,
	};
	const uint64_t *found[4], *state, *p;
	struct tsr_stream *stream;

	set_up();
	views[1].image = new_image(&(struct tsr_image_info){
		.format = TSR_PIXEL_FORMAT_RGBA8_UNORM, .layout = TSR_LAYOUT_TILED, .width = 100,
		.height = 60 });
	texture.image = new_image(&(struct tsr_image_info){
		.format = TSR_PIXEL_FORMAT_RGBA8_UNORM, .width = 33, .height = 22 });
	ktap_eq(tsr_image_get_surface(views[1].image, 0, 0, 0, &tiled, NULL), 0);
	ktap_eq(tsr_image_get_surface(texture.image, 0, 0, 0, &linear, NULL), 0);
	tsr_sampler_init(&sampler, TSR_WRAP_MODE_CLAMP_TO_EDGE, true);
	d.shader = new_program(&(struct tsr_shader_info){ .local = { 16 } });
	stream = new_stream();
	ktap_eq(tsr_cmd_dispatch(stream, &d, sizeof(d)), 0);
	ktap_eq(packets(stream, found, 4), 2);
	state = at_va(found[1][1]);
	ktap_eq(state[9], 2 << 16 | 6ull << 32);
	ktap_eq(state[10], 1 | 1 << 16);
	/* attribute: entry, order << 10, format << 22, offset << 32 */
	p = at_va(state[5]);
	ktap_eq(p[0], 133u << 22 | 0x10ull << 32);
	ktap_eq(p[1], 3 | 4 << 10 | 187u << 22);
	/* buffers: type, pointer; stride, size with the 16 bytes in front; empty continuations */
	p = at_va(state[6]);
	ktap_eq(p[0], 1 | 0x10000);
	ktap_eq(p[1], 12 | 1216ull << 32);
	ktap_eq(p[2], 32);
	ktap_eq(p[3], 0);
	/* the image: 7 tiles of 1024 bytes a row, 4 rows of them */
	ktap_eq(p[6], 6 | tiled.va);
	ktap_eq(p[7], 4 | 7ull * 1024 * 4 << 32);
	ktap_eq(p[8], 32 | 99 << 16 | 59ull << 32);
	ktap_eq(p[9], 7 * 1024);
	/* the texture: type 2, 2D; its surface; size */
	p = at_va(state[7]);
	ktap_eq(p[0], 2 | 2 << 4 | 187u << 22 | 32ull << 32 | 21ull << 48);
	ktap_eq(p[1], 0 | 1 << 3 | 2 << 6 | 3 << 9 | 2 << 12);
	ktap_eq(at_va(p[2])[0], linear.va);
	ktap_eq(at_va(p[2])[1], 192 | linear.size << 32);
	ktap_eq(p[3], 0);
	p = at_va(state[8]);
	ktap_eq(p[0], 1 | 9 << 8 | 9 << 12 | 9 << 16 | 1 << 25 | 1 << 30);
	ktap_eq(p[1] | p[2] | p[3], 0);
	tsr_stream_destroy(stream);
	tsr_shader_unref(d.shader);
	tsr_image_unref(views[1].image);
	tsr_image_unref(texture.image);
	tear_down();
}

static void test_counted(void)
{
	struct tsr_storage storage[2];
	struct tsr_counted counted;
	struct tsr_pool *data;

	set_up();
	ktap_eq(tsr_pool_create(vm, 0, 0, RW, &data), 0);
	ktap_eq(tsr_counted_create(data, 6, 4, &counted), -EINVAL);
	ktap_eq(tsr_counted_create(data, 0, 4, &counted), -EINVAL);
	ktap_eq(tsr_counted_create(data, 8, 0, &counted), -EINVAL);
	ktap_eq(tsr_counted_create(data, 1 << 16, 1 << 16, &counted), -EINVAL);
	ktap_eq(tsr_counted_create(data, 12, 100, &counted), 0);
	ktap_eq(tsr_counted_get(&counted), 0);
	ktap_eq(tsr_counted_set(&counted, 101), -EINVAL);
	ktap_eq(tsr_counted_set(&counted, 100), 0);
	ktap_eq(*(uint32_t *)counted.memory.cpu, 100);
	ktap_eq(tsr_counted_get(&counted), 100);
	/* appended beyond the capacity, consumed below nothing */
	*(uint32_t *)counted.memory.cpu = 105;
	ktap_eq(tsr_counted_get(&counted), 100);
	*(int32_t *)counted.memory.cpu = -2;
	ktap_eq(tsr_counted_get(&counted), 0);
	tsr_counted_storage(&counted, 8, storage);
	ktap_eq(storage[0].va, counted.counter_va + 64);
	ktap_eq(storage[0].size, 1200);
	ktap_eq(storage[0].push_word, 8);
	ktap_eq(storage[1].va, counted.memory.va);
	ktap_eq(storage[1].size, 4);
	ktap_eq(storage[1].push_word, 12);
	ktap_ok((char *)tsr_counted_data(&counted) == (char *)counted.memory.cpu + 64);
	tsr_counted_destroy(data, &counted);
	tsr_pool_unref(data);
	tear_down();
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	ktap_run("a program is uploaded to memory the GPU can execute", test_upload);
	ktap_run("[CS1] the state, push words and tables of a dispatch", test_state);
	ktap_run("[CS1] defaults, and a dispatch that reads its grid from memory", test_defaults);
	ktap_run("[CS3] dependent dispatches get a barrier unasked, others none", test_hazards);
	ktap_run("[CS3] more buffers than are remembered", test_many_buffers);
	ktap_run("[MEM6] views, textures and samplers as descriptors", test_descriptors);
	ktap_run("new programs get INV_CODE", test_code_barrier);
	test_bad_programs();
	test_bad_dispatches();
	test_bad_views();
	ktap_run("a GPU without shader cores refuses programs", test_no_cores);
	ktap_run("[CS4] counted buffers: a counter in front of the elements", test_counted);
	return ktap_finish();
}
