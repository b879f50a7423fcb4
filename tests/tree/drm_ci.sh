#!/bin/bash
# SPDX-License-Identifier: MIT
# The job tessera:none of `make export TO=drm-ci`, in a copy of the kernel's source: it is included, and its steps run as
# printed with the variables that the service sets, the first without its packages. It builds the tree's kernel and runs
# two of IGT's programs, then one against an expectation that is wrong. The service's cache is ours.
# test: TIMEOUT=7200
. "$TSR_TOP/tests/lib/ktap.sh"
cd "$TSR_TOP" || exit 1
. qemu-device/build/lib.sh
set +e

dir=$BUILD/drm-ci
ci=$dir/drivers/gpu/drm/ci
source=$(qemu-device/vm/linux_source.sh) || die "there is no kernel source"
rm -rf "$dir" "$dir".*
cp -al "$source" "$dir" || exit 1
# An edit in place would change the original.
cp "$ci/gitlab-ci.yml" "$dir.tmp" && mv "$dir.tmp" "$ci/gitlab-ci.yml" || exit 1

exported() { env -u MAKEFLAGS -u MAKELEVEL make export TO=drm-ci OUT="$1" ORIGIN="file://$TSR_TOP" </dev/null 2>&1; }
refused() { ! exported "$TSR_TOP/tests" | tee /dev/stderr | grep -q tessera.yml; }
check "what is no kernel tree is refused" refused
check "the job is written" exported "$dir"
included() { [ "$(grep -c '^  - drivers/gpu/drm/ci/tessera.yml$' "$ci/gitlab-ci.yml")" = 1 ] && diff <(sed '/tessera.yml/d' "$ci/gitlab-ci.yml") "$source/drivers/gpu/drm/ci/gitlab-ci.yml"; }
check "the tree's CI includes it once, and is the same otherwise" included
valid() { /usr/bin/python3 -c 'import sys, yaml; job = yaml.safe_load(open(sys.argv[1]))["tessera:none"]; assert job["stage"] == "software-driver"' "$ci/tessera.yml"; }
if /usr/bin/python3 -c 'import yaml' 2>/dev/null; then check "it is YAML" valid; else skip "it is YAML" "python3-yaml is not installed"; fi
untouched() { ! exported "$dir" | tee /dev/stderr | grep -qx "$ci/tessera.yml"; }
check "a job that is there is not written over" untouched

# steps PROGRAMS: run the job on these
steps() {
    tests/distros/recipes.py drm-ci "$dir" <"$ci/tessera.yml" | sed -e '/^apt-get /d' -e "s|^export IGT_PROGRAMS=.*|export IGT_PROGRAMS='$1'|" >"$dir.sh" &&
        grep -q '^git clone ' "$dir.sh" && rm -rf "$dir/tessera-ci" && mkdir "$dir/tessera-ci" && ln -s "$CACHE" "$dir/tessera-ci/cache" &&
        env -u MAKEFLAGS -u MAKELEVEL -u TESTS -u TSR_TOP -u TSR_BUILD -u PYTHONPATH bash "$dir.sh" </dev/null >"$dir.log" 2>&1
}
passes() { steps 'core_auth core_getversion' && grep -q ' ok .*igt@core_auth@' "$dir.log" && grep -q ' passed, 0 failed, ' "$dir.log" || { tail -n 40 "$dir.log"; return 1; }; }
check "its steps build this tree's kernel and run IGT" passes
wrong() { echo 'core_getversion@basic,Fail' >>"$ci/xfails/tessera-none-fails.txt"; ! steps core_getversion && grep -q 'Pass, expected Fail' "$dir.log" || { tail -n 40 "$dir.log"; return 1; }; }
check "the expectations are those of the tree" wrong
results() { find "$CACHE"/build/tessera-*/results-debug -name igt.xml -newer "$dir.sh" | grep -q .; }
check "there is a JUnit file" results
rm -rf "$dir" "$dir".*
ktap_finish
