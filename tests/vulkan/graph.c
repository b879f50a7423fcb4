/* SPDX-License-Identifier: MIT */
/*
 * Random graphs of submissions. Fills, copies, dispatches, render passes and sparse binds work on a
 * few cells of memory, on all queues. The CPU does the same in the order of the program. The order
 * between queues, and that of binds, is that of timeline semaphores alone. Queues are submitted to
 * in any order, so that many submissions wait for points that are not submitted yet. The order of
 * commands on a queue is that of barriers, which are where commands depend on each other, and some
 * more. A barrier may be in an earlier command buffer.
 *
 * Some passes read a cell in the vertex shader: where their triangles are and what they write. The
 * lists of such a pass are long. Other passes read nothing, and barriers before them name late
 * stages, so the device may bin them while it still renders what was before.
 *
 * TSR_GRAPH_SEED=N begins with another graph, TSR_GRAPH_COUNT=N runs that many.
 */
#include "rnd.h"
#include "draw.h"

#include "full_vert.h"
#include "graph.h"
#include "graph_frag.h"
#include "mesh_frag.h"
#include "mesh_vert.h"

#define CELLS		10u
#define PLAIN		6u		/* cells with memory; the others are sparse buffers */
#define PAGES		8u		/* of memory for sparse cells */
#define WORDS		1024u
#define BYTES		(4 * WORDS)
#define SIDE		32u		/* of the target: WORDS pixels */
#define QUEUES		3u
#define STEPS		48u
#define OPS		5u
#define FORMAT		VK_FORMAT_R32_UINT
#define LATE		(VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT | \
			 VK_PIPELINE_STAGE_TRANSFER_BIT)

enum kind { FILL, UPDATE, COPY, DISPATCH, MESH, PASS, KINDS };

/* A command. It reads cell @from, if it is a copy, a dispatch or a mesh, and writes cell @to. */
struct op {
	enum kind kind;
	uint32_t from, to, first, source, count, a, b;
	bool secondary;
};

/* A submission: commands, or binds of sparse cells. */
struct step {
	uint32_t queue, value;		/* value: the point of its queue's timeline */
	uint32_t wait[QUEUES];		/* points of the others, or 0 */
	bool bind, late;		/* late: only its late stages wait */
	uint32_t count;
	struct op ops[OPS];
	uint32_t cells[OPS];		/* of binds */
	int pages[OPS];			/* of cells, -1: none */
	VkCommandBuffer cmd[2], secondary[OPS];
};

static const char *const extensions[] = { DRAW_EXTENSIONS, VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME,
					  NULL };
static const struct {
	uint32_t family, index;
} queue_of[QUEUES] = { { 0, 0 }, { 1, 0 }, { 1, 1 } };

static struct vk vk;
static struct vk_buf plain[PLAIN];
static VkBuffer cells[CELLS];
static VkDeviceMemory memory;
static uint32_t *memory_map;
static VkSemaphore timelines[QUEUES];
static VkDescriptorPool pool;
static VkDescriptorSetLayout set_layout;
static VkDescriptorSet sets[CELLS][CELLS];
static VkPipelineLayout compute_layout, graphics_layout;
static VkPipeline dispatch, draw, mesh;
static struct draw_target target;
static bool closed[QUEUES];	/* the last command buffer has ended with a barrier */

/* The state that the CPU has computed, and the last uses of each cell. */
static struct {
	uint32_t words[PLAIN][WORDS], pages[PAGES][WORDS];
	int page[CELLS];		/* of sparse cells */
	uint32_t written[CELLS][QUEUES], read[CELLS][QUEUES];
	uint32_t value[QUEUES], bound[QUEUES];	/* of the last step, of the last bind */
} model;

/* ---- The model ------------------------------------------------------------------------------- */

/* The words of a cell, NULL if nothing is bound. */
static uint32_t *words_of(uint32_t cell)
{
	if (cell < PLAIN)
		return model.words[cell];
	return model.page[cell] < 0 ? NULL : model.pages[model.page[cell]];
}

static bool reads(const struct op *op)
{
	return op->kind == COPY || op->kind == DISPATCH || op->kind == MESH;
}

/*
 * mesh.vert: pixel i has a triangle if bit 0 of word i is 1. The pixel is the word with another
 * number, so that words and pixels have different orders.
 */
static uint32_t mesh_result(const struct op *op, const uint32_t *from, uint32_t i)
{
	const uint32_t word = from ? from[i ^ op->b % WORDS] : 0;

	return word & 1 ? word * op->a : op->a;
}

static uint32_t result_of(const struct op *op, uint32_t i)
{
	const uint32_t *from = reads(op) ? words_of(op->from) : NULL;

	switch (op->kind) {
	case FILL:
		return op->a;
	case UPDATE:
		return op->a + i * op->b;
	case COPY:
		return from ? from[op->source + i] : 0;
	case DISPATCH:
		return (from ? from[i] : 0) * op->a + op->b;
	case MESH:
		return mesh_result(op, from, i);
	default:
		return op->a + i;
	}
}

static void apply(const struct op *op)
{
	uint32_t *to = words_of(op->to), i;

	for (i = 0; to && i < op->count; i++)
		to[op->first + i] = result_of(op, i);
}

/* Let a step wait for those that it depends on, and note that it uses the cell. */
static void depend(struct step *step, uint32_t cell, bool write)
{
	uint32_t q;

	for (q = 0; q < QUEUES; q++) {
		uint32_t wait = model.written[cell][q];

		if (write && model.read[cell][q] > wait)
			wait = model.read[cell][q];
		/* a step does not wait for itself */
		if ((q != step->queue || wait < step->value) && wait > step->wait[q])
			step->wait[q] = wait;
	}
	if (write)
		model.written[cell][step->queue] = step->value;
	else
		model.read[cell][step->queue] = step->value;
}

/* ---- Random steps ---------------------------------------------------------------------------- */

static struct op random_op(bool main)
{
	struct op op = { .kind = rnd_below(main ? KINDS : DISPATCH),
			 .to = rnd_below(CELLS),
			 .count = WORDS,
			 .a = rnd(),
			 .b = rnd(),
			 .secondary = main && !rnd_below(4) };

	op.from = (op.to + 1 + rnd_below(CELLS - 1)) % CELLS;
	/* when commands are recorded, the validation layers see two sparse cells on one page */
	if (op.to >= PLAIN)
		op.from %= PLAIN;
	if (op.kind <= COPY) {
		op.count = 16 * (1 + rnd_below(16));
		op.first = 4 * rnd_below((WORDS - op.count) / 4 + 1);
		op.source = 4 * rnd_below((WORDS - op.count) / 4 + 1);
	}
	if (op.kind >= MESH)
		op.secondary = false;
	return op;
}

static void random_bind(struct step *step)
{
	bool taken[PAGES] = { 0 };
	uint32_t i, cell;

	for (cell = PLAIN; cell < CELLS; cell++) {
		if (model.page[cell] >= 0)
			taken[model.page[cell]] = true;
	}
	step->count = 1 + rnd_below(2);
	for (i = 0; i < step->count; i++) {
		int page = rnd_below(4) ? (int)rnd_below(PAGES) : -1;

		cell = PLAIN + (i + step->value) % (CELLS - PLAIN);
		if (page >= 0 && taken[page])
			page = -1;
		if (page >= 0)
			taken[page] = true;
		step->cells[i] = cell;
		step->pages[i] = page;
		model.page[cell] = page;
		depend(step, cell, true);
	}
}

/*
 * A page that a cell gives up may be the next one's, which depends on the cell that had it. All
 * binds depend on each other, for that.
 */
static void random_step(struct step *step)
{
	uint32_t i;

	*step = (struct step){ .queue = rnd_below(QUEUES) };
	step->value = ++model.value[step->queue];
	step->bind = !rnd_below(5);
	if (step->bind) {
		for (i = PLAIN; i < CELLS; i++)
			depend(step, i, true);
		random_bind(step);
		model.bound[step->queue] = step->value;
		return;
	}
	step->count = 1 + rnd_below(OPS);
	step->late = !step->queue && !rnd_below(3);
	for (i = 0; i < step->count; i++) {
		struct op *op = &step->ops[i];

		*op = random_op(!step->queue);
		if (step->late) {
			op->kind = PASS;
			op->count = WORDS;
			op->first = 0;
			op->secondary = false;
		}
		depend(step, op->to, true);
		if (reads(op))
			depend(step, op->from, false);
		apply(op);
	}
	/* barriers order the commands of a queue, but not its binds */
	if (step->wait[step->queue] > model.bound[step->queue])
		step->wait[step->queue] = model.bound[step->queue];
}

/* ---- Recording ------------------------------------------------------------------------------- */

/* A barrier for copies and for targets of passes. The vertex stages of passes do not wait. */
static void order_late(VkCommandBuffer cmd)
{
	const VkMemoryBarrier barrier = {
		.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
		.srcAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT,
		.dstAccessMask = VK_ACCESS_COLOR_ATTACHMENT_READ_BIT |
				 VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT |
				 VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
	};

	vkCmdPipelineBarrier(cmd, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, LATE, 0, 1, &barrier, 0,
			     NULL, 0, NULL);
}

static void record_draw(VkCommandBuffer cmd, const struct op *op)
{
	const struct {
		float color[4], depth;
		uint32_t value, other;
	} push = { { 0 }, 0.5f, op->a, op->b % WORDS };

	vkCmdBindPipeline(cmd, VK_PIPELINE_BIND_POINT_GRAPHICS, op->kind == MESH ? mesh : draw);
	draw_window(cmd, SIDE, SIDE);
	vkCmdPushConstants(cmd, graphics_layout, VK_SHADER_STAGE_ALL_GRAPHICS, 0, sizeof(push),
			   &push);
	if (op->kind == MESH)
		vkCmdBindDescriptorSets(cmd, VK_PIPELINE_BIND_POINT_GRAPHICS, graphics_layout, 0, 1,
					&sets[op->from][op->to], 0, NULL);
	vkCmdDraw(cmd, op->kind == MESH ? 3 * WORDS : 3, 1, 0, 0);
}

static void record_pass(VkCommandBuffer cmd, const struct op *op)
{
	const VkClearValue clear = { .color.uint32 = { op->kind == MESH ? op->a : rnd() } };
	const VkRenderingAttachmentInfo a = draw_attachment(&target, &clear);
	const VkRenderingInfo info = { .sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
				       .renderArea.extent = { SIDE, SIDE },
				       .layerCount = 1,
				       .colorAttachmentCount = 1,
				       .pColorAttachments = &a };
	const VkBufferImageCopy copy = { .imageSubresource = vk_layers(&target.img, 0, 0, 1),
					 .imageExtent = { SIDE, SIDE, 1 } };

	draw_begin(&vk, cmd, &info);
	record_draw(cmd, op);
	draw_end(&vk, cmd);
	order_late(cmd);
	vkCmdCopyImageToBuffer(cmd, target.img.image, VK_IMAGE_LAYOUT_GENERAL, cells[op->to], 1,
			       &copy);
	order_late(cmd);
}

static void record_op(VkCommandBuffer cmd, const struct op *op)
{
	const VkBufferCopy copy = { 4 * op->source, 4 * op->first, 4 * op->count };
	const uint32_t push[2] = { op->a, op->b };
	uint32_t words[WORDS], i;

	switch (op->kind) {
	case FILL:
		vkCmdFillBuffer(cmd, cells[op->to], 4 * op->first, 4 * op->count, op->a);
		break;
	case UPDATE:
		for (i = 0; i < op->count; i++)
			words[i] = op->a + i * op->b;
		vkCmdUpdateBuffer(cmd, cells[op->to], 4 * op->first, 4 * op->count, words);
		break;
	case COPY:
		vkCmdCopyBuffer(cmd, cells[op->from], cells[op->to], 1, &copy);
		break;
	case DISPATCH:
		vkCmdBindPipeline(cmd, VK_PIPELINE_BIND_POINT_COMPUTE, dispatch);
		vkCmdBindDescriptorSets(cmd, VK_PIPELINE_BIND_POINT_COMPUTE, compute_layout, 0, 1,
					&sets[op->from][op->to], 0, NULL);
		vkCmdPushConstants(cmd, compute_layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, 8,
				   push);
		vkCmdDispatch(cmd, WORDS / 64, 1, 1);
		break;
	default:
		record_pass(cmd, op);
		break;
	}
}

static VkCommandBuffer record_secondary(const struct op *op)
{
	VkCommandBuffer cmd = vk_begin_secondary(&vk);

	record_op(cmd, op);
	VK(vkEndCommandBuffer(cmd));
	return cmd;
}

/* Cells since a barrier. */
struct uses {
	uint32_t read, written;
};

static bool is_late(const struct op *op)
{
	return op->kind <= COPY || op->kind == PASS;
}

/* True if an op cannot run beside those since the last barrier that it waits for. */
static bool conflicts(const struct op *op, const struct uses *all, const struct uses *late)
{
	const struct uses *to = op->kind == DISPATCH ? all : late,
			  *from = is_late(op) ? late : all;

	return (to->read | to->written) & 1u << op->to ||
	       (reads(op) && from->written & 1u << op->from) || op->kind >= MESH;
}

/* A mesh reads a cell in its vertex stages. What else it uses, it uses in late ones. */
static bool needs_all(const struct op *op, const struct uses *all)
{
	return op->kind == DISPATCH || (op->kind == MESH && all->written & 1u << op->from);
}

/*
 * @all: cells since a barrier for all stages; @late: those since any barrier. @main: the queue has
 * the late stages.
 */
static void order(VkCommandBuffer cmd, const struct op *op, bool main, struct uses *all,
		  struct uses *late)
{
	if (!conflicts(op, all, late) && rnd_below(4))
		return;
	if (needs_all(op, all) || !main || !rnd_below(4)) {
		vk_order(cmd);
		*all = (struct uses){ 0 };
	} else {
		order_late(cmd);
	}
	*late = (struct uses){ 0 };
}

/*
 * A command buffer begins with a barrier, unless the one before it on the queue has ended with one
 * for all stages.
 */
static VkCommandBuffer begin_commands(const struct step *step)
{
	VkCommandBuffer cmd = vk_begin(&vk, queue_of[step->queue].family);

	if (step->late && !closed[step->queue])
		order_late(cmd);
	else if (!closed[step->queue])
		vk_order(cmd);
	return cmd;
}

static void end_commands(const struct step *step, VkCommandBuffer cmd)
{
	closed[step->queue] = !rnd_below(3);
	if (closed[step->queue])
		vk_order(cmd);
	VK(vkEndCommandBuffer(cmd));
}

/* The commands are in two command buffers or, if the first has them all, in one. */
static void record(struct step *step)
{
	const uint32_t second = 1 + rnd_below(2 * OPS);
	struct uses all = { 0 }, late = { 0 };
	uint32_t i, n = 0;

	step->cmd[n] = begin_commands(step);
	for (i = 0; i < step->count; i++) {
		const struct op *op = &step->ops[i];

		if (i == second) {
			end_commands(step, step->cmd[n++]);
			step->cmd[n] = begin_commands(step);
			late = (struct uses){ 0 };
			if (!step->late)
				all = late;
		}
		order(step->cmd[n], op, !step->queue, &all, &late);
		all.written |= 1u << op->to;
		all.read |= 1u << op->from;
		late.written |= 1u << op->to;
		late.read |= 1u << op->from;
		if (op->secondary) {
			step->secondary[i] = record_secondary(op);
			vkCmdExecuteCommands(step->cmd[n], 1, &step->secondary[i]);
		} else {
			record_op(step->cmd[n], op);
		}
	}
	end_commands(step, step->cmd[n]);
}

/* ---- Submission ------------------------------------------------------------------------------ */

static void submit_binds(const struct step *step, const VkTimelineSemaphoreSubmitInfo *points,
			 const VkSemaphore *waits, VkQueue queue)
{
	VkSparseMemoryBind binds[OPS];
	VkSparseBufferMemoryBindInfo buffers[OPS];
	const VkBindSparseInfo info = {
		.sType = VK_STRUCTURE_TYPE_BIND_SPARSE_INFO,
		.pNext = points,
		.waitSemaphoreCount = points->waitSemaphoreValueCount,
		.pWaitSemaphores = waits,
		.bufferBindCount = step->count,
		.pBufferBinds = buffers,
		.signalSemaphoreCount = 1,
		.pSignalSemaphores = &timelines[step->queue],
	};
	uint32_t i;

	for (i = 0; i < step->count; i++) {
		binds[i] = (VkSparseMemoryBind){ .size = BYTES };
		if (step->pages[i] >= 0) {
			binds[i].memory = memory;
			binds[i].memoryOffset = step->pages[i] * (VkDeviceSize)BYTES;
		}
		buffers[i] = (VkSparseBufferMemoryBindInfo){ cells[step->cells[i]], 1, &binds[i] };
	}
	VK(vkQueueBindSparse(queue, 1, &info, VK_NULL_HANDLE));
}

static void submit(const struct step *step)
{
	const VkPipelineStageFlags stage = step->late ? LATE : VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
	const VkPipelineStageFlags stages[QUEUES] = { stage, stage, stage };
	const uint64_t signal = step->value;
	VkSemaphore waits[QUEUES];
	uint64_t values[QUEUES];
	VkTimelineSemaphoreSubmitInfo points = {
		.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
		.pWaitSemaphoreValues = values,
		.signalSemaphoreValueCount = 1,
		.pSignalSemaphoreValues = &signal,
	};
	const VkQueue queue = vk.queue[queue_of[step->queue].family][queue_of[step->queue].index];
	VkSubmitInfo info = { .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
			      .pNext = &points,
			      .pWaitSemaphores = waits,
			      .pWaitDstStageMask = stages,
			      .commandBufferCount = step->cmd[1] ? 2 : 1,
			      .pCommandBuffers = step->cmd,
			      .signalSemaphoreCount = 1,
			      .pSignalSemaphores = &timelines[step->queue] };
	uint32_t q, n = 0;

	for (q = 0; q < QUEUES; q++) {
		if (!step->wait[q])
			continue;
		waits[n] = timelines[q];
		values[n++] = step->wait[q];
	}
	points.waitSemaphoreValueCount = info.waitSemaphoreCount = n;
	if (step->bind)
		submit_binds(step, &points, waits, queue);
	else
		VK(vkQueueSubmit(queue, 1, &info, VK_NULL_HANDLE));
}

/* Each queue's steps in their order, the queues in any. */
static void submit_all(const struct step *steps)
{
	uint32_t next[QUEUES] = { 0 }, done = 0, q;

	while (done < STEPS) {
		q = rnd_below(QUEUES);
		while (next[q] < STEPS && steps[next[q]].queue != q)
			next[q]++;
		if (next[q] == STEPS)
			continue;
		submit(&steps[next[q]++]);
		done++;
	}
}

/* ---- One graph ------------------------------------------------------------------------------- */

/* Memory as the model has it. The CPU may write it, since nothing runs. */
static void begin(void)
{
	uint32_t i, j;

	for (i = 0; i < PLAIN; i++) {
		for (j = 0; j < WORDS; j++)
			model.words[i][j] = ((uint32_t *)plain[i].map)[j] = rnd();
	}
	for (i = 0; i < PAGES; i++) {
		for (j = 0; j < WORDS; j++)
			model.pages[i][j] = memory_map[i * WORDS + j] = rnd();
	}
	memset(model.written, 0, sizeof(model.written));
	memset(model.read, 0, sizeof(model.read));
	memset(model.value, 0, sizeof(model.value));
	memset(model.bound, 0, sizeof(model.bound));
	memset(closed, 0, sizeof(closed));
	for (i = 0; i < QUEUES; i++)
		timelines[i] = vk_timeline(&vk, 0);
}

static void compare(uint32_t seed)
{
	uint32_t i, bad = 0;

	for (i = 0; i < PLAIN; i++)
		bad += memcmp(plain[i].map, model.words[i], BYTES) ? 1u << i : 0;
	for (i = 0; i < PAGES; i++)
		bad += memcmp(memory_map + i * WORDS, model.pages[i], BYTES) ? 1u << (16 + i) : 0;
	ktap_eq(bad, 0);
	if (bad)
		ktap_note("graph %u: cells 0x%x, pages 0x%x", seed, bad & 0xffff, bad >> 16);
}

static void finish(struct step *steps)
{
	uint32_t i, j;

	for (i = 0; i < STEPS; i++) {
		vkFreeCommandBuffers(vk.device, vk.pool[queue_of[steps[i].queue].family], 2,
				     steps[i].cmd);
		for (j = 0; j < OPS; j++) {
			if (steps[i].secondary[j])
				vkFreeCommandBuffers(vk.device, vk.pool[0], 1,
						     &steps[i].secondary[j]);
		}
	}
	for (i = 0; i < QUEUES; i++)
		vkDestroySemaphore(vk.device, timelines[i], NULL);
}

static void run_graph(uint32_t seed)
{
	static struct step steps[STEPS];
	uint32_t i;

	rnd_state = 1000003ull * seed + 17;
	begin();
	for (i = 0; i < STEPS; i++) {
		random_step(&steps[i]);
		if (!steps[i].bind)
			record(&steps[i]);
	}
	submit_all(steps);
	VK(vkDeviceWaitIdle(vk.device));
	compare(seed);
	finish(steps);
}

static uint32_t number(const char *name, uint32_t usual)
{
	const char *value = getenv(name);

	return value ? (uint32_t)strtoul(value, NULL, 10) : usual;
}

static void graphs(void)
{
	const uint32_t first = number("TSR_GRAPH_SEED", 1), count = number("TSR_GRAPH_COUNT", 6);
	uint32_t i;

	for (i = 0; i < count; i++)
		run_graph(first + i);
}

/* ---- Objects --------------------------------------------------------------------------------- */

static void make_cells(void)
{
	const VkBufferCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
		.flags = VK_BUFFER_CREATE_SPARSE_BINDING_BIT |
			 VK_BUFFER_CREATE_SPARSE_RESIDENCY_BIT,
		.size = BYTES,
		.usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
			 VK_BUFFER_USAGE_STORAGE_BUFFER_BIT,
	};
	const VkMemoryAllocateInfo alloc = { .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
					     .allocationSize = PAGES * BYTES };
	VkMemoryRequirements needs;
	uint32_t i;

	for (i = 0; i < PLAIN; i++) {
		plain[i] = vk_buf_create(&vk, BYTES, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
		cells[i] = plain[i].buffer;
	}
	for (; i < CELLS; i++) {
		VK(vkCreateBuffer(vk.device, &info, NULL, &cells[i]));
		vkGetBufferMemoryRequirements(vk.device, cells[i], &needs);
		model.page[i] = -1;
	}
	VK(vkAllocateMemory(vk.device, &alloc, NULL, &memory));
	VK(vkMapMemory(vk.device, memory, 0, VK_WHOLE_SIZE, 0, (void **)&memory_map));
}

static void make_sets(void)
{
	const VkDescriptorPoolSize size = { VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 2 * CELLS * CELLS };
	const VkDescriptorPoolCreateInfo pool_info = {
		.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
		.maxSets = CELLS * CELLS,
		.poolSizeCount = 1,
		.pPoolSizes = &size,
	};
	const VkShaderStageFlags stages = VK_SHADER_STAGE_COMPUTE_BIT | VK_SHADER_STAGE_VERTEX_BIT;
	const VkDescriptorSetLayoutBinding bindings[2] = {
		{ 0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, stages, NULL },
		{ 1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, stages, NULL },
	};
	const VkDescriptorSetLayoutCreateInfo layout = {
		.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
		.bindingCount = 2,
		.pBindings = bindings,
	};
	uint32_t i, j;

	VK(vkCreateDescriptorPool(vk.device, &pool_info, NULL, &pool));
	VK(vkCreateDescriptorSetLayout(vk.device, &layout, NULL, &set_layout));
	for (i = 0; i < CELLS * CELLS; i++) {
		const VkDescriptorSetAllocateInfo alloc = {
			.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
			.descriptorPool = pool,
			.descriptorSetCount = 1,
			.pSetLayouts = &set_layout,
		};
		VkDescriptorSet *set = &sets[i / CELLS][i % CELLS];

		VK(vkAllocateDescriptorSets(vk.device, &alloc, set));
		for (j = 0; j < 2; j++) {
			const VkDescriptorBufferInfo buffer = {
				cells[j ? i % CELLS : i / CELLS], 0, BYTES
			};
			const VkWriteDescriptorSet write = {
				.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
				.dstSet = *set,
				.dstBinding = j,
				.descriptorCount = 1,
				.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
				.pBufferInfo = &buffer,
			};

			vkUpdateDescriptorSets(vk.device, 1, &write, 0, NULL);
		}
	}
}

static void make_pipelines(void)
{
	const VkShaderModuleCreateInfo module = {
		.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
		.codeSize = sizeof(graph),
		.pCode = graph,
	};
	const VkPushConstantRange push = { VK_SHADER_STAGE_COMPUTE_BIT, 0, 8 };
	const VkPipelineLayoutCreateInfo layout = {
		.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
		.setLayoutCount = 1,
		.pSetLayouts = &set_layout,
		.pushConstantRangeCount = 1,
		.pPushConstantRanges = &push,
	};
	VkComputePipelineCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
		.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
		.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT,
		.stage.pName = "main",
	};
	struct draw_pipe pipe = { .vs = full_vert, .vs_size = sizeof(full_vert),
				  .fs = graph_frag, .fs_size = sizeof(graph_frag),
				  .colors = 1, .color = { FORMAT } };

	VK(vkCreatePipelineLayout(vk.device, &layout, NULL, &compute_layout));
	graphics_layout = draw_layout(&vk, 1, &set_layout);
	VK(vkCreateShaderModule(vk.device, &module, NULL, &info.stage.module));
	info.layout = compute_layout;
	VK(vkCreateComputePipelines(vk.device, VK_NULL_HANDLE, 1, &info, NULL, &dispatch));
	vkDestroyShaderModule(vk.device, info.stage.module, NULL);
	pipe.layout = graphics_layout;
	draw = draw_pipeline(&vk, &pipe);
	pipe.vs = mesh_vert;
	pipe.vs_size = sizeof(mesh_vert);
	pipe.fs = mesh_frag;
	pipe.fs_size = sizeof(mesh_frag);
	mesh = draw_pipeline(&vk, &pipe);
	target = draw_target(&vk, FORMAT, SIDE, SIDE, 1, VK_SAMPLE_COUNT_1_BIT,
			     VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT);
}

static void drop_objects(void)
{
	uint32_t i;

	draw_drop(&vk, &target);
	vkDestroyPipeline(vk.device, draw, NULL);
	vkDestroyPipeline(vk.device, mesh, NULL);
	vkDestroyPipeline(vk.device, dispatch, NULL);
	vkDestroyPipelineLayout(vk.device, graphics_layout, NULL);
	vkDestroyPipelineLayout(vk.device, compute_layout, NULL);
	vkDestroyDescriptorPool(vk.device, pool, NULL);
	vkDestroyDescriptorSetLayout(vk.device, set_layout, NULL);
	for (i = 0; i < PLAIN; i++)
		vk_buf_destroy(&vk, &plain[i]);
	for (; i < CELLS; i++)
		vkDestroyBuffer(vk.device, cells[i], NULL);
	vkFreeMemory(vk.device, memory, NULL);
}

int main(int argc, char **argv)
{
	ktap_start_args(argc, argv);
	vk_open(&vk, extensions);
	make_cells();
	make_sets();
	make_pipelines();
	ktap_run("random graphs of submissions", graphs);
	drop_objects();
	vk_close(&vk);
	return ktap_finish();
}
