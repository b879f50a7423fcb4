/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "device/gpu.h"

void tsr_cp_reset(struct tsr_exec *exec)
{
	memset(exec, 0, sizeof(*exec));
}

bool tsr_cp_at_barrier(const struct tsr_exec *exec)
{
	return exec->phase == TSR_CP_EXECUTE &&
	       tsr_packet_opcode(exec->packet.word[0]) == TSR_OP_BARRIER;
}

/* A view of memory as @packet has it. */
static struct tsr_mem packet_mem(struct tsr_runner *runner, struct tsr_queue *q,
				 const struct tsr_packet *packet)
{
	return tsr_runner_mem(runner, q, packet->as, TSR_UNIT_CP);
}

/* The packet held is at fault: record it and stop after what the engine still has. */
static enum tsr_cp_result fault(struct tsr_queue *q, const struct tsr_fault_info *info)
{
	tsr_run_record(&q->exec.fault, &q->exec.packet, info);
	q->exec.phase = TSR_CP_FAULT;
	return TSR_CP_STEPPED;
}

static enum tsr_cp_result packet_fault(struct tsr_queue *q, unsigned int code, unsigned int qword)
{
	const struct tsr_packet *packet = &q->exec.packet;
	struct tsr_fault_info info = {
		.addr = packet->pc + qword * sizeof(uint64_t),
		.code = code,
		.unit = TSR_UNIT_CP,
		.as = packet->as,
	};

	return fault(q, &info);
}

/* Result for a memory access that did not succeed. */
static enum tsr_cp_result failed(struct tsr_queue *q, const struct tsr_mem *mem, enum tsr_step step)
{
	return step == TSR_STEP_PENDING ? TSR_CP_PENDING : fault(q, &mem->fault);
}

static void set_rptr(struct tsr_queue *q, uint32_t rptr)
{
	atomic_store_explicit(&q->rptr, rptr, memory_order_relaxed);
}

static uint32_t get_rptr(struct tsr_queue *q)
{
	return atomic_load_explicit(&q->rptr, memory_order_relaxed);
}

/* The packet held has been executed: count it and step over it. */
static void retire(struct tsr_runner *runner, struct tsr_queue *q)
{
	struct tsr_exec *x = &q->exec;
	const struct tsr_packet *packet = &x->packet;
	unsigned int qwords = tsr_packet_qwords(packet->word[0]);

	if (packet->depth)
		x->frame[packet->depth - 1].pc += qwords * sizeof(uint64_t);
	else
		set_rptr(q, get_rptr(q) + qwords * sizeof(uint64_t));
	tsr_count(&q->counter[TSR_QUEUE_COUNTER_CP_PACKETS], 1);
	tsr_count(&q->progress, 1);
	tsr_run_cycles(runner, q, qwords);
	x->phase = TSR_CP_FETCH;
}

/* A stream has ended: back to its caller. */
static enum tsr_cp_result end_stream(struct tsr_queue *q)
{
	struct tsr_exec *x = &q->exec;

	x->depth--;
	tsr_prefetch_drop(&x->prefetch);
	if (!x->depth)
		x->phase = TSR_CP_DRAIN;
	return TSR_CP_STEPPED;
}

/* The engine has done all that the ring's CALL brought: retire it. */
static enum tsr_cp_result drain(struct tsr_runner *runner, struct tsr_queue *q)
{
	struct tsr_exec *x = &q->exec;

	if (x->fifo.count)
		return TSR_CP_STALLED;
	tsr_call_ends(q, TSR_CAPTURE_DONE);
	if (x->interval.user)
		x->interval.mask = 0;
	set_rptr(q, get_rptr(q) + TSR_CALL_QWORDS * sizeof(uint64_t));
	atomic_store_explicit(&q->in_call, false, memory_order_relaxed);
	tsr_count(&q->calls, 1);
	tsr_count(&q->counter[TSR_QUEUE_COUNTER_CP_PACKETS], 1);
	tsr_count(&q->progress, 1);
	tsr_run_cycles(runner, q, TSR_CALL_QWORDS);
	x->phase = TSR_CP_FETCH;
	return TSR_CP_STEPPED;
}

/* Where the next packet is and how many bytes there are from there on; 0: none. */
static uint64_t locate(struct tsr_queue *q, struct tsr_packet *packet)
{
	struct tsr_exec *x = &q->exec;
	uint32_t rptr = get_rptr(q);

	packet->rptr = rptr;
	packet->depth = x->depth;
	packet->header_valid = false;
	if (x->depth) {
		const struct tsr_call_frame *frame = &x->frame[x->depth - 1];

		packet->as = tsr_queue_user_as(q);
		packet->pc = frame->pc;
		return frame->end - frame->pc;
	}
	uint32_t size = tsr_queue_ring_size(q);
	uint32_t offset = rptr & (size - 1);
	uint32_t filled = tsr_queue_filled(q);

	packet->as = tsr_queue_ring_as(q);
	packet->pc = q->ring_base + offset;
	return filled < size - offset ? filled : size - offset;
}

/* Fetch and check the next packet, and hold it. */
static enum tsr_cp_result fetch(struct tsr_runner *runner, struct tsr_queue *q)
{
	struct tsr_exec *x = &q->exec;
	struct tsr_packet *packet = &x->packet;
	uint64_t limit = locate(q, packet);
	struct tsr_mem mem = packet_mem(runner, q, packet);
	struct tsr_defect defect;
	enum tsr_step step;

	if (!limit)
		return packet->depth ? end_stream(q) : TSR_CP_IDLE;
	mem.unit = TSR_UNIT_CP_FETCH;
	step = tsr_prefetch_read(&mem, &x->prefetch, packet->pc, limit, packet->word, 1);
	if (step != TSR_STEP_DONE)
		return failed(q, &mem, step);
	packet->header_valid = true;
	defect = tsr_packet_check_header(q, packet->word[0], limit, !packet->depth);
	if (defect.code)
		return packet_fault(q, defect.code, defect.qword);
	step = tsr_prefetch_read(&mem, &x->prefetch, packet->pc, limit, packet->word,
				 tsr_packet_words(packet->word[0]));
	if (step != TSR_STEP_DONE)
		return failed(q, &mem, step);
	defect = tsr_packet_check_words(packet->word, !packet->depth);
	if (defect.code)
		return packet_fault(q, defect.code, defect.qword);
	if (runner->gpu->cfg.check && !packet->depth)
		runner->gpu->hooks->fetched(q, packet);
	if (runner->gpu->ops->trace) {
		uint64_t args[4] = { q->index, packet->pc, packet->word[0], packet->depth };

		tsr_trace(runner->gpu, TSR_TRACE_PACKET, args, 4);
	}
	x->phase = TSR_CP_EXECUTE;
	x->waited = false;
	x->inval_started = false;
	return TSR_CP_STEPPED;
}

/* A JUMP, CALL or RETURN: count it. False: it is one too many. */
static bool branch(struct tsr_exec *x)
{
	tsr_prefetch_drop(&x->prefetch);
	return ++x->loops <= TSR_LOOP_LIMIT;
}

static enum tsr_cp_result do_call(struct tsr_runner *runner, struct tsr_queue *q)
{
	const struct tsr_inject_at at = { .queue = q };
	struct tsr_exec *x = &q->exec;
	struct tsr_call call;

	tsr_unpack_call(x->packet.word, &call);
	if (!x->depth && x->fifo.count)
		return TSR_CP_STALLED;	/* what the FIFO holds belongs to one ring CALL at a time */
	if (x->depth == TSR_NESTING_MAX)
		return packet_fault(q, TSR_FAULT_NESTING, 0);
	if (!branch(x))
		return packet_fault(q, TSR_FAULT_LOOP, 0);
	if (x->depth) {
		retire(runner, q);
	} else {
		/* Retired, counted and paid for by drain(). */
		atomic_store_explicit(&q->in_call, true, memory_order_relaxed);
		x->phase = TSR_CP_FETCH;
		if (atomic_load_explicit(&q->gpu->hooked.capture_armed, memory_order_relaxed))
			q->gpu->hooks->call(runner, q, call.addr, call.size);
		if (tsr_injected(q->gpu, TSR_INJECTION_IRQ_EARLY, &at, NULL))
			tsr_irq_raise(&q->gpu->irq, TSR_IRQ_CLASS_JOB, 1ull << q->index);
	}
	x->frame[x->depth++] =
		(struct tsr_call_frame) { .pc = call.addr, .end = call.addr + call.size };
	return TSR_CP_STEPPED;
}

static enum tsr_cp_result do_jump(struct tsr_runner *runner, struct tsr_queue *q)
{
	struct tsr_exec *x = &q->exec;
	struct tsr_jump jump;

	tsr_unpack_jump(x->packet.word, &jump);
	if (!branch(x))
		return packet_fault(q, TSR_FAULT_LOOP, 0);
	retire(runner, q);
	x->frame[x->depth - 1] =
		(struct tsr_call_frame){ .pc = jump.addr, .end = jump.addr + jump.size };
	return TSR_CP_STEPPED;
}

static enum tsr_cp_result do_return(struct tsr_runner *runner, struct tsr_queue *q)
{
	if (!branch(&q->exec))
		return packet_fault(q, TSR_FAULT_LOOP, 0);
	retire(runner, q);
	return end_stream(q);
}

static enum tsr_cp_result do_wait(struct tsr_runner *runner, struct tsr_queue *q)
{
	struct tsr_exec *x = &q->exec;
	struct tsr_mem mem = packet_mem(runner, q, &x->packet);
	enum tsr_step step;
	bool holds;

	tsr_prefetch_drop(&x->prefetch);
	step = tsr_semaphore_test(&mem, &x->packet, &holds);
	if (step != TSR_STEP_DONE)
		return failed(q, &mem, step);
	if (!holds) {
		x->waited = true;
		return TSR_CP_BLOCKED;
	}
	if (x->waited)
		x->loops = 0;
	x->waited = false;
	retire(runner, q);
	return TSR_CP_STEPPED;
}

/* FENCE, SIGNAL, SIGNAL_REG, TIMESTAMP: now, or after what the engine has. */
static enum tsr_cp_result do_event(struct tsr_runner *runner, struct tsr_queue *q)
{
	struct tsr_exec *x = &q->exec;
	struct tsr_mem mem = packet_mem(runner, q, &x->packet);

	if (tsr_event_when(&x->packet) != TSR_EVENT_REACHED && x->fifo.count) {
		if (tsr_fifo_full(&x->fifo))
			return TSR_CP_STALLED;
		tsr_fifo_push(&x->fifo, &x->packet);
	} else {
		enum tsr_step step = tsr_event_apply(&mem, &x->packet);

		if (step != TSR_STEP_DONE)
			return failed(q, &mem, step);
	}
	x->loops = 0;
	retire(runner, q);
	return TSR_CP_STEPPED;
}

static enum tsr_cp_result do_barrier(struct tsr_runner *runner, struct tsr_queue *q)
{
	struct tsr_exec *x = &q->exec;
	struct tsr_barrier barrier;

	tsr_unpack_barrier(x->packet.word, &barrier);
	if (barrier.wait_writes && x->fifo.count)
		return TSR_CP_STALLED;
	if (barrier.wait_reads && tsr_fifo_reads(&x->fifo))
		return TSR_CP_STALLED;
	if (barrier.inv_read) {
		tsr_mmu_data_changed(&runner->gpu->mmu, x->packet.as);
		tsr_mmu_data_changed(&runner->gpu->mmu, tsr_queue_user_as(q));
	}
	if (barrier.inv_code) {
		tsr_prefetch_drop(&x->prefetch);
		tsr_mmu_code_changed(&runner->gpu->mmu, x->packet.as);
		tsr_mmu_code_changed(&runner->gpu->mmu, tsr_queue_user_as(q));
	}
	retire(runner, q);
	return TSR_CP_STEPPED;
}

static enum tsr_cp_result do_tlb_invalidate(struct tsr_runner *runner, struct tsr_queue *q)
{
	struct tsr_gpu *gpu = runner->gpu;
	struct tsr_exec *x = &q->exec;
	struct tsr_tlb_invalidate inv;
	bool done;

	tsr_unpack_tlb_invalidate(x->packet.word, &inv);
	if (x->fifo.count)
		return TSR_CP_STALLED;
	if (inv.op != TSR_INV_OP_NONE) {
		pthread_mutex_lock(&gpu->lock);
		if (!x->inval_started) {
			tsr_inval_command(gpu, inv.as, inv.op, inv.va, inv.size, false);
			x->inval_started = true;
			x->ticket = gpu->mmu.as[inv.as].inv_started;
		}
		tsr_tlb_sync(runner);	/* nothing is held between two packets */
		tsr_inval_complete(gpu);
		done = (int32_t)(gpu->mmu.as[inv.as].inv_done - x->ticket) >= 0;
		pthread_mutex_unlock(&gpu->lock);
		if (!done)
			return TSR_CP_INVALIDATING;
	}
	retire(runner, q);
	return TSR_CP_STEPPED;
}

static enum tsr_cp_result do_counter(struct tsr_runner *runner, struct tsr_queue *q)
{
	struct tsr_exec *x = &q->exec;
	struct tsr_mem mem = packet_mem(runner, q, &x->packet);
	enum tsr_step step = TSR_STEP_DONE;

	if (x->fifo.count)
		return TSR_CP_STALLED;
	if (tsr_packet_opcode(x->packet.word[0]) == TSR_OP_COUNTER_BEGIN)
		tsr_interval_begin(q, &x->packet);
	else
		step = tsr_interval_end(&mem, &x->packet);
	if (step != TSR_STEP_DONE)
		return failed(q, &mem, step);
	retire(runner, q);
	return TSR_CP_STEPPED;
}

static enum tsr_cp_result do_heap(struct tsr_runner *runner, struct tsr_queue *q)
{
	struct tsr_exec *x = &q->exec;
	struct tsr_heap heap;

	if (x->fifo.count)
		return TSR_CP_STALLED;
	tsr_unpack_heap(x->packet.word, &heap);
	tsr_heap_state_set(q, heap.base, heap.size, heap.max);
	retire(runner, q);
	return TSR_CP_STEPPED;
}

static enum tsr_cp_result do_engine(struct tsr_runner *runner, struct tsr_queue *q)
{
	struct tsr_exec *x = &q->exec;

	if (tsr_fifo_full(&x->fifo))
		return TSR_CP_STALLED;
	tsr_fifo_push(&x->fifo, &x->packet);
	x->loops = 0;
	retire(runner, q);
	return TSR_CP_STEPPED;
}

static enum tsr_cp_result execute(struct tsr_runner *runner, struct tsr_queue *q)
{
	switch (tsr_packet_opcode(q->exec.packet.word[0])) {
	case TSR_OP_NOP:
		retire(runner, q);
		return TSR_CP_STEPPED;
	case TSR_OP_CALL:
		return do_call(runner, q);
	case TSR_OP_JUMP:
		return do_jump(runner, q);
	case TSR_OP_RETURN:
		return do_return(runner, q);
	case TSR_OP_WAIT:
	case TSR_OP_WAIT_REG:
		return do_wait(runner, q);
	case TSR_OP_SIGNAL:
	case TSR_OP_SIGNAL_REG:
	case TSR_OP_FENCE:
	case TSR_OP_TIMESTAMP:
		return do_event(runner, q);
	case TSR_OP_BARRIER:
		return do_barrier(runner, q);
	case TSR_OP_TLB_INVALIDATE:
		return do_tlb_invalidate(runner, q);
	case TSR_OP_HEAP:
		return do_heap(runner, q);
	case TSR_OP_COUNTER_BEGIN:
	case TSR_OP_COUNTER_END:
		return do_counter(runner, q);
	default:
		return do_engine(runner, q);
	}
}

enum tsr_cp_result tsr_cp_step(struct tsr_runner *runner, struct tsr_queue *q)
{
	switch (q->exec.phase) {
	case TSR_CP_FETCH:
		return fetch(runner, q);
	case TSR_CP_EXECUTE:
		return execute(runner, q);
	case TSR_CP_DRAIN:
		return drain(runner, q);
	default:
		return q->exec.fifo.count ? TSR_CP_STALLED : TSR_CP_FAULTED;
	}
}
