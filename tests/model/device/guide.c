/* SPDX-License-Identifier: MIT */
/*
 * Examples of the programming guide (Documentation/hw), with the numbers that stand there.
 *
 * The page table of memory.md and the ring and stream of command-streams.md are written into the
 * machine's memory word by word, as a reader would; only what the pages leave open comes from the
 * bench.
 *
 * test: TSAN=0
 */
#include <string.h>

#include "bench.h"
#include "ktap.h"

/* A word of the example at a bus address. */
static void put(struct bench *b, uint64_t bus, uint64_t value)
{
	memcpy(bench_ptr(b, bus, 8), &value, 8);
}

static void test_page_table(void)
{
	struct bench *b = bench_new(NULL);
	struct tsr_fill_linear fill = { .texel = 1, .dst = 0x123456789abc, .size = 1,
					.pattern_lo = 0x5a };
	uint64_t packet[TSR_FILL_LINEAR_QWORDS];
	struct bench_as driver, example = { .bench = b, .index = 1 };
	struct bench_queue q;
	uint8_t *page;

	/* the example's pages are the first ones; nobody else gets them */
	ktap_eq(bench_alloc(b, 6 * BENCH_PAGE, BENCH_PAGE), 0x40000000);
	put(b, 0x40001120, 0x40002001);
	put(b, 0x40002688, 0x40003001);
	put(b, 0x40003598, 0x40004001);
	put(b, 0x40004c48, 0x4000500f);
	page = bench_ptr(b, 0x40005000, BENCH_PAGE);
	bench_write64(b, TSR_REG_AS_BASE(1), 0x40001001);
	ktap_ok(bench_invalidate_all(&example));

	bench_as_init(b, &driver, 0);
	bench_queue_init(&q, 0, TSR_ENGINE_CLASS_COPY, TSR_PRIORITY_NORMAL, &driver, 0x10000, 12,
			 &example);
	/* a stream for it cannot be fetched there: the page is not EXEC */
	bench_call(&q, 0x123456789a80, 8);
	bench_kick(&q);
	ktap_ok(bench_run(b, 10));
	ktap_eq(bench_fault(&q), TSR_FAULT_MMU_PERMISSION);
	ktap_eq(bench_queue_reg64(&q, TSR_QUEUE_FAULT_ADDR__OFFSET), 0x123456789a80);

	/* so the fill stands in the ring, which is the example's address space now */
	bench_control(&q, TSR_QUEUE_OP_RESET);
	*bench_pte(&(struct bench_as){ .bench = b, .index = 1, .root = 0x40001000 }, 0x10000, 0) =
		q.ring_bus | BENCH_RX | TSR_PTE_VALID__MASK | TSR_PTE_LEAF__MASK;
	bench_write(b, TSR_REG_QUEUE_ADDRESS_SPACES(0),
		    1 << TSR_QUEUE_ADDRESS_SPACES_RING_AS__SHIFT);
	bench_enable(&q, 0);
	tsr_pack_fill_linear(packet, &fill);
	bench_emit(&q, packet, TSR_FILL_LINEAR_QWORDS);
	bench_kick(&q);
	ktap_ok(bench_run(b, 10));
	ktap_eq(bench_fault(&q), TSR_FAULT_NONE);
	ktap_eq(page[0xabb], 0);
	ktap_eq(page[0xabc], 0x5a);
	ktap_eq(page[0xabd], 0);
	bench_free(b);
}

/* The words of command-streams.md, "An example". */
static const uint64_t stream[] = {
	0x0000000400000623, 0x0000000000400000, 0x0000000000000100, 0x0000002000000040,
	0x00000000ff8000ff, 0x0000000000000000, 0x0000000000020118, 0x0000000400020621,
	0x0000000000400000, 0x0000000000500000, 0x0000100000000100, 0x0000000000000000,
	0x0000002000000040,
};
static const uint64_t ring[] = {
	0x0000000000000301, 0x0000000000300000, 0x0000000000000068, 0x0000000000070314,
	0x0000000000020000, 0x0000000000000001,
};

static void test_stream(void)
{
	struct bench *b = bench_new(NULL);
	struct bench_as driver, user;
	struct bench_queue q;
	uint64_t *fence;
	uint32_t *tiled;
	unsigned int i;

	bench_as_init(b, &driver, 0);
	bench_as_init(b, &user, 1);
	fence = bench_buffer(&driver, 0x20000, BENCH_PAGE, BENCH_RW);
	memcpy(bench_buffer(&user, 0x300000, BENCH_PAGE, BENCH_RX), stream, sizeof(stream));
	bench_buffer(&user, 0x400000, 32 * 256, BENCH_RW);
	tiled = bench_buffer(&user, 0x500000, 2 * 4096, BENCH_RW);
	bench_queue_init(&q, 0, TSR_ENGINE_CLASS_COPY, TSR_PRIORITY_NORMAL, &driver, 0x10000, 12,
			 &user);
	bench_write64(b, TSR_REG_IRQ_MASK(TSR_IRQ_CLASS_JOB), 1);
	memcpy(bench_ptr(b, q.ring_bus, sizeof(ring)), ring, sizeof(ring));
	bench_write(b, TSR_REG_DOORBELL_RING(0), 0x30);
	ktap_ok(bench_run(b, 10));
	ktap_eq(bench_fault(&q), TSR_FAULT_NONE);
	ktap_eq(*fence, 1);
	ktap_eq(b->interrupts[TSR_IRQ_CLASS_JOB], 1);
	for (i = 0; i < 64 * 32 && tiled[i] == 0xff8000ff; i++)
		;
	ktap_eq(i, 64 * 32);
	bench_free(b);
}

int main(void)
{
	ktap_start();
	ktap_run("the guide's page table maps the byte it says", test_page_table);
	ktap_run("the guide's ring and stream do what it says", test_stream);
	return ktap_finish();
}
