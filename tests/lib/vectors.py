#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run shader vectors on the model: every folder with a vector.json below the given ones.

    vectors.py --tool TSR_RUN [--jobs N] DIR... [-- OPTION OF TSR-RUN ...]
    vectors.py --convert DIR        print the folder as a shader file for tsr-run, to look at or to step through;
                                    its files are named relative to DIR, with --absolute in full

A vector ("format": "bifrost-compute-vector") is a dispatch of a compiled program with its memory and the results
that are expected. Each becomes a shader file (Documentation/guide/shaders.md), which tsr-run executes and
compares. Prints KTAP and ends with "N passed, N failed, N skipped"; status 1 when something failed."""

import argparse
import concurrent.futures
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from ktap import Counts  # noqa: E402

FORMAT = "bifrost-compute-vector"
TABLES = {"attributes": ("attributes", 8), "attribute_buffers": ("attribute-buffers", 16),
          "textures": ("textures", 32), "samplers": ("samplers", 32)}
TABLE_MAX = 512
PUSH_MAX = 256


class Skip(Exception):
    """The vector is not for this device."""


class Bad(Exception):
    """The vector is not what it should be."""


def number(value):
    """Addresses are hexadecimal strings, other numbers are numbers; take either everywhere."""
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise Bad(f"{value!r} is no integer")
    return int(value, 0) if isinstance(value, str) else value


def quoted(name):
    if '"' in name or "\n" in name:
        raise Bad(f"a file's name cannot be {name!r}")
    return f'"{name}"'


def contents(item):
    """What stands in a region at first: a file, or nothing."""
    return f"{{ file {quoted(item['file'])} }}" if item.get("file") and not item.get("zero") else "{ }"


def three(values):
    return " ".join(str(number(n)) for n in (list(values) + [1, 1, 1])[:3])


def rule(compare):
    """The lines of one compare entry."""
    words = f"words {number(compare.get('first', 0))} step {number(compare.get('stride', 1))}"
    if compare.get("count") is not None:
        words += f" count {number(compare['count'])}"
    kind = compare["kind"]
    if kind == "f32":
        limits = "".join(f" {name} {float(compare[name])!r}" for name in ("abs", "rel", "ulp") if name in compare)
        return [f"{words} near{limits}"]
    if kind == "any_file":
        return [f"{words} any-file " + " ".join(quoted(name) for name in compare["files"])]
    if kind == "any_value":
        return [f"{words} any {{ " + " ".join(f"{number(v) & 0xffffffff:#x}" for v in compare["values"]) + " }"]
    if kind == "range":
        return [f"{words} range {number(compare['min'])} {number(compare['max'])}"]
    if kind == "group_sum":
        return [f"{words} ignore"] + [
            f"sum {number(group['sum']) & 0xffffffff} {{ " + " ".join(str(number(w)) for w in group["words"]) + " }"
            for group in compare["groups"]]
    if kind == "ignore":
        return [f"{words} ignore"]
    raise Bad(f"there is no rule '{kind}'")


def expectation(item):
    kind = item.get("type", "u32")
    if kind not in ("u8", "u32", "f32"):
        raise Bad(f"there is no word '{kind}'")
    rules = [line for compare in item.get("compare", []) for line in rule(compare)]
    # a tolerance for floats may stand beside words that are called something else
    if kind == "u32" and any(c.get("kind") == "f32" for c in item.get("compare", [])):
        kind = "f32"
    yield f"expect {number(item['va']):#x} size {number(item['size'])} {kind} {contents(item)}"
    if rules:
        yield "where {"
        yield from (f"\t{line}" for line in rules)
        yield "}"


def table(vector, key):
    """A table with as many entries as it says, or as many as fit into its region."""
    name, entry = TABLES[key]
    given = vector.get(key)
    if not given or "va" not in given:
        return
    va = number(given["va"])
    count = number(given.get("count", 0))
    for region in vector["memory"]:
        start, end = number(region["va"]), number(region["va"]) + number(region["size"])
        if start <= va < end:
            count = max(count, (end - va) // entry)
    yield f"table {name} {va:#x} {min(count, TABLE_MAX)}"


def memory(vector, folder):
    """The regions, the code first."""
    code = vector["code"]
    where = number(code["va"]), number(code["size"])
    yield f"code at {where[0]:#x} size {where[1]} entry {number(code.get('entry', code['va'])):#x} {contents(code)}"
    for i, region in enumerate(vector["memory"]):
        va, size = number(region["va"]), number(region["size"])
        if (va, size) == where and region.get("file") == code.get("file"):
            continue
        if region.get("file") and not region.get("zero"):
            size = max(size, os.path.getsize(os.path.join(folder, region["file"])))
        if size:
            yield f"buffer {name_of(region, i)} {size} at {va:#x} {contents(region)}"


def name_of(region, i):
    """A name for messages that no other region has."""
    letters = "".join(c if c.isascii() and c.isalnum() else "_" for c in str(region.get("name", "")))
    return f"m{i}_{letters}" if letters else f"m{i}"


def convert(folder):
    """The lines of the shader file."""
    with open(os.path.join(folder, "vector.json"), encoding="utf-8") as stream:
        vector = json.load(stream)
    if vector.get("format", FORMAT) != FORMAT:
        raise Skip(f"the format is {vector['format']}")
    if vector.get("arch", 7) != 7:
        raise Skip(f"arch {vector['arch']}: the device executes v7")
    yield f"# {vector.get('name', os.path.basename(folder))}"
    # which words depend on the order is said word by word below, and only of what is expected
    yield "any-order"
    yield f"group {three(vector['workgroup_size'])}"
    yield f"grid {three(vector['num_workgroups'])}"
    yield f"registers {number(vector.get('registers', {}).get('work_registers', 64))}"
    yield f"group-memory {number(vector.get('wls_size', 0))}"
    yield f"scratch {number(vector.get('tls_size', 0))}"
    yield from memory(vector, folder)
    push = [number(word) & 0xffffffff for word in vector.get("fau", [])][:PUSH_MAX]
    yield "push { u32 " + " ".join(f"{word:#x}" for word in push) + " }"
    for i, buffer in enumerate(vector.get("ubos", [])):
        yield f"uniforms {i} {number(buffer['va']):#x} {number(buffer['size'])}"
    for key in TABLES:
        yield from table(vector, key)
    for item in vector["expect"]:
        yield from expectation(item)


def run(tool, options, folder):
    """(what went wrong or None, reason to skip or None)"""
    try:
        text = "\n".join(convert(folder)) + "\n"
        done = subprocess.run([tool, "--quiet", *options, "-"], input=text.encode(), cwd=folder,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600, check=False)
    except Skip as e:
        return None, str(e)
    except (Bad, KeyError, TypeError, ValueError, AttributeError, OSError, subprocess.TimeoutExpired) as e:
        return f"{type(e).__name__}: {e}", None
    if done.returncode == 0:
        return None, None
    return done.stdout.decode(errors="replace").strip() or f"tsr-run ends with status {done.returncode}", None


def find(roots):
    for root in roots:
        if not os.path.isdir(root):
            sys.exit(f"vectors.py: {root} is no directory")
        for folder, below, files in os.walk(root, followlinks=True):
            below.sort()
            if "vector.json" in files:
                yield os.path.relpath(folder, root), os.path.abspath(folder)


def report(number_, name, problem, skip, counts):
    """One vector's lines."""
    if problem:
        counts.failed += 1
        print("\n".join(f"# {line.removeprefix('# ')}" for line in problem.splitlines()))
        print(f"not ok {number_} - {name}", flush=True)
    elif skip:
        counts.skipped += 1
        print(f"ok {number_} - {name} # SKIP {skip}", flush=True)
    else:
        counts.passed += 1
        print(f"ok {number_} - {name}", flush=True)


def main():
    options = sys.argv[sys.argv.index("--") + 1:] if "--" in sys.argv else []
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default="tsr-run")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--convert", action="store_true")
    parser.add_argument("--absolute", action="store_true")
    parser.add_argument("roots", nargs="+", metavar="DIR")
    args = parser.parse_args(sys.argv[1:len(sys.argv) - len(options) - bool("--" in sys.argv)])
    if args.convert:
        base = os.path.abspath(args.roots[0]) + "/" if args.absolute else ""
        print("\n".join(convert(args.roots[0])).replace('file "', f'file "{base}'))
        return 0
    vectors = sorted(find(args.roots))
    print(f"KTAP version 1\n1..{len(vectors)}", flush=True)
    counts = Counts()
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        runs = [pool.submit(run, args.tool, options, folder) for _, folder in vectors]
        for i, (vector, done) in enumerate(zip(vectors, runs), 1):
            report(i, vector[0], *done.result(), counts)
    print(counts, flush=True)
    return 1 if counts.failed or not vectors else 0


if __name__ == "__main__":
    sys.exit(main())
