/* SPDX-License-Identifier: MIT */
/*
 * Command buffers. Recording appends packets to the stream of the open segment. Another engine's
 * work, the end of the command buffer or vkCmdExecuteCommands() closes it.
 */
#ifndef TSV_CMD_H
#define TSV_CMD_H

#include "util/u_dynarray.h"
#include "vk_command_buffer.h"
#include "vk_command_pool.h"

#include "tsv_descriptor.h"
#include "tsv_device.h"
#include "tsv_shader.h"

/* Work of one engine. A secondary command buffer's segment has no stream in the primary. */
struct tsv_segment {
	enum tsv_engine engine;
	uint64_t va;
	uint32_t size;
	struct tsr_stream *stream;	/* owned, or NULL */
};

/* A descriptor set as vkCmdBindDescriptorSets() binds it. */
struct tsv_bound_set {
	uint64_t va;
	uint32_t dynamic_count;
	uint32_t dynamic[TSV_DYNAMIC];
};

struct tsv_cmd {
	struct vk_command_buffer vk;
	struct util_dynarray segments;	/* struct tsv_segment, closed */
	struct util_dynarray allocs;	/* struct tsr_alloc of tsv_device.lists */
	struct tsr_stream *stream;	/* of the open segment, or NULL */
	enum tsv_engine engine;		/* of the open segment */
	bool barrier;			/* the next packet has to wait for those before */
	uint8_t *chunk;			/* of allocs: the one that is filled, NULL at first */
	uint64_t chunk_va;
	uint32_t chunk_used;
	const struct tsv_shader *shader;	/* compute shader that is bound, or NULL */
	struct tsv_bound_set sets[TSV_SETS];
	uint8_t push[TSV_PUSH_BYTES];
};

VK_DEFINE_HANDLE_CASTS(tsv_cmd, vk.base, VkCommandBuffer, VK_OBJECT_TYPE_COMMAND_BUFFER)

extern const struct vk_command_buffer_ops tsv_cmd_ops;

static inline struct tsv_device *tsv_cmd_device(const struct tsv_cmd *cmd)
{
	return container_of(cmd->vk.base.device, struct tsv_device, vk);
}

/*
 * tsv_cmd_stream(): the stream for a packet of @engine, after a barrier if one was recorded. NULL
 * on failure, which the command buffer then remembers.
 */
struct tsr_stream *tsv_cmd_stream(struct tsv_cmd *cmd, enum tsv_engine engine);

/*
 * tsv_cmd_alloc(): memory that the GPU reads until the command buffer is reset. NULL on failure,
 * which the command buffer then remembers.
 */
void *tsv_cmd_alloc(struct tsv_cmd *cmd, uint64_t size, uint32_t align, uint64_t *va);

/* tsv_cmd_check(): remember the error of a libtessera call that returned @ret; true if it is 0. */
bool tsv_cmd_check(struct tsv_cmd *cmd, int ret);

#endif
