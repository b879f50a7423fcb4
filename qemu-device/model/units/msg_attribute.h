/* SPDX-License-Identifier: MIT */
/*
 * Attributes in the attribute unit: prepared descriptors. Those of the last attributes are kept as
 * long as their words in memory stay the same.
 */
#ifndef TSR_SHADER_MSG_ATTRIBUTE_H
#define TSR_SHADER_MSG_ATTRIBUTE_H

#include "engine.h"
#include "msg_format.h"
#include "tsr_packets.h"

/* The prepared descriptors of an attribute's index. */
struct tsr_attribute_view {
	/* Its sources: the tables, the index, and the words that were read. */
	uint64_t table, buffers;
	uint32_t count, buffer_count;
	uint32_t index;			/* of the attribute */
	bool outputs;			/* the table is that of the outputs of vertices */
	bool valid;			/* the rest is @index's */
	uint8_t words;			/* of @word: entry, then two for each of the buffer */
	uint64_t word[7];
	uint64_t buffer_va;		/* of word[1] and those after it */

	bool missing;			/* not in the tables */
	bool image;
	bool output;			/* at @offset of the outputs of a vertex */
	bool add_start;			/* the draw's start is added to the element */
	bool add_instance;		/* its first instance is */
	uint64_t base;			/* address of element 0, without @offset */
	uint64_t stride, size;		/* of the buffer, if it is no image: all bits */
	bool wide;			/* @stride or @size has more than 32 bits */
	int64_t offset;
	uint32_t conversion;		/* pixel format, as in a conversion word */
	struct tsr_format format;
	uint8_t floats;			/* tsr_format_floats() */
	uint32_t behind[4];		/* components after the floats, as in registers */
	struct tsr_attribute_buffer buffer;	/* never of a wide type */
	struct tsr_attribute_buffer_divisor divisor;	/* of DIVIDE */
	struct tsr_attribute_buffer_image shape;	/* of images */
	struct tsr_attribute_buffer_tags tags;	/* valid if shape.tagged */
};

#define TSR_ATTRIBUTE_VIEWS 32

struct tsr_attribute_views {
	struct tsr_attribute_view view[TSR_ATTRIBUTE_VIEWS];	/* by index and table */
};

struct tsr_msg_env;

/*
 * Attribute @index of @vertex and @instance, as LD_ATTR with the type auto loads four components
 * for @lane.
 */
enum tsr_step tsr_attribute_fetch(struct tsr_msg_env *env, unsigned int lane, uint32_t index,
				  uint32_t vertex, uint32_t instance, uint32_t word[4]);

struct tsr_msg_bundle;
/*
 * The first @components of attribute @index to the staging registers of @b->warp[@first] and those
 * after it, of the vertex and instance of each thread: as tsr_msg_together_fn does.
 */
unsigned int tsr_attributes_fetch(struct tsr_msg_env *env, const struct tsr_msg_bundle *b,
				  unsigned int first, uint32_t index, unsigned int components);

#endif
