#version 450
// SPDX-License-Identifier: MIT
// A color of three outputs.
layout(location = 0, component = 0) out float red;
layout(location = 0, component = 1) out vec2 middle;
layout(location = 0, component = 3) out float alpha;

void main()
{
	alpha = 4.0;
	middle = vec2(2.0, 3.0);
	red = 1.0;
}
