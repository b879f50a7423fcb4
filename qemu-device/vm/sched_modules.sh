#!/bin/bash
# SPDX-License-Identifier: MIT
#
# sched_modules.sh mock KDIR            build the kernel's own tests of drm_sched as a module, print its path
# sched_modules.sh scheduler KDIR PATCH build gpu-sched.ko with a patch, print its path
#
# Both are built for the kernel of KDIR from its own source: that of the tree KDIR belongs to, else Debian's linux-source of
# the kernel that KERNEL names. PATCH is a patch in the format of git, or "none".
. "$(dirname "$0")/../build/lib.sh"

what=${1:-} kdir=${2:-} patch=${3:-none}
[ -f "$kdir/Makefile" ] || die "usage: sched_modules.sh mock|scheduler KDIR [PATCH]"
part=drivers/gpu/drm/scheduler
source=
for dir in "$kdir" "$kdir/source"; do
    [ ! -f "$dir/$part/sched_main.c" ] || source=$dir
done
[ -n "$source" ] || source=$("$TOP/qemu-device/vm/linux_source.sh" ${KERNEL:+"$KERNEL"})

. "$TOP/qemu-device/vm/compiler.sh"
compiler_for "$kdir"

# build DIR MODULE
build() {
    make -C "$kdir" M="$1" CC="$cc" "${tools[@]}" -j "$JOBS" modules </dev/null >"$1/log" 2>&1 || {
        tail -n 30 "$1/log" >&2
        die "$2 does not build for $kdir (log: $1/log)"
    }
    echo "$1/$2"
}

# copy_to DIR FILE...: files that have not changed keep their time, so that make does nothing
copy_to() {
    local dir=$1
    shift
    mkdir -p "$dir"
    rsync -r --checksum "$@" "$dir/"
}

id=$(printf '%s %s' "$kdir" "$patch" | sha256sum | cut -c1-8)
dir=$BUILD/sched-$what-$id
mkdir -p "$dir"
exec {lock}>"$dir/.lock"
flock "$lock"
case $what in
mock)
    [ -f "$source/$part/tests/tests_scheduler.c" ] || die "the kernel of $kdir has no tests of drm_sched"
    copy_to "$dir/src" "$TOP"/tests/sched/mock/ "$source/$part"/tests/{mock_scheduler.c,tests_scheduler.c,sched_tests.h}
    build "$dir/src" drm_sched_mock.ko
    ;;
scheduler)
    grep -q '^CONFIG_DRM_SCHED=m' "$kdir/.config" || die "drm_sched is no module of the kernel of $kdir"
    rm -rf "$dir/tree"
    mkdir -p "$dir/tree/$part"
    cp "$source/$part"/*.[ch] "$dir/tree/$part/"
    [ "$patch" = none ] || patch -d "$dir/tree" -p1 -F0 -s --force <"$patch" || die "$patch does not apply to the kernel's $part"
    copy_to "$dir/src" "$dir/tree/$part/"
    # The trace header includes itself by a path of the kernel's tree.
    sed -i 's|^#define TRACE_INCLUDE_PATH .*|#define TRACE_INCLUDE_PATH .|' "$dir/src/gpu_scheduler_trace.h"
    printf '%s\n' 'obj-m := gpu-sched.o' 'gpu-sched-y := sched_main.o sched_fence.o sched_entity.o sched_rq.o' \
        'ccflags-y := -I$(src)' >"$dir/src/Kbuild"
    build "$dir/src" gpu-sched.ko
    ;;
*) die "usage: sched_modules.sh mock|scheduler KDIR [PATCH]" ;;
esac
