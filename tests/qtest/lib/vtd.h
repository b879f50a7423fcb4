/* SPDX-License-Identifier: MIT */
/*
 * The Intel IOMMU of QEMU's q35 (-device intel-iommu), programmed from a test: root and context
 * table, one second-level page table, register-based invalidation, and its fault records. Only what
 * the tests need of the "VT-d" specification.
 */
#ifndef TSR_QTEST_VTD_H
#define TSR_QTEST_VTD_H

#include "qtest.h"

#define VTD_READ 1
#define VTD_WRITE 2

struct vtd {
	struct qtest *q;
	uint64_t memory; /* next free page for its tables */
	uint64_t root;	 /* root table */
	uint64_t table;	 /* page table that all devices of this IOMMU share */
	unsigned int levels;
};

/* A fault the IOMMU has recorded. */
struct vtd_fault {
	uint64_t addr;	     /* page */
	unsigned int source; /* bus << 8 | devfn */
	unsigned int reason;
	bool write;
};

/* Tables from @memory on (room for some hundred pages); devices on @bus translate, but not before
 * vtd_enable(). */
void vtd_open(struct vtd *vtd, struct qtest *q, uint64_t memory, unsigned int bus);
void vtd_enable(struct vtd *vtd, bool on);
/* Let faults send message @data to @addr. */
void vtd_fault_event(struct vtd *vtd, uint64_t addr, uint32_t data);

/* Map [iova, iova + size) to @pa; @flags 0 unmaps. No invalidation. */
void vtd_map(struct vtd *vtd, uint64_t iova, uint64_t pa, uint64_t size, unsigned int flags);
/* Map one 2 MiB page. */
void vtd_map_huge(struct vtd *vtd, uint64_t iova, uint64_t pa, unsigned int flags);
/* Invalidate what is cached: everything, the device's domain, or 2^order pages at @iova. Complete
 * on return. */
void vtd_invalidate_all(struct vtd *vtd);
void vtd_invalidate_domain(struct vtd *vtd);
void vtd_invalidate_pages(struct vtd *vtd, uint64_t iova, unsigned int order);

/* Take the oldest recorded fault; false when there is none. */
bool vtd_fault(struct vtd *vtd, struct vtd_fault *fault);

#endif
