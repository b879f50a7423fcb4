// SPDX-License-Identifier: MIT
/* The scenes on llvmpipe, see glscene.h. The context is gles_open()'s. */
#include <GLES3/gl31.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "glbench/programs.h"
#include "glscene.h"

struct glscene_gl {
	struct glscene *scene;
	GLuint program, array, buffer[3], texture, target, color, depth, many, many_color;
	GLint uniform[GLSCENE_UNIFORMS];
};

__attribute__((noreturn))
static void die(const char *what)
{
	fprintf(stderr, "glscene: %s\n", what);
	exit(1);
}

static GLuint compile(GLenum kind, const char *source)
{
	GLuint shader = glCreateShader(kind);
	GLint ok;

	glShaderSource(shader, 1, &source, NULL);
	glCompileShader(shader);
	glGetShaderiv(shader, GL_COMPILE_STATUS, &ok);
	if (!ok)
		die(source);
	return shader;
}

/* @source with the constant "32.0" made one that was not there before; for free(). */
static char *new_source(const char *source)
{
	static unsigned int serial = 2;
	const char *at = strstr(source, "32.0");
	const size_t size = strlen(source) + 16;
	char *text = malloc(size);

	if (!text || !at)
		die("a source without its constant");
	snprintf(text, size, "%.*s%u.0%s", (int)(at - source), source, serial++, at + 4);
	return text;
}

/* The program has the shader alone. */
static void attach(GLuint program, GLenum kind, const char *source)
{
	const GLuint shader = compile(kind, source);

	glAttachShader(program, shader);
	glDeleteShader(shader);
}

static void link_program(struct glscene_gl *gl)
{
	const struct gl_program *p = gl_programs;
	char *fragment = NULL;
	GLint ok;

	while (strcmp(p->name, gl->scene->program))
		p++;
	gl->program = glCreateProgram();
	if (gl->scene->links)
		fragment = new_source(p->fragment_source);
	attach(gl->program, GL_VERTEX_SHADER, p->vertex_source);
	attach(gl->program, GL_FRAGMENT_SHADER, fragment ? fragment : p->fragment_source);
	free(fragment);
	glLinkProgram(gl->program);
	glGetProgramiv(gl->program, GL_LINK_STATUS, &ok);
	if (!ok)
		die("a program does not link");
	glUseProgram(gl->program);
	for (unsigned int i = 0; i < GLSCENE_UNIFORMS && gl->scene->uniform[i].name; i++)
		gl->uniform[i] = glGetUniformLocation(gl->program, gl->scene->uniform[i].name);
}

static void set_uniform(const struct glscene_gl *gl, unsigned int n)
{
	const struct glscene_uniform *u = &gl->scene->uniform[n];

	switch (u->count) {
	case 1:
		glUniform1fv(gl->uniform[n], 1, u->value);
		break;
	case 3:
		glUniform3fv(gl->uniform[n], 1, u->value);
		break;
	case 4:
		glUniform4fv(gl->uniform[n], 1, u->value);
		break;
	default:
		glUniformMatrix4fv(gl->uniform[n], 1, GL_FALSE, u->value);
		break;
	}
}

static void attributes(const struct glscene *s, unsigned int first, unsigned int end,
		       GLuint buffer, const void *data, size_t size)
{
	unsigned int stride = 0, offset = 0, i;

	for (i = first; i < end; i++)
		stride += 4 * s->widths[i];
	glBindBuffer(GL_ARRAY_BUFFER, buffer);
	glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)size, data, GL_STATIC_DRAW);
	for (i = first; i < end; offset += 4 * s->widths[i++]) {
		glEnableVertexAttribArray(i);
		glVertexAttribPointer(i, (GLint)s->widths[i], GL_FLOAT, GL_FALSE, (GLsizei)stride,
				      (const void *)(uintptr_t)offset);
		glVertexAttribDivisor(i, first != 0);
	}
}

static void upload(struct glscene_gl *gl)
{
	const struct glscene *s = gl->scene;

	glGenVertexArrays(1, &gl->array);
	glBindVertexArray(gl->array);
	glGenBuffers(3, gl->buffer);
	attributes(s, 0, s->first_instanced, gl->buffer[0], s->vertices, s->vertex_bytes);
	if (s->instances)
		attributes(s, s->first_instanced, s->attributes, gl->buffer[1], s->instances,
			   s->instance_bytes);
	if (s->indices) {
		glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, gl->buffer[2]);
		glBufferData(GL_ELEMENT_ARRAY_BUFFER, (GLsizeiptr)s->index_bytes, s->indices,
			     GL_STATIC_DRAW);
	}
}

static void make_texture(struct glscene_gl *gl)
{
	const struct glscene *s = gl->scene;
	unsigned int side = s->texture_side, level;
	uint8_t *t = malloc(4 * side * side);

	if (!t)
		abort();
	memcpy(t, s->texels, 4 * side * side);
	glGenTextures(1, &gl->texture);
	glBindTexture(GL_TEXTURE_2D, gl->texture);
	for (level = 0; side; level++, side /= 2) {
		glTexImage2D(GL_TEXTURE_2D, (GLint)level, GL_RGBA8, (GLsizei)side, (GLsizei)side, 0,
			     GL_RGBA, GL_UNSIGNED_BYTE, t);
		if (!s->mips)
			break;
		glscene_mip(t, side);
	}
	free(t);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER,
			s->mips ? GL_LINEAR_MIPMAP_LINEAR : GL_LINEAR);
}

static GLuint renderbuffer(GLenum format, unsigned int samples)
{
	GLuint buffer;

	glGenRenderbuffers(1, &buffer);
	glBindRenderbuffer(GL_RENDERBUFFER, buffer);
	glRenderbufferStorageMultisample(GL_RENDERBUFFER, (GLsizei)samples, format, GLSCENE_SIDE,
					 GLSCENE_SIDE);
	return buffer;
}

/* The target; with several samples another one to draw to. */
static void make_targets(struct glscene_gl *gl)
{
	const unsigned int samples = gl->scene->samples;

	glGenFramebuffers(1, &gl->target);
	glBindFramebuffer(GL_FRAMEBUFFER, gl->target);
	gl->color = renderbuffer(GL_RGBA8, 0);
	glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER,
				  gl->color);
	if (samples) {
		glGenFramebuffers(1, &gl->many);
		glBindFramebuffer(GL_FRAMEBUFFER, gl->many);
		gl->many_color = renderbuffer(GL_RGBA8, samples);
		glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER,
					  gl->many_color);
	}
	if (gl->scene->depth) {
		gl->depth = renderbuffer(GL_DEPTH24_STENCIL8, samples);
		glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_STENCIL_ATTACHMENT,
					  GL_RENDERBUFFER, gl->depth);
	}
	if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
		die("the target is not complete");
	/* as a new image of libtessera is */
	glClearColor(0, 0, 0, 0);
	glClear(GL_COLOR_BUFFER_BIT);
}

static void set_state(const struct glscene *s)
{
	(s->depth ? glEnable : glDisable)(GL_DEPTH_TEST);
	(s->blend ? glEnable : glDisable)(GL_BLEND);
	(s->cull ? glEnable : glDisable)(GL_CULL_FACE);
	glDepthFunc(GL_LESS);
	glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
	glDisable(GL_DITHER);
	glViewport(0, 0, GLSCENE_SIDE, GLSCENE_SIDE);
	glClearColor(s->clear[0], s->clear[1], s->clear[2], s->clear[3]);
}

struct glscene_gl *glscene_gl_new(struct glscene *scene)
{
	struct glscene_gl *gl = calloc(1, sizeof(*gl));

	if (!gl)
		abort();
	gl->scene = scene;
	link_program(gl);
	upload(gl);
	if (scene->texels)
		make_texture(gl);
	make_targets(gl);
	set_state(scene);
	for (unsigned int i = 0; i < GLSCENE_UNIFORMS && scene->uniform[i].name; i++)
		set_uniform(gl, i);
	if (glGetError())
		die(scene->name);
	return gl;
}

static void draw(const struct glscene *s)
{
	const GLsizei count = (GLsizei)s->count;

	if (s->index_size)
		glDrawElements(GL_TRIANGLES, count,
			       s->index_size == 4 ? GL_UNSIGNED_INT : GL_UNSIGNED_SHORT, NULL);
	else if (s->instance_count)
		glDrawArraysInstanced(GL_TRIANGLES, 0, count, (GLsizei)s->instance_count);
	else
		glDrawArrays(GL_TRIANGLES, 0, count);
}

/* A program nobody has seen. */
static void link_again(struct glscene_gl *gl)
{
	glUseProgram(0);
	glDeleteProgram(gl->program);
	link_program(gl);
	for (unsigned int i = 0; i < GLSCENE_UNIFORMS && gl->scene->uniform[i].name; i++)
		set_uniform(gl, i);
}

static void frame(struct glscene_gl *gl)
{
	struct glscene *s = gl->scene;

	if (s->links)
		link_again(gl);
	if (s->samples)
		glBindFramebuffer(GL_FRAMEBUFFER, gl->many);
	if (s->uploads)
		glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, (GLsizei)s->texture_side,
				(GLsizei)s->texture_side, GL_RGBA, GL_UNSIGNED_BYTE, s->texels);
	if (s->clears)
		glClear(GL_COLOR_BUFFER_BIT | (s->depth ? GL_DEPTH_BUFFER_BIT : 0));
	for (unsigned int i = 0; i < s->draws; i++) {
		if (s->each) {
			s->each(s, i);
			set_uniform(gl, 0);
		}
		draw(s);
	}
	if (s->samples) {
		glBindFramebuffer(GL_DRAW_FRAMEBUFFER, gl->target);
		glBlitFramebuffer(0, 0, GLSCENE_SIDE, GLSCENE_SIDE, 0, 0, GLSCENE_SIDE,
				  GLSCENE_SIDE, GL_COLOR_BUFFER_BIT, GL_NEAREST);
		glBindFramebuffer(GL_FRAMEBUFFER, gl->target);
	}
	if (s->links)
		glFinish();
	else
		glFlush();
}

void glscene_gl_run(void *arg, unsigned int count)
{
	while (count--)
		frame(arg);
	glFinish();
	if (glGetError())
		die("GL error");
}

void glscene_gl_read(struct glscene_gl *gl, uint8_t *texels)
{
	glBindFramebuffer(GL_FRAMEBUFFER, gl->target);
	glReadPixels(0, 0, GLSCENE_SIDE, GLSCENE_SIDE, GL_RGBA, GL_UNSIGNED_BYTE, texels);
}

void glscene_gl_free(struct glscene_gl *gl)
{
	const GLuint colors[3] = { gl->color, gl->depth, gl->many_color };
	const GLuint frames[2] = { gl->target, gl->many };

	glUseProgram(0);
	glBindVertexArray(0);
	glBindFramebuffer(GL_FRAMEBUFFER, 0);
	glDeleteProgram(gl->program);
	glDeleteVertexArrays(1, &gl->array);
	glDeleteBuffers(3, gl->buffer);
	glDeleteTextures(1, &gl->texture);
	glDeleteFramebuffers(2, frames);
	glDeleteRenderbuffers(3, colors);
	glFinish();
	free(gl);
}
