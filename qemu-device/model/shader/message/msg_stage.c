/* SPDX-License-Identifier: MIT */
/*
 * Attribute spaces between stages: ALD, AST and AL2P, and the window of outputs.
 *
 * Only vertex shaders of draws with GEOMETRY have them: what they read is made by the device, what
 * they write goes to the block of their batch (stages.h), each thread to its own vertex.
 */
#include "binner/stages.h"
#include "msg.h"
#include "msg_attribute.h"
#include "shader/stage.h"

/* The words of a lane's message, wherever they are. */
struct words {
	bool output;			/* of which space */
	unsigned int count;
	unsigned int first;		/* number of the first */
	uint8_t kind[4];		/* enum tsr_stage_kind of each */
};

static enum tsr_step encoding(struct tsr_msg_env *env)
{
	return tsr_msg_fault(env, TSR_FAULT_SHADER_ENCODING, 0, TSR_ACCESS_NONE);
}

static unsigned int slot_of(const struct tsr_msg_env *env, unsigned int lane)
{
	return env->vertices->slot[env->warp * TSR_WARP_LANES + lane];
}

/* Bytes an access of @count words is aligned to. */
static int64_t alignment(unsigned int count)
{
	return count > 2 ? 16 : 4 * count;
}

/* What @w->count words of the space are from byte @address, not yet aligned, on. */
static void find_words(const struct tsr_stage_block *b, int64_t address, struct words *w)
{
	const struct tsr_stage_map *map = w->output ? &b->out : &b->in;

	address &= -alignment(w->count);
	w->first = address / 4 & (TSR_STAGE_WORDS - 1);
	for (unsigned int i = 0; i < w->count; i++, address += 4) {
		unsigned int n = address / 4;

		if (address < 0 || address >= TSR_STAGE_BYTES)
			w->kind[i] = TSR_STAGE_KIND_ZERO;
		else if (tsr_stage_has(map, n))
			w->kind[i] = w->output ? TSR_STAGE_KIND_STORED : TSR_STAGE_KIND_HARDWARE;
		else
			w->kind[i] = tsr_stage_default_one(n) ? TSR_STAGE_KIND_ONE :
								TSR_STAGE_KIND_ZERO;
	}
}

/* The words AL2P has said @index to be. False: it has not. */
static bool take_index(uint64_t index, struct words *w)
{
	struct tsr_stage_index i;

	tsr_unpack_stage_index(&index, &i);
	if (i.tag != TSR_STAGE_INDEX_TAG || i.output != w->output || w->count > i.count + 1u)
		return false;
	w->first = i.word;
	w->kind[0] = i.kind_0;
	w->kind[1] = i.kind_1;
	w->kind[2] = i.kind_2;
	w->kind[3] = i.kind_3;
	/* no index of AL2P's has more words than there are */
	return w->first + w->count <= TSR_STAGE_WORDS;
}

/* The stage word of @lane. False: it is none for a vertex shader. */
static bool stage_word(const struct tsr_msg *msg, unsigned int lane, struct tsr_stage_word *s)
{
	uint64_t word = msg->src[2]->u[lane];

	tsr_unpack_stage_word(&word, s);
	return word < 1u << (TSR_STAGE_WORD_HANDLE__SHIFT + 1) && !s->patch && !s->handle &&
	       s->immediate < TSR_STAGE_BYTES;
}

/* What @lane's ALD or AST is about. False: it is not to be. */
static bool find_access(const struct tsr_msg_env *env, const struct tsr_msg *msg,
			unsigned int lane, struct words *w)
{
	struct tsr_stage_word s;

	if (!stage_word(msg, lane, &s))
		return false;
	w->output = s.output;
	w->count = msg->insn->mod[TSR_MOD_VECSIZE] + 1;
	if (s.indexed)
		return !s.immediate && take_index(msg->src[0]->u[lane], w);
	find_words(env->vertices->block, s.immediate, w);
	return true;
}

/* ---- Loads ----------------------------------------------------------------------------------- */

/* The attribute a lane has loaded last. */
struct loaded {
	uint32_t index;
	bool there;			/* the rest holds */
	uint32_t word[4];
};

/* Word @n as the device makes it for the vertex of @lane. */
static enum tsr_step hardware(struct tsr_msg_env *env, unsigned int lane, unsigned int n,
			      struct loaded *loaded, uint32_t *value)
{
	const unsigned int thread = env->warp * TSR_WARP_LANES + lane;
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

static uint32_t stored(const struct tsr_msg_env *env, unsigned int lane, bool output,
		       unsigned int n)
{
	struct tsr_stage_block *b = env->vertices->block;
	const unsigned int slot = slot_of(env, lane);

	if (output && tsr_stage_has(&b->written[slot], n))
		return b->word[slot][n];
	b->unwritten++;
	return TSR_STAGE_LEFTOVER;
}

static enum tsr_step load_lane(struct tsr_msg_env *env, struct tsr_msg *msg, unsigned int lane,
			       const void *arg)
{
	struct loaded loaded = { .there = false };
	uint32_t value[4] = { 0 };
	struct words w;

	(void)arg;
	if (!find_access(env, msg, lane, &w))
		return encoding(env);
	for (unsigned int i = 0; i < w.count; i++) {
		enum tsr_step step = TSR_STEP_DONE;

		if (w.kind[i] == TSR_STAGE_KIND_HARDWARE)
			step = hardware(env, lane, w.first + i, &loaded, &value[i]);
		else if (w.kind[i] == TSR_STAGE_KIND_STORED)
			value[i] = stored(env, lane, w.output, w.first + i);
		else
			value[i] = w.kind[i] == TSR_STAGE_KIND_ONE ? 0x3f800000 : 0;
		if (step != TSR_STEP_DONE)
			return step;
	}
	for (unsigned int i = 0; i < w.count; i++)
		tsr_msg_staging(msg, i)->u[lane] = value[i];
	return TSR_STEP_DONE;
}

/* ---- Stores, indices ------------------------------------------------------------------------- */

static enum tsr_step store_lane(struct tsr_msg_env *env, struct tsr_msg *msg, unsigned int lane,
				const void *arg)
{
	struct words w;

	(void)arg;
	if (!find_access(env, msg, lane, &w) || !w.output)
		return encoding(env);
	for (unsigned int i = 0; i < w.count; i++) {
		if (w.kind[i] == TSR_STAGE_KIND_STORED)
			tsr_stage_store(env->vertices->block, slot_of(env, lane), w.first + i,
					tsr_msg_staging(msg, i)->u[lane]);
	}
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
	if (!stage_word(msg, lane, &s))
		return encoding(env);
	w.output = index.output = s.output;
	find_words(env->vertices->block,
		   s.immediate + (s.indexed ? (int64_t)(int32_t)msg->src[0]->u[lane] : 0), &w);
	index.word = w.first;
	index.kind_0 = w.kind[0];
	index.kind_1 = w.count > 1 ? w.kind[1] : 0;
	index.kind_2 = w.count > 2 ? w.kind[2] : 0;
	index.kind_3 = w.count > 3 ? w.kind[3] : 0;
	tsr_pack_stage_index(&word, &index);
	tsr_msg_staging(msg, 0)->u[lane] = word;
	return TSR_STEP_DONE;
}

enum tsr_step tsr_msg_stage(struct tsr_msg_env *env, struct tsr_msg *msg, unsigned int arg)
{
	static tsr_msg_lane_fn *const fn[] = {
		[TSR_MSG_STAGE_LOAD] = load_lane,
		[TSR_MSG_STAGE_STORE] = store_lane,
		[TSR_MSG_STAGE_INDEX] = index_lane,
	};

	if (env->stage != TSR_STAGE_VERTEX) {
		msg->fault_lane = msg->lanes ? __builtin_ctz(msg->lanes) : 0;
		env->mem->unit = TSR_UNIT_SHADER;
		return tsr_msg_fault(env, TSR_FAULT_SHADER_UNSUPPORTED, 0, TSR_ACCESS_NONE);
	}
	return tsr_msg_each(env, msg, fn[arg], NULL);
}

/* ---- The window ------------------------------------------------------------------------------ */

/* Number of the first word of an access of @len bytes to the window. */
static enum tsr_step in_window(struct tsr_msg_env *env, uint64_t va, unsigned int len,
			       unsigned int access, unsigned int *n)
{
	uint64_t at = va - TSR_WINDOW_STAGE_OUTPUT;

	*n = at / 4;
	env->mem->unit = TSR_UNIT_STAGE;
	if (at > TSR_STAGE_BYTES || len > TSR_STAGE_BYTES - at)
		return tsr_msg_fault(env, TSR_FAULT_SHADER_BOUNDS, va, access);
	if (at % 4 || len % 4)
		return tsr_msg_fault(env, TSR_FAULT_SHADER_ALIGNMENT, va, access);
	return TSR_STEP_DONE;
}

enum tsr_step tsr_stage_window_read(struct tsr_msg_env *env, unsigned int lane, uint64_t va,
				    void *to, unsigned int len)
{
	const struct tsr_stage_block *b = env->vertices->block;
	unsigned int n;
	enum tsr_step step = in_window(env, va, len, TSR_ACCESS_READ, &n);

	if (step != TSR_STEP_DONE)
		return step;
	for (unsigned int i = 0; i < len / 4; i++, n++) {
		uint32_t word = tsr_stage_has(&b->out, n) ? stored(env, lane, true, n) :
							    tsr_stage_default(n);

		memcpy((uint8_t *)to + 4 * i, &word, sizeof(word));
	}
	return TSR_STEP_DONE;
}

enum tsr_step tsr_stage_window_write(struct tsr_msg_env *env, unsigned int lane, uint64_t va,
				     const void *from, unsigned int len)
{
	struct tsr_stage_block *b = env->vertices->block;
	unsigned int n;
	enum tsr_step step = in_window(env, va, len, TSR_ACCESS_WRITE, &n);

	if (step != TSR_STEP_DONE)
		return step;
	for (unsigned int i = 0; i < len / 4; i++, n++) {
		uint32_t word;

		memcpy(&word, (const uint8_t *)from + 4 * i, sizeof(word));
		if (tsr_stage_has(&b->out, n))
			tsr_stage_store(b, slot_of(env, lane), n, word);
	}
	return TSR_STEP_DONE;
}
