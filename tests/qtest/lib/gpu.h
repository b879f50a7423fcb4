/* SPDX-License-Identifier: MIT */
/*
 * A driver for the Tessera device in a machine without a guest: what firmware and kernel would do,
 * done from the test through qtest. It gives out memory, builds page tables, writes rings and rings
 * doorbells. Everything it knows of the hardware comes from the generated headers; what the device
 * answers is for the tests to judge.
 */
#ifndef TSR_QTEST_GPU_H
#define TSR_QTEST_GPU_H

#include "qtest.h"
#include "tsr_packets.h"
#include "tsr_regs.h"

/* Where gpu_open() puts things, for the device with this index in the machine. */
#define GPU_BAR0(index) (0xe0000000ull + (index)*0x1000000ull)
#define GPU_BAR4(index) (GPU_BAR0(index) + 0x800000)
#define GPU_BAR2(index) (0x1000000000ull + (index)*0x1000000000ull)
/* Memory that is given out to the device with this index: 48 MiB each. */
#define GPU_MEMORY(index) (0x1000000ull + (index)*0x3000000ull)
/* Data of vector n's message; its address is the word msi + 4n. */
#define GPU_MSI_DATA(n) (0x1234aa00u + (n))

struct gpu {
	struct qtest *q;
	unsigned int bus; /* where it is plugged */
	unsigned int devfn;
	uint64_t bar0; /* where its BARs are */
	uint64_t bar2;
	uint64_t bar4;
	uint64_t memory;		       /* next free page of guest memory */
	uint64_t msi;			       /* page that receives the MSI-X messages */
	uint64_t root[TSR_ADDRESS_SPACES_MAX]; /* page tables, 0 until used */
	unsigned int levels;		       /* of page table */
	uint64_t bus_offset; /* bus address of guest-physical 0; other than 0 behind an IOMMU that
				the test sets up */
};

struct gpu_queue {
	struct gpu *gpu;
	unsigned int slot;
	uint64_t va; /* of the ring */
	uint64_t pa;
	uint32_t size; /* bytes */
	uint32_t wptr; /* what has been written; the doorbell may be behind */
};

/* PCI configuration space. */
uint32_t gpu_cfg_read(struct gpu *gpu, unsigned int offset, unsigned int bytes);
void gpu_cfg_write(struct gpu *gpu, unsigned int offset, uint32_t value, unsigned int bytes);
/* Offset of a capability, 0 if it is not there. */
unsigned int gpu_cap(struct gpu *gpu, unsigned int id);

/*
 * Set up the bridge or port @devfn of bus 0 as firmware would. @bus becomes its secondary bus, and
 * its windows cover all addresses that gpu_open() gives to BARs.
 */
void gpu_open_bridge(struct qtest *q, unsigned int devfn, unsigned int bus);

/*
 * Take the device at (bus, devfn): give its BARs addresses, allow memory and bus mastering, set up
 * MSI-X. Where bus addresses are not guest-physical ones, gpu_open_behind() is told the difference.
 */
void gpu_open(struct gpu *gpu, struct qtest *q, unsigned int index, unsigned int bus,
	      unsigned int devfn);
void gpu_open_behind(struct gpu *gpu, struct qtest *q, unsigned int index, unsigned int bus,
		     unsigned int devfn, uint64_t bus_offset);
/* The part of it that is lost by a reset of the function: BARs, command register, MSI-X. */
void gpu_setup_pci(struct gpu *gpu);
/* Continue with the same device in another process (after migration). */
void gpu_moved(struct gpu *gpu, struct qtest *q);

/* Registers, by their offset (TSR_REG_…). 64-bit ones are written and read low half first. */
uint32_t gpu_read(struct gpu *gpu, uint32_t reg);
void gpu_write(struct gpu *gpu, uint32_t reg, uint32_t value);
uint64_t gpu_read64(struct gpu *gpu, uint32_t reg);
void gpu_write64(struct gpu *gpu, uint32_t reg, uint64_t value);

/* @n zeroed pages of guest memory, contiguous. */
uint64_t gpu_pages(struct gpu *gpu, unsigned int n);

/*
 * Map [va, va + size) of address space @as to guest-physical @pa with 4 KiB pages; @flags are PTE
 * bits besides VALID and LEAF (TSR_PTE_…__MASK). The tables are in system memory. gpu_as_on() makes
 * a new table known and waits until it is; a mapping added later needs nothing.
 */
void gpu_map(struct gpu *gpu, unsigned int as, uint64_t va, uint64_t pa, uint64_t size,
	     uint64_t flags);
void gpu_as_on(struct gpu *gpu, unsigned int as);
#define GPU_RW (TSR_PTE_READ__MASK | TSR_PTE_WRITE__MASK)
#define GPU_RX (TSR_PTE_READ__MASK | TSR_PTE_EXEC__MASK)

/*
 * A queue of @class in @slot with a new ring of 4 KiB, which is mapped at GPU_RING_VA(slot) in
 * @ring_as; enabled. The address space must be on, or gpu_as_on() follow before the doorbell.
 */
#define GPU_RING_VA(slot) (0x7000000000ull + (slot)*0x100000ull)
void gpu_queue_open(struct gpu_queue *queue, struct gpu *gpu, unsigned int slot, unsigned int class,
		    unsigned int ring_as, unsigned int user_as);
/* The slot's registers for a ring that exists already; enabled. */
void gpu_queue_enable(struct gpu_queue *queue, unsigned int class, unsigned int ring_as,
		      unsigned int user_as);
/* Add a packet of @n qwords to the ring; the device hears of it from gpu_doorbell(). */
void gpu_emit(struct gpu_queue *queue, const uint64_t *packet, unsigned int n);
void gpu_doorbell(struct gpu_queue *queue);
/* Append a packet by its packer: gpu_packet(queue, fence, .addr = …, .value = …). */
#define gpu_packet(queue, name, ...)                                     \
	do {                                                             \
		struct tsr_##name packet_ = { __VA_ARGS__ };             \
		uint64_t qwords_[16];                                    \
		tsr_pack_##name(qwords_, &packet_);                      \
		gpu_emit(queue, qwords_, tsr_packet_qwords(qwords_[0])); \
	} while (0)

enum tsr_queue_state gpu_queue_state(struct gpu_queue *queue);
enum tsr_fault gpu_queue_fault(struct gpu_queue *queue);

/* Wait for something the device does on its own; false when it has not come about in some seconds.
 */
bool gpu_wait_memory(struct gpu *gpu, uint64_t pa, uint64_t value);
bool gpu_wait_reg(struct gpu *gpu, uint32_t reg, uint32_t mask, uint32_t value);
bool gpu_wait_state(struct gpu_queue *queue, enum tsr_queue_state state);
/* Wait for vector @n's message, and forget it. */
bool gpu_wait_msi(struct gpu *gpu, unsigned int n);

/*
 * A complete small job: queue @slot of class COPY in address spaces @as (ring) and @as + 1 (user)
 * copies @size bytes that the processor has filled with a pattern of @seed, and writes a fence.
 */
struct gpu_job {
	struct gpu_queue queue;
	uint64_t src; /* guest-physical */
	uint64_t dst;
	uint64_t fence;
	uint64_t size;
	uint8_t seed;
};

#define GPU_JOB_SRC 0x10000000ull /* virtual addresses in the user's address space */
#define GPU_JOB_DST 0x20000000ull
#define GPU_JOB_CODE 0x30000000ull
#define GPU_JOB_FENCE 0x40000000ull /* in the ring's */
#define GPU_JOB_VALUE 0x0123456789abcdefull

/* Set it up to the last packet; gpu_doorbell(&job->queue) starts it. @msi: the fence interrupts. */
void gpu_job_prepare(struct gpu_job *job, struct gpu *gpu, unsigned int slot, unsigned int as,
		     uint64_t size, uint8_t seed, bool msi);
/* True if all of the destination is as it should be when the job is done. */
bool gpu_job_result(struct gpu_job *job);

#endif
