# SPDX-License-Identifier: MIT
"""tsr_desc.h and tsr_desc.c: the description as tables, for decoders, for the model and for whoever wants names."""

import ctext

TITLE = "Tessera: the hardware description as tables"

HEADER = """\
/* How a field's bits are to be read. */
enum tsr_desc_type {
	TSR_DESC_UINT,	/* unsigned number, perhaps with an enum or bitset */
	TSR_DESC_INT,	/* two's complement number */
	TSR_DESC_BOOL,	/* one bit */
	TSR_DESC_VA,	/* GPU virtual address; its bits stand where they stand in the address */
	TSR_DESC_PA,	/* bus address or offset in local memory, likewise */
};

/* Where a packet, or a header field of one, may be used. */
enum tsr_desc_level {
	TSR_DESC_ANYWHERE,
	TSR_DESC_RING,	/* only in rings */
	TSR_DESC_USER,	/* only in user streams */
	TSR_DESC_LIST,	/* only in control lists */
};

/* Which part of the device executes a packet. */
enum tsr_desc_batch {
	TSR_DESC_CP,		/* the command processor itself */
	TSR_DESC_ENGINE,	/* handed to the engine of the queue's class */
};

enum tsr_desc_access {
	TSR_DESC_RO,	/* writes are ignored */
	TSR_DESC_WO,	/* reads return zero */
	TSR_DESC_RW,
	TSR_DESC_W1C,	/* ones written clear bits */
	TSR_DESC_W1S,	/* ones written set bits */
};

/* One value of an enum, or one bit of a bitset. */
struct tsr_desc_value {
	const char *name;
	const char *doc;
	uint64_t value;		/* enum: the value; bitset: the bit's mask */
};

/* An enum or a bitset. */
struct tsr_desc_enum {
	const char *name;
	const struct tsr_desc_value *values;
	uint32_t num_values;
	bool is_bitset;
};

/* A field of a packet, a register or a structure. */
struct tsr_desc_field {
	const char *name;
	const char *doc;
	const struct tsr_desc_enum *values;	/* NULL: plain number */
	uint64_t align;				/* the value is a multiple of this power of two */
	uint64_t min;				/* the least legal value */
	uint64_t max;				/* the greatest; all ones when whatever fits is legal */
	uint8_t qword;				/* which qword of the packet or structure; 0 in registers */
	uint8_t lo;				/* lowest bit */
	uint8_t hi;				/* highest bit, inclusive */
	uint8_t type;				/* enum tsr_desc_type */
	uint8_t level;				/* enum tsr_desc_level: where it may be other than zero */
};

/* A packet of rings and streams. */
struct tsr_desc_packet {
	const char *name;
	const char *doc;
	const struct tsr_desc_field *fields;
	const uint64_t *mbz;			/* per described qword: bits that must be zero */
	uint64_t ring_only;			/* bits of the header that must be zero in user streams */
	uint32_t classes;			/* bit n: queues of engine class n may use it */
	uint8_t num_fields;
	uint8_t num_mbz;			/* described qwords; later ones are free payload */
	uint8_t opcode;
	uint8_t min_qwords;
	uint8_t max_qwords;
	uint8_t level;				/* enum tsr_desc_level */
	uint8_t batch;				/* enum tsr_desc_batch */
	bool refused;				/* defined, but this version of the device has no unit for it */
};

struct tsr_desc_block;

/* A register, or an array of them, in every instance of a block. */
struct tsr_desc_reg {
	const char *name;
	const char *doc;
	const struct tsr_desc_block *block;
	const struct tsr_desc_field *fields;
	const struct tsr_desc_enum *values;	/* NULL: the whole register is no enum or bitset */
	uint64_t reset;				/* value after reset, unless reset_configured */
	uint32_t offset;			/* in the block's instance */
	uint32_t count;				/* length of the array, 1 for a single register */
	uint32_t stride;			/* from one element to the next */
	uint8_t num_fields;
	uint8_t width;				/* 32 or 64 bits */
	uint8_t access;				/* enum tsr_desc_access */
	bool reset_configured;			/* the value after reset depends on the configuration */
};

/* A block of registers, perhaps in several instances. */
struct tsr_desc_block {
	const char *name;
	const char *title;
	const struct tsr_desc_reg *regs;
	uint32_t num_regs;
	uint32_t offset;			/* of the first instance in the register BAR */
	uint32_t count;				/* instances, 1 for a single block */
	uint32_t stride;			/* from one instance to the next; 0 for a single block */
	bool numbered;				/* has instances that are named by a number, even if only one */
};

/* A structure in memory. */
struct tsr_desc_struct {
	const char *name;
	const struct tsr_desc_field *fields;
	uint32_t num_fields;
	uint32_t qwords;
};

/* A performance counter. */
struct tsr_desc_counter {
	const char *name;
	const char *unit;
	const char *doc;
	uint32_t id;				/* unique in its scope */
	bool global;				/* counted for the whole device, not per queue */
};

#ifdef __cplusplus
extern "C" {
#endif

/* By opcode; NULL where no packet is defined. */
extern const struct tsr_desc_packet *const tsr_desc_packets[256];
extern const struct tsr_desc_enum tsr_desc_enums[];
extern const uint32_t tsr_desc_num_enums;
extern const struct tsr_desc_block tsr_desc_blocks[];
extern const uint32_t tsr_desc_num_blocks;
extern const struct tsr_desc_struct tsr_desc_structs[];
extern const uint32_t tsr_desc_num_structs;
extern const struct tsr_desc_counter tsr_desc_counters[];
extern const uint32_t tsr_desc_num_counters;

/*
 * The register that covers a byte offset in the register BAR, or NULL. instance, index and upper
 * (each may be NULL) tell which instance of the block, which element of the array, and whether the
 * offset is in the high half of a 64-bit register.
 */
const struct tsr_desc_reg *tsr_desc_reg_at(uint32_t offset, uint32_t *instance, uint32_t *index,
					   bool *upper);

/* The enum or bitset of that name, as in the description ("FAULT"), or NULL. */
const struct tsr_desc_enum *tsr_desc_find_enum(const char *name);

/* The name of a value of an enum, or NULL when it has none. values may be NULL. */
const char *tsr_desc_value_name(const struct tsr_desc_enum *values, uint64_t value);

/* A field's value from the qwords of its packet or structure, or from its register's value. */
uint64_t tsr_desc_field_get(const struct tsr_desc_field *field, const uint64_t *qwords);

/* Bits of a packet's qword that must be zero. */
static inline uint64_t tsr_desc_mbz(const struct tsr_desc_packet *packet, unsigned int qword)
{
	return qword < packet->num_mbz ? packet->mbz[qword] : 0;
}

#ifdef __cplusplus
}
#endif
""".splitlines() + [""]

FUNCTIONS = """\
const struct tsr_desc_reg *tsr_desc_reg_at(uint32_t offset, uint32_t *instance, uint32_t *index,
					   bool *upper)
{
	uint32_t b, r;

	for (b = 0; b < tsr_desc_num_blocks; b++) {
		const struct tsr_desc_block *block = &tsr_desc_blocks[b];
		uint32_t inside = offset - block->offset;
		uint32_t n = block->stride ? inside / block->stride : 0;

		if (offset < block->offset || n >= block->count)
			continue;
		inside -= n * block->stride;
		for (r = 0; r < block->num_regs; r++) {
			const struct tsr_desc_reg *reg = &block->regs[r];
			uint32_t at = inside - reg->offset;
			uint32_t i = at / reg->stride;

			if (inside < reg->offset || i >= reg->count || at % reg->stride >= reg->width / 8u)
				continue;
			if (instance)
				*instance = n;
			if (index)
				*index = i;
			if (upper)
				*upper = at % reg->stride >= 4;
			return reg;
		}
	}
	return NULL;
}

static bool same(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

const struct tsr_desc_enum *tsr_desc_find_enum(const char *name)
{
	uint32_t i;

	for (i = 0; i < tsr_desc_num_enums; i++) {
		if (same(tsr_desc_enums[i].name, name))
			return &tsr_desc_enums[i];
	}
	return NULL;
}

const char *tsr_desc_value_name(const struct tsr_desc_enum *values, uint64_t value)
{
	uint32_t i;

	for (i = 0; values && i < values->num_values; i++) {
		if (values->values[i].value == value)
			return values->values[i].name;
	}
	return NULL;
}

uint64_t tsr_desc_field_get(const struct tsr_desc_field *field, const uint64_t *qwords)
{
	uint64_t word = qwords[field->qword];
	uint32_t unused = 63u - field->hi;

	if (field->type == TSR_DESC_VA || field->type == TSR_DESC_PA)
		return word << unused >> unused >> field->lo << field->lo;
	word <<= unused;
	unused += field->lo;
	if (field->type == TSR_DESC_INT)
		return (uint64_t)((int64_t)word >> unused);
	return word >> unused;
}
""".splitlines() + [""]

TYPES = {"uint": "TSR_DESC_UINT", "int": "TSR_DESC_INT", "bool": "TSR_DESC_BOOL", "va": "TSR_DESC_VA",
         "pa": "TSR_DESC_PA"}
LEVELS = {"any": "TSR_DESC_ANYWHERE", "ring": "TSR_DESC_RING", "user": "TSR_DESC_USER",
          "list": "TSR_DESC_LIST"}


class Tables:
    """Collects the C text; remembers where each enum and bitset went."""

    def __init__(self, description):
        self.description = description
        self.lines = []
        self.enum_index = {}

    def table(self, kind, name, rows):
        """An array; nothing when there are no rows. Returns the expression for it."""
        if not rows:
            return "NULL"
        self.lines += [f"{kind} {name}[] = {{"] + ["\t" + row + "," for row in rows] + ["};", ""]
        return name

    def sized(self, kind, name, count, rows):
        """An exported array with its length; an empty one keeps one zero element, as C wants."""
        self.lines += [f"const struct {kind} {name}[] = {{"]
        self.lines += ["\t" + row + "," for row in rows] or ["\t{ 0 },"]
        self.lines += ["};", f"const uint32_t {count} = {len(rows)};", ""]

    def values_of(self, item):
        """The address of the enum or bitset a field or register names."""
        if item.enum or item.bitset:
            return f"&tsr_desc_enums[{self.enum_index[item.enum or item.bitset]}]"
        return "NULL"

    def fields(self, name, fields):
        rows = []
        for field in fields:
            maximum = ctext.unsigned((1 << 64) - 1 if field.max is None else field.max, 64)
            rows.append(f"{{ {ctext.string(field.name)}, {ctext.string(field.doc)}, {self.values_of(field)}, "
                        f"{field.align:#x}, {field.min:#x}, {maximum}, {field.qword}, {field.lo}, {field.hi}, {TYPES[field.type]}, "
                        f"{LEVELS[field.level]} }}")
        return self.table("static const struct tsr_desc_field", f"fields_{name}", rows)

    def enums(self):
        rows = []
        for item in self.description.enums + self.description.bitsets:
            bitset = item in self.description.bitsets
            self.enum_index[item.name] = len(rows)
            values = [f"{{ {ctext.string(value.name)}, {ctext.string(value.doc)}, "
                      f"{ctext.unsigned(1 << value.pos if bitset else value.value, 64)} }}"
                      for value in item.values]
            name = self.table("static const struct tsr_desc_value", f"values_{item.name}", values)
            rows.append(f"{{ {ctext.string(item.name)}, {name}, {len(item.values)}, "
                        f"{'true' if bitset else 'false'} }}")
        self.sized("tsr_desc_enum", "tsr_desc_enums", "tsr_desc_num_enums", rows)

    def class_mask(self, packet):
        known = self.description.find("enums", "ENGINE_CLASS")
        values = known.values if known else []
        chosen = [value.value for value in values
                  if packet.classes is None or value.name in packet.classes]
        return sum(1 << value for value in chosen)

    def packet(self, packet):
        name = packet.name
        fields = self.fields(f"packet_{name}", packet.fields)
        described = packet.described_qwords
        while described > packet.qwords and all(field.qword < described - 1 for field in packet.fields) \
                and packet.tail == "data":
            described -= 1
        mbz = [ctext.unsigned(packet.mbz(qword), 64) for qword in range(described)]
        self.table("static const uint64_t", f"mbz_{name}", mbz)
        ring_only = sum(field.mask for field in packet.fields if field.level == "ring")
        batch = "TSR_DESC_ENGINE" if packet.batch == "engine" else "TSR_DESC_CP"
        self.lines += [
            f"static const struct tsr_desc_packet packet_{name} = {{",
            f"\t.name = {ctext.string(name)},", f"\t.doc = {ctext.string(packet.doc)},",
            f"\t.fields = {fields},", f"\t.mbz = mbz_{name},",
            f"\t.ring_only = {ctext.unsigned(ring_only, 64)},",
            f"\t.classes = {self.class_mask(packet):#x},",
            f"\t.num_fields = {len(packet.fields)},", f"\t.num_mbz = {len(mbz)},",
            f"\t.opcode = {packet.opcode:#04x},",
            f"\t.min_qwords = {packet.qwords},", f"\t.max_qwords = {packet.max_qwords},",
            f"\t.level = {LEVELS[packet.level]},", f"\t.batch = {batch},",
            f"\t.refused = {'true' if packet.refused else 'false'},", "};", ""]

    def packets(self):
        for packet in self.description.packets:
            self.packet(packet)
        self.lines += ["const struct tsr_desc_packet *const tsr_desc_packets[256] = {"]
        self.lines += [f"\t[{packet.opcode:#04x}] = &packet_{packet.name},"
                       for packet in self.description.packets] or ["\tNULL,"]
        self.lines += ["};", ""]

    def register(self, block, index, register):
        fields = self.fields(f"reg_{block.name}_{register.name}", register.fields)
        return (f"{{ {ctext.string(register.name)}, {ctext.string(register.doc)}, &tsr_desc_blocks[{index}], "
                f"{fields}, {self.values_of(register)}, {ctext.unsigned(register.reset or 0, 64)}, "
                f"{register.offset:#x}, {register.count or 1}, {register.stride:#x}, {len(register.fields)}, "
                f"{register.width}, TSR_DESC_{register.access.upper()}, "
                f"{'true' if register.reset is None else 'false'} }}")

    def blocks(self):
        rows = []
        for index, block in enumerate(self.description.blocks):
            registers = [self.register(block, index, register) for register in block.registers]
            name = self.table("static const struct tsr_desc_reg", f"regs_{block.name}", registers)
            rows.append(f"{{ {ctext.string(block.name)}, {ctext.string(block.title)}, {name}, "
                        f"{len(registers)}, {block.offset:#x}, {block.count or 1}, {block.stride:#x}, "
                        f"{'false' if block.count is None else 'true'} }}")
        self.sized("tsr_desc_block", "tsr_desc_blocks", "tsr_desc_num_blocks", rows)

    def structs(self):
        rows = []
        for struct in self.description.structs:
            fields = self.fields(f"struct_{struct.name}", struct.fields)
            rows.append(f"{{ {ctext.string(struct.name)}, {fields}, {len(struct.fields)}, {struct.qwords} }}")
        self.sized("tsr_desc_struct", "tsr_desc_structs", "tsr_desc_num_structs", rows)

    def counters(self):
        rows = [f"{{ {ctext.string(counter.name)}, {ctext.string(counter.unit)}, {ctext.string(counter.doc)}, "
                f"{counter.id}, {'true' if counter.scope == 'global' else 'false'} }}"
                for counter in self.description.counters]
        self.sized("tsr_desc_counter", "tsr_desc_counters", "tsr_desc_num_counters", rows)


def emit_header(description):
    """The text of tsr_desc.h."""
    return ctext.guard("TSR_DESC_H", description, TITLE, HEADER)


def emit_source(description):
    """The text of tsr_desc.c."""
    tables = Tables(description)
    tables.enums()
    tables.packets()
    tables.blocks()
    tables.structs()
    tables.counters()
    head = ctext.banner(TITLE, description) + [
        "#ifndef __KERNEL__", "#include <stddef.h>", "#endif", "#include \"tsr_desc.h\"", ""]
    return "\n".join(head + tables.lines + FUNCTIONS[:-1] + [""])
