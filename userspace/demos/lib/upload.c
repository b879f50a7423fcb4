// SPDX-License-Identifier: MIT
/* Compressed textures on the GPU, see upload.h. */
#include "upload.h"

int upload_compressed(struct tsr_vm *vm, const struct compressed *c, uint32_t levels, bool srgb,
		      struct tsr_image **image)
{
	const struct tsr_image_info info = {
		.format = c->format, .order = c->order, .srgb = srgb, .layout = TSR_LAYOUT_TILED,
		.width = c->width, .height = c->height, .levels = levels,
		.block_width = c->block_width, .block_height = c->block_height,
	};
	int ret = tsr_image_create(vm, &info, sizeof(info), image);

	for (uint32_t n = 0; !ret && n < levels; n++)
		ret = tsr_image_write(*image, n, 0, c->level[n], compressed_pitch(c, n));
	return ret;
}
