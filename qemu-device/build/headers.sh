#!/bin/bash
# SPDX-License-Identifier: MIT
#
# headers.sh: make the headers of the hardware description (Documentation/hw/*.xml) and print their
# include directory, $TESSERA_CACHE/gen/<hash of description and generator>/include.
. "$(dirname "$0")/lib.sh"

[ -f "$TOP/Documentation/hw/gen/generate.py" ] ||
    die "Documentation/hw/gen/generate.py is not there yet: no headers can be generated"
cd "$TOP" || exit 1
dir=$CACHE/gen/$(hash_files Documentation/hw/gen Documentation/hw/*.xml)
if [ ! -d "$dir/include" ]; then
    aside=$(aside_in "$CACHE/gen")
    mkdir "$aside/include"
    /usr/bin/python3 "$TOP/Documentation/hw/gen/generate.py" --out "$aside/include" >&2 ||
        { rm -rf "$aside"; die "the header generator failed (Documentation/hw/gen/generate.py)"; }
    publish "$aside" "$dir"
fi
touch -c "$dir"
echo "$dir/include"
