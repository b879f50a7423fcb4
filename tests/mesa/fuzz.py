#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=900
"""Scenes by chance (fuzz.c) on the device in their own process, and the same by Mesa's softpipe on the CPU: alike.

Where softpipe has another picture llvmpipe is asked as well: a scene is wrong if both have. Scenes from 100001 on have geometry
shaders. Scenes from 200001 on are those of fuzz_exact.c, whose results must be llvmpipe's bit by bit. TSR_FUZZ_SCENES='FIRST
COUNT' are others. FUZZ='FIRST COUNT' of `make check-mesa` sets it."""

import os
import struct
import subprocess
import sys
import tempfile

import programs
from tap import Tap

tap = programs.tap = Tap()
BYTES = 64 * 64 * 4
ASKED = os.environ.get("TSR_FUZZ_SCENES")
RANGES = [tuple(int(n) for n in ASKED.split())] if ASKED else [(1, 300), (100001, 150), (200001, 150)]
EXACT = 200001      # scenes from here on are fuzz_exact's
WORDS = 64          # of such a scene
STEPS = {0x5701: "numbers", 0x5702: "images", 0x5703: "streams", 0x5704: "statistics", 0x5705: "draws", 0x5706: "dispatches"}
# A channel of 255 that is further off is another one (17 is the least that four bits can be); of a scene so many pixels in a hundred may be others: at edges, where a
# shader compares, or where a texel's edge lies.
FAR, LIMIT = 20, 2.0
# Scenes that each renderer draws in its own way, and why.
LAYERS = "many layers are blended in four or five bits, and rounded each time"
KNOWN = {677: LAYERS, 3359: LAYERS, 101040: LAYERS, 101098: LAYERS,
         857: "Mesa 25.0.7 folds constants wrongly, with each of its drivers"}


def draw(program, path, software, first, count):
    """What the program printed; the pictures go to the file. software: Mesa's renderer that is to draw, or the device."""
    command = [program, str(first), str(count), path]
    environment = dict(os.environ, MESA_SHADER_CACHE_DISABLE="1", TSR_GL_RENDERER="any")
    if software:
        environment.update(LIBGL_ALWAYS_SOFTWARE="1", GALLIUM_DRIVER=software)
    else:
        command = [programs.TSR_HOST, os.path.join(programs.MESA, "tsr-mesa"), *command]
    return subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=800).stdout.decode(errors="replace")


def differences(first, second):
    """In hundred how many pixels are far off."""
    bad = sum(any(abs(first[i + k] - second[i + k]) > FAR for k in range(4))
              for i in range(0, len(first), 4) if first[i:i + 4] != second[i:i + 4])
    return 100 * bad / (len(first) / 4)


def scene_of(pictures, i):
    return pictures[i * BYTES:(i + 1) * BYTES]


def read(path):
    with open(path, "rb") as f:
        return f.read()


def share_of_closest(program, directory, pictures, first, i):
    """In hundred how many pixels of scene @first + @i are others than softpipe's, or, where these are many, llvmpipe's."""
    share = differences(*(scene_of(p, i) for p in pictures))
    if share > LIMIT:
        path = os.path.join(directory, "llvmpipe")
        draw(program, path, "llvmpipe", first + i, 1)
        share = min(share, differences(scene_of(pictures[0], i), read(path)))
    return share


def draw_both(program, directory, software, line, first, count):
    """The scenes as the device and that renderer, whose name begins @line of the output, draw them without an error."""
    paths = [os.path.join(directory, name) for name in ("device", software)]
    said = [draw(program, path, renderer, first, count) for path, renderer in zip(paths, ("", software))]
    tap.ok("# Tessera," in said[0] and line in said[1], "the renderers")
    for text in said:
        tap.ok("ok 1" in text and "not ok" not in text, f"no error: {text[-1000:]}")
    return [read(path) for path in paths]


def compare(first, count):
    with tempfile.TemporaryDirectory(prefix="tessera-fuzz-") as directory, \
            tap.test(f"scenes {first} to {first + count - 1} are those of Mesa's renderers"):
        program = programs.build("fuzz", directory)
        pictures = draw_both(program, directory, "softpipe", "# softpipe,", first, count)
        for picture in pictures:
            tap.eq(len(picture), count * BYTES, "bytes of pictures")
        shares = [share_of_closest(program, directory, pictures, first, i) for i in range(count)]
        bad = [f"{first + i} ({share:.1f})" for i, share in enumerate(shares) if share > LIMIT and first + i not in KNOWN]
        tap.note(f"{sum(not s for s in shares)} without a difference, the mean is {sum(shares) / count:.3f} of 100 pixels")
        tap.eq(", ".join(bad), "", "scenes of which both have other pictures")


def first_difference(ours, theirs):
    """The step of the first word that is another one, or ""."""
    step = ""
    for a, b in zip(ours, theirs):
        step = STEPS.get(b, step)
        if a != b:
            return step
    return ""


def compare_exact(first, count):
    with tempfile.TemporaryDirectory(prefix="tessera-fuzz-") as directory, \
            tap.test(f"scenes {first} to {first + count - 1} have llvmpipe's results"):
        program = programs.build("fuzz_exact", directory)
        words = [list(struct.iter_unpack(f"<{WORDS}I", data))
                 for data in draw_both(program, directory, "llvmpipe", "# llvmpipe", first, count)]
        for scenes in words:
            tap.eq(len(scenes), count, "scenes")
        bad = [(first + i, first_difference(*pair)) for i, pair in enumerate(zip(*words))]
        tap.eq(", ".join(f"{seed} ({step})" for seed, step in bad if step), "", "scenes with other results")


for scenes in RANGES:
    (compare_exact if scenes[0] >= EXACT else compare)(*scenes)
sys.exit(tap.finish())
