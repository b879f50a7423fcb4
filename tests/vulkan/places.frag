#version 450
// SPDX-License-Identifier: MIT
// Squares of the place of the sample in the pixel, by the fragment's position and by an input.
in float gl_ClipDistance[6];
layout(location = 0) out vec4 color;

void main()
{
	vec3 at = fract(vec3(gl_FragCoord.xy, gl_ClipDistance[0]));

	color = vec4(at * at, 1.0);
}
