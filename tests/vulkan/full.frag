#version 450
// SPDX-License-Identifier: MIT
layout(push_constant) uniform Push { vec4 color; float depth; } push;
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;

void main()
{
	color = push.color;
}
