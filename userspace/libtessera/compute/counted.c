// SPDX-License-Identifier: MIT
/* Append and consume buffers: a counter, and after it on a line of its own the elements. */
#include <errno.h>
#include <string.h>

#include <tessera/compute.h>

#include "core/internal.h"

#define HEADER 64		/* bytes in front of the elements; the counter is the first word */

int tsr_counted_create(struct tsr_pool *pool, uint32_t stride, uint32_t capacity,
		       struct tsr_counted *counted)
{
	struct tsr_counted made = { .stride = stride, .capacity = capacity };
	uint64_t bytes = (uint64_t)stride * capacity;
	int ret;

	if (!stride || stride % 4 || !capacity || capacity > INT32_MAX || bytes > UINT32_MAX)
		return tsr_fail(EINVAL,
				"counted buffer of %u elements of %u bytes, expected a multiple of "
				"4 each and less than 4 GiB in all", capacity, stride);
	ret = tsr_pool_alloc(pool, HEADER + bytes, HEADER, &made.memory);
	if (ret)
		return ret;
	if (!made.memory.cpu) {
		tsr_pool_free(pool, &made.memory);
		return tsr_fail(EINVAL, "counted buffer in a pool the CPU cannot write");
	}
	made.counter_va = made.memory.va;
	made.va = made.memory.va + HEADER;
	memset(made.memory.cpu, 0, HEADER);
	*counted = made;
	return 0;
}

int tsr_counted_destroy(struct tsr_pool *pool, struct tsr_counted *counted)
{
	return tsr_pool_free(pool, &counted->memory);
}

uint32_t tsr_counted_get(const struct tsr_counted *counted)
{
	int32_t count = *(const volatile int32_t *)counted->memory.cpu;

	if (count < 0)
		return 0;
	return (uint32_t)count < counted->capacity ? (uint32_t)count : counted->capacity;
}

int tsr_counted_set(struct tsr_counted *counted, uint32_t count)
{
	if (count > counted->capacity)
		return tsr_fail(EINVAL, "%u elements in a counted buffer, expected at most %u",
				count, counted->capacity);
	*(volatile uint32_t *)counted->memory.cpu = count;
	return 0;
}

void *tsr_counted_data(const struct tsr_counted *counted)
{
	return (char *)counted->memory.cpu + HEADER;
}

void tsr_counted_storage(const struct tsr_counted *counted, uint32_t push_word,
			 struct tsr_storage storage[2])
{
	const struct tsr_storage data = {
		.va = counted->va,
		.size = (uint64_t)counted->stride * counted->capacity,
		.access = TSR_SHADER_READ | TSR_SHADER_WRITE,
		.push_word = push_word,
	};
	const struct tsr_storage counter = {
		.va = counted->counter_va,
		.size = 4,
		.access = TSR_SHADER_READ | TSR_SHADER_WRITE,
		.push_word = push_word + 4,
	};

	storage[0] = data;
	storage[1] = counter;
}
