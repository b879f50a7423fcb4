#version 450
// SPDX-License-Identifier: MIT
// a linked list of buffers by their addresses
#extension GL_EXT_buffer_reference : require
layout(local_size_x = 1) in;
layout(buffer_reference) buffer Node;
layout(buffer_reference, buffer_reference_align = 16, std430) buffer Node { Node next; uint value; uint seen; };
layout(push_constant) uniform Push { Node first; uint count; };
void main()
{
	Node node = first;
	uint sum = 0;
	for (uint i = 0; i < count; i++) {
		sum += node.value;
		node.seen = sum;
		node = node.next;
	}
}
