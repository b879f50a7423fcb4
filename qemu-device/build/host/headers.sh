#!/bin/bash
# SPDX-License-Identifier: MIT
#
# headers.sh: generate the headers of the hardware description (Documentation/hw/*.xml), add the handwritten ones
# (Documentation/hw/include) and print this checkout's include directory. Each description's headers are generated once,
# in $TESSERA_CACHE/gen/<its hash>. Only headers that changed are copied to the checkout's directory, so that sources
# which include the others are not compiled again.
. "$(dirname "$0")/../lib.sh"

[ -f "$TOP/Documentation/hw/gen/generate.py" ] ||
    die "Documentation/hw/gen/generate.py is not there yet: no headers can be generated"
cd "$TOP" || exit 1
dir=$CACHE/gen/$(hash_files Documentation/hw/gen Documentation/hw/include Documentation/hw/*.xml)
if [ ! -d "$dir/include" ]; then
    aside=$(aside_in "$CACHE/gen")
    mkdir "$aside/include"
    /usr/bin/python3 "$TOP/Documentation/hw/gen/generate.py" --out "$aside/include" >&2 ||
        { rm -rf "$aside"; die "the header generator failed (Documentation/hw/gen/generate.py)"; }
    cp Documentation/hw/include/*.h "$aside/include/"
    publish "$aside" "$dir"
fi
touch -c "$dir"

mkdir -p "$BUILD/include"
exec {lock}>"$BUILD/include/.lock"
flock "$lock"
for file in "$dir"/include/*; do
    cmp -s "$file" "$BUILD/include/${file##*/}" || cp "$file" "$BUILD/include/"
done
echo "$BUILD/include"
