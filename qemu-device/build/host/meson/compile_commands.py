# SPDX-License-Identifier: MIT
"""compile_commands.py DIR: DIR/compile_commands.json, for editors, from those of the build directories in DIR. Sources
are named as they are in the checkout, not by the links that they are compiled through, and each once: of several sets the
first one counts."""

import glob
import json
import os
import sys


def main():
    found = {}
    for path in sorted(glob.glob(os.path.join(sys.argv[1], "*", "compile_commands.json"))):
        with open(path) as f:
            for entry in json.load(f):
                entry["file"] = os.path.realpath(os.path.join(entry["directory"], entry["file"]))
                found.setdefault(entry["file"], entry)
    out = os.path.join(sys.argv[1], "compile_commands.json")
    with open(out + ".new", "w") as f:
        json.dump(list(found.values()), f, indent=1)
    os.rename(out + ".new", out)


if __name__ == "__main__":
    main()
