#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`make run`: boot a guest, run the demos in it, bring the pictures out and say where they are.

    demo.py --image FILE --out DIR [options of guest.py]

The demos (userspace/demos/photo, compute, graphics) let the GPU work, on INPUT or on a scene of their own, judge the result and
write OUTPUT; they end with status 0 only if it is right: equal bit for bit to what the CPU makes of the same input, and for drawn
scenes what their own checks ask. Where there is a display, or somebody who looks by VNC, the last demo is one to watch.
"""

import argparse
import os
import shutil
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import guest as runner  # noqa: E402
import window  # noqa: E402

PNG = b"\x89PNG\r\n\x1a\n"

# what is made of the picture: (file, command that makes OUTPUT of INPUT, what it is)
DEMOS = (
    ("output.png", "photo INPUT OUTPUT", "cropped, mirrored and framed by the copy engines"),
    ("convolve.png", "compute convolve -i INPUT -o OUTPUT", "sharpened by a 5 x 5 convolution on the shader cores"),
    ("equalise.png", "compute equalise -i INPUT -o OUTPUT", "its histogram equalised on the shader cores"),
    ("mandelbrot.png", "compute mandelbrot -o OUTPUT", "the Mandelbrot set"),
    ("cubes.png", "graphics cubes -o OUTPUT", "1000 textured, lit cubes, drawn by the 3D pipeline"),
    ("shadow.png", "graphics shadow -o OUTPUT", "a scene with a shadow map"),
    ("particles.png", "graphics particles -o OUTPUT", "sparks, blended"),
    ("teapot.png", "graphics teapot -o OUTPUT", "three teapots of patches, tessellated by distance"),
    ("fountain.png", "graphics fountain -o OUTPUT", "sparks that the GPU moves by itself, made squares by a geometry shader"),
)
# the one to watch, on a screen of the GPU's
SHOW = "tsr-show --frames 900"
# demos without a picture
NUMBERS = "compute sgemm >&2 && compute prefix >&2"


def check_image(path):
    try:
        with open(path, "rb") as f:
            start = f.read(len(PNG))
    except OSError as e:
        sys.exit(f"tessera: error: IMAGE={path}: {e.strerror}")
    if start != PNG:
        sys.exit(f"tessera: error: IMAGE={path} is not a PNG file")


def run_demo(guest, command):
    """The picture a command makes, as bytes, or None; what it says goes to the terminal."""
    out = bytearray()
    line = command.replace("INPUT", "/usr/share/tessera/input.png").replace("OUTPUT", "/tmp/output.png")
    status = guest.run(f"{line} >&2 && cat /tmp/output.png", 300, out.extend, runner.write_through(2)).status
    if status:
        print(f"tessera: error: the demo '{command}' failed with status {status}", file=sys.stderr)
        return None
    if not out.startswith(PNG):
        print(f"tessera: error: the demo '{command}' wrote no PNG file", file=sys.stderr)
        return None
    return bytes(out)


def run_demos(guest):
    """All pictures in the order of DEMOS, or None as soon as one demo fails."""
    pictures = []
    for _, command, _ in DEMOS:
        pictures.append(run_demo(guest, command))
        if pictures[-1] is None:
            return None
    if guest.run(NUMBERS, 300, runner.write_through(1), runner.write_through(2)).status:
        print("tessera: error: a demo failed", file=sys.stderr)
        return None
    return pictures


def watch(options):
    """Give the guest a screen if somebody can look at it."""
    args = [] if "-vnc" in options.qemu_args or "-display" in options.qemu_args else window.options(os.environ["TSR_QEMU"])
    if not args and "-vnc" not in options.qemu_args and "-display" not in options.qemu_args:
        print(window.HOW_TO_WATCH, file=sys.stderr)
        return False
    if "heads=" not in options.device_args:
        options.device_args = f"{options.device_args},heads=1".lstrip(",")
    options.qemu_args = " ".join([options.qemu_args] + args).strip()
    return True


# Names of long steps (run_logged and timed of build/lib.sh), in words. Anything else is a download.
STEPS = {"apt-install": "installing Debian packages", "qemu-configure": "configuring QEMU", "qemu-headers": "QEMU's headers",
         "plugin": "compiling the device", "plugin-try": "trying the device", "driver": "compiling the driver",
         "userspace": "compiling libraries, tools and demos"}
SHORT = 0.5         # seconds: a step that takes less is not worth a line


def print_phases(demo_seconds):
    """The steps of this run that took time, from the file that the build scripts wrote. They overlap."""
    path = os.environ.get("TSR_PHASES", "")
    rows = []
    if os.path.exists(path):
        with open(path) as f:
            rows = [(float(wall), float(used), name) for wall, used, name in (line.split(None, 2) for line in f)]
        os.unlink(path)
    fetched = [row for row in rows if row[2].strip() not in STEPS]
    rows = [(wall, used, STEPS[name.strip()]) for wall, used, name in rows if name.strip() in STEPS and wall >= SHORT]
    if sum(row[0] for row in fetched) >= SHORT:
        rows.append((sum(row[0] for row in fetched), sum(row[1] for row in fetched), "downloading and unpacking"))
    if not rows:
        return
    rows.append((demo_seconds, None, "booting the guest and running the demos"))
    print("\nseconds  of a processor  step (some run at the same time)")
    for wall, used, name in rows:
        print(f"{wall:7.1f}  {'' if used is None else f'{used:.1f}':>14}  {name}")


def write_picture(path, picture):
    with open(path + ".new", "wb") as f:
        f.write(picture)
    os.rename(path + ".new", path)


def main():
    p = argparse.ArgumentParser(description="Run the demo in a guest.")
    p.add_argument("--image", required=True, help="PNG file to work on")
    p.add_argument("--out", required=True, help="directory for the pictures")
    p.add_argument("--check", action="store_true", help="only look whether the picture can be read")
    args, rest = p.parse_known_args()
    options = runner.parse(rest + ["--", "photo"])
    check_image(args.image)
    if args.check:
        return 0
    start = time.monotonic()
    try:
        watched = watch(options)
        with runner.guest_from(options) as guest:
            print(f"tessera: guest runs with {guest.accel} ({guest.accel_reason})", file=sys.stderr)
            pictures = run_demos(guest)
            if pictures and watched:
                print("tessera: look at the GPU's screen", file=sys.stderr)
                guest.run(f"{SHOW} >&2", 300, None, runner.write_through(2))
    except runner.GuestError as e:
        print(f"tessera: error: {e}", file=sys.stderr)
        return 125
    if pictures is None:
        return 1
    os.makedirs(args.out, exist_ok=True)
    shutil.copyfile(args.image, os.path.join(args.out, "input.png"))
    print(f"input:  {os.path.join(args.out, 'input.png')}")
    for (name, _, what), picture in zip(DEMOS, pictures):
        write_picture(os.path.join(args.out, name), picture)
        print(f"output: {os.path.join(args.out, name)}: {what}")
    print("The edited pictures are bit-equal to what the CPU computed from the same input; the drawn ones passed their checks.")
    print_phases(time.monotonic() - start)
    return 0


if __name__ == "__main__":
    sys.exit(main())
