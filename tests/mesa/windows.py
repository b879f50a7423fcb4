#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=1800
"""Programs with windows on the in-process device: each draws what Mesa's llvmpipe draws of it on the CPU.

Programs and display servers are Debian 13's, unpacked by userspace/mesa/root.sh, unmodified. Each process has a device of
its own. A client shares dma-bufs with a compositor that has a device, and copies pixels for one that has none.

A picture is taken again and again until it is the wanted one, because programs start slowly on a busy machine.
TSR_WINDOWS='NAME ...' runs only these and keeps both pictures of each. TSR_WINDOWS=rates prints a table instead: pictures a
second of programs that count them and wait for no screen, here and with llvmpipe."""

import glob
import os
import re
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import time
import zlib

from tap import Tap

TOP = os.environ["TSR_TOP"]
MESA = os.environ.get("TSR_MESA", "")
HERE = os.path.join(TOP, "tests", "mesa", "window")
HOST = os.path.join(os.environ["TSR_BUILD"], "userspace")
LIMIT = 240 * max(1, min(5, os.getloadavg()[0] / os.cpu_count()))     # seconds for a picture to come
FAR = 16            # colors, of 255: a pixel that is further off is another one
PACKAGES = ("coreutils weston xwayland xvfb mesa-utils-bin gtk-4-examples qml-qt6 qml6-module-qtquick qml6-module-qtquick-window "
            "qml6-module-qtqml-workerscript qt6-wayland apitrace libgl1-mesa-dri libegl-mesa0 libglx-mesa0 libgl1 libgles2").split()

# Prefixes of the server's and the client's command; the software renderer is the packages' own.
DEVICE = "/mnt/host/bin/tsr-host --threads 2 /mnt/mesa/tsr-mesa"
SOFTWARE = "env LIBGL_ALWAYS_SOFTWARE=1"

# Servers: {run} stands for one of these, {client} for the program. They leave pictures in /mnt/out.
WESTON = """{run} weston --backend=headless --renderer={renderer} --width={width} --height={height} --shell=kiosk-shell.so --socket=w \
--debug --idle-time=0 --no-config >/mnt/out/server.log 2>&1 &
export WAYLAND_DISPLAY=w
while [ ! -S /run/w ]; do sleep 0.1; done
{more}
({client}) >/mnt/out/client.log 2>&1 &
mkdir /tmp/shots; cd /tmp/shots; n=0
while kill -0 $!; do
    weston-screenshooter >/mnt/out/screenshooter.log 2>&1 && mv *.png /mnt/out/.new && mv /mnt/out/.new /mnt/out/$n.png && n=$((n + 1))
    sleep 0.2
done"""
XVFB = """mkdir /tmp/.X11-unix
{run} Xvfb :7 -screen 0 {width}x{height}x24 -fbdir /mnt/out -nolisten tcp >/mnt/out/server.log 2>&1 &
export DISPLAY=:7
while [ ! -S /tmp/.X11-unix/X7 ]; do sleep 0.1; done
({client}) >/mnt/out/client.log 2>&1"""
XWAYLAND = """mkdir /tmp/.X11-unix
export DISPLAY=:7
{run} Xwayland :7 -geometry {width}x{height} -decorate >/mnt/out/xwayland.log 2>&1 &
while [ ! -S /tmp/.X11-unix/X7 ]; do sleep 0.1; done"""


# A program is recorded on a server that nobody looks at, and what was recorded is drawn again on the other one.
APITRACE = """sh -c 'Xvfb :8 -screen 0 640x480x24 -nolisten tcp & while [ ! -S /tmp/.X11-unix/X8 ]; do sleep 0.1; done
DISPLAY=:8 LD_PRELOAD="/mnt/out/still.so $LD_PRELOAD" apitrace trace --api gl -o /tmp/it \
timeout 5 glxgears.x86_64-linux-gnu -geometry 400x300+0+0
exec glretrace --loop /tmp/it'"""


class Case:
    """A program, the server it is shown by, and how much of the picture may differ (edges, and what moves)."""

    def __init__(self, name, client, server="weston", still=False, differs=0.01, size=(640, 480)):
        self.name, self.client, self.server, self.still, self.differs = name, client, server, still, differs
        self.width, self.height = size

    def script(self, software):
        run = SOFTWARE if software else DEVICE
        client = f"{'LD_PRELOAD=/mnt/out/still.so ' if self.still else ''}{run} env {self.client}"
        more = XWAYLAND if self.server == "xwayland" else ""
        template = XVFB if self.server == "xvfb" else WESTON
        server = "" if self.server == "pixman" else run
        values = {"run": server, "width": self.width, "height": self.height, "client": client,
                  "renderer": "pixman" if self.server == "pixman" else "gl"}
        return template.format(more=more.format(**values), **values)


CASES = [
    Case("weston-simple-egl", "weston-simple-egl -f", still=True),
    Case("es2gears_wayland", "es2gears_wayland.x86_64-linux-gnu", still=True),
    Case("es2gears_wayland-shm", "es2gears_wayland.x86_64-linux-gnu", server="pixman", still=True),
    Case("es2gears_x11-xvfb", "es2gears_x11.x86_64-linux-gnu", server="xvfb", still=True),
    Case("glxgears-xvfb", "glxgears.x86_64-linux-gnu -geometry 400x300+0+0", server="xvfb", still=True),
    Case("glxgears-xwayland", "glxgears.x86_64-linux-gnu -geometry 400x300+0+0", server="xwayland", still=True),
    Case("apitrace-glxgears", APITRACE, server="xvfb"),
    # a spinner and two bars move all the time: everything else is drawn once, and kept by partial redraws
    Case("gtk4-widget-factory", "GSK_RENDERER=ngl gtk4-widget-factory", differs=0.03, size=(1400, 720)),
    Case("qml-wayland", "QT_QPA_PLATFORM=wayland QSG_RHI_BACKEND=opengl qml6 /mnt/here/scene.qml"),
    Case("qml-xvfb", "QT_QPA_PLATFORM=xcb QSG_RHI_BACKEND=opengl qml6 /mnt/here/scene.qml", server="xvfb"),
]

# Programs that print a rate, and what they print.
NOW = "vblank_mode=0 stdbuf -oL"
GEARS = r"= ([\d.]+) FPS"
RATES = [
    (Case("weston-simple-egl", f"{NOW} weston-simple-egl -f -b"), r"seconds: ([\d.]+) fps"),
    (Case("es2gears_wayland", f"{NOW} es2gears_wayland.x86_64-linux-gnu"), GEARS),
    (Case("es2gears_wayland-shm", f"{NOW} es2gears_wayland.x86_64-linux-gnu", server="pixman"), GEARS),
    (Case("es2gears_x11-xvfb", f"{NOW} es2gears_x11.x86_64-linux-gnu", server="xvfb"), GEARS),
    (Case("glxgears-xvfb", f"{NOW} glxgears.x86_64-linux-gnu", server="xvfb"), GEARS),
    (Case("glxgears-xwayland", f"{NOW} glxgears.x86_64-linux-gnu", server="xwayland"), GEARS),
    (Case("qml-wayland", f"QT_QPA_PLATFORM=wayland QSG_RHI_BACKEND=opengl QSG_NO_VSYNC=1 {NOW} qml6 /mnt/here/rate.qml"), r"rate ([\d.]+)"),
    (Case("qml-xvfb", f"QT_QPA_PLATFORM=xcb QSG_RHI_BACKEND=opengl QSG_NO_VSYNC=1 {NOW} qml6 /mnt/here/rate.qml", server="xvfb"), r"rate ([\d.]+)"),
]
ROUNDS = 3          # rates a program prints that count, after the first one


def unfilter(rows, stride, size):
    """The rows of a PNG of bytes, without their filters."""
    out, above = [], bytes(stride)
    for at in range(0, len(rows), stride + 1):
        kind, row = rows[at], bytearray(rows[at + 1:at + 1 + stride])
        for i in range(stride if kind else 0):
            left, up = row[i - size] if i >= size else 0, above[i]
            corner = above[i - size] if i >= size else 0
            if kind == 4:
                guess = left + up - corner
                best = min((abs(guess - left), 0, left), (abs(guess - up), 1, up), (abs(guess - corner), 2, corner))[2]
            else:
                best = (0, left, up, (left + up) // 2)[kind]
            row[i] = (row[i] + best) & 255
        out.append(bytes(row))
        above = row
    return out


def read_png(path):
    """(width, height, RGB) of a PNG of 8 bits, as weston writes it."""
    with open(path, "rb") as f:
        data = f.read()
    at, packed = 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IHDR":
            width, height, depth, color = struct.unpack(">IIBB", data[at + 8:at + 18])
        elif kind == b"IDAT":
            packed += data[at + 8:at + 8 + size]
        at += size + 12
    channels = {2: 3, 6: 4}[color]
    if depth != 8:
        raise ValueError(f"{path}: {depth} bits")
    rows = unfilter(zlib.decompress(packed), width * channels, channels)
    if channels == 4:
        rows = [bytes(b for i in range(0, len(r), 4) for b in r[i:i + 3]) for r in rows]
    return width, height, b"".join(rows)


def read_xwd(path):
    """(width, height, RGB) of Xvfb's framebuffer, 32 bits little-endian BGRX."""
    with open(path, "rb") as f:
        data = f.read()
    header, colors = struct.unpack(">I", data[:4])[0], struct.unpack(">I", data[76:80])[0]
    width, height, line = struct.unpack(">I", data[16:20])[0], struct.unpack(">I", data[20:24])[0], struct.unpack(">I", data[48:52])[0]
    at = header + 12 * colors
    rgb = bytearray(3 * width * height)
    pixels = b"".join(data[at + y * line:at + y * line + 4 * width] for y in range(height))
    rgb[0::3], rgb[1::3], rgb[2::3] = pixels[2::4], pixels[1::4], pixels[0::4]
    return width, height, bytes(rgb)


def latest(out):
    """The newest picture in a directory, None if there is none yet."""
    xwd = os.path.join(out, "Xvfb_screen0")
    if os.path.exists(xwd):
        return read_xwd(xwd) if os.path.getsize(xwd) else None
    shots = glob.glob(os.path.join(out, "*.png"))
    return read_png(max(shots, key=lambda p: int(os.path.basename(p)[:-4]))) if shots else None


def off(a, b):
    """The part of the pixels of which a color is far off; 1 for different sizes."""
    if a is None or b is None or a[:2] != b[:2]:
        return 1.0
    bad, line = 0, 3 * a[0]
    for at in range(0, len(a[2]), line):
        one, two = a[2][at:at + line], b[2][at:at + line]
        if one != two:
            bad += len({i // 3 for i, (x, y) in enumerate(zip(one, two)) if abs(x - y) > FAR})
    return bad / (a[0] * a[1])


def colors(picture):
    return len({picture[2][i:i + 3] for i in range(0, len(picture[2]), 3)})


def log(out, name):
    try:
        with open(os.path.join(out, name), errors="replace") as f:
            return f.read()
    except FileNotFoundError:
        return ""


class Run:
    """A server and a program that are running, and their pictures."""

    def __init__(self, case, root, software, out, trace=True):
        self.out = out
        environment = dict(os.environ, MESA_SHADER_CACHE_DISABLE="1")
        if not software and trace:
            environment["TESSERA_DEBUG"] = "trace"
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", os.path.join(out, "still.so"), os.path.join(HERE, "still.c")], check=True)
        self.process = subprocess.Popen([os.path.join(HERE, "enter.sh"), root, MESA, HOST, out, case.script(software)],
                                        env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def wait_for(self, good):
        """The first picture that is good, or the last one. The program may end only after that."""
        end, picture, before = time.monotonic() + LIMIT, None, None
        while time.monotonic() < end:
            picture = latest(self.out) or picture
            if picture and good(picture, before):
                break
            if self.process.poll() is not None:
                break
            before = picture
            time.sleep(1)
        return picture

    def stop(self):
        self.process.send_signal(signal.SIGKILL)
        said = self.process.communicate()[1].decode(errors="replace")
        return said + log(self.out, "server.log")[-1500:] + log(self.out, "xwayland.log")[-1500:] + log(self.out, "client.log")[-1500:]


def reference(case, root):
    """llvmpipe's picture: one that shows more than a background, and does not change any more but for what moves."""
    with tempfile.TemporaryDirectory(prefix="tessera-windows-") as out:
        run = Run(case, root, True, out)
        picture = run.wait_for(lambda now, before: colors(now) > 16 and before is not None and off(now, before) < case.differs / 2)
        said = run.stop()
    return picture, said


def keep(case, which, picture):
    directory = os.path.join(os.environ["TSR_BUILD"], "results-mesa")
    if not picture:
        return
    os.makedirs(directory, exist_ok=True)
    path = os.path.join(directory, f"windows-{case.name}-{which}.ppm")
    with open(path, "wb") as f:
        f.write(b"P6 %d %d 255\n" % picture[:2] + picture[2])


def judge(tap, case, root):
    wanted, said = reference(case, root)
    if not wanted or colors(wanted) <= 16:
        tap.fail("llvmpipe shows nothing")
        tap.note(said[-3000:])
        return
    with tempfile.TemporaryDirectory(prefix="tessera-windows-") as out:
        run = Run(case, root, False, out)
        picture = run.wait_for(lambda now, before: off(now, wanted) <= case.differs)
        batches = log(out, "client.log").count("tessera: batch")
        said = run.stop()
    part = off(picture, wanted)
    tap.ok(batches, "the program draws with the device")
    tap.ok(part <= case.differs, f"{100 * part:.2f} % of the pixels differ from llvmpipe's")
    tap.note(f"{batches} batches, {100 * part:.2f} % of the pixels differ")
    if part > case.differs or os.environ.get("TSR_WINDOWS"):
        keep(case, "tessera", picture)
        keep(case, "llvmpipe", wanted)
    if part > case.differs or not batches:
        tap.note(said)


def unpack():
    """The root with all programs; None and the reason if it cannot be had."""
    done = subprocess.run(["bash", os.path.join(TOP, "userspace", "mesa", "root.sh"), *PACKAGES], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        return None, (done.stderr.strip().splitlines() or ["no reason given"])[-1]
    root = done.stdout.strip()
    probe = subprocess.run([os.path.join(HERE, "enter.sh"), root, MESA, HOST, "/tmp", "true"], stderr=subprocess.PIPE, text=True, check=False)
    return (root, "") if not probe.returncode else (None, "no namespaces: " + probe.stderr.strip())


def rate(case, pattern, root, software):
    """The median of the rates that a program prints, None if it prints none."""
    with tempfile.TemporaryDirectory(prefix="tessera-windows-") as out:
        run, rates, end = Run(case, root, software, out, trace=False), [], time.monotonic() + LIMIT / 4
        while len(rates) <= ROUNDS and time.monotonic() < end and run.process.poll() is None:
            time.sleep(1)
            rates = [float(r) for r in re.findall(pattern, log(out, "client.log"))]
        run.stop()
    return statistics.median(rates[1:]) if len(rates) > ROUNDS else None


def print_rates(root):
    print(f"# {'program':24} {'server':8} {'here':>9} {'llvmpipe':>9} {'ratio':>6}")
    for case, pattern in RATES:
        here, there = (rate(case, pattern, root, software) for software in (False, True))
        ratio = f"{here / there:6.2f}" if here and there else "     -"
        print(f"# {case.name:24} {case.server:8} {here or 0:9.1f} {there or 0:9.1f} {ratio}", flush=True)


def main():
    tap = Tap()
    root, reason = unpack()
    if os.environ.get("TSR_WINDOWS") == "rates":
        with tap.test("windows: rates"):
            if not root:
                tap.skip(reason)
            print_rates(root)
        return tap.finish()
    wanted = os.environ.get("TSR_WINDOWS", "").split()
    for case in CASES:
        if wanted and case.name not in wanted:
            continue
        with tap.test(f"windows: {case.name}"):
            if not root:
                tap.skip(reason)
            judge(tap, case, root)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
