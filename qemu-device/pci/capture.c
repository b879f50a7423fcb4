/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Tessera GPU: captured jobs on their way into a file
 *
 * Property "capture" says which job, "capture-file" where to; both can be set
 * while the machine runs (Documentation/guide/replay.md).
 */

#include "qemu/osdep.h"
#include "qemu/error-report.h"
#include "qemu/main-loop.h"
#include "qapi/error.h"
#include "tessera.h"
#include "trace.h"

/* A job has been captured: write it.  BQL. */
static void capture_write(void *opaque)
{
    TesseraState *s = opaque;
    g_autoptr(GError) err = NULL;
    void *file;
    size_t size;

    size = tsr_gpu_captured(s->gpu, &file);
    if (!size) {
        return;
    }
    if (!g_file_set_contents(s->capture_file, file, size, &err)) {
        warn_report("tessera: %s: captured job: %s", s->name, err->message);
    }
    trace_tessera_captured(s->name, s->capture_file, size);
    free(file);
    tessera_text_set(&s->capture, NULL);
}

void tessera_captured(void *host)
{
    TesseraState *s = host;

    qemu_bh_schedule(s->capture_bh);
}

/* The guest may ask as long as there is a file. */
static void tessera_capture_window(TesseraState *s)
{
    tsr_gpu_capture_window(s->gpu, s->capture_file && *s->capture_file);
}

bool tessera_capture_start(TesseraState *s, Error **errp)
{
    char err[200];

    if (s->capture && *s->capture && !s->capture_file) {
        error_setg(errp, "tessera: property 'capture' needs 'capture-file'");
        return false;
    }
    if (!tsr_gpu_capture(s->gpu, s->capture ? s->capture : "", err,
                         sizeof(err))) {
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
    if (s->gpu && !tessera_capture_start(s, errp)) {
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
    if (s->gpu) {
        tessera_capture_window(s);
    }
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
    qemu_bh_delete(s->capture_bh);
}

void tessera_capture_finalize(TesseraState *s)
{
    g_free(s->capture);
    g_free(s->capture_file);
}
