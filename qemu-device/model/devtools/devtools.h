/* SPDX-License-Identifier: MIT */
/*
 * The debug unit: what it keeps of a device. For its own files only; the device calls it through
 * hooks.h, and nothing else of the model names it.
 */
#ifndef TSR_DEVTOOLS_H
#define TSR_DEVTOOLS_H

#include "capture.h"
#include "check.h"
#include "device/gpu.h"
#include "inject.h"

struct tsr_devtools {
	struct tsr_inject inject;
	struct tsr_check check;
	struct tsr_capture capture;
};

#endif
