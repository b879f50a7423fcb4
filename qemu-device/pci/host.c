/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Tessera GPU: what the model asks of the machine, memory aside
 */

#include "qemu/osdep.h"
#include "qemu/atomic.h"
#include "qemu/error-report.h"
#include "qemu/host-utils.h"
#include "qemu/main-loop.h"
#include "qemu/rcu.h"
#include "hw/pci/msix.h"
#include "system/cpu-timers.h"
#include "system/cpus.h"
#include "../model/include/tsr_trace.h"
#include "tessera.h"
#include "trace.h"

/*
 * Work of a device without workers between two looks at the main loop, in
 * cycles.  One cycle takes a nanosecond of the virtual clock under -icount.
 */
#define RUN_CYCLES 8192

/*
 * The memory reentrancy guard is closed while the model is at work: what a
 * model call leads to (a page table of the IOMMU in our own BAR, say) must
 * not come back to our registers.
 */
bool tessera_enter(TesseraState *s)
{
    MemReentrancyGuard *guard = &DEVICE(s)->mem_reentrancy_guard;

    if (!tessera_present(s)) {
        return false;
    }
    if (s->depth++ == 0) {
        s->guard = guard->engaged_in_io;
        guard->engaged_in_io = true;
    }
    return true;
}

/* Returns true when the outermost call has ended and the device is present. */
static bool host_unguard(TesseraState *s)
{
    if (--s->depth) {
        return false;
    }
    DEVICE(s)->mem_reentrancy_guard.engaged_in_io = s->guard;
    if (s->unplugged) {
        tessera_teardown(s);
        return false;
    }
    return true;
}

void tessera_leave(TesseraState *s)
{
    if (host_unguard(s)) {
        tessera_irq_deliver(s);
    }
}

void tessera_leave_quietly(TesseraState *s)
{
    if (host_unguard(s) && qatomic_read(&s->irq_pending)) {
        qemu_bh_schedule(s->irq_bh);
    }
}

/*
 * An IOMMU calls this from its own register accesses.  A message sent from
 * there would come back to it and be blocked as re-entrant, so messages wait
 * for the bottom half.
 */
void tessera_invalidate(TesseraState *s, uint64_t addr, uint64_t len)
{
    if (tessera_enter(s)) {
        tsr_gpu_host_invalidate(s->gpu, addr, len);
        tessera_leave_quietly(s);
    }
}

void tessera_irq_deliver(TesseraState *s)
{
    uint32_t pending;

    if (!s->running) {
        return;
    }
    pending = qatomic_xchg(&s->irq_pending, 0);
    while (pending && tessera_present(s)) {
        unsigned int vector = ctz32(pending);

        pending &= pending - 1;
        if (msix_enabled(PCI_DEVICE(s))) {
            trace_tessera_msix(s->name, vector);
            msix_notify(PCI_DEVICE(s), vector);
        }
    }
}

static void host_irq_bh(void *opaque)
{
    tessera_irq_deliver(opaque);
}

/* Only workers need the bottom half: others deliver in tessera_leave(). */
static void host_interrupt(void *host, unsigned int vector)
{
    TesseraState *s = host;

    qatomic_or(&s->irq_pending, 1u << vector);
    if (!bql_locked() || !s->depth) {
        qemu_bh_schedule(s->irq_bh);
    }
}

static uint64_t host_clock(void *host)
{
    TesseraState *s = host;

    return MAX(qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL), s->lead_time);
}

/* Bring the timer in line with the latest request.  BQL. */
static void host_timer_update(void *opaque)
{
    TesseraState *s = opaque;
    uint64_t when;

    WITH_QEMU_LOCK_GUARD(&s->timer_lock) {
        when = s->timer_when;
    }
    if (when > INT64_MAX) {
        timer_del(s->timer);
    } else {
        timer_mod(s->timer, when);
    }
}

static void host_set_timer(void *host, uint64_t when)
{
    TesseraState *s = host;

    WITH_QEMU_LOCK_GUARD(&s->timer_lock) {
        s->timer_when = when;
    }
    if (bql_locked()) {
        host_timer_update(s);
    } else {
        qemu_bh_schedule(s->timer_bh);
    }
}

static void host_timer_expired(void *opaque)
{
    TesseraState *s = opaque;

    if (tessera_enter(s)) {
        tsr_gpu_timer(s->gpu);
        tessera_leave(s);
    }
}

/*
 * With -icount the virtual clock decides when the device runs, so that a run
 * can be repeated; otherwise it is whenever the main loop has time.
 */
static void host_run_after(TesseraState *s, uint64_t cycles)
{
    if (!icount_enabled()) {
        qemu_bh_schedule(s->run_bh);
    } else if (!timer_pending(s->run_timer)) {
        timer_mod(s->run_timer, host_clock(s) + cycles);
    }
}

/*
 * Returns true if nothing can happen in the machine before the virtual clock
 * is @lead further: every processor waits for an interrupt, this device has
 * none for them, and no timer expires.  What the device would do at that time
 * it can then do now.
 */
static bool host_may_lead(TesseraState *s, uint64_t lead)
{
    int64_t idle;

    if (!s->conf.deterministic || s->conf.heads || lead > s->conf.lead ||
        qatomic_read(&s->irq_pending) || timer_pending(s->run_timer) ||
        !all_cpu_threads_idle()) {
        return false;
    }
    idle = qemu_clock_deadline_ns_all(QEMU_CLOCK_VIRTUAL, QEMU_TIMER_ATTR_ALL);
    return idle < 0 || idle > lead;
}

/*
 * A turn of the main loop costs more than the work of most jobs in it.
 * Whatever the model asks for while it is ahead happens when the virtual
 * clock shows the time of the model, so x-lead changes nothing but the speed.
 * Returns the cycles of the last step, 0 if the device is idle.
 */
static uint64_t host_run_ahead(TesseraState *s, uint64_t cycles)
{
    uint64_t now = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL), lead = cycles;

    while (cycles && host_may_lead(s, lead)) {
        s->lead_time = now + lead;
        cycles = tsr_gpu_run(s->gpu, RUN_CYCLES);
        lead += cycles;
    }
    return cycles;
}

static void host_run(void *opaque)
{
    TesseraState *s = opaque;
    uint64_t cycles;

    if (!s->running || !tessera_enter(s)) {
        return;
    }
    cycles = tsr_gpu_run(s->gpu, RUN_CYCLES);
    cycles = host_run_ahead(s, cycles);
    if (!host_unguard(s)) {
        return;
    }
    if (s->lead_time <= qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL)) {
        tessera_irq_deliver(s);
    } else if (qatomic_read(&s->irq_pending)) {
        timer_mod(s->lead_timer, s->lead_time);
    }
    if (cycles && tessera_present(s)) {
        host_run_after(s, cycles);
    }
}

/* The virtual clock has reached the time up to which the device has run. */
static void host_lead_over(void *opaque)
{
    tessera_irq_deliver(opaque);
}

static void host_work(void *host)
{
    host_run_after(host, 1);
}

void tessera_kick(TesseraState *s)
{
    if (s->polled && tessera_present(s)) {
        host_run_after(s, 1);
    }
}

/* The model's trace points, by the arguments that tsr_trace.h gives them. */
static void host_trace(void *host, unsigned int event, const uint64_t *a,
                       unsigned int count)
{
    const char *name = ((TesseraState *)host)->name;

    switch (event) {
    case TSR_TRACE_DOORBELL:
        trace_tessera_gpu_doorbell(name, a[0], a[1]);
        break;
    case TSR_TRACE_STATE:
        trace_tessera_gpu_state(name, a[0], a[1], a[2]);
        break;
    case TSR_TRACE_SLICE_BEGIN:
        trace_tessera_gpu_slice_begin(name, a[0], a[1], a[2]);
        break;
    case TSR_TRACE_SLICE_END:
        trace_tessera_gpu_slice_end(name, a[0], a[1], a[2]);
        break;
    case TSR_TRACE_PACKET:
        trace_tessera_gpu_packet(name, a[0], a[1], a[2], a[3]);
        break;
    case TSR_TRACE_COMMAND_DONE:
        trace_tessera_gpu_command_done(name, a[0], a[1], a[2]);
        break;
    case TSR_TRACE_EVENT:
        trace_tessera_gpu_event(name, a[0], a[1], a[2], a[3]);
        break;
    case TSR_TRACE_INTERRUPT:
        trace_tessera_gpu_interrupt(name, a[0], a[1]);
        break;
    case TSR_TRACE_FAULT:
        trace_tessera_gpu_fault(name, a[0], a[1], a[2], a[3]);
        break;
    case TSR_TRACE_INVALIDATE:
        trace_tessera_gpu_invalidate(name, a[0], a[1], a[2], a[3]);
        break;
    case TSR_TRACE_RESET:
        trace_tessera_gpu_reset(name, a[0]);
        break;
    case TSR_TRACE_WATCHDOG:
        trace_tessera_gpu_watchdog(name, a[0], a[1]);
        break;
    case TSR_TRACE_INJECT:
        trace_tessera_gpu_inject(name, a[0], a[1], a[2], a[3]);
        break;
    case TSR_TRACE_CHECK:
        trace_tessera_gpu_check(name, a[0], a[1], a[2], a[3]);
        break;
    }
}

/* Prints a report of the contract checker, which limits their number. */
static void host_report(void *host, const char *text)
{
    warn_report("tessera: %s: %s", ((TesseraState *)host)->name, text);
}

static void host_thread_enter(void *host)
{
    sigset_t set;

    rcu_register_thread();
    /* As qemu_thread_create() does: signals are for the main thread. */
    sigfillset(&set);
    sigdelset(&set, SIGSEGV);
    sigdelset(&set, SIGFPE);
    sigdelset(&set, SIGILL);
    pthread_sigmask(SIG_SETMASK, &set, NULL);
}

static void host_thread_leave(void *host)
{
    rcu_unregister_thread();
}

const struct tsr_host_ops tessera_host_ops = {
    .map = tessera_dma_map,
    .dirty = tessera_dma_dirty,
    .interrupt = host_interrupt,
    .clock = host_clock,
    .set_timer = host_set_timer,
    .work = host_work,
    .thread_enter = host_thread_enter,
    .thread_leave = host_thread_leave,
    .trace = host_trace,
    .report = host_report,
    .frame = tessera_frame,
    .captured = tessera_captured,
};

void tessera_host_init(TesseraState *s)
{
    MemReentrancyGuard *guard = &DEVICE(s)->mem_reentrancy_guard;

    qemu_mutex_init(&s->timer_lock);
    s->timer_when = UINT64_MAX;
    s->timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, host_timer_expired, s);
    s->timer_bh = qemu_bh_new_guarded(host_timer_update, s, guard);
    s->irq_bh = qemu_bh_new_guarded(host_irq_bh, s, guard);
    s->run_bh = qemu_bh_new_guarded(host_run, s, guard);
    tessera_capture_init(s);
    tessera_display_init(s);
    s->run_timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, host_run, s);
    s->lead_timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, host_lead_over, s);
}

void tessera_host_exit(TesseraState *s)
{
    timer_free(s->lead_timer);
    timer_free(s->run_timer);
    tessera_display_exit(s);
    tessera_capture_exit(s);
    qemu_bh_delete(s->run_bh);
    qemu_bh_delete(s->irq_bh);
    qemu_bh_delete(s->timer_bh);
    timer_free(s->timer);
    qemu_mutex_destroy(&s->timer_lock);
}
