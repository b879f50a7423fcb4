#version 450
#extension GL_EXT_samplerless_texture_functions : require
// SPDX-License-Identifier: MIT
// Every way to read a texture that has no derivatives: eight vectors for each thread.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) uniform sampler2D pictures[3];
layout(set = 0, binding = 1) uniform texture2DArray layers;
layout(set = 1, binding = 0) uniform sampler plain;
layout(set = 0, binding = 3) uniform sampler3D volume;
layout(set = 0, binding = 4) uniform samplerCube cube;
layout(set = 0, binding = 5) uniform sampler2DShadow shadow;
layout(set = 1, binding = 1) uniform sampler1DArray lines;
layout(set = 2, binding = 0) buffer Out { vec4 result[]; };

void main()
{
	uint i = gl_GlobalInvocationID.x;
	vec2 uv = vec2(float(i * 7 % 64) + 0.5, float(i * 11 % 64) + 0.5) / 24.0 - 0.8;
	vec3 dir = vec3(uv, (i & 1) != 0 ? 3.0 : -3.0);
	uint k = i % 3;

	if (i % 3 == 1)
		dir = dir.zxy;
	else if (i % 3 == 2)
		dir = dir.yzx;
	result[8 * i] = texelFetch(pictures[k], ivec2(i % 9, i / 9), 0);
	result[8 * i + 1] = textureLod(pictures[k], uv, 0.0);
	result[8 * i + 2] = textureLod(sampler2DArray(layers, plain), vec3(uv, float(i % 5)), 1.0);
	result[8 * i + 3] = textureLod(volume, vec3(uv, uv.x), 0.0);
	result[8 * i + 4] = textureLod(cube, dir, 0.0);
	result[8 * i + 5] = vec4(textureLod(shadow, vec3(uv, float(i) / 64.0), 0.0),
				 textureLod(lines, vec2(uv.x, float(i % 4)), 0.0).xyz);
	result[8 * i + 6] = textureGather(pictures[1], uv, 2);
	result[8 * i + 7] = vec4(textureSize(pictures[k], 0), textureSize(layers, 1).z * 100 +
				 textureQueryLevels(sampler2DArray(layers, plain)),
				 textureSize(volume, 0).z * 10000 + textureSize(layers, 1).x);
}
