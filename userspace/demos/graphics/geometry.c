// SPDX-License-Identifier: MIT
/* The cube of the graphics demos. */
#include <string.h>

#include "draw.h"

/* Faces wind counter-clockwise as seen from outside. */
void cube_mesh(float vertices[24 * CUBE_FLOATS], uint16_t indices[36])
{
	static const unsigned int order[6] = { 0, 1, 2, 0, 2, 3 };

	memset(vertices, 0, 24 * CUBE_FLOATS * sizeof(*vertices));
	for (unsigned int n = 0; n < 24; n++) {
		const unsigned int a = n / 8, b = (a + 1) % 3, c = (a + 2) % 3, corner = n % 4;
		const float s = n / 4 % 2 ? -1 : 1, u = corner == 1 || corner == 2 ? 1 : -1;
		float *p = vertices + CUBE_FLOATS * n;

		p[a] = s;
		p[b] = u * s;
		p[c] = corner >= 2 ? 1 : -1;
		p[3 + a] = s;
		p[6] = 0.5f + 0.5f * u;
		p[7] = corner >= 2 ? 1 : 0;
	}
	for (unsigned int n = 0; n < 36; n++)
		indices[n] = (uint16_t)(4 * (n / 6) + order[n % 6]);
}
