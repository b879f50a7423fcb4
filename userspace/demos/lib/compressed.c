// SPDX-License-Identifier: MIT
/* DDS, KTX, KTX 2 and ASTC files, see compressed.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "compressed.h"
#include "tsr_regs.h"

static uint32_t le32(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static int fail(char *error, const char *text)
{
	snprintf(error, PICTURE_ERROR, "%s", text);
	return -1;
}

/* ---- Formats --------------------------------------------------------------------------------- */

/* Names of a format elsewhere: 0 where there is none. The second ones of a pair are sRGB. */
struct name {
	uint8_t format, bytes, order;
	uint8_t dxgi[2];
	uint16_t vulkan[2], gl[2];
};

#define NAME(n, bytes, order) TSR_PIXEL_FORMAT_##n, bytes, TSR_COMPONENT_ORDER_##order

static const struct name names[] = {
	{ NAME(BC1_UNORM, 8, RGB1), { 0 }, { 131, 132 }, { 0x83f0, 0x8c4c } },
	{ NAME(BC1_UNORM, 8, RGBA), { 71, 72 }, { 133, 134 }, { 0x83f1, 0x8c4d } },
	{ NAME(BC2_UNORM, 16, RGBA), { 74, 75 }, { 135, 136 }, { 0x83f2, 0x8c4e } },
	{ NAME(BC3_UNORM, 16, RGBA), { 77, 78 }, { 137, 138 }, { 0x83f3, 0x8c4f } },
	{ NAME(BC4_UNORM, 8, RGB1), { 80 }, { 139 }, { 0x8dbb } },
	{ NAME(BC4_SNORM, 8, RGB1), { 81 }, { 140 }, { 0x8dbc } },
	{ NAME(BC5_UNORM, 16, RGB1), { 83 }, { 141 }, { 0x8dbd } },
	{ NAME(BC5_SNORM, 16, RGB1), { 84 }, { 142 }, { 0x8dbe } },
	{ NAME(BC6H_UF16, 16, RGB1), { 95 }, { 143 }, { 0x8e8f } },
	{ NAME(BC6H_SF16, 16, RGB1), { 96 }, { 144 }, { 0x8e8e } },
	{ NAME(BC7_UNORM, 16, RGBA), { 98, 99 }, { 145, 146 }, { 0x8e8c, 0x8e8d } },
	{ NAME(ETC2_RGB8, 8, RGB1), { 0 }, { 147, 148 }, { 0x9274, 0x9275 } },
	{ NAME(ETC2_RGB8, 8, RGB1), { 0 }, { 0 }, { 0x8d64 } },
	{ NAME(ETC2_RGB8A1, 8, RGBA), { 0 }, { 149, 150 }, { 0x9276, 0x9277 } },
	{ NAME(ETC2_RGBA8, 16, RGBA), { 0 }, { 151, 152 }, { 0x9278, 0x9279 } },
	{ NAME(ETC2_R11_UNORM, 8, RGB1), { 0 }, { 153 }, { 0x9270 } },
	{ NAME(ETC2_R11_SNORM, 8, RGB1), { 0 }, { 154 }, { 0x9271 } },
	{ NAME(ETC2_RG11_UNORM, 16, RGB1), { 0 }, { 155 }, { 0x9272 } },
	{ NAME(ETC2_RG11_SNORM, 16, RGB1), { 0 }, { 156 }, { 0x9273 } },
};

static const uint8_t astc_sizes[14][2] = {
	{ 4, 4 }, { 5, 4 }, { 5, 5 }, { 6, 5 }, { 6, 6 }, { 8, 5 }, { 8, 6 }, { 8, 8 },
	{ 10, 5 }, { 10, 6 }, { 10, 8 }, { 10, 10 }, { 12, 10 }, { 12, 12 },
};

static void set_astc(struct compressed *c, uint32_t size, bool srgb)
{
	c->format = TSR_PIXEL_FORMAT_ASTC_2D_LDR;
	c->order = TSR_COMPONENT_ORDER_RGBA;
	c->srgb = srgb;
	c->block_width = astc_sizes[size][0];
	c->block_height = astc_sizes[size][1];
	c->block_bytes = 16;
}

enum family { DXGI, VULKAN, GL };

static int find_format(struct compressed *c, enum family family, uint32_t number, char *error)
{
	for (size_t i = 0; number && i < 2 * sizeof(names) / sizeof(names[0]); i++) {
		const struct name *n = &names[i / 2];
		const bool srgb = i % 2;

		if (number != (family == DXGI ? n->dxgi[srgb] : family == VULKAN ? n->vulkan[srgb]
									      : n->gl[srgb]))
			continue;
		c->format = n->format;
		c->order = n->order;
		c->srgb = srgb;
		c->block_width = c->block_height = 4;
		c->block_bytes = n->bytes;
		return 0;
	}
	if (family == VULKAN && number >= 157 && number < 157 + 28)
		set_astc(c, (number - 157) / 2, (number - 157) % 2);
	else if (family == GL && number >= 0x93b0 && number < 0x93b0 + 14)
		set_astc(c, number - 0x93b0, false);
	else if (family == GL && number >= 0x93d0 && number < 0x93d0 + 14)
		set_astc(c, number - 0x93d0, true);
	else
		return fail(error, "a format that the GPU does not have, or not compressed");
	return 0;
}

/* Bytes of a level; what has been said of the texture is within its limits. */
static size_t level_bytes(const struct compressed *c, uint32_t level)
{
	uint32_t height = c->height >> level ? c->height >> level : 1;

	return compressed_pitch(c, level) * ((height + c->block_height - 1) / c->block_height);
}

static int check_extent(struct compressed *c, uint32_t levels, char *error)
{
	uint32_t longest = c->width > c->height ? c->width : c->height;

	if (!c->width || !c->height || longest > COMPRESSED_SIDE)
		return fail(error, "a texture of more than 16384 texels a side, or none");
	c->levels = levels ? levels : 1;
	if (c->levels > COMPRESSED_LEVELS || !(longest >> (c->levels - 1)))
		return fail(error, "more levels than a texture of its size has");
	return 0;
}

/* Levels one after the other from @at on. */
static int take_levels(struct compressed *c, const uint8_t *data, size_t size, size_t at,
		       char *error)
{
	for (uint32_t l = 0; l < c->levels; l++) {
		size_t bytes = level_bytes(c, l);

		if (at > size || bytes > size - at)
			return fail(error, "the file ends before its texture does");
		c->level[l] = data + at;
		at += bytes;
	}
	return 0;
}

/* ---- Files ----------------------------------------------------------------------------------- */

static const uint8_t dds_magic[4] = { 'D', 'D', 'S', ' ' };
static const uint8_t astc_magic[4] = { 0x13, 0xab, 0xa1, 0x5c };
static const uint8_t ktx_magic[12] = {
	0xab, 'K', 'T', 'X', ' ', '1', '1', 0xbb, '\r', '\n', 0x1a, '\n'
};
static const uint8_t ktx2_magic[12] = {
	0xab, 'K', 'T', 'X', ' ', '2', '0', 0xbb, '\r', '\n', 0x1a, '\n'
};

#define FOURCC(a, b, c, d) ((a) | (b) << 8 | (c) << 16 | (d) << 24)

static int parse_dds(struct compressed *c, const uint8_t *p, size_t size, char *error)
{
	static const uint32_t codes[][2] = {
		{ FOURCC('D', 'X', 'T', '1'), 71 }, { FOURCC('D', 'X', 'T', '3'), 74 },
		{ FOURCC('D', 'X', 'T', '5'), 77 }, { FOURCC('A', 'T', 'I', '1'), 80 },
		{ FOURCC('B', 'C', '4', 'U'), 80 }, { FOURCC('B', 'C', '4', 'S'), 81 },
		{ FOURCC('A', 'T', 'I', '2'), 83 }, { FOURCC('B', 'C', '5', 'U'), 83 },
		{ FOURCC('B', 'C', '5', 'S'), 84 },
	};
	uint32_t code, dxgi = 0, at = 128;

	if (size < at)
		return fail(error, "the file ends in its header");
	code = le32(p + 84);
	if (le32(p + 112) & 0x200200)
		return fail(error, "a cube or a volume");
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		dxgi = code == codes[i][0] ? codes[i][1] : dxgi;
	if (code == FOURCC('D', 'X', '1', '0')) {
		at = 148;
		if (size < at)
			return fail(error, "the file ends in its header");
		if (le32(p + 132) != 3 || le32(p + 136) & 4 || le32(p + 140) > 1)
			return fail(error, "a cube, a volume or an array");
		dxgi = le32(p + 128);
	}
	c->height = le32(p + 12);
	c->width = le32(p + 16);
	if (find_format(c, DXGI, dxgi, error) || check_extent(c, le32(p + 28), error))
		return -1;
	return take_levels(c, p, size, at, error);
}

static int parse_ktx(struct compressed *c, const uint8_t *p, size_t size, char *error)
{
	size_t at;

	if (size < 64)
		return fail(error, "the file ends in its header");
	if (le32(p + 12) != 0x04030201)
		return fail(error, "a file of big-endian numbers");
	if (le32(p + 44) || le32(p + 48) || le32(p + 52) != 1)
		return fail(error, "a cube, a volume or an array");
	c->width = le32(p + 36);
	c->height = le32(p + 40);
	if (find_format(c, GL, le32(p + 28), error) || check_extent(c, le32(p + 56), error))
		return -1;
	/* each level has its size before it; all sizes are multiples of 4 */
	at = 64 + (size_t)le32(p + 60);
	for (uint32_t l = 0; l < c->levels; l++) {
		size_t bytes = level_bytes(c, l);

		if (at > size || size - at < 4 || bytes > size - at - 4)
			return fail(error, "the file ends before its texture does");
		if (le32(p + at) != bytes)
			return fail(error, "a level of another size than its extent says");
		c->level[l] = p + at + 4;
		at += 4 + bytes;
	}
	return 0;
}

static int parse_ktx2(struct compressed *c, const uint8_t *p, size_t size, char *error)
{
	if (size < 80)
		return fail(error, "the file ends in its header");
	if (le32(p + 28) || le32(p + 32) || le32(p + 36) != 1)
		return fail(error, "a cube, a volume or an array");
	if (le32(p + 44))
		return fail(error, "blocks that are compressed once more");
	c->width = le32(p + 20);
	c->height = le32(p + 24);
	if (find_format(c, VULKAN, le32(p + 12), error) || check_extent(c, le32(p + 40), error))
		return -1;
	if (size < 80 + 24 * (size_t)c->levels)
		return fail(error, "the file ends in its header");
	for (uint32_t l = 0; l < c->levels; l++) {
		const uint8_t *entry = p + 80 + 24 * l;
		uint64_t at = le32(entry) | (uint64_t)le32(entry + 4) << 32;
		size_t bytes = level_bytes(c, l);

		if (le32(entry + 8) != bytes || le32(entry + 12))
			return fail(error, "a level of another size than its extent says");
		if (at > size || bytes > size - at)
			return fail(error, "the file ends before its texture does");
		c->level[l] = p + at;
	}
	return 0;
}

static int parse_astc(struct compressed *c, const uint8_t *p, size_t size, char *error)
{
	uint32_t i = 0;

	if (size < 16)
		return fail(error, "the file ends in its header");
	while (i < 14 && (p[4] != astc_sizes[i][0] || p[5] != astc_sizes[i][1]))
		i++;
	if (i == 14 || p[6] != 1 || (le32(p + 12) >> 8) != 1)
		return fail(error, "a volume, or blocks of a size that there is not");
	/* the header says nothing of sRGB, pictures mostly have it */
	set_astc(c, i, true);
	c->width = le32(p + 7) & 0xffffff;
	c->height = le32(p + 10) & 0xffffff;
	return check_extent(c, 1, error) ? -1 : take_levels(c, p, size, 16, error);
}

static const struct kind {
	const uint8_t *magic;
	size_t length;
	int (*parse)(struct compressed *c, const uint8_t *p, size_t size, char *error);
} kinds[] = {
	{ dds_magic, sizeof(dds_magic), parse_dds }, { ktx_magic, sizeof(ktx_magic), parse_ktx },
	{ ktx2_magic, sizeof(ktx2_magic), parse_ktx2 },
	{ astc_magic, sizeof(astc_magic), parse_astc },
};

static const struct kind *kind_of(const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (size >= kinds[i].length && !memcmp(data, kinds[i].magic, kinds[i].length))
			return &kinds[i];
	return NULL;
}

bool compressed_is(const uint8_t *data, size_t size)
{
	return kind_of(data, size);
}

int compressed_parse(struct compressed *c, const uint8_t *data, size_t size, char *error)
{
	const struct kind *kind = kind_of(data, size);

	memset(c, 0, sizeof(*c));
	c->file_size = size;
	return kind ? kind->parse(c, data, size, error)
		    : fail(error, "neither DDS nor KTX nor ASTC");
}

/* All of a file, at most what the largest texture takes. */
static uint8_t *read_all(FILE *stream, size_t *size)
{
	size_t room = 1 << 16, n = 0, got;
	uint8_t *data = malloc(room), *more;

	while (data && (got = fread(data + n, 1, room - n, stream)) > 0) {
		n += got;
		if (n < room)
			continue;
		room *= 2;
		more = n < COMPRESSED_BYTES ? realloc(data, room) : NULL;
		if (!more)
			free(data);
		data = more;
	}
	*size = n;
	return data;
}

int compressed_read(struct compressed *c, const char *path, char *error)
{
	char text[PICTURE_ERROR] = "too large";
	FILE *stream = fopen(path, "rb");
	uint8_t *data;
	size_t size;
	int ret = -1;

	memset(c, 0, sizeof(*c));
	if (!stream) {
		snprintf(error, PICTURE_ERROR, "%s: %s", path, strerror(errno));
		return -1;
	}
	data = read_all(stream, &size);
	fclose(stream);
	if (data)
		ret = compressed_parse(c, data, size, text);
	if (ret) {
		snprintf(error, PICTURE_ERROR, "%.100s: %.150s", path, text);
		free(data);
		return -1;
	}
	c->file = data;
	return 0;
}

void compressed_free(struct compressed *c)
{
	free(c->file);
	c->file = NULL;
}
