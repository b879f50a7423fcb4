#!/bin/bash
# SPDX-License-Identifier: MIT
#
# hook.sh: everything that is changed in Mesa's own tree. Run in its top directory, any number of times.
# src/gallium/drivers/tessera/ is ours: a copy of userspace/mesa/driver/ with what build.sh puts beside it.
set -e

# before FILE PATTERN LINE...: the lines go before the first one that matches, unless FILE speaks of tessera already.
# A file without such a line is of another version of Mesa: an error.
before() {
    local file=$1 pattern=$2 text
    shift 2
    ! grep -qi tessera "$file" || return 0
    text=$(printf '%s\n' "$@")
    PATTERN=$pattern TEXT=$text awk '!done && $0 ~ ENVIRON["PATTERN"] { print ENVIRON["TEXT"]; done = 1 } { print }
        END { exit !done }' "$file" >"$file.hooked" || {
        echo "hook.sh: $file has no line like: $pattern" >&2
        exit 1
    }
    mv "$file.hooked" "$file"       # never in place: the old file has another name elsewhere
}

before meson_options.txt "^    'softpipe', 'llvmpipe'," "    'tessera',"
before meson.build "^with_gallium_etnaviv = " "with_gallium_tessera = gallium_drivers.contains('tessera')"
grep -q 'with_gallium_tessera' src/meson.build ||
    sed -i 's/^if with_gallium_panfrost or with_gallium_lima/if with_gallium_tessera or &/; s/^\(if .* or \)if /\1/' src/meson.build
grep -q 'with_gallium_tessera' src/meson.build
before src/gallium/meson.build '^if with_gallium_etnaviv' 'if with_gallium_tessera' "  subdir('drivers/tessera')" else \
    '  driver_tessera = declare_dependency()' endif
before src/gallium/targets/dri/meson.build '^    driver_asahi' '    driver_tessera,'
before src/gallium/auxiliary/pipe-loader/pipe_loader_drm.c '^ *&etnaviv_driver_descriptor,' '   &tessera_driver_descriptor,'
before src/gallium/auxiliary/target-helpers/drm_helper_public.h 'etnaviv_driver_descriptor;' \
    'extern const struct drm_driver_descriptor tessera_driver_descriptor;'
before src/gallium/auxiliary/target-helpers/drm_helper.h '^#ifdef GALLIUM_ETNAVIV' '#ifdef GALLIUM_TESSERA' \
    '#include "tessera/tg_public.h"' \
    'static struct pipe_screen *' \
    'pipe_tessera_create_screen(int fd, const struct pipe_screen_config *config)' \
    '{' \
    '   struct pipe_screen *screen = tg_screen_open(fd, config);' \
    '   return screen ? debug_screen_wrap(screen) : NULL;' \
    '}' \
    'DRM_DRIVER_DESCRIPTOR(tessera, NULL, 0)' \
    '#else' \
    'DRM_DRIVER_DESCRIPTOR_STUB(tessera)' \
    '#endif'
before src/loader/pci_id_driver_map.h '^   [{] 0x8086, "i915"' '   { 0x1234, "tessera", (const int[]){ 0x7e55 }, 1 },'

# ---- The compiler ----------------------------------------------------------------------------------------------
#
# Where the device's position record (POSITION_EXTENDED) has more than a position: point size, layer, viewport and clip
# distances are stored behind it by the position shader.
before src/panfrost/util/pan_ir.h '^   uint32_t view_mask;' \
    '   /* Tessera: outputs other than varyings go to the record at R58:R59 */' \
    '   bool record_outputs;'
bifrost=src/panfrost/compiler/bifrost_compile.c
before $bifrost '^bi_should_remove_store' 'bi_is_record_output(nir_intrinsic_instr *intr, unsigned *offset)' \
    '{' \
    '   /* of Tessera, byte offsets in the record */' \
    '   switch (nir_intrinsic_io_semantics(intr).location) {' \
    '   case VARYING_SLOT_PSIZ: *offset = 16; return true;' \
    '   case VARYING_SLOT_LAYER: *offset = 20; return true;' \
    '   case VARYING_SLOT_VIEWPORT: *offset = 22; return true;' \
    '   case VARYING_SLOT_CLIP_DIST0: *offset = 32; return true;' \
    '   case VARYING_SLOT_CLIP_DIST1: *offset = 48; return true;' \
    '   default: return false;' \
    '   }' \
    '}' \
    '' \
    'static bool'
grep -q record_outputs $bifrost || sed -i \
    -e '/^bi_should_remove_store/,/^}/ s/^   case VARYING_SLOT_LAYER:/&\n   case VARYING_SLOT_VIEWPORT:\n   case VARYING_SLOT_CLIP_DIST0:\n   case VARYING_SLOT_CLIP_DIST1:/' \
    -e '/^bi_emit_store_vary/,/^}/ s/^   if (b->shader->arch <= 8 && b->shader->idvs == BI_IDVS_POSITION) {/   unsigned record_offset;\n   if (b->shader->inputs->record_outputs \&\& b->shader->idvs == BI_IDVS_POSITION \&\&\n       bi_is_record_output(instr, \&record_offset)) {\n      unsigned bytes = record_offset == 20 || record_offset == 22 ? 2 : 4;\n      record_offset += 4 * nir_intrinsic_component(instr);\n      bi_store(b, nr * bytes * 8, data,\n               bi_iadd_u32(b, bi_preload(b, 58), bi_imm_u32(record_offset), false),\n               bi_preload(b, 59), BI_SEG_NONE, 0);\n   } else if (b->shader->arch <= 8 \&\& b->shader->idvs == BI_IDVS_POSITION) {/' \
    -e 's/^   if (idvs == BI_IDVS_POSITION && !nir->info.internal &&/   if (!inputs->record_outputs \&\& idvs == BI_IDVS_POSITION \&\& !nir->info.internal \&\&/' \
    -e '/^bi_should_idvs/,/^}/ s/^   if ((inputs->gpu_id < 0x9000) &&/   if (!inputs->record_outputs \&\& (inputs->gpu_id < 0x9000) \&\&/' \
    $bifrost
[ "$(grep -c record_outputs $bifrost)" = 3 ]
# Addresses that are constants: those of windows of attribute space.
grep -q 'a constant of two words' $bifrost || sed -i \
    -e '/^bi_emit_load_const/,/^}/ s/^{$/{\n   if (instr->def.bit_size == 64 \&\& instr->def.num_components == 1) {\n      \/* a constant of two words *\/\n      bi_index words[2] = {bi_imm_u32((uint32_t)instr->value[0].u64),\n                           bi_imm_u32((uint32_t)(instr->value[0].u64 >> 32))};\n      bi_emit_collect_to(b, bi_def_index(\&instr->def), words, 2);\n      return;\n   }\n/' \
    $bifrost
grep -q 'a constant of two words' $bifrost

# A pair of atomics ends its clause (isa-fma.md, ATOM_C); the scheduler knows that of the two halves, which it makes
# only after having placed the whole.
schedule=src/panfrost/compiler/bifrost/bi_schedule.c
grep -q tessera $schedule || sed -i \
    's/^   if (bi_opcode_props\[instr->op\]\.last && !tuple->last)$/   bool ends = instr->op == BI_OPCODE_ATOM_RETURN_I32 || \/* tessera *\/\n               instr->op == BI_OPCODE_ATOM1_RETURN_I32 ||\n               bi_opcode_props[instr->op].last;\n   if (ends \&\& !tuple->last)/' \
    $schedule
grep -q tessera $schedule
