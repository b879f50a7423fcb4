/* SPDX-License-Identifier: MIT */
/* test: TIMEOUT=60 TSAN=0 */
/* COPY_LINEAR and FILL_LINEAR against the byte-by-byte reference. */
#include <stdlib.h>
#include <string.h>

#include "copy_ref.h"
#include "ktap.h"
#include "tsr_packets.h"
#include "tsr_regs.h"

#define RW (TSR_ACCESS_READ | TSR_ACCESS_WRITE)
#define SRC 0x10000000ULL
#define DST 0x20000000ULL

static bool copy(struct mock_mem *m, uint64_t src, uint64_t dst, uint64_t size, const char *what)
{
	struct tsr_copy_linear p = { .src = src, .dst = dst, .size = size };
	uint64_t cmd[8];

	tsr_pack_copy_linear(cmd, &p);
	return copy_check(m, cmd, 0x5000, what);
}

static bool fill(struct mock_mem *m, uint64_t dst, uint64_t size, unsigned int texel,
		 const uint8_t *pattern)
{
	struct tsr_fill_linear p = { .dst = dst, .size = size, .texel = texel };
	char what[100];
	uint64_t cmd[8];
	unsigned int i;

	for (i = 0; i < texel; i++) {
		if (i < 8)
			p.pattern_lo |= (uint64_t)pattern[i] << 8 * i;
		else
			p.pattern_hi |= (uint64_t)pattern[i] << 8 * (i - 8);
	}
	tsr_pack_fill_linear(cmd, &p);
	snprintf(what, sizeof(what), "fill 0x%" PRIx64 " + %" PRIu64 " with %u", dst, size, texel);
	return copy_check(m, cmd, 0x5000, what);
}

/* Two areas of @pages pages with random content. */
static struct mock_mem *two_areas(struct copy_random *r, unsigned int pages)
{
	struct mock_mem *m = mock_new();

	mock_map_range(m, SRC, (uint64_t)pages * MOCK_PAGE, RW);
	mock_map_range(m, DST, (uint64_t)pages * MOCK_PAGE, RW);
	copy_random_fill(r, m);
	m->random = copy_random_mock;
	m->arg = r;
	return m;
}

/*
 * Steps of a copy. The last bytes, those in the last aligned 16 of the destination and in the last
 * page of the source, are read by the last step but one and stored by the last step.
 */
static unsigned int steps(uint64_t src, uint64_t dst, unsigned int size)
{
	unsigned int last = (dst + size - 1) % 16 + 1, page = (src + size - 1) % MOCK_PAGE + 1;

	last = page < last ? page : last;
	return !size ? 1 : size <= last ? 2 : (size - last) / 16384 + 2;
}

static void test_sizes(void)
{
	static const unsigned int sizes[] = { 0,
					      1,
					      2,
					      3,
					      7,
					      8,
					      63,
					      64,
					      65,
					      4095,
					      4096,
					      4097,
					      16383,
					      16384,
					      16385,
					      16384 * 2,
					      16384 * 2 + 1,
					      40000 };
	struct copy_random r = { 1 };
	struct mock_mem *m = two_areas(&r, 12);
	unsigned int i, src, dst;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		for (src = 0; src < 3; src++) {
			for (dst = 0; dst < 3; dst++) {
				const uint64_t from = SRC + src * 1021, to = DST + dst * 2047;

				if (!copy(m, from, to, sizes[i], "sizes"))
					break;
				ktap_eq(copy_check_steps(), steps(from, to, sizes[i]));
			}
		}
	}
	mock_free(m);
}

static void test_patterns(void)
{
	struct copy_random r = { 2 };
	struct mock_mem *m = two_areas(&r, 12);
	uint8_t pattern[16];
	unsigned int texel, i, round;
	bool ok = true;

	for (texel = 1; ok && texel <= 16; texel++) {
		for (round = 0; ok && round < 8; round++) {
			uint64_t size = copy_random(&r, 40000) / texel * texel;

			for (i = 0; i < texel; i++)
				pattern[i] = round ? (uint8_t)copy_random(&r, 256) : 0xa5;
			ok = fill(m, DST + copy_random(&r, 5000), size, texel, pattern);
		}
	}
	mock_free(m);
}

/* Each page in turn has each kind of failure, on either side: the fault is at its first byte. */
static void test_faults(void)
{
	static const uint8_t codes[] = { TSR_FAULT_MMU_UNMAPPED, TSR_FAULT_MMU_PERMISSION,
					 TSR_FAULT_MMU_WALK, TSR_FAULT_MMU_WALK_BUS,
					 TSR_FAULT_BUS };
	struct copy_random r = { 3 };
	unsigned int page, code, side;

	for (page = 0; page < 6; page++) {
		for (code = 0; code < sizeof(codes); code++) {
			for (side = 0; side < 2; side++) {
				struct mock_mem *m = two_areas(&r, 6);
				uint64_t va = (side ? DST : SRC) + page * MOCK_PAGE;
				struct mock_page *p = mock_find(m, va);

				if (codes[code] == TSR_FAULT_MMU_UNMAPPED)
					p->mapped = false;
				else if (codes[code] == TSR_FAULT_MMU_PERMISSION)
					p->access = side ? TSR_ACCESS_READ : TSR_ACCESS_WRITE;
				else
					p->fault = codes[code];
				copy(m, SRC + 100, DST + 300, 5 * MOCK_PAGE, "fault");
				ktap_eq(m->mem.fault.code, codes[code]);
				ktap_eq(m->mem.fault.addr, page ? va : va + (side ? 300 : 100));
				ktap_eq(m->mem.fault.access,
					side ? TSR_ACCESS_WRITE : TSR_ACCESS_READ);
				ktap_eq(m->mem.fault.unit, TSR_UNIT_COPY);
				mock_free(m);
			}
		}
	}
}

static void test_null(void)
{
	struct copy_random r = { 4 };
	unsigned int null, i;

	for (null = 0; null < 16; null++) {
		struct mock_mem *m = mock_new();

		for (i = 0; i < 2; i++) {
			mock_map(m, SRC + i * MOCK_PAGE, RW, null >> i & 1);
			mock_map(m, DST + i * MOCK_PAGE, RW, null >> (i + 2) & 1);
		}
		copy_random_fill(&r, m);
		copy(m, SRC + 5, DST + 77, 2 * MOCK_PAGE - 100, "NULL pages");
		fill(m, DST + 33, 8001, 3, (const uint8_t *)"abc");
		mock_free(m);
	}
}

/* Every translation of a command in turn is pending once; then all of them are, at random. */
static void test_pending(void)
{
	struct copy_random r = { 5 };
	struct mock_mem *m = two_areas(&r, 12);
	uint64_t call;
	bool ok = true;

	for (call = 1; ok && m->calls < 100000; call++) {
		m->calls = 0;
		m->pending_call = call;
		copy_random_fill(&r, m);
		ok = copy(m, SRC + 11, DST + 2222, 40000, "one pending");
		if (m->calls < call)
			break;
	}
	ktap_ok(call > 40);
	m->pending_call = 0;
	m->pending_percent = 50;
	copy_random_fill(&r, m);
	copy(m, SRC + 11, DST + 2222, 40000, "many pending");
	m->fragment_percent = 50;
	copy_random_fill(&r, m);
	copy(m, SRC + 11, DST + 2222, 20000, "pending and fragmented");
	mock_free(m);
}

/*
 * The last byte of the address range can be reached; what would be beyond faults and never wraps.
 */
static void test_end_of_addresses(void)
{
	struct copy_random r = { 6 };
	struct mock_mem *m = two_areas(&r, 2);

	copy(m, UINT64_MAX, DST, 1, "read of the last byte");
	ktap_eq(m->mem.fault.addr, UINT64_MAX);
	copy(m, SRC, UINT64_MAX - 9, 100, "write at the end");
	ktap_eq(m->mem.fault.addr, UINT64_MAX - 9);
	copy(m, SRC, 1ULL << 57, 1ULL << 47, "beyond the address space");
	mock_free(m);
}

/* Source and destination overlap: any content, but nothing outside is touched and it ends. */
static void test_overlap(void)
{
	struct copy_random r = { 7 };
	struct mock_mem *m = two_areas(&r, 8);
	uint8_t before[100], after[100];
	unsigned int i;

	for (i = 0; i < 40; i++) {
		struct tsr_copy_linear p = {
			.src = SRC + 100 + copy_random(&r, 9000),
			.dst = SRC + 100 + copy_random(&r, 9000),
			.size = 8 * MOCK_PAGE - 9200,
		};
		uint64_t cmd[8];

		tsr_pack_copy_linear(cmd, &p);
		mock_read(m, SRC, before, sizeof(before));
		copy_check_unspecified(m, cmd, 0x5000, "overlap");
		mock_read(m, SRC, after, sizeof(after));
		ktap_mem_eq(after, before, sizeof(before));
	}
	mock_free(m);
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	ktap_run("[MEM4] linear copies of all kinds of sizes and alignments", test_sizes);
	ktap_run("[MEM4] fills with patterns of all sizes", test_patterns);
	ktap_run("[MEM3] a fault in any page, of any kind, on either side", test_faults);
	ktap_run("NULL pages read as zero and drop writes", test_null);
	ktap_run("pending translations: nothing is lost or done twice", test_pending);
	ktap_run("[MEM3] the end of the address range", test_end_of_addresses);
	ktap_run("overlap touches nothing outside", test_overlap);
	return ktap_finish();
}
