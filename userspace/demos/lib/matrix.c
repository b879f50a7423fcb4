// SPDX-License-Identifier: MIT
/* Matrices, see matrix.h. */
#include <math.h>

#include "matrix.h"

struct matrix matrix_multiply(struct matrix a, struct matrix b)
{
	struct matrix r = { { 0 } };

	for (int c = 0; c < 4; c++)
		for (int i = 0; i < 4; i++)
			for (int k = 0; k < 4; k++)
				r.m[4 * c + i] += a.m[4 * k + i] * b.m[4 * c + k];
	return r;
}

struct matrix matrix_scale(float x, float y, float z)
{
	return (struct matrix){ { [0] = x, [5] = y, [10] = z, [15] = 1 } };
}

struct matrix matrix_move(float x, float y, float z)
{
	return (struct matrix){ { [0] = 1, [5] = 1, [10] = 1, [12] = x, [13] = y, [14] = z,
				  [15] = 1 } };
}

struct matrix matrix_turn(float radians, unsigned int axis)
{
	const unsigned int a = (axis + 1) % 3, b = (axis + 2) % 3;
	struct matrix r = matrix_scale(1, 1, 1);

	r.m[4 * a + a] = r.m[4 * b + b] = cosf(radians);
	r.m[4 * a + b] = sinf(radians);
	r.m[4 * b + a] = -sinf(radians);
	return r;
}

void vector_cross(const float a[3], const float b[3], float r[3])
{
	for (int i = 0; i < 3; i++)
		r[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

void vector_normalise(float v[3])
{
	float l = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];

	l = l > 0 ? 1 / sqrtf(l) : 1;
	for (int i = 0; i < 3; i++)
		v[i] *= l;
}

struct matrix matrix_camera(const float eye[3], const float at[3], float aspect)
{
	const float t = 1.7320508f, near = 0.1f, far = 40, up[3] = { 0, 1, 0 };
	struct matrix look = matrix_scale(1, 1, 1), view = {
		{ [0] = t / aspect, [5] = t, [10] = far / (near - far), [11] = -1,
		  [14] = near * far / (near - far) }
	};
	float d[3], s[3], u[3];

	for (int i = 0; i < 3; i++)
		d[i] = at[i] - eye[i];
	vector_normalise(d);
	vector_cross(d, up, s);
	vector_normalise(s);
	vector_cross(s, d, u);
	for (int i = 0; i < 3; i++) {
		look.m[4 * i] = s[i];
		look.m[4 * i + 1] = u[i];
		look.m[4 * i + 2] = -d[i];
	}
	return matrix_multiply(view, matrix_multiply(look, matrix_move(-eye[0], -eye[1], -eye[2])));
}

/* A lamp far away that shines along -z: side x side, @depth deep. */
struct matrix matrix_box(float side, float depth)
{
	return (struct matrix){ { [0] = 2 / side, [5] = 2 / side, [10] = -1 / depth, [15] = 1 } };
}

void matrix_apply(const struct matrix *m, const float p[3], float clip[4])
{
	for (int i = 0; i < 4; i++)
		clip[i] = m->m[i] * p[0] + m->m[4 + i] * p[1] + m->m[8 + i] * p[2] + m->m[12 + i];
}
