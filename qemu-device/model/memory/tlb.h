/* SPDX-License-Identifier: MIT */
/*
 * TLB: translations of GPU virtual addresses to host memory.
 *
 * Every thread that runs queues has a TLB of its own (struct tsr_port), so look-ups take no lock;
 * how an invalidation reaches them all is in queue/invalidate.h.
 *
 * In: filled by tsr_mem_map(). Out: host pointers with the permissions of the page. Limits:
 * TSR_TLB_ENTRIES translations of one page and one direction (reading or writing) each,
 * TSR_TLB_HUGES large pages that are contiguous on the host, of which entries are made without a
 * walk, TSR_TLB_TABLES pointers to last-level tables. Only valid translations are kept.
 */
#ifndef TSR_TLB_H
#define TSR_TLB_H

#include <stdbool.h>
#include <stdint.h>

#define TSR_TLB_ENTRIES 1024
#define TSR_TLB_HUGES 128
#define TSR_TLB_TABLES 64

/* A cached translation. */
struct tsr_tlb_entry {
	uint64_t tag;			/* tsr_tlb_tag(), TSR_TLB_NONE when empty */
	uint64_t phys;			/* bus address or local offset of the page's first byte */
	uint8_t *ptr;			/* host address of byte @lo; NULL for a NULL page */
	uint16_t lo, hi;		/* bytes [lo, hi) of the page are contiguous on the host */
	uint8_t perms;			/* TSR_ACCESS_ bits the leaf grants */
	bool local;			/* in local memory */
};

/* A large page, all of it contiguous on the host. */
struct tsr_tlb_huge {
	/* tsr_tlb_tag() of its first page, TSR_TLB_NONE when empty */
	uint64_t tag;
	uint64_t phys;			/* bus address or local offset of its first byte */
	uint8_t *ptr;			/* host address of its first byte */
	uint8_t perms;			/* as in struct tsr_tlb_entry */
	bool local;
};

/* A cached pointer to a table of level 0. */
struct tsr_tlb_table {
	/* address space and upper part of the virtual address, TSR_TLB_NONE when empty */
	uint64_t tag;
	const uint64_t *entries;	/* its 512 entries */
};

#define TSR_TLB_NONE UINT64_MAX

struct tsr_tlb {
	struct tsr_tlb_entry entry[TSR_TLB_ENTRIES];
	struct tsr_tlb_huge huge[TSR_TLB_HUGES];
	struct tsr_tlb_table table[TSR_TLB_TABLES];
};

enum tsr_inval_kind {
	TSR_INVAL_RANGE,		/* part of an address space */
	TSR_INVAL_ALL,			/* an address space */
	TSR_INVAL_HOST,			/* host pointers, of all address spaces */
};

/* One invalidation. */
struct tsr_inval_record {
	uint8_t kind;			/* enum tsr_inval_kind */
	uint8_t as;			/* of RANGE and ALL */
	bool irq;			/* TLB_DONE is wanted */
	uint64_t first, last;		/* RANGE: virtual addresses, inclusive */
};

static inline uint64_t tsr_tlb_tag(uint64_t va, unsigned int as, bool write)
{
	return va >> 12 << 9 | as << 1 | write;
}

static inline unsigned int tsr_tlb_index(uint64_t tag)
{
	return (tag >> 9 ^ tag * 37) % TSR_TLB_ENTRIES;
}

/* Where the large page of @va is or would be. */
static inline struct tsr_tlb_huge *tsr_tlb_huge_slot(struct tsr_tlb *tlb, uint64_t va,
						     unsigned int as, bool write)
{
	return &tlb->huge[(va >> 21 ^ as * 37 ^ write * (TSR_TLB_HUGES / 2)) % TSR_TLB_HUGES];
}

static inline uint64_t tsr_tlb_huge_tag(uint64_t va, unsigned int as, bool write)
{
	return tsr_tlb_tag(va >> 21 << 21, as, write);
}

/* Forget everything. */
void tsr_tlb_clear(struct tsr_tlb *tlb);
/* Cached pointer to the level-0 table of @va, or NULL; and its entry. */
const uint64_t *tsr_tlb_find_table(struct tsr_tlb *tlb, unsigned int as, uint64_t va);
void tsr_tlb_insert_table(struct tsr_tlb *tlb, unsigned int as, uint64_t va,
			  const uint64_t *entries);
/* Drop what @record names. */
void tsr_tlb_drop(struct tsr_tlb *tlb, const struct tsr_inval_record *record);

#endif
