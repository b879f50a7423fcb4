// SPDX-License-Identifier: MIT
/* TESSERA_DEBUG, see debug.h: its words, what is bound, and looking at streams. */
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tessera/decode.h>

#include "debug.h"

#define PIECES_MAX 4096			/* of a stream that are followed */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint32_t wanted;

/* The decoder, which is in another library; NULL: it is not there. */
static struct {
	void (*begin)(struct tsr_decoder *, const void *, size_t,
		      const struct tsr_decode_options *);
	bool (*next)(struct tsr_decoder *, struct tsr_decode_packet *);
	unsigned long (*stream)(FILE *, const void *, size_t, const struct tsr_decode_options *);
	unsigned long (*list)(FILE *, const struct tsr_decode_memory *, uint64_t, uint32_t,
			      uint64_t, const struct tsr_decode_options *);
} decoder;

/* The present bindings, in no order. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct binding {
	const struct tsr_vm *vm;
	const struct tsr_bo *bo;	/* only compared */
	uint64_t va, size;
	uint32_t access;
	char *cpu;			/* of its first byte; NULL: the CPU does not see it */
} *bindings;
static size_t binding_count, binding_capacity;

void tsr_debug_note(const char *format, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	fprintf(stderr, "libtessera: %s\n", text);
}

static uint32_t flag_of(const char *word, size_t length)
{
	static const struct {
		const char *word;
		uint32_t flag;
	} words[] = {
		{ "sync", TSR_DEBUG_SYNC }, { "dump", TSR_DEBUG_DUMP },
		{ "validate", TSR_DEBUG_VALIDATE }, { "", 0 },
		/* what the Mesa driver, which reads the variable too, makes of it */
		{ "trace", 0 }, { "lists", 0 }, { "shaders", 0 }, { "nocache", 0 },
		{ "nocopy", 0 },
	};
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strlen(words[i].word) == length && !strncmp(words[i].word, word, length))
			return words[i].flag;
	tsr_debug_note("TESSERA_DEBUG: '%.*s' is unknown, expected sync, dump or validate, with "
		       "commas between them", (int)length, word);
	return 0;
}

static void find_decoder(void)
{
	void *library = RTLD_DEFAULT;

	if (!dlsym(library, "tsr_decode_begin"))
		library = dlopen("libtessera-asm.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!library && !dlsym(RTLD_DEFAULT, "tsr_decode_begin")) {
		tsr_debug_note("TESSERA_DEBUG: no libtessera-asm, packets are not decoded: %s",
			       dlerror());
		return;
	}
	*(void **)&decoder.begin = dlsym(library, "tsr_decode_begin");
	*(void **)&decoder.next = dlsym(library, "tsr_decode_next");
	*(void **)&decoder.stream = dlsym(library, "tsr_decode_stream");
	*(void **)&decoder.list = dlsym(library, "tsr_decode_list");
}

static void read_words(void)
{
	const char *word = secure_getenv("TESSERA_DEBUG");
	size_t length;

	for (; word && *word; word += length + (word[length] == ',')) {
		length = strcspn(word, ",");
		wanted |= flag_of(word, length);
	}
	if (wanted & (TSR_DEBUG_DUMP | TSR_DEBUG_VALIDATE))
		find_decoder();
}

uint32_t tsr_debug(void)
{
	pthread_once(&once, read_words);
	return wanted;
}

/* ---- What is bound --------------------------------------------------------------------------- */

static void add(struct binding binding)
{
	size_t capacity = binding_capacity ? 2 * binding_capacity : 64;
	struct binding *more;

	if (binding_count == binding_capacity) {
		more = realloc(bindings, capacity * sizeof(*more));
		if (!more)
			return;		/* without memory, the range counts as not bound */
		bindings = more;
		binding_capacity = capacity;
	}
	bindings[binding_count++] = binding;
}

/* Removes [@va, @end) from binding @i. */
static void cut(size_t i, uint64_t va, uint64_t end)
{
	const struct binding old = bindings[i];
	struct binding rest = old;

	bindings[i] = bindings[--binding_count];
	if (old.va < va) {
		rest.size = va - old.va;
		add(rest);
	}
	if (old.va + old.size > end) {
		rest = old;
		rest.va = end;
		rest.size = old.va + old.size - end;
		rest.cpu = old.cpu ? old.cpu + (end - old.va) : NULL;
		add(rest);
	}
}

/* Take [@va, @va + @size) out, or of a BO all. */
static void clear(const struct tsr_vm *vm, uint64_t va, uint64_t size, const struct tsr_bo *bo)
{
	size_t i = binding_count;

	while (i--) {
		const struct binding *b = &bindings[i];

		if (b->vm != vm || (bo && b->bo != bo))
			continue;
		if (bo)
			cut(i, b->va, b->va + b->size);
		else if (b->va < va + size && va < b->va + b->size)
			cut(i, va, va + size);
	}
}

void tsr_debug_bound(const struct tsr_vm *vm, const struct tsr_bind *binds, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		const struct tsr_bind *b = &binds[i];
		void *cpu = NULL;

		if (b->op == DRM_TESSERA_BIND_MAP && tsr_bo_map(b->bo, &cpu))
			cpu = NULL;
		pthread_mutex_lock(&lock);
		clear(vm, b->va, b->size, b->op == DRM_TESSERA_BIND_UNMAP_BO ? b->bo : NULL);
		if (b->op == DRM_TESSERA_BIND_MAP)
			add((struct binding){ vm, b->bo, b->va, b->size, b->access,
					      cpu ? (char *)cpu + b->bo_offset : NULL });
		pthread_mutex_unlock(&lock);
	}
}

void tsr_debug_vm_gone(const struct tsr_vm *vm)
{
	pthread_mutex_lock(&lock);
	clear(vm, 0, UINT64_MAX, NULL);
	pthread_mutex_unlock(&lock);
}

void tsr_debug_bo_gone(const struct tsr_bo *bo)
{
	size_t i;

	pthread_mutex_lock(&lock);
	for (i = 0; i < binding_count; i++) {
		if (bindings[i].bo != bo)
			continue;
		bindings[i].cpu = NULL;
		bindings[i].bo = NULL;
	}
	pthread_mutex_unlock(&lock);
}

/* The binding that holds all of [@va, @va + @size), under the lock. */
static const struct binding *at(const struct tsr_vm *vm, uint64_t va, uint64_t size)
{
	size_t i;

	for (i = 0; i < binding_count; i++) {
		const struct binding *b = &bindings[i];

		if (b->vm == vm && va >= b->va && size <= b->size && va - b->va <= b->size - size)
			return b;
	}
	return NULL;
}

static const void *memory_at(void *vm, uint64_t va, uint64_t size)
{
	const struct binding *b = at(vm, va, size);

	return b && b->cpu ? b->cpu + (va - b->va) : NULL;
}

/* ---- Streams --------------------------------------------------------------------------------- */

/* The control lists that a piece has run, printed. */
static void dump_lists(const struct tsr_vm *vm, const uint64_t *words, uint32_t qwords,
		       const struct tsr_decode_options *options)
{
	const struct tsr_decode_memory memory = { memory_at, (void *)(uintptr_t)vm };
	struct tsr_bin bin;
	uint32_t i, length;

	for (i = 0; i < qwords; i += length) {
		length = tsr_packet_qwords(words[i]);
		if (!length || length > qwords - i)
			return;
		/* RENDER has the same fields in the same places */
		if (tsr_packet_opcode(words[i]) != TSR_OP_BIN &&
		    tsr_packet_opcode(words[i]) != TSR_OP_RENDER)
			continue;
		if (length < TSR_BIN_QWORDS)
			continue;
		tsr_unpack_bin(words + i, &bin);
		decoder.list(stderr, &memory, bin.list, bin.size, bin.frame, options);
	}
}

static void dump(const struct tsr_vm *vm, const uint64_t *words, uint32_t size,
		 const struct tsr_decode_options *options)
{
	uint32_t i;

	for (i = 0; !decoder.stream && i < size / 8; i++)
		fprintf(stderr, "%#14" PRIx64 ": %016" PRIx64 "\n", options->base + 8 * i,
			words[i]);
	if (!decoder.stream)
		return;
	decoder.stream(stderr, words, size, options);
	dump_lists(vm, words, size / 8, options);
}

static int validate(const uint64_t *words, uint32_t size, const struct tsr_decode_options *options,
		    unsigned int job)
{
	struct tsr_decode_packet packet;
	struct tsr_decoder walk;

	if (!decoder.begin)
		return 0;
	decoder.begin(&walk, words, size, options);
	while (decoder.next(&walk, &packet)) {
		if (packet.num_errors)
			return tsr_fail(EINVAL, "job %u: packet at 0x%llx: %s", job,
					(unsigned long long)packet.address, packet.errors[0].text);
	}
	return 0;
}

/* Where a piece that ends in a JUMP goes on; false: it does not. */
static bool follow(const uint64_t *words, uint32_t qwords, uint64_t *va, uint32_t *size)
{
	struct tsr_jump jump;
	uint32_t i, length;

	for (i = 0; i < qwords; i += length) {
		length = tsr_packet_qwords(words[i]);
		if (!length || length > qwords - i)
			return false;
		if (tsr_packet_opcode(words[i]) != TSR_OP_JUMP || length < TSR_JUMP_QWORDS)
			continue;
		tsr_unpack_jump(words + i, &jump);
		*va = jump.addr;
		*size = jump.size;
		return true;
	}
	return false;
}

/* One piece, under the lock; 1: *@va and *@size are the next. */
static int look_at(const struct tsr_queue *queue, unsigned int job, uint64_t *va, uint32_t *size)
{
	const uint32_t fetched = DRM_TESSERA_BIND_READ | DRM_TESSERA_BIND_EXEC;
	const struct tsr_vm *vm = tsr_queue_vm(queue);
	const struct binding *b = at(vm, *va, *size);
	const struct tsr_decode_options options = {
		.base = *va, .engine_class = (int)tsr_queue_class(queue),
	};
	const uint64_t *words;
	int ret;

	if (tsr_debug() & TSR_DEBUG_VALIDATE && (!b || (b->access & fetched) != fetched))
		return tsr_fail(EINVAL, "job %u: stream 0x%llx + 0x%x is not %s", job,
				(unsigned long long)*va, *size,
				b ? "mapped with READ and EXEC" : "mapped in its VM as a whole");
	if (!b || !b->cpu) {
		tsr_debug_note("job %u: stream 0x%llx + 0x%x, which the CPU does not see", job,
			       (unsigned long long)*va, *size);
		return 0;
	}
	words = (const uint64_t *)(b->cpu + (*va - b->va));
	if (tsr_debug() & TSR_DEBUG_DUMP)
		dump(vm, words, *size, &options);
	ret = tsr_debug() & TSR_DEBUG_VALIDATE ? validate(words, *size, &options, job) : 0;
	return ret ? ret : follow(words, *size / 8, va, size);
}

int tsr_debug_job(const struct tsr_queue *queue, unsigned int job, unsigned int count, uint64_t va,
		  uint32_t size)
{
	unsigned int pieces = 0;
	int ret = size ? 1 : 0;

	if (tsr_debug() & TSR_DEBUG_DUMP)
		tsr_debug_note("job %u of %u on queue %u (class %u): 0x%llx + 0x%x", job, count,
			       tsr_queue_id(queue), tsr_queue_class(queue), (unsigned long long)va,
			       size);
	pthread_mutex_lock(&lock);
	while (ret > 0 && pieces++ < PIECES_MAX)
		ret = look_at(queue, job, &va, &size);
	pthread_mutex_unlock(&lock);
	return ret < 0 ? ret : 0;
}
