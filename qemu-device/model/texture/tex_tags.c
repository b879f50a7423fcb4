/* SPDX-License-Identifier: MIT */
/* Textures that are render targets with tags, as surfaces of memory/tags.h. */
#include "tex_cache.h"
#include "tsr_packets.h"

/* True if a texture of this kind can have tags. */
static bool can_have_tags(const struct tsr_texture_view *v)
{
	return v->dimension != TSR_TEXTURE_DIMENSION_3D && v->levels == 1 && !v->first_level &&
	       v->format.bytes && !v->format.codec;
}

static struct tsr_tex_tags *of_view(const struct tsr_msg_env *env,
				    const struct tsr_texture_view *view)
{
	return &env->textures->tags[view - env->textures->view];
}

struct tsr_tag_last *tsr_texture_last_tag(const struct tsr_msg_env *env,
					  const struct tsr_texture_view *view)
{
	return &of_view(env, view)->last;
}

enum tsr_step tsr_texture_tags(struct tsr_msg_env *env, struct tsr_texture_view *view)
{
	const uint64_t surfaces = (uint64_t)view->layers * view->samples;
	uint64_t q[TSR_TEXTURE_TAGS__QWORDS];
	struct tsr_texture_tags tags;
	enum tsr_step step;

	if (!can_have_tags(view))
		return tsr_msg_fault(env, TSR_FAULT_SHADER_STATE, view->va, TSR_ACCESS_NONE);
	step = tsr_msg_descriptor(env, view->surfaces + surfaces * TSR_TEXTURE_SURFACE__QWORDS *
				  sizeof(q[0]), q, TSR_TEXTURE_TAGS__QWORDS);
	if (step != TSR_STEP_DONE)
		return step;
	tsr_unpack_texture_tags(q, &tags);
	if (tags.state % 64)
		return tsr_msg_fault(env, TSR_FAULT_SHADER_STATE, view->va, TSR_ACCESS_NONE);
	*of_view(env, view) = (struct tsr_tex_tags){ .first = tags.tags };
	view->tagged = true;
	return tsr_tag_state_read(env->mem, tags.state, &of_view(env, view)->meaning);
}

enum tsr_step tsr_texture_tagged(struct tsr_msg_env *env, struct tsr_texture_view *view,
				 const struct tsr_texel_place *place, struct tsr_tagged *tagged)
{
	struct tsr_texel_place first = *place;
	const struct tsr_texture_surface *s;
	enum tsr_step step;

	first.sample = 0;
	step = tsr_texel_surface(env, view, &first, &s);
	if (step != TSR_STEP_DONE)
		return step;
	tagged->first = s->pointer;
	step = tsr_texel_surface(env, view, place, &s);
	if (step != TSR_STEP_DONE)
		return step;
	tagged->base = s->pointer;
	tagged->row_stride = s->row_stride;
	if ((tagged->base | tagged->first | (uint64_t)tagged->row_stride) % view->format.align)
		return tsr_msg_fault(env, TSR_FAULT_SHADER_ALIGNMENT, tagged->base,
				     TSR_ACCESS_READ);
	tagged->tags = of_view(env, view)->first +
		       tsr_tag_bytes(view->width, view->height, place->layer);
	tagged->width = view->width;
	tagged->height = view->height;
	tagged->bytes = view->format.bytes;
	tagged->tiled = view->tiled;
	tagged->samples = view->samples > 1;
	tagged->meaning = of_view(env, view)->meaning;
	return TSR_STEP_DONE;
}
