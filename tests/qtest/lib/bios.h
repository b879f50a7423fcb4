/* SPDX-License-Identifier: MIT */
/*
 * Firmware that does nothing, for machines whose processor runs (-accel tcg): without it QEMU's own
 * firmware would configure the devices the test is about to configure.
 */
#ifndef TSR_QTEST_BIOS_H
#define TSR_QTEST_BIOS_H

#include <stdbool.h>

/*
 * Write an image for -bios whose reset vector sleeps for good, or with @spin counts in an endless
 * loop. Its file name stays valid until the next call; the caller removes the file.
 */
const char *bios_image(bool spin);

#endif
