#version 450
// SPDX-License-Identifier: MIT
// A triangle that covers the whole target, at a depth that is pushed.
layout(push_constant) uniform Push { vec4 color; float depth; } push;
layout(location = 0) out vec2 uv;

void main()
{
	vec2 p = vec2((gl_VertexIndex & 1) * 4, (gl_VertexIndex & 2) * 2) - 1.0;

	uv = (p + 1.0) / 2.0;
	gl_Position = vec4(p, push.depth, 1.0);
}
