// SPDX-License-Identifier: MIT
/* Write the blocks of soup.h: dump FORMAT COUNT > BLOCKS; without arguments the formats' names. */
#include <stdio.h>
#include <stdlib.h>

#include "soup.h"

int main(int argc, char **argv)
{
	for (unsigned int i = 0; i < SOUP_FORMATS; i++) {
		const struct soup_format *f = &soup_formats[i];
		uint8_t block[16];

		if (argc < 3)
			printf("%s %u %u %u\n", f->name, f->bytes, f->w, f->h);
		for (unsigned int n = 0; argc == 3 && !strcmp(argv[1], f->name) &&
					 n < strtoul(argv[2], NULL, 10); n++) {
			soup_block(f, n, block);
			fwrite(block, 1, f->bytes, stdout);
		}
	}
	return fflush(stdout) ? 1 : 0;
}
