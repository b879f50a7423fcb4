#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Debug the guest's kernel: boot, load symbols, start gdb (`make gdb`).

    gdb.py --module tessera.ko [options of guest.py] [-- COMMAND]

gdb gets the module's symbols at the addresses its sections have in this guest, and the kernel's own function
names, taken from the guest's /proc/kallsyms (Debian's vmlinux with debug information is a download of a
gigabyte; KERNEL=path/to/bzImage of one's own tree brings its vmlinux). COMMAND starts in the guest as soon as
gdb is attached and lets it continue; what it prints appears between gdb's lines.
"""

import argparse
import os
import struct
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import guest as runner  # noqa: E402

SECTIONS = ("init.text", "exit.text", "data", "rodata", "bss", "data..read_mostly", "text.unlikely")


def symbol_file(kallsyms, path):
    """Write an ELF file that holds nothing but the kernel's text symbols: [(address, name)]."""
    symbols = []
    for line in kallsyms.splitlines():
        words = line.split()
        if len(words) == 3 and words[1] in "tTwW":
            symbols.append((int(words[0], 16), words[2]))
    if not symbols or symbols[0][0] == 0:
        return False
    symbols.sort()
    start, end = symbols[0][0], symbols[-1][0] + 4096
    strings, table = bytearray(b"\0"), bytearray(24)
    for i, (address, name) in enumerate(symbols):
        size = symbols[i + 1][0] - address if i + 1 < len(symbols) else 16
        table += struct.pack("<IBBHQQ", len(strings), 0x12, 0, 1, address, size)    # global function, section 1
        strings += name.encode() + b"\0"
    names = b"\0.text\0.symtab\0.strtab\0.shstrtab\0"
    at_table = 64
    at_strings = at_table + len(table)
    at_names = at_strings + len(strings)
    at_headers = (at_names + len(names) + 7) & ~7

    def header(name, kind, flags, address, offset, size, link=0, info=0, align=1, entry=0):
        return struct.pack("<IIQQQQIIQQ", names.find(name), kind, flags, address, offset, size, link, info, align,
                           entry)

    headers = bytes(64) + header(b".text", 8, 6, start, 64, end - start, align=16)     # NOBITS, alloc + exec
    headers += header(b".symtab", 2, 0, 0, at_table, len(table), 3, 1, 8, 24)
    headers += header(b".strtab", 3, 0, 0, at_strings, len(strings))
    headers += header(b".shstrtab", 3, 0, 0, at_names, len(names))
    ident = b"\x7fELF\x02\x01\x01" + bytes(9)
    elf = ident + struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, start, 0, at_headers, 0, 64, 0, 0, 64, 5, 4)
    with open(path, "wb") as f:
        f.write((elf + table + strings + names).ljust(at_headers, b"\0") + headers)
    return True


def module_sections(guest):
    """{section: address} of the loaded module."""
    out = guest.run("cd /sys/module/tessera/sections && for s in .*; do [ -f $s ] && echo $s $(cat $s); done")
    return dict(line.split() for line in out.stdout.decode().splitlines())


def write_script(guest, args, directory, socket_path):
    """The gdb commands; the path of the script."""
    lines = ["set pagination off", "set confirm off", "set architecture i386:x86-64"]
    vmlinux = os.path.join(os.environ.get("KDIR") or "", "vmlinux")
    kernel = os.path.join(directory, "kernel-symbols")
    if args.vmlinux:
        lines.append(f"file {args.vmlinux}")
    elif symbol_file(guest.run("cat /proc/kallsyms").stdout.decode(), kernel):
        lines.append(f"file {kernel}")
    elif os.path.exists(vmlinux):
        lines.append(f"file {vmlinux}")
    sections = module_sections(guest) if args.module else {}
    if ".text" in sections:
        words = [f"add-symbol-file {args.module} {sections['.text']}"]
        words += [f"-s .{s} {sections['.' + s]}" for s in SECTIONS if "." + s in sections]
        lines.append(" ".join(words))
    lines += [f"target remote {socket_path}", f"shell touch {directory}/attached",
              "echo \\nThe guest is stopped. 'break tessera_...' and 'continue' are the usual next steps.\\n"]
    path = os.path.join(directory, "script.gdb")
    with open(path, "w") as f:
        f.write("\n".join(lines) + "\n")
    return path


def run_command(guest, text, directory):
    """When gdb is attached, hand the command to the guest; it runs as soon as gdb lets the guest continue."""
    while not os.path.exists(os.path.join(directory, "attached")):
        time.sleep(0.1)
    try:
        status = guest.run(text, 1e9, runner.write_through(1), runner.write_through(2)).status
        print(f"\n[the command ended with status {status}]", file=sys.stderr)
    except (runner.GuestError, OSError):
        pass        # gdb or its user ended the guest


def main():
    p = argparse.ArgumentParser(description="Debug the guest's kernel with gdb.")
    p.add_argument("--module", default="", help="tessera.ko with debug information")
    p.add_argument("--vmlinux", default="", help="the kernel's vmlinux, if there is one")
    p.add_argument("--batch", default="", help="gdb commands, separated by ';', instead of a session")
    args, rest = p.parse_known_args()
    options = runner.parse(rest if "--" in rest else rest + ["--", "true"])
    try:
        guest = runner.guest_from(options, "nokaslr").start()
        with_guest(guest, args, " ".join(options.command))
    except runner.GuestError as e:
        print(f"tessera: error: {e}", file=sys.stderr)
        return 125
    return 0


def with_guest(guest, args, command):
    try:
        socket_path = os.path.join(guest.dir, "gdb")
        guest.hmp(f"chardev-add socket,id=gdb,path={socket_path},server=on,wait=off")
        guest.hmp("gdbserver chardev:gdb")
        script = write_script(guest, args, guest.dir, socket_path)
        thread = threading.Thread(target=run_command, args=(guest, command, guest.dir), daemon=True)
        thread.start()
        extra = ["-batch"] if args.batch else []
        for line in filter(None, args.batch.split(";")):
            extra += ["-ex", line]
        subprocess.call(["gdb", "-q", "-x", script] + extra)
    finally:
        guest.kill()
        guest.stop()


if __name__ == "__main__":
    sys.exit(main())
