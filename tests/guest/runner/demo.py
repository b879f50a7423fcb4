#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`make run`: boot a guest, run the photo demo in it, bring the picture out and say where it is.

    demo.py --image FILE --out DIR [options of guest.py]

The demo (userspace/demos/photo) reads INPUT, lets the GPU work on it, compares the result with what the CPU
makes of the same input and writes OUTPUT; it ends with status 0 only if the two are equal bit for bit.
"""

import argparse
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "lib"))
import guest as runner  # noqa: E402

PNG = b"\x89PNG\r\n\x1a\n"


def check_image(path):
    try:
        with open(path, "rb") as f:
            start = f.read(len(PNG))
    except OSError as e:
        sys.exit(f"tessera: error: IMAGE={path}: {e.strerror}")
    if start != PNG:
        sys.exit(f"tessera: error: IMAGE={path} is not a PNG file")


def run_demo(guest):
    """The demo's picture as bytes, or None; what it says goes to the terminal."""
    out = bytearray()
    status = guest.run("photo /usr/share/tessera/input.png /tmp/output.png >&2 && cat /tmp/output.png", 300,
                       out.extend, runner.write_through(2)).status
    if status:
        print(f"tessera: error: the demo failed with status {status}", file=sys.stderr)
        return None
    if not out.startswith(PNG):
        print("tessera: error: the demo wrote no PNG file", file=sys.stderr)
        return None
    return bytes(out)


def main():
    p = argparse.ArgumentParser(description="Run the demo in a guest.")
    p.add_argument("--image", required=True, help="PNG file to work on")
    p.add_argument("--out", required=True, help="directory for the picture")
    p.add_argument("--check", action="store_true", help="only look whether the picture can be read")
    args, rest = p.parse_known_args()
    options = runner.parse(rest + ["--", "photo"])
    check_image(args.image)
    if args.check:
        return 0
    try:
        with runner.guest_from(options) as guest:
            print(f"tessera: guest runs with {guest.accel} ({guest.accel_reason})", file=sys.stderr)
            picture = run_demo(guest)
    except runner.GuestError as e:
        print(f"tessera: error: {e}", file=sys.stderr)
        return 125
    if picture is None:
        return 1
    os.makedirs(args.out, exist_ok=True)
    shutil.copyfile(args.image, os.path.join(args.out, "input.png"))
    path = os.path.join(args.out, "output.png")
    with open(path + ".new", "wb") as f:
        f.write(picture)
    os.rename(path + ".new", path)
    print(f"input:  {os.path.join(args.out, 'input.png')}\noutput: {path}\n"
          "The output is bit-equal to the picture that the CPU computed from the same input.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
