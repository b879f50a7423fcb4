/* SPDX-License-Identifier: MIT */
/*
 * The session of Documentation/guide/shaders.md: files that `cat` shows are written, what
 * `tsr-run` is said to print is compared with what it prints, word for word. The lines behind the
 * debugger's prompts are its input.
 *
 * test: TSAN=0
 */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ktap.h"
#include "execute.h"

#define GUIDE		"Documentation/guide/shaders.md"
#define INDENT		4		/* columns before the lines of a session */
#define PROMPT		"(tsr-run) "
#define TEXT_MAX	65536

/* One command of the session and what follows it. */
struct step {
	char command[200];
	char text[TEXT_MAX];
};

/* The commands after the prompts in @text. */
static void typed(const char *text, char *input)
{
	const char *at = text;

	input[0] = '\0';
	while ((at = strstr(at, PROMPT))) {
		size_t n;

		at += strlen(PROMPT);
		n = strcspn(at, "\n");
		strncat(input, at, n);
		strcat(input, "\n");
	}
}

/* The output of `tsr-run` with those arguments. */
static char *run(const char *arguments, const char *text)
{
	struct run_options options = { .machine = { .threads = 1 } };
	static char input[TEXT_MAX], line[200];
	char *out = NULL, *word, *save = NULL;
	size_t size;

	typed(text, input);
	options.step.in = input[0] ? fmemopen(input, strlen(input), "r") : NULL;
	options.step.out = open_memstream(&out, &size);
	options.step.echo = true;
	snprintf(line, sizeof(line), "%s", arguments);
	for (word = strtok_r(line, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		if (!strcmp(word, "--step"))
			options.step.step = true;
		else if (!strcmp(word, "--all"))
			options.all = true;
		else
			run_path(&options, word);
	}
	fclose(options.step.out);
	if (options.step.in)
		fclose(options.step.in);
	return out;
}

/* Do a command of the session; whether it was one of tsr-run. */
static bool follow(const struct step *step)
{
	char *out;

	if (!strncmp(step->command, "cat ", 4)) {
		FILE *f = fopen(step->command + 4, "w");

		ktap_ok(f && fputs(step->text, f) >= 0 && !fclose(f));
		return false;
	}
	if (strncmp(step->command, "tsr-run ", 8))
		return false;
	out = run(step->command + 8, step->text);
	if (strcmp(out, step->text))
		ktap_note("%s prints:\n%s", step->command, out);
	ktap_ok(!strcmp(out, step->text));
	free(out);
	return true;
}

/* Follow the sessions of the guide; how many commands of tsr-run there were. */
static unsigned int follow_all(FILE *guide)
{
	static struct step step;
	char line[1000];
	unsigned int ran = 0;

	step.command[0] = '\0';
	while (fgets(line, sizeof(line), guide)) {
		bool inside = !strncmp(line, "    ", INDENT);

		if (step.command[0] && (!inside || !strncmp(line + INDENT, "$ ", 2))) {
			ran += follow(&step);
			step.command[0] = '\0';
		}
		if (inside && !strncmp(line + INDENT, "$ ", 2)) {
			line[strcspn(line, "\n")] = '\0';
			snprintf(step.command, sizeof(step.command), "%.199s", line + INDENT + 2);
			step.text[0] = '\0';
		} else if (inside && step.command[0]) {
			strncat(step.text, line + INDENT, TEXT_MAX - strlen(step.text) - 1);
		}
	}
	return ran;
}

static void test_guide(void)
{
	const char *top = getenv("TSR_TOP");
	char path[4096], dir[] = "/tmp/tsr-guide-XXXXXX";
	FILE *guide;

	snprintf(path, sizeof(path), "%s/" GUIDE, top ? top : ".");
	guide = fopen(path, "r");
	KTAP_REQUIRE(guide);
	KTAP_REQUIRE(mkdtemp(dir) && !chdir(dir));
	ktap_eq(follow_all(guide), 3);
	fclose(guide);
	unlink("double.shader");
	unlink("fixed.shader");
	ktap_ok(!chdir("/") && !rmdir(dir));
}

int main(void)
{
	ktap_start();
	ktap_run("the guide's session prints what it says", test_guide);
	return ktap_finish();
}
