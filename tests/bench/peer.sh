#!/bin/bash
# SPDX-License-Identifier: MIT
#
# peer.sh: Mesa's llvmpipe of Debian 13, unpacked, on any host. Prints the path of a script:
#   peer PROGRAM ...   runs PROGRAM with Debian 13's C library, libEGL and llvmpipe, and with nothing else of Debian 13
. "$(dirname "$0")/../../qemu-device/build/lib.sh"

root=$(bash "$TOP/userspace/mesa/root.sh" libegl1 libegl-mesa0 libgles2 libgl1-mesa-dri libopengl0)
lib=$root/usr/lib/x86_64-linux-gnu
mkdir -p "$BUILD/bench"
cat >"$BUILD/bench/peer.$$" <<END
#!/bin/sh
# made by tests/bench/peer.sh
export LIBGL_DRIVERS_PATH='$lib/dri' __EGL_VENDOR_LIBRARY_FILENAMES='$root/usr/share/glvnd/egl_vendor.d/50_mesa.json'
export LIBGL_ALWAYS_SOFTWARE=1 GALLIUM_DRIVER=llvmpipe EGL_LOG_LEVEL=fatal
exec '$lib/ld-linux-x86-64.so.2' --library-path '$lib' "\$@"
END
chmod 755 "$BUILD/bench/peer.$$"
mv "$BUILD/bench/peer.$$" "$BUILD/bench/peer"
echo "$BUILD/bench/peer"
