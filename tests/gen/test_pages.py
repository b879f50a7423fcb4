# SPDX-License-Identifier: MIT
"""Tests of the generated tables inside Markdown pages."""

import os
import shutil
import tempfile
import unittest

from test_generate import HERE, generate

ALL = """\
# Page

Prose before.

<!-- generated: map -->
<!-- end generated -->
<!-- generated: consts -->
<!-- end generated -->
<!-- generated: counters -->
<!-- end generated -->
<!-- generated: packets -->
<!-- end generated -->
<!-- generated: registers ONE B -->
<!-- end generated -->
<!-- generated: packet MIXED GROWS PAYLOAD EMPTY -->
<!-- end generated -->
<!-- generated: enum ENGINE_CLASS MODE -->
<!-- end generated -->
<!-- generated: bitset FLAG -->
<!-- end generated -->
<!-- generated: struct PAIR -->
<!-- end generated -->

```
<!-- generated: nothing in a code block is touched -->
```

Prose behind.
"""

# Written by hand from sample.xml.
BLOCK_B = """\
`B` at `0x1000`, 6 instances `0x100` apart.

Prose of the block.

Second paragraph.

| Offset | Register | Bits | Access | Reset | Meaning |
|---|---|---|---|---|---|
| `0x04` | **R** | 31:0 | w1c | 0 | Plain. |
|  | F | 7:4 |  |  | Nibble. Access: ro. |
| `0x80` + 8·i | **W**\\[3\\] | 63:0 | rw | 0 | An array of wide ones. See `FLAG`. |
"""
MODE = """\
| Value | `MODE` | errno | word | Meaning |
|---|---|---|---|---|
| 0 | `OFF` | 0 | zero | Nothing \\| "nothing". |
| 9 | `ON` | EIO | nine | Some\\*thing\\*. |
"""
GROWS = """\
**`GROWS`**: opcode `0x80`, 2 to 4 qwords, in rings and user streams, on all queues.

Its later qwords are optional.

| Qword | Bits | Field | Type | Meaning |
|---|---|---|---|---|
| 1 | 63:0 | `FIRST` | uint | Always there. A multiple of 8. |
| 2 | 9:5 | `SECOND` | uint | Perhaps. |
| 3 | 63 | `LAST` | bool | Even more perhaps. |
| 3 | 62:0 | `NEGATIVE` | int | Signed, 63 bits. |
"""
MAP = """\
| From | To | Block | Instances | Stride | Holds |
|---|---|---|---|---|---|
| `0x00000` | `0x0002b` | `ONE` | 1 |  | A single block |
| `0x01000` | `0x015ff` | `B` | 6 | `0x100` | Several |
"""


class Pages(unittest.TestCase):
    """--docs and --check."""

    def setUp(self):
        self.work = tempfile.mkdtemp(prefix="tsr-pages-")
        shutil.copy(os.path.join(HERE, "sample.xml"), self.work)
        self.page = os.path.join(self.work, "page.md")

    def tearDown(self):
        shutil.rmtree(self.work)

    def write(self, text):
        with open(self.page, "w", encoding="utf-8") as stream:
            stream.write(text)

    def read(self):
        with open(self.page, encoding="utf-8") as stream:
            return stream.read()

    def run_generator(self, *arguments):
        process = generate("--source", self.work, *arguments)
        return process.returncode, process.stderr

    def test_docs(self):
        """--docs writes the tables worked out by hand and leaves the prose alone"""
        self.write(ALL)
        self.assertEqual(self.run_generator("--docs"), (0, ""))
        text = self.read()
        for table in (BLOCK_B, MODE, GROWS, MAP):
            self.assertIn("\n" + table, text)
        self.assertTrue(text.startswith("# Page\n\nProse before.\n\n<!-- generated: map -->\n"))
        self.assertTrue(text.endswith("\n```\n<!-- generated: nothing in a code block is touched -->\n```\n\n"
                                      "Prose behind.\n"))
        self.assertEqual(self.run_generator("--docs", "--check"), (0, ""))
        self.assertEqual(self.read(), text)

    def test_check_stale(self):
        """--check names file, line and table when one cell is changed, and changes nothing"""
        self.write(ALL)
        self.run_generator("--docs")
        text = self.read().replace("| Even more perhaps. |", "| Even less perhaps. |")
        self.write(text)
        status, message = self.run_generator("--check")
        line = text.split("\n").index("<!-- generated: packet MIXED GROWS PAYLOAD EMPTY -->") + 1
        self.assertEqual(status, 1)
        self.assertIn(f"{self.page}:{line}: the generated table \"packet MIXED GROWS PAYLOAD EMPTY\" is stale",
                      message)
        self.assertEqual(len(message.splitlines()), 1)
        self.assertEqual(self.read(), text)

    def test_check_changed_description(self):
        """--check fails when the description changes and the page does not"""
        self.write(ALL)
        self.run_generator("--docs")
        xml = os.path.join(self.work, "sample.xml")
        with open(xml, encoding="utf-8") as stream:
            text = stream.read()
        with open(xml, "w", encoding="utf-8") as stream:
            stream.write(text.replace('value="9" errno', 'value="8" errno'))
        status, message = self.run_generator("--check")
        self.assertEqual(status, 1)
        self.assertIn("\"enum ENGINE_CLASS MODE\" is stale", message)

    def test_check_missing(self):
        """--check names a part of the description that no page shows"""
        self.write(ALL.replace(" GROWS", "").replace("<!-- generated: map -->\n<!-- end generated -->\n", ""))
        self.run_generator("--docs")
        status, message = self.run_generator("--check")
        self.assertEqual(status, 1)
        self.assertIn("sample.xml:51: no page shows packet GROWS", message)
        self.assertIn("no page shows <!-- generated: map -->", message)

    def test_names(self):
        """--check finds names in the prose that the description does not have, and accepts those it has"""
        good = "TSR_ANYTHING ONE.WIDE.TOP B[n].R MODE.OFF WIDE.LOW ENGINE_CLASS BAR0 PAIR.LEFT MIXED.KIND B[3].W[2]\n"
        self.write(ALL.replace("Prose before.\n", good))
        self.run_generator("--docs")
        self.assertEqual(self.run_generator("--check"), (0, ""))
        bad = ["ONE.WIDTH", "RING_BASE", "B[n].WIDE", "ONE.WIDE.MIDDLE", "MODE.ONN", "NOTHING.ID"]
        self.write(self.read().replace("Prose behind.\n", "\n".join(bad) + "\n```\nIN_CODE\n```\n"))
        status, message = self.run_generator("--check")
        self.assertEqual(status, 1)
        self.assertEqual([line.split()[-1] for line in message.splitlines()], bad)

    def test_bad_markers(self):
        """a marker of unknown kind or name, or without an end, is an error and nothing is written"""
        for text, expected in (("<!-- generated: tables -->\n<!-- end generated -->\n", ":1: no table of kind"),
                               ("\n<!-- generated: enum NONE -->\n<!-- end generated -->\n",
                                ":2: the description has no enum \"NONE\""),
                               ("<!-- generated: enum -->\n<!-- end generated -->\n", "needs a name"),
                               ("<!-- generated: map B -->\n<!-- end generated -->\n", "takes no name"),
                               ("<!-- generated: map -->\n\ntext\n", "has no line <!-- end generated -->"),
                               ("<!-- generated: map -->\n<!-- generated: map -->\n<!-- end generated -->\n",
                                ":1: the generated table \"map\" has no line"),
                               ("text\n<!-- end generated -->\n", ":2: the end of a generated table")):
            with self.subTest(text=text):
                self.write(text)
                status, message = self.run_generator("--docs")
                self.assertEqual(status, 1)
                self.assertIn(expected, message)
                self.assertEqual(self.read(), text)
