#version 450
// SPDX-License-Identifier: MIT
// Triangle i covers the center of one pixel if bit 0 of word i is 1. The word gives its value.
layout(push_constant) uniform Push { layout(offset = 20) uint factor; uint other; } push;
layout(set = 0, binding = 0, std430) readonly buffer In { uint from[]; };
layout(location = 0) flat out uint value;

void main()
{
	uint i = gl_VertexIndex / 3, corner = gl_VertexIndex % 3, word = from[i], pixel = i ^ push.other;
	vec2 p = vec2(pixel % 32, pixel / 32) + 1.5 * vec2(corner == 1, corner == 2);

	value = word * push.factor;
	gl_Position = vec4((word & 1) == 1 ? p / 16.0 - 1.0 : vec2(-2.0), 0.5, 1.0);
}
