#!/bin/bash
# SPDX-License-Identifier: MIT
#
# own_tree.sh DIR: find what a guest needs in the build directory of another kernel. Prints two lines: the image, and
# the directory of its modules, empty if the kernel has none. Fails if an option of qemu-device/vm/kernels/needs is
# missing. Nothing in DIR changes.
#
# own_tree.sh --configure DIR: switch these options on in DIR/.config (`make kconfig`).
# own_tree.sh --build DIR: switch on those that are missing, and build image and modules (bisect.sh).
. "$(dirname "$0")/../build/lib.sh"
. "$TOP/qemu-device/vm/compiler.sh"

# needs: the lines of that file
needs() { sed -e '/^#/d' "$TOP/qemu-device/vm/kernels/needs"; }

# missing: the options that DIR/.config lacks, with what they are for
missing() {
    local name least why
    while read -r name least why; do
        grep -qxE "CONFIG_$name=(y$([ "$least" = y ] || echo '|m'))" "$dir/.config" || echo "    CONFIG_$name=$least ($why)"
    done < <(needs)
}

kernel_make() { make -C "$dir" CC="$cc" "${tools[@]}" "$@" </dev/null; }

# Scheduler, GPUVM and their like have no prompt. A driver selects them: ours if the tree has it (`make export TO=kernel-tree`),
# else one that a PC may build.
configure() {
    local source=$dir name least why left
    [ ! -d "$dir/source" ] || source=$dir/source
    local set=("$source/scripts/config" --file "$dir/.config" --enable COMPILE_TEST --enable STAGING)
    [ -x "$source/scripts/config" ] || die "$dir is no kernel tree: it has no scripts/config"
    # Dependencies of the others come first.
    set+=(--enable VIRTIO_MENU --enable NET --enable EXPERT --enable SERIAL_8250 --enable INPUT)
    while read -r name least why; do
        # An option that is a module already may stay one.
        if [ "$least" = y ] || ! grep -qx "CONFIG_$name=m" "$dir/.config"; then
            set+=(--enable "$name")
        fi
    done < <(needs)
    if [ -d "$source/drivers/gpu/drm/tessera" ]; then
        set+=(--module DRM_TESSERA)
    else
        set+=(--module DRM_PANTHOR --module DRM_VKMS)
    fi
    cp "$dir/.config" "$dir/.config.kept"
    "${set[@]}"
    run_logged kconfig kernel_make olddefconfig || die "the kernel cannot be configured"
    # Kconfig has put its own copy there, of the edited file.
    mv -f "$dir/.config.kept" "$dir/.config.old"
    left=$(missing)
    [ -z "$left" ] || die "Kconfig of $dir does not accept:"$'\n'"$left"
    say "$dir/.config has what a guest needs; the old one is .config.old. Build it: make -C $dir bzImage modules"
}

# modules: install those of the tree below our build directory, when they are newer than what is there.
modules() {
    local release own
    [ -s "$dir/modules.order" ] || return 0
    release=$(cat "$dir/include/config/kernel.release")
    own=$BUILD/tree-$(printf %s "$dir" | sha256sum | cut -c1-8)
    if [ ! "$own/done" -nt "$dir/modules.order" ] || [ ! "$own/done" -nt "$image" ] || [ ! -d "$own/lib/modules/$release" ]; then
        rm -rf "$own"
        mkdir -p "$own"
        run_logged modules-install kernel_make INSTALL_MOD_PATH="$own" INSTALL_MOD_STRIP=1 -j "$JOBS" modules_install >&2 ||
            die "the modules of $dir cannot be installed"
        touch "$own/done"
    fi
    echo "$own/lib/modules/$release"
}

# build: another version of the tree may have options that .config does not know.
build() {
    run_logged kconfig kernel_make olddefconfig || die "the kernel cannot be configured"
    [ -z "$(missing)" ] || configure
    say "building the kernel in $dir"
    run_logged kernel-build kernel_make -j "$JOBS" bzImage modules || die "the kernel does not build"
}

action="find"
case ${1:-} in
--configure | --build)
    action=${1#--}
    shift
    ;;
esac
[ -d "${1:-}" ] || die "KERNEL=${1:-}: there is no such directory"
dir=$(cd "$1" && pwd -P)
[ -f "$dir/.config" ] || die "$dir has no .config: configure the kernel first, for instance with make -C $dir defconfig"
compiler_for "$dir"
if [ "$action" != find ]; then
    "$action"
    exit
fi
left=$(missing)
[ -z "$left" ] ||
    die "the kernel in $dir lacks what a guest needs:"$'\n'"$left"$'\n'"  make kconfig KERNEL=$dir switches it on"
image=$dir/arch/x86/boot/bzImage
[ -f "$image" ] || die "$dir has no arch/x86/boot/bzImage: make -C $dir bzImage modules"
echo "$image"
modules
