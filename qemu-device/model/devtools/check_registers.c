/* SPDX-License-Identifier: MIT */
/* The registers of the contract checker. */
#include "devtools.h"

static uint32_t last_head(const struct tsr_check *check)
{
	const struct tsr_check_event *e = &check->last;

	if (!check->any)
		return 0;
	return TSR_CHECK_LAST_VALID__MASK | (uint32_t)e->kind << TSR_CHECK_LAST_KIND__SHIFT |
	       (uint32_t)e->as << TSR_CHECK_LAST_AS__SHIFT |
	       (e->queue ? TSR_CHECK_LAST_QUEUE_VALID__MASK |
			   e->queue->index << TSR_CHECK_LAST_QUEUE__SHIFT : 0);
}

static uint64_t read_last(struct tsr_gpu *gpu, uint32_t offset)
{
	const struct tsr_check_event *e = &gpu->bench->check.last;

	switch (offset) {
	case TSR_CHECK_LAST_JOB__OFFSET:
		return e->job;
	case TSR_CHECK_LAST_ADDR__OFFSET:
		return e->addr;
	case TSR_CHECK_LAST_WAS__OFFSET:
		return e->was;
	case TSR_CHECK_LAST_IS__OFFSET:
		return e->is;
	case TSR_CHECK_LAST_TIME__OFFSET:
		return gpu->bench->check.any ? e->when + gpu->counters.clock_offset : 0;
	default:
		return 0;
	}
}

uint32_t tsr_check_read(struct tsr_gpu *gpu, uint32_t offset)
{
	struct tsr_check *check = &gpu->bench->check;
	uint32_t value;

	if (offset >= TSR_CHECK_COUNT__OFFSET)
		return atomic_load_explicit(&check->count[(offset - TSR_CHECK_COUNT__OFFSET) /
							  TSR_CHECK_COUNT__STRIDE],
					    memory_order_relaxed);
	switch (offset) {
	case TSR_CHECK_STATUS__OFFSET:
		return tsr_check_settle(gpu) << TSR_CHECK_STATUS_PENDING__SHIFT;
	case TSR_CHECK_PAGES_ADDR__OFFSET:
	case TSR_CHECK_PAGES_ADDR__OFFSET + 4:
		return tsr_half(check->pages_addr, offset & 4);
	case TSR_CHECK_PAGES_SIZE__OFFSET:
	case TSR_CHECK_PAGES_SIZE__OFFSET + 4:
		return tsr_half(check->pages_size, offset & 4);
	default:
		break;
	}
	pthread_mutex_lock(&check->lock);
	value = offset == TSR_CHECK_LAST__OFFSET ? last_head(check) :
		tsr_half(read_last(gpu, offset & ~4u), offset & 4);
	pthread_mutex_unlock(&check->lock);
	return value;
}

void tsr_check_write(struct tsr_gpu *gpu, uint32_t offset, uint32_t value)
{
	struct tsr_check *check = &gpu->bench->check;

	switch (offset) {
	case TSR_CHECK_PAGES_ADDR__OFFSET:
	case TSR_CHECK_PAGES_ADDR__OFFSET + 4:
		check->pages_addr = tsr_with_half(check->pages_addr, offset & 4, value);
		break;
	case TSR_CHECK_PAGES_SIZE__OFFSET:
	case TSR_CHECK_PAGES_SIZE__OFFSET + 4:
		check->pages_size = tsr_with_half(check->pages_size, offset & 4, value);
		break;
	case TSR_CHECK_COMMAND__OFFSET:
		tsr_check_pages(gpu, value & TSR_CHECK_COMMAND_OP__MASK, check->pages_addr,
				check->pages_size);
		break;
	default:
		break;
	}
}
