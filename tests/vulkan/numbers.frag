#version 450
// SPDX-License-Identifier: MIT
layout(location = 0) flat in uvec4 numbers;
layout(location = 0) out uvec4 color;

void main()
{
	color = numbers;
}
