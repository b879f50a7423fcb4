// SPDX-License-Identifier: MIT
/*
 * tsr-sync: scenarios of fences and syncs, as small scripts (Documentation/guide/sync.md).
 *
 * Exit status 0 when all went as the scenario says, 1 when not, 2 for bad usage or a scenario that
 * makes no sense, 77 when this machine lacks what it needs.
 */
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sync.h"

#define STATUS_LACKING 77

static const char *path;
static unsigned int failure_count;

static void say(const struct statement *s, const char *format, va_list ap)
{
	fflush(stdout);
	if (s)
		fprintf(stderr, "tsr-sync: %s:%u: %s: ", path, s->line, s->text);
	else
		fprintf(stderr, "tsr-sync: %s: ", path ? path : "error");
	vfprintf(stderr, format, ap);
	fputc('\n', stderr);
}

void failed(const struct statement *s, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	say(s, format, ap);
	va_end(ap);
	failure_count++;
}

void refuse(const struct statement *s, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	say(s, format, ap);
	va_end(ap);
	exit(2);
}

void cannot(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	say(NULL, format, ap);
	va_end(ap);
	exit(STATUS_LACKING);
}

/* ---- statements that are about the scenario itself ---- */

/* A statement that runs beside the others. */
struct thread {
	struct object object;
	struct statement statement;
	verb_function *verb;
	pthread_t thread;
	int ret;
	bool joined;
};

static verb_function *find_verb(const struct statement *s);

/* title WORD...: what the page is called */
static int verb_title(const struct statement *s)
{
	const char *text = s->text + strlen("title");

	set_title(text + strspn(text, " \t"));
	return 0;
}

/* sleep TIME */
static int verb_sleep(const struct statement *s)
{
	struct timespec ts;
	uint64_t ns;

	if (s->count != 2 || !parse_time(s->words[1], &ns))
		refuse(s, "expected: sleep TIME");
	ts.tv_sec = ns / 1000000000;
	ts.tv_nsec = ns % 1000000000;
	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
	return 0;
}

/* order A.end < B.begin ...: these have happened, and in this order */
static int verb_order(const struct statement *s)
{
	uint64_t before = 0, ns = 0;
	name_text name;

	if (s->count < 4 || s->count % 2)
		refuse(s, "expected: order NAME.WHAT < NAME.WHAT ...");
	for (unsigned int i = 1; i < s->count; i += 2) {
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(s->words[i], "."), s->words[i]);
		job_look(name);
		if (i > 1 && strcmp(s->words[i - 1], "<"))
			refuse(s, "expected < between two events");
		if (!event_time(s->words[i], &ns))
			failed(s, "%s has not happened", s->words[i]);
		else if (ns < before)
			failed(s, "%s happened %.3f ms before %s", s->words[i], (before - ns) / 1e6,
			       s->words[i - 2]);
		before = ns;
	}
	return 0;
}

static void *run_thread(void *arg)
{
	struct thread *t = arg;
	const char *name = t->object.name;
	char text[24];

	note(now_ns(), EVENT_BEGIN, name, name, 0, "%s", t->statement.text);
	t->ret = t->verb(&t->statement);
	note(now_ns(), EVENT_DONE, name, name, -t->ret, "%s is over: %s", name,
	     error_name(-t->ret, text));
	return NULL;
}

/* async NAME wait|poll ...: beside the statements that follow, until "join NAME" */
static int verb_async(const struct statement *s)
{
	struct thread *t;
	int ret;

	if (s->count < 3 || (strcmp(s->words[2], "wait") && strcmp(s->words[2], "poll")))
		refuse(s, "expected: async NAME wait ..., or poll");
	t = add_object(s, THREAD, s->words[1], sizeof(*t));
	t->statement = *s;
	t->statement.text = strstr(s->text, s->words[2]);
	memmove(t->statement.words, s->words + 2, (s->count - 2) * sizeof(s->words[0]));
	t->statement.count -= 2;
	t->verb = find_verb(&t->statement);
	ret = pthread_create(&t->thread, NULL, run_thread, t);
	if (ret)
		cannot("no thread: %s", strerror(ret));
	return 0;
}

/* join NAME: wait for its end; => ERROR is what the statement gave */
static int verb_join(const struct statement *s)
{
	struct thread *t = s->count == 2 ? (struct thread *)find_any(s->words[1]) : NULL;
	const struct statement *inner;

	if (!t || t->object.kind != THREAD || t->joined)
		refuse(s, "expected the name of an async statement that has not been joined");
	pthread_join(t->thread, NULL);
	t->joined = true;
	inner = &t->statement;
	if (strcmp(inner->words[0], "wait") || has_word(inner, "available"))
		return t->ret;
	for (unsigned int i = 1; i < inner->count; i++) {
		struct reference ref;

		if (!is_wait_reference(inner->words[i]))
			continue;
		ref = find_reference(inner, inner->words[i]);
		if (producer_of(&ref))
			note_edge(producer_of(&ref), t->object.name);
	}
	return t->ret;
}

/* ---- the scenario ---- */

static const struct {
	const char *name;
	verb_function *function;
} verbs[] = {
	{ "title", verb_title },
	{ "sleep", verb_sleep },
	{ "order", verb_order },
	{ "async", verb_async },
	{ "join", verb_join },
	{ "device", verb_device },
	{ "queue", verb_queue },
	{ "syncobj", verb_syncobj },
	{ "buffer", verb_buffer },
	{ "share-buffer", verb_share_buffer },
	{ "job", verb_job },
	{ "batch", verb_batch },
	{ "submit", verb_submit },
	{ "done", verb_done },
	{ "error", verb_error },
	{ "saw", verb_saw },
	{ "release", verb_release },
	{ "bind", verb_bind },
	{ "signal", verb_signal },
	{ "reset", verb_reset },
	{ "query", verb_query },
	{ "transfer", verb_transfer },
	{ "wait", verb_wait },
	{ "destroy", verb_destroy },
	{ "share", verb_share },
	{ "eventfd", verb_eventfd },
	{ "export", verb_export },
	{ "import", verb_import },
	{ "merge", verb_merge },
	{ "info", verb_info },
	{ "deadline", verb_deadline },
	{ "poll", verb_poll },
	{ "export-buffer", verb_export_buffer },
	{ "import-buffer", verb_import_buffer },
	{ "cpu", verb_cpu },
	{ "vgem-fence", verb_vgem_fence },
	{ "vgem-signal", verb_vgem_signal },
	{ "inject", verb_inject },
	{ "reset-device", verb_reset_device },
	{ "unplug", verb_unplug },
	{ "replug", verb_replug },
	{ "state", verb_state },
	{ "resets", verb_resets },
};

static verb_function *find_verb(const struct statement *s)
{
	for (unsigned int i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		if (!strcmp(verbs[i].name, s->words[0]))
			return verbs[i].function;
	}
	refuse(s, "there is no statement '%s'", s->words[0]);
}

static void execute(const struct statement *s)
{
	uint64_t begin = now_ns();
	int error = -find_verb(s)(s);
	char is[24], want[24];

	if (error != s->error) {
		failed(s, "it gives %s, expected %s", error_name(error, is),
		       error_name(s->error, want));
		note(begin, EVENT_STATEMENT, "", "script", error, "%s gives %s", s->text,
		     error_name(error, is));
	} else if (strcmp(s->words[0], "title")) {
		note(begin, EVENT_STATEMENT, "", "script", 0, "%s", s->text);
	}
}

struct outputs {
	const char *html, *trace, *ioctls;
	bool quiet;
};

/* Nothing may run while the events are looked at. */
static void finish(void)
{
	for (struct object *o = all_objects(); o; o = o->next) {
		struct thread *t = (struct thread *)o;

		if (o->kind == THREAD && !t->joined)
			failed(&t->statement, "'%s' has not been joined", o->name);
		if (o->kind == THREAD && !t->joined)
			pthread_join(t->thread, NULL);
	}
	jobs_settle();
}

/* A scenario that comes with tsr-sync may be called by its name alone. */
static const char *find_lab(const char *name)
{
	static char file[4096 + 128];
	char self[4096];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (!access(name, F_OK) || strchr(name, '/') || !strcmp(name, "-") || length < 0)
		return name;
	self[length] = 0;
	*strrchr(self, '/') = 0;
	snprintf(file, sizeof(file), "%s/../share/tessera/%s.sync", self, name);
	return access(file, R_OK) ? name : file;
}

/* Write one file, "-" being standard output; false when that does not work. */
static bool write_to(const char *file, void (*write)(const struct history *h, FILE *f),
		     const struct history *h)
{
	FILE *f = strcmp(file, "-") ? fopen(file, "w") : stdout;
	bool good;

	if (!f)
		return false;
	write(h, f);
	good = !fflush(f) && !ferror(f);
	return (f == stdout || !fclose(f)) && good;
}

static bool is_stdout(const char *file)
{
	return file && !strcmp(file, "-");
}

static bool write_all(const struct history *h, const struct outputs *out)
{
	if (!out->quiet)
		print_table(h, is_stdout(out->html) || is_stdout(out->trace) ? stderr : stdout);
	return (!out->html || write_to(out->html, write_html, h)) &&
	       (!out->trace || write_to(out->trace, write_perfetto, h)) &&
	       (!out->ioctls || write_to(out->ioctls, print_ioctls, h));
}

/* ---- the command line ---- */

enum { OPT_HTML = 256, OPT_TRACE, OPT_IOCTLS, OPT_VERSION };

static void usage(FILE *to)
{
	fputs("usage: tsr-sync [options] FILE\n"
	      "Run a scenario of fences and syncs (a file, - for standard input, or the name of a "
	      "scenario that comes\n"
	      "with it) and print what happened when.\n"
	      "  --html FILE     write the timeline as a page that needs nothing else; - for "
	      "standard output\n"
	      "  --trace FILE    write it for Perfetto (ui.perfetto.dev); - for standard output\n"
	      "  --ioctls FILE   write which ioctls the scenario made, and how many\n"
	      "  -q, --quiet     no table\n"
	      "  -h, --help      this text\n"
	      "  --version       the version\n"
	      "Exit status: 0 it went as the scenario says, 1 it did not, 2 bad usage, 77 this "
	      "machine lacks\n"
	      "what the scenario needs.\n",
	      to);
}

static void parse_options(int argc, char **argv, struct outputs *out)
{
	static const struct option options[] = {
		{ "html", required_argument, NULL, OPT_HTML },
		{ "trace", required_argument, NULL, OPT_TRACE },
		{ "ioctls", required_argument, NULL, OPT_IOCTLS },
		{ "quiet", no_argument, NULL, 'q' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, OPT_VERSION },
		{ NULL, 0, NULL, 0 },
	};
	int opt;

	while ((opt = getopt_long(argc, argv, "qh", options, NULL)) != -1) {
		switch (opt) {
		case OPT_HTML: out->html = optarg; break;
		case OPT_TRACE: out->trace = optarg; break;
		case OPT_IOCTLS: out->ioctls = optarg; break;
		case 'q': out->quiet = true; break;
		case 'h': usage(stdout); exit(0);
		case OPT_VERSION: puts("tsr-sync " TSR_VERSION); exit(0);
		default: usage(stderr); exit(2);
		}
	}
	if (optind != argc - 1) {
		usage(stderr);
		exit(2);
	}
	path = find_lab(argv[optind]);
}

int main(int argc, char **argv)
{
	struct outputs out = { 0 };
	struct statement *s;

	parse_options(argc, argv, &out);
	s = parse_file(path);
	if (!s)
		return 2;
	set_title(path);
	for (const struct statement *each = s; each; each = each->next)
		find_verb(each);
	jobs_start();
	for (; s; s = s->next)
		execute(s);
	finish();
	if (!write_all(history_finish(), &out)) {
		fprintf(stderr, "tsr-sync: a file cannot be written: %s\n", strerror(errno));
		return 2;
	}
	return failure_count ? 1 : 0;
}
