#!/bin/bash
# SPDX-License-Identifier: MIT
#
# vulkan.sh: Mesa's Vulkan runtime with a driver for Tessera. Prints the directory that holds the result:
#   DIR/tsr-vulkan PROGRAM ...   runs PROGRAM with it
#   DIR/tessera_icd.json         the manifest that Vulkan's loader wants (VK_DRIVER_FILES)
#   DIR/lib/                     libvulkan_tessera.so
#
# base.sh says how it is built. The configuration has no OpenGL, so it is a base of its own: half of the one that
# build.sh compiles, and `make mesa` does not need it. The flags are those of build.sh, for a compiler cache. The library
# finds X11's and Wayland's in the sysroot, where a host does not have them.
#
# Options: --refresh    look for a newer source version first (`make update`)
. "$(dirname "$0")/../../qemu-device/build/lib.sh"
APT_ONLY=trixie
. "$TOP/qemu-device/build/debian/apt.sh"
. "$TOP/qemu-device/build/qemu/results.sh"

WHAT=vulkan
TARGET=tessera/vulkan
NINJA=(src/tessera/vulkan/libvulkan_tessera.so)
CONFIGURE=(
    --buildtype=release --prefix=/usr/lib/tessera-mesa --libdir=lib -Dvulkan-drivers=tessera -Dgallium-drivers= '-Dplatforms=x11,wayland'
    -Dopengl=false -Dgles1=disabled -Dgles2=disabled -Degl=disabled -Dgbm=disabled -Dglx=disabled -Dglvnd=disabled
    -Dxlib-lease=disabled -Dllvm=disabled -Dvideo-codecs= -Dzstd=disabled -Dvalgrind=disabled -Dlibunwind=disabled
    -Dlmsensors=disabled -Dbuild-tests=false -Dandroid-libbacktrace=disabled
)

# The path in the manifest is relative to the manifest.
write_runner() {
    cat >"$1/tsr-vulkan" <<'END'
#!/bin/sh
# SPDX-License-Identifier: MIT
# tsr-vulkan PROGRAM ...: run PROGRAM with this directory's Vulkan driver alone.
here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
export VK_DRIVER_FILES="$here/tessera_icd.json" VK_ICD_FILENAMES="$here/tessera_icd.json"
exec "$@"
END
    chmod 755 "$1/tsr-vulkan"
    printf '{ "file_format_version": "1.0.0", "ICD": { "library_path": "./lib/libvulkan_tessera.so", "api_version": "1.1.305" } }\n' \
        >"$1/tessera_icd.json"
}

# collect TREE ASIDE: the library of the build in TREE
collect() {
    cp "$1/build/src/tessera/vulkan/libvulkan_tessera.so" "$2/lib/"
    write_runner "$2"
}

. "$(dirname "$0")/base.sh"
make_result tsr-vulkan "$@"
