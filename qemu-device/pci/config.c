/*
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Tessera GPU: the device's properties
 */

#include "qemu/osdep.h"
#include "qemu/cutils.h"
#include "qemu/error-report.h"
#include "qemu/units.h"
#include "qapi/error.h"
#include "hw/boards.h"
#include "system/cpu-timers.h"
#include "../model/include/tsr_capture.h"
#include "tessera.h"

#define ENGINES_MAX     8
#define THREADS_MAX     64
#define VRAM_MAX        (1 * TiB)
/* A GPU's state in a snapshot; its size travels in 32 bits. */
#define SNAPSHOT_MAX    (1 * GiB)
#define VRAM_ALIGN      (1ull << TSR_HUGE_SHIFT)
/* Memory of a job that is captured. */
#define CAPTURE_DEFAULT (64 * MiB)
#define CAPTURE_MAX     ((uint64_t)TSR_CAPTURE_PAGES_MAX * TSR_CAPTURE_PAGE)

/* Host memory for each pixel of a head: two frames of the model, and a surface. */
#define PIXEL_BYTES     (TSR_HEAD_PIXEL_BYTES + 4)
#define DISPLAY_MIN     (4 * MiB)
#define DISPLAY_MAX     ((uint64_t)TSR_HEADS_MAX * TSR_SCREEN_PIXELS_MAX * \
                         PIXEL_BYTES)
/* Work between two turns of the main loop takes milliseconds at most. */
#define LEAD_DEFAULT    (512 * KiB)

const Property tessera_properties[] = {
    DEFINE_PROP_UINT32("queues", TesseraState, conf.queues, TSR_QUEUES_MAX),
    DEFINE_PROP_UINT32("bin-engines", TesseraState,
                       conf.engines[TSR_ENGINE_CLASS_BIN], 2),
    DEFINE_PROP_UINT32("render-engines", TesseraState,
                       conf.engines[TSR_ENGINE_CLASS_RENDER], 1),
    DEFINE_PROP_UINT32("compute-engines", TesseraState,
                       conf.engines[TSR_ENGINE_CLASS_COMPUTE], 1),
    DEFINE_PROP_UINT32("copy-engines", TesseraState,
                       conf.engines[TSR_ENGINE_CLASS_COPY], 2),
    DEFINE_PROP_SIZE("vram", TesseraState, conf.vram, 0),
    DEFINE_PROP_STRING("page-sizes", TesseraState, conf.page_sizes),
    DEFINE_PROP_UINT32("va-bits", TesseraState, conf.va_bits, 48),
    DEFINE_PROP_INT32("threads", TesseraState, conf.threads, -1),
    DEFINE_PROP_UINT32("inline-budget", TesseraState, conf.inline_budget, 256),
    DEFINE_PROP_BOOL("deterministic", TesseraState, conf.deterministic, false),
    DEFINE_PROP_UINT64("seed", TesseraState, conf.seed, 0),
    DEFINE_PROP_UINT32("x-lead", TesseraState, conf.lead, LEAD_DEFAULT),
    DEFINE_PROP_UINT32("cores", TesseraState, conf.cores, 16),
    DEFINE_PROP_STRING("debug", TesseraState, conf.debug),
    DEFINE_PROP_BOOL("inject-window", TesseraState, conf.inject_window, false),
    DEFINE_PROP_BOOL("check", TesseraState, conf.check, false),
    DEFINE_PROP_SIZE("x-snapshot-max", TesseraState, conf.snapshot_max,
                     SNAPSHOT_MAX),
    DEFINE_PROP_UINT32("heads", TesseraState, conf.heads, 0),
    DEFINE_PROP_UINT32("xres", TesseraState, conf.xres, 1280),
    DEFINE_PROP_UINT32("yres", TesseraState, conf.yres, 800),
    DEFINE_PROP_SIZE("capture-max", TesseraState, conf.capture_max,
                     CAPTURE_DEFAULT),
    DEFINE_PROP_SIZE("display-memory", TesseraState, conf.display_memory,
                     DISPLAY_MAX),
    /* Old names of flags of "debug".  They go after the next release. */
    DEFINE_PROP_STRING("shader-timing", TesseraState, conf.old_timing),
    DEFINE_PROP_BOOL("strict-code", TesseraState, conf.old_strict, false),
    DEFINE_PROP_BOOL("texture-cache", TesseraState, conf.old_cache, true),
    DEFINE_PROP_UINT32("gfx-debug", TesseraState, conf.old_gfx, 0),
    DEFINE_PROP_STRING("simd", TesseraState, conf.old_simd),
    DEFINE_PROP_BOOL("jit", TesseraState, conf.old_jit, true),
};
const size_t tessera_num_properties = ARRAY_SIZE(tessera_properties);

static bool check_range(const char *name, uint64_t value, uint64_t min,
                        uint64_t max, Error **errp)
{
    if (value >= min && value <= max) {
        return true;
    }
    error_setg(errp, "tessera: property '%s' is %" PRIu64 ", must be %" PRIu64
               " to %" PRIu64, name, value, min, max);
    return false;
}

static bool config_engines(const TesseraConf *conf, struct tsr_config *cfg,
                           Error **errp)
{
    static const char *const name[] = {
        [TSR_ENGINE_CLASS_BIN] = "bin-engines",
        [TSR_ENGINE_CLASS_RENDER] = "render-engines",
        [TSR_ENGINE_CLASS_COMPUTE] = "compute-engines",
        [TSR_ENGINE_CLASS_COPY] = "copy-engines",
    };
    unsigned int i, total = 0;

    for (i = 0; i < ARRAY_SIZE(name); i++) {
        if (!check_range(name[i], conf->engines[i], 0, ENGINES_MAX, errp)) {
            return false;
        }
        cfg->engines[i] = conf->engines[i];
        total += conf->engines[i];
    }
    if (!total) {
        error_setg(errp, "tessera: bin-engines, render-engines, "
                   "compute-engines and copy-engines are all 0: at least one "
                   "engine is needed");
        return false;
    }
    return true;
}

/* Page sizes are given as "4K:2M", in any order. */
static bool config_page_sizes(const TesseraConf *conf, struct tsr_config *cfg,
                              Error **errp)
{
    const uint64_t known = 1ull << TSR_PAGE_SHIFT | 1ull << TSR_HUGE_SHIFT;
    g_auto(GStrv) words = NULL;
    unsigned int i;

    if (!conf->page_sizes) {
        cfg->page_sizes = known;
        return true;
    }
    words = g_strsplit(conf->page_sizes, ":", 0);
    cfg->page_sizes = 0;
    for (i = 0; words[i]; i++) {
        uint64_t size;

        if (qemu_strtosz(words[i], NULL, &size) || !size || (size & ~known) ||
            !is_power_of_2(size)) {
            error_setg(errp, "tessera: property 'page-sizes' names '%s', must "
                       "be 4K or 4K:2M", words[i]);
            return false;
        }
        cfg->page_sizes |= size;
    }
    if (!(cfg->page_sizes & 1ull << TSR_PAGE_SHIFT)) {
        error_setg(errp, "tessera: property 'page-sizes' is '%s', must "
                   "contain 4K", conf->page_sizes);
        return false;
    }
    return true;
}

static bool config_memory(const TesseraConf *conf, struct tsr_config *cfg,
                          Error **errp)
{
    if (conf->va_bits != 39 && conf->va_bits != 48 && conf->va_bits != 57) {
        error_setg(errp, "tessera: property 'va-bits' is %u, must be 39, 48 "
                   "or 57", conf->va_bits);
        return false;
    }
    cfg->va_bits = conf->va_bits;
    if (conf->vram % VRAM_ALIGN || conf->vram > VRAM_MAX) {
        error_setg(errp, "tessera: property 'vram' is %" PRIu64 ", must be a "
                   "multiple of 2M, at most 1T", conf->vram);
        return false;
    }
    cfg->local_size = conf->vram;
    if (!check_range("x-snapshot-max", conf->snapshot_max, 0, SNAPSHOT_MAX,
                     errp) ||
        !check_range("capture-max", conf->capture_max, TSR_CAPTURE_PAGE,
                     CAPTURE_MAX, errp)) {
        return false;
    }
    cfg->capture_pages = conf->capture_max / TSR_CAPTURE_PAGE;
    return config_page_sizes(conf, cfg, errp);
}

/* A run can only be repeated when nothing depends on the host's timing. */
static bool config_deterministic(const TesseraConf *conf, Error **errp)
{
    unsigned int cpus = MACHINE(qdev_get_machine())->smp.max_cpus;

    if (!icount_enabled()) {
        error_setg(errp, "tessera: deterministic=on needs -icount");
        return false;
    }
    if (cpus != 1) {
        error_setg(errp, "tessera: deterministic=on needs a machine with one "
                   "processor, this one can have %u", cpus);
        return false;
    }
    if (conf->threads > 0) {
        error_setg(errp, "tessera: deterministic=on needs threads=0, not "
                   "threads=%d", conf->threads);
        return false;
    }
    return true;
}

/*
 * Without being told, as many workers as can be of use on this host, but at
 * least two, so that two queues make progress at once.  Each engine can keep
 * one busy, and each shader core.
 */
static unsigned int default_threads(const struct tsr_config *cfg)
{
    unsigned int i, useful = 0;

    for (i = 0; i < ARRAY_SIZE(cfg->engines); i++) {
        useful += cfg->engines[i];
    }
    if (cfg->engines[TSR_ENGINE_CLASS_COMPUTE]) {
        useful += cfg->cores;
    }
    return MIN(MIN(MAX(g_get_num_processors(), 2), useful), THREADS_MAX);
}

/* Apply one flag of the property "debug"; false if there is no such flag. */
static bool debug_flag(const char *flag, struct tsr_config *cfg)
{
    static const char *const gfx[] = {      /* by bit: TSR_GFX_NO_... */
        "noearly", "nohiz", "nocompression", "nofastclear",
        "noflat", "noblocks", "nosmall", "nostages",
    };
    static const char *const simd[] = { "sse2", "avx2", "avx512" };
    unsigned int i;

    for (i = 0; i < ARRAY_SIZE(gfx); i++) {
        if (!strcmp(flag, gfx[i])) {
            cfg->gfx_debug |= 1u << i;
            return true;
        }
    }
    for (i = 0; i < ARRAY_SIZE(simd); i++) {
        if (!strcmp(flag, simd[i])) {
            cfg->simd = simd[i];
            return true;
        }
    }
    if (!strcmp(flag, "late")) {
        cfg->late_messages = true;
    } else if (!strcmp(flag, "strict")) {
        cfg->strict_code = true;
    } else if (!strcmp(flag, "notexcache")) {
        cfg->no_texture_cache = true;
    } else if (!strcmp(flag, "nojit")) {
        cfg->jit = TSR_JIT_USE_OFF;
    } else {
        return false;
    }
    return true;
}

static bool config_debug(const TesseraConf *conf, struct tsr_config *cfg,
                         Error **errp)
{
    g_auto(GStrv) flags = g_strsplit(conf->debug ? conf->debug : "", ":", 0);
    unsigned int i;

    for (i = 0; flags[i]; i++) {
        if (!debug_flag(flags[i], cfg)) {
            error_setg(errp, "tessera: property 'debug' names '%s', must be "
                       "flags joined by colons: late, strict, nojit, "
                       "notexcache, sse2, avx2, avx512, noearly, nohiz, "
                       "nocompression, nofastclear, noflat, noblocks, "
                       "nosmall, nostages", flags[i]);
            return false;
        }
    }
    return true;
}

/* The properties that "debug" replaces.  They change nothing if not given. */
static bool config_old_debug(const TesseraConf *conf, struct tsr_config *cfg,
                             Error **errp)
{
    const char *timing = conf->old_timing;

    if (timing && strcmp(timing, "early") && strcmp(timing, "late")) {
        error_setg(errp, "tessera: property 'shader-timing' is '%s', must be "
                   "early or late", timing);
        return false;
    }
    if (!check_range("gfx-debug", conf->old_gfx, 0, 255, errp)) {
        return false;
    }
    if (timing || conf->old_strict || !conf->old_cache || conf->old_gfx ||
        conf->old_simd || !conf->old_jit) {
        warn_report("tessera: properties shader-timing, strict-code, "
                    "texture-cache, gfx-debug, simd and jit are deprecated: "
                    "use debug=FLAG:FLAG...");
    }
    cfg->late_messages |= timing && !strcmp(timing, "late");
    cfg->strict_code |= conf->old_strict;
    cfg->no_texture_cache |= !conf->old_cache;
    cfg->gfx_debug |= conf->old_gfx;
    if (conf->old_simd) {
        cfg->simd = conf->old_simd;
    }
    if (!conf->old_jit) {
        cfg->jit = TSR_JIT_USE_OFF;
    }
    return true;
}

/* Properties of the shader cores. */
static bool config_shaders(const TesseraConf *conf, struct tsr_config *cfg,
                           Error **errp)
{
    if (!check_range("cores", conf->cores, 1, TSR_CORES_MAX, errp)) {
        return false;
    }
    cfg->cores = conf->cores;
    cfg->jit = TSR_JIT_USE_ON;
    return config_debug(conf, cfg, errp) && config_old_debug(conf, cfg, errp);
}

static bool config_threads(const TesseraConf *conf, struct tsr_config *cfg,
                           Error **errp)
{
    if (conf->threads < -1 || conf->threads > THREADS_MAX) {
        error_setg(errp, "tessera: property 'threads' is %d, must be 0 to %d, "
                   "or -1 to choose by the host", conf->threads, THREADS_MAX);
        return false;
    }
    if (conf->deterministic) {
        if (!config_deterministic(conf, errp)) {
            return false;
        }
        cfg->threads = 0;
    } else if (conf->seed) {
        error_setg(errp, "tessera: property 'seed' needs deterministic=on");
        return false;
    } else {
        cfg->threads = conf->threads < 0 ? default_threads(cfg) :
                                           conf->threads;
    }
    cfg->deterministic = conf->deterministic;
    cfg->seed = conf->seed;
    return true;
}

static bool config_display(const TesseraConf *conf, struct tsr_config *cfg,
                           Error **errp)
{
    cfg->heads = conf->heads;
    cfg->head_pixels = conf->display_memory / PIXEL_BYTES;
    return check_range("display-memory", conf->display_memory, DISPLAY_MIN,
                       DISPLAY_MAX, errp) &&
           check_range("heads", conf->heads, 0, TSR_HEADS_MAX, errp) &&
           check_range("xres", conf->xres, TSR_SCREEN_MIN, TSR_SCREEN_MAX,
                       errp) &&
           check_range("yres", conf->yres, TSR_SCREEN_MIN, TSR_SCREEN_MAX,
                       errp);
}

bool tessera_config(TesseraState *s, struct tsr_config *cfg, Error **errp)
{
    const TesseraConf *conf = &s->conf;

    memset(cfg, 0, sizeof(*cfg));
    if (!check_range("queues", conf->queues, 1, TSR_QUEUES_MAX, errp)) {
        return false;
    }
    cfg->queues = conf->queues;
    cfg->inline_budget = conf->inline_budget;
    cfg->inject_window = conf->inject_window;
    cfg->devtools = &tsr_devtools;
    cfg->check = conf->check;
    cfg->no_inline = !conf->inline_budget;
    return config_engines(conf, cfg, errp) &&
           config_memory(conf, cfg, errp) &&
           config_shaders(conf, cfg, errp) &&
           config_display(conf, cfg, errp) &&
           config_threads(conf, cfg, errp);
}
