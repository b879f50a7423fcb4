#version 450
// SPDX-License-Identifier: MIT
// Positions and colors from buffers; the place of an instance; push constants.
layout(location = 0) in vec2 position;
layout(location = 1) in vec4 color;
layout(location = 2) in vec2 place;
layout(location = 0) out vec4 shade;
layout(location = 1) flat out uint number;
layout(push_constant) uniform Push { vec2 scale; float depth; } push;

void main()
{
	gl_Position = vec4(position * push.scale + place, push.depth, 1.0);
	shade = color;
	number = gl_VertexIndex * 16 + gl_InstanceIndex;
}
