/* SPDX-License-Identifier: MIT */
/*
 * Captured jobs run again: from the file alone, on a machine of their own, each ends and leaves
 * memory as it did, whatever number of threads either has. Files that are damaged are refused, and
 * a job whose file says something else is noticed. tests/guest/scripts/replay.py does it with jobs
 * of the demos, of all classes.
 */
#include <stdlib.h>
#include <string.h>

#include "ktap.h"
#include "replay.h"
#include "stage.h"

#define FROM 0x10000			/* offsets in STAGE_DATA */
#define TO 0x20000
#define BYTES 50000u

static const struct replay_options options = { .threads = 1, .seconds = 2 };

struct taken {
	void *file;
	size_t size;
};

enum how { ENDS, FAULTS, HANGS };

/* Copies over each other, a fill, and something that does not end well. */
static void write_job(struct stage_stream *stream, enum how how)
{
	uint64_t p[8];

	stage_add(stream, p, pk_copy(p, STAGE_DATA + TO + 3, STAGE_DATA + FROM, BYTES));
	stage_add(stream, p, pk_fill(p, STAGE_DATA + TO + 4096, 77, 0x42));
	stage_add(stream, p, pk_copy(p, STAGE_DATA + FROM + 9000, STAGE_DATA + TO, 4000));
	if (how == FAULTS)
		stage_add(stream, p, pk_fill(p, STAGE_DATA + STAGE_DATA_SIZE - 64, 128, 7));
	if (how == HANGS)
		stage_add(stream, p, pk_wait(p, TSR_COMPARE_EQ, true, STAGE_DATA, 1));
}

static struct taken take(unsigned int threads, enum how how)
{
	const struct tsr_config config = { .threads = threads };
	struct stage_stream stream;
	struct bench_queue q;
	struct taken taken;
	struct stage s;
	char err[100];

	stage_init(&s, &config);
	stage_queue(&s, &q, 0, TSR_ENGINE_CLASS_COPY, TSR_PRIORITY_NORMAL);
	for (unsigned int i = 0; i < BYTES; i++)
		s.data[FROM + i] = i * 7 >> 3;
	ktap_ok(tsr_gpu_capture(s.b->gpu, how == ENDS ? "next" : "fault", err, sizeof(err)));
	stream = stage_stream(&s, 0);
	write_job(&stream, how);
	stage_call(&q, &stream);
	bench_kick(&q);
	if (how == HANGS) {
		ktap_ok(stage_until(&q, TSR_QUEUE_STATE_BLOCKED));
		bench_control(&q, TSR_QUEUE_OP_RESET);
	}
	bench_run(s.b, 10);
	taken.size = tsr_gpu_captured(s.b->gpu, &taken.file);
	stage_free(&s);
	return taken;
}

static enum replay_status replay(const struct taken *t, unsigned int threads)
{
	struct replay_options o = options;
	enum replay_status status = REPLAY_USELESS;
	const char *wrong;
	struct replay r;

	o.threads = threads;
	wrong = replay_parse(&r, t->file, t->size);
	if (!ktap_ok(!wrong)) {
		ktap_note("%s", wrong);
		return status;
	}
	status = replay_run(&r, &o, stderr);
	replay_free(&r);
	return status;
}

static void as_it_was(void)
{
	for (unsigned int threads = 0; threads < 3; threads++) {
		for (enum how how = ENDS; how <= HANGS; how++) {
			struct taken t = take(threads, how);

			ktap_eq(replay(&t, 3 - threads), REPLAY_SAME);
			free(t.file);
		}
	}
}

/* The beginning of the page at @va in the file, and what follows it. */
static uint8_t *find(const struct taken *t, uint64_t va)
{
	struct tsr_capture_header h;
	uint8_t *p = t->file;

	memcpy(&h, p, sizeof(h));
	p += sizeof(h);
	for (uint32_t i = 0; i < h.pages; i++) {
		struct tsr_capture_page head;

		memcpy(&head, p, sizeof(head));
		if (head.va == va)
			return p + sizeof(head);
		p += sizeof(head) +
		     TSR_CAPTURE_PAGE * (head.flags & TSR_CAPTURE_CHANGED ? 2 : 1);
	}
	return NULL;
}

static void differences(void)
{
	struct taken t = take(1, ENDS);
	uint8_t *from = find(&t, STAGE_DATA + FROM), *to = find(&t, STAGE_DATA + TO);
	struct tsr_capture_header h;

	KTAP_REQUIRE(from && to);
	from[17] ^= 1;				/* what it finds */
	ktap_eq(replay(&t, 1), REPLAY_DIFFERENT);
	from[17] ^= 1;
	to[TSR_CAPTURE_PAGE + 99] ^= 0x80;	/* what it left */
	ktap_eq(replay(&t, 1), REPLAY_DIFFERENT);
	to[TSR_CAPTURE_PAGE + 99] ^= 0x80;
	ktap_eq(replay(&t, 1), REPLAY_SAME);
	memcpy(&h, t.file, sizeof(h));
	h.outcome = TSR_CAPTURE_STOPPED;	/* how it ended */
	memcpy(t.file, &h, sizeof(h));
	ktap_eq(replay(&t, 1), REPLAY_DIFFERENT);
	free(t.file);
	t = take(1, FAULTS);
	memcpy(&h, t.file, sizeof(h));
	h.fault_addr += 64;
	memcpy(t.file, &h, sizeof(h));
	ktap_eq(replay(&t, 1), REPLAY_DIFFERENT);
	free(t.file);
}

static void damaged(void)
{
	struct taken t = take(0, ENDS);
	struct replay r;
	uint8_t *bytes = t.file;

	for (size_t size = 0; size < t.size; size += size < 400 ? 1 : 1021)
		ktap_ok(replay_parse(&r, t.file, size) != NULL);
	for (unsigned int i = 0; i < 12; i++) {		/* magic and version */
		bytes[i] ^= 0x10;
		ktap_ok(replay_parse(&r, t.file, t.size) != NULL);
		bytes[i] ^= 0x10;
	}
	bytes[sizeof(struct tsr_capture_header)] ^= 1;	/* an address */
	ktap_ok(replay_parse(&r, t.file, t.size) != NULL);
	free(t.file);
}

int main(void)
{
	ktap_start();
	ktap_run("[SYS9] captured jobs end and leave memory as they did", as_it_was);
	ktap_run("[SYS9] a job that differs from its file is noticed", differences);
	ktap_run("[SYS9] damaged files are refused", damaged);
	return ktap_finish();
}
