#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=1800
"""Unmodified Vulkan programs on the device in their own process: each presents what lavapipe presents.

The programs, the display servers and lavapipe are Debian 13's, unpacked by userspace/mesa/root.sh. The layer of
tests/vulkan/layer writes the picture of one presentation, and lets the programs' clock advance with the presentations,
so both devices draw the same frame. TSR_PICTURES='NAME ...' runs only these and keeps both pictures of each."""

import functools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from tap import Tap

sys.path.append(os.path.join(os.environ["TSR_TOP"], "tests", "mesa"))
import windows  # noqa: E402

TOP = os.environ["TSR_TOP"]
VULKAN = os.environ.get("TSR_VULKAN", "/tmp")
MESA = os.environ.get("TSR_MESA", "")
HOST = os.path.join(os.environ["TSR_BUILD"], "userspace")
LAYER = os.path.join(TOP, "tests", "vulkan", "layer", "picture.c")
ENTER = os.path.join(TOP, "tests", "mesa", "window", "enter.sh")
PACKAGES = "coreutils vulkan-tools vkmark mesa-vulkan-drivers vulkan-validationlayers xvfb weston".split()
TOOLKITS = ("gtk-4-examples qml-qt6 qml6-module-qtquick qml6-module-qtquick-window qml6-module-qtqml-workerscript qt6-wayland libgl1-mesa-dri "
            "libegl-mesa0 libglx-mesa0 libgl1 libgles2").split()
KEPT = os.path.join(os.environ["TSR_BUILD"], "results-mesa")
LIMIT = 600         # seconds of a program on a busy machine
NEAR = 3            # of 255: rounding

# Prefixes of a program's command, for the device and for the CPU.
DEVICE = "env TESSERA_VK=experimental {variables} /mnt/host/bin/tsr-host --threads 2 /mnt/mesa/tsr-vulkan"
SOFTWARE = "env VK_DRIVER_FILES=/usr/share/vulkan/icd.d/lvp_icd.json {variables}"
XVFB = """mkdir /tmp/.X11-unix
Xvfb :7 -screen 0 800x600x24 -nolisten tcp >/mnt/out/server.log 2>&1 &
export DISPLAY=:7
while [ ! -S /tmp/.X11-unix/X7 ]; do sleep 0.1; done
"""
WESTON = """weston --backend=headless --renderer=pixman --width=800 --height=600 --shell=kiosk-shell.so --socket=w --idle-time=0 \
--no-config >/mnt/out/server.log 2>&1 &
export WAYLAND_DISPLAY=w
while [ ! -S /run/w ]; do sleep 0.1; done
"""
# A compositor that draws with OpenGL on a device of its own, and takes dma-bufs; a program that stops after a frame; the
# screen then.
SHARED = """/mnt/host/bin/tsr-host --threads 2 /mnt/out/gl/tsr-mesa weston --backend=headless --renderer=gl --width=640 --height=480 \
--shell=kiosk-shell.so --socket=w --debug --idle-time=0 --no-config >/mnt/out/server.log 2>&1 &
export WAYLAND_DISPLAY=w
while [ ! -S /run/w ]; do sleep 0.1; done
({client}) >/mnt/out/client.log 2>&1 &
while [ ! -e /mnt/out/tessera.ppm ]; do kill -0 $! || exit 1; sleep 0.1; done
mkdir /tmp/shots; cd /tmp/shots
for n in 1 2 3; do sleep 1; weston-screenshooter; mv *.png /mnt/out/shot$n.png; done"""
SERVERS = {"xcb": XVFB, "wayland": WESTON, "headless": ""}
PRELOAD = "LD_PRELOAD=/mnt/out/picture.so"      # tsr-host adds its own library
PICTURE = "VK_ADD_LAYER_PATH=/mnt/out VK_INSTANCE_LAYERS=VK_LAYER_TESSERA_picture TSR_PICTURE=/mnt/out/{name} TSR_PICTURE_FRAME={frame}"
VALIDATE = ("VK_ADD_LAYER_PATH=/mnt/out VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation:VK_LAYER_TESSERA_picture "
            "VK_LAYER_ENABLES=VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT")
# vkmark's scenes. Their frames depend on its clock, which the preloaded layer sets.
SCENES = ("vertex:device-local=true", "vertex:device-local=false:interleave=false", "texture:anisotropy=0", "texture:anisotropy=16",
          "shading:shading=gouraud", "shading:shading=blinn-phong-inf", "shading:shading=phong", "shading:shading=cel",
          "effect2d:kernel=edge", "effect2d:kernel=blur", "desktop", "cube", "clear")

tap = Tap()


class Case:
    """A program, its window system, and the part of the pixels that may be off by more than rounding. A program that
    does not end is ended when it has drawn the frame."""

    def __init__(self, name, command, server, frame=5, differs=0.002, ends=True, packages=()):
        self.name, self.command, self.server, self.frame, self.differs = name, command, server, frame, differs
        self.ends, self.packages = ends, packages

    def variables(self, picture):
        """The layer's, and the clock's for programs that the layer does not end."""
        layer = PICTURE.format(name=picture, frame=self.frame)
        return f"{PRELOAD} {layer}" if self.ends else f"{layer} TSR_PICTURE_EXIT=1"


def mark(scene, server="xcb"):
    return f"vkmark --winsys {server} --size 320x240 -b {scene}:duration=0.06"


CASES = [
    Case("vkcube-xcb", "vkcube --wsi xcb --suppress_popups --c 6", "xcb"),
    Case("vkcube-wayland", "vkcube --wsi wayland --suppress_popups --c 6 --width 400 --height 300", "wayland"),
    Case("vkmark-wayland", mark("cube", "wayland"), "wayland"),
    # where the samples of an anisotropic filter are is up to the implementation
    *[Case("vkmark-" + scene.replace(":", "-"), mark(scene), "xcb", differs=0.02 if "anisotropy=16" in scene else 0.002) for scene in SCENES],
    Case("gtk4-xcb", "env GDK_BACKEND=x11 GSK_RENDERER=vulkan gtk4-widget-factory", "xcb", frame=1, ends=False, packages=TOOLKITS),
    Case("qml-xcb", "env QT_QPA_PLATFORM=xcb QSG_RHI_BACKEND=vulkan qml6 /mnt/here/scene.qml", "xcb", ends=False, packages=TOOLKITS),
    Case("qml-wayland", "env QT_VULKAN_LIB=libvulkan.so.1 QT_QPA_PLATFORM=wayland QSG_RHI_BACKEND=vulkan qml6 /mnt/here/scene.qml", "wayland", ends=False, packages=TOOLKITS),
]


def build_layer(directory, seen):
    """Compile the layer to a directory, which programs see at another place."""
    subprocess.run(["cc", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-fvisibility=hidden", "-o",
                    os.path.join(directory, "picture.so"), LAYER], check=True)
    manifest = {"name": "VK_LAYER_TESSERA_picture", "type": "GLOBAL", "library_path": f"{seen}/picture.so", "api_version": "1.3.0",
                "implementation_version": "1", "description": "writes a picture"}
    with open(os.path.join(directory, "picture.json"), "w") as f:
        json.dump({"file_format_version": "1.2.0", "layer": manifest}, f)


def in_root(root, out, script):
    """Status and output of a shell command in the root."""
    clean = {name: value for name, value in os.environ.items() if name != "TESSERA_VK"}
    done = subprocess.run([ENTER, root, VULKAN, HOST, out, script], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=LIMIT, check=False, env=dict(clean, MESA_SHADER_CACHE_DISABLE="1"))
    return done.returncode, done.stdout.decode(errors="replace")


def read_ppm(path):
    """(width, height, RGB)"""
    with open(path, "rb") as f:
        head, pixels = f.read().split(b"\n", 1)
    width, height = (int(n) for n in head.split()[1:3])
    return width, height, pixels


def take(case, root, out, which, prefix):
    """The picture of a run, or None."""
    name = which + ".ppm"
    run = prefix.format(variables=case.variables(name))
    status, said = in_root(root, out, f"{SERVERS[case.server]}{run} {case.command}")
    if status:
        tap.fail(f"{which}: status {status}")
        tap.note(said[-3000:])
    path = os.path.join(out, name)
    return read_ppm(path) if os.path.exists(path) else None, said


def compare(one, two):
    """The part of the pixels that are off by more than rounding, and the largest difference."""
    if one[:2] != two[:2]:
        return 1.0, 255
    bad, most, line = 0, 0, 3 * one[0]
    for at in range(0, len(one[2]), line):
        a, b = one[2][at:at + line], two[2][at:at + line]
        if a != b:
            off = [abs(x - y) for x, y in zip(a, b)]
            most = max(most, max(off))
            bad += len({i // 3 for i, d in enumerate(off) if d > NEAR})
    return bad / (one[0] * one[1]), most


def colors(picture):
    return len({picture[2][i:i + 3] for i in range(0, len(picture[2]), 3)})


def keep(case, out):
    os.makedirs(KEPT, exist_ok=True)
    for which in ("lavapipe", "tessera"):
        if os.path.exists(os.path.join(out, which + ".ppm")):
            shutil.copyfile(os.path.join(out, which + ".ppm"), os.path.join(KEPT, f"vulkan-{case.name}-{which}.ppm"))


def judge(case, root, out):
    for which in ("lavapipe", "tessera"):
        if os.path.exists(os.path.join(out, which + ".ppm")):
            os.remove(os.path.join(out, which + ".ppm"))
    wanted, _ = take(case, root, out, "lavapipe", SOFTWARE)
    got, said = take(case, root, out, "tessera", DEVICE)
    tap.ok("picture: drawn by Tessera (experimental" in said, "the picture is the device's")
    if not wanted or not got:
        tap.fail("there is no picture")
        tap.note(said[-3000:])
        return
    part, most = compare(wanted, got)
    if "clear" not in case.name:
        tap.ok(colors(wanted) > 2, "lavapipe draws more than a background")
    tap.ok(part <= case.differs, f"{100 * part:.2f} % of the pixels are not lavapipe's")
    tap.note(f"{100 * part:.3f} % of the pixels are off by more than {NEAR}, at most by {most}; {colors(got)} colors")
    if part > case.differs or os.environ.get("TSR_PICTURES"):
        keep(case, out)


def complaints(root, out, prefix, command):
    """Names of the validation layers' messages about a run, and its output."""
    status, said = in_root(root, out, f"{XVFB}{prefix.format(variables=f'{PRELOAD} {VALIDATE}')} {command}")
    tap.eq(status, 0, f"status of {command}")
    return set(re.findall(r"\b(?:VUID|SYNC-HAZARD|UNASSIGNED|BestPractices)[-A-Za-z0-9_]*", said)), said


def validate(root, out):
    """The validation layers have nothing to say of vkcube, and of vkmark what they also say on lavapipe."""
    scenes = " ".join(f"-b {scene}:duration=0.02" for scene in SCENES)
    for command in (f"vkmark --winsys headless --size 160x120 {scenes}",
                    "vkcube --wsi xcb --suppress_popups --c 4"):
        own, _ = complaints(root, out, SOFTWARE, command)
        found, said = complaints(root, out, DEVICE, command)
        tap.ok("tessera is not a conformant" in said, "the program runs on the device")
        tap.note(f"the program's own: {sorted(own)}")
        if found - own:
            tap.fail(f"{sorted(found - own)}")
            tap.note(said[-3000:])


def surfaces(root, out):
    """vulkaninfo can present. Without X11 it looks at no surfaces."""
    status, said = in_root(root, out, f"{XVFB}{DEVICE.format(variables='')} vulkaninfo")
    listed = said.partition("Surface types:")[2].partition("Formats:")[0]
    tap.eq(status, 0, "status of vulkaninfo")
    tap.ok("VK_KHR_xcb_surface" in listed and "VK_KHR_xlib_surface" in listed, "vulkaninfo can present to X11")
    if tap.bad:
        tap.note(said[-3000:])


def shared(root, out):
    """weston shows a program's dma-bufs, which are tiled, as the program has drawn them."""
    shutil.copytree(MESA, os.path.join(out, "gl"))
    layer = PICTURE.format(name="tessera.ppm", frame=5) + " TSR_PICTURE_HOLD=1 WAYLAND_DEBUG=1"
    client = f"{DEVICE.format(variables=layer)} vkcube --wsi wayland --suppress_popups --width 640 --height 480"
    status, said = in_root(root, out, SHARED.format(client=client))
    with open(os.path.join(out, "client.log"), errors="replace") as f:
        said += f.read()
    tap.eq(status, 0, "status")
    tap.ok("zwp_linux_buffer_params_v1" in said and "wl_shm_pool" not in said, "the program shares dma-bufs")
    tap.ok(", 5120, 135266304, 1)" in said, "they are tiled")
    drawn = read_ppm(os.path.join(out, "tessera.ppm"))
    shots = [windows.read_png(os.path.join(out, f"shot{n}.png")) for n in (1, 2, 3)]
    tap.ok(drawn in shots, "the screen shows the frame that the program has drawn")
    if tap.bad:
        tap.note(said[-3000:])


@functools.lru_cache
def unpack(more=()):
    """A root with programs; None and the reason if it cannot be had."""
    done = subprocess.run(["bash", os.path.join(TOP, "userspace", "mesa", "root.sh"), *PACKAGES, *more], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        return None, (done.stderr.strip().splitlines() or ["no reason given"])[-1]
    root = done.stdout.strip()
    status, said = in_root(root, "/tmp", "true")
    return (root, "") if not status else (None, "no namespaces: " + said.strip())


def main():
    wanted = os.environ.get("TSR_PICTURES", "").split()
    with tempfile.TemporaryDirectory(prefix="tessera-pictures-") as out:
        build_layer(out, "/mnt/out")
        for case in CASES:
            if wanted and case.name not in wanted:
                continue
            root, reason = unpack(tuple(case.packages))
            with tap.test(f"Vulkan pictures: {case.name}"):
                if not root:
                    tap.skip(reason)
                judge(case, root, out)
        if not wanted or "shared" in wanted:
            root, reason = unpack(tuple(TOOLKITS))
            with tap.test("Vulkan pictures: a compositor's dma-bufs"):
                if not root or not MESA:
                    tap.skip(reason or "MESA=1 builds OpenGL for the compositor")
                shared(root, out)
        if not wanted:
            root, reason = unpack()
            with tap.test("Vulkan pictures: surfaces of vulkaninfo"):
                if not root:
                    tap.skip(reason)
                surfaces(root, out)
            with tap.test("Vulkan pictures: the validation layers have nothing to say"):
                if not root:
                    tap.skip(reason)
                validate(root, out)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
