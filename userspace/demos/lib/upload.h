/* SPDX-License-Identifier: MIT */
/* Compressed textures on the GPU. */
#ifndef UPLOAD_H
#define UPLOAD_H

#include "compressed.h"
#include <tessera/gfx.h>

/*
 * upload_compressed(): the blocks of the first @levels levels of @c as they are, an image in tiles
 * whose colors have the sRGB curve if @srgb. 0, or a negative errno with the text in
 * tsr_error_message(); *@image is then what there is of it, or NULL as before: drop it either way.
 */
int upload_compressed(struct tsr_vm *vm, const struct compressed *c, uint32_t levels, bool srgb,
		      struct tsr_image **image);

#endif
