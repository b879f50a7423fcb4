#version 450
// SPDX-License-Identifier: MIT
// one thread of one group accesses an address
#extension GL_EXT_buffer_reference : require
layout(local_size_x = 64) in;
layout(buffer_reference, buffer_reference_align = 4, std430) buffer Word { uint value; };
layout(push_constant) uniform Push { Word at; uint group, thread, store; };
void main()
{
	if (gl_WorkGroupID.y != group || gl_LocalInvocationID.x != thread)
		return;
	if (store != 0)
		at.value = 1;
	else
		at.value = at.value + thread;
}
