#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=300
"""Vulkan programs of our own on the device in their own process. Each checks the values that it gets; the validation
layers, with checks of synchronization, must find nothing.

"tsr-host: OPTIONS" in a program's comment is what it wants of the device. "says: PATTERN" is what must be in its
output. "layers: none" leaves the validation layers out.
NAME.comp is a compute shader that becomes the array NAME in NAME.h, NAME.vert and NAME.frag become NAME_vert and
NAME_frag. "target: vulkan1.1" in a shader's comment is the version that it is for, if not 1.0."""

import glob
import os
import re
import subprocess
import sys
import tempfile

from ktap import Program
from tap import Tap

TOP = os.environ["TSR_TOP"]
VULKAN = os.environ.get("TSR_VULKAN", "")
GLSLANG = os.environ["TSR_GLSLANG"]
HERE = os.path.join(TOP, "tests", "vulkan")
TSR_HOST = os.path.join(os.environ["TSR_BUILD"], "userspace", "bin", "tsr-host")
RUN = os.path.join(VULKAN, "tsr-vulkan")
OPT_IN = {"TESSERA_VK": "experimental"}
LAYER = {
    "VK_INSTANCE_LAYERS": "VK_LAYER_KHRONOS_validation",
    "VK_LAYER_ENABLES": "VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT",
}

tap = Tap()


def run(command, options=(), limit=100, **env):
    """Status and output of a command on a device of its own."""
    clean = {name: value for name, value in os.environ.items() if name != "TESSERA_VK"}
    done = subprocess.run([TSR_HOST, *options, RUN, *command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=limit, env=dict(clean, **env))
    return done.returncode, done.stdout.decode(errors="replace")


def compile_with(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        tap.fail(done.stdout)
    return not done.returncode


def build_shaders(out):
    for path in sorted(glob.glob(os.path.join(HERE, "*.comp")) + glob.glob(os.path.join(HERE, "*.vert")) +
                       glob.glob(os.path.join(HERE, "*.frag"))):
        name = os.path.basename(path).replace(".comp", "").replace(".", "_")
        compile_with([GLSLANG, "-V", "--quiet", "--target-env", asked(path, r"target: (\S+)") or "vulkan1.0", "--vn", name, "-o",
                      os.path.join(out, name + ".h"), path])


def build(path, out):
    program = os.path.join(out, os.path.basename(path)[:-2])
    command = ["cc", "-O1", "-Wall", "-Wextra", "-Werror", "-I", os.path.join(HERE, "lib"), "-I",
               os.path.join(TOP, "tests", "lib"), "-I", out, "-o", program, path,
               *glob.glob(os.path.join(HERE, "lib", "*.c")), "-lvulkan", "-lm", "-lpthread"]
    return program if compile_with(command) else None


def asked(path, pattern):
    """What a comment of the program asks for, or ""."""
    with open(path) as f:
        wanted = re.search(pattern, f.read(), re.M)
    return wanted.group(1) if wanted else ""


def judge_output(path, status, text):
    """What a program says, and what it has to say."""
    parsed = Program(text)
    bad = [r.name for r in parsed.results if r.status == "failed"]
    if status or bad or not parsed.results:
        tap.fail(f"status {status}")
        tap.note(text[-6000:])
    says = asked(path, r"says: (.*?)( *\*/)?$")
    if not re.search(says, text):
        tap.fail(f"it does not say: {says}")
        tap.note(text[-4000:])
    tap.note(f"{len(parsed.results)} cases")


def judge(path, out):
    program = build(path, out)
    if not program:
        return
    options = asked(path, r"tsr-host: (--.*?)[ .]*\*/$").split()
    layers = {} if asked(path, r"layers: (none)") else LAYER
    status, text = run([program], options, **OPT_IN, **layers)
    judge_output(path, status, text)


def sources():
    return sorted(glob.glob(os.path.join(HERE, "*.c")))


def judge_vulkaninfo():
    status, text = run(["vulkaninfo"], **OPT_IN)
    tap.eq(status, 0, "status of vulkaninfo")
    for wanted in (r"deviceName *= Tessera \(experimental", r"apiVersion *= 1\.1\.", r"VK_KHR_timeline_semaphore"):
        if not re.search(wanted, text):
            tap.fail(f"vulkaninfo does not say: {wanted}")
    if tap.bad:
        tap.note(text[-4000:])


def judge_refusal():
    status, text = run(["vulkaninfo", "--summary"])
    tap.ok(status != 0, "vulkaninfo finds no driver")
    tap.ok("TESSERA_VK=experimental" in text, "the driver says how it is enabled")
    tap.ok("Tessera (experimental" not in text, "there is no device")


def main():
    with tap.test("Vulkan: vulkaninfo"):
        judge_vulkaninfo()
    with tap.test("Vulkan: without the variable there is no device"):
        judge_refusal()
    with tempfile.TemporaryDirectory(prefix="tessera-vulkan-") as out:
        build_shaders(out)
        for path in sources():
            with tap.test(f"Vulkan: {os.path.basename(path)[:-2]}"):
                judge(path, out)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
