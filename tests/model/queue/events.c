/* SPDX-License-Identifier: MIT */
/* test: TSAN=0 */
/* Events: when each of the four happens, and in which order. */
#include <stdlib.h>
#include <string.h>

#include "copy_play.h"
#include "ktap.h"
#include "reload.h"

/*
 * A copy of 16 bursts, then one fence for each event. REACHED is written before the copy makes its
 * first step, READS_DONE before its last one, and the others after that.
 */
static void events(void)
{
	struct tsr_config config = { .no_inline = true };
	bool between = false;
	struct play y;

	begin(&y, &config);
	emit_copy(&y, TARGET, SOURCE, BIG);
	for (unsigned int event = 0; event < 4; event++)
		emit_fence(&y, event, event);
	bench_kick(&y.q);
	/* The packets cost 16 cycles, so this is the command processor and at most one burst. */
	tsr_gpu_run(y.s.b->gpu, 17);
	ktap_eq(stage_load(&y.s, OUT), 1);
	for (unsigned int event = 1; event < 4; event++)
		ktap_eq(stage_load(&y.s, OUT + 8 * event), 0);
	ktap_ok(counter(&y, TSR_QUEUE_COUNTER_WRITE_BYTES) <= TSR_BURST_BYTES);
	ktap_eq(counter(&y, TSR_QUEUE_COUNTER_FENCES), 1);
	/*
	 * Burst by burst: no fence before the last bytes are read, and READS_DONE alone before they
	 * are written.
	 */
	while (runs(&y)) {
		bool read = copied(&y, BIG - LAST), written = copied(&y, BIG);

		ktap_ok(read || !stage_load(&y.s, OUT + 8));
		ktap_ok(written || !(stage_load(&y.s, OUT + 16) | stage_load(&y.s, OUT + 24)));
		between |= stage_load(&y.s, OUT + 8) && !stage_load(&y.s, OUT + 16);
		tsr_gpu_run(y.s.b->gpu, 1);
	}
	ktap_ok(between);
	for (unsigned int event = 0; event < 4; event++)
		ktap_eq(stage_load(&y.s, OUT + 8 * event), event + 1);
	ktap_mem_eq(y.s.data + TARGET, y.s.data + SOURCE, BIG);
	ktap_eq(counter(&y, TSR_QUEUE_COUNTER_WRITE_BYTES), BIG);
	ktap_eq(counter(&y, TSR_QUEUE_COUNTER_READ_BYTES), BIG);
	ktap_eq(counter(&y, TSR_QUEUE_COUNTER_ENGINE_COMMANDS), 1);
	end(&y);
}

/* Copies of BIG bytes from SOURCE to TARGET with the same order of bytes on both sides. */
enum shape { LINEAR, RECT, TILES, SHAPES };

static void emit_shape(struct play *y, enum shape shape)
{
	const unsigned int pitch = shape == TILES ? 16 * 1024 : 1024;

	if (shape == LINEAR) {
		emit_copy(y, TARGET, SOURCE, BIG);
		return;
	}
	tsr_pack_copy_rect(y->p, &(struct tsr_copy_rect){
		.src = STAGE_DATA + SOURCE, .dst = STAGE_DATA + TARGET, .texel = 4,
		.src_layout = shape == TILES, .dst_layout = shape == TILES,
		.src_pitch = pitch, .dst_pitch = pitch, .width = 256, .height = 256 });
	bench_emit(&y->q, y->p, TSR_COPY_RECT_QWORDS);
}

static unsigned int missing(const struct play *y, const uint8_t *source)
{
	unsigned int bytes = 0;

	for (unsigned int i = 0; i < BIG; i++)
		bytes += y->s.data[TARGET + i] != source[i];
	return bytes;
}

enum { PLAIN, SUSPEND, SNAPSHOT, RESET, WAYS_HELD };

/* Actions on the queue while the copy holds its last bytes. */
static void meanwhile(struct play *y, unsigned int way)
{
	if (way == SUSPEND) {
		bench_control(&y->q, TSR_QUEUE_OP_SUSPEND);
		bench_advance(y->s.b, 1000 * 1000);
		bench_control(&y->q, TSR_QUEUE_OP_RESUME);
	} else if (way == SNAPSHOT) {
		tsr_gpu_pause(y->s.b->gpu);
		ktap_ok(reload_expect(y->s.b->gpu, NULL));
		tsr_gpu_resume(y->s.b->gpu);
	} else if (way == RESET) {
		bench_control(&y->q, TSR_QUEUE_OP_RESET);
	}
}

/*
 * Between the last read and the last store the source may change, the queue may be suspended, and a
 * snapshot may be taken. A reset drops the store.
 */
static void held_by(enum shape shape, unsigned int way)
{
	const unsigned int last = shape == LINEAR ? LAST : 4;
	struct tsr_config config = { .no_inline = true };
	uint8_t *source = malloc(BIG);
	struct play y;

	begin(&y, &config);
	memcpy(source, y.s.data + SOURCE, BIG);
	for (unsigned int i = 0; i < BIG; i++)
		y.s.data[TARGET + i] = ~source[i];
	emit_shape(&y, shape);
	emit_fence(&y, TSR_EVENT_READS_DONE, 0);
	bench_kick(&y.q);
	while (runs(&y) && missing(&y, source) > last)
		tsr_gpu_run(y.s.b->gpu, 1);
	ktap_eq(missing(&y, source), last);
	memset(y.s.data + SOURCE, 0xff, BIG);
	meanwhile(&y, way);
	ktap_ok(bench_run(y.s.b, 10));
	ktap_eq(missing(&y, source), way == RESET ? last : 0);
	ktap_eq(stage_load(&y.s, OUT), way != RESET);
	end(&y);
	free(source);
}

static void held(void)
{
	for (unsigned int shape = 0; shape < SHAPES; shape++) {
		for (unsigned int way = 0; way < WAYS_HELD; way++)
			held_by(shape, way);
	}
}

/* READS_DONE behind fills does not wait for them, but for a copy between them. */
static void fill_reads(void)
{
	struct tsr_config config = { .no_inline = true };
	struct play y;

	begin(&y, &config);
	bench_emit(&y.q, y.p, pk_fill(y.p, STAGE_DATA + TARGET, BIG, 0x11));
	emit_fence(&y, TSR_EVENT_READS_DONE, 0);
	emit_copy(&y, TARGET, SOURCE, BIG);
	emit_fence(&y, TSR_EVENT_READS_DONE, 1);
	bench_emit(&y.q, y.p, pk_fill(y.p, STAGE_DATA + TARGET, BIG, 0x22));
	emit_fence(&y, TSR_EVENT_READS_DONE, 2);
	emit_fence(&y, TSR_EVENT_WRITES_DONE, 3);
	bench_kick(&y.q);
	tsr_gpu_run(y.s.b->gpu, 1 + 2 * 5 + 4 + 4 * 3);
	ktap_eq(stage_load(&y.s, OUT), 1);
	ktap_ok(counter(&y, TSR_QUEUE_COUNTER_WRITE_BYTES) <= TSR_BURST_BYTES);
	while (runs(&y) && !stage_load(&y.s, OUT + 8))
		tsr_gpu_run(y.s.b->gpu, 1);
	ktap_ok(counter(&y, TSR_QUEUE_COUNTER_WRITE_BYTES) >= 2 * BIG - LAST);
	ktap_ok(counter(&y, TSR_QUEUE_COUNTER_WRITE_BYTES) <= 2 * BIG);
	ktap_eq(stage_load(&y.s, OUT + 16), 3);
	ktap_eq(stage_load(&y.s, OUT + 24), 0);
	ktap_ok(bench_run(y.s.b, 10));
	ktap_eq(stage_load(&y.s, OUT + 24), 4);
	end(&y);
}

/* The last bytes of the target cannot be written: READS_DONE has happened, WRITES_DONE has not. */
static void fault_after_reads(void)
{
	struct tsr_config config = { .no_inline = true };
	struct play y;

	begin(&y, &config);
	emit_copy(&y, STAGE_DATA_SIZE - (BIG - LAST), SOURCE, BIG);
	emit_fence(&y, TSR_EVENT_READS_DONE, 0);
	emit_fence(&y, TSR_EVENT_WRITES_DONE, 1);
	bench_kick(&y.q);
	ktap_ok(bench_run(y.s.b, 10));
	ktap_eq(bench_fault(&y.q), TSR_FAULT_MMU_UNMAPPED);
	ktap_eq(bench_queue_reg64(&y.q, TSR_QUEUE_FAULT_ADDR__OFFSET),
		STAGE_DATA + STAGE_DATA_SIZE);
	ktap_eq(stage_load(&y.s, OUT), 1);
	ktap_eq(stage_load(&y.s, OUT + 8), 0);
	end(&y);
}

/* An early event at a bad address: the queue faults when the command before it is complete. */
static void early_fault(void)
{
	struct tsr_config config = { .no_inline = true };
	struct play y;

	begin(&y, &config);
	emit_copy(&y, TARGET, SOURCE, BIG);
	bench_emit(&y.q, y.p, pk_fence(y.p, TSR_EVENT_READS_DONE, false,
				       STAGE_DATA + STAGE_DATA_SIZE, 1));
	emit_fence(&y, TSR_EVENT_READS_DONE, 0);
	bench_kick(&y.q);
	ktap_ok(bench_run(y.s.b, 10));
	ktap_eq(bench_fault(&y.q), TSR_FAULT_MMU_UNMAPPED);
	ktap_eq(bench_queue_reg(&y.q, TSR_QUEUE_FAULT_RPTR__OFFSET), 32);
	ktap_ok(copied(&y, BIG));
	ktap_eq(stage_load(&y.s, OUT), 0);
	end(&y);
}

/* A sequence of commands and events, and when they happen by the specification. */
struct sequence {
	unsigned int count;
	struct {
		char kind;		/* copy, fill, or 1 … 3 for an event */
		unsigned int time;	/* in steps of the engine; of a command its end */
	} item[TSR_FIFO_DEPTH];
};

static void choose(struct sequence *s, unsigned int seed)
{
	unsigned int end = 0, reads = 0, event = 0;

	s->count = TSR_FIFO_DEPTH;
	for (unsigned int i = 0; i < s->count; i++, seed /= 5) {
		const char kind = "cf123"[seed % 5];
		unsigned int due = kind == '1' ? reads : end;

		s->item[i].kind = kind;
		if (kind == 'c' || kind == 'f') {
			end += 2;
			reads = kind == 'c' ? end - 1 : reads;
			s->item[i].time = end;
		} else {
			event = due > event ? due : event;
			s->item[i].time = event;
		}
	}
}

static void emit_sequence(struct play *y, const struct sequence *s)
{
	for (unsigned int i = 0; i < s->count; i++) {
		if (s->item[i].kind == 'c')
			emit_copy(y, TARGET, SOURCE, 64);
		else if (s->item[i].kind == 'f')
			bench_emit(&y->q, y->p, pk_fill(y->p, STAGE_DATA + TARGET, 64, 0));
		else
			emit_fence(y, s->item[i].kind - '0', i);
	}
	bench_kick(&y->q);
}

/* The place in @s of what trace event @e is about, TSR_FIFO_DEPTH if it is something else. */
static unsigned int place(const struct sequence *s, const struct bench_event *e,
			  unsigned int *commands)
{
	unsigned int i = 0;

	if (e->what == TSR_TRACE_EVENT)
		return (e->arg[2] - STAGE_DATA - OUT) / 8;
	if (e->what != TSR_TRACE_COMMAND_DONE)
		return TSR_FIFO_DEPTH;
	for (unsigned int n = ++*commands; n; i++)
		n -= s->item[i].kind >= 'a';
	return i - 1;
}

/* The next event in @s by the times. Of equal times the earlier one in the sequence is first. */
static unsigned int next_of(const struct sequence *s, unsigned int happened)
{
	unsigned int best = TSR_FIFO_DEPTH;

	for (unsigned int i = 0; i < s->count; i++) {
		if (!(happened >> i & 1) &&
		    (best == TSR_FIFO_DEPTH || s->item[i].time < s->item[best].time))
			best = i;
	}
	return best;
}

/* Every fifth of the sequences of eight, each on a device of its own: the trace has their order. */
static void orders(void)
{
	struct tsr_config config = { .no_inline = true };

	for (unsigned int seed = 3; seed < 390625; seed += 1009) {
		unsigned int commands = 0, happened = 0;
		struct sequence s;
		struct play y;
		uint64_t first;

		choose(&s, seed);
		begin(&y, &config);
		first = y.s.b->trace_count;
		emit_sequence(&y, &s);
		ktap_ok(bench_run(y.s.b, 10));
		for (uint64_t n = first; n < y.s.b->trace_count; n++) {
			const struct bench_event *e = &y.s.b->traced[n % BENCH_EVENTS_MAX];
			unsigned int at = place(&s, e, &commands);

			if (at == TSR_FIFO_DEPTH)
				continue;
			if (!ktap_eq(at, next_of(&s, happened)))
				ktap_note("seed %u", seed);
			happened |= 1u << at;
		}
		ktap_eq(happened, (1u << TSR_FIFO_DEPTH) - 1);
		end(&y);
	}
}

/* TIMESTAMP: of the clock, at each event of a copy. */
static void timestamps(void)
{
	struct tsr_config config = { .deterministic = true };
	struct play y;
	uint64_t done;

	begin(&y, &config);
	emit_copy(&y, TARGET, SOURCE, BIG);
	for (unsigned int event = 0; event < 4; event++)
		bench_emit(&y.q, y.p, pk_timestamp(y.p, event, STAGE_DATA + OUT + 8 * event));
	bench_kick(&y.q);
	ktap_ok(bench_run(y.s.b, 10));
	/*
	 * The clock counts cycles: 4 for the copy's packet; then all packets, and reading and
	 * writing 64 bytes each. The last bytes complete the last 64.
	 */
	done = 4 + 4 * 2 + 2 * BIG / 64;
	ktap_eq(stage_load(&y.s, OUT), 4);
	ktap_eq(stage_load(&y.s, OUT + 8), done - 2);
	ktap_eq(stage_load(&y.s, OUT + 16), done);
	ktap_eq(stage_load(&y.s, OUT + 24), done);
	ktap_eq(bench_read64(y.s.b, TSR_REG_GPU_TIMESTAMP), done);
	end(&y);
}

int main(void)
{
	ktap_start();
	ktap_run("[CP5] [CP6] fences at each of the four events of a long copy", events);
	ktap_run("[CP5] a source may be overwritten when its last bytes are read", held);
	ktap_run("[CP5] a fill has done its reads before it begins", fill_reads);
	ktap_run("[CP5] a command that faults after its last read", fault_after_reads);
	ktap_run("[CP5] an early event that faults", early_fault);
	ktap_run("[CP5] the order of commands and events, by chance", orders);
	ktap_run("[CP5] timestamps at events", timestamps);
	return ktap_finish();
}
