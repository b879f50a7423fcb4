// SPDX-License-Identifier: MIT
/* test: TIMEOUT=120 */
/*
 * Programs that do something wrong: the fence carries the right error, the record names the
 * instruction and the thread, and the work of another client goes on and comes out right.
 *
 * All programs are wrong in one thread only: local number 21 of group (2, 1, 0), which is lane 5 of
 * warp 1. The tuple at fault is known from the text. Atomics read before they write, so it is the
 * read that fails.
 */
#include "ct.h"
#include "tsr_packets.h"
#include "tsr_regs.h"

#include <errno.h>

#include <tessera/asm.h>

#define BAD_THREAD	21u
#define UNMAPPED	0x123456789000ull
#define NOWHERE		0x7fff0000u	/* likewise, in the 4 GiB of the programs */

static struct ct c;		/* the culprit */
static struct ct other;		/* another client with work of its own */

/* A faulty program and the expected results. */
struct wrong {
	const char *name;
	const char *text;	/* for the one thread; begins with its clause at fault */
	uint64_t va;		/* fault_va; 0: the clause */
	int error;		/* of the fence */
	uint32_t code;		/* enum tsr_fault */
	uint32_t tuple;
	bool add;
	uint32_t access;	/* of the VM's record; 0: none */
	uint32_t clause_limit;
};

/*
 * All threads but one of one group end; u0.w0 is the number of that group, u0.w1 that of the
 * thread. The rest of the group waits for nobody.
 */
#define ONE_THREAD \
	".local 40, 1, 1\n" \
	".group_memory 256\n" \
	".scratch 64\n" \
	"clause {\n" \
	"	*LSHIFT_OR.i32 t0, r58, r57, 8\n" \
	"	*NOP\n" \
	"	+IADD.s32 r0, t0, u0.w0\n" \
	"	+IADD.s32 t1, r55, u0.w1\n" \
	"	*LSHIFT_OR.i32 t0, r0, t1, 0\n" \
	"	*NOP\n" \
	"	+BRANCHZ.i32.ne t0, zero.w0\n" \
	"}\n"

static const struct wrong wrongs[] = {
	{ "[ISA14] an illegal instruction",
	  "clause unchecked { *NOP\n *NOP\n *.word 0x7fffff\n }\n",
	  0, -EINVAL, TSR_FAULT_SHADER_ENCODING, 2, false, 0, 0 },
	{ "[ISA14] garbage for a clause", ".quad 0xffffffffffffffff, 0xffffffffffffffff\n",
	  0, -EINVAL, TSR_FAULT_SHADER_ENCODING, 0, false, 0, 0 },
	{ "[ISA14] an instruction without public semantics",
	  "clause { *NOP\n +ICMPI.i32.eq t1, zero.w0, zero.w1\n }\n",
	  0, -EINVAL, TSR_FAULT_SHADER_UNSUPPORTED, 0, true, 0, 0 },
	{ "[MEM3] a load where nothing is mapped",
	  "clause slot=0 { *NOP\n *NOP\n +LOAD.i32 0x56789000, 0x1234, @r0\n }\n",
	  UNMAPPED, -EFAULT, TSR_FAULT_MMU_UNMAPPED, 1, true, DRM_TESSERA_BIND_READ, 0 },
	{ "[MEM3] a store where nothing is mapped",
	  "clause slot=0 { +STORE.i32 0x56789000, 0x1234, @r0\n }\n",
	  UNMAPPED, -EFAULT, TSR_FAULT_MMU_UNMAPPED, 0, true, DRM_TESSERA_BIND_WRITE, 0 },
	{ "[MEM3] an atomic where nothing is mapped",
	  "clause slot=0 { *ATOM_C1.i32.ainc 0x56789000, 0x1234\n"
	  " +ATOM_CX 0x56789000, 0x1234, 0x1234, @r0\n }\n",
	  UNMAPPED, -EFAULT, TSR_FAULT_MMU_UNMAPPED, 0, true, DRM_TESSERA_BIND_READ, 0 },
	{ "[MEM3] a jump to where nothing is mapped",
	  "clause { +JUMP u1.w0\n }\n",
	  0, -EFAULT, TSR_FAULT_MMU_UNMAPPED, 0, false, DRM_TESSERA_BIND_EXEC, 0 },
	{ "a misaligned load", "clause slot=0 { *NOP\n +LOAD.i32 0x56789002, 0x1234, @r0\n }\n",
	  UNMAPPED + 2, -EFAULT, TSR_FAULT_SHADER_ALIGNMENT, 0, true, 0, 0 },
	{ "[CS2] a store beyond group memory", "clause slot=0 { +STORE.i32.wls 256, 0, @r0\n }\n",
	  TSR_WINDOW_GROUP + 256, -EFAULT, TSR_FAULT_SHADER_BOUNDS, 0, true, 0, 0 },
	{ "a load beyond scratch", "clause slot=0 { +LOAD.i32.tl 64, 0, @r0\n }\n",
	  TSR_WINDOW_SCRATCH + 64, -EFAULT, TSR_FAULT_SHADER_BOUNDS, 0, true, 0, 0 },
	{ "[SYS10] an endless loop with a limit of clauses",
	  "again: clause { +JUMP again\n }\n",
	  0, -ETIMEDOUT, TSR_FAULT_SHADER_LIMIT, 0, false, 0, 5000 },
};

/* The other client's job: 12 rounds over 32000 numbers. */
enum { THREADS = 64 * 500, ROUNDS = 12 };
static struct tsr_alloc numbers;
static struct tsr_shader *work;

static void other_starts(void)
{
	struct tsr_storage storage = ct_storage(&numbers, 4);
	const struct tsr_dispatch_info d = { .shader = work, .groups = { THREADS / 64 },
					     .storage = &storage, .storage_count = 1 };
	unsigned int i;

	memset(numbers.cpu, 0, numbers.size);
	tsr_stream_reset(other.lt.stream);
	for (i = 0; i < ROUNDS; i++)
		LT_OK(tsr_cmd_dispatch(other.lt.stream, &d, sizeof(d)));
	LT_OK(ct_start(&other, other.lt.sync));
}

static void other_is_right(void)
{
	const uint32_t *got = numbers.cpu;
	unsigned int i, bad = 0;

	LT_OK(tsr_sync_finish(other.lt.sync, 0, LT_LONG));
	for (i = 0; i < THREADS; i++)
		bad += got[i] != ct_work(0, i, ROUNDS);
	ktap_eq(bad, 0);
	ktap_eq(ct_state(&other).state, 0);
}

static void check_record(const struct wrong *w, const struct drm_tessera_queue_get_state *state,
			 uint64_t clause, uint64_t jump)
{
	uint64_t at = w->va ? w->va : jump ? jump : clause;

	ktap_eq(state->state, DRM_TESSERA_QUEUE_BANNED | DRM_TESSERA_QUEUE_FAULTED);
	ktap_eq(state->error, -w->error);
	ktap_eq(state->fault_code, w->code);
	ktap_eq(state->fault_va, at);
	ktap_eq(state->fault_flags, DRM_TESSERA_QUEUE_FAULT_PROGRAM |
				    (w->add ? DRM_TESSERA_QUEUE_FAULT_ADD : 0));
	ktap_eq(state->fault_clause_va, jump ? jump : clause);
	ktap_eq(state->fault_tuple, w->tuple);
	ktap_eq(state->fault_lane, BAD_THREAD % 16);
	ktap_eq(state->fault_warp, BAD_THREAD / 16);
	ktap_ok(state->fault_core < c.shader->cores);
	ktap_eq(state->fault_group[0], 2);
	ktap_eq(state->fault_group[1], 1);
	ktap_eq(state->fault_group[2], 0);
	ktap_ok(state->fault_packet_va != 0);
}

/* The VM keeps a record of what the page tables refused, and of nothing else. */
static void check_vm(const struct wrong *w, uint64_t count_before, uint64_t va)
{
	struct drm_tessera_fault faults[DRM_TESSERA_FAULT_RECORDS];
	uint32_t count = DRM_TESSERA_FAULT_RECORDS;
	uint64_t total;

	LT_OK(tsr_vm_get_state(c.lt.vm, NULL, &total));
	ktap_eq(total, count_before + !!w->access);
	if (!w->access)
		return;
	LT_OK(tsr_vm_get_faults(c.lt.vm, faults, sizeof(faults[0]), &count));
	if (!ktap_ok(count > 0))
		return;
	ktap_eq(faults[count - 1].va, va & ~0xfffull);
	ktap_eq(faults[count - 1].access, w->access);
	ktap_eq(faults[count - 1].queue_id, tsr_queue_id(c.queue));
}

/* Bytes in front of the clause that is wrong. */
static uint64_t head_size(void)
{
	struct tsr_asm_shader *head;
	uint64_t size;

	lt_must("head", tsr_asm_assemble(ONE_THREAD, strlen(ONE_THREAD), 0, &head));
	size = head->size;
	tsr_asm_free(head);
	return size;
}

static void go_wrong(const void *arg)
{
	const struct wrong *w = arg;
	uint32_t push[4] = { -(2u + (1u << 8)), -BAD_THREAD, NOWHERE, 0 };
	struct tsr_dispatch_info d = { .groups = { 4, 3, 1 }, .push = push, .push_words = 4,
				       .clause_limit = w->clause_limit };
	struct drm_tessera_queue_get_state state;
	bool jumps = w->access == DRM_TESSERA_BIND_EXEC;
	uint64_t faults, clause, jump;
	char text[1200];

	snprintf(text, sizeof(text), "%s%sclause end { *NOP\n }\n", ONE_THREAD, w->text);
	d.shader = ct_program(&c, w->name, text);
	clause = tsr_shader_va(d.shader) + head_size();
	jump = jumps ? (clause & ~0xffffffffull) + NOWHERE : 0;
	LT_OK(tsr_scratch_create(c.lt.vm, 64, &d.scratch));
	LT_OK(tsr_vm_get_state(c.lt.vm, NULL, &faults));
	other_starts();
	ktap_eq(ct_run(&c, &d), w->error);
	state = ct_state(&c);
	check_record(w, &state, clause, jump);
	check_vm(w, faults, jumps ? jump : w->va);
	/* the queue is banned, a new one works */
	ktap_eq(ct_run(&c, &d), -ECANCELED);
	ct_new_queue(&c);
	other_is_right();
	tsr_scratch_unref(d.scratch);
	tsr_shader_unref(d.shader);
}

/* A compute state that is wrong is found before any thread runs. */
static void bad_states(void)
{
	struct tsr_alloc state = lt_data(&c.lt, 128, 0);
	struct tsr_compute_state good = { .code = tsr_shader_va(work), .local_x = 1, .local_y = 1,
					  .local_z = 1 }, bad;
	const struct {
		uint64_t offset;	/* of the state from an aligned address */
		uint32_t local_x, local_y;
		uint64_t code;
		uint32_t fault, qword;
	} rows[] = {
		{ 0, 0, 1, 0, TSR_FAULT_BAD_VALUE, 1 },
		{ 0, 1025, 1, 0, TSR_FAULT_BAD_VALUE, 1 },
		{ 0, 64, 64, 0, TSR_FAULT_BAD_VALUE, 1 },
		{ 0, 1, 1, 8, TSR_FAULT_ALIGNMENT, 0 },
	};
	struct drm_tessera_queue_get_state got;
	uint64_t *p;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tsr_dispatch packet = { .state = state.va, .groups_x = 1, .groups_y = 1,
					       .groups_z = 1 };

		bad = good;
		bad.local_x = rows[i].local_x;
		bad.local_y = rows[i].local_y;
		bad.code += rows[i].code;
		tsr_pack_compute_state(state.cpu, &bad);
		p = tsr_stream_emit(c.lt.stream, TSR_DISPATCH_QWORDS);
		tsr_pack_dispatch(p, &packet);
		ktap_eq(ct_finish(&c), -EINVAL);
		got = ct_state(&c);
		ktap_eq(got.fault_code, rows[i].fault);
		ktap_eq(got.fault_va, state.va + 8 * rows[i].qword);
		ktap_eq(got.fault_flags, 0);
		ktap_eq(got.fault_clause_va, 0);
		ct_new_queue(&c);
	}
	tsr_pool_free(c.lt.data, &state);
}

int main(int argc, char **argv)
{
	size_t i;

	ktap_start_args(argc, argv);
	c = ct_open();
	other = ct_open();
	numbers = lt_data(&other.lt, THREADS * 4, 0);
	work = ct_program(&other, "work", CT_WORK);
	for (i = 0; i < sizeof(wrongs) / sizeof(wrongs[0]); i++)
		ktap_run_arg(wrongs[i].name, go_wrong, &wrongs[i]);
	ktap_run("[CP3] a malformed compute state", bad_states);
	tsr_shader_unref(work);
	ct_close(&other);
	ct_close(&c);
	return ktap_finish();
}
