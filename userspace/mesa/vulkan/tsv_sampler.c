// SPDX-License-Identifier: MIT
#include "tsv_image.h"

#include "vk_alloc.h"

static uint32_t wrap_of(VkSamplerAddressMode mode)
{
	switch (mode) {
	case VK_SAMPLER_ADDRESS_MODE_REPEAT:
		return TSR_WRAP_MODE_REPEAT;
	case VK_SAMPLER_ADDRESS_MODE_MIRRORED_REPEAT:
		return TSR_WRAP_MODE_MIRRORED_REPEAT;
	case VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER:
		return TSR_WRAP_MODE_CLAMP_TO_BORDER;
	case VK_SAMPLER_ADDRESS_MODE_MIRROR_CLAMP_TO_EDGE:
		return TSR_WRAP_MODE_MIRRORED_CLAMP_TO_EDGE;
	default:
		return TSR_WRAP_MODE_CLAMP_TO_EDGE;
	}
}

static uint32_t lod_of(float value)
{
	return (uint32_t)CLAMP(value * 256.0f, 0.0f, (float)TC_LOD_MAX);
}

static uint32_t mipmap_of(const VkSamplerCreateInfo *s)
{
	if (s->unnormalizedCoordinates)
		return TSR_MIPMAP_MODE_NONE;
	return s->mipmapMode == VK_SAMPLER_MIPMAP_MODE_LINEAR ? TSR_MIPMAP_MODE_LINEAR
							      : TSR_MIPMAP_MODE_NEAREST;
}

static struct tsr_sampler describe(const VkSamplerCreateInfo *s)
{
	const bool aniso = s->anisotropyEnable && s->maxAnisotropy > 1;

	return (struct tsr_sampler){
		.type = 1,
		.wrap_s = wrap_of(s->addressModeU),
		.wrap_t = wrap_of(s->addressModeV),
		.wrap_r = wrap_of(s->addressModeW),
		.seamless = true,
		.normalized = !s->unnormalizedCoordinates,
		.clamp_layer = true,
		.min_nearest = s->minFilter == VK_FILTER_NEAREST,
		.mag_nearest = s->magFilter == VK_FILTER_NEAREST,
		.mipmap = mipmap_of(s),
		.min_lod = lod_of(s->minLod),
		.max_lod = lod_of(s->maxLod),
		.compare = s->compareEnable ? tc_mirrored((uint32_t)s->compareOp)
					    : TSR_COMPARE_FUNCTION_ALWAYS,
		.lod_bias = (int32_t)CLAMP(s->mipLodBias * 256.0f, -32768.0f, 32767.0f),
		.anisotropy = aniso ? (uint32_t)s->maxAnisotropy - 1 : 0,
		.lod_algorithm = aniso ? TSR_LOD_ALGORITHM_ANISOTROPIC
				       : TSR_LOD_ALGORITHM_ISOTROPIC,
	};
}

void tsv_sampler_pack(const struct tsv_sampler *sampler, enum pipe_format format, uint64_t *words)
{
	struct tsr_sampler state = sampler->state;
	uint32_t stored[4];

	if (sampler->border) {
		tc_border(format ? format : PIPE_FORMAT_R8G8B8A8_UNORM,
			  sampler->vk.border_color_value.uint32, stored);
		state.border_r = stored[0];
		state.border_g = stored[1];
		state.border_b = stored[2];
		state.border_a = stored[3];
	}
	tsr_pack_sampler(words, &state);
}

VKAPI_ATTR VkResult VKAPI_CALL tsv_CreateSampler(VkDevice handle, const VkSamplerCreateInfo *info,
						 const VkAllocationCallbacks *alloc, VkSampler *out)
{
	VK_FROM_HANDLE(tsv_device, device, handle);
	struct tsv_sampler *sampler = vk_sampler_create(&device->vk, info, alloc, sizeof(*sampler));

	if (!sampler)
		return vk_error(device, VK_ERROR_OUT_OF_HOST_MEMORY);
	sampler->state = describe(info);
	sampler->border = info->addressModeU == VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER ||
			  info->addressModeV == VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER ||
			  info->addressModeW == VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER;
	*out = tsv_sampler_to_handle(sampler);
	return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL tsv_DestroySampler(VkDevice handle, VkSampler smp,
					      const VkAllocationCallbacks *alloc)
{
	VK_FROM_HANDLE(tsv_device, device, handle);
	VK_FROM_HANDLE(tsv_sampler, sampler, smp);

	if (sampler)
		vk_sampler_destroy(&device->vk, alloc, &sampler->vk);
}
