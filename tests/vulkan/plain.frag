#version 450
// SPDX-License-Identifier: MIT
layout(location = 0) in vec4 shade;
layout(location = 1) flat in uint number;
layout(location = 0) out vec4 color;
layout(location = 1) out uint label;

void main()
{
	color = shade;
	label = number;
}
