/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Tessera GPU: heads, monitors and consoles
 *
 * Each head of the display controller is a console of QEMU's.  A frame is
 * composed by the model, on one of its workers; what happens here, with the
 * BQL, is that the rows that differ are copied to the console's surface.
 *
 * Who wants to see something calls gfx_update().  An update is awaited until
 * there is a frame that is new enough; whatever may keep that from coming
 * (the head goes off, a reset, memory that does not answer), after
 * UPDATE_PATIENCE_MS the picture is what it is.
 */

#include "qemu/osdep.h"
#include "qemu/main-loop.h"
#include "qapi/error.h"
#include "qapi/visitor.h"
#include "hw/display/edid.h"
#include "ui/console.h"
#include "tessera.h"
#include "trace.h"

#define UPDATE_PATIENCE_MS 500
#define REFRESH_MHZ        60000    /* of the preferred mode, unless the UI knows */
#define EDID_BYTES         (4 * TSR_EDID_WORDS)

/* The update that is awaited, if one is, is over. */
static void head_updated(TesseraHead *head)
{
    if (head->awaited) {
        head->awaited = 0;
        timer_del(head->patience);
        graphic_hw_update_done(head->con);
    }
}

/* Copy what differs; the console hears of it in one rectangle. */
static void head_copy(TesseraHead *head, const struct tsr_display_frame *frame)
{
    DisplaySurface *surface = qemu_console_surface(head->con);
    size_t bytes = 4 * (size_t)frame->width;
    int first = -1, last = 0, y, height = frame->height;

    if (surface_width(surface) != frame->width ||
        surface_height(surface) != frame->height || !head->shown) {
        surface = qemu_create_displaysurface(frame->width, frame->height);
        dpy_gfx_replace_surface(head->con, surface);
        head->whole = true;
    }
    for (y = 0; y < height; y++) {
        uint8_t *to = (uint8_t *)surface_data(surface) +
                      (size_t)y * surface_stride(surface);
        const uint32_t *from = frame->pixels + (size_t)y * frame->width;

        if (head->whole || memcmp(to, from, bytes)) {
            memcpy(to, from, bytes);
            first = first < 0 ? y : first;
            last = y;
        }
    }
    if (first >= 0) {
        dpy_gfx_update(head->con, 0, first, frame->width, last - first + 1);
    }
    head->whole = false;
    head->shown = frame->serial;
}

/* Show the newest frame there is; a head that is off has none. */
static void head_show(TesseraHead *head)
{
    TesseraState *s = head->s;
    struct tsr_display_frame frame;

    bool there;

    tessera_enter(s);
    there = tsr_gpu_display_frame(s->gpu, head->index, &frame);
    tessera_leave(s);
    if (!there) {
        return;
    }
    if (frame.serial != head->shown || head->whole) {
        head_copy(head, &frame);
    }
    tessera_enter(s);
    tsr_gpu_display_done(s->gpu, head->index);
    tessera_leave(s);
    if (frame.serial >= head->awaited) {
        head_updated(head);
    }
}

static bool head_on(TesseraHead *head)
{
    uint32_t status;

    tessera_enter(head->s);
    status = tsr_gpu_read(head->s->gpu, TSR_REG_DISPLAY_STATUS(head->index));
    tessera_leave(head->s);
    return status & TSR_DISPLAY_STATUS_ON__MASK;
}

static void head_bh(void *opaque)
{
    TesseraHead *head = opaque;

    if (head->con) {
        head_show(head);
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

/* A machine that is stopped shows what it has shown. */
static void head_gfx_update(void *opaque)
{
    TesseraHead *head = opaque;
    TesseraState *s = head->s;

    if (!head_on(head)) {
        if (head->shown) {
            head->shown = 0;
            dpy_gfx_replace_surface(head->con, NULL);
        }
        head->awaited = head->awaited ?: 1;
        head_updated(head);
        return;
    }
    if (!head->awaited) {
        timer_mod(head->patience, qemu_clock_get_ms(QEMU_CLOCK_REALTIME) +
                                  UPDATE_PATIENCE_MS);
    }
    tessera_enter(s);
    head->awaited = tsr_gpu_display_update(s->gpu, head->index);
    tessera_leave(s);
    if (!s->running) {
        head_show(head);
        head_updated(head);
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
    tessera_enter(head->s);
    tsr_gpu_display_monitor(head->s->gpu, head->index, present, edid,
                            sizeof(edid));
    tessera_leave(head->s);
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
        head_updated(&s->head[i]);
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
        head_updated(&s->head[i]);
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
