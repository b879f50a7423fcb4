/* SPDX-License-Identifier: MIT */
/* Smaller levels of a texture. */
#ifndef MIPMAP_H
#define MIPMAP_H

#include "../../demos/lib/picture.h"

/* mipmap_levels(): how many levels there are down to one texel. */
uint32_t mipmap_levels(const struct picture *picture);

/*
 * mipmap_next(): the next level in place of *@level, each texel the average of the four (at odd
 * edges: two or one) that it covers, of light, not of sRGB values. @owned: free the old one. 0 or
 * -ENOMEM.
 */
int mipmap_next(struct picture *level, bool owned);

#endif
