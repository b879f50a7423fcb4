// SPDX-License-Identifier: MIT
/*
 * Loops of fragment shaders that read varyings and that threads leave one by one. Inputs are loaded
 * before the first loop, and threads that leave a loop wait for the others.
 * debug: shaders
 * says: (?s)loop \{(?!.*load_interpolated_input)(?!.* nbb td next_atest)
 */
#include "gl.h"

#define WIDTH 64
#define HEIGHT 8
#define ROUNDS 20

#define BODY(loops) "#version 310 es\nprecision highp float; in vec2 at; out vec4 color;" \
	"uniform int n; void main() { int c = 0; " loops " color = vec4(c, 0, 0, 255) / 255.0; }"

/* The number that the loops of a pixel compute. */
typedef int result(int x, int y);

static int broken(int x, int y)
{
	int c = 0;

	for (int i = 0; i < ROUNDS; i++) {
		if (i >= (x & 15))
			break;
		c += y + i;
	}
	return c;
}

static int continued(int x, int y)
{
	int c = 0;

	for (int i = 0; i < ROUNDS; i++) {
		if (((i + x) & 3) == 0)
			continue;
		c += y;
	}
	return c;
}

static int nested(int x, int y)
{
	int c = 0;

	for (int i = 0; i < (x & 3); i++)
		for (int k = y; k > i; k--)
			c += x & 7;
	return c;
}

static void draw(const char *name, const char *fragment, result *expected)
{
	GLuint program;

	gl_case(name);
	gl_target(WIDTH, HEIGHT, GL_RGBA8);
	program = gl_program("#version 310 es\n"
			     "in vec4 position; out vec2 at; void main()"
			     "{ gl_Position = position;"
			     " at = (position.xy + 1.0) * vec2(32.0, 4.0); }", fragment);
	glUniform1i(glGetUniformLocation(program, "n"), ROUNDS);
	gl_rect(-1, -1, 1, 1, 0);
	for (int y = 0; y < HEIGHT; y++)
		for (int x = 0; x < WIDTH; x++)
			gl_expect(x, y, expected(x, y), 0, 0, 255, 0);
	glDeleteProgram(program);
}

int main(void)
{
	gl_open(3, 1);
	draw("threads break out of a loop one by one",
	     BODY("for (int i = 0; i < n; i++) { if (i >= (int(at.x) & 15)) break;"
		  " c += int(at.y) + i; }"), broken);
	draw("threads skip rounds",
	     BODY("for (int i = 0; i < n; i++) { if (((i + int(at.x)) & 3) == 0) continue;"
		  " c += int(at.y); }"), continued);
	draw("a loop in a loop",
	     BODY("for (int i = 0; i < (int(at.x) & 3); i++) for (int k = int(at.y); k > i; k--)"
		  " c += int(at.x) & 7;"), nested);
	return gl_close();
}
