/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The device as a plugin of a QEMU that somebody else has built:
 *
 *   qemu-system-x86_64 -plugin tessera.so -device tessera
 *
 * QEMU loads plugins before it creates the machine, so a type that is
 * registered by then is as good as one that was linked in. The device's files
 * announce what they register by constructors that call register_module_init(),
 * as all files of QEMU do. QEMU's own function of that name would put them on
 * a list that has been worked off already; the one below keeps them until
 * qemu_plugin_install().
 *
 * A plugin that is not only an observer uses QEMU's internal interfaces, which
 * belong to one exact version: any other is refused. This file is no part of
 * a QEMU that is built with the device inside (meson.build does not name it).
 */

#include "qemu/osdep.h"
#include "qemu/error-report.h"
#include "qemu/module.h"
#include "qemu/qemu-plugin.h"
#include "qapi/qapi-commands-control.h"
#include "qapi/qapi-types-control.h"
#include "qemu-version.h"
#include "trace/control.h"

#define COLLECTED_MAX 16

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

static struct {
    void (*fn)(void);
    module_init_type type;
} collected[COLLECTED_MAX];
static unsigned int n_collected;

/* Called by constructors, that is, by dlopen() in one thread. */
void register_module_init(void (*fn)(void), module_init_type type)
{
    g_assert(n_collected < COLLECTED_MAX);
    collected[n_collected].fn = fn;
    collected[n_collected++].type = type;
}

void register_dso_module_init(void (*fn)(void), module_init_type type)
{
    register_module_init(fn, type);
}

static void call_collected(module_init_type type)
{
    unsigned int i;

    for (i = 0; i < n_collected; i++) {
        if (collected[i].type == type) {
            collected[i].fn();
        }
    }
}

/*
 * The version and the distribution's name for it must be those of the headers
 * that this was compiled with. Says so and returns false if they are not.
 */
static bool same_version(void)
{
    g_autofree char *here = NULL;
    VersionInfo *info = qmp_query_version(NULL);
    bool same;

    here = g_strdup_printf("%" PRId64 ".%" PRId64 ".%" PRId64 "%s%s%s",
                           info->qemu->major, info->qemu->minor,
                           info->qemu->micro, *info->package ? " (" : "",
                           info->package, *info->package ? ")" : "");
    same = g_str_equal(here, QEMU_FULL_VERSION);
    if (!same) {
        error_report("tessera.so was built for QEMU %s and this is QEMU %s: "
                     "build it for this one", QEMU_FULL_VERSION, here);
    }
    qapi_free_VersionInfo(info);
    return same;
}

/*
 * -trace has been evaluated when the plugin comes, and knew none of the
 * device's events. Their patterns are applied once more.
 */
static void enable_trace_events(void)
{
    g_autofree char *args = NULL;
    gsize size;
    const char *arg, *next;

    if (!g_file_get_contents("/proc/self/cmdline", &args, &size, NULL)) {
        return;
    }
    for (arg = args; arg < args + size; arg = next) {
        next = arg + strlen(arg) + 1;
        if ((g_str_equal(arg, "-trace") || g_str_equal(arg, "--trace")) &&
            next < args + size) {
            trace_opt_parse(next);
        }
    }
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id,
                                           const qemu_info_t *info, int argc,
                                           char **argv)
{
    if (!same_version()) {
        return -1;
    }
    call_collected(MODULE_INIT_TRACE);
    enable_trace_events();
    call_collected(MODULE_INIT_QOM);
    return 0;
}
