#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare tsr-dis with the disassembly of Mesa's Bifrost compiler, file by file.

Below DIR, every NAME.disasm beside a NAME.bin is compared with what tsr-dis prints for NAME.bin; all of it, clause by
clause and instruction by instruction, by these rules (ours -> Mesa's):

 1. Comments, blank lines and indentation mean nothing. Padding (.zero) has no counterpart.
 2. Clauses are numbered by their first quadword: the clause at byte 16 * n is clause_n. A file with several programs
    ("position shader", "varying shader") is one sequence of clauses for us; Mesa numbers each program from 0.
 3. Header: slot=n is ds(n), end eos, other flow controls nbb or bb with r_uncond or r_pc (we: "we"), message=x x,
    staging_barrier osrb, td td, prefetch ncph, wait=a,b dwb(a, b), next=x next_x; the types are called attr, vary, ...
    A field that is left out has its usual value: slot 0, flow nbtb, next the message of the clause that follows.
 4. A destination that is left out is t0 (FMA) or t1 (ADD).
 5. FAU: zero.w0 is #0.x, name.w0 name.x, name.w1 name.y, blendN blend_descriptor_N.
 6. Labels are clause_n; Mesa prints a jump whose target is a zero constant alike.
 7. The order of modifiers behind a mnemonic or an operand means nothing. A modifier value that has no letters in
    Mesa's text (the usual value) is left out on both sides.
 8. Everything else is the same text: mnemonics, sources, constants, immediates, staging registers.

Lines [...] and kN = ... (places of ports and constants) have no counterpart in Mesa's text; operands kN.w0 are
compared by value. Exit status: 0 when all agree, 1 when something differs, 2 for bad usage.
"""

import argparse
import glob
import os
import re
import subprocess
import sys
from xml.etree import ElementTree

MESSAGES = {"varying": "vary", "attribute": "attr", "z_stencil": "z_stencil"}
FLOWS = {"end": "eos", "nbtb_pc": "nbb r_pc", "nbtb_unconditional": "nbb r_uncond", "nbtb": "nbb",
         "btb_unconditional": "bb r_uncond", "btb": "bb", "we_unconditional": "we r_uncond", "we": "we"}
COMMENT = re.compile(r"\s*(/\*.*?\*/|;.*)")


class Clause:
    """start: its first quadword; header: words; lines: instructions."""

    def __init__(self, start):
        self.start = start
        self.header = set()
        self.lines = []
        self.next = None
        self.message = None


def canonical(text):
    """Sort the modifiers of a mnemonic or an operand behind its name."""
    name, *modifiers = text.split(".")
    return ".".join([name, *sorted(modifiers)])


def split_line(line):
    """"*FADD.f32 r2:t0, r0" to mnemonic and operands, all canonical."""
    mnemonic, _, operands = line.partition(" ")
    return [canonical(mnemonic)] + [canonical(part.strip()) for part in operands.split(",") if part.strip()]


# -- Mesa's text ------------------------------------------------------------------------------------------------------


def read_mesa(path):
    """A list of programs, each a list of clauses."""
    programs = [[]]
    with open(path, encoding="utf-8") as stream:
        for raw in stream:
            if raw.startswith("; ") and "shader" in raw and programs[-1]:
                programs.append([])
            line = COMMENT.sub("", raw).strip()
            if not line or line in "{}":
                continue
            if line.startswith("clause_"):
                programs[-1].append(Clause(int(line[len("clause_"):-1])))
            elif line[0] in "*+":
                programs[-1][-1].lines.append(split_line(line))
            else:
                # numbers in dwb(0, 6) stand apart by a comma and a blank
                programs[-1][-1].header = set(line.replace(", ", ",").split())
    return programs


# -- our text ---------------------------------------------------------------------------------------------------------


class Ours:
    """What tsr-dis prints, in Mesa's words."""

    def __init__(self, text, no_result):
        self.no_result = no_result
        self.clauses = []
        self.consts = {}
        self.pending = []
        for raw in text.splitlines():
            self.line(raw)
        for clause, after in zip(self.clauses, self.clauses[1:] + [None]):
            upcoming = clause.next or (after.message if after and after.adjacent else None)
            if upcoming and upcoming != "none":
                clause.header.add("next_" + MESSAGES.get(upcoming, upcoming))

    def line(self, raw):
        address = re.search(r"; 0x([0-9a-f]+)$", raw)
        line = COMMENT.sub("", raw).strip()
        if line.startswith("clause"):
            clause = Clause(int(address.group(1), 16) // 16)
            clause.adjacent = not self.pending
            self.header(clause, line[:-1].split()[1:])
            self.clauses.append(clause)
            self.consts = {}
            self.pending = []
        elif line.startswith("k"):
            name, value = line.split(" = ")
            self.consts[name] = [word.strip() for word in value.split(",")]
        elif line.startswith((".zero", ".quad")):
            self.pending.append(line)
        elif line and line[0] in "*+":
            self.clauses[-1].lines.append(self.instruction(line))

    def header(self, clause, words):
        flow, slot, header = "nbtb", "0", set()
        for word in words:
            name, _, value = word.partition("=")
            if name == "end":
                flow = "end"
            elif name == "flow":
                flow = value
            elif name == "slot":
                slot = value
            elif name == "message":
                clause.message = value
                if value != "none":
                    header.add(MESSAGES.get(value, value))
            elif name == "next":
                clause.next = value
            elif name == "wait":
                header.add(f"dwb({value})")
            elif name in ("td", "staging_barrier", "prefetch"):
                header.add({"td": "td", "staging_barrier": "osrb", "prefetch": "ncph"}[name])
            else:
                header.add(word)
        clause.header = header | {f"ds({slot})"} | set(FLOWS[flow].split())

    def operand(self, text):
        name, *modifiers = text.split(".")
        half = modifiers.pop(0) if modifiers and modifiers[0] in ("w0", "w1") else None
        if half and re.fullmatch(r"k[0-6]", name):
            name = self.consts[name][half == "w1"]
            half = None
        elif half and re.fullmatch(r"u\d+", name):
            name, half = f"{name}.{half}", None
        name = re.sub(r"^blend(\d)$", r"blend_descriptor_\1", "#0" if half and name == "zero" else name)
        name = re.sub(r"^L([0-9a-f]+)$", lambda m: f"clause_{int(m.group(1), 16) // 16}", name)
        if half:
            modifiers.insert(0, "x" if half == "w0" else "y")
        return canonical(".".join([name, *modifiers]))

    def instruction(self, line):
        mnemonic, _, rest = line.partition(" ")
        operands = [part.strip() for part in rest.split(",") if part.strip()]
        temp = "t0" if line[0] == "*" else "t1"
        if not operands or not operands[0].endswith(":" + temp) and (operands[0] != temp or self.may_leave_out(mnemonic)):
            operands.insert(0, temp)
        return [canonical(mnemonic), *(self.operand(part) for part in operands)]

    def may_leave_out(self, mnemonic):
        """Does tsr-dis leave out the destination when it is no register?"""
        parts = mnemonic.split(".")
        return any(".".join(parts[:n]) in self.no_result for n in range(1, len(parts) + 1))


# -- comparing --------------------------------------------------------------------------------------------------------


def compare_clause(ours, mesa, base):
    if ours.start != mesa.start + base:
        yield f"clause at quadword {ours.start}, Mesa has one at {mesa.start + base}"
    if ours.header != mesa.header:
        yield f"header: ours {sorted(ours.header - mesa.header)}, Mesa's {sorted(mesa.header - ours.header)}"
    for number, (a, b) in enumerate(zip(ours.lines, mesa.lines)):
        b = [re.sub(r"^clause_(\d+)$", lambda m: f"clause_{int(m.group(1)) + base}", part) for part in b]
        if a != b:
            yield f"line {number}: ours {a}, Mesa's {b}"
    if len(ours.lines) != len(mesa.lines):
        yield f"{len(ours.lines)} instructions, Mesa has {len(mesa.lines)}"


def without_result():
    """Names ("+JUMP") of the instructions whose result nothing can take, or goes to staging registers."""
    directory = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../Documentation/hw")
    names = {"*NOP", "+NOP"}
    for path in glob.glob(os.path.join(directory, "isa-*.xml")):
        for item in ElementTree.parse(path).getroot().iter("instruction"):
            if item.get("result") == "0" or item.get("staging"):
                names.add({"fma": "*", "add": "+"}[item.get("unit")] + item.get("name"))
    return names


def compare(tool, binary, disasm, no_result):
    """Differences of one file, and how many clauses it has."""
    done = subprocess.run([tool, binary], capture_output=True, text=True, check=False)
    if done.returncode:
        return [f"tsr-dis: {done.stderr.strip()}"], 0
    ours = Ours(done.stdout, no_result).clauses
    differences, at = [], 0
    for program in read_mesa(disasm):
        base = ours[at].start if at < len(ours) else 0
        for mesa in program:
            if at >= len(ours):
                differences.append(f"Mesa has another clause, {mesa.start}")
                break
            differences += [f"clause {ours[at].start}: {text}" for text in compare_clause(ours[at], mesa, base)]
            at += 1
    if at < len(ours):
        differences.append(f"{len(ours) - at} clauses that Mesa's text does not have")
    return differences, at


def main():
    parser = argparse.ArgumentParser(description="Compare tsr-dis with Mesa's disassembly.")
    parser.add_argument("directory", help="with NAME.disasm beside NAME.bin")
    parser.add_argument("--tool", default="tsr-dis", help="the tsr-dis to use")
    options = parser.parse_args()
    no_result = without_result()
    files = clauses = wrong = 0
    for directory, _, names in sorted(os.walk(options.directory)):
        for name in sorted(names):
            disasm = os.path.join(directory, name)
            binary = disasm[:-len(".disasm")] + ".bin"
            if not name.endswith(".disasm") or not os.path.exists(binary):
                continue
            differences, count = compare(options.tool, binary, disasm, no_result)
            files += 1
            clauses += count
            wrong += bool(differences)
            for text in differences[:10]:
                print(f"{disasm}: {text}")
    print(f"{files} files, {clauses} clauses: {files - wrong} agree, {wrong} differ")
    return 0 if files and not wrong else 1


if __name__ == "__main__":
    sys.exit(main())
