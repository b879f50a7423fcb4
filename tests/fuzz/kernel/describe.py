#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""describe.py DESCRIPTION OUT: the uapi's description for syzkaller (kernel/tests/syzkaller) as tables in C, see
table.h. tests/static/syzkaller.sh compares the description with the header."""

import re
import sys

RESOURCES = {}      # name of a resource: its constant in table.h
SYNCOBJ = {"SYNCOBJ_CREATE": "DRM_IOCTL_SYNCOBJ_CREATE"}


class Refused(Exception):
    """The description has something that this program does not know."""


def parse(text):
    """({type: [(member, kind)]}, {set: [value]}, [(ioctl, struct)])"""
    text = re.sub(r"^#.*$", "", text, flags=re.M)
    types = {name: re.findall(r"^\t(\w+)\t(.*)$", body, flags=re.M)
             for name, body in re.findall(r"^(\w+) \{\n(.*?)^\}", text, flags=re.M | re.S)}
    sets = {name: values.split(", ") for name, values in re.findall(r"^(\w+) = (.*)$", text, flags=re.M)}
    ioctls = re.findall(r"^ioctl\$TESSERA_(\w+)\(.*ptr\[\w+, (\w+)\]", text, flags=re.M)
    return types, sets, ioctls


def bits_of(kind):
    found = re.search(r"\bint(8|16|32|64)\b", kind)
    return int(found.group(1)) if found else 32


def field(kind, types, scalars):
    """(kind in C, bits, further initializers) of a member."""
    resource = re.fullmatch(r"tessera_(\w+)( \(out\))?", kind)
    if resource and resource.group(1) in RESOURCES:
        return "FIELD_OUT" if resource.group(2) else "FIELD_RESOURCE", 32, f".type = {RESOURCES[resource.group(1)]}"
    m = re.fullmatch(r"flags\[(\w+), int(\d+)\]", kind)
    if m:
        return "FIELD_SET", int(m.group(2)), f".values = set_{m.group(1)}, .count = COUNT(set_{m.group(1)})"
    m = re.fullmatch(r"const\[(\w+), int(\d+)\]", kind)
    if m:
        return "FIELD_CONST", int(m.group(2)), f".low = {m.group(1)}"
    m = re.fullmatch(r"int(\d+)(?:\[(\d+):(\d+)(?:, (\d+))?\])?", kind)
    if m:
        low, high, step = m.group(2) or 0, m.group(3) or 255, m.group(4) or 1
        return "FIELD_INT", int(m.group(1)), f".low = {low}, .high = {high}, .step = {step}"
    if kind == "bool32":
        return "FIELD_INT", 32, ".low = 0, .high = 1, .step = 1"
    if kind.startswith("bytesize["):
        return "FIELD_BYTES", 32, ".low = 0"
    if kind.startswith("ptr64[out, array"):
        return "FIELD_BUFFER", 64, ".low = 0"
    if kind.startswith("ptr64[in, string"):
        return "FIELD_TEXT", 64, ".low = 0"
    m = re.fullmatch(r"array\[int(\d+), (\d+)\]", kind)
    if m:
        return "FIELD_PAD", int(m.group(1)) * int(m.group(2)), ".low = 0"
    m = re.fullmatch(r"drm_tessera_array\[(\w+), (\d+)\]", kind)
    if m:
        if m.group(1) not in types:
            scalars.add(m.group(1))
        return "FIELD_ARRAY", 128, f".type = TYPE_{m.group(1)}"
    raise Refused(f"a member of kind {kind!r}")


def emit(types, sets, ioctls, out):
    scalars = set()
    lines = {}
    for name, members in types.items():
        if name == "drm_tessera_array":
            continue
        offset, lines[name] = 0, []
        for member, kind in members:
            c_kind, bits, more = field(kind, types, scalars)
            offset += -offset % (min(bits, 64) // 8)
            lines[name].append(f'\t{{ "{member}", {c_kind}, {min(bits, 64)}, {offset}, {more} }},')
            offset += bits // 8
        lines[name] = (lines[name], offset + -offset % (8 if any("64" in k or "array" in k for _, k in members) else 4))
    for name in scalars:
        bits = bits_of(name)
        lines[name] = ([f'\t{{ "value", FIELD_INT, {bits}, 0, .low = 0, .high = 63, .step = 1 }},'], bits // 8)
    out.write("/* SPDX-License-Identifier: MIT */\n/* Made by describe.py. */\n")
    for name, values in sets.items():
        out.write(f"static const uint64_t set_{name}[] = {{ {', '.join(values)} }};\n")
    out.write("enum { " + ", ".join(f"TYPE_{name}" for name in lines) + " };\n")
    for name, (rows, _) in lines.items():
        out.write(f"static const struct field fields_{name}[] = {{\n" + "\n".join(rows) + "\n};\n")
    out.write("static const struct type types[] = {\n")
    for name, (_, size) in lines.items():
        out.write(f'\t[TYPE_{name}] = {{ "{name}", {size}, fields_{name}, COUNT(fields_{name}) }},\n')
    out.write("};\nstatic const struct ioctl_call ioctls[] = {\n")
    for name, struct in ioctls:
        out.write(f'\t{{ "{name.lower()}", {SYNCOBJ.get(name, "DRM_IOCTL_TESSERA_" + name)}, TYPE_{struct} }},\n')
    out.write("};\n")


def main():
    with open(sys.argv[1]) as f:
        text = f.read()
    for name in re.findall(r"^resource tessera_(\w+)\[int32\]", text, flags=re.M):
        RESOURCES[name] = "RESOURCE_" + name.upper()
    types, sets, ioctls = parse(text)
    if not types or not ioctls:
        raise Refused("no structure or no ioctl")
    with open(sys.argv[2], "w") as out:
        emit(types, sets, ioctls, out)


if __name__ == "__main__":
    try:
        main()
    except Refused as e:
        sys.exit(f"describe.py: {sys.argv[1]}: cannot be understood: {e}")
