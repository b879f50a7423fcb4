/* SPDX-License-Identifier: MIT */
/* Textures, samplers, storage images and texel buffers of shaders; the CPU computes the same. */
#include <math.h>

#include "rnd.h"
#include "vk.h"

#include "storage.h"
#include "texture.h"

#define THREADS		64
#define SIDE		13	/* of the pictures */
#define HEIGHT		11
#define DEPTH		5	/* of the volume */
#define FACE		7	/* side of the cube's faces */
#define LAYERS		4
#define LINE		10
#define SETS		3
#define ALL		VK_SHADER_STAGE_COMPUTE_BIT

static struct vk vk;
static VkDescriptorPool pool;

/* ---- Pipelines ------------------------------------------------------------------------------- */

struct job {
	VkDescriptorSetLayout layouts[SETS];
	VkDescriptorSet sets[SETS];
	VkPipelineLayout layout;
	VkPipeline pipeline;
};

static void make_set(struct job *job, uint32_t set, const VkDescriptorSetLayoutBinding *bindings,
		     uint32_t count)
{
	const VkDescriptorSetLayoutCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
		.bindingCount = count,
		.pBindings = bindings,
	};
	const VkDescriptorSetAllocateInfo alloc = {
		.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
		.descriptorPool = pool,
		.descriptorSetCount = 1,
		.pSetLayouts = &job->layouts[set],
	};

	VK(vkCreateDescriptorSetLayout(vk.device, &info, NULL, &job->layouts[set]));
	VK(vkAllocateDescriptorSets(vk.device, &alloc, &job->sets[set]));
}

static void make_pipeline(struct job *job, uint32_t sets, const uint32_t *code, size_t size)
{
	const VkShaderModuleCreateInfo module_info = {
		.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
		.codeSize = size,
		.pCode = code,
	};
	const VkPipelineLayoutCreateInfo layout = {
		.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
		.setLayoutCount = sets,
		.pSetLayouts = job->layouts,
	};
	VkComputePipelineCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
		.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
		.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT,
		.stage.pName = "main",
	};

	VK(vkCreateShaderModule(vk.device, &module_info, NULL, &info.stage.module));
	VK(vkCreatePipelineLayout(vk.device, &layout, NULL, &job->layout));
	info.layout = job->layout;
	VK(vkCreateComputePipelines(vk.device, VK_NULL_HANDLE, 1, &info, NULL, &job->pipeline));
	vkDestroyShaderModule(vk.device, info.stage.module, NULL);
}

static void run(const struct job *job, uint32_t sets, uint32_t x, uint32_t y)
{
	VkCommandBuffer cmd = vk_begin(&vk, 0);

	vkCmdBindPipeline(cmd, VK_PIPELINE_BIND_POINT_COMPUTE, job->pipeline);
	vkCmdBindDescriptorSets(cmd, VK_PIPELINE_BIND_POINT_COMPUTE, job->layout, 0, sets,
				job->sets, 0, NULL);
	vkCmdDispatch(cmd, x, y, 1);
	vk_end(&vk, 0, cmd);
}

static void destroy(struct job *job, uint32_t sets)
{
	uint32_t i;

	vkDestroyPipeline(vk.device, job->pipeline, NULL);
	vkDestroyPipelineLayout(vk.device, job->layout, NULL);
	for (i = 0; i < sets; i++)
		vkDestroyDescriptorSetLayout(vk.device, job->layouts[i], NULL);
	VK(vkResetDescriptorPool(vk.device, pool, 0));
}

static void put_image(const struct job *job, uint32_t set, uint32_t binding, uint32_t element,
		      VkDescriptorType type, VkImageView view, VkSampler sampler)
{
	const VkDescriptorImageInfo image = { sampler, view, VK_IMAGE_LAYOUT_GENERAL };
	const VkWriteDescriptorSet write = {
		.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
		.dstSet = job->sets[set],
		.dstBinding = binding,
		.dstArrayElement = element,
		.descriptorCount = 1,
		.descriptorType = type,
		.pImageInfo = &image,
	};

	vkUpdateDescriptorSets(vk.device, 1, &write, 0, NULL);
}

static void put_buffer(const struct job *job, uint32_t set, uint32_t binding,
		       VkDescriptorType type, const struct vk_buf *b, VkBufferView view)
{
	const VkDescriptorBufferInfo buffer = { b->buffer, 0, VK_WHOLE_SIZE };
	const VkWriteDescriptorSet write = {
		.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
		.dstSet = job->sets[set],
		.dstBinding = binding,
		.descriptorCount = 1,
		.descriptorType = type,
		.pBufferInfo = &buffer,
		.pTexelBufferView = &view,
	};

	vkUpdateDescriptorSets(vk.device, 1, &write, 0, NULL);
}

/* ---- Images ---------------------------------------------------------------------------------- */

/* Bytes of all levels, packed level by level, each with its layers or slices. */
struct picture {
	struct vk_img img;
	uint32_t bytes;			/* of a texel */
	uint8_t *level[2];
};

static uint32_t texels(uint32_t side, uint32_t level)
{
	return side >> level ? side >> level : 1;
}

/* Uploads of depth want a queue for graphics. */
static bool has_graphics(void)
{
	return vk.flags[0] & VK_QUEUE_GRAPHICS_BIT;
}

static struct picture make_picture(VkImageType type, VkFormat format, uint32_t bytes,
				   VkExtent3D extent, uint32_t levels, uint32_t layers,
				   VkImageUsageFlags usage, VkImageCreateFlags flags)
{
	struct picture p = { .bytes = bytes };
	struct vk_buf b = vk_buf_create(&vk, 1 << 16, 0);
	uint32_t l, i, size;

	p.img = vk_img_create(&vk, type, format, extent, levels, layers,
			      usage | VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
				      VK_IMAGE_USAGE_TRANSFER_DST_BIT, flags,
			      VK_SAMPLE_COUNT_1_BIT);
	for (l = 0; l < levels; l++) {
		VkBufferImageCopy region = {
			.imageSubresource = vk_layers(&p.img, l, 0, layers),
			.imageExtent = { texels(extent.width, l), texels(extent.height, l),
					 texels(extent.depth, l) },
		};
		VkCommandBuffer cmd = vk_begin(&vk, 0);

		size = region.imageExtent.width * region.imageExtent.height *
		       region.imageExtent.depth * layers * bytes;
		p.level[l] = malloc(size);
		for (i = 0; i < size; i++)
			p.level[l][i] = (uint8_t)rnd();
		for (i = 0; format == VK_FORMAT_D32_SFLOAT && i < size / 4; i++)
			((float *)p.level[l])[i] = (float)rnd_below(1000) / 1000.0f;
		memcpy(b.map, p.level[l], size);
		if (format != VK_FORMAT_D32_SFLOAT || has_graphics())
			vkCmdCopyBufferToImage(cmd, b.buffer, p.img.image, VK_IMAGE_LAYOUT_GENERAL,
					       1, &region);
		vk_order(cmd);
		vk_end(&vk, 0, cmd);
	}
	vk_buf_destroy(&vk, &b);
	return p;
}

static void drop(struct picture *p)
{
	free(p->level[0]);
	free(p->level[1]);
	vk_img_destroy(&vk, &p->img);
}

static void read_back(const struct picture *p, uint32_t layers, void *out, size_t size)
{
	struct vk_buf b = vk_buf_create(&vk, 1 << 16, 0);
	const VkBufferImageCopy region = { .imageSubresource = vk_layers(&p->img, 0, 0, layers),
					   .imageExtent = p->img.extent };
	VkCommandBuffer cmd = vk_begin(&vk, 0);

	vkCmdCopyImageToBuffer(cmd, p->img.image, VK_IMAGE_LAYOUT_GENERAL, b.buffer, 1, &region);
	vk_end(&vk, 0, cmd);
	memcpy(out, b.map, size);
	vk_buf_destroy(&vk, &b);
}

/* ---- The CPU's textures ---------------------------------------------------------------------- */

struct vec {
	float v[4];
};

/* Texel of a level with four bytes for each, or outside: the border. */
static struct vec texel(const struct picture *p, uint32_t level, int x, int y, uint32_t plane,
			float border)
{
	const int w = (int)texels(p->img.extent.width, level),
		  h = (int)texels(p->img.extent.height, level);
	struct vec out = { { border, border, border, border } };
	uint32_t c;

	if (x < 0 || y < 0 || x >= w || y >= h)
		return out;
	for (c = 0; c < 4; c++)
		out.v[c] = p->level[level][((plane * h + y) * w + x) * 4 + c] / 255.0f;
	return out;
}

enum wrap { REPEAT, CLAMP, BORDER, MIRROR };

static int wrapped(int i, int side, enum wrap wrap)
{
	const int r = ((i % (2 * side)) + 2 * side) % (2 * side);

	switch (wrap) {
	case REPEAT:
		return ((i % side) + side) % side;
	case CLAMP:
		return i < 0 ? 0 : i >= side ? side - 1 : i;
	case MIRROR:
		return r < side ? r : 2 * side - 1 - r;
	default:
		return i;
	}
}

static struct vec nearest(const struct picture *p, uint32_t level, float u, float v, uint32_t plane,
			  enum wrap wrap, float border)
{
	const int w = (int)texels(p->img.extent.width, level),
		  h = (int)texels(p->img.extent.height, level);

	return texel(p, level, wrapped((int)floorf(u * (float)w), w, wrap),
		     wrapped((int)floorf(v * (float)h), h, wrap), plane, border);
}

/* The four texels of a linear filter: (0, 0), (1, 0), (0, 1), (1, 1); the weights to @a. */
static void corners(const struct picture *p, float u, float v, enum wrap wrap, float border,
		    struct vec out[4], float a[2])
{
	const int w = (int)p->img.extent.width, h = (int)p->img.extent.height;
	const float x = u * (float)w - 0.5f, y = v * (float)h - 0.5f;
	int i;

	a[0] = x - floorf(x);
	a[1] = y - floorf(y);
	for (i = 0; i < 4; i++)
		out[i] = texel(p, 0, wrapped((int)floorf(x) + (i & 1), w, wrap),
			       wrapped((int)floorf(y) + i / 2, h, wrap), 0, border);
}

static struct vec linear(const struct picture *p, float u, float v, enum wrap wrap, float border)
{
	struct vec t[4], out;
	float a[2];
	int c;

	corners(p, u, v, wrap, border, t, a);
	for (c = 0; c < 4; c++) {
		const float top = t[0].v[c] + (t[1].v[c] - t[0].v[c]) * a[0];
		const float low = t[2].v[c] + (t[3].v[c] - t[2].v[c]) * a[0];

		out.v[c] = top + (low - top) * a[1];
	}
	return out;
}

/* Vulkan's table of faces. */
static struct vec cube(const struct picture *p, const float d[3])
{
	const float x = fabsf(d[0]), y = fabsf(d[1]), z = fabsf(d[2]);
	float s, t, m;
	uint32_t face;

	if (x > y && x > z) {
		face = d[0] < 0;
		s = d[0] < 0 ? d[2] : -d[2];
		t = -d[1];
		m = x;
	} else if (y > z) {
		face = 2 + (d[1] < 0);
		s = d[0];
		t = d[1] < 0 ? -d[2] : d[2];
		m = y;
	} else {
		face = 4 + (d[2] < 0);
		s = d[2] < 0 ? -d[0] : d[0];
		t = -d[1];
		m = z;
	}
	return nearest(p, 0, (s / m + 1) / 2, (t / m + 1) / 2, face, CLAMP, 0);
}

static void compare(uint32_t i, const char *what, const float *got, struct vec want, float most)
{
	unsigned c;

	for (c = 0; c < 4; c++) {
		if (!(fabsf(got[c] - want.v[c]) <= most))
			ktap_fail("thread %u, %s: component %u is %f, not %f", i, what, c,
				  (double)got[c], (double)want.v[c]);
	}
}

/* ---- Textures -------------------------------------------------------------------------------- */

static VkSampler make_sampler(VkFilter filter, VkSamplerAddressMode mode, VkBorderColor border,
			      bool compare_depth)
{
	const VkSamplerCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO,
		.magFilter = filter,
		.minFilter = filter,
		.addressModeU = mode,
		.addressModeV = mode,
		.addressModeW = mode,
		.compareEnable = compare_depth,
		.compareOp = VK_COMPARE_OP_LESS,
		.maxLod = VK_LOD_CLAMP_NONE,
		.borderColor = border,
	};
	VkSampler sampler;

	VK(vkCreateSampler(vk.device, &info, NULL, &sampler));
	return sampler;
}

struct scene {
	struct picture pictures[3], layers, volume, cube, shadow, lines;
	VkImageView views[8];
	VkSampler samplers[7];
	struct vk_buf out;
};

static void make_scene(struct scene *s)
{
	const VkFormat f = VK_FORMAT_R8G8B8A8_UNORM;
	const VkImageType d2 = VK_IMAGE_TYPE_2D;
	const VkExtent3D extent = { SIDE, HEIGHT, 1 };
	const VkImageUsageFlags use = VK_IMAGE_USAGE_SAMPLED_BIT;
	unsigned i;

	for (i = 0; i < 3; i++) {
		s->pictures[i] = make_picture(d2, f, 4, extent, 1, 1, use, 0);
		s->views[i] = vk_view(&vk, &s->pictures[i].img, VK_IMAGE_VIEW_TYPE_2D, f, NULL);
	}
	s->layers = make_picture(d2, f, 4, (VkExtent3D){ 40, 24, 1 }, 2, LAYERS, use, 0);
	s->views[3] = vk_view(&vk, &s->layers.img, VK_IMAGE_VIEW_TYPE_2D_ARRAY, f, NULL);
	s->volume = make_picture(VK_IMAGE_TYPE_3D, f, 4, (VkExtent3D){ SIDE, HEIGHT, DEPTH }, 1, 1,
				 use, 0);
	s->views[4] = vk_view(&vk, &s->volume.img, VK_IMAGE_VIEW_TYPE_3D, f, NULL);
	s->cube = make_picture(d2, f, 4, (VkExtent3D){ FACE, FACE, 1 }, 1, 6, use,
			       VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT);
	s->views[5] = vk_view(&vk, &s->cube.img, VK_IMAGE_VIEW_TYPE_CUBE, f, NULL);
	s->shadow = make_picture(d2, VK_FORMAT_D32_SFLOAT, 4, extent, 1, 1, use, 0);
	s->views[6] = vk_view(&vk, &s->shadow.img, VK_IMAGE_VIEW_TYPE_2D, VK_FORMAT_D32_SFLOAT,
			      NULL);
	s->lines = make_picture(VK_IMAGE_TYPE_1D, f, 4, (VkExtent3D){ LINE, 1, 1 }, 1, LAYERS, use,
				0);
	s->views[7] = vk_view(&vk, &s->lines.img, VK_IMAGE_VIEW_TYPE_1D_ARRAY, f, NULL);
	s->out = vk_buf_create(&vk, THREADS * 8 * 16, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
}

static void make_samplers(struct scene *s)
{
	const VkFilter near = VK_FILTER_NEAREST, lin = VK_FILTER_LINEAR;
	const VkSamplerAddressMode repeat = VK_SAMPLER_ADDRESS_MODE_REPEAT,
				   clamp = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
				   border = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER,
				   mirror = VK_SAMPLER_ADDRESS_MODE_MIRRORED_REPEAT;
	const VkBorderColor none = VK_BORDER_COLOR_FLOAT_TRANSPARENT_BLACK,
			    white = VK_BORDER_COLOR_FLOAT_OPAQUE_WHITE;

	s->samplers[0] = make_sampler(near, repeat, none, false);
	s->samplers[1] = make_sampler(lin, clamp, none, false);
	s->samplers[2] = make_sampler(lin, border, white, false);
	s->samplers[3] = make_sampler(near, border, none, false);
	s->samplers[4] = make_sampler(near, mirror, none, false);
	s->samplers[5] = make_sampler(near, repeat, none, true);
	s->samplers[6] = make_sampler(near, clamp, none, false);
}

static void make_texture_job(struct job *job, const struct scene *s)
{
	const VkDescriptorType both = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
			       one = VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE;
	/* the sampler of binding 0 in set 1, and that of the shadow, are immutable */
	const VkDescriptorSetLayoutBinding first[] = {
		{ 0, both, 3, ALL, NULL }, { 1, one, 1, ALL, NULL }, { 3, both, 1, ALL, NULL },
		{ 4, both, 1, ALL, NULL }, { 5, both, 1, ALL, &s->samplers[5] },
	};
	const VkDescriptorSetLayoutBinding second[] = {
		{ 0, VK_DESCRIPTOR_TYPE_SAMPLER, 1, ALL, &s->samplers[3] },
		{ 1, both, 1, ALL, NULL },
	};
	const VkDescriptorSetLayoutBinding third[] = {
		{ 0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, ALL, NULL },
	};
	unsigned i;

	make_set(job, 0, first, 5);
	make_set(job, 1, second, 2);
	make_set(job, 2, third, 1);
	make_pipeline(job, 3, texture, sizeof(texture));
	for (i = 0; i < 3; i++)
		put_image(job, 0, 0, i, both, s->views[i], s->samplers[i]);
	put_image(job, 0, 1, 0, one, s->views[3], VK_NULL_HANDLE);
	put_image(job, 0, 3, 0, both, s->views[4], s->samplers[4]);
	put_image(job, 0, 4, 0, both, s->views[5], s->samplers[6]);
	put_image(job, 0, 5, 0, both, s->views[6], VK_NULL_HANDLE);
	put_image(job, 1, 1, 0, both, s->views[7], s->samplers[6]);
	put_buffer(job, 2, 0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, &s->out, VK_NULL_HANDLE);
}

static void check_fetches(const struct scene *s, uint32_t i, float u, float v, const float *got)
{
	const struct picture *p = &s->pictures[i % 3];
	struct vec want = texel(p, 0, (int)(i % 9), (int)(i / 9), 0, 0), t[4];
	const uint32_t layer = i % 5 < LAYERS ? i % 5 : LAYERS - 1;
	float a[2];
	int c;

	compare(i, "fetch", got, want, 1e-6f);
	want = i % 3 == 0 ? nearest(p, 0, u, v, 0, REPEAT, 0)
	       : i % 3 == 1 ? linear(p, u, v, CLAMP, 0) : linear(p, u, v, BORDER, 1);
	compare(i, "filter", got + 4, want, i % 3 ? 0.006f : 1e-6f);
	compare(i, "layers", got + 8, nearest(&s->layers, 1, u, v, layer, BORDER, 0), 1e-6f);
	corners(&s->pictures[1], u, v, CLAMP, 0, t, a);
	/* from the lower left, counterclockwise: (0, 1), (1, 1), (1, 0), (0, 0) */
	want = (struct vec){ { t[2].v[2], t[3].v[2], t[1].v[2], t[0].v[2] } };
	compare(i, "gather", got + 24, want, 1e-6f);
	for (c = 0; c < 4; c++)
		want.v[c] = (float[]){ SIDE, HEIGHT, LAYERS * 100 + 2, DEPTH * 10000 + 20 }[c];
	compare(i, "sizes", got + 28, want, 0);
}

static void check_shapes(const struct scene *s, uint32_t i, float u, float v, const float *got)
{
	const float z = i & 1 ? 3 : -3;
	const float dirs[3][3] = { { u, v, z }, { z, u, v }, { v, z, u } };
	const int slice = wrapped((int)floorf(u * DEPTH), DEPTH, MIRROR),
		  x = wrapped((int)floorf(u * SIDE), SIDE, REPEAT),
		  y = wrapped((int)floorf(v * HEIGHT), HEIGHT, REPEAT);
	const float depth = ((const float *)s->shadow.level[0])[y * SIDE + x];
	struct vec line = nearest(&s->lines, 0, u, 0, i % 4, CLAMP, 0), want;

	compare(i, "volume", got + 12, nearest(&s->volume, 0, u, v, (uint32_t)slice, MIRROR, 0),
		1e-6f);
	compare(i, "cube", got + 16, cube(&s->cube, dirs[i % 3]), 1e-6f);
	want = (struct vec){ { has_graphics() ? (float)i / 64 < depth : got[20], line.v[0],
			       line.v[1], line.v[2] } };
	compare(i, "shadow and line", got + 20, want, 1e-6f);
}

static void textures(void)
{
	struct scene s;
	struct job job;
	uint32_t i;

	make_scene(&s);
	make_samplers(&s);
	make_texture_job(&job, &s);
	memset(s.out.map, 0xff, THREADS * 8 * 16);
	run(&job, 3, 1, 1);
	for (i = 0; i < THREADS; i++) {
		const float u = ((float)(i * 7 % 64) + 0.5f) / 24.0f - 0.8f;
		const float v = ((float)(i * 11 % 64) + 0.5f) / 24.0f - 0.8f;
		const float *got = (const float *)s.out.map + 32 * i;

		check_fetches(&s, i, u, v, got);
		check_shapes(&s, i, u, v, got);
	}
	destroy(&job, 3);
	for (i = 0; i < 8; i++)
		vkDestroyImageView(vk.device, s.views[i], NULL);
	for (i = 0; i < 7; i++)
		vkDestroySampler(vk.device, s.samplers[i], NULL);
	for (i = 0; i < 3; i++)
		drop(&s.pictures[i]);
	drop(&s.layers);
	drop(&s.volume);
	drop(&s.cube);
	drop(&s.shadow);
	drop(&s.lines);
	vk_buf_destroy(&vk, &s.out);
}

/* ---- Storage images -------------------------------------------------------------------------- */

#define WIDE	24	/* threads along x and y; some have no texel */

struct stores {
	struct picture picture, counts, volume, any[2];
	struct vk_buf words, sums, out;
	VkImageView views[5];
	VkBufferView texels[2];
};

static void make_stores(struct stores *s)
{
	const VkImageUsageFlags use = VK_IMAGE_USAGE_STORAGE_BIT;
	const VkFormat f8 = VK_FORMAT_R8G8B8A8_UNORM, u32 = VK_FORMAT_R32_UINT,
		       f16 = VK_FORMAT_R16G16B16A16_SFLOAT;
	VkBufferViewCreateInfo info = { .sType = VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO,
					.format = u32 };
	unsigned i;

	s->picture = make_picture(VK_IMAGE_TYPE_2D, f8, 4, (VkExtent3D){ 21, 19, 1 }, 1, 1, use, 0);
	s->counts = make_picture(VK_IMAGE_TYPE_2D, u32, 4, (VkExtent3D){ 5, 6, 1 }, 1, 2, use, 0);
	s->volume = make_picture(VK_IMAGE_TYPE_3D, f16, 8, (VkExtent3D){ 12, 9, 4 }, 1, 1, use, 0);
	for (i = 0; i < 2; i++) {
		s->any[i] = make_picture(VK_IMAGE_TYPE_2D, f8, 4, (VkExtent3D){ 24, 24, 1 }, 1, 1,
					 use, 0);
		s->views[3 + i] = vk_view(&vk, &s->any[i].img, VK_IMAGE_VIEW_TYPE_2D, f8, NULL);
	}
	s->views[0] = vk_view(&vk, &s->picture.img, VK_IMAGE_VIEW_TYPE_2D, f8, NULL);
	s->views[1] = vk_view(&vk, &s->counts.img, VK_IMAGE_VIEW_TYPE_2D_ARRAY, u32, NULL);
	s->views[2] = vk_view(&vk, &s->volume.img, VK_IMAGE_VIEW_TYPE_3D, f16, NULL);
	s->words = vk_buf_create(&vk, 4096, VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT);
	s->sums = vk_buf_create(&vk, 4096, VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT);
	s->out = vk_buf_create(&vk, 256, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
	info.buffer = s->words.buffer;
	info.offset = 64;
	info.range = 1200;
	VK(vkCreateBufferView(vk.device, &info, NULL, &s->texels[0]));
	info.buffer = s->sums.buffer;
	info.offset = 128;
	info.range = 24;		/* six words: two sums have no place */
	VK(vkCreateBufferView(vk.device, &info, NULL, &s->texels[1]));
}

static void make_store_job(struct job *job, const struct stores *s)
{
	const VkDescriptorType image = VK_DESCRIPTOR_TYPE_STORAGE_IMAGE;
	const VkDescriptorSetLayoutBinding first[] = {
		{ 0, image, 1, ALL, NULL }, { 1, image, 1, ALL, NULL }, { 2, image, 1, ALL, NULL },
		{ 3, image, 2, ALL, NULL },
	};
	const VkDescriptorSetLayoutBinding second[] = {
		{ 0, VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER, 1, ALL, NULL },
		{ 1, VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER, 1, ALL, NULL },
		{ 2, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, ALL, NULL },
	};
	unsigned i;

	make_set(job, 0, first, 4);
	make_set(job, 1, second, 3);
	make_pipeline(job, 2, storage, sizeof(storage));
	for (i = 0; i < 5; i++)
		put_image(job, 0, i < 3 ? i : 3, i < 3 ? 0 : i - 3, image, s->views[i],
			  VK_NULL_HANDLE);
	put_buffer(job, 1, 0, second[0].descriptorType, &s->words, s->texels[0]);
	put_buffer(job, 1, 1, second[1].descriptorType, &s->sums, s->texels[1]);
	put_buffer(job, 1, 2, second[2].descriptorType, &s->out, VK_NULL_HANDLE);
}

static void check_pictures(const struct stores *s)
{
	uint8_t got[24 * 24 * 4], want[24 * 24 * 4];
	uint32_t x, y, i;

	read_back(&s->picture, 1, got, 21 * 19 * 4);
	for (y = 0; y < 19; y++)
		for (x = 0; x < 21; x++) {
			const uint8_t *old = s->picture.level[0] + 4 * (y * 21 + x);
			const uint8_t texel[4] = { old[1], old[0], (uint8_t)x, (uint8_t)y };

			memcpy(want + 4 * (y * 21 + x), texel, 4);
		}
	ktap_mem_eq(got, want, 21 * 19 * 4);
	for (i = 0; i < 2; i++) {
		read_back(&s->any[i], 1, got, 24 * 24 * 4);
		memcpy(want, s->any[i].level[0], 24 * 24 * 4);
		for (y = 0; y < WIDE; y++)
			for (x = i; x < WIDE; x += 2) {
				const uint8_t texel[4] = { 255, (uint8_t)y, 0, 255 };

				memcpy(want + 4 * (y * 24 + x), texel, 4);
			}
		ktap_mem_eq(got, want, 24 * 24 * 4);
	}
}

/* Halves of the numbers 0 to 23. */
static uint16_t half_of(uint32_t n)
{
	int e = 0;

	if (!n)
		return 0;
	while (n >> (e + 1))
		e++;
	return (uint16_t)((e + 15) << 10 | (n << (10 - e) & 0x3ff));
}

static void check_sums(const struct stores *s)
{
	uint32_t counts[5 * 6 * 2], want[5 * 6 * 2], sums[8] = { 0 }, x, y, at;
	const uint32_t *got = (const uint32_t *)s->sums.map + 32, *sizes = s->out.map;
	uint16_t volume[12 * 9 * 4 * 4];

	memcpy(want, s->counts.level[0], sizeof(want));
	for (y = 0; y < WIDE; y++)
		for (x = 0; x < WIDE; x++) {
			if (x / 4 < 5 && y / 4 < 6)
				want[((x & 1) * 6 + y / 4) * 5 + x / 4] += x + y;
			at = x + 16 * y;
			sums[x & 7] += at < 300 ? ((const uint32_t *)s->words.map)[16 + at] : 0;
		}
	read_back(&s->counts, 2, counts, sizeof(counts));
	ktap_mem_eq(counts, want, sizeof(counts));
	for (x = 0; x < 8; x++)
		ktap_eq(got[x], x < 6 ? sums[x] + 5 : 5);
	read_back(&s->volume, 1, volume, sizeof(volume));
	/* a texel has one of the four threads that store to it */
	for (y = 0; y < 9; y++)
		for (x = 0; x < 12; x++) {
			const uint16_t *t = &volume[(((2 * x & 3) * 9 + y) * 12 + x) * 4];

			ktap_eq(t[0], half_of(2 * x));
			ktap_ok(t[1] == half_of(2 * y) || t[1] == half_of(2 * y + 1));
			ktap_eq(t[2], 0x3800);
			ktap_eq(t[3], 0xbc00);
		}
	ktap_eq(sizes[0], 21);
	ktap_eq(sizes[1], 2);
	ktap_eq(sizes[2], 9);
	ktap_eq(sizes[3], 6);
	ktap_eq(sizes[4], 300);
	ktap_eq(sizes[5], 24);
}

static void stores(void)
{
	struct stores s;
	struct job job;
	uint32_t i;

	make_stores(&s);
	make_store_job(&job, &s);
	for (i = 0; i < 1024; i++) {
		((uint32_t *)s.words.map)[i] = rnd();
		((uint32_t *)s.sums.map)[i] = 5;
	}
	run(&job, 2, WIDE / 8, WIDE / 8);
	check_pictures(&s);
	check_sums(&s);
	destroy(&job, 2);
	for (i = 0; i < 5; i++)
		vkDestroyImageView(vk.device, s.views[i], NULL);
	for (i = 0; i < 2; i++) {
		vkDestroyBufferView(vk.device, s.texels[i], NULL);
		drop(&s.any[i]);
	}
	drop(&s.picture);
	drop(&s.counts);
	drop(&s.volume);
	vk_buf_destroy(&vk, &s.words);
	vk_buf_destroy(&vk, &s.sums);
	vk_buf_destroy(&vk, &s.out);
}

static void make_pool(void)
{
	static const VkDescriptorPoolSize sizes[] = {
		{ VK_DESCRIPTOR_TYPE_SAMPLER, 4 },
		{ VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 16 },
		{ VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, 4 },
		{ VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, 8 },
		{ VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER, 4 },
		{ VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER, 4 },
		{ VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 4 },
	};
	const VkDescriptorPoolCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
		.maxSets = SETS,
		.poolSizeCount = sizeof(sizes) / sizeof(*sizes),
		.pPoolSizes = sizes,
	};

	VK(vkCreateDescriptorPool(vk.device, &info, NULL, &pool));
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	vk_open(&vk, NULL);
	make_pool();
	ktap_run("textures with samplers of all kinds", textures);
	ktap_run("storage images and texel buffers", stores);
	vkDestroyDescriptorPool(vk.device, pool, NULL);
	vk_close(&vk);
	return ktap_finish();
}
