#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# test: TIMEOUT=60
"""The device as a plugin of a QEMU that was built without it: which QEMU it accepts, its trace events, its exports."""

import json
import os
import subprocess
import sys
import tempfile

from tap import Tap

tap = Tap()
QEMU, SHARE = os.environ["TSR_QEMU"], os.environ["TSR_QEMU_SHARE"]
PLUGIN = os.path.join(os.path.dirname(QEMU), "tessera.so")
MACHINE = ["-L", SHARE, "-M", "q35", "-accel", "tcg", "-nodefaults", "-display", "none", "-S", "-qmp", "stdio"]


def session(commands, *args, qemu=QEMU):
    """Start QEMU, give it QMP commands (name, arguments): its answers, its complaints and its status."""
    lines = [{"execute": "qmp_capabilities"}]
    lines += [{"execute": name, "arguments": arguments} for name, arguments in commands]
    text = "".join(json.dumps(line) + "\n" for line in lines + [{"execute": "quit"}])
    run = subprocess.run([qemu] + MACHINE + list(args), input=text.encode(), capture_output=True, timeout=50)
    answers = [json.loads(line) for line in run.stdout.splitlines()]
    return [a.get("return", a.get("error")) for a in answers[1:] if "event" not in a], run.stderr.decode(), run.returncode


def start_with(plugin, directory):
    """A copy of the script that starts QEMU, with another plugin."""
    path = os.path.join(directory, "qemu")
    with open(QEMU) as f:
        text = f.read()
    assert PLUGIN in text, text
    with open(path, "w") as f:
        f.write(text.replace(PLUGIN, plugin))
    os.chmod(path, 0o755)
    return path


def traced(*args):
    """State of the device's trace events, and of one of QEMU's own."""
    commands = [("trace-event-get-state", {"name": n}) for n in ("tessera_realize", "tessera_read", "msix_write_config")]
    answers, _, _ = session(commands, "-device", "tessera", *args)
    return [a[0]["state"] if isinstance(a, list) else a for a in answers[1:4]]


if not os.path.exists(PLUGIN):
    with tap.test("the device as a plugin"):
        tap.skip("this QEMU was built with the device inside (QEMU=build)")
    sys.exit(tap.finish())

with tap.test("[SYS1] the plugin brings the device into a QEMU that was built without it"):
    get = [("qom-list-types", {"implements": "pci-device"}), ("qom-get", {"path": "/machine/peripheral/gpu", "property": "vram"})]
    answers, said, status = session(get, "-device", "tessera,id=gpu,vram=32M")
    tap.eq((said, status), ("", 0), "complaints and status")
    tap.ok("tessera" in [t["name"] for t in answers[1]], "a type tessera")
    tap.eq(answers[2], 32 << 20, "a property of the device")

with tap.test("a plugin that was built for another QEMU is refused in one clear line"):
    with open(PLUGIN, "rb") as f:
        code = f.read()
    version = session([("query-version", {})])[0][1]
    numbers = "{major}.{minor}.{micro}".format(**version["qemu"])
    here = f"{numbers} ({version['package']})"
    other = f"{numbers} ({version['package'][:-1]}X)"
    tap.eq(code.count(here.encode() + b"\0"), 1, "places where the plugin says what it was built for")
    with tempfile.TemporaryDirectory() as d:
        with open(os.path.join(d, "tessera.so"), "wb") as f:
            f.write(code.replace(here.encode() + b"\0", other.encode() + b"\0"))
        _, said, status = session([], "-device", "tessera", qemu=start_with(os.path.join(d, "tessera.so"), d))
    tap.eq(status, 1, "status")
    want = f"tessera.so was built for QEMU {other} and this is QEMU {here}: build it for this one"
    tap.ok(said.splitlines()[0].endswith(want), said)

with tap.test("-trace reaches the events of the device, as if it had always been there"):
    tap.eq(traced(), ["disabled"] * 3, "without -trace")
    tap.eq(traced("-trace", "tessera_*"), ["enabled", "enabled", "disabled"], "-trace tessera_*")
    tap.eq(traced("-trace", "enable=tessera_read"), ["disabled", "enabled", "disabled"], "-trace enable=")

with tap.test("-device tessera,help lists the properties"):
    out = subprocess.run([QEMU, "-L", SHARE, "-device", "tessera,help"], capture_output=True, text=True, timeout=50)
    tap.ok("  vram=<size>" in out.stdout, out.stdout + out.stderr)

with tap.test("the plugin exports nothing but what QEMU looks for"):
    out = subprocess.run(["nm", "-D", "--defined-only", PLUGIN], capture_output=True, text=True, check=True).stdout
    tap.eq(sorted(line.split()[-1] for line in out.splitlines()), ["qemu_plugin_install", "qemu_plugin_version"])

sys.exit(tap.finish())
