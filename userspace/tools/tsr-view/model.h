/* SPDX-License-Identifier: MIT */
/*
 * A model as it is drawn: triangles in parts of one material each, textures decoded.
 *
 * In:  any file that the library assimp reads, OBJ and glTF above all, with what they refer to.
 * Out: positions in one space, normals of length 1 (computed where the file has none), texture
 *      coordinates with (0, 0) at a texture's upper left corner, colors without gamma.
 */
#ifndef MODEL_H
#define MODEL_H

#include "../../demos/lib/compressed.h"
#include "../../demos/lib/picture.h"

#define MODEL_VERTICES_MAX	(32u << 20)	/* limit; three times as many indices */

struct model_vertex {
	float position[3], normal[3], uv[2];
};

enum model_wrap {
	MODEL_REPEAT = 0, MODEL_CLAMP, MODEL_MIRROR
};

struct model_material {
	float color[4];		/* of the surface, and what a texture is multiplied with */
	int32_t texture;		/* a number in textures[]; -1: none */
	enum model_wrap wrap[2];	/* along u and v */
	bool blended;			/* what lies behind is seen through it */
};

/* One of the two. */
struct model_texture {
	bool is_compressed;
	struct picture picture;
	struct compressed compressed;
};

struct model_part {
	uint32_t first, count;		/* indices */
	uint32_t material;
};

struct model {
	struct model_vertex *vertices;
	uint32_t *indices;		/* three for each triangle */
	struct model_part *parts;
	struct model_material *materials;
	struct model_texture *textures;
	uint32_t vertex_count, index_count, part_count, material_count, texture_count;
};

/*
 * model_read(): read the file @path. Returns 0, or -1 with a line of text in *error (PICTURE_ERROR
 * bytes). A texture that cannot be read is no error: the material is drawn without it, and @warn is
 * called with a line of text.
 */
int model_read(struct model *model, const char *path, void (*warn)(const char *text), char *error);
void model_free(struct model *model);

#endif
