#version 450
// SPDX-License-Identifier: MIT
// The two corners of a line, in pixels of a target of 64 by 64.
layout(push_constant) uniform Push { vec4 ends; } push;

void main()
{
	vec2 at = gl_VertexIndex == 0 ? push.ends.xy : push.ends.zw;

	gl_Position = vec4(at / 32.0 - 1.0, 0.5, 1.0);
}
