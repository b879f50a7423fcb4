// SPDX-License-Identifier: MIT
/* Copies, blits and resolves between targets of OPS_SIDE x OPS_SIDE pixels: one of them a run. */
#include "ops.h"

struct blit {
	GLenum from, to;
	unsigned int samples;		/* of the source */
	GLbitfield mask;		/* of glBlitFramebuffer; 0: see copy */
	GLenum filter;
	unsigned int side;		/* of the rectangle written */
	enum { COPY_NONE, COPY_IMAGE, COPY_TO_TEXTURE } copy;
};

static GLuint from, to;			/* framebuffers */
static GLuint from_texture, to_texture;	/* their colors, for a copy */

static GLuint color_of(GLuint framebuffer)
{
	GLint name = 0;

	glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
	glGetFramebufferAttachmentParameteriv(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0,
					      GL_FRAMEBUFFER_ATTACHMENT_OBJECT_NAME, &name);
	return (GLuint)name;
}

/* A source with a corner of another color, so that a picture shows what was copied. */
static GLuint painted(GLenum format, unsigned int samples)
{
	GLuint name = ops_target(format, 1, samples);

	glClear(GL_COLOR_BUFFER_BIT);
	glEnable(GL_SCISSOR_TEST);
	glScissor(30, 50, 200, 100);
	glClearColor(.9f, .3f, .1f, .5f);
	glClear(GL_COLOR_BUFFER_BIT);
	glDisable(GL_SCISSOR_TEST);
	return name;
}

static void begin(const struct op *op)
{
	const struct blit *b = op->data;

	from = painted(b->from, b->samples);
	to = ops_target(b->to, 1, 0);
	glClear(GL_COLOR_BUFFER_BIT);
	if (b->copy) {
		from_texture = color_of(from);
		to_texture = color_of(to);
		glBindTexture(GL_TEXTURE_2D, to_texture);
		glBindFramebuffer(GL_FRAMEBUFFER, from);
	}
}

static void run(const struct op *op)
{
	const struct blit *b = op->data;
	const GLint side = (GLint)b->side;

	if (b->copy == COPY_TO_TEXTURE) {
		glCopyTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 0, 0, side, side);
	} else if (b->copy == COPY_IMAGE) {
		glCopyImageSubData(from_texture, GL_TEXTURE_2D, 0, 0, 0, 0,
				   to_texture, GL_TEXTURE_2D, 0, 0, 0, 0, side, side, 1);
	} else {
		glBindFramebuffer(GL_READ_FRAMEBUFFER, from);
		glBindFramebuffer(GL_DRAW_FRAMEBUFFER, to);
		glBlitFramebuffer(0, 0, OPS_SIDE, OPS_SIDE, 0, 0, side, side, b->mask, b->filter);
	}
	glFlush();
}

#define BLIT(label, ...) { "blit_" label, begin, run, &(const struct blit){ __VA_ARGS__ } }
#define COLOR GL_COLOR_BUFFER_BIT

const struct op ops_blit[] = {
	BLIT("rgba8", GL_RGBA8, GL_RGBA8, 0, COLOR, GL_NEAREST, OPS_SIDE, COPY_NONE),
	BLIT("rgba8_half_linear", GL_RGBA8, GL_RGBA8, 0, COLOR, GL_LINEAR, OPS_SIDE / 2,
		COPY_NONE),
	BLIT("rgba16f", GL_RGBA16F, GL_RGBA16F, 0, COLOR, GL_NEAREST, OPS_SIDE, COPY_NONE),
	BLIT("rgba8_to_rgba16f", GL_RGBA8, GL_RGBA16F, 0, COLOR, GL_NEAREST, OPS_SIDE, COPY_NONE),
	BLIT("depth_stencil", GL_RGBA8, GL_RGBA8, 0, GL_DEPTH_BUFFER_BIT |
		GL_STENCIL_BUFFER_BIT, GL_NEAREST, OPS_SIDE, COPY_NONE),
	BLIT("depth", GL_RGBA8, GL_RGBA8, 0, GL_DEPTH_BUFFER_BIT, GL_NEAREST, OPS_SIDE,
		COPY_NONE),
	BLIT("resolve_rgba8", GL_RGBA8, GL_RGBA8, 4, COLOR, GL_NEAREST, OPS_SIDE, COPY_NONE),
	BLIT("resolve_depth", GL_RGBA8, GL_RGBA8, 4, GL_DEPTH_BUFFER_BIT, GL_NEAREST, OPS_SIDE,
		COPY_NONE),
	BLIT("copy_image", GL_RGBA8, GL_RGBA8, 0, 0, 0, OPS_SIDE, COPY_IMAGE),
	BLIT("copy_tex_sub_image", GL_RGBA8, GL_RGBA8, 0, 0, 0, OPS_SIDE, COPY_TO_TEXTURE),
	{ NULL, NULL, NULL, NULL }
};
