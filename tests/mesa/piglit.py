#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=1500
"""Programs of piglit's on the device in their own process, by way of Mesa.

piglit.txt has a command a line, and after " # " why it is known to fail. TSR_PIGLIT asks for others, which are all to pass
but for those that fails.txt lists in the same way: patterns of names ("fbo-*", "spec/glsl-1.10/*.shader_test"), and samples
of piglit's profiles: "quick_gl/10" is every tenth test of quick_gl, "quick_gl/10+3" begins with the fourth.
"""

import ast
import collections
import concurrent.futures
import fnmatch
import glob
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

from tap import Tap

TOP = os.environ["TSR_TOP"]
MESA = os.environ.get("TSR_MESA", "")      # not for who imports this
HERE = os.path.join(TOP, "tests", "mesa")
TSR_HOST = os.path.join(os.environ["TSR_BUILD"], "userspace", "bin", "tsr-host")
RESULT = re.compile(r'^PIGLIT: (\{"result".*\})\s*$', re.M)
SAMPLE = re.compile(r"(\w+)/(\d+)(?:\+(\d+))?$")
# seconds for a program; more where the host has other things to do
LIMIT = 120 * max(1, min(5, os.getloadavg()[0] / os.cpu_count()))
GLSL, GLSL_ES = 4.6, 3.2        # what is offered

tap = None      # of who runs or imports this


def listed(name, directory=HERE):
    """(command, why it fails or "") of piglit.txt or fails.txt."""
    with open(os.path.join(directory, name)) as f:
        for line in f:
            command, _, reason = line.strip().partition(" # ")
            if command and not command.startswith("#"):
                yield command, reason


def profile(piglit, name):
    """The commands of a profile, without what is for languages that are not offered, or for other platforms."""
    with gzip.open(os.path.join(piglit, "tests", name + ".xml.gz")) as f:
        for test in xml.etree.ElementTree.parse(f).getroot():
            options = {o.get("name"): ast.literal_eval(o.get("value")) for o in test.iter("option")}
            most = GLSL_ES if options.get("api") in ("gles2", "gles3") else GLSL
            if options.get("shader_version", 0) <= most and \
                    "surfaceless" in options.get("require_platforms", ["surfaceless"]):
                yield " ".join(options["command"])


def asked_for(piglit, patterns):
    """Commands, each once."""
    names = sorted(os.listdir(os.path.join(piglit, "bin")))
    tests = os.path.join(piglit, "tests")
    found = {}
    for pattern in patterns:
        sample = SAMPLE.match(pattern)
        if sample and os.path.exists(os.path.join(tests, sample.group(1) + ".xml.gz")):
            commands = list(profile(piglit, sample.group(1)))
            found.update(dict.fromkeys(commands[int(sample.group(3) or 0)::int(sample.group(2))]))
        elif pattern.endswith(".shader_test"):
            found.update(dict.fromkeys(os.path.relpath(path, tests)
                                       for path in sorted(glob.glob(os.path.join(tests, pattern), recursive=True))))
        else:
            found.update(dict.fromkeys(fnmatch.filter(names, pattern)))
    return list(found)


def unpack_generated(commands, directory):
    """Those shader tests that the package has not in tests/ but in generated_tests/."""
    wanted = sorted({w for c in commands for w in c.split() if w.startswith("generated_tests/")})
    if wanted:
        with open(os.path.join(directory, "wanted"), "w") as f:
            f.write("".join(w + "\n" for w in wanted))
        subprocess.run(["bash", os.path.join(HERE, "piglit.sh"), "--generated", directory], stdout=subprocess.DEVNULL, check=True)


def find(piglit, generated, word):
    """A word of a command, with the path of what it names."""
    if word.endswith((".shader_test", ".program_test")):
        root = generated if word.startswith("generated_tests/") else piglit
        return os.path.join(root, word if word.startswith(("tests/", "generated_tests/")) else os.path.join("tests", word))
    return os.path.join(piglit, "tests", word) if word.endswith("minimum-maximums.txt") else word


def words_of(command, piglit, generated):
    """The arguments, with the paths they have where piglit and its generated tests are."""
    words = [find(piglit, generated, word) for word in command.split()]
    if words[0].endswith(".shader_test"):
        words.insert(0, "shader_runner")
    words[0] = os.path.join(piglit, "bin", words[0])
    return words


def result_of(status, text):
    """What became of a command by its status and output: "pass", "fail", "skip", "crash" ..."""
    found = RESULT.findall(text)
    return json.loads(found[-1])["result"] if found and status >= 0 else "crash"


def run(piglit, generated, command):
    """What became of a command, and what it printed."""
    words = words_of(command, piglit, generated)
    if not os.path.exists(words[0]):
        return "skip", "no such program"
    environment = dict(os.environ, PIGLIT_PLATFORM="surfaceless_egl", PIGLIT_SOURCE_DIR=piglit,
                       LD_LIBRARY_PATH=os.path.join(piglit, "lib"), MESA_SHADER_CACHE_DISABLE="1", TSR_HOST_THREADS="1")
    try:
        done = subprocess.run([TSR_HOST, os.path.join(MESA, "tsr-mesa"), *words, "-auto", "-fbo"], env=environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return "timeout", ""
    text = done.stdout.decode(errors="replace")
    return result_of(done.returncode, text), f"{text}\nstatus {done.returncode}"


def judge(command, reason, result, text):
    with tap.test(f"piglit: {command}"):
        if result == "skip":
            tap.skip("what it tests is not offered")
        if reason and result == "pass":
            tap.fail(f"it is said to fail ({reason}) and does not")
        elif reason:
            tap.skip(f"{result}: {reason}")
        elif result not in ("pass", "warn"):
            tap.fail(result)
            tap.note(text[-1500:])


def main():
    directory = subprocess.run(["bash", os.path.join(HERE, "piglit.sh")], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    patterns = os.environ.get("TSR_PIGLIT", "").split()
    fails = dict(listed("fails.txt" if patterns else "piglit.txt"))
    commands = asked_for(directory, patterns) if patterns else list(fails)
    counts = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool, \
            tempfile.TemporaryDirectory(prefix="tessera-piglit-") as generated:
        unpack_generated(commands, generated)
        for command, (result, text) in zip(commands, pool.map(lambda c: run(directory, generated, c), commands)):
            counts[result] += 1
            judge(command, fails.get(command, ""), result, text)
    ran = sum(counts.values()) - counts["skip"]
    tap.note(f"{', '.join(f'{n} {result}' for result, n in counts.most_common())}: {100 * counts['pass'] / max(ran, 1):.1f} of 100 that ran passed")
    return tap.finish()


if __name__ == "__main__":
    tap = Tap()
    sys.exit(main())
