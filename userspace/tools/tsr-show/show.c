// SPDX-License-Identifier: MIT
/*
 * tsr-show: the cubes on a screen, turning, with two buffers.
 *
 * Nobody waits for the GPU but the GPU and the screen: a picture is drawn after the fence that says
 * that its buffer is not shown any more, and shown after the fence that says that it is drawn. The
 * program itself waits for the flip before, because a screen takes one at a time.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <drm_fourcc.h>

#include "../../demos/graphics/cubes.h"
#include "screen.h"

#define BUFFERS	   2
#define PATIENCE   60000		/* ms */
#define STEP	   0.02f		/* radians from picture to picture */

struct buffer {
	struct tsr_image *image;
	struct tsr_gfx_pass *pass;
	struct tsr_sync *free;		/* signals when the buffer is no longer shown */
	struct tsr_sync *drawn;
	uint32_t id;			/* framebuffer */
};

struct show {
	struct draw draw;
	struct cubes cubes;
	struct screen screen;
	struct buffer buffer[BUFFERS];
	int shown;			/* fence of the last flip; -1: there was none */
};

static volatile sig_atomic_t stop;

static void end(int signal)
{
	(void)signal;
	stop = 1;
}

static int make_buffer(struct show *show, struct buffer *b)
{
	const uint32_t width = show->screen.mode.hdisplay, height = show->screen.mode.vdisplay;
	const struct tsr_image_info info = {
		.format = TSR_PIXEL_FORMAT_RGBA8_UNORM, .layout = TSR_LAYOUT_TILED, .width = width,
		.height = height, .flags = TSR_IMAGE_EXPORTABLE,
	};
	struct tsr_gfx_pass_info pass = {
		.color[0] = { .load = TSR_GFX_LOAD_CLEAR, .clear.f = { 0.1f, 0.1f, 0.2f, 1 } },
		.depth = { .format = TSR_PIXEL_FORMAT_R32F, .load = TSR_GFX_LOAD_CLEAR,
			   .clear.f[0] = 1 },
	};
	struct draw *draw = &show->draw;
	struct tsr_surface surface;
	int fd = -1, ret;

	pass.color[0].image = b->image = draw_image(draw, &info);
	if (!b->image)
		return -1;
	ret = draw_library(draw, tsr_image_get_surface(b->image, 0, 0, 0, &surface, NULL));
	if (!ret)
		ret = draw_library(draw, tsr_image_export(b->image, &fd));
	if (!ret)
		ret = screen_add(&show->screen, fd, 0, surface.pitch / 16,
				 DRM_FORMAT_MOD_ARM_16X16_BLOCK_U_INTERLEAVED, &b->id, draw->error);
	if (fd >= 0)
		close(fd);
	if (!ret)
		ret = draw_library(draw, tsr_sync_create(draw->device, 0, &b->drawn));
	if (!ret)
		ret = draw_library(draw, tsr_sync_create(draw->device, 0, &b->free));
	b->pass = ret ? NULL : draw_begin(draw, &pass);
	return b->pass ? 0 : -1;
}

/* Record picture @n and hand it to the GPU; it starts when nothing of its buffer is shown. */
static int draw_next(struct show *show, struct buffer *b, unsigned int n)
{
	const float aspect = (float)show->screen.mode.hdisplay / show->screen.mode.vdisplay;
	const struct tsr_gfx_viewport up = {
		.y = show->screen.mode.vdisplay, .width = show->screen.mode.hdisplay,
		.height = -(float)show->screen.mode.vdisplay, .far_depth = 1,
	};
	const struct tsr_point wait = { .sync = b->free }, signal = { .sync = b->drawn };
	struct draw *draw = &show->draw;
	int ret = 0;

	if (show->shown >= 0)
		ret = draw_library(draw, tsr_sync_import_file(b->free, 0, show->shown));
	tsr_gfx_pass_reset(b->pass);
	tsr_gfx_set_viewport(b->pass, 0, &up);
	if (!ret)
		ret = cubes_record(draw, &show->cubes, b->pass, aspect, STEP * (float)n, false);
	if (!ret)
		ret = draw_library(draw, tsr_gfx_submit(b->pass, &wait, show->shown >= 0, &signal,
							1));
	return ret;
}

/* Wait for the flip before, and have this one follow it. */
static int show_next(struct show *show, struct buffer *b)
{
	struct pollfd shown = { .fd = show->shown, .events = POLLIN };
	int ready = -1, ret;

	ret = draw_library(&show->draw, tsr_sync_export_file(b->drawn, 0, &ready));
	if (!ret && show->shown >= 0 && poll(&shown, 1, PATIENCE) != 1)
		ret = stop ? -1 : draw_fail(&show->draw, "a flip does not end");
	if (show->shown >= 0)
		close(show->shown);
	show->shown = -1;
	if (!ret)
		ret = screen_flip(&show->screen, b->id, ready, &show->shown, show->draw.error);
	if (ready >= 0)
		close(ready);
	return ret;
}

/*
 * A buffer is drawn to again when the GPU has drawn the picture before in it. If that was not whole
 * for want of memory, the next one has more.
 */
static int drawn(struct show *show, struct buffer *b, unsigned int n)
{
	int ret = n < BUFFERS ? 0 : tsr_gfx_wait(b->pass, TSR_DEADLINE_NEVER);

	return ret == -EAGAIN ? 0 : draw_library(&show->draw, ret);
}

static int run(struct show *show, unsigned int frames)
{
	uint64_t first = 0, blanks;
	unsigned int n;
	int ret = 0;

	for (n = 0; !ret && !stop && (!frames || n < frames); n++) {
		struct buffer *b = &show->buffer[n % BUFFERS];

		ret = drawn(show, b, n);
		if (!ret)
			ret = draw_next(show, b, n);
		if (!ret)
			ret = show_next(show, b);
		if (n == 1)
			first = screen_blanks(&show->screen);
	}
	blanks = screen_blanks(&show->screen) - first;
	for (unsigned int i = 0; i < BUFFERS; i++)
		if (show->buffer[i].pass)
			tsr_gfx_wait(show->buffer[i].pass, TSR_DEADLINE_NEVER);
	if (!ret || (stop && !show->draw.error[0]))
		printf("tsr-show: %u pictures of %u x %u, one for %.2f vertical blanks\n", n,
		       show->screen.mode.hdisplay, show->screen.mode.vdisplay,
		       n > 2 ? (double)blanks / (n - 2) : 1.0);
	return stop && !show->draw.error[0] ? 0 : ret;
}

static int usage(FILE *to, int status)
{
	fputs("usage: tsr-show [--frames N] [--screen PATH]\n"
	      "Show a thousand turning cubes on the GPU's screen, until Ctrl-C.\n\n"
	      "  -n, --frames N     end after N pictures\n"
	      "  -s, --screen PATH  node of the screen (default: the first GPU with a monitor)\n"
	      "  -h, --help         show this text\n"
	      "  -V, --version      show the version\n\n"
	      "Exit status: 0 as it should be; 1 an error; 2 for bad usage.\n", to);
	return status;
}

static int show_all(const char *path, unsigned int frames)
{
	static struct show show = { .screen.fd = -1, .shown = -1 };
	int ret;

	_Static_assert(SCREEN_ERROR <= PICTURE_ERROR, "one text for both");
	ret = screen_open(&show.screen, path, show.draw.error);
	if (!ret)
		ret = draw_open(&show.draw, NULL);
	if (!ret)
		ret = cubes_prepare(&show.draw, &show.cubes);
	for (unsigned int i = 0; !ret && i < BUFFERS; i++)
		ret = make_buffer(&show, &show.buffer[i]);
	if (!ret)
		ret = run(&show, frames);
	if (ret)
		fprintf(stderr, "tsr-show: %s\n", show.draw.error);
	if (show.shown >= 0)
		close(show.shown);
	for (unsigned int i = 0; i < BUFFERS; i++) {
		tsr_sync_unref(show.buffer[i].free);
		tsr_sync_unref(show.buffer[i].drawn);
	}
	draw_close(&show.draw);
	screen_close(&show.screen);
	return ret ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "frames", required_argument, NULL, 'n' },
		{ "screen", required_argument, NULL, 's' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	const struct sigaction action = { .sa_handler = end };
	unsigned int frames = 0;
	const char *path = NULL;
	int option;
	char *rest;

	while ((option = getopt_long(argc, argv, "n:s:hV", long_options, NULL)) != -1) {
		switch (option) {
		case 'h':
			return usage(stdout, EXIT_SUCCESS);
		case 'V':
			puts("tsr-show " TSR_VERSION);
			return EXIT_SUCCESS;
		case 'n':
			frames = (unsigned int)strtoul(optarg, &rest, 10);
			if (*rest || !frames)
				return usage(stderr, 2);
			break;
		case 's':
			path = optarg;
			break;
		default:
			return usage(stderr, 2);
		}
	}
	if (optind != argc)
		return usage(stderr, 2);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	return show_all(path, frames);
}
