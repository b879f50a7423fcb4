/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/*
 * A host without memory for generated code, which refuses it in one of several ways, and memory
 * that is full: programs run all the same, with the same results.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ktap.h"
#include "shade.h"

#include "device/gpu.h"
#include "shader/core.h"
#include "simd/simd.h"

#ifndef F_ADD_SEALS
#define F_ADD_SEALS 1033
#endif
#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x10
#endif
#define SEAL_GROW	0x4		/* F_SEAL_GROW */
#define ALLOW_SEALING	2u		/* MFD_ALLOW_SEALING */

#define THREADS 128
#define GROUPS 8
#define OTHER 0x2000			/* where a second program lies */

/* ---- The host -------------------------------------------------------------------------------- */

enum refusal {
	NOT_REFUSED,
	NO_FILE,			/* memfd_create() fails */
	NO_SIZE,			/* ftruncate() does */
	NO_WRITING,			/* mmap() of what is to be written does */
	REFUSALS,
};

static enum refusal refusal;
static unsigned int asked;

/* In the place of the C library's. */
int memfd_create(const char *name, unsigned int flags)
{
	static const int seal[REFUSALS] = { [NO_SIZE] = SEAL_GROW,
					    [NO_WRITING] = F_SEAL_FUTURE_WRITE };
	int fd;

	asked++;
	if (refusal == NO_FILE) {
		errno = EPERM;
		return -1;
	}
	fd = (int)syscall(SYS_memfd_create, name, flags | ALLOW_SEALING);
	if (fd >= 0 && seal[refusal])
		ktap_eq(fcntl(fd, F_ADD_SEALS, seal[refusal]), 0);
	return fd;
}

/* ---- Programs -------------------------------------------------------------------------------- */

/* Sums of 1 to x mod 32 times a factor, and of their squares. */
#define PROGRAM(factor, term)					\
	"clause flow=nbtb_unconditional {\n"			\
	"	*LSHIFT_AND.i32 r1, r60, 0x1f, #0\n"		\
	"	*MOV.i32 r2, #0\n"				\
	"}\n"							\
	"clause {\n"						\
	"	*MOV.i32 r3, " factor "\n"			\
	"}\n"							\
	"loop: clause flow=nbtb_unconditional {\n"		\
	"	+BRANCHZ.i32.eq r1, done\n"			\
	"}\n"							\
	"clause flow=nbtb_unconditional {\n"			\
	"	*IMUL.i32 t0, r1, " term "\n"			\
	"	+IADD.s32 r2, r2, t\n"				\
	"	+IADD.s32 r1, r1, -1\n"				\
	"	+JUMP loop\n"					\
	"}\n"							\
	"done: clause message=store slot=0 " SHADE_STORE("r2")

static struct shade_code sums, triples, squares;

/* The value that thread @i stores. */
static unsigned int stored(const struct shade_code *code, unsigned int i)
{
	unsigned int n = i % 32, sum = n * (n + 1) / 2;

	return code == &squares ? sum * (2 * n + 1) / 3 : code == &triples ? 3 * sum : sum;
}

/* Run the program at @at and look at what it has stored. */
static void run(struct shade_machine *m, const struct shade_code *code, uint32_t at)
{
	struct shade_dispatch d = { .code = code, .at = at, .groups = { GROUPS },
				    .state = { .local_x = THREADS } };

	memset(stage_word32(&m->s, 0), 0xff, 4 * THREADS * GROUPS);
	ktap_ok(shade_run(m, &d));
	for (unsigned int i = 0; i < THREADS * GROUPS; i++)
		ktap_eq(*stage_word32(&m->s, 4 * i), stored(code, i));
}

static const struct tsr_code *code_of(struct shade_machine *m)
{
	return &m->s.b->gpu->runner[0].own.shader->code;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static bool generates(void)
{
	return strcmp(tsr_simd_best()->name, "sse2");
}

static void refused(void)
{
	static const struct tsr_config config = { .jit = TSR_JIT_USE_FIRST };

	for (refusal = NOT_REFUSED; refusal < REFUSALS; refusal++) {
		struct shade_machine m;

		asked = 0;
		shade_init(&m, &config);
		run(&m, &sums, 0);
		run(&m, &squares, OTHER);
		/* once is enough */
		ktap_eq(asked, generates());
		ktap_eq(code_of(&m)->jit != NULL, generates() && refusal == NOT_REFUSED);
		shade_free(&m);
	}
	refusal = NOT_REFUSED;
}

/* Fill what is left of the memory with code that nobody runs. */
static void fill(const struct tsr_code *code)
{
	static struct tsr_decoded clause;
	unsigned int count = 0;

	for (unsigned int i = 0; i < TSR_CODE_HASH; i++) {
		for (struct tsr_decoded *d = code->hash[i]; d; d = d->chain)
			clause = *d;
	}
	while (tsr_jit_compile(code->jit, &clause, TSR_NATIVE_FULL))
		count++;
	ktap_note("%u times a clause", count);
	ktap_ok(count > 1000);
}

static void full(void)
{
	static const struct tsr_config config = { .jit = TSR_JIT_USE_FIRST };
	struct shade_machine m;
	uint32_t forgotten;

	if (!generates()) {
		ktap_skip("this processor has no path with generated code");
		return;
	}
	shade_init(&m, &config);
	run(&m, &sums, 0);
	fill(code_of(&m));
	forgotten = code_of(&m)->forgotten;
	/* what is there is used; there is no more room, and nothing is lost by that */
	run(&m, &sums, 0);
	ktap_eq(code_of(&m)->forgotten, forgotten);
	ktap_eq(code_of(&m)->full, false);
	run(&m, &squares, OTHER);
	/* a burst that begins with full memory empties it, and both programs get code anew */
	run(&m, &squares, OTHER);
	ktap_eq(code_of(&m)->full, false);
	ktap_eq(code_of(&m)->forgotten, forgotten + 1);
	run(&m, &sums, 0);
	ktap_eq(code_of(&m)->forgotten, forgotten + 1);
	shade_free(&m);
}

/* ---- What is kept ---------------------------------------------------------------------------- */

struct made {
	uint64_t decoded, compiled;
};

static struct made made(const struct shade_machine *m)
{
	const uint64_t *path = m->s.b->gpu->runner[0].own.path;

	return (struct made){ path[TSR_PATH_CLAUSES_DECODED], path[TSR_PATH_CLAUSES_COMPILED] };
}

/*
 * The program at 0 becomes @code, of which the device is told, and runs: so many clauses are
 * decoded for that, and so many compiled.
 */
static void run_anew(struct shade_machine *m, const struct shade_code *code, unsigned int decoded,
		     unsigned int compiled)
{
	struct made before = made(m), after;

	bench_invalidate_all(&m->s.as[1]);
	run(m, code, 0);
	after = made(m);
	ktap_eq(after.decoded - before.decoded, decoded);
	ktap_eq(after.compiled - before.compiled, compiled);
}

/*
 * Two programs differ in their second clause. The clause that leads to it is looked up each time.
 */
static void kept(void)
{
	static const struct tsr_config config = { .jit = TSR_JIT_USE_FIRST };
	struct shade_machine m;

	shade_init(&m, &config);
	run(&m, &sums, 0);
	for (unsigned int i = 0; i < 3; i++)
		run_anew(&m, &sums, 0, 0);
	run_anew(&m, &triples, 1, generates());
	for (unsigned int i = 0; i < 3; i++) {
		run_anew(&m, &sums, 0, 0);
		run_anew(&m, &triples, 0, 0);
	}
	shade_free(&m);
}

/* ---- What is executable ---------------------------------------------------------------------- */

#define ODD 0x5eadbee5u			/* a constant nothing else has */

/* How often @word stands in memory for generated code that can be executed; *@maps: such memory. */
static unsigned int executable(uint32_t word, unsigned int *maps)
{
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned int found = 0;
	char line[512], rights[8];
	unsigned long from, to;

	*maps = 0;
	while (f && fgets(line, sizeof(line), f)) {
		if (!strstr(line, "tessera-jit") ||
		    sscanf(line, "%lx-%lx %7s", &from, &to, rights) != 3 || rights[2] != 'x')
			continue;
		ktap_eq(rights[1], '-');
		(*maps)++;
		for (const uint8_t *p = (const uint8_t *)from; p + 4 <= (const uint8_t *)to; p++)
			found += !memcmp(p, &word, 4);
	}
	if (f)
		fclose(f);
	return found;
}

/* The guest's constants and addresses are not in executable memory, which nobody writes. */
static void no_bits(void)
{
	static const struct tsr_config config = { .jit = TSR_JIT_USE_FIRST };
	static struct shade_code odd;
	struct shade_dispatch d = { .code = &odd, .groups = { GROUPS },
				    .state = { .local_x = THREADS } };
	unsigned int maps, clauses = 0;
	struct shade_machine m;

	if (!generates()) {
		ktap_skip("this processor has no path with generated code");
		return;
	}
	shade_text(&odd, PROGRAM("0x5eadbee5", "r3"));
	shade_init(&m, &config);
	ktap_ok(shade_run(&m, &d));
	ktap_eq(*stage_word32(&m.s, 4 * 3), 6 * ODD);
	ktap_eq(executable(ODD, &maps), 0);
	ktap_eq(maps, 1);
	for (unsigned int i = 0; i < TSR_CODE_HASH; i++) {
		for (struct tsr_decoded *c = code_of(&m)->hash[i]; c; c = c->chain) {
			clauses += c->native[TSR_NATIVE_FULL].code != NULL;
			ktap_eq(executable((uint32_t)c->pc, &maps), 0);
		}
	}
	ktap_ok(clauses >= 3);
	shade_free(&m);
}

/* More constants than there is room for: later clauses get code all the same, nothing is lost. */
#define CONSTANTS 1500

static void many_constants(void)
{
	static const struct tsr_config config = { .jit = TSR_JIT_USE_FIRST };
	static char text[CONSTANTS * 64 + 1024];
	static struct shade_code many;
	struct shade_dispatch d = { .code = &many, .groups = { GROUPS },
				    .state = { .local_x = THREADS } };
	unsigned int at = 0, native = 0;
	struct shade_machine m;
	uint32_t forgotten;

	if (!generates()) {
		ktap_skip("this processor has no path with generated code");
		return;
	}
	for (uint32_t i = 0; i < CONSTANTS; i++)
		at += (unsigned int)sprintf(text + at,
					    "clause {\n	*IMUL.i32 r2, r60, 0x%x\n}\n",
					    0x10000 + i);
	strcpy(text + at, "clause message=store slot=0 " SHADE_STORE("r2"));
	shade_text(&many, text);
	shade_init(&m, &config);
	ktap_ok(shade_run(&m, &d));
	forgotten = code_of(&m)->forgotten;
	ktap_eq(code_of(&m)->full, false);
	ktap_ok(shade_run(&m, &d));
	ktap_eq(code_of(&m)->forgotten, forgotten);
	for (unsigned int i = 0; i < TSR_CODE_HASH; i++) {
		for (struct tsr_decoded *c = code_of(&m)->hash[i]; c; c = c->chain)
			native += c->native[TSR_NATIVE_FULL].code != NULL;
	}
	ktap_ok(native >= CONSTANTS);
	for (uint32_t i = 0; i < THREADS * GROUPS; i++)
		ktap_eq(*stage_word32(&m.s, 4 * i), i * (0x10000 + CONSTANTS - 1));
	shade_free(&m);
}

int main(void)
{
	shade_text(&sums, PROGRAM("0x1", "r3"));
	shade_text(&triples, PROGRAM("0x3", "r3"));
	shade_text(&squares, PROGRAM("0x1", "r1"));
	ktap_start();
	ktap_run("[ISA8] [ISA9] a host that refuses memory for generated code", refused);
	ktap_run("[ISA8] [ISA9] memory for generated code that is full", full);
	ktap_run("[ISA8] [ISA9] nothing is decoded or compiled twice", kept);
	ktap_run("[ISA8] [ISA9] the guest's words are not executable", no_bits);
	ktap_run("[ISA8] [ISA9] more constants than generated code has room for", many_constants);
	return ktap_finish();
}
