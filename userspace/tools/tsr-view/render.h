/* SPDX-License-Identifier: MIT */
/* A model drawn by the GPU. */
#ifndef RENDER_H
#define RENDER_H

#include "model.h"

struct view {
	const char *device;		/* render node; NULL: the first Tessera GPU */
	uint32_t width, height;		/* pixels */
	uint32_t samples;		/* of a pixel: 1, 2, 4, 8, 16 */
	float turn, tilt;		/* degrees: model round its y axis, camera above it */
	float distance;			/* camera to middle, in radii of the model */
	float background[4];		/* without gamma; alpha 0: nothing */
};

/* render(): draw @model as @view says into *@picture. 0, or -1 with a line of text in *error. */
int render(const struct model *model, const struct view *view, struct picture *picture,
	   char *error);

#endif
