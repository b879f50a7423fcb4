# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# What plugin.sh, full.sh and userspace/mesa/base.sh share besides lib.sh and apt.sh. Source it after these.
#
#   recipe_of WORD...        one hash over the words, standard input, the compiler and the distribution: all on our side
#                            that decides what a base looks like. The source's version joins it when it is known; a link
#                            named after the recipe remembers which one was taken
#   keep_newest DIR NUMBER   remove all but the results in DIR that were used last
#   fetch_meson              see that there is a meson that configures QEMU, and use it from now on
#   use_meson                use what fetch_meson has fetched
#   device_hash HEADERS      one hash over the device's sources and the directory of generated headers
#   publish_qemu ASIDE DIR   make a finished QEMU visible in $CACHE/qemu-bin, remove those used longest ago
KEEP_BINARIES=6

recipe_of() {
    {
        printf '%s\n' "$@"
        cat
        cc -dumpfullversion
        cc -dumpmachine
        echo "$ID ${VERSION_ID:-}"
    } | sha256sum | cut -c1-12
}

keep_newest() {
    find "$1" -mindepth 1 -maxdepth 1 ! -name '.*' -printf '%T@ %p\n' | sort -rn | tail -n +$(($2 + 1)) |
        cut -d' ' -f2- | xargs -r rm -rf
}

# Debian 12's meson is too old for QEMU 10; Debian 13's runs from where it is unpacked.
fetch_meson() {
    local version aside
    [ "$HOST_RELEASE" = bookworm ] || return 0
    version=$(readlink "$CACHE/meson/current" 2>/dev/null || true)
    if [ -z "$version" ]; then
        version=$(apt_version meson)
        aside=$(aside_in "$CACHE/meson")
        apt_fetch "$aside" meson
        publish "$aside" "$CACHE/meson/$version"
        ln -sfn "$version" "$CACHE/meson/current"
    fi
    use_meson
}

use_meson() {
    if [ "$HOST_RELEASE" = bookworm ]; then
        export PYTHONPATH=$CACHE/meson/current/usr/lib/python3/dist-packages
    fi
}

device_hash() {
    {
        hash_files qemu-device/pci qemu-device/model
        (cd "$1" && sha256sum ./*.[ch])
    } | sha256sum | cut -c1-16
}

publish_qemu() {
    publish "$1" "$2"
    keep_newest "$CACHE/qemu-bin" "$KEEP_BINARIES"
}
