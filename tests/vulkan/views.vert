#version 450
#extension GL_EXT_multiview : require
// SPDX-License-Identifier: MIT
// A triangle over the whole of each view.
layout(location = 0) flat out float view;

void main()
{
	view = float(gl_ViewIndex) / 255.0;
	gl_Position = vec4(vec2((gl_VertexIndex & 1) * 4, (gl_VertexIndex & 2) * 2) - 1.0, 0.5, 1.0);
}
