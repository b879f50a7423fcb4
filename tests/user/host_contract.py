#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=600
"""The guest's test programs under tsr-host: what they assert of the driver holds for the one in the process, too.

Every program of tests/guest is in one of two lists: those that run, each with the tests that cannot hold there and
why (they have to fail: a list that says too much is an error), and those that cannot run at all.
"""

import glob
import os
import subprocess
import sys
import tempfile

from ktap import Program
from tap import Tap

TOP = os.environ["TSR_TOP"]
BUILD = os.environ["TSR_BUILD"]
BIN = os.path.join(BUILD, "userspace", "bin")
GUEST = os.path.join(BUILD, "guest", "tests", "guest")

FORK = "a child has none of its parent's devices"
PARAMETERS = "there are no module parameters"
PURGE = "memory is never short"
FDINFO = "there is no fdinfo"
USER = "files are opened with the rights of the program, which are not those of a node"

# program: {start of a test's name without its ledger IDs: why it fails}
RUN = {
    "bind_order": {
        "one bind writes so many entries and no more": "a bind may write as many as there is memory for",
    },
    "checkpoint": {},
    "commands": {"an interrupt tells the end of a job": "there is no /proc/interrupts"},
    "commands_bad": {},
    "compute_basics": {},
    "compute_faults": {},
    "compute_views": {},
    "copy": {},
    "descriptors": {},
    "dmabuf_fences": {},
    "draw_compressed": {},
    "draw_fragments": {},
    "draw_geometry": {},
    "draw_mixed": {},
    "draw_paths": {},
    "draw_tags": {},
    "draw_targets": {},
    "draw_tex_cache": {},
    "draw_textures": {},
    "engines": {},
    "gfx_demos": {},
    "gfx_heap": {},
    "ioctl_bo": {"mmap: of local memory": "local memory is memory like any other, with no VMA flags of a device's"},
    "ioctl_common": {"all ioctls of a program of 32 bits": "the library has 64 bits"},
    "ioctl_heap": {},
    "ioctl_perfmon": {},
    "ioctl_query": {"priority_mask is that of the caller": FORK},
    "ioctl_queue": {"QUEUE_CREATE of HIGH without the right": FORK},
    "ioctl_submit": {"a fault between jobs that end": PARAMETERS},
    "ioctl_vm": {},
    "ioctl_vm_bind": {},
    "isolation": {},
    "isolation_culprits": {},
    "lib_commands": {},
    "lib_objects": {"libtessera without permission": USER},
    "lib_photo": {
        "photo: broken and hostile files": "what is too large depends on the memory of the machine",
        "photo and tsr-info without permission": USER,
    },
    "lib_syncs": {},
    "madvise": {
        "advice without pressure changes nothing": FDINFO,
        "a purged BO is gone": PURGE,
        "what a job or a bind uses is not purged": PURGE,
        "local memory is not purged": PURGE,
        "more BOs than memory": PURGE,
        "fdinfo: engine time, cycles and memory": FDINFO,
        "fdinfo: engine time never goes backwards": FDINFO,
    },
    "memory": {"a large page of local memory": "where a table of small pages is, it stays"},
    "prime": {},
    "quotas": {
        "page tables: as much as the file may": "tables stay until the VM goes",
        "fdinfo shows heaps, rings and page tables": FDINFO,
    },
    "races": {},
    "rings": {},
    "syncobjs": {},
}

# Tests of the kernel or the machine, which do not run here, with the reason.
NOT = {
    "all_ones": "the device injects no faults",
    "checked": "the device's contract checker is off",
    "compute_checkpoint": "it is run by a test of snapshots",
    "compute_demos": "it works on a picture of the guest's; host_demos.py runs the same demos",
    "compute_hang": PARAMETERS,
    "compute_unplug": "nothing is unplugged",
    "contract": "the device injects no faults, and there are no resets",
    "deadline": "a deadline is accepted and has no effect",
    "devices": "there is one device",
    "drm_core": "it is about the kernel's authentication, masters, dumb buffers and fdinfo",
    "dump": "there are no device core dumps",
    "endings": "the device injects no faults",
    "evict": "nothing is evicted",
    "evict_bind": "nothing is evicted",
    "evict_dmem": "there are no control groups",
    "evict_many": "nothing is evicted",
    "evict_mixed": "nothing is evicted",
    "evict_shown": "it is about the kernel's mode setting",
    "evict_swap": "nothing is evicted",
    "faults_load": "the device injects no faults",
    "fuzz_ioctls": FORK,
    "gpu_top": FDINFO,
    "hang": PARAMETERS,
    "hotplug": "nothing is unplugged",
    "inject": "the device injects no faults",
    "interop": "there is no other device",
    "iommu": "there is no IOMMU",
    "ioctl_promises": "it injects faults of the device",
    "isolation_ids": "its end waits for an address space that the device does not confirm to have let go",
    "kms_basic": "it is about the kernel's mode setting",
    "kms_memory": "it is about the kernel's mode setting",
    "kms_recovery": "it is about the kernel's mode setting",
    "kms_render": "it is about the kernel's mode setting",
    "ladder": "there are no resets of the device",
    "leaks": "it counts the kernel's memory",
    "lib_unplug": "nothing is unplugged",
    "mmap_split": "it is about the kernel's fault handlers",
    "observe": "there is no debugfs, and no trace points",
    "out_of_reach": "there are no resets of the device",
    "pairs": "nothing is unplugged or suspended, and nothing is reset by hand",
    "pci_errors_load": "there is no PCI",
    "recovery": "there are no resets of the device",
    "runtime_pm": "there is no power management",
    "sched_engine": PARAMETERS,
    "sched_reset": PARAMETERS,
    "small_gpu": "it is about a device with fewer slots",
    "suspend": "there is no power management",
    "telemetry": "the device injects no faults",
    "view": "it works on models of the guest's; host_demos.py runs tsr-view",
    "windows": "there is no driver that sleeps in its windows",
    "windows_memory": "there is no driver that sleeps in its windows",
}

tap = Tap()


def run(name, directory):
    """What a program prints under tsr-host, and its status."""
    environment = dict(os.environ, PATH=f"{BIN}:{GUEST}:{os.environ['PATH']}",
                       LD_LIBRARY_PATH=os.path.join(BUILD, "userspace", "lib"))
    done = subprocess.run([os.path.join(BIN, "tsr-host"), "--vram", "64M", os.path.join(GUEST, name)],
                          cwd=directory, env=environment,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
    return done.stdout.decode(errors="replace"), done.returncode


def plain(name):
    """A test's name without the IDs it cites."""
    while name.startswith("["):
        name = name.partition("] ")[2]
    return name


def judge(text, status, known):
    """Compare a program's results with what is known to fail."""
    program = Program(text)
    left = dict(known)
    for problem in program.problems:
        tap.fail(problem)
    for result in program.results:
        listed = [k for k in left if plain(result.name).startswith(k)]
        # a test that this machine cannot run says nothing
        if result.status in ("failed", "skipped") and listed:
            del left[listed[0]]
        elif result.status == "failed":
            tap.fail(f"fails: {result.name}")
    for name, reason in left.items():
        tap.fail(f"'{name}' is said to fail ({reason}) and does not")
    if tap.bad:
        tap.note(text[-6000:])
        tap.note(f"status {status}")


with tempfile.TemporaryDirectory(prefix="tessera-host-") as out:
    with tap.test("each program of the guest's tests runs here, or there is a reason"):
        there = {os.path.basename(path)[:-2] for path in glob.glob(os.path.join(TOP, "tests", "guest", "[!l]*", "*.c"))}
        tap.eq(sorted(there - RUN.keys() - NOT.keys()), [], "in no list")
        tap.eq(sorted((RUN.keys() | NOT.keys()) - there), [], "in a list and not there")

    for program_name, known_failures in RUN.items():
        with tap.test(f"under tsr-host: {program_name}"):
            judge(*run(program_name, out), known_failures)

sys.exit(tap.finish())
