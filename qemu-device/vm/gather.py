# SPDX-License-Identifier: MIT
"""What a kernel that counts its own lines (VARIANT=cover) has counted, taken out of a running guest.

Each hand-over is a .tar of .gcda files, called as in the guest's debugfs: by the absolute name of the object.
"""

import gzip
import hashlib
import os
import tempfile

GATHER = """mkdir -p /tmp/gcov && cd /sys/kernel/debug/gcov && find . -type d | while read d; do
mkdir -p "/tmp/gcov/$d"; done && find . -name '*.gcda' | while read f; do cat "$f" >"/tmp/gcov/$f"; done &&
tar -C /tmp/gcov -cf - . | gzip -1"""
GATHER_LIMIT = 60               # seconds, of a host with nothing else to do


def gather(guest, directory):
    """Have a guest's counters put into directory; nothing when it does not answer any more."""
    if guest.qmp("query-status")["status"] != "running":
        return
    result = guest.run(GATHER, GATHER_LIMIT)
    if result.status or not result.stdout:
        return
    os.makedirs(directory, exist_ok=True)
    fd, aside = tempfile.mkstemp(dir=directory)
    with os.fdopen(fd, "wb") as f:
        f.write(gzip.decompress(result.stdout))
    os.rename(aside, os.path.join(directory, hashlib.sha256(result.stdout).hexdigest()[:16] + ".tar"))
