#version 450
// SPDX-License-Identifier: MIT
// What the first subpass has left.
layout(input_attachment_index = 0, set = 0, binding = 0) uniform subpassInput before;
layout(location = 0) out vec4 color;

void main()
{
	color = subpassLoad(before).brga;
}
