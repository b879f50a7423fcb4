/* SPDX-License-Identifier: MIT */
/*
 * Format of a captured job (Documentation/start/debugging.md): a struct tsr_capture_header, then
 * @pages times a struct tsr_capture_page followed by 4096 bytes, what the page held before the job,
 * and where it says so by 4096 more, what it held afterwards. All words are little-endian.
 */
#ifndef TSR_CAPTURE_FORMAT_H
#define TSR_CAPTURE_FORMAT_H

#include <stdint.h>

#define TSR_CAPTURE_MAGIC 0x5452504143525354ull	/* "TSRCAPRT" */
#define TSR_CAPTURE_VERSION 1u
#define TSR_CAPTURE_PAGE 4096u
#define TSR_CAPTURE_PAGES_MAX 65536u	/* 256 MiB; a job that touches more is not captured */

enum tsr_capture_outcome {
	TSR_CAPTURE_DONE,		/* the CALL has ended */
	TSR_CAPTURE_FAULTED,		/* a fault has stopped it: fault_… say which */
	TSR_CAPTURE_STOPPED,		/* its queue or the device was reset before it ended */
};

struct tsr_capture_header {
	uint64_t magic;
	uint32_t version;
	uint32_t pages;
	/* the device: enum tsr_engine_class, and what GPU.VA, PAGE_SIZES, SHADER say */
	uint32_t engine_class, va_bits;
	uint64_t page_sizes;
	uint32_t cores;
	uint32_t outcome;		/* enum tsr_capture_outcome */
	/* the job: slot, CALL of the ring since ENABLE, stream */
	uint32_t queue, reserved;
	uint64_t job, cmd_va, cmd_size;
	/* heap and its size at the end, as in a HEAP packet; base 0: none */
	uint64_t heap_base;
	uint32_t heap_size, heap_max;
	/* FAULTED: as QUEUE.FAULT, FAULT_ADDR, FAULT_PC */
	uint32_t fault_code, fault_access;
	uint64_t fault_addr, fault_pc;
};

enum tsr_capture_flags {
	/* what the page allows */
	TSR_CAPTURE_READ = 1, TSR_CAPTURE_WRITE = 2, TSR_CAPTURE_EXEC = 4,
	TSR_CAPTURE_NULL = 8,		/* a NULL page */
	TSR_CAPTURE_CHANGED = 16,	/* what it held afterwards follows */
	TSR_CAPTURE_UNKNOWN = 32,	/* what it held afterwards is not known */
};

struct tsr_capture_page {
	uint64_t va;			/* of its first byte */
	uint32_t flags;			/* enum tsr_capture_flags */
	uint32_t reserved;
};

#endif
