# SPDX-License-Identifier: MIT
"""Writing files so that nobody ever sees half of one and an unchanged one keeps its time stamp."""

import os
import tempfile


def write_if_changed(path, text):
    """Put `text` into `path` through a temporary file and a rename. Returns whether anything changed."""
    data = text.encode("utf-8")
    try:
        with open(path, "rb") as stream:
            if stream.read() == data:
                return False
    except FileNotFoundError:
        pass
    directory = os.path.dirname(path) or "."
    os.makedirs(directory, exist_ok=True)
    handle, aside = tempfile.mkstemp(dir=directory, prefix="." + os.path.basename(path) + ".")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(aside, 0o666 & ~umask)
        os.replace(aside, path)
    except BaseException:
        os.unlink(aside)
        raise
    return True
