/* SPDX-License-Identifier: MIT */
/* Compute shaders; the CPU computes the same values. */
#include "rnd.h"
#include "vk.h"

#include "address.h"
#include "arith.h"
#include "arrays.h"
#include "bounds.h"
#include "spin.h"
#include "sums.h"

#define SETS	3
#define STORAGE	VK_BUFFER_USAGE_STORAGE_BUFFER_BIT
#define UNIFORM	VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT
#define SHADER(name)	name, sizeof(name)

static struct vk vk;
static VkDescriptorPool pool;

/* A pipeline with its layout; descriptors of all sets are in one list. */
struct job {
	VkDescriptorSetLayout layouts[SETS];
	VkDescriptorSet sets[SETS];
	VkPipelineLayout layout;
	VkPipeline pipeline;
};

/* One binding of a shader. */
struct bind {
	uint32_t set, binding, count;
	VkDescriptorType type;
};

static void make_sets(struct job *job, const struct bind *binds, unsigned count)
{
	VkDescriptorSetLayoutBinding bindings[8];
	unsigned i, j, n;

	for (i = 0; i < SETS; i++) {
		VkDescriptorSetLayoutCreateInfo info = {
			.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
			.pBindings = bindings,
		};
		VkDescriptorSetAllocateInfo alloc = {
			.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
			.descriptorPool = pool,
			.descriptorSetCount = 1,
			.pSetLayouts = &job->layouts[i],
		};

		for (j = n = 0; j < count; j++) {
			if (binds[j].set == i)
				bindings[n++] = (VkDescriptorSetLayoutBinding){
					.binding = binds[j].binding,
					.descriptorType = binds[j].type,
					.descriptorCount = binds[j].count,
					.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
				};
		}
		info.bindingCount = n;
		VK(vkCreateDescriptorSetLayout(vk.device, &info, NULL, &job->layouts[i]));
		VK(vkAllocateDescriptorSets(vk.device, &alloc, &job->sets[i]));
	}
}

static struct job make(const uint32_t *code, size_t size, const struct bind *binds, unsigned count,
		       VkPipelineCache cache)
{
	const VkShaderModuleCreateInfo module_info = {
		.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
		.codeSize = size,
		.pCode = code,
	};
	const VkPushConstantRange push = { VK_SHADER_STAGE_COMPUTE_BIT, 0, 128 };
	struct job job;
	const VkPipelineLayoutCreateInfo layout = {
		.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
		.setLayoutCount = SETS,
		.pSetLayouts = job.layouts,
		.pushConstantRangeCount = 1,
		.pPushConstantRanges = &push,
	};
	VkComputePipelineCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
		.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
		.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT,
		.stage.pName = "main",
		.flags = VK_PIPELINE_CREATE_DISPATCH_BASE_KHR,
	};

	make_sets(&job, binds, count);
	VK(vkCreateShaderModule(vk.device, &module_info, NULL, &info.stage.module));
	VK(vkCreatePipelineLayout(vk.device, &layout, NULL, &job.layout));
	info.layout = job.layout;
	VK(vkCreateComputePipelines(vk.device, cache, 1, &info, NULL, &job.pipeline));
	vkDestroyShaderModule(vk.device, info.stage.module, NULL);
	return job;
}

static void destroy(struct job *job)
{
	unsigned i;

	vkDestroyPipeline(vk.device, job->pipeline, NULL);
	vkDestroyPipelineLayout(vk.device, job->layout, NULL);
	for (i = 0; i < SETS; i++)
		vkDestroyDescriptorSetLayout(vk.device, job->layouts[i], NULL);
	VK(vkResetDescriptorPool(vk.device, pool, 0));
}

static void put(const struct job *job, const struct bind *bind, uint32_t element,
		const struct vk_buf *b, VkDeviceSize offset, VkDeviceSize range)
{
	const VkDescriptorBufferInfo buffer = { b->buffer, offset, range };
	const VkWriteDescriptorSet write = {
		.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
		.dstSet = job->sets[bind->set],
		.dstBinding = bind->binding,
		.dstArrayElement = element,
		.descriptorCount = 1,
		.descriptorType = bind->type,
		.pBufferInfo = &buffer,
	};

	vkUpdateDescriptorSets(vk.device, 1, &write, 0, NULL);
}

static void bind(VkCommandBuffer cmd, const struct job *job, const void *push, uint32_t size,
		 uint32_t offsets, const uint32_t *offset)
{
	vkCmdBindPipeline(cmd, VK_PIPELINE_BIND_POINT_COMPUTE, job->pipeline);
	vkCmdBindDescriptorSets(cmd, VK_PIPELINE_BIND_POINT_COMPUTE, job->layout, 0, SETS,
				job->sets, offsets, offset);
	if (size)
		vkCmdPushConstants(cmd, job->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, size, push);
}

struct arith_push {
	uint32_t factor, limit, table[8];
};

static const struct bind arith_binds[] = { { 0, 3, 1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER } };

static void check_arith(const uint32_t *words, const struct arith_push *p, uint32_t count,
			uint32_t groups)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		ktap_eq(words[i], i < p->limit ? i * p->factor + i / 64 + 1000 * groups +
							 p->table[i & 7] : 0);
}

/* Indirect: the numbers are read by the device, after a copy has put them there. */
static void arithmetic(bool indirect)
{
	const struct arith_push push = { 7, 1000, { 1, 10, 100, 1000, 2, 20, 200, 2000 } };
	struct vk_buf b = vk_buf_create(&vk, 4096, STORAGE),
		      groups = vk_buf_create(&vk, 64, VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT);
	struct job job = make(SHADER(arith), arith_binds, 1, VK_NULL_HANDLE);
	const uint32_t numbers[3] = { 16, 1, 1 };
	VkCommandBuffer cmd = vk_begin(&vk, 0);

	memset(b.map, 0, 4096);
	put(&job, arith_binds, 0, &b, 0, VK_WHOLE_SIZE);
	bind(cmd, &job, &push, sizeof(push), 0, NULL);
	if (indirect) {
		vkCmdUpdateBuffer(cmd, groups.buffer, 4, 12, numbers);
		vk_order(cmd);
		vkCmdDispatchIndirect(cmd, groups.buffer, 4);
	} else {
		vkCmdDispatch(cmd, 16, 1, 1);
	}
	vk_end(&vk, 0, cmd);
	check_arith(b.map, &push, 1024, 16);
	destroy(&job);
	vk_buf_destroy(&vk, &b);
	vk_buf_destroy(&vk, &groups);
}

static void direct(void)
{
	arithmetic(false);
}

static void indirect(void)
{
	arithmetic(true);
}

/* Groups 2 to 4 of a grid; the shader is told that there are three. */
static void base(void)
{
	const struct arith_push push = { 5, 1024, { 0 } };
	struct vk_buf b = vk_buf_create(&vk, 4096, STORAGE);
	struct job job = make(SHADER(arith), arith_binds, 1, VK_NULL_HANDLE);
	VkCommandBuffer cmd = vk_begin(&vk, 0);
	const uint32_t *words = b.map;
	uint32_t i;

	memset(b.map, 0, 4096);
	put(&job, arith_binds, 0, &b, 0, VK_WHOLE_SIZE);
	bind(cmd, &job, &push, sizeof(push), 0, NULL);
	VK_FUNCTION(&vk, vkCmdDispatchBaseKHR)(cmd, 2, 0, 0, 3, 1, 1);
	vk_end(&vk, 0, cmd);
	for (i = 0; i < 1024; i++)
		ktap_eq(words[i], i >= 128 && i < 320 ? 5 * i + i / 64 + 3000 : 0);
	destroy(&job);
	vk_buf_destroy(&vk, &b);
}

static void sums_of_groups(void)
{
	static const struct bind binds[] = { { 0, 0, 1, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER },
					     { 1, 0, 1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER } };
	struct vk_buf in = vk_buf_create(&vk, 16384, UNIFORM),
		      out = vk_buf_create(&vk, 256, STORAGE);
	struct job job = make(SHADER(sums), binds, 2, VK_NULL_HANDLE);
	VkCommandBuffer cmd = vk_begin(&vk, 0);
	uint32_t *values = in.map, *sums_got = out.map, want[33] = { 0 }, i;

	for (i = 0; i < 4096; i++) {
		values[i] = rnd();
		want[0] += values[i];
		want[1 + i / 128] += values[i];
	}
	memset(out.map, 0xff, 256);
	put(&job, &binds[0], 0, &in, 0, VK_WHOLE_SIZE);
	put(&job, &binds[1], 0, &out, 0, VK_WHOLE_SIZE);
	/* a copy, a dispatch and a copy: three jobs in order */
	vkCmdFillBuffer(cmd, out.buffer, 0, 4, 0);
	vk_order(cmd);
	bind(cmd, &job, NULL, 0, 0, NULL);
	vkCmdDispatch(cmd, 32, 1, 1);
	vk_order(cmd);
	vkCmdCopyBuffer(cmd, out.buffer, out.buffer, 1, &(VkBufferCopy){ 0, 200, 4 });
	vk_end(&vk, 0, cmd);
	for (i = 0; i < 33; i++)
		ktap_eq(sums_got[i], want[i]);
	ktap_eq(sums_got[50], want[0]);
	destroy(&job);
	vk_buf_destroy(&vk, &in);
	vk_buf_destroy(&vk, &out);
}

static const struct bind bounds_binds[] = {
	{ 0, 0, 1, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC },
	{ 0, 1, 1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC },
	{ 0, 2, 1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER }
};

/*
 * Eight vectors and 24 words are bound, at dynamic offsets. The 32 threads start at element @first,
 * so some or all of them are beyond.
 */
static void beyond(uint32_t first)
{
	const uint32_t offsets[2] = { 256, 512 };
	struct vk_buf in = vk_buf_create(&vk, 1024, UNIFORM),
		      data = vk_buf_create(&vk, 1024, STORAGE),
		      out = vk_buf_create(&vk, 512, STORAGE);
	struct job job = make(SHADER(bounds), bounds_binds, 3, VK_NULL_HANDLE);
	uint32_t *values = in.map, *words = data.map, *got = out.map, i;
	VkCommandBuffer cmd = vk_begin(&vk, 0);

	for (i = 0; i < 256; i++)
		values[i] = words[i] = i + 1;
	put(&job, &bounds_binds[0], 0, &in, 0, 128);
	put(&job, &bounds_binds[1], 0, &data, 64, 96);
	put(&job, &bounds_binds[2], 0, &out, 0, VK_WHOLE_SIZE);
	bind(cmd, &job, &first, 4, 2, offsets);
	vkCmdDispatch(cmd, 2, 1, 1);
	vk_end(&vk, 0, cmd);
	for (i = 0; i < 32; i++) {
		ktap_eq(got[3 * i], first + i < 8 ? 64 + 4 * i + 2 : 0);
		ktap_eq(got[3 * i + 1], first + i < 24 ? 144 + i + 1 : 0);
		ktap_eq(got[3 * i + 2], 24);
	}
	for (i = 0; i < 256; i++)
		ktap_eq(words[i], !first && i >= 144 && i < 168 ? 0x1abcd : i + 1);
	destroy(&job);
	vk_buf_destroy(&vk, &in);
	vk_buf_destroy(&vk, &data);
	vk_buf_destroy(&vk, &out);
}

static void robust(void)
{
	beyond(0);
	beyond(1000);
	beyond(0x3fff0000);
	beyond(0xffffffc0);
}

static void arrays_of_buffers(void)
{
	static const struct bind binds[] = { { 0, 0, 4, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER },
					     { 2, 1, 2, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER } };
	struct vk_buf in = vk_buf_create(&vk, 4 * 4096, STORAGE),
		      out = vk_buf_create(&vk, 2 * 4096, STORAGE);
	struct job job = make(SHADER(arrays), binds, 2, VK_NULL_HANDLE);
	VkCommandBuffer cmd = vk_begin(&vk, 0);
	const uint32_t *got = out.map;
	uint32_t *words = in.map, i;

	for (i = 0; i < 4096; i++)
		words[i] = rnd();
	for (i = 0; i < 4; i++)
		put(&job, &binds[0], i, &in, 4096 * i, 4096);
	for (i = 0; i < 2; i++)
		put(&job, &binds[1], i, &out, 4096 * i, 4096);
	bind(cmd, &job, NULL, 0, 0, NULL);
	vkCmdDispatch(cmd, 32, 1, 1);
	vk_end(&vk, 0, cmd);
	for (i = 0; i < 1024; i++) {
		const uint32_t k = (i * 7) % 96;

		ktap_eq(got[1024 * (i & 1) + i / 2],
			words[1024 * (i % 4) + i] + words[1024 * (k & 3) + k] + i);
	}
	destroy(&job);
	vk_buf_destroy(&vk, &in);
	vk_buf_destroy(&vk, &out);
}

struct node {
	VkDeviceAddress next;
	uint32_t value, seen;
};

static void addresses(void)
{
	struct vk_buf b[8];
	VkDeviceAddress at[8];
	struct job job = make(SHADER(address), NULL, 0, VK_NULL_HANDLE);
	struct {
		VkDeviceAddress first;
		uint32_t count;
	} push = { 0, 8 };
	VkCommandBuffer cmd = vk_begin(&vk, 0);
	uint32_t i, sum = 0;

	for (i = 0; i < 8; i++) {
		VkBufferDeviceAddressInfo info = {
			.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
		};

		b[i] = vk_buf_create(&vk, 64, STORAGE | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT);
		info.buffer = b[i].buffer;
		at[i] = VK_FUNCTION(&vk, vkGetBufferDeviceAddressKHR)(vk.device, &info);
	}
	for (i = 0; i < 8; i++)
		*(struct node *)b[i].map = (struct node){ at[(i + 3) % 8], 1u << i, 0 };
	push.first = at[0];
	vkCmdBindPipeline(cmd, VK_PIPELINE_BIND_POINT_COMPUTE, job.pipeline);
	vkCmdPushConstants(cmd, job.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, 12, &push);
	vkCmdDispatch(cmd, 1, 1, 1);
	vk_end(&vk, 0, cmd);
	for (i = 0; i < 8; i++) {
		const uint32_t n = 3 * i % 8;

		sum += 1u << n;
		ktap_eq(((struct node *)b[n].map)->seen, sum);
	}
	for (i = 0; i < 8; i++)
		vk_buf_destroy(&vk, &b[i]);
	destroy(&job);
}

/* ---- Copies beside dispatches ---------------------------------------------------------------- */

/* The order of a dispatch and the copy after it. */
enum between { NOTHING, BARRIER, EVENT };

#define SEEN		1u	/* the dispatch saw the word that the host had stored */
#define GIVEN_UP	2u	/* the dispatch saw no such word */

static const struct bind spin_binds[] = { { 0, 0, 1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER } };

static void order_by_event(VkCommandBuffer cmd, VkEvent event)
{
	const VkMemoryBarrier all = {
		.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
		.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
		.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT,
	};

	vkCmdSetEvent(cmd, event, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT);
	vkCmdWaitEvents(cmd, 1, &event, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
			VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 1, &all, 0, NULL, 0, NULL);
}

/*
 * A dispatch waits for a word that the host stores when it sees what a later copy has stored, if it
 * @answers. Without an order between them the copy does not wait; otherwise the dispatch waits in
 * vain. In any case the fence is the end of both.
 */
static void beside(enum between between, uint32_t most, bool answers, uint32_t result)
{
	const VkEventCreateInfo info = { .sType = VK_STRUCTURE_TYPE_EVENT_CREATE_INFO };
	struct vk_buf wait = vk_buf_create(&vk, 64, STORAGE), copy = vk_buf_create(&vk, 64, 0);
	struct job job = make(SHADER(spin), spin_binds, 1, VK_NULL_HANDLE);
	volatile uint32_t *words = wait.map, *copied = copy.map;
	VkFence fence = vk_fence(&vk);
	VkCommandBuffer cmd = vk_begin(&vk, 0);
	VkEvent event;

	VK(vkCreateEvent(vk.device, &info, NULL, &event));
	memset(wait.map, 0, 64);
	memset(copy.map, 0, 64);
	put(&job, spin_binds, 0, &wait, 0, VK_WHOLE_SIZE);
	bind(cmd, &job, &most, sizeof(most), 0, NULL);
	vkCmdDispatch(cmd, 1, 1, 1);
	if (between == BARRIER)
		vk_order(cmd);
	else if (between == EVENT)
		order_by_event(cmd, event);
	vkCmdFillBuffer(cmd, copy.buffer, 0, 4, 5);
	VK(vkEndCommandBuffer(cmd));
	vk_submit(vk.queue[0][0], cmd, VK_NULL_HANDLE, VK_NULL_HANDLE, fence);
	while (answers && vkGetFenceStatus(vk.device, fence) == VK_NOT_READY)
		words[0] = *copied == 5;
	ktap_eq(vkWaitForFences(vk.device, 1, &fence, VK_TRUE, VK_SOON), VK_SUCCESS);
	ktap_eq(words[1], result);
	ktap_eq(*copied, 5);
	vkFreeCommandBuffers(vk.device, vk.pool[0], 1, &cmd);
	vkDestroyEvent(vk.device, event, NULL);
	vkDestroyFence(vk.device, fence, NULL);
	destroy(&job);
	vk_buf_destroy(&vk, &wait);
	vk_buf_destroy(&vk, &copy);
}

static void copy_beside(void)
{
	beside(NOTHING, 3000000, true, SEEN);
}

static void copy_after(void)
{
	beside(BARRIER, 100000, true, GIVEN_UP);
	beside(EVENT, 100000, true, GIVEN_UP);
}

static void end_of_both(void)
{
	beside(NOTHING, 1000000, false, GIVEN_UP);
}

/* A cache's data make the second pipeline, and it does the same. */
static void cache(void)
{
	const struct arith_push push = { 3, 64, { 0 } };
	VkPipelineCacheCreateInfo info = { .sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO };
	struct vk_buf b = vk_buf_create(&vk, 4096, STORAGE);
	static uint8_t data[1 << 20];
	size_t size = sizeof(data);
	VkPipelineCache first, second;
	VkCommandBuffer cmd;
	struct job job;

	VK(vkCreatePipelineCache(vk.device, &info, NULL, &first));
	job = make(SHADER(arith), arith_binds, 1, first);
	destroy(&job);
	VK(vkGetPipelineCacheData(vk.device, first, &size, data));
	ktap_ok(size > 100);
	info.initialDataSize = size;
	info.pInitialData = data;
	VK(vkCreatePipelineCache(vk.device, &info, NULL, &second));
	job = make(SHADER(arith), arith_binds, 1, second);
	put(&job, arith_binds, 0, &b, 0, VK_WHOLE_SIZE);
	memset(b.map, 0, 4096);
	cmd = vk_begin(&vk, 0);
	bind(cmd, &job, &push, sizeof(push), 0, NULL);
	vkCmdDispatch(cmd, 1, 1, 1);
	vk_end(&vk, 0, cmd);
	check_arith(b.map, &push, 1024, 1);
	destroy(&job);
	vkDestroyPipelineCache(vk.device, first, NULL);
	vkDestroyPipelineCache(vk.device, second, NULL);
	vk_buf_destroy(&vk, &b);
}

static void make_pool(void)
{
	static const VkDescriptorPoolSize sizes[] = {
		{ VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, 16 },
		{ VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 16 },
		{ VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC, 4 },
		{ VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC, 4 },
	};
	const VkDescriptorPoolCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
		.maxSets = SETS,
		.poolSizeCount = 4,
		.pPoolSizes = sizes,
	};

	VK(vkCreateDescriptorPool(vk.device, &info, NULL, &pool));
}

int main(int argc, char **argv)
{
	static const char *const extensions[] = { VK_KHR_BUFFER_DEVICE_ADDRESS_EXTENSION_NAME,
						  NULL };

	ktap_start_args(argc, argv);
	vk_open(&vk, extensions);
	make_pool();
	ktap_run("a dispatch with push constants", direct);
	ktap_run("an indirect dispatch", indirect);
	ktap_run("a dispatch with a base", base);
	ktap_run("shared memory, barriers, atomics, between copies", sums_of_groups);
	ktap_run("accesses beyond buffers, dynamic offsets", robust);
	ktap_run("arrays of buffers, scratch memory", arrays_of_buffers);
	ktap_run("buffer addresses", addresses);
	ktap_run("a copy runs beside a dispatch", copy_beside);
	ktap_run("a copy waits for a dispatch before a barrier or an event", copy_after);
	ktap_run("a fence is the end of a dispatch and of the copy beside it", end_of_both);
	ktap_run("pipeline caches", cache);
	vkDestroyDescriptorPool(vk.device, pool, NULL);
	vk_close(&vk);
	return ktap_finish();
}
