#version 450
// SPDX-License-Identifier: MIT
// waits until the host stores a word, but looks at it only so many times
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer Spin { uint word, result; };
layout(push_constant) uniform Push { uint most; };
void main()
{
	uint n = 0;
	while (n < most && atomicAdd(word, 0) == 0)
		n++;
	result = n < most ? 1 : 2;
}
