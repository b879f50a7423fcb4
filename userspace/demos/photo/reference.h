/* SPDX-License-Identifier: MIT */
/* The CPU's opinion of what the result has to be. */
#ifndef REFERENCE_H
#define REFERENCE_H

#include "edit.h"
#include "../lib/picture.h"

/*
 * reference_check(): compare @result with what @edit makes of @source, texel by texel. Returns 0 if
 * all bits are equal; else -1 and the first texel that differs in *error (PICTURE_ERROR bytes).
 */
int reference_check(const struct picture *source, const struct picture *result,
		    const struct edit *edit, char *error);

#endif /* REFERENCE_H */
