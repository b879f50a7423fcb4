/* SPDX-License-Identifier: MIT */
/*
 * Layouts of shared images that no driver can use. They are wrong uses of Vulkan, but come from
 * other processes, so the driver refuses them. layers: none
 */
#include "vk.h"

#define LINEAR	0ull
#define TILED	((8ull << 56) | (1ull << 52) | 1)	/* ARM_16X16_BLOCK_U_INTERLEAVED */
#define WIDTH	37u
#define BAD	VK_ERROR_INVALID_DRM_FORMAT_MODIFIER_PLANE_LAYOUT_EXT

static const char *const extensions[] = { VK_EXT_IMAGE_DRM_FORMAT_MODIFIER_EXTENSION_NAME,
					  VK_KHR_IMAGE_FORMAT_LIST_EXTENSION_NAME, NULL };
static struct vk vk;

/* The result of creating an image; the image itself is dropped. */
static VkResult try(uint64_t modifier, uint32_t planes, uint64_t offset, uint64_t pitch)
{
	const VkSubresourceLayout layouts[4] = { { .offset = offset, .rowPitch = pitch } };
	const VkImageDrmFormatModifierExplicitCreateInfoEXT exact = {
		.sType = VK_STRUCTURE_TYPE_IMAGE_DRM_FORMAT_MODIFIER_EXPLICIT_CREATE_INFO_EXT,
		.drmFormatModifier = modifier,
		.drmFormatModifierPlaneCount = planes,
		.pPlaneLayouts = layouts,
	};
	const VkImageCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
		.pNext = &exact,
		.imageType = VK_IMAGE_TYPE_2D,
		.format = VK_FORMAT_B8G8R8A8_UNORM,
		.extent = { WIDTH, 21, 1 },
		.mipLevels = 1,
		.arrayLayers = 1,
		.samples = VK_SAMPLE_COUNT_1_BIT,
		.tiling = VK_IMAGE_TILING_DRM_FORMAT_MODIFIER_EXT,
		.usage = VK_IMAGE_USAGE_SAMPLED_BIT,
	};
	VkImage image = VK_NULL_HANDLE;
	const VkResult result = vkCreateImage(vk.device, &info, NULL, &image);

	if (result == VK_SUCCESS)
		vkDestroyImage(vk.device, image, NULL);
	return result;
}

static void pitches(void)
{
	static const uint64_t bad[] = { 0, 4, 4 * WIDTH, 128, 191, 193, 200, 1ull << 32, 1ull << 60,
					(1ull << 60) + 192, 1ull << 63, UINT64_MAX };
	uint32_t i;

	ktap_eq(try(LINEAR, 1, 0, 192), VK_SUCCESS);
	ktap_eq(try(TILED, 1, 0, 192), VK_SUCCESS);
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		if (try(LINEAR, 1, 0, bad[i]) != BAD || try(TILED, 1, 0, bad[i]) != BAD)
			ktap_fail("a pitch of %llu", (unsigned long long)bad[i]);
	}
	/* 16 rows of 196 bytes are a multiple of 64, but not of a tile */
	ktap_eq(try(TILED, 1, 0, 196), BAD);
	ktap_eq(try(TILED, 1, 0, 1ull << 28), BAD);
	ktap_eq(try(TILED, 1, 0, 256), VK_SUCCESS);
}

static void offsets(void)
{
	static const uint64_t bad[] = { 1, 63, 1ull << 50, 1ull << 63, UINT64_MAX - 63,
					UINT64_MAX - 4095, UINT64_MAX };
	const uint64_t modifiers[] = { LINEAR, TILED };
	uint32_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		if (try(modifiers[i % 2], 1, bad[i], 192) != BAD)
			ktap_fail("an offset of %llu", (unsigned long long)bad[i]);
	}
	ktap_eq(try(LINEAR, 1, 64, 192), VK_SUCCESS);
}

static void planes(void)
{
	ktap_eq(try(LINEAR, 0, 0, 192), BAD);
	ktap_eq(try(LINEAR, 2, 0, 192), BAD);
	ktap_eq(try(TILED, 4, 0, 192), BAD);
	ktap_eq(try((1ull << 56) | 1, 1, 0, 192), VK_ERROR_FEATURE_NOT_PRESENT);
	ktap_eq(try((1ull << 56) - 1, 1, 0, 192), VK_ERROR_FEATURE_NOT_PRESENT);
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	vk_open_version(&vk, VK_API_VERSION_1_1, extensions);
	ktap_run("pitches that cannot be used", pitches);
	ktap_run("offsets that cannot be used", offsets);
	ktap_run("planes and modifiers that cannot be used", planes);
	vk_close(&vk);
	return ktap_finish();
}
