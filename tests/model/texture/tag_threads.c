/* SPDX-License-Identifier: MIT */
/*
 * Several threads load texels of one image with tags, by the attribute unit and by the addresses
 * of its texels. No thread sees a block that is half expanded. Runs under TSan, too.
 */
#include <pthread.h>
#include <string.h>

#include "ktap.h"
#include "tsr_packets.h"
#include "units.h"

#define DIM 32u				/* texels of the image along both axes */
#define THREADS 3
#define ROUNDS 150
#define MESSAGES 12			/* messages of each thread in a round */

/* In the data. */
#define TEXELS 0x0
#define TAGS 0x4000
#define STATE 0x4100

static uint32_t texel_index(unsigned int x, unsigned int y)
{
	return y * DIM + x;
}

/* Blocks in rows have the tags PLANES, CLEAR, RAW; the image has 32-bit texels in rows. */
static unsigned int tag_of(unsigned int x, unsigned int y)
{
	static const uint8_t tags[3] = {
		TSR_TARGET_TAG_PLANES, TSR_TARGET_TAG_CLEAR, TSR_TARGET_TAG_RAW,
	};

	return tags[(x / 8 + y / 8) % 3];
}

#define STEP_X 3u
#define STEP_Y 5u

static uint32_t texel_of(unsigned int x, unsigned int y)
{
	const uint32_t base = 1000 * texel_index(x & ~7u, y & ~7u);

	switch (tag_of(x, y)) {
	case TSR_TARGET_TAG_PLANES:
		return base + STEP_X * (x % 8) + STEP_Y * (y % 8);
	case TSR_TARGET_TAG_CLEAR:
		return 0x77777777;
	default:
		return 0x80000000 + texel_index(x, y);
	}
}

static uint32_t *word_at(struct units *u, uint32_t at)
{
	return (uint32_t *)(void *)(u->data + at);
}

static void fill(struct units *u)
{
	memset(u->data + TEXELS, 0xee, DIM * DIM * 4);
	for (unsigned int y = 0; y < DIM; y++) {
		for (unsigned int x = 0; x < DIM; x++) {
			uint32_t *word = word_at(u, TEXELS + 4 * texel_index(x, y));
			const unsigned int tag = tag_of(x, y), n = y % 8 * 8 + x % 8;

			u->data[TAGS + y / 8 * (DIM / 8) + x / 8] = (uint8_t)tag;
			if (tag == TSR_TARGET_TAG_RAW)
				*word = texel_of(x, y);
			else if (tag == TSR_TARGET_TAG_PLANES && n < 11)
				*word = n == 0 ? texel_of(x, y) : n == 1 ? STEP_X << 8 :
					n == 2 ? STEP_Y << 8 : 0;
		}
	}
	memset(u->data + STATE, 0x77, 16);
	*word_at(u, STATE + 16) = 1;
}

static void describe(struct units *u)
{
	const uint64_t attribute = (uint64_t)TSR_PIXEL_FORMAT_R32UI << 22;
	const uint64_t entry[6] = {
		TSR_ATTRIBUTE_BUFFER_TYPE_IMAGE_LINEAR | (UNITS_DATA + TEXELS),
		4 | (uint64_t)DIM * DIM * 4 << 32,
		TSR_ATTRIBUTE_BUFFER_TYPE_CONTINUATION | 1 << 6 | (DIM - 1) << 16 |
			(uint64_t)(DIM - 1) << 32,
		DIM * 4,
		TSR_ATTRIBUTE_BUFFER_TYPE_CONTINUATION | (UNITS_DATA + STATE),
		UNITS_DATA + TAGS,
	};

	memcpy(units_table(u, UNITS_ATTRIBUTES), &attribute, sizeof(attribute));
	memcpy(units_table(u, UNITS_BUFFERS), entry, sizeof(entry));
}

/* ---- Threads --------------------------------------------------------------------------------- */

struct job {
	struct units *u;
	pthread_t thread;
	uint32_t seed;
	unsigned int wrong;		/* texels that were not as they should be */
};

static pthread_barrier_t barrier;	/* a round begins, or ends */

static uint32_t random_below(struct job *j, uint32_t n)
{
	j->seed ^= j->seed << 13;
	j->seed ^= j->seed >> 17;
	j->seed ^= j->seed << 5;
	return (j->seed >> 4) % n;
}

static void ask(struct job *j, unsigned int op)
{
	struct units *u = j->u;

	units_insn(u, op);
	u->insn.mod[TSR_MOD_REGISTER_FORMAT] = TSR_REGISTER_FORMAT_U32;
	u->insn.mod[TSR_MOD_VECSIZE] = TSR_VECSIZE_V4;
	j->wrong += units_run(u, 20, UNITS_ALL_LANES) != TSR_STEP_DONE;
}

/* Load the texels that the sources name, then read them at their addresses. */
static void check(struct job *j)
{
	struct units *u = j->u;

	ask(j, TSR_OP_ADD_LD_ATTR_TEX);
	for (unsigned int l = 0; l < 16; l++)
		j->wrong += units_reg(u, 20)->u[l] !=
			    texel_of(u->src[0].u[l] & 0xffff, u->src[0].u[l] >> 16);
	ask(j, TSR_OP_ADD_LEA_ATTR_TEX);
	for (unsigned int l = 0; l < 16; l++)
		j->wrong += *word_at(u, units_reg(u, 20)->u[l] - (uint32_t)UNITS_DATA) !=
			    texel_of(u->src[0].u[l] & 0xffff, u->src[0].u[l] >> 16);
}

static void *work(void *arg)
{
	struct job *j = arg;

	for (unsigned int round = 0; round < ROUNDS; round++) {
		pthread_barrier_wait(&barrier);
		units_stop(j->u);
		for (unsigned int i = 0; i < MESSAGES; i++) {
			for (unsigned int l = 0; l < 16; l++) {
				j->u->src[0].u[l] = random_below(j, DIM) |
						    random_below(j, DIM) << 16;
				j->u->src[1].u[l] = j->u->src[2].u[l] = 0;
			}
			check(j);
		}
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

static void test_threads(void)
{
	struct units *u = units_new(THREADS);
	struct job jobs[THREADS];

	describe(u);
	pthread_barrier_init(&barrier, NULL, THREADS + 1);
	for (unsigned int i = 0; i < THREADS; i++) {
		jobs[i] = (struct job){ .u = units_share(u, i + 1), .seed = 77 + i };
		ktap_eq(pthread_create(&jobs[i].thread, NULL, work, &jobs[i]), 0);
	}
	for (unsigned int round = 0; round < ROUNDS; round++) {
		fill(u);
		pthread_barrier_wait(&barrier);
		pthread_barrier_wait(&barrier);
	}
	for (unsigned int i = 0; i < THREADS; i++) {
		ktap_eq(pthread_join(jobs[i].thread, NULL), 0);
		ktap_eq(jobs[i].wrong, 0);
		units_free(jobs[i].u);
	}
	pthread_barrier_destroy(&barrier);
	units_free(u);
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	ktap_run("[MEM8] threads expand blocks and read them at once", test_threads);
	return ktap_finish();
}
