// SPDX-License-Identifier: MIT
/* The report as an HTML page: a picture of lanes with arrows for fences, and the table. */
#include <stdlib.h>
#include <string.h>

#include "sync.h"

#define LEFT 130 /* pixels: names of lanes */
#define WIDTH 1000 /* the time axis */
#define LANE 34
#define TOP 30

static const char *const style =
	"body{font:14px sans-serif;margin:2em;max-width:1200px}svg{background:#fafafa;border:1px "
	"solid #ccc}"
	"table{border-collapse:collapse;margin-top:1em}td,th{padding:2px 10px;text-align:left}"
	"td:first-child{text-align:right;font-family:monospace}tr:nth-child(even){background:#"
	"f4f4f4}"
	".bad{color:#b00020}.wait{fill:#d8d8d8}.run{fill:#5b8def}.err{fill:#d9534f}.cpu{fill:#"
	"8fbf7f}"
	".fence{stroke:#333;stroke-width:1.3;fill:none;marker-end:url(#a)}.tick{stroke:#ddd}"
	"text{font-size:12px}.small{font-size:10px;fill:#555}";

struct page {
	FILE *f;
	const struct history *h;
	const char *lanes[LANES_MAX];
	unsigned int lane_count;
	double ns_per_pixel;
};

static void html_text(FILE *f, const char *text)
{
	for (; *text; text++) {
		if (*text == '<')
			fputs("&lt;", f);
		else if (*text == '&')
			fputs("&amp;", f);
		else if (*text == '"')
			fputs("&quot;", f);
		else
			fputc(*text, f);
	}
}

static double x_of(const struct page *p, uint64_t ns)
{
	return LEFT + (ns - p->h->start) / p->ns_per_pixel;
}

static unsigned int y_of(const struct page *p, const char *lane)
{
	return TOP + LANE * lane_of(p->lanes, p->lane_count, lane);
}

static void bar(const struct page *p, const struct event *begin, const struct event *end,
		const char *class)
{
	double x, width;
	char text[24];

	if (!begin || !end || end->ns < begin->ns)
		return;
	x = x_of(p, begin->ns);
	width = x_of(p, end->ns) - x;
	fprintf(p->f, "<rect class=\"%s\" x=\"%.1f\" y=\"%u\" width=\"%.1f\" height=\"%u\"><title>",
		class, x, y_of(p, end->lane) + 8, width < 1 ? 1 : width, LANE - 16);
	html_text(p->f, end->who);
	fprintf(p->f, ": %.3f to %.3f ms, %s</title></rect>\n", (begin->ns - p->h->start) / 1e6,
		(end->ns - p->h->start) / 1e6, error_name(end->error, text));
}

/* A job: what it waited before it began, and then what it took. A wait is of the second kind only.
 */
static void draw_bars(const struct page *p, const struct event *done)
{
	const struct event *submit = find_event(p->h, done->who, EVENT_SUBMIT);
	const struct event *begin = find_event(p->h, done->who, EVENT_BEGIN);

	bar(p, submit, begin ? begin : done, "wait");
	bar(p, begin, done, done->error ? "err" : submit ? "run" : "cpu");
	fprintf(p->f, "<text class=\"small\" x=\"%.1f\" y=\"%u\">",
		x_of(p, begin ? begin->ns : done->ns) + 2, y_of(p, done->lane) + 7);
	html_text(p->f, done->who);
	fputs("</text>\n", p->f);
}

static void draw_edge(const struct page *p, const struct edge *edge)
{
	const struct event *from = find_event(p->h, edge->from, EVENT_DONE),
			   *to = edge_target(p->h, edge);
	double x1, x2;
	int y1, y2;

	if (!from || !to)
		return;
	x1 = x_of(p, from->ns);
	x2 = x_of(p, to->ns);
	y1 = y_of(p, from->lane) + LANE / 2;
	y2 = y_of(p, to->lane) + LANE / 2;
	fprintf(p->f,
		"<path class=\"fence\" d=\"M%.1f %d C%.1f %d %.1f %d %.1f %d\"><title>fence of ",
		x1, y1, x1 + 18, y1, x2 - 18, y2, x2, y2);
	html_text(p->f, edge->from);
	fputs("</title></path>\n", p->f);
}

/* Ticks at a round distance, some ten of them. */
static void draw_axis(const struct page *p, uint64_t length)
{
	uint64_t step = 1000;
	unsigned int height = TOP + LANE * p->lane_count;

	while (step * 12 < length)
		step *= step * 12 * 2 < length ? (step * 12 * 5 < length ? 10 : 5) : 2;
	for (uint64_t t = 0; t <= length; t += step) {
		double x = LEFT + t / p->ns_per_pixel;

		fprintf(p->f,
			"<line class=\"tick\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%u\" y2=\"%u\"/>"
			"<text class=\"small\" x=\"%.1f\" y=\"14\">%g ms</text>\n",
			x, x, 18, height, x, t / 1e6);
	}
	for (unsigned int i = 0; i < p->lane_count; i++) {
		fprintf(p->f, "<text x=\"8\" y=\"%u\">", TOP + LANE * i + LANE / 2 + 4);
		html_text(p->f, p->lanes[i]);
		fputs("</text>\n", p->f);
	}
}

static void draw(const struct page *p, uint64_t length)
{
	fprintf(p->f,
		"<svg width=\"%d\" height=\"%u\" "
		"xmlns=\"http://www.w3.org/2000/svg\"><defs><marker id=\"a\" "
		"viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" "
		"orient=\"auto\">"
		"<path d=\"M0 0L8 4L0 8z\"/></marker></defs>\n",
		LEFT + WIDTH + 60, TOP + LANE * p->lane_count + 8);
	draw_axis(p, length);
	for (unsigned int i = 0; i < p->h->count; i++) {
		const struct event *e = &p->h->events[i];

		if (e->kind == EVENT_DONE)
			draw_bars(p, e);
		if (e->kind != EVENT_STATEMENT)
			continue;
		fprintf(p->f, "<circle cx=\"%.1f\" cy=\"%u\" r=\"3\" fill=\"%s\"><title>",
			x_of(p, e->ns), y_of(p, e->lane) + LANE / 2, e->error ? "#d9534f" : "#555");
		html_text(p->f, e->text);
		fputs("</title></circle>\n", p->f);
	}
	for (unsigned int i = 0; i < p->h->edge_count; i++)
		draw_edge(p, &p->h->edges[i]);
	fputs("</svg>\n", p->f);
}

static void write_table(const struct page *p)
{
	fputs("<table><tr><th>ms</th><th>where</th><th>what</th></tr>\n", p->f);
	for (unsigned int i = 0; i < p->h->count; i++) {
		const struct event *e = &p->h->events[i];

		fprintf(p->f, "<tr%s><td>%.3f</td><td>", e->error ? " class=\"bad\"" : "",
			(e->ns - p->h->start) / 1e6);
		html_text(p->f, e->lane);
		fputs("</td><td>", p->f);
		html_text(p->f, e->text);
		fputs("</td></tr>\n", p->f);
	}
	fputs("</table>\n", p->f);
}

void write_html(const struct history *h, FILE *f)
{
	struct page p = { .f = f, .h = h };
	uint64_t length;

	p.lane_count = list_lanes(h, p.lanes);
	length = h->count ? h->events[h->count - 1].ns - h->start + 1 : 1;
	p.ns_per_pixel = (double)length / WIDTH;
	fprintf(p.f, "<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>");
	html_text(p.f, h->title);
	fprintf(p.f, "</title><style>%s</style>\n<h1>", style);
	html_text(p.f, h->title);
	fputs("</h1>\n<p>Gray: submitted and waiting. Blue: running. Green: the CPU waits. Red: it "
	      "failed. "
	      "An arrow is a fence that had to signal first. Rest the pointer on anything for its "
	      "times.</p>\n",
	      p.f);
	draw(&p, length);
	write_table(&p);
	fputs("</html>\n", p.f);
}
