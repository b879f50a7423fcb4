/* SPDX-License-Identifier: MIT */
/*
 * tsr-sync: what its parts know of one another.
 *
 * A scenario is a list of statements (parse.c). The main thread executes them one after the other;
 * a statement after "async" has a thread of its own. All objects have names and live until the end
 * of the process. Only the main thread makes and destroys them; other threads only look. What
 * happens is noted as events (events.c), whose times are CLOCK_MONOTONIC.
 */
#ifndef SYNC_H
#define SYNC_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <tessera/tessera.h>
#include <tessera/cmd.h>

#define NAME_MAX_LENGTH 31
#define WORDS_MAX 24
#define MS 1000000ull

typedef char name_text[NAME_MAX_LENGTH + 1];

/* ---- statements: parse.c ---- */

/* One line, in words. The words belong to the statement. */
struct statement {
	unsigned int line;
	char *text; /* as it was written, without its comment */
	char *words[WORDS_MAX]; /* the verb first */
	unsigned int count;
	int error; /* what it is to fail with: "=> EINVAL"; else 0 */
	struct statement *next;
};

/* parse_file(): the statements of a file, or NULL; then it has said why on standard error. */
struct statement *parse_file(const char *path);

/* parse_time(): "5ms" in nanoseconds; false if it is no time. */
bool parse_time(const char *text, uint64_t *ns);

/* parse_size(): "64K" in bytes, at most 1 GiB; false if it is no size. */
bool parse_size(const char *text, uint64_t *bytes);

/* error_number(): "EINVAL" or "0" as a positive number; -1 if there is no such error. */
int error_number(const char *text);

/* error_name(): the name of a positive number, or "error 123". Static text or @text. */
const char *error_name(int error, char text[24]);

/* option(): the value of the first word "KEY=value", or NULL. */
const char *option(const struct statement *s, const char *key);

/* has_word(): whether there is that word after the verb. */
bool has_word(const struct statement *s, const char *word);

/* ---- events: events.c ---- */

enum event_kind {
	EVENT_STATEMENT, /* a statement of the script was executed */
	EVENT_SUBMIT, /* a job has been submitted */
	EVENT_BEGIN, /* its first packet ran; a wait began */
	EVENT_END, /* its last packet ran */
	EVENT_DONE, /* a fence has signalled; a wait is over */
};

struct event {
	uint64_t ns;
	enum event_kind kind;
	name_text who; /* job, wait or fence; "" for a statement */
	name_text lane; /* queue or thread */
	int error; /* positive, of DONE and of statements */
	char text[160];
};

/* A fence of one job was what another one, or a wait, had to wait for. */
struct edge {
	name_text from, to;
};

struct history {
	char title[120];
	uint64_t start;
	struct event *events;
	unsigned int count, capacity;
	struct edge *edges;
	unsigned int edge_count, edge_capacity;
	pthread_mutex_t lock;
};

uint64_t now_ns(void);

/* set_title(): what the scenario is called. */
void set_title(const char *text);

/* note(): something happened at @ns. Any thread. */
void note(uint64_t ns, enum event_kind kind, const char *who, const char *lane, int error,
	  const char *format, ...) __attribute__((format(printf, 6, 7)));

/* note_edge(): @to had to wait for @from. Any thread. */
void note_edge(const char *from, const char *to);

/* history_finish(): put the events in the order of their times; nobody may note any more. */
const struct history *history_finish(void);

/* event_time(): when "NAME.begin", "NAME.done" ... happened; false if it has not. */
bool event_time(const char *what, uint64_t *ns);

/* ---- failures ---- */

/* failed(): the scenario did not go as it says; the line is printed and the status becomes 1. */
void failed(const struct statement *s, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* refuse(): the scenario makes no sense: one line, then exit status 2. */
void refuse(const struct statement *s, const char *format, ...)
	__attribute__((format(printf, 2, 3), noreturn));

/* cannot(): this machine lacks what the scenario needs: one line, then exit status 77. */
void cannot(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* ---- ioctls ---- */

/* do_ioctl(): an ioctl of the scenario, counted under @name; 0 or a negative errno. */
int do_ioctl(int fd, unsigned long request, const char *name, void *arg);
#define DO_IOCTL(fd, request, arg) do_ioctl(fd, request, #request, arg)

/* plain_ioctl(): one that only tsr-sync itself needs; not counted. */
int plain_ioctl(int fd, unsigned long request, void *arg);

/* print_ioctls(): "NAME COUNT" for each that was counted. */
void print_ioctls(const struct history *h, FILE *to);

/* ---- objects: world.c ---- */

enum object_kind { DEVICE, QUEUE, SYNCOBJ, JOB, FILE_DESCRIPTOR, BUFFER, VGEM_FENCE, THREAD };

struct object {
	enum object_kind kind;
	name_text name;
	struct object *next;
};

/* A Tessera, or vgem. */
struct device {
	struct object object;
	int fd;
	bool vgem;
	char sysfs[256]; /* its directory there */
	struct tsr_device *gpu; /* the rest: NULL and 0 with vgem */
	struct tsr_vm *vm;
	struct tsr_pool *pool;
	struct tsr_bo *slots_bo;
	volatile struct slot *slots; /* one for each job */
	uint64_t slots_va, scratch_va;
	unsigned int slots_used;
	struct drm_tessera_get_timestamp clock; /* both clocks when it was opened */
	uint64_t resets; /* resets of the device before it was opened */
};

struct queue {
	struct object object;
	struct device *device;
	struct tsr_queue *queue;
};

#define PRODUCERS 64
/* A statement or job that signals a point of a syncobj. */
struct producer {
	uint64_t point;
	name_text who;
};

struct syncobj {
	struct object object;
	struct device *device;
	uint32_t handle;
	struct producer producers[PRODUCERS];
	unsigned int producer_count;
};

/* A sync file or an eventfd. */
struct file {
	struct object object;
	int fd;
	bool eventfd;
	name_text producer; /* whose fence it is, if that is known */
};

/* Memory, and its handle in each device that has it. */
struct buffer {
	struct object object;
	int dmabuf;
	struct {
		struct device *device;
		uint32_t handle;
		uint64_t va;
	} at[4];
	unsigned int at_count;
	name_text user; /* whose fence was attached to it last */
};

/* A fence that vgem has attached to a buffer. */
struct vgem_fence {
	struct object object;
	int fd;
	uint32_t fence;
	name_text lane;
};

/* Words that a job and the CPU exchange; one cache line. */
struct slot {
	uint64_t begin, end; /* GPU ticks */
	uint64_t gate; /* the job goes on when it is 1 */
	uint64_t mine, seen; /* what it writes to buffers, what it found there */
	uint64_t pad[3];
};

struct job {
	struct object object;
	struct queue *queue;
	struct tsr_stream *stream;
	unsigned int slot;
	uint64_t takes; /* ns it waits at its gate, UINT64_MAX: for ever; 0: has none */
	uint64_t released; /* when the gate was opened */
	uint32_t done; /* a syncobj of ours: its fence */
	int done_fd; /* the fence as a sync file; -1 before the job is submitted */
	bool finished; /* the rest is known */
	bool judged; /* the script has asked for its error */
	int error; /* positive */
};

/* An object by its name; refuses when there is none of the kind. */
struct device *find_device(const struct statement *s, const char *name);
struct queue *find_queue(const struct statement *s, const char *name);
struct syncobj *find_syncobj(const struct statement *s, const char *name);
struct job *find_job(const struct statement *s, const char *name);
struct file *find_file(const struct statement *s, const char *name);
struct buffer *find_buffer(const struct statement *s, const char *name);

/* find_any(): the object of that name, or NULL. */
struct object *find_any(const char *name);

/* add_object(): a new object of @size bytes; refuses a name that is taken or malformed. */
void *add_object(const struct statement *s, enum object_kind kind, const char *name, size_t size);

/* all_objects(): the first one, in the order of their making. */
struct object *all_objects(void);

/* device_of(): the device of the option on=, else the first Tessera there is. */
struct device *device_of(const struct statement *s);

/* debugfs_path(): a file of the device's directory there; false if there is none. */
bool debugfs_path(const struct device *device, const char *leaf, char *path, size_t size);

/* write_text(): write to a file that is there; 0 or a negative errno. */
int write_text(const char *path, const char *text);

/* A fence that a statement names: NAME, or NAME:POINT of a timeline. */
struct reference {
	struct syncobj *syncobj;
	uint64_t point; /* 0: binary */
};

struct reference find_reference(const struct statement *s, const char *text);

/* produces(): from now on @who signals that. */
void produces(const struct reference *ref, const char *who);

/* producer_of(): who signals that, or NULL if nobody of the scenario. */
const char *producer_of(const struct reference *ref);

/* ---- what statements do: jobs.c, verbs.c, files.c ---- */

/* A verb returns 0, or the negative errno that the kernel gave; anything else it reports itself. */
typedef int verb_function(const struct statement *s);

verb_function verb_device, verb_queue, verb_syncobj, verb_buffer, verb_share_buffer;
verb_function verb_job, verb_batch, verb_submit, verb_done, verb_error, verb_saw, verb_release;
verb_function verb_bind;
verb_function verb_signal, verb_reset, verb_query, verb_transfer, verb_wait, verb_destroy,
	verb_share;
verb_function verb_eventfd, verb_export, verb_import, verb_merge, verb_info, verb_deadline,
	verb_poll;
verb_function verb_export_buffer, verb_import_buffer, verb_cpu, verb_vgem_fence, verb_vgem_signal;
verb_function verb_inject, verb_reset_device, verb_unplug, verb_replug, verb_state, verb_resets;

/* is_wait_reference(): whether a word of a wait is a syncobj and no option. */
bool is_wait_reference(const char *word);

/* jobs_start(): begin to open gates. jobs_settle(): wait for all jobs, open the gates nobody waits
 * for. */
void jobs_start(void);
void jobs_settle(void);

/* job_look(): if there is a job of that name, wait until all is known about it. */
void job_look(const char *name);

/* slot_of(): the hardware's number of a queue, from debugfs; -1 if it is not there. */
int slot_of(const struct queue *queue);

/* ---- what comes out: report.c, html.c ---- */

#define LANES_MAX 64

/* list_lanes(): queues, threads and so on in the order of their first events; how many. */
unsigned int list_lanes(const struct history *h, const char *lanes[LANES_MAX]);
unsigned int lane_of(const char *const *lanes, unsigned int count, const char *name);

/* find_event(): the first one of that kind, or NULL. edge_target(): where an arrow ends, or NULL.
 */
const struct event *find_event(const struct history *h, const char *who, enum event_kind kind);
const struct event *edge_target(const struct history *h, const struct edge *edge);

void print_table(const struct history *h, FILE *to);
void write_perfetto(const struct history *h, FILE *f);
void write_html(const struct history *h, FILE *f);

#endif /* SYNC_H */
