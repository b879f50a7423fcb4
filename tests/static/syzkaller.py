#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare syzkaller's description of the uapi with the header: ioctls and their direction, structures with their
members in order and size, values of enumerations. Prints one line per difference; status 1 when there is one."""

import re
import sys

HEADER = "kernel/include/uapi/drm/tessera_drm.h"
TEXT = "kernel/tests/syzkaller/dev_tessera.txt"
BITS = {"__u8": 8, "__u16": 16, "__u32": 32, "__s32": 32, "__u64": 64}
# Structures that only the kernel writes into buffers, whose bytes are of no use to a fuzzer.
OUT_ONLY = {"array", "gpu_info", "engine_info", "counter_info", "gpu_state", "shader_info", "file_limits"}


def read_header(path):
    """({struct: [(member, bits)]}, {enum: [value]}, {ioctl: (direction, struct)})"""
    with open(path) as f:
        text = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
    structs = {}
    for name, body in re.findall(r"struct drm_tessera_(\w+) \{(.*?)\n\};", text, flags=re.S):
        structs[name] = [(member, BITS.get(kind, 128) * int(count or 1)) for kind, member, count in
                         re.findall(r"(\w+) (\w+)(?:\[(\d+)\])?;", body)]
    enums = {name: re.findall(r"^\s*(DRM_\w+)", body, flags=re.M)
             for name, body in re.findall(r"enum (\w+) \{(.*?)\};", text, flags=re.S)}
    ioctls = {name: (way, struct) for name, way, struct in re.findall(
        r"#define DRM_IOCTL_TESSERA_(\w+)[\s\\]*DRM_(IOWR|IOW|IOR)\(.*?struct drm_tessera_(\w+)\)", text)}
    return structs, enums, ioctls


def width(kind):
    """Bits of a member as the description has it."""
    m = re.match(r"array\[int(\d+), (\d+)\]", kind)
    if m:
        return int(m.group(1)) * int(m.group(2))
    if kind.startswith("drm_tessera_array["):
        return 128
    if kind.startswith("ptr64["):
        return 64
    m = re.search(r"\bint(8|16|32|64)\b", kind)
    return int(m.group(1)) if m else 32         # a resource


def read_description(path):
    """The same three tables, and the text without comments."""
    with open(path) as f:
        text = re.sub(r"^#.*$", "", f.read(), flags=re.M)
    structs = {name: [(member, width(kind)) for member, kind in re.findall(r"^\t(\w+)\t(.*)$", body, flags=re.M)]
               for name, body in re.findall(r"^drm_tessera_(\w+) \{\n(.*?)^\}", text, flags=re.M | re.S)}
    enums = {name: values.split(", ") for name, values in re.findall(r"^(drm_tessera_\w+) = (.*)$", text, flags=re.M)}
    ways = {"in": "IOW", "inout": "IOWR", "out": "IOR"}
    ioctls = {name: (ways[way], struct) for name, way, struct in re.findall(
        r"^ioctl\$TESSERA_(\w+)\(.*ptr\[(\w+), drm_tessera_(\w+)\]", text, flags=re.M)}
    return structs, enums, ioctls, text


def main():
    structs, enums, ioctls = read_header(sys.argv[1] if len(sys.argv) > 1 else HEADER)
    have_structs, have_enums, have_ioctls, text = read_description(TEXT)
    problems = []
    for name, members in structs.items():
        if name not in OUT_ONLY and have_structs.get(name) != members:
            problems.append(f"struct drm_tessera_{name}: the header has {members}, {TEXT} {have_structs.get(name)}")
    for name in set(have_structs) - set(structs):
        problems.append(f"struct drm_tessera_{name} is not in the header")
    for name, values in have_enums.items():
        if enums.get(name) != values:
            problems.append(f"enum {name}: the header has {enums.get(name)}, {TEXT} {values}")
    for name in set(re.findall(r"flags\[(drm_tessera_\w+),", text)) - set(have_enums):
        problems.append(f"enum {name} is used and not there")
    for name, stride in re.findall(r"drm_tessera_array\[drm_tessera_(\w+), (\d+)\]", text):
        if sum(bits for _, bits in structs[name]) != 8 * int(stride):
            problems.append(f"struct drm_tessera_{name} is not {stride} bytes long")
    for name in set(ioctls) | set(have_ioctls):
        if ioctls.get(name) != have_ioctls.get(name):
            problems.append(f"ioctl {name}: the header has {ioctls.get(name)}, {TEXT} {have_ioctls.get(name)}")
    print("\n".join(problems) if problems else f"{len(ioctls)} ioctls, {len(have_structs)} structures")
    return 1 if problems or not ioctls or not structs else 0


if __name__ == "__main__":
    sys.exit(main())
