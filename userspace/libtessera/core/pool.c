// SPDX-License-Identifier: MIT
/*
 * Sub-allocator: chunks, each one BO that is private to the VM, mapped on the GPU and, unless
 * NO_MMAP, on the CPU; a range allocator in each. An allocation that is larger than the usual chunk
 * gets a chunk of its own. One empty chunk is kept, others are freed.
 */
#include <errno.h>
#include <stdlib.h>

#include "internal.h"
#include "range.h"

#define DEFAULT_CHUNK	(256 * 1024)
#define DEFAULT_ALIGN	16
#define MAX_ALIGN	(2 * 1024 * 1024)
#define SMALLEST_UNIT	8		/* sizes are rounded up to it: no fragments below a qword */

struct chunk {
	struct chunk *next;		/* in tsr_pool.chunks */
	struct tsr_bo *bo;		/* ours */
	uint64_t va;			/* where the BO is mapped, whole */
	char *cpu;			/* its CPU mapping, NULL with NO_MMAP */
	struct tsr_range range;		/* free offsets */
};

struct tsr_pool {
	atomic_uint refs;
	struct tsr_vm *vm;		/* referenced */
	uint64_t chunk_size;		/* of the usual chunk */
	uint32_t bo_flags, access;
	pthread_mutex_t lock;		/* protects all below and the chunks' contents */
	struct chunk *chunks;		/* the one used last comes first */
	unsigned int empty;		/* chunks with no allocation */
};

int tsr_pool_create(struct tsr_vm *vm, uint64_t chunk_size, uint32_t bo_flags, uint32_t access,
		    struct tsr_pool **out)
{
	struct tsr_pool *pool = calloc(1, sizeof(*pool));

	if (!pool)
		return tsr_fail(ENOMEM, "no memory for a pool");
	atomic_init(&pool->refs, 1);
	pool->vm = tsr_vm_ref(vm);
	pool->chunk_size = chunk_size ? chunk_size : DEFAULT_CHUNK;
	pool->bo_flags = bo_flags;
	pool->access = access;
	pthread_mutex_init(&pool->lock, NULL);
	*out = pool;
	return 0;
}

struct tsr_vm *tsr_pool_vm(const struct tsr_pool *pool)
{
	return pool->vm;
}

uint32_t tsr_pool_access(const struct tsr_pool *pool)
{
	return pool->access;
}

struct tsr_pool *tsr_pool_ref(struct tsr_pool *pool)
{
	atomic_fetch_add_explicit(&pool->refs, 1, memory_order_relaxed);
	return pool;
}

static void free_chunk(struct tsr_pool *pool, struct chunk *chunk)
{
	if (chunk->va)
		tsr_vm_unmap(pool->vm, chunk->va, tsr_bo_size(chunk->bo));
	tsr_bo_unref(chunk->bo);
	tsr_range_fini(&chunk->range);
	free(chunk);
}

void tsr_pool_unref(struct tsr_pool *pool)
{
	struct chunk *next;

	if (!pool || atomic_fetch_sub_explicit(&pool->refs, 1, memory_order_acq_rel) != 1)
		return;
	while (pool->chunks) {
		next = pool->chunks->next;
		free_chunk(pool, pool->chunks);
		pool->chunks = next;
	}
	pthread_mutex_destroy(&pool->lock);
	tsr_vm_unref(pool->vm);
	free(pool);
}

/* Map the whole BO, aligned so that an aligned offset is an aligned address. */
static int map_chunk(struct tsr_pool *pool, struct chunk *chunk)
{
	struct tsr_bind map = {
		.op = DRM_TESSERA_BIND_MAP,
		.access = pool->access,
		.bo = chunk->bo,
		.size = tsr_bo_size(chunk->bo),
	};
	int ret = tsr_vm_alloc(pool->vm, map.size, MAX_ALIGN, &map.va);

	if (ret)
		return ret;
	ret = tsr_vm_bind(pool->vm, &map, 1);
	if (ret)
		tsr_vm_free(pool->vm, map.va, map.size);
	else
		chunk->va = map.va;
	return ret;
}

/* A new chunk with room for @size, first in the list. The lock is held. */
static int grow(struct tsr_pool *pool, uint64_t size)
{
	struct chunk *chunk = calloc(1, sizeof(*chunk));
	void *cpu;
	int ret;

	if (!chunk)
		return tsr_fail(ENOMEM, "no memory for a pool's chunk");
	if (size < pool->chunk_size)
		size = pool->chunk_size;
	ret = tsr_bo_create(tsr_vm_device(pool->vm), size, pool->bo_flags, pool->vm, &chunk->bo);
	if (!ret)
		ret = map_chunk(pool, chunk);
	if (!ret && !(pool->bo_flags & DRM_TESSERA_BO_NO_MMAP)) {
		ret = tsr_bo_map(chunk->bo, &cpu);
		chunk->cpu = ret ? NULL : cpu;
	}
	if (!ret && tsr_range_init(&chunk->range, 0, tsr_bo_size(chunk->bo)))
		ret = tsr_fail(ENOMEM, "no memory for a pool's chunk");
	if (ret) {
		free_chunk(pool, chunk);
		return ret;
	}
	chunk->next = pool->chunks;
	pool->chunks = chunk;
	pool->empty++;
	return 0;
}

static bool is_empty(const struct chunk *chunk)
{
	return chunk->range.free == chunk->range.end;
}

/* Try the chunks in turn; the one that has room comes first next time. The lock is held. */
static struct chunk *take_any(struct tsr_pool *pool, uint64_t size, uint64_t align,
			      uint64_t *offset)
{
	struct chunk **link, *chunk;
	bool was_empty;

	for (link = &pool->chunks; (chunk = *link); link = &chunk->next) {
		was_empty = is_empty(chunk);
		if (tsr_range_largest(&chunk->range) < size ||
		    tsr_range_alloc(&chunk->range, size, align, offset))
			continue;
		pool->empty -= was_empty;
		*link = chunk->next;
		chunk->next = pool->chunks;
		pool->chunks = chunk;
		return chunk;
	}
	return NULL;
}

int tsr_pool_alloc(struct tsr_pool *pool, uint64_t size, uint64_t align, struct tsr_alloc *alloc)
{
	uint64_t rounded, offset;
	struct chunk *chunk;
	int ret = 0;

	if (!align)
		align = DEFAULT_ALIGN;
	if (!size || size > UINT64_MAX / 4)
		return tsr_fail(EINVAL, "allocation of %llu bytes", (unsigned long long)size);
	if (!tsr_is_pow2(align) || align > MAX_ALIGN)
		return tsr_fail(EINVAL, "alignment %llu, expected a power of two up to %d",
				(unsigned long long)align, MAX_ALIGN);
	if (align < SMALLEST_UNIT)
		align = SMALLEST_UNIT;
	rounded = tsr_round_up(size, SMALLEST_UNIT);
	pthread_mutex_lock(&pool->lock);
	chunk = take_any(pool, rounded, align, &offset);
	if (!chunk) {
		ret = grow(pool, rounded);
		chunk = ret ? NULL : take_any(pool, rounded, align, &offset);
		if (!ret && !chunk)
			ret = tsr_fail(ENOMEM, "no memory for an allocation's record");
	}
	pthread_mutex_unlock(&pool->lock);
	if (ret)
		return ret;
	*alloc = (struct tsr_alloc) {
		.bo = chunk->bo,
		.offset = offset,
		.va = chunk->va + offset,
		.size = size,
		.cpu = chunk->cpu ? chunk->cpu + offset : NULL,
		.chunk = chunk,
	};
	return 0;
}

/* The link to @chunk in the pool, or to NULL if @chunk is not one of its chunks. Lock held. */
static struct chunk **find_chunk(struct tsr_pool *pool, const void *chunk)
{
	struct chunk **link = &pool->chunks;

	while (*link && *link != chunk)
		link = &(*link)->next;
	return link;
}

int tsr_pool_free(struct tsr_pool *pool, struct tsr_alloc *alloc)
{
	struct chunk **link, *chunk, *surplus = NULL;
	int ret;

	if (!alloc->chunk)
		return 0;
	pthread_mutex_lock(&pool->lock);
	link = find_chunk(pool, alloc->chunk);
	chunk = *link;
	ret = chunk ? tsr_range_release(&chunk->range, alloc->offset,
					tsr_round_up(alloc->size, SMALLEST_UNIT)) : -EINVAL;
	if (!ret && is_empty(chunk) && ++pool->empty > 1) {
		*link = chunk->next;
		pool->empty--;
		surplus = chunk;
	}
	pthread_mutex_unlock(&pool->lock);
	if (surplus)
		free_chunk(pool, surplus);
	if (ret)
		return tsr_fail(-ret,
				"an allocation of %llu bytes at 0x%llx that is not, or no longer, "
				"one of this pool",
				(unsigned long long)alloc->size, (unsigned long long)alloc->va);
	*alloc = (struct tsr_alloc) { 0 };
	return 0;
}
