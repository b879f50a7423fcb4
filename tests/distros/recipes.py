#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""recipes.py FOR DIRECTORY: read a recipe of `make export TO=...` from standard input and print a shell script with its steps, as
that service would run them in DIRECTORY. Reads as much YAML as the recipes use."""

import re
import sys

WORKSPACE = {"github": ("GITHUB_WORKSPACE", r"\$\{\{ github\.workspace \}\}"), "gitlab": ("CI_PROJECT_DIR", r"\$CI_PROJECT_DIR"),
             "drm-ci": ("CI_PROJECT_DIR", r"\$CI_PROJECT_DIR")}


def block(text, name):
    """The lines below "NAME:" that are indented more than it."""
    match = re.search(rf"^( *){name}:\n((?:\1 +.*\n)+)", text, re.M)
    return match[2].splitlines() if match else []


def main():
    service, directory = sys.argv[1:]
    text = sys.stdin.read()
    variable, spelled = WORKSPACE[service]
    print(f"set -e\nmkdir -p {directory}\ncd {directory}\nexport {variable}={directory}")
    for line in block(text, "env" if service == "github" else "variables"):
        name, value = line.strip().split(": ", 1)
        print(f"export {name}='{re.sub(spelled, directory, value)}'")
    prefix = "- run: " if service == "github" else "- "
    steps = [line.strip()[len(prefix):] for line in block(text, "steps" if service == "github" else "script")
             if line.strip().startswith(prefix)]
    if len(steps) < 3:
        sys.exit("recipes.py: the recipe has no steps")
    print("\n".join(steps))


if __name__ == "__main__":
    main()
