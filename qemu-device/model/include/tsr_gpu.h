/* SPDX-License-Identifier: MIT */
/*
 * libtsrgpu: the Tessera GPU as a library.
 *
 * One struct tsr_gpu is one device. The library knows nothing of QEMU or of a particular bus: what
 * it needs of the machine around it comes through struct tsr_host_ops, given at creation. QEMU is
 * one host (qemu-device/pci), the in-process bench (userspace/harness/bench.h) another. There
 * is no global state but tables that are computed once and never change; any number of instances
 * can live in a process.
 *
 * Threads. Calls marked [host] are made by the machine's side: register accesses, reset, pause,
 * timer. They may come from any thread but not two at once for one device (QEMU's big lock gives
 * that). The library's workers are threads of its own; they never call anything that waits for the
 * host's thread. A [host] call may wait for workers, each of which answers within one burst
 * (TSR_BURST_BYTES) of work.
 */
#ifndef TSR_GPU_H
#define TSR_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tsr_gpu;
struct tsr_hooks;

/* The device as a tool, for tsr_config.devtools. */
extern const struct tsr_hooks tsr_devtools;

/*
 * Bound on the host's memory for an evicted command of a queue, whatever the guest does: 516 KiB
 * for each core, and at least the bound of five cores. A queue without a command in progress has a
 * few hundred bytes. See "Memory of the host" in Documentation/guide/device.md.
 */
#define TSR_SLOT_CORE_BYTES (516u << 10)
#define TSR_SLOT_BYTES(cores) (TSR_SLOT_CORE_BYTES * ((cores) > 5 ? (cores) : 5))

/* Bytes of the host's memory for each pixel of a head that is on: two frames. */
#define TSR_HEAD_PIXEL_BYTES 8

/* Configuration, fixed at creation. Zero in a field marked (0: n) means n. */
struct tsr_config {
	unsigned int queues;		/* queue slots, 1..64 (0: 64) */
	unsigned int engines[4];	/* engines of each class, 0..8; all zero: one of each */
	unsigned int va_bits;		/* 39, 48 or 57 (0: 48) */
	/* mask of 1 << 12 and 1 << 21 (0: both); 4 KiB must be in */
	uint64_t page_sizes;
	uint64_t local_size;		/* bytes of local memory, multiple of 2 MiB, or 0 */
	/* its storage, owned by the host, outlives the device; NULL iff local_size is 0 */
	void *local;
	/* worker threads, 1..64; 0: none, the host calls tsr_gpu_run() */
	unsigned int threads;
	/* cycles of packets to run where the doorbell rings (0: 256) */
	unsigned int inline_budget;
	bool no_inline;			/* never run where the doorbell rings */
	/* needs threads == 0; the clock counts modelled work, scheduling follows the seed */
	bool deterministic;
	uint64_t seed;			/* of the deterministic schedule */
	unsigned int cores;		/* shader cores, 1..32 (0: 16) */
	/* messages of programs are answered as late as is allowed, not at once */
	bool late_messages;
	/* compare every clause with memory when it is executed, see compute.md */
	bool strict_code;
	bool no_texture_cache;		/* texels are read and decoded each time they are used */
	/* arithmetic of the shader cores: "sse2", "avx2", "avx512"; NULL: the best there is */
	const char *simd;
	/* machine code for programs' clauses; results are the same */
	enum tsr_jit_use {
		TSR_JIT_USE_ON,		/* for those executed often */
		TSR_JIT_USE_OFF,
		TSR_JIT_USE_FIRST,	/* for all, at their first execution: for tests */
	} jit;
	/*
	 * &tsr_devtools: the device can inject faults, check what the driver does, and capture
	 * jobs. NULL: none of that, its files need not be linked, and the next two are false.
	 */
	const struct tsr_hooks *devtools;
	bool inject_window;		/* the guest may inject faults: FEATURE DEBUG */
	bool check;			/* report what the driver does wrong: FEATURE CHECK */
	/* optimizations of rendering that are switched off: TSR_GFX_NO_… of env.h */
	unsigned int gfx_debug;
	unsigned int heads;		/* of the display controller, 0..4 */
	/*
	 * most pixels of the modes of all heads together (0: as many as the largest modes have);
	 * TSR_HEAD_PIXEL_BYTES of each is what frames take of the host's memory
	 */
	uint32_t head_pixels;
	/*
	 * Pages that a captured job may touch, 0 for TSR_CAPTURE_PAGES_MAX. While a job is captured
	 * and its file made, the host's memory holds each page at most three times.
	 */
	uint32_t capture_pages;
};

/* Outcome of a request to the host. */
enum tsr_host_result {
	TSR_HOST_OK,			/* done */
	TSR_HOST_FAULT,			/* not memory, or not allowed: a BUS fault */
	TSR_HOST_PENDING,		/* not known yet: the host will call tsr_gpu_host_ready() */
};

enum tsr_space {
	TSR_SPACE_SYSTEM,		/* bus addresses: what the device reaches by DMA */
	TSR_SPACE_LOCAL,		/* offsets in local memory */
};

/*
 * The machine around the device. @host is the pointer given to tsr_gpu_new(). Some callbacks are
 * made under the device's locks: none may call the library.
 */
struct tsr_host_ops {
	/*
	 * Translate bus address @addr to a host pointer. @len: bytes wanted in, bytes valid from
	 * the pointer out (at least 1, not more than wanted). RAM only: anything else is
	 * TSR_HOST_FAULT. The pointer stays valid until tsr_gpu_host_invalidate() has returned.
	 * Called by workers, and by [host] calls that run packets inline; must not block. Not
	 * called for local memory.
	 */
	enum tsr_host_result (*map)(void *host, uint64_t addr, uint64_t *len, bool write,
				    void **ptr);
	/*
	 * [addr, addr + len) has been written through @ptr, which map() gave for @addr or which
	 * points into local memory (migration, self-modifying guests). Called before the
	 * invalidation of that pointer is acknowledged, by workers too; must not block.
	 */
	void (*dirty)(void *host, enum tsr_space space, uint64_t addr, void *ptr, uint64_t len);
	/*
	 * Send the MSI-X message of @vector (an enum tsr_irq_class). Workers call it too; must not
	 * block.
	 */
	void (*interrupt)(void *host, unsigned int vector);
	/*
	 * The timestamp clock in nanoseconds; monotonic, stands while the machine is stopped. Any
	 * thread.
	 */
	uint64_t (*clock)(void *host);
	/*
	 * Call tsr_gpu_timer() at clock @when, or never for UINT64_MAX; replaces the former
	 * request. Any thread; must not block.
	 */
	void (*set_timer)(void *host, uint64_t when);
	/*
	 * Work has arrived for tsr_gpu_run(). Only with threads == 0. Any thread; must not block;
	 * may be NULL.
	 */
	void (*work)(void *host);
	/* A worker thread starts and ends (RCU registration and the like); may be NULL. */
	void (*thread_enter)(void *host);
	void (*thread_leave)(void *host);
	/* Trace point: the events of tsr_trace.h; may be NULL. */
	void (*trace)(void *host, unsigned int event, const uint64_t *args, unsigned int count);
	/* The driver has done something wrong: a line without its end. Any thread; may be NULL. */
	void (*report)(void *host, const char *text);
	/*
	 * A frame of @head is complete: tsr_gpu_display_frame() has it. Or the head has gone off:
	 * it has none any more. Any thread; may be NULL.
	 */
	void (*frame)(void *host, unsigned int head);
	/* A job has been captured: tsr_gpu_captured() has it. Any thread; may be NULL. */
	void (*captured)(void *host);
};

/*
 * Create a device in its reset state. Returns NULL and a message of one line in @err (of @errlen
 * bytes) when the configuration is impossible or memory or threads cannot be had.
 */
struct tsr_gpu *tsr_gpu_new(const struct tsr_config *cfg, const struct tsr_host_ops *ops,
			    void *host, char *err, size_t errlen);
/* Stop the workers and free the device. [host] */
void tsr_gpu_free(struct tsr_gpu *gpu);

/*
 * Register access at @offset of BAR0, 4-byte aligned; elsewhere reads give 0 and writes do nothing.
 * [host]
 */
uint32_t tsr_gpu_read(struct tsr_gpu *gpu, uint32_t offset);
void tsr_gpu_write(struct tsr_gpu *gpu, uint32_t offset, uint32_t value);

/* Reset of the whole device, complete on return; what PCI reset and FLR do. [host] */
void tsr_gpu_reset(struct tsr_gpu *gpu);

/*
 * Stop all engines at their next preemption point. They have stopped when this returns. Registers
 * can be accessed while the device is paused. Pauses nest, at most TSR_PAUSES_MAX deep. Engines
 * continue when each pause has been followed by a resume. A resume without a pause, or one pause
 * too many, is a bug of the host and aborts. A device may be freed while it is paused. [host]
 */
#define TSR_PAUSES_MAX 8
void tsr_gpu_pause(struct tsr_gpu *gpu);
void tsr_gpu_resume(struct tsr_gpu *gpu);
/*
 * Before a snapshot, of memory too, while paused: a BIN in progress goes on to its end, a RENDER to
 * the ends of its cores' tiles or batches, so that the snapshot holds all there is of them. What
 * takes longer than some 100 ms, or has to wait, stays where it is: 3d.md says what of it the
 * snapshot holds. [host]
 */
void tsr_gpu_drain(struct tsr_gpu *gpu);

/*
 * Forget every pointer that map() returned (and, with @addr and @len, at least those of that bus
 * range). On return no thread uses one any more. [host]
 */
void tsr_gpu_host_invalidate(struct tsr_gpu *gpu, uint64_t addr, uint64_t len);
/* Translations that were TSR_HOST_PENDING may be asked again. Any thread. */
void tsr_gpu_host_ready(struct tsr_gpu *gpu);

/* The timer asked for by set_timer() has expired. [host] */
void tsr_gpu_timer(struct tsr_gpu *gpu);

/*
 * Without workers: run ready queues, and beside them compose frames, for about @cycles; returns the
 * cycles spent, 0 if nothing can run now. [host]
 */
uint64_t tsr_gpu_run(struct tsr_gpu *gpu, uint64_t cycles);

/*
 * The display controller. update(): a frame of @head is wanted, frame() of the ops says when there
 * is one, and when the head has gone off; nothing happens while it is off. Returns the serial
 * number that a frame must have reached to show what memory and picture are now. frame(): the last
 * one that is complete, with pixels XRGB8888, rows without gaps, X 0; it stays as it is until
 * done(), also when the head goes off. False: the head is off, or there is none yet. monitor():
 * what is connected, and its EDID of at most 256 bytes; a snapshot has it as the guest knows it,
 * and the host says it again after load(). [host]
 */
struct tsr_display_frame {
	const uint32_t *pixels;
	uint32_t width, height;
	uint64_t serial;		/* grows with each frame */
};

uint64_t tsr_gpu_display_update(struct tsr_gpu *gpu, unsigned int head);
bool tsr_gpu_display_frame(struct tsr_gpu *gpu, unsigned int head,
			   struct tsr_display_frame *frame);
void tsr_gpu_display_done(struct tsr_gpu *gpu, unsigned int head);
void tsr_gpu_display_monitor(struct tsr_gpu *gpu, unsigned int head, bool present,
			     const void *edid, size_t size);

/*
 * The next three groups belong to the debug unit. Without a debug unit they have no effect and
 * return false with a message, or nothing.
 *
 * Fault injection. Documentation/hw/debug-unit.md defines the scripts. Returns false and a message
 * of one line in @err (@errlen bytes) if the script is malformed; nothing has changed then. [host]
 */
bool tsr_gpu_inject(struct tsr_gpu *gpu, const char *script, char *err, size_t errlen);

/*
 * The contract checker (Documentation/hw/debug-unit.md): how often it has reported something, and
 * how many suspicions there are that time or the driver has to resolve; both 0 without cfg.check.
 * The text of the last report, empty if there is none. [host]
 */
uint64_t tsr_gpu_check_reports(struct tsr_gpu *gpu, unsigned int *pending);
void tsr_gpu_check_last(struct tsr_gpu *gpu, char *text, size_t size);

/*
 * Capture a job with all it needs to run again: "next", the next that begins; "queue=N", of that
 * slot; "queue=N job=M", its Mth CALL since ENABLE; "fault", the next that faults or is reset
 * before it has ended, for which all are recorded; "", none. One capture for each call. False with
 * a message in @err when it is none of these. [host]
 */
bool tsr_gpu_capture(struct tsr_gpu *gpu, const char *what, char *err, size_t errlen);
/*
 * Allow the guest to select a job with the registers CAPTURE (with cfg.inject_window; not allowed
 * at first). The host has a place for the captured job. [host]
 */
void tsr_gpu_capture_window(struct tsr_gpu *gpu, bool open);
/*
 * Take the captured job, in the format of tsr_capture.h. Returns its size, or 0 if there is none.
 * The caller frees @file. The next capture begins after this call. [host]
 */
size_t tsr_gpu_captured(struct tsr_gpu *gpu, void **file);

/*
 * The whole state as versioned plain bytes (not local memory, which the host owns). The device must
 * be paused. save() returns the size needed, and writes if it fits in @size. load() wants a device
 * of the same configuration; on failure it returns false with a message and leaves the device
 * reset, or as it was if it was not paused. load() asks for its timer anew with set_timer(), and
 * for nothing else: the host sends no interrupt again that was sent before save(), and calls
 * tsr_gpu_host_ready() for the requests it has forgotten. [host]
 */
size_t tsr_gpu_save(struct tsr_gpu *gpu, void *buf, size_t size);
bool tsr_gpu_load(struct tsr_gpu *gpu, const void *buf, size_t size, char *err, size_t errlen);

#endif
