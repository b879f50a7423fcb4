/* SPDX-License-Identifier: MIT */
/*
 * The interface of tsr_isa.h besides the enums made from the description.
 *
 * Not included by itself: emit_isa.py appends it to the enums of tsr_isa.h.
 */

/* One instruction of the FMA or ADD unit. A modifier or immediate that it does not have is 0. */
struct tsr_insn {
	uint16_t op;			/* enum tsr_op */
	/* which of the op's encodings; TSR_FORM_ANY: the first that fits */
	uint8_t form;
	uint8_t src[4];			/* enum tsr_select, in the order of the sources */
	uint8_t mod[TSR_MOD__COUNT];	/* by enum tsr_mod: the family's value */
	uint32_t imm[TSR_IMM__COUNT];	/* by enum tsr_isa_imm_kind */
};

#define TSR_FORM_ANY 0xff

#define TSR_MOD_WRITTEN 0xff	/* a modifier without usual value */

enum tsr_isa_unit {
	TSR_ISA_FMA,	/* 23-bit words */
	TSR_ISA_ADD,	/* 20-bit words */
};

enum tsr_staging {
	TSR_STAGING_NONE,
	TSR_STAGING_READ,	/* the message reads its staging registers */
	TSR_STAGING_WRITE,	/* the message writes its staging registers */
	TSR_STAGING_BOTH,
};

enum tsr_semantics {
	TSR_DEFINED,
	/* no public source says what it does: it decodes, and faults when executed */
	TSR_UNDEFINED,
};

/* Properties of every instruction of a name. */
struct tsr_op_info {
	const char *name;		/* "FADD.v2f16" */
	const char *doc;		/* what it does */
	uint8_t unit;			/* enum tsr_isa_unit */
	uint8_t num_srcs;
	uint8_t src_mask[4];		/* bit n: selector n is allowed */
	const uint8_t *mods;		/* enum tsr_mod, in the order of the text form */
	/* the values that the text form leaves out, or TSR_MOD_WRITTEN */
	const uint8_t *mod_defaults;
	uint8_t num_mods;
	const uint8_t *imms;		/* enum tsr_isa_imm_kind */
	const uint8_t *imm_bits;	/* their widths */
	uint8_t num_imms;
	uint8_t staging;		/* enum tsr_staging */
	/* 0: see tsr_insn_staging_read(), tsr_insn_staging_written() */
	uint8_t staging_words;
	/* enum tsr_message; tsr_insn_message() knows the exceptions */
	uint8_t message;
	/* enum tsr_pair: hands state to its partner in the same tuple */
	uint8_t pair;
	uint8_t semantics;		/* enum tsr_semantics */
	uint8_t num_forms;		/* encodings */
	bool last;			/* stands in the last tuple of its clause */
	/* has a result that registers and the next tuple can take */
	bool result;
};

/* Actions of a port of the register block. */
enum tsr_port_action {
	TSR_PORT_IDLE,
	TSR_PORT_READ,
	TSR_PORT_WRITE,
	TSR_PORT_WRITE_LO,	/* low half only */
	TSR_PORT_WRITE_HI,
};

/* A mode of the register block. Port 2 writes results of the FMA unit. */
struct tsr_reg_mode {
	uint8_t slot2;		/* enum tsr_port_action of port 2 */
	uint8_t slot3;		/* of port 3; it never reads */
	uint8_t slot3_from;	/* enum tsr_isa_unit whose result port 3 writes */
	bool valid;
	bool first;		/* possible in the first tuple of a clause */
	bool other;		/* possible in the others */
};

/*
 * One 78-bit tuple. The writes in its register block are those of the tuple before it (first: of
 * the last).
 */
struct tsr_tuple {
	uint8_t fau;		/* FAU index */
	uint8_t port[4];	/* register of each port; port 2 is r2, port 3 is r3 of the block */
	bool read0, read1;	/* ports 0 and 1 read */
	uint8_t mode;		/* of ports 2 and 3: index of tsr_reg_modes */
	uint32_t fma, add;	/* instruction words */
	/* the block as it stands in the code, 35 bits; tsr_tuple_regs_encode() makes it */
	uint64_t regs;
};

#define TSR_CLAUSE_TUPLES_MAX	8
#define TSR_CLAUSE_CONSTS_MAX	7	/* the last of seven fills up a pair and cannot be named */
#define TSR_CLAUSE_QUADS_MAX	8
#define TSR_CLAUSE_BYTES_MAX	(16 * TSR_CLAUSE_QUADS_MAX)
#define TSR_QUAD_BYTES		16

struct tsr_clause {
	/* Header, see the fields of that name. */
	uint8_t ftz;			/* enum tsr_ftz */
	uint8_t suppress_inf;
	uint8_t suppress_nan;
	uint8_t float_exceptions;	/* enum tsr_float_exceptions */
	uint8_t flow;			/* enum tsr_flow */
	uint8_t td;
	uint8_t prefetch;
	uint8_t staging_barrier;
	uint8_t staging_reg;
	uint8_t wait;			/* bit n: slot n */
	uint8_t slot;
	uint8_t message;		/* enum tsr_message */
	uint8_t next_message;		/* 5 bits, a hint */

	uint8_t tuples;			/* 1 to 8 */
	uint8_t consts;			/* constants there is room for, dummies included */
	uint8_t quads;			/* set by tsr_clause_unpack() */
	struct tsr_tuple tuple[TSR_CLAUSE_TUPLES_MAX];
	uint64_t konst[TSR_CLAUSE_CONSTS_MAX];	/* low four bits zero: they are in the FAU index */
	uint8_t pcrel[TSR_CLAUSE_CONSTS_MAX];	/* enum tsr_pcrel */
	/* M1 | M2 << 4 of a constant that shares its quadword with a tuple */
	uint8_t single_m;
};

enum tsr_isa_error {
	TSR_ISA_OK,
	TSR_ISA_TRUNCATED,		/* the code ends inside the clause */
	TSR_ISA_BAD_TAG,		/* no quadword has this tag */
	TSR_ISA_BAD_POSITION,		/* a quadword stands where no clause has it */
	TSR_ISA_MISSING_TUPLE,		/* a quadword of constants before the last tuple */
	TSR_ISA_RESERVED,		/* reserved bits or a reserved header value */
	/* the number or the relation of the constants has no encoding */
	TSR_ISA_BAD_CONSTS,
	TSR_ISA_BAD_TUPLES,		/* not 1 to 8 tuples */
	/* register block: reserved mode, or ports that cannot be encoded */
	TSR_ISA_BAD_REGS,
	TSR_ISA_BAD_FMA,		/* no such FMA instruction */
	TSR_ISA_BAD_ADD,		/* no such ADD instruction */
	/* a source names what it cannot, or a port that is not read */
	TSR_ISA_BAD_SOURCE,
	/* a source reads a reserved FAU index or a constant that is not there */
	TSR_ISA_BAD_FAU,
	TSR_ISA_MESSAGE_MISMATCH,	/* the header's message is not the instructions' */
	TSR_ISA_TWO_MESSAGES,
	TSR_ISA_NOT_LAST,		/* an instruction of the last tuple stands before it */
	TSR_ISA_BAD_PAIR,		/* an instruction without its partner in the same tuple */
	TSR_ISA_ERROR__COUNT
};

/* A part of a quadword, for tools that look at single quadwords. */
struct tsr_quad_part {
	uint8_t kind;		/* enum tsr_quad_kind */
	/* which tuple or constant; a constant's may be relative to the position */
	uint8_t index;
	uint8_t at;		/* lowest bit inside what it is a part of */
	uint8_t width;
	uint64_t bits;
};

enum tsr_quad_kind {
	TSR_QUAD_HEADER,
	TSR_QUAD_TUPLE,
	TSR_QUAD_CONSTANT,
	TSR_QUAD_M1,
	TSR_QUAD_M2,
	TSR_QUAD_POSITION,
};

struct tsr_quad {
	const char *name;	/* of its format */
	/* what it says about the number of tuples of its clause, 0 nothing */
	int8_t tuples;
	bool ends;		/* the clause ends with it */
	uint8_t num_parts;
	struct tsr_quad_part part[10];
};

/* A constant that a clause shall have, for tsr_clause_place_consts(). */
struct tsr_const {
	uint64_t value;		/* the low four bits go into the FAU index */
	/* enum tsr_pcrel; the top four bits of a relative number are ignored */
	uint8_t pcrel;
};

#ifdef __cplusplus
extern "C" {
#endif

extern const struct tsr_op_info tsr_ops[TSR_OP__COUNT];
extern const struct tsr_reg_mode tsr_reg_modes[32];
extern const char *const tsr_mod_names[TSR_MOD__COUNT];	/* "widen0" */
extern const char *const tsr_imm_names[TSR_IMM__COUNT];

/* The name of a modifier's value ("h1"), NULL when there is none. */
const char *tsr_mod_value_name(enum tsr_mod mod, unsigned int value);
/* The name of a message type, a FAU index below 0x20, a flow control, …: NULL when it has none. */
const char *tsr_message_name(unsigned int message);
const char *tsr_fau_name(unsigned int fau);
const char *tsr_isa_error_text(enum tsr_isa_error error);

/*
 * Decode the low bits of @word; false, and *insn undefined, when no instruction of @unit is encoded
 * so.
 */
bool tsr_insn_decode(enum tsr_isa_unit unit, uint32_t word, struct tsr_insn *insn);
/*
 * The other direction; false when there is no encoding. Whatever decodes encodes to the same word.
 */
bool tsr_insn_encode(const struct tsr_insn *insn, uint32_t *word);

/*
 * True if public sources define the instruction with its modifiers. Other instructions fault when
 * they are executed.
 */
bool tsr_insn_defined(const struct tsr_insn *insn);
/* The message an instruction sends, which depends on its modifiers in a few cases. */
enum tsr_message tsr_insn_message(const struct tsr_insn *insn);
/* Staging registers it reads or writes; the most it can when a descriptor or a format decides. */
unsigned int tsr_insn_staging_read(const struct tsr_insn *insn);
unsigned int tsr_insn_staging_written(const struct tsr_insn *insn);

/*
 * Describe one quadword (16 bytes) without its clause; false when no format has its tag or reserved
 * bits are set.
 */
bool tsr_quad_decode(const void *quad, struct tsr_quad *out);

/*
 * Unpack the first clause of the @len bytes (a multiple of 16) at @code. Instructions are not
 * looked at. tsr_clause_pack() gives the same bytes again.
 */
enum tsr_isa_error tsr_clause_unpack(const void *code, size_t len, struct tsr_clause *clause);
/*
 * Pack @clause into @code (TSR_CLAUSE_BYTES_MAX bytes); *len is the length. Uses regs, fma and add
 * of the tuples.
 */
enum tsr_isa_error tsr_clause_pack(const struct tsr_clause *clause, uint8_t *code, size_t *len);
/*
 * Decode the instructions of a clause into @fma and @add, one per tuple, and check the rules
 * between its parts. tsr_clause_check_at() also says which tuple is wrong.
 */
enum tsr_isa_error tsr_clause_check(const struct tsr_clause *clause, struct tsr_insn fma[8],
				    struct tsr_insn add[8]);
enum tsr_isa_error tsr_clause_check_at(const struct tsr_clause *clause, struct tsr_insn fma[8],
				       struct tsr_insn add[8], unsigned int *where);

/* tuple->regs to fau, port, read0, read1, mode. Every block decodes; the mode may be invalid. */
void tsr_tuple_regs_decode(struct tsr_tuple *tuple, bool first);
/* The other direction; false when the ports cannot be combined so. */
bool tsr_tuple_regs_encode(struct tsr_tuple *tuple, bool first);

/*
 * Find a slot for each of @num constants in a clause of clause->tuples tuples, add dummies and
 * order pairs as the format wants, and set consts, konst, pcrel and single_m of @clause. slot[i] is
 * where wanted[i] went: its FAU index is tsr_fau_const(slot[i]) | (wanted[i].value & 15). Equal
 * constants may be given once only by the caller.
 */
enum tsr_isa_error tsr_clause_place_consts(struct tsr_clause *clause,
					   const struct tsr_const *wanted, unsigned int num,
					   uint8_t *slot);

/* The number of the FAU constant that an index names, or -1. */
int tsr_fau_const_index(unsigned int fau);
/* The FAU index of constant @n (0 to 5), low four bits zero. */
unsigned int tsr_fau_const(unsigned int n);

static inline bool tsr_fau_is_uniform(unsigned int fau)
{
	return fau & 0x80;
}

static inline bool tsr_fau_is_const(unsigned int fau)
{
	return fau >= 0x20 && fau < 0x80;
}

static inline bool tsr_fau_is_special(unsigned int fau)
{
	return fau < 0x20;
}

#ifdef __cplusplus
}
#endif
