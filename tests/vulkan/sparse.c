/* SPDX-License-Identifier: MIT */
/*
 * Sparse memory: random binds of a buffer's pages against a model on the CPU, images whose memory
 * is in pieces, binds that wait for semaphores.
 */
#include "rnd.h"
#include "vk.h"

#define PAGE	4096u
#define PAGES	64u		/* of the buffer */
#define MEMORY	48u		/* pages of memory */
#define ROUNDS	40
#define WORDS	(PAGE / 4)

static const char *const extensions[] = { VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME, NULL };
static struct vk vk;

/* The expected state. */
struct model {
	int page[PAGES];		/* page of memory, or -1 */
	bool taken[MEMORY];
	uint32_t words[MEMORY];		/* all words of a page have the same value */
};

static VkDeviceMemory alloc(VkDeviceSize size, uint32_t types)
{
	const VkMemoryAllocateInfo info = { .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
					    .allocationSize = size };
	VkDeviceMemory memory;

	ktap_ok(types & 1);
	VK(vkAllocateMemory(vk.device, &info, NULL, &memory));
	return memory;
}

static VkBuffer sparse_buffer(VkDeviceSize size)
{
	const VkBufferCreateInfo info = { .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
					  .flags = VK_BUFFER_CREATE_SPARSE_BINDING_BIT |
						   VK_BUFFER_CREATE_SPARSE_RESIDENCY_BIT,
					  .size = size,
					  .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
						   VK_BUFFER_USAGE_TRANSFER_DST_BIT };
	VkMemoryRequirements needs;
	VkBuffer buffer;

	VK(vkCreateBuffer(vk.device, &info, NULL, &buffer));
	vkGetBufferMemoryRequirements(vk.device, buffer, &needs);
	ktap_eq(needs.alignment, PAGE);
	ktap_eq(needs.size, size);
	return buffer;
}

static void bind_buffer(VkQueue queue, VkBuffer buffer, uint32_t count,
			const VkSparseMemoryBind *binds, VkSemaphore wait, VkSemaphore signal)
{
	const VkSparseBufferMemoryBindInfo buffer_binds = { buffer, count, binds };
	const VkBindSparseInfo info = {
		.sType = VK_STRUCTURE_TYPE_BIND_SPARSE_INFO,
		.waitSemaphoreCount = wait != VK_NULL_HANDLE,
		.pWaitSemaphores = &wait,
		.bufferBindCount = 1,
		.pBufferBinds = &buffer_binds,
		.signalSemaphoreCount = signal != VK_NULL_HANDLE,
		.pSignalSemaphores = &signal,
	};

	VK(vkQueueBindSparse(queue, 1, &info, VK_NULL_HANDLE));
}

/* A page of memory that no page of the buffer has, or -1. */
static int free_page(const struct model *m)
{
	uint32_t i, at = rnd() % MEMORY;

	for (i = 0; i < MEMORY; i++) {
		if (!m->taken[(at + i) % MEMORY])
			return (int)((at + i) % MEMORY);
	}
	return -1;
}

/* Choose what one page is bound to, other than it is. */
static VkSparseMemoryBind rebind(struct model *m, uint32_t page, VkDeviceMemory memory)
{
	const int to = rnd() % 3 ? free_page(m) : -1;
	VkSparseMemoryBind bind = { .resourceOffset = page * (VkDeviceSize)PAGE, .size = PAGE };

	if (m->page[page] >= 0)
		m->taken[m->page[page]] = false;
	m->page[page] = to;
	if (to < 0)
		return bind;
	m->taken[to] = true;
	bind.memory = memory;
	bind.memoryOffset = to * (VkDeviceSize)PAGE;
	return bind;
}

/* Fill some pages, with or without memory, and copy the whole buffer. */
static void record(VkCommandBuffer cmd, struct model *m, VkBuffer buffer, const struct vk_buf *out)
{
	const VkBufferCopy all = { 0, 0, PAGES * (VkDeviceSize)PAGE };
	uint32_t i;

	for (i = 0; i < 4; i++) {
		const uint32_t page = 16 * i + rnd() % 16, value = rnd();

		vkCmdFillBuffer(cmd, buffer, page * (VkDeviceSize)PAGE, PAGE, value);
		if (m->page[page] >= 0)
			m->words[m->page[page]] = value;
	}
	vk_order(cmd);
	vkCmdCopyBuffer(cmd, buffer, out->buffer, 1, &all);
	vk_order(cmd);
}

static void compare(const struct model *m, const struct vk_buf *out)
{
	const uint32_t *words = out->map;
	uint32_t page, i, bad = 0;

	for (page = 0; page < PAGES; page++) {
		const uint32_t wanted = m->page[page] >= 0 ? m->words[m->page[page]] : 0;

		for (i = 0; i < WORDS; i++)
			bad += words[page * WORDS + i] != wanted;
	}
	ktap_eq(bad, 0);
}

static void fill_memory(struct model *m, VkDeviceMemory memory)
{
	uint32_t *words, i, page;

	VK(vkMapMemory(vk.device, memory, 0, VK_WHOLE_SIZE, 0, (void **)&words));
	for (page = 0; page < MEMORY; page++) {
		m->words[page] = rnd();
		for (i = 0; i < WORDS; i++)
			words[page * WORDS + i] = m->words[page];
	}
	vkUnmapMemory(vk.device, memory);
	for (page = 0; page < PAGES; page++)
		m->page[page] = -1;
}

/* Each round binds on one queue, then works on another, ordered by semaphores alone. */
static void random_binds(void)
{
	static struct model m;
	VkBuffer buffer = sparse_buffer(PAGES * PAGE);
	VkDeviceMemory memory = alloc(MEMORY * PAGE, 1);
	struct vk_buf out = vk_buf_create(&vk, PAGES * PAGE, 0);
	VkSemaphore bound = vk_semaphore(&vk), done = vk_semaphore(&vk);
	VkFence fence = vk_fence(&vk);
	uint32_t round, i;

	fill_memory(&m, memory);
	for (round = 0; round < ROUNDS; round++) {
		const uint32_t family = rnd() % vk.families, binder = rnd() % vk.families;
		VkCommandBuffer cmd = vk_begin(&vk, family);
		VkSparseMemoryBind binds[8];

		for (i = 0; i < 8; i++)
			binds[i] = rebind(&m, 8 * i + rnd() % 8, memory);
		bind_buffer(vk.queue[binder][0], buffer, 8, binds,
			    round ? done : VK_NULL_HANDLE, bound);
		record(cmd, &m, buffer, &out);
		VK(vkEndCommandBuffer(cmd));
		vk_submit(vk.queue[family][0], cmd, bound, done, fence);
		VK(vkWaitForFences(vk.device, 1, &fence, VK_TRUE, VK_SOON));
		VK(vkResetFences(vk.device, 1, &fence));
		compare(&m, &out);
		vkFreeCommandBuffers(vk.device, vk.pool[family], 1, &cmd);
	}
	VK(vkDeviceWaitIdle(vk.device));
	vkDestroyFence(vk.device, fence, NULL);
	vkDestroySemaphore(vk.device, bound, NULL);
	vkDestroySemaphore(vk.device, done, NULL);
	vkDestroyBuffer(vk.device, buffer, NULL);
	vkFreeMemory(vk.device, memory, NULL);
	vk_buf_destroy(&vk, &out);
}

/* A bind that waits for a point that the CPU signals later; a copy waits for the bind. */
static void waiting_bind(void)
{
	const uint64_t wait = 1, signal = 2;
	const VkTimelineSemaphoreSubmitInfo points = {
		.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
		.waitSemaphoreValueCount = 1,
		.pWaitSemaphoreValues = &wait,
		.signalSemaphoreValueCount = 1,
		.pSignalSemaphoreValues = &signal,
	};
	struct vk_buf out = vk_buf_create(&vk, PAGE, 0);
	VkBuffer buffer = sparse_buffer(PAGE);
	VkDeviceMemory memory = alloc(PAGE, 1);
	VkSemaphore timeline = vk_timeline(&vk, 0);
	const VkSparseMemoryBind bind = { .size = PAGE, .memory = memory };
	const VkSparseBufferMemoryBindInfo buffer_binds = { buffer, 1, &bind };
	const VkBindSparseInfo info = {
		.sType = VK_STRUCTURE_TYPE_BIND_SPARSE_INFO,
		.pNext = &points,
		.waitSemaphoreCount = 1,
		.pWaitSemaphores = &timeline,
		.bufferBindCount = 1,
		.pBufferBinds = &buffer_binds,
		.signalSemaphoreCount = 1,
		.pSignalSemaphores = &timeline,
	};
	const VkSemaphoreSignalInfo go = { .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
					   .semaphore = timeline,
					   .value = 1 };
	const VkBufferCopy all = { 0, 0, PAGE };
	VkCommandBuffer cmd = vk_begin(&vk, 0);
	VkFence fence = vk_fence(&vk);
	uint32_t *words;

	VK(vkMapMemory(vk.device, memory, 0, VK_WHOLE_SIZE, 0, (void **)&words));
	words[WORDS - 1] = 4711;
	((uint32_t *)out.map)[WORDS - 1] = 1;
	vkCmdCopyBuffer(cmd, buffer, out.buffer, 1, &all);
	VK(vkEndCommandBuffer(cmd));
	VK(vkQueueBindSparse(vk.queue[0][0], 1, &info, VK_NULL_HANDLE));
	vk_submit(vk.queue[0][0], cmd, VK_NULL_HANDLE, VK_NULL_HANDLE, fence);
	ktap_eq(vkWaitForFences(vk.device, 1, &fence, VK_TRUE, 50000000), VK_TIMEOUT);
	ktap_eq(((uint32_t *)out.map)[WORDS - 1], 1);
	VK(VK_FUNCTION(&vk, vkSignalSemaphoreKHR)(vk.device, &go));
	VK(vkWaitForFences(vk.device, 1, &fence, VK_TRUE, VK_SOON));
	ktap_eq(((uint32_t *)out.map)[WORDS - 1], 4711);
	VK(vkDeviceWaitIdle(vk.device));
	vkFreeCommandBuffers(vk.device, vk.pool[0], 1, &cmd);
	vkDestroyFence(vk.device, fence, NULL);
	vkDestroySemaphore(vk.device, timeline, NULL);
	vkDestroyBuffer(vk.device, buffer, NULL);
	vkFreeMemory(vk.device, memory, NULL);
	vk_buf_destroy(&vk, &out);
}

/*
 * A bind waits for work that waits for the CPU. Meanwhile memory is allocated and freed, and work
 * on the other queue uses it.
 */
static void allocations(void)
{
	const VkEventCreateInfo event_info = { .sType = VK_STRUCTURE_TYPE_EVENT_CREATE_INFO };
	VkBuffer buffer = sparse_buffer(PAGE);
	VkDeviceMemory memory = alloc(PAGE, 1);
	const VkSparseMemoryBind bind = { .size = PAGE, .memory = memory };
	VkSemaphore bound = vk_semaphore(&vk), done = vk_semaphore(&vk);
	VkCommandBuffer hold = vk_begin(&vk, 0), late = vk_begin(&vk, 0), copy;
	VkFence fence = vk_fence(&vk);
	struct vk_buf from, to;
	VkEvent event;

	VK(vkCreateEvent(vk.device, &event_info, NULL, &event));
	vkCmdWaitEvents(hold, 1, &event, VK_PIPELINE_STAGE_HOST_BIT,
			VK_PIPELINE_STAGE_TRANSFER_BIT, 0, NULL, 0, NULL, 0, NULL);
	VK(vkEndCommandBuffer(hold));
	vk_submit(vk.queue[0][0], hold, VK_NULL_HANDLE, done, VK_NULL_HANDLE);
	bind_buffer(vk.queue[1][0], buffer, 1, &bind, done, bound);
	/* a synchronous mapping would wait for the bind, and so would the CPU */
	vkFreeMemory(vk.device, alloc(PAGE, 1), NULL);
	from = vk_buf_create(&vk, PAGE, 0);
	to = vk_buf_create(&vk, PAGE, 0);
	VK(vkSetEvent(vk.device, event));
	memset(from.map, 0x5a, PAGE);
	copy = vk_begin(&vk, 1);
	vkCmdCopyBuffer(copy, from.buffer, to.buffer, 1, &(VkBufferCopy){ 0, 0, PAGE });
	VK(vkEndCommandBuffer(copy));
	vk_submit(vk.queue[1][1], copy, VK_NULL_HANDLE, VK_NULL_HANDLE, VK_NULL_HANDLE);
	vkCmdFillBuffer(late, buffer, 0, PAGE, 99);
	vk_order(late);
	VK(vkEndCommandBuffer(late));
	vk_submit(vk.queue[0][0], late, bound, VK_NULL_HANDLE, fence);
	ktap_eq(vkWaitForFences(vk.device, 1, &fence, VK_TRUE, VK_SOON), VK_SUCCESS);
	VK(vkDeviceWaitIdle(vk.device));
	ktap_eq(memcmp(from.map, to.map, PAGE), 0);
	vkFreeCommandBuffers(vk.device, vk.pool[0], 1, &hold);
	vkFreeCommandBuffers(vk.device, vk.pool[0], 1, &late);
	vkFreeCommandBuffers(vk.device, vk.pool[1], 1, &copy);
	vkDestroyEvent(vk.device, event, NULL);
	vkDestroyFence(vk.device, fence, NULL);
	vkDestroySemaphore(vk.device, bound, NULL);
	vkDestroySemaphore(vk.device, done, NULL);
	vkDestroyBuffer(vk.device, buffer, NULL);
	vkFreeMemory(vk.device, memory, NULL);
	vk_buf_destroy(&vk, &from);
	vk_buf_destroy(&vk, &to);
}

#define SIDE	128u

static VkImage sparse_image(VkMemoryRequirements *needs)
{
	const VkImageCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
		.flags = VK_IMAGE_CREATE_SPARSE_BINDING_BIT,
		.imageType = VK_IMAGE_TYPE_2D,
		.format = VK_FORMAT_R8G8B8A8_UNORM,
		.extent = { SIDE, SIDE, 1 },
		.mipLevels = 1,
		.arrayLayers = 1,
		.samples = VK_SAMPLE_COUNT_1_BIT,
		.usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT,
	};
	VkImage image;

	VK(vkCreateImage(vk.device, &info, NULL, &image));
	vkGetImageMemoryRequirements(vk.device, image, needs);
	ktap_eq(needs->alignment, PAGE);
	ktap_eq(needs->size % PAGE, 0);
	return image;
}

/* Bind the image's pages to pages of memory, the last one first. */
static void bind_image(VkImage image, VkDeviceMemory memory, uint32_t pages)
{
	VkSparseMemoryBind binds[64];
	const VkSparseImageOpaqueMemoryBindInfo image_binds = { image, pages, binds };
	const VkBindSparseInfo info = { .sType = VK_STRUCTURE_TYPE_BIND_SPARSE_INFO,
					.imageOpaqueBindCount = 1,
					.pImageOpaqueBinds = &image_binds };
	VkFence fence = vk_fence(&vk);
	uint32_t i;

	for (i = 0; i < pages; i++)
		binds[i] = (VkSparseMemoryBind){
			.resourceOffset = i * (VkDeviceSize)PAGE,
			.size = PAGE,
			.memory = memory,
			.memoryOffset = (pages - 1 - i) * (VkDeviceSize)PAGE,
		};
	VK(vkQueueBindSparse(vk.queue[0][0], 1, &info, fence));
	VK(vkWaitForFences(vk.device, 1, &fence, VK_TRUE, VK_SOON));
	vkDestroyFence(vk.device, fence, NULL);
}

static void copy_image(VkImage image, const struct vk_buf *b, bool up)
{
	const struct vk_img img = { .image = image, .levels = 1, .layers = 1,
				    .aspects = VK_IMAGE_ASPECT_COLOR_BIT };
	const VkBufferImageCopy all = { .imageSubresource = vk_layers(&img, 0, 0, 1),
					.imageExtent = { SIDE, SIDE, 1 } };
	const VkImageMemoryBarrier barrier = {
		.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
		.dstAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT | VK_ACCESS_TRANSFER_READ_BIT,
		.oldLayout = up ? VK_IMAGE_LAYOUT_UNDEFINED : VK_IMAGE_LAYOUT_GENERAL,
		.newLayout = VK_IMAGE_LAYOUT_GENERAL,
		.srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
		.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
		.image = image,
		.subresourceRange = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1 },
	};
	VkCommandBuffer cmd = vk_begin(&vk, 0);

	vkCmdPipelineBarrier(cmd, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
			     VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0, NULL, 0, NULL, 1, &barrier);
	if (up)
		vkCmdCopyBufferToImage(cmd, b->buffer, image, VK_IMAGE_LAYOUT_GENERAL, 1, &all);
	else
		vkCmdCopyImageToBuffer(cmd, image, VK_IMAGE_LAYOUT_GENERAL, b->buffer, 1, &all);
	vk_order(cmd);
	vk_end(&vk, 0, cmd);
}

/* Two memories take turns behind one image; each keeps what was written while it was there. */
static void images(void)
{
	struct vk_buf b = vk_buf_create(&vk, 4 * SIDE * SIDE, 0);
	VkMemoryRequirements needs;
	VkImage image = sparse_image(&needs);
	const uint32_t pages = (uint32_t)(needs.size / PAGE);
	VkDeviceMemory memories[2] = { alloc(needs.size, needs.memoryTypeBits),
				       alloc(needs.size, needs.memoryTypeBits) };
	uint32_t *words = b.map, i, m, bad = 0;

	ktap_ok(pages <= 64);
	for (m = 0; m < 2; m++) {
		bind_image(image, memories[m], pages);
		for (i = 0; i < SIDE * SIDE; i++)
			words[i] = 0x9e3779b9u * (i + m * 100000);
		copy_image(image, &b, true);
	}
	for (m = 0; m < 2; m++) {
		bind_image(image, memories[m], pages);
		memset(b.map, 0, b.size);
		copy_image(image, &b, false);
		for (i = 0; i < SIDE * SIDE; i++)
			bad += words[i] != 0x9e3779b9u * (i + m * 100000);
	}
	ktap_eq(bad, 0);
	vkDestroyImage(vk.device, image, NULL);
	vkFreeMemory(vk.device, memories[0], NULL);
	vkFreeMemory(vk.device, memories[1], NULL);
	vk_buf_destroy(&vk, &b);
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	vk_open(&vk, extensions);
	ktap_run("random binds of a buffer's pages", random_binds);
	ktap_run("a bind that waits for the CPU", waiting_bind);
	ktap_run("allocations while a bind waits", allocations);
	ktap_run("an image whose memory is exchanged", images);
	vk_close(&vk);
	return ktap_finish();
}
