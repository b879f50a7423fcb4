// SPDX-License-Identifier: MIT
/*
 * Recording dispatches. The compute state and all it points to lie in the stream itself, in NOP
 * packets in front of the DISPATCH: they live as long as the stream, in memory the GPU may read.
 */
#include <errno.h>
#include <string.h>

#include "dispatch.h"
#include "shader.h"
#include "tsr_regs.h"

#define DATA_ALIGN	64		/* of what tsr_cmd_dispatch() puts into a stream */
#define DATA_MAX	((TSR_NOP_MAX_QWORDS - DATA_ALIGN / 8) * 8u)
#define STORAGE_WORDS	4u
#define DISPATCH_INFO_1	TSR_UP_TO(struct tsr_dispatch_info, scratch)	/* version 1.0 */
#define EXTENTS_MAX	(TSR_STORAGE_MAX + TSR_BINDING_EXTENTS + 2)

_Static_assert(TSR_COMPUTE_STATE__QWORDS * 8 + TSR_PUSH_WORDS_MAX * 4 <= DATA_MAX,
	       "state and push words fit one NOP");

uint64_t *tsr_stream_data(struct tsr_stream *stream, uint32_t size, uint64_t *va)
{
	struct tsr_nop nop = { .qwords = (size + 7) / 8 + DATA_ALIGN / 8 };
	uint64_t *p = tsr_stream_emit(stream, nop.qwords), first;

	if (!p)
		return NULL;
	tsr_pack_nop(p, &nop);
	first = tsr_stream_va(stream, p + 1);
	*va = tsr_round_up(first, DATA_ALIGN);
	return p + 1 + (*va - first) / 8;
}

static int check_grid(struct tsr_stream *stream, const struct tsr_dispatch_info *d,
		      uint32_t groups[3])
{
	unsigned int i;

	if (d->indirect % 4)
		return tsr_stream_fail(stream, EINVAL,
				       "shader '%s': groups read from 0x%llx, expected a multiple "
				       "of 4",
				       d->shader->label, (unsigned long long)d->indirect);
	for (i = 0; i < 3; i++) {
		groups[i] = d->groups[i];
		if (i && !groups[i])
			groups[i] = 1;
		if (!d->indirect && groups[i] > TSR_GROUPS_MAX)
			return tsr_stream_fail(stream, EINVAL,
					       "shader '%s' for %u groups, expected at most %d",
					       d->shader->label, groups[i], TSR_GROUPS_MAX);
	}
	return 0;
}

static int check_storage(struct tsr_stream *stream, const struct tsr_dispatch_info *d)
{
	const struct tsr_storage *s;
	uint32_t i;

	if (d->storage_count > TSR_STORAGE_MAX)
		return tsr_stream_fail(stream, EINVAL,
				       "shader '%s' with %u storage buffers, expected at most %d",
				       d->shader->label, d->storage_count, TSR_STORAGE_MAX);
	for (i = 0; i < d->storage_count; i++) {
		s = &d->storage[i];
		if (!s->size || s->size > UINT32_MAX || s->va + s->size < s->va)
			return tsr_stream_fail(stream, EINVAL,
					       "storage buffer %u of '%s': 0x%llx bytes at 0x%llx, "
					       "expected 1 to 0xffffffff", i, d->shader->label,
					       (unsigned long long)s->size,
					       (unsigned long long)s->va);
		if (!s->access || s->access & ~(uint32_t)(TSR_SHADER_READ | TSR_SHADER_WRITE))
			return tsr_stream_fail(stream, EINVAL,
					       "storage buffer %u of '%s' with access 0x%x, "
					       "expected TSR_SHADER_READ, TSR_SHADER_WRITE or both",
						       i,
					       d->shader->label, s->access);
		if (s->push_word % 2 || s->push_word > TSR_PUSH_WORDS_MAX - STORAGE_WORDS)
			return tsr_stream_fail(stream, EINVAL,
					       "storage buffer %u of '%s' in push word %u, "
					       "expected an even one up to %u", i,
					       d->shader->label, s->push_word,
					       TSR_PUSH_WORDS_MAX - STORAGE_WORDS);
	}
	return 0;
}

/* The number of push constants, with those of storage buffers. */
static uint32_t push_words(const struct tsr_dispatch_info *d)
{
	uint32_t i, end, words = d->push_words;

	for (i = 0; i < d->storage_count; i++) {
		end = d->storage[i].push_word + STORAGE_WORDS;
		words = words > end ? words : end;
	}
	return words;
}

static int check_rest(struct tsr_stream *stream, const struct tsr_dispatch_info *d)
{
	const struct tsr_shader *shader = d->shader;
	uint32_t words = push_words(d);

	if (d->flags & ~(uint32_t)TSR_DISPATCH_OPAQUE)
		return tsr_stream_fail(stream, EINVAL, "shader '%s': unknown flags 0x%x",
				       shader->label, d->flags);
	if (words > TSR_PUSH_WORDS_MAX || words < shader->info.push_words)
		return tsr_stream_fail(stream, EINVAL,
				       "shader '%s' with %u push words, expected %u to %d",
				       shader->label, words, shader->info.push_words,
				       TSR_PUSH_WORDS_MAX);
	if (shader->info.scratch_size &&
	    (!d->scratch || d->scratch->size < shader->info.scratch_size ||
	     d->scratch->vm != tsr_pool_vm(shader->pool)))
		return tsr_stream_fail(stream, EINVAL,
				       "shader '%s' needs scratch of %u bytes of its own VM, got "
				       "%u",
				       shader->label, shader->info.scratch_size,
				       d->scratch ? d->scratch->size : 0);
	return 0;
}

/* Collects the memory that the dispatch names. Returns the number of extents. */
static unsigned int collect(const struct tsr_dispatch_info *d, const struct tsr_resolved *r,
			    struct tsr_extent *extents)
{
	unsigned int i, n = 0;

	for (i = 0; i < d->storage_count; i++)
		extents[n++] = (struct tsr_extent) {
			d->storage[i].va, d->storage[i].va + d->storage[i].size,
			d->storage[i].access & TSR_SHADER_WRITE,
		};
	n += tsr_bindings_extents(d, r, extents + n);
	if (d->indirect)
		extents[n++] = (struct tsr_extent) { d->indirect, d->indirect + 12, false };
	if (d->shader->info.scratch_size)
		extents[n++] = (struct tsr_extent) {
			d->scratch->va, d->scratch->va + tsr_bo_size(d->scratch->bo), true,
		};
	return n;
}

/* Does the dispatch name memory that it writes? Else its results go where nobody knows. */
static bool names_result(const struct tsr_dispatch_info *d)
{
	uint32_t i;

	for (i = 0; i < d->storage_count; i++) {
		if (d->storage[i].access & TSR_SHADER_WRITE)
			return true;
	}
	for (i = 0; i < d->view_count; i++) {
		if (d->views[i].access & TSR_SHADER_WRITE)
			return true;
	}
	return false;
}

/* The barrier in front of the dispatch, if it needs one. */
static int order(struct tsr_stream *stream, const struct tsr_dispatch_info *d,
		 const struct tsr_resolved *r)
{
	struct tsr_hazards *hazards = tsr_stream_hazards(stream);
	struct tsr_extent extents[EXTENTS_MAX];
	unsigned int count = collect(d, r, extents);
	bool opaque = d->flags & TSR_DISPATCH_OPAQUE || !names_result(d);
	uint32_t flags = tsr_hazards_check(hazards, extents, count, opaque);
	int ret = 0;

	if (d->shader->serial > hazards->code_serial)
		flags |= TSR_CMD_INVALIDATE_CODE;
	if (flags)
		ret = tsr_cmd_barrier(stream, flags);
	if (ret)
		return ret;
	if (flags & TSR_CMD_INVALIDATE_CODE)
		hazards->code_serial = d->shader->serial;
	tsr_hazards_add(hazards, extents, count, opaque);
	return 0;
}

static void write_push(const struct tsr_dispatch_info *d, uint32_t words, uint64_t *to)
{
	uint32_t push[TSR_PUSH_WORDS_MAX] = { 0 }, *at;
	uint32_t i;

	if (d->push_words)
		memcpy(push, d->push, d->push_words * sizeof(push[0]));
	for (i = 0; i < d->storage_count; i++) {
		at = push + d->storage[i].push_word;
		at[0] = (uint32_t)d->storage[i].va;
		at[1] = (uint32_t)(d->storage[i].va >> 32);
		at[2] = (uint32_t)d->storage[i].size;
		at[3] = 0;
	}
	memcpy(to, push, (words + 1) / 2 * 8);
}

/* Writes state and push constants to the stream. *@va gets the state's address. */
static int write_state(struct tsr_stream *stream, const struct tsr_dispatch_info *d,
		       const struct tsr_resolved *r, uint64_t *va)
{
	const struct tsr_shader_info *info = &d->shader->info;
	struct tsr_compute_state state = {
		.code = tsr_shader_va(d->shader) + info->entry,
		.local_x = info->local[0], .local_y = info->local[1], .local_z = info->local[2],
		.registers_64 = info->flags & TSR_SHADER_REGISTERS_64,
		.push_words = push_words(d),
		.clause_limit = d->clause_limit,
		.scratch = info->scratch_size ? d->scratch->va : 0,
		.scratch_size = info->scratch_size,
		.group_memory = info->shared_memory,
	};
	uint32_t size = (TSR_COMPUTE_STATE__QWORDS + (state.push_words + 1) / 2) * 8;
	int ret = tsr_bindings_write(stream, d, r, &state);
	uint64_t *p;

	if (ret)
		return ret;
	p = tsr_stream_data(stream, size, va);
	if (!p)
		return tsr_stream_status(stream);
	if (state.push_words) {
		state.push = *va + TSR_COMPUTE_STATE__QWORDS * 8;
		write_push(d, state.push_words, p + TSR_COMPUTE_STATE__QWORDS);
	}
	tsr_pack_compute_state(p, &state);
	return 0;
}

static int write_packet(struct tsr_stream *stream, const struct tsr_dispatch_info *d,
			const uint32_t groups[3], uint64_t state)
{
	const struct tsr_dispatch_indirect indirect = { .state = state, .groups = d->indirect };
	const struct tsr_dispatch direct = {
		.state = state,
		.groups_x = groups[0], .groups_y = groups[1], .groups_z = groups[2],
	};
	uint64_t *p;

	p = tsr_stream_emit(stream, d->indirect ? TSR_DISPATCH_INDIRECT_QWORDS
						: TSR_DISPATCH_QWORDS);
	if (!p)
		return tsr_stream_status(stream);
	if (d->indirect)
		tsr_pack_dispatch_indirect(p, &indirect);
	else
		tsr_pack_dispatch(p, &direct);
	return 0;
}

/* Textures of compressed images become as the shader cores read them. */
static int open_textures(struct tsr_stream *stream, const struct tsr_dispatch_info *d)
{
	uint32_t i;
	int ret = 0;

	for (i = 0; !ret && i < d->texture_count; i++)
		ret = tsr_view_open(&d->textures[i]);
	return ret ? tsr_stream_fail(stream, -ret, "texture %u: %s", i - 1,
				     tsr_error_message()) : 0;
}

int tsr_cmd_dispatch(struct tsr_stream *stream, const struct tsr_dispatch_info *dispatch,
		     size_t size)
{
	struct tsr_dispatch_info d;
	struct tsr_resolved r;
	uint32_t groups[3];
	uint64_t state;
	int ret = tsr_take_info(&d, sizeof(d), DISPATCH_INFO_1, dispatch, size,
				"tsr_dispatch_info");

	if (ret)
		return tsr_stream_fail(stream, -ret, "%s", tsr_error_message());
	ret = check_grid(stream, &d, groups);
	if (!ret)
		ret = check_storage(stream, &d);
	if (!ret)
		ret = tsr_bindings_check(stream, &d, &r);
	if (!ret)
		ret = check_rest(stream, &d);
	if (!ret)
		ret = open_textures(stream, &d);
	if (!ret)
		ret = order(stream, &d, &r);
	if (!ret)
		ret = write_state(stream, &d, &r, &state);
	if (!ret)
		ret = write_packet(stream, &d, groups, state);
	return ret;
}
