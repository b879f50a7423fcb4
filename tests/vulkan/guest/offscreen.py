#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=1800
"""The Vulkan programs of tests/vulkan on the driver of the kernel, all in one guest.

TSR_VULKAN_SHARE is what userspace/mesa/share_vulkan.sh made. TSR_VULKAN_PROGRAMS='NAME ...' runs only these."""

import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from guest import Guest  # noqa: E402
import programs as own  # noqa: E402
from tap import Tap  # noqa: E402

tap = own.tap = Tap()
SHARE = os.environ["TSR_VULKAN_SHARE"]
LIMIT = 600         # seconds for a program, on a host that has other things to do
COMPLAINTS = "WARNING:|BUG:|Oops|blocked for more|rcu.*stall|fencewatch.*(violation|report)"


def run(guest, command):
    """(status, output) of a command in the packages' root."""
    done = guest.run(f"/mnt/debian {command} 2>&1", LIMIT)
    return done.status, done.stdout.decode(errors="replace")


def info(guest):
    status, text = run(guest, "vulkaninfo --summary")
    tap.eq(status, 0, "status of vulkaninfo")
    tap.ok("Tessera (experimental" in text, "the driver finds the kernel's device")


def wanted():
    """The sources of the programs that were asked for; each of these must exist."""
    sources = {os.path.basename(path)[:-2]: path for path in own.sources()}
    return [sources[name] for name in os.environ.get("TSR_VULKAN_PROGRAMS", "").split() or sources]


def main():
    with tempfile.TemporaryDirectory(prefix="tessera-vulkan-") as shaders, Guest(device_args="vram=64M", share=SHARE, boot_limit=900) as guest:
        own.build_shaders(shaders)
        with tap.test("Vulkan in a guest: vulkaninfo"):
            info(guest)
        for path in wanted():
            name = os.path.basename(path)[:-2]
            with tap.test(f"Vulkan in a guest: {name}"):
                program = own.build(path, shaders)
                if program:
                    os.replace(program, os.path.join(SHARE, "out", name))
                    own.judge_output(path, *run(guest, f"/mnt/{name}"))
        with tap.test("Vulkan in a guest: the kernel has nothing to say"):
            tap.eq(guest.run(f"dmesg | grep -E '{COMPLAINTS}'").stdout.decode(), "")
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
