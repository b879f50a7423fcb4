/* SPDX-License-Identifier: MIT */
/* Clip distances, also as fragment shaders see them: in GLSL 3.30, which has geometry shaders. */
#include "gl.h"

#define SIDE 64
#define GL_CLIP_DISTANCE0 0x3000	/* in the headers of OpenGL alone */

/* All of the picture; distances in both slots, one of them of a plane that is off. */
#define DISTANCES                                                                                 \
	"out float gl_ClipDistance[6]; out float unit;"                                           \
	"void set(vec4 at) { gl_Position = at; unit = 0.5; gl_ClipDistance[0] = at.x;"            \
	" gl_ClipDistance[1] = -1.0; gl_ClipDistance[5] = at.y * 0.5 + 0.5; }\n"
#define CORNER "vec4(gl_VertexID == 1 ? 3 : -1, gl_VertexID == 2 ? 3 : -1, 0, 1)"

static const char vs[] = "#version 330\n" DISTANCES "void main() { set(" CORNER "); }";
static const char plain_vs[] = "#version 330\nvoid main() { gl_Position = " CORNER "; }";
static const char gs[] =
	"#version 330\nlayout(triangles) in; layout(triangle_strip, max_vertices = 3) out;\n"
	DISTANCES
	"void main() { for (int i = 0; i < 3; i++) {"
	" set(gl_in[i].gl_Position); EmitVertex(); } }";
static const char fs[] =
	"#version 330\n" "in float gl_ClipDistance[6]; in float unit; out vec4 c;"
	"void main() { c = vec4(gl_ClipDistance[0], gl_ClipDistance[5], -gl_ClipDistance[1] * unit,"
	" 1); }";

static void distances(GLuint program)
{
	glClearColor(0, 0, 0, 1);
	glClear(GL_COLOR_BUFFER_BIT);
	glEnable(GL_CLIP_DISTANCE0);
	glDrawArrays(GL_TRIANGLES, 0, 3);
	glDisable(GL_CLIP_DISTANCE0);
	gl_expect(48, 32, 131, 129, 128, 255, 3);
	gl_expect(63, 0, 253, 2, 128, 255, 3);
	gl_expect(31, 32, 0, 0, 0, 255, 0);
	gl_no_error();
	glDeleteProgram(program);
}

int main(void)
{
	GLuint array;

	gl_open_desktop(3, 3);
	gl_target(SIDE, SIDE, GL_RGBA8);
	glGenVertexArrays(1, &array);
	glBindVertexArray(array);
	gl_case("a fragment shader reads clip distances");
	distances(gl_program(vs, fs));
	gl_case("a fragment shader reads clip distances of a geometry shader");
	distances(gl_geometry_program(plain_vs, gs, fs));
	return gl_close();
}
