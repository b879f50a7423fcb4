#!/bin/bash
# SPDX-License-Identifier: MIT
#
# full.sh: build QEMU with the device inside (QEMU=build). Prints the directory that holds the result:
#   DIR/qemu-system-x86_64   with `-device tessera`
#   DIR/share/               the firmware it needs (-L)
#
# Two steps. The base is Debian's QEMU source (trixie, with Debian's patches), configured small
# (tessera.mak) and compiled once per source version, configuration, compiler and hook; all checkouts
# share it. Then, under a lock, this checkout's qemu-device/{pci,model} and the generated headers go into
# the base tree's hw/tessera, ninja builds what changed, and the binary is copied to a directory named
# after the hash of those sources. An unchanged checkout finds that directory and builds nothing.
#
# Options: --refresh    look for a newer source version first (`make update`)
#          --fuzz       DIR holds qemu-fuzz-x86_64 instead: QEMU's own fuzzers, by clang with libFuzzer and ASan
. "$(dirname "$0")/../lib.sh"
APT_ONLY=trixie
. "$TOP/qemu-device/build/debian/apt.sh"
. "$TOP/qemu-device/build/qemu/results.sh"

HERE=$TOP/qemu-device/build/qemu
CONFIGURE=(
    --target-list=x86_64-softmmu --without-default-features --without-default-devices
    --with-devices-x86_64=tessera --enable-system --disable-user --enable-tcg --enable-kvm
    --enable-pixman --enable-vnc --enable-png --enable-virtfs --enable-attr --enable-coroutine-pool --audio-drv-list=
    --disable-docs --disable-tools --disable-guest-agent --disable-install-blobs --disable-download
    --disable-debug-info --python=/usr/bin/python3
)
BINARY=qemu-system-x86_64
if [ "${1:-}" = --fuzz ]; then
    shift
    BINARY=qemu-fuzz-x86_64
    CONFIGURE+=(--cc=clang --cxx=clang++ --enable-fuzzing --enable-asan --disable-kvm)
fi

recipe=$(cat "$HERE/tessera.mak" "$HERE/hook.sh" | recipe_of "${CONFIGURE[@]}")
BASE_LINK=$CACHE/qemu/$recipe

# Firmware: Debian's SeaBIOS, and the option ROMs that load a kernel, built from QEMU's own source.
build_firmware() {
    local tree=$1 rom
    apt_fetch "$tree/seabios" seabios
    mkdir -p "$tree/share"
    cp "$tree"/seabios/usr/share/seabios/{bios-256k.bin,bios.bin} "$tree/share/"
    rm -rf "$tree/seabios"
    mkdir -p "$tree/build/pc-bios/optionrom"
    printf 'TOPSRC_DIR=%s\nCC=gcc\nOBJCOPY=objcopy\n' "$tree/src" \
        >"$tree/build/pc-bios/optionrom/config.mak"
    run_logged qemu-optionrom make -C "$tree/build/pc-bios/optionrom" \
        -f "$tree/src/pc-bios/optionrom/Makefile" all ||
        die "QEMU's option ROMs do not build"
    for rom in linuxboot_dma.bin pvh.bin kvmvapic.bin; do
        cp "$tree/build/pc-bios/optionrom/$rom" "$tree/share/" || die "QEMU's $rom was not built"
    done
}

# The build tree cannot be moved once configured (meson stores absolute names), so it is built in place
# and counts only with the stamp "complete", written last.
build_base() {
    local version tree
    [ "${1:-}" = refresh ] || [ ! -e "$BASE_LINK/complete" ] || return 0
    apt_ready
    version=$(apt_newest_source qemu) || exit 1
    tree=$CACHE/qemu/${version#*:}-$recipe
    if [ ! -e "$tree/complete" ]; then
        say "building QEMU ${version#*:}: once, some minutes"
        rm -rf "$tree"
        mkdir -p "$tree"
        apt_source "$tree" "qemu=$version"
        mv -T "$tree"/qemu-*/ "$tree/src"
        rm -f "$tree"/qemu_*
        cp "$HERE/tessera.mak" "$tree/src/configs/devices/x86_64-softmmu/tessera.mak"
        (cd "$tree/src" && bash "$HERE/hook.sh") || die "QEMU's source has no place for the hook"
        fetch_meson
        mkdir "$tree/build"
        (cd "$tree/build" && run_logged qemu-configure ../src/configure "${CONFIGURE[@]}") ||
            die "QEMU cannot be configured"
        run_logged qemu-build ninja -C "$tree/build" -j "$JOBS" "$BINARY" ||
            die "QEMU does not build"
        build_firmware "$tree"
        printf '%s\n' "$version" >"$tree/version"
        touch "$tree/complete"
    fi
    ln -sfn "$(basename "$tree")" "$BASE_LINK"
}

# insert DIR: this checkout's device into the base tree, then the binary with its firmware into DIR.
# --checksum and no -t: a file that is the same as the last checkout's keeps its time and is not rebuilt.
insert() {
    local dir=$1 headers=$2 tree aside part
    # no headers: there is no device in this checkout
    [ ! -x "$dir/$BINARY" ] || return 0
    tree=$(cd "$BASE_LINK" && pwd -P)
    say "building the device into QEMU $(cat "$tree/version")"
    for part in pci model; do
        [ ! -d "$TOP/qemu-device/$part" ] ||
            rsync -r --checksum --delete "$TOP/qemu-device/$part/" "$tree/src/hw/tessera/$part/"
    done
    [ -z "$headers" ] || rsync -r --checksum --delete "$headers/" "$tree/src/hw/tessera/include/"
    (cd "$tree/src" && bash "$HERE/hook.sh")
    use_meson
    run_logged qemu-device ninja -C "$tree/build" -j "$JOBS" "$BINARY" ||
        die "the device does not build in QEMU (qemu-device/pci, qemu-device/model)"
    aside=$(aside_in "$CACHE/qemu-bin")
    cp "$tree/build/$BINARY" "$aside/"
    cp -r "$tree/share" "$aside/share"
    [ -n "$headers" ] || touch "$aside/no-device"
    publish_qemu "$aside" "$dir"
}

if [ "${1:-}" = --refresh ]; then
    locked "$APT_DIR.lock" apt_update again
    locked "$CACHE/qemu.lock" build_base refresh
elif [ ! -e "$BASE_LINK/complete" ]; then
    locked "$CACHE/qemu.lock" build_base
fi

headers=
if [ -f "$TOP/qemu-device/pci/meson.build" ]; then
    headers=$("$TOP/qemu-device/build/host/headers.sh")
    sources=$(device_hash "$headers")
else
    say "qemu-device/pci/meson.build is not there yet: this QEMU has no tessera device"
    sources=none
fi
base=$(readlink "$BASE_LINK")
dir=$CACHE/qemu-bin/$(printf '%s %s' "$base" "$sources" | sha256sum | cut -c1-16)
[ -x "$dir/$BINARY" ] || locked "$CACHE/qemu.lock" insert "$dir" "$headers"
touch -c "$dir"
echo "$dir"
