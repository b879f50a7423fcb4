// SPDX-License-Identifier: MIT
/* Command streams, submission, and the context most tests start from. */
#include "gt.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

void gt_cs_word(struct gt_cs *cs, uint64_t word)
{
	if (cs->count == cs->room)
		gt_die("a command stream of the test is longer than the %u qwords it asked for",
		       cs->room);
	cs->words[cs->count++] = word;
}

void gt_cs_words(struct gt_cs *cs, const uint64_t *words)
{
	unsigned int i, count = tsr_packet_qwords(words[0]);

	for (i = 0; i < count; i++)
		gt_cs_word(cs, words[i]);
}

struct drm_tessera_job gt_job(uint32_t queue, const struct gt_cs *cs)
{
	struct drm_tessera_job job = { .queue_id = queue };

	if (cs) {
		job.cmd_va = cs->va;
		job.cmd_size = cs->count * sizeof(uint64_t);
	}
	return job;
}

int gt_submit(int fd, const struct drm_tessera_job *jobs, unsigned int count)
{
	struct drm_tessera_submit arg = { .jobs = GT_ARRAY(jobs, count) };

	__sync_synchronize(); /* streams and data are in memory before the kernel rings the doorbell
			       */
	return gt_ioctl(fd, DRM_IOCTL_TESSERA_SUBMIT, &arg);
}

struct gt_ctx gt_ctx_on(int fd)
{
	struct gt_ctx c = { .fd = fd };

	c.vm = gt_vm(c.fd);
	c.queue = gt_queue(c.fd, c.vm, DRM_TESSERA_ENGINE_COPY);
	c.sync = gt_syncobj(c.fd, false);
	c.cmd = gt_bo(c.fd, GT_CMD_SIZE, 0);
	c.data = gt_bo(c.fd, GT_DATA_SIZE, DRM_TESSERA_BO_CACHED);
	gt_bo_bind(&c.cmd, c.vm, GT_CMD_VA, GT_RWX);
	gt_bo_bind(&c.data, c.vm, GT_DATA_VA, GT_RW);
	return c;
}

struct gt_ctx gt_ctx(void)
{
	return gt_ctx_on(gt_open());
}

void gt_ctx_free(struct gt_ctx *c)
{
	gt_queue_destroy(c->fd, c->queue);
	gt_vm_destroy(c->fd, c->vm);
	gt_bo_free(&c->cmd);
	gt_bo_free(&c->data);
	gt_syncobj_free(c->fd, c->sync);
	close(c->fd);
}

struct gt_cs gt_stream(struct gt_ctx *c, unsigned int qwords)
{
	uint64_t bytes = ((uint64_t)qwords * 8 + TSR_STREAM_ALIGN - 1) &
			 ~(uint64_t)(TSR_STREAM_ALIGN - 1);
	struct gt_cs cs;

	if (bytes > GT_CMD_SIZE)
		gt_die("a command stream of %u qwords does not fit", qwords);
	if (c->cmd_used + bytes > GT_CMD_SIZE)
		c->cmd_used = 0;
	cs = (struct gt_cs){
		.words = (uint64_t *)((char *)c->cmd.map + c->cmd_used),
		.va = GT_CMD_VA + c->cmd_used,
		.room = bytes / 8,
	};
	c->cmd_used += bytes;
	return cs;
}

int gt_kick(struct gt_ctx *c, uint32_t queue, const struct gt_cs *cs,
	    const struct drm_tessera_sync *signal)
{
	struct drm_tessera_job job = gt_job(queue, cs);

	if (signal)
		job.signals = GT_ARRAY(signal, 1);
	return gt_submit(c->fd, &job, 1);
}

int gt_run_on(struct gt_ctx *c, uint32_t queue, const struct gt_cs *cs)
{
	struct drm_tessera_sync signal = gt_binary(c->sync);
	int ret = gt_kick(c, queue, cs, &signal);

	return ret ? ret : gt_fence_error(c->fd, c->sync, 0);
}

int gt_run(struct gt_ctx *c, const struct gt_cs *cs)
{
	return gt_run_on(c, c->queue, cs);
}

void gt_renew_queue(struct gt_ctx *c)
{
	gt_queue_destroy(c->fd, c->queue);
	c->queue = gt_queue(c->fd, c->vm, DRM_TESSERA_ENGINE_COPY);
}

bool gt_spin_until(const volatile uint64_t *word, uint64_t value, unsigned int ms)
{
	uint64_t until = gt_now_ns() + ms * 1000000ULL;

	while (*word != value) {
		if (gt_now_ns() > until)
			return *word == value;
		usleep(50);
	}
	return true;
}
