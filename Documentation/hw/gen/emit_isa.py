# SPDX-License-Identifier: MIT
"""tsr_isa.h and tsr_isa.c: the instruction set as tables, with the codec around them."""

import os
import re

import ctext
from isa_description import ACTIONS, ORDERS, UNIT_BITS
from isa_validate import HEADER_BITS, QUAD_BITS

HERE = os.path.dirname(os.path.abspath(__file__))
INDEX_BITS = 12                     # of an instruction word choose its candidates
REGS_BITS = 35
WORD_BITS = 64
HOLE = 0xff
NO_FORM = 0xffff
STAGING = {None: "NONE", "read": "READ", "write": "WRITE", "both": "BOTH"}
KINDS = ("header", "tuple", "constant", "m1", "m2", "position")
COUNT_WORDS_MAX = 8                 # staging registers of a message whose descriptor says how many

# Structures of tsr_isa.c that nobody else sees.
PRIVATE = """\
struct isa_bits {
	uint8_t lo;
	uint8_t width;
};

/* Bits that say the values of a few modifiers together: the bits, joined, choose a row of values. */
struct isa_set {
	uint16_t rows;			/* index in isa_rows */
	uint16_t num_rows;
	uint8_t orders;			/* ISA_ORDER_*: when it applies */
	uint8_t num_mods;
	uint8_t num_bits;
	uint8_t mods[5];
	struct isa_bits bits[4];	/* most significant first */
};

/* One encoding. */
struct isa_form {
	uint32_t mask;
	uint32_t match;
	uint16_t op;
	uint16_t first_set;
	uint8_t num_sets;
	uint8_t orders;			/* when every modifier has a set */
	uint8_t number;			/* among the op's encodings */
};

struct isa_imm {
	uint8_t kind;
	struct isa_bits bits;
};

enum isa_words { ISA_WORDS_FIXED, ISA_WORDS_FORMAT, ISA_WORDS_COUNT };

struct isa_op {
	uint16_t first_form;
	uint16_t first_imm;
	uint8_t num_srcs;
	uint8_t num_imms;
	uint8_t src_lo[4];
	uint8_t words;			/* enum isa_words */
	uint8_t most_words;		/* with ISA_WORDS_COUNT */
	uint8_t other_message;		/* message when other_mod has other_value, or 0 */
	uint8_t other_mod;
	uint8_t other_value;
	uint8_t num_unknowns;		/* modifier values whose semantics is not public */
	uint16_t first_unknown;
};

struct isa_unknown {
	uint8_t mod;
	uint8_t value;
};

struct isa_family {
	const char *const *values;
	uint8_t num_values;
};

struct isa_part {
	uint8_t kind;			/* enum tsr_quad_kind */
	uint8_t index;
	uint8_t lo;			/* in the quadword */
	uint8_t at;			/* in what it is a part of */
	uint8_t width;
};

struct isa_format {
	const char *name;
	uint64_t reserved[2];
	uint8_t match;
	int8_t last;			/* the tuple that ends the clause, or -1 */
	bool may_end;			/* bit 6 of the tag ends the clause */
	uint8_t num_parts;
	uint8_t layouts[ISA_LAYOUT_QUADS];	/* bit t-1: this quadword of a clause of t tuples */
	struct isa_part parts[10];
};

struct isa_layout {
	uint8_t num_quads;
	uint8_t single;			/* constants in these quadwords */
	bool split;			/* over two of them, without M bits */
	uint8_t formats[ISA_LAYOUT_QUADS];
};

struct isa_position {
	uint8_t tuples;			/* 0: reserved */
	uint8_t constant;
};

struct isa_relation {
	bool valid;
	uint8_t first;			/* enum tsr_pcrel */
	uint8_t second;
};

struct isa_header_field {
	uint8_t offset;			/* in struct tsr_clause */
	uint8_t lo;
	uint8_t width;
};

#define ISA_ORDER_LT	1u	/* selector of source 0 below that of source 1 */
#define ISA_ORDER_EQ	2u
#define ISA_ORDER_GT	4u
#define ISA_TAG_END	0x40u
""".splitlines() + [""]


def _symbol(prefix, name):
    return f"TSR_{prefix.upper()}_{re.sub('[^A-Z0-9]', '_', name.upper())}"


def _source_text(name):
    """A file from beside this one, without its licence and first comment, which end at an empty line."""
    with open(os.path.join(HERE, name), encoding="utf-8") as stream:
        text = stream.read()
    return text[text.index("\n\n") + 2:].rstrip("\n").split("\n") + [""]


def _order_mask(orders):
    return sum(1 << ORDERS.index(order) for order in orders)


class Header:
    """tsr_isa.h."""

    def __init__(self, isa, symbols):
        self.isa = isa
        self.symbols = symbols

    def enum(self, name, entries, doc=""):
        """entries: (symbol, value or None, comment, item)."""
        lines = ctext.comment(doc) + [f"enum {name} {{"]
        for symbol, value, text, item in entries:
            self.symbols.claim(symbol, item)
            line = f"\t{symbol}" + ("," if value is None else f" = {value},")
            lines += ctext.comment(text, "\t") if len(line) + len(text) > 90 else []
            lines.append(line + (f"\t/* {text} */" if text and len(line) + len(text) <= 90 else ""))
        return lines + ["};", ""]

    def body(self):
        isa, lines = self.isa, ["#include <stddef.h>", ""]
        lines += self.enum("tsr_op", [(item.symbol, None, "", item) for item in isa.instructions]
                           + [("TSR_OP__COUNT", None, "", isa)], "The instructions of both units.")
        lines += self.enum("tsr_mod", [(_symbol("MOD", name), None, "", name) for name in isa.modifiers]
                           + [("TSR_MOD__COUNT", None, "", isa)], "Kinds of modifiers.")
        lines += self.enum("tsr_isa_imm_kind", [(_symbol("IMM", item.name), None, item.doc, item)
                                                for item in isa.immediates]
                           + [("TSR_IMM__COUNT", None, "", isa)], "Kinds of immediates.")
        for family in isa.families:
            if not family.flag:
                lines += self.enum(f"tsr_mod_{family.name}",
                                   [(_symbol(family.name, value), index, "", family)
                                    for index, value in enumerate(family.values)], family.doc)
        for item in isa.values:
            lines += self.enum(f"tsr_{item.name.lower()}",
                               [(_symbol(item.name, value.name), value.value, value.doc, value)
                                for value in item.values], item.doc)
        pairs = sorted({item.pair for item in isa.instructions if item.pair})
        lines += self.enum("tsr_pair", [("TSR_PAIR_NONE", 0, "", isa)]
                           + [(_symbol("PAIR", pair), None, "", isa) for pair in pairs],
                           "Pairs of instructions of which the FMA half hands state to the ADD half.")
        return lines + _source_text("isa_api.h")


class Tables:
    """The arrays of tsr_isa.c."""

    def __init__(self, isa):
        self.isa = isa
        self.lines = []
        self.rows = bytearray()
        self.row_index = {}
        self.sets, self.forms, self.ops, self.imms, self.unknowns = [], [], [], [], []
        self.mod_index = {name: index for index, name in enumerate(isa.modifiers)}

    def array(self, kind, name, rows):
        self.lines += [f"static const {kind} {name}[] = {{"] + ["\t" + row + "," for row in rows] + ["};", ""]

    def numbers(self, kind, name, values, per_line=16):
        rows = [", ".join(str(value) for value in values[i:i + per_line]) for i in range(0, len(values), per_line)]
        self.array(kind, name, rows or ["0"])

    def value_of(self, modifier, value):
        return self.isa.family_of(modifier).values.index(value)

    # -- instructions -------------------------------------------------------------------------

    def add_rows(self, part):
        """Rows of a set in isa_rows, shared with equal ones. Returns (index, number of rows)."""
        data = bytearray()
        count = max(part.rows) + 1
        for key in range(count):
            row = part.rows.get(key)
            data += bytes(self.value_of(name, value) for name, value in zip(part.modifiers, row)) if row \
                else bytes([HOLE]) * len(part.modifiers)
        data = bytes(data)
        if data not in self.row_index:
            self.row_index[data] = len(self.rows)
            self.rows += data
        return self.row_index[data], count

    def add_form(self, item, op, number, encoding):
        first = len(self.sets)
        orders = [order for order in ORDERS
                  if {name for part in encoding.sets if order in part.orders for name in part.modifiers}
                  == set(item.modifiers)]
        for part in encoding.sets:
            rows, count = self.add_rows(part)
            mods = ", ".join(str(self.mod_index[name]) for name in part.modifiers)
            bits = ", ".join(f"{{ {low}, {width} }}" for low, width in part.bits)
            self.sets.append(f"{{ {rows}, {count}, {_order_mask(part.orders)}, {len(part.modifiers)}, "
                             f"{len(part.bits)}, {{ {mods} }}, {{ {bits or '{ 0 }'} }} }}")
        self.forms.append((item.unit, encoding.mask, encoding.match,
                           f"{{ {encoding.mask:#x}, {encoding.match:#x}, {item.symbol}, {first}, "
                           f"{len(encoding.sets)}, {_order_mask(orders)}, {number} }}"))

    def add_op(self, item):
        words = {"format": "ISA_WORDS_FORMAT", "count": "ISA_WORDS_COUNT"}.get(item.words, "ISA_WORDS_FIXED")
        lows = ", ".join(str(source.bits[0]) for source in item.sources) or "0"
        other = "0, 0, 0"
        for condition, message in item.message_of.items():
            modifier, _, value = condition.partition("=")
            other = f"TSR_MESSAGE_{message}, {_symbol('MOD', modifier)}, {self.value_of(modifier, value)}"
        self.ops.append(f"{{ {len(self.forms)}, {len(self.imms)}, {len(item.sources)}, {len(item.immediates)}, "
                        f"{{ {lows} }}, {words}, {COUNT_WORDS_MAX if item.words == 'count' else 0}, {other}, "
                        f"{len(item.unknown_of)}, {len(self.unknowns)} }}")
        self.unknowns += [f"{{ {_symbol('MOD', name)}, {self.value_of(name, value)} }}"
                          for name, value in item.unknown_of]
        for field in item.immediates:
            self.imms.append(f"{{ {_symbol('IMM', field.name)}, {{ {field.bits[0]}, {field.bits[1]} }} }}")
        for number, encoding in enumerate(item.encodings):
            self.add_form(item, len(self.ops) - 1, number, encoding)

    def candidates(self):
        """First-level index: the upper bits of a word choose a list of encodings, the most specific first."""
        lists, flat, index = {(): 0}, [NO_FORM], {}
        for unit, bits in UNIT_BITS.items():
            shift = bits - INDEX_BITS
            mine = sorted((-mask.bit_count() if hasattr(mask, "bit_count") else -bin(mask).count("1"), number)
                          for number, (which, mask, _match, _text) in enumerate(self.forms) if which == unit)
            index[unit] = []
            for top in range(1 << INDEX_BITS):
                fits = tuple(number for _count, number in mine
                             if (top << shift ^ self.forms[number][2]) & self.forms[number][1] >> shift << shift == 0)
                if fits not in lists:
                    lists[fits] = len(flat)
                    flat += list(fits) + [NO_FORM]
                index[unit].append(lists[fits])
        self.numbers("uint16_t", "isa_candidates", flat)
        for unit in UNIT_BITS:
            self.numbers("uint16_t", f"isa_first_{unit}", index[unit])
        self.lines += ["static const uint16_t *const isa_first[] = { isa_first_fma, isa_first_add };",
                       "static const uint8_t isa_index_shift[] = { "
                       + ", ".join(str(bits - INDEX_BITS) for bits in UNIT_BITS.values()) + " };",
                       "static const uint32_t isa_word_mask[] = { "
                       + ", ".join(f"{(1 << bits) - 1:#x}" for bits in UNIT_BITS.values()) + " };", ""]

    def instructions(self):
        for item in self.isa.instructions:
            self.add_op(item)
        self.numbers("uint8_t", "isa_rows", list(self.rows), 24)
        self.array("struct isa_set", "isa_sets", self.sets)
        self.array("struct isa_form", "isa_forms", [form[3] for form in self.forms])
        self.array("struct isa_imm", "isa_imms", self.imms or ["{ 0 }"])
        self.array("struct isa_op", "isa_ops", self.ops)
        self.array("struct isa_unknown", "isa_unknowns", self.unknowns or ["{ 0 }"])
        self.candidates()

    # -- names --------------------------------------------------------------------------------

    def families(self):
        rows = []
        for family in self.isa.families:
            values = ", ".join(ctext.string(value) for value in family.values)
            self.lines += [f"static const char *const values_{family.name}[] = {{ {values} }};"]
            rows.append(f"{{ values_{family.name}, {len(family.values)} }}")
        self.lines.append("")
        self.array("struct isa_family", "isa_families", rows)
        order = [family.name for family in self.isa.families]
        self.numbers("uint8_t", "isa_mod_family",
                     [order.index(self.isa.family_of(name).name) for name in self.isa.modifiers])
        for kind, prefix, names in (("tsr_mod_names", "TSR_MOD", self.isa.modifiers),
                                    ("tsr_imm_names", "TSR_IMM", [item.name for item in self.isa.immediates])):
            self.lines += [f"const char *const {kind}[{prefix}__COUNT] = {{"]
            self.lines += [f"\t{ctext.string(name)}," for name in names] + ["};", ""]
        for kind, name in (("MESSAGE", "isa_message_names"), ("FAU", "isa_fau_names")):
            found = self.isa.find_values(kind)
            self.lines += [f"static const char *const {name}[32] = {{"]
            self.lines += [f"\t[{value.value}] = {ctext.string(value.name)}," for value in found.values] + ["};", ""]

    def op_lists(self):
        """Modifiers and immediates of every instruction, equal lists once."""
        names = {}

        def share(values):
            if not values:
                return "NULL"
            text = ", ".join(str(value) for value in values)
            if text not in names:
                names[text] = f"list{len(names)}"
                self.lines.append(f"static const uint8_t {names[text]}[] = {{ {text} }};")
            return names[text]

        kinds = [item.name for item in self.isa.immediates]
        rows = []
        for item in self.isa.instructions:
            mods = share([self.mod_index[name] for name in item.modifiers])
            defaults = share([self.usual_value(item, name) for name in item.modifiers])
            imms = share([kinds.index(field.name) for field in item.immediates])
            widths = share([field.bits[1] for field in item.immediates])
            rows.append((item, mods, defaults, imms, widths))
        self.lines.append("")
        return rows

    def usual_value(self, item, name):
        """What the text form leaves out: the default, or else none; without both the value is always written."""
        first = self.isa.family_of(name).values[0]
        if name not in item.defaults and first != "none":
            return "TSR_MOD_WRITTEN"
        return self.value_of(name, item.defaults.get(name, first))

    def op_infos(self):
        rows = self.op_lists()
        self.lines += ["const struct tsr_op_info tsr_ops[TSR_OP__COUNT] = {"]
        for item, mods, defaults, imms, widths in rows:
            masks = ", ".join(f"{source.allow:#x}" for source in item.sources) or "0"
            self.lines += [
                f"\t[{item.symbol}] = {{", f"\t\t.name = {ctext.string(item.name)},",
                f"\t\t.doc = {ctext.string(item.doc)},",
                f"\t\t.unit = TSR_ISA_{item.unit.upper()}, .num_srcs = {len(item.sources)}, .src_mask = {{ {masks} }},",
                f"\t\t.mods = {mods}, .mod_defaults = {defaults}, .num_mods = {len(item.modifiers)},",
                f"\t\t.imms = {imms}, .imm_bits = {widths}, .num_imms = {len(item.immediates)},",
                f"\t\t.staging = TSR_STAGING_{STAGING[item.staging]}, "
                f".staging_words = {item.words if item.words.isdigit() else 0},",
                f"\t\t.message = TSR_MESSAGE_{item.message or 'NONE'}, .pair = {_symbol('PAIR', item.pair or 'none')},",
                f"\t\t.semantics = {'TSR_DEFINED' if item.defined else 'TSR_UNDEFINED'}, "
                f".num_forms = {len(item.encodings)},",
                f"\t\t.last = {str(item.last).lower()}, .result = {str(item.result).lower()},", "\t},"]
        self.lines += ["};", ""]

    # -- clauses ------------------------------------------------------------------------------

    def pieces(self, part):
        """A part in pieces of at most 64 bits."""
        low, width = part.bits
        at = part.at[0]
        while width:
            size = min(width, WORD_BITS)
            yield (f"{{ TSR_QUAD_{part.what.upper()}, {part.index}, {low}, {at}, {size} }}")
            low, at, width = low + size, at + size, width - size

    def clause_format(self, item):
        claimed = 0xff
        for part in item.parts:
            claimed |= ((1 << part.bits[1]) - 1) << part.bits[0]
        reserved = ~claimed & ((1 << QUAD_BITS) - 1)
        quads = max(len(layout.formats) for layout in self.isa.layouts)
        layouts = [0] * quads
        for layout in self.isa.layouts:
            for index, name in enumerate(layout.formats):
                layouts[index] |= (name == item.name) << (layout.tuples - 1)
        pieces = [piece for part in item.parts for piece in self.pieces(part)]
        ends = "true" if item.last is not None or item.name == "CONSTS" else "false"
        return (f"{{ {ctext.string(item.name)}, {{ {reserved & (1 << 64) - 1:#x}, {reserved >> 64:#x} }}, "
                f"{item.match:#04x}, {-1 if item.last is None else item.last}, {ends}, {len(pieces)}, "
                f"{{ {', '.join(str(mask) for mask in layouts)} }}, {{ {', '.join(pieces)} }} }}")

    def clause_layouts(self, formats):
        rows = []
        for layout in sorted(self.isa.layouts, key=lambda layout: layout.tuples):
            parts = [part for name in layout.formats for item in self.isa.formats if item.name == name
                     for part in item.parts]
            constants = [part for part in parts if part.what == "constant"]
            rows.append(f"{{ {len(layout.formats)}, {int(bool(constants))}, {str(len(constants) > 1).lower()}, "
                        f"{{ {', '.join(str(formats.index(name)) for name in layout.formats)} }} }}")
        self.array("struct isa_layout", "isa_layouts", rows)

    def clauses(self):
        isa, formats = self.isa, [item.name for item in self.isa.formats]
        self.array("struct isa_format", "isa_formats", [self.clause_format(item) for item in isa.formats])
        tags = [next((index for index, item in enumerate(isa.formats) if tag & item.mask == item.match), HOLE)
                for tag in range(256)]
        self.numbers("uint8_t", "isa_format_of", tags)
        self.clause_layouts(formats)
        positions = ["{ 0, 0 }"] * 16
        for item in isa.positions:
            positions[item.value] = f"{{ {item.tuples}, {item.constant} }}"
        self.array("struct isa_position", "isa_positions", positions)
        relations = ["{ false, 0, 0 }"] * 32
        for item in isa.relations:
            relations[item.m1 if item.m2 is None else 16 + item.m2] = \
                f"{{ true, TSR_PCREL_{item.first}, TSR_PCREL_{item.second} }}"
        self.array("struct isa_relation", "isa_relations", relations)
        self.array("struct isa_header_field", "isa_header",
                   [f"{{ offsetof(struct tsr_clause, {item.name.lower()}), {item.bits[0]}, {item.bits[1]} }}"
                    for item in isa.header])
        self.numbers("int8_t", "isa_const_of_nibble", [isa.constants.get(nibble, -1) for nibble in range(8)])
        self.lines += ["const struct tsr_reg_mode tsr_reg_modes[32] = {"]
        port = {action: "TSR_PORT_" + action.upper().replace("-", "_") for action in ACTIONS}
        for mode in isa.modes:
            self.lines.append(f"\t[{mode.number}] = {{ {port[mode.slot2]}, {port[mode.slot3]}, "
                              f"TSR_ISA_{(mode.source or 'fma').upper()}, true, "
                              f"{str('first' in mode.places).lower()}, {str('other' in mode.places).lower()} }},")
        self.lines += ["};", ""]

    def defines(self):
        fields = 0
        for item in self.isa.header:
            fields |= ((1 << item.bits[1]) - 1) << item.bits[0]
        names = [item.name for item in self.isa.formats]
        values = {"ISA_HOLE": f"{HOLE:#x}", "ISA_NO_FORM": f"{NO_FORM:#x}", "ISA_REGS_BITS": str(REGS_BITS),
                  "ISA_FMA_BITS": str(UNIT_BITS["fma"]), "ISA_ADD_BITS": str(UNIT_BITS["add"]),
                  "ISA_HEADER_FIELDS": str(len(self.isa.header)),
                  "ISA_HEADER_RESERVED": f"{~fields & (1 << HEADER_BITS) - 1:#x}ULL",
                  "ISA_LAYOUT_QUADS": str(max(len(layout.formats) for layout in self.isa.layouts)),
                  "ISA_FORMAT_CONSTS": str(names.index("CONSTS"))}
        return [ctext.define(name, value) for name, value in values.items()] + [""]


def emit_header(description, symbols):
    lines = Header(description.isa, symbols).body()
    return ctext.guard("TSR_ISA_H", description, "Tessera: the shader instruction set", lines,
                       files=description.isa.files)


def emit_source(description):
    tables = Tables(description.isa)
    tables.families()
    tables.instructions()
    tables.op_infos()
    tables.clauses()
    lines = ctext.banner("Tessera: the shader instruction set", description, files=description.isa.files)
    lines += ["#include <string.h>", "", "#include \"tsr_isa.h\"", ""]
    return "\n".join(lines + tables.defines() + PRIVATE + tables.lines + _source_text("isa_insn.c")
                     + _source_text("isa_clause.c"))
