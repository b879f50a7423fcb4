// SPDX-License-Identifier: MIT
/* The guest's test of the same name, on the model in this process, which can look at the tags. */
#include <stdint.h>

#include "gfx/gfx.h"
#include "hostgpu.h"

static uint32_t tags_seen(struct tsr_image *image);
static bool without_tagged(struct tsr_image *image);

#define TAGS_SEEN(image) tags_seen(image)
#define TAGS_ARE_SEEN 1
#define WITHOUT_TAGGED(image) without_tagged(image)
#include "../guest/draw/draw_tags.c"

/* Bit n: there is a block with tag n. */
static uint32_t tags_seen(struct tsr_image *image)
{
	const uint32_t count = (WIDTH + 7) / 8 * ((HEIGHT + 7) / 8);
	const uint8_t *tags = hostgpu_peek(tsr_vm_device(image->vm), tsr_vm_id(image->vm),
					   image->tags, count);
	uint32_t seen = 0;

	for (uint32_t i = 0; tags && i < count; i++)
		seen |= 1u << tags[i];
	return seen;
}

static bool without_tagged(struct tsr_image *image)
{
	image->tag_state = 0;
	return true;
}
