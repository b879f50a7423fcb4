# SPDX-License-Identifier: MIT
"""Programs of VK-GL-CTS ("dEQP"): run their cases in several processes and judge the results.

The suite is not part of this repository. Its build is a directory of the user, and its source is where it was built from.
A case that ends its process, or prints nothing for LIMIT seconds, fails alone: the remaining cases run in a new process.
"""

import collections
import concurrent.futures
import fnmatch
import os
import re
import select
import signal
import subprocess
import tempfile

# Seconds for a case; more if the host is busy.
LIMIT = 120 * max(1, min(5, os.getloadavg()[0] / os.cpu_count()))
BEGINS = re.compile(r"Test case '(\S+)'\.\.")
# The message may continue on the next line.
ENDS = re.compile(r"  (Pass|Fail|NotSupported|QualityWarning|CompatibilityWarning|Waived|InternalError|ResourceError|Pending) "
                  r"\((.*?)\)?$")
# No pictures in the log.
OPTIONS = ("--deqp-log-images=disable", "--deqp-log-shader-sources=disable", "--deqp-log-flush=disable")
GOOD = ("Pass", "QualityWarning", "CompatibilityWarning", "Waived")
LOST = "VK_ERROR_DEVICE_LOST"


def source_of(build):
    """The source directory, as CMake noted it in the build."""
    with open(os.path.join(build, "CMakeCache.txt")) as f:
        return re.search(r"^CMAKE_HOME_DIRECTORY:INTERNAL=(.*)$", f.read(), re.M).group(1)


def known_failures(path):
    """[(pattern, reason)] of a file: a case or a pattern ("*") a line, then " # " and why it fails."""
    with open(path) as f:
        lines = [line.strip().partition(" # ") for line in f]
    return [(pattern, reason) for pattern, _, reason in lines if pattern and not pattern.startswith("#")]


class Module:
    """A program of the suite, the command before it, its options and environment. A process runs `batch` cases."""

    def __init__(self, program, prefix, options=(), batch=100, **environment):
        self.program, self.prefix, self.options, self.batch = program, prefix, options, batch
        self.environment = dict(os.environ, **environment)

    def exists(self):
        return os.path.exists(self.program)

    def start(self, directory, *options):
        """A process of the module. Its log is in a directory."""
        return subprocess.Popen(
            [*self.prefix, self.program, "--deqp-log-filename=" + os.path.join(directory, "log.qpa"), *OPTIONS,
             *self.options, *options],
            cwd=os.path.dirname(self.program), env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, start_new_session=True)

    def results(self, cases):
        """{case: (result, output)}, in the order of the cases."""
        results = {}
        parts = [cases[i:i + self.batch] for i in range(0, len(cases), self.batch)]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for done in pool.map(lambda part: run(self, part), parts):
                results.update(done)
        return {case: results[case] for case in cases}


def lines_of(process):
    """The lines that a process prints. TimeoutError if it prints nothing for too long."""
    pipe, rest = process.stdout.fileno(), b""
    while select.select([pipe], [], [], LIMIT)[0]:
        read = os.read(pipe, 1 << 16)
        if not read:
            return
        *whole, rest = (rest + read).split(b"\n")
        yield from (line.decode(errors="replace") for line in whole)
    raise TimeoutError


def end(process):
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.stdout.close()
    return process.wait()


def run_once(module, cases):
    """{case: (result, output)} of the cases that one process reached: all, or those up to one that ends it."""
    results, case, said, ends_here = {}, cases[0], [], False
    with tempfile.TemporaryDirectory(prefix="tessera-deqp-") as directory:
        names = os.path.join(directory, "cases")
        with open(names, "w") as f:
            f.write("".join(case + "\n" for case in cases))
        process = module.start(directory, "--deqp-caselist-file=" + names)
        died = "Crash"
        try:
            for line in lines_of(process):
                begins, ends = BEGINS.match(line), ENDS.match(line)
                if begins:
                    case, said = begins.group(1), []
                elif ends and case not in results:
                    results[case] = ends.group(1), "\n".join([*said[-10:], ends.group(2)])
                    # The cases after a lost device have the same VkDevice, unless it was this case's own. After a lack
                    # of resources the program ends by itself.
                    ends_here = ends.group(1) == "ResourceError" or LOST in ends.group(2)
                    if ends_here:
                        break
                else:
                    said.append(line)
        except TimeoutError:
            died = "Timeout"
        finally:
            status = end(process)
    # If the process ended between two cases, the next one counts as the one that ended it.
    if not ends_here and case in results and len(results) < len(cases):
        case = next(c for c in cases if c not in results)
    if case not in results:
        results[case] = died, "\n".join([*said[-10:], f"status {status}"])
    return results


def run(module, cases):
    """{case: (result, output)} of all cases."""
    results = {}
    left = cases
    while left:
        results.update(run_once(module, left))
        left = [case for case in left if case not in results]
    return results


def groups_of(results, depth):
    """{group: {case: (result, output)}} by the first `depth` parts of the names."""
    groups = {}
    for case, result in results.items():
        groups.setdefault(".".join(case.split(".")[:depth]), {})[case] = result
    return groups


def judge(tap, group, results, fails):
    """A group of cases as one test."""
    with tap.test(f"{group}: {len(results)} cases"):
        if all(result == "NotSupported" for result, _ in results.values()):
            tap.skip("not supported")
        for case, (result, said) in results.items():
            pattern, reason = next((f for f in fails if fnmatch.fnmatchcase(case, f[0])), ("", ""))
            if pattern == case and result in GOOD:
                tap.fail(f"{case} passes, and is in the list of known failures ({reason})")
            elif reason and result not in (*GOOD, "NotSupported"):
                tap.note(f"{case}: {result}: {reason}")
            elif result not in (*GOOD, "NotSupported"):
                tap.fail(f"{case}: {result}")
                tap.note(said[-1500:])


class Figures:
    """How many cases of a result had which outcome."""

    def __init__(self, results):
        self.counts = collections.Counter(result for result, _ in results.values())
        self.cases = len(results)
        self.unsupported = self.counts["NotSupported"]
        self.ran = self.cases - self.unsupported
        self.passed = sum(self.counts[result] for result in GOOD)

    def __str__(self):
        return (f"{self.cases} cases, {self.unsupported} not supported, {self.ran} ran, {self.passed} passed "
                f"({100 * self.passed / max(self.ran, 1):.2f} %)")
