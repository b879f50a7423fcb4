/* SPDX-License-Identifier: MIT */
/*
 * Pictures: PNG files and texels in rows.
 *
 * In:  any PNG (palette, gray, 1 to 16 bits, alpha, transparency, interlaced) up to PICTURE_SIDE
 *      texels a side and PICTURE_TEXELS in all, memory permitting.
 * Out: 8-bit R, G, B, A (4-byte texels), or 16-bit (8-byte texels) if the file has 16 bits. The
 *      values are the file's, without gamma and not premultiplied.
 * Functions return 0, or -1 with one line of text in *error (PICTURE_ERROR bytes).
 */
#ifndef PICTURE_H
#define PICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define PICTURE_SIDE	65536u			/* largest rectangle of the GPU */
#define PICTURE_TEXELS	(64u << 20)
#define PICTURE_ERROR	256

struct picture {
	uint32_t width, height;		/* texels, 1 or more */
	uint32_t texel;			/* bytes of a texel: 4 or 8 */
	size_t pitch;			/* bytes from row to row: width * texel */
	uint8_t *texels;		/* rows, top first; big-endian samples if 16 bits */
};

/*
 * picture_read(): decode the file @path. @copies is how many times its size the caller needs
 * besides: a picture for which the machine has not enough memory is refused before it is decoded.
 */
int picture_read(struct picture *picture, const char *path, unsigned int copies, char *error);
/* picture_read_stream(): the same from where @stream stands; @name is for messages. */
int picture_read_stream(struct picture *picture, FILE *stream, const char *name,
			unsigned int copies, char *error);
void picture_free(struct picture *picture);

/* A PNG that is being written beside its final name. */
struct picture_file {
	char *path, *aside;		/* the final name, the name until then */
	void *stream;			/* FILE */
};

/*
 * picture_create(): open a file beside @path; picture_commit(): write @picture to it and rename it
 * to
 * @path; picture_abandon(): remove it instead. One of the latter two ends each create.
 */
int picture_create(struct picture_file *file, const char *path, char *error);
int picture_commit(struct picture_file *file, const struct picture *picture, char *error);
void picture_abandon(struct picture_file *file);

#endif /* PICTURE_H */
