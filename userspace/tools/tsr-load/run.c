// SPDX-License-Identifier: MIT
/* Running a load: a process for each client, which begin together. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/mman.h>
#include <sys/wait.h>

#include "load.h"

/* The parent's side of a client's process. */
struct process {
	pid_t pid;
	int ready, go, line;
	bool finished;
};

struct run {
	const struct load *load;
	struct result *result;
	struct tsr_device *device;
	struct process process[CLIENTS_MAX];
};

/* ---- starting ---- */

static bool is_followed(const struct load *load, unsigned int client)
{
	for (unsigned int i = 0; i < load->num_clients; i++) {
		if (load->client[i].after == (int)client)
			return true;
	}
	return false;
}

/* Clients that others follow share their timeline, which the parent creates. */
static bool create_lines(struct run *run)
{
	struct tsr_sync *sync;
	int ret = 0;

	for (unsigned int i = 0; i < run->load->num_clients; i++)
		run->process[i] = (struct process){ .ready = -1, .go = -1, .line = -1 };
	for (unsigned int i = 0; i < run->load->num_clients && !ret; i++) {
		if (!is_followed(run->load, i))
			continue;
		ret = tsr_sync_create(run->device, TSR_SYNC_TIMELINE, &sync);
		if (!ret)
			ret = tsr_sync_export(sync, &run->process[i].line);
		tsr_sync_unref(ret ? NULL : sync);
	}
	if (ret)
		complain("timelines cannot be shared: %s", strerror(-ret));
	return !ret;
}

static bool fork_client(struct run *run, unsigned int index)
{
	const struct client_spec *spec = &run->load->client[index];
	const struct client_spec *after = spec->after < 0 ? NULL : &run->load->client[spec->after];
	struct process *p = &run->process[index];
	struct client_pipes pipes = {
		.line = p->line,
		.after = after ? run->process[spec->after].line : -1,
	};
	int ready[2], go[2];

	if (pipe2(ready, O_CLOEXEC) || pipe2(go, O_CLOEXEC))
		return false;
	p->pid = fork();
	if (!p->pid) {
		/* A client ends with its parent, since its reads of @go fail then. */
		for (unsigned int i = 0; i < index; i++) {
			close(run->process[i].go);
			close(run->process[i].ready);
		}
		close(go[1]);
		close(ready[0]);
		pipes.ready = ready[1];
		pipes.go = go[0];
		client_main(spec, after, run->result->client[index].shared, &pipes);
	}
	close(ready[1]);
	close(go[0]);
	p->ready = ready[0];
	p->go = go[1];
	return p->pid > 0;
}

static struct client_shared *allocate_shared(void)
{
	void *p = mmap(NULL, sizeof(struct client_shared), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* Wait for a byte of a client. False if its process has ended without one. */
static bool heard(struct run *run, unsigned int index)
{
	const struct client_shared *shared = run->result->client[index].shared;
	char byte;
	ssize_t n;

	do
		n = read(run->process[index].ready, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n == 1)
		return true;
	complain("%s: client %s: %s: %s", run->load->name, run->load->client[index].name,
		 *shared->failed ? shared->failed : "process",
		 shared->error ? strerror(-shared->error) : "it has ended");
	return false;
}

/* One at a time, so that ids of files and fences do not depend on who is first. */
static bool start_clients(struct run *run)
{
	for (unsigned int i = 0; i < run->load->num_clients; i++) {
		struct client_result *c = &run->result->client[i];

		c->spec = &run->load->client[i];
		c->shared = allocate_shared();
		run->result->num_clients = i + 1;
		if (!c->shared || !fork_client(run, i)) {
			complain("no process for a client: %s", strerror(errno));
			return false;
		}
		if (!heard(run, i))
			return false;
	}
	return true;
}

/* From the last to the first, which is how the kernel's tests begin on one processor. */
static void release(struct run *run)
{
	char byte = 0;

	for (unsigned int i = run->result->num_clients; i--;) {
		if (run->process[i].go >= 0 && write(run->process[i].go, &byte, 1) != 1)
			complain("client %s does not start", run->load->client[i].name);
	}
}

/* ---- engine time ---- */

/* The number behind a key of a client's fdinfo, 0 if it has none. */
static uint64_t fdinfo_number(const struct run *run, unsigned int index, const char *key)
{
	char path[64], line[256];
	uint64_t value = 0;
	size_t length = strlen(key);
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", run->process[index].pid,
		 run->result->client[index].shared->fd);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f)) {
		if (!strncmp(line, key, length) && line[length] == ':')
			value = strtoull(line + length + 1, NULL, 10);
	}
	if (f)
		fclose(f);
	return value;
}

static uint64_t busy_ns(const struct run *run, unsigned int index)
{
	char key[40];

	snprintf(key, sizeof(key), "drm-engine-%s", class_name(run->load->client[index].class));
	return fdinfo_number(run, index, key);
}

static void read_identities(struct run *run)
{
	for (unsigned int i = 0; i < run->load->num_clients; i++)
		run->result->client[i].drm_client = fdinfo_number(run, i, "drm-client-id");
}

/* ---- the end ---- */

/* All clients that have finished say so; false if one has ended otherwise. */
static bool wait_finished(struct run *run)
{
	unsigned int left = run->load->num_clients;
	struct pollfd fds[CLIENTS_MAX];

	for (unsigned int i = 0; i < run->load->num_clients; i++)
		fds[i] = (struct pollfd){ .fd = run->process[i].ready, .events = POLLIN };
	while (left) {
		bool first = left == run->load->num_clients;

		if (poll(fds, run->load->num_clients, -1) < 0 && errno != EINTR)
			return false;
		for (unsigned int i = 0; i < run->load->num_clients; i++) {
			if (fds[i].fd < 0 || !(fds[i].revents & (POLLIN | POLLHUP)))
				continue;
			if (!heard(run, i))
				return false;
			fds[i].fd = -1;
			left--;
		}
		for (unsigned int i = 0;
		     first && left < run->load->num_clients && i < run->load->num_clients; i++)
			run->result->client[i].busy_first_ns = busy_ns(run, i);
	}
	for (unsigned int i = 0; i < run->load->num_clients; i++)
		run->result->client[i].busy_ns = busy_ns(run, i);
	return true;
}

static void end_clients(struct run *run, bool good)
{
	if (good)
		release(run);
	for (unsigned int i = 0; i < run->result->num_clients; i++) {
		struct process *p = &run->process[i];

		if (p->pid > 0 && !good)
			kill(p->pid, SIGKILL);
		if (p->pid > 0)
			waitpid(p->pid, NULL, 0);
		if (p->ready >= 0)
			close(p->ready);
		if (p->go >= 0)
			close(p->go);
	}
	for (unsigned int i = 0; i < run->load->num_clients; i++) {
		if (run->process[i].line >= 0)
			close(run->process[i].line);
	}
}

bool load_run(const struct load *load, struct result *result)
{
	struct run run = { .load = load, .result = result };
	bool good;
	int ret;

	memset(result, 0, sizeof(*result));
	result->load = load;
	signal(SIGPIPE, SIG_IGN);
	ret = tsr_device_open(NULL, &run.device);
	if (ret) {
		complain("no GPU: %s", *tsr_error_message() ? tsr_error_message() : strerror(-ret));
		return false;
	}
	good = create_lines(&run) && start_clients(&run);
	if (good) {
		read_identities(&run);
		result->traced = trace_start(load);
		release(&run);
		good = wait_finished(&run);
		result->traced = result->traced && good && trace_read(result);
		trace_stop();
	}
	end_clients(&run, good);
	tsr_device_unref(run.device);
	if (good)
		result_derive(result);
	return good;
}

void result_free(struct result *result)
{
	for (unsigned int i = 0; i < result->num_clients; i++) {
		if (result->client[i].shared)
			munmap(result->client[i].shared, sizeof(struct client_shared));
		free(result->client[i].job);
	}
	free(result->sample);
}
