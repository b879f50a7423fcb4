/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright 2026 The Tessera authors */
#ifndef __TESSERA_DEVICE_H__
#define __TESSERA_DEVICE_H__

#include <linux/bitmap.h>
#include <linux/io.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/sched/mm.h>
#include <linux/spinlock.h>
#include <linux/srcu.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include <drm/drm_device.h>

#include "tessera_reset.h"
#include "tessera_state.h"
#include "tsr_regs.h"

struct dmem_cgroup_region;
struct pci_dev;
struct pci_saved_state;
struct tessera_accounts;
struct tessera_check_step;
struct tessera_dump;
struct tessera_engines;
struct tessera_kernel_as;
struct tessera_kms;
struct tessera_local;
struct tessera_queue;

/* Engine classes of the hardware; the same numbers as enum drm_tessera_engine_class. */
#define TESSERA_NUM_CLASSES 4

/* Interrupt classes. */
#define TESSERA_NUM_IRQS (TSR_IRQ_CLASS_DISPLAY + 1)

/**
 * struct tessera_irq - argument of an interrupt handler
 */
struct tessera_irq {
	/** @tdev: Device. */
	struct tessera_device *tdev;
	/** @class: enum tsr_irq_class. */
	unsigned int class;
	/**
	 * @vector: The kernel's number. Kept, for to look it up takes a lock under which PCI
	 * allocates, and recovery must not wait for that.
	 */
	int vector;
};

/**
 * struct tessera_hw_info - what the identification registers say
 *
 * Read once at probe, constant afterwards.
 */
struct tessera_hw_info {
	/** @version: GPU.VERSION. */
	u32 version;
	/** @num_queues: Queue slots. */
	u32 num_queues;
	/** @max_queues: Queues there can be; more than slots in the backend "engine". */
	u32 max_queues;
	/** @num_as: Address spaces. */
	u32 num_as;
	/** @va_bits: Bits of a GPU virtual address. */
	u32 va_bits;
	/** @va_levels: Levels of a page table. */
	u32 va_levels;
	/** @ring_log2_min: log2 of the smallest ring in bytes. */
	u32 ring_log2_min;
	/** @ring_log2_max: log2 of the largest ring in bytes. */
	u32 ring_log2_max;
	/** @tile_width: Width of a tile in pixels. */
	u16 tile_width;
	/** @tile_height: Height of a tile in pixels. */
	u16 tile_height;
	/** @group_threads: Most threads of a thread group. */
	u16 group_threads;
	/** @group_memory_kib: Most memory of a thread group, KiB. */
	u16 group_memory_kib;
	/** @core_warps: Warps a shader core holds of programs with 32 registers. */
	u16 core_warps;
	/** @warp_lanes: Threads of a warp. */
	u8 warp_lanes;
	/** @cores: Shader cores, 0 if no engine uses them. */
	u8 cores;
	/** @engines: Engines of each class, 0 if the class is absent. */
	u8 engines[TESSERA_NUM_CLASSES];
	/** @features: TSR_FEATURE_* bits. */
	u64 features;
	/** @page_sizes: Bit n: pages of 2^n bytes. */
	u64 page_sizes;
	/** @local_size: Bytes of local memory the driver can use, or 0. */
	u64 local_size;
	/** @timestamp_hz: Frequency of the timestamp counter. */
	u64 timestamp_hz;
};

/**
 * struct tessera_device - one Tessera GPU
 *
 * Locks are taken from the top of this list to the bottom; the whole order,
 * with the locks of the other objects, is in Documentation/driver/recovery.md.
 */
struct tessera_device {
	/** @drm: The DRM device; the rest lives as long as it does. */
	struct drm_device drm;
	/** @pdev: The PCI device, not to be touched outside drm_dev_enter(). */
	struct pci_dev *pdev;
	/** @pci_state: Configuration space as it was after probe. */
	struct pci_saved_state *pci_state;
	/** @regs: BAR 0. */
	void __iomem *regs;
	/** @info: Identification. */
	struct tessera_hw_info info;

	/** @accounts: What users have, for quotas. */
	struct tessera_accounts *accounts;
	/** @local: Local memory, NULL if there is none. */
	struct tessera_local *local;
	/** @dump: Memory for a device core dump. */
	struct tessera_dump *dump;
	/** @kernel_as: Address space 0: rings, fence words, framebuffers. */
	struct tessera_kernel_as *kernel_as;
	/** @kms: The display controller, NULL if there is none. */
	struct tessera_kms *kms;

	/** @engines: Submission backend "engine", NULL in the backend "slot". */
	struct tessera_engines *engines;

	/** @submit_wq: Runs and frees the jobs of all queues, all short. Signals fences. */
	struct workqueue_struct *submit_wq;
	/** @bind_wq: Runs and frees the asynchronous binds of all VMs. Signals fences. */
	struct workqueue_struct *bind_wq;
	/** @timeout_wq: Ordered: all recovery of queues, one at a time. Signals fences. */
	struct workqueue_struct *timeout_wq;

	/** @vms: All VMs, linked by &tessera_vm.node. */
	struct {
		/** @vms.lock: Protects the list; above &tessera_vm.op_lock. */
		struct mutex lock;
		/** @vms.list: The VMs. */
		struct list_head list;
	} vms;

	/** @bos: All buffer objects, linked by &tessera_bo.node. */
	struct {
		/**
		 * @bos.lock: Protects the list. Above reservation locks, so no
		 * BO may lose its last reference under one.
		 */
		struct mutex lock;
		/** @bos.list: The BOs. */
		struct list_head list;
	} bos;

	/** @shrink: BOs whose contents user space does not need. */
	struct {
		/**
		 * @shrink.lock: Protects the list. Below reservation locks; taken
		 * by reclaim.
		 */
		struct mutex lock;
		/** @shrink.list: The BOs, by &tessera_bo.madv_node, oldest advice first. */
		struct list_head list;
		/** @shrink.outside: LOCAL BOs in system memory, by &tessera_bo.outside. */
		struct list_head outside;
	} shrink;

	/** @evict: LOCAL BOs that may be evicted: see tessera_evict.c. */
	struct {
		/** @evict.lock: Protects the list and the budget; below reservation locks. */
		struct mutex lock;
		/** @evict.lru: The BOs, by &tessera_bo.lru. */
		struct list_head lru;
		/** @evict.count: How many they are. */
		unsigned long count;
		/** @evict.clock: Counts uses of VMs and BOs. */
		atomic64_t clock;
		/** @evict.window: When the budget was last filled, in jiffies. */
		unsigned long window;
		/** @evict.budget: Bytes that SUBMITs may bring back at the cost of others. */
		u64 budget;
		/** @evict.outside: Bytes of LOCAL BOs in system memory, pinned. */
		atomic64_t outside;
		/** @evict.released: Bytes of LOCAL BOs whose pages were released. */
		atomic64_t released;
		/** @evict.region: Local memory as cgroups know it, or NULL. */
		struct dmem_cgroup_region *region;
		/** @evict.hold: SUBMIT brings nothing back. */
		bool hold;
		/** @evict.evictions: Moves to system memory. */
		atomic64_t evictions;
		/** @evict.restores: Moves to local memory. */
		atomic64_t restores;
		/** @evict.evicted: Bytes of @evict.evictions. */
		atomic64_t evicted;
		/** @evict.restored: Bytes of @evict.restores. */
		atomic64_t restored;
		/** @evict.notifier: Hears of hibernation. */
		struct notifier_block notifier;
	} evict;

	/** @state: What may be done with the device: see tessera_state.c. */
	struct {
		/** @state.lock: Serialises changes; below all mutexes. */
		spinlock_t lock;
		/** @state.now: The state; changed by tessera_set_state() alone. */
		enum tessera_state now;
		/** @state.gate: Who uses the device is in a section of this. */
		struct srcu_struct gate;
		/** @state.wait: Woken at each change. */
		wait_queue_head_t wait;
	} state;

	/** @reset: Recovery. */
	struct {
		/**
		 * @reset.lock: Held during any recovery: hang, fault, reset of
		 * the device. Above &tessera_queue.lock. No allocation under
		 * it: fences wait for recovery.
		 */
		struct mutex lock;
		/** @reset.ladder: The reset escalation; ends TESSERA_CUT_OFF. */
		struct delayed_work ladder;
		/** @reset.rung: First step of the reset escalation; under the lock. */
		enum tessera_rung rung;
		/** @reset.saved: It is known where each ring goes on; under the lock. */
		bool saved;
		/** @reset.wedged_work: Tells user space; that allocates. */
		struct work_struct wedged_work;
		/**
		 * @reset.guilty: Whose queue did not stop, which is why the device is
		 * reset; without a name if that is nobody's fault. Under the lock, and
		 * final once the device is wedged.
		 */
		struct drm_wedge_task_info guilty;
		/** @reset.event_work: Tells user space of a reset; that allocates. */
		struct work_struct event_work;
		/** @reset.culprit: @reset.guilty of the last reset, for @reset.event_work. */
		struct drm_wedge_task_info culprit;
		/** @reset.count: Full resets since probe. */
		atomic64_t count;
		/** @reset.function_count: Those of them that needed the PCI function's reset. */
		atomic64_t function_count;
		/** @reset.queue_count: Resets of single queues since probe. */
		atomic64_t queue_count;
	} reset;

	/** @as_slots: Hardware address spaces. */
	struct {
		/** @as_slots.lock: Protects the bitmap; below &tessera_vm.op_lock. */
		struct mutex lock;
		/** @as_slots.used: Bit n: address space n is taken. */
		unsigned long used[TSR_ADDRESS_SPACES_MAX / BITS_PER_LONG];
	} as_slots;

	/** @slots: Queue slots. */
	struct {
		/**
		 * @slots.lock: Protects the array. Taken by the interrupt
		 * handlers; above &tessera_timeline.lock.
		 */
		spinlock_t lock;
		/** @slots.queue: Queue in each slot or NULL. */
		struct tessera_queue *queue[TSR_QUEUES_MAX];
	} slots;

	/** @check: What the device's contract checker is told of memory. */
	struct {
		/**
		 * @check.lock: Protects this and the registers of block CHECK; a
		 * leaf lock, reclaim takes it.
		 */
		struct mutex lock;
		/** @check.steps: What is to be told later; NULL if there is no checker. */
		struct tessera_check_step *steps;
		/** @check.num_steps: How many they are. */
		u32 num_steps;
		/** @check.held: Something was kept, so what follows is kept as well. */
		bool held;
		/** @check.lost: It was too much; until the next probe nothing is told. */
		bool lost;
	} check;

	/** @irq: Argument of the interrupt handler of each class. */
	struct tessera_irq irq[TESSERA_NUM_IRQS];
};

static inline struct tessera_device *to_tessera_device(struct drm_device *drm)
{
	return container_of(drm, struct tessera_device, drm);
}

static inline enum tessera_state tessera_state(struct tessera_device *tdev)
{
	return READ_ONCE(tdev->state.now);
}

/* Callers have passed the gate, or are exempt: see tessera_state.c. */
static inline void tessera_assert_reach(struct tessera_device *tdev)
{
	enum tessera_state state = tessera_state(tdev);

	if (IS_ENABLED(CONFIG_PROVE_LOCKING) && state != TESSERA_OFF && state != TESSERA_UNPLUGGED)
		lockdep_assert(srcu_read_lock_held(&tdev->state.gate) ||
			       lockdep_is_held(&tdev->reset.lock));
}

static inline u32 tessera_read(struct tessera_device *tdev, u32 reg)
{
	tessera_assert_reach(tdev);

	return readl(tdev->regs + reg);
}

static inline void tessera_write(struct tessera_device *tdev, u32 reg, u32 value)
{
	tessera_assert_reach(tdev);
	writel(value, tdev->regs + reg);
}

/**
 * tessera_read64() - read a 64-bit register
 * @tdev: device
 * @reg: offset of the low half
 *
 * The halves are not latched, so a carry between the two reads is looked for.
 *
 * Return: the value, ~0 if the device is gone.
 */
static inline u64 tessera_read64(struct tessera_device *tdev, u32 reg)
{
	u32 hi = tessera_read(tdev, reg + 4), lo, again;

	for (;;) {
		lo = tessera_read(tdev, reg);
		again = tessera_read(tdev, reg + 4);
		if (again == hi)
			return (u64)hi << 32 | lo;
		hi = again;
	}
}

static inline void tessera_write64(struct tessera_device *tdev, u32 reg, u64 value)
{
	tessera_write(tdev, reg, lower_32_bits(value));
	tessera_write(tdev, reg + 4, upper_32_bits(value));
}

/**
 * tessera_device_present() - does the device answer?
 * @tdev: device
 *
 * Return: false after a surprise removal, when every read gives all ones.
 */
static inline bool tessera_device_present(struct tessera_device *tdev)
{
	return tessera_read(tdev, TSR_REG_GPU_MAGIC) == TSR_MAGIC;
}

static inline bool tessera_device_wedged(struct tessera_device *tdev)
{
	return tessera_state(tdev) == TESSERA_WEDGED;
}

/**
 * tessera_prime_lock() - tell lockdep that fences wait for holders of a lock
 * @lock: mutex
 *
 * Reclaim may wait for fences, so nothing may allocate under such a lock; with
 * this, lockdep complains at the first place that does, not in the rare case
 * that deadlocks.
 */
static inline void tessera_prime_lock(struct mutex *lock)
{
	fs_reclaim_acquire(GFP_KERNEL);
	might_lock(lock);
	fs_reclaim_release(GFP_KERNEL);
}

/**
 * tessera_prime_order() - tell lockdep which of two locks is taken first
 * @above: mutex that may be held
 * @below: when this one is taken
 *
 * So that whoever does it the other way round hears of it the first time, not when
 * both ways have been gone. The table is in Documentation/driver/recovery.md.
 */
static inline void tessera_prime_order(struct mutex *above, struct mutex *below)
{
	if (!IS_ENABLED(CONFIG_PROVE_LOCKING))
		return;

	mutex_lock(above);
	might_lock(below);
	mutex_unlock(above);
}

extern unsigned int tessera_job_timeout_ms;
extern unsigned int tessera_job_limit_ms;

int tessera_device_init(struct tessera_device *tdev, struct pci_dev *pdev);
void tessera_device_unplug(struct tessera_device *tdev);

#endif
