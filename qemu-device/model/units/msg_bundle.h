/* SPDX-License-Identifier: MIT */
/*
 * Messages of all warps of a bundle, on vectors: accesses of pages, of shared memory and of scratch
 * in which nothing can go wrong.
 *
 * The functions exist once for each SIMD path (msg_vector.h) and do what the units do lane by lane,
 * with the same results. They may say no to a warp for any reason, before anything of its message
 * has happened; the unit's other function then finds out what is the matter.
 */
#ifndef TSR_SHADER_MSG_BUNDLE_H
#define TSR_SHADER_MSG_BUNDLE_H

#include "msg.h"
#include "shader/stage.h"

/* Conversion of the bytes that a load has read. */
struct tsr_load_form {
	uint8_t bytes;			/* of an access */
	uint8_t words;			/* staging registers */
	uint8_t shift;			/* where in the first register the value goes */
	uint8_t extend;			/* enum tsr_mod_extend: to 64 bits, before the shift */
	uint32_t mask;			/* the bits of the first register that are written */
};

/* A 32-bit addition of each lane to memory. */
struct tsr_msg_add {
	bool constant;			/* @operand, else the first staging register */
	bool returns;			/* the old value, and 0 after it, to staging registers */
	uint32_t operand;
};

/* How the number of a vertex in its draw, n, becomes that of its element. */
enum tsr_msg_element {
	TSR_MSG_ELEMENT_LINEAR,		/* n */
	TSR_MSG_ELEMENT_SHIFT,		/* n >> shift */
	TSR_MSG_ELEMENT_MODULUS,	/* n % modulus */
	TSR_MSG_ELEMENT_DIVIDE,		/* (n + add) * magic >> 32 >> shift */
};

/* Elements of a buffer that are words as they are. */
struct tsr_msg_elements {
	uint8_t mode;			/* enum tsr_msg_element */
	uint8_t words;			/* in memory: 1 to 4 */
	uint8_t components;		/* in registers */
	uint8_t shift, add;
	uint32_t magic;
	uint64_t modulus;
	uint32_t padded;		/* vertices of an instance */
	int32_t start;			/* added to the number */
	uint64_t base;			/* address of element 0 but for @offset; below 2^40 */
	int64_t offset;			/* bytes */
	uint32_t stride, size;
	const uint32_t *behind;		/* components that are not in memory */
};

/* An image whose texels all lie in the 2 GiB from one address on. */
struct tsr_msg_image {
	bool tiled;
	uint32_t width, height, depth;	/* number of the last texel */
	uint32_t stride, row_stride, slice_stride;	/* bytes */
	uint32_t offset;		/* of texel 0 */
	uint32_t last;			/* where the last texel may begin */
};

struct tsr_format;
struct tsr_planes;
struct tsr_varying;
struct tsr_plane_source;

/* A smooth varying of warps of a bundle at their pixels' centres. */
struct tsr_interpolation {
	const struct tsr_planes *one;	/* of all quads; NULL: they differ */
	const struct tsr_planes *planes[TSR_BUNDLE_QUADS];	/* else, of each with threads */
	uint8_t count;			/* components */
	uint8_t warps;
	const uint8_t *warp;		/* their numbers */
	const uint16_t *lanes;		/* by number: the lanes that are written */
	union tsr_lanes *to[4];		/* component n of warp w goes to to[n][w] */
};

/* Values at the start of threads, for consecutive warps of a group. */
struct tsr_msg_entry {
	const union tsr_lanes *xy, *z;	/* of each warp: where its threads are in the group */
	uint32_t id[3];			/* of the group */
	uint32_t origin[3];		/* its first thread */
};

/* Each returns the first warp that it has not done, as tsr_msg_together_fn does. */
struct tsr_msg_path {
	unsigned int (*load)(struct tsr_msg_env *env, const struct tsr_msg_bundle *b,
			     unsigned int first, const struct tsr_load_form *form);
	unsigned int (*store)(struct tsr_msg_env *env, const struct tsr_msg_bundle *b,
			      unsigned int first, unsigned int bytes);
	unsigned int (*add)(struct tsr_msg_env *env, const struct tsr_msg_bundle *b,
			    unsigned int first, const struct tsr_msg_add *add);
	unsigned int (*elements)(struct tsr_msg_env *env, const struct tsr_msg_bundle *b,
				 unsigned int first, const struct tsr_msg_elements *e);
	/* fill R55 to R62 of @count warps; @reg is R55 of the first */
	void (*enter)(const struct tsr_msg_entry *entry, union tsr_lanes *reg, unsigned int count);
	void (*interpolate)(const struct tsr_fragments *f, const struct tsr_interpolation *i);
	/* fill the geometry of all primitives */
	void (*geometry)(struct tsr_fragments *f);
	/* planes of varying @v, as many floats as that says, of @count triangles */
	void (*planes)(struct tsr_fragments *f, const struct tsr_varying *v,
		       const struct tsr_plane_source *source, unsigned int count);
	/* fill centre_x to corner_y of warp @w, whose primitives have their geometry */
	void (*centres)(struct tsr_fragments *f, unsigned int w);
	/*
	 * The first @count components of @planes at four points of a block of 8 by 8 pixels whose
	 * corner is (@column, @row) of the frame, from which they are @right and @down: component
	 * n of point p to out[n][p].
	 */
	void (*spot)(const struct tsr_fragment_prim *p, const struct tsr_planes *planes,
		     unsigned int count, int32_t column, int32_t row, const float right[4],
		     const float down[4], float out[4][4]);
	/*
	 * The components at all pixels of the block, @off from their centers (multiples of
	 * 1/16). Component n of warp w is written to to[n][w]. @w has w at each of these places,
	 * or is NULL if it is 1. It is computed unless @has_w.
	 */
	void (*quad_block)(const struct tsr_fragment_prim *p, const struct tsr_planes *planes,
			   unsigned int count, int32_t column, int32_t row, const float off[2],
			   float *w, bool has_w, union tsr_lanes *const to[4]);
	/*
	 * Texels of a warp's lanes in a format that @decodes. Word n of a texel is in word[n]. What
	 * no texel has is 0. Components are in the order of the result.
	 */
	void (*decode)(const struct tsr_format *f, const union tsr_lanes word[4],
		       union tsr_lanes to[4]);
	/* 16 texels, number n at @from[@order[n] * bytes], to four rows of numbers at @to */
	void (*decode_block)(const struct tsr_format *f, const uint8_t *from,
			     const uint8_t order[16], uint8_t *to, size_t pitch);
	/* the reverse, in a format that @encodes; @sign: of integers */
	void (*encode)(const struct tsr_format *f, const union tsr_lanes from[4], bool sign,
		       union tsr_lanes word[4]);
	/* floats of a warp, rounded to 16 bits: @low in the low halves, @high (NULL: 0) above */
	void (*halves)(const union tsr_lanes *low, const union tsr_lanes *high,
		       union tsr_lanes *to);
	/*
	 * Where texels of @i are, in bytes from its address on; returns the lanes that have one.
	 * The coordinates are @xy, x | y << 16, and @z.
	 */
	uint16_t (*image)(const struct tsr_msg_image *i, const union tsr_lanes *xy,
			  const union tsr_lanes *z, union tsr_lanes *at);
};

/* Staging register @n of warp @w. */
static inline union tsr_lanes *tsr_msg_bundle_staging(const struct tsr_msg_bundle *b,
						      unsigned int w, unsigned int n)
{
	return &b->reg[(b->staging + n) % TSR_REGISTERS * TSR_BUNDLE_WARPS + w];
}

/* A uniform buffer as its descriptor says. */
struct tsr_msg_buffer {
	uint64_t va;
	uint64_t size;			/* bytes */
};

enum tsr_step tsr_msg_uniform_buffer(struct tsr_msg_env *env, uint32_t index,
				     struct tsr_msg_buffer *buffer);

/* The accesses of a message. */
struct tsr_msg_access {
	/* addresses; of segments WLS and TL offsets, without @hi; of UBO @hi is the index */
	const union tsr_lanes *lo, *hi;
	uint8_t seg;			/* enum tsr_mod_seg */
	uint8_t bytes;
	uint8_t align;
	bool read, write;		/* what the page has to allow */
};

/*
 * The page of @va for what @a does; NULL: it cannot be had, or what is read and what is written is
 * not the same memory (a NULL page).
 */
static inline uint8_t *tsr_msg_page(struct tsr_msg_env *env, const struct tsr_msg_access *a,
				    uint64_t va)
{
	struct tsr_access_cache *access = env->access;
	uint8_t *read = NULL, *write = NULL;

	if (a->read) {
		read = tsr_access_find(access, access->read, va);
		if (!read && tsr_access_page(access, env->mem, va, TSR_ACCESS_READ, &read) !=
				     TSR_STEP_DONE)
			return NULL;
	}
	if (a->write) {
		write = tsr_access_find(access, access->write, va);
		if (!write && tsr_access_page(access, env->mem, va, TSR_ACCESS_WRITE, &write) !=
				      TSR_STEP_DONE)
			return NULL;
	}
	return !a->write ? read : !a->read || read == write ? write : NULL;
}

/*
 * Host addresses of the accesses of @lanes, wherever each one goes; false: not all of them can be
 * had. Not of uniform buffers.
 */
bool tsr_msg_resolve(struct tsr_msg_env *env, const struct tsr_msg_access *a,
		     const struct tsr_msg_place *place, uint16_t lanes,
		     uint8_t *host[TSR_WARP_LANES]);

#endif
