// SPDX-License-Identifier: MIT
/* Draws. Each writes what has changed since the last one. */
#include "tsv_cmd.h"
#include "tsv_memory.h"

#include "vk_graphics_state.h"

/*
 * Numbers of vertices that an indexed draw of several instances can have, if the device alone knows
 * how many they are: an index above it reads as 0. There are 2^32 numbers for all instances, so a
 * draw can have 4096 of them.
 */
#define INDIRECT_SHIFT	20u

/* The numbers of a draw. */
struct draw {
	uint32_t first_vertex, first_instance, id, view;
	uint64_t arguments;		/* address of the first two in memory, or 0 */
};

static uint32_t topology_of(const struct tsv_cmd *cmd)
{
	switch (cmd->vk.dynamic_graphics_state.ia.primitive_topology) {
	case VK_PRIMITIVE_TOPOLOGY_POINT_LIST:
		return TSR_TOPOLOGY_POINTS;
	case VK_PRIMITIVE_TOPOLOGY_LINE_LIST:
		return TSR_TOPOLOGY_LINES;
	case VK_PRIMITIVE_TOPOLOGY_LINE_STRIP:
		return TSR_TOPOLOGY_LINE_STRIP;
	case VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP:
		return TSR_TOPOLOGY_TRIANGLE_STRIP;
	case VK_PRIMITIVE_TOPOLOGY_TRIANGLE_FAN:
		return TSR_TOPOLOGY_TRIANGLE_FAN;
	case VK_PRIMITIVE_TOPOLOGY_LINE_LIST_WITH_ADJACENCY:
		return TSR_TOPOLOGY_LINES_ADJACENCY;
	case VK_PRIMITIVE_TOPOLOGY_LINE_STRIP_WITH_ADJACENCY:
		return TSR_TOPOLOGY_LINE_STRIP_ADJACENCY;
	case VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST_WITH_ADJACENCY:
		return TSR_TOPOLOGY_TRIANGLES_ADJACENCY;
	case VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP_WITH_ADJACENCY:
		return TSR_TOPOLOGY_TRIANGLE_STRIP_ADJACENCY;
	default:
		return TSR_TOPOLOGY_TRIANGLES;
	}
}

/* ---- State ----------------------------------------------------------------------------------- */

static bool write_params(struct tsv_cmd *cmd, const struct draw *draw)
{
	struct tsv_graphics *g = &cmd->graphics;
	struct tsv_params *p = tsv_cmd_alloc(cmd, sizeof(*p), 64, &g->params);

	if (!p)
		return false;
	tsv_fill_params(&g->bind, &g->vertex->info, p, g->params);
	p->draw = draw->arguments;
	p->first_vertex = draw->first_vertex;
	p->first_instance = draw->first_instance;
	p->draw_id = draw->id;
	p->view = draw->view;
	g->first[0] = draw->first_vertex;
	g->first[1] = draw->first_instance;
	g->first[2] = draw->id;
	g->first[3] = draw->view;
	g->arguments = draw->arguments;
	return true;
}

/* True if a shader sees numbers of the draw, and they are not those of the last one. */
static bool is_renumbered(const struct tsv_graphics *g, const struct draw *draw)
{
	return g->vertex->info.reads_draw &&
	       (g->first[0] != draw->first_vertex || g->first[1] != draw->first_instance ||
		g->first[2] != draw->id || g->first[3] != draw->view ||
		g->arguments != draw->arguments);
}

static bool write_push(struct tsv_cmd *cmd)
{
	const struct tsr_list_push packet = { .vertex = cmd->graphics.params,
					      .fragment = cmd->graphics.params };
	uint64_t *words = tsv_cmd_packet(cmd, TSR_LIST_PUSH_QWORDS);

	if (words)
		tsr_pack_list_push(words, &packet);
	return words;
}

/* Begin or end to count samples. A list begins with no query. */
static bool write_query(struct tsv_cmd *cmd)
{
	static const uint32_t kinds[] = { TSR_QUERY_SAMPLES, TSR_QUERY_ANY_SAMPLES };
	const struct tsv_graphics *g = &cmd->graphics;
	struct tsr_list_query packet;
	uint64_t *words;
	unsigned i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		packet = (struct tsr_list_query){ .kind = kinds[i] };
		if (g->query_kind == kinds[i])
			packet.addr = g->query;
		words = tsv_cmd_packet(cmd, TSR_LIST_QUERY_QWORDS);
		if (!words)
			return false;
		tsr_pack_list_query(words, &packet);
	}
	return true;
}

/* Bring the list's state up to date. Returns false if nothing can be drawn. */
static bool prepare(struct tsv_cmd *cmd, const struct draw *draw)
{
	struct vk_dynamic_graphics_state *dyn = &cmd->vk.dynamic_graphics_state;
	struct tsv_graphics *g = &cmd->graphics;

	if (!cmd->pass.active || !g->vertex || !g->vertex->info.code_size)
		return false;
	if (BITSET_TEST(dyn->dirty, MESA_VK_DYNAMIC_VI) ||
	    BITSET_TEST(dyn->dirty, MESA_VK_DYNAMIC_VI_BINDING_STRIDES))
		g->dirty |= TSV_DIRTY_SHADERS;
	if (!BITSET_IS_EMPTY(dyn->dirty))
		g->dirty |= TSV_DIRTY_STATE;
	if (is_renumbered(g, draw))
		g->dirty |= TSV_DIRTY_PARAMS;
	if (g->dirty & (TSV_DIRTY_SHADERS | TSV_DIRTY_PARAMS) && !write_params(cmd, draw))
		return false;
	if (g->dirty & TSV_DIRTY_SHADERS) {
		if (!tsv_program_write(cmd))
			return false;
	} else if (g->dirty & TSV_DIRTY_PARAMS && !write_push(cmd)) {
		return false;
	}
	if (g->dirty & TSV_DIRTY_STATE && !tsv_state_write(cmd))
		return false;
	if (g->dirty & TSV_DIRTY_QUERY && !write_query(cmd))
		return false;
	g->dirty = 0;
	vk_dynamic_graphics_state_clear_dirty(dyn);
	return true;
}

/* ---- Direct draws ---------------------------------------------------------------------------- */

/*
 * The device tells instances apart by a number of vertices, and attributes do not depend on it. It
 * chooses well without indices. With them the number is the widest that leaves room for all
 * instances.
 */
static void set_padding(uint32_t instances, struct tsr_list_draw *d)
{
	if (d->index == TSR_INDEX_TYPE_NONE || instances <= 1)
		return;
	d->explicit_padding = true;
	d->padded_shift = MIN2(32 - util_logbase2_ceil(instances), 31);
}

/* The views of the pass, or one. */
static uint32_t views_of(const struct tsv_cmd *cmd)
{
	return cmd->pass.views ? cmd->pass.views : 1;
}

static void emit_draw(struct tsv_cmd *cmd, struct draw *draw, struct tsr_list_draw *d)
{
	uint64_t *words;

	d->topology = topology_of(cmd);
	d->first_instance = draw->first_instance;
	set_padding(d->instances, d);
	if (!d->count || !d->instances)
		return;
	u_foreach_bit(view, views_of(cmd)) {
		draw->view = view;
		words = prepare(cmd, draw) ? tsv_cmd_packet(cmd, TSR_LIST_DRAW_QWORDS) : NULL;
		if (!words)
			return;
		tsr_pack_list_draw(words, d);
	}
}

VKAPI_ATTR void VKAPI_CALL tsv_CmdDraw(VkCommandBuffer handle, uint32_t vertices,
				       uint32_t instances, uint32_t first, uint32_t instance)
{
	VK_FROM_HANDLE(tsv_cmd, cmd, handle);
	struct draw draw = { .first_vertex = first, .first_instance = instance };
	struct tsr_list_draw d = { .count = vertices, .instances = instances, .first = first };

	emit_draw(cmd, &draw, &d);
}

VKAPI_ATTR void VKAPI_CALL tsv_CmdDrawIndexed(VkCommandBuffer handle, uint32_t indices,
					      uint32_t instances, uint32_t first, int32_t offset,
					      uint32_t instance)
{
	VK_FROM_HANDLE(tsv_cmd, cmd, handle);
	const struct tsv_graphics *g = &cmd->graphics;
	struct draw draw = { .first_vertex = (uint32_t)offset, .first_instance = instance };
	struct tsr_list_draw d = {
		.index = g->index_type,
		.restart = cmd->vk.dynamic_graphics_state.ia.primitive_restart_enable,
		.count = indices,
		.instances = instances,
		.first = first,
		.base_vertex = offset,
		.indices = g->indices.va,
		.index_bytes = g->indices.size,
	};

	emit_draw(cmd, &draw, &d);
}

/* ---- Indirect draws -------------------------------------------------------------------------- */

/* One draw of one view, or all of them with one packet. */
static bool emit_indirect(struct tsv_cmd *cmd, const struct draw *draw,
			  const struct tsr_list_draw_indirect *d)
{
	uint64_t *words = prepare(cmd, draw) ? tsv_cmd_packet(cmd, TSR_LIST_DRAW_INDIRECT_QWORDS)
					     : NULL;

	if (words)
		tsr_pack_list_draw_indirect(words, d);
	return words;
}

/*
 * One packet for all draws, unless the shader sees their numbers: each has parameters of its own
 * then. @numbers: where the first vertex is in the arguments.
 */
static void draw_indirect(struct tsv_cmd *cmd, struct tsr_list_draw_indirect *d, uint32_t draws,
			  unsigned numbers)
{
	struct draw draw = { .arguments = d->arguments + numbers };
	const struct tsv_shader *vs = cmd->graphics.vertex;
	const uint32_t each = vs && vs->info.reads_draw ? 1 : draws;

	d->topology = topology_of(cmd);
	d->draws = each;
	for (draw.id = 0; draw.id < draws; draw.id += each) {
		u_foreach_bit(view, views_of(cmd)) {
			draw.view = view;
			if (!emit_indirect(cmd, &draw, d))
				return;
		}
		d->arguments += d->stride;
		draw.arguments += d->stride;
	}
}

VKAPI_ATTR void VKAPI_CALL tsv_CmdDrawIndirect(VkCommandBuffer handle, VkBuffer buf,
					       VkDeviceSize offset, uint32_t draws, uint32_t stride)
{
	VK_FROM_HANDLE(tsv_cmd, cmd, handle);
	VK_FROM_HANDLE(tsv_buffer, buffer, buf);
	struct tsr_list_draw_indirect d = { .arguments = buffer->va + offset, .stride = stride };

	draw_indirect(cmd, &d, draws, offsetof(VkDrawIndirectCommand, firstVertex));
}

VKAPI_ATTR void VKAPI_CALL tsv_CmdDrawIndexedIndirect(VkCommandBuffer handle, VkBuffer buf,
						      VkDeviceSize offset, uint32_t draws,
						      uint32_t stride)
{
	VK_FROM_HANDLE(tsv_cmd, cmd, handle);
	VK_FROM_HANDLE(tsv_buffer, buffer, buf);
	const struct tsv_graphics *g = &cmd->graphics;
	struct tsr_list_draw_indirect d = {
		.index = g->index_type,
		.restart = cmd->vk.dynamic_graphics_state.ia.primitive_restart_enable,
		.explicit_padding = g->index_type == TSR_INDEX_TYPE_U32,
		.padded_shift = g->index_type == TSR_INDEX_TYPE_U32 ? INDIRECT_SHIFT : 0,
		.arguments = buffer->va + offset,
		.stride = stride,
		.indices = g->indices.va,
		.index_bytes = g->indices.size,
	};

	draw_indirect(cmd, &d, draws, offsetof(VkDrawIndexedIndirectCommand, vertexOffset));
}
