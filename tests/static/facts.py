#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check statements of the documentation against the code: PCI class, MSI-X vectors, device properties, gdb examples."""

import glob
import re
import sys

problems = []


def read(path):
    with open(path) as f:
        return f.read()


def need(path, text, why):
    """@path says @text, because of @why."""
    if text not in read(path):
        problems.append(f"{path} does not say '{text}': {why}")


def pci_function():
    """Class codes and the number of vectors, as pci/ sets them."""
    code = "".join(read(p) for p in glob.glob("qemu-device/pci/*.[ch]"))
    classes = {"PCI_CLASS_DISPLAY_3D": "0x030200", "PCI_CLASS_DISPLAY_OTHER": "0x038000"}
    for name in re.findall(r"PCI_CLASS_DISPLAY_\w+", code):
        for page in ("Documentation/hw/README.md", "Documentation/hw/registers.md"):
            need(page, classes[name], f"qemu-device/pci uses {name}")
    classes_of_irq = re.search(r'<enum name="IRQ_CLASS".*?</enum>', read("Documentation/hw/registers.xml"), re.S).group()
    vectors = classes_of_irq.count("<value ")
    if "TESSERA_VECTORS_MAX - !s->conf.heads" not in code:
        problems.append("tests/static/facts.py does not understand tessera_vectors()")
    need("Documentation/hw/registers.md", f"MSI-X with {vectors - 1} vectors, with heads {vectors}",
         "IRQ_CLASS has that many values, the last one for heads")


def properties():
    """Every property of the device has a row in device.md, and every row is a property."""
    code = "".join(read(p) for p in glob.glob("qemu-device/pci/*.c"))
    have = set(re.findall(r'DEFINE_PROP_\w+\("([a-z0-9-]+)"', code))
    have |= set(re.findall(r'object_class_property_add\w*\(klass, "([a-z-]+)"', code))
    old = code[code.index("Old names of flags"):]
    count = len(re.findall(r'DEFINE_PROP_', code)) - len(re.findall(r'DEFINE_PROP_', old))
    if count > 24:
        problems.append(f"qemu-device/pci/config.c has {count} properties, at most 24 are wanted")
    page = read("Documentation/guide/device.md")
    said = set(re.findall(r"`([a-z0-9-]+)(?:\[N\])?`", page))
    for name in sorted(have - said):
        problems.append(f"Documentation/guide/device.md does not name the property {name}")
    table = re.search(r"\n\| Property \|.*?\n\n", page, re.S).group()
    for row in re.findall(r"^\| (`.*?) \|", table, re.M):
        for name in re.findall(r"`([a-z0-9-]+)(?:\[N\])?`", row):
            if name not in have and name != "connected":
                problems.append(f"Documentation/guide/device.md has a row for {name}, which is no property")


def breakpoints():
    """A function that a page tells gdb to stop in exists."""
    code = "".join(read(p) for where in ("kernel", "userspace", "qemu-device/model")
                   for p in glob.glob(f"{where}/**/*.c", recursive=True))
    for page in glob.glob("Documentation/**/*.md", recursive=True):
        for name in re.findall(r"(?:`|\(gdb\) )break (\w+)", read(page)):
            if not re.search(rf"\b{name}\(", code):
                problems.append(f"{page}: gdb finds no function {name}")


pci_function()
properties()
breakpoints()
print("\n".join(problems))
sys.exit(1 if problems else 0)
