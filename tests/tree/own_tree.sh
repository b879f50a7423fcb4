#!/bin/bash
# SPDX-License-Identifier: MIT
# Somebody's own kernel tree (make guest KERNEL=DIR): options that are missing are named, make kconfig switches them on,
# and a kernel with nothing but these options boots, loads the driver and runs a job.
# test: TIMEOUT=3600
. "$TSR_TOP/tests/lib/ktap.sh"
cd "$TSR_TOP" || exit 1
. qemu-device/build/lib.sh
set +e

dir=$BUILD/own-tree
rm -rf "$dir"
mkdir -p "$dir"
source=$(qemu-device/vm/linux_source.sh) || die "there is no kernel source"
guest() { env -u MAKEFLAGS -u MAKELEVEL make guest KERNEL="$dir" CMD="$1" </dev/null 2>&1; }
linux() { make -C "$source" O="$dir" -j "$JOBS" "$@" </dev/null >"$dir.log" 2>&1 || { tail -n 20 "$dir.log"; return 1; }; }
# says WORDS COMMAND...: the command fails and says so
says() {
    local words=$1 out
    shift
    ! out=$("$@") && grep -qF "$words" <<<"$out" || { echo "$out"; return 1; }
}

check "a directory without a configuration is refused" says "has no .config" guest true
check "the smallest configuration can be made" linux allnoconfig
check "its missing options are named" says "CONFIG_VIRTIO_CONSOLE=m (the connection to the host)" guest true
cp "$dir/.config" "$dir.before"
check "make kconfig switches them on" make kconfig KERNEL="$dir"
check "the configuration before is kept" cmp "$dir.before" "$dir/.config.old"
check "a tree without an image is refused" says "has no arch/x86/boot/bzImage" guest true
check "the kernel builds" linux bzImage modules
runs() { guest 'uname -r; hello && echo "the job has run"' | tee "$dir.log" | grep -q 'the job has run' && grep -qF "$(cat "$dir/include/config/kernel.release")" "$dir.log" || { tail -n 30 "$dir.log"; return 1; }; }
check "a guest with it loads the driver and runs a job" runs
cp "$dir/.config" "$dir.before"
sed -i '/^CONFIG_DEVTMPFS=y/d' "$dir/.config"
check "an option that is taken away is named" says CONFIG_DEVTMPFS=y guest true
# tests/distros/container.sh takes the kernel.
mv "$dir.before" "$dir/.config"
rm -f "$dir.log"
ktap_finish
