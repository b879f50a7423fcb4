#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=36000
"""dEQP's lists of what OpenGL ES 2, 3 and 3.1 must pass, on the device in their own process, by way of Mesa.

TSR_DEQP names a build of VK-GL-CTS (with modules/gles2/deqp-gles2 and so on; its target is surfaceless, or another one with
EGL's pbuffers), which is not ours to bring. The lists are its source's. Of each list one case of TSR_DEQP_PART (20) runs,
by chance, but the same ones each time; 1 is all of them. deqp.txt has a case a line, and after " # " why it is known to fail;
that it passes then is an error. Of a pattern ("*") of cases some may pass.
"""

import collections
import concurrent.futures
import fnmatch
import os
import random
import re
import select
import signal
import subprocess
import sys
import tempfile
import time

from tap import Tap

TOP = os.environ["TSR_TOP"]
MESA = os.environ["TSR_MESA"]
HERE = os.path.join(TOP, "tests", "mesa")
TSR_HOST = os.path.join(os.environ["TSR_BUILD"], "userspace", "bin", "tsr-host")
LISTS = "external/openglcts/data/gl_cts/data/mustpass/gles/aosp_mustpass/main"    # in the source
MODULES = ("gles2", "gles3", "gles31")
SEED = 1            # of which cases run
BATCH = 100         # cases that a process runs
# seconds for a case; more where the host has other things to do
LIMIT = 120 * max(1, min(5, os.getloadavg()[0] / os.cpu_count()))
BEGINS = re.compile(r"Test case '(\S+)'\.\.")
ENDS = re.compile(r"  (\w+) \((.*)\)$")
# The window that the lists assume, and no pictures in the log.
OPTIONS = ("--deqp-surface-type=pbuffer", "--deqp-gl-config-name=rgba8888d24s8ms0", "--deqp-surface-width=256",
           "--deqp-surface-height=256", "--deqp-log-images=disable", "--deqp-log-shader-sources=disable",
           "--deqp-log-flush=disable")
GOOD = ("Pass", "QualityWarning", "CompatibilityWarning", "Waived")

tap = Tap()


def source_of(build):
    """Where the build's source is, by what CMake noted."""
    with open(os.path.join(build, "CMakeCache.txt")) as f:
        return re.search(r"^CMAKE_HOME_DIRECTORY:INTERNAL=(.*)$", f.read(), re.M).group(1)


def program_of(build, name):
    return os.path.join(build, "modules", name, "deqp-" + name)


def chosen(path, part):
    """One case of so many of a list, in its order."""
    with open(path) as f:
        cases = f.read().split()
    return [cases[i] for i in sorted(random.Random(SEED).sample(range(len(cases)), -(-len(cases) // part)))]


class Process:
    """A module that runs cases, line by line."""

    def __init__(self, program, directory, cases):
        names = os.path.join(directory, "cases")
        with open(names, "w") as f:
            f.write("".join(case + "\n" for case in cases))
        environment = dict(os.environ, MESA_SHADER_CACHE_DISABLE="1", TSR_HOST_THREADS="1")
        self.process = subprocess.Popen(
            [TSR_HOST, os.path.join(MESA, "tsr-mesa"), program, "--deqp-caselist-file=" + names,
             "--deqp-log-filename=" + os.path.join(directory, "log.qpa"), *OPTIONS],
            cwd=os.path.dirname(program), env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, start_new_session=True)
        self.rest = b""

    def lines(self):
        """What it prints; TimeoutError when it prints nothing for too long."""
        pipe = self.process.stdout.fileno()
        while select.select([pipe], [], [], LIMIT)[0]:
            read = os.read(pipe, 1 << 16)
            if not read:
                return
            *whole, self.rest = (self.rest + read).split(b"\n")
            yield from (line.decode(errors="replace") for line in whole)
        raise TimeoutError

    def end(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.stdout.close()
        return self.process.wait()


def run_once(program, cases):
    """{case: (result, what it said)} of the cases that one process got to: all, or up to one that ends it."""
    results, case, said = {}, cases[0], []
    with tempfile.TemporaryDirectory(prefix="tessera-deqp-") as directory:
        process = Process(program, directory, cases)
        try:
            for line in process.lines():
                begins, ends = BEGINS.match(line), ENDS.match(line)
                if begins:
                    case, said = begins.group(1), []
                elif ends and case not in results:
                    results[case] = ends.group(1), "\n".join([*said[-10:], ends.group(2)])
                else:
                    said.append(line)
            died = "Crash"
        except TimeoutError:
            died = "Timeout"
        finally:
            status = process.end()
    # A process that ends by itself between two cases has nothing to say of either: the next one is blamed.
    if case in results and len(results) < len(cases):
        case = next(c for c in cases if c not in results)
    if case not in results:
        results[case] = died, "\n".join([*said[-10:], f"status {status}"])
    return results


def run(program, cases):
    """{case: (result, what it said)}; who ends the process is alone with it."""
    results = {}
    left = cases
    while left:
        results.update(run_once(program, left))
        left = [case for case in left if case not in results]
    return results


def expected():
    """[(pattern, reason)] of deqp.txt."""
    with open(os.path.join(HERE, "deqp.txt")) as f:
        lines = [line.strip().partition(" # ") for line in f]
    return [(pattern, reason) for pattern, _, reason in lines if pattern and not pattern.startswith("#")]


def judge(group, results, fails):
    """A group of cases as one test."""
    with tap.test(f"{group}: {len(results)} cases"):
        if all(result == "NotSupported" for result, _ in results.values()):
            tap.skip("what they test is not offered")
        for case, (result, said) in results.items():
            pattern, reason = next((f for f in fails if fnmatch.fnmatchcase(case, f[0])), ("", ""))
            if pattern == case and result in GOOD:
                tap.fail(f"{case} is said to fail ({reason}) and does not")
            elif reason and result not in (*GOOD, "NotSupported"):
                tap.note(f"{case}: {result}: {reason}")
            elif result not in (*GOOD, "NotSupported"):
                tap.fail(f"{case}: {result}")
                tap.note(said[-1500:])


def module(build, lists, name, part, pool):
    """A module's list."""
    program = program_of(build, name)
    cases = chosen(os.path.join(lists, name + "-main.txt"), part)
    start = time.monotonic()
    results = {}
    for done in pool.map(lambda i: run(program, cases[i:i + BATCH]), range(0, len(cases), BATCH)):
        results.update(done)
    groups = {}
    for case in cases:
        groups.setdefault(".".join(case.split(".")[:3]), {})[case] = results[case]
    fails = expected()
    for group, members in groups.items():
        judge(group, members, fails)
    counts = collections.Counter(result for result, _ in results.values())
    ran = len(cases) - counts["NotSupported"]
    good = sum(counts[result] for result in GOOD)
    tap.note(f"deqp-{name}: {len(cases)} cases, {counts['NotSupported']} not offered, {ran} ran, {good} passed: "
             f"{100 * good / max(ran, 1):.2f} of 100; {', '.join(f'{n} {r}' for r, n in counts.most_common())}; "
             f"{time.monotonic() - start:.0f} s")


def main():
    build, part = os.environ.get("TSR_DEQP", ""), int(os.environ.get("TSR_DEQP_PART") or 20)
    if not build:
        with tap.test("dEQP"):
            tap.skip("DEQP=DIR names no build of VK-GL-CTS")
        return tap.finish()
    lists = os.path.join(source_of(build), LISTS)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name in MODULES:
            if os.path.exists(program_of(build, name)):
                module(build, lists, name, part, pool)
                continue
            with tap.test("deqp-" + name):
                tap.skip(f"there is no {program_of(build, name)}")
    return tap.finish()


sys.exit(main())
