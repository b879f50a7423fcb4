#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare the device with llvmpipe of Debian 13's Mesa: the scenes of bench/host/gfx, and the operations of bench/ops.

    compare.py --peer SCRIPT [--gfx PROGRAM] [--ops PROGRAM --ours COMMAND] [--threads '1 4'] [--only 'PATTERN ...']

Scenes are drawn by libtessera and by llvmpipe in one process. Operations are OpenGL programs: one process runs them
with the Mesa driver on the device, another with llvmpipe, and the two take turns. A ratio above 1 means that the
device is faster. With one thread it is of processor time, on one processor; with more it is of time, on as many
processors. Pictures that differ are reported, and such a line does not count.

Lines are "gfxN_NAME_to_llvmpipe R ratio" and "opN_NAME_to_llvmpipe R ratio", with N threads.
"""

import argparse
import array
import fnmatch
import math
import os
import re
import shlex
import statistics
import subprocess
import sys
import tempfile

RUNS = 5
# A pixel that differs by more than this in a component is another pixel; so many in a hundred may be. Only one of the
# two drivers dithers a target of five bits.
FAR, FAR_SHARE = 0.02, 1.0
FAR_OF = {"out_rgb565": 0.07}
# Noise of the last bits of sin() is all that these show.
UNSTABLE = {"frag_call_noise"}


class Ops:
    """The program bench/ops on one driver."""

    def __init__(self, command, threads, environment):
        def pin():
            os.sched_setaffinity(0, set(sorted(os.sched_getaffinity(0))[:threads]))
        clock = {"OPS_CLOCK": "cpu"} if threads == 1 else {}
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, preexec_fn=pin,
                                        env={**os.environ, "MESA_SHADER_CACHE_DISABLE": "true", **clock, **environment})
        self.renderer = self.line()

    def line(self):
        text = self.process.stdout.readline()
        if not text:
            sys.exit(f"compare.py: the program of operations ended with status {self.process.wait()}")
        return text.rstrip("\n")

    def ask(self, request):
        self.process.stdin.write(request + "\n")
        self.process.stdin.flush()
        return self.line()

    def names(self):
        found = [self.ask("list")]
        while found[-1] != ".":
            found.append(self.line())
        return found[:-1]

    def picture(self, path):
        if self.ask(f"picture {path}") != "ok":
            return None
        values = array.array("f")
        with open(path, "rb") as f:
            values.frombytes(f.read())
        return values

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def difference(a, b, limit):
    """What is wrong between two pictures, or None."""
    if a is None or b is None:
        return None
    far = sum(1 for i in range(0, len(a), 4) if any(not abs(a[i + c] - b[i + c]) <= limit for c in range(4)))
    share = 400 * far / len(a)
    return f"{share:.1f} % of the pixels differ" if share > FAR_SHARE else None


def compare_operation(name, ours, theirs, directory):
    """The median ratio, and what is wrong with the picture."""
    for side in (ours, theirs):
        side.ask(f"begin {name}")
    ratios = []
    for _ in range(RUNS):
        their = float(theirs.ask("time"))
        ratios.append(their / float(ours.ask("time")))
    pictures = [side.picture(os.path.join(directory, "picture")) for side in (ours, theirs)]
    for side in (ours, theirs):
        side.ask("end")
    return statistics.median(ratios), None if name in UNSTABLE else difference(*pictures, FAR_OF.get(name, FAR))


def operations(args, threads):
    """{name: ratio} of the operations with that many threads; prints each."""
    environment = {"LP_NUM_THREADS": str(0 if threads == 1 else threads), "TSR_HOST_THREADS": str(0 if threads == 1 else threads)}
    theirs = Ops([args.peer, args.ops], threads, environment)
    ours = Ops([*shlex.split(args.ours), args.ops], threads, environment)
    print(f"# operations: {ours.renderer} against {theirs.renderer}, {threads} thread(s)", flush=True)
    found = {}
    with tempfile.TemporaryDirectory(prefix="tessera-bench-") as directory:
        for name in ours.names():
            if not any(fnmatch.fnmatch(name, pattern) for pattern in args.only):
                continue
            ratio, wrong = compare_operation(name, ours, theirs, directory)
            if wrong:
                print(f"# op{threads}_{name}: not counted: {wrong}", flush=True)
                continue
            found[name] = ratio
            print(f"op{threads}_{name}_to_llvmpipe {ratio:.3f} ratio", flush=True)
    ours.close()
    theirs.close()
    return found


def scenes(args, threads):
    """{name: ratio} of the scenes with that many threads; passes on what the program prints."""
    found = {}
    with subprocess.Popen([args.peer, args.gfx, str(threads)], stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            print(line, end="", flush=True)
            match = re.match(r"gfx\d+_(\w+)_to_llvmpipe ([\d.]+)", line)
            # a new pipeline is compiled by different compilers from different sources, and reading is no scene
            if match and match[1] not in ("link_draw", "readpixels"):
                found[match[1]] = float(match[2])
    return found


def summary(kind, threads, ratios):
    if not ratios:
        return
    mean = math.exp(statistics.fmean(math.log(r) for r in ratios.values()))
    worst = min(ratios, key=ratios.get)
    print(f"{kind}{threads}_mean_to_llvmpipe {mean:.3f} ratio")
    print(f"{kind}{threads}_worst_to_llvmpipe {ratios[worst]:.3f} ratio")
    print(f"# {kind}{threads}: geometric mean of {len(ratios)}; the worst is {worst}", flush=True)


def default_threads():
    processors = len(os.sched_getaffinity(0))
    return sorted({1, min(4, processors), processors})


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--peer", required=True, help="script that runs a program with llvmpipe (peer.sh)")
    p.add_argument("--gfx", help="the program of scenes")
    p.add_argument("--ops", help="the program of operations")
    p.add_argument("--ours", default="", help="command that runs a program with the Mesa driver on the device")
    p.add_argument("--threads", default="", help="numbers of threads; default: 1, 4 and all")
    p.add_argument("--only", default="*", help="patterns of operations")
    args = p.parse_args()
    args.only = args.only.split()
    for threads in [int(n) for n in args.threads.split()] or default_threads():
        if args.gfx:
            summary("gfx", threads, scenes(args, threads))
        if args.ops:
            found = operations(args, threads)
            # Updates measure the driver and the submission of jobs, and have figures of their own.
            updates = {name: found.pop(name) for name in list(found) if name.startswith("update_")}
            summary("op", threads, found)
            summary("update", threads, updates)


if __name__ == "__main__":
    main()
