# SPDX-License-Identifier: MIT
"""KTAP output for tests written in Python.

    from tap import Tap
    tap = Tap()
    with tap.test("[SYS8] the exit status comes back"):
        tap.eq(guest.run("exit 7").status, 7)
    with tap.test("something rare"):
        tap.skip("there is no such thing here")
    sys.exit(tap.finish())

A failed check is noted with both values and the test goes on; an exception fails the test and ends it.
"""

import contextlib
import traceback


class Skip(Exception):
    """Raised by Tap.skip()."""


class Tap:
    def __init__(self):
        self.ran = self.failed = self.bad = 0
        print("KTAP version 1", flush=True)

    @contextlib.contextmanager
    def test(self, name):
        """One test; everything in the with block belongs to it."""
        self.bad, reason = 0, None
        try:
            yield
        except Skip as e:
            reason = str(e)
        except Exception:       # whatever it is, the other tests go on
            self.fail(traceback.format_exc())
        self.ran += 1
        self.failed += bool(self.bad)
        word = "not ok" if self.bad else "ok"
        skip = f" # SKIP {reason}" if reason and not self.bad else ""
        print(f"{word} {self.ran} - {name}{skip}", flush=True)

    def note(self, text):
        for line in str(text).splitlines():
            print(f"# {line}", flush=True)

    def fail(self, text):
        self.bad += 1
        self.note(text)

    def eq(self, got, want, what="value"):
        if got != want:
            place = traceback.extract_stack(limit=2)[0]
            self.fail(f"{what}: expected {want!r}, got {got!r} ({place.filename}:{place.lineno})")

    def ok(self, condition, what):
        if not condition:
            place = traceback.extract_stack(limit=2)[0]
            self.fail(f"not true: {what} ({place.filename}:{place.lineno})")

    def skip(self, reason):
        raise Skip(reason)

    def finish(self):
        """Print the plan; the exit status."""
        print(f"1..{self.ran}", flush=True)
        return 1 if self.failed or not self.ran else 0
