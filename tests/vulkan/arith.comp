#version 450
// SPDX-License-Identifier: MIT
// words[i] from the number of the thread, the groups and the push constants
layout(local_size_x = 64) in;
layout(set = 0, binding = 3) buffer Out { uint words[]; };
layout(push_constant) uniform Push { uint factor; uint limit; uint table[8]; };
void main()
{
	uint i = gl_GlobalInvocationID.x;
	if (i < limit)
		words[i] = i * factor + gl_WorkGroupID.x + 1000 * gl_NumWorkGroups.x + table[i & 7];
}
