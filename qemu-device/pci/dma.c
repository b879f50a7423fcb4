/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Tessera GPU: the table of memory that the device can reach
 */

#include "qemu/osdep.h"
#include "qemu/int128.h"
#include "qemu/main-loop.h"
#include "qemu/rcu.h"
#include "exec/address-spaces.h"
#include "tessera.h"
#include "trace.h"

/* A piece of the device's address space. */
typedef struct DMARange {
    uint64_t start;             /* first bus address */
    uint64_t last;              /* last one, inclusive */
    uint8_t *host;              /* of start; NULL: ask the IOMMU */
    MemoryRegion *mr;           /* referenced */
    bool readonly;
} DMARange;

/* Table that workers read. It is sorted, and constant once it is published. */
struct DMATable {
    struct rcu_head rcu;
    unsigned int n;
    DMARange range[];
};

/*
 * RAM that is another device's (vfio) is no memory to us, and a device does
 * not reach its own BARs over the bus.
 */
bool tessera_dma_is_memory(TesseraState *s, MemoryRegion *mr)
{
    return memory_region_is_ram(mr) && !memory_region_is_ram_device(mr) &&
           mr != &s->local;
}

static const DMARange *dma_find(const DMATable *table, uint64_t addr)
{
    unsigned int lo = 0, hi = table->n;

    while (lo < hi) {
        unsigned int mid = lo + (hi - lo) / 2;

        if (table->range[mid].last < addr) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    if (lo < table->n && table->range[lo].start <= addr) {
        return &table->range[lo];
    }
    return NULL;
}

enum tsr_host_result tessera_dma_map(void *host, uint64_t addr, uint64_t *len,
                                     bool write, void **ptr)
{
    TesseraState *s = host;
    const DMARange *range;
    uint64_t left;

    RCU_READ_LOCK_GUARD();
    range = dma_find(qatomic_rcu_read(&s->dma.table), addr);
    if (!range || (write && range->readonly)) {
        trace_tessera_dma_fault(s->name, addr, write);
        return TSR_HOST_FAULT;
    }
    left = range->last - addr;
    if (left < *len - 1) {
        *len = left + 1;
    }
    if (!range->host) {
        return tessera_iotlb_map(s, addr, len, write, ptr);
    }
    *ptr = range->host + (addr - range->start);
    return TSR_HOST_OK;
}

/*
 * Migration has to send what was written, and translated guest code there has
 * to be thrown away.  address_space_unmap() does both, for a region that it
 * was given a reference to; our own reference keeps it alive until then.
 */
void tessera_dma_dirty(void *host, enum tsr_space space, uint64_t addr,
                       void *ptr, uint64_t len)
{
    TesseraState *s = host;
    ram_addr_t offset;

    RCU_READ_LOCK_GUARD();
    memory_region_ref(memory_region_from_host(ptr, &offset));
    address_space_unmap(s->dma.as, ptr, len, true, len);
}

static gint dma_compare(gconstpointer a, gconstpointer b)
{
    const DMARange *x = a, *y = b;

    return x->start < y->start ? -1 : x->start > y->start;
}

/* Replace the table that workers see.  BQL. */
static void dma_publish(TesseraDMA *dma)
{
    unsigned int n = dma->ranges->len;
    DMATable *old = dma->table, *table;

    g_array_sort(dma->ranges, dma_compare);
    table = g_malloc(sizeof(*table) + n * sizeof(table->range[0]));
    table->n = n;
    memcpy(table->range, dma->ranges->data, n * sizeof(table->range[0]));
    qatomic_rcu_set(&dma->table, table);
    if (old) {
        g_free_rcu(old, rcu);
    }
}

static void dma_region_add(MemoryListener *listener,
                           MemoryRegionSection *section)
{
    TesseraState *s = container_of(listener, TesseraState, dma.listener);
    MemoryRegion *mr = section->mr;
    DMARange range = {
        .start = section->offset_within_address_space,
        .mr = mr,
        .readonly = section->readonly,
    };

    if (memory_region_is_iommu(mr)) {
        if (!tessera_iotlb_watch(s, section)) {
            return;
        }
    } else if (tessera_dma_is_memory(s, mr)) {
        range.host = (uint8_t *)memory_region_get_ram_ptr(mr) +
                     section->offset_within_region;
    } else {
        return;
    }
    range.last = range.start +
                 int128_get64(int128_sub(section->size, int128_one()));
    memory_region_ref(mr);
    g_array_append_val(s->dma.ranges, range);
    s->dma.changed = true;
    trace_tessera_dma_add(s->name, range.start, range.last, mr->name);
}

static void dma_region_del(MemoryListener *listener,
                           MemoryRegionSection *section)
{
    TesseraState *s = container_of(listener, TesseraState, dma.listener);
    TesseraDMA *dma = &s->dma;
    unsigned int i;

    for (i = 0; i < dma->ranges->len; i++) {
        DMARange *range = &g_array_index(dma->ranges, DMARange, i);

        if (range->start != section->offset_within_address_space) {
            continue;
        }
        trace_tessera_dma_del(s->name, range->start, range->last,
                              range->mr->name);
        if (!range->host) {
            tessera_iotlb_unwatch(s, section);
        }
        g_ptr_array_add(dma->gone, range->mr);
        g_array_remove_index_fast(dma->ranges, i);
        dma->changed = true;
        return;
    }
}

/*
 * A region that has disappeared must be out of use before the guest goes on,
 * and its memory may be freed after this.
 */
static void dma_commit(MemoryListener *listener)
{
    TesseraState *s = container_of(listener, TesseraState, dma.listener);
    TesseraDMA *dma = &s->dma;
    unsigned int i;

    if (!dma->changed) {
        return;
    }
    dma->changed = false;
    dma_publish(dma);
    if (!dma->gone->len) {
        return;
    }
    tessera_invalidate(s, 0, UINT64_MAX);
    for (i = 0; i < dma->gone->len; i++) {
        memory_region_unref(g_ptr_array_index(dma->gone, i));
    }
    g_ptr_array_set_size(dma->gone, 0);
}

void tessera_dma_init(TesseraState *s)
{
    TesseraDMA *dma = &s->dma;

    dma->as = pci_get_address_space(PCI_DEVICE(s));
    dma->ranges = g_array_new(false, false, sizeof(DMARange));
    dma->gone = g_ptr_array_new();
    dma_publish(dma);
    tessera_iotlb_init(s);
    dma->listener = (MemoryListener) {
        .name = "tessera",
        .region_add = dma_region_add,
        .region_del = dma_region_del,
        .commit = dma_commit,
        .priority = MEMORY_LISTENER_PRIORITY_DEV_BACKEND,
    };
    memory_listener_register(&dma->listener, dma->as);
}

void tessera_dma_exit(TesseraState *s)
{
    TesseraDMA *dma = &s->dma;

    memory_listener_unregister(&dma->listener);
    tessera_iotlb_exit(s);
    g_free_rcu(dma->table, rcu);
    g_ptr_array_free(dma->gone, true);
    g_array_free(dma->ranges, true);
}
