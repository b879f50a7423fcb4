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

#include "tc_frame.h"
#include "tsv_descriptor.h"
#include "tsv_device.h"
#include "tsv_shader.h"

/*
 * Segments of one lane are in order. COMPUTE and RENDER share scratch memory, so they are one lane.
 * Between the lanes only barriers order, but RENDER is after BIN of its pass. BIN waits only for
 * barriers whose later stages BIN has.
 */
enum tsv_lane { TSV_LANE_COPY, TSV_LANE_BIN, TSV_LANE_RENDER, TSV_LANES };

static inline enum tsv_lane tsv_lane(enum tsv_engine engine)
{
	return engine == TSV_COPY  ? TSV_LANE_COPY
	       : engine == TSV_BIN ? TSV_LANE_BIN
				   : TSV_LANE_RENDER;
}

/*
 * A segment's place in its command buffer. TSV_BEFORE: all that was submitted before that.
 * TSV_HELD: what BIN waits for by barriers of command buffers before.
 */
#define TSV_BEFORE (-1)
#define TSV_HELD (-2)

/* Work of one engine. A secondary command buffer's segment has no stream in the primary. */
struct tsv_segment {
	enum tsv_engine engine;
	uint8_t heap;			/* of BIN and RENDER */
	int after[TSV_LANES];		/* last segment of each lane that it waits for */
	uint64_t va;
	uint32_t size;
	struct tsr_stream *stream;	/* owned, or NULL */
};

/* A descriptor set as vkCmdBindDescriptorSets() binds it. */
struct tsv_bound_set {
	uint64_t va;
	const uint8_t *cpu;		/* the set's memory; NULL: no set is bound */
	uint32_t dynamic_count;
	uint32_t dynamic[TSV_DYNAMIC];
};

/* The state of a bind point. */
struct tsv_bind {
	struct tsv_bound_set sets[TSV_SETS];
	uint8_t push[TSV_PUSH_BYTES];
};

/* Bits of tsv_graphics.dirty: descriptors to write before the next draw. */
enum tsv_dirty {
	TSV_DIRTY_SHADERS = 1 << 0,	/* programs with their tables, and SHADER_STATE */
	TSV_DIRTY_PARAMS = 1 << 1,	/* push constants alone */
	TSV_DIRTY_STATE = 1 << 2,	/* DRAW_STATE */
	TSV_DIRTY_QUERY = 1 << 3	/* the query that counts samples */
};

/* Memory that draws read: vertices or indices. */
struct tsv_source {
	uint64_t va, size;
};

/* The state of draws. Built-in pipelines save and restore it. */
struct tsv_graphics {
	const struct tsv_shader *vertex, *fragment;
	struct tsv_bind bind;
	struct tsv_source vertices[TSV_ATTRIBUTES];
	struct tsv_source indices;
	uint32_t index_type;		/* enum tsr_index_type */
	uint32_t dirty;			/* enum tsv_dirty */
	uint64_t params;		/* address of those of the last draw */
	uint32_t first[4];		/* vertex, instance, number and view of the last draw */
	uint64_t arguments;		/* of the last draw, or 0 */
	uint64_t query;			/* address of the one that counts samples, or 0 */
	uint32_t query_kind;		/* enum tsr_query */
};

/* Queries that end. */
struct tsv_mark {
	uint64_t va;			/* of the first */
	uint32_t count;
	bool timestamp;
};

/* A barrier of a secondary command buffer inside a pass. */
struct tsv_split {
	uint32_t at;			/* qwords of the list before it */
	VkPipelineStageFlags2 stages;	/* that wait */
};

/* The parameters of vkCmdBeginRendering(). */
struct tsv_pass_info {
	VkRenderingInfo rendering;
	VkRenderingAttachmentInfo attachments[TC_COLORS + 2];
};

/* A render pass that is being recorded. A secondary command buffer knows formats alone. */
struct tsv_pass {
	bool active;
	struct tc_frame frame;
	enum pipe_format format[TC_COLORS];	/* PIPE_FORMAT_NONE: there is no target */
	uint32_t colors;
	bool depth, stencil;
	bool bare;			/* without any attachment */
	bool alpha;			/* draws make coverage of the alpha of color 0 */
	uint32_t views;			/* mask; 0: draws choose their layers */
	VkRect2D area;			/* that draws are limited to */
	struct util_dynarray list;	/* uint64_t: packets of BIN's list */
	struct util_dynarray splits;	/* struct tsv_split */
	struct util_dynarray marks;	/* struct tsv_mark: queries that end with the pass */
	/* resolves after the pass, that RENDER cannot do */
	bool resolve;
	struct tsv_pass_info info;
};

/* Tables of textures and samplers in memory. */
struct tsv_tables {
	uint64_t textures, samplers;
	uint32_t texture_count, sampler_count;
};

struct tsv_cmd {
	struct vk_command_buffer vk;
	struct util_dynarray segments;	/* struct tsv_segment, closed */
	struct util_dynarray allocs;	/* struct tsr_alloc of tsv_device.lists */
	struct tsr_stream *stream;	/* of the open segment, or NULL */
	enum tsv_engine engine;		/* of the open segment */
	int after[TSV_LANES];		/* what the open segment waits for */
	int last[TSV_LANES];		/* closed segment of each lane, or TSV_BEFORE */
	int fence[TSV_LANES];		/* last before a barrier, perhaps the open segment */
	int bin_fence[TSV_LANES];	/* the same for barriers that hold BIN */
	uint8_t heap;			/* of the pass that was written last */
	uint8_t open_heap;		/* of the open segment */
	bool barrier;			/* the open segment's next packet waits */
	uint8_t *chunk;			/* of allocs: the one that is filled, NULL at first */
	uint64_t chunk_va;
	uint32_t chunk_used;
	const struct tsv_shader *shader;	/* compute shader that is bound, or NULL */
	struct tsv_bind compute;
	struct tsv_graphics graphics;
	/* what vk.dynamic_graphics_state points to */
	struct vk_vertex_input_state vertex_input;
	struct vk_sample_locations_state sample_locations;
	struct tsv_pass pass;
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
 * tsv_cmd_barrier(): what follows waits for all that was recorded before. @stages: those that wait.
 * Only if BIN has one of them, it waits too.
 */
void tsv_cmd_barrier(struct tsv_cmd *cmd, VkPipelineStageFlags2 stages);
#define TSV_ALL_STAGES	VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT

/*
 * Stages that BIN has no part of. Copies that are draws read in their fragment shaders what other
 * commands have written.
 */
#define TSV_STAGES_LATE (VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT |				\
			 VK_PIPELINE_STAGE_2_EARLY_FRAGMENT_TESTS_BIT |				\
			 VK_PIPELINE_STAGE_2_LATE_FRAGMENT_TESTS_BIT |				\
			 VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT |			\
			 VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT |				\
			 VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT | VK_PIPELINE_STAGE_2_COPY_BIT |	\
			 VK_PIPELINE_STAGE_2_RESOLVE_BIT | VK_PIPELINE_STAGE_2_BLIT_BIT |	\
			 VK_PIPELINE_STAGE_2_CLEAR_BIT | VK_PIPELINE_STAGE_2_HOST_BIT |		\
			 VK_PIPELINE_STAGE_2_BOTTOM_OF_PIPE_BIT)

static inline bool tsv_holds_bin(VkPipelineStageFlags2 stages)
{
	return stages & ~TSV_STAGES_LATE;
}

/*
 * tsv_cmd_alloc(): memory that the GPU reads until the command buffer is reset. NULL on failure,
 * which the command buffer then remembers.
 */
void *tsv_cmd_alloc(struct tsv_cmd *cmd, uint64_t size, uint32_t align, uint64_t *va);

/* tsv_fill_params(): the parameters of a shader at @va but for those of a dispatch or a draw. */
void tsv_fill_params(const struct tsv_bind *bind, const struct tsv_shader_info *info,
		     struct tsv_params *params, uint64_t va);

/* tsv_cmd_write_marks(): let the queries of pass.marks end on an engine. */
void tsv_cmd_write_marks(struct tsv_cmd *cmd, enum tsv_engine engine);

/* tsv_cmd_packet(): room for a packet of BIN's list; NULL on failure. */
uint64_t *tsv_cmd_packet(struct tsv_cmd *cmd, unsigned qwords);

/*
 * tsv_pass_split(): let the draws that follow read what those before have drawn, in the stages of
 * @stages.
 */
void tsv_pass_split(struct tsv_cmd *cmd, VkPipelineStageFlags2 stages);

/*
 * tsv_pass_inherit(): begin a pass of a secondary command buffer. tsv_pass_execute(): add the draws
 * of @secondary to the pass.
 */
void tsv_pass_inherit(struct tsv_cmd *cmd, const VkCommandBufferBeginInfo *info);
void tsv_pass_execute(struct tsv_cmd *cmd, const struct tsv_cmd *secondary);

/*
 * tsv_state_write(): write DRAW_STATE and its packet. tsv_program_write(): write the programs,
 * SHADER_STATE and its packet; their push constants are at graphics.params. Both return false if
 * there is no memory.
 */
bool tsv_state_write(struct tsv_cmd *cmd);
bool tsv_program_write(struct tsv_cmd *cmd);

/* tsv_meta_clear_area(): clear what a pass clears, in an area that is only a part of its images. */
void tsv_meta_clear_area(struct tsv_cmd *cmd, const VkRenderingInfo *info);
/* tsv_meta_resolve(): resolve the attachments of a pass that has ended. */
void tsv_meta_resolve(struct tsv_cmd *cmd, const VkRenderingInfo *info);

/* tsv_cmd_tables(): write the tables of a shader. Returns false if there is no memory. */
bool tsv_cmd_tables(struct tsv_cmd *cmd, const struct tsv_shader_info *info,
		    const struct tsv_bound_set *sets, struct tsv_tables *out);

/*
 * tsv_write_images(): write a shader's images. Each slot has a word of @attributes and four of
 * @buffers. @first is the index of the first entry of @buffers in its table.
 */
void tsv_write_images(const struct tsv_bound_set *sets, const struct tsv_table *table,
		      unsigned first, uint64_t *attributes, uint64_t *buffers);

/* tsv_cmd_check(): remember the error of a libtessera call that returned @ret; true if it is 0. */
bool tsv_cmd_check(struct tsv_cmd *cmd, int ret);

#endif
