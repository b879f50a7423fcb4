/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Tessera GPU: the PCI device's state, shared by the files of this directory
 *
 * The GPU itself is the model library (../model/tsr_gpu.h).  This directory
 * is its host: PCI configuration space, BARs and MSI-X (tessera.c), the
 * properties (config.c), what the model asks of the machine (host.c), memory
 * access (dma.c, iotlb.c), consoles (display.c) and migration (vmstate.c).  In
 * QEMU's tree it is
 * hw/tessera/pci; ../include holds what is generated from the description of
 * the hardware in Documentation/hw.
 *
 * Locks.  Everything runs under the big QEMU lock (BQL), except the model's
 * workers, which come in through the operations of struct tsr_host_ops.
 * Workers never take the BQL, so code that holds it may wait for them.
 */

#ifndef HW_TESSERA_TESSERA_H
#define HW_TESSERA_TESSERA_H

#include "hw/pci/pci_device.h"
#include "hw/qdev-properties.h"
#include "qemu/thread.h"
#include "qemu/timer.h"
#include "system/runstate.h"
#include "../include/tsr_regs.h"
#include "../model/include/tsr_gpu.h"
#include "dma.h"

#define TYPE_TESSERA "tessera"
OBJECT_DECLARE_SIMPLE_TYPE(TesseraState, TESSERA)

/* MSI-X vectors: one for each TSR_IRQ_CLASS; the last only with heads. */
#define TESSERA_VECTORS_MAX 6

typedef struct TesseraState TesseraState;

/* A head of the display controller, its console and its monitor; BQL. */
typedef struct TesseraHead {
    TesseraState *s;
    unsigned int index;
    QemuConsole *con;           /* NULL: not yet, or not any more */
    QEMUBH *bh;                 /* a frame is complete, or the head is off */
    QEMUTimer *patience;        /* an update is not awaited for longer */
    uint64_t awaited;           /* serial of the frame it needs; 0: none is */
    uint64_t wanted;            /* serial of the newest frame asked for */
    uint64_t shown;             /* serial of the frame on the console; 0: none */
    bool surface;               /* the console's is of the mode's size */
    bool whole;                 /* copy all of the next one */
    struct tsr_display_frame frame; /* being copied, up to @row, if @copying */
    bool copying, copy_all;
    int row;
    bool connected;             /* property connected[N] */
    bool closed;                /* its window was */
    uint32_t width, height, width_mm, height_mm;
    uint32_t refresh;           /* thousandths of a hertz */
} TesseraHead;

/* The properties as given by the user; config.c checks them. */
typedef struct TesseraConf {
    uint32_t queues;
    uint32_t engines[4];        /* by TSR_ENGINE_CLASS */
    uint32_t va_bits;
    char *page_sizes;           /* such as "4K:2M" */
    uint64_t vram;              /* bytes of local memory */
    int32_t threads;            /* -1: choose by the host's processors */
    uint32_t inline_budget;     /* cycles; 0: nothing runs in the doorbell */
    bool deterministic;
    uint64_t seed;
    uint32_t lead;              /* cycles to run ahead while nothing else does */
    uint32_t cores;             /* shader cores */
    char *debug;                /* flags such as "late:nojit", or NULL */
    /* properties that "debug" replaces, for one release */
    char *old_timing, *old_simd;
    bool old_strict, old_cache, old_jit;
    uint32_t old_gfx;
    bool inject_window;         /* the guest may inject faults */
    bool check;                 /* report what the driver does wrong */
    uint64_t snapshot_max;      /* bytes of the model's state */
    uint32_t heads;             /* of the display controller */
    uint32_t xres, yres;        /* preferred mode */
    uint64_t display_memory;    /* bytes of the host's for all heads */
    uint64_t capture_max;       /* bytes that a captured job may touch */
} TesseraConf;

struct TesseraState {
    PCIDevice parent_obj;

    TesseraConf conf;
    char *inject;               /* the last script of faults, see inject.md */
    char *capture;              /* job to be captured, see capture.c */
    char *capture_file;
    QEMUBH *capture_bh;         /* a job has been captured */
    struct TesseraCaptureFile *capture_writing; /* NULL: no file is */
    char *name;                 /* for messages and traces: the id, or a path */

    MemoryRegion registers;     /* BAR 0 */
    MemoryRegion local_window;  /* BAR 2: a power of two that holds local */
    MemoryRegion local;         /* local memory itself */

    struct tsr_gpu *gpu;        /* see tessera_present() */
    bool unplugged;             /* tessera_exit() has been called */
    TesseraDMA dma;
    TesseraHead head[TSR_HEADS_MAX];

    VMChangeStateEntry *vmstate_change;
    bool touched;               /* a register has been written since power-on */
    bool running;               /* the model is not paused by us */

    /*
     * Calls into the model that are open, all of them by the holder of the
     * BQL.  What the model asks for in the meantime (interrupts) happens
     * when the outermost of them is over, outside the model.
     */
    unsigned int depth;
    bool guard;                 /* mem_reentrancy_guard before the outermost */

    /*
     * Vectors whose message is due; atomic.  While the machine is stopped
     * they wait here, and travel with a snapshot.
     */
    uint32_t irq_pending;
    QEMUBH *irq_bh;

    QEMUTimer *timer;           /* calls tsr_gpu_timer() */
    QemuMutex timer_lock;       /* protects timer_when */
    uint64_t timer_when;        /* UINT64_MAX: never */
    QEMUBH *timer_bh;

    bool polled;                /* no workers: these call tsr_gpu_run() */
    QEMUBH *run_bh;             /* between other work of the main loop */
    QEMUTimer *run_timer;       /* with -icount: by the virtual clock */
    uint64_t lead_time;         /* up to which a deterministic device has run */
    QEMUTimer *lead_timer;      /* sends what was due at that time */

    uint8_t *saved;             /* the model's bytes on their way */
    uint32_t saved_size;
};

/* config.c */
bool tessera_config(TesseraState *s, struct tsr_config *cfg, Error **errp);
extern const Property tessera_properties[];
extern const size_t tessera_num_properties;

/* host.c: @host of all operations is the TesseraState. */
extern const struct tsr_host_ops tessera_host_ops;
void tessera_host_init(TesseraState *s);
void tessera_host_exit(TesseraState *s);
/*
 * Brackets around every call into the model; they nest.  tessera_enter()
 * returns false if there is no model, before realize and after unplug: then
 * the caller must not call the model or tessera_leave().  A callback that
 * QEMU has begun may wait for the BQL while another thread unplugs the device,
 * so no callback may skip this check.
 *
 * tessera_leave() sends MSI-X messages.  A message is a write to an address
 * that the guest chooses, and may power off the device's own slot.  The caller
 * must check tessera_present() before it uses the device again.
 * tessera_leave_quietly() leaves messages to the bottom half instead.
 */
bool tessera_enter(TesseraState *s) G_GNUC_WARN_UNUSED_RESULT;
void tessera_leave(TesseraState *s);
void tessera_leave_quietly(TesseraState *s);
/* Send what is pending, if the machine runs.  Outside the model only. */
void tessera_irq_deliver(TesseraState *s);

/* The device is realized: model, timers and bottom halves exist.  BQL. */
static inline bool tessera_present(const TesseraState *s)
{
    return s->gpu && !s->unplugged;
}

/* tessera.c: free what tessera_exit() had to leave to the call in progress. */
void tessera_teardown(TesseraState *s);
/* tsr_gpu_host_invalidate(), where there is a GPU already or still. */
void tessera_invalidate(TesseraState *s, uint64_t addr, uint64_t len);
/* Let tsr_gpu_run() be called soon, if this device has no workers. */
void tessera_kick(TesseraState *s);

/* A property that is text and may change: a copy, empty if there is none. */
static inline char *tessera_text(const char *text)
{
    return g_strdup(text ? text : "");
}

static inline void tessera_text_set(char **text, const char *value)
{
    g_free(*text);
    *text = g_strdup(value);
}

/* capture.c */
void tessera_class_add_capture(ObjectClass *klass);
void tessera_capture_init(TesseraState *s);
void tessera_capture_exit(TesseraState *s);
void tessera_capture_finalize(TesseraState *s);
/* Do what the properties say. */
bool tessera_capture_start(TesseraState *s, Error **errp);
/* struct tsr_host_ops.captured() */
void tessera_captured(void *host);

/*
 * display.c: bells and timers of the heads, before there is a model and after;
 * their consoles, while there is one.
 */
void tessera_display_instance_init(TesseraState *s);
void tessera_class_add_display(ObjectClass *klass);
void tessera_display_init(TesseraState *s);
void tessera_display_exit(TesseraState *s);
void tessera_display_open(TesseraState *s);
void tessera_display_close(TesseraState *s);
/* The function was reset: no frame will come. */
void tessera_display_reset(TesseraState *s);
/* Tell the guest of its monitors; it hears of what is new. */
void tessera_display_announce(TesseraState *s);
/* struct tsr_host_ops.frame() */
void tessera_frame(void *host, unsigned int head);

/* Vectors of this device. */
static inline unsigned int tessera_vectors(TesseraState *s)
{
    return TESSERA_VECTORS_MAX - !s->conf.heads;
}

/* vmstate.c */
extern const VMStateDescription tessera_vmstate;

#endif /* HW_TESSERA_TESSERA_H */
