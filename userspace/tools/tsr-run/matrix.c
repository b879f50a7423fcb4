// SPDX-License-Identifier: MIT
/* A script in all ways to run it, see matrix.h. */
#include <inttypes.h>
#include <string.h>

#include "compare.h"
#include "matrix.h"
#include "simd/simd.h"

static const unsigned int thread_counts[] = { 1, 2, 8 };
static const char *const simd_names[] = { "sse2", "avx2", "avx512" };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

const char *matrix_name(const struct machine_options *options, char *text, size_t size)
{
	snprintf(text, size, "%u thread%s, %s, %s, %s", options->threads,
		 options->threads == 1 ? "" : "s", options->late ? "late" : "early",
		 options->simd ? options->simd : "default",
		 options->jit == TSR_JIT_USE_OFF ? "interpreted" : "machine code");
	return text;
}

/* The hash of the first run, that of all others is compared with. */
struct reference {
	bool there;
	uint64_t hash;
	char name[64];
};

static bool same_bits(const struct machine *machine, const struct machine_options *options,
		      struct reference *reference, FILE *out, const char *prefix)
{
	uint64_t hash;
	char name[64];

	if (machine->script->any_order || machine->script->fault.wanted)
		return true;
	hash = compare_hash(machine);
	if (!reference->there) {
		reference->there = true;
		reference->hash = hash;
		matrix_name(options, reference->name, sizeof(reference->name));
	}
	if (hash == reference->hash)
		return true;
	fprintf(out, "%sbuffers differ between \"%s\" and \"%s\"\n", prefix, reference->name,
		matrix_name(options, name, sizeof(name)));
	return false;
}

static bool run_one(const struct script *script, const struct machine_options *options,
		    struct reference *reference, FILE *out, const char *prefix)
{
	struct machine *machine;
	struct outcome outcome = { 0 };
	char error[256], name[64];
	bool ok;

	machine = machine_new(script, options, error, sizeof(error));
	if (!machine) {
		fprintf(out, "%s%s\n", prefix, error);
		return false;
	}
	machine_run(machine, options, &outcome);
	ok = !compare_all(machine, &outcome, out, prefix);
	if (!ok)
		fprintf(out, "%s^ with %s\n", prefix, matrix_name(options, name, sizeof(name)));
	ok = ok && same_bits(machine, options, reference, out, prefix);
	machine_free(machine);
	return ok;
}

unsigned int matrix_run(const struct script *script, bool quick, FILE *out, const char *prefix)
{
	struct reference reference = { 0 };
	unsigned int failed = 0;

	for (unsigned int i = 0; i < COUNT(simd_names) * COUNT(thread_counts) * 4; i++) {
		struct machine_options options = {
			.threads = thread_counts[i % COUNT(thread_counts)],
			.simd = simd_names[i / COUNT(thread_counts) % COUNT(simd_names)],
			.late = i / COUNT(thread_counts) / COUNT(simd_names) % 2,
			.jit = i / COUNT(thread_counts) / COUNT(simd_names) / 2 ?
				       TSR_JIT_USE_FIRST : TSR_JIT_USE_OFF,
		};
		unsigned int square = options.late + (options.jit == TSR_JIT_USE_FIRST);

		/* a Latin square's worth: each pair of choices meets once */
		if (quick && (i % 3 + i / 3 % 3) % 3 != square)
			continue;
		if (!tsr_simd_named(options.simd))
			continue;
		/* there is no machine code for the baseline */
		if (options.jit != TSR_JIT_USE_OFF && !strcmp(options.simd, "sse2"))
			continue;
		failed += !run_one(script, &options, &reference, out, prefix);
	}
	return failed;
}
