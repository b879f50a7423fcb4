// SPDX-License-Identifier: MIT
/*
 * Fuzz target: files of compressed textures, as tsr-view reads them. Of what is accepted every
 * block of every level lies in the file.
 */
#include "../../userspace/demos/lib/compressed.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

const char fuzz_proves[] = "[TEX8] ";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* a copy, so that the sanitizers see its end */
	uint8_t *copy = malloc(size ? size : 1);
	char error[PICTURE_ERROR];
	struct compressed c;
	uint32_t sum = 0;

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	if (!compressed_parse(&c, copy, size, error)) {
		for (uint32_t l = 0; l < c.levels; l++) {
			size_t bytes = level_bytes(&c, l);

			for (size_t i = 0; i < bytes; i++)
				sum += c.level[l][i];
		}
	}
	free(copy);
	return sum == UINT32_MAX;
}
