// SPDX-License-Identifier: MIT
/*
 * Reading a model in a child process, see isolate.h.
 *
 * The child writes messages to a pipe: a struct message, and what it announces. A model is one
 * message, followed by its arrays and its textures. A child that ends without having sent a model
 * or an error has crashed or met a limit, and its exit status says which.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "isolate.h"

#define MEMORY_MIB	2048u	/* default, and 32 times the size of the file */
#define SECONDS		5u	/* default, and one for each MiB of the file */
#define COUNT_MAX	(1u << 20)	/* parts and materials */

enum { SAYS_WARNING, SAYS_ERROR, SAYS_MODEL };

struct message {
	uint32_t what;
	char text[2 * PICTURE_ERROR];	/* of a warning or an error */
	uint32_t vertices, indices, parts, materials, textures;
};

/* A texture: the texels of a picture, or a file of compressed blocks, follow. */
struct sent_texture {
	uint32_t is_compressed, width, height, texel;
	uint64_t bytes;
};

/* ---- The child ------------------------------------------------------------------------------- */

static int to_parent = -1;

static void send_bytes(const void *bytes, size_t size)
{
	while (size) {
		ssize_t n = write(to_parent, bytes, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			_exit(EXIT_FAILURE);
		bytes = (const char *)bytes + n;
		size -= (size_t)n;
	}
}

static void send_text(uint32_t what, const char *text)
{
	struct message m = { .what = what };

	snprintf(m.text, sizeof(m.text), "%s", text);
	send_bytes(&m, sizeof(m));
}

static void send_warning(const char *text)
{
	send_text(SAYS_WARNING, text);
}

static void send_texture(const struct model_texture *t)
{
	struct sent_texture s = { .is_compressed = t->is_compressed };

	if (t->is_compressed) {
		s.bytes = t->compressed.file_size;
		send_bytes(&s, sizeof(s));
		send_bytes(t->compressed.file, s.bytes);
		return;
	}
	s.width = t->picture.width;
	s.height = t->picture.height;
	s.texel = t->picture.texel;
	s.bytes = (uint64_t)t->picture.pitch * s.height;
	send_bytes(&s, sizeof(s));
	send_bytes(t->picture.texels, s.bytes);
}

static void send_model(const struct model *model)
{
	const struct message m = {
		.what = SAYS_MODEL, .vertices = model->vertex_count, .indices = model->index_count,
		.parts = model->part_count, .materials = model->material_count,
		.textures = model->texture_count,
	};

	send_bytes(&m, sizeof(m));
	send_bytes(model->vertices, m.vertices * sizeof(*model->vertices));
	send_bytes(model->indices, m.indices * sizeof(*model->indices));
	send_bytes(model->parts, m.parts * sizeof(*model->parts));
	send_bytes(model->materials, m.materials * sizeof(*model->materials));
	for (uint32_t i = 0; i < m.textures; i++)
		send_texture(&model->textures[i]);
}

static void limit(int resource, rlim_t soft, rlim_t hard)
{
	struct rlimit old, new = { soft, hard };

	if (getrlimit(resource, &old))
		return;
	if (new.rlim_max > old.rlim_max)
		new.rlim_max = old.rlim_max;
	if (new.rlim_cur > new.rlim_max)
		new.rlim_cur = new.rlim_max;
	setrlimit(resource, &new);
}

__attribute__((noreturn))
static void child(const char *path, const struct isolate_limits *limits)
{
	rlim_t memory = (rlim_t)limits->memory_mib << 20;
	int null = open("/dev/null", O_RDWR);
	char error[PICTURE_ERROR] = "";
	struct model model;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* assimp and the C library would print about a crash. */
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	limit(RLIMIT_CORE, 0, 0);
	limit(RLIMIT_AS, memory, memory);
	limit(RLIMIT_CPU, limits->seconds, limits->seconds + 1);
	signal(SIGALRM, SIG_DFL);
	signal(SIGXCPU, SIG_DFL);
	alarm(10 * limits->seconds);
	if (model_read(&model, path, send_warning, error))
		send_text(SAYS_ERROR, error);
	else
		send_model(&model);
	_exit(EXIT_SUCCESS);
}

/* ---- The parent ------------------------------------------------------------------------------ */

/* Returns true if all bytes were received. */
static bool receive(int from, void *bytes, size_t size)
{
	while (size) {
		ssize_t n = read(from, bytes, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		bytes = (char *)bytes + n;
		size -= (size_t)n;
	}
	return true;
}

/* An array of the child's, with room for one element even if it is empty; NULL on failure. */
static void *receive_array(int from, uint32_t count, size_t size)
{
	void *array = calloc((size_t)count + 1, size);

	if (array && receive(from, array, count * size))
		return array;
	free(array);
	return NULL;
}

static bool receive_texture(int from, struct model_texture *t)
{
	char error[PICTURE_ERROR];
	struct sent_texture s;
	uint8_t *bytes;

	if (!receive(from, &s, sizeof(s)) || s.bytes > COMPRESSED_BYTES)
		return false;
	if (!s.is_compressed && (!s.width || !s.height || s.width > PICTURE_SIDE ||
				 s.height > PICTURE_SIDE || (s.texel != 4 && s.texel != 8) ||
				 s.bytes != (uint64_t)s.width * s.height * s.texel))
		return false;
	bytes = malloc(s.bytes + 1);
	if (!bytes || !receive(from, bytes, s.bytes))
		goto err_free;
	t->is_compressed = s.is_compressed;
	if (!t->is_compressed) {
		t->picture = (struct picture){ s.width, s.height, s.texel,
					       (size_t)s.width * s.texel, bytes };
		return true;
	}
	if (compressed_parse(&t->compressed, bytes, s.bytes, error))
		goto err_free;
	t->compressed.file = bytes;
	return true;

err_free:
	free(bytes);
	return false;
}

/* Returns true if all indices are in range. */
static bool consistent(const struct model *model)
{
	uint32_t i;

	for (i = 0; i < model->index_count; i++) {
		if (model->indices[i] >= model->vertex_count)
			return false;
	}
	for (i = 0; i < model->part_count; i++) {
		const struct model_part *p = &model->parts[i];

		if (p->first > model->index_count || p->count > model->index_count - p->first ||
		    p->material >= model->material_count)
			return false;
	}
	for (i = 0; i < model->material_count; i++) {
		const struct model_material *m = &model->materials[i];

		if (m->texture < -1 || m->texture >= (int64_t)model->texture_count ||
		    m->wrap[0] > MODEL_MIRROR || m->wrap[1] > MODEL_MIRROR)
			return false;
	}
	return true;
}

static bool receive_model(int from, const struct message *m, struct model *model)
{
	if (m->vertices > MODEL_VERTICES_MAX || m->indices > 3 * MODEL_VERTICES_MAX ||
	    m->parts > COUNT_MAX || m->materials > COUNT_MAX || m->textures > m->materials)
		return false;
	model->vertices = receive_array(from, m->vertices, sizeof(*model->vertices));
	if (model->vertices)
		model->indices = receive_array(from, m->indices, sizeof(*model->indices));
	if (model->indices)
		model->parts = receive_array(from, m->parts, sizeof(*model->parts));
	if (model->parts)
		model->materials = receive_array(from, m->materials, sizeof(*model->materials));
	model->textures = calloc(m->textures + 1, sizeof(*model->textures));
	if (!model->materials || !model->textures)
		return false;
	model->vertex_count = m->vertices;
	model->index_count = m->indices;
	model->part_count = m->parts;
	model->material_count = m->materials;
	while (model->texture_count < m->textures) {
		if (!receive_texture(from, &model->textures[model->texture_count]))
			return false;
		model->texture_count++;
	}
	return consistent(model);
}

/* The reason why a child ended without having sent a model or an error. */
static void describe_end(const char *path, const struct isolate_limits *limits, int status,
			 char *error)
{
	int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

	if (number == SIGXCPU || number == SIGKILL)
		snprintf(error, PICTURE_ERROR, "%s: damaged, or reading it takes more than %u s of "
			 "processor time (--time)", path, limits->seconds);
	else if (number == SIGALRM)
		snprintf(error, PICTURE_ERROR, "%s: reading it takes more than %u s (--time)", path,
			 10 * limits->seconds);
	else if (number)
		snprintf(error, PICTURE_ERROR, "%s: damaged, or it needs more than %u MiB "
			 "(--memory): assimp crashed with signal %d", path, limits->memory_mib,
			 number);
	else
		snprintf(error, PICTURE_ERROR, "%s: damaged: what assimp made of it is no model",
			 path);
}

static int receive_all(int from, struct model *model, const char *path,
		       const struct isolate_limits *limits, void (*warn)(const char *text),
		       char *error)
{
	struct message m;

	while (receive(from, &m, sizeof(m))) {
		m.text[sizeof(m.text) - 1] = '\0';
		if (m.what == SAYS_WARNING) {
			warn(m.text);
			continue;
		}
		if (m.what == SAYS_MODEL)
			return receive_model(from, &m, model) ? 0 : -1;
		if (strstr(m.text, "bad_alloc") || strstr(m.text, "out of memory"))
			snprintf(error, PICTURE_ERROR, "%s: damaged, or it needs more than %u MiB "
				 "(--memory)", path, limits->memory_mib);
		else
			snprintf(error, PICTURE_ERROR, "%.*s", PICTURE_ERROR - 1, m.text);
		return -1;
	}
	return -1;
}

/* Defaults in the place of limits that are 0. */
static struct isolate_limits limits_for(const char *path, const struct isolate_limits *given)
{
	struct isolate_limits limits = *given;
	struct stat st;
	uint64_t mib = 0;

	if (!stat(path, &st) && st.st_size > 0)
		mib = (uint64_t)st.st_size >> 20;
	if (mib > 65536)
		mib = 65536;
	if (!limits.memory_mib)
		limits.memory_mib = MEMORY_MIB + 32 * (uint32_t)mib;
	if (!limits.seconds)
		limits.seconds = SECONDS + (uint32_t)mib;
	return limits;
}

int isolate_read(struct model *model, const char *path, const struct isolate_limits *given,
		 void (*warn)(const char *text), char *error)
{
	const struct isolate_limits limits = limits_for(path, given);
	int ends[2], status = 0, ret;
	pid_t pid;

	memset(model, 0, sizeof(*model));
	fflush(NULL);
	if (pipe2(ends, O_CLOEXEC)) {
		snprintf(error, PICTURE_ERROR, "%s: %s", path, strerror(errno));
		return -1;
	}
	pid = fork();
	if (!pid) {
		close(ends[0]);
		to_parent = ends[1];
		child(path, &limits);
	}
	close(ends[1]);
	if (pid < 0) {
		snprintf(error, PICTURE_ERROR, "%s: no process: %s", path, strerror(errno));
		close(ends[0]);
		return -1;
	}
	ret = receive_all(ends[0], model, path, &limits, warn, error);
	close(ends[0]);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!ret)
		return 0;
	model_free(model);
	if (!error[0])
		describe_end(path, &limits, status, error);
	return -1;
}
