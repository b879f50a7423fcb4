/* SPDX-License-Identifier: MIT */
/* Counters and queries at the end of a BIN: see commit.h. */
#include "commit.h"

#include "bin.h"
#include "geometry/stages.h"

/* Where a statistic is in PIPELINE_STATISTICS. */
static const uint8_t word_of_stat[TSR_BIN_QUERIED] = {
	[TSR_BIN_INPUT_PRIMITIVES] = TSR_PIPELINE_STATISTICS_INPUT_PRIMITIVES__QWORD,
	[TSR_BIN_VERTEX_INVOCATIONS] = TSR_PIPELINE_STATISTICS_VERTEX_INVOCATIONS__QWORD,
	[TSR_BIN_CLIPPING_INVOCATIONS] = TSR_PIPELINE_STATISTICS_CLIPPING_INVOCATIONS__QWORD,
	[TSR_BIN_CLIPPING_PRIMITIVES] = TSR_PIPELINE_STATISTICS_CLIPPING_PRIMITIVES__QWORD,
	[TSR_BIN_HULL_PATCHES] = TSR_PIPELINE_STATISTICS_HULL_PATCHES__QWORD,
	[TSR_BIN_DOMAIN_INVOCATIONS] = TSR_PIPELINE_STATISTICS_DOMAIN_INVOCATIONS__QWORD,
	[TSR_BIN_GEOMETRY_INVOCATIONS] = TSR_PIPELINE_STATISTICS_GEOMETRY_INVOCATIONS__QWORD,
	[TSR_BIN_GEOMETRY_PRIMITIVES] = TSR_PIPELINE_STATISTICS_GEOMETRY_PRIMITIVES__QWORD,
};

/* ---- A draw ends ----------------------------------------------------------------------------- */

/* The sum for the query at @va; NULL: there are as many as there can be. */
static struct tsr_bin_sum *find_sum(struct tsr_binning *bin, uint64_t va)
{
	for (unsigned int i = bin->sums; i > 0; i--) {
		if (bin->sum[i - 1].va == va)
			return &bin->sum[i - 1];
	}
	if (bin->sums == TSR_BIN_SUMS)
		return NULL;
	bin->sum[bin->sums] = (struct tsr_bin_sum){ .va = va };
	return &bin->sum[bin->sums++];
}

enum tsr_step tsr_bin_add_statistics(struct tsr_binning *bin, struct tsr_mem *mem)
{
	const uint64_t va = bin->state->query[TSR_QUERY_STATISTICS];
	struct tsr_bin_sum *sum = va ? find_sum(bin, va) : NULL;

	mem->unit = TSR_UNIT_BINNER;
	for (unsigned int i = 0; i < TSR_BIN_QUERIED; i++) {
		const uint64_t more = bin->stat[i] - bin->queried[i];
		enum tsr_step step = TSR_STEP_DONE;

		if (sum)
			sum->more[i] += more;
		else if (va && more)
			step = tsr_mem_add(mem, va + 8 * word_of_stat[i], true, more);
		if (step != TSR_STEP_DONE)
			return step;
		bin->queried[i] = bin->stat[i];
	}
	return TSR_STEP_DONE;
}

/* ---- The command ends ------------------------------------------------------------------------ */

enum {
	STREAM_WORDS = 3 * TSR_STREAM_OUT_COUNTERS_MAX,
	WORDS_MAX = STREAM_WORDS + TSR_BIN_SUMS * TSR_BIN_QUERIED,
};

/* On pages that are not contiguous on the host, each word is reported separately. */
_Static_assert((int)WORDS_MAX <= TSR_ACCESS_RESERVE, "what is written in one go");

/* A word of memory that is written, or that @value is added to. */
struct word {
	uint64_t va, value;
	bool added;
};

/* Word @i of the STREAM queries. */
static struct word of_stream_query(const struct tsr_stream_out *out, unsigned int i)
{
	const struct tsr_stream_query *query = &out->query[i / 2];

	return (struct word){
		.va = query->va + (i % 2 ? 8 : 0), .added = true,
		.value = i % 2 ? query->written : query->needed,
	};
}

static struct word word_of(const struct tsr_binning *bin, unsigned int i)
{
	const struct tsr_stream_out *out = bin->stages ? &bin->stages->out : NULL;
	const unsigned int counters = out ? out->counters : 0;
	const unsigned int queries = out ? 2u * out->queries : 0;
	const struct tsr_bin_sum *sum;

	if (i < counters)
		return (struct word){ .va = out->counter[i].va, .value = out->counter[i].filled };
	if (i < counters + queries)
		return of_stream_query(out, i - counters);
	i -= counters + queries;
	sum = &bin->sum[i / TSR_BIN_QUERIED];
	i %= TSR_BIN_QUERIED;
	return (struct word){ .va = sum->va + 8 * word_of_stat[i], .value = sum->more[i],
			      .added = true };
}

static unsigned int words_in(const struct tsr_binning *bin)
{
	const struct tsr_stream_out *out = bin->stages ? &bin->stages->out : NULL;

	return (out ? out->counters + 2u * out->queries : 0) + bin->sums * TSR_BIN_QUERIED;
}

enum tsr_step tsr_bin_commit(struct tsr_binning *bin, struct tsr_mem *mem, bool check)
{
	const unsigned int words = words_in(bin);
	void *at[WORDS_MAX];

	mem->unit = TSR_UNIT_BINNER;
	tsr_access_reserve(bin->access, mem);
	for (unsigned int i = 0; i < words; i++) {
		const struct word w = word_of(bin, i);
		enum tsr_step step = TSR_STEP_DONE;

		at[i] = NULL;
		/* a word that nothing is added to need not be there */
		if (!w.added || w.value)
			step = tsr_access_word(bin->access, mem, w.va, 8, &at[i]);
		if (step != TSR_STEP_DONE)
			return step;
	}
	for (unsigned int i = 0; i < words && !check; i++) {
		const struct word w = word_of(bin, i);

		if (at[i] && w.added)
			__atomic_fetch_add((uint64_t *)at[i], w.value, __ATOMIC_RELAXED);
		else if (at[i])
			__atomic_store_n((uint64_t *)at[i], w.value, __ATOMIC_RELAXED);
	}
	tsr_bin_spend(bin, words);
	return TSR_STEP_DONE;
}
