#!/bin/bash
# SPDX-License-Identifier: MIT
#
# list.sh DIR [PATTERN]: names of the files in a directory of the source root that match a pattern of bash's (*.c by
# default; */*.c for its folders), one a line. A directory that is not there has none.
shopt -s extglob nullglob
cd "${MESON_SOURCE_ROOT:-.}/$1" 2>/dev/null || exit 0
pattern=${2:-*.c}
for name in $pattern; do
    printf '%s\n' "$name"
done
