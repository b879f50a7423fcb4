#!/bin/bash
# SPDX-License-Identifier: MIT
#
# env.sh: build everything a guest needs and print where it is, as NAME=value lines for the shell
# and for qemu-device/vm/guest.py.
#
# Environment:
#   KERNEL    another kernel of Debian's, by version or suite (kernel.sh); or the build directory of any kernel
#             (own_tree.sh); or a file, a bzImage or vmlinux
#   MODULES   a file's lib/modules/RELEASE directory, if it has modules
#   KDIR      the build directory to build tessera.ko against; by default the directory that KERNEL's own tree is in
#   VARIANT   debug, race, cover, igt: a kernel that own_kernel.sh builds, of the version that KERNEL names, or from the
#             source tree KERNEL
#   IMAGE     the demo's input, /usr/share/tessera/input.png in the guest
#   TSR_PROGRAMS  tests and benchmarks that the guest gets besides tools and demos: names, or "all"; by default those
#             that TSR_CMD, the command to be run, names
#
# Asking make, Kbuild and the scripts whether anything is to be done takes seconds. With the stock kernel the answer of
# last time holds while no file of the checkout and nothing it was made with has another size or time.
. "$(dirname "$0")/../build/lib.sh"
runner=$TOP/qemu-device/vm
kernel=${KERNEL:-} modules=${MODULES:-} kdir=${KDIR:-}
if [ -n "${VARIANT:-}" ]; then
    if [ -n "$modules$kdir" ] || [ -f "$kernel" ]; then
        die "VARIANT=$VARIANT comes with its own MODULES and KDIR, and KERNEL is a version such as 7.3 or a source tree"
    fi
    own=$("$runner/own_kernel.sh" "$VARIANT" ${kernel:+"$kernel"})
    kernel=$own/arch/x86/boot/bzImage
    modules=$own/root/lib/modules/$(cat "$own/release")
    kdir=$own
fi

# programs: those of the named programs that there are, or "all".
programs=()
if [ "${TSR_PROGRAMS-}" = all ]; then
    programs=(all)
else
    known=$(bash "$runner/programs.sh" --names)
    for word in $(printf '%s' "${TSR_PROGRAMS-${TSR_CMD:-}}" | tr -cs 'A-Za-z0-9_-' '\n' | LC_ALL=C sort -u); do
        [[ $'\n'$known$'\n' != *$'\n'"$word"$'\n'* ]] || programs+=("$word")
    done
fi
set=
[ "${programs[*]}" != all ] || set=-tests

# inputs: a hash over sizes and times of all that the answer depends on.
inputs() {
    {
        (cd "$TOP" && find kernel qemu-device userspace tests Documentation/hw -type f ! -name '*.pyc' \
            -printf '%p %s %T@\n' 2>/dev/null | LC_ALL=C sort)
        echo "QEMU=${QEMU:-}" "${programs[@]}"
        readlink "$CACHE"/kernel-*/* "$CACHE"/qemu/* "$CACHE"/qemu-headers/* || true
        stat -Lc '%n %s %Y' "$(command -v cc)" "$(command -v gcc)" /usr/bin/qemu-system-x86_64 2>/dev/null || true
    } | sha256sum
}

# outputs ANSWER: the same over the files that an answer names.
outputs() {
    local TSR_QEMU TSR_QEMU_SHARE TSR_KERNEL TSR_INITRD TSR_MODULE TSR_KDIR TSR_VARIANT TSR_BASE TSR_PAYLOAD
    eval "$1"
    stat -Lc '%n %s %Y' "$TSR_QEMU" "$TSR_KERNEL" "$TSR_INITRD" ${TSR_MODULE:+"$TSR_MODULE"} "$TSR_BASE" "$TSR_PAYLOAD" |
        sha256sum
}

answered=$BUILD/env$set
before=''
if [ -z "$kernel$modules$kdir${IMAGE:-}${MUTANT:-}" ]; then
    before=$(inputs)
    if [ -f "$answered" ] && [ "$(head -n 1 "$answered")" = "$before" ]; then
        answer=$(tail -n +3 "$answered")
        if [ "$(sed -n 2p "$answered")" = "$(outputs "$answer" 2>/dev/null)" ]; then
            (eval "$answer" && touch -c "$(dirname "$TSR_QEMU")")
            echo "$answer"
            exit
        fi
    fi
fi

# A bzImage lies in arch/x86/boot/ of its tree, a vmlinux at the top of it.
tree_of() {
    local dir
    dir=$(dirname "$(readlink -f "$1")")
    while [ "$dir" != / ]; do
        if [ -f "$dir/Makefile" ] && [ -f "$dir/.config" ]; then
            echo "$dir"
            return
        fi
        dir=$(dirname "$dir")
    done
}

# QEMU meanwhile: the first time it is half of the work.
exec {qemu_says}< <("$TOP/qemu-device/build/qemu/qemu.sh")
qemu_pid=$!
# A kernel's build directory, else a version or a suite, unless there is a file of that name.
if [ -d "$kernel" ]; then
    kdir=${kdir:-$(cd "$kernel" && pwd -P)}
    found=$("$runner/own_tree.sh" "$kernel")
    kernel=$(head -n 1 <<<"$found")
    modules=${modules:-$(sed -n 2p <<<"$found")}
fi
if [ ! -f "$kernel" ] && [[ -z $kernel || $kernel =~ ^([0-9][0-9.]*|[a-z]+(-[a-z]+)*)$ ]]; then
    stock=$("$runner/kernel.sh" ${kernel:+"$kernel"})
    kernel=$stock/vmlinuz
    modules=${modules:-$stock/lib/modules/$(cat "$stock/release")}
    kdir=${kdir:-$stock/build}
else
    [ -f "$kernel" ] || die "KERNEL=$kernel: there is no such file"
    [ -z "$modules" ] || [ -f "$modules/modules.dep" ] ||
        die "MODULES=$modules: no modules.dep there (expected a directory like lib/modules/6.12.0)"
    kdir=${kdir:-$(tree_of "$kernel")}
    [ -n "$kdir" ] || say "no KDIR= and $kernel is in no kernel tree: no module is built for it"
fi

args=(--busybox "$("$runner/busybox.sh")" --out "$BUILD/initramfs-$(printf '%s' "$kernel" | sha256sum | cut -c1-8)$set.cpio")
mkdir -p "$BUILD"
[ -z "$modules" ] || args+=(--modules "$modules")
if [ -f "$TOP/kernel/Kbuild" ] || [ -f "$TOP/kernel/Makefile" ]; then
    if [ -n "$kdir" ]; then
        module=$("$runner/module.sh" "$kdir")
        args+=(--module "$module")
        unit_tests=$(dirname "$module")/tests/tessera_kunit.ko
        [ ! -f "$unit_tests" ] || args+=(--module "$unit_tests")
        # Kernels that are older than fencewatch supports run without it.
        if watchers=$("$runner/fencewatch.sh" "$kdir"); then
            while IFS= read -r path; do
                args+=(--module "$path")
            done <<<"$watchers"
        elif [ -n "${FENCEWATCH:-}" ]; then
            exit 1
        fi
    fi
else
    say "kernel/ has no Kbuild yet: the guest boots without a driver"
fi
while IFS= read -r path; do
    args+=(--bin "$path")
done < <("$runner/programs.sh" "${programs[@]}" || echo failed)
[ "${args[-1]}" != failed ] || exit 1
[ ! -d "$BUILD/userspace/lib" ] || args+=(--libdir "$BUILD/userspace/lib")
[ ! -f "$BUILD/userspace/lib/libtessera-perf.so" ] || args+=(--lib "$BUILD/userspace/lib/libtessera-perf.so")
for file in "$TOP"/userspace/demos/*/*.png "$TOP"/userspace/tools/tsr-view/models/*.{obj,mtl,gltf,png} \
    "$BUILD"/userspace/share/tessera/*.{sync,load}; do
    [ ! -f "$file" ] || args+=(--data "$file")
done
wait "$qemu_pid" || exit 1
qemu=$(cat <&"$qemu_says")
# Guests with Debian's kernels can be restored from a snapshot.
base='' payload=''
if [ -n "${stock:-}" ]; then
    base=${args[3]%.cpio}-base.cpio
    payload=${args[3]%.cpio}-payload.romfs
    args+=(--base "$base" --payload "$payload" --resume "$BUILD/vm/resume")
fi
[ ! -f "${IMAGE:-}" ] || args+=(--image "$IMAGE")
/usr/bin/python3 -B "$runner/initramfs.py" "${args[@]}"

answer=$(printf '%s=%q\n' TSR_QEMU "$qemu/qemu-system-x86_64" TSR_QEMU_SHARE "$qemu/share" TSR_KERNEL "$kernel" \
    TSR_INITRD "${args[3]}" TSR_MODULE "${module:-}" TSR_KDIR "$kdir" TSR_VARIANT "${VARIANT:-}" \
    TSR_BASE "$base" TSR_PAYLOAD "$payload")
if [ -n "$before" ]; then
    printf '%s\n' "$before" "$(outputs "$answer")" "$answer" >"$answered.$$"
    mv "$answered.$$" "$answered"
fi
echo "$answer"
