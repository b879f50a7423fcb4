#version 450
// SPDX-License-Identifier: MIT
// reads and writes beyond the buffers that are bound; the length is that of the binding
layout(local_size_x = 16) in;
layout(set = 0, binding = 0) uniform In { uvec4 values[64]; };
layout(set = 0, binding = 1) buffer Data { uint data[]; };
layout(set = 0, binding = 2) buffer Out { uint words[]; };
layout(push_constant) uniform Push { uint first; };
void main()
{
	uint i = first + gl_GlobalInvocationID.x;
	words[3 * gl_GlobalInvocationID.x] = values[i].y;
	words[3 * gl_GlobalInvocationID.x + 1] = data[i];
	words[3 * gl_GlobalInvocationID.x + 2] = data.length();
	data[i] = 0xabcd;
	atomicOr(data[i], 0x10000);
}
