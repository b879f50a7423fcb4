# SPDX-License-Identifier: MIT
"""JUnit XML, as CI services read it: one file for each suite.

A program is a <testsuite>, a test a <testcase>. A test that reports "not ok" is a <failure>. An <error> has a type:
"program" if a program crashed, ran out of time or printed no valid KTAP, "infrastructure" if it could not be run at
all, because it was not built or no guest booted. The latter says nothing about what is tested.
"""

import os
import re
import xml.etree.ElementTree as xml

# Characters that XML cannot hold, even escaped.
FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
TEXT_MAX = 20000        # characters of a program's output that are kept


class Broken(str):
    """A problem of the infrastructure, in a list of problems."""


def clean(text):
    return FORBIDDEN.sub("?", text)


def case(parent, program, name, seconds=0):
    return xml.SubElement(parent, "testcase", classname=clean(program), name=clean(name), time=f"{seconds:.1f}")


class Document:
    """The results of one suite, program by program."""

    def __init__(self, suite):
        self.root = xml.Element("testsuites", name=suite)

    def program(self, label, results, problems, text, seconds):
        """A program is over: its Results (ktap.py), what was wrong with it as a whole, and what it printed."""
        suite = xml.SubElement(self.root, "testsuite", name=clean(label), time=f"{seconds:.1f}")
        for result in results:
            test = case(suite, label, result.name)
            if result.status == "skipped":
                xml.SubElement(test, "skipped", message=clean(result.reason))
            elif result.status == "failed":
                xml.SubElement(test, "failure", message="not ok")
        for problem in problems:
            kind = "infrastructure" if isinstance(problem, Broken) else "program"
            first, _, rest = clean(problem).partition("\n")
            xml.SubElement(case(suite, label, "the program as a whole"), "error", type=kind, message=first).text = rest
        for name, tag in (("tests", "testcase"), ("failures", "testcase/failure"), ("errors", "testcase/error"),
                          ("skipped", "testcase/skipped")):
            suite.set(name, str(len(suite.findall(tag))))
        if suite.get("failures") != "0" or suite.get("errors") != "0":
            xml.SubElement(suite, "system-out").text = clean(text)[-TEXT_MAX:]

    def write(self, path):
        """Write the file aside, then rename it."""
        os.makedirs(os.path.dirname(path), exist_ok=True)
        aside = f"{path}.{os.getpid()}"
        xml.ElementTree(self.root).write(aside, encoding="utf-8", xml_declaration=True)
        os.rename(aside, path)


def write_broken(path, suite, why, text):
    """The file of a suite that could not run."""
    document = Document(suite)
    document.program(suite, [], [Broken(why)], text, 0)
    document.write(path)
