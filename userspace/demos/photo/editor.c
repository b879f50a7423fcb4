// SPDX-License-Identifier: MIT
/*
 * The second process. Its job is submitted before the source is in the buffer: the GPU's WAIT on
 * the semaphore holds it back until the first process's job has tiled it.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "edit.h"
#include "editor.h"
#include "gpu.h"
#include "wire.h"

#define PATIENCE_NS (60ull * 1000000000)

static int fill(struct work *work, const struct gpu *gpu, const struct area *area,
		enum edit_color which)
{
	const struct tsr_rect rect = { area->x, area->y, area->width, area->height };
	uint8_t color[8];

	edit_color(which, gpu->result.texel, color);
	return tsr_cmd_fill_image(work->stream, &gpu->result, &rect, color);
}

/* First layer: the picture without its edge, and the four borders, which touch nothing else. */
static int record_ground(struct work *work, const struct gpu *gpu, const struct edit *edit)
{
	uint32_t b = edit->border, w = edit->width, h = edit->height;
	const struct tsr_rect inner = { b, b, w - 2 * b, h - 2 * b };
	const struct area borders[] = {
		[EDIT_TOP] = { 0, 0, w, b },
		[EDIT_BOTTOM] = { 0, h - b, w, b },
		[EDIT_LEFT] = { 0, b, b, h - 2 * b },
		[EDIT_RIGHT] = { w - b, b, b, h - 2 * b },
	};
	unsigned int i;
	int ret;

	ret = tsr_cmd_copy_image(work->stream, &gpu->result, b, b, &gpu->source, &inner, 0);
	for (i = 0; !ret && i <= EDIT_RIGHT; i++)
		ret = fill(work, gpu, &borders[i], i);
	return ret;
}

static int record_frames(struct work *work, const struct gpu *gpu, const struct edit *edit)
{
	struct area frame;
	unsigned int n;
	int ret = 0;

	for (n = 0; !ret && n < EDIT_PANELS; n++) {
		frame = edit->panel[n];
		frame.x -= edit->frame;
		frame.y -= edit->frame;
		frame.width += 2 * edit->frame;
		frame.height += 2 * edit->frame;
		if (edit->frame)
			ret = fill(work, gpu, &frame, EDIT_FRAME);
	}
	return ret;
}

static int record_panels(struct work *work, const struct gpu *gpu, const struct edit *edit)
{
	const struct tsr_rect crop = {
		edit->crop.x, edit->crop.y, edit->crop.width, edit->crop.height,
	};
	unsigned int n;
	int ret = 0;

	for (n = 0; !ret && n < EDIT_PANELS; n++)
		ret = tsr_cmd_copy_image(work->stream, &gpu->result, edit->panel[n].x,
					 edit->panel[n].y, &gpu->source, &crop,
					 (n & 1 ? TSR_CMD_FLIP_X : 0) |
						 (n & 2 ? TSR_CMD_FLIP_Y : 0));
	return ret;
}

/* Layers over each other need a barrier between them; commands may overlap in time otherwise. */
static int record(struct work *work, const struct gpu *gpu, const struct edit *edit)
{
	int ret;

	ret = tsr_cmd_wait32(work->stream, gpu->shared_va + WORD_TILED, TSR_COMPARE_GE, 1);
	if (!ret)
		ret = work_start(work, gpu);
	if (!ret)
		ret = record_ground(work, gpu, edit);
	if (!ret)
		ret = tsr_cmd_barrier(work->stream, TSR_CMD_WAIT_WRITES);
	if (!ret)
		ret = record_frames(work, gpu, edit);
	if (!ret)
		ret = tsr_cmd_barrier(work->stream, TSR_CMD_WAIT_WRITES);
	if (!ret)
		ret = record_panels(work, gpu, edit);
	return ret ? ret : work_stop(work, gpu);
}

static int import(struct gpu *gpu, const struct wire_message *message, const int *files)
{
	uint64_t size;
	int ret;

	ret = gpu_layout(gpu, message->width, message->height, message->texel, &size);
	if (!ret)
		ret = tsr_bo_import(gpu->device, files[0], &gpu->shared);
	if (!ret)
		ret = gpu_map_shared(gpu);
	if (!ret)
		ret = tsr_sync_import(gpu->device, files[1], true, &gpu->timeline);
	return ret;
}

static int report(int socket, int ret)
{
	struct wire_message message = { .status = ret ? -1 : 0 };

	if (ret)
		snprintf(message.text, sizeof(message.text), "second process: %.230s",
			 tsr_error_message());
	return wire_send(socket, &message, NULL, 0) || ret ? -1 : 0;
}

static int edit_picture(int socket, const char *path, struct gpu *gpu, struct work *work)
{
	struct wire_message message;
	int files[WIRE_FILES], ret;
	struct edit edit;

	/* nobody to tell, nothing to do: the first process has failed and said so */
	if (wire_receive(socket, &message, files, WIRE_FILES))
		return -1;
	ret = gpu_open(gpu, path);
	if (!ret)
		ret = import(gpu, &message, files);
	close(files[0]);
	close(files[1]);
	if (!ret)
		ret = work_begin(work, gpu, STEP_EDIT);
	if (!ret) {
		edit_plan(&edit, message.width, message.height);
		ret = record(work, gpu, &edit);
	}
	if (!ret)
		ret = work_submit(work, gpu, 0, POINT_EDITED);
	if (report(socket, ret))
		return -1;
	return report(socket, tsr_sync_finish(gpu->timeline, POINT_EDITED,
					      tsr_deadline(PATIENCE_NS)));
}

int editor_main(int socket, const char *path)
{
	struct gpu gpu = { 0 };
	struct work work = { 0 };
	int ret = edit_picture(socket, path, &gpu, &work);

	work_free(&work);
	gpu_close(&gpu);
	return ret ? 1 : 0;
}
