/* SPDX-License-Identifier: MIT */
/*
 * The texture instructions: TEXC, single and dual, TEXS_2D, TEXS_CUBE, and LEA_TEX.
 *
 * Lanes are processed in quads, because levels of detail depend on adjacent lanes. A quad is
 * processed as a whole or not at all. Results overwrite the staging registers of operands, and a
 * lane that has to wait needs the operands of adjacent lanes when it is repeated.
 */
#include "msg_texture.h"

#include "alu/float_bits.h"
#include "sampler.h"

#define QUAD 4
#define FACES TSR_CUBE_FACES

/* An access, as the instruction or its texture word asks for it. */
struct request {
	uint8_t operation;		/* enum tsr_texture_operation */
	uint8_t mode;			/* enum tsr_texture_lod or tsr_texture_fetch */
	uint8_t dimension;		/* enum tsr_texture_dimension */
	uint8_t result;			/* enum tsr_texture_result */
	uint8_t mask;			/* components to be written */
	uint8_t staging;		/* first register of the result */
	bool offset, shadow, array;	/* what is staged; see TEXTURE_WORD */
	uint32_t texture, sampler;	/* indices */
	uint32_t coordinate[2];		/* sources 0 and 1 */
	unsigned int face;		/* of cubes */
	/* what was staged, 0 if it was not */
	uint32_t z, lod, axis, layer, offsets;
	float reference;
	float ddy[3];			/* of GRADIENT_EXPLICIT */
};

/* A result: words for the registers, 16-bit components in halves. */
struct result {
	uint32_t word[4];
};

/* The descriptors of a lane. */
struct views {
	struct tsr_texture_view *texture;
	struct tsr_sampler_view *sampler;
};

/* ---- What is asked for ----------------------------------------------------------------------- */

/* A message's texture word or instruction made no sense. */
static enum tsr_step refuse(struct tsr_msg_env *env)
{
	env->mem->unit = TSR_UNIT_SHADER;
	return tsr_msg_fault(env, TSR_FAULT_SHADER_ENCODING, 0, TSR_ACCESS_NONE);
}

/* Split a cube's first coordinate into face and s. */
static void split_cube(struct request *r)
{
	r->face = r->coordinate[0] >> 29;
	r->coordinate[0] = (r->coordinate[0] & 0x1fffffff) | 0x20000000;
}

/* Take the operands that are staged, in their order. */
static void read_staged(const struct tsr_msg *msg, unsigned int lane, struct request *r,
			unsigned int index)
{
	bool gradient = r->operation == TSR_TEXTURE_OPERATION_GRADIENT ||
			r->operation == TSR_TEXTURE_OPERATION_GRADIENT_EXPLICIT;
	bool staged_lod = r->operation == TSR_TEXTURE_OPERATION_FETCH ||
			  (!gradient && r->mode <= TSR_TEXTURE_LOD_BIAS);
	unsigned int dims = r->dimension == TSR_TEXTURE_DIMENSION_CUBE ? 2 : r->dimension;
	unsigned int n = 0;

#define NEXT() (tsr_msg_staging(msg, n++)->u[lane])
	if (r->dimension == TSR_TEXTURE_DIMENSION_3D)
		r->z = NEXT();
	for (unsigned int i = 0; r->operation == TSR_TEXTURE_OPERATION_GRADIENT_EXPLICIT &&
				 i < dims; i++)
		r->ddy[i] = tsr_as_float(NEXT());
	if (staged_lod)
		r->lod = NEXT();
	if (staged_lod && r->operation == TSR_TEXTURE_OPERATION_SAMPLE &&
	    r->mode == TSR_TEXTURE_LOD_GRADIENT)
		r->axis = NEXT();
	if (r->shadow && !gradient)
		r->reference = tsr_as_float(NEXT());
	if (r->array)
		r->layer = NEXT();
	if (r->offset && !gradient)
		r->offsets = NEXT();
	if (index == TSR_TEXTURE_INDEX_STAGED_SAMPLER || index == TSR_TEXTURE_INDEX_STAGED)
		r->sampler = NEXT();
	if (index == TSR_TEXTURE_INDEX_STAGED_TEXTURE || index == TSR_TEXTURE_INDEX_STAGED)
		r->texture = NEXT();
#undef NEXT
}

bool tsr_texture_word_is_good(const struct tsr_texture_word *w)
{
	static const uint16_t results = 0xf0ff;

	if (!w->immediate && w->sampler >> 2 != 3)
		return false;
	if (!(results >> w->result & 1) || w->operation < TSR_TEXTURE_OPERATION_GRADIENT_EXPLICIT)
		return false;
	if (w->operation == TSR_TEXTURE_OPERATION_SAMPLE)
		return w->mode >= TSR_TEXTURE_LOD_GRADIENT;
	if (w->operation == TSR_TEXTURE_OPERATION_FETCH)
		return w->mode == TSR_TEXTURE_FETCH_TEXEL || w->mode >= TSR_TEXTURE_FETCH_GATHER_R;
	return true;
}

bool tsr_texture_word_is_dual(uint64_t word)
{
	struct tsr_texture_word w;

	tsr_unpack_texture_word(&word, &w);
	return !w.immediate && w.sampler >> 2 == 1;
}

/* The access that TEXC in @lane asks for. */
static enum tsr_step read_word(struct tsr_msg_env *env, const struct tsr_msg *msg,
			       unsigned int lane, struct request *r)
{
	const unsigned int immediate = TSR_TEXTURE_INDEX_STAGED + 1;
	uint64_t word = msg->src[2]->u[lane];
	struct tsr_texture_word w;
	unsigned int index;

	tsr_unpack_texture_word(&word, &w);
	if (!tsr_texture_word_is_good(&w))
		return refuse(env);
	index = w.immediate ? immediate : w.sampler & 3;
	*r = (struct request){
		.operation = w.operation, .mode = w.mode, .dimension = w.dimension,
		.result = w.result, .mask = w.mask, .staging = msg->staging,
		.offset = w.offset, .shadow = w.shadow, .array = w.array,
		.texture = w.texture, .sampler = w.immediate ? w.sampler : w.texture,
		.coordinate = { msg->src[0]->u[lane], msg->src[1]->u[lane] },
	};
	read_staged(msg, lane, r, index);
	if (w.dimension == TSR_TEXTURE_DIMENSION_CUBE &&
	    (w.operation != TSR_TEXTURE_OPERATION_FETCH || w.mode != TSR_TEXTURE_FETCH_TEXEL) &&
	    w.operation != TSR_TEXTURE_OPERATION_GRADIENT_EXPLICIT)
		split_cube(r);
	return TSR_STEP_DONE;
}

/* ---- One lane -------------------------------------------------------------------------------- */

void tsr_texture_to_registers(const struct tsr_format *format, union tsr_texel *texel,
			      unsigned int result, uint32_t out[4])
{
	static const float low[4] = { 0, 0, -1, 0 };
	static const uint8_t types[4] = {
		TSR_REGISTER_TYPE_U16, TSR_REGISTER_TYPE_S16, TSR_REGISTER_TYPE_U32,
		TSR_REGISTER_TYPE_S32,
	};
	bool integer = tsr_format_is_integer(format);
	unsigned int limit = result & 3;
	uint32_t word[8];
	unsigned int type;

	if (result >= TSR_TEXTURE_RESULT_U16) {
		type = types[result - TSR_TEXTURE_RESULT_U16];
		limit = 0;
	} else {
		type = result < TSR_TEXTURE_RESULT_F32 ? TSR_REGISTER_TYPE_F16
						       : TSR_REGISTER_TYPE_F32;
	}
	for (unsigned int c = 0; c < 4 && limit && !integer; c++) {
		/* NaN becomes the lower bound, but 0 between -1 and 1 */
		if (texel->f[c] != texel->f[c])
			texel->f[c] = 0;
		if (texel->f[c] < low[limit])
			texel->f[c] = low[limit];
		if (limit > 1 && texel->f[c] > 1)
			texel->f[c] = 1;
	}
	tsr_format_to_registers(format, texel, type, 4, word);
	memcpy(out, word, 4 * sizeof(*out));
}

static bool is_half(unsigned int result)
{
	return result < TSR_TEXTURE_RESULT_F32 || result == TSR_TEXTURE_RESULT_U16 ||
	       result == TSR_TEXTURE_RESULT_S16;
}

/* The layer, of cubes without the face; false: there is none. */
static bool find_layer(const struct request *r, const struct views *v, bool clamp, uint32_t *layer)
{
	uint32_t layers = v->texture->layers;

	if (v->texture->dimension == TSR_TEXTURE_DIMENSION_CUBE)
		layers /= FACES;
	*layer = r->layer;
	if (*layer >= layers && clamp)
		*layer = layers - 1;
	return *layer < layers;
}

/* FETCH of one texel by integer coordinates. */
static enum tsr_step fetch(struct tsr_msg_env *env, const struct request *r, struct views *v,
			   struct result *out)
{
	struct tsr_texture_view *t = v->texture;
	unsigned int level = r->lod >> 8 & 0xff;
	unsigned int face = r->lod >> 16;
	unsigned int sample = r->offsets >> 24;
	int64_t x = (int64_t)(int32_t)r->coordinate[0] + (int8_t)r->offsets;
	int64_t y = (int64_t)(int32_t)r->coordinate[1] + (int8_t)(r->offsets >> 8);
	int64_t z = (int64_t)(int32_t)r->z + (int8_t)(r->offsets >> 16);
	struct tsr_texel_place place = { .level = level, .sample = sample };
	union tsr_texel texel;
	uint32_t layer;
	enum tsr_step step;

	if (t->dimension == TSR_TEXTURE_DIMENSION_1D)
		y = 0;
	if (t->dimension != TSR_TEXTURE_DIMENSION_3D)
		z = 0;
	if (level >= t->levels || sample >= t->samples || !find_layer(r, v, false, &layer) ||
	    x < 0 || x >= tsr_level_extent(t->width, level) ||
	    y < 0 || y >= tsr_level_extent(t->height, level) ||
	    z < 0 || z >= tsr_level_extent(t->depth, level) ||
	    (t->dimension == TSR_TEXTURE_DIMENSION_CUBE && face >= FACES))
		return TSR_STEP_DONE;
	place.x = x;
	place.y = y;
	place.z = z;
	place.layer = t->dimension == TSR_TEXTURE_DIMENSION_CUBE ? layer * FACES + face : layer;
	step = tsr_texel_read(env, t, false, &place, &texel);
	if (step != TSR_STEP_DONE)
		return step;
	tsr_filter_swizzle(t, &texel, &texel);
	tsr_texture_to_registers(&t->format, &texel, r->result, out->word);
	return TSR_STEP_DONE;
}

static struct tsr_lookup lookup(struct tsr_msg_env *env, const struct request *r,
				const struct views *v)
{
	return (struct tsr_lookup){
		.env = env, .texture = v->texture, .sampler = v->sampler,
		.at = { tsr_as_float(r->coordinate[0]), tsr_as_float(r->coordinate[1]),
			tsr_as_float(r->z) },
		.face = r->face < FACES ? r->face : FACES - 1,
		.shadow = r->shadow, .reference = r->reference,
		.offset = { (int8_t)r->offsets, (int8_t)(r->offsets >> 8),
			    (int8_t)(r->offsets >> 16) },
	};
}

/* The footprint of a lane; @computed is its quad's. */
static void find_footprint(const struct request *r, const struct views *v,
			   const struct tsr_footprint *computed, struct tsr_footprint *f)
{
	float ddx[3] = { tsr_as_float(r->coordinate[0]), tsr_as_float(r->coordinate[1]),
			 tsr_as_float(r->z) };

	*f = *computed;
	if (r->operation == TSR_TEXTURE_OPERATION_GRADIENT_EXPLICIT)
		tsr_footprint(v->texture, v->sampler, ddx, r->ddy, f);
	if (r->operation != TSR_TEXTURE_OPERATION_SAMPLE)
		return;
	if (r->mode == TSR_TEXTURE_LOD_GRADIENT)
		tsr_footprint_from_words(v->texture, v->sampler, r->lod, r->axis, f);
	else if (r->mode != TSR_TEXTURE_LOD_COMPUTED && r->mode != TSR_TEXTURE_LOD_BIAS)
		f->places = 1;
}

/* Everything that needs a sampler. */
static enum tsr_step sample(struct tsr_msg_env *env, const struct request *r, struct views *v,
			    const struct tsr_footprint *computed, struct result *out)
{
	struct tsr_lookup l = lookup(env, r, v);
	unsigned int level = r->lod >> 8 & 0xff;
	struct tsr_footprint f;
	union tsr_texel texel;
	enum tsr_step step;

	find_footprint(r, v, computed, &f);
	if (r->operation == TSR_TEXTURE_OPERATION_GRADIENT ||
	    r->operation == TSR_TEXTURE_OPERATION_GRADIENT_EXPLICIT) {
		tsr_footprint_to_words(v->texture, v->sampler, &f, !r->offset, !r->shadow,
				       out->word);
		return TSR_STEP_DONE;
	}
	if (!find_layer(r, v, v->sampler->s.clamp_layer, &l.layer))
		return TSR_STEP_DONE;
	if (r->operation == TSR_TEXTURE_OPERATION_FETCH) {
		if (level >= v->texture->levels)
			return TSR_STEP_DONE;
		step = tsr_filter_gather(&l, level, r->shadow ? 0 : r->mode & 3, &texel);
	} else {
		l.places = f.places;
		memcpy(l.axis, f.axis, sizeof(l.axis));
		step = tsr_filter_sample(&l, tsr_lod_staged(v->texture, &v->sampler->s, r->mode,
							    r->lod, f.lod), &texel);
	}
	if (step == TSR_STEP_DONE)
		tsr_texture_to_registers(&v->texture->format, &texel, r->result, out->word);
	return step;
}

static enum tsr_step do_lane(struct tsr_msg_env *env, const struct request *r,
			     const struct tsr_footprint *computed, struct result *out)
{
	bool texel = r->operation == TSR_TEXTURE_OPERATION_FETCH &&
		     r->mode == TSR_TEXTURE_FETCH_TEXEL;
	struct views v;
	enum tsr_step step = tsr_texture_find(env, r->texture, &v.texture);

	memset(out, 0, sizeof(*out));
	if (step != TSR_STEP_DONE || !v.texture)
		return step;
	if (v.texture->dimension != r->dimension)
		return tsr_msg_fault(env, TSR_FAULT_SHADER_STATE, v.texture->va, TSR_ACCESS_NONE);
	if (texel)
		return fetch(env, r, &v, out);
	step = tsr_sampler_find(env, r->sampler, &v.sampler);
	if (step != TSR_STEP_DONE || !v.sampler)
		return step;
	return sample(env, r, &v, computed, out);
}

/* ---- Quads ----------------------------------------------------------------------------------- */

static bool needs_quad(const struct request *r)
{
	return r->operation == TSR_TEXTURE_OPERATION_GRADIENT ||
	       (r->operation == TSR_TEXTURE_OPERATION_SAMPLE &&
		(r->mode == TSR_TEXTURE_LOD_BIAS || r->mode == TSR_TEXTURE_LOD_COMPUTED));
}

/* True if two lanes' footprints are the same, given their quad. */
static bool same_view(const struct request *a, const struct request *b)
{
	return a->texture == b->texture && a->sampler == b->sampler &&
	       a->dimension == b->dimension;
}

/*
 * The footprint of lane @lane's quad in its texture, with its sampler. Lanes that ask for something
 * else count like those that are not active.
 */
static enum tsr_step quad_footprint(struct tsr_msg_env *env, const struct request r[QUAD],
				    unsigned int active, unsigned int lane,
				    struct tsr_footprint *f)
{
	struct tsr_lookup l[QUAD];
	float ddx[3], ddy[3];
	struct views v;
	enum tsr_step step;

	*f = (struct tsr_footprint){ .places = 1 };
	step = tsr_texture_find(env, r[lane].texture, &v.texture);
	if (step == TSR_STEP_DONE && v.texture)
		step = tsr_sampler_find(env, r[lane].sampler, &v.sampler);
	if (step != TSR_STEP_DONE || !v.texture || !v.sampler)
		return step;
	for (unsigned int i = 0; i < QUAD; i++) {
		if (!(active >> i & 1))
			continue;
		l[i] = lookup(env, &r[i], &v);
		if (r[i].dimension != r[lane].dimension || !needs_quad(&r[i]))
			active &= ~(1u << i);
	}
	tsr_filter_derivatives(l, active, ddx, ddy);
	tsr_footprint(v.texture, v.sampler, ddx, ddy, f);
	return TSR_STEP_DONE;
}

static void write_result(const struct tsr_msg *msg, unsigned int lane, const struct request *r,
			 const struct result *result)
{
	/* gradient descriptors are words, whatever the type */
	bool half = is_half(r->result) && r->operation >= TSR_TEXTURE_OPERATION_FETCH;

	for (unsigned int c = 0; c < 4; c++) {
		unsigned int n = r->staging + (half ? c / 2 : c);
		uint32_t *word = &msg->reg[n % TSR_REGISTERS * TSR_BUNDLE_WARPS].u[lane];
		uint32_t mask = half ? 0xffffu << 16 * (c % 2) : UINT32_MAX;

		if (r->mask >> c & 1)
			*word = (*word & ~mask) | (result->word[half ? c / 2 : c] & mask);
	}
}

/* The accesses of a lane; up to two, of dual textures. */
typedef enum tsr_step request_fn(struct tsr_msg_env *env, const struct tsr_msg *msg,
				 unsigned int lane, unsigned int which, struct request *r);

#define WHICH 2

/* Do access @which of the lanes @active of the quad that begins at lane @first. */
static enum tsr_step do_quad(struct tsr_msg_env *env, struct tsr_msg *msg, unsigned int first,
			     unsigned int active, unsigned int which, request_fn *request,
			     struct request r[QUAD], struct result result[QUAD])
{
	enum tsr_step step = TSR_STEP_DONE;
	const struct request *last = NULL;	/* the lane that @footprint was computed for */
	struct tsr_footprint footprint = { .places = 1 };

	for (unsigned int i = 0; i < QUAD && step == TSR_STEP_DONE; i++) {
		msg->fault_lane = first + i;
		if (active >> i & 1)
			step = request(env, msg, first + i, which, &r[i]);
	}
	for (unsigned int i = 0; i < QUAD && step == TSR_STEP_DONE; i++) {
		msg->fault_lane = first + i;
		if (!(active >> i & 1))
			continue;
		if (needs_quad(&r[i]) && !(last && same_view(last, &r[i]))) {
			step = quad_footprint(env, r, active, i, &footprint);
			last = &r[i];
		}
		if (step == TSR_STEP_DONE)
			step = do_lane(env, &r[i], &footprint, &result[i]);
	}
	return step;
}

/* Do all quads, with @accesses accesses in each lane. */
static enum tsr_step do_quads(struct tsr_msg_env *env, struct tsr_msg *msg, unsigned int accesses,
			      request_fn *request)
{
	struct request r[WHICH][QUAD];
	struct result result[WHICH][QUAD];

	while (msg->lanes) {
		unsigned int first = (unsigned int)__builtin_ctz(msg->lanes) & ~(QUAD - 1u);
		unsigned int active = msg->lanes >> first & ((1u << QUAD) - 1);

		for (unsigned int w = 0; w < accesses; w++) {
			enum tsr_step step = do_quad(env, msg, first, active, w, request,
						     r[w], result[w]);

			if (step != TSR_STEP_DONE)
				return step;
		}
		for (unsigned int i = 0; i < QUAD * accesses; i++) {
			if (active >> i % QUAD & 1)
				write_result(msg, first + i % QUAD, &r[i / QUAD][i % QUAD],
					     &result[i / QUAD][i % QUAD]);
		}
		msg->lanes &= ~(((1u << QUAD) - 1) << first);
	}
	return TSR_STEP_DONE;
}

/* ---- The instructions ------------------------------------------------------------------------ */

static enum tsr_step single_request(struct tsr_msg_env *env, const struct tsr_msg *msg,
				    unsigned int lane, unsigned int which, struct request *r)
{
	(void)which;
	return read_word(env, msg, lane, r);
}

/* A plain filtered sample; the callers say what is different. */
static struct request plain_sample(const struct tsr_msg *msg, unsigned int lane)
{
	return (struct request){
		.operation = TSR_TEXTURE_OPERATION_SAMPLE, .mode = TSR_TEXTURE_LOD_COMPUTED,
		.dimension = TSR_TEXTURE_DIMENSION_2D, .mask = 0xf, .staging = msg->staging,
		.coordinate = { msg->src[0]->u[lane], msg->src[1]->u[lane] },
	};
}

static enum tsr_step dual_request(struct tsr_msg_env *env, const struct tsr_msg *msg,
				  unsigned int lane, unsigned int which, struct request *r)
{
	uint64_t word = msg->src[2]->u[lane];
	struct tsr_dual_texture_word w;

	tsr_unpack_dual_texture_word(&word, &w);
	if (w.kind != 1 || word & 0xc00)
		return refuse(env);
	*r = plain_sample(msg, lane);
	r->texture = which ? w.texture_1 : w.texture_0;
	r->sampler = which ? w.sampler_1 : w.sampler_0;
	r->result = which ? w.result_1 : w.result_0;
	r->mask = which ? w.mask_1 : w.mask_0;
	if (which)
		r->staging = w.staging_1;
	return TSR_STEP_DONE;
}

enum tsr_step tsr_msg_texture(struct tsr_msg_env *env, struct tsr_msg *msg, unsigned int arg)
{
	(void)arg;
	if (!msg->lanes)
		return TSR_STEP_DONE;
	/* that of the first lane; the others must agree */
	if (tsr_texture_word_is_dual(msg->src[2]->u[__builtin_ctz(msg->lanes)]))
		return do_quads(env, msg, 2, dual_request);
	return do_quads(env, msg, 1, single_request);
}

static enum tsr_step compact_2d(struct tsr_msg_env *env, const struct tsr_msg *msg,
				unsigned int lane, unsigned int which, struct request *r)
{
	(void)env;
	(void)which;
	*r = plain_sample(msg, lane);
	r->texture = msg->insn->imm[TSR_IMM_TEXTURE_INDEX];
	r->sampler = msg->insn->imm[TSR_IMM_SAMPLER_INDEX];
	r->result = msg->insn->op == TSR_OP_ADD_TEXS_2D_F32 ? TSR_TEXTURE_RESULT_F32
							    : TSR_TEXTURE_RESULT_F16;
	if (msg->insn->mod[TSR_MOD_LOD_MODE] == TSR_LOD_MODE_ZERO_LOD)
		r->mode = TSR_TEXTURE_LOD_ZERO;
	return TSR_STEP_DONE;
}

static enum tsr_step compact_cube(struct tsr_msg_env *env, const struct tsr_msg *msg,
				  unsigned int lane, unsigned int which, struct request *r)
{
	(void)env;
	(void)which;
	*r = plain_sample(msg, lane);
	r->dimension = TSR_TEXTURE_DIMENSION_CUBE;
	r->face = msg->src[2]->u[lane] >> 29;
	r->texture = msg->insn->imm[TSR_IMM_TEXTURE_INDEX];
	r->sampler = msg->insn->imm[TSR_IMM_SAMPLER_INDEX];
	r->result = msg->insn->op == TSR_OP_ADD_TEXS_CUBE_F32 ? TSR_TEXTURE_RESULT_F32
							      : TSR_TEXTURE_RESULT_F16;
	return TSR_STEP_DONE;
}

enum tsr_step tsr_msg_texture_compact(struct tsr_msg_env *env, struct tsr_msg *msg,
				      unsigned int arg)
{
	return do_quads(env, msg, 1, arg ? compact_cube : compact_2d);
}

/* ---- LEA_TEX --------------------------------------------------------------------------------- */

static unsigned int register_type(const struct tsr_format *format)
{
	if (format->kind == TSR_FORMAT_KIND_SINT)
		return TSR_REGISTER_TYPE_S32;
	return format->kind == TSR_FORMAT_KIND_UINT ? TSR_REGISTER_TYPE_U32
						    : TSR_REGISTER_TYPE_F32;
}

/* Loads and stores know no tags: have the block of a texel in memory. */
static enum tsr_step expand(struct tsr_msg_env *env, struct tsr_texture_view *view,
			    const struct tsr_texel_place *place)
{
	struct tsr_tagged tagged;
	enum tsr_step step = tsr_texture_tagged(env, view, place, &tagged);

	return step != TSR_STEP_DONE ? step :
	       tsr_tagged_expand(env->mem, &tagged, place->x, place->y,
				 tsr_texture_last_tag(env, view));
}

static enum tsr_step lea_lane(struct tsr_msg_env *env, struct tsr_msg *msg, unsigned int lane,
			      const void *arg)
{
	const bool *immediate = arg;
	uint32_t xy = msg->src[0]->u[lane], z = msg->src[1]->u[lane];
	struct tsr_texel_place place = { .x = xy & 0xffff, .y = xy >> 16 };
	struct tsr_texture_view *t;
	bool volume;
	uint64_t va = TSR_WINDOW_VOID;
	uint32_t word = 0;
	enum tsr_step step = tsr_texture_find(env, *immediate
					      ? msg->insn->imm[TSR_IMM_TEXTURE_INDEX]
					      : msg->src[2]->u[lane], &t);

	if (step == TSR_STEP_DONE && t && (t->format.codec || (t->tagged && t->samples > 1)))
		step = tsr_msg_fault(env, TSR_FAULT_SHADER_STATE, t->va, TSR_ACCESS_NONE);
	if (step == TSR_STEP_DONE && t) {
		volume = t->dimension == TSR_TEXTURE_DIMENSION_3D;
		place.z = volume ? z : 0;
		place.layer = volume ? 0 : z;
		if (place.x < t->width && place.y < t->height && place.z < t->depth &&
		    place.layer < t->layers && t->format.bytes) {
			step = t->tagged ? expand(env, t, &place) : TSR_STEP_DONE;
			if (step == TSR_STEP_DONE)
				step = tsr_texel_address(env, t, &place, &va);
		}
		word = t->word | register_type(&t->format) << TSR_CONVERSION_REGISTERS__SHIFT;
	}
	if (step != TSR_STEP_DONE)
		return step;
	tsr_msg_staging(msg, 0)->u[lane] = va;
	tsr_msg_staging(msg, 1)->u[lane] = va >> 32;
	tsr_msg_staging(msg, 2)->u[lane] = word;
	return TSR_STEP_DONE;
}

enum tsr_step tsr_msg_lea_texel(struct tsr_msg_env *env, struct tsr_msg *msg, unsigned int arg)
{
	const bool immediate = arg;

	if (msg->insn->mod[TSR_MOD_FORMAT] != TSR_FORMAT_U16) {
		msg->fault_lane = msg->lanes ? __builtin_ctz(msg->lanes) : 0;
		env->mem->unit = TSR_UNIT_SHADER;
		return tsr_msg_fault(env, TSR_FAULT_SHADER_UNSUPPORTED, 0, TSR_ACCESS_NONE);
	}
	return tsr_msg_each(env, msg, lea_lane, &immediate);
}
