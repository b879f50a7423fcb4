#!/bin/bash
# SPDX-License-Identifier: MIT
#
# build.sh: Mesa with an OpenGL driver for Tessera. Prints the directory that holds the result:
#   DIR/tsr-mesa PROGRAM ...   runs PROGRAM with it
#   DIR/lib/                   libEGL_mesa.so.0, libGLX_mesa.so.0, libgallium, libgbm and its gbm/dri_gbm.so
#
# base.sh says how it is built. libEGL, libGLX, libGLESv2 and libOpenGL are the system's (libglvnd), and so are the
# libraries of Wayland and X11. vulkan.sh builds the Vulkan driver, by itself.
#
# Options: --refresh    look for a newer source version first (`make update`)
. "$(dirname "$0")/../../qemu-device/build/lib.sh"
APT_ONLY=trixie
. "$TOP/qemu-device/build/debian/apt.sh"
. "$TOP/qemu-device/build/qemu/results.sh"

WHAT=gl
TARGET=gallium/drivers/tessera
NINJA=()
CONFIGURE=(
    --buildtype=release --prefix=/usr/lib/tessera-mesa --libdir=lib -Dgallium-drivers=tessera -Dvulkan-drivers=
    '-Dplatforms=x11,wayland' -Degl-native-platform=surfaceless -Dglx=dri -Dxlib-lease=disabled -Dllvm=disabled
    -Degl=enabled -Dgbm=enabled -Dglvnd=enabled -Dopengl=true -Dgles1=disabled -Dgles2=enabled
    -Dvideo-codecs= -Dgallium-va=disabled -Dgallium-vdpau=disabled -Dgallium-xa=disabled -Dlegacy-x11=
    -Dzstd=disabled -Dvalgrind=disabled -Dlibunwind=disabled -Dlmsensors=disabled -Dbuild-tests=false
    -Dandroid-libbacktrace=disabled
)

write_runner() {
    cat >"$1/tsr-mesa" <<'END'
#!/bin/sh
# SPDX-License-Identifier: MIT
# tsr-mesa PROGRAM ...: run PROGRAM with this directory's OpenGL on the first Tessera GPU.
here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
export LD_LIBRARY_PATH="$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export __EGL_VENDOR_LIBRARY_FILENAMES="$here/50_tessera.json" GBM_BACKENDS_PATH="$here/lib/gbm"
export __GLX_VENDOR_LIBRARY_NAME=mesa
exec "$@"
END
    chmod 755 "$1/tsr-mesa"
    printf '{ "file_format_version": "1.0.0", "ICD": { "library_path": "libEGL_mesa.so.0" } }\n' >"$1/50_tessera.json"
}

# collect TREE ASIDE: the libraries of the build in TREE
collect() {
    run_logged mesa-install meson install -C "$1/build" --no-rebuild --tags runtime --destdir "$2/staging" ||
        die "Mesa cannot be installed in $2"
    cp -a "$2"/staging/usr/lib/tessera-mesa/lib/{libEGL_mesa.so*,libGLX_mesa.so*,libgallium-*.so,libgbm.so*,gbm} "$2/lib/"
    rm -rf "$2/staging"
    write_runner "$2"
}

. "$(dirname "$0")/base.sh"
make_result tsr-mesa "$@"
