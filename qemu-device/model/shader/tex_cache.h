/* SPDX-License-Identifier: MIT */
/*
 * The texture caches of a thread that runs cores: prepared descriptors, and the L1 of decoded
 * blocks of 4 by 4 texels. Behind the L1s lies an L2 that all threads share.
 *
 * In: tables of descriptors, surfaces in memory. Out: views, blocks. A view and its blocks are good
 * for one number of the data of an address space (tsr_mmu_data_generation()): an invalidation of
 * that address space, or a BARRIER.INV_READ in it, makes another number, and nothing has to be
 * searched. What cannot be kept (multisampled textures, texels that are not aligned
 * or not all mapped) is read texel by texel; nothing faults because of a neighbour.
 *
 * Limits: TSR_TEXTURE_VIEWS descriptors of each kind, TSR_TEX_BLOCKS blocks. The L2 is a model of
 * one: its lines' addresses, without their bytes, which the host's own caches hold; it says what a
 * fill would have read from memory. Reset state: empty.
 */
#ifndef TSR_SHADER_TEX_CACHE_H
#define TSR_SHADER_TEX_CACHE_H

#include "msg_texture.h"

#define TSR_TEXTURE_VIEWS 64
#define TSR_TEX_BLOCK_SETS 128
#define TSR_TEX_BLOCK_WAYS 4
#define TSR_TEX_BLOCKS (TSR_TEX_BLOCK_SETS * TSR_TEX_BLOCK_WAYS)
#define TSR_TEX_BLOCK_DIM 4
#define TSR_TEX_BLOCK_BYTES_MAX 256

struct tsr_texture_path;

/*
 * Where the blocks are that lookups in one level of one slice have found last. Each has the place
 * that its row and its column, modulo 4, give it: so 16 by 16 texels can be there, wherever they
 * are, and a vector finds its texels without asking for one block after the other.
 */
#define TSR_DIRECTORIES 4
#define TSR_DIRECTORY_DIM 4
#define TSR_DIRECTORY_BLOCKS 16
#define TSR_DIRECTORY_NONE (-1)

struct tsr_directory {
	/* by place, 4 * row + column: x | y << 14 of the block, or NONE; its slot, in bytes */
	int32_t tag[TSR_DIRECTORY_BLOCKS] __attribute__((aligned(64)));
	int32_t at[TSR_DIRECTORY_BLOCKS];
	/*
	 * Texels used that their slots have not been told of. By row of blocks: bit
	 * 16 * (y % 4) + x % 16 of any of the words.
	 */
	uint64_t used[TSR_DIRECTORY_DIM][8];
	uint32_t stamp;			/* @now of the last of them */
	uint32_t told;			/* @stamp when there were none */
	uint64_t key;			/* of block (0, 0) of the level and slice; 0: no blocks */
};


/* What has been counted since somebody set it to 0, see counters.xml and tsr_texture_counted(). */
struct tsr_texture_stats {
	uint64_t samples, touches, fills, misses;
};

struct tsr_texture_cache {
	/* A decoded block: texels in rows, of 4 bytes or of 4 words. */
	uint8_t block[TSR_TEX_BLOCKS][TSR_TEX_BLOCK_BYTES_MAX] __attribute__((aligned(64)));
	uint64_t key[TSR_TEX_BLOCKS];	/* tsr_block_key(), 0: empty */
	uint32_t stamp[TSR_TEX_BLOCKS];	/* @now of its last use */
	/* texels that have been used, bit 16 * y + x; the rest is 0 */
	uint64_t touched[TSR_TEX_BLOCKS];
	/* 1 + 16 * directory + place of the directory it is in; 0: none */
	uint8_t holder[TSR_TEX_BLOCKS];
	/* number of the present lookup: what it has used is not thrown out before its end */
	uint32_t now;
	uint16_t serials;		/* given to views */
	bool off;			/* debugging: keep nothing from message to message */
	uint64_t space;			/* of the present burst; 0: none */
	const struct tsr_texture_path *path;
	struct tsr_directory directory[TSR_DIRECTORIES];
	struct tsr_texture_stats stats;
	struct tsr_texture_view view[TSR_TEXTURE_VIEWS];
	struct tsr_sampler_view sampler[TSR_TEXTURE_VIEWS];
};

/* Empty; with the vector functions of SIMD path @name (see alu.h), or none if it is not known. */
void tsr_texture_cache_init(struct tsr_texture_cache *cache, const char *name);
/* A burst begins: in address space @as. */
void tsr_texture_enter(struct tsr_texture_cache *cache, struct tsr_gpu *gpu, unsigned int as);

/* What has been counted; there is nothing that has not been added up. */
const struct tsr_texture_stats *tsr_texture_counted(struct tsr_texture_cache *cache);

/* A serial for a view; it may forget all others and their blocks. */
uint16_t tsr_texture_serial(struct tsr_texture_cache *cache);

/* A block of a texture. */
struct tsr_block_place {
	unsigned int level;
	uint32_t slice;			/* layer, of cubes 6 * layer + face; of volumes z */
	uint32_t x, y;			/* in blocks */
	bool linear;			/* sRGB is not decoded */
};

#define TSR_TEX_BLOCK_SLICES (1u << 19)
#define TSR_SERIALS 2048

/*
 * Keys of blocks: x and y 14 bits each, level 5, slice 19, serial and @linear 12. A serial is never
 * 0, so no key is.
 */
static inline uint64_t tsr_block_key(const struct tsr_texture_view *view,
				     const struct tsr_block_place *p)
{
	return p->x | (uint64_t)p->y << 14 | (uint64_t)p->level << 28 | (uint64_t)p->slice << 33 |
	       (uint64_t)(view->serial << 1 | p->linear) << 52;
}

/* First of the TSR_TEX_BLOCK_WAYS slots of a block: neighbours are not in each other's way. */
static inline unsigned int tsr_block_set(uint64_t key)
{
	unsigned int place = (key & 15) | (key >> 10 & 0x70);
	unsigned int other = (unsigned int)(key >> 28) * 0x9e3779b1u >> 25;

	return (place ^ other) % TSR_TEX_BLOCK_SETS * TSR_TEX_BLOCK_WAYS;
}

/* The slot of a block of which the key is known; -1: it is not there. */
static inline int tsr_block_find(struct tsr_texture_cache *cache, uint64_t key)
{
	unsigned int slot = tsr_block_set(key);
	const uint64_t *way = &cache->key[slot];
	/* all ways at once: which one it is nobody can foretell */
	unsigned int found = (unsigned int)(way[0] == key) | (unsigned int)(way[1] == key) << 1 |
			     (unsigned int)(way[2] == key) << 2 |
			     (unsigned int)(way[3] == key) << 3;

	if (!found)
		return -1;
	slot += (unsigned int)__builtin_ctz(found);
	cache->stamp[slot] = cache->now;
	return (int)slot;
}
_Static_assert(TSR_TEX_BLOCK_WAYS == 4, "tsr_block_find() looks at four ways");

/* Bring a block that is not there; its slot, or -1: it cannot be kept. */
int tsr_block_fill(struct tsr_msg_env *env, struct tsr_texture_view *view,
		   const struct tsr_block_place *place);

/* The slot of a block, now in use; -1: it cannot be kept. */
static inline int tsr_block_get(struct tsr_msg_env *env, struct tsr_texture_view *view,
				const struct tsr_block_place *place)
{
	int slot = tsr_block_find(env->textures, tsr_block_key(view, place));

	return slot >= 0 ? slot : tsr_block_fill(env, view, place);
}

/* Texels @bits of a slot, as in tsr_texture_cache.touched, are used. */
static inline void tsr_block_touch(struct tsr_texture_cache *cache, unsigned int slot,
				   uint64_t bits)
{
	uint64_t fresh = bits & ~cache->touched[slot];

	if (fresh) {
		cache->touched[slot] |= fresh;
		/* four at a time; rows of them are 16 bits apart */
		fresh -= fresh >> 1 & 0x5555555555555555;
		fresh = (fresh & 0x3333333333333333) + (fresh >> 2 & 0x3333333333333333);
		cache->stats.touches += fresh * 0x0001000100010001 >> 48;
	}
}

/* The directory of the level and slice that have block (0, 0) @key; it is theirs now. */
struct tsr_directory *tsr_directory_find(struct tsr_texture_cache *cache, uint64_t key);
struct tsr_level_lookup;
/*
 * Put block @tag into the directory of @l, unless a block is in its place that bit (the place) of
 * *@kept says is to stay; its own bit is set then.
 */
void tsr_directory_bring(const struct tsr_level_lookup *l, int32_t tag, uint16_t *kept);
/* ---- tex_decode.c ---------------------------------------------------------------------------- */

/* What blocks of a format are; formats that are compressed in blocks of 4 by 4 get theirs there. */
enum tsr_block_kind tsr_block_kind(const struct tsr_format *format);
/* A block as it lies in memory. */
struct tsr_raw_block {
	/* texel (x, y) is at order[4 * y + x] * bytes of a texel; another may write there */
	const uint8_t *from;
	const uint8_t *order;
	bool tiled;			/* so is the order */
	/* where they are if they have been copied */
	uint8_t bytes[TSR_TEX_BLOCK_BYTES_MAX] __attribute__((aligned(64)));
	unsigned int columns, rows;	/* that lie in the level; the others are not used */
};
void tsr_block_decode(const struct tsr_texture_view *view, bool linear,
		      const struct tsr_raw_block *raw, void *block);
/* Texel @n (4 * y + x) of a decoded block. */
void tsr_block_texel(enum tsr_block_kind kind, const struct tsr_format *format, const void *block,
		     unsigned int n, union tsr_texel *texel);

#endif
