// SPDX-License-Identifier: MIT
/* Fault injection by debugfs. */
#include "gt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int gt_inject(const char *script)
{
	char path[300];

	gt_debugfs("inject", path, sizeof(path));
	return gt_write_file(path, script);
}

/* All of a file of debugfs; the program ends without it. */
static void read_debugfs(const char *leaf, char *text, size_t size)
{
	char path[300];

	gt_debugfs(leaf, path, sizeof(path));
	if (gt_read_file(path, text, size) < 0)
		gt_die("%s cannot be read", path);
}

unsigned int gt_fired(const char *kind)
{
	char path[300], text[2000], line[40], *at;

	gt_debugfs("inject", path, sizeof(path));
	if (gt_read_file(path, text, sizeof(text)) <= 0)
		return UINT32_MAX;
	snprintf(line, sizeof(line), "\n%s ", kind);
	at = strstr(text, line);
	if (!at)
		gt_die("debugfs knows no fault '%s'", kind);
	return strtoul(at + strlen(line), NULL, 10);
}

/* Ids are per file, slots are not: debugfs tells files by the number that fdinfo has. */
static unsigned long long client_of(int fd)
{
	const long long id = gt_fdinfo(fd, "drm-client-id");

	if (id < 0)
		gt_die("fdinfo has no drm-client-id");
	return (unsigned long long)id;
}

/* The slot, or -1 if the queue has none. */
static int find_slot(int fd, uint32_t queue, unsigned int *as)
{
	char text[16000], id[24], client[40], *line;

	read_debugfs("queues", text, sizeof(text));
	snprintf(id, sizeof(id), " id %-4u as ", queue);
	snprintf(client, sizeof(client), " client %llu", client_of(fd));
	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		size_t length = strlen(line);

		if (strstr(line, id) && length > strlen(client) &&
		    !strcmp(line + length - strlen(client), client)) {
			*as = strtoul(strstr(line, " as ") + 4, NULL, 10);
			return strtoul(line, NULL, 10);
		}
	}
	return -1;
}

/* With the backend "engine" a queue has a slot at the latest after its first job. */
unsigned int gt_slot_as(int fd, uint32_t queue, unsigned int *as)
{
	int slot = find_slot(fd, queue, as);

	if (slot < 0) {
		struct drm_tessera_sync done = gt_binary(gt_syncobj(fd, false));
		struct drm_tessera_job job = gt_job(queue, NULL);

		job.signals = GT_ARRAY(&done, 1);
		gt_submit(fd, &job, 1);
		gt_fence_error(fd, done.handle, 0);
		gt_syncobj_free(fd, done.handle);
		slot = find_slot(fd, queue, as);
	}
	if (slot < 0)
		gt_die("queue %u is not in debugfs", queue);
	return slot;
}

unsigned int gt_slot(int fd, uint32_t queue)
{
	unsigned int as;

	return gt_slot_as(fd, queue, &as);
}
