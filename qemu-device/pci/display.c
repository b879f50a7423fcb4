/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Tessera GPU: heads, monitors and consoles
 *
 * Each head of the display controller is a console of QEMU's.  A frame is
 * composed by the model, on one of its workers.  Here, with the BQL, the rows
 * that differ are copied to the console's surface: COPY_BYTES at a time, since
 * the main loop does nothing else meanwhile.
 *
 * A user interface that shows the console calls gfx_update().  An update is
 * awaited until there is a frame that is new enough.  After
 * UPDATE_PATIENCE_MS it is over in any case: the head may have gone off, or
 * memory may not answer.  Frames that were not asked for, which are composed
 * for their CRC or for writeback, are not copied.
 *
 * A head that is off has no surface of its mode's size: that memory is freed.
 */

#include "qemu/osdep.h"
#include "qemu/main-loop.h"
#include "qemu/units.h"
#include "qapi/error.h"
#include "qapi/visitor.h"
#include "hw/display/edid.h"
#include "ui/console.h"
#include "tessera.h"
#include "trace.h"

#define UPDATE_PATIENCE_MS 500
#define REFRESH_MHZ        60000    /* of the preferred mode, unless the UI knows */
#define EDID_BYTES         (4 * TSR_EDID_WORDS)
#define COPY_BYTES         (16 * MiB)
/* Size of the surface with a text that a disabled head shows. */
#define BLANK_WIDTH        640
#define BLANK_HEIGHT       480

/* The update that is awaited, if one is, is over. */
static void head_updated(TesseraHead *head)
{
    if (head->awaited) {
        head->awaited = 0;
        timer_del(head->patience);
        graphic_hw_update_done(head->con);
    }
}

/* The model may have the memory of the frame that is being copied back. */
static void head_return(TesseraHead *head)
{
    if (head->copying) {
        head->copying = false;
        if (tessera_enter(head->s)) {
            tsr_gpu_display_done(head->s->gpu, head->index);
            tessera_leave_quietly(head->s);
        }
    }
}

/* Begin to copy the newest frame.  Returns false if the console shows it. */
static bool head_borrow(TesseraHead *head)
{
    TesseraState *s = head->s;
    bool there;

    if (!tessera_enter(s)) {
        return false;
    }
    there = tsr_gpu_display_frame(s->gpu, head->index, &head->frame);
    tessera_leave_quietly(s);
    if (!there) {
        return false;
    }
    head->copying = true;
    head->row = 0;
    if (head->frame.serial == head->shown && !head->whole) {
        head_return(head);
        return false;
    }
    return true;
}

/* A surface for the frame, unless there is one; all rows of a new one differ. */
static DisplaySurface *head_surface(TesseraHead *head)
{
    DisplaySurface *surface = qemu_console_surface(head->con);
    const struct tsr_display_frame *frame = &head->frame;

    if (head->row) {
        return surface;
    }
    if (surface_width(surface) != frame->width ||
        surface_height(surface) != frame->height || !head->surface) {
        surface = qemu_create_displaysurface(frame->width, frame->height);
        dpy_gfx_replace_surface(head->con, surface);
        head->surface = head->whole = true;
    }
    head->copy_all = head->whole;
    head->whole = false;
    return surface;
}

/*
 * Copy the next rows, of those what differs; the console hears of it in one
 * rectangle.  Returns true when the frame is complete.
 */
static bool head_copy(TesseraHead *head)
{
    DisplaySurface *surface = head_surface(head);
    const struct tsr_display_frame *frame = &head->frame;
    size_t bytes = 4 * (size_t)frame->width;
    int end = MIN(head->row + COPY_BYTES / bytes, frame->height);
    int first = -1, last = 0, y;

    for (y = head->row; y < end; y++) {
        uint8_t *to = (uint8_t *)surface_data(surface) +
                      (size_t)y * surface_stride(surface);
        const uint32_t *from = frame->pixels + (size_t)y * frame->width;

        if (head->copy_all || memcmp(to, from, bytes)) {
            memcpy(to, from, bytes);
            first = first < 0 ? y : first;
            last = y;
        }
    }
    head->row = end;
    if (first >= 0) {
        dpy_gfx_update(head->con, 0, first, frame->width, last - first + 1);
    }
    return end == frame->height;
}

/* The head is off: its console has a small surface that says so. */
static void head_blank(TesseraHead *head)
{
    head_return(head);
    head->shown = head->wanted = 0;
    if (head->surface) {
        head->surface = false;
        /* The surface that NULL stands for is as large as the one before. */
        dpy_gfx_replace_surface(head->con,
                                qemu_create_displaysurface(BLANK_WIDTH,
                                                           BLANK_HEIGHT));
        dpy_gfx_replace_surface(head->con, NULL);
    }
    head_updated(head);
}

/* A frame has been copied, or the newest one is shown already. */
static void head_shown(TesseraHead *head)
{
    if (head->shown >= head->awaited || !head->s->running) {
        head_updated(head);
    }
}

static bool head_on(TesseraHead *head)
{
    uint32_t status;

    if (!tessera_enter(head->s)) {
        return false;
    }
    status = tsr_gpu_read(head->s->gpu, TSR_REG_DISPLAY_STATUS(head->index));
    tessera_leave_quietly(head->s);
    return status & TSR_DISPLAY_STATUS_ON__MASK;
}

/* A frame is complete, or more of it is to be copied, or the head is off. */
static void head_bh(void *opaque)
{
    TesseraHead *head = opaque;

    if (!head->con) {
        return;
    }
    if (!head_on(head)) {
        head_blank(head);
        return;
    }
    if (!head->copying) {
        bool wanted = head->shown < head->wanted || head->whole;

        if (!wanted || !head_borrow(head)) {
            head_shown(head);
            return;
        }
    }
    if (!head_copy(head)) {
        qemu_bh_schedule(head->bh);
        return;
    }
    head->shown = head->frame.serial;
    head_return(head);
    head_shown(head);
    /* One that has been completed meanwhile may be asked for, too. */
    if (head->shown < head->wanted) {
        qemu_bh_schedule(head->bh);
    }
}

static void head_out_of_patience(void *opaque)
{
    head_updated(opaque);
}

static void head_invalidate(void *opaque)
{
    TesseraHead *head = opaque;

    head->whole = true;
}

static void head_gfx_update(void *opaque)
{
    TesseraHead *head = opaque;
    TesseraState *s = head->s;

    if (!head_on(head)) {
        head->awaited = head->awaited ?: 1;
        head_blank(head);
        return;
    }
    if (!tessera_enter(s)) {
        return;
    }
    if (!head->awaited) {
        timer_mod(head->patience, qemu_clock_get_ms(QEMU_CLOCK_REALTIME) +
                                  UPDATE_PATIENCE_MS);
    }
    head->awaited = tsr_gpu_display_update(s->gpu, head->index);
    tessera_leave_quietly(s);
    head->wanted = head->awaited;
    /* A machine that is stopped completes no frame: it shows the last one. */
    if (!s->running) {
        qemu_bh_schedule(head->bh);
    }
}

/* Tell the guest which monitor it has. */
static void head_announce(TesseraHead *head)
{
    uint8_t edid[EDID_BYTES] = { 0 };
    qemu_edid_info info = {
        .vendor = "TSR", .name = "Tessera", .prefx = head->width,
        .prefy = head->height, .refresh_rate = head->refresh,
        .maxx = TSR_SCREEN_MAX, .maxy = TSR_SCREEN_MAX,
        .width_mm = head->width_mm, .height_mm = head->height_mm,
    };
    bool present = head->connected && !head->closed;

    if (present) {
        qemu_edid_generate(edid, sizeof(edid), &info);
    }
    trace_tessera_monitor(head->s->name, head->index, present, head->width,
                          head->height);
    if (tessera_enter(head->s)) {
        tsr_gpu_display_monitor(head->s->gpu, head->index, present, edid,
                                sizeof(edid));
        tessera_leave_quietly(head->s);
    }
}

/* The window has another size: so has the monitor.  0: it was closed. */
static void head_ui_info(void *opaque, uint32_t index, QemuUIInfo *ui)
{
    TesseraHead *head = opaque;

    if (head->s->conf.deterministic) {
        return;
    }
    head->closed = !ui->width || !ui->height;
    if (!head->closed) {
        head->width = MIN(MAX(ui->width, TSR_SCREEN_MIN), TSR_SCREEN_MAX);
        head->height = MIN(MAX(ui->height, TSR_SCREEN_MIN), TSR_SCREEN_MAX);
        head->width_mm = ui->width_mm;
        head->height_mm = ui->height_mm;
        head->refresh = ui->refresh_rate ?: REFRESH_MHZ;
    }
    head_announce(head);
}

static const GraphicHwOps head_ops = {
    .invalidate = head_invalidate,
    .gfx_update = head_gfx_update,
    .gfx_update_async = true,
    .ui_info = head_ui_info,
};

void tessera_frame(void *host, unsigned int index)
{
    TesseraState *s = host;

    qemu_bh_schedule(s->head[index].bh);
}

void tessera_display_reset(TesseraState *s)
{
    unsigned int i;

    for (i = 0; i < s->conf.heads; i++) {
        if (s->head[i].con) {
            head_blank(&s->head[i]);
        }
    }
}

void tessera_display_announce(TesseraState *s)
{
    unsigned int i;

    for (i = 0; i < s->conf.heads; i++) {
        head_announce(&s->head[i]);
    }
}

/* Before there is a model, whose workers may call tessera_frame(). */
void tessera_display_init(TesseraState *s)
{
    unsigned int i;

    for (i = 0; i < s->conf.heads; i++) {
        TesseraHead *head = &s->head[i];

        head->s = s;
        head->index = i;
        head->width = s->conf.xres;
        head->height = s->conf.yres;
        head->refresh = REFRESH_MHZ;
        head->bh = qemu_bh_new(head_bh, head);
        head->patience = timer_new_ms(QEMU_CLOCK_REALTIME,
                                      head_out_of_patience, head);
    }
}

/* There is a model: let people look at it. */
void tessera_display_open(TesseraState *s)
{
    unsigned int i;

    for (i = 0; i < s->conf.heads; i++) {
        s->head[i].con = graphic_console_init(DEVICE(s), i, &head_ops,
                                              &s->head[i]);
    }
    tessera_display_announce(s);
}

/* Nobody looks any more; the model is still there. */
void tessera_display_close(TesseraState *s)
{
    unsigned int i;

    for (i = 0; i < s->conf.heads; i++) {
        head_blank(&s->head[i]);
        graphic_console_close(s->head[i].con);
        s->head[i].con = NULL;
    }
}

/* The model is gone. */
void tessera_display_exit(TesseraState *s)
{
    unsigned int i;

    for (i = 0; i < s->conf.heads; i++) {
        timer_free(s->head[i].patience);
        qemu_bh_delete(s->head[i].bh);
    }
}

/* Property connected[N]: whether head N has a monitor at all. */
static void tessera_get_connected(Object *obj, Visitor *v, const char *name,
                                  void *opaque, Error **errp)
{
    TesseraHead *head = &TESSERA(obj)->head[(uintptr_t)opaque];

    visit_type_bool(v, name, &head->connected, errp);
}

static void tessera_set_connected(Object *obj, Visitor *v, const char *name,
                                  void *opaque, Error **errp)
{
    TesseraHead *head = &TESSERA(obj)->head[(uintptr_t)opaque];

    if (visit_type_bool(v, name, &head->connected, errp) && head->con) {
        head_announce(head);
    }
}

void tessera_display_instance_init(TesseraState *s)
{
    unsigned int i;

    for (i = 0; i < TSR_HEADS_MAX; i++) {
        s->head[i].connected = true;
    }
}

void tessera_class_add_display(ObjectClass *klass)
{
    uintptr_t i;

    for (i = 0; i < TSR_HEADS_MAX; i++) {
        g_autofree char *name = g_strdup_printf("connected[%u]",
                                                (unsigned int)i);

        object_class_property_add(klass, name, "bool", tessera_get_connected,
                                  tessera_set_connected, NULL, (void *)i);
        object_class_property_set_description(klass, name,
            "Whether the head has a monitor (on)");
    }
}
