/* SPDX-License-Identifier: MIT */
/*
 * Blits whose texels depend on the texels of the same place alone: resolves, conversions of the
 * format, and depth without stencil or the reverse. A compute shader goes through the memory of a
 * level, because the tiles of two textures of the same size are in the same order. That is several
 * times as fast as a draw, which interpolates coordinates to find each texel.
 */
#include "compiler/nir/nir_builder.h"
#include "compiler/nir/nir_format_convert.h"
#include "util/format/u_format.h"
#include "util/u_memory.h"

#include "tg_blit.h"
#include "tg_copy.h"
#include "tg_region.h"
#include "tg_resource.h"

#define GROUP		64u	/* threads */
#define GROUPS_X	1024u
#define VECTOR		16u	/* bytes that a thread averages or merges */
#define SPARSE		4u	/* a smaller part of a level than 1 / SPARSE is drawn */

struct tg_texels_key {
	enum tg_texels_kind {
		TEXELS_CONVERT,		/* to another format, or the mean of floats */
		TEXELS_BYTES,		/* the mean of bytes */
		TEXELS_MERGE		/* some bits of each word */
	} kind;
	enum pipe_format src, dst;
	unsigned samples;
};

struct tg_texels {
	struct tg_texels_key key;
	void *shader;
};

/* Constant buffer 0 of the shader. */
struct parameters {
	uint32_t count;			/* of threads with work */
	uint32_t plane;			/* bytes from sample to sample */
	uint32_t mask;			/* bits that are merged */
	uint32_t unused;
};

/* ---- Shaders --------------------------------------------------------------------------------- */

struct build {
	nir_builder b;
	nir_def *thread, *plane, *mask;
};

static nir_def *load(struct build *s, unsigned buffer, unsigned bytes, unsigned sample)
{
	nir_builder *b = &s->b;
	nir_def *at = nir_imul_imm(b, s->thread, bytes);

	if (sample)
		at = nir_iadd(b, at, nir_imul_imm(b, s->plane, sample));
	return nir_load_ssbo(b, bytes / 4, 32, nir_imm_int(b, (int)buffer), at, .align_mul = bytes);
}

static nir_def *convert(struct build *s, const struct tg_texels_key *k)
{
	const unsigned bytes = util_format_get_blocksize(k->src);
	nir_def *sum = NULL, *texel;
	unsigned i;

	for (i = 0; i < k->samples; i++) {
		texel = nir_format_unpack_rgba(&s->b, load(s, 0, bytes, i), k->src);
		sum = sum ? nir_fadd(&s->b, sum, texel) : texel;
	}
	if (k->samples > 1)
		sum = nir_fmul_imm(&s->b, sum, 1.0 / k->samples);
	return nir_format_pack_rgba(&s->b, k->dst, sum);
}

/* Every other byte of the words, from bit @shift on: the mean of all samples, ties up. */
static nir_def *mean(struct build *s, nir_def *const *words, unsigned samples, unsigned shift)
{
	const unsigned log2 = util_logbase2(samples), half = samples / 2;
	nir_builder *b = &s->b;
	nir_def *sum = NULL, *part;
	unsigned i;

	for (i = 0; i < samples; i++) {
		part = nir_iand_imm(b, nir_ushr_imm(b, words[i], shift), 0xff00ff);
		sum = sum ? nir_iadd(b, sum, part) : part;
	}
	sum = nir_iadd_imm(b, sum, half << 16 | half);
	return nir_ishl_imm(b, nir_iand_imm(b, nir_ushr_imm(b, sum, log2), 0xff00ff), shift);
}

static nir_def *average(struct build *s, unsigned samples)
{
	nir_def *words[1u << TG_RESOLVES];
	unsigned i;

	for (i = 0; i < samples; i++)
		words[i] = load(s, 0, VECTOR, i);
	return nir_ior(&s->b, mean(s, words, samples, 0), mean(s, words, samples, 8));
}

static nir_def *merge(struct build *s)
{
	nir_builder *b = &s->b;
	nir_def *src = load(s, 0, VECTOR, 0), *dst = load(s, 1, VECTOR, 0);

	return nir_ior(b, nir_iand(b, src, s->mask), nir_iand(b, dst, nir_inot(b, s->mask)));
}

static void *build_shader(struct tg_context *ctx, const struct tg_texels_key *k)
{
	struct pipe_screen *screen = ctx->base.screen;
	const nir_shader_compiler_options *options = screen->get_compiler_options(
		screen, PIPE_SHADER_IR_NIR, PIPE_SHADER_COMPUTE);
	struct build s = { .b = nir_builder_init_simple_shader(MESA_SHADER_COMPUTE, options,
							       "texels") };
	nir_builder *b = &s.b;
	struct pipe_compute_state state = { .ir_type = PIPE_SHADER_IR_NIR };
	nir_def *group, *given, *out;
	unsigned bytes;

	b->shader->info.workgroup_size[0] = GROUP;
	b->shader->info.workgroup_size[1] = b->shader->info.workgroup_size[2] = 1;
	b->shader->info.num_ssbos = 2;
	b->shader->info.num_ubos = 1;
	given = nir_load_ubo(b, 4, 32, nir_imm_int(b, 0), nir_imm_int(b, 0), .align_mul = 16,
			     .range = sizeof(struct parameters));
	group = nir_load_workgroup_id(b);
	s.thread = nir_iadd(b, nir_imul_imm(b, nir_channel(b, group, 1), GROUPS_X),
			    nir_channel(b, group, 0));
	s.thread = nir_iadd(b, nir_imul_imm(b, s.thread, GROUP),
			    nir_channel(b, nir_load_local_invocation_id(b), 0));
	s.plane = nir_channel(b, given, 1);
	s.mask = nir_channel(b, given, 2);
	nir_push_if(b, nir_ult(b, s.thread, nir_channel(b, given, 0)));
	out = k->kind == TEXELS_CONVERT ? convert(&s, k)
	      : k->kind == TEXELS_BYTES ? average(&s, k->samples)
					: merge(&s);
	bytes = out->num_components * 4;
	nir_store_ssbo(b, out, nir_imm_int(b, 1), nir_imul_imm(b, s.thread, bytes),
		       .align_mul = bytes);
	nir_pop_if(b, NULL);
	nir_shader_gather_info(b->shader, nir_shader_get_entrypoint(b->shader));
	state.prog = b->shader;
	return ctx->base.create_compute_state(&ctx->base, &state);
}

static void *find_shader(struct tg_context *ctx, const struct tg_texels_key *key)
{
	struct tg_texels made = { .key = *key };

	util_dynarray_foreach(&ctx->texels, struct tg_texels, t) {
		if (!memcmp(&t->key, key, sizeof(*key)))
			return t->shader;
	}
	made.shader = build_shader(ctx, key);
	if (made.shader)
		util_dynarray_append(&ctx->texels, struct tg_texels, made);
	return made.shader;
}

/* ---- Dispatches ------------------------------------------------------------------------------ */

/* The program's compute state is put aside: it is not bound again, but as it was. */
static void dispatch(struct tg_context *ctx, void *shader, struct pipe_resource *dst,
		     struct pipe_resource *src, const struct parameters *p)
{
	struct pipe_context *pipe = &ctx->base;
	struct tg_stage *stage = &ctx->stage[PIPE_SHADER_COMPUTE], saved = *stage;
	struct pipe_query *condition = ctx->condition;
	const unsigned groups = DIV_ROUND_UP(p->count, GROUP);
	const struct pipe_constant_buffer constants = { .buffer_size = sizeof(*p),
							.user_buffer = p };
	const struct pipe_shader_buffer buffers[2] = {
		{ .buffer = src, .buffer_size = UINT32_MAX },
		{ .buffer = dst, .buffer_size = UINT32_MAX },
	};
	const struct pipe_grid_info grid = {
		.work_dim = 2,
		.block = { GROUP, 1, 1 },
		.grid = { MIN2(groups, GROUPS_X), DIV_ROUND_UP(groups, GROUPS_X), 1 },
	};

	memset(stage, 0, sizeof(*stage));
	ctx->condition = NULL;
	pipe->bind_compute_state(pipe, shader);
	pipe->set_constant_buffer(pipe, PIPE_SHADER_COMPUTE, 0, false, &constants);
	pipe->set_shader_buffers(pipe, PIPE_SHADER_COMPUTE, 0, 2, buffers, 2);
	pipe->launch_grid(pipe, &grid);
	pipe->set_shader_buffers(pipe, PIPE_SHADER_COMPUTE, 0, 2, NULL, 0);
	pipe->set_constant_buffer(pipe, PIPE_SHADER_COMPUTE, 0, false, NULL);
	ctx->condition = condition;
	*stage = saved;
	stage->dirty = TG_DIRTY_STAGE_ALL;
}

/* The level is tiles without gaps. */
static bool is_dense(const struct tg_resource *r, unsigned level)
{
	const uint32_t tiles = DIV_ROUND_UP(u_minify(r->base.width0, level), 16);

	return r->mem.layout == TSR_LAYOUT_TILED &&
	       r->mem.level[level].pitch == tiles * 256 * r->mem.texel;
}

static bool run(struct tg_context *ctx, const struct tg_texels_key *key, struct pipe_resource *dst,
		struct pipe_resource *src, uint64_t plane, uint32_t mask)
{
	const struct tg_resource *r = tg_resource(src);
	void *shader = find_shader(ctx, key);
	const struct parameters p = {
		.count = (uint32_t)(r->mem.level[0].slice /
				    (key->kind == TEXELS_CONVERT ? r->mem.texel : VECTOR)),
		.plane = (uint32_t)plane,
		.mask = mask,
	};

	if (!shader)
		return false;
	dispatch(ctx, shader, dst, src, &p);
	return true;
}

/* ---- Blits ----------------------------------------------------------------------------------- */

static unsigned samples_of(const struct pipe_resource *t)
{
	return MAX2(t->nr_samples, 1);
}

/* The shader reads and writes words. */
static bool is_convertible(enum pipe_format format)
{
	const struct util_format_description *d = util_format_description(format);
	unsigned i;

	if (format == PIPE_FORMAT_R11G11B10_FLOAT)
		return true;
	if (d->layout != UTIL_FORMAT_LAYOUT_PLAIN || d->block.bits % 32 ||
	    util_format_is_pure_integer(format) || util_format_is_depth_or_stencil(format))
		return false;
	for (i = 0; i < d->nr_channels; i++) {
		if (d->channel[i].type == UTIL_FORMAT_TYPE_FIXED || d->channel[i].size > 32 ||
		    (d->block.bits > 32 && d->channel[i].size != d->channel[0].size))
			return false;
	}
	return true;
}

static bool is_bytes(enum pipe_format format)
{
	return util_format_is_unorm8(util_format_description(format)) &&
	       !util_format_is_srgb(format);
}

/* Which shader does it; false: none. */
static bool choose(const struct pipe_blit_info *b, struct tg_texels_key *key, uint32_t *mask)
{
	const enum pipe_format both = PIPE_FORMAT_Z24_UNORM_S8_UINT;
	const enum pipe_format src = b->src.format, dst = b->dst.format;
	const unsigned samples = samples_of(b->src.resource);

	*mask = 0;
	*key = (struct tg_texels_key){ .samples = samples };
	if (b->src.resource->format == both && b->dst.resource->format == both && src == both &&
	    dst == both) {
		key->kind = TEXELS_MERGE;
		key->samples = 1;
		*mask = (b->mask & PIPE_MASK_Z ? 0xffffff : 0) |
			(b->mask & PIPE_MASK_S ? 0xff000000 : 0);
		return *mask;
	}
	if ((b->mask & PIPE_MASK_RGBA) != PIPE_MASK_RGBA || (b->sample0_only && samples > 1) ||
	    util_format_is_depth_or_stencil(src) || util_format_is_depth_or_stencil(dst) ||
	    util_format_get_blocksize(src) != tg_resource(b->src.resource)->mem.texel ||
	    util_format_get_blocksize(dst) != tg_resource(b->dst.resource)->mem.texel)
		return false;
	if (src == dst && is_bytes(src)) {
		key->kind = TEXELS_BYTES;
		return samples > 1;
	}
	key->kind = TEXELS_CONVERT;
	key->src = src;
	key->dst = dst;
	return is_convertible(src) && is_convertible(dst);
}

/* Both levels as a whole, in the same tiles: the shader writes to the target itself. */
static bool is_direct(const struct pipe_blit_info *b)
{
	const struct pipe_resource *src = b->src.resource, *dst = b->dst.resource;
	const int width = (int)u_minify(src->width0, b->src.level);
	const int height = (int)u_minify(src->height0, b->src.level);

	return !b->src.box.x && !b->src.box.y && !b->dst.box.x && !b->dst.box.y &&
	       b->src.box.width == width && b->src.box.height == height &&
	       b->dst.box.width == width && b->dst.box.height == height &&
	       (int)u_minify(dst->width0, b->dst.level) == width &&
	       (int)u_minify(dst->height0, b->dst.level) == height && !b->scissor_enable &&
	       is_dense(tg_resource((struct pipe_resource *)dst), b->dst.level);
}

/* Without scaling, and enough of the level that going through all of it is worth it. */
static bool is_wanted(const struct pipe_blit_info *b)
{
	const struct pipe_resource *src = b->src.resource;
	const uint64_t all = (uint64_t)u_minify(src->width0, b->src.level) *
			     u_minify(src->height0, b->src.level);

	return abs(b->src.box.width) == b->dst.box.width &&
	       abs(b->src.box.height) == b->dst.box.height &&
	       (uint64_t)b->dst.box.width * (uint64_t)b->dst.box.height * SPARSE >= all &&
	       !b->swizzle_enable && !b->alpha_blend && !b->num_window_rectangles &&
	       samples_of(b->dst.resource) == 1 && b->src.resource != b->dst.resource;
}

/* A texture for the result of all of the level, which a copy takes to the target. */
static struct pipe_resource *result_of(struct tg_context *ctx, const struct pipe_blit_info *b)
{
	const struct pipe_resource template = {
		.target = PIPE_TEXTURE_2D,
		.format = b->dst.format,
		.width0 = u_minify(b->src.resource->width0, b->src.level),
		.height0 = u_minify(b->src.resource->height0, b->src.level),
		.depth0 = 1,
		.array_size = 1,
		.bind = PIPE_BIND_RENDER_TARGET,
	};

	return ctx->base.screen->resource_create(ctx->base.screen, &template);
}

static bool blit_layer(struct tg_context *ctx, const struct pipe_blit_info *b,
		       const struct tg_texels_key *key, uint32_t mask, unsigned layer)
{
	struct tg_resource *from = tg_resource(b->src.resource), *to = tg_resource(b->dst.resource);
	const bool direct = is_direct(b);
	struct pipe_blit_info copy = *b;
	struct pipe_resource *src, *dst;
	bool done;

	src = tg_resource_slice(from, b->src.level, (unsigned)b->src.box.z + layer, 0,
				b->src.format);
	dst = direct ? tg_resource_slice(to, b->dst.level, (unsigned)b->dst.box.z + layer, 0,
					 b->dst.format)
		     : result_of(ctx, b);
	done = src && dst && is_dense(tg_resource(dst), 0) &&
	       run(ctx, key, dst, src, from->mem.sample, mask);
	if (done && !direct) {
		copy.src.resource = dst;
		copy.src.format = b->dst.format;
		copy.src.level = 0;
		copy.src.box.z = 0;
		copy.dst.box.z = b->dst.box.z + (int)layer;
		copy.src.box.depth = copy.dst.box.depth = 1;
		done = tg_region_blit(ctx, &copy);
	}
	pipe_resource_reference(&src, NULL);
	pipe_resource_reference(&dst, NULL);
	return done;
}

bool tg_blit_texels(struct tg_context *ctx, const struct pipe_blit_info *b)
{
	struct tg_texels_key key;
	uint32_t mask;
	int layer;

	if (!is_wanted(b) || !tg_blit_has_slices(b) || !choose(b, &key, &mask) ||
	    !is_dense(tg_resource(b->src.resource), b->src.level) ||
	    (key.kind == TEXELS_MERGE && !is_direct(b)) ||
	    !tg_screen_has_engine(ctx->screen, ctx->priority, TG_COMPUTE))
		return false;
	for (layer = 0; layer < b->dst.box.depth; layer++) {
		if (!blit_layer(ctx, b, &key, mask, (unsigned)layer))
			return false;
	}
	return true;
}

void tg_texels_destroy(struct tg_context *ctx)
{
	util_dynarray_foreach(&ctx->texels, struct tg_texels, t)
		ctx->base.delete_compute_state(&ctx->base, t->shader);
	util_dynarray_fini(&ctx->texels);
}
