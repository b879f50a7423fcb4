#!/bin/bash
# SPDX-License-Identifier: MIT
# The driver against the oldest kernel that is cared for, which the host's own compiler can build for: no warning from
# the compiler (W=1), sparse, kernel-doc, checkpatch, coccicheck.
# test: TIMEOUT=900
. "$TSR_TOP/tests/lib/ktap.sh"
cd "$TSR_TOP" || exit 1
. qemu-device/build/lib.sh
set +e

if [ ! -f kernel/Kbuild ]; then
    skip "the driver builds without a warning" "kernel/ has no Kbuild yet"
    ktap_finish
fi
headers=$(qemu-device/vm/kernel.sh --headers 6.12) ||
    { skip "the driver builds without a warning" "no headers of Linux 6.12"; ktap_finish; }
include=$(qemu-device/build/host/headers.sh)
cc=$(sed -n 's/^CONFIG_CC_VERSION_TEXT="\([^ "]*\).*/\1/p' "$headers/build/.config")
cc=${cc##*-linux-gnu-}
mapfile -t sources < <(find kernel -name '*.[ch]' | sort)

# One build for compiler and sparse. Only files that changed since the last build without warnings are
# compiled again: after a warning, everything is.
dir=$BUILD/static-module
mkdir -p "$dir"
rsync -r --checksum --delete --include='*/' --include='*.[chS]' --include=Kbuild --include=Makefile \
    --include=Kconfig --exclude='*' kernel/ "$dir/kernel/"
sparse=()
if command -v sparse >/dev/null; then
    sparse=(C=1 "CHECK=sparse -Wno-unknown-attribute")
fi
make -C "$headers/build" M="$dir/kernel" CC="$cc" W=1 "${sparse[@]}" TESSERA_HW_INCLUDE="$include" -j "$JOBS" \
    modules </dev/null >"$dir.log" 2>&1
built=$?
# The compiler ends its warnings with the option that asked for them; sparse does not.
built_well() { [ "$built" = 0 ] || { tail -n 30 "$dir.log"; return 1; }; }
compiler() { built_well && ! grep -E '\[-W|[Ee]rror:|WARNING: modpost' "$dir.log"; }
sparse_quiet() { built_well && ! grep -E '(warning|error): ' "$dir.log" | grep -v '\[-W'; }

check "[SYS2] the driver builds out of tree with W=1 and no warning" compiler
if [ "${#sparse[@]}" -gt 0 ]; then
    check "sparse has nothing to say" sparse_quiet
else
    skip "sparse has nothing to say" "sparse is not installed"
fi
if [ "$built" != 0 ] || grep -qE '[Ww]arning: ' "$dir.log"; then
    rm -rf "$dir"
fi
# Debian's kernels have no KUnit, so a suite that no longer compiles would show on a debug kernel only. What a suite
# calls and has no stand-in for is undefined in the object.
kunit() {
    local missing
    make -C "$headers/build" M="$dir/kernel" CC="$cc" W=1 TESSERA_HW_INCLUDE="$include" CONFIG_DRM_TESSERA_KUNIT_TEST=m \
        KCFLAGS='-Werror -DCONFIG_KUNIT=1 -DCONFIG_KUNIT_MODULE=1' -j "$JOBS" tests/tessera_kunit.o </dev/null >"$dir.log" 2>&1 ||
        { tail -n 30 "$dir.log"; return 1; }
    missing=$(nm "$dir/kernel/tests/tessera_kunit.o" | grep ' U tessera_')
    [ -z "$missing" ] || { echo "$missing"; return 1; }
}
check "the KUnit suites build without a warning and have all stand-ins" kunit
doc() {
    local output
    output=$(perl "$headers/build/scripts/kernel-doc" -none -Wall "${sources[@]}" 2>&1) || { echo "$output"; return 1; }
    [ -z "$output" ] || { echo "$output"; return 1; }
}
check "kernel-doc has nothing to say about the driver" doc

# checkpatch and Coccinelle's scripts are in no binary package; they come from the kernel's source package,
# downloaded once.
kernel_scripts=$CACHE/kernel-scripts
fetch_scripts() {
    . qemu-device/build/debian/apt.sh
    [ ! -d "$kernel_scripts" ] || return 0
    apt_ready
    local aside version
    aside=$(aside_in "$CACHE/fetch")
    version=$(sed 's/^\([0-9]*\.[0-9]*\).*/\1/' "$headers/release")
    apt_fetch "$aside" "linux-source-$version"
    mkdir -p "$aside/out"
    tar -xf "$aside/usr/src/linux-source-$version.tar.xz" -C "$aside/out" --strip-components=2 \
        "linux-source-$version"/scripts/{checkpatch.pl,spelling.txt,const_structs.checkpatch,coccinelle} || return 1
    publish "$aside/out" "$kernel_scripts"
    rm -rf "$aside"
}
[ -d "$kernel_scripts" ] || (set -e; locked "$CACHE/kernel-scripts.lock" fetch_scripts) >/dev/null 2>&1
# The layout that trace headers have all over the kernel is not that of checkpatch; and what tessera_compat.h adds to
# an initializer cannot be in parentheses, what it drops from a call is an argument that is not used, a function that it
# puts before the driver's returns, and a table that it completes is not constant.
patch() {
    local types=FILE_PATH_CHANGES,CONFIG_DESCRIPTION,SPDX_LICENSE_TAG status=0 file ignored same
    for file in "${sources[@]}"; do
        ignored=$types
        case $file in
        *_trace.h) ignored=$types,OPEN_ENDED_LINE,PARENTHESIS_ALIGNMENT ;;
        */tessera_compat.h) ignored=$types,COMPLEX_MACRO,MACRO_ARG_UNUSED,MACRO_ARG_REUSE,MACRO_WITH_FLOW_CONTROL,CONST_STRUCT ;;
        esac
        same=checkpatch-$(key "$kernel_scripts/checkpatch.pl" tests/static/module.sh "$file")
        has_passed "$same" && continue
        if perl "$kernel_scripts/checkpatch.pl" --no-tree --strict --terse --quiet --show-types --no-summary \
            --max-line-length=100 --ignore "$ignored" -f "$file"; then
            passed "$same"
        else
            status=1
        fi
    done
    return "$status"
}
if [ -x "$kernel_scripts/checkpatch.pl" ]; then
    check "checkpatch --strict has nothing to say about the driver" patch
else
    skip "checkpatch --strict has nothing to say about the driver" "linux-source cannot be downloaded"
fi

# semantic DIRECTORY: what the kernel's own semantic patches find there. Those that are written in OCaml want its
# compiler, which is not worth 300 MB: they are about numbers of batteries and comparisons of pointers with 0.
semantic() {
    local script found=0
    while IFS= read -r script; do
        mapfile -t options < <(sed -n 's|^// Options: *||p' "$script" | tr ' ' '\n' | grep .)
        if timeout 120 spatch -D report --very-quiet --no-show-diff --cocci-file "$script" "${options[@]}" \
            -I kernel/include/uapi --dir "$1" 2>/dev/null | grep -v '^$'; then
            found=1
        fi
    done < <(grep -rLE '@script:ocaml|@initialize:ocaml' "$kernel_scripts/coccinelle" --include='*.cocci' | sort)
    return $found
}
mapfile -t scripts < <(find "$kernel_scripts/coccinelle" -name '*.cocci' 2>/dev/null | sort)
semantic_driver() {
    local same
    same=coccicheck-$(key "$(command -v spatch)" "${sources[@]}" tests/static/module.sh "${scripts[@]}")
    ! has_passed "$same" || return 0
    semantic kernel || return 1
    passed "$same"
}
mistakes() {
    local dir found same
    same=coccinelle-$(key "$(command -v spatch)" tests/static/module.sh "${scripts[@]}")
    ! has_passed "$same" || return 0
    dir=$(mktemp -d)
    printf '#include <linux/slab.h>\nvoid f(void *p)\n{\n\tif (p)\n\t\tkfree(p);\n}\n' >"$dir/mistake.c"
    found=$(semantic "$dir")        # it says so with its status too, which is no failure here
    rm -r "$dir"
    printf '%s\n' "$found"
    [[ $found == *'NULL check before some freeing functions is not needed'* ]] && passed "$same"
}
if command -v spatch >/dev/null && [ -d "$kernel_scripts/coccinelle" ]; then
    check "coccicheck finds a mistake that was made on purpose" mistakes
    check "coccicheck has nothing to say about the driver" semantic_driver
else
    skip "coccicheck has nothing to say about the driver" "coccinelle is not installed, or linux-source cannot be downloaded"
fi
ktap_finish
