/* SPDX-License-Identifier: MIT */
/* What Gallium's formats are to the device. */
#ifndef TG_FORMAT_H
#define TG_FORMAT_H

#include "util/format/u_format.h"

#include "tsr_packets.h"
#include "tsr_regs.h"

enum tg_format_use {
	TG_TEXTURE = 1 << 0,	/* can be sampled */
	TG_TARGET = 1 << 1,	/* a color target */
	TG_DEPTH = 1 << 2,	/* a depth or stencil target */
	TG_VERTEX = 1 << 3,	/* an attribute */
	TG_BLOCK = 1 << 4	/* compressed in blocks */
};

struct tg_format {
	uint8_t format;		/* enum tsr_pixel_format, 0: the device does not have it */
	uint8_t order;		/* enum tsr_component_order */
	uint8_t uses;		/* enum tg_format_use */
};

/* tg_format(): the format of memory that is sampled, drawn to or read as vertices. */
const struct tg_format *tg_format(enum pipe_format format);

/*
 * tg_stencil_format(): of the stencil part of a depth and stencil format, as target or (X24S8_UINT
 * …) as texture.
 */
uint8_t tg_stencil_format(enum pipe_format format);

/* tg_conversion(): the low 22 bits of a conversion word. */
uint32_t tg_conversion(enum pipe_format format);

#endif
