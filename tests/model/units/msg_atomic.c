/* SPDX-License-Identifier: MIT */
/*
 * test: TIMEOUT=240
 *
 * Atomic instructions: every operation against arithmetic written out here, what lanes and threads
 * do to one word, and that nothing is ever done twice.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "ktap.h"
#include "rnd.h"
#include "units.h"

static struct units *u;
/* ---- The reference --------------------------------------------------------------------------- */

static uint64_t want_new(unsigned int op, bool wide, uint64_t old, uint64_t v)
{
	int64_t so = wide ? (int64_t)old : (int32_t)old;
	int64_t sv = wide ? (int64_t)v : (int32_t)v;

	if (!wide) {
		old = (uint32_t)old;
		v = (uint32_t)v;
	}
	switch (op) {
	case TSR_ATOM_OPC_AADD:
	case TSR_ATOM_OPC_AADDU:
	case TSR_ATOM_OPC_AADDS:
		return old + v;
	case TSR_ATOM_OPC_ASMIN:
		return so < sv ? old : v;
	case TSR_ATOM_OPC_ASMAX:
		return so > sv ? old : v;
	case TSR_ATOM_OPC_AUMIN:
		return old < v ? old : v;
	case TSR_ATOM_OPC_AUMAX:
		return old > v ? old : v;
	case TSR_ATOM_OPC_AAND:
		return old & v;
	case TSR_ATOM_OPC_AOR:
		return old | v;
	case TSR_ATOM_OPC_AXOR:
		return old ^ v;
	case TSR_ATOM_OPC_AINC:
		return old + 1;
	case TSR_ATOM_OPC_ADEC:
		return old - 1;
	case TSR_ATOM_OPC_AUMAX1:
		return old > 1 ? old : 1;
	case TSR_ATOM_OPC_ASMAX1:
		return so > 1 ? old : 1;
	default:
		return old | 1;
	}
}

static const struct operation {
	unsigned int fma;
	bool wide, returns, one;
} operations[] = {
	{ TSR_OP_FMA_ATOM_C_I32, false, false, false },
	{ TSR_OP_FMA_ATOM_C_RETURN_I32, false, true, false },
	{ TSR_OP_FMA_ATOM_C1_I32, false, false, true },
	{ TSR_OP_FMA_ATOM_C1_RETURN_I32, false, true, true },
	{ TSR_OP_FMA_ATOM_C_I64, true, false, false },
	{ TSR_OP_FMA_ATOM_C_RETURN_I64, true, true, false },
	{ TSR_OP_FMA_ATOM_C1_I64, true, false, true },
	{ TSR_OP_FMA_ATOM_C1_RETURN_I64, true, true, true },
};

#define OPERATIONS (sizeof(operations) / sizeof(operations[0]))

static uint64_t get(const uint8_t *p, bool wide)
{
	uint64_t v = 0;

	memcpy(&v, p, wide ? 8 : 4);
	return v;
}

/* Values that show mistakes in signs and widths. */
static uint64_t interesting(void)
{
	static const uint64_t v[] = {
		0, 1, 2, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, 0x7fffffffffffffff,
		0x8000000000000000, UINT64_MAX, 0x123456789abcdef0,
	};

	return rnd() % 3 ? v[rnd() % 11] : rnd() * 0x100000001ull * rnd();
}

static void address(unsigned int lane, uint64_t va)
{
	units_address(u, lane, va);
}

/* One message, checked lane by lane in ascending order against the bytes at @mem. */
static bool check_message(const struct operation *o, unsigned int op, uint8_t *mem,
			  const uint32_t at[16], uint16_t lanes, bool nothing)
{
	static uint8_t want[0x1000];
	union tsr_lanes before[4];
	const unsigned int s = 40;

	units_insn(u, TSR_OP_ADD_ATOM_CX);
	units_pair(u, o->fma);
	u->pair_insn.mod[TSR_MOD_ATOM_OPC] = op;
	for (unsigned int l = 0; l < 16; l++) {
		uint64_t v = interesting();

		units_reg(u, s)->u[l] = v;
		units_reg(u, s + 1)->u[l] = v >> 32;
		units_reg(u, s + 2)->u[l] = 0xaaaa0000 + l;
		units_reg(u, s + 3)->u[l] = 0xbbbb0000 + l;
	}
	for (unsigned int w = 0; w < 4; w++)
		before[w] = *units_reg(u, s + w);
	memcpy(want, mem, sizeof(want));
	if (!ktap_eq(units_finish(u, s, lanes, NULL), TSR_STEP_DONE))
		return false;
	for (unsigned int l = 0; l < 16; l++) {
		uint64_t v = before[0].u[l] | (uint64_t)before[1].u[l] << 32;
		uint64_t old = nothing ? 0 : get(want + at[l], o->wide);
		uint64_t now;
		uint64_t got = units_reg(u, s)->u[l];
		/* what ATOM_POST combines the old value with */
		uint64_t other = units_reg(u, s + 1)->u[l];

		if (!(lanes >> l & 1)) {
			ktap_eq(got, before[0].u[l]);
			continue;
		}
		if (op == TSR_ATOM_OPC_AADDU)
			v = (uint32_t)v;
		if (op == TSR_ATOM_OPC_AADDS)
			v = (uint64_t)(int32_t)v;
		now = want_new(op, o->wide, old, v);
		if (!nothing)
			memcpy(want + at[l], &now, o->wide ? 8 : 4);
		if (o->wide) {
			got |= other << 32;
			other = units_reg(u, s + 2)->u[l] |
				(uint64_t)units_reg(u, s + 3)->u[l] << 32;
		}
		if (!o->returns) {
			ktap_eq(units_reg(u, s)->u[l], before[0].u[l]);
			continue;
		}
		if (!ktap_eq(got, old) ||
		    (!o->one && !ktap_eq(o->wide ? want_new(op, true, old, other)
						 : (uint32_t)want_new(op, false, old, other),
					 old)))
			return false;
	}
	return ktap_mem_eq(mem, want, sizeof(want));
}

static bool defined(const struct operation *o, unsigned int op)
{
	bool one = op >= TSR_ATOM_OPC_AINC;
	bool half = op == TSR_ATOM_OPC_AADDU || op == TSR_ATOM_OPC_AADDS;

	return one == o->one && (o->wide || !half);
}

/* @window 0: device memory, else shared memory or the void. */
static void all_operations(uint64_t base, uint8_t *mem, bool nothing)
{
	for (unsigned int n = 0; n < OPERATIONS * 15 * 12; n++) {
		const struct operation *o = &operations[n % OPERATIONS];
		unsigned int op = n / OPERATIONS % 15;
		unsigned int shape = n / OPERATIONS / 15 % 4;
		uint16_t lanes = rnd() % 2 ? UNITS_ALL_LANES : rnd();
		uint32_t at[16];

		if (!defined(o, op))
			continue;
		for (unsigned int l = 0; l < 16; l++) {
			/* one word; one each; some words, several lanes on each */
			at[l] = shape == 0 ? 0x80 : shape == 1 ? 8 * l : rnd() % 6 * 8 + 0x100;
			address(l, base + at[l]);
		}
		for (unsigned int i = 0; i < 0x200; i += 8) {
			uint64_t v = interesting();

			memcpy(mem + i, &v, 8);
		}
		if (!check_message(o, op, mem, at, lanes, nothing)) {
			ktap_note("instruction %s operation %u", tsr_ops[o->fma].name, op);
			return;
		}
	}
}

static void test_device(void)
{
	all_operations(UNITS_DATA + 0x1000, u->data + 0x1000, false);
}

static void test_group(void)
{
	all_operations(TSR_WINDOW_GROUP, u->group, false);
}

static void test_void(void)
{
	all_operations(TSR_WINDOW_VOID + 0x40000000, u->data, true);
	bench_map(&u->as, 0x30000000, 0, 4096, BENCH_RW | TSR_PTE_NULL__MASK);
	all_operations(0x30000000, u->data, true);
}

static void test_scratch(void)
{
	/* each lane has its own, also at the same address */
	units_insn(u, TSR_OP_ADD_ATOM_CX);
	units_pair(u, TSR_OP_FMA_ATOM_C_RETURN_I32);
	u->pair_insn.mod[TSR_MOD_ATOM_OPC] = TSR_ATOM_OPC_AADD;
	for (unsigned int l = 0; l < 16; l++) {
		uint32_t v = 100 * l;

		memcpy(u->data + 0x20000 + l * UNITS_SCRATCH_SIZE + 16, &v, 4);
		address(l, TSR_WINDOW_SCRATCH + 16);
		units_reg(u, 2)->u[l] = l + 1;
	}
	ktap_eq(units_run(u, 2, UNITS_ALL_LANES), TSR_STEP_DONE);
	for (unsigned int l = 0; l < 16; l++) {
		ktap_eq(units_reg(u, 2)->u[l], 100 * l);
		ktap_eq(get(u->data + 0x20000 + l * UNITS_SCRATCH_SIZE + 16, false), 101 * l + 1);
	}
}

/* AXCHG, ACMPXCHG and ACMPSTORE; @seg: wls, whose addresses are offsets. */
static void exchange(bool wide, bool seg, unsigned int kind)
{
	static const unsigned int op[3][2] = {
		{ TSR_OP_ADD_AXCHG_I32, TSR_OP_ADD_AXCHG_I64 },
		{ TSR_OP_ADD_ACMPXCHG_I32, TSR_OP_ADD_ACMPXCHG_I64 },
		{ TSR_OP_ADD_ACMPSTORE_I32, TSR_OP_ADD_ACMPSTORE_I64 },
	};
	uint8_t *mem = seg ? u->group : u->data + 0x1000;
	unsigned int width = wide ? 2 : 1, s = 61;	/* the registers wrap */
	uint64_t want[4];

	for (unsigned int i = 0; i < 4; i++) {
		want[i] = wide ? interesting() : (uint32_t)interesting();
		memcpy(mem + 8 * i, &want[i], 8);
	}
	units_insn(u, op[kind][wide]);
	u->insn.mod[TSR_MOD_SEG] = seg ? TSR_SEG_WLS : TSR_SEG_NONE;
	for (unsigned int l = 0; l < 16; l++) {
		/* half of the comparisons hold, as far as earlier lanes let them */
		uint64_t cmp = rnd() % 2 ? want[l % 4] : interesting();

		address(l, seg ? 8 * (l % 4) : UNITS_DATA + 0x1000 + 8 * (l % 4));
		units_reg(u, s)->u[l] = 0xc0000000 + l;
		units_reg(u, (s + 1) % 64)->u[l] = 0xd0000000 + l;
		for (unsigned int w = 0; w < width && kind; w++)
			units_reg(u, (s + width + w) % 64)->u[l] = cmp >> 32 * w;
	}
	for (unsigned int l = 0; l < 16; l++) {
		uint64_t value = 0xc0000000 + l, cmp = 0, old = want[l % 4], got;

		if (wide)
			value |= (uint64_t)units_reg(u, (s + 1) % 64)->u[l] << 32;
		for (unsigned int w = 0; w < width; w++)
			cmp |= (uint64_t)units_reg(u, (s + width + w) % 64)->u[l] << 32 * w;
		if (!kind || old == cmp)
			want[l % 4] = value;
		ktap_eq(units_run(u, s, 1 << l), TSR_STEP_DONE);
		got = units_reg(u, s)->u[l];
		if (wide)
			got |= (uint64_t)units_reg(u, (s + 1) % 64)->u[l] << 32;
		ktap_eq(got, kind == 2 ? value : old);
	}
	for (unsigned int i = 0; i < 4; i++)
		ktap_eq(get(mem + 8 * i, wide), want[i]);
}

static void test_exchange(void)
{
	for (unsigned int n = 0; n < 240; n++)
		exchange(n % 2, n / 2 % 2, n / 4 % 3);
}

static void test_faults(void)
{
	units_insn(u, TSR_OP_ADD_ATOM_CX);
	units_pair(u, TSR_OP_FMA_ATOM_C_I64);
	for (unsigned int l = 0; l < 16; l++)
		address(l, UNITS_DATA + 8 * l);
	address(6, UNITS_DATA + 0x104);
	ktap_eq(units_run(u, 2, UNITS_ALL_LANES), TSR_STEP_FAULT);
	units_fault_is(u, TSR_FAULT_SHADER_ALIGNMENT, UNITS_DATA + 0x104, 6);
	ktap_eq(u->mem.fault.unit, TSR_UNIT_ATOMIC);
	address(6, TSR_WINDOW_GROUP + UNITS_GROUP_BYTES);
	ktap_eq(units_run(u, 2, UNITS_ALL_LANES), TSR_STEP_FAULT);
	units_fault_is(u, TSR_FAULT_SHADER_BOUNDS, TSR_WINDOW_GROUP + UNITS_GROUP_BYTES, 6);
	address(6, UNITS_DATA + UNITS_DATA_SIZE);
	ktap_eq(units_run(u, 2, UNITS_ALL_LANES), TSR_STEP_FAULT);
	units_fault_is(u, TSR_FAULT_MMU_UNMAPPED, UNITS_DATA + UNITS_DATA_SIZE, 6);
	address(6, UNITS_TABLES);
	ktap_eq(units_run(u, 2, UNITS_ALL_LANES), TSR_STEP_FAULT);
	units_fault_is(u, TSR_FAULT_MMU_PERMISSION, UNITS_TABLES, 6);
	/* lanes of one word, all at fault: the first is named */
	for (unsigned int l = 0; l < 16; l++)
		address(l, UNITS_DATA + UNITS_DATA_SIZE + 0x40);
	ktap_eq(units_run(u, 2, 0xfff0), TSR_STEP_FAULT);
	units_fault_is(u, TSR_FAULT_MMU_UNMAPPED, UNITS_DATA + UNITS_DATA_SIZE + 0x40, 4);
	/* the operation is missing */
	u->paired = false;
	ktap_eq(units_run(u, 2, 0xfff0), TSR_STEP_FAULT);
	ktap_eq(u->mem.fault.code, TSR_FAULT_SHADER_ENCODING);
}

static void test_pending(void)
{
	uint32_t sum[16] = { 0 };
	unsigned int times = 0;

	memset(u->data, 0, UNITS_DATA_SIZE);
	for (unsigned int n = 0; n < 64; n++) {
		uint16_t lanes = n % 2 ? UNITS_ALL_LANES : rnd();

		memset(u->b->asked, 0, sizeof(u->b->asked));
		u->b->pending_every = 1 + n % 3;
		tsr_tlb_clear(&u->mem.port->tlb);
		units_stop(u);
		units_insn(u, TSR_OP_ADD_ATOM_CX);
		units_pair(u, TSR_OP_FMA_ATOM_C_RETURN_I32);
		u->pair_insn.mod[TSR_MOD_ATOM_OPC] = TSR_ATOM_OPC_AADD;
		for (unsigned int l = 0; l < 16; l++) {
			address(l, UNITS_DATA + l * 4096);
			units_reg(u, 2)->u[l] = n + l;
		}
		ktap_eq(units_finish(u, 2, lanes, &times), TSR_STEP_DONE);
		for (unsigned int l = 0; l < 16; l++) {
			if (!(lanes >> l & 1))
				continue;
			ktap_eq(units_reg(u, 2)->u[l], sum[l]);
			sum[l] += n + l;
			ktap_eq(get(u->data + l * 4096, false), sum[l]);
		}
	}
	ktap_ok(times > 100);
	u->b->pending_every = 0;
}

/* ---- Threads --------------------------------------------------------------------------------- */

#define THREADS 8
#define ROUNDS 400

static struct job {
	pthread_t thread;
	struct units *u;
	uint32_t number;
} jobs[THREADS];

/* Where: a counter, a 64-bit sum, an xor word, a maximum, a list of numbers drawn, a CAS sum. */
#define COUNTER 0x9000
#define SUM 0x9008
#define XOR 0x9010
#define MAX 0x9014
#define CAS 0x9020
#define DRAWN 0x10000

static void add(struct units *w, uint32_t offset, unsigned int fma, unsigned int op)
{
	units_insn(w, TSR_OP_ADD_ATOM_CX);
	units_pair(w, fma);
	w->pair_insn.mod[TSR_MOD_ATOM_OPC] = op;
	for (unsigned int l = 0; l < 16; l++)
		units_address(w, l, UNITS_DATA + offset);
	if (units_run(w, 2, UNITS_ALL_LANES) != TSR_STEP_DONE)
		abort();
}

/* Each lane writes its number into the list, where the counter told it to: an append buffer. */
static void append(struct units *w, uint32_t round, uint32_t number)
{
	union tsr_lanes place;

	add(w, COUNTER, TSR_OP_FMA_ATOM_C1_RETURN_I32, TSR_ATOM_OPC_AINC);
	place = *units_reg(w, 2);
	units_insn(w, TSR_OP_ADD_STORE_I32);
	for (unsigned int l = 0; l < 16; l++) {
		units_address(w, l, UNITS_DATA + DRAWN + 4 * (place.u[l] % 0x4000));
		units_reg(w, 2)->u[l] = (number * ROUNDS + round) * 16 + l + 1;
	}
	if (units_run(w, 2, UNITS_ALL_LANES) != TSR_STEP_DONE)
		abort();
}

static void cas_add(struct units *w)
{
	uint16_t todo = 0x0f0f;

	for (unsigned int l = 0; l < 16; l++) {
		units_address(w, l, UNITS_DATA + CAS);
		units_reg(w, 10)->u[l] = 1;
		units_reg(w, 11)->u[l] = 0;
	}
	units_insn(w, TSR_OP_ADD_ACMPXCHG_I32);
	while (todo) {
		if (units_run(w, 10, todo) != TSR_STEP_DONE)
			abort();
		for (unsigned int l = 0; l < 16; l++) {
			uint32_t old = units_reg(w, 10)->u[l];

			if (!(todo >> l & 1))
				continue;
			if (old == units_reg(w, 11)->u[l])
				todo &= ~(1 << l);
			units_reg(w, 10)->u[l] = old + 1;
			units_reg(w, 11)->u[l] = old;
		}
	}
}

static void *work(void *arg)
{
	struct job *job = arg;
	struct units *w = job->u;

	for (uint32_t round = 0; round < ROUNDS; round++) {
		append(w, round, job->number);
		for (unsigned int l = 0; l < 16; l++) {
			units_reg(w, 2)->u[l] = 0xffffff00 + l;
			units_reg(w, 3)->u[l] = 1;
		}
		add(w, SUM, TSR_OP_FMA_ATOM_C_I64, TSR_ATOM_OPC_AADD);
		for (unsigned int l = 0; l < 16; l++)
			units_reg(w, 2)->u[l] = (job->number * ROUNDS + round) * 16 + l;
		add(w, XOR, TSR_OP_FMA_ATOM_C_I32, TSR_ATOM_OPC_AXOR);
		add(w, MAX, TSR_OP_FMA_ATOM_C_I32, TSR_ATOM_OPC_AUMAX);
		cas_add(w);
		units_stop(w);
	}
	return NULL;
}

static void test_threads(void)
{
	const uint64_t n = THREADS * ROUNDS * 16;
	struct units *home = u;
	uint64_t sum = 0;
	uint32_t xor = 0;
	static bool seen[THREADS * ROUNDS * 16 + 1];

	u = units_new(THREADS);
	for (unsigned int i = 0; i < THREADS; i++) {
		jobs[i].number = i;
		jobs[i].u = units_share(u, i + 1);
	}
	for (unsigned int i = 0; i < THREADS; i++)
		ktap_eq(pthread_create(&jobs[i].thread, NULL, work, &jobs[i]), 0);
	for (unsigned int i = 0; i < THREADS; i++)
		ktap_eq(pthread_join(jobs[i].thread, NULL), 0);
	for (uint32_t i = 0; i < n; i++) {
		sum += 0x1ffffff00 + i % 16;
		xor ^= i;
	}
	ktap_eq(get(u->data + COUNTER, false), n);
	ktap_eq(get(u->data + SUM, true), sum);
	ktap_eq(get(u->data + XOR, false), xor);
	ktap_eq(get(u->data + MAX, false), n - 1);
	ktap_eq(get(u->data + CAS, false), THREADS * ROUNDS * 8);
	/* the last 0x4000 places of the list hold that many different numbers, none torn or lost */
	for (uint32_t i = 0; i < 0x4000; i++) {
		uint32_t number = get(u->data + DRAWN + 4 * i, false);

		if (!ktap_ok(number >= 1 && number <= n && !seen[number]))
			break;
		seen[number] = true;
	}
	for (unsigned int i = 0; i < THREADS; i++)
		units_free(jobs[i].u);
	units_free(u);
	u = home;
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	u = units_new(0);
	ktap_run("[CS3] operations on device memory, 32 and 64 bits", test_device);
	ktap_run("[CS3] operations on group memory", test_group);
	ktap_run("in the void and on NULL pages atomics return 0", test_void);
	ktap_run("scratch is each lane's own", test_scratch);
	ktap_run("[CS3] exchange and compare-exchange, 32 and 64 bits", test_exchange);
	ktap_run("faults name lane and address", test_faults);
	ktap_run("pending translations never repeat an operation", test_pending);
	ktap_run("[CS4] eight threads: exact sums, every counter value drawn once", test_threads);
	units_free(u);
	return ktap_finish();
}
