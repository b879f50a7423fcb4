#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of Documentation/hw/gen: what it generates is compiled and run, and compared with reference.py, a second
reading of the same XML; sample.xml uses every feature of the schema, the real description is tested as well."""

import os
import random
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(TOP, "tests", "lib"))

import ktap_unittest    # noqa: E402
import programs         # noqa: E402
from reference import Reference    # noqa: E402

GENERATOR = os.path.join(TOP, "Documentation", "hw", "gen", "generate.py")
HARDWARE = os.path.join(TOP, "Documentation", "hw")
STRICT = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]


def generate(*arguments, seed="0"):
    """Run the generator; returns the finished process."""
    return subprocess.run([sys.executable, GENERATOR, *arguments], capture_output=True, text=True,
                          env=dict(os.environ, PYTHONHASHSEED=seed), check=False)


def compile_and_run(directory, source, *flags):
    """Build a C program against the headers in `directory`, run it, return the process."""
    path = os.path.join(directory, "program.c")
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(source)
    binary = os.path.join(directory, "program")
    subprocess.run([os.environ.get("CC", "cc"), "-std=c11", "-g", "-fsanitize=undefined,address",
                    "-fno-sanitize-recover=all", "-Wall", "-Wextra", "-Werror", *flags, "-I", directory,
                    path, os.path.join(directory, "tsr_desc.c"), "-o", binary], check=True)
    return subprocess.run([binary], capture_output=True, text=True, check=False)


class Descriptions(unittest.TestCase):
    """What is generated, for the sample and for the real description."""

    @classmethod
    def setUpClass(cls):
        cls.work = tempfile.mkdtemp(prefix="tsr-gen-")
        os.mkdir(os.path.join(cls.work, "xml"))
        shutil.copy(os.path.join(HERE, "sample.xml"), os.path.join(cls.work, "xml"))
        cls.cases = []
        for name, source in (("sample", os.path.join(cls.work, "xml")), ("tessera", HARDWARE)):
            out = os.path.join(cls.work, name)
            process = generate("--source", source, "--out", out)
            assert process.returncode == 0, process.stderr
            cls.cases.append((name, Reference(source), out))

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.work)

    def each(self):
        for _name, reference, out in self.cases:
            yield reference, out

    def run_program(self, out, source, *flags):
        process = compile_and_run(out, source, *flags)
        self.assertEqual(process.returncode, 0, process.stderr)
        return process.stdout.splitlines()

    def test_pack(self):
        """packers agree with the reference for random and extreme values"""
        for reference, out in self.each():
            random.seed(7)
            cases = programs.pack_cases(reference, 40)
            lines = self.run_program(out, programs.pack_program(cases))
            self.assertEqual(len(lines), len(cases))
            for (packet, values, length), line in zip(cases, lines):
                expected = " ".join(f"{qword:016x}" for qword in packet.pack(values, length))
                self.assertEqual(line, expected, (packet.name, values))

    def test_unpack(self):
        """unpackers agree with the reference on random qwords, reserved bits set or not"""
        for reference, out in self.each():
            random.seed(8)
            cases = programs.unpack_cases(reference, 40)
            lines = self.run_program(out, programs.unpack_program(cases))
            self.assertEqual(len(lines), len(cases))
            for (packet, qwords), line in zip(cases, lines):
                expected = " ".join(str(value) for value in packet.unpack(qwords).values())
                self.assertEqual(line, expected, (packet.name, [hex(qword) for qword in qwords]))

    def test_desc_packets(self):
        """the packet tables hold lengths, reserved bits and field positions"""
        for reference, out in self.each():
            lines = self.run_program(out, programs.DESC_PACKETS)
            expected = []
            for packet in sorted(reference.packets, key=lambda packet: packet.opcode):
                reserved = " ".join(f"{packet.reserved(qword):x}" for qword in range(packet.most))
                ring = sum(field.bits(field.value((1 << field.size) - 1)) for field in packet.fields
                           if field.ring)
                expected.append(f"{packet.name} {packet.opcode} {packet.least} {packet.most} {ring:x} {reserved}")
                expected += [f"{packet.name}.{field.name} {field.qword} {field.low} {field.high}"
                             for field in packet.fields]
            self.assertEqual(lines, expected)

    def test_registers(self):
        """register macros give the offsets of the description"""
        for reference, out in self.each():
            registers = list(reference.registers())
            lines = self.run_program(out, programs.register_program(registers))
            self.assertEqual(lines, [f"{offset:#x}" for _, _, _, _, offset, _, _, _ in registers])

    def test_register_lookup(self):
        """tsr_desc_reg_at() finds the right register at each word of the register BAR"""
        for reference, out in self.each():
            size = reference.consts["REGISTERS_SIZE"]
            expected = {}
            for block, name, instance, index, offset, width, _, _ in reference.registers():
                for half in range(width // 32):
                    expected[offset + 4 * half] = f"{block}.{name} {instance} {index} {half}"
            lines = self.run_program(out, programs.REGISTER_LOOKUP % size)
            self.assertEqual(lines, [expected.get(offset, "-") for offset in range(0, size, 4)])

    def test_field_masks(self):
        """field masks, shifts and enum values in tsr_regs.h are those of the description"""
        for reference, out in self.each():
            source, expected = programs.mask_program(reference)
            self.assertEqual(self.run_program(out, source), expected)

    def test_languages(self):
        """the headers compile without a warning as C11, C++11 and kernel code"""
        for _reference, out in self.each():
            kernel = os.path.join(out, "linux")
            os.makedirs(kernel, exist_ok=True)
            with open(os.path.join(kernel, "types.h"), "w", encoding="utf-8") as stream:
                stream.write(programs.KERNEL_TYPES)
            for header in ("tsr_enums.h", "tsr_regs.h", "tsr_packets.h", "tsr_desc.h", "tsr_desc.c"):
                path = os.path.join(out, header)
                subprocess.run(["cc", *STRICT, "-x", "c", "-fsyntax-only", path], check=True)
                subprocess.run(["cc", *STRICT, "-x", "c", "-nostdinc", "-D__KERNEL__", "-I", out,
                                "-fsyntax-only", path], check=True)
                if header.endswith(".h"):
                    subprocess.run(["c++", "-std=c++11", *STRICT[1:], "-x", "c++", "-fsyntax-only", path],
                                   check=True)

    def test_too_large(self):
        """a value too large for its field stops a checked build, and never reaches a neighbour field"""
        _name, _reference, out = self.cases[0]
        for member, value in (("attr", "64"), ("kind", "16"), ("delta", "0x8000"), ("delta", "-0x8001"),
                              ("place", "0x123"), ("place", "0x1000000000000"), ("longer", "1LL << 39")):
            with self.subTest(member=member, value=value):
                source = programs.TOO_LARGE % {"member": member, "value": value}
                self.assertNotEqual(compile_and_run(out, source).returncode, 0)
        lines = self.run_program(out, programs.TOO_LARGE % {"member": "attr", "value": "0x47"}, "-DNDEBUG")
        self.assertEqual(lines, ["000000000000047f 0000000000000007 0000000000000000 0000000000000000"])

    def test_by_hand(self):
        """values worked out by hand from sample.xml"""
        _name, _reference, out = self.cases[0]
        self.assertEqual(self.run_program(out, programs.BY_HAND), programs.BY_HAND_OUTPUT)

    def test_deterministic(self):
        """the same description gives the same bytes, and an unchanged file keeps its time stamp"""
        source = os.path.join(self.work, "xml")
        one, two = os.path.join(self.work, "one"), os.path.join(self.work, "two")
        generate("--source", source, "--out", one, seed="1")
        generate("--source", source, "--out", two, seed="2")
        names = sorted(os.listdir(one))
        self.assertEqual(names, ["tsr_desc.c", "tsr_desc.h", "tsr_enums.h", "tsr_packets.h", "tsr_regs.h"])
        for name in names:
            with open(os.path.join(one, name), "rb") as a, open(os.path.join(two, name), "rb") as b:
                self.assertEqual(a.read(), b.read(), name)
            os.utime(os.path.join(one, name), (1000, 1000))
        with open(os.path.join(one, "tsr_desc.h"), "ab") as stream:
            stream.write(b"stale")
        os.utime(os.path.join(one, "tsr_desc.h"), (1000, 1000))
        generate("--source", source, "--out", one)
        kept = [name for name in names if os.stat(os.path.join(one, name)).st_mtime == 1000]
        self.assertEqual(kept, ["tsr_desc.c", "tsr_enums.h", "tsr_packets.h", "tsr_regs.h"])
        self.assertEqual(sorted(os.listdir(one)), names)

    def test_export(self):
        """--export writes the two headers a kernel tree needs and nothing else"""
        out = os.path.join(self.work, "export")
        self.assertEqual(generate("--export", out).returncode, 0)
        self.assertEqual(sorted(os.listdir(out)), ["tsr_packets.h", "tsr_regs.h"])


if __name__ == "__main__":
    import test_isa             # noqa: E402
    import test_pages           # noqa: E402
    import test_validation      # noqa: E402
    Isa = test_isa.Isa
    Pages = test_pages.Pages
    Validation = test_validation.Validation
    sys.exit(ktap_unittest.main(__name__))
