// SPDX-License-Identifier: MIT
/*
 * The output of TESSERA_DEBUG=lists for a draw.
 * debug: lists
 * says: WIDTH=40 HEIGHT=24(.|\n)*LIST_DRAW  +TOPOLOGY=(.|\n)*batch \d+, rendering(.|\n)*TILE_STORE
 */
#include "gl.h"

int main(void)
{
	gl_open(2, 0);
	gl_case("a rectangle, whose lists are printed");
	gl_target(40, 24, GL_RGBA);
	gl_program("attribute vec4 position; void main() { gl_Position = position; }",
		   "precision mediump float; void main() { gl_FragColor = vec4(0, 1, 0, 1); }");
	gl_rect(-1, -1, 1, 1, 0);
	gl_expect(20, 12, 0, 255, 0, 255, 0);
	return gl_close();
}
