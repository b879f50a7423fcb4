/* SPDX-License-Identifier: MIT */
/* Memory of a head's frames: allocated with the first one, freed when the head goes off. */
#include "display.h"

#include <stdlib.h>

static void release(struct tsr_frame_memory *memory)
{
	free(memory->pixels);
	*memory = (struct tsr_frame_memory){ 0 };
}

bool tsr_frame_memory_make(struct tsr_frame_memory *memory, uint32_t width, uint32_t height)
{
	if (memory->pixels && memory->width == width && memory->height == height)
		return true;
	release(memory);
	memory->pixels = malloc((size_t)width * height * sizeof(*memory->pixels));
	memory->width = width;
	memory->height = height;
	return memory->pixels;
}

const struct tsr_frame_memory *tsr_frame_memory_last(const struct tsr_head *head)
{
	const struct tsr_frame_memory *last = head->late ? &head->back : &head->front;

	return last->serial ? last : NULL;
}

void tsr_frame_memory_show(struct tsr_head *head)
{
	const struct tsr_frame_memory shown = head->front;

	head->back.serial = ++head->serial;
	head->late = head->lent;
	if (head->lent)
		return;
	head->front = head->back;
	head->back = shown;
}

void tsr_frame_memory_return(struct tsr_head *head)
{
	struct tsr_frame_memory shown;

	head->lent = false;
	if (!head->front.serial)
		release(&head->front);	/* the head has gone off since */
	shown = head->front;
	/* A frame that has begun is composed over the one in @back, and replaces both. */
	if (!head->late || head->begun)
		return;
	head->late = false;
	if (head->back.serial) {
		head->front = head->back;
		head->back = shown;
	}
}

void tsr_frame_memory_free(struct tsr_head *head)
{
	release(&head->back);
	head->late = false;
	head->front.serial = 0;
	if (!head->lent)
		release(&head->front);
}
