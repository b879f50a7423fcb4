/* SPDX-License-Identifier: MIT */
/* The baseline path: SSE2, or the 16-byte vectors of any other architecture. */
#define TSR_ALU_SSE2
#include "templates.h"
