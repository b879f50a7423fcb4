/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <time.h>

#include "stage.h"

static void map_all(struct stage *s)
{
	for (unsigned int i = 0; i < 2; i++) {
		bench_as_init(s->b, &s->as[i], i);
		bench_map(&s->as[i], STAGE_DATA, s->data_bus, STAGE_DATA_SIZE, BENCH_RW);
		bench_map(&s->as[i], STAGE_STREAM, s->streams_bus, STAGE_STREAM_SIZE, BENCH_RWX);
	}
	for (unsigned int cls = 0; cls < 4; cls++)
		bench_write64(s->b, TSR_REG_IRQ_MASK(cls), UINT64_MAX);
}

void stage_init(struct stage *s, const struct tsr_config *config)
{
	s->b = bench_new(config);
	s->data_bus = bench_alloc(s->b, STAGE_DATA_SIZE, BENCH_PAGE);
	s->streams_bus = bench_alloc(s->b, STAGE_STREAM_SIZE, BENCH_PAGE);
	s->data = bench_ptr(s->b, s->data_bus, STAGE_DATA_SIZE);
	s->streams = bench_ptr(s->b, s->streams_bus, STAGE_STREAM_SIZE);
	map_all(s);
}

void stage_free(struct stage *s)
{
	bench_free(s->b);
}

void stage_queue(struct stage *s, struct bench_queue *q, unsigned int slot,
		 enum tsr_engine_class cls, enum tsr_priority priority)
{
	bench_queue_init(q, slot, cls, priority, &s->as[0], STAGE_RING + ((uint64_t)slot << 20), 12,
			 &s->as[1]);
}

uint64_t *stage_word(struct stage *s, uint64_t offset)
{
	return (uint64_t *)(s->data + offset);
}

uint32_t *stage_word32(struct stage *s, uint64_t offset)
{
	return (uint32_t *)(s->data + offset);
}

uint64_t stage_load(struct stage *s, uint64_t offset)
{
	return __atomic_load_n(stage_word(s, offset), __ATOMIC_ACQUIRE);
}

struct stage_stream stage_stream(struct stage *s, uint64_t offset)
{
	return (struct stage_stream) { .s = s, .va = STAGE_STREAM + offset };
}

uint64_t stage_add(struct stage_stream *stream, const uint64_t *packet, unsigned int qwords)
{
	uint64_t at = stream->va + stream->size;

	memcpy(stream->s->streams + (at - STAGE_STREAM), packet, qwords * sizeof(*packet));
	stream->size += qwords * sizeof(*packet);
	return at;
}

void stage_call(struct bench_queue *q, const struct stage_stream *stream)
{
	bench_call(q, stream->va, stream->size);
}

bool stage_until(struct bench_queue *q, enum tsr_queue_state state)
{
	const struct timespec pause = { .tv_nsec = 20000 };
	struct timespec start, now;

	clock_gettime(CLOCK_MONOTONIC, &start);
	while (bench_state(q) != state) {
		if (!q->bench->config.threads)
			return bench_run(q->bench, 10) && bench_state(q) == state;
		nanosleep(&pause, NULL);
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (now.tv_sec > start.tv_sec + 10)
			return false;
	}
	return true;
}

unsigned int pk_nop(uint64_t *p, unsigned int qwords)
{
	tsr_pack_nop(p, &(struct tsr_nop) { .qwords = qwords });
	return qwords;
}

unsigned int pk_call(uint64_t *p, uint64_t addr, uint32_t size)
{
	tsr_pack_call(p, &(struct tsr_call) { .addr = addr, .size = size });
	return TSR_CALL_QWORDS;
}

unsigned int pk_jump(uint64_t *p, uint64_t addr, uint32_t size)
{
	tsr_pack_jump(p, &(struct tsr_jump) { .addr = addr, .size = size });
	return TSR_JUMP_QWORDS;
}

unsigned int pk_return(uint64_t *p)
{
	tsr_pack_return(p, &(struct tsr_return) { 0 });
	return TSR_RETURN_QWORDS;
}

unsigned int pk_fence(uint64_t *p, enum tsr_event event, bool irq, uint64_t addr, uint64_t value)
{
	tsr_pack_fence(
		p, &(struct tsr_fence){ .event = event, .irq = irq, .addr = addr, .value = value });
	return TSR_FENCE_QWORDS;
}

unsigned int pk_timestamp(uint64_t *p, enum tsr_event event, uint64_t addr)
{
	tsr_pack_timestamp(p, &(struct tsr_timestamp) { .event = event, .addr = addr });
	return TSR_TIMESTAMP_QWORDS;
}

unsigned int pk_wait(uint64_t *p, enum tsr_compare op, bool wide, uint64_t addr, uint64_t value)
{
	tsr_pack_wait(p,
		      &(struct tsr_wait){ .op = op, .wide = wide, .addr = addr, .value = value });
	return TSR_WAIT_QWORDS;
}

unsigned int pk_wait_reg(uint64_t *p, enum tsr_compare op, unsigned int index, uint32_t value)
{
	tsr_pack_wait_reg(p, &(struct tsr_wait_reg) { .op = op, .index = index, .value = value });
	return TSR_WAIT_REG_QWORDS;
}

unsigned int pk_signal(uint64_t *p, enum tsr_signal_op op, enum tsr_event event, bool wide,
		       uint64_t addr, uint64_t value)
{
	tsr_pack_signal(p, &(struct tsr_signal) {
		.op = op, .event = event, .wide = wide, .addr = addr, .value = value,
	});
	return TSR_SIGNAL_QWORDS;
}

unsigned int pk_signal_reg(uint64_t *p, enum tsr_signal_op op, enum tsr_event event,
			   unsigned int index, uint32_t value)
{
	tsr_pack_signal_reg(p, &(struct tsr_signal_reg){
				       .op = op, .event = event, .index = index, .value = value });
	return TSR_SIGNAL_REG_QWORDS;
}

unsigned int pk_barrier(uint64_t *p, const struct tsr_barrier *barrier)
{
	tsr_pack_barrier(p, barrier);
	return TSR_BARRIER_QWORDS;
}

unsigned int pk_tlb(uint64_t *p, enum tsr_inv_op op, unsigned int as, uint64_t va, uint64_t size)
{
	tsr_pack_tlb_invalidate(
		p, &(struct tsr_tlb_invalidate){ .op = op, .as = as, .va = va, .size = size });
	return TSR_TLB_INVALIDATE_QWORDS;
}

unsigned int pk_counter_begin(uint64_t *p, uint16_t mask)
{
	tsr_pack_counter_begin(p, &(struct tsr_counter_begin) { .mask = mask });
	return TSR_COUNTER_BEGIN_QWORDS;
}

unsigned int pk_counter_end(uint64_t *p, uint64_t addr)
{
	tsr_pack_counter_end(p, &(struct tsr_counter_end) { .addr = addr });
	return TSR_COUNTER_END_QWORDS;
}

unsigned int pk_copy(uint64_t *p, uint64_t dst, uint64_t src, uint64_t size)
{
	tsr_pack_copy_linear(p, &(struct tsr_copy_linear) { .src = src, .dst = dst, .size = size });
	return TSR_COPY_LINEAR_QWORDS;
}

unsigned int pk_fill(uint64_t *p, uint64_t dst, uint64_t size, uint8_t byte)
{
	tsr_pack_fill_linear(p, &(struct tsr_fill_linear){
					.texel = 1, .dst = dst, .size = size, .pattern_lo = byte });
	return TSR_FILL_LINEAR_QWORDS;
}
