// SPDX-License-Identifier: MIT
/* test: TIMEOUT=120 */
/*
 * Dispatches through the whole stack: where threads think they are, push constants and uniform
 * buffers, grids from memory, shared memory, atomics across groups, scratch, counted buffers, and
 * the order of dispatches that depend on each other.
 */
#include "ct.h"

#include <errno.h>

static struct ct c;

/*
 * Each thread stores r55 to r62 where its global number says: x + u0.w0 * (y + u0.w1 * z), 32 bytes
 * each, in u2.
 */
#define IDS \
	"clause {\n" \
	"	*IMUL.i32 t0, r62, u0.w1\n" \
	"	+IADD.u32 r0, t, r61\n" \
	"	*NOP\n" \
	"	*IMUL.i32 t0, r0, u0.w0\n" \
	"	+IADD.u32 r0, t, r60\n" \
	"}\n" \
	"clause slot=0 {\n" \
	"	*SHADDXL.u32 r2:t0, u2.w0, r0, shift:5\n" \
	"	+SHADDXH.i32 r3:t1, u2.w1, t\n" \
	"	+STORE.i128 t0, t1, @r55\n" \
	"}\n" \
	"clause slot=0 end {\n" \
	"	*SHADDXL.u32 t0, r2, 16, shift:0\n" \
	"	+SHADDXH.i32 t1, r3, t\n" \
	"	+STORE.i128 t0, t1, @r59\n" \
	"}\n"

static void check_ids(const uint32_t *got, const uint32_t local[3], const uint32_t groups[3])
{
	uint32_t n[3], x, y, z, i, bad = 0;

	for (i = 0; i < 3; i++)
		n[i] = local[i] * groups[i];
	for (z = 0; z < n[2]; z++) {
		for (y = 0; y < n[1]; y++) {
			for (x = 0; x < n[0]; x++, got += 8) {
				const uint32_t want[8] = {
					x % local[0] | y % local[1] << 16, z % local[2],
					x / local[0], y / local[1], z / local[2], x, y, z,
				};

				/* the high half of r56 is not promised */
				bad += got[0] != want[0] || (got[1] & 0xffff) != want[1] ||
				       memcmp(got + 2, want + 2, 24);
			}
		}
	}
	ktap_eq(bad, 0);
}

static void ids_of(uint32_t lx, uint32_t ly, uint32_t lz, uint32_t gx, uint32_t gy, uint32_t gz)
{
	const uint32_t local[3] = { lx, ly, lz }, groups[3] = { gx, gy, gz };
	uint64_t threads = (uint64_t)lx * ly * lz * gx * gy * gz;
	struct tsr_alloc data = lt_data(&c.lt, threads * 32 + 64, 0x5a);
	const uint32_t push[2] = { lx * gx, ly * gy };
	struct tsr_storage storage = ct_storage(&data, 4);
	struct tsr_dispatch_info d = {
		.groups = { gx, gy, gz }, .push = push, .push_words = 2,
		.storage = &storage, .storage_count = 1,
	};
	const unsigned char *guard = (unsigned char *)data.cpu + threads * 32;
	unsigned int i, bad = 0;
	char text[1024];

	snprintf(text, sizeof(text), ".local %u, %u, %u\n%s", lx, ly, lz, IDS);
	d.shader = ct_program(&c, "ids", text);
	LT_OK(ct_run(&c, &d));
	check_ids(data.cpu, local, groups);
	for (i = 0; i < 64; i++)
		bad += guard[i] != 0x5a;
	ktap_eq(bad, 0);
	tsr_shader_unref(d.shader);
	tsr_pool_free(c.lt.data, &data);
}

static void ids(void)
{
	ids_of(1, 1, 1, 1, 1, 1);
	ids_of(5, 3, 2, 3, 4, 2);
	ids_of(16, 1, 1, 7, 5, 3);
	ids_of(1, 17, 1, 2, 3, 1);
	ids_of(1024, 1, 1, 2, 1, 1);
	ids_of(1, 1, 1024, 1, 1, 2);
	ids_of(32, 32, 1, 3, 2, 1);
	ids_of(8, 4, 32, 1, 1, 3);
}

/* A grid without groups runs nothing, and the job is done. */
static void empty_grid(void)
{
	struct tsr_alloc data = lt_data(&c.lt, 64, 0x11);
	struct tsr_storage storage = ct_storage(&data, 4);
	struct tsr_dispatch_info d = { .storage = &storage, .storage_count = 1 };

	d.shader = ct_program(&c, "ids", IDS);
	LT_OK(ct_run(&c, &d));
	ktap_eq(*(uint32_t *)data.cpu, 0x11111111);
	tsr_shader_unref(d.shader);
	tsr_pool_free(c.lt.data, &data);
}

/* The number of lane and warp: lane | warp << 8. */
static void lanes(void)
{
	struct tsr_alloc data = lt_data(&c.lt, 40 * 2 * 4, 0);
	struct tsr_storage storage = ct_storage(&data, 4);
	struct tsr_dispatch_info d = { .groups = { 2 }, .storage = &storage, .storage_count = 1 };
	const uint32_t *got = data.cpu;
	unsigned int i;

	d.shader = ct_program(&c, "lanes",
			       ".local 40, 1, 1\n"
			       "clause {\n"
			       "	*MOV.i32 r0, lane_id.w0\n"
			       "	*MOV.i32 t0, warp_id.w0\n"
			       "	*LSHIFT_OR.i32 r0, t0, r0, 8\n"
			       "}\n"
			       "clause slot=0 end {\n"
			       CT_ELEMENT(2, "r60")
			       "	+STORE.i32 t0, t1, @r0\n"
			       "}\n");
	LT_OK(ct_run(&c, &d));
	for (i = 0; i < 80; i++)
		ktap_eq(got[i], i % 40 % 16 | i % 40 / 16 << 8);
	tsr_shader_unref(d.shader);
	tsr_pool_free(c.lt.data, &data);
}

/* Each thread adds 1 to the number at u2. */
#define COUNT \
	"clause slot=0 end {\n" \
	"	*MOV.i32 t0, u2.w0\n" \
	"	+MOV.i32 t1, u2.w1\n" \
	"	*ATOM_C1.i32.ainc t0, t1\n" \
	"	+ATOM_CX t0, t1, zero.w0, @r0\n" \
	"}\n"

/* The first dispatch writes the grid of the second, which counts its threads. */
static void indirect(void)
{
	struct tsr_alloc data = lt_data(&c.lt, 4096, 0);
	struct tsr_alloc grid = lt_data(&c.lt, 64, 0xff);
	struct tsr_storage storage[2] = { ct_storage(&data, 4), ct_storage(&grid, 8) };
	struct tsr_shader *maker, *counter;
	struct tsr_dispatch_info make = { .groups = { 1 }, .storage = storage + 1,
					  .storage_count = 1 };
	struct tsr_dispatch_info count = { .indirect = grid.va, .storage = storage,
					   .storage_count = 1 };

	maker = ct_program(&c, "maker",
			   "clause {\n"
			   "	+MOV.i32 r0, 7\n"
			   "	+MOV.i32 r1, 5\n"
			   "	+MOV.i32 r2, 3\n"
			   "}\n"
			   "clause slot=0 end {\n"
			   "	*MOV.i32 t0, u4.w0\n"
			   "	+MOV.i32 t1, u4.w1\n"
			   "	+STORE.i96 t0, t1, @r0\n"
			   "}\n");
	counter = ct_program(&c, "counter", ".local 11, 2, 1\n" COUNT);
	make.shader = maker;
	count.shader = counter;
	LT_OK(tsr_cmd_dispatch(c.lt.stream, &make, sizeof(make)));
	LT_OK(tsr_cmd_dispatch(c.lt.stream, &count, sizeof(count)));
	LT_OK(ct_finish(&c));
	ktap_eq(*(uint32_t *)data.cpu, 7 * 5 * 3 * 22);
	/* one number too large: the device refuses it, exactly there */
	((uint32_t *)grid.cpu)[1] = 65536;
	ktap_eq(ct_run(&c, &count), -EINVAL);
	ktap_eq(ct_state(&c).fault_code, TSR_FAULT_BAD_VALUE);
	ktap_eq(*(uint32_t *)data.cpu, 7 * 5 * 3 * 22);
	ct_new_queue(&c);
	tsr_shader_unref(maker);
	tsr_shader_unref(counter);
	tsr_pool_free(c.lt.data, &data);
	tsr_pool_free(c.lt.data, &grid);
}

/* Words of a uniform buffer of 48 bytes at offsets 0, 44, 48 and 65536, and of one not there. */
static void uniforms(void)
{
	struct tsr_alloc data = lt_data(&c.lt, 64, 0xee), from = lt_data(&c.lt, 128, 0);
	struct tsr_storage storage = ct_storage(&data, 4);
	struct tsr_uniform uniform = { from.va, 48 };
	struct tsr_dispatch_info d = { .groups = { 1 }, .storage = &storage, .storage_count = 1,
				       .uniforms = &uniform, .uniform_count = 1 };
	uint32_t *words = from.cpu, i;
	const uint32_t *got = data.cpu;

	for (i = 0; i < 32; i++)
		words[i] = 100 + i;
	d.shader = ct_program(&c, "uniforms",
			       "clause slot=0 { +LOAD.i32.ubo zero.w0, zero.w0, @r0\n }\n"
			       "clause slot=0 { +LOAD.i32.ubo 44, 0, @r1\n }\n"
			       "clause slot=0 { +LOAD.i32.ubo 48, 0, @r2\n }\n"
			       "clause slot=0 { +LOAD.i32.ubo 65536, 0, @r3\n }\n"
			       "clause slot=0 wait=0 { +LOAD.i32.ubo 0, 1, @r4\n }\n"
			       "clause slot=0 {\n"
			       "	*MOV.i32 t0, u2.w0\n"
			       "	+MOV.i32 t1, u2.w1\n"
			       "	+STORE.i128 t0, t1, @r0\n"
			       "}\n"
			       "clause slot=0 end {\n"
			       "	*SHADDXL.u32 t0, u2.w0, r60, shift:0\n"
			       "	+SHADDXH.i32 t1, u2.w1, t\n"
			       "	*SHADDXL.u32 t0, t0, 16, shift:0\n"
			       "	+SHADDXH.i32 t1, t1, t\n"
			       "	+STORE.i32 t0, t1, @r4\n"
			       "}\n");
	LT_OK(ct_run(&c, &d));
	ktap_eq(got[0], 100);
	ktap_eq(got[1], 111);
	ktap_eq(got[2], 0);
	ktap_eq(got[3], 0);
	ktap_eq(got[4], 0);
	tsr_shader_unref(d.shader);
	tsr_pool_free(c.lt.data, &data);
	tsr_pool_free(c.lt.data, &from);
}

/* The last words of 64 KiB of shared memory, turned around between two barriers. */
static void group_memory(void)
{
	struct tsr_alloc data = lt_data(&c.lt, 256 * 6 * 4, 0);
	struct tsr_storage storage = ct_storage(&data, 4);
	struct tsr_dispatch_info d = { .groups = { 6 }, .storage = &storage, .storage_count = 1 };
	const uint32_t *got = data.cpu;
	unsigned int i, bad = 0;

	d.shader = ct_program(&c, "reverse",
			       ".local 256, 1, 1\n"
			       ".group_memory 65536\n"
			       "clause slot=0 wait=0 {\n"
			       "	*LSHIFT_OR.i32 t0, r55, 0xfc00, 2\n"
			       "	+STORE.i32.wls t, t, @r60\n"
			       "}\n"
			       "clause slot=7 wait=7 { +BARRIER\n }\n"
			       /* 65532 - 4 * local, so thread 0 reads the last word */
			       "clause slot=0 wait=0 {\n"
			       "	*LSHIFT_OR.i32.not t0, r55, 0xffff0000, 2\n"
			       "	*NOP\n"
			       "	+IADD.s32 t1, t0, -3\n"
			       "	+LOAD.i32.wls t1, t1, @r0\n"
			       "}\n"
			       "clause slot=0 end {\n"
			       CT_ELEMENT(2, "r60")
			       "	+STORE.i32 t0, t1, @r0\n"
			       "}\n");
	LT_OK(ct_run(&c, &d));
	for (i = 0; i < 256 * 6; i++)
		bad += got[i] != (i / 256) * 256 + 255 - i % 256;
	ktap_eq(bad, 0);
	tsr_shader_unref(d.shader);
	tsr_pool_free(c.lt.data, &data);
}

/* Each thread draws a ticket; all tickets are drawn once, across groups and cores. */
static void tickets(void)
{
	enum { THREADS = 64 * 200 };
	struct tsr_alloc data = lt_data(&c.lt, THREADS * 4, 0xff), counter = lt_data(&c.lt, 64, 0);
	struct tsr_storage storage[2] = { ct_storage(&counter, 4), ct_storage(&data, 8) };
	struct tsr_dispatch_info d = { .groups = { THREADS / 64 }, .storage = storage,
				       .storage_count = 2 };
	static unsigned char drawn[THREADS];
	const uint32_t *got = data.cpu;
	unsigned int i, bad = 0;

	d.shader = ct_program(&c, "tickets",
			       ".local 64, 1, 1\n"
			       "clause slot=0 wait=0 {\n"
			       "	*MOV.i32 t0, u2.w0\n"
			       "	+MOV.i32 t1, u2.w1\n"
			       "	*ATOM_C1_RETURN.i32.ainc t0, t1\n"
			       "	+ATOM_CX t0, t1, zero.w0, @r0\n"
			       "}\n"
			       "clause slot=0 end {\n"
			       "	*ATOM_POST.i32.aadd t0, r0, r1\n"
			       "	*SHADDXL.u32 t0, u4.w0, t0, shift:2\n"
			       "	+SHADDXH.i32 t1, u4.w1, t\n"
			       "	+STORE.i32 t0, t1, @r60\n"
			       "}\n");
	memset(drawn, 0, sizeof(drawn));
	LT_OK(ct_run(&c, &d));
	ktap_eq(*(uint32_t *)counter.cpu, THREADS);
	for (i = 0; i < THREADS; i++) {
		if (got[i] < THREADS)
			bad += drawn[got[i]]++;
		else
			bad++;
	}
	ktap_eq(bad, 0);
	tsr_shader_unref(d.shader);
	tsr_pool_free(c.lt.data, &data);
	tsr_pool_free(c.lt.data, &counter);
}

/* Three words of scratch of each thread, written by all before any is read again. */
static void scratch(void)
{
	struct tsr_alloc data = lt_data(&c.lt, 256 * 40 * 4, 0);
	struct tsr_storage storage = ct_storage(&data, 4);
	struct tsr_dispatch_info d = { .groups = { 40 }, .storage = &storage, .storage_count = 1 };
	const uint32_t *got = data.cpu;
	unsigned int i, bad = 0;

	d.shader = ct_program(&c, "scratch",
			       ".local 256, 1, 1\n"
			       ".scratch 64\n"
			       "clause slot=0 { +STORE.i32.tl zero.w0, zero.w0, @r60\n }\n"
			       "clause slot=0 wait=0 { +STORE.i32.tl 60, 0, @r57\n }\n"
			       "clause slot=7 wait=7 { +BARRIER\n }\n"
			       "clause slot=0 { +LOAD.i32.tl zero.w0, zero.w0, @r0\n }\n"
			       "clause slot=0 wait=0 { +LOAD.i32.tl 60, 0, @r1\n }\n"
			       "clause {\n"
			       "	+IADD.u32 r0, r0, r1\n"
			       "}\n"
			       "clause slot=0 end {\n"
			       CT_ELEMENT(2, "r60")
			       "	+STORE.i32 t0, t1, @r0\n"
			       "}\n");
	ktap_eq(tsr_cmd_dispatch(c.lt.stream, &d, sizeof(d)), -EINVAL);
	tsr_stream_reset(c.lt.stream);
	LT_OK(tsr_scratch_create(c.lt.vm, 64, &d.scratch));
	LT_OK(ct_run(&c, &d));
	for (i = 0; i < 256 * 40; i++)
		bad += got[i] != i + i / 256;
	ktap_eq(bad, 0);
	tsr_scratch_unref(d.scratch);
	tsr_shader_unref(d.shader);
	tsr_pool_free(c.lt.data, &data);
}

/*
 * Odd threads append their number unless the buffer is full: u2 elements, u4 the counter, u6.w0 the
 * capacity.
 */
#define APPEND \
	".local 64, 1, 1\n" \
	"clause {\n" \
	"	*LSHIFT_AND.i32 t0, r60, 1, 0\n" \
	"	*NOP\n" \
	"	+BRANCHZ.i32.eq t0, zero.w0\n" \
	"}\n" \
	"clause slot=0 wait=0 {\n" \
	"	*MOV.i32 t0, u4.w0\n" \
	"	+MOV.i32 t1, u4.w1\n" \
	"	*ATOM_C1_RETURN.i32.ainc t0, t1\n" \
	"	+ATOM_CX t0, t1, zero.w0, @r0\n" \
	"}\n" \
	"clause {\n" \
	"	*ATOM_POST.i32.aadd r2:t0, r0, r1\n" \
	"	+ICMP.u32.gt.i1 t1, u6.w0, t\n" \
	"	+BRANCHZ.i32.eq t1, zero.w0\n" \
	"}\n" \
	"clause slot=0 end {\n" \
	CT_ELEMENT(2, "r2") \
	"	+STORE.i32 t0, t1, @r60\n" \
	"}\n"

/* All threads consume an element each, and put it where their number says: u6. */
#define CONSUME \
	".local 32, 1, 1\n" \
	"clause slot=0 wait=0 {\n" \
	"	*MOV.i32 t0, u4.w0\n" \
	"	+MOV.i32 t1, u4.w1\n" \
	"	*ATOM_C1_RETURN.i32.adec t0, t1\n" \
	"	+ATOM_CX t0, t1, zero.w0, @r0\n" \
	"}\n" \
	"clause {\n" \
	"	*ATOM_POST.i32.aadd t0, r0, r1\n" \
	"	+IADD.s32 r2, t, -1\n" \
	"}\n" \
	"clause slot=0 wait=0 {\n" \
	CT_ELEMENT(2, "r2") \
	"	+LOAD.i32 t0, t1, @r3\n" \
	"}\n" \
	"clause slot=0 end {\n" \
	CT_ELEMENT(6, "r60") \
	"	+STORE.i32 t0, t1, @r3\n" \
	"}\n"

static unsigned int count_distinct_odd(const uint32_t *values, unsigned int count, uint32_t limit)
{
	unsigned char seen[4096] = { 0 };
	unsigned int i, good = 0;

	for (i = 0; i < count; i++)
		good += values[i] < limit && values[i] % 2 && !seen[values[i]]++;
	return good;
}

static void append_consume(void)
{
	uint32_t push[14] = { 0 };
	struct tsr_alloc out = lt_data(&c.lt, 32 * 4, 0);
	struct tsr_storage storage[3];
	struct tsr_dispatch_info d = { .groups = { 4 }, .storage = storage, .storage_count = 2,
				       .push = push, .push_words = 14 };
	struct tsr_shader *append, *consume;
	struct tsr_counted counted;
	uint32_t *elements;

	append = ct_program(&c, "append", APPEND);
	consume = ct_program(&c, "consume", CONSUME);
	/* 128 append to room for 200, then 32 consume in the same stream */
	LT_OK(tsr_counted_create(c.lt.data, 4, 200, &counted));
	tsr_counted_storage(&counted, 4, storage);
	push[12] = counted.capacity;
	d.shader = append;
	LT_OK(tsr_cmd_dispatch(c.lt.stream, &d, sizeof(d)));
	LT_OK(ct_finish(&c));
	ktap_eq(tsr_counted_get(&counted), 128);
	ktap_eq(count_distinct_odd(tsr_counted_data(&counted), 128, 256), 128);
	storage[2] = ct_storage(&out, 12);
	d.storage_count = 3;
	d.groups[0] = 1;
	d.shader = consume;
	LT_OK(ct_run(&c, &d));
	ktap_eq(tsr_counted_get(&counted), 96);
	ktap_eq(count_distinct_odd(out.cpu, 32, 256), 32);
	tsr_counted_destroy(c.lt.data, &counted);

	/* 128 append to room for 50: the rest is lost and nothing behind is touched */
	LT_OK(tsr_counted_create(c.lt.data, 4, 64, &counted));
	counted.capacity = 50;
	elements = tsr_counted_data(&counted);
	memset(elements, 0x77, 64 * 4);
	tsr_counted_storage(&counted, 4, storage);
	push[12] = counted.capacity;
	d.storage_count = 2;
	d.groups[0] = 4;
	d.shader = append;
	LT_OK(ct_run(&c, &d));
	ktap_eq(tsr_counted_get(&counted), 50);
	ktap_eq(count_distinct_odd(elements, 50, 256), 50);
	ktap_eq(elements[50], 0x77777777);
	ktap_eq(elements[63], 0x77777777);
	tsr_counted_destroy(c.lt.data, &counted);
	tsr_pool_free(c.lt.data, &out);
	tsr_shader_unref(append);
	tsr_shader_unref(consume);
}

/* 40 dispatches of one stream, each of which needs the result of the one before. */
static void chain(void)
{
	enum { THREADS = 64 * 300, ROUNDS = 40 };
	struct tsr_alloc data = lt_data(&c.lt, THREADS * 4, 0);
	struct tsr_storage storage = ct_storage(&data, 4);
	struct tsr_dispatch_info d = { .groups = { THREADS / 64 }, .storage = &storage,
				       .storage_count = 1 };
	const uint32_t *got = data.cpu;
	unsigned int i, bad = 0;

	d.shader = ct_program(&c, "work", CT_WORK);
	for (i = 0; i < ROUNDS; i++)
		LT_OK(tsr_cmd_dispatch(c.lt.stream, &d, sizeof(d)));
	LT_OK(ct_finish(&c));
	for (i = 0; i < THREADS; i++)
		bad += got[i] != ct_work(0, i, ROUNDS);
	ktap_eq(bad, 0);
	tsr_shader_unref(d.shader);
	tsr_pool_free(c.lt.data, &data);
}

/* Two queues of one VM at once, on buffers of their own. */
static void two_queues(void)
{
	enum { THREADS = 64 * 100, ROUNDS = 30 };
	struct tsr_alloc data[2] = { lt_data(&c.lt, THREADS * 4, 0),
				     lt_data(&c.lt, THREADS * 4, 0) };
	struct tsr_dispatch_info d = { .groups = { THREADS / 64 }, .storage_count = 1 };
	struct tsr_stream *streams[2] = { NULL };
	struct tsr_queue *queues[2] = { c.queue, NULL };
	struct tsr_sync *syncs[2] = { NULL };
	unsigned int n, i, bad = 0;

	d.shader = ct_program(&c, "work", CT_WORK);
	LT_OK(tsr_queue_create(c.lt.vm, DRM_TESSERA_ENGINE_COMPUTE, DRM_TESSERA_PRIORITY_NORMAL, 0,
			       &queues[1]));
	for (n = 0; n < 2; n++) {
		struct tsr_storage storage = ct_storage(&data[n], 4);

		d.storage = &storage;
		LT_OK(tsr_stream_create(c.lt.code, 0, &streams[n]));
		LT_OK(tsr_sync_create(c.lt.device, 0, &syncs[n]));
		for (i = 0; i < ROUNDS; i++)
			LT_OK(tsr_cmd_dispatch(streams[n], &d, sizeof(d)));
	}
	for (n = 0; n < 2; n++)
		LT_OK(tsr_queue_run(queues[n], streams[n], syncs[n], 0));
	for (n = 0; n < 2; n++) {
		LT_OK(tsr_sync_finish(syncs[n], 0, LT_LONG));
		for (i = 0; i < THREADS; i++)
			bad += ((uint32_t *)data[n].cpu)[i] != ct_work(0, i, ROUNDS);
		tsr_stream_destroy(streams[n]);
		tsr_sync_unref(syncs[n]);
		tsr_pool_free(c.lt.data, &data[n]);
	}
	ktap_eq(bad, 0);
	tsr_queue_unref(queues[1]);
	tsr_shader_unref(d.shader);
}

/* A program takes the place of another one in memory, again and again. */
static void new_code(void)
{
	struct tsr_alloc data = lt_data(&c.lt, 64, 0);
	struct tsr_storage storage = ct_storage(&data, 4);
	struct tsr_dispatch_info d = { .groups = { 1 }, .storage = &storage, .storage_count = 1 };
	unsigned int i, same = 0;
	uint64_t va = 0;
	char text[300];

	for (i = 1; i <= 50; i++) {
		snprintf(text, sizeof(text),
			 "clause slot=0 end {\n"
			 "	*MOV.i32 r0, %u\n"
			 CT_ELEMENT(2, "r60")
			 "	+STORE.i32 t0, t1, @r0\n"
			 "}\n", i);
		d.shader = ct_program(&c, "number", text);
		same += tsr_shader_va(d.shader) == va;
		va = tsr_shader_va(d.shader);
		LT_OK(ct_run(&c, &d));
		ktap_eq(*(volatile uint32_t *)data.cpu, i);
		tsr_shader_unref(d.shader);
	}
	ktap_ok(same > 40);
	tsr_pool_free(c.lt.data, &data);
}

static void bad_text(void)
{
	static const char text[] = "clause end {\n	*NOSUCH r0, r1\n}\n";
	struct tsr_shader *program = NULL;

	ktap_eq(tsr_shader_assemble(c.lt.code, text, strlen(text), "bad.s", &program), -EINVAL);
	ktap_ok(!strncmp(tsr_error_message(), "bad.s:2:", 8));
	ktap_ok(!program);
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	c = ct_open();
	ktap_run("[CS1] 3D groups of 3D grids: every thread knows where it is", ids);
	ktap_run("[CS1] lanes and warps of a group", lanes);
	ktap_run("[CS1] a grid without groups", empty_grid);
	ktap_run("[CS1] a grid that an earlier dispatch has written", indirect);
	ktap_run("[MEM6] uniform buffers: loads beyond the end read 0", uniforms);
	ktap_run("[CS2] 64 KiB of group memory and a barrier", group_memory);
	ktap_run("[CS3] atomics across groups: each ticket once", tickets);
	ktap_run("[CS1] scratch of each thread", scratch);
	ktap_run("[CS4] append and consume", append_consume);
	ktap_run("[CS3] dispatches that depend on each other are in order", chain);
	ktap_run("[PIX7] two queues compute at once", two_queues);
	ktap_run("new code at the address of old code runs", new_code);
	ktap_run("an error in a program's text is named", bad_text);
	ct_close(&c);
	return ktap_finish();
}
