# SPDX-License-Identifier: MIT
"""The mutants that no test can notice: equivalent.txt beside this file, which tells the format."""

import collections
import os
import re

LIST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "equivalent.txt")
FORM = re.compile(r"(\S+) (\w+)\(\)\n- (.+)\n\+ (.+)\n= (.+)")
HEAD = re.compile(r"^[A-Za-z_].*?(\w+)\(")

# A change of the line of a function that reads so, without the space around it; line: where it stands in the list.
Entry = collections.namedtuple("Entry", "path function old new reason line")


class Equivalent(str):
    """Why a mutant is equivalent."""


def function(lines, number):
    """The name of the function that a line (from 0) of a C file is in, "" if in none."""
    while number > 0 and not lines[number].startswith("{"):
        number -= 1
    while number > 0:
        number -= 1
        head = HEAD.match(lines[number])
        if head:
            return head.group(1)
    return ""


def entries(name=LIST):
    """Every entry of the list; ValueError for what is none."""
    with open(name) as f:
        text = re.sub(r"^#.*", "", f.read(), flags=re.M)
    for m in re.finditer(r"\S.*(?:\n.+)*", text):
        line = text.count("\n", 0, m.start()) + 1
        entry = FORM.fullmatch(m.group())
        if not entry:
            raise ValueError(f"{name}:{line}: not 'PATH FUNCTION()' and lines that begin with '- ', '+ ' and '= '")
        yield Entry(*(part.strip() for part in entry.groups()), line)


class List:
    """The list, for the files of a checkout."""

    def __init__(self, tree, name=LIST):
        self.tree = tree
        self.reasons = {e[:4]: Equivalent(e.reason) for e in entries(name)}
        self.paths = {path for path, *_ in self.reasons}

    def reason(self, mutant):
        """Why a mutant is equivalent, None if the list does not say so."""
        if mutant.path not in self.paths:
            return None
        with open(os.path.join(self.tree, mutant.path)) as f:
            where = function(f.read().split("\n"), mutant.number)
        return self.reasons.get((mutant.path, where, mutant.old.strip(), mutant.new.strip()))
