#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fuzz the driver in guests whose kernel has KCOV (`make fuzz-kernel`): boot some, let kcov_ioctls work in each, and boot
another one after a complaint of a kernel. A program that the kernel complains about is made shorter and written as C.

    OUT/corpus/GUEST-NUMBER     programs that took new branches; all guests use them, and the next run begins with them
    OUT/found/NAME/complaint    the first line of the complaint
    OUT/found/NAME/program      the shortest program found that has it, for kcov_ioctls --run
    OUT/found/NAME/repro.c      the same as C: copy it to tests/debug, and make guest VARIANT=kcov CMD=repro
    OUT/found/NAME/console      the guest's console

Status: 0 nothing found, 1 something found, 2 bad usage or no guest."""

import argparse
import contextlib
import os
import re
import shutil
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "..", "..", "qemu-device", "vm")]
from guest import Guest, GuestError  # noqa: E402

TOP = os.environ["TSR_TOP"]
DEVICE = "vram=64M,inject-window=on"
# A mutant takes the driver's place, with the parameters that modprobe takes from the kernel's command line; nodes appear
# a moment later.
LOAD = ("modprobe tessera && rmmod tessera && insmod /mnt/tessera.ko {} || exit; "
        "n=0; while [ ! -e /dev/dri/renderD128 ] && [ $n -lt 100 ]; do n=$((n + 1)); usleep 50000; done")
BOOTS = 3               # before there is no guest
TRY_LIMIT = 90          # seconds for one program
STATUS = {3: "complaint", 4: "no end"}
LOST = 5                # the device is: the next session has another one


class Fuzz:
    """One run: where its files are, and what has been found. Guest n is thread n's. @lock is for what all of them share."""

    def __init__(self, out, mutant, guests):
        self.out, self.mutant, self.guests, self.found = os.path.abspath(out), mutant, guests, {}
        self.lock, self.error = threading.Lock(), None
        if not os.path.isdir(self.path("corpus")):
            shutil.copytree(os.path.join(HERE, "seeds"), self.path("corpus"))
        if mutant:
            done = subprocess.run(["bash", f"{TOP}/qemu-device/vm/module.sh", os.environ["TSR_KDIR"]], text=True, check=True,
                                  stdout=subprocess.PIPE, env=dict(os.environ, MUTANT=mutant))
            shutil.copy(done.stdout.strip(), os.path.join(self.out, "tessera.ko"))

        self.remove("stop")

    def remove(self, name):
        with contextlib.suppress(FileNotFoundError):
            os.remove(self.path(name))

    def stop(self):
        """All guests end soon."""
        with open(self.path("stop"), "w"):
            pass

    def path(self, *names):
        return os.path.join(self.out, *names)

    def read(self, name):
        try:
            with open(self.path(name), errors="replace") as f:
                return f.read()
        except FileNotFoundError:
            return ""

    @contextlib.contextmanager
    def guest(self):
        """A guest with the device and the driver. A boot that fails is no find, since no program has run; it is tried again."""
        for left in reversed(range(BOOTS)):
            guest = Guest(device_args=DEVICE, share=self.out, load=not self.mutant)
            guest.dies = True       # complaints are finds, no trouble of this script
            try:
                guest.start()
                break
            except GuestError as e:
                guest.stop()
                if not left:
                    raise
                print(f"fuzz_kernel.py: {str(e).splitlines()[0]}; booting again", flush=True)
        try:
            yield guest
        finally:
            guest.stop()

    def load(self, guest):
        parameters = " ".join(re.findall(r"\btessera\.(\S+)", guest.kernel_args))
        if self.mutant and guest.run(LOAD.format(parameters), 120).status:
            raise GuestError(f"the driver with {self.mutant} cannot be loaded")

    # ---- One guest ---------------------------------------------------------------------------------

    def session(self, number, seconds, seed, blind):
        """Fuzz in guest @number. Returns None, or (what, complaint, console) of the first find."""
        for name in ("now", "complaint"):
            self.remove(f"{number}.{name}")
        with self.guest() as g:
            self.load(g)
            command = f"kcov_ioctls /mnt {number} {self.guests} {seconds} {seed}{' blind' if blind else ''}"
            try:
                result = g.run(command, seconds + 300, stdout=lambda data: show(number, data))
            except GuestError as e:
                return "panic", first_complaint(g.console()) or str(e).splitlines()[0], g.console()
            if result.status in STATUS:
                return STATUS[result.status], self.read(f"{number}.complaint").strip(), g.console()
            if result.status not in (0, LOST):
                raise GuestError(f"kcov_ioctls ends with status {result.status}: {result.stderr.decode(errors='replace')}")
        return None

    def complains(self, number, lines, c_file=None):
        """Run a program in a guest of its own; the complaint, or None."""
        with open(self.path(f"{number}.try"), "w") as f:
            f.writelines(lines)
        with self.guest() as g:
            self.load(g)
            try:
                result = g.run(f"kcov_ioctls --run /mnt/{number}.try {c_file or ''}", TRY_LIMIT)
            except GuestError as e:
                return first_complaint(g.console()) or str(e).splitlines()[0]
            return first_complaint(g.console()) or "a complaint" if result.status == 3 else None

    # ---- A find --------------------------------------------------------------------------------------

    def shorten(self, number, lines, end):
        """The program without the calls that it does not need. It stops at @end, with what it has."""
        chunk = max(len(lines) // 2, 1)
        while True:
            at = len(lines) - chunk
            while at >= 0 and time.monotonic() < end:
                less = lines[:at] + lines[at + chunk:]
                if less and self.complains(number, less):
                    lines = less
                at -= chunk
            if chunk == 1 or time.monotonic() >= end:
                return lines
            chunk //= 2

    def keep(self, number, what, complaint, console, shorten_seconds):
        """Write down a find of guest @number, unless it is known."""
        name = re.sub(r"[^A-Za-z0-9_]+", "-", what + " " + without_numbers(complaint)).strip("-")[:80].lower()
        with self.lock:
            known = name in self.found
            self.found[name] = self.found.get(name, 0) + 1
        if known:
            return
        os.makedirs(self.path("found", name), exist_ok=True)
        lines = [line for line in self.read(f"{number}.now").splitlines(True) if line.strip()]
        print(f"found: {complaint or what} ({len(lines)} calls)", flush=True)
        if what != "no end":
            lines = self.shorten(number, lines, time.monotonic() + shorten_seconds)
        again = self.complains(number, lines, f"/mnt/{number}.body.c")
        note = complaint if again else f"{complaint}\n(the program alone does not show it again)"
        for leaf, text in (("complaint", note + "\n"), ("program", "".join(lines)), ("console", console),
                           ("repro.c", reproducer(note, self.read(f"{number}.body.c")))):
            with open(self.path("found", name, leaf), "w") as f:
                f.write(text)
        print(f"  {self.path('found', name)}: {len(lines)} calls{'' if again else ', not seen again'}", flush=True)

    # ---- All guests ------------------------------------------------------------------------------------

    def work(self, number, end, args):
        """Thread @number: one guest after the other. An error, too, ends all of them."""
        seed = args.seed + number
        try:
            while time.monotonic() < end and not os.path.exists(self.path("stop")):
                seed += self.guests
                find = self.session(number, max(int(end - time.monotonic()), 1), seed, args.blind)
                if find and args.first:
                    self.stop()
                if find:
                    self.keep(number, *find, args.shorten)
        except (GuestError, OSError, subprocess.CalledProcessError) as e:
            self.error = e
            self.stop()

    def run(self, args):
        end = time.monotonic() + args.seconds
        threads = [threading.Thread(target=self.work, args=(n, end, args)) for n in range(self.guests)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self.error:
            raise self.error


def show(number, data):
    """Progress of kcov_ioctls, as it comes."""
    for line in data.decode(errors="replace").splitlines():
        print(f"{number}: {line}", flush=True)


def first_complaint(console):
    for line in console.splitlines():
        if re.search(r"WARNING: |BUG: |KASAN: |UBSAN: |Oops|general protection|refcount_t: |kernel BUG|ODEBUG: ", line):
            return re.sub(r"^\[[^]]*\] ", "", line).strip()
    return None


def without_numbers(text):
    """A complaint without what differs each time."""
    return re.sub(r"\b(0x)?[0-9a-f]{4,}\b|\d+", "", text.splitlines()[0] if text else "")


def reproducer(complaint, body):
    comment = "\n".join(f" * {line}" for line in complaint.splitlines())
    return ("// SPDX-License-Identifier: MIT\n/*\n * Made by make fuzz-kernel. The kernel complains:\n"
            f"{comment}\n */\n#include \"gt_repro.h\"\n\nint main(void)\n{{\n\topen_file();\n{body}\treturn finish();\n}}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", required=True, help="directory of corpus and finds")
    parser.add_argument("--seconds", type=int, default=3600, help="of fuzzing (default 3600)")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="of the random choices (default: the time)")
    parser.add_argument("--blind", action="store_true", help="without feedback, for comparison")
    parser.add_argument("--mutant", help="a driver with a known bug (tests/mutants)")
    parser.add_argument("--first", action="store_true", help="end at the first find")
    parser.add_argument("--guests", type=int, default=os.cpu_count(), help="at a time (default: as many as processors)")
    parser.add_argument("--shorten", type=int, default=600, help="most seconds to make a program shorter (default 600)")
    args = parser.parse_args()
    try:
        fuzz = Fuzz(args.out, args.mutant, min(args.guests, 64))
        fuzz.run(args)
    except (GuestError, OSError, subprocess.CalledProcessError) as e:
        print(f"fuzz_kernel.py: {e}", file=sys.stderr)
        return 2
    print(f"{len(os.listdir(fuzz.path('corpus')))} programs in the corpus, {len(fuzz.found)} kinds of complaints")
    for name, times in fuzz.found.items():
        print(f"  {name}: {times} times")
    return 1 if fuzz.found else 0


if __name__ == "__main__":
    sys.exit(main())
