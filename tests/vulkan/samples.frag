#version 450
// SPDX-License-Identifier: MIT
// Each sample's number.
layout(location = 0) out vec4 color;

void main()
{
	color = vec4(float(gl_SampleID) / 4.0, 1.0, 0.0, 1.0);
}
