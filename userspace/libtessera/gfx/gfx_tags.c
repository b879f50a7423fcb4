// SPDX-License-Identifier: MIT
/*
 * Images with compression metadata stay compressed while only the passes of one context draw them
 * and only textures, views of programs and copies that name the surface (gfx_copy.c) use them.
 * These passes are drawn in order and can read the metadata, as textures, views and copies can. The
 * CPU and users of the image's address need the texels. Before such a use, a pass that draws
 * nothing loads the image and stores it expanded. The pass is ordered after earlier submissions and
 * before later ones. An address cannot be revoked, so an image whose address was requested is
 * stored expanded from then on. Without DRM_TESSERA_FEATURE_TAGGED, textures and views need the
 * texels as well.
 *
 * The first context that drew an image owns it. Its lock protects the state of the image.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gfx.h"

static struct tsr_gfx *owner_of(struct tsr_image *image)
{
	return atomic_load(&image->owner);
}

/* True if @gfx owns the image; it does from now on if it had no owner. */
static bool owned(struct tsr_image *image, struct tsr_gfx *gfx)
{
	struct tsr_gfx *nobody = NULL;

	if (owner_of(image) == gfx)
		return true;
	tsr_gfx_ref(gfx);
	if (atomic_compare_exchange_strong(&image->owner, &nobody, gfx))
		return true;
	tsr_gfx_unref(gfx);
	return false;
}

/*
 * Settles the expanding pass. A pass that has not ended stays, because later submissions are
 * ordered after it. If its queues have failed, the pass ends as well.
 */
static int settle(struct tsr_image *image)
{
	struct tsr_gfx_pass *pass = image->expander;
	int status = 0, ret;

	if (!pass)
		return 0;
	ret = pass->queues == owner_of(image)->queues ? 0 :
	      tsr_sync_wait(pass->rendered, 0, TSR_DEADLINE_NEVER);
	if (!ret)
		ret = tsr_sync_get_status(pass->rendered, 0, &status);
	if (ret || !status)
		return ret;
	if (status > 0)
		image->packed.layers = 0;
	tsr_gfx_pass_destroy(pass);
	image->expander = NULL;
	/* one that fell with others is submitted again */
	return status > 0 || status == -ECANCELED ? 0 :
	       tsr_fail(-status, "an image with TSR_IMAGE_COMPRESSED cannot be expanded: %s",
			tsr_error_string(status));
}

/* Submit the expanding pass, if the image is packed and there is none yet. */
static int expand(struct tsr_image *image)
{
	const struct gfx_packed *packed = &image->packed;
	struct tsr_gfx_pass_info info = { .layers = packed->layers };
	struct tsr_gfx_target target = {
		.image = image, .format = packed->format, .load = TSR_GFX_LOAD_CONTENT,
		.clear = packed->clear,
	};
	struct tsr_gfx_pass *pass;
	int ret = settle(image);

	if (ret || !packed->layers || image->expander)
		return ret;
	if (packed->depth)
		info.depth = target;
	else
		info.color[0] = target;
	ret = gfx_pass_new(owner_of(image), &info, true, &pass);
	if (ret)
		return ret;
	ret = gfx_submit(pass, NULL, 0, NULL, 0);
	if (ret)
		tsr_gfx_pass_destroy(pass);
	else
		image->expander = pass;
	return ret;
}

int gfx_image_open(struct tsr_image *image, bool keep)
{
	struct tsr_sync *done;
	struct tsr_gfx *owner;
	int ret;

	if (!image->tags)
		return 0;
	if (keep)
		atomic_store(&image->plain, true);
	owner = owner_of(image);
	if (!owner)
		return 0;
	do {
		pthread_mutex_lock(&owner->lock);
		ret = expand(image);
		done = ret || !image->expander ? NULL : tsr_sync_ref(image->expander->rendered);
		pthread_mutex_unlock(&owner->lock);
		if (!done)
			return ret;
		ret = tsr_sync_wait(done, 0, TSR_DEADLINE_NEVER);
		tsr_sync_unref(done);
	} while (!ret);
	return ret;
}

void gfx_image_close(struct tsr_image *image)
{
	if (image->expander)
		tsr_sync_wait(image->expander->rendered, 0, TSR_DEADLINE_NEVER);
	tsr_gfx_pass_destroy(image->expander);
	tsr_gfx_unref(owner_of(image));
}

/* ---- What a pass uses ------------------------------------------------------------------------ */

int gfx_tags_sampled(struct tsr_gfx_pass *pass, const struct tsr_view *view, uint32_t stages)
{
	struct tsr_image *image = view->image;
	struct gfx_sampled *more;
	unsigned int i;

	if (!image->tags)
		return 0;
	for (i = 0; i < GFX_TARGETS; i++)
		if (gfx_target(pass, i)->image == image)
			return tsr_fail(EINVAL,
					"a texture of an image with TSR_IMAGE_COMPRESSED that is a "
					"target of the pass");
	if (gfx_view_tagged(view))
		return 0;
	for (i = 0; i < pass->sampled_count && pass->sampled[i].image != image; i++)
		;
	if (i == pass->sampled_count) {
		more = realloc(pass->sampled, (i + 1) * sizeof(*more));
		if (!more)
			return tsr_fail(ENOMEM, "no memory for %u textures", i + 1);
		pass->sampled = more;
		more[pass->sampled_count++] = (struct gfx_sampled){ tsr_image_ref(image), 0 };
	}
	pass->sampled[i].stages |= stages;
	return 0;
}

int gfx_tags_viewed(struct tsr_gfx_pass *pass, struct tsr_image *image)
{
	unsigned int i;

	for (i = 0; image && image->tags && i < GFX_TARGETS; i++)
		if (gfx_target(pass, i)->image == image)
			return gfx_image_open(image, true);
	return 0;
}

void gfx_tags_forget(struct tsr_gfx_pass *pass)
{
	while (pass->sampled_count)
		tsr_image_unref(pass->sampled[--pass->sampled_count].image);
	free(pass->sampled);
	pass->sampled = NULL;
}

int gfx_tags_open(struct tsr_gfx_pass *pass)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < pass->sampled_count; i++)
		if (owner_of(pass->sampled[i].image) != pass->gfx)
			ret = gfx_image_open(pass->sampled[i].image, true);
	for (i = 0; !ret && i < GFX_TARGETS; i++) {
		struct tsr_image *image = gfx_target(pass, i)->image;

		if (image && image->tags && !owned(image, pass->gfx))
			ret = gfx_image_open(image, true);
	}
	return ret;
}

/* True if the pass cannot go on with what is stored in the image, as its target @n. */
static bool unfit(struct tsr_gfx_pass *pass, unsigned int n)
{
	const struct tsr_gfx_target *t = gfx_target(pass, n);
	const struct gfx_packed *packed = &t->image->packed;

	return packed->layers &&
	       (atomic_load(&t->image->plain) || packed->layers > pass->info.layers ||
		(t->load == TSR_GFX_LOAD_CONTENT &&
		 (packed->depth != (n == GFX_DEPTH) ||
		  packed->format != gfx_target_format(t, false))));
}

/* Prepares the target's record: clear blocks have the color with which they were stored. */
static int prepare_target(struct tsr_gfx_pass *pass, unsigned int n)
{
	struct tsr_gfx_target *t = gfx_target(pass, n);
	const struct gfx_packed *packed = &t->image->packed;
	union tsr_gfx_color clear = t->clear;
	bool raw = true;
	int ret = 0;

	if (owner_of(t->image) == pass->gfx) {
		ret = settle(t->image);
		if (!ret && unfit(pass, n)) {
			atomic_store(&t->image->plain, true);
			ret = expand(t->image);
		}
		raw = atomic_load(&t->image->plain) || t->image->expander;
		if (t->load == TSR_GFX_LOAD_CONTENT && packed->layers && !t->image->expander)
			clear = packed->clear;
	}
	if (ret || (raw == (pass->expands >> n & 1) && !memcmp(&clear, &t->clear, sizeof(clear))))
		return ret;
	/* an earlier submission may still read it */
	if (pass->submitted)
		ret = tsr_sync_wait(pass->rendered, 0, TSR_DEADLINE_NEVER);
	t->clear = clear;
	pass->expands = (pass->expands & ~(1u << n)) | (uint32_t)raw << n;
	gfx_pack_target(pass, n);
	return ret;
}

int gfx_tags_prepare(struct tsr_gfx_pass *pass)
{
	unsigned int i;
	int ret = 0;

	if (pass->expander)
		return 0;
	for (i = 0; !ret && i < pass->sampled_count; i++) {
		struct tsr_image *image = pass->sampled[i].image;

		if (owner_of(image) != pass->gfx)
			continue;
		atomic_store(&image->plain, true);
		ret = expand(image);
	}
	for (i = 0; !ret && i < GFX_TARGETS; i++) {
		const struct tsr_gfx_target *t = gfx_target(pass, i);

		if (t->image && t->image->tags)
			ret = prepare_target(pass, i);
	}
	return ret;
}

int gfx_tags_wait(struct tsr_gfx_pass *pass, struct tsr_submit *submit, int job)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < pass->sampled_count; i++) {
		const struct gfx_sampled *s = &pass->sampled[i];

		if (s->stages & TSR_GFX_STAGE_VERTEX && owner_of(s->image) == pass->gfx &&
		    s->image->expander)
			ret = tsr_submit_wait(submit, job, s->image->expander->rendered, 0);
	}
	return ret;
}

void gfx_tags_submitted(struct tsr_gfx_pass *pass)
{
	unsigned int n;

	for (n = 0; !pass->expander && n < GFX_TARGETS; n++) {
		const struct tsr_gfx_target *t = gfx_target(pass, n);

		if (t->image && t->image->tags && !t->discard && !(pass->expands >> n & 1))
			t->image->packed = (struct gfx_packed) {
				.layers = pass->info.layers, .depth = n == GFX_DEPTH,
				.format = gfx_target_format(t, false), .clear = t->clear,
			};
	}
}
