#version 450
// SPDX-License-Identifier: MIT
// A point in column gl_DrawID + 8 * group and the row of the instance, with the numbers of its draw.
#extension GL_ARB_shader_draw_parameters : require
layout(push_constant) uniform Push { uint group; } push;
layout(location = 0) flat out uvec4 numbers;

void main()
{
	uint x = gl_DrawIDARB + 8 * push.group, y = gl_InstanceIndex - gl_BaseInstanceARB;

	numbers = uvec4(gl_DrawIDARB, gl_BaseVertexARB, gl_BaseInstanceARB, gl_VertexIndex);
	gl_PointSize = 1.0;
	gl_Position = vec4((vec2(x, y) + 0.5) / 16.0 - 1.0, 0.5, 1.0);
}
