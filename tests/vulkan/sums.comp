#version 450
// SPDX-License-Identifier: MIT
// sums of groups by shared memory and barriers, and of all by an atomic
layout(local_size_x = 128) in;
layout(set = 0, binding = 0) uniform In { uvec4 values[1024]; };
layout(set = 1, binding = 0) buffer Out { uint total; uint sums[]; };
shared uint part[128];
void main()
{
	uint l = gl_LocalInvocationIndex, i = gl_GlobalInvocationID.x;
	part[l] = values[i / 4][i % 4];
	for (uint n = 64; n > 0; n /= 2) {
		barrier();
		if (l < n)
			part[l] += part[l + n];
	}
	barrier();
	if (l == 0) {
		sums[gl_WorkGroupID.x] = part[0];
		atomicAdd(total, part[0]);
	}
}
