/* SPDX-License-Identifier: MIT */
/* Numbers of 64, 16 and 8 bits in compute shaders. The CPU computes the same. */
#include "draw.h"
#include "rnd.h"

#include "widths.h"

#define COUNT	64
#define WIDE	12
#define NARROW	8

static const char *const extensions[] = { VK_KHR_STORAGE_BUFFER_STORAGE_CLASS_EXTENSION_NAME,
					  VK_KHR_16BIT_STORAGE_EXTENSION_NAME,
					  VK_KHR_8BIT_STORAGE_EXTENSION_NAME, NULL };
static struct vk vk;

struct in {
	int64_t a[COUNT], b[COUNT];
	int16_t c[COUNT], d[COUNT];
	uint8_t e[COUNT];
};

struct out {
	int64_t wide[WIDE][COUNT];
	int16_t narrow[NARROW][COUNT];
	uint8_t bytes[2][COUNT];
};

/* Numbers of all magnitudes, with the extreme ones; never 0, which may not divide. */
static int64_t number(uint32_t i)
{
	static const int64_t special[] = { 1, -1, INT64_MAX, INT64_MIN + 1, 0xffffffff, 0x100000000,
					   -0x100000000, 3 };
	const uint64_t any = (uint64_t)rnd() << 32 | rnd();

	return i < 8 ? special[i] : (int64_t)(any >> rnd_below(60)) | 1;
}

static void fill(struct in *in, int16_t same[2 * COUNT])
{
	for (uint32_t i = 0; i < COUNT; i++) {
		in->a[i] = number(rnd_below(COUNT));
		in->b[i] = number(i);
		in->c[i] = (int16_t)rnd();
		in->d[i] = (int16_t)(rnd() | 1);
		in->e[i] = (uint8_t)rnd();
	}
	/* std140: an element of 4 numbers has 16 bytes */
	for (uint32_t i = 0; i < 2 * COUNT; i++)
		same[i] = (int16_t)rnd();
}

static void compute(const struct in *in, const int16_t *same, uint32_t i, struct out *out)
{
	const int64_t x = in->a[i], y = in->b[i];
	const uint64_t ux = (uint64_t)x, uy = (uint64_t)y;
	const int16_t v = in->c[i], w = in->d[i];
	const unsigned n = (unsigned)y & 63;
	const int64_t wide[WIDE] = {
		(int64_t)(ux + uy), (int64_t)(ux - uy), (int64_t)(ux * uy), x / y,
		(int64_t)(ux / uy), (int64_t)(ux % uy), (int64_t)(ux << n), x >> n,
		(int64_t)(ux >> n), (x < y) + 2 * (ux < uy),
		(x < y ? x : y) ^ (y < 0 ? -y : y), (int64_t)v * w,
	};
	const int16_t narrow[NARROW] = {
		(int16_t)(v + w), (int16_t)(v * w), (int16_t)(v - w), (int16_t)(v / w),
		(int16_t)(v >> (w & 15)), v > w ? v : w, (int16_t)x, same[8 * (i / 4) + i % 4],
	};

	for (uint32_t k = 0; k < WIDE; k++)
		out->wide[k][i] = wide[k];
	for (uint32_t k = 0; k < NARROW; k++)
		out->narrow[k][i] = narrow[k];
	out->bytes[0][i] = (uint8_t)(in->e[i] + v);
	out->bytes[1][i] = in->e[COUNT - 1 - i];
}

static VkPipeline make_pipeline(VkPipelineLayout layout)
{
	const VkShaderModuleCreateInfo module = {
		.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
		.codeSize = sizeof(widths),
		.pCode = widths,
	};
	VkComputePipelineCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
		.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
		.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT,
		.stage.pName = "main",
		.layout = layout,
	};
	VkPipeline pipeline;

	VK(vkCreateShaderModule(vk.device, &module, NULL, &info.stage.module));
	VK(vkCreateComputePipelines(vk.device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline));
	vkDestroyShaderModule(vk.device, info.stage.module, NULL);
	return pipeline;
}

static void run(const struct vk_buf b[3])
{
	static const VkDescriptorType types[3] = { VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
						   VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
						   VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER };
	VkDescriptorSetLayoutBinding bindings[3];
	VkDescriptorSetLayout set_layout;
	VkDescriptorPool pool = draw_pool(&vk);
	VkPipelineLayout layout;
	VkPipeline pipeline;
	VkDescriptorSet set;
	VkCommandBuffer cmd;
	uint32_t i;

	for (i = 0; i < 3; i++)
		bindings[i] = (VkDescriptorSetLayoutBinding){
			.binding = i,
			.descriptorType = types[i],
			.descriptorCount = 1,
			.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
		};
	set = draw_set(&vk, pool, bindings, 3, &set_layout);
	for (i = 0; i < 3; i++)
		draw_put(&vk, set, i, types[i], VK_NULL_HANDLE, VK_NULL_HANDLE, &b[i]);
	layout = draw_layout(&vk, 1, &set_layout);
	pipeline = make_pipeline(layout);
	cmd = vk_begin(&vk, 0);
	vkCmdBindPipeline(cmd, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
	vkCmdBindDescriptorSets(cmd, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &set, 0, NULL);
	vkCmdDispatch(cmd, 1, 1, 1);
	vk_end(&vk, 0, cmd);
	vkDestroyPipeline(vk.device, pipeline, NULL);
	vkDestroyPipelineLayout(vk.device, layout, NULL);
	vkDestroyDescriptorSetLayout(vk.device, set_layout, NULL);
	vkDestroyDescriptorPool(vk.device, pool, NULL);
}

static void compare(const struct out *got, const struct out *want)
{
	for (uint32_t i = 0; i < COUNT; i++) {
		for (uint32_t k = 0; k < WIDE; k++) {
			if (got->wide[k][i] != want->wide[k][i])
				ktap_fail("64 bits, operation %u: 0x%llx, not 0x%llx", k,
					  (unsigned long long)got->wide[k][i],
					  (unsigned long long)want->wide[k][i]);
		}
		for (uint32_t k = 0; k < NARROW; k++) {
			if (got->narrow[k][i] != want->narrow[k][i])
				ktap_fail("16 bits, operation %u: %d, not %d", k,
					  got->narrow[k][i], want->narrow[k][i]);
		}
		ktap_eq(got->bytes[0][i], want->bytes[0][i]);
		ktap_eq(got->bytes[1][i], want->bytes[1][i]);
	}
}

static void numbers(void)
{
	struct vk_buf b[3] = {
		vk_buf_create(&vk, sizeof(struct in), VK_BUFFER_USAGE_STORAGE_BUFFER_BIT),
		vk_buf_create(&vk, sizeof(struct out), VK_BUFFER_USAGE_STORAGE_BUFFER_BIT),
		vk_buf_create(&vk, 4 * COUNT, VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT),
	};
	static struct out want;

	fill(b[0].map, b[2].map);
	for (uint32_t i = 0; i < COUNT; i++)
		compute(b[0].map, b[2].map, i, &want);
	run(b);
	compare(b[1].map, &want);
	for (uint32_t i = 0; i < 3; i++)
		vk_buf_destroy(&vk, &b[i]);
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	vk_open(&vk, extensions);
	ktap_run("numbers of 64, 16 and 8 bits", numbers);
	vk_close(&vk);
	return ktap_finish();
}
