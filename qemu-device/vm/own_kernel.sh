#!/bin/bash
# SPDX-License-Identifier: MIT
#
# own_kernel.sh VARIANT [NAME]: a guest kernel of our own, built from Debian's linux-source of the stock kernel's
# version, or of the one that kernel.sh calls NAME (7.3, 6.12), with qemu-device/vm/kernels/base.config and
# VARIANT.config. Prints its directory:
#   DIR/arch/x86/boot/bzImage      DIR/release     the version string
#   DIR/.config                    and everything `make -C DIR M=...` needs
#   DIR/root/lib/modules/RELEASE/  with modules.dep
#
# Built once for each source version, configuration and compiler; about 7 minutes of two idle cores for the
# debug variant. NAME may also be the source tree of another kernel, a directory that nothing was built in. Its
# kernel is brought up to date by each call.
. "$(dirname "$0")/../build/lib.sh"

CONFIGS=$TOP/qemu-device/vm/kernels
# Kernels of one variant that stay in the cache, most recently used first.
KEEP=3

# The parts of the kernel that the variants cover (GCOV) and kcov (KCOV) count: these objects of DRM and of dma-buf, chosen by a
# variable that every sub-make expands anew for the object it compiles. The driver itself: see module.sh.
COUNTED_OBJECTS='drivers/gpu/drm/drm_exec drivers/gpu/drm/drm_gpuvm drivers/gpu/drm/drm_gem_shmem_helper
    drivers/gpu/drm/drm_syncobj drivers/gpu/drm/drm_gem drivers/gpu/drm/drm_prime drivers/gpu/drm/drm_file
    drivers/gpu/drm/drm_drv drivers/gpu/drm/drm_mm drivers/gpu/drm/scheduler/% drivers/dma-buf/dma-buf
    drivers/dma-buf/dma-fence drivers/dma-buf/dma-fence-array drivers/dma-buf/dma-fence-chain
    drivers/dma-buf/dma-fence-unwrap drivers/dma-buf/dma-resv drivers/dma-buf/sync_file'
COUNTED_OBJECTS=$(tr -s " \n" " " <<<"$COUNTED_OBJECTS")
make_kernel() {
    local gcov=() ours="\$(if \$(filter $COUNTED_OBJECTS,\$(obj)/\$(target-stem)),y)"
    [ "$variant" != cover ] || gcov=("GCOV_PROFILE=$ours")
    [ "$variant" != kcov ] || gcov=("KCOV_INSTRUMENT=$ours")
    make -C "$source" O="$dir" CC="$cc" HOSTCC="$cc" KBUILD_BUILD_USER=tessera KBUILD_BUILD_HOST=tessera "${gcov[@]}" "$@"
}

# The lines of base.config and VARIANT.config. "# where there is" is behind what some versions do not have.
config() { sed -e '/^#/d' -e 's/ *# where there is$//' "$CONFIGS/base.config" "$CONFIGS/$variant.config"; }
known() { grep -rqsxE --include='Kconfig*' "config $1" "$source"; }

# Kconfig drops what it does not like without a word; we do not.
refused() {
    local line name
    while IFS= read -r line; do
        name=${line%%=*}
        ! grep -qhxF "$line # where there is" "$CONFIGS"/{base,"$variant"}.config || known "${name#CONFIG_}" || continue
        grep -qxF -- "$line" "$dir/.config" || echo "$line (it has: $(grep -w "$name" "$dir/.config" || echo nothing))"
    done < <(grep -h '^CONFIG_' "$dir/all.config")
}

configure() {
    local complaint
    config >"$dir/all.config"
    printf 'CONFIG_LOCALVERSION="-tessera-%s"\n' "$variant" >>"$dir/all.config"
    run_logged "configure-$variant" make_kernel KCONFIG_ALLCONFIG="$dir/all.config" allnoconfig ||
        die "the kernel cannot be configured"
    complaint=$(refused)
    [ -z "$complaint" ] || die "Kconfig does not accept from qemu-device/vm/kernels/:"$'\n'"$complaint"
}

# Kbuild builds apart from the source only if nothing was built in it.
source_tree() {
    if [ -z "$tree" ]; then
        "$TOP/qemu-device/vm/linux_source.sh" ${name:+"$name"}
        return
    fi
    [ -f "$tree/Kbuild" ] && [ -f "$tree/Kconfig" ] || die "$name is no kernel source tree"
    [ ! -e "$tree/.config" ] && [ ! -d "$tree/include/config" ] ||
        die "a kernel was built in $name, so VARIANT=$variant cannot build apart from it: make -C $name mrproper, or name a git worktree"
    echo "$tree"
}

# The tree holds its own absolute name, so it is built where it stays and counts once "release" is there.
build() {
    local source
    [ -n "$tree" ] || [ ! -e "$dir/release" ] || return 0
    source=$(source_tree)
    mkdir -p "$dir"
    configure
    if [ -n "$tree" ]; then
        say "building the $variant kernel of $tree, or what has changed of it"
    else
        say "building the $variant kernel, some 7 minutes of two idle cores"
    fi
    run_logged "kernel-$variant" nice -n 10 "$0" --make "$variant" "$name" -j "$JOBS" bzImage modules ||
        die "the $variant kernel does not build"
    run_logged "modules-$variant" make_kernel INSTALL_MOD_PATH="$dir/root" modules_install ||
        die "the $variant kernel's modules cannot be installed"
    cp "$dir/include/config/kernel.release" "$dir/release"
    tidy
    [ -z "$tree" ] || return 0
    # Objects are not needed any more to build modules against it; the notes of GCOV are.
    find "$dir" -name '*.o' ! -path '*/scripts/*' ! -path '*/tools/*' -delete
    rm -f "$dir/vmlinux.unstripped" "$dir"/.tmp_vmlinux*
}

tidy() {
    local old
    while IFS= read -r old; do
        rm -rf "$old"
    done < <(find "$CACHE" -maxdepth 1 -name "linux-$variant-*" -type d -printf '%T@ %p\n' | sort -rn |
        tail -n +$((KEEP + 1)) | cut -d' ' -f2-)
}

making=no
if [ "${1:-}" = --make ]; then
    making=yes
    shift
fi
variant=${1:-}
[ -f "$CONFIGS/$variant.config" ] || die "there is no kernel variant '$variant' in qemu-device/vm/kernels/"
name=${2:-}
shift $(($# > 1 ? 2 : 1))
tree='' cc=gcc
if [ -d "$name" ]; then
    tree=$(cd "$name" && pwd -P)
else
    debian=$("$TOP/qemu-device/vm/kernel.sh" --headers ${name:+"$name"})
    cc=$(sed -n 's/^CONFIG_CC_VERSION_TEXT="\([^ "]*\).*/\1/p' "$debian/build/.config")
    cc=${cc##*-linux-gnu-}
    command -v "${cc:=gcc}" >/dev/null || cc=gcc
fi
hash=$({
    if [ -n "$tree" ]; then echo "$tree"; else basename "$debian" | sed 's/^headers-//'; fi
    config
    case $variant in cover | kcov) echo "$COUNTED_OBJECTS" ;; esac
    "$cc" -dumpfullversion
} | sha256sum | cut -c1-12)
dir=$CACHE/linux-$variant-$hash
if [ $making = yes ]; then
    source=$(source_tree)
    make_kernel "$@"
    exit
fi
[ -z "$tree" ] && [ -e "$dir/release" ] || locked "$CACHE/linux-$variant.lock" build
touch "$dir"
echo "$dir"
