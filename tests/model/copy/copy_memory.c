/* SPDX-License-Identifier: MIT */
/* test: TIMEOUT=120 */
/*
 * The copy engine on the whole device: system and local memory in all directions, pages of both
 * sizes, surfaces that lie in several kinds of memory, faults, counters, time slices.
 */
#include <stdlib.h>
#include <string.h>

#include "copy_ref.h"
#include "ktap.h"
#include "stage.h"

#define SRC 0x40000000ull
#define DST 0x80000000ull
#define AREA (4ull << 20)
#define LOCAL_SIZE (32ull << 20)
#define FENCE (STAGE_DATA + 0x8000)

/* Source and destination, each in one kind of memory, and the device. */
struct scene {
	struct stage s;
	struct bench_queue q;
	uint8_t *src, *dst;		/* the test's view */
	uint64_t src_bus, dst_bus;	/* bus address or local offset */
};

/* Where an area lies. */
struct place {
	bool local, huge;
};

static uint8_t *place_area(struct scene *c, uint64_t va, struct place place, uint64_t *bus)
{
	uint64_t bits = BENCH_RW | (place.local ? TSR_PTE_LOCAL__MASK : 0);
	uint64_t align = place.huge ? BENCH_HUGE_PAGE : BENCH_PAGE;
	struct bench *b = c->s.b;

	*bus = place.local ? bench_alloc_local(b, AREA, align) : bench_alloc(b, AREA, align);
	(place.huge ? bench_map_huge : bench_map)(&c->s.as[1], va, *bus, AREA, bits);
	return place.local ? b->local + *bus : bench_ptr(b, *bus, AREA);
}

static void scene_init(struct scene *c, unsigned int threads, struct place src, struct place dst)
{
	struct tsr_config config = { .threads = threads, .local_size = LOCAL_SIZE };
	uint64_t i;

	config.engines[TSR_ENGINE_CLASS_COPY] = 1;
	stage_init(&c->s, &config);
	c->src = place_area(c, SRC, src, &c->src_bus);
	c->dst = place_area(c, DST, dst, &c->dst_bus);
	for (i = 0; i < AREA; i++)
		c->src[i] = (uint8_t)(i * 31 + (i >> 8) * 7 + (i >> 16));
	memset(c->dst, 0xcc, AREA);
	stage_queue(&c->s, &c->q, 0, TSR_ENGINE_CLASS_COPY, TSR_PRIORITY_NORMAL);
}

static bool run(struct scene *c, const uint64_t *cmd, unsigned int qwords)
{
	struct stage_stream stream = stage_stream(&c->s, 0);
	uint64_t value = stage_load(&c->s, FENCE - STAGE_DATA) + 1;

	stage_add(&stream, cmd, qwords);
	stage_call(&c->q, &stream);
	bench_fence(&c->q, FENCE, value, TSR_EVENT_ALL_DONE, false);
	bench_kick(&c->q);
	return ktap_ok(bench_run(c->s.b, 20)) &&
	       ktap_eq(bench_fault(&c->q), TSR_FAULT_NONE) &&
	       ktap_eq(stage_load(&c->s, FENCE - STAGE_DATA), value);
}

/* Offset of texel (x, y) in a surface, from the definition. */
static uint64_t texel_at(bool tiled, uint64_t pitch, unsigned int texel, unsigned int x,
			 unsigned int y)
{
	if (!tiled)
		return y * pitch + (uint64_t)x * texel;
	return y / 16 * pitch + ((uint64_t)x / 16 * 256 + copy_ref_index(x % 16, y % 16)) * texel;
}

/* True if the destination holds the rectangle; texels outside of it are not looked at. */
static bool check_rect(const struct scene *c, const struct tsr_copy_rect *r)
{
	unsigned int x, y;

	for (y = 0; y < r->height; y++) {
		for (x = 0; x < r->width; x++) {
			unsigned int fx = r->flip_x ? r->width - 1 - x : x;
			unsigned int fy = r->flip_y ? r->height - 1 - y : y;
			uint64_t from = r->src - SRC + texel_at(r->src_layout, r->src_pitch,
								r->texel, r->src_x + x,
								r->src_y + y);
			uint64_t to = r->dst - DST + texel_at(r->dst_layout, r->dst_pitch,
							      r->texel, r->dst_x + fx,
							      r->dst_y + fy);

			if (memcmp(c->dst + to, c->src + from, r->texel))
				return ktap_fail("texel (%u, %u)", x, y);
		}
	}
	return true;
}

static bool copy_rect(struct scene *c, const struct tsr_copy_rect *r)
{
	uint64_t cmd[8];

	tsr_pack_copy_rect(cmd, r);
	return run(c, cmd, TSR_COPY_RECT_QWORDS) && check_rect(c, r);
}

/* Every kind of copy from one place to the other. */
static void test_places(const void *arg)
{
	const struct place *place = arg;
	struct tsr_copy_rect r = { .texel = 4, .src = SRC + 64, .dst = DST + 64 * 5, .width = 300,
				   .height = 200, .src_x = 5, .dst_y = 3 };
	struct scene c;
	uint64_t cmd[8];

	scene_init(&c, 0, place[0], place[1]);
	tsr_pack_copy_linear(cmd, &(struct tsr_copy_linear){
		.src = SRC + 3, .dst = DST + 5, .size = AREA - 10 });
	run(&c, cmd, TSR_COPY_LINEAR_QWORDS);
	ktap_mem_eq(c.dst + 5, c.src + 3, AREA - 10);
	for (unsigned int layouts = 0; layouts < 4; layouts++) {
		r.src_layout = layouts & 1;
		r.dst_layout = layouts >> 1;
		r.src_pitch = r.dst_pitch = 20 * 1024;
		r.flip_x = layouts & 1;
		r.flip_y = layouts & 2;
		memset(c.dst, 0xcc, AREA);
		copy_rect(&c, &r);
	}
	tsr_pack_fill_linear(cmd, &(struct tsr_fill_linear){
		.texel = 3, .dst = DST + 1, .size = 600000, .pattern_lo = 0x030201 });
	run(&c, cmd, TSR_FILL_LINEAR_QWORDS);
	for (unsigned int i = 0; i < 600000; i++) {
		if (!ktap_eq(c.dst[i + 1], 1 + i % 3))
			break;
	}
	stage_free(&c.s);
}

/* Pages of the source turn by turn in system memory, in local memory, and nowhere. */
static void test_mixed(void)
{
	struct tsr_copy_rect r = { .texel = 12, .src = SRC, .dst = DST, .src_pitch = 12 * 400,
				   .dst_pitch = 256 * 12 * 20, .dst_layout = 1, .width = 300,
				   .height = 160, .flip_y = true };
	uint64_t page, local;
	struct scene c;

	scene_init(&c, 0, (struct place){ 0 }, (struct place){ 0 });
	local = bench_alloc_local(c.s.b, AREA, BENCH_PAGE);
	for (page = 0; page < AREA; page += BENCH_PAGE) {
		if (page / BENCH_PAGE % 3 == 1) {
			memcpy(c.s.b->local + local + page, c.src + page, BENCH_PAGE);
			memset(c.src + page, 0, BENCH_PAGE);
			bench_map(&c.s.as[1], SRC + page, local + page, BENCH_PAGE,
				  BENCH_R | TSR_PTE_LOCAL__MASK);
		} else if (page / BENCH_PAGE % 3 == 2) {
			bench_map(&c.s.as[1], SRC + page, 0, BENCH_PAGE,
				  BENCH_R | TSR_PTE_NULL__MASK);
		}
	}
	ktap_ok(bench_invalidate_all(&c.s.as[1]));
	{
		uint64_t cmd[8];

		tsr_pack_copy_rect(cmd, &r);
		run(&c, cmd, TSR_COPY_RECT_QWORDS);
	}
	for (page = 0; page < AREA; page += BENCH_PAGE) {
		if (page / BENCH_PAGE % 3 == 1)
			memcpy(c.src + page, c.s.b->local + local + page, BENCH_PAGE);
		else if (page / BENCH_PAGE % 3 == 2)
			memset(c.src + page, 0, BENCH_PAGE);
	}
	check_rect(&c, &r);
	stage_free(&c.s);
}

/* A way to make the page at DST + 3 pages impossible, and what the record must say. */
struct spoil {
	const char *what;
	uint64_t and, or;		/* changes to its entry */
	uint8_t code;
};

static void test_fault(const void *arg)
{
	const struct spoil *spoil = arg;
	uint64_t at = DST + 3 * BENCH_PAGE, cmd[8], *pte;
	struct scene c;

	scene_init(&c, 0, (struct place){ 0 }, (struct place){ 0 });
	pte = bench_pte(&c.s.as[1], at, 0);
	*pte = (*pte & spoil->and) | spoil->or;
	ktap_ok(bench_invalidate_all(&c.s.as[1]));
	{
		struct stage_stream stream = stage_stream(&c.s, 0);

		tsr_pack_copy_linear(cmd, &(struct tsr_copy_linear){
			.src = SRC, .dst = DST + 10, .size = AREA / 2 });
		stage_add(&stream, (uint64_t[]){ TSR_OP_NOP | 1 << 8 }, 1);
		stage_add(&stream, cmd, TSR_COPY_LINEAR_QWORDS);
		stage_call(&c.q, &stream);
	}
	bench_fence(&c.q, FENCE, 1, TSR_EVENT_ALL_DONE, true);
	bench_kick(&c.q);
	ktap_ok(bench_run(c.s.b, 10));
	ktap_eq(bench_state(&c.q), TSR_QUEUE_STATE_FAULTED);
	ktap_eq(bench_fault(&c.q), spoil->code);
	ktap_eq(bench_queue_reg64(&c.q, TSR_QUEUE_FAULT_ADDR__OFFSET), at);
	ktap_eq(bench_queue_reg64(&c.q, TSR_QUEUE_FAULT_PC__OFFSET), STAGE_STREAM + 8);
	ktap_eq(bench_queue_reg64(&c.q, TSR_QUEUE_FAULT_HEADER__OFFSET), cmd[0]);
	ktap_eq(bench_queue_reg(&c.q, TSR_QUEUE_FAULT_AS__OFFSET), 1);
	ktap_eq(bench_field(bench_queue_reg(&c.q, TSR_QUEUE_FAULT__OFFSET),
			    TSR_QUEUE_FAULT_ACCESS__MASK), TSR_ACCESS_WRITE);
	ktap_eq(bench_field(bench_queue_reg(&c.q, TSR_QUEUE_FAULT__OFFSET),
			    TSR_QUEUE_FAULT_UNIT__MASK), TSR_UNIT_COPY);
	ktap_mem_eq(c.dst + 10, c.src, 3 * BENCH_PAGE - 10);
	ktap_eq(c.dst[3 * BENCH_PAGE], 0xcc);
	ktap_eq(c.dst[4 * BENCH_PAGE], 0xcc);
	ktap_eq(stage_load(&c.s, FENCE - STAGE_DATA), 0);
	ktap_eq(c.s.b->interrupts[TSR_IRQ_CLASS_JOB], 0);
	ktap_eq(c.s.b->interrupts[TSR_IRQ_CLASS_FAULT], 1);
	stage_free(&c.s);
}

/* The entry for the end of the address space does not exist: nothing wraps or reads beyond. */
static void test_end_of_space(void)
{
	const uint64_t addrs[] = { 1ull << 48, UINT64_MAX, UINT64_MAX - 15 };
	struct tsr_copy_rect r = { .texel = 16, .src = SRC, .src_pitch = 16, .dst_pitch = 16,
				   .width = 1, .height = 4 };
	unsigned int i, rect;

	for (i = 0; i < 3; i++) {
		for (rect = 0; rect < 2; rect++) {
			struct stage_stream stream;
			uint64_t cmd[8];
			struct scene c;

			scene_init(&c, 0, (struct place){ 0 }, (struct place){ 0 });
			r.dst = addrs[i];
			if (rect)
				tsr_pack_copy_rect(cmd, &r);
			else
				tsr_pack_copy_linear(cmd, &(struct tsr_copy_linear){
					.src = SRC, .dst = addrs[i], .size = 100000 });
			stream = stage_stream(&c.s, 0);
			stage_add(&stream, cmd,
				  rect ? TSR_COPY_RECT_QWORDS : TSR_COPY_LINEAR_QWORDS);
			stage_call(&c.q, &stream);
			bench_kick(&c.q);
			ktap_ok(bench_run(c.s.b, 10));
			ktap_eq(bench_fault(&c.q), TSR_FAULT_MMU_UNMAPPED);
			ktap_eq(bench_queue_reg64(&c.q, TSR_QUEUE_FAULT_ADDR__OFFSET), addrs[i]);
			stage_free(&c.s);
		}
	}
}

/* Translations that the host answers late, and memory in pieces of odd length. */
static void test_slow_host(void)
{
	struct tsr_copy_rect r = { .texel = 5, .src = SRC + 3, .dst = DST, .src_pitch = 1501,
				   .dst_pitch = 256 * 5 * 20, .dst_layout = 1, .width = 300,
				   .height = 200, .flip_x = true };
	unsigned int pending;
	struct scene c;

	for (pending = 1; pending < 4; pending++) {
		scene_init(&c, 0, (struct place){ 0 }, (struct place){ 0 });
		c.s.b->pending_every = pending;
		copy_rect(&c, &r);
		ktap_eq(bench_queue_reg64(&c.q, TSR_QUEUE_COUNTER__OFFSET +
						8 * TSR_QUEUE_COUNTER_WRITE_BYTES), 300000);
		/* CALL, FENCE and the packet; what came late costs nothing. */
		ktap_eq(bench_queue_reg64(&c.q, TSR_QUEUE_COUNTER__OFFSET +
						8 * TSR_QUEUE_COUNTER_CYCLES),
			3 + 3 + 6 + 2 * ((300000 + 63) / 64));
		stage_free(&c.s);
	}
}

/* Counters and cycles of one command, from its numbers alone. */
static void test_counters(void)
{
	const struct tsr_copy_rect r = { .texel = 3, .src = SRC, .dst = DST, .src_pitch = 1000,
					 .dst_pitch = 256 * 3 * 8, .dst_layout = 1, .width = 100,
					 .height = 33 };
	struct scene c;
	uint64_t base = TSR_QUEUE_COUNTER__OFFSET;

	scene_init(&c, 0, (struct place){ 0 }, (struct place){ 0 });
	copy_rect(&c, &r);
	ktap_eq(bench_queue_reg64(&c.q, base + 8 * TSR_QUEUE_COUNTER_READ_BYTES), 100 * 33 * 3);
	ktap_eq(bench_queue_reg64(&c.q, base + 8 * TSR_QUEUE_COUNTER_WRITE_BYTES), 100 * 33 * 3);
	ktap_eq(bench_queue_reg64(&c.q, base + 8 * TSR_QUEUE_COUNTER_ENGINE_COMMANDS), 1);
	/* CALL and FENCE in the ring, COPY_RECT in the stream: 3 + 3 + 6 qwords. */
	ktap_eq(bench_queue_reg64(&c.q, base + 8 * TSR_QUEUE_COUNTER_CYCLES),
		3 + 3 + 6 + 2 * ((100 * 33 * 3 + 63) / 64));
	stage_free(&c.s);
}

/* Two queues take turns on one engine, in the middle of their commands. */
static void test_slices(void)
{
	struct stage_stream stream;
	struct bench_queue other;
	uint64_t cmd[8];
	struct scene c;

	scene_init(&c, 0, (struct place){ 0 }, (struct place){ .local = true });
	stage_queue(&c.s, &other, 1, TSR_ENGINE_CLASS_COPY, TSR_PRIORITY_NORMAL);
	bench_write(c.s.b, TSR_REG_QUEUE_TIMESLICE(0), 1024);
	bench_write(c.s.b, TSR_REG_QUEUE_TIMESLICE(1), 1024);
	stream = stage_stream(&c.s, 0);
	tsr_pack_copy_linear(cmd, &(struct tsr_copy_linear){
		.src = SRC + 1, .dst = DST, .size = AREA / 2 });
	stage_add(&stream, cmd, TSR_COPY_LINEAR_QWORDS);
	stage_call(&c.q, &stream);
	stream = stage_stream(&c.s, 4096);
	tsr_pack_copy_linear(cmd, &(struct tsr_copy_linear){
		.src = SRC + AREA / 2, .dst = DST + AREA / 2 + 1, .size = AREA / 2 - 1 });
	stage_add(&stream, cmd, TSR_COPY_LINEAR_QWORDS);
	stage_call(&other, &stream);
	bench_kick(&c.q);
	bench_kick(&other);
	ktap_ok(bench_run(c.s.b, 20));
	ktap_mem_eq(c.dst, c.src + 1, AREA / 2);
	ktap_mem_eq(c.dst + AREA / 2 + 1, c.src + AREA / 2, AREA / 2 - 1);
	ktap_ok(bench_queue_reg(&c.q, TSR_QUEUE_PREEMPTIONS__OFFSET) > 20);
	ktap_ok(bench_queue_reg(&other, TSR_QUEUE_PREEMPTIONS__OFFSET) > 20);
	stage_free(&c.s);
}

/* The ring and the stream themselves are in local memory. */
static void test_local_commands(void)
{
	const uint64_t ring_va = 0x200000000ull, stream_va = 0x210000000ull;
	uint64_t ring, stream, cmd[8];
	struct bench_queue q = { 0 };
	struct scene c;
	uint8_t *local;

	scene_init(&c, 0, (struct place){ 0 }, (struct place){ 0 });
	ring = bench_alloc_local(c.s.b, BENCH_PAGE, BENCH_PAGE);
	stream = bench_alloc_local(c.s.b, BENCH_PAGE, BENCH_PAGE);
	bench_map(&c.s.as[0], ring_va, ring, BENCH_PAGE, BENCH_RX | TSR_PTE_LOCAL__MASK);
	bench_map(&c.s.as[1], stream_va, stream, BENCH_PAGE, BENCH_RX | TSR_PTE_LOCAL__MASK);
	local = c.s.b->local;
	tsr_pack_copy_linear(cmd, &(struct tsr_copy_linear){
		.src = SRC, .dst = DST, .size = 5000 });
	memcpy(local + stream, cmd, TSR_COPY_LINEAR_QWORDS * 8);
	pk_call(cmd, stream_va, TSR_COPY_LINEAR_QWORDS * 8);
	memcpy(local + ring, cmd, TSR_CALL_QWORDS * 8);
	bench_queue_init(&q, 5, TSR_ENGINE_CLASS_COPY, TSR_PRIORITY_NORMAL, &c.s.as[0],
			 0x220000000ull, 12, &c.s.as[1]);
	bench_control(&q, TSR_QUEUE_OP_RESET);
	bench_write64(c.s.b, TSR_REG_QUEUE_RING_BASE(5), ring_va);
	bench_enable(&q, 0);
	bench_write(c.s.b, TSR_REG_DOORBELL_RING(5), TSR_CALL_QWORDS * 8);
	ktap_ok(bench_run(c.s.b, 10));
	ktap_eq(bench_state(&q), TSR_QUEUE_STATE_IDLE);
	ktap_mem_eq(c.dst, c.src, 5000);
	ktap_eq(c.dst[5000], 0xcc);
	stage_free(&c.s);
}

static const struct spoil spoils[] = {
	{ "not mapped", 0, 0, TSR_FAULT_MMU_UNMAPPED },
	{ "read-only", ~TSR_PTE_WRITE__MASK, 0, TSR_FAULT_MMU_PERMISSION },
	{ "a reserved bit", UINT64_MAX, 1ull << 63, TSR_FAULT_MMU_WALK },
	{ "no leaf", ~TSR_PTE_LEAF__MASK, 0, TSR_FAULT_MMU_WALK },
	{ "beyond memory", ~TSR_PTE_ADDR__MASK, 1ull << 40, TSR_FAULT_BUS },
	{ "beyond local memory", ~TSR_PTE_ADDR__MASK, LOCAL_SIZE | TSR_PTE_LOCAL__MASK,
	  TSR_FAULT_BUS },
};

int main(int argc, char **argv)
{
	static const struct place places[][2] = {
		{ { false, false }, { false, false } }, { { false, false }, { true, false } },
		{ { true, false }, { false, false } }, { { true, false }, { true, false } },
		{ { false, true }, { true, true } }, { { true, true }, { false, false } },
	};
	char name[120];
	unsigned int i;

	ktap_start_args(argc, argv);
	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(name, sizeof(name), "[MEM1] [MEM4] %s%s to %s%s memory",
			 places[i][0].local ? "local" : "system",
			 places[i][0].huge ? " (2 MiB pages)" : "",
			 places[i][1].local ? "local" : "system",
			 places[i][1].huge ? " (2 MiB pages)" : "");
		ktap_run_arg(name, test_places, places[i]);
	}
	ktap_run("[MEM1] a surface partly in system, partly in local memory, partly nowhere",
		 test_mixed);
	ktap_run("[MEM1] a ring and a stream in local memory", test_local_commands);
	for (i = 0; i < sizeof(spoils) / sizeof(spoils[0]); i++) {
		snprintf(name, sizeof(name), "[MEM3] a fault of a copy is exact: %s",
			 spoils[i].what);
		ktap_run_arg(name, test_fault, &spoils[i]);
	}
	ktap_run("[MEM3] a copy beyond the address space", test_end_of_space);
	ktap_run("translations that come late change nothing", test_slow_host);
	ktap_run("counters and cycles of a copy", test_counters);
	ktap_run("[MEM4] two copies take turns on an engine, bit-exact", test_slices);
	return ktap_finish();
}
