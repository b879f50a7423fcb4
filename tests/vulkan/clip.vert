#version 450
// SPDX-License-Identifier: MIT
// A triangle that covers the whole target of 64 by 64 pixels, with distances of its corners.
layout(push_constant) uniform Push { float left, top, cull[3]; } push;
out float gl_ClipDistance[6];
out float gl_CullDistance[2];

void main()
{
	vec2 p = vec2((gl_VertexIndex & 1) * 4, (gl_VertexIndex & 2) * 2) - 1.0;
	vec2 at = (p * 0.5 + 0.5) * 64.0;

	gl_ClipDistance[0] = at.x - push.left;
	for (int i = 1; i < 5; i++)
		gl_ClipDistance[i] = 1.0;
	gl_ClipDistance[5] = at.y - push.top;
	gl_CullDistance[0] = 1.0;
	gl_CullDistance[1] = push.cull[gl_VertexIndex];
	gl_Position = vec4(p, 0.5, 1.0);
}
