/* SPDX-License-Identifier: MIT */
/*
 * Colors on their way to memory: clear values, averages of samples, alpha to coverage.
 */
#include "output.h"

#include <string.h>

void tsr_output_clear_texel(const struct tsr_format *format, const uint32_t words[4],
			    uint8_t texel[TSR_TEXEL_BYTES_MAX])
{
	union tsr_texel color;
	unsigned int type = TSR_REGISTER_TYPE_F32;
	uint32_t word[8] = { 0 };

	if (format->kind == TSR_FORMAT_KIND_UINT)
		type = TSR_REGISTER_TYPE_U32;
	if (format->kind == TSR_FORMAT_KIND_SINT)
		type = TSR_REGISTER_TYPE_S32;
	memcpy(word, words, 4 * sizeof(*word));
	tsr_format_from_registers(format, &color, type, 4, word);
	memset(texel, 0, TSR_TEXEL_BYTES_MAX);
	tsr_format_store(format, texel, &color);
}

static const uint8_t *sample_at(const struct tsr_format *format, const struct tsr_tile_target *t,
				unsigned int x, unsigned int y, unsigned int sample)
{
	return t->data + (size_t)sample * t->plane + (size_t)y * t->pitch + x * format->bytes;
}

/* In the order of the samples, in doubles: exact for normalized formats. */
static void average(const struct tsr_format *format, const struct tsr_tile_target *t,
		    unsigned int samples, unsigned int x, unsigned int y, union tsr_texel *mean)
{
	double sum[4] = { 0 };

	for (unsigned int s = 0; s < samples; s++) {
		union tsr_texel texel;

		tsr_format_load(format, sample_at(format, t, x, y, s), &texel);
		for (unsigned int c = 0; c < 4; c++)
			sum[c] += (double)texel.f[c];
	}
	for (unsigned int c = 0; c < 4; c++)
		mean->f[c] = (float)(sum[c] / samples);
}

typedef double numbers __attribute__((vector_size(32)));
typedef float texel_floats __attribute__((vector_size(16)));
typedef int32_t texel_words __attribute__((vector_size(16)));

/* True if a texel is four bytes that stand for themselves. */
static bool is_plain(const struct tsr_format *format)
{
	bool plain = format->plain;

	for (unsigned int c = 0; c < 4; c++)
		plain &= format->from[c] == c && format->to[c] == c;
	return plain;
}

/* average() of such, stored at @out. */
static void average_plain(const struct tsr_tile_target *t, const uint8_t *first,
			  unsigned int samples, uint8_t *out)
{
	const float *value = tsr_format_bytes(false);
	numbers sum = { 0 };
	texel_words mean;

	for (unsigned int s = 0; s < samples; s++, first += t->plane)
		sum += (numbers){ value[first[0]], value[first[1]], value[first[2]],
				  value[first[3]] };
	sum = __builtin_convertvector(__builtin_convertvector(sum / samples, texel_floats),
				      numbers);
	mean = __builtin_convertvector(sum * UINT8_MAX + 0.5, texel_words);
	for (unsigned int c = 0; c < 4; c++)
		out[c] = mean[c];
}

/* True if all samples of @bytes from @first on are the same. */
static bool equal(const struct tsr_tile_target *t, const uint8_t *first, unsigned int samples,
		  size_t bytes)
{
	for (unsigned int s = 1; s < samples; s++) {
		if (memcmp(first, first + (size_t)s * t->plane, bytes))
			return false;
	}
	return true;
}

/* Pixels that are most often alike in having one color each. */
#define TOGETHER 8u

void tsr_output_resolve(const struct tsr_format *format, const struct tsr_tile_target *t,
			unsigned int samples, unsigned int x, unsigned int y, unsigned int count,
			uint8_t *out)
{
	const unsigned int bytes = format->bytes, end = x + count;
	const bool integer = tsr_format_is_integer(format), plain = is_plain(format);
	bool alike = false;

	memcpy(out, sample_at(format, t, x, y, 0), (size_t)count * bytes);
	for (unsigned int n = 0; !integer && x < end; n++, x++, out += bytes) {
		const uint8_t *first = sample_at(format, t, x, y, 0);
		union tsr_texel mean;

		if (n % TOGETHER == 0)
			alike = end - x >= TOGETHER && equal(t, first, samples, TOGETHER * bytes);
		if (alike || equal(t, first, samples, bytes))
			continue;
		if (plain) {
			average_plain(t, first, samples, out);
			continue;
		}
		average(format, t, samples, x, y, &mean);
		tsr_format_store(format, out, &mean);
	}
}

/*
 * Samples in the order they are taken: bits of the number reversed, so that few lie far apart, and
 * turned by a quarter from pixel to pixel.
 */
uint16_t tsr_alpha_coverage(float alpha, unsigned int samples, unsigned int x, unsigned int y)
{
	unsigned int count, mask = 0, rotation = (x % 2 + 2 * (y % 2)) * samples / 4;

	if (!(alpha > 0))
		return 0;
	count = alpha >= 1 ? samples : (unsigned int)(alpha * (float)samples + 0.5f);
	for (unsigned int i = 0; i < count; i++) {
		unsigned int sample = 0, n = (i + rotation) % samples;

		for (unsigned int bit = 1; bit < samples; bit *= 2, n /= 2)
			sample = sample * 2 + n % 2;
		mask |= 1u << sample;
	}
	return mask;
}
