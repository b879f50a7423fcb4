/* SPDX-License-Identifier: MIT */
/*
 * Internal declarations of the graphics part.
 *
 * gfx.c has the queues and submits. gfx_image.c has images, and gfx_view.c their views for shaders.
 * gfx_pipeline.c checks pipelines. gfx_pass.c creates a pass with its targets and lists. gfx_tags.c
 * expands compressed images that other users read. gfx_state.c records state, gfx_tables.c writes
 * the tables of resources, and gfx_draw.c turns both into structures and packets at each draw.
 * gfx_stages.c has the stages between vertex shader and rasterization.
 */
#ifndef TSR_GFX_H
#define TSR_GFX_H

#include <string.h>

#include <tessera/gfx.h>

#include "compute/dispatch.h"
#include "core/internal.h"
#include "compute/shader.h"
#include "tsr_regs.h"

#define GFX_STAGES	2u		/* vertex, fragment: bits of enum tsr_gfx_stage */
#define GFX_SLOTS	(TSR_GFX_BIN_QUEUES + 1u)	/* passes in flight at most: heaps */
#define GFX_DEPTH	TSR_RENDER_TARGETS_MAX		/* targets: colors, then depth, */
#define GFX_STENCIL	(TSR_RENDER_TARGETS_MAX + 1)	/* stencil */
#define GFX_TARGETS	(TSR_RENDER_TARGETS_MAX + 2u)

/* A format as the description has it; bytes 0: there is no such format, or it is compressed. */
struct gfx_format {
	uint8_t kind;			/* enum gfx_kind */
	uint8_t bytes;			/* of a texel */
	uint8_t components;
};

enum gfx_kind {
	GFX_NONE, GFX_UNORM, GFX_SNORM, GFX_UINT, GFX_SINT, GFX_FLOAT, GFX_UFLOAT, GFX_SHARED,
	GFX_FIXED, GFX_CONSTANT, GFX_BLOCK
};

TSR_HIDDEN struct gfx_format gfx_format(uint32_t format);
/* Bytes of a block of a compressed format; 0: it is none. */
TSR_HIDDEN uint32_t gfx_block_bytes(uint32_t format);

/* gfx_blocks.c: images of compressed formats; whether blocks are what their format has. */
TSR_HIDDEN int gfx_blocks_check(const struct tsr_image_info *info, uint64_t features);
TSR_HIDDEN int gfx_blocks_surface(struct tsr_surface *surface,
				  const struct tsr_image_info *info, uint32_t width,
				  uint32_t height);
TSR_HIDDEN int gfx_blocks_copy(const struct tsr_surface *s, void *surface, void *rows,
			       size_t pitch, bool write);
/* Bits that are added to the addresses of surfaces. */
TSR_HIDDEN uint64_t gfx_block_bits(const struct tsr_image_info *info);

struct tsr_image {
	atomic_uint refs;
	struct tsr_vm *vm;		/* referenced */
	struct tsr_bo *bo;		/* ours, mapped whole */
	struct tsr_image_info info;	/* zeroes replaced */
	uint64_t va;
	uint64_t tags;			/* address of the tags, 0: none */
	uint64_t tag_state;		/* TAG_STATE; 0: textures cannot read tags */
	/* with tags, see gfx_tags.c */
	atomic_bool plain;		/* passes store it expanded: others have seen it */
	_Atomic(struct tsr_gfx *) owner;	/* whose passes draw it; referenced, for good */
	struct gfx_packed {		/* what compressed blocks depend on, under its lock */
		uint32_t layers;	/* up to which there may be such; 0: none, tags are RAW */
		bool depth;
		uint32_t format;
		union tsr_gfx_color clear;
	} packed;
	_Atomic(struct gfx_records *) records;	/* for copies; NULL: there were none */
	struct tsr_gfx_pass *expander;	/* the pass that makes tags RAW, in flight; likewise */
	/* surfaces: sample s of layer l begins at (l * samples + s) * sample_size */
	uint64_t sample_size;		/* of all levels */
	struct gfx_level {
		struct tsr_surface surface;	/* one slice */
		uint64_t offset;		/* in the sample */
		uint32_t depth;			/* slices, surface.size apart */
	} level[16];
};

/* gfx_shrink(): a side of level @level; gfx_log2(): of @value, which is not 0, rounded down. */
static inline uint32_t gfx_shrink(uint32_t side, uint32_t level)
{
	return side >> level ? side >> level : 1;
}

static inline uint32_t gfx_log2(uint32_t value)
{
	return 31 - (uint32_t)__builtin_clz(value);
}

/* gfx_image_offset(): of the first byte of a surface; of volumes @layer is the slice. */
TSR_HIDDEN uint64_t gfx_image_offset(const struct tsr_image *image, uint32_t level,
				     uint32_t layer, uint32_t sample);

struct tsr_gfx_pipeline {
	atomic_uint refs;
	struct tsr_gfx_pipeline_info info;	/* arrays and label are ours, programs referenced */
	struct tsr_gfx_attribute attributes[TSR_GFX_ATTRIBUTES_MAX];
	struct tsr_gfx_vertex_buffer buffers[TSR_GFX_BUFFERS_MAX];
	struct tsr_gfx_varying varyings[TSR_GFX_VARYINGS_MAX];
	struct tsr_gfx_blend blends[TSR_RENDER_TARGETS_MAX];
	struct tsr_shader_state state;		/* but for the programs' addresses */
	uint64_t outputs[TSR_GFX_VARYINGS_MAX];	/* ATTRIBUTE words of the vertex program */
	uint64_t inputs[TSR_GFX_VARYINGS_MAX];	/* of the fragment program */
	uint32_t output_count, input_count;
	bool divides;				/* a buffer has a divisor */
	uint32_t far_attributes;		/* how many are, see gfx_is_far() */
	struct gfx_stages *stages;		/* NULL: it has none */
	char *label;
};

#define GFX_SHADERS 4u			/* of stages: vertex, hull, domain, geometry */

/* gfx_stages.c: stages of a pipeline; info.stages is @info, its array ours. */
struct gfx_stages {
	struct tsr_gfx_stages info;
	struct tsr_gfx_streamed declaration[TSR_STREAM_OUT_ENTRIES_MAX];
	struct tsr_stage_header header[GFX_SHADERS];
	struct tsr_geometry_state state;	/* but for addresses */
};

TSR_HIDDEN int gfx_stages_create(struct tsr_gfx_pipeline *pipeline);
TSR_HIDDEN void gfx_stages_destroy(struct tsr_gfx_pipeline *pipeline);
/*
 * gfx_stages_write(): what a draw with stages names, state.geometry, and the header of @vertex,
 * whose tables are those of the others. gfx_put_stage() of gfx_draw.c: @code with those tables, to
 * @va.
 */
TSR_HIDDEN int gfx_stages_write(struct tsr_gfx_pass *pass, struct tsr_shader_program *vertex);
TSR_HIDDEN int gfx_put_stage(struct tsr_gfx_pass *pass, const struct tsr_shader *code,
			     uint32_t entry, struct tsr_shader_program *program, uint64_t *va);

/* gfx_is_far(): the attribute begins so far into its buffer that it needs one of its own. */
static inline bool gfx_is_far(const struct tsr_gfx_attribute *a)
{
	return a->offset > INT32_MAX - 64;
}

/* Memory of a pass, given out from the front and taken back as a whole. */
struct gfx_memory {
	struct tsr_pool *pool;		/* the context's */
	struct tsr_alloc *chunks;
	unsigned int count, capacity;
	unsigned int current;		/* chunk given out from */
	uint64_t used;			/* bytes of it */
};

/* gfx_take(): @size bytes of the current chunk at a multiple of @align; NULL: it is full. */
static inline void *gfx_take(struct gfx_memory *memory, uint64_t size, uint32_t align,
			     uint64_t *va)
{
	const struct tsr_alloc *chunk = memory->chunks + memory->current;
	const uint64_t at = tsr_round_up(memory->used, align);

	if (memory->current >= memory->count || at + size > chunk->size)
		return NULL;
	memory->used = at + size;
	*va = chunk->va + at;
	return (char *)chunk->cpu + at;
}

/* gfx_alloc(): @size bytes at a multiple of @align (a power of two up to 4096); NULL: no memory. */
TSR_HIDDEN void *gfx_alloc(struct gfx_memory *memory, uint64_t size, uint32_t align, uint64_t *va);
TSR_HIDDEN void gfx_memory_reset(struct gfx_memory *memory);
TSR_HIDDEN void gfx_memory_fini(struct gfx_memory *memory);

/* A control list being written; pieces are joined by LIST_JUMP. */
struct gfx_list {
	uint64_t va;			/* of the first piece */
	uint32_t size;			/* of the first piece, once that is known */
	uint64_t *piece;		/* the present one */
	uint32_t used;			/* qwords of it */
	bool first;			/* the present piece is the first */
};

/* Arguments of the shaders of a stage, and the tables with them. */
struct gfx_bound {
	uint32_t push[TSR_PUSH_WORDS_MAX];
	uint32_t push_words;
	struct tsr_storage storage[TSR_STORAGE_MAX];
	uint32_t storage_count;
	struct tsr_placed views[TSR_VIEWS_MAX];
	uint32_t view_count;
	uint64_t uniforms, textures, samplers;	/* tables, written when they were bound */
	uint32_t uniform_count, texture_count, sampler_count;
	uint64_t scratch;
	uint32_t scratch_size;
	bool changed;				/* since the program's structure was written */
	uint64_t push_va;			/* where the words stand; 0: not yet */
	uint64_t own_push, drawn_push;		/* what the structure says, and what draws use */
};

/* How instances are told apart in vertex buffers. */
struct gfx_instancing {
	bool many;			/* more than one, or nobody knows */
	uint32_t odd, shift;		/* padded number of vertices */
	uint64_t padded;
	uint32_t first;			/* instance */
	bool added;			/* by the device, which alone knows the first instance */
};

struct gfx_vertices {
	uint64_t va, size;
};

/* Everything a draw depends on. */
struct gfx_state {
	struct tsr_gfx_pipeline *pipeline;	/* referenced */
	struct gfx_bound bound[GFX_STAGES];
	struct gfx_vertices vertices[TSR_GFX_BUFFERS_MAX];
	uint64_t indices, index_bytes;
	uint32_t index_type;
	struct tsr_gfx_viewport viewport[TSR_VIEWPORTS_MAX];
	struct tsr_rect scissor[TSR_VIEWPORTS_MAX];
	uint32_t viewports;			/* highest one set, plus 1 */
	float constant[4], bias[3], line, point;
	uint8_t reference[2];
	struct gfx_instancing instancing;	/* of the tables */
	/* what has to be written before the next draw */
	bool programs_changed, vertices_changed, draw_changed;
	/* what was written last */
	uint64_t position, varying, fragment;	/* SHADER_PROGRAM */
	uint64_t geometry;			/* GEOMETRY_STATE; 0: none */
	uint64_t attributes, attribute_buffers;	/* of the vertex programs */
	uint32_t attribute_count, attribute_buffer_count;
	uint64_t query[3];
};

struct tsr_gfx_pass {
	struct tsr_gfx *gfx;			/* referenced */
	struct tsr_gfx_pass_info info;		/* zeroes replaced; images referenced */
	uint32_t targets;			/* color targets */
	uint32_t samples_log2;
	struct gfx_memory memory;
	struct tsr_stream *scratch;		/* see gfx_tables.c */
	struct gfx_list bin;
	bool recorded;				/* the BIN list is closed */
	uint64_t render_list;
	uint32_t render_size;
	uint64_t *color, color_va;		/* RENDER_TARGETs: color, depth, stencil */
	uint64_t frame_va[GFX_SLOTS];		/* FRAME for each heap */
	uint64_t *frame[GFX_SLOTS];
	uint64_t command_va[GFX_SLOTS];		/* streams: BIN, 64 bytes on RENDER */
	uint64_t *command[GFX_SLOTS];
	uint64_t heap_wanted;			/* bytes its lists may take, a guess */
	bool streams;				/* its draws stream to memory */
	uint64_t heap_least;			/* bytes that were too few, and more */
	unsigned int refills;			/* times it was submitted again for want of it */
	bool starved;				/* its heap was too small */
	uint32_t tiles;
	bool expander;				/* of the library; holds no images */
	uint32_t expands;			/* bit n: target n is stored expanded */
	struct gfx_sampled {			/* textures with tags */
		struct tsr_image *image;	/* referenced */
		uint32_t stages;
	} *sampled;
	unsigned int sampled_count;
	struct gfx_state state;
	struct tsr_perfmon *perfmon;		/* referenced; NULL: nobody counts */
	uint64_t code_serial;			/* of the latest program it uses */
	/* the fences of its latest submission, which a timeline forgets once later ones are done */
	struct tsr_sync *binned, *rendered;
	bool submitted;
	uint64_t queues, job;			/* of the same, see struct tsr_gfx */
	unsigned int slot;			/* its heap */
	int error;				/* first one, negative */
	char message[200];
};

/* gfx_fail(): return -@error with a message; the pass remembers the first. */
TSR_HIDDEN int gfx_fail(struct tsr_gfx_pass *pass, int error, const char *format, ...)
	TSR_PRINTF(3, 4);

/* gfx_check(): why nothing can be recorded: an earlier error, or that it was submitted. */
TSR_HIDDEN int gfx_check(struct tsr_gfx_pass *pass);

/* gfx_data(): gfx_alloc() of the pass, that fails it; gfx_data_call() is all of it but quick. */
TSR_HIDDEN void *gfx_data_call(struct tsr_gfx_pass *pass, uint64_t size, uint32_t align,
			       uint64_t *va);
static inline void *gfx_data(struct tsr_gfx_pass *pass, uint64_t size, uint32_t align,
			     uint64_t *va)
{
	void *p = gfx_take(&pass->memory, size, align, va);

	return p ? p : gfx_data_call(pass, size, align, va);
}

/* gfx_new_piece(): begin a piece of the BIN list, and lead there from the one before. */
#define GFX_PIECE_QWORDS 512u
TSR_HIDDEN int gfx_new_piece(struct tsr_gfx_pass *pass);

/* gfx_packet(): room for a packet in the BIN list; NULL: no memory, the pass has failed. */
static inline uint64_t *gfx_packet(struct tsr_gfx_pass *pass, uint32_t qwords)
{
	struct gfx_list *list = &pass->bin;

	if ((!list->piece || list->used + qwords + TSR_LIST_JUMP_QWORDS > GFX_PIECE_QWORDS) &&
	    gfx_new_piece(pass))
		return NULL;
	list->used += qwords;
	return list->piece + list->used - qwords;
}

/*
 * gfx_copy_words(): memcpy() of a few words. A call takes longer than they do, most of all where
 * the processor is emulated. (A loop of equal steps would become a call of memcpy() again.)
 */
static inline void gfx_copy_words(uint32_t *to, const void *words, uint32_t count)
{
	const char *from = words;

	for (; count >= 8; count -= 8, to += 8, from += 32) {
		memcpy(to, from, 16);
		memcpy(to + 4, from + 16, 16);
	}
	if (count & 4) {
		memcpy(to, from, 16);
		to += 4;
		from += 16;
	}
	if (count & 2) {
		memcpy(to, from, 8);
		to += 2;
		from += 8;
	}
	if (count & 1)
		memcpy(to, from, 4);
}

/* gfx_target(): target @n of GFX_TARGETS; one that is not there has no image and no format. */
TSR_HIDDEN struct tsr_gfx_target *gfx_target(struct tsr_gfx_pass *pass, unsigned int n);

/* gfx_pack_target(): write RENDER_TARGET @n. */
TSR_HIDDEN void gfx_pack_target(struct tsr_gfx_pass *pass, unsigned int n);

/* gfx_pass_new(): tsr_gfx_pass_create(); an @expander stores what it has expanded. */
TSR_HIDDEN int gfx_pass_new(struct tsr_gfx *gfx, const struct tsr_gfx_pass_info *info,
			    bool expander, struct tsr_gfx_pass **pass);

/* gfx_submit(): tsr_gfx_submit() of a finished pass, under the context's lock. */
TSR_HIDDEN int gfx_submit(struct tsr_gfx_pass *pass, const struct tsr_point *waits,
			  unsigned int wait_count, const struct tsr_point *signals,
			  unsigned int signal_count);

/*
 * gfx_image_open(): the texels are in memory, and all passes submitted before have put theirs
 * there; with @keep so do later ones. Waits for the GPU if the image is compressed.
 */
TSR_HIDDEN int gfx_image_open(struct tsr_image *image, bool keep);

/* gfx_image_close(): the image goes. */
TSR_HIDDEN void gfx_image_close(struct tsr_image *image);

/* gfx_tag_bytes(): bytes of the compression metadata of so many layers. */
TSR_HIDDEN uint64_t gfx_tag_bytes(const struct tsr_image_info *info, uint32_t layers);
/* gfx_layer_tags(): the address of the tag of block (0, 0) of a layer. */
static inline uint64_t gfx_layer_tags(const struct tsr_image *image, uint32_t layer)
{
	return image->tags + gfx_tag_bytes(&image->info, layer);
}
/* gfx_records_drop(): the image goes: free what copies needed, see gfx_copy.c. */
TSR_HIDDEN void gfx_records_drop(struct tsr_image *image);
/* gfx_view_tagged(): true if shaders use the view through its tags. */
TSR_HIDDEN bool gfx_view_tagged(const struct tsr_view *view);

/* gfx_tags_sampled(): programs of @stages have the texture @view; forget(): none have any. */
TSR_HIDDEN int gfx_tags_sampled(struct tsr_gfx_pass *pass, const struct tsr_view *view,
				uint32_t stages);
TSR_HIDDEN void gfx_tags_forget(struct tsr_gfx_pass *pass);
/*
 * gfx_tags_viewed(): programs of the pass load from the image, or store to it; NULL: it is none. If
 * it is a target as well, it is stored expanded from now on: no tag may change during the pass.
 */
TSR_HIDDEN int gfx_tags_viewed(struct tsr_gfx_pass *pass, struct tsr_image *image);

/*
 * Submission of a pass. Images of other contexts are opened without a lock. Under the lock, images
 * of this context are expanded as needed, and RENDER_TARGETs get the use of their metadata. Job
 * @job then waits for the expanding passes that it needs, and is submitted.
 */
TSR_HIDDEN int gfx_tags_open(struct tsr_gfx_pass *pass);
TSR_HIDDEN int gfx_tags_prepare(struct tsr_gfx_pass *pass);
TSR_HIDDEN int gfx_tags_wait(struct tsr_gfx_pass *pass, struct tsr_submit *submit, int job);
TSR_HIDDEN void gfx_tags_submitted(struct tsr_gfx_pass *pass);

/* gfx_finish(): close the lists. */
TSR_HIDDEN int gfx_finish(struct tsr_gfx_pass *pass);

/* gfx_sample_positions(): SAMPLE_TABLE of a frame of 2^@samples_log2 samples, 128 bytes. */
TSR_HIDDEN void gfx_sample_positions(uint32_t samples_log2, void *table);

/* gfx_state_init(), gfx_state_fini(): what a pass begins with. */
TSR_HIDDEN void gfx_state_init(struct tsr_gfx_pass *pass);
TSR_HIDDEN void gfx_state_fini(struct tsr_gfx_pass *pass);

/* gfx_target_format(): the format a target is used with. */
TSR_HIDDEN uint32_t gfx_target_format(const struct tsr_gfx_target *target, bool stencil);

/* gfx_tables_vertex(): the tables of attributes and their buffers, for these instances. */
TSR_HIDDEN int gfx_tables_vertex(struct tsr_gfx_pass *pass,
				 const struct gfx_instancing *instancing);

/* gfx_tables_fragment(): the same of a fragment program, into @program. */
TSR_HIDDEN int gfx_tables_fragment(struct tsr_gfx_pass *pass, struct tsr_shader_program *program);

/* The context, as submissions use it. */
struct tsr_gfx {
	atomic_uint refs;
	struct tsr_vm *vm;			/* referenced */
	struct tsr_pool *pool;			/* lists and structures: read and executed */
	pthread_mutex_t lock;			/* of all that follows */
	struct tsr_queue *bin[TSR_GFX_BIN_QUEUES], *render;
	unsigned int bins;			/* BIN queues, as many as engines can serve */
	uint64_t queues, jobs;			/* how many there were; jobs of the latest */
	struct tsr_submit *submit;
	struct tsr_sync *rendered;		/* timeline: a point for each submission */
	uint64_t points;
	uint64_t streamed;	/* the point of the last pass that streams; 0: there was none */
	uint64_t heap_minimum, heap_limit;	/* see tsr_gfx_set_heap() */
	bool heap_given;			/* tsr_gfx_set_heap() was called */
	bool fixed;				/* the driver has no heaps that grow */
	struct gfx_heap {
		struct tsr_tiler_heap *tiler;	/* one that grows; or */
		struct tsr_bo *bo;		/* memory of @size bytes */
		uint64_t va, size;
		uint64_t point;			/* last submission that used it */
	} heap[GFX_SLOTS];
};

#endif /* TSR_GFX_H */
