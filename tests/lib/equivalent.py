# SPDX-License-Identifier: MIT
"""The mutants that no test can notice: equivalent.txt beside this file, which tells the format."""

import collections
import os
import re

LIST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "equivalent.txt")
FORM = re.compile(r"(\S+)(?: x(\d+))?\n- (.+)\n\+ (.+)\n= (.+)")

# A change of the lines of a file that read so, without the space around them: as many as times; line: where it stands in the list.
Entry = collections.namedtuple("Entry", "path old new reason times line")


class Equivalent(str):
    """Why a mutant is equivalent."""


def entries(name=LIST):
    """Every entry of the list; ValueError for what is no entry."""
    with open(name) as f:
        text = re.sub(r"^#.*", "", f.read(), flags=re.M)
    for m in re.finditer(r"\S.*(?:\n.+)*", text):
        line = text.count("\n", 0, m.start()) + 1
        entry = FORM.fullmatch(m.group())
        if not entry:
            raise ValueError(f"{name}:{line}: not a path and lines that begin with '- ', '+ ' and '= '")
        path, times, *texts = entry.groups()
        yield Entry(path, *(text.strip() for text in texts), int(times or 1), line)


def reasons(name=LIST):
    """What listed() takes."""
    return {(e.path, e.old, e.new): Equivalent(e.reason) for e in entries(name)}


def listed(known, mutant):
    """Why a mutant is equivalent, None if the list does not say so."""
    return known.get((mutant.path, mutant.old.strip(), mutant.new.strip()))
