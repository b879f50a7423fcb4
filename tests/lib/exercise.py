#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Exercises: repair a driver with one known bug (`make exercise N=1`).

    exercise.py N [--hint COUNT] [--again]

The first call copies the driver to a directory of its own and puts the bug into it. Edit the copy, and call again: the
copy is built, loaded in a guest and tested by the program that notices the bug, under the device's contract checker.
Status 0: the bug is gone. Status 1: something still notices it, or the driver does not build. Status 2: bad usage.
The exercises are tests/mutants/exercises/N.txt. Their bugs are those of tests/mutants, so they are always bugs of the
present driver."""

import argparse
import os
import re
import shutil
import subprocess
import sys
import textwrap

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "qemu-device", "vm")]
TOP = os.environ.get("TSR_TOP") or os.path.abspath(os.path.join(HERE, "..", ".."))
FOLDER = os.path.join(TOP, "tests", "mutants")


def numbers():
    return sorted(name[:-len(".txt")] for name in os.listdir(os.path.join(FOLDER, "exercises")) if name.endswith(".txt"))


def load(number):
    """{"Title": ..., "Mutant": ..., "Symptom": ..., "Hint": [...]} of an exercise."""
    found = {"Hint": []}
    with open(os.path.join(FOLDER, "exercises", f"{number}.txt")) as f:
        for key, text in re.findall(r"^(\w+): (.+)$", f.read(), re.M):
            if key == "Hint":
                found[key].append(text)
            else:
                found[key] = text
    return found


def check():
    """Problems of the exercises, for tests/static/mutants.sh."""
    for number in numbers():
        exercise = load(number)
        for key in ("Title", "Mutant", "Symptom"):
            if key not in exercise:
                yield f"exercise {number} has no {key}"
        if len(exercise["Hint"]) != 3:
            yield f"exercise {number} has {len(exercise['Hint'])} hints, not 3"
        patch = os.path.join(FOLDER, f"{exercise.get('Mutant')}.patch")
        if not os.path.exists(patch):
            yield f"exercise {number} names a mutant that does not exist"


def say(text):
    print(textwrap.fill(text, 100), flush=True)


def prepare(directory, exercise):
    """The copy of the driver with the bug in it."""
    aside = directory + ".new"
    shutil.rmtree(aside, ignore_errors=True)
    shutil.rmtree(directory, ignore_errors=True)
    shutil.copytree(os.path.join(TOP, "kernel"), os.path.join(aside, "kernel"))
    with open(os.path.join(FOLDER, f"{exercise['Mutant']}.patch")) as f:
        subprocess.run(["patch", "-d", aside, "-p1", "-F0", "-s", "--force", "--no-backup-if-mismatch"], stdin=f, check=True)
    os.rename(aside, directory)


def build(directory):
    """Path of the module, None if it does not build."""
    done = subprocess.run(["bash", f"{TOP}/qemu-device/vm/module.sh", os.environ["TSR_KDIR"]], stdout=subprocess.PIPE,
                          text=True, env=dict(os.environ, DRIVER=os.path.join(directory, "kernel")), check=False)
    if done.returncode:
        return None
    module = os.path.join(directory, "module", "tessera.ko")
    os.makedirs(os.path.dirname(module), exist_ok=True)
    shutil.copy(done.stdout.strip(), module)
    return module


def still_noticed(module, mutant):
    """{what notices a bug of the module: what it says}"""
    import mutants
    from run import Test, guest_source
    os.environ.pop("TSR_TROUBLE", None)
    _, program = mutants.museum()[mutant]
    return mutants.catch(module, [Test(guest_source(program), "guest/")])


def main():
    p = argparse.ArgumentParser(description="Repair a driver with one known bug.")
    p.add_argument("number", choices=numbers())
    p.add_argument("--hint", type=int, default=0, help="only print so many hints")
    p.add_argument("--again", action="store_true", help="begin anew with the bug")
    args = p.parse_args()
    exercise = load(args.number)
    directory = os.path.join(os.environ["TSR_BUILD"], "exercises", args.number)
    say(f"Exercise {args.number}: {exercise['Title']}")
    say(f"Symptom: {exercise['Symptom']}")
    for number, hint in enumerate(exercise["Hint"][:args.hint], 1):
        say(f"Hint {number}: {hint}")
    if args.hint:
        return 0
    if args.again or not os.path.isdir(directory):
        prepare(directory, exercise)
    say(f"The driver to repair is in {directory}/kernel. Building and testing it ...")
    module = build(directory)
    if not module:
        say("It does not build.")
        return 1
    noticed = still_noticed(module, exercise["Mutant"])
    for kind, what in sorted(noticed.items()):
        print(f"  {kind}: {what}")
    if noticed:
        say(f"The bug is still there. `make exercise N={args.number} HINT=1` prints a hint, HINT=3 all three.")
        return 1
    say("Nothing notices a bug any more. Compare your repair with kernel/ of the checkout.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
