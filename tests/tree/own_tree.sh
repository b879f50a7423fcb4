#!/bin/bash
# SPDX-License-Identifier: MIT
# A kernel tree of one's own (make guest KERNEL=DIR): options that are missing are named, make kconfig switches them on,
# and a kernel with nothing but these options boots, loads the driver and runs a job. Then `git bisect run` with
# qemu-device/vm/bisect.sh finds the commit that breaks /proc/uptime.
# test: TIMEOUT=7200
. "$TSR_TOP/tests/lib/ktap.sh"
cd "$TSR_TOP" || exit 1
. qemu-device/build/lib.sh
set +e

# Hard links: a build creates files, and neither it nor git writes into existing ones.
dir=$BUILD/own-tree
source=$(qemu-device/vm/linux_source.sh) || die "there is no kernel source"
rm -rf "$dir" "$dir-objects"
cp -al "$source" "$dir" && mkdir "$dir-objects" || exit 1
guest() { env -u MAKEFLAGS -u MAKELEVEL -u TSR_PROGRAMS make guest KERNEL="$dir" CMD="$1" </dev/null 2>&1; }
linux() { make -C "$dir" -j "$JOBS" "$@" </dev/null >"$dir.log" 2>&1 || { tail -n 20 "$dir.log"; return 1; }; }
# says WORDS COMMAND...: the command fails and says so
says() {
    local words=$1 out
    shift
    ! out=$("$@") && grep -qF "$words" <<<"$out" || { echo "$out"; return 1; }
}

apart() { make -C "$source" O="$dir-objects" allnoconfig >"$dir.log" 2>&1 && make kconfig KERNEL="$dir-objects"; }
check "make kconfig works in a build directory apart from the source" apart
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
mv "$dir.before" "$dir/.config"

# A history in which only these two files change. One of its kernels panics, which is no complaint about the driver.
file=fs/proc/uptime.c
broken='cat /proc/uptime >/dev/null && hello >/dev/null'
in_tree() { git -C "$dir" -c user.name=t -c user.email=t@example.org "$@"; }
commit() { in_tree commit -qam "$1" && in_tree tag "$1"; }
history() {
    in_tree init -q && echo '*' >"$dir/.git/info/exclude" && in_tree add -f "$file" CREDITS && commit first &&
        echo harmless >>"$dir/CREDITS" && commit harmless &&
        cp "$dir/$file" "$dir.good" && echo '#error this does not compile' >>"$dir/$file" && commit no-build &&
        cp "$dir.good" "$dir/$file" && commit builds &&
        sed -i '/^static int uptime_proc_show/,/^{/s/^{/{\n\tif (m)\n\t\treturn -EIO;/' "$dir/$file" && commit culprit &&
        cp "$dir/$file" "$dir.bad" && sed -i '/^static int .*proc_uptime_init/,/^{/s/^{/{\n\tpanic("no uptime");/' "$dir/$file" && commit no-boot &&
        cp "$dir.bad" "$dir/$file" && commit last
}
tests() { (cd "$dir" && exec env -u TSR_PROGRAMS -u TSR_TROUBLE "$TSR_TOP/qemu-device/vm/bisect.sh" "$broken") >"$dir.log" 2>&1; }
# status N COMMIT: bisect.sh ends with N there
status() {
    local got
    in_tree checkout -q "$2" && tests
    got=$?
    [ "$got" = "$1" ] || { tail -n 30 "$dir.log"; echo "status $got instead of $1"; return 1; }
}
check "it has a history with a commit that breaks /proc/uptime" history
check "bisect.sh: a commit that does not build is skipped" status 125 no-build
check "bisect.sh: a commit that does not boot is skipped" status 125 no-boot
bisects() {
    in_tree bisect start last first && (cd "$dir" && env -u TSR_PROGRAMS -u TSR_TROUBLE git bisect run "$TSR_TOP/qemu-device/vm/bisect.sh" "$broken") >"$dir.log" 2>&1 &&
        grep -qx "$(in_tree rev-parse culprit) is the first bad commit" "$dir.log" || { tail -n 40 "$dir.log"; return 1; }
}
check "git bisect run finds the commit" bisects
in_tree bisect reset >/dev/null 2>&1
check "bisect.sh: the first commit is good" status 0 first
# tests/distros/container.sh takes the kernel.
rm -rf "$dir.log" "$dir.good" "$dir.bad" "$dir-objects"
ktap_finish
