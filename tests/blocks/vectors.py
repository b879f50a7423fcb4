# SPDX-License-Identifier: MIT
"""Make, or check, what tests know of compressed blocks (tests/blocks/digests.h, lists.h, texels.h).

    vectors.py DUMP [--write] [FORMAT ...]

DUMP is tests/blocks/dump.c, built. The blocks are those of soup.h. Their texels are computed by tests/lib/blocks.py,
compared with those of the decoders in oracles.py, as exactly as these are, and digested: that is what the committed
files hold, so that a test needs no other decoder."""

import argparse
import multiprocessing
import os
import re
import struct
import subprocess
import sys
import textwrap

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
sys.path.insert(0, HERE)
import blocks as reference      # noqa: E402
import oracles                  # noqa: E402

COUNT, LISTED, GROUP, SHOWN = 4096, 5120, 128, 8

# How far a decoder that rounds to fewer bits may be away, in all other cases 0: (decoder, format): distance. Mesa's BC4
# and BC5 have 8 bits, truncated; and signed ones are interpolated with -128 as it is.
DISTANCE = {
    ("mesa", "eac_r11"): 2 ** -15, ("mesa", "eac_rg11"): 2 ** -15, ("mesa", "eac_r11_signed"): 2 ** -14,
    ("mesa", "eac_rg11_signed"): 2 ** -14,
    ("mesa", "bc4"): 1 / 254, ("mesa", "bc5"): 1 / 254, ("mesa", "bc4_signed"): 1.29 / 127, ("mesa", "bc5_signed"): 1.29 / 127,
}


def digest(data):
    value = 0xcbf29ce484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001b3 & 0xffffffffffffffff
    return value


def differences(name, mine, theirs, decoder):
    """How many texels of a decoder differ from ours."""
    floats = reference.FORMATS[name][1]
    step = 16 if floats else 4
    limit = DISTANCE.get((decoder, name), 0)
    wrong = []
    for at in range(0, len(mine), step):
        a, b = mine[at:at + step], theirs[at:at + step]
        if a == b:
            continue
        if floats:
            a, b = struct.unpack("<4f", a), struct.unpack("<4f", b)
        if max(abs(x - y) for x, y in zip(a, b)) > limit:
            wrong.append((at // step, a, b))
    return wrong


def rows_of(macro, name, digests):
    rows = [", ".join(f"0x{value:016x}" for value in digests[i:i + 4]) for i in range(0, len(digests), 4)]
    return f"{macro}({name},\n\t" + ",\n\t".join(rows) + ")"


def work(job):
    """One format: its lines for the files, and what has been found."""
    dump, name, size, texels = job
    count = COUNT + (LISTED if name.startswith("astc") and name.count("_") == 1 else 0)
    data = subprocess.run([dump, name, str(count)], check=True, stdout=subprocess.PIPE).stdout
    each = [reference.decode(name, data[at:at + size]) for at in range(0, len(data), size)]
    mine = b"".join(each)
    found = []
    for decoder, function in oracles.ALL.items():
        try:
            theirs = function(name, data)
        except OSError as error:
            found.append(f"{name}: {decoder} cannot be asked: {error}")
            continue
        if theirs is None:
            continue
        wrong = differences(name, mine, theirs, decoder)
        blocks = sorted({n // texels for n, _a, _b in wrong})
        known = [n for n in blocks if reference.excused(decoder, name, data[n * size:n * size + size])]
        rest = [n for n in blocks if n not in known]
        found.append(f"{name}: {decoder}: {len(wrong)} of {len(mine) // len(each[0]) * texels} texels differ, in "
                     f"{len(known)} blocks it is known to get wrong and in {len(rest)} others"
                     + (" <-- WRONG" if rest else ""))
        for n, a, b in [entry for entry in wrong if entry[0] // texels in rest][:3]:
            block = data[n // texels * size:][:size].hex()
            found.append(f"    block {n // texels} {block} texel {n % texels}: {a} here, {b} there")
    digests = [digest(b"".join(each[i:i + GROUP])) for i in range(0, count, GROUP)]
    line = rows_of("BLOCK_DIGESTS", name, digests[:COUNT // GROUP])
    listed = [rows_of("BLOCK_LISTED", name, digests[COUNT // GROUP:])] if count > COUNT else []
    shown = [f'BLOCK_TEXELS({name}, "{data[i * size:(i + 1) * size].hex()}",\n' +
             "\n".join(f'\t"{part}"' for part in textwrap.wrap(each[i].hex(), 88)) + ")" for i in range(SHOWN)]
    return line, listed, shown, found


def entries(name):
    """What a file says: calls of a macro."""
    path = os.path.join(HERE, name)
    if not os.path.exists(path):
        return []
    with open(path, encoding="ascii") as stream:
        return re.findall(r"^BLOCK_\w+\([^)]*\)", stream.read(), re.MULTILINE)


def format_of(entry):
    return re.match(r"\w+\((\w+)", entry).group(1)


def keep(name, about, new, order):
    """Write a file with new entries in the place of those of the same formats."""
    made = {format_of(entry) for entry in new}
    all_ = [entry for entry in entries(name) if format_of(entry) not in made] + new
    all_.sort(key=lambda entry: order.index(format_of(entry)))
    with open(os.path.join(HERE, name), "w", encoding="ascii") as stream:
        stream.write(f"/* SPDX-License-Identifier: MIT */\n/* {about} */\n" + "\n".join(all_) + "\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("dump")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("formats", nargs="*")
    options = parser.parse_intermixed_args()
    table = subprocess.run([options.dump], check=True, stdout=subprocess.PIPE, text=True).stdout.split("\n")
    jobs = [(options.dump, name, int(size), int(w) * int(h)) for name, size, w, h in (row.split() for row in table if row)
            if not options.formats or name in options.formats]
    bad = 0
    digests, lists, texels = [], [], []
    with multiprocessing.Pool(2) as pool:
        for line, listed, shown, found in pool.imap(work, jobs):
            print("\n".join(found), flush=True)
            bad += sum("WRONG" in text for text in found)
            digests.append(line)
            lists += listed
            name = format_of(line)
            texels += shown if not name.startswith("astc") or name.startswith("astc_4x4") else []
    order = [row.split()[0] for row in table if row]
    if options.write:
        keep("digests.h", f"FNV-1a of the texels of each {GROUP} blocks of soup.h, made by vectors.py.", digests, order)
        keep("lists.h", "The same of every mode and every partition of ASTC, made by vectors.py.", lists, order)
        keep("texels.h", f"The first {SHOWN} blocks of soup.h and their texels, made by vectors.py.", texels, order)
    for name, new in (("digests.h", digests), ("lists.h", lists), ("texels.h", texels)):
        missing = set(new) - set(entries(name))
        if missing:
            print(f"{name} does not say what has been computed for {', '.join(sorted(map(format_of, missing)))}")
            bad += 1
    print(f"{len(jobs)} formats, {bad} complaints")
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
