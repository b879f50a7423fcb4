// SPDX-License-Identifier: MIT
/*
 * An actor is a process that uses the device as any program would. It does what it is asked through
 * a socket. A second thread tends its long job, also while an ioctl does not return.
 */
#include "contract.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define STEP_US	20000

struct question {
	enum ask what;
	int arg;
	char text[400];
};

/* ---- inside the process ---- */

static const struct contract_driver *driver;
static volatile struct actor_shared *shared;
static void *volatile tended;		/* the context with the long job */
static void *context;
static sigjmp_buf escape;

static void *tend(void *unused)
{
	(void)unused;
	for (;;) {
		void *c = tended;

		if (c) {
			uint64_t done = driver->tend(c, shared->finish);

			shared->backwards |= done < shared->progress;
			shared->progress = done;
		}
		usleep(STEP_US);
	}
	return NULL;
}

static void caught(int signal)
{
	siglongjmp(escape, signal);
}

/* Read and write the mapping: 0, or the signal that this ends in. */
static int touch(volatile uint32_t *page)
{
	struct sigaction act = { .sa_handler = caught }, bus, segv;
	int signal;

	if (!page)
		return -EOPNOTSUPP;
	sigaction(SIGBUS, &act, &bus);
	sigaction(SIGSEGV, &act, &segv);
	signal = sigsetjmp(escape, 1);
	if (!signal)
		*page = *page + 1;
	sigaction(SIGBUS, &bus, NULL);
	sigaction(SIGSEGV, &segv, NULL);
	return signal;
}

static int new_context(void **c)
{
	*c = driver->context_new();
	return *c ? 0 : -errno;
}

static int start_job(enum job_kind kind)
{
	int fence = driver->job(context, kind);

	if (fence >= 0 && (kind == JOB_LONG || kind == JOB_GATE))
		tended = context;
	return fence;
}

/* Another context takes a job and ends it. */
static int try_new(void)
{
	struct pollfd done = { .events = POLLIN };
	struct context_state state = { .runs = -1 };
	void *c;
	int error = new_context(&c);

	if (error)
		return error;
	done.fd = driver->job(c, JOB_OK);
	if (done.fd < 0)
		return done.fd;
	poll(&done, 1, LIMIT_MS);
	error = fence_error(done.fd);
	close(done.fd);
	if (driver->state)
		driver->state(c, &state);
	return error || state.runs < 0 || state.runs == 1 ? error : -EILSEQ;
}

static struct answer act(const struct question *q, const char *node)
{
	struct answer a = { .fence = -1, .state = { .error = -EOPNOTSUPP, .runs = -1 } };

	switch (q->what) {
	case ASK_CONTEXT:
		a.value = driver->open(node);
		if (!a.value)
			a.value = new_context(&context);
		break;
	case ASK_JOB:
		a.fence = start_job(q->arg);
		a.value = a.fence < 0 ? a.fence : 0;
		break;
	case ASK_STATE:
		if (driver->state)
			driver->state(context, &a.state);
		break;
	case ASK_PAGE:
		a.value = touch(driver->page ? driver->page(context) : NULL);
		break;
	case ASK_PROVOKE:
		a.value = driver->provoke ? driver->provoke(context, q->text) : -EOPNOTSUPP;
		break;
	case ASK_NEW:
		a.value = try_new();
		break;
	case ASK_END:
		driver->close();
		_exit(0);
	}
	return a;
}

/* The answer, with its fence as a file. */
static void send_answer(int socket, const struct answer *a)
{
	char control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec iov = { (void *)a, sizeof(*a) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *c;

	if (a->fence >= 0) {
		msg.msg_control = control;
		msg.msg_controllen = sizeof(control);
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &a->fence, sizeof(int));
	}
	if (sendmsg(socket, &msg, 0) < 0)
		_exit(1);
	if (a->fence >= 0)
		close(a->fence);
}

static void live(int socket, const char *name, const char *node)
{
	struct question q;
	pthread_t thread;

	prctl(PR_SET_NAME, name);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pthread_create(&thread, NULL, tend, NULL);
	while (recv(socket, &q, sizeof(q), 0) == sizeof(q)) {
		struct answer a = act(&q, node);

		send_answer(socket, &a);
	}
	_exit(0);
}

/* ---- outside ---- */

struct actor actor_start(const struct contract_driver *d, const char *node, const char *name)
{
	struct actor a = { .name = name };
	int pair[2];

	a.shared = mmap(NULL, sizeof(*a.shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);
	if (a.shared == MAP_FAILED || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) {
		perror("drm-contract");
		exit(2);
	}
	fflush(NULL);
	a.pid = fork();
	if (!a.pid) {
		close(pair[0]);
		driver = d;
		shared = a.shared;
		live(pair[1], name, node);
	}
	close(pair[1]);
	a.socket = pair[0];
	return a;
}

void actor_send(struct actor *a, enum ask what, int arg, const char *text)
{
	struct question q = { .what = what, .arg = arg };

	snprintf(q.text, sizeof(q.text), "%s", text ? text : "");
	send(a->socket, &q, sizeof(q), MSG_NOSIGNAL);
}

struct answer actor_receive(struct actor *a)
{
	struct answer answer = { .value = NO_ANSWER, .fence = -1,
				 .state = { .error = NO_ANSWER, .runs = -1 } };
	struct pollfd readable = { .fd = a->socket, .events = POLLIN };
	char control[CMSG_SPACE(sizeof(int))];
	struct answer got;
	struct iovec iov = { &got, sizeof(got) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
			      .msg_controllen = sizeof(control) };
	struct cmsghdr *c;

	if (poll(&readable, 1, 2 * LIMIT_MS) != 1 ||
	    recvmsg(a->socket, &msg, MSG_CMSG_CLOEXEC) != sizeof(got))
		return answer;
	answer = got;
	answer.fence = -1;
	c = CMSG_FIRSTHDR(&msg);
	if (c && c->cmsg_type == SCM_RIGHTS)
		memcpy(&answer.fence, CMSG_DATA(c), sizeof(int));
	return answer;
}

struct answer actor_ask(struct actor *a, enum ask what, int arg, const char *text)
{
	actor_send(a, what, arg, text);
	return actor_receive(a);
}

bool actor_began(struct actor *a)
{
	uint64_t until = now_ms() + LIMIT_MS;

	while (!a->shared->progress) {
		if (now_ms() > until)
			return false;
		usleep(1000);
	}
	return true;
}

void actor_end(struct actor *a, bool kill_it)
{
	uint64_t until = now_ms() + LIMIT_MS;

	if (!a->pid)
		return;
	if (kill_it)
		kill(a->pid, SIGKILL);
	else
		actor_send(a, ASK_END, 0, NULL);
	/* A process that an ioctl holds for ever must not hold this one. */
	while (!waitpid(a->pid, NULL, WNOHANG) && now_ms() < until)
		usleep(2000);
	kill(a->pid, SIGKILL);
	close(a->socket);
	munmap((void *)a->shared, sizeof(*a->shared));
	a->pid = 0;
}
