// SPDX-License-Identifier: MIT
/* test: TIMEOUT=300 */
/*
 * The graphics demos as a user runs them: each checks its picture by itself; here it is compared
 * with what the same program draws on the model without a guest, as the sum of its texels.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ktap.h"

static const struct demo {
	const char *name, *sum, *title;
} demos[] = {
	{ "triangle", "685ec7b9", "[CP9] [PA1] [SYS5] the triangle" },
	{ "cubes", "9a9796ca", "[ZS1] [TEX3] [SYS5] 1000 textured cubes with depth" },
	{ "instances", "c6b58817", "[INST4] [INST7] [SYS5] 10 000 cubes in one draw" },
	{ "msaa", "4589ca72", "[RAST4] [OM7] a star with and without samples" },
	{ "stencil", "07510565", "[ZS2] an outline by stencil" },
	{ "particles", "b264c94d", "[OM1] sparks, blended" },
	{ "shadow", "215ec214", "[TEX6] shadows from a map of depth" },
	{ "mipmaps", "c6c43c3c", "[TEX4] [TEX5] levels and anisotropic samples" },
	{ "mandelbrot", "e1201ed5", "[PIX1] the Mandelbrot set in a fragment program" },
	{ "teapot", "0975b9bb", "[TESS1] [TESS3] teapots of patches" },
	{ "fountain", "c082b54e", "[SO1] [SO3] [GS2] sparks streamed, drawn by their counter" },
};

static const struct demo *current;

static void demo(void)
{
	char command[200], text[1000], expected[20];
	size_t length;
	FILE *pipe;
	int status;

	snprintf(command, sizeof(command), "graphics %s -o /tmp/demo.png 2>&1", current->name);
	pipe = popen(command, "r");
	length = fread(text, 1, sizeof(text) - 1, pipe);
	text[length] = '\0';
	status = pclose(pipe);
	snprintf(expected, sizeof(expected), ", %s,", current->sum);
	if (!ktap_ok(WIFEXITED(status) && !WEXITSTATUS(status)) ||
	    !ktap_ok(strstr(text, expected) != NULL))
		ktap_note("%s", text);
	ktap_eq(access("/tmp/demo.png", R_OK), 0);
	unlink("/tmp/demo.png");
}

int main(void)
{
	ktap_start();
	for (size_t i = 0; i < sizeof(demos) / sizeof(demos[0]); i++) {
		current = &demos[i];
		ktap_run(current->title, demo);
	}
	return ktap_finish();
}
