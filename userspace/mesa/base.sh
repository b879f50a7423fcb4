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
# patches, driver, code that the drivers share (userspace/mesa/common), libtessera and the generated headers into the
# base tree. Ninja builds the changed files. The results
# are in a directory named after the hash of those sources, so an unchanged checkout finds that directory and builds
# nothing.
#
# With MESA_TREE=DIR the base is a copy of the Mesa checkout DIR, which stays as it is. Each run copies the files that
# have changed there, and ninja builds these. Its version may be another one: if a patch does not apply or the driver
# does not compile, the message names the file.

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
    bash "$HERE/patches/apply.sh" "$tree/src" || die "Mesa $(cat "$tree/src/VERSION") cannot be patched"
    printf '%s\n' "$wanted" >"$tree/hooked"
}

# insert TREE HEADERS: this checkout's driver. --checksum and no -t: what is the same keeps its time.
insert() {
    local to=$1/src/src/$TARGET
    mkdir -p "$to"
    rsync -r --checksum --delete --exclude=/common --exclude=/lib --exclude=/include "$HERE/$WHAT/" "$to/"
    rsync -r --checksum --delete "$HERE/common/" "$to/common/"
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

# compile TREE DIR RUNNER: this checkout's driver compiled in TREE, the results in DIR.
compile() {
    local tree=$1 dir=$2 aside
    apply_patches "$tree"
    insert "$tree" "$hw"
    use_python
    run_logged "mesa-driver-$WHAT" ninja -C "$tree/build" -j "$JOBS" "${NINJA[@]}" ||
        die "the driver does not build in Mesa (userspace/mesa/$WHAT)"
    aside=$(aside_in "$(dirname "$dir")")
    mkdir "$aside/lib"
    collect "$tree" "$aside"
    publish "$aside" "$dir"
}

# driver DIR RUNNER: the results in DIR, from the base tree.
driver() {
    local tree
    [ ! -x "$1/$2" ] || return 0
    tree=$(cd "$BASE_LINK" && pwd -P)
    say "building the driver into Mesa $(cat "$tree/version")"
    compile "$tree" "$1"
    keep_newest "$(dirname "$1")" "$KEEP"
}

# ---- A checkout of one's own -------------------------------------------------------------------------------------

patched_files() {
    sed -n 's|^+++ b/||p' "$HERE"/patches/*.patch | sort -u
}

# mirror FROM TREE: bring what has changed in FROM since the last time to TREE/orig and TREE/src, with its times. Builds
# inside the checkout are left out. Patched files stay as they are in TREE/src, and are patched again if one has changed.
mirror() {
    local from=$1 tree=$2 file changed
    local exclude=(--exclude=/.git)
    for file in "$from"/*/build.ninja; do
        [ ! -e "$file" ] || exclude+=("--exclude=/$(basename "$(dirname "$file")")")
    done
    mkdir -p "$tree/orig" "$tree/src"
    changed=$(rsync -a --delete --itemize-changes "${exclude[@]}" "$from/" "$tree/orig/")
    exclude=("--exclude=/src/$TARGET")
    while IFS= read -r file; do
        exclude+=("--exclude=/$file")
        ! grep -qF " $file" <<<"$changed" || rm -f "$tree/hooked"
    done < <(patched_files)
    rsync -a --delete "${exclude[@]}" "$tree/orig/" "$tree/src/"
}

configure_own() {
    local sysroot
    [ ! -e "$1/build/build.ninja" ] || return 0
    sysroot=$(bash "$HERE/sysroot.sh")
    apply_patches "$1"
    insert "$1" "$hw"
    apt_ready
    fetch_meson
    use_python
    PKG_CONFIG_PATH=$sysroot/pkgconfig run_logged mesa-configure meson setup "${CONFIGURE[@]}" "$1/build" "$1/src" ||
        die "Mesa $(cat "$1/src/VERSION") cannot be configured"
}

# own_tree FROM TREE: prints TREE/bin, the results of the checkout FROM.
own_tree() {
    local from=$1 tree=$2
    mirror "$from" "$tree"
    configure_own "$tree"
    say "building the driver into Mesa $(cat "$from/VERSION") of $from"
    rm -rf "${tree:?}/bin"
    compile "$tree" "$tree/bin" >&2
}

make_result() {
    local runner=$1 dir from
    bash "$TOP/qemu-device/build/host/setup.sh" "${PACKAGES[@]}"
    hw=$(bash "$TOP/qemu-device/build/host/headers.sh")
    if [ -n "${MESA_TREE:-}" ]; then
        from=$(cd "$MESA_TREE" 2>/dev/null && pwd -P) || die "MESA_TREE: $MESA_TREE is not a directory"
        [ -e "$from/VERSION" ] && [ -d "$from/src/gallium" ] || die "MESA_TREE: $from is no source tree of Mesa"
        dir=$CACHE/mesa-tree/$WHAT-$({ printf '%s\n' "$from" "$TOP" "$recipe"; } | sha256sum | cut -c1-12)
        locked "$dir.lock" own_tree "$from" "$dir"
        echo "$dir/bin"
        return
    fi
    if [ "${2:-}" = --refresh ]; then
        [ -e "$BASE_LINK/complete" ] || exit 0      # it was not asked for so far
        locked "$LOCK" build_base refresh
    else
        [ -e "$BASE_LINK/complete" ] || locked "$LOCK" build_base
    fi
    dir=$CACHE/mesa-bin/$({
        readlink "$BASE_LINK"
        sha256sum <"$0"
        hash_files userspace/mesa/patches userspace/mesa/base.sh userspace/mesa/common "userspace/mesa/$WHAT" \
            userspace/libtessera
        (cd "$hw" && sha256sum ./*.h ./tsr_desc.c)
        sha256sum <"$TOP/kernel/include/uapi/drm/tessera_drm.h"
    } | sha256sum | cut -c1-16)
    [ "$WHAT" = gl ] || dir=${dir/mesa-bin/mesa-bin-$WHAT}
    [ -x "$dir/$runner" ] || locked "$LOCK" driver "$dir" "$runner"
    touch -c "$dir"
    echo "$dir"
}
