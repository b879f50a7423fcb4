// SPDX-License-Identifier: MIT
/* One shader file, executed and reported on, see execute.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "fault.h"
#include "matrix.h"
#include "execute.h"

/* An address as --break has it: a number, a label or buffer, one of them and an offset. */
static bool break_address(const struct script *script, const char *where, uint64_t *va)
{
	char name[LEX_TOKEN_MAX];
	const char *plus = strchr(where, '+');
	const struct region *r;
	char *end;

	*va = strtoull(where, &end, 0);
	if (*where && !*end)
		return true;
	snprintf(name, sizeof(name), "%.*s", plus ? (int)(plus - where) : (int)strlen(where),
		 where);
	*va = plus ? strtoull(plus + 1, NULL, 0) : 0;
	for (size_t i = 0; i < script->labels; i++) {
		if (!strcmp(script->label[i].name, name)) {
			*va += script->label[i].va;
			return true;
		}
	}
	r = script_region(script, name);
	if (r)
		*va += r->va;
	return r;
}

static void print_dump(FILE *out, const struct region *r, const uint8_t *data)
{
	fprintf(out, "%s:\n", r->name);
	for (uint64_t i = 0; i < r->size; i += 4) {
		uint32_t word = 0;
		float f;

		memcpy(&word, data + i, r->size - i < 4 ? r->size - i : 4);
		memcpy(&f, &word, sizeof(f));
		fprintf(out, "  +0x%04" PRIx64 "  0x%08" PRIx32 "  %11" PRId32 "  %g\n", i, word,
			(int32_t)word, (double)f);
	}
}

static bool write_dump(FILE *out, const char *path, const uint8_t *data, uint64_t size)
{
	FILE *f = fopen(path, "wb");
	bool ok = f && fwrite(data, 1, size, f) == size;

	if (f && fclose(f))
		ok = false;
	if (!ok)
		fprintf(out, "%s cannot be written\n", path);
	return ok;
}

/* --dump, of all that were asked for. */
static bool dump_all(const struct run_options *o, const struct machine *machine)
{
	bool ok = true;

	for (unsigned int i = 0; i < o->dump_count; i++) {
		size_t n = strcspn(o->dumps[i], "=");
		char name[LEX_TOKEN_MAX];
		const struct region *r;
		const uint8_t *data;

		snprintf(name, sizeof(name), "%.*s", (int)n, o->dumps[i]);
		r = script_region(machine->script, name);
		if (!r) {
			fprintf(o->step.out, "there is no buffer '%s'\n", name);
			ok = false;
			continue;
		}
		data = memory_at(&machine->memory, r->va, r->size);
		if (o->dumps[i][n])
			ok &= write_dump(o->step.out, o->dumps[i] + n + 1, data, r->size);
		else
			print_dump(o->step.out, r, data);
	}
	return ok;
}

/* With the breakpoints that were asked for. False: one is nowhere. */
static bool debug(const struct run_options *o, struct machine *machine,
		  const struct machine_options *options, struct outcome *outcome)
{
	struct step_options step = o->step;

	for (unsigned int i = 0; i < o->break_count; i++) {
		if (!break_address(machine->script, o->breaks[i],
				   &step.breakpoint[step.breakpoints++])) {
			fprintf(step.out, "\"%s\" is no address, label or buffer\n", o->breaks[i]);
			return false;
		}
	}
	step_run(machine, options, &step, outcome);
	return true;
}

static bool run_script(const struct run_options *o, const struct script *script)
{
	bool debugger = o->step.step || o->step.trace || o->break_count;
	struct machine_options options = o->machine;
	struct machine *machine;
	struct outcome outcome = { 0 };
	char error[256];
	bool ok = true;

	if (debugger)
		options.threads = 0;
	machine = machine_new(script, &options, error, sizeof(error));
	if (!machine) {
		fprintf(o->step.out, "%s: %s\n", script->path, error);
		return false;
	}
	if (debugger)
		ok = debug(o, machine, &options, &outcome);
	else
		machine_run(machine, &options, &outcome);
	if (ok && outcome.faulted && !script->fault.wanted) {
		if (outcome.in_program && !outcome.caught)
			fault_catch(script, &o->machine, &outcome);
		fault_print(o->step.out, machine, &outcome);
	}
	ok = ok && !compare_all(machine, &outcome, o->step.out, "");
	ok &= dump_all(o, machine);
	if (o->statistics)
		fprintf(o->step.out, "%" PRIu64 " groups, %" PRIu64 " clauses of warps, %" PRIu64
			" tuples of threads, %" PRIu64 " messages of warps in %.6f s\n",
			outcome.groups, outcome.clauses, outcome.tuples, outcome.messages,
			outcome.seconds);
	machine_free(machine);
	return ok;
}

bool run_path(const struct run_options *options, const char *path)
{
	FILE *out = options->step.out;
	char error[600];
	struct script *script = script_read(path, error, sizeof(error));
	bool ok = false;

	if (!script) {
		fprintf(out, "%s\n", error);
	} else {
		ok = options->all ? !matrix_run(script, false, out, "") :
				    run_script(options, script);
		script_free(script);
	}
	if (!options->quiet)
		fprintf(out, "%s: %s\n", path, ok ? "as expected" : "not as expected");
	return ok;
}
