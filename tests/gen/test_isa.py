# SPDX-License-Identifier: MIT
"""The instruction set in the generator: rules of its schema, its tables in pages, the C it makes.

Every case of RULES is isa_sample.xml with one replacement; the complaint must name the line where the replacement
starts, unless the rule is one of ELSEWHERE.
"""

import os
import shutil
import subprocess
import tempfile
import unittest

from test_generate import HARDWARE, HERE, STRICT, generate

SINGLE = '<format name="SINGLE" mask="0xb8" match="0x08" last="0">'
OP = '<encoding mask="0x7ffe00" match="0x2c0000">'
ROUND = '<set bits="7:6" modifiers="round">none rtp - rtn</set>'
ORDERED = '<set bits="8" modifiers="abs0 abs1" order="lt eq">none none, abs none</set>'
LOAD = '<instruction unit="add" name="LOAD.i32" message="LOAD"'
MODE = '<mode number="17" slot2="idle" slot3="write" from="fma" tuples="first other"/>'

# (what is broken, text, replacement, complaint)
RULES = [
    ("unknown element", MODE, "<modus/>", "unknown element <modus>"),
    ("unknown attribute", MODE, MODE.replace("slot2", "slot1"), "<mode> has no attribute slot1="),
    ("missing attribute", MODE, MODE.replace('slot2="idle" ', ""), "<mode> needs the attribute slot2="),
    ("wrong place", ROUND, "<mode/>", "<mode> does not belong into <encoding>"),
    ("not a number", MODE, MODE.replace('"17"', '"many"'), 'number="many" is not a number'),
    ("unknown action", MODE, MODE.replace("idle", "sleep"), 'slot2="sleep" is not one of idle, read'),
    ("unknown place", MODE, MODE.replace("other", "second"), 'tuples="second" is not one of first, other'),
    ("writer of nothing", MODE, MODE.replace('slot3="write"', 'slot3="idle"'), "from= belongs to modes in which"),
    ("mode out of range", MODE, MODE.replace("17", "32"), "mode 32: not in 1..31"),
    ("bad bits", ROUND, ROUND.replace("7:6", "7-6"), 'bits="7-6" is neither N nor HIGH:LOW'),
    ("overlapping header", 'bits="13:11">What', 'bits="36:35">What', "header MESSAGE: overlaps another field"),
    ("header too long", 'bits="39:35"', 'bits="49:45"', "ends beyond bit 44"),
    ("unknown values", 'values="MESSAGE"', 'values="MASSAGE"', "there are no values MASSAGE"),
    ("two headers of one name", 'name="FLOW"', 'name="MESSAGE"', "MESSAGE is described twice"),
    ("part of nothing", 'to="header"', 'to="footer"', 'to="footer " is no place for bits'),
    ("overlapping parts", 'bits="127:83"', 'bits="126:82"', "format SINGLE: bits of a part overlap"),
    ("part of another width", 'at="44:0"', 'at="43:0"', "format SINGLE: bits= and at= differ in width"),
    ("part beyond", 'bits="67:8" at="63:4"', 'bits="67:8" at="64:5"', "bits= and at= differ in width, or at= is too"),
    ("match outside the mask", SINGLE, SINGLE.replace("0x08", "0x48"), "format SINGLE: match has bits outside"),
    ("tags of two formats", 'mask="0xb0" match="0x30"', 'mask="0x30" match="0x00"', "format CONSTS: tag 0x08 is SINGLE's"),
    ("unknown format", 'formats="SINGLE"', 'formats="DOUBLE"', "layout 1: there is no format DOUBLE"),
    ("layout without an end", SINGLE, SINGLE.replace(' last="0"', ""), "SINGLE is the wrong place to end"),
    ("incomplete tuple", 'bits="2:0" at="77:75"', 'bits="1:0" at="77:76"', "layout 1: tuple 0 is not complete"),
    ("unknown relation", 'first="HI"', 'first="UP"', "first= and second= are values of PCREL"),
    ("family of one value", '"none abs"', '"abs"', "modifier abs: fewer than two values"),
    ("none not first", '"none rtp rtn"', '"rtp none rtn"', "none is always the first value"),
    ("family nobody has", '<modifier family="seg"', '<modifier family="sem" values="a b">.</modifier>'
     '<modifier family="seg"', "modifier sem: no instruction has it"),
    ("two instructions of one name", LOAD, LOAD.replace("LOAD.i32", "NOP"), "NOP is described twice"),
    ("unknown unit", 'unit="fma" name="OP', 'unit="mul" name="OP', 'unit="mul" is not one of fma, add'),
    ("no text", "  a + b.\n", "\n", "fma OP.f32: what does it do?"),
    ("unknown message", 'message="LOAD"', 'message="SEND"', "there is no message SEND"),
    ("unknown other message", "seg=ubo:NONE", "seg=ubo:SEND", "there is no message SEND"),
    ("unknown staging", 'staging="write"', 'staging="eat"', 'staging="eat" is not one of read, write, both'),
    ("words of nothing", 'words="1"', 'words="some"', 'words="some" is neither a number nor format nor count'),
    ("unknown immediate", '<immediate name="index" bits="7:3"/>', '<immediate name="offset" bits="7:3"/>',
     "there is no immediate offset"),
    ("unknown default", 'value="rtp"', 'value="rto"', "round rto is none of its modifiers or values"),
    ("unknown not public", 'unknown-of="seg=wls"', 'unknown-of="seg=tl"', "seg tl is none of its modifiers or values"),
    ("selector 8", 'allow="0-1 4-7"', 'allow="0-8"', 'allow="0-8" is no list of selectors'),
    ("no encoding", '<encoding mask="0xfffff" match="0x20000"/>', "", "add NOP: has no encoding"),
    ("mask too wide", OP, OP.replace("0x7ffe00", "0xfffe00"), "match has bits outside the mask, or the mask is too wide"),
    ("bits nobody explains", OP, OP.replace("0x7ffe00", "0x7ffc00"), "nothing is said about bits 0x200"),
    ("bits explained twice", ROUND, ROUND.replace("7:6", "8:7"), "bits 8:8 overlap others"),
    ("source over a set", '<source bits="5:3"/>', '<source bits="8:6"/>', "overlap others"),
    ("modifier twice", ROUND, ROUND.replace("round", "abs0").replace("none rtp - rtn", "none - - abs"),
     "a modifier is in two sets"),
    ("modifier nowhere", ROUND, '<set bits="7:6" modifiers="seg">none wls ubo</set>',
     "round rtp is none of its modifiers"),
    ("unknown modifier", ROUND, ROUND.replace('"round"', '"ground"'), "there is no modifier ground"),
    ("unknown value", ROUND, ROUND.replace("- rtn", "- rtz"), "modifier round has no value rtz"),
    ("two encodings of a value", ROUND, ROUND.replace("- rtn", "- rtp"), "rtp has two encodings"),
    ("too many rows", ROUND, ROUND.replace("rtn", "rtn none"), "more rows than 2 bits can choose"),
    ("row of another length", ORDERED, ORDERED.replace("abs none", "abs"), '"abs" must be one value for each of abs0, abs1'),
    ("key that is no number", ORDERED, ORDERED.replace("abs none", "x: abs none"), "what stands before the colon"),
    ("unknown order", ORDERED, ORDERED.replace("lt eq", "ne"), 'order="ne" is not one of lt, eq, gt'),
    ("extension that is in use", 'match="0xe0000"', 'match="0x10000"', "extension LATER: LOAD.i32"),
]
# Rules whose complaint points at another element than the one the case changes.
ELSEWHERE = {"overlapping header", "two headers of one name", "layout without an end", "incomplete tuple", "no encoding",
             "no text", "two instructions of one name", "source over a set", "modifier twice", "modifier nowhere",
             "unknown default", "unknown not public", "unknown modifier", "tags of two formats", "unknown other message",
             "words of nothing", "unknown immediate", "bits explained twice"}

PAGE = """\
<!-- generated: isa-header -->
<!-- end generated -->
<!-- generated: isa-values MESSAGE FAU PCREL -->
<!-- end generated -->
<!-- generated: isa-constants -->
<!-- end generated -->
<!-- generated: isa-formats -->
<!-- end generated -->
<!-- generated: isa-layouts -->
<!-- end generated -->
<!-- generated: isa-positions -->
<!-- end generated -->
<!-- generated: isa-relations -->
<!-- end generated -->
<!-- generated: isa-modes -->
<!-- end generated -->
<!-- generated: isa-modifiers -->
<!-- end generated -->
<!-- generated: isa-immediates -->
<!-- end generated -->
<!-- generated: isa-extensions -->
<!-- end generated -->
<!-- generated: isa-unknown -->
<!-- end generated -->
<!-- generated: instructions isa_sample -->
<!-- end generated -->
"""
# Written by hand from isa_sample.xml.
TABLES = [
    "| 13:11 | `FLOW` | What follows. |\n| 39:35 | `MESSAGE` | Its message. See `MESSAGE`. |\n",
    "| `0x40` to `0x4f` | 0 |\n",
    "| `0S001iii` | `SINGLE` | The only tuple. | 82:8 tuple 0 74:0, 2:0 tuple 0 77:75, 127:83 header 44:0 |\n",
    "| 1 | `SINGLE` | 0, 2 |\n",
    "| `0x0` | 1 | 0 and 1 |\n",
    "| 0 | any | `NONE` | `NONE` |\n| 7 | 1 | `HI` | `NONE` |\n",
    "| 17 | idle | write of FMA | the first tuple, later tuples |\n",
    "| `abs` (abs0, abs1) | none abs | Absolute. |\n",
    "| ADD | word & `0xf0000` = `0xe0000` | `LATER` | Set aside. |\n",
    "| ADD | `LOAD.i32` | seg wls |\n| ADD | `NOP` | everything |\n",
    "#### FMA `OP.f32`\n\na + b.\n\n* word & `0x7ffe00` = `0x2c0000`; a 2:0 (not 2, 3); b 5:3; 7:6 `round`: 0 none, 1 rtp, 3 rtn; "
    "8 `abs0` `abs1` if a's selector is below b's or a's selector is b's: 0 none none, 1 abs none; "
    "8 `abs0` `abs1` if a's selector is above b's: 1 abs abs\n",
    "Loads \\*one\\* word.\n\nMessage `LOAD`, `NONE` with seg ubo, writes 1 staging word, in the last tuple of its clause "
    "only, pair `one`, no result, emitted for G71 only.\n\n* word & `0xffc00` = `0x10000`; a 2:0; 7:3 `index`; "
    "9:8 `seg`: none, wls, ubo\n",
]


class Isa(unittest.TestCase):
    """The part of the generator that knows the instruction set."""

    @classmethod
    def setUpClass(cls):
        with open(os.path.join(HERE, "isa_sample.xml"), encoding="utf-8") as stream:
            cls.sample = stream.read()

    def setUp(self):
        self.work = tempfile.mkdtemp(prefix="tsr-isa-")
        shutil.copy(os.path.join(HERE, "sample.xml"), self.work)
        self.write("isa_sample.xml", self.sample)

    def tearDown(self):
        shutil.rmtree(self.work)

    def write(self, name, text):
        with open(os.path.join(self.work, name), "w", encoding="utf-8") as stream:
            stream.write(text)

    def test_rules(self):
        """[ISA1] every rule of the instruction set's schema complains with file and line when it is broken"""
        self.assertEqual(generate("--source", self.work).returncode, 0)
        for what, old, new, complaint in RULES:
            with self.subTest(rule=what):
                self.assertEqual(self.sample.count(old), 1)
                line = self.sample[:self.sample.index(old)].count("\n") + 1
                self.write("isa_sample.xml", self.sample.replace(old, new))
                process = generate("--source", self.work, "--out", os.path.join(self.work, "out"))
                self.assertEqual(process.returncode, 1)
                self.assertIn(complaint, process.stderr)
                found = next(text for text in process.stderr.splitlines() if complaint in text)
                self.assertRegex(found, r"^\S*isa_sample\.xml:\d+: ")
                if what not in ELSEWHERE:
                    self.assertIn(f"isa_sample.xml:{line}: ", found)
                self.assertFalse(os.path.isdir(os.path.join(self.work, "out")))

    def test_tables(self):
        """the instruction set's tables in a page are those worked out by hand"""
        self.write("page.md", PAGE)
        process = generate("--source", self.work, "--docs")
        self.assertEqual((process.returncode, process.stderr), (0, ""))
        with open(os.path.join(self.work, "page.md"), encoding="utf-8") as stream:
            text = stream.read()
        for table in TABLES:
            self.assertIn(table, text)
        self.write("isa_sample.xml", self.sample.replace("a + b.", "a - b."))
        process = generate("--source", self.work, "--check")
        self.assertEqual(process.returncode, 1)
        self.assertIn("the generated table \"instructions isa_sample\" is stale", process.stderr)

    def test_all_shown(self):
        """--check names the part of the instruction set that no page shows"""
        self.write("page.md", PAGE.replace("MESSAGE FAU PCREL", "MESSAGE PCREL")
                   .replace("<!-- generated: instructions isa_sample -->\n<!-- end generated -->\n", ""))
        generate("--source", self.work, "--docs")
        process = generate("--source", self.work, "--check")
        self.assertIn("no page shows isa-values FAU", process.stderr)
        self.assertIn("no page shows instructions isa_sample", process.stderr)

    def test_compiles(self):
        """tsr_isa.h and tsr_isa.c are the same every time and compile as strict C11, the header as C++11"""
        outs = [os.path.join(self.work, name) for name in ("one", "two")]
        for seed, out in enumerate(outs):
            self.assertEqual(generate("--source", HARDWARE, "--out", out, seed=str(seed + 1)).returncode, 0)
        for name in ("tsr_isa.h", "tsr_isa.c"):
            texts = []
            for out in outs:
                with open(os.path.join(out, name), encoding="utf-8") as stream:
                    texts.append(stream.read())
            self.assertEqual(texts[0], texts[1])
            subprocess.run(["cc", *STRICT, "-x", "c", "-fsyntax-only", os.path.join(outs[0], name)], check=True)
        subprocess.run(["c++", "-std=c++11", *STRICT[1:], "-x", "c++", "-fsyntax-only",
                        os.path.join(outs[0], "tsr_isa.h")], check=True)
