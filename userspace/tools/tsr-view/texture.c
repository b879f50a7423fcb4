// SPDX-License-Identifier: MIT
/* Textures of models, see texture.h. They are PNG, or compressed. */
#include <stdlib.h>
#include <string.h>

#include <assimp/scene.h>
#include <assimp/texture.h>

#include "texture.h"

/* The file @path, whatever it is. */
static int read_file(const char *path, struct model_texture *texture, char *error)
{
	FILE *stream = fopen(path, "rb");
	uint8_t first[12];
	size_t size = stream ? fread(first, 1, sizeof(first), stream) : 0;

	if (stream)
		fclose(stream);
	texture->is_compressed = compressed_is(first, size);
	return texture->is_compressed ? compressed_read(&texture->compressed, path, error)
				      : picture_read(&texture->picture, path, 1, error);
}

/* The file @name beside the model's. */
static int read_beside(const struct textures *t, const char *name, struct model_texture *texture,
		       char *error)
{
	const char *slash = strrchr(t->path, '/');
	int directory = slash && name[0] != '/' ? (int)(slash - t->path) + 1 : 0, ret;
	char *path;

	if (asprintf(&path, "%.*s%s", directory, t->path, name) < 0)
		return -1;
	for (char *c = path + directory; *c; c++) {
		if (*c == '\\')		/* as programs on other systems write it */
			*c = '/';
	}
	ret = read_file(path, texture, error);
	free(path);
	return ret;
}

/* A piece of the model that is a file of a compressed texture. */
static int read_piece(const uint8_t *data, size_t size, struct compressed *c, char *error)
{
	uint8_t *copy = malloc(size);
	int ret = -1;

	if (copy) {
		memcpy(copy, data, size);
		ret = compressed_parse(c, copy, size, error);
		c->file = copy;
	}
	if (ret)
		free(copy);
	return ret;
}

/* Texture @name, which is "*" and a number, of the model's own. */
static int read_inside(const struct textures *t, const char *name, struct model_texture *texture,
		       char *error)
{
	char *end;
	unsigned long n = strtoul(name + 1, &end, 10);
	const struct aiTexture *from;
	FILE *stream;
	int ret;

	if (*end || n >= t->scene->mNumTextures) {
		snprintf(error, PICTURE_ERROR, "there is no texture %s in the file", name);
		return -1;
	}
	from = t->scene->mTextures[n];
	if (from->mHeight || !from->mWidth) {
		snprintf(error, PICTURE_ERROR, "texture %s is not a file", name);
		return -1;
	}
	texture->is_compressed = compressed_is((const uint8_t *)from->pcData, from->mWidth);
	if (texture->is_compressed)
		return read_piece((const uint8_t *)from->pcData, from->mWidth,
				  &texture->compressed, error);
	stream = fmemopen(from->pcData, from->mWidth, "rb");
	if (!stream) {
		snprintf(error, PICTURE_ERROR, "texture %s: out of memory", name);
		return -1;
	}
	ret = picture_read_stream(&texture->picture, stream, name, 1, error);
	fclose(stream);
	return ret;
}

/* Sixteen bits become eight: their upper halves. */
static void narrow(struct picture *p)
{
	if (p->texel != 8)
		return;
	for (size_t i = 0; i < (size_t)p->width * p->height * 4; i++)
		p->texels[i] = p->texels[2 * i];
	p->texel = 4;
	p->pitch = 4 * (size_t)p->width;
}

void texture_free(struct model_texture *texture)
{
	if (texture->is_compressed)
		compressed_free(&texture->compressed);
	else
		picture_free(&texture->picture);
}

int32_t textures_find(struct textures *t, const char *name)
{
	struct model_texture *texture = &t->model->textures[t->model->texture_count];
	char error[PICTURE_ERROR] = "out of memory", text[PICTURE_ERROR + 40];
	uint32_t i;
	int ret;

	for (i = 0; i < t->model->texture_count; i++) {
		if (!strcmp(t->names[i].text, name))
			return (int32_t)i;
	}
	ret = name[0] == '*' ? read_inside(t, name, texture, error) :
			       read_beside(t, name, texture, error);
	if (ret) {
		snprintf(text, sizeof(text), "%s: drawn without this texture", error);
		t->warn(text);
		return -1;
	}
	if (!texture->is_compressed)
		narrow(&texture->picture);
	snprintf(t->names[i].text, sizeof(t->names[i].text), "%s", name);
	return (int32_t)t->model->texture_count++;
}
