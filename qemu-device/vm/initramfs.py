#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Build the guest's initramfs: busybox, init, kernel modules, test programs with their libraries.

    initramfs.py --out FILE [--base FILE --payload FILE] --busybox FILE [--modules DIR] [--module FILE.ko ...] [--bin FILE|DIR ...]
                 [--libdir DIR ...] [--lib FILE ...] [--data FILE ...] [--image FILE] [--extra-module NAME ...]

--modules is a directory like lib/modules/RELEASE; of it only the modules named in MODULES below and those
named by --extra-module go in, with everything they depend on, decompressed. --module is tessera.ko, then the
module of its unit tests. The programs of --bin go to /usr/bin, the shared libraries they need to the paths their
loader looks in.

With --base and --payload the same comes in two parts as well, for guests that are restored from a snapshot: an
initramfs that holds no more than a guest needs to boot and to mount the other part, and a romfs image of everything
but the root of it. Programs and the driver may change without a new snapshot.

The archive is uncompressed: TCG would spend longer on unpacking than on reading. It is written aside and
renamed, and not written at all when nothing it is made of has changed.
"""

import argparse
import functools
import hashlib
import lzma
import os
import stat
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from romfs import Romfs  # noqa: E402

# Modules that a guest may need at run time, without the driver's own dependencies.
MODULES = """virtio_pci virtio_blk virtio_console virtio_rng 9p 9pnet_virtio drm drm_kms_helper gpu-sched
drm_gpuvm drm_exec drm_shmem_helper drm_buddy vgem ext4 crc32c_generic zram""".split()
# The part of them that a guest needs before it has the rest.
BASE_MODULES = "virtio_pci virtio_blk virtio_console virtio_rng romfs".split()


def die(text):
    sys.exit(f"tessera: error: {text}")


class Archive:
    """A cpio archive in "newc" format, the one the kernel unpacks. Owner is root, times are 0."""

    def __init__(self):
        self.parts = []
        self.names = set()
        self.inode = 0

    def _entry(self, name, mode, data):
        if name in self.names:
            return
        self.names.add(name)
        self.inode += 1
        raw = name.encode() + b"\0"
        fields = (self.inode, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(raw), 0)
        header = b"070701" + b"".join(b"%08X" % f for f in fields)
        for chunk in (header + raw, data):
            self.parts.append(chunk + b"\0" * (-len(chunk) % 4))

    def directory(self, name):
        if name and name not in self.names:
            self.directory(os.path.dirname(name))
            self._entry(name, stat.S_IFDIR | 0o755, b"")

    def file(self, name, data, mode=0o755):
        name = name.lstrip("/")
        self.directory(os.path.dirname(name))
        self._entry(name, stat.S_IFREG | mode, data)

    def link(self, name, target):
        name = name.lstrip("/")
        self.directory(os.path.dirname(name))
        self._entry(name, stat.S_IFLNK | 0o777, target.encode())

    def write(self, path):
        self._entry("TRAILER!!!", 0, b"")
        aside = f"{path}.{os.getpid()}"
        with open(aside, "wb") as f:
            for part in self.parts:
                f.write(part)
        os.rename(aside, path)


def read(path):
    with open(path, "rb") as f:
        return f.read()


# Both archives hold nearly the same files.
@functools.cache
def decompressed(path):
    if path.endswith(".xz"):
        return lzma.decompress(read(path))
    if path.endswith(".zst"):
        return subprocess.run(["zstd", "-dcq", path], check=True, capture_output=True).stdout
    if path.endswith(".gz"):
        return subprocess.run(["gzip", "-dc", path], check=True, capture_output=True).stdout
    return read(path)


@functools.cache
def stripped(path):
    """The bytes of an ELF file without debugging information, which only the host's gdb reads; other files as they are."""
    if not is_elf(path):
        return read(path)
    with tempfile.NamedTemporaryFile() as aside:
        subprocess.run(["strip", "--strip-debug", "-o", aside.name, path], check=True)
        return read(aside.name)


def plain_name(path):
    """A module's name: without directory and suffix, dashes as underscores."""
    return os.path.basename(path).split(".ko")[0].replace("-", "_")


def read_dependencies(moddir):
    """modules.dep as {name: [path, path it depends on, ...]}, paths relative to moddir."""
    table = {}
    with open(os.path.join(moddir, "modules.dep")) as f:
        for line in f:
            path, _, needs = line.partition(":")
            table[plain_name(path)] = [path] + needs.split()
    return table


def module_depends(path):
    out = subprocess.run(["/sbin/modinfo", "-F", "depends", path], capture_output=True, text=True)
    if out.returncode:
        die(f"modinfo cannot read {path}: {out.stderr.strip()}")
    return [plain_name(n) for n in out.stdout.strip().split(",") if n]


def add_modules(archive, moddir, wanted, own):
    """Put the wanted modules, what they need, our own modules and a modules.dep for busybox's modprobe in."""
    release = os.path.basename(os.path.normpath(moddir))
    table = read_dependencies(moddir)
    top = f"lib/modules/{release}"
    lines, paths = [], {}
    own_needs = {path: module_depends(path) for path in own}
    for name in wanted + sum(own_needs.values(), []):
        for path in table.get(plain_name(name), []):
            paths[path] = table[plain_name(path)]
    for path, chain in sorted(paths.items()):
        names = [strip_compression(p) for p in chain]
        archive.file(f"{top}/{names[0]}", decompressed(os.path.join(moddir, path)), 0o644)
        lines.append(f"{names[0]}: {' '.join(names[1:])}")
    for module in own:
        # A module that is not in modules.dep is built into this kernel. A module stands before those it needs; it needs more than
        # each of them.
        needs = {p for name in own_needs[module] for p in table.get(name, [])}
        chain = [strip_compression(p) for p in sorted(needs, key=lambda p: (-len(table[plain_name(p)]), p))]
        archive.file(f"{top}/extra/{os.path.basename(module)}", stripped(module), 0o644)
        lines.append(f"extra/{os.path.basename(module)}: {' '.join(chain)}")
    if own:
        archive.file("lib/tessera.module", b"", 0o644)
    archive.file(f"{top}/modules.dep", ("\n".join(lines) + "\n").encode(), 0o644)


def add_lone_module(archive, own):
    """Our module for a kernel that has everything else built in."""
    out = subprocess.run(["/sbin/modinfo", "-F", "vermagic", own], capture_output=True, text=True, check=True)
    release = out.stdout.split()[0]
    archive.file(f"lib/modules/{release}/extra/tessera.ko", stripped(own), 0o644)
    archive.file(f"lib/modules/{release}/modules.dep", b"extra/tessera.ko:\n", 0o644)
    archive.file("lib/tessera.module", b"", 0o644)


def strip_compression(path):
    return path.split(".ko")[0] + ".ko"


def is_elf(path):
    with open(path, "rb") as f:
        return f.read(4) == b"\x7fELF"


@functools.cache
def libraries(programs, libdirs):
    """The shared libraries the programs need: {path in the guest: path on the host}."""
    elfs = [p for p in programs if is_elf(p)]
    if not elfs:
        return {}
    env = dict(os.environ, LD_LIBRARY_PATH=":".join(libdirs))
    out = subprocess.run(["ldd", *elfs], capture_output=True, text=True, env=env)
    found = {}
    for line in out.stdout.splitlines():
        words = line.split()
        if "not found" in line:
            die(f"the library {words[0]} that a guest program needs is not on this host")
        if len(words) >= 3 and words[1] == "=>":
            name, path = words[0], words[2]
            found["lib/x86_64-linux-gnu/" + name] = path
        elif len(words) == 2 and words[0].startswith("/"):
            found[words[0].lstrip("/")] = words[0]
    return found


def expand(paths):
    for path in paths:
        if os.path.isdir(path):
            for name in sorted(os.listdir(path)):
                full = os.path.join(path, name)
                if os.path.isfile(full):
                    yield full
        else:
            yield path


def fingerprint(args, programs):
    """Names, sizes and times of everything that goes in."""
    h = hashlib.sha256(repr(sorted(vars(args).items())).encode())
    here = os.path.dirname(os.path.abspath(__file__))
    own = [os.path.abspath(__file__), os.path.join(here, "romfs.py"), os.path.join(here, "init"), args.busybox]
    for path in own + programs + args.module + args.lib + args.data + [f for f in (args.image, args.resume) if f]:
        s = os.stat(path)
        h.update(f"{path} {s.st_size} {s.st_mtime_ns}\n".encode())
    for directory in args.libdir:
        for path in expand([directory]):
            s = os.stat(path)
            h.update(f"{path} {s.st_size} {s.st_mtime_ns}\n".encode())
    return h.hexdigest()


def add_root(archive, args):
    """What a guest boots with."""
    here = os.path.dirname(os.path.abspath(__file__))
    archive.file("init", read(os.path.join(here, "init")))
    archive.file("bin/busybox", read(args.busybox))
    archive.link("bin/sh", "busybox")


def add_payload(archive, args, programs):
    """What a guest works with: programs, libraries, data, modules."""
    for path in programs:
        archive.file("usr/bin/" + os.path.basename(path), stripped(path))
    if args.resume:
        archive.file("lib/tessera.resume", read(args.resume))
    for path in args.lib:
        archive.file("usr/lib/" + os.path.basename(path), stripped(path))
    for path in args.data:
        archive.file("usr/share/tessera/" + os.path.basename(path), read(path), 0o644)
    if args.image:
        archive.file("usr/share/tessera/input.png", read(args.image), 0o644)
    for name, path in sorted(libraries(tuple(programs), tuple(args.libdir)).items()):
        archive.file(name, stripped(path))
    if args.modules:
        add_modules(archive, args.modules, MODULES + args.extra_module, args.module)
    elif args.module:
        add_lone_module(archive, args.module[0])


def driver_needs(args):
    """Names of the modules that ours depend on. A guest loads them before it is saved."""
    return sorted({name for module in args.module for name in module_depends(module)})


def build(args, programs):
    archive = Archive()
    add_root(archive, args)
    add_payload(archive, args, programs)
    archive.write(args.out)
    if args.base:
        base = Archive()
        add_root(base, args)
        needs = driver_needs(args)
        base.file("lib/tessera.needs", (" ".join(needs) + "\n").encode(), 0o644)
        add_modules(base, args.modules, BASE_MODULES + needs, [])
        base.write(args.base)
        payload = Romfs()
        add_payload(payload, args, programs)
        payload.write(args.payload)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--out", required=True, help="file to write")
    p.add_argument("--base", help="the initramfs of guests that will be saved, to write (needs --modules)")
    p.add_argument("--payload", help="what such guests get when they go on, to write")
    p.add_argument("--resume", help="program that such guests run first (resume.c)")
    p.add_argument("--busybox", required=True, help="static busybox binary")
    p.add_argument("--modules", help="directory lib/modules/RELEASE")
    p.add_argument("--module", action="append", default=[], help="tessera.ko, then others of ours")
    p.add_argument("--bin", action="append", default=[], help="program, or directory of programs")
    p.add_argument("--libdir", action="append", default=[], help="where our own shared libraries are")
    p.add_argument("--lib", action="append", default=[], help="shared library for /usr/lib, which programs load by its path")
    p.add_argument("--data", action="append", default=[], help="file for /usr/share/tessera")
    p.add_argument("--image", help="file for /usr/share/tessera/input.png")
    p.add_argument("--extra-module", action="append", default=[], help="kernel module to add")
    args = p.parse_args()
    programs = list(expand(args.bin))
    stamp = args.out + ".stamp"
    print_of = fingerprint(args, programs)
    made = [f for f in (args.out, args.base, args.payload, stamp) if f]
    if all(os.path.exists(f) for f in made) and read(stamp).decode() == print_of:
        return
    build(args, programs)
    with open(stamp, "w") as f:
        f.write(print_of)


if __name__ == "__main__":
    main()
