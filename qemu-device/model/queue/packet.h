/* SPDX-License-Identifier: MIT */
/*
 * Packet checks: everything that can be wrong with a packet before it has had any effect.
 *
 * In: a packet's header, then its words. Out: a fault code and the offending qword. The order is
 * the one that Documentation/hw/command-streams.md gives. Values of engine commands are the
 * engine's to check.
 */
#ifndef TSR_PACKET_H
#define TSR_PACKET_H

#include <stdint.h>

#include "exec.h"

struct tsr_gpu;
struct tsr_queue;

/* An error: a code of enum tsr_fault, TSR_FAULT_NONE if there is none, and the qword. */
struct tsr_defect {
	uint8_t code;
	uint8_t qword;
};

/*
 * Words of the packet that are looked at, so must be fetched: all described ones. The header must
 * have passed tsr_packet_check_header().
 */
unsigned int tsr_packet_words(uint64_t header);
/*
 * Opcode, length, and that it ends within @limit bytes; level (@ring), class, whether there is a
 * unit for it.
 */
struct tsr_defect tsr_packet_check_header(const struct tsr_queue *q, uint64_t header,
					  uint64_t limit, bool ring);
/* Reserved bits, privileged fields, then values and alignment. */
struct tsr_defect tsr_packet_check_words(const uint64_t *words, bool ring);

#endif
