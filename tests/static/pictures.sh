#!/bin/bash
# SPDX-License-Identifier: MIT
# The diagrams in Documentation/pictures are rendered from their sources, shown by a page, and name files that exist.
. "$TSR_TOP/tests/lib/ktap.sh"
cd "$TSR_TOP" || exit 1
pictures=Documentation/pictures

stale() {
    local source svg status=0
    for source in "$pictures"/*.dot; do
        svg=${source%.dot}.svg
        [ "$(tail -n 1 "$svg")" = "<!-- source: $(sha256sum <"$source" | cut -c1-32) -->" ] ||
            { echo "$svg is not what $source says: run $pictures/render.sh"; status=1; }
    done
    for svg in "$pictures"/*.svg; do
        [ -e "${svg%.svg}.dot" ] || { echo "$svg has no source"; status=1; }
    done
    return $status
}
check "every diagram was rendered from its source" stale
shown() {
    local svg status=0
    for svg in "$pictures"/*.svg; do
        grep -rqF --include='*.md' "$(basename "$svg")" README.md Documentation kernel qemu-device tests userspace || { echo "no page shows $svg"; status=1; }
    done
    return $status
}
check "every diagram is on a page" shown
named() {
    local file status=0
    while read -r file; do
        compgen -G "qemu-device/model/$file" >/dev/null || compgen -G "kernel/$file" >/dev/null ||
            { echo "a diagram names $file, which does not exist"; status=1; }
    done < <(sed 's/\\n/ /g' "$pictures"/*.dot | grep -oE '\b[a-z_]+/[a-z_]+\.[ch]\b' | sort -u)
    # Functions of the driver and of Mesa's part.
    while read -r file; do
        grep -rqE "\b$file\(" kernel qemu-device/model userspace/mesa || { echo "a diagram names $file(), which does not exist"; status=1; }
    done < <(grep -hoE '\b(tessera|tsr|tg)_[a-z_]+\(\)' "$pictures"/*.dot | tr -d '()' | sort -u)
    return $status
}
check "files and functions in the diagrams exist" named
ktap_finish
