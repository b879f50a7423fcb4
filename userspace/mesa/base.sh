# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# What build.sh and vulkan.sh share: Mesa's source with our patches, configured and compiled once. Source it after
# lib.sh, apt.sh (with APT_ONLY=trixie) and results.sh. The script
#   sets WHAT        the driver's folder in userspace/mesa, a word for logs and messages
#   sets CONFIGURE   the words after `meson setup`
#   sets NINJA       what ninja builds; nothing: all
#   sets TARGET      where Mesa's tree has the driver, below src/
#   defines collect TREE ASIDE   copies the compiled libraries to ASIDE and writes what belongs to them
# before it sources this, and then calls
#   make_result RUNNER [--refresh]   prints the directory of the results, in which RUNNER is a program
#
# The base is Debian 13's Mesa source with the patches of userspace/mesa/patches. It is compiled once for each source
# version, configuration and compiler, and all checkouts share it. Then, under a lock, this script copies the checkout's
# patches, driver, libtessera and the generated headers into the base tree. Ninja builds the changed files. The results
# are in a directory named after the hash of those sources, so an unchanged checkout finds that directory and builds
# nothing.

KEEP=4      # results
# Mesa 25.0: another minor version has other interfaces inside, and is a change of the driver.
SERIES=25.0
# Packages that the build needs beside qemu-device/build/host/packages and sysroot.sh's. wayland-scanner needs libxml2.
PACKAGES=(patch python3-mako python3-packaging python3-yaml libexpat1-dev libglvnd-dev libxml2)

HERE=$TOP/userspace/mesa
recipe=$(recipe_of "${CONFIGURE[@]}" <"$HERE/sysroot.sh")
BASE_LINK=$CACHE/mesa/$recipe
LOCK=$CACHE/mesa-$recipe.lock     # of the base tree, which all checkouts with this recipe share

# Meson looks for python3 by name, and Mesa's generators want the system's, which has the modules.
use_python() {
    export PATH=/usr/bin:$PATH
    use_meson
}

# apply_patches TREE: Mesa's files as Debian delivers them (TREE/orig), with this checkout's patches, in TREE/src.
# TREE/orig consists of hard links to TREE/src, so files in TREE/src must be replaced, not written: patch(1) does.
# The stamp is the file "hooked" because older checkouts, which share the tree, use this name.
apply_patches() {
    local tree=$1 wanted
    wanted=$(hash_files userspace/mesa/patches)
    [ "$(cat "$tree/hooked" 2>/dev/null)" != "$wanted" ] || return 0
    rm -f "$tree/hooked"
    rsync -rl "$tree/orig/" "$tree/src/"    # no -t: a restored file is new to ninja
    bash "$HERE/patches/apply.sh" "$tree/src" || die "Mesa's source cannot be patched"
    printf '%s\n' "$wanted" >"$tree/hooked"
}

# insert TREE HEADERS: this checkout's driver. --checksum and no -t: what is the same keeps its time.
insert() {
    local to=$1/src/src/$TARGET
    mkdir -p "$to"
    rsync -r --checksum --delete --exclude=/lib --exclude=/include "$HERE/$WHAT/" "$to/"
    rsync -r --checksum --delete "$TOP/userspace/libtessera/" "$to/lib/"
    mkdir -p "$to/include/drm"
    rsync --checksum "$2"/*.h "$2/tsr_desc.c" "$to/include/"
    rsync --checksum "$TOP/kernel/include/uapi/drm/tessera_drm.h" "$to/include/drm/"
}

# The build tree cannot be moved once configured, so it is built in place and counts only with the stamp "complete".
build_base() {
    local version tree sysroot
    [ "${1:-}" = refresh ] || [ ! -e "$BASE_LINK/complete" ] || return 0
    apt_ready
    version=$(apt_newest_source mesa) || exit 1
    case $version in
    "$SERIES".*) ;;
    *) die "the archive $(used_mirror) has Mesa $version, the driver is for $SERIES" ;;
    esac
    tree=$CACHE/mesa/${version#*:}-$recipe
    if [ ! -e "$tree/complete" ]; then
        say "building Mesa ${version#*:}: once, some minutes"
        rm -rf "$tree"
        mkdir -p "$tree"
        apt_source "$tree" "mesa=$version"
        mv -T "$tree"/mesa-*/ "$tree/src"
        rm -f "$tree"/mesa_*
        cp -al "$tree/src" "$tree/orig"
        apply_patches "$tree"
        insert "$tree" "$hw"
        sysroot=$(bash "$HERE/sysroot.sh")
        fetch_meson
        use_python
        PKG_CONFIG_PATH=$sysroot/pkgconfig run_logged mesa-configure meson setup "${CONFIGURE[@]}" "$tree/build" "$tree/src" ||
            die "Mesa cannot be configured"
        run_logged "mesa-build-$WHAT" ninja -C "$tree/build" -j "$JOBS" "${NINJA[@]}" || die "Mesa does not build"
        printf '%s\n' "$version" >"$tree/version"
        touch "$tree/complete"
    fi
    ln -sfn "$(basename "$tree")" "$BASE_LINK"
}

# driver DIR RUNNER: this checkout's driver compiled in the base tree, the results in DIR.
driver() {
    local dir=$1 tree aside
    [ ! -x "$dir/$2" ] || return 0
    tree=$(cd "$BASE_LINK" && pwd -P)
    say "building the driver into Mesa $(cat "$tree/version")"
    apply_patches "$tree"
    insert "$tree" "$hw"
    use_python
    run_logged "mesa-driver-$WHAT" ninja -C "$tree/build" -j "$JOBS" "${NINJA[@]}" ||
        die "the driver does not build in Mesa (userspace/mesa/$WHAT)"
    aside=$(aside_in "$(dirname "$dir")")
    mkdir "$aside/lib"
    collect "$tree" "$aside"
    publish "$aside" "$dir"
    keep_newest "$(dirname "$dir")" "$KEEP"
}

make_result() {
    local runner=$1 dir
    bash "$TOP/qemu-device/build/host/setup.sh" "${PACKAGES[@]}"
    hw=$(bash "$TOP/qemu-device/build/host/headers.sh")
    if [ "${2:-}" = --refresh ]; then
        [ -e "$BASE_LINK/complete" ] || exit 0      # it was not asked for so far
        locked "$LOCK" build_base refresh
    else
        [ -e "$BASE_LINK/complete" ] || locked "$LOCK" build_base
    fi
    dir=$CACHE/mesa-bin/$({
        readlink "$BASE_LINK"
        sha256sum <"$0"
        hash_files userspace/mesa/patches userspace/mesa/base.sh "userspace/mesa/$WHAT" userspace/libtessera
        (cd "$hw" && sha256sum ./*.h ./tsr_desc.c)
        sha256sum <"$TOP/kernel/include/uapi/drm/tessera_drm.h"
    } | sha256sum | cut -c1-16)
    [ "$WHAT" = gl ] || dir=${dir/mesa-bin/mesa-bin-$WHAT}
    [ -x "$dir/$runner" ] || locked "$LOCK" driver "$dir" "$runner"
    touch -c "$dir"
    echo "$dir"
}
