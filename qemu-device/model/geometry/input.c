/* SPDX-License-Identifier: MIT */
/*
 * Input assembly: indices, restart, topologies, and the greedy rule by which primitives become
 * batches: a primitive joins the batch if its vertices that are not in it yet find room and there
 * are less than TSR_BATCH_PRIMITIVES; else the batch ends before it.
 */
#include "binner/bin.h"

#include <string.h>

#include "stages.h"

void tsr_bin_batch_begin(struct tsr_binning *bin)
{
	struct tsr_bin_batch *b = &bin->batch;

	b->vertices = 0;
	b->primitives = 0;
	b->next = 0;
	b->vertex_data = 0;
	b->generation++;
	if (b->generation >> 24) {
		memset(b->tag, 0, sizeof(b->tag));
		b->generation = 1;
	}
}

/* An instance begins: its vertices are others than those of the last one. */
static void next_generation(struct tsr_bin_batch *b)
{
	if (++b->generation >> 24) {
		memset(b->tag, 0, sizeof(b->tag));
		b->generation = 1;
	}
}

static inline unsigned int first_tag(uint32_t index)
{
	return index * 0x9e3779b1u >> (32 - TSR_BIN_TAGS_LOG2);
}

/* Where the tag of @index is, or would be. Apart: most need not look further than at the first. */
static __attribute__((noinline)) uint64_t *find(struct tsr_bin_batch *b, uint32_t index)
{
	unsigned int at = first_tag(index);

	while ((uint32_t)b->tag[at] >> 8 == b->generation && b->tag[at] >> 32 != index)
		at = (at + 1) % TSR_BIN_TAGS;
	return &b->tag[at];
}

/*
 * The slot of @index, which finds room: its own, or number @*vertices, which is its own then. The
 * caller, who asks for many, has at hand what a tag with slot 0 has in its lower half, @owner, and
 * where @vertex is in the run.
 */
static inline uint64_t slot_of(struct tsr_bin_batch *b, uint32_t owner, uint32_t *vertex,
			       uint32_t index, unsigned int *vertices)
{
	const uint64_t first = (uint64_t)index << 32 | owner;
	uint64_t *tag = &b->tag[first_tag(index)], slot = *tag ^ first;

	/* most are where they are looked for first, or nowhere */
	if (slot <= UINT8_MAX)
		return slot;
	if ((uint32_t)slot <= UINT8_MAX) {
		tag = find(b, index);
		slot = *tag ^ first;
		if (slot <= UINT8_MAX)
			return slot;
	}
	slot = (*vertices)++;
	*tag = first | slot;
	vertex[slot] = index;
	return slot;
}

/* The vertices after the first @vertices of @all, the last ones that came, are none any more. */
static void forget(struct tsr_bin_batch *b, const uint32_t *vertex, unsigned int vertices,
		   unsigned int all)
{
	while (all-- > vertices)
		*find(b, vertex[all]) = 0;
}

/* The batch has @vertices now: what is known of the new ones beside their index. */
static inline void have_vertices(struct tsr_binning *bin, unsigned int vertices)
{
	struct tsr_vertex_run *run = bin->run;

	for (unsigned int slot = bin->batch.vertices; slot < vertices; slot++) {
		run->instance[slot] = bin->draw.instance;
		run->slot[slot] = slot;
	}
	bin->batch.vertices = vertices;
}

/* whether the @n vertices @v fit into the batch. */
static bool batch_fits(struct tsr_bin_batch *b, const uint32_t *v, unsigned int n)
{
	unsigned int fresh = 0;

	if (b->primitives == TSR_BATCH_PRIMITIVES)
		return false;
	if (b->vertices + n <= TSR_BATCH_VERTICES)
		return true;
	for (unsigned int i = 0; i < n; i++) {
		bool before = false;

		for (unsigned int j = 0; j < i; j++)
			before |= v[j] == v[i];
		fresh += !before && (uint32_t)*find(b, v[i]) >> 8 != b->generation;
	}
	return b->vertices + fresh <= TSR_BATCH_VERTICES;
}

/*
 * A primitive of vertices @v is complete; @first and @last are the provoking ones by either rule.
 * False: it does not fit.
 */
static bool emit(struct tsr_binning *bin, const uint32_t *v, unsigned int n, unsigned int first,
		 unsigned int last)
{
	struct tsr_bin_batch *b = &bin->batch;
	unsigned int provoking = bin->state->draw->provoking_last ? last : first;
	unsigned int vertices = b->vertices;
	uint64_t word;

	if (!batch_fits(b, v, n))
		return false;
	word = (uint64_t)bin->draw.primitive++ << 32 |
	       (uint64_t)n << TSR_HEAP_PRIMITIVE_VERTICES__SHIFT |
	       (uint64_t)provoking << TSR_HEAP_PRIMITIVE_PROVOKING__SHIFT;
	for (unsigned int i = 0; i < n; i++)
		word |= slot_of(b, b->generation << 8, bin->run->vertex, v[i], &vertices) << 8 * i;
	have_vertices(bin, vertices);
	b->primitive[b->primitives++] = word;
	return true;
}

/*
 * Emits a primitive with its adjacent vertices, for a geometry shader that reads them, or a patch:
 * @n vertices in the order of the shader.
 */
static bool emit_input(struct tsr_binning *bin, const uint32_t *v, unsigned int n)
{
	struct tsr_stage_list *list = &bin->stages->input;
	struct tsr_bin_draw *d = &bin->draw;
	struct tsr_bin_batch *b = &bin->batch;
	unsigned int vertices = b->vertices;

	if (!batch_fits(b, v, n))
		return false;
	for (unsigned int i = 0; i < n; i++)
		list->slot[b->primitives][i] = (uint8_t)slot_of(b, b->generation << 8,
								bin->run->vertex, v[i], &vertices);
	have_vertices(bin, vertices);
	list->id[b->primitives] = d->primitive;
	list->instance[b->primitives] = d->instance;
	b->primitive[b->primitives++] = (uint64_t)d->primitive++ << 32;
	return true;
}

/* True if the geometry shader reads adjacent vertices. */
static bool neighbours(const struct tsr_binning *bin)
{
	return bin->state->geometry && bin->stages->neighbours;
}

/* ---- Topologies ------------------------------------------------------------------------------ */

/* Lists: @n vertices make a primitive, of those whose number is @first + i * @step. */
static bool feed_list(struct tsr_binning *bin, uint32_t index, unsigned int n, unsigned int used,
		      unsigned int first, unsigned int step)
{
	struct tsr_bin_draw *d = &bin->draw;
	uint32_t v[3] = { 0 };

	d->v[d->have] = index;
	if (d->have + 1u < n) {
		d->have++;
		return true;
	}
	for (unsigned int i = 0; i < used; i++)
		v[i] = d->v[first + i * step];
	if (used < n && neighbours(bin) ? !emit_input(bin, d->v, n) :
					  !emit(bin, v, used, 0, used - 1))
		return false;
	d->have = 0;
	return true;
}

static bool feed_line_strip(struct tsr_binning *bin, uint32_t index)
{
	struct tsr_bin_draw *d = &bin->draw;
	const uint32_t v[2] = { d->v[0], index };

	if (d->have && !emit(bin, v, 2, 0, 1))
		return false;
	if (!d->have)
		d->loop = index;
	d->looped = d->have;
	d->have = 1;
	d->v[0] = index;
	return true;
}

/* Triangle number 2n + 1 is turned round; the vertex that is its provoking one stays it. */
static bool emit_reversed(struct tsr_binning *bin, uint32_t a, uint32_t b, uint32_t c)
{
	struct tsr_bin_draw *d = &bin->draw;
	const uint32_t even[3] = { a, b, c }, odd[3] = { a, c, b };

	if (!emit(bin, d->odd ? odd : even, 3, 0, d->odd ? 1 : 2))
		return false;
	d->odd = !d->odd;
	return true;
}

static bool feed_strip(struct tsr_binning *bin, uint32_t index)
{
	struct tsr_bin_draw *d = &bin->draw;

	if (d->have < 2) {
		d->v[d->have++] = index;
		return true;
	}
	if (!emit_reversed(bin, d->v[0], d->v[1], index))
		return false;
	d->v[0] = d->v[1];
	d->v[1] = index;
	return true;
}

static bool feed_fan(struct tsr_binning *bin, uint32_t index)
{
	struct tsr_bin_draw *d = &bin->draw;
	const uint32_t v[3] = { d->v[0], d->v[1], index };

	if (d->have < 2) {
		d->v[d->have++] = index;
		return true;
	}
	if (!emit(bin, v, 3, 1, 2))
		return false;
	d->v[1] = index;
	return true;
}

static bool feed_line_strip_adjacency(struct tsr_binning *bin, uint32_t index)
{
	struct tsr_bin_draw *d = &bin->draw;

	d->v[d->have] = index;
	if (d->have < 3) {
		d->have++;
		return true;
	}
	if (neighbours(bin) ? !emit_input(bin, d->v, 4) : !emit(bin, &d->v[1], 2, 0, 1))
		return false;
	d->v[0] = d->v[1];
	d->v[1] = d->v[2];
	d->v[2] = index;
	return true;
}

/* A triangle of a strip with adjacency. @w has its vertices from number 2n - 2 on. */
static bool emit_strip_adjacency(struct tsr_binning *bin, const uint32_t *w, bool last)
{
	struct tsr_bin_draw *d = &bin->draw;
	const uint32_t before = w[d->looped ? 0 : 3], next = w[last ? 7 : 8];
	const uint32_t even[6] = { w[2], before, w[4], next, w[6], w[5] };
	const uint32_t odd[6] = { w[2], w[5], w[6], next, w[4], before };

	if (!emit_input(bin, d->odd ? odd : even, 6))
		return false;
	d->odd = !d->odd;
	d->looped = true;
	return true;
}

/*
 * A triangle waits until two vertices more than its possible adjacent ones have arrived, because
 * then it is not the last one. Vertices wait together with those of patches.
 */
static bool feed_neighbours(struct tsr_binning *bin, uint32_t index)
{
	uint32_t *w = bin->stages->waiting;
	struct tsr_bin_draw *d = &bin->draw;

	if (!d->have)
		d->have = 2;
	w[d->have] = index;
	if (d->have < 9) {
		d->have++;
		return true;
	}
	if (!emit_strip_adjacency(bin, w, false))
		return false;
	memmove(w, w + 2, 8 * sizeof(w[0]));
	d->have = 8;
	return true;
}

/* Triangle n is vertices 2n, 2n + 2, 2n + 4; it is complete with vertex 2n + 5. */
static bool feed_triangle_strip_adjacency(struct tsr_binning *bin, uint32_t index)
{
	struct tsr_bin_draw *d = &bin->draw;

	if (neighbours(bin))
		return feed_neighbours(bin, index);
	if (d->have < 5) {
		d->v[d->have++] = index;
		return true;
	}
	if (!emit_reversed(bin, d->v[0], d->v[2], d->v[4]))
		return false;
	memmove(&d->v[0], &d->v[2], 3 * sizeof(d->v[0]));
	d->v[3] = index;
	d->have = 4;
	return true;
}

/* Patches: their vertices are shaded, whoever comes to take them. */
static bool feed_patch(struct tsr_binning *bin, uint32_t index)
{
	const unsigned int n = bin->state->geometry->patch_points;
	struct tsr_bin_draw *d = &bin->draw;
	uint32_t *v = bin->stages->waiting;

	v[d->have] = index;
	if (d->have + 1u < n) {
		d->have++;
		return true;
	}
	if (!emit_input(bin, v, n))
		return false;
	d->have = 0;
	return true;
}

/* The next vertex. False: the primitive it completes does not fit. */
static bool feed(struct tsr_binning *bin, uint32_t index)
{
	switch (bin->draw.topology) {
	case TSR_TOPOLOGY_POINTS:
		return feed_list(bin, index, 1, 1, 0, 1);
	case TSR_TOPOLOGY_LINES:
		return feed_list(bin, index, 2, 2, 0, 1);
	case TSR_TOPOLOGY_LINE_STRIP:
	case TSR_TOPOLOGY_LINE_LOOP:
		return feed_line_strip(bin, index);
	case TSR_TOPOLOGY_TRIANGLES:
		return feed_list(bin, index, 3, 3, 0, 1);
	case TSR_TOPOLOGY_TRIANGLE_STRIP:
		return feed_strip(bin, index);
	case TSR_TOPOLOGY_TRIANGLE_FAN:
		return feed_fan(bin, index);
	case TSR_TOPOLOGY_LINES_ADJACENCY:
		return feed_list(bin, index, 4, 2, 1, 1);
	case TSR_TOPOLOGY_LINE_STRIP_ADJACENCY:
		return feed_line_strip_adjacency(bin, index);
	case TSR_TOPOLOGY_TRIANGLES_ADJACENCY:
		return feed_list(bin, index, 6, 3, 0, 2);
	case TSR_TOPOLOGY_PATCHES:
		return feed_patch(bin, index);
	default:
		return feed_triangle_strip_adjacency(bin, index);
	}
}

/* A strip ends, by restart or with the instance. False: the loop's last line does not fit. */
static bool end_strip(struct tsr_binning *bin)
{
	struct tsr_bin_draw *d = &bin->draw;
	const uint32_t v[2] = { d->v[0], d->loop };

	if (d->topology == TSR_TOPOLOGY_LINE_LOOP && d->looped && !emit(bin, v, 2, 0, 1))
		return false;
	if (d->topology == TSR_TOPOLOGY_TRIANGLE_STRIP_ADJACENCY && d->have >= 8 &&
	    neighbours(bin) && !emit_strip_adjacency(bin, bin->stages->waiting, true))
		return false;
	d->have = 0;
	d->odd = false;
	d->looped = false;
	return true;
}

/* ---- Indices --------------------------------------------------------------------------------- */

/* Bytes of an index. */
static inline unsigned int index_size(unsigned int type)
{
	return 1u << (type - TSR_INDEX_TYPE_U8);
}

/* Widens 8-bit or 16-bit indices. */
static void widen(uint32_t *index, const uint8_t *bytes, unsigned int type, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint16_t half;

		if (type == TSR_INDEX_TYPE_U16) {
			memcpy(&half, &bytes[2 * i], 2);
			index[i] = half;
		} else {
			index[i] = bytes[i];
		}
	}
}

/* The processor is told of the indices from @va on: they are read next, unless there are none. */
static void prefetch(const struct tsr_binning *bin, uint64_t va)
{
	const uint64_t last = va % TSR_ACCESS_PAGE_BYTES + sizeof(bin->index);
	const uint8_t *page = tsr_access_find(bin->access, bin->access->read, va);

	if (!page)
		return;
	for (uint64_t at = va % TSR_ACCESS_PAGE_BYTES; at < last; at += TSR_ACCESS_LINE_BYTES)
		__builtin_prefetch((const void *)((uintptr_t)page + at));
}

/* Read indices from number @at of the instance on; those beyond the buffer are 0. */
static enum tsr_step read_indices(struct tsr_binning *bin, struct tsr_mem *mem, uint32_t at)
{
	uint8_t bytes[2 * TSR_BIN_INDICES];
	const struct tsr_bin_draw *d = &bin->draw;
	unsigned int size = index_size(d->index);
	uint64_t there = d->indices ? d->index_bytes / size : 0, from = (uint64_t)d->first + at;
	uint32_t n = d->count - at < TSR_BIN_INDICES ? d->count - at : TSR_BIN_INDICES;
	uint32_t valid = from >= there ? 0 : there - from < n ? there - from : n;
	bool wide = d->index == TSR_INDEX_TYPE_U32;
	enum tsr_step step;

	mem->unit = TSR_UNIT_BINNER;
	bin->index_held = 0;
	step = tsr_bin_read(bin, mem, d->indices + from * size, wide ? (void *)bin->index : bytes,
			    valid * size);
	if (step != TSR_STEP_DONE)
		return step;
	if (!wide)
		widen(bin->index, bytes, d->index, valid);
	prefetch(bin, d->indices + (from + valid) * size);
	memset(&bin->index[valid], 0, (n - valid) * sizeof(bin->index[0]));
	bin->index_at = at;
	bin->index_held = n;
	return TSR_STEP_DONE;
}

/* The indices from @at on are in bin->index: as many as there are for vertices that are counted. */
static void count_vertices(struct tsr_binning *bin, uint32_t at)
{
	const struct tsr_bin_draw *d = &bin->draw;
	uint32_t n = d->count - at < TSR_BIN_INDICES ? d->count - at : TSR_BIN_INDICES;

	for (uint32_t i = 0; i < n; i++)
		bin->index[i] = at + i;
	bin->index_at = at;
	bin->index_held = n;
}

static enum tsr_step have_indices(struct tsr_binning *bin, struct tsr_mem *mem)
{
	uint32_t at = bin->draw.at;

	if (at - bin->index_at < bin->index_held)
		return TSR_STEP_DONE;
	if (bin->draw.index != TSR_INDEX_TYPE_NONE)
		return read_indices(bin, mem, at);
	count_vertices(bin, at);
	return TSR_STEP_DONE;
}

/* Values of the batch and the draw that feed_triangles() keeps in registers. */
struct triangles {
	struct tsr_bin_batch *batch;
	uint32_t owner;			/* the lower half of a tag with slot 0 */
	uint32_t *vertex;		/* of the run */
	unsigned int vertices;		/* of the batch */
	bool full;			/* the next one does not fit */
	uint64_t *to;			/* the batch's next primitive */
	uint64_t word;			/* that is to be, without slots */
};

static inline uint64_t slot_in(struct triangles *t, uint32_t index)
{
	return slot_of(t->batch, t->owner, t->vertex, index, &t->vertices);
}

/*
 * Triangles of a list, one after the other, from @v to @stop, as long as there is room: what feed()
 * does with each index, without looking what is to be done. Returns where it has stopped.
 */
static inline const uint32_t *feed_triangles(struct triangles *held, const uint32_t *v,
					     const uint32_t *stop, bool restarts, uint32_t restart,
					     uint64_t limit)
{
	struct triangles t = *held;
	const size_t capacity = &t.batch->primitive[TSR_BATCH_PRIMITIVES] - t.to;
	/* corners 0 and 2 of the triangle before, and its word */
	uint32_t hub = ~v[0], rim = 0;
	uint64_t last = 0;

	t.full = (size_t)(stop - v) > 3 * capacity;
	if (t.full)
		stop = v + 3 * capacity;
	for (; v < stop; v += 3) {
		const unsigned int before = t.vertices;
		uint64_t word = t.word;

		if (restarts && (v[0] == restart || v[1] == restart || v[2] == restart)) {
			t.full = false;
			break;
		}
		if (v[0] == hub && v[1] == rim) {
			/* continues as a fan, as the two triangles of a quad usually do */
			word |= (last & 0xff) | (last >> 8 & 0xff00);
		} else {
			word |= slot_in(&t, v[0] < limit ? v[0] : 0);
			word |= slot_in(&t, v[1] < limit ? v[1] : 0) << 8;
		}
		word |= slot_in(&t, v[2] < limit ? v[2] : 0) << 16;
		if (t.vertices > TSR_BATCH_VERTICES) {
			forget(t.batch, t.vertex, before, t.vertices);
			t.vertices = before;
			t.full = true;
			break;
		}
		*t.to++ = word;
		t.word += 1ull << 32;
		hub = v[0];
		rim = v[2];
		last = word;
	}
	*held = t;
	return v;
}

/* Most indices need no look. A function of its own: in a larger one registers would not suffice. */
static __attribute__((noinline)) const uint32_t *
feed_plain_triangles(struct triangles *t, const uint32_t *v, const uint32_t *stop)
{
	return feed_triangles(t, v, stop, false, 0, UINT64_MAX);
}

/* Feeds the triangles that are complete in bin->index. False if the batch is full. */
static bool feed_list_triangles(struct tsr_binning *bin, uint32_t restart, uint64_t limit)
{
	struct tsr_bin_batch *b = &bin->batch;
	struct tsr_bin_draw *d = &bin->draw;
	const uint32_t *v = &bin->index[d->at - bin->index_at];
	const uint32_t *stop = v + (bin->index_at + bin->index_held - d->at) / 3 * 3;
	const uint64_t last = bin->state->draw->provoking_last ? 2 : 0;
	struct triangles t = {
		b, b->generation << 8, bin->run->vertex, b->vertices, false,
		&b->primitive[b->primitives],
		(uint64_t)d->primitive << 32 | 3ull << TSR_HEAP_PRIMITIVE_VERTICES__SHIFT |
			last << TSR_HEAP_PRIMITIVE_PROVOKING__SHIFT,
	};

	if (d->restart || limit <= UINT32_MAX)
		stop = feed_triangles(&t, v, stop, d->restart, restart, limit);
	else
		stop = feed_plain_triangles(&t, v, stop);
	d->at += stop - v;
	b->primitives = t.to - b->primitive;
	d->primitive = t.word >> 32;
	have_vertices(bin, t.vertices);
	return !t.full;
}

/* Feed what is in bin->index. False: the batch is full. */
static bool feed_held(struct tsr_binning *bin)
{
	struct tsr_bin_draw *d = &bin->draw;
	uint32_t restart = d->index == TSR_INDEX_TYPE_NONE ? 0 :
			   UINT32_MAX >> (32 - 8 * index_size(d->index));
	uint64_t limit = d->instances > 1 ? d->padded : UINT64_MAX;
	uint32_t end = bin->index_at + bin->index_held, begun = d->at, restarts = 0;
	bool fits = true;

	while (fits && d->at != end) {
		uint32_t index;

		if (d->topology == TSR_TOPOLOGY_TRIANGLES && !d->have) {
			fits = feed_list_triangles(bin, restart, limit);
			if (!fits || d->at == end)
				break;
		}
		index = bin->index[d->at - bin->index_at];
		if (d->restart && index == restart) {
			fits = end_strip(bin);
			restarts += fits;
		} else {
			fits = feed(bin, index < limit ? index : 0);
		}
		d->at += fits;
	}
	bin->stat[TSR_BIN_INPUT_VERTICES] += d->at - begun - restarts;
	tsr_bin_spend(bin, d->at - begun);
	return fits;
}

enum tsr_step tsr_bin_input(struct tsr_binning *bin, struct tsr_mem *mem)
{
	struct tsr_bin_draw *d = &bin->draw;

	while (d->instance < d->instances) {
		while (d->at < d->count) {
			enum tsr_step step = have_indices(bin, mem);

			if (step != TSR_STEP_DONE)
				return step;
			if (!feed_held(bin))
				return TSR_STEP_MORE;
			if (bin->effort < 0)
				return TSR_STEP_MORE;
		}
		if (!end_strip(bin))
			return TSR_STEP_MORE;
		d->at = 0;
		d->primitive = 0;
		d->instance++;
		next_generation(&bin->batch);
		tsr_bin_spend(bin, 1);
		if (bin->effort < 0)
			return d->instance < d->instances ? TSR_STEP_MORE : TSR_STEP_DONE;
	}
	return TSR_STEP_DONE;
}
