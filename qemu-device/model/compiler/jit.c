/* SPDX-License-Identifier: MIT */
#include "jit.h"

#include <string.h>

#include "simd/simd.h"

unsigned int tsr_jit_lanes(const struct tsr_simd *simd)
{
	return strcmp(simd->name, "avx512") ? 8 : 16;
}

#ifdef __x86_64__

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "jit_node.h"

#define POOL_WORDS	1024
/* Nodes a micro-operation may need: a segment ends before there is no room for them. */
#define NODES_OF_ONE	40

/* A micro-operation on its way to code. */
struct item {
	const struct tsr_uop *uop;
	const struct tsr_decoded *clause;
	uint64_t regs;			/* bit for each register that is read after it */
	uint32_t temps;			/* bit for each temporary that is read after it */
};

struct tsr_jit {
	/* the same memory, of code alone: nothing in it is the guest's choice of bits */
	uint8_t *write, *execute;
	size_t used, begin;		/* code begins after what all share */
	bool wide;
	struct tsr_pool pool;
	size_t leave;			/* where code goes when it is done */
	void (*enter)(struct tsr_lane_state *lanes, const void *code);
	struct tsr_segment segment;
	struct item item[TSR_STRAIGHT_UOPS];
};

static const void *executable(const struct tsr_jit *jit, const uint8_t *written)
{
	return jit->execute + (written - jit->write);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Creates both mappings of a file without a name, which ends with them. */
static bool map_memory(struct tsr_jit *jit)
{
	int fd = memfd_create("tessera-jit", MFD_CLOEXEC);
	bool done = false;

	if (fd < 0)
		return false;
	if (!ftruncate(fd, TSR_JIT_BYTES)) {
		jit->write = mmap(NULL, TSR_JIT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		jit->execute = mmap(NULL, TSR_JIT_BYTES, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
		done = jit->write != MAP_FAILED && jit->execute != MAP_FAILED;
	}
	close(fd);
	return done;
}

static void unmap(void *memory)
{
	if (memory && memory != MAP_FAILED)
		munmap(memory, TSR_JIT_BYTES);
}

static struct tsr_x86 writer(struct tsr_jit *jit)
{
	uint8_t *at = jit->write + jit->used;

	return (struct tsr_x86){
		.start = at, .at = at, .end = jit->write + TSR_JIT_BYTES, .wide = jit->wide
	};
}

#define STATE_AT(member) ((int32_t)offsetof(struct tsr_lane_state, member))
#define SPACE_AT(kind) (STATE_AT(alu.space[0]) + (int32_t)(kind) * (int32_t)sizeof(void *))

/* Registers a function has to leave as they are. */
static const enum tsr_gpr saved[] = { TSR_RBX, TSR_RBP, TSR_R12, TSR_R13, TSR_R14, TSR_R15 };
#define SAVED (sizeof(saved) / sizeof(saved[0]))

/* Emits the prologue and the epilogue that make generated code a C function. */
static void emit_frame(struct tsr_jit *jit)
{
	struct tsr_x86 x = writer(jit);
	const enum tsr_gpr state = (enum tsr_gpr)TSR_JIT_STATE;

	jit->enter = (void (*)(struct tsr_lane_state *, const void *))(uintptr_t)executable(jit,
											    x.at);
	for (unsigned int i = 0; i < SAVED; i++)
		tsr_x86_push(&x, saved[i]);
	tsr_x86_alu_imm(&x, TSR_X86_GSUB, 8, TSR_RSP, 8);
	tsr_x86_mov(&x, state, TSR_RDI);
	tsr_x86_load(&x, 8, (enum tsr_gpr)TSR_JIT_REGS, state, SPACE_AT(TSR_LANES_REG));
	tsr_x86_load(&x, 8, (enum tsr_gpr)TSR_JIT_TEMPS, state, SPACE_AT(TSR_LANES_TEMP));
	tsr_x86_load(&x, 8, (enum tsr_gpr)TSR_JIT_PUSH, state, SPACE_AT(TSR_LANES_PUSH));
	tsr_x86_load(&x, 4, (enum tsr_gpr)TSR_JIT_TUPLES, state, STATE_AT(native.tuples));
	tsr_x86_load(&x, 4, (enum tsr_gpr)TSR_JIT_CLAUSES, state, STATE_AT(native.clauses));
	tsr_x86_jump_reg(&x, TSR_RSI);

	tsr_x86_align(&x, 32);
	jit->leave = (size_t)(x.at - jit->write);
	tsr_x86_store(&x, 8, TSR_RAX, state, STATE_AT(native.last));
	tsr_x86_store(&x, 4, TSR_RDX, state, STATE_AT(native.outcome));
	tsr_x86_store(&x, 4, (enum tsr_gpr)TSR_JIT_TUPLES, state, STATE_AT(native.tuples));
	tsr_x86_store(&x, 4, (enum tsr_gpr)TSR_JIT_CLAUSES, state, STATE_AT(native.clauses));
	tsr_x86_vzeroupper(&x);
	tsr_x86_alu_imm(&x, TSR_X86_GADD, 8, TSR_RSP, 8);
	for (unsigned int i = SAVED; i-- > 0;)
		tsr_x86_pop(&x, saved[i]);
	tsr_x86_ret(&x);
	jit->used = (size_t)(x.at - jit->write);
	jit->begin = jit->used;
}

struct tsr_jit *tsr_jit_new(const struct tsr_simd *simd)
{
	const char *path = simd->name;
	struct tsr_jit *jit;

	if (strcmp(path, "avx512") && strcmp(path, "avx2"))
		return NULL;
	jit = calloc(1, sizeof(*jit));
	if (!jit)
		return NULL;
	if (!map_memory(jit)) {
		tsr_jit_free(jit);
		return NULL;
	}
	jit->pool.vector = aligned_alloc(64, POOL_WORDS * sizeof(union tsr_lanes));
	if (!jit->pool.vector) {
		tsr_jit_free(jit);
		return NULL;
	}
	jit->wide = !strcmp(path, "avx512");
	jit->pool.max = POOL_WORDS;
	emit_frame(jit);
	return jit;
}

void tsr_jit_free(struct tsr_jit *jit)
{
	if (!jit)
		return;
	unmap(jit->write);
	unmap(jit->execute);
	free(jit->pool.vector);
	free(jit);
}

void tsr_jit_forget(struct tsr_jit *jit)
{
	jit->used = jit->begin;
	jit->pool.used = 0;
}

void tsr_jit_run(const struct tsr_jit *jit, const void *code, struct tsr_lane_state *lanes)
{
	jit->enter(lanes, code);
}

/* ---- Clauses --------------------------------------------------------------------------------- */

struct compiler {
	struct tsr_jit *jit;
	struct tsr_decoded *clause;	/* the last one */
	struct tsr_x86 x;
	unsigned int items;		/* of jit->item */
	unsigned int warps;		/* all lanes of the first ones; 0: the chunks of a list */
	bool branched;			/* generated code has evaluated the branch */
	/* TSR_LANES_CLAUSE has been set to its, for functions */
	const struct tsr_decoded *konst;
	uint32_t live;			/* temporaries the message looks at */
};

_Static_assert(TSR_TEMP_PUSH <= 32, "temporaries are bits of a word");

/* Bit of a temporary that clauses write. */
static uint32_t temp_bit(const struct tsr_operand *o)
{
	const unsigned int n = o->index / TSR_BUNDLE_WARPS;

	return o->space == TSR_LANES_TEMP && o->step && n < TSR_TEMP_PUSH ? 1u << n : 0;
}

static uint32_t temps_of(const struct tsr_operand *o, unsigned int count)
{
	uint32_t bits = 0;

	for (unsigned int i = 0; i < count; i++)
		bits |= temp_bit(&o[i]);
	return bits;
}

static void add_items(struct compiler *c, struct tsr_decoded *d)
{
	for (unsigned int i = 0; i < d->uops; i++)
		c->jit->item[c->items++] = (struct item){ .uop = &d->uop[i], .clause = d };
	c->clause = d;
}

/*
 * Finds the live values after each item. After the last item, @regs are live, and the temporaries
 * that the last clause's message and branch read. Temporaries do not live across clauses.
 */
static void find_live(struct compiler *c, uint64_t regs)
{
	const struct tsr_decoded *last = c->clause;
	uint32_t temps;

	c->live = 0;
	if (last->flags & TSR_CLAUSE_MESSAGE)
		c->live = temps_of(last->msg.src, last->msg.srcs) |
			  temps_of(last->msg.pair, last->msg.pairs);
	temps = c->live;
	if (last->flags & TSR_CLAUSE_BRANCH)
		temps |= temps_of(last->branch->src, 4);
	for (unsigned int i = c->items; i-- > 0;) {
		struct item *item = &c->jit->item[i];
		const struct tsr_uop *uop = item->uop;

		if (item->clause != last)
			temps = 0;
		last = item->clause;
		item->regs = regs;
		item->temps = temps;
		temps &= ~temp_bit(&uop->dst);
		temps |= temps_of(uop->src, 4) | temps_of(uop->pair, 3);
		regs = (regs & ~tsr_uop_writes(uop)) | tsr_uop_reads(uop);
	}
}

/* Items from number @first on as nodes, at most to @end; how many have been taken. */
static unsigned int gather(struct compiler *c, unsigned int first, unsigned int end)
{
	struct tsr_segment *s = &c->jit->segment;
	unsigned int i = first;

	tsr_segment_init(s, c->jit->wide);
	for (; i < end && s->nodes < TSR_NODES_MAX - NODES_OF_ONE; i++) {
		s->clause = c->jit->item[i].clause;
		if (!tsr_segment_add(s, c->jit->item[i].uop))
			break;
	}
	return i - first;
}

/* True if generated code may evaluate the branch: it goes to one place, and not to the end. */
static bool branch_fits(const struct tsr_decoded *d)
{
	return d->flags & TSR_CLAUSE_BRANCH && d->jump_fixed && !d->jump_ends;
}

/* As many as registers are enough for in most programs: what is tried in vain costs time. */
#define SEGMENT_UOPS 64

/*
 * A segment from item @first on, with the branch if it comes to that; its length. When there are
 * not enough registers, the branch comes by itself; then half of the rest.
 */
static unsigned int emit_segment(struct compiler *c, unsigned int first)
{
	struct tsr_segment *s = &c->jit->segment;
	unsigned int last = c->items, count;
	unsigned int end = last - first < SEGMENT_UOPS ? last : first + SEGMENT_UOPS;
	bool branch = branch_fits(c->clause);

	for (;;) {
		count = gather(c, first, end);
		s->clause = c->clause;
		c->branched = branch && first + count == last &&
			      tsr_segment_add_branch(s, c->clause->branch);
		if (!count && !c->branched)
			return 0;
		if (count) {
			s->regs_written &= c->jit->item[first + count - 1].regs;
			s->temps_written &= c->branched ? c->live :
							  c->jit->item[first + count - 1].temps;
		}
		if (tsr_segment_emit(s, &c->x, &c->jit->pool, c->warps))
			return count;
		end = first + (c->branched ? count : count / 2);
		branch = false;
		c->branched = false;
	}
}

/* Emits a call of the function for an operation without a template, for all chunks. */
static void emit_call(struct compiler *c, const struct item *item)
{
	if (c->konst != item->clause) {
		tsr_x86_mov_imm(&c->x, TSR_RAX, (uintptr_t)item->clause->konst);
		tsr_x86_store(&c->x, 8, TSR_RAX, (enum tsr_gpr)TSR_JIT_STATE,
			      SPACE_AT(TSR_LANES_CLAUSE));
		c->konst = item->clause;
	}
	tsr_x86_vzeroupper(&c->x);
	tsr_x86_mov_imm(&c->x, TSR_RDI, (uintptr_t)item->uop);
	tsr_x86_mov(&c->x, TSR_RSI, (enum tsr_gpr)TSR_JIT_STATE);
	tsr_x86_mov_imm(&c->x, TSR_RAX, (uintptr_t)item->uop->fn);
	tsr_x86_call(&c->x, TSR_RAX);
}

static void emit_items(struct compiler *c)
{
	unsigned int i = 0;

	do {
		unsigned int count = emit_segment(c, i);

		if (!count && i < c->items) {
			emit_call(c, &c->jit->item[i]);
			count = 1;
		} else if (!count) {
			break;
		}
		i += count;
	} while (!c->branched && (i < c->items || branch_fits(c->clause)));
}

/* ---- From clause to clause ------------------------------------------------------------------- */

/*
 * A word the guest has a say in: from the clause, which is as long as its code, not as an immediate
 * of the code.
 */
static void load_word(struct compiler *c, enum tsr_gpr to, const uint64_t *word)
{
	tsr_x86_mov_imm(&c->x, to, (uintptr_t)word);
	tsr_x86_load(&c->x, 8, to, to, 0);
}

static void emit_leave(struct compiler *c, enum tsr_outcome outcome)
{
	tsr_x86_mov_imm(&c->x, TSR_RAX, (uintptr_t)c->clause);
	tsr_x86_mov_imm(&c->x, TSR_RDX, outcome);
	tsr_x86_jump_back(&c->x, TSR_X86_ALWAYS, c->jit->write + c->jit->leave);
}

/*
 * On to a successor: through @link, which leads to the core as long as nobody has been there. The
 * core is asked when something of the clause is left to do, when enough has been executed, and
 * where others wait.
 */
static void emit_edge(struct compiler *c, enum tsr_native_link link, enum tsr_outcome outcome)
{
	struct tsr_decoded *d = c->clause;
	struct tsr_native_code *code =
		&d->native[c->warps ? TSR_NATIVE_FULL : TSR_NATIVE_PART];
	const enum tsr_gpr state = (enum tsr_gpr)TSR_JIT_STATE;
	uint16_t look = d->flags & (TSR_CLAUSE_WAIT | TSR_CLAUSE_STAGING | TSR_CLAUSE_FRAGMENT);
	uint8_t *out[4];
	unsigned int outs = 0;

	if (!(d->flags & (TSR_CLAUSE_MESSAGE | TSR_CLAUSE_BARRIER | TSR_CLAUSE_END))) {
		if (look) {
			tsr_x86_test_memory(&c->x, state, STATE_AT(native.after), look);
			out[outs++] = tsr_x86_jump(&c->x, TSR_X86_NOT_EQUAL);
		}
		tsr_x86_alu_imm(&c->x, TSR_X86_GCMP, 4, (enum tsr_gpr)TSR_JIT_TUPLES, 0);
		out[outs++] = tsr_x86_jump(&c->x, TSR_X86_LESS_EQUAL);
		tsr_x86_alu_imm(&c->x, TSR_X86_GCMP, 4, (enum tsr_gpr)TSR_JIT_CLAUSES, 0);
		out[outs++] = tsr_x86_jump(&c->x, TSR_X86_LESS_EQUAL);
		load_word(c, TSR_RAX, link == TSR_NATIVE_JUMP ? &d->jump_pc : &d->next_pc);
		tsr_x86_cmp_memory(&c->x, state, STATE_AT(native.meet), TSR_RAX);
		out[outs++] = tsr_x86_jump(&c->x, TSR_X86_BELOW_EQUAL);
		tsr_x86_mov_imm(&c->x, TSR_RAX, (uintptr_t)&code->link[link]);
		tsr_x86_jump_memory(&c->x, TSR_RAX);
	}
	code->out[link] = executable(c->jit, c->x.at);
	code->link[link] = code->out[link];
	for (unsigned int i = 0; i < outs; i++)
		tsr_x86_here(&c->x, out[i]);
	emit_leave(c, outcome);
}

/* Remember which registers the clause may have written. */
static void emit_written(struct compiler *c)
{
	const enum tsr_gpr state = (enum tsr_gpr)TSR_JIT_STATE;

	if (!c->clause->written)
		return;
	load_word(c, TSR_RAX, &c->clause->written);
	tsr_x86_load(&c->x, 8, TSR_RDX, state, STATE_AT(native.written));
	tsr_x86_alu(&c->x, TSR_X86_GOR, 8, TSR_RDX, TSR_RAX);
	tsr_x86_store(&c->x, 8, TSR_RDX, state, STATE_AT(native.written));
}

static void emit_end(struct compiler *c)
{
	const struct tsr_decoded *d = c->clause;
	uint8_t *none, *all;

	emit_written(c);
	tsr_x86_alu_imm(&c->x, TSR_X86_GSUB, 4, (enum tsr_gpr)TSR_JIT_CLAUSES, 1);
	tsr_x86_alu_imm(&c->x, TSR_X86_GSUB, 4, (enum tsr_gpr)TSR_JIT_TUPLES, d->tuples);
	if (!(d->flags & TSR_CLAUSE_BRANCH)) {
		emit_edge(c, TSR_NATIVE_NEXT, TSR_OUTCOME_NONE);
		return;
	}
	if (!c->branched && branch_fits(d) && d->branch->insn->op == TSR_OP_ADD_JUMP) {
		emit_edge(c, TSR_NATIVE_JUMP, TSR_OUTCOME_ALL);
		return;
	}
	if (!c->branched) {
		emit_leave(c, TSR_OUTCOME_OPEN);
		return;
	}
	tsr_x86_alu_imm(&c->x, TSR_X86_GCMP, 4, (enum tsr_gpr)TSR_JIT_LEFT, 0);
	all = tsr_x86_jump(&c->x, TSR_X86_EQUAL);
	tsr_x86_alu_imm(&c->x, TSR_X86_GCMP, 4, (enum tsr_gpr)TSR_JIT_ANY, 0);
	none = tsr_x86_jump(&c->x, TSR_X86_EQUAL);
	emit_leave(c, TSR_OUTCOME_SOME);
	tsr_x86_here(&c->x, all);
	emit_edge(c, TSR_NATIVE_JUMP, TSR_OUTCOME_ALL);
	tsr_x86_here(&c->x, none);
	emit_edge(c, TSR_NATIVE_NEXT, TSR_OUTCOME_NONE);
}

static struct compiler begin(struct tsr_jit *jit, unsigned int warps, const void **code)
{
	struct compiler c = { .jit = jit, .x = writer(jit), .warps = warps };

	tsr_x86_align(&c.x, 32);
	*code = executable(jit, c.x.at);
	return c;
}

static bool finish(struct compiler *c)
{
	if (!c->x.full)
		c->jit->used = (size_t)(c->x.at - c->jit->write);
	return !c->x.full;
}

bool tsr_jit_compile(struct tsr_jit *jit, struct tsr_decoded *clause, enum tsr_native_kind kind)
{
	const void *code;
	struct compiler c = begin(jit, kind == TSR_NATIVE_FULL ? TSR_BUNDLE_WARPS : 0, &code);

	add_items(&c, clause);
	find_live(&c, UINT64_MAX);
	emit_items(&c);
	emit_end(&c);
	if (!finish(&c))
		return false;
	clause->native[kind].code = code;
	return true;
}

const void *tsr_jit_straight(struct tsr_jit *jit, struct tsr_decoded *const *clause,
			     unsigned int count, uint64_t live, unsigned int warps)
{
	const void *code;
	struct compiler c = begin(jit, warps, &code);

	for (unsigned int i = 0; i < count; i++)
		add_items(&c, clause[i]);
	find_live(&c, live);
	emit_items(&c);
	emit_leave(&c, c.branched ? TSR_OUTCOME_NONE : TSR_OUTCOME_OPEN);
	return finish(&c) ? code : NULL;
}

bool tsr_jit_loop(struct tsr_jit *jit, struct tsr_loop *loop)
{
	const void *code;
	struct compiler c = begin(jit, 1, &code);

	if (!tsr_loop_emit(&jit->segment, &c.x, &jit->pool, loop, jit->write + jit->leave))
		return true;
	if (finish(&c))
		loop->code = code;
	return loop->code;
}

#else

struct tsr_jit *tsr_jit_new(const struct tsr_simd *simd)
{
	(void)simd;
	return NULL;
}

void tsr_jit_free(struct tsr_jit *jit)
{
	(void)jit;
}

void tsr_jit_forget(struct tsr_jit *jit)
{
	(void)jit;
}

void tsr_jit_run(const struct tsr_jit *jit, const void *code, struct tsr_lane_state *lanes)
{
	(void)jit, (void)code, (void)lanes;
}

bool tsr_jit_compile(struct tsr_jit *jit, struct tsr_decoded *clause, enum tsr_native_kind kind)
{
	(void)jit, (void)clause, (void)kind;
	return false;
}

bool tsr_jit_loop(struct tsr_jit *jit, struct tsr_loop *loop)
{
	(void)jit, (void)loop;
	return true;
}

const void *tsr_jit_straight(struct tsr_jit *jit, struct tsr_decoded *const *clause,
			     unsigned int count, uint64_t live, unsigned int warps)
{
	(void)jit, (void)clause, (void)count, (void)live, (void)warps;
	return NULL;
}

#endif
