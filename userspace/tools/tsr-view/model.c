// SPDX-License-Identifier: MIT
/* Models through the library assimp, see model.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <assimp/cimport.h>
#include <assimp/config.h>
#include <assimp/material.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>

#include "model.h"
#include "texture.h"

/* Edges flatter than this are rounded where normals are computed. */
#define SMOOTH_DEGREES	50.0f

/* Steps of assimp: triangles in world space, no lines, no points. */
#define STEPS	(aiProcess_Triangulate | aiProcess_SortByPType | aiProcess_PreTransformVertices | \
		 aiProcess_GenSmoothNormals | aiProcess_JoinIdenticalVertices | \
		 aiProcess_FindDegenerates | aiProcess_FlipUVs | aiProcess_ValidateDataStructure)

static int fail(char *error, const char *path, const char *text)
{
	int length = (int)strcspn(text, "\r\n");

	snprintf(error, PICTURE_ERROR, "%s: %.*s", path, length, text);
	return -1;
}

static const struct aiScene *import(const char *path)
{
	struct aiPropertyStore *options = aiCreatePropertyStore();
	const struct aiScene *scene;

	if (!options)
		return NULL;
	aiSetImportPropertyFloat(options, AI_CONFIG_PP_GSN_MAX_SMOOTHING_ANGLE, SMOOTH_DEGREES);
	aiSetImportPropertyInteger(options, AI_CONFIG_PP_SBP_REMOVE,
				   aiPrimitiveType_POINT | aiPrimitiveType_LINE);
	scene = aiImportFileExWithProperties(path, STEPS, NULL, options);
	aiReleasePropertyStore(options);
	return scene;
}

/* ---- Materials ------------------------------------------------------------------------------- */

static float linear(float c)
{
	return c <= 0.04045f ? c / 12.92f : powf((c + 0.055f) / 1.055f, 2.4f);
}

static enum model_wrap wrap(const struct aiMaterial *from, const char *key)
{
	int mode = aiTextureMapMode_Wrap;

	aiGetMaterialIntegerArray(from, key, aiTextureType_DIFFUSE, 0, &mode, NULL);
	if (mode == aiTextureMapMode_Mirror)
		return MODEL_MIRROR;
	return mode == aiTextureMapMode_Wrap ? MODEL_REPEAT : MODEL_CLAMP;
}

/* glTF has a base color without gamma; others a diffuse color as screens show it. */
static void read_color(const struct aiMaterial *from, struct model_material *m)
{
	struct aiString mode = { 0 };
	struct aiColor4D c = { 1, 1, 1, 1 };
	float opacity = 1;

	if (aiGetMaterialColor(from, "$clr.base", 0, 0, &c) != AI_SUCCESS) {
		aiGetMaterialColor(from, AI_MATKEY_COLOR_DIFFUSE, &c);
		c = (struct aiColor4D){ linear(c.r), linear(c.g), linear(c.b), 1 };
	}
	aiGetMaterialFloatArray(from, AI_MATKEY_OPACITY, &opacity, NULL);
	m->blended = opacity < 1;
	if (aiGetMaterialString(from, "$mat.gltf.alphaMode", 0, 0, &mode) == AI_SUCCESS) {
		m->blended = !strcmp(mode.data, "BLEND");
		opacity = c.a;
	}
	memcpy(m->color, (float[4]){ c.r, c.g, c.b, m->blended ? opacity : 1 },
	       sizeof(m->color));
	for (int i = 0; i < 4; i++) {
		if (!(m->color[i] >= 0 && m->color[i] <= 1))
			m->color[i] = 1;
	}
}

static int read_materials(struct model *model, const struct aiScene *scene, const char *path,
			  void (*warn)(const char *text))
{
	struct textures textures = { .scene = scene, .model = model, .path = path, .warn = warn };
	unsigned int i;
	int ret = 0;

	model->materials = calloc(scene->mNumMaterials + 1, sizeof(*model->materials));
	model->textures = calloc(scene->mNumMaterials + 1, sizeof(*model->textures));
	textures.names = calloc(scene->mNumMaterials + 1, sizeof(*textures.names));
	if (!model->materials || !model->textures || !textures.names)
		ret = -1;
	for (i = 0; !ret && i < scene->mNumMaterials; i++) {
		const struct aiMaterial *from = scene->mMaterials[i];
		struct model_material *m = &model->materials[i];
		struct aiString name;

		read_color(from, m);
		m->wrap[0] = wrap(from, "$tex.mapmodeu");
		m->wrap[1] = wrap(from, "$tex.mapmodev");
		m->texture = -1;
		if (aiGetMaterialString(from, AI_MATKEY_TEXTURE_DIFFUSE(0), &name) == AI_SUCCESS)
			m->texture = textures_find(&textures, name.data);
	}
	model->material_count = scene->mNumMaterials;
	free(textures.names);
	return ret;
}

/* ---- Meshes ---------------------------------------------------------------------------------- */

/* True if a mesh is of triangles, with places in memory for what they name. */
static bool drawn(const struct aiMesh *mesh)
{
	return mesh->mPrimitiveTypes == aiPrimitiveType_TRIANGLE && mesh->mVertices &&
	       mesh->mFaces;
}

static void copy_vertices(struct model *model, const struct aiMesh *mesh)
{
	struct model_vertex *v = model->vertices + model->vertex_count;
	unsigned int i;

	for (i = 0; i < mesh->mNumVertices; i++, v++) {
		const struct aiVector3D *p = &mesh->mVertices[i];

		*v = (struct model_vertex){ .position = { p->x, p->y, p->z } };
		if (mesh->mNormals) {
			p = &mesh->mNormals[i];
			memcpy(v->normal, (float[3]){ p->x, p->y, p->z }, sizeof(v->normal));
		}
		if (mesh->mTextureCoords[0]) {
			p = &mesh->mTextureCoords[0][i];
			memcpy(v->uv, (float[2]){ p->x, p->y }, sizeof(v->uv));
		}
	}
}

/* Triangles that name vertices which are there. */
static void copy_faces(struct model *model, const struct aiMesh *mesh)
{
	unsigned int i, k;

	for (i = 0; i < mesh->mNumFaces; i++) {
		const struct aiFace *face = &mesh->mFaces[i];

		if (face->mNumIndices != 3 || face->mIndices[0] >= mesh->mNumVertices ||
		    face->mIndices[1] >= mesh->mNumVertices ||
		    face->mIndices[2] >= mesh->mNumVertices)
			continue;
		for (k = 0; k < 3; k++)
			model->indices[model->index_count++] =
				model->vertex_count + face->mIndices[k];
	}
}

static void copy_meshes(struct model *model, const struct aiScene *scene)
{
	unsigned int i;

	for (i = 0; i < scene->mNumMeshes; i++) {
		const struct aiMesh *mesh = scene->mMeshes[i];
		struct model_part *part = &model->parts[model->part_count];

		if (!drawn(mesh) || mesh->mMaterialIndex >= model->material_count)
			continue;
		*part = (struct model_part){ .first = model->index_count,
					     .material = mesh->mMaterialIndex };
		copy_faces(model, mesh);
		copy_vertices(model, mesh);
		model->vertex_count += mesh->mNumVertices;
		part->count = model->index_count - part->first;
		model->part_count += part->count > 0;
	}
}

/* True if all positions are numbers: files can say anything. */
static bool sound(const struct model *model)
{
	uint32_t i;

	for (i = 0; i < model->vertex_count; i++) {
		const struct model_vertex *v = &model->vertices[i];

		if (!(fabsf(v->position[0]) < 1e18f && fabsf(v->position[1]) < 1e18f &&
		      fabsf(v->position[2]) < 1e18f))
			return false;
	}
	return true;
}

static int read_meshes(struct model *model, const struct aiScene *scene, const char *path,
		       char *error)
{
	uint64_t vertices = 0, faces = 0;
	unsigned int i;

	for (i = 0; i < scene->mNumMeshes; i++) {
		vertices += drawn(scene->mMeshes[i]) ? scene->mMeshes[i]->mNumVertices : 0;
		faces += drawn(scene->mMeshes[i]) ? scene->mMeshes[i]->mNumFaces : 0;
	}
	if (vertices > MODEL_VERTICES_MAX || faces > MODEL_VERTICES_MAX)
		return fail(error, path, "a model of more than 32 million vertices or triangles");
	model->vertices = malloc((vertices + 1) * sizeof(*model->vertices));
	model->indices = malloc((3 * faces + 1) * sizeof(*model->indices));
	model->parts = calloc(scene->mNumMeshes + 1, sizeof(*model->parts));
	if (!model->vertices || !model->indices || !model->parts)
		return fail(error, path, "out of memory");
	copy_meshes(model, scene);
	if (!model->index_count)
		return fail(error, path, "no triangles");
	return sound(model) ? 0 : fail(error, path, "a position is not a number, or beyond 1e18");
}

int model_read(struct model *model, const char *path, void (*warn)(const char *text), char *error)
{
	const struct aiScene *scene = import(path);
	int ret;

	memset(model, 0, sizeof(*model));
	if (!scene)
		return fail(error, path, aiGetErrorString());
	ret = read_materials(model, scene, path, warn);
	ret = ret ? fail(error, path, "out of memory") : read_meshes(model, scene, path, error);
	aiReleaseImport(scene);
	if (ret)
		model_free(model);
	return ret;
}

void model_free(struct model *model)
{
	while (model->texture_count)
		texture_free(&model->textures[--model->texture_count]);
	free(model->vertices);
	free(model->indices);
	free(model->parts);
	free(model->materials);
	free(model->textures);
	memset(model, 0, sizeof(*model));
}
