/* SPDX-License-Identifier: MIT */
/* Hints to MemorySanitizer, for the fuzz targets that are built with it. */
#ifndef TSR_SANITIZE_H
#define TSR_SANITIZE_H

#if defined(__has_feature)
#if __has_feature(memory_sanitizer)
#define TSR_MEMORY_SANITIZER 1
#endif
#endif

#ifdef TSR_MEMORY_SANITIZER
#include <sanitizer/msan_interface.h>
/*
 * Vector code computes all lanes and stores only its own. The others may hold anything, which the
 * sanitizer would find where a whole vector is used.
 */
#define tsr_lanes_hold_anything(lanes, bytes) __msan_unpoison(lanes, bytes)
#else
#define TSR_MEMORY_SANITIZER 0
#define tsr_lanes_hold_anything(lanes, bytes) ((void)(lanes))
#endif

#endif
