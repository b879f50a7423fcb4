/* SPDX-License-Identifier: MIT */
/* Shaders: SPIR-V by way of NIR to machine code, and what the device has to know to run it. */
#ifndef TSV_SHADER_H
#define TSV_SHADER_H

#include "compiler/nir/nir_builder.h"
#include "vk_shader.h"

#include "tc_nir.h"

#include "tsv_descriptor.h"
#include "tsv_device.h"

#define TSV_ATTRIBUTES	16u	/* of a vertex shader; images follow them in the table */

/*
 * Parameters of a dispatch or a draw for its shaders. The whole block is the shaders' push
 * constants, and it is in memory as well, for accesses with an offset that is not constant.
 */
struct tsv_params {
	uint64_t self;			/* address of this block */
	uint64_t groups;		/* address of the three numbers of groups */
	uint64_t sets[TSV_SETS];	/* addresses of the descriptor sets */
	uint32_t dynamic[TSV_DYNAMIC];	/* dynamic offsets, in the order of the pipeline layout */
	uint32_t direct[3];		/* groups of a dispatch that is not indirect */
	uint32_t base[3];		/* number of the first group */
	uint64_t draw;			/* address of two numbers as the next two, or 0 */
	uint32_t first_vertex;		/* is added to numbers of vertices */
	uint32_t first_instance;
	uint32_t draw_id;
	uint32_t view;			/* of the views of the render pass */
	uint8_t push[TSV_PUSH_BYTES];	/* the program's push constants */
};

/* Tables of a program. A value indexes tsv_shader_info.table. */
enum tsv_table_kind { TSV_TEXTURES, TSV_SAMPLERS, TSV_IMAGES, TSV_TABLES };

#define TSV_TABLE_ENTRIES	128u	/* bindings in a table */
#define TSV_TABLE_SLOTS		128u	/* elements in a table */

/* The elements of a binding in a table. */
struct tsv_table_entry {
	uint32_t offset;		/* of the first element's words in the set, bytes */
	uint16_t stride;		/* bytes from element to element in the set */
	uint16_t first, count;		/* slots of the table */
	uint16_t set;
};

struct tsv_table {
	uint16_t entries, slots;
	struct tsv_table_entry entry[TSV_TABLE_ENTRIES];
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
	/* vertex shaders */
	uint32_t attributes;		/* entries of the table of attributes */
	uint32_t clip_distances, cull_distances;	/* masks */
	uint8_t writes_point_size, writes_layer, writes_viewport;
	uint8_t reads_draw;		/* first_vertex and what follows */
	/* fragment shaders */
	uint32_t linear;		/* varyings (their numbers) without perspective */
	uint32_t color_outputs;		/* mask */
	uint8_t discards, helpers, writes_memory, sample_shading;
	struct pan_shader_info pan;
	struct tsv_table table[TSV_TABLES];
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

/*
 * tsv_nir_store_layer(): make the view the layer, in a vertex shader of a pass with views. The
 * driver draws once for each view. Before variables become loads and stores.
 */
void tsv_nir_store_layer(nir_shader *nir);

/* tsv_nir_merge_colors(): make a vector of the outputs that are components of a color. */
void tsv_nir_merge_colors(nir_shader *nir);

/* tsv_nir_load_layer(): find the layer in a varying. Before tc_nir_place_inputs(). */
void tsv_nir_load_layer(nir_shader *nir);

/*
 * tsv_nir_draw(): take the numbers of vertices, instances, draws and views from the parameters, and
 * make a vertex shader's inputs attributes. @instanced is the mask of the attributes that instances
 * have. After tsv_nir_lower().
 */
void tsv_nir_draw(nir_shader *nir, uint32_t instanced, struct tsv_shader_info *shader);

/*
 * tsv_subgroup_size(): threads of a subgroup. tsv_nir_subgroups(): number the threads of a subgroup
 * from 0. Before bifrost_preprocess_nir().
 */
unsigned tsv_subgroup_size(void);
void tsv_nir_subgroups(nir_shader *nir);

/* tsv_nir_param(): word @offset of struct tsv_params. */
nir_def *tsv_nir_param(nir_builder *b, unsigned offset);

/* tsv_nir_lower(): descriptors, push constants and system values. */
void tsv_nir_lower(nir_shader *nir, const struct vk_shader_compile_info *info,
		   const struct tsv_shader_info *shader);

/*
 * tsv_nir_lower_tables(): textures, samplers and images, after tsv_nir_lower(). Fills in
 * @shader->table. @first_image is the place of image 0 in the table of attributes. Returns false if
 * the shader names more than the tables hold, which the limits of the device rule out.
 */
bool tsv_nir_lower_tables(nir_shader *nir, const struct vk_shader_compile_info *info,
			  struct tsv_shader_info *shader, unsigned first_image);

/* tsv_nir_set_va(): the address of byte @offset of a bound descriptor set. */
nir_def *tsv_nir_set_va(nir_builder *b, unsigned set, uint32_t offset);

/*
 * tsv_device_scratch(): make the scratch memory of @user at least @bytes for each thread. Commands
 * that share it run one at a time. VK_ERROR_OUT_OF_DEVICE_MEMORY. tsv_scratch(): that memory now.
 */
VkResult tsv_device_scratch(struct tsv_device *device, enum tsv_scratch_user user, uint32_t bytes);
struct tsv_scratch tsv_scratch(struct tsv_device *device, enum tsv_scratch_user user);

#endif
