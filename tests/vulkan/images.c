/* SPDX-License-Identifier: MIT */
/*
 * Images and transfers: copies between buffers and images, between images, and clears. A shadow in
 * plain arrays says what each texel of each subresource must be.
 */
#include "rnd.h"
#include "vk.h"

#define LEVELS_MOST	6
#define BYTES_MOST	(1u << 20)
#define USAGE		(VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT)

static struct vk vk;

/* A format, for tests. */
struct format {
	VkFormat format;
	uint32_t bytes;			/* of a texel, or a block */
	uint32_t block;			/* side of a block; 1: not compressed */
	VkImageAspectFlagBits aspect;
};

#define COLOR(name, bytes)	{ VK_FORMAT_##name, bytes, 1, VK_IMAGE_ASPECT_COLOR_BIT }
#define BLOCK(name, bytes)	{ VK_FORMAT_##name, bytes, 4, VK_IMAGE_ASPECT_COLOR_BIT }
#define DEPTH(name, bytes)	{ VK_FORMAT_##name, bytes, 1, VK_IMAGE_ASPECT_DEPTH_BIT }
#define STENCIL(name)		{ VK_FORMAT_##name, 1, 1, VK_IMAGE_ASPECT_STENCIL_BIT }

static const struct format formats[] = {
	COLOR(R8_UNORM, 1), COLOR(R8G8_UNORM, 2), COLOR(R8G8B8A8_UNORM, 4),
	COLOR(B8G8R8A8_SRGB, 4), COLOR(R16G16B16A16_SFLOAT, 8), COLOR(R32G32B32A32_UINT, 16),
	COLOR(R5G6B5_UNORM_PACK16, 2), COLOR(B10G11R11_UFLOAT_PACK32, 4),
	BLOCK(BC1_RGBA_UNORM_BLOCK, 8), BLOCK(BC7_UNORM_BLOCK, 16),
	BLOCK(ETC2_R8G8B8_UNORM_BLOCK, 8), DEPTH(D16_UNORM, 2), DEPTH(X8_D24_UNORM_PACK32, 4),
	DEPTH(D32_SFLOAT, 4), STENCIL(S8_UINT), DEPTH(D32_SFLOAT_S8_UINT, 4),
	STENCIL(D32_SFLOAT_S8_UINT),
};

/* The texels of one aspect of an image. */
struct shadow {
	const struct format *f;
	VkImageType type;
	struct vk_img img;
	uint8_t *level[LEVELS_MOST];	/* rows of blocks, slices, then layers */
};

static uint32_t max(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static uint32_t texels(uint32_t side, uint32_t level)
{
	return max(side >> level, 1);
}

static uint32_t blocks(const struct shadow *s, uint32_t side, uint32_t level)
{
	return (texels(side, level) + s->f->block - 1) / s->f->block;
}

/* Slices of a level, or layers. */
static uint32_t planes(const struct shadow *s, uint32_t level)
{
	return s->type == VK_IMAGE_TYPE_3D ? texels(s->img.extent.depth, level) : s->img.layers;
}

static size_t plane_bytes(const struct shadow *s, uint32_t level)
{
	return (size_t)blocks(s, s->img.extent.width, level) *
	       blocks(s, s->img.extent.height, level) * s->f->bytes;
}

static uint8_t *texel(const struct shadow *s, uint32_t level, uint32_t plane, uint32_t x,
		      uint32_t y)
{
	return s->level[level] + plane * plane_bytes(s, level) +
	       ((size_t)y * blocks(s, s->img.extent.width, level) + x) * s->f->bytes;
}

static VkImageSubresourceLayers part(const struct shadow *s, uint32_t level, uint32_t first,
				     uint32_t count)
{
	const bool volume = s->type == VK_IMAGE_TYPE_3D;

	return (VkImageSubresourceLayers){ s->f->aspect, level, volume ? 0 : first,
					   volume ? 1 : count };
}

/* A region of whole subresource planes, packed in a buffer. */
static VkBufferImageCopy whole(const struct shadow *s, uint32_t level)
{
	return (VkBufferImageCopy){
		.imageSubresource = part(s, level, 0, planes(s, level)),
		.imageExtent = { texels(s->img.extent.width, level),
				 texels(s->img.extent.height, level),
				 s->type == VK_IMAGE_TYPE_3D ? planes(s, level) : 1 },
	};
}

/* Make an image whose texels are random, uploaded as a whole. */
static struct shadow make(const struct format *f, VkImageType type, VkExtent3D extent,
			  uint32_t levels, uint32_t layers)
{
	struct shadow s = { .f = f, .type = type };
	struct vk_buf b = vk_buf_create(&vk, BYTES_MOST, 0);
	uint32_t l, i;

	s.img = vk_img_create(&vk, type, f->format, extent, levels, layers, USAGE, 0,
			      VK_SAMPLE_COUNT_1_BIT);
	for (l = 0; l < levels; l++) {
		const size_t size = plane_bytes(&s, l) * planes(&s, l);
		const VkBufferImageCopy region = whole(&s, l);
		VkCommandBuffer cmd = vk_begin(&vk, 0);

		s.level[l] = malloc(size);
		for (i = 0; i < size; i++)
			s.level[l][i] = (uint8_t)rnd();
		memcpy(b.map, s.level[l], size);
		vkCmdCopyBufferToImage(cmd, b.buffer, s.img.image, VK_IMAGE_LAYOUT_GENERAL, 1,
				       &region);
		vk_end(&vk, 0, cmd);
	}
	vk_buf_destroy(&vk, &b);
	return s;
}

/* Bits of a texel that a copy of depth may leave undefined. */
static void drop_undefined(const struct format *f, uint8_t *bytes, size_t size)
{
	size_t i;

	for (i = 3; f->format == VK_FORMAT_X8_D24_UNORM_PACK32 && i < size; i += 4)
		bytes[i] = 0;
}

/* Download every subresource and compare. */
static void check(const struct shadow *s)
{
	struct vk_buf b = vk_buf_create(&vk, BYTES_MOST, 0);
	uint32_t l;

	for (l = 0; l < s->img.levels; l++) {
		const size_t size = plane_bytes(s, l) * planes(s, l);
		const VkBufferImageCopy region = whole(s, l);
		VkCommandBuffer cmd = vk_begin(&vk, 0);

		memset(b.map, 0xee, size);
		vkCmdCopyImageToBuffer(cmd, s->img.image, VK_IMAGE_LAYOUT_GENERAL, b.buffer, 1,
				       &region);
		vk_end(&vk, 0, cmd);
		drop_undefined(s->f, b.map, size);
		drop_undefined(s->f, s->level[l], size);
		ktap_mem_eq(b.map, s->level[l], size);
	}
	vk_buf_destroy(&vk, &b);
}

static void discard(struct shadow *s)
{
	uint32_t l;

	for (l = 0; l < s->img.levels; l++)
		free(s->level[l]);
	vk_img_destroy(&vk, &s->img);
}

/* ---- Buffers and images ---------------------------------------------------------------------- */

/* A rectangle of blocks of some planes of a level, in blocks. */
struct area {
	uint32_t level, x, y, width, height, first, count;
};

static struct area random_area(const struct shadow *s)
{
	struct area a = { .level = rnd_below(s->img.levels) };
	const uint32_t w = blocks(s, s->img.extent.width, a.level),
		       h = blocks(s, s->img.extent.height, a.level), n = planes(s, a.level);

	a.x = rnd_below(w);
	a.y = rnd_below(h);
	a.width = 1 + rnd_below(w - a.x);
	a.height = 1 + rnd_below(h - a.y);
	a.first = rnd_below(n);
	a.count = 1 + rnd_below(n - a.first);
	return a;
}

/* Texels of a side that @count blocks from block @at on have. */
static uint32_t side(const struct shadow *s, uint32_t all, uint32_t level, uint32_t at,
		     uint32_t count)
{
	const uint32_t end = texels(all, level), to = (at + count) * s->f->block;

	return (to < end ? to : end) - at * s->f->block;
}

static VkExtent3D extent_of(const struct shadow *s, const struct area *a)
{
	return (VkExtent3D){ side(s, s->img.extent.width, a->level, a->x, a->width),
			     side(s, s->img.extent.height, a->level, a->y, a->height),
			     s->type == VK_IMAGE_TYPE_3D ? a->count : 1 };
}

static VkOffset3D offset_of(const struct shadow *s, const struct area *a)
{
	return (VkOffset3D){ (int)(a->x * s->f->block), (int)(a->y * s->f->block),
			     s->type == VK_IMAGE_TYPE_3D ? (int)a->first : 0 };
}

/* Area @a, with rows of @row blocks and layers of @rows rows at a random place of a buffer. */
static VkBufferImageCopy region_of(const struct shadow *s, const struct area *a, uint32_t row,
				   uint32_t rows)
{
	return (VkBufferImageCopy){
		.bufferOffset = 16 * rnd_below(9),
		.bufferRowLength = row * s->f->block,
		.bufferImageHeight = rows * s->f->block,
		.imageSubresource = part(s, a->level, a->first, a->count),
		.imageOffset = offset_of(s, a),
		.imageExtent = extent_of(s, a),
	};
}

/* Upload a random area from rows with gaps. */
static void upload(struct shadow *s)
{
	const struct area a = random_area(s);
	const uint32_t row = a.width + rnd_below(5), rows = a.height + rnd_below(3);
	const VkBufferImageCopy region = region_of(s, &a, row, rows);
	struct vk_buf b = vk_buf_create(&vk, BYTES_MOST, 0);
	uint8_t *bytes = b.map;
	VkCommandBuffer cmd = vk_begin(&vk, 0);
	uint32_t i, y, size = (row * rows * a.count + 16) * s->f->bytes + 256;

	for (i = 0; i < size; i++)
		bytes[i] = (uint8_t)rnd();
	vkCmdCopyBufferToImage(cmd, b.buffer, s->img.image, VK_IMAGE_LAYOUT_GENERAL, 1, &region);
	vk_end(&vk, 0, cmd);
	for (i = 0; i < a.count; i++)
		for (y = 0; y < a.height; y++)
			memcpy(texel(s, a.level, a.first + i, a.x, a.y + y),
			       bytes + region.bufferOffset +
				       ((size_t)(i * rows + y) * row) * s->f->bytes,
			       (size_t)a.width * s->f->bytes);
	vk_buf_destroy(&vk, &b);
}

/* Download a random area to rows with gaps; the gaps stay. */
static void download(struct shadow *s)
{
	const struct area a = random_area(s);
	const uint32_t row = a.width + rnd_below(5), rows = a.height + rnd_below(3);
	const VkBufferImageCopy region = region_of(s, &a, row, rows);
	const size_t size = ((size_t)row * rows * a.count + 16) * s->f->bytes + 256;
	struct vk_buf b = vk_buf_create(&vk, BYTES_MOST, 0);
	uint8_t *want = malloc(size);
	VkCommandBuffer cmd = vk_begin(&vk, 0);
	uint32_t i, y;

	memset(want, 0x55, size);
	memset(b.map, 0x55, size);
	for (i = 0; i < a.count; i++)
		for (y = 0; y < a.height; y++)
			memcpy(want + region.bufferOffset +
				       ((size_t)(i * rows + y) * row) * s->f->bytes,
			       texel(s, a.level, a.first + i, a.x, a.y + y),
			       (size_t)a.width * s->f->bytes);
	vkCmdCopyImageToBuffer(cmd, s->img.image, VK_IMAGE_LAYOUT_GENERAL, b.buffer, 1, &region);
	vk_end(&vk, 0, cmd);
	drop_undefined(s->f, want + region.bufferOffset, size - region.bufferOffset);
	drop_undefined(s->f, (uint8_t *)b.map + region.bufferOffset, size - region.bufferOffset);
	ktap_mem_eq(b.map, want, size);
	free(want);
	vk_buf_destroy(&vk, &b);
}

static void exercise(struct shadow *s)
{
	unsigned i;

	check(s);
	for (i = 0; i < 4; i++) {
		upload(s);
		download(s);
	}
	check(s);
	discard(s);
}

/* Uploads and clears of depth and stencil want a queue for graphics. */
static bool lacks_graphics(void)
{
	if (vk.flags[0] & VK_QUEUE_GRAPHICS_BIT)
		return false;
	ktap_skip("no queue for graphics");
	return true;
}

static void arrays(const void *arg)
{
	const struct format *f = arg;
	struct shadow s;

	if (f->aspect != VK_IMAGE_ASPECT_COLOR_BIT && lacks_graphics())
		return;
	s = make(f, VK_IMAGE_TYPE_2D, (VkExtent3D){ 61, 37, 1 }, 5, 3);
	exercise(&s);
}

static void volume(void)
{
	struct shadow s = make(&formats[2], VK_IMAGE_TYPE_3D, (VkExtent3D){ 35, 20, 9 }, 4, 1);

	exercise(&s);
}

static void line(void)
{
	struct shadow s = make(&formats[4], VK_IMAGE_TYPE_1D, (VkExtent3D){ 301, 1, 1 }, 4, 3);

	exercise(&s);
}

/* ---- Images ---------------------------------------------------------------------------------- */

/* Copy an area between planes of two images, whose blocks have one size, and in the shadows. */
static void copy_area(struct shadow *to, struct shadow *from)
{
	const struct area a = random_area(from);
	struct area b = random_area(to);
	VkImageCopy region = { 0 };
	VkCommandBuffer cmd = vk_begin(&vk, 0);
	uint32_t i, y, width, height, count;

	width = a.width < b.width ? a.width : b.width;
	height = a.height < b.height ? a.height : b.height;
	count = a.count < b.count ? a.count : b.count;
	region.srcSubresource = part(from, a.level, a.first, count);
	region.dstSubresource = part(to, b.level, b.first, count);
	region.srcOffset = offset_of(from, &a);
	region.dstOffset = offset_of(to, &b);
	b.width = width;
	b.height = height;
	region.extent = (VkExtent3D){
		side(from, from->img.extent.width, a.level, a.x, width),
		side(from, from->img.extent.height, a.level, a.y, height),
		from->type == VK_IMAGE_TYPE_3D || to->type == VK_IMAGE_TYPE_3D ? count : 1
	};
	vkCmdCopyImage(cmd, from->img.image, VK_IMAGE_LAYOUT_GENERAL, to->img.image,
		       VK_IMAGE_LAYOUT_GENERAL, 1, &region);
	vk_end(&vk, 0, cmd);
	for (i = 0; i < count; i++)
		for (y = 0; y < height; y++)
			memcpy(texel(to, b.level, b.first + i, b.x, b.y + y),
			       texel(from, a.level, a.first + i, a.x, a.y + y),
			       (size_t)width * from->f->bytes);
}

static void between(VkFormat a, VkImageType a_type, VkFormat b, VkImageType b_type)
{
	const struct format *fa = formats, *fb = formats;
	struct shadow from, to;
	unsigned i;

	while (fa->format != a)
		fa++;
	while (fb->format != b)
		fb++;
	from = make(fa, a_type, (VkExtent3D){ 64, 48, a_type == VK_IMAGE_TYPE_3D ? 6 : 1 }, 3,
		    a_type == VK_IMAGE_TYPE_3D ? 1 : 4);
	to = make(fb, b_type, (VkExtent3D){ 80, 72, b_type == VK_IMAGE_TYPE_3D ? 5 : 1 }, 2,
		  b_type == VK_IMAGE_TYPE_3D ? 1 : 3);
	for (i = 0; i < 8; i++)
		copy_area(&to, &from);
	check(&to);
	check(&from);
	discard(&to);
	discard(&from);
}

static void between_images(void)
{
	between(VK_FORMAT_R8G8B8A8_UNORM, VK_IMAGE_TYPE_2D, VK_FORMAT_B8G8R8A8_SRGB,
		VK_IMAGE_TYPE_2D);
	between(VK_FORMAT_R16G16B16A16_SFLOAT, VK_IMAGE_TYPE_2D, VK_FORMAT_R16G16B16A16_SFLOAT,
		VK_IMAGE_TYPE_2D);
	between(VK_FORMAT_BC7_UNORM_BLOCK, VK_IMAGE_TYPE_2D, VK_FORMAT_BC7_UNORM_BLOCK,
		VK_IMAGE_TYPE_2D);
	if (vk.flags[0] & VK_QUEUE_GRAPHICS_BIT)
		between(VK_FORMAT_D32_SFLOAT, VK_IMAGE_TYPE_2D, VK_FORMAT_D32_SFLOAT,
			VK_IMAGE_TYPE_2D);
}

static void layers_and_slices(void)
{
	between(VK_FORMAT_R8G8B8A8_UNORM, VK_IMAGE_TYPE_3D, VK_FORMAT_R8G8B8A8_UNORM,
		VK_IMAGE_TYPE_3D);
	between(VK_FORMAT_R8G8B8A8_UNORM, VK_IMAGE_TYPE_3D, VK_FORMAT_R8G8B8A8_UNORM,
		VK_IMAGE_TYPE_2D);
	between(VK_FORMAT_R8G8B8A8_UNORM, VK_IMAGE_TYPE_2D, VK_FORMAT_R8G8B8A8_UNORM,
		VK_IMAGE_TYPE_3D);
}

/* ---- Clears ---------------------------------------------------------------------------------- */

struct clear {
	struct format f;
	VkClearColorValue color;
	uint8_t bytes[16];		/* of a texel, computed by hand */
};

#define FLOATS(...)	{ .float32 = { __VA_ARGS__ } }
#define UINTS(...)	{ .uint32 = { __VA_ARGS__ } }

static const struct clear clears[] = {
	{ COLOR(R8G8B8A8_UNORM, 4), FLOATS(0.2f, 1.5f, -1, 0.5f), { 51, 255, 0, 128 } },
	{ COLOR(B8G8R8A8_SRGB, 4), FLOATS(0.5f, 0, 1, 0.5f), { 255, 0, 188, 128 } },
	{ COLOR(R5G6B5_UNORM_PACK16, 2), FLOATS(1, 0, 1, 1), { 0x1f, 0xf8 } },
	{ COLOR(R16G16B16A16_SFLOAT, 8), FLOATS(1, -2, 0.5f, 0),
	  { 0x00, 0x3c, 0x00, 0xc0, 0x00, 0x38, 0x00, 0x00 } },
	{ COLOR(R32G32B32A32_UINT, 16), UINTS(1, 0x10203040, 0xffffffff, 7),
	  { 1, 0, 0, 0, 0x40, 0x30, 0x20, 0x10, 255, 255, 255, 255, 7 } },
	{ COLOR(R8_UNORM, 1), FLOATS(0.4f, 1, 1, 1), { 102 } },
	{ COLOR(B10G11R11_UFLOAT_PACK32, 4), FLOATS(1, 0, 2, 0), { 0xc0, 0x03, 0x00, 0x80 } },
};

static void set_texels(struct shadow *s, uint32_t level, uint32_t first, uint32_t count,
		       const uint8_t *bytes)
{
	const size_t size = plane_bytes(s, level) * count;
	size_t i;

	for (i = 0; i < size; i += s->f->bytes)
		memcpy(texel(s, level, first, 0, 0) + i, bytes, s->f->bytes);
}

static void clear_colors(void)
{
	unsigned i;

	for (i = 0; i < sizeof(clears) / sizeof(*clears); i++) {
		const struct clear *c = &clears[i];
		struct shadow s = make(&c->f, VK_IMAGE_TYPE_2D, (VkExtent3D){ 37, 22, 1 }, 3, 4);
		const VkImageSubresourceRange ranges[2] = {
			{ VK_IMAGE_ASPECT_COLOR_BIT, 1, 1, 0, 2 },
			{ VK_IMAGE_ASPECT_COLOR_BIT, 0, VK_REMAINING_MIP_LEVELS, 3,
			  VK_REMAINING_ARRAY_LAYERS },
		};
		VkCommandBuffer cmd = vk_begin(&vk, 0);

		vkCmdClearColorImage(cmd, s.img.image, VK_IMAGE_LAYOUT_GENERAL, &c->color, 2,
				     ranges);
		vk_end(&vk, 0, cmd);
		set_texels(&s, 1, 0, 2, c->bytes);
		set_texels(&s, 0, 3, 1, c->bytes);
		set_texels(&s, 1, 3, 1, c->bytes);
		set_texels(&s, 2, 3, 1, c->bytes);
		check(&s);
		discard(&s);
	}
}

static void clear_volume(void)
{
	struct shadow s = make(&formats[2], VK_IMAGE_TYPE_3D, (VkExtent3D){ 20, 17, 6 }, 3, 1);
	const VkImageSubresourceRange range = { VK_IMAGE_ASPECT_COLOR_BIT, 1, 1, 0, 1 };
	VkCommandBuffer cmd = vk_begin(&vk, 0);

	vkCmdClearColorImage(cmd, s.img.image, VK_IMAGE_LAYOUT_GENERAL, &clears[0].color, 1,
			     &range);
	vk_end(&vk, 0, cmd);
	set_texels(&s, 1, 0, 3, clears[0].bytes);
	check(&s);
	discard(&s);
}

static void clear_depth(VkFormat format, VkImageAspectFlags cleared, VkImageAspectFlagBits aspect,
			uint32_t bytes, const uint8_t *want)
{
	const struct format f = { format, bytes, 1, aspect };
	struct shadow s = make(&f, VK_IMAGE_TYPE_2D, (VkExtent3D){ 30, 30, 1 }, 2, 3);
	const VkImageSubresourceRange range = { cleared, 1, 1, 1, 2 };
	const VkClearDepthStencilValue value = { 0.25f, 0xa5 };
	VkCommandBuffer cmd = vk_begin(&vk, 0);

	vkCmdClearDepthStencilImage(cmd, s.img.image, VK_IMAGE_LAYOUT_GENERAL, &value, 1, &range);
	vk_end(&vk, 0, cmd);
	if (cleared & aspect)
		set_texels(&s, 1, 1, 2, want);
	check(&s);
	discard(&s);
}

static void clear_depths(void)
{
	static const uint8_t d16[] = { 0x00, 0x40 }, d24[] = { 0x00, 0x00, 0x40, 0 },
			     d32[] = { 0, 0, 0x80, 0x3e }, stencil[] = { 0xa5 };
	const VkImageAspectFlagBits depth = VK_IMAGE_ASPECT_DEPTH_BIT,
				    s8 = VK_IMAGE_ASPECT_STENCIL_BIT;

	if (lacks_graphics())
		return;
	clear_depth(VK_FORMAT_D16_UNORM, depth, depth, 2, d16);
	clear_depth(VK_FORMAT_X8_D24_UNORM_PACK32, depth, depth, 4, d24);
	clear_depth(VK_FORMAT_D32_SFLOAT, depth, depth, 4, d32);
	clear_depth(VK_FORMAT_S8_UINT, s8, s8, 1, stencil);
	clear_depth(VK_FORMAT_D32_SFLOAT_S8_UINT, depth | s8, depth, 4, d32);
	clear_depth(VK_FORMAT_D32_SFLOAT_S8_UINT, depth | s8, s8, 1, stencil);
	/* the other aspect stays */
	clear_depth(VK_FORMAT_D32_SFLOAT_S8_UINT, depth, s8, 1, stencil);
	clear_depth(VK_FORMAT_D32_SFLOAT_S8_UINT, s8, depth, 4, d32);
}

/* ---- Linear images --------------------------------------------------------------------------- */

/* The CPU finds the texels where vkGetImageSubresourceLayout() says. */
static void linear(void)
{
	const VkImageCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
		.imageType = VK_IMAGE_TYPE_2D,
		.format = VK_FORMAT_R8G8_UNORM,
		.extent = { 33, 18, 1 },
		.mipLevels = 1,
		.arrayLayers = 1,
		.samples = VK_SAMPLE_COUNT_1_BIT,
		.tiling = VK_IMAGE_TILING_LINEAR,
		.usage = USAGE,
		.initialLayout = VK_IMAGE_LAYOUT_PREINITIALIZED,
	};
	const VkImageSubresource first = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 0 };
	const VkBufferImageCopy region = {
		.imageSubresource = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1 },
		.imageExtent = info.extent,
	};
	VkMemoryAllocateInfo memory = { .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO };
	struct vk_buf b = vk_buf_create(&vk, 4096, 0);
	VkImageMemoryBarrier barrier = {
		.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
		.srcAccessMask = VK_ACCESS_HOST_WRITE_BIT,
		.dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT,
		.oldLayout = VK_IMAGE_LAYOUT_PREINITIALIZED,
		.newLayout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
		.srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
		.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
		.subresourceRange = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1 },
	};
	VkSubresourceLayout layout;
	VkMemoryRequirements needs;
	VkDeviceMemory mem;
	VkCommandBuffer cmd;
	uint16_t *got = b.map;
	uint8_t *map;
	uint32_t x, y;

	VK(vkCreateImage(vk.device, &info, NULL, &barrier.image));
	vkGetImageMemoryRequirements(vk.device, barrier.image, &needs);
	memory.allocationSize = needs.size + needs.alignment;
	VK(vkAllocateMemory(vk.device, &memory, NULL, &mem));
	VK(vkBindImageMemory(vk.device, barrier.image, mem, needs.alignment));
	vkGetImageSubresourceLayout(vk.device, barrier.image, &first, &layout);
	VK(vkMapMemory(vk.device, mem, needs.alignment, VK_WHOLE_SIZE, 0, (void **)&map));
	ktap_ok(layout.rowPitch >= 66 && layout.size <= needs.size);
	for (y = 0; y < 18; y++)
		for (x = 0; x < 33; x++)
			*(uint16_t *)(map + layout.offset + y * layout.rowPitch + 2 * x) =
				(uint16_t)(y * 1000 + x);
	cmd = vk_begin(&vk, 0);
	vkCmdPipelineBarrier(cmd, VK_PIPELINE_STAGE_HOST_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0,
			     NULL, 0, NULL, 1, &barrier);
	vkCmdCopyImageToBuffer(cmd, barrier.image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, b.buffer,
			       1, &region);
	vk_end(&vk, 0, cmd);
	for (y = 0; y < 18; y++)
		for (x = 0; x < 33; x++)
			ktap_eq(got[y * 33 + x], y * 1000 + x);
	vkDestroyImage(vk.device, barrier.image, NULL);
	vkFreeMemory(vk.device, mem, NULL);
	vk_buf_destroy(&vk, &b);
}

/* The driver refuses formats and uses that it does not offer. */
static void refused(void)
{
	VkImageFormatProperties p;

	ktap_eq(vkGetPhysicalDeviceImageFormatProperties(
			vk.physical, VK_FORMAT_D24_UNORM_S8_UINT, VK_IMAGE_TYPE_2D,
			VK_IMAGE_TILING_OPTIMAL, USAGE, 0, &p), VK_ERROR_FORMAT_NOT_SUPPORTED);
	ktap_eq(vkGetPhysicalDeviceImageFormatProperties(
			vk.physical, VK_FORMAT_R8G8B8A8_SRGB, VK_IMAGE_TYPE_2D,
			VK_IMAGE_TILING_OPTIMAL, VK_IMAGE_USAGE_STORAGE_BIT, 0, &p),
		VK_ERROR_FORMAT_NOT_SUPPORTED);
	ktap_eq(vkGetPhysicalDeviceImageFormatProperties(
			vk.physical, VK_FORMAT_R8G8B8A8_UNORM, VK_IMAGE_TYPE_2D,
			VK_IMAGE_TILING_OPTIMAL, USAGE, VK_IMAGE_CREATE_SPARSE_BINDING_BIT |
			VK_IMAGE_CREATE_SPARSE_RESIDENCY_BIT, &p),
		VK_ERROR_FORMAT_NOT_SUPPORTED);
	ktap_eq(vkGetPhysicalDeviceImageFormatProperties(
			vk.physical, VK_FORMAT_R8G8B8A8_UNORM, VK_IMAGE_TYPE_2D,
			VK_IMAGE_TILING_OPTIMAL, USAGE, 0, &p), VK_SUCCESS);
	ktap_eq(p.maxExtent.width, 16384);
	ktap_eq(p.maxMipLevels, 15);
	/* Vulkan's least size, and samples of formats that can be drawn to, for any usage */
	ktap_ok(p.maxResourceSize >= 1ull << 31);
	ktap_eq(vkGetPhysicalDeviceImageFormatProperties(
			vk.physical, VK_FORMAT_R8G8B8A8_UNORM, VK_IMAGE_TYPE_2D,
			VK_IMAGE_TILING_OPTIMAL, VK_IMAGE_USAGE_SAMPLED_BIT, 0, &p), VK_SUCCESS);
	ktap_ok(p.sampleCounts & VK_SAMPLE_COUNT_4_BIT);
	ktap_eq(vkGetPhysicalDeviceImageFormatProperties(
			vk.physical, VK_FORMAT_E5B9G9R9_UFLOAT_PACK32, VK_IMAGE_TYPE_2D,
			VK_IMAGE_TILING_OPTIMAL, VK_IMAGE_USAGE_SAMPLED_BIT, 0, &p), VK_SUCCESS);
	ktap_eq(p.sampleCounts, VK_SAMPLE_COUNT_1_BIT);
}

int main(int argc, char **argv)
{
	char name[64];
	unsigned i;

	ktap_start_args(argc, argv);
	vk_open(&vk, NULL);
	for (i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		snprintf(name, sizeof(name), "uploads and downloads, format %u aspect %u",
			 formats[i].format, formats[i].aspect);
		ktap_run_arg(name, arrays, &formats[i]);
	}
	ktap_run("uploads and downloads of volumes", volume);
	ktap_run("uploads and downloads of lines", line);
	ktap_run("copies between images", between_images);
	ktap_run("copies between layers and slices", layers_and_slices);
	ktap_run("clears of colors", clear_colors);
	ktap_run("clears of volumes", clear_volume);
	ktap_run("clears of depth and stencil", clear_depths);
	ktap_run("a linear image that the CPU writes", linear);
	ktap_run("formats and uses that are refused", refused);
	vk_close(&vk);
	return ktap_finish();
}
