# SPDX-License-Identifier: MIT
"""tsr_regs.h: constants, enums, bitsets, registers, and structures in memory such as page-table entries.

tsr_enums.h: those constants and enums that programs need, which libtessera's headers include. tsr_regs.h has them, too, for whoever
needs nothing else; either may come first.
"""

import ctext

TITLE = "Tessera: constants, registers and in-memory structures"

TITLE_ENUMS = "Tessera: constants and enums that programs name"
NOTES_ENUMS = "TSR_<CONST>; enum tsr_<enum> with TSR_<ENUM>_<VALUE>: what descriptors and packets say, and what a fault is."

NOTES = """\
Names: TSR_<CONST>; enum tsr_<enum> with TSR_<ENUM>_<VALUE>; TSR_<BITSET>_<BIT>, a mask;
enum tsr_<scope>_counter with TSR_<SCOPE>_COUNTER_<NAME>, the counters' ids, and TSR_<SCOPE>_COUNTER__TABLE(X), a
list X(id, "name", "meaning").

A register block has TSR_<BLOCK>__OFFSET (of its first instance in BAR0) and, when there are several
instances, __COUNT and __STRIDE. TSR_REG_<BLOCK>_<REG> is the register's offset in BAR0, a function of
the instance (and of the index, for an array of registers) where there are several;
TSR_<BLOCK>_<REG>__OFFSET is its offset inside one instance, __RESET its value after reset where that
does not depend on the configuration. A 64-bit register is two 32-bit registers, the low half first.

TSR_<BLOCK>_<REG>_<FIELD>__MASK and __SHIFT describe a field; the masks are constants that suit
FIELD_GET() and FIELD_PREP(). Structures have the same per field, and __QWORD when they are longer than one.

An enum whose values carry more than a number has TSR_<ENUM>__TABLE(X), a list X(<VALUE>, number, …) with what
else the description says of each value, in the order of the comment above it.
"""


def _const(const, symbols):
    symbol = symbols.claim(f"TSR_{const.name}", const)
    suffix = "ULL" if const.value > 0xffffffff else "U" if const.value > 0x7fffffff else ""
    return ctext.comment(const.doc) + [ctext.define(symbol, const.text + suffix)]


def _enum(enum, symbols):
    lines = ctext.comment(enum.doc) + [f"enum tsr_{enum.name.lower()} {{"]
    for value in enum.values:
        symbol = symbols.claim(f"TSR_{enum.name}_{value.name}", value)
        lines += ctext.comment(value.doc, "\t") + [f"\t{symbol} = {value.value:#x},"]
    return lines + ["};", ""] + _table(enum, symbols)


def _table(enum, symbols):
    """The list macro of an enum whose values have further attributes."""
    keys = list(enum.values[0].extra) if enum.values else []
    if not keys:
        return []
    symbol = symbols.claim(f"TSR_{enum.name}__TABLE", enum)
    lines = ctext.comment(f"X(name, number, {', '.join(keys)})") + [f"#define {symbol}(X) \\"]
    rows = [f"\tX({value.name}, {value.value:#x}, {', '.join(value.extra[key] for key in keys)})"
            for value in enum.values]
    return lines + [row + " \\" for row in rows[:-1]] + [rows[-1], ""]


def _bitset(bitset, symbols):
    lines = ctext.comment(bitset.doc)
    bits = 64 if any(bit.pos > 31 for bit in bitset.values) else 32
    for bit in bitset.values:
        symbol = symbols.claim(f"TSR_{bitset.name}_{bit.name}", bit)
        lines += ctext.comment(bit.doc) + [ctext.define(symbol, ctext.unsigned(1 << bit.pos, bits))]
    return lines + [""]


def _counters(description, scope, symbols):
    """The ids of the counters of a scope, as an enum."""
    lines = [f"/* Ids of the counters of scope \"{scope}\". */", f"enum tsr_{scope}_counter {{"]
    counters = [counter for counter in description.counters if counter.scope == scope]
    for counter in counters:
        symbol = symbols.claim(f"TSR_{scope.upper()}_COUNTER_{counter.name.upper().replace('-', '_')}", counter)
        lines += ctext.comment(counter.doc, "\t") + [f"\t{symbol} = {counter.id},"]
    if not counters:
        return []
    table = symbols.claim(f"TSR_{scope.upper()}_COUNTER__TABLE", counters[0])
    rows = [f"\tX({counter.id}, {ctext.string(counter.name)}, {ctext.string(counter.doc)})" for counter in counters]
    return lines + ["};", "", "/* X(id, name, meaning) */", f"#define {table}(X) \\"] + \
        [row + " \\" for row in rows[:-1]] + [rows[-1], ""]


def _field(prefix, field, bits, symbols):
    stem = f"{prefix}_{field.name}"
    return (ctext.comment(field.doc)
            + [ctext.define(symbols.claim(stem + "__MASK", field), ctext.unsigned(field.mask, bits)),
               ctext.define(symbols.claim(stem + "__SHIFT", field), str(field.lo))])


def _register(block, register, symbols):
    prefix = f"TSR_{block.name}_{register.name}"
    parameters, terms = [], [f"TSR_{block.name}__OFFSET"]
    if block.count is not None:
        parameters.append("n")
        terms.append(f"(n) * TSR_{block.name}__STRIDE")
    terms.append(f"{register.offset:#x}")
    if register.count is not None:
        parameters.append("i")
        terms.append(f"(i) * {register.stride:#x}")
    name = symbols.claim(f"TSR_REG_{block.name}_{register.name}", register)
    head = f"{name}({', '.join(parameters)})" if parameters else name
    value = "(" + " + ".join(terms) + ")" if parameters else f"{block.offset + register.offset:#x}"
    lines = ctext.comment(register.doc) + [
        ctext.define(head, value),
        ctext.define(symbols.claim(prefix + "__OFFSET", register), f"{register.offset:#x}")]
    if register.count is not None:
        lines += [ctext.define(symbols.claim(prefix + "__COUNT", register), str(register.count)),
                  ctext.define(symbols.claim(prefix + "__STRIDE", register), f"{register.stride:#x}")]
    if register.reset is not None:
        lines.append(ctext.define(symbols.claim(prefix + "__RESET", register),
                                  ctext.unsigned(register.reset, register.width)))
    for field in register.fields:
        lines += _field(prefix, field, register.width, symbols)
    return lines + [""]


def _block(block, symbols):
    title = f"{block.title}\n\n{block.doc}" if block.title and block.doc else block.title or block.doc
    prefix = f"TSR_{block.name}"
    lines = ctext.comment(title) + [ctext.define(symbols.claim(prefix + "__OFFSET", block),
                                                 f"{block.offset:#x}")]
    if block.count is not None:
        lines += [ctext.define(symbols.claim(prefix + "__COUNT", block), str(block.count)),
                  ctext.define(symbols.claim(prefix + "__STRIDE", block), f"{block.stride:#x}")]
    lines.append("")
    for register in block.registers:
        lines += _register(block, register, symbols)
    return lines


def _struct(struct, symbols):
    prefix = f"TSR_{struct.name}"
    lines = ctext.comment(struct.doc)
    lines += [ctext.define(symbols.claim(prefix + "__QWORDS", struct), str(struct.qwords))]
    for field in struct.fields:
        lines += _field(prefix, field, 64, symbols)
        if struct.qwords > 1:
            lines.append(ctext.define(symbols.claim(f"{prefix}_{field.name}__QWORD", field),
                                      str(field.qword)))
    return lines + [""]


def emit(description, symbols):
    """The text of tsr_regs.h, and that of tsr_enums.h."""
    users = []
    for const in description.consts:
        users += _const(const, symbols) if const.users else []
    users.append("")
    for enum in description.enums:
        users += _enum(enum, symbols) if enum.users else []
    body = ctext.comment(NOTES) + [""]
    for const in description.consts:
        body += [] if const.users else _const(const, symbols)
    body.append("")
    body += ["#ifndef TSR_ENUMS_H", "#define TSR_ENUMS_H", ""] + users + ["#endif /* TSR_ENUMS_H */", ""]
    for enum in description.enums:
        body += [] if enum.users else _enum(enum, symbols)
    for bitset in description.bitsets:
        body += _bitset(bitset, symbols)
    for scope in ("queue", "global"):
        body += _counters(description, scope, symbols)
    for block in description.blocks:
        body += _block(block, symbols)
    for struct in description.structs:
        body += _struct(struct, symbols)
    return (ctext.guard("TSR_REGS_H", description, TITLE, body),
            ctext.guard("TSR_ENUMS_H", description, TITLE_ENUMS, ctext.comment(NOTES_ENUMS) + [""] + users))
