#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of tsr-decode. The expected texts in decode/*.txt were written by hand from the hardware description; the
second line of an input says with which arguments it is decoded. The tool is built with sanitizers for it."""

import json
import os
import random
import struct
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(TOP, "tests", "lib"))

import ktap_unittest    # noqa: E402

LIBRARY = os.path.join(TOP, "userspace", "libtessera")
CASES = os.path.join(HERE, "decode")


def arguments_of(path):
    """The arguments in an input's second line."""
    with open(path, encoding="utf-8") as stream:
        return stream.read().splitlines()[1].replace("# args:", "").split()


def words(*qwords):
    """Qwords as the bytes of a stream."""
    return struct.pack(f"<{len(qwords)}Q", *qwords)


class Decode(unittest.TestCase):
    """The tool as its users see it."""

    @classmethod
    def setUpClass(cls):
        cls.work = tempfile.TemporaryDirectory(prefix="tsr-decode-")
        cls.tool = os.path.join(cls.work.name, "tsr-decode")
        generated = os.path.join(cls.work.name, "hw")
        subprocess.run([sys.executable, os.path.join(TOP, "Documentation/hw/gen/generate.py"), "--out", generated],
                       check=True)
        sources = [os.path.join(LIBRARY, "decode", name) for name in
                   ("decode.c", "decode_dump.c", "decode_list.c", "decode_print.c", "decode_regs.c")]
        subprocess.run([os.environ.get("CC", "cc"), "-std=gnu11", "-D_GNU_SOURCE", "-O1", "-g", "-Wall", "-Wextra",
                        "-Werror", "-fsanitize=address,undefined", "-fno-sanitize-recover=all",
                        "-I", os.path.join(LIBRARY, "include"), "-I", generated,
                        "-I", os.path.join(TOP, "kernel/include/uapi"),
                        *subprocess.run(["pkg-config", "--cflags", "libdrm"], stdout=subprocess.PIPE, text=True,
                                        check=True).stdout.split(), *sources,
                        os.path.join(TOP, "userspace/tools/tsr-decode.c"),
                        os.path.join(generated, "tsr_desc.c"), "-o", cls.tool], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.work.cleanup()

    def decode(self, *arguments, data=b""):
        """Run the tool on standard input; returns (status, stdout, stderr)."""
        done = subprocess.run([self.tool, *arguments], input=data, capture_output=True, check=False, timeout=60)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def compare(self, name, status, errors, suffix=".hex", option="--hex"):
        """One input against its hand-written text."""
        path = os.path.join(CASES, name + suffix)
        with open(os.path.join(CASES, name + ".txt"), encoding="utf-8") as stream:
            expected = stream.read()
        got = self.decode(option, *arguments_of(path), path)
        self.assertEqual(got[1], expected)
        self.assertEqual(got[0], status)
        self.assertEqual(got[2], f"tsr-decode: {errors} error{'s' if errors > 1 else ''}\n" if errors else "")

    def test_dump(self):
        """core dumps that are cut off, or lie about their sizes"""
        def section(kind, stride, data, size=None):
            return struct.pack("<IIQQ", kind, stride, 0x1000, len(data) if size is None else size) + data

        def dump(*sections):
            body = b"".join(sections)
            return struct.pack("<4sIQQII", b"TSRD", 1, 32 + len(body), 5, 0, 1 << 16) + body

        job = struct.pack("<5Q8I", 0x4000, 7, 6, 0x4018, 0x666000, 64, 3, 9, 3, 1, 14, 2, 0x380)
        mapping = struct.pack("<5Q", 0x20000000, 0x1000, 0, 0x4000, 0x1d)
        queue = struct.pack("<4IQ2I3Q8I", 9, 0, 2, 0, 6, 2, 0, 0x4018, 0x666008, 0x8000, 3, 1, 5, 4, 0, 7, 8, 9)
        fault = struct.pack("<2Q4I", 0x666000, 2000000003, 9, 2, 1, 3)
        good = dump(section(1, 72, job), section(6, len(queue), queue), section(7, 32, fault), section(5, 40, mapping),
                    section(99, 8, b"12345678"))
        status, out, err = self.decode("--dump", "-", data=good)
        self.assertEqual((status, err), (0, ""))
        self.assertIn("job 7 of queue 9: COPY, slot 3, address space 1, error EFAULT\n", out)
        self.assertIn("queue 9: 6 jobs completed, affected by 2 resets\n"
                      "  program: clause 0x8000 tuple 1 ADD, lane 5 of warp 4 of group 7,8,9 on core 0\n"
                      "faults of the VM:\n  2.000000003 s queue 9: write of 0x666000: not permitted, level 3\n", out)
        self.assertIn("0x000020000000-0x000020001000 bits 0x1d offset 0x0 of a BO of 0x4000\n", out)
        self.assertIn("section of unknown type 99, 8 bytes\n", out)
        for size in range(8, len(good)):
            self.assertEqual(self.decode("--dump", "-", data=good[:size])[0], 1, size)
        for kind in range(9):
            for stride in (0, 1, 3, 4, 0xffffffff):
                for size in (0, 8, 2 ** 63, 2 ** 64 - 1):
                    self.assertIn(self.decode("--dump", "-", data=dump(section(kind, stride, b"x" * 40, size)))[0], (0, 1))
        self.assertIn("no core dump of version 1", self.decode("--dump", "-", data=b"TSRD" + bytes(60))[2])

    def test_ring(self):
        """a ring as the driver fills it"""
        self.compare("ring", 0, 0)

    def test_stream(self):
        """every packet of a user stream, with its words"""
        self.compare("stream", 0, 0)

    def test_dispatch(self):
        """dispatches, with the compute state where it is among the bytes"""
        self.compare("dispatch", 0, 0)
        self.compare("dispatch-bad", 1, 3)

    def test_list(self):
        """a control list with FRAME, states, programs and tables that it names"""
        self.compare("list", 0, 0)

    def test_json_dispatch(self):
        """JSON of a dispatch holds its state and what is wrong with it"""
        path = os.path.join(CASES, "dispatch-bad.hex")
        packet = json.loads(self.decode("--json", "--hex", "--base", "0x40000", path)[1])[1]
        self.assertEqual(packet["name"], "DISPATCH")
        self.assertEqual(packet["state"]["offset"], 0x40)
        self.assertEqual(packet["state"]["fields"]["LOCAL_Y"], 64)
        self.assertEqual([(e["fault"], e["offset"]) for e in packet["state"]["errors"]],
                         [("RESERVED_BITS", 0x48), ("ALIGNMENT", 0x40), ("BAD_VALUE", 0x48)])

    def test_errors(self):
        """each kind of error, and finding the next packet behind it"""
        self.compare("errors", 1, 24)

    def test_user_in_ring(self):
        """user packets in a ring, a ring that ends inside a packet"""
        self.compare("user-in-ring", 1, 3)

    def test_wrap(self):
        """the filled part of a ring around its end and the pointers' wrap"""
        self.compare("wrap", 0, 0)

    def test_straddle(self):
        """ring pointers that cannot be"""
        self.compare("straddle", 1, 1)

    def test_registers(self):
        """a register dump, with halves, arrays and offsets without a register"""
        self.compare("dump", 1, 4, ".regs", "--regs")

    def test_registers_from_monitor(self):
        """what QEMU's monitor prints for xp /12wx is a register dump, holes that read 0 are passed over"""
        data = (b"00000000febc0000: 0x41525354 0x00010000 0x00000003 0x00000000\n"
                b"00000000febc0060: 0x00000000 0x00000000 0x00000000 0x00000000\n")
        self.assertEqual(self.decode("--regs", "--base", "0xfebc0000", "-", data=data), (0, (
            "0x00000  GPU.MAGIC                0x41525354\n"
            "0x00004  GPU.VERSION              0x00010000         MINOR=0 MAJOR=1\n"
            "0x00008  GPU.FEATURES             0x0000000000000003 FEATURE=LOCAL_MEMORY|HUGE_PAGES\n"), ""))

    def test_ring_pointers(self):
        """a full ring is decoded once, an empty one not at all, and odd pointers are refused"""
        ring = words(*[0x100] * 8)
        self.assertEqual(len(self.decode("--ring", "--rptr", "8", "--wptr", "72", "-", data=ring)[1].splitlines()), 8)
        self.assertEqual(self.decode("--ring", "--rptr", "8", "--wptr", "8", "-", data=ring), (0, "", ""))
        for rptr, wptr, size in (("4", "8", 64), ("0", "12", 64), ("0", "8", 56), ("8", "0", 64)):
            status, text, _ = self.decode("--ring", "--rptr", rptr, "--wptr", wptr, "-", data=ring[:size])
            self.assertEqual(status, 1)
            self.assertIn("cannot belong to a ring", text)

    def test_json(self):
        """JSON holds what the lines hold"""
        data = words(0x70314, 0x123400, 2**63 + 1, 0x302, 0x40, 0x1_0000_0009, 0xff)
        status, text, _ = self.decode("--json", "--base", "0x1000", "-", data=data)
        self.assertEqual(status, 1)
        self.assertEqual(json.loads(text), [
            {"offset": 0, "address": "0x1000", "name": "FENCE",
             "qwords": ["0x0000000000070314", "0x0000000000123400", "0x8000000000000001"],
             "fields": {"EVENT": "ALL_DONE", "IRQ": True, "ADDR": "0x123400", "VALUE": "0x8000000000000001"},
             "skipped": 0, "errors": [
                 {"fault": "PRIVILEGE", "offset": 0, "text": "bits 0x40000 are for rings, expected 0"}]},
            {"offset": 24, "address": "0x1018", "name": "JUMP",
             "qwords": ["0x0000000000000302", "0x0000000000000040", "0x0000000100000009"],
             "fields": {"ADDR": "0x40", "SIZE": 9}, "skipped": 0, "errors": [
                 {"fault": "RESERVED_BITS", "offset": 40, "text": "reserved bits 0x100000000 are set, expected 0"},
                 {"fault": "ALIGNMENT", "offset": 40, "text": "SIZE is 0x9, expected a multiple of 8"}]},
            {"offset": 48, "address": "0x1030", "name": None, "qwords": ["0x00000000000000ff"], "fields": {},
             "skipped": 0, "errors": [
                 {"fault": "UNKNOWN_OPCODE", "offset": 48, "text": "opcode 0xff is not defined"}]}])

    def test_json_registers(self):
        """JSON of a register dump"""
        status, text, _ = self.decode("--regs", "--json", "-", data=b"8140 1041\n8144 2\n5c 7\n")
        self.assertEqual(status, 1)
        self.assertEqual(json.loads(text), [
            {"offset": 0x8140, "name": "AS[5].BASE", "value": "0x0000000200001041",
             "fields": {"VALID": True, "LOCAL": True, "ADDR": "0x200001000"}},
            {"offset": 0x5c, "name": None, "value": "0x00000007", "fields": {}}])

    def test_empty(self):
        """an empty input is refused with one line"""
        refusal = (1, "", "tsr-decode: standard input: it holds nothing to decode\n")
        for options in ([], ["--json"], ["--regs", "--json"], ["--ring"]):
            self.assertEqual(self.decode(*options, "-"), refusal)

    def test_cut_qword(self):
        """a file that ends inside a qword"""
        status, text, _ = self.decode("-", data=words(0x103) + b"\1\2\3")
        self.assertEqual(status, 1)
        self.assertEqual(text.splitlines()[1:], [
            "0x000000000008  +0x000008  ?",
            "    error: STREAM_BOUND at +0x000008 (qword 0): ends inside a qword, after 3 bytes"])

    def test_garbage(self):
        """random bytes: every byte is accounted for once, in order, and nothing is read beyond the end"""
        random.seed(3)
        opcodes = [0, 1, 2, 3, 0x10, 0x12, 0x14, 0x18, 0x20, 0x21, 0x23, 0x30, 0xee]
        for _ in range(40):
            qwords = [random.choice(opcodes) | random.choice([0, 1, 2, 3, 6, 255]) << 8 | random.choice(
                [0, random.getrandbits(48) << 16]) for _ in range(random.randrange(60))]
            data = words(*qwords) + bytes(random.randrange(8))
            flags = random.choice([[], ["--ring"], ["--class", "copy"]])
            status, text, _ = self.decode("--json", *flags, "-", data=data)
            self.assertIn(status, (0, 1))
            at = 0
            for packet in json.loads(text):
                self.assertEqual(packet["offset"], at)
                at += 8 * (len(packet["qwords"]) + packet["skipped"])
            self.assertEqual(at, len(data) // 8 * 8)

    def run_example(self, page):
        """The shell sessions of a page: files that `cat` shows, and what tsr-decode is said to print."""
        files, shown, ran = {}, None, 0
        with open(page, encoding="utf-8") as stream:
            lines = [line[4:] if line.startswith("    ") else None for line in stream.read().split("\n")]
        for line in lines + [None]:
            if shown and (line is None or line.startswith("$ ")):
                command, text = shown[0].split()[1:], "\n".join(shown[1:])
                shown = None
                if command[0] == "cat":
                    files[command[1]] = text
                elif command[0] == "tsr-decode" and command[-1] in files:
                    got = self.decode(*command[1:-1], "-", data=files[command[-1]].encode())
                    self.assertEqual((got[1] + got[2]).rstrip("\n"), text, page)
                    ran += 1
            if line is not None and (shown or line.startswith("$ ")):
                shown = (shown or []) + [line]
        return ran

    def test_examples(self):
        """the examples of the programming guide and of the guide to decoding print what they say"""
        self.assertEqual(self.run_example(os.path.join(TOP, "Documentation/hw/command-streams.md")), 2)
        self.assertEqual(self.run_example(os.path.join(TOP, "Documentation/start/debugging.md")), 1)

    def test_bad_usage(self):
        """bad usage says what is wrong and exits with 2"""
        for arguments, expected in (([], "which FILE?"), (["a", "b"], "one FILE only"),
                                    (["--nonsense", "a"], "see tsr-decode --help"),
                                    (["--base", "x", "a"], "--base \"x\" is no number"),
                                    (["--base", "-1", "a"], "--base \"-1\" is no number"),
                                    (["--class", "3d", "a"], "--class \"3d\" is not bin"),
                                    (["--ring", "--rptr", "0", "a"], "--rptr and --wptr go together"),
                                    (["--rptr", "0", "--wptr", "8", "a"], "need --ring"),
                                    (["--ring", "--rptr", "0x100000000", "--wptr", "8", "a"], "--rptr"),
                                    (["--regs", "--hex", "a"], "--regs does not go with")):
            status, text, error = self.decode(*arguments)
            self.assertEqual((status, text), (2, ""), arguments)
            self.assertIn(expected, error)

    def test_bad_input(self):
        """input that is not what it should be names the line and exits with 1"""
        for arguments, data, expected in (
                (["--hex"], b"1 2\n\n3 g", "standard input: line 3: \"g\" is no 64-bit hexadecimal number"),
                (["--hex"], b"10000000000000000", "line 1:"), (["--hex"], b"-1", "line 1:"),
                (["--regs"], b"0 1\n4\n", "line 2: expected OFFSET VALUE..."),
                (["--regs"], b"0 1 x\n", "line 1: \"x\" is no 32-bit hexadecimal number"),
                (["--regs"], b"0 100000000\n", "line 1: \"100000000\" is no 32-bit"),
                (["--regs", "--base", "0x100"], b"fc 1\n", "line 1: \"fc\" is no offset from 0x100"),
                (["--regs"], b"100000000 1\n", "line 1: \"100000000\" is no offset from 0x0")):
            status, text, error = self.decode(*arguments, "-", data=data)
            self.assertEqual((status, text), (1, ""), data)
            self.assertIn(expected, error)
        status, _, error = self.decode("/nonexistent/file")
        self.assertEqual((status, error), (1, "tsr-decode: /nonexistent/file: No such file or directory\n"))

    def test_help(self):
        """--help and --version"""
        status, text, error = self.decode("--help")
        self.assertEqual((status, error), (0, ""))
        for option in ("--base", "--ring", "--rptr", "--wptr", "--class", "--hex", "--regs", "--words", "--json"):
            self.assertIn(option, text)
        self.assertEqual(self.decode("-V"), (0, "tsr-decode: hardware description 1.1\n", ""))


if __name__ == "__main__":
    sys.exit(ktap_unittest.main(__name__))
