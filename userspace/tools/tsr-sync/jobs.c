// SPDX-License-Identifier: MIT
/*
 * Jobs. A job writes the GPU's clock when it begins and when it ends. One that "takes" a time waits
 * in between at a gate in memory, which a thread opens when the time is over; meanwhile its queue
 * is blocked and the engine is free for others. One that "fills" keeps an engine busy.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <linux/sync_file.h>
#include <xf86drm.h>

#include "sync.h"

#define REFS_MAX 16
#define BATCH_MAX 16
#define SLOTS 1024
#define FILL_STEP (1ull << 20)
#define NOWHERE 0x7f0000000000ull /* of the lower half, and nothing is mapped there */
#define SETTLE_LIMIT (120 * 1000 * MS)

/* The jobs of one SUBMIT, with the arrays they point to. */
static struct batch {
	bool open;
	unsigned int count;
	struct job *job[BATCH_MAX];
	struct drm_tessera_job args[BATCH_MAX];
	struct drm_tessera_sync waits[BATCH_MAX][REFS_MAX], signals[BATCH_MAX][REFS_MAX];
	struct reference wait_refs[BATCH_MAX][REFS_MAX], signal_refs[BATCH_MAX][REFS_MAX];
} batch;

static void check(const struct statement *s, int ret)
{
	if (ret)
		refuse(s, "%s", *tsr_error_message() ? tsr_error_message() : strerror(-ret));
}

/* ---- what a job does ---- */

static uint64_t slot_va(const struct job *job, size_t offset)
{
	return job->queue->device->slots_va + job->slot * sizeof(struct slot) + offset;
}

static uint64_t buffer_va(const struct statement *s, const char *name, const struct device *d)
{
	const struct buffer *b = find_buffer(s, name);

	for (unsigned int i = 0; i < b->at_count; i++) {
		if (b->at[i].device == d)
			return b->at[i].va;
	}
	refuse(s, "'%s' is not shared with device '%s'", name, d->object.name);
}

static void add_fill(const struct statement *s, struct job *job, const char *text)
{
	static const uint32_t pattern = 0x7e55e7a;
	uint64_t size;

	if (!parse_size(text, &size) || size < FILL_STEP)
		refuse(s, "fill=%s: expected a size from 1M to 1G", text);
	for (; size >= FILL_STEP; size -= FILL_STEP)
		check(s, tsr_cmd_fill(job->stream, job->queue->device->scratch_va, FILL_STEP,
				      &pattern, sizeof(pattern)));
}

/* A packet that there is not. */
static void add_malformed(const struct statement *s, struct job *job)
{
	uint64_t *word = tsr_stream_emit(job->stream, 1);

	if (!word)
		check(s, -ENOMEM);
	*word = 0x1ff;
}

static void add_gate(const struct statement *s, struct job *job, const char *takes)
{
	if (has_word(s, "never"))
		job->takes = UINT64_MAX;
	else if (takes && (!parse_time(takes, &job->takes) || !job->takes))
		refuse(s, "takes=%s: expected a time, such as 20ms", takes);
	if (job->takes)
		check(s, tsr_cmd_wait64(job->stream, slot_va(job, offsetof(struct slot, gate)),
					TSR_COMPARE_EQ, 1));
}

static void write_stream(const struct statement *s, struct job *job)
{
	const struct device *d = job->queue->device;
	const char *text;

	check(s, tsr_stream_create(d->pool, 0, &job->stream));
	check(s, tsr_cmd_timestamp(job->stream, slot_va(job, offsetof(struct slot, begin)),
				   TSR_EVENT_ALL_DONE));
	add_gate(s, job, option(s, "takes"));
	text = option(s, "fill");
	if (text)
		add_fill(s, job, text);
	text = option(s, "write");
	if (text)
		check(s, tsr_cmd_copy(job->stream, buffer_va(s, text, d),
				      slot_va(job, offsetof(struct slot, mine)), 8));
	text = option(s, "read");
	if (text)
		check(s, tsr_cmd_copy(job->stream, slot_va(job, offsetof(struct slot, seen)),
				      buffer_va(s, text, d), 8));
	if (has_word(s, "fault"))
		check(s, tsr_cmd_fence(job->stream, NOWHERE, TSR_EVENT_ALL_DONE, 1));
	if (has_word(s, "malformed"))
		add_malformed(s, job);
	check(s, tsr_cmd_timestamp(job->stream, slot_va(job, offsetof(struct slot, end)),
				   TSR_EVENT_ALL_DONE));
}

/* ---- SUBMIT ---- */

static struct drm_tessera_sync sync_of(const struct reference *ref)
{
	return (struct drm_tessera_sync){
		.type = ref->point ? DRM_TESSERA_SYNC_TIMELINE : DRM_TESSERA_SYNC_SYNCOBJ,
		.handle = ref->syncobj->handle,
		.point = ref->point,
	};
}

static struct drm_tessera_array array_of(const struct drm_tessera_sync *syncs, unsigned int count)
{
	return (struct drm_tessera_array){ (uintptr_t)syncs, count, sizeof(*syncs) };
}

/* All words KEY=REF of a statement. */
static unsigned int references(const struct statement *s, const char *key, struct reference *refs,
			       struct drm_tessera_sync *syncs)
{
	size_t length = strlen(key);
	unsigned int count = 0;

	for (unsigned int i = 1; i < s->count; i++) {
		if (strncmp(s->words[i], key, length) || s->words[i][length] != '=')
			continue;
		if (count == REFS_MAX - 1)
			refuse(s, "more than %d times %s=", REFS_MAX - 1, key);
		refs[count] = find_reference(s, s->words[i] + length + 1);
		syncs[count] = sync_of(&refs[count]);
		count++;
	}
	return count;
}

/* The bits of the jobs before it in the batch that after= names. */
static uint64_t after_mask(const struct statement *s)
{
	uint64_t mask = 0;

	for (unsigned int i = 1; i < s->count; i++) {
		const struct job *before;
		unsigned int n;

		if (strncmp(s->words[i], "after=", 6))
			continue;
		before = find_job(s, s->words[i] + 6);
		for (n = 0; n < batch.count && batch.job[n] != before; n++)
			;
		if (n == batch.count)
			refuse(s, "after=%s: expected a job before it in this batch",
			       s->words[i] + 6);
		mask |= 1ull << n;
		note_edge(before->object.name, s->words[1]);
	}
	return mask;
}

static struct job *add_job(const struct statement *s)
{
	struct queue *q = find_queue(s, option(s, "queue"));
	struct job *job = add_object(s, JOB, s->count > 1 ? s->words[1] : NULL, sizeof(*job));
	volatile struct slot *slot;

	job->queue = q;
	job->done_fd = -1;
	if (q->device->slots_used == SLOTS)
		refuse(s, "more than %d jobs", SLOTS);
	job->slot = q->device->slots_used++;
	slot = &q->device->slots[job->slot];
	slot->mine = job->slot + 1;
	check(s, drmSyncobjCreate(q->device->fd, 0, &job->done));
	return job;
}

/*
 * job NAME queue=QUEUE [takes=TIME | never] [fill=SIZE] [fault] [malformed] [empty]
 *     [read=BUFFER] [write=BUFFER] [wait=REF]... [signal=REF]... [after=JOB]...
 */
int verb_job(const struct statement *s)
{
	unsigned int n = batch.count, signals;
	struct drm_tessera_job *args = &batch.args[n];
	struct job *job;

	if (n == BATCH_MAX)
		refuse(s, "more than %d jobs in a batch", BATCH_MAX);
	job = add_job(s);
	*args = (struct drm_tessera_job){ .queue_id = tsr_queue_id(job->queue->queue),
					  .after = after_mask(s) };
	if (!has_word(s, "empty")) {
		write_stream(s, job);
		check(s,
		      tsr_stream_finish(job->stream, (uint64_t *)&args->cmd_va, &args->cmd_size));
	}
	args->waits =
		array_of(batch.waits[n], references(s, "wait", batch.wait_refs[n], batch.waits[n]));
	signals = references(s, "signal", batch.signal_refs[n], batch.signals[n]);
	batch.signals[n][signals] = (struct drm_tessera_sync){ .handle = job->done };
	args->signals = array_of(batch.signals[n], signals + 1);
	batch.job[batch.count++] = job;
	return batch.open ? 0 : verb_submit(s);
}

/* batch: jobs from here to "submit" are one SUBMIT */
int verb_batch(const struct statement *s)
{
	if (batch.open)
		refuse(s, "the batch before has not been submitted");
	batch.open = true;
	return 0;
}

/* A job has been submitted: note it, and see that its end is noticed. */
static void submitted(const struct statement *s, unsigned int n, uint64_t when)
{
	struct job *job = batch.job[n];
	const char *who;

	for (unsigned int i = 0; i < batch.args[n].waits.count; i++) {
		who = producer_of(&batch.wait_refs[n][i]);
		if (who)
			note_edge(who, job->object.name);
	}
	for (unsigned int i = 0; i + 1 < batch.args[n].signals.count; i++)
		produces(&batch.signal_refs[n][i], job->object.name);
	check(s, drmSyncobjExportSyncFile(job->queue->device->fd, job->done, &job->done_fd));
	note(when, EVENT_SUBMIT, job->object.name, job->queue->object.name, 0,
	     "job %s is submitted", job->object.name);
}

/* submit */
int verb_submit(const struct statement *s)
{
	struct drm_tessera_submit args = {
		.jobs = { (uintptr_t)batch.args, batch.count, sizeof(batch.args[0]) },
	};
	uint64_t when = now_ns();
	int ret;

	if (!batch.count)
		refuse(s, "there is no job to submit");
	ret = DO_IOCTL(batch.job[0]->queue->device->fd, DRM_IOCTL_TESSERA_SUBMIT, &args);
	for (unsigned int n = 0; n < batch.count; n++) {
		if (ret)
			batch.job[n]->finished = batch.job[n]->judged = true;
		else
			submitted(s, n, when);
	}
	batch.count = 0;
	batch.open = false;
	return ret;
}

/* bind BUFFER [on=DEVICE] [wait=REF]... [signal=REF]...: an asynchronous VM_BIND, which maps the
 * buffer once more */
int verb_bind(const struct statement *s)
{
	struct device *d = device_of(s);
	const struct buffer *b = find_buffer(s, s->count > 1 ? s->words[1] : NULL);
	struct drm_tessera_sync waits[REFS_MAX], signals[REFS_MAX];
	struct reference refs[REFS_MAX];
	struct drm_tessera_bind_op op = { .op = DRM_TESSERA_BIND_MAP,
					  .size = 4096,
					  .flags = DRM_TESSERA_BIND_READ | DRM_TESSERA_BIND_WRITE };
	struct drm_tessera_vm_bind args = { .flags = DRM_TESSERA_VM_BIND_ASYNC };
	unsigned int count;
	int ret;

	op.va = buffer_va(s, b->object.name, d);
	for (unsigned int i = 0; i < b->at_count; i++) {
		if (b->at[i].device == d)
			op.bo_handle = b->at[i].handle;
	}
	args.vm_id = tsr_vm_id(d->vm);
	args.ops = (struct drm_tessera_array){ (uintptr_t)&op, 1, sizeof(op) };
	args.waits = array_of(waits, references(s, "wait", refs, waits));
	count = references(s, "signal", refs, signals);
	args.signals = array_of(signals, count);
	ret = DO_IOCTL(d->fd, DRM_IOCTL_TESSERA_VM_BIND, &args);
	for (unsigned int i = 0; i < count && !ret; i++)
		produces(&refs[i], "");
	return ret;
}

/* ---- gates and ends ---- */

static volatile struct slot *slot_in(const struct job *job)
{
	return &job->queue->device->slots[job->slot];
}

/* Open the gates whose time has come; a millisecond of error is nothing here. */
static void *open_gates(void *unused)
{
	for (;;) {
		uint64_t now = now_ns();

		for (struct object *o = all_objects(); o; o = o->next) {
			struct job *job = (struct job *)o;

			if (o->kind != JOB || !job->takes || job->takes == UINT64_MAX ||
			    !slot_in(job)->begin)
				continue;
			if (!job->released)
				job->released = now + job->takes;
			if (now >= job->released)
				slot_in(job)->gate = 1;
		}
		nanosleep(&(struct timespec){ .tv_nsec = MS / 2 }, NULL);
	}
	return unused;
}

void jobs_start(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, open_gates, NULL))
		cannot("no thread");
}

/* release JOB: its gate opens now */
int verb_release(const struct statement *s)
{
	slot_in(find_job(s, s->count > 1 ? s->words[1] : NULL))->gate = 1;
	return 0;
}

/* GPU ticks as CLOCK_MONOTONIC. */
static uint64_t cpu_time(const struct device *d, uint64_t ticks)
{
	int64_t hz = tsr_device_info(d->gpu)->timestamp_hz, since = ticks - d->clock.gpu_ticks;

	return d->clock.cpu_ns + (int64_t)((__int128)since * 1000000000 / hz);
}

/* The fence has signalled: note when the job began, ended and was done. */
static void finish(struct job *job)
{
	struct sync_fence_info fence = { 0 };
	struct sync_file_info info = { .num_fences = 1, .sync_fence_info = (uintptr_t)&fence };
	volatile struct slot *slot = slot_in(job);
	const char *name = job->object.name, *lane = job->queue->object.name;
	uint64_t begin;
	char text[24];

	if (plain_ioctl(job->done_fd, SYNC_IOC_FILE_INFO, &info))
		return;
	job->error = info.status < 0 ? -info.status : 0;
	job->finished = true;
	begin = slot->begin ? cpu_time(job->queue->device, slot->begin) : 0;
	if (begin)
		note(begin, EVENT_BEGIN, name, lane, 0, "job %s begins", name);
	if (begin && slot->end && slot->end >= slot->begin)
		note(begin + (cpu_time(job->queue->device, slot->end) - begin), EVENT_END, name,
		     lane, 0, "job %s ends", name);
	note(fence.timestamp_ns ? fence.timestamp_ns : now_ns(), EVENT_DONE, name, lane, job->error,
	     "the fence of job %s signals: %s", name, error_name(job->error, text));
}

/* Wait for a job's fence at most until @deadline. */
static bool wait_job(struct job *job, uint64_t deadline)
{
	struct pollfd p = { .fd = job->done_fd, .events = POLLIN };
	uint64_t now = now_ns();

	if (!job->finished && poll(&p, 1, deadline > now ? (deadline - now) / MS + 1 : 0) == 1)
		finish(job);
	return job->finished;
}

void job_look(const char *name)
{
	struct object *o = find_any(name);

	if (o && o->kind == JOB)
		wait_job((struct job *)o, now_ns() + SETTLE_LIMIT);
}

/* done JOB... [timeout=TIME]: wait until the fences have signalled */
int verb_done(const struct statement *s)
{
	uint64_t limit = 60 * 1000 * MS, deadline;
	const char *timeout = option(s, "timeout");

	if (timeout && !parse_time(timeout, &limit))
		refuse(s, "timeout=%s: expected a time", timeout);
	deadline = now_ns() + limit;
	for (unsigned int i = 1; i < s->count; i++) {
		if (strchr(s->words[i], '='))
			continue;
		if (!wait_job(find_job(s, s->words[i]), deadline))
			return -ETIME;
	}
	return 0;
}

/* error JOB ERROR: what its fence carries */
int verb_error(const struct statement *s)
{
	struct job *job = find_job(s, s->count > 1 ? s->words[1] : NULL);
	int want = s->count == 3 ? error_number(s->words[2]) : -1;
	char text[24], other[24];

	if (want < 0)
		refuse(s, "expected: error JOB ERROR, such as EFAULT or 0");
	job->judged = true;
	if (!wait_job(job, now_ns() + SETTLE_LIMIT))
		failed(s, "the fence of job %s does not signal", job->object.name);
	else if (job->error != want)
		failed(s, "the fence of job %s carries %s, expected %s", job->object.name,
		       error_name(job->error, text), error_name(want, other));
	return 0;
}

/* saw READER WRITER: the one has read what the other has written; "-": what nobody has written */
int verb_saw(const struct statement *s)
{
	struct job *reader, *writer;
	uint64_t want;

	if (s->count != 3)
		refuse(s, "expected: saw READER WRITER, or -");
	reader = find_job(s, s->words[1]);
	writer = strcmp(s->words[2], "-") ? find_job(s, s->words[2]) : NULL;
	want = writer ? slot_in(writer)->mine : 0;
	wait_job(reader, now_ns() + SETTLE_LIMIT);
	if (slot_in(reader)->seen != want)
		failed(s, "job %s has read %llu, expected %llu", reader->object.name,
		       (unsigned long long)slot_in(reader)->seen, (unsigned long long)want);
	return 0;
}

void jobs_settle(void)
{
	uint64_t deadline = now_ns() + SETTLE_LIMIT;
	char text[24];

	for (struct object *o = all_objects(); o; o = o->next) {
		struct job *job = (struct job *)o;

		if (o->kind != JOB)
			continue;
		if (!job->finished && !wait_job(job, deadline))
			failed(NULL, "the fence of job %s does not signal", o->name);
		else if (!job->judged && job->error)
			failed(NULL,
			       "the fence of job %s carries %s, which the scenario does not expect",
			       o->name, error_name(job->error, text));
	}
}
