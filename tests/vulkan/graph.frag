#version 450
// SPDX-License-Identifier: MIT
layout(push_constant) uniform Push { layout(offset = 20) uint value; } push;
layout(location = 0) out uint color;

void main()
{
	uvec2 p = uvec2(gl_FragCoord.xy);

	color = push.value + p.x + 32 * p.y;
}
