// SPDX-License-Identifier: MIT
/* Passes: their targets, FRAME, and the list of what is done with each tile. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gfx.h"

#define TARGET_BYTES (TSR_RENDER_TARGET__QWORDS * 8u)
#define SAMPLE_TABLE_BYTES 128u
#define TILE_SHIFT_USUAL 6u
#define PASS_INFO_1	TSR_UP_TO(struct tsr_gfx_pass_info, stencil)	/* version 1.0 */

static int remember(struct tsr_gfx_pass *pass, int error)
{
	if (!pass->error) {
		pass->error = error;
		snprintf(pass->message, sizeof(pass->message), "%s", tsr_error_message());
	}
	return error;
}

int gfx_fail(struct tsr_gfx_pass *pass, int error, const char *format, ...)
{
	char text[sizeof(pass->message)];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	return remember(pass, tsr_fail(error, "%s", text));
}

int gfx_check(struct tsr_gfx_pass *pass)
{
	if (pass->error)
		return tsr_fail(-pass->error, "%s", pass->message);
	if (pass->recorded)
		return tsr_fail(EBUSY, "a pass that was submitted or listed, expected "
				"tsr_gfx_pass_reset() before more is recorded");
	return 0;
}

void *gfx_data_call(struct tsr_gfx_pass *pass, uint64_t size, uint32_t align, uint64_t *va)
{
	void *p = gfx_alloc(&pass->memory, size, align, va);

	if (!p)
		remember(pass, -ENOMEM);
	return p;
}

/* ---- Targets --------------------------------------------------------------------------------- */

struct tsr_gfx_target *gfx_target(struct tsr_gfx_pass *pass, unsigned int n)
{
	if (n == GFX_DEPTH)
		return &pass->info.depth;
	return n == GFX_STENCIL ? &pass->info.stencil : &pass->info.color[n];
}

static bool there(const struct tsr_gfx_target *t)
{
	return t->image || t->format;
}

uint32_t gfx_target_format(const struct tsr_gfx_target *t, bool stencil)
{
	uint32_t format = t->format ? t->format : t->image->info.format;

	return stencil && format == TSR_PIXEL_FORMAT_Z24X8_UNORM ? TSR_PIXEL_FORMAT_X24S8 : format;
}

/* Size, layers and samples follow from the first image, unless they were given. */
static void derive(struct tsr_gfx_pass *pass)
{
	struct tsr_gfx_pass_info *i = &pass->info;
	unsigned int n;

	while (pass->targets < TSR_RENDER_TARGETS_MAX && there(&i->color[pass->targets]))
		pass->targets++;
	for (n = pass->targets; n < TSR_RENDER_TARGETS_MAX; n++)
		i->color[n] = (struct tsr_gfx_target){ 0 };
	for (n = 0; n < GFX_TARGETS; n++) {
		const struct tsr_gfx_target *t = gfx_target(pass, n);
		const struct tsr_image *image = t->image;

		if (!image || t->level >= image->info.levels)
			continue;
		i->width = i->width ? i->width : image->level[t->level].surface.width;
		i->height = i->height ? i->height : image->level[t->level].surface.height;
		i->samples = i->samples ? i->samples : image->info.samples;
	}
	i->layers += !i->layers;
	i->samples += !i->samples;
}

static int check_image(const struct tsr_gfx_pass *pass, const struct tsr_gfx_target *t,
		       const char *what)
{
	const struct tsr_image_info *i = &t->image->info;
	const struct gfx_level *l = &t->image->level[t->level < i->levels ? t->level : 0];
	uint32_t layers = i->depth ? l->depth : i->layers;

	if (t->level >= i->levels || t->layer >= layers || pass->info.layers > layers - t->layer)
		return tsr_fail(EINVAL, "%s target is level %u, layers %u + %u of an image of %u "
				"levels, %u layers", what, t->level, t->layer, pass->info.layers,
				i->levels, layers);
	if (l->surface.width < pass->info.width || l->surface.height < pass->info.height)
		return tsr_fail(EINVAL, "%s target of %u x %u texels for a pass of %u x %u", what,
				l->surface.width, l->surface.height, pass->info.width,
				pass->info.height);
	if (i->samples != 1 && i->samples != pass->info.samples)
		return tsr_fail(EINVAL, "%s target of %u samples for a pass of %u, expected as "
				"many or 1", what, i->samples, pass->info.samples);
	if (t->format && gfx_format(t->format).bytes != gfx_format(i->format).bytes)
		return tsr_fail(EINVAL, "%s target of format %u is an image of format %u, expected "
				"the same size", what, t->format, i->format);
	return 0;
}

/* Tags are those of the whole picture, one for each block of all samples. */
static int check_tags(const struct tsr_gfx_pass *pass, const struct tsr_gfx_target *t,
		      const char *what)
{
	const struct tsr_image_info *i = &t->image->info;
	const struct tsr_gfx_pass_info *p = &pass->info;

	if (!t->image->tags)
		return 0;
	if (t->layer || i->width != p->width || i->height != p->height || i->samples != p->samples)
		return tsr_fail(EINVAL, "%s target with TSR_IMAGE_COMPRESSED: %u x %u texels of %u "
				"samples, layer %u, for a pass of %u x %u of %u, expected the "
				"same, and layer 0", what, i->width, i->height, i->samples,
				t->layer, p->width, p->height, p->samples);
	if (t == &p->stencil ||
	    (t == &p->depth && there(&p->stencil) &&
	     gfx_target_format(&p->stencil, true) == TSR_PIXEL_FORMAT_X24S8))
		return tsr_fail(EINVAL,
				"%s target with TSR_IMAGE_COMPRESSED, expected none where depth "
				"and stencil share words, and none of stencil", what);
	return 0;
}

static bool fits(unsigned int n, uint32_t format)
{
	if (n == GFX_DEPTH)
		return format == TSR_PIXEL_FORMAT_Z16_UNORM || format == TSR_PIXEL_FORMAT_R32F ||
		       format == TSR_PIXEL_FORMAT_Z24X8_UNORM;
	if (n == GFX_STENCIL)
		return format == TSR_PIXEL_FORMAT_S8 || format == TSR_PIXEL_FORMAT_X24S8;
	return gfx_format(format).bytes;
}

static int check_target(struct tsr_gfx_pass *pass, unsigned int n)
{
	static const char *const names[] = { "depth", "stencil" };
	const struct tsr_gfx_target *t = gfx_target(pass, n);
	char what[16] = "color";
	uint32_t format;
	int ret;

	if (!there(t))
		return 0;
	if (n >= GFX_DEPTH)
		snprintf(what, sizeof(what), "%s", names[n - GFX_DEPTH]);
	format = gfx_target_format(t, n == GFX_STENCIL);
	if (!fits(n, format) || t->load > TSR_GFX_LOAD_CLEAR ||
	    (!t->image && t->load == TSR_GFX_LOAD_CONTENT))
		return tsr_fail(EINVAL, "%s target with format %u, load %u", what, format, t->load);
	if (!t->image)
		return 0;
	ret = check_image(pass, t, what);
	return ret ? ret : check_tags(pass, t, what);
}

/* Tile memory holds all samples of a tile; a smaller tile is taken if that is needed. */
static int choose_tile(struct tsr_gfx_pass *pass)
{
	struct tsr_gfx_pass_info *i = &pass->info;
	uint32_t n, shift = i->tile_shift ? i->tile_shift : TILE_SHIFT_USUAL;
	uint64_t bytes = 8;

	for (n = 0; n < pass->targets; n++)
		bytes += gfx_format(gfx_target_format(&i->color[n], false)).bytes;
	bytes *= i->samples;
	while (!i->tile_shift && shift > TSR_TILE_SHIFT_MIN &&
	       bytes << 2 * shift > TSR_TILE_BUFFER_BYTES)
		shift--;
	if (shift < TSR_TILE_SHIFT_MIN || shift > TSR_TILE_SHIFT_MAX ||
	    bytes << 2 * shift > TSR_TILE_BUFFER_BYTES)
		return tsr_fail(EINVAL, "tiles of 2^%u pixels of %llu bytes, expected 2^%d to 2^%d "
				"and %d bytes in all", 2 * shift, (unsigned long long)bytes,
				2 * TSR_TILE_SHIFT_MIN, 2 * TSR_TILE_SHIFT_MAX,
				TSR_TILE_BUFFER_BYTES);
	i->tile_shift = shift;
	n = 1u << shift;
	pass->tiles = (i->width + n - 1) / n * ((i->height + n - 1) / n) * i->layers;
	if (pass->tiles > TSR_FRAME_TILES_MAX)
		return tsr_fail(EINVAL, "pass of %u tiles, expected at most %d", pass->tiles,
				TSR_FRAME_TILES_MAX);
	return 0;
}

static int check_pass(struct tsr_gfx_pass *pass)
{
	const struct tsr_gfx_pass_info *i = &pass->info;
	unsigned int n;
	int ret = 0;

	if (!i->width || i->width > TSR_FRAME_DIM_MAX || !i->height ||
	    i->height > TSR_FRAME_DIM_MAX || i->layers > TSR_FRAME_LAYERS_MAX)
		return tsr_fail(EINVAL, "pass of %u x %u pixels, %u layers, expected 1 to %d "
				"and %d", i->width, i->height, i->layers, TSR_FRAME_DIM_MAX,
				TSR_FRAME_LAYERS_MAX);
	if (!tsr_is_pow2(i->samples) || i->samples > TSR_SAMPLES_MAX)
		return tsr_fail(EINVAL, "pass of %u samples, expected a power of two up to %d",
				i->samples, TSR_SAMPLES_MAX);
	for (n = 0; !ret && n < GFX_TARGETS; n++)
		ret = check_target(pass, n);
	return ret ? ret : choose_tile(pass);
}

void gfx_pack_target(struct tsr_gfx_pass *pass, unsigned int n)
{
	const struct tsr_gfx_target *t = gfx_target(pass, n);
	const struct tsr_image *image = t->image;
	struct tsr_render_target r = {
		.format = gfx_target_format(t, n == GFX_STENCIL),
		.samples_log2 = pass->samples_log2,
		.clear_0 = t->clear.u[0], .clear_1 = t->clear.u[1],
		.clear_2 = t->clear.u[2], .clear_3 = t->clear.u[3],
	};

	if (image) {
		const struct gfx_level *l = &image->level[t->level];

		r.pointer = image->va + gfx_image_offset(image, t->level, t->layer, 0);
		r.order = image->info.order;
		r.srgb = image->info.srgb;
		r.layout = image->info.layout;
		r.samples_log2 = 31 - (uint32_t)__builtin_clz(image->info.samples);
		r.pitch = l->surface.pitch;
		r.sample_stride = image->info.samples > 1 ? (uint32_t)image->sample_size : 0;
		r.layer_stride = image->info.depth ? l->surface.size :
						     image->sample_size * image->info.samples;
		r.tags = image->tags;
		r.tag_state = image->tag_state;
		r.expand = pass->expands >> n & 1;
	}
	tsr_pack_render_target(pass->color + n * TSR_RENDER_TARGET__QWORDS, &r);
}

/* ---- FRAME and the RENDER list --------------------------------------------------------------- */

/* Bits of the targets with @load (or, @store, of those to be kept): color, then depth, stencil. */
static uint32_t wanted(struct tsr_gfx_pass *pass, bool store, uint32_t load)
{
	uint32_t n, mask = 0;

	for (n = 0; n < GFX_TARGETS; n++) {
		const struct tsr_gfx_target *t = gfx_target(pass, n);

		if (there(t) &&
		    (store ? !t->discard && t->image : t->load == load))
			mask |= 1u << n;
	}
	return mask;
}

#define TILE_PACKET(name, NAME, mask) \
	do { \
		struct tsr_tile_##name v_ = { .colour = (mask) & 0xff, \
					      .depth = (mask) >> GFX_DEPTH & 1, \
					      .stencil = (mask) >> GFX_STENCIL & 1 }; \
		if (mask) { \
			tsr_pack_tile_##name(p, &v_); \
			p += TSR_TILE_##NAME##_QWORDS; \
		} \
	} while (0)

/* Writes the list that each tile executes. Returns its end. */
static uint64_t *tile_list(struct tsr_gfx_pass *pass, uint64_t *p)
{
	TILE_PACKET(clear, CLEAR, wanted(pass, false, TSR_GFX_LOAD_CLEAR));
	TILE_PACKET(load, LOAD, wanted(pass, false, TSR_GFX_LOAD_CONTENT));
	tsr_pack_tile_draw(p, &(struct tsr_tile_draw){ 0 });
	p += TSR_TILE_DRAW_QWORDS;
	TILE_PACKET(store, STORE, wanted(pass, true, 0));
	return p;
}

static int write_render_list(struct tsr_gfx_pass *pass)
{
	const struct tsr_gfx_pass_info *i = &pass->info;
	const uint32_t side = 1u << i->tile_shift;
	struct tsr_list_tiles tiles = {
		.end_of_frame = true,
		.x1 = (i->width + side - 1) / side - 1, .y1 = (i->height + side - 1) / side - 1,
		.layer1 = i->layers - 1,
	};
	uint64_t *p = gfx_data(pass, 16 * 8, 64, &pass->render_list), *end;

	if (!p)
		return pass->error;
	tiles.addr = pass->render_list + 64;
	end = tile_list(pass, p + 8);
	tiles.size = (uint32_t)(end - (p + 8)) * 8;
	tsr_pack_list_tiles(p, &tiles);
	p += TSR_LIST_TILES_QWORDS;
	tsr_pack_list_halt(p, &(struct tsr_list_halt){ 0 });
	pass->render_size = (TSR_LIST_TILES_QWORDS + TSR_LIST_HALT_QWORDS) * 8;
	return 0;
}

static int write_frames(struct tsr_gfx_pass *pass)
{
	struct tsr_frame frame = {
		.width = pass->info.width, .height = pass->info.height,
		.layers = pass->info.layers, .tile_shift = pass->info.tile_shift,
		.samples_log2 = pass->samples_log2, .targets = pass->targets,
		.has_depth = there(&pass->info.depth), .has_stencil = there(&pass->info.stencil),
		.colour = pass->color_va, .depth = pass->color_va + GFX_DEPTH * TARGET_BYTES,
		.stencil = pass->color_va + GFX_STENCIL * TARGET_BYTES,
	};
	uint64_t *table = gfx_data(pass, SAMPLE_TABLE_BYTES, 64, &frame.sample_positions);
	unsigned int i;

	if (!table)
		return pass->error;
	gfx_sample_positions(pass->samples_log2, table);
	for (i = 0; i < GFX_SLOTS; i++) {
		pass->frame[i] = gfx_data(pass, TSR_FRAME__QWORDS * 8, 64, &pass->frame_va[i]);
		pass->command[i] = gfx_data(pass, 128, 64, &pass->command_va[i]);
		if (!pass->frame[i] || !pass->command[i])
			return pass->error;
		tsr_pack_frame(pass->frame[i], &frame);
	}
	return 0;
}

/* All that does not depend on what is drawn. */
static int write_frame(struct tsr_gfx_pass *pass)
{
	unsigned int n;
	int ret;

	pass->color = gfx_data(pass, GFX_TARGETS * TARGET_BYTES, 64, &pass->color_va);
	if (!pass->color)
		return pass->error;
	memset(pass->color, 0, GFX_TARGETS * TARGET_BYTES);
	for (n = 0; n < GFX_TARGETS; n++) {
		if (there(gfx_target(pass, n)))
			gfx_pack_target(pass, n);
	}
	ret = write_frames(pass);
	if (!ret)
		ret = write_render_list(pass);
	/* the table of lists, and a block for each */
	pass->heap_wanted = 65536 + (4 + TSR_HEAP_BLOCK_BYTES) * (uint64_t)pass->tiles;
	return ret;
}

/* ---- The object ------------------------------------------------------------------------------ */

static void hold(struct tsr_gfx_pass *pass, bool take)
{
	unsigned int n;

	for (n = 0; !pass->expander && n < GFX_TARGETS; n++) {
		struct tsr_image *image = gfx_target(pass, n)->image;

		if (image && take)
			tsr_image_ref(image);
		else if (image)
			tsr_image_unref(image);
	}
}

int gfx_pass_new(struct tsr_gfx *gfx, const struct tsr_gfx_pass_info *info, bool expander,
		 struct tsr_gfx_pass **out)
{
	struct tsr_gfx_pass *pass = calloc(1, sizeof(*pass));
	int ret;

	if (!pass)
		return tsr_fail(ENOMEM, "no memory for a pass");
	pass->info = *info;
	derive(pass);
	ret = check_pass(pass);
	if (ret) {
		free(pass);
		return ret;
	}
	pass->gfx = tsr_gfx_ref(gfx);
	pass->expander = expander;
	pass->expands = expander ? UINT32_MAX : 0;
	pass->samples_log2 = 31 - (uint32_t)__builtin_clz(pass->info.samples);
	pass->memory.pool = gfx->pool;
	hold(pass, true);
	gfx_state_init(pass);
	ret = tsr_sync_create(tsr_vm_device(gfx->vm), 0, &pass->binned);
	if (!ret)
		ret = tsr_sync_create(tsr_vm_device(gfx->vm), 0, &pass->rendered);
	if (!ret)
		ret = write_frame(pass);
	if (ret)
		tsr_gfx_pass_destroy(pass);
	else
		*out = pass;
	return ret;
}

int tsr_gfx_pass_create(struct tsr_gfx *gfx, const struct tsr_gfx_pass_info *wanted, size_t size,
			struct tsr_gfx_pass **pass)
{
	struct tsr_gfx_pass_info info;
	int ret = tsr_take_info(&info, sizeof(info), PASS_INFO_1, wanted, size,
				"tsr_gfx_pass_info");

	return ret ? ret : gfx_pass_new(gfx, &info, false, pass);
}

void tsr_gfx_pass_reset(struct tsr_gfx_pass *pass)
{
	gfx_tags_forget(pass);
	gfx_state_fini(pass);
	gfx_memory_reset(&pass->memory);
	pass->bin = (struct gfx_list){ 0 };
	pass->recorded = false;
	pass->error = 0;
	pass->submitted = false;
	pass->streams = false;
	gfx_state_init(pass);
	write_frame(pass);
}

void tsr_gfx_pass_destroy(struct tsr_gfx_pass *pass)
{
	if (!pass)
		return;
	gfx_tags_forget(pass);
	gfx_state_fini(pass);
	gfx_memory_fini(&pass->memory);
	tsr_sync_unref(pass->binned);
	tsr_sync_unref(pass->rendered);
	tsr_perfmon_unref(pass->perfmon);
	hold(pass, false);
	tsr_gfx_unref(pass->gfx);
	free(pass);
}

int tsr_gfx_set_clear(struct tsr_gfx_pass *pass, uint32_t n, union tsr_gfx_color value)
{
	if (n >= pass->targets)
		return tsr_fail(EINVAL, "clear value of target %u of a pass of %u", n,
				pass->targets);
	pass->info.color[n].clear = value;
	gfx_pack_target(pass, n);
	return 0;
}

void tsr_gfx_set_perfmon(struct tsr_gfx_pass *pass, struct tsr_perfmon *perfmon)
{
	if (perfmon)
		tsr_perfmon_ref(perfmon);
	tsr_perfmon_unref(pass->perfmon);
	pass->perfmon = perfmon;
}

int gfx_finish(struct tsr_gfx_pass *pass)
{
	uint64_t *p;

	if (pass->error)
		return tsr_fail(-pass->error, "%s", pass->message);
	if (pass->recorded)
		return 0;
	p = gfx_packet(pass, TSR_LIST_HALT_QWORDS);
	if (!p)
		return pass->error;
	tsr_pack_list_halt(p, &(struct tsr_list_halt){ 0 });
	if (pass->bin.first)
		pass->bin.size = pass->bin.used * 8;
	pass->recorded = true;
	return 0;
}

int tsr_gfx_list(struct tsr_gfx_pass *pass, struct tsr_gfx_list *list)
{
	int ret = gfx_finish(pass);

	if (!ret)
		*list = (struct tsr_gfx_list) {
			.bin = pass->bin.va, .bin_size = pass->bin.size,
			.render = pass->render_list, .render_size = pass->render_size,
			.frame = pass->frame_va[pass->slot],
		};
	return ret;
}
