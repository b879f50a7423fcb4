#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=36000
"""dEQP's Vulkan cases on the device in their own process.

TSR_DEQP names a build of VK-GL-CTS with external/vulkancts/modules/vulkan/deqp-vk. One case of TSR_DEQP_PART (50) runs,
selected by a hash of its name, so it is the same one in each run and in each version of the suite. TSR_DEQP_CASES holds
patterns of the cases to select from. deqp.txt lists the known failures.

The cases are those of the source's list vk-default. If the source has no such list, it is made as the suite does: all cases
of the program without those that the sources of the list exclude.

Cases that open a window run if DISPLAY (WAYLAND_DISPLAY) names a display server. It must not reset itself when its last
client leaves (Xvfb -noreset).

The result of each case is left in the file deqp-vulkan.txt of the results directory.
"""

import fnmatch
import glob
import hashlib
import os
import re
import sys
import tempfile
import time

import vkglcts
from tap import Tap

TOP = os.environ["TSR_TOP"]
VULKAN = os.environ.get("TSR_VULKAN", "")
BUILD = os.environ["TSR_BUILD"]
HERE = os.path.join(TOP, "tests", "vulkan")
TSR_HOST = os.path.join(BUILD, "userspace", "bin", "tsr-host")
MUSTPASS = "external/vulkancts/mustpass/*"          # in the source
EXCLUDED = ("test-issues.txt", "excluded-tests.txt", "android-tests.txt", "waivers.txt")
SEED = "1"          # for the hash
# Cases that open a window, and the variable that names its display server.
WINDOWS = {re.compile(r".*\.(xlib|xcb)\."): "DISPLAY", re.compile(r".*\.wayland\."): "WAYLAND_DISPLAY"}

tap = Tap()


def module_of(build):
    return vkglcts.Module(os.path.join(build, "external/vulkancts/modules/vulkan/deqp-vk"),
                          [TSR_HOST, os.path.join(VULKAN, "tsr-vulkan")], ["--deqp-shadercache=disable"], 200,
                          TESSERA_VK="experimental", MESA_SHADER_CACHE_DISABLE="1", TSR_HOST_THREADS="1")


def words_of(path):
    """The words of a file without its comments."""
    with open(path) as f:
        return [word for line in f for word in line.partition("#")[0].split()]


def in_list(path):
    """The cases of a list, which may name other lists."""
    for word in words_of(path):
        yield from in_list(os.path.join(os.path.dirname(path), word)) if word.endswith(".txt") else [word]


def in_program(module):
    """All cases that the program has."""
    with tempfile.TemporaryDirectory(prefix="tessera-deqp-") as directory:
        path = os.path.join(directory, "list")
        process = module.start(directory, "--deqp-runmode=txt-caselist", "--deqp-caselist-export-file=" + path)
        said = process.communicate()[0]
        if process.returncode:
            raise RuntimeError(said.decode(errors="replace")[-2000:])
        with open(path) as f:
            return re.findall(r"^TEST: (\S+)$", f.read(), re.M)


def required(module, source):
    """The cases that a conformant driver passes, and where the list comes from."""
    lists = glob.glob(os.path.join(source, MUSTPASS, "vk-default.txt"))
    if lists:
        return list(in_list(lists[0])), "vk-default"
    patterns = [word for name in EXCLUDED for path in glob.glob(os.path.join(source, MUSTPASS, "src", name))
                for word in words_of(path)]
    excluded = re.compile("|".join(map(fnmatch.translate, patterns)) or r"(?!)")
    return [case for case in in_program(module) if not excluded.match(case)], "the program's cases"


def chosen(cases, part):
    """The cases whose hash selects them."""
    wanted = os.environ.get("TSR_DEQP_CASES", "").split()
    pattern = re.compile("|".join(map(fnmatch.translate, wanted)) or "")
    return [case for case in cases if pattern.match(case) and
            int.from_bytes(hashlib.sha256((SEED + case).encode()).digest()[:8], "big") % part == 0]


def without_windows(cases):
    """The cases that need no display server, or one that is there."""
    for pattern, variable in WINDOWS.items():
        if variable not in os.environ:
            kept = [case for case in cases if not pattern.match(case)]
            if len(kept) < len(cases):
                tap.note(f"{len(cases) - len(kept)} cases are left out: {variable} is not set")
            cases = kept
    return cases


def write_results(results):
    path = os.path.join(BUILD, "results-mesa", "deqp-vulkan.txt")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + ".new", "w") as f:
        for case, (result, said) in results.items():
            f.write(f"{case} {result} {' '.join(said.split())[-300:]}\n")
    os.rename(path + ".new", path)
    return path


def say_figures(results):
    """Figures of each group, and those of its parts that are mostly unsupported."""
    for group, members in vkglcts.groups_of(results, 2).items():
        tap.note(f"{group}: {vkglcts.Figures(members)}")
        for name, part in vkglcts.groups_of(members, 3).items():
            figures = vkglcts.Figures(part)
            if 2 * figures.unsupported > figures.cases:
                reasons = {said.splitlines()[-1].partition(" at ")[0] for result, said in part.values()
                           if result == "NotSupported"}
                tap.note(f"    mostly not supported: {name}: {figures.unsupported} of {figures.cases}: "
                         f"{'; '.join(sorted(reasons)[:2])[:200]}")


def main():
    build, part = os.environ.get("TSR_DEQP", ""), int(os.environ.get("TSR_DEQP_PART") or 50)
    module = module_of(build)
    if not build or not module.exists():
        with tap.test("dEQP"):
            tap.skip(f"there is no {module.program}" if build else "DEQP=DIR names no build of VK-GL-CTS")
        return tap.finish()
    start = time.monotonic()
    cases, origin = required(module, vkglcts.source_of(build))
    selected = chosen(cases, part)
    tap.note(f"{len(selected)} of {len(cases)} cases ({origin})")
    results = module.results(without_windows(selected))
    fails = vkglcts.known_failures(os.path.join(HERE, "deqp.txt"))
    for group, members in vkglcts.groups_of(results, 2).items():
        vkglcts.judge(tap, group, members, fails)
    say_figures(results)
    tap.note(f"dEQP-VK: {vkglcts.Figures(results)}; {time.monotonic() - start:.0f} s; each result in {write_results(results)}")
    return tap.finish()


sys.exit(main())
