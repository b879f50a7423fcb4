/* SPDX-License-Identifier: MIT */
/*
 * The dispenser of tiles: each tile is given out once, to whom asks first; a deterministic device
 * deals them by number, as written down below; a snapshot's runs come before others.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "ktap.h"
#include "render/dispenser.h"

#define TILES 1000000
#define ROUNDS 8
#define THREADS 8

static _Atomic uint8_t given[TILES];
static struct tsr_dispenser d;

/* All threads begin at once: one alone would be done before the others are there. */
static pthread_barrier_t start;

static void *take_all(void *arg)
{
	struct tsr_run run = { 0, 0 };
	uint64_t *tiles = arg;

	while (tsr_dispenser_ensure(&d, &run)) {
		if (run.next >= TILES)
			abort();
		atomic_fetch_add(&given[run.next++], 1);
		++*tiles;
	}
	return NULL;
}

static void *take_with_others(void *arg)
{
	pthread_barrier_wait(&start);
	return take_all(arg);
}

static void test_threads(void)
{
	pthread_barrier_init(&start, NULL, THREADS);
	for (unsigned int round = 0; round < ROUNDS; round++) {
		const unsigned int count = round ? TILES / round : TILES;
		uint64_t tiles[THREADS] = { 0 }, sum = 0;
		pthread_t thread[THREADS];
		unsigned int wrong = 0;

		memset(&d, 0, sizeof(d));
		memset((void *)given, 0, sizeof(given));
		d.contexts = 1 + round % THREADS;
		tsr_dispenser_start(&d, count, 1 + round % 4);
		for (unsigned int i = 0; i < THREADS; i++)
			pthread_create(&thread[i], NULL, take_with_others, &tiles[i]);
		for (unsigned int i = 0; i < THREADS; i++) {
			pthread_join(thread[i], NULL);
			sum += tiles[i];
		}
		for (unsigned int i = 0; i < TILES; i++)
			wrong += given[i] != (i < count);
		ktap_eq(wrong, 0);
		ktap_eq(sum, count);
	}
	pthread_barrier_destroy(&start);
}

/* The longest run at first, one tile when few are left; runs never overlap. */
static void test_lengths(void)
{
	struct tsr_run run = { 0, 0 };
	uint64_t last = 0;

	memset(&d, 0, sizeof(d));
	d.contexts = 16;
	tsr_dispenser_start(&d, 1000, 4);
	while (tsr_dispenser_take(&d, &run)) {
		const uint64_t left = 1000 - last;

		ktap_eq(run.next, last);
		ktap_eq(run.end - run.next,
			left >= 512 ? 4 : left >= 384 ? 3 : left >= 256 ? 2 : 1);
		last = run.end;
	}
	ktap_eq(last, 1000);
}

/* One tile in a hundred takes as long as all others together: nobody waits for its context. */
static void test_slow(void)
{
	for (unsigned int slow = 0; slow < 100; slow += 9) {
		uint64_t time[4] = { 0 }, start = 0, end = 0;
		struct tsr_run run[4] = { { 0, 0 } };
		bool more = true;

		memset(&d, 0, sizeof(d));
		d.contexts = 4;
		tsr_dispenser_start(&d, 100, 4);
		while (more) {
			unsigned int c = 0;

			for (unsigned int i = 1; i < 4; i++)
				c = time[i] < time[c] ? i : c;
			more = tsr_dispenser_ensure(&d, &run[c]);
			start = more && run[c].next == slow ? time[c] : start;
			time[c] += more ? run[c].next++ == slow ? 1000 : 10 : 0;
			end = time[c] > end ? time[c] : end;
		}
		/* but for the tiles of its own run, the job ends with it */
		ktap_ok(end >= start + 1000 && end <= start + 1000 + 3 * 10);
	}
}

static void test_dealt(void)
{
	static const struct {
		uint64_t count;
		uint32_t contexts, length;
	} rows[] = { { 425, 2, 4 }, { 7, 3, 1 }, { 3, 8, 4 }, { 64, 1, 4 }, { 1, 32, 1 } };

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const uint32_t contexts = rows[i].contexts, length = rows[i].length;

		memset(&d, 0, sizeof(d));
		d.contexts = contexts;
		d.dealt = true;
		tsr_dispenser_start(&d, rows[i].count, length);
		for (unsigned int c = 0; c < contexts; c++) {
			struct tsr_run run = tsr_dispenser_first(&d, c);

			for (uint64_t n = 0; n < rows[i].count; n++) {
				if (n / length % contexts != c)
					continue;
				ktap_eq(tsr_dispenser_next(&d, &run), n);
				if (!ktap_ok(tsr_dispenser_ensure(&d, &run)))
					break;
				ktap_eq(run.next++, n);
			}
			for (unsigned int again = 0; again < 3; again++)
				ktap_ok(!tsr_dispenser_ensure(&d, &run));
			ktap_eq(tsr_dispenser_next(&d, &run) / length % contexts, c);
		}
	}
}

static void test_resumed(void)
{
	struct tsr_run run = { 0, 0 };
	unsigned int wrong = 0;
	uint64_t tiles = 0;

	memset(&d, 0, sizeof(d));
	memset((void *)given, 0, sizeof(given));
	d.contexts = 2;
	/* 0 to 9 and 14 to 15 had been rendered; the last one lies beyond what there is now */
	d.left[0] = (struct tsr_run){ 10, 12 };
	d.left[1] = (struct tsr_run){ 12, 14 };
	d.left[2] = (struct tsr_run){ 16, 20 };
	d.left[3] = (struct tsr_run){ 60, 64 };
	d.left_count = 4;
	atomic_store(&d.taken, 20);
	tsr_dispenser_resume(&d, 50, 4);
	ktap_ok(tsr_dispenser_take(&d, &run));
	ktap_eq(run.next, 10);
	for (run.end = run.next; run.end < 12; run.end++)
		atomic_fetch_add(&given[run.end], 1);
	run.next = run.end;
	take_all(&tiles);
	for (unsigned int i = 0; i < TILES; i++)
		wrong += given[i] != ((i >= 10 && i < 14) || (i >= 16 && i < 50));
	ktap_eq(wrong, 0);
	ktap_eq(tiles, 2 + 4 + 30);
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	ktap_run("each tile is given out once, whoever asks", test_threads);
	ktap_run("runs are shorter the fewer tiles are left", test_lengths);
	ktap_run("a slow tile delays no other", test_slow);
	ktap_run("[SYS9] a deterministic device deals tiles by number", test_dealt);
	ktap_run("[SYS10] runs of a snapshot come before others", test_resumed);
	return ktap_finish();
}
