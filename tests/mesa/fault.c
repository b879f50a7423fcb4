// SPDX-License-Identifier: MIT
/*
 * A shader that accesses memory that is not there costs its work; TESSERA_DEBUG=sync shows it.
 * says: a compute shader's 0x[0-9a-f]+:\s+clause_0
 */
#include <stddef.h>

#include "gl.h"

#include <GLES3/gl31.h>

static const char wild[] = "#version 310 es\n"
	"layout(local_size_x = 1) in;\n"
	"layout(std430, binding = 0) buffer B { uint at[]; };\n"
	"uniform uint index;\n"
	"void main() { at[index] = 7u; }\n";

static uint32_t dispatch(GLuint program, uint32_t index)
{
	const uint32_t zero[4] = { 0 };
	const uint32_t *map;
	uint32_t value;
	GLuint buffer;

	glGenBuffers(1, &buffer);
	glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, buffer);
	glBufferData(GL_SHADER_STORAGE_BUFFER, sizeof(zero), zero, GL_STATIC_DRAW);
	glUniform1ui(glGetUniformLocation(program, "index"), index);
	glDispatchCompute(1, 1, 1);
	glMemoryBarrier(GL_BUFFER_UPDATE_BARRIER_BIT);
	map = glMapBufferRange(GL_SHADER_STORAGE_BUFFER, 0, sizeof(zero), GL_MAP_READ_BIT);
	value = map ? map[2] : 0;
	glUnmapBuffer(GL_SHADER_STORAGE_BUFFER);
	return value;
}

int main(void)
{
	GLuint program;

	gl_open(3, 1);
	gl_case("a store within the buffer");
	program = gl_compute(wild);
	if (dispatch(program, 2) != 7)
		gl_fail("it is not there");
	gl_case("after a store far beyond it the process goes on");
	dispatch(program, 0x3fffffff);
	if (dispatch(program, 2) != 7)
		gl_fail("nothing is stored any more");
	return gl_close();
}
