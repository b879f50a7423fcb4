#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ci_recipe.py github|gitlab|drm-ci [ADDRESS]: print a CI job that runs a command, or IGT, in a guest with a Tessera GPU.

ADDRESS is where the job clones Tessera from, by default that of the checkout's remote "origin"."""

import os
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

GITHUB = """\
# .github/workflows/gpu.yml. Needs the service: the lines with "uses:".
on: [push, pull_request]
jobs:
  gpu:
    runs-on: ubuntu-latest
    container: debian:trixie
    env:
      TESSERA_CACHE: ${{ github.workspace }}/tessera-cache
      COMMAND: hello && tsr-info
    steps:
      - uses: actions/checkout@v4
      - uses: actions/cache@v4
        with: { path: tessera-cache, key: tessera }
      - run: apt-get update && apt-get -y install git make
      - run: git clone --depth 1 @ADDRESS@ tessera
      - run: make -C tessera ci CMD="$COMMAND" OUT="$GITHUB_WORKSPACE/tessera-out"
      - uses: actions/upload-artifact@v4
        if: always()
        with: { name: tessera, path: tessera-out }
"""

GITLAB = """\
# .gitlab-ci.yml. Needs the service: "image:", "cache:" and "artifacts:".
gpu:
  image: debian:trixie
  cache: { key: tessera, paths: [tessera-cache/] }
  variables:
    TESSERA_CACHE: $CI_PROJECT_DIR/tessera-cache
    COMMAND: hello && tsr-info
  script:
    - apt-get update && apt-get -y install git make
    - git clone --depth 1 @ADDRESS@ tessera
    - make -C tessera ci CMD="$COMMAND" OUT="$CI_PROJECT_DIR/tessera-out"
  artifacts: { when: always, paths: [tessera-out] }
"""
# The kernel under test is that of the tree in which the job runs.
DRM_CI = """\
# SPDX-License-Identifier: MIT
#
# IGT's generic tests on a Tessera GPU in QEMU, with this tree's kernel. Needs the service: "extends:", "image:", "cache:"
# and "artifacts:". IGT_PROGRAMS chooses programs, as in 'kms_atomic core_hotunplug@hotunplug-*'.
tessera:none:
  stage: software-driver
  extends: .test-rules
  image: debian:trixie
  needs: []
  before_script: []
  cache: { key: tessera, paths: [tessera-ci/cache/] }
  variables:
    TESSERA_CACHE: $CI_PROJECT_DIR/tessera-ci/cache
    IGT_PROGRAMS: ''
  script:
    - apt-get update && apt-get -y install git make
    - git clone --depth 1 @ADDRESS@ tessera-ci/tessera
    - make -C tessera-ci/tessera check-igt KERNEL="$CI_PROJECT_DIR" IGT_XFAILS="$CI_PROJECT_DIR/drivers/gpu/drm/ci/xfails" IGT_PROGRAMS="$IGT_PROGRAMS"
  artifacts:
    when: always
    paths: [tessera-ci/cache/build/*/results-debug]
    reports: { junit: tessera-ci/cache/build/*/results-debug/igt.xml }
"""
RECIPES = {"github": GITHUB, "gitlab": GITLAB, "drm-ci": DRM_CI}


def origin():
    found = subprocess.run(["git", "-C", TOP, "remote", "get-url", "origin"], capture_output=True, text=True, check=False)
    if found.returncode:
        sys.exit("ci_recipe.py: the checkout has no remote \"origin\": name the address to clone from, ORIGIN=URL")
    return found.stdout.strip()


def main():
    if len(sys.argv) not in (2, 3) or sys.argv[1] not in RECIPES:
        print("usage: make export TO=github|gitlab|drm-ci [ORIGIN=URL]", file=sys.stderr)
        sys.exit(2)
    print(RECIPES[sys.argv[1]].replace("@ADDRESS@", sys.argv[2] if len(sys.argv) > 2 else origin()), end="")


if __name__ == "__main__":
    main()
