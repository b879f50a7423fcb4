#version 450
// SPDX-License-Identifier: MIT
// A texture with levels by the pixel's derivatives, a uniform buffer, an image and a counter.
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
layout(set = 0, binding = 0) uniform sampler2D picture;
layout(set = 0, binding = 1) uniform Block { vec4 tint; vec2 scale; } block;
layout(set = 0, binding = 2, r32ui) uniform uimage2D visits;
layout(set = 0, binding = 3) buffer Count { uint count; };

void main()
{
	color = texture(picture, uv * block.scale) * block.tint;
	imageAtomicAdd(visits, ivec2(gl_FragCoord.xy) / 8, 1);
	atomicAdd(count, 1);
}
