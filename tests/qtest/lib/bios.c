/* SPDX-License-Identifier: MIT */
/* Firmware that does nothing. See bios.h. */
#include "bios.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BIOS_SIZE 65536
#define RESET_VECTOR (BIOS_SIZE - 16)

/* The code at the reset vector. */
static const unsigned char code[][8] = {
	[BIOS_SLEEP] = { 0xfa, 0xf4, 0xeb, 0xfd }, /* cli; 1: hlt; jmp 1b */
	[BIOS_RAM] = { 0xfa, 0xea, BIOS_RAM_ADDR & 0xff, BIOS_RAM_ADDR >> 8, 0, 0 }, /* cli; ljmp */
};

/* Bytes of accessing_code in which its address is. */
#define ACCESS_ADDR 0x17
#define ACCESS_SIZE 0x46

/*
 * At the image's start, which is at 0xf0000 and 0xffff0000: flat data segment, then the accesses.
 * The table of segments is at 0x30, its descriptor at 0x40.
 */
static const unsigned char accessing_code[ACCESS_SIZE] = {
	[0x00] = 0xfa,					     /* cli */
	[0x01] = 0x2e, 0x66, 0x0f, 0x01, 0x16, 0x40, 0x00,   /* lgdtl %cs:0x40 */
	[0x08] = 0x0f, 0x20, 0xc0,			     /* mov %cr0, %eax */
	[0x0b] = 0x0c, 0x01,				     /* orb $1, %al */
	[0x0d] = 0x0f, 0x22, 0xc0,			     /* mov %eax, %cr0 */
	[0x10] = 0xbb, 0x08, 0x00,			     /* mov $8, %bx */
	[0x13] = 0x8e, 0xdb,				     /* mov %bx, %ds */
	[0x15] = 0x66, 0xbe,				     /* mov $ADDR, %esi */
	[0x1b] = 0x67, 0x66, 0x8b, 0x06,		     /* 1: mov (%esi), %eax */
	[0x1f] = 0x67, 0x66, 0x89, 0x06,		     /* mov %eax, (%esi) */
	[0x23] = 0xeb, 0xf6,				     /* jmp 1b */
	[0x38] = 0xff, 0xff, 0x00, 0x00, 0x00, 0x92, 0xcf, 0x00,
	[0x40] = 0x0f, 0x00, 0x30, 0x00, 0xff, 0xff,
};
/* At the reset vector: ljmp $0xf000, $0. */
static const unsigned char accessing_entry[] = { 0xea, 0x00, 0x00, 0x00, 0xf0 };

static const char *write_image(const unsigned char *image)
{
	static char path[300];
	const char *build = getenv("TSR_BUILD");
	FILE *file;

	snprintf(path, sizeof(path), "%s/bios-%d.bin", build ? build : "/tmp", (int)getpid());
	file = fopen(path, "w");
	if (!file || fwrite(image, BIOS_SIZE, 1, file) != 1 || fclose(file)) {
		printf("Bail out! cannot write %s\n", path);
		exit(1);
	}
	return path;
}

const char *bios_image(enum bios_kind kind)
{
	static unsigned char image[BIOS_SIZE];

	memset(image, 0xf4, sizeof(image));
	memcpy(image + RESET_VECTOR, code[kind], sizeof(code[kind]));
	return write_image(image);
}

const char *bios_access(uint32_t addr)
{
	static unsigned char image[BIOS_SIZE];

	memset(image, 0xf4, sizeof(image));
	memcpy(image, accessing_code, sizeof(accessing_code));
	memcpy(image + ACCESS_ADDR, &addr, sizeof(addr));
	memcpy(image + RESET_VECTOR, accessing_entry, sizeof(accessing_entry));
	return write_image(image);
}
