/* SPDX-License-Identifier: MIT */
/*
 * Shader files as tsr-run reads them: contents, addresses, rules of comparison, and errors with
 * their line and column. Nothing is executed here.
 *
 * test: TSAN=0
 */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "compare.h"
#include "half.h"
#include "ktap.h"
#include "machine.h"

static char error[600];

/* Read a file with that text. */
static struct script *read_text(const char *text)
{
	char path[] = "/tmp/tsr-shader-XXXXXX";
	struct script *script;
	int fd = mkstemp(path);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		abort();
	close(fd);
	error[0] = '\0';
	script = script_read(path, error, sizeof(error));
	unlink(path);
	return script;
}

/* The error message for a text, without the path: "LINE:COLUMN: why". */
static const char *refusal(const char *text)
{
	struct script *script = read_text(text);

	if (script) {
		script_free(script);
		return "not refused";
	}
	return strchr(error, ':') ? strchr(error, ':') + 1 : error;
}

static void test_errors(void)
{
	static const struct {
		const char *text, *expected;
	} cases[] = {
		{ "group", "1:6: expected the threads of a group, found the end of the file" },
		{ "group 16\nnonsense 1", "2:1: 'nonsense' is no statement" },
		{ "group 16 16 16 16", "1:16: '16' is no statement" },
		{ "\n  grid 1 2 x", "2:12: 'x' is no statement" },
		{ "registers 48", "1:13: a program has 32 or 64 registers" },
		{ "buffer x 0 code { u32 0 }", "1:12: a buffer has at least one byte" },
		{ "buffer x 4 { u32 1 2 }", "1:22: these contents are longer than 4 bytes" },
		{ "buffer x 4 { 1 }", "1:14: name a type (u32, f32, ...) before the first value" },
		{ "buffer x 4 { u8 256 }", "1:17: 256 does not fit into 8 bits" },
		{ "buffer x 4 { u8 -129 }", "1:17: -129 does not fit into 8 bits" },
		{ "buffer x 4 { u32 &x }", "1:18: an address is a u64" },
		{ "buffer x 8 { u64 &y }", "1:19: no buffer or label 'y' stands above" },
		{ "buffer x 8\nbuffer x 8", "2:8: there is a buffer 'x' already" },
		{ "buffer x 8 { u32 0x1g }", "1:18: expected an integer, found '0x1g'" },
		{ "buffer x 8 { f32 1.0.0 }", "1:18: expected a number, found '1.0.0'" },
		{ "buffer x 8 { file \"/nonexistent\" }",
		  "1:34: /nonexistent: No such file or directory" },
		{ "buffer x 8 { file \"open }", "1:19: the string does not end in this line" },
		{ "buffer x 8 at 0xfffffffffffffffc",
		  "1:33: the buffer reaches beyond the last address" },
		{ "buffer x 8 { u32 1 ; }", "1:20: unexpected character ';'" },
		{ "buffer x 4 { u8 ramp 4 0 1 mod 0 }", "1:34: nothing can be taken modulo 0" },
		{ "expect fault SOMETHING", "1:14: 'SOMETHING' is no fault" },
		{ "code { u64 0 0 }\ncode { u64 0 0 }", "2:6: there is code already" },
		{ "code { }", "1:9: the code is empty" },
		{ "group 1", "1:8: there is no code" },
		{ "code assembly\nnop", "1:6: the block that begins here has no line \"end\"" },
		{ "code assembly nop\nend", "1:15: nothing can follow 'assembly' in its line" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *got = refusal(cases[i].text);

		if (strcmp(got, cases[i].expected))
			ktap_note("%s: \"%s\", expected \"%s\"", cases[i].text, got,
				  cases[i].expected);
		ktap_ok(!strcmp(got, cases[i].expected));
	}
}

/* All types and patterns, against bytes written by hand. */
static void test_contents(void)
{
	static const uint8_t expected[] = {
		0x01, 0xff, 0x02, 0x00, 0xfe, 0xff, 0x78, 0x56, 0x34, 0x12,
		0x00, 0x3c, 0x00, 0xc0, 0xff, 0x7b, 0x00, 0x7c, 0x01, 0x00,	/* f16 */
		0x00, 0x00, 0xc0, 0x3f, 0x00, 0x00, 0x00, 0x80,			/* f32 1.5 -0 */
		0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xf0, 0xbf,			/* f64 -1 */
		0x00, 0x00, 0x07, 0x07,
		0x05, 0x08, 0x05, 0x08,						/* ramp mod */
		0x00, 0x9e, 0x3c,						/* scatter */
		0x01, 0x02, 0x01, 0x02,
		0x08, 0x00, 0x20, 0x00, 0x00, 0x00, 0x00, 0x00,			/* &x+8 */
	};
	struct script *script = read_text(
		"buffer x 100 at 0x200000 { u8 1 -1 u16 2 -2 u32 0x12345678\n"
		"f16 1 -2 65504 inf 6e-8 f32 1.5 -0.0 f64 -1 # comment }\n"
		"zero 2 u8 fill 2 7 ramp 4 5 3 mod 2 scatter 3 2654435761 24\n"
		"repeat 2 { 1 2 } u64 &x+8 }\n"
		"code { u64 0 0 }");

	KTAP_REQUIRE(script);
	ktap_eq(script->region[0].init.size, sizeof(expected));
	ktap_ok(!memcmp(script->region[0].init.data, expected, sizeof(expected)));
	script_free(script);
}

static void test_places(void)
{
	struct script *script = read_text("buffer a 100\nbuffer b 5000\nbuffer c 64 at 0x1000\n"
					  "code at 0x4000 { u64 0 0 }");
	char text[80];

	KTAP_REQUIRE(script);
	/* the last byte but at most 63 is the last of its page; a page lies between two buffers */
	for (unsigned int i = 0; i < 2; i++) {
		const struct region *r = &script->region[i];
		uint64_t left = -(r->va + r->size) % SCRIPT_PAGE;

		ktap_ok(left < 64);
		ktap_eq(r->va % 64, 0);
	}
	ktap_ok(script->region[1].va / SCRIPT_PAGE > script->region[0].va / SCRIPT_PAGE + 1);
	ktap_ok(!strcmp(script_where(script, 0x1010, text, sizeof(text)), "c+0x10"));
	ktap_ok(!strcmp(script_where(script, 0x1040, text, sizeof(text)), "c+0x40"));
	ktap_ok(!strcmp(script_where(script, 0xfff, text, sizeof(text)), "0xfff"));
	ktap_ok(script_region_at(script, 0x1040, 0) == NULL);
	script_free(script);
}

/* Halves: every one to a double and back, and ties. */
static void test_halves(void)
{
	for (unsigned int h = 0; h < 0x10000; h++) {
		bool nan = (h & 0x7c00) == 0x7c00 && h & 0x3ff;

		if (!nan && half_from_double(half_to_double((uint16_t)h)) != h) {
			ktap_eq(half_from_double(half_to_double((uint16_t)h)), h);
			break;
		}
	}
	ktap_eq(half_from_double(2049), 0x6800);	/* halfway, to even */
	ktap_eq(half_from_double(2051), 0x6802);
	ktap_eq(half_from_double(65519.99), 0x7bff);
	ktap_eq(half_from_double(65520), 0x7c00);
	ktap_eq(half_from_double(0x1p-25), 0);
	ktap_eq(half_from_double(0x1.8p-25), 1);
	ktap_ok(isnan(half_to_double(0x7e00)));
}

/*
 * True if memory that holds @got meets "expect &x TYPE { WANT } where { RULE }". The machine is
 * only there for its memory.
 */
static bool meets(const char *got, const char *type, const char *want, const char *rule)
{
	struct machine_options options = { 0 };
	struct outcome outcome = { .ended = true };
	struct machine *machine;
	struct script *script;
	char text[1000];
	unsigned int bad;
	FILE *null = fopen("/dev/null", "w");

	snprintf(text, sizeof(text), "buffer x 64 { %s }\ncode { u64 0 0 }\n"
		 "expect &x %s { %s } where { %s }", got, type, want, rule);
	script = read_text(text);
	if (!script) {
		ktap_note("%s", error);
		fclose(null);
		return !strcmp(rule, "error");
	}
	machine = machine_new(script, &options, error, sizeof(error));
	bad = compare_all(machine, &outcome, null, "");
	machine_free(machine);
	script_free(script);
	fclose(null);
	return !bad;
}

static void test_exact(void)
{
	ktap_ok(meets("u32 1 2 3", "u32", "u32 1 2 3", ""));
	ktap_ok(!meets("u32 1 2 3", "u32", "u32 1 2 4", ""));
	ktap_ok(meets("u32 1 2 3 9", "u32", "u32 1 2 3", ""));
	ktap_ok(!meets("u8 1 2 3 9", "size 4 u8", "u8 1 2 3", ""));
	ktap_ok(meets("u8 1 2 3 0", "size 4 u8", "u8 1 2 3", ""));
	/* floats are bits unless a rule says otherwise */
	ktap_ok(!meets("f32 0.0", "f32", "f32 -0.0", ""));
	ktap_ok(meets("u32 0x7fc00001", "f32", "u32 0x7fc00001", ""));
	ktap_ok(!meets("u32 0x7fc00001", "f32", "u32 0x7fc00002", ""));
}

static void test_near(void)
{
	ktap_ok(meets("f32 0.0", "f32", "f32 -0.0", "all near"));
	ktap_ok(meets("u32 0x7fc00001", "f32", "u32 0xffc00002", "all near"));
	ktap_ok(!meets("u32 0x7fc00001", "f32", "f32 1", "all near abs inf"));
	ktap_ok(!meets("f32 inf", "f32", "f32 -inf", "all near abs inf"));
	ktap_ok(!meets("f32 inf", "f32", "f32 3e38", "all near abs inf"));
	ktap_ok(meets("f32 inf", "f32", "f32 inf", "all near"));
	ktap_ok(meets("f32 1.5", "f32", "f32 1", "all near abs 0.5"));
	ktap_ok(!meets("f32 1.5001", "f32", "f32 1", "all near abs 0.5"));
	ktap_ok(meets("f32 -110", "f32", "f32 -100", "all near rel 0.1"));
	ktap_ok(!meets("f32 -110.001", "f32", "f32 -100", "all near rel 0.1"));
	/* the largest of the three, not all of them */
	ktap_ok(meets("f32 1.5", "f32", "f32 1", "all near abs 0.5 rel 0.001 ulp 1"));
	/* units of the expected value: 2^-23 at 1, 2^-24 just below */
	ktap_ok(meets("u32 0x3f800002", "f32", "f32 1", "all near ulp 2"));
	ktap_ok(!meets("u32 0x3f800003", "f32", "f32 1", "all near ulp 2"));
	ktap_ok(meets("u32 0x3f7ffffc", "f32", "f32 1", "all near ulp 2"));
	ktap_ok(!meets("u32 0x3f7ffffb", "f32", "f32 1", "all near ulp 2"));
	ktap_ok(meets("u32 3", "f32", "u32 1", "all near ulp 2"));
	ktap_ok(!meets("u32 4", "f32", "u32 1", "all near ulp 2"));
	ktap_ok(meets("u32 0x80000001", "f32", "u32 1", "all near ulp 2"));
	ktap_ok(meets("u16 0x3c01", "f16", "f16 1", "all near ulp 1"));
	ktap_ok(!meets("u16 0x3c02", "f16", "f16 1", "all near ulp 1"));
	ktap_ok(!meets("u32 1", "u32", "u32 1", "all near abs 1"));	/* no float words */
}

static void test_other_rules(void)
{
	ktap_ok(meets("u32 1 9 3", "u32", "u32 1 2 3", "words 1 count 1 ignore"));
	ktap_ok(!meets("u32 1 9 8", "u32", "u32 1 2 3", "words 1 count 1 ignore"));
	ktap_ok(meets("u32 1 9 8", "u32", "u32 1 2 3", "words 1 ignore"));
	ktap_ok(meets("u32 9 2 9 4 9", "u32", "u32 1 2 3 4 5", "words 0 step 2 ignore"));
	ktap_ok(!meets("u32 9 2 9 4 9", "u32", "u32 1 2 3 4 5", "words 0 step 2 count 2 ignore"));
	ktap_ok(meets("u32 5", "u32", "u32 0", "all range 5 7"));
	ktap_ok(meets("u32 7", "u32", "u32 0", "all range 5 7"));
	ktap_ok(!meets("u32 8", "u32", "u32 8", "all range 5 7"));
	ktap_ok(!meets("u32 -1", "u32", "u32 8", "all range 0 7"));
	ktap_ok(meets("u32 3", "u32", "u32 1", "all any { 2 3 }"));
	ktap_ok(meets("u32 1", "u32", "u32 1", "all any { 2 3 }"));
	ktap_ok(!meets("u32 4", "u32", "u32 1", "all any { 2 3 }"));
	/* the last rule for a word holds */
	ktap_ok(!meets("u32 4", "u32", "u32 1", "all ignore words 0 exact"));
	ktap_ok(meets("u32 4", "u32", "u32 1", "words 0 exact all ignore"));
}

static void test_sums(void)
{
	ktap_ok(meets("u32 1 2 3", "u32", "u32 0 0 0", "all ignore sum 6 { 0 1 2 }"));
	ktap_ok(!meets("u32 1 2 3", "u32", "u32 0 0 0", "all ignore sum 6 { 0 1 }"));
	ktap_ok(meets("u32 0xffffffff 2", "u32", "u32 0 0", "all ignore sum 1 { 0 1 }"));
	ktap_ok(!meets("u32 1 5 3", "u32", "u32 0 0 0",
		       "all ignore sum 4 { 0 2 } sum 6 { 1 }"));
	/* a sum alone leaves its words exact */
	ktap_ok(!meets("u32 1 2 3", "u32", "u32 3 2 1", "sum 6 { 0 1 2 }"));
}

/* Regions at odd addresses that share pages, overlap, and lie where only five levels reach. */
static void test_memory(void)
{
	struct script *script = read_text(
		"buffer a 10 at 0x1ffb { u8 fill 10 1 }\n"
		"buffer b 6 at 0x2003 read-only { u8 fill 6 2 }\n"
		"buffer c 16 at 0x1fffffffffffff0 { u8 fill 16 3 }\n"
		"code at 0x3010 { u64 0 0 }");
	struct machine_options options = { 0 };
	struct machine *machine;
	uint8_t *at;

	KTAP_REQUIRE(script);
	machine = machine_new(script, &options, error, sizeof(error));
	KTAP_REQUIRE(machine);
	ktap_eq(machine->bench->va_bits, 57);
	at = memory_at(&machine->memory, 0x1ffa, 17);
	KTAP_REQUIRE(at);
	ktap_ok(!memcmp(at, "\0\1\1\1\1\1\1\1\1\2\2\2\2\2\2\0", 16));
	at = memory_at(&machine->memory, 0x1fffffffffffff0, 16);
	KTAP_REQUIRE(at);
	ktap_eq(at[15], 3);
	ktap_ok(!memory_at(&machine->memory, 0x1fffffffffffff0, 17));
	ktap_ok(!memory_at(&machine->memory, 0x5000, 1));
	ktap_eq(*bench_pte(&machine->user, 0x1000, 0) & BENCH_RWX, BENCH_RW);
	ktap_eq(*bench_pte(&machine->user, 0x3000, 0) & BENCH_RWX, BENCH_RX);
	machine_free(machine);
	script_free(script);
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	ktap_run("errors in shader files name line and column", test_errors);
	ktap_run("contents: types, patterns, addresses", test_contents);
	ktap_run("buffers end at the end of a page, addresses have names", test_places);
	ktap_run("halves round to the nearest, ties to even", test_halves);
	ktap_run("expectations without rules hold bit for bit", test_exact);
	ktap_run("near: the largest of absolute, relative and ulp tolerance", test_near);
	ktap_run("ignore, range, any, steps and counts, the last rule holds", test_other_rules);
	ktap_run("sums of words", test_sums);
	ktap_run("memory at odd and high addresses, shared pages, overlaps", test_memory);
	return ktap_finish();
}
