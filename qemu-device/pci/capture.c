/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Tessera GPU: captured jobs on their way into a file
 *
 * Property "capture" says which job, "capture-file" where to; both can be set
 * while the machine runs (Documentation/start/debugging.md).
 */

#include "qemu/osdep.h"
#include "qemu/error-report.h"
#include "qemu/main-loop.h"
#include "qemu/notify.h"
#include "qemu/thread.h"
#include "qapi/error.h"
#include "block/aio.h"
#include "system/system.h"
#include "tessera.h"
#include "trace.h"

/*
 * A file that a thread of its own writes, since that may take long: the file
 * system decides.  It outlives the device if that is unplugged meanwhile.
 */
typedef struct TesseraCaptureFile {
    TesseraState *s;            /* NULL: unplugged; BQL */
    bool asked_again;           /* property "capture" is about another job */
    QemuThread thread;
    Notifier exit;
    char *name;                 /* the device's */
    char *path;
    void *bytes;
    size_t size;
    GError *err;
} TesseraCaptureFile;

static void capture_write(void *opaque);

/* The file is complete, or cannot be written.  BQL. */
static void capture_written(void *opaque)
{
    g_autofree TesseraCaptureFile *file = opaque;
    TesseraState *s = file->s;

    qemu_thread_join(&file->thread);
    qemu_remove_exit_notifier(&file->exit);
    if (file->err) {
        warn_report("tessera: %s: captured job: %s", file->name,
                    file->err->message);
        g_error_free(file->err);
    }
    trace_tessera_captured(file->name, file->path, file->size);
    if (s) {
        s->capture_writing = NULL;
        if (!file->asked_again) {
            tessera_text_set(&s->capture, NULL);
        }
        /* Another one may have been captured meanwhile. */
        capture_write(s);
    }
    free(file->bytes);
    g_free(file->path);
    g_free(file->name);
}

static void *capture_thread(void *opaque)
{
    TesseraCaptureFile *file = opaque;

    g_file_set_contents(file->path, file->bytes, file->size, &file->err);
    aio_bh_schedule_oneshot(qemu_get_aio_context(), capture_written, file);
    return NULL;
}

/* QEMU ends: it waits for the file, and half a file is never left. */
static void capture_exit(Notifier *notifier, void *data)
{
    qemu_thread_join(&container_of(notifier, TesseraCaptureFile, exit)->thread);
}

/* A job has been captured: have it written, one at a time.  BQL. */
static void capture_write(void *opaque)
{
    TesseraState *s = opaque;
    TesseraCaptureFile *file;
    void *bytes;
    size_t size;

    if (s->capture_writing || !tessera_enter(s)) {
        return;
    }
    size = tsr_gpu_captured(s->gpu, &bytes);
    tessera_leave_quietly(s);
    if (!size) {
        return;
    }
    file = g_new0(TesseraCaptureFile, 1);
    file->s = s;
    file->name = g_strdup(s->name);
    file->path = tessera_text(s->capture_file);
    file->bytes = bytes;
    file->size = size;
    file->exit.notify = capture_exit;
    s->capture_writing = file;
    qemu_add_exit_notifier(&file->exit);
    qemu_thread_create(&file->thread, "tsr-capture", capture_thread, file,
                       QEMU_THREAD_JOINABLE);
}

void tessera_captured(void *host)
{
    TesseraState *s = host;

    qemu_bh_schedule(s->capture_bh);
}

/* The guest may ask as long as there is a file. */
static void tessera_capture_window(TesseraState *s)
{
    if (tessera_enter(s)) {
        tsr_gpu_capture_window(s->gpu, s->capture_file && *s->capture_file);
        tessera_leave(s);
    }
}

bool tessera_capture_start(TesseraState *s, Error **errp)
{
    char err[200];
    bool good;

    if (s->capture && *s->capture && !s->capture_file) {
        error_setg(errp, "tessera: property 'capture' needs 'capture-file'");
        return false;
    }
    if (!tessera_enter(s)) {
        return true;
    }
    good = tsr_gpu_capture(s->gpu, s->capture ? s->capture : "", err,
                           sizeof(err));
    tessera_leave(s);
    if (!good) {
        error_setg(errp, "tessera: property 'capture': %s", err);
        return false;
    }
    tessera_capture_window(s);
    return true;
}

static char *capture_get(Object *obj, Error **errp)
{
    TesseraState *s = TESSERA(obj);

    return tessera_text(s->capture);
}

/* Like "inject" this is for the machine that runs, too. */
static void capture_set(Object *obj, const char *what, Error **errp)
{
    TesseraState *s = TESSERA(obj);

    tessera_text_set(&s->capture, what);
    if (s->capture_writing) {
        s->capture_writing->asked_again = true;
    }
    if (tessera_present(s) && !tessera_capture_start(s, errp)) {
        tessera_text_set(&s->capture, NULL);
    }
}

static char *capture_file_get(Object *obj, Error **errp)
{
    TesseraState *s = TESSERA(obj);

    return tessera_text(s->capture_file);
}

static void capture_file_set(Object *obj, const char *path, Error **errp)
{
    TesseraState *s = TESSERA(obj);

    tessera_text_set(&s->capture_file, path);
    tessera_capture_window(s);
}

void tessera_class_add_capture(ObjectClass *klass)
{
    object_class_property_add_str(klass, "capture", capture_get, capture_set);
    object_class_property_set_description(klass, "capture",
        "Job to write to capture-file: next, fault, queue=N, queue=N job=M; "
        "empty once that has been done");
    object_class_property_add_str(klass, "capture-file", capture_file_get,
                                  capture_file_set);
    object_class_property_set_description(klass, "capture-file",
                                          "Where a captured job goes");
}

void tessera_capture_init(TesseraState *s)
{
    s->capture_bh = qemu_bh_new_guarded(capture_write, s,
                                     &DEVICE(s)->mem_reentrancy_guard);
}

void tessera_capture_exit(TesseraState *s)
{
    if (s->capture_writing) {
        s->capture_writing->s = NULL;
        s->capture_writing = NULL;
    }
    qemu_bh_delete(s->capture_bh);
}

void tessera_capture_finalize(TesseraState *s)
{
    g_free(s->capture);
    g_free(s->capture_file);
}
