/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Tessera GPU: translations through an IOMMU
 *
 * A worker that misses here leaves a note and is told TSR_HOST_PENDING; its
 * queue then blocks.  The bottom half has the IOMMU translate what is noted
 * down and wakes the queue, which asks again.  Where the BQL is held anyway
 * (packets that run in the doorbell write, devices without workers) the
 * answer comes at once.
 */

#include "qemu/osdep.h"
#include "qemu/error-report.h"
#include "qemu/int128.h"
#include "qemu/lockable.h"
#include "qemu/main-loop.h"
#include "qemu/rcu.h"
#include "qemu/units.h"
#include "qapi/error.h"
#include "exec/address-spaces.h"
#include "tessera.h"
#include "trace.h"

/* More cached translations than this are all dropped. */
#define IOTLB_ENTRIES   65536
/* More open questions than this: the oldest is dropped and asked again. */
#define IOTLB_MISSES    256
/* A page of an IOMMU larger than this is cached in pieces. */
#define IOTLB_PAGE_MAX  GiB
/*
 * A refusal is good for this long.  It must be there when the queue that has
 * asked comes back for it, perhaps more than once, and not much longer: the
 * guest may map the page any time, which an IOMMU need not tell us.
 */
#define IOTLB_REFUSAL_NS (20 * SCALE_MS)
/*
 * On a slow host the queue may come back later than that.  It then asks once
 * more, and so many times at most: the next refusal is good whenever it comes,
 * and from then on for as long as any.  (The model asks twice: for a page, and
 * when it cannot have that, for what it needs of it.)
 */
#define IOTLB_LATE_MAX  2

/* A translation.  Two entries never overlap. */
typedef struct IOTLBEntry {
    uint64_t start;             /* bus addresses, inclusive */
    uint64_t last;
    uint8_t *host;              /* of start */
    MemoryRegion *mr;           /* referenced */
    bool read;                  /* what the IOMMU has allowed so far */
    bool write;
} IOTLBEntry;

/* A question to the IOMMU. */
typedef struct IOTLBMiss {
    uint64_t page;              /* 4 KiB page asked for */
    bool write;
    bool refused;               /* the answer; otherwise there is none yet */
    int64_t when;               /* host time of the answer */
    unsigned int late;          /* answers that were asked for too late */
} IOTLBMiss;

/*
 * Our ear at an IOMMU region, for one section of it.  It listens to the whole
 * region and cuts what it hears to the section: QEMU asserts that no event
 * crosses a notifier's bounds, and the guest decides how large events are.
 */
typedef struct IOMMUWatch {
    IOMMUNotifier n;
    TesseraState *s;
    MemoryRegion *mr;
    uint64_t first;             /* the section, in addresses of the region */
    uint64_t last;              /* inclusive */
    uint64_t offset;            /* from those to addresses of the device */
} IOMMUWatch;

static gint iotlb_compare(gconstpointer a, gconstpointer b, gpointer opaque)
{
    const IOTLBEntry *x = a, *y = b;

    return x->last < y->start ? -1 : x->start > y->last;
}

/* Any entry of [start, last].  Lock held. */
static IOTLBEntry *iotlb_find(TesseraDMA *dma, uint64_t start, uint64_t last)
{
    IOTLBEntry key = { .start = start, .last = last };

    return g_tree_lookup(dma->iotlb, &key);
}

/*
 * Drop the translations of [start, last].  On return the model does not use
 * them any more.  BQL.
 */
static void iotlb_drop(TesseraState *s, uint64_t start, uint64_t last)
{
    TesseraDMA *dma = &s->dma;
    g_autoptr(GPtrArray) gone = g_ptr_array_new();
    IOTLBEntry *entry;
    unsigned int i;

    WITH_QEMU_LOCK_GUARD(&dma->lock) {
        while ((entry = iotlb_find(dma, start, last))) {
            g_tree_remove(dma->iotlb, entry);
            g_ptr_array_add(gone, entry);
        }
    }
    trace_tessera_iotlb_drop(s->name, start, last, gone->len);
    if (!gone->len) {
        return;
    }
    tessera_invalidate(s, start, last - start == UINT64_MAX ? UINT64_MAX :
                                 last - start + 1);
    for (i = 0; i < gone->len; i++) {
        entry = g_ptr_array_index(gone, i);
        memory_region_unref(entry->mr);
        g_free(entry);
    }
}

/*
 * Have the IOMMU translate @addr; it reports to the guest what it refuses.
 * On success *entry is filled in and holds a reference.  BQL.
 */
static bool iotlb_translate(TesseraState *s, uint64_t addr, bool write,
                            IOTLBEntry *entry)
{
    IOMMUTLBEntry found;
    MemoryRegion *mr;
    uint64_t mask;
    hwaddr offset, len;

    RCU_READ_LOCK_GUARD();
    found = address_space_get_iotlb_entry(s->dma.as, addr, write,
                                          MEMTXATTRS_UNSPECIFIED);
    if (!found.target_as || !(found.perm & (write ? IOMMU_WO : IOMMU_RO))) {
        return false;
    }
    /* The whole page if it is one piece of memory, else just 4 KiB of it. */
    mask = MIN(found.addr_mask, IOTLB_PAGE_MAX - 1);
    for (;;) {
        len = mask + 1;
        mr = address_space_translate(found.target_as,
                                     found.translated_addr +
                                     ((addr & ~mask) - found.iova),
                                     &offset, &len, write,
                                     MEMTXATTRS_UNSPECIFIED);
        if (len == mask + 1 || mask <= 4 * KiB - 1) {
            break;
        }
        mask = 4 * KiB - 1;
    }
    if (!tessera_dma_is_memory(s, mr) || (write && mr->readonly) ||
        (addr & mask) >= len) {
        return false;
    }
    memory_region_ref(mr);
    *entry = (IOTLBEntry) {
        .start = addr & ~mask,
        .last = (addr & ~mask) + len - 1,
        .host = (uint8_t *)memory_region_get_ram_ptr(mr) + offset,
        .mr = mr,
        .read = !write,
        .write = write,
    };
    return true;
}

/*
 * Add @entry to what is known, or its permission to an entry that is the same
 * otherwise.  Returns false if other entries would have to go first.  BQL.
 */
static bool iotlb_insert(TesseraDMA *dma, const IOTLBEntry *entry)
{
    IOTLBEntry *old, *new;

    QEMU_LOCK_GUARD(&dma->lock);
    old = iotlb_find(dma, entry->start, entry->last);
    if (old && old->start == entry->start && old->last == entry->last &&
        old->host == entry->host) {
        old->read |= entry->read;
        old->write |= entry->write;
        memory_region_unref(entry->mr);
        return true;
    }
    if (old || g_tree_nnodes(dma->iotlb) >= IOTLB_ENTRIES) {
        return false;
    }
    new = g_memdup2(entry, sizeof(*entry));
    g_tree_insert(dma->iotlb, new, new);
    return true;
}

/* Inserts an entry and makes room for it.  Not called from the model. */
static void iotlb_force(TesseraState *s, const IOTLBEntry *entry)
{
    if (iotlb_insert(&s->dma, entry)) {
        return;
    }
    iotlb_drop(s, entry->start, entry->last);
    if (iotlb_insert(&s->dma, entry)) {
        return;
    }
    iotlb_drop(s, 0, UINT64_MAX);
    iotlb_insert(&s->dma, entry);
}

/* Lock held. */
static bool iotlb_hit(TesseraDMA *dma, uint64_t addr, uint64_t *len,
                      bool write, void **ptr)
{
    IOTLBEntry *entry = iotlb_find(dma, addr, addr);

    if (!entry || !(write ? entry->write : entry->read)) {
        return false;
    }
    *len = MIN(*len, entry->last - addr + 1);
    *ptr = entry->host + (addr - entry->start);
    return true;
}

/* The note about @page, if there is one.  Lock held. */
static GList *iotlb_find_miss(TesseraDMA *dma, uint64_t page, bool write)
{
    GList *link;

    for (link = dma->misses.head; link; link = link->next) {
        IOTLBMiss *miss = link->data;

        if (miss->page == page && miss->write == write) {
            return link;
        }
    }
    return NULL;
}

/* Lock held. */
static void iotlb_schedule(TesseraDMA *dma)
{
    if (!dma->resolving) {
        dma->resolving = true;
        qemu_bh_schedule(dma->bh);
    }
}

/* A miss on a thread without the BQL: fetch the answer or ask.  Lock held. */
static enum tsr_host_result iotlb_ask(TesseraState *s, uint64_t page,
                                      bool write)
{
    TesseraDMA *dma = &s->dma;
    GList *link = iotlb_find_miss(dma, page, write);
    int64_t now = get_clock();
    IOTLBMiss *miss;

    if (link) {
        miss = link->data;
        if (!miss->refused) {
            return TSR_HOST_PENDING;
        }
        if (miss->late >= IOTLB_LATE_MAX) {
            miss->when = now;
        }
        if (now - miss->when <= IOTLB_REFUSAL_NS) {
            miss->late = 0;
            trace_tessera_dma_fault(s->name, page, write);
            return TSR_HOST_FAULT;
        }
        miss->refused = false;
        miss->late++;
    } else {
        miss = g_new0(IOTLBMiss, 1);
        miss->page = page;
        miss->write = write;
        if (g_queue_get_length(&dma->misses) >= IOTLB_MISSES) {
            g_free(g_queue_pop_head(&dma->misses));
        }
        g_queue_push_tail(&dma->misses, miss);
    }
    iotlb_schedule(dma);
    trace_tessera_iotlb_miss(s->name, page, write);
    return TSR_HOST_PENDING;
}

enum tsr_host_result tessera_iotlb_map(TesseraState *s, uint64_t addr,
                                       uint64_t *len, bool write, void **ptr)
{
    TesseraDMA *dma = &s->dma;
    IOTLBEntry entry;

    WITH_QEMU_LOCK_GUARD(&dma->lock) {
        if (iotlb_hit(dma, addr, len, write, ptr)) {
            return TSR_HOST_OK;
        }
        if (!bql_locked()) {
            return iotlb_ask(s, addr & ~(4 * KiB - 1), write);
        }
    }
    if (!iotlb_translate(s, addr, write, &entry)) {
        trace_tessera_dma_fault(s->name, addr, write);
        return TSR_HOST_FAULT;
    }
    if (!iotlb_insert(dma, &entry)) {
        /* Making room means to call the model, which has called us. */
        memory_region_unref(entry.mr);
        QEMU_LOCK_GUARD(&dma->lock);
        return iotlb_ask(s, addr & ~(4 * KiB - 1), write);
    }
    QEMU_LOCK_GUARD(&dma->lock);
    return iotlb_hit(dma, addr, len, write, ptr) ? TSR_HOST_OK :
                                                   TSR_HOST_FAULT;
}

/* The questions that have no answer yet, as copies. */
static GArray *iotlb_open_misses(TesseraDMA *dma)
{
    GArray *open = g_array_new(false, false, sizeof(IOTLBMiss));
    GList *link;

    QEMU_LOCK_GUARD(&dma->lock);
    dma->resolving = false;
    for (link = dma->misses.head; link; link = link->next) {
        IOTLBMiss *miss = link->data;

        if (!miss->refused) {
            g_array_append_val(open, *miss);
        }
    }
    return open;
}

static void iotlb_answer(TesseraDMA *dma, const IOTLBMiss *asked, bool ok)
{
    GList *link;
    IOTLBMiss *miss;

    QEMU_LOCK_GUARD(&dma->lock);
    link = iotlb_find_miss(dma, asked->page, asked->write);
    if (!link) {
        return;
    }
    miss = link->data;
    if (ok) {
        g_queue_delete_link(&dma->misses, link);
        g_free(miss);
    } else {
        miss->refused = true;
        miss->when = get_clock();
    }
}

/* Bottom half.  While the machine is stopped its IOMMU is left alone. */
static void iotlb_resolve(void *opaque)
{
    TesseraState *s = opaque;
    g_autoptr(GArray) open = iotlb_open_misses(&s->dma);
    unsigned int i;

    if (!s->running || !tessera_present(s)) {
        return;
    }
    for (i = 0; i < open->len; i++) {
        IOTLBMiss *miss = &g_array_index(open, IOTLBMiss, i);
        IOTLBEntry entry;
        bool ok = iotlb_translate(s, miss->page, miss->write, &entry);

        /* The IOMMU's fault interrupt may have unplugged the device. */
        if (!tessera_present(s)) {
            if (ok) {
                memory_region_unref(entry.mr);
            }
            return;
        }
        trace_tessera_iotlb_answer(s->name, miss->page, miss->write, ok,
                                   ok ? entry.start : 0, ok ? entry.last : 0);
        if (ok) {
            iotlb_force(s, &entry);
        }
        iotlb_answer(&s->dma, miss, ok);
    }
    if (tessera_enter(s)) {
        tsr_gpu_host_ready(s->gpu);
        tessera_leave(s);
    }
}

void tessera_iotlb_resume(TesseraState *s)
{
    QEMU_LOCK_GUARD(&s->dma.lock);
    if (!g_queue_is_empty(&s->dma.misses)) {
        iotlb_schedule(&s->dma);
    }
}

void tessera_iotlb_forget_misses(TesseraState *s)
{
    QEMU_LOCK_GUARD(&s->dma.lock);
    g_queue_clear_full(&s->dma.misses, g_free);
}

/*
 * Drop questions and refusals about [start, last].  Who still wants to know
 * asks again; who has stopped since, because the page was about to go, does
 * not, and the IOMMU reports no fault for it.  BQL.
 */
static void iotlb_drop_misses(TesseraDMA *dma, uint64_t start, uint64_t last)
{
    bool dropped = false;
    GList *link, *next;

    QEMU_LOCK_GUARD(&dma->lock);
    for (link = dma->misses.head; link; link = next) {
        IOTLBMiss *miss = link->data;

        next = link->next;
        if (miss->page <= last && miss->page + (4 * KiB - 1) >= start) {
            g_queue_delete_link(&dma->misses, link);
            g_free(miss);
            dropped = true;
        }
    }
    if (dropped) {
        iotlb_schedule(dma);
    }
}

/* The guest has invalidated something, so answers are old too.  BQL. */
static void iotlb_notify(IOMMUNotifier *n, IOMMUTLBEntry *gone)
{
    IOMMUWatch *watch = container_of(n, IOMMUWatch, n);
    uint64_t first = MAX(gone->iova, watch->first);
    uint64_t last = MIN(gone->iova + gone->addr_mask, watch->last);

    if (first <= last) {
        first += watch->offset;
        last += watch->offset;
        iotlb_drop(watch->s, first, last);
        iotlb_drop_misses(&watch->s->dma, first, last);
    }
}

bool tessera_iotlb_watch(TesseraState *s, MemoryRegionSection *section)
{
    IOMMUMemoryRegion *iommu = IOMMU_MEMORY_REGION(section->mr);
    IOMMUWatch *watch = g_new0(IOMMUWatch, 1);
    Error *err = NULL;

    watch->s = s;
    watch->mr = section->mr;
    watch->first = section->offset_within_region;
    watch->last = watch->first +
                  int128_get64(int128_sub(section->size, int128_one()));
    watch->offset = section->offset_within_address_space - watch->first;
    iommu_notifier_init(&watch->n, iotlb_notify, IOMMU_NOTIFIER_UNMAP,
                        0, UINT64_MAX,
                        memory_region_iommu_attrs_to_index(iommu,
                                                    MEMTXATTRS_UNSPECIFIED));
    if (memory_region_register_iommu_notifier(section->mr, &watch->n, &err)) {
        error_reportf_err(err, "tessera %s: no memory access through this "
                          "IOMMU: ", s->name);
        g_free(watch);
        return false;
    }
    s->dma.notifiers = g_slist_prepend(s->dma.notifiers, watch);
    return true;
}

void tessera_iotlb_unwatch(TesseraState *s, MemoryRegionSection *section)
{
    GSList *link;

    for (link = s->dma.notifiers; link; link = link->next) {
        IOMMUWatch *watch = link->data;

        if (watch->mr == section->mr &&
            watch->first == section->offset_within_region) {
            memory_region_unregister_iommu_notifier(watch->mr, &watch->n);
            iotlb_drop(s, watch->first + watch->offset,
                       watch->last + watch->offset);
            s->dma.notifiers = g_slist_delete_link(s->dma.notifiers, link);
            g_free(watch);
            return;
        }
    }
}

/* Memory that translations lead to may go away without the IOMMU's doing. */
static void iotlb_system_del(MemoryListener *listener,
                             MemoryRegionSection *section)
{
    TesseraDMA *dma = container_of(listener, TesseraDMA, system);

    if (memory_region_is_ram(section->mr)) {
        dma->system_changed = true;
    }
}

static void iotlb_system_commit(MemoryListener *listener)
{
    TesseraState *s = container_of(listener, TesseraState, dma.system);

    if (s->dma.system_changed) {
        s->dma.system_changed = false;
        iotlb_drop(s, 0, UINT64_MAX);
    }
}

void tessera_iotlb_init(TesseraState *s)
{
    TesseraDMA *dma = &s->dma;

    qemu_mutex_init(&dma->lock);
    g_queue_init(&dma->misses);
    dma->iotlb = g_tree_new_full(iotlb_compare, NULL, NULL, NULL);
    dma->bh = qemu_bh_new_guarded(iotlb_resolve, s,
                                  &DEVICE(s)->mem_reentrancy_guard);
    dma->system = (MemoryListener) {
        .name = "tessera-iotlb",
        .region_del = iotlb_system_del,
        .commit = iotlb_system_commit,
        .priority = MEMORY_LISTENER_PRIORITY_DEV_BACKEND,
    };
    memory_listener_register(&dma->system, &address_space_memory);
}

void tessera_iotlb_exit(TesseraState *s)
{
    TesseraDMA *dma = &s->dma;

    memory_listener_unregister(&dma->system);
    qemu_bh_delete(dma->bh);
    iotlb_drop(s, 0, UINT64_MAX);
    g_tree_destroy(dma->iotlb);
    tessera_iotlb_forget_misses(s);
    qemu_mutex_destroy(&dma->lock);
}
