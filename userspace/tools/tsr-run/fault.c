// SPDX-License-Identifier: MIT
/* Faults for people, see fault.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "clause.h"
#include "compare.h"
#include "fault.h"

#define NEAR_BYTES	(1u << 20)	/* an address this far behind a buffer has to do with it */

static const char *access_name(unsigned int access)
{
	switch (access) {
	case TSR_ACCESS_READ:
		return "read of ";
	case TSR_ACCESS_WRITE:
		return "write to ";
	case TSR_ACCESS_EXEC:
		return "fetch from ";
	default:
		return "";
	}
}

/* Describes an address: in a buffer, after a buffer, or in a window. */
static void print_place(FILE *out, const struct machine *machine, uint64_t va)
{
	const struct region *r = script_region_at(machine->script, va, NEAR_BYTES);

	if (va >= TSR_WINDOW_GROUP && va < TSR_WINDOW_SCRATCH)
		fprintf(out, "group memory + 0x%" PRIx64 ", of 0x%x bytes",
			va - (uint64_t)TSR_WINDOW_GROUP, machine->script->group_memory);
	else if (va >= TSR_WINDOW_SCRATCH && va < 2 * TSR_WINDOW_SCRATCH)
		fprintf(out, "scratch + 0x%" PRIx64 ", of 0x%x bytes",
			va - (uint64_t)TSR_WINDOW_SCRATCH, machine->script->scratch);
	else if (!r)
		fprintf(out, "no buffer is near it");
	else if (va - r->va < r->size)
		fprintf(out, "%s+0x%" PRIx64 ", in buffer %s of 0x%" PRIx64 " bytes", r->name,
			va - r->va, r->name, r->size);
	else
		fprintf(out, "%s+0x%" PRIx64 ", 0x%" PRIx64 " bytes behind the end of %s", r->name,
			va - r->va, va - r->va - r->size, r->name);
}

/* Which thread of the grid it was. */
static void print_thread(FILE *out, const struct script *script, const struct outcome *o)
{
	uint32_t t = o->warp * TSR_WARP_LANES + o->lane, local[3];

	local[0] = t % script->local[0];
	local[1] = t / script->local[0] % script->local[1];
	local[2] = t / script->local[0] / script->local[1];
	fprintf(out, "  thread (%u, %u, %u) of group (%u, %u, %u), global (%u, %u, %u): "
		"lane %u of warp %u, on core %u\n", local[0], local[1], local[2],
		o->group[0], o->group[1], o->group[2],
		o->group[0] * script->local[0] + local[0],
		o->group[1] * script->local[1] + local[1],
		o->group[2] * script->local[2] + local[2], o->lane, o->warp, o->core);
}

/* The registers of @mask in the lane at fault. */
static void print_registers(FILE *out, const struct outcome *o, uint64_t mask)
{
	if (!mask || !o->caught)
		return;
	fprintf(out, "  in lane %u:\n", o->lane);
	for (unsigned int r = 0; r < MACHINE_REGISTERS; r++) {
		float f;

		if (!(mask >> r & 1))
			continue;
		memcpy(&f, &o->reg[r], sizeof(f));
		fprintf(out, "    r%-2u = 0x%08" PRIx32 "  %" PRId32 "  %g\n", r, o->reg[r],
			(int32_t)o->reg[r], (double)f);
	}
}

void fault_print(FILE *out, const struct machine *machine, const struct outcome *o)
{
	const struct script *script = machine->script;
	char where[LEX_TOKEN_MAX];
	uint64_t mask;

	fprintf(out, "fault %s: ", compare_fault_name(o->code));
	if (o->in_program || o->access) {
		fprintf(out, "%s0x%" PRIx64 " (", access_name(o->access), o->address);
		print_place(out, machine, o->address);
		fprintf(out, ")\n");
	} else {
		fprintf(out, "in the dispatch, at 0x%" PRIx64 "\n", o->address);
	}
	if (!o->in_program)
		return;
	fprintf(out, "  clause 0x%" PRIx64 " (%s), tuple %u, %s instruction\n", o->clause,
		script_where(script, o->clause, where, sizeof(where)), o->tuple,
		o->add ? "ADD" : "FMA");
	print_thread(out, script, o);
	mask = clause_print(out, script, o->clause, "    ", o->tuple, o->add);
	print_registers(out, o, mask);
}

void fault_see(struct outcome *outcome, const struct tsr_shader_view *view)
{
	unsigned int lane;

	if (view->when != TSR_SHADER_FAULT || outcome->caught)
		return;
	lane = (unsigned int)bench_field(view->fault_shader, TSR_QUEUE_FAULT_SHADER_LANE__MASK);
	for (unsigned int r = 0; r < MACHINE_REGISTERS; r++)
		outcome->reg[r] = tsr_shader_reg(view, r, lane);
	outcome->caught = true;
}

static void catch_hook(void *opaque, const struct tsr_shader_view *view)
{
	fault_see(opaque, view);
}

void fault_catch(const struct script *script, const struct machine_options *options,
		 struct outcome *outcome)
{
	struct machine_options alone = *options;
	struct outcome again = { 0 };
	char error[256];
	struct machine *machine;

	alone.threads = 0;
	machine = machine_new(script, &alone, error, sizeof(error));
	if (!machine)
		return;
	tsr_gpu_set_shader_hook(machine->bench->gpu, catch_hook, &again);
	machine_run(machine, &alone, &again);
	machine_free(machine);
	if (again.faulted && again.in_program)
		*outcome = again;
}
