/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/*
 * Input assembly: primitives of all topologies, restart, indices of all sizes, batches, provoking
 * vertices, instances; against vertex_ref.h. Padding and division of linear ids.
 */
#include <stdlib.h>
#include <string.h>

#include "binner.h"
#include "tsr_padding.h"
#include "ktap.h"
#include "soup.h"
#include "vertex_ref.h"

#define MOST 3000			/* indices of a draw */

static const uint8_t topologies[] = {
	TSR_TOPOLOGY_POINTS, TSR_TOPOLOGY_LINES, TSR_TOPOLOGY_LINE_STRIP, TSR_TOPOLOGY_LINE_LOOP,
	TSR_TOPOLOGY_TRIANGLES, TSR_TOPOLOGY_TRIANGLE_STRIP, TSR_TOPOLOGY_TRIANGLE_FAN,
	TSR_TOPOLOGY_LINES_ADJACENCY, TSR_TOPOLOGY_LINE_STRIP_ADJACENCY,
	TSR_TOPOLOGY_TRIANGLES_ADJACENCY, TSR_TOPOLOGY_TRIANGLE_STRIP_ADJACENCY,
};

/* ---- The reference, by hand ------------------------------------------------------------------ */

static void expect(unsigned int topology, const char *vertices, const char *want)
{
	struct vertex_primitive p[32];
	struct vertex_stream s = { .restarts = true, .restart = '|', .count = strlen(vertices) };
	char got[200] = "";
	uint32_t index[32], count;

	for (unsigned int i = 0; i < s.count; i++)
		index[i] = (unsigned char)vertices[i];
	s.index = index;
	count = vertex_ref_primitives(topology, &s, p, 32);
	for (unsigned int i = 0; i < count; i++) {
		if (i)
			strcat(got, " ");
		for (unsigned int k = 0; k < p[i].vertices; k++)
			strncat(got, &(char){ (char)p[i].index[k] }, 1);
	}
	if (strcmp(got, want))
		ktap_fail("topology %u of %s: %s, not %s", topology, vertices, got, want);
}

static void by_hand(void)
{
	struct vertex_primitive p[2] = { { 3, { 0, 1, 2 }, 0, 2 }, { 3, { 2, 1, 3 }, 2, 3 } };
	uint32_t sizes[8];

	expect(TSR_TOPOLOGY_POINTS, "ab|c", "a b c");
	expect(TSR_TOPOLOGY_LINES, "abc|de", "ab de");
	expect(TSR_TOPOLOGY_LINE_STRIP, "abc|de|f", "ab bc de");
	expect(TSR_TOPOLOGY_LINE_LOOP, "abc|de|f", "ab bc ca de ed");
	expect(TSR_TOPOLOGY_TRIANGLES, "abcde|fgh", "abc fgh");
	expect(TSR_TOPOLOGY_TRIANGLE_STRIP, "abcde|fg|hij", "abc bdc cde hij");
	expect(TSR_TOPOLOGY_TRIANGLE_FAN, "abcde||fgh", "bca cda dea ghf");
	expect(TSR_TOPOLOGY_LINES_ADJACENCY, "abcdefgh", "bc fg");
	expect(TSR_TOPOLOGY_LINE_STRIP_ADJACENCY, "abcde|fgh", "bc cd");
	expect(TSR_TOPOLOGY_TRIANGLES_ADJACENCY, "abcdefghijkl", "ace gik");
	expect(TSR_TOPOLOGY_TRIANGLE_STRIP_ADJACENCY, "abcdefghij", "ace cge egi");
	/* two triangles that share an edge: four vertices; in two batches if only three fit */
	ktap_eq(vertex_ref_batches(p, 2, 1, 128, 256, sizes, 8), 1);
	ktap_eq(sizes[0], 4);
	ktap_eq(vertex_ref_batches(p, 2, 1, 3, 256, sizes, 8), 2);
	ktap_eq(sizes[1], 3);
	ktap_eq(vertex_ref_batches(p, 2, 3, 128, 4, sizes, 8), 2);
	ktap_eq(sizes[0], 8);
}

/* ---- Draws ----------------------------------------------------------------------------------- */

/* A draw of the test. */
struct draw {
	struct tsr_list_draw packet;
	uint32_t index[MOST];		/* as the device must see them */
	struct vertex_stream stream;
	struct vertex_primitive primitive[MOST];
	uint32_t primitives;
	bool last;			/* provoking vertex */
};

/* Anywhere in and around a frame of one tile: few primitives are too small to be seen. */
static void position(struct binner *f, uint32_t vertex, uint32_t instance, float *record)
{
	struct soup s = soup_new(vertex * 977ull + instance * 7ull + 1);

	(void)f;
	for (unsigned int i = 0; i < 5; i++)
		soup_below(&s, 2);
	record[0] = (float)(4 * soup_fraction(&s) - 2);
	record[1] = (float)(4 * soup_fraction(&s) - 2);
	record[2] = 0.5f;
	record[3] = 1;
}

static void write_index(struct binner *f, const struct draw *d, uint32_t at, uint32_t value)
{
	unsigned int size = 1u << (d->packet.index - TSR_INDEX_TYPE_U8);

	memcpy(f->data + (size_t)at * size, &value, size);
}

static void any_draw(struct soup *s, struct binner *f, struct draw *d, unsigned int topology)
{
	uint32_t count = (uint32_t)soup_between(s, 0, soup_below(s, 3) ? 60 : MOST), missing = 0;
	uint32_t near = (uint32_t)soup_between(s, 1, soup_below(s, 2) ? 12 : 3000);
	uint32_t ones[] = { 0, 0xff, 0xffff, 0xffffffff };
	unsigned int type = (unsigned int)soup_below(s, 4);

	memset(d, 0, sizeof(*d));
	d->packet = (struct tsr_list_draw){
		.topology = topology, .index = type, .count = count,
		.instances = (uint32_t)soup_between(s, 1, soup_below(s, 2) ? 1 : 5),
		.first = (uint32_t)soup_below(s, 100), .restart = type && soup_below(s, 2),
		.explicit_padding = true, .padded_shift = 12, .padded_odd = 0,
	};
	if (type == TSR_INDEX_TYPE_U32 && d->packet.instances == 1)
		d->packet.padded_shift = 31;
	if (type) {
		d->packet.base_vertex = (int)soup_between(s, -50, 50);
		d->packet.indices = BINNER_DATA;
		/* some of the indices are beyond the buffer: they are 0 */
		missing = soup_below(s, 4) ? 0 : (uint32_t)soup_below(s, count + 1);
		d->packet.index_bytes = (uint64_t)(d->packet.first + count - missing)
					<< (type - TSR_INDEX_TYPE_U8);
	}
	for (uint32_t i = 0; i < count; i++) {
		uint32_t value = type ? (uint32_t)soup_below(s, near) & (ones[type] >> 1) : i;

		if (d->packet.restart && !soup_below(s, 20))
			value = ones[type];
		if (type)
			write_index(f, d, d->packet.first + i, value);
		d->index[i] = i + missing >= count + (type ? 0 : MOST) ? 0 : value;
	}
	d->stream = (struct vertex_stream){ d->index, count, d->packet.restart, ones[type] };
	d->primitives = vertex_ref_primitives(topology, &d->stream, d->primitive, MOST);
	d->last = soup_below(s, 2);
}

/* True if the corners are those of the reference, whichever comes first. */
static bool same(const struct binner_seen *seen, const struct vertex_primitive *p)
{
	unsigned int n = p->vertices;

	for (unsigned int turn = 0; turn < n; turn++) {
		unsigned int k = 0;

		while (k < n && seen->id[k][0] == p->index[(turn + k) % n])
			k++;
		if (k == n && (n != 2 || !turn))
			return true;
	}
	return false;
}

static bool degenerate(const struct vertex_primitive *p)
{
	return (p->vertices == 2 && p->index[0] == p->index[1]) ||
	       (p->vertices == 3 && (p->index[0] == p->index[1] || p->index[1] == p->index[2] ||
				     p->index[0] == p->index[2]));
}

static void check_seen(const struct binner *f, const struct draw *d)
{
	uint64_t before = 0;

	for (uint32_t i = 0; i < f->seen_count; i++) {
		const struct binner_seen *seen = &f->seen[i];
		const struct tsr_prim *prim = &seen->prim;
		const struct vertex_primitive *p = &d->primitive[prim->primitive_id];
		uint64_t order = (uint64_t)seen->id[0][1] * MOST + prim->primitive_id + 1;
		uint32_t leading = d->last ? p->last : p->first;

		if (prim->primitive_id >= d->primitives) {
			ktap_fail("primitive %u of %u", prim->primitive_id, d->primitives);
			continue;
		}
		ktap_eq(prim->vertices, p->vertices);
		ktap_ok(same(seen, p));
		ktap_ok(p->vertices == 2 || !degenerate(p));
		ktap_eq(seen->id[prim->provoking][0], leading);
		ktap_ok(seen->id[0][1] < d->packet.instances);
		for (unsigned int k = 1; k < p->vertices; k++)
			ktap_eq(seen->id[k][1], seen->id[0][1]);
		/* in order, instance after instance */
		ktap_ok(order >= before);
		before = order;
	}
}

static uint64_t sum(const uint32_t *sizes, uint32_t count)
{
	uint64_t total = 0;

	for (uint32_t i = 0; i < count; i++)
		total += sizes[i];
	return total;
}

static void check_batches(const struct binner *f, const struct draw *d)
{
	static uint32_t sizes[4096];
	uint32_t batches = vertex_ref_batches(d->primitive, d->primitives, d->packet.instances,
					      TSR_BATCH_VERTICES, TSR_BATCH_PRIMITIVES, sizes,
					      4096);

	ktap_eq(f->runs, batches);
	ktap_eq(f->shaded, sum(sizes, batches));
	for (uint32_t i = 0; i < batches && i < f->runs && i < 4096; i++)
		ktap_eq(f->run_vertices[i], sizes[i]);
	ktap_eq(f->bin->stat[TSR_BIN_INPUT_PRIMITIVES],
		(uint64_t)d->primitives * d->packet.instances);
}

static uint32_t seen_of[16];

static void draws(void)
{
	struct binner *f = binner_new(16, 16);
	struct soup s = soup_new(21);
	static struct draw d;

	f->position = position;
	for (unsigned int n = 0; n < 600; n++) {
		unsigned int topology = topologies[n % sizeof(topologies)];

		binner_again(f);
		any_draw(&s, f, &d, topology);
		f->draw.provoking_last = d.last;
		binner_states(f);
		binner_draw(f, &d.packet);
		if (!binner_bin(f)) {
			ktap_fail("fault %u: topology %u, index type %u, count %u",
				  f->mem.fault.code, topology, d.packet.index, d.packet.count);
			continue;
		}
		ktap_ok(binner_read(f));
		check_seen(f, &d);
		check_batches(f, &d);
		seen_of[topology] += f->seen_count;
	}
	for (unsigned int i = 0; i < sizeof(topologies); i++)
		ktap_ok(seen_of[topologies[i]] > 500);
	binner_free(f);
}

/* ---- Instancing ------------------------------------------------------------------------------ */

static void check_padding(uint64_t count)
{
	struct tsr_padding p = tsr_padded_vertices((uint32_t)count);
	uint64_t want = count < 100000 ? vertex_ref_padded(count) : vertex_ref_padded_table(count);

	ktap_eq(p.padded, want);
	ktap_eq((uint64_t)(2 * p.odd + 1) << p.shift, want);
	if (count >= 18)
		ktap_eq(vertex_ref_padded_table(count), want);
}

static void padding(void)
{
	struct soup s = soup_new(3);

	ktap_eq(vertex_ref_padded(70), 72);
	ktap_eq(vertex_ref_padded(8), 12);
	for (uint64_t count = 1; count < 3000; count++)
		check_padding(count);
	for (unsigned int n = 0; n < 100000; n++)
		check_padding(1 + soup_below(&s, UINT32_MAX));
	for (unsigned int bit = 5; bit < 32; bit++) {
		for (uint64_t high = 8; high < 16; high++) {
			check_padding((high << bit >> 3) - 1);
			check_padding(high << bit >> 3);
		}
	}
	check_padding(UINT32_MAX);
	ktap_eq(tsr_padded_vertices(UINT32_MAX).padded, 1ull << 32);
	ktap_eq(tsr_padded_vertices(0xe0000000u).padded, 1ull << 32);
}

static void check_division(uint32_t d, uint32_t id)
{
	struct vertex_magic other;
	bool second;

	ktap_eq(vertex_ref_divide(vertex_ref_magic(d, &other, &second), id), id / d);
	if (second)
		ktap_eq(vertex_ref_divide(other, id), id / d);
}

static void division(void)
{
	static const uint32_t listed[] = { 3, 7, 11, 65537, 4971027, 0x7fffffff, 0x80000001,
					   0xffffffff, 5, 6, 641, 6700417 };
	struct soup s = soup_new(4);

	for (unsigned int n = 0; n < 20000; n++) {
		uint32_t d = n < sizeof(listed) / 4 ? listed[n] :
							      (uint32_t)soup_below(&s, 1ull << 32);

		if (d < 3 || !(d & (d - 1)))
			continue;
		check_division(d, 0);
		check_division(d, 0xffffffff);
		for (unsigned int k = 0; k < 20; k++) {
			uint32_t q = (uint32_t)soup_below(&s, UINT32_MAX / d + 1ull);

			check_division(d, q * d);
			check_division(d, q * d - 1);
			check_division(d, (uint32_t)soup_below(&s, 1ull << 32));
		}
	}
}

int main(void)
{
	ktap_start();
	ktap_run("the reference's primitives and batches", by_hand);
	ktap_run("[IA1] [IA2] [IA4] [IA6] primitives, provoking vertices and batches of all draws",
		 draws);
	ktap_run("[INST1] padded numbers of vertices", padding);
	ktap_run("the reference's division by multiplication", division);
	return ktap_finish();
}
