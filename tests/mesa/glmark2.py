#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=1200
"""glmark2's scenes on the device in their own process: the same picture as from Mesa's softpipe on the CPU.

With TSR_GLMARK2=rates it prints a table instead: pictures a second of each scene, 800 by 600, here and with llvmpipe.
"""

import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

from tap import Tap

TOP = os.environ["TSR_TOP"]
MESA = os.environ.get("TSR_MESA", "")      # not for who imports this
HERE = os.path.join(TOP, "tests", "mesa")
TSR_HOST = os.path.join(os.environ["TSR_BUILD"], "userspace", "bin", "tsr-host")
# seconds for a scene; more where the host has other things to do
LIMIT = 300 * max(1, min(5, os.getloadavg()[0] / os.cpu_count()))
FRAME = 3           # whose picture is compared
# Colors, of 255: a pixel that is further off is another one. Of these a scene may have so many in a hundred, and the mean
# may be so large: edges that fall on the other side of a pixel's middle, and what shaders make of the last bits of a float.
# Noise makes much of them, and light that is refracted twice. (llvmpipe is no judge of these: it is further off than both.)
FAR, LIMITS = 16, (1.0, 0.5)
LOOSE = {"terrain": (1.0, 4.0), "refract": (4.0, 2.0)}

# Those that glmark2 runs when it is not told what to run, and the first.
SCENES = """clear
build:use-vbo=false
build:use-vbo=true
texture:texture-filter=nearest
texture:texture-filter=linear
texture:texture-filter=mipmap
shading:shading=gouraud
shading:shading=blinn-phong-inf
shading:shading=phong
shading:shading=cel
bump:bump-render=high-poly
bump:bump-render=normals
bump:bump-render=height
effect2d:kernel=0,1,0;1,-4,1;0,1,0;
effect2d:kernel=1,1,1,1,1;1,1,1,1,1;1,1,1,1,1;
pulsar:light=false:quads=5:texture=false
desktop:blur-radius=5:effect=blur:passes=1:separable=true:windows=4
desktop:effect=shadow:windows=4
buffer:columns=200:interleave=false:update-dispersion=0.9:update-fraction=0.5:update-method=map
buffer:columns=200:interleave=false:update-dispersion=0.9:update-fraction=0.5:update-method=subdata
buffer:columns=200:interleave=true:update-dispersion=0.9:update-fraction=0.5:update-method=map
ideas:speed=duration
jellyfish
terrain
shadow
refract
conditionals:fragment-steps=0:vertex-steps=0
conditionals:fragment-steps=5:vertex-steps=0
conditionals:fragment-steps=0:vertex-steps=5
function:fragment-complexity=low:fragment-steps=5
function:fragment-complexity=medium:fragment-steps=5
loop:fragment-loop=false:fragment-steps=5:vertex-steps=5
loop:fragment-steps=5:fragment-uniform=false:vertex-steps=5
loop:fragment-steps=5:fragment-uniform=true:vertex-steps=5""".splitlines()

tap = None      # of who runs or imports this


def run(glmark2, scene, software, **environment):
    """What glmark2 prints; software: the name of Mesa's renderer that is to draw instead of the device."""
    command = [os.path.join(glmark2, "bin", "glmark2-es2-drm"), "--data-path", os.path.join(glmark2, "share", "glmark2"),
               "--winsys-options", "drm-device=/dev/null", "-s", "1x1", "-b", scene]     # the screen's size is the window's
    environment = dict(os.environ, LD_PRELOAD=os.path.join(glmark2, "lib", "libheadless.so"), MESA_SHADER_CACHE_DISABLE="1", **environment)
    if software:
        environment.update(LIBGL_ALWAYS_SOFTWARE="1", GALLIUM_DRIVER=software)
    else:
        command = [TSR_HOST, os.path.join(MESA, "tsr-mesa"), *command]
    done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT)
    return done.stdout.decode(errors="replace")


def pixels(path):
    with open(path, "rb") as f:
        return f.read().split(b"\n", 3)[3]


def differences(first, second):
    """In hundred how many pixels are far off, and the mean of what they are off."""
    worst = [max(abs(first[i + k] - second[i + k]) for k in range(3)) for i in range(0, len(first), 3)]
    return 100 * sum(d > FAR for d in worst) / len(worst), sum(worst) / len(worst)


def draw(glmark2, directory, number):
    """The pictures of the device and of the CPU, and what was said."""
    paths, said = [], ""
    for name, software in (("device", ""), ("softpipe", "softpipe")):
        paths.append(os.path.join(directory, f"{number}-{name}.ppm"))
        said += run(glmark2, f"{SCENES[number]}:duration=0.15", software, HEADLESS_SIZE="200x150", HEADLESS_FRAME=str(FRAME),
                    HEADLESS_PICTURE=paths[-1])
    return *paths, said


def compare(glmark2):
    with tempfile.TemporaryDirectory(prefix="tessera-glmark2-") as directory, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        drawn = [pool.submit(draw, glmark2, directory, i) for i in range(len(SCENES))]
        for scene, future in zip(SCENES, drawn):
            with tap.test(f"glmark2 -b '{scene}'"):
                device, software, said = future.result()
                tap.ok("GL_RENDERER:    Tessera" in said and "GL_RENDERER:    softpipe" in said, "the renderers")
                if not os.path.exists(device) or not os.path.exists(software):
                    tap.fail(said[-3000:])
                    continue
                share, mean = differences(pixels(device), pixels(software))
                tap.note(f"{share:.2f} of 100 pixels are other ones, the mean difference is {mean:.2f}")
                limits = LOOSE.get(scene, LIMITS)
                tap.ok(share <= limits[0] and mean <= limits[1], "the same picture")


def rates(glmark2):
    def rate(scene, software):
        found = re.search(r"FPS: (\d+)", run(glmark2, f"{scene}:duration=3", software, HEADLESS_SIZE="800x600"))
        return int(found.group(1)) if found else 0

    print(f"# {'scene':72} {'Tessera':>8} {'llvmpipe':>9}")
    for scene in SCENES:
        print(f"# {scene:72} {rate(scene, ''):8} {rate(scene, 'llvmpipe'):9}", flush=True)


def main():
    glmark2 = subprocess.run(["bash", os.path.join(HERE, "glmark2.sh")], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    if os.environ.get("TSR_GLMARK2") == "rates":
        with tap.test("rates of glmark2's scenes"):
            rates(glmark2)
    else:
        compare(glmark2)
    return tap.finish()


if __name__ == "__main__":
    tap = Tap()
    sys.exit(main())
