# SPDX-License-Identifier: MIT
"""A romfs image, the simplest file system that Linux mounts (Documentation/filesystems/romfs.rst of the kernel).

    image = Romfs()
    image.file("usr/bin/hello", data, 0o755)
    image.link("bin/sh", "busybox")
    image.write(path)

Directories appear by themselves; owner is root, times are 0, of the mode only "executable" is kept.
"""

import os
import struct

DIRECTORY, FILE, LINK, EXECUTABLE = 1, 2, 3, 8
ALIGN = 16
BLOCK = 1024            # the image is a whole number of these, as block devices are


def padded(data, align=ALIGN):
    return data + b"\0" * (-len(data) % align)


def checksum(data):
    """What makes the sum of all big-endian words zero."""
    return -sum(struct.unpack(f">{len(data) // 4}I", data)) & 0xffffffff


class Romfs:
    def __init__(self):
        self.root = {}          # name -> dict for a directory, (type, data) for all else

    def _put(self, name, entry):
        *path, last = name.strip("/").split("/")
        directory = self.root
        for part in path:
            directory = directory.setdefault(part, {})
        directory.setdefault(last, entry)       # the first one stays, as in initramfs.py's archive

    def file(self, name, data, mode=0o755):
        self._put(name, (FILE | (EXECUTABLE if mode & 0o111 else 0), data))

    def link(self, name, target):
        self._put(name, (LINK, target.encode()))

    def write(self, path):
        """Write the image aside and rename it."""
        volume = padded(b"tessera\0")
        self.parts, self.size = [], ALIGN + len(volume)
        self._entry(".", self.root, last=True)
        size = self.size + -self.size % BLOCK
        start = b"-rom1fs-" + struct.pack(">II", size, 0) + volume
        # The sum of the first 512 bytes must be zero; the word for it stands at 12.
        body = b"".join(self.parts)
        first = (start + body[:512]).ljust(512, b"\0")[:512]
        start = start[:12] + struct.pack(">I", checksum(first)) + start[16:]
        aside = f"{path}.{os.getpid()}"
        with open(aside, "wb") as f:
            f.write((start + body).ljust(size, b"\0"))
        os.rename(aside, path)

    def _append(self, data):
        self.parts.append(data)
        self.size += len(data)

    def _entry(self, name, entry, last):
        """Append one entry and, for a directory, all below it."""
        kind, data = (DIRECTORY | EXECUTABLE, b"") if isinstance(entry, dict) else entry
        place, index = self.size, len(self.parts)
        raw = padded(name.encode() + b"\0")
        header_size = ALIGN + len(raw)
        self._append(b"\0" * header_size)
        self._append(padded(data))
        first = self.size if entry and isinstance(entry, dict) else 0
        if isinstance(entry, dict):
            names = sorted(entry)
            for i, child in enumerate(names):
                self._entry(child, entry[child], i == len(names) - 1)
        following = 0 if last else self.size
        header = struct.pack(">IIII", following | kind, first, len(data), 0) + raw
        self.parts[index] = header[:12] + struct.pack(">I", checksum(header)) + header[16:]
