// SPDX-License-Identifier: MIT
/*
 * Shaders: code in GPU memory with its fixed properties; scratch for the threads that run them.
 *
 * Uploads are numbered for each device. A stream remembers the number up to which its last
 * INV_CODE reaches, so that a shader which took the place of another one in memory is never run
 * from the clauses of the old one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shader.h"

#define CODE_ALIGN	64
#define CODE_PAD	64		/* zeroes after the code */
#define CODE_MAX	(16u << 20)
#define SHADER_INFO_1	TSR_UP_TO(struct tsr_shader_info, label)	/* version 1.0 */

static int check_group(const struct tsr_device *device, const struct tsr_shader_info *info)
{
	const struct drm_tessera_shader_info *limit = &device->shader;
	uint64_t threads = 1;
	unsigned int i;

	for (i = 0; i < 3; i++)
		threads *= info->local[i] < 0x10000 ? info->local[i] : 0x10000;
	if (threads > limit->max_group_threads)
		return tsr_fail(EINVAL,
				"shader '%s' with groups of %u x %u x %u threads, expected at "
				"most %u in all", info->label, info->local[0], info->local[1],
				info->local[2], limit->max_group_threads);
	if (info->shared_memory > limit->max_group_memory)
		return tsr_fail(EINVAL,
				"shader '%s' with %u bytes of shared memory, expected at most %u",
				info->label, info->shared_memory, limit->max_group_memory);
	if (info->scratch_size > limit->max_scratch)
		return tsr_fail(EINVAL,
				"shader '%s' with %u bytes of scratch, expected at most %u",
				info->label, info->scratch_size, limit->max_scratch);
	if (info->push_words > limit->max_push_words)
		return tsr_fail(EINVAL, "shader '%s' with %u push words, expected at most %u",
				info->label, info->push_words, limit->max_push_words);
	return 0;
}

static int check_info(struct tsr_pool *pool, const struct tsr_shader_info *info)
{
	const struct tsr_device *device = tsr_vm_device(tsr_pool_vm(pool));

	if (!device->shader.cores)
		return tsr_fail(ENODEV, "the GPU has no shader cores");
	if (!info->code || !info->size || info->size % 16 || info->size > CODE_MAX)
		return tsr_fail(EINVAL,
				"shader '%s' of %u bytes, expected 16 to %u, a multiple of 16",
				info->label, info->size, CODE_MAX);
	if (info->entry % 16 || info->entry >= info->size)
		return tsr_fail(EINVAL,
				"shader '%s' of %u bytes that begins at %u, expected a multiple "
				"of 16 inside", info->label, info->size, info->entry);
	if (info->flags & ~(uint32_t)TSR_SHADER_REGISTERS_64)
		return tsr_fail(EINVAL, "shader '%s' with unknown flags 0x%x", info->label,
				info->flags);
	if (!(tsr_pool_access(pool) & DRM_TESSERA_BIND_EXEC))
		return tsr_fail(EINVAL, "shader '%s' in a pool without EXEC access", info->label);
	return check_group(device, info);
}

/* Copy the code into the shader's memory and number the upload. */
static int upload(struct tsr_shader *shader, struct tsr_device *device, const void *code)
{
	struct tsr_alloc *memory = &shader->memory;
	uint32_t size = shader->info.size;
	int ret = tsr_pool_alloc(shader->pool, size + CODE_PAD, CODE_ALIGN, memory);

	if (ret)
		return ret;
	if (!memory->cpu) {
		tsr_pool_free(shader->pool, memory);
		return tsr_fail(EINVAL, "shader '%s' in a pool the CPU cannot write",
				shader->label);
	}
	memcpy(memory->cpu, code, size);
	memset((char *)memory->cpu + size, 0, CODE_PAD);
	shader->serial = atomic_fetch_add(&device->shader_serial, 1) + 1;
	return 0;
}

int tsr_shader_create(struct tsr_pool *pool, const struct tsr_shader_info *wanted, size_t size,
		      struct tsr_shader **out)
{
	struct tsr_shader_info info;
	struct tsr_shader *shader;
	unsigned int i;
	int ret;

	ret = tsr_take_info(&info, sizeof(info), SHADER_INFO_1, wanted, size, "tsr_shader_info");
	if (ret)
		return ret;
	if (!info.label)
		info.label = "";
	for (i = 0; i < 3; i++)
		info.local[i] += !info.local[i];
	ret = check_info(pool, &info);
	if (ret)
		return ret;
	info.scratch_size = (uint32_t)tsr_round_up(info.scratch_size, 16);
	shader = calloc(1, sizeof(*shader));
	if (shader)
		shader->label = strdup(info.label);
	if (!shader || !shader->label) {
		free(shader);
		return tsr_fail(ENOMEM, "no memory for shader '%s'", info.label);
	}
	atomic_init(&shader->refs, 1);
	shader->pool = tsr_pool_ref(pool);
	shader->info = info;
	shader->info.code = NULL;
	shader->info.label = shader->label;
	ret = upload(shader, tsr_vm_device(tsr_pool_vm(pool)), info.code);
	if (ret)
		tsr_shader_unref(shader);
	else
		*out = shader;
	return ret;
}

struct tsr_shader *tsr_shader_ref(struct tsr_shader *shader)
{
	atomic_fetch_add_explicit(&shader->refs, 1, memory_order_relaxed);
	return shader;
}

void tsr_shader_unref(struct tsr_shader *shader)
{
	if (!shader || atomic_fetch_sub_explicit(&shader->refs, 1, memory_order_acq_rel) != 1)
		return;
	tsr_pool_free(shader->pool, &shader->memory);
	tsr_pool_unref(shader->pool);
	free(shader->clauses);
	free(shader->label);
	free(shader);
}

uint64_t tsr_shader_va(const struct tsr_shader *shader)
{
	return shader->memory.va;
}

/* Where the clauses came from, for tsr_shader_line(). */
static int keep_lines(struct tsr_shader *shader, const struct tsr_asm_shader *text)
{
	size_t size = text->num_clauses * sizeof(shader->clauses[0]);

	shader->clauses = malloc(size + 1);
	if (!shader->clauses)
		return tsr_fail(ENOMEM, "no memory for shader '%s'", shader->label);
	memcpy(shader->clauses, text->clauses, size);
	shader->clause_count = text->num_clauses;
	return 0;
}

/* The first error of a text. */
static int text_error(const struct tsr_asm_shader *text, const char *name)
{
	uint32_t i;

	for (i = 0; i < text->num_diagnostics; i++) {
		if (!text->diagnostics[i].warning)
			return tsr_fail(EINVAL, "%s:%u:%u: %s", name, text->diagnostics[i].line,
					text->diagnostics[i].column, text->diagnostics[i].text);
	}
	return tsr_fail(EINVAL, "%s: %u errors", name, text->num_errors);
}

int tsr_shader_assemble(struct tsr_pool *pool, const char *source, size_t size, const char *name,
			struct tsr_shader **out)
{
	struct tsr_shader_info info = { .label = name };
	struct tsr_shader *shader = NULL;
	struct tsr_asm_shader *text;
	int ret;

	ret = tsr_asm_assemble(source, size, 0, &text);
	if (ret == -ENOMEM)
		return tsr_fail(ENOMEM, "no memory to assemble '%s'", name);
	if (ret) {
		ret = text_error(text, name);
		tsr_asm_free(text);
		return ret;
	}
	info.code = text->code;
	info.size = (uint32_t)text->size;
	info.entry = text->entry;
	info.flags = text->registers_64 ? TSR_SHADER_REGISTERS_64 : 0;
	memcpy(info.local, text->local, sizeof(info.local));
	info.shared_memory = text->group_memory;
	info.scratch_size = text->scratch;
	ret = tsr_shader_create(pool, &info, sizeof(info), &shader);
	if (!ret)
		ret = keep_lines(shader, text);
	tsr_asm_free(text);
	if (ret)
		tsr_shader_unref(shader);
	else
		*out = shader;
	return ret;
}

uint32_t tsr_shader_line(const struct tsr_shader *shader, uint64_t clause_va,
			 unsigned int tuple)
{
	const struct tsr_asm_clause *clause;
	uint32_t i;

	for (i = 0; i < shader->clause_count; i++) {
		clause = &shader->clauses[i];
		if (shader->memory.va + clause->offset == clause_va)
			return tuple < clause->tuples ? clause->tuple_line[tuple] : clause->line;
	}
	return 0;
}

int tsr_scratch_create(struct tsr_vm *vm, uint32_t size, struct tsr_scratch **out)
{
	struct tsr_device *device = tsr_vm_device(vm);
	const struct drm_tessera_shader_info *info = &device->shader;
	const uint32_t access = DRM_TESSERA_BIND_READ | DRM_TESSERA_BIND_WRITE;
	struct tsr_scratch *scratch;
	uint64_t threads;
	int ret;

	if (!info->cores)
		return tsr_fail(ENODEV, "the GPU has no shader cores");
	if (!size || size > info->max_scratch)
		return tsr_fail(EINVAL, "scratch of %u bytes, expected 1 to %u", size,
				info->max_scratch);
	scratch = calloc(1, sizeof(*scratch));
	if (!scratch)
		return tsr_fail(ENOMEM, "no memory for a scratch object");
	atomic_init(&scratch->refs, 1);
	scratch->vm = tsr_vm_ref(vm);
	scratch->size = (uint32_t)tsr_round_up(size, 16);
	threads = (uint64_t)info->warp_lanes * info->core_warps * info->cores;
	ret = tsr_bo_create(device, threads * scratch->size, DRM_TESSERA_BO_NO_MMAP, vm,
			    &scratch->bo);
	if (!ret)
		ret = tsr_vm_map(vm, scratch->bo, 0, 0, access, &scratch->va);
	if (ret)
		tsr_scratch_unref(scratch);
	else
		*out = scratch;
	return ret;
}

struct tsr_scratch *tsr_scratch_ref(struct tsr_scratch *scratch)
{
	atomic_fetch_add_explicit(&scratch->refs, 1, memory_order_relaxed);
	return scratch;
}

void tsr_scratch_unref(struct tsr_scratch *scratch)
{
	if (!scratch || atomic_fetch_sub_explicit(&scratch->refs, 1, memory_order_acq_rel) != 1)
		return;
	if (scratch->va)
		tsr_vm_unmap(scratch->vm, scratch->va, tsr_bo_size(scratch->bo));
	tsr_bo_unref(scratch->bo);
	tsr_vm_unref(scratch->vm);
	free(scratch);
}
