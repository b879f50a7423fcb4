#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check statements of the documentation against the code: PCI class, MSI-X vectors, device properties and debug flags,
module parameters, gdb examples, and the make targets, variables, tests, files, functions and options that pages name."""

import fnmatch
import glob
import os
import re
import sys

sys.path.insert(0, "qemu-device/build")
import tree  # noqa: E402

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
    for name, value in re.findall(r'DEFINE_PROP_\w+\("([a-z-]+)", \w+,\s*[^,]+,\s*(-?\d+|true|false)\)', code):
        row = re.search(rf"^\| [^|]*`{name}`[^|]*\| ([^|]*) \|", table, re.M)
        value = {"true": "on", "false": "off"}.get(value, value)
        names = re.findall(r"`([a-z-]+)`", row.group()) if row else []
        said = dict(zip(names, row.group(1).split(", ") if "," in row.group(1) else [row.group(1)] * len(names))) if row else {}
        if row and said[name] != value:
            problems.append(f"Documentation/guide/device.md gives {name} the default {said[name]}, the code {value}")


def debug_flags():
    """The table of debug flags names all words that the property takes, and no other."""
    code = read("qemu-device/pci/config.c")
    known = set(re.findall(r'strcmp\(flag, "(\w+)"\)', code)) | set(re.findall(r'"(no[a-z]+)"', code)) | {"sse2", "avx2", "avx512"}
    table = re.search(r"\n\| Flag \| Effect.*?\n\n", read("Documentation/guide/device.md"), re.S).group()
    said = set(re.findall(r"`(\w+)`", "".join(re.findall(r"^\|(.*?)\|", table, re.M))))
    for name in sorted(known ^ said):
        problems.append(f"Documentation/guide/device.md: the debug flag {name} is in the code or in the table alone")


def parameters():
    """Each parameter of the kernel module is in the table of the driver's page, with its default."""
    code = "".join(read(p) for p in glob.glob("kernel/*.c"))
    table = re.search(r"\n\| Module parameter \|.*?\n\n", read("Documentation/driver/README.md"), re.S).group()
    rows = {}
    for names, values in re.findall(r"^\| (`.*?) \| (.*?) \|", table, re.M):
        rows.update(zip(re.findall(r"`(\w+)`", names), values.split(", ")))
    for name, text in re.findall(r'MODULE_PARM_DESC\((\w+),\s*"([^"]*)"', code):
        default = re.search(r"default (\d+)", text)
        if name not in rows:
            problems.append(f"Documentation/driver/README.md has no row for the module parameter {name}")
        elif default and rows[name] != default.group(1):
            problems.append(f"Documentation/driver/README.md gives {name} the default {rows[name]}, the code {default.group(1)}")


def breakpoints():
    """A function that a page tells gdb to stop in exists."""
    code = "".join(read(p) for where in ("kernel", "userspace", "qemu-device/model")
                   for p in glob.glob(f"{where}/**/*.c", recursive=True))
    for page in glob.glob("Documentation/**/*.md", recursive=True):
        for name in re.findall(r"(?:`|\(gdb\) )break (\w+)", read(page)):
            if not re.search(rf"\b{name}\(", code):
                problems.append(f"{page}: gdb finds no function {name}")


def both(page, said, known, what):
    """Words of a table on @page and words of the code are the same."""
    for name in sorted(set(said) - set(known)):
        problems.append(f"{page} lists the {what} {name}, which the code does not know")
    for name in sorted(set(known) - set(said)):
        problems.append(f"{page} does not list the {what} {name}")


def column(page, heading):
    """The code words in the first column of the table with that heading."""
    table = re.search(rf"\n\| {heading} \|.*?\n(?=\n|$)", read(page), re.S).group()
    return re.findall(r"`([^`]+)`", "\n".join(re.findall(r"^\|((?:\\\||[^|])*)\|", table, re.M)))


def words():
    """Tables of statements, labs, debug words and options hold what the programs know. Versions are the current ones."""
    page = "Documentation/guide/sync.md"
    said = {part.split()[0].split("=")[0] for cell in column(page, "Statement") for part in [cell.replace("...", "").strip()] if part}
    both(page, said, re.findall(r'\{ "([\w-]+)", verb_', read("userspace/tools/tsr-sync/main.c")), "statement")
    labs = {os.path.basename(p)[:-5] for p in glob.glob("userspace/tools/tsr-sync/*.sync")}
    both(page, re.findall(r"^\| \[(\w+)\]", read(page), re.M), labs, "lab")
    page = "Documentation/guide/in-process.md"
    both(page, [o.split()[0] for o in column(page, "Option")], [f"--{o}" for o in re.findall(r"^ +--(\w+)\) export", read("userspace/tools/tsr-host.sh"), re.M)], "option")
    page = "Documentation/guide/libtessera.md"
    both(page, column(page, "Word"), re.findall(r'"(\w+)", TSR_DEBUG_', read("userspace/libtessera/core/debug.c")), "debug word")
    page = "Documentation/guide/mesa.md"
    both(page, column(page, "Word"), re.findall(r'"(\w+)", +TG_DEBUG_', read("userspace/mesa/gl/tg_screen.c")), "debug word")
    version = ".".join(re.search(rf"\.{part} = (\d+)", read("kernel/tessera_drv.c")).group(1) for part in ("major", "minor"))
    need("Documentation/guide/in-process.md", f"`tessera_drm.h`, version {version},", "tessera_drv.c has that version")
    text = read("Documentation/hw/registers.xml")
    version = ".".join(re.search(rf'name="VERSION_{part}" value="(\d+)"', text).group(1) for part in ("MAJOR", "MINOR"))
    need("Documentation/hw/README.md", f"programming guide, version {version}", "registers.xml has that version")


def environment():
    """Environment variables that pages name are read by a program."""
    _, uses = made()
    for page in tree.files("README.md", "*/README.md", "Documentation/*.md"):
        for name in set(re.findall(r"\b(?:TSR|TESSERA)_[A-Z][A-Z0-9_]+(?==|`)", read(page))):
            if not re.search(rf"\b{name}", uses + HEADERS):
                problems.append(f"{page}: no program reads {name}")


# Names of the kernel and of other projects, and names that stand for others.
FOREIGN_FUNCTIONS = {"cancel_job", "drm_gem_prime_mmap", "drm_modeset_lock", "drm_sched_start", "drm_sched_stop", "smp_mb"}
FOREIGN_FILES = {"lib.mk", "kselftest.h", "run_kselftest.sh", "copy_arrives.c", "drm_gpuvm.c", "sched_main.c", "gpu_scheduler.h",
                 "uaccess.h"}
FILE = re.compile(r"(?:[\w.+-]+/)*[\w.+*-]+\.(?:c|h|py|sh|mk|xml|txt|s|config|patch|sync|dot|hex)")
OPTION = re.compile(r"(?<!\S)--([a-z][a-z-]+)")


def spans(page):
    """(line number, text) of the code on a page: inline and in indented lines."""
    for number, line in enumerate(read(page).split("\n"), 1):
        if line.startswith("    "):
            yield number, line.split("  #")[0]
        else:
            yield from ((number, span) for span in re.findall(r"`([^`]+)`", line))


def made():
    """Make targets, and the text in which make variables are used."""
    text = "".join(read(p) for p in tree.files("*.mk", "*Makefile"))
    targets = {t for line in re.findall(r"^([A-Za-z][\w ./-]*?):(?!=)", text, re.M) for t in line.split()}
    for line in re.findall(r"^\.PHONY:((?:.*\\\n)*.*)", text, re.M):
        targets |= set(line.replace("\\", " ").split())
    return targets, text + "".join(read(p) for p in tree.files("*.sh", "*.py", "*.c", "qemu-device/vm/init", ".ci/run"))


def names():
    """Targets, variables and tests of make, files, functions, and options of our tools that a page names exist."""
    files = list(tree.files("*"))
    tests = {os.path.basename(p).split(".")[0] for p in files if p.startswith("tests/")} | {"copy_arrives"}
    targets, uses = made()
    words = set(re.findall(r"\w+", "".join(read(p) for p in tree.files("*.c", "*.h", "*.py", "*.sh", "*.mk", "*.xml"))))
    for page in tree.files("README.md", "*/README.md", "Documentation/*.md"):
        for number, code in spans(page):
            found = list(make_problems(code, targets, uses, tests))
            if FILE.fullmatch(code) and not re.search(r"NAME|TOPIC|KIND|SUITE|VARIANT|NNNN", code):
                path = os.path.normpath(code).removeprefix("../")
                base = os.path.basename(path)
                found += [f"there is no file {code}"] * (base not in FOREIGN_FILES and not base.startswith("tsr_") and not any(
                    fnmatch.fnmatch(f, path) or fnmatch.fnmatch(f, "*/" + path) for f in files))
            function = re.fullmatch(r"([a-z]\w+)\(\)", code)
            if function and function.group(1) not in words | FOREIGN_FUNCTIONS and "NAME" not in code:
                found.append(f"there is no function {code}")
            for tool, rest in re.findall(r"\b(tsr-[a-z]+(?:-[a-z]+)*)( [^|;]*)", code):
                source = "".join(read(p) for p in files if re.match(rf"userspace/tools/{tool}[./]", p) and p.endswith((".c", ".h", ".sh", ".py")))
                own = rest.split("tsr-")[0] if tool in ("tsr-host", "tsr-perf") else rest
                if tool in ("tsr-host", "tsr-perf", "tsr-timeline-record"):
                    own = re.match(r"(?: +-\S+(?: +[0-9]+)?)*", own).group()
                found += [f"{tool} has no option --{o}" for o in OPTION.findall(own)
                          if source and o not in ("help", "version") and f'"{o}"' not in source and f"--{o}" not in source]
            problems.extend(f"{page}:{number}: {f}" for f in found)


def make_problems(code, targets, uses, tests):
    """Problems of a make command."""
    command = re.search(r"(?:^|[\s$(|])make((?: +[^\s`|;)]+(?:'[^']*')?)*)", code)
    if not command or "-C" in command.group(1):
        return
    for variable, value in re.findall(r"(?<!\S)([A-Z][A-Z0-9_]+)=('[^']*'?|\S*)", code[command.start():]):
        if not re.search(rf"\b{variable}\b", uses):
            yield f"make knows no variable {variable}"
        if variable == "TESTS":
            yield from (f"no test is named {name}" for name in value.strip("'").split()
                        if not name.isupper() and "…" not in name and "." not in name and "NAME" not in name and
                        not any(fnmatch.fnmatch(t, name) for t in tests))
    plain = re.sub(r"[A-Z][A-Z0-9_]+=('[^']*'?|\S*)", "", command.group(1))
    for word in plain.split():
        if re.fullmatch(r"[a-z][a-z0-9-]*", word) and word not in targets:
            yield f"make has no target {word}"


def options():
    """A variable that a recipe's comment offers to users is not one that the makefiles give a command of their own."""
    text = "".join(read(p) for p in ("Makefile", *tree.files("tests/lib/*.mk", "qemu-device/*.mk")))
    own = dict(re.findall(r"^(?:export )?([A-Z][A-Z0-9_]+) *:?= *(.*)", text, re.M))
    for line in re.findall(r"^# [a-z][a-z-]*: .*|^[a-z][\w -]*:.*## .*", text, re.M):
        problems.extend(f"makefiles offer {name}= and assign it: {own[name]}" for name in re.findall(r"\b([A-Z][A-Z0-9_]+)=", line)
                        if name in own)


pci_function()
properties()
debug_flags()
parameters()
breakpoints()
HEADERS = "".join(read(p) for p in tree.files("*.h", "*.xml", "*.json"))
words()
environment()
names()
options()
print("\n".join(problems))
sys.exit(1 if problems else 0)
