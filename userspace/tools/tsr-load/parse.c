// SPDX-License-Identifier: MIT
/* Load files: lines of words. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "load.h"

#define LINE_LENGTH 500
#define LINES_MAX 1000
#define WORDS_MAX 16
#define JOB_NS_MAX S
#define DURATION_DEFAULT S

const char *const policy_names[POLICIES] = { "rr", "fifo", "fair" };

static const char *const priorities[] = { "low", "normal", "high" };
static const char *const classes[] = { "bin", "render", "compute", "copy" };

/* The file that is being read. */
struct parser {
	const char *path;
	unsigned int line;
	struct load *load;
	uint64_t duration_ns;
	unsigned int count;
	char *words[WORDS_MAX];
};

const char *priority_name(enum drm_tessera_priority priority)
{
	return priorities[priority];
}

const char *class_name(enum drm_tessera_engine_class class)
{
	return classes[class];
}

static bool fail(const struct parser *p, const char *what, const char *word)
{
	complain("%s:%u: %s%s%s", p->path, p->line, what, word ? ": " : "", word ? word : "");
	return false;
}

static bool parse_time(const char *text, uint64_t max, uint64_t *ns)
{
	static const struct {
		const char *name;
		uint64_t factor;
	} units[] = { { "us", US }, { "ms", MS }, { "s", S } };
	char *end;
	double value;

	if (!isdigit((unsigned char)*text))
		return false;
	value = strtod(text, &end);
	for (unsigned int i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(units[i].name, end))
			continue;
		if (value * units[i].factor > max)
			return false;
		*ns = value * units[i].factor + 0.5;
		return true;
	}
	return false;
}

static bool parse_number(const char *text, unsigned int max, unsigned int *number)
{
	char *end;
	unsigned long value;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	value = strtoul(text, &end, 10);
	*number = value;
	return !*end && !errno && value && value <= max;
}

static int find_word(const char *word, const char *const *list, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		if (!strcmp(list[i], word))
			return i;
	}
	return -1;
}

static int find_client(const struct load *load, const char *name, size_t length)
{
	for (unsigned int i = 0; i < load->num_clients; i++) {
		if (strlen(load->client[i].name) == length &&
		    !strncmp(load->client[i].name, name, length))
			return i;
	}
	return -1;
}

/* ---- title, duration ---- */

static bool parse_title(struct parser *p, const char *text)
{
	snprintf(p->load->title, sizeof(p->load->title), "%s", text);
	return true;
}

static bool parse_duration(struct parser *p)
{
	if (p->count != 2 || !parse_time(p->words[1], 60 * S, &p->duration_ns) || !p->duration_ns)
		return fail(p, "expected: duration TIME, at most 60s", NULL);
	return true;
}

/* ---- client ---- */

static bool is_name(const char *text)
{
	size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-_");

	return isalpha((unsigned char)*text) && !text[length] && length <= NAME_MAX_LENGTH - 4;
}

static bool parse_after(struct parser *p, struct client_spec *c, const char *value)
{
	c->after = find_client(p->load, value, strlen(value));
	return c->after >= 0;
}

static bool parse_choice(const char *value, const char *const *list, unsigned int count,
			 int *choice)
{
	*choice = find_word(value, list, count);
	return *choice >= 0;
}

/* One KEY=VALUE of a client; false if it makes no sense. */
static bool parse_option(struct parser *p, struct client_spec *c, const char *key,
			 const char *value, unsigned int *count)
{
	int choice;

	if (!strcmp(key, "priority") && parse_choice(value, priorities, 3, &choice))
		c->priority = choice;
	else if (!strcmp(key, "class") && parse_choice(value, classes, 4, &choice))
		c->class = choice;
	else if (!strcmp(key, "jobs"))
		return parse_number(value, 1024, &c->jobs);
	else if (!strcmp(key, "job"))
		return parse_time(value, JOB_NS_MAX, &c->job_ns) && c->job_ns >= US;
	else if (!strcmp(key, "wait"))
		return parse_time(value, 10 * S, &c->wait_ns);
	else if (!strcmp(key, "start"))
		return parse_time(value, 60 * S, &c->start_ns);
	else if (!strcmp(key, "depth"))
		return parse_number(value, JOBS_MAX, &c->depth);
	else if (!strcmp(key, "cycles"))
		return parse_number(value, CYCLES_MAX, &c->cycles);
	else if (!strcmp(key, "count"))
		return parse_number(value, CLIENTS_MAX, count);
	else if (!strcmp(key, "after"))
		return parse_after(p, c, value);
	else
		return false;
	return true;
}

static bool parse_options(struct parser *p, struct client_spec *c, unsigned int *count)
{
	for (unsigned int i = 2; i < p->count; i++) {
		char *value = strchr(p->words[i], '=');

		if (!strcmp(p->words[i], "sync")) {
			c->sync = true;
			continue;
		}
		if (!value)
			return fail(p, "expected KEY=VALUE or sync", p->words[i]);
		*value++ = 0;
		if (!parse_option(p, c, p->words[i], value, count)) {
			value[-1] = '=';
			return fail(p, "no such option, or a value out of its range", p->words[i]);
		}
	}
	if (!c->job_ns)
		return fail(p, "expected job=TIME, the cost of a job", NULL);
	return true;
}

/* As many cycles as fill the duration if the client is alone. */
static bool count_cycles(struct parser *p, struct client_spec *c)
{
	uint64_t period = c->jobs * c->job_ns + c->wait_ns;

	if (!c->cycles && (p->duration_ns + period - 1) / period > CYCLES_MAX)
		return fail(p, "the duration takes too many cycles", NULL);
	if (!c->cycles)
		c->cycles = (p->duration_ns + period - 1) / period;
	if ((uint64_t)c->cycles * c->jobs > JOBS_MAX)
		return fail(p, "the client has too many jobs", NULL);
	return true;
}

static bool parse_client(struct parser *p)
{
	struct client_spec c = {
		.priority = DRM_TESSERA_PRIORITY_NORMAL,
		.class = DRM_TESSERA_ENGINE_COPY,
		.jobs = 1,
		.after = -1,
	};
	unsigned int count = 1;

	if (p->count < 2 || !is_name(p->words[1]))
		return fail(p, "expected: client NAME OPTION..., a name of a-z, 0-9, - and _",
			    NULL);
	if (!parse_options(p, &c, &count) || !count_cycles(p, &c))
		return false;
	if (c.after >= 0 && p->load->client[c.after].cycles < c.cycles)
		return fail(p, "the client of after= has fewer cycles", NULL);
	for (unsigned int i = 0; i < count; i++) {
		if (p->load->num_clients == CLIENTS_MAX)
			return fail(p, "too many clients", NULL);
		if (count == 1)
			snprintf(c.name, sizeof(c.name), "%s", p->words[1]);
		else
			snprintf(c.name, sizeof(c.name), "%.27s%u", p->words[1], i + 1);
		if (find_client(p->load, c.name, strlen(c.name)) >= 0)
			return fail(p, "there is already a client of that name", c.name);
		p->load->client[p->load->num_clients++] = c;
	}
	return true;
}

/* ---- expect ---- */

static bool parse_policies(const char *text, unsigned int *policies)
{
	char copy[64], *rest = copy, *word;
	int policy;

	if (strlen(text) >= sizeof(copy))
		return false;
	strcpy(copy, text);
	*policies = 0;
	while ((word = strsep(&rest, ","))) {
		policy = find_word(word, policy_names, POLICIES);
		if (!strcmp(word, "any"))
			*policies = (1 << POLICIES) - 1;
		else if (policy < 0)
			return false;
		else
			*policies |= 1 << policy;
	}
	return true;
}

/* A number, or CLIENT.METRIC */
static bool parse_operand(const struct load *load, const char *text, struct operand *o)
{
	const char *dot = strchr(text, '.');
	char *end;
	int metric;

	o->client = -1;
	o->number = strtod(text, &end);
	if (end != text && !*end)
		return true;
	if (!dot)
		return false;
	o->client = find_client(load, text, dot - text);
	metric = metric_find(dot + 1);
	o->metric = metric;
	return o->client >= 0 && metric >= 0;
}

static bool parse_expect(struct parser *p, const char *text)
{
	struct expectation *e = &p->load->expect[p->load->num_expects];

	if (p->load->num_expects == EXPECTS_MAX)
		return fail(p, "too many expectations", NULL);
	if (p->count != 5 || (strcmp(p->words[3], "<") && strcmp(p->words[3], ">")) ||
	    !parse_policies(p->words[1], &e->policies))
		return fail(p, "expected: expect POLICY,... VALUE < VALUE, or >", NULL);
	for (unsigned int i = 2; i <= 4; i += 2) {
		if (!parse_operand(p->load, p->words[i], i == 2 ? &e->left : &e->right))
			return fail(p, "expected a number or CLIENT.METRIC", p->words[i]);
	}
	e->less = *p->words[3] == '<';
	e->line = p->line;
	snprintf(e->text, sizeof(e->text), "%s", text);
	p->load->num_expects++;
	return true;
}

/* ---- the file ---- */

static bool parse_line(struct parser *p, char *line)
{
	char text[LINE_LENGTH], *rest = line, *word;

	line[strcspn(line, "#\n")] = 0;
	line += strspn(line, " \t");
	strcpy(text, line);
	p->count = 0;
	if (!strncmp(line, "title ", 6))
		return parse_title(p, line + 6);
	rest = line;
	while ((word = strtok_r(rest, " \t\r", &rest))) {
		if (p->count == WORDS_MAX)
			return fail(p, "too many words in a line", NULL);
		p->words[p->count++] = word;
	}
	if (!p->count)
		return true;
	rest = text + strlen(p->words[0]);
	rest += strspn(rest, " \t");
	if (!strcmp(p->words[0], "duration"))
		return parse_duration(p);
	if (!strcmp(p->words[0], "client"))
		return parse_client(p);
	if (!strcmp(p->words[0], "expect"))
		return parse_expect(p, rest);
	return fail(p, "there is no statement of that name", p->words[0]);
}

/* The name of a load is that of its file. */
static void set_name(struct load *load, const char *path)
{
	const char *name = strrchr(path, '/');
	size_t length;

	name = name ? name + 1 : path;
	length = strcspn(name, ".");
	if (length >= sizeof(load->name))
		length = sizeof(load->name) - 1;
	memcpy(load->name, name, length);
	load->name[length] = 0;
}

bool load_parse(const char *path, struct load *load)
{
	struct parser p = { .path = path, .load = load, .duration_ns = DURATION_DEFAULT };
	char line[LINE_LENGTH];
	FILE *f = fopen(path, "r");
	bool good = true;

	memset(load, 0, sizeof(*load));
	if (!f) {
		complain("%s: %s", path, strerror(errno));
		return false;
	}
	set_name(load, path);
	while (good && fgets(line, sizeof(line), f)) {
		p.line++;
		if (!strchr(line, '\n') && !feof(f))
			good = fail(&p, "a line that is too long", NULL);
		else if (p.line > LINES_MAX)
			good = fail(&p, "too many lines", NULL);
		else
			good = parse_line(&p, line);
	}
	fclose(f);
	if (good && !load->num_clients)
		good = fail(&p, "expected a client, there is none", NULL);
	if (!*load->title)
		snprintf(load->title, sizeof(load->title), "%s", load->name);
	return good;
}
