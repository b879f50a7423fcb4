/* SPDX-License-Identifier: MIT */
/*
 * Texels of a warp's lanes between memory and registers, all at once. The attribute unit's other
 * functions do the same lane by lane.
 */
#ifndef TSR_UNITS_MSG_PIXELS_H
#define TSR_UNITS_MSG_PIXELS_H

#include "msg_bundle.h"
#include "msg_format.h"

/* Texels and the registers that hold them. */
struct tsr_pixels {
	const struct tsr_format *format;
	unsigned int type;		/* enum tsr_register_type */
	unsigned int components;	/* in registers */
};

/*
 * The texels at addresses @lo and @hi to the staging registers of warp @w of @b. Lanes that are not
 * in @there load 0. Returns false if nothing has been done.
 */
bool tsr_pixels_load(struct tsr_msg_env *env, const struct tsr_msg_bundle *b, unsigned int w,
		     const struct tsr_pixels *p, const union tsr_lanes *lo,
		     const union tsr_lanes *hi, uint16_t there);
/*
 * The staging registers of warp @w to the addresses that are its sources. Lanes in the void window
 * store nothing. Returns false if nothing has been done.
 */
bool tsr_pixels_store(struct tsr_msg_env *env, const struct tsr_msg_bundle *b, unsigned int w,
		      const struct tsr_pixels *p);

/* True if @lanes of @v are all @word. */
bool tsr_msg_all_are(const union tsr_lanes *v, uint32_t word, uint16_t lanes);

#endif
