/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Tessera GPU: access to guest memory without the big QEMU lock
 *
 * The device's address space (what pci_get_address_space() gives; with bus
 * mastering off it is empty) is followed with a MemoryListener into a table
 * of RAM ranges, which workers read under RCU.  Whatever is not in the table
 * is no memory.  Parts of the address space that lie behind an IOMMU are in
 * it too, without a host address: they are translated page by page, in a
 * bottom half, because an IOMMU may want to report a fault to the guest, for
 * which it needs the lock.  Results are kept in an IOTLB until the IOMMU
 * notifies us that the guest has invalidated them.
 *
 * A pointer that the model has been given stays valid until
 * tsr_gpu_host_invalidate() has returned; the memory regions behind it are
 * referenced for as long.
 */

#ifndef HW_TESSERA_DMA_H
#define HW_TESSERA_DMA_H

#include "exec/memory.h"
#include "qemu/thread.h"
#include "../model/include/tsr_gpu.h"

typedef struct TesseraState TesseraState;
typedef struct DMATable DMATable;

typedef struct TesseraDMA {
    AddressSpace *as;           /* what the device sees */

    /* The table of ranges: dma.c */
    DMATable *table;            /* RCU; replaced under the BQL */
    GArray *ranges;             /* of DMARange: the table to come */
    GPtrArray *gone;            /* regions to let go after the commit */
    bool changed;               /* ranges differs from table */
    MemoryListener listener;

    /* Translations behind an IOMMU: iotlb.c */
    QemuMutex lock;             /* protects the next three; a leaf lock */
    GTree *iotlb;               /* of IOTLBEntry */
    GQueue misses;              /* of IOTLBMiss, oldest first */
    bool resolving;             /* the bottom half is scheduled */
    QEMUBH *bh;
    GSList *notifiers;          /* of IOMMUWatch; BQL */
    MemoryListener system;      /* drops translations when RAM goes away */
    bool system_changed;
} TesseraDMA;

void tessera_dma_init(TesseraState *s);
/* Called when no thread uses the model any more. */
void tessera_dma_exit(TesseraState *s);

/* Operations of struct tsr_host_ops; any thread. */
enum tsr_host_result tessera_dma_map(void *host, uint64_t addr, uint64_t *len,
                                     bool write, void **ptr);
void tessera_dma_dirty(void *host, enum tsr_space space, uint64_t addr,
                       void *ptr, uint64_t len);

/* True if the GPU may use @mr as memory. */
bool tessera_dma_is_memory(TesseraState *s, MemoryRegion *mr);

/* iotlb.c */
void tessera_iotlb_init(TesseraState *s);
void tessera_iotlb_exit(TesseraState *s);
enum tsr_host_result tessera_iotlb_map(TesseraState *s, uint64_t addr,
                                       uint64_t *len, bool write, void **ptr);
bool tessera_iotlb_watch(TesseraState *s, MemoryRegionSection *section);
void tessera_iotlb_unwatch(TesseraState *s, MemoryRegionSection *section);
/* The machine runs again: ask what has not been asked meanwhile. */
void tessera_iotlb_resume(TesseraState *s);
/* Requests that nobody waits for any more, as after a reset. */
void tessera_iotlb_forget_misses(TesseraState *s);

#endif /* HW_TESSERA_DMA_H */
