#version 450
// SPDX-License-Identifier: MIT
// Storage images and texel buffers.
layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 0, binding = 0, rgba8) uniform image2D picture;
layout(set = 0, binding = 1, r32ui) uniform uimage2DArray counts;
layout(set = 0, binding = 2, rgba16f) uniform image3D volume;
layout(set = 0, binding = 3) writeonly uniform image2D any[2];
layout(set = 1, binding = 0) uniform usamplerBuffer words;
layout(set = 1, binding = 1, r32ui) uniform uimageBuffer sums;
layout(set = 1, binding = 2) buffer Out { uint sizes[]; };

void main()
{
	ivec2 p = ivec2(gl_GlobalInvocationID.xy);
	vec4 color = imageLoad(picture, p);

	imageStore(picture, p, vec4(color.y, color.x, float(p.x) / 255.0, float(p.y) / 255.0));
	imageAtomicAdd(counts, ivec3(p / 4, p.x & 1), uint(p.x + p.y));
	imageStore(volume, ivec3(p / 2, p.x & 3), vec4(p, 0.5, -1.0));
	imageStore(any[p.x & 1], p, vec4(1.0, float(p.y) / 255.0, 0.0, 1.0));
	imageAtomicAdd(sums, p.x & 7, texelFetch(words, p.x + 16 * p.y).x);
	if (p == ivec2(0)) {
		sizes[0] = imageSize(picture).x;
		sizes[1] = imageSize(counts).z;
		sizes[2] = imageSize(volume).y;
		sizes[3] = imageSize(sums);
		sizes[4] = textureSize(words);
		sizes[5] = imageSize(any[1]).y;
	}
}
