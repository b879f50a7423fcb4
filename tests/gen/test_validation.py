# SPDX-License-Identifier: MIT
"""Each rule of the schema complains, once, with file and line, when it is broken.

Every case is sample.xml with one replacement; the line expected is the one where the replacement starts, or that
many lines further down.
"""

import os
import tempfile
import unittest

from test_generate import HERE, generate

FIELD = '<field name="N" qword="1" bits="7:0" min="2" max="SLOTS">Count.</field>'
ONE_BLOCK = '<block name="ONE" offset="0x0" title="A single block">'
B_BLOCK = '<block name="B" offset="0x1000" count="SLOTS" stride="0x100" title="Several">'
ID = '<reg name="ID" offset="0x0" access="ro" reset="cfg">'
ON = '<value name="ON" value="9" errno="EIO" word="nine">'
EMPTY = '<packet name="EMPTY" opcode="0xff" qwords="1" level="user"/>'
GROWS = '<packet name="GROWS" opcode="0x80" qwords="2" max_qwords="4">'

# (what is broken, text, replacement, complaint)
CASES = [
    ("malformed XML", EMPTY, "<packet", "not well-formed XML"),
    ("unknown element", EMPTY, "<packets/>", "unknown element <packets>"),
    ("element in the wrong place", ID, "<bit/>" + ID, "<bit> does not belong into <block>"),
    ("unknown attribute", ID, ID.replace("reset", "rest"), "<reg> has no attribute rest="),
    ("missing attribute", EMPTY, EMPTY.replace('opcode="0xff" ', ""), "<packet> needs the attribute opcode="),
    ("value without a number", '<value name="BIN" value="0">', '<value name="BIN">', "name= and value="),
    ("not a number", ID, ID.replace('"0x0"', '"zero"'), 'offset="zero" is neither a number nor a constant'),
    ("negative number", ID, ID.replace('"0x0"', '"-4"'), 'offset="-4" is negative'),
    ("bad name", EMPTY, EMPTY.replace("EMPTY", "Empty"), '"Empty" is not a name of the form'),
    ("bad counter name", 'name="all-things"', 'name="ALL"', '"ALL" is not a name of the form'),
    ("bad access", ID, ID.replace("ro", "r"), 'access="r" is not one of ro, wo'),
    ("bad level", EMPTY, EMPTY.replace("user", "root"), 'level="root" is not one of any, ring, user'),
    ("bad type", FIELD, FIELD.replace(' bits', ' type="float" bits'), 'type="float" is not one of'),
    ("bad bits", FIELD, FIELD.replace("7:0", "7-0"), 'bits="7-0" is neither N nor HIGH:LOW'),
    ("bits turned round", FIELD, FIELD.replace("7:0", "0:7"), "bits 0:7 stand the wrong way round"),
    ("bad scope", 'scope="global"', 'scope="world"', 'scope="world" is not one of queue, global'),
    ("duplicate constant", '<const name="BIG"', '<const name="SLOTS"', "const SLOTS: name SLOTS is already used"),
    ("duplicate block", B_BLOCK, B_BLOCK.replace('"B"', '"ONE"'), "block ONE: name ONE is already used"),
    ("duplicate packet", GROWS, GROWS.replace("GROWS", "MIXED"), "packet MIXED: name MIXED is already used"),
    ("duplicate opcode", GROWS, GROWS.replace("0x80", "0x7f"), "packet GROWS: opcode 0x7f is already used by MIXED"),
    ("duplicate enum name", '<enum name="MODE" bits="4">', '<enum name="ENGINE_CLASS" bits="4">',
     "enum ENGINE_CLASS: name ENGINE_CLASS is already used"),
    ("duplicate enum value", ON, ON.replace('"9"', '"0"'), "value ON: value 0 is already used by OFF"),
    ("duplicate enum value name", ON, ON.replace("ON", "OFF"), "value OFF: name OFF is already used"),
    ("enum value too large", ON, ON.replace('"9"', '"16"'), "ON = 0x10 does not fit 4 bits"),
    ("uneven enum attributes", '<enum name="MODE" bits="4">',
     '<enum name="MODE" bits="4"><value name="X" value="5">.</value>', "do not all have the same attributes"),
    ("bit number too large", 'pos="40"', 'pos="64"', "Z is at bit 64, beyond 63"),
    ("duplicate bit", 'pos="40"', 'pos="0"', "bit Z: pos 0 is already used by A"),
    ("duplicate register name", '<reg name="LIST"', '<reg name="ID"', "register ID: name ID is already used"),
    ("overlapping registers", '<reg name="LIST" offset="0x10"', '<reg name="LIST" offset="0xc"',
     "register LIST overlaps WIDE (line 25) at 0xc"),
    ("overlapping array", 'offset="0x10" count="4" stride="0x8"', 'offset="0x10" count="4" stride="0x2"',
     "must stand on multiples of 4"),
    ("misaligned register", '<reg name="WIDE" offset="0x8"', '<reg name="WIDE" offset="0x4"',
     "a 64-bit register must stand on multiples of 8"),
    ("register width", 'width="64" reset', 'width="16" reset', "width 16 is neither 32 nor 64"),
    ("reset too large", 'reset="0x1122334455667788"', 'reset="0x11223344556677889"',
     "reset 0x11223344556677889 does not fit 64 bits"),
    ("register beyond its block", '<reg name="W" offset="0x80"', '<reg name="W" offset="0xf0"',
     "ends at 0x108, the block ends at 0x100"),
    ("overlapping blocks", B_BLOCK, B_BLOCK.replace("0x1000", "0x28"), "block B at 0x28 overlaps ONE"),
    ("block beyond the BAR", B_BLOCK, B_BLOCK.replace("0x1000", "0x3b00"),
     "block B ends at 0x4100, beyond REGISTERS_SIZE 0x4000"),
    ("stride without count", ONE_BLOCK, ONE_BLOCK.replace('"ONE"', '"ONE" stride="0x40"'), "a stride without a count"),
    ("register field out of range", '<field name="F" bits="7:4" access="ro">',
     '<field name="F" bits="32:4" access="ro">', "bits 32:4 lie outside the 32 bits"),
    ("register field with qword", '<field name="TOP" bits="63:60">', '<field name="TOP" qword="1" bits="63:60">',
     "registers have no qwords"),
    ("overlapping register fields", '<field name="TOP" bits="63:60">', '<field name="TOP" bits="63:3">',
     "field TOP (bits 63:3) overlaps LOW (bits 3:0, line 26)"),
    ("unknown enum", 'bits="3:0" enum="MODE"', 'bits="3:0" enum="MOOD"', "there is no enum MOOD"),
    ("unknown enum in a packet", 'type="enum:MODE"', 'type="enum:MOOD"', "there is no enum MOOD"),
    ("enum wider than its field", 'bits="3:0" enum="MODE"', 'bits="2:0" enum="MODE"',
     "3 bits cannot hold 0x9 of enum MODE"),
    ("unknown bitset", 'bitset="FLAG"', 'bitset="FLAGS"', "there is no bitset FLAGS"),
    ("bitset wider than its register", 'width="64" count="3" bitset', 'width="32" count="3" bitset',
     "32 bits cannot hold every bit of bitset FLAG"),
    ("enum and bitset", 'count="3" bitset="FLAG"', 'count="3" bitset="FLAG" enum="MODE"', "both enum= and bitset="),
    ("enum on an address", FIELD, FIELD.replace(' bits', ' type="va" enum="MODE" bits'),
     "type va cannot have enum= or bitset="),
    ("opcode too large", EMPTY, EMPTY.replace("0xff", "0x100"), "opcode 0x100 does not fit eight bits"),
    ("no qwords", EMPTY, EMPTY.replace('"1"', '"0"'), "lengths 0..0 must lie in 1..255"),
    ("too many qwords", GROWS, GROWS.replace('"4"', '"256"'), "lengths 2..256 must lie in 1..255"),
    ("tail of a fixed packet", EMPTY, EMPTY.replace("level", 'tail="data" level'), "tail= needs max_qwords="),
    ("unknown class", 'class="BIN|COPY"', 'class="BIN|PRINT"', '"PRINT" is not a value of enum ENGINE_CLASS'),
    ("field beyond the packet", FIELD, FIELD.replace('qword="1"', 'qword="9"'), "qword 9 of a packet of 9"),
    ("field in the payload", FIELD, FIELD.replace('qword="1"', 'qword="2"'), "lies in the packet's free payload"),
    ("field over the header", FIELD, FIELD.replace('qword="1" bits="7:0"', 'qword="0" bits="16:15"'),
     "bits 15:0 of the header are opcode and length"),
    ("packet field out of range", FIELD, FIELD.replace("7:0", "64:0"), "bits 64:0 lie outside the 64 bits"),
    ("overlapping packet fields", '<field name="ATTR" qword="1" bits="5:0">',
     '<field name="ATTR" qword="1" bits="12:0">', "field ATTR (bits 12:0) overlaps PLACE (bits 47:12"),
    ("duplicate field", '<field name="ATTR"', '<field name="PLACE"', "field PLACE: name PLACE is already used"),
    ("wide bool", 'bits="16:16" type="bool"', 'bits="17:16" type="bool"', "a bool has one bit, not 2"),
    ("one-bit int", 'bits="63:48" type="int"', 'bits="48" type="int"', "an int needs a sign"),
    ("odd alignment", 'align="8"', 'align="6"', "align 6 is not a power of two"),
    ("alignment without bits", 'bits="9:5"', 'bits="9:5" align="1024"', "align 1024 leaves no bits"),
    ("minimum above maximum", 'min="2"', 'min="7"', "min 0x7 and max 0x6 do not fit 8 bits"),
    ("maximum too large", 'max="SLOTS"', 'max="256"', "min 0x2 and max 0x100 do not fit 8 bits"),
    ("limits of an enum", 'type="enum:MODE"', 'type="enum:MODE" max="9"', "min= and max= are for plain"),
    ("keyword as a member", FIELD, FIELD.replace('"N"', '"CLASS"'), '"class" cannot be a C or C++ member'),
    ("access of a packet field", FIELD, FIELD.replace(" bits", ' access="ro" bits'), "access= belongs to registers"),
    ("privileged field behind the header", FIELD, FIELD.replace(" bits", ' level="ring" bits'),
     "level= is for fields of the header qword"),
    ("packet and enum of one name", EMPTY, EMPTY.replace("EMPTY", "MODE"), "would share a C tag"),
    ("two things with one macro", '<const name="BIG"', '<const name="MODE_ON"', "TSR_MODE_ON"),
    ("structure field beyond it", '<field name="RIGHT" qword="1"', '<field name="RIGHT" qword="2"', "qword 2 of 2"),
    ("duplicate counter id", '<counter id="7" name="all-things" unit="things" scope="global">',
     '<counter id="0" name="all-things" unit="things" scope="queue">', "id 0 is already used by some-things"),
    ("wrong version constant", '<const name="BIG" value="0x123456789">', '<const name="VERSION_MAJOR" value="4">',
     "VERSION_MAJOR is 4, <tessera major=> says 3"),
]

# Rules whose complaint points at another element than the one the case changes.
ELSEWHERE = {"malformed XML", "overlapping blocks", "bitset wider than its register", "two things with one macro"}


class Validation(unittest.TestCase):
    """The generator refuses what is wrong and writes nothing."""

    @classmethod
    def setUpClass(cls):
        with open(os.path.join(HERE, "sample.xml"), encoding="utf-8") as stream:
            cls.sample = stream.read()

    def attempt(self, text):
        """Returns (status, stderr, files written) of the generator on a description."""
        with tempfile.TemporaryDirectory(prefix="tsr-valid-") as work:
            with open(os.path.join(work, "sample.xml"), "w", encoding="utf-8") as stream:
                stream.write(text)
            out = os.path.join(work, "out")
            process = generate("--source", work, "--out", out)
            return process.returncode, process.stderr, os.path.isdir(out)

    def test_rules(self):
        """every rule of the schema complains with file and line when it alone is broken"""
        for what, old, new, complaint in CASES:
            with self.subTest(what=what):
                self.assertEqual(self.sample.count(old), 1, f"the case does not fit sample.xml: {old}")
                status, message, written = self.attempt(self.sample.replace(old, new))
                self.assertEqual(status, 1)
                self.assertFalse(written)
                self.assertNotIn("Traceback", message)
                line = self.sample[:self.sample.index(old)].count("\n") + 1
                matching = [text for text in message.splitlines() if complaint in text]
                self.assertEqual(len(matching), 1, message)
                where = "sample.xml:" if what in ELSEWHERE else f"sample.xml:{line}:"
                self.assertIn(where, matching[0])

    def test_everything_at_once(self):
        """two mistakes are reported in one run"""
        text = self.sample.replace(FIELD, FIELD.replace("7:0", "64:0")).replace('pos="40"', 'pos="0"')
        status, message, _written = self.attempt(text)
        self.assertEqual((status, len(message.splitlines())), (1, 2))

    def test_root(self):
        """a wrong root element, differing versions and an empty directory are refused"""
        self.assertIn("expected <tessera>", self.attempt("<genxml/>")[1])
        with tempfile.TemporaryDirectory(prefix="tsr-valid-") as work:
            self.assertIn("no *.xml here", generate("--source", work).stderr)
            for name, minor in (("a.xml", 1), ("b.xml", 2)):
                with open(os.path.join(work, name), "w", encoding="utf-8") as stream:
                    stream.write(f'<tessera major="1" minor="{minor}"/>')
            self.assertIn("b.xml:1: minor is 2 here and 1 in another file", generate("--source", work).stderr)

    def test_usage(self):
        """an unknown option is bad usage, --help is not"""
        self.assertEqual(generate("--nonsense").returncode, 2)
        self.assertEqual(generate("--help").returncode, 0)
