// SPDX-License-Identifier: MIT
/* Decoding PNG files with libpng, whose errors and limits become one line of text. */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

#include "picture.h"

/* One file being decoded; lives outside the functions that libpng's errors jump out of. */
struct decoder {
	const char *path;
	char *error;			/* PICTURE_ERROR bytes */
	FILE *stream;
	png_structp png;
	png_infop info;
	png_bytep *rows;		/* start of each row, for interlaced files */
	struct picture picture;
	unsigned int copies;		/* see picture_read() */
};

static void on_error(png_structp png, png_const_charp text)
{
	struct decoder *d = png_get_error_ptr(png);

	snprintf(d->error, PICTURE_ERROR, "%s: %s", d->path, text);
	png_longjmp(png, 1);
}

/* libpng's own reader calls every shortage a read error. */
static void on_read(png_structp png, png_bytep data, size_t size)
{
	struct decoder *d = png_get_io_ptr(png);

	errno = 0;
	if (fread(data, 1, size, d->stream) == size)
		return;
	png_error(png, ferror(d->stream) ? strerror(errno)
					 : "the file ends before the picture does");
}

/* Warnings are about chunks that do not change the texels. */
static void on_warning(png_structp png, png_const_charp text)
{
	(void)png;
	(void)text;
}

static int fail(struct decoder *d, const char *text)
{
	snprintf(d->error, PICTURE_ERROR, "%s: %s", d->path, text);
	return -1;
}

/* Memory that programs can still have, in bytes; "unlimited" where the kernel does not say. */
static uint64_t available_memory(void)
{
	FILE *f = fopen("/proc/meminfo", "r");
	uint64_t kib = UINT64_MAX / 1024;
	char line[128];

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "MemAvailable: %" SCNu64, &kib) == 1)
			break;
	}
	if (f)
		fclose(f);
	return kib * 1024;
}

static int check_size(struct decoder *d)
{
	const struct picture *p = &d->picture;
	uint64_t texels = (uint64_t)p->width * p->height, need;

	if (p->width > PICTURE_SIDE || p->height > PICTURE_SIDE || texels > PICTURE_TEXELS) {
		snprintf(d->error, PICTURE_ERROR,
			 "%s: %u x %u pixels, expected at most %u a side and %u in all", d->path,
			 p->width, p->height, PICTURE_SIDE, PICTURE_TEXELS);
		return -1;
	}
	need = texels * p->texel * (d->copies + 1);
	if (need > available_memory()) {
		snprintf(d->error, PICTURE_ERROR,
			 "%s: %u x %u pixels need %" PRIu64 " MiB, %" PRIu64 " MiB are available",
			 d->path, p->width, p->height, need >> 20, available_memory() >> 20);
		return -1;
	}
	return 0;
}

/* Ask for R, G, B, A whatever the file has. */
static void set_transforms(struct decoder *d)
{
	int color = png_get_color_type(d->png, d->info);
	bool deep = png_get_bit_depth(d->png, d->info) == 16;

	png_set_expand(d->png);
	if (!(color & PNG_COLOR_MASK_COLOR))
		png_set_gray_to_rgb(d->png);
	if (!(color & PNG_COLOR_MASK_ALPHA) && !png_get_valid(d->png, d->info, PNG_INFO_tRNS))
		png_set_add_alpha(d->png, deep ? 0xffff : 0xff, PNG_FILLER_AFTER);
	png_set_interlace_handling(d->png);
	d->picture.texel = deep ? 8 : 4;
	d->picture.pitch = (size_t)d->picture.width * d->picture.texel;
}

static int read_texels(struct decoder *d)
{
	struct picture *p = &d->picture;
	uint32_t y;

	png_read_update_info(d->png, d->info);
	if (png_get_rowbytes(d->png, d->info) != p->pitch)
		return fail(d, "libpng gives rows of another length than R, G, B, A");
	p->texels = malloc(p->pitch * p->height);
	d->rows = malloc(p->height * sizeof(*d->rows));
	if (!p->texels || !d->rows)
		return fail(d, "out of memory");
	for (y = 0; y < p->height; y++)
		d->rows[y] = p->texels + y * p->pitch;
	png_read_image(d->png, d->rows);
	png_read_end(d->png, NULL);
	return 0;
}

static int decode(struct decoder *d)
{
	if (setjmp(png_jmpbuf(d->png)))
		return -1;
	png_set_user_limits(d->png, 0x7fffffff, 0x7fffffff);
	png_set_read_fn(d->png, d, on_read);
	png_set_sig_bytes(d->png, 8);
	png_read_info(d->png, d->info);
	d->picture.width = png_get_image_width(d->png, d->info);
	d->picture.height = png_get_image_height(d->png, d->info);
	set_transforms(d);
	if (check_size(d))
		return -1;
	return read_texels(d);
}

static int check_signature(struct decoder *d)
{
	png_byte signature[8];
	size_t got = fread(signature, 1, sizeof(signature), d->stream);

	if (ferror(d->stream))
		return fail(d, strerror(errno));
	if (got < sizeof(signature) || png_sig_cmp(signature, 0, sizeof(signature)))
		return fail(d, "not a PNG file");
	return 0;
}

static int decode_stream(struct decoder *d)
{
	int ret = check_signature(d);

	if (ret)
		return ret;
	d->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, d, on_error, on_warning);
	if (!d->png)
		return fail(d, "libpng cannot start");
	d->info = png_create_info_struct(d->png);
	ret = d->info ? decode(d) : fail(d, "out of memory");
	png_destroy_read_struct(&d->png, &d->info, NULL);
	free(d->rows);
	return ret;
}

int picture_read_stream(struct picture *picture, FILE *stream, const char *name,
			unsigned int copies, char *error)
{
	struct decoder d = { .path = name, .error = error, .copies = copies, .stream = stream };
	int ret = decode_stream(&d);

	if (ret)
		picture_free(&d.picture);
	else
		*picture = d.picture;
	return ret;
}

int picture_read(struct picture *picture, const char *path, unsigned int copies, char *error)
{
	FILE *stream = fopen(path, "rb");
	int ret;

	if (!stream) {
		snprintf(error, PICTURE_ERROR, "%s: %s", path, strerror(errno));
		return -1;
	}
	ret = picture_read_stream(picture, stream, path, copies, error);
	fclose(stream);
	return ret;
}

void picture_free(struct picture *picture)
{
	free(picture->texels);
	picture->texels = NULL;
}
