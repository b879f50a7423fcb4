// SPDX-License-Identifier: MIT
/*
 * Operations of compute shaders: shared memory, barriers, storage buffers, images, atomics.
 	One run
 * is one dispatch of COUNT invocations.
 */
#include <stdio.h>
#include <stdlib.h>

#include "ops.h"

#define COUNT	(1 << 16)
#define GROUP	64

struct kernel {
	const char *declares, *body;	/* uint id: number of the invocation */
	GLenum image;			/* internal format of image unit 0; 0: none */
};

static void begin(const struct op *op)
{
	const struct kernel *k = op->data;
	float *data = malloc(sizeof(float) * COUNT * 4);
	char text[4096];

	for (unsigned int i = 0; i < COUNT * 4; i++)
		data[i] = (float)(i % 1009) / 1009;
	snprintf(text, sizeof(text),
		 "#version 320 es\n"
		 "precision highp float; precision highp int; precision highp image2D; "
		 	"precision highp uimage2D;\n"
		 "layout(local_size_x = %u) in;\n"
		 "layout(std430, binding = 0) readonly buffer In { vec4 a[]; };\n"
		 "layout(std430, binding = 1) buffer Out { vec4 b[]; };\n"
		 "layout(std430, binding = 2) buffer Count { uint count[]; };\n%s\n"
		 "void main() {\n\tuint id = gl_GlobalInvocationID.x, li = "
		 	"gl_LocalInvocationIndex;\n\t%s\n}\n",
		 GROUP, k->declares, k->body);
	ops_compute_program(text);
	for (GLuint i = 0; i < 3; i++)
		glBindBufferBase(GL_SHADER_STORAGE_BUFFER, i,
				 ops_buffer(GL_SHADER_STORAGE_BUFFER, data, sizeof(float) *
				 	COUNT * 4));
	if (k->image) {
		GLuint texture = ops_texture(GL_TEXTURE_2D);

		glTexStorage2D(GL_TEXTURE_2D, 1, k->image, 256, 256);
		glBindImageTexture(0, texture, 0, GL_FALSE, 0, GL_READ_WRITE, k->image);
	}
	free(data);
}

static void run(const struct op *op)
{
	(void)op;
	glDispatchCompute(COUNT / GROUP, 1, 1);
	glMemoryBarrier(GL_ALL_BARRIER_BITS);
}

#define KERNEL(label, ...) { "compute_" label, begin, run, &(const struct kernel){ __VA_ARGS__ } }

const struct op ops_compute[] = {
	KERNEL("copy", "", "b[id] = a[id];", 0),
	KERNEL("gather", "", "b[id] = a[(id * 7919u) & 65535u];", 0),
	KERNEL("fma", "", "vec4 v = a[id]; for (int i = 0; i < 64; i++) v = v * 0.999 + a[li & "
		"3u]; b[id] = v;", 0),
	KERNEL("divergent_loop", "", "vec4 v = a[id]; uint m = id & 31u; for (uint i = 0u; i < "
		"m; i++) v += sin(v); b[id] = v;", 0),
	KERNEL("shared_sum", "shared float s[64];",
	       "s[li] = a[id].x; barrier(); for (uint w = 32u; w > 0u; w >>= 1) { if (li < w) "
	       "s[li] += s[li + w]; barrier(); } "
	       "if (li == 0u) b[gl_WorkGroupID.x].x = s[0];", 0),
	KERNEL("shared_transpose", "shared vec4 s[64];", "s[li] = a[id]; barrier(); b[id] = "
		"s[(li & 7u) * 8u + (li >> 3)];", 0),
	KERNEL("atomic_add_spread", "", "atomicAdd(count[id & 4095u], 1u);", 0),
	KERNEL("atomic_add_same", "", "atomicAdd(count[0], 1u);", 0),
	KERNEL("atomic_shared", "shared uint s[16];",
	       "if (li < 16u) s[li] = 0u; barrier(); atomicAdd(s[li & 15u], id); barrier(); if "
	       "(li < 16u) count[id] = s[li];", 0),
	KERNEL("image_store", "layout(rgba8, binding = 0) writeonly uniform image2D i;",
	       "imageStore(i, ivec2(id & 255u, id >> 8), a[id]);", GL_RGBA8),
	KERNEL("image_load", "layout(rgba8, binding = 0) readonly uniform image2D i;",
	       "b[id] = imageLoad(i, ivec2(id & 255u, id >> 8));", GL_RGBA8),
	KERNEL("image_atomic", "layout(r32ui, binding = 0) uniform uimage2D i;",
	       "imageAtomicAdd(i, ivec2(id & 255u, id >> 8), 1u);", GL_R32UI),
	{ NULL, NULL, NULL, NULL }
};
