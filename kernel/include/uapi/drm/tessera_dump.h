/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT */
/* Copyright 2026 The Tessera authors */
#ifndef _UAPI_TESSERA_DUMP_H_
#define _UAPI_TESSERA_DUMP_H_

#include "tessera_drm.h"

#if defined(__cplusplus)
extern "C" {
#endif

/**
 * DOC: Device core dumps
 *
 * What /sys/class/devcoredump/devcd<n>/data holds when a job of a Tessera has
 * failed: a struct tessera_dump_header, then sections, each a struct
 * tessera_dump_section followed by its bytes and by zeros up to a multiple of 8.
 * All words are little-endian. Readers skip sections whose type they do not know;
 * structures grow at the end, and a section says how long its elements are.
 */

/**
 * enum tessera_dump_magic - how a dump begins
 */
enum tessera_dump_magic {
	/** @TESSERA_DUMP_MAGIC: First word: "TSRD". */
	TESSERA_DUMP_MAGIC = 0x44525354,
	/** @TESSERA_DUMP_VERSION: Version of the format. */
	TESSERA_DUMP_VERSION = 1
};

/**
 * enum tessera_dump_flags - bits of &tessera_dump_header.flags
 */
enum tessera_dump_flags {
	/** @TESSERA_DUMP_TRUNCATED: Something did not fit into the dump's memory. */
	TESSERA_DUMP_TRUNCATED = 1 << 0
};

/**
 * struct tessera_dump_header - the beginning of a dump
 */
struct tessera_dump_header {
	/** @magic: TESSERA_DUMP_MAGIC. */
	__u32 magic;
	/** @version: TESSERA_DUMP_VERSION. */
	__u32 version;
	/** @size: Bytes of the dump with this header. */
	__u64 size;
	/** @time_ns: CLOCK_MONOTONIC time at which it was taken. */
	__u64 time_ns;
	/** @flags: enum tessera_dump_flags. */
	__u32 flags;
	/** @hw_version: Architecture version, major << 16 | minor. */
	__u32 hw_version;
};

/**
 * enum tessera_dump_type - what a section holds
 */
enum tessera_dump_type {
	/** @TESSERA_DUMP_JOB: One struct tessera_dump_job. */
	TESSERA_DUMP_JOB = 1,
	/** @TESSERA_DUMP_REGISTERS: Array of struct tessera_dump_register. */
	TESSERA_DUMP_REGISTERS = 2,
	/** @TESSERA_DUMP_RING: The ring around the read pointer, in its order. */
	TESSERA_DUMP_RING = 3,
	/** @TESSERA_DUMP_STREAM: The job's command stream. */
	TESSERA_DUMP_STREAM = 4,
	/** @TESSERA_DUMP_MAPPINGS: Array of struct tessera_dump_mapping: the job's VM. */
	TESSERA_DUMP_MAPPINGS = 5,
	/**
	 * @TESSERA_DUMP_QUEUE: One struct drm_tessera_queue_get_state: the job's queue, with
	 * the fault, and otherwise as it was before recovery.
	 */
	TESSERA_DUMP_QUEUE = 6,
	/**
	 * @TESSERA_DUMP_FAULTS: Array of struct drm_tessera_fault: what the job's VM has on
	 * record, oldest first.
	 */
	TESSERA_DUMP_FAULTS = 7
};

/**
 * struct tessera_dump_section - the beginning of a section
 */
struct tessera_dump_section {
	/** @type: enum tessera_dump_type. */
	__u32 type;
	/** @stride: Bytes of an element, 8 for RING and STREAM. */
	__u32 stride;
	/** @address: RING, STREAM: GPU address of the first byte, else 0. */
	__u64 address;
	/** @size: Bytes that follow, without the zeros at the end. */
	__u64 size;
};

/**
 * struct tessera_dump_job - the job that failed
 */
struct tessera_dump_job {
	/** @cmd_va: Address of its command stream, 0 if it has none. */
	__u64 cmd_va;
	/** @seqno: Its number in its queue. */
	__u64 seqno;
	/** @done: Number of the last job whose fence value has arrived. */
	__u64 done;
	/** @fault_packet_va: Packet it stopped at, 0 if there was no fault. */
	__u64 fault_packet_va;
	/** @fault_va: Address the fault is about. */
	__u64 fault_va;
	/** @cmd_size: Bytes of its command stream. */
	__u32 cmd_size;
	/** @slot: Slot of its queue. */
	__u32 slot;
	/** @queue_id: Id of its queue in its file. */
	__u32 queue_id;
	/** @engine_class: Engines of its queue. */
	__u32 engine_class;
	/** @address_space: Hardware address space of its VM. */
	__u32 address_space;
	/** @error: Positive errno that its fence gets. */
	__u32 error;
	/** @fault_code: Fault code of the hardware, 0 if it made no progress. */
	__u32 fault_code;
	/** @wptr: Write pointer of the ring, as in the register. */
	__u32 wptr;
};

/**
 * struct tessera_dump_register - one word of the register BAR
 */
struct tessera_dump_register {
	/** @offset: Offset in the BAR. */
	__u32 offset;
	/** @value: What it read as, before the queue was reset. */
	__u32 value;
};

/**
 * struct tessera_dump_mapping - one mapping of the job's VM
 */
struct tessera_dump_mapping {
	/** @va: First address. */
	__u64 va;
	/** @size: Bytes. */
	__u64 size;
	/** @bo_offset: Where in the buffer object. */
	__u64 bo_offset;
	/** @bo_size: Size of the buffer object, 0 if nothing is behind the mapping. */
	__u64 bo_size;
	/** @entry_bits: Permissions and kind, as in the entries of a page table. */
	__u64 entry_bits;
};

#if defined(__cplusplus)
}
#endif

#endif /* _UAPI_TESSERA_DUMP_H_ */
