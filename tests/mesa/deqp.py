#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=36000
"""dEQP's lists of what OpenGL ES 2, 3 and 3.1 must pass, on the device in their own process, by way of Mesa.

TSR_DEQP names a build of VK-GL-CTS (with modules/gles2/deqp-gles2 and so on; its target is surfaceless, or another one with
EGL's pbuffers), which is not ours to bring. The lists are its source's. Of each list one case of TSR_DEQP_PART (20) runs,
by chance, but the same ones each time; 1 is all of them. deqp.txt has a case a line, and after " # " why it is known to fail;
that it passes then is an error. Of a pattern ("*") of cases some may pass.
"""

import os
import random
import sys
import time

import vkglcts
from tap import Tap

TOP = os.environ["TSR_TOP"]
MESA = os.environ["TSR_MESA"]
HERE = os.path.join(TOP, "tests", "mesa")
TSR_HOST = os.path.join(os.environ["TSR_BUILD"], "userspace", "bin", "tsr-host")
LISTS = "external/openglcts/data/gl_cts/data/mustpass/gles/aosp_mustpass/main"    # in the source
MODULES = ("gles2", "gles3", "gles31")
SEED = 1            # of which cases run
# The window that the lists assume.
OPTIONS = ("--deqp-surface-type=pbuffer", "--deqp-gl-config-name=rgba8888d24s8ms0", "--deqp-surface-width=256",
           "--deqp-surface-height=256")

tap = Tap()


def module_of(build, name):
    return vkglcts.Module(os.path.join(build, "modules", name, "deqp-" + name), [TSR_HOST, os.path.join(MESA, "tsr-mesa")],
                          OPTIONS, MESA_SHADER_CACHE_DISABLE="1", TSR_HOST_THREADS="1")


def chosen(path, part):
    """One case of so many of a list, in its order."""
    with open(path) as f:
        cases = f.read().split()
    return [cases[i] for i in sorted(random.Random(SEED).sample(range(len(cases)), -(-len(cases) // part)))]


def run_list(module, path, name, part):
    """A module's list."""
    start = time.monotonic()
    results = module.results(chosen(path, part))
    fails = vkglcts.known_failures(os.path.join(HERE, "deqp.txt"))
    for group, members in vkglcts.groups_of(results, 3).items():
        vkglcts.judge(tap, group, members, fails)
    figures = vkglcts.Figures(results)
    tap.note(f"deqp-{name}: {figures}; {', '.join(f'{n} {r}' for r, n in figures.counts.most_common())}; "
             f"{time.monotonic() - start:.0f} s")


def main():
    build, part = os.environ.get("TSR_DEQP", ""), int(os.environ.get("TSR_DEQP_PART") or 20)
    if not build:
        with tap.test("dEQP"):
            tap.skip("DEQP=DIR names no build of VK-GL-CTS")
        return tap.finish()
    lists = os.path.join(vkglcts.source_of(build), LISTS)
    for name in MODULES:
        module = module_of(build, name)
        if module.exists():
            run_list(module, os.path.join(lists, name + "-main.txt"), name, part)
            continue
        with tap.test("deqp-" + name):
            tap.skip(f"there is no {module.program}")
    return tap.finish()


sys.exit(main())
