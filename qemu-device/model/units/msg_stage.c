/* SPDX-License-Identifier: MIT */
/*
 * Stage I/O memory: ALD, AST and AL2P, the windows; EMIT and RESTART.
 *
 * A shader of a draw with GEOMETRY stores to its own vertex in the block of its stage (stages.h). A
 * vertex shader loads values that the device provides. Other shaders load words that the previous
 * stage has stored in its block. Hull and domain shaders also have the words of their patch.
 */
#include "shader/stage_block.h"
#include "msg.h"
#include "msg_attribute.h"
#include "msg_bundle.h"
#include "shader/stage.h"

#define WORDS_MAX (TSR_ACCESS_COPY_MAX / 4)

enum space { SPACE_IN, SPACE_OUT, SPACE_PATCH };

/* The words of a lane's message, wherever they are. */
struct words {
	enum space space;
	unsigned int slot;		/* whose: of a vertex in its block, or TSR_STAGE_NO_SLOT */
	unsigned int count;
	int64_t first;			/* number of the first; SPACE_PATCH: it may be none */
	uint8_t kind[WORDS_MAX];	/* enum tsr_stage_kind of each */
};

static enum tsr_step encoding(struct tsr_msg_env *env)
{
	return tsr_msg_fault(env, TSR_FAULT_SHADER_ENCODING, 0, TSR_ACCESS_NONE);
}

static unsigned int thread_of(const struct tsr_msg_env *env, unsigned int lane)
{
	return env->warp * TSR_WARP_LANES + lane;
}

static unsigned int slot_of(const struct tsr_msg_env *env, unsigned int lane)
{
	return env->vertices->slot[thread_of(env, lane)];
}

/* Where the vertices of a geometry shader's thread go; NULL: it is another stage. */
static struct tsr_emit *emit_of(const struct tsr_msg_env *env)
{
	return env->stage == TSR_STAGE_GEOMETRY ? env->vertices->group->emit : NULL;
}

/* Bytes an access of @count words is aligned to. */
static int64_t alignment(unsigned int count)
{
	return count > 2 ? 16 : 4 * count;
}

/* Kind of word @n in @space. */
static uint8_t kind_of(const struct tsr_stage_block *b, enum space space, unsigned int n)
{
	if (space == SPACE_OUT ? tsr_stage_has(&b->out, n) : tsr_stage_has(&b->stored, n))
		return space == SPACE_IN && tsr_stage_has(&b->in, n) ? TSR_STAGE_KIND_HARDWARE :
								      TSR_STAGE_KIND_STORED;
	if (space == SPACE_IN && tsr_stage_has(&b->in, n))
		return TSR_STAGE_KIND_HARDWARE;
	return tsr_stage_default_one(n) ? TSR_STAGE_KIND_ONE : TSR_STAGE_KIND_ZERO;
}

/* Kinds of @w->count words from byte @address on, which is not aligned yet. */
static void find_words(const struct tsr_stage_block *b, int64_t address, struct words *w)
{
	address &= -alignment(w->count);
	w->first = address / 4;
	if (w->space == SPACE_PATCH)
		return;
	w->first &= TSR_STAGE_WORDS - 1;
	for (unsigned int i = 0; i < w->count; i++, address += 4)
		w->kind[i] = address < 0 || address >= TSR_STAGE_BYTES ?
				     TSR_STAGE_KIND_ZERO :
				     kind_of(b, w->space, (unsigned int)address / 4);
}

/* The words AL2P has said @index to be. False: it has not. */
static bool set_index(uint64_t index, struct words *w)
{
	struct tsr_stage_index i;

	tsr_unpack_stage_index(&index, &i);
	if (i.tag != TSR_STAGE_INDEX_TAG || i.output != (w->space == SPACE_OUT) ||
	    w->count > i.count + 1u)
		return false;
	w->first = i.word;
	w->kind[0] = i.kind_0;
	w->kind[1] = i.kind_1;
	w->kind[2] = i.kind_2;
	w->kind[3] = i.kind_3;
	/* no index of AL2P's has more words than there are */
	return w->first + w->count <= TSR_STAGE_WORDS;
}

/* ---- Stage words ----------------------------------------------------------------------------- */

/* The stage word of @lane. False: it is none for the shader's stage. */
static bool stage_word(const struct tsr_msg_env *env, const struct tsr_msg *msg, unsigned int lane,
		       struct tsr_stage_word *s)
{
	const bool patches = env->stage == TSR_STAGE_HULL || env->stage == TSR_STAGE_DOMAIN;
	uint64_t word = msg->src[2]->u[lane];

	tsr_unpack_stage_word(&word, s);
	if (word >= 1u << (TSR_STAGE_WORD_HANDLE__SHIFT + 1))
		return false;
	if ((s->patch && !patches) || (s->handle && env->stage == TSR_STAGE_VERTEX))
		return false;
	return s->immediate < TSR_STAGE_BYTES || (s->patch && s->indexed);
}

/* Vertex @handle of those a later stage reads. */
static unsigned int by_handle(const struct tsr_msg_env *env, uint64_t handle)
{
	return handle < env->vertices->group->in->vertices ? (unsigned int)handle :
							    TSR_STAGE_NO_SLOT;
}

/* Control point @n of the patch of @lane, as its hull shader makes it. */
static unsigned int own_point(const struct tsr_msg_env *env, unsigned int lane, uint64_t n)
{
	const struct tsr_stage_group *g = env->vertices->group;

	return n < g->points ? g->primitive[thread_of(env, lane)] * g->points + (unsigned int)n :
			       TSR_STAGE_NO_SLOT;
}

/* Whose words a load with @s is about. False: @s is none of the stage's. */
static bool find_loaded(const struct tsr_msg_env *env, const struct tsr_stage_word *s,
			uint32_t handle, unsigned int lane, struct words *w)
{
	w->slot = slot_of(env, lane);
	if (env->stage == TSR_STAGE_VERTEX)
		return true;
	if (s->patch)
		return env->stage == TSR_STAGE_HULL || !s->output;
	if (s->output && env->stage == TSR_STAGE_GEOMETRY)
		return false;
	if (!s->output) {
		w->slot = by_handle(env, handle);
		return s->handle;
	}
	if (s->handle)
		w->slot = own_point(env, lane, handle);
	return env->stage == TSR_STAGE_HULL || !s->handle;
}

/* The vertex that a thread of a geometry shader has not emitted yet. */
static unsigned int emitted(const struct tsr_msg_env *env, unsigned int lane)
{
	const struct tsr_emit *e = emit_of(env);
	const unsigned int vertex = e->emitted[thread_of(env, lane)];

	return vertex < e->most ? vertex : TSR_STAGE_NO_SLOT;
}

static bool find_stored(const struct tsr_msg_env *env, const struct tsr_stage_word *s,
			unsigned int lane, struct words *w)
{
	w->slot = emit_of(env) ? emitted(env, lane) : slot_of(env, lane);
	return s->output && !s->handle && (!s->patch || env->stage == TSR_STAGE_HULL);
}

/* Finds the words of @lane's ALD or AST. False if the access is not allowed. */
static bool find_access(const struct tsr_msg_env *env, const struct tsr_msg *msg,
			unsigned int lane, bool store, struct words *w)
{
	struct tsr_stage_word s;
	int64_t address;

	if (!stage_word(env, msg, lane, &s))
		return false;
	if (store ? !find_stored(env, &s, lane, w) :
		    !find_loaded(env, &s, msg->src[1]->u[lane], lane, w))
		return false;
	w->space = s.patch ? SPACE_PATCH : s.output ? SPACE_OUT : SPACE_IN;
	w->count = msg->insn->mod[TSR_MOD_VECSIZE] + 1;
	address = s.immediate;
	if (s.patch && s.indexed)
		address = (int32_t)msg->src[0]->u[lane] + ((int64_t)(s.immediate ^ 0x400) - 0x400);
	else if (s.indexed)
		return !s.immediate && set_index(msg->src[0]->u[lane], w);
	find_words(env->vertices->block, address, w);
	return true;
}

/* ---- Words that are loaded ------------------------------------------------------------------- */

/* The attribute a lane has loaded last. */
struct loaded {
	uint32_t index;
	bool there;			/* the rest holds */
	uint32_t word[4];
};

/* Word @n as the device makes it for the vertex of @lane of a vertex shader. */
static enum tsr_step of_vertex(struct tsr_msg_env *env, unsigned int lane, unsigned int n,
			       struct loaded *loaded, uint32_t *value)
{
	const unsigned int thread = thread_of(env, lane);
	const struct tsr_vertex_run *v = env->vertices;
	uint32_t index = (n - TSR_STAGE_GENERIC) / 4;
	enum tsr_step step = TSR_STEP_DONE;

	if (n == TSR_STAGE_INSTANCE_ID || n == TSR_STAGE_VERTEX_ID) {
		*value = n == TSR_STAGE_VERTEX_ID ? v->vertex[thread] : v->instance[thread];
		return TSR_STEP_DONE;
	}
	if (n < TSR_STAGE_GENERIC || n >= TSR_STAGE_GENERIC_END) {
		*value = TSR_STAGE_LEFTOVER;
		return TSR_STEP_DONE;
	}
	if (!loaded->there || loaded->index != index)
		step = tsr_attribute_fetch(env, lane, index, v->vertex[thread],
					   v->instance[thread], loaded->word);
	loaded->there = step == TSR_STEP_DONE;
	loaded->index = index;
	*value = loaded->word[n % 4];
	return step;
}

/* Word @n for a thread of a later stage, as the previous stage has written it. */
static uint32_t of_primitive(const struct tsr_msg_env *env, unsigned int lane, unsigned int n)
{
	const struct tsr_vertex_run *v = env->vertices;
	const unsigned int thread = thread_of(env, lane);
	const struct tsr_stage_group *g = v->group;
	const unsigned int slot = g->list->slot[g->primitive[thread]][0];
	const uint32_t *at = g->at[thread];
	uint32_t word = TSR_STAGE_LEFTOVER;
	float f;

	if (tsr_stage_has(&v->block->stored, n) && tsr_stage_has(&g->in->written[slot], n))
		return g->in->word[slot][n];
	if (n == TSR_STAGE_PRIMITIVE_ID)
		return v->vertex[thread];
	if (n == TSR_STAGE_DOMAIN_U || n == TSR_STAGE_DOMAIN_V) {
		f = (float)at[n == TSR_STAGE_DOMAIN_V] / TSR_TESS_ONE;
		memcpy(&word, &f, sizeof(word));
	}
	return word;
}

/* Word @n of @slot of @space, which is mapped and not the device's. */
static uint32_t stored(const struct tsr_msg_env *env, unsigned int lane, enum space space,
		       unsigned int slot, unsigned int n)
{
	struct tsr_stage_block *own = env->vertices->block;
	const struct tsr_emit *e = space == SPACE_OUT ? emit_of(env) : NULL;
	const struct tsr_stage_block *b = own;

	if (e) {
		const unsigned int place = tsr_emit_place(e, thread_of(env, lane), slot, n);

		if (tsr_emit_has(e, place))
			return e->word[place];
		b = NULL;
	}
	if (space == SPACE_IN) {
		b = env->vertices->group ? env->vertices->group->in : NULL;
		if (!b || slot >= b->vertices)
			b = NULL;
	}
	if (b && tsr_stage_has(&b->written[slot], n))
		return b->word[slot][n];
	own->unwritten++;
	return TSR_STAGE_LEFTOVER;
}

/* The word of patch space that is number @n, or NULL. */
static uint32_t *patch_word(const struct tsr_msg_env *env, unsigned int lane, int64_t n)
{
	const struct tsr_stage_group *g = env->vertices->group;

	if (n < 0 || n >= TSR_PATCH_FIRST + g->patch_words ||
	    (n >= TSR_PATCH_FACTORS && n < TSR_PATCH_FIRST))
		return NULL;
	return &g->patch[g->primitive[thread_of(env, lane)]].word[n];
}

/* Word @w->first + @i. */
static enum tsr_step load_word(struct tsr_msg_env *env, unsigned int lane, const struct words *w,
			       unsigned int i, struct loaded *loaded, uint32_t *value)
{
	const unsigned int n = (unsigned int)(w->first + i);
	const uint32_t *word;

	if (w->space == SPACE_PATCH) {
		word = patch_word(env, lane, w->first + i);
		*value = word ? *word : 0;
		return TSR_STEP_DONE;
	}
	switch (w->kind[i]) {
	case TSR_STAGE_KIND_HARDWARE:
		if (env->stage == TSR_STAGE_VERTEX)
			return of_vertex(env, lane, n, loaded, value);
		*value = of_primitive(env, lane, n);
		return TSR_STEP_DONE;
	case TSR_STAGE_KIND_STORED:
		*value = w->slot == TSR_STAGE_NO_SLOT ? 0 : stored(env, lane, w->space, w->slot, n);
		return TSR_STEP_DONE;
	default:
		*value = w->kind[i] == TSR_STAGE_KIND_ONE && w->slot != TSR_STAGE_NO_SLOT ?
				 0x3f800000 : 0;
		return TSR_STEP_DONE;
	}
}

/* A load by a handle that is none, at @va: whether that is a fault. */
static enum tsr_step check_handle(struct tsr_msg_env *env, const struct words *w, uint64_t va)
{
	const struct tsr_stage_group *g = env->vertices->group;

	if (!g || !g->trap || w->space == SPACE_PATCH || w->slot != TSR_STAGE_NO_SLOT)
		return TSR_STEP_DONE;
	return tsr_msg_fault(env, TSR_FAULT_SHADER_BOUNDS, va, TSR_ACCESS_READ);
}

static enum tsr_step load_lane(struct tsr_msg_env *env, struct tsr_msg *msg, unsigned int lane,
			       const void *arg)
{
	struct loaded loaded = { .there = false };
	uint32_t value[4] = { 0 };
	enum tsr_step step;
	struct words w;

	(void)arg;
	if (!find_access(env, msg, lane, false, &w))
		return encoding(env);
	step = check_handle(env, &w, 0);
	for (unsigned int i = 0; i < w.count && step == TSR_STEP_DONE; i++)
		step = load_word(env, lane, &w, i, &loaded, &value[i]);
	if (step != TSR_STEP_DONE)
		return step;
	for (unsigned int i = 0; i < w.count; i++)
		tsr_msg_staging(msg, i)->u[lane] = value[i];
	return TSR_STEP_DONE;
}

/* ---- Stores, indices ------------------------------------------------------------------------- */

static void store_word(struct tsr_msg_env *env, unsigned int lane, const struct words *w,
		       unsigned int i, uint32_t value)
{
	uint32_t *word;

	if (w->space == SPACE_PATCH) {
		word = patch_word(env, lane, w->first + i);
		if (word)
			*word = value;
	} else if (w->kind[i] != TSR_STAGE_KIND_STORED || w->slot == TSR_STAGE_NO_SLOT) {
		return;
	} else if (emit_of(env)) {
		tsr_emit_store(emit_of(env), tsr_emit_place(emit_of(env), thread_of(env, lane),
							    w->slot, (unsigned int)w->first + i),
			       value);
	} else {
		tsr_stage_store(env->vertices->block, w->slot, (unsigned int)w->first + i, value);
	}
}

static enum tsr_step store_lane(struct tsr_msg_env *env, struct tsr_msg *msg, unsigned int lane,
				const void *arg)
{
	struct words w;

	(void)arg;
	if (!find_access(env, msg, lane, true, &w))
		return encoding(env);
	for (unsigned int i = 0; i < w.count; i++)
		store_word(env, lane, &w, i, tsr_msg_staging(msg, i)->u[lane]);
	return TSR_STEP_DONE;
}

static enum tsr_step index_lane(struct tsr_msg_env *env, struct tsr_msg *msg, unsigned int lane,
				const void *arg)
{
	struct words w = { .count = msg->insn->mod[TSR_MOD_VECSIZE] + 1 };
	struct tsr_stage_index index = { .tag = TSR_STAGE_INDEX_TAG, .count = w.count - 1 };
	struct tsr_stage_word s;
	uint64_t word;

	(void)arg;
	if (!stage_word(env, msg, lane, &s) || s.patch)
		return encoding(env);
	w.space = s.output ? SPACE_OUT : SPACE_IN;
	index.output = s.output;
	find_words(env->vertices->block,
		   s.immediate + (s.indexed ? (int64_t)(int32_t)msg->src[0]->u[lane] : 0), &w);
	index.word = (uint8_t)w.first;
	index.kind_0 = w.kind[0];
	index.kind_1 = w.count > 1 ? w.kind[1] : 0;
	index.kind_2 = w.count > 2 ? w.kind[2] : 0;
	index.kind_3 = w.count > 3 ? w.kind[3] : 0;
	tsr_pack_stage_index(&word, &index);
	tsr_msg_staging(msg, 0)->u[lane] = word;
	return TSR_STEP_DONE;
}

/* ---- Vertices of geometry shaders ------------------------------------------------------------ */

static enum tsr_step emit_lane(struct tsr_msg_env *env, struct tsr_msg *msg, unsigned int lane,
			       const void *arg)
{
	(void)arg;
	tsr_emit_vertex(emit_of(env), thread_of(env, lane), msg->insn->mod[TSR_MOD_STREAM]);
	if (msg->insn->mod[TSR_MOD_CUT])
		tsr_emit_cut(emit_of(env), thread_of(env, lane));
	return TSR_STEP_DONE;
}

static enum tsr_step restart_lane(struct tsr_msg_env *env, struct tsr_msg *msg, unsigned int lane,
				  const void *arg)
{
	(void)msg;
	(void)arg;
	tsr_emit_cut(emit_of(env), thread_of(env, lane));
	return TSR_STEP_DONE;
}

enum tsr_step tsr_msg_stage(struct tsr_msg_env *env, struct tsr_msg *msg, unsigned int arg)
{
	static tsr_msg_lane_fn *const fn[] = {
		[TSR_MSG_STAGE_LOAD] = load_lane,
		[TSR_MSG_STAGE_STORE] = store_lane,
		[TSR_MSG_STAGE_INDEX] = index_lane,
		[TSR_MSG_STAGE_EMIT] = emit_lane,
		[TSR_MSG_STAGE_RESTART] = restart_lane,
	};
	const bool emits = arg >= TSR_MSG_STAGE_EMIT;

	if (env->stage < (emits ? TSR_STAGE_GEOMETRY : TSR_STAGE_VERTEX)) {
		msg->fault_lane = msg->lanes ? __builtin_ctz(msg->lanes) : 0;
		env->mem->unit = TSR_UNIT_SHADER;
		return tsr_msg_fault(env, TSR_FAULT_SHADER_UNSUPPORTED, 0, TSR_ACCESS_NONE);
	}
	return tsr_msg_each(env, msg, fn[arg], NULL);
}

/* ---- Bundles --------------------------------------------------------------------------------- */

/* Values that the lanes of consecutive warps share, from their stage word. */
struct common {
	bool known;			/* the rest holds, for @word */
	uint32_t word;
	struct tsr_stage_word s;
	struct words w;			/* without @slot */
	uint64_t stored;		/* bits of the words that are stored, of their map's part */
	bool all;			/* all of them are */
};

/* True if @lanes all have the same stage word, and what it is. */
static bool same_word(const union tsr_lanes *word, uint16_t lanes, uint32_t *same)
{
	uint32_t other = 0;

	*same = word->u[__builtin_ctz(lanes)];
	for (unsigned int lane = 0; lane < TSR_WARP_LANES; lane++)
		other |= (word->u[lane] ^ *same) & -(uint32_t)(lanes >> lane & 1);
	return !other;
}

/* Finds the words of accesses with stage word @word. False if the other function is needed. */
static bool find_common(const struct tsr_msg_env *env, const struct tsr_msg_bundle *b,
			uint32_t word, bool store, struct common *c)
{
	const uint64_t wide = word;

	if (c->known && c->word == word)
		return true;
	c->known = false;
	c->word = word;
	tsr_unpack_stage_word(&wide, &c->s);
	if (word >= 1u << (TSR_STAGE_WORD_HANDLE__SHIFT + 1) || c->s.patch || c->s.indexed ||
	    c->s.output != store || c->s.immediate >= TSR_STAGE_BYTES ||
	    c->s.handle == (store || env->stage == TSR_STAGE_VERTEX))
		return false;
	c->w.space = store ? SPACE_OUT : SPACE_IN;
	c->w.count = b->insn->mod[TSR_MOD_VECSIZE] + 1;
	find_words(env->vertices->block, c->s.immediate, &c->w);
	c->stored = 0;
	c->all = true;
	for (unsigned int i = 0; i < c->w.count; i++) {
		const bool stored = c->w.kind[i] == TSR_STAGE_KIND_STORED;

		if (!store && env->stage != TSR_STAGE_VERTEX &&
		    c->w.kind[i] == TSR_STAGE_KIND_HARDWARE)
			return false;
		c->stored |= (uint64_t)stored << ((c->w.first + i) % 64);
		c->all &= stored;
	}
	c->known = true;
	return true;
}

/* The words of @c, of the vertices that @handle names: those @block has. False: not all has. */
static bool load_vertices(const struct tsr_stage_block *block, const union tsr_lanes *handle,
			  uint16_t lanes, const struct common *c, union tsr_lanes *const to[4])
{
	const unsigned int first = (unsigned int)c->w.first;

	for (uint16_t left = lanes; left; left &= left - 1) {
		const uint32_t slot = handle->u[__builtin_ctz(left)];

		if (slot >= block->vertices || c->stored & ~block->written[slot].word[first / 64])
			return false;
	}
	for (uint16_t left = lanes; left; left &= left - 1) {
		const unsigned int lane = __builtin_ctz(left);
		const uint32_t *from = &block->word[handle->u[lane]][first];

		if (c->all && c->w.count == 4) {
			for (unsigned int i = 0; i < 4; i++)
				to[i]->u[lane] = from[i];
			continue;
		}
		for (unsigned int i = 0; i < c->w.count; i++)
			to[i]->u[lane] = c->w.kind[i] == TSR_STAGE_KIND_STORED ? from[i] :
					 c->w.kind[i] == TSR_STAGE_KIND_ONE ? 0x3f800000 : 0;
	}
	return true;
}

/* Warp @w stores to the block of its stage. */
static void store_vertices(struct tsr_stage_block *block, const uint16_t *slot, uint16_t lanes,
			   const struct common *c, const union tsr_lanes *const from[4])
{
	const unsigned int first = (unsigned int)c->w.first;

	for (; lanes; lanes &= lanes - 1) {
		const unsigned int lane = __builtin_ctz(lanes);
		uint32_t *to;

		if (slot[lane] == TSR_STAGE_NO_SLOT)
			continue;
		block->written[slot[lane]].word[first / 64] |= c->stored;
		to = &block->word[slot[lane]][first];
		if (c->all && c->w.count == 4) {
			for (unsigned int i = 0; i < 4; i++)
				to[i] = from[i]->u[lane];
			continue;
		}
		for (unsigned int i = 0; i < c->w.count; i++) {
			if (c->w.kind[i] == TSR_STAGE_KIND_STORED)
				to[i] = from[i]->u[lane];
		}
	}
}

/* Stores to vertices that the threads of a geometry shader emit; @thread is the first. */
static void store_emitted(struct tsr_emit *e, unsigned int thread, uint16_t lanes,
			  const struct common *c, const union tsr_lanes *const from[4])
{
	for (; lanes; lanes &= lanes - 1) {
		const unsigned int lane = __builtin_ctz(lanes), t = thread + lane;

		if (e->emitted[t] >= e->most)
			continue;
		if (c->all) {
			const unsigned int place = tsr_emit_place(e, t, e->emitted[t],
								  (unsigned int)c->w.first);
			const uint64_t bits = (1u << c->w.count) - 1;

			for (unsigned int i = 0; c->w.count == 4 && i < 4; i++)
				e->word[place + i] = from[i]->u[lane];
			for (unsigned int i = 0; c->w.count != 4 && i < c->w.count; i++)
				e->word[place + i] = from[i]->u[lane];
			e->written[place / 64] |= bits << place % 64;
			if (place % 64 + c->w.count > 64)
				e->written[place / 64 + 1] |= bits >> (64 - place % 64);
			continue;
		}
		for (unsigned int i = 0; i < c->w.count; i++) {
			if (c->w.kind[i] == TSR_STAGE_KIND_STORED)
				tsr_emit_store(e, tsr_emit_place(e, t, e->emitted[t],
								 (unsigned int)c->w.first + i),
					       from[i]->u[lane]);
		}
	}
}

/* Attributes: whole ones from their first component on, of vertex shaders. */
static unsigned int load_attributes(struct tsr_msg_env *env, const struct tsr_msg_bundle *b,
				    unsigned int first, const struct common *c)
{
	const unsigned int n = (unsigned int)c->w.first;

	for (unsigned int i = 0; i < c->w.count; i++) {
		if (c->w.kind[i] != TSR_STAGE_KIND_HARDWARE)
			return first;
	}
	if (n % 4 || n < TSR_STAGE_GENERIC || n >= TSR_STAGE_GENERIC_END)
		return first;
	return tsr_attributes_fetch(env, b, first, (n - TSR_STAGE_GENERIC) / 4, c->w.count);
}

/* The message of warp @w. False: it is left to the other function. */
static bool access_warp(struct tsr_msg_env *env, const struct tsr_msg_bundle *b, unsigned int w,
			bool store, const struct common *c)
{
	const struct tsr_vertex_run *v = env->vertices;
	union tsr_lanes *reg[4];

	for (unsigned int i = 0; i < c->w.count; i++)
		reg[i] = tsr_msg_bundle_staging(b, w, i);
	if (!store)
		return load_vertices(v->group->in, b->src[1] + w * b->src_step[1], b->lanes[w], c,
				     reg);
	if (env->stage == TSR_STAGE_GEOMETRY)
		store_emitted(v->group->emit, w * TSR_WARP_LANES, b->lanes[w], c,
			      (const union tsr_lanes *const *)reg);
	else
		store_vertices(v->block, &v->slot[w * TSR_WARP_LANES], b->lanes[w], c,
			       (const union tsr_lanes *const *)reg);
	return true;
}

static void emit_warp(struct tsr_emit *e, const struct tsr_insn *insn, unsigned int first,
		      uint16_t lanes)
{
	for (; lanes; lanes &= lanes - 1) {
		const unsigned int thread = first + (unsigned int)__builtin_ctz(lanes);

		tsr_emit_vertex(e, thread, insn->mod[TSR_MOD_STREAM]);
		if (insn->mod[TSR_MOD_CUT])
			tsr_emit_cut(e, thread);
	}
}

/* True if the lanes of the warps that begin with @b->warp[@at] all have the stage word of @c. */
static bool one_word(const struct tsr_msg_bundle *b, unsigned int at, const struct common *c)
{
	uint32_t word;

	for (; at < b->warps; at++) {
		const unsigned int w = b->warp[at];

		if (!same_word(b->src[2] + w * b->src_step[2], b->lanes[w], &word) ||
		    word != c->word)
			return false;
	}
	return true;
}

unsigned int tsr_msg_stage_together(struct tsr_msg_env *env, const struct tsr_msg_bundle *b,
				    unsigned int first, unsigned int arg)
{
	struct common c = { .known = false };
	const bool store = arg == TSR_MSG_STAGE_STORE;
	uint32_t word;

	if (env->stage < (arg == TSR_MSG_STAGE_EMIT ? TSR_STAGE_GEOMETRY : TSR_STAGE_VERTEX) ||
	    arg == TSR_MSG_STAGE_INDEX || arg == TSR_MSG_STAGE_RESTART)
		return first;
	for (; first < b->warps; first++) {
		const unsigned int w = b->warp[first];

		if (!b->lanes[w])
			return first;
		if (arg == TSR_MSG_STAGE_EMIT) {
			emit_warp(emit_of(env), b->insn, w * TSR_WARP_LANES, b->lanes[w]);
			continue;
		}
		if (!same_word(b->src[2] + w * b->src_step[2], b->lanes[w], &word) ||
		    !find_common(env, b, word, store, &c))
			return first;
		if (!store && env->stage == TSR_STAGE_VERTEX)
			return one_word(b, first, &c) ? load_attributes(env, b, first, &c) : first;
		if (!access_warp(env, b, w, store, &c))
			return first;
	}
	return first;
}

/* ---- Windows --------------------------------------------------------------------------------- */

bool tsr_stage_in_window(const struct tsr_msg_env *env, uint64_t va)
{
	switch (va >> TSR_WINDOW_SHIFT) {
	case TSR_WINDOW_STAGE_OUTPUT >> TSR_WINDOW_SHIFT:
		return env->stage >= TSR_STAGE_VERTEX;
	case TSR_WINDOW_STAGE_INPUT >> TSR_WINDOW_SHIFT:
	case TSR_WINDOW_STAGE_PRIMITIVE >> TSR_WINDOW_SHIFT:
		return env->stage > TSR_STAGE_VERTEX;
	case TSR_WINDOW_STAGE_PATCH >> TSR_WINDOW_SHIFT:
		return env->stage == TSR_STAGE_HULL || env->stage == TSR_STAGE_DOMAIN;
	case TSR_WINDOW_STAGE_CONTROL >> TSR_WINDOW_SHIFT:
		return env->stage == TSR_STAGE_GEOMETRY;
	default:
		return false;
	}
}

/* Whose words @va is about, of vertex @number of its window. False: there is none in the window. */
static bool find_window(const struct tsr_msg_env *env, unsigned int lane, uint64_t va,
			uint64_t number, struct words *w)
{
	const struct tsr_stage_group *g = env->vertices->group;
	const struct tsr_stage_list *list = g ? g->list : NULL;

	switch (va >> TSR_WINDOW_SHIFT) {
	case TSR_WINDOW_STAGE_OUTPUT >> TSR_WINDOW_SHIFT:
		w->space = SPACE_OUT;
		if (emit_of(env)) {
			w->slot = number < emit_of(env)->most ? (unsigned int)number :
								TSR_STAGE_NO_SLOT;
			return true;
		}
		w->slot = env->stage == TSR_STAGE_HULL ? own_point(env, lane, number) :
							 slot_of(env, lane);
		return env->stage == TSR_STAGE_HULL || !number;
	case TSR_WINDOW_STAGE_INPUT >> TSR_WINDOW_SHIFT:
		w->space = SPACE_IN;
		w->slot = by_handle(env, number);
		return true;
	case TSR_WINDOW_STAGE_PRIMITIVE >> TSR_WINDOW_SHIFT:
		w->space = SPACE_IN;
		w->slot = number < list->points ?
				  list->slot[g->primitive[thread_of(env, lane)]][number] :
				  TSR_STAGE_NO_SLOT;
		return true;
	default:
		w->space = SPACE_PATCH;
		w->slot = 0;
		return !number;
	}
}

/* The words of an access of @len bytes to a window. */
static enum tsr_step in_window(struct tsr_msg_env *env, unsigned int lane, uint64_t va,
			       unsigned int len, unsigned int access, struct words *w)
{
	const uint64_t at = va & ((1ull << TSR_WINDOW_SHIFT) - 1), byte = at % TSR_STAGE_BYTES;

	env->mem->unit = TSR_UNIT_STAGE;
	if (len > TSR_STAGE_BYTES - byte || !find_window(env, lane, va, at / TSR_STAGE_BYTES, w))
		return tsr_msg_fault(env, TSR_FAULT_SHADER_BOUNDS, va, access);
	if (at % 4 || len % 4)
		return tsr_msg_fault(env, TSR_FAULT_SHADER_ALIGNMENT, va, access);
	w->count = len / 4;
	w->first = (int64_t)byte / 4;
	for (unsigned int i = 0; i < w->count && w->space != SPACE_PATCH; i++)
		w->kind[i] = kind_of(env->vertices->block, w->space, (unsigned int)w->first + i);
	return TSR_STEP_DONE;
}

/* The n-th word of the window of control: of the thread, and of its vertex n - CONTROL_FLAGS. */
enum { CONTROL_EMIT, CONTROL_COUNT, CONTROL_FLAGS = 0x1000 / 4 };

/* A word of the window of control. */
static uint32_t read_control(const struct tsr_emit *e, unsigned int thread, unsigned int n)
{
	uint8_t flags;

	if (n == CONTROL_COUNT)
		return e->emitted[thread];
	if (n < CONTROL_FLAGS || n >= CONTROL_FLAGS + (unsigned int)e->most)
		return 0;
	flags = e->flags[thread * e->most + n - CONTROL_FLAGS];
	return (flags & TSR_EMIT_STREAM) |
	       (flags & TSR_EMIT_CUT ? TSR_STAGE_EMIT_CUT__MASK : 0);
}

static void write_control(struct tsr_emit *e, unsigned int thread, unsigned int n, uint64_t word)
{
	struct tsr_stage_emit emit;

	tsr_unpack_stage_emit(&word, &emit);
	if (n == CONTROL_EMIT && emit.vertex)
		tsr_emit_vertex(e, thread, emit.stream);
	if (n == CONTROL_EMIT && emit.cut)
		tsr_emit_cut(e, thread);
	if (n == CONTROL_COUNT)
		e->emitted[thread] = (uint16_t)(word < e->most ? word : e->most);
	if (n >= CONTROL_FLAGS && n < CONTROL_FLAGS + (unsigned int)e->most &&
	    e->streams >> emit.stream & 1)
		e->flags[thread * e->most + n - CONTROL_FLAGS] =
			(uint8_t)(emit.stream | (emit.cut ? TSR_EMIT_CUT : 0));
}

/* An access of @len bytes to the window of control. */
static enum tsr_step control(struct tsr_msg_env *env, unsigned int lane, uint64_t va,
			     uint32_t *value, void *to, unsigned int len, bool write)
{
	const uint64_t at = va & ((1ull << TSR_WINDOW_SHIFT) - 1);
	const unsigned int access = write ? TSR_ACCESS_WRITE : TSR_ACCESS_READ;
	const unsigned int thread = thread_of(env, lane);

	env->mem->unit = TSR_UNIT_STAGE;
	if (at % 4 || len % 4)
		return tsr_msg_fault(env, TSR_FAULT_SHADER_ALIGNMENT, va, access);
	if (at + len > 0x1000 + 4 * TSR_GEOMETRY_VERTICES_MAX)
		return tsr_msg_fault(env, TSR_FAULT_SHADER_BOUNDS, va, access);
	for (unsigned int i = 0; i < len / 4; i++) {
		if (write)
			write_control(emit_of(env), thread, (unsigned int)at / 4 + i, value[i]);
		else
			value[i] = read_control(emit_of(env), thread, (unsigned int)at / 4 + i);
	}
	if (!write)
		memcpy(to, value, len);
	return TSR_STEP_DONE;
}

enum tsr_step tsr_stage_window_read(struct tsr_msg_env *env, unsigned int lane, uint64_t va,
				    void *to, unsigned int len)
{
	struct loaded loaded = { .there = false };
	uint32_t value[WORDS_MAX];
	struct words w;
	enum tsr_step step;

	if (va >> TSR_WINDOW_SHIFT == TSR_WINDOW_STAGE_CONTROL >> TSR_WINDOW_SHIFT)
		return control(env, lane, va, value, to, len, false);
	step = in_window(env, lane, va, len, TSR_ACCESS_READ, &w);
	if (step == TSR_STEP_DONE)
		step = check_handle(env, &w, va);
	for (unsigned int i = 0; step == TSR_STEP_DONE && i < w.count; i++)
		step = load_word(env, lane, &w, i, &loaded, &value[i]);
	if (step == TSR_STEP_DONE)
		memcpy(to, value, len);
	return step;
}

enum tsr_step tsr_stage_window_write(struct tsr_msg_env *env, unsigned int lane, uint64_t va,
				     const void *from, unsigned int len)
{
	uint32_t value[WORDS_MAX];
	struct words w;
	enum tsr_step step;

	memcpy(value, from, len < sizeof(value) ? len : sizeof(value));
	if (va >> TSR_WINDOW_SHIFT == TSR_WINDOW_STAGE_CONTROL >> TSR_WINDOW_SHIFT)
		return control(env, lane, va, value, NULL, len, true);
	step = in_window(env, lane, va, len, TSR_ACCESS_WRITE, &w);
	if (step != TSR_STEP_DONE)
		return step;
	/* vertices that are read stay as they are, and so do control points of other threads */
	if (w.space == SPACE_IN || (w.space == SPACE_PATCH && env->stage != TSR_STAGE_HULL))
		return tsr_msg_fault(env, TSR_FAULT_MMU_UNMAPPED, va, TSR_ACCESS_WRITE);
	if (w.space == SPACE_OUT && !emit_of(env) && w.slot != slot_of(env, lane))
		return TSR_STEP_DONE;
	for (unsigned int i = 0; i < w.count; i++)
		store_word(env, lane, &w, i, value[i]);
	return TSR_STEP_DONE;
}
