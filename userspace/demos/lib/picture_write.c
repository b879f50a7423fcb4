// SPDX-License-Identifier: MIT
/* Writing PNG files: beside the final name, renamed when complete, so that no half picture appears.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <png.h>

#include "picture.h"

static int fail(const struct picture_file *file, char *error, const char *text)
{
	snprintf(error, PICTURE_ERROR, "%s: %s", file->path, text);
	return -1;
}

int picture_create(struct picture_file *file, const char *path, char *error)
{
	int fd;

	memset(file, 0, sizeof(*file));
	file->path = strdup(path);
	if (asprintf(&file->aside, "%s.XXXXXX", path) < 0)
		file->aside = NULL;
	if (!file->path || !file->aside) {
		snprintf(error, PICTURE_ERROR, "%s: out of memory", path);
		goto fail_free;
	}
	fd = mkostemp(file->aside, O_CLOEXEC);
	if (fd < 0) {
		snprintf(error, PICTURE_ERROR, "cannot create %s: %s", path, strerror(errno));
		goto fail_free;
	}
	/* what open() with 0666 would have given: mkostemp() is stricter */
	fchmod(fd, 0644);
	file->stream = fdopen(fd, "wb");
	if (!file->stream) {
		snprintf(error, PICTURE_ERROR, "%s: %s", path, strerror(errno));
		close(fd);
		unlink(file->aside);
		goto fail_free;
	}
	return 0;
fail_free:
	free(file->path);
	free(file->aside);
	return -1;
}

void picture_abandon(struct picture_file *file)
{
	if (file->stream)
		fclose(file->stream);
	unlink(file->aside);
	free(file->path);
	free(file->aside);
}

static void on_error(png_structp png, png_const_charp text)
{
	snprintf(png_get_error_ptr(png), PICTURE_ERROR, "%s", text);
	png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp text)
{
	(void)png;
	(void)text;
}

/* The rows through libpng. @text gets what went wrong. */
static int encode(png_structp png, png_infop info, FILE *stream, const struct picture *picture)
{
	uint32_t y;

	if (setjmp(png_jmpbuf(png)))
		return -1;
	png_init_io(png, stream);
	png_set_compression_level(png, 3); /* most of the gain for a third of the guest's time */
	png_set_IHDR(png, info, picture->width, picture->height, picture->texel == 8 ? 16 : 8,
		     PNG_COLOR_TYPE_RGB_ALPHA, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
		     PNG_FILTER_TYPE_DEFAULT);
	png_write_info(png, info);
	for (y = 0; y < picture->height; y++)
		png_write_row(png, picture->texels + y * picture->pitch);
	png_write_end(png, info);
	return 0;
}

static int encode_stream(FILE *stream, const struct picture *picture, char *text)
{
	png_structp png =
		png_create_write_struct(PNG_LIBPNG_VER_STRING, text, on_error, on_warning);
	png_infop info = png ? png_create_info_struct(png) : NULL;
	int ret = -1;

	if (info)
		ret = encode(png, info, stream, picture);
	else
		snprintf(text, PICTURE_ERROR, "out of memory");
	png_destroy_write_struct(&png, &info);
	return ret;
}

int picture_commit(struct picture_file *file, const struct picture *picture, char *error)
{
	char text[PICTURE_ERROR] = "";
	int ret;

	errno = 0;
	ret = encode_stream(file->stream, picture, text);
	if (ret)
		fail(file, error, errno ? strerror(errno) : text);
	if (!ret && (fflush(file->stream) || fsync(fileno(file->stream))))
		ret = fail(file, error, strerror(errno));
	if (fclose(file->stream) && !ret)
		ret = fail(file, error, strerror(errno));
	file->stream = NULL;
	if (!ret && rename(file->aside, file->path))
		ret = fail(file, error, strerror(errno));
	if (ret) {
		picture_abandon(file);
		return ret;
	}
	free(file->path);
	free(file->aside);
	return 0;
}
