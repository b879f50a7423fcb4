#!/bin/bash
# SPDX-License-Identifier: MIT
#
# share_vulkan.sh: what a guest mounts at /mnt to run Vulkan programs; prints its directory:
#   DIR/root/      a root that Debian 13's VULKAN_PACKAGES and what they need are unpacked in, with our driver
#   DIR/debian [--software] [--weston|--cage] NAME ...   starts a program there, with our driver or with lavapipe, alone,
#                  in a weston that draws on the CPU, or in cage, which is a wlroots compositor that draws with Vulkan.
#                  Compositors end with the program.
#   DIR/bin/NAME   the same for the programs of those packages, so that the guest finds them by name
#   DIR/out/       /mnt in that root, which the guest writes
# VULKAN_MESA is a directory that build.sh printed. cage then allocates its buffers by Mesa's GBM, else as dumb buffers.
. "$(dirname "$0")/../../qemu-device/build/lib.sh"
SHARE=$BUILD/mesa/share-vulkan
PACKAGES=${VULKAN_PACKAGES:-coreutils vulkan-tools vkmark mesa-vulkan-drivers weston cage}

vulkan=$(bash "$TOP/userspace/mesa/vulkan.sh")
# shellcheck disable=SC2086  # one word for each package
root=$(bash "$TOP/userspace/mesa/root.sh" $PACKAGES)

# wrap NAME WORDS...: the program with these words before its arguments, unless they name a window system. Programs that
# draw use the GPU's screen. vkcube cannot use a display by itself: it asks for displays before it has a device.
wrap() {
    local name=$1
    shift
    cat >"$SHARE/bin/$name" <<END
#!/bin/sh
case " \$*" in
*' --wsi '* | *' --winsys '*) exec "\${0%/*}/../debian" $name "\$@" ;;
*) exec "\${0%/*}/../debian" $* "\$@" ;;
esac
END
    chmod +x "$SHARE/bin/$name"
}

rm -rf "$SHARE"
mkdir -p "$SHARE/bin" "$SHARE/out"
cp -al "$root" "$SHARE/root"
cp -r "$vulkan" "$SHARE/root/usr/lib/tessera-vulkan"
[ -z "${VULKAN_MESA:-}" ] || cp -r "$VULKAN_MESA" "$SHARE/root/usr/lib/tessera-mesa"
wrap vulkaninfo vulkaninfo
wrap vkcube --weston vkcube --wsi wayland
wrap vkmark vkmark --winsys display --present-mode fifo
cat >"$SHARE/debian" <<'END'
#!/bin/sh
root=$(cd "${0%/*}" && pwd)/root
if [ ! -e "$root/proc/self" ]; then
    for d in dev proc sys tmp; do
        mount --rbind "/$d" "$root/$d"
    done
    mount --bind "${0%/*}/out" "$root/mnt"
    mount -t tmpfs -o mode=700 tmpfs "$root/run"
fi
export HOME=/tmp XDG_RUNTIME_DIR=/run
icd=/usr/lib/tessera-vulkan/tessera_icd.json
if [ "$1" = --software ]; then
    shift
    icd=/usr/share/vulkan/icd.d/lvp_icd.json
fi
export VK_DRIVER_FILES=$icd TESSERA_VK=experimental MESA_SHADER_CACHE_DIR="${MESA_SHADER_CACHE_DIR:-/mnt}"
case $1 in --weston | --cage) ;; *) exec chroot "$root" "$@" ;; esac
export LIBSEAT_BACKEND=builtin SEATD_VTBOUND=0
# Without GBM's backend, wlroots allocates dumb buffers. A program's buffer is drawn even if it could be the screen's.
if [ "$1" = --cage ]; then
    shift
    gbm=/usr/lib/tessera-mesa/lib
    if [ -e "$root$gbm" ]; then
        export GBM_BACKENDS_PATH=$gbm/gbm LD_LIBRARY_PATH=$gbm
    else
        export GBM_BACKENDS_PATH=/nonexistent
    fi
    export WLR_RENDERER=vulkan WLR_BACKENDS=drm,libinput WLR_LIBINPUT_NO_DEVICES=1 WLR_SCENE_DISABLE_DIRECT_SCANOUT=1
    exec chroot "$root" cage -- "$@"
fi
shift
export WAYLAND_DISPLAY=wayland-1
chroot "$root" weston --backend=drm --renderer=pixman --shell=kiosk-shell.so --socket=wayland-1 --continue-without-input \
    --idle-time=0 --no-config >/tmp/weston.log 2>&1 &
weston=$!
while [ ! -S "$root/run/wayland-1" ]; do
    kill -0 $weston || { cat /tmp/weston.log >&2; exit 1; }
    sleep 0.2
done
chroot "$root" "$@" &
trap "kill $!" TERM INT
wait $!
status=$?
kill $weston
wait $weston
exit $status
END
chmod +x "$SHARE/debian"
echo "$SHARE"
