# SPDX-License-Identifier: MIT
"""The description as Markdown tables. Every function returns lines."""

import textwrap

LEVELS = {"any": "ring, user", "ring": "ring", "user": "user", "list": "control list"}


def cell(text):
    """Text inside a table cell: one line, no bare pipes, nothing that looks like HTML."""
    for raw, safe in (("\n\n", " "), ("\\", "\\\\"), ("|", "\\|"), ("<", "&lt;"), ("*", "\\*")):
        text = text.replace(raw, safe)
    return text


def row(*cells):
    return "| " + " | ".join(cells) + " |"


def head(*titles):
    return [row(*titles), "|" + "|".join("---" for _ in titles) + "|"]


def paragraphs(text):
    """Documentation outside tables: wrapped paragraphs, each with an empty line behind it."""
    lines = []
    for paragraph in text.split("\n\n") if text else []:
        lines += textwrap.wrap(cell(paragraph), 100, break_long_words=False, break_on_hyphens=False) + [""]
    return lines


def _bits(field):
    return str(field.lo) if field.lo == field.hi else f"{field.hi}:{field.lo}"


def _meaning(field):
    """A field's documentation with what its type adds."""
    notes = [cell(field.doc)] if field.doc else []
    if field.enum or field.bitset:
        notes.append(f"See `{field.enum or field.bitset}`.")
    if field.align > 1:
        notes.append(f"A multiple of {field.align}.")
    if getattr(field, "level", "any") == "ring":
        notes.append("Zero in user streams.")
    if field.access:
        notes.append(f"Access: {field.access}.")
    return " ".join(notes)


def _type(field):
    if field.enum:
        return "enum"
    if field.bitset:
        return "bits"
    return {"va": "GPU address", "pa": "memory address"}.get(field.type, field.type)


def _reset(register):
    if register.reset is None:
        return "cfg"
    return f"`{register.reset:#x}`" if register.reset else "0"


def block_map(description):
    """Where the register blocks are."""
    lines = head("From", "To", "Block", "Instances", "Stride", "Holds")
    for block in sorted(description.blocks, key=lambda block: block.offset):
        lines.append(row(f"`{block.offset:#07x}`", f"`{block.end - 1:#07x}`", f"`{block.name}`",
                          str(block.count) if block.count is not None else "1",
                          f"`{block.stride:#x}`" if block.count is not None else "", cell(block.title)))
    return lines


def consts(description):
    lines = head("Constant", "Value", "Meaning")
    for const in description.consts:
        lines.append(row(f"`{const.name}`", const.text, cell(const.doc)))
    return lines


def counters(description):
    lines = head("Scope", "Id", "Name", "Unit", "Counts")
    for counter in sorted(description.counters, key=lambda counter: (counter.scope != "queue", counter.id)):
        lines.append(row(counter.scope, str(counter.id), f"`{counter.name}`", counter.unit,
                          cell(counter.doc)))
    return lines


def packets(description):
    """All packets, one line each."""
    lines = head("Opcode", "Packet", "Qwords", "Allowed in", "Classes", "Executed by")
    for packet in sorted(description.packets, key=lambda packet: packet.opcode):
        length = f"{packet.qwords} to {packet.max_qwords}" if packet.variable else str(packet.qwords)
        by = "nobody yet: UNSUPPORTED" if packet.refused else "engine" if packet.batch == "engine" else \
            "command processor"
        lines.append(row(f"`{packet.opcode:#04x}`", f"`{packet.name}`", length, LEVELS[packet.level],
                          ", ".join(packet.classes) if packet.classes else "all", by))
    return lines


def registers(_description, block):
    """One block: its prose, then its registers with their fields under them."""
    where = f"`{block.name}` at `{block.offset:#x}`"
    if block.count is not None:
        where += f", {block.count} instances `{block.stride:#x}` apart"
    lines = [where + ".", ""] + paragraphs(block.doc)
    lines += head("Offset", "Register", "Bits", "Access", "Reset", "Meaning")
    for register in block.registers:
        name = f"**{cell(register.name)}**"
        if register.count is not None:
            name += f"\\[{register.count}\\]"
        offset = f"`{register.offset:#04x}`"
        if register.count is not None:
            offset += f" + {register.stride}·i"
        meaning = cell(register.doc)
        if register.enum or register.bitset:
            meaning += f" See `{register.enum or register.bitset}`."
        lines.append(row(offset, name, f"{register.width - 1}:0", register.access, _reset(register), meaning))
        for field in register.fields:
            lines.append(row("", cell(field.name), _bits(field), "", "", _meaning(field)))
    return lines


def packet(_description, item):
    """One packet: what it does, then its fields."""
    length = f"{item.qwords} to {item.max_qwords} qwords" if item.variable else \
        f"{item.qwords} qword{'s' if item.qwords > 1 else ''}"
    where = {"any": "rings and user streams", "ring": "rings only", "user": "user streams only",
             "list": "control lists only"}[item.level]
    classes = ", ".join(item.classes) + " queues" if item.classes else "all queues"
    lines = [f"**`{item.name}`**: opcode `{item.opcode:#04x}`, {length}, in {where}, on {classes}.", ""]
    lines += paragraphs(item.doc)
    if item.fields:
        lines += head("Qword", "Bits", "Field", "Type", "Meaning")
    for field in item.fields:
        lines.append(row(str(field.qword), _bits(field), f"`{field.name}`", _type(field), _meaning(field)))
    while lines and not lines[-1]:
        lines.pop()
    return lines


def enum(_description, item):
    extra = list(item.values[0].extra)
    lines = paragraphs(item.doc) + head("Value", f"`{item.name}`", *(key for key in extra), "Meaning")
    for value in item.values:
        shown = f"`{value.value:#04x}`" if item.bits == 8 else str(value.value)
        lines.append(row(shown, f"`{value.name}`", *(cell(value.extra[key]) for key in extra),
                          cell(value.doc)))
    return lines


def bitset(_description, item):
    lines = paragraphs(item.doc) + head("Bit", f"`{item.name}`", "Meaning")
    for bit in item.values:
        lines.append(row(str(bit.pos), f"`{bit.name}`", cell(bit.doc)))
    return lines


def struct(_description, item):
    lines = paragraphs(item.doc)
    several = item.qwords > 1
    lines += head(*(["Qword"] if several else []), "Bits", f"`{item.name}`", "Type", "Meaning")
    for field in item.fields:
        lines.append(row(*([str(field.qword)] if several else []), _bits(field), f"`{field.name}`",
                          _type(field), _meaning(field)))
    return lines
