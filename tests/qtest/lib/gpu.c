/* SPDX-License-Identifier: MIT */
/* A driver in a machine without a guest. See gpu.h. */
#include "gpu.h"

#include <stdlib.h>
#include <string.h>

#include "ktap.h"

#define CONFIG_ADDRESS 0xcf8
#define CONFIG_DATA 0xcfc

#define PCI_COMMAND 0x04
#define PCI_COMMAND_MEMORY_MASTER 0x0006
#define PCI_BAR(n) (0x10 + 4 * (n))
#define PCI_CAPABILITIES 0x34
#define PCI_CAP_MSIX 0x11
#define MSIX_ENABLE 0x8000
#define MSIX_LAST 0x7ff

#define PATIENCE_MS 5000

static void cfg_select(struct gpu *gpu, unsigned int offset)
{
	qtest_out(gpu->q, CONFIG_ADDRESS,
		  0x80000000u | gpu->bus << 16 | gpu->devfn << 8 | (offset & ~3u), 4);
}

uint32_t gpu_cfg_read(struct gpu *gpu, unsigned int offset, unsigned int bytes)
{
	cfg_select(gpu, offset);
	return qtest_in(gpu->q, CONFIG_DATA + (offset & 3), bytes);
}

void gpu_cfg_write(struct gpu *gpu, unsigned int offset, uint32_t value, unsigned int bytes)
{
	cfg_select(gpu, offset);
	qtest_out(gpu->q, CONFIG_DATA + (offset & 3), value, bytes);
}

unsigned int gpu_cap(struct gpu *gpu, unsigned int id)
{
	unsigned int at = gpu_cfg_read(gpu, PCI_CAPABILITIES, 1);

	while (at && gpu_cfg_read(gpu, at, 1) != id)
		at = gpu_cfg_read(gpu, at + 1, 1);
	return at;
}

void gpu_open_bridge(struct qtest *q, unsigned int devfn, unsigned int bus)
{
	struct gpu bridge = { .q = q, .bus = 0, .devfn = devfn };

	gpu_cfg_write(&bridge, 0x18, bus << 16 | bus << 8, 4);
	gpu_cfg_write(&bridge, 0x20, 0xeff0e000, 4);
	gpu_cfg_write(&bridge, 0x24, 0xfff10001, 4);
	gpu_cfg_write(&bridge, 0x28, 0x10, 4);
	gpu_cfg_write(&bridge, 0x2c, 0x7f, 4);
	gpu_cfg_write(&bridge, PCI_COMMAND, PCI_COMMAND_MEMORY_MASTER, 2);
}

void gpu_setup_pci(struct gpu *gpu)
{
	unsigned int msix, i;

	gpu_cfg_write(gpu, PCI_BAR(TSR_BAR_REGISTERS), gpu->bar0, 4);
	gpu_cfg_write(gpu, PCI_BAR(TSR_BAR_LOCAL), gpu->bar2, 4);
	gpu_cfg_write(gpu, PCI_BAR(TSR_BAR_LOCAL + 1), gpu->bar2 >> 32, 4);
	gpu_cfg_write(gpu, PCI_BAR(TSR_BAR_MSIX), gpu->bar4, 4);
	gpu_cfg_write(gpu, PCI_COMMAND, PCI_COMMAND_MEMORY_MASTER, 2);
	msix = gpu_cap(gpu, PCI_CAP_MSIX);
	gpu_cfg_write(gpu, msix + 2, MSIX_ENABLE, 2);
	for (i = 0; i <= (gpu_cfg_read(gpu, msix + 2, 2) & MSIX_LAST); i++) {
		qtest_writeq(gpu->q, gpu->bar4 + 16 * i, gpu->msi + 4 * i + gpu->bus_offset);
		qtest_writel(gpu->q, gpu->bar4 + 16 * i + 8, GPU_MSI_DATA(i));
		qtest_writel(gpu->q, gpu->bar4 + 16 * i + 12, 0);
	}
}

void gpu_open(struct gpu *gpu, struct qtest *q, unsigned int index, unsigned int bus,
	      unsigned int devfn)
{
	gpu_open_behind(gpu, q, index, bus, devfn, 0);
}

void gpu_open_behind(struct gpu *gpu, struct qtest *q, unsigned int index, unsigned int bus,
		     unsigned int devfn, uint64_t bus_offset)
{
	memset(gpu, 0, sizeof(*gpu));
	gpu->bus_offset = bus_offset;
	gpu->q = q;
	gpu->bus = bus;
	gpu->devfn = devfn;
	gpu->bar0 = GPU_BAR0(index);
	gpu->bar2 = GPU_BAR2(index);
	gpu->bar4 = GPU_BAR4(index);
	gpu->memory = GPU_MEMORY(index);
	gpu->msi = gpu_pages(gpu, 1);
	gpu_setup_pci(gpu);
	gpu->levels = (gpu_read(gpu, TSR_REG_GPU_VA) & TSR_GPU_VA_LEVELS__MASK) >>
		      TSR_GPU_VA_LEVELS__SHIFT;
}

void gpu_moved(struct gpu *gpu, struct qtest *q)
{
	gpu->q = q;
}

uint32_t gpu_read(struct gpu *gpu, uint32_t reg)
{
	return qtest_readl(gpu->q, gpu->bar0 + reg);
}

void gpu_write(struct gpu *gpu, uint32_t reg, uint32_t value)
{
	qtest_writel(gpu->q, gpu->bar0 + reg, value);
}

uint64_t gpu_read64(struct gpu *gpu, uint32_t reg)
{
	uint32_t low = gpu_read(gpu, reg);

	return low | (uint64_t)gpu_read(gpu, reg + 4) << 32;
}

void gpu_write64(struct gpu *gpu, uint32_t reg, uint64_t value)
{
	gpu_write(gpu, reg, value);
	gpu_write(gpu, reg + 4, value >> 32);
}

uint64_t gpu_pages(struct gpu *gpu, unsigned int n)
{
	uint64_t pa = gpu->memory;

	gpu->memory += (uint64_t)n << TSR_PAGE_SHIFT;
	qtest_memset(gpu->q, pa, 0, (size_t)n << TSR_PAGE_SHIFT);
	return pa;
}

/* The table of level 0 for @va, made where it is missing. */
static uint64_t level0_table(struct gpu *gpu, unsigned int as, uint64_t va)
{
	uint64_t table;
	unsigned int level;

	if (!gpu->root[as])
		gpu->root[as] = gpu_pages(gpu, 1);
	table = gpu->root[as];
	for (level = gpu->levels - 1; level > 0; level--) {
		unsigned int index = va >> (TSR_PAGE_SHIFT + level * TSR_PT_INDEX_BITS) & 511;
		uint64_t pte = qtest_readq(gpu->q, table + 8 * index);

		if (!pte) {
			pte = (gpu_pages(gpu, 1) + gpu->bus_offset) | TSR_PTE_VALID__MASK;
			qtest_writeq(gpu->q, table + 8 * index, pte);
		}
		table = (pte & TSR_PTE_ADDR__MASK) - gpu->bus_offset;
	}
	return table;
}

void gpu_map(struct gpu *gpu, unsigned int as, uint64_t va, uint64_t pa, uint64_t size,
	     uint64_t flags)
{
	uint64_t bus = flags & TSR_PTE_LOCAL__MASK ? pa : pa + gpu->bus_offset;

	while (size) {
		uint64_t ptes[512], table = level0_table(gpu, as, va);
		unsigned int first = va >> TSR_PAGE_SHIFT & 511, n = 0;

		for (; size && first + n < 512; n++) {
			ptes[n] = bus | flags | TSR_PTE_VALID__MASK | TSR_PTE_LEAF__MASK;
			bus += 1 << TSR_PAGE_SHIFT;
			va += 1 << TSR_PAGE_SHIFT;
			size -= size < 1 << TSR_PAGE_SHIFT ? size : 1 << TSR_PAGE_SHIFT;
		}
		qtest_write(gpu->q, table + 8 * first, ptes, 8 * n);
	}
}

void gpu_as_on(struct gpu *gpu, unsigned int as)
{
	gpu_write64(gpu, TSR_REG_AS_BASE(as),
		    (gpu->root[as] + gpu->bus_offset) | TSR_AS_BASE_VALID__MASK);
	gpu_write(gpu, TSR_REG_AS_COMMAND(as), TSR_INV_OP_ALL);
	ktap_ok(gpu_wait_reg(gpu, TSR_REG_AS_STATUS(as), TSR_AS_STATUS_BUSY__MASK, 0));
}

void gpu_queue_enable(struct gpu_queue *queue, unsigned int class, unsigned int ring_as,
		      unsigned int user_as)
{
	struct gpu *gpu = queue->gpu;
	unsigned int n = queue->slot;

	gpu_write64(gpu, TSR_REG_QUEUE_RING_BASE(n), queue->va);
	gpu_write(gpu, TSR_REG_QUEUE_CONFIG(n),
		  __builtin_ctz(queue->size) << TSR_QUEUE_CONFIG_RING_LOG2__SHIFT |
			  class << TSR_QUEUE_CONFIG_CLASS__SHIFT |
			  TSR_PRIORITY_NORMAL << TSR_QUEUE_CONFIG_PRIORITY__SHIFT);
	gpu_write(gpu, TSR_REG_QUEUE_ADDRESS_SPACES(n),
		  ring_as << TSR_QUEUE_ADDRESS_SPACES_RING_AS__SHIFT |
			  user_as << TSR_QUEUE_ADDRESS_SPACES_USER_AS__SHIFT);
	gpu_write(gpu, TSR_REG_QUEUE_RPTR(n), queue->wptr);
	gpu_write(gpu, TSR_REG_QUEUE_CONTROL(n), TSR_QUEUE_OP_ENABLE);
}

void gpu_queue_open(struct gpu_queue *queue, struct gpu *gpu, unsigned int slot, unsigned int class,
		    unsigned int ring_as, unsigned int user_as)
{
	queue->gpu = gpu;
	queue->slot = slot;
	queue->size = 1u << TSR_RING_LOG2_MIN;
	queue->va = GPU_RING_VA(slot);
	queue->pa = gpu_pages(gpu, queue->size >> TSR_PAGE_SHIFT);
	queue->wptr = 0;
	gpu_map(gpu, ring_as, queue->va, queue->pa, queue->size, GPU_RX);
	gpu_queue_enable(queue, class, ring_as, user_as);
}

void gpu_emit(struct gpu_queue *queue, const uint64_t *packet, unsigned int n)
{
	uint32_t at = queue->wptr & (queue->size - 1);
	uint32_t rest = (queue->size - at) / 8;

	if (rest < n) {
		uint64_t nop = TSR_OP_NOP | (uint64_t)rest << TSR_HEADER_LENGTH__SHIFT;

		qtest_writeq(queue->gpu->q, queue->pa + at, nop);
		queue->wptr += 8 * rest;
		at = 0;
	}
	qtest_write(queue->gpu->q, queue->pa + at, packet, 8 * n);
	queue->wptr += 8 * n;
}

void gpu_doorbell(struct gpu_queue *queue)
{
	gpu_write(queue->gpu, TSR_REG_DOORBELL_RING(queue->slot), queue->wptr);
}

enum tsr_queue_state gpu_queue_state(struct gpu_queue *queue)
{
	return (gpu_read(queue->gpu, TSR_REG_QUEUE_STATE(queue->slot)) &
		TSR_QUEUE_STATE_STATE__MASK) >>
	       TSR_QUEUE_STATE_STATE__SHIFT;
}

enum tsr_fault gpu_queue_fault(struct gpu_queue *queue)
{
	return (gpu_read(queue->gpu, TSR_REG_QUEUE_FAULT(queue->slot)) &
		TSR_QUEUE_FAULT_CODE__MASK) >>
	       TSR_QUEUE_FAULT_CODE__SHIFT;
}

bool gpu_wait_memory(struct gpu *gpu, uint64_t pa, uint64_t value)
{
	int left = PATIENCE_MS;

	while (qtest_readq(gpu->q, pa) != value) {
		if (!qtest_patience(&left))
			return false;
	}
	return true;
}

bool gpu_wait_reg(struct gpu *gpu, uint32_t reg, uint32_t mask, uint32_t value)
{
	int left = PATIENCE_MS;

	while ((gpu_read(gpu, reg) & mask) != value) {
		if (!qtest_patience(&left))
			return false;
	}
	return true;
}

bool gpu_wait_state(struct gpu_queue *queue, enum tsr_queue_state state)
{
	return gpu_wait_reg(queue->gpu, TSR_REG_QUEUE_STATE(queue->slot),
			    TSR_QUEUE_STATE_STATE__MASK,
			    (uint32_t)state << TSR_QUEUE_STATE_STATE__SHIFT);
}

bool gpu_wait_msi(struct gpu *gpu, unsigned int n)
{
	int left = PATIENCE_MS;

	while (qtest_readl(gpu->q, gpu->msi + 4 * n) != GPU_MSI_DATA(n)) {
		if (!qtest_patience(&left))
			return false;
	}
	qtest_writel(gpu->q, gpu->msi + 4 * n, 0);
	return true;
}

static uint8_t *job_pattern(const struct gpu_job *job)
{
	uint8_t *bytes = malloc(job->size);
	uint32_t x = job->seed * 2654435761u + 1;
	uint64_t i;

	for (i = 0; i < job->size; i++) {
		x = x * 1664525 + 1013904223;
		bytes[i] = x >> 24;
	}
	return bytes;
}

void gpu_job_prepare(struct gpu_job *job, struct gpu *gpu, unsigned int slot, unsigned int as,
		     uint64_t size, uint8_t seed, bool msi)
{
	unsigned int pages = (size + 4095) >> TSR_PAGE_SHIFT;
	struct tsr_copy_linear copy = { .src = GPU_JOB_SRC, .dst = GPU_JOB_DST, .size = size };
	uint64_t stream[TSR_COPY_LINEAR_QWORDS], code;
	uint8_t *bytes;

	job->size = size;
	job->seed = seed;
	job->src = gpu_pages(gpu, pages);
	job->dst = gpu_pages(gpu, pages);
	job->fence = gpu_pages(gpu, 1);
	code = gpu_pages(gpu, 1);
	bytes = job_pattern(job);
	qtest_write(gpu->q, job->src, bytes, size);
	free(bytes);
	tsr_pack_copy_linear(stream, &copy);
	qtest_write(gpu->q, code, stream, sizeof(stream));
	gpu_map(gpu, as + 1, GPU_JOB_SRC, job->src, size, TSR_PTE_READ__MASK);
	gpu_map(gpu, as + 1, GPU_JOB_DST, job->dst, size, TSR_PTE_WRITE__MASK);
	gpu_map(gpu, as + 1, GPU_JOB_CODE, code, 4096, TSR_PTE_EXEC__MASK);
	gpu_map(gpu, as, GPU_JOB_FENCE, job->fence, 4096, GPU_RW);
	gpu_queue_open(&job->queue, gpu, slot, TSR_ENGINE_CLASS_COPY, as, as + 1);
	gpu_as_on(gpu, as);
	gpu_as_on(gpu, as + 1);
	gpu_packet(&job->queue, call, .addr = GPU_JOB_CODE, .size = sizeof(stream));
	gpu_packet(&job->queue, fence, .event = TSR_EVENT_ALL_DONE, .irq = msi,
		   .addr = GPU_JOB_FENCE, .value = GPU_JOB_VALUE);
}

bool gpu_job_result(struct gpu_job *job)
{
	uint8_t *want = job_pattern(job), *got = malloc(job->size);
	bool same;

	qtest_read(job->queue.gpu->q, job->dst, got, job->size);
	same = ktap_mem_eq(got, want, job->size);
	free(got);
	free(want);
	return same;
}
