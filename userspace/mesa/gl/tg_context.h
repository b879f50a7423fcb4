/* SPDX-License-Identifier: MIT */
#ifndef TG_CONTEXT_H
#define TG_CONTEXT_H

#include "pipe/p_context.h"
#include "pipe/p_state.h"
#include "util/list.h"
#include "util/slab.h"
#include "util/u_blitter.h"

#include "tg_batch.h"
#include "tg_program.h"
#include "tg_screen.h"

#define TG_CONSTANT_BUFFERS	16
#define TG_TEXTURES		32
#define TG_VERTEX_BUFFERS	32
#define TG_BUFFERS		16	/* storage buffers */
#define TG_IMAGES		16
#define TG_RESOLVES		4	/* of 2, 4, 8 and 16 samples */
#define TG_STREAMS		4	/* of vertices, that a geometry shader emits to */

/* Topologies that the device draws. */
#define TG_TOPOLOGIES                                                                             \
	(BITFIELD_BIT(MESA_PRIM_POINTS) | BITFIELD_BIT(MESA_PRIM_LINES) |                         \
	 BITFIELD_BIT(MESA_PRIM_LINE_LOOP) | BITFIELD_BIT(MESA_PRIM_LINE_STRIP) |                 \
	 BITFIELD_BIT(MESA_PRIM_TRIANGLES) | BITFIELD_BIT(MESA_PRIM_TRIANGLE_STRIP) |             \
	 BITFIELD_BIT(MESA_PRIM_TRIANGLE_FAN) | BITFIELD_BIT(MESA_PRIM_LINES_ADJACENCY) |          \
	 BITFIELD_BIT(MESA_PRIM_LINE_STRIP_ADJACENCY) |                                           \
	 BITFIELD_BIT(MESA_PRIM_TRIANGLES_ADJACENCY) |                                            \
	 BITFIELD_BIT(MESA_PRIM_TRIANGLE_STRIP_ADJACENCY) | BITFIELD_BIT(MESA_PRIM_PATCHES))

enum tg_topology_class { TG_POINTS = 1, TG_LINES, TG_TRIANGLES };

/* States that have changed since the last draw. */
enum tg_dirty {
	TG_DIRTY_DRAW = 1 << 0,		/* DRAW_STATE, viewport and blending */
	TG_DIRTY_VERTICES = 1 << 1,	/* vertex buffers or elements */
	TG_DIRTY_LINK = 1 << 2,		/* a shader: what fragments read of what vertices write */
	TG_DIRTY_QUERY = 1 << 3,
	TG_DIRTY_ALL = 15
};

/* Changes of a stage since the last draw. */
enum tg_stage_dirty {
	TG_DIRTY_SHADER = 1 << 0,
	TG_DIRTY_CONSTANTS = 1 << 1,
	TG_DIRTY_TEXTURES = 1 << 2,
	TG_DIRTY_SAMPLERS = 1 << 3,
	TG_DIRTY_STAGE_ALL = 15
};

struct tg_sampler {
	struct pipe_sampler_state base;
	uint64_t words[4];		/* SAMPLER, without a border color */
	bool border;			/* needs one */
};

struct tg_sampler_view {
	struct pipe_sampler_view base;
	struct tg_bo *bo;		/* of the texture, when the view was made */
	struct tg_bo *surfaces;		/* TEXTURE_SURFACE each, ours */
	uint64_t words[4];		/* TEXTURE */
};

struct tg_elements {
	unsigned count;
	struct pipe_vertex_element element[PIPE_MAX_ATTRIBS];
};

struct tg_stage {
	struct tg_shader *shader;
	struct tg_variant *variant;
	struct pipe_constant_buffer constants[TG_CONSTANT_BUFFERS];
	struct pipe_sampler_view *views[TG_TEXTURES];
	struct tg_sampler *samplers[TG_TEXTURES];
	unsigned view_count, sampler_count;
	struct pipe_shader_buffer buffers[TG_BUFFERS];
	uint32_t buffers_written;	/* bit n: the shader may write buffer n */
	struct pipe_image_view images[TG_IMAGES];
	unsigned image_count;
	uint32_t dirty;			/* enum tg_stage_dirty */

	/* what is in the batch's memory */
	uint64_t push, uniforms, textures, samplers_va;
	unsigned uniform_count;
};

struct tg_query;
struct tg_resource;

/* A buffer that captures vertices. */
struct tg_stream_target {
	struct pipe_stream_output_target base;
	uint32_t offset;		/* bytes behind buffer_offset that are filled */
	uint32_t stride;		/* bytes of a vertex, of the last draw */
};

/* Numbers of primitives of each stream, as transform feedback sees them. */
struct tg_streamed {
	uint64_t generated[TG_STREAMS];	/* while somebody counts them */
	uint64_t captured[TG_STREAMS];
	uint64_t needed[TG_STREAMS];	/* what would be captured if everything fitted */
};

struct tg_context {
	struct pipe_context base;
	struct tg_screen *screen;
	struct slab_child_pool transfers;
	struct blitter_context *blitter;
	struct util_dynarray texels;	/* struct tg_texels: shaders of blits (tg_texels.c) */
	void *resolve[TG_RESOLVES], *resolve_sampler;	/* of drawn resolves (tg_resolve.c) */
	struct primconvert_context *primconvert;	/* quads and polygons become triangles */
	struct tg_batch *batch;
	struct tg_batch *copies;	/* that run before it (tg_copy.h) */
	uint64_t last_point;		/* of this context's last batch */
	struct util_dynarray waits;	/* struct tsr_sync *: the next jobs wait for them */
	uint64_t waited_point;		/* the last batch that did; copies come after it */
	bool robust;			/* PIPE_CONTEXT_ROBUST_BUFFER_ACCESS */
	unsigned priority;		/* DRM_TESSERA_PRIORITY_* of its queues */
	enum pipe_reset_status reset;	/* not told yet; protected by the screen's lock */

	struct tg_stage stage[PIPE_SHADER_TYPES];
	struct pipe_framebuffer_state framebuffer;
	struct pipe_blend_state *blend;
	struct pipe_rasterizer_state *rasterizer;
	struct pipe_depth_stencil_alpha_state *zsa;
	struct tg_elements *elements;
	struct pipe_vertex_buffer vertex_buffers[TG_VERTEX_BUFFERS];
	unsigned vertex_buffer_count;
	struct pipe_blend_color blend_color;
	struct pipe_stencil_ref stencil_ref;
	struct pipe_viewport_state viewports[PIPE_MAX_VIEWPORTS];
	struct pipe_scissor_state scissors[PIPE_MAX_VIEWPORTS];
	struct pipe_clip_state clip;
	struct pipe_poly_stipple stipple;
	unsigned sample_mask, min_samples;
	uint32_t dirty;			/* enum tg_dirty */
	bool shaders_stale;	/* SHADER_STATE is older than the rasterizer state it depends on */

	struct tg_stream_target *streams[PIPE_MAX_SO_BUFFERS];
	unsigned stream_count;
	uint64_t positions_va;		/* not 0: they go there instead (tg_polygon.c) */
	uint64_t stream_list;		/* of the draw that is captured: its list of vertices */
	uint32_t stream_vertices;	/* length of that list */
	uint32_t stream_instance;	/* number of the draw's first instance */
	struct tg_bo *primitive_ids;	/* not NULL: a uint32_t for each primitive that is drawn */
	uint32_t primitive_ids_at;	/* bytes before those of the draw */
	struct tg_streamed streamed;	/* since the context began */
	uint64_t groups_va;		/* of the dispatch: where its three numbers are */
	uint32_t group_size[3];		/* of the dispatch */
	float tess_factors[6];		/* of patches without a control shader: outside, inside */
	uint8_t patch_vertices;
	unsigned primitive_queries;	/* that are active */

	struct tg_query *queries[2];	/* of samples, active, by enum tsr_query */
	struct list_head statistics_queries;	/* active, see tg_statistics.h */
	struct tg_bo *statistics;	/* the present part */
	uint64_t compute_invocations;	/* since the context began */
	bool queries_paused;
	struct pipe_query *condition;
	bool condition_value;
	enum pipe_render_cond_flag condition_mode;

	/* of the draw before */
	uint64_t position_va, varying_va, fragment_va, attributes_va, attribute_buffers_va;
	unsigned attribute_count, attribute_buffer_count;
	uint32_t topology_class;	/* enum tg_topology_class */
	float depth_bias;		/* of lines and points: added to all depths */
	bool capture_only;	/* draws are for transform feedback and queries */
	bool back_facing;		/* lines and points are those of back faces */
	uint64_t padded; /* number of vertices that tells instances apart, 0: one instance */
	bool indexed;
	uint32_t start_instance;
	int32_t base_vertex;
	uint32_t draw_id;
};

/* tg_stage_is_binned(): its shaders run when primitives are binned. */
static inline bool tg_stage_is_binned(enum pipe_shader_type type)
{
	return type != PIPE_SHADER_FRAGMENT && type != PIPE_SHADER_COMPUTE;
}

/* tg_stage_is_between(): a tessellation or geometry shader. */
static inline bool tg_stage_is_between(enum pipe_shader_type type)
{
	return type != PIPE_SHADER_VERTEX && tg_stage_is_binned(type);
}

static inline struct tg_context *tg_context(struct pipe_context *pipe)
{
	return (struct tg_context *)pipe;
}

struct pipe_context *tg_context_create(struct pipe_screen *screen, void *priv, unsigned flags);

/* tg_context_flush(): submit what has been recorded. */
void tg_context_flush(struct tg_context *ctx, const char *why);

/* tg_context_renamed(): a resource that may be bound has other memory. */
void tg_context_renamed(struct tg_context *ctx, struct tg_resource *resource);

/* tg_context_condition(): whether the render condition lets draws pass. */
bool tg_context_condition(struct tg_context *ctx);

void tg_state_init(struct pipe_context *pipe);
void tg_texture_init(struct pipe_context *pipe);
void tg_program_init(struct pipe_context *pipe);
void tg_draw_init(struct pipe_context *pipe);
void tg_blit_init(struct pipe_context *pipe);
void tg_query_init(struct pipe_context *pipe);
void tg_stream_init(struct pipe_context *pipe);
void tg_stages_init(struct pipe_context *pipe);
void tg_image_init(struct pipe_context *pipe);
void tg_compute_init(struct pipe_context *pipe);

/* tg_query_emit(): LIST_QUERY for the queries that are active. */
void tg_query_emit(struct tg_context *ctx, struct tg_batch *batch);

/* tg_texture_write(): the tables of a stage with so many textures. */
bool tg_texture_write(struct tg_batch *batch, struct tg_stage *stage, unsigned count);

#endif
