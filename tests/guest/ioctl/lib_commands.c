// SPDX-License-Identifier: MIT
/* test: TIMEOUT=90 DEVICE_ARGS=vram=64M,copy-engines=2 */
/* libtessera in the guest: what the command writer and the layouts make the GPU do. */
#include "gt_main.h"

#include <errno.h>
#include <unistd.h>

#include "lt.h"

static struct lt t;

static uint32_t noise(uint64_t i)
{
	uint64_t n = (i + 1) * 0x9e3779b97f4a7c15ull;

	return (uint32_t)(n >> 29);
}

/* 3000 additions in chunks of five packets: one packet lost or doubled would show. */
static void test_long_stream(void)
{
	struct tsr_alloc word = lt_data(&t, 8, 0);
	struct tsr_stream *stream;
	unsigned int i;

	KTAP_REQUIRE(LT_OK(tsr_stream_create(t.code, 192, &stream)));
	for (i = 1; i <= 3000; i++)
		tsr_cmd_signal64(stream, word.va, TSR_SIGNAL_OP_ADD, TSR_EVENT_REACHED, i);
	KTAP_REQUIRE(LT_OK(tsr_queue_run(t.queue, stream, t.sync, 0)));
	ktap_ok(LT_OK(tsr_sync_finish(t.sync, 0, LT_LONG)));
	ktap_eq(*(uint64_t *)word.cpu, 3000 * 3001 / 2);
	/* again, shorter, in the same chunks */
	tsr_stream_reset(stream);
	tsr_cmd_signal64(stream, word.va, TSR_SIGNAL_OP_SET, TSR_EVENT_REACHED, 5);
	KTAP_REQUIRE(LT_OK(tsr_queue_run(t.queue, stream, t.sync, 0)));
	ktap_ok(LT_OK(tsr_sync_finish(t.sync, 0, LT_LONG)));
	ktap_eq(*(uint64_t *)word.cpu, 5);
	tsr_stream_destroy(stream);
	tsr_pool_free(t.data, &word);
}

static void test_call(void)
{
	struct tsr_alloc word = lt_data(&t, 8, 0);
	struct tsr_stream *inner;
	uint64_t va;
	uint32_t size;

	KTAP_REQUIRE(LT_OK(tsr_stream_create(t.code, 0, &inner)));
	tsr_cmd_signal32(inner, word.va, TSR_SIGNAL_OP_ADD, TSR_EVENT_REACHED, 3);
	KTAP_REQUIRE(LT_OK(tsr_stream_finish(inner, &va, &size)));
	tsr_cmd_call(t.stream, va, size);
	tsr_cmd_nop(t.stream, 40);
	tsr_cmd_call(t.stream, va, size);
	tsr_cmd_signal32(t.stream, word.va + 4, TSR_SIGNAL_OP_SET, TSR_EVENT_ALL_DONE, 9);
	ktap_ok(LT_OK(lt_run(&t)));
	ktap_eq(((uint32_t *)word.cpu)[0], 6);
	ktap_eq(((uint32_t *)word.cpu)[1], 9);
	tsr_stream_destroy(inner);
	tsr_pool_free(t.data, &word);
}

static void test_measuring(void)
{
	struct tsr_alloc words = lt_data(&t, 64, 0), area = lt_data(&t, 0x10000, 0);
	uint64_t *w = words.cpu;

	tsr_cmd_timestamp(t.stream, words.va, TSR_EVENT_REACHED);
	tsr_cmd_counter_begin(t.stream, 1 << 7 | 1 << 9);	/* engine-commands, write-bytes */
	tsr_cmd_fill(t.stream, area.va, 0x10000, "z", 1);
	tsr_cmd_fill(t.stream, area.va, 0x100, "y", 1);
	tsr_cmd_counter_end(t.stream, words.va + 16);
	tsr_cmd_fence(t.stream, words.va + 32, TSR_EVENT_WRITES_DONE, 0x1122334455667788);
	tsr_cmd_timestamp(t.stream, words.va + 8, TSR_EVENT_ALL_DONE);
	ktap_ok(LT_OK(lt_run(&t)));
	ktap_ok(w[0] && w[1] > w[0]);
	ktap_eq(w[2], 2);
	ktap_eq(w[3], 0x10100);
	ktap_eq(w[4], 0x1122334455667788);
	tsr_pool_free(t.data, &words);
	tsr_pool_free(t.data, &area);
}

/* Two queues and the CPU take turns by words in memory; the waits are submitted first. */
static void test_semaphores(void)
{
	struct tsr_alloc words = lt_data(&t, 16, 0);
	struct tsr_queue *second = lt_queue(&t);
	uint32_t *w = words.cpu;
	struct tsr_stream *stream;

	KTAP_REQUIRE(LT_OK(tsr_stream_create(t.code, 0, &stream)));
	tsr_cmd_wait32(stream, words.va, TSR_COMPARE_GE, 2);
	tsr_cmd_signal32(stream, words.va + 4, TSR_SIGNAL_OP_SET, TSR_EVENT_REACHED, 1);
	KTAP_REQUIRE(LT_OK(tsr_queue_run(second, stream, t.sync, 0)));
	ktap_eq(tsr_sync_wait(t.sync, 0, tsr_deadline(50000000)), -ETIME);
	tsr_cmd_signal32(t.stream, words.va, TSR_SIGNAL_OP_ADD, TSR_EVENT_REACHED, 1);
	tsr_cmd_signal32(t.stream, words.va, TSR_SIGNAL_OP_ADD, TSR_EVENT_REACHED, 1);
	tsr_cmd_wait32(t.stream, words.va + 4, TSR_COMPARE_EQ, 1);
	tsr_cmd_signal32(t.stream, words.va + 8, TSR_SIGNAL_OP_SET, TSR_EVENT_REACHED, 77);
	KTAP_REQUIRE(LT_OK(tsr_queue_run(t.queue, t.stream, t.sync, 0)));
	ktap_ok(LT_OK(tsr_sync_finish(t.sync, 0, LT_LONG)));
	tsr_stream_reset(t.stream);
	ktap_eq(w[0], 2);
	ktap_eq(w[1], 1);
	ktap_eq(w[2], 77);
	/* the CPU releases one */
	tsr_cmd_wait32(t.stream, words.va + 12, TSR_COMPARE_LT, 0);
	KTAP_REQUIRE(LT_OK(tsr_queue_run(t.queue, t.stream, t.sync, 0)));
	__atomic_store_n(&w[3], 0xffffffff, __ATOMIC_RELEASE);
	ktap_ok(LT_OK(tsr_sync_finish(t.sync, 0, LT_LONG)));
	tsr_stream_reset(t.stream);
	tsr_queue_unref(second);
	tsr_stream_destroy(stream);
	tsr_pool_free(t.data, &words);
}

struct picture {
	struct tsr_surface image;
	struct tsr_bo *bo;
	uint8_t *memory;
};

static struct picture new_picture(uint32_t layout, uint32_t texel, uint32_t width, uint32_t height,
				  uint32_t flags)
{
	struct picture p;
	void *memory;

	lt_must("surface", tsr_surface_init(&p.image, layout, width, height, texel, 0));
	lt_must("BO", tsr_bo_create(t.device, p.image.size, flags, NULL, &p.bo));
	lt_must("map", tsr_vm_map(t.vm, p.bo, 0, 0, LT_RW, &p.image.va));
	lt_must("map", tsr_bo_map(p.bo, &memory));
	p.memory = memory;
	return p;
}

static void free_picture(struct picture *p)
{
	tsr_vm_unmap(t.vm, p->image.va, tsr_bo_size(p->bo));
	tsr_bo_unref(p->bo);
}

/* Where the U-shaped order puts a texel, without the library: Documentation/hw/copy-engine.md. */
static uint64_t place(const struct tsr_surface *s, uint32_t x, uint32_t y)
{
	uint32_t index = 0, i;

	if (s->layout == TSR_LAYOUT_LINEAR)
		return (uint64_t)y * s->pitch + x * s->texel;
	for (i = 0; i < 4; i++) {
		index += ((x >> i & 1) ^ (y >> i & 1)) << 2 * i;
		index += (y >> i & 1) << (2 * i + 1);
	}
	return (uint64_t)(y / 16) * s->pitch + ((uint64_t)(x / 16) * 256 + index) * s->texel;
}

#define W 75
#define H 43

static const uint8_t filler[17] = "abcdefghijklmnop";

/* Upload by the CPU, tile and mirror on the GPU, look at each texel. */
static void check_copy(uint32_t texel, uint32_t from, uint32_t to, uint32_t flags, uint32_t memory)
{
	struct picture a = new_picture(from, texel, W, H, 0);
	struct picture b = new_picture(to, texel, W, H, memory);
	const struct tsr_rect rect = { 3, 2, W - 10, H - 9 };
	static uint8_t rows[W * H * 16], want[65536];
	uint32_t x, y, i, dx, dy;
	const uint8_t *texels;

	for (i = 0; i < W * H * texel; i++)
		rows[i] = (uint8_t)noise(i + texel);
	ktap_ok(LT_OK(tsr_surface_write(&a.image, a.memory, 0, 0, W, H, rows, W * texel)));
	tsr_cmd_fill_image(t.stream, &b.image, &(struct tsr_rect){ 0, 0, W, H }, filler);
	tsr_cmd_barrier(t.stream, TSR_CMD_WAIT_WRITES);
	tsr_cmd_copy_image(t.stream, &b.image, 7, 5, &a.image, &rect, flags);
	ktap_ok(LT_OK(lt_run(&t)));
	memset(want, 0, b.image.size);
	for (y = 0; y < H; y++) {
		for (x = 0; x < W; x++) {
			texels = filler;
			dx = x - 7;
			dy = y - 5;
			if (dx < rect.width && dy < rect.height) {
				dx = flags & TSR_CMD_FLIP_X ? rect.width - 1 - dx : dx;
				dy = flags & TSR_CMD_FLIP_Y ? rect.height - 1 - dy : dy;
				texels = rows + ((rect.y + dy) * W + rect.x + dx) * texel;
			}
			memcpy(want + place(&b.image, x, y), texels, texel);
		}
	}
	ktap_mem_eq(b.memory, want, b.image.size);
	free_picture(&a);
	free_picture(&b);
}

static void test_images(void)
{
	uint32_t texel;

	for (texel = 1; texel <= 16 && !ktap.bad; texel++) {
		check_copy(texel, TSR_LAYOUT_LINEAR, TSR_LAYOUT_TILED, 0, 0);
		check_copy(texel, TSR_LAYOUT_TILED, TSR_LAYOUT_LINEAR, TSR_CMD_FLIP_X, 0);
		check_copy(texel, TSR_LAYOUT_TILED, TSR_LAYOUT_TILED, TSR_CMD_FLIP_Y, 0);
		check_copy(texel, TSR_LAYOUT_LINEAR, TSR_LAYOUT_TILED,
			   TSR_CMD_FLIP_X | TSR_CMD_FLIP_Y, DRM_TESSERA_BO_LOCAL);
	}
}

/* A packet that the writer refuses never reaches the GPU, and the queue continues. */
static void test_refused(void)
{
	struct drm_tessera_queue_get_state state;

	ktap_eq(tsr_cmd_fence(t.stream, 0x1001, TSR_EVENT_REACHED, 1), -EINVAL);
	ktap_eq(tsr_queue_run(t.queue, t.stream, t.sync, 0), -EINVAL);
	ktap_ok(strstr(tsr_error_message(), "FENCE at 0x1001"));
	tsr_stream_reset(t.stream);
	tsr_cmd_nop(t.stream, 1);
	ktap_ok(LT_OK(lt_run(&t)));
	ktap_ok(LT_OK(tsr_queue_get_state(t.queue, &state, sizeof(state))));
	ktap_eq(state.state, 0);
	ktap_eq(state.error, 0);
}

int main(int argc, char **argv)
{
	t = lt_open();
	gt_start(argc, argv);
	ktap_run("[CP2] a stream of many chunks runs each packet once", test_long_stream);
	ktap_run("[CP2] a stream that calls another", test_call);
	ktap_run("[CP5] fences, timestamps and counters of a stream", test_measuring);
	ktap_run("[CP7] two queues and the CPU take turns by semaphores", test_semaphores);
	ktap_run("[MEM5] CPU and GPU agree on layouts, mirrored, all texel sizes", test_images);
	ktap_run("[SYS5] a stream with an error is not submitted", test_refused);
	lt_close(&t);
	return gt_finish();
}
