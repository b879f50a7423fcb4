#!/bin/bash
# SPDX-License-Identifier: MIT
#
# hook.sh: everything that is changed in QEMU's own tree. Run in its top directory, any number of times.
# hw/tessera/ is ours: pci/ and model/ are copies of qemu-device/, include/ holds the generated headers.
set -e
grep -q "subdir('tessera')" hw/meson.build || echo "subdir('tessera')" >>hw/meson.build
# Directories with a trace-events file are listed in QEMU's top-level meson.build.
grep -q "'hw/tessera/pci'" meson.build || sed -i "/^ *'hw\/ssi',/a\    'hw/tessera/pci'," meson.build
grep -q "'hw/tessera/pci'" meson.build

mkdir -p hw/tessera/pci
[ -e hw/tessera/pci/trace-events ] || echo '# no device' >hw/tessera/pci/trace-events
if [ -e hw/tessera/pci/meson.build ]; then
    hook="subdir('pci')"
else
    hook='# no device'
fi
# Written only when it changes: meson configures again whenever this file is newer.
[ "$(cat hw/tessera/meson.build 2>/dev/null)" = "$hook" ] || echo "$hook" >hw/tessera/meson.build
