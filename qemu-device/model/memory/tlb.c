/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "tlb.h"

void tsr_tlb_clear(struct tsr_tlb *tlb)
{
	for (unsigned int i = 0; i < TSR_TLB_ENTRIES; i++)
		tlb->entry[i].tag = TSR_TLB_NONE;
	for (unsigned int i = 0; i < TSR_TLB_HUGES; i++)
		tlb->huge[i].tag = TSR_TLB_NONE;
	for (unsigned int i = 0; i < TSR_TLB_TABLES; i++)
		tlb->table[i].tag = TSR_TLB_NONE;
}

static uint64_t table_tag(unsigned int as, uint64_t va)
{
	return va >> 21 << 8 | as;
}

static struct tsr_tlb_table *table_slot(struct tsr_tlb *tlb, uint64_t tag)
{
	return &tlb->table[(tag >> 8 ^ tag * 5) % TSR_TLB_TABLES];
}

const uint64_t *tsr_tlb_find_table(struct tsr_tlb *tlb, unsigned int as, uint64_t va)
{
	uint64_t tag = table_tag(as, va);
	struct tsr_tlb_table *slot = table_slot(tlb, tag);

	return slot->tag == tag ? slot->entries : NULL;
}

void tsr_tlb_insert_table(struct tsr_tlb *tlb, unsigned int as, uint64_t va,
			  const uint64_t *entries)
{
	uint64_t tag = table_tag(as, va);
	struct tsr_tlb_table *slot = table_slot(tlb, tag);

	slot->tag = tag;
	slot->entries = entries;
}

/* True if @record covers a part of the entry @tag (tsr_tlb_tag()), whose last offset is @last. */
static bool names(const struct tsr_inval_record *record, uint64_t tag, uint64_t last)
{
	uint64_t va = tag >> 9 << 12;

	if (tag == TSR_TLB_NONE || (tag >> 1 & 0xff) != record->as)
		return false;
	return record->kind == TSR_INVAL_ALL ||
	       (va <= record->last && (va | last) >= record->first);
}

void tsr_tlb_drop(struct tsr_tlb *tlb, const struct tsr_inval_record *record)
{
	bool whole = record->kind == TSR_INVAL_ALL;

	if (record->kind == TSR_INVAL_HOST) {
		tsr_tlb_clear(tlb);
		return;
	}
	for (unsigned int i = 0; i < TSR_TLB_ENTRIES; i++) {
		if (names(record, tlb->entry[i].tag, 0xfff))
			tlb->entry[i].tag = TSR_TLB_NONE;
	}
	for (unsigned int i = 0; i < TSR_TLB_HUGES; i++) {
		if (names(record, tlb->huge[i].tag, 0x1fffff))
			tlb->huge[i].tag = TSR_TLB_NONE;
	}
	for (unsigned int i = 0; i < TSR_TLB_TABLES; i++) {
		struct tsr_tlb_table *t = &tlb->table[i];
		uint64_t va = t->tag >> 8 << 21;

		if (t->tag == TSR_TLB_NONE || (t->tag & 0xff) != record->as)
			continue;
		if (whole || (va <= record->last && (va | 0x1fffff) >= record->first))
			t->tag = TSR_TLB_NONE;
	}
}
