#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The files of the tree: those that git tracks, or in a tarball of `make dist` all of them.

    tree.py PATTERN...      print those that match, each ended by a NUL

A pattern is one of fnmatch. A "*" in it also matches "/"."""

import fnmatch
import os
import subprocess
import sys

DROPPINGS = ("__pycache__", ".cache")


def unpacked():
    for folder, folders, names in os.walk("."):
        folders[:] = sorted(f for f in folders if f not in DROPPINGS)
        yield from (os.path.join(folder, name)[2:] for name in sorted(names))


def files(*patterns):
    """Paths relative to the top directory, which is the current one. Without patterns all of them. Those that were
    removed and are still in git's index are left out."""
    if os.path.exists(".git"):
        said = subprocess.run(["git", "ls-files", "-z"], capture_output=True, text=True, check=True).stdout
        found = [path for path in said.split("\0") if path and os.path.exists(path)]
    else:
        found = list(unpacked())
    return [path for path in found if not patterns or any(fnmatch.fnmatchcase(path, p) for p in patterns)]


if __name__ == "__main__":
    sys.stdout.write("".join(path + "\0" for path in files(*sys.argv[1:])))
