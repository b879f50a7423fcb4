// SPDX-License-Identifier: MIT
/* The scenes of paths on llvmpipe, see pathscene.h. */
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES3/gl32.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gles.h"
#include "pathscene.h"
#include "tsr_regs.h"

/* Queries without a name in OpenGL ES. */
#define VERTEX_SHADER_INVOCATIONS	0x82f0
#define TESS_CONTROL_SHADER_PATCHES	0x82f1
#define GEOMETRY_SHADER_PRIMITIVES	0x82f3
#define CLIPPING_INPUT_PRIMITIVES	0x82f6
#define GEOMETRY_SHADER_INVOCATIONS	0x887f
#define FIRST_VERTEX_CONVENTION		0x8e4d

struct pathscene_gl {
	const struct pathscene *scene;
	GLuint program, array, buffer[3], target, color, depth;
};

__attribute__((noreturn))
static void die(const char *what, const char *why)
{
	fprintf(stderr, "pathscene: %s: %s\n", what, why);
	exit(1);
}

bool pathscene_gl_open(void)
{
	static const EGLint attributes[] = {
		EGL_CONTEXT_MAJOR_VERSION, 4, EGL_CONTEXT_MINOR_VERSION, 5,
		EGL_CONTEXT_OPENGL_PROFILE_MASK, EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT, EGL_NONE
	};

	return gles_open_context(EGL_OPENGL_API, attributes);
}

/* ---- Programs -------------------------------------------------------------------------------- */

static void attach(GLuint program, GLenum kind, const char *source)
{
	GLuint shader = glCreateShader(kind);
	char log[2048] = "";
	GLint ok;

	glShaderSource(shader, 1, &source, NULL);
	glCompileShader(shader);
	glGetShaderiv(shader, GL_COMPILE_STATUS, &ok);
	glGetShaderInfoLog(shader, sizeof(log), NULL, log);
	if (!ok)
		die(source, log);
	glAttachShader(program, shader);
	glDeleteShader(shader);
}

static void link_program(struct pathscene_gl *gl)
{
	char log[2048] = "";
	GLint ok;

	glLinkProgram(gl->program);
	glGetProgramiv(gl->program, GL_LINK_STATUS, &ok);
	glGetProgramInfoLog(gl->program, sizeof(log), NULL, log);
	if (!ok)
		die(gl->scene->name, log);
	glUseProgram(gl->program);
}

/* The name that the last stage gives the color. */
static const char *color_name(const struct pathscene *s)
{
	return s->shader[PATHSCENE_GEOMETRY] ? "e" : "c";
}

static void attach_domain(struct pathscene_gl *gl)
{
	static const char *const spacing[] = { "equal_spacing", "", "fractional_odd_spacing",
					       "fractional_even_spacing" };
	const struct pathscene *s = gl->scene;
	char text[2048];

	snprintf(text, sizeof(text), s->shader[PATHSCENE_DOMAIN]->glsl, spacing[s->partitioning]);
	attach(gl->program, GL_TESS_EVALUATION_SHADER, text);
}

static void make_program(struct pathscene_gl *gl)
{
	const char *const streamed[2] = { "gl_Position", color_name(gl->scene) };
	const struct pathscene *s = gl->scene;
	char fragment[256];

	gl->program = glCreateProgram();
	attach(gl->program, GL_VERTEX_SHADER, s->shader[PATHSCENE_VERTEX]->glsl);
	if (s->shader[PATHSCENE_HULL])
		attach(gl->program, GL_TESS_CONTROL_SHADER, s->shader[PATHSCENE_HULL]->glsl);
	if (s->shader[PATHSCENE_DOMAIN])
		attach_domain(gl);
	if (s->shader[PATHSCENE_GEOMETRY])
		attach(gl->program, GL_GEOMETRY_SHADER, s->shader[PATHSCENE_GEOMETRY]->glsl);
	snprintf(fragment, sizeof(fragment), "#version 450 core\n" "in vec4 %s;\nout vec4 o;\n"
		 "void main() { o = %s; }\n", streamed[1], streamed[1]);
	attach(gl->program, GL_FRAGMENT_SHADER, fragment);
	if (s->streams)
		glTransformFeedbackVaryings(gl->program, 2, streamed, GL_INTERLEAVED_ATTRIBS);
	link_program(gl);
	glUniformMatrix4fv(glGetUniformLocation(gl->program, "m"), 1, GL_FALSE, s->uniform);
	glUniform4fv(glGetUniformLocation(gl->program, "f"), 1, s->uniform + 16);
	/* not every shader has them */
	glGetError();
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static void fill(GLenum target, GLuint buffer, const void *data, size_t size)
{
	glBindBuffer(target, buffer);
	glBufferData(target, (GLsizeiptr)size, data, GL_STATIC_DRAW);
}

static void upload(struct pathscene_gl *gl)
{
	const struct pathscene *s = gl->scene;

	glGenVertexArrays(1, &gl->array);
	glBindVertexArray(gl->array);
	fill(GL_ARRAY_BUFFER, gl->buffer[0], s->vertices, s->count * sizeof(s->vertices[0]));
	for (unsigned int i = 0; i < 2; i++) {
		glEnableVertexAttribArray(i);
		glVertexAttribPointer(i, 4, GL_FLOAT, GL_FALSE, 32, (void *)(uintptr_t)(16 * i));
	}
	if (s->instances) {
		fill(GL_ARRAY_BUFFER, gl->buffer[1], s->instances,
		     s->instance_count * sizeof(s->instances[0]));
		glEnableVertexAttribArray(2);
		glVertexAttribPointer(2, 4, GL_FLOAT, GL_FALSE, 16, NULL);
		glVertexAttribDivisor(2, 1);
	}
	if (s->streams) {
		glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 0, gl->buffer[2]);
		glBufferData(GL_TRANSFORM_FEEDBACK_BUFFER, (GLsizeiptr)pathscene_bytes(s), NULL,
			     GL_STREAM_COPY);
	}
}

static void upload_compute(struct pathscene_gl *gl)
{
	const size_t size = pathscene_bytes(gl->scene);

	fill(GL_SHADER_STORAGE_BUFFER, gl->buffer[0], gl->scene->vertices, size);
	fill(GL_SHADER_STORAGE_BUFFER, gl->buffer[2], NULL, size);
	glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, gl->buffer[0]);
	glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 1, gl->buffer[2]);
}

/* The second triangle of a strip has the order of ours if its first vertex is provoking. */
static void provoke_first(void)
{
	void (*provoking_vertex)(GLenum) =
		(void (*)(GLenum))eglGetProcAddress("glProvokingVertex");

	if (!provoking_vertex)
		die("glProvokingVertex", "there is none");
	provoking_vertex(FIRST_VERTEX_CONVENTION);
}

static GLuint renderbuffer(const struct pathscene *s, GLenum format, GLenum point)
{
	GLuint buffer;

	glGenRenderbuffers(1, &buffer);
	glBindRenderbuffer(GL_RENDERBUFFER, buffer);
	glRenderbufferStorage(GL_RENDERBUFFER, format, (GLsizei)s->side, (GLsizei)s->side);
	glFramebufferRenderbuffer(GL_FRAMEBUFFER, point, GL_RENDERBUFFER, buffer);
	return buffer;
}

static void make_target(struct pathscene_gl *gl)
{
	const struct pathscene *s = gl->scene;

	glGenFramebuffers(1, &gl->target);
	glBindFramebuffer(GL_FRAMEBUFFER, gl->target);
	gl->color = renderbuffer(s, GL_RGBA8, GL_COLOR_ATTACHMENT0);
	gl->depth = renderbuffer(s, GL_DEPTH24_STENCIL8, GL_DEPTH_STENCIL_ATTACHMENT);
	glViewport(0, 0, (GLsizei)s->side, (GLsizei)s->side);
	glEnable(GL_DEPTH_TEST);
	glDepthFunc(GL_LESS);
	glDisable(GL_DITHER);
	(s->streams ? glEnable : glDisable)(GL_RASTERIZER_DISCARD);
	glPatchParameteri(GL_PATCH_VERTICES, 4);
	provoke_first();
}

struct pathscene_gl *pathscene_gl_new(const struct pathscene *scene)
{
	struct pathscene_gl *gl = calloc(1, sizeof(*gl));

	if (!gl)
		abort();
	gl->scene = scene;
	glGenBuffers(3, gl->buffer);
	if (scene->shader[PATHSCENE_VERTEX]) {
		make_program(gl);
		upload(gl);
		make_target(gl);
	} else {
		gl->program = glCreateProgram();
		attach(gl->program, GL_COMPUTE_SHADER, pathscene_compute.glsl);
		link_program(gl);
		upload_compute(gl);
	}
	if (glGetError())
		die(scene->name, "GL error");
	return gl;
}

/* ---- Frames ---------------------------------------------------------------------------------- */

static GLenum mode_of(unsigned int topology)
{
	switch (topology) {
	case TSR_TOPOLOGY_POINTS:
		return GL_POINTS;
	case TSR_TOPOLOGY_LINE_STRIP:
		return GL_LINE_STRIP;
	case TSR_TOPOLOGY_PATCHES:
		return GL_PATCHES;
	default:
		return GL_TRIANGLES;
	}
}

static void frame(struct pathscene_gl *gl)
{
	const struct pathscene *s = gl->scene;

	if (!s->shader[PATHSCENE_VERTEX]) {
		glDispatchCompute(s->count / PATHSCENE_LOCAL, 1, 1);
		glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT | GL_BUFFER_UPDATE_BARRIER_BIT);
		return;
	}
	glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
	if (s->streams)
		glBeginTransformFeedback(s->corners == 2 ? GL_LINES : GL_TRIANGLES);
	for (unsigned int i = 0; i < s->draws; i++)
		glDrawArraysInstanced(mode_of(s->topology), (GLint)(s->count / s->draws * i),
				      (GLsizei)(s->count / s->draws), (GLsizei)s->instance_count);
	if (s->streams)
		glEndTransformFeedback();
	glFlush();
}

void pathscene_gl_run(void *arg, unsigned int count)
{
	while (count--)
		frame(arg);
	glFinish();
	if (glGetError())
		die("a frame", "GL error");
}

void pathscene_gl_count(struct pathscene_gl *gl, uint64_t counts[PATHSCENE_COUNTS])
{
	static const GLenum kind[PATHSCENE_COUNTS] = {
		VERTEX_SHADER_INVOCATIONS, TESS_CONTROL_SHADER_PATCHES, GEOMETRY_SHADER_INVOCATIONS,
		GEOMETRY_SHADER_PRIMITIVES, CLIPPING_INPUT_PRIMITIVES, GL_PRIMITIVES_GENERATED,
		GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN,
	};
	GLuint query[PATHSCENE_COUNTS], n;

	glGenQueries(PATHSCENE_COUNTS, query);
	for (unsigned int i = 0; i < PATHSCENE_COUNTS; i++)
		glBeginQuery(kind[i], query[i]);
	frame(gl);
	for (unsigned int i = 0; i < PATHSCENE_COUNTS; i++)
		glEndQuery(kind[i]);
	for (unsigned int i = 0; i < PATHSCENE_COUNTS; i++) {
		glGetQueryObjectuiv(query[i], GL_QUERY_RESULT, &n);
		counts[i] = n;
	}
	glDeleteQueries(PATHSCENE_COUNTS, query);
	if (glGetError())
		die(gl->scene->name, "queries");
}

void pathscene_gl_read(struct pathscene_gl *gl, void *to)
{
	const struct pathscene *s = gl->scene;
	const void *map;

	if (s->shader[PATHSCENE_VERTEX] && !s->streams) {
		glReadPixels(0, 0, (GLsizei)s->side, (GLsizei)s->side, GL_RGBA, GL_UNSIGNED_BYTE,
			     to);
		return;
	}
	glBindBuffer(GL_COPY_READ_BUFFER, gl->buffer[2]);
	map = glMapBufferRange(GL_COPY_READ_BUFFER, 0, (GLsizeiptr)pathscene_bytes(s),
			       GL_MAP_READ_BIT);
	if (!map)
		die(s->name, "what was written cannot be read");
	memcpy(to, map, pathscene_bytes(s));
	glUnmapBuffer(GL_COPY_READ_BUFFER);
}

void pathscene_gl_free(struct pathscene_gl *gl)
{
	glUseProgram(0);
	glBindVertexArray(0);
	glBindFramebuffer(GL_FRAMEBUFFER, 0);
	glDeleteProgram(gl->program);
	glDeleteVertexArrays(1, &gl->array);
	glDeleteBuffers(3, gl->buffer);
	glDeleteFramebuffers(1, &gl->target);
	glDeleteRenderbuffers(1, &gl->color);
	glDeleteRenderbuffers(1, &gl->depth);
	glFinish();
	free(gl);
}
