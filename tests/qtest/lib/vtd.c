/* SPDX-License-Identifier: MIT */
/* The Intel IOMMU from a test. See vtd.h; names of registers and bits are those of the VT-d
 * specification. */
#include "vtd.h"

#include "ktap.h"

#define VTD_BASE 0xfed90000ull
#define CAP 0x08
#define ECAP 0x10
#define GCMD 0x18
#define GSTS 0x1c
#define GCMD_TE (1u << 31)
#define GCMD_SRTP (1u << 30)
#define RTADDR 0x20
#define CCMD 0x28
#define CCMD_ALL (1ull << 63 | 1ull << 61)
#define FSTS 0x34
#define FSTS_PPF 2
#define FECTL 0x38
#define FEDATA 0x3c
#define FEADDR 0x40
#define FEUADDR 0x44
#define IOTLB_ALL (1ull << 63 | 1ull << 60)
#define IOTLB_DOMAIN (1ull << 63 | 2ull << 60)
#define IOTLB_PAGES (1ull << 63 | 3ull << 60)
#define DOMAIN 7ull
#define PTE_HUGE 0x80

static uint64_t page(struct vtd *vtd)
{
	uint64_t pa = vtd->memory;

	vtd->memory += 4096;
	qtest_memset(vtd->q, pa, 0, 4096);
	return pa;
}

void vtd_open(struct vtd *vtd, struct qtest *q, uint64_t memory, unsigned int bus)
{
	uint64_t context, width;
	unsigned int devfn;

	vtd->q = q;
	vtd->memory = memory;
	/* 39-bit addresses if the IOMMU can, else 48. */
	vtd->levels = qtest_readq(q, VTD_BASE + CAP) & 1 << 9 ? 3 : 4;
	width = vtd->levels - 2;
	vtd->root = page(vtd);
	context = page(vtd);
	vtd->table = page(vtd);
	qtest_writeq(q, vtd->root + 16 * bus, context | 1);
	for (devfn = 0; devfn < 256; devfn += 8) {
		qtest_writeq(q, context + 16 * devfn, vtd->table | 1);
		qtest_writeq(q, context + 16 * devfn + 8, width | DOMAIN << 8);
	}
}

static void command(struct vtd *vtd, uint32_t bit, bool on)
{
	uint32_t now = qtest_readl(vtd->q, VTD_BASE + GSTS) & GCMD_TE;

	qtest_writel(vtd->q, VTD_BASE + GCMD, on ? now | bit : now & ~bit);
}

void vtd_enable(struct vtd *vtd, bool on)
{
	if (on) {
		qtest_writeq(vtd->q, VTD_BASE + RTADDR, vtd->root);
		command(vtd, GCMD_SRTP, true);
		qtest_writeq(vtd->q, VTD_BASE + CCMD, CCMD_ALL);
		vtd_invalidate_all(vtd);
	}
	command(vtd, GCMD_TE, on);
	ktap_eq(qtest_readl(vtd->q, VTD_BASE + GSTS) & GCMD_TE, on ? GCMD_TE : 0);
}

void vtd_fault_event(struct vtd *vtd, uint64_t addr, uint32_t data)
{
	qtest_writel(vtd->q, VTD_BASE + FEDATA, data);
	qtest_writel(vtd->q, VTD_BASE + FEADDR, addr);
	qtest_writel(vtd->q, VTD_BASE + FEUADDR, addr >> 32);
	qtest_writel(vtd->q, VTD_BASE + FECTL, 0);
}

/* The table of @level for @iova, made where it is missing. */
static uint64_t table_at(struct vtd *vtd, uint64_t iova, unsigned int level)
{
	uint64_t table = vtd->table;
	unsigned int i;

	for (i = vtd->levels - 1; i > level; i--) {
		uint64_t at = table + 8 * (iova >> (12 + 9 * i) & 511);
		uint64_t entry = qtest_readq(vtd->q, at);

		if (!entry) {
			entry = page(vtd) | VTD_READ | VTD_WRITE;
			qtest_writeq(vtd->q, at, entry);
		}
		table = entry & ~0xfffull;
	}
	return table;
}

void vtd_map(struct vtd *vtd, uint64_t iova, uint64_t pa, uint64_t size, unsigned int flags)
{
	while (size) {
		uint64_t entries[512], table = table_at(vtd, iova, 0);
		unsigned int first = iova >> 12 & 511, n = 0;

		for (; size && first + n < 512; n++) {
			entries[n] = flags ? pa | flags : 0;
			iova += 4096;
			pa += 4096;
			size -= size < 4096 ? size : 4096;
		}
		qtest_write(vtd->q, table + 8 * first, entries, 8 * n);
	}
}

void vtd_map_huge(struct vtd *vtd, uint64_t iova, uint64_t pa, unsigned int flags)
{
	qtest_writeq(vtd->q, table_at(vtd, iova, 1) + 8 * (iova >> 21 & 511),
		     pa | flags | PTE_HUGE);
}

/* Offset of the invalidation registers. */
static uint64_t iotlb(struct vtd *vtd)
{
	return VTD_BASE + (qtest_readq(vtd->q, VTD_BASE + ECAP) >> 8 & 0x3ff) * 16;
}

void vtd_invalidate_all(struct vtd *vtd)
{
	qtest_writeq(vtd->q, iotlb(vtd) + 8, IOTLB_ALL);
}

void vtd_invalidate_domain(struct vtd *vtd)
{
	qtest_writeq(vtd->q, iotlb(vtd) + 8, IOTLB_DOMAIN | DOMAIN << 32);
}

void vtd_invalidate_pages(struct vtd *vtd, uint64_t iova, unsigned int order)
{
	qtest_writeq(vtd->q, iotlb(vtd), iova | order);
	qtest_writeq(vtd->q, iotlb(vtd) + 8, IOTLB_PAGES | DOMAIN << 32);
}

bool vtd_fault(struct vtd *vtd, struct vtd_fault *fault)
{
	uint32_t status = qtest_readl(vtd->q, VTD_BASE + FSTS);
	uint64_t record = VTD_BASE + (qtest_readq(vtd->q, VTD_BASE + CAP) >> 24 & 0x3ff) * 16 +
			  16 * (status >> 8 & 0xff);
	uint64_t high;

	if (!(status & FSTS_PPF))
		return false;
	high = qtest_readq(vtd->q, record + 8);
	fault->addr = qtest_readq(vtd->q, record) & ~0xfffull;
	fault->source = high & 0xffff;
	fault->reason = high >> 32 & 0xff;
	fault->write = !(high >> 62 & 1);
	qtest_writel(vtd->q, record + 12, 1u << 31);
	qtest_writel(vtd->q, VTD_BASE + FSTS, 1);
	return true;
}
