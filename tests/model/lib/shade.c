/* SPDX-License-Identifier: MIT */
#include "shade.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tessera/asm.h>

static void fail(const char *what)
{
	fprintf(stderr, "shade: %s\n", what);
	abort();
}

static uint32_t encode(const struct shade_insn *in, enum tsr_isa_unit unit)
{
	struct tsr_insn insn = { .op = in->op, .form = TSR_FORM_ANY };
	uint32_t word;

	if (!in->op)
		insn.op = unit == TSR_ISA_FMA ? TSR_OP_FMA_NOP : TSR_OP_ADD_NOP;
	memcpy(insn.src, in->src, sizeof(insn.src));
	for (unsigned int i = 0; i < 3; i++) {
		if (in->mod[i].value)
			insn.mod[in->mod[i].mod] = in->mod[i].value;
	}
	if (tsr_ops[insn.op].unit != unit)
		fail("an instruction of the other unit");
	if (!tsr_insn_encode(&insn, &word)) {
		fprintf(stderr, "%s\n", tsr_ops[insn.op].name);
		fail("an instruction that cannot be encoded");
	}
	return word;
}

/* The mode of ports 2 and 3: read @p2, write FMA result to @wf, ADD result to @wa. */
static uint8_t mode_of(const struct shade_tuple *t, uint8_t wf, uint8_t wa, bool first)
{
	for (unsigned int i = 0; i < 32; i++) {
		const struct tsr_reg_mode *m = &tsr_reg_modes[i];
		bool fma3 = m->slot3 == TSR_PORT_WRITE && m->slot3_from == TSR_ISA_FMA;
		bool add3 = m->slot3 == TSR_PORT_WRITE && m->slot3_from == TSR_ISA_ADD;

		if (!m->valid || (first ? !m->first : !m->other) || m->slot3 > TSR_PORT_WRITE)
			continue;
		if ((m->slot2 == TSR_PORT_READ) != (t->p2 != 0))
			continue;
		if (m->slot2 > TSR_PORT_READ && m->slot2 != TSR_PORT_WRITE)
			continue;
		if ((m->slot2 == TSR_PORT_WRITE || fma3) != (wf != 0) || add3 != (wa != 0))
			continue;
		return i;
	}
	fail("these ports cannot be combined");
	return 0;
}

/* Ports 2 and 3, and the two that only read. */
static void registers(struct tsr_tuple *to, const struct shade_tuple *t, uint8_t wf, uint8_t wa,
		      bool first)
{
	to->mode = mode_of(t, wf, wa, first);
	to->read0 = t->p0;
	to->read1 = t->p1;
	to->port[0] = t->p0 ? t->p0 - 1 : 0;
	to->port[1] = t->p1 ? t->p1 - 1 : 0;
	if (t->p2)
		to->port[2] = t->p2 - 1;
	else if (tsr_reg_modes[to->mode].slot2 == TSR_PORT_WRITE)
		to->port[2] = wf - 1;
	if (wa)
		to->port[3] = wa - 1;
	else if (wf && tsr_reg_modes[to->mode].slot3 == TSR_PORT_WRITE)
		to->port[3] = wf - 1;
	else
		to->port[3] = to->port[2];
	if (!tsr_tuple_regs_encode(to, first))
		fail("registers that cannot be encoded");
}

/* The clause's constants, one for each tuple that has one. */
static void constants(struct shade_code *c, struct tsr_clause *to, const struct shade_clause *from)
{
	struct tsr_const konst[TSR_CLAUSE_TUPLES_MAX] = { { 0 } };
	uint8_t slot[TSR_CLAUSE_TUPLES_MAX], tuple[TSR_CLAUSE_TUPLES_MAX];
	unsigned int n = 0;

	for (unsigned int i = 0; i < to->tuples; i++) {
		const struct shade_tuple *t = &from->tuple[i];

		if (t->fau != SHADE_CONST) {
			to->tuple[i].fau = t->fau;
			continue;
		}
		konst[n] = (struct tsr_const){ .value = t->konst, .pcrel = t->pcrel };
		tuple[n++] = i;
	}
	if (tsr_clause_place_consts(to, konst, n, slot))
		fail("constants that cannot be placed");
	for (unsigned int i = 0; i < n; i++) {
		to->tuple[tuple[i]].fau = tsr_fau_const(slot[i]) | (konst[i].value & 15);
		if (!from->tuple[tuple[i]].label)
			continue;
		c->fix[c->fixes].at = c->size;
		c->fix[c->fixes].konst = slot[i];
		c->fix[c->fixes++].label = from->tuple[tuple[i]].label;
	}
}

static void pack(const struct tsr_clause *clause, uint8_t *to, size_t *len)
{
	enum tsr_isa_error error = tsr_clause_pack(clause, to, len);

	if (error)
		fail(tsr_isa_error_text(error));
}

uint32_t shade_clause(struct shade_code *c, const struct shade_clause *from)
{
	struct tsr_clause clause = {
		.flow = from->flow, .wait = from->wait, .slot = from->slot,
		.message = from->message, .staging_reg = from->staging,
		.staging_barrier = from->staging_barrier, .ftz = from->ftz,
		.tuples = from->tuples ? from->tuples : 1,
	};
	uint32_t at = c->size;
	unsigned int fixes = c->fixes;
	size_t len;

	constants(c, &clause, from);
	for (unsigned int i = 0; i < clause.tuples; i++) {
		const struct shade_tuple *t = &from->tuple[i];
		const struct shade_tuple *before =
			&from->tuple[i ? i - 1 : clause.tuples - 1u];

		clause.tuple[i].fma = encode(&t->fma, TSR_ISA_FMA);
		clause.tuple[i].add = encode(&t->add, TSR_ISA_ADD);
		registers(&clause.tuple[i], t, before->wf, before->wa, !i);
	}
	pack(&clause, c->bytes + c->size, &len);
	for (; fixes < c->fixes; fixes++)
		c->fix[fixes].clause = clause;
	if (from->label)
		c->label[from->label] = at + 1;
	c->size += len;
	return at;
}

void shade_finish(struct shade_code *c)
{
	for (unsigned int i = 0; i < c->fixes; i++) {
		struct tsr_clause *clause = &c->fix[i].clause;
		uint32_t distance;
		size_t len;

		if (!c->label[c->fix[i].label])
			fail("a label that stands nowhere");
		distance = (c->label[c->fix[i].label] - 1 - c->fix[i].at) & 0xfffffff;
		clause->konst[c->fix[i].konst] =
			(clause->konst[c->fix[i].konst] & 0xf0000000ffffffff) |
			(uint64_t)distance << 32;
		pack(clause, c->bytes + c->fix[i].at, &len);
	}
	c->fixes = 0;
}

void shade_text(struct shade_code *c, const char *text)
{
	struct tsr_asm_shader *program;

	if (tsr_asm_assemble(text, strlen(text), 0, &program)) {
		tsr_asm_print_diagnostics(stderr, program, "program");
		fail(text);
	}
	for (uint32_t i = 0; i < program->num_diagnostics; i++) {
		/* Programs that are wrong on purpose have no last clause. */
		if (!strstr(program->diagnostics[i].text, "last clause"))
			fail(program->diagnostics[i].text);
	}
	if (c->size + program->size > sizeof(c->bytes))
		fail("a program that is too long");
	memcpy(c->bytes + c->size, program->code, program->size);
	c->size += program->size;
	tsr_asm_free(program);
}

static uint8_t *at(struct stage *s, uint64_t va)
{
	return s->streams + (va - STAGE_STREAM);
}

uint64_t shade_add(struct stage_stream *stream, const struct shade_dispatch *d)
{
	struct tsr_compute_state state = d->state;
	struct stage *s = stream->s;
	uint64_t word[TSR_COMPUTE_STATE__QWORDS], p[8];
	struct tsr_dispatch dispatch = {
		.state = SHADE_STATE + d->at,
		.groups_x = d->groups[0] ? d->groups[0] : 1,
		.groups_y = d->groups[1] ? d->groups[1] : 1,
		.groups_z = d->groups[2] ? d->groups[2] : 1,
	};

	if (!state.code)
		state.code = d->code_va ? d->code_va : SHADE_CODE + d->at;
	state.local_x = state.local_x ? state.local_x : 1;
	state.local_y = state.local_y ? state.local_y : 1;
	state.local_z = state.local_z ? state.local_z : 1;
	if (!state.push) {
		state.push = SHADE_PUSH + d->at;
		state.push_words = 64;
	}
	if (!state.scratch)
		state.scratch = SHADE_SCRATCH;
	if (d->code)
		memcpy(at(s, SHADE_CODE + d->at), d->code->bytes, d->code->size);
	memcpy(at(s, SHADE_PUSH + d->at), d->push, 64 * sizeof(d->push[0]));
	tsr_pack_compute_state(word, &state);
	memcpy(at(s, SHADE_STATE + d->at), word, sizeof(word));
	tsr_pack_dispatch(p, &dispatch);
	return stage_add(stream, p, TSR_DISPATCH_QWORDS);
}

uint64_t shade_call(struct stage *s, struct bench_queue *q, const struct shade_dispatch *d)
{
	struct stage_stream stream = stage_stream(s, d->at / 16);
	uint64_t pc = shade_add(&stream, d);

	stage_call(q, &stream);
	return pc;
}

void shade_init(struct shade_machine *m, const struct tsr_config *config)
{
	stage_init(&m->s, config);
	stage_queue(&m->s, &m->q, 2, TSR_ENGINE_CLASS_COMPUTE, TSR_PRIORITY_NORMAL);
}

void shade_free(struct shade_machine *m)
{
	stage_free(&m->s);
}

bool shade_run(struct shade_machine *m, struct shade_dispatch *d)
{
	shade_push64(d->push, 0, STAGE_DATA);
	if (!d->push[2])
		shade_push64(d->push, 1, STAGE_DATA + 0x10000);
	shade_call(&m->s, &m->q, d);
	bench_kick(&m->q);
	return bench_run(m->s.b, 20) && bench_state(&m->q) == TSR_QUEUE_STATE_IDLE;
}

bool shade_run_text(const struct tsr_config *config, const char *text, uint32_t local,
		    uint32_t groups, void (*check)(struct shade_machine *m))
{
	static struct shade_code code;
	struct shade_dispatch d = {
		.code = &code,
		.state = { .local_x = local, .group_memory = 32 << 10, .scratch_size = 16 },
		.groups = { groups },
	};
	struct shade_machine m;
	bool over;

	memset(&code, 0, sizeof(code));
	shade_text(&code, text);
	shade_init(&m, config);
	over = shade_run(&m, &d);
	if (over && check)
		check(&m);
	shade_free(&m);
	return over;
}

uint64_t shade_counter(struct shade_machine *m, enum tsr_queue_counter id)
{
	return bench_queue_reg64(&m->q,
				 TSR_QUEUE_COUNTER__OFFSET + id * TSR_QUEUE_COUNTER__STRIDE);
}
