/* SPDX-License-Identifier: MIT */
/*
 * Firmware that does nothing, for machines whose processor runs (-accel tcg): without it QEMU's own
 * firmware would configure the devices the test is about to configure.
 */
#ifndef TSR_QTEST_BIOS_H
#define TSR_QTEST_BIOS_H

#include <stdint.h>

/* The program of the processor. */
enum bios_kind {
	BIOS_SLEEP, /* halts for good */
	BIOS_RAM,   /* jumps to BIOS_RAM_ADDR, in real mode, with interrupts off */
};

#define BIOS_RAM_ADDR 0x1000

/*
 * Write an image for -bios. Its file name stays valid until the next call; the caller removes the
 * file.
 */
const char *bios_image(enum bios_kind kind);
/*
 * Write an image that reads the 32-bit word at physical address @addr and writes it back, for ever.
 * The rules of bios_image() hold for its file.
 */
const char *bios_access(uint32_t addr);

#endif
