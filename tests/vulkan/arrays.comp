#version 450
// SPDX-License-Identifier: MIT
// arrays of buffers with an index of each thread's own; a table in scratch memory
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) buffer In { uint words[]; } inputs[4];
layout(set = 2, binding = 1) buffer Out { uint words[]; } outputs[2];
void main()
{
	uint i = gl_GlobalInvocationID.x, table[96];
	for (uint k = 0; k < 96; k++)
		table[k] = inputs[k & 3].words[k] + i;
	outputs[i & 1].words[i / 2] = inputs[i % 4].words[i] + table[(i * 7) % 96];
}
