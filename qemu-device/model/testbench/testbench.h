/* SPDX-License-Identifier: MIT */
/*
 * The test bench: what it keeps of a device. For its own files only; the device calls it through
 * hooks.h, and nothing else of the model names it.
 */
#ifndef TSR_TESTBENCH_H
#define TSR_TESTBENCH_H

#include "capture.h"
#include "check.h"
#include "gpu.h"
#include "inject.h"

struct tsr_testbench {
	struct tsr_inject inject;
	struct tsr_check check;
	struct tsr_capture capture;
};

#endif
