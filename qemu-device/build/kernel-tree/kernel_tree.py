#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Put the driver into a Linux source tree (`make export TO=kernel-tree OUT=DIR`).

    kernel_tree.py --headers DIR LINUX

LINUX gets drivers/gpu/drm/tessera, with its Kconfig, Makefile and KUnit suites, and the generated headers of the
hardware from DIR; the uapi headers, Documentation/gpu/tessera.rst, an entry in MAINTAINERS, and the selftests below
tools/testing/selftests/drivers/gpu/tessera. What is there of a former run is replaced. The driver is written for
the interfaces of OLDEST, so an older tree is refused; tessera_compat.h and Kbuild, which are for such, stay here.

Every file is written aside and renamed, so a tree of hard links to another one leaves that as it is.
"""

import argparse
import glob
import os
import re
import shutil
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
OLDEST = (7, 3)
DRIVER = "drivers/gpu/drm/tessera"
SELFTESTS = "tools/testing/selftests/drivers/gpu/tessera"


class TreeError(Exception):
    """What is wrong with the tree, in one line."""


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def write(path, text):
    """Replace the file, or make it with its directories; one that has that text keeps its time stamp."""
    if os.path.exists(path) and read(path) == text:
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + ".new", "w", encoding="utf-8") as f:
        f.write(text)
    os.rename(path + ".new", path)


def version(linux):
    """(VERSION, PATCHLEVEL) of the tree."""
    path = os.path.join(linux, "Makefile")
    found = dict(re.findall(r"^(VERSION|PATCHLEVEL) = (\d+)$", read(path), re.M)) if os.path.isfile(path) else {}
    if len(found) != 2 or not os.path.isfile(os.path.join(linux, "drivers/gpu/drm/Kconfig")):
        raise TreeError(f"{linux} is not a Linux source tree")
    return int(found["VERSION"]), int(found["PATCHLEVEL"])


def files_of(directory, names):
    """{name: text} of those files below directory that match the pattern names."""
    return {name: read(os.path.join(directory, name)) for name in sorted(os.listdir(directory))
            if re.fullmatch(names, name)}


def fill(directory, files):
    """Make the files of directory, and remove all others that are there."""
    for name, text in files.items():
        write(os.path.join(directory, name), text)
    for name in set(os.listdir(directory)) - {name.split("/")[0] for name in files}:
        path = os.path.join(directory, name)
        if os.path.isdir(path):
            shutil.rmtree(path)
        else:
            os.remove(path)


def sorted_in(path, pattern, line):
    """Have the line in a file, before the first that matches pattern with a greater group 1, or behind the last."""
    lines = read(path).splitlines(keepends=True)
    if line in lines:
        return
    own = re.match(pattern, line)[1]
    found = [(i, m[1]) for i, m in enumerate(re.match(pattern, text) for text in lines) if m]
    if not found:
        raise TreeError(f"{path}: no line like '{line.strip()}' to put it beside")
    at = next((i for i, name in found if name > own), found[-1][0] + 1)
    write(path, "".join(lines[:at] + [line] + lines[at:]))


def maintainers(path, entry):
    """Have the entry in MAINTAINERS, in the order of the alphabet; a former one goes."""
    title = entry.splitlines()[0]
    blocks = read(path).split("\n\n")
    blocks = [b for b in blocks if not b.startswith(title + "\n")]
    group = title.split(" FOR ")[0] + " FOR "
    at = max((i for i, b in enumerate(blocks) if b.startswith(group) and b.splitlines()[0] < title), default=None)
    if at is None:
        raise TreeError(f"{path}: no entry that begins with '{group}'")
    blocks.insert(at + 1, entry.rstrip("\n"))
    write(path, "\n\n".join(blocks))


def driver(linux, headers):
    """drivers/gpu/drm/tessera, and what names it."""
    kernel = os.path.join(TOP, "kernel")
    files = files_of(kernel, r"(?!tessera_compat\.h)tessera_\w+\.[ch]|Kconfig|Makefile|\.kunitconfig")
    files.update(files_of(headers, r"tsr_(regs|packets)\.h"))
    files.update((f"tests/{name}", text) for name, text in
                 files_of(os.path.join(kernel, "tests"), r"\w+\.[ch]|Makefile").items())
    fill(os.path.join(linux, DRIVER), files)
    drm = os.path.join(linux, "drivers/gpu/drm")
    sorted_in(os.path.join(drm, "Kconfig"), r'source "drivers/gpu/drm/([a-z]\w*)/Kconfig"',
              'source "drivers/gpu/drm/tessera/Kconfig"\n')
    line = "obj-$(CONFIG_DRM_TESSERA) += tessera/\n"
    path = os.path.join(drm, "Makefile")
    if line not in read(path):
        text, count = re.subn(r"^(obj-\$\(CONFIG_DRM_TEGRA\).*\n)", lambda m: m[1] + line, read(path), flags=re.M)
        if not count:
            raise TreeError(f"{path}: no line of CONFIG_DRM_TEGRA to put ours behind")
        write(path, text)


def uapi_and_pages(linux):
    """The uapi headers, the page and its place, the entry in MAINTAINERS."""
    tree = os.path.join(TOP, "kernel/tree")
    for name, text in files_of(os.path.join(TOP, "kernel/include/uapi/drm"), r"tessera_\w+\.h").items():
        write(os.path.join(linux, "include/uapi/drm", name), text)
    write(os.path.join(linux, "Documentation/gpu/tessera.rst"), read(os.path.join(tree, "tessera.rst")))
    sorted_in(os.path.join(linux, "Documentation/gpu/drivers.rst"), r"   ([a-z]\w+)\n", "   tessera\n")
    maintainers(os.path.join(linux, "MAINTAINERS"), read(os.path.join(tree, "MAINTAINERS")))


def selftests(linux, headers):
    """The programs that tests/kselftest/Makefile names, and what they are made of."""
    tests, own = os.path.join(TOP, "tests"), os.path.join(TOP, "tests/kselftest")
    files = files_of(own, r"Makefile|config|settings|\w+\.h")
    programs = re.findall(r"^\t(\w+)(?: \\)?$", files["Makefile"].partition("TEST_GEN_PROGS")[2].partition("\n\n")[0], re.M)
    files.update(files_of(headers, r"tsr_(regs|packets)\.h"))
    files.update(files_of(os.path.join(tests, "guest/lib"), r"gt_(dev|inject|job|obj)\.c|gt(_bad|_flood|_main|_recover|_streams)?\.h"))
    files["ktap.h"] = read(os.path.join(tests, "lib/ktap.h"))
    files.update((f"{name}.c", read(glob.glob(os.path.join(tests, "guest", "*", f"{name}.c"))[0])) for name in programs)
    files[".gitignore"] = "# SPDX-License-Identifier: GPL-2.0-only\n" + "".join(f"/{name}\n" for name in programs)
    fill(os.path.join(linux, SELFTESTS), files)
    sorted_in(os.path.join(linux, "tools/testing/selftests/Makefile"), r"TARGETS \+= (\S+)\n",
              "TARGETS += drivers/gpu/tessera\n")


def main():
    p = argparse.ArgumentParser(description="Put the driver into a Linux source tree.")
    p.add_argument("--headers", required=True, help="directory of the generated headers of the hardware")
    p.add_argument("linux", help="the tree")
    args = p.parse_args()
    linux = os.path.abspath(args.linux)
    try:
        found = version(linux)
        if found < OLDEST:
            raise TreeError("{} is Linux {}.{}; the driver is written for {}.{} (and builds outside of older ones)"
                            .format(linux, *found, *OLDEST))
        driver(linux, args.headers)
        uapi_and_pages(linux)
        # a checkout without tests/ has the driver all the same
        if os.path.isdir(os.path.join(TOP, "tests/kselftest")):
            selftests(linux, args.headers)
    except (TreeError, OSError) as e:
        print(f"tessera: error: {e}", file=sys.stderr)
        return 1
    print(os.path.join(linux, DRIVER))
    return 0


if __name__ == "__main__":
    sys.exit(main())
