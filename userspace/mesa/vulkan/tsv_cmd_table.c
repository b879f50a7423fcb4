// SPDX-License-Identifier: MIT
/* Tables of textures, samplers and images: copies of what the bound descriptor sets hold. */
#include "tsv_cmd.h"

#define TABLE_ALIGN	64u
#define IMAGE_ENTRIES	2u	/* of the table of buffers, for an image */

/* An element of a set's memory; NULL if no set is bound. */
static const void *source(const struct tsv_bound_set *sets, const struct tsv_table_entry *e,
			  unsigned i)
{
	const uint8_t *memory = sets[e->set].cpu;

	return memory ? memory + e->offset + i * e->stride : NULL;
}

static bool copy_words(struct tsv_cmd *cmd, const struct tsv_bound_set *sets,
		       const struct tsv_table *table, uint64_t *va)
{
	const unsigned bytes = TC_DESCRIPTOR_QWORDS * 8;
	uint64_t *words;
	unsigned i, k;

	*va = 0;
	if (!table->slots)
		return true;
	words = tsv_cmd_alloc(cmd, (uint64_t)table->slots * bytes, TABLE_ALIGN, va);
	if (!words)
		return false;
	memset(words, 0, (size_t)table->slots * bytes);
	for (i = 0; i < table->entries; i++) {
		const struct tsv_table_entry *e = &table->entry[i];

		for (k = 0; k < e->count && source(sets, e, k); k++)
			memcpy(words + TC_DESCRIPTOR_QWORDS * (e->first + k), source(sets, e, k),
			       bytes);
	}
	return true;
}

void tsv_write_images(const struct tsv_bound_set *sets, const struct tsv_table *table,
		      unsigned first, uint64_t *attributes, uint64_t *buffers)
{
	const struct tsv_image_descriptor *d;
	unsigned i, k, slot;

	for (i = 0; i < table->entries; i++)
		for (k = 0; k < table->entry[i].count; k++) {
			slot = table->entry[i].first + k;
			d = source(sets, &table->entry[i], k);
			if (!d || !d->attribute) {
				tc_image_none(first + IMAGE_ENTRIES * slot, attributes + slot,
					      buffers + 4 * slot);
				continue;
			}
			attributes[slot] = d->attribute | (first + IMAGE_ENTRIES * slot);
			memcpy(buffers + 4 * slot, d->buffers, sizeof(d->buffers));
		}
}

bool tsv_cmd_tables(struct tsv_cmd *cmd, const struct tsv_shader_info *info,
		    const struct tsv_bound_set *sets, struct tsv_tables *out)
{
	out->texture_count = info->table[TSV_TEXTURES].slots;
	out->sampler_count = info->table[TSV_SAMPLERS].slots;
	return copy_words(cmd, sets, &info->table[TSV_TEXTURES], &out->textures) &&
	       copy_words(cmd, sets, &info->table[TSV_SAMPLERS], &out->samplers);
}
