// SPDX-License-Identifier: MIT
/*
 * Images with compression metadata, as the copy engine names them: a TAGGED_SURFACE for each layer
 * and sample. They are in memory of their own, which the first copy of an image allocates.
 */
#include <errno.h>
#include <stdlib.h>

#include "gfx.h"

struct gfx_records {
	struct tsr_bo *bo;
	uint64_t va;
};

static void release(const struct tsr_image *image, struct gfx_records *r)
{
	if (r->va)
		tsr_vm_unmap(image->vm, r->va, tsr_bo_size(r->bo));
	tsr_bo_unref(r->bo);
	free(r);
}

/* The records of all samples of layer 0, then of layer 1, and so on. */
static void fill(const struct tsr_image *image, uint64_t *words)
{
	const struct tsr_image_info *i = &image->info;
	uint32_t n;

	for (n = 0; n < i->layers * i->samples; n++) {
		const uint32_t layer = n / i->samples, sample = n % i->samples;
		const struct tsr_tagged_surface record = {
			.pointer = image->va + gfx_image_offset(image, 0, layer, sample),
			.tags = gfx_layer_tags(image, layer),
			.state = image->tag_state,
			.width = (uint16_t)(i->width - 1),
			.height = (uint16_t)(i->height - 1),
			.first = i->samples == 1 ? 0 :
				 image->va + gfx_image_offset(image, 0, layer, 0),
		};

		tsr_pack_tagged_surface(words + n * TSR_TAGGED_SURFACE__QWORDS, &record);
	}
}

static int create(const struct tsr_image *image, struct gfx_records **out)
{
	const struct tsr_image_info *i = &image->info;
	const uint64_t size = (uint64_t)i->layers * i->samples * TSR_TAGGED_SURFACE__QWORDS *
			      sizeof(uint64_t);
	struct gfx_records *r = calloc(1, sizeof(*r));
	void *words;
	int ret;

	if (!r)
		return tsr_fail(ENOMEM, "no memory for the surfaces of an image");
	ret = tsr_bo_create(tsr_vm_device(image->vm), size, DRM_TESSERA_BO_CACHED, image->vm,
			    &r->bo);
	if (!ret)
		ret = tsr_bo_map(r->bo, &words);
	if (!ret)
		ret = tsr_vm_map(image->vm, r->bo, 0, 0, DRM_TESSERA_BIND_READ, &r->va);
	if (ret) {
		release(image, r);
		return ret;
	}
	fill(image, words);
	*out = r;
	return 0;
}

/* The records of the image, which the first caller makes. */
static int find(struct tsr_image *image, struct gfx_records **out)
{
	struct gfx_records *none = NULL, *made = NULL;
	int ret;

	*out = atomic_load(&image->records);
	if (*out)
		return 0;
	ret = create(image, &made);
	if (ret)
		return ret;
	if (atomic_compare_exchange_strong(&image->records, &none, made)) {
		*out = made;
	} else {
		release(image, made);
		*out = none;
	}
	return 0;
}

void gfx_records_drop(struct tsr_image *image)
{
	struct gfx_records *r = atomic_load(&image->records);

	if (r)
		release(image, r);
}

int tsr_image_get_copy_surface(struct tsr_image *image, uint32_t level, uint32_t layer,
			       uint32_t sample, bool write, struct tsr_surface *surface)
{
	const struct tsr_image_info *i = &image->info;
	struct gfx_records *r;
	int ret;

	if (!image->tag_state || (write && i->samples > 1) || level || layer >= i->layers ||
	    sample >= i->samples)
		return tsr_image_get_surface(image, level, layer, sample, surface, NULL);
	ret = find(image, &r);
	if (ret)
		return ret;
	*surface = image->level[0].surface;
	surface->layout = (enum tsr_layout)((uint32_t)surface->layout | TSR_SURFACE_TAGGED);
	surface->va = r->va + (uint64_t)(layer * i->samples + sample) *
			      TSR_TAGGED_SURFACE__QWORDS * sizeof(uint64_t);
	return 0;
}
