#!/bin/sh
# SPDX-License-Identifier: MIT
#
# mesa.sh MESA BUILD: write mesa.h anew. MESA is the source of Mesa 25.0.7, BUILD a Meson build of it that has got as
# far as src/util/libmesa_util.a. Compiles what of Panfrost describes textures of Mali v7, and mesa.c.
set -eu
[ $# = 2 ] || { echo "usage: mesa.sh MESA BUILD" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
lib=$1/src/panfrost/lib
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/genxml"
for version in common v7; do
    python3 "$lib/genxml/gen_pack.py" "$lib/genxml/$version.xml" >"$work/genxml/${version}_pack.h"
done
gcc -w -O1 -ffunction-sections -fdata-sections -Wl,--gc-sections -DPAN_ARCH=7 -D_GNU_SOURCE -DHAVE_SECURE_GETENV \
    -DHAVE_STRUCT_TIMESPEC -DHAVE_TIMESPEC_GET -DHAVE_PTHREAD -DHAVE_ENDIAN_H -DUTIL_ARCH_LITTLE_ENDIAN=1 \
    -DUTIL_ARCH_BIG_ENDIAN=0 -DHAVE___BUILTIN_FFS -DHAVE___BUILTIN_UNREACHABLE \
    -I"$work" -I"$lib" -I"$lib/genxml" -I"$lib/kmod" -I"$1/include" -I"$1/src" -I"$1/src/util" -I"$1/src/panfrost" \
    -I"$1/src/gallium/include" -I"$2/src" -I"$2/src/util" -I"$2/src/util/format" -I/usr/include/libdrm \
    "$here/mesa.c" "$lib/pan_texture.c" "$lib/pan_layout.c" "$lib/pan_format.c" "$lib/pan_util.c" "$lib/pan_afrc.c" \
    "$2/src/util/libmesa_util.a" -lm -lpthread -lz -o "$work/mesa"
"$work/mesa" >"$work/mesa.h"
mv "$work/mesa.h" "$here/mesa.h"
