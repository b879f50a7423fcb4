/* SPDX-License-Identifier: MIT */
#include "mem.h"
#include "mmu.h"

/* Bits that must be zero: in every valid entry, and besides in those that point to a table. */
#define ENTRY_RESERVED \
	(~(TSR_PTE_VALID__MASK | TSR_PTE_LEAF__MASK | TSR_PTE_READ__MASK | TSR_PTE_WRITE__MASK | \
	   TSR_PTE_EXEC__MASK | TSR_PTE_NULL__MASK | TSR_PTE_LOCAL__MASK | \
	   TSR_PTE_SOFTWARE__MASK | TSR_PTE_ADDR__MASK))
#define TABLE_RESERVED \
	(TSR_PTE_READ__MASK | TSR_PTE_WRITE__MASK | TSR_PTE_EXEC__MASK | TSR_PTE_NULL__MASK)
/* Bits that must be 0 in a NULL leaf. */
#define NULL_RESERVED (TSR_PTE_ADDR__MASK | TSR_PTE_LOCAL__MASK | TSR_PTE_EXEC__MASK)
/* Address bits below a large page. */
#define HUGE_OFFSET ((1ULL << TSR_HUGE_SHIFT) - (1ULL << TSR_PAGE_SHIFT))

#define TABLE_BYTES 4096u

enum tsr_step tsr_mmu_fault(struct tsr_mem *mem, uint8_t code, uint64_t va, unsigned int access,
			    unsigned int level)
{
	mem->fault = (struct tsr_fault_info){
		.addr = va,
		.code = code,
		.access = access,
		.level = level,
		.unit = mem->unit,
		.as = mem->as,
	};
	return TSR_STEP_FAULT;
}

/*
 * Host pointer to the entry at @index of the table that @pointer names. *@whole tells that the
 * whole table is contiguous from there.
 */
static enum tsr_host_result map_entry(struct tsr_mmu *mmu, uint64_t pointer, unsigned int index,
				      const uint64_t **entry, const uint64_t **whole)
{
	uint64_t addr = pointer & TSR_PTE_ADDR__MASK;
	uint64_t len = TABLE_BYTES;
	enum tsr_host_result result;
	void *ptr;

	*whole = NULL;
	if (pointer & TSR_PTE_LOCAL__MASK) {
		if (addr >= mmu->local_size)
			return TSR_HOST_FAULT;
		*whole = (const uint64_t *)(mmu->local + addr);
		*entry = *whole + index;
		return TSR_HOST_OK;
	}
	result = mmu->ops->map(mmu->host, addr, &len, false, &ptr);
	if (result == TSR_HOST_PENDING)
		return result;
	if (result == TSR_HOST_OK && len == TABLE_BYTES) {
		*whole = ptr;
		*entry = *whole + index;
		return TSR_HOST_OK;
	}
	/* The table is in pieces, or its first piece cannot be had: ask for the entry alone. */
	len = sizeof(uint64_t);
	result = mmu->ops->map(mmu->host, addr + index * sizeof(uint64_t), &len, false, &ptr);
	if (result == TSR_HOST_OK && len != sizeof(uint64_t))
		return TSR_HOST_FAULT;
	*entry = ptr;
	return result;
}

static uint64_t read_entry(const uint64_t *entry)
{
	return __atomic_load_n(entry, __ATOMIC_ACQUIRE);
}

/* Judge a valid entry met at @level. */
static bool malformed(const struct tsr_mmu *mmu, uint64_t entry, unsigned int level)
{
	bool leaf = entry & TSR_PTE_LEAF__MASK;

	if (entry & ENTRY_RESERVED)
		return true;
	if (!leaf)
		return level == 0 || (entry & TABLE_RESERVED);
	if (level > 1 || (level == 1 && !(mmu->page_sizes & 1ULL << TSR_HUGE_SHIFT)))
		return true;
	if (entry & TSR_PTE_NULL__MASK)
		return entry & NULL_RESERVED;
	return level == 1 && (entry & HUGE_OFFSET);
}

/* Describes the page of @va from its @leaf at @level. */
static void describe(uint64_t va, uint64_t leaf, unsigned int level, struct tsr_walk *walk)
{
	uint64_t in_page = level ? va & HUGE_OFFSET : 0;

	walk->perms = (leaf & TSR_PTE_READ__MASK ? TSR_ACCESS_READ : 0) |
		      (leaf & TSR_PTE_WRITE__MASK ? TSR_ACCESS_WRITE : 0) |
		      (leaf & TSR_PTE_EXEC__MASK ? TSR_ACCESS_EXEC : 0);
	walk->null = leaf & TSR_PTE_NULL__MASK;
	walk->local = leaf & TSR_PTE_LOCAL__MASK;
	walk->huge = level;
	walk->phys = (leaf & TSR_PTE_ADDR__MASK) + in_page;
}

/* The leaf is found: check the permission, compute the page. */
static enum tsr_step finish(struct tsr_mem *mem, uint64_t va, unsigned int access, uint64_t leaf,
			    unsigned int level, struct tsr_walk *walk)
{
	describe(va, leaf, level, walk);
	if (!(walk->perms & access))
		return tsr_mmu_fault(mem, TSR_FAULT_MMU_PERMISSION, va, access, level);
	return TSR_STEP_DONE;
}

/*
 * Read the entry for @va at @level: from the table cached for level 0, else from the table that
 * @pointer names.
 */
static enum tsr_host_result next_entry(struct tsr_mem *mem, uint64_t pointer, uint64_t va,
				       unsigned int level, uint64_t *value)
{
	unsigned int shift = TSR_PAGE_SHIFT + level * TSR_PT_INDEX_BITS;
	unsigned int index = va >> shift & ((1u << TSR_PT_INDEX_BITS) - 1);
	const uint64_t *entry, *whole;
	enum tsr_host_result result;

	result = map_entry(mem->port->mmu, pointer, index, &entry, &whole);
	if (result != TSR_HOST_OK)
		return result;
	if (!level && whole)
		tsr_tlb_insert_table(&mem->port->tlb, mem->as, va, whole);
	*value = read_entry(entry);
	return TSR_HOST_OK;
}

static enum tsr_step walk_levels(struct tsr_mem *mem, uint64_t va, unsigned int access,
				 struct tsr_walk *walk)
{
	struct tsr_mmu *mmu = mem->port->mmu;
	uint64_t entry = atomic_load_explicit(&mmu->as[mem->as].root, memory_order_acquire);
	unsigned int level = mmu->levels;

	if (!(entry & TSR_PTE_VALID__MASK) || va >> mmu->va_bits)
		return tsr_mmu_fault(mem, TSR_FAULT_MMU_UNMAPPED, va, access, level);
	do {
		enum tsr_host_result result = next_entry(mem, entry, va, --level, &entry);

		if (result == TSR_HOST_PENDING)
			return TSR_STEP_PENDING;
		if (result != TSR_HOST_OK)
			return tsr_mmu_fault(mem, TSR_FAULT_MMU_WALK_BUS, va, access, level);
		if (!(entry & TSR_PTE_VALID__MASK))
			return tsr_mmu_fault(mem, TSR_FAULT_MMU_UNMAPPED, va, access, level);
		if (malformed(mmu, entry, level))
			return tsr_mmu_fault(mem, TSR_FAULT_MMU_WALK, va, access, level);
	} while (!(entry & TSR_PTE_LEAF__MASK));
	return finish(mem, va, access, entry, level, walk);
}

enum tsr_step tsr_mmu_walk(struct tsr_mem *mem, uint64_t va, unsigned int access,
			   struct tsr_walk *walk)
{
	const uint64_t *table = tsr_tlb_find_table(&mem->port->tlb, mem->as, va);
	uint64_t entry;

	if (!table)
		return walk_levels(mem, va, access, walk);
	entry = read_entry(&table[va >> TSR_PAGE_SHIFT & ((1u << TSR_PT_INDEX_BITS) - 1)]);
	if (!(entry & TSR_PTE_VALID__MASK))
		return tsr_mmu_fault(mem, TSR_FAULT_MMU_UNMAPPED, va, access, 0);
	if (malformed(mem->port->mmu, entry, 0))
		return tsr_mmu_fault(mem, TSR_FAULT_MMU_WALK, va, access, 0);
	return finish(mem, va, access, entry, 0, walk);
}

enum tsr_mmu_peek tsr_mmu_peek(struct tsr_mmu *mmu, unsigned int as, uint64_t va,
			       struct tsr_walk *walk, uint64_t *entry)
{
	unsigned int level = mmu->levels;

	*entry = atomic_load_explicit(&mmu->as[as].root, memory_order_acquire);
	if (va >> mmu->va_bits)
		return TSR_MMU_PEEK_NOTHING;
	do {
		unsigned int index, shift;
		const uint64_t *at, *whole;
		enum tsr_host_result result;

		if (!(*entry & TSR_PTE_VALID__MASK))
			return TSR_MMU_PEEK_NOTHING;
		shift = TSR_PAGE_SHIFT + --level * TSR_PT_INDEX_BITS;
		index = va >> shift & ((1u << TSR_PT_INDEX_BITS) - 1);
		result = map_entry(mmu, *entry, index, &at, &whole);
		if (result != TSR_HOST_OK)
			return TSR_MMU_PEEK_UNKNOWN;
		*entry = read_entry(at);
		if (*entry & TSR_PTE_VALID__MASK && malformed(mmu, *entry, level))
			return TSR_MMU_PEEK_NOTHING;
	} while (!(*entry & TSR_PTE_LEAF__MASK) || !(*entry & TSR_PTE_VALID__MASK));
	describe(va, *entry, level, walk);
	return TSR_MMU_PEEK_FOUND;
}

void tsr_mmu_code_changed(struct tsr_mmu *mmu, unsigned int as)
{
	atomic_store_explicit(&mmu->as[as].code, atomic_fetch_add(&mmu->generation, 1) + 1,
			      memory_order_release);
}

uint64_t tsr_mmu_code_generation(struct tsr_mmu *mmu, unsigned int as)
{
	return atomic_load_explicit(&mmu->as[as].code, memory_order_acquire);
}

void tsr_mmu_data_changed(struct tsr_mmu *mmu, unsigned int as)
{
	atomic_store_explicit(&mmu->as[as].data, atomic_fetch_add(&mmu->generation, 1) + 1,
			      memory_order_release);
}

uint64_t tsr_mmu_data_generation(struct tsr_mmu *mmu, unsigned int as)
{
	return atomic_load_explicit(&mmu->as[as].data, memory_order_acquire);
}

void tsr_mmu_init(struct tsr_mmu *mmu, const struct tsr_config *cfg,
		  const struct tsr_host_ops *ops, void *host)
{
	mmu->ops = ops;
	mmu->host = host;
	mmu->local = cfg->local;
	mmu->local_size = cfg->local_size;
	mmu->page_sizes = cfg->page_sizes;
	mmu->va_bits = cfg->va_bits;
	mmu->levels = (cfg->va_bits - TSR_PAGE_SHIFT) / TSR_PT_INDEX_BITS;
}

void tsr_mmu_reset(struct tsr_mmu *mmu)
{
	for (unsigned int i = 0; i < TSR_ADDRESS_SPACES_MAX; i++) {
		struct tsr_as *as = &mmu->as[i];

		as->base = 0;
		as->inv_va = 0;
		as->inv_size = 0;
		as->inv_started = 0;
		as->inv_done = 0;
		as->inv_late = 0;
		as->inv_stuck = 0;
		atomic_store_explicit(&as->root, 0, memory_order_release);
		tsr_mmu_code_changed(mmu, i);
		tsr_mmu_data_changed(mmu, i);
	}
}
