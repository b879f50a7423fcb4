/* SPDX-License-Identifier: MIT */
/*
 * libtessera-gfx: drawing.
 *
 *	tsr_gfx_create(vm, &gfx);
 *	tsr_image_create(vm, &image_info, sizeof(image_info), &image);
 *	tsr_gfx_pipeline_create(&pipeline_info, sizeof(pipeline_info), &pipeline);
 *
 *	tsr_gfx_pass_create(gfx, &pass_info, sizeof(pass_info), &pass);
 *	tsr_gfx_set_pipeline(pass, pipeline);
 *	tsr_gfx_set_vertices(pass, 0, va, size);
 *	tsr_gfx_draw(pass, &(struct tsr_gfx_draw){ .count = 3 });
 *	tsr_gfx_run(pass, TSR_DEADLINE_NEVER);
 *
 * A pass draws into targets. These are images that are loaded or cleared before the first draw and
 * stored after the last one. A pass is recorded once and can be submitted many times. It copies
 * push constants, bindings and state. Shaders, pipelines, images and buffers belong to the caller
 * and must exist until the GPU is done with the pass. Documentation/guide/graphics.md explains a
 * first picture, and Documentation/hw/3d.md describes the hardware.
 *
 * The GPU draws a pass in two steps, on two engines. The first step determines which tiles each
 * primitive touches, and the second step draws tile by tile. The first step of a pass may run
 * during the second step of the previous pass. Passes of one tsr_gfx take effect in the order of
 * submission. If a pass fails, for example by a fault in a shader, passes that were submitted after
 * it and have not been drawn fail with -ECANCELED. Later submissions are drawn.
 *
 * Errors. Recording functions return 0, or a negative errno and record nothing. The first error is
 * kept and tsr_gfx_submit() returns it again, so a caller may check there alone. Arguments that the
 * GPU would refuse are refused here, with a text.
 *
 * The rules of tessera.h hold. A pass belongs to one thread at a time; a tsr_gfx, images and
 * pipelines may be shared by threads.
 */
#ifndef TESSERA_GFX_H
#define TESSERA_GFX_H

#include <tessera/compute.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tsr_gfx;			/* what passes of one VM are submitted to */
struct tsr_gfx_pipeline;	/* shaders and fixed state; never changes */
struct tsr_gfx_pass;		/* draws into targets, recorded */

/* ---- Pipelines ------------------------------------------------------------------------------- */

#define TSR_GFX_ATTRIBUTES_MAX	16	/* attributes of a vertex */
#define TSR_GFX_BUFFERS_MAX	16	/* vertex buffers */
#define TSR_GFX_VARYINGS_MAX	32	/* varyings between vertex and fragment */

/* An attribute of vertices: the n-th is attribute n of the vertex shader. */
struct tsr_gfx_attribute {
	uint32_t buffer;	/* which vertex buffer */
	enum tsr_pixel_format format;
	enum tsr_component_order order;
	uint64_t offset;	/* of the first one in the buffer, bytes */
};

/* A vertex buffer. */
struct tsr_gfx_vertex_buffer {
	uint64_t stride;	/* bytes from one element to the next; 0: one for all */
	uint32_t divisor;	/* 0: an element for each vertex; n: one for every n instances */
};

enum tsr_gfx_interpolation {
	TSR_GFX_INTERPOLATE_PERSPECTIVE = 0,	/* perspective */
	TSR_GFX_INTERPOLATE_LINEAR,		/* in the plane of the picture */
	TSR_GFX_INTERPOLATE_FLAT		/* that of the provoking vertex */
};

/* A value that fragments get from vertices. */
struct tsr_gfx_varying {
	enum tsr_pixel_format format;	/* of it in memory */
	uint16_t output;	/* number of the vertex shader's output */
	uint16_t input;		/* number of the fragment shader's varying */
	enum tsr_gfx_interpolation interpolation;
};

/* A message before a fragment shader's first clause, into R0 to R3 (first) or R4 to R7. */
struct tsr_gfx_preload {
	enum tsr_preload kind;
	bool half;		/* results are 16-bit */
	bool zero_lod;		/* VAR_TEX: level of detail 0; since version 1.1 of the device */
	uint32_t components;	/* LD_VAR: 1 to 4 */
	uint32_t varying;
	uint32_t texture;	/* VAR_TEX: texture and sampler */
};

enum tsr_gfx_vertex_flags {
	TSR_GFX_VERTEX_WINDOW_POSITION = 1 << 0,	/* positions: x, y, z of the window, 1/w */
	TSR_GFX_VERTEX_ONE_SHADER = 1 << 1,	/* writes all outputs; 0 is the position */
	TSR_GFX_VERTEX_POINT_SIZE = 1 << 2,	/* writes more than x, y, z, w: a point size, */
	TSR_GFX_VERTEX_LAYER = 1 << 3,		/* a layer, */
	TSR_GFX_VERTEX_VIEWPORT = 1 << 4,	/* a viewport, */
	TSR_GFX_VERTEX_DISTANCES = 1 << 5	/* clip or cull distances */
};

enum tsr_gfx_fragment_flags {
	TSR_GFX_FRAGMENT_WRITES_DEPTH = 1 << 0,
	TSR_GFX_FRAGMENT_WRITES_STENCIL = 1 << 1,
	TSR_GFX_FRAGMENT_DISCARDS = 1 << 2,	/* drops fragments, or samples of them */
	TSR_GFX_FRAGMENT_SIDE_EFFECTS = 1 << 3,	/* stores to memory */
	TSR_GFX_FRAGMENT_READS_TARGETS = 1 << 4,	/* LD_TILE, or blending by shader */
	TSR_GFX_FRAGMENT_SAMPLE_SHADING = 1 << 5,	/* runs for each sample */
	TSR_GFX_FRAGMENT_EARLY_TESTS = 1 << 6,	/* depth and stencil are done before it */
	TSR_GFX_FRAGMENT_HELPERS = 1 << 7,	/* takes derivatives, as computed levels do */
	TSR_GFX_FRAGMENT_WAITS_DEPTH = 1 << 8,	/* its first clause waits for slot 6 */
	TSR_GFX_FRAGMENT_WAITS_COLOR = 1 << 9	/* its first clause waits for slot 7 */
};

enum tsr_gfx_raster_flags {
	TSR_GFX_RASTER_CULL_FRONT = 1 << 0,
	TSR_GFX_RASTER_CULL_BACK = 1 << 1,
	TSR_GFX_RASTER_FRONT_CLOCKWISE = 1 << 2,	/* in memory, rows going down */
	TSR_GFX_RASTER_PROVOKING_LAST = 1 << 3,
	TSR_GFX_RASTER_DEPTH_CLAMP = 1 << 4,	/* depth is clamped in place of clipped */
	TSR_GFX_RASTER_DEPTH_MINUS_ONE = 1 << 5,	/* clip space is -w to w deep, not 0 to w */
	TSR_GFX_RASTER_NONE = 1 << 6,	/* nothing is drawn */
	TSR_GFX_RASTER_DEPTH_BIAS = 1 << 7,
	TSR_GFX_RASTER_BRESENHAM = 1 << 8,	/* lines by the diamond rule, else rectangles */
	TSR_GFX_RASTER_POINT_LOWER = 1 << 9,	/* origin of point coordinates */
	TSR_GFX_RASTER_ALPHA_TO_COVERAGE = 1 << 10,
	TSR_GFX_RASTER_ALPHA_TO_ONE = 1 << 11,
	TSR_GFX_RASTER_DITHER = 1 << 12
};

/* Stencil of one side. */
struct tsr_gfx_stencil {
	enum tsr_compare_function function;	/* (reference & mask) to (stored & mask) */
	enum tsr_stencil_op fail, depth_fail, pass;
	uint8_t read_mask, write_mask;
};

struct tsr_gfx_depth {
	bool test, write, bounds, stencil;
	enum tsr_compare_function function;	/* fragment to stored */
	struct tsr_gfx_stencil front, back;
	float min, max;		/* bounds */
};

/* Blending of one target. The default, all zero but mask, replaces. */
struct tsr_gfx_blend {
	bool enable;
	uint8_t mask;		/* bit n: component n is written, red first */
	enum tsr_blend_factor src_color, dst_color, src_alpha, dst_alpha;
	enum tsr_blend_op color_op, alpha_op;
	enum tsr_register_type registers;	/* what the fragment shader leaves */
	struct tsr_shader *shader;	/* blends by shader; NULL: fixed function */
	uint32_t shader_return;	/* its return value, for R48: the offset in the shader */
};

/*
 * A shader of a pipeline with stages, and the words of stage I/O memory that it loads and stores.
 * Bit n % 64 of element [n / 64] is the word at byte 4 n.
 */
struct tsr_gfx_stage_shader {
	struct tsr_shader *shader;	/* NULL: there is none; vertex: it is info.vertex */
	uint32_t entry;
	uint64_t reads[4], writes[4];
	uint32_t patch_words;		/* hull, domain: 0, 8, 16, 32, 64 or 128 */
	bool trap_handles;		/* a handle that is none is a fault */
};

/* A part of a vertex that stream-out writes. */
struct tsr_gfx_streamed {
	uint32_t word, components;	/* of stage I/O memory: first word, 1 to 4 words */
	uint32_t stream, target;
	uint32_t offset;		/* bytes in the target's vertex: a multiple of 4 */
};

/*
 * Stages between vertex shader and rasterization (hw/3d.md, from "Vertex shaders with stage I/O
 * memory" on). The vertex shader is info.vertex and has all outputs; info.varying is NULL. With
 * ONE_PROGRAM, the vertex shader and the domain shader may write outputs, and output 0 is the
 * position. Otherwise they store to stage I/O memory. Varyings are consecutive words from 0x80 on,
 * as many for each as its format has. All stages use the bindings of TSR_GFX_STAGE_VERTEX.
 */
struct tsr_gfx_stages {
	struct tsr_gfx_stage_shader vertex, hull, domain, geometry;
	uint32_t patch_points;		/* PATCHES: vertices of each */
	uint32_t control_points, hull_threads;	/* hull: both 0 to 32 */
	bool independent;		/* hull: threads of several patches can share a warp */
	enum tsr_patch_shape shape;
	enum tsr_patch_partitioning partitioning;
	enum tsr_patch_primitives primitives;
	bool reversed;
	float factors[6];		/* domain without hull */
	enum tsr_geometry_input input;	/* geometry */
	enum tsr_geometry_output output;
	uint32_t instances, max_vertices;	/* geometry: threads of a primitive (0: 1) */
	uint32_t streams;		/* geometry: bit s: it emits to stream s; 0: to stream 0 */
	uint32_t raster_stream;
	const struct tsr_gfx_streamed *declaration;	/* copied */
	uint32_t declared;
};

/* Description of a pipeline. Zeroed fields are the defaults. */
struct tsr_gfx_pipeline_info {
	/* shaders and where they begin, in bytes after the shader's own entry */
	struct tsr_shader *vertex;	/* positions; with ONE_PROGRAM all outputs */
	struct tsr_shader *varying;	/* the other outputs; NULL with ONE_PROGRAM or if none */
	struct tsr_shader *fragment;	/* NULL: only depth and stencil */
	uint32_t vertex_entry, varying_entry, fragment_entry;
	uint32_t vertex_flags;		/* enum tsr_gfx_vertex_flags */
	uint32_t fragment_flags;	/* enum tsr_gfx_fragment_flags */
	uint8_t clip_distances, cull_distances;	/* DISTANCES: bit n: distance n is one */
	enum tsr_depth_layout depth_layout;	/* WRITES_DEPTH */
	struct tsr_gfx_preload preload[2];

	const struct tsr_gfx_attribute *attributes;
	uint32_t attribute_count;
	const struct tsr_gfx_vertex_buffer *buffers;
	uint32_t buffer_count;
	const struct tsr_gfx_varying *varyings;
	uint32_t varying_count;

	enum tsr_topology topology;
	bool restart;			/* the index of all ones begins a new primitive */
	uint32_t raster;		/* enum tsr_gfx_raster_flags */
	struct tsr_gfx_depth depth;
	const struct tsr_gfx_blend *blends;	/* one for each target; others are not written */
	uint32_t blend_count;
	bool logic;			/* logic_op in place of blending */
	enum tsr_logic_op logic_op;
	uint32_t sample_mask;		/* bit n: sample n may be covered; 0: all */
	uint32_t clause_limit;		/* clauses a warp may run; 0: any number */
	const struct tsr_gfx_stages *stages;	/* copied; NULL: there are none */
	const char *label;		/* name in messages; copied, NULL: none */
};

/*
 * tsr_gfx_pipeline_create(): check and keep what draws have in common; the shaders are kept alive.
 * @size is sizeof(*@info).
 * -EINVAL for what the GPU would refuse, e.g. outputs that take too much memory.
 */
int tsr_gfx_pipeline_create(const struct tsr_gfx_pipeline_info *info, size_t size,
			    struct tsr_gfx_pipeline **pipeline);
struct tsr_gfx_pipeline *tsr_gfx_pipeline_ref(struct tsr_gfx_pipeline *pipeline);
void tsr_gfx_pipeline_unref(struct tsr_gfx_pipeline *pipeline);

/* ---- Where passes go ------------------------------------------------------------------------- */

/*
 * tsr_gfx_create(): the queues, and the memory between the two steps of passes: of one that is
 * rendered, and of as many that are binned meanwhile as there are BIN queues. Passes are rendered
 * one after the other, in the order they are submitted in; they are binned in any order, unless
 * one waits for the other. -ENODEV for a GPU without the engines.
 */
int tsr_gfx_create(struct tsr_vm *vm, struct tsr_gfx **gfx);
struct tsr_gfx *tsr_gfx_ref(struct tsr_gfx *gfx);
void tsr_gfx_unref(struct tsr_gfx *gfx);

/*
 * tsr_gfx_set_heap(): the memory between the steps: @initial bytes at first, @limit at most (0:
 * what the device can have), multiples of 64 KiB. A pass that needs more fails with -ENOSPC.
 * Waits for passes that are still drawn.
 */
int tsr_gfx_set_heap(struct tsr_gfx *gfx, uint64_t initial, uint64_t limit);

#define TSR_GFX_BIN_QUEUES 2

/*
 * tsr_gfx_queues(): its queues, for their state; no references are taken. Passes take the BIN
 * queues in turn. Where the device has only one BIN engine there is one, and bin[1] is NULL.
 */
void tsr_gfx_queues(struct tsr_gfx *gfx, struct tsr_queue *bin[TSR_GFX_BIN_QUEUES],
		    struct tsr_queue **render);

/* ---- Passes ---------------------------------------------------------------------------------- */

enum tsr_gfx_load {
	TSR_GFX_LOAD_DONT_CARE = 0,	/* content before is not needed: 0 */
	TSR_GFX_LOAD_CONTENT,
	TSR_GFX_LOAD_CLEAR
};

/* A clear value: as the format is, normalized and floating point or integer. */
union tsr_gfx_color {
	float f[4];
	uint32_t u[4];
	int32_t i[4];
};

/*
 * A target. All zero: there is none. What a pass that has failed leaves in it is not defined.
 *
 * An image with TSR_IMAGE_COMPRESSED is a target as a whole (all of its samples, from layer 0 on),
 * of color or of depth without stencil in its words. Passes of one tsr_gfx store it compressed.
 * Textures, views and tsr_image_get_copy_surface() use it compressed if the device has
 * DRM_TESSERA_FEATURE_TAGGED, except a view of a pass that draws to it, from which on it is stored
 * expanded. Before any other use the library submits a pass that expands it, after all that were
 * submitted before. Once it has been a target of another tsr_gfx, or its address was requested, it
 * is stored expanded. It cannot be a texture of a pass that draws to it.
 */
struct tsr_gfx_target {
	struct tsr_image *image;
	enum tsr_pixel_format format;	/* of the same size; 0: the image's. Z24X8: the */
				/* stencil is X24S8 */
	uint32_t level;
	uint32_t layer;		/* the first one */
	enum tsr_gfx_load load;
	bool discard;		/* content is not needed after the pass */
	union tsr_gfx_color clear;	/* depth: f[0]; stencil: u[0] */
};

struct tsr_gfx_pass_info {
	uint32_t width, height;	/* 0: of the first target there is */
	uint32_t layers;	/* 0 counts as 1 */
	uint32_t samples;	/* 0: the images'; images of one sample get the average */
	uint32_t tile_shift;	/* log2 of a tile's side; 0: the library chooses */
	struct tsr_gfx_target color[TSR_RENDER_TARGETS_MAX];	/* up to the first without image */
	struct tsr_gfx_target depth, stencil;
};

/*
 * tsr_gfx_pass_create(): an empty pass. Viewport and scissor are the whole picture, depth 0 to 1.
 * -EINVAL if the targets do not fit each other or the tile memory. The images are kept alive.
 * @size is sizeof(*@info).
 */
int tsr_gfx_pass_create(struct tsr_gfx *gfx, const struct tsr_gfx_pass_info *info, size_t size,
			struct tsr_gfx_pass **pass);

/* tsr_gfx_pass_reset(): forget what was recorded, and errors; the GPU must be done with it. */
void tsr_gfx_pass_reset(struct tsr_gfx_pass *pass);

/* tsr_gfx_pass_destroy(): the GPU must be done with it. NULL is ignored. */
void tsr_gfx_pass_destroy(struct tsr_gfx_pass *pass);

/* tsr_gfx_set_clear(): another clear value of color target @target for later submissions. */
int tsr_gfx_set_clear(struct tsr_gfx_pass *pass, uint32_t target, union tsr_gfx_color value);

/*
 * tsr_gfx_set_perfmon(): have @perfmon count both jobs of the pass from its next submission on;
 * NULL ends it. A submission that is repeated with more memory counts once.
 */
void tsr_gfx_set_perfmon(struct tsr_gfx_pass *pass, struct tsr_perfmon *perfmon);

/* ---- State of the draws that follow ---------------------------------------------------------- */

/* tsr_gfx_set_pipeline(): draws need one. It is kept alive. */
int tsr_gfx_set_pipeline(struct tsr_gfx_pass *pass, struct tsr_gfx_pipeline *pipeline);

enum tsr_gfx_stage {
	TSR_GFX_STAGE_VERTEX = 1 << 0,	/* both vertex shaders */
	TSR_GFX_STAGE_FRAGMENT = 1 << 1
};

/* tsr_gfx_set_push(): push constants @first to @first + @count - 1 of enum tsr_gfx_stage bits. */
int tsr_gfx_set_push(struct tsr_gfx_pass *pass, uint32_t stages, uint32_t first, uint32_t count,
		     const void *words);

/*
 * tsr_gfx_set_vertices(): vertex buffer @buffer is [@va, @va + @size). What lies beyond reads 0.
 *
 */
int tsr_gfx_set_vertices(struct tsr_gfx_pass *pass, uint32_t buffer, uint64_t va, uint64_t size);

/* tsr_gfx_set_indices(): indices of @type (enum tsr_index_type, not NONE), aligned to their size.
 */
int tsr_gfx_set_indices(struct tsr_gfx_pass *pass, enum tsr_index_type type, uint64_t va,
			uint64_t size);

/* Resources of a stage, by number, as in struct tsr_dispatch_info. Arrays are copied. */
struct tsr_gfx_bindings_info {
	const struct tsr_storage *storage;
	uint32_t storage_count;
	const struct tsr_uniform *uniforms;
	uint32_t uniform_count;
	const struct tsr_view *views;	/* numbers follow those of the vertex attributes */
	uint32_t view_count;
	const struct tsr_view *textures;
	uint32_t texture_count;
	const struct tsr_sampler_state *samplers;
	uint32_t sampler_count;
	struct tsr_scratch *scratch;
};

/*
 * tsr_gfx_set_bindings(): replace all bindings of the stages (enum tsr_gfx_stage). @size is
 * sizeof(*@bindings).
 */
int tsr_gfx_set_bindings(struct tsr_gfx_pass *pass, uint32_t stages,
			 const struct tsr_gfx_bindings_info *bindings, size_t size);

/* A viewport; window x = x + (x/w + 1) / 2 * width, row 0 being the first in memory. */
struct tsr_gfx_viewport {
	float x, y, width, height;	/* pixels; a negative height turns the picture over */
	float near_depth, far_depth;
};

/* tsr_gfx_set_viewport(): viewport @index; there are as many as the highest one set. */
int tsr_gfx_set_viewport(struct tsr_gfx_pass *pass, uint32_t index,
			 const struct tsr_gfx_viewport *viewport);

/* tsr_gfx_set_scissor(): only pixels of @rect are drawn through viewport @index. */
int tsr_gfx_set_scissor(struct tsr_gfx_pass *pass, uint32_t index, const struct tsr_rect *rect);

/* tsr_gfx_set_blend_constant(): red, green, blue, alpha of the constant factors; at first 0. */
int tsr_gfx_set_blend_constant(struct tsr_gfx_pass *pass, const float constant[4]);

/* tsr_gfx_set_stencil_reference(): of front and back faces; at first 0. */
int tsr_gfx_set_stencil_reference(struct tsr_gfx_pass *pass, uint8_t front, uint8_t back);

/* tsr_gfx_set_depth_bias(): see DRAW_STATE; at first 0. */
int tsr_gfx_set_depth_bias(struct tsr_gfx_pass *pass, float constant, float slope, float clamp);

/* tsr_gfx_set_width(): of lines and of points whose size no shader writes, pixels; at first 1. */
int tsr_gfx_set_width(struct tsr_gfx_pass *pass, float line, float point);

/* ---- Draws ----------------------------------------------------------------------------------- */

/* Zeroed fields are the defaults. */
struct tsr_gfx_draw {
	uint32_t count;		/* vertices, or indices */
	uint32_t instances;	/* 0 counts as 1 */
	uint32_t first;		/* first vertex, or index */
	int32_t base_vertex;	/* added to each index */
	uint32_t first_instance;
};

/*
 * tsr_gfx_draw(), tsr_gfx_draw_indexed(): draw. State that has changed since the last draw costs
 * one packet of each kind at most.
 */
int tsr_gfx_draw(struct tsr_gfx_pass *pass, const struct tsr_gfx_draw *draw);
int tsr_gfx_draw_indexed(struct tsr_gfx_pass *pass, const struct tsr_gfx_draw *draw);

/*
 * tsr_gfx_draw_indirect(): @draws draws whose numbers (INDIRECT_DRAW, or with @indexed
 * INDIRECT_DRAW_INDEXED) stand in memory from @arguments on, @stride bytes apart. They are padded
 * for as many vertices as the largest vertex buffer without a divisor holds (2^16 if there is
 * none): a draw of more without indices is a fault of the queue, as are more than 2^32 padded
 * vertices of all its instances.
 */
int tsr_gfx_draw_indirect(struct tsr_gfx_pass *pass, bool indexed, uint64_t arguments,
			  uint32_t draws, uint32_t stride);

/*
 * tsr_gfx_set_stream_targets(): where stream-out of draws that follow goes; @count of 0: nowhere.
 * The counter is a 64-bit word with the number of bytes that are filled, for the shader to set at
 * first. It and what draws have streamed are in memory when the pass is complete; draws of the
 * same pass may read what earlier ones have streamed, as vertices or indices, and so may passes of
 * the context that are submitted later: they begin when it is complete, and it when those before
 * are.
 */
struct tsr_gfx_stream_target {
	uint64_t va, size;		/* aligned to 4; size 0: it is not there */
	uint64_t counter;		/* aligned to 8 */
	uint32_t stride;		/* bytes of a vertex: a multiple of 4, at most 2048 */
};
int tsr_gfx_set_stream_targets(struct tsr_gfx_pass *pass,
			       const struct tsr_gfx_stream_target *targets, uint32_t count);

/*
 * tsr_gfx_draw_auto(): draw as many vertices of @stride bytes as the counter at @counter says, less
 * those in the first @offset bytes. Pipelines that take apart instances (divisors) are refused.
 *
 */
int tsr_gfx_draw_auto(struct tsr_gfx_pass *pass, uint64_t counter, uint64_t offset,
		      uint32_t stride);

/*
 * tsr_gfx_stream_query(): draws that follow, of pipelines with stages, count primitives of @stream,
 * those needed and those written, in two 64-bit words at @va; 0 ends it.
 */
int tsr_gfx_stream_query(struct tsr_gfx_pass *pass, uint32_t stream, uint64_t va);

/*
 * tsr_gfx_query(): draws that follow are counted for the query of this kind at @va (aligned to 8),
 * added to what stands there; 0 ends it.
 */
int tsr_gfx_query(struct tsr_gfx_pass *pass, enum tsr_query kind, uint64_t va);

/* ---- Running --------------------------------------------------------------------------------- */

/*
 * tsr_gfx_submit(): draw the pass, after @waits, and signal @signals when it is drawn. Waits are
 * for both steps. Returns the first error of the recording if there was one. The pass must not
 * change until it is done.
 */
int tsr_gfx_submit(struct tsr_gfx_pass *pass, const struct tsr_point *waits,
		   unsigned int wait_count, const struct tsr_point *signals,
		   unsigned int signal_count);

/*
 * tsr_gfx_wait(): until the last submission of the pass is done, at most until @deadline. -ETIME
 * when the deadline passed; -EAGAIN if there was too little memory between the steps, and a pass
 * that is submitted again gets more; -ENOSPC if no memory is enough; another error as the jobs have
 * it (tsr_error_string()). It submits nothing.
 */
int tsr_gfx_wait(struct tsr_gfx_pass *pass, int64_t deadline);

/*
 * tsr_gfx_run(): tsr_gfx_submit() without waits and signals and tsr_gfx_wait(), again as long as
 * that is -EAGAIN: for who draws one pass at a time.
 */
int tsr_gfx_run(struct tsr_gfx_pass *pass, int64_t deadline);

/*
 * tsr_gfx_list(): the control lists of a finished pass, for decoding: address and size of the BIN
 * list, the RENDER list and the FRAME.
 */
struct tsr_gfx_list {
	uint64_t bin, render, frame;
	uint32_t bin_size, render_size;
};
int tsr_gfx_list(struct tsr_gfx_pass *pass, struct tsr_gfx_list *list);

/* ---- Instancing ------------------------------------------------------------------------------ */

/* A division by a constant as attribute buffers of type DIVIDE do it. */
struct tsr_gfx_magic {
	uint32_t magic;		/* ATTRIBUTE_BUFFER_DIVISOR.MAGIC */
	uint32_t shift;		/* DIVISOR_SHIFT */
	bool extra;		/* DIVISOR_ODD bit 0 */
};

/*
 * tsr_gfx_magic(): for a divisor of at least 3 that is no power of two: for each 32-bit n,
 * ((n + extra) * (2^31 | magic)) >> 32 >> shift is n / @divisor.
 */
struct tsr_gfx_magic tsr_gfx_magic(uint32_t divisor);

/*
 * tsr_gfx_padded(): the padded number of vertices the device takes for @count of them: the smallest
 * (2 * *@odd + 1) << *@shift, *@odd at most 4, that is a multiple of 4 and above @count.
 */
uint64_t tsr_gfx_padded(uint32_t count, uint32_t *odd, uint32_t *shift);

#ifdef __cplusplus
}
#endif

#endif /* TESSERA_GFX_H */
