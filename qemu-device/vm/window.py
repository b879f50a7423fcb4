# SPDX-License-Identifier: MIT
"""A window for the GPU's screen, where there is somebody to look at it."""

import os

# QEMU's parts for it, the better first: package qemu-system-gui.
KINDS = ("gtk", "sdl")
HOW_TO_WATCH = ("tessera: to watch the GPU's screen: make run VNC=:7 and a VNC viewer for localhost:7; or, where there is a display, "
                "QEMU's package qemu-system-gui")


def kind(qemu):
    """What QEMU can open a window with here; None: nothing. qemu: TSR_QEMU."""
    if not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return None
    modules = os.path.join(os.path.dirname(qemu), "modules")
    return next((k for k in KINDS if os.path.exists(os.path.join(modules, f"ui-{k}.so"))), None)


def options(qemu):
    """QEMU's options for a window; none without."""
    found = kind(qemu)
    return ["-display", f"{found},window-close=on" if found == "gtk" else found] if found else []
