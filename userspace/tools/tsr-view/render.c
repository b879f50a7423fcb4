// SPDX-License-Identifier: MIT
/*
 * Drawing a model, see render.h: one pass, a draw for each part; parts that are seen through come
 * last and leave the depth alone. Colors are without gamma until the picture is stored.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../demos/lib/matrix.h"
#include "../../demos/lib/upload.h"
#include "mipmap.h"
#include "render.h"
#include <tessera/gfx.h>

#define PATIENCE_NS	(600ull * 1000000000)
#define AMBIENT		0.25f
#define DIFFUSE		0.75f

#define SHADER(name) \
	extern const char _binary_tools_tsr_view_##name##_s_start[], \
		_binary_tools_tsr_view_##name##_s_end[]

SHADER(position);
SHADER(varying);
SHADER(surface);

struct renderer {
	const struct model *model;
	const struct view *view;
	struct tsr_device *device;
	struct tsr_vm *vm;
	struct tsr_pool *code, *data;
	struct tsr_gfx *gfx;
	struct tsr_shader *position, *varying, *surface;
	struct tsr_gfx_pipeline *solid, *blended;
	struct tsr_image *target;
	struct tsr_image **textures;	/* as many as the model's, and a white one */
	struct tsr_gfx_pass *pass;
};

static int open_device(struct renderer *r)
{
	const uint32_t rw = DRM_TESSERA_BIND_READ | DRM_TESSERA_BIND_WRITE;
	const uint32_t rx = DRM_TESSERA_BIND_READ | DRM_TESSERA_BIND_EXEC;
	int ret = tsr_device_open(r->view->device, &r->device);

	if (!ret)
		ret = tsr_vm_create(r->device, &r->vm);
	if (!ret)
		ret = tsr_pool_create(r->vm, 0, 0, rx, &r->code);
	if (!ret)
		ret = tsr_pool_create(r->vm, 0, DRM_TESSERA_BO_CACHED, rw, &r->data);
	return ret ? ret : tsr_gfx_create(r->vm, &r->gfx);
}

static int assemble(struct renderer *r, const char *name, const char *start, const char *end,
		    struct tsr_shader **program)
{
	return tsr_shader_assemble(r->code, start, (size_t)(end - start), name, program);
}

#define ASSEMBLE(r, name) \
	assemble(r, #name ".s", _binary_tools_tsr_view_##name##_s_start, \
		 _binary_tools_tsr_view_##name##_s_end, &(r)->name)

static int make_pipeline(struct renderer *r, bool blended, struct tsr_gfx_pipeline **pipeline)
{
	static const struct tsr_gfx_attribute attributes[] = {
		{ .format = TSR_PIXEL_FORMAT_RGB32F },
		{ .format = TSR_PIXEL_FORMAT_RGB32F,
		  .offset = offsetof(struct model_vertex, normal) },
		{ .format = TSR_PIXEL_FORMAT_RG32F, .offset = offsetof(struct model_vertex, uv) },
	};
	static const struct tsr_gfx_vertex_buffer buffer = {
		.stride = sizeof(struct model_vertex),
	};
	static const struct tsr_gfx_varying varyings[] = {
		{ .format = TSR_PIXEL_FORMAT_RGBA32F, .output = 1, .input = 0 },
		{ .format = TSR_PIXEL_FORMAT_RGBA32F, .output = 2, .input = 1 },
	};
	const struct tsr_gfx_blend blend = {
		.mask = 0xf, .registers = TSR_REGISTER_TYPE_F32, .enable = blended,
		.src_color = TSR_BLEND_FACTOR_SRC_ALPHA,
		.dst_color = TSR_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA,
		.src_alpha = TSR_BLEND_FACTOR_ONE,
		.dst_alpha = TSR_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA,
	};
	const struct tsr_gfx_pipeline_info info = {
		.vertex = r->position, .varying = r->varying, .fragment = r->surface,
		.fragment_flags = TSR_GFX_FRAGMENT_HELPERS,
		.attributes = attributes, .attribute_count = 3, .buffers = &buffer,
		.buffer_count = 1, .varyings = varyings, .varying_count = 2,
		.topology = TSR_TOPOLOGY_TRIANGLES,
		.depth = { .test = true, .write = !blended,
			   .function = TSR_COMPARE_FUNCTION_LESS },
		.blends = &blend, .blend_count = 1, .label = blended ? "blended" : "solid",
	};

	return tsr_gfx_pipeline_create(&info, sizeof(info), pipeline);
}

static int make_pipelines(struct renderer *r)
{
	int ret = ASSEMBLE(r, position);

	if (!ret)
		ret = ASSEMBLE(r, varying);
	if (!ret)
		ret = ASSEMBLE(r, surface);
	if (!ret)
		ret = make_pipeline(r, false, &r->solid);
	return ret ? ret : make_pipeline(r, true, &r->blended);
}

/* ---- Textures -------------------------------------------------------------------------------- */

static int make_texture(struct renderer *r, const struct picture *picture,
			struct tsr_image **image)
{
	struct tsr_image_info info = {
		.format = TSR_PIXEL_FORMAT_RGBA8_UNORM, .srgb = true, .layout = TSR_LAYOUT_TILED,
		.width = picture->width, .height = picture->height,
	};
	struct picture level = *picture;
	int ret;

	info.levels = mipmap_levels(picture);
	ret = tsr_image_create(r->vm, &info, sizeof(info), image);
	for (uint32_t n = 0; !ret && n < info.levels; n++) {
		ret = tsr_image_write(*image, n, 0, level.texels, level.pitch);
		if (!ret && n + 1 < info.levels)
			ret = mipmap_next(&level, level.texels != picture->texels);
	}
	if (level.texels != picture->texels)
		picture_free(&level);
	return ret;
}

static int make_textures(struct renderer *r)
{
	uint8_t texel[4] = { 255, 255, 255, 255 };
	const struct picture white = { 1, 1, 4, 4, texel };
	const uint32_t count = r->model->texture_count;
	int ret = 0;

	r->textures = calloc(count + 1, sizeof(struct tsr_image *));
	if (!r->textures)
		return -ENOMEM;
	for (uint32_t i = 0; !ret && i < count; i++) {
		const struct model_texture *t = &r->model->textures[i];

		/* with the levels that the file has */
		ret = t->is_compressed ? upload_compressed(r->vm, &t->compressed,
							   t->compressed.levels, true,
							   &r->textures[i])
				       : make_texture(r, &t->picture, &r->textures[i]);
	}
	return ret ? ret : make_texture(r, &white, &r->textures[count]);
}

static int bind_material(struct renderer *r, const struct model_material *m)
{
	static const enum tsr_wrap_mode wraps[] = {
		[MODEL_REPEAT] = TSR_WRAP_MODE_REPEAT,
		[MODEL_CLAMP] = TSR_WRAP_MODE_CLAMP_TO_EDGE,
		[MODEL_MIRROR] = TSR_WRAP_MODE_MIRRORED_REPEAT,
	};
	const struct tsr_view texture = {
		.image = r->textures[m->texture < 0 ? r->model->texture_count :
						      (uint32_t)m->texture],
	};
	struct tsr_sampler_state sampler;
	struct tsr_image_info info;
	const struct tsr_gfx_bindings_info bindings = {
		.textures = &texture, .texture_count = 1, .samplers = &sampler, .sampler_count = 1,
	};
	int ret;

	tsr_sampler_init(&sampler, TSR_WRAP_MODE_REPEAT, true);
	sampler.wrap_s = wraps[m->wrap[0]];
	sampler.wrap_t = wraps[m->wrap[1]];
	sampler.mipmap = TSR_MIPMAP_MODE_LINEAR;
	tsr_image_get_info(texture.image, &info, sizeof(info));
	sampler.max_lod = (info.levels - 1) << 8;
	ret = tsr_gfx_set_bindings(r->pass, TSR_GFX_STAGE_FRAGMENT, &bindings, sizeof(bindings));
	return ret ? ret : tsr_gfx_set_push(r->pass, TSR_GFX_STAGE_FRAGMENT, 6, 4, m->color);
}

/* ---- Geometry -------------------------------------------------------------------------------- */

/* The model, moved and scaled into the unit ball; turned; seen from in front, from above. */
static void place(const struct renderer *r, struct matrix *clip, float lamp[3])
{
	const struct model *m = r->model;
	float low[3], high[3], middle[3], radius = 0;
	const float turn = r->view->turn * (float)M_PI / 180;
	const float tilt = r->view->tilt * (float)M_PI / 180;
	const float eye[3] = { 0, r->view->distance * sinf(tilt),
			       r->view->distance * cosf(tilt) };
	const struct matrix back = matrix_turn(-turn, 1);
	float light[3] = { 0.4f, 0.6f, 0.7f }, at[4];

	memcpy(low, m->vertices[m->indices[0]].position, sizeof(low));
	memcpy(high, low, sizeof(high));
	for (uint32_t i = 0; i < m->index_count; i++) {
		for (int c = 0; c < 3; c++) {
			low[c] = fminf(low[c], m->vertices[m->indices[i]].position[c]);
			high[c] = fmaxf(high[c], m->vertices[m->indices[i]].position[c]);
		}
	}
	for (int c = 0; c < 3; c++) {
		middle[c] = low[c] + (high[c] - low[c]) / 2;
		radius = hypotf(radius, (high[c] - low[c]) / 2);
	}
	radius = radius > 0 ? radius : 1;
	*clip = matrix_multiply(matrix_turn(turn, 1),
				matrix_multiply(matrix_scale(1 / radius, 1 / radius, 1 / radius),
						matrix_move(-middle[0], -middle[1], -middle[2])));
	*clip = matrix_multiply(matrix_camera(eye, (float[3]){ 0 },
					      (float)r->view->width / (float)r->view->height),
				*clip);
	/* the lamp stays where it is while the model turns: normals are the model's */
	vector_normalise(light);
	matrix_apply(&back, light, at);
	memcpy(lamp, at, 3 * sizeof(*lamp));
}

/* Vertices and indices, for the GPU to read. */
static int upload(struct renderer *r)
{
	const struct model *m = r->model;
	const uint64_t vertices = m->vertex_count * sizeof(*m->vertices);
	const uint64_t indices = m->index_count * sizeof(*m->indices);
	struct tsr_alloc vertex, index;
	int ret = tsr_pool_alloc(r->data, vertices, 64, &vertex);

	if (!ret)
		ret = tsr_pool_alloc(r->data, indices, 64, &index);
	if (ret)
		return ret;
	memcpy(vertex.cpu, m->vertices, vertices);
	memcpy(index.cpu, m->indices, indices);
	ret = tsr_gfx_set_vertices(r->pass, 0, vertex.va, vertices);
	return ret ? ret : tsr_gfx_set_indices(r->pass, TSR_INDEX_TYPE_U32, index.va, indices);
}

/* ---- The picture ----------------------------------------------------------------------------- */

static int make_pass(struct renderer *r)
{
	const struct view *v = r->view;
	const struct tsr_image_info image = {
		.format = TSR_PIXEL_FORMAT_RGBA8_UNORM, .srgb = true,
		.width = v->width, .height = v->height,
	};
	struct tsr_gfx_pass_info info = {
		.samples = v->samples,
		.color[0] = { .load = TSR_GFX_LOAD_CLEAR },
		.depth = { .format = TSR_PIXEL_FORMAT_R32F, .load = TSR_GFX_LOAD_CLEAR,
			   .clear.f[0] = 1 },
	};
	const struct tsr_gfx_viewport up = { 0, (float)v->height, (float)v->width,
					     -(float)v->height, 0, 1 };
	int ret = tsr_image_create(r->vm, &image, sizeof(image), &r->target);

	if (ret)
		return ret;
	info.color[0].image = r->target;
	memcpy(info.color[0].clear.f, v->background, sizeof(v->background));
	ret = tsr_gfx_pass_create(r->gfx, &info, sizeof(info), &r->pass);
	return ret ? ret : tsr_gfx_set_viewport(r->pass, 0, &up);
}

static int draw_parts(struct renderer *r, bool blended)
{
	const struct model *m = r->model;
	int ret = tsr_gfx_set_pipeline(r->pass, blended ? r->blended : r->solid);

	for (uint32_t i = 0; !ret && i < m->part_count; i++) {
		const struct model_part *part = &m->parts[i];
		const struct tsr_gfx_draw draw = { .first = part->first, .count = part->count };

		if (m->materials[part->material].blended != blended)
			continue;
		ret = bind_material(r, &m->materials[part->material]);
		if (!ret)
			ret = tsr_gfx_draw_indexed(r->pass, &draw);
	}
	return ret;
}

static int draw(struct renderer *r)
{
	float light[6] = { [4] = AMBIENT, [5] = DIFFUSE };
	struct matrix clip;
	int ret = upload(r);

	place(r, &clip, light);
	if (!ret)
		ret = tsr_gfx_set_push(r->pass, TSR_GFX_STAGE_VERTEX, 0, 16, clip.m);
	if (!ret)
		ret = tsr_gfx_set_push(r->pass, TSR_GFX_STAGE_FRAGMENT, 0, 6, light);
	if (!ret)
		ret = draw_parts(r, false);
	if (!ret)
		ret = draw_parts(r, true);
	return ret ? ret : tsr_gfx_run(r->pass, tsr_deadline(PATIENCE_NS));
}

static int keep(struct renderer *r, struct picture *picture)
{
	*picture = (struct picture){ r->view->width, r->view->height, 4,
				     4 * (size_t)r->view->width, NULL };
	picture->texels = malloc(picture->pitch * picture->height);
	if (!picture->texels)
		return -ENOMEM;
	return tsr_image_read(r->target, 0, 0, picture->texels, picture->pitch);
}

static void close_all(struct renderer *r)
{
	tsr_gfx_pass_destroy(r->pass);
	for (uint32_t i = 0; r->textures && i <= r->model->texture_count; i++)
		tsr_image_unref(r->textures[i]);
	free(r->textures);
	tsr_image_unref(r->target);
	tsr_gfx_pipeline_unref(r->solid);
	tsr_gfx_pipeline_unref(r->blended);
	tsr_shader_unref(r->position);
	tsr_shader_unref(r->varying);
	tsr_shader_unref(r->surface);
	tsr_gfx_unref(r->gfx);
	tsr_pool_unref(r->data);
	tsr_pool_unref(r->code);
	tsr_vm_unref(r->vm);
	tsr_device_unref(r->device);
}

int render(const struct model *model, const struct view *view, struct picture *picture,
	   char *error)
{
	struct renderer r = { .model = model, .view = view };
	int ret = open_device(&r);

	if (!ret)
		ret = make_pipelines(&r);
	if (!ret)
		ret = make_textures(&r);
	if (!ret)
		ret = make_pass(&r);
	if (!ret)
		ret = draw(&r);
	if (!ret)
		ret = keep(&r, picture);
	if (ret)
		snprintf(error, PICTURE_ERROR, "%s",
			 ret == -ENOMEM ? "out of memory" : tsr_error_message());
	close_all(&r);
	return ret ? -1 : 0;
}
