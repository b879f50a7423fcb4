/* SPDX-License-Identifier: MIT */
/*
 * Textures and samplers as their descriptors say, and single texels.
 */
#include "codec.h"
#include "memory/tiling.h"
#include "tex_cache.h"

#define TEXTURE_TYPE 2
#define SAMPLER_TYPE 1

static enum tsr_step bad_state(struct tsr_msg_env *env, uint64_t va)
{
	return tsr_msg_fault(env, TSR_FAULT_SHADER_STATE, va, TSR_ACCESS_NONE);
}

/* Fill @view from its descriptor; false: it is malformed. */
static bool fill_texture(const struct tsr_texture *t, uint32_t word, struct tsr_texture_view *view)
{
	static const uint8_t dimensions[4] = { 2, 1, 2, 3 };

	view->word = word;
	view->tiled = t->texel_order == TSR_TEXEL_ORDER_TILED;
	view->dimension = t->dimension;
	view->dimensions = dimensions[t->dimension];
	view->swizzle[0] = t->swizzle_r;
	view->swizzle[1] = t->swizzle_g;
	view->swizzle[2] = t->swizzle_b;
	view->swizzle[3] = t->swizzle_a;
	view->samples = 1 << t->samples;
	view->levels = t->levels + 1;
	view->first_level = t->min_level;
	view->min_lod = t->min_lod;
	view->max_lod = t->max_lod;
	view->width = t->width + 1;
	view->height = t->dimension == TSR_TEXTURE_DIMENSION_1D ? 1 : t->height + 1;
	view->depth = t->dimension == TSR_TEXTURE_DIMENSION_3D ? t->depth + 1 : 1;
	view->layers = (t->layers + 1) * (t->dimension == TSR_TEXTURE_DIMENSION_CUBE ?
					  TSR_CUBE_FACES : 1);
	view->normalize = t->normalize;
	view->center = t->corner_samples ? 0 : TSR_TEXEL_ONE / 2;
	view->surfaces = t->surfaces;
	for (unsigned int i = 0; i < 4; i++) {
		if (view->swizzle[i] > TSR_COMPONENT_ONE)
			return false;
	}
	if (t->type != TEXTURE_TYPE || t->big_endian ||
	    (!view->tiled && t->texel_order != TSR_TEXEL_ORDER_LINEAR) ||
	    !tsr_format_find_texture(&view->format, t->format, t->order, t->srgb))
		return false;
	if (view->format.codec && (t->samples || t->dimension == TSR_TEXTURE_DIMENSION_1D))
		return false;
	tsr_format_find_texture(&view->linear, t->format, t->order, false);
	view->kind[0] = tsr_block_kind(&view->format);
	view->kind[1] = tsr_block_kind(&view->linear);
	return true;
}

/* The place of descriptor number @index of a table where a view of it is kept. */
static unsigned int slot_of(uint64_t va)
{
	return va / 32 % TSR_TEXTURE_VIEWS;
}

/*
 * Read the descriptor at @va, in table @part, to @source. *@same: it was there already, and @kept
 * says that a view was made from it.
 */
static enum tsr_step read_source(struct tsr_msg_env *env, uint64_t va, enum tsr_program_part part,
				 bool kept, struct tsr_texture_source *source, bool *same)
{
	struct tsr_texture_source fresh = { .space = env->textures->space };
	enum tsr_step step = tsr_msg_descriptor(env, va + env->copies->moved[part], fresh.word,
						TSR_TEXTURE__QWORDS);

	*same = kept && step == TSR_STEP_DONE && !memcmp(source, &fresh, sizeof(fresh));
	*source = fresh;
	return step;
}

/* Prepare @view from the descriptor at @va, unless it was made from the same. */
static __attribute__((noinline))
enum tsr_step read_texture(struct tsr_msg_env *env, uint64_t va, struct tsr_texture_view *view)
{
	struct tsr_texture_cache *cache = env->textures;
	struct tsr_texture_source *source = &cache->view_source[view - cache->view];
	struct tsr_texture t;
	bool same;
	enum tsr_step step = read_source(env, va, TSR_PART_TEXTURES, view->key && view->va == va,
					 source, &same);

	if (same) {
		view->key = cache->key;
		return TSR_STEP_DONE;
	}
	*view = (struct tsr_texture_view){ .va = va };
	if (step != TSR_STEP_DONE)
		return step;
	tsr_unpack_texture(source->word, &t);
	if (!fill_texture(&t, source->word[0] >> TSR_TEXTURE_ORDER__SHIFT & 0x3fffff, view))
		return bad_state(env, va);
	if (t.tagged)
		step = tsr_texture_tags(env, view);
	if (step != TSR_STEP_DONE)
		return step;
	view->serial = tsr_texture_serial(cache);
	view->key = cache->key;
	return TSR_STEP_DONE;
}

enum tsr_step tsr_texture_find(struct tsr_msg_env *env, uint32_t index,
			       struct tsr_texture_view **found)
{
	struct tsr_texture_cache *cache = env->textures;
	uint64_t va = env->state->textures + index * sizeof(uint64_t) * TSR_TEXTURE__QWORDS;
	struct tsr_texture_view *view = &cache->view[slot_of(va)];

	*found = index < env->state->texture_count ? view : NULL;
	if (!*found || (view->key == cache->key && view->va == va))
		return TSR_STEP_DONE;
	return read_texture(env, va, view);
}

static bool good_wrap(unsigned int mode)
{
	switch (mode) {
	case TSR_WRAP_MODE_REPEAT:
	case TSR_WRAP_MODE_CLAMP_TO_EDGE:
	case TSR_WRAP_MODE_CLAMP_TO_BORDER:
	case TSR_WRAP_MODE_MIRRORED_REPEAT:
	case TSR_WRAP_MODE_MIRRORED_CLAMP_TO_EDGE:
	case TSR_WRAP_MODE_MIRRORED_CLAMP_TO_BORDER:
		return true;
	default:
		return false;
	}
}

static bool good_sampler(const struct tsr_sampler *s)
{
	return s->type == SAMPLER_TYPE && good_wrap(s->wrap_s) && good_wrap(s->wrap_t) &&
	       good_wrap(s->wrap_r) &&
	       (s->lod_algorithm == TSR_LOD_ALGORITHM_ISOTROPIC ||
		s->lod_algorithm == TSR_LOD_ALGORITHM_ANISOTROPIC);
}

/* As read_texture(). */
static __attribute__((noinline))
enum tsr_step read_sampler(struct tsr_msg_env *env, uint64_t va, struct tsr_sampler_view *view)
{
	struct tsr_texture_cache *cache = env->textures;
	struct tsr_texture_source *source = &cache->sampler_source[view - cache->sampler];
	bool same;
	enum tsr_step step = read_source(env, va, TSR_PART_SAMPLERS, view->key && view->va == va,
					 source, &same);

	if (same) {
		view->key = cache->key;
		return TSR_STEP_DONE;
	}
	*view = (struct tsr_sampler_view){ .va = va, .anisotropy = 1 };
	if (step != TSR_STEP_DONE)
		return step;
	tsr_unpack_sampler(source->word, &view->s);
	if (!good_sampler(&view->s))
		return bad_state(env, va);
	if (view->s.lod_algorithm == TSR_LOD_ALGORITHM_ANISOTROPIC)
		view->anisotropy = view->s.anisotropy < TSR_ANISOTROPY_MAX
			? view->s.anisotropy + 1 : TSR_ANISOTROPY_MAX;
	view->serial = ++cache->samplers;
	view->key = cache->key;
	return TSR_STEP_DONE;
}

enum tsr_step tsr_sampler_find(struct tsr_msg_env *env, uint32_t index,
			       struct tsr_sampler_view **found)
{
	struct tsr_texture_cache *cache = env->textures;
	uint64_t va = env->state->samplers + index * sizeof(uint64_t) * TSR_SAMPLER__QWORDS;
	struct tsr_sampler_view *view = &cache->sampler[slot_of(va)];

	*found = index < env->state->sampler_count ? view : NULL;
	if (!*found || (view->key == cache->key && view->va == va))
		return TSR_STEP_DONE;
	return read_sampler(env, va, view);
}

/* ---- Texels ---------------------------------------------------------------------------------- */

/* Low bits of a surface's address that give the size of ASTC blocks, three for each extent. */
#define SIZE_BITS 63u

void tsr_block_size(const struct tsr_format *format, const struct tsr_texture_surface *s,
		    unsigned int *width, unsigned int *height)
{
	static const uint8_t extent[8] = { 4, 5, 6, 0, 8, 0, 10, 12 };
	bool astc = tsr_block_is_astc(format);

	*width = astc ? extent[s->pointer & 7] : TSR_TEX_BLOCK_DIM;
	*height = astc ? extent[s->pointer >> 3 & 7] : TSR_TEX_BLOCK_DIM;
}

/* True if the blocks of a surface have a size that there is. */
static bool good_block_size(const struct tsr_format *format, const struct tsr_texture_surface *s)
{
	/* by width: the heights that go with it */
	static const uint16_t heights[13] = {
		[4] = 1 << 4, [5] = 1 << 4 | 1 << 5, [6] = 1 << 5 | 1 << 6,
		[8] = 1 << 5 | 1 << 6 | 1 << 8, [10] = 1 << 5 | 1 << 6 | 1 << 8 | 1 << 10,
		[12] = 1 << 10 | 1 << 12,
	};
	unsigned int width, height;

	tsr_block_size(format, s, &width, &height);
	return !format->codec || heights[width] >> height & 1;
}

static enum tsr_step find_surface(struct tsr_msg_env *env, struct tsr_texture_view *view,
				  uint32_t index, const struct tsr_texture_surface **surface)
{
	struct tsr_surface_cache *c = &view->cache[index % 4];
	uint64_t q[TSR_TEXTURE_SURFACE__QWORDS], va = view->surfaces + index * sizeof(q);
	enum tsr_step step;

	*surface = &c->surface;
	if (c->valid && c->index == index)
		return TSR_STEP_DONE;
	c->valid = false;
	step = tsr_msg_descriptor(env, va, q, TSR_TEXTURE_SURFACE__QWORDS);
	if (step != TSR_STEP_DONE)
		return step;
	tsr_unpack_texture_surface(q, &c->surface);
	if (!good_block_size(&view->format, &c->surface))
		return bad_state(env, va);
	c->index = index;
	c->valid = true;
	return TSR_STEP_DONE;
}

enum tsr_step tsr_texel_surface(struct tsr_msg_env *env, struct tsr_texture_view *view,
				const struct tsr_texel_place *place,
				const struct tsr_texture_surface **surface)
{
	uint32_t levels = view->levels + view->first_level;

	return find_surface(env, view, (place->layer * view->samples + place->sample) * levels +
			    place->level + view->first_level, surface);
}

/* Where a compressed block is: block (@x, @y) of its slice. */
static uint64_t block_at(const struct tsr_texture_view *view, const struct tsr_texture_surface *s,
			 uint32_t x, uint32_t y)
{
	uint64_t base = tsr_block_is_astc(&view->format) ? s->pointer & ~(uint64_t)SIZE_BITS
							 : s->pointer;
	uint64_t block = x, row = y;

	if (view->tiled) {
		block = (x & ~3u) * 4ull + tsr_tile_index(x & 3, y & 3);
		row = y / 4;
	}
	return base + block * view->format.bytes + row * (uint64_t)(int64_t)s->row_stride;
}

uint64_t tsr_texel_at(const struct tsr_texture_view *view, const struct tsr_texture_surface *s,
		      const struct tsr_texel_place *place)
{
	uint64_t slice = place->z * (uint64_t)(int64_t)s->slice_stride;
	uint64_t texel = place->x, row = place->y;
	unsigned int width, height;

	if (view->format.codec) {
		tsr_block_size(&view->format, s, &width, &height);
		return slice + block_at(view, s, place->x / width, place->y / height);
	}
	if (view->tiled) {
		texel = place->x / TSR_TILE_DIM * TSR_TILE_TEXELS +
			tsr_tile_index(place->x, place->y);
		row = place->y / TSR_TILE_DIM;
	}
	return s->pointer + texel * view->format.bytes + row * (uint64_t)(int64_t)s->row_stride +
	       slice;
}

enum tsr_step tsr_texel_address(struct tsr_msg_env *env, struct tsr_texture_view *view,
				const struct tsr_texel_place *place, uint64_t *va)
{
	const struct tsr_texture_surface *s;
	enum tsr_step step = tsr_texel_surface(env, view, place, &s);

	if (step == TSR_STEP_DONE)
		*va = tsr_texel_at(view, s, place);
	return step;
}

/* A texel from its block; false: it cannot be kept in one. */
static bool cached(struct tsr_msg_env *env, struct tsr_texture_view *view, bool linear,
		   const struct tsr_texel_place *place, union tsr_texel *texel)
{
	struct tsr_texture_cache *cache = env->textures;
	bool volume = view->dimension == TSR_TEXTURE_DIMENSION_3D;
	const struct tsr_level_place level = {
		.level = place->level, .slice = volume ? place->z : place->layer,
		.linear = linear,
	};
	struct tsr_tex_window *w;
	int32_t at;

	if (cache->off || !view->kind[linear] || view->samples > 1 ||
	    (volume && place->layer) || level.slice >= TSR_TEX_SLICES)
		return false;
	w = tsr_window_find(cache, tsr_level_key(view, &level));
	at = tsr_window_use(env, view, &level, w, place->x, place->y);
	if (at < 0)
		return false;
	tsr_block_texel(view->kind[linear], &view->format,
			tsr_window_texels(cache, w) +
			(uint32_t)at * tsr_texel_bytes(view->kind[linear]), texel);
	return true;
}

/* The bytes of a texel of a view with tags. */
static __attribute__((noinline))
enum tsr_step through_tags(struct tsr_msg_env *env, struct tsr_texture_view *view,
			   const struct tsr_texel_place *place, uint8_t *bytes)
{
	struct tsr_tagged tagged;
	enum tsr_step step = tsr_texture_tagged(env, view, place, &tagged);

	return step != TSR_STEP_DONE ? step :
	       tsr_tagged_read(env->mem, &tagged, place->x, place->y,
			       tsr_texture_last_tag(env, view), bytes);
}

/* The bytes of a texel, or of its compressed block, from memory. */
static enum tsr_step uncached(struct tsr_msg_env *env, struct tsr_texture_view *view,
			      const struct tsr_texel_place *place, uint8_t *bytes)
{
	enum tsr_step step;
	uint8_t *page;
	uint64_t va;

	if (view->tagged)
		return through_tags(env, view, place, bytes);
	step = tsr_texel_address(env, view, place, &va);
	if (step != TSR_STEP_DONE)
		return step;
	if (va % view->format.align)
		return tsr_msg_fault(env, TSR_FAULT_SHADER_ALIGNMENT, va, TSR_ACCESS_READ);
	page = tsr_access_find(env->access, env->access->read, va);
	if (!page || va % TSR_ACCESS_PAGE_BYTES > TSR_ACCESS_PAGE_BYTES - TSR_TEXEL_BYTES_MAX)
		return tsr_access_read(env->access, env->mem, va, bytes, view->format.bytes);
	memcpy(bytes, page + va % TSR_ACCESS_PAGE_BYTES, TSR_TEXEL_BYTES_MAX);
	return TSR_STEP_DONE;
}

/* The texel of the compressed block at @block. */
static enum tsr_step pick(struct tsr_msg_env *env, struct tsr_texture_view *view,
			  const struct tsr_format *format, const struct tsr_texel_place *place,
			  const uint8_t *block, union tsr_texel *texel)
{
	const struct tsr_texture_surface *s;
	enum tsr_step step = tsr_texel_surface(env, view, place, &s);
	unsigned int width, height;

	if (step != TSR_STEP_DONE)
		return step;
	tsr_block_size(format, s, &width, &height);
	tsr_block_pick(format, block, width, height, place->x % width, place->y % height, texel);
	return TSR_STEP_DONE;
}

enum tsr_step tsr_texel_read(struct tsr_msg_env *env, struct tsr_texture_view *view, bool linear,
			     const struct tsr_texel_place *place, union tsr_texel *texel)
{
	const struct tsr_format *f = linear ? &view->linear : &view->format;
	uint8_t bytes[TSR_TEXEL_BYTES_MAX];
	enum tsr_step step;

	if (!cached(env, view, linear, place, texel)) {
		step = view->format.bytes ? uncached(env, view, place, bytes) : TSR_STEP_DONE;
		if (step != TSR_STEP_DONE)
			return step;
		if (f->codec)
			step = pick(env, view, f, place, bytes, texel);
		else
			tsr_format_load(f, bytes, texel);
		if (step != TSR_STEP_DONE)
			return step;
	}
	env->cost.read_bytes += tsr_texel_cost(f);
	return TSR_STEP_DONE;
}

void tsr_texel_border(const struct tsr_texture_view *view, const struct tsr_sampler *sampler,
		      union tsr_texel *texel)
{
	const uint32_t word[4] = {
		sampler->border_r, sampler->border_g, sampler->border_b, sampler->border_a,
	};
	union tsr_texel raw;

	for (unsigned int c = 0; c < 4; c++) {
		bool there = view->format.bits[c] || view->format.kind == TSR_FORMAT_KIND_SHARED;

		if (view->format.kind == TSR_FORMAT_KIND_SINT)
			raw.i[c] = there ? (int32_t)word[c] : c == 3;
		else if (view->format.kind == TSR_FORMAT_KIND_UINT)
			raw.i[c] = there ? word[c] : c == 3;
		else if (there && !(view->format.kind == TSR_FORMAT_KIND_SHARED && c == 3))
			memcpy(&raw.f[c], &word[c], sizeof(raw.f[c]));
		else
			raw.f[c] = c == 3;
	}
	tsr_format_order(&view->format, &raw, texel);
}
