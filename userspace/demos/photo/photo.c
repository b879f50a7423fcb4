// SPDX-License-Identifier: MIT
/*
 * photo: a picture goes through the GPU and comes back.
 *
 * Two processes, three queues, one buffer. The first process decodes a PNG, or has the GPU decode
 * a compressed texture, and uploads it; its first queue tiles it into a buffer that the second
 * process imported by PRIME; the second process's queue crops, mirrors and pastes rectangles there
 * and fills borders; the first process's second queue detiles the result. The order comes from a
 * semaphore in GPU memory (tile before edit) and a timeline syncobj (edit before detile) alone; the
 * CPU waits once, at the end. Then the CPU works out every pixel by itself, and all bits have to be
 * equal.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "edit.h"
#include "editor.h"
#include "gpu.h"
#include "../lib/picture.h"
#include "reference.h"
#include "texture.h"
#include "wire.h"

#define DEFAULT_INPUT	"/usr/share/tessera/photo.png"
#define DEFAULT_OUTPUT	"photo-out.png"
#define PATIENCE_NS	(60ull * 1000000000)
/* upload, source and result tiled, download, the picture that is written */
#define COPIES		5

struct options {
	const char *input, *output, *device;
	bool local;			/* the shared buffer in the GPU's own memory */
};

/* The first process. */
struct session {
	const struct options *options;
	struct picture source, result;
	struct gpu gpu;
	struct tsr_bo *upload, *download;	/* linear, not shared */
	struct tsr_surface linear_source, linear_result;
	struct work tile, detile;
	int socket;			/* to the second process */
	char error[PICTURE_ERROR];	/* what went wrong, one line */
};

/* Keep the library's message, so that what is cleaned up afterwards does not replace it. */
static int gpu_failed(struct session *s, int ret)
{
	if (ret)
		snprintf(s->error, sizeof(s->error), "%s", tsr_error_message());
	return ret ? -1 : 0;
}

/* A buffer for the linear picture, mapped on both sides. */
static int create_linear(struct session *s, uint32_t flags, uint32_t access, struct tsr_bo **bo,
			 struct tsr_surface *image)
{
	const struct picture *p = &s->source;
	int ret;

	ret = tsr_surface_init(image, TSR_LAYOUT_LINEAR, p->width, p->height, p->texel,
			       0);
	if (!ret)
		ret = tsr_bo_create(s->gpu.device, image->size, flags, NULL, bo);
	if (!ret)
		ret = tsr_vm_map(s->gpu.vm, *bo, 0, 0, access, &image->va);
	return ret;
}

static int upload(struct session *s)
{
	const struct picture *p = &s->source;
	void *memory;
	int ret;

	ret = create_linear(s, 0, DRM_TESSERA_BIND_READ, &s->upload, &s->linear_source);
	if (!ret)
		ret = tsr_bo_map(s->upload, &memory);
	if (!ret)
		ret = tsr_surface_write(&s->linear_source, memory, 0, 0, p->width,
					p->height, p->texels, p->pitch);
	if (!ret)
		ret = create_linear(s, DRM_TESSERA_BO_CACHED, DRM_TESSERA_BIND_WRITE, &s->download,
				    &s->linear_result);
	return ret;
}

static int create_shared(struct session *s)
{
	struct gpu *gpu = &s->gpu;
	uint64_t size;
	int ret;

	ret = gpu_layout(gpu, s->source.width, s->source.height, s->source.texel, &size);
	if (!ret)
		ret = tsr_bo_create(gpu->device, size, s->options->local ? DRM_TESSERA_BO_LOCAL : 0,
				    NULL, &gpu->shared);
	if (!ret)
		ret = tsr_bo_set_label(gpu->shared, "photo: shared by two processes");
	if (!ret)
		ret = gpu_map_shared(gpu);
	if (!ret)
		ret = tsr_sync_create(gpu->device, TSR_SYNC_TIMELINE, &gpu->timeline);
	return ret;
}

static int record(struct session *s)
{
	const struct tsr_rect all = { 0, 0, s->source.width, s->source.height };
	struct gpu *gpu = &s->gpu;
	int ret;

	ret = work_begin(&s->tile, gpu, STEP_TILE);
	if (!ret)
		ret = work_begin(&s->detile, gpu, STEP_DETILE);
	if (ret)
		return ret;
	/* the streams remember the first error; submitting them reports it */
	work_start(&s->tile, gpu);
	tsr_cmd_copy_image(s->tile.stream, &gpu->source, 0, 0, &s->linear_source, &all, 0);
	work_stop(&s->tile, gpu);
	tsr_cmd_signal32(s->tile.stream, gpu->shared_va + WORD_TILED, TSR_SIGNAL_OP_SET,
			 TSR_EVENT_WRITES_DONE, 1);
	work_start(&s->detile, gpu);
	tsr_cmd_copy_image(s->detile.stream, &s->linear_result, 0, 0, &gpu->result, &all, 0);
	work_stop(&s->detile, gpu);
	return 0;
}

/* Wait for the second process's next message. */
static int hear(struct session *s)
{
	struct wire_message message;

	errno = 0;
	if (wire_receive(s->socket, &message, NULL, 0))
		snprintf(s->error, sizeof(s->error), "second process: %s",
			 errno ? strerror(errno) : "gone without a word");
	else if (message.status)
		snprintf(s->error, sizeof(s->error), "%s", message.text);
	else
		return 0;
	return -1;
}

/* Give the second process the buffer and the timeline; it answers when its job is submitted. */
static int share(struct session *s)
{
	const struct wire_message message = {
		.width = s->source.width,
		.height = s->source.height,
		.texel = s->source.texel,
	};
	int files[WIRE_FILES] = { -1, -1 }, ret;

	ret = tsr_bo_export(s->gpu.shared, &files[0]);
	if (!ret)
		ret = tsr_sync_export(s->gpu.timeline, &files[1]);
	ret = gpu_failed(s, ret);
	if (!ret && wire_send(s->socket, &message, files, WIRE_FILES)) {
		snprintf(s->error, sizeof(s->error), "second process: %s", strerror(errno));
		ret = -1;
	}
	if (files[0] >= 0)
		close(files[0]);
	if (files[1] >= 0)
		close(files[1]);
	return ret ? ret : hear(s);
}

static int run_jobs(struct session *s)
{
	int ret;

	ret = work_submit(&s->tile, &s->gpu, 0, POINT_TILED);
	if (!ret)
		ret = work_submit(&s->detile, &s->gpu, POINT_EDITED, POINT_DONE);
	if (ret)
		return gpu_failed(s, ret);
	/* the second process knows why its job failed, if it did */
	ret = hear(s);
	if (!ret)
		ret = gpu_failed(s, tsr_sync_finish(s->gpu.timeline, POINT_DONE,
						    tsr_deadline(PATIENCE_NS)));
	return ret;
}

static int download(struct session *s)
{
	struct picture *p = &s->result;
	void *memory;
	int ret;

	*p = s->source;
	p->texels = malloc(p->pitch * p->height);
	if (!p->texels) {
		snprintf(s->error, sizeof(s->error), "out of memory");
		return -1;
	}
	ret = tsr_bo_map(s->download, &memory);
	if (!ret)
		ret = tsr_surface_read(&s->linear_result, memory, 0, 0, p->width, p->height,
				       p->texels, p->pitch);
	return gpu_failed(s, ret);
}

static void print_times(struct session *s)
{
	static const char * const names[] = { "tiled in", "edited by the other process in",
					      "detiled in" };
	const uint64_t hz = tsr_device_info(s->gpu.device)->timestamp_hz;
	const uint64_t *times;
	void *memory;
	unsigned int i;

	if (tsr_bo_map(s->gpu.shared, &memory) || !hz)
		return;
	times = (const uint64_t *)((const char *)memory + WORD_TIMES);
	printf("photo: ");
	for (i = 0; i < STEPS; i++)
		printf("%s %" PRIu64 " us%s", names[i],
		       (times[2 * i + 1] - times[2 * i]) * 1000 / (hz / 1000),
		       i + 1 < STEPS ? ", " : "\n");
}

static int process_picture(struct session *s)
{
	struct edit edit;
	int ret;

	ret = gpu_open(&s->gpu, s->options->device);
	if (!ret)
		ret = upload(s);
	if (!ret)
		ret = create_shared(s);
	if (!ret)
		ret = record(s);
	ret = gpu_failed(s, ret);
	if (!ret)
		ret = share(s);
	if (!ret)
		ret = run_jobs(s);
	if (!ret)
		ret = download(s);
	if (ret)
		return ret;
	print_times(s);
	edit_plan(&edit, s->source.width, s->source.height);
	return reference_check(&s->source, &s->result, &edit, s->error);
}

static void close_session(struct session *s)
{
	work_free(&s->tile);
	work_free(&s->detile);
	tsr_bo_unref(s->upload);
	tsr_bo_unref(s->download);
	gpu_close(&s->gpu);
	picture_free(&s->source);
	picture_free(&s->result);
}

/* Input first, then the place of the output: neither costs GPU time when it is wrong. */
static int run_session(struct session *s)
{
	struct picture_file output;
	int ret;

	ret = texture_read(&s->source, s->options->input, s->options->device, s->error);
	if (ret > 0)
		ret = picture_read(&s->source, s->options->input, COPIES, s->error);
	if (ret)
		return ret;
	printf("photo: %s: %u x %u pixels, %u bits a sample\n", s->options->input, s->source.width,
	       s->source.height, s->source.texel * 2);
	ret = picture_create(&output, s->options->output, s->error);
	if (ret)
		return ret;
	ret = process_picture(s);
	if (ret)
		picture_abandon(&output);
	else
		ret = picture_commit(&output, &s->result, s->error);
	if (!ret)
		printf("photo: %s: bit-equal to the CPU reference, all %" PRIu64 " pixels\n",
		       s->options->output, (uint64_t)s->source.width * s->source.height);
	return ret;
}

static int run(const struct options *options)
{
	struct session session = { .options = options };
	int sockets[2], ret;
	pid_t child;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets)) {
		perror("photo: socketpair");
		return EXIT_FAILURE;
	}
	child = fork();
	if (child < 0) {
		perror("photo: fork");
		return EXIT_FAILURE;
	}
	if (!child) {
		close(sockets[0]);
		_exit(editor_main(sockets[1], options->device));
	}
	close(sockets[1]);
	session.socket = sockets[0];
	ret = run_session(&session);
	if (ret)
		fprintf(stderr, "photo: %s\n", session.error);
	/* a second process that still waits for us sees the socket close and ends */
	close(sockets[0]);
	close_session(&session);
	waitpid(child, NULL, 0);
	if (fflush(stdout) && !ret) {
		perror("photo: cannot write");
		ret = -1;
	}
	return ret ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int usage(FILE *to, int status)
{
	fprintf(to, "usage: photo [--device PATH] [--local] [INPUT [OUTPUT.png]]\n"
		"Send a picture through the GPU, edited by two processes, and check every bit.\n\n"
		"  -d, --device PATH  render node to use (default: the first Tessera GPU)\n"
		"  -l, --local        put the shared buffer into the GPU's local memory\n"
		"  -h, --help         show this text\n\n"
		"INPUT       any PNG, or a texture as DDS, KTX, KTX 2 or ASTC (default: %s)\n"
		"OUTPUT.png  replaced when the result is right (default: %s)\n\n"
		"Exit status: 0 bit-equal; 1 not, or an error; 2 for bad usage.\n",
		DEFAULT_INPUT, DEFAULT_OUTPUT);
	return status;
}

int main(int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "device", required_argument, NULL, 'd' },
		{ "local", no_argument, NULL, 'l' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	struct options options = { DEFAULT_INPUT, DEFAULT_OUTPUT, NULL, false };
	int option;

	while ((option = getopt_long(argc, argv, "d:lh", long_options, NULL)) != -1) {
		if (option == 'h')
			return usage(stdout, EXIT_SUCCESS);
		if (option == 'd')
			options.device = optarg;
		else if (option == 'l')
			options.local = true;
		else
			return usage(stderr, 2);
	}
	if (argc - optind > 2)
		return usage(stderr, 2);
	if (optind < argc)
		options.input = argv[optind];
	if (optind + 1 < argc)
		options.output = argv[optind + 1];
	return run(&options);
}
