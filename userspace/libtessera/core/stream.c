// SPDX-License-Identifier: MIT
/*
 * Command streams in chunks. The end of each chunk keeps room for a JUMP, which names address and
 * size of the next chunk; so it is written when that one is full or the stream is finished. Nothing
 * written is read again, since the memory may be write-combined.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stream.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "packets are little-endian words");

#define DEFAULT_CHUNK	4096
#define MIN_CHUNK	128
#define MAX_CHUNK	(1024 * 1024)
#define JUMP_BYTES	(TSR_JUMP_QWORDS * 8u)

struct tsr_stream {
	struct tsr_stream_memory memory;	/* where chunks come from */
	struct tsr_pool *pool;			/* referenced; NULL with memory of the caller's */
	uint32_t chunk_size;			/* bytes asked for */
	struct tsr_stream_chunk *chunks;	/* all chunks owned, in the order of use */
	uint32_t *used;				/* bytes of packets in each, without its JUMP */
	unsigned int count, capacity;		/* elements of both arrays, elements allocated */
	unsigned int current; /* the chunk written to, below count if there is any */
	bool finished;
	int error;				/* first error, a negative errno; else 0 */
	int refusal;				/* what the last emit that failed returned */
	char message[200];			/* text of the first error */
	struct tsr_hazards hazards;		/* see tsr_cmd_dispatch() */
};

static int pool_alloc(void *context, uint32_t size, struct tsr_stream_chunk *chunk)
{
	struct tsr_alloc *alloc = malloc(sizeof(*alloc));
	int ret;

	if (!alloc)
		return tsr_fail(ENOMEM, "no memory for a stream's chunk");
	ret = tsr_pool_alloc(context, size, TSR_STREAM_ALIGN, alloc);
	if (!ret && !alloc->cpu) {
		tsr_pool_free(context, alloc);
		ret = tsr_fail(EINVAL,
			       "a stream in a pool with NO_MMAP, which the CPU cannot write");
	}
	if (ret) {
		free(alloc);
		return ret;
	}
	chunk->va = alloc->va;
	chunk->cpu = alloc->cpu;
	chunk->size = size;
	chunk->cookie = alloc;
	return 0;
}

static void pool_free(void *context, struct tsr_stream_chunk *chunk)
{
	tsr_pool_free(context, chunk->cookie);
	free(chunk->cookie);
}

int tsr_stream_create_custom(const struct tsr_stream_memory *memory, uint32_t chunk_size,
			     struct tsr_stream **out)
{
	struct tsr_stream *stream;

	if (!chunk_size)
		chunk_size = DEFAULT_CHUNK;
	if (chunk_size < MIN_CHUNK || chunk_size > MAX_CHUNK || chunk_size % TSR_STREAM_ALIGN)
		return tsr_fail(
			EINVAL,
			"stream chunks of %u bytes, expected a multiple of %d from %d to %d",
			chunk_size, TSR_STREAM_ALIGN, MIN_CHUNK, MAX_CHUNK);
	stream = calloc(1, sizeof(*stream));
	if (!stream)
		return tsr_fail(ENOMEM, "no memory for a stream");
	stream->memory = *memory;
	stream->chunk_size = chunk_size;
	*out = stream;
	return 0;
}

int tsr_stream_create(struct tsr_pool *pool, uint32_t chunk_size, struct tsr_stream **stream)
{
	const struct tsr_stream_memory memory = {
		.alloc = pool_alloc,
		.free = pool_free,
		.context = pool,
	};
	int ret = tsr_stream_create_custom(&memory, chunk_size, stream);

	if (!ret)
		(*stream)->pool = tsr_pool_ref(pool);
	return ret;
}

void tsr_stream_destroy(struct tsr_stream *stream)
{
	unsigned int i;

	if (!stream)
		return;
	for (i = 0; i < stream->count; i++)
		stream->memory.free(stream->memory.context, &stream->chunks[i]);
	tsr_pool_unref(stream->pool);
	free(stream->chunks);
	free(stream->used);
	free(stream);
}

void tsr_stream_reset(struct tsr_stream *stream)
{
	stream->current = 0;
	if (stream->count)
		stream->used[0] = 0;
	stream->finished = false;
	stream->error = 0;
	memset(&stream->hazards, 0, sizeof(stream->hazards));
}

int tsr_stream_fail(struct tsr_stream *stream, int error, const char *format, ...)
{
	char text[sizeof(stream->message)];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	if (!stream->error && !stream->finished) {
		stream->error = -error;
		memcpy(stream->message, text, sizeof(text));
	}
	stream->refusal = -error;
	return tsr_fail(error, "%s", text);
}

int tsr_stream_status(const struct tsr_stream *stream)
{
	return stream->refusal;
}

/* Room for one more element in both arrays. */
static int grow_arrays(struct tsr_stream *stream)
{
	unsigned int capacity = stream->capacity ? stream->capacity * 2 : 4;
	struct tsr_stream_chunk *chunks;
	uint32_t *used;

	if (stream->count < stream->capacity)
		return 0;
	chunks = realloc(stream->chunks, capacity * sizeof(*chunks));
	if (chunks)
		stream->chunks = chunks;
	used = chunks ? realloc(stream->used, capacity * sizeof(*used)) : NULL;
	if (!used)
		return tsr_fail(ENOMEM, "no memory for a stream of %u chunks", capacity);
	stream->used = used;
	stream->capacity = capacity;
	return 0;
}

/* Make chunk number @index one with room for @bytes, a new one unless the next fits. */
static int provide(struct tsr_stream *stream, unsigned int index, uint32_t bytes)
{
	struct tsr_stream_chunk chunk = { 0 };
	unsigned int i;
	int ret;

	if (index < stream->count && stream->chunks[index].size >= bytes) {
		stream->used[index] = 0;
		return 0;
	}
	if (bytes < stream->chunk_size)
		bytes = stream->chunk_size;
	ret = grow_arrays(stream);
	if (!ret)
		ret = stream->memory.alloc(stream->memory.context,
					   (uint32_t)tsr_round_up(bytes, TSR_STREAM_ALIGN), &chunk);
	if (ret)
		return ret;
	if (chunk.va % TSR_STREAM_ALIGN || chunk.size < bytes) {
		stream->memory.free(stream->memory.context, &chunk);
		return tsr_fail(EINVAL,
				"stream chunk at 0x%llx of %u bytes, expected a multiple of %d and "
				"%u bytes",
				(unsigned long long)chunk.va, chunk.size, TSR_STREAM_ALIGN, bytes);
	}
	for (i = stream->count++; i > index; i--) {
		stream->chunks[i] = stream->chunks[i - 1];
		stream->used[i] = stream->used[i - 1];
	}
	stream->chunks[index] = chunk;
	stream->used[index] = 0;
	return 0;
}

/* Write the JUMP from the chunk before the current one, whose size is final now. */
static void link_current(struct tsr_stream *stream, uint32_t size)
{
	const struct tsr_stream_chunk *from = &stream->chunks[stream->current - 1];
	const struct tsr_jump jump = {
		.addr = stream->chunks[stream->current].va,
		.size = size,
	};

	tsr_pack_jump(from->cpu + stream->used[stream->current - 1] / 8, &jump);
}

struct tsr_hazards *tsr_stream_hazards(struct tsr_stream *stream)
{
	return &stream->hazards;
}

uint64_t *tsr_stream_emit(struct tsr_stream *stream, uint32_t qwords)
{
	uint32_t bytes = qwords * 8 + JUMP_BYTES, *used;
	int ret;

	if (stream->finished || !qwords || qwords > TSR_NOP_MAX_QWORDS) {
		tsr_stream_fail(stream, stream->finished ? EBUSY : EINVAL,
				stream->finished
					? "packet of %u words behind the end of a finished stream"
					: "packet of %u words, expected 1 to 255",
				qwords);
		return NULL;
	}
	if (stream->error) {
		stream->refusal = tsr_fail(-stream->error, "%s", stream->message);
		return NULL;
	}
	ret = 0;
	if (!stream->count) {
		ret = provide(stream, 0, bytes);
	} else if (stream->chunks[stream->current].size - stream->used[stream->current] < bytes) {
		ret = provide(stream, stream->used[stream->current] ? stream->current + 1
								     : stream->current, bytes);
		if (!ret && stream->used[stream->current]) {
			if (stream->current)
				link_current(stream, stream->used[stream->current] + JUMP_BYTES);
			stream->current++;
		}
	}
	if (ret) {
		tsr_stream_fail(stream, -ret, "%s", tsr_error_message());
		return NULL;
	}
	used = &stream->used[stream->current];
	*used += qwords * 8;
	return stream->chunks[stream->current].cpu + *used / 8 - qwords;
}

uint64_t tsr_stream_va(const struct tsr_stream *stream, const uint64_t *word)
{
	const struct tsr_stream_chunk *chunk = &stream->chunks[stream->current];

	return chunk->va + (uint64_t)(word - chunk->cpu) * 8;
}

int tsr_stream_finish(struct tsr_stream *stream, uint64_t *va, uint32_t *size)
{
	bool empty = !stream->count || !stream->used[0];

	if (stream->error)
		return tsr_fail(-stream->error, "%s", stream->message);
	if (!stream->finished && !empty && stream->current)
		link_current(stream, stream->used[stream->current]);
	stream->finished = true;
	if (va)
		*va = empty ? 0 : stream->chunks[0].va;
	if (size)
		*size = empty ? 0 : stream->used[0] + (stream->current ? JUMP_BYTES : 0);
	return 0;
}
