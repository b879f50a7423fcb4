#version 450
// SPDX-License-Identifier: MIT
// As clip.vert, without cull distances: the clip distances alone are more than one vector.
layout(push_constant) uniform Push { float left, top; } push;
out float gl_ClipDistance[6];

void main()
{
	vec2 p = vec2((gl_VertexIndex & 1) * 4, (gl_VertexIndex & 2) * 2) - 1.0;
	vec2 at = (p * 0.5 + 0.5) * 64.0;

	gl_ClipDistance[0] = at.x - push.left;
	for (int i = 1; i < 5; i++)
		gl_ClipDistance[i] = 1.0;
	gl_ClipDistance[5] = at.y - push.top;
	gl_Position = vec4(p, 0.5, 1.0);
}
