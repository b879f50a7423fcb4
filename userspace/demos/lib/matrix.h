/* SPDX-License-Identifier: MIT */
/* Matrices of 4 by 4 numbers, for programs that draw. */
#ifndef MATRIX_H
#define MATRIX_H

struct matrix {
	float m[16];			/* columns */
};

struct matrix matrix_multiply(struct matrix a, struct matrix b);
struct matrix matrix_scale(float x, float y, float z);
struct matrix matrix_move(float x, float y, float z);
struct matrix matrix_turn(float radians, unsigned int axis);
/* matrix_camera(): 60 degrees high, from @eye to @at, up is +y; clip space 0 to w deep. */
struct matrix matrix_camera(const float eye[3], const float at[3], float aspect);
struct matrix matrix_box(float side, float depth);
void matrix_apply(const struct matrix *m, const float p[3], float clip[4]);

/* vector_normalise(): to length 1; a vector without length stays. */
void vector_normalise(float v[3]);
void vector_cross(const float a[3], const float b[3], float r[3]);

#endif
