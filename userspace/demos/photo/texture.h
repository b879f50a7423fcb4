/* SPDX-License-Identifier: MIT */
/* Files of compressed textures as pictures: the GPU decodes them. */
#ifndef TEXTURE_H
#define TEXTURE_H

#include "../lib/picture.h"

/*
 * texture_read(): level 0 of the DDS, KTX, KTX 2 or ASTC file @path, decoded by the GPU at @device
 * (NULL: the first) into 8-bit R, G, B, A. Components beyond 0 to 1 are clamped. Values are
 * the file's: the sRGB curve stays. Returns 0; 1 if the file is of none of these kinds, and
 * *@picture is as it was; -1 with one line of text in *@error (PICTURE_ERROR bytes).
 * picture_free() ends it.
 */
int texture_read(struct picture *picture, const char *path, const char *device, char *error);

#endif
