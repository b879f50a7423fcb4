#version 450
#extension GL_KHR_shader_subgroup_basic : require
// SPDX-License-Identifier: MIT
// target: vulkan1.1
// numbers of threads in subgroups, elections, and memory that the threads of a subgroup share
layout(local_size_x = 24, local_size_y = 3) in;
layout(set = 0, binding = 0, std430) buffer Out { uvec4 ids[72]; uvec4 found[72]; };
shared uint words[16];
void main()
{
	uint i = gl_LocalInvocationIndex, s = gl_SubgroupID, elected = 0, odd = 0;

	if (subgroupElect()) {
		elected = 1;
		words[s] = 1000 + i;
	}
	subgroupBarrier();
	uint first = words[s];
	subgroupBarrier();
	// the first thread of the odd half is another one
	if (i % 2 == 1) {
		if (subgroupElect()) {
			odd = 1;
			words[s] = 2000 + i;
		}
		subgroupMemoryBarrierShared();
	}
	subgroupBarrier();
	ids[i] = uvec4(s, gl_SubgroupInvocationID, gl_NumSubgroups, gl_SubgroupSize);
	found[i] = uvec4(elected, odd, first, words[s]);
}
