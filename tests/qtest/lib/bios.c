/* SPDX-License-Identifier: MIT */
/* Firmware that does nothing. See bios.h. */
#include "bios.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BIOS_SIZE 65536
#define RESET_VECTOR (BIOS_SIZE - 16)

/* What stands at the reset vector. */
static const unsigned char code[][8] = {
	[BIOS_SLEEP] = { 0xfa, 0xf4, 0xeb, 0xfd }, /* cli; 1: hlt; jmp 1b */
	[BIOS_RAM] = { 0xfa, 0xea, BIOS_RAM_ADDR & 0xff, BIOS_RAM_ADDR >> 8, 0, 0 }, /* cli; ljmp */
};

const char *bios_image(enum bios_kind kind)
{
	static unsigned char image[BIOS_SIZE];
	static char path[300];
	const char *build = getenv("TSR_BUILD");
	FILE *file;

	memset(image, 0xf4, sizeof(image));
	memcpy(image + RESET_VECTOR, code[kind], sizeof(code[kind]));
	snprintf(path, sizeof(path), "%s/bios-%d.bin", build ? build : "/tmp", (int)getpid());
	file = fopen(path, "w");
	if (!file || fwrite(image, sizeof(image), 1, file) != 1 || fclose(file)) {
		printf("Bail out! cannot write %s\n", path);
		exit(1);
	}
	return path;
}
