# SPDX-License-Identifier: MIT
"""XML with line numbers: what the description files are read into, before anything is understood.

Goes in: a file. Comes out: a tree of Element, each knowing its file and line, so that every later complaint can
point at the text that caused it. Python's ElementTree forgets positions; this keeps them and nothing else.
"""

import xml.parsers.expat


class DescriptionError(Exception):
    """The description cannot be used; str() is the list of complaints, one a line, each with file:line."""


class Complaints:
    """Collects what is wrong, so that one run reports everything and not only the first mistake."""

    def __init__(self):
        self._lines = []

    def add(self, element, message):
        """Complain about an element (or anything with .file and .line)."""
        self._lines.append((element.file, element.line, message))

    def raise_if_any(self):
        if self._lines:
            raise DescriptionError("\n".join(f"{file}:{line}: {message}"
                                             for file, line, message in sorted(self._lines)))


class Element:
    """One XML element: tag, attributes, children, own text (without the children's), position."""

    def __init__(self, tag, attrs, file, line):
        self.tag = tag
        self.attrs = attrs
        self.children = []
        self.pieces = []
        self.file = file
        self.line = line

    def text(self):
        """The element's own text as paragraphs of one line each, separated by an empty line."""
        raw = "".join(self.pieces)
        paragraphs, current = [], []
        for line in raw.splitlines():
            if line.strip():
                current.extend(line.split())
            elif current:
                paragraphs.append(" ".join(current))
                current = []
        if current:
            paragraphs.append(" ".join(current))
        return "\n\n".join(paragraphs)


def parse(path, shown):
    """Parse one file and return its root Element; `shown` is the name used in messages."""
    parser = xml.parsers.expat.ParserCreate()
    parser.buffer_text = True
    stack, roots = [], []

    def start(tag, attrs):
        element = Element(tag, attrs, shown, parser.CurrentLineNumber)
        (stack[-1].children if stack else roots).append(element)
        stack.append(element)

    def end(_tag):
        stack.pop()

    def data(text):
        if stack:
            stack[-1].pieces.append(text)

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = data
    try:
        with open(path, "rb") as stream:
            parser.ParseFile(stream)
    except xml.parsers.expat.ExpatError as error:
        reason = xml.parsers.expat.errors.messages[error.code]
        raise DescriptionError(f"{shown}:{error.lineno}: not well-formed XML: {reason}") from None
    return roots[0]
