#version 450
#extension GL_EXT_multiview : require
// SPDX-License-Identifier: MIT
layout(location = 0) flat in float view;
layout(location = 0) out vec4 color;

void main()
{
	color = vec4(view, float(gl_ViewIndex) / 255.0, 0.0, 1.0);
}
