/* SPDX-License-Identifier: MIT */
/*
 * Fences, semaphores, timelines and events, on one queue, between queues and between devices. The
 * order of work shows in the values that it leaves.
 */
#include <pthread.h>
#include <unistd.h>

#include "vk.h"

#define WORDS	1024u
#define CHAIN	200u	/* submissions of a chain */
#define MANY	40u	/* command buffers of one submission, with several engines' work each */

static struct vk vk;

/* Add the first word of @b to itself: double it, by copies. Words 0 to n double to 0 to 2n. */
static VkCommandBuffer double_words(struct vk *v, uint32_t family, struct vk_buf *b, uint32_t n)
{
	const VkBufferCopy region = { 0, 4ull * n, 4ull * n };
	VkCommandBuffer cmd = vk_begin(v, family);

	vkCmdCopyBuffer(cmd, b->buffer, b->buffer, 1, &region);
	VK(vkEndCommandBuffer(cmd));
	return cmd;
}

static VkCommandBuffer fill_words(struct vk *v, uint32_t family, struct vk_buf *b, uint32_t value)
{
	VkCommandBuffer cmd = vk_begin(v, family);

	vkCmdFillBuffer(cmd, b->buffer, 0, 4, value);
	VK(vkEndCommandBuffer(cmd));
	return cmd;
}

static void fences(void)
{
	const VkFenceCreateInfo signaled = { .sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO,
					     .flags = VK_FENCE_CREATE_SIGNALED_BIT };
	VkFence fence = vk_fence(&vk), done;

	VK(vkCreateFence(vk.device, &signaled, NULL, &done));
	ktap_eq(vkGetFenceStatus(vk.device, fence), VK_NOT_READY);
	ktap_eq(vkGetFenceStatus(vk.device, done), VK_SUCCESS);
	ktap_eq(vkWaitForFences(vk.device, 1, &fence, VK_TRUE, 1000), VK_TIMEOUT);
	vk_submit(vk.queue[0][0], NULL, VK_NULL_HANDLE, VK_NULL_HANDLE, fence);
	ktap_eq(vkWaitForFences(vk.device, 1, &fence, VK_TRUE, VK_SOON), VK_SUCCESS);
	ktap_eq(vkGetFenceStatus(vk.device, fence), VK_SUCCESS);
	VK(vkResetFences(vk.device, 1, &fence));
	ktap_eq(vkGetFenceStatus(vk.device, fence), VK_NOT_READY);
	vkDestroyFence(vk.device, fence, NULL);
	vkDestroyFence(vk.device, done, NULL);
}

/* Each submission doubles the words that have the value, on another queue than the one before. */
static void queue_chain(void)
{
	struct vk_buf b = vk_buf_create(&vk, 4 * WORDS, 0);
	VkSemaphore last = VK_NULL_HANDLE, semaphores[16] = { 0 };
	const VkQueue queues[4] = { vk.queue[0][0], vk.queue[0][vk.queues[0] - 1],
				    vk.queue[vk.families - 1][0],
				    vk.queue[vk.families - 1][vk.queues[vk.families - 1] - 1] };
	const uint32_t families[4] = { 0, 0, vk.families - 1, vk.families - 1 };
	uint32_t *words = b.map, n = 1, i;

	memset(b.map, 0, 4 * WORDS);
	words[0] = 77;
	for (i = 0; n < WORDS; i++, n *= 2) {
		const unsigned q = i % 4;

		semaphores[i] = vk_semaphore(&vk);
		vk_submit(queues[q], double_words(&vk, families[q], &b, n), last, semaphores[i],
			  VK_NULL_HANDLE);
		last = semaphores[i];
	}
	vk_submit(queues[0], NULL, last, VK_NULL_HANDLE, VK_NULL_HANDLE);
	VK(vkDeviceWaitIdle(vk.device));
	for (i = 0; i < WORDS; i++)
		ktap_eq(words[i], 77);
	for (i = 0; i < 16; i++)
		vkDestroySemaphore(vk.device, semaphores[i], NULL);
	vk_buf_destroy(&vk, &b);
}

/* The order of submissions to one queue is that of their work. */
static void long_chain(void)
{
	struct vk_buf b = vk_buf_create(&vk, 4, 0);
	const uint32_t *word = b.map;
	uint32_t i;

	for (i = 1; i <= CHAIN; i++)
		vk_submit(vk.queue[0][0], fill_words(&vk, 0, &b, i), VK_NULL_HANDLE,
			  VK_NULL_HANDLE, VK_NULL_HANDLE);
	VK(vkQueueWaitIdle(vk.queue[0][0]));
	ktap_eq(*word, CHAIN);
	VK(vkResetCommandPool(vk.device, vk.pool[0], 0));
	vk_buf_destroy(&vk, &b);
}

/* More jobs than the kernel takes in one call. */
static void many_command_buffers(void)
{
	struct vk_buf b = vk_buf_create(&vk, 4 * WORDS, 0);
	VkCommandBuffer cmds[3 * MANY];
	const VkSubmitInfo info = { .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
				    .commandBufferCount = 3 * MANY,
				    .pCommandBuffers = cmds };
	const uint32_t *words = b.map;
	VkFence fence = vk_fence(&vk);
	uint32_t i;

	memset(b.map, 0, 4 * WORDS);
	for (i = 0; i < 3 * MANY; i++) {
		const VkBufferCopy region = { 0, 4 + 4 * i, 4 };

		cmds[i] = vk_begin(&vk, 0);
		vkCmdCopyBuffer(cmds[i], b.buffer, b.buffer, 1, &region);
		vk_order(cmds[i]);
		vkCmdFillBuffer(cmds[i], b.buffer, 0, 4, i + 1);
		/* for the command buffer after it */
		vk_order(cmds[i]);
		VK(vkEndCommandBuffer(cmds[i]));
	}
	VK(vkQueueSubmit(vk.queue[0][0], 1, &info, fence));
	ktap_eq(vkWaitForFences(vk.device, 1, &fence, VK_TRUE, VK_SOON), VK_SUCCESS);
	ktap_eq(words[0], 3 * MANY);
	for (i = 0; i < 3 * MANY; i++)
		ktap_eq(words[i + 1], i);
	vkDestroyFence(vk.device, fence, NULL);
	vkFreeCommandBuffers(vk.device, vk.pool[0], 3 * MANY, cmds);
	vk_buf_destroy(&vk, &b);
}

/* ---- Timelines ------------------------------------------------------------------------------- */

static void submit_timeline(VkQueue queue, VkCommandBuffer cmd, VkSemaphore wait, uint64_t from,
			    VkSemaphore signal, uint64_t to)
{
	const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
	const VkTimelineSemaphoreSubmitInfo points = {
		.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
		.waitSemaphoreValueCount = wait != VK_NULL_HANDLE,
		.pWaitSemaphoreValues = &from,
		.signalSemaphoreValueCount = signal != VK_NULL_HANDLE,
		.pSignalSemaphoreValues = &to,
	};
	const VkSubmitInfo info = { .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
				    .pNext = &points,
				    .waitSemaphoreCount = wait != VK_NULL_HANDLE,
				    .pWaitSemaphores = &wait,
				    .pWaitDstStageMask = &stage,
				    .commandBufferCount = cmd != NULL,
				    .pCommandBuffers = &cmd,
				    .signalSemaphoreCount = signal != VK_NULL_HANDLE,
				    .pSignalSemaphores = &signal };

	VK(vkQueueSubmit(queue, 1, &info, VK_NULL_HANDLE));
}

static VkResult wait_timeline(VkSemaphore semaphore, uint64_t value, uint64_t timeout)
{
	const VkSemaphoreWaitInfo info = { .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
					   .semaphoreCount = 1,
					   .pSemaphores = &semaphore,
					   .pValues = &value };

	return VK_FUNCTION(&vk, vkWaitSemaphoresKHR)(vk.device, &info, timeout);
}

static uint64_t value_of(VkSemaphore semaphore)
{
	uint64_t value = UINT64_MAX;

	VK(VK_FUNCTION(&vk, vkGetSemaphoreCounterValueKHR)(vk.device, semaphore, &value));
	return value;
}

static void signal_timeline(VkSemaphore semaphore, uint64_t value)
{
	const VkSemaphoreSignalInfo info = { .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
					     .semaphore = semaphore,
					     .value = value };

	VK(VK_FUNCTION(&vk, vkSignalSemaphoreKHR)(vk.device, &info));
}

static void timeline_on_host(void)
{
	VkSemaphore t = vk_timeline(&vk, 5);

	ktap_eq(value_of(t), 5);
	ktap_eq(wait_timeline(t, 5, 0), VK_SUCCESS);
	ktap_eq(wait_timeline(t, 6, 1000 * 1000), VK_TIMEOUT);
	signal_timeline(t, 1ull << 40);
	ktap_eq(value_of(t), 1ull << 40);
	ktap_eq(wait_timeline(t, 1ull << 40, 0), VK_SUCCESS);
	vkDestroySemaphore(vk.device, t, NULL);
}

/* Work that waits for a point is submitted before the work that signals it. */
static void wait_before_signal(void)
{
	const VkQueue second = vk.queue[vk.families - 1][vk.queues[vk.families - 1] - 1];
	const uint32_t family = vk.families - 1;
	struct vk_buf b = vk_buf_create(&vk, 4 * WORDS, 0);
	VkSemaphore t = vk_timeline(&vk, 0);
	uint32_t *words = b.map;

	memset(b.map, 0, 4 * WORDS);
	submit_timeline(vk.queue[0][0], double_words(&vk, 0, &b, 2), t, 2, t, 3);
	submit_timeline(vk.queue[0][0], double_words(&vk, 0, &b, 4), t, 3, t, 4);
	submit_timeline(second, double_words(&vk, family, &b, 1), t, 1, t, 2);
	ktap_eq(wait_timeline(t, 1, 20 * 1000 * 1000), VK_TIMEOUT);
	ktap_eq(words[1], 0);
	words[0] = 9;
	signal_timeline(t, 1);
	ktap_eq(wait_timeline(t, 4, VK_SOON), VK_SUCCESS);
	ktap_eq(value_of(t), 4);
	for (unsigned i = 0; i < 8; i++)
		ktap_eq(words[i], 9);
	ktap_eq(words[8], 0);
	VK(vkDeviceWaitIdle(vk.device));
	vkDestroySemaphore(vk.device, t, NULL);
	vk_buf_destroy(&vk, &b);
}

/* ---- Events ---------------------------------------------------------------------------------- */

static VkEvent new_event(void)
{
	const VkEventCreateInfo info = { .sType = VK_STRUCTURE_TYPE_EVENT_CREATE_INFO };
	VkEvent event;

	VK(vkCreateEvent(vk.device, &info, NULL, &event));
	return event;
}

static void events(void)
{
	VkEvent event = new_event();
	VkCommandBuffer cmd = vk_begin(&vk, 0);

	ktap_eq(vkGetEventStatus(vk.device, event), VK_EVENT_RESET);
	VK(vkSetEvent(vk.device, event));
	ktap_eq(vkGetEventStatus(vk.device, event), VK_EVENT_SET);
	VK(vkResetEvent(vk.device, event));
	ktap_eq(vkGetEventStatus(vk.device, event), VK_EVENT_RESET);
	vkCmdSetEvent(cmd, event, VK_PIPELINE_STAGE_TRANSFER_BIT);
	vk_end(&vk, 0, cmd);
	ktap_eq(vkGetEventStatus(vk.device, event), VK_EVENT_SET);
	cmd = vk_begin(&vk, 0);
	vkCmdResetEvent(cmd, event, VK_PIPELINE_STAGE_TRANSFER_BIT);
	vk_end(&vk, 0, cmd);
	ktap_eq(vkGetEventStatus(vk.device, event), VK_EVENT_RESET);
	vkDestroyEvent(vk.device, event, NULL);
}

/* The device waits for an event that the host sets. */
static void event_of_host(void)
{
	const VkMemoryBarrier barrier = {
		.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
		.srcAccessMask = VK_ACCESS_HOST_WRITE_BIT,
		.dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
	};
	const VkBufferCopy region = { 0, 4, 4 };
	struct vk_buf b = vk_buf_create(&vk, 64, 0);
	VkCommandBuffer cmd = vk_begin(&vk, 0);
	VkEvent event = new_event();
	VkFence fence = vk_fence(&vk);
	uint32_t *words = b.map;

	memset(b.map, 0, 64);
	vkCmdWaitEvents(cmd, 1, &event, VK_PIPELINE_STAGE_HOST_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT,
			1, &barrier, 0, NULL, 0, NULL);
	vkCmdCopyBuffer(cmd, b.buffer, b.buffer, 1, &region);
	VK(vkEndCommandBuffer(cmd));
	vk_submit(vk.queue[0][0], cmd, VK_NULL_HANDLE, VK_NULL_HANDLE, fence);
	ktap_eq(vkWaitForFences(vk.device, 1, &fence, VK_TRUE, 20 * 1000 * 1000), VK_TIMEOUT);
	words[0] = 4711;
	VK(vkSetEvent(vk.device, event));
	ktap_eq(vkWaitForFences(vk.device, 1, &fence, VK_TRUE, VK_SOON), VK_SUCCESS);
	ktap_eq(words[1], 4711);
	vkDestroyFence(vk.device, fence, NULL);
	vkDestroyEvent(vk.device, event, NULL);
	vkFreeCommandBuffers(vk.device, vk.pool[0], 1, &cmd);
	vk_buf_destroy(&vk, &b);
}

static void *submit_all(void *arg)
{
	const unsigned q = (unsigned)(uintptr_t)arg;
	struct vk_buf b = vk_buf_create(&vk, 4, 0);
	const uint32_t family = q / VK_QUEUES;
	const VkCommandPoolCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
		.queueFamilyIndex = family,
	};
	const VkCommandBufferAllocateInfo alloc = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
		.commandBufferCount = 1,
	};
	const VkCommandBufferBeginInfo begin = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
	};
	const uint32_t *word = b.map;
	VkCommandPool pool;
	uint32_t i;

	VK(vkCreateCommandPool(vk.device, &info, NULL, &pool));
	for (i = 1; i <= CHAIN; i++) {
		VkCommandBufferAllocateInfo from = alloc;
		VkCommandBuffer cmd;

		from.commandPool = pool;
		VK(vkAllocateCommandBuffers(vk.device, &from, &cmd));
		VK(vkBeginCommandBuffer(cmd, &begin));
		vkCmdFillBuffer(cmd, b.buffer, 0, 4, i);
		VK(vkEndCommandBuffer(cmd));
		vk_submit(vk.queue[family][q % VK_QUEUES], cmd, VK_NULL_HANDLE, VK_NULL_HANDLE,
			  VK_NULL_HANDLE);
	}
	VK(vkQueueWaitIdle(vk.queue[family][q % VK_QUEUES]));
	ktap_eq(*word, CHAIN);
	vkDestroyCommandPool(vk.device, pool, NULL);
	vk_buf_destroy(&vk, &b);
	return NULL;
}

static void threads(void)
{
	pthread_t thread[VK_FAMILIES * VK_QUEUES];
	unsigned count = 0, i, j;

	for (i = 0; i < vk.families; i++) {
		for (j = 0; j < vk.queues[i]; j++)
			pthread_create(&thread[count++], NULL, submit_all,
				       (void *)(uintptr_t)(i * VK_QUEUES + j));
	}
	while (count)
		pthread_join(thread[--count], NULL);
}

int main(int argc, char **argv)
{
	static const char *const extensions[] = { VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME, NULL };

	ktap_start_args(argc, argv);
	vk_open(&vk, extensions);
	ktap_run("fences", fences);
	ktap_run("a chain of semaphores over queues", queue_chain);
	ktap_run("submissions of a queue are in order", long_chain);
	ktap_run("more jobs than one ioctl takes", many_command_buffers);
	ktap_run("timelines on the host", timeline_on_host);
	ktap_run("a wait that is submitted before its signal", wait_before_signal);
	ktap_run("events", events);
	ktap_run("an event that the host sets", event_of_host);
	ktap_run("a thread for each queue", threads);
	vk_close(&vk);
	return ktap_finish();
}
