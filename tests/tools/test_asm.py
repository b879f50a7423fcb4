#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of tsr-as and tsr-dis as their users see them. In asm/ are programs that a public compiler made of our shaders: the code, its
own disassembly, and our text. The tools are built with sanitizers for it."""

import glob
import os
import re
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
COMPILED = sorted(glob.glob(os.path.join(HERE, "asm", "*.bin")))
GUIDE = os.path.join(TOP, "Documentation/guide/shaders.md")
ONE = "clause end { +MOV.i32 r0, r1 }\n"


def build(work):
    """Both tools; returns their paths."""
    generated = os.path.join(work, "hw")
    subprocess.run([sys.executable, os.path.join(TOP, "Documentation/hw/gen/generate.py"), "--out", generated], check=True)
    flags = ["-std=gnu11", "-D_GNU_SOURCE", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-fsanitize=address,undefined",
             "-fno-sanitize-recover=all", "-I", os.path.join(LIBRARY, "include"), "-I", LIBRARY, "-I", generated]
    sources = glob.glob(os.path.join(LIBRARY, "asm", "*.c"))
    sources.append(os.path.join(generated, "tsr_isa.c"))
    objects = [os.path.join(work, os.path.basename(path)[:-2] + ".o") for path in sources]
    for source, target in zip(sources, objects):
        subprocess.run([os.environ.get("CC", "cc"), *flags, "-c", source, "-o", target], check=True)
    tools = [os.path.join(work, name) for name in ("tsr-as", "tsr-dis")]
    for tool in tools:
        source = os.path.join(TOP, "userspace/tools", os.path.basename(tool) + ".c")
        subprocess.run([os.environ.get("CC", "cc"), *flags, source, *objects, "-o", tool], check=True)
    return tools


class Tools(unittest.TestCase):
    """tsr-as and tsr-dis."""

    @classmethod
    def setUpClass(cls):
        cls.work = tempfile.TemporaryDirectory(prefix="tsr-asm-")
        cls.assembler, cls.disassembler = build(cls.work.name)

    @classmethod
    def tearDownClass(cls):
        cls.work.cleanup()

    def run_tool(self, tool, *arguments, data=b""):
        """Returns (status, stdout, stderr)."""
        done = subprocess.run([tool, *arguments], input=data, capture_output=True, check=False, timeout=60)
        return done.returncode, done.stdout, done.stderr.decode()

    def assemble(self, text):
        """The code of a text that has to assemble without a word."""
        status, code, errors = self.run_tool(self.assembler, "-o", "-", "-", data=text.encode())
        self.assertEqual((status, errors), (0, ""), text)
        return code

    def path(self, name, content=None):
        path = os.path.join(self.work.name, name)
        if content is not None:
            with open(path, "wb") as stream:
                stream.write(content)
        return path

    def read(self, path):
        with open(path, "rb") as stream:
            return stream.read()

    def test_compiled(self):
        """[ISA13] programs of a public compiler: the text that stands here is their code, bit for bit"""
        self.assertGreater(len(COMPILED), 8)
        for path in COMPILED:
            text = self.read(path[:-4] + ".s").decode()
            self.assertEqual(self.assemble(text), self.read(path), path)
            status, printed, _ = self.run_tool(self.disassembler, "--plain", path)
            self.assertEqual((status, printed.decode()), (0, text.split("\n", 1)[1]), path)

    def test_explicit(self):
        """[ISA13] with every choice written out, and with quadwords, the same code comes back"""
        for path in COMPILED:
            for option in ("--explicit", "--quads"):
                status, printed, _ = self.run_tool(self.disassembler, option, path)
                self.assertEqual(status, 0)
                self.assertEqual(self.assemble(printed.decode()), self.read(path), path)

    def test_public_disassembly(self):
        """[ISA13] the text agrees in meaning with the compiler's own disassembly"""
        done = subprocess.run([sys.executable, os.path.join(HERE, "compare_disasm.py"), os.path.join(HERE, "asm"),
                               "--tool", self.disassembler], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn(f"{len(COMPILED)} files, ", done.stdout)

    def test_comparison_sees(self):
        """the comparison with the public disassembly finds a wrong register, modifier and header"""
        directory = self.path("compare")
        os.mkdir(directory)
        base = COMPILED[0][:-4]
        text = self.read(base + ".disasm").decode()
        with open(os.path.join(directory, "x.bin"), "wb") as stream:
            stream.write(self.read(base + ".bin"))
        for old, new in ((r"\br1\b", "r2"), (r"ds\(0\)", "ds(1)"), (r"dwb\(0\)", "dwb(1)"), (r"\.i32", ".u32"), (r"ncph", "")):
            changed = re.sub(old, new, text, count=1)
            self.assertNotEqual(changed, text, old)
            with open(os.path.join(directory, "x.disasm"), "w", encoding="utf-8") as stream:
                stream.write(changed)
            done = subprocess.run([sys.executable, os.path.join(HERE, "compare_disasm.py"), directory, "--tool",
                                   self.disassembler], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 1, old)

    def test_texts(self):
        """the examples of the guide and every .s file of the project assemble, and come back"""
        texts = re.findall(r"```asm\n(.*?)```", self.read(GUIDE).decode(), re.S)
        self.assertGreater(len(texts), 2)
        for root in ("userspace", "tests"):
            for directory, _, names in os.walk(os.path.join(TOP, root)):
                texts += [self.read(os.path.join(directory, name)).decode() for name in names if name.endswith(".s")]
        for text in texts:
            code = self.assemble(text)
            status, printed, _ = self.run_tool(self.disassembler, "-", data=code)
            self.assertEqual(status, 0)
            self.assertEqual(self.assemble(printed.decode()), code)

    def test_output_names(self):
        """code goes beside the text, to --output, or nowhere"""
        source = self.path("a.b.s", ONE.encode())
        self.assertEqual(self.run_tool(self.assembler, source), (0, b"", ""))
        code = self.read(self.path("a.b.bin"))
        self.assertEqual(len(code), 16)
        other = self.path("other")
        self.assertEqual(self.run_tool(self.assembler, "--output", other, source), (0, b"", ""))
        self.assertEqual(self.read(other), code)
        os.unlink(other)
        os.unlink(self.path("a.b.bin"))
        self.assertEqual(self.run_tool(self.assembler, "-n", source), (0, b"", ""))
        self.assertFalse(os.path.exists(self.path("a.b.bin")))
        same = self.path("same.bin", ONE.encode())
        self.assertEqual(self.run_tool(self.assembler, same)[0], 2)
        self.assertEqual(self.read(same), ONE.encode())

    def test_errors(self):
        """errors name file, line and column, and no file is written"""
        source = self.path("bad.s", b"clause end {\n\t+MOV.i32 r0, r99\n}\n.colour\n")
        status, out, errors = self.run_tool(self.assembler, source)
        self.assertEqual((status, out), (1, b""))
        lines = errors.splitlines()
        self.assertEqual(len(lines), 2)
        self.assertTrue(lines[0].startswith(f"{source}:2:15: error: \"r99\" is no operand here, expected r0 to r63"))
        self.assertTrue(lines[1].startswith(f"{source}:4:2: error: found \"colour\", expected .registers"))
        self.assertFalse(os.path.exists(self.path("bad.bin")))
        self.assertEqual(self.run_tool(self.assembler, self.path("none.s")),
                         (1, b"", f"tsr-as: {self.path('none.s')}: No such file or directory\n"))
        self.assertEqual(self.run_tool(self.assembler, "-o", "/nowhere/x", "-", data=ONE.encode()),
                         (1, b"", "tsr-as: /nowhere/x: No such file or directory\n"))

    def test_full_disk(self):
        """a disk that is full is an error of both tools"""
        self.assertEqual(self.run_tool(self.assembler, "-o", "/dev/full", "-", data=ONE.encode()),
                         (1, b"", "tsr-as: /dev/full: No space left on device\n"))
        self.assertEqual(self.run_tool(self.disassembler, "-o", "/dev/full", "-", data=bytes(16)),
                         (1, b"", "tsr-dis: /dev/full: No space left on device\n"))

    def test_warnings(self):
        """a warning is printed and the code is written"""
        status, code, errors = self.run_tool(self.assembler, "-o", "-", "-", data=b"clause { +NOP }\n")
        self.assertEqual((status, len(code)), (0, 16))
        self.assertTrue(errors.startswith("-:1:1: warning: the last clause goes on behind the end"))

    def test_unchecked(self):
        """--unchecked assembles what breaks the rules"""
        text = b"clause end message=store { +LOAD.i32 r1, r2, @r3 }\n"
        self.assertEqual(self.run_tool(self.assembler, "-n", "-", data=text)[0], 1)
        self.assertEqual(self.run_tool(self.assembler, "-n", "-u", "-", data=text), (0, b"", ""))

    def test_info(self):
        """--info says what directives and labels say"""
        text = b".local 8, 8\n.entry b\n.group_memory 64\na: clause { +NOP }\nb: clause end { *MOV.i32 r20, r0 }\n"
        self.assertEqual(self.run_tool(self.assembler, "-n", "--info", "-", data=text), (0, (
            b"size 32\nclauses 2\nentry 0x10\nregisters 64\nlocal 8 8 1\ngroup_memory 64\nscratch 0\n"
            b"label 0x00010 b\nlabel 0x00000 a\n"), ""))

    def test_listing(self):
        """--listing shows every quadword, port and place"""
        text = b"clause end {\n*FADD.f32 r1, r2, 1.0\n}\n"
        status, out, _ = self.run_tool(self.assembler, "-n", "--listing", "-", "-", data=text)
        self.assertEqual(status, 0)
        self.assertEqual(out.decode().splitlines()[1:], [
            "; 0x00010: 0xf800000000000070 0x3000000000000003 CONSTS: position[3:0] constant 0[63:4] constant 1[63:4] end",
            "clause end {\t; 0x00000",
            "\tk0 = 0x00000000, 0x3f800000",
            "\tk1 = 0x00000000, 0x30000000",
            "\t[p0=r2 p2=r1 p3=r1 mode=17]",
            "\t*FADD.f32 r1:t0, r2, 0x3f800000 /* 1 */",
            "\t+NOP",
            "}"])

    def test_no_clauses(self):
        """what is no clause is printed with the reason, counted, and comes back"""
        data = bytes([0xff] * 16) + bytes(32) + b"abc"
        status, out, errors = self.run_tool(self.disassembler, "-", data=data)
        self.assertEqual((status, errors), (1, "tsr-dis: 2 quadwords are in no clause\n"))
        self.assertEqual(out.decode(), ".quad 0xffffffffffffffff, 0xffffffffffffffff\t; a quadword stands where no clause has it\n"
                         ".zero 2\n.byte 0x61, 0x62, 0x63\n")
        self.assertEqual(self.assemble(out.decode()), data)
        self.assertEqual(self.run_tool(self.disassembler, "-", data=bytes(64)), (0, b".zero 4\n", ""))
        self.assertEqual(self.run_tool(self.disassembler, "-"), (1, b"", "tsr-dis: standard input: the file is empty, expected code\n"))

    def test_base(self):
        """--base counts the addresses in comments from there"""
        code = self.assemble(ONE)
        self.assertIn(b"{\t; 0x12340\n", self.run_tool(self.disassembler, "--base", "0x12340", "-", data=code)[1])
        self.assertEqual(self.run_tool(self.disassembler, "--base", "x", "-", data=code)[0], 2)

    def test_usage(self):
        """help, version, and arguments that cannot be"""
        for tool in (self.assembler, self.disassembler):
            name = os.path.basename(tool)
            status, out, _ = self.run_tool(tool, "--help")
            self.assertEqual(status, 0)
            self.assertTrue(out.startswith(f"Usage: {name} ".encode()))
            self.assertLessEqual(max(map(len, out.decode().splitlines())), 100)
            self.assertRegex(self.run_tool(tool, "-V")[1].decode(), rf"^{name}: hardware description \d+\.\d+\n$")
            for arguments in ([], ["a", "b"], ["--no-such-option", "x"]):
                self.assertEqual(self.run_tool(tool, *arguments)[0], 2)
        self.assertEqual(self.run_tool(self.assembler, "-n", "-o", "x", "-")[0], 2)


if __name__ == "__main__":
    sys.exit(ktap_unittest.main(__name__))
