/* SPDX-License-Identifier: MIT */
/*
 * Register file: BAR0, by 32-bit words.
 *
 * In: offsets and values of the host's accesses (tsr_gpu_read(), tsr_gpu_write()). Out: calls to
 * the units. Offsets without a register, and slots beyond those the device has, read 0 and ignore
 * writes. While a reset is in progress only the IRQ block is written.
 */
#include "gpu.h"

/* The value @v as it stands in field @f. */
#define FIELD(f, v) ((uint32_t)(v) << f##__SHIFT & f##__MASK)

/*
 * Tiles are for the rendering units; published so that their size can be relied on before there are
 * any.
 */
#define TILE_SIZE 64

static uint64_t features(struct tsr_gpu *gpu)
{
	return (gpu->cfg.local_size ? TSR_FEATURE_LOCAL_MEMORY : 0) |
	       (gpu->cfg.inject_window ? TSR_FEATURE_DEBUG : 0) |
	       (gpu->cfg.check ? TSR_FEATURE_CHECK : 0) |
	       (gpu->cfg.heads ? TSR_FEATURE_DISPLAY : 0) |
	       (gpu->cfg.page_sizes & 1ull << TSR_HUGE_SHIFT ? TSR_FEATURE_HUGE_PAGES : 0) |
	       (gpu->cfg.deterministic ? TSR_FEATURE_DETERMINISTIC : 0) |
	       TSR_FEATURE_COMPRESSED | TSR_FEATURE_GEOMETRY | TSR_FEATURE_TAGGED;
}

/* The GPU block; @offset with bit 2 cleared for 64-bit registers is left to the caller's halves. */
static uint32_t read_gpu(struct tsr_gpu *gpu, uint32_t offset)
{
	const unsigned int *engines = gpu->cfg.engines;

	switch (offset) {
	case TSR_REG_GPU_MAGIC:
		return TSR_MAGIC;
	case TSR_REG_GPU_VERSION:
		return FIELD(TSR_GPU_VERSION_MAJOR, TSR_VERSION_MAJOR) |
		       FIELD(TSR_GPU_VERSION_MINOR, TSR_VERSION_MINOR);
	case TSR_REG_GPU_FEATURES:
	case TSR_REG_GPU_FEATURES + 4:
		return tsr_half(features(gpu), offset & 4);
	case TSR_REG_GPU_ENGINES:
		return FIELD(TSR_GPU_ENGINES_BIN, engines[TSR_ENGINE_CLASS_BIN]) |
		       FIELD(TSR_GPU_ENGINES_RENDER, engines[TSR_ENGINE_CLASS_RENDER]) |
		       FIELD(TSR_GPU_ENGINES_COMPUTE, engines[TSR_ENGINE_CLASS_COMPUTE]) |
		       FIELD(TSR_GPU_ENGINES_COPY, engines[TSR_ENGINE_CLASS_COPY]);
	case TSR_REG_GPU_SLOTS:
		return FIELD(TSR_GPU_SLOTS_QUEUES, gpu->cfg.queues) |
		       FIELD(TSR_GPU_SLOTS_ADDRESS_SPACES, TSR_ADDRESS_SPACES_MAX);
	case TSR_REG_GPU_PAGE_SIZES:
	case TSR_REG_GPU_PAGE_SIZES + 4:
		return tsr_half(gpu->cfg.page_sizes, offset & 4);
	case TSR_REG_GPU_VA:
		return FIELD(TSR_GPU_VA_BITS, gpu->cfg.va_bits) |
		       FIELD(TSR_GPU_VA_LEVELS, gpu->mmu.levels);
	case TSR_REG_GPU_LIMITS:
		return FIELD(TSR_GPU_LIMITS_PREFETCH_BYTES, TSR_PREFETCH_BYTES) |
		       FIELD(TSR_GPU_LIMITS_NESTING, TSR_NESTING_MAX) |
		       FIELD(TSR_GPU_LIMITS_FIFO_DEPTH, TSR_FIFO_DEPTH);
	case TSR_REG_GPU_LOCAL_SIZE:
	case TSR_REG_GPU_LOCAL_SIZE + 4:
		return tsr_half(gpu->cfg.local_size, offset & 4);
	case TSR_REG_GPU_TIMESTAMP_HZ:
	case TSR_REG_GPU_TIMESTAMP_HZ + 4:
		return tsr_half(TSR_TIMESTAMP_HZ, offset & 4);
	case TSR_REG_GPU_TIMESTAMP:
	case TSR_REG_GPU_TIMESTAMP + 4:
		return tsr_half(tsr_clock(&gpu->counters), offset & 4);
	case TSR_REG_GPU_RING_LIMITS:
		return FIELD(TSR_GPU_RING_LIMITS_MIN_LOG2, TSR_RING_LOG2_MIN) |
		       FIELD(TSR_GPU_RING_LIMITS_MAX_LOG2, TSR_RING_LOG2_MAX);
	case TSR_REG_GPU_TILE:
		return FIELD(TSR_GPU_TILE_WIDTH, TILE_SIZE) | FIELD(TSR_GPU_TILE_HEIGHT, TILE_SIZE);
	case TSR_REG_GPU_LOOP_LIMIT:
		return TSR_LOOP_LIMIT;
	case TSR_REG_GPU_STATUS:
		return FIELD(TSR_GPU_STATUS_RESET_BUSY, gpu->reset_busy) |
		       FIELD(TSR_GPU_STATUS_ENGINES_BUSY, gpu->counters.busy.total);
	case TSR_REG_GPU_SHADER:
		if (!engines[TSR_ENGINE_CLASS_COMPUTE])
			return 0;
		return FIELD(TSR_GPU_SHADER_CORES, gpu->cfg.cores) |
		       FIELD(TSR_GPU_SHADER_WARP_LANES, TSR_WARP_LANES) |
		       FIELD(TSR_GPU_SHADER_CORE_WARPS, TSR_CORE_WARPS);
	case TSR_REG_GPU_SHADER_LIMITS:
		if (!engines[TSR_ENGINE_CLASS_COMPUTE])
			return 0;
		return FIELD(TSR_GPU_SHADER_LIMITS_GROUP_THREADS, TSR_GROUP_THREADS_MAX) |
		       FIELD(TSR_GPU_SHADER_LIMITS_GROUP_MEMORY_KIB, TSR_GROUP_MEMORY_MAX / 1024);
	case TSR_REG_GPU_RESET_COUNT:
		return gpu->reset_count;
	default:
		return 0;
	}
}

static uint32_t read_irq(struct tsr_gpu *gpu, unsigned int cls, uint32_t offset)
{
	struct tsr_irq *irq = &gpu->irq;
	bool upper = offset & 4;

	switch (offset & ~4u) {
	case TSR_IRQ_RAWSTAT__OFFSET:
		return tsr_half(tsr_irq_rawstat(irq, cls), upper);
	case TSR_IRQ_MASK__OFFSET:
		return tsr_half(tsr_irq_mask(irq, cls), upper);
	case TSR_IRQ_STATUS__OFFSET:
		return tsr_half(tsr_irq_rawstat(irq, cls) & tsr_irq_mask(irq, cls), upper);
	default:
		return 0;
	}
}

static void write_irq(struct tsr_gpu *gpu, unsigned int cls, uint32_t offset, uint32_t value)
{
	uint64_t bits = tsr_with_half(0, offset & 4, value);

	switch (offset & ~4u) {
	case TSR_IRQ_CLEAR__OFFSET:
		tsr_irq_clear(&gpu->irq, cls, bits);
		break;
	case TSR_IRQ_MASK__OFFSET:
		tsr_irq_set_mask(&gpu->irq, cls, tsr_with_half(0, offset & 4, UINT32_MAX), bits);
		break;
	default:
		break;
	}
}

static uint32_t read_as(const struct tsr_as *as, uint32_t offset)
{
	switch (offset) {
	case TSR_AS_BASE__OFFSET:
	case TSR_AS_BASE__OFFSET + 4:
		return tsr_half(as->base, offset & 4);
	case TSR_AS_INV_VA__OFFSET:
	case TSR_AS_INV_VA__OFFSET + 4:
		return tsr_half(as->inv_va, offset & 4);
	case TSR_AS_INV_SIZE__OFFSET:
	case TSR_AS_INV_SIZE__OFFSET + 4:
		return tsr_half(as->inv_size, offset & 4);
	case TSR_AS_STATUS__OFFSET:
		return FIELD(TSR_AS_STATUS_BUSY, as->inv_started != as->inv_done);
	case TSR_AS_INV_STARTED__OFFSET:
		return as->inv_started;
	case TSR_AS_INV_DONE__OFFSET:
		return as->inv_done;
	default:
		return 0;
	}
}

static void write_as(struct tsr_gpu *gpu, unsigned int index, uint32_t offset, uint32_t value)
{
	struct tsr_as *as = &gpu->mmu.as[index];
	bool upper = offset & 4;

	switch (offset) {
	case TSR_AS_BASE__OFFSET:
	case TSR_AS_BASE__OFFSET + 4:
		as->base = tsr_with_half(as->base, upper, value) &
			   (TSR_AS_BASE_VALID__MASK | TSR_AS_BASE_LOCAL__MASK |
			    TSR_AS_BASE_ADDR__MASK);
		break;
	case TSR_AS_INV_VA__OFFSET:
	case TSR_AS_INV_VA__OFFSET + 4:
		as->inv_va = tsr_with_half(as->inv_va, upper, value);
		break;
	case TSR_AS_INV_SIZE__OFFSET:
	case TSR_AS_INV_SIZE__OFFSET + 4:
		as->inv_size = tsr_with_half(as->inv_size, upper, value);
		break;
	case TSR_AS_COMMAND__OFFSET:
		tsr_inval_command(gpu, index, value & TSR_AS_COMMAND_OP__MASK, as->inv_va,
				  as->inv_size, value & TSR_AS_COMMAND_IRQ__MASK);
		break;
	default:
		break;
	}
}

static uint32_t read_queue_state(const struct tsr_queue *q)
{
	bool running = q->state == TSR_QUEUE_STATE_RUNNING;

	return FIELD(TSR_QUEUE_STATE_STATE, q->state) |
	       FIELD(TSR_QUEUE_STATE_STOPPING,
		     !!(q->request & (TSR_REQUEST_RESET | TSR_REQUEST_SUSPEND))) |
	       FIELD(TSR_QUEUE_STATE_IN_CALL,
		     atomic_load_explicit(&q->in_call, memory_order_relaxed)) |
	       FIELD(TSR_QUEUE_STATE_BLOCK, q->block) |
	       FIELD(TSR_QUEUE_STATE_ENGINE, running ? q->engine : 0);
}

static uint32_t read_fault(const struct tsr_record *fault)
{
	return FIELD(TSR_QUEUE_FAULT_CODE, fault->code) |
	       FIELD(TSR_QUEUE_FAULT_ACCESS, fault->access) |
	       FIELD(TSR_QUEUE_FAULT_LEVEL, fault->level) |
	       FIELD(TSR_QUEUE_FAULT_UNIT, fault->unit) |
	       FIELD(TSR_QUEUE_FAULT_RING, fault->code && !fault->depth) |
	       FIELD(TSR_QUEUE_FAULT_DEPTH, fault->depth);
}

/* A counter of a queue, with the time since the state it counts began. */
static uint64_t read_queue_counter(const struct tsr_queue *q, unsigned int id)
{
	uint64_t value = atomic_load_explicit(&q->counter[id], memory_order_relaxed);

	if (id == TSR_QUEUE_COUNTER_BUSY_TIME && q->state == TSR_QUEUE_STATE_RUNNING)
		value += tsr_clock(&q->gpu->counters) - q->run_since;
	if (id == TSR_QUEUE_COUNTER_BLOCKED_TIME && q->state == TSR_QUEUE_STATE_BLOCKED)
		value += tsr_clock(&q->gpu->counters) - q->block_since;
	return value;
}

/* The 64-bit registers of a slot, by the offset of the lower half. */
static uint64_t read_queue_wide(const struct tsr_queue *q, uint32_t offset)
{
	switch (offset) {
	case TSR_QUEUE_RING_BASE__OFFSET:
		return q->ring_base;
	case TSR_QUEUE_PROGRESS__OFFSET:
		return atomic_load_explicit(&q->progress, memory_order_relaxed);
	case TSR_QUEUE_BUSY_NS__OFFSET:
		return q->busy_ns +
		       (q->state == TSR_QUEUE_STATE_RUNNING ?
				tsr_clock(&q->gpu->counters) - q->run_since : 0);
	case TSR_QUEUE_CALLS__OFFSET:
		return atomic_load_explicit(&q->calls, memory_order_relaxed);
	case TSR_QUEUE_FAULT_ADDR__OFFSET:
		return q->fault.addr;
	case TSR_QUEUE_FAULT_PC__OFFSET:
		return q->fault.pc;
	case TSR_QUEUE_FAULT_HEADER__OFFSET:
		return q->fault.header;
	case TSR_QUEUE_CYCLES__OFFSET:
		return read_queue_counter(q, TSR_QUEUE_COUNTER_CYCLES);
	default:
		if (offset < TSR_QUEUE_COUNTER__OFFSET)
			return 0;
		return read_queue_counter(q, (offset - TSR_QUEUE_COUNTER__OFFSET) /
						     TSR_QUEUE_COUNTER__STRIDE);
	}
}

static uint32_t read_queue(const struct tsr_queue *q, uint32_t offset)
{
	switch (offset) {
	case TSR_QUEUE_CONFIG__OFFSET:
		return q->config;
	case TSR_QUEUE_ADDRESS_SPACES__OFFSET:
		return q->address_spaces;
	case TSR_QUEUE_CONTROL__OFFSET:
		return 0;
	case TSR_QUEUE_STATE__OFFSET:
		return read_queue_state(q);
	case TSR_QUEUE_RPTR__OFFSET:
		return atomic_load_explicit(&q->rptr, memory_order_relaxed);
	case TSR_QUEUE_WPTR__OFFSET:
		return atomic_load_explicit(&q->wptr, memory_order_relaxed);
	case TSR_QUEUE_TIMESLICE__OFFSET:
		return q->timeslice;
	case TSR_QUEUE_WATCHDOG_MS__OFFSET:
		return q->watchdog_ms;
	case TSR_QUEUE_FAULT__OFFSET:
		return read_fault(&q->fault);
	case TSR_QUEUE_FAULT_AS__OFFSET:
		return q->fault.as;
	case TSR_QUEUE_FAULT_RPTR__OFFSET:
		return q->fault.rptr;
	case TSR_QUEUE_FAULT_CLAUSE__OFFSET:
	case TSR_QUEUE_FAULT_CLAUSE__OFFSET + 4:
		return tsr_half(q->fault.clause, offset & 4);
	case TSR_QUEUE_FAULT_SHADER__OFFSET:
		return q->fault.shader;
	case TSR_QUEUE_FAULT_GROUP__OFFSET:
	case TSR_QUEUE_FAULT_GROUP__OFFSET + TSR_QUEUE_FAULT_GROUP__STRIDE:
	case TSR_QUEUE_FAULT_GROUP__OFFSET + 2 * TSR_QUEUE_FAULT_GROUP__STRIDE:
		return q->fault.group[(offset - TSR_QUEUE_FAULT_GROUP__OFFSET) /
				      TSR_QUEUE_FAULT_GROUP__STRIDE];
	case TSR_QUEUE_HEAP_BASE__OFFSET:
	case TSR_QUEUE_HEAP_BASE__OFFSET + 4:
		return tsr_half(q->heap.base, offset & 4);
	case TSR_QUEUE_HEAP_SIZE__OFFSET:
		return atomic_load(&q->heap.size);
	case TSR_QUEUE_HEAP_MAX__OFFSET:
		return q->heap.max;
	case TSR_QUEUE_SLICES__OFFSET:
		return q->slices;
	case TSR_QUEUE_PREEMPTIONS__OFFSET:
		return q->preemptions;
	default:
		if (offset >= TSR_QUEUE_COUNTER__OFFSET +
				      TSR_QUEUE_COUNTER__COUNT * TSR_QUEUE_COUNTER__STRIDE)
			return 0;
		return tsr_half(read_queue_wide(q, offset & ~4u), offset & 4);
	}
}

/* Registers that can be written while the slot is DISABLED and not STOPPING. */
static void configure_queue(struct tsr_queue *q, uint32_t offset, uint32_t value)
{
	if (q->state != TSR_QUEUE_STATE_DISABLED || q->request)
		return;
	switch (offset) {
	case TSR_QUEUE_RING_BASE__OFFSET:
	case TSR_QUEUE_RING_BASE__OFFSET + 4:
		q->ring_base = tsr_with_half(q->ring_base, offset & 4, value);
		break;
	case TSR_QUEUE_CONFIG__OFFSET:
		q->config =
			value & (TSR_QUEUE_CONFIG_RING_LOG2__MASK | TSR_QUEUE_CONFIG_CLASS__MASK |
				 TSR_QUEUE_CONFIG_PRIORITY__MASK);
		break;
	case TSR_QUEUE_ADDRESS_SPACES__OFFSET:
		q->address_spaces = value & (TSR_QUEUE_ADDRESS_SPACES_RING_AS__MASK |
					     TSR_QUEUE_ADDRESS_SPACES_USER_AS__MASK);
		break;
	case TSR_QUEUE_RPTR__OFFSET:
		value &= ~7u;
		atomic_store_explicit(&q->rptr, value, memory_order_relaxed);
		atomic_store_explicit(&q->wptr, value, memory_order_relaxed);
		atomic_store_explicit(&q->in_call, false, memory_order_relaxed);
		break;
	default:
		break;
	}
}

static void write_queue(struct tsr_queue *q, uint32_t offset, uint32_t value)
{
	switch (offset) {
	case TSR_QUEUE_CONTROL__OFFSET:
		tsr_queue_control(q, value & TSR_QUEUE_CONTROL_OP__MASK);
		tsr_sched_kick(q->gpu);
		break;
	case TSR_QUEUE_TIMESLICE__OFFSET:
		q->timeslice = value;
		break;
	case TSR_QUEUE_HEAP_GROW__OFFSET:
		tsr_heap_state_grow(q, value);
		break;
	case TSR_QUEUE_WATCHDOG_MS__OFFSET:
		q->watchdog_ms = value;
		tsr_watchdog_start(q);
		break;
	default:
		configure_queue(q, offset, value);
		break;
	}
}

/*
 * The block of @count instances at @base that @offset lies in: its number; and *@offset becomes
 * relative to it.
 */
static bool in_block(uint32_t *offset, uint32_t base, uint32_t count, uint32_t stride,
		     unsigned int *number)
{
	if (*offset < base || *offset >= base + count * stride)
		return false;
	*number = (*offset - base) / stride;
	*offset = (*offset - base) % stride;
	return true;
}

/* Without heads there is no class DISPLAY. */
static uint32_t irq_classes(const struct tsr_gpu *gpu)
{
	return gpu->cfg.heads ? TSR_IRQ_CLASSES : TSR_IRQ_CLASS_DISPLAY;
}

static uint32_t read_register(struct tsr_gpu *gpu, uint32_t offset)
{
	unsigned int n;
	uint32_t value;

	if (in_block(&offset, TSR_QUEUE__OFFSET, gpu->cfg.queues, TSR_QUEUE__STRIDE, &n))
		return read_queue(&gpu->queue[n], offset);
	if (in_block(&offset, TSR_IRQ__OFFSET, irq_classes(gpu), TSR_IRQ__STRIDE, &n))
		return read_irq(gpu, n, offset);
	if (in_block(&offset, TSR_AS__OFFSET, TSR_AS__COUNT, TSR_AS__STRIDE, &n))
		return read_as(&gpu->mmu.as[n], offset);
	if (in_block(&offset, TSR_REG_DOORBELL_RING(0), gpu->cfg.queues, TSR_DOORBELL_RING__STRIDE,
		     &n))
		return atomic_load_explicit(&gpu->queue[n].wptr, memory_order_relaxed);
	if (in_block(&offset, TSR_REG_SEMAPHORE_VALUE(0), TSR_SEMAPHORE_VALUE__COUNT,
		     TSR_SEMAPHORE_VALUE__STRIDE, &n))
		return atomic_load_explicit(&gpu->semaphore[n], memory_order_relaxed);
	if (in_block(&offset, TSR_REG_COUNTER_VALUE(0), TSR_COUNTER_VALUE__COUNT,
		     TSR_COUNTER_VALUE__STRIDE, &n))
		return tsr_half(tsr_counter_read_global(&gpu->counters, n), offset & 4);
	if (in_block(&offset, TSR_DISPLAY__OFFSET, gpu->cfg.heads, TSR_DISPLAY__STRIDE, &n))
		return tsr_display_read(&gpu->display, n, offset);
	if (gpu->hooks && gpu->hooks->read(gpu, offset, &value))
		return value;
	return read_gpu(gpu, offset);
}

/* True if fault injection drops a doorbell of @q. */
static bool unheard(struct tsr_queue *q)
{
	const struct tsr_inject_at at = { .queue = q };

	return tsr_injected(q->gpu, TSR_INJECTION_DOORBELL_LOST, &at, NULL);
}

static void write_register(struct tsr_gpu *gpu, uint32_t offset, uint32_t value)
{
	unsigned int n;

	if (in_block(&offset, TSR_IRQ__OFFSET, irq_classes(gpu), TSR_IRQ__STRIDE, &n)) {
		write_irq(gpu, n, offset, value);
	} else if (gpu->hooks && gpu->hooks->write(gpu, offset, value)) {
		return;
	} else if (gpu->reset_busy) {
		return;
	} else if (in_block(&offset, TSR_DISPLAY__OFFSET, gpu->cfg.heads, TSR_DISPLAY__STRIDE,
			    &n)) {
		tsr_display_write(&gpu->display, n, offset, value);
	} else if (in_block(&offset, TSR_REG_DOORBELL_RING(0), gpu->cfg.queues,
			    TSR_DOORBELL_RING__STRIDE, &n)) {
		if (!unheard(&gpu->queue[n]))
			tsr_queue_doorbell(&gpu->queue[n], value);
		tsr_sched_kick(gpu);
	} else if (in_block(&offset, TSR_QUEUE__OFFSET, gpu->cfg.queues, TSR_QUEUE__STRIDE, &n)) {
		write_queue(&gpu->queue[n], offset, value);
	} else if (in_block(&offset, TSR_AS__OFFSET, TSR_AS__COUNT, TSR_AS__STRIDE, &n)) {
		write_as(gpu, n, offset, value);
	} else if (in_block(&offset, TSR_REG_SEMAPHORE_VALUE(0), TSR_SEMAPHORE_VALUE__COUNT,
			    TSR_SEMAPHORE_VALUE__STRIDE, &n)) {
		tsr_semaphore_signal(gpu, n, TSR_SIGNAL_OP_SET, value);
		tsr_semaphore_poll(&gpu->runner[0]);
		tsr_sched_kick(gpu);
	} else if (offset == TSR_REG_GPU_CONTROL && value & TSR_GPU_CONTROL_RESET__MASK) {
		if (tsr_inject_armed(gpu))
			gpu->hooks->reset_register(gpu);
		tsr_gpu_start_reset(gpu);
	}
}

/* True if fault injection keeps the device from answering a read. */
static bool is_silent(struct tsr_gpu *gpu)
{
	return (tsr_inject_armed(gpu) || atomic_load(&gpu->hooked.gone)) && gpu->hooks->silent(gpu);
}

uint32_t tsr_gpu_read(struct tsr_gpu *gpu, uint32_t offset)
{
	uint32_t value;

	if (offset & 3 || offset >= TSR_REGISTERS_SIZE)
		return 0;
	pthread_mutex_lock(&gpu->lock);
	value = is_silent(gpu) ? UINT32_MAX : read_register(gpu, offset);
	pthread_mutex_unlock(&gpu->lock);
	return value;
}

void tsr_gpu_write(struct tsr_gpu *gpu, uint32_t offset, uint32_t value)
{
	if (offset & 3 || offset >= TSR_REGISTERS_SIZE)
		return;
	pthread_mutex_lock(&gpu->lock);
	tsr_workers_late(&gpu->workers);
	if (gpu->cfg.check && offset < TSR_CHECK__OFFSET)
		gpu->hooks->wrote(gpu, offset, value);
	if (!atomic_load(&gpu->hooked.gone))
		write_register(gpu, offset, value);
	tsr_hooks_arm(gpu);
	tsr_workers_unlock(gpu);
}
