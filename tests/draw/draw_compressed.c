// SPDX-License-Identifier: MIT
/* The guest's test of the same name, on the model in this process. */
#include "../guest/draw/draw_compressed.c"
