/* SPDX-License-Identifier: MIT */
/*
 * Images with DRM format modifiers. Where their texels are is computed from the modifier's
 * definition, and checked in the memory as the CPU sees it. Two devices share such an image.
 */
#include "rnd.h"
#include "vk.h"

#define LINEAR		0ull
#define TILED		((8ull << 56) | (1ull << 52) | 1)	/* ARM_16X16_BLOCK_U_INTERLEAVED */
#define FORMAT		VK_FORMAT_B8G8R8A8_UNORM
#define WIDTH		37u
#define HEIGHT		21u
#define DMA_BUF		VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT
#define USAGE		(VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT | \
			 VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT)

static const char *const extensions[] = { VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME,
					  VK_EXT_EXTERNAL_MEMORY_DMA_BUF_EXTENSION_NAME,
					  VK_KHR_IMAGE_FORMAT_LIST_EXTENSION_NAME,
					  VK_EXT_QUEUE_FAMILY_FOREIGN_EXTENSION_NAME,
					  VK_KHR_FORMAT_FEATURE_FLAGS_2_EXTENSION_NAME,
					  VK_EXT_IMAGE_DRM_FORMAT_MODIFIER_EXTENSION_NAME, NULL };
static struct vk one, two;

/* ---- What is offered ------------------------------------------------------------------------- */

static uint32_t list(VkFormat format, VkDrmFormatModifierPropertiesEXT out[8])
{
	VkDrmFormatModifierPropertiesListEXT all = {
		.sType = VK_STRUCTURE_TYPE_DRM_FORMAT_MODIFIER_PROPERTIES_LIST_EXT,
	};
	VkFormatProperties2 p = { .sType = VK_STRUCTURE_TYPE_FORMAT_PROPERTIES_2, .pNext = &all };

	vkGetPhysicalDeviceFormatProperties2(one.physical, format, &p);
	if (all.drmFormatModifierCount > 8)
		return all.drmFormatModifierCount;
	all.pDrmFormatModifierProperties = out;
	vkGetPhysicalDeviceFormatProperties2(one.physical, format, &p);
	return all.drmFormatModifierCount;
}

static uint32_t list2(VkFormat format, VkDrmFormatModifierProperties2EXT out[8])
{
	VkDrmFormatModifierPropertiesList2EXT all = {
		.sType = VK_STRUCTURE_TYPE_DRM_FORMAT_MODIFIER_PROPERTIES_LIST_2_EXT,
		.drmFormatModifierCount = 8,
		.pDrmFormatModifierProperties = out,
	};
	VkFormatProperties2 p = { .sType = VK_STRUCTURE_TYPE_FORMAT_PROPERTIES_2, .pNext = &all };

	vkGetPhysicalDeviceFormatProperties2(one.physical, format, &p);
	return all.drmFormatModifierCount;
}

static void lists(void)
{
	const VkFormatFeatureFlags wanted = VK_FORMAT_FEATURE_SAMPLED_IMAGE_BIT |
					    VK_FORMAT_FEATURE_SAMPLED_IMAGE_FILTER_LINEAR_BIT |
					    VK_FORMAT_FEATURE_COLOR_ATTACHMENT_BLEND_BIT |
					    VK_FORMAT_FEATURE_TRANSFER_SRC_BIT |
					    VK_FORMAT_FEATURE_TRANSFER_DST_BIT;
	VkDrmFormatModifierPropertiesEXT p[8];
	VkDrmFormatModifierProperties2EXT p2[8];
	uint32_t i;

	ktap_eq(list(FORMAT, p), 2);
	ktap_eq(list2(FORMAT, p2), 2);
	ktap_eq(p[0].drmFormatModifier, TILED);
	ktap_eq(p[1].drmFormatModifier, LINEAR);
	for (i = 0; i < 2; i++) {
		ktap_eq(p[i].drmFormatModifierPlaneCount, 1);
		ktap_eq(p[i].drmFormatModifierTilingFeatures & wanted, wanted);
		ktap_eq(p2[i].drmFormatModifier, p[i].drmFormatModifier);
		ktap_eq(p2[i].drmFormatModifierPlaneCount, 1);
		ktap_eq((uint32_t)p2[i].drmFormatModifierTilingFeatures,
			p[i].drmFormatModifierTilingFeatures);
	}
	/* this one's features have more than 32 bits */
	ktap_eq(list2(VK_FORMAT_R8G8B8A8_UNORM, p2), 2);
	ktap_ok(p2[0].drmFormatModifierTilingFeatures &
		VK_FORMAT_FEATURE_2_STORAGE_WRITE_WITHOUT_FORMAT_BIT);
	ktap_eq(list(VK_FORMAT_D32_SFLOAT, p), 0);
	ktap_eq(list(VK_FORMAT_BC1_RGBA_UNORM_BLOCK, p), 0);
	ktap_eq(list(VK_FORMAT_G8_B8R8_2PLANE_420_UNORM, p), 0);
}

/* The image that a compositor asks for: a dma-buf with a view that is encoded as sRGB. */
static VkResult query(VkFormat format, VkImageType type, uint64_t modifier, VkImageCreateFlags more,
		      VkImageFormatProperties2 *p)
{
	const VkFormat views[] = { FORMAT, VK_FORMAT_B8G8R8A8_SRGB };
	const VkImageFormatListCreateInfo formats = {
		.sType = VK_STRUCTURE_TYPE_IMAGE_FORMAT_LIST_CREATE_INFO,
		.viewFormatCount = 2,
		.pViewFormats = views,
	};
	const VkPhysicalDeviceImageDrmFormatModifierInfoEXT mod = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_DRM_FORMAT_MODIFIER_INFO_EXT,
		.pNext = format == FORMAT ? &formats : NULL,
		.drmFormatModifier = modifier,
	};
	const VkPhysicalDeviceExternalImageFormatInfo external = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_IMAGE_FORMAT_INFO,
		.pNext = &mod,
		.handleType = DMA_BUF,
	};
	const VkPhysicalDeviceImageFormatInfo2 info = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_FORMAT_INFO_2,
		.pNext = &external,
		.format = format,
		.type = type,
		.tiling = VK_IMAGE_TILING_DRM_FORMAT_MODIFIER_EXT,
		.usage = VK_IMAGE_USAGE_SAMPLED_BIT,
		.flags = (format == FORMAT ? VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT : 0) | more,
	};

	return vkGetPhysicalDeviceImageFormatProperties2(one.physical, &info, p);
}

static void formats(void)
{
	VkExternalImageFormatProperties external = {
		.sType = VK_STRUCTURE_TYPE_EXTERNAL_IMAGE_FORMAT_PROPERTIES,
	};
	VkImageFormatProperties2 p = { .sType = VK_STRUCTURE_TYPE_IMAGE_FORMAT_PROPERTIES_2,
				       .pNext = &external };
	const VkResult no = VK_ERROR_FORMAT_NOT_SUPPORTED;
	const uint64_t all[] = { TILED, LINEAR };
	uint32_t i;

	for (i = 0; i < 2; i++) {
		ktap_eq(query(FORMAT, VK_IMAGE_TYPE_2D, all[i], 0, &p), VK_SUCCESS);
		ktap_eq(external.externalMemoryProperties.externalMemoryFeatures,
			VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT |
				VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT);
		ktap_eq(p.imageFormatProperties.maxMipLevels, 1);
		ktap_eq(p.imageFormatProperties.maxArrayLayers, 1);
		ktap_eq(p.imageFormatProperties.sampleCounts, VK_SAMPLE_COUNT_1_BIT);
		ktap_ok(p.imageFormatProperties.maxExtent.width >= 4096);
		ktap_eq(query(FORMAT, VK_IMAGE_TYPE_3D, all[i], 0, &p), no);
		ktap_eq(query(VK_FORMAT_D32_SFLOAT, VK_IMAGE_TYPE_2D, all[i], 0, &p), no);
		ktap_eq(query(FORMAT, VK_IMAGE_TYPE_2D, all[i], VK_IMAGE_CREATE_DISJOINT_BIT, &p),
			no);
		ktap_eq(query(FORMAT, VK_IMAGE_TYPE_2D, all[i],
			      VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT, &p), no);
	}
	ktap_eq(query(FORMAT, VK_IMAGE_TYPE_2D, (1ull << 56) | 1, 0, &p), no);
}

/* ---- Images ---------------------------------------------------------------------------------- */

/* An image in memory of its own, which is mapped. */
struct image {
	VkImage image;
	VkDeviceMemory memory;
	VkDeviceSize size;
	uint8_t *map;
};

static VkImage create(struct vk *vk, const void *modifier)
{
	const VkExternalMemoryImageCreateInfo external = {
		.sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO,
		.pNext = modifier,
		.handleTypes = DMA_BUF,
	};
	const VkImageCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
		.pNext = &external,
		.imageType = VK_IMAGE_TYPE_2D,
		.format = FORMAT,
		.extent = { WIDTH, HEIGHT, 1 },
		.mipLevels = 1,
		.arrayLayers = 1,
		.samples = VK_SAMPLE_COUNT_1_BIT,
		.tiling = VK_IMAGE_TILING_DRM_FORMAT_MODIFIER_EXT,
		.usage = USAGE,
	};
	VkImage image;

	VK(vkCreateImage(vk->device, &info, NULL, &image));
	return image;
}

static VkImage create_from(struct vk *vk, const uint64_t *modifiers, uint32_t count)
{
	const VkImageDrmFormatModifierListCreateInfoEXT all = {
		.sType = VK_STRUCTURE_TYPE_IMAGE_DRM_FORMAT_MODIFIER_LIST_CREATE_INFO_EXT,
		.drmFormatModifierCount = count,
		.pDrmFormatModifiers = modifiers,
	};

	return create(vk, &all);
}

static VkImage create_at(struct vk *vk, uint64_t modifier, uint64_t offset, uint64_t pitch)
{
	const VkSubresourceLayout plane = { .offset = offset, .rowPitch = pitch };
	const VkImageDrmFormatModifierExplicitCreateInfoEXT exact = {
		.sType = VK_STRUCTURE_TYPE_IMAGE_DRM_FORMAT_MODIFIER_EXPLICIT_CREATE_INFO_EXT,
		.drmFormatModifier = modifier,
		.drmFormatModifierPlaneCount = 1,
		.pPlaneLayouts = &plane,
	};

	return create(vk, &exact);
}

/* Memory of an image: its own, or that of a dma-buf. */
static struct image bind(struct vk *vk, VkImage image, int fd)
{
	const VkMemoryDedicatedAllocateInfo dedicated = {
		.sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO,
		.image = image,
	};
	const VkExportMemoryAllocateInfo export = {
		.sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO,
		.pNext = &dedicated,
		.handleTypes = DMA_BUF,
	};
	const VkImportMemoryFdInfoKHR import = {
		.sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR,
		.pNext = &dedicated,
		.handleType = DMA_BUF,
		.fd = fd,
	};
	VkMemoryAllocateInfo alloc = {
		.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
		.pNext = fd >= 0 ? (const void *)&import : &export,
	};
	struct image i = { .image = image };
	VkMemoryRequirements needs;

	vkGetImageMemoryRequirements(vk->device, image, &needs);
	i.size = alloc.allocationSize = needs.size;
	VK(vkAllocateMemory(vk->device, &alloc, NULL, &i.memory));
	VK(vkBindImageMemory(vk->device, image, i.memory, 0));
	VK(vkMapMemory(vk->device, i.memory, 0, VK_WHOLE_SIZE, 0, (void **)&i.map));
	return i;
}

static void drop(struct vk *vk, struct image *i)
{
	vkDestroyImage(vk->device, i->image, NULL);
	vkFreeMemory(vk->device, i->memory, NULL);
}

static VkSubresourceLayout plane_of(struct vk *vk, VkImage image)
{
	const VkImageSubresource part = { .aspectMask = VK_IMAGE_ASPECT_MEMORY_PLANE_0_BIT_EXT };
	VkSubresourceLayout layout;

	vkGetImageSubresourceLayout(vk->device, image, &part, &layout);
	return layout;
}

static uint64_t modifier_of(struct vk *vk, VkImage image)
{
	VkImageDrmFormatModifierPropertiesEXT p = {
		.sType = VK_STRUCTURE_TYPE_IMAGE_DRM_FORMAT_MODIFIER_PROPERTIES_EXT,
	};

	VK(VK_FUNCTION(vk, vkGetImageDrmFormatModifierPropertiesEXT)(vk->device, image, &p));
	return p.drmFormatModifier;
}

/* Move an image from or to another owner; @from is the family that had it. */
static void own(VkCommandBuffer cmd, VkImage image, uint32_t from, uint32_t to,
		VkImageLayout before)
{
	const VkImageMemoryBarrier barrier = {
		.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
		.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
		.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT,
		.oldLayout = before,
		.newLayout = VK_IMAGE_LAYOUT_GENERAL,
		.srcQueueFamilyIndex = from,
		.dstQueueFamilyIndex = to,
		.image = image,
		.subresourceRange = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1 },
	};

	vkCmdPipelineBarrier(cmd, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
			     VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, NULL, 0, NULL, 1, &barrier);
}

static const VkBufferImageCopy whole = {
	.imageSubresource = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1 },
	.imageExtent = { WIDTH, HEIGHT, 1 },
};

/* Random texels, in the image and in @texels; then another owner has the image. */
static void fill(struct vk *vk, VkImage image, uint32_t texels[HEIGHT][WIDTH])
{
	struct vk_buf b = vk_buf_create(vk, 4 * WIDTH * HEIGHT, 0);
	VkCommandBuffer cmd = vk_begin(vk, 0);
	uint32_t i;

	for (i = 0; i < WIDTH * HEIGHT; i++)
		((uint32_t *)b.map)[i] = texels[i / WIDTH][i % WIDTH] = rnd();
	own(cmd, image, VK_QUEUE_FAMILY_IGNORED, VK_QUEUE_FAMILY_IGNORED,
	    VK_IMAGE_LAYOUT_UNDEFINED);
	vkCmdCopyBufferToImage(cmd, b.buffer, image, VK_IMAGE_LAYOUT_GENERAL, 1, &whole);
	own(cmd, image, 0, VK_QUEUE_FAMILY_FOREIGN_EXT, VK_IMAGE_LAYOUT_GENERAL);
	vk_end(vk, 0, cmd);
	vk_buf_destroy(vk, &b);
}

/* Byte of a texel, by the definition of the modifier. @pitch counts rows of texels. */
static uint64_t place(uint64_t modifier, uint64_t offset, uint64_t pitch, uint32_t x, uint32_t y)
{
	uint32_t i, index = 0;

	if (modifier == LINEAR)
		return offset + y * pitch + 4ull * x;
	for (i = 0; i < 4; i++)
		index |= ((x >> i ^ y >> i) & 1) << (2 * i) | (y >> i & 1) << (2 * i + 1);
	return offset + y / 16 * (16 * pitch) + x / 16 * 1024ull + 4ull * index;
}

/* All texels are in their places, and no other byte has changed from 0xee. */
static void check_memory(const struct image *image, uint64_t modifier, uint64_t offset,
			 uint64_t pitch, uint32_t texels[HEIGHT][WIDTH])
{
	uint8_t *copy = malloc(image->size);
	uint32_t x, y, bad = 0, wrong = 0;
	uint64_t at;

	memcpy(copy, image->map, image->size);
	for (y = 0; y < HEIGHT; y++) {
		for (x = 0; x < WIDTH; x++) {
			at = place(modifier, offset, pitch, x, y);
			if (at + 4 > image->size || memcmp(copy + at, &texels[y][x], 4))
				wrong++;
			else
				memset(copy + at, 0xee, 4);
		}
	}
	for (at = 0; at < image->size; at++)
		bad += copy[at] != 0xee;
	ktap_eq(wrong, 0);
	ktap_eq(bad, 0);
	free(copy);
}

static void chosen(void)
{
	const uint64_t both[] = { LINEAR, TILED };
	const struct {
		const uint64_t *modifiers;
		uint32_t count;
		uint64_t modifier, pitch;
	} cases[] = { { both, 2, TILED, 192 },
		      { both, 1, LINEAR, 192 },
		      { both + 1, 1, TILED, 192 } };
	uint32_t texels[HEIGHT][WIDTH], i;

	for (i = 0; i < 3; i++) {
		struct image image = bind(&one, create_from(&one, cases[i].modifiers,
							    cases[i].count), -1);
		const VkSubresourceLayout plane = plane_of(&one, image.image);

		ktap_eq(modifier_of(&one, image.image), cases[i].modifier);
		ktap_eq(plane.offset, 0);
		ktap_eq(plane.rowPitch, cases[i].pitch);
		memset(image.map, 0xee, image.size);
		fill(&one, image.image, texels);
		check_memory(&image, cases[i].modifier, 0, cases[i].pitch, texels);
		drop(&one, &image);
	}
}

static void exact(void)
{
	const struct {
		uint64_t modifier, offset, pitch;
	} cases[] = { { LINEAR, 0, 192 }, { LINEAR, 4096 + 64, 512 }, { TILED, 0, 192 },
		      { TILED, 64, 256 }, { TILED, 8192, 1024 } };
	uint32_t texels[HEIGHT][WIDTH], i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const uint64_t m = cases[i].modifier, offset = cases[i].offset;
		struct image image = bind(&one, create_at(&one, m, offset, cases[i].pitch), -1);
		const VkSubresourceLayout plane = plane_of(&one, image.image);

		ktap_eq(modifier_of(&one, image.image), m);
		ktap_eq(plane.offset, offset);
		ktap_eq(plane.rowPitch, cases[i].pitch);
		memset(image.map, 0xee, image.size);
		fill(&one, image.image, texels);
		check_memory(&image, m, offset, cases[i].pitch, texels);
		drop(&one, &image);
	}
}

/* ---- Two devices ----------------------------------------------------------------------------- */

static void compare(struct vk *vk, VkImage image, uint32_t texels[HEIGHT][WIDTH])
{
	struct vk_buf b = vk_buf_create(vk, 4 * WIDTH * HEIGHT, 0);
	VkCommandBuffer cmd = vk_begin(vk, 0);

	own(cmd, image, VK_QUEUE_FAMILY_FOREIGN_EXT, 0, VK_IMAGE_LAYOUT_GENERAL);
	vkCmdCopyImageToBuffer(cmd, image, VK_IMAGE_LAYOUT_GENERAL, b.buffer, 1, &whole);
	vk_end(vk, 0, cmd);
	ktap_mem_eq(b.map, texels, 4 * WIDTH * HEIGHT);
	vk_buf_destroy(vk, &b);
}

static void share(void)
{
	const uint64_t all[] = { TILED, LINEAR };
	VkMemoryGetFdInfoKHR get = { .sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR,
				     .handleType = DMA_BUF };
	uint32_t texels[HEIGHT][WIDTH], i;

	for (i = 0; i < 2; i++) {
		struct image from = bind(&one, create_from(&one, &all[i], 1), -1), to;
		const VkSubresourceLayout plane = plane_of(&one, from.image);
		VkMemoryFdPropertiesKHR p = {
			.sType = VK_STRUCTURE_TYPE_MEMORY_FD_PROPERTIES_KHR,
		};
		int fd;

		fill(&one, from.image, texels);
		get.memory = from.memory;
		VK(VK_FUNCTION(&one, vkGetMemoryFdKHR)(one.device, &get, &fd));
		VK(VK_FUNCTION(&two, vkGetMemoryFdPropertiesKHR)(two.device, DMA_BUF, fd, &p));
		ktap_eq(p.memoryTypeBits & 1, 1);
		to = bind(&two, create_at(&two, all[i], plane.offset, plane.rowPitch), fd);
		compare(&two, to.image, texels);
		drop(&two, &to);
		drop(&one, &from);
	}
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	vk_open_version(&one, VK_API_VERSION_1_1, extensions);
	vk_open_version(&two, VK_API_VERSION_1_1, extensions);
	ktap_run("the modifiers of a format", lists);
	ktap_run("images that may have a modifier", formats);
	ktap_run("images by a list of modifiers", chosen);
	ktap_run("images whose rows are where the program wants", exact);
	ktap_run("images of another device", share);
	vk_close(&one);
	vk_close(&two);
	return ktap_finish();
}
