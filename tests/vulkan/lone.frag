#version 450
// SPDX-License-Identifier: MIT
// An output that is one component of a color. The others are undefined.
layout(location = 0, component = 2) out float blue;

void main()
{
	blue = 3.0;
}
