/* SPDX-License-Identifier: MIT */
/*
 * GL operations whose speed is compared between two drivers. Each file ops_NAME.c has a table of
 * operations of one kind. All run in one OpenGL ES 3.2 context, which is current.
 */
#ifndef OPS_H
#define OPS_H

#include <stddef.h>
#include <stdint.h>

#include <GLES3/gl32.h>
#include <GLES2/gl2ext.h>

#define OPS_SIDE	512		/* pixels, of targets */
#define OPS_SOURCE	256		/* texels, of textures */

/* A prepared operation. Functions end the program with a message when GL reports an error. */
struct op {
	const char *name;
	/* Create what the operation needs. */
	void (*begin)(const struct op *op);
	/* Submit the operation once. What one run is called in figures is its kind's affair. */
	void (*run)(const struct op *op);
	/* Kind of the operation, for its begin() and run(). */
	const void *data;
};

/* Tables, each ended by an entry without a name. */
extern const struct op ops_fragment[], ops_output[], ops_vertex[], ops_compute[], ops_blit[],
	ops_update[];

/* The following create objects, which ops_end() deletes, and bind them. */
GLuint ops_program(const char *vertex, const char *fragment);
GLuint ops_compute_program(const char *text);
GLuint ops_texture(GLenum target);
GLuint ops_buffer(GLenum target, const void *data, size_t size);
/* A framebuffer with @count color targets of @format, samples, and a depth buffer. */
GLuint ops_target(GLenum format, unsigned int count, unsigned int samples);
/* The framebuffer whose first color target ops_picture() reads. */
void ops_show(GLuint framebuffer);
void ops_end(void);
/* End the program if GL has an error. */
void ops_check(const char *what);
__attribute__((noreturn, format(printf, 1, 2)))
void ops_die(const char *format, ...);

#endif
