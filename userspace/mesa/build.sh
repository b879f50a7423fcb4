#!/bin/bash
# SPDX-License-Identifier: MIT
#
# build.sh: Mesa with a driver for Tessera. Prints the directory that holds the result:
#   DIR/tsr-mesa PROGRAM ...   runs PROGRAM with it
#   DIR/lib/                   libEGL_mesa.so.0, libgallium, libgbm and its gbm/dri_gbm.so
#
# The base is Debian 13's Mesa source, hooked (hook.sh), configured small and compiled once for each source version,
# configuration and compiler; all checkouts share it. Then, under a lock, this checkout's hook, userspace/mesa/driver,
# libtessera and the generated headers go into the base tree, ninja builds what has changed, and the libraries are
# installed in a directory that is named after the hash of those sources. An unchanged checkout finds that
# directory and builds nothing. libEGL, libGLESv2 and libOpenGL are the system's (libglvnd).
#
# Options: --refresh    look for a newer source version first (`make update`)
. "$(dirname "$0")/../../qemu-device/build/lib.sh"
APT_ONLY=trixie
. "$TOP/qemu-device/build/apt.sh"
. "$TOP/qemu-device/build/results.sh"

HERE=$TOP/userspace/mesa
KEEP=4      # results
# Mesa 25.0: another minor version has other interfaces inside, and is a change of the driver.
SERIES=25.0
CONFIGURE=(
    --buildtype=release --prefix=/usr/lib/tessera-mesa --libdir=lib -Dgallium-drivers=tessera -Dvulkan-drivers= -Dplatforms=
    -Dllvm=disabled -Dglx=disabled -Degl=enabled -Dgbm=enabled -Dglvnd=enabled -Dopengl=true -Dgles1=disabled
    -Dgles2=enabled -Dvideo-codecs= -Dgallium-va=disabled -Dgallium-vdpau=disabled -Dgallium-xa=disabled -Dlegacy-x11=
    -Dzstd=disabled -Dvalgrind=disabled -Dlibunwind=disabled -Dlmsensors=disabled -Dbuild-tests=false
    -Dandroid-libbacktrace=disabled
)
# What it takes, beside qemu-device/build/packages.
PACKAGES=(python3-mako python3-packaging python3-yaml libexpat1-dev libglvnd-dev)

recipe=$(recipe_of "${CONFIGURE[@]}" </dev/null)
BASE_LINK=$CACHE/mesa/$recipe

# Meson looks for python3 by name, and Mesa's generators want the system's, which has the modules.
use_python() {
    export PATH=/usr/bin:$PATH
    use_meson
}

# hook TREE: this checkout's hook, in the files as they came. Those are in orig: hard links, so hook.sh replaces files.
hook() {
    local tree=$1 wanted
    wanted=$(sha256sum <"$HERE/hook.sh")
    [ "$(cat "$tree/hooked" 2>/dev/null)" != "$wanted" ] || return 0
    rm -f "$tree/hooked"
    rsync -rl "$tree/orig/" "$tree/src/"        # no -t: what is put back is new to ninja
    (cd "$tree/src" && bash "$HERE/hook.sh") || die "Mesa's source has no place for the hook"
    printf '%s\n' "$wanted" >"$tree/hooked"
}

# insert TREE HEADERS: this checkout's driver. --checksum and no -t: what is the same keeps its time.
insert() {
    local to=$1/src/src/gallium/drivers/tessera
    rsync -r --checksum --delete --exclude=/lib --exclude=/include "$HERE/driver/" "$to/"
    rsync -r --checksum --delete "$TOP/userspace/libtessera/" "$to/lib/"
    mkdir -p "$to/include/drm"
    rsync --checksum "$2"/*.h "$2/tsr_desc.c" "$TOP/qemu-device/model/tile/samples.h" "$TOP/qemu-device/model/binner/padding.h" "$to/include/"
    rsync --checksum "$TOP/kernel/include/uapi/drm/tessera_drm.h" "$to/include/drm/"
}

# The build tree cannot be moved once configured, so it is built in place and counts only with the stamp "complete".
build_base() {
    local version tree
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
        hook "$tree"
        insert "$tree" "$hw"
        fetch_meson
        use_python
        run_logged mesa-configure meson setup "${CONFIGURE[@]}" "$tree/build" "$tree/src" || die "Mesa cannot be configured"
        run_logged mesa-build ninja -C "$tree/build" -j "$JOBS" || die "Mesa does not build"
        printf '%s\n' "$version" >"$tree/version"
        touch "$tree/complete"
    fi
    ln -sfn "$(basename "$tree")" "$BASE_LINK"
}

write_runner() {
    cat >"$1/tsr-mesa" <<'END'
#!/bin/sh
# SPDX-License-Identifier: MIT
# tsr-mesa PROGRAM ...: run PROGRAM with this directory's OpenGL on the first Tessera GPU.
here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
export LD_LIBRARY_PATH="$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export __EGL_VENDOR_LIBRARY_FILENAMES="$here/50_tessera.json" GBM_BACKENDS_PATH="$here/lib/gbm"
exec "$@"
END
    chmod 755 "$1/tsr-mesa"
    printf '{ "file_format_version": "1.0.0", "ICD": { "library_path": "libEGL_mesa.so.0" } }\n' >"$1/50_tessera.json"
}

# driver DIR: this checkout's driver compiled in the base tree, the libraries in DIR.
driver() {
    local dir=$1 tree aside
    [ ! -x "$dir/tsr-mesa" ] || return 0
    tree=$(cd "$BASE_LINK" && pwd -P)
    say "building the driver into Mesa $(cat "$tree/version")"
    hook "$tree"
    insert "$tree" "$hw"
    use_python
    run_logged mesa-driver ninja -C "$tree/build" -j "$JOBS" || die "the driver does not build in Mesa (userspace/mesa/driver)"
    aside=$(aside_in "$CACHE/mesa-bin")
    run_logged mesa-install meson install -C "$tree/build" --no-rebuild --tags runtime --destdir "$aside/root" ||
        die "Mesa cannot be installed in $aside"
    mkdir "$aside/lib"
    cp -a "$aside"/root/usr/lib/tessera-mesa/lib/{libEGL_mesa.so*,libgallium-*.so,libgbm.so*,gbm} "$aside/lib/"
    rm -rf "$aside/root"
    write_runner "$aside"
    publish "$aside" "$dir"
    keep_newest "$CACHE/mesa-bin" "$KEEP"
}

bash "$TOP/qemu-device/build/setup.sh" "${PACKAGES[@]}"
hw=$(bash "$TOP/qemu-device/build/headers.sh")
if [ "${1:-}" = --refresh ]; then
    [ -e "$BASE_LINK/complete" ] || exit 0      # nobody has asked for it so far
    locked "$CACHE/mesa.lock" build_base refresh
else
    [ -e "$BASE_LINK/complete" ] || locked "$CACHE/mesa.lock" build_base
fi
dir=$CACHE/mesa-bin/$({
    readlink "$BASE_LINK"
    sha256sum <"$0"
    sha256sum <"$HERE/hook.sh"
    hash_files userspace/mesa/driver userspace/libtessera
    (cd "$hw" && sha256sum ./*.h ./tsr_desc.c)
    sha256sum <"$TOP/kernel/include/uapi/drm/tessera_drm.h"
} | sha256sum | cut -c1-16)
[ -x "$dir/tsr-mesa" ] || locked "$CACHE/mesa.lock" driver "$dir"
touch -c "$dir"
echo "$dir"
