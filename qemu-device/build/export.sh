#!/bin/bash
# SPDX-License-Identifier: MIT
#
# export.sh TO [OUT]: write what another project takes from this one, and print its name.
#   kernel-tree     the driver in the Linux source tree OUT, as drivers/gpu/drm/tessera, with its tests
#   drm-ci          the job tessera:none for the kernel's own CI, in drivers/gpu/drm/ci of the Linux source tree OUT
#   syz             the description of the uapi for syzkaller, in the syzkaller checkout OUT
#   igt             the recovery contract as one test for IGT, OUT/drm_contract.c
#   fencewatch      kernel/fencewatch alone as a tarball, in the directory OUT (default: the build directory)
#   github, gitlab  a CI job that runs a command in a guest, for the repository OUT (default: standard output)
# ORIGIN=URL is where such a job clones Tessera from; the default is the remote "origin" of the checkout.
. "$(dirname "$0")/lib.sh"

usage() {
    echo 'usage: make export TO=kernel-tree|drm-ci|syz|igt|fencewatch|github|gitlab [OUT=DIR]' >&2
    exit 2
}

# The directory of another project that $OUT names; $1 exists in it.
project() {
    [ -n "$out" ] || usage
    [ -e "$out/$1" ] || die "$out has no $1: OUT= names a source tree of ${2}"
}

job() { /usr/bin/python3 -B "$TOP/qemu-device/build/ci_recipe.py" "$to" ${ORIGIN:+"$ORIGIN"}; }

# recipe FILE: print the CI job, or write it to that file of the repository.
recipe() {
    local text
    text=$(job)
    [ -n "$out" ] || { printf '%s\n' "$text"; return; }
    [ -d "$out" ] || die "$out is not a directory"
    [ ! -e "$out/$1" ] || die "$out/$1 exists; remove it first"
    mkdir -p "$(dirname "$out/$1")"
    printf '%s\n' "$text" >"$out/$1"
    echo "$out/$1"
}

# The job, its expectations, and the line that includes it. What is there already is left alone.
drm_ci() {
    local ci=$out/drivers/gpu/drm/ci list
    [ ! -e "$ci/tessera.yml" ] || die "$ci/tessera.yml exists; remove it first"
    grep -q '^  - drivers/gpu/drm/ci/test\.yml$' "$ci/gitlab-ci.yml" || die "$ci/gitlab-ci.yml does not include test.yml"
    job >"$ci/tessera.yml"
    for list in fails skips; do
        [ -e "$ci/xfails/tessera-none-$list.txt" ] || grep -v '^#' "$TOP/tests/igt/tessera-$list.txt" >"$ci/xfails/tessera-none-$list.txt"
    done
    grep -q 'ci/tessera\.yml$' "$ci/gitlab-ci.yml" ||
        sed -i 's|^  - drivers/gpu/drm/ci/test\.yml$|&\n  - drivers/gpu/drm/ci/tessera.yml|' "$ci/gitlab-ci.yml"
    echo "$ci/tessera.yml"
}

to=${1:-} out=${2:-}
case $to in
kernel-tree)
    project Kbuild Linux
    bash "$TOP/qemu-device/build/kernel-tree/kernel_tree.sh" "$out"
    ;;
drm-ci)
    project drivers/gpu/drm/ci/gitlab-ci.yml Linux
    drm_ci
    ;;
syz)
    project sys/linux syzkaller
    cp "$TOP/kernel/tests/syzkaller/dev_tessera.txt" "$out/sys/linux/"
    echo "$out/sys/linux/dev_tessera.txt"
    ;;
igt)
    [ -d "$out" ] || die "TO=igt needs OUT=, a directory that exists"
    /usr/bin/python3 -B "$TOP/userspace/contract/igt.py" "$("$TOP/qemu-device/build/host/headers.sh")" "$out/drm_contract.c"
    echo "$out/drm_contract.c"
    ;;
fencewatch)
    file=$(bash "$TOP/qemu-device/build/fencewatch_tarball.sh")
    [ -z "$out" ] || { cp "$file" "$out/" && file=$out/${file##*/}; }
    echo "$file"
    ;;
github) recipe .github/workflows/gpu.yml ;;
gitlab) recipe .gitlab-ci.yml ;;
*) usage ;;
esac
