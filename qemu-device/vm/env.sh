#!/bin/bash
# SPDX-License-Identifier: MIT
#
# env.sh: build everything a guest needs and print where it is, as NAME=value lines for the shell
# and for qemu-device/vm/guest.py.
#
# Environment: KERNEL (another kernel of Debian's, by version or suite, see kernel.sh; or a file, a bzImage or
# vmlinux), MODULES (a file's lib/modules/RELEASE directory, when it has modules), KDIR (its build directory, to build tessera.ko against; by default the
# directory that KERNEL's own tree is in), VARIANT (debug, race, cover, igt: instead of those three, a kernel that
# own_kernel.sh builds), IMAGE (the demo's input, /usr/share/tessera/input.png in the guest).
. "$(dirname "$0")/../build/lib.sh"
runner=$TOP/qemu-device/vm
kernel=${KERNEL:-} modules=${MODULES:-} kdir=${KDIR:-}
if [ -n "${VARIANT:-}" ]; then
    [ -z "$kernel$modules$kdir" ] || die "VARIANT=$VARIANT comes with its own KERNEL, MODULES and KDIR"
    own=$("$runner/own_kernel.sh" "$VARIANT")
    kernel=$own/arch/x86/boot/bzImage
    modules=$own/root/lib/modules/$(cat "$own/release")
    kdir=$own
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

qemu=$("$TOP/qemu-device/build/qemu.sh")
# A version or a suite, unless there is a file of that name.
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

args=(--busybox "$("$runner/busybox.sh")" --out "$BUILD/initramfs-$(printf '%s' "$kernel" | sha256sum | cut -c1-8).cpio")
mkdir -p "$BUILD"
[ -z "$modules" ] || args+=(--modules "$modules")
if [ -f "$TOP/kernel/Kbuild" ] || [ -f "$TOP/kernel/Makefile" ]; then
    if [ -n "$kdir" ]; then
        module=$("$runner/module.sh" "$kdir")
        args+=(--module "$module")
        unit_tests=$(dirname "$module")/tests/tessera_kunit.ko
        [ ! -f "$unit_tests" ] || args+=(--module "$unit_tests")
    fi
else
    say "kernel/ has no Kbuild yet: the guest boots without a driver"
fi
"$runner/programs.sh"
for dir in guest/tests/guest guest/tests/debug guest/tests/bench userspace/bin; do
    [ ! -d "$BUILD/$dir" ] || args+=(--bin "$BUILD/$dir")
done
[ ! -d "$BUILD/userspace/lib" ] || args+=(--libdir "$BUILD/userspace/lib")
for file in "$TOP"/userspace/demos/*/*.png "$TOP"/userspace/tools/tsr-view/models/*.{obj,mtl,gltf,png}; do
    [ ! -f "$file" ] || args+=(--data "$file")
done
[ ! -f "${IMAGE:-}" ] || args+=(--image "$IMAGE")
/usr/bin/python3 -B "$runner/initramfs.py" "${args[@]}"

printf '%s=%q\n' TSR_QEMU "$qemu/qemu-system-x86_64" TSR_QEMU_SHARE "$qemu/share" TSR_KERNEL "$kernel" \
    TSR_INITRD "${args[3]}" TSR_MODULE "${module:-}" TSR_KDIR "$kdir" TSR_VARIANT "${VARIANT:-}"
