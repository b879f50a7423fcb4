/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Tessera GPU: snapshots and migration
 *
 * The model writes its state as versioned bytes of its own, which travel as
 * one buffer.  Local memory is a RAM block and migrates as such.
 */

#include "qemu/osdep.h"
#include "qemu/error-report.h"
#include "qemu/main-loop.h"
#include "hw/pci/msix.h"
#include "hw/pci/pcie_aer.h"
#include "migration/vmstate.h"
#include "tessera.h"
#include "trace.h"

/*
 * The model's bytes in s->saved, for tessera_post_save() to free; their
 * number.  It may be more than x-snapshot-max, which is what the other side
 * takes, or than there is memory: then there is nothing in s->saved.
 * Returns 0 if there is no model.
 */
static size_t tessera_save_model(TesseraState *s)
{
    size_t size;

    g_clear_pointer(&s->saved, g_free);
    if (!tessera_enter(s)) {
        return 0;
    }
    tsr_gpu_pause(s->gpu);
    size = tsr_gpu_save(s->gpu, NULL, 0);
    if (size <= s->conf.snapshot_max) {
        s->saved = g_try_malloc(size);
    }
    if (s->saved) {
        tsr_gpu_save(s->gpu, s->saved, size);
        s->saved_size = size;
    }
    tsr_gpu_resume(s->gpu);
    tessera_leave(s);
    return size;
}

static int tessera_pre_save(void *opaque)
{
    TesseraState *s = opaque;
    size_t size = tessera_save_model(s);

    if (!size) {
        error_report("tessera %s: the device was unplugged", s->name);
        return -ENODEV;
    }
    if (!s->saved) {
        error_report("tessera %s: the GPU's state of %zu bytes cannot be "
                     "saved: at most %" PRIu64 " bytes, if there is memory",
                     s->name, size, s->conf.snapshot_max);
        return size > s->conf.snapshot_max ? -EFBIG : -ENOMEM;
    }
    trace_tessera_save(s->name, s->saved_size);
    return 0;
}

static int tessera_post_save(void *opaque)
{
    TesseraState *s = opaque;

    g_clear_pointer(&s->saved, g_free);
    return 0;
}

/*
 * Drops the state of an earlier stream that was incomplete.  The clock of
 * the stream may be before that of this machine.
 */
static int tessera_pre_load(void *opaque)
{
    TesseraState *s = opaque;

    g_clear_pointer(&s->saved, g_free);
    s->lead_time = 0;
    return 0;
}

static bool tessera_irq_pending_sane(void *opaque, int version_id)
{
    TesseraState *s = opaque;

    return !(s->irq_pending >> tessera_vectors(s));
}

static bool tessera_saved_size_sane(void *opaque, int version_id)
{
    TesseraState *s = opaque;

    return s->saved_size <= s->conf.snapshot_max;
}

static int tessera_post_load(void *opaque, int version_id)
{
    TesseraState *s = opaque;
    char err[200];
    bool ok;

    if (!tessera_enter(s)) {
        error_report("tessera %s: the device was unplugged", s->name);
        return -ENODEV;
    }
    tessera_iotlb_forget_misses(s);
    s->touched = true;
    tsr_gpu_pause(s->gpu);
    ok = tsr_gpu_load(s->gpu, s->saved, s->saved_size, err, sizeof(err));
    tsr_gpu_resume(s->gpu);
    if (ok) {
        tsr_gpu_host_ready(s->gpu);
    }
    tessera_leave(s);
    g_clear_pointer(&s->saved, g_free);
    if (!ok) {
        error_report("tessera %s: the saved state does not fit this device: "
                     "%s", s->name, err);
        return -EINVAL;
    }
    tessera_display_announce(s);
    trace_tessera_load(s->name, s->saved_size);
    return 0;
}

const VMStateDescription tessera_vmstate = {
    .name = "tessera",
    .version_id = 1,
    .minimum_version_id = 1,
    .pre_save = tessera_pre_save,
    .post_save = tessera_post_save,
    .pre_load = tessera_pre_load,
    .post_load = tessera_post_load,
    .fields = (const VMStateField[]) {
        VMSTATE_PCI_DEVICE(parent_obj, TesseraState),
        VMSTATE_MSIX(parent_obj, TesseraState),
        VMSTATE_STRUCT(parent_obj.exp.aer_log, TesseraState, 0,
                       vmstate_pcie_aer_log, PCIEAERLog),
        VMSTATE_UINT32(irq_pending, TesseraState),
        VMSTATE_VALIDATE("vectors whose message is due",
                         tessera_irq_pending_sane),
        VMSTATE_TIMER_PTR(run_timer, TesseraState),
        VMSTATE_UINT32(saved_size, TesseraState),
        VMSTATE_VALIDATE("size of the saved state", tessera_saved_size_sane),
        VMSTATE_VBUFFER_ALLOC_UINT32(saved, TesseraState, 0, NULL, saved_size),
        VMSTATE_END_OF_LIST()
    }
};
