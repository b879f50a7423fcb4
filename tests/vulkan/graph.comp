#version 450
// SPDX-License-Identifier: MIT
layout(local_size_x = 64) in;
layout(set = 0, binding = 0, std430) readonly buffer In { uint from[]; };
layout(set = 0, binding = 1, std430) buffer Out { uint to[]; };
layout(push_constant) uniform Push { uint factor, add; };
void main()
{
	uint i = gl_GlobalInvocationID.x;

	to[i] = from[i] * factor + add;
}
