# SPDX-License-Identifier: MIT
"""
abi.py DIR HW [--update]: whether the libraries' interface is the one in tests/static/abi.txt.

DIR holds the public headers, HW the generated ones. The list has a line for each function (as it is declared), each
structure and union with size, members and their offsets, and each value of an enum, of the public headers and of
those enums of the hardware that they name. What compilers make of structures is read from debugging information.
A line that goes or changes breaks programs that were compiled before; a new one does not.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
LIST = TOP / "tests/static/abi.txt"


def plain(text):
    """C without comments and preprocessor lines."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    return re.sub(r"^\s*#.*(\\\n.*)*$", "", text, flags=re.M)


def functions(header, text):
    text = re.sub(r'extern "C" \{|\}\s*$', "", plain(text).strip())
    while "{" in text:
        text = re.sub(r"\{[^{}]*\}", "", text)
    for statement in text.split(";"):
        if re.search(r"\btsr_\w+\s*\(", statement):
            yield f"function {header}: " + re.sub(r"\s*([*(),])\s*", r"\1", " ".join(statement.split()))


class Entry:
    def __init__(self, tag):
        self.tag, self.attributes, self.children = tag, {}, []


def entries(program):
    """The debugging information's entries by offset."""
    found, stack = {}, []
    text = subprocess.run(["readelf", "--debug-dump=info", "--wide", program], check=True, capture_output=True, text=True,
                          env={**os.environ, "LC_ALL": "C"}).stdout
    for line in text.splitlines():
        m = re.match(r" *<(\w+)><(\w+)>: Abbrev Number: \d+ \(DW_TAG_(\w+)\)", line)
        if m:
            depth, entry = int(m.group(1), 16), Entry(m.group(3))
            found[m.group(2)] = entry
            del stack[depth:]
            if stack:
                stack[-1].children.append(entry)
            stack.append(entry)
            continue
        m = re.match(r" *<\w+> +DW_AT_(\w+) *: (.*)", line)
        if m and stack:
            stack[-1].attributes[m.group(1)] = re.sub(r"^(\([^)]*\):? *)+", "", m.group(2)).strip()
    return found


def type_name(found, entry):
    link = entry.attributes.get("type")
    if not link:
        return "void"
    target = found[re.match(r"<(?:0x)?(\w+)>", link).group(1)]
    inner = type_name(found, target) if target.tag not in ("base_type", "typedef") else ""
    name = target.attributes.get("name", "")
    if target.tag in ("base_type", "typedef"):
        return name
    if target.tag == "pointer_type":
        return inner + "*"
    if target.tag == "const_type":
        return "const " + inner
    if target.tag == "array_type":
        return inner + "".join(f"[{int(c.attributes['upper_bound'], 0) + 1}]" for c in target.children
                               if "upper_bound" in c.attributes)
    if target.tag == "subroutine_type":
        return f"{inner}({','.join(type_name(found, c) for c in target.children)})"
    return f"{target.tag.removesuffix('_type').replace('structure', 'struct').replace('enumeration', 'enum')} {name}"


def types(found, wanted):
    for entry in found.values():
        name = entry.attributes.get("name", "")
        if name not in wanted or "byte_size" not in entry.attributes:
            continue
        if entry.tag == "enumeration_type":
            for value in entry.children:
                yield f"value {name}: {value.attributes['name']} = {value.attributes['const_value']}"
        elif entry.tag in ("structure_type", "union_type"):
            kind = entry.tag.removesuffix("_type").replace("structure", "struct")
            yield f"{kind} {name}: {int(entry.attributes['byte_size'], 0)} bytes"
            for member in entry.children:
                if member.tag == "member":
                    at = int(member.attributes.get("data_member_location", "0"), 0)
                    yield f"{kind} {name}: {at} {type_name(found, member)} {member.attributes.get('name', '')}"


def interface(headers, hw):
    texts = {h.name: h.read_text() for h in sorted(headers.glob("*.h"))}
    lines = [line for name, text in texts.items() for line in functions(name, text)]
    wanted = set(re.findall(r"\b(?:struct|union|enum) (tsr_\w+)", "".join(plain(t) for t in texts.values())))
    with tempfile.TemporaryDirectory() as scratch:
        source = pathlib.Path(scratch) / "all.c"
        source.write_text("".join(f"#include <tessera/{name}>\n" for name in texts))
        flags = subprocess.run(["pkg-config", "--cflags", "libdrm"], check=True, capture_output=True, text=True).stdout.split()
        subprocess.run(["gcc", "-g", "-gdwarf-4", "-gno-pubnames", "-fno-eliminate-unused-debug-types", "-fno-debug-types-section", "-c",
                        f"-I{headers.parent}", f"-I{hw}", f"-I{TOP}/kernel/include/uapi", *flags, str(source), "-o",
                        str(source.with_suffix(".o"))], check=True)
        found = entries(str(source.with_suffix(".o")))
    return sorted(set(lines)) + sorted(dict.fromkeys(types(found, wanted)), key=lambda line: line.split(":")[0])


def main():
    headers, hw = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    now = interface(headers, hw)
    if "--update" in sys.argv:
        LIST.write_text("# SPDX-License-Identifier: MIT\n# Written by abi.py --update\n" + "\n".join(now) + "\n")
        return 0
    then = [line for line in LIST.read_text().splitlines() if not line.startswith("#")]
    gone, new = sorted(set(then) - set(now)), sorted(set(now) - set(then))
    for line in gone:
        print("was:", line)
    for line in new:
        print("is: ", line)
    if gone:
        print("The libraries' interface is not what programs were compiled with. A structure that ends in _info may get\n"
              "members at its end; all else needs another soname (ABI in userspace/Makefile). If it is meant so:")
    elif new:
        print("The libraries' interface has grown. If it is meant so:")
    if gone or new:
        print("python3 tests/static/abi.py userspace/libtessera/include/tessera \"$(make -s headers)\" --update")
    return 1 if gone or new else 0


if __name__ == "__main__":
    sys.exit(main())
