#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=300
"""Tools on files that are damaged or empty: status 1 (tsr-replay: 2) and one line that names the file.

Models crash, hang or exhaust assimp, which tsr-view therefore runs in a child with limits. Captured jobs and
compressed textures are read by code of our own.
"""

import json
import os
import random
import resource
import struct
import subprocess
import sys
import tempfile

from tap import Tap

TOP = os.environ["TSR_TOP"]
BIN = os.path.join(os.environ["TSR_BUILD"], "userspace", "bin")
PEAK_KIB = 3 << 20          # far above the limit of tsr-view's child, far below what a hostile count asks for

tap = Tap()


def run(*command, **options):
    """Status, standard output and standard error of a tool."""
    child = subprocess.Popen(["/usr/bin/env", *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                             **options)
    out, err = child.communicate(timeout=120)
    return child.returncode, out, err


def one_line(err, path, what):
    tap.eq(len(err.splitlines()), 1, f"lines on standard error of {what}: {err!r}")
    tap.ok(os.path.basename(path) in err, f"{what}: the line names the file: {err!r}")


def ply(count_vertices, count_faces, body, kind="ascii", end="end_header\n"):
    return (f"ply\nformat {kind} 1.0\nelement vertex {count_vertices}\nproperty float x\nproperty float y\nproperty float z\n"
            f"element face {count_faces}\nproperty list uchar int vertex_index\n{end}{body}")


def gltf(**members):
    return json.dumps({"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], **members})


NESTED = 60000
MODELS = {
    # a count that no file can hold
    "vertices.ply": ply(2000000000, 1, "0 0 0\n"),
    "faces.ply": ply(3, 2000000000, "\0" * 40, "binary_little_endian"),
    "faces.off": "OFF\n353535235358 6 0\n-0.5 -0.5 0.5\n0.5 -0.5 0.5\n-0.5 0.5 0.5\n4 0 1 3 2\n",
    "sparse.gltf": gltf(nodes=[{"mesh": 0}], meshes=[{"primitives": [{"attributes": {"POSITION": 0}}]}], accessors=[{
        "componentType": 5126, "count": 1500000000, "type": "VEC3", "sparse": {
            "count": 1, "indices": {"bufferView": 0, "componentType": 5125}, "values": {"bufferView": 0}}}],
        buffers=[{"byteLength": 48, "uri": "data:application/octet-stream;base64," + "A" * 64}],
        bufferViews=[{"buffer": 0, "byteLength": 48}]),
    # nested deeper than a stack reaches
    "nodes.gltf": gltf(nodes=[{"children": [n + 1]} for n in range(NESTED)] + [{}]),
    "brackets.gltf": "[" * 300000 + "]" * 300000,
    # a header that does not end, which assimp looks for without end
    "header.ply": "ply\nformat ascii 1.0          \nelement vertex 8          \nproperty float32 x         \n"
                  "property float32 y         \nproperty float32 z         \nelement face 6             \n"
                  "property list uint8 int32 vertex_index \nend_heade",
    # faces that name vertices which the file was cut before
    "cut.ply": ply(24, 6, "".join(f"{n % 2} {n // 2 % 2} {n // 4}\n" for n in range(24)) + "4 0 1 2 3\n4 4 5 6 7\n4 8 9 10 99999999\n4 1"),
    "empty.obj": "",
    "noise.obj": "\x01\x02v 1 1\nf 1 2 3\n",
}


# A model that takes more than a second with every assimp: triangles without common corners.
LARGE = "".join(f"v {n % 97} {n % 89} {n % 83}\n" for n in range(1500000)) + \
        "".join(f"f {n} {n + 1} {n + 2}\n" for n in range(1, 1500000, 3))


def view(path, *options, **more):
    return run("tsr-host", "tsr-view", "-s", "32x32", "-o", "damaged.png", *options, path, cwd=scratch,
               env=dict(os.environ, PATH=f"{BIN}:{os.environ['PATH']}"), **more)


def write(name, data):
    path = os.path.join(scratch, name)
    with open(path, "wb") as f:
        f.write(data.encode("latin-1") if isinstance(data, str) else data)
    return path


# ---- Captured jobs ----

PAGE = 4096
HEADER = "<QIIIIQIIIIQQQQIIIIQQ"
READ, WRITE, EXEC, CHANGED = 1, 2, 4, 16
STREAM_VA = 0x10000000


def capture(pages, va_bits=48):
    """A capture of a COPY job that is eight words of NOP."""
    data = struct.pack(HEADER, 0x5452504143525354, 1, len(pages), 3, va_bits, 0, 1, 0, 0, 0, 1, STREAM_VA, 64, 0, 0, 0, 0, 0, 0, 0)
    for va, flags in pages:
        held = struct.pack("<8Q", *[1 << 8] * 8) if va == STREAM_VA else b""
        data += struct.pack("<QII", va, flags, 0) + held.ljust(PAGE, b"\0") + bytes(PAGE if flags & CHANGED else 0)
    return data


def replay(data):
    path = write("job.capture", data)
    return run(os.path.join(BIN, "tsr-replay"), "--timeout", "1", path)


def mutants(count):
    """Captures with up to three words of their heads replaced; some are cut."""
    dice = random.Random(13)
    whole = capture([(STREAM_VA, READ | EXEC), (0x20000000, READ | WRITE), (0x20001000, READ | WRITE | CHANGED)])
    first = struct.calcsize(HEADER)
    heads = [*range(8, first, 4), *(first + page * (PAGE + 16) + word for page in range(3) for word in (0, 4, 8, 16, 20))]
    values = (0, 1, 7, 39, 57, 0x1000, 0x7fffffff, 0x80000000, 0xffffffff)
    for _ in range(count):
        data = bytearray(whole)
        for _ in range(dice.randint(1, 3)):
            struct.pack_into("<I", data, dice.choice(heads), dice.choice(values + (dice.getrandbits(32), dice.getrandbits(8))))
        yield data[:dice.randrange(len(data))] if dice.random() < 0.1 else data


# ---- Compressed textures ----

SIDE = 16
BLOCKS = bytes(8 * (SIDE // 4) ** 2)        # of BC1


def dds():
    head = struct.pack("<4s7I44x", b"DDS ", 124, 0x81007, SIDE, SIDE, len(BLOCKS), 0, 0)
    return head + struct.pack("<2I4s5I5I", 32, 4, b"DXT1", 0, 0, 0, 0, 0, 0x1000, 0, 0, 0, 0) + BLOCKS


def ktx():
    return b"\xabKTX 11\xbb\r\n\x1a\n" + struct.pack("<14I", 0x04030201, 0, 1, 0, 0x83f0, 0x1907, SIDE, SIDE, 0, 0, 1, 1, 0,
                                                     len(BLOCKS)) + BLOCKS


def ktx2():
    return (b"\xabKTX 20\xbb\r\n\x1a\n" + struct.pack("<9I4I2Q", 131, 1, SIDE, SIDE, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0) +
            struct.pack("<3Q", 104, len(BLOCKS), len(BLOCKS)) + BLOCKS)


def textured(name):
    """Path of a model, one triangle, with this texture."""
    write("textured.mtl", f"newmtl m\nKd 1 1 1\nmap_Kd {name}\n")
    return write("textured.obj", "mtllib textured.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nusemtl m\nf 1/1 2/2 3/3\n")


with tempfile.TemporaryDirectory(prefix="tessera-tools-") as scratch:
    for model, text in MODELS.items():
        with tap.test(f"[SYS8] tsr-view of a damaged model: {model}"):
            status, _, err = view(write(model, text))
            tap.eq(status, 1, "status")
            one_line(err, model, "tsr-view")
            tap.ok(not os.path.exists(os.path.join(scratch, "damaged.png")), "no picture")
            tap.ok(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < PEAK_KIB, "memory")

    with tap.test("[SYS8] tsr-view says which limit a file meets, and limits can be set"):
        tap.ok("--time" in view(write("large.obj", LARGE), "--time", "1")[2], "time")
        tap.ok("--memory" in view(write("vertices.ply", MODELS["vertices.ply"]), "--memory", "256")[2], "memory")
        tap.ok("--memory" in view(f"{TOP}/userspace/tools/tsr-view/models/house.obj", "--memory", "1")[2], "memory for anything")
        for option in ("--memory", "--time"):
            for value in ("0", "1.5", "x", "-1"):
                tap.eq(view("x.obj", option, value)[0], 2, f"status of {option} {value}")

    with tap.test("[SYS8] tsr-view: a file that is not there, a folder, a device"):
        for path in ("/nowhere.obj", scratch, "/dev/null"):
            status, _, err = view(path)
            tap.eq(status, 1, f"status for {path}")
            one_line(err, path, path)

    with tap.test("[TEX8] tsr-view with damaged DDS and KTX textures: a warning, and the model without them"):
        for name, make in (("t.dds", dds), ("t.ktx", ktx), ("t.ktx2", ktx2)):
            whole = make()
            write(name, whole)
            status, _, err = view(textured(name))
            tap.eq((status, err), (0, ""), f"the whole {name}")
            for cut in (13, 70, len(whole) - 1):
                write(name, whole[:cut])
                status, _, err = view(textured(name))
                tap.eq(status, 0, f"status for {name} cut at {cut}")
                one_line(err, name, f"{name} cut at {cut}")
            for at in range(12, 64, 8):
                write(name, whole[:at] + b"\xff\xff\xff\x7f" + whole[at + 4:])
                status, _, err = view(textured(name))
                tap.eq(status, 0, f"status for {name} with a large word at {at}: {err}")
                tap.ok(len(err.splitlines()) < 2, f"one warning at most: {err}")
            os.unlink(os.path.join(scratch, "damaged.png"))

    with tap.test("[SYS5] tsr-as, tsr-dis and tsr-decode of an empty file: status 1 and a line that says so"):
        empty = write("empty.bin", b"")
        for tool in (("tsr-as", "-n"), ("tsr-as", "-o", os.path.join(scratch, "out")), ("tsr-dis",), ("tsr-dis", "-o", os.path.join(scratch, "out")), ("tsr-decode",), ("tsr-decode", "-r"),
                     ("tsr-decode", "-x"), ("tsr-decode", "-R"), ("tsr-decode", "-d"), ("tsr-decode", "-l", "0"), ("tsr-decode", "-j")):
            status, out, err = run(os.path.join(BIN, tool[0]), *tool[1:], empty)
            tap.eq((status, out), (1, ""), " ".join(tool))
            one_line(err, empty, " ".join(tool))
            status, out, err = run(os.path.join(BIN, tool[0]), *tool[1:], "-", stdin=subprocess.DEVNULL, cwd=scratch)
            tap.eq((status, out, len(err.splitlines())), (1, "", 1), f"{' '.join(tool)} from standard input: {err}")
        tap.eq(sorted(f for f in os.listdir(scratch) if f.startswith(("out", "empty.bin."))), [], "no output is left")

    with tap.test("[SYS9] tsr-replay of a capture that is whole"):
        status, out, _ = replay(capture([(STREAM_VA, READ | EXEC)]))
        tap.eq(status, 0, f"status: {out}")

    with tap.test("[SYS9] tsr-replay of 200 damaged captures: refused, or run and compared"):
        seen = set()
        for data in mutants(200):
            status, out, err = replay(data)
            seen.add(status)
            tap.ok(status in (0, 1, 2), f"status {status}: {out}{err}")
            tap.ok("(null)" not in out, out)
            if status == 2:
                one_line(err, "job.capture", "tsr-replay")
        tap.ok({1, 2} <= seen, f"both kinds happen: {seen}")

    with tap.test("[SYS9] tsr-replay of a capture with more page tables than it has memory for"):
        status, out, err = replay(capture([(n << 39, READ) for n in range(5600)], 57))
        tap.eq(status, 2, f"status: {err}")
        tap.ok("too far apart" in out + err, out + err)

    with tap.test("[SYS5] each tool has a row in the table of exit statuses, and keeps to it for --help and bad usage"):
        with open(f"{TOP}/Documentation/start/troubleshooting.md", encoding="utf-8") as page:
            rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page if line.startswith("| `tsr-")]
        sources = os.listdir(f"{TOP}/userspace/tools")
        tap.eq(sorted(row[0].strip("`") for row in rows), sorted({name.partition(".")[0] for name in sources if name.startswith("tsr-")}))
        for name, *cells in rows:
            tool = os.path.join(BIN, name.strip("`"))
            tap.eq(len(cells), 4, f"columns of {name}")
            tap.ok("bad usage" in cells[2], f"{name}: status 2 is bad usage")
            for option, want in (("--help", 0), ("--version", 0), ("--no-such-option", 2)):
                status, out, err = run(tool, option, stdin=subprocess.DEVNULL)
                tap.eq(status, want, f"{name} {option}: {err}")
                tap.ok(bool(out) == (not want) and bool(err) == bool(want), f"{name} {option}: the right stream")
            if cells[1] == "-":
                continue
            # an argument, but no device and no such file
            status, out, err = run(tool, "/nowhere", stdin=subprocess.DEVNULL)
            tap.ok(status in (1, 2, 126, 127) and out + err, f"{name} /nowhere: {status}, {out}{err}")

    with tap.test("[SYS8] programs of the installation find their libraries, wherever they are started"):
        clean = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
        for program in ("tsr-info", "hello"):
            status, out, err = run(os.path.join(BIN, "tsr-host"), os.path.join(BIN, program), cwd="/", env=clean)
            tap.eq(status, 0, f"status of {program}: {err}")

sys.exit(tap.finish())
