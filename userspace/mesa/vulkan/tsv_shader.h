/* SPDX-License-Identifier: MIT */
/* Shaders: SPIR-V by way of NIR to machine code, and what the device has to know to run it. */
#ifndef TSV_SHADER_H
#define TSV_SHADER_H

#include "vk_shader.h"

#include "tsv_descriptor.h"
#include "tsv_device.h"

/*
 * Parameters of a dispatch for its shader. The whole block is the shader's push constants, and it
 * is in memory as well, for accesses with an offset that is not constant.
 */
struct tsv_params {
	uint64_t self;			/* address of this block */
	uint64_t groups;		/* address of the three numbers of groups */
	uint64_t sets[TSV_SETS];	/* addresses of the descriptor sets */
	uint32_t dynamic[TSV_DYNAMIC];	/* dynamic offsets, in the order of the pipeline layout */
	uint32_t direct[3];		/* groups of a dispatch that is not indirect */
	uint32_t base[3];		/* number of the first group */
	uint8_t push[TSV_PUSH_BYTES];	/* the program's push constants */
};

/* Everything but the code; plain data, which is serialized as it is. */
struct tsv_shader_info {
	uint32_t code_size;
	uint32_t local[3];		/* threads of a group */
	uint32_t group_memory;		/* bytes */
	uint32_t scratch;		/* bytes of a thread */
	uint32_t push_words;		/* of struct tsv_params that the shader reads */
	uint32_t registers_64;		/* bool */
	uint32_t dynamic[TSV_SETS];	/* index of a set's first dynamic offset */
	uint32_t dynamic_count;
};

struct tsv_shader {
	struct vk_shader vk;
	struct tsv_shader_info info;
	struct tsr_alloc code;		/* of tsv_device.lists */
};

extern const struct vk_device_shader_ops tsv_device_shader_ops;

/* tsv_cmd_bind_shaders(): vk_device_shader_ops.cmd_bind_shaders. */
void tsv_cmd_bind_shaders(struct vk_command_buffer *cmd, uint32_t count,
			  const gl_shader_stage *stages, struct vk_shader **const shaders);

/* tsv_nir_lower(): descriptors, push constants and system values of a compute shader. */
void tsv_nir_lower(nir_shader *nir, const struct vk_shader_compile_info *info,
		   const struct tsv_shader_info *shader);

/*
 * tsv_device_scratch(): make the device's scratch memory at least @bytes for each thread. All
 * dispatches share it and run one at a time. VK_ERROR_OUT_OF_DEVICE_MEMORY.
 */
VkResult tsv_device_scratch(struct tsv_device *device, uint32_t bytes);

#endif
