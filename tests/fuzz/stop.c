/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: an engine stops on request with any memory contents.
 *
 * A queue of each class has endless work: streams, lists of draws and lists of tiles with random
 * packets that jump back, dispatches of random programs. Meanwhile heads compose frames. At random
 * moments the host resets a queue or the device, suspends, invalidates, pauses, saves, and switches
 * heads off.
 *
 * - Preemption points are at most STOP_WORK cycles apart.
 * - A request is complete when its call returns, or soon after it with worker threads.
 * - A snapshot costs no more than its budget, and can be loaded.
 *
 * Input: the kind of device, eight bytes that seed memory, then two bytes for each moment: the
 * action and the time before it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "draws.h"
#include "device/gpu.h"
#include "ktap.h"
#include "packets.h"
#include "shader.h"
#include "stop_work.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
void fuzz_summary(void);
extern const char fuzz_proves[];
const char fuzz_proves[] = "[SYS7] [SYS10] ";

#define DRIVER_VA 0x70000000ull		/* rings, 64 KiB apart */
#define STREAM_VA 0x78000000ull		/* streams, 4 KiB for each class */
#define STREAM_BYTES 4096u
#define DISPATCH_VA (STREAM_VA + 4 * STREAM_BYTES)	/* state, constants, program */
#define DISPATCH_CODE (DISPATCH_VA + 0x1000)
#define STREAMS_SIZE (4 * STREAM_BYTES + 0x1000 + FUZZ_SHADER_BYTES)
#define CLASSES 4
#define MOMENTS 16			/* of an input, at most */
#define WORDS 64			/* of a list of tiles */

static unsigned long moments, steps;
static uint64_t most[CLASSES];

void fuzz_summary(void)
{
	ktap_note("%lu moments, %lu steps; at most %llu (BIN), %llu (RENDER), %llu (COMPUTE) and "
		  "%llu (COPY) cycles",
		  moments, steps, (unsigned long long)most[TSR_ENGINE_CLASS_BIN],
		  (unsigned long long)most[TSR_ENGINE_CLASS_RENDER],
		  (unsigned long long)most[TSR_ENGINE_CLASS_COMPUTE],
		  (unsigned long long)most[TSR_ENGINE_CLASS_COPY]);
}

static struct machine {
	struct bench *b;
	struct bench_as as;
	struct bench_queue queue[CLASSES];
	uint8_t *data, *list, *heap, *targets, *streams;
	bool saved;			/* once is enough: it may cost what a snapshot may */
} m;

static void fail(const char *what, uint64_t value)
{
	fprintf(stderr, "stop: %s: %llu\n", what, (unsigned long long)value);
	abort();
}

/* ---- What is in memory ----------------------------------------------------------------------- */

static uint64_t *list_at(uint32_t offset)
{
	return (uint64_t *)(void *)(m.list + offset);
}

static void jump(uint64_t *word, uint32_t to, uint32_t bytes)
{
	tsr_pack_list_jump(word, &(struct tsr_list_jump){ .addr = DRAWS_LIST + to, .size = bytes });
}

/* The list of draws does not halt, but begins again. */
static void endless_draws(void)
{
	uint64_t *word = list_at(DRAWS_BIN_LIST), *at = word;
	uint32_t bytes;
	struct tsr_bin bin;

	while (tsr_packet_opcode(*at) != TSR_OP_LIST_HALT)
		at += tsr_packet_qwords(*at);
	bytes = 8 * (uint32_t)(at - word + TSR_LIST_JUMP_QWORDS);
	jump(at, DRAWS_BIN_LIST, bytes);
	tsr_unpack_bin(list_at(DRAWS_BIN), &bin);
	bin.size = bytes;
	tsr_pack_bin(list_at(DRAWS_BIN), &bin);
}

/* A list of tiles of any packets, and of jumps and calls into itself, as long as its words. */
static void endless_tiles(struct fuzz_random *r, uint32_t offset)
{
	static const uint8_t opcodes[] = { TSR_OP_TILE_CLEAR, TSR_OP_TILE_LOAD, TSR_OP_TILE_DRAW,
					   TSR_OP_TILE_STORE, TSR_OP_TILE_STORE };
	uint64_t *word = list_at(offset);
	unsigned int n = 0, packets = 1 + fuzz_below(r, 8);

	while (packets--) {
		unsigned int opcode = opcodes[fuzz_below(r, sizeof(opcodes))];
		uint64_t which = opcode == TSR_OP_TILE_DRAW ? 0 : fuzz_below(r, 1024);

		if (fuzz_often(r, 32)) {
			jump(word + n, offset, WORDS * 8);
			word[n] += (uint64_t)(TSR_OP_LIST_CALL - TSR_OP_LIST_JUMP);
			n += TSR_LIST_CALL_QWORDS;
			continue;
		}
		word[n++] = opcode | 1u << 8 | (which & 0xff) << 16 | (which >> 8) << 24;
	}
	jump(word + n, offset, WORDS * 8);
}

/* The list of a RENDER: its tiles again and again, perhaps endless ones. */
static void endless_render(struct fuzz_random *r)
{
	uint64_t *word = list_at(DRAWS_RENDER_LIST), *at = word;
	struct tsr_render render;

	while (tsr_packet_opcode(*at) != TSR_OP_LIST_HALT) {
		struct tsr_list_tiles tiles;

		tsr_unpack_list_tiles(at, &tiles);
		if (fuzz_often(r, 192)) {
			tiles.size = WORDS * 8;
			tiles.addr = DRAWS_LIST + DRAWS_TILE_LIST;
			tsr_pack_list_tiles(at, &tiles);
		}
		at += tsr_packet_qwords(*at);
	}
	jump(at, DRAWS_RENDER_LIST, 8 * (uint32_t)(at - word + TSR_LIST_JUMP_QWORDS));
	tsr_unpack_render(list_at(DRAWS_RENDER), &render);
	render.size = 8 * (uint32_t)(at - word + TSR_LIST_JUMP_QWORDS);
	tsr_pack_render(list_at(DRAWS_RENDER), &render);
}

/* Where packets of streams point. */
static const struct fuzz_region regions[] = {
	{ DRAWS_DATA, DRAWS_DATA_SIZE }, { DRAWS_TARGETS, DRAWS_TARGETS_SIZE },
	{ DRAWS_LIST, DRAWS_LIST_SIZE },
};

/* A stream of any packets that begins again; @word: its engine command, or NULL. */
static void endless_stream(struct fuzz_random *r, unsigned int cls, const uint64_t *command,
			   unsigned int qwords)
{
	uint64_t va = STREAM_VA + cls * STREAM_BYTES;
	uint64_t *word = (uint64_t *)(void *)(m.streams + (va - STREAM_VA));
	const struct fuzz_world world = {
		.data = regions, .num_data = sizeof(regions) / sizeof(regions[0]),
		.code = { va, STREAM_BYTES }, .engine_class = cls,
	};
	unsigned int packets = fuzz_below(r, command ? 3 : 10), n = 0;
	uint8_t bytes[512];
	struct fuzz_input in = { bytes, sizeof(bytes) };

	for (unsigned int i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)fuzz_next(r);
	memset(word, 0, STREAM_BYTES);
	if (command)
		memcpy(word, command, 8 * qwords);
	n = command ? qwords : 0;
	while (packets--)
		n += fuzz_packet(&in, &world, word + n, 255);
	tsr_pack_jump(word + n, &(struct tsr_jump){
		.addr = va, .size = 8 * (n + TSR_JUMP_QWORDS) });
}

static void dispatch(struct fuzz_random *r, uint64_t *command)
{
	static struct fuzz_shader shader;
	uint8_t *at = m.streams + (DISPATCH_VA - STREAM_VA);
	struct tsr_compute_state state = {
		.code = DISPATCH_CODE, .local_x = 1 + fuzz_below(r, 256), .local_y = 1,
		.local_z = 1, .group_memory = fuzz_below(r, 32769) & ~15u,
		.push = DISPATCH_VA + 0x400, .push_words = 8,
	};
	uint64_t *push = (uint64_t *)(void *)(at + 0x400);

	shader = (struct fuzz_shader){ .registers_64 = fuzz_often(r, 128) };
	fuzz_shader(r, &shader);
	memset(at, 0, 0x1000);
	memcpy(m.streams + (DISPATCH_CODE - STREAM_VA), shader.code, shader.size);
	state.registers_64 = shader.registers_64;
	tsr_pack_compute_state((uint64_t *)(void *)at, &state);
	push[0] = DRAWS_DATA;
	push[1] = DRAWS_DATA + DRAWS_DATA_SIZE / 2;
	tsr_pack_dispatch(command, &(struct tsr_dispatch){
		.state = DISPATCH_VA, .groups_x = 1 << fuzz_below(r, 16),
		.groups_y = TSR_GROUPS_MAX, .groups_z = 1 });
}

/* A scene, which has an end. */
static void fill(struct fuzz_random *r)
{
	static struct draws d;

	d.seed = fuzz_next(r);
	d.left_out = fuzz_often(r, 128) ? 0 : (uint32_t)fuzz_next(r) & 0xffff;
	d.most = 1 + fuzz_below(r, DRAWS_MAX);
	draws_make(&d);
	memcpy(m.data, d.data, DRAWS_DATA_SIZE);
	memcpy(m.list, d.list, DRAWS_LIST_SIZE);
}

/* Now nothing has one. */
static void make_endless(struct fuzz_random *r)
{
	uint64_t command[TSR_DISPATCH_QWORDS];

	if (fuzz_often(r, 192))
		endless_tiles(r, DRAWS_TILE_LIST);
	endless_render(r);
	if (fuzz_often(r, 192))
		endless_draws();
	endless_stream(r, TSR_ENGINE_CLASS_BIN, list_at(DRAWS_BIN), TSR_BIN_QWORDS);
	endless_stream(r, TSR_ENGINE_CLASS_RENDER, list_at(DRAWS_RENDER), TSR_RENDER_QWORDS);
	dispatch(r, command);
	endless_stream(r, TSR_ENGINE_CLASS_COMPUTE, command, TSR_DISPATCH_QWORDS);
	endless_stream(r, TSR_ENGINE_CLASS_COPY, NULL, 0);
}

/* ---- The machine ----------------------------------------------------------------------------- */

static const struct tsr_config kinds[] = {
	{ .cores = 2, .no_inline = true, .heads = 2 },
	{ .cores = 1, .no_inline = true, .simd = "sse2", .late_messages = true },
	{ .cores = 2, .no_inline = true, .jit = TSR_JIT_USE_FIRST },
	{ .cores = 2, .threads = 2, .heads = 2 },
};

/*
 * Heads whose frames take longer than the time between two of them, with planes that lie anywhere;
 * some of a head's words are random, so that its picture is refused or memory is not there.
 */
static void show(struct fuzz_random *r, unsigned int head)
{
	const uint32_t width = fuzz_often(r, 128) ? TSR_SCREEN_MAX : 16 + fuzz_below(r, 2000);
	const uint32_t height = 16 + fuzz_below(r, 64);

	for (unsigned int n = 0; n < TSR_PLANES; n++) {
		const uint32_t size = n == TSR_DISPLAY_PLANE_CURSOR ? TSR_CURSOR_MAX : width;
		const bool tiled = size == width && fuzz_often(r, 128);

		bench_write64(m.b, TSR_REG_DISPLAY_PLANE_ADDR(head, n),
			      fuzz_often(r, 32) ? 0 : DRAWS_DATA + 64 * fuzz_below(r, 64));
		bench_write(m.b, TSR_REG_DISPLAY_PLANE_FORMAT(head, n),
			    TSR_PIXEL_FORMAT_RGBA8_UNORM << TSR_CONVERSION_FORMAT__SHIFT |
			    TSR_COMPONENT_ORDER_BGRA);
		bench_write(m.b, TSR_REG_DISPLAY_PLANE_PITCH(head, n),
			    fuzz_often(r, 16) ? 64 : (size + 15) / 16 * (tiled ? 1024 : 64));
		bench_write(m.b, TSR_REG_DISPLAY_PLANE_CONFIG(head, n),
			    tiled | fuzz_below(r, 3) << 4 | n << 8 | fuzz_below(r, 0x10000) << 16);
		bench_write(m.b, TSR_REG_DISPLAY_PLANE_SIZE(head, n), size | height << 16);
	}
	bench_write64(m.b, TSR_REG_DISPLAY_WRITEBACK_ADDR(head), DRAWS_TARGETS);
	bench_write(m.b, TSR_REG_DISPLAY_WRITEBACK_FORMAT(head),
		    TSR_PIXEL_FORMAT_RGBA8_UNORM << TSR_CONVERSION_FORMAT__SHIFT);
	bench_write(m.b, TSR_REG_DISPLAY_WRITEBACK_PITCH(head), 4 * width);
	bench_write(m.b, TSR_REG_DISPLAY_CRC_CONTROL(head), 1);
	bench_write(m.b, TSR_REG_DISPLAY_MODE_H(head), width | (width + 1) << 16);
	bench_write(m.b, TSR_REG_DISPLAY_MODE_V(head), height | (height + 1) << 16);
	bench_write(m.b, TSR_REG_DISPLAY_MODE_CLOCK(head), width * height / 10 + 1);
	bench_write(m.b, TSR_REG_DISPLAY_COMMIT(head), TSR_DISPLAY_COMMIT_LATCH__MASK |
		    (fuzz_often(r, 128) ? TSR_DISPLAY_COMMIT_WRITEBACK__MASK : 0));
}

/* Vertical blanks are due. */
static void blank(void)
{
	atomic_fetch_add(&m.b->clock, 20000000);
	tsr_gpu_timer(m.b->gpu);
}

/* It has gone off when this returns, whatever is composed. */
static void hide(unsigned int head)
{
	if (!m.b->config.heads)
		return;
	bench_write(m.b, TSR_REG_DISPLAY_COMMIT(head), TSR_DISPLAY_COMMIT_DISABLE__MASK);
	if (bench_read(m.b, TSR_REG_DISPLAY_STATUS(head)) &
	    (TSR_DISPLAY_STATUS_ON__MASK | TSR_DISPLAY_STATUS_WRITEBACK_PENDING__MASK))
		fail("a head is not off", head);
}

static void begin(unsigned int cls)
{
	m.queue[cls].wptr = 0;
	bench_enable(&m.queue[cls], 0);
	bench_call(&m.queue[cls], STREAM_VA + cls * STREAM_BYTES, STREAM_BYTES);
	bench_kick(&m.queue[cls]);
}

static void start(const struct tsr_config *config, struct fuzz_random *r)
{
	m.saved = false;
	m.b = bench_new(config);
	bench_as_init(m.b, &m.as, 1);
	m.data = bench_buffer(&m.as, DRAWS_DATA, DRAWS_DATA_SIZE, BENCH_RW);
	m.list = bench_buffer(&m.as, DRAWS_LIST, DRAWS_LIST_SIZE, BENCH_RX);
	m.heap = bench_buffer(&m.as, DRAWS_HEAP, DRAWS_HEAP_SIZE, BENCH_RW);
	m.targets = bench_buffer(&m.as, DRAWS_TARGETS, DRAWS_TARGETS_SIZE, BENCH_RW);
	m.streams = bench_buffer(&m.as, STREAM_VA, (STREAMS_SIZE + 4095) & ~4095u, BENCH_RX);
	fill(r);
	if (fuzz_often(r, 64) && !config->threads)
		m.b->pending_every = 1 + fuzz_below(r, 4);
	for (unsigned int i = 0; i < CLASSES; i++)
		bench_queue_init(&m.queue[i], i, (enum tsr_engine_class)i, TSR_PRIORITY_NORMAL,
				 &m.as, DRIVER_VA + 0x10000 * i, 12, &m.as);
	/* what RENDER reads has been binned, at least in part */
	bench_call(&m.queue[TSR_ENGINE_CLASS_BIN], DRAWS_LIST + DRAWS_BIN, 8 * TSR_BIN_QWORDS);
	bench_kick(&m.queue[TSR_ENGINE_CLASS_BIN]);
	if (config->threads)
		bench_run(m.b, 5);
	for (unsigned int i = 0; i < 200 && !config->threads; i++) {
		if (!tsr_gpu_run(m.b->gpu, 1000) && !bench_answer(m.b))
			break;
	}
	make_endless(r);
	if (config->heads) {
		bench_write64(m.b, TSR_REG_AS_BASE(0), m.as.root | TSR_AS_BASE_VALID__MASK);
		bench_write(m.b, TSR_REG_AS_COMMAND(0), TSR_INV_OP_ALL);
	}
	for (unsigned int i = 0; i < config->heads; i++)
		show(r, i);
	for (unsigned int i = 0; i < CLASSES; i++) {
		bench_control(&m.queue[i], TSR_QUEUE_OP_RESET);
		begin(i);
	}
}

/* Until what has been asked for is done: at once without threads, else the fuzzer's patience. */
static void wait_for(unsigned int cls, enum tsr_queue_state state)
{
	while (bench_state(&m.queue[cls]) != state ||
	       bench_queue_reg(&m.queue[cls], TSR_QUEUE_STATE__OFFSET) &
	       TSR_QUEUE_STATE_STOPPING__MASK) {
		if (!m.b->config.threads)
			fail("the queue has not stopped", cls);
		usleep(100);
	}
}

static uint64_t cycles_of(unsigned int cls)
{
	return bench_queue_reg64(&m.queue[cls], TSR_QUEUE_CYCLES__OFFSET);
}

/* ---- Moments --------------------------------------------------------------------------------- */

static void look(unsigned int cls)
{
	for (unsigned int i = 0; i < 4 && !m.b->config.threads; i++) {
		uint64_t cycles = stop_work_step(&m.queue[cls], i & 1);

		steps++;
		most[cls] = cycles > most[cls] ? cycles : most[cls];
		if (cycles > TSR_STOP_WORK)
			fail("cycles to a stopping point", cycles);
	}
}

static void reset_queue(unsigned int cls)
{
	bench_control(&m.queue[cls], TSR_QUEUE_OP_RESET);
	wait_for(cls, TSR_QUEUE_STATE_DISABLED);
	begin(cls);
}

static void suspend(unsigned int cls)
{
	enum tsr_queue_state state = bench_state(&m.queue[cls]);

	if (state == TSR_QUEUE_STATE_FAULTED || state == TSR_QUEUE_STATE_DISABLED) {
		reset_queue(cls);
		return;
	}
	bench_control(&m.queue[cls], TSR_QUEUE_OP_SUSPEND);
	/* the queue may fault before it is suspended */
	while (bench_state(&m.queue[cls]) != TSR_QUEUE_STATE_SUSPENDED &&
	       bench_state(&m.queue[cls]) != TSR_QUEUE_STATE_FAULTED) {
		if (!m.b->config.threads)
			fail("the queue is not suspended", cls);
		usleep(100);
	}
	if (bench_state(&m.queue[cls]) == TSR_QUEUE_STATE_SUSPENDED)
		bench_control(&m.queue[cls], TSR_QUEUE_OP_RESUME);
}

static void save(bool drain)
{
	uint64_t before = 0, after = 0;
	char err[200] = "";
	size_t size;
	void *image;

	if (m.saved)
		return;
	m.saved = true;
	tsr_gpu_pause(m.b->gpu);
	for (unsigned int i = 0; i < CLASSES; i++)
		before += cycles_of(i);
	if (drain)
		tsr_gpu_drain(m.b->gpu);
	for (unsigned int i = 0; i < CLASSES; i++)
		after += cycles_of(i);
	if (after - before > TSR_DRAIN_CYCLES + CLASSES * TSR_STOP_WORK)
		fail("cycles before a snapshot", after - before);
	size = tsr_gpu_save(m.b->gpu, NULL, 0);
	image = malloc(size);
	if (!image)
		abort();
	tsr_gpu_save(m.b->gpu, image, size);
	bench_replace(m.b);
	tsr_gpu_pause(m.b->gpu);
	if (!tsr_gpu_load(m.b->gpu, image, size, err, sizeof(err)))
		fail(err, size);
	free(image);
	tsr_gpu_resume(m.b->gpu);
}

static void reset_device(void)
{
	bench_write(m.b, TSR_REG_GPU_CONTROL, TSR_GPU_CONTROL_RESET__MASK);
	while (bench_read(m.b, TSR_REG_GPU_STATUS)) {
		if (!m.b->config.threads)
			fail("the device resets for ever", 0);
		usleep(100);
	}
	for (unsigned int i = 0; i < CLASSES; i++)
		wait_for(i, TSR_QUEUE_STATE_DISABLED);
}

/* False: there is nothing to go on with. */
static bool moment(uint8_t what, uint8_t when)
{
	unsigned int cls = what & 3;

	moments++;
	if (m.b->config.heads)
		blank();
	if (m.b->config.threads)
		usleep(when * 16);
	else if (!tsr_gpu_run(m.b->gpu, 1 + (uint64_t)when * when))
		bench_answer(m.b);
	switch (what >> 2 & 7) {
	case 0:
		reset_queue(cls);
		break;
	case 1:
		suspend(cls);
		break;
	case 2:
		if (!bench_invalidate_all(&m.as))
			fail("no invalidation", cls);
		break;
	case 3:
		tsr_gpu_pause(m.b->gpu);
		tsr_gpu_resume(m.b->gpu);
		break;
	case 4:
		save(what >= 0xd0);
		break;
	case 5:
		if (what < 0xe0) {
			hide(what & 1);
			break;
		}
		reset_device();
		return false;
	default:
		look(cls);
		break;
	}
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_random r;

	if (size < 11)
		return 0;
	r = fuzz_random(data + 1, 8);
	start(&kinds[data[0] % (sizeof(kinds) / sizeof(kinds[0]))], &r);
	for (size_t i = 9; i + 1 < size && i < 9 + 2 * MOMENTS; i += 2) {
		if (!moment(data[i], data[i + 1]))
			break;
	}
	bench_free(m.b);
	return 0;
}
