#!/bin/bash
# SPDX-License-Identifier: MIT
#
# share.sh [PROGRAM ...]: what a guest mounts at /mnt to run OpenGL programs; prints its directory:
#   DIR/bin/NAME   our GL programs (tests/mesa, where the checkout has them), and the PROGRAMs: paths, or names of the host's
#   DIR/lib/       Mesa with the driver, and this host's libraries with their loader
#   DIR/run NAME   starts one
#   DIR/shaders/   the disk cache of shaders, which the guest writes and the next call of this script keeps
# With MESA_PACKAGES, names of Debian 13's packages, also
#   DIR/root/      a root that they and what they need are unpacked in
#   DIR/debian [--software] NAME   starts a program there, with our Mesa or with the packages' own software renderer
. "$(dirname "$0")/../../qemu-device/build/lib.sh"
SHARE=$BUILD/mesa/share

bash "$TOP/qemu-device/build/host/setup.sh" libegl-dev libgles-dev libgbm-dev
mesa=$(bash "$TOP/userspace/mesa/build.sh")

programs() {
    local name file
    for file in "$TOP"/tests/mesa/*.c; do
        name=$(basename "$file" .c)
        [ "$name" != gl ] && [ -f "$file" ] || continue
        cc -O1 -o "$SHARE/bin/$name" "$file" "$TOP/tests/mesa/gl.c" -lEGL -lGLESv2 -lgbm -lm || die "tests/mesa/$name.c does not compile"
    done
    for name in "$@"; do
        file=$(command -v "$name") || die "there is no program $name"
        cp -L "$file" "$SHARE/bin/"
    done
}

# Libraries that programs and Mesa name, and those that libglvnd opens by itself.
libraries() {
    local file
    cp -a "$mesa"/lib/. "$SHARE/lib/"
    LD_LIBRARY_PATH=$SHARE/lib ldd "$SHARE"/bin/* "$SHARE"/lib/*.so* "$SHARE"/lib/gbm/*.so 2>/dev/null |
        awk '$2 == "=>" && $3 ~ "^/" { print $3 } $1 ~ "^/.*ld-linux" { print $1 }' | sort -u |
        while IFS= read -r file; do
            [ -e "$SHARE/lib/$(basename "$file")" ] || cp -L "$file" "$SHARE/lib/"
        done
}

# Hard links, and our Mesa at a place of its own.
debian() {
    local root
    # shellcheck disable=SC2086  # one word for each package
    root=$(bash "$TOP/userspace/mesa/root.sh" $MESA_PACKAGES)
    cp -al "$root" "$SHARE/root"
    cp -r "$mesa" "$SHARE/root/usr/lib/tessera-mesa"
    cat >"$SHARE/debian" <<'END'
#!/bin/sh
root=$(cd "${0%/*}" && pwd)/root
if [ ! -e "$root/proc/self" ]; then
    for d in dev proc sys tmp; do
        mount --rbind "/$d" "$root/$d"
    done
    mount --bind "${0%/*}/shaders" "$root/mnt"
    mount -t tmpfs -o mode=700 tmpfs "$root/run"
fi
export HOME=/tmp XDG_RUNTIME_DIR=/run
if [ "$1" = --software ]; then
    shift
    export LIBGL_ALWAYS_SOFTWARE=1
    exec chroot "$root" "$@"
fi
mesa=/usr/lib/tessera-mesa
export LD_LIBRARY_PATH=$mesa/lib __EGL_VENDOR_LIBRARY_FILENAMES=$mesa/50_tessera.json GBM_BACKENDS_PATH=$mesa/lib/gbm
export __GLX_VENDOR_LIBRARY_NAME=mesa MESA_SHADER_CACHE_DIR="${MESA_SHADER_CACHE_DIR:-/mnt}"
exec chroot "$root" "$@"
END
    chmod +x "$SHARE/debian"
}

[ ! -d "$SHARE" ] || find "$SHARE" -mindepth 1 -maxdepth 1 ! -name shaders -exec rm -rf {} +
mkdir -p "$SHARE/bin" "$SHARE/lib" "$SHARE/shaders"
programs "$@"
libraries
cp "$mesa/50_tessera.json" "$SHARE/"
cat >"$SHARE/run" <<'END'
#!/bin/sh
here=${0%/*}
name=$1
shift
export __EGL_VENDOR_LIBRARY_FILENAMES="$here/50_tessera.json" GBM_BACKENDS_PATH="$here/lib/gbm"
export MESA_SHADER_CACHE_DIR="${MESA_SHADER_CACHE_DIR:-$here/shaders}"
exec "$here/lib/ld-linux-x86-64.so.2" --library-path "$here/lib" "$here/bin/$name" "$@"
END
chmod +x "$SHARE/run"
[ -z "${MESA_PACKAGES:-}" ] || debian
echo "$SHARE"
