/* SPDX-License-Identifier: MIT */
/* The device's names of Mesa's formats. The functions are pure. */
#ifndef TC_FORMAT_H
#define TC_FORMAT_H

#include "util/format/u_format.h"

#include "tsr_packets.h"
#include "tsr_regs.h"

enum tc_format_use {
	TC_TEXTURE = 1 << 0,	/* can be sampled */
	TC_TARGET = 1 << 1,	/* a color target */
	TC_DEPTH = 1 << 2,	/* a depth or stencil target */
	TC_VERTEX = 1 << 3,	/* an attribute */
	TC_BLOCK = 1 << 4	/* compressed in blocks */
};

struct tc_format {
	uint8_t format;		/* enum tsr_pixel_format, 0: the device does not have it */
	uint8_t order;		/* enum tsr_component_order */
	uint8_t uses;		/* enum tc_format_use */
};

/* tc_format(): the format of memory that is sampled, drawn to or read as vertices. */
const struct tc_format *tc_format(enum pipe_format format);

/*
 * tc_stencil_format(): of the stencil part of a depth and stencil format, as target or (X24S8_UINT
 * …) as texture.
 */
uint8_t tc_stencil_format(enum pipe_format format);

/*
 * tc_is_image_format(): true if shaders can store to images of the format. The device stores
 * components in their own order.
 */
bool tc_is_image_format(enum pipe_format format);

/* tc_conversion(): the low 22 bits of a conversion word. */
uint32_t tc_conversion(enum pipe_format format);

#endif
