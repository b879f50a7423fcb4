#version 450
// SPDX-License-Identifier: MIT
// the distances at the pixel
in float gl_ClipDistance[6];
layout(location = 0) out vec4 color;

void main()
{
	color = vec4(gl_ClipDistance[0], gl_ClipDistance[3], gl_ClipDistance[5], 1.0);
}
