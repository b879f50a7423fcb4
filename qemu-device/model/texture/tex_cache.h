/* SPDX-License-Identifier: MIT */
/*
 * The texture caches of a thread that runs cores: prepared descriptors, and the L1 of decoded
 * blocks of 4 by 4 texels. After the L1s lies an L2 that all threads share.
 *
 * In: tables of descriptors, surfaces in memory. Out: views, texels. A view and its texels are
 * valid for one generation of the data of an address space (tsr_mmu_data_generation()). An
 * invalidation of that address space, or a BARRIER.INV_READ in it, begins a new generation, so no
 * entry has to be searched. Texels that cannot be cached (multisampled textures, texels that are
 * not aligned or not all mapped) are read one by one. An adjacent texel never causes a fault.
 *
 * The L1 has windows. Each window shows one level of one slice of a view. Texel (x, y) is at (x %
 * 64, y % 64), so adjacent texels are adjacent in the window as well, and a vector of addresses can
 * be computed without testing block after block. Each tile of 16 by 16 texels has a tag, and each
 * block of 4 by 4 has a flag for present texels. The first 16 columns are repeated after the last
 * one, so texel x + 1 is always right of x.
 *
 * Limits: TSR_TEXTURE_VIEWS descriptors of each kind, TSR_TEX_WINDOWS windows, TSR_TEX_ASTC_BLOCKS
 * decoded blocks of ASTC. The L2 is a model that holds addresses of lines without their bytes. It
 * counts the lines that a fill would have read from memory. Reset state: empty.
 */
#ifndef TSR_SHADER_TEX_CACHE_H
#define TSR_SHADER_TEX_CACHE_H

#include "tex_plan.h"

#define TSR_TEXTURE_VIEWS 64
#define TSR_TEX_BLOCK_DIM 4
#define TSR_TEX_BLOCK_BYTES_MAX 256

#define TSR_TEX_WINDOWS 16
#define TSR_TEX_WINDOW_DIM 64
#define TSR_TEX_TILE_DIM 16
#define TSR_TEX_TILES 16
/* Texels from row to row: after its last column a row has those of its first tile again. */
#define TSR_TEX_WINDOW_PITCH (TSR_TEX_WINDOW_DIM + TSR_TEX_TILE_DIM)
/*
 * After the last row there is another one that shows nothing: four texels for each lane of a warp,
 * for those that a lookup does not find side by side.
 */
#define TSR_TEX_WINDOW_SPARE (TSR_TEX_WINDOW_PITCH * TSR_TEX_WINDOW_DIM)
#define TSR_TEX_WINDOW_TEXELS (TSR_TEX_WINDOW_SPARE + TSR_TEX_WINDOW_PITCH)
#define TSR_TEX_TEXEL_BYTES_MAX 16
#define TSR_TEX_NO_TILE (-1)
#define TSR_TEX_MANY UINT16_MAX

struct tsr_texture_path;

struct tsr_tex_window {
	/* by place, 4 * row + column: tsr_window_tag() of the tile, or NO_TILE */
	int32_t tag[TSR_TEX_TILES] __attribute__((aligned(64)));
	/* by row of blocks: bit n says that the block in column n has come in */
	int32_t valid[TSR_TEX_WINDOW_DIM / TSR_TEX_BLOCK_DIM];
	/* blocks of the level that have not come in; TSR_TEX_MANY: more than fit, or not found */
	uint16_t missing;
	/* of tiles: texels used that have been counted */
	uint16_t counted[TSR_TEX_TILES];
	/* the level has come in, and all of its texels have been; or nobody wants to know */
	bool all_used;
	uint8_t looks;			/* lookups since that was found out last */
	uint64_t key;			/* tsr_level_key(); 0: empty */
	uint32_t stamp;			/* @now of the last use */
	uint32_t told;			/* @stamp when all that was used had been counted */
	/* where the level lies, if @found: of whole blocks that are bytes as they are, @direct */
	bool found, direct;
	uint8_t block_width, block_height;	/* of a compressed format; else 0 */
	uint64_t base;
	int64_t row_stride;
	uint8_t used[TSR_TEX_WINDOW_TEXELS] __attribute__((aligned(64)));	/* 1: it has been */
};

/* Counts since the last reset to 0, see counters.xml and tsr_texture_counted(). */
struct tsr_texture_stats {
	uint64_t samples, touches, fills, misses, decodes;
};

/* A block of ASTC that is larger than what a fill brings: decoded once for several of them. */
#define TSR_TEX_ASTC_BLOCKS 16
struct tsr_tex_astc {
	uint64_t key;			/* its address, size and curve; 0: nothing here */
	uint64_t space;			/* as of the cache: what it was read from */
	uint16_t texel[144][4];
};

/* The tags of a view that is tagged. */
struct tsr_tex_tags {
	uint64_t first;			/* address of the tag of block (0, 0) of layer 0 */
	struct tsr_tag_meaning meaning;
	struct tsr_tag_last last;
};

/* The descriptor of a view or a sampler. */
struct tsr_texture_source {
	uint64_t space;			/* as of the cache */
	uint64_t word[4];
};

struct tsr_texture_cache {
	/* Decoded texels, of 4 bytes or of 4 words each: rows of a window's. */
	uint8_t texel[TSR_TEX_WINDOWS][TSR_TEX_WINDOW_TEXELS * TSR_TEX_TEXEL_BYTES_MAX]
		__attribute__((aligned(64)));
	struct tsr_tex_window window[TSR_TEX_WINDOWS];
	/* number of the present lookup */
	uint32_t now;
	uint16_t serials;		/* given to views */
	uint32_t samplers;		/* how many have been prepared */
	bool off;			/* debugging: keep nothing from message to message */
	uint64_t space;			/* of the present burst; 0: none */
	uint64_t key;			/* of @space and of the frame whose copies are read */
	uint64_t counts;		/* tsr_thread.caches of it; 0: nothing is counted */
	const struct tsr_texture_path *path;
	struct tsr_texture_stats stats;
	struct tsr_texture_view view[TSR_TEXTURE_VIEWS];
	struct tsr_sampler_view sampler[TSR_TEXTURE_VIEWS];
	struct tsr_texture_plan plan[TSR_TEXTURE_PLANS];
	struct tsr_tex_astc astc[TSR_TEX_ASTC_BLOCKS];
	/* Tags of @view. They are not in the views, which are used often and stay small. */
	struct tsr_tex_tags tags[TSR_TEXTURE_VIEWS];
	/* Descriptors of @view and @sampler, in the same places. */
	struct tsr_texture_source view_source[TSR_TEXTURE_VIEWS];
	struct tsr_texture_source sampler_source[TSR_TEXTURE_VIEWS];
};

/* Empty the cache. It uses the vector functions of @simd; NULL: none. */
void tsr_texture_cache_init(struct tsr_texture_cache *cache, const struct tsr_simd *simd);
/* A burst begins, in the address space of @mem. */
void tsr_texture_enter(struct tsr_texture_cache *cache, const struct tsr_mem *mem);

/* From now on programs have copies of that frame, or 0 (tsr_copies.frame). */
static inline void tsr_texture_frame(struct tsr_texture_cache *cache, uint64_t frame)
{
	/* no two pairs of numbers below 2^31 have the same key */
	cache->key = cache->space + frame * 0x9e3779b97f4a7c15;
}

/* Returns the counts, with all pending ones added. Only @samples counts if nothing asks. */
const struct tsr_texture_stats *tsr_texture_counted(struct tsr_texture_cache *cache);

/* A serial for a view; it may forget all others and their blocks. */
uint16_t tsr_texture_serial(struct tsr_texture_cache *cache);

#define TSR_TEX_SLICES (1u << 19)
#define TSR_SERIALS 2048

/* Serial and @linear 12 bits, level 5, slice 19. A serial is never 0, so no key is. */
static inline uint64_t tsr_level_key(const struct tsr_texture_view *view,
				     const struct tsr_level_place *p)
{
	return (uint64_t)p->level | (uint64_t)p->slice << 5 |
	       (uint64_t)(view->serial << 1 | p->linear) << 24;
}

/* Place of texel (@x, @y) in a window: of itself, of its tile. */
static inline unsigned int tsr_window_at(uint32_t x, uint32_t y)
{
	return x % TSR_TEX_WINDOW_DIM + y % TSR_TEX_WINDOW_DIM * TSR_TEX_WINDOW_PITCH;
}

static inline unsigned int tsr_window_tile(uint32_t x, uint32_t y)
{
	return (x >> 4 & 3) | (y >> 2 & 12);
}

/* Which of the tiles that have this place it is. */
static inline int32_t tsr_window_tag(uint32_t x, uint32_t y)
{
	return (int32_t)(x >> 6 | y >> 6 << 10);
}

static inline uint8_t *tsr_window_texels(struct tsr_texture_cache *cache,
					 const struct tsr_tex_window *w)
{
	return cache->texel[w - cache->window];
}

/* The window of a level, now in use; what showed another one is emptied if need be. */
struct tsr_tex_window *tsr_window_find(struct tsr_texture_cache *cache, uint64_t key);
/*
 * Something is looked up in a window whose level has so many texels: if it has all of them, find
 * out, now and then, whether all have been used. Then nothing more of that has to be noted.
 */
void tsr_window_look(struct tsr_tex_window *w, uint64_t texels);
/* Texel (@x, @y) of the level is used: its place in the window; -1: it cannot be kept. */
int32_t tsr_window_use(struct tsr_msg_env *env, struct tsr_texture_view *view,
		       const struct tsr_level_place *place, struct tsr_tex_window *w, uint32_t x,
		       uint32_t y);

/*
 * The texels of a lane of a lookup are its corners: corner n is (x[n & 1], y[n >> 1]); of a lookup
 * of the nearest ones there is corner 0 alone.
 */
struct tsr_window_lanes {
	int32_t x[2][16], y[2][16];
};

enum tsr_window_brought {
	TSR_WINDOW_HAS,			/* all of it */
	TSR_WINDOW_CANNOT,		/* some texel cannot be kept */
	TSR_WINDOW_CONFLICT,		/* a needed tile would be replaced */
};

/* Bring what lane @lane wants, without taking from lanes @others. */
enum tsr_window_brought tsr_window_bring(const struct tsr_level_lookup *l,
					 const struct tsr_window_lanes *t, unsigned int lane,
					 uint16_t others);
/*
 * Fills the window for lanes @lanes, whose tiles all have their places, so that no tile is
 * replaced. Returns the lanes that cannot be processed.
 */
uint16_t tsr_window_fill(const struct tsr_level_lookup *l, const struct tsr_window_lanes *t,
			 uint16_t lanes);
/*
 * Handles conflicts. The texels of @lanes are used one lane after the other and copied to their
 * places in the spare row. Returns the lanes of which all texels are present.
 */
uint16_t tsr_window_copy(const struct tsr_level_lookup *l, const struct tsr_window_lanes *t,
			 uint16_t lanes);

/*
 * The blocks that some lanes use, of a square of TSR_TEX_AREA_DIM blocks along an edge: bit
 * TSR_TEX_AREA_DIM * row + column. No two tiles of it have the same place in a window.
 */
#define TSR_TEX_AREA_DIM 8
struct tsr_window_area {
	int32_t x, y;			/* block of bit 0; blocks before the level's are not used */
	uint64_t blocks;		/* not 0 */
};

/* Have all of @area in the window; false: some of it is not, see tsr_window_bring(). */
bool tsr_window_bring_area(const struct tsr_level_lookup *l, const struct tsr_window_area *area);

/* ---- tex_decode.c ---------------------------------------------------------------------------- */

/* Kind of the blocks of a format, also for formats that are compressed in blocks of 4 by 4. */
enum tsr_block_kind tsr_block_kind(const struct tsr_format *format);
/* A block as it lies in memory. */
struct tsr_raw_block {
	/* texel (x, y) is at order[4 * y + x] * bytes of a texel; another may write there */
	const uint8_t *from;
	const uint8_t *order;
	bool tiled;			/* so is the order */
	/* where they are if they have been copied */
	uint8_t bytes[TSR_TEX_BLOCK_BYTES_MAX] __attribute__((aligned(64)));
	unsigned int columns, rows;	/* that lie in the level; the others are 0 */
};
/* True if decoded texels are what lies in memory: four bytes in the order of the result. */
bool tsr_block_is_plain(const struct tsr_format *format);
/*
 * Such a block in the tiled order to rows, @pitch bytes from each other: pairs of texels keep
 * together.
 */
static inline void tsr_block_sort(const uint8_t *from, uint8_t *to, size_t pitch)
{
	typedef uint32_t row __attribute__((vector_size(16), aligned(1), may_alias));
	const row *in = (const row *)from;
	const row a = in[0], b = in[1], c = in[2], d = in[3];

	*(row *)to = __builtin_shufflevector(a, b, 0, 1, 4, 5);
	*(row *)(to + pitch) = __builtin_shufflevector(a, b, 3, 2, 7, 6);
	*(row *)(to + 2 * pitch) = __builtin_shufflevector(d, c, 0, 1, 4, 5);
	*(row *)(to + 3 * pitch) = __builtin_shufflevector(d, c, 3, 2, 7, 6);
}
/* Decode to rows of a block, @pitch bytes from each other, on @path or texel by texel. */
struct tsr_msg_path;
void tsr_block_decode(const struct tsr_msg_path *path, const struct tsr_texture_view *view,
		      bool linear, const struct tsr_raw_block *raw, uint8_t *to, size_t pitch);
/* The texels of a compressed block to such rows. */
union tsr_block_texels;
void tsr_block_arrange(const struct tsr_texture_view *view, bool linear,
		       const union tsr_block_texels *texels, uint8_t *to, size_t pitch);
/* A decoded texel. */
void tsr_block_texel(enum tsr_block_kind kind, const struct tsr_format *format, const void *decoded,
		     union tsr_texel *texel);

static inline unsigned int tsr_texel_bytes(unsigned int kind)
{
	return kind == TSR_TEX_BLOCK_BYTES ? 4 : TSR_TEX_TEXEL_BYTES_MAX;
}

#endif
