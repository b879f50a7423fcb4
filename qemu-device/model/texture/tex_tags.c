/* SPDX-License-Identifier: MIT */
/*
 * Texels of render targets with tags, see Documentation/hw/3d.md "Compression and fast clear". A
 * texel has the value that it would have if RENDER had stored the target expanded.
 */
#include "memory/tags.h"
#include "tex_cache.h"
#include "tsr_packets.h"

#define DIM 8u				/* of a block that has a tag */

static uint32_t blocks(uint32_t texels)
{
	return (texels + DIM - 1) / DIM;
}

/* True if a texture of this kind can have tags. */
static bool can_have_tags(const struct tsr_texture_view *v)
{
	return v->dimension == TSR_TEXTURE_DIMENSION_2D && v->levels == 1 && !v->first_level &&
	       v->format.bytes && !v->format.codec;
}

enum tsr_step tsr_tagged_find(struct tsr_msg_env *env, struct tsr_texture_view *view)
{
	uint64_t q[TSR_TEXTURE_TAGS__QWORDS], state[TSR_TAG_STATE_PLANES__QWORD + 1];
	struct tsr_texture_tags tags;
	enum tsr_step step;

	if (!can_have_tags(view))
		return tsr_msg_fault(env, TSR_FAULT_SHADER_STATE, view->va, TSR_ACCESS_NONE);
	step = tsr_msg_descriptor(env, view->surfaces + (uint64_t)view->layers * view->samples *
				  TSR_TEXTURE_SURFACE__QWORDS * sizeof(q[0]), q,
				  TSR_TEXTURE_TAGS__QWORDS);
	if (step != TSR_STEP_DONE)
		return step;
	tsr_unpack_texture_tags(q, &tags);
	if (tags.state % 64)
		return tsr_msg_fault(env, TSR_FAULT_SHADER_STATE, view->va, TSR_ACCESS_NONE);
	step = tsr_msg_descriptor(env, tags.state, state, TSR_TAG_STATE_PLANES__QWORD + 1);
	if (step != TSR_STEP_DONE)
		return step;
	memcpy(view->clear, state, sizeof(view->clear));
	view->planes = state[TSR_TAG_STATE_PLANES__QWORD] & 1;
	view->tags = tags.tags;
	view->tagged = true;
	return TSR_STEP_DONE;
}

/* True if tag @tag means what it says in the block of @place; otherwise it is RAW. */
static bool suits(const struct tsr_texture_view *v, const struct tsr_texel_place *place,
		  uint8_t tag)
{
	switch (tag) {
	case TSR_TARGET_TAG_CLEAR:
		return true;
	case TSR_TARGET_TAG_UNIFORM:
		return v->samples > 1;
	case TSR_TARGET_TAG_PLANES:
		return v->planes && v->format.bytes == sizeof(uint32_t) &&
		       (place->x | (DIM - 1)) < v->width && (place->y | (DIM - 1)) < v->height;
	default:
		return false;
	}
}

enum tsr_step tsr_tagged_tag(struct tsr_msg_env *env, const struct tsr_texture_view *view,
			     const struct tsr_texel_place *place, uint8_t *tag)
{
	uint64_t row = (uint64_t)place->layer * blocks(view->height) + place->y / DIM;
	uint64_t va = view->tags + row * blocks(view->width) + place->x / DIM;
	enum tsr_step step = tsr_access_read(env->access, env->mem, va, tag, 1);

	if (step == TSR_STEP_DONE && !suits(view, place, *tag))
		*tag = TSR_TARGET_TAG_RAW;
	return step;
}

static enum tsr_step read_word(struct tsr_msg_env *env, struct tsr_texture_view *view,
			       const struct tsr_texel_place *place, void *word, unsigned int bytes)
{
	uint64_t va;
	enum tsr_step step = tsr_texel_address(env, view, place, &va);

	if (step != TSR_STEP_DONE)
		return step;
	if (va % view->format.align)
		return tsr_msg_fault(env, TSR_FAULT_SHADER_ALIGNMENT, va, TSR_ACCESS_READ);
	return tsr_access_read(env->access, env->mem, va, word, bytes);
}

/* The texel of a block whose memory holds planes: it needs four words of them. */
static enum tsr_step read_plane(struct tsr_msg_env *env, struct tsr_texture_view *view,
				const struct tsr_texel_place *place, uint8_t *bytes)
{
	uint32_t word[TSR_PLANE_WORDS] = { 0 }, depth;
	enum tsr_step step = TSR_STEP_DONE;
	struct tsr_texel_place at = *place;

	for (unsigned int i = 0; i < 4 && step == TSR_STEP_DONE; i++) {
		unsigned int n = i < 3 ? i : 3 + place->y % DIM;

		at.x = (place->x & ~(DIM - 1)) + n % DIM;
		at.y = (place->y & ~(DIM - 1)) + n / DIM;
		step = read_word(env, view, &at, &word[n], sizeof(word[n]));
	}
	depth = tsr_plane_depth(word, place->x % DIM, place->y % DIM);
	memcpy(bytes, &depth, sizeof(depth));
	return step;
}

enum tsr_step tsr_tagged_read(struct tsr_msg_env *env, struct tsr_texture_view *view,
			      const struct tsr_texel_place *place, uint8_t tag, uint8_t *bytes)
{
	struct tsr_texel_place first = *place;

	switch (tag) {
	case TSR_TARGET_TAG_CLEAR:
		memcpy(bytes, view->clear, view->format.bytes);
		return TSR_STEP_DONE;
	case TSR_TARGET_TAG_PLANES:
		return read_plane(env, view, place, bytes);
	case TSR_TARGET_TAG_UNIFORM:
		first.sample = 0;
		break;
	default:
		break;
	}
	return read_word(env, view, &first, bytes, view->format.bytes);
}
