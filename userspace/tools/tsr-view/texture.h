/* SPDX-License-Identifier: MIT */
/* Textures that a model's materials name: files beside it, or pieces of it. */
#ifndef TEXTURE_H
#define TEXTURE_H

#include "model.h"

struct aiScene;

/* Textures found so far; names[n] belongs to model->textures[n]. */
struct textures {
	const struct aiScene *scene;
	struct model *model;
	const char *path;			/* of the model's file */
	void (*warn)(const char *text);
	struct texture_name { char text[1024]; } *names;
};

void texture_free(struct model_texture *texture);
/* textures_find(): the number of the texture called @name, read if that is new; -1: none. */
int32_t textures_find(struct textures *t, const char *name);

#endif
