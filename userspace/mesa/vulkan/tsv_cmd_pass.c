// SPDX-License-Identifier: MIT
/*
 * Render passes. The runtime turns all of them into dynamic rendering. The draws of a pass become
 * packets of BIN's list. The end of the pass writes the list and the frame, and adds a command to
 * BIN's and to RENDER's stream.
 *
 * A pass may render a part of its images. The tiles at the edge of that part hold other pixels too.
 * Such a pass loads its tiles first, and clears by drawing.
 */
#include "tsv_cmd.h"
#include "tsv_image.h"

#include "util/u_atomic.h"
#include "vk_format.h"
#include "vk_render_pass.h"

/* ---- Targets --------------------------------------------------------------------------------- */

static void fill_memory(const struct tsv_view *view, VkImageAspectFlags aspect,
			struct tsr_render_target *t)
{
	const struct tsv_image *image = container_of(view->vk.image, struct tsv_image, vk);
	const struct tsv_plane *plane = tsv_image_plane(image, aspect);
	const unsigned level = view->vk.base_mip_level;

	t->pointer = tsv_image_va(image, plane, level, view->vk.base_array_layer, 0);
	t->layout = plane->mem.layout;
	t->samples_log2 = util_logbase2(image->vk.samples);
	t->pitch = plane->mem.level[level].pitch;
	t->sample_stride = image->vk.samples > 1 ? (uint32_t)plane->mem.sample : 0;
	t->layer_stride = plane->mem.volume ? plane->mem.level[level].slice : plane->mem.layer;
}

static void set_samples(struct tc_frame *f, const struct tsv_view *view)
{
	f->samples_log2 = util_logbase2(view->vk.image->samples);
}

/*
 * True if RENDER can resolve the samples when it stores them. A target has one address, so the
 * samples must neither be loaded nor stored.
 */
static bool resolves_natively(const VkRenderingAttachmentInfo *a, bool partial)
{
	return a->resolveMode != VK_RESOLVE_MODE_NONE && a->resolveImageView &&
	       a->loadOp != VK_ATTACHMENT_LOAD_OP_LOAD && !partial &&
	       a->storeOp != VK_ATTACHMENT_STORE_OP_STORE;
}

/* The memory of a target, and what its tiles do with it. @bit is its bit in masks. */
static void add_target(struct tsv_pass *pass, const VkRenderingAttachmentInfo *a,
		       VkImageAspectFlags aspect, bool partial, uint32_t bit,
		       struct tsr_render_target *t)
{
	VK_FROM_HANDLE(tsv_view, view, a->imageView);
	VK_FROM_HANDLE(tsv_view, resolved, a->resolveImageView);
	const bool resuming = pass->info.rendering.flags & VK_RENDERING_RESUMING_BIT,
		   suspending = pass->info.rendering.flags & VK_RENDERING_SUSPENDING_BIT;
	const bool native = resolves_natively(a, partial || resuming || suspending);
	const bool store = suspending || a->storeOp == VK_ATTACHMENT_STORE_OP_STORE ||
			   (a->resolveMode && a->resolveImageView);
	const bool load = resuming || a->loadOp == VK_ATTACHMENT_LOAD_OP_LOAD ||
			  (partial && store);

	fill_memory(native ? resolved : view, aspect, t);
	set_samples(&pass->frame, view);
	if (load)
		pass->frame.load |= bit;
	else if (a->loadOp == VK_ATTACHMENT_LOAD_OP_CLEAR)
		pass->frame.clear |= bit;
	if (store)
		pass->frame.store |= bit;
	if (a->resolveMode && a->resolveImageView && !native && !suspending)
		pass->resolve = true;
}

static void add_color(struct tsv_pass *pass, unsigned i, const VkRenderingAttachmentInfo *a,
		      bool partial)
{
	VK_FROM_HANDLE(tsv_view, view, a->imageView);
	struct tsr_render_target *t = &pass->frame.color[i];
	const struct tc_format *f;

	*t = (struct tsr_render_target){ .format = TSR_PIXEL_FORMAT_R8_UNORM };
	pass->format[i] = view ? vk_format_to_pipe_format(view->vk.format) : PIPE_FORMAT_NONE;
	pass->frame.pixel_bytes += view ? util_format_get_blocksize(pass->format[i]) : 1;
	if (!view)
		return;
	f = tc_format(pass->format[i]);
	add_target(pass, a, VK_IMAGE_ASPECT_COLOR_BIT, partial, 1u << i, t);
	t->format = f->format;
	t->order = f->order;
	t->srgb = util_format_is_srgb(pass->format[i]);
	t->clear_0 = a->clearValue.color.uint32[0];
	t->clear_1 = a->clearValue.color.uint32[1];
	t->clear_2 = a->clearValue.color.uint32[2];
	t->clear_3 = a->clearValue.color.uint32[3];
}

static bool exists(const VkRenderingAttachmentInfo *a)
{
	return a && a->imageView;
}

/* True if nothing but the pipelines has a number of samples. */
static bool is_bare(const VkRenderingInfo *info)
{
	uint32_t i;

	for (i = 0; i < info->colorAttachmentCount; i++) {
		if (exists(&info->pColorAttachments[i]))
			return false;
	}
	return !exists(info->pDepthAttachment) && !exists(info->pStencilAttachment);
}

static void add_depth_stencil(struct tsv_pass *pass, const VkRenderingInfo *info, bool partial)
{
	const VkRenderingAttachmentInfo *d = info->pDepthAttachment, *s = info->pStencilAttachment;
	struct tc_frame *f = &pass->frame;

	pass->depth = f->has_depth = exists(d);
	pass->stencil = f->has_stencil = exists(s);
	if (pass->depth) {
		VK_FROM_HANDLE(tsv_view, view, d->imageView);

		f->depth = (struct tsr_render_target){ 0 };
		add_target(pass, d, VK_IMAGE_ASPECT_DEPTH_BIT, partial, TC_DEPTH_BIT, &f->depth);
		f->depth.format = tc_format(tsv_plane_format(view->vk.image->format,
							     VK_IMAGE_ASPECT_DEPTH_BIT))->format;
		f->depth.clear_0 = fui(d->clearValue.depthStencil.depth);
	}
	if (pass->stencil) {
		f->stencil = (struct tsr_render_target){ 0 };
		add_target(pass, s, VK_IMAGE_ASPECT_STENCIL_BIT, partial, TC_STENCIL_BIT,
			   &f->stencil);
		f->stencil.format = TSR_PIXEL_FORMAT_S8;
		f->stencil.clear_0 = s->clearValue.depthStencil.stencil & 0xff;
	}
}

/* ---- Passes ---------------------------------------------------------------------------------- */

/* True if an attachment has pixels that the pass does not render. */
static bool is_larger(const VkRenderingAttachmentInfo *a, const VkRect2D *area)
{
	VK_FROM_HANDLE(tsv_view, view, a ? a->imageView : VK_NULL_HANDLE);

	return view && (area->offset.x || area->offset.y ||
			area->extent.width < view->vk.extent.width ||
			area->extent.height < view->vk.extent.height);
}

static bool is_partial(const VkRenderingInfo *info)
{
	bool partial = is_larger(info->pDepthAttachment, &info->renderArea) ||
		       is_larger(info->pStencilAttachment, &info->renderArea);
	uint32_t i;

	for (i = 0; i < info->colorAttachmentCount; i++)
		partial |= is_larger(&info->pColorAttachments[i], &info->renderArea);
	return partial;
}

/* A copy of @info with its attachments. */
static void copy_info(struct tsv_pass_info *to, const VkRenderingInfo *info)
{
	uint32_t i;

	to->rendering = *info;
	to->rendering.pNext = NULL;
	for (i = 0; i < info->colorAttachmentCount; i++)
		to->attachments[i] = info->pColorAttachments[i];
	to->rendering.pColorAttachments = to->attachments;
	if (info->pDepthAttachment) {
		to->attachments[TC_COLORS] = *info->pDepthAttachment;
		to->rendering.pDepthAttachment = &to->attachments[TC_COLORS];
	}
	if (info->pStencilAttachment) {
		to->attachments[TC_COLORS + 1] = *info->pStencilAttachment;
		to->rendering.pStencilAttachment = &to->attachments[TC_COLORS + 1];
	}
}

static void clear_pass(struct tsv_cmd *cmd)
{
	struct tsv_pass *pass = &cmd->pass;

	util_dynarray_clear(&pass->list);
	memset(&pass->frame, 0, sizeof(pass->frame));
	memset(pass->format, 0, sizeof(pass->format));
	pass->colors = pass->views = 0;
	pass->depth = pass->stencil = pass->resolve = pass->alpha = false;
	pass->active = true;
	/* a list begins without state */
	cmd->graphics.dirty |= TSV_DIRTY_SHADERS | TSV_DIRTY_STATE | TSV_DIRTY_QUERY;
}

/* The frame of the pass, by its info. */
static void fill_frame(struct tsv_pass *pass, bool partial)
{
	const VkRenderingInfo *info = &pass->info.rendering;
	struct tc_frame *f = &pass->frame;
	const uint32_t samples_log2 = f->samples_log2;
	uint32_t i;

	memset(f, 0, sizeof(*f));
	pass->resolve = false;
	pass->bare = is_bare(info);
	if (pass->bare)
		f->samples_log2 = samples_log2;
	for (i = 0; i < pass->colors; i++)
		add_color(pass, i, &info->pColorAttachments[i], partial);
	add_depth_stencil(pass, info, partial);
	f->colors = pass->colors;
	f->x0 = (uint32_t)pass->area.offset.x;
	f->y0 = (uint32_t)pass->area.offset.y;
	f->x1 = f->width = f->x0 + pass->area.extent.width;
	f->y1 = f->height = f->y0 + pass->area.extent.height;
	f->views = info->viewMask;
	f->layers = f->render_layers =
		MAX2(info->viewMask ? util_last_bit(info->viewMask) : info->layerCount, 1);
}

VKAPI_ATTR void VKAPI_CALL tsv_CmdBeginRendering(VkCommandBuffer handle,
						 const VkRenderingInfo *info)
{
	VK_FROM_HANDLE(tsv_cmd, cmd, handle);
	struct tsv_pass *pass = &cmd->pass;
	const bool partial = is_partial(info);

	clear_pass(cmd);
	copy_info(&pass->info, info);
	pass->area = info->renderArea;
	pass->colors = info->colorAttachmentCount;
	pass->views = info->viewMask;
	fill_frame(pass, partial);
	if (partial && !(info->flags & VK_RENDERING_RESUMING_BIT))
		tsv_meta_clear_area(cmd, &pass->info.rendering);
}

/* Add the commands of BIN and RENDER. */
static void emit(struct tsv_cmd *cmd, uint64_t list, uint32_t size,
		 const struct tc_frame_lists *lists)
{
	const struct tsr_bin bin = { .list = list, .size = size, .frame = lists->frame };
	const struct tsr_render render = { .list = lists->render,
					   .size = lists->render_size,
					   .frame = lists->frame };
	struct tsr_stream *stream = tsv_cmd_stream(cmd, TSV_BIN);
	uint64_t *words = stream ? tsr_stream_emit(stream, TSR_BIN_QWORDS) : NULL;

	if (!words)
		return;
	tsr_pack_bin(words, &bin);
	stream = tsv_cmd_stream(cmd, TSV_RENDER);
	words = stream ? tsr_stream_emit(stream, TSR_RENDER_QWORDS) : NULL;
	if (words)
		tsr_pack_render(words, &render);
}

/* Targets without memory. A color that makes coverage needs one. */
static void add_unused(struct tsv_pass *pass)
{
	struct tc_frame *f = &pass->frame;
	uint32_t i;

	if (pass->alpha && !f->colors) {
		f->color[0] = (struct tsr_render_target){ .format = TSR_PIXEL_FORMAT_R8_UNORM };
		f->pixel_bytes++;
		f->colors = 1;
	}
	for (i = 0; i < f->colors; i++) {
		if (!pass->format[i])
			f->color[i].samples_log2 = f->samples_log2;
	}
}

/* Write what the pass has drawn. */
static void write_pass(struct tsv_cmd *cmd)
{
	struct tsv_device *device = tsv_cmd_device(cmd);
	struct tsv_pass *pass = &cmd->pass;
	struct tc_frame_lists lists;
	struct tsr_tiler_heap *heap;
	uint64_t list, va, *words, *end;

	add_unused(pass);
	cmd->heap = (uint8_t)(p_atomic_inc_return(&device->frames) % TSV_HEAPS);
	heap = tsv_device_heap(device, cmd->heap);
	if (heap)
		pass->frame.heap = tsr_tiler_heap_va(heap);
	else
		vk_command_buffer_set_error(&cmd->vk, VK_ERROR_OUT_OF_DEVICE_MEMORY);
	end = heap ? tsv_cmd_packet(cmd, TSR_LIST_HALT_QWORDS) : NULL;
	if (end)
		tsr_pack_list_halt(end, &(struct tsr_list_halt){ 0 });
	pass->active = false;
	words = end ? tsv_cmd_alloc(cmd, pass->list.size, 64, &list) : NULL;
	if (words)
		memcpy(words, pass->list.data, pass->list.size);
	end = words ? tsv_cmd_alloc(cmd, TC_FRAME_BYTES, TC_FRAME_ALIGN, &va) : NULL;
	/* an area without a pixel has nothing to render */
	if (end && tc_frame_pack(&pass->frame, va, end, &lists))
		emit(cmd, list, pass->list.size, &lists);
	tsv_cmd_write_marks(cmd, TSV_RENDER);
}

VKAPI_ATTR void VKAPI_CALL tsv_CmdEndRendering(VkCommandBuffer handle)
{
	VK_FROM_HANDLE(tsv_cmd, cmd, handle);
	struct tsv_pass_info info;

	if (!cmd->pass.active)
		return;
	write_pass(cmd);
	if (!cmd->pass.resolve)
		return;
	/* each resolve is a pass of its own, which replaces the command buffer's */
	copy_info(&info, &cmd->pass.info.rendering);
	tsv_meta_resolve(cmd, &info.rendering);
}

/*
 * The first part stores all targets and the second loads them, as if the program had suspended the
 * pass and resumed it.
 */
static void split(struct tsv_cmd *cmd, VkPipelineStageFlags2 stages)
{
	struct tsv_pass *pass = &cmd->pass;
	const VkRenderingFlags flags = pass->info.rendering.flags;

	pass->info.rendering.flags |= VK_RENDERING_SUSPENDING_BIT;
	fill_frame(pass, is_partial(&pass->info.rendering));
	write_pass(cmd);
	pass->info.rendering.flags = flags | VK_RENDERING_RESUMING_BIT;
	util_dynarray_clear(&pass->list);
	pass->active = true;
	fill_frame(pass, is_partial(&pass->info.rendering));
	tsv_cmd_barrier(cmd, stages);
}

/* A secondary command buffer does not know the targets. Its primary one splits the pass. */
void tsv_pass_split(struct tsv_cmd *cmd, VkPipelineStageFlags2 stages)
{
	struct tsv_pass *pass = &cmd->pass;
	const struct tsv_split later = {
		.at = util_dynarray_num_elements(&pass->list, uint64_t), .stages = stages,
	};

	if (cmd->vk.level == VK_COMMAND_BUFFER_LEVEL_SECONDARY)
		util_dynarray_append(&pass->splits, struct tsv_split, later);
	else
		split(cmd, stages);
	cmd->graphics.dirty |= TSV_DIRTY_SHADERS | TSV_DIRTY_STATE | TSV_DIRTY_QUERY;
}

uint64_t *tsv_cmd_packet(struct tsv_cmd *cmd, unsigned qwords)
{
	uint64_t *words = util_dynarray_grow(&cmd->pass.list, uint64_t, qwords);

	if (!words)
		vk_command_buffer_set_error(&cmd->vk, VK_ERROR_OUT_OF_HOST_MEMORY);
	return words;
}

/* ---- Secondary command buffers --------------------------------------------------------------- */

void tsv_pass_inherit(struct tsv_cmd *cmd, const VkCommandBufferBeginInfo *begin)
{
	const VkCommandBufferInheritanceRenderingInfo *info =
		vk_get_command_buffer_inheritance_rendering_info(cmd->vk.level, begin);
	struct tsv_pass *pass = &cmd->pass;
	uint32_t i;

	clear_pass(cmd);
	/* the program keeps its draws inside the area, and the frame ends there */
	pass->area = (VkRect2D){ .extent = { TSR_FRAME_DIM_MAX, TSR_FRAME_DIM_MAX } };
	if (!info)
		return;
	pass->colors = info->colorAttachmentCount;
	pass->views = info->viewMask;
	for (i = 0; i < pass->colors; i++)
		pass->format[i] = vk_format_to_pipe_format(info->pColorAttachmentFormats[i]);
	pass->depth = info->depthAttachmentFormat != VK_FORMAT_UNDEFINED;
	pass->stencil = info->stencilAttachmentFormat != VK_FORMAT_UNDEFINED;
	pass->frame.samples_log2 = util_logbase2(MAX2(info->rasterizationSamples, 1));
	pass->bare = !pass->depth && !pass->stencil;
	for (i = 0; i < pass->colors; i++)
		pass->bare &= !pass->format[i];
}

/* Append the qwords [@from, @to) of a list. */
static void append(struct tsv_cmd *cmd, const struct tsv_pass *pass, uint32_t from, uint32_t to)
{
	uint64_t *words = to > from ? tsv_cmd_packet(cmd, to - from) : NULL;

	if (words)
		memcpy(words, (const uint64_t *)pass->list.data + from, (to - from) * 8);
}

void tsv_pass_execute(struct tsv_cmd *cmd, const struct tsv_cmd *secondary)
{
	const struct tsv_pass *pass = &secondary->pass;
	const uint32_t qwords = util_dynarray_num_elements(&pass->list, uint64_t);
	uint32_t from = 0;

	if (cmd->pass.bare && qwords)
		cmd->pass.frame.samples_log2 = pass->frame.samples_log2;
	util_dynarray_foreach(&pass->splits, const struct tsv_split, s) {
		append(cmd, pass, from, s->at);
		split(cmd, s->stages);
		from = s->at;
	}
	append(cmd, pass, from, qwords);
	cmd->pass.alpha |= pass->alpha;
	/* queries that end in it are available when the pass is */
	util_dynarray_append_dynarray(&cmd->pass.marks, &pass->marks);
	cmd->graphics.dirty |= TSV_DIRTY_SHADERS | TSV_DIRTY_STATE | TSV_DIRTY_QUERY;
}

VKAPI_ATTR void VKAPI_CALL tsv_GetRenderAreaGranularity(VkDevice handle, VkRenderPass pass,
							VkExtent2D *granularity)
{
	/* a whole tile, whatever its size: none is loaded then */
	*granularity = (VkExtent2D){ 1u << TSR_TILE_SHIFT_MAX, 1u << TSR_TILE_SHIFT_MAX };
}
