/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Tessera GPU: the PCI device
 *
 * The programming model is in Documentation/hw, the properties and how to
 * use the device in Documentation/guide/device.md.
 */

#include "qemu/osdep.h"
#include "qemu/host-utils.h"
#include "qemu/module.h"
#include "qapi/error.h"
#include "qapi/visitor.h"
#include "exec/cpu-common.h"
#include "hw/pci/msix.h"
#include "hw/pci/pcie.h"
#include "system/runstate.h"
#include "../include/tsr_desc.h"
#include "tessera.h"
#include "trace.h"

#define TESSERA_REVISION 0x01
#define POWER_VERSION    3      /* PCI power management 1.2 */
#define LOCAL_NAME       "tessera.local"

/* Trace an access with the names of the description: QUEUE[3].RPTR. */
static void trace_access(TesseraState *s, bool write, uint32_t offset,
                         uint32_t value)
{
    uint32_t n = 0, i = 0;
    bool upper = false;
    const struct tsr_desc_reg *reg = tsr_desc_reg_at(offset, &n, &i, &upper);
    g_autoptr(GString) name = g_string_new(reg ? reg->block->name : "nothing");

    if (reg) {
        if (reg->block->numbered) {
            g_string_append_printf(name, "[%u]", n);
        }
        g_string_append_printf(name, ".%s", reg->name);
        if (reg->count > 1) {
            g_string_append_printf(name, "[%u]", i);
        }
        if (reg->width == 64) {
            g_string_append(name, upper ? ".hi" : ".lo");
        }
    }
    if (write) {
        trace_tessera_write(s->name, offset, name->str, value);
    } else {
        trace_tessera_read(s->name, offset, name->str, value);
    }
}

/* Registers are aligned words; the bus refuses what is not. */
static bool is_word(hwaddr addr, unsigned int size)
{
    return size == 4 && !(addr & 3);
}

static uint64_t tessera_read(void *opaque, hwaddr addr, unsigned int size)
{
    TesseraState *s = opaque;
    uint32_t value;

    if (!is_word(addr, size) || !tessera_enter(s)) {
        return UINT64_MAX;
    }
    value = tsr_gpu_read(s->gpu, addr);
    tessera_leave(s);
    if (trace_event_get_state_backends(TRACE_TESSERA_READ)) {
        trace_access(s, false, addr, value);
    }
    return value;
}

static void tessera_write(void *opaque, hwaddr addr, uint64_t value,
                          unsigned int size)
{
    TesseraState *s = opaque;

    if (!is_word(addr, size) || !tessera_enter(s)) {
        return;
    }
    if (trace_event_get_state_backends(TRACE_TESSERA_WRITE)) {
        trace_access(s, true, addr, value);
    }
    s->touched = true;
    tsr_gpu_write(s->gpu, addr, value);
    tessera_leave(s);
}

/* A 64-bit access is two 32-bit ones, the low half first. */
static const MemoryRegionOps tessera_ops = {
    .read = tessera_read,
    .write = tessera_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = {
        .min_access_size = 1,
        .max_access_size = 8,
        .unaligned = true,
    },
    .impl = {
        .min_access_size = 1,
        .max_access_size = 4,
        .unaligned = true,
    },
};

/* While the machine is stopped nothing moves in the device. */
static void tessera_set_running(TesseraState *s, bool running)
{
    if (running == s->running || !tessera_enter(s)) {
        return;
    }
    trace_tessera_run_state(s->name, running);
    s->running = running;
    if (running) {
        tsr_gpu_resume(s->gpu);
    } else {
        tsr_gpu_pause(s->gpu);
        /* memory may be about to be saved; where time counts nothing moves */
        if (!s->conf.deterministic) {
            tsr_gpu_drain(s->gpu);
        }
    }
    tessera_leave(s);
    if (running && tessera_present(s)) {
        tessera_iotlb_resume(s);
        tessera_kick(s);
    }
}

static void tessera_vm_change_state(void *opaque, bool running, RunState state)
{
    tessera_set_running(opaque, running);
}

/* Bus reset, reset of the machine, and FLR. */
static void tessera_reset_hold(Object *obj, ResetType type)
{
    TesseraState *s = TESSERA(obj);

    /*
     * Machines and hotplug slots reset what they have just created, once or
     * more.  That is part of power-on, not a reset that software counts.
     */
    if (!s->touched || !tessera_enter(s)) {
        return;
    }
    trace_tessera_reset(s->name);
    tsr_gpu_reset(s->gpu);
    qatomic_set(&s->irq_pending, 0);
    tessera_leave_quietly(s);
    if (tessera_present(s)) {
        tessera_iotlb_forget_misses(s);
        tessera_display_reset(s);
    }
}

static void tessera_write_config(PCIDevice *dev, uint32_t addr, uint32_t value,
                                 int len)
{
    pci_default_write_config(dev, addr, value, len);
    /* A message that this has unmasked may have unplugged the device. */
    if (tessera_present(TESSERA(dev)) && dev->exp.exp_cap) {
        pcie_cap_flr_write_config(dev, addr, value, len);
        pcie_aer_write_config(dev, addr, value, len);
    }
}

static uint64_t gone_read(void *opaque, hwaddr addr, unsigned int size)
{
    return UINT64_MAX;
}

static void gone_write(void *opaque, hwaddr addr, uint64_t value,
                       unsigned int size)
{
}

/* Regions of a device that was unplugged. */
static const MemoryRegionOps gone_ops = {
    .read = gone_read,
    .write = gone_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = {
        .min_access_size = 1,
        .max_access_size = 8,
        .unaligned = true,
    },
};

/*
 * Another thread may have chosen a region of BAR 4 for its access and now wait
 * for the BQL.  QEMU's own callbacks for these regions use the table without
 * looking whether it exists; msix_uninit() frees it.
 */
static void tessera_exit_msix(PCIDevice *dev)
{
    dev->msix_table_mmio.ops = &gone_ops;
    dev->msix_pba_mmio.ops = &gone_ops;
    msix_uninit_exclusive_bar(dev);
}

/* A region in another keeps its owner alive: that would be ourselves. */
static void tessera_exit_local(TesseraState *s)
{
    if (s->conf.vram) {
        memory_region_del_subregion(&s->local_window, &s->local);
    }
}

static void tessera_exit_pci(TesseraState *s)
{
    PCIDevice *dev = PCI_DEVICE(s);

    if (dev->exp.aer_cap) {
        pcie_aer_exit(dev);
    }
    if (dev->exp.exp_cap) {
        pcie_cap_exit(dev);
    }
    tessera_exit_msix(dev);
    tessera_exit_local(s);
}

/* D0 and D3hot; the device keeps all of its state in D3hot. */
static bool tessera_init_power(PCIDevice *dev, Error **errp)
{
    int cap = pci_pm_init(dev, 0, errp);

    if (cap < 0) {
        return false;
    }
    pci_set_word(dev->config + cap + PCI_PM_PMC, POWER_VERSION);
    pci_set_word(dev->config + cap + PCI_PM_CTRL, PCI_PM_CTRL_NO_SOFT_RESET);
    pci_set_word(dev->wmask + cap + PCI_PM_CTRL, PCI_PM_CTRL_STATE_MASK);
    return true;
}

/* Features of PCI Express: function-level reset, error reporting. */
static bool tessera_init_express(PCIDevice *dev, Error **errp)
{
    if (pcie_endpoint_cap_init(dev, 0) < 0) {
        error_setg(errp, "tessera: no room for the PCIe capability");
        return false;
    }
    pcie_cap_flr_init(dev);
    pcie_cap_deverr_init(dev);
    return !pcie_aer_init(dev, PCI_ERR_VER, PCI_CONFIG_SPACE_SIZE,
                          PCI_ERR_SIZEOF, errp);
}

/*
 * Local memory is a RAM block with the name of the device's place.  After an
 * unplug QEMU frees the device when the last user of its memory has finished,
 * and then sends DEVICE_DELETED.  A second block of the same name aborts QEMU.
 */
static bool tessera_init_local(TesseraState *s, uint64_t size, Error **errp)
{
    g_autofree char *path = qdev_get_dev_path(DEVICE(s));
    g_autofree char *block = g_strdup_printf("%s/%s", path ? path : "",
                                             LOCAL_NAME);

    if (path && qemu_ram_block_by_name(block)) {
        error_setg(errp, "tessera: the local memory of the device that was "
                   "here before is still in use: wait for its "
                   "DEVICE_DELETED event");
        return false;
    }
    if (!memory_region_init_ram(&s->local, OBJECT(s), LOCAL_NAME, size,
                                errp)) {
        return false;
    }
    memory_region_init(&s->local_window, OBJECT(s), "tessera.bar2",
                       pow2ceil(size));
    memory_region_add_subregion(&s->local_window, 0, &s->local);
    return true;
}

/* The PCI function: capabilities and BARs; the registers come last. */
static bool tessera_init_pci(TesseraState *s, uint64_t local_size,
                             Error **errp)
{
    PCIDevice *dev = PCI_DEVICE(s);
    unsigned int i;

    if (s->conf.heads) {
        pci_config_set_class(dev->config, PCI_CLASS_DISPLAY_OTHER);
    }
    if (local_size && !tessera_init_local(s, local_size, errp)) {
        return false;
    }
    if (msix_init_exclusive_bar(dev, tessera_vectors(s), TSR_BAR_MSIX, errp)) {
        error_prepend(errp, "tessera: the device needs MSI-X: ");
        tessera_exit_local(s);
        return false;
    }
    for (i = 0; i < tessera_vectors(s); i++) {
        msix_vector_use(dev, i);
    }
    if (!tessera_init_power(dev, errp) ||
        (pci_bus_is_express(pci_get_bus(dev)) &&
         !tessera_init_express(dev, errp))) {
        tessera_exit_pci(s);
        return false;
    }
    memory_region_init_io(&s->registers, OBJECT(s), &tessera_ops, s,
                          "tessera.registers", TSR_REGISTERS_SIZE);
    pci_register_bar(dev, TSR_BAR_REGISTERS, PCI_BASE_ADDRESS_SPACE_MEMORY,
                     &s->registers);
    if (local_size) {
        pci_register_bar(dev, TSR_BAR_LOCAL,
                         PCI_BASE_ADDRESS_SPACE_MEMORY |
                         PCI_BASE_ADDRESS_MEM_TYPE_64 |
                         PCI_BASE_ADDRESS_MEM_PREFETCH, &s->local_window);
    }
    return true;
}

/* Hand the script of property "inject" to the model. */
static bool tessera_inject(TesseraState *s, Error **errp)
{
    char err[200];
    bool good;

    if (!s->inject || !tessera_enter(s)) {
        return true;
    }
    good = tsr_gpu_inject(s->gpu, s->inject, err, sizeof(err));
    tessera_leave(s);
    if (!good) {
        error_setg(errp, "tessera: property 'inject': %s", err);
    }
    return good;
}

static void tessera_realize(PCIDevice *dev, Error **errp)
{
    TesseraState *s = TESSERA(dev);
    struct tsr_config cfg;
    char err[200];

    g_free(s->name);
    s->name = qdev_get_human_name(DEVICE(s));
    if (!tessera_config(s, &cfg, errp) ||
        !tessera_init_pci(s, cfg.local_size, errp)) {
        return;
    }
    if (cfg.local_size) {
        cfg.local = memory_region_get_ram_ptr(&s->local);
    }
    s->polled = !cfg.threads;
    s->running = true;
    s->touched = s->unplugged = false;
    s->irq_pending = 0;
    tessera_host_init(s);
    s->gpu = tsr_gpu_new(&cfg, &tessera_host_ops, s, err, sizeof(err));
    if (!s->gpu) {
        error_setg(errp, "tessera: %s", err);
        tessera_host_exit(s);
        tessera_exit_pci(s);
        return;
    }
    if (!tessera_inject(s, errp) || !tessera_capture_start(s, errp)) {
        tsr_gpu_free(s->gpu);
        s->gpu = NULL;
        tessera_host_exit(s);
        tessera_exit_pci(s);
        return;
    }
    tessera_dma_init(s);
    tessera_display_open(s);
    tessera_set_running(s, runstate_is_running());
    s->vmstate_change = qdev_add_vm_change_state_handler(DEVICE(s),
                                                    tessera_vm_change_state,
                                                    s);
    trace_tessera_realize(s->name, cfg.queues, cfg.threads, cfg.local_size);
}

/*
 * Workers may be in the middle of something: tsr_gpu_free() stops them at the
 * end of their burst, and until it returns all operations must work.
 */
void tessera_teardown(TesseraState *s)
{
    tessera_display_close(s);
    tsr_gpu_free(s->gpu);
    s->gpu = NULL;
    g_clear_pointer(&s->saved, g_free);
    tessera_dma_exit(s);
    tessera_host_exit(s);
}

/*
 * From here on tessera_enter() refuses.  The guest can power off the slot by a
 * message of an IOMMU that reports a fault of a call into the model.  Then the
 * model is freed when that call has returned.
 */
static void tessera_exit(PCIDevice *dev)
{
    TesseraState *s = TESSERA(dev);

    trace_tessera_exit(s->name);
    qemu_del_vm_change_state_handler(s->vmstate_change);
    s->unplugged = true;
    if (!s->depth) {
        tessera_teardown(s);
    }
    tessera_exit_pci(s);
}

static char *tessera_get_inject(Object *obj, Error **errp)
{
    TesseraState *s = TESSERA(obj);

    return tessera_text(s->inject);
}

/* Unlike other properties this one is for the machine that runs, too. */
static void tessera_set_inject(Object *obj, const char *script, Error **errp)
{
    TesseraState *s = TESSERA(obj);

    tessera_text_set(&s->inject, script);
    tessera_inject(s, errp);
}

/* The contract checker: how many reports, and suspicions not judged yet. */
static void tessera_check(TesseraState *s, uint64_t *reports,
                          unsigned int *pending)
{
    *reports = 0;
    *pending = 0;
    if (tessera_enter(s)) {
        *reports = tsr_gpu_check_reports(s->gpu, pending);
        tessera_leave(s);
    }
}

static void tessera_get_check_reports(Object *obj, Visitor *v,
                                      const char *name, void *opaque,
                                      Error **errp)
{
    unsigned int pending;
    uint64_t reports;

    tessera_check(TESSERA(obj), &reports, &pending);
    visit_type_uint64(v, name, &reports, errp);
}

static void tessera_get_check_pending(Object *obj, Visitor *v,
                                      const char *name, void *opaque,
                                      Error **errp)
{
    unsigned int pending;
    uint64_t reports;
    uint32_t value;

    tessera_check(TESSERA(obj), &reports, &pending);
    value = pending;
    visit_type_uint32(v, name, &value, errp);
}

static char *tessera_get_check_last(Object *obj, Error **errp)
{
    TesseraState *s = TESSERA(obj);
    char text[512] = "";

    if (tessera_enter(s)) {
        tsr_gpu_check_last(s->gpu, text, sizeof(text));
        tessera_leave(s);
    }
    return g_strdup(text);
}

static void tessera_class_add_check(ObjectClass *klass)
{
    object_class_property_add(klass, "check-reports", "uint64",
                              tessera_get_check_reports, NULL, NULL, NULL);
    object_class_property_set_description(klass, "check-reports",
        "Mistakes of the driver that were reported (check=on)");
    object_class_property_add(klass, "check-pending", "uint32",
                              tessera_get_check_pending, NULL, NULL, NULL);
    object_class_property_set_description(klass, "check-pending",
        "Suspicions that are not judged yet");
    object_class_property_add_str(klass, "check-last", tessera_get_check_last,
                                  NULL);
    object_class_property_set_description(klass, "check-last",
                                          "The last mistake of the driver");
}

/* The size of configuration space must be known before realize. */
static void tessera_instance_init(Object *obj)
{
    PCI_DEVICE(obj)->cap_present |= QEMU_PCI_CAP_EXPRESS;
    tessera_display_instance_init(TESSERA(obj));
}

static void tessera_instance_finalize(Object *obj)
{
    tessera_capture_finalize(TESSERA(obj));
    g_free(TESSERA(obj)->inject);
    g_free(TESSERA(obj)->name);
}

static void tessera_class_init(ObjectClass *klass, void *data)
{
    DeviceClass *dc = DEVICE_CLASS(klass);
    PCIDeviceClass *pc = PCI_DEVICE_CLASS(klass);
    ResettableClass *rc = RESETTABLE_CLASS(klass);

    pc->realize = tessera_realize;
    pc->exit = tessera_exit;
    pc->config_write = tessera_write_config;
    pc->vendor_id = TSR_PCI_VENDOR;
    pc->device_id = TSR_PCI_DEVICE;
    pc->revision = TESSERA_REVISION;
    pc->class_id = PCI_CLASS_DISPLAY_3D;
    rc->phases.hold = tessera_reset_hold;
    dc->desc = "Tessera tile-based GPU";
    dc->vmsd = &tessera_vmstate;
    set_bit(DEVICE_CATEGORY_DISPLAY, dc->categories);
    object_class_property_add_str(klass, "inject", tessera_get_inject,
                                  tessera_set_inject);
    object_class_property_set_description(klass, "inject",
                                          "Script of faults on purpose");
    tessera_class_add_check(klass);
    tessera_class_add_capture(klass);
    tessera_class_add_display(klass);
    device_class_set_props_n(dc, tessera_properties, tessera_num_properties);
}

static const TypeInfo tessera_info = {
    .name = TYPE_TESSERA,
    .parent = TYPE_PCI_DEVICE,
    .instance_size = sizeof(TesseraState),
    .instance_init = tessera_instance_init,
    .instance_finalize = tessera_instance_finalize,
    .class_init = tessera_class_init,
    .interfaces = (InterfaceInfo[]) {
        { INTERFACE_PCIE_DEVICE },
        { INTERFACE_CONVENTIONAL_PCI_DEVICE },
        { },
    },
};

static void tessera_register_types(void)
{
    type_register_static(&tessera_info);
}

type_init(tessera_register_types)
