# SPDX-License-Identifier: MIT
"""Attributes and children of elements, for what makes objects of them.

Goes in: elements of xmltree.py, the attributes each may have. Comes out: numbers, words of a choice, children;
what is not as it should be is a complaint, and a harmless default is used.
"""


class Reader:
    """What the loaders of the hardware and of the instruction set have in common."""

    attributes = {}             # per element: attributes that must be there, attributes that may be
    not_a_number = "not a number"

    def __init__(self, complaints):
        self.complaints = complaints
        self.consts = {}        # numbers that may be named

    def _attributes(self, element):
        required, optional = self.attributes[element.tag]
        for key in required:
            if key not in element.attrs:
                self.complaints.add(element, f"<{element.tag}> needs the attribute {key}=")
        for key in element.attrs:
            if key not in required and key not in optional:
                self.complaints.add(element, f"<{element.tag}> has no attribute {key}=")

    def _children(self, element, *tags):
        chosen = []
        for child in element.children:
            if child.tag in tags:
                chosen.append(child)
            else:
                self.complaints.add(child, f"<{child.tag}> does not belong into <{element.tag}>")
        return chosen

    def _int(self, element, key, default=0):
        """An attribute that is a number (decimal or 0x…) or the name of a constant."""
        text = element.attrs.get(key)
        if text is None:
            return default
        if text in self.consts:
            return self.consts[text]
        try:
            number = int(text, 0)
        except ValueError:
            self.complaints.add(element, f"{key}=\"{text}\" is {self.not_a_number}")
            return default or 0
        if number < 0:
            self.complaints.add(element, f"{key}=\"{text}\" is negative")
        return number

    def _choice(self, element, key, choices, default):
        text = element.attrs.get(key, default)
        if text is not None and text not in choices:
            self.complaints.add(element, f"{key}=\"{text}\" is not one of {', '.join(choices)}")
            return default
        return text

    @staticmethod
    def _item(element, key="name", default="unnamed"):
        """What every object has: the attribute that names it, its text and its place."""
        return {"name": element.attrs.get(key, default), "doc": element.text(), "file": element.file,
                "line": element.line}
