/* SPDX-License-Identifier: MIT */
/* Fills, updates and copies of buffers; the CPU does the same on arrays of its own. */
#include "rnd.h"
#include "vk.h"

#define SIZE	(256u << 10)
#define ROUNDS	60
#define OPS	40

static struct vk vk;

static void fill(void)
{
	static uint32_t want[SIZE / 4];
	struct vk_buf b = vk_buf_create(&vk, SIZE, 0);
	VkCommandBuffer cmd = vk_begin(&vk, 0);
	uint32_t i;

	memset(b.map, 0x11, SIZE);
	vkCmdFillBuffer(cmd, b.buffer, 64, SIZE - 128, 0xdeadbeef);
	vk_end(&vk, 0, cmd);
	memset(want, 0x11, SIZE);
	for (i = 16; i < SIZE / 4 - 16; i++)
		want[i] = 0xdeadbeef;
	ktap_mem_eq(b.map, want, SIZE);
	vk_buf_destroy(&vk, &b);
}

/* VK_WHOLE_SIZE is rounded down to words. */
static void fill_rest(void)
{
	struct vk_buf b = vk_buf_create(&vk, 103, 0);
	VkCommandBuffer cmd = vk_begin(&vk, 0);
	uint8_t want[103];

	memset(b.map, 7, 103);
	vkCmdFillBuffer(cmd, b.buffer, 8, VK_WHOLE_SIZE, 0x55555555);
	vk_end(&vk, 0, cmd);
	memset(want, 7, 103);
	memset(want + 8, 0x55, 92);
	ktap_mem_eq(b.map, want, 103);
	vk_buf_destroy(&vk, &b);
}

static void update(void)
{
	struct vk_buf b = vk_buf_create(&vk, SIZE, 0);
	VkCommandBuffer cmd = vk_begin(&vk, 0);
	static uint8_t data[65536], want[SIZE];
	uint32_t i;

	for (i = 0; i < sizeof(data); i++)
		want[i + 128] = data[i] = (uint8_t)(i * 31 + i / 256);
	memset(b.map, 0, SIZE);
	vkCmdUpdateBuffer(cmd, b.buffer, 128, sizeof(data), data);
	/* the command has its own copy */
	memset(data, 0xff, sizeof(data));
	vk_end(&vk, 0, cmd);
	ktap_mem_eq(b.map, want, SIZE);
	vk_buf_destroy(&vk, &b);
}

static void copy_regions(void)
{
	static const VkBufferCopy regions[] = { { 0, 1, 100 },
						{ 1000, 2003, 1 },
						{ 77, 4096, 3333 } };
	struct vk_buf from = vk_buf_create(&vk, SIZE, 0), to = vk_buf_create(&vk, SIZE, 0);
	VkCommandBuffer cmd = vk_begin(&vk, 0);
	static uint8_t want[SIZE];
	uint8_t *bytes = from.map;
	uint32_t i;

	for (i = 0; i < SIZE; i++)
		bytes[i] = (uint8_t)rnd();
	memset(to.map, 0, SIZE);
	vkCmdCopyBuffer(cmd, from.buffer, to.buffer, 3, regions);
	vk_end(&vk, 0, cmd);
	for (i = 0; i < 3; i++)
		memcpy(want + regions[i].dstOffset, bytes + regions[i].srcOffset, regions[i].size);
	ktap_mem_eq(to.map, want, SIZE);
	vk_buf_destroy(&vk, &from);
	vk_buf_destroy(&vk, &to);
}

/* One random command on buffer @at, and on its shadow. */
static void random_command(VkCommandBuffer cmd, struct vk_buf b[2], uint8_t *shadow[2],
			   unsigned at)
{
	const uint32_t size = 4 + 4 * rnd_below(1000), to = 4 * rnd_below((SIZE - size) / 4);
	const uint32_t from = rnd_below(SIZE - size), value = rnd();
	const VkBufferCopy region = { from, to + (rnd() & 3), size - 3 };
	uint8_t data[4096];
	uint32_t i;

	switch (rnd_below(3)) {
	case 0:
		vkCmdFillBuffer(cmd, b[at].buffer, to, size, value);
		for (i = 0; i < size; i += 4)
			memcpy(shadow[at] + to + i, &value, 4);
		break;
	case 1:
		for (i = 0; i < size; i++)
			data[i] = (uint8_t)rnd();
		vkCmdUpdateBuffer(cmd, b[at].buffer, to, size, data);
		memcpy(shadow[at] + to, data, size);
		break;
	default:
		vkCmdCopyBuffer(cmd, b[!at].buffer, b[at].buffer, 1, &region);
		memcpy(shadow[at] + region.dstOffset, shadow[!at] + region.srcOffset, region.size);
	}
}

static void random_commands(void)
{
	struct vk_buf b[2] = { vk_buf_create(&vk, SIZE, 0),
			       vk_buf_create_in(&vk, SIZE, 0, vk.memory.memoryTypeCount - 1, 0) };
	uint8_t *shadow[2] = { calloc(1, SIZE), calloc(1, SIZE) };
	unsigned i, j;

	memset(b[0].map, 0, SIZE);
	memset(b[1].map, 0, SIZE);
	for (i = 0; i < ROUNDS; i++) {
		const uint32_t family = rnd_below(vk.families);
		VkCommandBuffer cmd = vk_begin(&vk, family);

		for (j = 0; j < OPS; j++) {
			random_command(cmd, b, shadow, rnd() & 1);
			vk_order(cmd);
		}
		vk_end(&vk, family, cmd);
	}
	ktap_mem_eq(b[0].map, shadow[0], SIZE);
	ktap_mem_eq(b[1].map, shadow[1], SIZE);
	vk_buf_destroy(&vk, &b[0]);
	vk_buf_destroy(&vk, &b[1]);
	free(shadow[0]);
	free(shadow[1]);
}

/* A command buffer that is recorded once runs as often as it is submitted. */
static void submitted_again(void)
{
	struct vk_buf b = vk_buf_create(&vk, SIZE, 0);
	VkCommandBuffer cmd = vk_begin(&vk, 0);
	const VkBufferCopy half = { 0, SIZE / 2, SIZE / 2 };
	static uint32_t want[SIZE / 4];
	unsigned i;

	vkCmdCopyBuffer(cmd, b.buffer, b.buffer, 1, &half);
	vk_order(cmd);
	vkCmdFillBuffer(cmd, b.buffer, 0, SIZE / 2, 2);
	VK(vkEndCommandBuffer(cmd));
	memset(b.map, 0, SIZE);
	for (i = 0; i < 2; i++) {
		vk_submit(vk.queue[0][0], cmd, VK_NULL_HANDLE, VK_NULL_HANDLE, VK_NULL_HANDLE);
		VK(vkQueueWaitIdle(vk.queue[0][0]));
		for (unsigned j = 0; j < SIZE / 8; j++) {
			want[SIZE / 8 + j] = want[j];
			want[j] = 2;
		}
		ktap_mem_eq(b.map, want, SIZE);
	}
	VK(vkResetCommandBuffer(cmd, 0));
	vk_buf_destroy(&vk, &b);
}

static void secondary(void)
{
	struct vk_buf b = vk_buf_create(&vk, 4096, 0);
	const VkBufferCopy part = { 0, 2048, 1024 };
	VkCommandBuffer second, cmd;
	uint32_t *words = b.map;

	memset(b.map, 0, 4096);
	second = vk_begin_secondary(&vk);
	vkCmdCopyBuffer(second, b.buffer, b.buffer, 1, &part);
	vk_order(second);
	VK(vkEndCommandBuffer(second));
	cmd = vk_begin(&vk, 0);
	vkCmdFillBuffer(cmd, b.buffer, 0, 1024, 5);
	vk_order(cmd);
	vkCmdExecuteCommands(cmd, 1, &second);
	vkCmdFillBuffer(cmd, b.buffer, 0, 1024, 6);
	vk_end(&vk, 0, cmd);
	ktap_eq(words[0], 6);
	ktap_eq(words[512], 5);
	ktap_eq(words[512 + 255], 5);
	ktap_eq(words[512 + 256], 0);
	vkFreeCommandBuffers(vk.device, vk.pool[0], 1, &second);
	vk_buf_destroy(&vk, &b);
}

/* tsr-host: --vram 64M */
int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	vk_open(&vk, NULL);
	ktap_run("a fill", fill);
	ktap_run("a fill of the rest of a buffer", fill_rest);
	ktap_run("an update", update);
	ktap_run("copies of regions, to the byte", copy_regions);
	ktap_run("random commands, in system and local memory", random_commands);
	ktap_run("a command buffer submitted again", submitted_again);
	ktap_run("a secondary command buffer", secondary);
	vk_close(&vk);
	return ktap_finish();
}
