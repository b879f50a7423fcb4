#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Break random lines of the model and count how many the tests notice (`make mutate N=20`).

    mutate.py --count N [--seed S] [--only 'PATTERN ...'] [--programs 'PATTERN ...'] --dir DIR

Works on a copy of the checkout in DIR. Each mutant changes one operator, constant or condition of one line
in qemu-device/model; one that does not compile, or compiles to the same bytes, is not counted, nor is one
that equivalent.txt lists. A mutant is killed when a program of tests/model, tests/numeric, tests/draw or
tests/fuzz fails, crashes or does not end. Only those that run the mutant's line are asked (see reach.py), the quickest first,
those that have killed in the same directory before the others, until one does. Prints every mutant with its line and
who killed it; below 90 % killed the tests are not good enough, and the status is 1.

Mutants are built with little optimisation and without sanitizers. One that survives that is compiled with -O3: if
that gives the same bytes it is no change, and not counted. Then it is built with the sanitizers that `make check`
uses, and meets the programs which it builds so, all but those of tests/numeric, once more.

With --programs it meets only these, without sanitizers: what they notice of some files while one writes them.
"""

import argparse
import collections
import concurrent.futures
import contextlib
import ctypes
import fnmatch
import functools
import os
import random
import re
import resource
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import equivalent  # noqa: E402
import reach  # noqa: E402
from ktap import Program  # noqa: E402

TOP = os.environ.get("TSR_TOP") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Meson's options for each way the programs are built in; OPTIMISED only compiles, to compare.
PLAIN = ("-Dwerror=true", "-Ddebug=false", "-Dc_args=-Wno-maybe-uninitialized")
OPTIMISED = ("-Doptimization=3", "-Ddebug=false", "-Dc_args=-w")
SANITIZED = ("-Dwerror=true", "-Ddebug=false", "-Dc_args=-Wno-maybe-uninitialized", "-Db_sanitize=address,undefined")
ENOUGH = 0.9
JUDGES = ("model", "numeric", "draw", "fuzz")     # directories of programs
LIBC = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1
MODEL = "qemu-device/model"
MEMORY = 4 << 30            # bytes a program may have: a mutant that allocates without end must not take the host with it
CONDITION = r"if \((?!!)"    # it is negated as a whole
# (what, by what): each occurrence of the first in a line is a place for a mutant.
MUTATIONS = [(r" == ", " != "), (r" != ", " == "), (r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > "),
             (r" && ", " || "), (r" \|\| ", " && "), (r" \+ ", " - "), (r" - ", " + "), (r" << ", " >> "), (r" >> ", " << "),
             (r" & ", " | "), (r" \| ", " & "), (r" \+= ", " -= "), (r" \|= ", " &= "), (r"\b0\b(?!x)", "1"), (r"\b1\b", "2"),
             (r"\btrue\b", "false"), (r"\bfalse\b", "true"), (r"if \(!", "if ("), (CONDITION, None),
             (r"\bbreak;", ";"), (r"\bcontinue;", ";"), (r"\+\+", "--")]
NOT_CODE = re.compile(r"^\s*(//|/\*|\*|#)|^\s*assert|tsr_trace|static_assert|_Static_assert")

# A change of one line: the file's path in the checkout, its number from 0, the text before and after.
Mutant = collections.namedtuple("Mutant", "path number old new")


def negated(line, start):
    """A line whose condition that begins at start is negated; only what stands first in it, if it ends on another line."""
    depth, end = 0, start
    while end < len(line) and (depth or line[end] != ")"):
        depth += (line[end] == "(") - (line[end] == ")")
        end += 1
    if end == len(line) or " " not in line[start:end]:
        return line[:start] + "!" + line[start:]
    return f"{line[:start]}!({line[start:end]}){line[end:]}"


def places(tree, path):
    """Every mutant possible in a file. Only bodies of functions are looked at."""
    with open(os.path.join(tree, path)) as f:
        lines = f.read().split("\n")
    inside = False
    for number, line in enumerate(lines):
        if line.startswith("{"):
            inside = True
        elif line.startswith("}"):
            inside = False
        if not inside or NOT_CODE.search(line):
            continue
        code = line.split("/*")[0]
        for what, by in MUTATIONS:
            for m in re.finditer(what, code):
                new = negated(line, m.end()) if what == CONDITION else line[:m.start()] + by + line[m.end():]
                yield Mutant(path, number, line, new)


def wanted(mutant, top, patterns):
    """Whether a pattern is like the file's name or its path below top, either with :LINE behind it or not."""
    names = [os.path.basename(mutant.path), os.path.relpath(mutant.path, top)]
    names += [f"{name}:{mutant.number + 1}" for name in names]
    return any(fnmatch.fnmatch(name, pattern) for name in names for pattern in patterns.split())


def chosen(tree, paths, top, patterns, seed):
    """All mutants of the files that the patterns name, in the order of the seed."""
    found = [m for path in sorted(paths) for m in places(tree, path) if wanted(m, top, patterns)]
    random.Random(seed).shuffle(found)
    return found


def copy_checkout(tree):
    """Bring the copy of the checkout up to date; what has not changed keeps its time."""
    os.makedirs(tree, exist_ok=True)
    subprocess.run(["rsync", "-rt", "--checksum", "--delete", "--exclude=.git", TOP + "/", tree + "/"], check=True)


def with_mutant(tree, mutant, judge):
    """What judge() returns while the mutant's line is in its place; afterwards the file is what it was, its time too."""
    full = os.path.join(tree, mutant.path)
    was = os.stat(full)
    with open(full) as f:
        text = f.read()
    lines = text.split("\n")
    lines[mutant.number] = mutant.new
    try:
        with open(full, "w") as f:
            f.write("\n".join(lines))
        return judge()
    finally:
        with open(full, "w") as f:
            f.write(text)
        os.utime(full, ns=(was.st_atime_ns, was.st_mtime_ns))


def show(mutant, who):
    alike = isinstance(who, equivalent.Equivalent)
    became = "equivalent" if alike else "killed" if who else "survived"
    print(f"{became} {mutant.path}:{mutant.number + 1}{': ' if alike else ' by ' if who else ''}{who}\n"
          f"  - {mutant.old.strip()}\n  + {mutant.new.strip()}", flush=True)


def count(judged, number):
    """Count mutants until there are so many; judged: each with who killed it, "" if nobody, None if it does not count,
    Equivalent if nobody can. The status to end with."""
    killed = survived = other = alike = 0
    for mutant, who in judged:
        if isinstance(who, equivalent.Equivalent):
            alike += 1
        else:
            other += who is None
            killed += bool(who)
            survived += who == ""
        if who is not None:
            show(mutant, who)
        if killed + survived >= number:
            break
    print(f"killed {killed} of {killed + survived} mutants ({other} did not count, {alike} are equivalent)")
    return 0 if killed + survived and killed >= ENOUGH * (killed + survived) else 1


def files(top, *ends):
    """The files below a directory whose names end so."""
    return [os.path.join(directory, n) for directory, _, names in os.walk(top) for n in names if n.endswith(ends)]


class Build:
    """The programs, and the library of all that they share: see tests/meson.build."""

    def __init__(self, tree, directory, jobs, options):
        """options: of Meson's, how all is compiled."""
        self.tree, self.directory, self.out, self.jobs = tree, directory, os.path.join(directory, "mutate"), jobs
        self.options = [f"-Dsuites={','.join(JUDGES)}", f"-Dsoftfloat={os.environ['SOFTFLOAT']}", f"-Dtop={tree}", *options]
        self.env = dict(os.environ, TSR_TOP=tree, TSR_BUILD=directory, TSR_QUICK="1", TSR_FLOAT_COUNT="65536",
                        TSR_FUZZ_SECONDS="2", TSR_FUZZ_SEED="1", CCACHE_DISABLE="1")
        self.env.pop("PYTHONPATH", None)        # modules of the tests must not stand before Meson's

    def run(self, *command):
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=self.env)

    def make(self, *targets):
        """Build files of the directory; all of it if there are none."""
        return self.run("ninja", "-C", self.out, "-j", str(self.jobs), *(os.path.relpath(t, self.out) for t in targets))

    def configure(self):
        source = os.path.join(self.directory, "src")
        new = not os.path.exists(os.path.join(self.out, "build.ninja"))
        for command in (["bash", f"{self.tree}/qemu-device/build/meson/source_root.sh", source, os.environ["HW"]],
                        ["meson", "setup", *([] if new else ["--reconfigure"]), *self.options, self.out, source]):
            done = self.run(*command)
            if done.returncode:
                sys.exit(f"tessera: error: the programs cannot be configured:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")

    def whole(self, *targets, everything=False):
        """Build the library, and programs that are linked with it, or everything."""
        for name in files(self.out, ".good"):       # a run that was killed has left a mutant
            os.replace(name, name[:-len(".good")])
        self.configure()
        self.library = os.path.join(self.out, "tests", "libtests.so")
        done = self.make(*([] if everything else [self.library, *targets]))
        if done.returncode:
            sys.exit(f"tessera: error: the programs do not build:\n{done.stdout[-2000:]}")
        found = subprocess.run(["readelf", "-rW", self.library], capture_output=True, text=True, check=True).stdout
        if not re.search(r" ktap\b", found):        # bound within: what checks of tests/*/lib find would be lost
            sys.exit(f"tessera: error: {self.library} keeps what its checks find from the programs")
        self.users = self.dependencies()

    def dependencies(self):
        """{source or header below the tree: the objects made from it, those of tests too: a function of a header is in each}"""
        users, made = collections.defaultdict(set), ""
        for line in self.run("ninja", "-C", self.out, "-t", "deps").stdout.splitlines():
            if line.startswith(" "):
                users[os.path.relpath(os.path.realpath(os.path.join(self.out, line.strip())), self.tree)].add(made)
            elif line:
                made = os.path.join(self.out, line.split(":")[0])
        return users

    def programs(self, directories=JUDGES, patterns="*"):
        """Paths of the programs of tests/DIRECTORY whose names are like one of the patterns."""
        names = [(d, os.path.splitext(n)) for d in directories for n in os.listdir(os.path.join(self.tree, "tests", d))]
        return sorted(os.path.join(self.out, "tests", d, name) for d, (name, suffix) in names
                      if suffix == ".c" and any(fnmatch.fnmatch(name, pattern) for pattern in patterns.split()))

    def program(self, name):
        """The program whose own object this is, "" if it is none's."""
        directory, own, _ = os.path.relpath(name, self.out).rsplit("/", 2)
        found = os.path.join(self.out, directory, own[:-len(".p")])
        return found if directory in (f"tests/{d}" for d in JUDGES) and not own.startswith("lib") else ""

    def mutant(self, path, judge):
        """Build all with a changed source, judge it, and put the good files back; None if nothing has changed."""
        objects = sorted(self.users[path])
        made = [self.library] + list(filter(None, map(self.program, objects)))
        with aside(objects + made):
            return None if self.make(*made).returncode or same(objects) else judge()

    def unchanged(self, path):
        """Whether the library's objects are what they were although a source has changed."""
        objects = sorted(self.users[path])
        with aside(objects):
            return not self.make(*objects).returncode and same(objects)


@contextlib.contextmanager
def aside(names):
    """Let files be made anew, and put those that were there back."""
    for name in names:
        os.rename(name, name + ".good")
    try:
        yield
    finally:
        for name in names:
            os.replace(name + ".good", name)


def same(objects):
    """Whether each object is what it was."""
    for name in objects:
        with open(name, "rb") as new, open(name + ".good", "rb") as old:
            if new.read() != old.read():
                return False
    return True


class Tests:
    """All programs and what is known of them."""

    def __init__(self, programs, jobs, env, limited):
        self.programs, self.jobs, self.env, self.limited = programs, jobs, env, limited
        self.seconds = dict.fromkeys(programs, 10)
        self.kills = collections.Counter()      # (program, directory of the mutant)

    def run(self, program, over):
        """Whether a program notices something; over ends it early. It may take ten times what it took, and ten seconds."""
        if over.is_set():
            return False
        process = subprocess.Popen([program], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                   start_new_session=True, env=self.env, preexec_fn=self.limited)
        late = time.monotonic() + 10 + 10 * self.seconds[program]
        ended = threading.Event()

        def watch():
            while not ended.wait(0.1):
                if over.is_set() or time.monotonic() > late:
                    os.killpg(process.pid, signal.SIGKILL)
                    return

        watcher = threading.Thread(target=watch)
        watcher.start()
        text = []
        for line in process.stdout:
            text.append(line.decode(errors="replace"))
            if line.startswith(b"not ok"):
                break
        else:
            process.wait()
        failed = process.returncode != 0 or bool(Program("".join(text)).problems)
        ended.set()
        watcher.join()
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return failed and not over.is_set()

    def notice(self, where, programs):
        """The first of the programs of these names (None: all) that notices a mutant in directory where, "" if none does."""
        over = threading.Event()
        order = sorted((p for p in self.programs if programs is None or short(p) in programs),
                       key=lambda p: (self.seconds[p] / (1 + 4 * self.kills[p, where]), p))

        def one(program):
            if self.run(program, over):
                over.set()
                return program
            return None

        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            who = next((p for p in pool.map(one, order) if p), "")
        self.kills[who, where] += 1
        return short(who) if who else ""

    def measure(self):
        """Run all once on the model as it is."""
        def one(program):
            start = time.monotonic()
            if self.run(program, threading.Event()):
                return program
            self.seconds[program] = time.monotonic() - start
            return None

        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            for program in filter(None, pool.map(one, self.programs)):
                sys.exit(f"tessera: error: {program} fails without any mutation")


def short(program):
    """DIRECTORY/NAME of a program."""
    return "/".join(program.split("/")[-2:])


def no_dump():
    """A program leaves no core, and does not outlive who runs it."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def limited():
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    no_dump()


class Judge:
    """All programs built in one way, and what they say of a mutant."""

    def __init__(self, build, jobs, programs, limited):
        self.build = build
        self.build.whole(*programs)
        self.tests = Tests(programs, jobs, build.env, limited)
        self.tests.measure()

    def notice(self, mutant, programs):
        """Who of the programs notices a mutant that is in its place, "" if nobody does, None if it changes nothing that is compiled."""
        return self.build.mutant(mutant.path, lambda: self.tests.notice(os.path.dirname(mutant.path), programs))


class Court:
    """All that a mutant goes through; what only survivors meet is made for the first of them."""

    def __init__(self, tree, directory, jobs, programs):
        """programs: patterns for the only ones, if there are any."""
        self.tree, self.directory, self.jobs, self.only = tree, directory, jobs, programs
        self.known = equivalent.List(tree)
        if not programs:
            self.reach = reach.Reach(self.built("reach", reach.OPTIONS), tree, MODEL)
        build = self.built("plain", PLAIN)
        self.plain = Judge(build, jobs, build.programs(patterns=programs or "*"), limited)

    def built(self, name, options):
        print(f"# building the programs with {' '.join(options)}", flush=True)
        directory = os.path.join(self.directory, name)
        os.makedirs(directory, exist_ok=True)
        return Build(self.tree, directory, self.jobs, options)

    @functools.cached_property
    def optimised(self):
        build = self.built("optimised", OPTIMISED)
        build.whole()
        return build

    @functools.cached_property
    def sanitized(self):
        build = self.built("asan", SANITIZED)
        return Judge(build, self.jobs, build.programs(("model", "draw", "fuzz")), no_dump)

    def judge(self, mutant):
        """Who killed it, "" if nobody, None if it does not count, Equivalent if nobody can."""
        if self.known.reason(mutant):
            return self.known.reason(mutant)
        programs = None if self.only else self.reach.programs(mutant.path, mutant.number + 1)
        who = with_mutant(self.tree, mutant, lambda: self.plain.notice(mutant, programs))
        if who != "" or self.only:
            return who
        optimised, sanitized = self.optimised, self.sanitized      # built of what has no mutant
        if with_mutant(self.tree, mutant, lambda: optimised.unchanged(mutant.path)):
            return None
        who = with_mutant(self.tree, mutant, lambda: sanitized.notice(mutant, programs))
        return f"{who} with sanitizers" if who else ""


def sources(tree):
    """The model's sources; headers with code in them too."""
    return [os.path.relpath(name, tree) for name in files(os.path.join(tree, MODEL), ".c", ".h")]


def arguments(what, default):
    p = argparse.ArgumentParser(description=what)
    p.add_argument("--count", type=int, default=default, help="mutants")
    p.add_argument("--seed", type=int, default=int(time.time()))
    p.add_argument("--only", default="*", help="where: shell patterns for names, or paths as shader/*.c, with :LINE behind them or not")
    p.add_argument("--dir", required=True, help="where to work")
    return p


def main():
    p = arguments("Count the mutants that the model's tests kill.", 20)
    p.add_argument("--jobs", type=int, default=os.cpu_count(), help="programs at a time")
    p.add_argument("--programs", default="", help="which: shell patterns for names; all, if there are none")
    args = p.parse_args()
    tree = os.path.join(args.dir, "tree")
    copy_checkout(tree)
    court = Court(tree, args.dir, args.jobs, args.programs)
    print(f"# seed {args.seed}", flush=True)
    return count(((m, court.judge(m)) for m in chosen(tree, sources(tree), MODEL, args.only, args.seed)), args.count)


if __name__ == "__main__":
    sys.exit(main())
