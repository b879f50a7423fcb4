# SPDX-License-Identifier: MIT
"""Run the unittest cases of a module and print KTAP.

    if __name__ == "__main__":
        sys.exit(ktap_unittest.main(__name__))

The first line of a test's docstring is its description. unittest's skips need a reason, as everywhere.
"""

import sys
import unittest


class KtapResult(unittest.TestResult):
    """Prints a line per test; details of a failure follow as comments."""

    def __init__(self):
        super().__init__()
        self.count = 0
        self.bad = 0

    def _line(self, ok, test, note=""):
        self.count += 1
        self.bad += not ok
        what = (test.shortDescription() or test.id()).replace("#", "")
        print(f"{'ok' if ok else 'not ok'} {self.count} - {what}{note}", flush=True)

    def _failure(self, test, error):
        self._line(False, test)
        for line in self._exc_info_to_string(error, test).splitlines():
            print(f"# {line}", flush=True)

    def addSuccess(self, test):
        self._line(True, test)

    def addSkip(self, test, reason):
        self._line(True, test, f" # SKIP {reason}")

    def addError(self, test, err):
        super().addError(test, err)
        self._failure(test, err)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._failure(test, err)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            print(f"# in {subtest.id()}", flush=True)
            for line in self._exc_info_to_string(err, test).splitlines():
                print(f"# {line}", flush=True)
            test.ktap_failed = True

    def stopTest(self, test):
        super().stopTest(test)
        if getattr(test, "ktap_failed", False):
            self._line(False, test)


def main(module):
    """Run every test of the module; returns the exit status."""
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules[module])
    print("KTAP version 1")
    print(f"1..{suite.countTestCases()}", flush=True)
    result = KtapResult()
    suite.run(result)
    return 1 if result.bad or result.count != suite.countTestCases() else 0
