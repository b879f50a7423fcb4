#version 450
// SPDX-License-Identifier: MIT
// numbers of 64, 16 and 8 bits: arithmetic, and in memory
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int16 : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_8bit_storage : require
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In {
	int64_t a[64], b[64];
	int16_t c[64], d[64];
	uint8_t e[64];
};
layout(set = 0, binding = 1, std430) buffer Out {
	int64_t wide[64 * 12];
	int16_t narrow[64 * 8];
	uint8_t bytes[64 * 2];
};
layout(set = 0, binding = 2, std140) uniform Same { i16vec4 same[16]; };

void put64(uint n, int64_t value)
{
	wide[64 * n + gl_LocalInvocationID.x] = value;
}

void put16(uint n, int16_t value)
{
	narrow[64 * n + gl_LocalInvocationID.x] = value;
}

void main()
{
	uint i = gl_LocalInvocationID.x;
	int64_t x = a[i], y = b[i];
	int16_t v = c[i], w = d[i];
	uint n = uint(y) & 63;

	put64(0, x + y);
	put64(1, x - y);
	put64(2, x * y);
	put64(3, x / y);
	put64(4, int64_t(uint64_t(x) / uint64_t(y)));
	put64(5, int64_t(uint64_t(x) % uint64_t(y)));
	put64(6, x << n);
	put64(7, x >> n);
	put64(8, int64_t(uint64_t(x) >> n));
	put64(9, int64_t(x < y ? 1 : 0) + int64_t(uint64_t(x) < uint64_t(y) ? 2 : 0));
	put64(10, min(x, y) ^ abs(y));
	put64(11, int64_t(v) * int64_t(int(w)));
	put16(0, v + w);
	put16(1, v * w);
	put16(2, v - w);
	put16(3, v / w);
	put16(4, v >> (w & int16_t(15)));
	put16(5, max(v, w));
	put16(6, int16_t(x));
	put16(7, same[i / 4][i % 4]);
	bytes[i] = uint8_t(uint(e[i]) + uint(v));
	bytes[64 + i] = e[63 - i];
}
