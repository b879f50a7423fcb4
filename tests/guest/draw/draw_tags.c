// SPDX-License-Identifier: MIT
/* test: TIMEOUT=300 */
/*
 * Targets with tags, next to plain ones that are drawn alike: whoever reads or writes them, by
 * whatever way, finds the same texels. Nobody asks for anything to be expanded.
 */
#include "gfxdraw.h"
#include "tsr_regs.h"

#define WIDTH	64u
#define HEIGHT	44u		/* the last blocks lie half outside */
#define TEXELS	(WIDTH * HEIGHT)
#define PASSES	8

/* Tags that are in the memory of an image, bit for bit; a guest cannot see them. */
#ifndef TAGS_SEEN
#define TAGS_SEEN(image) (~0u)
#define TAGS_ARE_SEEN 0
/* Treat an image as on a device whose textures know no tags; false: a guest cannot. */
#define WITHOUT_TAGGED(image) ((void)(image), false)
#endif

static struct gfxt t;
static struct tsr_gfx_pipeline *draws, *fetches[3], *loads;	/* the third is of a cube */
static struct tsr_gfx_pipeline *view_loads, *view_stores;
static struct tsr_queue *copies;
static const float black[4];

/* A picture in color and depth, with or without tags. */
struct picture {
	struct tsr_image *image[2];
};

/* Submitted passes. The test waits for them at its end. */
static struct tsr_gfx_pass *submitted[PASSES];
static unsigned int submitted_count;

static void submit(struct tsr_gfx_pass *pass)
{
	if (!ktap_eq(tsr_gfx_submit(pass, NULL, 0, NULL, 0), 0))
		ktap_note("%s", tsr_error_message());
	submitted[submitted_count++] = pass;
}

static void finish(void)
{
	for (unsigned int i = 0; i < submitted_count; i++) {
		ktap_eq(gfxt_wait(submitted[i]), 0);
		tsr_gfx_pass_destroy(submitted[i]);
	}
	submitted_count = 0;
}

/* ---- Programs -------------------------------------------------------------------------------- */

static struct tsr_shader *fragment;
static uint32_t registers, flags;
static bool tests_depth;

static void change(struct tsr_gfx_pipeline_info *info, struct tsr_gfx_blend *blend)
{
	blend->registers = registers;
	info->fragment = fragment;
	info->fragment_flags = flags;
	info->depth.test = info->depth.write = tests_depth;
	info->depth.function = TSR_COMPARE_FUNCTION_ALWAYS;
}

#define END	GFX_ATEST("r60") GFX_BLEND
#define WORDS \
	"clause {\n*MOV.i32 r0, u0.w0\n+MOV.i32 r1, u0.w1\n*NOP\n+NOP\n}\n"

static struct tsr_gfx_pipeline *make(const char *text)
{
	struct tsr_gfx_pipeline *p;

	fragment = text ? gfxt_program(&t, text) : t.color;
	registers = text ? TSR_REGISTER_TYPE_U32 : TSR_REGISTER_TYPE_F32;
	tests_depth = !text;
	p = gfxt_pipeline(&t, change);
	if (text)
		tsr_shader_unref(fragment);
	return p;
}

/* Texels as textures of one sample or more give them, and as they lie at an address. */
static void make_programs(void)
{
	char text[1000];

	draws = make(NULL);
	for (int n = 0; n < 3; n++) {
		const uint32_t word =
			TSR_TEXTURE_OPERATION_FETCH << 12 | 1u << 11 | (uint32_t)(n & 1) << 15 |
			(uint32_t)(n == 2 ? TSR_TEXTURE_DIMENSION_CUBE :
					    TSR_TEXTURE_DIMENSION_2D) << 18 |
			(uint32_t)TSR_TEXTURE_FETCH_TEXEL << 20 |
			(uint32_t)TSR_TEXTURE_RESULT_U32 << 24 | 15u << 28;

		snprintf(text, sizeof(text), GFX_PLACE WORDS
			 "clause message=tex slot=0 wait=0,6 {\n*NOP\n"
			 "+TEXC.skip r8, r9, 0x%x, @r0\n}\n" END, word);
		fetches[n] = make(text);
	}
	view_loads = make("clause slot=0 wait=0,6 {\n*NOP\n"
			  "+LD_ATTR_TEX.u32.v4 r59, zero.w0, zero.w1, @r0\n}\n" END);
	flags = TSR_GFX_FRAGMENT_SIDE_EFFECTS;
	view_stores = make("clause slot=0 wait=0,6 {\n*MOV.i32 r0, u0.w0\n+NOP\n"
			   "*DTSEL_IMM.attribute_1 t0, #0\n"
			   "+LEA_ATTR_TEX.u32 r59, zero.w0, zero.w1, @r4\n}\n"
			   "clause slot=0 wait=0 {\n*NOP\n+ST_CVT.v4 r4, r5, r6, @r0\n}\n" END);
	flags = 0;
	loads = make(GFX_PLACE
		     "clause {\n*LSHIFT_OR.i32 r8:t0, r9, r8, 0x6\n+NOP\n*NOP\n+NOP\n}\n"
		     "clause message=load slot=0 {\n"
		     "*SHADDXL.u32 t0, u0.w0, r8, shift:2\n+SHADDXH.i32 t1, u0.w1, t\n"
		     "*NOP\n+LOAD.i32 t0, t1, @r0\n}\n"
		     "clause wait=0,6 {\n*NOP\n+NOP\n}\n" END);
}

/* ---- Drawing --------------------------------------------------------------------------------- */

static struct picture make_picture(uint32_t samples, uint32_t image_flags)
{
	struct picture p = { { NULL } };

	for (int i = 0; i < 2; i++) {
		const struct tsr_image_info info = {
			.format = i ? TSR_PIXEL_FORMAT_R32F : TSR_PIXEL_FORMAT_RGBA8_UNORM,
			.width = WIDTH, .height = HEIGHT, .samples = samples,
			.flags = image_flags,
		};

		ktap_eq(tsr_image_create(t.vm, &info, sizeof(info), &p.image[i]), 0);
	}
	return p;
}

static void drop(struct picture *p)
{
	tsr_image_unref(p->image[0]);
	tsr_image_unref(p->image[1]);
}

/* A triangle whose depth is a slope. */
static void slope(struct tsr_gfx_pass *pass, float size)
{
	struct gfxt_vertex v[3];

	for (int i = 0; i < 3; i++)
		v[i] = (struct gfxt_vertex) {
			{ -1 + (i == 1 ? size : 0), -1 + (i == 2 ? size : 0),
			  0.25f + 0.125f * (float)i, 1 }, { 1, (float)i / 2, 0, 1 },
		};
	gfxt_plain(&t, pass, draws, v, 3);
}

/* A pass of @gfx that draws a triangle of @size on what @load makes of it. */
static struct tsr_gfx_pass *record(struct tsr_gfx *gfx, const struct picture *p, uint32_t load,
				   float clear, float size)
{
	const struct tsr_gfx_pass_info info = {
		.color[0] = { .image = p->image[0], .load = load,
			       .clear.f = { clear, 0.5f, 0.75f, 1 } },
		.depth = { .image = p->image[1], .load = load, .clear.f[0] = clear },
	};
	struct tsr_gfx_pass *pass = NULL;

	if (!ktap_eq(tsr_gfx_pass_create(gfx, &info, sizeof(info), &pass), 0)) {
		ktap_note("%s", tsr_error_message());
		exit(ktap_finish());
	}
	slope(pass, size);
	return pass;
}

static void draw(const struct picture *p, uint32_t load, float clear, float size)
{
	submit(record(t.gfx, p, load, clear, size));
}

/* ---- Readers: a sample of an image, texel by texel --------------------------------------------*/

typedef void reader(struct tsr_image *image, uint32_t sample, uint32_t *texels);

/* Reads back what the program @p draws on a triangle of @size. */
static void by_part(struct tsr_gfx_pipeline *p, const struct tsr_gfx_bindings_info *bindings,
		    const uint32_t words[2], float size, uint32_t *texels)
{
	const struct tsr_image_info info = {
		.format = TSR_PIXEL_FORMAT_R32UI, .width = WIDTH, .height = HEIGHT,
	};
	struct tsr_image *target = NULL;
	struct tsr_gfx_pass *pass;
	struct gfxt_vertex v[3];

	ktap_eq(tsr_image_create(t.vm, &info, sizeof(info), &target), 0);
	pass = gfxt_one(&t, target, black);
	ktap_eq(tsr_gfx_set_bindings(pass, TSR_GFX_STAGE_FRAGMENT, bindings, sizeof(*bindings)), 0);
	ktap_eq(tsr_gfx_set_push(pass, TSR_GFX_STAGE_FRAGMENT, 0, 2, words), 0);
	gfxt_cover(v, 0, black);
	for (int i = 0; i < 3; i++)
		for (int d = 0; d < 2; d++)
			v[i].position[d] = (v[i].position[d] + 1) * size - 1;
	gfxt_plain(&t, pass, p, v, 3);
	submit(pass);
	finish();
	gfxt_read(target, 0, 0, texels, 4 * WIDTH);
	tsr_image_unref(target);
}

static void by_pass(struct tsr_gfx_pipeline *p, const struct tsr_gfx_bindings_info *bindings,
		    const uint32_t words[2], uint32_t *texels)
{
	by_part(p, bindings, words, 1, texels);
}

static uint32_t samples_of(const struct tsr_image *image)
{
	struct tsr_image_info info;

	tsr_image_get_info(image, &info, sizeof(info));
	return info.samples;
}

/* After what was submitted, without a wait of the CPU. */
static void by_texture(struct tsr_image *image, uint32_t sample, uint32_t *texels)
{
	const struct tsr_view view = { .image = image, .format = TSR_PIXEL_FORMAT_R32UI };
	const struct tsr_gfx_bindings_info bindings = { .textures = &view, .texture_count = 1 };
	const uint32_t words[2] = { 0, sample << 24 };

	by_pass(fetches[samples_of(image) > 1], &bindings, words, texels);
}

/* Loads by a program, through a view. Images with several samples are read as textures. */
static void by_view(struct tsr_image *image, uint32_t sample, uint32_t *texels)
{
	const struct tsr_view view = { .image = image, .format = TSR_PIXEL_FORMAT_R32UI,
				       .access = TSR_SHADER_READ };
	const struct tsr_gfx_bindings_info bindings = { .views = &view, .view_count = 1 };

	if (samples_of(image) > 1)
		by_texture(image, sample, texels);
	else
		by_pass(view_loads, &bindings, (const uint32_t[]){ 0, 0 }, texels);
}

static uint64_t address_of(struct tsr_image *image, uint32_t sample, struct tsr_surface *surface)
{
	if (!ktap_eq(tsr_image_get_surface(image, 0, 0, sample, surface, NULL), 0))
		ktap_note("%s", tsr_error_message());
	ktap_eq(surface->pitch, 4 * WIDTH);
	return surface->va;
}

static void by_load(struct tsr_image *image, uint32_t sample, uint32_t *texels)
{
	const struct tsr_gfx_bindings_info none = { .texture_count = 0 };
	struct tsr_surface surface;
	uint64_t va = address_of(image, sample, &surface);

	by_pass(loads, &none, (const uint32_t[]){ (uint32_t)va, (uint32_t)(va >> 32) }, texels);
}

/* Record a copy of the image's bytes from or to @memory: by its address, which is requested. */
static void record_linear(struct tsr_stream *stream, struct tsr_image *image, uint32_t sample,
			  uint64_t memory, bool in)
{
	struct tsr_surface surface;
	const uint64_t va = address_of(image, sample, &surface);

	ktap_eq(tsr_cmd_copy(stream, in ? va : memory, in ? memory : va, 4 * TEXELS), 0);
}

/* The first @rows rows of texels, as a surface of its own kind. */
static void record_rect(struct tsr_stream *stream, struct tsr_image *image, uint32_t sample,
			uint64_t memory, bool in, uint32_t rows)
{
	const struct tsr_rect rect = { .width = WIDTH, .height = rows };
	struct tsr_surface plain, surface;

	ktap_eq(tsr_surface_init(&plain, TSR_LAYOUT_LINEAR, WIDTH, HEIGHT, 4, 0), 0);
	plain.va = memory;
	if (!ktap_eq(tsr_image_get_copy_surface(image, 0, 0, sample, in, &surface), 0))
		ktap_note("%s", tsr_error_message());
	ktap_eq(tsr_cmd_copy_image(stream, in ? &surface : &plain, 0, 0, in ? &plain : &surface,
				   &rect, 0), 0);
}

/* Between an image and memory, by the copy engine: all bytes (@rows is 0), or so many rows. */
static void copy(struct tsr_image *image, uint32_t sample, uint32_t *texels, bool in, uint32_t rows)
{
	struct tsr_stream *stream = NULL;
	struct tsr_alloc memory = { 0 };
	struct tsr_sync *done = NULL;

	finish();
	ktap_eq(tsr_pool_alloc(t.data, 4 * TEXELS, 64, &memory), 0);
	if (in)
		memcpy(memory.cpu, texels, 4 * TEXELS);
	ktap_eq(tsr_stream_create(t.code, 0, &stream), 0);
	if (rows)
		record_rect(stream, image, sample, memory.va, in, rows);
	else
		record_linear(stream, image, sample, memory.va, in);
	ktap_eq(tsr_sync_create(t.device, 0, &done), 0);
	ktap_eq(tsr_queue_run(copies, stream, done, 0), 0);
	ktap_eq(tsr_sync_finish(done, 0, TSR_DEADLINE_NEVER), 0);
	if (!in)
		memcpy(texels, memory.cpu, 4 * TEXELS);
	tsr_sync_unref(done);
	tsr_stream_destroy(stream);
	tsr_pool_free(t.data, &memory);
}

static void by_copy(struct tsr_image *image, uint32_t sample, uint32_t *texels)
{
	copy(image, sample, texels, false, HEIGHT);
}

static void by_bytes(struct tsr_image *image, uint32_t sample, uint32_t *texels)
{
	copy(image, sample, texels, false, 0);
}

static void by_map(struct tsr_image *image, uint32_t sample, uint32_t *texels)
{
	struct tsr_surface surface;
	void *cpu;

	finish();
	ktap_eq(tsr_image_get_surface(image, 0, 0, sample, &surface, &cpu), 0);
	memcpy(texels, cpu, 4 * TEXELS);
}

static void by_read(struct tsr_image *image, uint32_t sample, uint32_t *texels)
{
	if (sample) {
		by_map(image, sample, texels);
		return;
	}
	finish();
	gfxt_read(image, 0, 0, texels, 4 * WIDTH);
}

/* The first three use tags, the others addresses. */
static reader *const readers[] = { by_texture, by_view, by_copy, by_load, by_bytes, by_map,
				   by_read };
static const char *const reader_names[] = { "texture", "view", "copy", "load", "bytes", "map",
					    "read" };

/* Both images have the same texels in each sample, whoever reads them. */
static void same(struct tsr_image *a, struct tsr_image *b, reader *read, const char *what)
{
	static uint32_t texels[2][TEXELS];

	for (uint32_t s = 0; s < samples_of(a); s++) {
		read(a, s, texels[0]);
		read(b, s, texels[1]);
		if (!ktap_mem_eq(texels[1], texels[0], sizeof(texels[0])))
			ktap_note("%s, sample %u", what, s);
	}
}

static void same_pictures(const struct picture *a, const struct picture *b, reader *read,
			  const char *what)
{
	for (int i = 0; i < 2; i++)
		same(a->image[i], b->image[i], read, what);
	finish();
}

/* The first row of blocks of a sample, by the copy engine: @texels[0] to all of its texels. */
static void fill(struct tsr_image *image, uint32_t sample, const uint32_t *texels)
{
	const struct tsr_rect rect = { .width = WIDTH, .height = 8 };
	struct tsr_stream *stream = NULL;
	struct tsr_sync *done = NULL;
	struct tsr_surface surface;

	finish();
	ktap_eq(tsr_stream_create(t.code, 0, &stream), 0);
	ktap_eq(tsr_image_get_copy_surface(image, 0, 0, sample, true, &surface), 0);
	ktap_eq(tsr_cmd_fill_image(stream, &surface, &rect, texels), 0);
	ktap_eq(tsr_sync_create(t.device, 0, &done), 0);
	ktap_eq(tsr_queue_run(copies, stream, done, 0), 0);
	ktap_eq(tsr_sync_finish(done, 0, TSR_DEADLINE_NEVER), 0);
	tsr_sync_unref(done);
	tsr_stream_destroy(stream);
}

/* ---- What is tested -------------------------------------------------------------------------- */

#define CLEAR	(1u << TSR_TARGET_TAG_CLEAR)

/* A picture has tags of every kind it can have; only RAW after readers of addresses. */
static void one_reader(uint32_t samples, unsigned int n)
{
	const bool expands = n > 2;
	struct picture plain = make_picture(samples, 0);
	struct picture tagged = make_picture(samples, TSR_IMAGE_COMPRESSED);

	draw(&plain, TSR_GFX_LOAD_CLEAR, 0.25f, 1.5f);
	draw(&tagged, TSR_GFX_LOAD_CLEAR, 0.25f, 1.5f);
	if (TAGS_ARE_SEEN) {
		const uint32_t some = samples > 1 ? 1u << TSR_TARGET_TAG_UNIFORM : 1;
		const uint32_t planes = 1u << TSR_TARGET_TAG_PLANES;

		finish();
		ktap_eq(TAGS_SEEN(tagged.image[0]) & (CLEAR | some), CLEAR | some);
		ktap_eq(TAGS_SEEN(tagged.image[1]) & (CLEAR | planes), CLEAR | planes);
	}
	same_pictures(&plain, &tagged, readers[n], reader_names[n]);
	for (int i = 0; i < 2 && TAGS_ARE_SEEN; i++)
		ktap_eq(TAGS_SEEN(tagged.image[i]) & (expands ? ~0u : CLEAR), expands ? 1 : CLEAR);
	/* draw again on the pictures that were read */
	draw(&plain, TSR_GFX_LOAD_CONTENT, 1, 0.75f);
	draw(&tagged, TSR_GFX_LOAD_CONTENT, 1, 0.75f);
	same_pictures(&plain, &tagged, readers[n], reader_names[n]);
	drop(&plain);
	drop(&tagged);
}

/* Textures and views of a device without the feature: the library expands the picture. */
static void without_feature(unsigned int n)
{
	struct picture plain = make_picture(1, 0), tagged = make_picture(1, TSR_IMAGE_COMPRESSED);
	bool expands = true;

	for (int i = 0; i < 2; i++)
		expands = WITHOUT_TAGGED(tagged.image[i]) && expands;
	draw(&plain, TSR_GFX_LOAD_CLEAR, 0.25f, 1.5f);
	draw(&tagged, TSR_GFX_LOAD_CLEAR, 0.25f, 1.5f);
	same_pictures(&plain, &tagged, readers[n], reader_names[n]);
	for (int i = 0; i < 2 && expands; i++)
		ktap_eq(TAGS_SEEN(tagged.image[i]), 1);
	drop(&plain);
	drop(&tagged);
}

static void reading(void)
{
	for (unsigned int n = 0; n < sizeof(readers) / sizeof(readers[0]); n++) {
		without_feature(n);
		one_reader(1, n);
		one_reader(4, n);
	}
}

enum writer { BY_CPU, BY_BYTES, BY_COPY, BY_FILL, WRITERS };

/* All texels of sample @sample but, by the last two, those below the first row of blocks. */
static void write_texels(enum writer by, struct tsr_image *image, uint32_t sample,
			 uint32_t *texels)
{
	if (by == BY_CPU)
		ktap_eq(tsr_image_write(image, 0, 0, texels, 4 * WIDTH), 0);
	else if (by == BY_FILL)
		fill(image, sample, texels);
	else
		copy(image, sample, texels, true, by == BY_COPY ? 8 : 0);
}

/*
 * Written by the CPU or the copy engine, in place of what was compressed; then drawn on. A copy
 * that names the surface takes the tags of the blocks that it writes to, and no others.
 */
static void one_writer(uint32_t samples, enum writer by)
{
	static const char *const names[] = { "CPU", "bytes", "copy", "fill" };
	const bool in_part = samples == 1 && by >= BY_COPY;
	struct picture p[2] = { make_picture(samples, 0),
				make_picture(samples, TSR_IMAGE_COMPRESSED) };
	static uint32_t texels[TEXELS];

	for (unsigned int n = 0; n < TEXELS; n++)
		texels[n] = gfxt_random(1u << 30);
	for (int i = 0; i < 2; i++) {
		draw(&p[i], TSR_GFX_LOAD_CLEAR, 0.25f, 1.5f);
		finish();
		write_texels(by, p[i].image[0], samples - 1, texels);
		if (TAGS_ARE_SEEN && i)
			ktap_eq(TAGS_SEEN(p[i].image[0]) & (in_part ? CLEAR | 1 : ~0u),
				in_part ? CLEAR | 1 : 1);
		draw(&p[i], TSR_GFX_LOAD_CONTENT, 0, 0.75f);
		finish();
	}
	same_pictures(&p[0], &p[1], by_read, names[by]);
	drop(&p[0]);
	drop(&p[1]);
}

/* Stored by a program in a part of the picture: only its blocks lose their tags. */
static void view_writer(void)
{
	struct picture p[2] = { make_picture(1, 0), make_picture(1, TSR_IMAGE_COMPRESSED) };
	static uint32_t texels[TEXELS];

	for (int i = 0; i < 2; i++) {
		draw(&p[i], TSR_GFX_LOAD_CLEAR, 0.25f, 1.5f);
		for (int n = 0; n < 2; n++) {
			const struct tsr_view view = {
				.image = p[i].image[n], .format = TSR_PIXEL_FORMAT_R32UI,
				.access = TSR_SHADER_WRITE,
			};
			const struct tsr_gfx_bindings_info bindings =
				{ .views = &view, .view_count = 1 };

			by_part(view_stores, &bindings, (const uint32_t[]){ 0x3f123456, 0 }, 0.2f,
				texels);
			if (TAGS_ARE_SEEN && i)
				ktap_eq(TAGS_SEEN(p[i].image[n]) & (CLEAR | 1), CLEAR | 1);
		}
	}
	same_pictures(&p[0], &p[1], by_texture, "stores, texture");
	by_texture(p[1].image[0], 0, texels);
	ktap_eq(texels[0], 0x3f123456);
	for (int i = 0; i < 2; i++)
		draw(&p[i], TSR_GFX_LOAD_CONTENT, 0, 0.75f);
	finish();
	same_pictures(&p[0], &p[1], by_read, "stores");
	drop(&p[0]);
	drop(&p[1]);
}

static void writing(void)
{
	view_writer();
	for (enum writer by = BY_CPU; by < WRITERS; by++) {
		one_writer(1, by);
		one_writer(4, by);
	}
}

/* Passes that load have clear values, contexts and layers of their own. */
static void other_passes(void)
{
	struct picture p[2] = { make_picture(1, 0), make_picture(1, TSR_IMAGE_COMPRESSED) };
	struct tsr_gfx *other = NULL;

	ktap_eq(tsr_gfx_create(t.vm, &other), 0);
	for (int i = 0; i < 2; i++) {
		draw(&p[i], TSR_GFX_LOAD_CLEAR, 0.25f, 1.5f);
		draw(&p[i], TSR_GFX_LOAD_CONTENT, 0.5f, 0.75f);
		finish();
	}
	if (TAGS_ARE_SEEN)
		ktap_ok(TAGS_SEEN(p[1].image[0]) & CLEAR);
	same_pictures(&p[0], &p[1], by_read, "another clear value");
	for (int i = 0; i < 2; i++) {
		draw(&p[i], TSR_GFX_LOAD_CLEAR, 0.75f, 1.5f);
		finish();
		submit(record(other, &p[i], TSR_GFX_LOAD_CONTENT, 0.5f, 0.75f));
		finish();
		draw(&p[i], TSR_GFX_LOAD_CONTENT, 1, 0.25f);
	}
	same_pictures(&p[0], &p[1], by_read, "another context");
	drop(&p[0]);
	drop(&p[1]);
	tsr_gfx_unref(other);
}

/* The value of a clear block depends on the target: depth as color, a format as another. */
static void as_others(bool depth, uint32_t stored, uint32_t loaded, uint32_t texel)
{
	struct tsr_image *image[2] = { NULL };
	static uint32_t texels[2][TEXELS];

	for (int i = 0; i < 2; i++) {
		const struct tsr_image_info info = {
			.format = stored, .width = WIDTH, .height = HEIGHT,
			.flags = i ? TSR_IMAGE_COMPRESSED : 0,
		};
		struct tsr_gfx_pass_info pass = { .width = 0 };
		struct tsr_gfx_pass *first;

		ktap_eq(tsr_image_create(t.vm, &info, sizeof(info), &image[i]), 0);
		*(depth ? &pass.depth : &pass.color[0]) = (struct tsr_gfx_target) {
			.image = image[i], .load = TSR_GFX_LOAD_CLEAR, .clear.f[0] = 0.25f };
		first = gfxt_begin(&t, &pass);
		if (depth)
			slope(first, 1.5f);
		submit(first);
		pass.depth.image = NULL;
		pass.color[0] = (struct tsr_gfx_target) {
			.image = image[i], .load = TSR_GFX_LOAD_CONTENT, .format = loaded };
		submit(gfxt_begin(&t, &pass));
		finish();
		gfxt_read(image[i], 0, 0, texels[i], 4 * WIDTH);
	}
	ktap_eq(texels[0][TEXELS - 1], texel);
	ktap_mem_eq(texels[1], texels[0], sizeof(texels[0]));
	tsr_image_unref(image[0]);
	tsr_image_unref(image[1]);
}

/* Texels of one layer, or face, by textures whose tags do not begin with the image's. */
static void of_layer(struct tsr_image *image, bool cube, uint32_t layer, uint32_t *texels)
{
	const struct tsr_view view = {
		.image = image, .format = TSR_PIXEL_FORMAT_R32UI,
		.dimension = cube ? TSR_VIEW_CUBE : TSR_VIEW_2D,
		.first_layer = cube ? 0 : layer, .layers = cube ? 6 : 1,
	};
	const struct tsr_gfx_bindings_info bindings = { .textures = &view, .texture_count = 1 };
	const uint32_t words[2] = { cube ? layer << 16 : 0, 0 };

	by_pass(fetches[cube ? 2 : 0], &bindings, words, texels);
}

/* Only the first of six layers has been drawn. Textures of any dimension use its tags. */
static void layered(bool cube)
{
	const struct tsr_image_info info = {
		.format = TSR_PIXEL_FORMAT_R32F, .width = WIDTH, .height = WIDTH, .layers = 6,
		.flags = TSR_IMAGE_COMPRESSED | TSR_IMAGE_CUBE,
	};
	const struct tsr_gfx_pass_info pass = { .layers = 1, .color[0] = {
		.load = TSR_GFX_LOAD_CLEAR, .clear.f[0] = 0.5f } };
	struct tsr_gfx_pass_info first = pass;
	static uint32_t texels[TEXELS];

	ktap_eq(tsr_image_create(t.vm, &info, sizeof(info), &first.color[0].image), 0);
	submit(gfxt_begin(&t, &first));
	for (uint32_t layer = 0; layer < 6; layer++) {
		of_layer(first.color[0].image, cube, layer, texels);
		ktap_eq(texels[0], layer ? 0 : 0x3f000000);
		ktap_eq(texels[TEXELS - 1], texels[0]);
	}
	if (TAGS_ARE_SEEN)
		ktap_eq(TAGS_SEEN(first.color[0].image), CLEAR);
	tsr_image_unref(first.color[0].image);
}

/* The first of two layers drawn alone. */
static void in_part(void)
{
	struct tsr_image *image = NULL;
	const struct tsr_image_info info = {
		.format = TSR_PIXEL_FORMAT_R32F, .width = WIDTH, .height = HEIGHT,
		.layers = 2, .flags = TSR_IMAGE_COMPRESSED,
	};
	struct tsr_gfx_pass_info pass = { .layers = 2 };

	ktap_eq(tsr_image_create(t.vm, &info, sizeof(info), &image), 0);
	pass.depth = (struct tsr_gfx_target){ .image = image, .load = TSR_GFX_LOAD_CLEAR,
					      .clear.f[0] = 0.25f };
	submit(gfxt_begin(&t, &pass));
	pass.layers = 1;
	pass.depth.clear.f[0] = 0.75f;
	submit(gfxt_begin(&t, &pass));
	finish();
	for (uint32_t layer = 0; layer < 2; layer++) {
		static float texels[TEXELS];

		gfxt_read(image, 0, layer, texels, 4 * WIDTH);
		ktap_ok(texels[0] == (layer ? 0.25f : 0.75f));
		ktap_ok(texels[TEXELS - 1] == texels[0]);
	}
	tsr_image_unref(image);
}

static void other_uses(void)
{
	as_others(true, TSR_PIXEL_FORMAT_R32F, TSR_PIXEL_FORMAT_R32F, 0x3e800000);
	as_others(false, TSR_PIXEL_FORMAT_RGBA8_UNORM, TSR_PIXEL_FORMAT_R32UI, 0x40);
	in_part();
	layered(false);
	layered(true);
}

/* Recorded first, submitted again and again, read in between, the address known at the end. */
static void again(void)
{
	struct picture p[2] = { make_picture(1, 0), make_picture(1, TSR_IMAGE_COMPRESSED) };
	struct tsr_gfx_pass *first[2], *second[2];

	for (int i = 0; i < 2; i++) {
		first[i] = record(t.gfx, &p[i], TSR_GFX_LOAD_CLEAR, 0.25f, 1.5f);
		second[i] = record(t.gfx, &p[i], TSR_GFX_LOAD_CONTENT, 0.5f, 0.75f);
	}
	for (unsigned int n = 0; n < 3; n++) {
		for (int i = 0; i < 2; i++) {
			submit(first[i]);
			submitted_count--;
			submit(second[i]);
			submitted_count--;
			ktap_eq(gfxt_wait(second[i]), 0);
		}
		same_pictures(&p[0], &p[1], n ? by_map : by_read, "again");
	}
	/* its address is known: nobody has to ask for anything once more */
	for (int i = 0; i < 2; i++) {
		submit(first[i]);
		submitted_count--;
		ktap_eq(gfxt_wait(first[i]), 0);
		if (TAGS_ARE_SEEN && i)
			ktap_eq(TAGS_SEEN(p[i].image[0]), 1);
		tsr_gfx_pass_destroy(first[i]);
		tsr_gfx_pass_destroy(second[i]);
	}
	drop(&p[0]);
	drop(&p[1]);
}

/* A target cannot be a texture of its own pass; an error of the pass, and nothing is drawn. */
static void both(void)
{
	struct picture p = make_picture(1, TSR_IMAGE_COMPRESSED);
	struct tsr_gfx_pass *pass = record(t.gfx, &p, TSR_GFX_LOAD_CLEAR, 0.25f, 1.5f);
	const struct tsr_view view = { .image = p.image[1], .access = TSR_SHADER_READ };
	const struct tsr_gfx_bindings_info bindings = { .textures = &view, .texture_count = 1 };
	const struct tsr_gfx_bindings_info image = { .views = &view, .view_count = 1 };

	ktap_eq(tsr_gfx_set_bindings(pass, TSR_GFX_STAGE_FRAGMENT, &bindings, sizeof(bindings)),
		-EINVAL);
	ktap_ok(strstr(tsr_error_message(), "TSR_IMAGE_COMPRESSED") != NULL);
	ktap_eq(tsr_gfx_submit(pass, NULL, 0, NULL, 0), -EINVAL);
	tsr_gfx_pass_destroy(pass);
	/* a target that its own pass has as a view is stored expanded */
	pass = record(t.gfx, &p, TSR_GFX_LOAD_CLEAR, 0.25f, 1.5f);
	ktap_eq(tsr_gfx_set_bindings(pass, TSR_GFX_STAGE_FRAGMENT, &image, sizeof(image)), 0);
	submit(pass);
	finish();
	if (TAGS_ARE_SEEN)
		ktap_eq(TAGS_SEEN(p.image[1]), 1);
	drop(&p);
}

/*
 * A pass that faults cancels the later ones, also those of the library. An expansion that was
 * cancelled is repeated.
 */
static void fallen(void)
{
	struct picture p[2] = { make_picture(1, 0), make_picture(1, TSR_IMAGE_COMPRESSED) };
	const uint32_t nowhere[2] = { 0, 0x00f00000 };
	struct tsr_gfx_pass *bad;
	struct gfxt_vertex v[3];

	for (int i = 0; i < 2; i++)
		draw(&p[i], TSR_GFX_LOAD_CLEAR, 0.25f, 1.5f);
	finish();
	for (int n = 0; n < 4; n++) {
		struct tsr_image *target = gfxt_image(&t, TSR_PIXEL_FORMAT_R32UI, 64, 1);
		const struct tsr_view view = { .image = p[1].image[n & 1] };
		const struct tsr_gfx_bindings_info bindings =
			{ .textures = &view, .texture_count = 1 };
		struct tsr_gfx_pass *victim;

		draw(&p[1], TSR_GFX_LOAD_CLEAR, 0.25f, 1.5f);
		bad = gfxt_one(&t, target, black);
		ktap_eq(tsr_gfx_set_push(bad, TSR_GFX_STAGE_FRAGMENT, 0, 2, nowhere), 0);
		gfxt_cover(v, 0, black);
		gfxt_plain(&t, bad, loads, v, 3);
		victim = gfxt_one(&t, target, black);
		ktap_eq(tsr_gfx_set_bindings(victim, TSR_GFX_STAGE_FRAGMENT, &bindings,
					     sizeof(bindings)), 0);
		ktap_eq(tsr_gfx_submit(bad, NULL, 0, NULL, 0), 0);
		ktap_eq(tsr_gfx_submit(victim, NULL, 0, NULL, 0), 0);
		ktap_eq(tsr_gfx_wait(bad, TSR_DEADLINE_NEVER), -EFAULT);
		tsr_gfx_wait(victim, TSR_DEADLINE_NEVER);
		finish();
		same(p[0].image[n & 1], p[1].image[n & 1], n & 2 ? by_read : by_texture, "fallen");
		tsr_gfx_pass_destroy(bad);
		tsr_gfx_pass_destroy(victim);
		tsr_image_unref(target);
	}
	drop(&p[0]);
	drop(&p[1]);
}

int main(void)
{
	ktap_start();
	gfxt_open(&t);
	ktap_eq(tsr_queue_create(t.vm, DRM_TESSERA_ENGINE_COPY, DRM_TESSERA_PRIORITY_NORMAL, 0,
				 &copies), 0);
	make_programs();
	ktap_run("[MEM8] [ZS6] [OM3] compressed targets as others read them: textures, loads of "
		 "programs, copies, the CPU", reading);
	ktap_run("[MEM8] compressed targets written by the CPU, copies and programs, then drawn on",
		 writing);
	ktap_run("[MEM8] compressed targets loaded with other clear values, in other contexts",
		 other_passes);
	ktap_run("[MEM8] compressed targets of depth loaded as color, and in part", other_uses);
	ktap_run("[MEM8] passes recorded once, submitted again, between which others look", again);
	ktap_run("[MEM8] a compressed target is no texture of its own pass", both);
	ktap_run("[MEM8] a fault before others look at a compressed target", fallen);
	tsr_gfx_pipeline_unref(draws);
	tsr_gfx_pipeline_unref(fetches[0]);
	tsr_gfx_pipeline_unref(fetches[1]);
	tsr_gfx_pipeline_unref(fetches[2]);
	tsr_gfx_pipeline_unref(loads);
	tsr_gfx_pipeline_unref(view_loads);
	tsr_gfx_pipeline_unref(view_stores);
	tsr_queue_unref(copies);
	gfxt_close(&t);
	return ktap_finish();
}
